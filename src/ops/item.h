/* SPDX-License-Identifier: Apache-2.0 */
/* What does one row look like in an export? Goals have several, and files of their own. */
#pragma once

#include "ops/portable.h"

struct item_kind {
    const char *collection;
    bool ours;  /* it stands under "overseer" */
    bool keyed; /* an object by id; else a list */
    enum store_table table;
    enum walk_order order;
    const char *made; /* columns that an import makes anew: not written, not compared */
    json_t *(*write)(const struct table_row *row,
                     struct arena *arena); /* NULL: it has no such form */
    bool (*read)(struct reading *reading, const json_t *item, struct table_row *row);
    const char *text; /* what it is, for the documentation */
};

extern const struct item_kind ITEMS[];
extern const size_t ITEM_COUNT;

const struct item_kind *item_find(const char *collection, bool ours);

/* The row as JSON: read back at once, and with the raw row beside it if that was not the same. NULL: no
 * memory. `ret_raw` says whether it needed that. */
json_t *item_write(const struct item_kind *kind, const struct table_row *row, struct arena *arena,
                   bool *ret_raw);
bool item_read(const struct item_kind *kind, struct reading *reading, const json_t *item,
               struct table_row *ret_row);

/* Is it the row of a host's desk? Nobody's goal, and in no list. */
bool row_is_desk(const struct table_row *row);

/* Raw rows, with the table's name: what goals have of them. */
json_t *row_raw(const struct table_row *row);
bool raw_take(struct reading *reading, const json_t *raw, struct table_row *ret_row);
