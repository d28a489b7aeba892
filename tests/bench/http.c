/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the throughput of the HTTP server.
 *
 *   bench-http ingest NAME SOCKET BARE-STORE STORED CONNECTIONS ROUNDS SECONDS
 *       reports through the daemon at SOCKET, against the same rows written by the bare engine
 *   bench-http reads SOCKET STORED CONNECTIONS ROUNDS SECONDS
 *       goal.show through the daemon, against a handler of libmicrohttpd that answers with the same number of bytes
 *   bench-http send SOCKET IDS CONNECTIONS COUNT
 *       COUNT reports about the goals whose ids are the lines of the file IDS; prints how many seconds that took, and how many were refused
 *
 * Each connection is kept alive and has one request in progress: it sends the next request when the answer has arrived. */
#include "bench/bench.h"
#include "store/sqlite/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 1024, ANSWER = 65536, EVENTS = 256, AT_ONCE = 2000 };

struct line { /* one connection */
    int fd;
    size_t got, wanted; /* bytes of the answer; wanted 0: its head is not complete yet */
    char answer[ANSWER];
};

struct crowd {
    const char *socket;
    int poll;
    uint32_t count;
    struct line *lines;
    uint32_t stored;
    uint64_t random;
    bool reads;
    size_t answer_bytes; /* size of the last answer */
    struct id *goals;    /* used instead of the goals that fill.c makes */
    uint32_t most;       /* requests per run */
    uint32_t refused;    /* requests refused with E_BUSY, where that is allowed */
};

/* ---- one request ---- */

static size_t request_make(struct crowd *crowd, char *to, size_t size) {
    char id[ID_TEXT + 1], body[512];
    uint32_t place = (uint32_t)(bench_random(&crowd->random) % crowd->stored);
    struct id goal = crowd->goals ? crowd->goals[place] : goal_at(place);
    id_format(goal, id);
    int length =
        crowd->reads
            ? snprintf(body, sizeof body,
                       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"goal.show\","
                       "\"params\":{\"goal\":\"goal_%s\"}}",
                       id)
            : snprintf(body, sizeof body,
                       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"goal.report\",\"params\":"
                       "{\"goal\":\"goal_%s\",\"text\":\"parser done, 14 of 31 tests pass\"}}",
                       id);
    return (size_t)snprintf(
        to, size,
        "POST /rpc HTTP/1.1\r\nHost: overseer\r\nContent-Type: application/json\r\n"
        "Content-Length: %d\r\n\r\n%s",
        length, body);
}

static void line_send(struct crowd *crowd, struct line *line) {
    char text[1024];
    size_t length = request_make(crowd, text, sizeof text);
    line->got = line->wanted = 0;
    if (write(line->fd, text, length) != (ssize_t)length)
        bench_fail("door", "a request could not be sent");
}

/* 202: the report is queued for the host that owns the goal; 503: that host has too many. */
static bool head_is_expected(struct crowd *crowd, const char *answer) {
    bool refused = crowd->goals && strncmp(answer, "HTTP/1.1 503", 12) == 0;
    crowd->refused += refused;
    return refused || strncmp(answer, "HTTP/1.1 200", 12) == 0 ||
           (crowd->goals && strncmp(answer, "HTTP/1.1 202", 12) == 0);
}

static void head_look(struct crowd *crowd, struct line *line) {
    line->answer[line->got] = 0;
    char *end = strstr(line->answer, "\r\n\r\n");
    if (!end)
        return;
    char *length = strcasestr(line->answer, "content-length:");
    if (!head_is_expected(crowd, line->answer) || !length || length > end)
        bench_fail("door", line->answer);
    line->wanted = (size_t)(end + 4 - line->answer) + strtoul(length + 15, NULL, 10);
}

/* True: the answer is complete. */
static bool line_read(struct crowd *crowd, struct line *line) {
    ssize_t more = read(line->fd, line->answer + line->got, ANSWER - 1 - line->got);
    if (more <= 0)
        bench_fail("door", "the daemon hung up");
    line->got += (size_t)more;
    if (line->wanted == 0)
        head_look(crowd, line);
    if (line->wanted == 0 || line->got < line->wanted)
        return false;
    crowd->answer_bytes = line->got;
    return true;
}

