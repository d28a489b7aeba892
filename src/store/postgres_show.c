/* SPDX-License-Identifier: Apache-2.0 */
/* What does the PostgreSQL driver show to people? One goal, or a page of many. */
#include "store/postgres_state.h"

#include <stdlib.h>

/* ---- one goal ---- */

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

static void take_tags(struct pg_run *run, const PGresult *rows, struct texts *tags) {
    struct str *at = arena_new(run->arena, struct str, PQntuples(rows));
    for (int i = 0; i < PQntuples(rows); i++)
        at[i] = pg_bytes(rows, i, 0, run->arena);
    *tags = (struct texts){at, (uint32_t)PQntuples(rows)};
}

/* A part whose check does not hold is left out, and the goal is not whole. */
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

static void take_texts(struct pg_run *run, const PGresult *rows, struct goal_shown *shown) {
    shown->text_count = (uint32_t)PQntuples(rows);
    shown->texts = arena_new(run->arena, struct text_row, shown->text_count);
    for (int i = 0; i < PQntuples(rows); i++) {
        if (PQgetlength(rows, i, 0) == sizeof(struct hash))
            memcpy(shown->texts[i].hash.bytes, PQgetvalue(rows, i, 0), sizeof(struct hash));
        shown->texts[i].body = pg_bytes(rows, i, 1, run->arena);
    }
}

/* Which texts are named is known only once what names them has been decoded. The end of the transaction. */
static void show_texts(struct pg_run *run, struct id goal, struct text_names named) {
    struct pg_params params = {.arena = run->arena};
    struct pg_array hashes = array_open(run->arena, FIELD_BYTES);
    for (uint32_t i = 0; i < named.count; i++)
        array_bytes(&hashes, named.at[i].bytes, sizeof named.at[i].bytes);
    param_id(&params, goal);
    param_array(&params, &hashes);
    int first = run->store->result_count;
    pg_send(run, PG_SHOW_TEXTS, &params);
    pg_send(run, PG_COMMIT, NULL);
    if (pg_receive(run))
        take_texts(run, run->store->results[first], &run->answer->shown);
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
    pg_send(run, PG_SHOW_ASIDE, &id);
    pg_send(run, PG_SHOW_RECORDS, &records);
    for (enum part_kind kind = 0; kind < PARTS; kind++)
        if (!PART[kind].live)
            pg_send(run, PG_SHOW_PARTS + kind, &parts);
}

/* One snapshot for all of it. */
void postgres_show(struct pg_run *run, const struct store_request *request) {
    struct goal_shown *shown = &run->answer->shown;
    send_show(run, request);
    if (!pg_receive(run))
        return;
    PGresult **next = pg_take_goals(run, request, run->store->results + 1);
    if (PQntuples(next[0]) > 0)
        shown->title = pg_bytes(next[0], 0, 0, run->arena);
    take_tags(run, next[1], &shown->tags);
    if (PQntuples(next[2]) > 0)
        shown->why_aside = pg_bytes(next[2], 0, 0, run->arena);
    take_records(run, next[3], shown);
    next += 4;
    int count = 0;
    for (PGresult **rows = next; rows < run->store->results + run->store->result_count; rows++)
        count += PQntuples(*rows);
    shown->parts = arena_new(run->arena, struct part_shown, count);
    for (enum part_kind kind = 0; kind < PARTS; kind++)
        if (!PART[kind].live)
            take_shown_parts(run, request->ids[0], kind, *next++, shown);
    show_texts(
        run, request->ids[0],
        loaded_names(&run->answer->loaded[0], request->texts, request->text_count, run->arena));
}

/* One record more than asked for tells whether there are more. */
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
    show_texts(run, request->ids[0], records_name(shown->records, shown->record_count, run->arena));
}

/* ---- many ---- */

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

/* Which faces can a goal of this status have? See goal_face(). Its own, which hardly another status has, and
 * two that any may have. */
enum fit { FIT_NOT, FIT_OWN, FIT_ODD };

static enum fit face_fit(enum goal_status status, enum face face) {
    static const enum face OWN[GOAL_STATUSES] = {FACE_QUEUED, FACE_PAUSED, FACE_DONE,
                                                 FACE_CANCELLED, FACE_ARCHIVED};
    if (face == OWN[status])
        return FIT_OWN;
    if (face != FACE_WORKING && face != FACE_NEEDS_YOU)
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

/* Odd ones stand apart where a tag is asked for. */
static void param_faces(struct pg_params *params, const struct list_filter *filter, bool odd) {
    struct pg_array array = array_open(params->arena, FIELD_INT);
    for (enum face face = 0; face < FACES; face++) {
        enum fit fit = filter->by_status ? face_fit(filter->status, face) : FIT_OWN;
        bool apart = filter->tag.len > 0 && fit == FIT_ODD;
        if (fit != FIT_NOT && apart == odd && (!filter->by_face || face == filter->face))
            array_int(&array, face);
    }
    param_array(params, &array);
}

static enum pg_sql list_sql(const struct list_filter *filter) {
    bool search = filter->search.len > 0;
    if (filter->tag.len > 0)
        return search ? PG_SEARCH_TAG : PG_LIST_TAG;
    if (filter->by_status || filter->by_face)
        return search ? PG_SEARCH_FACES : PG_LIST_FACES;
    return search ? PG_SEARCH_ALL : PG_LIST_ALL;
}

/* One row more than asked for tells whether there are more. */
void postgres_list(struct pg_run *run, const struct store_request *request) {
    const struct list_filter *filter = &request->filter;
    struct store_answer *answer = run->answer;
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
    param_faces(&params, filter, false);
    param_faces(&params, filter, true);
    pg_send(run, list_sql(filter), &params);
    if (!pg_receive(run))
        return;
    const PGresult *rows = run->store->results[0];
    uint32_t count = (uint32_t)PQntuples(rows);
    answer->more = count > limit;
    answer->view_count = answer->more ? limit : count;
    answer->views = arena_new(run->arena, struct goal_view, answer->view_count);
    for (uint32_t i = 0; i < answer->view_count; i++)
        answer->views[i] = view_take(rows, (int)i, run->arena);
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
    param_id(&params, request->first_id);
    param_id(&params, request->last_id);
    param_int(&params, request->limit);
    pg_send(run, PG_NAMED, &params);
    if (pg_receive(run))
        take_found(run, run->store->results[0]);
}

void postgres_tally(struct pg_run *run, const struct store_request *request) {
    (void)request;
    pg_send(run, PG_TALLY, NULL);
    if (!pg_receive(run))
        return;
    const PGresult *rows = run->store->results[0];
    for (int i = 0; i < PQntuples(rows); i++) {
        int64_t face = pg_int(rows, i, 0);
        if (face >= 0 && face < FACES) /* another would be a newer build's */
            run->answer->tally[face] = pg_int(rows, i, 1);
    }
}
