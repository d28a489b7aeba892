/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the model of tests/lib/model.c behaves like PostgreSQL. Sessions with random requests run in both, with
 * the same interleaving of statements. It compares lock waits, every answer, and the tables.
 *
 *     test_model_postgres [--seed N] [--runs N] [--story] [--loose-batches]
 *
 * When several sessions wait for one row, PostgreSQL wakes them in any order: the kernel chooses the order in which they run,
 * and on a busy machine it sometimes varies. So a scenario that differs is repeated with the same seed,
 * up to three times: it counts if it differs each time, and is called unsteady if not. More than one unsteady scenario in a
 * hundred is not chance, and fails.
 *
 * Not compared, because the model omits it on purpose: deadlocks (a scenario ends where the server finds
 * one), time-outs (none is reached here), and the tx of a record. */
#include "rc/rc.h"

#include "store/request.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_ASKED = 48, MAX_LOG = 1024, MAX_SCRIPT = 16, SHOWN = 5, TRIES = 4 };

/* ---- the map from driver statements to model atoms ---- */

struct statement {
    const char *name;
    uint32_t atoms; /* of the model, to execute once it has been sent */
    bool together;  /* no other session runs between it and the next one */
};

/* BEGIN does nothing by itself. What the model reads in one atom, the driver reads in several statements with no other
 * session in between. ADOPT_GONE has no atom of its own: the model does it at the commit, and other sessions may run
 * between the two here. */
static const struct statement MAP[STORE_VERBS][MAX_SCRIPT] = {
    [STORE_JOIN] = {{"BEGIN", 0, true},
                    {"JOIN_SEEN", 0, true},
                    {"JOIN_BACK", 0, true},
                    {"MARK_SHARED", 0, true},
                    {"JOIN", 1, true},
                    {"COMMIT", 0, false}},
    [STORE_BEAT] = {{"BEAT", 1, false}},
    [STORE_TAKE] = {{"TAKE", 1, false}},
    [STORE_NUMBERS] = {{"NUMBERS", 1, false}},
    [STORE_RESOLVE] = {{"RESOLVE", 1, false}},
    [STORE_FORWARD] = {{"FORWARD", 1, false}},
    [STORE_POLL] = {{"POLL", 1, false}},
    [STORE_OWNED] = {{"OWNED", 0, true}, {"OWNED_EFFECTS", 1, false}},
    [STORE_ADOPT] = {{"BEGIN", 0, true},
                     {"ADOPT_LOCK", 1, false},
                     {"ADOPT_PAGE", 1, false},
                     {"ADOPT_INBOX", 1, false},
                     {"ADOPT_GONE", 0, false},
                     {"COMMIT", 1, false}},
};

struct asked {
    const struct store_request *request; /* as generated */
    struct store_request *sent;          /* the driver's copy */
    struct statement script[MAX_SCRIPT];
    int count, next;
    bool waited;  /* for a lock, in PostgreSQL */
    int blocker;  /* the session it waited for first */
    bool excused; /* waits only in PostgreSQL, and may */
    bool again;   /* a resent batch */
};

/* Load sends only the statements that are needed: the goals are one atom, all the rest is the other. */
static void script_load(struct asked *asked) {
    const struct store_request *request = asked->request;
    if (request->id_count > 0) {
        asked->script[asked->count++] = (struct statement){"GOALS", 1, false};
        asked->script[asked->count++] = (struct statement){"EFFECTS", 0, true};
        for (uint32_t kind = 0; kind < PARTS; kind++)
            if (PART[kind].live)
                asked->script[asked->count++] = (struct statement){"PARTS", 0, true};
    }
    if (request->key_count > 0)
        asked->script[asked->count++] = (struct statement){"SEEN", 0, true};
    if (request->mark_count > 0)
        asked->script[asked->count++] = (struct statement){"MARKS", 0, true};
    asked->script[asked->count - 1].atoms = request->id_count > 0 ? 1 : 2;
    asked->script[asked->count - 1].together = false;
}

