/* SPDX-License-Identifier: Apache-2.0 */
/* PROTOCOL P10: a run stays on its host; another one starts only when the first is frozen or known to be dead. */
#pragma once

#include "core/deciding.h"

/* run_host.c: PROTOCOL P10. A run stays on its host; another one starts only when the first is frozen or known to be dead. */
void runs_check_host(struct deciding *); /* called before every decision */
void run_host_note(struct deciding *, struct assignment *assignment); /* its start is claimed */
bool work_is_elsewhere(const struct deciding *, const struct assignment *assignment);
void work_strand(struct deciding *,
                 struct assignment *assignment); /* its work is begun again on this host */
bool run_may_start(const struct deciding *, const struct assignment *assignment);
void assignment_waits_for_host(struct deciding *, struct assignment *assignment);
bool assignment_is_stranded(const struct deciding *, const struct assignment *assignment);
bool run_is_stale(
    struct deciding *); /* true: the signal comes from another run, and is dealt with */
void run_end_known(struct deciding *, const struct assignment *assignment);
