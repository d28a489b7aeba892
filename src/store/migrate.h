/* SPDX-License-Identifier: Apache-2.0 */
/* How do the tables of an older build become those of this one? STORE-04, STORE-18.
 *
 * A row for each version since the first. All of them that a store lacks are carried out in one
 * transaction: it is either as it was, or as this build makes it. A row, once it was in a release, is
 * never edited.
 *
 * A new store gets the newest tables at once; a fixture of each older version shows that an upgrade ends
 * in the same ones. A field that is new in GOAL_VIEW, at its end, is a column at the end of goal_view by
 * itself; here it needs the row that adds this column to older stores. */
#pragma once

#include "store/rows.h"

struct sqlite_store;
struct pg_store;

/* How the error begins when an older store stays as it was. */
#define MIGRATE_FAILED "the tables could not be brought up to date, and are as they were"

struct migration {
    uint32_t to;
    const char *what;
    bool
        whole; /* it makes the tables of this build, whatever their version: no later row is needed */
    /* SQL first, then what SQL cannot do; either may be missing. Inside the transaction. */
    const char *sqlite;
    int (*sqlite_run)(struct sqlite_store *store); /* an SQLite code */
    const char *postgres;
    bool (*postgres_run)(struct pg_store *store);
};

extern const struct migration MIGRATIONS[];
extern const uint32_t MIGRATION_COUNT;

/* What the store says of its tables. All zero: there are none. */
struct schema_mark {
    uint32_t version, oldest, level;
};

/* May this build work on such tables? False, with a sentence that says why not and what to do. */
bool schema_is_ours(struct schema_mark mark, char *why, size_t why_size);

/* May a host that speaks this join a store that is written at this level? */
bool schema_may_join(uint32_t level, uint32_t speaks, char *why, size_t why_size);
