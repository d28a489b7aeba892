/* SPDX-License-Identifier: Apache-2.0 */
#include "store/forget.h"

#include "store/dump.h"

#include <stdio.h>

/* %s is the goal. A body's hash must be stored before the body is deleted. */
static const char *const STEPS[] = {
    "UPDATE record SET body_hash = sha256(body), body = NULL WHERE body IS NOT NULL AND goal_id = %s",
    "UPDATE goal_view SET title = '' WHERE goal_id = %s",
    "DELETE FROM goal_tag WHERE goal_id = %s",
    "DELETE FROM text WHERE goal_id = %s",
    "DELETE FROM aside WHERE goal_id = %s",
};

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

/* Nodes stay, as numbers and ids: their content was in texts. */
static bool words_drop(struct load *load, const char *goal) {
    char sql[256];
    for (size_t i = 0; i < count_of(STEPS); i++) {
        snprintf(sql, sizeof sql, STEPS[i], goal);
        if (!load->engine->execute(load, sql))
            return false;
    }
    for (uint32_t kind = PART_NODE + 1; kind < PARTS; kind++) {
        snprintf(sql, sizeof sql, "DELETE FROM %s WHERE goal_id = %s", PART[kind].table, goal);
        if (!load->engine->execute(load, sql))
            return false;
    }
    return load->engine->execute(load, load->engine->lock) && load->engine->flush(load);
}

bool store_forget(struct store *store, struct id goal, char *error, size_t error_size) {
    char digits[33] = "", literal[64];
    struct load *load = load_attach(store, error, error_size);
    if (!load)
        return false;
    for (size_t i = 0; i < sizeof goal.bytes; i++)
        snprintf(digits + 2 * i, 3, "%02x", goal.bytes[i]);
    snprintf(literal, sizeof literal, load->engine->goal_of_hex, digits);
    bool done =
        id_equal(goal, SYSTEM_GOAL)
            ? load_fail(load, "These are the records of the store itself; they stay.")
            : is_over(load, literal) && words_drop(load, literal) && load->engine->wipe(load);
    if (!done)
        snprintf(error, error_size, "%s", load->failed);
    load->engine->close(load);
    return done;
}
