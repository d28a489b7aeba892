/* SPDX-License-Identifier: Apache-2.0 */
/* Talks to a hold: exchanges frames over its socket; incomplete frames are kept until they are complete. */
#include "drivers/hold_client.h"
#include "base/memory.h"
#include "base/must.h"
#include "base/seam.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { READ_ROOM = HOLD_CHUNK + 64 };

struct held {
    uv_pipe_t pipe;
    uv_connect_t connecting;
    const struct held_callbacks *callbacks;
    void *with;
    int dir; /* open while connecting: the socket's path may be too long for an address */
    bool greeted, closed, reported;
    uint32_t hellos;  /* answered hellos: the first asks for version 1, the second for ours */
    uint32_t version; /* of the hold; 0: not known yet */
    uint32_t frozen;  /* reasons that we requested; a hold of version 1 knows no reasons */
    struct {
        bool asked, freeze;
        uint32_t expires_ms;
    } waits[FREEZE_REASONS]; /* newest request for each reason, until the version is known */
    char *in;
    size_t in_length;
};

struct sending {
    uv_write_t request;
    char bytes[];
};

static void held_closed(uv_handle_t *handle) {
    struct held *held = handle->data;
    free(held->in);
    free(held);
}

static void dir_close(struct held *held) {
    if (held->dir >= 0)
        close(held->dir);
    held->dir = -1;
}

void held_close(struct held *held) {
    if (held->closed)
        return;
    held->closed = true;
    dir_close(held);
    uv_close((uv_handle_t *)&held->pipe, held_closed);
}

/* The callbacks may close us, here or in any other call. */
static void held_lost(struct held *held, int code) {
    if (held->closed || held->reported)
        return;
    held->reported = true;
    uv_read_stop((uv_stream_t *)&held->pipe);
    held->callbacks->lost(held->with, code);
}

/* ---- to the hold ---- */

static void sent(uv_write_t *request, int code) {
    struct held *held = request->handle->data;
    free(request->data);
    if (code && code != UV_ECANCELED)
        held_lost(held, code);
}

static bool held_say(struct held *held, const struct hold_frame *frame) {
    if (held->closed || held->reported)
        return false;
    struct sending *sending = memory_grow(NULL, sizeof *sending + frame_size(frame));
    size_t size = frame_write(frame, sending->bytes);
    uv_buf_t buffer = uv_buf_init(sending->bytes, (unsigned)size);
    sending->request.data = sending;
    if (uv_write(&sending->request, (uv_stream_t *)&held->pipe, &buffer, 1, sent) == 0)
        return true;
    free(sending);
    return false;
}

bool held_attach(struct held *held, uint64_t offset) {
    return held_say(held, &(struct hold_frame){.kind = HOLD_ATTACH, .number = offset});
}

bool held_ack(struct held *held, uint64_t offset) {
    return held_say(held, &(struct hold_frame){.kind = HOLD_ACK, .number = offset});
}

#ifdef OVERSEER_SEAMS
/* Breaks the connection in the middle of the frame. */
static bool held_break_off(struct held *held, struct id id, struct str bytes) {
    struct hold_frame frame = {.kind = HOLD_WRITE_IN, .id = id, .bytes = bytes};
    char *all = memory_new(frame_size(&frame));
    uv_buf_t half = uv_buf_init(all, (unsigned)(frame_write(&frame, all) / 2));
    must(uv_try_write((uv_stream_t *)&held->pipe, &half, 1) == (int)half.len);
    free(all);
    uv_os_fd_t fd;
    must(uv_fileno((uv_handle_t *)&held->pipe, &fd) == 0);
    shutdown(fd, SHUT_RDWR);
    return true;
}
#else
#define held_break_off(held, id, bytes) false
#endif

bool held_write(struct held *held, struct id id, struct str bytes) {
    must(bytes.len <= HOLD_WRITE);
    if (seam("held-half"))
        return held_break_off(held, id, bytes);
    return held_say(held, &(struct hold_frame){.kind = HOLD_WRITE_IN, .id = id, .bytes = bytes});
}

