/* SPDX-License-Identifier: Apache-2.0 */
/* Quota windows, the mark and paid extra usage: a table of cases, and 200 simulated nights with random use. What is expected
 * of a night is computed here from what was reported, not by the rules. */
#include "unit/unit.h"

#include "core/admission/quota.h"
#include "core/rules.h"
#include "core/step.h"
#include "lib/gen.h"
#include "model/cause.h"
#include "model/policy.h"

#define T0 ((int64_t)1794744000 * 1000000)
#define HOUR (SECONDS(3600))

enum { HOST = 3, TASKS = 24, NIGHTS = 200, MARK = 80 };

static struct place {
    struct goal goal;
    bool exists;
    struct live live;
    struct arena kept[2], arena;
    int turn;
    struct policy policy;
    struct policy_agent agents[2];
    struct policy_account accounts[1];
    int64_t now, due;
    uint64_t sources;
    uint32_t level;
    struct decision did;
} place;

static void place_begin(void) {
    place = (struct place){.policy = policy_default(), .now = T0, .level = LEVEL_TASK_BATCHES};
    place.policy.pace.actions_per_minute = place.policy.dispatch.most_at_once = 0;
    place.policy.dispatch.agents = place.agents;
    place.policy.dispatch.agent_count = 2;
    place.agents[0] = (struct policy_agent){.id = "ada", .account = "max"};
    place.agents[1] = (struct policy_agent){.id = "bob", .account = "other"};
}

static void place_end(void) {
    arena_free(&place.kept[0]);
    arena_free(&place.kept[1]);
    arena_free(&place.arena);
}

static void account_allows(uint32_t mark, bool extra) {
    place.accounts[0] = (struct policy_account){"max", mark, extra};
    place.policy.spending.accounts = place.accounts;
    place.policy.spending.account_count = 1;
}

static enum verdict tell(struct signal signal) {
    arena_reset(&place.arena);
    signal.goal = admission_id(HOST);
    signal.admission = HOST;
    signal.at = place.now;
    signal.sender.actor = STR("overseer");
    place.sources++;
    memcpy(signal.source.bytes, &place.sources, sizeof place.sources);
    struct world world = {
        .goal = place.exists ? &place.goal : NULL, .live = &place.live, .level = place.level};
    place.did = step(&world, &signal, &place.policy, &place.arena);
    if (place.did.verdict != VERDICT_CHANGE) {
        if (place.did.verdict == VERDICT_NOTHING && signal.kind == SIGNAL_GOAL_DUE)
            place.due = place.did.due_at;
        return place.did.verdict;
    }
    struct arena *to = &place.kept[place.turn ^= 1];
    arena_reset(to);
    place.goal = place.did.goal;
    place.due = place.goal.due_at;
    place.exists = true;
    place.live = live_copy(&place.did.live, to);
    const char *broken = live_broken(&place.live, &place.goal);
    check(!broken, "%s", broken);
    return VERDICT_CHANGE;
}

static void messages_end(void) {
    while (place.goal.effects.open_count > 0)
        tell((struct signal){.kind = SIGNAL_EFFECT_ENDED, .effect = place.goal.effects.open[0].n});
}

static struct id goal_named(uint32_t n) {
    return (struct id){{(uint8_t)(n + 1), 9}};
}

static void ask(uint32_t task, const char *agent, enum permit_kind kind, uint32_t mark) {
    static struct arena arena;
    arena_reset(&arena);
    struct permit permit = {.goal = goal_named(task),
                            .turn = (uint32_t)place.sources + 1,
                            .wants = kind,
                            .mark = mark,
                            .asked_at = place.now};
    snprintf(permit.agent, sizeof permit.agent, "%s", agent);
    tell((struct signal){.kind = SIGNAL_PERMIT_ASK,
                         .about.assignment = 1,
                         .body = shape_encode(&PERMIT, &permit, &arena)});
    messages_end();
}

static void over(uint32_t task, const char *agent) {
    static struct arena arena;
    arena_reset(&arena);
    struct permit permit = {.goal = goal_named(task), .turn = (uint32_t)place.sources + 1};
    snprintf(permit.agent, sizeof permit.agent, "%s", agent);
    tell((struct signal){.kind = SIGNAL_PERMIT_SETTLE,
                         .about.assignment = 1,
                         .spent.tokens = 1,
                         .to = 1,
                         .body = shape_encode(&PERMIT, &permit, &arena)});
    messages_end();
}

