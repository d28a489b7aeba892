/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/portable/export.h"

#include "ops/op.h"
#include "ops/portable/goal_item.h"
#include "ops/portable/item.h"

struct exporting {
    struct walk *walk;
    FILE *to;
    struct arena arena; /* for one item */
    bool first;         /* no item of this collection is written yet */
    bool failed;
    char key[256]; /* name of the last part: two goals may have parts of the same name */
    struct export_report report;
};

/* ---- one item per line ---- */

static void collection_begin(struct exporting *out, const char *name, bool keyed) {
    fprintf(out->to, "\"%s\": %c", name, keyed ? '{' : '[');
    out->first = true;
    out->key[0] = 0;
}

static void collection_end(struct exporting *out, bool keyed, bool last) {
    fprintf(out->to, "%s%c%s\n", out->first ? "" : "\n", keyed ? '}' : ']', last ? "" : ",");
}

static void item_print(struct exporting *out, const char *key, json_t *item) {
    out->failed = out->failed || !item || json_ran_short();
    fputs(out->first ? "\n" : ",\n", out->to);
    if (key) {
        json_t *name = json_string(key);
        json_dumpf(name, out->to, JSON_ENCODE_ANY);
        json_decref(name);
        fputs(": ", out->to);
    }
    if (!item || json_dumpf(item, out->to, JSON_COMPACT | JSON_ENCODE_ANY) != 0)
        out->failed = true;
    out->first = false;
    json_decref(item);
    arena_reset(&out->arena);
}

/* ---- rows of several tables, goal by goal ---- */

struct stream {
    struct walk_cursor *cursor;
    const struct table_row *row; /* the next one */
};

static void stream_step(struct stream *stream) {
    stream->row = walk_next(stream->cursor);
}

static void stream_open(struct stream *stream, struct walk_cursor *cursor) {
    stream->cursor = cursor;
    stream_step(stream);
}

/* The texts of SYSTEM_GOAL are policies: they belong to no goal and are not orphans. */
static void orphan_note(struct exporting *out, const struct table_row *row) {
    if (row->table != TABLE_TEXT || !id_equal(cell_id(row, "goal_id"), SYSTEM_GOAL))
        out->report.orphans++;
}

/* The next row of this goal, or NULL. Rows of goals that do not exist are skipped and counted. */
static const struct table_row *stream_of(struct exporting *out, struct stream *stream,
                                         struct id goal) {
    while (stream->row && id_compare(cell_id(stream->row, "goal_id"), goal) < 0) {
        orphan_note(out, stream->row);
        stream_step(stream);
    }
    return stream->row && id_equal(cell_id(stream->row, "goal_id"), goal) ? stream->row : NULL;
}

static void stream_close(struct exporting *out, struct stream *stream) {
    for (; stream->row; stream_step(stream))
        orphan_note(out, stream->row);
    walk_end(stream->cursor);
}

static void stream_gather(struct exporting *out, struct stream *stream, struct id goal,
                          struct goal_rows *rows) {
    for (const struct table_row *row; (row = stream_of(out, stream, goal)); stream_step(stream))
        goal_rows_add(rows, row);
}

/* ---- goals ---- */

enum goal_stream { OF_VIEW, OF_TAGS, OF_NODES, OF_TEXTS, OF_HISTORY, GOAL_STREAMS };

static bool text_is_named(const struct goal *goal, const struct plan *plan,
                          const struct hash *hash) {
    if (hash_equal(&goal->text, hash))
        return true;
    for (uint32_t i = 0; i < plan->count; i++)
        if (hash_equal(&plan->nodes[i].text, hash) || hash_equal(&plan->nodes[i].why, hash))
            return true;
    return false;
}

/* A goal's item contains only the texts that it shows; the others have a collection of their own. */
static void texts_gather(struct exporting *out, struct stream *stream, struct goal_rows *rows) {
    struct goal *goal = arena_new(rows->arena, struct goal, 1);
    struct plan plan;
    bool known = goal_rows_decode(rows, goal, &plan);
    for (const struct table_row *row; (row = stream_of(out, stream, goal->id));
         stream_step(stream)) {
        struct hash hash = cell_hash(row, "hash");
        if (known && text_is_named(goal, &plan, &hash) &&
            goal_shows_text(goal, &plan, row, rows->arena))
            goal_rows_add(rows, row);
    }
}

