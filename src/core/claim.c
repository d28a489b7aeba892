/* SPDX-License-Identifier: Apache-2.0 */
/* Decides who may carry out an effect. */
#include "core/assignment.h"
#include "core/effect.h"
#include "core/rules.h"
#include "core/run_host.h"

/* PROTOCOL P8: the owner claims an effect in one commit and acts only after it. A claim by another host, or a second
 * claim, decides nothing. From the claim on, the outcome has a deadline. GOAL-11: a paused goal begins nothing; its
 * effects stay ready. */
void rule_claim(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    struct effect_slot *slot = goal_effect(goal, d->signal->effect);
    if (!slot || slot->state != EFFECT_READY || goal->owner != d->signal->host ||
        goal->status == GOAL_PAUSED)
        return;
    struct assignment *assignment =
        slot->kind == EFFECT_SPAWN ? assignment_of_effect(d, slot->n) : NULL;
    if (assignment && !run_may_start(d, assignment))
        return;
    if (assignment)
        run_host_note(d, assignment);
    slot->run_host = d->signal->host;
    slot->until = time_after(d->signal->at, d->policy->act_within);
    effect_move(d, slot, EFFECT_RUNNING);
    decide_record(d, RECORD_EFFECT_CLAIMED,
                  (struct evidence){.rule = STR("effect.claim"),
                                    .effect = slot->n + 1,
                                    .host = slot->run_host,
                                    .to = effect_text(slot),
                                    .fence = goal->fence,
                                    .threshold = d->policy->act_within});
}
