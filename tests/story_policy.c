/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the policy of a story, every field by its name: "policy idle-after 15m, max-retries 2". */
#include "story.h"

#include <stdlib.h>

/* Every agent that is started does only what the story says. */
void puppets(struct story *story) {
    fleet_agents(story->fleet, 1);
    memset(story->fleet->cast->weights, 0, sizeof story->fleet->cast->weights);
    story->fleet->cast->weights[PRETEND_PUPPET] = 1;
    if (story->fleet->host_count > 1)
        fleet_hosts_matter(story->fleet);
}

void policy_apply(struct story *story, struct policy policy) {
    policy.dispatch.agents = story->agents;
    policy.spending.budgets = story->budgets;
    policy.people.channels = story->channels;
    fleet_policy(story->fleet, policy_seal(policy));
    if (!story->fleet->cast)
        puppets(story);
}

static uint32_t word_number(struct story *story, const char *word) {
    static const char *const NO[] = {"none", "no", "forbidden", "never", "off"};
    static const char *const YES[] = {"yes", "allowed", "on"};
    uint32_t rung;
    for (size_t i = 0; i < count_of(NO); i++)
        if (strcmp(word, NO[i]) == 0)
            return 0;
    for (size_t i = 0; i < count_of(YES); i++)
        if (strcmp(word, YES[i]) == 0)
            return 1;
    if (names_find(&RUNG_NAMES, str_of(word), &rung))
        return rung;
    return number_of(story, word);
}

static int64_t span_of(struct story *story, const char *word) {
    int64_t span = 0;
    if (!span_parse(str_of(word), &span))
        fails(story, "\"%s\" is no span of time", word);
    return span;
}

static void field_set(struct story *story, const struct field *field, struct policy *policy,
                      const char *word) {
    char *at = (char *)policy + field->offset;
    switch (field->type) {
    case FIELD_INT: *(int64_t *)(void *)at = span_of(story, word); break;
    case FIELD_U32: *(uint32_t *)(void *)at = word_number(story, word); break;
    case FIELD_TEXT: *(struct str *)(void *)at = arena_copy(&story->arena, str_of(word)); break;
    default: fails(story, "a story cannot set %s", field->name);
    }
}

/* Two settings that DESIGN writes in a shorter form. */
static bool setting_is_short(struct story *story, struct policy *policy, const char *name,
                             char *value) {
    if (strcmp(name, "reassign") == 0) {
        policy->recovery.allow_reassign = word_number(story, value);
        return true;
    }
    char *to = strstr(value, "..");
    if (!to)
        return false;
    *to = 0;
    policy->recovery.backoff_base = span_of(story, value);
    policy->recovery.backoff_max = span_of(story, to + 2);
    return strcmp(name, "backoff") == 0;
}

static void policy_read(struct story *story, char **words, int count) {
    struct policy policy = story->fleet->policy;
    for (int i = 0; i + 1 < count && !story->failure[0]; i += 2) {
        char name[64];
        bool found = setting_is_short(story, &policy, words[i], words[i + 1]);
        snprintf(name, sizeof name, "%s", words[i]);
        for (char *at = name; *at; at++)
            *at = *at == '-' ? '_' : *at;
        for (size_t k = 0; k < POLICY.count && !found; k++)
            if (strcmp(POLICY.fields[k].name, name) == 0) {
                field_set(story, &POLICY.fields[k], &policy, words[i + 1]);
                found = true;
            }
        if (!found)
            fails(story, "a policy has no %s", words[i]);
    }
    policy_apply(story, policy);
}

/* ---- agents: NAME [as ROLE] [on ACCOUNT] [for TEAM] [with MODEL] [most N] [reserve N] [dedupes] ---- */

static void name_set(char *to, size_t size, const char *from) {
    snprintf(to, size, "%s", from);
}

static int agent_detail(struct story *story, struct policy_agent *agent, char **words, int left) {
    struct {
        const char *word;
        char *to;
    } names[] = {
        {"as", agent->role}, {"on", agent->account}, {"for", agent->team}, {"with", agent->model}};
    if (strcmp(words[0], "dedupes") == 0) {
        agent->dedupes = 1;
        return 1;
    }
    for (size_t i = 0; i < count_of(names) && left > 1; i++)
        if (strcmp(words[0], names[i].word) == 0) {
            name_set(names[i].to, LIMIT_AGENT + 1, words[1]);
            return 2;
        }
    if (left > 1 && strcmp(words[0], "most") == 0)
        agent->most = number_of(story, words[1]);
    else if (left > 1 && strcmp(words[0], "reserve") == 0)
        agent->reserve = number_of(story, words[1]);
    else
        return 0;
    return 2;
}

