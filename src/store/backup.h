/* SPDX-License-Identifier: Apache-2.0 */
/* Backs up and restores a store. G-05.
 *
 * A backup is one SQLite file with the tables of a store, whichever engine it comes from, and a note about itself. So
 * it can be examined, exported and restored into either engine. It is a snapshot of the store at one moment: everything
 * committed before that moment is in it, nothing committed later is.
 *
 * A restored store begins a new era. It does not contain what happened after the backup, so none of its pending effects
 * are executed again automatically: see src/core/era.c. */
#pragma once

#include "store/store.h"

struct backup_note {
    int64_t at;      /* wall clock at the start of the backup */
    char source[16]; /* the engine the backup was taken from */
    char build[32];
    uint64_t era;
    uint64_t rows; /* total over all tables */
    uint64_t goals, records;
    struct hash digest; /* over every row of every table */
};

struct backup {       /* which store, and when */
    struct str where; /* sqlite:PATH or a PostgreSQL URI */
    int64_t at;       /* wall clock */
    const char *build;
    char error[LIMIT_WHY]; /* after false is returned: what happened, and what to do */
};

/* Write the backup file, completely or not at all. Writers of the store do not wait. An existing file is replaced only
 * with `force`. */
bool backup_make(struct backup *backup, const char *file, bool force, struct backup_note *ret);

/* Verify that a backup holds what was written: the engine's own check, every row against the digest, and every chain of
 * records. */
bool backup_verify(struct backup *backup, const char *file, struct backup_note *ret);

struct restore {
    bool
        replace; /* PostgreSQL: restore even if the database holds a store, which is then set aside */
    int64_t silent_us; /* PostgreSQL: how long no host may beat before the restore */
    char aside[4200];  /* where the old store is now; empty: there was none */
    uint64_t era;      /* the era that begins */
};

/* Verify a backup and restore it in place of the store, which is set aside. The store must not be in use: for SQLite
 * the caller holds its lock, for PostgreSQL no host beats. */
bool backup_restore(struct backup *backup, const char *file, struct restore *restore);
