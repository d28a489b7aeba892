/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the goals of a plain document into our own goals. G-30.
 *
 * The same rules apply as to any other request: step() creates each goal, applies its plan and moves its nodes, so an
 * import cannot create a state that could not have come about here. The records say that it was imported. */
#include "ops/portable/import_plain.h"

#include "base/time.h"
#include "core/step.h"
#include "ops/op.h"
#include "store/rows.h"

#include <stdlib.h>

struct plain *plain_make(struct import *import) {
    struct plain *plain = arena_new(&import->kept, struct plain, 1);
    plain->policy = policy_of(MINUTES(60));
    plain->secrets = secret_rules_new(NULL, 0, &import->kept);
    plain->era = import->own ? (uint64_t)cell_int(import->own, "era") : 0;
    return plain;
}

void plain_free(struct plain *plain) {
    if (plain)
        map_free(&plain->by_id);
}

static void *grown(struct arena *arena, void *list, size_t size, uint32_t count, uint32_t *cap) {
    if (count < *cap)
        return list;
    *cap = *cap * 2 + 8;
    void *more = arena_take(arena, size * *cap, alignof(max_align_t));
    if (count > 0)
        memcpy(more, list, size * count);
    return more;
}

/* ---- one step ---- */

/* EVENT-05: the rule named in a record of an import is the import. */
static void record_add(struct import *import, struct plain_goal *goal,
                       const struct record *record) {
    struct arena *kept = &import->kept;
    struct evidence *evidence = arena_new(kept, struct evidence, 1);
    goal->records =
        grown(kept, goal->records, sizeof *goal->records, goal->record_count, &goal->record_cap);
    struct record *added = &goal->records[goal->record_count++];
    *added = *record;
    must(shape_decode_in(&EVIDENCE, record->body, kept, evidence));
    evidence->rule = STR("store.import");
    added->body = shape_encode(&EVIDENCE, evidence, kept);
    record_seal(added, goal->goal.id, goal->seq, &goal->head);
    goal->seq = added->seq;
    goal->head = added->hash;
    import->plain->events++;
}

static void part_add(struct import *import, struct plain_goal *goal,
                     const struct part_change *part) {
    if (part->kind == PART_NODE)
        return; /* the final plan contains all nodes */
    for (uint32_t i = 0; i < goal->part_count; i++)
        if (goal->parts[i].kind == part->kind && goal->parts[i].n == part->n) {
            goal->parts[i] = *part;
            return;
        }
    goal->parts =
        grown(&import->kept, goal->parts, sizeof *goal->parts, goal->part_count, &goal->part_cap);
    goal->parts[goal->part_count++] = *part;
}

static void text_add(struct import *import, struct plain_goal *goal, const struct text_row *text) {
    for (uint32_t i = 0; i < goal->text_count; i++)
        if (hash_equal(&goal->texts[i].hash, &text->hash))
            return;
    goal->texts =
        grown(&import->kept, goal->texts, sizeof *goal->texts, goal->text_count, &goal->text_cap);
    goal->texts[goal->text_count++] = *text;
}

static void absorb(struct import *import, struct plain_goal *goal,
                   const struct decision *decision) {
    for (uint32_t i = 0; i < decision->record_count; i++)
        record_add(import, goal, &decision->records[i]);
    for (uint32_t i = 0; i < decision->part_count; i++)
        part_add(import, goal, &decision->parts[i]);
    for (uint32_t i = 0; i < decision->text_count; i++)
        text_add(import, goal, &decision->texts[i]);
    goal->goal = decision->goal;
    goal->goal.records.seq = goal->seq;
    goal->goal.records.head = goal->head;
    goal->live = decision->live;
    goal->exists = true;
    if (decision->title.len > 0)
        goal->title = decision->title;
    if (decision->tags)
        goal->tags = decision->tags->tags;
}

