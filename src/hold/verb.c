/* SPDX-License-Identifier: Apache-2.0 */
/* Executes the requests to a hold: one table row per verb. A client that changes something must have said hello, and no
 * higher fence may have come since. */
#include "hold/hold.h"

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

struct verdict {
    enum hold_verdict verdict;
    uint64_t number;
};

#define DONE(n) ((struct verdict){HOLD_DONE, (n)})
#define NOBODY ((struct verdict){HOLD_NOBODY, 0})
#define FAILED(code) ((struct verdict){HOLD_FAILED, (uint64_t)(code)})

void hold_status_read(const struct hold *hold, struct hold_status *ret) {
    const struct output *output = &hold->output;
    bool on[] = {!hold->exited,
                 hold->exited,
                 hold->ended,
                 (hold->frozen_for & ~(uint32_t)FREEZE_ORPHAN) != 0,
                 (hold->frozen_for & FREEZE_ORPHAN) != 0,
                 output_at_cap(hold),
                 hold->stopping && !hold->empty,
                 hold->options.columns > 0,
                 hold->input.pipe.fd < 0 || hold->input.closing,
                 hold->errors.lost,
                 (hold->frozen_for & FREEZE_MEASURE) != 0,
                 (hold->frozen_for & FREEZE_PAUSE) != 0,
                 (hold->frozen_for & FREEZE_DISK) != 0,
                 (hold->frozen_for & FREEZE_OVERAGE) != 0};
    uint32_t flags = 0;
    for (size_t i = 0; i < sizeof on; i++)
        flags |= (uint32_t)on[i] << i;
    *ret = (struct hold_status){.flags = flags,
                                .pid = (uint32_t)getpid(),
                                .agent_pid = (uint32_t)hold->agent,
                                .exit = hold->exit,
                                .trouble = (uint32_t)output->trouble,
                                .queued = (uint32_t)hold->input.queued,
                                .started = hold->started,
                                .agent_started = hold->agent_started,
                                .fence = hold->fence,
                                .begin = output->begin,
                                .acked = output->acked,
                                .end = output->end,
                                .cap = output->cap,
                                .boot = hold->boot};
}

/* A higher fence is on disk before it is answered; clients with a lower one get no more output. */
static struct verdict hello_do(struct hold *hold, int number, const struct hold_frame *frame) {
    if (frame->small < 1 || frame->small > HOLD_SPEAKS)
        return FAILED(EPROTO);
    if (frame->number < hold->fence)
        return (struct verdict){HOLD_STALE, hold->fence};
    struct hold_record record = {.kind = RECORD_FENCE, .value = frame->number};
    if (frame->number > hold->fence && !memory_keep(hold, &record, true))
        return FAILED(errno);
    hold->fence = frame->number;
    for (int i = 0; i < HOLD_CLIENTS; i++)
        if (hold->clients[i].fence < hold->fence)
            hold->clients[i].attached = false;
    hold->clients[number].greeted = true;
    hold->clients[number].fence = frame->number;
    life_spoken(hold, true);
    return DONE(hold->output.acked);
}

/* There is one reader: a client that attaches replaces the previous one. */
static struct verdict attach_do(struct hold *hold, int number, const struct hold_frame *frame) {
    if (frame->number < hold->output.begin || frame->number > hold->output.end)
        return (struct verdict){HOLD_RANGE, hold->output.begin};
    for (int i = 0; i < HOLD_CLIENTS; i++)
        hold->clients[i].attached = false;
    struct client *client = &hold->clients[number];
    client->attached = true;
    client->end_sent = false;
    client->sent = frame->number;
    return DONE(hold->output.end);
}

static struct verdict ack_do(struct hold *hold, int number, const struct hold_frame *frame) {
    (void)number;
    if (frame->number > hold->output.end)
        return (struct verdict){HOLD_RANGE, hold->output.begin};
    output_acked(hold, frame->number);
    return DONE(hold->output.acked);
}

static struct verdict write_do(struct hold *hold, int number, const struct hold_frame *frame) {
    input_ask(hold, number, frame->id, frame->bytes);
    return DONE(0);
}

static struct verdict wrote_do(struct hold *hold, int number, const struct hold_frame *frame) {
    enum hold_written found = input_find(hold, frame->id);
    if (found == HOLD_UNKNOWN && hold->forgot)
        found = HOLD_MAYBE;
    struct hold_frame receipt = {.kind = HOLD_RECEIPT, .id = frame->id, .verdict = (uint8_t)found};
    client_say(hold, number, &receipt);
    return DONE(0);
}

static struct verdict signal_do(struct hold *hold, int number, const struct hold_frame *frame) {
    (void)number;
    if (frame->small == 0 || frame->small >= NSIG)
        return FAILED(EINVAL);
    if (hold->exited)
        return NOBODY;
    return process_signal(hold->agent_fd, (int)frame->small) ? FAILED(errno) : DONE(0);
}

static struct verdict freeze_do(struct hold *hold, int number, const struct hold_frame *frame) {
    (void)number, (void)frame;
    return hold->empty ? NOBODY : DONE(life_freeze(hold, FREEZE_PAUSE, 0));
}

static struct verdict thaw_do(struct hold *hold, int number, const struct hold_frame *frame) {
    (void)number, (void)frame;
    life_thaw(hold, FREEZE_PAUSE);
    return DONE(0);
}

