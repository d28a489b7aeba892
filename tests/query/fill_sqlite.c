/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a million goals into a SQLite file, with the driver's own statements, without its syncs. */
#include "query/query.h"
#include "store/sqlite/sqlite_state.h"

enum { GOALS_A_COMMIT = 1000 };

struct filling {
    struct sqlite_store store;
    struct sqlite_run run;
    int64_t tally[DISPLAY_STATES];
};

static void done(struct filling *filling) {
    run_change(&filling->run);
    if (filling->run.code)
        bench_fail("fill sqlite", sqlite3_errmsg(filling->store.db));
}

static void simple(struct filling *filling, const char *sql) {
    if (sqlite3_exec(filling->store.db, sql, NULL, NULL, NULL) != SQLITE_OK)
        bench_fail(sql, sqlite3_errmsg(filling->store.db));
}

static void goal_put(struct filling *filling, const struct member *member) {
    const struct goal *goal = &member->goal;
    struct sqlite_run *run = &filling->run;
    run_begin(run, SQL_GOAL_INSERT);
    run_id_at(run, &goal->id);
    run_int(run, goal->owner);
    run_int(run, (int64_t)goal->fence);
    run_int(run, (int64_t)goal->version);
    run_int(run, (int64_t)goal->records.seq);
    run_blob(run, goal->records.head.bytes, 32);
    run_int(run, goal->due_at);
    run_int(run, goal_is_open(goal));
    run_int(run, goal->quarantined);
    run_blob(run, member->hot.at, member->hot.len);
    done(filling);
}

static void record_put(struct filling *filling, const struct member *member, uint32_t i) {
    const struct record *record = &member->record;
    struct sqlite_run *run = &filling->run;
    run_begin(run, SQL_RECORD_INSERT);
    run_int(run, time_day(record->at));
    run_int(run, i / GOALS_A_COMMIT + 1);
    run_int(run, i % GOALS_A_COMMIT);
    run_id_at(run, &member->goal.id);
    run_int(run, (int64_t)record->seq);
    run_int(run, record->at);
    run_int(run, record->type);
    run_int(run, record->core);
    run_blob(run, record->policy.bytes, 32);
    run_blob(run, record->hash.bytes, 32);
    run_blob(run, record->body.at, record->body.len);
    done(filling);
}

static void view_put(struct filling *filling, const struct member *member) {
    struct sqlite_run *run = &filling->run;
    run_begin(run, SQL_VIEW_INSERT);
    run_int(run, sqlite_drawer(member->view.created_at));
    run_view(run, &member->view);
    done(filling);
    for (uint32_t i = 0; i < member->tag_count; i++) {
        run_begin(run, SQL_TAG_INSERT);
        run_text(run, member->tags[i]);
        run_int(run, member->view.display_state);
        run_int(run, member->view.created_at);
        run_id_at(run, &member->goal.id);
        done(filling);
    }
    filling->tally[member->view.display_state]++;
}

static void plan_put(struct filling *filling, const struct member *member) {
    struct sqlite_run *run = &filling->run;
    for (uint32_t i = 0; i < member->node_count; i++) {
        const struct part_change *part = &member->nodes[i];
        run_begin(run, sql_of_part(SQL_PART_PUT, part->kind));
        run_id_at(run, &member->goal.id);
        run_int(run, part->n);
        run_text(run, part->name);
        run_blob(run, part->body.at, part->body.len);
        done(filling);
    }
    for (uint32_t i = 0; i < member->text_count; i++) {
        run_begin(run, sql_add(TABLE_TEXT));
        run_id_at(run, &member->goal.id);
        run_blob(run, member->texts[i].hash.bytes, 32);
        run_blob(run, member->texts[i].body.at, member->texts[i].body.len);
        done(filling);
    }
}

static void end(struct filling *filling) {
    for (size_t display_state = 0; display_state < DISPLAY_STATES; display_state++) {
        run_begin(&filling->run, SQL_TALLY_ADD);
        run_int(&filling->run, BENCH_OWNER);
        run_int(&filling->run, (int64_t)display_state);
        run_int(&filling->run, filling->tally[display_state]);
        done(filling);
    }
    simple(filling, "UPDATE store SET tx = 1000000");
    simple(filling, "COMMIT");
    for (size_t i = 0; i < SQL_COUNT; i++)
        sqlite3_finalize(filling->store.statements[i]);
    simple(filling, "PRAGMA wal_checkpoint(TRUNCATE)");
    sqlite3_close(filling->store.db);
}

void fill_sqlite(const struct crowd *crowd, const char *path) {
    struct filling filling = {0};
    struct arena arena = {0};
    filling.run.store = &filling.store;
    if (sqlite3_open(path, &filling.store.db) != SQLITE_OK)
        bench_fail("fill sqlite", "it cannot be opened");
    simple(&filling, "PRAGMA synchronous = OFF; PRAGMA cache_size = -262144; BEGIN");
    for (uint32_t i = 0; i < crowd->count; i++) {
        struct member member;
        arena_reset(&arena);
        crowd_member(crowd, i, &member, &arena);
        goal_put(&filling, &member);
        record_put(&filling, &member, i);
        view_put(&filling, &member);
        plan_put(&filling, &member);
        if (i % GOALS_A_COMMIT == GOALS_A_COMMIT - 1)
            simple(&filling, "COMMIT; BEGIN");
    }
    end(&filling);
    arena_free(&arena);
}
