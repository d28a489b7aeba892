/* SPDX-License-Identifier: Apache-2.0 */
/* What do those who look at a SQLite store from outside of the ledger share? sqlite_{file,audit,examine,mend}.c */
#pragma once

#include "store/examine.h"
#include "store/sqlite_state.h"

/* The file and its log. False: there is nothing behind it to open; `it` says why. */
bool sqlite_file_check(const char *path, const struct examine_options *options,
                       struct examination *it);

struct sqlite_source {
    struct audit_source source;
    sqlite3 *db;
    sqlite3_stmt *chain, *columns; /* prepared once, asked for each goal */
};

struct sqlite_source sqlite_source_of(sqlite3 *db, struct store *store);
void sqlite_source_end(struct sqlite_source *source);

/* A row of one of our tables, all columns: what is wrong with what stands in it? */
bool sqlite_row_wrong(sqlite3_stmt *row, const char *table, char *what, size_t size);

/* How long bytes have to be in a column of this name: what is wrong with them, or NULL. */
const char *sqlite_length_wrong(const char *column, int length);

/* The names of our tables, from a store's own catalogue. */
extern const char SQLITE_TABLE_NAMES[];
