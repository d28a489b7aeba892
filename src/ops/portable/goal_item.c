/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/portable/goal_item.h"

#include "ops/portable/item.h"
#include "store/rows.h"

#include <stdio.h>

/* ---- rows of a goal ---- */

void goal_rows_add(struct goal_rows *rows, const struct table_row *row) {
    if (rows->count == rows->cap) {
        rows->cap = rows->cap * 2 + 16;
        struct table_row **grown = arena_new(rows->arena, struct table_row *, rows->cap);
        if (rows->count > 0)
            memcpy(grown, rows->rows, rows->count * sizeof *grown);
        rows->rows = grown;
    }
    rows->rows[rows->count++] = row_copy(row, rows->arena);
}

const struct table_row *goal_rows_find(const struct goal_rows *rows, enum store_table table) {
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->rows[i]->table == table)
            return rows->rows[i];
    return NULL;
}

static struct table_row **rows_match(const struct goal_rows *rows, const struct table_row *row) {
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows_same_key(rows->rows[i], row))
            return &rows->rows[i];
    return NULL;
}

static void rows_put(struct goal_rows *rows, const struct table_row *row) {
    struct table_row **there = rows_match(rows, row);
    if (there)
        *there = row_copy(row, rows->arena);
    else
        goal_rows_add(rows, row);
}

static void rows_remove(struct goal_rows *rows, const struct table_row *row) {
    struct table_row **there = rows_match(rows, row);
    if (there)
        *there = rows->rows[--rows->count];
}

static bool node_decode(const struct table_row *row, struct id goal, struct node *ret,
                        struct arena *arena) {
    struct str body = cell_str(row, "body");
    int64_t n = cell_int(row, "n");
    *ret = (struct node){.n = (uint32_t)n};
    return n >= 0 && n < LIMIT_NODES &&
           row_unseal((uint32_t)ROW_PART + PART_NODE, goal, (uint32_t)n, &body) &&
           shape_is_whole(&NODE, body, arena, ret);
}

bool goal_rows_decode(const struct goal_rows *rows, struct goal *ret_goal, struct plan *ret_plan) {
    const struct table_row *row = goal_rows_find(rows, TABLE_GOAL);
    struct id id = row ? cell_id(row, "goal_id") : (struct id){0};
    struct str hot = row ? cell_str(row, "hot") : (struct str){0};
    *ret_goal = (struct goal){.id = id};
    *ret_plan = (struct plan){.nodes = arena_new(rows->arena, struct node, rows->count)};
    if (!row || !row_unseal(ROW_GOAL, id, 0, &hot) ||
        !shape_is_whole(&GOAL_HOT, hot, rows->arena, ret_goal))
        return false;
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->rows[i]->table == TABLE_PART + PART_NODE &&
            node_decode(rows->rows[i], id, &ret_plan->nodes[ret_plan->count], rows->arena))
            ret_plan->count++;
    return true;
}

/* ---- texts of a goal ---- */

static bool body_is_shown(const struct shape *shape, struct str body, struct arena *arena,
                          void *ret) {
    return shape ? shape_is_whole(shape, body, arena, ret) : body.len > 0 && str_is_text(body);
}

bool text_shown(const struct goal_rows *rows, const struct hash *hash, const struct shape *shape,
                void *ret, struct str *ret_body) {
    for (uint32_t i = 0; i < rows->count && !hash_is_zero(hash); i++) {
        const struct table_row *row = rows->rows[i];
        struct hash named = cell_hash(row, "hash");
        if (row->table != TABLE_TEXT || !hash_equal(&named, hash))
            continue;
        *ret_body = cell_str(row, "body");
        struct hash real = sha256(*ret_body);
        return hash_equal(&real, hash) && body_is_shown(shape, *ret_body, rows->arena, ret);
    }
    return false;
}

bool goal_shows_text(const struct goal *goal, const struct plan *plan, const struct table_row *text,
                     struct arena *arena) {
    struct hash hash = cell_hash(text, "hash");
    struct str body = cell_str(text, "body");
    struct hash real = sha256(body);
    struct node_text *words = arena_new(arena, struct node_text, 1);
    if (hash_is_zero(&hash) || !hash_equal(&real, &hash))
        return false;
    if (hash_equal(&goal->text, &hash) &&
        body_is_shown(&GOAL_TEXT, body, arena, arena_new(arena, struct goal_text, 1)))
        return true;
    for (uint32_t i = 0; i < plan->count; i++) {
        if (hash_equal(&plan->nodes[i].text, &hash) &&
            body_is_shown(&NODE_TEXT, body, arena, words))
            return true;
        if (hash_equal(&plan->nodes[i].why, &hash) && body_is_shown(NULL, body, arena, NULL))
            return true;
    }
    return false;
}

