/* SPDX-License-Identifier: Apache-2.0 */
/* Detects steps of the wall clock, and keeps what is known of them in the state folder.
 *
 * wall - boot is constant except for slewing (at most half a millisecond a second). Two readings follow each other
 * within about a second, so a larger difference is a step. The file `clock` of the state folder has the last readings
 * with the id of the boot: after a restart on the same boot, a step in between is measured exactly; after a reboot,
 * only a clock that went back can be recognised. docs/clocks.md. */
#include "base/must.h"
#include "base/time.h"
#include "sys/clock.h"
#include "sys/file_replace.h"
#include "sys/log.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STEP_LEAST MILLISECONDS(500)
#define READ_WITHIN \
    MILLISECONDS( \
        5) /* longest time between the two readings of the boot clock around the wall clock */
#define KEEP_EVERY MINUTES(1)
#define AWAY_MOST \
    MINUTES(7 * 24 * 60) /* if switched off for longer, the clock is not trusted for a day */

enum { READ_TRIES = 8, CLOCK_FILE = 512 };

static struct {
    pthread_mutex_t lock;
    const char *folder;
    char boot[BOOT_ID + 1];
    bool known;      /* there was a reading */
    int64_t offset;  /* wall - boot, at the newest reading */
    int64_t steady;  /* clock_steady() - clock_boot() */
    int64_t stepped; /* the sum of all steps */
    struct clock_step last;
    int64_t calm_since; /* boot clock: no known leap since then; may be below 0 */
    int64_t leapt_at;   /* boot clock of the newest leap; INT64_MIN: none is known */
    int64_t kept_at;    /* boot clock */
    bool doubt;
    uint32_t id;
} clocks = {.lock = PTHREAD_MUTEX_INITIALIZER, .leapt_at = INT64_MIN};

/* Reads both clocks at one moment: a process that is stopped between two readings would see a false step. */
static void read_both(int64_t *ret_wall, int64_t *ret_boot) {
    int64_t least = INT64_MAX;
    for (int i = 0; i < READ_TRIES && least > READ_WITHIN; i++) {
        int64_t before = clock_boot(), wall = clock_wall(), after = clock_boot();
        if (after - before >= least)
            continue;
        least = after - before;
        *ret_wall = wall;
        *ret_boot = before + least / 2;
    }
}

static int64_t sum_within(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? a : sum;
}

static void step_note(int64_t by, int64_t wall, int64_t boot) {
    clocks.stepped = sum_within(clocks.stepped, by);
    clocks.last = (struct clock_step){by, wall};
    clocks.doubt = clocks.doubt || by < 0;
    if (by >= SECONDS(LEAP_SECONDS) || by <= -SECONDS(LEAP_SECONDS))
        clocks.calm_since = clocks.leapt_at = boot;
}

static void step_log(const struct clock_step *step) {
    char at[TIME_TEXT + 1];
    time_format(step->at, at);
    log_warning("the clock stepped by %+.1f s: it is %s now; stored durations are corrected",
                (double)step->by / 1e6, at);
}

struct clock_reading clock_read(void) {
    struct clock_reading now = {0};
    pthread_mutex_lock(&clocks.lock);
    read_both(&now.wall, &now.boot);
    int64_t offset = now.wall - now.boot, by = clocks.known ? offset - clocks.offset : 0;
    bool stepped = by >= STEP_LEAST || by <= -STEP_LEAST;
    if (stepped)
        step_note(by, now.wall, now.boot);
    if (!clocks.known)
        clocks.steady = offset;
    clocks.known = true;
    clocks.offset = offset;
    now.stepped = clocks.stepped;
    struct clock_step last = clocks.last;
    pthread_mutex_unlock(&clocks.lock);
    if (stepped)
        step_log(&last);
    return now;
}

/* ---- derived clocks ---- */

int64_t clock_steady(void) {
    pthread_mutex_lock(&clocks.lock);
    bool known = clocks.known;
    int64_t offset = clocks.steady;
    pthread_mutex_unlock(&clocks.lock);
    if (!known)
        return clock_read().wall;
    return clock_boot() + offset;
}

int64_t clock_steady_to_wall(int64_t steady) {
    if (steady <= 0 || steady == TIME_NEVER)
        return steady;
    pthread_mutex_lock(&clocks.lock);
    int64_t offset = clocks.offset - clocks.steady;
    pthread_mutex_unlock(&clocks.lock);
    int64_t wall = sum_within(steady, offset);
    return wall > 0 ? wall : 1;
}

struct clock_step clock_last_step(void) {
    pthread_mutex_lock(&clocks.lock);
    struct clock_step last = clocks.last;
    pthread_mutex_unlock(&clocks.lock);
    return last;
}

