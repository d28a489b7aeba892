/* SPDX-License-Identifier: Apache-2.0 */
/* Tests every operation without any interface (API-10): calls with a simulated store, ledger, spool and clock;
 * addresses; tokens. */
#include "unit.h"

#include "engine/answer_locally.h"
#include "engine/call.h"
#include "engine/facts.h"
#include "engine/spool.h"
#include "engine/token.h"
#include "http/http_listener.h"
#include "ops/all.h"
#include "sys/clock.h"
#include "sys/log.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct caller PERSON = {.role = ROLE_HUMAN, .actor = "human:1000"};
static const char GOAL[] = "goal_01JC7Q4T9ZJ5X0M2K8W3R6VYHN";

/* ---- the environment of a call ---- */

static struct {
    int64_t now;
    struct lookup *asked; /* the last lookup */
    struct input *queued; /* the last signal */
    bool queue_full, spool_wanted;
    void (*spooled)(void *with, bool safe);
    void *spooled_with;
    int answered;
} world;

static struct ledger_thread ledger_thread;
static struct lookups lookups;
static struct daemon_context context = {
    .ledger_thread = &ledger_thread, .lookups = &lookups, .spool = (struct spool *)&world};

int64_t clock_wall(void) {
    return SECONDS(1800000000) + world.now;
}
int64_t clock_boot(void) {
    return world.now;
}
void random_bytes(void *to, unsigned long count) {
    static uint8_t next;
    for (unsigned long i = 0; i < count; i++)
        ((uint8_t *)to)[i] = ++next;
}
void boot_id(char text[BOOT_ID + 1]) {
    text[0] = 0;
}
struct timespec clock_slice(int64_t micros) {
    (void)micros;
    return (struct timespec){0};
}
void clock_condition(pthread_cond_t *condition) {
    pthread_cond_init(condition, NULL);
}
void log_line(enum log_level level, const char *from, const struct log_about *about,
              const char *format, ...) {
    (void)level, (void)from, (void)about, (void)format;
}

bool lookups_ask(struct lookups *all, struct lookup *lookup) {
    (void)all;
    world.asked = lookup;
    return true;
}
bool queue_put(struct queue *queue, struct input *input) {
    (void)queue;
    world.queued = world.queue_full ? NULL : input;
    return !world.queue_full;
}
struct ledger_view ledger_thread_view(struct ledger_thread *of, char trouble[LIMIT_WHY]) {
    (void)of;
    trouble[0] = 0;
    return (struct ledger_view){0};
}
void ledger_thread_enter_safe(struct ledger_thread *of, struct str why) {
    (void)of, (void)why;
}
bool safe_is_on(const struct safe *safe) {
    return atomic_load(&safe->state);
}
void facts_read(struct daemon_context *of, struct op_facts *ret) {
    (void)of;
    *ret = (struct op_facts){.engine = "sqlite"};
}

const struct op_repositories *repositories_read(struct daemon_context *of, struct arena *arena) {
    (void)of;
    return arena_new(arena, struct op_repositories, 1);
}
bool spool_is_wanted(struct spool *spool) {
    (void)spool;
    return world.spool_wanted;
}
bool spool_put(struct spool *spool, const struct signal *signal,
               void (*done)(void *with, bool safe), void *with) {
    (void)spool;
    assert_true(signal->kind == SIGNAL_GOAL_REPORT);
    world.spooled = done;
    world.spooled_with = with;
    return true;
}
void answer_locally(struct daemon_context *of, struct op_call *call) {
    (void)of;
    call->result = json_string(call->op->name);
}

static void answered(void *with) {
    (void)with;
    world.answered++;
}

/* ---- calling ---- */

struct asking {
    struct call *call;
    json_t *params;
    bool later;
};

static struct asking ask_as(const struct caller *caller, const char *method, const char *params) {
    world.asked = NULL;
    world.queued = NULL;
    world.answered = 0;
    struct asking asking = {call_new(&context, caller), json_loads(params, 0, NULL), false};
    check(asking.call && asking.params, "%s", params);
    asking.later = call_start(asking.call, str_of(method), asking.params, answered, NULL);
    return asking;
}

static struct asking ask(const char *method, const char *params) {
    return ask_as(&PERSON, method, params);
}

static void done(struct asking *asking) {
    call_release(asking->call);
    json_decref(asking->params);
}

