/* SPDX-License-Identifier: Apache-2.0 */
/* Imports a JSON document or a list of tasks into a store. */
#include "ops/portable/import_state.h"

#include "ops/op.h"
#include "ops/portable/export.h"
#include "ops/portable/goal_item.h"
#include "ops/portable/item.h"
#include "store/examine.h"

#include <stdarg.h>
#include <stdlib.h>

/* ---- errors and warnings ---- */

void import_warn(struct import *import, const char *format, ...) {
    char text[512];
    va_list args;
    if (import->pass == PASS_LOAD)
        return; /* reported in an earlier pass */
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (import->report.warnings++ < IMPORT_WARNINGS && import->options->warn)
        import->options->warn(import->options->with, text);
}

static bool refuse(struct import *import) {
    const struct scan *scan = &import->scan;
    if (import->reading.why[0])
        snprintf(import->error, import->error_size, "line %lu: %s.", scan->item_line,
                 import->reading.why);
    else if (scan->why[0])
        snprintf(import->error, import->error_size, "%s.", scan->why);
    else if (import->load && load_failed(import->load))
        snprintf(import->error, import->error_size, "%s", load_failed(import->load));
    return false;
}

/* ---- rows ---- */

bool import_tally(struct import *import, int64_t host, int64_t display_state) {
    uint32_t at = 0;
    while (at < import->tally_count && import->tallies[at].host != host)
        at++;
    if (at == IMPORT_TALLIES || display_state < 0 || display_state >= DISPLAY_STATES)
        return reading_refuse(&import->reading, "its owner or its face is out of range");
    if (!import->tallies)
        import->tallies = arena_new(&import->kept, struct tally_line, IMPORT_TALLIES);
    if (at == import->tally_count)
        import->tallies[import->tally_count++].host = host;
    import->tallies[at].display_states[display_state]++;
    return true;
}

static bool reference_holds(struct import *import, const struct table_row *row) {
    struct id goal = cell_id(row, "goal_id");
    bool known = !import->goals_known || !table_order(row->table, WALK_BY_GOAL) ||
                 id_equal(goal, SYSTEM_GOAL) || map_get(&import->goals, goal);
    return known ||
           reading_refuse(&import->reading, "it names a goal that is not in this document");
}

bool import_row(struct import *import, const struct table_row *row) {
    import->report.rows++;
    if (import->pass == PASS_CHECK)
        return reference_holds(import, row);
    return !import->load || load_row(import->load, row);
}

/* Remembers the id of a goal. False: the id has occurred before. */
static bool import_goal_met(struct import *import, struct id id) {
    static char there;
    if (import->goals.count >= IMPORT_IDS || import->pass != PASS_CHECK)
        return true;
    if (map_get(&import->goals, id))
        return reading_refuse(&import->reading, "this goal occurs twice");
    if (!map_put(&import->goals, id, &there))
        memory_exhausted();
    return true;
}

static bool tallies_put(struct import *import) {
    for (uint32_t i = 0; i < import->tally_count; i++)
        for (int64_t display_state = 0; display_state < DISPLAY_STATES; display_state++) {
            struct table_row row = row_new(TABLE_TALLY, &import->arena);
            int64_t n = import->tallies[i].display_states[display_state];
            row_set(&row, "host_id", cell_of_int(import->tallies[i].host));
            row_set(&row, "face", cell_of_int(display_state));
            row_set(&row, "n", cell_of_int(n));
            if (n > 0 && !import_row(import, &row))
                return false;
        }
    return true;
}

/* ---- items of an exported document ---- */

static bool goal_rows_put(struct import *import, const struct goal_rows *rows) {
    const struct table_row *goal = goal_rows_find(rows, TABLE_GOAL),
                           *view = goal_rows_find(rows, TABLE_GOAL_VIEW);
    if (!goal)
        return reading_refuse(&import->reading, "it has no row of its own");
    if (view && !import_tally(import, cell_int(goal, "owner"), cell_int(view, "face")))
        return false;
    for (uint32_t i = 0; i < rows->count; i++)
        if (!import_row(import, rows->rows[i]))
            return false;
    return true;
}

