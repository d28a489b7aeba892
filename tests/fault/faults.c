/* SPDX-License-Identifier: Apache-2.0 */
/* Injects faults. The daemon's objects are compiled with other names for the functions that they call (meson.build),
 * and those names are defined here. */
#include "fault/faults.h"

#include "base/arena.h"
#define OVERSEER_SEAMS
#include "base/seam.h"
#include "fault/pretend.h"

#include <jansson.h>
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/socket.h>

const char *const FAULT_NAMES[FAULTS] = {
    [FAULT_ALLOC] = "alloc",         [FAULT_ARENA] = "arena", [FAULT_JSON] = "json-alloc",
    [FAULT_ENGINE] = "sqlite-alloc", [FAULT_WRITE] = "write", [FAULT_FULL] = "disk-full",
    [FAULT_SYNC] = "fsync",          [FAULT_READ] = "read",   [FAULT_QUERY] = "query",
    [FAULT_LINE] = "connection",
};

static const enum memdisk_fault DISK_FAULTS[FAULTS] = {[FAULT_WRITE] = MEMDISK_WRITE,
                                                       [FAULT_FULL] = MEMDISK_FULL,
                                                       [FAULT_SYNC] = MEMDISK_SYNC,
                                                       [FAULT_READ] = MEMDISK_READ};

static struct {
    enum fault kind;
    struct memdisk *disk;
    uint64_t nth, count;
    uint64_t due; /* disk faults: the count at which the fault occurs */
    int64_t for_us, until;
    bool struck, paused;
} armed;

void fault_arm(enum fault kind, struct memdisk *disk, uint64_t nth, int64_t for_us) {
    armed.kind = kind;
    armed.disk = disk;
    armed.nth = nth;
    armed.count = 0;
    armed.for_us = for_us;
    armed.struck = false;
    if (DISK_FAULTS[kind])
        memdisk_fail(disk, DISK_FAULTS[kind], nth);
    armed.due = nth;
    if (DISK_FAULTS[kind])
        armed.due += memdisk_count(disk, DISK_FAULTS[kind]);
}

static void disk_look(void) {
    if (!DISK_FAULTS[armed.kind] || armed.paused ||
        memdisk_armed(armed.disk, DISK_FAULTS[armed.kind]))
        return;
    if (!armed.struck)
        armed.until = pretend_now() + armed.for_us;
    armed.struck = true;
}

void fault_disarm(void) {
    disk_look();
    if (DISK_FAULTS[armed.kind])
        memdisk_fail(armed.disk, MEMDISK_NONE, 0);
    armed.kind = FAULT_NONE;
}

bool fault_struck(void) {
    disk_look();
    return armed.struck;
}

/* Reads by the test itself are not counted either. */
void fault_pause(bool paused) {
    static bool waits;
    static uint64_t left;
    enum memdisk_fault kind = DISK_FAULTS[armed.kind];
    disk_look();
    armed.paused = paused;
    if (kind && paused) {
        waits = memdisk_armed(armed.disk, kind);
        left = armed.due - memdisk_count(armed.disk, kind);
        memdisk_fail(armed.disk, kind, 0);
    } else if (kind && waits) {
        memdisk_fail(armed.disk, kind, left);
        armed.due = memdisk_count(armed.disk, kind) + left;
        waits = false;
    }
}

static void fault_again(void) {
    armed.due = memdisk_count(armed.disk, DISK_FAULTS[armed.kind]) + 1;
    memdisk_fail(armed.disk, DISK_FAULTS[armed.kind], 1);
}

void fault_renew(void) {
    disk_look();
    if (DISK_FAULTS[armed.kind] && armed.struck && pretend_now() < armed.until)
        fault_again();
}

static enum fault spared;

void fault_spare(enum fault kind) {
    spared = kind;
}

static bool fails_now(enum fault kind) {
    if (armed.kind != kind || spared == kind || armed.paused || ++armed.count < armed.nth)
        return false;
    if (armed.count == armed.nth) {
        armed.struck = true;
        armed.until = pretend_now() + armed.for_us;
        return true;
    }
    return pretend_now() < armed.until;
}

