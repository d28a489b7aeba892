/* SPDX-License-Identifier: Apache-2.0 */
/* Steps the real driver. Each lane performs its requests in its own thread. At the seam before each statement it
 * flushes what it has sent so far and waits for permission to continue. Completed statements are read from the socket
 * by peeking; lock waits are read from pg_locks. */
#include "rc/rc.h"

#include "base/seam.h"
#include "store/postgres/postgres_state.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static _Thread_local struct lane *this_lane;

/* ---- in the lane's thread ---- */

static void flush(struct lane *lane) {
    PGconn *connection = ((struct pg_store *)lane->store)->connection;
    lane->socket = PQsocket(connection);
    lane->pid = PQbackendPID(connection);
    if (lane->reached == 0)
        return;
    must(PQsendFlushRequest(connection));
    while (PQflush(connection) == 1)
        usleep(50);
}

static void hold(struct lane *lane) {
    pthread_mutex_lock(&lane->lock);
    lane->reached++;
    pthread_cond_broadcast(&lane->moved);
    while (lane->allowed < lane->reached && lane->reached <= lane->statements && !lane->loose)
        pthread_cond_wait(&lane->moved, &lane->lock);
    pthread_mutex_unlock(&lane->lock);
}

bool seam(const char *name) {
    struct lane *lane = this_lane;
    if (!lane)
        return false;
    if (strcmp(name, "query") == 0) {
        flush(lane);
        hold(lane);
    } else if (strcmp(name, "sent") == 0) {
        pthread_mutex_lock(&lane->lock);
        lane->sent = true;
        pthread_cond_broadcast(&lane->moved);
        pthread_mutex_unlock(&lane->lock);
    }
    return false;
}

static void *lane_run(void *at) {
    struct lane *lane = this_lane = at;
    pthread_mutex_lock(&lane->lock);
    for (;;) {
        while (!lane->closing && (!lane->request || lane->done))
            pthread_cond_wait(&lane->moved, &lane->lock);
        if (lane->closing)
            break;
        pthread_mutex_unlock(&lane->lock);
        store_perform(lane->store, lane->request, &lane->answer, &lane->arena);
        pthread_mutex_lock(&lane->lock);
        lane->done = true;
        pthread_cond_broadcast(&lane->moved);
    }
    pthread_mutex_unlock(&lane->lock);
    return NULL;
}

/* ---- for the scheduler ---- */

/* Here the scheduler decides how long a session waits, however slow the machine is. */
static void timeout_set(struct pg_store *store) {
    must(PQexitPipelineMode(store->connection));
    must(pg_execute(store, "SET idle_in_transaction_session_timeout = 0; SET statement_timeout = 0;"
                           "SET lock_timeout = 0"));
    must(PQenterPipelineMode(store->connection));
}

void lane_open(struct lane *lane, const char *uri) {
    char error[512] = "";
    *lane = (struct lane){.socket = -1};
    pthread_mutex_init(&lane->lock, NULL);
    pthread_cond_init(&lane->moved, NULL);
    lane->store = store_open(str_of(uri), error, sizeof error);
    must(lane->store != NULL);
    /* connects, and creates the day's partitions: doing it later would wait for the other lanes */
    store_perform(lane->store,
                  &(struct store_request){.verb = STORE_POLL, .self.host = 1, .at = RC_AT},
                  &lane->answer, &lane->arena);
    must(lane->answer.outcome == STORE_DONE);
    timeout_set((struct pg_store *)lane->store);
    must(pthread_create(&lane->thread, NULL, lane_run, lane) == 0);
}

void lane_close(struct lane *lane) {
    pthread_mutex_lock(&lane->lock);
    lane->closing = true;
    pthread_cond_broadcast(&lane->moved);
    pthread_mutex_unlock(&lane->lock);
    pthread_join(lane->thread, NULL);
    store_close(lane->store);
    arena_free(&lane->arena);
}

static void wait_for(struct lane *lane, int reached) {
    while (!lane->done && !lane->sent && lane->reached < reached)
        pthread_cond_wait(&lane->moved, &lane->lock);
}

