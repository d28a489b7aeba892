/* SPDX-License-Identifier: Apache-2.0 */
/* Stores what a hold remembers, even when it is dead. hold.state: records of one size, appended. When there are
 * HOLD_RECORDS of them, the older half of the writes to the agent is forgotten, and the start record says so: an id
 * that is not found may be one of those.
 *
 * The lock on the file shows that the hold lives: free means dead. A file with a start record never begins a run again. */
#include "hold/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { AT_ONCE = 64 }; /* records read with one call */

/* Visits every complete record, in order; skips torn ones. Returns how many record places the file has. */
static uint64_t memory_each(int fd, void (*see)(void *with, const struct hold_record *record),
                            void *with) {
    char page[AT_ONCE * HOLD_RECORD];
    struct hold_record record;
    for (uint64_t place = 0;; place += AT_ONCE) {
        ssize_t got = pread(fd, page, sizeof page, (off_t)(place * HOLD_RECORD));
        size_t count = got > 0 ? (size_t)got / HOLD_RECORD : 0;
        for (size_t i = 0; i < count; i++)
            if (record_read(page + i * HOLD_RECORD, &record))
                see(with, &record);
        if (count < AT_ONCE)
            return place + count + (got > 0 && (size_t)got % HOLD_RECORD > 0);
    }
}

static void start_see(void *with, const struct hold_record *record) {
    if (record->kind == RECORD_START)
        *(bool *)with = true;
}

const char *memory_open(struct hold *hold) {
    hold->memory = open("hold.state", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (hold->memory < 0)
        return "cannot open hold.state";
    if (fcntl(hold->memory, F_OFD_SETLK, &(struct flock){.l_type = F_WRLCK}))
        return "another hold uses this folder";
    bool begun = false;
    hold->records = memory_each(hold->memory, start_see, &begun);
    return begun ? "a run was already started in this folder" : NULL;
}

bool memory_keep(struct hold *hold, const struct hold_record *record, bool durable) {
    char bytes[HOLD_RECORD];
    record_write(record, bytes);
    off_t at = (off_t)(hold->records * HOLD_RECORD);
    ssize_t put = pwrite(hold->memory, bytes, sizeof bytes, at);
    if (put != (ssize_t)sizeof bytes) {
        if (put >= 0)
            errno = ENOSPC;
        return false;
    }
    hold->records++;
    return !durable || fdatasync(hold->memory) == 0;
}

/* ---- forgetting ---- */

/* Moves the records that stay to the front, in their order. Returns how many. */
static uint64_t records_thin(char *all, uint64_t count) {
    uint64_t kept = 0, writes = 0, fences = 0;
    struct hold_record record;
    for (uint64_t i = 0; i < count; i++) {
        bool whole = record_read(all + i * HOLD_RECORD, &record);
        writes += whole && (record.kind == RECORD_BEGUN || record.kind == RECORD_SETTLED);
        fences += whole && record.kind == RECORD_FENCE;
    }
    for (uint64_t i = 0; i < count; i++) {
        char *at = all + i * HOLD_RECORD;
        if (!record_read(at, &record))
            continue;
        bool is_write = record.kind == RECORD_BEGUN || record.kind == RECORD_SETTLED;
        bool is_fence = record.kind == RECORD_FENCE;
        bool stays = is_write ? writes <= HOLD_RECORDS / 2 : !is_fence || fences == 1;
        writes -= is_write;
        fences -= is_fence;
        if (!stays)
            continue;
        if (record.kind == RECORD_START) {
            record.detail = RECORD_FORGOT;
            record_write(&record, at);
        }
        memmove(all + kept++ * HOLD_RECORD, at, HOLD_RECORD);
    }
    return kept;
}

/* In place: a record only ever moves towards the front, so a record that stays is in the file at every moment. */
static bool records_replace(struct hold *hold, const char *all, uint64_t count) {
    size_t size = (size_t)count * HOLD_RECORD;
    if (pwrite(hold->memory, all, size, 0) != (ssize_t)size || fdatasync(hold->memory) != 0 ||
        ftruncate(hold->memory, (off_t)size) != 0)
        return false;
    hold->records = count;
    hold->forgot = true;
    return true;
}

bool memory_make_room(struct hold *hold) {
    if (hold->records < HOLD_RECORDS)
        return true;
    size_t size = (size_t)hold->records * HOLD_RECORD;
    char *all = malloc(size);
    bool made = all && pread(hold->memory, all, size, 0) == (ssize_t)size &&
                records_replace(hold, all, records_thin(all, hold->records));
    free(all);
    return made;
}

/* ---- finding ---- */

struct search {
    struct id id;
    enum hold_written found;
};

static void search_see(void *with, const struct hold_record *record) {
    struct search *search = with;
    search->found = record_tells(record, search->id, search->found);
}

enum hold_written memory_find(const struct hold *hold, struct id id) {
    struct search search = {id, HOLD_UNKNOWN};
    memory_each(hold->memory, search_see, &search);
    return search.found;
}