/* ---- our own allocations ---- */

void *fault_malloc(size_t size);
void *fault_calloc(size_t count, size_t size);
void *fault_realloc(void *old, size_t size);
char *fault_strdup(const char *text);

void *fault_malloc(size_t size) {
    return fails_now(FAULT_ALLOC) ? NULL : malloc(size);
}

void *fault_calloc(size_t count, size_t size) {
    return fails_now(FAULT_ALLOC) ? NULL : calloc(count, size);
}

void *fault_realloc(void *old, size_t size) {
    return fails_now(FAULT_ALLOC) ? NULL : realloc(old, size);
}

char *fault_strdup(const char *text) {
    return fails_now(FAULT_ALLOC) ? NULL : strdup(text);
}

void *__real_arena_take(struct arena *arena, size_t size, size_t align);
void *__wrap_arena_take(struct arena *arena, size_t size, size_t align);
struct str __real_arena_copy(struct arena *arena, struct str s);
struct str __wrap_arena_copy(struct arena *arena, struct str s);

void *__wrap_arena_take(struct arena *arena, size_t size, size_t align) {
    if (fails_now(FAULT_ARENA))
        memory_exhausted();
    return __real_arena_take(arena, size, align);
}

struct str __wrap_arena_copy(struct arena *arena, struct str s) {
    if (fails_now(FAULT_ARENA))
        memory_exhausted();
    return __real_arena_copy(arena, s);
}

/* ---- allocations by libraries ---- */

static void *json_take(size_t size) {
    return fails_now(FAULT_JSON) ? NULL : malloc(size);
}

static sqlite3_mem_methods plain;

static void *engine_take(int size) {
    return fails_now(FAULT_ENGINE) ? NULL : plain.xMalloc(size);
}

static void *engine_resize(void *old, int size) {
    return fails_now(FAULT_ENGINE) ? NULL : plain.xRealloc(old, size);
}

/* Without lookaside, every allocation of SQLite is made here. */
void faults_install(void) {
    json_set_alloc_funcs(json_take, free);
    must(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain) == SQLITE_OK);
    sqlite3_mem_methods faulty = plain;
    faulty.xMalloc = engine_take;
    faulty.xRealloc = engine_resize;
    must(sqlite3_config(SQLITE_CONFIG_MALLOC, &faulty) == SQLITE_OK);
    must(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) == SQLITE_OK);
}

/* ---- PostgreSQL ---- */

bool seam(const char *name) {
    return strcmp(name, "query") == 0 && fails_now(FAULT_QUERY);
}

/* Data that was sent before has arrived; nothing is received any more. */
static void line_touch(PGconn *connection) {
    if (fails_now(FAULT_LINE))
        shutdown(PQsocket(connection), SHUT_RDWR);
}

PGresult *line_exec(PGconn *connection, const char *sql);
PGresult *line_prepare(PGconn *connection, const char *name, const char *sql, int count,
                       const Oid *types);
int line_send(PGconn *connection, const char *name, int count, const char *const *values,
              const int *lengths, const int *formats, int format);
int line_sync(PGconn *connection);
int line_consume(PGconn *connection);

PGresult *line_exec(PGconn *connection, const char *sql) {
    line_touch(connection);
    return PQexec(connection, sql);
}

PGresult *line_prepare(PGconn *connection, const char *name, const char *sql, int count,
                       const Oid *types) {
    line_touch(connection);
    return PQprepare(connection, name, sql, count, types);
}

int line_send(PGconn *connection, const char *name, int count, const char *const *values,
              const int *lengths, const int *formats, int format) {
    line_touch(connection);
    return PQsendQueryPrepared(connection, name, count, values, lengths, formats, format);
}

int line_sync(PGconn *connection) {
    line_touch(connection);
    int sent = PQpipelineSync(connection);
    line_touch(connection);
    return sent;
}

int line_consume(PGconn *connection) {
    line_touch(connection);
    return PQconsumeInput(connection);
}
