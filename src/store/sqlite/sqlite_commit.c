/* SPDX-License-Identifier: Apache-2.0 */
/* Commits a batch in SQLite. */
#include "base/planted.h"
#include "store/sqlite/sqlite_state.h"

/* ---- the goal row ---- */

/* Most commits leave `open` and `aside` unchanged. Not naming them spares the index over open goals, which SQLite would
 * otherwise write for every row. */
static bool goal_move_on(struct sqlite_run *run, const struct store_request *request,
                         const struct goal_commit *commit) {
    const struct goal *goal = &commit->goal;
    run_begin(run, SQL_GOAL_MOVE);
    run_int(run, (int64_t)goal->version);
    run_int(run, (int64_t)goal->records.seq);
    run_blob(run, goal->records.head.bytes, sizeof goal->records.head.bytes);
    run_int(run, goal->due_at);
    run_blob(run, commit->hot.at, commit->hot.len);
    run_id_at(run, &goal->id);
    run_int(run, (int64_t)commit->expected);
    run_int(run, request->self.host);
    run_int(run, goal_is_open(goal));
    run_int(run, goal->quarantined);
    return run_change(run);
}

static void goal_bind(struct sqlite_run *run, const struct goal *goal) {
    run_int(run, (int64_t)goal->version);
    run_int(run, (int64_t)goal->records.seq);
    run_blob(run, goal->records.head.bytes, sizeof goal->records.head.bytes);
    run_int(run, goal->due_at);
    run_int(run, goal_is_open(goal));
    run_int(run, goal->quarantined);
}

static bool goal_write(struct sqlite_run *run, const struct store_request *request,
                       const struct goal_commit *commit) {
    const struct goal *goal = &commit->goal;
    if (!planted(NO_VERSION_CHECK) && !commit->keep_hot && goal_move_on(run, request, commit))
        return true;
    run_begin(run, SQL_GOAL_UPDATE);
    goal_bind(run, goal);
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
    goal_bind(run, goal);
    run_blob(run, commit->hot.at, commit->hot.len);
    return run_change(run);
}

/* ---- its children ---- */

void sqlite_record_put(struct sqlite_run *run, const struct id *goal, const struct record *record,
                       int64_t tx, uint32_t n) {
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
        run_blob(run, change->sealed.at, change->sealed.len);
    run_change(run);
}

/* A part nearly always keeps its name. Not setting it spares the index over names. */
static void part_write(struct sqlite_run *run, const struct id *goal,
                       const struct part_change *change) {
    static const enum sql PUTS[] = {SQL_PART_MOVE, SQL_PART_PUT};
    bool written = false;
    for (size_t i = 0; i < count_of(PUTS) && !change->gone && !written; i++) {
        run_begin(run, sql_of_part(PUTS[i], change->kind));
        run_id_at(run, goal);
        run_int(run, change->n);
        run_text(run, change->name);
        run_blob(run, change->body.at, change->body.len);
        written = run_change(run);
    }
    if (!change->gone)
        return;
    run_begin(run, sql_of_part(SQL_PART_GONE, change->kind));
    run_id_at(run, goal);
    run_int(run, change->n);
    run_change(run);
}

