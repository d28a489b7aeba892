/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what Codex has written about its account at the end of its session's file.
 *
 * codex-acp 2.6.0 passes no limits on. Codex itself writes them to .codex/sessions/YEAR/MONTH/DAY/rollout-*.jsonl in the
 * HOME of its run. The agent may write there: folders and file are opened one by one, without following links, and only
 * a bounded part of them is read. */
#include "base/memory.h"
#include "drivers/quota_read.h"
#include "runs/run.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRIES = 1024, NAME = 96, TAIL = 256 << 10, DEPTH = 3 };

/* The newest entry: the names of folders and files begin with their date. False: there is none, or there are too many. */
static bool newest_name(int folder, bool file, char name[NAME]) {
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;
    int seen = 0;
    name[0] = 0;
    if (!dir && copy >= 0)
        close(copy);
    while (dir && (entry = readdir(dir)) && ++seen <= ENTRIES) {
        bool fits = file ? str_begins(str_of(entry->d_name), STR("rollout-"))
                         : entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
        if (fits && strlen(entry->d_name) < NAME && strcmp(entry->d_name, name) > 0)
            memcpy(name, entry->d_name, strlen(entry->d_name) + 1);
    }
    if (dir)
        closedir(dir);
    return name[0] && seen <= ENTRIES;
}

static int below(int folder, const char *name) {
    int next = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close(folder);
    return next;
}

/* -1: there is no session. */
static int session_open(const char *home) {
    char name[NAME];
    struct stat about;
    int folder = open(home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    folder = folder >= 0 ? below(folder, ".codex") : -1;
    folder = folder >= 0 ? below(folder, "sessions") : -1;
    for (int depth = 0; folder >= 0 && depth < DEPTH; depth++) {
        if (newest_name(folder, false, name))
            folder = below(folder, name);
        else {
            close(folder);
            folder = -1;
        }
    }
    if (folder < 0)
        return -1;
    int file = newest_name(folder, true, name)
                   ? openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                   : -1;
    close(folder);
    if (file >= 0 && (fstat(file, &about) < 0 || !S_ISREG(about.st_mode))) {
        close(file);
        return -1;
    }
    return file;
}

static bool tail_read(int file, struct quota *ret) {
    struct stat about;
    char *bytes = memory_new(TAIL);
    off_t from = fstat(file, &about) == 0 && about.st_size > TAIL ? about.st_size - TAIL : 0;
    ssize_t length = pread(file, bytes, TAIL, from);
    bool found = length > 0 && quota_read_codex((struct str){bytes, (size_t)length}, ret);
    free(bytes);
    return found;
}

bool session_quota_read(const char *home, struct quota *ret) {
    int file = session_open(home);
    bool found = file >= 0 && tail_read(file, ret);
    if (file >= 0)
        close(file);
    return found;
}
