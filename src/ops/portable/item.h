/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads single rows as items of an export. Goals consist of several rows and have files of their own. */
#pragma once

#include "ops/portable/portable.h"

struct item_kind {
    const char *collection;
    bool ours;  /* under "overseer" */
    bool keyed; /* an object by id; otherwise a list */
    enum store_table table;
    enum walk_order order;
    const char *made; /* columns that an import generates: not written, not compared */
    json_t *(*write)(const struct table_row *row,
                     struct arena *arena); /* NULL: the row has no such form */
    bool (*read)(struct reading *reading, const json_t *item, struct table_row *row);
    const char *text; /* description for the documentation */
};

/* All kinds, in the order in which they are written. */
const struct item_kind *item_kinds(size_t *ret_count);
const struct item_kind *item_find(const char *collection, bool ours);

/* Writes the row as JSON, reads it back at once, and adds the raw row if the result differs; `ret_raw` says whether it
 * did. NULL: no memory. */
json_t *item_write(const struct item_kind *kind, const struct table_row *row, struct arena *arena,
                   bool *ret_raw);
bool item_read(const struct item_kind *kind, struct reading *reading, const json_t *item,
               struct table_row *ret_row);

/* Is it the row of a host's admission? An admission is not a goal and appears in no list. */
bool row_is_admission(const struct table_row *row);

/* Raw rows with the name of their table, as items of goals contain them. */
json_t *row_raw(const struct table_row *row);
bool raw_take(struct reading *reading, const json_t *raw, struct table_row *ret_row);
