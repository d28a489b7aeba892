/* SPDX-License-Identifier: Apache-2.0 */
#include "store/forget.h"

#include "store/dump.h"
#include "store/rows.h"

#include <stdio.h>

static bool is_over(struct load *load, const char *goal) {
    const struct load_engine *engine = load->engine;
    char sql[160], found[32];
    snprintf(sql, sizeof sql,
             "SELECT CASE WHEN open THEN 'open' ELSE 'over' END FROM goal"
             " WHERE goal_id = %s%s",
             goal, engine->for_update);
    if (!engine->execute(load, engine->unlock) || !engine->ask(load, sql, found, sizeof found))
        return false;
    if (!found[0])
        return load_fail(load, "There is no goal with that id; nothing was changed.");
    if (strcmp(found, "over") != 0)
        return load_fail(
            load, "The goal is still open. Complete or cancel it first; nothing was changed.");
    snprintf(sql, sizeof sql, "SELECT 'some' FROM inbox WHERE goal_id = %s LIMIT 1", goal);
    return engine->ask(load, sql, found, sizeof found) &&
           (!found[0] ||
            load_fail(load,
                      "A signal to the goal is still in the inbox. Try again once the daemon has "
                      "processed it; nothing was changed."));
}

/* STORED says what of each table stays. */
static bool words_drop(struct load *load, const char *goal) {
    char sql[256];
    for (enum store_table table = 0; table < STORE_TABLES; table++) {
        const struct stored_table *row = &STORED[table];
        if (!row->by_goal || row->forget == FORGET_NOTHING)
            continue;
        if (row->forget == FORGET_WORDS)
            snprintf(sql, sizeof sql, row->forget_sql, goal);
        else
            snprintf(sql, sizeof sql, "DELETE FROM %s WHERE goal_id = %s", table_name(table), goal);
        if (!load->engine->execute(load, sql))
            return false;
    }
    return load->engine->execute(load, load->engine->lock) && load->engine->flush(load);
}

/* The goal's own row has its first title, for branches and commits. */
static bool subject_drop(struct load *load, struct id id, const char *literal,
                         struct arena *arena) {
    enum { MOST = 64 << 10 };
    const struct load_engine *engine = load->engine;
    char *found = arena_new(arena, char, MOST);
    struct str sql =
        arena_format(arena, "SELECT %s FROM goal WHERE goal_id = %s", engine->hot_hex, literal);
    if (!engine->ask(load, arena_cstr(arena, sql), found, MOST))
        return false;
    size_t count = strlen(found) / 2;
    char *bytes = arena_new(arena, char, count + 1), *digits;
    struct str hot = {bytes, count};
    if (!hex_read(found, bytes, count) || !row_unseal(ROW_GOAL, id, 0, &hot) ||
        !shape_without(&GOAL_HOT, hot, "subject", arena, &hot))
        return load_fail(load, "The row of the goal is damaged, and it may contain words of the "
                               "goal. Repair the store first (overseer doctor); nothing was "
                               "changed.");
    hot = row_seal(ROW_GOAL, id, 0, hot, arena);
    digits = arena_new(arena, char, 2 * hot.len + 1);
    hex_write(digits, hot.at, hot.len);
    struct str value = arena_format(arena, engine->hot_of_hex, digits);
    sql = arena_format(arena, "UPDATE goal SET hot = %.*s WHERE goal_id = %s", STR_ARG(value),
                       literal);
    return engine->execute(load, arena_cstr(arena, sql));
}

static bool everything_drop(struct load *load, struct id id, const char *literal) {
    struct arena arena = {0};
    bool done = is_over(load, literal) && subject_drop(load, id, literal, &arena) &&
                words_drop(load, literal) && load->engine->wipe(load);
    arena_free(&arena);
    return done;
}

bool store_forget(struct store *store, struct id goal, char *error, size_t error_size) {
    char digits[33] = "", literal[64];
    struct load *load = load_attach(store, error, error_size);
    if (!load)
        return false;
    hex_write(digits, goal.bytes, sizeof goal.bytes);
    snprintf(literal, sizeof literal, load->engine->goal_of_hex, digits);
    bool done = id_equal(goal, SYSTEM_GOAL)
                    ? load_fail(load, "These are the records of the store itself; they stay.")
                    : everything_drop(load, goal, literal);
    if (!done)
        snprintf(error, error_size, "%s", load->failed);
    load->engine->close(load);
    return done;
}
