/* SPDX-License-Identifier: Apache-2.0 */
/* The goals that a ledger keeps in memory, bounded by their size; the least recently used is dropped first. */
#include "ledger/ledger_state.h"

#include <stdlib.h>

/* ---- goals in memory ---- */

static void warm_unlink(struct ledger *ledger, struct warm *warm) {
    *(warm->older ? &warm->older->newer : &ledger->oldest) = warm->newer;
    *(warm->newer ? &warm->newer->older : &ledger->newest) = warm->older;
}

static void warm_link(struct ledger *ledger, struct warm *warm) {
    warm->newer = NULL;
    warm->older = ledger->newest;
    *(ledger->newest ? &ledger->newest->newer : &ledger->oldest) = warm;
    ledger->newest = warm;
}

static struct warm *warm_touch(struct ledger *ledger, struct id id) {
    struct warm *warm = map_get(&ledger->warm, id);
    if (!warm)
        return NULL;
    warm_unlink(ledger, warm);
    warm_link(ledger, warm);
    return warm;
}

const struct warm *warm_get(struct ledger *ledger, struct id id) {
    return warm_touch(ledger, id);
}

void warm_drop(struct ledger *ledger, struct id id) {
    struct warm *warm = map_remove(&ledger->warm, id);
    if (!warm)
        return;
    warm_unlink(ledger, warm);
    ledger->warm_bytes -= live_size(&warm->live);
    free(warm);
}

static void warm_fill(struct warm *warm, const struct goal *goal, const struct live *live) {
    warm->goal = *goal;
    live_pack(&warm->live, live, warm + 1);
}

static struct warm *warm_make(const struct goal *goal, const struct live *live) {
    struct warm *warm = malloc(sizeof *warm + live_size(live));
    if (warm)
        warm_fill(warm, goal, live);
    return warm;
}

/* If there is no memory, the goal is simply not cached: it is loaded again when it is needed. */
void warm_put(struct ledger *ledger, const struct goal *goal, const struct live *live) {
    struct warm *kept = warm_touch(ledger, goal->id);
    size_t size = live_size(live);
    if (kept && live_size(&kept->live) == size) {
        warm_fill(kept, goal, live);
        return;
    }
    struct warm *warm = warm_make(goal, live);
    warm_drop(ledger, goal->id);
    if (!warm)
        return;
    while (ledger->oldest &&
           (ledger->warm.count >= LIMIT_WARM_GOALS || ledger->warm_bytes + size > LIMIT_WARM_BYTES))
        warm_drop(ledger, ledger->oldest->goal.id);
    if (!map_put(&ledger->warm, goal->id, warm)) {
        free(warm);
        return;
    }
    ledger->warm_bytes += size;
    warm_link(ledger, warm);
}

void warm_clear(struct ledger *ledger) {
    while (ledger->oldest)
        warm_drop(ledger, ledger->oldest->goal.id);
}
