/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by setting aside and rebuilding: sqlite_mend.c and sqlite_salvage.c only. */
#pragma once

#include "store/sqlite/sqlite_examine.h"
#include "store/sqlite/sqlite_mend.h"

bool mend_failed(struct mend *mend, const char *what, const char *why); /* always returns false */
void mend_remove(const char *path);                                     /* and its log */

/* Create an empty new store, and open a connection to it. */
bool mend_create(struct mend *mend, const char *path, sqlite3 **ret_db);

/* Close the store and move it to mend->path; if it is not good, remove it. */
bool mend_install(struct mend *mend, const char *path, sqlite3 *db, bool good);

/* EVENT-03: add a record about the store itself. Inside a transaction. */
bool mend_note(sqlite3 *db, int64_t at, enum record_type type, struct str rule, struct str text);

/* sqlite_pages.c: insert every row found in the pages of this file into the tables of a new store. */
bool mend_walk_pages(const char *path, sqlite3 *into);
