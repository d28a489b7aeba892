/* SPDX-License-Identifier: Apache-2.0 */
/* Which SQL does the PostgreSQL driver speak? The P numbers are the clauses of docs/protocol.md. */
#include "base/planted.h"
#include "store/postgres_state.h"

/* Hot rows leave room in their page for the next version; due_at is in no index on purpose; records are
 * partitioned by day, so that a day can be dropped. */
const char *const PG_TABLES =
    "SELECT pg_advisory_xact_lock(1330004562);"
    "CREATE TABLE IF NOT EXISTS store (one int PRIMARY KEY CHECK (one = 1), version int NOT NULL);"
    "CREATE TABLE IF NOT EXISTS host (host_id int PRIMARY KEY, instance bigint NOT NULL,"
    "  epoch bigint NOT NULL, beat bigint NOT NULL, batch bigint NOT NULL, state int NOT NULL,"
    "  build text NOT NULL, addr text NOT NULL) WITH (fillfactor = 20);"
    "CREATE TABLE IF NOT EXISTS goal (goal_id uuid PRIMARY KEY, owner int NOT NULL,"
    "  fence bigint NOT NULL, version bigint NOT NULL, seq bigint NOT NULL, head bytea NOT NULL,"
    "  due_at bigint NOT NULL, open bool NOT NULL, aside bool NOT NULL, hot bytea NOT NULL)"
    "  WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);"
    "CREATE INDEX IF NOT EXISTS goal_owner ON goal (owner, goal_id) WHERE open;"
    "CREATE TABLE IF NOT EXISTS goal_text (goal_id uuid PRIMARY KEY, title text NOT NULL);"
    "CREATE TABLE IF NOT EXISTS goal_view (goal_id uuid PRIMARY KEY, face int NOT NULL,"
    "  updated_at bigint NOT NULL) WITH (fillfactor = 80);"
    "CREATE TABLE IF NOT EXISTS effect (goal_id uuid NOT NULL, n int NOT NULL, run_host int NOT NULL,"
    "  state int NOT NULL, kind int NOT NULL, until bigint NOT NULL, body bytea NOT NULL,"
    "  PRIMARY KEY (goal_id, n)) WITH (fillfactor = 80);"
    "CREATE TABLE IF NOT EXISTS inbox (source uuid PRIMARY KEY, to_host int NOT NULL,"
    "  goal_id uuid NOT NULL, body bytea NOT NULL);"
    "CREATE INDEX IF NOT EXISTS inbox_host ON inbox (to_host);"
    "CREATE INDEX IF NOT EXISTS inbox_goal ON inbox (goal_id);"
    "CREATE TABLE IF NOT EXISTS record (day int NOT NULL, tx bigint NOT NULL, n int NOT NULL,"
    "  goal_id uuid NOT NULL, seq bigint NOT NULL, at bigint NOT NULL, type int NOT NULL,"
    "  core int NOT NULL, policy bytea NOT NULL, hash bytea NOT NULL, body_hash bytea, body bytea,"
    "  PRIMARY KEY (day, tx, n)) PARTITION BY RANGE (day);"
    "CREATE INDEX IF NOT EXISTS record_goal ON record (goal_id, seq);"
    "CREATE TABLE IF NOT EXISTS record_other PARTITION OF record DEFAULT;"
    "CREATE TABLE IF NOT EXISTS seen (goal_id uuid NOT NULL, source uuid NOT NULL, at bigint NOT NULL,"
    "  PRIMARY KEY (goal_id, source));"
    "CREATE TABLE IF NOT EXISTS aside (goal_id uuid NOT NULL, source uuid NOT NULL, at bigint NOT NULL,"
    "  why text NOT NULL, body bytea NOT NULL, PRIMARY KEY (goal_id, source));"
    "INSERT INTO store VALUES (1, 1) ON CONFLICT DO NOTHING;";

/* P6, in parts. $1 host, $2 epoch, $3 batch. Everything hangs on `ok`: goals that are still as they were
 * read, under a host row that is still ours. The host row is looked at once, not for each goal: the
 * statement before this one has locked it. */
#define GOALS_IN \
    "u AS (SELECT * FROM unnest($4::uuid[], $5::int8[], $6::int8[], $7::int8[], $8::bytea[], $9::int8[]," \
    " $10::bool[], $11::bool[], $12::bytea[])" \
    " AS u(goal_id, expected, version, seq, head, due_at, open, aside, hot))"
#define HOST_HELD \
    "EXISTS (SELECT FROM host h WHERE h.host_id = $1 AND h.epoch = $2 AND h.batch = $3)"
