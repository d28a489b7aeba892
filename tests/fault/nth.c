/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that nothing crashes, breaks or reports a falsehood when the Nth allocation, write, sync, read or query fails. For
 * every N of the whole path: JSON at the HTTP server, signal, ledger, commit, claim, act, outcome, keyed report, show.
 *
 * The path runs with one fault, then again without, in the same process and under the same keys, and
 * once more after a restart. Sticky: from the Nth on, everything of the kind fails for a while.
 *
 *     nth sqlite|postgres [--kind NAME] [--n N] [--every STEP] [--thin K] [--sticky]
 *
 * --thin K: tests one in K of the points that allocate, read or fail inside the engine; failing writes and
 * queries, which prove a requirement, are all tested. */
#include "fault/faults.h"
#include "fault/pretend.h"
#include "fault/world.h"
#include "lib/proof.h"

#include <getopt.h>
#include <jansson.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Goal C exists before anything fails, and receives a report while the daemon does not know it yet. */
enum { A, B, REPORT, REPORT_B, SHOW, C, REPORT_C, ASKS };

static const int64_t STICKY_FOR = SECONDS(3);

struct path {
    struct world world;
    struct ask asks[ASKS];
    bool (*const *phases)(
        struct path *); /* the remaining phases; each returns true when it is over */
    int64_t since;      /* start of the current phase */
    bool calm;          /* nothing fails any more */
    bool repeated;      /* and every request was sent again */
    bool struck, faulted_show, unconfirmed;
    char shown[ANSWER_SIZE]; /* the answer while faults occurred */
};

static enum fault kind_now;
static uint64_t n_now;
static bool sticky_now;

/* ---- phases of the path ---- */

static bool phase_create(struct path *path) {
    path->repeated = path->calm;
    ask_send(&path->asks[A]);
    ask_send(&path->asks[B]);
    if (path->asks[C].acknowledged)
        ask_send(&path->asks[REPORT_C]);
    return true;
}

static bool phase_prepare(struct path *path) {
    ask_send(&path->asks[C]);
    return true;
}

static bool phase_report(struct path *path) {
    ask_send(&path->asks[REPORT]);
    if (!path->calm) /* it has no key, so the client does not repeat it */
        ask_send(&path->asks[REPORT_B]);
    return true;
}

static bool phase_show(struct path *path) {
    ask_send(&path->asks[SHOW]);
    return true;
}

/* A valid request may fail only temporarily; and a goal that was never created is not found. */
static bool error_is_fair(const struct path *path, const struct ask *ask) {
    if (ask->error == ERROR_NONE)
        return true;
    if (ask->error == ERROR_NOT_FOUND)
        return ask->kind != ASK_CREATE && !path->repeated &&
               !path->asks[ask == &path->asks[REPORT_B] ? B : A].acknowledged;
    if (path->repeated ||
        (path->calm &&
         kind_now != FAULT_LINE)) /* a broken connection is noticed only when it is used */
        return false;
    return ask->error == ERROR_STORE_AWAY || ask->error == ERROR_NO_MEMORY;
}

static bool phase_answered(struct path *path) {
    struct world *world = &path->world;
    bool all = true;
    for (int i = 0; i < ASKS; i++) {
        struct ask *ask = &path->asks[i];
        bool waited = ask->sent != NULL, settled = ask_settled(world, ask);
        all = all && settled;
        if (waited && settled && !error_is_fair(path, ask))
            violated(world, "%s was answered %s%s", ask->key[0] ? ask->key : "show",
                     ERRORS[ask->error].code, path->calm ? ", and nothing fails any more" : "");
    }
    if (!all && pretend_now() - path->since > SECONDS(40))
        violated(world, "somebody waits for an answer for ever");
    return all || world->violation[0];
}

static bool phase_settle(struct path *path) {
    return world_is_quiet(&path->world) || pretend_now() - path->since > SECONDS(5);
}

