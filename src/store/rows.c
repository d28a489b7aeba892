/* SPDX-License-Identifier: Apache-2.0 */
/* What do both drivers make of the rows they read? */
#include "store/rows.h"

void loaded_hot(struct goal_loaded *loaded, struct str hot) {
    loaded->exists = true;
    loaded->whole = shape_decode(&GOAL_HOT, hot, &loaded->goal);
}

void loaded_effect(struct goal_loaded *loaded, struct effect_slot slot) {
    struct goal *goal = &loaded->goal;
    if (goal->open_count == LIMIT_OPEN_EFFECTS)
        loaded->whole = false;
    else
        goal->open[goal->open_count++] = slot;
}

int64_t id_place(const struct id *ids, uint32_t count, struct id id) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = id_compare(ids[middle], id);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}
