/* SPDX-License-Identifier: Apache-2.0 */
/* Read requests of the PostgreSQL driver. */
#include "store/postgres/postgres_state.h"

static void goal_row(const PGresult *result, int row, struct goal_loaded *loaded,
                     struct arena *arena) {
    struct goal *goal = &loaded->goal;
    goal->owner = (uint32_t)pg_int(result, row, 1);
    goal->fence = (uint64_t)pg_int(result, row, 2);
    goal->version = (uint64_t)pg_int(result, row, 3);
    goal->records.seq = (uint64_t)pg_int(result, row, 4);
    if (PQgetlength(result, row, 5) == sizeof goal->records.head.bytes)
        memcpy(goal->records.head.bytes, PQgetvalue(result, row, 5),
               sizeof goal->records.head.bytes);
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
        struct id goal = pg_id(effects, row, 0);
        int64_t place = id_place(request->ids, request->id_count, goal);
        if (place < 0)
            continue;
        struct effect_slot slot = pg_slot(effects, row, 1);
        struct str body = pg_bytes(effects, row, 6, run->arena);
        loaded_effect(&run->answer->loaded[place], slot);
        if (!row_unseal(ROW_EFFECT, goal, slot.n, &body))
            run->answer->loaded[place].whole = false;
    }
}

static void take_parts(struct pg_run *run, const struct store_request *request, enum part_kind kind,
                       const PGresult *rows) {
    for (int row = 0; row < PQntuples(rows); row++) {
        int64_t place = id_place(request->ids, request->id_count, pg_id(rows, row, 0));
        if (place >= 0)
            loaded_part(&run->answer->loaded[place], kind, (uint32_t)pg_int(rows, row, 1),
                        pg_bytes(rows, row, 2, run->arena), run->arena);
    }
}

/* P5: the goal rows first, then their children. */
void pg_send_goals(struct pg_run *run, const struct store_request *request) {
    struct pg_params ids = {.arena = run->arena};
    param_ids(&ids, request->ids, request->id_count);
    pg_send(run, PG_GOALS, &ids);
    pg_send(run, PG_EFFECTS, &ids);
    for (enum part_kind kind = 0; kind < PARTS; kind++)
        if (PART[kind].live)
            pg_send(run, PG_PARTS + kind, &ids);
}

/* Takes results in the order of pg_send_goals(); returns the first result after them. */
PGresult **pg_take_goals(struct pg_run *run, const struct store_request *request, PGresult **next) {
    run->answer->loaded = arena_new(run->arena, struct goal_loaded, request->id_count);
    for (uint32_t i = 0; i < request->id_count; i++)
        run->answer->loaded[i].goal.id = request->ids[i];
    take_goals(run, request, next[0], next[1]);
    next += 2;
    for (enum part_kind kind = 0; kind < PARTS; kind++)
        if (PART[kind].live)
            take_parts(run, request, kind, *next++);
    return next;
}

static void take_flags(const PGresult *result, bool *flags) {
    for (int row = 0; row < PQntuples(result); row++)
        flags[pg_int(result, row, 0) - 1] = true;
}

void postgres_load(struct pg_run *run, const struct store_request *request) {
    struct store_answer *answer = run->answer;
    answer->seen = arena_new(run->arena, bool, request->key_count);
    answer->stands = arena_new(run->arena, bool, request->mark_count);
    if (request->id_count > 0)
        pg_send_goals(run, request);
    if (request->key_count > 0)
        send_sources(run, request);
    if (request->mark_count > 0)
        send_marks(run, request);
    if (!pg_receive(run))
        return;
    PGresult **next = run->store->results;
    if (request->id_count > 0)
        next = pg_take_goals(run, request, next);
    if (request->key_count > 0)
        take_flags(*next++, answer->seen);
    if (request->mark_count > 0)
        take_flags(*next++, answer->stands);
}

/* Raises the level once every host speaks it. Joins wait meanwhile, so no host that does not speak it can join in
 * between. */
static void level_raise(struct pg_run *run, const struct pg_params *host) {
    int first = run->store->result_count;
    pg_send(run, PG_BEGIN, NULL);
    pg_send(run, PG_LEVEL_LOCK, NULL);
    pg_send(run, PG_LEVEL_RAISE, host);
    pg_send(run, PG_COMMIT, NULL);
    if (!pg_receive(run))
        return;
    const PGresult *raised = run->store->results[first + 2];
    if (PQntuples(raised) == 1)
        run->answer->mark.level = (uint32_t)pg_int(raised, 0, 0);
}

static struct host_row host_of(const PGresult *rows, int i, int column) {
    return (struct host_row){.host = (uint32_t)pg_int(rows, i, column),
                             .epoch = (uint64_t)pg_int(rows, i, column + 1),
                             .beat = (uint64_t)pg_int(rows, i, column + 2),
                             .batch = (uint64_t)pg_int(rows, i, column + 3),
                             .state = (enum host_state)pg_int(rows, i, column + 4)};
}

