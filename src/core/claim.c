/* SPDX-License-Identifier: Apache-2.0 */
/* Who may carry an effect out? */
#include "core/rules.h"

/* PROTOCOL P8: the owner claims an effect in one commit and acts only after it. Somebody else's claim,
 * or a second one, decides nothing. From the claim on, the outcome has a deadline. GOAL-11: a paused goal
 * begins nothing; its effects stay ready. */
void rule_claim(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    struct effect_slot *slot = goal_effect(goal, d->signal->effect);
    if (!slot || slot->state != EFFECT_READY || goal->owner != d->signal->host ||
        goal->status == GOAL_PAUSED)
        return;
    struct charge *charge = slot->kind == EFFECT_SPAWN ? charge_of_effect(d, slot->n) : NULL;
    if (charge && !run_may_start(d, charge))
        return;
    if (charge)
        run_host_note(d, charge);
    slot->run_host = d->signal->host;
    slot->until = time_after(d->signal->at, d->policy->act_within);
    effect_move(d, slot, EFFECT_RUNNING);
    decide_record(d, RECORD_EFFECT_CLAIMED,
                  (struct evidence){.rule = STR("effect.claim"),
                                    .effect = slot->n + 1,
                                    .host = slot->run_host,
                                    .to = effect_told(slot),
                                    .fence = goal->fence,
                                    .threshold = d->policy->act_within});
}
