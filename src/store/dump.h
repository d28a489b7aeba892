/* SPDX-License-Identifier: Apache-2.0 */
/* How does every row of a store come out, and how does it go into another one? STORE-01, STORE-03.
 *
 * Row by row, without knowing what a row means: so an export, a backup, and a move from one engine to the
 * other are the same walk. Which columns there are is read from the tables themselves; what is declared here
 * is only which tables there are, and in which order their rows come. */
#pragma once

#include "store/store.h"

/* ---- tables ---- */

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
    TABLE_PART, /* + kind of part */
    STORE_TABLES = TABLE_PART + PARTS
};

/* Both engines sort the same: ids, hashes and texts byte by byte. */
enum walk_order {
    WALK_BY_KEY,  /* records as they were written: day, tx, n */
    WALK_BY_GOAL, /* goal_id first; records: goal_id, seq. Tables that have a goal */
    WALK_BY_NAME, /* parts: name, goal_id, n */
    WALK_ORDERS
};

const char *table_name(enum store_table table);
const char *table_order(enum store_table table,
                        enum walk_order order); /* columns; NULL: it has not */

/* ---- rows ---- */

enum cell_type { CELL_NULL, CELL_INT, CELL_TEXT, CELL_BYTES };

struct cell { /* an id is 16 bytes, a hash 32; false and true are 0 and 1 */
    enum cell_type type;
    int64_t number;
    struct str bytes;
};

enum { TABLE_COLUMNS = 24 };

struct table_row {
    enum store_table table;
    uint32_t count;
    const char *const *names; /* of the cells; the same for every row of a cursor */
    struct cell cells[TABLE_COLUMNS];
};

/* The cell of that name; CELL_NULL when the row has none. */
struct cell row_cell(const struct table_row *row, const char *name);
int64_t cell_int(const struct table_row *row, const char *name);
struct str cell_str(const struct table_row *row, const char *name); /* text or bytes */
struct id cell_id(const struct table_row *row, const char *name); /* zero unless it has 16 bytes */
struct hash cell_hash(const struct table_row *row,
                      const char *name); /* zero unless it has 32 bytes */

bool cells_equal(const struct cell *a, const struct cell *b);

/* ---- out ---- */

struct walk;
struct walk_cursor;

/* One snapshot of a whole store: whatever is written meanwhile is not in it. The store is the walk's until
 * walk_close(): nothing else may be asked of it. NULL: the error says why. */
struct walk *walk_open(struct store *store, char *error, size_t error_size);
void walk_close(struct walk *walk);

/* Rows of one table. Several cursors may be open at once, and all of them see the same snapshot. Rows are
 * fetched some at a time: memory does not grow with the store. NULL: see walk_failed(). */
struct walk_cursor *walk_rows(struct walk *walk, enum store_table table, enum walk_order order);

/* Only records of these types, by goal. */
struct walk_cursor *walk_records(struct walk *walk, enum record_type from, enum record_type to);

/* The next row, which is good until the next call; NULL: no more, or walk_failed(). */
const struct table_row *walk_next(struct walk_cursor *cursor);
void walk_end(struct walk_cursor *cursor);

/* Why a walk is not whole; NULL: nothing has failed. */
const char *walk_failed(const struct walk *walk);

/* Every row of every table, by key, in the order of enum store_table. False: the visitor said stop (then the
 * error is empty), or it failed. */
typedef bool row_visitor(void *with, const struct table_row *row);
bool store_dump(struct store *store, row_visitor *visit, void *with, char *error,
                size_t error_size);

/* ---- in ---- */

struct load;

/* Puts rows into a store that has no goals and no records; hosts and tallies that it has are taken out. From
 * here to load_end() it is in safe mode, so that a store that was filled halfway is not taken for a whole one.
 * Transactions are bounded, and memory does not grow with the number of rows. */
struct load *load_begin(struct store *store, char *error, size_t error_size);

/* Rows may come in any order of tables, but for `store`, which has to come before the first record. Cells are
 * matched by name; a column that the table has not is refused, one that the row has not gets its default. The
 * row of `store` sets level, era, instance, safe and tx; its version stays what this build makes.
 *
 * record.tx gives the log its order. PostgreSQL counts transactions by itself and might come by the same numbers
 * once more: there, records that come from elsewhere get numbers below zero, in the same order. */
bool load_row(struct load *load, const struct table_row *row);
const char *load_failed(const struct load *load); /* after a false */

/* Everything is there: the store's own mark takes the place of the load's. Frees the load. False: the store is
 * still marked as half filled, and the error says why. */
bool load_end(struct load *load, char *error, size_t error_size);
void load_abandon(struct load *load); /* it stays marked as half filled */

/* What store.safe says while a load is going on, and after one was cut off. */
extern const char LOAD_MARK[];

/* Was this store filled halfway? Then nobody may work on it. */
bool load_cut_off(struct store *store);

/* Makes a store empty again in which a load was cut off. False: it is not such a store, or that failed. */
bool load_undo(struct store *store, char *error, size_t error_size);

/* The first row of a table with goals whose goal there is not, in words; "": none. Before load_end(). */
bool load_dangling(struct load *load, char *ret_what, size_t size);

/* ---- for the engines ---- */

struct walk_engine {
    void (*close)(struct walk *walk);
    struct walk_cursor *(*rows)(struct walk *walk, enum store_table table, const char *order,
                                const char *where);
    const struct table_row *(*next)(struct walk_cursor *cursor);
    void (*end)(struct walk_cursor *cursor);
};

struct walk {
    const struct walk_engine *engine;
    char failed[LIMIT_WHY];
};

struct walk_cursor {
    struct walk *walk;
    struct table_row row;
};

struct load_engine {
    bool (*row)(struct load *load, const struct table_row *row);
    bool (*store)(struct load *load, const struct table_row *row); /* the row of `store` */
    bool (*execute)(struct load *load, const char *sql);           /* in the transaction in hand */
    bool (*ask)(struct load *load, const char *sql, char *ret,
                size_t size);         /* one text; "": no row */
    bool (*flush)(struct load *load); /* and commit */
    void (*close)(struct load *load);
    const char *unlock, *lock; /* SQL that opens the log for load_undo(), and shuts it again */
    bool (*wipe)(struct load *load); /* what was deleted is to be gone from the files as well */
    const char *for_update;          /* SQL that keeps others away from a row that is read */
    const char *goal_hex;            /* SQL: goal_id as 32 digits */
    const char *goal_of_hex;         /* a format: such digits as a goal_id */
};

struct load {
    const struct load_engine *engine;
    char failed[LIMIT_WHY];
    char safe[LIMIT_WHY]; /* what `safe` is to say in the end; "": nothing */
};

struct walk *sqlite_walk_open(struct store *store, char *error, size_t error_size);
struct walk *postgres_walk_open(struct store *store, char *error, size_t error_size);
struct load *sqlite_load_open(struct store *store, char *error, size_t error_size);
struct load *postgres_load_open(struct store *store, char *error, size_t error_size);

/* The engine alone, on a store that is not to be filled: see forget.c. */
struct load *load_attach(struct store *store, char *error, size_t error_size);

/* The columns that a statement was made for. */
struct load_columns {
    uint32_t count;
    char names[TABLE_COLUMNS][32];
};

bool columns_fit(const struct load_columns *columns, const struct table_row *row);
void columns_keep(struct load_columns *columns, const struct table_row *row);

/* False, with why. */
bool load_fail(struct load *load, const char *format, ...) __attribute__((format(printf, 2, 3)));
