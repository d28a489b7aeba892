/* SPDX-License-Identifier: Apache-2.0 */
/* Retention: selects data that need not be kept any longer, and deletes it. */
#include "store/retain_state.h"
#include "store/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    STEP_FIRST = 128, /* rows, before any measurement */
    STEP_LEAST = 64,
    HOLD_US = 7000,  /* target cost of a step */
    REST_US = 30000, /* longer than a waiting writer sleeps before it tries again */
    TEXT_GOALS = 16, /* goals whose texts are examined in one step */
};

static int64_t clock_us(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t retain_clock_us(void) {
    return clock_us(CLOCK_MONOTONIC);
}

int64_t retain_cpu_us(void) {
    return clock_us(CLOCK_THREAD_CPUTIME_ID);
}

bool retain_fail(struct retain *retain, const char *engine, const char *why) {
    retain->failed = true;
    snprintf(retain->why, sizeof retain->why, "%s: %s", engine, why);
    retain->why[strcspn(retain->why, "\n")] = 0;
    return false;
}

/* ---- a step's transaction ---- */

/* Sizes the next step so that it takes the target time, within bounds. */
static void size_adapt(struct retain *retain, uint32_t rows) {
    int64_t held = retain->took_us > 0 ? retain->took_us : 1;
    int64_t fits = (int64_t)rows * HOLD_US / held, size = retain->size;
    if (held < HOLD_US && fits > size + size / 4 + 16)
        fits = size + size / 4 + 16;
    else if (held < HOLD_US && fits < size)
        return; /* a small step does not predict the cost of a large one */
    retain->size = (uint32_t)(fits < STEP_LEAST          ? STEP_LEAST
                              : fits > LIMIT_RETAIN_ROWS ? LIMIT_RETAIN_ROWS
                                                         : fits);
}

static bool work_apply(struct retain *retain, const struct retain_work *work) {
    uint32_t rows = work->goes_count + work->moves_count + work->bodies_count + work->seen_count +
                    work->texts_count;
    if (rows == 0)
        return true;
    if (!retain->driver->apply(retain, work))
        return false;
    struct retain_report *report = &retain->report;
    report->records += work->goes_count;
    report->kept += work->moves_count;
    report->bodies += work->bodies_count;
    report->milestones += work->puts_count - work->joined_count;
    report->seen += work->seen_count;
    report->texts += work->texts_count;
    report->steps++;
    if (retain->held_us > report->longest_us)
        report->longest_us = retain->held_us;
    if (retain->took_us > report->dearest_us)
        report->dearest_us = retain->took_us;
    size_adapt(retain, rows);
    return true;
}

/* ---- records ---- */

/* EVENT-06: records of kept types stay, and so does the newest record of each chain; records that are not understood
 * are not deleted. */
static bool row_goes(const struct retain_row *row) {
    return row->known && row->record.type < RECORD_TYPES && !RECORDS[row->record.type].kept &&
           row->record.seq < row->newest;
}

static int by_goal(const void *a, const void *b) {
    const struct retain_row *x = *(struct retain_row *const *)a,
                            *y = *(struct retain_row *const *)b;
    int order = id_compare(x->goal, y->goal);
    return order ? order : (x->record.seq > y->record.seq) - (x->record.seq < y->record.seq);
}

static void runs_find(struct retain *retain, struct retain_work *work) {
    qsort(work->goes, work->goes_count, sizeof work->goes[0], by_goal);
    work->puts = arena_new(&retain->arena, struct milestone, work->goes_count + 1);
    for (uint32_t i = 0; i < work->goes_count; i++) {
        struct retain_row *row = work->goes[i];
        struct milestone *last = &work->puts[work->puts_count];
        if (work->puts_count == 0 || !milestone_add(last - 1, row->goal, &row->record)) {
            milestone_add(last, row->goal, &row->record);
            work->puts_count++;
        }
    }
}

/* Merges each run with the milestones that touch it; two runs of this step may meet through a milestone between them. */
static bool runs_join(struct retain *retain, struct retain_work *work) {
    uint32_t count = work->puts_count, out = 0;
    struct milestone *before = arena_new(&retain->arena, struct milestone, count + 1),
                     *behind = arena_new(&retain->arena, struct milestone, count + 1);
    work->joined = arena_new(&retain->arena, struct milestone, 2 * (size_t)count + 1);
    if (count > 0 && !retain->driver->touching(retain, work->puts, count, before, behind))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct milestone run = work->puts[i];
        if (behind[i].to > 0 && milestone_join(&run, &behind[i]))
            work->joined[work->joined_count++] = behind[i];
        if (out > 0 && milestone_join(&work->puts[out - 1], &run))
            continue;
        if (before[i].to > 0 && milestone_join(&before[i], &run)) {
            work->joined[work->joined_count++] =
                before[i]; /* deleted, and written again as part of a longer one */
            run = before[i];
        }
        work->puts[out++] = run;
    }
    work->puts_count = out;
    work->put_bodies = arena_new(&retain->arena, struct str, out + 1);
    for (uint32_t i = 0; i < out; i++)
        work->put_bodies[i] = milestone_encode(&work->puts[i], &retain->arena);
    return true;
}

