/* SPDX-License-Identifier: Apache-2.0 */
/* The policy under which decisions are made: its fields, defaults and hash. */
#include "model/policy.h"

#include "base/time.h"
#include "model/setting/setting.h"

#define F(name, type, number, of, member, cap, names, text) \
    { name, type, number, FIELD_OF(of, member), cap, 0, names, text, 0, NULL }
#define ROWS(name, number, member, of, most, text) \
    { name, FIELD_ROWS, number, FIELD_OF(policy, member), 0, 0, NULL, text, most, of }

static const struct field AGENT_FIELDS[] = {
    F("id", FIELD_NAME, 1, policy_agent, id, LIMIT_AGENT, NULL, "its name"),
    F("role", FIELD_NAME, 2, policy_agent, role, LIMIT_AGENT, NULL, "its role"),
    F("account", FIELD_NAME, 3, policy_agent, account, LIMIT_AGENT, NULL,
      "the account whose quota it uses"),
    F("model", FIELD_NAME, 4, policy_agent, model, LIMIT_AGENT, NULL, "its model"),
    F("team", FIELD_NAME, 5, policy_agent, team, LIMIT_AGENT, NULL,
      "the team that its cost is charged to"),
    F("most", FIELD_U32, 6, policy_agent, most, 0, NULL,
      "sessions at the same time on one host; 0: no cap of its own"),
    F("reserve", FIELD_UINT, 7, policy_agent, reserve, 0, NULL,
      "money reserved for one attempt, in millionths of the currency"),
    F("reserveTokens", FIELD_UINT, 8, policy_agent, reserve_tokens, 0, NULL,
      "tokens reserved for one attempt"),
    F("dedupes", FIELD_FLAG, 9, policy_agent, dedupes, 0, NULL,
      "whether it drops a dispatch id that it has seen"),
    F("price", FIELD_UINT, 10, policy_agent, price, 0, NULL,
      "price of a million tokens, in millionths of the currency; 0: unknown"),
};
static const struct shape AGENT = SHAPE_OF(policy_agent, "policy_agent", 1, AGENT_FIELDS);

static const struct field BUDGET_FIELDS[] = {
    F("scope", FIELD_NAME, 1, policy_budget, scope, LIMIT_SCOPE, NULL,
      "its scope: fleet, day, goal, or agent, team, account, model with or without /NAME"),
    F("unit", FIELD_ENUM, 2, policy_budget, unit, 0, &BUDGET_UNIT_NAMES,
      "unit of the amount; money is in millionths of the currency"),
    F("most", FIELD_UINT, 3, policy_budget, most, 0, NULL, "the limit"),
    F("window", FIELD_INT, 4, policy_budget, window, 0, NULL,
      "length of the window, in microseconds; 0: no window"),
};
static const struct shape BUDGET_ROW = SHAPE_OF(policy_budget, "policy_budget", 1, BUDGET_FIELDS);

static const struct field ACCOUNT_FIELDS[] = {
    F("name", FIELD_NAME, 1, policy_account, name, LIMIT_AGENT, NULL, "its name"),
    F("mark", FIELD_U32, 2, policy_account, mark, 0, NULL,
      "percent of a quota window from which nothing begins; 0: none"),
    F("extra", FIELD_FLAG, 3, policy_account, extra, 0, NULL,
      "whether paid extra usage is allowed"),
};
static const struct shape ACCOUNT_ROW =
    SHAPE_OF(policy_account, "policy_account", 1, ACCOUNT_FIELDS);

static const struct field CHANNEL_FIELDS[] = {
    F("id", FIELD_NAME, 1, policy_channel, id, LIMIT_AGENT, NULL, "its name"),
    F("kind", FIELD_U32, 2, policy_channel, kind, 0, NULL,
      "the kind of service: enum channel_kind"),
    F("least", FIELD_U32, 3, policy_channel, least, 0, NULL,
      "lowest level that is sent to it: enum alarm + 1; 0: the usual one"),
    F("quiet", FIELD_FLAG, 4, policy_channel, quiet, 0, NULL, "whether it obeys quiet hours"),
    F("origins", FIELD_NAME, 5, policy_channel, origins, LIMIT_NAME, NULL,
      "channels whose goals it may report besides its own, separated by spaces; *: all"),
};
static const struct shape CHANNEL_ROW =
    SHAPE_OF(policy_channel, "policy_channel", 1, CHANNEL_FIELDS);

