/* SPDX-License-Identifier: Apache-2.0 */
/* The SQL statements of the PostgreSQL driver. The P numbers are the clauses of docs/protocol.md. */
#include "base/planted.h"
#include "store/postgres/postgres_state.h"

/* True if the current transaction wrote this row, and thus also holds its lock. */
#define OURS(row) row ".xmin = (SELECT pg_current_xact_id()::xid)"

/* P6, in parts. $1 host, $2 epoch, $3 batch. Everything depends on `ok`: the goals that are still as they were read,
 * under a host row that the previous statement has moved to this batch. The host row is checked once, not for each
 * goal. */
#define GOALS_IN \
    "u AS (SELECT * FROM unnest($4::uuid[], $5::int8[], $6::int8[], $7::int8[], $8::bytea[], $9::int8[]," \
    " $10::bool[], $11::bool[], $12::bytea[])" \
    " AS u(goal_id, expected, version, seq, head, due_at, open, aside, hot))"
#define HOST_HELD "EXISTS (SELECT FROM host h WHERE h.host_id = $1 AND " OURS("h") ")"
#define HOST_THERE "EXISTS (SELECT FROM host h WHERE h.host_id = $1)"
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
#define EFFECTS_IN \
    "em AS (INSERT INTO effect SELECT e.goal_id, e.n, e.run_host, e.state, e.kind, e.until, e.body FROM" \
    " unnest($32::uuid[], $33::int8[], $34::int8[], $35::int8[], $36::int8[], $37::int8[], $38::bytea[])" \
    " AS e(goal_id, n, run_host, state, kind, until, body) JOIN done USING (goal_id))," \
    " ev AS (UPDATE effect x SET run_host = e.run_host, state = e.state, until = e.until FROM" \
    " unnest($39::uuid[], $40::int8[], $41::int8[], $42::int8[], $43::int8[])" \
    " AS e(goal_id, n, run_host, state, until) JOIN done USING (goal_id)" \
    " WHERE x.goal_id = e.goal_id AND x.n = e.n)," \
    " ee AS (DELETE FROM effect x USING unnest($44::uuid[], $45::int8[]) AS e(goal_id, n)" \
    " JOIN done USING (goal_id) WHERE x.goal_id = e.goal_id AND x.n = e.n)"
#define SOURCES_IN \
    "i AS (DELETE FROM inbox x USING unnest($46::uuid[], $47::uuid[]) AS d(goal_id, source)" \
    " JOIN done USING (goal_id) WHERE x.source = d.source)," \
    " s AS (INSERT INTO seen SELECT s.goal_id, s.source, s.at FROM unnest($48::uuid[], $49::uuid[]," \
    " $50::int8[]) AS s(goal_id, source, at) JOIN done USING (goal_id) ON CONFLICT DO NOTHING)," \
    " a AS (INSERT INTO aside SELECT a.goal_id, a.source, a.at, a.why, a.body FROM unnest($51::uuid[]," \
    " $52::uuid[], $53::int8[], $54::text[], $55::bytea[]) AS a(goal_id, source, at, why, body)" \
    " JOIN done USING (goal_id) ON CONFLICT DO NOTHING)"

#define LEAN(ok) "WITH " GOALS_IN ", " ok ", " RECORDS_IN("ok") " SELECT goal_id FROM ok"
#define FULL(ok) \
    "WITH " GOALS_IN ", " ok ", " GOALS_NEW \
    ", " RECORDS_IN("done") ", " EFFECTS_IN ", " SOURCES_IN " SELECT goal_id FROM done"

#define BY_PLAN(statement) \
    (planted(NO_VERSION_CHECK) ? statement(OK_NO_VERSION) \
     : planted(NO_EPOCH_CHECK) ? statement(OK_NO_EPOCH) \
                               : statement(OK_CHECKED))

/* A page of one host's open goals, in key order. The comparison uses the pair, so that only the index over (owner,
 * goal_id) can serve it: with `owner = $1` a plan may scan the goals of all hosts to find a few. */
#define PAGE(owner, after, limit) \
    "SELECT goal_id, due_at FROM goal WHERE (owner, goal_id) > (" owner ", " after ")" \
    " AND owner <= " owner " AND open ORDER BY owner, goal_id LIMIT " limit

/* P4: goals of a lost host. $1 host, $2 epoch, $3 victim, $4 its epoch, $5 limit or ids. A page has few goals, but for
 * a LIMIT that it does not know the planner assumes a tenth of the table: so the ids are passed on as arrays, and
 * effects are looked up for each goal, which leaves the planner only the keys. */
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

