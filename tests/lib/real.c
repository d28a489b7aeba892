/* SPDX-License-Identifier: Apache-2.0 */
/* Lets real engines serve a simulated fleet: SQLite on an in-memory disk, PostgreSQL through its socket. A session is
 * one atom: the whole transaction. Each host has its own connection, ghosts share another one. */
#include "lib/backend.h"
#include "lib/memvfs.h"

#include "store/dump.h"
#include "store/sqlite/sqlite.h"

#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum { HANDLES = 8, CHECKER = 7 };

struct real {
    struct backend backend;
    struct store *handles[HANDLES]; /* by host; 0: ghosts */
    struct memdisk *disk;           /* SQLite in memory */
    sqlite3 *check;
    PGconn *server; /* NULL: SQLite */
    char *uri;      /* URI of the server, or path of a file */
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
    } else if (real->server)
        real->handles[host] = store_open(str_of(real->uri), error, sizeof error);
    else {
        struct sqlite_options options = {.path = real->uri, .inline_checkpoints = true};
        real->handles[host] = sqlite_open(&options, error, sizeof error);
    }
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

/* ---- reading from outside ---- */

static void check_open(struct real *real) {
    if (real->check)
        return;
    if (real->disk)
        memdisk_owner(real->disk, CHECKER);
    must(sqlite3_open_v2(real->disk ? "/store.db" : real->uri, &real->check, SQLITE_OPEN_READWRITE,
                         real->disk ? memdisk_vfs(real->disk) : NULL) == SQLITE_OK);
}

/* ---- dumping: rows of either engine in one form ---- */

struct row {
    sqlite3_stmt *statement;
    const PGresult *result;
    int number;
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
    if (row->statement)
        return (struct str){sqlite3_column_blob(row->statement, column),
                            (size_t)sqlite3_column_bytes(row->statement, column)};
    return (struct str){PQgetvalue(row->result, row->number, column),
                        (size_t)PQgetlength(row->result, row->number, column)};
}

/* NULL becomes zeros. */
static void bytes_take(const struct row *row, int column, void *to, size_t size) {
    struct str bytes = row_bytes(row, column);
    must(bytes.len == size || bytes.len == 0);
    if (bytes.len > 0)
        memcpy(to, bytes.at, size);
}

static void column_take(const struct row *row, const struct dump_column *column, int number,
                        char *to, struct arena *arena) {
    void *at = to + column->offset;
    switch (column->type) {
    case COLUMN_INT: *(int64_t *)at = row_int(row, number); break;
    case COLUMN_U32: *(uint32_t *)at = (uint32_t)row_int(row, number); break;
    case COLUMN_BOOL: *(bool *)at = row_int(row, number) != 0; break;
    case COLUMN_ID: bytes_take(row, number, at, sizeof(struct id)); break;
    case COLUMN_HASH: bytes_take(row, number, at, sizeof(struct hash)); break;
    case COLUMN_BYTES: *(struct str *)at = arena_copy(arena, row_bytes(row, number)); break;
    }
}

struct filling {
    const struct dump_table *table;
    struct dump *dump;
    struct arena *arena;
    uint32_t cap;
};

static void row_take(struct filling *to, const struct row *row) {
    const struct dump_table *table = to->table;
    void **rows = dump_rows(table, to->dump);
    uint32_t *count = dump_count(table, to->dump);
    if (*count == to->cap) {
        to->cap = to->cap ? to->cap * 4 : 64;
        void *grown = arena_take(to->arena, to->cap * table->size, alignof(max_align_t));
        if (*count > 0)
            memcpy(grown, *rows, *count * table->size);
        *rows = grown;
    }
    char *at = (char *)*rows + (*count)++ * table->size;
    for (uint32_t i = 0; i < table->column_count; i++)
        column_take(row, &table->columns[i], (int)i, at, to->arena);
}

/* The tables of parts have the same columns: together they form one list. */
static void from_add(char *sql, size_t size, const struct dump_table *table) {
    size_t at = strlen(sql);
    if (table->name) {
        snprintf(sql + at, size - at, " FROM %s", table->name);
        return;
    }
    for (uint32_t kind = 0; kind < PARTS; kind++) {
        at = strlen(sql);
        snprintf(sql + at, size - at, "%sSELECT goal_id, %u AS kind, n, name, body FROM %s",
                 kind ? " UNION ALL " : " FROM (", kind, PART[kind].table);
    }
    at = strlen(sql);
    snprintf(sql + at, size - at, ") AS part");
}

static void query_make(char *sql, size_t size, const struct dump_table *table) {
    snprintf(sql, size, "SELECT");
    for (uint32_t i = 0; i < table->column_count; i++) {
        size_t at = strlen(sql);
        snprintf(sql + at, size - at, "%s %s", i ? "," : "", table->columns[i].name);
    }
    from_add(sql, size, table);
}

/* Selects these goals, and of their records only those after the ones that are already known. */
struct choice {
    const struct record_mark *marks;
    uint32_t count;
};