/* The statements of a commit for views, tags, parts and texts are sent only where there are such changes. The model
 * applies all of them at the end. */
static void script_commit(struct asked *asked) {
    const struct store_request *request = asked->request;
    bool views = false, tags = false, texts = false, parts[PARTS] = {false};
    for (uint32_t i = 0; i < request->commit_count; i++) {
        const struct goal_commit *commit = &request->commits[i];
        views = views || commit->view_changed;
        tags = tags || commit->tags;
        texts = texts || commit->text_count > 0;
        for (uint32_t k = 0; k < commit->part_count; k++)
            parts[commit->parts[k].kind] = true;
    }
    asked->script[asked->count++] = (struct statement){"BEGIN", 0, true};
    asked->script[asked->count++] = (struct statement){"BATCH", 1, false};
    asked->script[asked->count++] = (struct statement){"COMMIT_x", 1, false};
    if (views)
        asked->script[asked->count++] = (struct statement){"COMMIT_VIEWS", 0, false};
    if (tags)
        asked->script[asked->count++] = (struct statement){"COMMIT_TAGS", 0, false};
    for (uint32_t kind = 0; kind < PARTS; kind++)
        if (parts[kind])
            asked->script[asked->count++] = (struct statement){"COMMIT_PARTS", 0, false};
    if (texts)
        asked->script[asked->count++] = (struct statement){"COMMIT_TEXTS", 0, false};
    asked->script[asked->count++] = (struct statement){"COMMIT", 1, false};
}

static void script_make(struct asked *asked) {
    if (asked->request->verb == STORE_LOAD) {
        script_load(asked);
        return;
    }
    if (asked->request->verb == STORE_COMMIT) {
        script_commit(asked);
        return;
    }
    memcpy(asked->script, MAP[asked->request->verb], sizeof asked->script);
    while (asked->count < MAX_SCRIPT && asked->script[asked->count].name)
        asked->count++;
}

/* ---- the model's world, which can be rebuilt from its log ---- */

struct world {
    struct backend *backend;
    struct session sessions[MAX_ASKED];
    enum session_state states[MAX_ASKED];
    uint32_t pending[MAX_ASKED]; /* atoms that were sent and could not be executed yet */
};

struct entry {
    uint32_t asked, atoms;
    bool later; /* PostgreSQL makes it wait */
};

struct rc {
    struct arena arena;
    struct asker asker;
    struct lane lanes[MAX_LANES];
    uint32_t lane_count;
    int at[MAX_LANES]; /* index of each lane's current request, or -1 */
    struct asked asked[MAX_ASKED];
    uint32_t asked_count;
    struct world *world;
    struct entry log[MAX_LOG];
    uint32_t log_count;
    PGconn *monitor;
    struct backend *server;
    FILE *story;
    char *story_text;
    size_t story_size;
    bool over; /* there was a difference or a deadlock: this scenario cannot continue */
    bool differs;
    uint64_t seed, statements, blocked, excused, deadlocks, differences, unsteady;
};

static void world_free(struct world *world) {
    if (!world)
        return;
    for (uint32_t i = 0; i < MAX_ASKED; i++)
        arena_free(&world->sessions[i].arena);
    world->backend->free(world->backend);
    free(world);
}

static bool world_run(struct rc *rc, struct world *world, struct entry entry) {
    struct session *session = &world->sessions[entry.asked];
    if (!session->request) {
        session->request = request_copy(rc->asked[entry.asked].request, &session->arena);
        session->host = session->request->self.host;
    }
    world->pending[entry.asked] += entry.atoms;
    while (world->pending[entry.asked] > 0 && !entry.later) {
        enum session_state state = world->backend->advance(world->backend, session);
        world->states[entry.asked] = state;
        if (state == SESSION_BLOCKED)
            return false;
        world->pending[entry.asked]--;
    }
    return true;
}

