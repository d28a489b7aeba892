/* SPDX-License-Identifier: Apache-2.0 */
/* Which goals does the SQLite driver list? Newest first, a page at a time, along an index: what a page
 * costs does not depend on how many goals there are. */
#include "store/sqlite_state.h"

#include <stdlib.h>

/* ---- a row of goal_view ---- */

static void run_field(struct sqlite_run *run, const struct field *field, const void *from) {
    switch (field->type) {
    case FIELD_ID: run_id(run, *(const struct id *)from); break;
    case FIELD_TEXT: run_text(run, *(const struct str *)from); break;
    case FIELD_INT:
    case FIELD_TIME:
    case FIELD_UINT: run_int(run, *(const int64_t *)from); break;
    default: run_int(run, *(const uint32_t *)from); break;
    }
}

void run_view(struct sqlite_run *run, const struct goal_view *view) {
    for (size_t i = 0; i < GOAL_VIEW.count && !run->code; i++) {
        const struct field *field = &GOAL_VIEW.fields[i];
        char mark[LIMIT_NODE_ID + 1] = ":";
        must(strlen(field->name) < sizeof mark - 1);
        strcpy(mark + 1, field->name);
        run->place = sqlite3_bind_parameter_index(run->statement, mark) - 1;
        if (run->place >= 0)
            run_field(run, field, (const char *)view + field->offset);
    }
}

static void row_field(struct sqlite_run *run, const struct field *field, void *to,
                      struct arena *arena) {
    switch (field->type) {
    case FIELD_ID: *(struct id *)to = row_id(run); break;
    case FIELD_TEXT: *(struct str *)to = row_bytes(run, arena); break;
    case FIELD_INT:
    case FIELD_TIME:
    case FIELD_UINT: *(int64_t *)to = row_int(run); break;
    default: *(uint32_t *)to = (uint32_t)row_int(run); break;
    }
}

static struct goal_view row_view(struct sqlite_run *run, struct arena *arena) {
    struct goal_view view = {0};
    for (size_t i = 0; i < GOAL_VIEW.count; i++) {
        const struct field *field = &GOAL_VIEW.fields[i];
        row_field(run, field, (char *)&view + field->offset, arena);
    }
    return view_shown(view);
}

/* ---- a page in the making ---- */

struct listing {
    struct sqlite_run *run;
    struct arena *arena;
    const struct list_filter *filter;
    uint32_t limit; /* with one more than the page has, to see whether another follows */
    int64_t before;
    struct id before_id;
    struct goal_view *views;
    uint32_t count, cap;
};

static void listing_add(struct listing *list) {
    if (list->count == list->cap) {
        list->cap = list->cap * 2 + 64;
        struct goal_view *grown = arena_new(list->arena, struct goal_view, list->cap);
        if (list->count > 0)
            memcpy(grown, list->views, list->count * sizeof *grown);
        list->views = grown;
    }
    list->views[list->count++] = row_view(list->run, list->arena);
}

static int newest_first(const void *a, const void *b) {
    const struct goal_view *left = a, *right = b;
    if (left->created_at != right->created_at)
        return left->created_at < right->created_at ? 1 : -1;
    return id_compare(right->id, left->id);
}

static void run_cursor(struct listing *list) {
    run_int(list->run, list->before);
    run_id_at(list->run, &list->before_id);
}

/* ---- along `row`: everything, or what a search finds ---- */

/* The page is full, and the drawer of its last row has been read to its end. */
static bool drawers_suffice(const struct listing *list) {
    if (list->count <= list->limit)
        return false;
    const struct goal_view *newest = &list->views[list->count - 1],
                           *last = &list->views[list->limit - 1];
    return sqlite_drawer(newest->created_at) != sqlite_drawer(last->created_at);
}

/* Each word in quotes, so that none of it is taken for an operator: all of them have to be there. */
static struct str search_quoted(struct str search, struct arena *arena) {
    char *text = arena_take(arena, search.len * 4 + 1, 1), *to = text;
    bool inside = false;
    for (size_t i = 0; i <= search.len; i++) {
        bool space = i == search.len || (unsigned char)search.at[i] <= ' ';
        if (inside == space)
            *to++ = '"';
        if (space && inside)
            *to++ = ' ';
        inside = !space;
        if (inside && search.at[i] == '"')
            *to++ = '"';
        if (inside)
            *to++ = search.at[i];
    }
    return (struct str){text, (size_t)(to - text)};
}

static void list_drawers(struct listing *list) {
    const struct list_filter *filter = list->filter;
    struct sqlite_run *run = list->run;
    bool search = filter->search.len > 0;
    struct str words = search ? search_quoted(filter->search, list->arena) : (struct str){0};
    run_begin(run, search ? SQL_LIST_SEARCH : SQL_LIST_ALL);
    run_int(run, sqlite_drawer(list->before) | (((int64_t)1 << DRAWER_BITS) - 1));
    run_cursor(list);
    if (search) {
        run_text(run, words);
        run_int(run, filter->by_face ? (int64_t)filter->face : -1);
        run_int(run, filter->by_status ? (int64_t)filter->status : -1);
        run_text(run, filter->tag);
    }
    while (!drawers_suffice(list) && run_row(run))
        listing_add(list);
    run_end(run);
}