static bool rows_step(struct retain *retain) {
    struct retain_pages page = {0};
    struct retain_work work = {0};
    if (!retain->driver->page(retain, retain->after, retain->records_before, retain->size, &page) ||
        page.count == 0)
        return false;
    work.goes = arena_new(&retain->arena, struct retain_row *, page.count);
    work.moves = arena_new(&retain->arena, struct retain_row *, page.count);
    for (uint32_t i = 0; i < page.count; i++)
        if (page.rows[i].known && page.rows[i].open)
            continue; /* it stays where it is until its goal is closed */
        else if (row_goes(&page.rows[i]))
            work.goes[work.goes_count++] = &page.rows[i];
        else
            work.moves[work.moves_count++] = &page.rows[i];
    runs_find(retain, &work);
    retain->after = page.rows[page.count - 1].key;
    return runs_join(retain, &work) && work_apply(retain, &work);
}

/* ---- texts ---- */

static int by_hash(const void *a, const void *b) {
    return memcmp(a, b, sizeof(struct hash));
}

static bool is_named(const struct text_names *named, const struct hash *hash) {
    return named->count > 0 &&
           bsearch(hash, named->at, named->count, sizeof *named->at, by_hash) != NULL;
}

static bool named_by_record(const struct retain_pages *records, const struct hash *hash) {
    for (uint32_t i = 0; i < records->count; i++) {
        struct evidence evidence = {0};
        if (!shape_decode(&EVIDENCE, records->bodies[i], &evidence) ||
            hash_equal(&evidence.more, hash) || hash_equal(&evidence.replay.input_apart, hash))
            return true; /* an unreadable body may name any text */
    }
    return false;
}

/* The texts of one closed goal that neither it nor a record names. */
static bool texts_of(struct retain *retain, struct id goal, struct retain_work *work) {
    struct store_request request = {
        .verb = STORE_LOAD, .at = retain->now, .ids = &goal, .id_count = 1};
    struct store_answer answer;
    struct retain_pages texts = {0}, records = {0};
    store_perform(retain->store, &request, &answer, &retain->arena);
    if (answer.outcome != STORE_DONE)
        return retain_fail(retain, "retention", "a goal could not be loaded");
    const struct goal_loaded *loaded = &answer.loaded[0];
    bool open = goal_is_open(&loaded->goal) && !loaded->goal.kind.admission;
    if (!loaded->exists || !loaded->whole || open || loaded->goal.quarantined)
        return true;
    if (!retain->driver->texts(retain, goal, &texts) ||
        (texts.count > 0 && !retain->driver->bodies(retain, goal, &records)))
        return false;
    struct text_names named = loaded_names(loaded, NULL, 0, &retain->arena);
    for (uint32_t i = 0; i < texts.count && work->texts_count < LIMIT_RETAIN_ROWS; i++)
        if (!is_named(&named, &texts.hashes[i]) && !named_by_record(&records, &texts.hashes[i]))
            work->texts[work->texts_count++] =
                (struct retain_text){goal, loaded->goal.version, texts.hashes[i]};
    return true;
}

static bool texts_go(struct retain *retain, const struct id *goals, uint32_t count) {
    struct retain_work work = {
        .texts = arena_new(&retain->arena, struct retain_text, LIMIT_RETAIN_ROWS)};
    for (uint32_t i = 0; i < count; i++)
        if (!texts_of(retain, goals[i], &work))
            return false;
    return work_apply(retain, &work);
}

static bool texts_step(struct retain *retain) {
    struct retain_pages page = {0};
    if (!retain->whole ||
        !retain->driver->text_goals(retain, retain->text_after, TEXT_GOALS, &page) ||
        page.count == 0)
        return false;
    retain->text_after = page.goals[page.count - 1];
    return texts_go(retain, page.goals, page.count);
}

/* ---- bodies ---- */

static bool body_goes(const struct retain_row *row) {
    return row->has_body && !row->open && row_goes(row);
}

/* Goals that lost a body which named a text. */
static uint32_t goals_named(const struct retain_work *work, struct id *goals) {
    uint32_t count = 0;
    static const struct hash NONE;
    for (uint32_t i = 0; i < work->bodies_count; i++) {
        const struct retain_row *row = work->bodies[i];
        struct evidence evidence = {0};
        if (shape_decode(&EVIDENCE, row->record.body, &evidence) &&
            (!hash_equal(&evidence.more, &NONE) ||
             !hash_equal(&evidence.replay.input_apart, &NONE)) &&
            (count == 0 || !id_equal(goals[count - 1], row->goal)))
            goals[count++] = row->goal;
    }
    return count;
}

