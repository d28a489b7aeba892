/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces what the daemon runs on, so that everything runs in one thread. */
#include "fault/pretend.h"

#include "base/must.h"
#include "sandbox/command.h"
#include "sys/clock.h"
#include "sys/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

bool pretend_dead;

/* ---- time ---- */

static int64_t now_us = SECONDS(1700000000);
static uint64_t asked; /* calls of clock_boot() since the last pretend_pass() */

int64_t pretend_now(void) {
    return now_us;
}

void pretend_pass(int64_t us) {
    now_us += us;
    asked = 0;
}

int64_t clock_wall(void) {
    return now_us;
}

int64_t clock_boot(void); /* below */

/* The wall clock never steps here: tests/e2e/clock.py covers that. */
struct clock_reading clock_read(void) {
    int64_t now = clock_boot();
    return (struct clock_reading){.wall = now, .boot = now};
}

struct clock_step clock_last_step(void) {
    return (struct clock_step){0};
}

int64_t clock_boot(void) {
    must(++asked < 1000000); /* otherwise some code spins */
    return now_us +=
           pretend_dead ? MILLISECONDS(100) : 20; /* a dead process may pass time quickly */
}

void random_bytes(void *to, unsigned long count) {
    static uint64_t state = 1;
    for (unsigned long i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        ((uint8_t *)to)[i] = (uint8_t)(state >> 56);
    }
}

void boot_id(char text[BOOT_ID + 1]) {
    text[0] = 0;
}

void clock_condition(pthread_cond_t *condition) {
    pthread_cond_init(condition, NULL);
}

struct timespec clock_slice(int64_t micros) {
    (void)micros;
    return (struct timespec){0};
}

char pretend_last_log[512];

void log_line(enum log_level level, const char *from, const struct log_about *about,
              const char *format, ...) {
    (void)from, (void)about;
    va_list args;
    va_start(args, format);
    if (level == LEVEL_ERROR)
        vsnprintf(pretend_last_log, sizeof pretend_last_log, format, args);
    va_end(args);
}

/* ---- threads ---- */

enum { MAX_THREADS = 4 };
static struct {
    void *(*run)(void *);
    void *with;
} threads[MAX_THREADS];
static unsigned thread_count;

void (*pretend_idle)(void);

int pretend_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *with);
int pretend_join(pthread_t thread, void **ret);
int pretend_wait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *until);

int pretend_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *with) {
    (void)attributes;
    *thread = pthread_self();
    unsigned place = thread_count++ % MAX_THREADS;
    threads[place].run = run;
    threads[place].with = with;
    return 0;
}

void thread_run(void *with) {
    for (unsigned back = 1; back <= MAX_THREADS; back++)
        if (threads[(thread_count - back) % MAX_THREADS].with == with) {
            threads[(thread_count - back) % MAX_THREADS].run(with);
            return;
        }
}

int pretend_join(pthread_t thread, void **ret) {
    (void)thread, (void)ret;
    return 0;
}

int pretend_wait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *until) {
    (void)condition, (void)until;
    pthread_mutex_unlock(lock);
    pretend_idle();
    pthread_mutex_lock(lock);
    return 0;
}

/* ---- HTTP ---- */

struct MHD_Daemon {
    MHD_AccessHandlerCallback handle;
    void *with;
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback notify;
    void *notify_with;
    int fd;
};

struct MHD_Response {
    char *text;
    size_t size;
    int holders;
};

static struct MHD_Daemon *server;
static struct MHD_Connection *connections;

struct MHD_Daemon *MHD_start_daemon(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept,
                                    void *accept_with, MHD_AccessHandlerCallback handle, void *with,
                                    ...) {
    (void)flags, (void)port, (void)accept, (void)accept_with;
    must(server == NULL);
    server = calloc(1, sizeof *server);
    must(server != NULL);
    *server = (struct MHD_Daemon){.handle = handle, .with = with};
    va_list options;
    va_start(options, with);
    must(va_arg(options, int) == MHD_OPTION_ARRAY);
    const struct MHD_OptionItem *item = va_arg(options, struct MHD_OptionItem *);
    for (; item->option != MHD_OPTION_END; item++)
        if (item->option == MHD_OPTION_LISTEN_SOCKET)
            server->fd = (int)item->value;
        else if (item->option == MHD_OPTION_NOTIFY_COMPLETED)
            server->completed = (MHD_RequestCompletedCallback)item->value;
        else if (item->option == MHD_OPTION_NOTIFY_CONNECTION)
            server->notify = (MHD_NotifyConnectionCallback)item->value,
            server->notify_with = item->ptr_value;
    va_end(options);
    return server;
}

