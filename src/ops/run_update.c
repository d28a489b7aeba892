/* SPDX-License-Identifier: Apache-2.0 */
/* Operation that changes some fields of a run's record. STORE-22: fields that are not given stay unchanged; the change
 * is durable when the answer arrives. */
#include "ops/all.h"
#include "ops/json.h"
#include "ops/view.h"

static const struct field PARAMS[] = {PARAM_GOAL(FIELD_REQUIRED), PARAM_KEY};

static const struct part_shown *run_shown(const struct goal_shown *shown, struct str id) {
    for (uint32_t i = 0; i < shown->part_count; i++)
        if (shown->parts[i].kind == PART_RUN && str_equal(shown->parts[i].name, id))
            return &shown->parts[i];
    return NULL;
}

static bool signal(struct op_call *call, const struct store_answer *answer, struct signal *ret) {
    struct run_row run = {0};
    if (!view_is_whole(call, answer))
        return false;
    if (call->args.run_patch.id.len == 0)
        return op_refuse(call, ERROR_INVALID, "\"runId\" is missing: name a run, such as R_1.");
    const struct part_shown *shown = run_shown(&answer->shown, call->args.run_patch.id);
    if (shown && !shape_decode(&RUN_ROW, shown->body, &run))
        return op_refuse(call, ERROR_REFUSED_BY_STORE, "The stored run cannot be read.");
    json_get_fields(call->params, RUN_ROW.fields, RUN_ROW.count, &call->arena, &run, call->why,
                    sizeof call->why);
    ret->kind = SIGNAL_PART_PUT;
    ret->goal = call->args.goal_id;
    ret->to = PART_RUN;
    ret->effect = shown ? shown->n + 1 : 0;
    ret->plan.expected = answer->loaded[0].goal.version;
    ret->body = shape_encode(&RUN_ROW, &run, &call->arena);
    return true;
}

const struct op OP_RUN_UPDATE = {
    .name = "run.update",
    .summary = "Store a run, or change some of its fields; the others stay as they were.",
    .help = "Example: overseer run update 01JC7Q4T9Z --run-id R_1 --verification passed",
    .kind = OP_WRITES,
    .may = MAY_MANAGE,
    OP_PARAMS(PARAMS),
    .positional = 1,
    .words = &RUN_ROW,
    .words_offset = offsetof(struct op_args, run_patch),
    .merges = true,
    .request = show_request,
    .signal = signal,
};
