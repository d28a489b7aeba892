/* SPDX-License-Identifier: Apache-2.0 */
/* Drives a run: feeds an agent's output to its driver, and sends the driver's writes to the agent.
 *
 * Every write has a name, and a hold writes each name only once: a driver's answer to a piece of output is named by the
 * output's offset, a prompt by its dispatch. A write waits in the outbox until its hold confirms it (run_outbox.c).
 * Signals are named by run and offset, so output that is read again after a crash is not reported twice.
 *
 * All work on an agent's bytes runs under the crash guard (run_driver.c): a bad line ends that run, never the daemon. */
#include "base/memory.h"
#include "drivers/drive.h"
#include "runs/run.h"
#include "runs/run_log.h"
#include "runs/words/agent_words.h"
#include "sys/clock.h"
#include "sys/crash_guard.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- under the crash guard: what reads an agent's bytes breaks its run off, never the daemon ---- */

static bool driver_do(struct run *run, const struct driver_call *call, struct drive_out *out) {
    struct crash_guard_report report = {.why = ""};
    bool whole = driver_call(run, call, out, &report);
    if (!whole)
        run_break(run, report.why);
    return whole;
}

static bool parse_do(struct run *run, void (*work)(void *with), void *with) {
    struct crash_guard_report report = {.why = ""};
    bool whole = driver_parses(work, with, &report);
    if (!whole)
        run_break(run, report.why);
    return whole;
}

static bool guard_do(struct run *run, void (*work)(void *with), void *with) {
    struct crash_guard_report report = {.why = ""};
    bool whole = crash_guard_run(work, with, &report) == CRASH_GUARD_WHOLE;
    if (!whole)
        run_break(run, report.why);
    return whole;
}

/* ---- signals ---- */

static void event_offer(struct run *run, enum agent_event happened, const struct drive_event *event,
                        struct str reason, struct arena *arena) {
    struct observation seen;
    run_seen_now(run, &seen);
    seen.event = happened;
    seen.limited_until = event->until;
    seen.exit = run->exit;
    seen.dispatch = happened == AGENT_ACCEPTED ? run->dispatch_n : run->number;
    seen.heard = run->dispatch_n;
    struct signal signal = {.kind = SIGNAL_AGENT_SEEN,
                            .body = shape_encode(&OBSERVATION, &seen, arena),
                            .exit = run->exit,
                            .reason = str_cut_utf8(reason, LIMIT_PROSE)};
    run_offer(run, &signal, event->offset, str_of(name_of(&AGENT_EVENT_NAMES, happened)));
}

/* UPDATE-01: only the agent's own words, and only the block in them. */
static void words_offer(struct run *run, const struct drive_event *event, struct arena *arena) {
    struct update_reading it = {
        .reply = event->text, .goal = run->goal, .assignment = run->assignment + 1, .arena = arena};
    if (event->text.len > 0 && parse_do(run, update_find, &it) && it.found)
        run_offer(run, &it.signal, event->offset, STR("words"));
}

/* ---- events ---- */

void run_look_ended(struct run *run, enum tristate delivered) {
    struct arena arena = {0};
    struct observation seen;
    if (!run->look)
        return;
    run_seen_now(run, &seen);
    seen.dispatch = run->look->effect.dispatch;
    seen.delivered = delivered;
    run_report(run, &run->look, (struct signal){.body = shape_encode(&OBSERVATION, &seen, &arena)});
    arena_free(&arena);
}

static void accepted(struct run *run, const struct drive_event *event, struct arena *arena) {
    if (!id_equal(event->dispatch, run->dispatch))
        return;
    if (run->sending)
        run_sending_ended(run, DELIVERY_ACCEPTED,
                          run->driver->watches ? STR("it is only watched and gets no messages")
                                               : STR(""));
    else
        event_offer(run, AGENT_ACCEPTED, event, STR(""), arena); /* TICK-18: a late acceptance */
}

static struct drive_out out_begin(struct arena *arena);
static void apply_events(struct run *run, struct drive_out *out, struct str name);

