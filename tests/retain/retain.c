/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how long the ledger waits while retention works through a long past.
 *
 *   retain WHERE RECORDS [BASELINE-SECONDS [BACKUP-FILE]]
 *
 * Fills the store, lets a writer commit as a ledger does, first alone, then beside a backup, then beside retention, and prints
 * how long its commits took. The machine's own syncs can be slow: the figure that we control is how long retention held the store. */
#include "retain/retain.h"

#include "store/backup.h"
#include "store/examine.h"
#include "store/retain.h"
#include "store/rows.h"
#include "store/sqlite/sqlite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LIVE_GOALS = 400, BATCH = 20, MOST_COMMITS = 4000000, LIMIT_MS = 50 };

_Noreturn void retain_die(const char *what, const char *why) {
    fprintf(stderr, "retain: %s: %s\n", what, why);
    exit(1);
}

double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int64_t wall_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- the writer ---- */

struct waits {
    float *ms;
    uint32_t count;
};

struct writer_of {
    const char *where;
    struct store *store;
    struct store_self self;
    uint64_t batch;
    struct goal goals[LIVE_GOALS];
    struct arena arena;
    struct waits waits[3]; /* alone, beside retention, beside a backup */
    atomic_int side;
    atomic_bool ending;
};

static struct store_answer ask(struct writer_of *w, struct store_request *request) {
    struct store_answer answer;
    request->self = w->self;
    request->at = wall_us();
    store_perform(w->store, request, &answer, &w->arena);
    if (answer.outcome != STORE_DONE) {
        char text[512];
        snprintf(text, sizeof text, "%.*s", STR_ARG(answer.error));
        retain_die("the writer", text);
    }
    return answer;
}

/* Adds one more report to a goal. */
static struct goal_commit commit_of(struct writer_of *w, struct goal *goal, bool new) {
    struct evidence evidence = {.rule = STR("report.said"), .text = STR("so far, so good")};
    struct record *record = arena_new(&w->arena, struct record, 1);
    *record = (struct record){
        .type = new ? RECORD_GOAL_CREATED : RECORD_GOAL_REPORTED, .at = wall_us(), .core = 2};
    record->body = shape_encode(&EVIDENCE, &evidence, &w->arena);
    record_seal(record, goal->id, goal->records.seq, &goal->records.head);
    goal->records.seq = record->seq;
    goal->records.head = record->hash;
    goal->version++;
    struct str hot = shape_encode(&GOAL_HOT, goal, &w->arena);
    return (struct goal_commit){.goal = *goal,
                                .expected = goal->version - 1,
                                .view_changed = new,
                                .title = new ? STR("live") : STR(""),
                                .hot = row_seal(ROW_GOAL, goal->id, 0, hot, &w->arena),
                                .records = record,
                                .record_count = 1};
}

static void batch_commit(struct writer_of *w, uint32_t from, uint32_t count, bool new) {
    arena_reset(&w->arena);
    struct goal_commit *commits = arena_new(&w->arena, struct goal_commit, count);
    for (uint32_t i = 0; i < count; i++)
        commits[i] = commit_of(w, &w->goals[from + i], new);
    struct store_request request = {
        .verb = STORE_COMMIT, .commits = commits, .commit_count = count, .batch = ++w->batch};
    double begun = seconds_now();
    struct store_answer answer = ask(w, &request);
    struct waits *waits = &w->waits[atomic_load(&w->side)];
    if (!new && waits->count < MOST_COMMITS)
        waits->ms[waits->count++] = (float)((seconds_now() - begun) * 1000);
    if (!answer.held || !commits[0].ok)
        retain_die("the writer", "a commit was not accepted");
}

