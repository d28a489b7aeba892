/* SPDX-License-Identifier: Apache-2.0 */
/* What does the daemon answer by itself? */
#include "daemon/tell.h"

#include "daemon/reload.h"
#include "daemon/token.h"
#include "ops/all.h"
#include "ops/api.h"

static void api_describe_tell(struct house *house, struct op_call *call) {
    (void)house;
    api_describe(call);
}

static void heard(struct op_call *call) {
    call->result = json_pack("{s:b}", "ok", 1);
    if (!call->result)
        call->error = ERROR_NO_MEMORY;
}

static void wake_tell(struct house *house, struct op_call *call) {
    keeper_wake(house->keeper);
    heard(call);
}

static void stop_tell(struct house *house, struct op_call *call) {
    heard(call);
    if (call->result)
        house->stop(house);
}

const struct telling TELLINGS[] = {
    {&OP_TICK_WAKE, wake_tell},
    {&OP_DAEMON_STOP, stop_tell},
    {&OP_API_DESCRIBE, api_describe_tell},
    {&OP_CONFIG_SHOW, config_show_tell},
    {&OP_CONFIG_RELOAD, config_reload_tell},
    {&OP_TOKEN_CREATE, token_create_tell},
    {&OP_TOKEN_LIST, token_list_tell},
    {&OP_TOKEN_REVOKE, token_revoke_tell},
    {&OP_TOKEN_ROTATE, token_rotate_tell},
};
const size_t TELLING_COUNT = count_of(TELLINGS);

void tell(struct house *house, struct op_call *call) {
    for (size_t i = 0; i < TELLING_COUNT; i++)
        if (TELLINGS[i].op == call->op) {
            TELLINGS[i].tell(house, call);
            return;
        }
    op_refuse(call, ERROR_UNKNOWN_METHOD, "%s", "");
}
