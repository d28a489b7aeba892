/* SPDX-License-Identifier: Apache-2.0 */
/* Write requests of the PostgreSQL driver. Each transaction is sent as one pipeline: P1. */
#include "store/postgres/postgres_state.h"

#include <stdlib.h>

static bool changed(const PGresult *result) {
    return atoi(PQcmdTuples((PGresult *)(uintptr_t)result)) > 0;
}

/* ---- the host row ---- */

static void take_epoch(struct pg_run *run, const PGresult *result) {
    run->answer->held = PQntuples(result) == 1;
    if (!run->answer->held)
        return;
    run->answer->epoch = (uint64_t)pg_int(result, 0, 0);
    run->answer->batch = (uint64_t)pg_int(result, 0, 1);
}

static struct number_block take_numbers(const PGresult *result, int column) {
    return (struct number_block){(uint64_t)pg_int(result, 0, column),
                                 (uint64_t)pg_int(result, 0, column + 1),
                                 (uint64_t)pg_int(result, 0, column + 2)};
}

static void take_joined(struct pg_run *run, const PGresult *result) {
    take_epoch(run, result);
    if (!run->answer->held)
        return;
    run->answer->beat = (uint64_t)pg_int(result, 0, 3);
    if (PQgetlength(result, 0, 2) == sizeof run->answer->policy)
        memcpy(&run->answer->policy, PQgetvalue(result, 0, 2), sizeof run->answer->policy);
    struct number_block left = take_numbers(result, 4);
    if (left.era == run->answer->mark.era)
        run->answer->numbers = left;
}

/* P13: compares the row as it was found with what its host knows. */
static void take_seen(struct pg_run *run, const struct store_known *known, const PGresult *seen) {
    bool there = PQntuples(seen) == 1;
    run->answer->batch_was = there ? (uint64_t)pg_int(seen, 0, 2) : 0;
    run->answer->back =
        known->epoch > 0 &&
        (known->back || !there || (uint64_t)pg_int(seen, 0, 0) < known->epoch ||
         (uint64_t)pg_int(seen, 0, 1) < known->beat || run->answer->batch_was < known->batch);
}

static void send_back(struct pg_run *run, const struct store_request *request) {
    const struct store_known *known = &request->known;
    struct pg_params seen = {.arena = run->arena}, back = {.arena = run->arena};
    param_int(&seen, request->self.host);
    param_int(&back, request->self.host);
    param_int(&back, request->claims ? (int64_t)request->victim.epoch : -1);
    param_int(&back, (int64_t)known->epoch);
    param_int(&back, (int64_t)known->beat);
    param_int(&back, (int64_t)known->batch);
    param_int(&back, known->epoch > 0 ? (int64_t)known->era : -1);
    param_id(&back, known->instance);
    param_int(&back, known->back);
    pg_send(run, PG_JOIN_SEEN, &seen);
    pg_send(run, PG_JOIN_BACK, &back);
}

/* The store's own row is locked in share mode before the host row is written: the level cannot change until this host
 * has joined. */
void postgres_join(struct pg_run *run, const struct store_request *request) {
    uint32_t speaks = request->speaks ? request->speaks : SCHEMA_LEVEL;
    struct pg_params params = {.arena = run->arena};
    param_int(&params, request->self.host);
    param_int(&params, (int64_t)request->self.instance);
    param_text(&params, request->build);
    param_text(&params, request->addr);
    param_int(&params, speaks);
    param_int(&params, request->claims ? (int64_t)request->victim.epoch : -1);
    param_int(&params, (int64_t)request->known.epoch);
    param_int(&params, (int64_t)request->known.beat);
    param_int(&params, (int64_t)request->known.batch);
    pg_send(run, PG_BEGIN, NULL);
    send_back(run, request);
    pg_send(run, PG_MARK_SHARED, NULL);
    pg_send(run, PG_JOIN, &params);
    pg_send(run, PG_COMMIT, NULL);
    if (!pg_receive(run))
        return;
    run->answer->mark = pg_mark(run->store->results[3], 0);
    take_seen(run, &request->known, run->store->results[1]);
    char why[LIMIT_WHY];
    if (schema_may_join(run->answer->mark.level, speaks, why, sizeof why))
        take_joined(run, run->store->results[4]);
    else
        pg_answer_refused(run, why);
}

