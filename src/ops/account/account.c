/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the accounts of agents: quota windows, marks, paid extra usage, and the logins of runs. docs/decisions/0019. */
#include "ops/account/account.h"

#include "core/admission/quota.h"
#include "ops/all.h"
#include "ops/json.h"
#include "ops/view.h"

/* ---- one account ---- */

/* Its use is null if it is unknown, also because the window was reset since the report. */
static json_t *window_json(const struct account *window, int64_t now) {
    bool holds = account_holds_until(window) > now;
    json_t *used = holds && window->used ? json_real((window->used - 1) / 10000.0) : json_null();
    return json_pack("{s:s, s:o, s:o, s:o, s:s}", "window", window->window, "used", used,
                     "resetsAt", json_of_time(holds ? window->resets_at : 0), "seenAt",
                     json_of_time(window->seen_at), "status",
                     name_of(&QUOTA_STATUS_NAMES, holds ? window->status : QUOTA_UNKNOWN));
}

static json_t *windows_json(const struct live *live, const char *account, int64_t now) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < live->accounts.count; i++) {
        const struct account *row = &live->accounts.at[i];
        if (row->window[0] && name_same(row->name, account))
            json_array_append_new(list, window_json(row, now));
    }
    return list;
}

static json_t *overage_json(const struct account *account, bool allowed) {
    enum overage_state state = account ? account->overage : OVERAGE_NONE;
    json_t *json =
        json_pack("{s:b, s:s}", "allowed", allowed, "state", name_of(&OVERAGE_NAMES, state));
    if (state == OVERAGE_NONE)
        return json;
    json_object_set_new(json, "since", json_of_time(account->overage_at));
    json_object_set_new(json, "until", json_of_time(account->overage_until));
    json_object_set_new(json, "inFlight", json_integer(account->in_flight));
    return json;
}

static json_t *account_json(const struct op_call *call, const struct live *live, const char *name) {
    const struct account *account = accounts_find(&live->accounts, str_of(name));
    const struct policy_account *policy = account_policy(call->policy, name);
    json_t *agents = json_array();
    for (uint32_t i = 0; i < call->policy->dispatch.agent_count; i++)
        if (name_same(call->policy->dispatch.agents[i].account, name))
            json_array_append_new(agents, json_string(call->policy->dispatch.agents[i].id));
    json_t *json = json_pack("{s:s, s:o, s:o, s:o, s:o}", "account", name, "agents", agents,
                             "windows", windows_json(live, name, call->at), "mark",
                             policy && policy->mark ? json_integer(policy->mark) : json_null(),
                             "extraUsage", overage_json(account, policy && policy->extra));
    json_object_set_new(json, "limitedUntil", json_of_time(account ? account->limited_until : 0));
    json_object_set_new(json, "guessed", json_boolean(account && account->guessed));
    return json;
}

static bool comes_first(const struct policy *policy, uint32_t place) {
    for (uint32_t i = 0; i < place; i++)
        if (name_same(policy->dispatch.agents[i].account, policy->dispatch.agents[place].account))
            return false;
    return true;
}

json_t *accounts_shown(const struct op_call *call, const struct live *live) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < call->policy->dispatch.agent_count; i++)
        if (comes_first(call->policy, i))
            json_array_append_new(
                list, account_json(call, live, call->policy->dispatch.agents[i].account));
    return list;
}

/* ---- for other operations ---- */

bool account_is_known(const struct live *live, const char *account) {
    for (uint32_t i = 0; i < live->accounts.count; i++)
        if (live->accounts.at[i].window[0] && live->accounts.at[i].used &&
            name_same(live->accounts.at[i].name, account))
            return true;
    return false;
}

struct str account_waits(const struct op_call *call, const struct live *live, const char *account,
                         uint32_t mark, int64_t *ret_until) {
    struct arena *arena = (struct arena *)(uintptr_t)&call->arena;
    const struct account *row = accounts_find(&live->accounts, str_of(account));
    uint32_t both = quota_mark(call->policy, account, mark);
    const struct account *window = quota_bound(&live->accounts, account, both, call->at);
    *ret_until = 0;
    if (row && account_is_held(row, call->at)) {
        *ret_until = row->overage_until;
        return arena_format(
            arena, "account %s, which would use paid extra usage: see overseer inbox", account);
    }
    if (window) {
        *ret_until = account_holds_until(window);
        return quota_words(window, both, arena);
    }
    if (!row || row->limited_until <= call->at)
        return (struct str){0};
    *ret_until = row->limited_until;
    return arena_format(arena, "account %s, which is at its limit", account);
}

