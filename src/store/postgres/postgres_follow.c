/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the PostgreSQL log after a given place. Transactions get their numbers before they commit, so only records
 * below the oldest running transaction are settled: nothing can appear before them any more. A cursor advances no
 * further than the newest record below that transaction: higher numbers under which nothing was committed are issued
 * again after a server crash.
 *
 * The days to read are written into the statement itself: a plan for any day opens the partitions of all days, which
 * costs twenty times as much as the reading. A follower that has read continuously reads only the days around now, so
 * it does not immediately see hosts whose clocks are two days off from the others. */
#include "store/follow.h"
#include "store/postgres/postgres_state.h"

enum { AROUND_NOW = 2, MOST_DAYS = 2 * AROUND_NOW + 1 };

struct days { /* days to read, up to a place in the log */
    int64_t day[MOST_DAYS];
    uint32_t count;
    bool and_others; /* and every day without its own partition */
    bool more;       /* after `tx`, `n` the log continues in another day */
    int64_t tx;
    uint32_t n;
};

static void hash_take(const PGresult *rows, int row, int column, struct hash *ret) {
    if (PQgetlength(rows, row, column) == sizeof ret->bytes)
        memcpy(ret->bytes, PQgetvalue(rows, row, column), sizeof ret->bytes);
}

static struct logged logged_take(struct pg_run *run, const PGresult *rows, int row) {
    struct logged it = {.place = {.era = run->answer->reached.era, .tx = pg_int(rows, row, 0)}};
    it.place.n = (uint32_t)pg_int(rows, row, 1) + 1;
    it.goal = pg_id(rows, row, 2);
    it.record.seq = (uint64_t)pg_int(rows, row, 3);
    it.record.at = pg_int(rows, row, 4);
    it.record.type = (enum record_type)pg_int(rows, row, 5);
    it.record.core = (uint32_t)pg_int(rows, row, 6);
    hash_take(rows, row, 7, &it.record.policy);
    hash_take(rows, row, 8, &it.record.hash);
    it.record.body = pg_bytes(rows, row, 9, run->arena);
    return it;
}

static bool rows_take(struct pg_run *run, struct following *following, const PGresult *rows) {
    bool room = true;
    for (int i = 0; room && i < PQntuples(rows); i++) {
        struct logged row = logged_take(run, rows, i);
        room = following_add(following, &row);
    }
    return room;
}

/* ---- choosing the days ---- */

static struct days days_around(int64_t now) {
    struct days days = {.and_others = true, .tx = INT64_MAX};
    for (int64_t day = time_day(now) - AROUND_NOW; days.count < MOST_DAYS; day++)
        days.day[days.count++] = day;
    return days;
}

/* The two days with the lowest heads, up to the head of the third. */
static struct days days_of(const PGresult *heads) {
    struct days days = {.tx = INT64_MAX};
    for (int i = 0; i < PQntuples(heads) && i < 2; i++)
        days.day[days.count++] = pg_int(heads, i, 0);
    days.more = PQntuples(heads) > 2;
    if (days.more) {
        days.tx = pg_int(heads, 2, 1);
        days.n = (uint32_t)pg_int(heads, 2, 2);
    }
    return days;
}

/* ---- the page ---- */

#define COLUMNS \
    "r.tx, r.n::int8, r.goal_id, r.seq, r.at, r.type::int8, r.core::int8, r.policy, r.hash, r.body"
#define BETWEEN \
    " AND (r.tx, r.n) >= ($1::int8, $2::int8) AND (r.tx, r.n) < ($4::int8, $5::int8)" \
    " AND r.tx < pg_snapshot_xmin(pg_current_snapshot())::text::int8 ORDER BY r.tx, r.n LIMIT $3::int8"
static const char OTHERS[] =
    " UNION ALL SELECT x.* FROM (WITH RECURSIVE o AS ((SELECT day FROM record_other ORDER BY day LIMIT 1)"
    " UNION ALL SELECT (SELECT r.day FROM record_other r WHERE r.day > o.day ORDER BY r.day LIMIT 1) FROM o"
    " WHERE o.day IS NOT NULL) SELECT day FROM o WHERE day IS NOT NULL AND day <> ALL (ARRAY[";
static const char OF_OTHERS[] =
    "])) d, LATERAL (SELECT " COLUMNS " FROM record_other r WHERE r.day = d.day" BETWEEN ") x";

static const char *page_text(const struct days *days, struct arena *arena) {
    struct writer text = {.arena = arena};
    write_raw(&text, STR("SELECT * FROM ("));
    for (uint32_t i = 0; i < days->count; i++)
        write_raw(&text,
                  arena_format(arena,
                               "%s(SELECT " COLUMNS " FROM record r WHERE r.day = %lld" BETWEEN ")",
                               i ? " UNION ALL " : "", (long long)days->day[i]));
    if (days->and_others) {
        write_raw(&text, str_of(OTHERS));
        for (uint32_t i = 0; i < days->count; i++)
            write_raw(&text, arena_format(arena, "%s%lld", i ? ", " : "", (long long)days->day[i]));
        write_raw(&text, str_of(OF_OTHERS));
    }
    write_raw(&text, STR(") p ORDER BY 1, 2 LIMIT $3::int8"));
    write_byte(&text, 0);
    return text.at;
}

