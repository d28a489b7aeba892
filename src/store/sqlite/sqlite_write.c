/* SPDX-License-Identifier: Apache-2.0 */
/* Write requests of the SQLite driver. Each function runs inside one immediate transaction. */
#include "store/migrate.h"
#include "store/sqlite/sqlite_state.h"

static void take_epoch(struct sqlite_run *run, struct store_answer *answer) {
    answer->held = run_row(run);
    if (answer->held) {
        answer->epoch = (uint64_t)row_int(run);
        answer->batch = (uint64_t)row_int(run);
        answer->policy = row_hash(run); /* a resolve returns none */
    }
    run_end(run);
}

/* ---- numbers for names ---- */

struct numbering {
    struct number_block block; /* of this host */
    uint64_t era, numbered, numbered_era;
};

static bool numbering_read(struct sqlite_run *run, const struct store_self *self,
                           struct numbering *ret) {
    run_begin(run, SQL_NUMBERS);
    run_int(run, self->host);
    run_int(run, (int64_t)self->epoch);
    bool held = run_row(run);
    if (held) {
        ret->block.next = (uint64_t)row_int(run);
        ret->block.end = (uint64_t)row_int(run);
        ret->block.era = (uint64_t)row_int(run);
        ret->era = (uint64_t)row_int(run);
        ret->numbered = (uint64_t)row_int(run);
        ret->numbered_era = (uint64_t)row_int(run);
    }
    run_end(run);
    return held;
}

/* The highest number that may have been given. A restore may have forgotten some: they are left out. */
static uint64_t numbered_to(struct sqlite_run *run, const struct numbering *now) {
    if (now->numbered_era == now->era)
        return now->numbered;
    run_begin(run, SQL_NUMBERS_HIGHEST);
    uint64_t highest = run_row(run) ? (uint64_t)row_int(run) : 0;
    run_end(run);
    highest = now->numbered > highest ? now->numbered : highest;
    return highest + number_gap() * (now->era - now->numbered_era);
}

/* P15: a block that ends where the new numbers begin grows; any other is given up. */
void sqlite_numbers(struct sqlite_run *run, const struct store_request *request,
                    struct store_answer *answer, struct arena *arena) {
    (void)arena;
    struct numbering now = {0};
    answer->held = numbering_read(run, &request->self, &now);
    if (!answer->held)
        return;
    uint64_t first = numbered_to(run, &now) + 1;
    if (first < request->number_from)
        first = request->number_from;
    bool grows = now.block.era == now.era && now.block.end == first;
    answer->numbers = (struct number_block){grows ? now.block.next : first,
                                            first + request->number_count, now.era};
    run_begin(run, SQL_NUMBERS_TAKEN);
    run_int(run, (int64_t)answer->numbers.end - 1);
    run_change(run);
    run_begin(run, SQL_NUMBERS_HOST);
    run_int(run, request->self.host);
    run_int(run, (int64_t)answer->numbers.next);
    run_int(run, (int64_t)answer->numbers.end);
    run_int(run, (int64_t)now.era);
    run_change(run);
}

/* What is left of this host's block, unless that is of an earlier era. */
static void numbers_left(struct sqlite_run *run, const struct store_request *request,
                         struct store_answer *answer) {
    struct numbering now = {0};
    struct store_self self = {.host = request->self.host, .epoch = answer->epoch};
    if (answer->held && numbering_read(run, &self, &now) && now.block.era == now.era)
        answer->numbers = now.block;
}

/* ---- the host row ---- */

/* A host that does not speak the store's level may not join. */
static bool join_allowed(struct sqlite_run *run, uint32_t speaks, struct store_answer *answer) {
    sqlite_read_mark(run, answer);
    struct sqlite_store *store = run->store;
    if (run->code || schema_may_join(answer->mark.level, speaks, store->why, sizeof store->why))
        return !run->code;
    run->code = SQLITE_MISMATCH;
    return false;
}

void sqlite_join(struct sqlite_run *run, const struct store_request *request,
                 struct store_answer *answer, struct arena *arena) {
    (void)arena;
    uint32_t speaks = request->speaks ? request->speaks : SCHEMA_LEVEL;
    if (!join_allowed(run, speaks, answer))
        return;
    run_begin(run, SQL_JOIN);
    run_int(run, request->self.host);
    run_int(run, (int64_t)request->self.instance);
    run_text(run, request->build);
    run_text(run, request->addr);
    run_int(run, speaks);
    run_int(run, request->claims ? (int64_t)request->victim.epoch : -1);
    take_epoch(run, answer);
    numbers_left(run, request, answer);
    run_begin(run, SQL_LEVEL);
    run_change(run);
    sqlite_read_mark(run, answer);
}

