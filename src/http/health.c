/* SPDX-License-Identifier: Apache-2.0 */
#include "http/health.h"

#include "sys/clock.h"

#include <stdio.h>

static const int64_t HANGS_AFTER = SECONDS(30); /* without a turn of the ledger thread */

struct health {
    struct ledger_view view;
    char trouble[LIMIT_WHY];
    bool safe, alive, ready;
};

static void health_look(const struct daemon_context *context, struct health *ret) {
    const struct safe *safe = &context->ledger_thread->safe;
    ret->view = ledger_thread_view(context->ledger_thread, ret->trouble);
    ret->safe = safe_is_on(safe);
    if (ret->safe) {
        ret->view.joined = false;
        snprintf(ret->trouble, sizeof ret->trouble, "safe mode: %.480s", safe->why);
    }
    int64_t turned_at = atomic_load(&context->ledger_thread->turned_at);
    ret->alive = !ret->safe && clock_boot() - turned_at < HANGS_AFTER;
    ret->ready = ret->alive && ret->view.joined && ret->trouble[0] == 0;
}

static enum MHD_Result health_reply(struct http_request *request, bool ready) {
    struct health health;
    health_look(request->context, &health);
    const struct ledger_view *view = &health.view;
    const char *trouble = health.trouble;
    if (*trouble &&
        (!request->over_unix ||
         request->for_runs)) /* the database's error text may name hosts, people and paths */
        trouble = "the store reports an error; use the Unix socket on that machine for details";
    json_t *json =
        json_pack("{s:b, s:b, s:b, s:i, s:I, s:I, s:i, s:i, s:I, s:s, s:s}", "ok", health.ready,
                  "safeMode", health.safe, "joined", view->joined, "host", (int)view->host, "epoch",
                  (json_int_t)view->epoch, "commits", (json_int_t)view->commits, "waiting",
                  (int)view->waiting, "acting", (int)view->acting, "takeovers",
                  (json_int_t)view->takeovers, "trouble", trouble, "version", OVERSEER_VERSION);
    return http_reply_json(request, (ready ? health.ready : health.alive) ? 200 : 503, json,
                           ERROR_NO_MEMORY, NULL);
}

enum MHD_Result healthz_begin(struct http_request *request) {
    return health_reply(request, false);
}

enum MHD_Result readyz_begin(struct http_request *request) {
    return health_reply(request, true);
}
