/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a step stores what it changed, and that a record says so. Runs at the end of every step, in every build.
 *
 * Verdict nothing: the goal and its live rows are unchanged, except for samples, which are dropped here: the
 * observer still has them. Verdict sample: one or more assignments differ in samples, nothing else does, and those rows are
 * stored. Verdict change: each row that differs is stored, and a record of the decision names it.
 *
 * A record names
 *   - the goal, always;
 *   - the node, assignment, question or message whose id is in its evidence;
 *   - the assignment of a node that it names, and the node and the messages of an assignment that it names;
 *   - the assignment that the effect in its evidence is, or was, for;
 *   - the question that the effect in its evidence carries to a person;
 *   - all rows of the kinds that its type covers (COVERS in deciding.c);
 *   - the budgets of an admission: they are sums over what its records say.
 *
 * Samples are the fields of an assignment in SAMPLED: they change often and decide nothing by themselves. */
#include "core/assignment.h"

/* OBSERVED fields come again with the next observation, so they may be dropped; REPORTED ones would be lost. */
enum sample_kind { OBSERVED, REPORTED };

static const struct span {
    size_t at, size;
    enum sample_kind kind;
} SAMPLED[] = {
#define SPAN(kind, member) \
    { offsetof(struct assignment, member), sizeof((struct assignment){0}.member), kind }
    SPAN(OBSERVED, updated_at),           SPAN(OBSERVED, liveness.last_activity_at),
    SPAN(OBSERVED, liveness.fingerprint), SPAN(OBSERVED, liveness.context),
    SPAN(OBSERVED, usage.tokens),         SPAN(OBSERVED, usage.cost),
    SPAN(OBSERVED, usage.run_tokens),     SPAN(OBSERVED, usage.run_cost),
    SPAN(REPORTED, progress.phase),       SPAN(REPORTED, progress.percent),
    SPAN(REPORTED, progress.at),          SPAN(REPORTED, progress.sampled),
#undef SPAN
};

/* ---- the names on the records ---- */

/* True: the id, such as A_12, is that of row n of this kind. */
static bool id_is(struct str id, enum part_kind kind, uint32_t n) {
    char text[16];
    struct str prefix = str_of(PART[kind].prefix);
    size_t at = sizeof text;
    if (id.len <= prefix.len || memcmp(id.at, prefix.at, prefix.len) != 0)
        return false;
    do
        text[--at] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    return str_equal((struct str){id.at + prefix.len, id.len - prefix.len},
                     (struct str){text + at, sizeof text - at});
}

static bool assignment_is_named(const struct deciding *d, const struct record_names *names,
                                const struct assignment *assignment) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    return id_is(names->assignment, PART_ASSIGNMENT, assignment->n) ||
           (names->effect &&
            (names->effect == assignment->delivery.effect || names->effect == assignment->run)) ||
           (node && names->assignment.len == 0 && str_equal(names->node, node_id(node)));
}

/* True: the record names an assignment of this node, or the assignment of this message, before or after the decision. */
static bool names_assignment_of(const struct deciding *d, const struct record_names *names,
                                const struct assignments *assignments, const struct node *node,
                                const struct agent_message *message) {
    for (uint32_t i = 0; i < assignments->count; i++) {
        const struct assignment *assignment = &assignments->at[i];
        bool its = node ? assignment->node == node->n : assignment->n + 1 == message->to;
        if (its && assignment_is_named(d, names, assignment))
            return true;
    }
    return false;
}

static bool belongs_to_named(const struct deciding *d, const struct record_names *names,
                             const struct node *node, const struct agent_message *message) {
    return names_assignment_of(d, names, &d->decision->live.assignments, node, message) ||
           (d->world->live &&
            names_assignment_of(d, names, &d->world->live->assignments, node, message));
}

static bool row_is_named_by(const struct deciding *d, const struct record_names *names,
                            enum part_kind kind, const void *row) {
    const struct agent_message *message = row;
    const struct question *question = row;
    switch (kind) {
    case PART_NODE:
        return str_equal(names->node, node_id(row)) || belongs_to_named(d, names, row, NULL);
    case PART_ASSIGNMENT: return assignment_is_named(d, names, row);
    case PART_QUESTION: return id_is(names->question, kind, question->n);
    case PART_AGENT_MESSAGE:
        return id_is(names->question, kind, message->n) ||
               (message->to && belongs_to_named(d, names, NULL, message));
    default: return false;
    }
}

static bool row_is_named(const struct deciding *d, enum part_kind kind, const void *row) {
    bool named = kind == PART_BUDGET || (d->covered >> kind & 1);
    for (uint32_t i = 0; i < d->named_count && !named; i++)
        named = row_is_named_by(d, &d->named[i], kind, row);
    return named;
}

/* ---- rows before and after ---- */

/* Padding bytes of a struct may differ although no member does. */
static bool row_is_same(const struct deciding *d, const struct shape *shape, const void *a,
                        const void *b) {
    return memcmp(a, b, shape->size) == 0 ||
           str_equal(shape_encode(shape, a, d->out), shape_encode(shape, b, d->out));
}

