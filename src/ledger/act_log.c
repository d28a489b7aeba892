/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/act_log.h"

#include "base/bytes.h"
#include "base/must.h"
#include "base/sha256.h"
#include "model/effect.h"
#include "model/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Layout of each head and each row: u32 FORMAT, u32 0, u64 serial, its fields, zeros, and at the end 8 bytes of the
 * SHA-256 of all that. Little-endian. */
enum { FORMAT = 0x31544341, CHECK = 8, HEAD_SIZE = 128, ROW_SIZE = 64 }; /* "ACT1" */

struct act_log {
    pthread_mutex_t lock;
    int file; /* -1: in memory only */
    uint32_t cap;
    uint64_t heads; /* written so far */
    uint64_t rows;  /* added so far */
    bool syncs, unsynced;
    bool head_changed, due; /* due: not only the beat has changed */
    bool torn;              /* a row of this process was overwritten while it was needed */
    uint64_t begun;         /* `rows` when this process began */
    uint64_t boot;          /* of the machine now */
    struct act_head head;
    struct act_row *before; /* copy of the ring as an earlier process left it; NULL: not begun */
    struct act_row ring[];
};

/* ---- in memory ---- */

struct act_log *act_log_make(uint32_t rows) {
    struct act_log *log = calloc(1, sizeof *log + rows * sizeof log->ring[0]);
    if (!log)
        return NULL;
    pthread_mutex_init(&log->lock, NULL);
    log->file = -1;
    log->syncs = true;
    log->cap = rows;
    return log;
}

void act_log_free(struct act_log *log) {
    if (!log)
        return;
    (void)act_log_write(log);
    if (log->file >= 0)
        close(log->file);
    pthread_mutex_destroy(&log->lock);
    free(log->before);
    free(log);
}

const struct act_head *act_log_head(const struct act_log *log) {
    return &log->head;
}

static uint64_t oldest(const struct act_log *log) {
    return log->rows > log->cap ? log->rows - log->cap : 0;
}

void act_log_confirm(struct act_log *log, const struct act_head *head) {
    struct act_head next = *head;
    pthread_mutex_lock(&log->lock);
    next.boot = log->boot;
    next.whole = log->head.whole;
    if (!id_equal(log->head.instance, head->instance))
        memset(log->ring, 0, log->cap * sizeof log->ring[0]);
    log->head_changed = log->head_changed || memcmp(&log->head, &next, sizeof next) != 0;
    log->head.beat = next.beat;
    log->due = log->due || memcmp(&log->head, &next, sizeof next) != 0;
    log->head = next;
    pthread_mutex_unlock(&log->lock);
}

static void whole_set(struct act_log *log, bool whole) {
    log->due = log->due || log->head.whole != whole;
    log->head_changed = log->head_changed || log->due;
    log->head.whole = whole;
}

/* P14: the next row overwrites the oldest one. If the command of that row may still run, a missing row no longer means
 * that its command was not begun. */
static void oldest_lose(struct act_log *log) {
    const struct act_row *row = &log->ring[log->rows % log->cap];
    if (log->rows < log->cap || row->kind != EFFECT_COMMAND || row->ended)
        return;
    log->torn = log->torn || log->rows - log->cap >= log->begun;
    whole_set(log, false);
}

static bool is_same(const struct act_row *row, const struct act_row *wanted) {
    bool command = wanted->kind == EFFECT_COMMAND && row->kind == EFFECT_COMMAND;
    return (row->n == wanted->n || command) && id_equal(row->goal, wanted->goal);
}

static bool has(const struct act_log *log, const struct act_row *wanted) {
    for (uint64_t i = log->rows; i > oldest(log); i--)
        if (is_same(&log->ring[(i - 1) % log->cap], wanted))
            return true;
    return false;
}

void act_log_doubt(struct act_log *log) {
    pthread_mutex_lock(&log->lock);
    whole_set(log, false);
    pthread_mutex_unlock(&log->lock);
}

void act_log_settle(struct act_log *log) {
    pthread_mutex_lock(&log->lock);
    for (uint64_t i = oldest(log); i < log->begun; i++)
        log->ring[i % log->cap].ended = true;
    whole_set(log, !log->torn);
    pthread_mutex_unlock(&log->lock);
}

/* The ring holds the rows of earlier processes. Rows that they noted but did not begin are not needed, if their notes
 * of what they began cannot have been lost with the machine. */
bool act_log_begin(struct act_log *log, uint64_t boot) {
    bool same = boot != 0 && boot == log->head.boot;
    log->boot = boot;
    log->begun = log->rows;
    log->torn = false;
    for (uint32_t i = 0; i < log->cap; i++) {
        log->ring[i].ended = false;
        if (same && !log->ring[i].begun)
            log->ring[i] = (struct act_row){0};
    }
    free(log->before);
    log->before = calloc(log->cap, sizeof log->ring[0]);
    if (log->before)
        memcpy(log->before, log->ring, log->cap * sizeof log->ring[0]);
    return log->before != NULL;
}

