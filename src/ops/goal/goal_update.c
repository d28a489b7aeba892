/* SPDX-License-Identifier: Apache-2.0 */
/* Operation that changes the definition of a goal. GOAL-12: fields that are not given stay unchanged. */
#include "ops/all.h"
#include "ops/json.h"
#include "ops/view.h"

static const struct field PARAMS[] = {
    PARAM_GOAL(FIELD_REQUIRED),
    PARAM("title", FIELD_TEXT, title, LIMIT_TITLE, 0,
          "the title: what should be achieved, in one line"),
    PARAM_ENUM("priority", priority, &PRIORITY_NAMES, 0, "low, normal, high or urgent"),
    {"tags", FIELD_TEXTS, 0, FIELD_OF(op_args, tags), LIMIT_TAG, 0, NULL,
     "all tags; they replace the old ones", LIMIT_TAGS, NULL},
    PARAM_REASON(0),
    PARAM_KEY,
    PARAM_TRACE,
};

static bool words_given(const json_t *params) {
    for (size_t i = 0; i < GOAL_TEXT.count; i++)
        if (op_given(params, GOAL_TEXT.fields[i].name))
            return true;
    return false;
}

/* Merges the given fields into the current definition. */
static bool words_merge(struct op_call *call, const struct store_answer *answer,
                        struct signal *ret) {
    const struct goal *goal = &answer->loaded[0].goal;
    struct goal_text words = {0};
    struct str body = shown_text(&answer->shown, &goal->text);
    if (body.len > 0 && !shape_decode_in(&GOAL_TEXT, body, &call->arena, &words))
        return op_refuse(call, ERROR_REFUSED_BY_STORE, "The stored definition cannot be read.");
    json_get_fields(call->params, GOAL_TEXT.fields, GOAL_TEXT.count, &call->arena, &words,
                    call->why, sizeof call->why);
    ret->body = shape_encode(&GOAL_TEXT, &words, &call->arena);
    ret->describe.base = goal->text;
    return true;
}

static bool signal(struct op_call *call, const struct store_answer *answer, struct signal *ret) {
    const struct op_args *args = &call->args;
    struct tags tags = {args->tags};
    if (!view_is_whole(call, answer))
        return false;
    ret->kind = SIGNAL_GOAL_UPDATE;
    ret->goal = args->goal_id;
    ret->describe.title = args->title;
    ret->reason = args->reason;
    ret->describe.priority = args->priority;
    ret->to = !op_given(call->params, "priority");
    if (op_given(call->params, "tags"))
        ret->describe.tags = shape_encode(&TAGS, &tags, &call->arena);
    return !words_given(call->params) || words_merge(call, answer, ret);
}

const struct op OP_GOAL_UPDATE = {
    .name = "goal.update",
    .summary = "Change a goal's title, priority, tags or definition.",
    .help = "Fields that are not given stay as they were.\n"
            "Example: overseer goal update 01JC7Q4T9Z --priority high",
    .kind = OP_WRITES,
    .may = MAY_MANAGE,
    OP_PARAMS(PARAMS),
    .positional = 1,
    .words = &GOAL_TEXT,
    .words_offset = offsetof(struct op_args, words),
    .merges = true,
    .request = show_request,
    .signal = signal,
};