static void world_again(struct rc *rc, uint32_t entries) {
    world_free(rc->world);
    rc->world = calloc(1, sizeof *rc->world);
    must(rc->world != NULL);
    rc->world->backend = model_backend();
    rc->log_count = entries;
    for (uint32_t i = 0; i < entries; i++)
        world_run(rc, rc->world, rc->log[i]);
}

static bool world_do(struct rc *rc, struct entry entry) {
    must(rc->log_count < MAX_LOG);
    rc->log[rc->log_count++] = entry;
    return world_run(rc, rc->world, entry);
}

/* ---- comparing ---- */

static void difference(struct rc *rc, const char *what) {
    rc->over = rc->differs = true;
    fprintf(rc->story, "== %s\n", what);
    fflush(rc->story);
}

static const char *tables_differ(struct rc *rc) {
    struct dump model, real;
    rc->world->backend->dump(rc->world->backend, &model, &rc->arena);
    rc->server->dump(rc->server, &real, &rc->arena);
    return dumps_differ(&model, &real, &rc->arena);
}

static const char *lane_differs(struct rc *rc, uint32_t lane) {
    uint32_t asked = (uint32_t)rc->at[lane];
    const struct lane *real = &rc->lanes[lane];
    if (rc->world->pending[asked] > 0 && !real->blocked)
        return arena_format(&rc->arena, "lane %u waits in the model, not in PostgreSQL", lane).at;
    if (!real->done)
        return NULL;
    const struct session *model = &rc->world->sessions[asked];
    if (rc->world->states[asked] != SESSION_DONE)
        return "PostgreSQL has answered, the model has not";
    const char *what = answers_differ(model->request, &model->answer, rc->asked[asked].sent,
                                      &real->answer, &rc->arena);
    if (what)
        return arena_format(&rc->arena, "lane %u, answer: %s %.*s", lane, what,
                            STR_ARG(real->answer.error))
            .at;
    return NULL;
}

static const char *lanes_differ(struct rc *rc) {
    const char *what = NULL;
    for (uint32_t i = 0; i < rc->lane_count && !what; i++)
        if (rc->at[i] >= 0)
            what = lane_differs(rc, i);
    return what;
}

/* ---- lock waits ---- */

static bool pid_has_waited(const struct rc *rc, int pid) {
    for (uint32_t i = 0; i < rc->lane_count; i++)
        if (rc->at[i] >= 0 && rc->lanes[i].pid == pid && rc->asked[rc->at[i]].waited)
            return true;
    return false;
}

/* PostgreSQL holds locks that the model does not: those that a statement got before it had to wait for another one, and
 * those that it waited for in vain because the row had changed meanwhile. They only reduce the possible interleavings,
 * they add none. So a session that waits only in PostgreSQL must wait for a session that has itself waited. */
static int blocker_of(const struct rc *rc, uint32_t lane) {
    char sql[96];
    snprintf(sql, sizeof sql, "SELECT unnest(pg_blocking_pids(%d))", rc->lanes[lane].pid);
    PGresult *pids = PQexec(rc->monitor, sql);
    int first = PQntuples(pids) > 0 ? atoi(PQgetvalue(pids, 0, 0)) : 0;
    for (int i = 0; i < PQntuples(pids); i++)
        if (pid_has_waited(rc, atoi(PQgetvalue(pids, i, 0))))
            first = atoi(PQgetvalue(pids, i, 0));
    PQclear(pids);
    return first;
}

/* The same holds for a session that got one lock and now waits for the next: it determined the rows that it wants
 * before it first waited, whereas the model looks again. */
static bool wait_is_excused(const struct rc *rc, uint32_t lane) {
    const struct asked *asked = &rc->asked[rc->at[lane]];
    int blocker = blocker_of(rc, lane);
    return pid_has_waited(rc, blocker) || (asked->blocker && asked->blocker != blocker);
}

