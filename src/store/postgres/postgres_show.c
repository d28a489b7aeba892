/* SPDX-License-Identifier: Apache-2.0 */
/* Shows goals to people from a PostgreSQL store: one goal, or a page of many. */
#include "store/postgres/postgres_state.h"

#include <stdlib.h>

/* ---- one goal ---- */

static struct record record_take(const PGresult *rows, int i, struct arena *arena) {
    struct record record = {.seq = (uint64_t)pg_int(rows, i, 0),
                            .at = pg_int(rows, i, 1),
                            .type = (enum record_type)pg_int(rows, i, 2),
                            .core = (uint32_t)pg_int(rows, i, 3)};
    if (PQgetlength(rows, i, 4) == 32 && PQgetlength(rows, i, 5) == 32) {
        memcpy(record.policy.bytes, PQgetvalue(rows, i, 4), 32);
        memcpy(record.hash.bytes, PQgetvalue(rows, i, 5), 32);
    }
    record.body = pg_bytes(rows, i, 6, arena);
    return record;
}

static void take_records(struct pg_run *run, const PGresult *rows, struct goal_shown *shown) {
    shown->record_count = (uint32_t)PQntuples(rows);
    shown->records = arena_new(run->arena, struct record, shown->record_count);
    for (int i = 0; i < PQntuples(rows); i++)
        shown->records[i] = record_take(rows, i, run->arena);
}

static void take_tags(struct pg_run *run, const PGresult *rows, struct texts *tags) {
    struct str *at = arena_new(run->arena, struct str, PQntuples(rows));
    for (int i = 0; i < PQntuples(rows); i++)
        at[i] = pg_bytes(rows, i, 0, run->arena);
    *tags = (struct texts){at, (uint32_t)PQntuples(rows)};
}

/* A part whose check fails is left out, and the goal is marked as not whole. */
static void take_shown_parts(struct pg_run *run, struct id goal, enum part_kind kind,
                             const PGresult *rows, struct goal_shown *shown) {
    for (int i = 0; i < PQntuples(rows); i++) {
        struct part_shown *part = &shown->parts[shown->part_count];
        *part = (struct part_shown){.kind = kind,
                                    .n = (uint32_t)pg_int(rows, i, 0),
                                    .name = pg_bytes(rows, i, 1, run->arena),
                                    .body = pg_bytes(rows, i, 2, run->arena)};
        if (row_unseal(ROW_PART + kind, goal, part->n, &part->body))
            shown->part_count++;
        else
            run->answer->loaded[0].whole = false;
    }
}

static struct text_row text_take(const PGresult *rows, int i, struct arena *arena) {
    struct text_row text = {.body = pg_bytes(rows, i, 1, arena)};
    if (PQgetlength(rows, i, 0) == sizeof(struct hash))
        memcpy(text.hash.bytes, PQgetvalue(rows, i, 0), sizeof(struct hash));
    return text;
}

static void take_texts(struct pg_run *run, const PGresult *rows, struct goal_shown *shown) {
    shown->text_count = (uint32_t)PQntuples(rows);
    shown->texts = arena_new(run->arena, struct text_row, shown->text_count);
    for (int i = 0; i < PQntuples(rows); i++)
        shown->texts[i] = text_take(rows, i, run->arena);
}

/* Which texts are named is known only after the rows that name them have been decoded, and only a quarantined goal has
 * a reason for it in `aside`. Ends the transaction. */
static void show_texts(struct pg_run *run, struct id goal, struct text_names named, bool aside) {
    struct pg_params params = {.arena = run->arena}, id = {.arena = run->arena};
    struct goal_shown *shown = &run->answer->shown;
    struct pg_array hashes = array_open(run->arena, FIELD_BYTES);
    for (uint32_t i = 0; i < named.count; i++)
        array_bytes(&hashes, named.at[i].bytes, sizeof named.at[i].bytes);
    param_id(&params, goal);
    param_array(&params, &hashes);
    param_id(&id, goal);
    PGresult **next = run->store->results + run->store->result_count;
    pg_send(run, PG_SHOW_TEXTS, &params);
    if (aside)
        pg_send(run, PG_SHOW_ASIDE, &id);
    pg_send(run, PG_COMMIT, NULL);
    if (!pg_receive(run))
        return;
    take_texts(run, next[0], shown);
    if (aside && PQntuples(next[1]) > 0)
        shown->why_aside = pg_bytes(next[1], 0, 0, run->arena);
}

