/* SPDX-License-Identifier: Apache-2.0 */
/* Steps the signals of a batch, and handles steps that fail. Between loading and committing. */
#pragma once

#include "ledger/ledger_state.h"

/* Steps every group of the batch that belongs to this host, and makes commits[]. Escapes if there is no memory. */
void decide_all(struct ledger *ledger);

/* The database refused this goal's rows. True: the commit is now its quarantine, to be sent instead.
 * False: nothing is to be stored, and the inputs say why. */
bool decide_refused(struct ledger *ledger, struct group *group, struct goal_commit *commit,
                    struct str why);
