/* SPDX-License-Identifier: Apache-2.0 */
/* Executes everything that can happen to a fleet, one atom at a time. */
#include "lib/fleet.h"

#include "base/planted.h"

#include "model/repository.h"
#include "store/request.h"
#include "sys/redaction.h"

#include <stdarg.h>
#include <stdlib.h>

static const char *const ATOM_NAMES[ATOM_KINDS] = {
    [ATOM_TURN] = "turns",
    [ATOM_STATEMENT] = "statement",
    [ATOM_CHECK] = "may I act?",
    [ATOM_ACT] = "ACTS",
    [ATOM_OUTCOME] = "outcome",
    [ATOM_SENSE] = "hears of an agent",
    [ATOM_ASK] = "is asked",
    [ATOM_MEDDLE] = "(somebody else changes the goal)",
    [ATOM_TIME] = "time passes",
    [ATOM_LOSE] = "loses its connection",
    [ATOM_FAIL] = "request fails",
    [ATOM_ROLLBACK] = "rolled back by the server",
    [ATOM_STUCK] = "is cut off in mid-transaction",
    [ATOM_CRASH] = "CRASHES",
    [ATOM_RESTART] = "starts again",
    [ATOM_PUSH] = "(a person pushes to the target)",
    [ATOM_BACK] = "(THE STORE GOES BACK)",
};

/* ---- tracing ---- */

