/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that an admission keeps to every cap and budget, answers each request once, and lets no request starve. G-14,
 * G-15. */
#include "play.h"

#include "core/admission/permit.h"
#include "core/plan/graph.h"

enum {
    HOST = 7,
    GOALS = 5,
    ASSIGNMENTS = 6,
    WORKS = GOALS * ASSIGNMENTS,
    USES = 64,
    GRANTS = 4096
};

/* ---- an admission, step by step ---- */

struct answer {
    struct id goal;
    uint32_t assignment, turn, effect;
    enum permit_kind kind;
    bool granted;
    int64_t until;
    char reason[128];
};

static struct place {
    struct id id;
    struct goal goal;
    bool exists;
    struct live live;
    struct arena kept[2], arena;
    int turn;
    struct policy policy;
    struct policy_agent agents[4];
    struct policy_budget budgets[8];
    struct decision did;
    int64_t now, due;
    uint64_t sources;
    uint32_t written[RECORD_TYPES];
    struct answer answers[LIMIT_OPEN_EFFECTS]; /* of the newest step */
    uint32_t answer_count;
} admission, other;

static void answers_read(struct place *p) {
    p->answer_count = 0;
    for (uint32_t i = 0; i < p->did.effect_count; i++) {
        const struct effect_change *change = &p->did.effects[i];
        struct effect effect = {0};
        struct signal signal;
        struct permit permit = {0};
        if (change->op != EFFECT_OP_MAKE || change->slot.kind != EFFECT_TELL)
            continue;
        check(effect_decode(EFFECT_TELL, change->body, &effect), "a message");
        check(signal_decode(effect.body, &signal) && shape_decode(&PERMIT, signal.body, &permit),
              "an answer");
        check(id_equal(effect.to, signal.goal) && id_equal(permit.goal, signal.goal), "for whom");
        check(signal.about.assignment == permit.assignment + 1 && signal.to == permit.turn,
              "for what");
        struct answer *answer = &p->answers[p->answer_count++];
        *answer = (struct answer){.goal = signal.goal,
                                  .assignment = permit.assignment,
                                  .turn = permit.turn,
                                  .effect = change->slot.n,
                                  .kind = permit.wants,
                                  .granted = signal.kind == SIGNAL_PERMIT_GRANTED,
                                  .until = signal.until};
        snprintf(answer->reason, sizeof answer->reason, "%.*s", STR_ARG(signal.reason));
    }
}

static void place_keep(struct place *p) {
    struct arena *to = &p->kept[p->turn ^= 1];
    arena_reset(to);
    p->goal = p->did.goal;
    p->exists = true;
    p->live = live_copy(&p->did.live, to);
    p->due = p->goal.due_at;
    check(!live_broken(&p->live, &p->goal), "%s", live_broken(&p->live, &p->goal));
    for (uint32_t i = 0; i < p->did.record_count; i++)
        p->written[p->did.records[i].type]++;
}

/* The stored rows must equal the rows in memory. */
static void rows_are_stored(struct place *p) {
    for (uint32_t i = 0; i < p->did.part_count; i++) {
        const struct part_change *part = &p->did.parts[i];
        struct permit row = {0};
        if (part->kind != PART_PERMIT || part->gone)
            continue;
        check(shape_decode(&PERMIT, part->body, &row), "%s", hex_of(part->body));
        const struct permit *kept = permits_find(&p->live.permits, row.goal, row.assignment);
        check(kept && kept->n == part->n && kept->turn == row.turn && kept->state == row.state &&
                  kept->reserved == row.reserved && kept->settled_cost == row.settled_cost,
              "permit %u", part->n);
    }
}

static enum verdict tell(struct place *p, struct signal signal) {
    arena_reset(&p->arena);
    signal.goal = p->id;
    signal.at = p->now;
    if (signal.admission == 0)
        signal.admission = HOST;
    if (signal.sender.actor.len == 0)
        signal.sender.actor = STR("overseer");
    p->sources++;
    if (!signal.once.keyed)
        memcpy(signal.source.bytes, &p->sources, 8);
    struct stepping s = {.world = {.goal = p->exists ? &p->goal : NULL,
                                   .live = &p->live,
                                   .level = LEVEL_SUPERVISION},
                         .signal = &signal,
                         .policy = p->policy,
                         .arena = &p->arena};
    check(step_guarded(&s) == CRASH_GUARD_WHOLE, "%s: %s", SIGNALS[signal.kind].name, s.report.why);
    p->did = s.decision;
    p->answer_count = 0;
    if (p->did.verdict != VERDICT_CHANGE) {
        check(p->did.record_count == 0 && p->did.part_count == 0, "nothing is written");
        if (p->did.verdict == VERDICT_NOTHING && signal.kind == SIGNAL_GOAL_DUE)
            p->due = p->did.due_at;
        return p->did.verdict;
    }
    struct goal before = p->goal;
    change_is_whole(SIGNALS[signal.kind].name, p->exists ? &before : NULL, &signal, &p->policy,
                    &p->did);
    if (p->did.goal.kind.admission)
        answers_read(p);
    place_keep(p);
    rows_are_stored(p);
    return VERDICT_CHANGE;
}

static struct id goal_named(uint32_t n) {
    return (struct id){{(uint8_t)(n + 1), 9}};
}

struct permit_request {
    uint32_t goal, assignment, turn;
    enum permit_kind kind;
    const char *agent;
    uint64_t score, repository, goal_cost, goal_tokens, goal_starts;
    int64_t asked_at;
};

static struct str permit_body(struct place *p, struct permit_request wanted) {
    struct permit permit = {.goal = goal_named(wanted.goal),
                            .assignment = wanted.assignment,
                            .turn = wanted.turn,
                            .wants = wanted.kind,
                            .score = wanted.score,
                            .repository = wanted.repository,
                            .goal_cost = wanted.goal_cost,
                            .goal_tokens = wanted.goal_tokens,
                            .goal_starts = wanted.goal_starts,
                            .asked_at = wanted.asked_at ? wanted.asked_at : p->now};
    static struct arena arena;
    arena_reset(&arena);
    snprintf(permit.agent, sizeof permit.agent, "%s", wanted.agent);
    return shape_encode(&PERMIT, &permit, &arena);
}

static enum verdict ask(struct place *p, struct permit_request wanted) {
    return tell(p, (struct signal){.kind = SIGNAL_PERMIT_ASK,
                                   .about.assignment = wanted.assignment + 1,
                                   .body = permit_body(p, wanted)});
}

static enum verdict settle(struct place *p, struct permit_request wanted, uint64_t cost,
                           uint64_t tokens, bool over) {
    return tell(p, (struct signal){.kind = SIGNAL_PERMIT_SETTLE,
                                   .about.assignment = wanted.assignment + 1,
                                   .spent.cost = cost,
                                   .spent.tokens = tokens,
                                   .to = over,
                                   .body = permit_body(p, wanted)});
}