static void send_show(struct pg_run *run, const struct store_request *request) {
    struct pg_params id = {.arena = run->arena};
    param_id(&id, request->ids[0]);
    struct pg_params records = id, parts = id;
    param_int(&records, request->limit);
    param_int(&records, request->first_type);
    param_int(&records, request->last_type ? request->last_type : UINT32_MAX);
    param_int(&parts, LIMIT_NODES);
    pg_send(run, PG_BEGIN_READ, NULL);
    pg_send_goals(run, request);
    pg_send(run, PG_SHOW_TITLE, &id);
    pg_send(run, PG_SHOW_TAGS, &id);
    pg_send(run, PG_SHOW_RECORDS, &records);
    for (enum part_kind kind = 0; kind < PARTS; kind++)
        if (!PART[kind].live)
            pg_send(run, PG_SHOW_PARTS + kind, &parts);
}

/* Everything is read from one snapshot. */
void postgres_show(struct pg_run *run, const struct store_request *request) {
    struct goal_shown *shown = &run->answer->shown;
    send_show(run, request);
    if (!pg_receive(run))
        return;
    PGresult **next = pg_take_goals(run, request, run->store->results + 1);
    if (PQntuples(next[0]) > 0)
        shown->title = pg_bytes(next[0], 0, 0, run->arena);
    take_tags(run, next[1], &shown->tags);
    take_records(run, next[2], shown);
    next += 3;
    int count = 0;
    for (PGresult **rows = next; rows < run->store->results + run->store->result_count; rows++)
        count += PQntuples(*rows);
    shown->parts = arena_new(run->arena, struct part_shown, count);
    for (enum part_kind kind = 0; kind < PARTS; kind++)
        if (!PART[kind].live)
            take_shown_parts(run, request->ids[0], kind, *next++, shown);
    const struct goal_loaded *loaded = &run->answer->loaded[0];
    show_texts(run, request->ids[0],
               loaded_names(loaded, request->texts, request->text_count, run->arena),
               loaded->goal.quarantined);
}

/* Reads one record more than asked for, to see whether there are more. */
void postgres_history(struct pg_run *run, const struct store_request *request) {
    struct goal_shown *shown = &run->answer->shown;
    struct pg_params params = {.arena = run->arena};
    param_id(&params, request->ids[0]);
    param_int(&params, (int64_t)request->after_seq);
    param_int(&params, (int64_t)request->limit + 1);
    pg_send(run, PG_BEGIN_READ, NULL);
    pg_send(run, PG_HISTORY, &params);
    if (!pg_receive(run))
        return;
    take_records(run, run->store->results[1], shown);
    run->answer->more = shown->record_count > request->limit;
    if (run->answer->more)
        shown->record_count = request->limit;
    show_texts(run, request->ids[0], records_name(shown->records, shown->record_count, run->arena),
               false);
}

/* ---- several goals ---- */

/* Rows of several goals come in the order of their ids, which are in `column`. Returns the index in `ids` of this row's
 * goal; -1: none. */
static int64_t place_of(const struct store_request *request, const PGresult *rows, int row,
                        int column) {
    return id_place(request->ids, request->id_count, pg_id(rows, row, column));
}

/* The number of rows, from this one on, that belong to the same goal. */
static uint32_t run_length(const PGresult *rows, int row, int column) {
    uint32_t count = 1;
    while (row + (int)count < PQntuples(rows) &&
           id_equal(pg_id(rows, row + (int)count, column), pg_id(rows, row, column)))
        count++;
    return count;
}