static bool phase_calm(struct path *path) {
    path->faulted_show = path->asks[SHOW].error == ERROR_NONE;
    snprintf(path->shown, sizeof path->shown, "%s", path->asks[SHOW].answer);
    path->struck = fault_struck();
    fault_disarm();
    path->calm = true;
    return true;
}

static json_int_t version_in(const char *answer) {
    json_t *json = json_loads(answer, 0, NULL);
    json_int_t version =
        json_integer_value(json_object_get(json_object_get(json, "result"), "version"));
    json_decref(json);
    return version;
}

/* An answer is complete, or it is an error. */
static bool phase_compare(struct path *path) {
    const char *calm = path->asks[SHOW].answer;
    if (path->faulted_show && path->asks[SHOW].error == ERROR_NONE &&
        version_in(path->shown) == version_in(calm) && strcmp(path->shown, calm) != 0)
        violated(&path->world, "an incomplete answer was given as a whole one:\n  %s\n  %s",
                 path->shown, calm);
    return true;
}

static bool phase_judge(struct path *path) {
    world_judge(&path->world, path->asks, ASKS);
    return true;
}

/* An effect whose outcome was lost stays running until its time is over. */
static bool phase_expire(struct path *path) {
    if (world_fate(&path->world, path->asks[A].goal, 0).state == EFFECT_RUNNING)
        pretend_pass(path->world.act_within);
    return true;
}

static bool phase_pause(struct path *path) {
    return pretend_now() - path->since > SECONDS(3);
}

/* ---- the end of the path ---- */

static void shown_take(json_t *result, const char **ret_state, const char **ret_effect,
                       json_int_t *ret_reports) {
    json_t *effects = json_object_get(result, "effects");
    *ret_state = json_string_value(json_object_get(result, "state"));
    *ret_effect = json_string_value(json_object_get(json_array_get(effects, 0), "state"));
    *ret_reports = json_integer_value(json_object_get(result, "reports"));
}

/* Fair: done and acted on once; or not started, and reported so; or unconfirmed, and shown so. */
static bool end_is_fair(struct path *path, const char *state, const char *effect) {
    struct world *world = &path->world;
    struct fate fate = world_fate(world, path->asks[A].goal, 0);
    struct dump_life life = fate.life;
    uint32_t acted = world_acted(world, path->asks[A].goal, 0);
    path->unconfirmed = fate.state == EFFECT_UNCONFIRMED;
    if (life.decided != 1 || life.claimed != 1 || acted > 1)
        return false;
    if (fate.state == EFFECT_UNCONFIRMED)
        return life.unconfirmed == 1 && effect && strcmp(effect, "unconfirmed") == 0 &&
               strcmp(state, name_of(&DISPLAY_STATE_NAMES, DISPLAY_NEEDS_YOU)) == 0;
    return fate.state == EFFECT_ENDED && life.ended == 1 && !effect &&
           strcmp(state, name_of(&DISPLAY_STATE_NAMES, acted ? DISPLAY_DONE : DISPLAY_NEEDS_YOU)) ==
               0;
}

static bool phase_verdict(struct path *path) {
    struct world *world = &path->world;
    const char *state, *effect;
    json_int_t reports;
    json_t *json = json_loads(path->asks[SHOW].answer, 0, NULL);
    shown_take(json_object_get(json, "result"), &state, &effect, &reports);
    if (!strstr(path->asks[SHOW].answer, "\"title\":\"" ASK_TITLE " a\"") ||
        !strstr(path->asks[SHOW].answer, "\"text\":\"" ASK_TEXT "\""))
        violated(world, "something else was stored than was sent: %s", path->asks[SHOW].answer);
    if (reports != 1)
        violated(world, "the goal shows %lld reports instead of one", (long long)reports);
    if (!world->violation[0] && (!state || !end_is_fair(path, state, effect)))
        violated(world, "the path does not end: acted on %u times, %s",
                 world_acted(world, path->asks[A].goal, 0), path->asks[SHOW].answer);
    json_decref(json);
    world_judge(world, path->asks, ASKS);
    struct ledger_view view = ledger_view(world->ledger_thread.ledger);
    if (view.waiting || view.claims || view.in_doubt || view.trouble.len)
        violated(world, "the ledger does not come to rest");
    return true;
}