static void ask_answer(struct run *run, const struct drive_event *event, enum drive_answer answer,
                       struct arena *arena) {
    struct drive_out out = out_begin(arena);
    char name[48];
    snprintf(name, sizeof name, "policy %llu", (unsigned long long)event->offset);
    if (driver_do(
            run, &(struct driver_call){.verb = DRIVER_ANSWER, .text = event->ask, .answer = answer},
            &out))
        apply_events(run, &out, str_of(name));
}

static void ask_offer(struct run *run, struct arena *arena) {
    const struct run_ask *ask = asks_first(&run->asks);
    struct drive_event event = {.offset = ask ? ask->offset : 0};
    if (ask)
        event_offer(run, AGENT_ASKS, &event, str_of(ask->text), arena);
}

/* Answers a request by policy, or puts it before a person: one request at a time, the others wait. A text that waits
 * for the end of the turn would block the answer, so its sending ends with an error; it has to follow the answer. */
static void asks(struct run *run, const struct drive_event *event, struct arena *arena) {
    enum drive_answer answer = DRIVE_REJECT;
    bool decided = ask_by_policy(&run->spec, event, &answer);
    if (decided || !asks_add(&run->asks, event)) {
        ask_answer(run, event, decided ? answer : DRIVE_REJECT, arena);
        return;
    }
    if (run->sending && !run->spoken && run_waits_for_yes(run))
        run_sending_ended(run, DELIVERY_ERROR, STR(RUN_WAITS_FOR_YES));
    if (run->asks.count == 1)
        ask_offer(run, arena);
}

static bool writes_sessions(const struct run *run) {
    struct str kind = run_login_kind(run);
    return !run->driver->watches &&
           (str_equal(kind, STR("codex")) || str_equal(kind, STR("codex-acp")));
}

/* A turn that we interrupted ourselves is neither progress nor reported. */
static void turn_over(struct run *run, const struct drive_event *event, struct arena *arena) {
    struct quota quota;
    struct drive_event report = {.offset = event->offset, .quota = &quota};
    run->asks.count = 0;
    if (writes_sessions(run) && session_quota_read(run->home, &quota))
        run_quota_heard(run, &report);
    if (event->reason != DRIVE_TURN_CANCELLED || !run->interrupted)
        event_offer(run, AGENT_ENDED, event, STR(""), arena);
    words_offer(run, event, arena);
}

static void turn_failed(struct run *run, const struct drive_event *event, struct arena *arena) {
    struct str why = event->text;
    run->asks.count = 0;
    if (event->kind == DRIVE_BROKEN) {
        why = run_broken_words(run, event, arena);
        log_run(LEVEL_WARNING, run, "agent %s can no longer be driven: %.*s", run->agent,
                STR_ARG(why));
    }
    run_sending_ended(run, run->spoken ? DELIVERY_ACCEPTED : DELIVERY_ERROR, why);
    if (!run->ended) /* else AGENT_EXITED reports it, once */
        event_offer(run, AGENT_FAILED, event, why, arena);
}

static void event_take(struct run *run, const struct drive_event *event, struct arena *arena) {
    switch (event->kind) {
    case DRIVE_STARTED:
        snprintf(run->session, sizeof run->session, "%.*s", STR_ARG(event->session));
        run_file_write(run);
        break;
    case DRIVE_ACCEPTED: accepted(run, event, arena); break;
    case DRIVE_ASKS_FOR: asks(run, event, arena); break;
    case DRIVE_ENDED: turn_over(run, event, arena); break;
    case DRIVE_BROKEN:
    case DRIVE_FAILED: turn_failed(run, event, arena); break;
    case DRIVE_LIMITED: event_offer(run, AGENT_LIMITED, event, event->text, arena); break;
    case DRIVE_DELIVERED: run_look_ended(run, event->arrived); break;
    case DRIVE_QUOTA: run_quota_heard(run, event); break;
    default: break;
    }
}

struct taking {
    struct run *run;
    const struct drive_out *out;
    const struct drive_event *event;
};

static void words_do(void *with) {
    struct taking *it = with;
    run_words_keep(it->run, it->out);
}

static void event_do(void *with) {
    struct taking *it = with;
    event_take(it->run, it->event, it->out->arena);
}