static enum verdict report(struct quota quota) {
    static struct arena arena;
    arena_reset(&arena);
    snprintf(quota.account, sizeof quota.account, "max");
    enum verdict verdict = tell(
        (struct signal){.kind = SIGNAL_ACCOUNT_SEEN, .body = shape_encode(&QUOTA, &quota, &arena)});
    messages_end();
    return verdict;
}

static struct quota window(const char *kind, uint32_t used, int64_t resets_at) {
    struct quota quota = {.overage = OVERAGE_NO};
    snprintf(quota.windows[0].kind, sizeof quota.windows[0].kind, "%s", kind);
    quota.windows[0].used = used;
    quota.windows[0].resets_at = resets_at;
    return quota;
}

static void due(void) {
    tell((struct signal){.kind = SIGNAL_GOAL_DUE});
    messages_end();
}

static bool is_granted(uint32_t task) {
    const struct permit *permit = permits_find(&place.live.permits, goal_named(task), 0);
    return permit && permit->state == PERMIT_GRANTED && permit->wants == PERMIT_NONE;
}

static const struct question *asked(void) {
    return questions_about(&place.live.questions, STR("desk.overage.max"));
}

static void answer(uint32_t option) {
    const struct question *question = asked();
    must(question != NULL);
    tell((struct signal){.kind = SIGNAL_QUESTION_ANSWER,
                         .sender.by = WHO_HUMAN,
                         .about.question = question->n + 1,
                         .to = option});
    messages_end();
    place.now += MINUTES(1); /* an answer can be undone for a moment */
    due();
}

/* ---- the mark ---- */

static void test_nothing_begins_at_the_mark(void **state) {
    static const struct {
        const char *name;
        uint32_t account, goal; /* marks */
        uint32_t used;          /* per 10,000, plus 1 */
        const char *agent;
        enum permit_kind kind;
        bool granted;
    } CASES[] = {
        {"below the mark", 80, 0, 8000, "ada", PERMIT_BEGIN, true},
        {"at the mark", 80, 0, 8001, "ada", PERMIT_BEGIN, false},
        {"at the mark of its goal", 0, 60, 6001, "ada", PERMIT_BEGIN, false},
        {"the lower mark counts", 90, 60, 6001, "ada", PERMIT_BEGIN, false},
        {"the lower mark counts, the other way", 60, 90, 6001, "ada", PERMIT_BEGIN, false},
        {"without a mark", 0, 0, 10001, "ada", PERMIT_BEGIN, true},
        {"unknown use is not use", 80, 0, 0, "ada", PERMIT_BEGIN, true},
        {"another account", 80, 80, 10001, "bob", PERMIT_BEGIN, true},
        {"what runs goes on", 80, 80, 10001, "ada", PERMIT_ACT, true},
    };
    (void)state;
    for (size_t i = 0; i < count_of(CASES); i++) {
        place_begin();
        account_allows(CASES[i].account, false);
        report(window("5h", CASES[i].used, T0 + HOUR));
        ask(0, CASES[i].agent, CASES[i].kind, CASES[i].goal);
        check(is_granted(0) == CASES[i].granted, "%s", CASES[i].name);
        place_end();
    }
}

static void test_work_begins_when_the_window_is_reset(void **state) {
    (void)state;
    place_begin();
    account_allows(MARK, false);
    report(window("5h", 9001, T0 + HOUR));
    report(window("7d", 8501, T0 + 2 * HOUR));
    ask(0, "ada", PERMIT_BEGIN, 0);
    assert_false(is_granted(0));
    check(place.due == T0 + HOUR, "it is due at the first reset");
    place.now = T0 + HOUR;
    due();
    check(!is_granted(0), "the other window is still at the mark");
    check(place.due == T0 + 2 * HOUR, "it is due at the second reset");
    place.now = T0 + 2 * HOUR - 1;
    due();
    assert_false(is_granted(0));
    place.now++;
    due();
    assert_true(is_granted(0));
    place_end();
}

