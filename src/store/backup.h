/* SPDX-License-Identifier: Apache-2.0 */
/* How does a store get into a backup, and back? G-05.
 *
 * A backup is one SQLite file with the tables of a store, whichever engine it comes from, and a note about
 * itself. So it can be examined, exported and put back into either engine. It is one moment of the store: what
 * was committed before it is in it, what was committed later is not.
 *
 * A store that is put back begins a new era. What happened after the backup is not in it, so nothing that it
 * wants done is done again by itself: see src/core/era.c. */
#pragma once

#include "store/store.h"

struct backup_note {
    int64_t at;      /* wall clock, when it was begun */
    char source[16]; /* the engine it comes from */
    char build[32];
    uint64_t era;
    uint64_t rows; /* in all tables */
    uint64_t goals, records;
    struct hash digest; /* of every row of every table */
};

struct backup {       /* of which store, and when */
    struct str where; /* sqlite:PATH or a PostgreSQL URI */
    int64_t at;       /* wall clock */
    const char *build;
    char error[LIMIT_WHY]; /* after a false: what happened, and what to do */
};

/* Write the file, whole or not at all. Whoever works on the store does not wait. One that is there already is
 * replaced only by force. */
bool backup_make(struct backup *backup, const char *file, bool force, struct backup_note *ret);

/* Is it what was written? The engine's check, every row against the digest, and every chain of records. */
bool backup_verify(struct backup *backup, const char *file, struct backup_note *ret);

struct restore {
    bool replace;      /* PostgreSQL: also when there is something in it, which is set aside */
    int64_t silent_us; /* PostgreSQL: how long hosts must not beat */
    char aside[4200];  /* where the old store is now; empty: there was none */
    uint64_t era;      /* that begins */
};

/* Put a backup, verified first, in the place of the store, which is set aside. Nobody works on the store: for SQLite
 * the caller holds its lock, for PostgreSQL no host beats. */
bool backup_restore(struct backup *backup, const char *file, struct restore *restore);
