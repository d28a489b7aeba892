/* SPDX-License-Identifier: Apache-2.0 */
/* Migrates the tables of an older build, in PostgreSQL. */
#include "store/postgres/postgres_state.h"

/* Hot tables leave room in each page for the next row version; due_at is deliberately in no index; records are
 * partitioned by day, so that a day can be dropped, and are append-only (EVENT-01). Tables that already exist stay: a
 * migration has left them in the right form. */
static const char TABLES[] =
    "CREATE TABLE IF NOT EXISTS store (one int PRIMARY KEY CHECK (one = 1), version int NOT NULL,"
    "  oldest int NOT NULL, level int NOT NULL, era bigint NOT NULL, instance uuid NOT NULL, safe text);"
    "CREATE TABLE IF NOT EXISTS host (host_id int PRIMARY KEY, instance bigint NOT NULL,"
    "  epoch bigint NOT NULL, beat bigint NOT NULL, batch bigint NOT NULL, state int NOT NULL,"
    "  build text NOT NULL, addr text NOT NULL, speaks int NOT NULL DEFAULT 1) WITH (fillfactor = 20);"
    "CREATE TABLE IF NOT EXISTS goal (goal_id uuid PRIMARY KEY, owner int NOT NULL,"
    "  fence bigint NOT NULL, version bigint NOT NULL, seq bigint NOT NULL, head bytea NOT NULL,"
    "  due_at bigint NOT NULL, open bool NOT NULL, aside bool NOT NULL, hot bytea NOT NULL)"
    "  WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);"
    "CREATE INDEX IF NOT EXISTS goal_owner ON goal (owner, goal_id) WHERE open;"
    "CREATE TABLE IF NOT EXISTS goal_view ({definitions}, words tsvector NOT NULL GENERATED ALWAYS AS"
    "  (to_tsvector('simple', title)) STORED, PRIMARY KEY (goal_id)) WITH (fillfactor = 80);"
    "ALTER TABLE goal_view ADD IF NOT EXISTS ended_at bigint NOT NULL DEFAULT 0,"
    " ADD IF NOT EXISTS asked_at bigint NOT NULL DEFAULT 0,"
    " ADD IF NOT EXISTS repository bigint NOT NULL DEFAULT 0,"
    " ADD IF NOT EXISTS number bigint NOT NULL DEFAULT 0;"
    "CREATE INDEX IF NOT EXISTS goal_view_newest ON goal_view (created_at, goal_id);"
    "CREATE INDEX IF NOT EXISTS goal_view_faces ON goal_view (status, face, created_at, goal_id);"
    "CREATE INDEX IF NOT EXISTS goal_view_words ON goal_view USING gin (words) WITH (fastupdate = off);"
    "CREATE TABLE IF NOT EXISTS goal_tag (tag text COLLATE \"C\" NOT NULL, face int NOT NULL,"
    "  created_at bigint NOT NULL, goal_id uuid NOT NULL, PRIMARY KEY (goal_id, tag));"
    "CREATE INDEX IF NOT EXISTS goal_tag_faces ON goal_tag (tag, face, created_at, goal_id);"
    "CREATE TABLE IF NOT EXISTS text (goal_id uuid NOT NULL, hash bytea NOT NULL, body bytea NOT NULL,"
    "  PRIMARY KEY (goal_id, hash));"
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
    "CREATE OR REPLACE FUNCTION record_stays() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    "  IF current_setting('overseer.retaining', true) IS DISTINCT FROM 'on' THEN"
    "    RAISE EXCEPTION 'records are append-only'; END IF;"
    "  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $$;"
    "CREATE OR REPLACE TRIGGER record_stays BEFORE UPDATE OR DELETE ON record"
    "  FOR EACH ROW EXECUTE FUNCTION record_stays();"
    "CREATE TABLE IF NOT EXISTS milestone (goal_id uuid NOT NULL, from_seq bigint NOT NULL,"
    "  to_seq bigint NOT NULL, n bigint NOT NULL, at bigint NOT NULL, last_hash bytea NOT NULL,"
    "  body bytea NOT NULL, PRIMARY KEY (goal_id, from_seq));"
    "CREATE TABLE IF NOT EXISTS seen (goal_id uuid NOT NULL, source uuid NOT NULL, at bigint NOT NULL,"
    "  PRIMARY KEY (goal_id, source));"
    "CREATE TABLE IF NOT EXISTS aside (goal_id uuid NOT NULL, source uuid NOT NULL, at bigint NOT NULL,"
    "  why text NOT NULL, body bytea NOT NULL, PRIMARY KEY (goal_id, source));"
    "CREATE TABLE IF NOT EXISTS tally (host_id int NOT NULL, face int NOT NULL, n bigint NOT NULL,"
    "  PRIMARY KEY (host_id, face)) WITH (fillfactor = 20);";