static enum verdict limited(struct place *p, const char *name, int64_t until) {
    static struct arena arena;
    struct account account = {.limited_until = until};
    arena_reset(&arena);
    snprintf(account.name, sizeof account.name, "%s", name);
    return tell(p, (struct signal){.kind = SIGNAL_ACCOUNT_LIMITED,
                                   .until = until,
                                   .body = shape_encode(&ACCOUNT, &account, &arena)});
}

static enum verdict due(struct place *p) {
    return tell(p, (struct signal){.kind = SIGNAL_GOAL_DUE});
}

/* Delivers all its messages. */
static void messages_end(struct place *p) {
    while (p->goal.effects.open_count > 0) {
        struct effect_slot slot = p->goal.effects.open[0];
        tell(p, (struct signal){.kind = SIGNAL_EFFECT_ENDED, .effect = slot.n});
    }
}

static int place_begin(void **state) {
    (void)state;
    admission = (struct place){
        .id = admission_id(HOST), .policy = policy_default(), .now = T0, .due = TIME_NEVER};
    admission.policy.pace.actions_per_minute = admission.policy.dispatch.most_at_once = 0;
    admission.policy.dispatch.agents = admission.agents;
    admission.policy.dispatch.agent_count = 2;
    admission.policy.spending.budgets = admission.budgets;
    admission.agents[0] =
        (struct policy_agent){.id = "ada", .account = "acme", .team = "web", .model = "m1"};
    admission.agents[1] =
        (struct policy_agent){.id = "bob", .account = "acme", .team = "ops", .model = "m2"};
    return 0;
}

static int place_end(void **state) {
    (void)state;
    arena_free(&admission.kept[0]);
    arena_free(&admission.kept[1]);
    arena_free(&admission.arena);
    return 0;
}

static const struct answer *answered(uint32_t goal, uint32_t assignment) {
    for (uint32_t i = 0; i < admission.answer_count; i++)
        if (id_equal(admission.answers[i].goal, goal_named(goal)) &&
            admission.answers[i].assignment == assignment)
            return &admission.answers[i];
    return NULL;
}

static void granted(uint32_t goal, uint32_t assignment) {
    const struct answer *answer = answered(goal, assignment);
    check(answer && answer->granted, "g%u A_%u is not granted", goal, assignment);
}

static void denied(uint32_t goal, uint32_t assignment, const char *reason, int64_t until) {
    const struct answer *answer = answered(goal, assignment);
    check(answer && !answer->granted, "g%u A_%u is not denied", goal, assignment);
    check(strcmp(answer->reason, reason) == 0, "%s", answer->reason);
    check(answer->until == until, "until %lld", (long long)answer->until);
}

static void waits(uint32_t goal, uint32_t assignment) {
    const struct permit *permit =
        permits_find(&admission.live.permits, goal_named(goal), assignment);
    check(!answered(goal, assignment), "g%u A_%u is answered", goal, assignment);
    check(permit && permit->wants != PERMIT_NONE, "g%u A_%u does not wait", goal, assignment);
}

static struct permit_request wanted(uint32_t goal, uint32_t assignment, const char *agent) {
    return (struct permit_request){.goal = goal,
                                   .assignment = assignment,
                                   .turn = (uint32_t)admission.sources + 1,
                                   .kind = PERMIT_BEGIN,
                                   .agent = agent};
}

static void budget(const char *scope, enum budget_unit unit, uint64_t most, int64_t window) {
    struct policy_budget *row = &admission.budgets[admission.policy.spending.budget_count++];
    *row = (struct policy_budget){.unit = unit, .most = most, .window = window};
    snprintf(row->scope, sizeof row->scope, "%s", scope);
}

/* ---- caps ---- */

static void test_the_first_who_asks_opens_it(void **state) {
    (void)state;
    assert_int_equal(ask(&admission, wanted(0, 0, "ada")), VERDICT_CHANGE);
    granted(0, 0);
    assert_int_equal(admission.goal.kind.admission, HOST);
    assert_int_equal(admission.goal.owner, HOST);
    assert_int_equal(admission.written[RECORD_ADMISSION_OPENED], 1);
    assert_int_equal(admission.written[RECORD_PERMIT_GRANTED], 1);
    assert_int_equal(admission.written[RECORD_PERMIT_WAITS], 0);
    assert_int_equal(due(&admission), VERDICT_NOTHING);
    assert_true(admission.due == TIME_NEVER);
}

/* Each cap alone: two requests are granted, the third waits until one of them is over. */
static void test_each_cap_holds(void **state) {
    (void)state;
    static const struct {
        size_t at;
        bool agent;
    } CAPS[] = {{offsetof(struct policy, dispatch.most_at_once), false},
                {offsetof(struct policy, dispatch.most_per_model), false},
                {offsetof(struct policy, dispatch.most_per_account), false},
                {offsetof(struct policy, dispatch.most_per_team), false},
                {offsetof(struct policy, dispatch.most_per_repository), false},
                {offsetof(struct policy_agent, most), true}};
    for (size_t i = 0; i < count_of(CAPS); i++) {
        place_begin(NULL);
        struct permit_request requests[3];
        char *base = CAPS[i].agent ? (char *)&admission.agents[0] : (char *)&admission.policy;
        *(uint32_t *)(void *)(base + CAPS[i].at) = 2;
        for (uint32_t k = 0; k < 3; k++) {
            requests[k] = wanted(k, 0, "ada");
            requests[k].repository = 77;
            ask(&admission, requests[k]);
            if (k < 2)
                granted(k, 0);
            else
                waits(k, 0);
        }
        struct permit_request other = wanted(4, 0, "bob");
        other.repository = 78;
        bool shared = CAPS[i].at == offsetof(struct policy, dispatch.most_at_once) ||
                      CAPS[i].at == offsetof(struct policy, dispatch.most_per_account);
        ask(&admission, other);
        if (!shared || CAPS[i].agent)
            granted(4, 0);
        settle(&admission, requests[0], 0, 0, true);
        granted(2, 0);
        place_end(NULL);
    }
    place_begin(NULL);
}

/* docs/decisions/0006: the order is by score plus one point per minute, then by goal id. */
static void test_the_best_is_next(void **state) {
    (void)state;
    admission.policy.dispatch.most_at_once = 1;
    struct permit_request first = wanted(0, 0, "ada"), low = wanted(1, 0, "ada"),
                          high = wanted(2, 0, "ada"), old = wanted(3, 0, "ada"),
                          equal = wanted(4, 0, "ada");
    high.turn = 11, old.turn = 12, equal.turn = 13, low.turn = 14;
    high.score = equal.score = 600;
    old.asked_at = T0 - MINUTES(601);
    ask(&admission, first);
    ask(&admission, equal);
    ask(&admission, low);
    ask(&admission, high);
    ask(&admission, old);
    settle(&admission, first, 0, 0, true);
    granted(3, 0);
    settle(&admission, old, 0, 0, true);
    granted(2, 0);
    settle(&admission, high, 0, 0, true);
    granted(4, 0);
    settle(&admission, equal, 0, 0, true);
    granted(1, 0);
}

