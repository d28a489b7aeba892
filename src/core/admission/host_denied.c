/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts that runs of a repository were denied, and what a person decides about them. docs/decisions/0018.
 *
 * A denial never holds up work: the run goes on without the host. The workspace of its repository keeps one row for each
 * host and task, and asks a person once for each host, however many tasks and tries there are. */
#include "base/host_rule.h"
#include "core/admission/host_access.h"
#include "core/admission/permit.h"
#include "core/people/question.h"
#include "core/rules.h"
#include "model/repository.h"

static const struct id EVERY_TASK;

/* ---- reading a denial ---- */

/* An agent chooses what it asks its proxy for: a pattern, or another way to write this machine's own address, would allow
 * more than a person reads. */
static bool access_read(struct deciding *d, struct host_access *ret) {
    *ret = (struct host_access){0};
    return shape_decode(&HOST_ACCESS, d->signal->body, ret) &&
           host_entry_is_plain(str_of(ret->host));
}

static const struct host_accesses *accesses(const struct deciding *d) {
    return &d->decision->live.host_accesses;
}

/* ---- the question ---- */

void workspace_subject_put(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    if (d->signal->describe.title.len > 0)
        workspace_name(d->signal->describe.title, goal->kind.subject);
}

/* The name of a cause is shorter than a name of a host may be. */
static struct str network_cause(struct deciding *d, const char *host) {
    enum { NAME = 80 };
    if (strlen(host) <= NAME)
        return cause_text(CAUSE_NETWORK, host, d->out);
    struct hash hash = sha256(str_of(host));
    return cause_text(CAUSE_NETWORK, hash_hex(&hash, d->out).at, d->out);
}

static uint32_t hosts_asked(const struct deciding *d) {
    const struct questions *questions = &d->decision->live.questions;
    uint32_t count = 0;
    for (uint32_t i = 0; i < questions->count; i++)
        count +=
            questions->at[i].state != QUESTION_OVER && cause_is(&questions->at[i], CAUSE_NETWORK);
    return count;
}

static const struct question *network_question(struct deciding *d, const char *host) {
    return questions_about(&d->decision->live.questions, network_cause(d, host));
}

/* An agent that tries many hosts gets a few of them asked about; the others are in the log of its run. */
static bool may_ask(struct deciding *d, const char *host) {
    return network_question(d, host) || hosts_asked(d) < LIMIT_HOST_QUESTIONS;
}

static const struct question *network_ask(struct deciding *d, const char *host) {
    const struct question *open = network_question(d, host);
    if (open)
        return open;
    workspace_subject_put(d);
    struct asking asking = {
        .kind = QUESTION_DECIDE,
        .of = OF_PERSON,
        .alarm = ALARM_INFO,
        .cause = network_cause(d, host),
        .text = {.title = arena_format(d->out, "host %s denied, went on without it", host),
                 .text = arena_format(d->out,
                                      "Work on %s wanted to reach %s, which is not on the list of "
                                      "the repository. It was denied, and no work waits for it.",
                                      d->decision->goal.kind.subject, host),
                 .options = cause_options(CAUSE_NETWORK),
                 .rule = STR("network.denied"),
                 .reason = STR("the host is not on the list of the repository")}};
    return question_ask(d, asking);
}

/* ---- the rows ---- */

/* Which row a full table gives up for a new denial: the oldest, but none that is asked about, or that allows something
 * for the repository. */
static const struct host_access *row_to_drop(const struct deciding *d) {
    const struct host_access *oldest = NULL;
    for (uint32_t i = 0; i < accesses(d)->count; i++) {
        const struct host_access *row = &accesses(d)->at[i];
        bool stays = id_equal(row->goal, EVERY_TASK) && row->decision != HOST_DENIED;
        if (!stays && row->decision != HOST_ASKED && (!oldest || row->at < oldest->at))
            oldest = row;
    }
    return oldest;
}

/* Was it decided already? A decision for the repository counts for every task. */
static bool is_decided(const struct deciding *d, const struct host_access *denied) {
    struct str host = str_of(denied->host);
    const struct host_access *every = host_accesses_find(accesses(d), host, EVERY_TASK);
    const struct host_access *its = host_accesses_find(accesses(d), host, denied->goal);
    return every || (its && its->decision != HOST_ASKED);
}

static void access_put(struct deciding *d, const struct host_access *denied, uint32_t question) {
    live_edit(d, PART_HOST_ACCESS, 1);
    struct host_access *row = host_accesses_find(accesses(d), str_of(denied->host), denied->goal);
    if (!row) {
        row = live_add(d, PART_HOST_ACCESS, d->decision->goal.parts_made++);
        memcpy(row->host, denied->host, sizeof row->host);
        row->goal = denied->goal;
    }
    row->number = denied->number;
    row->tries = row->tries > denied->tries ? row->tries : denied->tries;
    row->question = question;
    row->at = d->signal->at;
    live_touch(d, PART_HOST_ACCESS, row);
    host_access_record(d, RECORD_HOST_DENIED, row, "network.denied", "asked");
}

