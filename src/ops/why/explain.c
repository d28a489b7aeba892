/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/why/explain.h"

#include "ops/json.h"

#include <stdio.h>

static const char *const RECORD_KIND[RECORD_KINDS] = {"decided", "measured", "acted", "said"};
const struct names RECORD_KIND_NAMES = NAMES_OF(RECORD_KIND);
static const char *const ASK[ASKS] = {"nothing",     "quarantined", "failed",
                                      "unconfirmed", "plan",        "review"};
const struct names ASKS_NAMES = NAMES_OF(ASK);

/* ---- a record as one line ---- */

bool record_evidence(const struct record *record, struct evidence *ret) {
    *ret = (struct evidence){0};
    return record->body.len > 0 && shape_decode(&EVIDENCE, record->body, ret);
}

/* Statements of an agent that are only kept as text. A rule that follows from such a statement still counts as a
 * decision. */
static bool is_report(const struct evidence *evidence) {
    static const char *const RULES[] = {"report.said", "work.start", "work.block", "plan.review"};
    for (size_t i = 0; i < count_of(RULES); i++)
        if (str_equal(evidence->rule, str_of(RULES[i])))
            return i == 0 || evidence->by == WHO_AGENT;
    return false;
}

/* A person released the goal: no effect ended, and nothing was measured. */
static bool given_up(const struct record *record, const struct evidence *evidence) {
    return record->type == RECORD_EFFECT_ENDED && str_equal(evidence->rule, STR("goal.release"));
}

/* Effects other than commands: their own records say what they were for. */
bool record_is_inside(const struct record *record, const struct evidence *evidence) {
    switch (record->type) {
    case RECORD_EFFECT_DECIDED: return !str_equal(evidence->rule, STR("command.run"));
    case RECORD_EFFECT_CLAIMED:
    case RECORD_EFFECT_ENDED:
    case RECORD_EFFECT_UNCONFIRMED:
    case RECORD_EFFECT_WITHDRAWN: return evidence->to.len > 0;
    default: return false;
    }
}

enum record_kind record_kind_of(const struct record *record, const struct evidence *evidence) {
    if (record->type == RECORD_GOAL_REPORTED || is_report(evidence))
        return RECORD_KIND_REPORTED;
    switch (record->type) {
    case RECORD_UPDATE_TAKEN:
    case RECORD_UPDATE_HELD:
    case RECORD_AGENT_PROGRESS:
    case RECORD_HANDOFF:
    case RECORD_MAIL_SENT:
    case RECORD_QUESTION_ANSWERED: return RECORD_KIND_REPORTED;
    case RECORD_ASSIGNMENT_DISPATCHED:
    case RECORD_QUESTION_SENT:
    case RECORD_QUESTION_UNSENT:
    case RECORD_EFFECT_CLAIMED:
    case RECORD_EFFECT_WITHDRAWN: return RECORD_KIND_ACTED;
    case RECORD_ASSIGNMENT_ACTIVE:
    case RECORD_ASSIGNMENT_ACCEPTED:
    case RECORD_AGENT_SEEN:
    case RECORD_ACCOUNT_LIMITED:
    case RECORD_PERMIT_SETTLED: return RECORD_KIND_MEASURED;
    case RECORD_EFFECT_ENDED:
        return given_up(record, evidence) ? RECORD_KIND_DECIDED : RECORD_KIND_MEASURED;
    default: return RECORD_KIND_DECIDED;
    }
}

/* The first line, cut to `most` bytes. */
static struct str brief(struct str text, size_t most) {
    size_t len = 0;
    while (len < text.len && text.at[len] != '\n')
        len++;
    return str_cut_utf8((struct str){text.at, len}, most);
}

/* How each type is described. %c is replaced: n node, f from, t to, x exit status, w text, r reason, h host, v plan
 * version, a assignment, q question, c count, l the limit compared, u until when. If a value is empty, the whole text
 * in its brackets is left out. */
