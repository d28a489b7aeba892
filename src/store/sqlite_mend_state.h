/* SPDX-License-Identifier: Apache-2.0 */
/* What do setting aside and rebuilding share? sqlite_mend.c and sqlite_salvage.c only. */
#pragma once

#include "store/sqlite_examine.h"
#include "store/sqlite_mend.h"

bool mend_failed(struct mend *mend, const char *what, const char *why); /* always false */
void mend_remove(const char *path);                                     /* with its log */
void mend_stamp(int64_t at, char text[20]);

/* A new store, empty, and a connection to it. */
bool mend_create(struct mend *mend, const char *path, sqlite3 **ret_db);

/* Close it and let it stand at mend->path; or, when not good, remove it. */
bool mend_install(struct mend *mend, const char *path, sqlite3 *db, bool good);

/* EVENT-03: a record of the store itself. Inside a transaction. */
bool mend_note(sqlite3 *db, int64_t at, enum record_type type, struct str rule, struct str text);

/* sqlite_pages.c: every row that stands in a page of this file, into the tables of a new store. */
bool mend_walk_pages(const char *path, sqlite3 *into);