/* ---- what a person wants, without being asked ---- */

static bool rows_remove(struct deciding *d, const struct host_access *wanted, bool asked_too) {
    bool found = false;
    live_edit(d, PART_HOST_ACCESS, 1);
    for (uint32_t i = accesses(d)->count; i-- > 0;) {
        struct host_access *row = &d->decision->live.host_accesses.at[i];
        if ((row->decision == HOST_ASKED && !asked_too) ||
            !str_equal(str_of(row->host), str_of(wanted->host)))
            continue;
        live_remove(d, PART_HOST_ACCESS, row);
        found = true;
    }
    return found;
}

static void access_forget(struct deciding *d, const struct host_access *wanted) {
    if (rows_remove(d, wanted, false))
        host_access_record(d, RECORD_HOST_DECIDED, wanted, "network.forget", "forgotten");
    else
        decide_refuse_because(d, ERROR_NOT_FOUND, STR("nothing was decided about this host"));
}

/* Takes the place of the rows of its tasks, and answers the question about them. */
static void access_decide(struct deciding *d, const struct host_access *wanted,
                          enum host_decision decision) {
    const struct host_access *every =
        host_accesses_find(accesses(d), str_of(wanted->host), EVERY_TASK);
    if (every && every->decision == decision)
        return;
    rows_remove(d, wanted, true);
    question_settle(d, network_cause(d, wanted->host), STR("network.decided"));
    const struct host_access *dropped =
        accesses(d)->count >= LIMIT_HOST_ACCESSES ? row_to_drop(d) : NULL;
    if (dropped)
        live_remove(d, PART_HOST_ACCESS, dropped);
    if (accesses(d)->count >= LIMIT_HOST_ACCESSES) {
        decide_refuse_because(d, ERROR_CONFLICT,
                              STR("too many hosts are decided: list them in repo.hosts instead"));
        return;
    }
    workspace_subject_put(d);
    host_access_decide(d, wanted, decision);
}

static void person_wants(struct deciding *d, const struct host_access *wanted) {
    static const enum host_decision DECISIONS[HOST_ORDERS] = {
        [HOST_DENY] = HOST_DENIED, [HOST_ALLOW] = HOST_ALLOWED, [HOST_ALLOW_CHECKS] = HOST_CHECKS};
    if (d->signal->sender.by != WHO_HUMAN)
        decide_refuse(d, ERROR_UNAUTHORIZED);
    else if (d->signal->to == HOST_FORGET)
        access_forget(d, wanted);
    else
        access_decide(d, wanted, DECISIONS[d->signal->to]);
}

void rule_host_denied(struct deciding *d) {
    struct host_access denied;
    bool wanted = d->signal->to != HOST_ORDER_NONE;
    if (d->world->level < LEVEL_HOST_ACCESS) {
        if (wanted)
            decide_refuse_because(d, ERROR_CONFLICT,
                                  STR("a host of the fleet runs an older build: update it first"));
        return;
    }
    bool read = access_read(d, &denied) && d->signal->to < HOST_ORDERS &&
                id_equal(denied.goal, EVERY_TASK) == wanted;
    if (!read || !workspace_open(d, d->signal->describe.repository)) {
        decide_refuse(d, ERROR_INVALID);
        return;
    }
    if (wanted) {
        person_wants(d, &denied);
        return;
    }
    if (is_decided(d, &denied))
        return;
    live_edit(d, PART_HOST_ACCESS, 1);
    const struct host_access *known =
        host_accesses_find(accesses(d), str_of(denied.host), denied.goal);
    if (known && known->tries >= denied.tries)
        return; /* nothing new */
    bool full = !known && accesses(d)->count >= LIMIT_HOST_ACCESSES;
    const struct host_access *dropped = full ? row_to_drop(d) : NULL;
    if ((full && !dropped) || !may_ask(d, denied.host))
        return;
    const struct question *question = network_ask(d, denied.host);
    must(question != NULL); /* LIMIT_HOST_QUESTIONS is far below LIMIT_QUESTIONS */
    if (question->state != QUESTION_OPEN) {
        decide_refuse_because(d, ERROR_CONFLICT, STR("it was answered before this task asked"));
        return;
    }
    if (dropped)
        live_remove(d, PART_HOST_ACCESS, dropped);
    access_put(d, &denied, question->n + 1);
}