/* A session that waits in PostgreSQL must wait in the model too. */
static void waits_check(struct rc *rc) {
    for (uint32_t i = 0; i < rc->lane_count && !rc->over; i++) {
        if (rc->at[i] < 0 || !rc->lanes[i].blocked)
            continue;
        uint32_t base = rc->log_count;
        struct asked *asked = &rc->asked[rc->at[i]];
        if (!asked->waited)
            asked->blocker = blocker_of(rc, i);
        asked->waited = true;
        if (!world_do(rc, (struct entry){.asked = (uint32_t)rc->at[i]}))
            continue;
        world_again(rc, base);
        rc->excused += !asked->excused;
        asked->excused = true;
        if (!asked->again && !wait_is_excused(rc, i))
            difference(
                rc,
                arena_format(&rc->arena, "lane %u waits in PostgreSQL, not in the model", i).at);
    }
}

/* ---- one step in both worlds ---- */

/* Lanes that waited and no longer do, in one of their possible orders. */
struct woken {
    uint32_t asked[MAX_LANES];
    uint32_t count;
};

static struct woken woken_find(const struct rc *rc, uint32_t but) {
    struct woken woken = {0};
    for (uint32_t i = 0; i < rc->lane_count; i++)
        if (rc->at[i] >= 0 && (uint32_t)rc->at[i] != but && !rc->lanes[i].blocked &&
            rc->world->pending[rc->at[i]] > 0)
            woken.asked[woken.count++] = (uint32_t)rc->at[i];
    return woken;
}

static uint32_t orders_of(uint32_t count) {
    return count < 2 ? 1 : count * orders_of(count - 1);
}

static struct woken woken_order(struct woken from, uint32_t number) {
    struct woken to = {0};
    for (uint32_t left = from.count; left > 0; number /= left, left--) {
        uint32_t pick = number % left;
        to.asked[to.count++] = from.asked[pick];
        memmove(&from.asked[pick], &from.asked[pick + 1], (left - 1 - pick) * sizeof from.asked[0]);
    }
    return to;
}

/* PostgreSQL decides which of several waiting sessions gets a lock, and that is a race. Some order must explain the
 * result; when more than one session woke up, the tables have to agree as well. */
static void explain(struct rc *rc, struct entry entry) {
    struct woken woken = woken_find(rc, entry.asked);
    uint32_t base = rc->log_count;
    const char *first = NULL;
    for (uint32_t number = 0; number < orders_of(woken.count); number++) {
        if (number > 0)
            world_again(rc, base);
        world_do(rc, entry);
        struct woken order = woken_order(woken, number);
        for (uint32_t i = 0; i < order.count; i++)
            world_do(rc, (struct entry){.asked = order.asked[i]});
        const char *what = lanes_differ(rc);
        if (!what && woken.count > 1)
            what = tables_differ(rc);
        if (!what)
            return;
        first = first ? first : what;
    }
    difference(rc, first);
}

static void lane_tell(struct rc *rc, uint32_t lane, const char *name) {
    fprintf(rc->story, "  lane %u %s", lane, name);
    for (uint32_t i = 0; i < rc->lane_count; i++)
        if (rc->at[i] >= 0 && (rc->lanes[i].blocked || rc->lanes[i].done))
            fprintf(rc->story, ", %u %s", i, rc->lanes[i].blocked ? "waits" : "has its answer");
    fprintf(rc->story, "\n");
}

static bool deadlocked(struct rc *rc) {
    for (uint32_t i = 0; i < rc->lane_count && !rc->over; i++)
        if (rc->at[i] >= 0 && rc->lanes[i].deadlock) {
            rc->deadlocks++;
            rc->over = true;
        }
    return rc->over;
}

/* The view outlives the world that it was taken from. */
static void view_keep(struct rc *rc) {
    if (rc->asker.view_count == MAX_VIEWS)
        return;
    struct dump *view = &rc->asker.views[rc->asker.view_count++];
    rc->world->backend->dump(rc->world->backend, view, &rc->arena);
    dump_copy_bytes(view, &rc->arena);
}

