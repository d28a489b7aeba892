/* SPDX-License-Identifier: Apache-2.0 */
/* The hold's event loop over signals, one timer, the agent and the clients. When nothing happens, it does not wake up. */
#include "base/must.h"
#include "hold/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

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

size_t pipe_room(int fd) {
    int room = fcntl(fd, F_GETPIPE_SZ);
    return room > 0 ? (size_t)room : 0;
}
