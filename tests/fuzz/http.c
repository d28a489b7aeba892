/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the HTTP servers with any bytes that a client sends. Uses the daemon's own HTTP requests, authentication,
 * JSON-RPC, MCP and calls behind the real libmicrohttpd; the store answers that there is no such goal, and accepts
 * every write. The first byte selects the server, and whether the sender has a token; the rest is sent over the
 * connection unchanged. */
#include "engine/answer_locally.h"
#include "engine/facts.h"
#include "engine/spool.h"
#include "engine/token.h"
#include "http/auth.h"
#include "http/health.h"
#include "http/http_server.h"
#include "http/mcp.h"
#include "http/mcp_session.h"
#include "http/peer.h"
#include "http/rpc.h"
#include "http/throttle.h"
#include "http/unauthenticated.h"
#include "ops/json.h"
#include "sys/clock.h"
#include "sys/crash_guard.h"
#include "sys/log.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- no crash guard: whatever breaks here breaks the test ---- */

enum crash_guard_result crash_guard_run(void (*call)(void *with), void *with,
                                        struct crash_guard_report *ret) {
    (void)ret;
    call(with);
    return CRASH_GUARD_WHOLE;
}

void log_line(enum log_level level, const char *from, const struct log_about *about,
              const char *format, ...) {
    (void)level, (void)from, (void)about, (void)format;
}

int64_t clock_wall(void) {
    return SECONDS(1700000000);
}
int64_t clock_boot(void) {
    return SECONDS(1000);
}
void random_bytes(void *to, unsigned long count) {
    memset(to, 7, count);
}

/* ---- a daemon context with stubs behind it ---- */

static struct ledger_thread ledger_thread;
static struct lookups lookups;
static struct daemon_context context = {.ledger_thread = &ledger_thread, .lookups = &lookups};
static struct sessions *sessions;

/* No such goal, one node of that name, one goal with that prefix. */
bool lookups_ask(struct lookups *all, struct lookup *lookup) {
    static struct goal_loaded loaded;
    static struct id found;
    static int deep;
    (void)all;
    must(lookup->request.verb != STORE_NOTHING);
    if (++deep > 8)
        abort(); /* the lookups never end */
    struct store_answer answer = {
        .outcome = STORE_DONE, .loaded = &loaded, .found = &found, .found_count = 1};
    lookup->done(lookup, &answer);
    deep--;
    return true;
}

bool queue_put(struct queue *queue, struct input *input) {
    (void)queue;
    must(str_is_text(input->signal.describe.title) &&
         input->signal.describe.title.len <= LIMIT_TITLE);
    must(input->signal.sender.by == WHO_HUMAN || input->signal.sender.by == WHO_AGENT);
    call_written(input);
    return true;
}

const struct policy *ledger_policy(const struct ledger *ledger) {
    static const struct policy POLICY;
    (void)ledger;
    return &POLICY;
}

struct ledger_view ledger_thread_view(struct ledger_thread *of, char trouble[LIMIT_WHY]) {
    (void)of;
    trouble[0] = 0;
    return (struct ledger_view){.joined = true};
}

void ledger_thread_enter_safe(struct ledger_thread *of, struct str why) {
    (void)of, (void)why;
    abort();
}

bool safe_is_on(const struct safe *safe) {
    (void)safe;
    return false;
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
    return false;
}
bool spool_put(struct spool *spool, const struct signal *signal,
               void (*done)(void *with, bool safe), void *with) {
    (void)spool, (void)signal, (void)done, (void)with;
    return false;
}

void answer_locally(struct daemon_context *of, struct op_call *call) {
    (void)of;
    op_refuse(call, ERROR_UNKNOWN_METHOD, "%s", "");
}

/* ---- two HTTP servers ---- */

struct http_server {
    bool is_unix;
    struct MHD_Daemon *http;
};