static bool goal_put(struct import *import, const char *key, const json_t *item) {
    struct goal_rows rows = {.arena = &import->arena};
    struct id id;
    import->report.goals++;
    if (strcmp(key, json_is_string(json_object_get(item, "goalId"))
                        ? json_string_value(json_object_get(item, "goalId"))
                        : "") != 0)
        return reading_refuse(&import->reading, "its goalId differs from its key");
    return goal_id_read(&import->reading, json_object_get(item, "goalId"), &id) &&
           import_goal_met(import, id) && goal_item_read(&import->reading, item, &rows) &&
           goal_rows_put(import, &rows);
}

/* The log keeps the order of the document. */
static void record_place(struct import *import, struct table_row *row) {
    import->report.events++;
    row_set(row, "tx", cell_of_int((int64_t)++import->tx));
    row_set(row, "n", cell_of_int(0));
}

static bool item_put(struct import *import, const struct item_kind *kind, const json_t *item) {
    struct table_row row;
    if (!item_read(kind, &import->reading, item, &row))
        return false;
    if (kind->table == TABLE_RECORD) {
        if (row_cell(&row, "at").type != CELL_INT)
            return reading_refuse(&import->reading, "it has no time");
        record_place(import, &row);
    }
    return import_row(import, &row);
}

/* ---- the document ---- */

static const struct item_kind GOALS = {.collection = "goals", .keyed = true};

/* Parts of an admission may precede it in the document, so all admissions are collected before anything is checked. */
static bool admission_survey(struct import *import, const struct item_kind *kind,
                             const json_t *item) {
    static char there;
    struct table_row row;
    if (!item_read(kind, &import->reading, item, &row))
        return false;
    if (!map_put(&import->goals, cell_id(&row, "goal_id"), &there))
        memory_exhausted();
    return true;
}

static bool entry_handle(struct import *import, const struct item_kind *kind, const char *key) {
    bool surveyed = import->pass == PASS_SURVEY, admission = kind->table == TABLE_GOAL;
    json_t *item = surveyed && !admission ? NULL : scan_parse(&import->scan);
    bool good = item || (surveyed && !admission);
    if (good && surveyed && admission)
        good = admission_survey(import, kind, item);
    else if (surveyed)
        import->events += kind->table == TABLE_RECORD && kind != &GOALS;
    else if (good && !import->plain)
        good = kind == &GOALS ? goal_put(import, key, item) : item_put(import, kind, item);
    else if (good && kind == &GOALS)
        good = plain_goal(import, key, item);
    else if (good && kind->table >= TABLE_PART)
        good = plain_part(import, (enum part_kind)(kind->table - TABLE_PART), key, item);
    json_decref(item);
    arena_reset(&import->arena);
    return good && !json_ran_short();
}

static bool collection_scan(struct import *import, const struct item_kind *kind) {
    struct scan *scan = &import->scan;
    char close = kind->keyed ? '}' : ']', key[SCAN_KEY] = "";
    size_t before = reading_enter(&import->reading, kind->collection);
    if (!scan_expect(scan, kind->keyed ? '{' : '['))
        return false;
    size_t i = 0;
    for (; !scan_take(scan, close); i++) {
        if ((i > 0 && !scan_expect(scan, ',')) || (kind->keyed && !scan_name(scan, key)))
            return false;
        size_t inside =
            kind->keyed ? reading_enter(&import->reading, key) : reading_entry(&import->reading, i);
        if (!scan_value(scan) || !entry_handle(import, kind, key))
            return false;
        reading_leave(&import->reading, inside);
    }
    if (i > 0 && import->plain && kind != &GOALS && kind->table < TABLE_PART)
        import_warn(import, "%s: its %zu entries are skipped; the imported goals start a new log",
                    import->reading.path, i);
    reading_leave(&import->reading, before);
    return true;
}

