/* SPDX-License-Identifier: Apache-2.0 */
/* Operation that lists what waits for a person, since when, why, and what can be done about it. CLI-12 */
#include "ops/all.h"
#include "ops/json.h"
#include "ops/question/asking.h"

static const struct field PARAMS[] = {
    PARAM("limit", FIELD_U32, limit, 0, 0, "how many, at most 100; default: 20"),
};

static const struct op_member MEMBERS[] = {
    {"items", MEMBER_LIST, true,
     "oldest first: goalId, name, title, kind, since, question, why, evidence, record, do; of a question also questionId, "
     "level, options, default, expiresAt, node"},
    {"count", MEMBER_NUMBER, true, "how many wait in total"},
    {"more", MEMBER_FLAG, true, "more wait than are shown"},
};

static bool request(struct op_call *call, struct store_request *ret_request) {
    struct asking *asking = arena_new(&call->arena, struct asking, 1);
    call->own = asking;
    asking_begin(asking, call->args.limit ? call->args.limit : ASKING_DEFAULT, call, ret_request);
    return true;
}

static bool next(struct op_call *call, const struct store_answer *answer,
                 struct store_request *ret_request) {
    if (!call->result) {
        json_ran_short();
        call->result = json_pack("{s:[]}", "items");
    }
    return asking_next(call->own, json_object_get(call->result, "items"), answer, ret_request);
}

static json_t *result(struct op_call *call, const struct store_answer *answer) {
    (void)answer;
    const struct asking *asking = call->own;
    json_t *json = call->result;
    call->result = NULL;
    asking_sort(json_object_get(json, "items"));
    size_t items = json_array_size(json_object_get(json, "items"));
    json_object_set_new(json, "count",
                        json_integer((json_int_t)items + asking->count - asking->shown));
    json_object_set_new(json, "more", json_boolean(asking->count > asking->shown));
    return view_checked(call, json);
}

const struct op OP_INBOX_LIST = {
    .name = "inbox.list",
    .also = "inbox",
    .summary = "List what waits for you, oldest first: the reason and the possible answers.",
    .help =
        "Questions have short ids such as Q7.1: `overseer answer Q7.1 a`, `approve`, `reject`, `ack`, `snooze`, `undo`.\n"
        "Example: overseer inbox",
    .kind = OP_READS,
    .may = MAY_LOOK,
    .wants_facts = true,
    .wants_repositories = true,
    OP_PARAMS(PARAMS),
    OP_MEMBERS(MEMBERS),
    .request = request,
    .next = next,
    .result = result,
};
