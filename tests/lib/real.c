/* SPDX-License-Identifier: Apache-2.0 */
/* How do real engines serve a pretend fleet? SQLite on a disk in memory, PostgreSQL on its socket; a session is
 * one atom: the whole transaction. Each host has a connection of its own, ghosts have another. */
#include "lib/backend.h"
#include "lib/memvfs.h"

#include "store/sqlite.h"

#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum { HANDLES = 8, CHECKER = 7 };

struct real {
    struct backend backend;
    struct store *handles[HANDLES]; /* by host; 0: ghosts */
    struct memdisk *disk;
    sqlite3 *check;
    PGconn *server;
    char *uri;
    uint64_t meddled;
};

static struct store *handle_of(struct real *real, uint32_t host) {
    char error[512] = "";
    if (real->handles[host])
        return real->handles[host];
    if (real->disk) {
        memdisk_owner(real->disk, (int)host);
        struct sqlite_options options = {.path = "/store.db",
                                         .vfs = memdisk_vfs(real->disk),
                                         .busy_ms = 0,
                                         .inline_checkpoints = true};
        real->handles[host] = sqlite_open(&options, error, sizeof error);
    } else
        real->handles[host] = store_open(str_of(real->uri), error, sizeof error);
    return real->handles[host];
}

static enum session_state advance(struct backend *backend, struct session *session) {
    struct real *real = (struct real *)backend;
    uint32_t host = session->ghost ? 0 : session->host;
    struct store *store = handle_of(real, host);
    if (real->disk)
        memdisk_owner(real->disk, (int)host); /* a driver may open a new connection by itself */
    if (store)
        store_perform(store, session->request, &session->answer, &session->arena);
    else
        session->answer = (struct store_answer){.outcome = STORE_FAILED};
    session->done = true;
    return SESSION_DONE;
}

static void abort_session(struct backend *backend, struct session *session) {
    (void)backend; /* it had not begun */
    session->done = true;
}

static void host_died(struct backend *backend, uint32_t host) {
    struct real *real = (struct real *)backend;
    if (real->disk)
        memdisk_kill(real->disk, (int)host);
    store_close(real->handles[host]);
    real->handles[host] = NULL;
}

static void real_free(struct backend *backend) {
    struct real *real = (struct real *)backend;
    for (int i = 0; i < HANDLES; i++)
        store_close(real->handles[i]);
    sqlite3_close(real->check);
    if (real->disk)
        memdisk_free(real->disk);
    PQfinish(real->server);
    free(real->uri);
    free(real);
}

struct memdisk *sqlite_backend_disk(struct backend *backend) {
    return ((struct real *)backend)->disk;
}

/* ---- dumping: rows of either engine as one shape ---- */

/* Columns by letter: i integer, y bytes. The same order in both engines. */
enum table { TABLE_GOALS, TABLE_RECORDS, TABLE_EFFECTS, TABLE_HOSTS, TABLE_COUNTS, TABLES };
static const char *const QUERIES[TABLES] = {
    [TABLE_GOALS] =
        "SELECT goal_id, owner, fence, version, seq, head, due_at, open, aside, hot FROM goal"
        " ORDER BY goal_id",
    [TABLE_RECORDS] =
        "SELECT goal_id, seq, at, type, core, policy, hash, body FROM record ORDER BY goal_id, seq",
    [TABLE_EFFECTS] =
        "SELECT goal_id, n, run_host, state, kind, until FROM effect ORDER BY goal_id, n",
    [TABLE_HOSTS] = "SELECT host_id, epoch, beat, batch, state FROM host ORDER BY host_id",
    [TABLE_COUNTS] = "SELECT (SELECT count(*) FROM inbox), (SELECT count(*) FROM seen),"
                     " (SELECT count(*) FROM aside)",
};

struct row {
    sqlite3_stmt *statement;
    const PGresult *result;
    int number;
    struct arena *arena;
};

static int64_t row_int(const struct row *row, int column) {
    if (row->statement)
        return sqlite3_column_int64(row->statement, column);
    const uint8_t *at = (const uint8_t *)PQgetvalue(row->result, row->number, column);
    int len = PQgetlength(row->result, row->number, column);
    uint64_t value = 0;
    for (int i = 0; i < len; i++)
        value = value << 8 | at[i];
    return len == 4 ? (int32_t)value : (int64_t)value;
}

static struct str row_bytes(const struct row *row, int column) {
    struct str bytes;
    if (row->statement)
        bytes = (struct str){sqlite3_column_blob(row->statement, column),
                             (size_t)sqlite3_column_bytes(row->statement, column)};
    else
        bytes = (struct str){PQgetvalue(row->result, row->number, column),
                             (size_t)PQgetlength(row->result, row->number, column)};
    return arena_copy(row->arena, bytes);
}

