/* SPDX-License-Identifier: Apache-2.0 */
/* Which operations are there? */
#include "ops/op.h"

#include "ops/json.h"

#include <stdio.h>

const struct op *const OPS[] = {&OP_GOAL_CREATE, &OP_GOAL_REPORT, &OP_GOAL_SHOW};
const size_t OP_COUNT = count_of(OPS);

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

bool op_args_read(const struct op *op, json_t *params, struct op_args *ret_args, char *why,
                  size_t why_size) {
    *ret_args = (struct op_args){0};
    json_t *none = params ? NULL : json_object();
    if (params && !json_is_object(params)) {
        snprintf(why, why_size, "\"params\" has to be an object.");
        return false;
    }
    bool ok = json_get_fields(params ? params : none, op->params, op->param_count, ret_args, why,
                              why_size);
    json_decref(none);
    if (ok && ret_args->goal.len > 0 && !goal_id_parse(ret_args->goal, &ret_args->goal_id)) {
        snprintf(why, why_size,
                 "\"goal\" is not a goal's id; one looks like goal_01JC7Q4T9ZJ5X0M2K8W3R6VYHN.");
        return false;
    }
    return ok;
}
