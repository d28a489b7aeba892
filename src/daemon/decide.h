/* SPDX-License-Identifier: Apache-2.0 */
/* How are the signals of a batch stepped, and what if a step breaks? Between loading and committing. */
#pragma once

#include "daemon/ledger_state.h"

/* Step every group of the batch that is ours, and make commits[]. Escapes without memory. */
void decide_all(struct ledger *ledger);

/* The database refused this goal's rows. True: the commit is now its quarantine, to be sent instead.
 * False: nothing is to be stored, and the inputs say why. */
bool decide_refused(struct ledger *ledger, struct group *group, struct goal_commit *commit,
                    struct str why);
