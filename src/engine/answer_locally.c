/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/answer_locally.h"

#include "engine/reload.h"
#include "engine/token.h"
#include "ops/all.h"
#include "ops/api.h"

static void api_describe_answer(struct daemon_context *context, struct op_call *call) {
    (void)context;
    api_describe(call);
}

static void heard(struct op_call *call) {
    call->result = json_pack("{s:b}", "ok", 1);
    if (!call->result)
        call->error = ERROR_NO_MEMORY;
}

static void wake_answer(struct daemon_context *context, struct op_call *call) {
    ledger_thread_wake(context->ledger_thread);
    heard(call);
}

static void stop_answer(struct daemon_context *context, struct op_call *call) {
    heard(call);
    if (call->result)
        context->stop(context);
}

const struct local_answer LOCAL_ANSWERS[] = {
    {&OP_TICK_WAKE, wake_answer},
    {&OP_DAEMON_STOP, stop_answer},
    {&OP_API_DESCRIBE, api_describe_answer},
    {&OP_CONFIG_SHOW, config_show_answer},
    {&OP_CONFIG_RELOAD, config_reload_answer},
    {&OP_TOKEN_CREATE, token_create_answer},
    {&OP_TOKEN_LIST, token_list_answer},
    {&OP_TOKEN_REVOKE, token_revoke_answer},
    {&OP_TOKEN_ROTATE, token_rotate_answer},
};
const size_t LOCAL_ANSWER_COUNT = count_of(LOCAL_ANSWERS);

void answer_locally(struct daemon_context *context, struct op_call *call) {
    for (size_t i = 0; i < LOCAL_ANSWER_COUNT; i++)
        if (LOCAL_ANSWERS[i].op == call->op) {
            LOCAL_ANSWERS[i].answer_locally(context, call);
            return;
        }
    op_refuse(call, ERROR_UNKNOWN_METHOD, "%s", "");
}
