/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a PostgreSQL store, which a fleet shares. */
#pragma once

#include "store/store.h"

/* An unreachable store can be opened: its requests fail until it is back. */
struct store *postgres_open(const char *uri, char *error, size_t error_size);