static struct pg_params place_params(struct pg_run *run, const struct store_request *request) {
    const struct cursor *cursor = &request->cursor;
    struct pg_params params = {.arena = run->arena};
    param_int(&params, cursor->from_start ? INT64_MIN : cursor->tx);
    param_int(&params, cursor->n);
    return params;
}

static void send_page(struct pg_run *run, const struct store_request *request,
                      const struct days *days) {
    struct pg_params params = place_params(run, request);
    param_int(&params, following_page(request));
    param_int(&params, days->tx);
    param_int(&params, days->n);
    pg_send_text(run, page_text(days, run->arena), &params);
}

static void send_goal(struct pg_run *run, const struct store_request *request) {
    struct pg_params params = place_params(run, request);
    param_int(&params, following_page(request));
    param_id(&params, request->ids[0]);
    pg_send(run, PG_FOLLOW_GOAL, &params);
}

/* ---- one snapshot for the state of the log and the page ---- */

enum { MARK_RESULT = 1, FIRST_RESULT };

static void send_begin(struct pg_run *run) {
    pg_send(run, PG_BEGIN_READ, NULL);
    pg_send(run, PG_FOLLOW_MARK, NULL);
}

static struct follow_mark mark_take(struct pg_run *run, const PGresult *oldest) {
    const PGresult *rows = run->store->results[MARK_RESULT];
    struct follow_mark mark = {.era = (uint64_t)pg_int(rows, 0, 0),
                               .settled = pg_int(rows, 0, 1),
                               .has_dropped = pg_int(rows, 0, 2) != 0,
                               .has_oldest = oldest && PQntuples(oldest) > 0};
    if (mark.has_oldest)
        mark.oldest = pg_int(oldest, 0, 0);
    return mark;
}

/* Sets the cursor to now: after the newest record. */
static void reach_now(struct pg_run *run) {
    int first = run->store->result_count;
    pg_send(run, PG_FOLLOW_NEWEST, NULL);
    pg_send(run, PG_COMMIT, NULL);
    if (!pg_receive(run))
        return;
    const PGresult *newest = run->store->results[first];
    struct cursor *reached = &run->answer->reached;
    reached->tx = PQntuples(newest) > 0 ? pg_int(newest, 0, 0) : 0;
    reached->n = PQntuples(newest) > 0 ? (uint32_t)pg_int(newest, 0, 1) + 1 : 0;
}

static void follow_around_now(struct pg_run *run, const struct store_request *request) {
    struct following following;
    struct days days = days_around(request->at);
    send_begin(run);
    send_page(run, request, &days);
    pg_send(run, PG_COMMIT, NULL);
    if (!pg_receive(run))
        return;
    struct follow_mark mark = mark_take(run, NULL);
    if (following_begin(&following, request, run->answer, &mark, run->arena))
        rows_take(run, &following, run->store->results[FIRST_RESULT]);
    else
        reach_now(run);
}

/* The page ends where the next record is on a day that has not been read. */
static void follow_days(struct pg_run *run, struct following *following, struct days days) {
    const struct store_request *request = following->request;
    int first = run->store->result_count;
    if (days.count > 0)
        send_page(run, request, &days);
    pg_send(run, PG_COMMIT, NULL);
    if (!pg_receive(run) || days.count == 0)
        return;
    if (rows_take(run, following, run->store->results[first]) && days.more)
        following_end(following, days.tx, days.n, true);
}

static void follow_anywhere(struct pg_run *run, const struct store_request *request) {
    struct following following;
    bool of_goal = request->id_count > 0;
    struct pg_params heads = place_params(run, request);
    param_int(&heads, request->since > 0 ? time_day(request->since) : INT32_MIN);
    send_begin(run);
    pg_send(run, PG_FOLLOW_OLDEST, NULL);
    if (of_goal)
        send_goal(run, request);
    else
        pg_send(run, PG_FOLLOW_HEADS, &heads);
    if (!pg_receive(run))
        return;
    const PGresult *rows = run->store->results[FIRST_RESULT + 1];
    struct follow_mark mark = mark_take(run, run->store->results[FIRST_RESULT]);
    if (!following_begin(&following, request, run->answer, &mark, run->arena)) {
        reach_now(run);
        return;
    }
    if (of_goal)
        rows_take(run, &following, rows);
    follow_days(run, &following, of_goal ? (struct days){0} : days_of(rows));
}

static void follow_from_now(struct pg_run *run, const struct store_request *request) {
    struct following following;
    send_begin(run);
    if (!pg_receive(run))
        return;
    struct follow_mark mark = mark_take(run, NULL);
    following_begin(&following, request, run->answer, &mark, run->arena);
    reach_now(run);
}

void postgres_follow(struct pg_run *run, const struct store_request *request) {
    const struct cursor *cursor = &request->cursor;
    if (cursor->from_now)
        follow_from_now(run, request);
    else if (cursor->held && request->at > 0 && request->id_count == 0)
        follow_around_now(run, request);
    else
        follow_anywhere(run, request);
}
