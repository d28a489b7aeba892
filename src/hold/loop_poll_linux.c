/* SPDX-License-Identifier: Apache-2.0 */
/* Registers file descriptors in the loop; clock, peer and hole punching of Linux. */
#include "base/must.h"
#include "hold/hold.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int64_t loop_now(void) {
    struct timespec at;
    clock_gettime(CLOCK_BOOTTIME, &at);
    return (int64_t)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

/* No events: removes the descriptor from the loop, because a closed end is reported even if no events were requested. */
void loop_poll(struct hold *hold, struct loop_source *polled, uint32_t source, uint32_t events) {
    if (polled->fd < 0 || polled->events == events)
        return;
    struct epoll_event event = {.events = events, .data.u32 = source};
    int verb = !events ? EPOLL_CTL_DEL : polled->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    must(epoll_ctl(hold->loop, verb, polled->fd, &event) == 0);
    polled->events = events;
}

void loop_drop(struct hold *hold, struct loop_source *polled) {
    if (polled->fd < 0)
        return;
    loop_poll(hold, polled, 0, 0);
    close(polled->fd);
    polled->fd = -1;
}

/* An agent has our uid too, and gets no connection: not to its own hold, and not to another. */
bool peer_is_us(int fd) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid() &&
           !process_is_held(peer.pid);
}

void file_punch(int fd, uint64_t from, uint64_t to) {
    /* If the disk does not support this, the log keeps its space longer than necessary. */
    int ignored =
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from));
    (void)ignored;
}