static void sqlite_rows(struct real *real, sqlite3_stmt *statement, struct filling *to) {
    struct row row = {.statement = statement};
    while (sqlite3_step(statement) == SQLITE_ROW)
        row_take(to, &row);
    if (sqlite3_reset(statement) == SQLITE_OK)
        return;
    fprintf(stderr, "the store cannot be read: %s (%d)\n", sqlite3_errmsg(real->check),
            sqlite3_extended_errcode(real->check));
    abort();
}

static void sqlite_take(struct real *real, const char *sql, const struct choice *choice,
                        struct filling *to) {
    sqlite3_stmt *statement;
    must(sqlite3_prepare_v2(real->check, sql, -1, &statement, NULL) == SQLITE_OK);
    if (!choice)
        sqlite_rows(real, statement, to);
    for (uint32_t i = 0; choice && i < choice->count; i++) {
        sqlite3_bind_blob(statement, 1, choice->marks[i].goal.bytes, 16, SQLITE_STATIC);
        if (sqlite3_bind_parameter_count(statement) == 2)
            sqlite3_bind_int64(statement, 2, (int64_t)choice->marks[i].seq);
        sqlite_rows(real, statement, to);
    }
    sqlite3_finalize(statement);
}

/* {…,…}: ids as text, and the parallel array of numbers. */
static void arrays_make(const struct choice *choice, struct arena *arena, const char *values[2]) {
    struct writer ids = {.arena = arena}, seqs = {.arena = arena};
    for (uint32_t i = 0; i < choice->count; i++) {
        char number[24];
        write_byte(&ids, i ? ',' : '{');
        for (int k = 0; k < 16; k++) {
            snprintf(number, sizeof number, "%02x", choice->marks[i].goal.bytes[k]);
            write_raw(&ids, str_of(number));
        }
        snprintf(number, sizeof number, "%c%llu", i ? ',' : '{',
                 (unsigned long long)choice->marks[i].seq);
        write_raw(&seqs, str_of(number));
    }
    write_raw(&ids, (struct str){"}", 2});
    write_raw(&seqs, (struct str){"}", 2});
    values[0] = ids.at;
    values[1] = seqs.at;
}

static void postgres_take(struct real *real, const char *sql, const struct choice *choice,
                          struct filling *to) {
    const char *values[2] = {NULL, NULL};
    int count = !choice ? 0 : strstr(sql, "$2") ? 2 : 1;
    if (choice)
        arrays_make(choice, to->arena, values);
    PGresult *result = PQexecParams(real->server, sql, count, NULL, values, NULL, NULL, 1);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        fprintf(stderr, "%s: %s\n", sql, PQerrorMessage(real->server));
        abort();
    }
    struct row row = {.result = result};
    for (row.number = 0; row.number < PQntuples(result); row.number++)
        row_take(to, &row);
    PQclear(result);
}

static void table_take(struct real *real, const struct dump_table *table,
                       const struct choice *choice, struct dump *dump, struct arena *arena) {
    char sql[1280];
    struct filling to = {table, dump, arena, 0};
    bool chosen = choice && strcmp(table->columns[0].name, "goal_id") == 0;
    bool records = table == &DUMP_TABLES[DUMP_RECORDS];
    query_make(sql, sizeof sql, table);
    size_t at = strlen(sql);
    if (chosen && real->server)
        snprintf(sql + at, sizeof sql - at, "%s",
                 records ? " JOIN unnest($1::uuid[], $2::int8[]) AS u(id, known) ON goal_id = id"
                           " AND seq > known"
                         : " WHERE goal_id = ANY($1::uuid[])");
    else if (chosen)
        snprintf(sql + at, sizeof sql - at, " WHERE goal_id = ?1%s",
                 records ? " AND seq > ?2" : "");
    (real->server ? postgres_take : sqlite_take)(real, sql, chosen ? choice : NULL, &to);
}

static void real_dump(struct backend *backend, struct dump *dump, struct arena *arena) {
    struct real *real = (struct real *)backend;
    *dump = (struct dump){0};
    if (!real->server)
        check_open(real);
    for (uint32_t i = 0; i < DUMP_TABLE_COUNT; i++)
        table_take(real, &DUMP_TABLES[i], NULL, dump, arena);
    dump_sort(dump);
}

