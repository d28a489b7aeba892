/* SPDX-License-Identifier: Apache-2.0 */
/* Shows a host's admission: which assignments wait or run, what was spent, and whether the host has suspended itself. */
#include "ops/all.h"
#include "ops/json.h"
#include "ops/naming.h"
#include "ops/view.h"

#include <stdio.h>

enum { ADMISSION_SHOWN = 200 }; /* permits of each state */

#define PARAM_HOST \
    PARAM("host", FIELD_U32, host, 0, 0, \
          "the host whose admission state is shown; default: this daemon's")

static const struct field PARAMS[] = {PARAM_HOST};

struct admission_call {
    struct naming naming; /* of admission.show */
    struct id admission;
};

static uint32_t host_of(const struct op_call *call) {
    return call->args.host ? call->args.host : call->facts ? call->facts->host : 0;
}

static bool request(struct op_call *call, struct store_request *ret) {
    struct admission_call *own = arena_new(&call->arena, struct admission_call, 1);
    own->admission = admission_id(host_of(call));
    call->own = own;
    *ret = (struct store_request){
        .verb = STORE_SHOW, .ids = &own->admission, .id_count = 1, .limit = LIMIT_SHOWN_RECORDS};
    return true;
}

/* ---- budgets ---- */

static const struct budget *spent_of(const struct live *live, const struct policy_budget *most) {
    return budgets_find(&live->budgets, str_of(most->scope), most->unit, most->window);
}

static json_t *budget_json(const struct policy_budget *most, const struct budget *spent) {
    uint64_t used = spent ? spent->spent : 0, held = spent ? spent->reserved : 0;
    char window[SPAN_TEXT];
    span_format(most->window, window);
    uint64_t left = used + held < most->most ? most->most - used - held : 0;
    json_t *json =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:o}", "scope", most->scope, "unit",
                  name_of(&BUDGET_UNIT_NAMES, most->unit), "most", (json_int_t)most->most, "spent",
                  (json_int_t)used, "reserved", (json_int_t)held, "left", (json_int_t)left,
                  "window", most->window ? json_string(window) : json_null());
    json_object_set_new(json, "since", json_of_time(spent ? spent->since : 0));
    return json;
}

/* Limits on what a goal may spend in total are kept with the goal. */
static json_t *budgets_json(const struct op_call *call, const struct live *live) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < call->policy->spending.budget_count; i++) {
        const struct policy_budget *most = &call->policy->spending.budgets[i];
        json_array_append_new(list, budget_json(most, spent_of(live, most)));
    }
    return list;
}

static json_t *accounts_json(const struct live *live) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < live->accounts.count; i++) {
        const struct account *account = &live->accounts.at[i];
        if (account->limited_until == 0 && !account->guessed)
            continue;
        json_array_append_new(list, json_pack("{s:s, s:o, s:b}", "account", account->name,
                                              "limitedUntil", json_of_time(account->limited_until),
                                              "guessed", (int)account->guessed));
    }
    return list;
}

static json_t *budget_result(struct op_call *call, const struct store_answer *answer) {
    json_ran_short();
    const struct live *live = &answer->loaded[0].live;
    if (answer->loaded[0].exists && !view_is_whole(call, answer))
        return NULL;
    json_t *json = json_pack("{s:i, s:o, s:o}", "host", (int)host_of(call), "budgets",
                             budgets_json(call, live), "accounts", accounts_json(live));
    return view_checked(call, json);
}

static const struct op_member BUDGET_MEMBERS[] = {
    {"host", MEMBER_NUMBER, true, "the host"},
    {"budgets", MEMBER_LIST, true,
     "scope, unit (money in millionths, tokens, starts), most, spent, reserved, left, window, since"},
    {"accounts", MEMBER_LIST, true, "at their limit: account, limitedUntil, guessed"},
};

const struct op OP_BUDGET_SHOW = {
    .name = "budget.show",
    .summary =
        "Show budgets: limits, spending and reservations, and accounts that are at their limit.",
    .help =
        "Budgets are settings: see [[budgets]] in overseer.toml(5). Each host has its own share.\n"
        "Example: overseer budget show",
    .kind = OP_READS,
    .may = MAY_LOOK,
    OP_PARAMS(PARAMS),
    OP_MEMBERS(BUDGET_MEMBERS),
    .wants_facts = true,
    .request = request,
    .result = budget_result,
};

/* ---- admission ---- */