/* Breaks off an agent that reads nothing of what it is sent, and asks for more. */
static void write_add(struct run *run, struct drive_out *out, struct str name) {
    bool wants = out->bytes.len > 0 || out->receipt;
    if ((wants && !outbox_add(run, run_write_name(run, name), out->bytes, false)) ||
        (out->close && !outbox_add(run, (struct id){0}, STR(""), true)))
        drive_break(out, run->driver->resume_at(run->state), "it does not read its input");
}

/* Applies a driver's output: the bytes for the agent, under a name of their own, and the events. The caller saves;
 * nothing is sent before that. */
static void apply_output(struct run *run, struct drive_out *out, struct str name) {
    struct taking it = {.run = run, .out = out};
    write_add(run, out, name);
    if (!guard_do(run, words_do, &it))
        return;
    for (uint32_t i = 0; i < out->event_count && !run->broken; i++) {
        it.event = &out->events[i];
        guard_do(run, event_do, &it);
    }
}

static void apply_events(struct run *run, struct drive_out *out, struct str name) {
    apply_output(run, out, name);
    run_seen_keep(run);
    run_due(run);
}

/* ---- a driver that broke an invariant ---- */

static void broken_tell(void *with) {
    struct taking *it = with;
    run_words_keep(it->run, it->out);
    turn_failed(it->run, it->event, it->out->arena);
}

/* The driver's state may be inconsistent: nothing is read or sent with it any more. The turn has failed, and that is
 * reported like any other failure, so the ladder stops this run and starts another. */
void run_break(struct run *run, const char *why) {
    struct arena arena = {0};
    struct crash_guard_report report;
    if (run->broken)
        return;
    struct drive_out out = out_begin(&arena);
    run->broken = run->unresumable = true;
    snprintf(run->broken_why, sizeof run->broken_why, "its output could not be read: %s", why);
    log_run(LEVEL_ERROR, run, "agent %s is abandoned: %s", run->agent, run->broken_why);
    outbox_clear(run);
    drive_break(&out, drive_input_end(&run->input), "%s", run->broken_why);
    struct taking it = {run, &out, &out.events[0]};
    if (crash_guard_run(broken_tell, &it, &report) != CRASH_GUARD_WHOLE)
        log_run(LEVEL_ERROR, run, "the failure of agent %s cannot be reported: %s", run->agent,
                report.why);
    arena_free(&arena);
    run_look_ended(run, TRISTATE_UNKNOWN);
    run_seen_keep(run);
    run_save(run);
    run_due(run);
}

static struct drive_out out_begin(struct arena *arena) {
    return (struct drive_out){.arena = arena,
                              .wall = clock_wall(),
                              .most = HOLD_WRITE,
                              .events = arena_new(arena, struct drive_event, RUN_EVENTS),
                              .event_room = RUN_EVENTS};
}

/* ---- sending ---- */

static void dispatch_name(struct id dispatch, char name[ID_TEXT + 1]) {
    id_format(dispatch, name);
}

/* An open request for permission is answered with yes or no only. The hold confirms the answer, even if the driver
 * sends it later: a receipt means that the answer is durable. */
static bool permission_give(struct run *run, struct drive_out *out) {
    bool allow = run->sending->effect.permits == PERMISSION_YES;
    const struct run_ask *ask = asks_first(&run->asks);
    struct driver_call call = {.verb = DRIVER_ANSWER,
                               .text = str_of(ask->id),
                               .answer = allow ? DRIVE_ALLOW : DRIVE_REJECT};
    if (!driver_do(run, &call, out))
        return false;
    asks_drop_first(&run->asks);
    run->answered = run->dispatch;
    out->receipt = true;
    return true;
}

/* A nudge is for an agent that makes no progress: the hanging turn is interrupted, or the agent would never receive the
 * nudge. Any other text waits for the end of the turn. */
static void turn_break(struct run *run) {
    enum wording words = run->sending->effect.words;
    struct arena arena = {0};
    struct observation seen = {0};
    char name[ID_TEXT + 16], id[ID_TEXT + 1];
    run->driver->see(run->state, &seen);
    if (run->interrupted || seen.turn != TRISTATE_YES ||
        (words != WORDS_NUDGE && words != WORDS_AGAIN))
        return;
    struct drive_out out = out_begin(&arena);
    id_format(run->dispatch, id);
    snprintf(name, sizeof name, "break %s", id);
    run->interrupted = true;
    run->asks.count = 0;
    if (driver_do(run, &(struct driver_call){.verb = DRIVER_INTERRUPT}, &out))
        apply_events(run, &out, str_of(name));
    arena_free(&arena);
    run_save(run);
}

