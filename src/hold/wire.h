/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol between a hold and its callers: frames; docs/hold.md describes it in prose.
 *
 *   frame:  u32 length of what follows, u8 kind, body      (all numbers little-endian)
 *
 * The body of a kind is a row of a table; one interpreter reads and writes all of them. The same file defines the layout of
 * the hold's memory (hold.state), so that the folder of a dead hold can be read too. */
#pragma once

#include "base/id.h"

enum {
    HOLD_VERSION = 2,      /* 1: no reasons to freeze. A hold answers callers of both versions */
    HOLD_HEAD = 5,         /* length and kind */
    HOLD_WRITE = 1 << 20,  /* bytes of one write: a prompt of 100 lines is 10 KiB */
    HOLD_CHUNK = 64 << 10, /* bytes of one piece of output */
    HOLD_FRAME = HOLD_WRITE + 64,
    HOLD_STATUS_SIZE = 6 * 4 + 7 * 8 + 16,
    HOLD_RECORD = 40 /* bytes of one record in hold.state */
};

enum hold_kind {
    /* requests */
    HOLD_HELLO = 1, /* number: fence; small: version */
    HOLD_ATTACH,    /* number: offset */
    HOLD_ACK,       /* number: offset */
    HOLD_WRITE_IN,  /* id, bytes */
    HOLD_WROTE,     /* id */
    HOLD_SIGNAL,    /* small: which */
    HOLD_FREEZE,    /* FREEZE_PAUSE, as callers of version 1 send it */
    HOLD_THAW,
    HOLD_LOOK, /* asks for the status */
    HOLD_STOP, /* small: grace in milliseconds */
    HOLD_COLLECT,
    HOLD_RESIZE,     /* small: columns << 16 | rows */
    HOLD_CLOSE,      /* closes the agent's input, after what is queued */
    HOLD_FREEZE_FOR, /* small: one enum freeze_reason; number: expires after milliseconds, 0: never */
    HOLD_THAW_FOR,   /* small: one enum freeze_reason */
    HOLD_RENEW,      /* number: CLOCK_BOOTTIME in milliseconds until which the agent may run */
    HOLD_ASKED,
    /* answers */
    HOLD_ANSWER = 64, /* to: kind of the request; verdict; number */
    HOLD_DATA,        /* number: offset; bytes */
    HOLD_RECEIPT,     /* id; verdict: enum hold_written */
    HOLD_STATUS,      /* bytes: struct hold_status */
    HOLD_END,         /* number: offset after the last byte there will ever be */
    HOLD_KINDS
};

/* Why the agent is frozen. The reasons are a set; the agent runs only while the set is empty. */
enum freeze_reason {
    FREEZE_MEASURE = 1, /* its tree is being measured; always expires in the hold */
    FREEZE_PAUSE = 2,
    FREEZE_ORPHAN =
        4, /* not renewed in time; ended by HOLD_RENEW or, with --orphan-after, by the next hello */
    FREEZE_DISK = 8,
    FREEZE_OVERAGE = 16, /* its account has begun to use paid extra usage; older holds refuse it */
    FREEZE_ALL = 31
};

enum {
    FREEZE_REASONS = 5,
    FREEZE_MEASURE_MOST_MS = 600000 /* a measuring freeze expires after this time at the latest */
};

enum hold_verdict {
    HOLD_DONE,
    HOLD_STALE,  /* a higher fence came before; number: that fence */
    HOLD_NOBODY, /* the agent is gone, or the request does not apply */
    HOLD_EARLY,  /* something below it still runs, or output is not acknowledged yet */
    HOLD_RANGE,  /* no such offset; number: the lowest available */
    HOLD_UNGREETED,
    HOLD_FAILED, /* number: errno */
    HOLD_VERDICTS
};