static bool differs_in(const struct deciding *d, enum part_kind kind, enum sample_kind most,
                       const void *before, const void *after) {
    if (kind != PART_ASSIGNMENT)
        return false;
    struct assignment *sampled = arena_new(d->out, struct assignment, 1);
    memcpy(sampled, before, sizeof *sampled);
    for (uint32_t i = 0; i < count_of(SAMPLED); i++)
        if (SAMPLED[i].kind <= most)
            memcpy((char *)sampled + SAMPLED[i].at, (const char *)after + SAMPLED[i].at,
                   SAMPLED[i].size);
    return row_is_same(d, &ASSIGNMENT, sampled, after);
}

bool assignment_is_sampled(struct deciding *d, const struct assignment *assignment) {
    const struct live *live = d->world->live;
    const struct assignment *before =
        live ? assignments_find(&live->assignments, assignment->n) : NULL;
    return before && differs_in(d, PART_ASSIGNMENT, REPORTED, before, assignment);
}

void assignment_noted(struct deciding *d, uint32_t n, struct str rule) {
    const struct assignment *assignment = assignments_find(&d->decision->live.assignments, n);
    if (!assignment || row_is_named(d, PART_ASSIGNMENT, assignment) ||
        assignment_is_sampled(d, assignment))
        return;
    decide_record(
        d, RECORD_ASSIGNMENT_WAITS,
        assignment_evidence(d, assignment,
                            (struct evidence){.rule = rule, .until = assignment->wait.until}));
}

static uint32_t row_n(const void *row) {
    return *(const uint32_t *)row;
}

struct row_pair { /* NULL: the row did not exist before, or does not exist any more */
    const void *before, *after;
    uint32_t place; /* index of the row afterwards */
};

/* Rows are ordered by n, before and after. */
static bool pair_next(const struct deciding *d, enum part_kind kind, uint32_t *before,
                      uint32_t *after, struct row_pair *ret) {
    static const struct live NONE;
    const struct live *live = d->world->live ? d->world->live : &NONE;
    const struct live_rows *was = live_rows_of(live, kind);
    const struct live_rows *is = live_rows_of(&d->decision->live, kind);
    size_t size = PART[kind].shape->size;
    const char *a = *before < was->count ? (const char *)was->at + size * *before : NULL;
    const char *b = *after < is->count ? (const char *)is->at + size * *after : NULL;
    if (!a && !b)
        return false;
    if (a && b && row_n(a) != row_n(b)) {
        if (row_n(a) < row_n(b))
            b = NULL;
        else
            a = NULL;
    }
    *ret = (struct row_pair){a, b, *after};
    *before += a != NULL;
    *after += b != NULL;
    return true;
}

static void change_check(struct deciding *d, enum part_kind kind, const struct row_pair *pair) {
    bool both = pair->before && pair->after;
    if (both && row_is_same(d, PART[kind].shape, pair->before, pair->after))
        return;
    must(!pair->after || d->touched[kind][pair->place]); /* it is stored */
    must((both && differs_in(d, kind, REPORTED, pair->before, pair->after)) ||
         (pair->before && row_is_named(d, kind, pair->before)) ||
         (pair->after && row_is_named(d, kind, pair->after)));
}

/* Nothing was decided. Only observations are dropped: they come again. */
static void nothing_check(struct deciding *d, enum part_kind kind, const struct row_pair *pair) {
    bool seen = d->signal->kind == SIGNAL_AGENT_SEEN || d->signal->kind == SIGNAL_GOAL_DUE;
    bool stored = d->decision->verdict == VERDICT_SAMPLE;
    must(pair->before && pair->after);
    if (row_is_same(d, PART[kind].shape, pair->before, pair->after))
        return;
    must(stored ? d->touched[kind][pair->place] : seen);
    must(differs_in(d, kind, stored ? REPORTED : OBSERVED, pair->before, pair->after));
}

static void rows_check(struct deciding *d, enum part_kind kind) {
    struct row_pair pair;
    uint32_t before = 0, after = 0;
    while (pair_next(d, kind, &before, &after, &pair))
        if (d->decision->verdict == VERDICT_CHANGE)
            change_check(d, kind, &pair);
        else
            nothing_check(d, kind, &pair);
}

static bool goal_is_same(const struct goal *a, const struct goal *b, struct arena *out) {
    return memcmp(a, b, sizeof *a) == 0 ||
           (id_equal(a->id, b->id) && a->records.seq == b->records.seq &&
            a->version == b->version && a->owner == b->owner && a->fence == b->fence &&
            a->quarantined == b->quarantined &&
            str_equal(shape_encode(&GOAL_HOT, a, out), shape_encode(&GOAL_HOT, b, out)));
}

void step_check(struct deciding *d) {
    struct decision *decision = d->decision;
    static const struct live NONE;
    bool changes = decision->verdict == VERDICT_CHANGE;
    must(changes == (decision->record_count > 0));
    for (uint32_t kind = 0; kind < PARTS; kind++)
        if (PART[kind].live && d->touched[kind])
            rows_check(d, (enum part_kind)kind);
    if (changes)
        return;
    must(decision->effect_count == 0 && decision->text_count == 0 && decision->title.len == 0 &&
         decision->tags == NULL && decision->part_count == 0);
    must(!d->world->goal || goal_is_same(d->world->goal, &decision->goal, d->out));
    if (decision->verdict != VERDICT_NOTHING)
        return;
    decision->live = d->world->live ? *d->world->live : NONE;
}
