/* SPDX-License-Identifier: Apache-2.0 */
/* What does the SQLite driver read? Each function runs inside one snapshot. */
#include "store/sqlite_state.h"

static struct effect_slot row_slot(struct sqlite_run *run) {
    struct effect_slot slot = {.n = (uint32_t)row_int(run)};
    slot.run_host = (uint32_t)row_int(run);
    slot.state = (enum effect_state)row_int(run);
    slot.kind = (uint32_t)row_int(run);
    slot.until = row_int(run);
    return slot;
}

/* P5: the goal row first, then its children. */
static void load_goal(struct sqlite_run *run, struct id id, struct goal_loaded *loaded,
                      struct arena *arena) {
    *loaded = (struct goal_loaded){.goal = {.id = id}};
    run_begin(run, SQL_GOAL);
    run_id(run, id);
    if (run_row(run)) {
        struct goal *goal = &loaded->goal;
        goal->owner = (uint32_t)row_int(run);
        goal->fence = (uint64_t)row_int(run);
        goal->version = (uint64_t)row_int(run);
        goal->seq = (uint64_t)row_int(run);
        struct str head = row_bytes(run, arena);
        memcpy(goal->head.bytes, head.at, head.len < 32 ? head.len : 32);
        goal->due_at = row_int(run);
        goal->quarantined = row_int(run);
        loaded_hot(loaded, row_bytes(run, arena));
        loaded->owner_epoch = (uint64_t)row_int(run);
        loaded->owner_lives = loaded->owner_epoch > 0 && row_int(run) == HOST_LIVE;
    }
    run_end(run);
    run_begin(run, SQL_EFFECTS);
    run_id(run, id);
    while (run_row(run))
        loaded_effect(loaded, row_slot(run));
    run_end(run);
}

static bool exists(struct sqlite_run *run) {
    bool row = run_row(run);
    run_end(run);
    return row;
}

void sqlite_load(struct sqlite_run *run, const struct store_request *request,
                 struct store_answer *answer, struct arena *arena) {
    answer->loaded = arena_new(arena, struct goal_loaded, request->id_count);
    answer->seen = arena_new(arena, bool, request->key_count);
    answer->stands = arena_new(arena, bool, request->mark_count);
    for (uint32_t i = 0; i < request->id_count; i++)
        load_goal(run, request->ids[i], &answer->loaded[i], arena);
    for (uint32_t i = 0; i < request->key_count; i++) {
        run_begin(run, SQL_SEEN);
        run_id(run, request->keys[i].goal);
        run_id(run, request->keys[i].source);
        answer->seen[i] = exists(run);
    }
    for (uint32_t i = 0; i < request->mark_count; i++) {
        run_begin(run, SQL_RECORD_AT);
        run_id(run, request->marks[i].goal);
        run_int(run, (int64_t)request->marks[i].seq);
        run_blob(run, request->marks[i].hash.bytes, sizeof request->marks[i].hash.bytes);
        answer->stands[i] = exists(run);
    }
}

/* P3: the next neighbours, and what came for me. */
void sqlite_poll(struct sqlite_run *run, const struct store_request *request,
                 struct store_answer *answer, struct arena *arena) {
    answer->hosts = arena_new(arena, struct host_row, LIMIT_WATCHED_HOSTS);
    answer->inbox = arena_new(arena, struct inbox_row, request->limit);
    run_begin(run, SQL_HOSTS);
    run_int(run, request->self.host);
    run_int(run, LIMIT_WATCHED_HOSTS);
    while (run_row(run)) {
        struct host_row *row = &answer->hosts[answer->host_count++];
        row->host = (uint32_t)row_int(run);
        row->epoch = (uint64_t)row_int(run);
        row->beat = (uint64_t)row_int(run);
        row->batch = (uint64_t)row_int(run);
        row->state = (enum host_state)row_int(run);
    }
    run_end(run);
    run_begin(run, SQL_INBOX);
    run_int(run, request->self.host);
    run_int(run, request->limit);
    while (run_row(run)) {
        struct inbox_row *row = &answer->inbox[answer->inbox_count++];
        row->source = row_id(run);
        row->goal = row_id(run);
        row->body = row_bytes(run, arena);
    }
    run_end(run);
}

/* The open effects of all goals in answer->owned. */
void sqlite_effects_of(struct sqlite_run *run, struct store_answer *answer, struct arena *arena) {
    uint32_t cap = 0;
    for (uint32_t i = 0; i < answer->owned_count; i++) {
        run_begin(run, SQL_EFFECTS);
        run_id(run, answer->owned[i].goal);
        while (run_row(run)) {
            if (answer->effect_count == cap) {
                cap = cap * 2 + 64;
                struct effect_entry *grown = arena_new(arena, struct effect_entry, cap);
                if (answer->effect_count > 0)
                    memcpy(grown, answer->effects, answer->effect_count * sizeof *grown);
                answer->effects = grown;
            }
            struct effect_entry *entry = &answer->effects[answer->effect_count++];
            entry->goal = answer->owned[i].goal;
            entry->slot = row_slot(run);
            entry->body = row_bytes(run, arena);
        }
        run_end(run);
    }
}

void sqlite_owned(struct sqlite_run *run, const struct store_request *request,
                  struct store_answer *answer, struct arena *arena) {
    answer->owned = arena_new(arena, struct due_row, request->limit);
    run_begin(run, SQL_OWNED);
    run_int(run, request->self.host);
    run_id(run, request->after);
    run_int(run, request->limit);
    while (run_row(run)) {
        struct due_row *row = &answer->owned[answer->owned_count++];
        row->goal = row_id(run);
        row->due_at = row_int(run);
    }
    run_end(run);
    answer->more = answer->owned_count == request->limit;
    sqlite_effects_of(run, answer, arena);
}

static void show_records(struct sqlite_run *run, const struct store_request *request,
                         struct goal_shown *shown, struct arena *arena) {
    shown->records = arena_new(arena, struct record, request->limit);
    run_begin(run, SQL_SHOW_RECORDS);
    run_id(run, request->ids[0]);
    run_int(run, request->limit);
    while (run_row(run)) {
        struct record *record = &shown->records[shown->record_count++];
        record->seq = (uint64_t)row_int(run);
        record->at = row_int(run);
        record->type = (enum record_type)row_int(run);
        record->core = (uint32_t)row_int(run);
        struct str policy = row_bytes(run, arena), hash = row_bytes(run, arena);
        memcpy(record->policy.bytes, policy.at, policy.len < 32 ? policy.len : 32);
        memcpy(record->hash.bytes, hash.at, hash.len < 32 ? hash.len : 32);
        record->body = row_bytes(run, arena);
    }
    run_end(run);
}

void sqlite_show(struct sqlite_run *run, const struct store_request *request,
                 struct store_answer *answer, struct arena *arena) {
    answer->loaded = arena_new(arena, struct goal_loaded, 1);
    load_goal(run, request->ids[0], &answer->loaded[0], arena);
    run_begin(run, SQL_SHOW_TEXT);
    run_id(run, request->ids[0]);
    if (run_row(run))
        answer->shown.title = row_bytes(run, arena);
    run_end(run);
    run_begin(run, SQL_SHOW_ASIDE);
    run_id(run, request->ids[0]);
    if (run_row(run))
        answer->shown.why_aside = row_bytes(run, arena);
    run_end(run);
    show_records(run, request, &answer->shown, arena);
}