static struct asking report(const char *key) {
    char params[256];
    snprintf(params, sizeof params, "{\"goal\": \"%s\", \"text\": \"half\", \"key\": \"%s\"}", GOAL,
             key);
    return ask("goal.report", params);
}

static void reads(void **state) {
    (void)state;
    struct goal_loaded loaded = {0};
    struct store_answer answer = {.outcome = STORE_DONE, .loaded = &loaded};
    struct asking one = ask("goal.tally", "{}");
    assert_true(one.later && world.asked && world.asked->request.verb == STORE_TALLY);
    world.asked->done(world.asked, &answer);
    assert_int_equal(world.answered, 1);
    json_t *result = call_result(one.call);
    assert_true(call_error(one.call) == ERROR_NONE && json_object_size(result) == DISPLAY_STATES);
    json_decref(result);
    done(&one);
    struct asking two = ask("goal.show", "{\"goal\": \"01JC7Q4T9ZJ5X0M2K8W3R6VYHN\"}");
    world.asked->done(world.asked, &answer);
    assert_int_equal(call_error(two.call), ERROR_NOT_FOUND);
    done(&two);
    struct asking three = ask("goal.tally", "{}");
    answer = (struct store_answer){.outcome = STORE_FAILED, .error = STR("the line is dead")};
    world.asked->done(world.asked, &answer);
    assert_int_equal(call_error(three.call), ERROR_STORE_AWAY);
    assert_non_null(strstr(call_why(three.call), "the line is dead"));
    done(&three);
}

static void writes(void **state) {
    (void)state;
    struct asking one = report("k"), two;
    assert_true(one.later && world.queued && world.answered == 0);
    struct signal first = world.queued->signal;
    assert_true(first.sender.by == WHO_HUMAN && str_equal(first.sender.actor, STR("human:1000")) &&
                first.once.keyed);
    world.queued->version = 3;
    world.queued->seq = 7;
    call_written(world.queued);
    assert_int_equal(world.answered, 1);
    json_t *result = call_result(one.call);
    assert_string_equal(json_string_value(json_object_get(result, "goalId")), GOAL);
    assert_int_equal(json_integer_value(json_object_get(result, "seq")), 7);
    json_decref(result);
    two = report("k"); /* G-45: the same key is the same event */
    assert_true(id_equal(first.source, world.queued->signal.source));
    world.queued->error = ERROR_CONFLICT;
    snprintf(world.queued->why, sizeof world.queued->why, "It is closed");
    call_written(world.queued);
    assert_int_equal(call_error(two.call), ERROR_CONFLICT);
    assert_string_equal(call_why(two.call), "It is closed.");
    assert_null(call_result(two.call));
    done(&one);
    done(&two);
    world.queue_full = true;
    struct asking three = report("other");
    world.queue_full = false;
    assert_true(three.later && world.answered == 1 && call_error(three.call) == ERROR_BUSY);
    done(&three);
}

/* A call is completed once, by the first of time-out and answer; and not at all if its caller has gone. */
static void timeout(void **state) {
    (void)state;
    struct asking one = report("a");
    struct input *late = world.queued;
    world.now += SECONDS(19);
    calls_sweep(&context);
    assert_int_equal(world.answered, 0);
    world.now += SECONDS(2);
    calls_sweep(&context);
    calls_sweep(&context);
    assert_true(world.answered == 1 && call_error(one.call) == ERROR_STORE_AWAY);
    call_written(late);
    assert_true(world.answered == 1 && call_error(one.call) == ERROR_STORE_AWAY);
    done(&one);
    struct asking two = report("b");
    late = world.queued;
    done(&two);
    call_written(late);
    assert_int_equal(world.answered, 0);
}

static void spools(void **state) {
    (void)state;
    world.spool_wanted = true;
    calls_sweep(&context);
    struct asking soon = report("soon"); /* the store may be back in a moment */
    assert_true(soon.later && world.queued);
    call_written(world.queued);
    done(&soon);
    world.now += SECONDS(1);
    struct asking one = report("a");
    assert_true(one.later && !world.queued);
    world.spooled(world.spooled_with, true);
    json_t *result = call_result(one.call);
    assert_true(world.answered == 1 && call_is_pending(one.call));
    assert_true(json_is_true(json_object_get(result, "spooled")));
    json_decref(result);
    done(&one);
    struct asking two = report("b");
    world.spooled(world.spooled_with, false);
    assert_int_equal(call_error(two.call), ERROR_STORE_AWAY);
    done(&two);
    world.spool_wanted = false;
    calls_sweep(&context);
    struct asking three =
        report("c"); /* the store becomes unavailable while the ledger has the signal */
    struct input *late = world.queued;
    world.spool_wanted = true;
    world.now += SECONDS(3);
    calls_sweep(&context);
    assert_int_equal(world.answered, 0);
    world.spooled(world.spooled_with, true);
    assert_true(world.answered == 1 && call_is_pending(three.call));
    call_written(late);
    assert_int_equal(world.answered, 1);
    done(&three);
    world.spool_wanted = false;
    calls_sweep(&context);
}