/* The store's mark, and for host $1: whether the level can be raised without excluding any host. */
#define MARK \
    "version::int8, oldest::int8, level::int8, era, instance, safe IS NOT NULL, stopped IS NOT NULL," \
    " CASE WHEN pg_is_in_recovery() THEN 0 ELSE" \
    " ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8 END"
#define LEVEL_MAY_RISE \
    "level < (SELECT speaks FROM host WHERE host_id = $1) AND NOT EXISTS" \
    " (SELECT FROM host h WHERE h.state < 2 AND h.speaks <= store.level)"

/* Lists, newest first. $1 how many, $2 and $3 after which (created_at, goal_id), $4 tag, $5 search, $6 statuses, $7
 * display states. With a filter, one range of the index is read for each status and display state: few keys of each,
 * and only these are sorted. Tags have no status: $7 are the display states that nearly always determine the status,
 * and $8 those that few goals of these statuses have, whose goals are scanned instead. The inner limits are literal
 * numbers, because for a parameter the planner assumes a tenth of the table. */
#define NEWEST " ORDER BY created_at DESC, goal_id DESC LIMIT "
#define BEHIND "(created_at, goal_id) < ($2, $3)"
#define KEYS_ALL(limit, and) \
    "SELECT created_at, goal_id" and " FROM goal_view WHERE " BEHIND NEWEST limit
#define KEYS_DISPLAY_STATES(limit, and) \
    "SELECT k.* FROM unnest($6) AS s(status), unnest($7) AS f(face), LATERAL (SELECT created_at, goal_id" and \
        " FROM goal_view v WHERE v.status = s.status AND v.face = f.face AND " BEHIND NEWEST limit \
        ") k" NEWEST limit
#define KEYS_TAG(limit) \
    "SELECT created_at, goal_id FROM (SELECT k.* FROM unnest($7) AS f(face), LATERAL (SELECT created_at," \
    " goal_id FROM goal_tag t WHERE t.tag = $4 AND t.face = f.face AND " BEHIND \
    " AND (cardinality($6) = 5" \
    " OR (SELECT v.status FROM goal_view v WHERE v.goal_id = t.goal_id) = ANY ($6))" NEWEST limit \
    ") k" \
    " UNION ALL SELECT k.* FROM unnest($6) AS s(status), unnest($8) AS f(face), LATERAL" \
    " (SELECT created_at, goal_id FROM goal_view v WHERE v.status = s.status AND v.face = f.face AND " BEHIND \
    " AND (SELECT true FROM goal_tag t WHERE t.goal_id = v.goal_id AND t.tag = $4)" NEWEST limit \
    ") k) l" NEWEST limit
#define VIEWS_OF(keys) \
    "SELECT v.{columns:, v.} FROM (" keys ") k JOIN goal_view v ON v.goal_id = k.goal_id" \
    " ORDER BY v.created_at DESC, v.goal_id DESC"
#define LIST(keys) VIEWS_OF("SELECT goal_id FROM (" keys ") p" NEWEST "$1")
_Static_assert(LIMIT_LIST_PAGE == 200, "201 below: a page and one more");
_Static_assert(GOAL_STATUSES == 5, "5 above: any status");

/* Word search. A common word is found among the newest goals; a rare word has few matches, all of which the word index
 * finds. So the newest goals of the list are scanned first, and the index is used only if they did not fill the page
 * and, with a filter, were not the whole list. */
#define SEARCHED "20000"      /* goals in order of age are stored side by side */
#define SEARCHED_APART "2000" /* with a filter, each row is on a page of its own */
#define WORDS "words @@ (SELECT plainto_tsquery('simple', $5))"
#define ALL_SEEN(keys, searched) " OR (SELECT count(*) FROM (" keys ") k) < " searched
#define SEARCH(newest, all_seen, tagged) \
    "WITH near AS MATERIALIZED (SELECT created_at, goal_id FROM (" newest \
    ") n WHERE " WORDS NEWEST "$1)," \
    " far AS MATERIALIZED (SELECT created_at, goal_id FROM (SELECT * FROM goal_view WHERE " WORDS \
    " AND NOT ((SELECT count(*) FROM near) >= $1" all_seen ") OFFSET 0) h WHERE " BEHIND \
    " AND status = ANY ($6) AND face = ANY ($7 || $8)" tagged NEWEST "$1) " VIEWS_OF( \
        "SELECT goal_id FROM far UNION ALL SELECT goal_id FROM near WHERE NOT EXISTS (SELECT FROM far)")
