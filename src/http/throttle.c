/* SPDX-License-Identifier: Apache-2.0 */
#include "http/throttle.h"

#include "base/time.h"

/* The run's own slot, or else the one of a few slots that was quiet for longest: a flooding run keeps its slot. */
static struct throttle_run *run_of(struct throttle *throttle, const struct hash *token) {
    uint32_t at;
    memcpy(&at, token->bytes, sizeof at);
    struct throttle_run *oldest = NULL;
    for (uint32_t i = 0; i < 8; i++) {
        struct throttle_run *run = &throttle->runs[(at + i) % THROTTLE_RUNS];
        if (memcmp(run->token.bytes, token->bytes, sizeof token->bytes) == 0)
            return run;
        if (!oldest || run->full_at < oldest->full_at)
            oldest = run;
    }
    *oldest = (struct throttle_run){.token = *token};
    return oldest;
}

bool throttle_allows(struct throttle *throttle, const struct hash *token, int64_t now) {
    const int64_t each = SECONDS(1) / THROTTLE_PER_SECOND;
    struct throttle_run *run = run_of(throttle, token);
    int64_t full_at = run->full_at < now ? now : run->full_at;
    if (full_at - now > (THROTTLE_BURST - 1) * each)
        return false;
    run->full_at = full_at + each;
    return true;
}
