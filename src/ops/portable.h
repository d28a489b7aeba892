/* SPDX-License-Identifier: Apache-2.0 */
/* How is a row written as JSON and read back, losing nothing? C-02, C-58.
 *
 * Cells by the kind of their column, encoded bodies by the table of their shape. Whoever writes an item reads
 * it back at once and compares: what did not come back the same is added raw, so that nothing that this build
 * does not understand is lost. */
#pragma once

#include "ops/json.h"
#include "store/dump.h"

/* ---- reading: where, and what is wrong ---- */

struct reading {
    struct arena *arena;
    bool plain; /* times are milliseconds, as the seed has them; else microseconds */
    char path[256];
    char why[LIMIT_WHY]; /* "": nothing is wrong */
};

/* The member that is looked at now; give the result to reading_leave(). */
size_t reading_enter(struct reading *reading, const char *name);
size_t reading_entry(struct reading *reading, size_t index);
void reading_leave(struct reading *reading, size_t before);

/* False, with the path and the sentence. The first one stays. */
bool reading_refuse(struct reading *reading, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- bytes ---- */

json_t *json_base64(struct str bytes);
bool base64_read(struct str text, struct arena *arena, struct str *ret);
json_t *json_goal_id(struct id id);
bool goal_id_read(struct reading *reading, const json_t *value, struct id *ret);

/* RFC 3339; 0 is null, and what has no such form stays a number of microseconds. */
json_t *json_time(int64_t at);

/* ---- the fields of a shape ---- */

enum fields_wanted {
    FIELDS_SHOWN,  /* those that are not hidden */
    FIELDS_HIDDEN, /* the others, where they are not zero */
    FIELDS_SPARSE, /* all that are not zero */
};

/* False: a value has no JSON, or there is no memory. */
bool fields_put(json_t *object, const struct shape *shape, enum fields_wanted wanted,
                const void *from);

/* Members that are there become fields. Wrong types and sizes are refused; other members are left alone. */
bool fields_take(struct reading *reading, const json_t *object, const struct shape *shape,
                 void *ret);
bool field_take(struct reading *reading, const struct field *field, const json_t *value, void *at);

/* Is this member one of the shape's fields? */
bool shape_has(const struct shape *shape, const char *name);

/* Decoded, and encoded again to the very same bytes: so its fields say all of it. */
bool shape_is_whole(const struct shape *shape, struct str body, struct arena *arena, void *ret);

/* ---- cells ---- */

/* Columns in a fixed order, whatever the engine: the key first, then by name. Those in `without` are left out
 * (names between spaces), and those that have nothing in them. */
json_t *row_json(const struct table_row *row, const char *without);

/* A row without columns so far. */
struct table_row row_new(enum store_table table, struct arena *arena);

/* Members as columns, added to the row. */
bool row_take(struct reading *reading, const json_t *object, struct table_row *row);

/* A column, added or replaced. `name` stays where it is. */
void row_set(struct table_row *row, const char *name, struct cell cell);

struct cell cell_of_int(int64_t value);
struct cell cell_of_text(struct str text);
struct cell cell_of_bytes(struct str bytes);
struct cell cell_of_id(struct id id, struct arena *arena);
struct cell cell_of_hash(struct hash hash, struct arena *arena);

/* Same columns with the same cells, in any order; those in `without` may differ. */
bool rows_equal(const struct table_row *a, const struct table_row *b, const char *without);

/* The same table, and the same cells in the columns of its key. */
bool rows_same_key(const struct table_row *a, const struct table_row *b);

/* A copy that stands in the arena, names and all. */
struct table_row *row_copy(const struct table_row *row, struct arena *arena);
