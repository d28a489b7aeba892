/* SPDX-License-Identifier: Apache-2.0 */
/* Determines who is at the other end of a Unix socket, by walking up its parent processes to the first hold. */
#include "http/peer.h"

#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* since Linux 6.5; missing in older headers */
#endif

enum { PARENTS = 256, PROC_PATH = 64, STAT_TEXT = 512 };

/* 0: no visible parent, as for the first process of a namespace; -1: the process is gone. */
static pid_t parent_of(pid_t pid) {
    char path[PROC_PATH], text[STAT_TEXT];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd =
        open(path, O_RDONLY | O_CLOEXEC); /* raw read: identifying a peer must not need memory */
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = 0;
    const char *name_end = strrchr(text, ')'); /* the process name may contain any character */
    return name_end && strlen(name_end) > 4 ? (pid_t)strtol(name_end + 4, NULL, 10) : -1;
}

/* If the executable was replaced while it runs, the link ends in " (deleted)". */
static bool is_hold(pid_t pid) {
    char path[PROC_PATH], program[4096];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(path, program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    const char *name = strrchr(program, '/');
    return name &&
           (strcmp(name, "/overseer-hold") == 0 || strcmp(name, "/overseer-hold (deleted)") == 0);
}

/* The nearest hold above the process. 0: none; -1: unknown, because a parent is gone or there are too many. */
static pid_t hold_above(pid_t pid) {
    for (int i = 0; i < PARENTS && pid > 1; i++) {
        if (is_hold(pid))
            return pid;
        pid = parent_of(pid);
    }
    return pid == 0 || pid == 1 ? 0 : -1;
}

/* A pid may have been reused by now; a pid that a pidfd refers to has not, as long as its process lives. */
static bool is_alive(int pidfd) {
    struct pollfd look = {.fd = pidfd, .events = POLLIN};
    return pidfd >= 0 && poll(&look, 1, 0) == 0;
}

static int peer_pidfd(int fd, pid_t pid) {
    int pidfd = -1;
    socklen_t length = sizeof pidfd;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) == 0)
        return pidfd;
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* The nearest hold above the peer, unless it is also above the daemon. 0: none; -1: unknown. */
static pid_t peer_hold(int fd, struct ucred *ret_peer) {
    socklen_t length = sizeof *ret_peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret_peer, &length) != 0)
        return -1;
    if (ret_peer->pid == 0) /* in a foreign pid namespace: none of our agents is there */
        return 0;
    int pidfd = peer_pidfd(fd, ret_peer->pid);
    pid_t hold = hold_above(ret_peer->pid);
    bool alive = is_alive(pidfd);
    if (pidfd >= 0)
        close(pidfd);
    if (!alive || hold < 0)
        return -1;
    return hold == hold_above(getpid()) ? 0 : hold;
}

enum peer peer_look(int fd, uid_t *ret_uid, pid_t *ret_hold) {
    struct ucred peer;
    pid_t hold = *ret_hold = peer_hold(fd, &peer);
    if (hold < 0)
        return PEER_NOBODY;
    *ret_uid = peer.uid;
    return hold > 0 ? PEER_HELD : PEER_FREE;
}

bool peer_run(int fd, char ret_run[PEER_RUN]) {
    char path[PROC_PATH], folder[4096];
    struct ucred peer;
    pid_t hold = peer_hold(fd, &peer);
    ret_run[0] = 0;
    if (hold <= 0)
        return hold == 0;
    snprintf(path, sizeof path, "/proc/%d/cwd", (int)hold);
    ssize_t length = readlink(path, folder, sizeof folder - 1);
    folder[length > 0 ? length : 0] = 0;
    const char *name = strrchr(folder, '/');
    if (!name || strlen(name + 1) >= PEER_RUN)
        return false;
    memcpy(ret_run, name + 1, strlen(name + 1) + 1);
    return true;
}