/* ---- along an index that begins with the face: a stretch for each that fits, then merged ---- */

/* A face that a goal has just because of its status is had by no goal of another status. */
static bool face_fits(enum face face, enum goal_status status) {
    for (enum goal_status other = 0; other < GOAL_STATUSES; other++)
        if (other != status && goal_face(&(struct goal){.status = other}) == face)
            return false;
    return true;
}

static bool face_is_asked(const struct list_filter *filter, enum face face) {
    if (filter->by_face && filter->face != face)
        return false;
    return !filter->by_status || face_fits(face, filter->status);
}

static void list_faces(struct listing *list, enum face face) {
    const struct list_filter *filter = list->filter;
    struct sqlite_run *run = list->run;
    for (enum goal_status status = 0; status < GOAL_STATUSES; status++) {
        if ((filter->by_status && filter->status != status) || !face_fits(face, status))
            continue;
        run_begin(run, SQL_LIST_FACE);
        run_int(run, face);
        run_int(run, status);
        run_cursor(list);
        run_int(run, list->limit);
        while (run_row(run))
            listing_add(list);
        run_end(run);
    }
}

static void list_tag(struct listing *list, enum face face) {
    const struct list_filter *filter = list->filter;
    struct sqlite_run *run = list->run;
    run_begin(run, SQL_LIST_TAG);
    run_text(run, filter->tag);
    run_int(run, face);
    run_cursor(list);
    run_int(run, list->limit);
    run_int(run, filter->by_status ? (int64_t)filter->status : -1);
    while (run_row(run))
        listing_add(list);
    run_end(run);
}

/* Along the index over ends, or over what needs a person; how many there are is counted in that index alone,
 * or known from the tally: thousands may wait. */
static void list_by_time(struct sqlite_run *run, const struct store_request *request,
                         struct store_answer *answer, struct arena *arena) {
    struct listing list = {.run = run, .arena = arena};
    int64_t since = request->filter.ended_since;
    run_begin(run, since ? SQL_ENDED : SQL_ASKING);
    if (since)
        run_int(run, since);
    run_int(run, request->limit);
    while (run_row(run))
        listing_add(&list);
    run_end(run);
    run_begin(run, since ? SQL_ENDED_COUNT : SQL_ASKING_COUNT);
    if (since)
        run_int(run, since);
    if (run_row(run))
        answer->list_count = row_int(run);
    run_end(run);
    answer->views = list.views;
    answer->view_count = list.count;
    answer->more = answer->list_count > list.count;
}

void sqlite_list(struct sqlite_run *run, const struct store_request *request,
                 struct store_answer *answer, struct arena *arena) {
    const struct list_filter *filter = &request->filter;
    struct listing list = {.run = run,
                           .arena = arena,
                           .filter = filter,
                           .limit = request->limit + 1,
                           .before = filter->before ? filter->before : INT64_MAX,
                           .before_id = filter->before_id};
    if (filter->ended_since || filter->asking) {
        list_by_time(run, request, answer, arena);
        return;
    }
    if (filter->search.len > 0 || !(filter->by_face || filter->by_status || filter->tag.len > 0))
        list_drawers(&list);
    else
        for (enum face face = 0; face < FACES; face++)
            if (face_is_asked(filter, face))
                (filter->tag.len > 0 ? list_tag : list_faces)(&list, face);
    if (list.count > 0)
        qsort(list.views, list.count, sizeof *list.views, newest_first);
    answer->views = list.views;
    answer->more = list.count > request->limit;
    answer->view_count = answer->more ? request->limit : list.count;
}

/* ---- what is where, and how many ---- */

void sqlite_find(struct sqlite_run *run, const struct store_request *request,
                 struct store_answer *answer, struct arena *arena) {
    answer->found = arena_new(arena, struct id, request->limit);
    run_begin(run, request->instruction ? SQL_FIND_INSTRUCTION
                                        : sql_of_part(SQL_PART_FIND, request->part));
    if (request->instruction)
        run_blob(run, request->name.at, request->name.len);
    else
        run_text(run, request->name);
    run_int(run, request->limit);
    while (run_row(run))
        answer->found[answer->found_count++] = row_id(run);
    run_end(run);
}

void sqlite_named(struct sqlite_run *run, const struct store_request *request,
                  struct store_answer *answer, struct arena *arena) {
    answer->found = arena_new(arena, struct id, request->limit);
    run_begin(run, SQL_NAMED);
    run_id(run, request->first_id);
    run_id(run, request->last_id);
    run_int(run, request->limit);
    while (run_row(run))
        answer->found[answer->found_count++] = row_id(run);
    run_end(run);
}

void sqlite_tally(struct sqlite_run *run, const struct store_request *request,
                  struct store_answer *answer, struct arena *arena) {
    (void)request, (void)arena;
    run_begin(run, SQL_TALLY);
    while (run_row(run)) {
        int64_t face = row_int(run);
        if (face >= 0 && face < FACES)
            answer->tally[face] = row_int(run);
    }
    run_end(run);
}
