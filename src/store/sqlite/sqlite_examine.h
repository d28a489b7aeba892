/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the code that reads an SQLite store from outside the ledger: sqlite_{file,audit,examine,mend}.c */
#pragma once

#include "store/examine.h"
#include "store/sqlite/sqlite_state.h"

/* Check the file and its log. False: do not open the store; `it` says why. */
bool sqlite_file_check(const char *path, const struct examine_options *options,
                       struct examination *it);

struct sqlite_source {
    struct audit_source source;
    sqlite3 *db;
    sqlite3_stmt *chain, *columns; /* prepared once, run for each goal */
};

struct sqlite_source sqlite_source_of(sqlite3 *db, struct store *store);
void sqlite_source_end(struct sqlite_source *source);

/* Check a row of one of our tables, with all its columns. True: something is wrong, and `what` describes it. */
bool sqlite_row_wrong(sqlite3_stmt *row, const char *table, char *what, size_t size);

/* Check the length of a byte value in this column (NULL: not one of ours): what is wrong with it, or NULL. */
const char *sqlite_length_wrong(const struct stored_column *column, int length);

/* SQL: the names of our tables, from a store's own catalogue. */
extern const char SQLITE_TABLE_NAMES[];
