/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all operations, and the reading and checking of their arguments. */
#include "ops/op.h"
#include "ops/tool.h"

#include "ops/json.h"

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

/* A complete id, a prefix of one, or a name such as T7. */
static bool goal_is_read(struct op_args *args) {
    if (args->goal.len == 0 || goal_id_parse(args->goal, &args->goal_id))
        return true;
    args->goal_begins = task_name_parse(args->goal, &args->goal_number) ||
                        goal_id_range(args->goal, &args->goal_first, &args->goal_last);
    return args->goal_begins;
}

/* A run has only one goal and need not name it: see op_allows(). */
static bool is_understood(const struct op_call *call, const struct field *field) {
    return call->caller && call->caller->role == ROLE_RUN && strcmp(field->name, "goal") == 0 &&
           !op_given(call->params, "goal");
}

static bool params_get(struct op_call *call) {
    const struct op *op = call->op;
    for (size_t i = 0; i < op->param_count; i++)
        if (!is_understood(call, &op->params[i]) &&
            !json_get_fields(call->params, &op->params[i], 1, &call->arena, &call->args_read,
                             call->why, sizeof call->why))
            return false;
    return true;
}

bool op_args_read(struct op_call *call, const json_t *params) {
    const struct op *op = call->op;
    call->params = params;
    call->error = ERROR_INVALID;
    if (params && !json_is_object(params))
        return op_refuse(call, ERROR_INVALID, "\"params\" must be an object.");
    if (!params_are_known(call, params) || !params_get(call))
        return false;
    if (op->words &&
        !json_get_fields(params, op->words->fields, op->words->count, &call->arena,
                         (char *)&call->args_read + op->words_offset, call->why, sizeof call->why))
        return false;
    if (!goal_is_read(&call->args_read))
        return op_refuse(call, ERROR_INVALID,
                         "\"%.*s\" is not a goal: use a name such as T7, an id such as "
                         "goal_01JC7Q4T9ZJ5X0M2K8W3R6VYHN, or a unique prefix of it.",
                         STR_ARG(str_cut_utf8(call->args.goal, 40)));
    call->error = ERROR_NONE;
    return true;
}

static const char OTHER_GOAL[] = "A run may name only its own goal.";

/* A name such as T7 passes: it is compared when it is looked up, by op_goal_is_own(). */
static bool may_be_own_goal(const struct op_args *args, struct id own) {
    if (args->goal.len == 0 || args->goal_number)
        return true;
    if (args->goal_begins)
        return id_compare(args->goal_first, own) <= 0 && id_compare(own, args->goal_last) <= 0;
    return id_equal(args->goal_id, own);
}

bool op_allows(struct op_call *call) {
    const struct caller *caller = call->caller;
    if (!(call->op->may & 1u << caller->role))
        return op_refuse(call, ERROR_UNAUTHORIZED, "%s is not allowed for the role %s.",
                         call->op->name, name_of(&ROLE_NAMES, caller->role));
    if (tool_is_denied(call->op, caller)) /* SCOPE-05: checked at call time, for every interface */
        return op_refuse(call, ERROR_UNAUTHORIZED, "%s is not in the scope of this run.",
                         call->op->name);
    if (caller->role != ROLE_RUN)
        return true;
    if (!may_be_own_goal(&call->args_read, caller->goal))
        return op_refuse(call, ERROR_UNAUTHORIZED, "%s", OTHER_GOAL);
    call->args_read.goal_id = caller->goal;
    call->args_read.goal_begins &= call->args_read.goal_number != 0;
    return true;
}

bool op_goal_is_own(struct op_call *call, const struct id *found, uint32_t count) {
    bool is_own = count == 1 && id_equal(found[0], call->caller->goal);
    return call->caller->role != ROLE_RUN || is_own ||
           op_refuse(call, ERROR_UNAUTHORIZED, "%s", OTHER_GOAL);
}

void op_call_free(struct op_call *call) {
    if (call->op && call->op->close && call->own)
        call->op->close(call);
    json_decref(call->result);
    arena_free(&call->arena);
}