static void test_an_ask_is_answered_once(void **state) {
    (void)state;
    struct permit_request one = wanted(0, 0, "ada");
    ask(&admission, one);
    granted(0, 0);
    ask(&admission, one); /* repeated: the same answer, and nothing is reserved twice */
    granted(0, 0);
    assert_int_equal(admission.live.permits.count, 1);
    admission.policy.dispatch.most_at_once = 1;
    struct permit_request two = wanted(1, 0, "ada");
    ask(&admission, two);
    waits(1, 0);
    assert_int_equal(ask(&admission, two), VERDICT_NOTHING);
    struct permit_request older = two;
    older.turn--;
    assert_int_equal(ask(&admission, older), VERDICT_NOTHING);
    settle(&admission, one, 0, 0, true);
    granted(1, 0);
}

/* ---- denials ---- */

static void test_what_can_never_be_is_denied(void **state) {
    (void)state;
    ask(&admission, wanted(0, 0, "eve"));
    denied(0, 0, "there is no such agent", 0);
    assert_int_equal(admission.live.permits.count, 0);
    admission.policy.dispatch.allow_agents = STR("bob");
    ask(&admission, wanted(0, 1, "ada"));
    denied(0, 1, "the policy does not allow this agent", 0);
    ask(&admission, wanted(0, 2, "bob"));
    granted(0, 2);
    admission.agents[1].reserve = 30;
    budget("team/ops", UNIT_MONEY, 20, 0);
    ask(&admission, wanted(0, 3, "bob"));
    denied(0, 3, "the budget team/ops has 0.00 in all", 0);
}

static void test_a_budget_is_a_hard_stop(void **state) {
    (void)state;
    admission.now = T0 - T0 % MINUTES(1440) + MINUTES(60);
    int64_t midnight = admission.now + MINUTES(1380);
    budget("day", UNIT_MONEY, 10000000, MINUTES(1440));
    admission.agents[0].reserve = 4000000;
    struct permit_request a = wanted(0, 0, "ada"), b = wanted(0, 1, "ada"), c = wanted(0, 2, "ada");
    a.turn = 1, b.turn = 2, c.turn = 3;
    ask(&admission, a);
    ask(&admission, b);
    granted(0, 1);
    ask(&admission, c); /* 8 of 10 are reserved: they may be released later */
    waits(0, 2);
    settle(&admission, a, 1000000, 0, true);
    granted(0, 2);
    settle(&admission, b, 7000000, 0, true); /* more than was reserved: charged nevertheless */
    assert_int_equal(admission.live.budgets.at[0].spent, 8000000);
    assert_int_equal(admission.live.budgets.at[0].reserved, 4000000);
    ask(&admission, wanted(1, 0, "ada"));
    denied(1, 0, "the budget day has 10.00 in 1d", midnight);
    assert_int_equal(admission.written[RECORD_BUDGET_USED_UP], 1);
    ask(&admission, wanted(1, 1, "ada"));
    denied(1, 1, "the budget day has 10.00 in 1d", midnight);
    assert_int_equal(admission.written[RECORD_BUDGET_USED_UP], 1); /* people are notified once */
    admission.now = midnight;
    ask(&admission, wanted(1, 2, "ada"));
    granted(1, 2);
    assert_int_equal(admission.live.budgets.at[0].spent, 0);
    assert_int_equal(admission.live.budgets.at[0].reserved, 8000000);
}

/* Amounts that others have reserved may not be released before midnight; then there is room nevertheless. */
static void test_a_new_window_lets_it_in(void **state) {
    (void)state;
    int64_t midnight = T0 - T0 % MINUTES(1440) + MINUTES(1440);
    budget("day", UNIT_MONEY, 10000000, MINUTES(1440));
    admission.agents[0].reserve = 4000000;
    struct permit_request a = wanted(0, 0, "ada"), b = wanted(0, 1, "ada");
    a.turn = 1, b.turn = 2;
    ask(&admission, a);
    settle(&admission, a, 5000000, 0, true);
    a.turn = 3;
    ask(&admission, a);
    ask(&admission, b);
    waits(0, 1);
    assert_true(admission.due == midnight);
    admission.now = midnight;
    due(&admission);
    granted(0, 1);
}

/* Messages may arrive out of order: a permit that is returned before it was requested is gone. */
static void test_what_comes_late_is_put_right(void **state) {
    (void)state;
    struct permit_request a = wanted(0, 0, "ada"), later = a;
    later.turn = a.turn + 1;
    later.kind = PERMIT_ACT;
    ask(&admission, a);
    settle(&admission, later, 0, 0, true);
    assert_int_equal(admission.live.permits.count, 0);
    ask(&admission, later); /* as far as is known, it runs */
    granted(0, 0);
    assert_int_equal(admission.live.permits.count, 1);
    settle(&admission, a, 3, 0,
           true); /* an older turn: its cost is charged, and nothing is released */
    assert_int_equal(admission.live.permits.count, 1);
    settle(&admission, later, 0, 0, true);
    assert_int_equal(admission.live.permits.count, 0);
}

/* A run that has used up its reservation is stopped when the budget has nothing left. */
static void test_a_run_that_burns_money_is_stopped(void **state) {
    (void)state;
    budget("fleet", UNIT_MONEY, 10000000, 0);
    admission.agents[0].reserve = 4000000;
    struct permit_request a = wanted(0, 0, "ada");
    ask(&admission, a);
    settle(&admission, a, 4000000, 0, false);
    assert_null(answered(0, 0));
    settle(&admission, a, 5000000, 0, false);
    assert_null(answered(0, 0));
    settle(&admission, a, 2000000, 0, false);
    denied(0, 0, "the budget fleet has 10.00 in all", 0);
    settle(&admission, a, 2000000, 0, false);
    assert_null(answered(0, 0)); /* denied only once */
    assert_int_equal(admission.live.budgets.at[0].spent, 13000000);
}

static void test_starts_and_tokens_and_goals_have_budgets(void **state) {
    (void)state;
    budget("agent", UNIT_STARTS, 2, 0);
    budget("goal", UNIT_TOKENS, 1000, 0);
    admission.agents[0].reserve_tokens = 100;
    struct permit_request a = wanted(0, 0, "ada"), b = wanted(0, 1, "bob");
    a.turn = 1, b.turn = 2;
    a.goal_tokens = 800;
    ask(&admission, a);
    granted(0, 0);
    b.goal_tokens = 950;
    admission.agents[1].reserve_tokens = 60;
    ask(&admission, b);
    denied(0, 1, "the budget goal has 1000 tokens in all", 0);
    ask(&admission, wanted(1, 0, "ada"));
    granted(1, 0);
    ask(&admission, wanted(1, 1, "ada"));
    denied(1, 1, "the budget agent has 2 starts in all", 0);
    ask(&admission, wanted(1, 2, "bob"));
    granted(1, 2);
}

/* ---- accounts ---- */