void postgres_beat(struct pg_run *run, const struct store_request *request) {
    struct pg_params params = {.arena = run->arena};
    param_int(&params, request->self.host);
    param_int(&params, (int64_t)request->self.epoch);
    param_int(&params, (int64_t)request->known.beat);
    param_int(&params, (int64_t)request->known.batch);
    pg_send(run, PG_BEAT, &params);
    if (pg_receive(run))
        run->answer->held = changed(run->store->results[0]);
}

void postgres_resolve(struct pg_run *run, const struct store_request *request) {
    struct pg_params params = {.arena = run->arena};
    param_int(&params, request->self.host);
    param_int(&params, (int64_t)request->self.instance);
    pg_send(run, PG_RESOLVE, &params);
    if (pg_receive(run))
        take_epoch(run, run->store->results[0]);
}

void postgres_take(struct pg_run *run, const struct store_request *request) {
    struct pg_params params = {.arena = run->arena};
    param_int(&params, request->victim.host);
    param_int(&params, (int64_t)request->victim.epoch);
    param_int(&params, (int64_t)request->victim.beat);
    param_int(&params, request->known.epoch ? request->self.host : 0);
    param_int(&params, (int64_t)request->self.epoch);
    param_int(&params, (int64_t)request->known.beat);
    param_int(&params, (int64_t)request->known.batch);
    param_int(&params, request->known.back);
    pg_send(run, PG_TAKE, &params);
    if (pg_receive(run))
        run->answer->held = PQntuples(run->store->results[0]) > 0;
}

void postgres_numbers(struct pg_run *run, const struct store_request *request) {
    struct pg_params params = {.arena = run->arena};
    param_int(&params, request->self.host);
    param_int(&params, (int64_t)request->self.epoch);
    param_int(&params, request->number_count);
    param_int(&params, (int64_t)request->number_from);
    param_int(&params, (int64_t)number_gap());
    pg_send(run, PG_NUMBERS, &params);
    if (!pg_receive(run))
        return;
    run->answer->held = PQntuples(run->store->results[0]) == 1;
    if (run->answer->held)
        run->answer->numbers = take_numbers(run->store->results[0], 0);
}

/* ---- adopting ---- */

/* One row for each open effect, and one for each goal without any. */
static void take_adopted(struct pg_run *run, const PGresult *rows) {
    struct store_answer *answer = run->answer;
    uint32_t count = (uint32_t)PQntuples(rows);
    answer->owned = arena_new(run->arena, struct due_row, count);
    answer->effects = arena_new(run->arena, struct effect_entry, count);
    for (int i = 0; i < PQntuples(rows); i++) {
        struct id goal = pg_id(rows, i, 0);
        if (answer->owned_count == 0 ||
            !id_equal(answer->owned[answer->owned_count - 1].goal, goal))
            answer->owned[answer->owned_count++] = (struct due_row){goal, pg_int(rows, i, 1)};
        if (!pg_is_null(rows, i, 2))
            answer->effects[answer->effect_count++] =
                pg_entry(goal, pg_slot(rows, i, 2), pg_bytes(rows, i, 7, run->arena));
    }
}

/* P4: the two host rows are locked first, in key order, so that neither can change hands meanwhile. */
void postgres_adopt(struct pg_run *run, const struct store_request *request) {
    struct pg_params lock = {.arena = run->arena}, inbox = {.arena = run->arena},
                     gone = {.arena = run->arena};
    param_int(&lock, request->self.host);
    param_int(&lock, (int64_t)request->self.epoch);
    param_int(&lock, request->victim.host);
    param_int(&lock, (int64_t)request->victim.epoch);
    struct pg_params page = lock;
    if (request->only_count == 0)
        param_int(&page, request->limit);
    else
        param_ids(&page, request->only, request->only_count);
    param_int(&inbox, request->self.host);
    param_int(&inbox, request->victim.host);
    param_int(&gone, request->victim.host);
    param_int(&gone, (int64_t)request->victim.epoch);
    pg_send(run, PG_BEGIN, NULL);
    pg_send(run, PG_ADOPT_LOCK, &lock);
    pg_send(run, request->only_count ? PG_ADOPT_ONLY : PG_ADOPT_PAGE, &page);
    pg_send(run, PG_ADOPT_INBOX, &inbox);
    pg_send(run, PG_ADOPT_GONE, &gone);
    pg_send(run, PG_COMMIT, NULL);
    if (!pg_receive(run))
        return;
    take_adopted(run, run->store->results[2]);
    run->answer->more = request->only_count == 0 && run->answer->owned_count == request->limit;
}

