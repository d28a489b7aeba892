/* SPDX-License-Identifier: Apache-2.0 */
/* The SQL statements of the SQLite driver. The P numbers are the clauses of docs/protocol.md.
 *
 * Statements always name their columns and never use all columns of a table: a newer build may have added some
 * (STORE-18). Words that begin with @ are replaced: @view, @names and @marks are the columns of goal_view and their
 * parameters, @rest sets those of them that are in no index, @columns declares them; @part is the table of a kind of
 * part. */
#include "base/planted.h"
#include "store/sqlite/sqlite_state.h"

#include <stdio.h>

#define OF_PARTS(first, text) [(first)...(first) + PARTS - 1] = (text)

#define LOGGED "tx, n, goal_id, seq, at, type, core, policy, hash, body"

static const char *const STATEMENTS[SQL_COUNT] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_BEGIN_READ] = "BEGIN",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ROLLBACK] = "ROLLBACK",
    [SQL_NEXT_TX] = "UPDATE store SET tx = tx + 1 RETURNING tx",

    /* The store's level follows the host that speaks the lowest level, and never decreases. */
    [SQL_MARK] =
        "SELECT version, oldest, level, era, instance, safe IS NOT NULL, stopped IS NOT NULL FROM store",
    [SQL_LEVEL] = "UPDATE store SET level = (SELECT min(speaks) FROM host WHERE state < 2)"
                  " WHERE level < (SELECT min(speaks) FROM host WHERE state < 2)",

    [SQL_JOIN] =
        "INSERT INTO host (host_id, instance, epoch, beat, batch, state, build, addr, speaks)"
        " VALUES (?1, ?2, 1, 1, 0, 0, ?3, ?4, ?5) ON CONFLICT (host_id) DO UPDATE"
        " SET instance = ?2, epoch = epoch + 1, beat = beat + 1, state = 0, build = ?3, addr = ?4,"
        " speaks = ?5 WHERE ?6 < 0 OR epoch = ?6 RETURNING epoch, batch, policy",
    [SQL_NUMBERS] = "SELECT h.number_next, h.number_end, h.number_era, s.era, s.numbered,"
                    " s.numbered_era FROM store s, host h WHERE h.host_id = ?1 AND h.epoch = ?2",
    [SQL_NUMBERS_HIGHEST] = "SELECT coalesce(max(number), 0) FROM goal_view WHERE number > 0",
    [SQL_NUMBERS_TAKEN] = "UPDATE store SET numbered = ?1, numbered_era = era",
    [SQL_NUMBERS_HOST] = "UPDATE host SET number_next = ?2, number_end = ?3, number_era = ?4"
                         " WHERE host_id = ?1",
    [SQL_BEAT] = "UPDATE host SET beat = beat + 1 WHERE host_id = ?1 AND epoch = ?2",
    [SQL_HOSTS] =
        "SELECT host_id, epoch, beat, batch, state FROM host WHERE host_id <> ?1 AND state < 2"
        " ORDER BY host_id < ?1, host_id LIMIT ?2",
    [SQL_HOSTS_ALL] = "SELECT host_id, epoch, beat, batch, state, instance, addr FROM host"
                      " WHERE ?1 = 0 OR host_id = ?1 ORDER BY host_id LIMIT ?2",
    [SQL_INBOX] =
        "SELECT source, goal_id, body FROM inbox WHERE to_host IN (SELECT ?1 UNION ALL SELECT host_id"
        " FROM host WHERE state = 2) ORDER BY source LIMIT ?2",

    [SQL_TAKE] = "UPDATE host SET epoch = epoch + 1, state = 1"
                 " WHERE host_id = ?1 AND epoch = ?2 AND beat = ?3 AND state = 0",
    [SQL_ADOPT_GUARD] =
        "SELECT count(*) FROM host WHERE (host_id = ?1 AND epoch = ?2 AND state = 0)"
        " OR (host_id = ?3 AND epoch = ?4 AND state > 0)",
    [SQL_ADOPT_PAGE] =
        "SELECT goal_id, due_at FROM goal WHERE owner = ?1 AND open ORDER BY goal_id LIMIT ?2",
    [SQL_ADOPT_GOAL] = "UPDATE goal SET owner = ?1, fence = fence + 1, version = version + 1"
                       " WHERE goal_id = ?2 AND owner = ?3 RETURNING due_at",
    [SQL_ADOPT_EFFECTS] = "UPDATE effect SET state = 2 WHERE goal_id = ?1 AND state = 1",
    [SQL_ADOPT_INBOX] = "UPDATE inbox SET to_host = ?1 WHERE goal_id = ?2",
    [SQL_ADOPT_GONE] = "UPDATE host SET state = 2 WHERE host_id = ?1 AND epoch = ?2 AND state = 1"
                       " AND NOT EXISTS (SELECT 1 FROM goal WHERE owner = ?1 AND open)",

    [SQL_OWNED] = "SELECT goal_id, due_at FROM goal WHERE owner = ?1 AND open AND goal_id > ?2"
                  " ORDER BY goal_id LIMIT ?3",
    [SQL_OWNED_ONLY] = "SELECT due_at FROM goal WHERE goal_id = ?1 AND owner = ?2",
    [SQL_EFFECTS] =
        "SELECT n, run_host, state, kind, until, body FROM effect WHERE goal_id = ?1 ORDER BY n",
    [SQL_GOAL] =
        "SELECT g.owner, g.fence, g.version, g.seq, g.head, g.due_at, g.aside, g.hot,"
        " h.epoch, h.state FROM goal g LEFT JOIN host h ON h.host_id = g.owner WHERE g.goal_id = ?1",
    [SQL_SEEN] = "SELECT 1 FROM seen WHERE goal_id = ?1 AND source = ?2",
    [SQL_RECORD_AT] = "SELECT 1 FROM record WHERE goal_id = ?1 AND seq = ?2 AND hash = ?3",

    [SQL_BATCH] = planted(NO_EPOCH_CHECK)
                      ? "UPDATE host SET batch = ?3, number_next = max(number_next, ?4)"
                        " WHERE host_id = ?1 AND ?2 >= 0 AND ?3 > 0"
                      : "UPDATE host SET batch = ?3, number_next = max(number_next, ?4)"
                        " WHERE host_id = ?1 AND epoch = ?2 AND batch = ?3 - 1",
    [SQL_GOAL_MOVE] =
        "UPDATE goal SET version = ?1, seq = ?2, head = ?3, due_at = ?4, hot = ?5"
        " WHERE goal_id = ?6 AND version = ?7 AND owner = ?8 AND open = ?9 AND aside = ?10",
    [SQL_GOAL_UPDATE] =
        planted(NO_VERSION_CHECK)
            ? "UPDATE goal SET version = ?1, seq = ?2, head = ?3, due_at = ?4, open = ?5, aside = ?6,"
              " hot = coalesce(?7, hot) WHERE goal_id = ?8 AND ?9 >= 0 AND ?10 >= 0"
            : "UPDATE goal SET version = ?1, seq = ?2, head = ?3, due_at = ?4, open = ?5, aside = ?6,"
              " hot = coalesce(?7, hot) WHERE goal_id = ?8 AND version = ?9 AND owner = ?10",
    [SQL_GOAL_INSERT] =
        "INSERT INTO goal (goal_id, owner, fence, version, seq, head, due_at, open, aside, hot)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
        " ON CONFLICT DO NOTHING",
    [SQL_RECORD_INSERT] =
        "INSERT INTO record (day, tx, n, goal_id, seq, at, type, core, policy, hash, body)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    [SQL_EFFECT_PUT] = "INSERT INTO effect (goal_id, n, run_host, state, kind, until, body)"
                       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [SQL_EFFECT_MOVE] =
        "UPDATE effect SET run_host = ?3, state = ?4, until = ?5 WHERE goal_id = ?1 AND n = ?2",
    [SQL_EFFECT_END] = "DELETE FROM effect WHERE goal_id = ?1 AND n = ?2",
    [SQL_INBOX_DONE] = "DELETE FROM inbox WHERE source = ?1",
    [SQL_SEEN_INSERT] = "INSERT OR IGNORE INTO seen (goal_id, source, at) VALUES (?1, ?2, ?3)",
    [SQL_ASIDE_INSERT] = "INSERT OR IGNORE INTO aside (goal_id, source, at, why, body)"
                         " VALUES (?1, ?2, ?3, ?4, ?5)",

    /* 2097151 is the last position in a drawer. */
    [SQL_VIEW_INSERT] =
        "INSERT INTO goal_view (row, @names) VALUES (coalesce((SELECT max(row) + 1 FROM goal_view"
        " WHERE row BETWEEN :drawer AND :drawer + 2097151), :drawer), @marks)",
    [SQL_VIEW_MOVE] =
        "UPDATE goal_view SET @rest WHERE goal_id = :goal_id AND face = :face AND status = :status",
    [SQL_VIEW_UPDATE] =
        "UPDATE goal_view SET face = :face, status = :status, @rest WHERE goal_id = :goal_id",
    [SQL_VIEW_DISPLAY_STATE] = "SELECT face FROM goal_view WHERE goal_id = ?1",
    [SQL_VIEW_TITLE] = "UPDATE goal_view SET title = :title WHERE goal_id = :goal_id",
    [SQL_VIEW_NUMBER] = "UPDATE goal_view SET number = :number WHERE goal_id = :goal_id",
    [SQL_TAG_CLEAR] = "DELETE FROM goal_tag WHERE goal_id = ?1",
    [SQL_TAG_INSERT] = "INSERT OR IGNORE INTO goal_tag (tag, face, created_at, goal_id)"
                       " VALUES (?1, ?2, ?3, ?4)",
    [SQL_TAG_DISPLAY_STATE] = "UPDATE goal_tag SET face = ?2 WHERE goal_id = ?1 AND face <> ?2",
    [SQL_TALLY_ADD] =
        "INSERT INTO tally (host_id, face, n) VALUES (?1, ?2, ?3) ON CONFLICT (host_id, face)"
        " DO UPDATE SET n = n + excluded.n",

    [SQL_ORDER_HELD] = "SELECT policy FROM host WHERE host_id = ?1 AND epoch = ?2",
    [SQL_ORDER_HEAD] = "SELECT seq, hash FROM record WHERE goal_id = ?1 ORDER BY seq DESC LIMIT 1",
    [SQL_ORDER_POLICY] = "UPDATE host SET policy = ?2 WHERE host_id = ?1",
    [SQL_ORDER_STOP] = "UPDATE store SET stopped = ?1",

    [SQL_RESOLVE] =
        "UPDATE host SET epoch = epoch + 1 WHERE host_id = ?1 AND instance = ?2 AND state = 0"
        " RETURNING epoch, batch",
    [SQL_FORWARD] =
        "INSERT INTO inbox (source, to_host, goal_id, body) SELECT ?1, owner, goal_id, ?3 FROM goal WHERE goal_id = ?2"
        " AND (?5 = 0 OR (SELECT count(*) FROM (SELECT 1 FROM inbox WHERE to_host = owner LIMIT ?4)) < ?4"
        " OR EXISTS (SELECT 1 FROM inbox WHERE source = ?1))"
        " ON CONFLICT (source) DO UPDATE SET to_host = excluded.to_host",

    [SQL_SHOW_TITLE] = "SELECT title FROM goal_view WHERE goal_id = ?1",
    [SQL_SHOW_TAGS] = "SELECT tag FROM goal_tag WHERE goal_id = ?1 ORDER BY tag LIMIT ?2",
    [SQL_SHOW_TEXT] = "SELECT body FROM text WHERE goal_id = ?1 AND hash = ?2",
    [SQL_SHOW_ASIDE] = "SELECT why FROM aside WHERE goal_id = ?1 ORDER BY at, source LIMIT 1",
    [SQL_SHOW_RECORDS] =
        "SELECT seq, at, type, core, policy, hash, body FROM record WHERE goal_id = ?1"
        " AND type BETWEEN ?3 AND ?4 ORDER BY seq DESC LIMIT ?2",
    [SQL_HISTORY] = "SELECT seq, at, type, core, policy, hash, body FROM record WHERE goal_id = ?1"
                    " AND seq > ?2 ORDER BY seq LIMIT ?3",
    [SQL_FIND_INSTRUCTION] = "SELECT DISTINCT goal_id FROM dispatch"
                             " WHERE substr(body, -68, 64) = ?1 ORDER BY goal_id LIMIT ?2",

    /* Each statement reads along an index, from where the page begins. The last two return drawers in order, but not
     * the rows within a drawer: the caller sorts those. */
    [SQL_LIST_DISPLAY_STATE] = "SELECT @view FROM goal_view v WHERE v.face = ?1 AND v.status = ?2"
                               " AND (v.created_at, v.goal_id) < (?3, ?4)"
                               " ORDER BY v.created_at DESC, v.goal_id DESC LIMIT ?5",
    [SQL_LIST_TAG] =
        "SELECT @view FROM goal_tag t CROSS JOIN goal_view v ON v.goal_id = t.goal_id"
        " WHERE t.tag = ?1 AND t.face = ?2 AND (t.created_at, t.goal_id) < (?3, ?4)"
        " AND (?6 < 0 OR v.status = ?6) ORDER BY t.created_at DESC, t.goal_id DESC LIMIT ?5",
    [SQL_LIST_ALL] = "SELECT @view FROM goal_view v WHERE v.row <= ?1"
                     " AND (v.created_at, v.goal_id) < (?2, ?3) ORDER BY v.row DESC",
    [SQL_LIST_SEARCH] =
        "SELECT @view FROM goal_fts f CROSS JOIN goal_view v ON v.row = f.rowid"
        " WHERE f.goal_fts MATCH ?4 AND f.rowid <= ?1 AND (v.created_at, v.goal_id) < (?2, ?3)"
        " AND (?5 < 0 OR v.face = ?5) AND (?6 < 0 OR v.status = ?6)"
        " AND (?7 = '' OR EXISTS (SELECT 1 FROM goal_tag t WHERE t.goal_id = v.goal_id AND t.tag = ?7))"
        " ORDER BY f.rowid DESC",
    /* 3 is DISPLAY_DONE, as in the index. SQLite would not choose this index by itself: it does not know how frequent
     * the values are. */
    [SQL_ENDED] =
        "SELECT @view FROM goal_view v INDEXED BY goal_view_ended WHERE v.face = 3 AND v.ended_at >= ?1"
        " ORDER BY v.ended_at DESC, v.goal_id DESC LIMIT ?2",
    [SQL_ENDED_COUNT] = "SELECT count(*) FROM goal_view INDEXED BY goal_view_ended"
                        " WHERE face = 3 AND ended_at >= ?1",
    /* 2 is DISPLAY_NEEDS_YOU; the same applies to its index. */
    [SQL_ASKING] = "SELECT @view FROM goal_view v INDEXED BY goal_view_asking WHERE v.face = 2"
                   " AND v.asked_at >= 0"
                   " ORDER BY v.asked_at, v.goal_id LIMIT ?1",
    [SQL_ASKING_COUNT] = "SELECT coalesce(sum(n), 0) FROM tally WHERE face = 2",
    [SQL_TALLY] = "SELECT face, sum(n) FROM tally GROUP BY face",
    [SQL_NAMED] =
        "SELECT goal_id FROM goal_view WHERE goal_id BETWEEN ?1 AND ?2 ORDER BY goal_id LIMIT ?3",
    [SQL_NUMBERED] = "SELECT goal_id FROM goal_view WHERE number = ?1 AND number > 0",

    /* Days are found by jumping from one to the next along the key; within each day, only records after the place are
     * read. */
    [SQL_FOLLOW_MARK] = "SELECT era, tx, EXISTS (SELECT 1 FROM milestone) FROM store",
    [SQL_FOLLOW_DAYS] =
        "WITH RECURSIVE d (day) AS (SELECT (SELECT min(day) FROM record) UNION ALL"
        " SELECT (SELECT min(day) FROM record WHERE record.day > d.day) FROM d WHERE d.day IS NOT NULL)"
        " SELECT day FROM d WHERE day IS NOT NULL",
    [SQL_FOLLOW_HEAD] = "SELECT tx, n FROM record WHERE day = ?1 AND (tx, n) >= (?2, ?3)"
                        " ORDER BY tx, n LIMIT 1",
    [SQL_FOLLOW_DAY] = "SELECT " LOGGED " FROM record WHERE day = ?1 AND (tx, n) >= (?2, ?3)"
                       " AND (tx, n) < (?4, ?5) ORDER BY tx, n LIMIT ?6",
    [SQL_FOLLOW_GOAL] = "SELECT " LOGGED " FROM record WHERE goal_id = ?1 AND (tx, n) >= (?2, ?3)"
                        " ORDER BY seq LIMIT ?4",
    [SQL_FOLLOW_OLDEST] = "SELECT tx FROM record WHERE day > 0 ORDER BY day, tx, n LIMIT 1",

    OF_PARTS(SQL_PART_LOAD, "SELECT n, body FROM @part WHERE goal_id = ?1 ORDER BY n"),
    OF_PARTS(SQL_PART_SHOW, "SELECT n, name, body FROM (SELECT n, name, body FROM @part"
                            " WHERE goal_id = ?1 ORDER BY n DESC LIMIT ?2) ORDER BY n"),
    OF_PARTS(SQL_PART_MOVE,
             "UPDATE @part SET body = ?4 WHERE goal_id = ?1 AND n = ?2 AND name = ?3"),
    OF_PARTS(SQL_PART_PUT, "INSERT INTO @part (goal_id, n, name, body) VALUES (?1, ?2, ?3, ?4)"
                           " ON CONFLICT (goal_id, n) DO UPDATE SET name = ?3, body = ?4"),
    OF_PARTS(SQL_PART_GONE, "DELETE FROM @part WHERE goal_id = ?1 AND n = ?2"),
    OF_PARTS(SQL_PART_FIND,
             "SELECT DISTINCT goal_id FROM @part WHERE name = ?1 ORDER BY goal_id LIMIT ?2"),
};

