/* SPDX-License-Identifier: Apache-2.0 */
/* Read requests of the SQLite driver. Each function runs inside one snapshot. */
#include "store/sqlite/sqlite_state.h"

static struct effect_slot row_slot(struct sqlite_run *run) {
    struct effect_slot slot = {.n = (uint32_t)row_int(run)};
    slot.run_host = (uint32_t)row_int(run);
    slot.state = (enum effect_state)row_int(run);
    slot.kind = (uint32_t)row_int(run);
    slot.until = row_int(run);
    return slot;
}

static void load_effects(struct sqlite_run *run, struct goal_loaded *loaded, struct arena *arena) {
    run_begin(run, SQL_EFFECTS);
    run_id(run, loaded->goal.id);
    while (run_row(run)) {
        struct effect_slot slot = row_slot(run);
        struct str body = row_bytes(run, arena);
        loaded->whole = row_unseal(ROW_EFFECT, loaded->goal.id, slot.n, &body) && loaded->whole;
        loaded_effect(loaded, slot);
    }
    run_end(run);
}

static void load_parts(struct sqlite_run *run, enum part_kind kind, struct goal_loaded *loaded,
                       struct arena *arena) {
    run_begin(run, sql_of_part(SQL_PART_LOAD, kind));
    run_id(run, loaded->goal.id);
    while (run_row(run)) {
        uint32_t n = (uint32_t)row_int(run);
        loaded_part(loaded, kind, n, row_bytes(run, arena), arena);
    }
    run_end(run);
}

/* P5: the goal row first, then its children. */
void sqlite_load_goal(struct sqlite_run *run, struct id id, struct goal_loaded *loaded,
                      struct arena *arena) {
    *loaded = (struct goal_loaded){.goal = {.id = id}};
    run_begin(run, SQL_GOAL);
    run_id(run, id);
    if (run_row(run)) {
        struct goal *goal = &loaded->goal;
        goal->owner = (uint32_t)row_int(run);
        goal->fence = (uint64_t)row_int(run);
        goal->version = (uint64_t)row_int(run);
        goal->records.seq = (uint64_t)row_int(run);
        goal->records.head = row_hash(run);
        goal->due_at = row_int(run);
        goal->quarantined = row_int(run);
        loaded_hot(loaded, row_bytes(run, arena));
        loaded->owner_epoch = (uint64_t)row_int(run);
        loaded->owner_lives = loaded->owner_epoch > 0 && row_int(run) == HOST_LIVE;
    }
    run_end(run);
    load_effects(run, loaded, arena);
    for (size_t kind = 0; kind < PARTS; kind++)
        if (loaded_has(loaded, (enum part_kind)kind))
            load_parts(run, (enum part_kind)kind, loaded, arena);
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
        sqlite_load_goal(run, request->ids[i], &answer->loaded[i], arena);
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

/* Reads the store's mark. */
void sqlite_read_mark(struct sqlite_run *run, struct store_answer *answer) {
    struct store_mark *mark = &answer->mark;
    run_begin(run, SQL_MARK);
    if (run_row(run)) {
        mark->version = (uint32_t)row_int(run);
        mark->oldest = (uint32_t)row_int(run);
        mark->level = (uint32_t)row_int(run);
        mark->era = (uint64_t)row_int(run);
        mark->instance = row_id(run);
        mark->safe = row_int(run);
        mark->stopped = row_int(run);
    }
    run_end(run);
}

static void host_read(struct sqlite_run *run, struct host_row *row) {
    row->host = (uint32_t)row_int(run);
    row->epoch = (uint64_t)row_int(run);
    row->beat = (uint64_t)row_int(run);
    row->batch = (uint64_t)row_int(run);
    row->state = (enum host_state)row_int(run);
}

void sqlite_hosts(struct sqlite_run *run, const struct store_request *request,
                  struct store_answer *answer, struct arena *arena) {
    answer->hosts = arena_new(arena, struct host_row, request->limit);
    run_begin(run, SQL_HOSTS_ALL);
    run_int(run, request->self.host);
    run_int(run, request->limit);
    while (run_row(run)) {
        struct host_row *row = &answer->hosts[answer->host_count++];
        host_read(run, row);
        row->instance = (uint64_t)row_int(run);
        row->addr = row_bytes(run, arena);
    }
    run_end(run);
}

/* P3: the next neighbours, and the signals forwarded to this host. */
void sqlite_poll(struct sqlite_run *run, const struct store_request *request,
                 struct store_answer *answer, struct arena *arena) {
    answer->hosts = arena_new(arena, struct host_row, LIMIT_NEIGHBOURS);
    answer->inbox = arena_new(arena, struct inbox_row, request->limit);
    run_begin(run, SQL_HOSTS);
    run_int(run, request->self.host);
    run_int(run, LIMIT_NEIGHBOURS);
    while (run_row(run))
        host_read(run, &answer->hosts[answer->host_count++]);
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
    sqlite_read_mark(run, answer);
}

static struct effect_entry *entry_new(struct store_answer *answer, uint32_t *cap,
                                      struct arena *arena) {
    if (answer->effect_count == *cap) {
        *cap = *cap * 2 + 64;
        struct effect_entry *grown = arena_new(arena, struct effect_entry, *cap);
        if (answer->effect_count > 0)
            memcpy(grown, answer->effects, answer->effect_count * sizeof *grown);
        answer->effects = grown;
    }
    return &answer->effects[answer->effect_count++];
}

/* The open effects of all goals in answer->owned. A damaged body is left out. */
void sqlite_effects_of(struct sqlite_run *run, struct store_answer *answer, struct arena *arena) {
    uint32_t cap = 0;
    for (uint32_t i = 0; i < answer->owned_count; i++) {
        run_begin(run, SQL_EFFECTS);
        run_id(run, answer->owned[i].goal);
        while (run_row(run)) {
            struct effect_entry *entry = entry_new(answer, &cap, arena);
            entry->goal = answer->owned[i].goal;
            entry->slot = row_slot(run);
            entry->body = row_bytes(run, arena);
            entry->damaged = !row_unseal(ROW_EFFECT, entry->goal, entry->slot.n, &entry->body);
            if (entry->damaged)
                entry->body = (struct str){0};
        }
        run_end(run);
    }
}

static void owned_page(struct sqlite_run *run, const struct store_request *request,
                       struct store_answer *answer) {
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
}

/* Only these goals, open or not. */
static void owned_only(struct sqlite_run *run, const struct store_request *request,
                       struct store_answer *answer) {
    for (uint32_t i = 0; i < request->only_count; i++) {
        run_begin(run, SQL_OWNED_ONLY);
        run_id(run, request->only[i]);
        run_int(run, request->self.host);
        if (run_row(run))
            answer->owned[answer->owned_count++] =
                (struct due_row){.goal = request->only[i], .due_at = row_int(run)};
        run_end(run);
    }
}

void sqlite_owned(struct sqlite_run *run, const struct store_request *request,
                  struct store_answer *answer, struct arena *arena) {
    bool only = request->only_count > 0;
    answer->owned = arena_new(arena, struct due_row, only ? request->only_count : request->limit);
    if (only)
        owned_only(run, request, answer);
    else
        owned_page(run, request, answer);
    sqlite_effects_of(run, answer, arena);
}