static bool prompt_give(struct run *run, struct drive_out *out) {
    struct str text = {run->text, run->text_length};
    if (!run->driver->watches)
        run_log_sent(run, text);
    return driver_do(
        run, &(struct driver_call){.verb = DRIVER_SEND, .dispatch = run->dispatch, .text = text},
        out);
}

/* Sends one prompt at a time, when the agent is ready. */
void run_pump(struct run *run) {
    struct arena arena = {0};
    bool answers = run->asks.count > 0 && run->answers;
    if (!run->sending || !run->text || run->spoken || !run->begun || !run->held || run->broken)
        return;
    if (!answers && !run->driver->ready(run->state)) {
        turn_break(run);
        return;
    }
    struct drive_out out = out_begin(&arena);
    char name[ID_TEXT + 1];
    dispatch_name(run->dispatch, name);
    run->spoken = true;
    run->sending_until = clock_steady() + SECONDS(RUN_ACCEPT_SECONDS);
    if (answers ? permission_give(run, &out) : prompt_give(run, &out))
        apply_events(run, &out, str_of(name));
    arena_free(&arena);
    run_save(run);
}

static void begin(struct run *run) {
    struct arena arena = {0};
    struct drive_out out = out_begin(&arena);
    run->begun = true;
    if (driver_do(run, &(struct driver_call){.verb = DRIVER_BEGIN}, &out))
        apply_events(run, &out, STR("begin"));
    arena_free(&arena);
    run_save(run);
    run_pump(run);
}

/* ---- input from the hold ---- */

/* Tells whether the output decided anything. What is only observed (words, tools, tokens) is observed again after a
 * crash. */
static bool is_news(const struct drive_out *out) {
    static const bool ONLY_SEEN[DRIVE_KINDS] = {
        [DRIVE_PROGRESS] = true,   [DRIVE_CHATTER] = true, [DRIVE_TOOL_BEGUN] = true,
        [DRIVE_TOOL_ENDED] = true, [DRIVE_USAGE] = true,
    };
    bool news = out->bytes.len > 0 || out->too_much || out->close;
    for (uint32_t i = 0; i < out->event_count; i++)
        news = news || !ONLY_SEEN[out->events[i].kind];
    return news;
}

static void heard_data(void *with, uint64_t offset, struct str bytes) {
    struct run *run = with;
    struct arena arena = {0};
    char name[48];
    run->runs->lines++;
    if (!run->unresumable && !run->begun)
        begin(run);
    if (run->unresumable) {
        if (run->held)
            held_ack(run->held, offset + bytes.len);
        return;
    }
    struct drive_out out = out_begin(&arena);
    struct driver_call call = {.verb = DRIVER_FEED, .text = bytes, .offset = offset};
    snprintf(name, sizeof name, "heard %llu", (unsigned long long)(offset + bytes.len));
    bool read = driver_do(run, &call, &out);
    bool news = read && is_news(&out);
    if (read)
        apply_output(run, &out, str_of(name));
    arena_free(&arena);
    if (news)
        run_save(run);
    else
        run_save_soon(run);
    run_seen_keep(run);
    run_pump(run);
    run_due(run);
}

/* Processes that the agent left running cannot be controlled, and would keep the end of the run from being known. */
static void left_stop(struct run *run) {
    if (run->driver->watches || run->stop || run->left_stopped)
        return;
    run->left_stopped = held_stop(run->held, RUN_GRACE_MS);
    if (!run->left_stopped)
        log_run(LEVEL_WARNING, run, "processes that agent %s left running cannot be stopped",
                run->agent);
}

static void heard_status(void *with, const struct hold_status *status) {
    struct run *run = with;
    if ((status->flags & HOLD_EXITED) && !run->exited) {
        run->exited = true;
        run->exit = status->exit;
    }
    if ((status->flags & HOLD_EXITED) && !(status->flags & HOLD_ENDED))
        left_stop(run);
    run_brake_status(run, status);
    run_quota_status(run, status);
    if (!run->begun && !run->exited && !run->unresumable)
        begin(run);
    run_seen_keep(run);
}