bool act_log_had(struct act_log *log, const struct act_row *wanted) {
    for (uint32_t i = 0; i < log->cap; i++)
        if (is_same(&log->before[i], wanted))
            return true;
    pthread_mutex_lock(&log->lock);
    bool now = has(log, wanted);
    pthread_mutex_unlock(&log->lock);
    return now;
}

/* Each join raises the epoch: so no other process has joined as this host in between. A batch that was committed, but
 * whose answer was lost, is one more than the noted one; nothing of it was begun. */
bool act_log_is_whole(const struct act_log *log, struct id instance, uint64_t epoch,
                      uint64_t batch) {
    const struct act_head *head = &log->head;
    return log->before && head->whole && head->boot != 0 && head->boot == log->boot &&
           id_equal(head->instance, instance) && epoch == head->epoch + 1 && batch >= head->batch &&
           batch <= head->batch + 1;
}

uint32_t act_log_behind(struct act_log *log, uint64_t batch, struct act_row *rows, uint32_t cap) {
    uint32_t count = 0;
    pthread_mutex_lock(&log->lock);
    for (uint64_t i = oldest(log); i < log->rows; i++) {
        const struct act_row *row = &log->ring[i % log->cap];
        if (row->batch <= batch)
            continue;
        if (count < cap)
            rows[count] = *row;
        count++;
    }
    pthread_mutex_unlock(&log->lock);
    return count;
}

/* ---- in the file ---- */

static bool put(int file, const void *bytes, size_t size, off_t at) {
    ssize_t done;
    do
        done = pwrite(file, bytes, size, at);
    while (done < 0 && errno == EINTR);
    return done == (ssize_t)size;
}

static void sum_of(const char *bytes, size_t size, char ret_sum[CHECK]) {
    struct hash hash = sha256((struct str){bytes, size - CHECK});
    memcpy(ret_sum, hash.bytes, CHECK);
}

static char *block_begin(char *bytes, size_t size, uint64_t serial) {
    memset(bytes, 0, size);
    le_put(bytes, FORMAT, 4);
    return le_put(bytes + 8, serial, 8);
}

/* 0: not complete, or of another format. */
static uint64_t block_serial(const char *bytes, size_t size) {
    char sum[CHECK];
    sum_of(bytes, size, sum);
    bool whole = le_get(bytes, 4) == FORMAT && memcmp(bytes + size - CHECK, sum, CHECK) == 0;
    return whole ? le_get(bytes + 8, 8) : 0;
}

/* Written at `i` modulo the number of rows; serials begin with 1. */
static bool row_put(const struct act_log *log, uint64_t i) {
    const struct act_row *row = &log->ring[i % log->cap];
    char bytes[ROW_SIZE], *at = block_begin(bytes, sizeof bytes, i + 1);
    memcpy(at, row->goal.bytes, sizeof row->goal.bytes);
    at = le_put(at + sizeof row->goal.bytes, row->n, 4);
    at = le_put(at, row->kind, 4);
    at = le_put(at, row->batch, 8);
    le_put(at, row->begun, 1);
    sum_of(bytes, sizeof bytes, bytes + sizeof bytes - CHECK);
    return put(log->file, bytes, sizeof bytes, 2 * HEAD_SIZE + (off_t)(i % log->cap) * ROW_SIZE);
}

/* Of the two heads, the one with the higher serial counts. */
static bool head_put(struct act_log *log) {
    const struct act_head *head = &log->head;
    const uint64_t numbers[] = {head->era,      head->epoch, head->beat, head->batch,
                                head->timeline, head->boot,  head->whole};
    char bytes[HEAD_SIZE], *at = block_begin(bytes, sizeof bytes, ++log->heads);
    memcpy(at, head->instance.bytes, sizeof head->instance.bytes);
    at += sizeof head->instance.bytes;
    for (size_t i = 0; i < count_of(numbers); i++)
        at = le_put(at, numbers[i], 8);
    sum_of(bytes, sizeof bytes, bytes + sizeof bytes - CHECK);
    return put(log->file, bytes, sizeof bytes, (off_t)(log->heads % 2) * HEAD_SIZE);
}

bool act_log_is_due(struct act_log *log) {
    pthread_mutex_lock(&log->lock);
    bool due = log->due;
    pthread_mutex_unlock(&log->lock);
    return due;
}

static bool head_write(struct act_log *log) {
    bool good = log->file < 0 || !log->head_changed || head_put(log);
    if (good)
        log->head_changed = log->due = false;
    return good;
}

bool act_log_write(struct act_log *log) {
    pthread_mutex_lock(&log->lock);
    bool good = head_write(log);
    pthread_mutex_unlock(&log->lock);
    return good;
}