#define HOST_THERE "EXISTS (SELECT FROM host h WHERE h.host_id = $1 AND $2 >= 0 AND $3 >= 0)"
#define GOALS_SET \
    "UPDATE goal g SET version = u.version, seq = u.seq, head = u.head, due_at = u.due_at, open = u.open," \
    " aside = u.aside, hot = coalesce(u.hot, g.hot) FROM u WHERE g.goal_id = u.goal_id"
#define OK_CHECKED \
    "ok AS (" GOALS_SET " AND g.version = u.expected AND g.owner = $1 AND " HOST_HELD \
    " RETURNING g.goal_id)"
#define OK_NO_VERSION \
    "ok AS (" GOALS_SET " AND u.expected > 0 AND " HOST_HELD " RETURNING g.goal_id)"
#define OK_NO_EPOCH \
    "ok AS (" GOALS_SET " AND g.version = u.expected AND g.owner = $1 AND " HOST_THERE \
    " RETURNING g.goal_id)"
#define RECORDS_IN(from) \
    "r AS (INSERT INTO record SELECT r.day, (SELECT pg_current_xact_id()::text::int8), r.n, r.goal_id, r.seq, r.at," \
    " r.type, r.core, r.policy, r.hash, NULL, r.body FROM unnest($13::int8[], $14::int8[], $15::uuid[]," \
    " $16::int8[], $17::int8[], $18::int8[], $19::int8[], $20::bytea[], $21::bytea[], $22::bytea[])" \
    " AS r(day, n, goal_id, seq, at, type, core, policy, hash, body) JOIN " from \
    " USING (goal_id))"
#define GOALS_NEW \
    "made AS (INSERT INTO goal SELECT n.goal_id, $1, n.fence, n.version, n.seq, n.head, n.due_at, n.open," \
    " n.aside, n.hot FROM unnest($23::uuid[], $24::int8[], $25::int8[], $26::int8[], $27::bytea[]," \
    " $28::int8[], $29::bool[], $30::bool[], $31::bytea[]) AS n(goal_id, fence, version, seq, head, due_at," \
    " open, aside, hot) WHERE " HOST_HELD " ORDER BY n.goal_id ON CONFLICT DO NOTHING" \
    " RETURNING goal_id), done AS (SELECT goal_id FROM ok UNION ALL SELECT goal_id FROM made)"
#define TEXTS_IN \
    "t AS (INSERT INTO goal_text SELECT t.goal_id, t.title FROM unnest($23::uuid[], $32::text[])" \
    " AS t(goal_id, title) JOIN done USING (goal_id))"
#define VIEWS_IN \
    "v AS (INSERT INTO goal_view SELECT v.goal_id, v.face, v.updated_at FROM unnest($33::uuid[], $34::int8[]," \
    " $35::int8[]) AS v(goal_id, face, updated_at) JOIN done USING (goal_id) ON CONFLICT (goal_id)" \
    " DO UPDATE SET face = excluded.face, updated_at = excluded.updated_at)"
#define EFFECTS_IN \
    "em AS (INSERT INTO effect SELECT e.goal_id, e.n, e.run_host, e.state, e.kind, e.until, e.body FROM" \
    " unnest($36::uuid[], $37::int8[], $38::int8[], $39::int8[], $40::int8[], $41::int8[], $42::bytea[])" \
    " AS e(goal_id, n, run_host, state, kind, until, body) JOIN done USING (goal_id))," \
    " ev AS (UPDATE effect x SET run_host = e.run_host, state = e.state, until = e.until FROM" \
    " unnest($43::uuid[], $44::int8[], $45::int8[], $46::int8[], $47::int8[])" \
    " AS e(goal_id, n, run_host, state, until) JOIN done USING (goal_id)" \
    " WHERE x.goal_id = e.goal_id AND x.n = e.n)," \
    " ee AS (DELETE FROM effect x USING unnest($48::uuid[], $49::int8[]) AS e(goal_id, n)" \
    " JOIN done USING (goal_id) WHERE x.goal_id = e.goal_id AND x.n = e.n)"
#define SOURCES_IN \
    "i AS (DELETE FROM inbox x USING unnest($50::uuid[], $51::uuid[]) AS d(goal_id, source)" \
    " JOIN done USING (goal_id) WHERE x.source = d.source)," \
    " s AS (INSERT INTO seen SELECT s.goal_id, s.source, s.at FROM unnest($52::uuid[], $53::uuid[]," \
    " $54::int8[]) AS s(goal_id, source, at) JOIN done USING (goal_id) ON CONFLICT DO NOTHING)," \
    " a AS (INSERT INTO aside SELECT a.goal_id, a.source, a.at, a.why, a.body FROM unnest($55::uuid[]," \
    " $56::uuid[], $57::int8[], $58::text[], $59::bytea[]) AS a(goal_id, source, at, why, body)" \
    " JOIN done USING (goal_id) ON CONFLICT DO NOTHING)"

