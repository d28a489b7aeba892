/* SPDX-License-Identifier: Apache-2.0 */
/* Does the daemon live, and can it work? G-26. */
#pragma once

#include "daemon/visit.h"

/* 200 while the ledger turns, also without its store; 503 when it hangs, and in safe mode. */
enum MHD_Result healthz_begin(struct visit *visit);
/* 200 when a write would be taken: it has joined, the store answers, it is not stopping. */
enum MHD_Result readyz_begin(struct visit *visit);
