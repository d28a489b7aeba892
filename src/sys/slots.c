/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a small file that is rewritten often.
 *
 * Layout of each slot: u32 magic, u32 length, u64 number, 16 bytes of the SHA-256 of all that, then the bytes.
 * Little-endian. The file has the length of both slots, so half of it is the size of one. */
#include "sys/slots.h"

#include "base/bytes.h"
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAGIC = 0x4f565333,
    SUM_AT = 16,
    SUM = 16,
    HEAD = SUM_AT + SUM,
    LEAST = 4096,       /* smallest size of a slot */
    MOST = 64 << 20,    /* largest file that is read */
    SHRINK = 64 << 10,  /* size from which a slot is made smaller again, */
    SHRINK_TO_PART = 8, /* if no more than this fraction of it is used */
};

static struct hash slot_sum(const char *head, struct str bytes) {
    struct sha256 sum;
    sha256_begin(&sum);
    sha256_add(&sum, head, SUM_AT);
    sha256_add(&sum, bytes.at, bytes.len);
    return sha256_end(&sum);
}

static struct str slot_make(uint64_t number, struct str bytes, struct arena *arena) {
    char *at = arena_new(arena, char, HEAD + bytes.len);
    le_put(at, MAGIC, 4);
    le_put(at + 4, bytes.len, 4);
    le_put(at + 8, number, 8);
    struct hash sum = slot_sum(at, bytes);
    memcpy(at + SUM_AT, sum.bytes, SUM);
    memcpy(at + HEAD, bytes.at, bytes.len);
    return (struct str){at, HEAD + bytes.len};
}

/* 0: not complete. */
static uint64_t slot_read(struct str slot, struct str *ret_bytes) {
    if (slot.len < HEAD || le_get(slot.at, 4) != MAGIC)
        return 0;
    uint64_t length = le_get(slot.at + 4, 4);
    if (length > slot.len - HEAD)
        return 0;
    *ret_bytes = (struct str){slot.at + HEAD, (size_t)length};
    struct hash sum = slot_sum(slot.at, *ret_bytes);
    return memcmp(sum.bytes, slot.at + SUM_AT, SUM) == 0 ? le_get(slot.at + 8, 8) : 0;
}

static off_t slot_place(uint64_t number, size_t room) {
    return number % 2 ? (off_t)room : 0;
}

static bool path_make(char path[PATH_MAX], const char *folder, const char *name) {
    bool fits = snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
    errno = fits ? 0 : ENAMETOOLONG;
    return fits;
}

/* ---- writing ---- */

static bool put_at(int fd, struct str bytes, off_t at) {
    ssize_t put = pwrite(fd, bytes.at, bytes.len, at);
    if (put >= 0 && (size_t)put != bytes.len)
        errno = ENOSPC;
    return put == (ssize_t)bytes.len;
}

static bool slot_put(const char *path, int flags, struct str slot, off_t at, off_t length) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (fd < 0)
        return false;
    bool ok = (length == 0 || ftruncate(fd, length) == 0) && put_at(fd, slot, at);
    int why = errno;
    close(fd);
    errno = why;
    return ok;
}

static size_t room_for(size_t need) {
    size_t room = LEAST;
    while (room < need && room < SHRINK)
        room *= 2;
    return room < need ? (need + SHRINK - 1) / SHRINK * SHRINK : room;
}

/* Writes a new file, which replaces the other one. */
static bool file_make(struct slots *slots, const char *folder, const char *name, struct str slot) {
    char path[PATH_MAX], fresh[PATH_MAX], hidden[64];
    size_t room = room_for(slot.len);
    snprintf(hidden, sizeof hidden, ".%s.new", name);
    if (!path_make(path, folder, name) || !path_make(fresh, folder, hidden) ||
        !slot_put(fresh, O_CREAT | O_TRUNC, slot, slot_place(slots->number + 1, room),
                  2 * (off_t)room) ||
        rename(fresh, path) != 0)
        return false;
    slots->room = room;
    return true;
}

bool slots_write(struct slots *slots, const char *folder, const char *name, struct str bytes) {
    char path[PATH_MAX];
    struct arena arena = {0};
    struct str slot = slot_make(slots->number + 1, bytes, &arena);
    bool fits = slots->room >= slot.len &&
                (slots->room < SHRINK || slots->room / SHRINK_TO_PART < slot.len);
    bool written = fits ? path_make(path, folder, name) &&
                              slot_put(path, 0, slot, slot_place(slots->number + 1, slots->room), 0)
                        : file_make(slots, folder, name, slot);
    if (written)
        slots->number++;
    else if (fits && errno == ENOENT)
        slots->room = 0;
    arena_free(&arena);
    return written;
}

/* ---- reading ---- */

static bool file_read(const char *path, struct arena *arena, struct str *ret) {
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    size_t size = fstat(fd, &about) == 0 && about.st_size <= MOST ? (size_t)about.st_size : 0;
    char *at = arena_new(arena, char, size + 1);
    ssize_t got = pread(fd, at, size, 0);
    close(fd);
    *ret = (struct str){at, got > 0 ? (size_t)got : 0};
    return true;
}

enum slots_found slots_read(struct slots *ret_slots, const char *folder, const char *name,
                            struct arena *arena, struct str *ret_bytes) {
    char path[PATH_MAX];
    struct str all, each[2];
    *ret_slots = (struct slots){0};
    if (!path_make(path, folder, name) || !file_read(path, arena, &all))
        return SLOTS_NONE;
    size_t room = all.len / 2;
    uint64_t first = slot_read((struct str){all.at, room}, &each[0]);
    uint64_t second = slot_read((struct str){all.at + room, room}, &each[1]);
    *ret_bytes = first > second ? each[0] : each[1];
    if (first == second) {
        *ret_bytes = all;
        return SLOTS_OTHER;
    }
    *ret_slots = (struct slots){.number = first > second ? first : second, .room = room};
    return SLOTS_WHOLE;
}
