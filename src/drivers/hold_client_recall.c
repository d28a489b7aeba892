/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the folder of a hold that does not answer: its records, in order. */
#include "drivers/hold_client.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void record_see(struct held_memory *memory, const struct hold_record *record, struct id id) {
    memory->written = record_tells(record, id, memory->written);
    switch (record->kind) {
    case RECORD_START:
        memory->begun = true;
        memory->pid = record->number;
        memory->started = record->value;
        memory->boot = record->id;
        memory->forgot = record->detail == RECORD_FORGOT;
        break;
    case RECORD_AGENT:
        memory->agent_pid = record->number;
        memory->agent_started = record->value;
        break;
    case RECORD_FENCE: memory->fence = record->value; break;
    case RECORD_EXIT:
        memory->exited = true;
        memory->exit = record->number;
        break;
    case RECORD_ENDED:
        memory->ended = true;
        memory->end = record->value;
        break;
    case RECORD_COLLECTED: memory->collected = true; break;
    default: break;
    }
}

/* A live hold may move its records to the front meanwhile, which shortens the file: then it is read again. */
static bool file_recall(FILE *file, struct id id, struct held_memory *ret_memory) {
    char bytes[HOLD_RECORD];
    struct hold_record record;
    struct stat before, after;
    do {
        *ret_memory = (struct held_memory){.written = HOLD_UNKNOWN};
        rewind(file);
        if (fstat(fileno(file), &before) != 0)
            return false;
        while (fread(bytes, sizeof bytes, 1, file) == 1)
            if (record_read(bytes, &record))
                record_see(ret_memory, &record, id);
        if (ferror(file) || fstat(fileno(file), &after) != 0)
            return false;
    } while (after.st_size < before.st_size);
    return true;
}

bool held_recall(const char *dir, struct id id, struct held_memory *ret_memory) {
    char path[4096];
    struct held_memory memory;
    snprintf(path, sizeof path, "%s/hold.state", dir);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    struct flock lock = {.l_type = F_WRLCK};
    bool alive = fcntl(fileno(file), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    bool whole = file_recall(file, id, &memory);
    memory.alive = alive;
    fclose(file);
    if (memory.written == HOLD_WRITTEN)
        memory.written = HOLD_ALREADY;
    if (memory.written == HOLD_UNKNOWN && memory.forgot)
        memory.written = HOLD_MAYBE;
    if (whole)
        *ret_memory = memory;
    return whole;
}

size_t held_left(const char *dir, uint64_t offset, char *bytes, size_t size) {
    char path[4096];
    snprintf(path, sizeof path, "%s/out.log", dir);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return 0;
    ssize_t length = pread(fd, bytes, size, (off_t)offset);
    close(fd);
    return length > 0 ? (size_t)length : 0;
}