/* ---- writing ---- */

static json_t *tags_json(const struct goal_rows *rows) {
    json_t *tags = json_array();
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->rows[i]->table == TABLE_GOAL_TAG) {
            struct str tag = cell_str(rows->rows[i], "tag");
            json_array_append_new(tags, json_stringn(tag.at ? tag.at : "", tag.len));
        }
    return tags;
}

static json_t *ours_json(const struct goal_rows *rows, const struct goal *goal) {
    const struct table_row *row = goal_rows_find(rows, TABLE_GOAL),
                           *view = goal_rows_find(rows, TABLE_GOAL_VIEW);
    json_t *ours = json_object(), *hot = json_object();
    json_object_set_new(ours, "row", row_json(row, "goal_id hot"));
    fields_put(hot, &GOAL_HOT, FIELDS_HIDDEN, goal);
    json_object_set_new(ours, "hot", hot);
    if (view)
        json_object_set_new(ours, "view", row_json(view, "goal_id title"));
    return ours;
}

static void words_put(json_t *item, const struct goal *goal, const struct goal_rows *rows) {
    struct goal_text *words = arena_new(rows->arena, struct goal_text, 1);
    struct str body;
    if (text_shown(rows, &goal->text, &GOAL_TEXT, words, &body))
        fields_put(item, &GOAL_TEXT, FIELDS_SHOWN, words);
}

static json_t *item_of(const struct goal_rows *rows, json_t *history) {
    struct goal *goal = arena_new(rows->arena, struct goal, 1);
    struct plan plan;
    const struct table_row *view = goal_rows_find(rows, TABLE_GOAL_VIEW);
    struct str title = view ? cell_str(view, "title") : (struct str){0};
    json_t *item = json_object();
    bool known = goal_rows_decode(rows, goal, &plan);
    json_object_set_new(item, "goalId", json_goal_id(goal->id));
    json_object_set_new(item, "title", json_stringn(title.at ? title.at : "", title.len));
    if (known) {
        fields_put(item, &GOAL_HOT, FIELDS_SHOWN, goal);
        json_object_set_new(item, "tags", tags_json(rows));
        words_put(item, goal, rows);
        if (goal->plan.version > 0)
            json_object_set_new(item, "plan", plan_item_write(goal, &plan, rows));
        json_object_set_new(item, "planRevisionHistory", history);
    } else
        json_decref(history);
    json_object_set_new(item, "overseer", known ? ours_json(rows, goal) : json_object());
    return item;
}

/* Lists the rows of one set that the other does not have in the same form. False: no memory. */
static bool raws_list(json_t *list, const struct goal_rows *of, const struct goal_rows *other,
                      bool any_cells) {
    for (uint32_t i = 0; i < of->count; i++) {
        struct table_row **there = rows_match(other, of->rows[i]);
        if (there && (any_cells || rows_equal(*there, of->rows[i], "")))
            continue;
        if (json_array_append_new(list, row_raw(of->rows[i])))
            return false;
    }
    return true;
}

/* Rows that the item does not reproduce are added as "raw"; rows that it produces but that do not exist are listed
 * under "gone", for removal. */
static bool raw_add(json_t *item, const struct goal_rows *rows, const struct goal_rows *back,
                    bool *ret_raw) {
    json_t *raw = json_array(), *gone = json_array(), *ours = json_object_get(item, "overseer");
    bool good = raws_list(raw, rows, back, false) && raws_list(gone, back, rows, true);
    *ret_raw = json_array_size(raw) + json_array_size(gone) > 0;
    if (json_array_size(raw) > 0)
        good = good && json_object_set(ours, "raw", raw) == 0;
    if (json_array_size(gone) > 0)
        good = good && json_object_set(ours, "gone", gone) == 0;
    json_decref(raw);
    json_decref(gone);
    return good;
}

json_t *goal_item_write(const struct goal_rows *rows, json_t *history, bool *ret_raw) {
    struct reading reading = {.arena = rows->arena};
    struct goal_rows back = {.arena = rows->arena};
    json_t *item = item_of(rows, history);
    if (!goal_item_read(&reading, item, &back))
        back.count = 0;
    bool good = raw_add(item, rows, &back, ret_raw);
    if (back.count == 0)
        json_object_set_new(json_object_get(item, "overseer"), "whole", json_false());
    if (good)
        return item;
    json_decref(item);
    return NULL;
}