static void beginnings(void **state) {
    (void)state;
    struct id found[5] = {{{1}}, {{2}}, {{3}}, {{4}}, {{5}}};
    struct store_answer answer = {.outcome = STORE_DONE, .found = found};
    for (uint32_t count = 0; count < 6; count++) {
        struct asking one = ask("goal.show", "{\"goal\": \"01JC7Q4T\"}");
        assert_true(world.asked->request.verb == STORE_NAMED);
        answer.found_count = count;
        world.asked->done(world.asked, &answer);
        if (count == 1) {
            assert_true(world.answered == 0 && world.asked->request.verb == STORE_SHOW);
            assert_true(id_equal(world.asked->request.ids[0], found[0]));
            struct store_answer gone = {.outcome = STORE_FAILED};
            world.asked->done(world.asked, &gone);
        } else
            check(call_error(one.call) == (count ? ERROR_AMBIGUOUS : ERROR_NOT_FOUND), "%u", count);
        assert_int_equal(world.answered, 1);
        done(&one);
    }
    struct asking two = ask("goal.show", "{\"goal\": \"01J\"}");
    assert_true(!two.later && call_error(two.call) == ERROR_INVALID);
    done(&two);
}

/* The name is resolved when the call has already timed out: no further request is made, and the caller is not answered
 * twice. */
static void beginnings_too_late(void **state) {
    (void)state;
    struct id found = {{1}};
    struct store_answer answer = {.outcome = STORE_DONE, .found = &found, .found_count = 1};
    struct asking one = ask("goal.show", "{\"goal\": \"01JC7Q4T\"}");
    struct lookup *late = world.asked;
    world.now += SECONDS(21);
    calls_sweep(&context);
    assert_true(world.answered == 1 && call_error(one.call) == ERROR_STORE_AWAY);
    world.asked = NULL;
    late->done(late, &answer);
    assert_true(world.answered == 1 && !world.asked && call_error(one.call) == ERROR_STORE_AWAY);
    done(&one);
}

/* The goal of the report is not known yet, so the report cannot be spooled either. */
static void beginnings_are_not_spooled(void **state) {
    (void)state;
    world.spooled = NULL;
    struct asking one =
        ask("goal.report", "{\"goal\": \"01JC7Q4T\", \"text\": \"half\", \"key\": \"k\"}");
    struct lookup *late = world.asked;
    world.spool_wanted = true;
    world.now += SECONDS(3);
    calls_sweep(&context);
    assert_true(world.spooled == NULL && world.answered == 0);
    struct store_answer gone = {.outcome = STORE_FAILED};
    late->done(late, &gone);
    assert_true(world.answered == 1 && call_error(one.call) == ERROR_STORE_AWAY);
    done(&one);
    world.spool_wanted = false;
    calls_sweep(&context);
}

/* POLICY-03 … : the table says who may call an operation, and every interface asks it. */
static void roles(void **state) {
    (void)state;
    for (size_t i = 0; i < OP_COUNT; i++)
        for (enum role role = ROLE_NOBODY; role < ROLES; role++) {
            struct op_call call = {.op = OPS[i]};
            struct caller caller = {.role = role};
            call.caller = &caller;
            bool may = OPS[i]->may & 1u << role;
            check(op_allows(&call) == may, "%s for %u", OPS[i]->name, role);
            check(may || call.error == ERROR_UNAUTHORIZED, "%s for %u", OPS[i]->name, role);
            check(role != ROLE_NOBODY || !may, "%s is for nobody", OPS[i]->name);
            check(role != ROLE_READER || !may || OPS[i]->kind != OP_WRITES, "%s", OPS[i]->name);
        }
    struct caller run = {.role = ROLE_RUN, .actor = "actor:agent:coder-1", .run = "R_1"};
    assert_true(goal_id_parse(str_of(GOAL), &run.goal));
    struct asking own = ask_as(&run, "goal.report", "{\"text\": \"half\"}");
    assert_true(own.later && id_equal(world.queued->signal.goal, run.goal));
    assert_true(world.queued->signal.sender.by == WHO_AGENT);
    call_written(world.queued);
    done(&own);
    struct asking begun = ask_as(&run, "goal.report", "{\"goal\": \"01JC7Q4T\", \"text\": \"x\"}");
    assert_true(begun.later && world.queued && !world.asked);
    call_written(world.queued);
    done(&begun);
    struct asking other = ask_as(&run, "goal.report", "{\"goal\": \"01JC7QZZ\", \"text\": \"x\"}");
    assert_true(!other.later && call_error(other.call) == ERROR_UNAUTHORIZED);
    done(&other);
}