#define OF_TAG " AND EXISTS (SELECT FROM goal_tag t WHERE t.goal_id = h.goal_id AND t.tag = $4)"
#define WITH_WORDS(keys) \
    "SELECT k.*, v.words FROM (" keys ") k JOIN goal_view v ON v.goal_id = k.goal_id"
#define LIST_TYPES "iiuttaaa"

/* The log in the order of commits, below the oldest running transaction; reading by a serial number would skip records
 * that commit later. $1 and $2 are the place, $3 how many. */
#define SETTLED "pg_snapshot_xmin(pg_current_snapshot())::text::int8"
#define FROM_PLACE " AND (r.tx, r.n) >= ($1, $2)"
/* The days that have their own partition, and those that do not. */
#define DAYS \
    "(WITH RECURSIVE o AS ((SELECT day FROM record_other ORDER BY day LIMIT 1) UNION ALL SELECT (SELECT r.day" \
    " FROM record_other r WHERE r.day > o.day ORDER BY r.day LIMIT 1) FROM o WHERE o.day IS NOT NULL)" \
    " SELECT day FROM o WHERE day IS NOT NULL UNION SELECT CASE WHEN name ~ '^record_[0-9]+$'" \
    " THEN substr(name, 8)::int END FROM (SELECT (SELECT relname::text FROM pg_class c WHERE c.oid = i.inhrelid)" \
    " AS name FROM pg_inherits i WHERE i.inhparent = to_regclass('record') OFFSET 0) p ORDER BY day) d"
#define HEAD(where) \
    "LATERAL (SELECT tx, n FROM record r WHERE r.day = d.day" where " ORDER BY r.tx, r.n LIMIT 1) h"

/* Restricts rows of a goal's other tables to goals that this transaction has written. */
#define OF_OURS " JOIN goal g ON g.goal_id = x.goal_id WHERE " OURS("g")