/* Empty: it ended normally, or because it was stopped. */
static struct str end_explain(struct run *run, struct arena *arena) {
    struct str why = run_limit_hit(run, arena);
    if (why.len > 0)
        log_run(LEVEL_WARNING, run, "agent %s: %.*s", run->agent, STR_ARG(why));
    else if (run->broken)
        why = str_of(run->broken_why);
    else if (run->unresumable)
        why = STR("it was started by another build and could not be resumed");
    else if (!run->stop && (run->exit != 0 || !run->spoken))
        why = run_last_words(run, arena);
    return why;
}

/* All of its output was read. */
static void run_is_over(struct run *run, uint64_t offset) {
    struct arena arena = {0};
    struct drive_event gone = {.offset = offset};
    if (run->ended)
        return;
    struct drive_out out = out_begin(&arena);
    run->ended = run->exited = true;
    run->end = offset;
    struct str why = end_explain(run, &arena);
    if (!run->spoken && why.len > 0) /* the driver does not see what it wrote to stderr */
        run_sending_ended(run, DELIVERY_ERROR, why);
    outbox_clear(run);
    if (run->begun && driver_do(run, &(struct driver_call){.verb = DRIVER_GONE}, &out)) {
        apply_events(run, &out, STR("gone"));
        outbox_clear(run);
    }
    run_sending_ended(run, run->spoken ? DELIVERY_TIMEOUT : DELIVERY_ERROR,
                      STR("its process ended before it read the message"));
    run_end_keep(run, why);
    event_offer(run, AGENT_EXITED, &gone, why, &arena);
    run_look_ended(run, TRISTATE_UNKNOWN);
    arena_free(&arena);
    run_save(run);
}

static void heard_end(void *with, uint64_t offset) {
    struct run *run = with;
    if (run->unresumable)
        held_ack(run->held, offset);
    run_is_over(run, offset);
    if (run->stop && !held_collect(run->held))
        log_run(LEVEL_WARNING, run, "the hold of agent %s cannot be collected", run->agent);
}

/* No process of the run is left. */
static void run_stopped(struct run *run) {
    struct act *stop = run->stop;
    run->stop = NULL;
    run_file_close(run);
    work_salvage(run->runs, stop, run->exit);
    run_free(run);
}

static void heard_answer(void *with, enum hold_kind to, enum hold_verdict verdict,
                         uint64_t number) {
    struct run *run = with;
    if (verdict == HOLD_STALE)
        log_run(LEVEL_WARNING, run,
                "the hold of agent %s has a newer fence (%llu) and refuses ours", run->agent,
                (unsigned long long)number);
    if (to == HOLD_ATTACH && verdict == HOLD_RANGE && run->unresumable &&
        !held_attach(run->held, number))
        log_run(LEVEL_WARNING, run, "the end of agent %s cannot be awaited on this connection",
                run->agent);
    if (to == HOLD_CLOSE && verdict != HOLD_STALE)
        outbox_closed(run);
    if (to == HOLD_FREEZE_FOR && verdict == HOLD_FAILED)
        run_quota_refused(run);
    if (to == HOLD_FREEZE_FOR)
        still_answered(run);
    if (to == HOLD_COLLECT && verdict == HOLD_DONE && run->stop)
        run_stopped(run);
}

/* A yes or no is delivered once the hold has written it; a prompt, once the agent confirms it. */
static void answer_arrived(struct run *run) {
    struct arena arena = {0};
    run_sending_ended(run, DELIVERY_ACCEPTED, STR("it was told yes or no"));
    ask_offer(run, &arena);
    arena_free(&arena);
}

/* Part of the write may have arrived, or nothing has and nothing will: a driver that speaks a protocol cannot continue
 * without it. */