static void writer_open(struct writer_of *w, const char *where) {
    char error[512] = "";
    w->where = where;
    w->store = store_open(str_of(where), error, sizeof error);
    if (!w->store)
        retain_die(where, error);
    w->self = (struct store_self){.host = 1, .instance = 7};
    struct store_request join = {
        .verb = STORE_JOIN, .build = STR("test"), .addr = STR(""), .speaks = SCHEMA_LEVEL};
    struct store_answer answer = ask(w, &join);
    w->self.epoch = answer.epoch;
    w->batch = answer.batch;
}

static void writer_begin(struct writer_of *w) {
    for (uint32_t i = 0; i < LIVE_GOALS; i++) {
        uint8_t random[10] = {(uint8_t)(i >> 8), (uint8_t)i};
        w->goals[i] = (struct goal){.id = id_make(wall_us() / 1000, random),
                                    .owner = 1,
                                    .fence = 1,
                                    .due_at = TIME_NEVER,
                                    .times.created_at = wall_us()};
        w->goals[i].id.bytes[5] = 0; /* keeps the ids in order, whatever the clock does */
    }
    for (uint32_t i = 0; i < LIVE_GOALS; i += BATCH)
        batch_commit(w, i, BATCH, true);
    for (int i = 0; i < 3; i++)
        if (!(w->waits[i].ms = malloc(MOST_COMMITS * sizeof(float))))
            retain_die("memory", "there is none");
}

static void *writer_run(void *with) {
    struct writer_of *w = with;
    for (uint32_t i = 0; !atomic_load(&w->ending); i = (i + BATCH) % LIVE_GOALS) {
        batch_commit(w, i, BATCH, false);
        usleep(1000);
    }
    return NULL;
}

/* As the daemon does it. */
static void *checkpoints_run(void *with) {
    struct writer_of *w = with;
    char error[512];
    struct store *store = store_open(str_of(w->where), error, sizeof error);
    while (store && !atomic_load(&w->ending)) {
        sqlite_checkpoint(store);
        usleep(1000000);
    }
    store_close(store);
    return NULL;
}

/* ---- figures ---- */