#define LEAN(ok) "WITH " GOALS_IN ", " ok ", " RECORDS_IN("ok") " SELECT goal_id FROM ok"
#define FULL(ok) \
    "WITH " GOALS_IN ", " ok ", " GOALS_NEW \
    ", " RECORDS_IN("done") ", " TEXTS_IN ", " VIEWS_IN ", " EFFECTS_IN ", " SOURCES_IN \
                            " SELECT goal_id FROM done"

#define BY_PLAN(statement) \
    (planted(NO_VERSION_CHECK) ? statement(OK_NO_VERSION) \
     : planted(NO_EPOCH_CHECK) ? statement(OK_NO_EPOCH) \
                               : statement(OK_CHECKED))

/* A page of one host's open goals, in key order. Compared as a pair, so that only the index over (owner,
 * goal_id) serves: with `owner = $1` a plan may walk through everybody's goals to find a few. */
#define PAGE(owner, after, limit) \
    "SELECT goal_id, due_at FROM goal WHERE (owner, goal_id) > (" owner ", " after ")" \
    " AND owner <= " owner " AND open ORDER BY owner, goal_id LIMIT " limit

/* P4: goals of a lost host. $1 host, $2 epoch, $3 victim, $4 its epoch, $5 limit or ids. A page is few
 * goals, but from a LIMIT that it does not know the planner guesses a tenth of the table: so the ids go on
 * as arrays, and effects are looked up for each goal, which leaves it nothing but the keys. */
#define ADOPT(which) \
    "WITH allowed AS (SELECT count(*) = 2 AS yes FROM host WHERE (host_id = $1 AND epoch = $2 AND state = 0)" \
    " OR (host_id = $3 AND epoch = $4 AND state > 0))," \
    " page AS (" which " FOR UPDATE)," \
    " g AS (UPDATE goal x SET owner = $1, fence = fence + 1, version = version + 1 FROM allowed" \
    " WHERE x.goal_id = ANY (ARRAY(SELECT goal_id FROM page)) AND x.owner = $3 AND allowed.yes" \
    " RETURNING x.goal_id, x.due_at)," \
    " e AS (UPDATE effect SET state = 2 WHERE goal_id = ANY (ARRAY(SELECT goal_id FROM g)) AND state = 1)" \
    " SELECT g.goal_id, g.due_at, f.n, f.run_host, CASE f.state WHEN 1 THEN 2 ELSE f.state END, f.kind," \
    " f.until, f.body FROM g LEFT JOIN LATERAL (SELECT * FROM effect WHERE effect.goal_id = g.goal_id" \
    " OFFSET 0) f ON true ORDER BY g.goal_id, f.n"

