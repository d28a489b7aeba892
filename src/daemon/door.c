/* SPDX-License-Identifier: Apache-2.0 */
/* How do people and programs get in? */
#include "daemon/door.h"

#include "daemon/clock.h"
#include "daemon/guard.h"
#include "daemon/log.h"
#include "ops/json.h"
#include "ops/op.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const int64_t PATIENCE = SECONDS(20);
static const struct policy NO_POLICY; /* in safe mode nothing is decided */

enum call_state { CALL_READING, CALL_WAITING, CALL_ANSWERED, CALL_EXPIRED };

/* One HTTP request. Shared with the ledger's or the lookups' thread while it waits; the last one frees. */
struct call {
    struct door *door;
    struct MHD_Connection *connection;
    struct call *next, **link; /* among those that wait */
    atomic_int state;
    atomic_int holders;
    int64_t since;
    char *body;
    size_t length;
    bool too_long, no_memory; /* the body */
    json_t *id;               /* of the JSON-RPC request */
    json_t *request;
    struct op_call op;
    char actor[64];
    uint32_t tries;
    struct input *input; /* a write, once it is answered */
    struct lookup lookup;
};

struct door {
    struct MHD_Daemon *http;
    struct keeper *keeper;
    struct lookups *lookups;
    char *path;
    pthread_mutex_t lock;
    struct call *waiting;
};

/* ---- calls ---- */

static void call_release(struct call *call) {
    if (atomic_fetch_sub(&call->holders, 1) > 1)
        return;
    input_free(call->input);
    op_call_free(&call->op);
    json_decref(call->request);
    free(call->body);
    free(call);
}

static void call_wait(struct call *call) {
    struct door *door = call->door;
    atomic_store(&call->state, CALL_WAITING);
    atomic_fetch_add(&call->holders, 1);
    call->since = clock_boot();
    pthread_mutex_lock(&door->lock);
    call->next = door->waiting;
    call->link = &door->waiting;
    if (door->waiting)
        door->waiting->link = &call->next;
    door->waiting = call;
    pthread_mutex_unlock(&door->lock);
    MHD_suspend_connection(call->connection);
}

/* Whoever moves the state on resumes the connection; the other one only lets go. */
static bool call_settle(struct call *call, enum call_state to) {
    int waiting = CALL_WAITING;
    struct door *door = call->door;
    pthread_mutex_lock(&door->lock);
    bool mine = atomic_compare_exchange_strong(&call->state, &waiting, to);
    if (mine) {
        *call->link = call->next;
        if (call->next)
            call->next->link = call->link;
    }
    pthread_mutex_unlock(&door->lock);
    return mine;
}

void door_sweep(struct door *door) {
    int64_t now = clock_boot();
    for (;;) {
        pthread_mutex_lock(&door->lock);
        struct call *call = door->waiting;
        while (call && now - call->since < PATIENCE)
            call = call->next;
        if (call)
            atomic_fetch_add(&call->holders, 1);
        pthread_mutex_unlock(&door->lock);
        if (!call)
            return;
        if (call_settle(call, CALL_EXPIRED))
            MHD_resume_connection(call->connection);
        call_release(call);
    }
}

/* ---- answers ---- */

static enum MHD_Result send_response(struct MHD_Connection *connection, int status,
                                     struct MHD_Response *response) {
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", "application/json");
    enum MHD_Result result = MHD_queue_response(connection, (unsigned)status, response);
    MHD_destroy_response(response);
    return result;
}

/* An error by its sentence alone, when there is no memory for more. */
static enum MHD_Result send_plainly(struct MHD_Connection *connection, enum error error) {
    const struct error_row *row = &ERRORS[error];
    char text[768];
    int length = snprintf(text, sizeof text,
                          "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":%d,\"message\":"
                          "\"%s\",\"data\":{\"code\":\"%s\",\"exit\":%d}}}",
                          -32000 - (int)error, row->sentence, row->code, row->exit_status);
    return send_response(
        connection, row->http_status,
        MHD_create_response_from_buffer((size_t)length, text, MHD_RESPMEM_MUST_COPY));
}

/* otherwise: what is said when there is no memory for the answer. */
static enum MHD_Result send_json(struct MHD_Connection *connection, int status, json_t *json,
                                 enum error otherwise) {
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    if (json_ran_short() || !text) {
        free(text);
        return send_plainly(connection, otherwise);
    }
    return send_response(
        connection, status,
        MHD_create_response_from_buffer_with_free_callback(strlen(text), text, free));
}

