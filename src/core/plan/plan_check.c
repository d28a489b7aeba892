/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a plan that is handed in. PLAN-24, PLAN-03, PLAN-04: an error names the node and the field. */
#include "core/plan/node.h"

static bool node_id_is_plain(struct str id) {
    for (size_t i = 0; i < id.len; i++) {
        char c = id.at[i];
        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
              c == '.' || c == '_' || c == '-'))
            return false;
    }
    return id.len > 0 && id.len <= LIMIT_NODE_ID;
}

/* The rows, with an index by id: open addressing, at most half full. */
struct checking {
    const struct deciding *d;
    const struct plan_row *rows;
    uint32_t count;
    struct arena *out;
    uint16_t *slots; /* index of a row + 1; 0: free */
    uint32_t *below; /* number of children, by index of the row */
};

enum { SLOTS = 2 * LIMIT_NODES };

static uint32_t slot_of(struct str id) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < id.len; i++)
        hash = (hash ^ (uint8_t)id.at[i]) * 16777619u;
    return hash % SLOTS;
}

/* The first row with this id; NULL: none. */
static const struct plan_row *row_named(const struct checking *c, struct str id) {
    for (uint32_t slot = slot_of(id); c->slots[slot]; slot = (slot + 1) % SLOTS)
        if (str_equal(c->rows[c->slots[slot] - 1].id, id))
            return &c->rows[c->slots[slot] - 1];
    return NULL;
}

static void rows_index(struct checking *c) {
    c->slots = arena_new(c->out, uint16_t, SLOTS);
    c->below = arena_new(c->out, uint32_t, c->count);
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t slot = slot_of(c->rows[i].id);
        if (row_named(c, c->rows[i].id))
            continue;
        while (c->slots[slot])
            slot = (slot + 1) % SLOTS;
        c->slots[slot] = (uint16_t)(i + 1);
    }
    for (uint32_t i = 0; i < c->count; i++) {
        const struct plan_row *parent = row_named(c, c->rows[i].parent);
        if (parent)
            c->below[parent - c->rows]++;
    }
}

static struct str wrong(const struct checking *c, const struct plan_row *row, const char *what) {
    return arena_format(c->out, "node %.*s: %s", STR_ARG(row->id), what);
}

/* ---- one row ---- */

static struct str row_words(const struct checking *c, const struct plan_row *row) {
    uint32_t entry;
    const struct field *field = fields_broken(PLAN_ROW.fields, PLAN_ROW.count, row, &entry);
    if (!field)
        return (struct str){0};
    if (entry > 0)
        return arena_format(c->out, "node %.*s: entry %u of %s is empty or too long",
                            STR_ARG(row->id), entry, field->name);
    return arena_format(c->out, "node %.*s: %s is missing, too long or not text (%s)",
                        STR_ARG(row->id), field->name, field->text);
}

/* VERIFY-03: an artifact that cannot be a file is refused before an agent works on it. */
static struct str row_artifacts(const struct checking *c, const struct plan_row *row) {
    const struct artifact *artifacts = row->text.artifacts.at;
    for (uint32_t i = 0; i < row->text.artifacts.count; i++) {
        const char *broken = artifact_broken(&artifacts[i]);
        if (broken)
            return wrong(c, row, broken);
    }
    return (struct str){0};
}

/* G-16: no open node may be below a cancelled one. */
static bool cancelled_above(const struct checking *c, const struct plan_row *row) {
    for (uint32_t tier = 0; tier < TIERS && row && row->parent.len > 0; tier++) {
        const struct node *above = plan_find(&c->d->decision->plan, row->parent);
        if (above && above->status == NODE_CANCELLED)
            return true;
        row = row_named(c, row->parent);
    }
    return false;
}