static void test_an_account_waits_until_its_reset(void **state) {
    (void)state;
    struct permit_request a = wanted(0, 0, "ada");
    ask(&admission, a);
    limited(&admission, "acme", T0 + MINUTES(90));
    a.turn += 10;
    ask(&admission, a); /* granted when the account is open again */
    ask(&admission, wanted(1, 0, "bob"));
    waits(1, 0);
    assert_true(admission.due == T0 + MINUTES(90));
    admission.now = T0 + MINUTES(5);
    assert_int_equal(limited(&admission, "acme", 0),
                     VERDICT_NOTHING); /* a repeated report changes nothing */
    assert_int_equal(limited(&admission, "nobody's", 0), VERDICT_REFUSE);
    admission.now = T0 + MINUTES(90);
    due(&admission);
    granted(0, 0);
    granted(1, 0);
    assert_int_equal(admission.live.accounts.count, 0);
    assert_int_equal(admission.written[RECORD_ACCOUNT_OPEN], 1);
}

/* A reset time is not invented: one agent tries, then the others follow. */
static void test_a_guess_is_tried_by_one(void **state) {
    (void)state;
    admission.policy.spending.quota_guess = MINUTES(10);
    struct permit_request a = wanted(0, 0, "ada");
    ask(&admission, a);
    limited(&admission, "acme", 0);
    a.turn += 10;
    ask(&admission, a);
    ask(&admission, wanted(1, 0, "bob"));
    admission.now = admission.due;
    assert_true(admission.now == T0 + MINUTES(10));
    due(&admission);
    granted(0, 0);
    waits(1, 0);
    limited(&admission, "acme", 0); /* the try was too early */
    a.turn += 10;
    ask(&admission, a);
    assert_true(admission.due == admission.now + MINUTES(20));
    admission.now = admission.due;
    due(&admission);
    granted(0, 0);
    waits(1, 0);
    settle(&admission, a, 0, 5, false);
    granted(1, 0);
    assert_int_equal(admission.live.accounts.count, 0);
}

static void test_one_who_only_seems_to_try_is_followed(void **state) {
    (void)state;
    struct permit_request a = wanted(0, 0, "ada");
    limited(&admission, "acme", 0);
    ask(&admission, a);
    ask(&admission, wanted(1, 0, "bob"));
    ask(&admission, wanted(2, 0, "bob"));
    admission.now = admission.due;
    due(&admission);
    granted(0, 0);
    settle(&admission, a, 0, 0, true); /* it ended without any information about the account */
    granted(1, 0);
    waits(2, 0);
    admission.now = admission.due; /* no limit was reported for a while */
    due(&admission);
    granted(2, 0);
}

/* ---- limits on the supervisor itself ---- */

static void test_the_pace_holds_in_any_minute(void **state) {
    (void)state;
    static int64_t times[200];
    uint32_t count = 0;
    admission.policy.pace.actions_per_minute = 20;
    for (uint32_t i = 0; i < 100; i++) {
        ask(&admission, wanted(i / 50, i, i % 2 ? "ada" : "bob"));
        for (uint32_t k = 0; k < admission.answer_count; k++)
            times[count++] = admission.now;
        messages_end(&admission);
    }
    while (count < 100) {
        check(admission.due > admission.now && admission.due < TIME_NEVER, "%u were granted",
              count);
        admission.now = admission.due;
        due(&admission);
        for (uint32_t k = 0; k < admission.answer_count; k++)
            times[count++] = admission.now;
        messages_end(&admission);
    }
    for (uint32_t i = 20; i < count; i++)
        check(times[i] - times[i - 20] >= MINUTES(1), "%u and %u", i - 20, i);
    check(times[99] - T0 <= MINUTES(8), "it took %lld s", (long long)(times[99] - T0) / 1000000);
    assert_int_equal(due(&admission), VERDICT_NOTHING);
}

static void disruptive_ask(uint32_t count) {
    for (uint32_t i = 0; i < 20; i++)
        ask(&admission, wanted(0, i, "ada"));
    messages_end(&admission);
    for (uint32_t i = 0; i < count; i++) {
        struct permit_request disruptive = wanted(0, i, "ada");
        disruptive.kind = PERMIT_DISRUPTIVE;
        ask(&admission, disruptive);
        if (i < 6)
            granted(0, i);
        else
            waits(0, i);
    }
}

/* Twenty runs are active and thirty percent may be disrupted in a minute: the seventh request makes the admission ask a
 * person. */
static void test_a_blast_suspends_it(void **state) {
    (void)state;
    disruptive_ask(9);
    assert_true(admission.goal.pace.suspended);
    assert_int_equal(admission.written[RECORD_ADMISSION_SUSPENDED], 1);
    assert_int_equal(admission.goal.people.questions, 1);
    admission.now += MINUTES(30);
    messages_end(&admission);
    due(&admission);
    ask(&admission, wanted(3, 0, "bob"));
    waits(3, 0);
    assert_int_equal(admission.written[RECORD_PERMIT_DENIED], 0);
    tell(&admission, (struct signal){.kind = SIGNAL_ADMISSION_RELEASE, .sender.by = WHO_HUMAN});
    for (uint32_t i = 6; i < 9; i++)
        granted(0, i);
    granted(3, 0);
    assert_int_equal(admission.goal.people.questions, 0);
    assert_false(admission.goal.pace.suspended);
}

static void test_a_person_may_want_them_left_alone(void **state) {
    (void)state;
    disruptive_ask(8);
    tell(&admission,
         (struct signal){.kind = SIGNAL_ADMISSION_RELEASE, .sender.by = WHO_HUMAN, .to = 1});
    denied(0, 6, "a person wants this agent left alone", 0);
    denied(0, 7, "a person wants this agent left alone", 0);
    assert_int_equal(admission.live.permits.count, 20); /* they keep running */
    admission.now += MINUTES(2);
    struct permit_request later = wanted(0, 6, "ada");
    later.kind = PERMIT_DISRUPTIVE;
    ask(&admission, later);
    granted(0, 6);
}

static void test_only_a_person_releases_it(void **state) {
    (void)state;
    disruptive_ask(7);
    assert_int_equal(
        tell(&admission, (struct signal){.kind = SIGNAL_ADMISSION_RELEASE, .sender.by = WHO_AGENT}),
        VERDICT_REFUSE);
    assert_true(admission.goal.pace.suspended);
}

/* Five disruptive actions in a minute are always allowed, however few runs there are. */
static void test_a_few_are_always_allowed(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 6; i++)
        ask(&admission, wanted(0, i, "ada"));
    for (uint32_t i = 0; i < 6; i++) {
        struct permit_request disruptive = wanted(0, i, "ada");
        disruptive.kind = PERMIT_DISRUPTIVE;
        ask(&admission, disruptive);
        if (i < 5)
            granted(0, i);
        else
            waits(0, i);
        messages_end(&admission);
    }
    assert_true(admission.goal.pace.suspended);
}

/* ---- a goal and its admission ---- */

static struct place *place_of(struct id id) {
    return id_equal(id, admission.id) ? &admission : &other;
}

