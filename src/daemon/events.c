/* SPDX-License-Identifier: Apache-2.0 */
/* How does one hear of what happens, as it happens? */
#include "daemon/events.h"

#include "daemon/clock.h"
#include "daemon/follow.h"
#include "ops/place.h"

#include <stdio.h>
#include <stdlib.h>

struct listener { /* the route's own */
    struct visit *visit;
    struct follow_wish wish;
    struct follower *follower;
};

/* ---- what is wanted ---- */

static const char *from_read(const struct visit *visit, struct follow_wish *wish) {
    const char *after = visit_header(visit, "Last-Event-ID"), *asked = visit_query(visit, "after");
    if (!after || !*after)
        after = asked;
    if (!after)
        after = wish->since > 0 ? "" : "now";
    return place_parse(str_of(after), &wish->from) ? NULL : "\"after\" is not the id of an event.";
}

/* NULL, or what is wrong. */
static const char *wish_read(const struct visit *visit, struct follow_wish *wish) {
    const char *type = visit_query(visit, "type"), *since = visit_query(visit, "since");
    wish->by_type = type && *type;
    if (wish->by_type && !types_parse(str_of(type), wish->types))
        return "No event is called that.";
    if (since && !since_parse(str_of(since), clock_wall(), &wish->since))
        return "\"since\" is not a time, nor such as 2h.";
    return from_read(visit, wish);
}

/* ---- the stream ---- */

static void listener_sleep(void *with) {
    visit_sleep(((struct listener *)with)->visit);
}

static void listener_wake(void *with) {
    visit_wake(((struct listener *)with)->visit);
}

static ssize_t listener_read(void *with, uint64_t position, char *to, size_t most) {
    (void)position;
    struct listener *listener = with;
    if (!visit_may_stay(listener->visit))
        return MHD_CONTENT_READER_END_OF_STREAM;
    ssize_t len = follower_read(listener->follower, to, most);
    return len < 0 ? MHD_CONTENT_READER_END_OF_STREAM : len;
}

static enum MHD_Result stream_begin(struct visit *visit) {
    struct listener *listener = visit->own;
    struct follow_ports ports = {listener_sleep, listener_wake, listener};
    listener->follower = follower_join(visit->house->follow, &listener->wish, ports);
    if (!listener->follower)
        return visit_reply_error(visit, ERROR_BUSY, "As many follow as are allowed to.");
    return visit_stream(visit, "text/event-stream", listener_read, listener);
}

/* ---- the route ---- */

static enum MHD_Result goal_ask(struct visit *visit, const char *goal) {
    json_t *params = json_pack("{s:s}", "goal", goal);
    enum MHD_Result result = visit_ask(visit, STR("goal.show"), params);
    json_decref(params);
    return result;
}

/* POLICY-03: a run hears of its own goal, and of no other. */
enum MHD_Result events_begin(struct visit *visit) {
    const char *goal = visit_query(visit, "goal");
    struct listener *listener = calloc(1, sizeof *listener);
    visit->own = listener;
    if (!listener || !visit->house->follow)
        return visit_reply_error(visit, ERROR_NO_MEMORY, "");
    listener->visit = visit;
    struct follow_wish *wish = &listener->wish;
    const char *wrong = wish_read(visit, wish);
    if (wrong)
        return visit_reply_error(visit, ERROR_INVALID, wrong);
    bool is_run = visit->caller.role == ROLE_RUN;
    wish->by_goal = is_run || (goal && *goal);
    wish->goal = visit->caller.goal;
    if (wish->by_goal && goal && *goal && !goal_id_parse(str_of(goal), &wish->goal))
        return goal_ask(visit, goal);
    if (is_run && !id_equal(wish->goal, visit->caller.goal))
        return visit_reply_error(visit, ERROR_UNAUTHORIZED, "A run hears of no goal but its own.");
    return stream_begin(visit);
}

enum MHD_Result events_answered(struct visit *visit) {
    struct listener *listener = visit->own;
    json_t *shown = call_result(visit->call);
    const char *goal = json_string_value(json_object_get(shown, "goalId"));
    bool found = goal && goal_id_parse(str_of(goal), &listener->wish.goal);
    enum error error = call_error(visit->call);
    json_decref(shown);
    if (!found)
        return visit_reply_error(visit, error ? error : ERROR_NOT_FOUND, call_why(visit->call));
    return stream_begin(visit);
}

void events_forget(struct visit *visit) {
    struct listener *listener = visit->own;
    if (listener && listener->follower)
        follower_leave(listener->follower);
    free(listener);
    visit->own = NULL;
}