/* Counting the waiting rows costs as much as adding to them. So after a count that had room for all rows, the next ones
 * are added without counting. */
enum { FORWARD_UNCOUNTED = 64 };

static bool forward_counts(struct pg_store *store, uint32_t rows) {
    bool counts = rows > store->uncounted;
    store->uncounted = counts ? 0 : store->uncounted - rows;
    return counts;
}

static void take_forwarded(struct pg_run *run, const PGresult *rows) {
    struct store_answer *answer = run->answer;
    answer->inbox_count = (uint32_t)PQntuples(rows);
    answer->inbox = arena_new(run->arena, struct inbox_row, answer->inbox_count);
    for (int i = 0; i < PQntuples(rows); i++)
        answer->inbox[i] = (struct inbox_row){.source = pg_id(rows, i, 0)};
}

void postgres_forward(struct pg_run *run, const struct store_request *request) {
    struct pg_params params = {.arena = run->arena};
    struct pg_array sources = array_open(run->arena, FIELD_ID),
                    goals = array_open(run->arena, FIELD_ID),
                    bodies = array_open(run->arena, FIELD_BYTES),
                    waits = array_open(run->arena, FIELD_INT);
    for (uint32_t i = 0; i < request->row_count; i++) {
        array_int(&waits, request->rows[i].may_wait);
        array_bytes(&sources, request->rows[i].source.bytes, sizeof(struct id));
        array_bytes(&goals, request->rows[i].goal.bytes, sizeof(struct id));
        array_bytes(&bodies, request->rows[i].body.at, request->rows[i].body.len);
    }
    param_array(&params, &sources);
    param_array(&params, &goals);
    param_array(&params, &bodies);
    param_array(&params, &waits);
    bool counts = forward_counts(run->store, request->row_count);
    param_int(&params, counts ? LIMIT_INBOX : 0);
    pg_send(run, PG_FORWARD, &params);
    if (!pg_receive(run))
        return;
    take_forwarded(run, run->store->results[0]);
    if (counts && run->answer->inbox_count == request->row_count)
        run->store->uncounted = FORWARD_UNCOUNTED;
}

/* ---- committing: rows become columns ---- */

/* In the order of the statement's parameters, from $4 on. */
enum column {
    UPDATED_GOAL,
    UPDATED_EXPECTED,
    UPDATED_VERSION,
    UPDATED_SEQ,
    UPDATED_HEAD,
    UPDATED_DUE,
    UPDATED_OPEN,
    UPDATED_ASIDE,
    UPDATED_HOT,
    RECORD_DAY,
    RECORD_N,
    RECORD_GOAL,
    RECORD_SEQ,
    RECORD_AT,
    RECORD_TYPE,
    RECORD_CORE,
    RECORD_POLICY,
    RECORD_HASH,
    RECORD_BODY,
    LEAN_COLUMNS,
    MADE_GOAL = LEAN_COLUMNS,
    MADE_FENCE,
    MADE_VERSION,
    MADE_SEQ,
    MADE_HEAD,
    MADE_DUE,
    MADE_OPEN,
    MADE_ASIDE,
    MADE_HOT,
    EFFECT_GOAL,
    EFFECT_N,
    EFFECT_HOST,
    EFFECT_STATE_,
    EFFECT_KIND,
    EFFECT_UNTIL,
    EFFECT_BODY,
    MOVED_GOAL,
    MOVED_N,
    MOVED_HOST,
    MOVED_STATE,
    MOVED_UNTIL,
    ENDED_GOAL,
    ENDED_N,
    INBOX_GOAL,
    INBOX_SOURCE,
    SEEN_GOAL,
    SEEN_SOURCE,
    SEEN_AT,
    ASIDE_GOAL,
    ASIDE_SOURCE,
    ASIDE_AT,
    ASIDE_WHY,
    ASIDE_BODY,
    FULL_COLUMNS
};