static void brief_texts(struct pg_run *run, const struct store_request *request,
                        const PGresult *rows, const PGresult *aside) {
    struct goal_shown *briefs = run->answer->briefs;
    for (int row = 0; row < PQntuples(rows); row++) {
        int64_t place = place_of(request, rows, row, 2);
        if (place < 0)
            continue;
        struct goal_shown *shown = &briefs[place];
        if (!shown->texts)
            shown->texts = arena_new(run->arena, struct text_row, run_length(rows, row, 2));
        shown->texts[shown->text_count++] = text_take(rows, row, run->arena);
    }
    for (int row = 0; row < PQntuples(aside); row++) {
        int64_t place = place_of(request, aside, row, 0);
        if (place >= 0)
            briefs[place].why_aside = pg_bytes(aside, row, 1, run->arena);
    }
}

/* Ends the transaction, as for one goal. */
static void brief_name(struct pg_run *run, const struct store_request *request) {
    struct pg_params params = {.arena = run->arena}, set_aside = {.arena = run->arena};
    struct pg_array goals = array_open(run->arena, FIELD_ID),
                    hashes = array_open(run->arena, FIELD_BYTES),
                    aside = array_open(run->arena, FIELD_ID);
    for (uint32_t i = 0; i < request->id_count; i++) {
        const struct goal_loaded *loaded = &run->answer->loaded[i];
        struct text_names named = loaded_names(loaded, NULL, 0, run->arena);
        for (uint32_t k = 0; k < named.count; k++) {
            array_bytes(&goals, request->ids[i].bytes, sizeof(struct id));
            array_bytes(&hashes, named.at[k].bytes, sizeof named.at[k].bytes);
        }
        if (loaded->goal.quarantined)
            array_bytes(&aside, request->ids[i].bytes, sizeof(struct id));
    }
    param_array(&params, &goals);
    param_array(&params, &hashes);
    param_array(&set_aside, &aside);
    PGresult **next = run->store->results + run->store->result_count;
    pg_send(run, PG_BRIEF_TEXTS, &params);
    pg_send(run, PG_BRIEF_ASIDE, &set_aside);
    pg_send(run, PG_COMMIT, NULL);
    if (pg_receive(run))
        brief_texts(run, request, next[0], next[1]);
}

static void brief_rows(struct pg_run *run, const struct store_request *request,
                       const PGresult *views, const PGresult *records) {
    struct goal_shown *briefs = run->answer->briefs;
    for (int row = 0; row < PQntuples(views); row++) {
        int64_t place = place_of(request, views, row, 0);
        if (place >= 0)
            briefs[place].title = pg_bytes(views, row, 1, run->arena);
    }
    for (int row = 0; row < PQntuples(records); row++) {
        int64_t place = place_of(request, records, row, 7);
        if (place < 0)
            continue;
        struct goal_shown *shown = &briefs[place];
        if (!shown->records)
            shown->records = arena_new(run->arena, struct record, run_length(records, row, 7));
        shown->records[shown->record_count++] = record_take(records, row, run->arena);
    }
}

void postgres_brief(struct pg_run *run, const struct store_request *request) {
    struct pg_params ids = {.arena = run->arena};
    param_ids(&ids, request->ids, request->id_count);
    struct pg_params records = ids;
    param_int(&records, request->limit);
    param_int(&records, request->first_type);
    param_int(&records, request->last_type ? request->last_type : UINT32_MAX);
    pg_send(run, PG_BEGIN_READ, NULL);
    pg_send_goals(run, request);
    pg_send(run, PG_BRIEF_VIEWS, &ids);
    pg_send(run, PG_BRIEF_RECORDS, &records);
    if (!pg_receive(run))
        return;
    run->answer->briefs = arena_new(run->arena, struct goal_shown, request->id_count);
    PGresult **next = pg_take_goals(run, request, run->store->results + 1);
    brief_rows(run, request, next[0], next[1]);
    brief_name(run, request);
}

/* ---- lists ---- */