static void tell(struct fleet *fleet, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void tell(struct fleet *fleet, const char *format, ...) {
    if (!fleet->story)
        return;
    va_list args;
    va_start(args, format);
    vfprintf(fleet->story, format, args);
    va_end(args);
    fputc('\n', fleet->story);
}

static void violated(struct fleet *fleet, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void violated(struct fleet *fleet, const char *format, ...) {
    if (fleet->violation[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(fleet->violation, sizeof fleet->violation, format, args);
    va_end(args);
    tell(fleet, "VIOLATION: %s", fleet->violation);
}

/* ---- sessions ---- */

static void session_add(struct fleet *fleet, struct fleet_host *host,
                        const struct store_request *request) {
    struct session *session = calloc(1, sizeof *session);
    must(session != NULL);
    session->request = request_copy(request, &session->arena);
    session->host = host->id;
    session->next = fleet->sessions;
    fleet->sessions = session;
    host->session = session;
}

static void session_free(struct fleet *fleet, struct session *session) {
    struct session **link = &fleet->sessions;
    while (*link != session)
        link = &(*link)->next;
    *link = session->next;
    arena_free(&session->arena);
    free(session);
}

static void session_drop_done(struct fleet *fleet, struct session *session) {
    if (session->done && session->ghost)
        session_free(fleet, session);
}

static bool verb_writes(enum store_verb verb) {
    return verb != STORE_OWNED && verb != STORE_POLL && verb != STORE_LOAD;
}

/* ---- hosts ---- */

/* Agents use the boot clock. Observations of them use the current wall clock. */
static int64_t fleet_wall(const struct fleet *fleet) {
    return fleet->clock + fleet->stepped;
}

static void observation_step(const struct fleet *fleet, struct observation *seen) {
    int64_t *const times[] = {&seen->at, &seen->active_at, &seen->tool_since, &seen->chatter_at,
                              &seen->limited_until};
    for (size_t i = 0; i < count_of(times); i++)
        *times[i] += *times[i] > 0 && *times[i] != TIME_NEVER ? fleet->stepped : 0;
}

void fleet_step(struct fleet *fleet, int64_t by) {
    fleet->stepped += by;
    for (uint32_t i = 0; i < fleet->host_count; i++)
        fleet->hosts[i].since = fleet->clock;
}

/* Observations of its agents at a goal's due time. */
static struct str host_sees(void *with, struct id goal, const struct assignments *assignments,
                            struct instant now, struct arena *arena) {
    const struct fleet_host *host = with;
    const struct fleet *fleet = host->fleet;
    struct str seen =
        cast_see(fleet->cast, goal, assignments, host->id, host->since, fleet->clock, arena);
    struct observations all = {0};
    if (fleet->stepped == 0)
        return seen;
    must(now.stepped == fleet->stepped && shape_decode_in(&OBSERVATIONS, seen, arena, &all));
    all.since += fleet->stepped;
    for (uint32_t i = 0; i < all.rows.count; i++)
        observation_step(fleet, &((struct observation *)(uintptr_t)all.rows.at)[i]);
    return shape_encode(&OBSERVATIONS, &all, arena);
}

struct ledger_config fleet_config(const struct fleet *fleet, uint32_t index) {
    const struct fleet_host *host = &fleet->hosts[index];
    return (struct ledger_config){.host = host->id,
                                  .instance = host->id * 1000 + host->lives,
                                  .lease = fleet->lease,
                                  .clock_id = host->id,
                                  .beat_every = fleet->tick,
                                  .poll_every = fleet->tick,
                                  .retry_every = 0,
                                  .policy = fleet->policy,
                                  .see = fleet->cast ? host_sees : NULL,
                                  .see_with = (void *)(uintptr_t)host,
                                  .acts = host->state,
                                  .build = STR("test"),
                                  .addr = STR("")};
}

static void host_start(struct fleet *fleet, uint32_t index) {
    struct fleet_host *host = &fleet->hosts[index];
    host->lives++;
    must(act_log_begin(host->state, host->boot));
    struct ledger_config config = fleet_config(fleet, index);
    host->ledger = ledger_create(&config);
    must(host->ledger != NULL);
    host->up = true;
    host->answered = false;
    host->since = fleet->clock;
}

static void report_free(struct report *report) {
    while (report) {
        struct report *next = report->next;
        free(report);
        report = next;
    }
}

static void acts_free(struct act *act) {
    while (act) {
        struct act *next = act->next;
        free(act);
        act = next;
    }
}

/* The host's process is gone: requests that it had sent may continue, everything that it held in memory is lost. */
static void host_stop(struct fleet *fleet, struct fleet_host *host) {
    ledger_free(host->ledger);
    host->ledger = NULL;
    host->up = false;
    acts_free(host->acts);
    acts_free(host->checked);
    host->acts = host->checked = NULL;
    report_free(host->report);
    host->report = NULL;
    for (struct report *report = fleet->senses; report; report = report->next)
        report->host = report->host == host->id ? 0 : report->host;
    host->outcome_count = 0;
    arena_free(&host->answer_arena);
    if (host->session) {
        host->session->ghost = true;
        session_drop_done(fleet, host->session);
    }
    host->session = NULL;
}

struct fleet *fleet_create(struct backend *backend, uint32_t hosts, int64_t lease, int64_t tick) {
    must(redaction_init(NULL, 0)); /* before any snapshot is restored */
    struct fleet *fleet = calloc(1, sizeof *fleet);
    must(fleet != NULL && hosts <= FLEET_HOSTS);
    fleet->backend = backend;
    fleet->host_count = hosts;
    fleet->lease = lease;
    fleet->tick = tick;
    fleet->clock = SECONDS(1700000000);
    fleet->policy = policy_of(lease * 50);
    fleet->careful = 1;
    for (uint32_t i = 0; i < hosts; i++) {
        fleet->hosts[i].id = i + 1;
        fleet->hosts[i].fleet = fleet;
        fleet->hosts[i].state = act_log_make(8);
        must(fleet->hosts[i].state != NULL);
        fleet->hosts[i].boot = 1;
        host_start(fleet, i);
    }
    return fleet;
}

void fleet_policy(struct fleet *fleet, struct policy policy) {
    fleet->policy = policy;
    for (uint32_t i = 0; i < fleet->host_count; i++)
        if (fleet->hosts[i].up) {
            host_stop(fleet, &fleet->hosts[i]);
            host_start(fleet, i);
        }
}

void fleet_free(struct fleet *fleet) {
    for (uint32_t i = 0; i < fleet->host_count; i++) {
        if (fleet->hosts[i].up)
            host_stop(fleet, &fleet->hosts[i]);
        arena_free(&fleet->hosts[i].answer_arena);
        act_log_free(fleet->hosts[i].state);
    }
    while (fleet->sessions)
        session_free(fleet, fleet->sessions);
    report_free(fleet->senses);
    if (fleet->cast)
        cast_free(fleet->cast);
    arena_free(&fleet->cast_arena);
    arena_free(&fleet->view_arena);
    fleet->backend->free(fleet->backend);
    free(fleet);
}

/* Is this node still to be worked on, according to the store? */
static bool node_is_wanted(void *with, struct id goal, const char *node) {
    struct fleet *fleet = with;
    struct arena arena = {0};
    struct goal whole = {0};
    struct plan plan = {0};
    fleet_look(fleet);
    const struct dump_goal *row = dump_goal(&fleet->view, goal);
    bool there = row && dump_whole(&fleet->view, row, &arena, &whole, &plan);
    const struct node *found = there ? plan_find(&plan, str_of(node)) : NULL;
    bool wanted = found && whole.status == GOAL_ACTIVE && !found->retired && !node_is_over(found);
    arena_free(&arena);
    return wanted;
}

void fleet_agents(struct fleet *fleet, uint64_t seed) {
    must(!fleet->cast);
    fleet->cast = cast_create(seed, &fleet->policy);
    fleet->cast->wanted = node_is_wanted;
    fleet->cast->with = fleet;
    fleet_policy(fleet, fleet->policy); /* hosts that are already up must see the agents */
}

void fleet_sleep(struct fleet *fleet, int64_t span) {
    if (fleet->cast)
        cast_sleep(fleet->cast, fleet->clock, fleet->clock + span);
    fleet->clock += span;
    for (uint32_t i = 0; i < fleet->host_count; i++)
        fleet->hosts[i].since = fleet->clock;
}

static struct instant host_now(struct fleet *fleet, struct fleet_host *host) {
    return (struct instant){fleet_wall(fleet), fleet->clock, ++host->pulse, fleet->stepped};
}

/* ---- acknowledgements ---- */

uint32_t fleet_ask(struct fleet *fleet, struct asked asked) {
    must(fleet->asked_count < FLEET_ASKED);
    fleet->asked[fleet->asked_count] = asked;
    return fleet->asked_count++;
}

static struct signal signal_of(const struct fleet *fleet, const struct asked *asked) {
    struct signal signal = {.kind = asked->kind,
                            .goal = asked->goal,
                            .source = asked->source,
                            .at = fleet_wall(fleet),
                            .once.keyed = asked->keyed,
                            .sender.actor = STR("client"),
                            .describe.title = STR("a goal"),
                            .text = STR("a report")};
    if (asked->text)
        signal.describe.title = signal.text = str_of(asked->text);
    if (asked->with_command)
        signal.describe.command = STR("true");
    if (asked->op) {
        signal = asked->op->signal;
        signal.at = fleet_wall(fleet);
        signal.once.keyed = asked->keyed;
    }
    return signal;
}

static void ask(struct fleet *fleet, struct fleet_host *host, struct asked *asked) {
    struct signal signal = signal_of(fleet, asked);
    struct input *input = input_make(&signal, asked);
    must(input != NULL);
    asked->sent++;
    if (!ledger_offer(host->ledger, input))
        input_free(input);
}

/* The request was not permitted or not valid: nothing of it is stored. */
static bool error_refuses(enum error error) {
    return error == ERROR_INVALID || error == ERROR_INVALID_PLAN || error == ERROR_UNAUTHORIZED ||
           error == ERROR_NOT_FOUND || error == ERROR_CONFLICT;
}

/* An agent that may plan may not go past the transition table; whether the request does so depends on the node's status
 * at that time. */
static bool asks_past_table(const struct signal *signal) {
    return signal->kind == SIGNAL_WORK_MOVE &&
           (signal->work.override || signal->to == NODE_CANCELLED || signal->to == NODE_DONE);
}

/* An invalid request is never accepted. An unauthorized caller gets ERROR_UNAUTHORIZED, and no other caller gets it. */
static void answer_judge(struct fleet *fleet, const struct asked *asked,
                         const struct input *input) {
    const struct op *op = asked->op;
    const char *what = SIGNALS[asked->kind].name;
    if (input->error == ERROR_QUARANTINED && !fleet->may_quarantine)
        violated(fleet, "a goal was quarantined: %s", input->why);
    if (!op || input->forwarded)
        return;
    if (op->wrong && input->error == ERROR_NONE)
        violated(fleet, "a %s that has to be refused with %s was accepted", what,
                 ERRORS[op->expect].code);
    if (error_refuses(input->error) && input->error != ERROR_NOT_FOUND &&
        !asks_past_table(&op->signal) &&
        (input->error == ERROR_UNAUTHORIZED) != (op->expect == ERROR_UNAUTHORIZED))
        violated(fleet, "a %s was refused with %s, not %s: %s", what, ERRORS[input->error].code,
                 ERRORS[op->expect].code, input->why);
}

/* A signal that was not taken is offered again; a refused one is finished. */
static void report_answered(struct fleet *fleet, struct report *report, const struct input *input) {
    bool over = input->error == ERROR_NONE || input->error == ERROR_QUARANTINED ||
                input->error == ERROR_LIMITED || error_refuses(input->error);
    if (input->error == ERROR_QUARANTINED && !fleet->may_quarantine)
        violated(fleet, "a goal was quarantined: %s", input->why);
    tell(fleet, "      %s: %s %s", SIGNALS[report->signal.kind].name, ERRORS[input->error].code,
         input->why);
    report->host = 0;
    if (!over)
        return;
    struct report **link = &fleet->senses;
    while (*link != report)
        link = &(*link)->next;
    *link = report->next;
    free(report);
}

static bool is_asked(const struct fleet *fleet, const void *waiter) {
    return waiter >= (const void *)fleet->asked &&
           waiter < (const void *)(fleet->asked + FLEET_ASKED);
}

/* A number names one goal for ever, also over crashes, take-overs and restores. */
static void number_judge(struct fleet *fleet, const struct asked *asked,
                         const struct input *input) {
    if (asked->kind != SIGNAL_GOAL_CREATE)
        return;
    if (input->error == ERROR_REFUSED_BY_STORE) /* two rows with one number */
        violated(fleet, "the store refuses a new goal: %s", input->why);
    if (input->error != ERROR_NONE || input->forwarded)
        return;
    if (input->number == 0)
        violated(fleet, "a new goal has no number");
    for (uint32_t i = 0; i < fleet->numbered_count; i++)
        if (fleet->numbered[i].number == input->number) {
            if (!id_equal(fleet->numbered[i].goal, asked->goal))
                violated(fleet, "two goals are called T%llu", (unsigned long long)input->number);
            return;
        }
    must(fleet->numbered_count < FLEET_ASKED);
    fleet->numbered[fleet->numbered_count++] = (struct numbered){asked->goal, input->number};
}

static void answers_take(struct fleet *fleet, struct fleet_host *host) {
    for (struct input *input; (input = ledger_take_answered(host->ledger));) {
        struct asked *asked = input->waiter;
        if (!is_asked(fleet, asked)) {
            report_answered(fleet, input->waiter, input);
            input_free(input);
            continue;
        }
        asked->answered = true;
        asked->acknowledged = asked->acknowledged || input->error == ERROR_NONE;
        asked->applied = asked->applied || (input->applied && input->error == ERROR_NONE);
        asked->refused += error_refuses(input->error);
        asked->error = input->error;
        asked->forwarded = asked->forwarded || input->forwarded;
        answer_judge(fleet, asked, input);
        number_judge(fleet, asked, input);
        tell(fleet, "      host %u answers %s %u: %s%s", host->id, SIGNALS[asked->kind].name,
             (unsigned)(asked - fleet->asked), ERRORS[input->error].code,
             input->forwarded ? ", forwarded" : "");
        input_free(input);
    }
}

static void acts_take(struct fleet_host *host) {
    struct act **end = &host->acts;
    while (*end)
        end = &(*end)->next;
    for (struct act *act; (act = ledger_take_act(host->ledger)); end = &act->next)
        *end = act;
}

static struct acted *acted_find(struct fleet *fleet, struct id goal, uint32_t n) {
    for (uint32_t i = 0; i < fleet->acted_count; i++)
        if (id_equal(fleet->acted[i].goal, goal) && fleet->acted[i].n == n)
            return &fleet->acted[i];
    must(fleet->acted_count < FLEET_ACTED);
    struct acted *acted = &fleet->acted[fleet->acted_count++];
    *acted = (struct acted){.goal = goal, .n = n};
    return acted;
}

static bool effect_is_ready(const struct dump *dump, struct id goal, uint32_t n) {
    uint32_t from, to = DUMP_RANGE(dump->effects, dump->effect_count, goal, &from);
    for (uint32_t i = from; i < to; i++)
        if (dump->effects[i].slot.n == n)
            return dump->effects[i].slot.state == EFFECT_READY;
    return false;
}

/* P8: every act has a committed claim behind it, and no effect is acted on twice. */
static void act_judge(struct fleet *fleet, struct fleet_host *host, const struct act *act) {
    struct arena arena = {0};
    struct dump dump;
    fleet->backend->dump(fleet->backend, &dump, &arena);
    struct acted *acted = acted_find(fleet, act->effect.goal, act->effect.n);
    struct dump_life life = dump_life(&dump, act->effect.goal, act->effect.n);
    must(act_log_start(host->state, act->effect.goal, act->effect.n) ||
         planted(ACT_WITHOUT_CLAIM) || planted(ACT_BEFORE_COMMIT));
    if (++acted->times > 1)
        violated(fleet, "effect %u of a goal was acted on twice, by host %u and by host %u",
                 act->effect.n, acted->host, host->id);
    for (uint32_t i = 0; i < fleet->acted_count; i++)
        if (&fleet->acted[i] != acted && fleet->acted[i].host == host->id &&
            id_equal(fleet->acted[i].goal, act->effect.goal))
            violated(fleet, "host %u ran the command of a goal twice, as effects %u and %u",
                     host->id, fleet->acted[i].n, acted->n);
    if (life.claimed == 0 && fleet->backs == 0) /* P13: the claim may have been lost since */
        violated(fleet, "host %u acted on effect %u without a committed claim", host->id,
                 act->effect.n);
    acted->host = host->id;
    acted->restores = fleet->restores;
    acted->claim_lost = fleet->backs > 0 && effect_is_ready(&dump, act->effect.goal, act->effect.n);
    acted->exit = fleet->next_exit;
    host->outcomes[host->outcome_count++] = acted;
    arena_free(&arena);
}

/* ---- P10 ---- */

void fleet_hosts_matter(struct fleet *fleet) {
    fleet->cast->hosts_matter = true;
}

static uint64_t join_of(const struct fleet_host *host, const struct ledger_lease *lease) {
    return (uint64_t)host->lives << 32 | lease->joins;
}

enum whose { WHOSE_OURS, WHOSE_OTHERS, WHOSE_ENDED };

/* According to the store: what a daemon asks after each join (run_lease.c). */
static enum whose run_whose(struct fleet *fleet, uint32_t host, const struct player *run) {
    struct arena arena = {0};
    struct goal whole = {0};
    struct plan plan = {0};
    enum whose whose = WHOSE_OTHERS;
    fleet_look(fleet);
    const struct dump_goal *row = dump_goal(&fleet->view, run->goal);
    bool there = row && dump_whole(&fleet->view, row, &arena, &whole, &plan);
    const struct node *node = there ? plan_find(&plan, str_of(run->node)) : NULL;
    if (node && whole.owner == host)
        whose = node->run.effect == run->n && node->run.host == host && node->run.lost != run->n
                    ? WHOSE_OURS
                    : WHOSE_ENDED;
    arena_free(&arena);
    return whose;
}

static void run_renew(struct fleet *fleet, struct fleet_host *host, struct player *run,
                      const struct ledger_lease *lease) {
    bool known = run->settled == join_of(host, lease);
    enum whose whose = known ? WHOSE_OURS : run_whose(fleet, host->id, run);
    if (whose == WHOSE_OURS || planted(THAW_ON_RETURN)) {
        run->settled = join_of(host, lease);
        run->renewed_until = lease->until;
    } else if (whose == WHOSE_OTHERS) {
        struct signal ended = cast_strand(fleet->cast, run, fleet->clock, &fleet->cast_arena);
        fleet_tell(fleet, &ended);
        tell(fleet, "      host %u gives run %u up", host->id, run->n);
    }
}

static void host_renews(struct fleet *fleet, struct fleet_host *host) {
    struct ledger_lease lease = ledger_lease(host->ledger);
    if (!fleet->cast || !fleet->cast->hosts_matter || lease.joins == 0 ||
        fleet->clock >= lease.until)
        return;
    for (uint32_t i = 0; i < fleet->cast->run_count; i++) {
        struct player *run = &fleet->cast->runs[i];
        if (run->host == host->id && !run->stopped && run->agent.state != PRETEND_GONE)
            run_renew(fleet, host, run, &lease);
    }
}

/* The deadline of a hold is determined before the hold is started, however long the start takes. */
static void run_started(struct fleet *fleet, const struct fleet_host *host) {
    struct player *run = &fleet->cast->runs[fleet->cast->run_count - 1];
    run->settled = join_of(host, &host->checked_under);
    run->renewed_until = host->checked_under.until;
}

/* ---- atoms ---- */

static void host_turn(struct fleet *fleet, struct fleet_host *host) {
    if (host->session &&
        host->session->done) { /* take over the answer; the rows of a commit belong to the ledger */
        arena_free(&host->answer_arena);
        host->answer = host->session->answer;
        host->answered = true;
        const struct store_request *copy = host->session->request;
        for (uint32_t i = 0; i < copy->commit_count; i++)
            host->wanted->commits[i].ok = copy->commits[i].ok;
        host->answer_arena = host->session->arena;
        host->session->arena = (struct arena){0};
        session_free(fleet, host->session);
        host->session = NULL;
    }
    const struct store_request *request =
        ledger_turn(host->ledger, host->answered ? &host->answer : NULL, host_now(fleet, host));
    host->answered = false;
    answers_take(fleet, host);
    acts_take(host);
    host_renews(fleet, host);
    host->wanted = request;
    if (request) {
        session_add(fleet, host, request);
        tell(fleet, "      host %u wants: %s", host->id, STORE_VERB_NAMES[request->verb]);
    }
}

static void executor_check(struct fleet *fleet, struct fleet_host *host) {
    struct act *act = host->acts;
    enum may_act may = ledger_may_act(host->ledger, act, fleet->clock);
    tell(fleet, "      %s", may == ACT_NOW ? "yes" : may == ACT_LATER ? "later" : "never");
    if (may == ACT_LATER)
        return;
    host->acts = act->next;
    act->next = NULL;
    if (may == ACT_NOW) {
        if (!host->checked)
            host->checked_under = ledger_lease(host->ledger);
        struct act **end = &host->checked;
        while (*end)
            end = &(*end)->next;
        *end = act;
        return;
    }
    struct signal lost = {.kind = SIGNAL_EFFECT_LOST,
                          .goal = act->effect.goal,
                          .effect = act->effect.n,
                          .at = fleet_wall(fleet)};
    struct input *input = input_make(&lost, NULL);
    must(input && ledger_offer(host->ledger, input));
    free(act);
}

/* An act of an at-most-once effect must have a committed claim behind it. */
static void claim_judge(struct fleet *fleet, struct fleet_host *host, const struct act *act) {
    struct arena arena = {0};
    struct dump dump;
    if (EFFECTS[act->effect.kind].promise != PROMISE_AT_MOST_ONCE || fleet->careful == 0 ||
        fleet->carried % fleet->careful != 0)
        return;
    fleet->backend->dump(fleet->backend, &dump, &arena);
    if (dump_life(&dump, act->effect.goal, act->effect.n).claimed == 0)
        violated(fleet, "host %u acted on effect %u without a committed claim", host->id,
                 act->effect.n);
    arena_free(&arena);
}

static struct report *report_make(const struct signal *signal) {
    struct report *report = malloc(sizeof *report + signal_text_size(signal));
    must(report != NULL);
    report->next = NULL;
    report->host = report->from = 0;
    report->looked = false;
    signal_copy(&report->signal, signal, (char *)(report + 1));
    return report;
}

static void report_push(struct report **list, struct report *report) {
    while (*list)
        list = &(*list)->next;
    *list = report;
}

void fleet_tell(struct fleet *fleet, const struct signal *signal) {
    struct report *report = report_make(signal);
    const struct player *run = fleet->cast && signal->about.run
                                   ? cast_run(fleet->cast, signal->goal, signal->about.run)
                                   : NULL;
    if (run && fleet->cast->hosts_matter)
        report->from = run->host;
    report_push(&fleet->senses, report);
}

/* ---- the landing lane ---- */

static const struct dump_goal *lane_row(struct fleet *fleet) {
    fleet_look(fleet);
    return dump_goal(&fleet->view, workspace_id(&fleet->policy, 0, 0));
}

/* Only a host that has lost the goal may land without holding the slot. */
static void turn_judge(struct fleet *fleet, const struct fleet_host *host, struct id goal) {
    struct arena arena = {0};
    struct goal whole = {0};
    struct live live = {0};
    const struct dump_goal *row = lane_row(fleet);
    const struct dump_goal *lands = dump_goal(&fleet->view, goal);
    bool read = row && dump_live(&fleet->view, row, &arena, &whole, &live);
    const struct permit *holder = read ? lane_holder(&live.permits) : NULL;
    if (lands && lands->owner == host->id && (!holder || !id_equal(holder->goal, goal)))
        violated(fleet, "host %u lands out of turn: %s", host->id,
                 holder ? "another goal has the slot" : "nobody has the slot");
    arena_free(&arena);
}

static uint32_t landed_count(const struct cast *cast) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < cast->verdict_count; i++)
        count += cast->verdicts[i].landed;
    return count;
}

static bool has_landed(const struct cast *cast, struct id goal) {
    for (uint32_t i = 0; i < cast->verdict_count; i++)
        if (cast->verdicts[i].landed && id_equal(cast->verdicts[i].goal, goal))
            return true;
    return false;
}

static bool has_record(const struct dump *dump, struct id goal, enum record_type type) {
    for (uint32_t i = 0; i < dump->record_count; i++)
        if (id_equal(dump->records[i].goal, goal) && dump->records[i].record.type == type)
            return true;
    return false;
}

static void goal_rest_judge(struct fleet *fleet, const struct dump_goal *row) {
    struct arena arena = {0};
    struct goal whole = {0};
    struct live live = {0};
    bool asked = false;
    if (!dump_live(&fleet->view, row, &arena, &whole, &live))
        violated(fleet, "a goal cannot be read");
    for (uint32_t i = 0; i < live.questions.count; i++)
        asked = asked || live.questions.at[i].state == QUESTION_OPEN;
    if (whole.kind.workspace && live.permits.count > 0)
        violated(fleet, "%u wait in the lane for ever, and %s has the slot", live.permits.count,
                 lane_holder(&live.permits) ? "one" : "none");
    bool recorded = has_record(&fleet->view, row->id, RECORD_WORK_LANDED);
    if (!whole.kind.admission && !recorded && !asked)
        violated(fleet, "a change is lost: it has %slanded, and no person is asked",
                 has_landed(fleet->cast, row->id) ? "" : "not ");
    if (recorded && !has_landed(fleet->cast, row->id))
        violated(fleet, "recorded as landed, and the target does not have it");
    arena_free(&arena);
}

bool fleet_check_lane(struct fleet *fleet) {
    fleet_look(fleet);
    for (uint32_t i = 0; i < fleet->view.goal_count; i++)
        goal_rest_judge(fleet, &fleet->view.goals[i]);
    return fleet->violation[0] == 0;
}

/* Makes the newest run report that it is done. */
static void done_tell(struct fleet *fleet) {
    struct player *run = &fleet->cast->runs[fleet->cast->run_count - 1];
    struct signal done = cast_says(fleet->cast, run, REPLY_DONE, fleet->clock, &fleet->cast_arena);
    fleet_tell(fleet, &done);
}

static void agents_act(struct fleet *fleet, struct fleet_host *host, const struct act *act) {
    fleet->carried++;
    claim_judge(fleet, host, act);
    arena_reset(&fleet->cast_arena);
    uint32_t runs = fleet->cast->run_count, landed = landed_count(fleet->cast);
    struct signal ended =
        cast_carry(fleet->cast, &act->effect, host->id, fleet->clock, &fleet->cast_arena);
    if (fleet->cast->run_count > runs)
        run_started(fleet, host);
    if (fleet->cast->run_count > runs && fleet->one_lane)
        done_tell(fleet);
    if (fleet->one_lane && landed_count(fleet->cast) > landed)
        turn_judge(fleet, host, act->effect.goal);
    struct report *report = report_make(&ended);
    report->looked = act->effect.kind == EFFECT_LOOK;
    report_push(&host->report, report);
    tell(fleet, "      %s %s to %.*s, for %.*s", EFFECTS[act->effect.kind].name,
         name_of(&WORDS_NAMES, act->effect.words), STR_ARG(act->effect.agent),
         STR_ARG(act->effect.node));
    if (fleet->cast->violation[0])
        violated(fleet, "%s", fleet->cast->violation);
}

static void executor_act(struct fleet *fleet, struct fleet_host *host) {
    struct act *act = host->checked;
    host->checked = act->next;
    if (act->effect.kind == EFFECT_COMMAND)
        act_judge(fleet, host, act);
    else if (fleet->cast)
        agents_act(fleet, host, act);
    free(act);
}

static void signal_offer(struct fleet_host *host, const struct signal *signal, void *waiter) {
    struct input *input = input_make(signal, waiter);
    must(input != NULL);
    if (!ledger_offer(host->ledger, input))
        input_free(input);
}

static struct signal report_signal(struct fleet *fleet, const struct report *report) {
    struct signal signal = report->signal;
    struct observation seen = {0};
    bool sees = report->looked || signal.kind == SIGNAL_AGENT_SEEN;
    signal.at = fleet_wall(fleet);
    if (fleet->stepped == 0 || !sees || !shape_decode(&OBSERVATION, signal.body, &seen))
        return signal;
    observation_step(fleet, &seen);
    arena_reset(&fleet->cast_arena);
    signal.body = shape_encode(&OBSERVATION, &seen, &fleet->cast_arena);
    return signal;
}

static void report_offer(struct fleet *fleet, struct fleet_host *host) {
    struct report *report = host->report;
    host->report = report->next;
    struct signal signal = report_signal(fleet, report);
    signal_offer(host, &signal, NULL);
    free(report);
}

static bool report_waits(const struct report *report, const struct fleet_host *host) {
    return report->host == 0 && (report->from == 0 || report->from == host->id);
}

static bool sense_waits(const struct fleet *fleet, const struct fleet_host *host) {
    for (const struct report *report = fleet->senses; report; report = report->next)
        if (report_waits(report, host))
            return true;
    return fleet->cast && cast_next(fleet->cast) <= fleet->clock;
}

/* Keeps the order of what one agent shows: an unacknowledged signal holds back the later ones. */
static void sense(struct fleet *fleet, struct fleet_host *host) {
    struct signal signals[CAST_SIGNALS];
    arena_reset(&fleet->cast_arena);
    uint32_t count =
        fleet->cast ? cast_happens(fleet->cast, fleet->clock, signals, &fleet->cast_arena) : 0;
    for (uint32_t i = 0; i < count; i++)
        fleet_tell(fleet, &signals[i]);
    for (struct report *report = fleet->senses; report; report = report->next)
        if (report_waits(report, host)) {
            report->host = host->id;
            struct signal signal = report_signal(fleet, report);
            signal_offer(host, &signal, report);
            return;
        }
}

static void outcome_offer(struct fleet *fleet, struct fleet_host *host) {
    if (host->report) {
        report_offer(fleet, host);
        return;
    }
    struct acted *acted = host->outcomes[0];
    memmove(host->outcomes, host->outcomes + 1, --host->outcome_count * sizeof host->outcomes[0]);
    acted->reported = true;
    struct signal ended = {.kind = SIGNAL_EFFECT_ENDED,
                           .source = effect_id(acted->goal, acted->n),
                           .goal = acted->goal,
                           .effect = acted->n,
                           .at = fleet_wall(fleet),
                           .exit = acted->exit,
                           .sender.actor = STR("overseer")};
    struct input *input = input_make(&ended, NULL);
    must(input && ledger_offer(host->ledger, input));
}

/* The host receives no further answer. What has reached the server continues, or is already done. */
static void host_loses(struct fleet *fleet, struct fleet_host *host) {
    enum store_verb verb = host->session->request->verb;
    host->session->ghost = true;
    session_drop_done(fleet, host->session);
    host->session = NULL;
    host->answer =
        (struct store_answer){.outcome = verb_writes(verb) ? STORE_UNKNOWN : STORE_FAILED};
    host->answered = true;
    fleet->faults++;
}

static void host_fails(struct fleet *fleet, struct fleet_host *host) {
    session_free(fleet, host->session);
    host->session = NULL;
    host->answer = (struct store_answer){.outcome = STORE_FAILED};
    host->answered = true;
    fleet->faults++;
}

static void session_rollback(struct fleet *fleet, struct session *session) {
    fleet->backend->abort(fleet->backend, session);
    for (uint32_t i = 0; i < fleet->host_count; i++)
        if (fleet->hosts[i].session == session) {
            host_loses(
                fleet,
                &fleet->hosts[i]); /* frees the session: it is done, and no host waits for it */
            return;
        }
    session_free(fleet, session);
}

static void session_advance(struct fleet *fleet, struct session *session) {
    enum session_state state = fleet->backend->advance(fleet->backend, session);
    tell(fleet, "      %s %u of host %u%s: %s", STORE_VERB_NAMES[session->request->verb],
         session->place, session->host, session->ghost ? " (ghost)" : "",
         state == SESSION_BLOCKED ? "waits for a lock"
         : state == SESSION_DONE  ? "done"
                                  : "goes on");
    session_drop_done(fleet, session);
}

/* A manual repair, for example: legitimate, in its own transaction, and unknown to the goal's owner. */
static void meddle(struct fleet *fleet, uint32_t which) {
    struct arena arena = {0};
    struct dump dump;
    fleet->backend->dump(fleet->backend, &dump, &arena);
    const struct dump_goal *goal = which < dump.goal_count ? &dump.goals[which] : NULL;
    uint8_t number = (uint8_t)fleet->meddled;
    struct evidence evidence = {
        .rule = STR("by-hand"),
        .source = id_derive(STR("meddle"), (struct str){(const char *)&number, 1})};
    struct record record = {.type = RECORD_GOAL_REPORTED,
                            .at = fleet->clock,
                            .body = shape_encode(&EVIDENCE, &evidence, &arena)};
    if (goal) {
        record_seal(&record, goal->id, goal->seq, &goal->head);
        fleet->meddled += fleet->backend->meddle(fleet->backend, goal, &record);
    }
    arena_free(&arena);
}

/* Data of its state folder that was not yet synced to disk is lost: here all notes, but not what is known of its host
 * row. */
void fleet_machine_off(struct fleet *fleet, uint32_t index) {
    struct fleet_host *host = &fleet->hosts[index];
    struct act_head head = *act_log_head(host->state), other = {0};
    act_log_confirm(host->state, &other); /* as if for another store */
    act_log_confirm(host->state, &head);
    host->boot++;
}

void fleet_may_go_back(struct fleet *fleet) {
    fleet->backend->keep_past(fleet->backend);
}

/* P13: an asynchronous standby was promoted. Losing acknowledged writes since then is excused; doing something twice is
 * not. */
static void store_goes_back(struct fleet *fleet, uint32_t commits) {
    for (uint32_t i = 0; i < fleet->host_count; i++)
        if (fleet->hosts[i].session && !fleet->hosts[i].session->done) {
            fleet->backend->abort(fleet->backend, fleet->hosts[i].session);
            host_loses(fleet, &fleet->hosts[i]);
            fleet->faults--;
        }
    for (struct session *s = fleet->sessions, *next; s; s = next) {
        next = s->next;
        if (s->ghost) {
            fleet->backend->abort(fleet->backend, s);
            session_free(fleet, s);
        }
    }
    if (!fleet->backend->go_back(fleet->backend, commits))
        return;
    fleet->backs++;
    fleet->restores++;
}

void fleet_do(struct fleet *fleet, const struct atom *atom) {
    struct fleet_host *host = &fleet->hosts[atom->host];
    fleet->steps++;
    if (atom->kind != ATOM_STATEMENT)
        tell(fleet, "%4llu  host %u %s", (unsigned long long)fleet->steps, host->id,
             ATOM_NAMES[atom->kind]);
    switch (atom->kind) {
    case ATOM_TURN: host_turn(fleet, host); break;
    case ATOM_STATEMENT: session_advance(fleet, atom->session); break;
    case ATOM_CHECK: executor_check(fleet, host); break;
    case ATOM_ACT: executor_act(fleet, host); break;
    case ATOM_OUTCOME: outcome_offer(fleet, host); break;
    case ATOM_SENSE: sense(fleet, host); break;
    case ATOM_ASK:
        tell(fleet, "      for %s %u", SIGNALS[fleet->asked[atom->arg].kind].name, atom->arg);
        ask(fleet, host, &fleet->asked[atom->arg]);
        break;
    case ATOM_MEDDLE: meddle(fleet, atom->arg); break;
    case ATOM_TIME: fleet->clock += fleet->tick; break;
    case ATOM_LOSE: host_loses(fleet, host); break;
    case ATOM_FAIL: host_fails(fleet, host); break;
    case ATOM_ROLLBACK: session_rollback(fleet, atom->session); break;
    case ATOM_STUCK:
        host->session->stuck = true;
        host_loses(fleet, host);
        break;
    case ATOM_CRASH:
        host_stop(fleet, host);
        fleet->backend->host_died(fleet->backend, host->id);
        if (fleet->cast)
            cast_host_dies(fleet->cast, host->id, fleet->clock);
        fleet->crashes++;
        break;
    case ATOM_RESTART: host_start(fleet, atom->host); break;
    case ATOM_PUSH:
        cast_push(fleet->cast);
        fleet->meddled++;
        break;
    case ATOM_BACK: store_goes_back(fleet, atom->arg); break;
    case ATOM_KINDS: break;
    }
    if (fleet->cast) {
        cast_judge(fleet->cast, fleet->clock);
        if (fleet->cast->violation[0])
            violated(fleet, "%s", fleet->cast->violation);
    }
}

static bool host_wants_turn(struct fleet *fleet, struct fleet_host *host) {
    if (host->session)
        return host->session->done;
    struct instant now = {fleet_wall(fleet), fleet->clock, host->pulse, fleet->stepped};
    return host->answered || ledger_wakes_at(host->ledger, now) <= fleet->clock;
}

static bool host_is_cut_off(const struct fleet *fleet, const struct session *session) {
    const struct session *active = fleet->hosts[session->host - 1].session;
    return active != session;
}

static uint32_t host_atoms(struct fleet *fleet, uint32_t index, struct atom *atoms) {
    struct fleet_host *host = &fleet->hosts[index];
    uint32_t count = 0;
#define ADD(what) \
    atoms[count++] = (struct atom) { \
        .kind = (what), .host = index \
    }
    if (!host->up) {
        ADD(ATOM_RESTART);
        return count;
    }
    if (host_wants_turn(fleet, host))
        ADD(ATOM_TURN);
    if (host->acts)
        ADD(ATOM_CHECK);
    if (host->checked)
        ADD(ATOM_ACT);
    if (host->outcome_count > 0 || host->report)
        ADD(ATOM_OUTCOME);
    if (sense_waits(fleet, host))
        ADD(ATOM_SENSE);
    if (host->session)
        ADD(ATOM_LOSE);
    if (host->session && !host->session->done && host->session->place == 0)
        ADD(ATOM_FAIL);
    if (host->session && !host->session->done && host->session->place > 0 &&
        fleet->backend->single_statements)
        ADD(ATOM_STUCK);
    ADD(ATOM_CRASH);
#undef ADD
    return count;
}

uint32_t fleet_atoms(struct fleet *fleet, struct atom atoms[FLEET_ATOMS]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < fleet->host_count; i++)
        count += host_atoms(fleet, i, atoms + count);
    for (struct session *s = fleet->sessions; s && count < FLEET_ATOMS - 8; s = s->next) {
        if (s->done)
            continue;
        if (!s->stuck)
            atoms[count++] =
                (struct atom){.kind = ATOM_STATEMENT, .host = s->host - 1, .session = s};
        if (s->stuck || (host_is_cut_off(fleet, s) && s->place > 0) || s->place == 0)
            atoms[count++] =
                (struct atom){.kind = ATOM_ROLLBACK, .host = s->host - 1, .session = s};
    }
    atoms[count++] = (struct atom){.kind = ATOM_MEDDLE};
    atoms[count++] = (struct atom){.kind = ATOM_TIME};
    return count;
}

/* ---- the store is restored ---- */

void fleet_look(struct fleet *fleet) {
    arena_reset(&fleet->view_arena);
    fleet->backend->dump(fleet->backend, &fleet->view, &fleet->view_arena);
}

static bool inbox_has(const struct dump *dump, struct id source) {
    for (uint32_t i = 0; i < dump->inbox_count; i++)
        if (id_equal(dump->inbox[i].source, source))
            return true;
    return false;
}

void fleet_back_up(struct fleet *fleet) {
    fleet->backend->back_up(fleet->backend);
    fleet_look(fleet);
    for (uint32_t i = 0; i < fleet->asked_count; i++) {
        struct asked *asked = &fleet->asked[i];
        asked->kept = dump_applied(&fleet->view, asked->goal, asked->source) > 0 ||
                      inbox_has(&fleet->view, asked->source);
    }
    tell(fleet, "      the store is backed up");
}

/* Acknowledged requests since the backup are lost, and no client asks for them again. */
void fleet_restore(struct fleet *fleet) {
    for (uint32_t i = 0; i < fleet->host_count; i++)
        if (fleet->hosts[i].up) {
            host_stop(fleet, &fleet->hosts[i]);
            fleet->backend->host_died(fleet->backend, fleet->hosts[i].id);
        }
    while (fleet->sessions) {
        fleet->backend->abort(fleet->backend, fleet->sessions);
        session_free(fleet, fleet->sessions);
    }
    fleet->backend->restore(fleet->backend);
    fleet->restores++;
    for (uint32_t i = 0; i < fleet->asked_count; i++) {
        struct asked *asked = &fleet->asked[i];
        asked->gone = asked->gone || (asked->sent > 0 && !asked->kept);
    }
    fleet_look(fleet);
    tell(fleet, "      THE STORE IS PUT BACK");
}

struct knowledge fleet_known(struct fleet *fleet, struct id goal, struct arena *arena) {
    struct knowledge known = {.goal = {.id = goal}};
    const struct dump_goal *row = dump_goal(&fleet->view, goal);
    known.exists =
        row && !row->aside && dump_whole(&fleet->view, row, arena, &known.goal, &known.plan);
    const struct dump_text *text =
        known.exists ? dump_text(&fleet->view, goal, &known.goal.plan.proposal) : NULL;
    if (text)
        known.proposal = arena_copy(arena, text->body);
    return known;
}

/* ---- checking ---- */

/* An accepted request must have left a record, except where there was nothing to decide. */
static bool asked_left_a_record(const struct fleet *fleet, const struct asked *asked) {
    if (!asked->acknowledged)
        return false;
    bool idle = asked->op && asked->op->may_idle;
    return !idle || (asked->applied && fleet->restores == 0); /* a new era is itself a change */
}

/* PLAN-25: the caller that applies a plan has seen the version before it. */
static void check_version(struct fleet *fleet, const struct dump *dump, const struct asked *asked) {
    uint32_t from, to = DUMP_RANGE(dump->records, dump->record_count, asked->goal, &from);
    if (!asked->op || asked->kind != SIGNAL_PLAN_APPLY)
        return;
    for (uint32_t i = from; i < to; i++) {
        const struct evidence *evidence = &dump->evidence[i];
        if (id_equal(evidence->source, asked->source) &&
            str_equal(evidence->rule, STR("plan.apply")) &&
            evidence->plan.version != asked->op->signal.plan.expected + 1)
            violated(fleet, "a plan made for version %llu became version %llu",
                     (unsigned long long)asked->op->signal.plan.expected,
                     (unsigned long long)evidence->plan.version);
    }
}

static void check_asked(struct fleet *fleet, const struct dump *dump, const struct asked *asked) {
    uint32_t applied = dump_applied(dump, asked->goal, asked->source);
    const char *what = SIGNALS[asked->kind].name;
    if (applied > 1 && (asked->keyed || asked->sent == 1))
        violated(fleet, "one %s was applied %u times", what, applied);
    check_version(fleet, dump, asked);
    if (asked->gone) {
        if (applied > 0)
            violated(fleet, "a %s is there again that the store was put back behind", what);
        return;
    }
    /* the owner decides a forwarded signal later: a refusal is then a record */
    bool refused = asked->forwarded && dump_refused(dump, asked->goal, asked->source);
    if (fleet->backs == 0 && asked_left_a_record(fleet, asked) && applied == 0 && !refused &&
        !inbox_has(dump, asked->source))
        violated(fleet, "an acknowledged %s is lost", what);
    if (asked->sent > 0 && asked->sent == asked->refused && applied > 0)
        violated(fleet, "a %s that was refused left something behind", what);
}

/* An effect may look undone when it was carried out before the store went back, or when the store lost its claim in
 * between: its host notices at its next commit. check_effects_quiet() makes sure that no effect stays ready. */
static void check_acted(struct fleet *fleet, const struct dump *dump) {
    for (uint32_t i = 0; i < fleet->acted_count; i++) {
        const struct acted *acted = &fleet->acted[i];
        uint32_t from, to = DUMP_RANGE(dump->effects, dump->effect_count, acted->goal, &from);
        for (uint32_t k = from; k < to && acted->restores == fleet->restores; k++)
            if (dump->effects[k].slot.n == acted->n && acted->times > 0 && !acted->claim_lost &&
                dump->effects[k].slot.state == EFFECT_READY)
                violated(fleet, "effect %u was acted on and is still ready", acted->n);
    }
}

/* P10: a report counts only for the run whose start was claimed last. Valid where a goal has one assignment and nothing
 * is resent. */
static void reports_judge(struct fleet *fleet, struct id goal) {
    uint32_t run = 0;
    for (uint32_t i = 0; i < fleet->view.record_count; i++) {
        const struct dump_record *row = &fleet->view.records[i];
        struct evidence evidence;
        struct signal signal;
        if (!id_equal(row->goal, goal) || !shape_decode(&EVIDENCE, row->record.body, &evidence))
            continue;
        if (row->record.type == RECORD_EFFECT_CLAIMED &&
            str_equal(evidence.to, str_of(EFFECTS[EFFECT_SPAWN].name)))
            run = evidence.effect;
        if (row->record.type == RECORD_UPDATE_TAKEN &&
            signal_decode(evidence.replay.input, &signal) && signal.about.run &&
            signal.about.run != run)
            violated(fleet, "a report of run %u counted for run %u", signal.about.run, run);
    }
}

bool fleet_check(struct fleet *fleet) {
    fleet_look(fleet);
    const char *broken = world_check(&fleet->view, &fleet->view_arena);
    if (broken)
        violated(fleet, "%s", broken);
    dump_read(&fleet->view, &fleet->view_arena);
    for (uint32_t i = 0; i < fleet->asked_count; i++)
        check_asked(fleet, &fleet->view, &fleet->asked[i]);
    check_acted(fleet, &fleet->view);
    for (uint32_t i = 0; fleet->one_assignment && i < fleet->view.goal_count; i++)
        reports_judge(fleet, fleet->view.goals[i].id);
    if (fleet->view.aside_count > 0 && !fleet->may_quarantine)
        violated(fleet, "a goal was set aside");
    return fleet->violation[0] == 0;
}

/* GOAL-11: a paused goal starts nothing. */
static bool effect_may_wait(const struct dump *dump, const struct dump_effect *effect) {
    const struct goal_view *view = dump_view(dump, effect->goal);
    return effect->slot.state == EFFECT_READY && view && view->status == GOAL_PAUSED;
}

static void check_effects_quiet(struct fleet *fleet, const struct dump *dump) {
    for (uint32_t i = 0; i < dump->effect_count; i++) {
        const struct dump_effect *effect = &dump->effects[i];
        struct dump_life life = dump_life(dump, effect->goal, effect->slot.n);
        if (effect_may_wait(dump, effect))
            continue;
        if (effect->slot.state != EFFECT_UNCONFIRMED)
            violated(fleet, "the effect %u, %s, stays %s for ever", effect->slot.n,
                     EFFECTS[effect->slot.kind].name, EFFECT_STATE[effect->slot.state].name);
        else if (life.unconfirmed == 0)
            violated(fleet, "an effect is unconfirmed, and nobody is asked");
    }
    for (uint32_t i = 0; i < fleet->acted_count; i++) {
        struct dump_life life = dump_life(dump, fleet->acted[i].goal, fleet->acted[i].n);
        if (fleet->acted[i].reported && life.decided > 0 && life.ended == 0 &&
            life.unconfirmed == 0)
            violated(fleet, "a reported outcome is lost");
    }
}

/* When nothing moves any more: no request is left unanswered by a live host, no inbox row is left, no effect waits,
 * every doubt was put to a person, and every goal belongs to a live host. */
static void check_quiet(struct fleet *fleet) {
    const struct dump *dump = &fleet->view;
    if (dump->inbox_count > 0)
        violated(fleet, "%u inbox rows are never consumed", dump->inbox_count);
    check_effects_quiet(fleet, dump);
    for (uint32_t i = 0; i < dump->goal_count; i++)
        for (uint32_t h = 0; h < dump->host_count; h++)
            if (dump->goals[i].open && dump->hosts[h].row.host == dump->goals[i].owner &&
                dump->hosts[h].row.state != HOST_LIVE)
                violated(fleet, "a goal belongs to a host that is %s",
                         HOST_STATE[dump->hosts[h].row.state].name);
}

static bool atom_heals(const struct atom *atom) {
    switch (atom->kind) {
    case ATOM_TURN:
    case ATOM_STATEMENT:
    case ATOM_CHECK:
    case ATOM_ACT:
    case ATOM_OUTCOME:
    case ATOM_SENSE:
    case ATOM_RESTART: return true;
    case ATOM_ROLLBACK: return atom->session->stuck;
    default: return false;
    }
}

static uint64_t commits_of(const struct fleet *fleet) {
    uint64_t commits = 0;
    for (uint32_t i = 0; i < fleet->host_count; i++)
        if (fleet->hosts[i].up)
            commits += ledger_view(fleet->hosts[i].ledger).commits;
    return commits;
}

static bool fleet_is_busy(const struct fleet *fleet) {
    for (uint32_t i = 0; i < fleet->host_count; i++) {
        const struct fleet_host *host = &fleet->hosts[i];
        struct ledger_view view = ledger_view(host->ledger);
        if (host->acts || host->checked || host->outcome_count || host->report || !view.joined ||
            view.waiting || view.claims)
            return true;
    }
    return false;
}

/* All hosts run in turn; time passes only when none can move. Quiet means: a few leases without a commit. */
bool fleet_heal(struct fleet *fleet) {
    uint64_t commits = 0;
    int quiet = 0;
    for (int round = 0; round < 4000 && quiet < 12 && !fleet->violation[0]; round++) {
        struct atom atoms[FLEET_ATOMS];
        bool moved = false;
        for (int inner = 0; inner < 400 && !fleet->violation[0]; inner++) {
            uint32_t count = fleet_atoms(fleet, atoms), healing = 0;
            for (uint32_t i = 0; i < count; i++)
                if (atom_heals(&atoms[i]))
                    atoms[healing++] = atoms[i];
            if (healing == 0)
                break;
            fleet_do(fleet, &atoms[(uint32_t)inner % healing]);
            moved = true;
        }
        (void)moved;
        fleet->clock += fleet->tick;
        quiet = commits_of(fleet) == commits && !fleet_is_busy(fleet) ? quiet + 1 : 0;
        commits = commits_of(fleet);
    }
    if (quiet < 12)
        violated(fleet, "the fleet does not come to rest");
    fleet_check(fleet);
    check_quiet(fleet);
    return fleet->violation[0] == 0;
}