static bool plain_step(struct import *import, struct plain_goal *goal, struct signal signal) {
    struct world world = {.goal = goal->exists ? &goal->goal : NULL,
                          .live = &goal->live,
                          .era = import->plain->era,
                          .level = SCHEMA_LEVEL};
    struct str number = arena_format(&import->kept, "%u", ++goal->steps);
    signal.goal = goal->goal.id;
    signal.source = id_derive((struct str){(const char *)goal->goal.id.bytes, 16}, number);
    signal.sender.actor = STR("import");
    signal.sender.by = WHO_HUMAN;
    signal = signal_redact(import->plain->secrets, &signal, &import->kept); /* STORE-14 */
    struct decision decision = step(&world, &signal, &import->plain->policy, &import->kept);
    if (decision.verdict == VERDICT_REFUSE) {
        if (decision.why.len > 0)
            return reading_refuse(&import->reading, "%.*s", STR_ARG(decision.why));
        return reading_refuse(&import->reading, "%s", ERRORS[decision.error].sentence);
    }
    if (decision.verdict == VERDICT_CHANGE)
        absorb(import, goal, &decision);
    return true;
}

/* ---- a goal ---- */

static struct plain_goal *goal_make(struct import *import, struct id id) {
    struct plain *plain = import->plain;
    struct arena *kept = &import->kept;
    if (map_get(&plain->by_id, id)) {
        reading_refuse(&import->reading, "this goal occurs twice");
        return NULL;
    }
    if (plain->count == IMPORT_GOALS) {
        reading_refuse(&import->reading,
                       "a document without \"overseer\" may have at most %d goals", IMPORT_GOALS);
        return NULL;
    }
    plain->goals = grown(kept, plain->goals, sizeof *plain->goals, plain->count, &plain->cap);
    struct plain_goal *goal = arena_new(kept, struct plain_goal, 1);
    plain->goals[plain->count++] = goal;
    goal->goal.id = id;
    import->report.goals++;
    if (!map_put(&plain->by_id, id, goal))
        memory_exhausted();
    return goal;
}

/* Other programs use their own names for goals. A key that is not one of our ids always maps to the same derived id. */
static struct id id_of_key(struct import *import, const char *key) {
    struct id id;
    if (goal_id_parse(str_of(key), &id))
        return id;
    char text[GOAL_ID_TEXT + 1];
    id = id_derive(STR("import"), str_of(key));
    goal_id_format(id, text);
    import_warn(import, "%s is not a valid id; the goal becomes %s", import->reading.path, text);
    return id;
}

static struct str str_kept(struct import *import, struct str text) {
    return arena_copy(&import->kept, text);
}

/* C-58, GOAL-06: the seed's format nests the origin of a goal. */
static bool origin_take(struct reading *reading, const json_t *item, struct goal_text *words) {
    const json_t *origin = json_object_get(item, "origin"),
                 *to = json_object_get(origin, "originDeliveryContext");
    static const char *const NAMES[][2] = {{"channel", "originChannel"},
                                           {"to", "originTo"},
                                           {"thread", "originThread"},
                                           {"account", "originAccount"}};
    json_t *flat = json_object();
    const json_t *session = json_object_get(origin, "sourceSessionKey");
    if (session)
        json_object_set(flat, "sourceSessionKey", (json_t *)(uintptr_t)session);
    for (size_t i = 0; i < count_of(NAMES); i++)
        if (json_object_get(to, NAMES[i][0]))
            json_object_set(flat, NAMES[i][1], json_object_get(to, NAMES[i][0]));
    size_t before = reading_enter(reading, "origin");
    bool good = fields_take(reading, flat, &GOAL_TEXT, words);
    if (good)
        reading_leave(reading, before);
    json_decref(flat);
    return good;
}

static bool is_known(const char *name, const struct shape *of) {
    static const char *const NAMES[] = {
        "goalId",   "title", "tags", "plan", "phases", "origin", "planRevisionHistory",
        "overseer", NULL};
    for (const char *const *at = NAMES; *at; at++)
        if (strcmp(*at, name) == 0)
            return true;
    return shape_has(of, name) || shape_has(&GOAL_TEXT, name);
}

void plain_unknown(struct import *import, const json_t *object,
                   bool (*known)(const char *name, const struct shape *of),
                   const struct shape *of) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        if (!known(name, of))
            import_warn(import, "%s.%.64s is unknown and skipped", import->reading.path, name);
    }
}

