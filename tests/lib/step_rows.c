/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a step stores everything that it changes. It checks from outside: every row is encoded before and after, and compared with what
 * the decision stores. step() is wrapped by the linker (-Wl,--wrap=step), so that stories, simulators and unit tests all
 * run through here.
 *
 *   - no step changes the rows that it is given;
 *   - nothing, refused: nothing is stored, and the rows are unchanged;
 *   - change, sample: the rows before, with the stored rows put in, are the rows after, byte by byte. */
#include "core/step.h"

struct decision __real_step(const struct world *world, const struct signal *signal,
                            const struct policy *policy, struct arena *out);
struct decision __wrap_step(const struct world *world, const struct signal *signal,
                            const struct policy *policy, struct arena *out);

static uint32_t row_n(const void *row) {
    return *(const uint32_t *)row;
}

static const void *row_at(const struct live *live, enum part_kind kind, uint32_t i) {
    return (const char *)live_rows_of(live, kind)->at + PART[kind].shape->size * i;
}

static struct str row_bytes(const struct live *live, enum part_kind kind, uint32_t i,
                            struct arena *arena) {
    return shape_encode(PART[kind].shape, row_at(live, kind, i), arena);
}

static const struct part_change *stored(const struct decision *decision, enum part_kind kind,
                                        uint32_t n) {
    const struct part_change *found = NULL; /* the last one wins */
    for (uint32_t i = 0; i < decision->part_count; i++)
        if (decision->parts[i].kind == kind && decision->parts[i].n == n)
            found = &decision->parts[i];
    return found;
}

/* Rows are ordered by n. -1: there is none. */
static int place_of(const struct live *live, enum part_kind kind, uint32_t n) {
    uint32_t from = 0, to = live_rows_of(live, kind)->count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (row_n(row_at(live, kind, middle)) < n)
            from = middle + 1;
        else
            to = middle;
    }
    bool found = from < live_rows_of(live, kind)->count && row_n(row_at(live, kind, from)) == n;
    return found ? (int)from : -1;
}

/* Compares the raw bytes first, because most rows are identical; otherwise the encoded rows. */
static void same_row(const struct live *before, uint32_t a, const struct live *after, uint32_t b,
                     enum part_kind kind, struct arena *arena) {
    size_t size = PART[kind].shape->size;
    must(memcmp(row_at(before, kind, a), row_at(after, kind, b), size) == 0 ||
         str_equal(row_bytes(before, kind, a, arena), row_bytes(after, kind, b, arena)));
}

static void kind_check(const struct live *before, const struct decision *decision,
                       enum part_kind kind, struct arena *arena) {
    const struct live *after = &decision->live;
    for (uint32_t i = 0; i < live_rows_of(after, kind)->count; i++) {
        uint32_t n = row_n(row_at(after, kind, i));
        const struct part_change *change = stored(decision, kind, n);
        int was = change ? -1 : place_of(before, kind, n);
        must(change || was >= 0);
        if (change)
            must(!change->gone && str_equal(change->body, row_bytes(after, kind, i, arena)));
        else
            same_row(before, (uint32_t)was, after, i, kind, arena);
    }
    for (uint32_t i = 0; i < live_rows_of(before, kind)->count; i++) {
        uint32_t n = row_n(row_at(before, kind, i));
        const struct part_change *change = stored(decision, kind, n);
        must(place_of(after, kind, n) >= 0 || (change && change->gone));
    }
}

static void rows_same(const struct live *before, const struct live *after, struct arena *arena) {
    for (uint32_t kind = 0; kind < PARTS; kind++) {
        if (!PART[kind].live)
            continue;
        uint32_t count = live_rows_of(before, (enum part_kind)kind)->count;
        must(count == live_rows_of(after, (enum part_kind)kind)->count);
        for (uint32_t i = 0; i < count; i++)
            same_row(before, i, after, i, (enum part_kind)kind, arena);
    }
}

static void decision_check(const struct live *before, const struct decision *decision,
                           struct arena *arena) {
    bool stores = decision->verdict == VERDICT_CHANGE || decision->verdict == VERDICT_SAMPLE;
    must((decision->verdict == VERDICT_CHANGE) == (decision->record_count > 0));
    if (!stores)
        must(decision->part_count == 0 && decision->effect_count == 0);
    if (decision->verdict == VERDICT_NOTHING)
        rows_same(before, &decision->live, arena);
    for (uint32_t kind = 0; kind < PARTS; kind++)
        if (PART[kind].live && stores)
            kind_check(before, decision, (enum part_kind)kind, arena);
}

struct decision __wrap_step(const struct world *world, const struct signal *signal,
                            const struct policy *policy, struct arena *out) {
    static const struct live NONE;
    const struct live *live = world->live ? world->live : &NONE;
    struct live before = live_copy(live, out);
    struct goal goal = world->goal ? *world->goal : (struct goal){0};
    struct decision decision = __real_step(world, signal, policy, out);
    must(!world->goal || memcmp(&goal, world->goal, sizeof goal) == 0);
    rows_same(&before, live, out);
    decision_check(&before, &decision, out);
    return decision;
}