static struct id row_id(const struct row *row) {
    struct id id = {0};
    struct str bytes = row_bytes(row, 0);
    must(bytes.len == sizeof id.bytes);
    memcpy(id.bytes, bytes.at, sizeof id.bytes);
    return id;
}

static struct hash row_hash(const struct row *row, int column) {
    struct hash hash = {0};
    struct str bytes = row_bytes(row, column);
    must(bytes.len == sizeof hash.bytes);
    memcpy(hash.bytes, bytes.at, sizeof hash.bytes);
    return hash;
}

static void goal_take(struct dump *dump, const struct row *row) {
    dump->goals[dump->goal_count++] = (struct dump_goal){.id = row_id(row),
                                                         .owner = (uint32_t)row_int(row, 1),
                                                         .fence = (uint64_t)row_int(row, 2),
                                                         .version = (uint64_t)row_int(row, 3),
                                                         .seq = (uint64_t)row_int(row, 4),
                                                         .head = row_hash(row, 5),
                                                         .due_at = row_int(row, 6),
                                                         .open = row_int(row, 7),
                                                         .aside = row_int(row, 8),
                                                         .hot = row_bytes(row, 9)};
}

static void record_take(struct dump *dump, const struct row *row) {
    struct dump_record *to = &dump->records[dump->record_count++];
    to->goal = row_id(row);
    to->record = (struct record){.seq = (uint64_t)row_int(row, 1),
                                 .at = row_int(row, 2),
                                 .type = (enum record_type)row_int(row, 3),
                                 .core = (uint32_t)row_int(row, 4),
                                 .policy = row_hash(row, 5),
                                 .hash = row_hash(row, 6),
                                 .body = row_bytes(row, 7)};
}

static void effect_take(struct dump *dump, const struct row *row) {
    dump->effects[dump->effect_count++] =
        (struct dump_effect){row_id(row),
                             {.n = (uint32_t)row_int(row, 1),
                              .run_host = (uint32_t)row_int(row, 2),
                              .state = (enum effect_state)row_int(row, 3),
                              .kind = (uint32_t)row_int(row, 4),
                              .until = row_int(row, 5)}};
}

static void host_take(struct dump *dump, const struct row *row) {
    dump->hosts[dump->host_count++] = (struct host_row){
        (uint32_t)row_int(row, 0), (uint64_t)row_int(row, 1), (uint64_t)row_int(row, 2),
        (uint64_t)row_int(row, 3), (enum host_state)row_int(row, 4)};
}

static void counts_take(struct dump *dump, const struct row *row) {
    dump->inbox_count = (uint32_t)row_int(row, 0);
    dump->seen_count = (uint32_t)row_int(row, 1);
    dump->aside_count = (uint32_t)row_int(row, 2);
}

static void (*const TAKES[TABLES])(struct dump *, const struct row *) = {
    goal_take, record_take, effect_take, host_take, counts_take};

static void rooms_make(struct dump *dump, struct arena *arena) {
    *dump = (struct dump){0};
    dump->goals = arena_new(arena, struct dump_goal, 512);
    dump->records = arena_new(arena, struct dump_record, 8192);
    dump->effects = arena_new(arena, struct dump_effect, 1024);
    dump->hosts = arena_new(arena, struct host_row, 16);
}

static void sqlite_dump(struct backend *backend, struct dump *dump, struct arena *arena) {
    struct real *real = (struct real *)backend;
    rooms_make(dump, arena);
    if (!real->check) {
        memdisk_owner(real->disk, CHECKER);
        must(sqlite3_open_v2("/store.db", &real->check, SQLITE_OPEN_READWRITE,
                             memdisk_vfs(real->disk)) == SQLITE_OK);
    }
    for (enum table table = 0; table < TABLES; table++) {
        struct row row = {.arena = arena};
        must(sqlite3_prepare_v2(real->check, QUERIES[table], -1, &row.statement, NULL) ==
             SQLITE_OK);
        while (sqlite3_step(row.statement) == SQLITE_ROW)
            TAKES[table](dump, &row);
        if (sqlite3_finalize(row.statement) != SQLITE_OK) {
            fprintf(stderr, "the store cannot be read: %s (%d)\n", sqlite3_errmsg(real->check),
                    sqlite3_extended_errcode(real->check));
            abort();
        }
    }
}

/* The same two statements in either dialect. */
#define MEDDLE_GOAL "UPDATE goal SET version = version + 1, seq = $1, head = $2 WHERE goal_id = $3"
#define MEDDLE_RECORD \
    "INSERT INTO record (day, tx, n, goal_id, seq, at, type, core, policy, hash, body)" \
    " VALUES (0, $1, 0, $2, $3, $4, $5, $6, $7, $8, $9)"

