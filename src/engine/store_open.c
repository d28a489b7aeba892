/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/store_open.h"

#include "store/dump.h"
#include "store/migrate.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/sqlite_mend.h"
#include "sys/clock.h"
#include "sys/log.h"

#include <stdio.h>
#include <unistd.h>

enum { MIGRATE_TRIES = 4, MIGRATE_PAUSE_MS = 500 };

void findings_log(const struct examination *found) {
    for (uint32_t i = 0; i < found->found && i < LIMIT_FINDINGS; i++)
        log_error("damaged: %s %s: %s", found->findings[i].table, found->findings[i].key,
                  found->findings[i].what);
}

/* C-05: a damaged store is set aside, never deleted, and never silently replaced by an empty one. */
static bool damaged_replace(const struct opening *opening, struct examination *found, char *error,
                            size_t error_size) {
    struct mend mend = {.path = store_address_file(opening->where), .at = clock_wall()};
    char place[MEND_PATH];
    findings_log(found);
    if (!mend_set_aside(&mend, place) || !instance_lock_closed(opening->lock) ||
        !mend_make_safe(&mend, place, found)) {
        snprintf(error, error_size, "The store is damaged (%s). %s", found->why, mend.error);
        return false;
    }
    safe_enter(opening->safe, "The store is damaged (%s). It was renamed to %s.", found->why,
               place);
    return true;
}

/* A store was set aside earlier and none is in its place: the daemon was stopped in between, or the new one was
 * removed. */
static bool missing_replace(const struct opening *opening, char *error, size_t error_size) {
    struct mend mend = {.path = store_address_file(opening->where), .at = clock_wall()};
    struct examination found = {.why = "it was found damaged earlier and has not been replaced"};
    char place[MEND_PATH];
    if (!mend_newest_aside(mend.path, place))
        return true;
    if (!instance_lock_closed(opening->lock) || !mend_make_safe(&mend, place, &found)) {
        snprintf(error, error_size, "%s", mend.error);
        return false;
    }
    safe_enter(opening->safe, "The store was damaged. It was renamed to %s.", place);
    return true;
}

#define HALF_FILLED "An import or a restore into this store was interrupted. Run it again."

/* STORE-10: safe mode survives a restart of the daemon. */
static bool mark_follow(const struct opening *opening, char *error, size_t error_size) {
    struct mend mend = {.path = store_address_file(opening->where)};
    char place[MEND_PATH] = "";
    bool safe = false;
    if (!mend_read_mark(&mend, &safe, place)) {
        snprintf(error, error_size, "%s", mend.error);
        return false;
    }
    if (safe)
        instance_lock_closed(opening->lock); /* nothing writes to it, so it needs no log */
    if (safe && strcmp(place, LOAD_MARK) == 0)
        safe_enter(opening->safe, HALF_FILLED);
    else if (safe)
        safe_enter(opening->safe, "The store was damaged. It was renamed to %s.", place);
    return true;
}

/* The same for a store on a server, which is never set aside. */
static bool cut_off_follow(const struct opening *opening) {
    char error[LIMIT_WHY];
    struct store *store = store_open(str_of(opening->where), error, sizeof error);
    if (store && load_cut_off(store))
        safe_enter(opening->safe, HALF_FILLED);
    store_close(store);
    return true;
}

static bool verdict_follow(const struct opening *opening, struct examination *found, char *error,
                           size_t error_size) {
    bool sqlite = store_address_file(opening->where);
    switch (found->verdict) {
    case EXAMINE_DAMAGED:
    case EXAMINE_NOT_A_STORE:
        if (sqlite)
            return damaged_replace(opening, found, error, error_size);
        findings_log(found);
        safe_enter(opening->safe, "The database is damaged (%s).", found->why);
        return true;
    case EXAMINE_NEWER:
        safe_enter(opening->safe,
                   "The store was not changed: %s. Update this build, or use another store.",
                   found->why);
        return true;
    case EXAMINE_AWAY:
        if (sqlite)
            safe_enter(opening->safe, "The store cannot be read: %s.", found->why);
        else
            log_warning("the store does not answer: %s; trying again", found->why);
        return true; /* a server may come back: its requests fail until then */
    default: return true;
    }
}

/* An older store is migrated first and then examined again: with its write-ahead log, which a killed daemon has left. */
static bool migrate(const struct opening *opening, char *error, size_t error_size) {
    struct store *store = store_open_beside(str_of(opening->where), error, error_size);
    if (!store) {
        safe_enter(opening->safe, "The store could not be migrated: %s", error);
        return false;
    }
    store_close(store);
    return true;
}

