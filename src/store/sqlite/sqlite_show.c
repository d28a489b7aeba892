/* SPDX-License-Identifier: Apache-2.0 */
/* Shows one goal and its history from an SQLite store. */
#include "store/sqlite/sqlite_state.h"

static struct str show_one(struct sqlite_run *run, enum sql sql, struct id goal,
                           struct arena *arena) {
    struct str text = {0};
    run_begin(run, sql);
    run_id(run, goal);
    if (run_row(run))
        text = row_bytes(run, arena);
    run_end(run);
    return text;
}

static void show_tags(struct sqlite_run *run, struct id goal, struct goal_shown *shown,
                      struct arena *arena) {
    struct str *tags = arena_new(arena, struct str, LIMIT_TAGS);
    run_begin(run, SQL_SHOW_TAGS);
    run_id(run, goal);
    run_int(run, LIMIT_TAGS);
    while (run_row(run))
        tags[shown->tags.count++] = row_bytes(run, arena);
    run_end(run);
    shown->tags.at = tags;
}

static struct record row_record(struct sqlite_run *run, struct arena *arena) {
    struct record record = {.seq = (uint64_t)row_int(run)};
    record.at = row_int(run);
    record.type = (enum record_type)row_int(run);
    record.core = (uint32_t)row_int(run);
    record.policy = row_hash(run);
    record.hash = row_hash(run);
    record.body = row_bytes(run, arena);
    return record;
}

static void show_records(struct sqlite_run *run, const struct store_request *request,
                         struct id goal, struct goal_shown *shown, struct arena *arena) {
    shown->records = arena_new(arena, struct record, request->limit);
    run_begin(run, SQL_SHOW_RECORDS);
    run_id(run, goal);
    run_int(run, request->limit);
    run_int(run, request->first_type);
    run_int(run, request->last_type ? request->last_type : UINT32_MAX);
    while (run_row(run))
        shown->records[shown->record_count++] = row_record(run, arena);
    run_end(run);
}

static void show_texts(struct sqlite_run *run, struct id goal, struct text_names named,
                       struct goal_shown *shown, struct arena *arena) {
    shown->texts = arena_new(arena, struct text_row, named.count);
    for (uint32_t i = 0; i < named.count; i++) {
        run_begin(run, SQL_SHOW_TEXT);
        run_id(run, goal);
        run_blob(run, named.at[i].bytes, sizeof named.at[i].bytes);
        if (run_row(run))
            shown->texts[shown->text_count++] =
                (struct text_row){.hash = named.at[i], .body = row_bytes(run, arena)};
        run_end(run);
    }
}

/* ---- parts ---- */

static struct part_shown *part_new(struct goal_shown *shown, uint32_t *cap, struct arena *arena) {
    if (shown->part_count == *cap) {
        *cap = *cap * 2 + 16;
        struct part_shown *grown = arena_new(arena, struct part_shown, *cap);
        if (shown->part_count > 0)
            memcpy(grown, shown->parts, shown->part_count * sizeof *grown);
        shown->parts = grown;
    }
    return &shown->parts[shown->part_count++];
}

/* The newest parts of each kind that is not loaded with the goal, in order of n. */
static void show_parts(struct sqlite_run *run, struct goal_loaded *loaded, struct goal_shown *shown,
                       struct arena *arena) {
    uint32_t cap = 0;
    for (size_t kind = 0; kind < PARTS; kind++) {
        if (PART[kind].live)
            continue;
        run_begin(run, sql_of_part(SQL_PART_SHOW, (uint32_t)kind));
        run_id(run, loaded->goal.id);
        run_int(run, LIMIT_NODES);
        while (run_row(run)) {
            struct part_shown *part = part_new(shown, &cap, arena);
            part->kind = (enum part_kind)kind;
            part->n = (uint32_t)row_int(run);
            part->name = row_bytes(run, arena);
            part->body = row_bytes(run, arena);
            if (row_unseal(ROW_PART + (uint32_t)kind, loaded->goal.id, part->n, &part->body))
                continue;
            part->body = (struct str){0};
            loaded->whole = false;
        }
        run_end(run);
    }
}

void sqlite_show(struct sqlite_run *run, const struct store_request *request,
                 struct store_answer *answer, struct arena *arena) {
    struct id goal = request->ids[0];
    struct goal_shown *shown = &answer->shown;
    answer->loaded = arena_new(arena, struct goal_loaded, 1);
    sqlite_load_goal(run, goal, &answer->loaded[0], arena);
    shown->title = show_one(run, SQL_SHOW_TITLE, goal, arena);
    if (answer->loaded[0].goal.quarantined)
        shown->why_aside = show_one(run, SQL_SHOW_ASIDE, goal, arena);
    show_tags(run, goal, shown, arena);
    struct text_names named =
        loaded_names(&answer->loaded[0], request->texts, request->text_count, arena);
    show_texts(run, goal, named, shown, arena);
    show_parts(run, &answer->loaded[0], shown, arena);
    show_records(run, request, goal, shown, arena);
}

void sqlite_brief(struct sqlite_run *run, const struct store_request *request,
                  struct store_answer *answer, struct arena *arena) {
    answer->loaded = arena_new(arena, struct goal_loaded, request->id_count);
    answer->briefs = arena_new(arena, struct goal_shown, request->id_count);
    for (uint32_t i = 0; i < request->id_count; i++) {
        struct id goal = request->ids[i];
        struct goal_loaded *loaded = &answer->loaded[i];
        struct goal_shown *shown = &answer->briefs[i];
        sqlite_load_goal(run, goal, loaded, arena);
        shown->title = show_one(run, SQL_SHOW_TITLE, goal, arena);
        if (loaded->goal.quarantined)
            shown->why_aside = show_one(run, SQL_SHOW_ASIDE, goal, arena);
        show_texts(run, goal, loaded_names(loaded, NULL, 0, arena), shown, arena);
        show_records(run, request, goal, shown, arena);
    }
}

/* Reads one record more than asked for, to see whether there are more. */
void sqlite_history(struct sqlite_run *run, const struct store_request *request,
                    struct store_answer *answer, struct arena *arena) {
    struct goal_shown *shown = &answer->shown;
    shown->records = arena_new(arena, struct record, request->limit);
    run_begin(run, SQL_HISTORY);
    run_id(run, request->ids[0]);
    run_int(run, (int64_t)request->after_seq);
    run_int(run, (int64_t)request->limit + 1);
    while (run_row(run)) {
        answer->more = shown->record_count == request->limit;
        if (!answer->more)
            shown->records[shown->record_count++] = row_record(run, arena);
    }
    run_end(run);
    show_texts(run, request->ids[0], records_name(shown->records, shown->record_count, arena),
               shown, arena);
}
