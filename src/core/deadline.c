/* SPDX-License-Identifier: Apache-2.0 */
/* How long do we wait for an outcome? */
#include "core/rules.h"

/* Nothing stays running for ever: an effect without an outcome at its deadline is unconfirmed. A timer
 * that rings early decides nothing. */
void rule_due(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    for (uint32_t i = 0; i < goal->open_count; i++) {
        struct effect_slot *slot = &goal->open[i];
        if (slot->state == EFFECT_RUNNING && slot->until <= d->signal->at)
            effect_doubt(d, slot, STR("effect.deadline"), STR("no outcome within its time"));
    }
}