static struct str row_place(const struct checking *c, const struct plan_row *row) {
    const struct plan_row *parent = row->parent.len > 0 ? row_named(c, row->parent) : NULL;
    const struct node *known = plan_find(&c->d->decision->plan, row->id);
    if (row->tier == TIER_PHASE && row->parent.len > 0)
        return wrong(c, row, "a phase must not have a parentId");
    if (row->tier != TIER_PHASE && !parent)
        return wrong(c, row, "its parentId is not a node of this plan");
    if (parent && parent->tier + 1 != row->tier)
        return wrong(c, row, "the parent of a task must be a phase, that of a subtask a task");
    if (known && known->retired)
        return wrong(c, row, "this id belonged to a node that left the plan and cannot be reused");
    if (known && known->tier != row->tier)
        return wrong(c, row, "the tier of a node cannot change");
    if (!(known && node_is_over(known)) && cancelled_above(c, row))
        return wrong(c, row, "a node above it is cancelled");
    return (struct str){0};
}

static struct str row_links(const struct checking *c, const struct plan_row *row) {
    for (uint32_t i = 0; i < row->depends_on.count; i++) {
        struct str on = row->depends_on.at[i];
        if (str_equal(on, row->id))
            return wrong(c, row, "it depends on itself");
        if (!row_named(c, on))
            return arena_format(c->out, "node %.*s: it depends on %.*s, which is not in this plan",
                                STR_ARG(row->id), STR_ARG(str_cut_utf8(on, LIMIT_NODE_ID)));
    }
    return (struct str){0};
}

static struct str row_id(const struct checking *c, const struct plan_row *row) {
    if (!node_id_is_plain(row->id))
        return arena_format(
            c->out,
            "\"%.*s\" is not an id: letters, digits, dots, dashes and underscores, at most %d",
            STR_ARG(str_cut_utf8(row->id, LIMIT_NODE_ID)), LIMIT_NODE_ID);
    if (row_named(c, row->id) != row)
        return wrong(c, row, "another node has the same id");
    return (struct str){0};
}

/* ---- number of nodes ---- */

struct bounds {
    uint32_t phases, tasks, subtasks;
};

/* C-11: the planner's limits apply to plans that it makes; plans changed by hand have wider ones. */
static struct str counts(const struct checking *c, bool planned) {
    struct bounds most =
        planned ? (struct bounds){LIMIT_PLANNED_PHASES, LIMIT_PLANNED_TASKS, LIMIT_PLANNED_SUBTASKS}
                : (struct bounds){LIMIT_PHASES, LIMIT_TASKS, LIMIT_SUBTASKS};
    uint32_t fresh = 0, phases = 0;
    for (uint32_t i = 0; i < c->count; i++)
        phases += c->rows[i].tier == TIER_PHASE;
    if (phases > most.phases)
        return arena_format(c->out, "there are more than %u phases", most.phases);
    for (uint32_t i = 0; i < c->count; i++) {
        const struct plan_row *row = &c->rows[i];
        uint32_t cap = row->tier == TIER_PHASE ? most.tasks : most.subtasks;
        fresh += !plan_find(&c->d->decision->plan, row->id);
        if (c->below[i] > cap)
            return arena_format(c->out, "node %.*s: it has more than %u children", STR_ARG(row->id),
                                cap);
    }
    if (c->d->decision->goal.plan.nodes_made + fresh > LIMIT_NODES)
        return arena_format(c->out, "a goal may have at most %d nodes over its lifetime",
                            LIMIT_NODES);
    return (struct str){0};
}

struct str plan_check(const struct deciding *d, const struct plan_text *text, bool planned) {
    static struct str (*const CHECKS[])(const struct checking *, const struct plan_row *) = {
        row_id, row_words, row_artifacts, row_place, row_links};
    struct checking c = {.d = d, .rows = text->rows.at, .count = text->rows.count, .out = d->out};
    if (c.count == 0)
        return STR("the plan has no nodes");
    if (c.count > LIMIT_NODES)
        return STR("the plan has too many nodes");
    rows_index(&c);
    for (size_t check = 0; check < count_of(CHECKS); check++)
        for (uint32_t i = 0; i < c.count; i++) {
            struct str why = CHECKS[check](&c, &c.rows[i]);
            if (why.len > 0)
                return why;
        }
    return counts(&c, planned);
}
