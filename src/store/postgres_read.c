/* SPDX-License-Identifier: Apache-2.0 */
/* What does the PostgreSQL driver read? */
#include "store/postgres_state.h"

static void param_ids(struct pg_params *params, const struct id *ids, uint32_t count) {
    struct pg_array array = array_open(params->arena, FIELD_ID);
    for (uint32_t i = 0; i < count; i++)
        array_bytes(&array, ids[i].bytes, sizeof ids[i].bytes);
    param_array(params, &array);
}

static void goal_row(const PGresult *result, int row, struct goal_loaded *loaded,
                     struct arena *arena) {
    struct goal *goal = &loaded->goal;
    goal->owner = (uint32_t)pg_int(result, row, 1);
    goal->fence = (uint64_t)pg_int(result, row, 2);
    goal->version = (uint64_t)pg_int(result, row, 3);
    goal->seq = (uint64_t)pg_int(result, row, 4);
    if (PQgetlength(result, row, 5) == sizeof goal->head.bytes)
        memcpy(goal->head.bytes, PQgetvalue(result, row, 5), sizeof goal->head.bytes);
    goal->due_at = pg_int(result, row, 6);
    goal->quarantined = pg_int(result, row, 7);
    loaded_hot(loaded, pg_bytes(result, row, 8, arena));
    loaded->owner_epoch = pg_is_null(result, row, 9) ? 0 : (uint64_t)pg_int(result, row, 9);
    loaded->owner_lives = loaded->owner_epoch > 0 && pg_int(result, row, 10) == HOST_LIVE;
}

static void send_sources(struct pg_run *run, const struct store_request *request) {
    struct pg_params params = {.arena = run->arena};
    struct pg_array goals = array_open(run->arena, FIELD_ID),
                    sources = array_open(run->arena, FIELD_ID);
    for (uint32_t i = 0; i < request->key_count; i++) {
        array_bytes(&goals, request->keys[i].goal.bytes, sizeof(struct id));
        array_bytes(&sources, request->keys[i].source.bytes, sizeof(struct id));
    }
    param_array(&params, &goals);
    param_array(&params, &sources);
    pg_send(run, PG_SEEN, &params);
}

static void send_marks(struct pg_run *run, const struct store_request *request) {
    struct pg_params params = {.arena = run->arena};
    struct pg_array goals = array_open(run->arena, FIELD_ID),
                    seqs = array_open(run->arena, FIELD_INT),
                    hashes = array_open(run->arena, FIELD_BYTES);
    for (uint32_t i = 0; i < request->mark_count; i++) {
        array_bytes(&goals, request->marks[i].goal.bytes, sizeof(struct id));
        array_int(&seqs, (int64_t)request->marks[i].seq);
        array_bytes(&hashes, request->marks[i].hash.bytes, sizeof(struct hash));
    }
    param_array(&params, &goals);
    param_array(&params, &seqs);
    param_array(&params, &hashes);
    pg_send(run, PG_MARKS, &params);
}

static void take_goals(struct pg_run *run, const struct store_request *request,
                       const PGresult *goals, const PGresult *effects) {
    for (int row = 0; row < PQntuples(goals); row++) {
        int64_t place = id_place(request->ids, request->id_count, pg_id(goals, row, 0));
        if (place >= 0)
            goal_row(goals, row, &run->answer->loaded[place], run->arena);
    }
    for (int row = 0; row < PQntuples(effects); row++) {
        int64_t place = id_place(request->ids, request->id_count, pg_id(effects, row, 0));
        if (place >= 0)
            loaded_effect(&run->answer->loaded[place], pg_slot(effects, row, 1));
    }
}

static void take_flags(const PGresult *result, bool *flags) {
    for (int row = 0; row < PQntuples(result); row++)
        flags[pg_int(result, row, 0) - 1] = true;
}

/* P5: the goal rows first, then their children. */
void postgres_load(struct pg_run *run, const struct store_request *request) {
    struct store_answer *answer = run->answer;
    answer->loaded = arena_new(run->arena, struct goal_loaded, request->id_count);
    answer->seen = arena_new(run->arena, bool, request->key_count);
    answer->stands = arena_new(run->arena, bool, request->mark_count);
    for (uint32_t i = 0; i < request->id_count; i++)
        answer->loaded[i].goal.id = request->ids[i];
    struct pg_params ids = {.arena = run->arena};
    param_ids(&ids, request->ids, request->id_count);
    if (request->id_count > 0) {
        pg_send(run, PG_GOALS, &ids);
        pg_send(run, PG_EFFECTS, &ids);
    }
    if (request->key_count > 0)
        send_sources(run, request);
    if (request->mark_count > 0)
        send_marks(run, request);
    if (!pg_receive(run))
        return;
    PGresult **next = run->store->results;
    if (request->id_count > 0) {
        take_goals(run, request, next[0], next[1]);
        next += 2;
    }
    if (request->key_count > 0)
        take_flags(*next++, answer->seen);
    if (request->mark_count > 0)
        take_flags(*next++, answer->stands);
}