static bool version_read(struct import *import) {
    if (!scan_value(&import->scan))
        return false;
    json_t *value = scan_parse(&import->scan);
    json_int_t version = json_integer_value(value);
    bool good = json_is_integer(value) && version >= 1 && version <= EXPORT_VERSION;
    json_decref(value);
    return good || scan_refuse(&import->scan,
                               "the version is not supported; this build reads versions 1 and 2");
}

static bool store_read(struct import *import) {
    if (!scan_value(&import->scan))
        return false;
    if (import->pass != PASS_SURVEY)
        return true;
    json_decref(import->store);
    import->store = scan_parse(&import->scan);
    return json_is_object(import->store) ||
           scan_refuse(&import->scan, "\"store\" must be an object");
}

static bool format_read(struct import *import) {
    if (!scan_value(&import->scan))
        return false;
    json_t *value = scan_parse(&import->scan);
    bool good = json_is_integer(value) && json_integer_value(value) == EXPORT_FORMAT;
    json_decref(value);
    return good || scan_refuse(&import->scan, "a newer build wrote this document; update this one");
}

/* G-30: nothing is dropped without a warning that names it. */
static bool unknown_skip(struct import *import, const char *name, bool ours) {
    if (!scan_value(&import->scan))
        return false;
    if (import->pass == PASS_CHECK)
        import_warn(import, "line %lu: \"%s%.64s\" is unknown and skipped", import->scan.item_line,
                    ours ? "overseer." : "", name);
    return true;
}

static bool object_scan(struct import *import, bool ours);

static bool member_scan(struct import *import, const char *name, bool ours) {
    const struct item_kind *kind = item_find(name, ours);
    if (kind)
        return collection_scan(import, kind);
    if (!ours && strcmp(name, "goals") == 0) {
        bool good = collection_scan(import, &GOALS);
        import->goals_known = good && import->pass == PASS_CHECK && !import->plain &&
                              import->goals.count < IMPORT_IDS;
        return good;
    }
    if (!ours && strcmp(name, "version") == 0)
        return version_read(import);
    if (!ours && strcmp(name, "overseer") == 0) {
        size_t before = reading_enter(&import->reading, name);
        bool good = object_scan(import, true) &&
                    (import->store || scan_refuse(&import->scan, "\"overseer\" has no \"store\""));
        if (good)
            reading_leave(&import->reading, before);
        return good;
    }
    if (ours && strcmp(name, "store") == 0)
        return store_read(import);
    if (ours && strcmp(name, "format") == 0)
        return format_read(import);
    return unknown_skip(import, name, ours);
}

enum { MEMBERS = 64 };

static bool name_is_new(struct import *import, char (*seen)[SCAN_KEY], uint32_t *count,
                        const char *name) {
    for (uint32_t i = 0; i < *count; i++)
        if (strcmp(seen[i], name) == 0)
            return scan_refuse(&import->scan, "this member occurs twice");
    if (*count == MEMBERS)
        return scan_refuse(&import->scan, "there are too many members");
    snprintf(seen[(*count)++], SCAN_KEY, "%s", name);
    return true;
}

static bool object_scan(struct import *import, bool ours) {
    struct scan *scan = &import->scan;
    char(*seen)[SCAN_KEY] = arena_take(&import->kept, (size_t)MEMBERS * SCAN_KEY, 1);
    char name[SCAN_KEY];
    uint32_t count = 0;
    if (!scan_expect(scan, '{'))
        return false;
    while (!scan_take(scan, '}'))
        if ((count > 0 && !scan_expect(scan, ',')) || !scan_name(scan, name) ||
            !name_is_new(import, seen, &count, name) || !member_scan(import, name, ours))
            return false;
    return true;
}

static bool document_scan(struct import *import, enum import_pass pass) {
    import->pass = pass;
    import->report.goals = import->report.events = import->report.rows = import->tx = 0;
    import->tally_count = 0;
    import->tallies = NULL;
    import->goals_known = false;
    import->reading = (struct reading){.arena = &import->arena, .plain = import->plain};
    scan_begin(&import->scan, import->options->file);
    bool good = object_scan(import, false) && scan_end(&import->scan);
    return (good && (import->plain || tallies_put(import))) || refuse(import);
}