/* u uuid, i integer, y bytes, b boolean, t text: one letter a column. */
static const char COLUMN_TYPES[] = "uiiiyibby"
                                   "iiuiiiiyyy"
                                   "uiiiyibby"
                                   "uiiiiiy"
                                   "uiiii"
                                   "ui"
                                   "uu"
                                   "uui"
                                   "uuity";
_Static_assert(sizeof COLUMN_TYPES == FULL_COLUMNS + 1, "one letter for each column");

struct columns {
    struct pg_array column[FULL_COLUMNS];
};

static enum field_type column_type(char letter) {
    switch (letter) {
    case 'u': return FIELD_ID;
    case 'y': return FIELD_BYTES;
    case 'b': return FIELD_ENUM;
    case 't': return FIELD_TEXT;
    default: return FIELD_INT;
    }
}

static void put_id(struct columns *c, enum column column, struct id id) {
    array_bytes(&c->column[column], id.bytes, sizeof id.bytes);
}

static void put_int(struct columns *c, enum column column, uint64_t value) {
    array_int(&c->column[column], (int64_t)value);
}

static void put_run(struct columns *c, enum column column, struct str run) {
    array_bytes(&c->column[column], run.at, run.len);
}

static void put_hash(struct columns *c, enum column column, const struct hash *hash) {
    array_bytes(&c->column[column], hash->bytes, sizeof hash->bytes);
}

/* Updated and new goals have most columns in common, and in the same order. */
static void put_goal(struct columns *c, const struct goal_commit *commit) {
    const struct goal *goal = &commit->goal;
    bool made = commit->expected == 0;
    enum column first = made ? MADE_VERSION : UPDATED_VERSION;
    put_id(c, made ? MADE_GOAL : UPDATED_GOAL, goal->id);
    put_int(c, made ? MADE_FENCE : UPDATED_EXPECTED, made ? goal->fence : commit->expected);
    put_int(c, first, goal->version);
    put_int(c, first + 1, goal->records.seq);
    put_hash(c, first + 2, &goal->records.head);
    put_int(c, first + 3, (uint64_t)goal->due_at);
    array_bool(&c->column[first + 4], goal_is_open(goal));
    array_bool(&c->column[first + 5], goal->quarantined);
    if (commit->keep_hot)
        array_null(&c->column[first + 6]);
    else
        put_run(c, first + 6, commit->hot);
}

static void put_record(struct columns *c, struct id goal, const struct record *record) {
    put_int(c, RECORD_DAY, (uint64_t)time_day(record->at));
    put_int(c, RECORD_N, c->column[RECORD_N].count);
    put_id(c, RECORD_GOAL, goal);
    put_int(c, RECORD_SEQ, record->seq);
    put_int(c, RECORD_AT, (uint64_t)record->at);
    put_int(c, RECORD_TYPE, record->type);
    put_int(c, RECORD_CORE, record->core);
    put_hash(c, RECORD_POLICY, &record->policy);
    put_hash(c, RECORD_HASH, &record->hash);
    put_run(c, RECORD_BODY, record->body);
}

static void put_effect(struct columns *c, struct id goal, const struct effect_change *change) {
    static const enum column GOAL[] = {EFFECT_GOAL, MOVED_GOAL, ENDED_GOAL};
    const struct effect_slot *slot = &change->slot;
    enum column column = GOAL[change->op];
    put_id(c, column++, goal);
    put_int(c, column++, slot->n);
    if (change->op == EFFECT_OP_END)
        return;
    put_int(c, column++, slot->run_host);
    put_int(c, column++, slot->state);
    if (change->op == EFFECT_OP_MAKE)
        put_int(c, column++, slot->kind);
    put_int(c, column++, (uint64_t)slot->until);
    if (change->op == EFFECT_OP_MAKE)
        put_run(c, column, change->sealed);
}

static void put_sources(struct columns *c, const struct goal_commit *commit) {
    for (uint32_t i = 0; i < commit->inbox_count; i++) {
        put_id(c, INBOX_GOAL, commit->goal.id);
        put_id(c, INBOX_SOURCE, commit->inbox_done[i]);
    }
    for (uint32_t i = 0; i < commit->seen_count; i++) {
        put_id(c, SEEN_GOAL, commit->goal.id);
        put_id(c, SEEN_SOURCE, commit->seen[i]);
        put_int(c, SEEN_AT, (uint64_t)commit->goal.times.updated_at);
    }
    for (uint32_t i = 0; i < commit->aside_count; i++) {
        put_id(c, ASIDE_GOAL, commit->goal.id);
        put_id(c, ASIDE_SOURCE, commit->aside[i].source);
        put_int(c, ASIDE_AT, (uint64_t)commit->aside[i].at);
        put_run(c, ASIDE_WHY, commit->aside[i].why);
        put_run(c, ASIDE_BODY, commit->aside[i].body);
    }
}