static struct goal_view view_take(const PGresult *rows, int row, struct arena *arena) {
    struct goal_view view = {0};
    for (size_t i = 0; i < GOAL_VIEW.count; i++) {
        const struct field *field = &GOAL_VIEW.fields[i];
        void *to = (char *)&view + field->offset;
        switch (field->type) {
        case FIELD_ID: *(struct id *)to = pg_id(rows, row, (int)i); break;
        case FIELD_TEXT: *(struct str *)to = pg_bytes(rows, row, (int)i, arena); break;
        case FIELD_ENUM:
        case FIELD_U32:
        case FIELD_FLAG: *(uint32_t *)to = (uint32_t)pg_int(rows, row, (int)i); break;
        default: *(int64_t *)to = pg_int(rows, row, (int)i);
        }
    }
    return view_shown(view);
}

/* Which display states a goal of this status can have: see goal_display_state(). Its own one, which hardly any other
 * status has, and two that any status may have. */
enum fit { FIT_NOT, FIT_OWN, FIT_ODD };

static enum fit display_state_fit(enum goal_status status, enum display_state display_state) {
    static const enum display_state OWN[GOAL_STATUSES] = {
        DISPLAY_QUEUED, DISPLAY_PAUSED, DISPLAY_DONE, DISPLAY_CANCELLED, DISPLAY_ARCHIVED};
    if (display_state == OWN[status])
        return FIT_OWN;
    if (display_state != DISPLAY_WORKING && display_state != DISPLAY_NEEDS_YOU)
        return FIT_NOT;
    return status == GOAL_ACTIVE ? FIT_OWN : FIT_ODD;
}

static void param_statuses(struct pg_params *params, const struct list_filter *filter) {
    struct pg_array array = array_open(params->arena, FIELD_INT);
    for (enum goal_status status = 0; status < GOAL_STATUSES; status++)
        if (!filter->by_status || status == filter->status)
            array_int(&array, status);
    param_array(params, &array);
}

/* If a tag is asked for, the odd ones go into a separate parameter. */
static void param_display_states(struct pg_params *params, const struct list_filter *filter,
                                 bool odd) {
    struct pg_array array = array_open(params->arena, FIELD_INT);
    for (enum display_state display_state = 0; display_state < DISPLAY_STATES; display_state++) {
        enum fit fit =
            filter->by_status ? display_state_fit(filter->status, display_state) : FIT_OWN;
        bool apart = filter->tag.len > 0 && fit == FIT_ODD;
        if (fit != FIT_NOT && apart == odd &&
            (!filter->by_display_state || display_state == filter->display_state))
            array_int(&array, display_state);
    }
    param_array(params, &array);
}

static enum pg_sql list_sql(const struct list_filter *filter) {
    bool search = filter->search.len > 0;
    if (filter->tag.len > 0)
        return search ? PG_SEARCH_TAG : PG_LIST_TAG;
    if (filter->by_status || filter->by_display_state)
        return search ? PG_SEARCH_DISPLAY_STATES : PG_LIST_DISPLAY_STATES;
    return search ? PG_SEARCH_ALL : PG_LIST_ALL;
}

static void views_take(struct pg_run *run, const PGresult *rows, uint32_t count) {
    struct store_answer *answer = run->answer;
    answer->view_count = count;
    answer->views = arena_new(run->arena, struct goal_view, count);
    for (uint32_t i = 0; i < count; i++)
        answer->views[i] = view_take(rows, (int)i, run->arena);
}

/* Reads along the index over end times, or over goals that need a person. */
static void list_by_time(struct pg_run *run, const struct store_request *request) {
    struct pg_params since = {.arena = run->arena};
    bool ended = request->filter.ended_since;
    if (ended)
        param_int(&since, request->filter.ended_since);
    struct pg_params page = since;
    param_int(&page, request->limit);
    pg_send(run, PG_BEGIN_READ, NULL);
    pg_send(run, ended ? PG_ENDED : PG_ASKING, &page);
    pg_send(run, ended ? PG_ENDED_COUNT : PG_ASKING_COUNT, &since);
    pg_send(run, PG_COMMIT, NULL);
    if (!pg_receive(run))
        return;
    PGresult **rows = run->store->results + 1;
    views_take(run, rows[0], (uint32_t)PQntuples(rows[0]));
    run->answer->list_count = pg_int(rows[1], 0, 0);
    run->answer->more = run->answer->list_count > run->answer->view_count;
}