/* ---- reading ---- */

static bool text_put(struct goal_rows *rows, struct id goal, struct str body, struct hash named,
                     struct reading *reading) {
    struct table_row row = row_new(TABLE_TEXT, reading->arena);
    struct hash hash = sha256(body);
    if (!hash_equal(&hash, &named))
        return reading_refuse(reading, "its text does not match its hash");
    row_set(&row, "goal_id", cell_of_id(goal, reading->arena));
    row_set(&row, "hash", cell_of_hash(hash, reading->arena));
    row_set(&row, "body", cell_of_bytes(body));
    rows_put(rows, &row);
    return true;
}

static bool words_take(struct reading *reading, const json_t *item, const struct goal *goal,
                       struct goal_rows *rows) {
    struct goal_text *words = arena_new(reading->arena, struct goal_text, 1);
    if (!json_object_get(item, GOAL_TEXT.fields[0].name))
        return true;
    return fields_take(reading, item, &GOAL_TEXT, words) &&
           text_put(rows, goal->id, shape_encode(&GOAL_TEXT, words, reading->arena), goal->text,
                    reading);
}

static bool view_take(struct reading *reading, const json_t *item, const json_t *ours,
                      struct id goal, struct table_row *view) {
    static const struct field TITLE = {.type = FIELD_TEXT, .cap = LIMIT_TITLE};
    struct str title = {"", 0};
    *view = row_new(TABLE_GOAL_VIEW, reading->arena);
    size_t before = reading_enter(reading, "title");
    const json_t *value = json_object_get(item, "title");
    if (!value || !field_take(reading, &TITLE, value, &title))
        return reading_refuse(reading, "it is missing");
    reading_leave(reading, before);
    row_set(view, "goal_id", cell_of_id(goal, reading->arena));
    row_set(view, "title", cell_of_text(title));
    before = reading_enter(reading, "overseer.view");
    if (!row_take(reading, json_object_get(ours, "view"), view))
        return false;
    reading_leave(reading, before);
    return true;
}

static bool tags_take(struct reading *reading, const json_t *item, const struct table_row *view,
                      struct goal_rows *rows) {
    static const struct field TAG_LIST = {
        .type = FIELD_TEXTS, .cap = LIMIT_TAG, .most = LIMIT_TAGS};
    struct texts tags = {0};
    size_t before = reading_enter(reading, "tags");
    const json_t *list = json_object_get(item, "tags");
    if (list && !field_take(reading, &TAG_LIST, list, &tags))
        return false;
    reading_leave(reading, before);
    for (uint32_t i = 0; i < tags.count; i++) {
        struct table_row row = row_new(TABLE_GOAL_TAG, reading->arena);
        row_set(&row, "tag", cell_of_text(tags.at[i]));
        row_set(&row, "face", row_cell(view, "face"));
        row_set(&row, "created_at", row_cell(view, "created_at"));
        row_set(&row, "goal_id", row_cell(view, "goal_id"));
        if (rows_match(rows, &row))
            return reading_refuse(reading, "the tag \"%.*s\" occurs twice", STR_ARG(tags.at[i]));
        goal_rows_add(rows, &row);
    }
    return true;
}

static bool plan_take(struct reading *reading, const json_t *item, struct id goal,
                      struct plan *plan, struct goal_rows *rows) {
    struct plan_words *words;
    const json_t *value = json_object_get(item, "plan");
    *plan = (struct plan){0};
    if (!value)
        return true;
    size_t before = reading_enter(reading, "plan");
    if (!plan_item_read(reading, value, plan, &words))
        return false;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct node *node = &plan->nodes[i];
        struct table_row row = row_new((enum store_table)(TABLE_PART + PART_NODE), reading->arena);
        struct str body = row_seal((uint32_t)ROW_PART + PART_NODE, goal, node->n,
                                   shape_encode(&NODE, node, reading->arena), reading->arena);
        row_set(&row, "goal_id", cell_of_id(goal, reading->arena));
        row_set(&row, "n", cell_of_int(node->n));
        row_set(&row, "name", cell_of_text(node_id(node)));
        row_set(&row, "body", cell_of_bytes(body));
        goal_rows_add(rows, &row);
        if ((words[i].has_text && !text_put(rows, goal, words[i].text, node->text, reading)) ||
            (words[i].has_why && !text_put(rows, goal, words[i].why, node->why, reading)))
            return false;
    }
    reading_leave(reading, before);
    return true;
}

