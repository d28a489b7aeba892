/* SPDX-License-Identifier: Apache-2.0 */
/* Converts frames, the status and the hold's records to bytes and back. */
#include "hold/wire.h"
#include "base/bytes.h"
#include "base/must.h"

/* ---- frames: one letter for each field ----
 * q: number, 8 bytes; d: small, 4; t: to, 1; v: verdict, 1; i: id, 16; *: bytes up to the end. */

static const char *const LAYOUT[HOLD_KINDS] = {
    [HOLD_HELLO] = "qd",      [HOLD_ATTACH] = "q",   [HOLD_ACK] = "q",      [HOLD_WRITE_IN] = "i*",
    [HOLD_WROTE] = "i",       [HOLD_SIGNAL] = "d",   [HOLD_FREEZE] = "",    [HOLD_THAW] = "",
    [HOLD_LOOK] = "",         [HOLD_STOP] = "d",     [HOLD_COLLECT] = "",   [HOLD_RESIZE] = "d",
    [HOLD_FREEZE_FOR] = "dq", [HOLD_THAW_FOR] = "d", [HOLD_RENEW] = "q",    [HOLD_CLOSE] = "",
    [HOLD_ANSWER] = "tvq",    [HOLD_DATA] = "q*",    [HOLD_RECEIPT] = "iv", [HOLD_STATUS] = "*",
    [HOLD_END] = "q",
};

static size_t field_size(char field, size_t bytes) {
    switch (field) {
    case 'q': return 8;
    case 'd': return 4;
    case 'i': return sizeof(struct id);
    case '*': return bytes;
    default: return 1;
    }
}

static size_t body_size(const char *layout, size_t bytes) {
    size_t size = 0;
    for (; *layout; layout++)
        size += field_size(*layout, bytes);
    return size;
}

size_t frame_size(const struct hold_frame *frame) {
    return HOLD_HEAD + body_size(LAYOUT[frame->kind], frame->bytes.len);
}

static char *field_write(char field, const struct hold_frame *frame, char *to) {
    switch (field) {
    case 'q': return le_put(to, frame->number, 8);
    case 'd': return le_put(to, frame->small, 4);
    case 't': return le_put(to, frame->to, 1);
    case 'v': return le_put(to, frame->verdict, 1);
    case 'i':
        memcpy(to, frame->id.bytes, sizeof frame->id.bytes);
        return to + sizeof frame->id.bytes;
    default:
        if (frame->bytes.len > 0)
            memmove(to, frame->bytes.at, frame->bytes.len);
        return to + frame->bytes.len;
    }
}

size_t frame_write(const struct hold_frame *frame, char *to) {
    must(frame->kind < HOLD_KINDS && LAYOUT[frame->kind]);
    size_t size = frame_size(frame);
    char *at = le_put(to, size - 4, 4);
    at = le_put(at, frame->kind, 1);
    for (const char *field = LAYOUT[frame->kind]; *field; field++)
        at = field_write(*field, frame, at);
    return size;
}

static void field_read(char field, struct hold_frame *frame, struct str from) {
    switch (field) {
    case 'q': frame->number = le_get(from.at, 8); break;
    case 'd': frame->small = (uint32_t)le_get(from.at, 4); break;
    case 't': frame->to = (uint8_t)from.at[0]; break;
    case 'v': frame->verdict = (uint8_t)from.at[0]; break;
    case 'i': memcpy(frame->id.bytes, from.at, sizeof frame->id.bytes); break;
    default: frame->bytes = from; break;
    }
}

/* A body that does not match its row exactly is broken: nothing is guessed. */
static bool body_read(const char *layout, struct str body, struct hold_frame *frame) {
    for (; *layout; layout++) {
        size_t size = field_size(*layout, body.len);
        if (size > body.len)
            return false;
        field_read(*layout, frame, (struct str){body.at, size});
        body = (struct str){body.at + size, body.len - size};
    }
    return body.len == 0;
}

enum frame_found frame_read(struct str bytes, struct hold_frame *ret_frame, size_t *ret_size) {
    if (bytes.len < HOLD_HEAD) {
        *ret_size = HOLD_HEAD;
        return FRAME_HALF;
    }
    size_t length = (size_t)le_get(bytes.at, 4);
    unsigned kind = (unsigned char)bytes.at[4];
    if (length < 1 || length > HOLD_FRAME || kind >= HOLD_KINDS || !LAYOUT[kind])
        return FRAME_BROKEN;
    *ret_size = 4 + length;
    if (bytes.len < 4 + length)
        return FRAME_HALF;
    struct hold_frame frame = {.kind = kind};
    if (!body_read(LAYOUT[kind], (struct str){bytes.at + HOLD_HEAD, length - 1}, &frame))
        return FRAME_BROKEN;
    *ret_frame = frame;
    return FRAME_WHOLE;
}

