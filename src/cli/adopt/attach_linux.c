/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches a person's terminal to an agent's terminal, without giving the agent access to the person's terminal.
 *
 * The tmux server belongs to the agent, and a server can make a client run any command. So the client runs in a sandbox
 * that contains nothing but tmux and that one socket, on a pseudo-terminal of our own; bytes are copied both ways
 * between that and the real terminal. */
#include "cli/adopt/attach.h"

#include "base/bytes.h"
#include "cli/child.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t resized;

static void size_changes(int number) {
    (void)number;
    resized = 1;
}

static void size_carry(int to) {
    struct winsize size;
    resized = 0;
    if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0)
        ioctl(to, TIOCSWINSZ, &size);
}

static bool carry(int from, int to) {
    char bytes[4096];
    ssize_t length = read(from, bytes, sizeof bytes);
    for (ssize_t at = 0; at < length;) {
        ssize_t written = write(to, bytes + at, (size_t)(length - at));
        if (written < 0 && errno != EINTR)
            return false;
        at += written > 0 ? written : 0;
    }
    return length > 0 || (length < 0 && errno == EINTR);
}

/* Copies bytes until the other side is gone. */
static void carry_all(int terminal) {
    struct pollfd ends[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                            {.fd = terminal, .events = POLLIN}};
    for (;;) {
        if (resized)
            size_carry(terminal);
        if (poll(ends, count_of(ends), -1) < 0 && errno != EINTR)
            return;
        if (ends[1].revents && !carry(terminal, STDOUT_FILENO))
            return;
        if (ends[0].revents && !carry(STDIN_FILENO, terminal))
            return;
        ends[0].revents = ends[1].revents = 0;
    }
}

/* The sandbox has what a client needs, read only; no network, no other process, nothing from any HOME. */
static void client_exec(const char *bwrap, const char *tmux, const char *socket) {
    const char *term = getenv("TERM"), *lang = getenv("LANG");
    execl(bwrap, "bwrap", "--unshare-all", "--die-with-parent", "--clearenv", "--setenv", "TERM",
          term ? term : "xterm", "--setenv", "LANG", lang ? lang : "C.UTF-8", "--setenv", "PATH",
          "/usr/bin:/bin", "--ro-bind", "/usr", "/usr", "--ro-bind-try", "/bin", "/bin",
          "--ro-bind-try", "/lib", "/lib", "--ro-bind-try", "/lib64", "/lib64", "--ro-bind-try",
          "/etc/ld.so.cache", "/etc/ld.so.cache", "--ro-bind-try", "/etc/terminfo", "/etc/terminfo",
          "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind-try", tmux, tmux,
          "--ro-bind", socket, socket, "--chdir", "/", "--", tmux, "-S", socket, "attach-session",
          (char *)NULL);
    _exit(127);
}

int attach_boxed(const char *bwrap, const char *tmux, const char *socket) {
    struct termios before, raw;
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    int terminal, status = 0;
    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return -1;
    ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
    pid_t child = forkpty(&terminal, NULL, &before, &size);
    if (child < 0)
        return -1;
    if (child == 0)
        client_exec(bwrap, tmux, socket);
    struct sigaction action = {.sa_handler = size_changes};
    sigaction(SIGWINCH, &action, NULL);
    raw = before;
    cfmakeraw(&raw);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    carry_all(terminal);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
    close(terminal);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
