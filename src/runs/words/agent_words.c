/* SPDX-License-Identifier: Apache-2.0 */
#include "runs/words/agent_words.h"

#include "core/people/words.h"
#include "ops/agent_report.h"
#include "ops/json.h"
#include "ops/op.h"
#include "runs/words/agent_completion.h"
#include "runs/words/fence.h"

#include <ctype.h>
#include <stdio.h>

enum {
    UPDATE_DEPTH = 4,  /* levels: the block, overseerUpdate, evidence, a list in it */
    EVIDENCE_FROM = 6, /* first of the fields in `evidence` */
    EVIDENCE_TO = 9    /* first field after those, not part of the block */
};
static const char KEY[] = "overseerUpdate";

/* ---- fenced blocks ---- */

/* Finds the next closed block, with any label. False: there is none. */
static bool block_next(struct str *rest, struct fence *ret_fence, struct str *ret_block) {
    while (rest->len > 0) {
        if (!fence_read(str_line_take(rest), ret_fence))
            continue;
        const char *begins = rest->at;
        while (rest->len > 0) {
            struct str line = str_line_take(rest);
            if (fence_closes(ret_fence, line)) {
                *ret_block = (struct str){begins, (size_t)(line.at - begins)};
                return true;
            }
        }
    }
    return false;
}

static bool label_is_json(struct str label) {
    static const char JSON[] = "json";
    for (size_t i = 0; i < 4; i++)
        if (label.len <= i || tolower((unsigned char)label.at[i]) != JSON[i])
            return false;
    return label.len == 4 || isspace((unsigned char)label.at[4]);
}

static bool has_key(struct str block) {
    return memmem(block.at, block.len, KEY, sizeof KEY - 1) != NULL;
}

/* ---- parsing it ---- */

struct reading {
    struct arena *arena;
    struct update update;
    char *why;
    size_t why_size;
};

static enum update_found refuse(struct reading *r, const char *what, const char *name) {
    snprintf(r->why, r->why_size, "%s%s%.64s%s", what, *name ? ": \"" : "", name,
             *name ? "\"" : "");
    return UPDATE_REFUSED;
}

static bool is_known(const char *name, size_t from, size_t to) {
    return json_field_named(UPDATE.fields + from, to - from, name) != NULL;
}

/* The first member that is not one of these fields; NULL: there is none. */
static const char *unknown_in(const json_t *object, size_t from, size_t to, const char *also) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        if (!is_known(name, from, to) && strcmp(name, also) != 0)
            return name;
    }
    return NULL;
}

static bool fields_get(struct reading *r, const json_t *object, size_t from, size_t to) {
    return json_get_fields(object, UPDATE.fields + from, to - from, r->arena, &r->update, r->why,
                           r->why_size);
}

static enum update_found members_take(struct reading *r, const json_t *object) {
    const json_t *evidence = json_object_get(object, "evidence");
    if (!json_is_object(object))
        return refuse(r, "overseerUpdate must be an object", "");
    const char *unknown = unknown_in(object, 0, EVIDENCE_FROM, "evidence");
    if (unknown)
        return refuse(r, "unknown key", unknown);
    if (evidence && !json_is_null(evidence) && !json_is_object(evidence))
        return refuse(r, "evidence must be an object", "");
    unknown = evidence ? unknown_in(evidence, EVIDENCE_FROM, EVIDENCE_TO, "") : NULL;
    if (unknown)
        return refuse(r, "unknown key in evidence", unknown);
    if (!fields_get(r, object, 0, EVIDENCE_FROM) ||
        (evidence && !fields_get(r, evidence, EVIDENCE_FROM, EVIDENCE_TO)))
        return UPDATE_REFUSED;
    return update_clean(&r->update, r->arena) ? UPDATE_THERE : UPDATE_ABSENT;
}

/* Copies its texts, so that they outlive the JSON they were read from. */
static void update_keep(struct reading *r) {
    struct str encoded = shape_encode(&UPDATE, &r->update, r->arena);
    must(shape_decode_in(&UPDATE, encoded, r->arena, &r->update));
}

static enum update_found block_take(struct reading *r, struct str block) {
    json_t *json = NULL;
    if (block.len > LIMIT_UPDATE)
        return refuse(r, "the block is too long", "");
    if (!json_depth_is_at_most(block, UPDATE_DEPTH))
        return refuse(r, "the block is nested too deeply", "");
    enum error error = json_read(block, &json, r->why, r->why_size);
    if (error == ERROR_NO_MEMORY)
        return refuse(r, "out of memory while reading it", "");
    if (error)
        return UPDATE_REFUSED;
    const json_t *update = json_object_get(json, KEY);
    enum update_found found = UPDATE_ABSENT; /* the key is only mentioned in the block */
    if (update && json_object_size(json) > 1)
        found = refuse(r, "overseerUpdate must be the only key of the block", "");
    else if (update)
        found = members_take(r, update);
    if (found == UPDATE_THERE)
        update_keep(r);
    json_decref(json);
    return found;
}

enum update_found update_read(struct str reply, struct arena *arena, struct update *ret, char *why,
                              size_t why_size) {
    struct fence fence;
    struct str block;
    enum update_found last = UPDATE_ABSENT;
    char trouble[256] = "";
    while (block_next(&reply, &fence, &block)) {
        if (!label_is_json(fence.label) || !has_key(block))
            continue;
        struct reading r = {.arena = arena, .why = trouble, .why_size = sizeof trouble};
        enum update_found found = block_take(&r, block);
        if (found == UPDATE_ABSENT)
            continue;
        last = found;
        *ret = r.update;
        if (found == UPDATE_REFUSED)
            snprintf(why, why_size, "%s", trouble);
    }
    return last;
}

/* ---- as a signal ---- */

static bool is_about(const struct update *update, struct id goal) {
    struct id named;
    return update->goal.len == 0 || (goal_id_parse(update->goal, &named) && id_equal(named, goal));
}

bool update_signal(struct str reply, enum who by, struct id goal, uint32_t assignment,
                   struct arena *arena, struct signal *ret) {
    struct update update = {0};
    char why[256] = "";
    if (by != WHO_AGENT || str_trimmed(reply).len == 0)
        return false;
    enum update_found found = update_read(reply, arena, &update, why, sizeof why);
    if (found != UPDATE_REFUSED && completion_read(reply, found == UPDATE_THERE, arena, &update))
        found = UPDATE_THERE; /* REPORT-05 */
    if (found == UPDATE_THERE && !is_about(&update, goal)) {
        found = UPDATE_REFUSED;
        snprintf(why, sizeof why, "it is about another goal");
    }
    *ret = (struct signal){.kind = SIGNAL_AGENT_UPDATE,
                           .goal = goal,
                           .sender.by = WHO_AGENT,
                           .about.assignment = assignment,
                           .to = 1};
    if (found == UPDATE_THERE) {
        ret->work.node = update.node;
        ret->body = shape_encode(&UPDATE, &update, arena);
    }
    if (found == UPDATE_REFUSED)
        ret->reason = arena_copy(arena, str_cut_utf8(str_of(why), LIMIT_REASON));
    return true;
}

void update_find(void *with) {
    struct update_reading *it = with;
    it->found =
        update_signal(it->reply, WHO_AGENT, it->goal, it->assignment, it->arena, &it->signal);
}
