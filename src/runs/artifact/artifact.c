/* SPDX-License-Identifier: Apache-2.0 */
#include "runs/artifact/artifact.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 20 }; /* bytes between two checks of the clock */

static const struct str TOO_LATE =
    STR("the time for checks was over before this artifact was checked");

int64_t artifact_clock(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * 1000000 + at.tv_nsec / 1000;
}

/* ---- opening the file ---- */

/* Opens the path name by name and follows no symbolic link, so it cannot lead out of the folder. */
static int beneath_open(int folder, char *path) {
    int at = folder;
    for (char *slash; (slash = strchr(path, '/')); path = slash + 1) {
        *slash = 0;
        int next = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int error = errno;
        if (at != folder)
            close(at);
        if (next < 0) {
            errno = error;
            return -1;
        }
        at = next;
    }
    int file = openat(at, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int error = errno;
    if (at != folder)
        close(at);
    errno = error;
    return file;
}

static struct str unopened_text(int error, struct arena *arena) {
    if (error == ENOENT)
        return STR("the file does not exist");
    if (error == ELOOP || error == ENOTDIR)
        return STR("it is a symbolic link, or its path contains something that is not a folder; it "
                   "must be a regular file");
    return arena_format(arena, "it cannot be opened: %s", strerror(error));
}

/* ---- reading the file ---- */

/* Empty: `ret` has the whole content, to be freed. */
static struct str content_read(int file, uint64_t size, int64_t until, struct arena *arena,
                               struct str *ret) {
    char *content = memory_grow(NULL, size);
    size_t have = 0;
    while (have < size) {
        size_t want = size - have < PIECE ? size - have : PIECE;
        ssize_t got = artifact_clock() < until ? read(file, content + have, want) : 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            struct str why = got < 0 ? arena_format(arena, "it cannot be read: %s", strerror(errno))
                             : artifact_clock() < until ? STR("it ended while it was read")
                                                        : TOO_LATE;
            free(content);
            return why;
        }
        have += (size_t)got;
    }
    *ret = (struct str){content, have};
    return (struct str){0};
}

/* ---- judging the file ---- */

static struct str item_text(const struct artifact *artifact, const struct artifact_json *json,
                            struct arena *arena) {
    unsigned long long at = json->lacks_at;
    if (json->lacks_key == artifact->keys.count)
        return arena_format(arena, "item %llu (from 0) is not an object; each item must be one",
                            at);
    return arena_format(arena, "item %llu (from 0) has no \"%.*s\"", at,
                        STR_ARG(artifact->keys.at[json->lacks_key]));
}

/* VERIFY-06 to VERIFY-08. */
static struct str json_judge(const struct artifact *artifact, struct str content,
                             struct arena *arena) {
    struct artifact_json json = artifact_json(content, &artifact->keys);
    bool list = artifact->min_items > 0 || artifact->keys.count > 0;
    if (json.wrong)
        return arena_format(arena, "it is not valid JSON: line %u, column %u: %s", json.line,
                            json.column, json.wrong);
    if (list && !json.is_list)
        return STR("its JSON is not a list, but must be one");
    if (json.items < artifact->min_items)
        return arena_format(arena, "it has %llu items, but needs at least %u",
                            (unsigned long long)json.items, artifact->min_items);
    if (json.lacks)
        return item_text(artifact, &json, arena);
    return (struct str){0};
}

static struct str content_judge(int file, uint64_t size, const struct artifact *artifact,
                                int64_t until, struct arena *arena) {
    struct str content;
    if (size > LIMIT_ARTIFACT_JSON)
        return arena_format(arena, "it has %llu bytes; JSON may have at most %d",
                            (unsigned long long)size, LIMIT_ARTIFACT_JSON);
    struct str why = content_read(file, size, until, arena, &content);
    if (why.len > 0)
        return why;
    why = json_judge(artifact, content, arena);
    free((char *)(uintptr_t)content.at);
    return why;
}

/* VERIFY-04, VERIFY-05. */
static struct str file_judge(int file, const struct artifact *artifact, int64_t until,
                             struct arena *arena) {
    struct stat stat;
    if (fstat(file, &stat) != 0)
        return arena_format(arena, "it cannot be checked: %s", strerror(errno));
    if (!S_ISREG(stat.st_mode))
        return STR("it is not a regular file");
    uint64_t size = (uint64_t)stat.st_size;
    if (size < artifact->min_bytes)
        return arena_format(arena, "it has %llu bytes, but needs at least %llu",
                            (unsigned long long)size, (unsigned long long)artifact->min_bytes);
    return artifact->json ? content_judge(file, size, artifact, until, arena) : (struct str){0};
}

static struct str judge(int folder, const struct artifact *artifact, int64_t until,
                        struct arena *arena) {
    const char *broken = artifact_broken(artifact);
    if (broken)
        return str_of(broken);
    if (artifact_clock() >= until)
        return TOO_LATE;
    int file = beneath_open(folder, arena_cstr(arena, artifact->path));
    if (file < 0)
        return unopened_text(errno, arena);
    struct str why = file_judge(file, artifact, until, arena);
    close(file);
    return why;
}

struct artifact_check artifact_check(int folder, const struct artifact *artifact, int64_t until,
                                     struct arena *arena) {
    struct str why = judge(folder, artifact, until, arena);
    return (struct artifact_check){artifact->path, why.len == 0, why};
}