/* Delivers messages between the two until neither sends another one. Returns the number of messages. */
static uint32_t messages_pass(struct place *from) {
    uint32_t passed = 0;
    for (uint32_t i = 0; i < from->did.effect_count; i++) {
        struct effect_change change = from->did.effects[i];
        struct effect effect = {0};
        struct signal signal;
        if (change.op != EFFECT_OP_MAKE || change.slot.kind != EFFECT_TELL)
            continue;
        check(effect_decode(EFFECT_TELL, change.body, &effect), "a message");
        check(signal_decode(effect.body, &signal) && signal.once.keyed, "a signal");
        struct decision did = from->did; /* `from` takes further steps below */
        struct arena arena = from->arena;
        from->arena = (struct arena){0};
        struct place *to = place_of(effect.to);
        tell(to, signal);
        passed += 1 + messages_pass(to);
        tell(from, (struct signal){.kind = SIGNAL_EFFECT_ENDED, .effect = change.slot.n});
        passed += messages_pass(from);
        arena_free(&from->arena);
        from->arena = arena;
        from->did = did;
    }
    return passed;
}

static void plan_is_made(const char *line) {
    struct arena arena = {0};
    struct plan_text text = plan_read_line(line, &arena);
    struct signal apply = {.kind = SIGNAL_PLAN_APPLY,
                           .sender.by = WHO_HUMAN,
                           .reason = STR("so that it gets done"),
                           .body = shape_encode(&PLAN_TEXT, &text, &arena)};
    assert_int_equal(tell(&other, apply), VERDICT_CHANGE);
    arena_free(&arena);
}

static uint32_t effects_of(const struct place *p, enum effect_kind kind) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->goal.effects.open_count; i++)
        count += p->goal.effects.open[i].kind == kind;
    return count;
}

/* The goal reserves before a dispatch, and settles after it. */
static void test_a_goal_asks_and_pays(void **state) {
    (void)state;
    admission.agents[0].most = 1;
    admission.policy.dispatch.agent_count = 1;
    admission.agents[0].reserve = 1000000;
    budget("team/web", UNIT_MONEY, 9000000, 0);
    other = (struct place){.id = {{8}}, .policy = admission.policy, .now = T0};
    tell(&other, (struct signal){.kind = SIGNAL_GOAL_CREATE,
                                 .sender.by = WHO_HUMAN,
                                 .describe.title = STR("t"),
                                 .host = HOST});
    plan_is_made("P1 T1/P1 T2/P1");
    assert_int_equal(effects_of(&other, EFFECT_SPAWN), 0); /* not before it has a permit */
    messages_pass(&other);
    assert_int_equal(effects_of(&other, EFFECT_SPAWN), 1);
    assert_int_equal(other.live.assignments.count, 2);
    assert_int_equal(admission.live.permits.count, 2);
    assert_int_equal(admission.live.budgets.at[0].reserved, 1000000);
    assert_int_equal(other.goal.spent.starts, 1);
    other.live.assignments.at[0].usage.cost = 700000; /* as measured */
    other.live.assignments.at[1].usage.cost = 0;
    tell(&other, (struct signal){.kind = SIGNAL_GOAL_MOVE,
                                 .sender.by = WHO_HUMAN,
                                 .to = GOAL_CANCELLED,
                                 .reason = STR("no more")});
    messages_pass(&other);
    assert_int_equal(admission.live.permits.count, 0);
    assert_int_equal(admission.live.budgets.at[0].spent, 700000);
    assert_int_equal(admission.live.budgets.at[0].reserved, 0);
    assert_int_equal(other.goal.spent.cost, 700000);
    arena_free(&other.kept[0]);
    arena_free(&other.kept[1]);
    arena_free(&other.arena);
}

/* Applies a sample of a run. Returns whether the admission was notified. */
static bool measured(struct assignment *assignment, uint64_t cost, uint64_t tokens) {
    static struct arena arena;
    struct live live = {.assignments = {assignment, 1}};
    struct goal goal = {.id = {{8}}, .owner = HOST, .status = GOAL_ACTIVE, .fence = 1};
    struct signal signal = {.kind = SIGNAL_GOAL_DUE, .goal = goal.id, .at = T0};
    struct decision decision = {.goal = goal, .live = live};
    struct world world = {.goal = &goal, .live = &live};
    struct deciding d = {.world = &world,
                         .signal = &signal,
                         .policy = &admission.policy,
                         .out = &arena,
                         .decision = &decision};
    arena_reset(&arena);
    live_edit(&d, PART_ASSIGNMENT, 0);
    struct observation seen = {.cost = cost, .tokens = tokens};
    permit_measure(&d, &decision.live.assignments.at[0], &seen);
    *assignment = decision.live.assignments.at[0];
    check(decision.effect_count <= 1, "told once");
    return decision.effect_count == 1;
}

/* A run starts at zero, and an assignment has several runs; small amounts are reported only when the run is over. */
static void test_every_run_counts(void **state) {
    (void)state;
    struct assignment assignment = {.agent = "ada", .permit.host = HOST, .permit.turn = 1};
    budget("fleet", UNIT_MONEY, 1000, 0);
    assert_false(measured(&assignment, 9, 0)); /* less than one percent */
    assert_int_equal(assignment.usage.cost, 0);
    assert_true(measured(&assignment, 25, 0));
    assert_int_equal(assignment.usage.settled_cost, 25);
    assignment.usage.run_cost = assignment.usage.run_tokens = 0; /* a new run */
    assert_true(measured(&assignment, 20, 0));
    assert_int_equal(assignment.usage.cost, 45);
    assert_int_equal(assignment.usage.settled_cost, 45);
    assert_false(measured(&assignment, 20, 0)); /* nothing new */
    admission.agents[0].price = 2000000;        /* 2 per token: the cost of a run is not reported */
    struct assignment priced = {.agent = "ada", .permit.host = HOST, .permit.turn = 1};
    assert_true(measured(&priced, 0, 30));
    assert_int_equal(priced.usage.settled_cost, 60);
}

/* ---- random operations, checked by independent accounting ---- */

struct work {
    bool asked, runs;
    struct permit_request wanted;
    uint32_t answers; /* to the newest request */
    uint64_t reserved, tokens, settled, settled_tokens;
};

struct counted { /* one budget for one of its keys */
    uint32_t budget;
    char key[LIMIT_SCOPE + 1];
    int64_t since;
    uint64_t spent;
};

static struct world_of_works {
    struct work works[WORKS];
    struct counted uses[USES];
    uint32_t use_count, turns;
    int64_t grants[GRANTS]; /* times of the newest grants */
    uint32_t grant_count;
    uint64_t goal_cost[GOALS], goal_tokens[GOALS], goal_starts[GOALS];
    struct chance chance;
    uint32_t asks, denials, steps, limits;
    int64_t limited_until;
} all;

static const struct policy_agent *agent_of(const struct work *work) {
    return policy_agent(&admission.policy, str_of(work->wanted.agent));
}

