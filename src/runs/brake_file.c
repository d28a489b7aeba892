/* SPDX-License-Identifier: Apache-2.0 */
/* Stores freezes in a file that was written in advance. Each slot is one block of bytes, replaced in place; a block
 * with a wrong checksum (torn by a power cut) counts as empty, and the hold itself reports that it is frozen. */
#include "runs/brake_file.h"

#include "base/bytes.h"
#include "base/sha256.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { SLOT_BYTES = 128, SUMMED = 96, MAGIC = 0x4B415242, FORMAT = 1 }; /* "BRAK" */

static void slot_write(const struct brake_slot *slot, char bytes[SLOT_BYTES]) {
    memset(bytes, 0, SLOT_BYTES);
    le_put(bytes, MAGIC, 4);
    bytes[4] = FORMAT;
    bytes[5] = (char)slot->state;
    bytes[6] = (char)slot->cause;
    bytes[7] = slot->reported;
    memcpy(bytes + 8, slot->run.bytes, 16);
    memcpy(bytes + 24, slot->goal.bytes, 16);
    le_put(bytes + 40, slot->assignment, 4);
    le_put(bytes + 44, slot->number, 4);
    le_put(bytes + 48, (uint64_t)slot->at, 8);
    le_put(bytes + 56, slot->bytes, 8);
    le_put(bytes + 64, slot->free, 8);
    struct hash sum = sha256((struct str){bytes, SUMMED});
    memcpy(bytes + SUMMED, sum.bytes, SLOT_BYTES - SUMMED);
}

static struct brake_slot slot_read(const char bytes[SLOT_BYTES]) {
    struct brake_slot slot = {0};
    struct hash sum = sha256((struct str){bytes, SUMMED});
    if (le_get(bytes, 4) != MAGIC || bytes[4] != FORMAT || bytes[6] >= BRAKE_CAUSES ||
        bytes[5] > BRAKE_ALLOWED || memcmp(bytes + SUMMED, sum.bytes, SLOT_BYTES - SUMMED) != 0)
        return slot;
    slot.state = (enum brake_state)bytes[5];
    slot.cause = (enum brake_cause)bytes[6];
    slot.reported = bytes[7];
    memcpy(slot.run.bytes, bytes + 8, 16);
    memcpy(slot.goal.bytes, bytes + 24, 16);
    slot.assignment = (uint32_t)le_get(bytes + 40, 4);
    slot.number = (uint32_t)le_get(bytes + 44, 4);
    slot.at = (int64_t)le_get(bytes + 48, 8);
    slot.bytes = le_get(bytes + 56, 8);
    slot.free = le_get(bytes + 64, 8);
    return slot;
}

/* Writes every block, so that all of them are allocated from now on. */
static bool file_fill(int fd) {
    static const char NOTHING[SLOT_BYTES];
    char bytes[SLOT_BYTES];
    for (int i = 0; i < BRAKE_SLOTS; i++)
        if (pread(fd, bytes, SLOT_BYTES, (off_t)i * SLOT_BYTES) != SLOT_BYTES &&
            pwrite(fd, NOTHING, SLOT_BYTES, (off_t)i * SLOT_BYTES) != SLOT_BYTES)
            return false;
    return fsync(fd) == 0;
}

bool brake_file_open(struct brake_file *file, const char *folder) {
    char path[4096];
    char bytes[SLOT_BYTES];
    *file = (struct brake_file){.fd = -1};
    snprintf(path, sizeof path, "%s/brake", folder);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    if (!file_fill(fd)) {
        close(fd);
        return false;
    }
    for (int i = 0; i < BRAKE_SLOTS; i++)
        if (pread(fd, bytes, SLOT_BYTES, (off_t)i * SLOT_BYTES) == SLOT_BYTES)
            file->slots[i] = slot_read(bytes);
    file->fd = fd;
    return true;
}

void brake_file_close(struct brake_file *file) {
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

struct brake_slot *brake_file_find(struct brake_file *file, struct id run) {
    for (int i = 0; i < BRAKE_SLOTS; i++)
        if (file->slots[i].state != BRAKE_NONE && id_equal(file->slots[i].run, run))
            return &file->slots[i];
    return NULL;
}

struct brake_slot *brake_file_free(struct brake_file *file) {
    for (int i = 0; i < BRAKE_SLOTS; i++)
        if (file->slots[i].state == BRAKE_NONE)
            return &file->slots[i];
    return NULL;
}

bool brake_file_keep(struct brake_file *file, const struct brake_slot *slot) {
    char bytes[SLOT_BYTES];
    slot_write(slot, bytes);
    return file->fd >= 0 &&
           pwrite(file->fd, bytes, SLOT_BYTES, (off_t)(slot - file->slots) * SLOT_BYTES) ==
               SLOT_BYTES &&
           fdatasync(file->fd) == 0;
}