static void put_commit(struct columns *c, const struct goal_commit *commit) {
    put_goal(c, commit);
    for (uint32_t i = 0; i < commit->record_count; i++)
        put_record(c, commit->goal.id, &commit->records[i]);
    for (uint32_t i = 0; i < commit->effect_count; i++)
        put_effect(c, commit->goal.id, &commit->effects[i]);
    put_sources(c, commit);
}

/* Most batches only advance existing goals: they need a third of the columns. */
static bool is_lean(const struct columns *c) {
    for (int column = LEAN_COLUMNS; column < FULL_COLUMNS; column++)
        if (c->column[column].count > 0)
            return false;
    return true;
}

/* The statements of a commit, all built before the first one is sent: if memory runs out, none is sent. */
struct sends {
    struct arena *arena;
    enum pg_sql sql[PG_MAX_RESULTS];
    struct pg_params params[PG_MAX_RESULTS];
    int count;
};

static struct pg_params *sends_add(struct sends *sends, enum pg_sql sql) {
    must(sends->count < PG_MAX_RESULTS);
    struct pg_params *params = &sends->params[sends->count];
    sends->sql[sends->count++] = sql;
    params->arena = sends->arena;
    return params;
}

static void add_views(struct sends *sends, const struct store_request *request) {
    struct pg_array *arrays = view_arrays(sends->arena);
    for (uint32_t i = 0; i < request->commit_count; i++) {
        struct goal_view view = view_of(&request->commits[i]);
        if (request->commits[i].view_changed)
            view_put(arrays, &view);
    }
    if (arrays[0].count == 0)
        return;
    struct pg_params *params = sends_add(sends, PG_COMMIT_VIEWS);
    param_int(params, request->self.host);
    for (size_t i = 0; i < GOAL_VIEW.count; i++)
        param_array(params, &arrays[i]);
}

static void add_tags(struct sends *sends, const struct store_request *request) {
    struct pg_array tagged = array_open(sends->arena, FIELD_ID),
                    goals = array_open(sends->arena, FIELD_ID),
                    tags = array_open(sends->arena, FIELD_TEXT);
    for (uint32_t i = 0; i < request->commit_count; i++) {
        const struct goal_commit *commit = &request->commits[i];
        if (!commit->tags)
            continue;
        array_bytes(&tagged, commit->goal.id.bytes, sizeof commit->goal.id);
        for (uint32_t t = 0; t < commit->tags->tags.count; t++) {
            array_bytes(&goals, commit->goal.id.bytes, sizeof commit->goal.id);
            array_bytes(&tags, commit->tags->tags.at[t].at, commit->tags->tags.at[t].len);
        }
    }
    if (tagged.count == 0)
        return;
    struct pg_params *params = sends_add(sends, PG_COMMIT_TAGS);
    param_array(params, &tagged);
    param_array(params, &goals);
    param_array(params, &tags);
}

static void add_texts(struct sends *sends, const struct store_request *request) {
    struct pg_array goals = array_open(sends->arena, FIELD_ID),
                    hashes = array_open(sends->arena, FIELD_BYTES),
                    bodies = array_open(sends->arena, FIELD_BYTES);
    for (uint32_t i = 0; i < request->commit_count; i++) {
        const struct goal_commit *commit = &request->commits[i];
        for (uint32_t t = 0; t < commit->text_count; t++) {
            array_bytes(&goals, commit->goal.id.bytes, sizeof commit->goal.id);
            array_bytes(&hashes, commit->texts[t].hash.bytes, sizeof(struct hash));
            array_bytes(&bodies, commit->texts[t].body.at, commit->texts[t].body.len);
        }
    }
    if (goals.count == 0)
        return;
    struct pg_params *params = sends_add(sends, pg_add(TABLE_TEXT));
    param_array(params, &goals);
    param_array(params, &hashes);
    param_array(params, &bodies);
}