static void answers_take(struct rc *rc) {
    for (uint32_t i = 0; i < rc->lane_count; i++)
        if (rc->at[i] >= 0 && rc->lanes[i].done) {
            lane_idle(&rc->lanes[i]);
            rc->at[i] = -1;
            view_keep(rc);
        }
}

static bool settle(struct rc *rc) {
    if (lanes_settle(rc->monitor, rc->lanes, rc->lane_count))
        return true;
    difference(rc, "PostgreSQL does not come to rest");
    return false;
}

/* A lane that had to wait in the middle of statements that belong together, and no longer waits, finishes them before
 * any other lane does anything. The remaining statements have no atom. */
static bool woken_go_on(struct rc *rc) {
    for (uint32_t i = 0; i < rc->lane_count; i++) {
        struct asked *asked = rc->at[i] >= 0 ? &rc->asked[rc->at[i]] : NULL;
        while (asked && asked->next > 0 && asked->script[asked->next - 1].together &&
               !rc->lanes[i].blocked && !rc->lanes[i].done) {
            const struct statement *statement = &asked->script[asked->next++];
            must(statement->atoms == 0);
            lane_send(&rc->lanes[i]);
            rc->statements++;
            if (!settle(rc))
                return false;
            lane_tell(rc, i, statement->name);
        }
    }
    return true;
}

static void step(struct rc *rc, uint32_t lane) {
    uint32_t number = (uint32_t)rc->at[lane], atoms = 0;
    struct asked *asked = &rc->asked[number];
    const struct statement *statement;
    do {
        statement = &asked->script[asked->next++];
        atoms += statement->atoms;
        lane_send(&rc->lanes[lane]);
        rc->statements++;
        if (!settle(rc))
            return;
        lane_tell(rc, lane, statement->name);
    } while (statement->together && !rc->lanes[lane].blocked && !rc->lanes[lane].done);
    rc->blocked += rc->lanes[lane].blocked;
    if (!woken_go_on(rc) || deadlocked(rc))
        return;
    explain(rc, (struct entry){number, atoms, rc->lanes[lane].blocked});
    if (!rc->over)
        waits_check(rc);
    if (!rc->over)
        answers_take(rc);
}

/* ---- requests ---- */

static void goal_tell(struct rc *rc, struct id id) {
    for (uint32_t i = 0; i < MAX_GOALS; i++)
        if (id_equal(rc->asker.goals[i], id))
            fprintf(rc->story, " G%u", i);
}

static void request_tell(struct rc *rc, uint32_t lane, const struct store_request *request) {
    fprintf(rc->story, "lane %u: %s of host %u, epoch %llu", lane, STORE_VERB_NAMES[request->verb],
            request->self.host, (unsigned long long)request->self.epoch);
    if (request->verb == STORE_TAKE || request->verb == STORE_ADOPT)
        fprintf(rc->story, ", victim %u, epoch %llu, limit %u:", request->victim.host,
                (unsigned long long)request->victim.epoch, request->limit);
    if (request->verb == STORE_COMMIT)
        fprintf(rc->story, ", batch %llu:", (unsigned long long)request->batch);
    for (uint32_t i = 0; i < request->only_count; i++)
        goal_tell(rc, request->only[i]);
    for (uint32_t i = 0; i < request->row_count; i++) {
        goal_tell(rc, request->rows[i].goal);
        fprintf(rc->story, "/%02x", request->rows[i].source.bytes[0]);
    }
    for (uint32_t i = 0; i < request->commit_count; i++) {
        const struct goal_commit *commit = &request->commits[i];
        goal_tell(rc, commit->goal.id);
        fprintf(rc->story, "@%llu", (unsigned long long)commit->expected);
        for (uint32_t k = 0; k < commit->inbox_count; k++)
            fprintf(rc->story, "/%02x", commit->inbox_done[k].bytes[0]);
    }
    fprintf(rc->story, "\n");
}