static void write_lost(struct run *run, enum tristate arrived) {
    struct arena arena = {0};
    struct drive_event event = {
        .kind = DRIVE_FAILED,
        .offset = drive_input_end(&run->input),
        .text = arrived == TRISTATE_NO
                    ? STR("it does not read its input")
                    : STR("part of the message may have arrived; it is unknown how much")};
    char id[ID_TEXT + 1];
    id_format(run->id, id);
    log_run(LEVEL_WARNING, run, "agent %s: %.*s", run->agent, STR_ARG(event.text));
    run_sending_ended(run, arrived == TRISTATE_NO ? DELIVERY_ERROR : DELIVERY_TIMEOUT, event.text);
    if (!run->exited)
        turn_failed(run, &event, &arena);
    arena_free(&arena);
}

static struct id write_of_dispatch(const struct run *run, struct id dispatch) {
    char name[ID_TEXT + 1];
    dispatch_name(dispatch, name);
    return run_write_name(run, str_of(name));
}

static void looked_for(struct run *run, struct id dispatch, enum hold_written written) {
    struct arena arena = {0};
    struct drive_out out = out_begin(&arena);
    struct driver_call call = {.verb = DRIVER_LOOK, .dispatch = dispatch};
    char name[32];
    if (written == HOLD_UNKNOWN || written == HOLD_NOT)
        run_look_ended(run, TRISTATE_NO);
    else if (run->exited || written == HOLD_MAYBE || run->broken)
        run_look_ended(run, TRISTATE_UNKNOWN);
    else if (id_equal(dispatch, run->answered))
        run_look_ended(run, TRISTATE_YES);
    else if (driver_do(run, &call, &out)) {
        snprintf(name, sizeof name, "look %u", ++run->writes);
        apply_events(run, &out, str_of(name));
        run_save(run);
    }
    arena_free(&arena);
}

static void heard_receipt(void *with, struct id id, enum hold_written written) {
    struct run *run = with;
    enum tristate arrived = TRISTATE_UNKNOWN;
    bool is_answer = run->sending && run->spoken && run->answers &&
                     id_equal(id, write_of_dispatch(run, run->dispatch));
    if (outbox_receipt(run, id, written, &arrived)) {
        if (arrived != TRISTATE_YES)
            write_lost(run, arrived);
        else if (is_answer)
            answer_arrived(run);
    }
    if (outbox_has(run, id) || !run->look || run->look->effect.dispatch == 0)
        return;
    struct id dispatch = effect_id(run->goal, run->look->effect.dispatch - 1);
    if (id_equal(id, write_of_dispatch(run, dispatch)))
        looked_for(run, dispatch, written);
}

/* The hold no longer serves its output: reads what the hold has stored, to the end. */
static uint64_t left_read(struct run *run) {
    enum { PIECE = 64 << 10 };
    uint64_t offset = drive_input_end(&run->input);
    if (run->unresumable)
        return offset;
    char *bytes = memory_new(PIECE);
    for (size_t length; (length = held_left(run->dir, offset, bytes, PIECE)) > 0; offset += length)
        heard_data(run, offset, (struct str){bytes, length});
    free(bytes);
    return offset;
}

/* The hold is gone, or we were too slow for it. Its folder tells what became of it. If it is alive, we reconnect after
 * a moment: it may have no room just now, or be about to exit. */
static void heard_lost(void *with, int code) {
    struct run *run = with;
    struct held_memory memory = {0};
    if (run->held)
        held_close(run->held);
    run->held = NULL;
    log_run(LEVEL_WARNING, run, "lost the connection to the hold of agent %s: %s", run->agent,
            uv_strerror(code));
    bool known = held_recall(run->dir, run->id, &memory);
    if (known && memory.alive) {
        run->open_at = clock_steady() + SECONDS(1);
        run_due(run);
        return;
    }
    run->exit = known && memory.exited ? (int64_t)memory.exit : -1;
    run_is_over(run, left_read(run));
    run_limits_end(run);
    if (run->stop)
        run_stopped(run);
}

static const struct held_callbacks CALLBACKS = {
    .answer = heard_answer,
    .data = heard_data,
    .receipt = heard_receipt,
    .status = heard_status,
    .end = heard_end,
    .lost = heard_lost,
};

bool run_open(struct run *run, uint64_t offset) {
    run->held = held_open(run->runs->loop, run->dir, run->fence, &CALLBACKS, run);
    run->left_stopped = false;
    run->brake_asks = true;
    run_brake_renew(run);
    run_quota_renew(run);
    if (!held_attach(run->held, offset) || !held_look(run->held))
        return false;
    outbox_reconnected(run);
    return true;
}

