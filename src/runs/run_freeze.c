/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps an agent frozen while its worktree is measured, so that the measurement sees one consistent state. This is no
 * defence: git takes nothing from a worktree that a moving agent could abuse (git/git_walk.h).
 *
 * The hold ends the freeze by itself, whatever happens to the daemon. The daemon does not wait for a hold that does not
 * answer. */
#include "base/memory.h"
#include "runs/run.h"
#include "runs/run_log.h"

#include <stdlib.h>

enum { EXPIRES_MS = 60000, ANSWER_MS = 1000 };

struct still { /* its hold was asked to freeze the agent */
    uv_timer_t timer;
    struct run_table *runs;
    struct id run;
    void (*go)(void *with);
    void *with;
};

static struct run *run_of(struct run_table *runs, const struct effect *effect) {
    return effect->run ? map_get(&runs->all, effect_id(effect->goal, effect->run - 1)) : NULL;
}

static bool is_wanted(struct run_table *runs) {
    const struct settings *settings = context_settings(runs->context);
    bool wanted = settings->sandbox.freeze;
    context_settings_drop(settings);
    return wanted;
}

static void timer_closed(uv_handle_t *handle) {
    free(handle->data);
}

static void still_go(uv_timer_t *timer) {
    struct still *still = timer->data;
    struct run *run = map_get(&still->runs->all, still->run);
    void (*go)(void *) = still->go;
    void *with = still->with;
    if (run && run->still == still)
        run->still = NULL;
    uv_close((uv_handle_t *)timer, timer_closed);
    go(with);
}

void still_answered(struct run *run) {
    if (run->still) {
        uv_timer_stop(&run->still->timer);
        still_go(&run->still->timer);
    }
}

void still_begin(struct run_table *runs, const struct effect *effect, void (*go)(void *with),
                 void *with) {
    struct run *run = run_of(runs, effect);
    bool asked = run && run->held && !run->exited && !run->still && is_wanted(runs) &&
                 held_freeze(run->held, FREEZE_MEASURE, EXPIRES_MS);
    if (!asked) {
        go(with);
        return;
    }
    struct still *still = memory_new(sizeof *still);
    *still =
        (struct still){.runs = runs, .run = run->id, .go = go, .with = with, .timer.data = still};
    run->still = still;
    uv_timer_init(runs->loop, &still->timer);
    uv_timer_start(&still->timer, still_go, ANSWER_MS, 0);
}

void still_end(struct run_table *runs, const struct effect *effect) {
    struct run *run = run_of(runs, effect);
    if (run && run->held && !held_thaw(run->held, FREEZE_MEASURE))
        log_run(LEVEL_INFO, run,
                "the hold of agent %s cannot be told to thaw; it thaws after its timeout",
                run->agent);
}