static json_t *revision_json(const struct table_row *row, struct arena *arena) {
    struct evidence *evidence = arena_new(arena, struct evidence, 1);
    uint32_t type = (uint32_t)cell_int(row, "type");
    json_t *revision = json_object();
    json_object_set_new(revision, "at", json_time(cell_int(row, "at")));
    json_object_set_new(revision, "type", json_string(RECORDS[type].name));
    if (shape_decode_in(&EVIDENCE, cell_str(row, "body"), arena, evidence))
        fields_put(revision, &EVIDENCE, FIELDS_SPARSE, evidence);
    return revision;
}

/* For readers only: an import ignores it, because the records contain it all. */
static json_t *history_gather(struct exporting *out, struct stream *stream, struct id goal) {
    json_t *history = json_array();
    for (const struct table_row *row; (row = stream_of(out, stream, goal)); stream_step(stream)) {
        json_array_append_new(history, revision_json(row, &out->arena));
        if (json_array_size(history) > EXPORT_HISTORY)
            json_array_remove(history, 0);
    }
    return history;
}

static void goal_export(struct exporting *out, struct stream streams[GOAL_STREAMS],
                        const struct table_row *row) {
    struct goal_rows rows = {.arena = &out->arena};
    struct id id = cell_id(row, "goal_id");
    char key[GOAL_ID_TEXT + 1];
    bool raw = false;
    goal_rows_add(&rows, row);
    stream_gather(out, &streams[OF_VIEW], id, &rows);
    stream_gather(out, &streams[OF_TAGS], id, &rows);
    stream_gather(out, &streams[OF_NODES], id, &rows);
    texts_gather(out, &streams[OF_TEXTS], &rows);
    json_t *item = goal_item_write(&rows, history_gather(out, &streams[OF_HISTORY], id), &raw);
    out->report.goals++;
    out->report.raw += raw;
    goal_id_format(id, key);
    item_print(out, key, item);
}

/* Skips the rows of an admission, which has collections of its own. */
static void admission_pass(struct exporting *out, struct stream streams[GOAL_STREAMS],
                           struct id admission) {
    for (size_t i = 0; i < GOAL_STREAMS; i++)
        while (stream_of(out, &streams[i], admission))
            stream_step(&streams[i]);
}

static const enum store_table NODES = (enum store_table)(TABLE_PART + PART_NODE);

static void goals_export(struct exporting *out) {
    struct stream goals, streams[GOAL_STREAMS];
    struct walk *walk = out->walk;
    stream_open(&goals, walk_rows(walk, TABLE_GOAL, WALK_BY_KEY));
    stream_open(&streams[OF_VIEW], walk_rows(walk, TABLE_GOAL_VIEW, WALK_BY_GOAL));
    stream_open(&streams[OF_TAGS], walk_rows(walk, TABLE_GOAL_TAG, WALK_BY_GOAL));
    stream_open(&streams[OF_NODES], walk_rows(walk, NODES, WALK_BY_GOAL));
    stream_open(&streams[OF_TEXTS], walk_rows(walk, TABLE_TEXT, WALK_BY_GOAL));
    stream_open(&streams[OF_HISTORY],
                walk_records(walk, RECORD_PLAN_CREATED, RECORD_PLAN_REJECTED));
    collection_begin(out, "goals", true);
    for (; goals.row && !out->failed; stream_step(&goals))
        if (row_is_admission(goals.row))
            admission_pass(out, streams, cell_id(goals.row, "goal_id"));
        else
            goal_export(out, streams, goals.row);
    collection_end(out, true, false);
    goals.row = NULL;
    stream_close(out, &goals);
    for (size_t i = 0; i < GOAL_STREAMS; i++)
        stream_close(out, &streams[i]);
}

/* ---- texts that no item shows ---- */

static void text_export(struct exporting *out, const struct item_kind *kind,
                        const struct table_row *text) {
    bool raw;
    json_t *item = item_write(kind, text, &out->arena, &raw);
    out->report.items++;
    out->report.raw += raw;
    item_print(out, NULL, item);
}

