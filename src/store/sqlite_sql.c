/* SPDX-License-Identifier: Apache-2.0 */
/* Which SQL does the SQLite driver speak? The P numbers are the clauses of docs/protocol.md. */
#include "base/planted.h"
#include "store/sqlite_state.h"

/* Rows of the hot tables live in their primary key's tree; due_at is in no index on purpose. */
const char *const SQLITE_TABLES =
    "CREATE TABLE IF NOT EXISTS store (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL,"
    "  tx INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS host (host_id INTEGER PRIMARY KEY, instance INTEGER NOT NULL,"
    "  epoch INTEGER NOT NULL, beat INTEGER NOT NULL, batch INTEGER NOT NULL, state INTEGER NOT NULL,"
    "  build TEXT NOT NULL, addr TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS goal (goal_id BLOB PRIMARY KEY, owner INTEGER NOT NULL,"
    "  fence INTEGER NOT NULL, version INTEGER NOT NULL, seq INTEGER NOT NULL, head BLOB NOT NULL,"
    "  due_at INTEGER NOT NULL, open INTEGER NOT NULL, aside INTEGER NOT NULL, hot BLOB NOT NULL)"
    "  WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS goal_owner ON goal (owner) WHERE open;"
    "CREATE TABLE IF NOT EXISTS goal_text (goal_id BLOB PRIMARY KEY, title TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS goal_view (goal_id BLOB PRIMARY KEY, face INTEGER NOT NULL,"
    "  updated_at INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS effect (goal_id BLOB NOT NULL, n INTEGER NOT NULL,"
    "  run_host INTEGER NOT NULL, state INTEGER NOT NULL, kind INTEGER NOT NULL,"
    "  until INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (goal_id, n)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS inbox (source BLOB PRIMARY KEY, to_host INTEGER NOT NULL,"
    "  goal_id BLOB NOT NULL, body BLOB NOT NULL) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS inbox_host ON inbox (to_host);"
    "CREATE INDEX IF NOT EXISTS inbox_goal ON inbox (goal_id);"
    "CREATE TABLE IF NOT EXISTS record (day INTEGER NOT NULL, tx INTEGER NOT NULL, n INTEGER NOT NULL,"
    "  goal_id BLOB NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, type INTEGER NOT NULL,"
    "  core INTEGER NOT NULL, policy BLOB NOT NULL, hash BLOB NOT NULL, body_hash BLOB, body BLOB,"
    "  PRIMARY KEY (day, tx, n)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS record_goal ON record (goal_id, seq);"
    "CREATE TABLE IF NOT EXISTS seen (goal_id BLOB NOT NULL, source BLOB NOT NULL, at INTEGER NOT NULL,"
    "  PRIMARY KEY (goal_id, source)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS aside (goal_id BLOB NOT NULL, source BLOB NOT NULL, at INTEGER NOT NULL,"
    "  why TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (goal_id, source)) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO store VALUES (1, 1, 0);";

