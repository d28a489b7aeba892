/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the SQLite log after a given place. Transactions get their numbers under the write lock, so a reader that sees
 * one has seen all lower ones. */
#include "store/follow.h"
#include "store/sqlite/sqlite_state.h"

struct day { /* a day with records after the cursor */
    int64_t day, tx;
    uint32_t n;
};

struct days {
    struct day *at;
    uint32_t count, cap;
};

static struct follow_mark mark_read(struct sqlite_run *run, bool held) {
    struct follow_mark mark = {0};
    run_begin(run, SQL_FOLLOW_MARK);
    if (run_row(run)) {
        mark.era = (uint64_t)row_int(run);
        mark.settled = row_int(run) + 1;
        mark.may_reach = true;
        mark.has_dropped = row_int(run);
    }
    run_end(run);
    if (held || !mark.has_dropped)
        return mark;
    run_begin(run, SQL_FOLLOW_OLDEST);
    mark.has_oldest = run_row(run);
    if (mark.has_oldest)
        mark.oldest = row_int(run);
    run_end(run);
    return mark;
}

static void days_add(struct days *days, int64_t day, struct arena *arena) {
    if (days->count == days->cap) {
        days->cap = days->cap * 2 + 32;
        struct day *grown = arena_new(arena, struct day, days->cap);
        if (days->count > 0)
            memcpy(grown, days->at, days->count * sizeof *grown);
        days->at = grown;
    }
    days->at[days->count++] = (struct day){.day = day};
}

/* False: the day has nothing at or after that place. */
static bool head_find(struct sqlite_run *run, struct day *day, int64_t tx, uint32_t n) {
    run_begin(run, SQL_FOLLOW_HEAD);
    run_int(run, day->day);
    run_int(run, tx);
    run_int(run, n);
    bool found = run_row(run);
    if (found) {
        day->tx = row_int(run);
        day->n = (uint32_t)row_int(run);
    }
    run_end(run);
    return found;
}

static struct days days_find(struct sqlite_run *run, const struct store_request *request,
                             int64_t tx, uint32_t n, struct arena *arena) {
    struct days days = {0};
    uint32_t kept = 0;
    run_begin(run, SQL_FOLLOW_DAYS);
    while (run_row(run)) {
        int64_t day = row_int(run);
        if (following_wants_day(request, day))
            days_add(&days, day, arena);
    }
    run_end(run);
    for (uint32_t i = 0; i < days.count; i++)
        if (head_find(run, &days.at[i], tx, n))
            days.at[kept++] = days.at[i];
    days.count = kept;
    return days;
}

static bool comes_before(const struct day *a, const struct day *b) {
    return a->tx < b->tx || (a->tx == b->tx && a->n < b->n);
}

/* The day with the lowest head, and where the next lowest begins. */
static struct day *lowest(const struct days *days, struct day *ret_bound) {
    struct day *first = NULL;
    *ret_bound = (struct day){.tx = INT64_MAX};
    for (uint32_t i = 0; i < days->count; i++)
        if (!first || comes_before(&days->at[i], first))
            first = &days->at[i];
    for (uint32_t i = 0; i < days->count; i++)
        if (&days->at[i] != first && comes_before(&days->at[i], ret_bound))
            *ret_bound = days->at[i];
    return first;
}

static struct logged row_logged(struct sqlite_run *run, uint64_t era, struct arena *arena) {
    struct logged row = {.place = {.era = era, .tx = row_int(run)}};
    row.place.n = (uint32_t)row_int(run) + 1;
    row.goal = row_id(run);
    row.record.seq = (uint64_t)row_int(run);
    row.record.at = row_int(run);
    row.record.type = (enum record_type)row_int(run);
    row.record.core = (uint32_t)row_int(run);
    row.record.policy = row_hash(run);
    row.record.hash = row_hash(run);
    row.record.body = row_bytes(run, arena);
    return row;
}

/* False: the page is full, or there was an error. */
static bool rows_take(struct sqlite_run *run, struct following *following, struct arena *arena) {
    bool room = true;
    while (room && run_row(run)) {
        struct logged row = row_logged(run, following->answer->reached.era, arena);
        room = following_add(following, &row);
    }
    run_end(run);
    return room && !run->code;
}

static void follow_days(struct sqlite_run *run, struct following *following, int64_t tx, uint32_t n,
                        struct arena *arena) {
    struct day bound;
    struct days days = days_find(run, following->request, tx, n, arena);
    while (days.count > 0) {
        struct day *first = lowest(&days, &bound);
        run_begin(run, SQL_FOLLOW_DAY);
        run_int(run, first->day);
        run_int(run, first->tx);
        run_int(run, first->n);
        run_int(run, bound.tx);
        run_int(run, bound.n);
        run_int(run, following->left);
        if (!rows_take(run, following, arena))
            return;
        if (bound.tx == INT64_MAX || !head_find(run, first, bound.tx, bound.n))
            *first = days.at[--days.count];
    }
}

static void follow_goal(struct sqlite_run *run, struct following *following, int64_t tx, uint32_t n,
                        struct arena *arena) {
    run_begin(run, SQL_FOLLOW_GOAL);
    run_id(run, following->request->ids[0]);
    run_int(run, tx);
    run_int(run, n);
    run_int(run, following->left);
    rows_take(run, following, arena);
}

void sqlite_follow(struct sqlite_run *run, const struct store_request *request,
                   struct store_answer *answer, struct arena *arena) {
    struct following following;
    const struct cursor *cursor = &request->cursor;
    struct follow_mark mark = mark_read(run, cursor->held || cursor->from_now);
    if (run->code || !following_begin(&following, request, answer, &mark, arena))
        return;
    int64_t tx = cursor->from_start ? INT64_MIN : cursor->tx;
    if (request->id_count > 0)
        follow_goal(run, &following, tx, cursor->n, arena);
    else
        follow_days(run, &following, tx, cursor->n, arena);
}
