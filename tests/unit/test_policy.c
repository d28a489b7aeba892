/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that every decision uses the operator's settings. CONFIG-01, POLICY-01, POLICY-02; amounts, scopes and hours. */
#include "unit.h"

#include "config/config.h"
#include "ledger/order.h"
#include "model/channel_list.h"
#include "model/policy.h"

static struct config_report report;
static struct arena arena;

static struct settings *load(const char *text) {
    static const struct config_source ALONE = {.ignore_environment = true};
    struct settings *settings = config_load_text(str_of(text), "overseer.toml", &ALONE, &report);
    check(settings, "%s\n%s", report.problems[0], text);
    return settings;
}

/* Its texts are valid until the next call. */
static struct policy policy_from(const char *text) {
    static struct settings *settings;
    if (settings)
        config_free(settings);
    settings = text ? load(text) : NULL;
    arena_reset(&arena);
    return settings ? settings_to_policy(settings, &arena) : (struct policy){0};
}

/* Without any setting, the settings and policy_default() agree. The time limit of a command is left to the operator. */
static void test_defaults_are_the_same(void **state) {
    (void)state;
    struct policy policy = policy_from("[escalation]\ndesktop = false\n"), plain = policy_default();
    plain.act_within = policy.act_within;
    struct str a = arena_copy(&arena, shape_encode(&POLICY, &policy, &arena)),
               b = shape_encode(&POLICY, &plain, &arena);
    if (!str_equal(a, b)) {
        struct policy empty = policy;
        print_message("%s\n%s\n", hex_of(a), hex_of(b));
        check(empty.dispatch.agent_count == 0 && empty.dispatch.allow_agents.len == 0, "agents");
    }
    check(str_equal(a, b), "the defaults differ");
}

static void test_agents_are_known(void **state) {
    (void)state;
    static const char AGENTS[] =
        "[supervision]\nenabled = %s\n[policy]\nallow_cross_agent = %s\nallow_agents = [%s]\n"
        "[defaults]\nmodel = \"dear\"\n"
        "[[agents]]\nid = \"coder\"\nrole = \"coder\"\naccount = \"acme\"\nteam = \"web\"\n"
        "most = 3\nreserve = \"$2.50\"\nreserve_tokens = 500000\ndedupes = true\n"
        "[[agents]]\nid = \"other\"\nmodel = \"cheap\"\n"
        "[[prices]]\nmodel = \"dear\"\nin = \"$3\"\nout = \"$15.5\"\n";
    char text[2048];
    snprintf(text, sizeof text, AGENTS, "true", "false", "\"*\"");
    struct policy policy = policy_from(text);
    assert_int_equal(policy.dispatch.agent_count, 2);
    const struct policy_agent *coder = &policy.dispatch.agents[0],
                              *other = &policy.dispatch.agents[1];
    check(strcmp(coder->id, "coder") == 0 && strcmp(coder->role, "coder") == 0 &&
              strcmp(coder->account, "acme") == 0 && strcmp(coder->team, "web") == 0 &&
              strcmp(coder->model, "dear") == 0,
          "its names");
    check(coder->most == 3 && coder->reserve == 2500000 && coder->reserve_tokens == 500000 &&
              coder->dedupes && coder->price == 15500000,
          "its numbers");
    check(strcmp(other->account, "other") == 0 && strcmp(other->model, "cheap") == 0 &&
              other->price == 0 && other->reserve == 0,
          "the other");
    check(str_equal(policy.dispatch.allow_agents, STR("coder")), "%.*s",
          STR_ARG(policy.dispatch.allow_agents));
    snprintf(text, sizeof text, AGENTS, "true", "true", "\"other\"");
    policy = policy_from(text);
    check(str_equal(policy.dispatch.allow_agents, STR("coder other")), "%.*s",
          STR_ARG(policy.dispatch.allow_agents));
    snprintf(text, sizeof text, AGENTS, "true", "true", "\"*\"");
    policy = policy_from(text);
    assert_int_equal(policy.dispatch.allow_agents.len, 0);
    snprintf(text, sizeof text, AGENTS, "false", "false", "");
    policy = policy_from(text);
    assert_int_equal(policy.dispatch.agent_count, 0);
    proof_passed("unit", "policy: agents", "CONFIG-01 POLICY-02");
}