bool clock_is_in_doubt(void) {
    pthread_mutex_lock(&clocks.lock);
    bool doubt = clocks.doubt;
    pthread_mutex_unlock(&clocks.lock);
    return doubt;
}

uint32_t clock_id(void) {
    return clocks.id; /* set before threads start */
}

bool clock_leapt_within(int64_t span) {
    int64_t now = clock_boot();
    pthread_mutex_lock(&clocks.lock);
    bool leapt = clocks.leapt_at != INT64_MIN && now - clocks.leapt_at < span;
    pthread_mutex_unlock(&clocks.lock);
    return leapt;
}

int64_t clock_calm_for(void) {
    int64_t now = clock_boot();
    pthread_mutex_lock(&clocks.lock);
    int64_t since = clocks.calm_since;
    pthread_mutex_unlock(&clocks.lock);
    return now - since;
}

/* ---- the file ---- */

struct clock_file {
    uint32_t id;
    char boot[BOOT_ID + 1];
    int64_t wall, at; /* the newest reading: wall and boot clock */
    int64_t steady, stepped, calm, leapt_ago, step_by, step_at;
};

static bool file_read(const char *folder, struct clock_file *ret) {
    char path[4096], text[CLOCK_FILE];
    snprintf(path, sizeof path, "%s/clock", folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (length <= 0)
        return false;
    text[length] = 0;
    *ret = (struct clock_file){0};
    return sscanf(text,
                  "1 %" SCNu32 " %36s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
                  " %" SCNd64 " %" SCNd64 " %" SCNd64,
                  &ret->id, ret->boot, &ret->wall, &ret->at, &ret->steady, &ret->stepped,
                  &ret->calm, &ret->leapt_ago, &ret->step_by, &ret->step_at) == 10;
}

static void file_write(int64_t now) {
    char text[CLOCK_FILE];
    int64_t leapt_ago = clocks.leapt_at == INT64_MIN ? -1 : now - clocks.leapt_at;
    int length = snprintf(text, sizeof text,
                          "1 %" PRIu32 " %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
                          " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
                          clocks.id, clocks.boot[0] ? clocks.boot : "-", now + clocks.offset, now,
                          clocks.steady, clocks.stepped, now - clocks.calm_since, leapt_ago,
                          clocks.last.by, clocks.last.at);
    file_replace(clocks.folder, "clock", text, (size_t)length, false);
}

/* Takes over what was measured before this start, converted to this boot. A machine that was switched off counts as
 * calm as before; after more than a week off, its clock may be ahead. */
static void file_take(const struct clock_file *file, int64_t wall, int64_t boot) {
    bool same = clocks.boot[0] && strcmp(file->boot, clocks.boot) == 0 && boot >= file->at;
    int64_t away = same ? boot - file->at : wall > file->wall ? wall - file->wall : 0;
    int64_t by = same                ? (wall - boot) - (file->wall - file->at)
                 : wall < file->wall ? wall - file->wall
                                     : 0;
    clocks.id = file->id;
    clocks.stepped = file->stepped;
    clocks.last = (struct clock_step){file->step_by, file->step_at};
    clocks.calm_since = boot - file->calm - (same ? away : 0);
    clocks.leapt_at = file->leapt_ago < 0 ? INT64_MIN : boot - file->leapt_ago - away;
    clocks.doubt = !same || file->step_by != 0;
    if (same)
        clocks.steady = file->steady;
    if (by >= STEP_LEAST || by <= -STEP_LEAST) {
        step_note(by, wall, boot);
        step_log(&clocks.last);
    }
    if (!same && away > AWAY_MOST)
        clocks.calm_since = boot;
}

void clock_open(const char *folder) {
    struct clock_file file;
    struct clock_reading now = clock_read();
    pthread_mutex_lock(&clocks.lock);
    clocks.folder = folder;
    boot_id(clocks.boot);
    clocks.calm_since = now.boot;
    clocks.doubt = true;
    random_bytes(&clocks.id, sizeof clocks.id);
    clocks.id += clocks.id == 0;
    if (folder && file_read(folder, &file))
        file_take(&file, now.wall, now.boot);
    pthread_mutex_unlock(&clocks.lock);
}

void clock_keep(void) {
    int64_t stepped = clock_last_step().at;
    clock_read();
    pthread_mutex_lock(&clocks.lock);
    int64_t now = clock_boot();
    bool due = clocks.kept_at == 0 || now - clocks.kept_at >= KEEP_EVERY ||
               stepped != clocks.last.at || clocks.leapt_at > clocks.kept_at;
    if (clocks.folder && due) {
        clocks.kept_at = now;
        file_write(now);
    }
    pthread_mutex_unlock(&clocks.lock);
}