const struct pg_statement PG_STATEMENTS[PG_SQL_COUNT] = {
    [PG_BEGIN] = {"", "BEGIN"},
    [PG_COMMIT] = {"", "COMMIT"},
    [PG_ROLLBACK] = {"", "ROLLBACK"},
    [PG_BEGIN_READ] = {"", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"},
    /* Shared lock: does not block other joins, but blocks a host that raises the level. */
    [PG_MARK_SHARED] = {"", "SELECT " MARK " FROM store FOR SHARE"},
    /* P13: read before the store's own row is locked in share mode. */
    [PG_JOIN_SEEN] = {"i", "SELECT epoch, beat, batch FROM host WHERE host_id = $1"},
    [PG_JOIN_BACK] =
        {"iiiiiiui",
         "UPDATE store SET era = era + 1 WHERE era = $6 AND instance = $7 AND ($8 <> 0 OR NOT EXISTS"
         " (SELECT FROM host WHERE host_id = $1 AND epoch >= $3 AND beat >= $4 AND batch >= $5))"
         " AND ($2 < 0 OR $2 = coalesce((SELECT epoch FROM host WHERE host_id = $1), 0))"},
    [PG_JOIN] =
        {"iittiiiii",
         "INSERT INTO host (host_id, instance, epoch, beat, batch, state, build, addr, speaks)"
         " SELECT $1, $2, $7 + 1, $8 + 1, $9, 0, $3, $4, $5 FROM store WHERE level <= $5"
         " ON CONFLICT (host_id) DO UPDATE SET instance = $2, epoch = greatest(host.epoch, $7) + 1,"
         " beat = greatest(host.beat, $8) + 1, batch = greatest(host.batch, $9), state = 0,"
         " build = $3, addr = $4, speaks = $5 WHERE $6::int8 < 0 OR host.epoch = $6"
         " RETURNING epoch, batch, policy, beat, number_next, number_end, number_era"},
    [PG_BEAT] = {"iiii", "UPDATE host SET beat = beat + 1 WHERE host_id = $1 AND epoch = $2"
                         " AND beat >= $3 AND batch >= $4"},
    [PG_HOSTS_ALL] = {"ii", "SELECT host_id::int8, epoch, beat, batch, state::int8, instance, addr"
                            " FROM host WHERE $1::int8 = 0 OR host_id = $1 ORDER BY host_id"
                            " LIMIT $2"},
    /* One statement, because it is all that an idle host sends: the mark in every row, then the next $2 hosts, then $3
     * signals that were forwarded to this host. Signals for a host that is gone are returned to every host: the first
     * one that reads such a signal adopts its goal. */
    [PG_POLL] =
        {"iii",
         "SELECT " MARK ", " LEVEL_MAY_RISE ", p.* FROM store LEFT JOIN ("
         "(SELECT host_id::int8, epoch, beat, batch, state::int8, NULL::uuid AS source,"
         " NULL::uuid AS goal_id, NULL::bytea AS body FROM host"
         " WHERE host_id <> $1 AND state < 2 ORDER BY host_id < $1, host_id LIMIT $2) UNION ALL"
         " (SELECT NULL, NULL, NULL, NULL, NULL, source, goal_id, body FROM inbox"
         " WHERE to_host = ANY(ARRAY[$1::int8] ||"
         " ARRAY(SELECT host_id::int8 FROM host WHERE state = 2)) ORDER BY source LIMIT $3)"
         ") p ON true ORDER BY p.source NULLS FIRST, p.host_id < $1, p.host_id"},
    [PG_LEVEL_LOCK] = {"", "SELECT FROM store FOR UPDATE"},
    [PG_LEVEL_RAISE] = {"i", "UPDATE store SET level = level + 1 WHERE " LEVEL_MAY_RISE
                             " RETURNING level::int8"},
    /* P13: only while the taker's own row is as the taker knows it; $8: the victim has not beaten on the server's
     * current timeline. */
    [PG_TAKE] =
        {"iiiiiiii",
         "WITH taken AS (UPDATE host SET epoch = epoch + 1, state = 1"
         " WHERE host_id = $1 AND epoch = $2 AND beat = $3 AND state = 0 AND ($4 = 0 OR EXISTS"
         " (SELECT FROM host WHERE host_id = $4 AND epoch = $5 AND beat >= $6 AND batch >= $7))"
         " RETURNING 1), era AS (UPDATE store SET era = era + 1 WHERE $8 <> 0 AND EXISTS"
         " (SELECT FROM taken)) SELECT FROM taken"},
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
    [PG_OWNED_ONLY] = {"iv",
                       "SELECT goal_id, due_at FROM goal WHERE owner = $1 AND goal_id = ANY ($2)"
                       " ORDER BY goal_id"},
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
    [PG_BATCH] = {"iiii",
                  planted(NO_EPOCH_CHECK)
                      ? "UPDATE host SET batch = $3, number_next = greatest(number_next, $4)"
                        " WHERE host_id = $1 AND $2::int8 >= 0"
                      : "UPDATE host SET batch = $3, number_next = greatest(number_next, $4)"
                        " WHERE host_id = $1 AND epoch = $2 AND batch = $3 - 1"},
    /* P15: $3 more numbers from $4 on. A block that ends where they begin grows; any other is given up. The first ones of
     * an era leave a gap, $5 for each restore: numbers that are forgotten. */
    [PG_NUMBERS] =
        {"iiiii",
         "WITH ours AS MATERIALIZED (SELECT FROM host WHERE host_id = $1 AND epoch = $2 FOR UPDATE),"
         " s AS (UPDATE store SET numbered = greatest(CASE WHEN numbered_era = era THEN numbered"
         " ELSE greatest(numbered, (SELECT coalesce(max(number), 0) FROM goal_view WHERE number > 0))"
         " + $5 * (era - numbered_era) END, $4 - 1) + $3,"
         " numbered_era = era WHERE EXISTS (SELECT FROM ours)"
         " RETURNING numbered, era)"
         " UPDATE host h SET number_next = CASE WHEN h.number_era = s.era AND"
         " h.number_end = s.numbered + 1 - $3 THEN h.number_next ELSE s.numbered + 1 - $3 END,"
         " number_end = s.numbered + 1, number_era = s.era FROM s"
         " WHERE h.host_id = $1 AND h.epoch = $2 RETURNING number_next, number_end, number_era"},
    [PG_COMMIT_LEAN] = {"iii", BY_PLAN(LEAN)},
    [PG_COMMIT_FULL] = {"iii", BY_PLAN(FULL)},
    /* The tally is decremented for the view's old display state and incremented for its new one. */
    [PG_COMMIT_VIEWS] =
        {"i",
         "WITH v AS (SELECT x.* FROM unnest({arrays}) AS x({columns})" OF_OURS "),"
         " was AS (SELECT goal_id, face FROM goal_view WHERE goal_id = ANY ($2)),"
         " put AS (INSERT INTO goal_view ({columns}) SELECT {columns} FROM v"
         " ON CONFLICT (goal_id) DO UPDATE SET {set}),"
         " moved AS (SELECT v.goal_id, v.face, was.face AS before FROM v LEFT JOIN was USING (goal_id)"
         " WHERE was.face IS DISTINCT FROM v.face),"
         " tagged AS (UPDATE goal_tag t SET face = m.face FROM moved m WHERE t.goal_id = m.goal_id)"
         " INSERT INTO tally (host_id, face, n) SELECT $1, face, sum(n) FROM (SELECT face, 1 AS n FROM moved"
         " UNION ALL SELECT before, -1 FROM moved WHERE before IS NOT NULL) d GROUP BY face ORDER BY face"
         " ON CONFLICT (host_id, face) DO UPDATE SET n = tally.n + excluded.n"},
    /* $1 the goals whose tags are set, $2 and $3 one row for each tag. */
    [PG_COMMIT_TAGS] =
        {"v",
         "WITH x AS (SELECT x.goal_id, x.tag FROM unnest($2::uuid[], $3::text[]) AS x(goal_id, tag)" OF_OURS
         "), gone AS (DELETE FROM goal_tag t USING goal g WHERE t.goal_id = ANY ($1)"
         " AND g.goal_id = t.goal_id AND " OURS(
             "g") " AND NOT EXISTS (SELECT FROM x WHERE x.goal_id = t.goal_id AND x.tag = t.tag))"
                  " INSERT INTO goal_tag (tag, face, created_at, goal_id) SELECT x.tag, v.face, v.created_at,"
                  " x.goal_id FROM x JOIN goal_view v ON v.goal_id = x.goal_id ON CONFLICT DO NOTHING"},
    [PG_ADD...
        PG_ADD_LAST] = {"", OF_OURS " ON CONFLICT DO NOTHING"}, /* after what add_text() makes */
    /* If two hosts issue orders at the same time, one waits here, before either has a transaction number: so followers
     * receive orders in the order of their chain. Then the store's own row is locked, as in a join, so that the chain
     * of SYSTEM_GOAL does not fork. */
    [PG_ORDER_TURN] = {"", "SELECT pg_advisory_xact_lock(1330004564)"},
    [PG_ORDER_LOCK] = {"", "SELECT (stopped IS NOT NULL)::int::int8 FROM store FOR UPDATE"},
    [PG_ORDER_HELD] = {"ii",
                       "SELECT policy FROM host WHERE host_id = $1 AND epoch = $2 FOR UPDATE"},
    [PG_ORDER_HEAD] = {"u",
                       "SELECT seq, hash FROM record WHERE goal_id = $1 ORDER BY seq DESC LIMIT 1"},
    [PG_ORDER_RECORD] =
        {"iuiiii",
         "INSERT INTO record (day, tx, n, goal_id, seq, at, type, core, policy, hash, body)"
         " VALUES ($1, (SELECT pg_current_xact_id()::text::int8), 0, $2, $3, $4, $5, $6, $7::bytea, $8::bytea,"
         " $9::bytea)"},
    [PG_ORDER_TEXT] = {"u",
                       "INSERT INTO text (goal_id, hash, body) VALUES ($1, $2::bytea, $3::bytea)"
                       " ON CONFLICT DO NOTHING"},
    [PG_ORDER_POLICY] = {"i", "UPDATE host SET policy = $2::bytea WHERE host_id = $1"},
    [PG_ORDER_STOP] = {"t", "UPDATE store SET stopped = $1"},
    [PG_ORDER_RESUME] = {"", "UPDATE store SET stopped = NULL"},
    [PG_RESOLVE] =
        {"ii",
         "UPDATE host SET epoch = epoch + 1 WHERE host_id = $1 AND instance = $2 AND state = 0"
         " RETURNING epoch, batch"},
    /* P9: at most $5 signals may wait for a host, 0: they are not counted; a signal that is already waiting may be
     * reassigned to another host. */
    [PG_FORWARD] =
        {"",
         "WITH f AS (SELECT DISTINCT ON (source) * FROM unnest($1::uuid[], $2::uuid[],"
         " $3::bytea[], $4::int8[]) AS f(source, goal_id, body, may_wait)), g AS (SELECT"
         " goal_id, owner FROM goal WHERE goal_id = ANY($2::uuid[]) ORDER BY goal_id FOR"
         " SHARE), o AS (SELECT DISTINCT owner FROM g), r AS (SELECT owner FROM o WHERE (SELECT"
         " count(*) FROM (SELECT FROM inbox i WHERE i.to_host = o.owner LIMIT $5::int8) x) <"
         " greatest($5::int8, 1)) INSERT INTO inbox SELECT f.source, g.owner, f.goal_id, f.body"
         " FROM f JOIN g USING (goal_id) WHERE f.may_wait = 0 OR g.owner IN (SELECT owner FROM r) OR"
         " f.source IN (SELECT i.source FROM inbox i WHERE i.source = ANY($1::uuid[])) ORDER BY"
         " f.source ON CONFLICT (source) DO UPDATE SET to_host = excluded.to_host RETURNING"
         " source"},
    [PG_SHOW_TITLE] = {"u", "SELECT title FROM goal_view WHERE goal_id = $1"},
    [PG_SHOW_TAGS] = {"u",
                      "SELECT tag FROM goal_tag WHERE goal_id = $1 ORDER BY tag COLLATE \"C\""},
    [PG_SHOW_TEXTS] = {"u",
                       "SELECT hash, body FROM text WHERE goal_id = $1 AND hash = ANY ($2::bytea[])"
                       " ORDER BY hash"},
    [PG_SHOW_ASIDE] = {"u", "SELECT why FROM aside WHERE goal_id = $1 ORDER BY at, source LIMIT 1"},
    [PG_SHOW_RECORDS] =
        {"uiii", "SELECT seq, at, type::int8, core::int8, policy, hash, body FROM record"
                 " WHERE goal_id = $1 AND type BETWEEN $3 AND $4 ORDER BY seq DESC LIMIT $2"},
    [PG_BRIEF_VIEWS] = {"v", "SELECT goal_id, title FROM goal_view WHERE goal_id = ANY ($1)"},
    [PG_BRIEF_ASIDE] = {"v", "SELECT DISTINCT ON (goal_id) goal_id, why FROM aside"
                             " WHERE goal_id = ANY ($1) ORDER BY goal_id, at, source"},
    [PG_BRIEF_RECORDS] =
        {"viii",
         "SELECT r.seq, r.at, r.type::int8, r.core::int8, r.policy, r.hash, r.body, r.goal_id"
         " FROM unnest($1) AS g(goal_id), LATERAL (SELECT * FROM record WHERE goal_id = g.goal_id"
         " AND type BETWEEN $3 AND $4 ORDER BY seq DESC LIMIT $2) r"
         " ORDER BY r.goal_id, r.seq DESC"},
    [PG_BRIEF_TEXTS] =
        {"v",
         "SELECT t.hash, t.body, t.goal_id FROM unnest($1, $2::bytea[]) AS k(goal_id, hash)"
         " JOIN text t ON t.goal_id = k.goal_id AND t.hash = k.hash ORDER BY t.goal_id, t.hash"},
    [PG_HISTORY] = {"uii", "SELECT seq, at, type::int8, core::int8, policy, hash, body FROM record"
                           " WHERE goal_id = $1 AND seq > $2 ORDER BY seq LIMIT $3"},
    [PG_FIND_INSTRUCTION] =
        {"ti",
         "SELECT DISTINCT goal_id FROM dispatch WHERE substr(body, octet_length(body) - 67, 64)"
         " = convert_to($1, 'UTF8') ORDER BY goal_id LIMIT $2"},
    [PG_LIST_ALL] = {LIST_TYPES, LIST(KEYS_ALL("201", ""))},
    [PG_LIST_DISPLAY_STATES] = {LIST_TYPES, LIST(KEYS_DISPLAY_STATES("201", ""))},
    [PG_LIST_TAG] = {LIST_TYPES, LIST(KEYS_TAG("201"))},
    [PG_SEARCH_ALL] = {LIST_TYPES, SEARCH(KEYS_ALL(SEARCHED, ", words"), "", "")},
    [PG_SEARCH_DISPLAY_STATES] =
        {LIST_TYPES, SEARCH(KEYS_DISPLAY_STATES(SEARCHED_APART, ", words"),
                            ALL_SEEN(KEYS_DISPLAY_STATES(SEARCHED_APART, ""), SEARCHED_APART), "")},
    [PG_SEARCH_TAG] = {LIST_TYPES,
                       SEARCH(WITH_WORDS(KEYS_TAG(SEARCHED_APART)),
                              ALL_SEEN(KEYS_TAG(SEARCHED_APART), SEARCHED_APART), OF_TAG)},
    /* 3 is DISPLAY_DONE, as in the index. */
    [PG_ENDED] = {"ii",
                  "SELECT v.{columns:, v.} FROM goal_view v WHERE v.face = 3 AND v.ended_at >= $1"
                  " ORDER BY v.ended_at DESC, v.goal_id DESC LIMIT $2"},
    [PG_ENDED_COUNT] = {"i", "SELECT count(*) FROM goal_view WHERE face = 3 AND ended_at >= $1"},
    /* 2 is DISPLAY_NEEDS_YOU, as in the index. */
    [PG_ASKING] = {"i", "SELECT v.{columns:, v.} FROM goal_view v WHERE v.face = 2"
                        " ORDER BY v.asked_at, v.goal_id LIMIT $1"},
    [PG_ASKING_COUNT] = {"", "SELECT coalesce(sum(n), 0)::int8 FROM tally WHERE face = 2"},
    [PG_TALLY] = {"", "SELECT face::int8, sum(n)::int8 FROM tally GROUP BY face ORDER BY face"},
    [PG_NUMBERED] = {"i", "SELECT goal_id FROM goal_view WHERE number = $1 AND number > 0"},
    [PG_NAMED] = {"uui", "SELECT goal_id FROM goal_view WHERE goal_id BETWEEN $1 AND $2"
                         " ORDER BY goal_id LIMIT $3"},
    [PG_FOLLOW_MARK] = {"", "SELECT era, " SETTLED
                            ", EXISTS (SELECT FROM milestone)::int::int8 FROM store"},
    [PG_FOLLOW_OLDEST] = {"", "SELECT h.tx FROM " DAYS
                              ", " HEAD("") " WHERE d.day > 0 ORDER BY d.day LIMIT 1"},
    [PG_FOLLOW_NEWEST] = {"", "SELECT h.tx, h.n::int8 FROM " DAYS
                              ", LATERAL (SELECT tx, n FROM record r"
                              " WHERE r.day = d.day AND r.tx < " SETTLED
                              " ORDER BY r.tx DESC, r.n DESC LIMIT 1) h"
                              " ORDER BY h.tx DESC, h.n DESC LIMIT 1"},
    /* The next record of each day; $3 is the first day that is wanted. */
    [PG_FOLLOW_HEADS] = {"iii", "SELECT d.day::int8, h.tx, h.n::int8 FROM " DAYS
                                ", " HEAD(FROM_PLACE) " WHERE h.tx < " SETTLED
                                                      " AND (d.day = 0 OR d.day >= $3)"
                                                      " ORDER BY h.tx, h.n LIMIT 3"},
    [PG_FOLLOW_GOAL] =
        {"iiiu",
         "SELECT r.tx, r.n::int8, r.goal_id, r.seq, r.at, r.type::int8, r.core::int8, r.policy, r.hash,"
         " r.body FROM record r WHERE r.goal_id = $4" FROM_PLACE " AND r.tx < " SETTLED
         " ORDER BY r.seq LIMIT $3"},
    [PG_PARTS... PG_PARTS + PARTS - 1] =
        {"v",
         "SELECT goal_id, n::int8, body FROM {part} WHERE goal_id = ANY ($1) ORDER BY goal_id, n"},
    /* $1 to $4 parts to write, $5 and $6 parts to delete. */
    [PG_COMMIT_PARTS... PG_COMMIT_PARTS + PARTS - 1] =
        {"",
         "WITH put AS (INSERT INTO {part} (goal_id, n, name, body) SELECT x.goal_id, x.n, x.name, x.body"
         " FROM unnest($1::uuid[], $2::int8[], $3::text[], $4::bytea[]) AS x(goal_id, n, name, body)" OF_OURS
         " ON CONFLICT (goal_id, n) DO UPDATE SET name = excluded.name, body = excluded.body)"
         " DELETE FROM {part} p USING unnest($5::uuid[], $6::int8[]) AS x(goal_id, n)" OF_OURS
         " AND p.goal_id = x.goal_id AND p.n = x.n"},
    [PG_SHOW_PARTS... PG_SHOW_PARTS + PARTS -
        1] = {"ui",
              "SELECT n::int8, name, body FROM (SELECT n, name, body FROM {part} WHERE goal_id = $1"
              " ORDER BY n DESC LIMIT $2) p ORDER BY n"},
    [PG_FIND... PG_FIND + PARTS -
        1] = {"ti",
              "SELECT DISTINCT goal_id FROM {part} WHERE name = $1 ORDER BY goal_id LIMIT $2"},
};

/* ---- words in braces ---- */

static const char *array_type(enum field_type type) {
    return type == FIELD_ID ? "uuid[]" : type == FIELD_TEXT ? "text[]" : "int8[]";
}

static const char *column_type(enum field_type type) {
    switch (type) {
    case FIELD_ID: return "uuid NOT NULL";
    case FIELD_TEXT: return "text NOT NULL";
    case FIELD_ENUM:
    case FIELD_U32:
    case FIELD_FLAG: return "int NOT NULL";
    default: return "bigint NOT NULL";
    }
}

/* One field of GOAL_VIEW as an element of a list of columns, arrays, definitions or assignments. */
static struct str view_word(struct str word, size_t i, struct arena *arena) {
    const struct field *field = &GOAL_VIEW.fields[i];
    if (str_equal(word, STR("arrays")))
        return arena_format(arena, "$%zu::%s", i + 2, array_type(field->type));
    if (str_equal(word, STR("definitions")))
        return arena_format(arena, "%s %s", field->name, column_type(field->type));
    if (!str_equal(word, STR("set")))
        return str_of(field->name);
    if (field->type == FIELD_TEXT) /* empty: unchanged */
        return arena_format(arena, "%s = coalesce(nullif(excluded.%s, ''), goal_view.%s)",
                            field->name, field->name, field->name);
    if (strcmp(field->name, "number") == 0) /* a goal that cannot be decoded keeps its name */
        return STR("number = greatest(excluded.number, goal_view.number)");
    return arena_format(arena, "%s = excluded.%s", field->name, field->name);
}

/* The number of columns that goal_view was created with; later ones are added after the `words` column. */
enum { VIEW_FIELDS_2 = 8 };

/* In {columns:, v.} the text after the colon separates the columns, instead of a comma. */
static void view_words(struct writer *writer, struct str word) {
    struct str between = STR(", ");
    const char *colon = memchr(word.at, ':', word.len);
    if (colon) {
        between = (struct str){colon + 1, word.len - (size_t)(colon + 1 - word.at)};
        word.len = (size_t)(colon - word.at);
    }
    size_t count = str_equal(word, STR("definitions")) ? VIEW_FIELDS_2 : GOAL_VIEW.count;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            write_raw(writer, between);
        write_raw(writer, view_word(word, i, writer->arena));
    }
}