/* Texts in the JSON are freed with it: encoding copies what is kept. */
static bool create_read(struct import *import, const json_t *item, struct signal *signal,
                        struct goal *given) {
    static const struct field TITLE = {.type = FIELD_TEXT, .cap = LIMIT_TITLE};
    static const struct field TAG_LIST = {
        .type = FIELD_TEXTS, .cap = LIMIT_TAG, .most = LIMIT_TAGS};
    struct reading *reading = &import->reading;
    struct goal_text *words = arena_new(&import->arena, struct goal_text, 1);
    struct tags tags = {0};
    const json_t *title = json_object_get(item, "title"), *list = json_object_get(item, "tags");
    size_t before = reading_enter(reading, "title");
    if (!title || !field_take(reading, &TITLE, title, &signal->describe.title) ||
        signal->describe.title.len == 0)
        return reading_refuse(reading, "it is missing");
    reading_leave(reading, before);
    before = reading_enter(reading, "tags");
    if (list && !field_take(reading, &TAG_LIST, list, &tags.tags))
        return false;
    reading_leave(reading, before);
    if (!fields_take(reading, item, &GOAL_HOT, given) ||
        !fields_take(reading, item, &GOAL_TEXT, words) || !origin_take(reading, item, words))
        return false;
    signal->describe.title = str_kept(import, signal->describe.title);
    signal->body = shape_encode(&GOAL_TEXT, words, &import->kept);
    if (signal->body.len == 1) /* only the version byte, no field */
        signal->body.len = 0;
    if (tags.tags.count > 0)
        signal->describe.tags = shape_encode(&TAGS, &tags, &import->kept);
    signal->describe.priority = given->priority;
    return true;
}

static bool status_reach(struct import *import, struct plain_goal *goal, const struct goal *given) {
    enum goal_status to = given->status;
    struct signal move = {.kind = SIGNAL_GOAL_MOVE, .at = goal->at, .reason = STR("imported")};
    bool through = to == GOAL_ARCHIVED && goal->goal.status != GOAL_COMPLETED;
    if (to == GOAL_ACTIVE) {
        if (goal->goal.status != GOAL_ACTIVE)
            import_warn(
                import,
                "%s: its status is active, but its whole plan is done: it is imported as completed",
                import->reading.path);
        return true;
    }
    move.to = through ? GOAL_COMPLETED : to;
    if (goal->goal.status != to && !plain_step(import, goal, move))
        return false;
    move.to = to;
    return goal->goal.status == to || plain_step(import, goal, move);
}

bool plain_goal(struct import *import, const char *key, const json_t *item) {
    struct reading *reading = &import->reading;
    struct goal given = {0};
    struct signal create = {.kind = SIGNAL_GOAL_CREATE, .host = import->options->host};
    if (!json_is_object(item))
        return reading_refuse(reading, "it must be an object");
    struct plain_goal *goal = goal_make(import, id_of_key(import, key));
    if (!goal || !create_read(import, item, &create, &given))
        return false;
    create.at = given.times.created_at > 0 ? given.times.created_at : import->options->now;
    goal->at = given.times.updated_at > create.at ? given.times.updated_at : create.at;
    if (!plain_step(import, goal, create))
        return false;
    plain_unknown(import, item, is_known, &GOAL_HOT);
    if (!plain_plan(import, goal, item) || !status_reach(import, goal, &given))
        return false;
    if (given.times.ended_at > 0 && goal->goal.times.ended_at > 0)
        goal->goal.times.ended_at = given.times.ended_at;
    return true;
}

/* ---- parts of a goal ---- */

static bool is_of_part(const char *name, const struct shape *of) {
    return strcmp(name, "goalId") == 0 || strcmp(name, "overseer") == 0 ||
           strcmp(name, "dispatchHistory") == 0 || strcmp(name, "idleAfterMs") == 0 ||
           shape_has(of, name);
}

static bool idle_take(struct reading *reading, const json_t *item,
                      struct assignment_row *assignment) {
    static const struct field MS = {.type = FIELD_UINT};
    const json_t *value = json_object_get(item, "idleAfterMs");
    uint64_t ms = 0;
    size_t before = reading_enter(reading, "idleAfterMs");
    if (value && (!field_take(reading, &MS, value, &ms) || ms > INT64_MAX / 1000))
        return reading_refuse(reading, "the time is out of range");
    reading_leave(reading, before);
    if (value)
        assignment->idle_after = (int64_t)ms * 1000;
    return true;
}