/* ---- account.list ---- */

static bool request(struct op_call *call, struct store_request *ret) {
    struct id *admission = arena_new(&call->arena, struct id, 1);
    *admission = admission_id(call->facts ? call->facts->host : 0);
    *ret = (struct store_request){.verb = STORE_SHOW, .ids = admission, .id_count = 1, .limit = 1};
    return true;
}

static json_t *login_json(const struct op_login *login) {
    json_t *json = json_pack("{s:s, s:s, s:s}", "agent", login->agent, "kind", login->kind, "text",
                             login->text);
    json_object_set_new(json, "expiresAt", json_of_time(login->expires_at));
    return json;
}

static void logins_put(const struct op_call *call, json_t *accounts) {
    size_t i;
    json_t *account;
    json_array_foreach(accounts, i, account) {
        json_t *list = json_array(), *agents = json_object_get(account, "agents"), *agent;
        size_t k;
        json_array_foreach(agents, k, agent) {
            for (uint32_t n = 0; call->logins && n < call->logins->count; n++)
                if (strcmp(call->logins->at[n].agent, json_string_value(agent)) == 0)
                    json_array_append_new(list, login_json(&call->logins->at[n]));
        }
        json_object_set_new(account, "logins", list);
    }
}

static json_t *result(struct op_call *call, const struct store_answer *answer) {
    const struct goal_loaded *loaded = &answer->loaded[0];
    if (loaded->exists && !view_is_whole(call, answer))
        return NULL;
    json_ran_short();
    json_t *accounts = accounts_shown(call, &loaded->live);
    logins_put(call, accounts);
    return view_checked(call, json_pack("{s:o}", "accounts", accounts));
}

static const struct op_member MEMBERS[] = {
    {"accounts", MEMBER_LIST, true,
     "account, agents, logins (agent, kind, text, expiresAt), windows (window, used from 0 to 1 or null: unknown, "
     "resetsAt, seenAt, status), mark in percent, extraUsage (allowed, state, since, until, inFlight), limitedUntil, "
     "guessed"},
};

const struct op OP_ACCOUNT_LIST = {
    .name = "account.list",
    .summary = "List the accounts of agents: logins, quota windows, marks, paid extra usage.",
    .help =
        "Windows are what the agent programs have reported, with the age of the report; what no program has\n"
        "reported is unknown. See [[accounts]] in overseer.toml(5).\n"
        "Example: overseer account list",
    .kind = OP_READS,
    .may = MAY_LOOK,
    OP_MEMBERS(MEMBERS),
    .wants_facts = true,
    .wants_logins = true,
    .request = request,
    .result = result,
};

/* ---- marks ---- */

bool quota_request(struct op_call *call, struct store_request *ret) {
    if (call->args.quota == 0)
        return false;
    struct id *admission = arena_new(&call->arena, struct id, 1);
    *admission = admission_id(call->facts ? call->facts->host : 0);
    *ret = (struct store_request){.verb = STORE_SHOW, .ids = admission, .id_count = 1, .limit = 1};
    return true;
}

bool quota_is_kept(struct op_call *call, const struct store_answer *answer, struct str name) {
    const struct policy *policy = call->policy;
    const struct policy_agent *agent = name.len > 0 ? policy_agent(policy, name)
                                       : policy->dispatch.agent_count > 0
                                           ? &policy->dispatch.agents[0]
                                           : NULL;
    if (call->args.quota == 0)
        return true;
    if (call->args.quota > 100)
        return op_refuse(call, ERROR_INVALID, "\"quota\" is a percentage from 1 to 100.");
    if (!agent)
        return op_refuse(call, ERROR_NOT_FOUND, "There is no agent whose quota could be meant.");
    if (answer && answer->loaded[0].exists &&
        account_is_known(&answer->loaded[0].live, agent->account))
        return true;
    return op_refuse(call, ERROR_CONFLICT,
                     "A quota mark cannot be kept: nothing has reported a quota window of account "
                     "%s yet. Run one task with it first, or: overseer doctor --live",
                     agent->account);
}