static void sqlite_run(struct real *real, const char *sql, const struct str *blobs,
                       const int64_t *ints, const char *order) {
    sqlite3_stmt *statement;
    must(sqlite3_prepare_v2(real->check, sql, -1, &statement, NULL) == SQLITE_OK);
    for (int i = 0; order[i]; i++)
        if (order[i] == 'i')
            sqlite3_bind_int64(statement, i + 1, *ints++);
        else {
            sqlite3_bind_blob(statement, i + 1, blobs->at, (int)blobs->len, SQLITE_STATIC);
            blobs++;
        }
    must(sqlite3_step(statement) == SQLITE_DONE);
    sqlite3_finalize(statement);
}

static void postgres_run(struct real *real, const char *sql, const struct str *blobs,
                         const int64_t *ints, const char *order) {
    const char *values[16];
    int lengths[16], formats[16], count = 0;
    char texts[16][24];
    for (; order[count]; count++)
        if (order[count] == 'i') {
            snprintf(texts[count], sizeof texts[count], "%lld", (long long)*ints++);
            values[count] = texts[count];
            formats[count] = 0;
        } else {
            values[count] = blobs->at;
            lengths[count] = (int)blobs->len;
            formats[count] = 1;
            blobs++;
        }
    PGresult *result = PQexecParams(real->server, sql, count, NULL, values, lengths, formats, 0);
    must(PQresultStatus(result) == PGRES_COMMAND_OK);
    PQclear(result);
}

static bool meddle(struct backend *backend, const struct dump_goal *goal,
                   const struct record *record) {
    struct real *real = (struct real *)backend;
    void (*run)(struct real *, const char *, const struct str *, const int64_t *, const char *) =
        real->disk ? sqlite_run : postgres_run;
    struct str head = {(const char *)record->hash.bytes, 32},
               id = {(const char *)goal->id.bytes, 16};
    struct str policy = {(const char *)record->policy.bytes, 32};
    if (real->disk)
        must(sqlite3_exec(real->check, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
    else
        PQclear(PQexec(real->server, "BEGIN"));
    run(real, MEDDLE_GOAL, (struct str[]){head, id}, (int64_t[]){(int64_t)record->seq}, "iyy");
    run(real, MEDDLE_RECORD, (struct str[]){id, policy, head, record->body},
        (int64_t[]){-(int64_t)++real->meddled, (int64_t)record->seq, record->at, record->type,
                    record->core},
        "iyiiiiyyy");
    if (real->disk)
        must(sqlite3_exec(real->check, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
    else
        PQclear(PQexec(real->server, "COMMIT"));
    return true;
}

static void postgres_dump(struct backend *backend, struct dump *dump, struct arena *arena) {
    struct real *real = (struct real *)backend;
    rooms_make(dump, arena);
    for (enum table table = 0; table < TABLES; table++) {
        PGresult *result = PQexecParams(real->server, QUERIES[table], 0, NULL, NULL, NULL, NULL, 1);
        must(PQresultStatus(result) == PGRES_TUPLES_OK);
        struct row row = {.result = result, .arena = arena};
        for (row.number = 0; row.number < PQntuples(result); row.number++)
            TAKES[table](dump, &row);
        PQclear(result);
    }
}

/* ---- opening ---- */

/* After a power cut every handle is dead; the next use opens a new one. */
void sqlite_backend_power_cut(struct backend *backend) {
    struct real *real = (struct real *)backend;
    memdisk_power_cut(real->disk);
    for (int i = 0; i < HANDLES; i++) {
        store_close(real->handles[i]);
        real->handles[i] = NULL;
    }
    sqlite3_close(real->check);
    real->check = NULL;
}

static struct real *real_make(const char *name) {
    struct real *real = calloc(1, sizeof *real);
    must(real != NULL);
    real->backend = (struct backend){.name = name,
                                     .advance = advance,
                                     .abort = abort_session,
                                     .host_died = host_died,
                                     .meddle = meddle,
                                     .free = real_free};
    return real;
}

struct backend *sqlite_backend(uint64_t seed) {
    struct real *real = real_make("sqlite");
    real->disk = memdisk_create(seed);
    real->backend.dump = sqlite_dump;
    must(handle_of(real, 0) != NULL);
    return &real->backend;
}

struct backend *postgres_backend(const char *uri) {
    struct real *real = real_make("postgres");
    real->uri = strdup(uri);
    real->backend.dump = postgres_dump;
    real->server = PQconnectdb(uri);
    must(PQstatus(real->server) == CONNECTION_OK);
    struct store_answer answer; /* makes the tables */
    struct arena arena = {0};
    store_perform(handle_of(real, 0), &(struct store_request){.verb = STORE_POLL, .self.host = 1},
                  &answer, &arena);
    must(answer.outcome == STORE_DONE);
    arena_free(&arena);
    PQclear(
        PQexec(real->server,
               "TRUNCATE host, goal, goal_text, goal_view, effect, inbox, record, seen, aside"));
    return &real->backend;
}
