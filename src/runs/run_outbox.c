/* SPDX-License-Identifier: Apache-2.0 */
/* Queues the writes that still have to reach an agent. Each write waits here until its hold confirms it.
 *
 *   added ──▶ durable (in drive.state, with the driver's state that made it) ──▶ sent ──▶ confirmed: removed
 *                                                                              │ ▲
 *                                                                              └─┘ full, refused, connection lost, restart: sent again
 *
 * A write leaves this process only after the state that made it is in drive.state. So after a crash either the driver
 * makes it again and nothing of it was sent, or it is here with its id, and the hold writes each id once. Only one write is
 * in flight at a time, so the order is kept whatever the hold refuses. */
#include "base/memory.h"
#include "base/seam.h"
#include "runs/run.h"
#include "runs/run_log.h"
#include "sys/clock.h"

#include <stdlib.h>

enum {
    AGAIN_MS = 1000,
    REFUSALS_MOST = 10, /* no byte of it was written: it is tried again */
    UNSURE_MOST =
        3 /* part of it may have been written: by then an agent that exited in between is known to have exited */
};

struct run_write {
    struct run_write *next;
    struct id id;
    uint64_t serial; /* from 1, in order of creation */
    bool closes;     /* closes the agent's input; no bytes */
    size_t length;
    char bytes[];
};

/* ---- the list ---- */

static void write_append(struct run_outbox *outbox, struct id id, struct str bytes, bool closes) {
    struct run_write *write = memory_new(sizeof *write + bytes.len);
    *write = (struct run_write){
        .id = id, .closes = closes, .length = bytes.len, .serial = ++outbox->made};
    if (bytes.len > 0)
        memcpy(write->bytes, bytes.at, bytes.len);
    struct run_write **end = &outbox->first;
    while (*end)
        end = &(*end)->next;
    *end = write;
    outbox->count++;
    outbox->size += bytes.len;
}

static void first_remove(struct run_outbox *outbox) {
    struct run_write *write = outbox->first;
    outbox->first = write->next;
    outbox->count--;
    outbox->size -= write->length;
    outbox->sent = false;
    outbox->refusals = 0;
    free(write);
}

bool outbox_add(struct run *run, struct id id, struct str bytes, bool closes) {
    struct run_outbox *outbox = &run->outbox;
    bool room =
        outbox->count < RUN_OUTBOX_WRITES && outbox->size + bytes.len <= (size_t)RUN_OUTBOX_BYTES;
    if (room)
        write_append(outbox, id, bytes, closes);
    (void)seam("write-added");
    return room;
}

bool outbox_has(const struct run *run, struct id id) {
    for (const struct run_write *write = run->outbox.first; write; write = write->next)
        if (!write->closes && id_equal(write->id, id))
            return true;
    return false;
}

void outbox_clear(struct run *run) {
    while (run->outbox.first)
        first_remove(&run->outbox);
    run->outbox.again_at = 0;
}

/* ---- to the hold ---- */

static void send_later(struct run *run) {
    run->outbox.sent = false;
    run->outbox.again_at = clock_steady() + MILLISECONDS(AGAIN_MS);
    run_due(run);
}

void outbox_send(struct run *run) {
    struct run_outbox *outbox = &run->outbox;
    const struct run_write *write = outbox->first;
    if (!write || outbox->sent || outbox->again_at || !run->held || write->serial > outbox->durable)
        return;
    (void)seam("write-durable");
    if (seam("write-refused")) /* as if the connection were lost */
        outbox->sent = false;
    else
        outbox->sent = write->closes ? held_close_input(run->held)
                                     : held_write(run->held, write->id,
                                                  (struct str){write->bytes, write->length});
    (void)seam("write-sent");
    if (!outbox->sent)
        send_later(run);
}

void outbox_saved(struct run *run, uint64_t serial) {
    run->outbox.durable = serial;
    outbox_send(run);
}

void outbox_reconnected(struct run *run) {
    run->outbox.sent = false;
    run->outbox.again_at = 0;
    outbox_send(run);
}

void outbox_tick(struct run *run, int64_t now) {
    if (run->outbox.again_at == 0 || run->outbox.again_at > now)
        return;
    run->outbox.again_at = 0;
    outbox_send(run);
}

/* ---- from the hold ---- */

bool outbox_receipt(struct run *run, struct id id, enum hold_written written,
                    enum tristate *ret_arrived) {
    struct run_outbox *outbox = &run->outbox;
    struct run_write *write = outbox->first;
    (void)seam("write-receipt");
    if (!write || write->closes || !id_equal(write->id, id) || !outbox->sent)
        return false;
    bool refused = written == HOLD_NOT || written == HOLD_FULL, unsure = written == HOLD_MAYBE;
    outbox->refusals += written == HOLD_NOT || unsure;
    if ((refused || unsure) && !run->exited &&
        outbox->refusals < (unsure ? UNSURE_MOST : REFUSALS_MOST)) {
        send_later(run);
        return false;
    }
    if (written == HOLD_QUEUED)
        return false;
    if (written == HOLD_UNKNOWN) {
        outbox->sent = false;
        outbox_send(run);
        return false;
    }
    *ret_arrived = refused ? TRISTATE_NO : unsure ? TRISTATE_UNKNOWN : TRISTATE_YES;
    first_remove(outbox);
    outbox_send(run);
    return true;
}

void outbox_closed(struct run *run) {
    struct run_outbox *outbox = &run->outbox;
    if (!outbox->first || !outbox->first->closes || !outbox->sent)
        return;
    first_remove(outbox);
    outbox_send(run);
}

/* ---- in drive.state ----
 * u32 count; then for each: 16 bytes id, u8 closes, u32 length, bytes. Little-endian. */

enum { WRITE_HEAD = sizeof(struct id) + 1 + 4 };

size_t outbox_size(const struct run *run) {
    return 4 + run->outbox.count * (size_t)WRITE_HEAD + run->outbox.size;
}

char *outbox_put(const struct run *run, char *to) {
    to = le_put(to, run->outbox.count, 4);
    for (const struct run_write *write = run->outbox.first; write; write = write->next) {
        memcpy(to, write->id.bytes, sizeof write->id.bytes);
        to[sizeof write->id.bytes] = write->closes;
        to = le_put(to + sizeof write->id.bytes + 1, (uint32_t)write->length, 4);
        memcpy(to, write->bytes, write->length);
        to += write->length;
    }
    return to;
}

static bool write_take(struct run *run, struct str *rest) {
    struct id id;
    if (rest->len < (size_t)WRITE_HEAD)
        return false;
    memcpy(id.bytes, rest->at, sizeof id.bytes);
    bool closes = rest->at[sizeof id.bytes] != 0;
    size_t length = (uint32_t)le_get(rest->at + sizeof id.bytes + 1, 4);
    if (length > rest->len - WRITE_HEAD ||
        !outbox_add(run, id, (struct str){rest->at + WRITE_HEAD, length}, closes))
        return false;
    *rest = (struct str){rest->at + WRITE_HEAD + length, rest->len - WRITE_HEAD - length};
    return true;
}

bool outbox_load(struct run *run, struct str bytes) {
    if (bytes.len < 4)
        return false;
    uint32_t count = (uint32_t)le_get(bytes.at, 4);
    struct str rest = {bytes.at + 4, bytes.len - 4};
    for (uint32_t i = 0; i < count; i++)
        if (!write_take(run, &rest))
            return false;
    run->outbox.durable = run->outbox.made;
    return rest.len == 0;
}