static const char PART_TABLE[] =
    "CREATE TABLE IF NOT EXISTS {part} (goal_id uuid NOT NULL, n int NOT NULL,"
    "  name text COLLATE \"C\" NOT NULL, body bytea NOT NULL, PRIMARY KEY (goal_id, n))"
    "  WITH (fillfactor = 80);"
    "CREATE INDEX IF NOT EXISTS {part}_name ON {part} (name, goal_id);";

/* ASSIGN-12: dispatches are append-only, like the log. ASSIGN-15: a body ends with the hash of its instruction, as 64
 * hexadecimal digits, and its check. */
static const char DISPATCH_TABLES[] =
    "CREATE FUNCTION dispatch_stays() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    "  IF current_setting('overseer.retaining', true) IS DISTINCT FROM 'on' THEN"
    "    RAISE EXCEPTION 'dispatches are append-only' USING ERRCODE = 'restrict_violation'; END IF;"
    "  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $$;"
    "CREATE TRIGGER dispatch_stays BEFORE UPDATE OR DELETE ON dispatch"
    "  FOR EACH ROW EXECUTE FUNCTION dispatch_stays();"
    "CREATE INDEX dispatch_instruction ON dispatch (substr(body, octet_length(body) - 67, 64))";

/* ---- creating and migrating the tables ---- */

static bool parts_make(struct pg_store *store, enum part_kind first, enum part_kind last) {
    for (enum part_kind part = first; part <= last; part++)
        if (!pg_execute(store, sql_expand(PART_TABLE, part, &store->scratch)))
            return false;
    return true;
}

bool pg_tables_make(struct pg_store *store) {
    arena_reset(&store->scratch);
    return pg_execute(store, sql_expand(TABLES, 0, &store->scratch)) &&
           parts_make(store, PART_NODE, PART_RUN);
}

/* Creates the tables that a store of this version does not have, from their rows of STORED. Texts of keys sort byte by
 * byte, as everywhere. */
bool pg_tables_add(struct pg_store *store, uint32_t version) {
    static const char *const TYPES[STORED_TYPES] = {
        [STORED_INT] = "int",     [STORED_LONG] = "bigint",
        [STORED_FLAG] = "bool",   [STORED_TEXT] = "text COLLATE \"C\"",
        [STORED_BYTES] = "bytea", [STORED_ID] = "uuid",
        [STORED_HASH] = "bytea"};
    char text[2048];
    for (enum store_table table = 0; table < TABLE_PART; table++)
        if (STORED[table].since > version &&
            !pg_execute(store,
                        table_create(table, TYPES, " WITH (fillfactor = 80)", text, sizeof text)))
            return false;
    return true;
}

bool postgres_from_3(struct pg_store *store) {
    arena_reset(&store->scratch);
    return parts_make(store, PART_ASSIGNMENT, PART_BUDGET) && pg_execute(store, DISPATCH_TABLES);
}

bool postgres_from_8(struct pg_store *store) {
    arena_reset(&store->scratch);
    return parts_make(store, PART_HOST_ACCESS, PART_HOST_ACCESS);
}

bool postgres_from_9(struct pg_store *store) {
    arena_reset(&store->scratch);
    return parts_make(store, PART_TASK_BATCH, PART_TASK_BATCH);
}

/* ---- from version 1 ---- */

/* Builds of version 1 would continue to write rows without a check: their sessions are terminated here, and they cannot
 * reconnect, because their statements name a table that no longer exists. */
