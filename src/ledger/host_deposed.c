/* SPDX-License-Identifier: Apache-2.0 */
/* Notes that another host raised this host's epoch, and reports how the row was lost. */
#include "ledger/host_claim.h"
#include "ledger/ledger_state.h"

#include <stdio.h>

/* ---- claim on the host's number ---- */

bool lease_claims(const struct ledger *ledger) {
    return ledger->config.lease > 0 && ledger->config.addr.len > 0;
}

/* ---- how the row was lost ---- */

void deposition_report(struct ledger *ledger, const char *how) {
    int64_t quiet = ledger->now.boot - ledger->away_until;
    if (ledger->away_until > 0 && quiet <= 2 * ledger->config.lease)
        snprintf(ledger->deposition, sizeof ledger->deposition,
                 "%s; before that, the store had not answered for %.1f s", how,
                 (double)ledger->away_for / 1e6);
    else
        snprintf(ledger->deposition, sizeof ledger->deposition, "%s", how);
    ledger->deposition_open = false;
    ledger->depositions_reported++;
}

void lease_deposed(struct ledger *ledger) {
    ledger->deposition_open = true;
    if (!lease_claims(ledger)) /* the row is not read */
        deposition_report(ledger, "the host row was taken");
}
