/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a store: one row for each, with everything that export, import, forget, examination, salvage, dump,
 * migration and tests know about it. STORE-03.
 *
 * Tables up to version 6 are created by SQL that is written by hand for each engine; a test compares it with the columns
 * here. A later table is created from its row, in a new store and in an older one alike. */
#pragma once

#include "model/part.h"

/* The version of the tables that this build makes, and the oldest build that may still use them. A new table is a row of
 * STORED with the next version as `since`; a change of an existing table is a new row in MIGRATIONS (see migrate.h). */
#ifdef OVERSEER_TOMORROW /* a test build for rolling upgrades: tests/upgrade */
enum { SCHEMA_TOMORROW = 1 };
#else
enum { SCHEMA_TOMORROW = 0 };
#endif
enum {
    SCHEMA_VERSION = 10 + SCHEMA_TOMORROW,
    SCHEMA_OLDEST = 2,
    SCHEMA_LEVEL = 10 + SCHEMA_TOMORROW
};

enum store_table {
    TABLE_STORE, /* one row */
    TABLE_HOST,
    TABLE_GOAL,
    TABLE_GOAL_VIEW,
    TABLE_GOAL_TAG,
    TABLE_TEXT,
    TABLE_EFFECT,
    TABLE_INBOX,
    TABLE_RECORD,
    TABLE_MILESTONE,
    TABLE_SEEN,
    TABLE_ASIDE,
    TABLE_TALLY,
    TABLE_PART, /* one table for each kind of part follows */
    STORE_TABLES = TABLE_PART + PARTS
};

/* ---- columns ---- */

enum stored_type {               /*           SQLite   PostgreSQL */
                   STORED_INT,   /*           INTEGER  int */
                   STORED_LONG,  /*           INTEGER  bigint */
                   STORED_FLAG,  /* 0 or 1    INTEGER  bool */
                   STORED_TEXT,  /*           TEXT     text */
                   STORED_BYTES, /*           BLOB     bytea */
                   STORED_ID,    /* 16 bytes  BLOB     uuid */
                   STORED_HASH,  /* 32 bytes  BLOB     bytea */
                   STORED_WORDS, /* generated          tsvector */
                   STORED_TYPES
};

enum stored_flag {
    STORED_NULL = 1,        /* may be NULL */
    STORED_NULL_SQLITE = 2, /* may be NULL in SQLite only */
    STORED_SQLITE = 4,      /* only SQLite has the column */
    STORED_POSTGRES = 8,    /* only PostgreSQL has the column */
};

struct stored_column {
    const char *name; /* NULL: the end of the list */
    enum stored_type type;
    uint32_t flags;
    int64_t least, most; /* of a number; both 0: any */
};

/* ---- tables ---- */

enum { TABLE_COLUMNS = 24 };

/* What becomes of a goal's rows when the goal is forgotten. */
enum stored_forget { FORGET_ROWS, FORGET_WORDS /* by forget_sql */, FORGET_NOTHING };

/* What examination knows about the column `body`. */
enum stored_body { BODY_ANY, BODY_HASHED /* the column `hash` is of it */, BODY_EFFECT, BODY_PART };

/* How salvage fills the table of the new store. */
enum stored_salvage { SALVAGE_COPIED, SALVAGE_FOUND_BY_GOAL, SALVAGE_MADE };

struct stored_table {
    const char *name; /* NULL: of a kind of part, see table_name() */
    uint32_t since; /* version that has it first; 0: 6 or earlier, created by SQL written by hand */
    const char *key;             /* primary key, in the order of a dump. `record`: in write order */
    const char *by_goal;         /* the order by goal; NULL: its rows belong to no goal */
    const char *by_name;         /* the order by name; NULL: it has none */
    const char *collection;      /* in an export, as plain rows; NULL: see item.c */
    const char *collection_text; /* describes it in the documentation */
    enum stored_forget forget;
    const char *forget_sql; /* %s is the goal */
    enum stored_body body;
    enum stored_salvage salvage;
    bool added; /* a commit adds rows with all columns: the engines have an INSERT for it */
    struct stored_column columns[TABLE_COLUMNS];
};

extern const struct stored_table STORED[STORE_TABLES];

/* Both engines sort alike: ids, hashes and texts byte by byte. */
enum walk_order {
    WALK_BY_KEY,  /* records: in write order (day, tx, n) */
    WALK_BY_GOAL, /* goal_id first; records: goal_id, seq. Only for tables that have a goal */
    WALK_BY_NAME, /* parts: name, goal_id, n */
    WALK_ORDERS
};

const char *table_name(enum store_table table);
const char *table_order(
    enum store_table table,
    enum walk_order order); /* the columns to sort by; NULL: the table does not have this order */
bool table_named(const char *name, enum store_table *ret);
const struct stored_column *table_column(enum store_table table, const char *column); /* or NULL */

/* The columns that both engines have, as a list: in `form`, @ is the name of a column, # its number from 1, and % the word
 * for its type. */
const char *table_columns(enum store_table table, const char *form,
                          const char *const types[STORED_TYPES], char *text, size_t size);

/* CREATE TABLE from the row; `end` follows the closing parenthesis. */
const char *table_create(enum store_table table, const char *const types[STORED_TYPES],
                         const char *end, char *text, size_t size);