static bool reason_is_known(uint32_t reason) {
    return reason == FREEZE_MEASURE || reason == FREEZE_PAUSE || reason == FREEZE_ORPHAN ||
           reason == FREEZE_DISK || reason == FREEZE_OVERAGE;
}

static struct verdict freeze_for_do(struct hold *hold, int number, const struct hold_frame *frame) {
    (void)number;
    if (!reason_is_known(frame->small) || frame->number > UINT32_MAX)
        return FAILED(EINVAL);
    return hold->empty ? NOBODY : DONE(life_freeze(hold, frame->small, frame->number));
}

static struct verdict thaw_for_do(struct hold *hold, int number, const struct hold_frame *frame) {
    (void)number;
    if (!reason_is_known(frame->small))
        return FAILED(EINVAL);
    life_thaw(hold, frame->small);
    return DONE(0);
}

static struct verdict renew_do(struct hold *hold, int number, const struct hold_frame *frame) {
    (void)number;
    life_renew(hold, (int64_t)(frame->number & INT64_MAX));
    return DONE(0);
}

static struct verdict look_do(struct hold *hold, int number, const struct hold_frame *frame) {
    (void)frame;
    struct hold_status status;
    char bytes[HOLD_STATUS_SIZE];
    hold_status_read(hold, &status);
    status_write(&status, bytes);
    client_say(hold, number,
               &(struct hold_frame){.kind = HOLD_STATUS, .bytes = {bytes, sizeof bytes}});
    return DONE(0);
}

static struct verdict stop_do(struct hold *hold, int number, const struct hold_frame *frame) {
    (void)number;
    life_stop(hold, frame->small);
    return DONE(0);
}

static struct verdict resize_do(struct hold *hold, int number, const struct hold_frame *frame) {
    (void)number;
    struct winsize size = {.ws_col = (unsigned short)(frame->small >> 16),
                           .ws_row = (unsigned short)frame->small};
    if (!hold->options.columns || hold->output.pipe.fd < 0)
        return NOBODY;
    return ioctl(hold->output.pipe.fd, TIOCSWINSZ, &size) ? FAILED(errno) : DONE(0);
}

static struct verdict close_do(struct hold *hold, int number, const struct hold_frame *frame) {
    (void)number, (void)frame;
    if (hold->options.columns || hold->input.pipe.fd < 0)
        return NOBODY;
    input_close(hold);
    return DONE(0);
}

/* Nothing runs any more and every byte was acknowledged: nothing is left to hold. */
static struct verdict collect_do(struct hold *hold, int number, const struct hold_frame *frame) {
    (void)frame;
    if (!hold->ended || hold->output.acked < hold->output.end)
        return (struct verdict){HOLD_EARLY, hold->output.end};
    struct hold_frame answer = {
        .kind = HOLD_ANSWER, .to = HOLD_COLLECT, .verdict = HOLD_DONE, .number = hold->exit};
    memory_keep(hold, &(struct hold_record){.kind = RECORD_COLLECTED}, true);
    client_say(hold, number, &answer);
    clients_pump(hold);
    life_leave(hold);
}

/* ---- the table ---- */

static const struct verb {
    struct verdict (*work)(struct hold *hold, int number, const struct hold_frame *frame);
    bool open;  /* for any client that may connect: it changes nothing */
    bool quiet; /* on success answered in another way, or not at all */
} VERB[HOLD_ASKED] = {
    [HOLD_HELLO] = {hello_do, true, false},
    [HOLD_ATTACH] = {attach_do, false, false},
    [HOLD_ACK] = {ack_do, false, true},
    [HOLD_WRITE_IN] = {write_do, false, true},
    [HOLD_WROTE] = {wrote_do, true, true},
    [HOLD_SIGNAL] = {signal_do, false, false},
    [HOLD_FREEZE] = {freeze_do, false, false},
    [HOLD_THAW] = {thaw_do, false, false},
    [HOLD_LOOK] = {look_do, true, true},
    [HOLD_STOP] = {stop_do, false, false},
    [HOLD_COLLECT] = {collect_do, false, false},
    [HOLD_RESIZE] = {resize_do, false, false},
    [HOLD_CLOSE] = {close_do, false, false},
    [HOLD_FREEZE_FOR] = {freeze_for_do, false, false},
    [HOLD_THAW_FOR] = {thaw_for_do, false, false},
    [HOLD_RENEW] = {renew_do, false, true},
};

static struct verdict verb_allowed(const struct hold *hold, const struct client *client,
                                   const struct verb *verb) {
    if (verb->open)
        return DONE(0);
    if (!client->greeted)
        return (struct verdict){HOLD_UNGREETED, 0};
    if (client->fence < hold->fence)
        return (struct verdict){HOLD_STALE, hold->fence};
    return DONE(0);
}

void verb_do(struct hold *hold, int number, const struct hold_frame *frame) {
    const struct verb *verb = &VERB[frame->kind];
    struct verdict verdict = verb_allowed(hold, &hold->clients[number], verb);
    if (verdict.verdict == HOLD_DONE) {
        if (!verb->open)
            life_spoken(hold, false);
        verdict = verb->work(hold, number, frame);
    }
    if (verb->quiet && verdict.verdict == HOLD_DONE)
        return;
    struct hold_frame answer = {.kind = HOLD_ANSWER,
                                .to = (uint8_t)frame->kind,
                                .verdict = (uint8_t)verdict.verdict,
                                .number = verdict.number};
    client_say(hold, number, &answer);
}