static enum MHD_Result send_error(struct call *call, enum error error, const char *why) {
    const struct error_row *row = &ERRORS[error];
    char message[768];
    struct str said = str_of(why);
    while (said.len > 0 && !str_is_text(said))
        said.len--; /* it was cut inside a character */
    snprintf(message, sizeof message, "%.*s%s%s", STR_ARG(said), said.len ? " " : "",
             row->sentence);
    json_t *id = call->id ? json_incref(call->id) : json_null();
    json_t *json = json_pack("{s:s, s:o, s:{s:i, s:s, s:{s:s, s:i}}}", "jsonrpc", "2.0", "id", id,
                             "error", "code", -32000 - (int)error, "message", message, "data",
                             "code", row->code, "exit", row->exit_status);
    return send_json(call->connection, row->http_status, json, error);
}

static json_t *written_json(const struct input *input) {
    char goal[GOAL_ID_TEXT + 1];
    goal_id_format(input->signal.goal, goal);
    if (input->forwarded)
        return json_pack("{s:s, s:b}", "goalId", goal, "forwarded", 1);
    return json_pack("{s:s, s:I, s:I}", "goalId", goal, "version", (json_int_t)input->version,
                     "seq", (json_int_t)input->seq);
}

/* Without memory to say that a write was stored, it is as if the database had not answered. */
static enum MHD_Result send_result(struct call *call) {
    if (call->input) {
        call->op.error = call->input->error;
        snprintf(call->op.why, sizeof call->op.why, "%s%s", call->input->why,
                 call->input->why[0] ? "." : "");
    }
    if (call->op.error)
        return send_error(call, call->op.error, call->op.why);
    json_t *result = call->input ? written_json(call->input) : json_incref(call->op.result);
    json_t *json = json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", call->id, "result", result);
    return send_json(call->connection, call->input && call->input->forwarded ? 202 : 200, json,
                     call->input ? ERROR_STORE_AWAY : ERROR_NO_MEMORY);
}

static enum MHD_Result send_health(struct call *call) {
    char trouble[LIMIT_WHY];
    const struct safe *safe = &call->door->keeper->safe;
    struct ledger_view view = keeper_view(call->door->keeper, trouble);
    bool in_safe = safe_is_on(safe);
    if (in_safe) {
        view.joined = false;
        snprintf(trouble, sizeof trouble, "safe mode: %.480s", safe->why);
    }
    json_t *json = json_pack(
        "{s:b, s:b, s:b, s:I, s:I, s:i, s:i, s:I, s:s, s:s}", "ok", view.joined && trouble[0] == 0,
        "safeMode", in_safe, "joined", view.joined, "epoch", (json_int_t)view.epoch, "commits",
        (json_int_t)view.commits, "waiting", (int)view.waiting, "acting", (int)view.acting,
        "takeovers", (json_int_t)view.takeovers, "trouble", trouble, "version", OVERSEER_VERSION);
    return send_json(call->connection, view.joined ? 200 : 503, json, ERROR_NO_MEMORY);
}

/* What was read has changed before it could be written: read again. */
static bool tried_again(struct call *call, const struct input *input) {
    bool again = input->error == ERROR_CONFLICT && call->op.op->merges && call->tries++ < 32 &&
                 atomic_load(&call->state) == CALL_WAITING;
    return again && lookups_ask(call->door->lookups, &call->lookup);
}

void door_answer(struct door *door, struct input *input) {
    (void)door;
    struct call *call = input->waiter;
    input->waiter = NULL;
    if (tried_again(call, input)) {
        input_free(input);
        return;
    }
    if (atomic_load(&call->state) == CALL_WAITING)
        call->input = input;
    if (call_settle(call, CALL_ANSWERED))
        MHD_resume_connection(call->connection);
    else if (call->input != input)
        input_free(input);
    call_release(call);
}

/* ---- requests ---- */

