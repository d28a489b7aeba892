/* SPDX-License-Identifier: Apache-2.0 */
/* Backs up and restores a PostgreSQL store. */
#include "store/backup_state.h"
#include "store/postgres/postgres_state.h"

#include "store/postgres/postgres.h"
#include "store/sqlite/sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- backup ---- */

static struct store *file_open(struct backup *backup, const char *path) {
    struct sqlite_options options = {.path = path, .busy_ms = 2000, .inline_checkpoints = true};
    return sqlite_open(&options, backup->error, sizeof backup->error);
}

bool postgres_backup(struct backup *backup, const char *path) {
    backup_remove(path);
    struct store *from = store_open(backup->where, backup->error, sizeof backup->error);
    struct store *to = from ? file_open(backup, path) : NULL;
    bool good = to && backup_rows_copy(backup, from, to);
    store_close(to);
    store_close(from);
    return good;
}

/* ---- checking that no host uses the store ---- */

static PGresult *ask(struct backup *backup, PGconn *connection, const char *sql) {
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
        return result;
    backup_failed(backup, "PostgreSQL: %s", PQerrorMessage(connection));
    backup->error[strcspn(backup->error, "\n")] = 0;
    PQclear(result);
    return NULL;
}

static int64_t number_at(const PGresult *result, int row, int column) {
    return strtoll(PQgetvalue(result, row, column), NULL, 10);
}

static bool number_ask(struct backup *backup, PGconn *connection, const char *sql, int64_t *ret) {
    PGresult *result = ask(backup, connection, sql);
    if (!result)
        return false;
    *ret = PQntuples(result) > 0 ? number_at(result, 0, 0) : 0;
    PQclear(result);
    return true;
}

static bool hosts_read(struct backup *backup, PGconn *connection, struct standing *ret) {
    PGresult *rows =
        ask(backup, connection,
            "SELECT host_id, epoch, beat, batch, state FROM host ORDER BY host_id LIMIT 1024");
    if (!rows)
        return false;
    ret->host_count = (uint32_t)PQntuples(rows);
    for (int i = 0; i < PQntuples(rows); i++)
        ret->hosts[i] = (struct host_row){.host = (uint32_t)number_at(rows, i, 0),
                                          .epoch = (uint64_t)number_at(rows, i, 1),
                                          .beat = (uint64_t)number_at(rows, i, 2),
                                          .batch = (uint64_t)number_at(rows, i, 3),
                                          .state = (enum host_state)number_at(rows, i, 4)};
    PQclear(rows);
    return true;
}

static bool hosts_equal(const struct standing *a, const struct standing *b) {
    bool equal = a->host_count == b->host_count;
    for (uint32_t i = 0; equal && i < a->host_count; i++)
        equal = a->hosts[i].host == b->hosts[i].host && a->hosts[i].epoch == b->hosts[i].epoch &&
                a->hosts[i].beat == b->hosts[i].beat && a->hosts[i].batch == b->hosts[i].batch;
    return equal;
}

static void wait_us(int64_t span) {
    struct timespec rest = {span / 1000000, span % 1000000 * 1000};
    nanosleep(&rest, NULL);
}

/* P3: a host is silent if its beat does not change, measured on our own clock; time stamps prove nothing. */
static bool hosts_silent(struct backup *backup, PGconn *connection, const struct restore *restore,
                         struct standing *standing) {
    static struct standing again;
    bool live = false;
    if (!hosts_read(backup, connection, standing))
        return false;
    for (uint32_t i = 0; i < standing->host_count; i++)
        live = live || standing->hosts[i].state == HOST_LIVE;
    if (!live)
        return true;
    wait_us(restore->silent_us);
    if (!hosts_read(backup, connection, &again))
        return false;
    return hosts_equal(standing, &again) ||
           backup_failed(
               backup,
               "A daemon is using this database: it renews its lease. Stop every daemon first.");
}

