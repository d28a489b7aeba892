/* SPDX-License-Identifier: Apache-2.0 */
/* Can any request body hurt the operations? The same steps as the door takes, without the socket. */
#include "ops/json.h"
#include "ops/op.h"

#include <stdlib.h>

_Noreturn void must_failed(const char *file, int line, const char *promise) {
    (void)file, (void)line, (void)promise;
    abort();
}
_Noreturn void memory_exhausted(void) {
    abort();
}

static void operation_try(const struct op *op, json_t *params) {
    struct op_args args;
    char why[256] = "";
    if (!op_args_read(op, params, &args, why, sizeof why)) {
        must(why[0] != 0);
        return;
    }
    if (op->kind == OP_WRITES) {
        struct signal signal = {0};
        op->signal(&args, &signal);
        must(signal.kind != SIGNAL_NONE);
        must(str_is_text(signal.title) && signal.title.len <= LIMIT_TITLE);
    } else {
        struct store_request request = {0};
        op->request(&args, &request);
        must(request.verb != STORE_NOTHING);
    }
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
