/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads the item of a goal in an export, with its plan and its texts. GOAL-05 to GOAL-09, PLAN-01 to
 * PLAN-06. */
#pragma once

#include "ops/portable/portable.h"

/* The rows that one item represents: goal, goal_view, goal_tag, node, and the texts that these name. */
struct goal_rows {
    struct arena *arena;
    struct table_row **rows;
    uint32_t count, cap;
};

void goal_rows_add(struct goal_rows *rows, const struct table_row *row); /* adds a copy */
const struct table_row *goal_rows_find(const struct goal_rows *rows, enum store_table table);

/* Decodes the goal and its plan from their rows; unreadable nodes are left out. False: the goal's own row is
 * unreadable. */
bool goal_rows_decode(const struct goal_rows *rows, struct goal *ret_goal, struct plan *ret_plan);

/* Does the item show this text? Only if the goal or a node names its hash, and its table of fields represents it
 * completely. */
bool goal_shows_text(const struct goal *goal, const struct plan *plan, const struct table_row *text,
                     struct arena *arena);

/* Writes the item, reads it back at once, and adds the rows that did not come back the same. Takes ownership of
 * `history`. NULL: no memory. */
json_t *goal_item_write(const struct goal_rows *rows, json_t *history, bool *ret_raw);

bool goal_item_read(struct reading *reading, const json_t *item, struct goal_rows *ret_rows);

/* plan_item.c: only the plan. */
struct plan_words { /* texts of one node, where the item has them */
    struct str text, why;
    bool has_text, has_why;
};

json_t *plan_item_write(const struct goal *goal, const struct plan *plan,
                        const struct goal_rows *rows);
bool plan_item_read(struct reading *reading, const json_t *item, struct plan *ret_plan,
                    struct plan_words **ret_words);

/* Finds the body of a text that can be shown as this shape (NULL: as plain text). False: it cannot. */
bool text_shown(const struct goal_rows *rows, const struct hash *hash, const struct shape *shape,
                void *ret, struct str *ret_body);