static void test_budgets_are_known(void **state) {
    (void)state;
    struct policy policy =
        policy_from("[budget]\nshare = 25\n"
                    "[[budgets]]\nscope = \"team/web\"\nmost = \"$400\"\nwindow = \"1d\"\n"
                    "[[budgets]]\nscope = \"team/web\"\nmost = \"$2000\"\nwindow = \"30d\"\n"
                    "[[budgets]]\nscope = \"account\"\nmost = \"5M tokens\"\nwindow = \"5h\"\n"
                    "[[budgets]]\nscope = \"day\"\nmost = \"210 starts\"\n"
                    "[[budgets]]\nscope = \"goal\"\nmost = \"$0.50\"\n");
    static const struct policy_budget EXPECTED[] = {
        {"team/web", UNIT_MONEY, 100000000, MINUTES(1440)},
        {"team/web", UNIT_MONEY, 500000000, 30 * MINUTES(1440)},
        {"account", UNIT_TOKENS, 1250000, MINUTES(300)},
        {"day", UNIT_STARTS, 52, MINUTES(1440)},
        {"goal", UNIT_MONEY, 125000, 0}};
    assert_int_equal(policy.spending.budget_count, count_of(EXPECTED));
    for (size_t i = 0; i < count_of(EXPECTED); i++) {
        const struct policy_budget *is = &policy.spending.budgets[i], *want = &EXPECTED[i];
        check(strcmp(is->scope, want->scope) == 0 && is->unit == want->unit &&
                  is->most == want->most && is->window == want->window,
              "budget %zu: %s %llu", i, is->scope, (unsigned long long)is->most);
    }
}

static void test_the_rest_is_known(void **state) {
    (void)state;
    struct policy policy = policy_from(
        "[supervision]\nidle_in_tool = \"2h\"\nfirst_rung = \"resend_last\"\nmax_attempts = 7\n"
        "[caps]\nat_once = 4\nper_team = 2\nblast_least = 1\nactions_per_minute = 9\n"
        "[budget]\nquota_guess = \"3m\"\n[planner]\nmodel = \"m\"\n"
        "[people]\nquiet_hours = \"22:30-07:00 +02:00\"\nundo_for = \"1m\"\nsay_most = 2\n"
        "[[channels]]\nid = \"chat\"\nkind = \"ntfy\"\nurl = \"https://ntfy.example\"\nto = \"t\"\n"
        "least = \"warning\"\nquiet = false\norigins = [\"a\", \"b\"]\n");
    check(policy.liveness.idle_in_tool == MINUTES(120) &&
              policy.recovery.first_rung == RUNG_RESEND && policy.recovery.max_attempts == 7 &&
              policy.recovery.planner,
          "supervision");
    check(policy.dispatch.most_at_once == 4 && policy.dispatch.most_per_team == 2 &&
              policy.pace.blast_least == 1 && policy.pace.actions_per_minute == 9 &&
              policy.spending.quota_guess == MINUTES(3),
          "caps");
    check(policy.people.quiet_from == MINUTES(20 * 60 + 30) &&
              policy.people.quiet_to == MINUTES(5 * 60) && policy.people.undo_for == MINUTES(1) &&
              policy.people.say_most == 2,
          "people");
    const struct policy_channel *chat = &policy.people.channels[policy.people.channel_count - 1];
    check(strcmp(chat->id, "chat") == 0 && chat->kind == CHANNEL_NTFY && !chat->quiet &&
              chat->least == ALARM_WARNING + 1 && strcmp(chat->origins, "a b") == 0,
          "%s", chat->id);
}

/* A kept policy is independent: the settings that it came from may be freed. */
static void test_a_kept_policy_stands_alone(void **state) {
    (void)state;
    struct policy policy =
        policy_from("[supervision]\nenabled = true\n[plans]\nagents = [\"p\", \"q\"]\n"
                    "[[agents]]\nid = \"coder\"\n[[budgets]]\nscope = \"fleet\"\nmost = \"$1\"\n");
    struct str before = arena_copy(&arena, shape_encode(&POLICY, &policy, &arena));
    struct arena kept_arena = {0};
    before = arena_copy(&kept_arena, before);
    struct policy_kept *kept = policy_keep(&policy, STR("the text"));
    assert_non_null(kept);
    policy_from(NULL);
    arena_free(&arena);
    check(str_equal(before, shape_encode(&POLICY, &kept->policy, &kept_arena)), "another policy");
    check(str_equal(kept->text, STR("the text")), "its text");
    free(kept);
    arena_free(&kept_arena);
}

