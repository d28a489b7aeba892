/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs export, import and forget: a store is written as a document, a document becomes a store, a goal is
 * forgotten. */
#include "admin/maintain.h"
#include "ops/op.h"
#include "ops/portable/export.h"
#include "ops/portable/import.h"
#include "store/forget.h"
#include "sys/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct store *store_of(const struct maintain *maintain) {
    char error[1024];
    struct store *store = (maintain->lock ? store_open : store_open_beside)(str_of(maintain->store),
                                                                            error, sizeof error);
    if (!store)
        fprintf(stderr, "overseerd: %s\n", error);
    return store;
}

/* Closes the store cleanly: the next process need not look for a log. */
static void store_done(const struct maintain *maintain, struct store *store) {
    store_close(store);
    if (maintain->lock)
        instance_lock_closed(maintain->lock);
}

static int say(int code, const char *verb, const char *what) {
    fprintf(code ? stderr : stdout, "%s: %s\n", verb, what);
    return code;
}

/* ---- export ---- */

static bool export_to(struct store *store, FILE *file, struct export_report *report, char *error,
                      size_t error_size) {
    struct walk *walk = walk_open(store, error, error_size);
    bool done = walk && export_write(walk, file, report, error, error_size);
    walk_close(walk);
    return done;
}

/* STORE-17: the file at `path` is always a complete document. */
static bool export_file(struct store *store, const char *path, struct export_report *report,
                        char *error, size_t error_size) {
    char aside[PATH_MAX];
    snprintf(aside, sizeof aside, "%s.part", path);
    mode_t mask = umask(0077); /* the document contains everything that people wrote */
    FILE *file = fopen(aside, "we");
    umask(mask);
    if (!file) {
        snprintf(error, error_size, "%.800s cannot be written: %s", aside, strerror(errno));
        return false;
    }
    bool done = export_to(store, file, report, error, error_size);
    bool kept = fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (fclose(file) != 0 || !kept || (done && rename(aside, path) != 0)) {
        if (done)
            snprintf(error, error_size, "%.800s cannot be written: %s", path, strerror(errno));
        done = false;
    }
    if (!done)
        unlink(aside);
    return done;
}

int maintain_export(struct maintain *maintain) {
    struct export_report report = {0};
    char error[1024] = "";
    if (maintain->word_count != 1)
        return say(MAINTAIN_USAGE, "export", "name one file, or - for standard output");
    struct store *store = store_of(maintain);
    if (!store)
        return MAINTAIN_FAILED;
    bool out = strcmp(maintain->words[0], "-") == 0;
    bool done = out ? export_to(store, stdout, &report, error, sizeof error)
                    : export_file(store, maintain->words[0], &report, error, sizeof error);
    store_close(store);
    if (!done)
        return say(MAINTAIN_FAILED, "export", error);
    fprintf(stderr, "export: %llu goals, %llu events, %llu other rows\n",
            (unsigned long long)report.goals, (unsigned long long)report.events,
            (unsigned long long)report.items);
    if (report.raw > 0)
        fprintf(stderr,
                "export: %llu of them contain raw data that this build does not understand\n",
                (unsigned long long)report.raw);
    if (report.orphans > 0)
        fprintf(stderr, "export: %llu rows belong to no goal and are skipped; examine the store\n",
                (unsigned long long)report.orphans);
    return report.orphans > 0 ? MAINTAIN_DAMAGE : MAINTAIN_DONE;
}

/* ---- import ---- */

static void warning_print(void *with, const char *what) {
    (void)with;
    printf("import: %s\n", what);
}

static bool ends_with(const char *text, const char *end) {
    size_t len = strlen(text), of = strlen(end);
    return len >= of && strcmp(text + len - of, end) == 0;
}

static bool number_of(const struct maintain *maintain, const char *name, uint32_t *ret) {
    const char *text = maintain_option(maintain, name);
    char *end;
    if (!text)
        return true;
    long value = strtol(text, &end, 10);
    *ret = (uint32_t)value;
    return *text && !*end && value > 0 && value <= INT32_MAX;
}

static int import_report_print(const struct import_report *report) {
    if (report->warnings > IMPORT_WARNINGS)
        printf("import: and %llu more warnings\n",
               (unsigned long long)(report->warnings - IMPORT_WARNINGS));
    printf("import: %llu goals, %llu events, %llu rows%s\n", (unsigned long long)report->goals,
           (unsigned long long)report->events, (unsigned long long)report->rows,
           report->plain ? "; they are new in this store and start new logs" : "");
    return MAINTAIN_DONE;
}

/* Undoes an interrupted import before the next one begins. */
static bool leftovers_undo(struct store *store, char *error, size_t error_size) {
    if (!load_cut_off(store))
        return true;
    printf("import: an earlier import was interrupted; its rows are removed first\n");
    return load_undo(store, error, error_size);
}

static bool adopt(struct maintain *maintain, struct store *store, uint32_t host, char *error,
                  size_t error_size) {
    uint64_t goals;
    if (!maintain_option(maintain, "adopt"))
        return true;
    if (!import_adopt(store, host, clock_wall(), &goals, error, error_size))
        return false;
    printf("import: %llu open goals of other hosts were taken over by host %u\n",
           (unsigned long long)goals, host);
    return true;
}

static int import_from(struct maintain *maintain, FILE *file, uint32_t host) {
    struct import_report report = {0};
    char error[1024] = "";
    struct store *store = store_of(maintain);
    if (!store)
        return MAINTAIN_FAILED;
    struct import_options options = {.file = file,
                                     .tasks = ends_with(maintain->words[0], ".md"),
                                     .move = maintain_option(maintain, "move"),
                                     .host = host,
                                     .now = clock_wall(),
                                     .store = store,
                                     .where = maintain->store,
                                     .warn = warning_print};
    bool done = leftovers_undo(store, error, sizeof error) &&
                import_run(&options, &report, error, sizeof error) &&
                adopt(maintain, store, host, error, sizeof error);
    store_done(maintain, store);
    return done ? import_report_print(&report) : say(MAINTAIN_FAILED, "import", error);
}

int maintain_import(struct maintain *maintain) {
    uint32_t host = 1;
    if (maintain->word_count != 1)
        return say(MAINTAIN_USAGE, "import", "name one file");
    if (!number_of(maintain, "host", &host))
        return say(MAINTAIN_USAGE, "import", "--host needs the number of a host");
    FILE *file = fopen(maintain->words[0], "re");
    if (!file) {
        fprintf(stderr, "import: %s cannot be read: %s\n", maintain->words[0], strerror(errno));
        return MAINTAIN_FAILED;
    }
    int code = import_from(maintain, file, host);
    fclose(file);
    return code;
}

/* ---- forget ---- */

int maintain_forget(struct maintain *maintain) {
    char error[1024] = "";
    struct id goal;
    if (maintain->word_count != 1 || !goal_id_parse(str_of(maintain->words[0]), &goal))
        return say(MAINTAIN_USAGE, "forget",
                   "name one goal by its id, such as goal_01JC7Q4T9ZJ5X0M2K8W3R6VYHN");
    struct store *store = store_of(maintain);
    if (!store)
        return MAINTAIN_FAILED;
    bool done = store_forget(store, goal, error, sizeof error);
    store_done(maintain, store);
    return done ? say(MAINTAIN_DONE, "forget", "its text is erased; its ids, times and hashes stay")
                : say(MAINTAIN_FAILED, "forget", error);
}