static void agents_read(struct story *story, char **words, int count) {
    struct policy policy = story->fleet->policy;
    policy.dispatch.agent_count = 0;
    for (int i = 0; i < count && policy.dispatch.agent_count < LIMIT_POLICY_AGENTS;) {
        struct policy_agent *agent = &story->agents[policy.dispatch.agent_count++];
        *agent = (struct policy_agent){0};
        name_set(agent->id, sizeof agent->id, words[i++]);
        for (int taken;
             i < count && (taken = agent_detail(story, agent, words + i, count - i)) > 0;)
            i += taken;
    }
    policy_apply(story, policy);
}

void agent_hire(struct story *story, const char *name) {
    struct policy policy = story->fleet->policy;
    if (agent_is_adopted(str_of(name)) ||
        (policy.dispatch.agent_count > 0 && policy_agent(&policy, str_of(name))))
        return;
    struct policy_agent *agent = &story->agents[policy.dispatch.agent_count++];
    *agent = (struct policy_agent){0};
    name_set(agent->id, sizeof agent->id, name);
    policy_apply(story, policy);
}

/* "budget fleet money 5000 in 24h" */
static void budget_read(struct story *story, char **words, int count) {
    struct policy policy = story->fleet->policy;
    struct policy_budget *budget = &story->budgets[policy.spending.budget_count++];
    uint32_t unit = UNIT_MONEY;
    if (count < 3 || !names_find(&BUDGET_UNIT_NAMES, str_of(words[1]), &unit)) {
        fails(story, "budget SCOPE %s|%s|%s MOST [in SPAN]", name_of(&BUDGET_UNIT_NAMES, 0),
              name_of(&BUDGET_UNIT_NAMES, 1), name_of(&BUDGET_UNIT_NAMES, 2));
        return;
    }
    *budget =
        (struct policy_budget){.unit = (enum budget_unit)unit, .most = number_of(story, words[2])};
    name_set(budget->scope, sizeof budget->scope, words[0]);
    if (count == 5)
        budget->window = span_of(story, words[4]);
    policy_apply(story, policy);
}

/* "account acme mark 80", "account acme extra 1" */
static void account_read(struct story *story, char **words, int count) {
    struct policy policy = story->fleet->policy;
    bool extra = count == 3 && strcmp(words[1], "extra") == 0;
    if (count != 3 || (!extra && strcmp(words[1], "mark") != 0) ||
        policy.spending.account_count == LIMIT_ACCOUNTS) {
        fails(story, "account NAME mark|extra NUMBER");
        return;
    }
    struct policy_account *account = &story->accounts[policy.spending.account_count++];
    *account = (struct policy_account){.mark = extra ? 0 : number_of(story, words[2]),
                                       .extra = extra && number_of(story, words[2])};
    name_set(account->name, sizeof account->name, words[0]);
    policy.spending.accounts = story->accounts;
    policy_apply(story, policy);
}

/* "channels desk desktop, tracker github from web" */
static void channels_read(struct story *story, char **words, int count) {
    struct policy policy = story->fleet->policy;
    policy.people.channel_count = 0;
    for (int i = 0; i + 1 < count && policy.people.channel_count < LIMIT_CHANNELS; i += 2) {
        struct policy_channel *channel = &story->channels[policy.people.channel_count++];
        *channel = (struct policy_channel){0};
        name_set(channel->id, sizeof channel->id, words[i]);
        if (!names_find(&CHANNEL_KIND_NAMES, str_of(words[i + 1]), &channel->kind))
            fails(story, "there are no channels called %s", words[i + 1]);
        while (i + 2 < count && (strcmp(words[i + 2], "quiet") == 0)) {
            channel->quiet = 1;
            i++;
        }
    }
    policy_apply(story, policy);
}

bool policy_clause(struct story *story, char **words, int count) {
    static const struct {
        const char *word;
        void (*read)(struct story *story, char **words, int count);
    } ROWS[] = {{"policy", policy_read},
                {"agents", agents_read},
                {"budget", budget_read},
                {"account", account_read},
                {"channels", channels_read}};
    bool happens = count == 2 && (strcmp(words[1], "fail") == 0 || strcmp(words[1], "work") == 0);
    for (size_t i = 0; i < count_of(ROWS); i++)
        if (count > 1 && !happens && strcmp(words[0], ROWS[i].word) == 0) {
            ROWS[i].read(story, words + 1, count - 1);
            return true;
        }
    return false;
}
