/* SPDX-License-Identifier: Apache-2.0 */
/* How do single rows of the store look, and what of them has changed? Nodes and dispatches, field by field. */
#include "story.h"

static const struct node *node_look(struct story *story, char **said, struct seen *seen) {
    if (!look(story, said[1], seen))
        return NULL;
    const struct node *node = plan_find(&seen->plan, str_of(said[0]));
    if (!node) {
        fails(story, "%s has no node %s", said[1], said[0]);
        look_away(seen);
    }
    return node;
}

static void s_kept(struct story *story, char **said) {
    struct seen seen;
    const struct node *node = node_look(story, said, &seen);
    if (!node)
        return;
    story->kept = *node;
    look_away(&seen);
}

/* The names of its fields that are not what they were, in the order of the row. */
static void e_changed(struct story *story, char **said) {
    struct seen seen;
    const struct node *node = node_look(story, said, &seen);
    char names[512] = "";
    if (!node)
        return;
    for (size_t i = 0; i < NODE.count; i++) {
        const struct field *field = &NODE.fields[i];
        size_t length = strlen(names);
        if (!str_equal(field_told(field, node, &seen.arena),
                       field_told(field, &story->kept, &seen.arena)))
            snprintf(names + length, sizeof names - length, "%s%s", length ? " " : "", field->name);
    }
    if (strcmp(names, said[2]) != 0)
        fails(story, "%s has changed in \"%s\"", said[0], names);
    look_away(&seen);
}

/* PROGRESS-04: what grows is kept elsewhere. */
static void e_small(struct story *story, char **said) {
    struct seen seen;
    if (!look(story, story->goals[0].name, &seen))
        return;
    const struct node *node = plan_find(&seen.plan, str_of(said[0]));
    const struct charge *charge = node ? charges_of_node(&seen.live.charges, node->n) : NULL;
    struct str row = charge ? shape_encode(&CHARGE, charge, &seen.arena) : STR("");
    if (row.len == 0 || row.len > number_of(story, said[1]))
        fails(story, "the assignment of %s has %zu bytes", said[0], row.len);
    look_away(&seen);
}

/* ASSIGN-12: each as "mode result", in the order in which they were written. */
static void e_dispatches(struct story *story, char **said) {
    struct seen seen;
    char told[512] = "";
    if (!look(story, said[0], &seen))
        return;
    uint32_t from, to = DUMP_RANGE(seen.dump.parts, seen.dump.part_count, seen.goal->id, &from);
    for (uint32_t i = from; i < to; i++) {
        const struct dump_part *part = &seen.dump.parts[i];
        struct str body = part->body;
        struct dispatch row;
        size_t length = strlen(told);
        if (part->kind != PART_DISPATCH)
            continue;
        must(row_unseal(ROW_PART + PART_DISPATCH, part->goal, part->n, &body));
        must(shape_decode_in(&DISPATCH, body, &seen.arena, &row));
        snprintf(told + length, sizeof told - length, "%s%.*s %.*s", length ? ", " : "",
                 STR_ARG(row.mode), STR_ARG(row.result));
    }
    if (strcmp(told, said[1]) != 0)
        fails(story, "the dispatches of %s are \"%s\"", said[0], told);
    look_away(&seen);
}

static const struct sentence_row ROWS[] = {
    {"the row of $ of $ is kept", s_kept, SENTENCE_HAPPENS},
    {"expect the row of $ of $ has changed in $", e_changed, SENTENCE_LOOKS},
    {"expect the assignment of $ has at most $ bytes", e_small, SENTENCE_LOOKS},
    {"expect the dispatches of $ to be $", e_dispatches, SENTENCE_LOOKS},
};
const struct sentences STORY_ROWS = {ROWS, count_of(ROWS)};
