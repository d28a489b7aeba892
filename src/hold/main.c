/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a hold: it detaches from its starter, takes the folder, starts the agent, and reports that it runs. */
#include "base/must.h"
#include "hold/hold.h"
#include "hold/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

_Noreturn void must_failed(const char *file, int line, const char *promise) {
    int fd = open("err.log", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        dprintf(fd, "overseer-hold: %s:%d: %s\n", file, line, promise);
    _exit(70); /* the agent dies with us */
}

_Noreturn void memory_exhausted(void) {
    must_failed(__FILE__, __LINE__, "there is memory");
}

/* ---- options ---- */

static const char USAGE[] =
    "overseer-hold --dir RUNDIR [--pty COLSxROWS] [--cap BYTES] [--cwd DIR] [--cgroup DIR]\n"
    "              [--orphan-after SECONDS | --orphan-at BOOTTIME_MS] [--ended-after SECONDS] [--wrapped yes]\n"
    "              -- PROGRAM [ARGUMENT ...]\n"
    "overseer-hold --confine FILE -- PROGRAM [ARGUMENT ...]\n"
    "overseer-hold --proxy FILE -- PROGRAM [ARGUMENT ...]\n";

static bool number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *ret_number) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || *end || end == text || *text == '-' || number < least || number > most)
        return false;
    *ret_number = number;
    return true;
}

static bool size_parse(struct hold_options *options, const char *text) {
    unsigned columns, rows;
    char rest;
    if (sscanf(text, "%5ux%5u%c", &columns, &rows, &rest) != 2 || columns < 1 || rows < 1 ||
        columns > UINT16_MAX || rows > UINT16_MAX)
        return false;
    options->columns = (uint16_t)columns;
    options->rows = (uint16_t)rows;
    return true;
}

static bool option_take(struct hold_options *options, const char *name, const char *value) {
    uint64_t seconds = 0;
    if (!strcmp(name, "--dir"))
        options->dir = value;
    else if (!strcmp(name, "--cwd"))
        options->cwd = value;
    else if (!strcmp(name, "--cgroup"))
        options->cgroup = value;
    else if (!strcmp(name, "--wrapped"))
        options->wrapped = !strcmp(value, "yes");
    else if (!strcmp(name, "--pty"))
        return size_parse(options, value);
    else if (!strcmp(name, "--cap"))
        return number_parse(value, HOLD_CHUNK, INT64_MAX, &options->cap);
    else if (!strcmp(name, "--orphan-after")) {
        if (!number_parse(value, 0, UINT32_MAX, &seconds))
            return false;
        options->orphan_after = (uint32_t)seconds;
    } else if (!strcmp(name, "--ended-after")) {
        if (!number_parse(value, 1, UINT32_MAX, &seconds))
            return false;
        options->ended_after = (uint32_t)seconds;
    } else if (!strcmp(name, "--orphan-at"))
        return number_parse(value, 1, INT64_MAX, &options->orphan_at);
    else
        return false;
    return true;
}

static bool options_read(struct hold_options *options, int argc, char **argv) {
    *options =
        (struct hold_options){.cap = 64 << 20, .cwd_fd = -1, .ended_after = HOLD_ENDED_SECONDS};
    for (int i = 1; i < argc; i += 2) {
        if (!strcmp(argv[i], "--")) {
            options->argv = argv + i + 1;
            return options->dir && options->argv[0];
        }
        if (i + 1 >= argc || !option_take(options, argv[i], argv[i + 1]))
            return false;
    }
    return false;
}

/* ---- taking the folder ---- */

struct trouble {
    const char *what;
    int code; /* errno; 0: none */
};

static struct trouble folder_enter(struct hold_options *options) {
    options->cwd_fd = open(options->cwd ? options->cwd : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (options->cwd_fd < 0)
        return (struct trouble){"cannot enter --cwd", errno};
    if (mkdir(options->dir, 0700) && errno != EEXIST)
        return (struct trouble){"cannot make --dir", errno};
    if (chdir(options->dir))
        return (struct trouble){"cannot enter --dir", errno};
    return (struct trouble){0};
}

/* The socket's name is relative to the folder: its path may be too long for an address. */
static struct trouble socket_open(struct hold *hold) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "hold.sock"};
    hold->server.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink("hold.sock"); /* the folder is ours: we have the lock */
    if (hold->server.fd < 0 || bind(hold->server.fd, (struct sockaddr *)&address, sizeof address) ||
        chmod("hold.sock", 0600) || listen(hold->server.fd, HOLD_CLIENTS))
        return (struct trouble){"cannot listen", errno};
    loop_poll(hold, &hold->server, FROM_SERVER, EPOLLIN);
    return (struct trouble){0};
}

