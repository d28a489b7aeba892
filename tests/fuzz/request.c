/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the operations with any request body. The same steps as in the HTTP server, without the socket. */
#include "ops/all.h"
#include "ops/json.h"

/* The answer of a store that has no such goal, and one node of that name. */
static const struct store_answer *answer_plain(void) {
    static struct goal_loaded loaded;
    static struct id found;
    static struct store_answer answer;
    answer = (struct store_answer){.loaded = &loaded, .found = &found, .found_count = 1};
    return &answer;
}

static void signal_try(struct op_call *call, bool asked) {
    struct signal signal = {0};
    if (!call->op->signal(call, asked ? answer_plain() : NULL, &signal)) {
        must(call->error != ERROR_NONE || call->result);
        return;
    }
    must(signal.kind != SIGNAL_NONE || call->op == &OP_TICK_RUN);
    must(str_is_text(signal.describe.title) && signal.describe.title.len <= LIMIT_TITLE);
}

static void operation_try(const struct op *op, json_t *params) {
    static const struct policy POLICY;
    static const struct caller PERSON = {.role = ROLE_HUMAN, .actor = "human:1000"};
    static const struct op_facts FACTS = {.engine = "sqlite"};
    static const struct op_repositories REPOSITORIES = {2, {{"web", 0}, {"core", 1}}};
    struct op_call call = {.op = op,
                           .policy = &POLICY,
                           .caller = &PERSON,
                           .facts = &FACTS,
                           .repositories = &REPOSITORIES};
    struct store_request request = {0};
    if (!op_args_read(&call, params))
        must(call.why[0] != 0);
    else {
        bool asked = op->request && op->request(&call, &request);
        must(!asked || call.error || request.verb != STORE_NOTHING);
        uint32_t signals = op->signals && !call.error ? op->signals(&call) : 1;
        for (; op->kind == OP_WRITES && !call.error && call.nth < signals; call.nth++)
            signal_try(&call, asked); /* the daemon builds none once the request was refused */
    }
    op_call_free(&call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct str body = {(const char *)data, size};
    if (!json_depth_is_at_most(body, LIMIT_JSON_DEPTH))
        return 0;
    json_t *request = json_loadb(body.at ? body.at : "", size, JSON_REJECT_DUPLICATES, NULL);
    for (size_t i = 0; request && i < OP_COUNT; i++)
        operation_try(OPS[i], json_object_get(request, "params"));
    json_decref(request);
    return 0;
}