static void test_a_report_without_an_end_holds_as_long_as_its_window(void **state) {
    (void)state;
    place_begin();
    account_allows(MARK, false);
    report(window("5h", 9001, 0));
    ask(0, "ada", PERMIT_BEGIN, 0);
    place.now = T0 + 5 * HOUR - 1;
    due();
    assert_false(is_granted(0));
    place.now++;
    due();
    assert_true(is_granted(0));
    assert_true(quota_length("5h") == 5 * HOUR && quota_length("7d-opus") == 168 * HOUR &&
                quota_length("90m") == MINUTES(90));
    assert_true(quota_length("monthly") == 0 && quota_length("") == 0 &&
                quota_length("7days") == 0);
    place_end();
}

static void test_reports_that_say_nothing_new_are_not_stored(void **state) {
    (void)state;
    place_begin();
    assert_int_equal(report(window("5h", 5001, T0 + HOUR)), VERDICT_CHANGE);
    place.now += SECONDS(1);
    assert_int_equal(report(window("5h", 5040, T0 + HOUR)), VERDICT_NOTHING);
    assert_int_equal(report(window("5h", 5052, T0 + HOUR)), VERDICT_CHANGE);
    assert_int_equal(report(window("5h", 5052, T0 + 2 * HOUR)), VERDICT_CHANGE);
    place.now += MINUTES(1);
    assert_int_equal(report(window("5h", 5052, T0 + 2 * HOUR)), VERDICT_CHANGE);
    for (uint32_t i = 0; i < 20; i++) {
        char kind[16];
        snprintf(kind, sizeof kind, "%ud", i + 1);
        place.now += SECONDS(1);
        report(window(kind, 101, 0));
    }
    check(place.live.accounts.count == LIMIT_QUOTA_WINDOWS, "%u rows", place.live.accounts.count);
    place.now += HOUR;
    assert_int_equal(report(window("5h", 101, T0 + 900 * HOUR)), VERDICT_CHANGE);
    check(accounts_window(&place.live.accounts, STR("max"), STR("5h"))->resets_at == 0,
          "a reset in 37 days is not believed");
    place_end();
}

/* ---- paid usage ---- */

static struct quota paid(int64_t until) {
    struct quota quota = window("5h", 10001, until);
    quota.overage = OVERAGE_YES;
    quota.overage_until = until;
    quota.in_flight = 2;
    return quota;
}

static void test_paid_usage_is_asked_about_once(void **state) {
    (void)state;
    place_begin();
    ask(0, "ada", PERMIT_BEGIN, 0);
    report(paid(T0 + HOUR));
    const struct question *question = asked();
    assert_non_null(question);
    uint32_t n = question->n;
    report(paid(T0 + HOUR));
    assert_true(asked()->n == n && place.live.questions.count == 1);
    assert_int_equal(accounts_find(&place.live.accounts, STR("max"))->in_flight, 2);
    ask(1, "ada", PERMIT_BEGIN, 0);
    ask(2, "bob", PERMIT_BEGIN, 0);
    ask(0, "ada", PERMIT_ACT, 0);
    assert_false(is_granted(1));
    assert_true(is_granted(2));
    check(permits_find(&place.live.permits, goal_named(0), 0)->wants == PERMIT_ACT,
          "nothing is sent to a run of the account");
    place.now = T0 + HOUR;
    due();
    check(is_granted(1) && is_granted(0), "the included usage has begun again");
    assert_null(asked());
    report(paid(T0 + HOUR)); /* read again after a restart */
    assert_null(asked());
    place_end();
}

static void test_answers_about_paid_usage(void **state) {
    static const struct {
        uint32_t option;
        enum overage_state then;
        bool begins;
    } CASES[] = {{OVERAGE_ANSWER_WAIT, OVERAGE_WAITS, false},
                 {OVERAGE_ANSWER_ALLOW, OVERAGE_ALLOWED, true},
                 {OVERAGE_ANSWER_STOP, OVERAGE_STOPPED, false}};
    (void)state;
    for (size_t i = 0; i < count_of(CASES); i++) {
        place_begin();
        report(paid(T0 + HOUR));
        ask(0, "ada", PERMIT_BEGIN, 0);
        answer(CASES[i].option);
        assert_int_equal(accounts_find(&place.live.accounts, STR("max"))->overage, CASES[i].then);
        check(is_granted(0) == CASES[i].begins, "answer %u", CASES[i].option);
        report(paid(T0 + HOUR));
        assert_null(asked());
        place.now = T0 + HOUR;
        due();
        assert_null(accounts_find(&place.live.accounts, STR("max")));
        assert_true(is_granted(0));
        place_end();
    }
}