static void connection_end(struct MHD_Connection *connection) {
    if (connection->done)
        return;
    connection->done = true;
    connection->late = pretend_dead;
    server->completed(NULL, connection, &connection->state, MHD_REQUEST_TERMINATED_COMPLETED_OK);
}

/* Only once per connection; a daemon that has stopped has closed all of them. */
static void connection_close(struct MHD_Connection *connection) {
    if (server && connection->context)
        server->notify(server->notify_with, connection, &connection->context,
                       MHD_CONNECTION_NOTIFY_CLOSED);
    connection->context = NULL;
}

void MHD_stop_daemon(struct MHD_Daemon *daemon) {
    must(daemon == server);
    for (struct MHD_Connection *c = connections; c; c = c->next) {
        connection_end(c);
        connection_close(c);
    }
    close(daemon->fd);
    free(daemon);
    server = NULL;
}

MHD_socket MHD_quiesce_daemon(struct MHD_Daemon *daemon) {
    (void)daemon;
    return MHD_INVALID_SOCKET;
}

static enum MHD_Result call_handler(struct MHD_Connection *connection, const char *data,
                                    size_t size) {
    enum MHD_Result result = server->handle(server->with, connection, "/rpc", "POST", "HTTP/1.1",
                                            data, &size, &connection->state);
    must(size == 0);
    if (result == MHD_NO || connection->status)
        connection_end(connection);
    return result;
}

/* Head, two pieces of the body, end: the calls that libmicrohttpd makes. */
struct MHD_Connection *http_post(const char *body) {
    struct MHD_Connection *connection = calloc(1, sizeof *connection);
    must(connection != NULL);
    connection->body = strdup(body);
    connection->next = connections;
    connections = connection;
    size_t half = strlen(body) / 2;
    server->notify(server->notify_with, connection, &connection->context,
                   MHD_CONNECTION_NOTIFY_STARTED);
    connection->refused = connection->done = !connection->context;
    if (!connection->done)
        call_handler(connection, NULL, 0);
    if (!connection->done)
        call_handler(connection, connection->body, half);
    if (!connection->done)
        call_handler(connection, connection->body + half, strlen(body) - half);
    if (!connection->done)
        call_handler(connection, NULL, 0);
    must(connection->done || connection->suspended);
    return connection;
}

void http_free(struct MHD_Connection *connection) {
    struct MHD_Connection **link = &connections;
    while (*link != connection)
        link = &(*link)->next;
    *link = connection->next;
    must(connection->done);
    connection_close(connection);
    free(connection->body);
    free(connection->text);
    free(connection);
}

void http_resume_all(void) {
    for (struct MHD_Connection *c = connections; c; c = c->next)
        if (c->resumed && !c->done) {
            c->resumed = c->suspended = false;
            call_handler(c, NULL, 0);
        }
}

void MHD_suspend_connection(struct MHD_Connection *connection) {
    must(!connection->suspended);
    connection->suspended = true;
}

void MHD_resume_connection(struct MHD_Connection *connection) {
    must(connection->suspended && !connection->resumed);
    connection->resumed = true;
}

const union MHD_ConnectionInfo *MHD_get_connection_info(struct MHD_Connection *connection,
                                                        enum MHD_ConnectionInfoType type, ...) {
    static int pair[2];
    static union MHD_ConnectionInfo info;
    if (type == MHD_CONNECTION_INFO_SOCKET_CONTEXT) {
        info.socket_context = connection->context;
        return &info;
    }
    if (pair[1] == 0)
        must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    info.connect_fd = pair[0];
    return &info;
}

