/* SPDX-License-Identifier: Apache-2.0 */
/* The hold's event loop over signals, one timer, the agent and the clients. When nothing happens, it does not wake up. */
#include "base/must.h"
#include "hold/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
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

/* SIGTERM stops everything; the loss of a terminal is ignored. */
static int signals_open(void) {
    sigset_t heard;
    sigemptyset(&heard);
    sigaddset(&heard, SIGCHLD);
    sigaddset(&heard, SIGTERM);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP}, NULL);
    for (size_t i = 0; i < 5; i++)
        signal((int[]){SIGPIPE, SIGHUP, SIGINT, SIGQUIT, SIGXFSZ}[i], SIG_IGN);
    if (sigprocmask(SIG_SETMASK, &heard, NULL))
        return -1;
    return signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
}

int loop_open(struct hold *hold) {
    hold->loop = epoll_create1(EPOLL_CLOEXEC);
    hold->signals = signals_open();
    hold->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (hold->loop < 0 || hold->signals < 0 || hold->timer < 0)
        return errno;
    loop_poll(hold, &(struct loop_source){hold->signals, 0}, FROM_SIGNAL, EPOLLIN);
    loop_poll(hold, &(struct loop_source){hold->timer, 0}, FROM_TIMER, EPOLLIN);
    return 0;
}

/* The timer may fire early, never late: a later due time is noticed when it fires. */
static void timer_set(struct hold *hold) {
    int64_t due = life_due(hold);
    if (due == 0 || (hold->timer_at != 0 && hold->timer_at <= due))
        return;
    struct itimerspec at = {.it_value = {due / 1000, due % 1000 * 1000000 + 1}};
    must(timerfd_settime(hold->timer, TFD_TIMER_ABSTIME, &at, NULL) == 0);
    hold->timer_at = due;
}

static void timer_fired(struct hold *hold) {
    uint64_t times;
    if (read(hold->timer, &times, sizeof times) < 0)
        return;
    hold->timer_at = 0;
    life_tick(hold, loop_now());
}

static void signals_read(struct hold *hold) {
    struct signalfd_siginfo info;
    while (read(hold->signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo == SIGTERM) {
            hold->leaving = true;
            life_stop(hold, HOLD_LEAVE_MS);
        }
    life_reap(hold);
}

static void event_take(struct hold *hold, uint32_t source, uint32_t events) {
    switch (source) {
    case FROM_SIGNAL: signals_read(hold); break;
    case FROM_TIMER: timer_fired(hold); break;
    case FROM_SERVER: client_accept(hold); break;
    case FROM_OUTPUT: output_take(hold); break;
    case FROM_ERRORS: errors_take(hold); break;
    case FROM_INPUT: input_move(hold); break;
    default: client_event(hold, (int)(source - FROM_CLIENT), events); break;
    }
}

_Noreturn void loop_run(struct hold *hold) {
    for (;;) {
        struct epoll_event events[16];
        timer_set(hold);
        int count = epoll_wait(hold->loop, events, count_of(events), hold->busy ? 0 : -1);
        must(count >= 0 || errno == EINTR);
        for (int i = 0; i < count; i++)
            event_take(hold, events[i].data.u32, events[i].events);
        if (hold->busy)
            life_reap(hold);
        output_settle(hold);
        clients_pump(hold);
        life_settle(hold);
        if (hold->leaving && hold->empty)
            life_leave(hold);
    }
}

/* An agent has our uid too, and gets no connection: not to its own hold, and not to another. */
bool peer_is_us(int fd) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid() &&
           !process_is_held(peer.pid);
}

size_t pipe_room(int fd) {
    int room = fcntl(fd, F_GETPIPE_SZ);
    return room > 0 ? (size_t)room : 0;
}

void file_punch(int fd, uint64_t from, uint64_t to) {
    /* If the disk does not support this, the log keeps its space longer than necessary. */
    int ignored =
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from));
    (void)ignored;
}