/* ---- status ---- */

void status_write(const struct hold_status *status, char to[HOLD_STATUS_SIZE]) {
    const uint32_t small[] = {status->flags, status->pid,     status->agent_pid,
                              status->exit,  status->trouble, status->queued};
    const uint64_t large[] = {status->started, status->agent_started, status->fence, status->begin,
                              status->acked,   status->end,           status->cap};
    char *at = to;
    for (size_t i = 0; i < count_of(small); i++)
        at = le_put(at, small[i], 4);
    for (size_t i = 0; i < count_of(large); i++)
        at = le_put(at, large[i], 8);
    memcpy(at, status->boot.bytes, sizeof status->boot.bytes);
}

bool status_read(struct str bytes, struct hold_status *ret_status) {
    if (bytes.len != HOLD_STATUS_SIZE)
        return false;
    struct hold_status s = {0};
    uint32_t *const small[] = {&s.flags, &s.pid, &s.agent_pid, &s.exit, &s.trouble, &s.queued};
    uint64_t *const large[] = {&s.started, &s.agent_started, &s.fence, &s.begin,
                               &s.acked,   &s.end,           &s.cap};
    const char *at = bytes.at;
    for (size_t i = 0; i < count_of(small); i++, at += 4)
        *small[i] = (uint32_t)le_get(at, 4);
    for (size_t i = 0; i < count_of(large); i++, at += 8)
        *large[i] = le_get(at, 8);
    memcpy(s.boot.bytes, at, sizeof s.boot.bytes);
    *ret_status = s;
    return true;
}

uint32_t status_freeze_reasons(const struct hold_status *status) {
    static const struct {
        uint32_t flag, reason;
    } NAMED[] = {{HOLD_FROZEN_MEASURE, FREEZE_MEASURE},
                 {HOLD_FROZEN_PAUSE, FREEZE_PAUSE},
                 {HOLD_FROZEN_DISK, FREEZE_DISK},
                 {HOLD_FROZEN_OVERAGE, FREEZE_OVERAGE}};
    uint32_t reasons = 0;
    for (size_t i = 0; i < count_of(NAMED); i++)
        if (status->flags & NAMED[i].flag)
            reasons |= NAMED[i].reason;
    if ((status->flags & HOLD_FROZEN) && reasons == 0)
        reasons = FREEZE_PAUSE;
    return reasons | (status->flags & HOLD_ORPHANED ? (uint32_t)FREEZE_ORPHAN : 0);
}

/* ---- records: kind, detail, 2 empty, number, id, value, check, 4 empty ---- */

static uint32_t
record_check(const char *bytes) { /* FNV-1a: against torn writes, not against malice */
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < 32; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
    return hash;
}

void record_write(const struct hold_record *record, char to[HOLD_RECORD]) {
    memset(to, 0, HOLD_RECORD);
    le_put(to, record->kind, 1);
    le_put(to + 1, record->detail, 1);
    le_put(to + 4, record->number, 4);
    memcpy(to + 8, record->id.bytes, sizeof record->id.bytes);
    le_put(to + 24, record->value, 8);
    le_put(to + 32, record_check(to), 4);
}

bool record_read(const char from[HOLD_RECORD], struct hold_record *ret_record) {
    unsigned kind = (unsigned char)from[0];
    if (kind == 0 || kind >= RECORD_KINDS || le_get(from + 32, 4) != record_check(from))
        return false;
    struct hold_record record = {.kind = kind,
                                 .detail = (uint8_t)from[1],
                                 .number = (uint32_t)le_get(from + 4, 4),
                                 .value = le_get(from + 24, 8)};
    memcpy(record.id.bytes, from + 8, sizeof record.id.bytes);
    *ret_record = record;
    return true;
}

enum hold_written record_tells(const struct hold_record *record, struct id id,
                               enum hold_written so_far) {
    if (record->kind == RECORD_BEGUN && id_equal(record->id, id))
        return HOLD_MAYBE;
    if (record->kind == RECORD_SETTLED && id_equal(record->id, id) &&
        record->detail < HOLD_WRITTENS)
        return (enum hold_written)record->detail;
    return so_far;
}
