/* SPDX-License-Identifier: Apache-2.0 */
/* Writes rows as JSON and reads them back without loss. C-02, C-58.
 *
 * Cells are written by the kind of their column, encoded bodies by the table of their shape. The writer of an item
 * reads it back at once and compares: what did not come back the same is added raw, so that data which this build does
 * not understand is not lost. */
#pragma once

#include "ops/json.h"
#include "store/dump.h"

/* ---- reading: position and errors ---- */

struct reading {
    struct arena *arena;
    bool plain; /* times are in milliseconds, as in the seed's format; otherwise microseconds */
    char path[256];
    char why[LIMIT_WHY]; /* "": nothing is wrong */
};

/* Enters the member that is read now; pass the result to reading_leave(). */
size_t reading_enter(struct reading *reading, const char *name);
size_t reading_entry(struct reading *reading, size_t index);
void reading_leave(struct reading *reading, size_t before);

/* Returns false and keeps the path and the sentence. Only the first refusal is kept. */
bool reading_refuse(struct reading *reading, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- bytes ---- */

json_t *json_base64(struct str bytes);
bool base64_read(struct str text, struct arena *arena, struct str *ret);
json_t *json_goal_id(struct id id);
bool goal_id_read(struct reading *reading, const json_t *value, struct id *ret);

/* RFC 3339; 0 is null, and a time that has no such form stays a number of microseconds. */
json_t *json_time(int64_t at);

/* ---- the fields of a shape ---- */

enum fields_wanted {
    FIELDS_SHOWN,  /* fields that are not hidden */
    FIELDS_HIDDEN, /* hidden fields that are not zero */
    FIELDS_SPARSE, /* all fields that are not zero */
};

/* False: a value has no JSON form, or no memory. */
bool fields_put(json_t *object, const struct shape *shape, enum fields_wanted wanted,
                const void *from);

/* Reads the members that are present into fields. Wrong types and sizes are refused; other members are ignored. */
bool fields_take(struct reading *reading, const json_t *object, const struct shape *shape,
                 void *ret);
bool field_take(struct reading *reading, const struct field *field, const json_t *value, void *at);

/* Is this member one of the shape's fields? */
bool shape_has(const struct shape *shape, const char *name);

/* Does the body decode, and encode again to exactly the same bytes? Then its fields represent all of it. */
bool shape_is_whole(const struct shape *shape, struct str body, struct arena *arena, void *ret);

/* ---- cells ---- */

/* Columns in a fixed order, whatever the engine: the key first, then by name. Left out are the columns in `without`
 * (names separated by spaces) and NULL cells. */
json_t *row_json(const struct table_row *row, const char *without);

/* A row without columns. */
struct table_row row_new(enum store_table table, struct arena *arena);

/* Adds the members to the row as columns. */
bool row_take(struct reading *reading, const json_t *object, struct table_row *row);

/* Adds or replaces a column. `name` is not copied. */
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

/* A copy in the arena, including the names. */
struct table_row *row_copy(const struct table_row *row, struct arena *arena);