static struct signal keyed_signal(const struct caller *caller, const char *params) {
    struct asking asking = ask_as(caller, "goal.report", params);
    struct signal signal = world.queued->signal;
    call_written(world.queued);
    done(&asking);
    return signal;
}

static struct id keyed_source(const struct caller *caller) {
    return keyed_signal(caller, "{\"text\": \"half\", \"key\": \"1\"}").source;
}

/* Two runs of one goal number their reports independently. */
static void keys_of_runs(void **state) {
    (void)state;
    struct caller one = {.role = ROLE_RUN, .actor = "actor:agent:coder-1", .run = "R_1"};
    assert_true(goal_id_parse(str_of(GOAL), &one.goal));
    struct caller other = one;
    snprintf(other.run, sizeof other.run, "R_2");
    assert_true(id_equal(keyed_source(&one), keyed_source(&one)));
    assert_false(id_equal(keyed_source(&one), keyed_source(&other)));
}

/* The key identifies the request: its caller, operation and goal; the source is derived from key and body. The old
 * source is the one that older builds have stored. */
static void keys_and_bodies(void **state) {
    (void)state;
    struct caller ann = {.role = ROLE_HUMAN, .actor = "human:ann"};
    struct caller bob = {.role = ROLE_HUMAN, .actor = "human:bob"};
    struct signal half = keyed_signal(
        &ann,
        "{\"goal\": \"goal_01JC7Q4T9ZJ5X0M2K8W3R6VYHN\", \"text\": \"half\", \"key\": \"1\"}");
    struct signal same = keyed_signal(
        &ann,
        "{\"key\": \"1\", \"text\": \"half\", \"traceId\": \"t\", \"goal\": \"goal_01JC7Q4T9ZJ5X0M2K8W3R6VYHN\"}");
    struct signal whole = keyed_signal(
        &ann,
        "{\"goal\": \"goal_01JC7Q4T9ZJ5X0M2K8W3R6VYHN\", \"text\": \"whole\", \"key\": \"1\"}");
    struct signal bobs = keyed_signal(
        &bob,
        "{\"goal\": \"goal_01JC7Q4T9ZJ5X0M2K8W3R6VYHN\", \"text\": \"half\", \"key\": \"1\"}");
    char before[ID_TEXT + 1];
    assert_true(id_equal(half.source, same.source) && id_equal(half.once.key, same.once.key));
    assert_true(!id_equal(half.source, whole.source) && id_equal(half.once.key, whole.once.key));
    assert_true(!id_equal(half.source, bobs.source) && !id_equal(half.once.key, bobs.once.key));
    assert_true(id_equal(half.once.before, whole.once.before) &&
                id_equal(half.once.before, bobs.once.before));
    id_format(half.once.before, before);
    assert_string_equal(before, "172QH6N8H132EH23G3XCBWAEC4");
}

