/* SPDX-License-Identifier: Apache-2.0 */
#include "store/dump.h"

#include "store/rows.h"

#include <stdio.h>

struct hash cell_hash(const struct table_row *row, const char *name) {
    struct str bytes = cell_str(row, name);
    struct hash hash = {0};
    if (bytes.len == sizeof hash.bytes)
        memcpy(hash.bytes, bytes.at, sizeof hash.bytes);
    return hash;
}

bool cells_equal(const struct cell *a, const struct cell *b) {
    return a->type == b->type && a->number == b->number && str_equal(a->bytes, b->bytes);
}

/* ---- reading ---- */

static bool is_sqlite(const struct store *store) {
    return strcmp(store->driver->name, "sqlite") == 0;
}

struct walk *walk_open(struct store *store, char *error, size_t error_size) {
    return is_sqlite(store) ? sqlite_walk_open(store, error, error_size)
                            : postgres_walk_open(store, error, error_size);
}

void walk_close(struct walk *walk) {
    if (walk)
        walk->engine->close(walk);
}

struct walk_cursor *walk_rows(struct walk *walk, enum store_table table, enum walk_order order) {
    must(table_order(table, order) != NULL);
    return walk->engine->rows(walk, table, table_order(table, order), "");
}

struct walk_cursor *walk_records(struct walk *walk, enum record_type from, enum record_type to) {
    char where[64];
    snprintf(where, sizeof where, " WHERE type BETWEEN %d AND %d", (int)from, (int)to);
    return walk->engine->rows(walk, TABLE_RECORD, table_order(TABLE_RECORD, WALK_BY_GOAL), where);
}

const struct table_row *walk_next(struct walk_cursor *cursor) {
    return cursor && !walk_failed(cursor->walk) ? cursor->walk->engine->next(cursor) : NULL;
}

void walk_end(struct walk_cursor *cursor) {
    if (cursor)
        cursor->walk->engine->end(cursor);
}

const char *walk_failed(const struct walk *walk) {
    return walk->failed[0] ? walk->failed : NULL;
}

bool store_dump(struct store *store, row_visitor *request, void *with, char *error,
                size_t error_size) {
    struct walk *walk = walk_open(store, error, error_size);
    bool going = walk;
    for (uint32_t table = 0; going && table < STORE_TABLES; table++) {
        struct walk_cursor *cursor = walk_rows(walk, table, WALK_BY_KEY);
        const struct table_row *row;
        while (going && (row = walk_next(cursor)))
            going = request(with, row);
        walk_end(cursor);
        going = going && !walk_failed(walk);
    }
    if (walk)
        snprintf(error, error_size, "%s", walk->failed);
    walk_close(walk);
    return going;
}

/* ---- loading ---- */

const char LOAD_MARK[] = "an import or a restore into this store is not complete";

const char *load_failed(const struct load *load) {
    return load->failed[0] ? load->failed : NULL;
}

struct load *load_attach(struct store *store, char *error, size_t error_size) {
    return is_sqlite(store) ? sqlite_load_open(store, error, error_size)
                            : postgres_load_open(store, error, error_size);
}

static bool load_mark(struct load *load) {
    const struct load_engine *engine = load->engine;
    char text[LIMIT_WHY + 64];
    if (!engine->ask(load, "SELECT safe FROM store", text, sizeof text))
        return false;
    if (strcmp(text, LOAD_MARK) == 0)
        return load_fail(load,
                         "An earlier import into this store was interrupted; undo that first.");
    if (!engine->ask(load,
                     "SELECT 'x' FROM store WHERE EXISTS (SELECT 1 FROM goal)"
                     " OR EXISTS (SELECT 1 FROM record)",
                     text, sizeof text))
        return false;
    if (text[0])
        return load_fail(load, "The store is not empty. Use another one; nothing was changed.");
    snprintf(text, sizeof text, "UPDATE store SET safe = '%s'", LOAD_MARK);
    return engine->execute(load, text) && engine->execute(load, "DELETE FROM tally") &&
           engine->execute(load, "DELETE FROM host") && engine->flush(load);
}

struct load *load_begin(struct store *store, char *error, size_t error_size) {
    struct load *load = load_attach(store, error, error_size);
    if (!load || load_mark(load))
        return load;
    snprintf(error, error_size, "%s", load->failed);
    load->engine->close(load);
    return NULL;
}

