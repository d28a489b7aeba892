/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about expectations, read from the store's tables, not from what a ledger believes. */
#include "story.h"

#include <stdlib.h>

bool look(struct story *story, const char *name, struct seen *seen) {
    *seen = (struct seen){0};
    story->fleet->backend->dump(story->fleet->backend, &seen->dump, &seen->arena);
    seen->goal = dump_goal(&seen->dump, goal_of(story, name)->goal);
    if (!seen->goal)
        fails(story, "%s is not in the store", name);
    else if (!dump_live(&seen->dump, seen->goal, &seen->arena, &seen->whole, &seen->live))
        fails(story, "%s cannot be decoded", name);
    if (story->failure[0])
        arena_free(&seen->arena);
    return story->failure[0] == 0;
}

void look_away(struct seen *seen) {
    arena_free(&seen->arena);
}

static void compare(struct story *story, const char *what, const char *is, const char *wanted) {
    if (strcmp(is, wanted) != 0)
        fails(story, "%s is \"%s\", not \"%s\"", what, is, wanted);
}

/* ---- goals ---- */

static void e_is(struct story *story, char **args) {
    struct seen seen;
    if (!look(story, args[0], &seen))
        return;
    compare(story, args[0], name_of(&DISPLAY_STATE_NAMES, goal_display_state(&seen.whole)),
            args[1]);
    look_away(&seen);
}
static void e_status(struct story *story, char **args) {
    struct seen seen;
    if (!look(story, args[0], &seen))
        return;
    compare(story, args[0], GOAL_STATUS[seen.whole.status].name, args[1]);
    look_away(&seen);
}
static void e_needs(struct story *story, char **args) {
    struct seen seen;
    if (!look(story, args[0], &seen))
        return;
    compare(story, "what it needs", name_of(&NEED_NAMES, seen.whole.need), args[1]);
    look_away(&seen);
}
static void e_owned(struct story *story, char **args) {
    struct seen seen;
    if (!look(story, args[0], &seen))
        return;
    if (seen.goal->owner != host_of(story, args[1]) + 1)
        fails(story, "%s is owned by host %u", args[0], seen.goal->owner);
    look_away(&seen);
}
static void e_absent(struct story *story, char **args) {
    fleet_look(story->fleet);
    if (dump_goal(&story->fleet->view, goal_of(story, args[0])->goal))
        fails(story, "%s is in the store", args[0]);
}
static void e_reports(struct story *story, char **args) {
    struct seen seen;
    if (!look(story, args[0], &seen))
        return;
    if (seen.whole.progress.reports != number_of(story, args[1]))
        fails(story, "%s has %u reports", args[0], seen.whole.progress.reports);
    look_away(&seen);
}
static void e_percent(struct story *story, char **args) {
    struct seen seen;
    if (!look(story, args[0], &seen))
        return;
    if (seen.whole.progress.percent != number_of(story, args[1]))
        fails(story, "%s is %u percent done", args[0], seen.whole.progress.percent);
    look_away(&seen);
}
static void e_ended(struct story *story, char **args) {
    struct seen seen;
    if (!look(story, args[0], &seen))
        return;
    if (seen.whole.times.ended_at == 0)
        fails(story, "%s has no end", args[0]);
    look_away(&seen);
}
static void e_effects(struct story *story, char **args) {
    struct seen seen;
    if (!look(story, args[0], &seen))
        return;
    struct writer all = {.arena = &seen.arena};
    for (uint32_t i = 0; i < seen.whole.effects.open_count; i++) {
        if (i > 0)
            write_raw(&all, STR(" "));
        write_raw(&all, str_of(EFFECT_STATE[seen.whole.effects.open[i].state].name));
    }
    compare(story, "what is open", arena_cstr(&seen.arena, (struct str){all.at, all.len}), args[1]);
    look_away(&seen);
}

/* ---- acts and answers ---- */