static const char *const TELLING[RECORD_TYPES] = {
    [RECORD_GOAL_CREATED] = "created[: %w]",
    [RECORD_GOAL_REPORTED] = "\"%w\"",
    [RECORD_GOAL_COMPLETED] = "completed[: %w][ (%r)]",
    [RECORD_GOAL_NEEDS_PERSON] = "a person is asked: the command ended with %x",
    [RECORD_GOAL_QUARANTINED] = "quarantined[: %w]",
    [RECORD_EFFECT_DECIDED] = "command to run: %w",
    [RECORD_EFFECT_CLAIMED] = "command started on host %h",
    [RECORD_EFFECT_ENDED] = "command ended with %x[: %w][ (%r)]",
    [RECORD_EFFECT_UNCONFIRMED] = "the outcome of the command is unknown[: %w]",
    [RECORD_EFFECT_RENEWED] =
        "started again: the supervisor was not running when its time was over",
    [RECORD_EFFECT_RETURNED] =
        "not started before the supervisor of host %h ended: it will be started again",
    [RECORD_GOAL_UPDATED] = "changed[: %w][ (%r)]",
    [RECORD_GOAL_PAUSED] = "paused[: %r]",
    [RECORD_GOAL_RESUMED] = "resumed[: %r]",
    [RECORD_GOAL_CANCELLED] = "cancelled[: %r]",
    [RECORD_GOAL_ARCHIVED] = "archived[: %r]",
    [RECORD_GOAL_REOPENED] = "opened again[: %r]",
    [RECORD_GOAL_RELEASED] = "released by a person[: %r]",
    [RECORD_GOAL_RESTORED] = "the store was restored from a backup",
    [RECORD_CLOCK_STEPPED] = "the clock stepped by %w; stored times are corrected",
    [RECORD_PLAN_CREATED] = "plan version %v[: %r]",
    [RECORD_PLAN_UPDATED] = "plan version %v[: %r]",
    [RECORD_PLAN_REVIEW_NEEDED] = "a review of the plan was requested[: %r][: %w]",
    [RECORD_PLAN_APPROVED] = "plan approved[: %r]",
    [RECORD_PLAN_REJECTED] = "plan rejected[: %r]",
    [RECORD_EFFECT_WITHDRAWN] = "command withdrawn before it was started[: %r]",
    [RECORD_PART_PUT] = "%t %w is kept",
    [RECORD_STORE_CORRUPT] = "the store was found damaged[: %w]",
    [RECORD_STORE_RESTORED] = "the store was restored from a backup[: %w]",
    [RECORD_STORE_REBUILT] = "the store was rebuilt[: %w]",
    [RECORD_STORE_IMPORTED] = "imported[: %w]",
    [RECORD_POLICY_CHANGED] = "the settings changed[: %w]",
    [RECORD_FLEET_STOPPED] = "everything was stopped[: %r]",
    [RECORD_FLEET_RESUMED] = "everything was resumed[: %r]",
    [RECORD_SIGNAL_REFUSED] = "refused: %w[ (%r)]",
    [RECORD_WORK_HELD] = "%n stays %t[: %r]",
    [RECORD_WORK_FOLLOWS] = "%n follows its children again[: %r]",
    [RECORD_ASSIGNMENT_QUEUED] = "%n: assigned[ to %w][: %r]",
    [RECORD_ASSIGNMENT_DISPATCHED] = "%n: message sent to its agent[: %w]",
    [RECORD_ASSIGNMENT_ACTIVE] = "%n: progress was seen",
    [RECORD_ASSIGNMENT_STALLED] = "%n: stalled[, limit %l][: %w]",
    [RECORD_ASSIGNMENT_BLOCKED] = "%n: blocked[: %r][ (until %u)]",
    [RECORD_ASSIGNMENT_DONE] = "%n: its agent is done[: %w]",
    [RECORD_ASSIGNMENT_CANCELLED] = "%n: its agent was released[: %r]",
    [RECORD_ASSIGNMENT_ACCEPTED] = "%n: the message arrived[ (%t)]",
    [RECORD_ASSIGNMENT_DOUBTED] = "%n: it is unknown whether the message arrived",
    [RECORD_ASSIGNMENT_WAITS] = "%n: waits[ until %u][: %r][ (%w)]",
    [RECORD_ASSIGNMENT_DENIED] = "%n: denied for good[: %r]",
    [RECORD_LADDER_CLIMBED] = "%n: next step: %t[, %c done][ of %l][ (%r)]",
    [RECORD_LADDER_SKIPPED] = "%n: %t does not apply[: %r]",
    [RECORD_LADDER_SUPPRESSED] = "%n: the same message is not sent again within %l",
    [RECORD_AGENT_SEEN] = "%n: its agent was checked[: %t][ (%w)]",
    [RECORD_UPDATE_TAKEN] = "%n: says[ %t][: \"%w\"]",
    [RECORD_UPDATE_REFUSED] = "%n: its report is not accepted[: %r][ (%t)]",
    [RECORD_UPDATE_HELD] = "an update that belongs to no open work[: \"%w\"]",
    [RECORD_RUN_BRAKED] = "%n: its run was frozen[: %r]",
    [RECORD_HOST_DENIED] = "host %w was denied[ for %f][, tries: %c]",
    [RECORD_HOST_DECIDED] = "decided about host %w[ for %f]: %t[ (%r)]",
    [RECORD_BATCH_SET] = "batch %w was set[: %t][, at most %l at once][, until %u][ (%r)]",
    [RECORD_BATCH_ENDED] = "the time of batch %w is over",
    [RECORD_AGENT_PROGRESS] = "%n: reports progress[: %t][: \"%w\"]",
    [RECORD_HANDOFF] = "handoff[ of %n][: \"%w\"]",
    [RECORD_QUESTION_ASKED] = "%q asked of the %t[: %w][ (%r)]",
    [RECORD_QUESTION_SENT] = "%q sent to a person[ by %w][ (%t)]",
    [RECORD_QUESTION_UNSENT] = "%q could not be sent[ by %w][: %r]",
    [RECORD_QUESTION_SEEN] = "%q acknowledged by a person[: %r]",
    [RECORD_QUESTION_SNOOZED] = "%q snoozed until %u[: %r]",
    [RECORD_QUESTION_ANSWERED] = "%q answered[: %w][ (%r)]",
    [RECORD_QUESTION_UNDONE] = "%q: the answer was undone[: %r]",
    [RECORD_QUESTION_APPLIED] = "%q: the answer takes effect[: %w]",
    [RECORD_QUESTION_EXPIRED] = "%q expired[: %w]",
    [RECORD_QUESTION_WITHDRAWN] = "%q no longer needs an answer[: %r]",
    [RECORD_QUESTION_RAISED] = "%q goes from %f to %t[: %r]",
    [RECORD_PERMIT_GRANTED] = "permit granted[: %w][ (%r)]",
    [RECORD_PERMIT_DENIED] = "permit denied[: %r][ until %u]",
    [RECORD_PERMIT_SETTLED] = "settled[: %w]",
    [RECORD_PERMIT_WAITS] = "a permit was requested and waits[: %r][ until %u]",
    [RECORD_ACCOUNT_LIMITED] = "account[ %w] is at its limit[ until %u][: %r]",
    [RECORD_ACCOUNT_OPEN] = "account[ %w] is open again",
    [RECORD_BUDGET_USED_UP] = "budget[ %w] is used up[: %r]",
    [RECORD_ADMISSION_SUSPENDED] = "suspended itself[, %c at once][ of %l allowed][: %r]",
    [RECORD_ADMISSION_RELEASED] = "released by a person[: %r]",
    [RECORD_ADMISSION_OPENED] = "begins[: %w]",
    [RECORD_MAIL_SENT] = "mail[: %w]",
    [RECORD_MAIL_READ] = "mail read[: %w]",
    [RECORD_WORK_CHECKED] = "%n: checks: %t[: %w]",
    [RECORD_WORK_RETRIED] = "%n: retried[: %r]",
};
/* Forms for rules that need another text than their record type. */
static const struct {
    const char *rule, *form;
} TELLING_OF_RULE[] = {{"watched.begin", "%n: starts to watch its agent"},
                       {"watched.there", "%n: its agent is only watched and gets no messages"}};