bool held_wrote(struct held *held, struct id id) {
    return held_say(held, &(struct hold_frame){.kind = HOLD_WROTE, .id = id});
}

bool held_look(struct held *held) {
    return held_say(held, &(struct hold_frame){.kind = HOLD_LOOK});
}

bool held_stop(struct held *held, uint32_t grace_ms) {
    return held_say(held, &(struct hold_frame){.kind = HOLD_STOP, .small = grace_ms});
}

bool held_collect(struct held *held) {
    return held_say(held, &(struct hold_frame){.kind = HOLD_COLLECT});
}

bool held_close_input(struct held *held) {
    return held_say(held, &(struct hold_frame){.kind = HOLD_CLOSE});
}

/* ---- freezing ---- */

/* A hold of version 1 has one freeze for all reasons, and the freeze does not expire. */
static bool freeze_say_old(struct held *held, enum freeze_reason reason, bool freeze) {
    if (reason == FREEZE_MEASURE)
        return !freeze;
    held->frozen = freeze ? held->frozen | reason : held->frozen & ~(uint32_t)reason;
    bool stand_still = held->frozen != 0;
    return held_say(held, &(struct hold_frame){.kind = stand_still ? HOLD_FREEZE : HOLD_THAW});
}

static bool freeze_say(struct held *held, enum freeze_reason reason, bool freeze,
                       uint32_t expires_ms) {
    if (held->version == 1)
        return freeze_say_old(held, reason, freeze);
    return held_say(held, &(struct hold_frame){.kind = freeze ? HOLD_FREEZE_FOR : HOLD_THAW_FOR,
                                               .small = reason,
                                               .number = expires_ms});
}

static bool freeze_ask(struct held *held, enum freeze_reason reason, bool freeze,
                       uint32_t expires_ms) {
    must(reason == FREEZE_MEASURE || reason == FREEZE_PAUSE || reason == FREEZE_ORPHAN ||
         reason == FREEZE_DISK || reason == FREEZE_OVERAGE);
    if (held->version != 0)
        return freeze_say(held, reason, freeze, expires_ms);
    int place = __builtin_ctz(reason);
    held->waits[place].asked = true;
    held->waits[place].freeze = freeze;
    held->waits[place].expires_ms = expires_ms;
    return !held->closed && !held->reported;
}

bool held_freeze(struct held *held, enum freeze_reason reason, uint32_t expires_ms) {
    return freeze_ask(held, reason, true, expires_ms);
}

bool held_thaw(struct held *held, enum freeze_reason reason) {
    return freeze_ask(held, reason, false, 0);
}

bool held_renew(struct held *held, uint64_t boot_ms) {
    if (held->version < 2)
        return !held->closed; /* version not known yet: the next renewal is sent */
    return held_say(held, &(struct hold_frame){.kind = HOLD_RENEW, .number = boot_ms});
}

static void version_found(struct held *held, uint32_t version) {
    held->version = version;
    for (int i = 0; i < FREEZE_REASONS && !held->closed; i++) {
        bool freeze = held->waits[i].freeze;
        if (!held->waits[i].asked)
            continue;
        held->waits[i].asked = false;
        if (!freeze_say(held, 1u << i, freeze, held->waits[i].expires_ms) &&
            held->callbacks->answer)
            held->callbacks->answer(held->with, freeze ? HOLD_FREEZE_FOR : HOLD_THAW_FOR,
                                    HOLD_FAILED, ENOTSUP);
    }
}

/* ---- from the hold ---- */

/* The second hello only asks for the version: a hold of version 1 refuses it, and the connection stays greeted. Its
 * answers to freeze and thaw are reported as those of ours. */
static void answer_hear(struct held *held, const struct hold_frame *frame) {
    enum hold_kind to = frame->to;
    if (to == HOLD_HELLO && ++held->hellos == 2) {
        version_found(held, frame->verdict == HOLD_DONE ? HOLD_VERSION : 1);
        return;
    }
    if (to == HOLD_FREEZE || to == HOLD_THAW)
        to = to == HOLD_FREEZE ? HOLD_FREEZE_FOR : HOLD_THAW_FOR;
    if (held->callbacks->answer)
        held->callbacks->answer(held->with, to, frame->verdict, frame->number);
}