struct daemon_context *http_server_context(const struct http_server *server) {
    (void)server;
    return &context;
}
bool http_server_is_unix(const struct http_server *server) {
    return server->is_unix;
}
bool http_server_is_for_runs(const struct http_server *server) {
    (void)server;
    return false;
}
struct throttle *http_server_throttle(struct http_server *server) {
    static struct throttle throttle;
    (void)server;
    return &throttle;
}
bool peer_run(int fd, char ret_run[PEER_RUN]) {
    (void)fd;
    ret_run[0] = 0;
    return true;
}
enum peer conn_peer(struct MHD_Connection *connection, uid_t *ret_uid) {
    (void)connection;
    *ret_uid = 1000;
    return PEER_FREE;
}
void conn_moves(struct MHD_Connection *connection, enum conn_state to) {
    (void)connection, (void)to;
}
const char *http_server_host(const struct http_server *server) {
    (void)server;
    return "127.0.0.1";
}
uint16_t http_server_port(const struct http_server *server) {
    (void)server;
    return 7070;
}
const struct http_server_rules *http_server_rules(const struct http_server *server) {
    static const struct str HOSTS[] = {{"board.example", 13}};
    static const struct http_server_rules RULES = {.hosts = {HOSTS, 1}, .origins = {HOSTS, 1}};
    (void)server;
    return &RULES;
}

static bool known; /* the presented token is valid */
bool tokens_know(struct tokens *tokens, const struct hash *hash, int64_t now, struct caller *ret) {
    (void)tokens, (void)hash, (void)now;
    *ret = (struct caller){.role = ROLE_RUN, .actor = "actor:agent:fuzz", .run = "R_1"};
    return known;
}

bool tokens_of_run(struct tokens *tokens, const char *run, struct caller *ret) {
    (void)tokens, (void)run, (void)ret;
    return false;
}

void conn_authenticated(struct MHD_Connection *connection) {
    (void)connection;
}

const struct route ROUTES[] = {
    {"POST", "/rpc", MAY_ALL, rpc_begin, rpc_answered, NULL},
    {"POST", "/mcp", MAY_ALL, mcp_begin, mcp_answered, mcp_forget},
    {"GET", "/mcp", MAY_ALL, mcp_begin, mcp_answered, mcp_forget},
    {"DELETE", "/mcp", MAY_ALL, mcp_begin, mcp_answered, mcp_forget},
    {"GET", "/healthz", 0, healthz_begin, NULL, NULL},
};
const size_t ROUTE_COUNT = count_of(ROUTES);

static struct MHD_Daemon *server(struct http_server *server) {
    struct MHD_Daemon *http = MHD_start_daemon(
        MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, http_request_handle,
        server, MHD_OPTION_NOTIFY_COMPLETED, http_request_completed, NULL, MHD_OPTION_END);
    must(http != NULL);
    return http;
}

/* ---- one connection ---- */

static void converse(struct http_server *server, const uint8_t *data, size_t size) {
    int ends[2];
    char answer[4096];
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    must(write(ends[0], data, size) == (ssize_t)size);
    shutdown(ends[0], SHUT_WR);
    struct sockaddr address = {.sa_family = AF_UNIX};
    if (MHD_add_connection(server->http, ends[1], &address, sizeof address) != MHD_YES)
        abort();
    for (int i = 0; i < 64; i++) {
        const union MHD_DaemonInfo *info =
            MHD_get_daemon_info(server->http, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
        if (info && info->num_connections == 0)
            break;
        MHD_run(server->http);
        while (recv(ends[0], answer, sizeof answer, MSG_DONTWAIT) > 0) {
        }
    }
    close(ends[0]);
    MHD_run(server->http);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct http_server servers[2] = {{.is_unix = true}, {.is_unix = false}};
    if (!servers[0].http) {
        json_count_memory();
        sessions = context.sessions = sessions_new();
        servers[0].http = server(&servers[0]);
        servers[1].http = server(&servers[1]);
    }
    if (size < 1 || size > 60000)
        return 0;
    known = data[0] & 2;
    converse(&servers[data[0] & 1], data + 1, size - 1);
    return 0;
}