static const char INSIDE[] = "%t[ on host %h][: %w]";
static const char MOVED[] = "%n[: %f → %t][: %r][ (%w)]";

/* Spans are in microseconds: values of a second or more are printed as spans, others as plain numbers. */
static void limit_tell(int64_t limit, char number[24]) {
    char span[SPAN_TEXT];
    if (limit >= SECONDS(1)) {
        span_format(limit, span);
        snprintf(number, 24, "%.23s", span);
    } else if (limit > 0)
        snprintf(number, 24, "%lld", (long long)limit);
}

/* To the second, in UTC. */
static void time_tell(int64_t at, char number[24]) {
    char text[TIME_TEXT + 1];
    if (at <= 0 || at == TIME_NEVER)
        return;
    time_format(at, text);
    snprintf(number, 24, "%.19sZ", text);
}

static struct str word_of(char letter, const struct evidence *evidence, char number[24]) {
    number[0] = 0;
    switch (letter) {
    case 'n': return evidence->node;
    case 'f': return evidence->from;
    case 't': return evidence->to;
    case 'w': return brief(evidence->text, 160);
    case 'r': return brief(evidence->reason, 160);
    case 'x': snprintf(number, 24, "%lld", (long long)evidence->exit); break;
    case 'h':
        if (evidence->host > 0)
            snprintf(number, 24, "%u", evidence->host);
        break;
    case 'v': snprintf(number, 24, "%llu", (unsigned long long)evidence->plan.version); break;
    case 'a': return evidence->assignment;
    case 'q': return evidence->question;
    case 'c':
        if (evidence->count > 0)
            snprintf(number, 24, "%llu", (unsigned long long)evidence->count);
        break;
    case 'l': limit_tell(evidence->threshold, number); break;
    case 'u': time_tell(evidence->until, number); break;
    default: break;
    }
    return str_of(number);
}