static void test_allowed_paid_usage_is_not_asked_about(void **state) {
    (void)state;
    place_begin();
    account_allows(0, true);
    report(paid(T0 + HOUR));
    ask(0, "ada", PERMIT_BEGIN, 0);
    assert_null(asked());
    assert_true(is_granted(0));
    place_end();
    place_begin();
    report(paid(T0 + HOUR));
    ask(0, "ada", PERMIT_BEGIN, 0);
    assert_false(is_granted(0));
    account_allows(0, true); /* the settings are changed */
    ask(1, "ada", PERMIT_BEGIN, 0);
    assert_true(is_granted(0) && is_granted(1));
    assert_null(asked());
    place_end();
}

/* ---- nights ---- */

struct night {
    struct dice dice;
    uint32_t mark;       /* 0: none */
    uint32_t used;       /* truth, per 10,000 */
    int64_t resets_at;   /* truth */
    uint32_t shown;      /* as last reported */
    int64_t shown_until; /* reset of that report */
    int64_t held_until;  /* paid usage was seen: nothing may be requested until then */
    bool allowed;        /* by a person */
    bool wants[TASKS], runs[TASKS];
    int64_t free_since[TASKS]; /* it waits, and nothing is known that keeps it from beginning */
    uint32_t requests, begun, frozen;
};

static void night_checks(struct night *night, uint64_t seed) {
    bool held = night->held_until > place.now && !night->allowed;
    bool at_mark =
        night->mark > 0 && night->shown >= night->mark * 100 && night->shown_until > place.now;
    for (uint32_t i = 0; i < TASKS; i++) {
        bool begins = night->wants[i] && is_granted(i);
        check(!begins || !at_mark, "night %llu: task %u begins at %u of 10,000",
              (unsigned long long)seed, i, night->shown);
        check(!begins || !held, "night %llu: task %u begins with paid usage",
              (unsigned long long)seed, i);
        night->begun += begins;
        night->runs[i] |= begins;
        night->wants[i] &= !begins;
        if (!night->wants[i] || at_mark || held)
            night->free_since[i] = 0;
        else if (night->free_since[i] == 0)
            night->free_since[i] = place.now;
        check(night->free_since[i] == 0 || place.now - night->free_since[i] <= MINUTES(1),
              "night %llu: task %u waits although nothing keeps it", (unsigned long long)seed, i);
    }
}

/* One request of a task that runs: none is made while its account is frozen. */
static void request(struct night *night, uint32_t task) {
    if (night->held_until > place.now && !night->allowed) {
        night->frozen++;
        return;
    }
    night->requests++;
    night->used += dice_pick(&night->dice, 4) * 100;
    bool is_paid = night->used > 10000;
    uint32_t use = is_paid ? 10000 : night->used;
    struct quota quota = window("5h", use + 1, night->resets_at);
    if (is_paid) {
        quota.overage = OVERAGE_YES;
        quota.overage_until = night->resets_at;
        if (night->held_until <= place.now) {
            night->held_until = night->resets_at;
            night->allowed = false;
        }
    }
    bool moved =
        use >= night->shown + 50 || night->shown > use || night->shown_until != night->resets_at;
    report(quota);
    if (moved) {
        night->shown = use;
        night->shown_until = night->resets_at;
    }
    if (dice_pick(&night->dice, 6) == 0) {
        night->runs[task] = false;
        over(task, "ada");
    }
}

static void person_answers(struct night *night) {
    uint32_t option = 1 + dice_pick(&night->dice, 3);
    if (!asked() || dice_pick(&night->dice, 40) > 0)
        return;
    answer(option);
    night->allowed = option == OVERAGE_ANSWER_ALLOW;
}

