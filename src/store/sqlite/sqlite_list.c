/* SPDX-License-Identifier: Apache-2.0 */
/* Lists goals of an SQLite store: newest first, a page at a time, along an index, so that the cost of a page does not
 * depend on the number of goals. */
#include "store/sqlite/sqlite_state.h"

#include <stdlib.h>

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

/* ---- building a page ---- */

struct listing {
    struct sqlite_run *run;
    struct arena *arena;
    const struct list_filter *filter;
    uint32_t limit; /* one more than the page has, to see whether another page follows */
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

/* ---- along `row`: all goals, or those that a search finds ---- */

/* True if the page is full and the drawer of its last row has been read to its end. */
static bool drawers_suffice(const struct listing *list) {
    if (list->count <= list->limit)
        return false;
    const struct goal_view *newest = &list->views[list->count - 1],
                           *last = &list->views[list->limit - 1];
    return sqlite_drawer(newest->created_at) != sqlite_drawer(last->created_at);
}

/* Quotes each word, so that none is taken for an operator: all of them must match. */
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
        run_int(run, filter->by_display_state ? (int64_t)filter->display_state : -1);
        run_int(run, filter->by_status ? (int64_t)filter->status : -1);
        run_text(run, filter->tag);
    }
    while (!drawers_suffice(list) && run_row(run))
        listing_add(list);
    run_end(run);
}

/* ---- along an index that begins with the display state: one range for each that fits, then merged ---- */

/* A display state that follows from one status alone belongs to no goal of another status. */
static bool display_state_fits(enum display_state display_state, enum goal_status status) {
    for (enum goal_status other = 0; other < GOAL_STATUSES; other++)
        if (other != status && goal_display_state(&(struct goal){.status = other}) == display_state)
            return false;
    return true;
}

static bool display_state_is_asked(const struct list_filter *filter,
                                   enum display_state display_state) {
    if (filter->by_display_state && filter->display_state != display_state)
        return false;
    return !filter->by_status || display_state_fits(display_state, filter->status);
}

static void list_display_states(struct listing *list, enum display_state display_state) {
    const struct list_filter *filter = list->filter;
    struct sqlite_run *run = list->run;
    for (enum goal_status status = 0; status < GOAL_STATUSES; status++) {
        if ((filter->by_status && filter->status != status) ||
            !display_state_fits(display_state, status))
            continue;
        run_begin(run, SQL_LIST_DISPLAY_STATE);
        run_int(run, display_state);
        run_int(run, status);
        run_cursor(list);
        run_int(run, list->limit);
        while (run_row(run))
            listing_add(list);
        run_end(run);
    }
}

static void list_tag(struct listing *list, enum display_state display_state) {
    const struct list_filter *filter = list->filter;
    struct sqlite_run *run = list->run;
    run_begin(run, SQL_LIST_TAG);
    run_text(run, filter->tag);
    run_int(run, display_state);
    run_cursor(list);
    run_int(run, list->limit);
    run_int(run, filter->by_status ? (int64_t)filter->status : -1);
    while (run_row(run))
        listing_add(list);
    run_end(run);
}

/* Reads along the index over end times, or over goals that need a person. Their number is counted in that index alone,
 * or taken from the tally: thousands may be waiting. */
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
    if (filter->search.len > 0 ||
        !(filter->by_display_state || filter->by_status || filter->tag.len > 0))
        list_drawers(&list);
    else
        for (enum display_state display_state = 0; display_state < DISPLAY_STATES; display_state++)
            if (display_state_is_asked(filter, display_state))
                (filter->tag.len > 0 ? list_tag : list_display_states)(&list, display_state);
    if (list.count > 0)
        qsort(list.views, list.count, sizeof *list.views, newest_first);
    answer->views = list.views;
    answer->more = list.count > request->limit;
    answer->view_count = answer->more ? request->limit : list.count;
}

/* ---- lookups and counts ---- */

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
    run_begin(run, request->number ? SQL_NUMBERED : SQL_NAMED);
    if (request->number) {
        run_int(run, (int64_t)request->number);
    } else {
        run_id(run, request->first_id);
        run_id(run, request->last_id);
        run_int(run, request->limit);
    }
    while (run_row(run))
        answer->found[answer->found_count++] = row_id(run);
    run_end(run);
}

void sqlite_tally(struct sqlite_run *run, const struct store_request *request,
                  struct store_answer *answer, struct arena *arena) {
    (void)request, (void)arena;
    run_begin(run, SQL_TALLY);
    while (run_row(run)) {
        int64_t display_state = row_int(run);
        if (display_state >= 0 && display_state < DISPLAY_STATES)
            answer->tally[display_state] = row_int(run);
    }
    run_end(run);
}
