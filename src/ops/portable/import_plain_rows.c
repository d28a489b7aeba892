/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the rows of a goal that was built from a plain document. */
#include "ops/portable/import_plain.h"

#include "base/time.h"
#include "store/rows.h"

static struct cell field_cell(const struct field *field, const void *at, struct arena *arena) {
    switch (field->type) {
    case FIELD_ID: return cell_of_id(*(const struct id *)at, arena);
    case FIELD_TEXT: return cell_of_text(*(const struct str *)at);
    case FIELD_INT:
    case FIELD_UINT:
    case FIELD_TIME: return cell_of_int(*(const int64_t *)at);
    default: return cell_of_int(*(const uint32_t *)at);
    }
}

static bool goal_put(struct import *import, struct goal *goal) {
    struct table_row row = row_new(TABLE_GOAL, &import->arena);
    struct str hot = shape_encode(&GOAL_HOT, goal, &import->arena);
    row_set(&row, "goal_id", cell_of_id(goal->id, &import->arena));
    row_set(&row, "owner", cell_of_int(goal->owner));
    row_set(&row, "fence", cell_of_int((int64_t)goal->fence));
    row_set(&row, "version", cell_of_int((int64_t)goal->version));
    row_set(&row, "seq", cell_of_int((int64_t)goal->records.seq));
    row_set(&row, "head", cell_of_hash(goal->records.head, &import->arena));
    row_set(&row, "due_at", cell_of_int(goal->due_at));
    row_set(&row, "open", cell_of_int(goal_is_open(goal)));
    row_set(&row, "aside", cell_of_int(goal->quarantined));
    row_set(&row, "hot", cell_of_bytes(row_seal(ROW_GOAL, goal->id, 0, hot, &import->arena)));
    return import_row(import, &row);
}

static bool view_put(struct import *import, const struct plain_goal *goal) {
    struct goal_commit commit = {.goal = goal->goal, .title = goal->title};
    struct goal_view view = view_of(&commit);
    struct table_row row = row_new(TABLE_GOAL_VIEW, &import->arena);
    for (size_t i = 0; i < GOAL_VIEW.count; i++) {
        const struct field *field = &GOAL_VIEW.fields[i];
        row_set(&row, field->name,
                field_cell(field, (const char *)&view + field->offset, &import->arena));
    }
    if (!import_row(import, &row) || !import_tally(import, goal->goal.owner, view.display_state))
        return false;
    for (uint32_t i = 0; i < goal->tags.count; i++) {
        struct table_row tag = row_new(TABLE_GOAL_TAG, &import->arena);
        row_set(&tag, "tag", cell_of_text(goal->tags.at[i]));
        row_set(&tag, "face", cell_of_int(view.display_state));
        row_set(&tag, "created_at", cell_of_int(view.created_at));
        row_set(&tag, "goal_id", cell_of_id(view.id, &import->arena));
        if (!import_row(import, &tag))
            return false;
    }
    return true;
}

static bool part_put(struct import *import, struct id goal, struct part_change part) {
    struct table_row row = row_new((enum store_table)(TABLE_PART + part.kind), &import->arena);
    struct str body =
        row_seal((uint32_t)ROW_PART + part.kind, goal, part.n, part.body, &import->arena);
    row_set(&row, "goal_id", cell_of_id(goal, &import->arena));
    row_set(&row, "n", cell_of_int(part.n));
    row_set(&row, "name", cell_of_text(part.name));
    row_set(&row, "body", cell_of_bytes(body));
    return import_row(import, &row);
}

static bool parts_put(struct import *import, const struct plain_goal *goal) {
    for (uint32_t i = 0; i < goal->plan.count; i++) {
        const struct node *node = &goal->plan.nodes[i];
        struct part_change part = {.kind = PART_NODE,
                                   .n = node->n,
                                   .name = node_id(node),
                                   .body = shape_encode(&NODE, node, &import->arena)};
        if (!part_put(import, goal->goal.id, part))
            return false;
    }
    for (uint32_t i = 0; i < goal->part_count; i++)
        if (!part_put(import, goal->goal.id, goal->parts[i]))
            return false;
    return true;
}

static bool texts_put(struct import *import, const struct plain_goal *goal) {
    for (uint32_t i = 0; i < goal->text_count; i++) {
        struct table_row row = row_new(TABLE_TEXT, &import->arena);
        row_set(&row, "goal_id", cell_of_id(goal->goal.id, &import->arena));
        row_set(&row, "hash", cell_of_hash(goal->texts[i].hash, &import->arena));
        row_set(&row, "body", cell_of_bytes(goal->texts[i].body));
        if (!import_row(import, &row))
            return false;
    }
    return true;
}

static bool records_put(struct import *import, const struct plain_goal *goal) {
    for (uint32_t i = 0; i < goal->record_count; i++) {
        const struct record *record = &goal->records[i];
        struct table_row row = row_new(TABLE_RECORD, &import->arena);
        row_set(&row, "day", cell_of_int(time_day(record->at)));
        row_set(&row, "tx", cell_of_int((int64_t)++import->tx));
        row_set(&row, "n", cell_of_int(0));
        row_set(&row, "goal_id", cell_of_id(goal->goal.id, &import->arena));
        row_set(&row, "seq", cell_of_int((int64_t)record->seq));
        row_set(&row, "at", cell_of_int(record->at));
        row_set(&row, "type", cell_of_int(record->type));
        row_set(&row, "core", cell_of_int(record->core));
        row_set(&row, "policy", cell_of_hash(record->policy, &import->arena));
        row_set(&row, "hash", cell_of_hash(record->hash, &import->arena));
        row_set(&row, "body", cell_of_bytes(record->body));
        import->report.events++;
        if (!import_row(import, &row))
            return false;
    }
    return true;
}

bool plain_finish(struct import *import) {
    for (uint32_t i = 0; i < import->plain->count; i++) {
        struct plain_goal *goal = import->plain->goals[i];
        goal->goal.shown = goal_display_state(&goal->goal) + 1;
        must(goal_broken(&goal->goal) == NULL && plan_broken(&goal->plan, &goal->goal) == NULL);
        if (!goal_put(import, &goal->goal) || !view_put(import, goal) || !parts_put(import, goal) ||
            !texts_put(import, goal) || !records_put(import, goal))
            return false;
        arena_reset(&import->arena);
    }
    return true;
}