static int by_value(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double at_share(const struct waits *waits, double share) {
    return waits->count ? (double)waits->ms[(uint32_t)((waits->count - 1) * share)] : 0;
}

static void waits_print(const char *engine, const char *when, struct waits *waits) {
    qsort(waits->ms, waits->count, sizeof *waits->ms, by_value);
    printf("retain %s %s: %u commits, p50 %.1f ms, p99 %.1f ms, p99.9 %.1f ms, max %.1f ms\n",
           engine, when, waits->count, at_share(waits, 0.5), at_share(waits, 0.99),
           at_share(waits, 0.999), at_share(waits, 1));
}

static struct retain_report retention_run(const char *where, int64_t now) {
    char error[512];
    struct retain *retain = retain_open(str_of(where), false, error, sizeof error);
    if (!retain)
        retain_die("retention", error);
    retain_begin(retain, &RETAIN_DEFAULT, now, false);
    while (retain_step(retain))
        usleep((useconds_t)retain_rest_us(retain));
    if (retain_failed(retain))
        retain_die("retention", retain_failed(retain));
    struct retain_report report = *retain_report(retain);
    retain_close(retain);
    return report;
}

static void met(void *with, struct id goal, uint64_t seq, const struct hash *hash) {
    (void)with, (void)goal, (void)seq, (void)hash;
}

static void judged(void *with, const struct audit *audit, const char *wrong) {
    uint64_t *stood_in = with;
    *stood_in += audit->milestones;
    if (wrong)
        retain_die("a chain is broken", wrong);
}

static void log_check(const char *where, uint64_t goals) {
    uint64_t stood_in = 0;
    struct log_visitor visitor = {&stood_in, met, judged};
    struct log_report report = {0};
    double begun = seconds_now();
    store_verify_log(str_of(where), &visitor, &report);
    if (report.failed || report.goals != goals + LIVE_GOALS)
        retain_die("verify-log", report.failed ? report.why : "goals are missing");
    printf("retain: %llu records and %llu milestones of %llu goals, every chain whole (%.0f s)\n",
           (unsigned long long)report.records, (unsigned long long)stood_in,
           (unsigned long long)report.goals, seconds_now() - begun);
}

static void backup_run(struct writer_of *w, const char *engine, const char *file) {
    struct backup backup = {.where = str_of(w->where), .at = wall_us(), .build = "test"};
    struct backup_note note;
    atomic_store(&w->side, 2);
    double begun = seconds_now();
    if (!backup_make(&backup, file, true, &note))
        retain_die("backup", backup.error);
    printf("backup %s: %llu rows in %.0f s\n", engine, (unsigned long long)note.rows,
           seconds_now() - begun);
    fflush(stdout);
}

int main(int argc, char **argv) {
    static struct writer_of w;
    if (argc < 3)
        retain_die("usage", "retain WHERE RECORDS [BASELINE-SECONDS [BACKUP-FILE]]");
    int64_t now = wall_us();
    uint64_t records = strtoull(argv[2], NULL, 10) / RECORDS_EACH * RECORDS_EACH;
    struct past past = {argv[1], records, time_day(now) - 260, 240, 1};
    if (records < 1000000)
        past.days = 30, past.stride = 8;
    double alone = argc > 3 ? strtod(argv[3], NULL) : 10;
    bool sqlite = store_address_file(argv[1]);
    const char *engine = sqlite ? "sqlite" : "postgres";
    pthread_t writer, checkpoints;
    writer_open(&w, argv[1]); /* creates the tables */
    store_close(w.store);
    double begun = seconds_now();
    past_fill(&past);
    writer_open(&w, argv[1]);
    printf("retain %s: %llu records of %llu goals filled in %.0f s\n", engine,
           (unsigned long long)past.records, (unsigned long long)(past.records / RECORDS_EACH),
           seconds_now() - begun);
    fflush(stdout);
    writer_begin(&w);
    if (pthread_create(&writer, NULL, writer_run, &w) ||
        (sqlite && pthread_create(&checkpoints, NULL, checkpoints_run, &w)))
        retain_die("threads", "there are none");
    usleep((useconds_t)(alone * 1e6));
    if (argc > 4)
        backup_run(&w, engine, argv[4]);
    atomic_store(&w.side, 1);
    begun = seconds_now();
    struct retain_report did = retention_run(argv[1], now);
    double took = seconds_now() - begun;
    atomic_store(&w.ending, true);
    pthread_join(writer, NULL);
    if (sqlite)
        pthread_join(checkpoints, NULL);
    store_close(w.store);
    waits_print(engine, "alone", &w.waits[0]);
    if (argc > 4)
        waits_print(engine, "beside a backup", &w.waits[2]);
    waits_print(engine, "beside retention", &w.waits[1]);
    printf(
        "retain %s: %llu records and %llu bodies dropped, %llu kept, %llu milestones, %llu days in %.0f s, %llu steps\n",
        engine, (unsigned long long)did.records, (unsigned long long)did.bodies,
        (unsigned long long)did.kept, (unsigned long long)did.milestones,
        (unsigned long long)did.days, took, (unsigned long long)did.steps);
    double hold = (double)did.longest_us / 1000;
    printf("bench retain.%s.hold: %.1f ms max, ratio %.2f of a %d ms limit\n", engine, hold,
           hold / LIMIT_MS, LIMIT_MS);
    printf("bench retain.%s.cost: %.1f ms max, ratio %.2f of a %d ms limit\n", engine,
           (double)did.dearest_us / 1000, (double)did.dearest_us / 1000 / LIMIT_MS, LIMIT_MS);
    double noise = at_share(&w.waits[0], 1);
    if (hold > LIMIT_MS && hold > noise)
        retain_die(
            "retention",
            "a step held the store for longer than the limit, and than the machine's own noise");
    if (sqlite || records < 1000000) /* checking by goal over hundreds of partitions takes hours */
        log_check(argv[1], past.records / RECORDS_EACH);
    return 0;
}
