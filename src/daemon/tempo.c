/* SPDX-License-Identifier: Apache-2.0 */
/* Does a run ask too often? */
#include "daemon/tempo.h"

#include "base/time.h"

/* Its own place, or that of whoever has been quiet longest among a few: nobody who floods is forgotten by it. */
static struct tempo_run *run_of(struct tempo *tempo, const struct hash *token) {
    uint32_t at;
    memcpy(&at, token->bytes, sizeof at);
    struct tempo_run *oldest = NULL;
    for (uint32_t i = 0; i < 8; i++) {
        struct tempo_run *run = &tempo->runs[(at + i) % TEMPO_RUNS];
        if (memcmp(run->token.bytes, token->bytes, sizeof token->bytes) == 0)
            return run;
        if (!oldest || run->full_at < oldest->full_at)
            oldest = run;
    }
    *oldest = (struct tempo_run){.token = *token};
    return oldest;
}

bool tempo_allows(struct tempo *tempo, const struct hash *token, int64_t now) {
    const int64_t each = SECONDS(1) / TEMPO_PER_SECOND;
    struct tempo_run *run = run_of(tempo, token);
    int64_t full_at = run->full_at < now ? now : run->full_at;
    if (full_at - now > (TEMPO_BURST - 1) * each)
        return false;
    run->full_at = full_at + each;
    return true;
}