/* ---- all connections ---- */

static int line_open(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        bench_fail(path, strerror(errno));
    return fd;
}

static struct crowd crowd_open(const char *socket, uint32_t count, uint32_t stored, bool reads) {
    struct crowd crowd = {.socket = socket,
                          .poll = epoll_create1(EPOLL_CLOEXEC),
                          .count = count,
                          .stored = stored,
                          .random = 7,
                          .most = AT_ONCE,
                          .reads = reads};
    crowd.lines = calloc(count, sizeof *crowd.lines);
    if (!crowd.lines || count > MOST_CONNECTIONS)
        bench_fail("door", "too many connections");
    for (uint32_t i = 0; i < count; i++) {
        crowd.lines[i].fd = line_open(socket);
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
        epoll_ctl(crowd.poll, EPOLL_CTL_ADD, crowd.lines[i].fd, &event);
    }
    return crowd;
}

static void crowd_run(void *with) {
    struct crowd *crowd = with;
    uint32_t sent = 0, answered = 0;
    for (; sent < crowd->count && sent < crowd->most; sent++)
        line_send(crowd, &crowd->lines[sent]);
    while (answered < crowd->most) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(crowd->poll, events, EVENTS, 10000);
        if (count <= 0)
            bench_fail("door", "no answer for ten seconds");
        for (int i = 0; i < count; i++) {
            struct line *line = &crowd->lines[events[i].data.u32];
            if (!line_read(crowd, line))
                continue;
            answered++;
            if (sent < crowd->most && ++sent)
                line_send(crowd, line);
        }
    }
}

static void crowd_close(struct crowd *crowd) {
    for (uint32_t i = 0; i < crowd->count; i++)
        close(crowd->lines[i].fd);
    close(crowd->poll);
    free(crowd->lines);
}

/* ---- ingest ---- */

struct bare_side {
    struct herd herd;
    struct store_request request;
    struct arena arena;
    struct bare *bare;
    struct store *checkpoints; /* SQLite only */
};

static void bare_prepare(void *with) {
    struct bare_side *side = with;
    arena_reset(&side->arena);
    herd_commit(&side->herd, &side->request, &side->arena);
}

static void bare_run(void *with) {
    struct bare_side *side = with;
    bare_commit(side->bare, &side->request);
}

/* As many reports as our side sends in one run. */
static void bare_many(void *with) {
    struct bare_side *side = with;
    for (int i = 0; i < AT_ONCE / BENCH_BATCH; i++) {
        bare_run(side);
        bare_prepare(side);
    }
}

static void checkpoint(void *with) {
    struct bare_side *side = with;
    if (side->checkpoints && !sqlite_checkpoint(side->checkpoints))
        bench_fail("checkpoint", "it did not go through");
}

static void ingest(char **argv) {
    char name[64], baseline[64], error[512];
    uint32_t stored = (uint32_t)atoi(argv[3]), connections = (uint32_t)atoi(argv[4]);
    struct crowd crowd = crowd_open(argv[1], connections, stored, false);
    struct bare_side bare = {.bare = bare_open(argv[2]), .herd = herd_make(stored, stored, 3)};
    if (store_address_file(argv[2]))
        bare.checkpoints = store_open(str_of(argv[2]), error, sizeof error);
    snprintf(name, sizeof name, "ingest-%s-%u", argv[0], connections);
    snprintf(baseline, sizeof baseline, "bare %s", argv[0]);
    bare_prepare(&bare);
    contest_run(&(struct contest){.name = name,
                                  .unit = "reports/s",
                                  .baseline = baseline,
                                  .units = AT_ONCE,
                                  .ours = {&crowd, NULL, crowd_run},
                                  .bare = {&bare, NULL, bare_many},
                                  .between = checkpoint,
                                  .between_with = &bare,
                                  .rounds = atoi(argv[5]),
                                  .seconds = atof(argv[6])});
    store_close(bare.checkpoints);
    bare_close(bare.bare);
    herd_free(&bare.herd);
    arena_free(&bare.arena);
    crowd_close(&crowd);
}