/* The key under which this budget counts the agent; false: it does not count it. */
static bool key_of(const struct policy_budget *of, const struct work *work,
                   char key[LIMIT_SCOPE + 1]) {
    const struct policy_agent *agent = agent_of(work);
    const char *kinds[] = {"agent", "team", "account", "model"};
    const char *names[] = {agent->id, agent->team, agent->account, agent->model};
    if (strcmp(of->scope, "goal") == 0)
        return snprintf(key, LIMIT_SCOPE, "goal/%u", work->wanted.goal) > 0;
    for (size_t i = 0; i < count_of(kinds); i++)
        if (strncmp(of->scope, kinds[i], strlen(kinds[i])) == 0) {
            snprintf(key, LIMIT_SCOPE, "%s/%s", kinds[i], names[i]);
            return strcmp(of->scope, kinds[i]) == 0 || strcmp(of->scope, key) == 0;
        }
    return snprintf(key, LIMIT_SCOPE, "%s", of->scope) > 0;
}

static struct counted *use_of(uint32_t budget, const char *key) {
    int64_t window = admission.budgets[budget].window;
    int64_t since = window ? admission.now - admission.now % window : 0;
    struct counted *use = all.uses;
    while (use < all.uses + all.use_count && (use->budget != budget || strcmp(use->key, key) != 0))
        use++;
    if (use == all.uses + all.use_count) {
        check(all.use_count < USES, "too many");
        all.use_count++;
        *use = (struct counted){.budget = budget, .since = since};
        snprintf(use->key, sizeof use->key, "%s", key);
    }
    if (use->since != since) {
        use->since = since;
        use->spent = 0;
    }
    return use;
}

static uint64_t left(uint64_t reserved, uint64_t settled) {
    return reserved > settled ? reserved - settled : 0;
}

static uint64_t reserved_in(uint32_t budget, const char *key) {
    uint64_t sum = 0;
    char its[LIMIT_SCOPE + 1];
    enum budget_unit unit = admission.budgets[budget].unit;
    for (uint32_t i = 0; i < WORKS; i++) {
        const struct work *work = &all.works[i];
        if (work->runs && key_of(&admission.budgets[budget], work, its) && strcmp(its, key) == 0)
            sum += unit == UNIT_MONEY    ? left(work->reserved, work->settled)
                   : unit == UNIT_TOKENS ? left(work->tokens, work->settled_tokens)
                                         : 0;
    }
    return sum;
}

static uint64_t need_of(uint32_t budget, const struct work *work) {
    enum budget_unit unit = admission.budgets[budget].unit;
    uint64_t need = unit == UNIT_MONEY    ? agent_of(work)->reserve
                    : unit == UNIT_TOKENS ? agent_of(work)->reserve_tokens
                                          : 1;
    return need ? need : 1;
}

static void spend(const struct work *work, uint64_t cost, uint64_t tokens, uint64_t starts) {
    char key[LIMIT_SCOPE + 1];
    const uint64_t amounts[BUDGET_UNITS] = {cost, tokens, starts};
    for (uint32_t b = 0; b < admission.policy.spending.budget_count; b++)
        if (key_of(&admission.budgets[b], work, key))
            use_of(b, key)->spent += amounts[admission.budgets[b].unit];
    all.goal_cost[work->wanted.goal] += cost;
    all.goal_tokens[work->wanted.goal] += tokens;
    all.goal_starts[work->wanted.goal] += starts;
}

enum room { ROOM, NOT_NOW, NEVER };

/* Is there room for it, by the independent accounting? */
static enum room budget_room(const struct work *work) {
    enum room room = ROOM;
    char key[LIMIT_SCOPE + 1];
    for (uint32_t b = 0; b < admission.policy.spending.budget_count; b++) {
        if (!key_of(&admission.budgets[b], work, key))
            continue;
        uint64_t spent = use_of(b, key)->spent, need = need_of(b, work);
        if (spent + need > admission.budgets[b].most)
            return NEVER;
        if (spent + reserved_in(b, key) + need > admission.budgets[b].most)
            room = NOT_NOW;
    }
    return room;
}

static uint32_t running_with(const struct work *work, size_t member) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < WORKS; i++)
        if (all.works[i].runs &&
            (member == SIZE_MAX || strcmp((const char *)agent_of(work) + member,
                                          (const char *)agent_of(&all.works[i]) + member) == 0))
            count++;
    return count;
}

static uint32_t running_in(uint64_t repository) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < WORKS; i++)
        count += all.works[i].runs && all.works[i].wanted.repository == repository;
    return count;
}

/* Do all caps hold, with `more` additional runs? */
static bool caps_hold(const struct work *work, uint32_t more) {
    const struct policy *policy = &admission.policy;
    const struct {
        uint32_t most, count;
    } caps[] = {
        {policy->dispatch.most_at_once, running_with(work, SIZE_MAX)},
        {policy->dispatch.most_per_account,
         running_with(work, offsetof(struct policy_agent, account))},
        {policy->dispatch.most_per_model, running_with(work, offsetof(struct policy_agent, model))},
        {policy->dispatch.most_per_team, running_with(work, offsetof(struct policy_agent, team))},
        {agent_of(work)->most, running_with(work, offsetof(struct policy_agent, id))},
        {work->wanted.repository ? policy->dispatch.most_per_repository : 0,
         running_in(work->wanted.repository)},
    };
    for (size_t i = 0; i < count_of(caps); i++)
        if (caps[i].most > 0 && caps[i].count + more > caps[i].most)
            return false;
    return true;
}

static uint64_t rank_of(const struct work *work) {
    return work->wanted.score + (uint64_t)((admission.now - work->wanted.asked_at) / MINUTES(1));
}

/* 0006: no waiting request with the same agent and no repository was passed over. */
static void nobody_was_passed_over(const struct work *chosen) {
    for (uint32_t i = 0; i < WORKS; i++) {
        const struct work *other = &all.works[i];
        if (!other->asked || other == chosen || other->wanted.kind != PERMIT_BEGIN ||
            chosen->wanted.kind != PERMIT_BEGIN || other->wanted.repository ||
            strcmp(other->wanted.agent, chosen->wanted.agent) != 0 || budget_room(other) != ROOM)
            continue;
        check(rank_of(other) <= rank_of(chosen), "A_%u waits with %llu, %llu was granted", i,
              (unsigned long long)rank_of(other), (unsigned long long)rank_of(chosen));
        check(chosen->wanted.asked_at - other->wanted.asked_at < MINUTES(SCORE_MOST),
              "the bound on starving");
    }
}

static void pace_holds(void) {
    uint32_t most = admission.policy.pace.actions_per_minute;
    all.grants[all.grant_count++ % GRANTS] = admission.now;
    if (most > 0 && all.grant_count > most)
        check(admission.now - all.grants[(all.grant_count - 1 - most) % GRANTS] >= MINUTES(1),
              "more than %u in a minute", most);
}

static void begin_counts(struct work *work) {
    char key[LIMIT_SCOPE + 1];
    check(admission.now >= all.limited_until, "its account is at its limit");
    check(caps_hold(work, 1), "a cap");
    check(budget_room(work) == ROOM, "a budget");
    work->runs = true;
    work->reserved = agent_of(work)->reserve;
    work->tokens = agent_of(work)->reserve_tokens;
    work->settled = work->settled_tokens = 0;
    spend(work, 0, 0, 1);
    for (uint32_t b = 0; b < admission.policy.spending.budget_count; b++)
        if (key_of(&admission.budgets[b], work, key))
            check(use_of(b, key)->spent + reserved_in(b, key) <= admission.budgets[b].most,
                  "the budget %s", key);
}

