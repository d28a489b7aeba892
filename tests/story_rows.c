/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about single rows of the store and what has changed in them: nodes and dispatches, field by field. */
#include "story.h"

static const struct node *node_look(struct story *story, char **args, struct seen *seen) {
    if (!look(story, args[1], seen))
        return NULL;
    const struct node *node = plan_find(&seen->plan, str_of(args[0]));
    if (!node) {
        fails(story, "%s has no node %s", args[1], args[0]);
        look_away(seen);
    }
    return node;
}

/* A field that is not stored is taken by its value. */
static struct hash field_hash(const struct field *field, const struct node *node,
                              struct arena *arena) {
    struct shape alone = NODE;
    alone.fields = field;
    alone.count = 1;
    return sha256(field->number ? shape_encode(&alone, node, arena)
                                : field_text(field, node, arena));
}

static void s_kept(struct story *story, char **args) {
    struct seen seen;
    const struct node *node = node_look(story, args, &seen);
    if (!node)
        return;
    must(NODE.count <= STORY_KEPT);
    for (size_t i = 0; i < NODE.count; i++)
        story->kept[i] = field_hash(&NODE.fields[i], node, &seen.arena);
    look_away(&seen);
}

/* The names of its changed fields, in the order of the row. */
static void e_changed(struct story *story, char **args) {
    struct seen seen;
    const struct node *node = node_look(story, args, &seen);
    char names[512] = "";
    if (!node)
        return;
    for (size_t i = 0; i < NODE.count; i++) {
        const struct field *field = &NODE.fields[i];
        size_t length = strlen(names);
        struct hash hash = field_hash(field, node, &seen.arena);
        if (!hash_equal(&hash, &story->kept[i]))
            snprintf(names + length, sizeof names - length, "%s%s", length ? " " : "", field->name);
    }
    if (strcmp(names, args[2]) != 0)
        fails(story, "%s has changed in \"%s\"", args[0], names);
    look_away(&seen);
}

/* PROGRESS-04: the row of an assignment stays small; data that grows is kept elsewhere. */
static void e_small(struct story *story, char **args) {
    struct seen seen;
    if (!look(story, story->goals[0].name, &seen))
        return;
    const struct node *node = plan_find(&seen.plan, str_of(args[0]));
    const struct assignment *assignment =
        node ? assignments_of_node(&seen.live.assignments, node->n) : NULL;
    struct str row = assignment ? shape_encode(&ASSIGNMENT, assignment, &seen.arena) : STR("");
    if (row.len == 0 || row.len > number_of(story, args[1]))
        fails(story, "the assignment of %s has %zu bytes", args[0], row.len);
    look_away(&seen);
}

/* ASSIGN-12: each dispatch as "mode result", in the order in which they were written. */
static void e_dispatches(struct story *story, char **args) {
    struct seen seen;
    char text[512] = "";
    if (!look(story, args[0], &seen))
        return;
    uint32_t from, to = DUMP_RANGE(seen.dump.parts, seen.dump.part_count, seen.goal->id, &from);
    for (uint32_t i = from; i < to; i++) {
        const struct dump_part *part = &seen.dump.parts[i];
        struct str body = part->body;
        struct dispatch row;
        size_t length = strlen(text);
        if (part->kind != PART_DISPATCH)
            continue;
        must(row_unseal(ROW_PART + PART_DISPATCH, part->goal, part->n, &body));
        must(shape_decode_in(&DISPATCH, body, &seen.arena, &row));
        snprintf(text + length, sizeof text - length, "%s%.*s %.*s", length ? ", " : "",
                 STR_ARG(row.mode), STR_ARG(row.result));
    }
    if (strcmp(text, args[1]) != 0)
        fails(story, "the dispatches of %s are \"%s\"", args[0], text);
    look_away(&seen);
}

static const struct sentence_row ROWS[] = {
    {"the row of $ of $ is kept", s_kept, SENTENCE_HAPPENS},
    {"expect the row of $ of $ has changed in $", e_changed, SENTENCE_LOOKS},
    {"expect the assignment of $ has at most $ bytes", e_small, SENTENCE_LOOKS},
    {"expect the dispatches of $ to be $", e_dispatches, SENTENCE_LOOKS},
};
const struct sentences STORY_ROWS = {ROWS, count_of(ROWS)};
