/* SPDX-License-Identifier: Apache-2.0 */
/* Derives the policy that decisions see from the settings. Every field of a policy comes from settings that are marked
 * as part of it, so that a policy can be read back from its stored text. */
#include "model/policy.h"
#include "model/repository.h"
#include "model/setting/setting.h"

static struct str joined(const struct texts *texts, struct arena *arena) {
    struct writer writer = {.arena = arena};
    for (uint32_t i = 0; i < texts->count; i++) {
        if (i > 0)
            write_byte(&writer, ' ');
        write_raw(&writer, texts->at[i]);
    }
    return (struct str){writer.at, writer.len};
}

/* ---- agents ---- */

/* If the numbers of input and output tokens are not reported, the higher price counts: a budget should run out too
 * early rather than too late. */
static uint64_t price_of(const struct settings *settings, struct str model) {
    for (uint32_t i = 0; i < settings->lists.price_count; i++) {
        const struct price_setting *price = &settings->lists.prices[i];
        uint64_t in = money_of(price->in), out = money_of(price->out);
        if (str_equal(price->model, model))
            return in > out ? in : out;
    }
    return 0;
}

static void agent_take(const struct settings *settings, const struct agent_setting *from,
                       struct policy_agent *to) {
    struct str model = from->model.len ? from->model : settings->defaults.model;
    name_put(to->id, sizeof to->id, from->id);
    name_put(to->role, sizeof to->role, from->role);
    name_put(to->account, sizeof to->account, from->account.len ? from->account : from->id);
    name_put(to->model, sizeof to->model, model);
    name_put(to->team, sizeof to->team, from->team);
    to->most = (uint32_t)from->most;
    to->reserve = money_of(from->reserve.money);
    to->reserve_tokens = (uint64_t)from->reserve.tokens;
    to->dedupes = from->dedupes;
    to->price = price_of(settings, model);
}

/* CONFIG-01: until supervision is enabled, nothing is assigned automatically. */
static void agents_take(const struct settings *settings, struct policy *policy,
                        struct arena *arena) {
    uint32_t count = settings->supervision.enabled ? settings->lists.agent_count : 0;
    struct policy_agent *agents = arena_new(arena, struct policy_agent, count + 1);
    for (uint32_t i = 0; i < count; i++)
        agent_take(settings, &settings->lists.agents[i], &agents[i]);
    policy->dispatch.agents = agents;
    policy->dispatch.agent_count = count;
}

/* POLICY-01, POLICY-02: the first agent is allowed; others need the flag and an entry in the list. */
static struct str allowed(const struct settings *settings, struct arena *arena) {
    struct str first = settings->lists.agent_count ? settings->lists.agents[0].id : STR("");
    if (!settings->policy.allow_cross_agent)
        return first;
    struct str others = joined(&settings->policy.allow_agents, arena);
    if (str_equal(others, STR("*")))
        return STR("");
    return arena_format(arena, "%.*s %.*s", STR_ARG(first), STR_ARG(others));
}

/* ---- budgets and channels ---- */

static void budgets_take(const struct settings *settings, struct policy *policy,
                         struct arena *arena) {
    struct policy_budget *budgets =
        arena_new(arena, struct policy_budget, settings->lists.budget_count + 1);
    for (uint32_t i = 0; i < settings->lists.budget_count; i++) {
        const struct budget_setting *from = &settings->lists.budgets[i];
        uint32_t unit;
        uint64_t most;
        must(amount_parse(from->most, &unit, &most));
        bool day = str_equal(from->scope, STR("day"));
        name_put(budgets[i].scope, sizeof budgets[i].scope, from->scope);
        budgets[i].unit = (enum budget_unit)unit;
        budgets[i].most = most / 100 * (uint64_t)settings->budget.share +
                          most % 100 * (uint64_t)settings->budget.share / 100;
        budgets[i].window = day && from->window == 0 ? MINUTES(1440) : from->window;
    }
    policy->spending.budgets = budgets;
    policy->spending.budget_count = settings->lists.budget_count;
}

static void accounts_take(const struct settings *settings, struct policy *policy,
                          struct arena *arena) {
    struct policy_account *accounts =
        arena_new(arena, struct policy_account, settings->lists.account_count + 1);
    for (uint32_t i = 0; i < settings->lists.account_count; i++) {
        const struct account_setting *from = &settings->lists.accounts[i];
        name_put(accounts[i].name, sizeof accounts[i].name, from->name);
        accounts[i].mark = (uint32_t)from->mark;
        accounts[i].extra = from->extra_usage;
    }
    policy->spending.accounts = accounts;
    policy->spending.account_count = settings->lists.account_count;
}