static void refusals(void **state) {
    (void)state;
    static const struct {
        const char *method, *params;
        enum error error;
    } CASES[] = {
        {"goal.fly", "{}", ERROR_UNKNOWN_METHOD},
        {"goal.create", "{}", ERROR_INVALID},
        {"goal.create", "{\"title\": 7}", ERROR_INVALID},
        {"goal.create", "{\"title\": \"x\", \"wings\": 2}", ERROR_INVALID},
        {"goal.create", "[]", ERROR_INVALID},
        {"goal.create", "{\"title\": \"x\", \"command\": \"AKIAQYLPMN5HHHFPZAM2 x\"}",
         ERROR_INVALID},
    };
    for (size_t i = 0; i < count_of(CASES); i++) {
        struct asking one = ask(CASES[i].method, CASES[i].params);
        check(call_error(one.call) == CASES[i].error, "%s %s", CASES[i].method, CASES[i].params);
        check(!world.queued, "%s", CASES[i].params);
        done(&one);
    }
    atomic_store(&ledger_thread.safe.state, 1);
    struct asking safe = report("x");
    assert_true(!safe.later && call_error(safe.call) == ERROR_SAFE_MODE);
    done(&safe);
    atomic_store(&ledger_thread.safe.state, 0);
    struct asking tells = ask("api.describe", "{}");
    json_t *result = call_result(tells.call);
    assert_string_equal(json_string_value(result), "api.describe");
    json_decref(result);
    done(&tells);
}

/* ---- addresses ---- */

static void addresses(void **state) {
    (void)state;
    static const struct {
        const char *text, *host;
        int port; /* -1: not an address */
        bool loopback;
    } CASES[] = {
        {"127.0.0.1:7070", "127.0.0.1", 7070, true},
        {"localhost:0", "127.0.0.1", 0, true},
        {"[::1]:80", "[::1]", 80, true},
        {"0.0.0.0:80", "0.0.0.0", 80, false},
        {"[::]:80", "[::]", 80, false},
        {"10.1.2.3:65535", "10.1.2.3", 65535, false},
        {"127.9.9.9:1", "127.9.9.9", 1, true},
        {"7070", "", -1, false},
        {":7070", "", -1, false},
        {"::1:80", "", -1, false},
        {"127.0.0.1:", "", -1, false},
        {"127.0.0.1:65536", "", -1, false},
        {"127.0.0.1:-1", "", -1, false},
        {"example.org:80", "", -1, false},
        {"127.0.0.1:80x", "", -1, false},
        {"", "", -1, false},
    };
    for (size_t i = 0; i < count_of(CASES); i++) {
        struct http_listen_address address = {0};
        bool parsed = http_listener_parse(str_of(CASES[i].text), &address);
        check(parsed == (CASES[i].port >= 0), "%s", CASES[i].text);
        check(!parsed ||
                  (address.port == CASES[i].port && strcmp(address.host, CASES[i].host) == 0 &&
                   address.loopback == CASES[i].loopback),
              "%s", CASES[i].text);
    }
}

/* ---- tokens ---- */

static json_t *token_ask(void (*one)(struct daemon_context *, struct op_call *),
                         const struct op *op, const char *params, enum error error) {
    json_t *json = json_loads(params, 0, NULL);
    struct op_call call = {.op = op, .caller = &PERSON, .at = clock_wall()};
    check(op_args_read(&call, json), "%s", params);
    one(&context, &call);
    check(call.error == error, "%s: %s", params, call.why);
    json_t *result = json_incref(call.result);
    op_call_free(&call);
    json_decref(json);
    return result;
}

static bool token_opens(const json_t *made, struct caller *ret) {
    const char *text = json_string_value(json_object_get(made, "token"));
    return tokens_find(context.tokens, str_of(text), clock_wall(), ret);
}

static void folder_forget(const char *folder) {
    char path[512];
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    closedir(dir);
    rmdir(folder);
}

/* Fills the file up to the limit: each line is the first one with another hash. */
static void tokens_fill(const char *path) {
    FILE *file = fopen(path, "r+");
    char line[1024];
    assert_true(file && fgets(line, sizeof line, file));
    char *hash = strstr(line, "\"sha256\":\"");
    assert_non_null(hash);
    fseek(file, 0, SEEK_END);
    for (uint32_t i = tokens_count(context.tokens); i < LIMIT_TOKENS; i++) {
        char digits[9];
        snprintf(digits, sizeof digits, "%08x", i);
        memcpy(hash + strlen("\"sha256\":\""), digits, 8);
        fputs(line, file);
    }
    assert_int_equal(fclose(file), 0);
}