static void examine(const struct opening *opening, struct examination *ret) {
    struct examine_options options = {.host = opening->host};
    if (opening->lock) {
        options.was_open = opening->lock->was_open;
        options.same_boot = opening->lock->same_boot;
        options.unchanged = opening->lock->unchanged;
    }
    store_examine(str_of(opening->where), &options, ret);
}

/* A half-filled store would look damaged. */
static bool half_filled_found(const struct opening *opening) {
    struct mend mend = {.path = store_address_file(opening->where)};
    char place[MEND_PATH] = "";
    bool safe = false;
    if (!mend.path || access(mend.path, R_OK) != 0 || !mend_read_mark(&mend, &safe, place) ||
        !safe || strcmp(place, LOAD_MARK) != 0)
        return false;
    return mark_follow(opening, place, sizeof place);
}

/* Reads the error of a session's first request, which migrates an older store. */
static bool server_is_stuck(const struct opening *opening, char *why, size_t size) {
    struct store *store = store_open_beside(str_of(opening->where), why, size);
    struct store_request request = {.verb = STORE_HOSTS, .limit = LIMIT_HOSTS};
    struct store_answer answer = {0};
    struct arena arena = {0};
    if (!store)
        return false;
    store_perform(store, &request, &answer, &arena);
    snprintf(why, size, "%.*s", STR_ARG(answer.error));
    arena_free(&arena);
    store_close(store);
    return answer.outcome == STORE_FAILED && strstr(why, MIGRATE_FAILED);
}

/* STORE-05: the server answers, but its tables cannot be migrated to those of this build. A temporary cause, such as
 * another host that migrates at that moment, is gone after a few tries. */
static bool server_is_old(const struct opening *opening) {
    char why[512] = "";
    for (int i = 0; i < MIGRATE_TRIES; i++) {
        if (i > 0)
            usleep(MIGRATE_PAUSE_MS * 1000);
        if (!server_is_stuck(opening, why, sizeof why))
            return false;
    }
    safe_enter(opening->safe, "The store could not be migrated: %s", why);
    return true;
}

bool opening_examine(const struct opening *opening, char *error, size_t error_size) {
    static struct examination found;
    if (!store_address_file(opening->where) && server_is_old(opening))
        return true;
    examine(
        opening,
        &found); /* before anything opens the store: that alone would create a log, and hide that it was missing */
    if (found.verdict == EXAMINE_DAMAGED && half_filled_found(opening))
        return true;
    if (found.verdict == EXAMINE_SOUND && found.older) {
        if (!migrate(opening, error, error_size))
            return true; /* STORE-05 */
        examine(opening, &found);
    }
    if (found.verdict != EXAMINE_SOUND)
        return verdict_follow(opening, &found, error, error_size);
    if (!store_address_file(opening->where))
        return cut_off_follow(opening);
    return found.missing ? missing_replace(opening, error, error_size)
                         : mark_follow(opening, error, error_size);
}

/* ---- when nothing can be read ---- */

static void nothing_perform(struct store *store, const struct store_request *request,
                            struct store_answer *answer, struct arena *arena) {
    (void)store, (void)request, (void)arena;
    *answer = (struct store_answer){.outcome = STORE_FAILED,
                                    .error = STR("safe mode: the store cannot be read")};
}

static void nothing_close(struct store *store) {
    (void)store;
}

static const struct store_driver NOTHING = {
    .name = "nothing", .perform = nothing_perform, .close = nothing_close};
static struct store nothing = {&NOTHING};

static struct store *read_only(const char *path, char *error, size_t error_size) {
    struct sqlite_options options = {.path = path, .busy_ms = 2000, .read_only = true};
    return sqlite_open(&options, error, error_size);
}

struct store *opening_reader(const struct opening *opening, char *error, size_t error_size) {
    const char *path = store_address_file(opening->where);
    struct mend mend = {.path = path};
    char place[MEND_PATH] = "";
    bool marked = false;
    struct store *store = NULL;
    if (!safe_is_on(opening->safe))
        return store_open(str_of(opening->where), error, error_size);
    if (path && mend_read_mark(&mend, &marked, place) && place[0])
        store = read_only(place, error, error_size);
    if (path && !store)
        store = read_only(path, error, error_size);
    if (!path)
        store = store_open(str_of(opening->where), error, error_size);
    return store ? store : &nothing;
}