/* Was it written? */
enum hold_written {
    HOLD_WRITTEN, /* its last byte was written to the pipe just now */
    HOLD_ALREADY, /* it was written before */
    HOLD_NOT,     /* not a byte of it; on another request it may still be written */
    HOLD_MAYBE,   /* possibly, or only a part of it */
    HOLD_QUEUED,
    HOLD_UNKNOWN, /* never written */
    HOLD_FULL,    /* too much is queued: try again later */
    HOLD_WRITTENS
};

struct hold_frame {
    enum hold_kind kind;
    uint64_t number;
    uint32_t small;
    uint8_t to, verdict;
    struct id id;
    struct str bytes; /* points into the bytes that were read */
};

enum hold_flag {
    HOLD_RUNNING = 1,
    HOLD_EXITED = 2,    /* the agent itself; processes that it started may still run */
    HOLD_ENDED = 4,     /* nothing runs, and the output is complete */
    HOLD_FROZEN = 8,    /* for any reason but FREEZE_ORPHAN */
    HOLD_ORPHANED = 16, /* for FREEZE_ORPHAN */
    HOLD_AT_CAP = 32,   /* does not read: too much is unacknowledged */
    HOLD_STOPPING = 64,
    HOLD_PTY = 128,
    HOLD_INPUT_CLOSED = 256,
    HOLD_LOST_ERRORS = 512, /* the oldest stderr output was dropped */
    HOLD_FROZEN_MEASURE = 1024,
    HOLD_FROZEN_PAUSE = 2048,
    HOLD_FROZEN_DISK = 4096,
    HOLD_FROZEN_OVERAGE = 8192
};

/* Status of a hold. Identity is (pid, start time, boot): never a pid alone. */
struct hold_status {
    uint32_t flags, pid, agent_pid, exit, trouble,
        queued; /* exit: 128 + n after signal n; trouble: errno */
    uint64_t started, agent_started, fence, begin, acked, end, cap;
    struct id boot;
};

/* ---- frames ---- */

/* Writes the frame as bytes to `to`, which must have room. Returns how many. */
size_t frame_write(const struct hold_frame *frame, char *to);
size_t frame_size(const struct hold_frame *frame);

enum frame_found { FRAME_WHOLE, FRAME_HALF, FRAME_BROKEN };

/* Reads the first frame of `bytes`. ret_size: the size of a complete frame; for an incomplete one the size that it
 * needs, as far as it is known. */
enum frame_found frame_read(struct str bytes, struct hold_frame *ret_frame, size_t *ret_size);

void status_write(const struct hold_status *status, char to[HOLD_STATUS_SIZE]);
bool status_read(struct str bytes, struct hold_status *ret_status);

/* The set of freeze reasons in a status. A hold of version 1 does not name its reason: it counts as FREEZE_PAUSE. */
uint32_t status_freeze_reasons(const struct hold_status *status);

/* ---- records of a hold ---- */

enum record_kind {
    RECORD_START =
        1, /* number: pid of the hold; id: boot; value: its start time; detail: RECORD_FORGOT */
    RECORD_AGENT,   /* the same for the agent */
    RECORD_FENCE,   /* value */
    RECORD_BEGUN,   /* id: its first byte is about to be written */
    RECORD_SETTLED, /* id; detail: enum hold_written */
    RECORD_EXIT,    /* number: exit */
    RECORD_ENDED,   /* value: end of the output */
    RECORD_COLLECTED,
    RECORD_KINDS
};

enum {
    RECORD_FORGOT = 1
}; /* records of old writes were dropped: an id that is not found may be one of them */

struct hold_record {
    enum record_kind kind;
    uint8_t detail;
    uint32_t number;
    struct id id;
    uint64_t value;
};

void record_write(const struct hold_record *record, char to[HOLD_RECORD]);
bool record_read(const char from[HOLD_RECORD], struct hold_record *ret_record); /* false: torn */

/* What a record changes about the answer to "was this id written?", if records are read in their order. */
enum hold_written record_tells(const struct hold_record *record, struct id id,
                               enum hold_written so_far);
