/* SPDX-License-Identifier: Apache-2.0 */
/* How is an agent kept still while its worktree is measured? So that what is measured is one state of it, and not as a defence: git
 * takes nothing from a worktree that a moving agent could abuse (ports/git_walk.h).
 *
 * The freeze ends in the hold by itself, whatever becomes of us. A hold that does not answer is not waited for. */
#include "daemon/log.h"
#include "daemon/run.h"

#include <stdlib.h>

enum { EXPIRES_MS = 60000, ANSWER_MS = 1000 };

struct still { /* a hold was asked to freeze its agent */
    uv_timer_t timer;
    struct runs *runs;
    struct id run;
    void (*go)(void *with);
    void *with;
};

static struct running *run_of(struct runs *runs, const struct effect *effect) {
    return effect->run ? map_get(&runs->all, effect_id(effect->goal, effect->run - 1)) : NULL;
}

static bool is_wanted(struct runs *runs) {
    const struct settings *settings = house_settings(runs->house);
    bool wanted = settings->sandbox.freeze;
    house_settings_drop(settings);
    return wanted;
}

static void timer_closed(uv_handle_t *handle) {
    free(handle->data);
}

static void still_go(uv_timer_t *timer) {
    struct still *still = timer->data;
    struct running *run = map_get(&still->runs->all, still->run);
    void (*go)(void *) = still->go;
    void *with = still->with;
    if (run && run->still == still)
        run->still = NULL;
    uv_close((uv_handle_t *)timer, timer_closed);
    go(with);
}

void still_answered(struct running *run) {
    if (run->still) {
        uv_timer_stop(&run->still->timer);
        still_go(&run->still->timer);
    }
}

void still_begin(struct runs *runs, const struct effect *effect, void (*go)(void *with),
                 void *with) {
    struct running *run = run_of(runs, effect);
    bool asked = run && run->held && !run->exited && !run->still && is_wanted(runs) &&
                 held_freeze(run->held, FREEZE_MEASURE, EXPIRES_MS);
    struct still *still = asked ? calloc(1, sizeof *still) : NULL;
    if (!still) {
        go(with);
        return;
    }
    *still =
        (struct still){.runs = runs, .run = run->id, .go = go, .with = with, .timer.data = still};
    run->still = still;
    uv_timer_init(runs->loop, &still->timer);
    uv_timer_start(&still->timer, still_go, ANSWER_MS, 0);
}

void still_end(struct runs *runs, const struct effect *effect) {
    struct running *run = run_of(runs, effect);
    if (run && run->held && !held_thaw(run->held, FREEZE_MEASURE))
        log_info("the hold of a run of %s cannot be told to go on; it does so by itself",
                 run->agent);
}
