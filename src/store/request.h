/* SPDX-License-Identifier: Apache-2.0 */
/* How can a request outlive its ledger? By being copied whole. */
#pragma once

#include "store/store.h"

struct store_request *request_copy(const struct store_request *request, struct arena *arena);
