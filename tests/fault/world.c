/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the whole path of a request in one thread. */
#include "fault/world.h"

#include "fault/faults.h"
#include "fault/pretend.h"
#include "model/setting/setting.h"
#include "ops/json.h"
#include "ops/op.h"
#include "store/sqlite/sqlite_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DAEMON = 1, SWEEP_EVERY = 20 };

static struct world *current;

void violated(struct world *world, const char *format, ...) {
    if (world->violation[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(world->violation, sizeof world->violation, format, args);
    va_end(args);
}

/* ---- the observed store ---- */

struct watched_store {
    struct store store;
    struct store *inner;
};

/* A process whose disk operation did not finish is dead: from then on it only seems to continue. */
static void death_look(void) {
    if (current->disk && current->wal_pages && !memdisk_armed(current->disk, MEMDISK_DIE))
        pretend_dead = true;
}

static void watched_perform(struct store *base, const struct store_request *request,
                            struct store_answer *answer, struct arena *arena) {
    struct watched_store *neighbour = (struct watched_store *)base;
    pretend_pass(MILLISECONDS(1));
    if (pretend_dead) {
        world_stop(current);
        *answer = (struct store_answer){.outcome = STORE_FAILED};
        return;
    }
    if (base == current->writer)
        loop_run(); /* the loop is another thread: it may be faster than the store */
    if (current->disk)
        memdisk_owner(current->disk, DAEMON);
    fault_renew();
    store_perform(neighbour->inner, request, answer, arena);
    struct sqlite_store *engine = (struct sqlite_store *)neighbour->inner;
    if (current->wal_pages && engine->db)
        sqlite3_wal_autocheckpoint(engine->db, current->wal_pages);
    death_look();
}

static void watched_close(struct store *base) {
    store_close(((struct watched_store *)base)->inner);
    free(base);
}

static const struct store_driver WATCHED = {
    .name = "watched", .perform = watched_perform, .close = watched_close};

/* No crash guard surrounds an opening: if an arena has no memory there, the process ends and is started again. */
static struct store *server_open(const char *uri, char *error, size_t error_size) {
    fault_spare(FAULT_ARENA);
    struct store *store = store_open(str_of(uri), error, error_size);
    fault_spare(FAULT_NONE);
    return store;
}

static struct store *engine_open(struct world *world, char *error, size_t error_size) {
    struct sqlite_options options = {.path = "/store.db"};
    if (!world->disk)
        return server_open(world->uri, error, error_size);
    memdisk_owner(world->disk, DAEMON);
    options.vfs = memdisk_vfs(world->disk);
    struct store *store = sqlite_open(&options, error, error_size);
    death_look();
    return store;
}

static struct store *watched_open(struct world *world, char *error, size_t error_size) {
    struct store *inner = engine_open(world, error, error_size);
    if (!inner)
        return NULL;
    struct watched_store *neighbour = calloc(1, sizeof *neighbour);
    must(neighbour != NULL);
    *neighbour = (struct watched_store){{&WATCHED}, inner};
    return &neighbour->store;
}

/* ---- a life of the daemon, as in main.c ---- */

static void act_given(void *with, struct act *act) {
    struct world *world = with;
    executor_take(&world->executor, act);
}

static struct ledger *ledger_of(const struct world *world) {
    static uint64_t instance = 1;
    int64_t lease = world->disk ? 0 : SECONDS(10);
    struct ledger_config config = {.host = 1,
                                   .instance = ++instance,
                                   .lease = lease,
                                   .beat_every = lease / 4,
                                   .poll_every = lease ? lease / 8 : SECONDS(1),
                                   .retry_every = MILLISECONDS(100),
                                   .policy = world->policy,
                                   .build = STR("fault"),
                                   .addr = STR("")};
    return ledger_create(&config);
}

static const char *socket_path(void) {
    static char path[64];
    snprintf(path, sizeof path, "/dev/shm/overseer-fault-%d.sock", (int)getpid());
    return path;
}

static bool parts_open(struct world *world, char *error, size_t error_size) {
    world->reader = watched_open(world, error, error_size);
    world->writer = world->reader ? watched_open(world, error, error_size) : NULL;
    world->ledger_thread.store = world->writer;
    world->ledger_thread.ledger = world->writer ? ledger_of(world) : NULL;
    if (!world->ledger_thread.ledger || !lookups_start(&world->lookups, world->reader))
        return false;
    world->ledger_thread.ports =
        (struct ledger_thread_ports){.answer = call_written, .act = act_given, .with = world};
    world->ledger_thread.pulse = &world->executor.pulse;
    ledger_thread_prepare(&world->ledger_thread);
    static struct settings settings = {.source.holders = 1, .repo.path = STR("/srv/code")};
    world->context = (struct daemon_context){
        .ledger_thread = &world->ledger_thread, .lookups = &world->lookups, .settings = &settings};
    executor_start(&world->executor, &world->loop, &world->ledger_thread, &world->context);
    world->server =
        http_server_open(&world->context, HTTP_SERVER_UNIX,
                         &(struct http_server_rules){.socket = socket_path()}, error, error_size);
    return world->server && ledger_thread_start(&world->ledger_thread);
}

static void act_counted(const struct effect *effect) {
    if (!str_equal(effect->command, STR(ASK_COMMAND)))
        violated(current, "another command was run than was sent: %.*s", STR_ARG(effect->command));
    for (uint32_t i = 0; i < current->acted_count; i++)
        if (id_equal(current->acted[i].goal, effect->goal) && current->acted[i].n == effect->n) {
            current->acted[i].times++;
            violated(current, "an effect was acted on twice");
            return;
        }
    must(current->acted_count < WORLD_ACTED);
    current->acted[current->acted_count++] = (struct acted){effect->goal, effect->n, 1};
    if (world_fate(current, effect->goal, effect->n).life.claimed != 1)
        violated(current, "an effect was acted on before its claim was committed");
}

static void checkpoint(struct world *world) {
    char error[256];
    if (!world->disk || world->idles % (uint64_t)world->checkpoint_every)
        return;
    if (!world->checkpoints)
        world->checkpoints = engine_open(world, error, sizeof error);
    memdisk_owner(world->disk, DAEMON);
    if (pretend_dead)
        return;
    if (world->checkpoints)
        sqlite_checkpoint(world->checkpoints);
    death_look();
    world->died_in_checkpoint += pretend_dead;
}

static void lookups_answer(struct world *world) {
    if (!world->lookups.first)
        return;
    world->lookups.stopping = true; /* makes its thread end when it has nothing to do */
    thread_run(&world->lookups);
    world->lookups.stopping = false;
    json_ran_short(); /* clears the failure remembered for its thread, which does not count in another */
}

static void idle(void) {
    struct world *world = current;
    pretend_pass(MILLISECONDS(50));
    must(++world->idles < 100000);
    checkpoint(world);
    if (pretend_dead) {
        world_stop(world);
        return;
    }
    commands_end();
    loop_run();
    lookups_answer(world);
    if (world->idles % SWEEP_EVERY == 0)
        calls_sweep(&world->context);
    http_resume_all();
    world->script(world);
}

bool world_open(struct world *world, char *error, size_t error_size) {
    current = world;
    pretend_idle = idle;
    pretend_act = act_counted;
    world->ledger_thread = (struct ledger_thread){0};
    world->lookups = (struct lookups){0};
    world->executor = (struct executor){0};
    world->server = NULL;
    world->reader = world->writer = world->checkpoints = NULL;
    snprintf(error, error_size, "There is no memory to start.");
    if (parts_open(world, error, error_size))
        return true;
    ledger_free(world->ledger_thread.ledger);
    store_close(world->writer);
    store_close(world->reader);
    return false;
}

void world_run(struct world *world) {
    thread_run(&world->ledger_thread);
}

void world_stop(struct world *world) {
    queue_stop(&world->ledger_thread.queue);
}

void world_close(struct world *world) {
    http_server_shut(world->server);
    ledger_thread_stop(&world->ledger_thread);
    lookups_answer(world);
    lookups_stop(&world->lookups);
    loop_run();
    commands_end();
    http_resume_all();
    http_server_close(world->server);
    executor_stop(&world->executor);
    executor_end(&world->executor);
    queue_end(&world->ledger_thread.queue);
    ledger_free(world->ledger_thread.ledger);
    store_close(world->writer);
    store_close(world->reader);
    store_close(world->checkpoints);
}

bool world_is_quiet(struct world *world) {
    struct ledger_view view = ledger_view(world->ledger_thread.ledger);
    return view.joined && !view.reading && !view.in_doubt && view.waiting == 0 &&
           view.claims == 0 && view.acting == 0 && !commands_run() && view.trouble.len == 0;
}

/* ---- clients ---- */

/* Names things that have a key as the daemon does: see docs/decisions/0002-keys-name-things.md. The caller is the
 * daemon's own user. */
static struct str id_text(const struct id *id) {
    return (struct str){(const char *)id->bytes, sizeof id->bytes};
}

static struct id key_of(const char *method, struct id goal, const char *key) {
    struct id of_key = id_derive(str_of(method), str_of(key));
    struct id of_caller = id_derive(STR("human"), STR(""));
    struct id of_both = id_derive(id_text(&of_caller), id_text(&of_key));
    struct id named = id_derive(STR("key"), id_text(&goal));
    return id_derive(id_text(&named), id_text(&of_both));
}

/* Source of one request: `body` has its other parameters, ordered by name. */
static struct id source_of(struct id key, const char *body) {
    return id_derive(id_text(&key), str_of(body));
}

struct ask ask_create(const char *key, bool with_command) {
    struct ask ask = {.kind = ASK_CREATE, .with_command = with_command};
    snprintf(ask.key, sizeof ask.key, "%s", key);
    char body[256];
    snprintf(body, sizeof body, "{%s\"title\":\"" ASK_TITLE " %s\"}",
             with_command ? "\"command\":\"" ASK_COMMAND "\"," : "", key);
    ask.goal = key_of("goal.create", (struct id){0}, key);
    ask.source = source_of(ask.goal, body);
    return ask;
}

struct ask ask_report(const char *key, struct id goal) {
    struct ask ask = {.kind = ASK_REPORT, .goal = goal};
    snprintf(ask.key, sizeof ask.key, "%s", key);
    ask.source = source_of(key_of("goal.report", goal, key), "{\"text\":\"" ASK_TEXT "\"}");
    return ask;
}

struct ask ask_show(struct id goal) {
    return (struct ask){.kind = ASK_SHOW, .goal = goal};
}

static const char *const METHODS[] = {"goal.create", "goal.report", "goal.show"};

void ask_send(struct ask *ask) {
    char goal[GOAL_ID_TEXT + 1], params[256], body[512];
    goal_id_format(ask->goal, goal);
    if (ask->kind == ASK_CREATE)
        snprintf(params, sizeof params, "\"title\": \"" ASK_TITLE " %s\", \"key\": \"%s\"%s",
                 ask->key, ask->key, ask->with_command ? ", \"command\": \"" ASK_COMMAND "\"" : "");
    else if (ask->kind == ASK_REPORT && !ask->key[0])
        snprintf(params, sizeof params, "\"goal\": \"%s\", \"text\": \"" ASK_TEXT "\"", goal);
    else if (ask->kind == ASK_REPORT)
        snprintf(params, sizeof params,
                 "\"goal\": \"%s\", \"text\": \"" ASK_TEXT "\", \"key\": \"%s\"", goal, ask->key);
    else
        snprintf(params, sizeof params, "\"goal\": \"%s\"", goal);
    snprintf(body, sizeof body,
             "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"%s\", \"params\": {%s}}",
             METHODS[ask->kind], params);
    ask->times++;
    ask->sent = http_post(body);
}

static enum error error_named(const char *code) {
    for (enum error error = ERROR_NONE + 1; code && error < ERROR_COUNT; error++)
        if (strcmp(ERRORS[error].code, code) == 0)
            return error;
    return ERROR_NONE;
}

/* Checks that code, HTTP status, sentence and exit status are those of the table. */
static void error_take(struct world *world, struct ask *ask, json_t *error, unsigned status) {
    json_t *data = json_object_get(error, "data");
    const char *message = json_string_value(json_object_get(error, "message"));
    ask->error = error_named(json_string_value(json_object_get(data, "code")));
    const struct error_row *row = &ERRORS[ask->error];
    if (ask->error == ERROR_NONE || !message || !strstr(message, row->sentence) ||
        (int)status != row->http_status ||
        json_integer_value(json_object_get(data, "exit")) != row->exit_status)
        violated(world, "%s was answered with an error that is in no table: %u %s",
                 METHODS[ask->kind], status, ask->sent->text ? ask->sent->text : "(nothing)");
    if (message && strstr(message, ".c:"))
        violated(world, "a promise broke: %s", message);
}

static void result_take(struct world *world, struct ask *ask, json_t *result) {
    char goal[GOAL_ID_TEXT + 1];
    goal_id_format(ask->goal, goal);
    const char *named = json_string_value(json_object_get(result, "goalId"));
    ask->acknowledged = true;
    ask->error = ERROR_NONE;
    snprintf(ask->answer, sizeof ask->answer, "%s", ask->sent->text);
    if (!named || strcmp(named, goal) != 0 || ask->sent->status != 200)
        violated(world, "%s was answered with %u %s", METHODS[ask->kind], ask->sent->status,
                 ask->sent->text);
}

bool ask_settled(struct world *world, struct ask *ask) {
    if (!ask->sent)
        return true;
    if (!ask->sent->done)
        return false;
    fault_pause(true);
    json_t *json = ask->sent->text ? json_loads(ask->sent->text, 0, NULL) : NULL;
    json_t *result = json_object_get(json, "result");
    if (ask->sent->refused)
        ask->error = ERROR_STORE_AWAY; /* no answer came */
    else if (ask->sent->status == 0)
        violated(world, "%s: the connection was closed without an answer", METHODS[ask->kind]);
    else if (result)
        result_take(world, ask, result);
    else
        error_take(world, ask, json_object_get(json, "error"), ask->sent->status);
    json_decref(json);
    fault_pause(false);
    http_free(ask->sent);
    ask->sent = NULL;
    return true;
}

void ask_forget(struct ask *ask) {
    if (ask->sent)
        http_free(ask->sent);
    ask->sent = NULL;
    ask->error = ERROR_STORE_AWAY; /* no answer came */
}

/* ---- reading the store ---- */

uint32_t world_acted(const struct world *world, struct id goal, uint32_t n) {
    for (uint32_t i = 0; i < world->acted_count; i++)
        if (id_equal(world->acted[i].goal, goal) && world->acted[i].n == n)
            return world->acted[i].times;
    return 0;
}

static struct arena dump_arena; /* kept: a dump needs large chunks */

static void dump_take(struct world *world, struct dump *dump) {
    fault_pause(true);
    arena_reset(&dump_arena);
    world->backend->dump(world->backend, dump, &dump_arena);
    fault_pause(false);
}

struct fate world_fate(struct world *world, struct id goal, uint32_t n) {
    struct dump dump;
    dump_take(world, &dump);
    struct fate fate = {dump_life(&dump, goal, n), EFFECT_ENDED};
    for (uint32_t i = 0; i < dump.effect_count; i++)
        if (id_equal(dump.effects[i].goal, goal) && dump.effects[i].slot.n == n)
            fate.state = dump.effects[i].slot.state;
    return fate;
}

static uint32_t dump_reports(const struct dump *dump, struct id goal) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < dump->record_count; i++)
        count += id_equal(dump->records[i].goal, goal) &&
                 dump->records[i].record.type == RECORD_GOAL_REPORTED;
    return count;
}

