/* SPDX-License-Identifier: Apache-2.0 */
/* What does the SQLite driver write? Each function runs inside one immediate transaction. */
#include "base/planted.h"
#include "store/sqlite_state.h"

static void take_epoch(struct sqlite_run *run, struct store_answer *answer) {
    answer->held = run_row(run);
    if (answer->held) {
        answer->epoch = (uint64_t)row_int(run);
        answer->batch = (uint64_t)row_int(run);
    }
    run_end(run);
}

void sqlite_join(struct sqlite_run *run, const struct store_request *request,
                 struct store_answer *answer, struct arena *arena) {
    (void)arena;
    run_begin(run, SQL_JOIN);
    run_int(run, request->self.host);
    run_int(run, (int64_t)request->self.instance);
    run_text(run, request->build);
    run_text(run, request->addr);
    take_epoch(run, answer);
}

void sqlite_beat(struct sqlite_run *run, const struct store_request *request,
                 struct store_answer *answer, struct arena *arena) {
    (void)arena;
    run_begin(run, SQL_BEAT);
    run_int(run, request->self.host);
    run_int(run, (int64_t)request->self.epoch);
    answer->held = run_change(run);
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
    answer->owned = arena_new(arena, struct due_row, request->limit);
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
    (void)answer, (void)arena;
    for (uint32_t i = 0; i < request->row_count; i++) {
        run_begin(run, SQL_FORWARD);
        run_id(run, request->rows[i].source);
        run_id(run, request->rows[i].goal);
        run_blob(run, request->rows[i].body.at, request->rows[i].body.len);
        run_change(run);
    }
}

/* ---- committing ---- */

/* Most commits leave `open` and `aside` as they were. Not naming them spares the index over open goals,
 * which SQLite would otherwise write for every row. */
static bool goal_move_on(struct sqlite_run *run, const struct store_request *request,
                         const struct goal_commit *commit) {
    const struct goal *goal = &commit->goal;
    run_begin(run, SQL_GOAL_MOVE);
    run_int(run, (int64_t)goal->version);
    run_int(run, (int64_t)goal->seq);
    run_blob(run, goal->head.bytes, sizeof goal->head.bytes);
    run_int(run, goal->due_at);
    run_blob(run, commit->hot.at, commit->hot.len);
    run_id_at(run, &goal->id);
    run_int(run, (int64_t)commit->expected);
    run_int(run, request->self.host);
    run_int(run, goal_is_open(goal));
    run_int(run, goal->quarantined);
    return run_change(run);
}

static bool goal_write(struct sqlite_run *run, const struct store_request *request,
                       const struct goal_commit *commit) {
    const struct goal *goal = &commit->goal;
    if (!planted(NO_VERSION_CHECK) && !commit->keep_hot && goal_move_on(run, request, commit))
        return true;
    run_begin(run, SQL_GOAL_UPDATE);
    run_int(run, (int64_t)goal->version);
    run_int(run, (int64_t)goal->seq);
    run_blob(run, goal->head.bytes, sizeof goal->head.bytes);
    run_int(run, goal->due_at);
    run_int(run, goal_is_open(goal));
    run_int(run, goal->quarantined);
    if (commit->keep_hot)
        run_null(run);
    else
        run_blob(run, commit->hot.at, commit->hot.len);
    run_id_at(run, &goal->id);
    run_int(run, (int64_t)commit->expected);
    run_int(run, request->self.host);
    return run_change(run);
}

static bool goal_insert(struct sqlite_run *run, const struct goal_commit *commit) {
    const struct goal *goal = &commit->goal;
    run_begin(run, SQL_GOAL_INSERT);
    run_id(run, goal->id);
    run_int(run, goal->owner);
    run_int(run, (int64_t)goal->fence);
    run_int(run, (int64_t)goal->version);
    run_int(run, (int64_t)goal->seq);
    run_blob(run, goal->head.bytes, sizeof goal->head.bytes);
    run_int(run, goal->due_at);
    run_int(run, goal_is_open(goal));
    run_int(run, goal->quarantined);
    run_blob(run, commit->hot.at, commit->hot.len);
    if (!run_change(run))
        return false;
    run_begin(run, SQL_TEXT_INSERT);
    run_id(run, goal->id);
    run_text(run, commit->title);
    run_change(run);
    return true;
}

