/* SPDX-License-Identifier: Apache-2.0 */
/* Which operations are there? */
#include "ops/op.h"

#include "ops/all.h"
#include "ops/json.h"

#include <stdarg.h>
#include <stdio.h>

const struct op *const OPS[] = {
    &OP_GOAL_CREATE,    &OP_GOAL_UPDATE,  &OP_GOAL_REPORT,   &OP_GOAL_SHOW,     &OP_GOAL_LIST,
    &OP_GOAL_TALLY,     &OP_GOAL_PAUSE,   &OP_GOAL_RESUME,   &OP_GOAL_COMPLETE, &OP_GOAL_REOPEN,
    &OP_GOAL_CANCEL,    &OP_GOAL_ARCHIVE, &OP_GOAL_RELEASE,  &OP_PLAN_SHOW,     &OP_PLAN_APPLY,
    &OP_PLAN_APPROVE,   &OP_PLAN_REJECT,  &OP_PLAN_REVIEW,   &OP_PLAN_HISTORY,  &OP_PLAN_INSIGHTS,
    &OP_PLAN_RECOMMEND, &OP_WORK_ADD,     &OP_WORK_START,    &OP_WORK_BLOCK,    &OP_WORK_UNBLOCK,
    &OP_WORK_DONE,      &OP_WORK_CANCEL,  &OP_WORK_OVERRIDE, &OP_WORK_FOLLOW,   &OP_RUN_UPDATE,
};
const size_t OP_COUNT = count_of(OPS);

static const char *const MODE[MODES] = {"apply", "draft"};
const struct names MODE_NAMES = NAMES_OF(MODE);

const struct op *op_find(struct str name) {
    for (size_t i = 0; i < OP_COUNT; i++)
        if (str_equal(str_of(OPS[i]->name), name))
            return OPS[i];
    return NULL;
}

void goal_id_format(struct id id, char text[GOAL_ID_TEXT + 1]) {
    memcpy(text, "goal_", 5);
    id_format(id, text + 5);
}

bool goal_id_parse(struct str text, struct id *ret_id) {
    if (text.len > 5 && memcmp(text.at, "goal_", 5) == 0)
        text = (struct str){text.at + 5, text.len - 5};
    return id_parse(text, ret_id);
}

bool op_given(const json_t *params, const char *name) {
    const json_t *value = json_object_get(params, name);
    return value && !json_is_null(value);
}

bool op_refuse(struct op_call *call, enum error error, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(call->why, sizeof call->why, format, args);
    va_end(args);
    call->error = error;
    return false;
}

static const struct field *param_named(const struct op *op, const char *name) {
    const struct field *field = json_field_named(op->params, op->param_count, name);
    if (!field && op->words)
        field = json_field_named(op->words->fields, op->words->count, name);
    return field && !(field->flags & FIELD_HIDDEN) ? field : NULL;
}

static bool params_are_known(struct op_call *call, const json_t *params) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)params, name, value) {
        if (!param_named(call->op, name))
            return op_refuse(call, ERROR_INVALID, "\"%.64s\" is not a parameter of this operation.",
                             name);
    }
    return true;
}

bool op_args_read(struct op_call *call, const json_t *params) {
    const struct op *op = call->op;
    call->params = params;
    call->error = ERROR_INVALID;
    if (params && !json_is_object(params))
        return op_refuse(call, ERROR_INVALID, "\"params\" has to be an object.");
    if (!params_are_known(call, params) ||
        !json_get_fields(params, op->params, op->param_count, &call->arena, &call->args, call->why,
                         sizeof call->why))
        return false;
    if (op->words &&
        !json_get_fields(params, op->words->fields, op->words->count, &call->arena,
                         (char *)&call->args + op->words_offset, call->why, sizeof call->why))
        return false;
    if (call->args.goal.len > 0 && !goal_id_parse(call->args.goal, &call->args.goal_id))
        return op_refuse(
            call, ERROR_INVALID,
            "\"goal\" is not a goal's id; one looks like goal_01JC7Q4T9ZJ5X0M2K8W3R6VYHN.");
    call->error = ERROR_NONE;
    return true;
}

void op_call_free(struct op_call *call) {
    json_decref(call->result);
    arena_free(&call->arena);
}