static uint32_t acted_times(struct story *story, const char *name) {
    uint32_t times = 0;
    for (uint32_t i = 0; i < story->fleet->acted_count; i++)
        if (id_equal(story->fleet->acted[i].goal, goal_of(story, name)->goal))
            times += story->fleet->acted[i].times;
    return times;
}
static void e_acted(struct story *story, char **args) {
    if (acted_times(story, args[0]) != number_of(story, args[1]))
        fails(story, "the command of %s was run %u times", args[0], acted_times(story, args[0]));
}
static void e_answer(struct story *story, char **args) {
    const struct asked *asked = &story->fleet->asked[goal_of(story, args[0])->asked];
    const char *code = !asked->answered   ? "nothing"
                       : asked->forwarded ? "forwarded"
                                          : ERRORS[asked->error].code;
    compare(story, "the answer", code, args[1]);
}

/* ---- records ---- */

static char *records_text(struct seen *seen) {
    struct writer all = {.arena = &seen->arena};
    uint32_t from,
        to = DUMP_RANGE(seen->dump.records, seen->dump.record_count, seen->goal->id, &from);
    for (uint32_t i = from; i < to; i++) {
        if (i > from)
            write_raw(&all, STR(" "));
        write_raw(&all, str_of(name_of(&RECORD_NAMES, seen->dump.records[i].record.type)));
    }
    return arena_cstr(&seen->arena, (struct str){all.at, all.len});
}
static void e_records(struct story *story, char **args) {
    struct seen seen;
    if (!look(story, args[0], &seen))
        return;
    compare(story, "what its records say", records_text(&seen), args[1]);
    look_away(&seen);
}
static void e_last_records(struct story *story, char **args) {
    struct seen seen;
    if (!look(story, args[0], &seen))
        return;
    char *all = records_text(&seen);
    size_t length = strlen(all), tail = strlen(args[1]);
    bool ends = tail <= length && strcmp(all + length - tail, args[1]) == 0 &&
                (tail == length || all[length - tail - 1] == ' ');
    if (!ends)
        fails(story, "the records of %s end with: … %s", args[0],
              length > 300 ? all + length - 300 : all);
    look_away(&seen);
}

/* The newest record of a type, about one node or (NULL) about anything; NULL: there is none. */
static const struct record *record_of(struct story *story, const struct seen *seen,
                                      const char *type, const char *node, uint32_t *ret_count) {
    const struct record *newest = NULL;
    uint32_t wanted = RECORD_NONE, from,
             to = DUMP_RANGE(seen->dump.records, seen->dump.record_count, seen->goal->id, &from);
    *ret_count = 0;
    if (!names_find(&RECORD_NAMES, str_of(type), &wanted))
        fails(story, "there are no records called %s", type);
    for (uint32_t i = from; i < to; i++) {
        const struct record *record = &seen->dump.records[i].record;
        if (record->type != wanted || (node && !str_equal(evidence_of(record).node, str_of(node))))
            continue;
        newest = record;
        ++*ret_count;
    }
    return newest;
}
static void e_records_most(struct story *story, char **args) {
    struct seen seen;
    uint32_t from, to;
    if (!look(story, args[1], &seen))
        return;
    to = DUMP_RANGE(seen.dump.records, seen.dump.record_count, seen.goal->id, &from);
    if (to - from > number_of(story, args[0]))
        fails(story, "%s has %u records", args[1], to - from);
    look_away(&seen);
}
static void e_record_count(struct story *story, char **args) {
    struct seen seen;
    uint32_t count;
    if (!look(story, args[0], &seen))
        return;
    record_of(story, &seen, args[2], NULL, &count);
    if (count != number_of(story, args[1]))
        fails(story, "%s has %u %s records", args[0], count, args[2]);
    look_away(&seen);
}