static void channels_take(const struct settings *settings, struct policy *policy,
                          struct arena *arena) {
    struct policy_channel *channels =
        arena_new(arena, struct policy_channel, settings->lists.channel_count + 1);
    for (uint32_t i = 0; i < settings->lists.channel_count; i++) {
        const struct channel *from = &settings->lists.channels[i];
        name_put(channels[i].id, sizeof channels[i].id, from->id);
        name_put(channels[i].origins, sizeof channels[i].origins, joined(&from->origins, arena));
        channels[i].kind = from->kind;
        channels[i].least = from->least;
        channels[i].quiet = from->quiet;
    }
    policy->people.channels = channels;
    policy->people.channel_count = settings->lists.channel_count;
}

/* ---- the rest ---- */

/* The settings that a policy takes over as they are. */
#define TAKE(part, section, kind, key, member, number, fallback, least, most, text) \
    policy->part.member = (DECIDING_POLICY_##kind)settings->section.key

static void rows_take(const struct settings *settings, struct policy *policy) {
    DECIDING(TAKE, NEXT_STATEMENT);
}

/* A repository that is a local path is a different repository on each host. */
static struct policy_repository repository_row(const struct settings *settings,
                                               const struct repo_setting *from) {
    bool there = from->path.len > 0;
    struct policy_repository row = {.checks = {.by_person = settings->supervision.verify_by_person,
                                               .configured = there && from->verify.command.len > 0,
                                               .rounds = (uint32_t)from->verify.rounds,
                                               .within = from->verify.within},
                                    .landing = {.automatic = there && from->landing.how != LAND_NOT,
                                                .workspace_local = there && from->path.at[0] == '/',
                                                .rechecks = (uint32_t)from->landing.rechecks}};
    struct hash source = sha256(from->path);
    if (there)
        row.landing.workspace = le_get((const char *)source.bytes, 8);
    return row;
}

static void repositories_take(const struct settings *settings, struct policy *policy,
                              struct arena *arena) {
    struct repo_setting first = settings_first_repository(settings);
    struct policy_repository own = repository_row(settings, &first);
    struct policy_repository *rows =
        arena_new(arena, struct policy_repository, settings->lists.repo_count + 1);
    policy->checks = own.checks;
    policy->landing = own.landing;
    for (uint32_t i = 0; i < settings->lists.repo_count; i++) {
        rows[i] = repository_row(settings, &settings->lists.repos[i]);
        rows[i].key = repository_key(settings->lists.repos[i].name);
    }
    policy->repositories.at = rows;
    policy->repositories.count = settings->lists.repo_count;
}

static void watch_take(const struct settings *settings, struct policy *policy) {
    policy->act_within = settings->supervision.act_within;
    policy->recovery.allow_reassign = settings->supervision.allow_reassign;
    policy->liveness.tick_every = settings->supervision.tick_every;
    policy->liveness.idle_after = settings->supervision.idle_after;
    policy->recovery.first_rung = settings->supervision.first_rung;
    policy->recovery.max_retries = (uint32_t)settings->supervision.max_retries;
    policy->recovery.max_attempts = (uint32_t)settings->supervision.max_attempts;
    policy->recovery.backoff_base = settings->supervision.backoff_base;
    policy->recovery.backoff_max = settings->supervision.backoff_max;
    policy->recovery.min_resend = settings->supervision.min_resend_interval;
    policy->recovery.planner = settings->planner.model.len > 0;
    policy->recovery.orphan_after = settings->fleet.orphan_after;
    policy->spending.quota_guess = settings->budget.quota_guess;
}

static void people_take(const struct settings *settings, struct policy *policy) {
    policy->people.auto_escalate = settings->escalation.auto_escalate;
    policy->people.notify_below = settings->people.notify_below;
    policy->people.say_again = settings->people.say_again;
    policy->people.say_again_most = settings->people.say_again_most;
    policy->people.say_most = (uint32_t)settings->people.say_most;
    must(hours_parse(settings->people.quiet_hours, &policy->people.quiet_from,
                     &policy->people.quiet_to));
}

struct policy settings_to_policy(const struct settings *settings, struct arena *arena) {
    struct policy policy = {.plans.approve = settings->plans.approve,
                            .plans.agents = joined(&settings->plans.agents, arena),
                            .dispatch.allow_agents = allowed(settings, arena)};
    agents_take(settings, &policy, arena);
    budgets_take(settings, &policy, arena);
    accounts_take(settings, &policy, arena);
    channels_take(settings, &policy, arena);
    rows_take(settings, &policy);
    repositories_take(settings, &policy, arena);
    watch_take(settings, &policy);
    people_take(settings, &policy);
    return policy;
}
