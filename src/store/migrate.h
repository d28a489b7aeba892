/* SPDX-License-Identifier: Apache-2.0 */
/* Migrates the tables of an older build to those of this build. STORE-04, STORE-18.
 *
 * MIGRATIONS has one row for each version that changed existing tables. All rows that a store lacks are executed in one
 * transaction, and then the tables that it lacks are created from their rows of STORED, so the tables are either
 * unchanged or those of this build. A row is never edited once it was in a release.
 *
 * A new store gets the newest tables directly; a fixture of each older version proves that an upgrade ends in the same
 * tables. A new field at the end of GOAL_VIEW automatically becomes a column at the end of goal_view; it still needs a
 * row here that adds the column to older stores. */
#pragma once

#include "store/rows.h"

struct sqlite_store;
struct pg_store;

/* Start of the error message when an older store was left unchanged. */
#define MIGRATE_FAILED "the tables could not be migrated and are unchanged"

struct migration {
    uint32_t to;
    const char *what;
    bool
        whole; /* it creates the tables of this build, whatever their version: no later row is needed */
    /* Runs inside the transaction: first the SQL, then the function for what SQL cannot do; either may be missing. */
    const char *sqlite;
    int (*sqlite_run)(struct sqlite_store *store); /* returns an SQLite code */
    const char *postgres;
    bool (*postgres_run)(struct pg_store *store);
};

extern const struct migration MIGRATIONS[];
extern const uint32_t MIGRATION_COUNT;

/* Versions that the store declares for its tables. All zero: there are no tables. */
struct schema_mark {
    uint32_t version, oldest, level;
};

/* True if this build may use such tables. False: `why` says why not and what to do. */
bool schema_is_ours(struct schema_mark mark, char *why, size_t why_size);

/* True if a host that speaks level `speaks` may join a store that is written at `level`. */
bool schema_may_join(uint32_t level, uint32_t speaks, char *why, size_t why_size);
