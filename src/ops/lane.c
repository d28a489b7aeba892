/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that show, hold and release the landing lane. model/repository.h */
#include "model/repository.h"

#include "ops/all.h"
#include "ops/json.h"
#include "ops/naming.h"
#include "ops/repository.h"
#include "ops/view.h"

#include <stdio.h>

enum { LANE_SHOWN = 200 };

struct lane_call {
    struct naming naming;
    struct id workspace;
    uint64_t repository;
};

static json_t *entry_json(const struct permit *permit) {
    char goal[GOAL_ID_TEXT + 1], assignment[16], at[TIME_TEXT + 1];
    goal_id_format(permit->goal, goal);
    snprintf(assignment, sizeof assignment, "A_%u", permit->assignment);
    time_format(permit->state == PERMIT_GRANTED ? permit->granted_at : permit->asked_at, at);
    return json_pack("{s:s, s:s, s:s, s:b, s:s}", "goalId", goal, "assignmentId", assignment,
                     "agentId", permit->agent, "slot", permit->state == PERMIT_GRANTED, "since",
                     at);
}

static json_t *lane_json(struct op_call *call, const struct goal_loaded *loaded) {
    (void)call;
    json_t *list = json_array();
    for (uint32_t i = 0; i < loaded->live.permits.count && i < LANE_SHOWN; i++)
        json_array_append_new(list, entry_json(&loaded->live.permits.at[i]));
    return json_pack("{s:b, s:i, s:o}", "held", (int)loaded->goal.pace.suspended, "count",
                     (int)loaded->live.permits.count, "lane", list);
}

static const char *const LISTS[] = {"lane", NULL};

static bool request(struct op_call *call, struct store_request *ret) {
    struct lane_call *own = arena_new(&call->arena, struct lane_call, 1);
    if (!repository_take(call, &own->repository))
        return false;
    own->naming = (struct naming){.make = lane_json, .lists = LISTS};
    own->workspace = repository_workspace(call, own->repository);
    call->own = own;
    *ret = (struct store_request){
        .verb = STORE_SHOW, .ids = &own->workspace, .id_count = 1, .limit = 1};
    return true;
}

static const struct field SHOW[] = {PARAM_REPO};

static const struct op_member MEMBERS[] = {
    {"held", MEMBER_FLAG, true, "a person holds it: nothing new lands"},
    {"count", MEMBER_NUMBER, true, "how many wait or are landing"},
    {"lane", MEMBER_LIST, true,
     "in order: goalId, name, title, assignmentId, agentId, slot (it lands now), since; at most 200"},
};

const struct op OP_LANE_SHOW = {
    .name = "lane.show",
    .summary = "Show the landing lane: the work that lands now, and the work that waits.",
    .help =
        "One piece of work lands at a time. Its landing commit is built on the target's tip, checked, and pushed only if "
        "the tip is still the same.\n"
        "Example: overseer lane show",
    .kind = OP_READS,
    .may = MAY_LOOK,
    OP_PARAMS(SHOW),
    OP_MEMBERS(MEMBERS),
    .wants_facts = true,
    .wants_repositories = true,
    .request = request,
    .next = naming_next,
    .result = naming_result,
};

static const struct field HOLD[] = {PARAM_REASON(FIELD_REQUIRED), PARAM_REPO, PARAM_KEY,
                                    PARAM_TRACE};
static const struct field RELEASE[] = {PARAM_REASON(0), PARAM_REPO, PARAM_KEY, PARAM_TRACE};

static bool hold_signal(struct op_call *call, const struct store_answer *answer,
                        struct signal *ret) {
    (void)answer;
    uint32_t host = call->facts ? call->facts->host : 0;
    ret->kind = SIGNAL_LANE_HOLD;
    const struct lane_call *own = call->own;
    ret->goal = own->workspace;
    ret->describe.repository = own->repository;
    ret->admission = host;
    ret->to = call->op->to;
    ret->reason = call->args.reason;
    return true;
}

const struct op OP_LANE_HOLD = {
    .name = "lane.hold",
    .summary = "Hold the landing lane: the current landing finishes, and nothing else lands.",
    .help = "Example: overseer lane hold --reason \"release freeze\"",
    .kind = OP_WRITES,
    .may = MAY_HUMAN,
    OP_PARAMS(HOLD),
    .to = 1,
    .wants_facts = true,
    .wants_repositories = true,
    .request = request,
    .signal = hold_signal,
};

const struct op OP_LANE_RELEASE = {
    .name = "lane.release",
    .summary = "Release the landing lane.",
    .help = "Example: overseer lane release",
    .kind = OP_WRITES,
    .may = MAY_HUMAN,
    OP_PARAMS(RELEASE),
    .to = 0,
    .wants_facts = true,
    .wants_repositories = true,
    .request = request,
    .signal = hold_signal,
};
