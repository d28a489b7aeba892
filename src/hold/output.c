/* SPDX-License-Identifier: Apache-2.0 */
/* Logs the agent's output with its offsets. out.log: the position of a byte in the file is its offset, forever.
 *
 * Disk space below the acknowledged offset is freed. When more than the cap is unacknowledged, the hold stops reading,
 * and the agent waits: nothing is dropped. The hold reads an agent that writes a stream of small pieces every few
 * milliseconds instead of at each piece: waking up for every piece would cost the agent more than the piece did. stderr
 * is for people: its newest part is kept. */
#include "hold/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { TAKES = 16 }; /* reads per loop iteration */

int output_open(struct hold *hold) {
    int flags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
    hold->output.log = open("out.log", flags, 0600);
    hold->errors.log = open("err.log", flags, 0600);
    return hold->output.log < 0 || hold->errors.log < 0 ? errno : 0;
}

static uint64_t output_room(const struct output *output) {
    uint64_t open = output->end + output->spill_length - output->acked;
    return open < output->cap ? output->cap - open : 0;
}

bool output_at_cap(const struct hold *hold) {
    return !hold->output.eof && output_room(&hold->output) == 0;
}

static bool output_wants(const struct output *output) {
    return !output->eof && output->spill_length == 0 && output_room(output) > 0;
}

/* Keeps what the disk does not take, and retries. */
static void spill_write(struct hold *hold) {
    struct output *output = &hold->output;
    while (output->spill_length > 0) {
        ssize_t put = pwrite(output->log, output->spill + output->spill_at, output->spill_length,
                             (off_t)output->end);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            output->trouble = put < 0 ? errno : ENOSPC;
            hold->again_at = loop_now() + HOLD_AGAIN_MS;
            return;
        }
        output->spill_at += (size_t)put;
        output->spill_length -= (size_t)put;
        output->end += (uint64_t)put;
    }
    output->trouble = 0;
    output->fresh = output->spill_at;
}

/* Most often the bytes are still in memory: what was just read is sent next. */
ssize_t output_copy(const struct output *output, uint64_t from, char *to, size_t size) {
    uint64_t begin = output->end - output->fresh;
    if (from < begin)
        return pread(output->log, to, size, (off_t)from);
    memcpy(to, output->spill + (from - begin), size);
    return (ssize_t)size;
}

/* One read. When no process is left below us, an empty pipe is the end, even if another process holds it open. */
static bool output_read(struct hold *hold) {
    struct output *output = &hold->output;
    uint64_t room = output_room(output);
    ssize_t got = read(output->pipe.fd, output->spill, room < HOLD_CHUNK ? room : HOLD_CHUNK);
    if (got < 0 && errno == EINTR)
        return true;
    if (got < 0 && errno == EAGAIN && !hold->empty)
        return false;
    if (got <= 0) {
        output->eof = true;
        loop_drop(hold, &output->pipe);
        return false;
    }
    output->spill_at = output->fresh = 0;
    output->spill_length = (size_t)got;
    spill_write(hold);
    return true;
}

/* A full pipe is read without a pause. A terminal's buffer is too small for a pause, and so are the pipes of a user who
 * has very many. */
void output_take(struct hold *hold) {
    struct output *output = &hold->output;
    uint64_t before = output->end;
    bool more = true; /* a read that fills less than a chunk has emptied the pipe */
    for (int i = 0; i < TAKES && more && output_wants(output); i++) {
        uint64_t from = output->end;
        more = output_read(hold) && output->end - from == HOLD_CHUNK;
    }
    uint64_t taken = output->end - before;
    int64_t now = loop_now();
    if (output->rests && taken > 0 && taken < HOLD_CHUNK && now - output->took_at <= HOLD_STREAM_MS)
        output->rest_to = now + HOLD_REST_MS;
    output->took_at = now;
}

void output_settle(struct hold *hold) {
    struct output *output = &hold->output;
    if (output->spill_length > 0 && hold->again_at == 0)
        spill_write(hold);
    while (hold->empty && output_wants(output))
        output_read(hold);
    bool listen = output_wants(output) && output->rest_to == 0;
    loop_poll(hold, &output->pipe, FROM_OUTPUT, listen ? EPOLLIN : 0);
    if (hold->ended || !hold->empty || !output->eof || output->spill_length > 0)
        return;
    hold->ended = true;
    memory_keep(hold, &(struct hold_record){.kind = RECORD_ENDED, .value = output->end}, true);
}

void output_acked(struct hold *hold, uint64_t offset) {
    struct output *output = &hold->output;
    if (offset <= output->acked)
        return;
    output->acked = offset;
    uint64_t whole = offset - offset % HOLD_CHUNK;
    if (whole > output->begin) {
        file_punch(output->log, output->begin, whole);
        output->begin = whole;
    }
}

/* ---- stderr ---- */

static void errors_turn(struct errors *errors) {
    static const char NOTE[] = "[earlier output is in err.log.1, or was dropped]\n";
    errors->lost |= access("err.log.1", F_OK) == 0;
    int next = rename("err.log", "err.log.1")
                   ? -1
                   : open("err.log", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (next < 0) {
        errors->lost = true;
        errors->size = ftruncate(errors->log, 0) ? errors->size : 0;
        return;
    }
    close(errors->log);
    errors->log = next;
    ssize_t put = write(next, NOTE, sizeof NOTE - 1);
    errors->size = put > 0 ? (uint64_t)put : 0;
}

void errors_take(struct hold *hold) {
    struct errors *errors = &hold->errors;
    char bytes[4096];
    for (int i = 0; i < TAKES && errors->pipe.fd >= 0; i++) {
        ssize_t got = read(errors->pipe.fd, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) {
            loop_drop(hold, &errors->pipe);
            return;
        }
        if (errors->size + (uint64_t)got > HOLD_ERRORS)
            errors_turn(errors);
        ssize_t put = pwrite(errors->log, bytes, (size_t)got, (off_t)errors->size);
        errors->size += put > 0 ? (uint64_t)put : 0;
        errors->lost |= put < got;
    }
}