/* One field of the evidence, as its table declares it. */
struct str field_text(const struct field *field, const void *from, struct arena *arena) {
    const char *at = (const char *)from + field->offset;
    switch (field->type) {
    case FIELD_TEXT: return *(const struct str *)(const void *)at;
    case FIELD_NAME: return str_of(at);
    case FIELD_ENUM: return str_of(name_of(field->names, *(const uint32_t *)(const void *)at));
    case FIELD_U32:
    case FIELD_FLAG: return arena_format(arena, "%u", *(const uint32_t *)(const void *)at);
    case FIELD_INT:
    case FIELD_TIME:
    case FIELD_UINT:
        return arena_format(arena, "%lld", (long long)*(const int64_t *)(const void *)at);
    default: must(false && "a field that has no text");
    }
}

static const struct field *field_of(struct story *story, const char *name) {
    for (size_t i = 0; i < EVIDENCE.count; i++)
        if (strcmp(EVIDENCE.fields[i].name, name) == 0)
            return &EVIDENCE.fields[i];
    fails(story, "a record has no field called %s", name);
    return NULL;
}

/* args: the field and its value */
static void says(struct story *story, const char *type, const char *node, const char *name,
                 char **args) {
    struct seen seen;
    uint32_t count;
    const struct field *field = field_of(story, args[0]);
    if (!field || !look(story, name, &seen))
        return;
    const struct record *record = record_of(story, &seen, type, node, &count);
    struct evidence evidence = record ? evidence_of(record) : (struct evidence){0};
    if (!record)
        fails(story, "%s has no such record called %s", name, type);
    else
        compare(story, args[0], arena_cstr(&seen.arena, field_text(field, &evidence, &seen.arena)),
                args[1]);
    look_away(&seen);
}
static void e_record_says(struct story *story, char **args) {
    says(story, args[0], NULL, args[1], args + 2);
}
static void e_node_record_says(struct story *story, char **args) {
    says(story, args[0], args[1], args[2], args + 3);
}

/* ---- plans ---- */

static void e_plan(struct story *story, char **args) {
    struct seen seen;
    if (!look(story, args[0], &seen))
        return;
    struct str text = plan_text(&seen.plan, &seen.arena);
    compare(story, "the plan", arena_cstr(&seen.arena, text), args[1]);
    look_away(&seen);
}
static void e_version(struct story *story, char **args) {
    struct seen seen;
    if (!look(story, args[0], &seen))
        return;
    if (seen.whole.plan.version != number_of(story, args[1]))
        fails(story, "the plan of %s has version %llu", args[0],
              (unsigned long long)seen.whole.plan.version);
    look_away(&seen);
}
/* PLAN-18: written as a ULID, and the same for as long as the goal lives. */
static void e_plan_id(struct story *story, char **args) {
    static const struct id NONE;
    struct named *named = goal_of(story, args[0]);
    struct seen seen;
    char text[ID_TEXT + 1];
    if (!look(story, args[0], &seen))
        return;
    struct id id = goal_plan_id(&seen.whole), read = NONE;
    id_format(id, text);
    if (id_equal(named->plan_id, NONE))
        named->plan_id = id;
    if (!id_parse(str_of(text), &read) || !id_equal(read, id) || !id_equal(id, named->plan_id))
        fails(story, "the plan of %s is called %s now", args[0], text);
    look_away(&seen);
}

static const struct node *node_seen(struct story *story, char **args, struct seen *seen) {
    if (!look(story, args[1], seen))
        return NULL;
    const struct node *node = plan_find(&seen->plan, str_of(args[0]));
    if (!node) {
        fails(story, "%s has no node %s", args[1], args[0]);
        look_away(seen);
    }
    return node;
}
static void e_node_is(struct story *story, char **args) {
    struct seen seen;
    const struct node *node = node_seen(story, args, &seen);
    if (!node)
        return;
    compare(story, args[0], NODE_STATUS[node->status].name, args[2]);
    if (node->retired)
        fails(story, "%s has left the plan", args[0]);
    look_away(&seen);
}
static void e_node_left(struct story *story, char **args) {
    struct seen seen;
    const struct node *node = node_seen(story, args, &seen);
    if (!node)
        return;
    compare(story, args[0], NODE_STATUS[node->status].name, args[2]);
    if (!node->retired)
        fails(story, "%s is in the plan", args[0]);
    look_away(&seen);
}
static void e_node_percent(struct story *story, char **args) {
    struct seen seen;
    const struct node *node = node_seen(story, args, &seen);
    if (!node)
        return;
    uint32_t percent = plan_percent(&seen.plan, node);
    if (percent != number_of(story, args[2]))
        fails(story, "%s is %u percent done", args[0], percent);
    look_away(&seen);
}
static void e_node_blocked(struct story *story, char **args) {
    struct seen seen;
    const struct node *node = node_seen(story, args, &seen);
    if (!node)
        return;
    const struct dump_text *why = dump_text(&seen.dump, seen.goal->id, &node->why);
    compare(story, "what blocks it", name_of(&BLOCKED_NAMES, node->blocked), args[2]);
    compare(story, "the reason", why ? arena_cstr(&seen.arena, why->body) : "none", args[3]);
    look_away(&seen);
}