void sqlite_text_put(struct sqlite_run *run, const struct id *goal, const struct text_row *text) {
    run_begin(run, sql_add(TABLE_TEXT));
    run_id_at(run, goal);
    run_blob(run, text->hash.bytes, sizeof text->hash.bytes);
    run_blob(run, text->body.at, text->body.len);
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
        run_int(run, commit->goal.times.updated_at);
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

/* ---- list views ---- */

static void tags_write(struct sqlite_run *run, const struct goal_commit *commit,
                       const struct goal_view *view) {
    run_begin(run, commit->tags ? SQL_TAG_CLEAR : SQL_TAG_DISPLAY_STATE);
    run_id_at(run, &view->id);
    if (!commit->tags)
        run_int(run, view->display_state);
    run_change(run);
    for (uint32_t i = 0; commit->tags && i < commit->tags->tags.count; i++) {
        run_begin(run, SQL_TAG_INSERT);
        run_text(run, commit->tags->tags.at[i]);
        run_int(run, view->display_state);
        run_int(run, view->created_at);
        run_id_at(run, &view->id);
        run_change(run);
    }
}

static bool view_put(struct sqlite_run *run, enum sql sql, const struct goal_view *view) {
    run_begin(run, sql);
    if (sql == SQL_VIEW_INSERT)
        run_int(run, sqlite_drawer(view->created_at));
    run_view(run, view);
    return run_change(run);
}

static int64_t view_display_state(struct sqlite_run *run, const struct id *goal) {
    run_begin(run, SQL_VIEW_DISPLAY_STATE);
    run_id_at(run, goal);
    int64_t display_state = run_row(run) ? row_int(run) : DISPLAY_STATES;
    run_end(run);
    return display_state;
}

/* As with the goal row: if display state and status do not change, the index over them is not written. The tally was
 * counted by the row's old display state; after a take-over that may differ from the goal's. */
static void view_write(struct sqlite_run *run, const struct goal_commit *commit, int64_t *tally) {
    struct goal_view view = view_of(commit);
    int64_t was = commit->expected ? view.display_state : DISPLAY_STATES;
    if (commit->expected == 0) {
        view_put(run, SQL_VIEW_INSERT, &view);
    } else if (!view_put(run, SQL_VIEW_MOVE, &view)) {
        was = view_display_state(run, &view.id);
        view_put(run, SQL_VIEW_UPDATE, &view);
    }
    if (commit->expected && commit->title.len > 0)
        view_put(run, SQL_VIEW_TITLE, &view);
    if (commit->expected && commit->numbered)
        view_put(run, SQL_VIEW_NUMBER, &view);
    if (commit->tags || view.display_state != was)
        tags_write(run, commit, &view);
    tally[view.display_state]++;
    if (was >= 0 && was < DISPLAY_STATES)
        tally[was]--;
}

/* The tally is a counter spread over the hosts: each host changes only its own rows. */
static void tally_write(struct sqlite_run *run, uint32_t host, const int64_t *tally) {
    for (size_t display_state = 0; display_state < DISPLAY_STATES; display_state++) {
        if (tally[display_state] == 0)
            continue;
        run_begin(run, SQL_TALLY_ADD);
        run_int(run, host);
        run_int(run, (int64_t)display_state);
        run_int(run, tally[display_state]);
        run_change(run);
    }
}

/* ---- the batch ---- */

int64_t sqlite_next_tx(struct sqlite_run *run) {
    run_begin(run, SQL_NEXT_TX);
    int64_t tx = run_row(run) ? row_int(run) : 0;
    run_end(run);
    return tx;
}

struct writing {
    int64_t tx;
    uint32_t n; /* number of the next record in it */
    int64_t tally[DISPLAY_STATES];
};

static void children_write(struct sqlite_run *run, const struct goal_commit *commit,
                           struct writing *writing) {
    for (uint32_t i = 0; i < commit->record_count; i++)
        sqlite_record_put(run, &commit->goal.id, &commit->records[i], writing->tx, writing->n++);
    for (uint32_t i = 0; i < commit->effect_count; i++)
        effect_write(run, commit->goal.id, &commit->effects[i]);
    for (uint32_t i = 0; i < commit->part_count; i++)
        part_write(run, &commit->goal.id, &commit->parts[i]);
    for (uint32_t i = 0; i < commit->text_count; i++)
        sqlite_text_put(run, &commit->goal.id, &commit->texts[i]);
    sources_write(run, commit);
    if (commit->view_changed)
        view_write(run, commit, writing->tally);
}

/* P6: the host row first; a host that no longer holds it writes nothing. Then each goal whose version and owner are as
 * they were read, with its children. */
void sqlite_commit(struct sqlite_run *run, const struct store_request *request,
                   struct store_answer *answer, struct arena *arena) {
    (void)arena;
    run_begin(run, SQL_BATCH);
    run_int(run, request->self.host);
    run_int(run, (int64_t)request->self.epoch);
    run_int(run, (int64_t)request->batch);
    run_int(run, (int64_t)request->number_next);
    answer->held = run_change(run);
    for (uint32_t i = 0; i < request->commit_count; i++)
        request->commits[i].ok = false;
    if (run->code || !answer->held)
        return;
    struct writing writing = {.tx = sqlite_next_tx(run)};
    for (uint32_t i = 0; i < request->commit_count && !run->code; i++) {
        struct goal_commit *commit = &request->commits[i];
        commit->ok = commit->expected ? goal_write(run, request, commit) : goal_insert(run, commit);
        if (commit->ok)
            children_write(run, commit, &writing);
    }
    tally_write(run, request->self.host, writing.tally);
}
