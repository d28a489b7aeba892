/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/service_manager.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_HANDED = 3, MOST_HANDED = 8 };
static const struct sockaddr_un JOURNAL = {.sun_family = AF_UNIX,
                                           .sun_path = "/run/systemd/journal/socket"};

static struct sockaddr_un manager;
static socklen_t manager_length; /* 0: there is no manager */
static int64_t watchdog_every;
static int handed[MOST_HANDED];
static int handed_count;
static bool in_journal;

/* ---- the environment ---- */

static long long number_in(const char *name) {
    const char *value = getenv(name);
    return value ? strtoll(value, NULL, 10) : 0;
}

static bool is_for_us(const char *name) {
    return !getenv(name) || number_in(name) == getpid();
}

/* "/path", or "@name" in the abstract space. */
static void manager_take(const char *path) {
    size_t length = path ? strlen(path) : 0;
    if (length < 2 || length >= sizeof manager.sun_path || (path[0] != '/' && path[0] != '@'))
        return;
    manager.sun_family = AF_UNIX;
    memcpy(manager.sun_path, path, length + 1);
    if (path[0] == '@')
        manager.sun_path[0] = 0;
    manager_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

static void sockets_take(void) {
    long long count = number_in("LISTEN_FDS");
    if (!getenv("LISTEN_PID") || !is_for_us("LISTEN_PID"))
        return;
    for (int fd = FIRST_HANDED; fd < FIRST_HANDED + count && handed_count < MOST_HANDED; fd++) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        handed[handed_count++] = fd;
    }
}

static void journal_look(void) {
    const char *stream = getenv("JOURNAL_STREAM");
    unsigned long long device, inode;
    struct stat about;
    in_journal = stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
                 fstat(STDERR_FILENO, &about) == 0 && about.st_dev == device &&
                 about.st_ino == inode;
}

/* The variables are cleared, so that processes that we start do not talk to our manager. */
void notify_start(void) {
    manager_take(getenv("NOTIFY_SOCKET"));
    if (is_for_us("WATCHDOG_PID"))
        watchdog_every = number_in("WATCHDOG_USEC");
    sockets_take();
    journal_look();
    static const char *const OURS[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
                                       "LISTEN_FDS",    "LISTEN_PID",    "LISTEN_FDNAMES"};
    for (size_t i = 0; i < sizeof OURS / sizeof OURS[0]; i++)
        unsetenv(OURS[i]);
}

/* ---- notifications ---- */

static bool datagram(const struct sockaddr_un *to, socklen_t to_length, const char *text,
                     size_t length) {
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool sent = fd >= 0 && sendto(fd, text, length, MSG_NOSIGNAL, (const struct sockaddr *)to,
                                  to_length) == (ssize_t)length;
    if (fd >= 0)
        close(fd);
    return sent;
}

static void say(const char *text) {
    if (manager_length > 0)
        datagram(&manager, manager_length, text, strlen(text));
}

void notify_ready(const char *status) {
    char text[512];
    snprintf(text, sizeof text, "READY=1\nSTATUS=%.400s\nMAINPID=%d\n", status, (int)getpid());
    say(text);
}

void notify_reloading(void) {
    struct timespec now;
    char text[96];
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%lld\n",
             (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    say(text);
}

void notify_stopping(void) {
    say("STOPPING=1\nSTATUS=committing waiting writes\n");
}

void notify_alive(void) {
    say("WATCHDOG=1\n");
}

int64_t notify_watchdog_every(void) {
    return watchdog_every;
}

/* ---- sockets and the journal ---- */

static bool fits(int fd, bool of_unix) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    int listens = 0;
    socklen_t size = sizeof listens;
    return getsockname(fd, (struct sockaddr *)&address, &length) == 0 &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens &&
           (address.ss_family == AF_UNIX) == of_unix;
}

int notify_socket(bool of_unix) {
    for (int i = 0; i < handed_count; i++)
        if (handed[i] >= 0 && fits(handed[i], of_unix)) {
            int fd = handed[i];
            handed[i] = -1;
            return fd;
        }
    return -1;
}

bool notify_in_journal(void) {
    return in_journal;
}

bool notify_journal(const char *entry, size_t length) {
    return access(JOURNAL.sun_path, F_OK) == 0 && datagram(&JOURNAL, sizeof JOURNAL, entry, length);
}