/* ---- restore ---- */

/* Finds out whether our tables exist and whether they hold anything. */
static bool is_filled(struct backup *backup, PGconn *connection, bool *ret_tables,
                      bool *ret_filled) {
    int64_t tables = 0, rows = 0;
    if (!number_ask(backup, connection, "SELECT (to_regclass('store') IS NOT NULL)::int", &tables))
        return false;
    if (tables && !number_ask(backup, connection,
                              "SELECT (EXISTS (SELECT 1 FROM goal) OR EXISTS (SELECT 1 FROM record)"
                              " OR EXISTS (SELECT 1 FROM store WHERE safe IS NOT NULL))::int",
                              &rows))
        return false;
    *ret_tables = tables != 0;
    *ret_filled = rows != 0;
    return true;
}

/* The old tables stay in the same database, under another schema. One transaction moves them, so they are always in
 * exactly one of the two schemas. */
static bool schema_set_aside(struct backup *backup, PGconn *connection, struct restore *restore) {
    char sql[512], stamp[TIME_BASIC_TEXT + 1], to[64];
    PGresult *name = ask(backup, connection, "SELECT quote_ident(current_schema())");
    if (!name)
        return false;
    time_format_basic(backup->at, stamp);
    for (char *at = stamp; *at; at++)
        *at = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
    snprintf(to, sizeof to, "overseer_before_%s", stamp);
    snprintf(sql, sizeof sql, "BEGIN; ALTER SCHEMA %s RENAME TO %s; CREATE SCHEMA %s; COMMIT",
             PQgetvalue(name, 0, 0), to, PQgetvalue(name, 0, 0));
    PQclear(name);
    PGresult *done = ask(backup, connection, sql);
    if (!done)
        return false;
    PQclear(done);
    snprintf(restore->aside, sizeof restore->aside, "schema %s", to);
    return true;
}

static bool place_make(struct backup *backup, struct restore *restore, struct standing *standing) {
    struct pg_trouble trouble;
    PGconn *connection = pg_connect(backup->where.at, "overseer 2 restore", &trouble);
    if (!connection)
        return backup_failed(backup, "PostgreSQL: %s", trouble.why);
    bool tables = false, filled = false;
    int64_t era = 0, numbered = 0;
    bool good = is_filled(backup, connection, &tables, &filled);
    if (good && tables)
        good = number_ask(backup, connection, "SELECT era FROM store", &era) &&
               number_ask(backup, connection,
                          "SELECT coalesce((to_jsonb(store)->>'numbered')::int8, 0) FROM store",
                          &numbered) &&
               hosts_silent(backup, connection, restore, standing);
    standing->era = (uint64_t)era;
    standing->numbered = (uint64_t)numbered;
    if (good && filled && !restore->replace)
        good = backup_failed(
            backup,
            "This database already contains a store. Use an empty one, or --replace: the old "
            "store is then moved to a separate schema.");
    if (good && filled)
        good = schema_set_aside(backup, connection, restore);
    PQfinish(connection);
    return good;
}

/* The store is marked while it is being filled, so that an interrupted restore is not mistaken for a complete one. */
bool postgres_restore(struct backup *backup, const char *file, const struct backup_note *note,
                      struct restore *restore) {
    static struct standing standing;
    char path[BACKUP_PATH];
    snprintf(path, sizeof path, "%s.restoring-%ld", file, (long)getpid());
    standing = (struct standing){0};
    bool good = place_make(backup, restore, &standing) && backup_copy(backup, file, path) &&
                backup_finish(backup, path, &standing, note, &restore->era);
    struct store *from = good ? file_open(backup, path) : NULL;
    struct store *to = from ? store_open(backup->where, backup->error, sizeof backup->error) : NULL;
    good = to && backup_rows_copy(backup, from, to);
    store_close(to);
    store_close(from);
    backup_remove(path);
    return good;
}