const char *const SQLITE_STATEMENTS[SQL_COUNT] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_BEGIN_READ] = "BEGIN",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ROLLBACK] = "ROLLBACK",
    [SQL_NEXT_TX] = "UPDATE store SET tx = tx + 1 RETURNING tx",

    [SQL_JOIN] =
        "INSERT INTO host VALUES (?1, ?2, 1, 1, 0, 0, ?3, ?4) ON CONFLICT (host_id) DO UPDATE"
        " SET instance = ?2, epoch = epoch + 1, beat = beat + 1, state = 0, build = ?3, addr = ?4"
        " RETURNING epoch, batch",
    [SQL_BEAT] = "UPDATE host SET beat = beat + 1 WHERE host_id = ?1 AND epoch = ?2",
    [SQL_HOSTS] =
        "SELECT host_id, epoch, beat, batch, state FROM host WHERE host_id <> ?1 AND state < 2"
        " ORDER BY host_id < ?1, host_id LIMIT ?2",
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
    [SQL_EFFECTS] =
        "SELECT n, run_host, state, kind, until, body FROM effect WHERE goal_id = ?1 ORDER BY n",
    [SQL_GOAL] =
        "SELECT g.owner, g.fence, g.version, g.seq, g.head, g.due_at, g.aside, g.hot,"
        " h.epoch, h.state FROM goal g LEFT JOIN host h ON h.host_id = g.owner WHERE g.goal_id = ?1",
    [SQL_SEEN] = "SELECT 1 FROM seen WHERE goal_id = ?1 AND source = ?2",
    [SQL_RECORD_AT] = "SELECT 1 FROM record WHERE goal_id = ?1 AND seq = ?2 AND hash = ?3",

    [SQL_BATCH] =
        planted(NO_EPOCH_CHECK)
            ? "UPDATE host SET batch = ?3 WHERE host_id = ?1 AND ?2 >= 0 AND ?3 > 0"
            : "UPDATE host SET batch = ?3 WHERE host_id = ?1 AND epoch = ?2 AND batch = ?3 - 1",
    [SQL_GOAL_MOVE] =
        "UPDATE goal SET version = ?1, seq = ?2, head = ?3, due_at = ?4, hot = ?5"
        " WHERE goal_id = ?6 AND version = ?7 AND owner = ?8 AND open = ?9 AND aside = ?10",
    [SQL_GOAL_UPDATE] =
        planted(NO_VERSION_CHECK)
            ? "UPDATE goal SET version = ?1, seq = ?2, head = ?3, due_at = ?4, open = ?5, aside = ?6,"
              " hot = coalesce(?7, hot) WHERE goal_id = ?8 AND ?9 >= 0 AND ?10 >= 0"
            : "UPDATE goal SET version = ?1, seq = ?2, head = ?3, due_at = ?4, open = ?5, aside = ?6,"
              " hot = coalesce(?7, hot) WHERE goal_id = ?8 AND version = ?9 AND owner = ?10",
    [SQL_GOAL_INSERT] = "INSERT INTO goal VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
                        " ON CONFLICT DO NOTHING",
    [SQL_TEXT_INSERT] = "INSERT INTO goal_text VALUES (?1, ?2)",
    [SQL_VIEW_PUT] = "INSERT OR REPLACE INTO goal_view VALUES (?1, ?2, ?3)",
    [SQL_RECORD_INSERT] =
        "INSERT INTO record VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, NULL, ?11)",
    [SQL_EFFECT_PUT] = "INSERT INTO effect VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [SQL_EFFECT_MOVE] =
        "UPDATE effect SET run_host = ?3, state = ?4, until = ?5 WHERE goal_id = ?1 AND n = ?2",
    [SQL_EFFECT_END] = "DELETE FROM effect WHERE goal_id = ?1 AND n = ?2",
    [SQL_INBOX_DONE] = "DELETE FROM inbox WHERE source = ?1",
    [SQL_SEEN_INSERT] = "INSERT OR IGNORE INTO seen VALUES (?1, ?2, ?3)",
    [SQL_ASIDE_INSERT] = "INSERT OR IGNORE INTO aside VALUES (?1, ?2, ?3, ?4, ?5)",

    [SQL_RESOLVE] =
        "UPDATE host SET epoch = epoch + 1 WHERE host_id = ?1 AND instance = ?2 AND state = 0"
        " RETURNING epoch, batch",
    [SQL_FORWARD] = "INSERT INTO inbox SELECT ?1, owner, goal_id, ?3 FROM goal WHERE goal_id = ?2"
                    " ON CONFLICT (source) DO UPDATE SET to_host = excluded.to_host",

    [SQL_SHOW_TEXT] = "SELECT title FROM goal_text WHERE goal_id = ?1",
    [SQL_SHOW_ASIDE] = "SELECT why FROM aside WHERE goal_id = ?1 ORDER BY at, source LIMIT 1",
    [SQL_SHOW_RECORDS] =
        "SELECT seq, at, type, core, policy, hash, body FROM record WHERE goal_id = ?1"
        " ORDER BY seq DESC LIMIT ?2",
};