static void tokens_at_the_limit(void **state) {
    (void)state;
    char folder[] = "/tmp/overseer-tokens.XXXXXX", error[256], path[256], params[256];
    struct caller caller;
    assert_non_null(mkdtemp(folder));
    context.tokens = tokens_open(folder, error, sizeof error);
    json_t *made =
        token_ask(token_create_answer, &OP_TOKEN_CREATE, "{\"role\": \"reader\"}", ERROR_NONE);
    snprintf(path, sizeof path, "%s/tokens", folder);
    tokens_fill(path);
    tokens_close(context.tokens);
    context.tokens = tokens_open(folder, error, sizeof error);
    assert_int_equal(tokens_count(context.tokens), LIMIT_TOKENS);
    token_ask(token_create_answer, &OP_TOKEN_CREATE, "{\"role\": \"reader\"}", ERROR_BUSY);
    snprintf(params, sizeof params, "{\"tokenId\": \"%s\"}",
             json_string_value(json_object_get(made, "tokenId")));
    json_t *next = token_ask(token_rotate_answer, &OP_TOKEN_ROTATE, params, ERROR_NONE);
    assert_true(!token_opens(made, &caller) && token_opens(next, &caller));
    assert_int_equal(tokens_count(context.tokens), LIMIT_TOKENS);
    tokens_close(context.tokens);
    json_decref(made);
    json_decref(next);
    folder_forget(folder);
}

static void tokens(void **state) {
    (void)state;
    char folder[] = "/tmp/overseer-tokens.XXXXXX", error[256], path[256], params[256];
    struct caller caller;
    assert_non_null(mkdtemp(folder));
    context.tokens = tokens_open(folder, error, sizeof error);
    snprintf(params, sizeof params,
             "{\"role\": \"run\", \"actor\": \"a\", \"run\": \"R\", \"goal\": \"%s\"}", GOAL);
    json_t *run = token_ask(token_create_answer, &OP_TOKEN_CREATE, params, ERROR_NONE);
    json_t *brief = token_ask(token_create_answer, &OP_TOKEN_CREATE,
                              "{\"role\": \"reader\", \"expires\": \"90s\"}", ERROR_NONE);
    token_ask(token_create_answer, &OP_TOKEN_CREATE, "{\"role\": \"run\"}", ERROR_INVALID);
    assert_true(token_opens(run, &caller) && caller.role == ROLE_RUN);
    assert_true(strcmp(caller.run, "R") == 0 && token_opens(brief, &caller));
    tokens_close(context.tokens);
    context.tokens = tokens_open(folder, error, sizeof error); /* a restart */
    assert_true(tokens_count(context.tokens) == 2 && token_opens(run, &caller));
    snprintf(path, sizeof path, "%s/tokens", folder);
    struct stat seen;
    assert_true(stat(path, &seen) == 0 && (seen.st_mode & 0777) == 0600);
    world.now += SECONDS(91);
    assert_true(!token_opens(brief, &caller) && token_opens(run, &caller));
    snprintf(params, sizeof params, "{\"tokenId\": \"%s\"}",
             json_string_value(json_object_get(run, "tokenId")));
    json_t *next = token_ask(token_rotate_answer, &OP_TOKEN_ROTATE, params, ERROR_NONE);
    assert_true(!token_opens(run, &caller) && token_opens(next, &caller) &&
                caller.role == ROLE_RUN);
    token_ask(token_revoke_answer, &OP_TOKEN_REVOKE, params, ERROR_NOT_FOUND);
    chmod(
        folder,
        0500); /* a change that cannot be written must not take effect; root may write everywhere */
    if (access(folder, W_OK) != 0) {
        snprintf(params, sizeof params, "{\"tokenId\": \"%s\"}",
                 json_string_value(json_object_get(next, "tokenId")));
        token_ask(token_revoke_answer, &OP_TOKEN_REVOKE, params, ERROR_INTERNAL);
        assert_true(token_opens(next, &caller));
    }
    chmod(folder, 0700);
    tokens_close(context.tokens);
    json_decref(run);
    json_decref(brief);
    json_decref(next);
    folder_forget(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(writes),
        cmocka_unit_test(timeout),
        cmocka_unit_test(spools),
        cmocka_unit_test(roles),
        cmocka_unit_test(keys_of_runs),
        cmocka_unit_test(keys_and_bodies),
        cmocka_unit_test(beginnings),
        cmocka_unit_test(beginnings_too_late),
        cmocka_unit_test(beginnings_are_not_spooled),
        cmocka_unit_test(refusals),
        cmocka_unit_test(addresses),
        cmocka_unit_test(tokens),
        cmocka_unit_test(tokens_at_the_limit),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (!failed)
        proof_passed("unit", "call", "API-10 POLICY-05");
    return failed;
}