static bool (*const LIFE_BEFORE[])(struct path *) = {phase_prepare, phase_answered, NULL};

static bool (*const FIRST_LIFE[])(struct path *) = {
    phase_create,   phase_answered, phase_settle, phase_report,   phase_answered,
    phase_show,     phase_answered, phase_calm,   phase_show,     phase_answered,
    phase_compare,  phase_judge,    phase_create, phase_answered, phase_settle,
    phase_report,   phase_answered, phase_expire, phase_pause,    phase_show,
    phase_answered, phase_verdict,  NULL};

static bool (*const SECOND_LIFE[])(struct path *) = {
    phase_create, phase_answered, phase_report,   phase_answered, phase_expire,
    phase_pause,  phase_show,     phase_answered, phase_verdict,  NULL};

static void script(struct world *world) {
    struct path *path = world->with;
    while (*path->phases && !world->violation[0] && (*path->phases)(path)) {
        path->phases++;
        path->since = pretend_now();
        if (path->phases[-1] == phase_create || path->phases[-1] == phase_report ||
            path->phases[-1] == phase_prepare)
            return; /* a request needs a turn of the ledger */
    }
    if (!*path->phases || world->violation[0])
        world_stop(world);
}

/* A failed start reports the reason, and can be tried again. */
static void live(struct path *path, bool (*const *phases)(struct path *)) {
    struct world *world = &path->world;
    char error[512];
    path->phases = phases;
    for (int i = 0; i < 20; i++) {
        path->since = pretend_now();
        if (world_open(world, error, sizeof error)) {
            world_run(world);
            world_close(world);
            return;
        }
        if (strlen(error) < 20)
            violated(world, "it does not start, and says \"%s\"", error);
        pretend_pass(SECONDS(1));
    }
    violated(world, "it does not start any more: %s", error);
}

/* ---- stores ---- */

static PGconn *server;

/* A disk without files: the path includes the creation of the tables. */
static void sqlite_begin(struct world *world, uint64_t seed) {
    world->backend = sqlite_backend(seed);
    world->disk = sqlite_backend_disk(world->backend);
    world->backend->host_died(world->backend, 0);
    sqlite3_vfs *vfs = sqlite3_vfs_find(memdisk_vfs(world->disk));
    must(vfs->xDelete(vfs, "/store.db", 0) == SQLITE_OK);
    vfs->xDelete(vfs, "/store.db-wal", 0);
}

static void postgres_begin(struct world *world, struct backend *backend) {
    world->backend = backend;
    world->uri = getenv("OVERSEER_TEST_PG");
    postgres_empty(server);
}

/* ---- every N ---- */

struct course {
    enum fault kind;
    uint64_t every, sticky_every, restart_every; /* 1: all */
};

struct tally {
    uint64_t points, violations, unconfirmed;
};

static void on_abort(int number) {
    char text[96];
    int length =
        snprintf(text, sizeof text, "signal %d at %s %llu%s\n", number, FAULT_NAMES[kind_now],
                 (unsigned long long)n_now, sticky_now ? " sticky" : "");
    if (write(STDERR_FILENO, text, (size_t)length) < 0)
        _exit(2);
}