#define REPOSITORY(name, type, number, member, text) \
    F(name, type, number, policy_repository, member, 0, NULL, text)
static const struct field REPOSITORY_FIELDS[] = {
    REPOSITORY("key", FIELD_UINT, 1, key, "prefix of the hash of its name"),
    REPOSITORY("verify_by_person", FIELD_U32, 2, checks.by_person,
               "whether work that an agent reports as done waits for a person"),
    REPOSITORY("checks", FIELD_U32, 3, checks.configured,
               "whether the operator's checks decide what is done"),
    REPOSITORY("check_rounds", FIELD_U32, 4, checks.rounds,
               "how often work may fail its checks before a person is asked"),
    REPOSITORY("check_within", FIELD_INT, 5, checks.within,
               "time limit for the checks, in microseconds"),
    REPOSITORY("lands", FIELD_U32, 6, landing.automatic,
               "whether work that passed lands automatically"),
    REPOSITORY("workspace", FIELD_UINT, 7, landing.workspace,
               "prefix of the hash of the repository's source"),
    REPOSITORY("workspace_local", FIELD_U32, 8, landing.workspace_local,
               "whether the source is a path, so that each host has its own repository"),
    REPOSITORY("land_rechecks", FIELD_U32, 9, landing.rechecks,
               "how often a candidate is built again because its target moved"),
};
static const struct shape REPOSITORY_ROW =
    SHAPE_OF(policy_repository, "policy_repository", 1, REPOSITORY_FIELDS);