/* The head is written first: it may say that the overwritten row was needed. */
bool act_log_note(struct act_log *log, const struct act_row *row, bool looks) {
    pthread_mutex_lock(&log->lock);
    bool good = !looks || !has(log, row);
    if (good) {
        oldest_lose(log);
        good = head_write(log);
    }
    if (good) {
        log->ring[log->rows % log->cap] = *row;
        log->ring[log->rows % log->cap].begun = !log->syncs;
        good = log->file < 0 || row_put(log, log->rows);
        log->rows++;
        log->unsynced = true;
    }
    pthread_mutex_unlock(&log->lock);
    return good;
}

bool act_log_syncs(const struct act_log *log) {
    return log->syncs;
}

bool act_log_sync(struct act_log *log) {
    pthread_mutex_lock(&log->lock);
    bool wanted = log->syncs && log->unsynced;
    log->unsynced = false;
    pthread_mutex_unlock(&log->lock);
    return !wanted || log->file < 0 || fdatasync(log->file) == 0;
}

static struct act_row *row_find(struct act_log *log, struct id goal, uint32_t n, uint64_t *ret_at) {
    for (uint64_t i = log->rows; i > oldest(log); i--) {
        struct act_row *row = &log->ring[(i - 1) % log->cap];
        *ret_at = i - 1;
        if (row->n == n && id_equal(row->goal, goal))
            return row;
    }
    return NULL;
}

bool act_log_start(struct act_log *log, struct id goal, uint32_t n) {
    uint64_t at;
    pthread_mutex_lock(&log->lock);
    struct act_row *row = log->syncs ? row_find(log, goal, n, &at) : NULL;
    bool good = !log->syncs || row;
    if (row) {
        row->begun = true;
        good = log->file < 0 || row_put(log, at);
    }
    pthread_mutex_unlock(&log->lock);
    return good;
}

void act_log_end(struct act_log *log, struct id goal, uint32_t n) {
    uint64_t at;
    pthread_mutex_lock(&log->lock);
    struct act_row *row = row_find(log, goal, n, &at);
    if (row)
        row->ended = true;
    pthread_mutex_unlock(&log->lock);
}

static void head_read(struct act_log *log, const char *bytes) {
    struct act_head *head = &log->head;
    uint64_t *const numbers[] = {&head->era,      &head->epoch, &head->beat, &head->batch,
                                 &head->timeline, &head->boot,  &head->whole};
    uint64_t serial = block_serial(bytes, HEAD_SIZE);
    if (serial <= log->heads)
        return;
    log->heads = serial;
    memcpy(head->instance.bytes, bytes + 16, sizeof head->instance.bytes);
    for (size_t i = 0; i < count_of(numbers); i++)
        *numbers[i] = le_get(bytes + 16 + sizeof head->instance.bytes + 8 * i, 8);
}

/* The act of a half-written row was not begun. */
static void row_read(struct act_log *log, uint32_t place, const char *bytes) {
    struct act_row *row = &log->ring[place];
    uint64_t serial = block_serial(bytes, ROW_SIZE);
    if (serial == 0 || (serial - 1) % log->cap != place)
        return;
    const char *at = bytes + 16 + sizeof row->goal.bytes;
    memcpy(row->goal.bytes, bytes + 16, sizeof row->goal.bytes);
    row->n = (uint32_t)le_get(at, 4);
    row->kind = (uint32_t)le_get(at + 4, 4);
    row->batch = le_get(at + 8, 8);
    row->begun = le_get(at + 16, 1) != 0;
    log->rows = serial > log->rows ? serial : log->rows;
}

static bool file_read(struct act_log *log, size_t size) {
    char *bytes = calloc(1, size);
    ssize_t got = bytes ? pread(log->file, bytes, size, 0) : -1;
    if (got >= 0) {
        head_read(log, bytes);
        head_read(log, bytes + HEAD_SIZE);
        for (uint32_t i = 0; i < log->cap; i++)
            row_read(log, i, bytes + 2 * HEAD_SIZE + (size_t)i * ROW_SIZE);
    }
    free(bytes);
    return got >= 0;
}

/* The file has its full size from the beginning: if the disk is full later, notes can still be written. */
struct act_log *act_log_open(const char *folder, bool syncs, uint64_t boot, char *error,
                             size_t error_size) {
    struct act_log *log = act_log_make(LIMIT_ACTS_KEPT);
    size_t size = 2 * HEAD_SIZE + (size_t)LIMIT_ACTS_KEPT * ROW_SIZE;
    char path[4096];
    snprintf(path, sizeof path, "%s/acts", folder);
    if (log) {
        log->syncs = syncs;
        log->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    }
    int code = log && log->file >= 0 ? posix_fallocate(log->file, 0, (off_t)size) : errno;
    if (log && code == 0 && fsync(log->file) == 0 && file_read(log, size) &&
        act_log_begin(log, boot))
        return log;
    snprintf(error, error_size, "the act log %s cannot be opened: %s", path,
             log ? strerror(code ? code : errno) : "out of memory");
    act_log_free(log);
    return NULL;
}