static const char FROM_1[] =
    "LOCK TABLE store, host, goal, goal_text, goal_view, effect, record, inbox, seen, aside"
    "  IN ACCESS EXCLUSIVE MODE;"
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
    "  AND usename = current_user AND application_name = 'overseer' AND pid <> pg_backend_pid();"
    "ALTER TABLE store ADD oldest int NOT NULL DEFAULT 2, ADD level int NOT NULL DEFAULT 2,"
    "  ADD era bigint NOT NULL DEFAULT 0, ADD instance uuid NOT NULL DEFAULT gen_random_uuid(),"
    "  ADD safe text;"
    "ALTER TABLE store ALTER oldest DROP DEFAULT, ALTER level DROP DEFAULT, ALTER era DROP DEFAULT,"
    "  ALTER instance DROP DEFAULT;"
    "ALTER TABLE host ADD speaks int NOT NULL DEFAULT 1;"
    "ALTER TABLE goal_view RENAME TO goal_view_1;"
    "ALTER INDEX goal_view_pkey RENAME TO goal_view_1_pkey";
static const char PAGE_FROM_1[] =
    "SELECT g.goal_id, g.aside, g.hot, coalesce(t.title, ''), coalesce(v.updated_at, 0)"
    " FROM goal g LEFT JOIN goal_text t USING (goal_id) LEFT JOIN goal_view_1 v USING (goal_id)"
    " WHERE g.goal_id > $1::uuid ORDER BY g.goal_id LIMIT 1000";
static const char EFFECTS_FROM_1[] =
    "SELECT goal_id, n::int8, run_host::int8, state::int8, kind::int8, until, body FROM effect"
    " WHERE goal_id = ANY ($1::uuid[]) ORDER BY goal_id, n";
static const char HOTS[] = "UPDATE goal g SET hot = u.hot FROM unnest($1::uuid[], $2::bytea[])"
                           " AS u(goal_id, hot) WHERE g.goal_id = u.goal_id";
static const char BODIES[] =
    "UPDATE effect e SET body = u.body FROM unnest($1::uuid[], $2::int8[], $3::bytea[])"
    " AS u(goal_id, n, body) WHERE e.goal_id = u.goal_id AND e.n = u.n";
static const char VIEWS[] =
    "INSERT INTO goal_view ({columns}) SELECT {columns} FROM unnest({arrays})"
    " AS v({columns}) WHERE $1::int8 = 0";
static const char END_FROM_1[] =
    "INSERT INTO tally SELECT g.owner, v.face, count(*) FROM goal g JOIN goal_view v USING (goal_id)"
    "  GROUP BY g.owner, v.face;"
    "DROP TABLE goal_text; DROP TABLE goal_view_1";

static PGresult *ask(struct pg_store *store, const char *sql, const struct pg_params *params) {
    int sent = PQsendQueryParams(store->connection, sql, params->count, NULL, params->values,
                                 params->lengths, params->formats, 1);
    PGresult *result = pg_await(store->connection, sent, store->answer_ms);
    store->results[store->result_count++] = result; /* so that it does not leak */
    return pg_succeeded(result) ? result : NULL;
}

/* Adds the fields that a goal has today. Content that cannot be decoded stays as it is. */
static struct str hot_from_1(struct goal *goal, struct str hot, bool *ret_whole,
                             struct arena *arena) {
    *ret_whole = shape_decode(&GOAL_HOT, hot, goal);
    if (*ret_whole) {
        if (goal->status != GOAL_ACTIVE && goal->status != GOAL_PAUSED)
            goal->times.ended_at = goal->times.updated_at;
        hot = shape_encode(&GOAL_HOT, goal, arena);
    }
    return row_seal(ROW_GOAL, goal->id, 0, hot, arena);
}

/* A goal that cannot be read is shown as one that needs a person. */
static struct goal_view view_from_1(const struct goal_loaded *loaded, struct str title,
                                    int64_t at) {
    struct goal_commit commit = {.goal = loaded->goal, .title = title};
    if (!loaded->whole)
        commit.goal = (struct goal){.id = loaded->goal.id,
                                    .quarantined = true,
                                    .times.created_at = at,
                                    .times.updated_at = at};
    return view_of(&commit);
}