void lane_ask(struct lane *lane, const struct store_request *request, int statements) {
    pthread_mutex_lock(&lane->lock);
    lane->statements = statements;
    lane->allowed = lane->reached = 0;
    lane->sent = lane->done = lane->loose = lane->blocked = lane->deadlock = false;
    lane->request = request;
    pthread_cond_broadcast(&lane->moved);
    wait_for(lane, 1);
    pthread_mutex_unlock(&lane->lock);
}

void lane_send(struct lane *lane) {
    pthread_mutex_lock(&lane->lock);
    lane->allowed++;
    pthread_cond_broadcast(&lane->moved);
    wait_for(lane, lane->allowed + 1);
    pthread_mutex_unlock(&lane->lock);
}

void lane_drain(struct lane *lane) {
    pthread_mutex_lock(&lane->lock);
    lane->loose = true;
    pthread_cond_broadcast(&lane->moved);
    while (lane->request && !lane->done)
        pthread_cond_wait(&lane->moved, &lane->lock);
    pthread_mutex_unlock(&lane->lock);
}

void lane_idle(struct lane *lane) {
    pthread_mutex_lock(&lane->lock);
    lane->request = NULL;
    arena_reset(&lane->arena);
    pthread_mutex_unlock(&lane->lock);
}

/* ---- completed statements of the server ---- */

/* A message is a type, a length that includes itself, and the rest. One C for each statement, or a single E. */
static int completions(struct lane *lane) {
    static char bytes[1 << 20];
    ssize_t got = recv(lane->socket, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
    int count = 0;
    for (ssize_t at = 0; at + 5 <= got;) {
        uint32_t length;
        memcpy(&length, bytes + at + 1, sizeof length);
        ssize_t size = (ssize_t)ntohl(length) + 1;
        if (at + size > got)
            break;
        if (bytes[at] == 'E')
            lane->deadlock |= memmem(bytes + at, (size_t)size, "40P01", 5) != NULL;
        count += bytes[at] == 'C' || bytes[at] == 'E';
        at += size;
    }
    return count;
}

static bool lane_finished(struct lane *lane) {
    pthread_mutex_lock(&lane->lock);
    bool idle = !lane->request, done = lane->done, sent = lane->sent;
    int allowed = lane->allowed;
    pthread_mutex_unlock(&lane->lock);
    if (done && lane->answer.error.len > 0)
        lane->deadlock |=
            memmem(lane->answer.error.at, lane->answer.error.len, "deadlock", 8) != NULL;
    if (idle || done)
        return true;
    return !sent && completions(lane) >= allowed;
}

static bool pid_waits(const PGresult *pids, int pid) {
    for (int i = 0; i < PQntuples(pids); i++)
        if (atoi(PQgetvalue(pids, i, 0)) == pid)
            return true;
    return false;
}

/* True if every lane that was unfinished before one look at the lock table waits there: then no session runs, and
 * nothing moves. */
static bool settled(PGconn *monitor, struct lane *lanes, uint32_t count) {
    bool unfinished = false, rest = true;
    for (uint32_t i = 0; i < count; i++) {
        lanes[i].blocked = !lane_finished(&lanes[i]);
        unfinished |= lanes[i].blocked;
    }
    if (!unfinished)
        return true;
    PGresult *pids = PQexecPrepared(monitor, "waiting", 0, NULL, NULL, NULL, 0);
    must(PQresultStatus(pids) == PGRES_TUPLES_OK);
    for (uint32_t i = 0; i < count; i++)
        rest = rest && (!lanes[i].blocked || pid_waits(pids, lanes[i].pid));
    PQclear(pids);
    return rest;
}

static int64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

bool lanes_settle(PGconn *monitor, struct lane *lanes, uint32_t count) {
    for (int64_t began = now_us(); now_us() - began < 10000000; usleep(40))
        if (settled(monitor, lanes, count))
            return true;
    return false;
}
