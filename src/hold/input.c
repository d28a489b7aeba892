/* SPDX-License-Identifier: Apache-2.0 */
/* What is written to the agent, and was it written before? An id goes in at most once.
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

static struct wish *wish_find(const struct input *input, struct id id) {
    struct wish *wish = input->first;
    while (wish && !id_equal(wish->id, id))
        wish = wish->next;
    return wish;
}

enum hold_written input_find(const struct hold *hold, struct id id) {
    if (wish_find(&hold->input, id))
        return HOLD_QUEUED;
    enum hold_written found = memory_find(hold, id);
    return found == HOLD_WRITTEN ? HOLD_ALREADY : found;
}

static bool input_is_open(const struct hold *hold) {
    return !hold->exited && hold->input.pipe.fd >= 0 && !hold->input.closing;
}

static struct wish *wish_add(struct input *input, struct id id, struct str bytes) {
    struct wish *wish = malloc(sizeof *wish + bytes.len);
    if (!wish)
        return NULL;
    *wish = (struct wish){.id = id, .length = bytes.len};
    memcpy(wish->bytes, bytes.at, bytes.len);
    *input->last = wish;
    input->last = &wish->next;
    input->queued += bytes.len;
    return wish;
}

/* A second caller while it is queued gets the answer instead of the first one. What did not go in may be asked for again. */
void input_ask(struct hold *hold, int client, struct id id, struct str bytes) {
    struct input *input = &hold->input;
    struct wish *wish = wish_find(input, id);
    enum hold_written found = wish ? HOLD_QUEUED : input_find(hold, id);
    if (found == HOLD_NOT)
        found = HOLD_UNKNOWN;
    if (found == HOLD_UNKNOWN && !input_is_open(hold))
        found = HOLD_NOT;
    if (found == HOLD_UNKNOWN) {
        bool room = input->queued + bytes.len <= HOLD_QUEUE && memory_make_room(hold);
        wish = room ? wish_add(input, id, bytes) : NULL;
        found = wish ? HOLD_QUEUED : HOLD_FULL;
    }
    if (!wish) {
        receipt_say(hold, client, id, found);
        return;
    }
    wish->client = client;
    input_move(hold);
}

void input_forget(struct hold *hold, int client) {
    for (struct wish *wish = hold->input.first; wish; wish = wish->next)
        if (wish->client == client)
            wish->client = -1;
}

static void wish_settle(struct hold *hold, enum hold_written written) {
    struct input *input = &hold->input;
    struct wish *wish = input->first;
    if (wish->begun)
        memory_keep(hold,
                    &(struct hold_record){
                        .kind = RECORD_SETTLED, .id = wish->id, .detail = (uint8_t)written},
                    false);
    input->first = wish->next;
    if (!input->first)
        input->last = &input->first;
    input->queued -= wish->length;
    receipt_say(hold, wish->client, wish->id, written);
    free(wish);
}

void input_give_up(struct hold *hold) {
    while (hold->input.first)
        wish_settle(hold, hold->input.first->done > 0 ? HOLD_MAYBE : HOLD_NOT);
    loop_drop(hold, &hold->input.pipe);
}

/* The id is on disk before its first byte goes out: whoever finds it there later knows that it may be in. */
static bool wish_begin(struct hold *hold, struct wish *wish) {
    if (wish->begun)
        return true;
    wish->begun = true;
    if (memory_keep(hold, &(struct hold_record){.kind = RECORD_BEGUN, .id = wish->id}, true))
        return true;
    wish_settle(hold, HOLD_NOT);
    return false;
}

/* True: the pipe may take more. */
static bool wish_move(struct hold *hold, struct wish *wish) {
    while (wish->done < wish->length) {
        ssize_t put =
            write(hold->input.pipe.fd, wish->bytes + wish->done, wish->length - wish->done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && errno == EAGAIN)
            return false;
        if (put < 0) {
            input_give_up(hold);
            return false;
        }
        wish->done += (size_t)put;
    }
    wish_settle(hold, HOLD_WRITTEN);
    return true;
}

void input_move(struct hold *hold) {
    struct input *input = &hold->input;
    if (input->pipe.fd < 0)
        return;
    while (input->first)
        if (wish_begin(hold, input->first) && !wish_move(hold, input->first))
            break;
    if (!input->first && input->closing)
        loop_drop(hold, &input->pipe);
    loop_watch(hold, &input->pipe, FROM_INPUT, input->first ? EPOLLOUT : 0);
}

void input_close(struct hold *hold) {
    hold->input.closing = true;
    input_move(hold);
}