static void answer_count(const struct answer *answer) {
    uint32_t goal = answer->goal.bytes[0] - 1u;
    struct work *work = &all.works[goal * ASSIGNMENTS + answer->assignment];
    if (!answer->granted && work->runs && answer->kind == PERMIT_BEGIN)
        return; /* its budget is used up: it is stopped later, or continues */
    check(answer->turn == work->wanted.turn && answer->kind == work->wanted.kind,
          "to what was asked");
    check(work->asked && work->answers == 0, "answered twice");
    if (answer->granted) {
        pace_holds();
        nobody_was_passed_over(work);
        if (work->wanted.kind == PERMIT_BEGIN)
            begin_counts(work);
    } else {
        check(work->wanted.kind != PERMIT_BEGIN || budget_room(work) == NEVER, "denied: %s",
              answer->reason);
        check(work->wanted.kind != PERMIT_DISRUPTIVE, "nobody wanted them left alone");
        all.denials++;
    }
    work->answers++;
    work->asked = false;
}

static void row_is_right(const struct budget *row) {
    for (uint32_t b = 0; b < admission.policy.spending.budget_count; b++) {
        if (admission.budgets[b].unit != row->unit || admission.budgets[b].window != row->window)
            continue;
        for (uint32_t i = 0; i < all.use_count; i++)
            if (all.uses[i].budget == b && strcmp(all.uses[i].key, row->scope) == 0 &&
                row->since == use_of(b, row->scope)->since) {
                check(row->spent == all.uses[i].spent, "%s: spent", row->scope);
                check(row->reserved == reserved_in(b, row->scope), "%s: reserved", row->scope);
            }
    }
}

/* The rows of the admission match what happened. */
static void sums_are_right(void) {
    uint32_t runs = 0, asks = 0, rows_run = 0, rows_ask = 0;
    for (uint32_t i = 0; i < WORKS; i++) {
        runs += all.works[i].runs;
        asks += all.works[i].asked;
    }
    for (uint32_t i = 0; i < admission.live.permits.count; i++) {
        rows_run += admission.live.permits.at[i].state == PERMIT_GRANTED;
        rows_ask += admission.live.permits.at[i].wants != PERMIT_NONE;
    }
    check(runs == rows_run && asks == rows_ask, "%u run, %u ask; %u and %u in the rows", runs, asks,
          rows_run, rows_ask);
    for (uint32_t i = 0; i < admission.live.budgets.count; i++)
        row_is_right(&admission.live.budgets.at[i]);
}

/* A request that can be granted is granted at once; one that never can be is denied. */
static void nobody_waits_in_vain(void) {
    bool free_pace = admission.policy.pace.actions_per_minute == 0;
    if (admission.goal.pace.suspended ||
        admission.goal.effects.open_count >= LIMIT_OPEN_EFFECTS - LIMIT_CHANNELS)
        return;
    for (uint32_t i = 0; i < WORKS; i++) {
        const struct work *work = &all.works[i];
        if (!work->asked || work->wanted.kind != PERMIT_BEGIN)
            continue;
        check(budget_room(work) != NEVER, "A_%u can never begin, and waits", i);
        if (free_pace && admission.live.accounts.count == 0 && admission.now >= all.limited_until)
            check(budget_room(work) != ROOM || !caps_hold(work, 1), "A_%u could begin", i);
    }
}

/* Called after each step, whichever signal caused it. */
static void step_is_right(enum verdict verdict) {
    if (verdict != VERDICT_CHANGE)
        return;
    all.steps++;
    for (uint32_t i = 0; i < admission.answer_count; i++)
        answer_count(&admission.answers[i]);
    sums_are_right();
    if (admission.did.goal.pace.suspended == 0)
        nobody_waits_in_vain();
}

/* ---- events ---- */

static void work_asks(struct work *work, enum permit_kind kind) {
    static const char *const AGENTS[] = {"ada", "bob", "cid"};
    struct permit_request *its = &work->wanted;
    if (kind == PERMIT_BEGIN && !work->runs) {
        its->agent = AGENTS[chance_below(&all.chance, 3)];
        its->score = chance_below(&all.chance, SCORE_MOST + 1);
        its->repository = chance_in(&all.chance, 3) ? 1 + chance_below(&all.chance, 2) : 0;
        its->asked_at = admission.now - MINUTES(chance_below(&all.chance, 2000));
    }
    its->turn = ++all.turns;
    its->kind = kind;
    its->goal_cost = all.goal_cost[its->goal];
    its->goal_tokens = all.goal_tokens[its->goal];
    its->goal_starts = all.goal_starts[its->goal];
    work->asked = true;
    work->answers = 0;
    if (kind == PERMIT_BEGIN)
        work->runs = false;
    else if (!work->runs) { /* it started by itself: it counts, and has nothing reserved */
        work->runs = true;
        work->reserved = work->tokens = work->settled = work->settled_tokens = 0;
    }
    all.asks++;
    step_is_right(ask(&admission, *its));
}

static void work_settles(struct work *work, bool over) {
    uint64_t cost = chance_below(&all.chance, 4) * 700000u, tokens = chance_below(&all.chance, 300);
    spend(work, cost, tokens, 0);
    work->settled += cost;
    work->settled_tokens += tokens;
    struct permit_request answered = work->wanted;
    answered.goal_cost = all.goal_cost[answered.goal];
    answered.goal_tokens = all.goal_tokens[answered.goal];
    answered.goal_starts = all.goal_starts[answered.goal];
    if (over)
        work->runs = work->asked = false;
    step_is_right(settle(&admission, answered, cost, tokens, over));
}

static void time_goes_on(int64_t span) {
    int64_t until = admission.now + span;
    for (uint32_t i = 0; admission.due <= until; i++) {
        check(i < 100000, "it wants to be asked for ever");
        admission.now = admission.due > admission.now ? admission.due : admission.now;
        step_is_right(due(&admission));
        check(admission.due > admission.now, "and at once again");
    }
    admission.now = until;
}

static void account_is_limited(void) {
    int64_t until =
        chance_in(&all.chance, 3) ? 0 : admission.now + MINUTES(1 + chance_below(&all.chance, 300));
    bool was = admission.now < all.limited_until;
    if (limited(&admission, "acme", until) != VERDICT_CHANGE)
        return;
    all.limits++;
    const struct account *account = accounts_find(&admission.live.accounts, STR("acme"));
    check(account && (!was || until > 0), "a limit is not lost");
    all.limited_until = account->limited_until;
    for (uint32_t i = 0; i < admission.answer_count; i++)
        check(!admission.answers[i].granted || admission.answers[i].kind == PERMIT_DISRUPTIVE,
              "let in");
}