static struct MHD_Response *response_make(const void *text, size_t size) {
    struct MHD_Response *response = calloc(1, sizeof *response);
    must(response != NULL);
    response->text = strndup(text, size);
    must(response->text != NULL);
    response->size = size;
    return response;
}

struct MHD_Response *MHD_create_response_from_buffer(size_t size, void *buffer,
                                                     enum MHD_ResponseMemoryMode mode) {
    (void)mode;
    return response_make(buffer, size);
}

struct MHD_Response *
MHD_create_response_from_buffer_with_free_callback(size_t size, void *buffer,
                                                   MHD_ContentReaderFreeCallback release) {
    struct MHD_Response *response = response_make(buffer, size);
    release(buffer);
    return response;
}

/* Not used here: streams, headers, and queries about the server's state. */
struct MHD_Response *MHD_create_response_from_callback(uint64_t size, size_t block,
                                                       MHD_ContentReaderCallback read, void *with,
                                                       MHD_ContentReaderFreeCallback release) {
    (void)size, (void)block, (void)read, (void)with, (void)release;
    must(!"a stream");
    return NULL;
}

const char *MHD_lookup_connection_value(struct MHD_Connection *connection, enum MHD_ValueKind kind,
                                        const char *key) {
    (void)connection, (void)kind, (void)key;
    return NULL;
}

const union MHD_DaemonInfo *MHD_get_daemon_info(struct MHD_Daemon *daemon,
                                                enum MHD_DaemonInfoType type, ...) {
    (void)daemon, (void)type;
    return NULL;
}

enum MHD_Result MHD_add_response_header(struct MHD_Response *response, const char *header,
                                        const char *content) {
    (void)response, (void)header, (void)content;
    return MHD_YES;
}

enum MHD_Result MHD_queue_response(struct MHD_Connection *connection, unsigned status,
                                   struct MHD_Response *response) {
    must(connection->status == 0); /* one answer per request */
    connection->status = status;
    connection->text = strdup(response->text);
    return MHD_YES;
}

void MHD_destroy_response(struct MHD_Response *response) {
    free(response->text);
    free(response);
}

/* ---- the loop ---- */

static uv_async_t *arrived;
static bool arrived_sent;
static uv_timer_t *beat;
static uv_timer_cb on_beat;

int uv_async_init(uv_loop_t *loop, uv_async_t *async, uv_async_cb call) {
    (void)loop;
    arrived = async;
    arrived->async_cb = call;
    arrived_sent = false;
    return 0;
}

int uv_async_send(uv_async_t *async) {
    must(async == arrived);
    arrived_sent = true;
    return 0;
}

int uv_timer_init(uv_loop_t *loop, uv_timer_t *timer) {
    (void)loop;
    beat = timer;
    return 0;
}

int uv_timer_start(uv_timer_t *timer, uv_timer_cb call, uint64_t first, uint64_t every) {
    (void)timer, (void)first, (void)every;
    on_beat = call;
    return 0;
}

void uv_close(uv_handle_t *handle, uv_close_cb call) {
    (void)handle, (void)call;
}

void loop_run(void) {
    if (arrived_sent) {
        arrived_sent = false;
        arrived->async_cb(arrived);
    }
    on_beat(beat);
}

/* ---- commands ---- */

struct command {
    struct command *next;
    command_ended *ended;
    void *with;
};

static struct command *commands;
void (*pretend_act)(const struct effect *effect);

void command_run(uv_loop_t *loop, const struct effect *effect, uint64_t fence, command_ended *ended,
                 void *with) {
    (void)loop, (void)fence;
    if (!pretend_dead)
        pretend_act(effect);
    struct command *command = malloc(sizeof *command);
    must(command != NULL);
    *command = (struct command){commands, ended, with};
    commands = command;
}

bool commands_run(void) {
    return commands != NULL;
}

void commands_end(void) {
    struct command *next = commands;
    commands = NULL;
    while (next) {
        struct command *command = next;
        next = command->next;
        command->ended(command->with, 0, STR("done"));
        free(command);
    }
}