/* ---- a list of tasks ---- */

static bool task_read(struct str line, bool *ret_done, struct str *ret_title) {
    size_t at = 0;
    while (at < line.len && (line.at[at] == ' ' || line.at[at] == '\t'))
        at++;
    if (line.len - at < 6 || !strchr("-*+", line.at[at]) || line.at[at + 1] != ' ' ||
        line.at[at + 2] != '[' || !strchr(" xX", line.at[at + 3]) || line.at[at + 4] != ']' ||
        line.at[at + 5] != ' ')
        return false;
    *ret_done = line.at[at + 3] != ' ';
    *ret_title = (struct str){line.at + at + 6, line.len - at - 6};
    while (ret_title->len > 0 && (unsigned char)ret_title->at[ret_title->len - 1] <= ' ')
        ret_title->len--;
    return ret_title->len > 0;
}

static bool line_is_empty(struct str line) {
    for (size_t i = 0; i < line.len; i++)
        if ((unsigned char)line.at[i] > ' ')
            return false;
    return true;
}

static bool task_line(struct import *import, struct str line, uint64_t number) {
    struct str title;
    bool done;
    if (line.len == IMPORT_LINE - 1 || !str_is_text(line))
        return reading_refuse(&import->reading, "the line is too long, or not text");
    if (task_read(line, &done, &title))
        return plain_task(import, title, done, number);
    if (!line_is_empty(line))
        import_warn(import, "line %llu is not a task and is skipped: %.*s",
                    (unsigned long long)number, STR_ARG(str_cut_utf8(line, 80)));
    return true;
}

static bool tasks_read(struct import *import) {
    char line[IMPORT_LINE];
    uint64_t number = 0;
    bool good = true;
    import->pass = PASS_CHECK;
    import->reading = (struct reading){.arena = &import->arena, .plain = true};
    rewind(import->options->file);
    while (good && fgets(line, sizeof line, import->options->file)) {
        import->scan.item_line = ++number;
        good = task_line(import, (struct str){line, strcspn(line, "\n")}, number);
        arena_reset(&import->arena);
    }
    if (good && import->report.goals == 0)
        good = reading_refuse(&import->reading,
                              "there is no task; a task is a line such as \"- [ ] do this\"");
    return good || refuse(import);
}

/* ---- all or nothing ---- */

static bool store_put(struct import *import) {
    struct table_row row = row_new(TABLE_STORE, &import->kept);
    struct reading reading = {.arena = &import->kept};
    reading_enter(&reading, "overseer.store");
    if (!row_take(&reading, import->store, &row)) {
        snprintf(import->error, import->error_size, "%s.", reading.why);
        return false;
    }
    /* STORE-21: goals, hosts and log are those of the old store, so the store keeps its name. */
    int64_t era = cell_int(&row, "era");
    row_set(&row, "tx", cell_of_int((int64_t)import->events));
    row_set(&row, "era", cell_of_int(era + (import->options->move ? 0 : 1)));
    return load_row(import->load, &row) || refuse(import);
}

/* A plain document says nothing about the store: its row stays as it is. */
static bool store_stays(struct import *import) {
    struct table_row row = *import->own;
    row_set(&row, "tx", cell_of_int((int64_t)plain_events(import->plain)));
    return load_row(import->load, &row);
}

static struct table_row *own_read(struct import *import) {
    struct walk *walk = walk_open(import->options->store, import->error, import->error_size);
    struct walk_cursor *cursor = walk ? walk_rows(walk, TABLE_STORE, WALK_BY_KEY) : NULL;
    const struct table_row *row = walk_next(cursor);
    struct table_row *own = row ? row_copy(row, &import->kept) : NULL;
    walk_end(cursor);
    walk_close(walk);
    return own;
}