static void minute(struct night *night, uint64_t seed) {
    place.now += MINUTES(1);
    if (place.now >= night->resets_at) {
        night->used = 0;
        night->resets_at += 5 * HOUR;
    }
    if (place.exists && place.due <= place.now)
        due();
    night_checks(night, seed);
    for (uint32_t i = 0; i < TASKS; i++) {
        if (night->runs[i] && dice_pick(&night->dice, 3) == 0)
            request(night, i);
        else if (!night->runs[i] && !night->wants[i] && dice_pick(&night->dice, 30) == 0) {
            night->wants[i] = true;
            ask(i, "ada", PERMIT_BEGIN, 0);
        }
        night_checks(night, seed);
    }
    person_answers(night);
    if (place.exists && place.due <= place.now)
        due();
    night_checks(night, seed);
}

static void test_two_hundred_nights(void **state) {
    uint32_t requests = 0, begun = 0, frozen = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= NIGHTS; seed++) {
        struct night night = {.resets_at = T0 + 2 * HOUR, .mark = seed % 4 == 0 ? 0 : MARK};
        place_begin();
        account_allows(night.mark, false); /* without a mark paid usage comes */
        night.dice = (struct dice){seed};
        for (uint32_t i = 0; i < 10 * 60; i++)
            minute(&night, seed);
        requests += night.requests;
        begun += night.begun;
        frozen += night.frozen;
        place_end();
    }
    printf("%u nights: %u begun, %u requests, %u kept back by paid usage\n", NIGHTS, begun,
           requests, frozen);
    assert_true(begun > NIGHTS && frozen > NIGHTS);
}

/* ---- reports that cannot be believed, and too many of them ---- */

static const struct account *row_of(const char *account, const char *kind) {
    return accounts_window(&place.live.accounts, str_of(account), str_of(kind));
}

static enum verdict report_for(const char *account, struct quota quota) {
    static struct arena arena;
    arena_reset(&arena);
    snprintf(quota.account, sizeof quota.account, "%s", account);
    return tell(
        (struct signal){.kind = SIGNAL_ACCOUNT_SEEN, .body = shape_encode(&QUOTA, &quota, &arena)});
}

static void test_reports_that_cannot_be_believed(void **state) {
    (void)state;
    place_begin();
    check(tell((struct signal){.kind = SIGNAL_ACCOUNT_SEEN, .body = STR("x")}) == VERDICT_REFUSE,
          "no report");
    check(report_for("nobody", window("5h", 9, 0)) == VERDICT_REFUSE, "an account of no agent");
    check(report_for("", window("5h", 9, 0)) == VERDICT_REFUSE, "no account");
    place.level = LEVEL_TASK_BATCHES - 1;
    check(report_for("max", window("5h", 9, 0)) == VERDICT_NOTHING, "an older host would lose it");
    place.level = LEVEL_TASK_BATCHES;
    check(!place.exists, "nothing is left of them");
    report(window("5h", 5001, T0 - 1));
    check(row_of("max", "5h")->resets_at == 0, "a reset that has passed");
    report(window("7d", 5001, T0 + 40 * 24 * HOUR));
    check(row_of("max", "7d")->resets_at == 0, "a reset that is too far away");
    place.now += MINUTES(30);
    report(window("5h", 6001, T0 + HOUR));
    place.now -= MINUTES(20);
    check(report(window("5h", 9001, T0 + HOUR)) == VERDICT_NOTHING &&
              row_of("max", "5h")->used == 6001,
          "a report that is older than the row");
    place_end();
}

/* A provider that renames its windows for ever leaves six rows, and takes none of another account. */
static void test_windows_are_bounded(void **state) {
    (void)state;
    char kind[16];
    place_begin();
    check(report_for("other", window("5h", 101, 0)) == VERDICT_CHANGE, "another account");
    for (uint32_t i = 0; i < 40; i++) {
        place.now += MINUTES(1);
        snprintf(kind, sizeof kind, "w%u", i);
        report(window(kind, 101, 0));
        uint32_t count = 0;
        for (uint32_t k = 0; k < place.live.accounts.count; k++)
            count += strcmp(place.live.accounts.at[k].name, "max") == 0;
        check(count == (i < LIMIT_QUOTA_WINDOWS ? i + 1 : LIMIT_QUOTA_WINDOWS), "%u rows", count);
        check(row_of("max", kind) != NULL, "the newest is there");
    }
    check(row_of("other", "5h") != NULL, "the other account keeps its own");
    place_end();
}