/* Parts to write, then parts to delete. */
struct part_arrays {
    struct pg_array goals, ns, names, bodies, gone_goals, gone_ns;
};

static void part_put(struct part_arrays *to, struct id goal, const struct part_change *change) {
    array_bytes(change->gone ? &to->gone_goals : &to->goals, goal.bytes, sizeof goal.bytes);
    array_int(change->gone ? &to->gone_ns : &to->ns, change->n);
    if (change->gone)
        return;
    array_bytes(&to->names, change->name.at, change->name.len);
    array_bytes(&to->bodies, change->body.at, change->body.len);
}

static void add_parts(struct sends *sends, const struct store_request *request,
                      enum part_kind kind) {
    struct arena *arena = sends->arena;
    struct part_arrays to = {array_open(arena, FIELD_ID),   array_open(arena, FIELD_INT),
                             array_open(arena, FIELD_TEXT), array_open(arena, FIELD_BYTES),
                             array_open(arena, FIELD_ID),   array_open(arena, FIELD_INT)};
    for (uint32_t i = 0; i < request->commit_count; i++)
        for (uint32_t p = 0; p < request->commits[i].part_count; p++)
            if (request->commits[i].parts[p].kind == kind)
                part_put(&to, request->commits[i].goal.id, &request->commits[i].parts[p]);
    if (to.goals.count == 0 && to.gone_goals.count == 0)
        return;
    struct pg_params *params = sends_add(sends, PG_COMMIT_PARTS + kind);
    param_array(params, &to.goals);
    param_array(params, &to.ns);
    param_array(params, &to.names);
    param_array(params, &to.bodies);
    param_array(params, &to.gone_goals);
    param_array(params, &to.gone_ns);
}

static int commit_compare(const void *key, const void *at) {
    return id_compare(*(const struct id *)key, ((const struct goal_commit *)at)->goal.id);
}

static void take_committed(struct pg_run *run, const struct store_request *request,
                           const PGresult *rows) {
    for (int i = 0; i < PQntuples(rows); i++) {
        struct id id = pg_id(rows, i, 0);
        struct goal_commit *commit =
            bsearch(&id, request->commits, request->commit_count, sizeof *commit, commit_compare);
        if (commit)
            commit->ok = true;
    }
    run->answer->held = changed(run->store->results[1]);
}

static void add_goals(struct sends *sends, const struct store_request *request,
                      const struct pg_params *batch) {
    struct columns *c = arena_new(sends->arena, struct columns, 1);
    for (int i = 0; i < FULL_COLUMNS; i++)
        c->column[i] = array_open(sends->arena, column_type(COLUMN_TYPES[i]));
    for (uint32_t i = 0; i < request->commit_count; i++) {
        request->commits[i].ok = false;
        put_commit(c, &request->commits[i]);
    }
    bool lean = is_lean(c);
    struct pg_params *params = sends_add(sends, lean ? PG_COMMIT_LEAN : PG_COMMIT_FULL);
    *params = *batch;
    for (int i = 0; i < (lean ? LEAN_COLUMNS : FULL_COLUMNS); i++)
        param_array(params, &c->column[i]);
}

/* P6: the host row, then one statement that applies everything to the goals that are still as they were read. The rows
 * of other tables follow, for the goals that this transaction has written: these goal rows are locked by now, so no
 * other transaction writes to these tables for them. */
void postgres_commit(struct pg_run *run, const struct store_request *request) {
    struct sends *sends = arena_new(run->arena, struct sends, 1);
    sends->arena = run->arena;
    sends_add(sends, PG_BEGIN);
    struct pg_params *batch = sends_add(sends, PG_BATCH);
    param_int(batch, request->self.host);
    param_int(batch, (int64_t)request->self.epoch);
    param_int(batch, (int64_t)request->batch);
    add_goals(sends, request, batch);
    param_int(batch, (int64_t)request->number_next);
    add_views(sends, request);
    add_tags(sends, request);
    for (enum part_kind kind = 0; kind < PARTS; kind++)
        add_parts(sends, request, kind);
    add_texts(sends, request);
    sends_add(sends, PG_COMMIT);
    for (int i = 0; i < sends->count; i++)
        pg_send(run, sends->sql[i], &sends->params[i]);
    if (pg_receive(run))
        take_committed(run, request, run->store->results[2]);
}