static bool load_all(struct import *import) {
    import->pass = PASS_LOAD;
    if (import->plain)
        return (store_stays(import) && plain_finish(import) && tallies_put(import)) ||
               refuse(import);
    return store_put(import) && document_scan(import, PASS_LOAD);
}

struct chain_break {
    struct id goal;
    uint64_t seq;
    char what[LIMIT_WHY]; /* "": no break found */
};

static void record_passes(void *with, struct id goal, uint64_t seq, const struct hash *hash) {
    (void)with, (void)goal, (void)seq, (void)hash;
}

static void chain_ends(void *with, const struct audit *audit, const char *wrong) {
    struct chain_break *first = with;
    if (!wrong || first->what[0])
        return;
    first->goal = audit->goal;
    first->seq = audit->broken ? audit->broken_at : audit->seq;
    snprintf(first->what, sizeof first->what, "%.400s", wrong);
}

/* G-25: an imported log is trusted only if its hash chains verify. */
static void chains_check(const char *where, char *what, size_t size) {
    struct chain_break first = {0};
    struct log_visitor visitor = {&first, record_passes, chain_ends};
    struct log_report report;
    char goal[GOAL_ID_TEXT + 1];
    store_verify_log(str_of(where), &visitor, &report);
    goal_id_format(first.goal, goal);
    if (report.failed)
        snprintf(what, size, "the log cannot be read again: %.400s", report.why);
    else if (first.what[0])
        snprintf(what, size, "the events of %s are inconsistent from number %llu on: %.400s", goal,
                 (unsigned long long)first.seq, first.what);
}

static bool load_sound(struct import *import) {
    char what[LIMIT_WHY] = "";
    if (!load_dangling(import->load, what, sizeof what))
        return refuse(import);
    if (!what[0] && import->options->where)
        chains_check(import->options->where, what, sizeof what);
    if (what[0])
        snprintf(import->error, import->error_size, "%s.", what);
    return !what[0];
}

/* If the store cannot be filled completely, it is emptied again. */
static bool store_fill(struct import *import) {
    struct store *store = import->options->store;
    char undo[LIMIT_WHY] = "";
    import->load = load_begin(store, import->error, import->error_size);
    if (!import->load)
        return false;
    if (load_all(import) && load_sound(import))
        return load_end(import->load, import->error, import->error_size);
    load_abandon(import->load);
    if (!load_undo(store, undo, sizeof undo)) {
        size_t used = strlen(import->error);
        snprintf(import->error + used, import->error_size - used, " The store stays incomplete: %s",
                 undo);
    }
    return false;
}

static bool file_is_small(struct import *import) {
    bool small = fseeko(import->options->file, 0, SEEK_END) == 0 &&
                 ftello(import->options->file) <= IMPORT_BYTES;
    if (!small)
        snprintf(import->error, import->error_size,
                 "A document without \"overseer\" may have at most %d MiB.", IMPORT_BYTES >> 20);
    return small;
}

static bool document_check(struct import *import) {
    if (!import->options->tasks && !document_scan(import, PASS_SURVEY))
        return false;
    if (!import->store) {
        import->report.plain = true;
        if (!file_is_small(import) || !(import->plain = plain_make(import)))
            return false;
    }
    return import->options->tasks ? tasks_read(import) : document_scan(import, PASS_CHECK);
}

bool import_run(const struct import_options *options, struct import_report *ret, char *error,
                size_t error_size) {
    struct import import = {.options = options, .error = error, .error_size = error_size};
    json_count_memory();
    json_ran_short();
    snprintf(error, error_size, "Out of memory while reading the document.");
    bool good = !options->store || (import.own = own_read(&import));
    good = good && document_check(&import);
    if (good && options->store)
        good = store_fill(&import);
    else if (good && import.plain) {
        import.pass = PASS_LOAD;
        good = plain_finish(&import) || refuse(&import);
    }
    *ret = import.report;
    plain_free(import.plain);
    json_decref(import.store);
    map_free(&import.goals);
    scan_free(&import.scan);
    arena_free(&import.arena);
    arena_free(&import.kept);
    return good;
}