static bool part_put(struct import *import, struct plain_goal *goal, enum part_kind kind,
                     const char *key, const json_t *item) {
    struct reading *reading = &import->reading;
    const struct shape *shape = PART[kind].shape;
    void *part = arena_take(&import->arena, shape->size, alignof(max_align_t));
    struct str *id = part; /* every such shape begins with its id */
    plain_unknown(import, item, is_of_part, shape);
    if (!fields_take(reading, item, shape, part) ||
        (kind == PART_ASSIGNMENT_ROW && !idle_take(reading, item, part)))
        return false;
    if (id->len == 0)
        *id = str_of(key);
    struct signal signal = {.kind = SIGNAL_PART_PUT,
                            .at = goal->at,
                            .to = kind,
                            .body = shape_encode(shape, part, &import->kept)};
    return plain_step(import, goal, signal);
}

/* The seed's format keeps dispatches inside the assignment, or in a collection beside it. */
static bool history_put(struct import *import, struct plain_goal *goal, const char *key,
                        const json_t *item) {
    const json_t *list = json_object_get(item, "dispatchHistory");
    size_t before = reading_enter(&import->reading, "dispatchHistory");
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *entry = json_array_get(list, i);
        size_t inside = reading_entry(&import->reading, i);
        if (json_is_object(entry) && !json_object_get(entry, "assignmentId"))
            json_object_set_new(entry, "assignmentId", json_string(key));
        if (!part_put(import, goal, PART_DISPATCH, "", entry))
            return false;
        reading_leave(&import->reading, inside);
    }
    reading_leave(&import->reading, before);
    return true;
}

bool plain_part(struct import *import, enum part_kind kind, const char *key, const json_t *item) {
    const char *name = json_string_value(json_object_get(item, "goalId"));
    struct id id;
    if (!name) {
        import_warn(import, "%s names no goal and is skipped", import->reading.path);
        return true;
    }
    if (!goal_id_parse(str_of(name), &id))
        id = id_derive(STR("import"), str_of(name));
    struct plain_goal *goal = map_get(&import->plain->by_id, id);
    if (!goal)
        return reading_refuse(&import->reading,
                              "its goalId names a goal that is not in this document");
    return part_put(import, goal, kind, key, item) &&
           (kind != PART_ASSIGNMENT_ROW || history_put(import, goal, key, item));
}

/* ---- a task ---- */

bool plain_task(struct import *import, struct str title, bool done, uint64_t line) {
    struct str key =
        arena_format(&import->kept, "%llu %.*s", (unsigned long long)line, STR_ARG(title));
    struct plain_goal *goal = goal_make(import, id_derive(STR("task"), key));
    struct str whole = str_kept(import, title), criteria = whole;
    struct plan_row row = {.id = STR("P1"),
                           .tier = TIER_PHASE,
                           .text = {.name = str_cut_utf8(whole, LIMIT_NAME),
                                    .objective = whole,
                                    .criteria = {&criteria, 1}}};
    criteria = str_cut_utf8(whole, LIMIT_LINE);
    struct plan_text plan = {.rows = {&row, 1}};
    if (!goal)
        return false;
    goal->at = import->options->now + (int64_t)line; /* lists are sorted by creation time */
    struct signal create = {.kind = SIGNAL_GOAL_CREATE,
                            .at = goal->at,
                            .describe.title = str_cut_utf8(whole, LIMIT_TITLE),
                            .host = import->options->host};
    struct signal apply = {.kind = SIGNAL_PLAN_APPLY,
                           .at = goal->at,
                           .plan.why = REASON_INITIAL_CREATE,
                           .body = shape_encode(&PLAN_TEXT, &plan, &import->kept)};
    struct signal move = {.kind = SIGNAL_WORK_MOVE,
                          .at = goal->at,
                          .work.node = row.id,
                          .to = NODE_DONE,
                          .work.override = 1,
                          .reason = STR("imported as done")};
    return plain_step(import, goal, create) && plain_step(import, goal, apply) &&
           (!done || plain_step(import, goal, move));
}

bool plain_work(struct import *import, struct plain_goal *goal, struct signal signal) {
    return plain_step(import, goal, signal);
}

uint64_t plain_events(const struct plain *plain) {
    return plain->events;
}
