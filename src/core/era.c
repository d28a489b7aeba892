/* SPDX-License-Identifier: Apache-2.0 */
/* Handles a store that was restored to an earlier time. */
#include "core/effect.h"
#include "core/rules.h"

/* G-05: after a restore it is unknown what was done between the backup and now. So no earlier decision is carried out
 * by itself any more, and no ordinal is used that may have been used since: in each era in between, the same backup may
 * have been continued from. */
void rule_era(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    bool recorded = false;
    uint64_t eras = d->world->era > goal->era ? d->world->era - goal->era : 1;
    must(eras < (UINT32_MAX - goal->effects.made) / LIMIT_ERA_GAP);
    goal->era = d->world->era;
    goal->effects.made += LIMIT_ERA_GAP * (uint32_t)eras;
    for (uint32_t i = 0; i < goal->effects.open_count;) {
        struct effect_slot *slot = &goal->effects.open[i];
        uint32_t n = slot->n;
        bool lost =
            EFFECTS[slot->kind].promise != PROMISE_REPEAT && slot->state != EFFECT_UNCONFIRMED;
        if (lost && slot->state == EFFECT_READY)
            slot->run_host = goal->owner;
        if (lost)
            effect_lose(d, slot, STR("store.restored"),
                        STR("the store was put back; it may have been done since"));
        recorded = recorded || lost;
        i += i < goal->effects.open_count && goal->effects.open[i].n == n;
    }
    if (!recorded)
        decide_record(
            d, RECORD_GOAL_RESTORED,
            (struct evidence){.rule = STR("store.restored"), .threshold = (int64_t)goal->era});
}
