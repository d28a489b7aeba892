/* SPDX-License-Identifier: Apache-2.0 */
/* Calls an operation for a request; the connection is suspended until the answer comes. */
#include "http/http_request.h"

/* The later of the two resumes the connection: the answer, or the code that suspended it. */
static void answer_came(void *with) {
    struct http_request *request = with;
    if (atomic_exchange(&request->state, HTTP_REQUEST_ANSWERED) == HTTP_REQUEST_SLEEPING)
        MHD_resume_connection(request->connection);
}

enum MHD_Result http_request_ask(struct http_request *request, struct str method,
                                 const json_t *params) {
    call_release(request->call);
    request->call = call_new(request->context, &request->caller);
    if (!request->call)
        return http_reply_plainly(request, ERROR_NO_MEMORY);
    atomic_store(&request->state, HTTP_REQUEST_ASKING);
    bool later = call_start(request->call, method, params, answer_came, request);
    if (!later || atomic_load(&request->state) == HTTP_REQUEST_ANSWERED) {
        atomic_store(&request->state, HTTP_REQUEST_ANSWERED);
        return request->route->answered(request);
    }
    MHD_suspend_connection(request->connection);
    int asking = HTTP_REQUEST_ASKING;
    if (!atomic_compare_exchange_strong(&request->state, &asking, HTTP_REQUEST_SLEEPING))
        MHD_resume_connection(request->connection);
    return MHD_YES;
}