/* "00:05" since the story began, or "never". */
static void stamp_compare(struct story *story, const char *what, int64_t stamp,
                          const char *wanted) {
    char text[32] = "never";
    int64_t seconds = (stamp - story->begin) / SECONDS(1);
    if (stamp != 0)
        snprintf(text, sizeof text, "%02d:%02d", (int)(seconds / 60), (int)(seconds % 60));
    compare(story, what, text, wanted);
}
static void e_node_began(struct story *story, char **args) {
    struct seen seen;
    const struct node *node = node_seen(story, args, &seen);
    if (!node)
        return;
    stamp_compare(story, "its beginning", node->times.started_at, args[2]);
    stamp_compare(story, "its end", node->times.ended_at, args[3]);
    look_away(&seen);
}

static const struct sentence_row ROWS[] = {
    {"expect $ is $", e_is, SENTENCE_LOOKS},
    {"expect $ has status $", e_status, SENTENCE_LOOKS},
    {"expect $ needs $", e_needs, SENTENCE_LOOKS},
    {"expect $ owned by host $", e_owned, SENTENCE_LOOKS},
    {"expect $ is not in the store", e_absent, SENTENCE_LOOKS},
    {"expect $ has $ reports", e_reports, SENTENCE_LOOKS},
    {"expect $ is $ percent done", e_percent, SENTENCE_LOOKS},
    {"expect $ has an end", e_ended, SENTENCE_LOOKS},
    {"expect the open effects of $ to be $", e_effects, SENTENCE_LOOKS},
    {"expect the command of $ was run $ times", e_acted, SENTENCE_LOOKS},
    {"expect the answer about $ is $", e_answer, SENTENCE_LOOKS},
    {"expect the records of $ to be $", e_records, SENTENCE_LOOKS},
    {"expect the last records of $ to be $", e_last_records, SENTENCE_LOOKS},
    {"expect $ has $ $ records", e_record_count, SENTENCE_LOOKS},
    {"expect at most $ records of $", e_records_most, SENTENCE_LOOKS},
    {"expect the last $ of $ says $ $", e_record_says, SENTENCE_LOOKS},
    {"expect the last $ of $ of $ says $ $", e_node_record_says, SENTENCE_LOOKS},
    {"expect the plan of $ to be $", e_plan, SENTENCE_LOOKS},
    {"expect the plan of $ has version $", e_version, SENTENCE_LOOKS},
    {"expect the plan of $ keeps its id", e_plan_id, SENTENCE_LOOKS},
    {"expect $ of $ is $", e_node_is, SENTENCE_LOOKS},
    {"expect $ of $ has left the plan as $", e_node_left, SENTENCE_LOOKS},
    {"expect $ of $ is $ percent done", e_node_percent, SENTENCE_LOOKS},
    {"expect $ of $ is blocked by $ because $", e_node_blocked, SENTENCE_LOOKS},
    {"expect $ of $ began at $ and ended at $", e_node_began, SENTENCE_LOOKS},
};
const struct sentences STORY_SEEN = {ROWS, count_of(ROWS)};
