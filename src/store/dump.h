/* SPDX-License-Identifier: Apache-2.0 */
/* Reads every row of a store, and loads rows into another store. STORE-01, STORE-03.
 *
 * Rows are handled without knowing what they mean, so an export, a backup, and a move from one engine to the other use
 * the same walk. The columns are read from the tables themselves; the tables and the orders in which their rows are read
 * are declared in tables.h. */
#pragma once

#include "store/store.h"
#include "store/tables.h"

/* ---- rows ---- */

enum cell_type { CELL_NULL, CELL_INT, CELL_TEXT, CELL_BYTES };

struct cell { /* an id has 16 bytes, a hash 32; false and true are 0 and 1 */
    enum cell_type type;
    int64_t number;
    struct str bytes;
};

struct table_row {
    enum store_table table;
    uint32_t count;
    const char *const *names; /* names of the cells; the same for every row of a cursor */
    struct cell cells[TABLE_COLUMNS];
};

/* The cell with this name; CELL_NULL if the row has none. */
struct cell row_cell(const struct table_row *row, const char *name);
int64_t cell_int(const struct table_row *row, const char *name);
struct str cell_str(const struct table_row *row, const char *name); /* text or bytes */
struct id cell_id(const struct table_row *row,
                  const char *name); /* zero unless the cell has 16 bytes */
struct hash cell_hash(const struct table_row *row,
                      const char *name); /* zero unless the cell has 32 bytes */

bool cells_equal(const struct cell *a, const struct cell *b);

/* ---- reading ---- */

struct walk;
struct walk_cursor;

/* Open one snapshot of the whole store: later writes are not in it. Until walk_close() the walk owns the store; the
 * caller must make no other request on it. NULL: the error says why. */
struct walk *walk_open(struct store *store, char *error, size_t error_size);
void walk_close(struct walk *walk);

/* Read the rows of one table. Several cursors may be open at once, all on the same snapshot. Rows are fetched in small
 * pages, so memory does not grow with the store. NULL: see walk_failed(). */
struct walk_cursor *walk_rows(struct walk *walk, enum store_table table, enum walk_order order);

/* Only records of these types, in order of goal. */
struct walk_cursor *walk_records(struct walk *walk, enum record_type from, enum record_type to);

/* The next row, valid until the next call; NULL: no more rows, or the walk failed (see walk_failed()). */
const struct table_row *walk_next(struct walk_cursor *cursor);
void walk_end(struct walk_cursor *cursor);

/* Why the walk is incomplete; NULL: nothing has failed. */
const char *walk_failed(const struct walk *walk);

/* Visits every row of every table, by key, in the order of enum store_table. False: the visitor stopped it (the error
 * is then empty), or it failed. */
typedef bool row_visitor(void *with, const struct table_row *row);
bool store_dump(struct store *store, row_visitor *request, void *with, char *error,
                size_t error_size);

/* ---- loading ---- */

struct load;

/* Begin to load rows into a store that has no goals and no records; its hosts and tallies are deleted. The store is in
 * safe mode until load_end(), so that a half-filled store is not mistaken for a complete one. Transactions are bounded,
 * and memory does not grow with the number of rows. */
struct load *load_begin(struct store *store, char *error, size_t error_size);

/* Rows may come table by table in any order, except that the row of `store` must come before the first record. Cells
 * are matched by name: a column that the table does not have is refused; a column that the row does not have gets its
 * default. The row of `store` sets level, era, instance, safe and tx; the version remains that of this build.
 *
 * record.tx orders the log. PostgreSQL numbers transactions itself and could assign the same numbers again, so there
 * loaded records get numbers below zero, in the same order. */
bool load_row(struct load *load, const struct table_row *row);
const char *load_failed(const struct load *load); /* after false is returned: why */

/* Finish the load: the source store's `safe` value replaces the load's mark. Frees the load. False: the store is still
 * marked as half filled, and the error says why. */
bool load_end(struct load *load, char *error, size_t error_size);
void load_abandon(struct load *load); /* the store stays marked as half filled */

/* Value of store.safe during a load, and after an interrupted one. */
extern const char LOAD_MARK[];

/* True if a load into this store was interrupted. Such a store must not be used. */
bool load_cut_off(struct store *store);

/* Empty a store whose load was interrupted. False: no load was interrupted in it, or emptying it failed. */
bool load_undo(struct store *store, char *error, size_t error_size);

/* Describe the first row that names a goal which does not exist; "": none. Call before load_end(). */
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
    bool (*store)(struct load *load, const struct table_row *row); /* sets the row of `store` */
    bool (*execute)(struct load *load, const char *sql);           /* in the current transaction */
    bool (*ask)(struct load *load, const char *sql, char *ret,
                size_t size);         /* one text value; "": no row */
    bool (*flush)(struct load *load); /* sends what is buffered, and commits */
    void (*close)(struct load *load);
    const char *unlock,
        *lock; /* SQL that permits changes to the log, for load_undo(), and forbids them again */
    bool (*wipe)(struct load *load); /* erases deleted data from the files as well */
    const char *for_update;          /* SQL suffix that locks the row that is read */
    const char *goal_hex;            /* SQL expression: goal_id as 32 hexadecimal digits */
    const char *goal_of_hex;         /* printf format: such digits as a goal_id literal */
    const char *hot_hex;             /* SQL expression: goal.hot as hexadecimal digits */
    const char *hot_of_hex;          /* printf format: such digits as a literal */
};

struct load {
    const struct load_engine *engine;
    char failed[LIMIT_WHY];
    char safe[LIMIT_WHY]; /* value that `safe` gets at the end; "": NULL */
};

struct walk *sqlite_walk_open(struct store *store, char *error, size_t error_size);
struct walk *postgres_walk_open(struct store *store, char *error, size_t error_size);
struct load *sqlite_load_open(struct store *store, char *error, size_t error_size);
struct load *postgres_load_open(struct store *store, char *error, size_t error_size);

/* Opens the engine only, on a store that is not to be loaded: see forget.c. */
struct load *load_attach(struct store *store, char *error, size_t error_size);

/* The columns that a statement was prepared for. */
struct load_columns {
    uint32_t count;
    char names[TABLE_COLUMNS][32];
};

bool columns_fit(const struct load_columns *columns, const struct table_row *row);
void columns_keep(struct load_columns *columns, const struct table_row *row);

/* Stores the reason and returns false. */
bool load_fail(struct load *load, const char *format, ...) __attribute__((format(printf, 2, 3)));