static void ask(struct rc *rc, uint32_t lane, const struct store_request *request) {
    must(rc->asked_count < MAX_ASKED);
    struct asked *asked = &rc->asked[rc->asked_count];
    *asked = (struct asked){.request = request, .sent = request_copy(request, &rc->arena)};
    for (uint32_t i = 0; i < rc->asked_count; i++)
        asked->again = asked->again || rc->asked[i].request == request;
    script_make(asked);
    rc->at[lane] = (int)rc->asked_count++;
    request_tell(rc, lane, request);
    lane_ask(&rc->lanes[lane], asked->sent, asked->count);
}

/* Runs a request from beginning to end, with no other session active. */
static void serve(struct rc *rc, const struct store_request *request) {
    if (rc->over)
        return;
    ask(rc, 0, request);
    while (!rc->over && rc->at[0] >= 0)
        step(rc, 0);
}

/* ---- a scenario ---- */

static void prologue(struct rc *rc) {
    struct asker *asker = &rc->asker;
    for (uint32_t host = 1; host <= asker->hosts; host++) {
        serve(rc, ask_join(asker, host));
        serve(rc, ask_make(asker, host));
    }
    serve(rc, ask_forward(asker));
    if (ask_chance(asker, 50))
        serve(rc, ask_take(asker, 1));
}

/* Picks a lane that can do something: idle with more requests left, or not waiting for a lock. */
static int lane_pick(struct rc *rc, uint32_t left) {
    uint32_t able[MAX_LANES], count = 0;
    for (uint32_t i = 0; i < rc->lane_count; i++)
        if (rc->at[i] >= 0 ? !rc->lanes[i].blocked : left > 0)
            able[count++] = i;
    return count ? (int)able[ask_pick(&rc->asker, count)] : -1;
}

static bool lanes_busy(const struct rc *rc) {
    for (uint32_t i = 0; i < rc->lane_count; i++)
        if (rc->at[i] >= 0)
            return true;
    return false;
}

/* All lanes wait for each other: the server detects it soon. */
static void wait_for_deadlock(struct rc *rc) {
    for (int i = 0; i < 300 && !rc->over; i++) {
        usleep(10000);
        lanes_settle(rc->monitor, rc->lanes, rc->lane_count);
        deadlocked(rc);
    }
    if (!rc->over)
        difference(rc, "all wait, and PostgreSQL finds no deadlock");
}

static void interleave(struct rc *rc) {
    uint32_t left = 6 + ask_pick(&rc->asker, 9);
    while (!rc->over) {
        int lane = lane_pick(rc, left);
        if (lane < 0 && lanes_busy(rc))
            wait_for_deadlock(rc);
        if (lane < 0)
            return;
        if (rc->at[lane] < 0) {
            ask(rc, (uint32_t)lane, ask_anything(&rc->asker));
            left--;
        } else
            step(rc, (uint32_t)lane);
    }
}

static void epilogue(struct rc *rc) {
    for (uint32_t host = 1; host <= rc->asker.hosts; host++) {
        serve(rc, ask_mail(&rc->asker, host));
        serve(rc, ask_owned(&rc->asker, host));
    }
    serve(rc, ask_everything(&rc->asker));
    const char *what = rc->over ? NULL : tables_differ(rc);
    if (what)
        difference(rc, arena_format(&rc->arena, "in the end: %s", what).at);
}

static void execute(struct rc *rc, const char *sql) {
    PGresult *result = PQexec(rc->monitor, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK) {
        fprintf(stderr, "rc: %s: %s\n", sql, PQerrorMessage(rc->monitor));
        exit(2);
    }
    PQclear(result);
}

static void scenario_end(struct rc *rc, bool story) {
    bool shown = rc->differs && rc->differences < SHOWN;
    for (uint32_t i = 0; i < rc->lane_count; i++) {
        lane_drain(&rc->lanes[i]);
        lane_idle(&rc->lanes[i]);
    }
    fclose(rc->story);
    if (story || shown)
        printf("---- seed %llu ----\n%s", (unsigned long long)rc->seed, rc->story_text);
    free(rc->story_text);
    arena_reset(&rc->arena);
}

