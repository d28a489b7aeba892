/* SPDX-License-Identifier: Apache-2.0 */
/* Executes effects: takes acts, checks them once more, starts them and reports their outcomes. */
#include "runs/executor.h"

#include "base/seam.h"
#include "runs/notice_send.h"
#include "runs/run_log.h"
#include "runs/run_table.h"
#include "sandbox/command.h"
#include "sys/clock.h"

enum { PULSE_MS = 100 };

struct doing { /* an act in progress */
    struct executor *executor;
    struct act *act;
};

static void report(struct executor *executor, const struct act *act, enum signal_kind kind,
                   int64_t exit, struct str tail) {
    executor_report(executor, act, (struct signal){.kind = kind, .exit = exit, .text = tail});
}

/* OBSERVE-01, OBSERVE-09: logs what was chosen and its outcome; for a failure, everything that is known. */
static void outcome_log(const struct effect *effect, int64_t exit, struct str tail) {
    struct log_about about = effect_about(effect);
    if (exit == 0) {
        log_about(LEVEL_INFO, &about, "a command ended with status 0");
        return;
    }
    char detail[LIMIT_COMMAND + LIMIT_OUTPUT + 64];
    int length = snprintf(detail, sizeof detail, "command: %.*s\noutput: %.*s",
                          STR_ARG(str_cut_utf8(effect->command, LIMIT_COMMAND)),
                          STR_ARG(str_cut_utf8(tail, LIMIT_OUTPUT)));
    about.incident = true;
    about.detail = (struct str){detail, (size_t)length};
    log_about(LEVEL_WARNING, &about, "a command ended with status %lld", (long long)exit);
}

static void act_ended(void *with, int64_t exit, struct str tail) {
    struct doing *doing = with;
    outcome_log(&doing->act->effect, exit, tail);
    doing->executor->running--;
    report(doing->executor, doing->act, SIGNAL_EFFECT_ENDED, exit, tail);
    free(doing->act);
    free(doing);
}

static void command_begin(struct executor *executor, struct act *act) {
    struct doing *doing = malloc(sizeof *doing);
    if (!doing) {
        report(executor, act, SIGNAL_EFFECT_ENDED, -1, STR("it could not be started"));
        free(doing);
        free(act);
        return;
    }
    *doing = (struct doing){executor, act};
    executor->running++;
    log_effect(LEVEL_INFO, &act->effect, "starts a command");
    seam("between-claim-and-act");
    command_run(executor->loop, &act->effect, act->fence, act_ended, doing);
}

static void act_begin(struct executor *executor, struct act *act) {
    switch (act->effect.kind) {
    case EFFECT_COMMAND: command_begin(executor, act); break;
    case EFFECT_SPAWN:
    case EFFECT_SEND:
    case EFFECT_LOOK:
    case EFFECT_STOP:
    case EFFECT_CHECK:
    case EFFECT_LAND:
    case EFFECT_THAW:
        seam("between-claim-and-act");
        agents_carry(&executor->agents, act);
        break;
    case EFFECT_SAY: say_begin(executor, act); break;
    default:
        report(executor, act, SIGNAL_EFFECT_ENDED, -1,
               STR("this build has no executor for that effect"));
        free(act);
    }
}

static void act_never(struct executor *executor, struct act *act) {
    report(executor, act, SIGNAL_EFFECT_LOST, 0, STR(""));
    free(act);
}

/* P8: after the claim is committed, check the deadline and the stop flag. True: act now. */
static bool act_consider(struct executor *executor, struct act *act) {
    switch (ledger_may_act(executor->ledger_thread->ledger, act, clock_boot())) {
    case ACT_NOW: return true;
    case ACT_LATER:
        act->next = executor->held;
        executor->held = act;
        return false;
    case ACT_NEVER: act_never(executor, act); return false;
    }
    return false;
}

/* P14: from here on the effect may have happened. */
static void act_start(struct executor *executor, struct act *act) {
    bool noted =
        executor->ledger_thread->acts && EFFECTS[act->effect.kind].promise != PROMISE_REPEAT;
    if (noted && !act_log_start(executor->ledger_thread->acts, act->effect.goal, act->effect.n))
        act_never(executor, act);
    else
        act_begin(executor, act);
}

static void start_all(struct executor *executor, struct act *act) {
    while (act) {
        struct act *next = act->next;
        act_start(executor, act);
        act = next;
    }
}

static void notes_sync(struct act_log *notes) {
    if (!act_log_sync(notes))
        log_host(LEVEL_ERROR,
                 "the act log cannot be synced to disk: after a power failure, this host would "
                 "not notice that the store was set back");
}

/* P13: if notes have to be on disk, syncs those of all acts at once. */
static void consider_all(struct executor *executor, struct act *act) {
    struct act_log *notes = executor->ledger_thread->acts;
    struct act *together = NULL, **end = &together;
    while (act) {
        struct act *next = act->next;
        bool now = act_consider(executor, act);
        if (now)
            act->next = NULL;
        if (now && !(notes && act_log_syncs(notes)))
            act_start(executor, act);
        else if (now) {
            *end = act;
            end = &act->next;
        }
        act = next;
    }
    if (together)
        notes_sync(notes);
    start_all(executor, together);
}

static void acts_arrived(uv_async_t *async) {
    struct executor *executor = async->data;
    pthread_mutex_lock(&executor->lock);
    struct act *newest = executor->inbox, *oldest = NULL;
    executor->inbox = NULL;
    pthread_mutex_unlock(&executor->lock);
    while (newest) {
        struct act *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    consider_all(executor, oldest);
}

static void pulse_beats(uv_timer_t *timer) {
    struct executor *executor = timer->data;
    atomic_fetch_add(&executor->pulse, 1);
    agents_beat(&executor->agents);
    struct act *held = executor->held;
    executor->held = NULL;
    consider_all(executor, held);
}

void executor_start(struct executor *executor, uv_loop_t *loop, struct ledger_thread *ledger_thread,
                    struct daemon_context *context) {
    agents_start(&executor->agents, loop, executor, context);
    executor->notice_sender = notice_sender_start(executor, loop, context);
    executor->loop = loop;
    executor->ledger_thread = ledger_thread;
    pthread_mutex_init(&executor->lock, NULL);
    uv_async_init(loop, &executor->arrived, acts_arrived);
    uv_timer_init(loop, &executor->beat);
    executor->arrived.data = executor->beat.data = executor;
    uv_timer_start(&executor->beat, pulse_beats, 0, PULSE_MS);
}

void executor_take(struct executor *executor, struct act *act) {
    pthread_mutex_lock(&executor->lock);
    act->next = executor->inbox;
    executor->inbox = act;
    pthread_mutex_unlock(&executor->lock);
    uv_async_send(&executor->arrived);
}

void executor_stop(struct executor *executor) {
    uv_close((uv_handle_t *)&executor->arrived, NULL);
    uv_close((uv_handle_t *)&executor->beat, NULL);
    if (executor->agents.real)
        runs_stop(executor->agents.real);
    agents_stop(&executor->agents);
    notice_sender_stop(executor->notice_sender);
}

static void acts_free(struct act *act) {
    while (act) {
        struct act *next = act->next;
        free(act);
        act = next;
    }
}

void executor_end(struct executor *executor) {
    notice_sender_end(executor->notice_sender);
    acts_free(executor->inbox);
    acts_free(executor->held);
    runs_end(executor->agents.real);
    agents_end(&executor->agents);
    pthread_mutex_destroy(&executor->lock);
}
