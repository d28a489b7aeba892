/* SPDX-License-Identifier: Apache-2.0 */
/* What does a goal look like in an export, with its plan and its words? GOAL-05 to GOAL-09, PLAN-01 to PLAN-06. */
#pragma once

#include "ops/portable.h"

/* The rows that one item stands for: goal, goal_view, goal_tag, node, and the texts that these name. */
struct goal_rows {
    struct arena *arena;
    struct table_row **rows;
    uint32_t count, cap;
};

void goal_rows_add(struct goal_rows *rows, const struct table_row *row); /* a copy */
const struct table_row *goal_rows_find(const struct goal_rows *rows, enum store_table table);

/* The goal and its plan, from their rows; those that cannot be read are left out. False: the goal's own row
 * cannot be read. */
bool goal_rows_decode(const struct goal_rows *rows, struct goal *ret_goal, struct plan *ret_plan);

/* Does the item show this text? Only if its hash names it, and its own table says all of it. */
bool goal_shows_text(const struct goal *goal, const struct plan *plan, const struct table_row *text,
                     struct arena *arena);

/* The item: read back at once, with the rows that did not come back the same beside it. `history` is taken
 * over. NULL: no memory. */
json_t *goal_item_write(const struct goal_rows *rows, json_t *history, bool *ret_raw);

bool goal_item_read(struct reading *reading, const json_t *item, struct goal_rows *ret_rows);

/* plan_item.c: the plan alone. */
struct plan_words { /* of one node, where the item has them */
    struct str text, why;
    bool has_text, has_why;
};

json_t *plan_item_write(const struct goal *goal, const struct plan *plan,
                        const struct goal_rows *rows);
bool plan_item_read(struct reading *reading, const json_t *item, struct plan *ret_plan,
                    struct plan_words **ret_words);

/* The body of a text that can be shown as this shape (NULL: as it is). False: it cannot. */
bool text_shown(const struct goal_rows *rows, const struct hash *hash, const struct shape *shape,
                void *ret, struct str *ret_body);
