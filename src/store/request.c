/* SPDX-License-Identifier: Apache-2.0 */
#include "store/request.h"

static void *copy(struct arena *arena, const void *from, size_t size, size_t count) {
    if (count == 0)
        return NULL;
    return memcpy(arena_take(arena, size * count, alignof(max_align_t)), from, size * count);
}

static const struct tags *tags_copy(const struct tags *tags, struct arena *arena) {
    struct tags *to = arena_new(arena, struct tags, 1);
    struct str *at = arena_new(arena, struct str, tags->tags.count);
    for (uint32_t i = 0; i < tags->tags.count; i++)
        at[i] = arena_copy(arena, tags->tags.at[i]);
    to->tags = (struct texts){at, tags->tags.count};
    return to;
}

static void parts_copy(struct goal_commit *commit, struct arena *arena) {
    commit->parts = copy(arena, commit->parts, sizeof *commit->parts, commit->part_count);
    for (uint32_t i = 0; i < commit->part_count; i++) {
        commit->parts[i].name = arena_copy(arena, commit->parts[i].name);
        commit->parts[i].body = arena_copy(arena, commit->parts[i].body);
    }
    commit->texts = copy(arena, commit->texts, sizeof *commit->texts, commit->text_count);
    for (uint32_t i = 0; i < commit->text_count; i++)
        commit->texts[i].body = arena_copy(arena, commit->texts[i].body);
}

static void commit_copy(struct goal_commit *commit, struct arena *arena) {
    commit->title = arena_copy(arena, commit->title);
    if (commit->tags)
        commit->tags = tags_copy(commit->tags, arena);
    parts_copy(commit, arena);
    commit->hot = arena_copy(arena, commit->hot);
    commit->records = copy(arena, commit->records, sizeof *commit->records, commit->record_count);
    for (uint32_t i = 0; i < commit->record_count; i++)
        commit->records[i].body = arena_copy(arena, commit->records[i].body);
    commit->effects = copy(arena, commit->effects, sizeof *commit->effects, commit->effect_count);
    for (uint32_t i = 0; i < commit->effect_count; i++) {
        commit->effects[i].body = arena_copy(arena, commit->effects[i].body);
        commit->effects[i].sealed = arena_copy(arena, commit->effects[i].sealed);
    }
    commit->inbox_done = copy(arena, commit->inbox_done, sizeof(struct id), commit->inbox_count);
    commit->seen = copy(arena, commit->seen, sizeof(struct id), commit->seen_count);
    commit->aside = copy(arena, commit->aside, sizeof *commit->aside, commit->aside_count);
    for (uint32_t i = 0; i < commit->aside_count; i++) {
        commit->aside[i].why = arena_copy(arena, commit->aside[i].why);
        commit->aside[i].body = arena_copy(arena, commit->aside[i].body);
    }
}

struct store_request *request_copy(const struct store_request *request, struct arena *arena) {
    struct store_request *to = arena_new(arena, struct store_request, 1);
    *to = *request;
    to->build = arena_copy(arena, request->build);
    to->addr = arena_copy(arena, request->addr);
    to->only = copy(arena, request->only, sizeof *request->only, request->only_count);
    to->ids = copy(arena, request->ids, sizeof *request->ids, request->id_count);
    to->keys = copy(arena, request->keys, sizeof *request->keys, request->key_count);
    to->marks = copy(arena, request->marks, sizeof *request->marks, request->mark_count);
    to->texts = copy(arena, request->texts, sizeof *request->texts, request->text_count);
    to->name = arena_copy(arena, request->name);
    to->filter.tag = arena_copy(arena, request->filter.tag);
    to->filter.search = arena_copy(arena, request->filter.search);
    struct inbox_row *rows = copy(arena, request->rows, sizeof *rows, request->row_count);
    for (uint32_t i = 0; i < request->row_count; i++)
        rows[i].body = arena_copy(arena, rows[i].body);
    to->rows = rows;
    to->commits = copy(arena, request->commits, sizeof *request->commits, request->commit_count);
    for (uint32_t i = 0; i < request->commit_count; i++)
        commit_copy(&to->commits[i], arena);
    return to;
}
