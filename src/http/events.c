/* SPDX-License-Identifier: Apache-2.0 */
#include "http/events.h"

#include "engine/follow.h"
#include "ops/place.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

struct event_follower { /* state of the route, in request->own */
    struct http_request *request;
    struct follow_request wanted;
    struct follower *follower;
};

/* ---- the query ---- */

static const char *from_read(const struct http_request *request, struct follow_request *wanted) {
    const char *after = http_request_header(request, "Last-Event-ID"),
               *asked = http_request_query(request, "after");
    if (!after || !*after)
        after = asked;
    if (!after)
        after = wanted->since > 0 ? "" : "now";
    return place_parse(str_of(after), &wanted->from) ? NULL
                                                     : "\"after\" must be the id of an event.";
}

/* Returns NULL, or what is wrong. */
static const char *follow_request_read(const struct http_request *request,
                                       struct follow_request *wanted) {
    const char *type = http_request_query(request, "type"),
               *since = http_request_query(request, "since");
    wanted->by_type = type && *type;
    if (wanted->by_type && !types_parse(str_of(type), wanted->types))
        return "There is no event type of that name.";
    if (since && !since_parse(str_of(since), clock_wall(), &wanted->since))
        return "\"since\" must be a time or a duration such as 2h.";
    return from_read(request, wanted);
}

/* ---- the stream ---- */

static void event_follower_sleep(void *with) {
    http_request_sleep(((struct event_follower *)with)->request);
}

static void event_follower_wake(void *with) {
    http_request_wake(((struct event_follower *)with)->request);
}

static ssize_t event_follower_read(void *with, uint64_t position, char *to, size_t most) {
    (void)position;
    struct event_follower *follower = with;
    if (!http_request_may_stay(follower->request))
        return MHD_CONTENT_READER_END_OF_STREAM;
    ssize_t len = follower_read(follower->follower, to, most);
    return len < 0 ? MHD_CONTENT_READER_END_OF_STREAM : len;
}

static enum MHD_Result stream_begin(struct http_request *request) {
    struct event_follower *follower = request->own;
    struct follow_ports ports = {event_follower_sleep, event_follower_wake, follower};
    follower->follower = follower_join(request->context->follow, &follower->wanted, ports);
    if (!follower->follower)
        return http_reply_error(request, ERROR_BUSY,
                                "The limit of event streams is reached; try again later.");
    return http_request_stream(request, "text/event-stream", event_follower_read, follower);
}

/* ---- the route ---- */

static enum MHD_Result goal_ask(struct http_request *request, const char *goal) {
    json_t *params = json_pack("{s:s}", "goal", goal);
    enum MHD_Result result = http_request_ask(request, STR("goal.show"), params);
    json_decref(params);
    return result;
}

/* POLICY-03: a run receives events of its own goal only. */
enum MHD_Result events_begin(struct http_request *request) {
    const char *goal = http_request_query(request, "goal");
    struct event_follower *follower = calloc(1, sizeof *follower);
    request->own = follower;
    if (!follower || !request->context->follow)
        return http_reply_error(request, ERROR_NO_MEMORY, "");
    follower->request = request;
    struct follow_request *wanted = &follower->wanted;
    const char *wrong = follow_request_read(request, wanted);
    if (wrong)
        return http_reply_error(request, ERROR_INVALID, wrong);
    bool is_run = request->caller.role == ROLE_RUN;
    wanted->by_goal = is_run || (goal && *goal);
    wanted->goal = request->caller.goal;
    if (wanted->by_goal && goal && *goal && !goal_id_parse(str_of(goal), &wanted->goal))
        return goal_ask(request, goal);
    if (is_run && !id_equal(wanted->goal, request->caller.goal))
        return http_reply_error(request, ERROR_UNAUTHORIZED, "A run may follow only its own goal.");
    return stream_begin(request);
}

enum MHD_Result events_answered(struct http_request *request) {
    struct event_follower *follower = request->own;
    json_t *shown = call_result(request->call);
    const char *goal = json_string_value(json_object_get(shown, "goalId"));
    bool found = goal && goal_id_parse(str_of(goal), &follower->wanted.goal);
    enum error error = call_error(request->call);
    json_decref(shown);
    if (!found)
        return http_reply_error(request, error ? error : ERROR_NOT_FOUND, call_why(request->call));
    return stream_begin(request);
}

void events_forget(struct http_request *request) {
    struct event_follower *follower = request->own;
    if (follower && follower->follower)
        follower_leave(follower->follower);
    free(follower);
    request->own = NULL;
}
