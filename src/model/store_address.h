/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the address of a store: sqlite:PATH or postgresql://USER@HOST/DATABASE. */
#pragma once

#include "base/str.h"

/* The path of an SQLite store; NULL: the store is not a file. */
static inline const char *store_address_file(const char *where) {
    static const char SQLITE[] = "sqlite:";
    return strncmp(where, SQLITE, sizeof SQLITE - 1) == 0 ? where + sizeof SQLITE - 1 : NULL;
}

static inline bool store_address_is_postgres(const char *where) {
    return strncmp(where, "postgres:", 9) == 0 || strncmp(where, "postgresql:", 11) == 0;
}