static void record_insert(struct sqlite_run *run, const struct id *goal,
                          const struct record *record, int64_t tx, uint32_t n) {
    run_begin(run, SQL_RECORD_INSERT);
    run_int(run, time_day(record->at));
    run_int(run, tx);
    run_int(run, n);
    run_id_at(run, goal);
    run_int(run, (int64_t)record->seq);
    run_int(run, record->at);
    run_int(run, record->type);
    run_int(run, record->core);
    run_blob(run, record->policy.bytes, sizeof record->policy.bytes);
    run_blob(run, record->hash.bytes, sizeof record->hash.bytes);
    run_blob(run, record->body.at, record->body.len);
    run_change(run);
}

static void effect_write(struct sqlite_run *run, struct id goal,
                         const struct effect_change *change) {
    static const enum sql BY_OP[] = {[EFFECT_OP_MAKE] = SQL_EFFECT_PUT,
                                     [EFFECT_OP_MOVE] = SQL_EFFECT_MOVE,
                                     [EFFECT_OP_END] = SQL_EFFECT_END};
    const struct effect_slot *slot = &change->slot;
    run_begin(run, BY_OP[change->op]);
    run_id(run, goal);
    run_int(run, slot->n);
    if (change->op != EFFECT_OP_END) {
        run_int(run, slot->run_host);
        run_int(run, slot->state);
    }
    if (change->op == EFFECT_OP_MAKE)
        run_int(run, slot->kind);
    if (change->op != EFFECT_OP_END)
        run_int(run, slot->until);
    if (change->op == EFFECT_OP_MAKE)
        run_blob(run, change->body.at, change->body.len);
    run_change(run);
}

static void sources_write(struct sqlite_run *run, const struct goal_commit *commit) {
    for (uint32_t i = 0; i < commit->inbox_count; i++) {
        run_begin(run, SQL_INBOX_DONE);
        run_id(run, commit->inbox_done[i]);
        run_change(run);
    }
    for (uint32_t i = 0; i < commit->seen_count; i++) {
        run_begin(run, SQL_SEEN_INSERT);
        run_id(run, commit->goal.id);
        run_id(run, commit->seen[i]);
        run_int(run, commit->goal.updated_at);
        run_change(run);
    }
    for (uint32_t i = 0; i < commit->aside_count; i++) {
        run_begin(run, SQL_ASIDE_INSERT);
        run_id(run, commit->goal.id);
        run_id(run, commit->aside[i].source);
        run_int(run, commit->aside[i].at);
        run_text(run, commit->aside[i].why);
        run_blob(run, commit->aside[i].body.at, commit->aside[i].body.len);
        run_change(run);
    }
}

static void children_write(struct sqlite_run *run, const struct goal_commit *commit, int64_t tx,
                           uint32_t *n) {
    for (uint32_t i = 0; i < commit->record_count; i++)
        record_insert(run, &commit->goal.id, &commit->records[i], tx, (*n)++);
    for (uint32_t i = 0; i < commit->effect_count; i++)
        effect_write(run, commit->goal.id, &commit->effects[i]);
    sources_write(run, commit);
    if (!commit->view_changed)
        return;
    run_begin(run, SQL_VIEW_PUT);
    run_id(run, commit->goal.id);
    run_int(run, goal_face(&commit->goal));
    run_int(run, commit->goal.updated_at);
    run_change(run);
}

/* P6: the host row first; whoever does not hold it any more writes nothing. Then each goal whose version
 * and owner are as they were read, with its children. */
void sqlite_commit(struct sqlite_run *run, const struct store_request *request,
                   struct store_answer *answer, struct arena *arena) {
    (void)arena;
    run_begin(run, SQL_BATCH);
    run_int(run, request->self.host);
    run_int(run, (int64_t)request->self.epoch);
    run_int(run, (int64_t)request->batch);
    answer->held = run_change(run);
    for (uint32_t i = 0; i < request->commit_count; i++)
        request->commits[i].ok = false;
    if (run->code || !answer->held)
        return;
    run_begin(run, SQL_NEXT_TX);
    int64_t tx = run_row(run) ? row_int(run) : 0;
    run_end(run);
    uint32_t n = 0;
    for (uint32_t i = 0; i < request->commit_count && !run->code; i++) {
        struct goal_commit *commit = &request->commits[i];
        commit->ok = commit->expected ? goal_write(run, request, commit) : goal_insert(run, commit);
        if (commit->ok)
            children_write(run, commit, tx, &n);
    }
}