/* Seals the effects of a page, and adds them to its loaded goals. */
static bool effects_from_1(struct pg_store *store, const struct id *ids, uint32_t count,
                           struct goal_loaded *loaded) {
    struct arena *arena = &store->scratch;
    struct pg_params page = {.arena = arena}, params = {.arena = arena};
    param_ids(&page, ids, count);
    const PGresult *rows = ask(store, EFFECTS_FROM_1, &page);
    if (!rows)
        return false;
    struct pg_array goals = array_open(arena, FIELD_ID), ns = array_open(arena, FIELD_INT),
                    bodies = array_open(arena, FIELD_BYTES);
    for (int i = 0; i < PQntuples(rows); i++) {
        struct id goal = pg_id(rows, i, 0);
        struct effect_slot slot = pg_slot(rows, i, 1);
        struct str body = row_seal(ROW_EFFECT, goal, slot.n, pg_bytes(rows, i, 6, arena), arena);
        loaded_effect(&loaded[id_place(ids, count, goal)], slot);
        array_bytes(&goals, goal.bytes, sizeof goal.bytes);
        array_int(&ns, slot.n);
        array_bytes(&bodies, body.at, body.len);
    }
    param_array(&params, &goals);
    param_array(&params, &ns);
    param_array(&params, &bodies);
    return ask(store, BODIES, &params);
}

static bool hots_from_1(struct pg_store *store, const PGresult *rows, struct id *ids,
                        struct goal_loaded *loaded) {
    struct arena *arena = &store->scratch;
    struct pg_params params = {.arena = arena};
    struct pg_array hots = array_open(arena, FIELD_BYTES);
    uint32_t count = (uint32_t)PQntuples(rows);
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = loaded[i].goal.id = pg_id(rows, (int)i, 0);
        loaded[i].goal.quarantined = pg_int(rows, (int)i, 1);
        struct str hot =
            hot_from_1(&loaded[i].goal, pg_bytes(rows, (int)i, 2, arena), &loaded[i].whole, arena);
        array_bytes(&hots, hot.at, hot.len);
    }
    param_ids(&params, ids, count);
    param_array(&params, &hots);
    return ask(store, HOTS, &params);
}

static bool views_from_1(struct pg_store *store, const PGresult *rows,
                         const struct goal_loaded *loaded) {
    struct pg_params params = {.arena = &store->scratch};
    struct pg_array *arrays = view_arrays(&store->scratch);
    for (int i = 0; i < PQntuples(rows); i++) {
        struct goal_view view =
            view_from_1(&loaded[i], pg_bytes(rows, i, 3, &store->scratch), pg_int(rows, i, 4));
        view_put(arrays, &view);
    }
    param_int(&params, 0);
    for (size_t i = 0; i < GOAL_VIEW.count; i++)
        param_array(&params, &arrays[i]);
    return ask(store, sql_expand(VIEWS, 0, &store->scratch), &params);
}

/* Migrates a page of goals after `after`. */
static bool page_from_1(struct pg_store *store, struct id *after, bool *ret_more) {
    struct arena *arena = &store->scratch;
    struct pg_params params = {.arena = arena};
    param_id(&params, *after);
    const PGresult *rows = ask(store, PAGE_FROM_1, &params);
    if (!rows)
        return false;
    uint32_t count = (uint32_t)PQntuples(rows);
    *ret_more = count > 0;
    if (count == 0)
        return true;
    struct id *ids = arena_new(arena, struct id, count);
    struct goal_loaded *loaded = arena_new(arena, struct goal_loaded, count);
    bool ok = hots_from_1(store, rows, ids, loaded) && effects_from_1(store, ids, count, loaded) &&
              views_from_1(store, rows, loaded);
    *after = ids[count - 1];
    return ok;
}

bool postgres_from_1(struct pg_store *store) {
    struct id after = {0};
    bool more = true, ok = pg_execute(store, FROM_1) && pg_tables_make(store);
    while (ok && more) {
        arena_reset(&store->scratch);
        ok = page_from_1(store, &after, &more);
        pg_results_clear(store);
    }
    return ok && pg_execute(store, END_FROM_1);
}