static struct trouble agent_start(struct hold *hold) {
    struct hold_record start = {.kind = RECORD_START,
                                .number = (uint32_t)getpid(),
                                .id = hold->boot,
                                .value = hold->started};
    if (!memory_keep(hold, &start, true))
        return (struct trouble){"cannot write hold.state", errno};
    int code = child_start(hold);
    if (code)
        return (struct trouble){"cannot start the agent", code};
    struct hold_record agent = {.kind = RECORD_AGENT,
                                .number = (uint32_t)hold->agent,
                                .id = hold->boot,
                                .value = hold->agent_started};
    memory_keep(hold, &agent, false);
    loop_poll(hold, &hold->output.pipe, FROM_OUTPUT, EPOLLIN);
    loop_poll(hold, &hold->errors.pipe, FROM_ERRORS, EPOLLIN);
    return (struct trouble){0};
}

static void hold_clear(struct hold *hold, const struct hold_options *options) {
    hold->options = *options;
    hold->output.cap = options->cap;
    hold->output.pipe.fd = hold->errors.pipe.fd = hold->input.pipe.fd = hold->agent_fd = -1;
    hold->input.last = &hold->input.first;
    for (int i = 0; i < HOLD_CLIENTS; i++)
        hold->clients[i].socket.fd = -1;
}

static void hold_undo(struct hold *hold) {
    unlink("hold.sock");
    if (hold->agent > 0)
        waitpid(hold->agent, NULL, 0);
    if (hold->options.cgroup)
        cgroup_remove(hold->options.cgroup);
}

static struct trouble hold_begin(struct hold *hold) {
    if (!tree_possible() || !boot_read(&hold->boot) || !process_started(getpid(), &hold->started))
        return (struct trouble){"/proc does not list child processes", ENOSYS};
    if (prctl(PR_SET_CHILD_SUBREAPER, 1))
        return (struct trouble){"cannot be a subreaper", errno};
    const char *refused = memory_open(hold);
    if (refused)
        return (struct trouble){refused, EBUSY};
    int code = output_open(hold);
    if (!code)
        code = loop_open(hold);
    if (code)
        return (struct trouble){"cannot open its files", code};
    struct trouble trouble = socket_open(hold);
    if (!trouble.code)
        trouble = agent_start(hold);
    if (trouble.code)
        hold_undo(hold);
    hold->spoke_at = loop_now();
    return trouble;
}

/* ---- detaching from the starter ---- */

static struct hold the_hold; /* the only one: a process holds one agent */

/* Keeps nothing of the starter but its environment. */
static void fds_leave(int keep) {
    keep = fcntl(keep, F_DUPFD_CLOEXEC, 4); /* whichever descriptors the starter had closed */
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    must(dup2(keep, 3) == 3);
    must(close_range(4, ~0u, 0) == 0);
    fcntl(3, F_SETFD, FD_CLOEXEC);
}

_Noreturn static void hold_stand(struct hold_options *options, int report) {
    options->umask = umask(077);
    fds_leave(report);
    hold_clear(&the_hold, options);
    struct trouble trouble = folder_enter(&the_hold.options);
    if (!trouble.code)
        trouble = hold_begin(&the_hold);
    if (trouble.code) {
        dprintf(3, "failed: %s: %s\n", trouble.what, strerror(trouble.code));
        _exit(1);
    }
    dprintf(3, "hold %d %llu agent %d %llu\n", (int)getpid(), (unsigned long long)the_hold.started,
            (int)the_hold.agent, (unsigned long long)the_hold.agent_started);
    close(3);
    loop_run(&the_hold);
}

/* Passes on the hold's report; no report: it died before it could send one. */
static int word_pass_on(int from) {
    char text[1024];
    size_t length = 0;
    for (ssize_t got; length < sizeof text; length += (size_t)got) {
        got = read(from, text + length, sizeof text - length);
        if (got < 0 && errno == EINTR)
            got = 0;
        else if (got <= 0)
            break;
    }
    if (length == 0)
        length = (size_t)snprintf(text, sizeof text, "failed: it died at its start\n");
    if (write(1, text, length) != (ssize_t)length)
        return 1;
    return length > 5 && !memcmp(text, "hold ", 5) ? 0 : 1;
}

int main(int argc, char **argv) {
    struct hold_options options;
    int report[2];
    if (argc == 2 && !strcmp(argv[1], "--version"))
        return printf("overseer-hold %s\n", OVERSEER_VERSION) < 0;
    if (argc > 4 && !strcmp(argv[1], "--confine") && !strcmp(argv[3], "--"))
        return confine_main(argv[2], argv + 4);
    if (argc > 4 && !strcmp(argv[1], "--proxy") && !strcmp(argv[3], "--"))
        return proxy_main(argv[2], argv + 4);
    if (!options_read(&options, argc, argv)) {
        fputs(USAGE, stderr);
        return 2;
    }
    if (pipe2(report, O_CLOEXEC)) {
        perror("overseer-hold");
        return 1;
    }
    pid_t between = fork();
    if (between == 0) {
        setsid();
        pid_t last = fork();
        if (last == 0)
            hold_stand(&options, report[1]);
        _exit(last < 0);
    }
    close(report[1]);
    waitpid(between, NULL, 0);
    return word_pass_on(report[0]);
}