static json_t *permit_json(const struct permit *permit) {
    char goal[GOAL_ID_TEXT + 1], assignment[16];
    goal_id_format(permit->goal, goal);
    snprintf(assignment, sizeof assignment, "A_%u", permit->assignment);
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:s, s:I, s:I}", "goalId", goal, "assignmentId", assignment,
                  "agentId", permit->agent, "wants", name_of(&PERMIT_KIND_NAMES, permit->wants),
                  "score", (json_int_t)permit->score, "reserved", (json_int_t)permit->reserved);
    json_object_set_new(json, "askedAt", json_of_time(permit->asked_at));
    json_object_set_new(json, "grantedAt", json_of_time(permit->granted_at));
    return json;
}

static json_t *permits_json(const struct live *live, enum permit_state state, uint32_t *ret_count) {
    json_t *list = json_array();
    *ret_count = 0;
    for (uint32_t i = 0; i < live->permits.count; i++) {
        if (live->permits.at[i].state != state)
            continue;
        if ((*ret_count)++ < ADMISSION_SHOWN)
            json_array_append_new(list, permit_json(&live->permits.at[i]));
    }
    return list;
}

static json_t *admission_json(struct op_call *call, const struct goal_loaded *loaded) {
    uint32_t waits, runs;
    json_t *waiting = permits_json(&loaded->live, PERMIT_WAITING, &waits),
           *running = permits_json(&loaded->live, PERMIT_GRANTED, &runs);
    return json_pack("{s:i, s:b, s:i, s:i, s:o, s:o, s:o, s:o}", "host", (int)host_of(call),
                     "suspended", (int)loaded->goal.pace.suspended, "waitingCount", (int)waits,
                     "runningCount", (int)runs, "waiting", waiting, "running", running, "accounts",
                     accounts_json(&loaded->live), "budgets", budgets_json(call, &loaded->live));
}

static bool admission_request(struct op_call *call, struct store_request *ret) {
    static const char *const LISTS[] = {"waiting", "running", NULL};
    bool made = request(call, ret);
    struct admission_call *own = call->own;
    own->naming = (struct naming){.make = admission_json, .lists = LISTS};
    return made;
}

static const struct op_member ADMISSION_MEMBERS[] = {
    {"host", MEMBER_NUMBER, true, "the host"},
    {"suspended", MEMBER_FLAG, true, "it has suspended itself until a person releases it"},
    {"waitingCount", MEMBER_NUMBER, true, "assignments that wait for a permit"},
    {"runningCount", MEMBER_NUMBER, true, "assignments that have one"},
    {"waiting", MEMBER_LIST, true,
     "goalId, name, title, assignmentId, agentId, wants, score, reserved, askedAt, grantedAt; at most 200"},
    {"running", MEMBER_LIST, true, "the same"},
    {"accounts", MEMBER_LIST, true, "at their limit: account, limitedUntil, guessed"},
    {"budgets", MEMBER_LIST, true, "as budget.show gives them"},
};

const struct op OP_ADMISSION_SHOW = {
    .name = "desk.show",
    .alias = "admission.show",
    .summary =
        "Show the admission state of a host: which assignments wait, which run, and what limits them.",
    .help = "Example: overseer desk show",
    .kind = OP_READS,
    .may = MAY_LOOK,
    OP_PARAMS(PARAMS),
    OP_MEMBERS(ADMISSION_MEMBERS),
    .wants_facts = true,
    .request = admission_request,
    .next = naming_next,
    .result = naming_result,
};

static const struct field RELEASE[] = {
    PARAM_REASON(FIELD_REQUIRED),
    PARAM_HOST,
    PARAM_KEY,
    PARAM_TRACE,
};

static bool release_signal(struct op_call *call, const struct store_answer *answer,
                           struct signal *ret) {
    if (!answer || !answer->loaded[0].exists)
        return op_refuse(call, ERROR_NOT_FOUND, "That host has started nothing yet.");
    ret->kind = SIGNAL_ADMISSION_RELEASE;
    ret->goal = admission_id(host_of(call));
    ret->admission = host_of(call);
    ret->reason = call->args.reason;
    return true;
}

const struct op OP_ADMISSION_RELEASE = {
    .name = "desk.release",
    .alias = "admission.release",
    .summary = "Release a host that suspended itself after too many interventions at once.",
    .help = "First check what it wanted to do: overseer desk show.\n"
            "Example: overseer desk release --reason \"the network was down\"",
    .kind = OP_WRITES,
    .may = MAY_HUMAN,
    OP_PARAMS(RELEASE),
    .wants_facts = true,
    .request = request,
    .signal = release_signal,
};
