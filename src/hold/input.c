/* SPDX-License-Identifier: Apache-2.0 */
/* Writes input to the agent and remembers what was written. An id is written at most once.
 *
 *   asked ──▶ queued ──▶ begun (remembered on disk) ──▶ written
 *               └──▶ not            └──▶ maybe: the agent ended in the middle */
#include "hold/hold.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

static void receipt_say(struct hold *hold, int client, struct id id, enum hold_written written) {
    if (client < 0)
        return;
    struct hold_frame frame = {.kind = HOLD_RECEIPT, .id = id, .verdict = (uint8_t)written};
    client_say(hold, client, &frame);
}

static struct pending_write *pending_write_find(const struct input *input, struct id id) {
    struct pending_write *pending = input->first;
    while (pending && !id_equal(pending->id, id))
        pending = pending->next;
    return pending;
}

enum hold_written input_find(const struct hold *hold, struct id id) {
    if (pending_write_find(&hold->input, id))
        return HOLD_QUEUED;
    enum hold_written found = memory_find(hold, id);
    return found == HOLD_WRITTEN ? HOLD_ALREADY : found;
}

static bool input_is_open(const struct hold *hold) {
    return !hold->exited && hold->input.pipe.fd >= 0 && !hold->input.closing;
}

static struct pending_write *pending_write_add(struct input *input, struct id id,
                                               struct str bytes) {
    struct pending_write *pending = malloc(sizeof *pending + bytes.len);
    if (!pending)
        return NULL;
    *pending = (struct pending_write){.id = id, .length = bytes.len};
    memcpy(pending->bytes, bytes.at, bytes.len);
    *input->last = pending;
    input->last = &pending->next;
    input->queued += bytes.len;
    return pending;
}

/* While a write is queued, a second caller gets the receipt instead of the first one. A write that was not made may be
 * requested again. */
void input_ask(struct hold *hold, int client, struct id id, struct str bytes) {
    struct input *input = &hold->input;
    struct pending_write *pending = pending_write_find(input, id);
    enum hold_written found = pending ? HOLD_QUEUED : input_find(hold, id);
    if (found == HOLD_NOT)
        found = HOLD_UNKNOWN;
    if (found == HOLD_UNKNOWN && !input_is_open(hold))
        found = HOLD_NOT;
    if (found == HOLD_UNKNOWN) {
        bool room = input->queued + bytes.len <= HOLD_QUEUE && memory_make_room(hold);
        pending = room ? pending_write_add(input, id, bytes) : NULL;
        found = pending ? HOLD_QUEUED : HOLD_FULL;
    }
    if (!pending) {
        receipt_say(hold, client, id, found);
        return;
    }
    pending->client = client;
    input_move(hold);
}

void input_forget(struct hold *hold, int client) {
    for (struct pending_write *pending = hold->input.first; pending; pending = pending->next)
        if (pending->client == client)
            pending->client = -1;
}

static void pending_write_settle(struct hold *hold, enum hold_written written) {
    struct input *input = &hold->input;
    struct pending_write *pending = input->first;
    if (pending->begun)
        memory_keep(hold,
                    &(struct hold_record){
                        .kind = RECORD_SETTLED, .id = pending->id, .detail = (uint8_t)written},
                    false);
    input->first = pending->next;
    if (!input->first)
        input->last = &input->first;
    input->queued -= pending->length;
    receipt_say(hold, pending->client, pending->id, written);
    free(pending);
}

void input_give_up(struct hold *hold) {
    while (hold->input.first)
        pending_write_settle(hold, hold->input.first->done > 0 ? HOLD_MAYBE : HOLD_NOT);
    loop_drop(hold, &hold->input.pipe);
}

/* The id is on disk before its first byte is written: a reader that finds it there later knows that it may have been
 * written. */
static bool pending_write_begin(struct hold *hold, struct pending_write *pending) {
    if (pending->begun)
        return true;
    pending->begun = true;
    if (memory_keep(hold, &(struct hold_record){.kind = RECORD_BEGUN, .id = pending->id}, true))
        return true;
    pending_write_settle(hold, HOLD_NOT);
    return false;
}

/* True: the pipe may take more. */
static bool pending_write_move(struct hold *hold, struct pending_write *pending) {
    while (pending->done < pending->length) {
        ssize_t put = write(hold->input.pipe.fd, pending->bytes + pending->done,
                            pending->length - pending->done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && errno == EAGAIN)
            return false;
        if (put < 0) {
            input_give_up(hold);
            return false;
        }
        pending->done += (size_t)put;
    }
    pending_write_settle(hold, HOLD_WRITTEN);
    return true;
}

void input_move(struct hold *hold) {
    struct input *input = &hold->input;
    if (input->pipe.fd < 0)
        return;
    while (input->first)
        if (pending_write_begin(hold, input->first) && !pending_write_move(hold, input->first))
            break;
    if (!input->first && input->closing)
        loop_drop(hold, &input->pipe);
    loop_poll(hold, &input->pipe, FROM_INPUT, input->first ? EPOLLOUT : 0);
}

void input_close(struct hold *hold) {
    hold->input.closing = true;
    input_move(hold);
}
