/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the outcome of an effect to the ledger. */
#include "runs/executor.h"

#include "runs/run_log.h"
#include "sys/clock.h"

/* The outcome is identified by its effect: reporting it twice changes nothing. Without memory it is not reported, and
 * the effect becomes unconfirmed at its deadline. */
void executor_report(struct executor *executor, const struct act *act, struct signal outcome) {
    if (act->stranded)
        return;
    if (outcome.kind == SIGNAL_NONE)
        outcome.kind = SIGNAL_EFFECT_ENDED;
    outcome.source = effect_id(act->effect.goal, act->effect.n);
    outcome.goal = act->effect.goal;
    outcome.at = clock_wall();
    outcome.sender.actor = STR("overseer");
    outcome.sender.by = WHO_OVERSEER;
    outcome.effect = act->effect.n;
    struct input *input = input_make(&outcome, NULL);
    if (!input || !queue_put(&executor->ledger_thread->queue, input)) {
        input_free(input);
        log_effect(LEVEL_ERROR, &act->effect,
                   "out of memory for an outcome; its effect will be unconfirmed");
    }
}