/* False: the fault was not reached. */
static bool try_nth(struct backend *postgres, const struct course *course, uint64_t n, bool sticky,
                    struct tally *tally) {
    static struct path path;
    path = (struct path){.phases = NULL};
    struct world *world = &path.world;
    kind_now = course->kind;
    n_now = n;
    sticky_now = sticky;
    if (postgres)
        postgres_begin(world, postgres);
    else
        sqlite_begin(world, n);
    world->act_within = SECONDS(60);
    world->policy = policy_of(world->act_within);
    world->checkpoint_every = 10;
    world->script = script;
    world->with = &path;
    path.asks[A] = ask_create("a", true);
    path.asks[B] = ask_create("b", false);
    path.asks[REPORT] = ask_report("r", path.asks[A].goal);
    path.asks[REPORT_B] = ask_report("", path.asks[B].goal);
    path.asks[SHOW] = ask_show(path.asks[A].goal);
    path.asks[C] = ask_create("c", false);
    path.asks[REPORT_C] = ask_report("r", path.asks[C].goal);
    if (postgres)
        live(&path, LIFE_BEFORE);
    fault_arm(course->kind, world->disk, n, sticky ? STICKY_FOR : 0);
    live(&path, FIRST_LIFE);
    fault_disarm();
    if (!world->violation[0] && (n - 1) % course->restart_every == 0)
        live(&path, SECOND_LIFE);
    for (int i = 0; i < ASKS; i++)
        ask_forget(&path.asks[i]);
    if (!postgres)
        world->backend->free(world->backend);
    if (world->violation[0]) {
        tally->violations++;
        printf("fault %s on %s, N = %llu%s: %s\n", FAULT_NAMES[course->kind],
               postgres ? "postgres" : "sqlite", (unsigned long long)n, sticky ? ", sticky" : "",
               world->violation);
    }
    tally->points += path.struck;
    tally->unconfirmed += path.unconfirmed;
    return path.struck || world->violation[0];
}

/* The test runs many short lives: a long quarantine of the address sanitizer would only fill caches. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "quarantine_size_mb=8:malloc_context_size=12";
}

__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);

static void kind_print(struct backend *postgres, const struct course *course,
                       const struct tally *sum, uint64_t sticky) {
    printf("fault %s on %s: %llu points", FAULT_NAMES[course->kind],
           postgres ? "postgres" : "sqlite", (unsigned long long)sum->points);
    if (course->every > 1)
        printf(" (one N in %llu)", (unsigned long long)course->every);
    printf(" and %llu sticky, %llu violations, %llu ended unconfirmed\n",
           (unsigned long long)sticky, (unsigned long long)sum->violations,
           (unsigned long long)sum->unconfirmed);
    fflush(stdout);
}

/* STORE-08: an error inside a change leaves the store as it was. Failing writes and queries prove that; failing
 * allocations prove no requirement. */
static bool kind_shows(enum fault kind) {
    return kind == FAULT_WRITE || kind == FAULT_FULL || kind == FAULT_SYNC || kind == FAULT_QUERY;
}

static void kind_proves(struct backend *postgres, enum fault kind) {
    char name[64];
    snprintf(name, sizeof name, "every %s fails [%s]", FAULT_NAMES[kind],
             postgres ? "postgres" : "sqlite");
    if (kind_shows(kind))
        proof_passed("fault", name, "STORE-08");
}

static struct tally try_kind(struct backend *postgres, const struct course *course) {
    struct tally single = {0}, sticky = {0};
    uint64_t n = 1;
    while (try_nth(postgres, course, n, false, &single) && single.violations < 5)
        n += course->every;
    for (uint64_t s = 1; s < n && sticky.violations < 5; s += course->sticky_every)
        try_nth(postgres, course, s, true, &sticky);
    if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check()) {
        printf("fault %s: memory is lost\n", FAULT_NAMES[course->kind]);
        single.violations++;
    }
    struct tally sum = {single.points, single.violations + sticky.violations,
                        single.unconfirmed + sticky.unconfirmed};
    kind_print(postgres, course, &sum, sticky.points);
    return sum;
}

static const struct course SQLITE_COURSE[] = {{FAULT_ALLOC, 1, 1, 1}, {FAULT_ARENA, 1, 1, 1},
                                              {FAULT_JSON, 1, 5, 5},  {FAULT_WRITE, 1, 2, 2},
                                              {FAULT_FULL, 1, 2, 2},  {FAULT_SYNC, 1, 1, 1},
                                              {FAULT_READ, 1, 1, 1},  {FAULT_ENGINE, 6, 100, 20}};