/* ---- replacing @ words ---- */

static bool is_one_of(const char *name, const char *const *names) {
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static const char *declared(const struct field *field) {
    switch (field->type) {
    case FIELD_TEXT: return "TEXT NOT NULL DEFAULT ''";
    case FIELD_ID: return "BLOB NOT NULL DEFAULT x''";
    default: return "INTEGER NOT NULL DEFAULT 0";
    }
}

enum listing { LIST_VIEW, LIST_NAMES, LIST_MARKS, LIST_REST, LIST_COLUMNS, LISTINGS };
static const char *const LISTED[LISTINGS] = {"@view", "@names", "@marks", "@rest", "@columns"};
/* Indexed columns and the title: separate statements set them. */
static const char *const INDEXED[] = {"goal_id", "face",   "status", "created_at",
                                      "title",   "number", NULL};

static size_t column_put(enum listing listing, const struct field *field, char *to, size_t room) {
    const char *name = field->name;
    switch (listing) {
    case LIST_VIEW: return (size_t)snprintf(to, room, "v.%s", name);
    case LIST_MARKS: return (size_t)snprintf(to, room, ":%s", name);
    case LIST_REST: return (size_t)snprintf(to, room, "%s = :%s", name, name);
    case LIST_COLUMNS: return (size_t)snprintf(to, room, "%s %s", name, declared(field));
    default: return (size_t)snprintf(to, room, "%s", name);
    }
}

/* The columns of goal_view that stand before asked_at, which is no field; later ones stand after it. */
enum { VIEW_FIELDS_5 = 9 };

static size_t columns_put(enum listing listing, char *to, size_t room) {
    size_t len = 0, count = listing == LIST_COLUMNS ? VIEW_FIELDS_5 : GOAL_VIEW.count;
    for (size_t i = 0; i < count; i++) {
        const struct field *field = &GOAL_VIEW.fields[i];
        if (listing == LIST_REST && is_one_of(field->name, INDEXED))
            continue;
        if (len > 0)
            len += (size_t)snprintf(to + len, room - len, ", ");
        len += column_put(listing, field, to + len, room - len);
        must(len < room);
    }
    return len;
}

static bool begins_with(const char *text, const char *word) {
    return strncmp(text, word, strlen(word)) == 0;
}

const char *sqlite_complete(const char *form, const char *part, char text[SQL_TEXT]) {
    size_t len = 0;
    while (*form) {
        enum listing listing = 0;
        while (listing < LISTINGS && !begins_with(form, LISTED[listing]))
            listing++;
        if (listing < LISTINGS) {
            len += columns_put(listing, text + len, SQL_TEXT - len);
            form += strlen(LISTED[listing]);
        } else if (begins_with(form, "@part")) {
            len += (size_t)snprintf(text + len, SQL_TEXT - len, "%s", part);
            form += strlen("@part");
        } else {
            text[len++] = *form++;
        }
        must(len < SQL_TEXT);
    }
    text[len] = 0;
    return text;
}

static const char *add_text(enum store_table table, char text[SQL_TEXT]) {
    char names[SQL_TEXT / 3], marks[SQL_TEXT / 3];
    int len = snprintf(text, SQL_TEXT, "INSERT OR IGNORE INTO %s (%s) VALUES (%s)",
                       table_name(table), table_columns(table, "@", NULL, names, sizeof names),
                       table_columns(table, "?#", NULL, marks, sizeof marks));
    must(len < SQL_TEXT);
    return text;
}

const char *sqlite_text(enum sql sql, char text[SQL_TEXT]) {
    if (sql >= SQL_ADD && sql <= SQL_ADD_LAST)
        return add_text((enum store_table)(sql - SQL_ADD), text);
    const char *part = sql < SQL_OF_PARTS ? NULL : PART[(sql - SQL_OF_PARTS) % PARTS].table;
    return sqlite_complete(STATEMENTS[sql], part, text);
}
