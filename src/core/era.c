/* SPDX-License-Identifier: Apache-2.0 */
/* What if the store was put back to an earlier time? */
#include "core/rules.h"

/* G-05: after a restore nobody knows what was done between the backup and now. So nothing that was decided
 * is carried out by itself any more, and no ordinal is used that may have been used since: in each era that
 * lies between, the same backup may have been gone on from. */
void rule_era(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    bool told = false;
    uint64_t eras = d->world->era > goal->era ? d->world->era - goal->era : 1;
    must(eras < (UINT32_MAX - goal->effects_made) / LIMIT_ERA_GAP);
    goal->era = d->world->era;
    goal->effects_made += LIMIT_ERA_GAP * (uint32_t)eras;
    for (uint32_t i = 0; i < goal->open_count;) {
        struct effect_slot *slot = &goal->open[i];
        uint32_t n = slot->n;
        bool lost =
            EFFECTS[slot->kind].promise != PROMISE_REPEAT && slot->state != EFFECT_UNCONFIRMED;
        if (lost && slot->state == EFFECT_READY)
            slot->run_host = goal->owner;
        if (lost)
            effect_lose(d, slot, STR("store.restored"),
                        STR("the store was put back; it may have been done since"));
        told = told || lost;
        i += i < goal->open_count && goal->open[i].n == n;
    }
    if (!told)
        decide_record(
            d, RECORD_GOAL_RESTORED,
            (struct evidence){.rule = STR("store.restored"), .threshold = (int64_t)goal->era});
}