void postgres_hosts(struct pg_run *run, const struct store_request *request) {
    struct pg_params params = {.arena = run->arena};
    param_int(&params, request->self.host);
    param_int(&params, request->limit);
    pg_send(run, PG_HOSTS_ALL, &params);
    if (!pg_receive(run))
        return;
    const PGresult *rows = run->store->results[0];
    run->answer->host_count = (uint32_t)PQntuples(rows);
    run->answer->hosts = arena_new(run->arena, struct host_row, run->answer->host_count);
    for (int i = 0; i < PQntuples(rows); i++) {
        run->answer->hosts[i] = host_of(rows, i, 0);
        run->answer->hosts[i].instance = (uint64_t)pg_int(rows, i, 5);
        run->answer->hosts[i].addr = pg_bytes(rows, i, 6, run->arena);
    }
}

/* Columns of a poll after those of the mark. */
enum { POLL_LEVEL = 8, POLL_HOST = 9, POLL_SOURCE = 14, POLL_GOAL, POLL_BODY };

static void take_poll(struct pg_run *run, const PGresult *rows) {
    struct store_answer *answer = run->answer;
    int count = PQntuples(rows);
    answer->hosts = arena_new(run->arena, struct host_row, (uint32_t)count);
    answer->inbox = arena_new(run->arena, struct inbox_row, (uint32_t)count);
    for (int i = 0; i < count; i++)
        if (!pg_is_null(rows, i, POLL_HOST))
            answer->hosts[answer->host_count++] = host_of(rows, i, POLL_HOST);
        else if (!pg_is_null(rows, i, POLL_SOURCE))
            answer->inbox[answer->inbox_count++] =
                (struct inbox_row){.source = pg_id(rows, i, POLL_SOURCE),
                                   .goal = pg_id(rows, i, POLL_GOAL),
                                   .body = pg_bytes(rows, i, POLL_BODY, run->arena)};
}

/* P3: the next neighbours, the signals forwarded to this host, and the store's mark. */
void postgres_poll(struct pg_run *run, const struct store_request *request) {
    struct pg_params params = {.arena = run->arena}, host = {.arena = run->arena};
    param_int(&host, request->self.host);
    param_int(&params, request->self.host);
    param_int(&params, LIMIT_NEIGHBOURS);
    param_int(&params, request->limit);
    pg_send(run, PG_POLL, &params);
    if (!pg_receive(run))
        return;
    const PGresult *rows = run->store->results[0];
    take_poll(run, rows);
    run->answer->mark = pg_mark(rows, 0);
    if (!pg_is_null(rows, 0, POLL_LEVEL) && pg_int(rows, 0, POLL_LEVEL))
        level_raise(run, &host);
}

struct effect_entry pg_entry(struct id goal, struct effect_slot slot, struct str sealed) {
    struct effect_entry entry = {.goal = goal, .slot = slot, .body = sealed};
    entry.damaged = !row_unseal(ROW_EFFECT, goal, slot.n, &entry.body);
    if (entry.damaged)
        entry.body = (struct str){0};
    return entry;
}

static void send_owned(struct pg_run *run, const struct store_request *request) {
    struct pg_params params = {.arena = run->arena}, ids = {.arena = run->arena};
    param_int(&params, request->self.host);
    if (request->only_count > 0) {
        param_ids(&params, request->only, request->only_count);
        param_ids(&ids, request->only, request->only_count);
        pg_send(run, PG_OWNED_ONLY, &params);
        pg_send(run, PG_EFFECTS, &ids);
        return;
    }
    param_id(&params, request->after);
    param_int(&params, request->limit);
    pg_send(run, PG_OWNED, &params);
    pg_send(run, PG_OWNED_EFFECTS, &params);
}

static bool owned_has(const struct store_answer *answer, struct id goal, uint32_t *at) {
    while (*at < answer->owned_count && id_compare(answer->owned[*at].goal, goal) < 0)
        ++*at;
    return *at < answer->owned_count && id_equal(answer->owned[*at].goal, goal);
}

/* Goals and effects both come in key order. An effect whose goal is missing belongs to another host by now. */
void postgres_owned(struct pg_run *run, const struct store_request *request) {
    struct store_answer *answer = run->answer;
    send_owned(run, request);
    if (!pg_receive(run))
        return;
    PGresult *goals = run->store->results[0], *effects = run->store->results[1];
    answer->owned_count = (uint32_t)PQntuples(goals);
    answer->more = request->only_count == 0 && answer->owned_count == request->limit;
    answer->owned = arena_new(run->arena, struct due_row, answer->owned_count);
    for (int i = 0; i < PQntuples(goals); i++)
        answer->owned[i] = (struct due_row){pg_id(goals, i, 0), pg_int(goals, i, 1)};
    answer->effects = arena_new(run->arena, struct effect_entry, PQntuples(effects));
    uint32_t at = 0;
    for (int i = 0; i < PQntuples(effects); i++) {
        struct id goal = pg_id(effects, i, 0);
        if (request->only_count == 0 || owned_has(answer, goal, &at))
            answer->effects[answer->effect_count++] =
                pg_entry(goal, pg_slot(effects, i, 1), pg_bytes(effects, i, 6, run->arena));
    }
}
