/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from an outcome, and from one that will not come? */
#include "core/rules.h"

/* Exit status 0 of the operator's own command completes an active goal that has no plan and waits for nothing
 * else, now or when it goes on; any other status asks a person. An outcome for an effect that is not open
 * any more was reported before, and decides nothing. A late one for an unconfirmed effect settles the
 * doubt. */
void rule_ended(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    struct effect_slot *slot = goal_effect(goal, d->signal->effect);
    if (!slot)
        return;
    must(slot->state != EFFECT_READY); /* acted on without a claim */
    struct evidence evidence = {.rule = STR("effect.outcome"),
                                .effect = slot->n + 1,
                                .host = slot->run_host,
                                .fence = goal->fence,
                                .exit = d->signal->exit,
                                .text = str_cut_utf8(d->signal->text, LIMIT_OUTPUT)};
    effect_move(d, slot, EFFECT_ENDED);
    decide_record(d, RECORD_EFFECT_ENDED, evidence);
    goal->last_exit = d->signal->exit;
    goal->succeeded = d->signal->exit == 0;
    goal->reopened = 0;
    evidence.text = (struct str){0};
    if (d->signal->exit != 0) {
        goal->need = NEED_FAILED;
        evidence.rule = STR("command.failed");
        decide_record(d, RECORD_GOAL_NEEDS_PERSON, evidence);
        return;
    }
    goal->need = goal_has_effect(goal, EFFECT_UNCONFIRMED) ? NEED_UNCONFIRMED : NEED_NOTHING;
    goal_settle(d);
}

/* PROTOCOL, the table of effects: a command is done at most once. Whoever had claimed it is gone, so it
 * is never repeated by itself: it stands as unconfirmed. Said once. */
void rule_lost(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    struct effect_slot *slot = goal_effect(goal, d->signal->effect);
    if (!slot || slot->state == EFFECT_READY)
        return;
    if (slot->state == EFFECT_UNCONFIRMED && goal->need == NEED_UNCONFIRMED)
        return;
    effect_doubt(d, slot, STR("effect.host-lost"),
                 STR("its host was lost before it could say what came of it"));
}