const struct pg_statement PG_STATEMENTS[PG_SQL_COUNT] = {
    [PG_BEGIN] = {"", "BEGIN"},
    [PG_COMMIT] = {"", "COMMIT"},
    [PG_ROLLBACK] = {"", "ROLLBACK"},
    [PG_JOIN] = {"iitt",
                 "INSERT INTO host VALUES ($1, $2::int8, 1, 1, 0, 0, $3::text, $4::text)"
                 " ON CONFLICT (host_id) DO UPDATE SET instance = $2, epoch = host.epoch + 1,"
                 " beat = host.beat + 1, state = 0, build = $3, addr = $4 RETURNING epoch, batch"},
    [PG_BEAT] = {"ii", "UPDATE host SET beat = beat + 1 WHERE host_id = $1 AND epoch = $2"},
    [PG_HOSTS] = {"ii",
                  "SELECT host_id::int8, epoch, beat, batch, state::int8 FROM host"
                  " WHERE host_id <> $1 AND state < 2 ORDER BY host_id < $1, host_id LIMIT $2"},
    /* What was forwarded to a host that is gone is anybody's: whoever meets it adopts its goal. */
    [PG_INBOX] =
        {"ii", "SELECT source, goal_id, body FROM inbox WHERE to_host = ANY(ARRAY[$1::int8] ||"
               " ARRAY(SELECT host_id::int8 FROM host WHERE state = 2)) ORDER BY source LIMIT $2"},
    [PG_TAKE] = {"iii", "UPDATE host SET epoch = epoch + 1, state = 1"
                        " WHERE host_id = $1 AND epoch = $2 AND beat = $3 AND state = 0"},
    [PG_ADOPT_LOCK] = {"iiii", "SELECT host_id FROM host WHERE (host_id = $1 AND epoch = $2) OR"
                               " (host_id = $3 AND epoch = $4) ORDER BY host_id FOR UPDATE"},
    [PG_ADOPT_PAGE] = {"iiiii",
                       ADOPT(PAGE("$3", "'00000000-0000-0000-0000-000000000000'", "$5::int8"))},
    [PG_ADOPT_ONLY] =
        {"iiii",
         ADOPT(
             "SELECT goal_id FROM goal WHERE owner = $3 AND goal_id = ANY($5::uuid[]) ORDER BY goal_id")},
    [PG_ADOPT_INBOX] = {"ii", "UPDATE inbox i SET to_host = $1 FROM goal g"
                              " WHERE i.to_host = $2 AND g.goal_id = i.goal_id AND g.owner = $1"},
    [PG_ADOPT_GONE] = {"ii",
                       "UPDATE host SET state = 2 WHERE host_id = $1 AND epoch = $2 AND state = 1"
                       " AND NOT EXISTS (SELECT 1 FROM goal WHERE owner = $1 AND open)"},
    [PG_OWNED] = {"iui", PAGE("$1", "$2", "$3")},
    [PG_OWNED_EFFECTS] =
        {"iui",
         "SELECT goal_id, n::int8, run_host::int8, state::int8, kind::int8, until, body FROM effect"
         " WHERE goal_id = ANY (ARRAY(SELECT goal_id FROM (" PAGE(
             "$1", "$2", "$3") ") g)) ORDER BY goal_id, n"},
    [PG_GOALS] =
        {"",
         "SELECT g.goal_id, g.owner::int8, g.fence, g.version, g.seq, g.head, g.due_at, g.aside, g.hot,"
         " h.epoch, h.state::int8 FROM goal g LEFT JOIN host h ON h.host_id = g.owner"
         " WHERE g.goal_id = ANY($1::uuid[])"},
    [PG_EFFECTS] = {"",
                    "SELECT goal_id, n::int8, run_host::int8, state::int8, kind::int8, until, body"
                    " FROM effect WHERE goal_id = ANY($1::uuid[]) ORDER BY goal_id, n"},
    [PG_SEEN] =
        {"",
         "SELECT k.i FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS k(goal_id, source, i)"
         " JOIN seen s ON s.goal_id = k.goal_id AND s.source = k.source"},
    [PG_MARKS] = {"", "SELECT k.i FROM unnest($1::uuid[], $2::int8[], $3::bytea[]) WITH ORDINALITY"
                      " AS k(goal_id, seq, hash, i) WHERE EXISTS (SELECT 1 FROM record r"
                      " WHERE r.goal_id = k.goal_id AND r.seq = k.seq AND r.hash = k.hash)"},
    [PG_BATCH] =
        {"iii",
         planted(NO_EPOCH_CHECK)
             ? "UPDATE host SET batch = $3 WHERE host_id = $1 AND $2::int8 >= 0"
             : "UPDATE host SET batch = $3 WHERE host_id = $1 AND epoch = $2 AND batch = $3 - 1"},
    [PG_COMMIT_LEAN] = {"iii", BY_PLAN(LEAN)},
    [PG_COMMIT_FULL] = {"iii", BY_PLAN(FULL)},
    [PG_RESOLVE] =
        {"ii",
         "UPDATE host SET epoch = epoch + 1 WHERE host_id = $1 AND instance = $2 AND state = 0"
         " RETURNING epoch, batch"},
    [PG_FORWARD] =
        {"",
         "WITH f AS (SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bytea[])"
         " AS f(source, goal_id, body)), g AS (SELECT goal_id, owner FROM goal"
         " WHERE goal_id = ANY($2::uuid[]) ORDER BY goal_id FOR SHARE)"
         " INSERT INTO inbox SELECT f.source, g.owner, f.goal_id, f.body FROM f JOIN g USING (goal_id)"
         " ORDER BY f.source ON CONFLICT (source) DO UPDATE SET to_host = excluded.to_host"},
    [PG_SHOW_TEXT] = {"u", "SELECT title FROM goal_text WHERE goal_id = $1"},
    [PG_SHOW_ASIDE] = {"u", "SELECT why FROM aside WHERE goal_id = $1 ORDER BY at, source LIMIT 1"},
    [PG_SHOW_RECORDS] = {"ui",
                         "SELECT seq, at, type::int8, core::int8, policy, hash, body FROM record"
                         " WHERE goal_id = $1 ORDER BY seq DESC LIMIT $2"},
};
