/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the file of an SQLite store is a store file, and that its log is as long as it was. */
#include "base/memory.h"
#include "store/sqlite/sqlite_examine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the file ---- */

enum { HEADER = 100, FORMAT_WAL = 2 };
static const char MAGIC[16] = "SQLite format 3";

static bool file_starts(const char *path, void *to, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : pread(fd, to, size, 0);
    if (fd >= 0)
        close(fd);
    return length == (ssize_t)size;
}

static bool file_has_bytes(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && info.st_size > 0;
}

static void file_missing(const char *wal, struct examination *it) {
    it->missing = true;
    if (!file_has_bytes(wal))
        return;
    it->missing = false;
    examine_found(it, "file", "", "the database file is missing; its write-ahead log still exists");
}

/* True: it is an SQLite file in the journal mode that we set. */
static bool header_check(const char *path, const char *wal, const struct examine_options *options,
                         struct examination *it) {
    struct stat info;
    uint8_t header[HEADER];
    if (stat(path, &info) != 0) {
        if (errno == ENOENT)
            file_missing(wal, it);
        else
            examine_verdict_set(it, EXAMINE_AWAY, "%s cannot be read: %s", path, strerror(errno));
        return false;
    }
    if (!S_ISREG(info.st_mode)) {
        examine_verdict_set(it, EXAMINE_NOT_A_STORE, "%s is not a file", path);
        return false;
    }
    if (access(path, R_OK | W_OK) != 0) {
        examine_verdict_set(it, EXAMINE_AWAY, "%s cannot be read and written: %s", path,
                            strerror(errno));
        return false;
    }
    it->deep = !options->unchanged && info.st_size <= EXAMINE_DEEP_BYTES;
    it->unchecked = options->unchanged || info.st_size > EXAMINE_QUICK_BYTES;
    if (!file_starts(path, header, sizeof header) || memcmp(header, MAGIC, sizeof MAGIC) != 0) {
        examine_verdict_set(it, EXAMINE_NOT_A_STORE, "%s has no database header", path);
        return false;
    }
    if (header[18] != FORMAT_WAL || header[19] != FORMAT_WAL)
        examine_found(it, "file", "header", "it is not in WAL mode");
    return it->verdict == EXAMINE_SOUND;
}

/* ---- its write-ahead log ---- */

/* The log's index in shared memory survives a killed process, but not a restart of the machine. It says how many frames
 * had been committed, under which salts. A log that is shorter now has lost commits, and a daemon on a store without
 * them would repeat what it has already done. Formats: sqlite.org/walformat.html. */
struct log_index {
    uint32_t frames;
    uint8_t salts[8];
};

static uint32_t big_32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool index_read(const char *path, struct log_index *ret) {
    uint8_t twice[2][48];
    if (!file_starts(path, twice, sizeof twice) || memcmp(twice[0], twice[1], sizeof twice[0]) != 0)
        return false;
    const uint8_t *head = twice[0];
    memcpy(&ret->frames, head + 16, sizeof ret->frames); /* in native byte order */
    memcpy(ret->salts, head + 32, sizeof ret->salts);
    return head[12] == 1;
}

struct log_sum {
    uint32_t a, b;
    bool big;
};

static void sum_add(struct log_sum *sum, const uint8_t *at, size_t size) {
    for (size_t i = 0; i + 8 <= size; i += 8) {
        uint32_t x = big_32(at + i), y = big_32(at + i + 4);
        if (!sum->big) {
            x = __builtin_bswap32(x);
            y = __builtin_bswap32(y);
        }
        sum->a += x + sum->b;
        sum->b += y + sum->a;
    }
}

/* The number of frames up to the last commit with valid checksums, under these salts. */
static uint32_t frames_count(FILE *file, const uint8_t *head, const struct log_index *index) {
    uint32_t size = big_32(head + 8), whole = 0;
    struct log_sum sum = {.big = big_32(head) & 1};
    sum_add(&sum, head, 24);
    bool fits = size >= 512 && size <= 65536 && big_32(head + 24) == sum.a &&
                big_32(head + 28) == sum.b && memcmp(head + 16, index->salts, 8) == 0;
    if (!fits)
        return 0;
    uint8_t *frame = memory_new(24 + (size_t)size);
    for (uint32_t n = 1; fread(frame, 24 + (size_t)size, 1, file) == 1; n++) {
        sum_add(&sum, frame, 8);
        sum_add(&sum, frame + 24, size);
        if (memcmp(frame + 8, index->salts, 8) != 0 || big_32(frame + 16) != sum.a ||
            big_32(frame + 20) != sum.b)
            break;
        if (big_32(frame + 4) != 0)
            whole = n;
    }
    free(frame);
    return whole;
}

static void log_check(const char *wal, const char *shm, const struct examine_options *options,
                      struct examination *it) {
    struct log_index index = {0};
    uint8_t head[32];
    if (!options->was_open)
        return;
    if (access(wal, F_OK) != 0) {
        examine_found(it, "log", "",
                      "the write-ahead log is missing, and with it the last commits");
        return;
    }
    if (!options->same_boot || !index_read(shm, &index) || index.frames == 0)
        return;
    FILE *file = fopen(wal, "rbe");
    uint32_t frames =
        file && fread(head, sizeof head, 1, file) == 1 ? frames_count(file, head, &index) : 0;
    if (file)
        fclose(file);
    if (frames < index.frames)
        examine_found(it, "log", "", "%u frames were committed to it, %u are intact", index.frames,
                      frames);
}

bool sqlite_file_check(const char *path, const struct examine_options *options,
                       struct examination *it) {
    char wal[PATH_MAX + 8], shm[PATH_MAX + 8];
    snprintf(wal, sizeof wal, "%s-wal", path);
    snprintf(shm, sizeof shm, "%s-shm", path);
    if (!header_check(path, wal, options, it))
        return false;
    log_check(wal, shm, options, it);
    return it->verdict == EXAMINE_SOUND;
}
