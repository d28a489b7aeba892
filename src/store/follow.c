/* SPDX-License-Identifier: Apache-2.0 */
#include "store/follow.h"

/* A restore resets the log: a record that was delivered under another era may never have happened. */
static bool cursor_is_gone(const struct cursor *cursor, const struct follow_mark *mark) {
    if (cursor->from_start)
        return false;
    if (cursor->era != mark->era || cursor->tx > mark->settled)
        return true;
    return !cursor->held && mark->has_dropped && mark->has_oldest && cursor->tx < mark->oldest;
}

static uint32_t following_limit(const struct store_request *request) {
    return request->limit < LIMIT_EVENTS_PAGE ? request->limit : LIMIT_EVENTS_PAGE;
}

uint32_t following_page(const struct store_request *request) {
    return request->since > 0 || request->types ? LIMIT_EVENTS_PAGE : following_limit(request);
}

bool following_begin(struct following *following, const struct store_request *request,
                     struct store_answer *answer, const struct follow_mark *mark,
                     struct arena *arena) {
    const struct cursor *cursor = &request->cursor;
    uint32_t limit = following_limit(request);
    *following = (struct following){.request = request,
                                    .answer = answer,
                                    .limit = limit,
                                    .left = following_page(request),
                                    .may_reach = mark->may_reach};
    answer->reached = (struct cursor){.era = mark->era, .tx = cursor->tx, .n = cursor->n};
    answer->settled = mark->settled;
    answer->gone = !cursor->from_now && cursor_is_gone(cursor, mark);
    if (mark->may_reach)
        following_end(following, mark->settled, 0, false);
    if (cursor->from_now || answer->gone || limit == 0)
        return false;
    answer->log = arena_new(arena, struct logged, limit);
    return true;
}

bool following_wants_day(const struct store_request *request, int64_t day) {
    return day == 0 || request->since <= 0 || day >= time_day(request->since);
}

static bool wanted(const struct store_request *request, const struct record *record) {
    if (record->at < request->since)
        return false;
    return !request->types || (record->type < RECORD_TYPES && request->types[record->type]);
}

bool following_add(struct following *following, const struct logged *row) {
    struct store_answer *answer = following->answer;
    if (wanted(following->request, &row->record))
        answer->log[answer->log_count++] = *row;
    following->left--;
    if (!following->may_reach)
        following_end(following, row->place.tx, row->place.n, false);
    if (following->left > 0 && answer->log_count < following->limit)
        return true;
    following_end(following, row->place.tx, row->place.n, true);
    return false;
}

void following_end(struct following *following, int64_t tx, uint32_t n, bool more) {
    following->answer->reached.tx = tx;
    following->answer->reached.n = n;
    following->answer->more = more;
}
