/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the agent with pipes or a terminal, in its own session, so that it dies with its hold. */
#include "hold/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

struct ends {         /* the child's ends */
    int in, out, err; /* the same descriptor for a terminal */
    int report;       /* receives errno if exec fails; a successful exec closes it */
};

/* Our ends do not block, the child's do. */
static int pipe_make(int *ret_ours, int *ret_theirs, bool we_write) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return errno;
    *ret_ours = ends[we_write];
    *ret_theirs = ends[!we_write];
    return fcntl(*ret_ours, F_SETFL, O_NONBLOCK) ? errno : 0;
}

static int pipes_make(struct hold *hold, struct ends *ends) {
    int code = pipe_make(&hold->input.pipe.fd, &ends->in, true);
    if (!code)
        code = pipe_make(&hold->output.pipe.fd, &ends->out, false);
    hold->output.rests = !code && pipe_room(ends->out) >= HOLD_CHUNK;
    if (!code)
        code = pipe_make(&hold->errors.pipe.fd, &ends->err, false);
    return code;
}

static int terminal_make(struct hold *hold, struct ends *ends) {
    struct winsize size = {.ws_col = hold->options.columns, .ws_row = hold->options.rows};
    char name[64];
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (master < 0)
        return errno;
    if (grantpt(master) || unlockpt(master) || ptsname_r(master, name, sizeof name) ||
        ioctl(master, TIOCSWINSZ, &size))
        return errno;
    int slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0)
        return errno;
    *ends = (struct ends){slave, slave, slave, ends->report};
    hold->output.pipe.fd = master;
    hold->input.pipe.fd = fcntl(master, F_DUPFD_CLOEXEC, 0);
    return hold->input.pipe.fd < 0 ? errno : 0;
}

void signals_reset(void) {
    sigset_t none;
    for (int n = 1; n < NSIG; n++)
        signal(n, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The daemon has a higher limit for itself. Programs that need more than usual raise theirs. */
static void files_reset(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur <= HOLD_AGENT_FILES)
        return;
    files.rlim_cur = HOLD_AGENT_FILES;
    setrlimit(RLIMIT_NOFILE, &files);
}

/* A wrapper ignores stop signals: it ends when the wrapped program has ended, and reports how. */
static void wrapper_shield(void) {
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
}

/* If the hold died before the death signal was set, the signal would never be sent. */
static int leash_put(pid_t hold) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL))
        return errno;
    return getppid() == hold ? 0 : ESRCH;
}

static int stdio_put(const struct hold *hold, const struct ends *ends) {
    if (dup2(ends->in, 0) < 0 || dup2(ends->out, 1) < 0 || dup2(ends->err, 2) < 0)
        return errno;
    return hold->options.columns && ioctl(0, TIOCSCTTY, 0) ? errno : 0;
}

static int place_take(const struct hold *hold) {
    if (hold->options.cgroup) {
        int code = cgroup_enter(hold->options.cgroup);
        if (code)
            return code;
    }
    return hold->options.cwd_fd >= 0 && fchdir(hold->options.cwd_fd) ? errno : 0;
}

/* When memory runs out, the agent is killed before the daemon and before its hold. If the score cannot be raised, it
 * stays as it is. */
static void oom_raise(void) {
    enum { MORE = 500, MOST = 1000 };
    char text[32] = "";
    int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    long score = strtol(text, NULL, 10) + MORE;
    int more = snprintf(text, sizeof text, "%ld", score > MOST ? (long)MOST : score);
    ssize_t ignored = length > 0 ? pwrite(fd, text, (size_t)more, 0) : 0;
    (void)ignored;
    if (fd >= 0)
        close(fd);
}

_Noreturn static void child_become(const struct hold *hold, const struct ends *ends, pid_t parent) {
    setsid();
    umask(hold->options.umask);
    int code = leash_put(parent);
    if (!code)
        code = stdio_put(hold, ends);
    if (!code)
        code = place_take(hold);
    if (!code) {
        signals_reset();
        files_reset();
        oom_raise();
        if (hold->options.wrapped)
            wrapper_shield();
        execvp(hold->options.argv[0], hold->options.argv);
        code = errno;
    }
    ssize_t ignored = write(ends->report, &code, sizeof code);
    (void)ignored;
    _exit(127);
}

static int exec_wait(int report) {
    int code = 0;
    ssize_t got;
    do
        got = read(report, &code, sizeof code);
    while (got < 0 && errno == EINTR);
    close(report);
    return got == (ssize_t)sizeof code ? code : 0;
}

static void ends_close(const struct ends *ends) {
    close(ends->in);
    if (ends->out != ends->in) {
        close(ends->out);
        close(ends->err);
    }
    close(ends->report);
}

int child_start(struct hold *hold) {
    struct ends ends = {-1, -1, -1, -1};
    int report;
    int code = pipe_make(&report, &ends.report, false);
    if (!code)
        code = fcntl(report, F_SETFL, 0) ? errno : 0;
    if (!code)
        code = hold->options.columns ? terminal_make(hold, &ends) : pipes_make(hold, &ends);
    if (code)
        return code;
    pid_t self = getpid();
    hold->agent = fork();
    if (hold->agent == 0)
        child_become(hold, &ends, self);
    code = hold->agent < 0 ? errno : 0;
    ends_close(&ends);
    if (code)
        return code;
    hold->agent_fd = process_open(hold->agent);
    process_started(hold->agent, &hold->agent_started);
    return exec_wait(report);
}