static void messages_arrive(void) {
    for (uint32_t i = admission.goal.effects.open_count; i-- > 0;)
        if (i < admission.goal.effects.open_count && !chance_in(&all.chance, 3))
            step_is_right(
                tell(&admission, (struct signal){.kind = SIGNAL_EFFECT_ENDED,
                                                 .effect = admission.goal.effects.open[i].n}));
}

static void anything_happens(void) {
    struct work *work = &all.works[chance_below(&all.chance, WORKS)];
    switch (chance_below(&all.chance, 12)) {
    case 0: time_goes_on(MINUTES(chance_below(&all.chance, 90))); break;
    case 1: time_goes_on(SECONDS(chance_below(&all.chance, 40))); break;
    case 2:
    case 3: messages_arrive(); break;
    case 4:
        if (chance_in(&all.chance, 12))
            account_is_limited();
        break;
    case 5:
        if (work->runs ? !work->asked : work->asked && chance_in(&all.chance, 6))
            work_asks(work, chance_in(&all.chance, 3) ? PERMIT_DISRUPTIVE : PERMIT_ACT);
        break;
    case 6:
        if (work->runs && chance_in(&all.chance, 4))
            work_asks(work, PERMIT_BEGIN);
        break;
    case 7:
    case 8:
        if (work->runs || (work->asked && chance_in(&all.chance, 8)))
            work_settles(work, true);
        break;
    case 9:
        if (work->runs)
            work_settles(work, false);
        break;
    default:
        if (!work->runs && !work->asked)
            work_asks(work, PERMIT_BEGIN);
    }
    if (admission.goal.pace.suspended && chance_in(&all.chance, 4))
        step_is_right(tell(
            &admission, (struct signal){.kind = SIGNAL_ADMISSION_RELEASE, .sender.by = WHO_HUMAN}));
}

/* Without new requests, every request is answered in the end. */
static void everybody_is_answered(void) {
    for (uint32_t round = 0; round < 400; round++) {
        bool asked = false;
        for (uint32_t i = 0; i < WORKS; i++) {
            if (all.works[i].runs && !all.works[i].asked)
                work_settles(&all.works[i], true);
            asked = asked || all.works[i].asked;
        }
        if (!asked)
            return;
        if (admission.goal.pace.suspended)
            step_is_right(tell(&admission, (struct signal){.kind = SIGNAL_ADMISSION_RELEASE,
                                                           .sender.by = WHO_HUMAN}));
        while (admission.goal.effects.open_count > 0)
            step_is_right(
                tell(&admission, (struct signal){.kind = SIGNAL_EFFECT_ENDED,
                                                 .effect = admission.goal.effects.open[0].n}));
        time_goes_on(MINUTES(30));
    }
    check(false, "an ask has no answer");
}

static void any_policy(uint64_t seed) {
    static const char *const SCOPES[] = {"fleet",    "day",     "agent", "agent/bob", "team",
                                         "team/web", "account", "model", "goal"};
    static const int64_t WINDOWS[] = {0, MINUTES(60), MINUTES(1440)};
    struct policy *policy = &admission.policy;
    all = (struct world_of_works){.chance = {seed * 2654435761u + 1}};
    uint32_t *caps[] = {&policy->dispatch.most_at_once, &policy->dispatch.most_per_account,
                        &policy->dispatch.most_per_model, &policy->dispatch.most_per_team,
                        &policy->dispatch.most_per_repository};
    for (size_t i = 0; i < count_of(caps); i++)
        *caps[i] = chance_in(&all.chance, 2) ? 1 + chance_below(&all.chance, 12) : 0;
    policy->pace.actions_per_minute =
        chance_in(&all.chance, 2) ? 1 + chance_below(&all.chance, 30) : 0;
    policy->dispatch.agent_count = 3;
    admission.agents[2] =
        (struct policy_agent){.id = "cid", .account = "acme", .team = "web", .model = "m1"};
    for (uint32_t i = 0; i < 3; i++) {
        admission.agents[i].most = chance_in(&all.chance, 3) ? 1 + chance_below(&all.chance, 4) : 0;
        admission.agents[i].reserve = chance_below(&all.chance, 3) * 1000000u;
        admission.agents[i].reserve_tokens = chance_below(&all.chance, 3) * 100u;
    }
    for (uint32_t i = chance_below(&all.chance, 5); i > 0; i--) {
        enum budget_unit unit = (enum budget_unit)chance_below(&all.chance, BUDGET_UNITS);
        uint64_t most = 1 + chance_below(&all.chance, 40);
        const char *scope = SCOPES[chance_below(&all.chance, count_of(SCOPES))];
        budget(scope, unit,
               most * (unit == UNIT_MONEY    ? 1000000
                       : unit == UNIT_TOKENS ? 100
                                             : 1),
               strcmp(scope, "goal") == 0 ? 0 : WINDOWS[chance_below(&all.chance, 3)]);
    }
    for (uint32_t i = 0; i < WORKS; i++)
        all.works[i].wanted =
            (struct permit_request){.goal = i / ASSIGNMENTS, .assignment = i % ASSIGNMENTS};
}

static void test_every_bound_holds(void **state) {
    (void)state;
    uint32_t asks = 0, denials = 0, limits = 0, steps = 0;
    const char *wanted = getenv("SEEDS");
    uint32_t seeds = wanted ? (uint32_t)atoi(wanted) : 150;
    for (uint32_t seed = 1; seed <= seeds; seed++) {
        place_begin(NULL);
        any_policy(seed);
        for (uint32_t i = 0; i < 1500; i++)
            anything_happens();
        everybody_is_answered();
        asks += all.asks;
        denials += all.denials;
        limits += all.limits;
        steps += all.steps;
        place_end(NULL);
    }
    place_begin(NULL);
    print_message("%u seeds: %u asks, %u denied, %u limits, %u steps\n", seeds, asks, denials,
                  limits, steps);
    check(asks > 100 * seeds && denials > 0 && limits > 0, "it was no test");
}

#define PLACE(test) cmocka_unit_test_setup_teardown(test, place_begin, place_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        PLACE(test_the_first_who_asks_opens_it),
        PLACE(test_each_cap_holds),
        PLACE(test_the_best_is_next),
        PLACE(test_an_ask_is_answered_once),
        PLACE(test_what_can_never_be_is_denied),
        PLACE(test_a_budget_is_a_hard_stop),
        PLACE(test_a_new_window_lets_it_in),
        PLACE(test_what_comes_late_is_put_right),
        PLACE(test_a_run_that_burns_money_is_stopped),
        PLACE(test_a_goal_asks_and_pays),
        PLACE(test_every_run_counts),
        PLACE(test_starts_and_tokens_and_goals_have_budgets),
        PLACE(test_an_account_waits_until_its_reset),
        PLACE(test_a_guess_is_tried_by_one),
        PLACE(test_one_who_only_seems_to_try_is_followed),
        PLACE(test_the_pace_holds_in_any_minute),
        PLACE(test_a_blast_suspends_it),
        PLACE(test_a_person_may_want_them_left_alone),
        PLACE(test_only_a_person_releases_it),
        PLACE(test_a_few_are_always_allowed),
        PLACE(test_every_bound_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