static void texts_of(struct exporting *out, const struct item_kind *kind, struct stream *nodes,
                     struct stream *texts, const struct table_row *row) {
    struct arena arena = {0};
    struct goal_rows rows = {.arena = &arena};
    struct goal *goal = arena_new(&arena, struct goal, 1);
    struct plan plan;
    goal_rows_add(&rows, row);
    struct id id = cell_id(row, "goal_id");
    stream_gather(out, nodes, id, &rows);
    bool known = goal_rows_decode(&rows, goal, &plan);
    for (const struct table_row *text; (text = stream_of(out, texts, id)); stream_step(texts)) {
        if (known && goal_shows_text(goal, &plan, text, &out->arena)) {
            arena_reset(&out->arena);
            continue;
        }
        text_export(out, kind, text);
    }
    arena_free(&arena);
}

/* The texts of the store itself; SYSTEM_GOAL sorts before every goal's id. */
static void policies_export(struct exporting *out, const struct item_kind *kind,
                            struct stream *texts) {
    for (const struct table_row *text; (text = stream_of(out, texts, SYSTEM_GOAL));
         stream_step(texts))
        text_export(out, kind, text);
}

static void texts_export(struct exporting *out, const struct item_kind *kind) {
    struct stream goals, nodes, texts;
    uint64_t orphans = out->report.orphans; /* counted in the first walk */
    stream_open(&goals, walk_rows(out->walk, TABLE_GOAL, WALK_BY_KEY));
    stream_open(&nodes, walk_rows(out->walk, NODES, WALK_BY_GOAL));
    stream_open(&texts, walk_rows(out->walk, TABLE_TEXT, WALK_BY_GOAL));
    policies_export(out, kind, &texts);
    for (; goals.row && !out->failed; stream_step(&goals))
        texts_of(out, kind, &nodes, &texts, goals.row);
    goals.row = NULL;
    stream_close(out, &goals);
    stream_close(out, &nodes);
    stream_close(out, &texts);
    out->report.orphans = orphans;
}

/* ---- everything else ---- */

static const char *part_key(struct exporting *out, const struct table_row *row) {
    static _Thread_local char key[LIMIT_NAME + GOAL_ID_TEXT + 16];
    char goal[GOAL_ID_TEXT + 1];
    struct str name = str_cut(cell_str(row, "name"), LIMIT_NAME);
    goal_id_format(cell_id(row, "goal_id"), goal);
    bool again = out->key[0] && str_equal(str_of(out->key), str_cut(name, sizeof out->key - 1));
    snprintf(out->key, sizeof out->key, "%.*s", (int)str_cut(name, sizeof out->key - 1).len,
             name.at);
    if (again)
        snprintf(key, sizeof key, "%.*s@%s#%lld", STR_ARG(name), goal,
                 (long long)cell_int(row, "n"));
    else
        snprintf(key, sizeof key, "%.*s", STR_ARG(name));
    return key;
}

static void rows_export(struct exporting *out, const struct item_kind *kind) {
    struct stream rows;
    bool raw;
    stream_open(&rows, walk_rows(out->walk, kind->table, kind->order));
    for (; rows.row && !out->failed; stream_step(&rows)) {
        if (kind->table == TABLE_GOAL && !row_is_admission(rows.row))
            continue;
        const char *key = kind->keyed ? part_key(out, rows.row) : NULL;
        json_t *item = item_write(kind, rows.row, &out->arena, &raw);
        *(kind->table == TABLE_RECORD ? &out->report.events : &out->report.items) += 1;
        out->report.raw += raw;
        item_print(out, key, item);
    }
    rows.row = NULL;
    stream_close(out, &rows);
}

/* A collection that older builds do not know is written only if it has rows. */
static bool is_left_out(struct exporting *out, const struct item_kind *kind) {
    struct stream rows = {0};
    if (STORED[kind->table].since == 0)
        return false;
    stream_open(&rows, walk_rows(out->walk, kind->table, kind->order));
    bool none = !rows.row;
    rows.row = NULL;
    stream_close(out, &rows);
    return none;
}

