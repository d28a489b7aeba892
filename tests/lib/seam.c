/* SPDX-License-Identifier: Apache-2.0 */
/* Stops a daemon under test, or makes it fail, at seams that the test arms while the daemon runs, in
 * a file that OVERSEER_SEAM_FILE names. One line for each:
 *
 *     stop inside-transaction 3     SIGSTOP at the 3rd hit from now
 *     fail query 17                 the 17th query from now cannot be sent
 *     slow commit 200               every commit from now on begins 200 milliseconds late
 *     always git-follow 1           from the 1st hit on, each time
 *
 * Each line takes effect once, except slow and always. A file that was replaced, by rename, is read again: that arms its lines
 * and forgets everything armed before. */
#include "base/seam.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { MAX_ARMED = 8, NAME_SIZE = 64 };

struct armed {
    bool stops; /* otherwise it fails */
    bool slows; /* every hit waits for `hits_left` milliseconds */
    bool always;
    char name[NAME_SIZE];
    long hits_left; /* 0: has taken effect */
};

static struct {
    pthread_mutex_t lock;
    struct armed armed[MAX_ARMED];
    int count;
    struct stat file; /* state of the file when it was last read */
} seams = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool file_is_same(const struct stat *now) {
    const struct stat *before = &seams.file;
    return now->st_ino == before->st_ino && now->st_size == before->st_size &&
           now->st_mtim.tv_sec == before->st_mtim.tv_sec &&
           now->st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

static void line_read(const char *line) {
    struct armed armed = {0};
    char verb[8];
    if (seams.count == MAX_ARMED ||
        sscanf(line, "%7s %63s %ld", verb, armed.name, &armed.hits_left) != 3 ||
        armed.hits_left < 1)
        return;
    armed.stops = strcmp(verb, "stop") == 0;
    armed.slows = strcmp(verb, "slow") == 0;
    armed.always = strcmp(verb, "always") == 0;
    if (armed.stops || armed.slows || armed.always || strcmp(verb, "fail") == 0)
        seams.armed[seams.count++] = armed;
}

static void file_read(void) {
    const char *path = getenv("OVERSEER_SEAM_FILE");
    struct stat now = {0};
    bool there = path && stat(path, &now) == 0;
    if (there ? file_is_same(&now) : seams.count == 0)
        return;
    seams.count = 0;
    seams.file = now;
    FILE *file = there ? fopen(path, "re") : NULL;
    char line[128];
    while (file && fgets(line, sizeof line, file))
        line_read(line);
    if (file)
        fclose(file);
}

static struct armed *armed_find(const char *name) {
    for (int i = 0; i < seams.count; i++)
        if (seams.armed[i].hits_left > 0 && strcmp(seams.armed[i].name, name) == 0)
            return &seams.armed[i];
    return NULL;
}

/* It stops without holding the lock: the other threads are stopped as well, but they continue after SIGCONT. */
bool seam(const char *name) {
    pthread_mutex_lock(&seams.lock);
    file_read();
    struct armed *armed = armed_find(name);
    long late = armed && armed->slows ? armed->hits_left : 0;
    bool comes_true = armed && !late && --armed->hits_left == 0;
    bool stops = comes_true && armed->stops;
    if (comes_true && armed->always)
        armed->hits_left = 1;
    pthread_mutex_unlock(&seams.lock);
    if (late)
        nanosleep(&(struct timespec){late / 1000, late % 1000 * 1000000}, NULL);
    if (stops)
        raise(SIGSTOP);
    return comes_true && !stops;
}