/* False: no hold sends such a frame. */
static bool frame_hear(struct held *held, const struct hold_frame *frame) {
    const struct held_callbacks *callbacks = held->callbacks;
    struct hold_status status;
    switch (frame->kind) {
    case HOLD_ANSWER:
        if (frame->verdict >= HOLD_VERDICTS)
            return false;
        answer_hear(held, frame);
        return true;
    case HOLD_DATA:
        if (callbacks->data)
            callbacks->data(held->with, frame->number, frame->bytes);
        return true;
    case HOLD_RECEIPT:
        if (frame->verdict >= HOLD_WRITTENS)
            return false;
        if (callbacks->receipt)
            callbacks->receipt(held->with, frame->id, frame->verdict);
        return true;
    case HOLD_STATUS:
        if (!status_read(frame->bytes, &status))
            return false;
        if (callbacks->status)
            callbacks->status(held->with, &status);
        return true;
    case HOLD_END:
        if (callbacks->end)
            callbacks->end(held->with, frame->number);
        return true;
    default: return false;
    }
}

static void frames_hear(struct held *held) {
    size_t at = 0, need;
    for (;;) {
        struct hold_frame frame;
        struct str rest = {held->in + at, held->in_length - at};
        enum frame_found found = frame_read(rest, &frame, &need);
        if (found == FRAME_BROKEN || (found == FRAME_WHOLE && !frame_hear(held, &frame))) {
            held_lost(held, UV_EPROTO);
            return;
        }
        if (held->closed || held->reported)
            return;
        if (found == FRAME_HALF)
            break;
        at += need;
    }
    held->in_length -= at;
    memmove(held->in, held->in + at, held->in_length);
}

/* The buffer fits one frame of output, and a hold sends nothing longer. */
static void room_give(uv_handle_t *handle, size_t size, uv_buf_t *ret_buffer) {
    (void)size;
    struct held *held = handle->data;
    if (!held->in)
        held->in = memory_new(READ_ROOM);
    *ret_buffer = uv_buf_init(held->in + held->in_length, (unsigned)(READ_ROOM - held->in_length));
}

static void bytes_come(uv_stream_t *stream, ssize_t length, const uv_buf_t *buffer) {
    (void)buffer;
    struct held *held = stream->data;
    if (length < 0) {
        held_lost(held, (int)length);
        return;
    }
    held->in_length += (size_t)length;
    frames_hear(held);
    if (!held->closed && held->in_length == READ_ROOM)
        held_lost(held, UV_EPROTO);
}

/* ---- connecting ---- */

static void connected(uv_connect_t *request, int code) {
    struct held *held = request->data;
    if (held->closed)
        return;
    dir_close(held);
    if (!code)
        code = held->greeted ? uv_read_start((uv_stream_t *)&held->pipe, room_give, bytes_come)
                             : UV_ENOTCONN;
    if (code)
        held_lost(held, code);
}

struct held *held_open(uv_loop_t *loop, const char *dir, uint64_t fence,
                       const struct held_callbacks *callbacks, void *with) {
    char path[4096];
    struct held *held = memory_new(sizeof *held);
    *held = (struct held){.callbacks = callbacks, .with = with, .dir = -1};
    uv_pipe_init(loop, &held->pipe, 0);
    held->pipe.data = held->connecting.data = held;
    int length = snprintf(path, sizeof path, "%s/hold.sock", dir);
    if ((size_t)length >= sizeof((struct sockaddr_un *)0)->sun_path) {
        held->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d/hold.sock", held->dir);
    }
    uv_pipe_connect(&held->connecting, &held->pipe, path, connected);
    struct hold_frame hello = {.kind = HOLD_HELLO, .number = fence, .small = 1};
    held->greeted = held_say(held, &hello); /* if false, connected() reports it */
    hello.small = HOLD_VERSION;
    held->greeted = held->greeted && held_say(held, &hello);
    return held;
}