static const struct course POSTGRES_COURSE[] = {{FAULT_QUERY, 1, 3, 1},
                                                {FAULT_LINE, 3, 30, 5},
                                                {FAULT_ALLOC, 10, 50, 1},
                                                {FAULT_ARENA, 20, 100, 1},
                                                {FAULT_JSON, 20, 100, 1}};

static int try_course(struct backend *postgres, const struct course *courses, size_t count,
                      const struct course *only, uint64_t thin) {
    uint64_t violations = 0;
    for (size_t i = 0; i < count; i++)
        if (!only->kind || only->kind == courses[i].kind) {
            struct course course = courses[i];
            if (only->every)
                course.every = only->every;
            if (thin && !kind_shows(course.kind)) {
                course.every *= thin;
                course.sticky_every *= thin;
            }
            struct tally tally = try_kind(postgres, &course);
            violations += tally.violations + (tally.points == 0);
            if (course.every == 1 && tally.points > 0 && tally.violations == 0)
                kind_proves(postgres, course.kind);
        }
    return violations > 0;
}

struct options {
    bool postgres, sticky;
    struct course only;
    uint64_t n, thin;
};

static bool options_take(struct options *options, int argc, char **argv) {
    static const struct option LONG[] = {
        {"kind", required_argument, NULL, 'k'},  {"n", required_argument, NULL, 'n'},
        {"every", required_argument, NULL, 'e'}, {"thin", required_argument, NULL, 't'},
        {"sticky", no_argument, NULL, 's'},      {0}};
    for (int option; (option = getopt_long(argc, argv, "", LONG, NULL)) != -1;)
        switch (option) {
        case 'k':
            for (enum fault kind = 1; kind < FAULTS; kind++)
                if (strcmp(FAULT_NAMES[kind], optarg) == 0)
                    options->only.kind = kind;
            if (!options->only.kind)
                return false;
            break;
        case 'n': options->n = strtoull(optarg, NULL, 10); break;
        case 't': options->thin = strtoull(optarg, NULL, 10); break;
        case 'e': options->only.every = strtoull(optarg, NULL, 10); break;
        case 's': options->sticky = true; break;
        default: return false;
        }
    if (optind != argc - 1)
        return false;
    options->postgres = strcmp(argv[optind], "postgres") == 0;
    return options->postgres || strcmp(argv[optind], "sqlite") == 0;
}

int main(int argc, char **argv) {
    struct options options = {.only.restart_every = 1};
    if (!options_take(&options, argc, argv)) {
        fprintf(
            stderr,
            "usage: nth sqlite|postgres [--kind K] [--n N] [--every STEP] [--thin K] [--sticky]\n");
        return 2;
    }
    const char *uri = getenv("OVERSEER_TEST_PG");
    if (options.postgres && !uri) {
        fprintf(stderr, "OVERSEER_TEST_PG names no database; use tests/lib/with-postgres\n");
        return 77;
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGABRT, on_abort);
    faults_install();
    struct backend *postgres = options.postgres ? postgres_backend(uri) : NULL;
    server = options.postgres ? PQconnectdb(uri) : NULL;
    int code;
    if (options.n) {
        struct tally tally = {0};
        bool reached = try_nth(postgres, &options.only, options.n, options.sticky, &tally);
        printf("%s, %llu violations\n", reached ? "reached" : "not reached",
               (unsigned long long)tally.violations);
        code = tally.violations > 0;
    } else if (postgres)
        code = try_course(postgres, POSTGRES_COURSE, count_of(POSTGRES_COURSE), &options.only,
                          options.thin);
    else
        code =
            try_course(NULL, SQLITE_COURSE, count_of(SQLITE_COURSE), &options.only, options.thin);
    if (postgres)
        postgres->free(postgres);
    PQfinish(server);
    worlds_end();
    return code;
}
