/* SPDX-License-Identifier: Apache-2.0 */
/* Who carries effects out? */
#include "daemon/hands.h"

#include "base/seam.h"
#include "daemon/act_log.h"
#include "daemon/clock.h"
#include "daemon/log.h"
#include "daemon/runs.h"
#include "daemon/say.h"
#include "ports/command.h"

#include <stdio.h>
#include <stdlib.h>

enum { PULSE_MS = 100 };

struct doing { /* an act under way */
    struct hands *hands;
    struct act *act;
};

/* The outcome is named by its effect: reporting it twice changes nothing. Without memory it is not reported,
 * and the effect becomes unconfirmed at its deadline. */
void hands_report(struct hands *hands, const struct act *act, struct signal outcome) {
    if (act->stranded)
        return;
    if (outcome.kind == SIGNAL_NONE)
        outcome.kind = SIGNAL_EFFECT_ENDED;
    outcome.source = effect_id(act->effect.goal, act->effect.n);
    outcome.goal = act->effect.goal;
    outcome.at = clock_wall();
    outcome.actor = STR("overseer");
    outcome.by = WHO_OVERSEER;
    outcome.effect = act->effect.n;
    struct input *input = input_make(&outcome, NULL);
    if (!input || !queue_put(&hands->keeper->queue, input)) {
        input_free(input);
        log_error("no memory for an outcome; its effect will stand as unconfirmed");
    }
}

static void report(struct hands *hands, const struct act *act, enum signal_kind kind, int64_t exit,
                   struct str tail) {
    hands_report(hands, act, (struct signal){.kind = kind, .exit = exit, .text = tail});
}

/* OBSERVE-01, OBSERVE-09: what was chosen and what came of it; of a failure everything that is known. */
static void outcome_log(const struct effect *effect, int64_t exit, struct str tail) {
    struct log_about about = {.goal = effect->goal, .effect = effect->n + 1};
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
    doing->hands->running--;
    report(doing->hands, doing->act, SIGNAL_EFFECT_ENDED, exit, tail);
    free(doing->act);
    free(doing);
}

static void command_begin(struct hands *hands, struct act *act) {
    struct doing *doing = malloc(sizeof *doing);
    if (!doing) {
        report(hands, act, SIGNAL_EFFECT_ENDED, -1, STR("it could not be started"));
        free(doing);
        free(act);
        return;
    }
    *doing = (struct doing){hands, act};
    hands->running++;
    log_about(LEVEL_INFO,
              &(struct log_about){.goal = act->effect.goal, .effect = act->effect.n + 1},
              "starts a command");
    seam("between-claim-and-act");
    command_run(hands->loop, &act->effect, act->fence, act_ended, doing);
}

static void act_begin(struct hands *hands, struct act *act) {
    switch (act->effect.kind) {
    case EFFECT_COMMAND: command_begin(hands, act); break;
    case EFFECT_SPAWN:
    case EFFECT_SEND:
    case EFFECT_LOOK:
    case EFFECT_STOP:
    case EFFECT_CHECK:
    case EFFECT_LAND:
    case EFFECT_THAW:
        seam("between-claim-and-act");
        agents_carry(&hands->agents, act);
        break;
    case EFFECT_SAY: say_begin(hands, act); break;
    default: report(hands, act, SIGNAL_EFFECT_ENDED, -1, STR("nobody here can do that")); free(act);
    }
}

static void act_never(struct hands *hands, struct act *act) {
    report(hands, act, SIGNAL_EFFECT_LOST, 0, STR(""));
    free(act);
}

/* P8: after the claim is committed, check the deadline and the stop flag. True: act now. */
static bool act_consider(struct hands *hands, struct act *act) {
    switch (ledger_may_act(hands->keeper->ledger, act, clock_boot())) {
    case ACT_NOW: return true;
    case ACT_LATER:
        act->next = hands->held;
        hands->held = act;
        return false;
    case ACT_NEVER: act_never(hands, act); return false;
    }
    return false;
}

/* P14: from here on it may have happened. */
static void act_start(struct hands *hands, struct act *act) {
    bool noted = hands->keeper->acts && EFFECTS[act->effect.kind].promise != PROMISE_REPEAT;
    if (noted && !act_log_start(hands->keeper->acts, act->effect.goal, act->effect.n))
        act_never(hands, act);
    else
        act_begin(hands, act);
}

static void start_all(struct hands *hands, struct act *act) {
    while (act) {
        struct act *next = act->next;
        act_start(hands, act);
        act = next;
    }
}

/* P13: where notes have to be on the disk, those of all acts are brought there at once. */
static void consider_all(struct hands *hands, struct act *act) {
    struct act_log *notes = hands->keeper->acts;
    struct act *together = NULL, **end = &together;
    while (act) {
        struct act *next = act->next;
        bool now = act_consider(hands, act);
        if (now)
            act->next = NULL;
        if (now && !(notes && act_log_syncs(notes)))
            act_start(hands, act);
        else if (now) {
            *end = act;
            end = &act->next;
        }
        act = next;
    }
    if (together && !act_log_sync(notes))
        log_error("what this host acts on cannot be brought to the disk: after a power cut, a "
                  "store that has gone back would not be noticed");
    start_all(hands, together);
}

static void acts_arrived(uv_async_t *async) {
    struct hands *hands = async->data;
    pthread_mutex_lock(&hands->lock);
    struct act *newest = hands->inbox, *oldest = NULL;
    hands->inbox = NULL;
    pthread_mutex_unlock(&hands->lock);
    while (newest) {
        struct act *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    consider_all(hands, oldest);
}

static void pulse_beats(uv_timer_t *timer) {
    struct hands *hands = timer->data;
    atomic_fetch_add(&hands->pulse, 1);
    agents_beat(&hands->agents);
    struct act *held = hands->held;
    hands->held = NULL;
    consider_all(hands, held);
}

void hands_start(struct hands *hands, uv_loop_t *loop, struct keeper *keeper, struct house *house) {
    agents_start(&hands->agents, loop, hands, house);
    hands->sayer = sayer_start(hands, loop, house);
    hands->loop = loop;
    hands->keeper = keeper;
    pthread_mutex_init(&hands->lock, NULL);
    uv_async_init(loop, &hands->arrived, acts_arrived);
    uv_timer_init(loop, &hands->beat);
    hands->arrived.data = hands->beat.data = hands;
    uv_timer_start(&hands->beat, pulse_beats, 0, PULSE_MS);
}

void hands_take(struct hands *hands, struct act *act) {
    pthread_mutex_lock(&hands->lock);
    act->next = hands->inbox;
    hands->inbox = act;
    pthread_mutex_unlock(&hands->lock);
    uv_async_send(&hands->arrived);
}

void hands_stop(struct hands *hands) {
    uv_close((uv_handle_t *)&hands->arrived, NULL);
    uv_close((uv_handle_t *)&hands->beat, NULL);
    if (hands->agents.real)
        runs_stop(hands->agents.real);
    agents_stop(&hands->agents);
    sayer_stop(hands->sayer);
}

static void acts_free(struct act *act) {
    while (act) {
        struct act *next = act->next;
        free(act);
        act = next;
    }
}

void hands_end(struct hands *hands) {
    sayer_end(hands->sayer);
    acts_free(hands->inbox);
    acts_free(hands->held);
    runs_end(hands->agents.real);
    agents_end(&hands->agents);
    pthread_mutex_destroy(&hands->lock);
}