static void test_what_is_news_about_a_window(void **state) {
    (void)state;
    static const struct {
        const char *name;
        struct quota_window seen;
        int64_t later;
        enum verdict verdict;
    } CASES[] = {
        {"the same", {.used = 5001, .resets_at = T0 + 2 * HOUR}, 1, VERDICT_NOTHING},
        {"hardly more", {.used = 5011, .resets_at = T0 + 2 * HOUR}, 1, VERDICT_NOTHING},
        {"hardly less", {.used = 4991, .resets_at = T0 + 2 * HOUR}, 1, VERDICT_NOTHING},
        {"much more", {.used = 6001, .resets_at = T0 + 2 * HOUR}, 1, VERDICT_CHANGE},
        {"much less", {.used = 1001, .resets_at = T0 + 2 * HOUR}, 1, VERDICT_CHANGE},
        {"another reset", {.used = 5001, .resets_at = T0 + 3 * HOUR}, 1, VERDICT_CHANGE},
        {"another status",
         {.used = 5001, .resets_at = T0 + 2 * HOUR, .status = QUOTA_STATUSES - 1},
         1,
         VERDICT_CHANGE},
        {"after an hour", {.used = 5001, .resets_at = T0 + 2 * HOUR}, HOUR, VERDICT_CHANGE},
    };
    for (size_t i = 0; i < count_of(CASES); i++) {
        place_begin();
        report(window("5h", 5001, T0 + 2 * HOUR));
        place.now += CASES[i].later;
        struct quota quota = window("5h", CASES[i].seen.used, CASES[i].seen.resets_at);
        quota.windows[0].status = CASES[i].seen.status;
        check(report(quota) == CASES[i].verdict, "%s", CASES[i].name);
        place_end();
    }
}

/* Paid usage: an end that is not known or not believable, one that has passed, and one that is reported again. */
static void test_the_end_of_paid_usage(void **state) {
    (void)state;
    place_begin();
    struct quota paid = window("5h", 10001, T0 + HOUR);
    paid.overage = OVERAGE_YES;
    paid.overage_until = T0 - 1;
    report(paid);
    check(!asked(), "a report about usage that is over");
    paid.overage_until = T0 + 400 * 24 * HOUR;
    report(paid);
    const struct account *account = accounts_find(&place.live.accounts, STR("max"));
    check(asked() && account->overage_until > T0 && account->overage_until < T0 + 40 * 24 * HOUR,
          "an end that cannot be believed is not taken");
    int64_t until = account->overage_until;
    place.now += MINUTES(1);
    paid.overage_until = T0 + 3 * HOUR;
    report(paid);
    check(accounts_find(&place.live.accounts, STR("max"))->overage_until == until,
          "the first report counts until its end");
    place_end();
    place_begin(); /* the account has a row already: it is at its limit */
    static struct arena arena;
    arena_reset(&arena);
    struct account limited = {.name = "max", .limited_until = T0 + HOUR};
    tell((struct signal){.kind = SIGNAL_ACCOUNT_LIMITED,
                         .until = T0 + HOUR,
                         .body = shape_encode(&ACCOUNT, &limited, &arena)});
    paid.overage_until = 0;
    report(paid);
    account = accounts_find(&place.live.accounts, STR("max"));
    check(asked() && account->limited_until == T0 + HOUR && account->overage_until > T0,
          "both are kept in its row");
    place_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_begins_at_the_mark),
        cmocka_unit_test(test_work_begins_when_the_window_is_reset),
        cmocka_unit_test(test_a_report_without_an_end_holds_as_long_as_its_window),
        cmocka_unit_test(test_reports_that_say_nothing_new_are_not_stored),
        cmocka_unit_test(test_paid_usage_is_asked_about_once),
        cmocka_unit_test(test_answers_about_paid_usage),
        cmocka_unit_test(test_allowed_paid_usage_is_not_asked_about),
        cmocka_unit_test(test_two_hundred_nights),
        cmocka_unit_test(test_reports_that_cannot_be_believed),
        cmocka_unit_test(test_windows_are_bounded),
        cmocka_unit_test(test_what_is_news_about_a_window),
        cmocka_unit_test(test_the_end_of_paid_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