static void scenario(struct rc *rc, bool story) {
    postgres_empty(rc->monitor);
    rc->over = rc->differs = false;
    rc->asked_count = 0;
    rc->story = open_memstream(&rc->story_text, &rc->story_size);
    must(rc->story != NULL);
    ask_begin(&rc->asker, rc->seed, &rc->arena);
    rc->lane_count = 2 + ask_pick(&rc->asker, MAX_LANES - 1);
    for (uint32_t i = 0; i < MAX_LANES; i++)
        rc->at[i] = -1;
    world_again(rc, 0);
    prologue(rc);
    interleave(rc);
    epilogue(rc);
    scenario_end(rc, story);
}

static void scenario_judge(struct rc *rc, bool story) {
    scenario(rc, story);
    for (int i = 1; i < TRIES && rc->differs; i++) {
        scenario(rc, story);
        if (!rc->differs)
            rc->unsteady++;
    }
    rc->differences += rc->differs;
}

/* ---- the program ---- */

/* This is a private server: nothing else runs there, and its data may be lost. */
static void open_all(struct rc *rc, const char *uri) {
    rc->server = postgres_backend(uri);
    rc->monitor = PQconnectdb(uri);
    must(PQstatus(rc->monitor) == CONNECTION_OK);
    execute(rc, "ALTER SYSTEM SET autovacuum = off");
    execute(rc, "ALTER SYSTEM SET fsync = off");
    execute(rc, "ALTER SYSTEM SET deadlock_timeout = '50ms'");
    execute(rc, "SELECT pg_reload_conf()");
    PQclear(PQprepare(rc->monitor, "waiting", "SELECT DISTINCT pid FROM pg_locks WHERE NOT granted",
                      0, NULL));
    for (uint32_t i = 0; i < MAX_LANES; i++)
        lane_open(&rc->lanes[i], uri);
}

static void close_all(struct rc *rc) {
    for (uint32_t i = 0; i < MAX_LANES; i++)
        lane_close(&rc->lanes[i]);
    world_free(rc->world);
    PQfinish(rc->monitor);
    rc->server->free(rc->server);
    arena_free(&rc->arena);
}

int main(int argc, char **argv) {
    static const struct option OPTIONS[] = {{"seed", required_argument, NULL, 's'},
                                            {"runs", required_argument, NULL, 'r'},
                                            {"story", no_argument, NULL, 't'},
                                            {"loose-batches", no_argument, NULL, 'l'},
                                            {0}};
    static struct rc rc = {.seed = 1};
    unsigned long long runs = 400;
    bool story = false;
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;)
        switch (option) {
        case 's': rc.seed = strtoull(optarg, NULL, 10); break;
        case 'r': runs = strtoull(optarg, NULL, 10); break;
        case 't': story = true; break;
        case 'l': rc.asker.loose_batches = true; break;
        default: return 2;
        }
    const char *uri = getenv("OVERSEER_TEST_PG");
    if (!uri) {
        fprintf(stderr, "rc: run this under tests/lib/with-postgres.\n");
        return 2;
    }
    open_all(&rc, uri);
    for (unsigned long long i = 0; i < runs; i++, rc.seed++)
        scenario_judge(&rc, story);
    close_all(&rc);
    printf("rc: only PostgreSQL knows of %llu waits and of %llu deadlocks\n",
           (unsigned long long)rc.excused, (unsigned long long)rc.deadlocks);
    printf("rc: %llu scenarios, %llu statements, %llu blocked, %llu differences, %llu unsteady\n",
           runs, (unsigned long long)rc.statements, (unsigned long long)rc.blocked,
           (unsigned long long)rc.differences, (unsigned long long)rc.unsteady);
    return rc.differences > 0 || rc.unsteady * 100 > runs;
}