/* P3: the next neighbours, and what came for me. */
void postgres_poll(struct pg_run *run, const struct store_request *request) {
    struct store_answer *answer = run->answer;
    struct pg_params hosts = {.arena = run->arena}, inbox = {.arena = run->arena};
    param_int(&hosts, request->self.host);
    param_int(&hosts, LIMIT_WATCHED_HOSTS);
    pg_send(run, PG_HOSTS, &hosts);
    param_int(&inbox, request->self.host);
    param_int(&inbox, request->limit);
    pg_send(run, PG_INBOX, &inbox);
    if (!pg_receive(run))
        return;
    PGresult *rows = run->store->results[0], *mail = run->store->results[1];
    answer->host_count = (uint32_t)PQntuples(rows);
    answer->hosts = arena_new(run->arena, struct host_row, answer->host_count);
    for (int i = 0; i < PQntuples(rows); i++)
        answer->hosts[i] =
            (struct host_row){(uint32_t)pg_int(rows, i, 0), (uint64_t)pg_int(rows, i, 1),
                              (uint64_t)pg_int(rows, i, 2), (uint64_t)pg_int(rows, i, 3),
                              (enum host_state)pg_int(rows, i, 4)};
    answer->inbox_count = (uint32_t)PQntuples(mail);
    answer->inbox = arena_new(run->arena, struct inbox_row, answer->inbox_count);
    for (int i = 0; i < PQntuples(mail); i++)
        answer->inbox[i] = (struct inbox_row){pg_id(mail, i, 0), pg_id(mail, i, 1),
                                              pg_bytes(mail, i, 2, run->arena)};
}

void postgres_owned(struct pg_run *run, const struct store_request *request) {
    struct store_answer *answer = run->answer;
    struct pg_params params = {.arena = run->arena};
    param_int(&params, request->self.host);
    param_id(&params, request->after);
    param_int(&params, request->limit);
    pg_send(run, PG_OWNED, &params);
    pg_send(run, PG_OWNED_EFFECTS, &params);
    if (!pg_receive(run))
        return;
    PGresult *goals = run->store->results[0], *effects = run->store->results[1];
    answer->owned_count = (uint32_t)PQntuples(goals);
    answer->more = answer->owned_count == request->limit;
    answer->owned = arena_new(run->arena, struct due_row, answer->owned_count);
    for (int i = 0; i < PQntuples(goals); i++)
        answer->owned[i] = (struct due_row){pg_id(goals, i, 0), pg_int(goals, i, 1)};
    answer->effect_count = (uint32_t)PQntuples(effects);
    answer->effects = arena_new(run->arena, struct effect_entry, answer->effect_count);
    for (int i = 0; i < PQntuples(effects); i++)
        answer->effects[i] = (struct effect_entry){pg_id(effects, i, 0), pg_slot(effects, i, 1),
                                                   pg_bytes(effects, i, 6, run->arena)};
}

static void take_records(struct pg_run *run, const PGresult *rows, struct goal_shown *shown) {
    shown->record_count = (uint32_t)PQntuples(rows);
    shown->records = arena_new(run->arena, struct record, shown->record_count);
    for (int i = 0; i < PQntuples(rows); i++) {
        struct record *record = &shown->records[i];
        record->seq = (uint64_t)pg_int(rows, i, 0);
        record->at = pg_int(rows, i, 1);
        record->type = (enum record_type)pg_int(rows, i, 2);
        record->core = (uint32_t)pg_int(rows, i, 3);
        if (PQgetlength(rows, i, 4) == 32 && PQgetlength(rows, i, 5) == 32) {
            memcpy(record->policy.bytes, PQgetvalue(rows, i, 4), 32);
            memcpy(record->hash.bytes, PQgetvalue(rows, i, 5), 32);
        }
        record->body = pg_bytes(rows, i, 6, run->arena);
    }
}

void postgres_show(struct pg_run *run, const struct store_request *request) {
    struct store_answer *answer = run->answer;
    answer->loaded = arena_new(run->arena, struct goal_loaded, 1);
    answer->loaded[0].goal.id = request->ids[0];
    struct pg_params ids = {.arena = run->arena}, id = {.arena = run->arena},
                     page = {.arena = run->arena};
    param_ids(&ids, request->ids, 1);
    param_id(&id, request->ids[0]);
    param_id(&page, request->ids[0]);
    param_int(&page, request->limit);
    pg_send(run, PG_GOALS, &ids);
    pg_send(run, PG_EFFECTS, &ids);
    pg_send(run, PG_SHOW_TEXT, &id);
    pg_send(run, PG_SHOW_ASIDE, &id);
    pg_send(run, PG_SHOW_RECORDS, &page);
    if (!pg_receive(run))
        return;
    PGresult **rows = run->store->results;
    take_goals(run, request, rows[0], rows[1]);
    if (PQntuples(rows[2]) > 0)
        answer->shown.title = pg_bytes(rows[2], 0, 0, run->arena);
    if (PQntuples(rows[3]) > 0)
        answer->shown.why_aside = pg_bytes(rows[3], 0, 0, run->arena);
    take_records(run, rows[4], &answer->shown);
}