static bool bodies_step(struct retain *retain) {
    struct retain_pages page = {0};
    struct retain_work work = {0};
    if (!retain->driver->page(retain, retain->after, retain->bodies_before, 4 * retain->size,
                              &page) ||
        page.count == 0)
        return false;
    work.bodies = arena_new(&retain->arena, struct retain_row *, page.count);
    work.body_hashes = arena_new(&retain->arena, struct hash, page.count);
    for (uint32_t i = 0; i < page.count && work.bodies_count < retain->size; i++) {
        struct retain_row *row = &page.rows[i];
        retain->after = row->key;
        if (!body_goes(row))
            continue;
        work.body_hashes[work.bodies_count] = sha256(row->record.body);
        work.bodies[work.bodies_count++] = row;
    }
    struct id *goals = arena_new(&retain->arena, struct id, work.bodies_count + 1);
    return work_apply(retain, &work) && texts_go(retain, goals, goals_named(&work, goals));
}

/* ---- sources ---- */

static bool seen_step(struct retain *retain) {
    struct retain_pages page = {0};
    uint32_t looked = 0;
    struct source_key last = retain->seen_after;
    if (!retain->driver->seen(retain, retain->seen_after, retain->seen_before, retain->size, &page,
                              &looked, &last) ||
        looked == 0)
        return false;
    retain->seen_after = last;
    struct retain_work work = {.seen = page.seen, .seen_count = page.count};
    return work_apply(retain, &work);
}

/* ---- days ---- */

static bool days_step(struct retain *retain) {
    bool more = false;
    retain->held_us = 0;
    if (!retain->driver->day)
        return false;
    bool ok = retain->driver->day(retain, retain->records_before, &more);
    if (retain->held_us > retain->report.longest_us)
        retain->report.longest_us = retain->held_us;
    return ok && more;
}

/* ---- a pass ---- */

static bool (*const PHASES[RETAIN_OVER])(struct retain *) = {[RETAIN_ROWS] = rows_step,
                                                             [RETAIN_BODIES] = bodies_step,
                                                             [RETAIN_SEEN] = seen_step,
                                                             [RETAIN_TEXTS] = texts_step,
                                                             [RETAIN_DAYS] = days_step};

/* The key that follows everything on the day before this one. */
static struct retain_key day_begin(int32_t day) {
    return (struct retain_key){day - 1, INT64_MAX, INT64_MAX};
}

void retain_begin(struct retain *retain, const struct retain_rules *rules, int64_t now,
                  bool whole) {
    must(rules->bodies_days >= 0 && rules->records_days >= 0 && rules->seen_days >= 0);
    int32_t today = time_day(now);
    retain->failed = false;
    retain->now = now;
    retain->records_before = today - rules->records_days;
    retain->bodies_before = today - rules->bodies_days;
    retain->seen_before = now - (int64_t)rules->seen_days * 86400 * SECONDS(1);
    retain->whole = whole;
    retain->phase = RETAIN_ROWS;
    retain->size = STEP_FIRST;
    retain->after = day_begin(1); /* records on day 0 stay */
    retain->seen_after = (struct source_key){0};
    retain->text_after = (struct id){0};
    retain->day_after = 0;
    retain->report = (struct retain_report){0};
    retain->most = 0;
}

void retain_cap(struct retain *retain, uint32_t percent, uint64_t least) {
    uint64_t count = 0;
    if (!retain->driver->count(retain, &count))
        count = 0;
    retain->failed = false;
    retain->most = count / 100 * percent > least ? count / 100 * percent : least;
}

static bool cap_is_reached(const struct retain *retain) {
    const struct retain_report *report = &retain->report;
    return retain->most > 0 &&
           report->records + report->bodies + report->seen + report->texts >= retain->most;
}

bool retain_step(struct retain *retain) {
    if (retain->phase == RETAIN_OVER || retain->failed || cap_is_reached(retain))
        return false;
    arena_reset(&retain->arena);
    retain->held_us = retain->took_us = 0;
    if (PHASES[retain->phase](retain))
        return true;
    if (retain->failed)
        return false;
    retain->phase++;
    retain->size = STEP_FIRST; /* rows of the next phase have a different cost */
    if (retain->phase == RETAIN_BODIES)
        retain->after = day_begin(retain->records_before > 1 ? retain->records_before : 1);
    return retain->phase < RETAIN_OVER;
}

/* Retention works at most half of the time, and lets a waiting writer go first. */
int64_t retain_rest_us(const struct retain *retain) {
    if (retain->alone)
        return 0;
    if (retain->wal_grows && retain->wal_bytes > LIMIT_RETAIN_WAL)
        return 4 * REST_US;
    return retain->held_us > 0 ? REST_US + retain->took_us : retain->took_us + REST_US / 10;
}

const char *retain_failed(const struct retain *retain) {
    return retain->failed ? retain->why : NULL;
}

const struct retain_report *retain_report(const struct retain *retain) {
    return &retain->report;
}

void retain_close(struct retain *retain) {
    if (!retain)
        return;
    store_close(retain->store);
    arena_free(&retain->arena);
    retain->driver->close(retain);
}
