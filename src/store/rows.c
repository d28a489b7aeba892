/* SPDX-License-Identifier: Apache-2.0 */
/* What do both drivers make of the rows they read and write? */
#include "store/rows.h"

/* ---- checks ---- */

static void row_check(uint32_t table, struct id goal, uint32_t n, struct str body,
                      uint8_t check[ROW_CHECK]) {
    uint8_t place[8];
    for (int i = 0; i < 4; i++) {
        place[i] = (uint8_t)(table >> (8 * i));
        place[4 + i] = (uint8_t)(n >> (8 * i));
    }
    struct sha256 sha;
    sha256_begin(&sha);
    sha256_add(&sha, goal.bytes, sizeof goal.bytes);
    sha256_add(&sha, place, sizeof place);
    sha256_add(&sha, body.at, body.len);
    struct hash hash = sha256_end(&sha);
    memcpy(check, hash.bytes, ROW_CHECK);
}

struct str row_seal(uint32_t table, struct id goal, uint32_t n, struct str body,
                    struct arena *arena) {
    char *sealed = arena_take(arena, body.len + ROW_CHECK, 1);
    if (body.len > 0)
        memcpy(sealed, body.at, body.len);
    row_check(table, goal, n, body, (uint8_t *)sealed + body.len);
    return (struct str){sealed, body.len + ROW_CHECK};
}

bool row_unseal(uint32_t table, struct id goal, uint32_t n, struct str *body) {
    uint8_t check[ROW_CHECK];
    if (body->len < ROW_CHECK)
        return false;
    struct str plain = {body->at, body->len - ROW_CHECK};
    row_check(table, goal, n, plain, check);
    if (memcmp(check, body->at + plain.len, ROW_CHECK) != 0)
        return false;
    *body = plain;
    return true;
}

/* ---- goals ---- */

void loaded_hot(struct goal_loaded *loaded, struct str sealed) {
    loaded->exists = true;
    loaded->whole = row_unseal(ROW_GOAL, loaded->goal.id, 0, &sealed) &&
                    shape_decode(&GOAL_HOT, sealed, &loaded->goal);
}

void loaded_effect(struct goal_loaded *loaded, struct effect_slot slot) {
    struct goal *goal = &loaded->goal;
    if (goal->open_count == LIMIT_OPEN_EFFECTS || slot.state >= EFFECT_STATES ||
        slot.kind >= EFFECT_KINDS)
        loaded->whole = false;
    else
        goal->open[goal->open_count++] = slot;
}

/* Room for all nodes that the goal ever made: its own count says how many. */
static void loaded_node(struct goal_loaded *loaded, uint32_t n, struct str body,
                        struct arena *arena) {
    struct plan *plan = &loaded->plan;
    uint32_t room = loaded->goal.nodes_made;
    if (room > LIMIT_NODES || plan->count >= room) {
        loaded->whole = false;
        return;
    }
    if (!plan->nodes)
        plan->nodes = arena_new(arena, struct node, room);
    struct node *node = &plan->nodes[plan->count++];
    node->n = n;
    loaded->whole = loaded->whole && shape_decode(&NODE, body, node);
}

void loaded_part(struct goal_loaded *loaded, enum part_kind kind, uint32_t n, struct str sealed,
                 struct arena *arena) {
    if (!row_unseal(ROW_PART + kind, loaded->goal.id, n, &sealed))
        loaded->whole = false;
    else if (kind == PART_NODE)
        loaded_node(loaded, n, sealed, arena);
}

struct goal_view view_of(const struct goal_commit *commit) {
    const struct goal *goal = &commit->goal;
    return (struct goal_view){.id = goal->id,
                              .status = goal->status,
                              .face = goal_face(goal),
                              .priority = goal->priority,
                              .percent = goal->percent,
                              .created_at = goal->created_at,
                              .updated_at = goal->updated_at,
                              .title = commit->title};
}

struct goal_view view_shown(struct goal_view view) {
    bool wrong = false;
    for (size_t i = 0; i < GOAL_VIEW.count; i++) {
        const struct field *field = &GOAL_VIEW.fields[i];
        uint32_t *value = (uint32_t *)(void *)((char *)&view + field->offset);
        if (field->type != FIELD_ENUM || *value < field->names->count)
            continue;
        *value = 0;
        wrong = true;
    }
    if (wrong)
        view.face = FACE_NEEDS_YOU;
    return view;
}

int64_t id_place(const struct id *ids, uint32_t count, struct id id) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = id_compare(ids[middle], id);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}