struct teller {
    char *text;
    size_t len;
};

static void teller_put(struct teller *teller, struct str word) {
    size_t room = EXPLAIN_TEXT - 1 - teller->len;
    word = str_cut_utf8(word, room);
    memcpy(teller->text + teller->len, word.at ? word.at : "", word.len);
    teller->len += word.len;
}

/* [ … ] contains at most one value; if the value is empty, the whole bracket is left out. */
static bool bracket_is_empty(const char *form, const struct evidence *evidence) {
    char number[24];
    for (; *form && *form != ']'; form++)
        if (*form == '%' && word_of(form[1], evidence, number).len == 0)
            return true;
    return false;
}

void record_tell(const struct record *record, const struct evidence *evidence,
                 char text[EXPLAIN_TEXT]) {
    struct teller teller = {.text = text};
    const char *form = record->type < RECORD_TYPES ? TELLING[record->type] : NULL;
    for (size_t i = 0; i < count_of(TELLING_OF_RULE); i++)
        if (str_equal(evidence->rule, str_of(TELLING_OF_RULE[i].rule)))
            form = TELLING_OF_RULE[i].form;
    if (record_is_inside(record, evidence))
        form = INSIDE;
    if (given_up(record, evidence))
        form = "a person gave up the command: its outcome stays unknown[ (%r)]";
    if (!form)
        form = evidence->node.len > 0 ? MOVED : "[%w][ (%r)]";
    for (; *form; form++) {
        char number[24];
        if (*form == '[' && bracket_is_empty(form, evidence))
            form = strchr(form, ']');
        else if (*form == '%')
            teller_put(&teller, word_of(*++form, evidence, number));
        else if (*form != '[' && *form != ']')
            teller_put(&teller, (struct str){form, 1});
    }
    text[teller.len] = 0;
}

json_t *record_line(const struct record *record) {
    char at[TIME_TEXT + 1], what[EXPLAIN_TEXT];
    struct evidence evidence;
    bool kept = record_evidence(record, &evidence);
    time_format(record->at, at);
    record_tell(record, &evidence, what);
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:I}", "at", at, "what",
                             kept ? what : "(its evidence is no longer kept)", "kind",
                             name_of(&RECORD_KIND_NAMES, record_kind_of(record, &evidence)), "type",
                             record->type < RECORD_TYPES ? RECORDS[record->type].name : "unknown",
                             "record", (json_int_t)record->seq);
    if (!kept)
        return json;
    json_put_text(json, "rule", evidence.rule);
    json_put_text(json, "actor", evidence.actor);
    json_object_set_new(json, "by", json_string(name_of(&WHO_NAMES, evidence.by)));
    json_put_text(json, "node", evidence.node);
    json_put_text(json, "assignment", evidence.assignment);
    json_put_text(json, "question", evidence.question);
    if (evidence.threshold)
        json_object_set_new(json, "threshold", json_integer(evidence.threshold));
    json_put_text(json, "traceId", evidence.trace);
    return json;
}

const struct record *record_newest(const struct goal_shown *shown, enum record_type type,
                                   struct str node, struct evidence *ret) {
    for (uint32_t i = 0; i < shown->record_count; i++) {
        const struct record *record = &shown->records[i];
        if (record->type != type)
            continue;
        record_evidence(record, ret);
        if (node.len == 0 || str_equal(ret->node, node))
            return record;
    }
    *ret = (struct evidence){0};
    return NULL;
}

/* ---- what waits for a person ---- */

struct ask_row {
    enum record_type record;
    const char *question;
    const char *todo[4]; /* %s: id of the goal */
};