static void judge_ask(struct world *world, const struct dump *dump, const struct ask *ask) {
    uint32_t applied =
        ask->key[0] ? dump_applied(dump, ask->goal, ask->source) : dump_reports(dump, ask->goal);
    if (applied > 1)
        violated(world, "%s %s was applied %u times", METHODS[ask->kind], ask->key, applied);
    if (ask->acknowledged && applied == 0)
        violated(world, "an acknowledged %s %s is lost", METHODS[ask->kind], ask->key);
    bool denied = ask->error == ERROR_NO_MEMORY || ask->error == ERROR_BUSY;
    if (denied && ask->times == 1 && applied > 0)
        violated(world, "%s %s was stored, and its caller was told %s", METHODS[ask->kind],
                 ask->key, ERRORS[ask->error].sentence);
}

static void judge_acted(struct world *world, const struct dump *dump, const struct acted *acted) {
    struct dump_life life = dump_life(dump, acted->goal, acted->n);
    if (life.claimed != 1)
        violated(world, "an effect was acted on, and its claim is not in the store");
    for (uint32_t i = 0; i < dump->effect_count; i++)
        if (id_equal(dump->effects[i].goal, acted->goal) && dump->effects[i].slot.n == acted->n &&
            dump->effects[i].slot.state == EFFECT_READY)
            violated(world, "an effect was acted on and is ready again");
}

void world_judge(struct world *world, const struct ask *asks, uint32_t count) {
    struct dump dump;
    dump_take(world, &dump);
    const char *broken = world_check(&dump, &dump_arena);
    if (broken)
        violated(world, "%s", broken);
    if (dump.aside_count > 0)
        violated(world, "a goal was set aside");
    for (uint32_t i = 0; i < count; i++)
        if (asks[i].kind != ASK_SHOW)
            judge_ask(world, &dump, &asks[i]);
    for (uint32_t i = 0; i < world->acted_count; i++)
        judge_acted(world, &dump, &world->acted[i]);
}

void worlds_end(void) {
    arena_free(&dump_arena);
}