/* ---- reads ---- */

struct plain { /* a handler that does nothing but answer */
    char *text;
    size_t length;
};

static enum MHD_Result plain_answer(void *with, struct MHD_Connection *connection, const char *url,
                                    const char *method, const char *version, const char *data,
                                    size_t *size, void **state) {
    (void)url, (void)method, (void)version, (void)data;
    struct plain *plain = with;
    static int seen;
    if (!*state) {
        *state = &seen;
        return MHD_YES;
    }
    if (*size > 0) {
        *size = 0;
        return MHD_YES;
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(plain->length, plain->text, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result result = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return result;
}

/* In a separate process, like the daemon. */
static pid_t plain_start(const char *path, size_t length) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    unlink(path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, MOST_CONNECTIONS) != 0)
        bench_fail(path, strerror(errno));
    pid_t child = fork();
    if (child != 0) {
        close(fd);
        return child;
    }
    struct plain plain = {malloc(length), length};
    memset(plain.text, 'x', length);
    MHD_start_daemon(MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
                     plain_answer, &plain, MHD_OPTION_LISTEN_SOCKET, fd,
                     MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST_CONNECTIONS, MHD_OPTION_END);
    for (;;)
        pause();
}

static void reads(char **argv) {
    char name[64], path[108];
    uint32_t stored = (uint32_t)atoi(argv[1]), connections = (uint32_t)atoi(argv[2]);
    struct crowd ours = crowd_open(argv[0], connections, stored, true);
    crowd_run(&ours);
    snprintf(path, sizeof path, "%.90s.plain", argv[0]);
    pid_t child = plain_start(path, ours.answer_bytes);
    struct crowd bare = crowd_open(path, connections, stored, true);
    snprintf(name, sizeof name, "reads-%u", connections);
    contest_run(&(struct contest){.name = name,
                                  .unit = "reads/s",
                                  .baseline = "a bare libmicrohttpd handler",
                                  .units = AT_ONCE,
                                  .ours = {&ours, NULL, crowd_run},
                                  .bare = {&bare, NULL, crowd_run},
                                  .rounds = atoi(argv[3]),
                                  .seconds = atof(argv[4])});
    crowd_close(&ours);
    crowd_close(&bare);
    kill(child, SIGTERM);
}

/* ---- sending, for tests/bench/hosts.py ---- */

static struct id *ids_read(const char *path, uint32_t *ret_count) {
    FILE *file = fopen(path, "re");
    char line[64];
    uint32_t most = 1 << 20;
    struct id *ids = calloc(most, sizeof *ids);
    if (!file || !ids)
        bench_fail(path, strerror(errno));
    while (*ret_count < most && fgets(line, sizeof line, file))
        if (id_parse((struct str){line, strcspn(line, "\n")}, &ids[*ret_count]))
            ++*ret_count;
    fclose(file);
    if (*ret_count == 0)
        bench_fail(path, "it has no ids");
    return ids;
}

static void send_all(char **argv) {
    uint32_t count = 0;
    struct id *ids = ids_read(argv[1], &count);
    struct crowd crowd = crowd_open(argv[0], (uint32_t)atoi(argv[2]), count, false);
    crowd.goals = ids;
    crowd.most = (uint32_t)atoi(argv[3]);
    double from = bench_seconds();
    crowd_run(&crowd);
    printf("%.6f %u\n", bench_seconds() - from, crowd.refused);
    crowd_close(&crowd);
    free(ids);
}

int main(int argc, char **argv) {
    if (argc == 6 && strcmp(argv[1], "send") == 0) {
        send_all(argv + 2);
        return 0;
    }
    if (argc == 9 && strcmp(argv[1], "ingest") == 0)
        ingest(argv + 2);
    else if (argc == 7 && strcmp(argv[1], "reads") == 0)
        reads(argv + 2);
    else
        bench_fail(
            "door",
            "ingest NAME SOCKET BARE-STORE STORED CONNECTIONS ROUNDS SECONDS, or reads SOCKET STORED CONNECTIONS ROUNDS SECONDS");
    return 0;
}
