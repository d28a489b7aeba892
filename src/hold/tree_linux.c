/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the processes below the hold with certainty. A pid alone identifies nothing: it may be reused at any moment.
 *
 * From the top down, each step is proven: P is a child of Q when a pidfd pins P, its stat names Q as parent, and after
 * that was read both P and the pinned Q still existed. So a signal never reaches a process that is not ours. */
#include "base/seam.h"
#include "hold/hold.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int process_open(pid_t pid) {
    return (int)syscall(SYS_pidfd_open, pid, 0); /* close-on-exec */
}

int process_signal(int fd, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0);
}

static bool process_is_there(int fd) {
    return process_signal(fd, 0) == 0 || errno == EPERM;
}

/* ---- /proc ---- */

static bool file_text(const char *path, char *text, size_t room) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, room - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
    return got > 0;
}

struct process {
    char state;
    pid_t parent;
    uint64_t started;
};

/* The name may contain anything; the last parenthesis ends it. */
static bool process_read(pid_t pid, struct process *ret_process) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    const char *at = file_text(path, text, sizeof text) ? strrchr(text, ')') : NULL;
    int parent;
    unsigned long long started;
    struct process process;
    if (!at ||
        sscanf(at + 1,
               " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &process.state, &parent, &started) != 3)
        return false;
    process.parent = parent;
    process.started = started;
    *ret_process = process;
    return true;
}

bool process_started(pid_t pid, uint64_t *ret_started) {
    struct process process;
    if (!process_read(pid, &process))
        return false;
    *ret_started = process.started;
    return true;
}

/* A program file that was replaced while it runs appears as "… (deleted)" here. */
static bool process_is_hold(pid_t pid) {
    char path[64], program[4096];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(path, program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    const char *name = strrchr(program, '/');
    return name && (!strcmp(name, "/overseer-hold") || !strcmp(name, "/overseer-hold (deleted)"));
}

/* 0: none; -1: not known: a process on the way is gone, or there are too many. */
static pid_t hold_above(pid_t pid) {
    struct process process;
    for (unsigned i = 0; i < HOLD_DEPTH && pid > 1; i++, pid = process.parent) {
        if (process_is_hold(pid))
            return pid;
        if (!process_read(pid, &process))
            return -1;
    }
    return pid > 1 ? -1 : 0;
}

bool process_is_held(pid_t pid) {
    pid_t hold = pid > 0 ? hold_above(pid) : 0;
    return pid > 0 && (hold < 0 || hold != hold_above(getppid()));
}

bool boot_read(struct id *ret_boot) {
    char text[64];
    struct id boot = {0};
    size_t digits = 0;
    if (!file_text("/proc/sys/kernel/random/boot_id", text, sizeof text))
        return false;
    for (const char *at = text; *at && digits < 32; at++) {
        const char *digit = strchr("0123456789abcdef", *at);
        if (digit) {
            unsigned value = (unsigned)(digit - "0123456789abcdef");
            boot.bytes[digits / 2] = (uint8_t)((unsigned)boot.bytes[digits / 2] << 4 | value);
            digits++;
        }
    }
    *ret_boot = boot;
    return digits == 32;
}

bool tree_possible(void) {
    return access("/proc/thread-self/children", R_OK) == 0;
}

/* ---- the walk ---- */

/* Stopped, ended, or waiting in the kernel, where a sent signal takes effect before any code of the process runs: a
 * parent between vfork and its child's exec waits there for as long as the child is stopped. */
static const char STILL[] = "DTtZXx";

struct step { /* one process that is proven to be ours */
    pid_t pid;
    int fd; /* -1: this process */
};

struct walk {
    int signal;
    uint32_t moving; /* processes that are still moving */
};

static void step_down(struct walk *walk, const struct step *parent, unsigned depth);

static bool child_is_proven(const struct step *parent, const struct step *child,
                            struct process *ret_process) {
    return process_read(child->pid, ret_process) && ret_process->parent == parent->pid &&
           process_is_there(child->fd) && (parent->fd < 0 || process_is_there(parent->fd));
}

/* Parents first: a stopped or ended process cannot start more. */
static void child_inspect(struct walk *walk, const struct step *parent, pid_t pid, unsigned depth) {
    struct step child = {pid, process_open(pid)};
    struct process process;
    if (child.fd < 0)
        return;
    (void)seam("tree-pinned");
    if (child_is_proven(parent, &child, &process)) {
        if (walk->signal)
            process_signal(child.fd, walk->signal);
        if (!strchr(STILL, process.state))
            walk->moving++;
        if (depth < HOLD_DEPTH)
            step_down(walk, &child, depth + 1);
    }
    close(child.fd);
}

/* Reads the list piece by piece; a number that was cut is read again from its start. */
static void list_each(const char *path, void (*see)(void *with, pid_t pid), void *with) {
    char text[1024];
    off_t from = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    unsigned count = 0;
    while (fd >= 0 && count < HOLD_LISTED) {
        ssize_t got = pread(fd, text, sizeof text - 1, from);
        text[got > 0 ? got : 0] = 0;
        char *end = strrchr(text, ' ');
        if (!end)
            break;
        from += end + 1 - text;
        (void)seam("tree-listed");
        for (char *at = text; at < end; at++, count++)
            see(with, (pid_t)strtol(at, &at, 10));
    }
    if (fd >= 0)
        close(fd);
}

struct child_walk {
    struct walk *walk;
    const struct step *parent;
    unsigned depth;
};

static void child_enter(void *with, pid_t pid) {
    const struct child_walk *of = with;
    child_inspect(of->walk, of->parent, pid, of->depth);
}

/* The kernel lists children under the thread that started them. */
static void step_down(struct walk *walk, const struct step *parent, unsigned depth) {
    char path[320];
    snprintf(path, sizeof path, "/proc/%d/task", (int)parent->pid);
    DIR *threads = opendir(path);
    if (!threads)
        return;
    for (struct dirent *entry; (entry = readdir(threads));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)parent->pid, entry->d_name);
        list_each(path, child_enter, &(struct child_walk){walk, parent, depth});
    }
    closedir(threads);
}

uint32_t tree_signal(int signal) {
    struct walk walk = {.signal = signal};
    struct step self = {getpid(), -1};
    step_down(&walk, &self, 0);
    return walk.moving;
}

/* ---- our own children, at once ---- */

struct kill_pass {
    int signal;
    pid_t own_session, last_group;
};

/* A dead child keeps its pid and its group until we have waited for it: neither number can belong to another process. A
 * group in another session than ours began below us as a whole: every process in a session descends from the one that
 * created it. */
static void child_kill(void *with, pid_t pid) {
    struct kill_pass *kill_pass = with;
    pid_t group = getpgid(pid), session = getsid(pid);
    if (group <= 1 || session <= 0 || session == kill_pass->own_session) {
        kill(pid, kill_pass->signal);
        return;
    }
    if (group != kill_pass->last_group)
        kill(-group, kill_pass->signal);
    kill_pass->last_group = group;
}

void children_signal(int signal) {
    struct kill_pass kill_pass = {.signal = signal, .own_session = getsid(0)};
    list_each("/proc/thread-self/children", child_kill, &kill_pass);
}