static void items_export(struct exporting *out, bool ours) {
    size_t count;
    const struct item_kind *kinds = item_kinds(&count);
    for (size_t i = 0; i < count && !out->failed; i++) {
        const struct item_kind *kind = &kinds[i];
        if (kind->ours != ours || is_left_out(out, kind))
            continue;
        collection_begin(out, kind->collection, kind->keyed);
        if (kind->table == TABLE_TEXT)
            texts_export(out, kind);
        else
            rows_export(out, kind);
        collection_end(out, kind->keyed, ours && i + 1 == count);
    }
}

static void store_export(struct exporting *out) {
    struct stream store;
    stream_open(&store, walk_rows(out->walk, TABLE_STORE, WALK_BY_KEY));
    json_t *row = store.row ? row_json(store.row, "one tx") : NULL;
    fprintf(out->to, "\"overseer\": {\n\"format\": %d,\n\"store\": ", EXPORT_FORMAT);
    if (!row || json_dumpf(row, out->to, JSON_COMPACT) != 0)
        out->failed = true;
    fputs(",\n", out->to);
    json_decref(row);
    walk_end(store.cursor);
}

/* A store that was filled only halfway must not be exported. */
static bool store_is_complete(struct walk *walk) {
    struct walk_cursor *cursor = walk_rows(walk, TABLE_STORE, WALK_BY_KEY);
    const struct table_row *row = walk_next(cursor);
    bool complete = row && !str_equal(cell_str(row, "safe"), str_of(LOAD_MARK));
    walk_end(cursor);
    return complete || walk_failed(walk);
}

bool export_write(struct walk *walk, FILE *to, struct export_report *ret, char *error,
                  size_t error_size) {
    struct exporting out = {.walk = walk, .to = to};
    json_count_memory();
    json_ran_short();
    if (!store_is_complete(walk)) {
        snprintf(error, error_size, "The store is incomplete: %s.", LOAD_MARK);
        return false;
    }
    fprintf(to, "{\n\"version\": %d,\n", EXPORT_VERSION);
    goals_export(&out);
    items_export(&out, false);
    store_export(&out);
    items_export(&out, true);
    fputs("}\n}\n", to);
    *ret = out.report;
    arena_free(&out.arena);
    bool written = fflush(to) == 0 && !ferror(to);
    if (walk_failed(walk))
        snprintf(error, error_size, "%s", walk_failed(walk));
    else if (!written)
        snprintf(error, error_size, "The document cannot be written.");
    else if (out.failed)
        snprintf(error, error_size, "Out of memory while writing the document.");
    return written && !out.failed && !walk_failed(walk);
}

/* ---- documentation of the format ---- */

static void shape_describe(FILE *to, const char *title, const struct shape *shape, bool hidden) {
    fprintf(to, "\n### %s\n\n| member | what it is |\n|---|---|\n", title);
    for (size_t i = 0; i < shape->count; i++) {
        const struct field *field = &shape->fields[i];
        if (field->number && !(field->flags & FIELD_HIDDEN) == !hidden)
            fprintf(to, "| `%s` | %s |\n", field->name, field->text);
    }
}

void export_describe(FILE *to) {
    size_t count;
    const struct item_kind *kinds = item_kinds(&count);
    fprintf(to,
            "| collection | holds |\n|---|---|\n| `goals` | goals, by id, each with its plan |\n");
    for (size_t i = 0; i < count; i++)
        fprintf(to, "| `%s%s` | %s |\n", kinds[i].ours ? "overseer." : "", kinds[i].collection,
                kinds[i].text);
    shape_describe(to, "A goal: its state", &GOAL_HOT, false);
    shape_describe(to, "A goal: `overseer.hot`", &GOAL_HOT, true);
    shape_describe(to, "A goal: its definition", &GOAL_TEXT, false);
    shape_describe(to, "A node of a plan: its text", &NODE_TEXT, false);
    shape_describe(to, "A node of a plan: its state", &NODE, false);
    for (size_t i = 0; i < count; i++)
        if (kinds[i].table >= TABLE_PART) {
            const struct part_row *part = &PART[kinds[i].table - TABLE_PART];
            shape_describe(to, part->table, part->shape, false);
        }
    shape_describe(to, "An event: `data`", &EVIDENCE, false);
}