static bool peer_actor(struct call *call, char *actor, size_t size) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(call->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (!info || getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return false;
    snprintf(actor, size, "human:%u", peer.uid);
    return true;
}

/* A key names the happening (of that goal, if there is one yet), and of a create also the goal. Without a
 * key, both are random. */
static void signal_name(struct signal *signal, const struct op_call *call) {
    const struct op_args *args = &call->args;
    uint8_t random[10];
    random_bytes(random, sizeof random);
    signal->source = id_make(signal->at / 1000, random);
    signal->keyed = args->key.len > 0;
    if (signal->keyed) {
        struct id of_key = id_derive(str_of(call->op->name), args->key);
        signal->source =
            id_derive((struct str){(const char *)signal->goal.bytes, sizeof signal->goal.bytes},
                      (struct str){(const char *)of_key.bytes, sizeof of_key.bytes});
    }
    if (signal->kind == SIGNAL_GOAL_CREATE)
        signal->goal = signal->source;
}

/* ---- what an operation makes of its parameters and of what was read, guarded ---- */

struct building {
    struct call *call;
    const struct store_answer *answer;
    struct signal signal;
    bool made;
};

static void args_make(void *with) {
    struct building *building = with;
    struct call *call = building->call;
    building->made = op_args_read(&call->op, json_object_get(call->request, "params"));
}

static void signal_make(void *with) {
    struct building *building = with;
    struct op_call *op = &building->call->op;
    building->made = op->op->signal(op, building->answer, &building->signal);
}

static void result_make(void *with) {
    struct building *building = with;
    struct op_call *op = &building->call->op;
    op->result = op->op->result(op, building->answer);
}

/* One request that cannot be answered must not end the daemon of ten thousand others. */
static bool built(struct call *call, void (*make)(void *), struct building *building) {
    struct guard_report report;
    enum guard_result result = guard_run(make, building, &report);
    if (result == GUARD_WHOLE)
        return true;
    building->made = false;
    if (result == GUARD_MEMORY)
        return op_refuse(&call->op, ERROR_NO_MEMORY, "%s", "");
    log_error("%s could not be carried out: %s", call->op.op->name, report.why);
    return op_refuse(&call->op, ERROR_QUARANTINED, "What is stored about it contradicts itself.");
}

/* True: the ledger has it, and will answer. False: call->op says why not. */
static bool write_send(struct call *call, const struct store_answer *answer) {
    struct building building = {.call = call, .answer = answer, .signal = {.by = WHO_HUMAN}};
    building.signal.trace = call->op.args.trace;
    built(call, signal_make, &building);
    if (!building.made)
        return false;
    struct signal signal = building.signal;
    if (input_has_secret(signal.command)) /* redacted it would be another command */
        return op_refuse(
            &call->op, ERROR_INVALID,
            "The command contains what looks like a secret, and would be stored. Put the secret into "
            "the environment or a file.");
    if (signal.body.len > LIMIT_PLAN)
        return op_refuse(&call->op, ERROR_INVALID, "This has %zu bytes; at most %d are kept.",
                         signal.body.len, LIMIT_PLAN);
    signal.at = call->op.at;
    signal.actor = str_of(call->actor);
    signal_name(&signal, &call->op);
    struct input *input = input_make(&signal, call);
    if (!input)
        return op_refuse(&call->op, ERROR_NO_MEMORY, "%s", "");
    if (!queue_put(&call->door->keeper->queue, input)) {
        input->error = ERROR_BUSY;
        door_answer(call->door, input);
    }
    return true;
}

static void call_settled(struct call *call) {
    if (call_settle(call, CALL_ANSWERED))
        MHD_resume_connection(call->connection);
    call_release(call);
}

/* STORE-10: in safe mode what is read may be anything; what cannot be shown is no reason to die. */
static void result_send(struct call *call, const struct store_answer *answer) {
    struct building building = {.call = call, .answer = answer};
    bool whole = built(call, result_make, &building);
    if (!safe_is_on(&call->door->keeper->safe) || (whole && call->op.error != ERROR_NO_MEMORY))
        return; /* what is not text cannot become JSON either, and looks like a want of memory */
    call->op.error = ERROR_STORE_AWAY;
    snprintf(call->op.why, sizeof call->op.why, "What is stored is damaged and cannot be shown.");
}

static void lookup_done(struct lookup *lookup, const struct store_answer *answer) {
    struct call *call = (struct call *)((char *)lookup - offsetof(struct call, lookup));
    if (answer->outcome == STORE_DONE && call->op.op->kind == OP_READS)
        result_send(call, answer);
    else if (answer->outcome == STORE_DONE) {
        if (write_send(call, answer))
            return; /* the ledger holds it now */
    } else {
        call->op.error = ERROR_STORE_AWAY;
        snprintf(call->op.why, sizeof call->op.why, "%.*s.", STR_ARG(str_cut(answer->error, 200)));
        if (answer->damaged && call->door->keeper->ledger)
            keeper_enter_safe(call->door->keeper, answer->error);
    }
    call_settled(call);
}

static void lookup_begin(struct call *call) {
    call->lookup.done = lookup_done;
    call->lookup.request.at = call->op.at;
    call_wait(call);
    if (!lookups_ask(call->door->lookups, &call->lookup)) {
        call->op.error = ERROR_STOPPING;
        call_settled(call);
    }
}

/* What has to be read first is read on a reader's connection; the signal follows from there. */
static enum MHD_Result write_begin(struct call *call) {
    const struct safe *safe = &call->door->keeper->safe;
    if (safe_is_on(safe))
        return send_error(call, ERROR_SAFE_MODE, safe->why);
    if (!peer_actor(call, call->actor, sizeof call->actor))
        return send_error(call, ERROR_INVALID, "Nobody is at the other end.");
    const struct op *op = call->op.op;
    if (op->request && op->request(&call->op, &call->lookup.request)) {
        lookup_begin(call);
        return MHD_YES;
    }
    call_wait(call);
    if (!write_send(call, NULL))
        call_settled(call);
    return MHD_YES;
}

static enum MHD_Result read_begin(struct call *call) {
    call->op.op->request(&call->op, &call->lookup.request);
    if (call->op.error)
        return send_error(call, call->op.error, call->op.why);
    lookup_begin(call);
    return MHD_YES;
}

/* True: the call has an operation and its arguments. */
static bool call_parse(struct call *call) {
    struct str body = {call->body, call->length};
    json_error_t error;
    call->op.error = ERROR_INVALID;
    if (!json_depth_is_at_most(body, LIMIT_JSON_DEPTH)) {
        snprintf(call->op.why, sizeof call->op.why, "The JSON is nested more than %d deep.",
                 LIMIT_JSON_DEPTH);
        return false;
    }
    json_ran_short();
    call->request =
        json_loadb(call->body ? call->body : "", call->length, JSON_REJECT_DUPLICATES, &error);
    if (json_ran_short()) {
        call->op.error = ERROR_NO_MEMORY;
        return false;
    }
    if (!call->request) {
        snprintf(call->op.why, sizeof call->op.why, "Line %d, column %d: %s.", error.line,
                 error.column, error.text);
        return false;
    }
    const json_t *method = json_object_get(call->request, "method");
    call->id = json_object_get(call->request, "id");
    if (!json_is_string(method) || !call->id) {
        snprintf(call->op.why, sizeof call->op.why,
                 "A JSON-RPC request has \"id\", \"method\" and \"params\".");
        return false;
    }
    call->op.op = op_find((struct str){json_string_value(method), json_string_length(method)});
    if (!call->op.op) {
        call->op.error = ERROR_UNKNOWN_METHOD;
        return false;
    }
    call->op.at = clock_wall();
    call->op.policy =
        call->door->keeper->ledger ? ledger_policy(call->door->keeper->ledger) : &NO_POLICY;
    struct building building = {.call = call};
    built(call, args_make, &building);
    return building.made;
}

static enum MHD_Result call_begin(struct call *call, const char *url, const char *method) {
    if (strcmp(method, "GET") == 0 && strcmp(url, "/healthz") == 0)
        return send_health(call);
    if (strcmp(method, "POST") != 0 || strcmp(url, "/rpc") != 0)
        return send_error(call, ERROR_UNKNOWN_METHOD, "There is POST /rpc and GET /healthz.");
    if (call->no_memory)
        return send_error(call, ERROR_NO_MEMORY, "");
    if (call->too_long) {
        snprintf(call->op.why, sizeof call->op.why, "The request is over %d bytes.",
                 LIMIT_HTTP_BODY);
        return send_error(call, ERROR_INVALID, call->op.why);
    }
    if (!call_parse(call))
        return send_error(call, call->op.error, call->op.why);
    return call->op.op->kind == OP_WRITES ? write_begin(call) : read_begin(call);
}

static void body_add(struct call *call, const char *data, size_t size) {
    call->too_long = call->length + size > LIMIT_HTTP_BODY;
    char *body = call->too_long ? NULL : realloc(call->body, call->length + size);
    if (!body) {
        call->no_memory = !call->too_long;
        return;
    }
    memcpy(body + call->length, data, size);
    call->body = body;
    call->length += size;
}

static struct call *call_make(struct door *door, struct MHD_Connection *connection) {
    struct call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    call->door = door;
    call->connection = connection;
    atomic_init(&call->holders, 1);
    return call;
}

/* libmicrohttpd calls this for the head, for each piece of the body, at its end, and after each resume. */
static enum MHD_Result handle(void *with, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **state) {
    (void)version;
    struct call *call = *state;
    if (!call) {
        *state = call_make(with, connection);
        return *state ? MHD_YES : send_plainly(connection, ERROR_NO_MEMORY);
    }
    if (*size > 0) {
        if (!call->too_long && !call->no_memory)
            body_add(call, data, *size);
        *size = 0;
        return MHD_YES;
    }
    switch (atomic_load(&call->state)) {
    case CALL_READING: return call_begin(call, url, method);
    case CALL_ANSWERED: return send_result(call);
    case CALL_EXPIRED: return send_error(call, ERROR_STORE_AWAY, "");
    default: return MHD_YES;
    }
}

static void completed(void *with, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode why) {
    (void)with, (void)connection, (void)why;
    if (*state)
        call_release(*state);
    *state = NULL;
}

/* ---- the socket ---- */

static bool somebody_answers(const struct sockaddr_un *address) {
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool answered =
        probe >= 0 && connect(probe, (const struct sockaddr *)address, sizeof *address) == 0;
    if (probe >= 0)
        close(probe);
    return answered;
}

/* A socket that somebody answers on belongs to a living daemon; any other is left over. A command that was
 * just being forked when its daemon was killed keeps the socket for a moment: that is waited for. */
static bool path_is_free(const struct sockaddr_un *address) {
    for (int i = 0; i < 20; i++) {
        if (!somebody_answers(address)) {
            unlink(address->sun_path);
            return true;
        }
        usleep(50000);
    }
    return false;
}

static int listen_at(const char *path, char *error, size_t error_size) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        snprintf(error, error_size,
                 "The socket path %s is too long; use --socket with a shorter one.", path);
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    if (!path_is_free(&address)) {
        snprintf(error, error_size,
                 "A daemon answers on %s already. Stop it first, or use another --socket.", path);
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    mode_t mask = umask(0177); /* 0600 from the first moment */
    int code = fd < 0 ? -1 : bind(fd, (struct sockaddr *)&address, sizeof address);
    umask(mask);
    if (code == 0)
        code = listen(fd, 1024);
    if (code == 0)
        return fd;
    snprintf(error, error_size,
             "The socket %s cannot be opened: %s. Check its folder, or use --socket.", path,
             strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

struct door *door_open(const char *path, struct keeper *keeper, struct lookups *lookups,
                       char *error, size_t error_size) {
    struct door *door = calloc(1, sizeof *door);
    int fd = door ? listen_at(path, error, error_size) : -1;
    if (fd < 0) {
        free(door);
        return NULL;
    }
    door->keeper = keeper;
    door->lookups = lookups;
    door->path = strdup(path);
    json_watch();
    pthread_mutex_init(&door->lock, NULL);
    /* Poll, not epoll: libmicrohttpd 0.9.75 loses wake-ups in its epoll thread with many suspended connections. */
    door->http = MHD_start_daemon(MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL,
                                  NULL, handle, door, MHD_OPTION_LISTEN_SOCKET, fd,
                                  MHD_OPTION_NOTIFY_COMPLETED, completed, NULL,
                                  MHD_OPTION_CONNECTION_LIMIT, (unsigned)LIMIT_HTTP_CONNECTIONS,
                                  MHD_OPTION_CONNECTION_TIMEOUT, 120u, MHD_OPTION_END);
    if (door->http && door->path)
        return door;
    snprintf(error, error_size, "The HTTP server on %s cannot be started.", path);
    door_close(door);
    return NULL;
}

void door_shut(struct door *door) {
    MHD_socket fd = MHD_quiesce_daemon(door->http);
    unlink(door->path);
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
}

void door_close(struct door *door) {
    if (door->http)
        MHD_stop_daemon(door->http);
    pthread_mutex_destroy(&door->lock);
    free(door->path);
    free(door);
}
