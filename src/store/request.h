/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a whole store request, so that it can outlive its ledger. */
#pragma once

#include "store/store.h"

struct store_request *request_copy(const struct store_request *request, struct arena *arena);