/* ---- looking, stopping, ticks ---- */

/* The hold does not answer any more: its folder tells whether any byte of the write was ever written. */
static enum tristate delivered_once(const struct run *run, struct id write) {
    struct held_memory memory = {0};
    if (!held_recall(run->dir, write, &memory))
        return TRISTATE_UNKNOWN;
    bool never = !memory.begun || memory.written == HOLD_NOT || memory.written == HOLD_UNKNOWN;
    return never ? TRISTATE_NO : TRISTATE_UNKNOWN;
}

void run_look(struct run *run, struct act *act) {
    run_look_ended(run, TRISTATE_UNKNOWN);
    run->look = act;
    run->look_until = clock_steady() + SECONDS(RUN_LOOK_SECONDS);
    if (act->effect.dispatch == 0) {
        run_look_ended(run, TRISTATE_UNKNOWN);
        return;
    }
    struct id write = write_of_dispatch(run, effect_id(run->goal, act->effect.dispatch - 1));
    bool waits = outbox_has(run, write); /* its receipt will tell */
    if (!run->held && !waits) {
        run_look_ended(run, delivered_once(run, write));
        return;
    }
    if (!waits && !held_wrote(run->held, write))
        run_look_ended(run, TRISTATE_UNKNOWN);
    run_due(run);
}

/* P10: a stranded run gets no grace period: another run may work in its place, and a grace period would thaw it. A run
 * that is frozen because the disk is full would only write more during a grace period. */
static bool stop_say(struct run *run) {
    bool at_once = run_is_braked(run) || run->overage || (run->stop && run->stop->stranded);
    uint32_t grace = at_once ? 0 : RUN_GRACE_MS;
    return run->held && (run->ended ? held_collect(run->held) : held_stop(run->held, grace));
}

void run_lost(struct run *run) {
    heard_lost(run, UV_ENOTCONN);
}

/* Reconnects to a hold that is alive after its connection was lost. */
static void open_again(struct run *run) {
    run->open_at = 0;
    if (!run_open(run, drive_input_end(&run->input))) {
        run_lost(run);
        return;
    }
    if (run->stop && !stop_say(run))
        log_run(LEVEL_WARNING, run, "agent %s cannot be told to stop; trying again", run->agent);
    run_due(run);
}

void run_stop(struct run *run, struct act *act) {
    if (run->stop) {
        run_report(run, &act, (struct signal){0});
        return;
    }
    run->stop = act;
    run_sending_ended(run, run->spoken ? DELIVERY_TIMEOUT : DELIVERY_ERROR, STR("it was stopped"));
    run_look_ended(run, TRISTATE_UNKNOWN);
    if (run->readying) { /* until then the set-up uses the worktree */
        ready_stop(run->readying);
        return;
    }
    if (run->starting ||
        run->open_at) /* if the run were forgotten now, its hold would stay: it is stopped as soon as it can be reached */
        return;
    if (stop_say(run))
        return;
    run_stopped(run);
}

void run_tick(struct run *run, int64_t now) {
    struct arena arena = {0};
    if (run->sending && run->sending_until <= now)
        run_sending_ended(run, run->spoken ? DELIVERY_TIMEOUT : DELIVERY_ERROR,
                          run->spoken ? STR("there was no receipt in time")
                                      : STR("it did not read the message in time"));
    if (run->save_at && run->save_at <= now) {
        run->save_at = 0;
        run_save(run);
        run_seen_keep(run);
    }
    if (run->look && run->look_until <= now)
        run_look_ended(run, TRISTATE_UNKNOWN);
    if (run->open_at && run->open_at <= now) {
        open_again(run);
        return; /* the run may have been freed */
    }
    outbox_tick(run, now);
    if (run->begun && run->held && !run->broken && run->driver->due(run->state) <= now) {
        struct drive_out out = out_begin(&arena);
        char name[32];
        snprintf(name, sizeof name, "tick %u", ++run->writes);
        if (driver_do(run, &(struct driver_call){.verb = DRIVER_TICK}, &out))
            apply_events(run, &out, str_of(name));
        run_save(run);
        run_pump(run);
    }
    arena_free(&arena);
    run_due(run);
}
