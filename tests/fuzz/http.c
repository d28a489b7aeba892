/* SPDX-License-Identifier: Apache-2.0 */
/* Can any bytes that somebody sends to a door hurt it? The daemon's own visit, admission, JSON-RPC, MCP and calls behind
 * the real libmicrohttpd; the store answers that there is no such goal, and takes every write. The first byte says which
 * door it is, and whether the sender has a token; the rest goes down the line as it is. */
#include "daemon/admit.h"
#include "daemon/clock.h"
#include "daemon/door.h"
#include "daemon/facts.h"
#include "daemon/guard.h"
#include "daemon/guest.h"
#include "daemon/health.h"
#include "daemon/log.h"
#include "daemon/mcp.h"
#include "daemon/mcp_session.h"
#include "daemon/peer.h"
#include "daemon/rpc.h"
#include "daemon/spool.h"
#include "daemon/tell.h"
#include "daemon/tempo.h"
#include "daemon/token.h"
#include "ops/json.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- what breaks here breaks the test ---- */

enum guard_result guard_run(void (*call)(void *with), void *with, struct guard_report *ret) {
    (void)ret;
    call(with);
    return GUARD_WHOLE;
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

/* ---- a house with nobody behind it ---- */

static struct keeper keeper;
static struct lookups lookups;
static struct house house = {.keeper = &keeper, .lookups = &lookups};
static struct sessions *sessions;

/* No such goal, one node of that name, one goal that begins like that. */
bool lookups_ask(struct lookups *all, struct lookup *lookup) {
    static struct goal_loaded loaded;
    static struct id found;
    static int deep;
    (void)all;
    must(lookup->request.verb != STORE_NOTHING);
    if (++deep > 8)
        abort(); /* somebody asks for ever */
    struct store_answer answer = {
        .outcome = STORE_DONE, .loaded = &loaded, .found = &found, .found_count = 1};
    lookup->done(lookup, &answer);
    deep--;
    return true;
}

bool queue_put(struct queue *queue, struct input *input) {
    (void)queue;
    must(str_is_text(input->signal.title) && input->signal.title.len <= LIMIT_TITLE);
    must(input->signal.by == WHO_HUMAN || input->signal.by == WHO_AGENT);
    call_written(input);
    return true;
}

const struct policy *ledger_policy(const struct ledger *ledger) {
    static const struct policy POLICY;
    (void)ledger;
    return &POLICY;
}

struct ledger_view keeper_view(struct keeper *of, char trouble[LIMIT_WHY]) {
    (void)of;
    trouble[0] = 0;
    return (struct ledger_view){.joined = true};
}

void keeper_enter_safe(struct keeper *of, struct str why) {
    (void)of, (void)why;
    abort();
}

bool safe_is_on(const struct safe *safe) {
    (void)safe;
    return false;
}

void facts_read(struct house *of, struct op_facts *ret) {
    (void)of;
    *ret = (struct op_facts){.engine = "sqlite"};
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

void tell(struct house *of, struct op_call *call) {
    (void)of;
    op_refuse(call, ERROR_UNKNOWN_METHOD, "%s", "");
}

/* ---- two doors ---- */

struct door {
    bool is_unix;
    struct MHD_Daemon *http;
};

struct house *door_house(const struct door *door) {
    (void)door;
    return &house;
}
bool door_is_unix(const struct door *door) {
    return door->is_unix;
}
bool door_is_for_runs(const struct door *door) {
    (void)door;
    return false;
}
struct tempo *door_tempo(struct door *door) {
    static struct tempo tempo;
    (void)door;
    return &tempo;
}
bool peer_run(int fd, char ret_run[PEER_RUN]) {
    (void)fd;
    ret_run[0] = 0;
    return true;
}
enum peer guest_peer(struct MHD_Connection *connection, uid_t *ret_uid) {
    (void)connection;
    *ret_uid = 1000;
    return PEER_FREE;
}
void guest_moves(struct MHD_Connection *connection, enum guest_state to) {
    (void)connection, (void)to;
}
const char *door_host(const struct door *door) {
    (void)door;
    return "127.0.0.1";
}
uint16_t door_port(const struct door *door) {
    (void)door;
    return 7070;
}
const struct door_rules *door_rules(const struct door *door) {
    static const struct str HOSTS[] = {{"board.example", 13}};
    static const struct door_rules RULES = {.hosts = {HOSTS, 1}, .origins = {HOSTS, 1}};
    (void)door;
    return &RULES;
}

static bool known; /* the token that comes is right */
bool tokens_know(struct tokens *tokens, const struct hash *hash, int64_t now, struct caller *ret) {
    (void)tokens, (void)hash, (void)now;
    *ret = (struct caller){.role = ROLE_RUN, .actor = "actor:agent:fuzz", .run = "R_1"};
    return known;
}

void guest_is_known(struct MHD_Connection *connection) {
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

static struct MHD_Daemon *server(struct door *door) {
    struct MHD_Daemon *http = MHD_start_daemon(
        MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, visit_handle, door,
        MHD_OPTION_NOTIFY_COMPLETED, visit_completed, NULL, MHD_OPTION_END);
    must(http != NULL);
    return http;
}

/* ---- one connection ---- */

static void converse(struct door *door, const uint8_t *data, size_t size) {
    int ends[2];
    char answer[4096];
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    must(write(ends[0], data, size) == (ssize_t)size);
    shutdown(ends[0], SHUT_WR);
    struct sockaddr address = {.sa_family = AF_UNIX};
    if (MHD_add_connection(door->http, ends[1], &address, sizeof address) != MHD_YES)
        abort();
    for (int i = 0; i < 64; i++) {
        const union MHD_DaemonInfo *info =
            MHD_get_daemon_info(door->http, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
        if (info && info->num_connections == 0)
            break;
        MHD_run(door->http);
        while (recv(ends[0], answer, sizeof answer, MSG_DONTWAIT) > 0) {
        }
    }
    close(ends[0]);
    MHD_run(door->http);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct door doors[2] = {{.is_unix = true}, {.is_unix = false}};
    if (!doors[0].http) {
        json_watch();
        sessions = house.sessions = sessions_new();
        doors[0].http = server(&doors[0]);
        doors[1].http = server(&doors[1]);
    }
    if (size < 1 || size > 60000)
        return 0;
    known = data[0] & 2;
    converse(&doors[data[0] & 1], data + 1, size - 1);
    return 0;
}
