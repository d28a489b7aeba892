/* SPDX-License-Identifier: Apache-2.0 */
/* How is the fleet's store opened? */
#pragma once

#include "store/store.h"

/* A store that is away can be opened: its requests fail until it is back. */
struct store *postgres_open(const char *uri, char *error, size_t error_size);