/* Reads one row more than asked for, to see whether there are more. */
void postgres_list(struct pg_run *run, const struct store_request *request) {
    const struct list_filter *filter = &request->filter;
    if (filter->ended_since || filter->asking) {
        list_by_time(run, request);
        return;
    }
    struct pg_params params = {.arena = run->arena};
    struct id behind = filter->before_id;
    if (filter->before == 0)
        memset(&behind, 0xff, sizeof behind);
    uint32_t limit = request->limit < LIMIT_LIST_PAGE ? request->limit : LIMIT_LIST_PAGE;
    param_int(&params, limit + 1);
    param_int(&params, filter->before ? filter->before : INT64_MAX);
    param_id(&params, behind);
    param_text(&params, filter->tag);
    param_text(&params, filter->search);
    param_statuses(&params, filter);
    param_display_states(&params, filter, false);
    param_display_states(&params, filter, true);
    pg_send(run, list_sql(filter), &params);
    if (!pg_receive(run))
        return;
    const PGresult *rows = run->store->results[0];
    uint32_t count = (uint32_t)PQntuples(rows);
    run->answer->more = count > limit;
    views_take(run, rows, run->answer->more ? limit : count);
}

static void take_found(struct pg_run *run, const PGresult *rows) {
    run->answer->found_count = (uint32_t)PQntuples(rows);
    run->answer->found = arena_new(run->arena, struct id, run->answer->found_count);
    for (int i = 0; i < PQntuples(rows); i++)
        run->answer->found[i] = pg_id(rows, i, 0);
}

/* PLAN-34 */
void postgres_find(struct pg_run *run, const struct store_request *request) {
    struct pg_params params = {.arena = run->arena};
    param_text(&params, request->name);
    param_int(&params, request->limit);
    pg_send(run, request->instruction ? PG_FIND_INSTRUCTION : PG_FIND + request->part, &params);
    if (pg_receive(run))
        take_found(run, run->store->results[0]);
}

void postgres_named(struct pg_run *run, const struct store_request *request) {
    struct pg_params params = {.arena = run->arena};
    if (request->number) {
        param_int(&params, (int64_t)request->number);
    } else {
        param_id(&params, request->first_id);
        param_id(&params, request->last_id);
        param_int(&params, request->limit);
    }
    pg_send(run, request->number ? PG_NUMBERED : PG_NAMED, &params);
    if (pg_receive(run))
        take_found(run, run->store->results[0]);
}

/* A standalone server has no standbys, so a failover can lose nothing. A role without further rights still sees the
 * number of standbys in the list. */
static const char REPLICATION[] =
    "SELECT (current_setting('synchronous_standby_names') = '' OR"
    " current_setting('synchronous_commit') IN ('off', 'local'))::int::int8,"
    " (SELECT count(*) FROM pg_stat_replication)::int8";

static void replication_take(struct pg_run *run, const PGresult *rows) {
    bool waits = PQntuples(rows) == 1 && pg_int(rows, 0, 0) == 0;
    bool standbys = PQntuples(rows) == 1 && pg_int(rows, 0, 1) > 0;
    run->answer->unguarded = !waits && (standbys || run->store->several);
}

void postgres_tally(struct pg_run *run, const struct store_request *request) {
    (void)request;
    struct pg_params none = {.arena = run->arena};
    pg_send(run, PG_TALLY, NULL);
    pg_send_text(run, REPLICATION, &none);
    if (!pg_receive(run))
        return;
    const PGresult *rows = run->store->results[0];
    for (int i = 0; i < PQntuples(rows); i++) {
        int64_t display_state = pg_int(rows, i, 0);
        if (display_state >= 0 &&
            display_state < DISPLAY_STATES) /* any other value is from a newer build */
            run->answer->tally[display_state] = pg_int(rows, i, 1);
    }
    replication_take(run, run->store->results[1]);
}