static void test_amounts(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t unit;
        int64_t amount; /* -1: refused */
    } ROWS[] = {{"$400", UNIT_MONEY, 400000000},
                {"$0.000001", UNIT_MONEY, 1},
                {"$2.50", UNIT_MONEY, 2500000},
                {"$0", UNIT_MONEY, 0},
                {"5M tokens", UNIT_TOKENS, 5000000},
                {"12k tokens", UNIT_TOKENS, 12000},
                {"3G tokens", UNIT_TOKENS, 3000000000},
                {"200 starts", UNIT_STARTS, 200},
                {"", UNIT_MONEY, 0},
                {"$", 0, -1},
                {"$1.", 0, -1},
                {"$.5", 0, -1},
                {"$1.0000001", 0, -1},
                {"$-1", 0, -1},
                {"$1e3", 0, -1},
                {"400", 0, -1},
                {"4 money", 0, -1},
                {"tokens", 0, -1},
                {"5Mtokens", 0, -1},
                {"5 tokens ", 0, -1},
                {"99999999999999999999 tokens", 0, -1},
                {"99999999999G tokens", 0, -1},
                {"$99999999999", 0, -1},
                {"5m tokens", 0, -1}};
    for (size_t i = 0; i < count_of(ROWS); i++) {
        uint32_t unit;
        uint64_t amount;
        bool read = amount_parse(str_of(ROWS[i].text), &unit, &amount);
        check(read == (ROWS[i].amount >= 0), "\"%s\"", ROWS[i].text);
        check(!read || (unit == ROWS[i].unit && amount == (uint64_t)ROWS[i].amount),
              "\"%s\" is %llu", ROWS[i].text, (unsigned long long)amount);
    }
}

static void test_scopes(void **state) {
    (void)state;
    static const char *const RIGHT[] = {"",     "fleet",    "day",     "goal",  "agent",
                                        "team", "team/web", "account", "model", "model/a/b"},
                             *const WRONG[] = {"fleets", "fleet/x", "team/",
                                               "goal/1", "Team",    "/x"};
    for (size_t i = 0; i < count_of(RIGHT); i++)
        check(!scope_wrong(str_of(RIGHT[i])), "%s", RIGHT[i]);
    for (size_t i = 0; i < count_of(WRONG); i++)
        check(scope_wrong(str_of(WRONG[i])), "%s", WRONG[i]);
}

static void test_hours(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t from, to; /* minutes; -1: refused */
    } ROWS[] = {{"22:00-07:00", 1320, 420},
                {"00:00-23:59", 0, 1439},
                {"22:00-07:00 +02:00", 1200, 300},
                {"01:00-07:00 +02:00", 1380, 300},
                {"22:00-07:00 -05:30", 210, 750},
                {"", 0, 0},
                {"22-7", -1, 0},
                {"24:00-07:00", -1, 0},
                {"22:60-07:00", -1, 0},
                {"22:00-07:00+02:00", -1, 0},
                {"22:00-07:00 +2:00", -1, 0},
                {"22:00 07:00", -1, 0}};
    for (size_t i = 0; i < count_of(ROWS); i++) {
        int64_t from, to;
        bool read = hours_parse(str_of(ROWS[i].text), &from, &to);
        check(read == (ROWS[i].from >= 0), "\"%s\"", ROWS[i].text);
        check(!read || (from == MINUTES(ROWS[i].from) && to == MINUTES(ROWS[i].to)), "\"%s\"",
              ROWS[i].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_are_the_same),
        cmocka_unit_test(test_agents_are_known),
        cmocka_unit_test(test_budgets_are_known),
        cmocka_unit_test(test_the_rest_is_known),
        cmocka_unit_test(test_a_kept_policy_stands_alone),
        cmocka_unit_test(test_amounts),
        cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_hours),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    policy_from(NULL);
    arena_free(&arena);
    return failed;
}
