/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of batches that this host knows to be committed. */
#include "ledger/decide.h"

#include "base/planted.h"

/* P13: what a join or a beat compares the host row with. */
struct store_known batch_known(const struct ledger *ledger, bool beats) {
    bool blind = planted(BACK_UNNOTICED) || (beats && planted(BEAT_BLIND));
    return ledger->config.lease == 0 || blind ? (struct store_known){0} : ledger->row_known;
}

/* P13: only a host that knows its own row may take over another one. The take-over begins a new era if the last commits
 * of the other host may be lost. */
struct store_known batch_take_known(const struct ledger *ledger) {
    struct store_known known = batch_known(ledger, false);
    known.back = lease_row_is_doubtful(ledger, &ledger->victim);
    return planted(TAKE_BLIND) ? (struct store_known){0} : known;
}

/* P13: raising the epoch returned no more than was known before, or a confirmed batch is missing. */
bool batch_row_is_behind(const struct ledger *ledger, const struct store_answer *answer) {
    return ledger->config.lease > 0 && !planted(BACK_UNNOTICED) &&
           (answer->epoch <= ledger->self.epoch || answer->batch < ledger->batch_number);
}

bool lease_row_is_doubtful(const struct ledger *ledger, const struct host_row *row) {
    for (uint32_t i = 0; i < ledger->first_count; i++)
        if (ledger->first[i].host == row->host)
            return ledger->timeline_changed && ledger->first[i].beat == row->beat;
    return ledger->timeline_changed;
}