void real_dump_some(struct backend *backend, const struct record_mark *marks, uint32_t count,
                    struct dump *dump, struct arena *arena) {
    struct real *real = (struct real *)backend;
    struct choice choice = {marks, count};
    *dump = (struct dump){0};
    if (!real->server) {
        check_open(real);
        must(sqlite3_exec(real->check, "BEGIN", NULL, NULL, NULL) == SQLITE_OK);
    }
    for (uint32_t i = 0; i < DUMP_TABLE_COUNT && count > 0; i++)
        if (strcmp(DUMP_TABLES[i].columns[0].name, "goal_id") == 0)
            table_take(real, &DUMP_TABLES[i], &choice, dump, arena);
    if (!real->server)
        must(sqlite3_exec(real->check, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
    dump_sort(dump);
}

void real_dump_rest(struct backend *backend, struct dump *dump, struct arena *arena) {
    static const enum dump_list LISTS[] = {DUMP_MARKS, DUMP_HOSTS, DUMP_GOALS, DUMP_VIEWS,
                                           DUMP_TALLIES};
    struct real *real = (struct real *)backend;
    *dump = (struct dump){0};
    if (!real->server)
        check_open(real);
    for (size_t i = 0; i < count_of(LISTS); i++)
        table_take(real, &DUMP_TABLES[LISTS[i]], NULL, dump, arena);
    dump_sort(dump);
}

/* The same two statements work in both dialects. */
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
        real->server ? postgres_run : sqlite_run;
    struct str head = {(const char *)record->hash.bytes, 32},
               id = {(const char *)goal->id.bytes, 16};
    struct str policy = {(const char *)record->policy.bytes, 32};
    if (!real->server)
        must(sqlite3_exec(real->check, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
    else
        PQclear(PQexec(real->server, "BEGIN"));
    run(real, MEDDLE_GOAL, (struct str[]){head, id}, (int64_t[]){(int64_t)record->seq}, "iyy");
    run(real, MEDDLE_RECORD, (struct str[]){id, policy, head, record->body},
        (int64_t[]){-(int64_t)++real->meddled, (int64_t)record->seq, record->at, record->type,
                    record->core},
        "iyiiiiyyy");
    if (!real->server)
        must(sqlite3_exec(real->check, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
    else
        PQclear(PQexec(real->server, "COMMIT"));
    return true;
}

/* ---- backup and restore ---- */

static void handles_close(struct real *real) {
    for (int i = 0; i < HANDLES; i++) {
        store_close(real->handles[i]);
        real->handles[i] = NULL;
    }
    sqlite3_close(real->check);
    real->check = NULL;
}

static void back_up(struct backend *backend) {
    memdisk_back_up(((struct real *)backend)->disk);
}

static void restore(struct backend *backend) {
    struct real *real = (struct real *)backend;
    handles_close(real);
    memdisk_restore(real->disk);
    check_open(real);
    must(sqlite3_exec(real->check, "UPDATE store SET era = era + 1", NULL, NULL, NULL) ==
         SQLITE_OK);
    memdisk_back_up(real->disk); /* another restore must give yet another era */
}

/* ---- opening ---- */

/* After a power cut every handle is dead; the next use opens a new one. */
void sqlite_backend_power_cut(struct backend *backend) {
    struct real *real = (struct real *)backend;
    memdisk_power_cut(real->disk);
    handles_close(real);
}

static struct real *real_make(const char *name) {
    struct real *real = calloc(1, sizeof *real);
    must(real != NULL);
    real->backend = (struct backend){.name = name,
                                     .advance = advance,
                                     .abort = abort_session,
                                     .host_died = host_died,
                                     .dump = real_dump,
                                     .meddle = meddle,
                                     .free = real_free};
    return real;
}

struct backend *sqlite_backend(uint64_t seed) {
    struct real *real = real_make("sqlite");
    real->disk = memdisk_create(seed);
    real->backend.back_up = back_up;
    real->backend.restore = restore;
    must(handle_of(real, 0) != NULL);
    return &real->backend;
}

struct backend *sqlite_file_backend(const char *path) {
    struct real *real = real_make("sqlite");
    real->uri = strdup(path);
    must(handle_of(real, 0) != NULL);
    return &real->backend;
}

struct store *real_backend_store(struct backend *backend) {
    return handle_of((struct real *)backend, 1);
}

void postgres_empty(PGconn *server) {
    char sql[2048] = "BEGIN; SET LOCAL overseer.retaining = 'on'";
    for (enum store_table table = TABLE_HOST; table < STORE_TABLES; table++)
        snprintf(sql + strlen(sql), sizeof sql - strlen(sql), "; DELETE FROM %s",
                 table_name(table));
    snprintf(
        sql + strlen(sql), sizeof sql - strlen(sql),
        "; UPDATE store SET era = 0, numbered = 0, numbered_era = 0, level = %d, safe = NULL; COMMIT",
        SCHEMA_LEVEL);
    PGresult *result = PQexec(server, sql);
    must(PQresultStatus(result) == PGRES_COMMAND_OK);
    PQclear(result);
}

struct backend *postgres_backend(const char *uri) {
    struct real *real = real_make("postgres");
    real->uri = strdup(uri);
    real->server = PQconnectdb(uri);
    must(PQstatus(real->server) == CONNECTION_OK);
    struct store_answer answer = {0}; /* creates the tables */
    struct arena arena = {0};
    store_perform(handle_of(real, 0), &(struct store_request){.verb = STORE_POLL, .self.host = 1},
                  &answer, &arena);
    must(answer.outcome == STORE_DONE);
    arena_free(&arena);
    postgres_empty(real->server);
    return &real->backend;
}