static bool store_put(struct load *load, const struct table_row *row) {
    struct str safe = cell_str(row, "safe");
    int64_t level = cell_int(row, "level");
    if (level < 1 || cell_int(row, "era") < 0 || cell_int(row, "tx") < 0)
        return load_fail(load, "The document does not give the level and the era of its store.");
    if (level > SCHEMA_LEVEL)
        return load_fail(load,
                         "The document comes from a store of level %lld; this build knows %d.",
                         (long long)level, SCHEMA_LEVEL);
    if (cell_str(row, "instance").len != sizeof(struct id))
        return load_fail(load, "The document has no instance id.");
    snprintf(load->safe, sizeof load->safe, "%.*s", STR_ARG(safe));
    return load->engine->store(load, row);
}

/* Column names become part of SQL text, so only plain ones are accepted. */
static bool name_is_plain(const char *name) {
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz_");
    return len > 0 && len < 32 && name[len] == 0;
}

bool load_row(struct load *load, const struct table_row *row) {
    if (load->failed[0])
        return false;
    for (uint32_t i = 0; i < row->count; i++)
        if (!name_is_plain(row->names[i]))
            return load_fail(load, "A row of %s has an unknown column.", table_name(row->table));
    return row->table == TABLE_STORE ? store_put(load, row) : load->engine->row(load, row);
}

/* Copies the value of `safe` from the source store. */
static bool safe_settle(struct load *load) {
    char text[2 * LIMIT_WHY + 64];
    size_t used = (size_t)snprintf(text, sizeof text, "UPDATE store SET safe = nullif('");
    for (const char *at = load->safe; *at; at++) {
        if (*at == '\'')
            text[used++] = '\'';
        text[used++] = *at;
    }
    snprintf(text + used, sizeof text - used, "', '')");
    return load->engine->execute(load, text);
}

bool load_end(struct load *load, char *error, size_t error_size) {
    bool done = !load->failed[0] && load->engine->flush(load) && safe_settle(load) &&
                load->engine->flush(load);
    if (!done)
        snprintf(error, error_size, "%s", load->failed);
    load->engine->close(load);
    return done;
}

void load_abandon(struct load *load) {
    load->engine->close(load);
}

static bool table_has_goal(enum store_table table) {
    return table != TABLE_GOAL && table_order(table, WALK_BY_GOAL) != NULL;
}

bool load_dangling(struct load *load, char *ret_what, size_t size) {
    const struct load_engine *engine = load->engine;
    char system[80], sql[512], hex[64], digits[33] = "";
    for (size_t i = 0; i < sizeof SYSTEM_GOAL.bytes; i++)
        snprintf(digits + 2 * i, 3, "%02x", SYSTEM_GOAL.bytes[i]);
    snprintf(system, sizeof system, engine->goal_of_hex, digits);
    ret_what[0] = 0;
    for (enum store_table table = 0; table < STORE_TABLES && !ret_what[0]; table++) {
        if (!table_has_goal(table))
            continue;
        snprintf(sql, sizeof sql,
                 "SELECT %s FROM %s t WHERE goal_id <> %s AND NOT EXISTS (SELECT 1 FROM goal g"
                 " WHERE g.goal_id = t.goal_id) LIMIT 1",
                 engine->goal_hex, table_name(table), system);
        if (!engine->flush(load) || !engine->ask(load, sql, hex, sizeof hex))
            return false;
        if (hex[0])
            snprintf(ret_what, size, "%s names the goal %s, which does not exist",
                     table_name(table), hex);
    }
    return true;
}

static bool tables_empty(struct load *load) {
    const struct load_engine *engine = load->engine;
    char sql[80];
    if (!engine->execute(load, engine->unlock))
        return false;
    for (enum store_table table = TABLE_HOST; table < STORE_TABLES; table++) {
        snprintf(sql, sizeof sql, "DELETE FROM %s", table_name(table));
        if (!engine->execute(load, sql))
            return false;
    }
    return engine->execute(load, engine->lock) &&
           engine->execute(load, "UPDATE store SET safe = NULL, era = 0") && engine->flush(load);
}

bool load_cut_off(struct store *store) {
    char text[LIMIT_WHY] = "", error[LIMIT_WHY];
    struct load *load = load_attach(store, error, sizeof error);
    bool cut = load && load->engine->ask(load, "SELECT safe FROM store", text, sizeof text) &&
               strcmp(text, LOAD_MARK) == 0;
    if (load)
        load->engine->close(load);
    return cut;
}

bool load_undo(struct store *store, char *error, size_t error_size) {
    struct load *load = load_attach(store, error, error_size);
    char text[LIMIT_WHY];
    if (!load)
        return false;
    bool done = load->engine->ask(load, "SELECT safe FROM store", text, sizeof text);
    if (done && strcmp(text, LOAD_MARK) != 0)
        done = load_fail(load, "No import into this store was interrupted; nothing was changed.");
    done = done && tables_empty(load);
    if (!done)
        snprintf(error, error_size, "%s", load->failed);
    load->engine->close(load);
    return done;
}