static bool row_of_goal(struct reading *reading, const json_t *ours, const struct goal *goal,
                        struct table_row *row) {
    *row = row_new(TABLE_GOAL, reading->arena);
    size_t before = reading_enter(reading, "overseer.row");
    if (!row_take(reading, json_object_get(ours, "row"), row))
        return false;
    reading_leave(reading, before);
    struct str hot = shape_encode(&GOAL_HOT, goal, reading->arena);
    row_set(row, "goal_id", cell_of_id(goal->id, reading->arena));
    row_set(row, "hot", cell_of_bytes(row_seal(ROW_GOAL, goal->id, 0, hot, reading->arena)));
    return true;
}

/* Checks a goal as far as possible without its effects. A quarantined goal may be broken: that is why it was
 * quarantined. */
static bool goal_check(struct reading *reading, struct goal *goal, const struct plan *plan,
                       const struct table_row *row) {
    goal->version = (uint64_t)cell_int(row, "version");
    goal->records.seq = (uint64_t)cell_int(row, "seq");
    goal->due_at = 0;
    if (cell_int(row, "aside") || id_equal(goal->id, SYSTEM_GOAL))
        return true;
    const char *broken = goal_broken(goal);
    if (!broken)
        broken = plan_broken(plan, goal);
    return !broken || reading_refuse(reading, "%s", broken);
}

static bool goal_fields_read(struct reading *reading, const json_t *item, const json_t *ours,
                             struct goal *goal, struct goal_rows *rows) {
    struct table_row row, view;
    struct plan plan;
    if (!fields_take(reading, item, &GOAL_HOT, goal))
        return false;
    size_t before = reading_enter(reading, "overseer.hot");
    if (!fields_take(reading, json_object_get(ours, "hot"), &GOAL_HOT, goal))
        return false;
    reading_leave(reading, before);
    if (!row_of_goal(reading, ours, goal, &row) || !view_take(reading, item, ours, goal->id, &view))
        return false;
    goal_rows_add(rows, &row);
    goal_rows_add(rows, &view);
    return tags_take(reading, item, &view, rows) && words_take(reading, item, goal, rows) &&
           plan_take(reading, item, goal->id, &plan, rows) &&
           goal_check(reading, goal, &plan, &row);
}

/* ---- raw rows ---- */

static bool raw_is_ours(const struct table_row *row, struct id goal) {
    struct id of = cell_id(row, "goal_id");
    bool table = row->table == TABLE_GOAL || row->table == TABLE_GOAL_VIEW ||
                 row->table == TABLE_GOAL_TAG || row->table == TABLE_TEXT ||
                 row->table == TABLE_PART + PART_NODE;
    return table && id_equal(of, goal);
}

static bool raws_take(struct reading *reading, const json_t *ours, const char *name, struct id goal,
                      struct goal_rows *rows) {
    const json_t *list = json_object_get(ours, name);
    size_t before = reading_enter(reading, "overseer"), inside = reading_enter(reading, name);
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct table_row row;
        size_t entry = reading_entry(reading, i);
        if (!raw_take(reading, json_array_get(list, i), &row))
            return false;
        if (!raw_is_ours(&row, goal))
            return reading_refuse(reading, "it is a row of another table");
        if (strcmp(name, "gone") == 0)
            rows_remove(rows, &row);
        else
            rows_put(rows, &row);
        reading_leave(reading, entry);
    }
    reading_leave(reading, inside);
    reading_leave(reading, before);
    return true;
}

bool goal_item_read(struct reading *reading, const json_t *item, struct goal_rows *ret_rows) {
    struct goal *goal = arena_new(reading->arena, struct goal, 1);
    const json_t *ours = json_object_get(item, "overseer");
    if (!json_is_object(item) || !json_is_object(ours))
        return reading_refuse(reading, "it must be an object with the member \"overseer\"");
    size_t before = reading_enter(reading, "goalId");
    if (!goal_id_read(reading, json_object_get(item, "goalId"), &goal->id))
        return false;
    reading_leave(reading, before);
    bool whole = !json_is_false(json_object_get(ours, "whole"));
    return (!whole || goal_fields_read(reading, item, ours, goal, ret_rows)) &&
           raws_take(reading, ours, "raw", goal->id, ret_rows) &&
           raws_take(reading, ours, "gone", goal->id, ret_rows);
}