#define N(name, number, member, text) F(name, FIELD_U32, number, policy, member, 0, NULL, text)
#define T(name, number, member, text) F(name, FIELD_INT, number, policy, member, 0, NULL, text)
#define DECIDING_FIELD_NUMBER FIELD_U32
#define DECIDING_FIELD_SPAN FIELD_INT
#define DECIDING_FIELD_FLAG FIELD_U32
#define DECIDES(part, section, kind, key, member, number, fallback, least, most, text) \
    F(#member, DECIDING_FIELD_##kind, number, policy, part.member, 0, NULL, text)
static const struct field POLICY_FIELDS[] = {
    T("act_within", 1, act_within, "time limit for the outcome of an effect, in microseconds"),
    N("approve_plans", 2, plans.approve, "whether plans made by Overseer wait for a person"),
    F("plan_agents", FIELD_TEXT, 3, policy, plans.agents, LIMIT_PROSE, NULL,
      "agents that may apply plans, separated by spaces"),
    ROWS("agents", 4, dispatch.agents, &AGENT, LIMIT_POLICY_AGENTS,
         "agents that may be given work"),
    DECIDING_DISPATCH(DECIDES, NEXT_ROW),
    N("allow_reassign", 11, recovery.allow_reassign,
      "whether stalled work may be reassigned to another agent"),
    N("verify_by_person", 12, checks.by_person,
      "whether work that an agent reports as done waits for a person"),
    F("allow_agents", FIELD_TEXT, 13, policy, dispatch.allow_agents, LIMIT_PROSE, NULL,
      "agents that are allowed, separated by spaces; empty: all"),
    T("tick_every", 14, liveness.tick_every,
      "interval between two checks of all open work, in microseconds"),
    T("idle_after", 15, liveness.idle_after,
      "time without progress after which work counts as stalled, in microseconds"),
    DECIDING_LIVENESS(DECIDES, NEXT_ROW),
    N("first_rung", 20, recovery.first_rung, "first rung of recovery: enum rung"),
    N("max_retries", 21, recovery.max_retries, "maximum number of nudges"),
    N("max_attempts", 22, recovery.max_attempts,
      "maximum number of dispatches for one node, by all agents"),
    T("backoff_base", 23, recovery.backoff_base, "delay before the first retry, in microseconds"),
    T("backoff_max", 24, recovery.backoff_max,
      "longest delay between two retries, in microseconds"),
    T("min_resend", 25, recovery.min_resend,
      "minimum time between two equal instructions, in microseconds"),
    N("planner", 26, recovery.planner, "whether there is a planner"),
    DECIDING_RECOVERY(DECIDES, NEXT_ROW),
    DECIDING_PACE(DECIDES, NEXT_ROW),
    ROWS("budgets", 32, spending.budgets, &BUDGET_ROW, LIMIT_POLICY_BUDGETS,
         "budgets: how much may be spent"),
    T("quota_guess", 33, spending.quota_guess,
      "how long an account at its limit is paused if no reset time is given, in microseconds"),
    ROWS("channels", 34, people.channels, &CHANNEL_ROW, LIMIT_CHANNELS, "channels to people"),
    N("auto_escalate", 35, people.auto_escalate,
      "whether a person is notified of every pause and abort"),
    N("notify_below", 36, people.notify_below, "whether people are also notified of minor events"),
    T("say_again", 37, people.say_again,
      "time after which an unanswered question is sent again, in microseconds"),
    T("say_again_most", 38, people.say_again_most,
      "longest delay until an unanswered question is sent again, in microseconds"),
    N("say_most", 39, people.say_most, "maximum number of rounds for one question; 0: no cap"),
    T("quiet_from", 40, people.quiet_from,
      "start of the quiet hours, in microseconds after midnight UTC"),
    T("quiet_to", 41, people.quiet_to,
      "end of the quiet hours, in microseconds after midnight UTC"),
    DECIDING_PEOPLE(DECIDES, NEXT_ROW),
    N("checks", 46, checks.configured, "whether the operator's checks decide what is done"),
    N("lands", 47, landing.automatic, "whether work that passed lands automatically"),
    N("check_rounds", 48, checks.rounds,
      "how often work may fail its checks before a person is asked"),
    T("check_within", 49, checks.within, "time limit for the checks, in microseconds"),
    F("workspace", FIELD_UINT, 50, policy, landing.workspace, 0, NULL,
      "prefix of the hash of the repository's source; 0: none"),
    N("workspace_local", 51, landing.workspace_local,
      "whether the source is a path, so that each host has its own repository"),
    N("land_rechecks", 52, landing.rechecks,
      "how often a candidate is built again because its target moved"),
    T("orphan_after", 53, recovery.orphan_after,
      "time after which a run whose host is lost is frozen, in microseconds"),
    ROWS("repositories", 54, repositories, &REPOSITORY_ROW, LIMIT_REPOSITORIES,
         "repositories of [[repos]]"),
    ROWS("accounts", 55, spending.accounts, &ACCOUNT_ROW, LIMIT_ACCOUNTS,
         "what is allowed with accounts"),
};
const struct shape POLICY = SHAPE_OF(policy, "policy", 1, POLICY_FIELDS);

/* Equal policies have equal hashes. */
struct policy policy_seal(struct policy policy) {
    struct arena arena = {0};
    policy.hash = sha256(shape_encode(&POLICY, &policy, &arena));
    arena_free(&arena);
    return policy;
}

/* The defaults stand in the rows of the settings. */
struct policy policy_default(void) {
    struct arena arena = {0};
    struct settings *settings = arena_new(&arena, struct settings, 1);
    settings_default(settings);
    struct policy policy = settings_to_policy(settings, &arena);
    must(policy.dispatch.agent_count + policy.spending.budget_count + policy.people.channel_count ==
         0);
    policy.dispatch.agents = NULL;
    policy.spending.budgets = NULL;
    policy.spending.accounts = NULL;
    policy.people.channels = NULL;
    policy.repositories.at = NULL;
    policy.plans.agents = policy.dispatch.allow_agents = (struct str){0};
    policy.act_within = MINUTES(30); /* the time limit of a command is left to the caller */
    arena_free(&settings->source.arena);
    arena_free(&arena);
    return policy;
}

struct policy policy_of(int64_t act_within) {
    struct policy policy = policy_default();
    policy.act_within = act_within;
    return policy_seal(policy);
}

const struct policy_agent *policy_agent(const struct policy *policy, struct str id) {
    for (uint32_t i = 0; i < policy->dispatch.agent_count; i++)
        if (str_equal(str_of(policy->dispatch.agents[i].id), id))
            return &policy->dispatch.agents[i];
    return NULL;
}