static const struct ask_row ROWS[ASKS] = {
    [ASKS_QUARANTINED] =
        {RECORD_GOAL_QUARANTINED,
         "It is quarantined: a decision about it failed an internal check. Look at it and decide how to continue.",
         {"overseer goal show %s", "overseer goal release %s --reason \"…\"",
          "overseer goal cancel %s"}},
    [ASKS_FAILED] = {RECORD_GOAL_NEEDS_PERSON,
                     "Its command failed. Have you dealt with that?",
                     {"overseer why %s", "overseer goal release %s --reason \"…\"",
                      "overseer goal cancel %s"}},
    [ASKS_UNCONFIRMED] = {RECORD_EFFECT_UNCONFIRMED,
                          "It is unknown whether its command was carried out. What did you find?",
                          {"overseer why %s", "overseer goal release %s --reason \"…\"",
                           "overseer goal cancel %s"}},
    [ASKS_PLAN] = {RECORD_PLAN_REVIEW_NEEDED,
                   "A plan waits for your approval. Should it be carried out?",
                   {"overseer goal show %s", "overseer plan approve %s",
                    "overseer plan reject %s --reason \"…\""}},
    [ASKS_REVIEW] = {RECORD_PLAN_REVIEW_NEEDED,
                     "A review of the plan was requested. Should the plan stay as it is?",
                     {"overseer plan show %s", "overseer plan reject %s --reason \"it stays\""}},
};

enum asks goal_asks(const struct goal *goal) {
    static const struct hash NONE;
    bool over = goal->status == GOAL_CANCELLED || goal->status == GOAL_ARCHIVED;
    if (goal->quarantined)
        return ASKS_QUARANTINED;
    if (over)
        return ASKS_NOTHING;
    if (goal->need == NEED_FAILED)
        return ASKS_FAILED;
    if (goal->need == NEED_UNCONFIRMED)
        return ASKS_UNCONFIRMED;
    if (memcmp(&goal->plan.proposal, &NONE, sizeof NONE) != 0)
        return ASKS_PLAN;
    return goal->plan.review ? ASKS_REVIEW : ASKS_NOTHING;
}

enum record_type asks_record(enum asks asks) {
    return ROWS[asks].record;
}

json_t *asks_do(enum asks asks, const struct goal *goal) {
    char id[GOAL_ID_TEXT + 1], line[160];
    json_t *list = json_array();
    goal_name_or_id(goal, id);
    for (size_t i = 0; i < count_of(ROWS[asks].todo) && ROWS[asks].todo[i]; i++) {
        const char *form = ROWS[asks].todo[i], *mark = strstr(form, "%s");
        snprintf(line, sizeof line, "%.*s%s%s", (int)(mark - form), form, id, mark + 2);
        json_array_append_new(list, json_string(line));
    }
    return list;
}

/* What was measured or reported, in one line: for a failure, the output of the command. */
static void evidence_put(json_t *json, enum asks asks, const struct goal_shown *shown,
                         const struct record *asked) {
    char what[EXPLAIN_TEXT] = "";
    struct evidence evidence;
    const struct record *seen = asked;
    if (asks == ASKS_FAILED)
        seen = record_newest(shown, RECORD_EFFECT_ENDED, (struct str){0}, &evidence);
    if (seen && record_evidence(seen, &evidence))
        record_tell(seen, &evidence, what);
    json_put_text(json, "evidence", str_of(what));
    if (asks != ASKS_FAILED && asks != ASKS_UNCONFIRMED)
        return;
    if (record_newest(shown, RECORD_EFFECT_DECIDED, (struct str){0}, &evidence))
        json_put_text(json, "command", brief(evidence.text, 160));
}

json_t *asks_json(const struct goal_loaded *loaded, const struct goal_shown *shown) {
    char id[GOAL_ID_TEXT + 1], since[TIME_TEXT + 1];
    const struct goal *goal = &loaded->goal;
    enum asks asks = goal_asks(goal);
    struct evidence evidence;
    if (asks == ASKS_NOTHING)
        return NULL;
    const struct record *asked =
        record_newest(shown, ROWS[asks].record, (struct str){0}, &evidence);
    goal_id_format(goal->id, id);
    time_format(asked ? asked->at : goal->times.updated_at, since);
    json_t *json =
        json_pack("{s:s, s:s%, s:s, s:s, s:s}", "goalId", id, "title",
                  shown->title.at ? shown->title.at : "", shown->title.len, "kind",
                  name_of(&ASKS_NAMES, asks), "since", since, "question", ROWS[asks].question);
    goal_name_put(json, goal->kind.number);
    if (asked)
        json_object_set_new(json, "record", json_integer((json_int_t)asked->seq));
    json_put_text(json, "why", evidence.rule);
    evidence_put(json, asks, shown, asked);
    if (asks == ASKS_QUARANTINED)
        json_put_text(json, "evidence", brief(shown->why_aside, 200));
    json_object_set_new(json, "do", asks_do(asks, goal));
    return json;
}
