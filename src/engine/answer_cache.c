/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/answer_cache.h"

#include "base/seam.h"
#include "ops/all.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MARKS = 1 << 16,  /* goals that share a mark are invalidated together */
    PLACES = 1 << 15, /* goals that share a place replace each other */
};

struct cached {
    const struct op *op;
    struct id goal;
    uint64_t mark;
    char tag[ANSWER_TAG + 1];
    size_t len;
    char bytes[];
};

static atomic_bool enabled;
static atomic_uint
    process; /* random: distinguishes our tags from those of an earlier daemon process */
static atomic_uint_least64_t marks[MARKS], all_marks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cached *places[PLACES];
static size_t cache_size; /* of all cached answers */
static uint32_t next_out;

void answer_cache_enable(bool on, uint32_t random) {
    atomic_store(&process, random);
    atomic_store(&enabled, on);
}

/* Ids begin with their time, so they differ at the end. */
static uint32_t number_of(struct id goal) {
    uint32_t number = 0;
    for (size_t i = 0; i < sizeof goal.bytes; i++)
        number = number * 31 + goal.bytes[i];
    return number ^ number >> 15;
}

/* ---- validity ---- */

void answer_cache_changed(struct id goal) {
    if (!seam("cache-stale"))
        atomic_fetch_add(&marks[number_of(goal) % MARKS], 1);
}

void answer_cache_all_changed(void) {
    atomic_fetch_add(&all_marks, 1);
}

/* Both counters only grow, so the sum is unchanged only if both are. */
uint64_t answer_cache_mark(struct id goal) {
    return atomic_load(&marks[number_of(goal) % MARKS]) + atomic_load(&all_marks);
}

/* ---- cached answers ---- */

bool answer_cache_may_answer(const struct op *op, const struct caller *caller, const json_t *params,
                             struct id *ret_goal) {
    if (!atomic_load(&enabled) || op != &OP_GOAL_SHOW || caller->role == ROLE_RUN ||
        !(op->may & 1u << caller->role) || json_object_size(params) != 1)
        return false;
    const json_t *goal = json_object_get(params, "goal");
    struct str text = {json_string_value(goal), json_string_length(goal)};
    return text.at && goal_id_parse(text, ret_goal);
}

static void place_empty(struct cached **place) {
    if (*place)
        cache_size -= (*place)->len + sizeof **place;
    free(*place);
    *place = NULL;
}

/* A number that no other answer has, neither in this process nor in another one. Hashing the bytes would cost as much
 * as copying them ten times. */
static void tag_make(char tag[ANSWER_TAG + 1]) {
    static atomic_uint_least64_t numbers;
    uint64_t number = atomic_fetch_add(&numbers, 1);
    snprintf(tag, ANSWER_TAG + 1, "\"%08x%08x\"", atomic_load(&process), (uint32_t)number);
}

void answer_cache_put(const struct op *op, struct id goal, uint64_t mark, struct str result) {
    if (!atomic_load(&enabled) || result.len > LIMIT_CACHE_ANSWER ||
        answer_cache_mark(goal) != mark)
        return;
    struct cached *cached = malloc(sizeof *cached + result.len);
    if (!cached)
        return;
    *cached = (struct cached){.op = op, .goal = goal, .mark = mark, .len = result.len};
    tag_make(cached->tag);
    memcpy(cached->bytes, result.at, result.len);
    pthread_mutex_lock(&lock);
    struct cached **place = &places[number_of(goal) % PLACES];
    place_empty(place);
    while (cache_size + cached->len + sizeof *cached > LIMIT_CACHE_BYTES)
        place_empty(&places[next_out++ % PLACES]);
    cache_size += cached->len + sizeof *cached;
    *place = cached;
    pthread_mutex_unlock(&lock);
}

static bool copy(const struct cached *cached, struct str before, struct str after,
                 struct answer_cache_found *ret) {
    ret->len = before.len + cached->len + after.len;
    ret->at = malloc(ret->len);
    if (!ret->at)
        return false;
    memcpy(ret->at, before.at, before.len);
    memcpy(ret->at + before.len, cached->bytes, cached->len);
    memcpy(ret->at + before.len + cached->len, after.at, after.len);
    return true;
}

bool answer_cache_find(const struct op *op, struct id goal, struct str before, struct str after,
                       const char *same, struct answer_cache_found *ret) {
    *ret = (struct answer_cache_found){0};
    pthread_mutex_lock(&lock);
    struct cached **place = &places[number_of(goal) % PLACES], *cached = *place;
    bool found = cached && cached->op == op && id_equal(cached->goal, goal);
    if (found && cached->mark != answer_cache_mark(goal)) {
        place_empty(place);
        found = false;
    }
    if (found) {
        memcpy(ret->tag, cached->tag, sizeof ret->tag);
        ret->is_same = same && strcmp(same, cached->tag) == 0;
        found = ret->is_same || copy(cached, before, after, ret);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

size_t answer_cache_bytes(void) {
    pthread_mutex_lock(&lock);
    size_t size = cache_size;
    pthread_mutex_unlock(&lock);
    return size;
}