void sqlite_beat(struct sqlite_run *run, const struct store_request *request,
                 struct store_answer *answer, struct arena *arena) {
    (void)arena;
    run_begin(run, SQL_BEAT);
    run_int(run, request->self.host);
    run_int(run, (int64_t)request->self.epoch);
    answer->held = run_change(run);
    run_begin(run, SQL_LEVEL);
    run_change(run);
}

void sqlite_take(struct sqlite_run *run, const struct store_request *request,
                 struct store_answer *answer, struct arena *arena) {
    (void)arena;
    run_begin(run, SQL_TAKE);
    run_int(run, request->victim.host);
    run_int(run, (int64_t)request->victim.epoch);
    run_int(run, (int64_t)request->victim.beat);
    answer->held = run_change(run);
}

/* ---- adopting ---- */

static bool adopt_allowed(struct sqlite_run *run, const struct store_request *request) {
    run_begin(run, SQL_ADOPT_GUARD);
    run_int(run, request->self.host);
    run_int(run, (int64_t)request->self.epoch);
    run_int(run, request->victim.host);
    run_int(run, (int64_t)request->victim.epoch);
    bool allowed = run_row(run) && row_int(run) == 2;
    run_end(run);
    return allowed;
}

static void adopt_page(struct sqlite_run *run, const struct store_request *request,
                       struct store_answer *answer) {
    run_begin(run, SQL_ADOPT_PAGE);
    run_int(run, request->victim.host);
    run_int(run, request->limit);
    while (run_row(run))
        answer->owned[answer->owned_count++].goal = row_id(run);
    run_end(run);
    answer->more = answer->owned_count == request->limit;
}

static bool adopt_goal(struct sqlite_run *run, const struct store_request *request,
                       struct due_row *row) {
    run_begin(run, SQL_ADOPT_GOAL);
    run_int(run, request->self.host);
    run_id(run, row->goal);
    run_int(run, request->victim.host);
    bool adopted = run_row(run);
    if (adopted)
        row->due_at = row_int(run);
    run_end(run);
    if (!adopted)
        return false;
    run_begin(run, SQL_ADOPT_EFFECTS);
    run_id(run, row->goal);
    run_change(run);
    run_begin(run, SQL_ADOPT_INBOX);
    run_int(run, request->self.host);
    run_id(run, row->goal);
    run_change(run);
    return true;
}

/* P4: the goals of a lost host, a page at a time, in key order. */
void sqlite_adopt(struct sqlite_run *run, const struct store_request *request,
                  struct store_answer *answer, struct arena *arena) {
    uint32_t room = request->only_count > request->limit ? request->only_count : request->limit;
    answer->owned = arena_new(arena, struct due_row, room);
    if (!adopt_allowed(run, request))
        return;
    for (uint32_t i = 0; i < request->only_count; i++)
        answer->owned[answer->owned_count++].goal = request->only[i];
    if (request->only_count == 0)
        adopt_page(run, request, answer);
    uint32_t asked = answer->owned_count;
    answer->owned_count = 0;
    for (uint32_t i = 0; i < asked; i++)
        if (adopt_goal(run, request, &answer->owned[i]))
            answer->owned[answer->owned_count++] = answer->owned[i];
    sqlite_effects_of(run, answer, arena);
    run_begin(run, SQL_ADOPT_GONE);
    run_int(run, request->victim.host);
    run_int(run, (int64_t)request->victim.epoch);
    run_change(run);
}

void sqlite_resolve(struct sqlite_run *run, const struct store_request *request,
                    struct store_answer *answer, struct arena *arena) {
    (void)arena;
    run_begin(run, SQL_RESOLVE);
    run_int(run, request->self.host);
    run_int(run, (int64_t)request->self.instance);
    take_epoch(run, answer);
}

void sqlite_forward(struct sqlite_run *run, const struct store_request *request,
                    struct store_answer *answer, struct arena *arena) {
    answer->inbox = arena_new(arena, struct inbox_row, request->row_count);
    for (uint32_t i = 0; i < request->row_count; i++) {
        run_begin(run, SQL_FORWARD);
        run_id(run, request->rows[i].source);
        run_id(run, request->rows[i].goal);
        run_blob(run, request->rows[i].body.at, request->rows[i].body.len);
        run_int(run, LIMIT_INBOX);
        run_int(run, request->rows[i].may_wait);
        if (run_change(run))
            answer->inbox[answer->inbox_count++] =
                (struct inbox_row){.source = request->rows[i].source};
    }
}
