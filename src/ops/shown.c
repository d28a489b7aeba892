/* SPDX-License-Identifier: Apache-2.0 */
/* What a reading operation asks the store for one goal, and the texts of the answer. */
#include "ops/view.h"

#include "ops/json.h"

bool show_request(struct op_call *call, struct store_request *ret_request) {
    ret_request->verb = STORE_SHOW;
    ret_request->ids = &call->args.goal_id;
    ret_request->id_count = 1;
    ret_request->limit = LIMIT_SHOWN_RECORDS;
    return true;
}

struct str shown_text(const struct goal_shown *shown, const struct hash *hash) {
    for (uint32_t i = 0; i < shown->text_count; i++)
        if (memcmp(&shown->texts[i].hash, hash, sizeof *hash) == 0)
            return shown->texts[i].body;
    return (struct str){0};
}

bool view_is_whole(struct op_call *call, const struct store_answer *answer) {
    if (!answer->loaded[0].exists)
        return op_refuse(call, ERROR_NOT_FOUND, "%s", "");
    if (!answer->loaded[0].whole)
        return op_refuse(call, ERROR_QUARANTINED, "A stored row of it is damaged.");
    return true;
}

json_t *view_checked(struct op_call *call, json_t *json) {
    if (json && !json_ran_short())
        return json;
    json_decref(json); /* a part of it may be missing */
    call->error = ERROR_NO_MEMORY;
    return NULL;
}