const char *sql_expand(const char *sql, enum part_kind part, struct arena *arena) {
    struct writer writer = {.arena = arena};
    while (*sql) {
        size_t plain = strcspn(sql, "{");
        write_raw(&writer, (struct str){sql, plain});
        sql += plain;
        if (!*sql)
            break;
        struct str word = {sql + 1, strcspn(sql, "}") - 1};
        if (str_equal(word, STR("part")))
            write_raw(&writer, str_of(PART[part].table));
        else
            view_words(&writer, word);
        sql += word.len + 2;
    }
    write_byte(&writer, 0);
    return writer.at;
}

static const char *add_text(enum store_table table, const char *rest, struct arena *arena) {
    static const char *const TYPES[STORED_TYPES] = {
        [STORED_INT] = "int8",  [STORED_LONG] = "int8",   [STORED_FLAG] = "bool",
        [STORED_TEXT] = "text", [STORED_BYTES] = "bytea", [STORED_ID] = "uuid",
        [STORED_HASH] = "bytea"};
    char names[512], values[512], arrays[512];
    struct str text =
        arena_format(arena, "INSERT INTO %s (%s) SELECT %s FROM unnest(%s) AS x(%s)%s%c",
                     table_name(table), table_columns(table, "@", NULL, names, sizeof names),
                     table_columns(table, "x.@", NULL, values, sizeof values),
                     table_columns(table, "$#::%[]", TYPES, arrays, sizeof arrays), names, rest, 0);
    return text.at;
}

const char *pg_text(enum pg_sql sql, struct arena *arena) {
    const char *text = PG_STATEMENTS[sql].sql;
    if (sql >= PG_ADD && sql <= PG_ADD_LAST)
        return STORED[sql - PG_ADD].added ? add_text((enum store_table)(sql - PG_ADD), text, arena)
                                          : NULL;
    return sql_expand(text, sql < PG_OF_PART ? 0 : (enum part_kind)((sql - PG_OF_PART) % PARTS),
                      arena);
}
