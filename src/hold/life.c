/* SPDX-License-Identifier: Apache-2.0 */
/* Freezes, resumes and ends the processes below the hold, and only when it was told to.
 *
 *   running ──▶ exited (the agent) ──▶ ended (nothing runs, output complete) ──▶ collected
 *      └── stop ──▶ SIGTERM to all, grace period, SIGKILL repeatedly until none is left */
#include "hold/hold.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the end ---- */

static void agent_gone(struct hold *hold, int status) {
    hold->exited = true;
    hold->exit =
        WIFSIGNALED(status) ? 128u + (uint32_t)WTERMSIG(status) : (uint32_t)WEXITSTATUS(status);
    close(hold->agent_fd);
    hold->agent_fd = -1;
    memory_keep(hold, &(struct hold_record){.kind = RECORD_EXIT, .number = hold->exit}, true);
    input_give_up(hold);
}

/* A process that lost its parent becomes our child: no child left means that nothing is left below us. */
static void children_reap(struct hold *hold) {
    int status;
    pid_t pid = 1;
    for (int i = 0; i < HOLD_REAPS && (pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0; i++)
        if (pid == hold->agent && !hold->exited)
            agent_gone(hold, status);
    hold->busy =
        pid > 0; /* they may die faster than we collect them: other events must be handled too */
    if (pid < 0 && errno == ECHILD && !hold->empty) {
        hold->empty = true;
        hold->kill_at = 0;
        hold->frozen_for = 0;
        errors_take(hold);
    }
}

/* Kills only our own children and their groups: a process below one of them becomes our child when that one is dead. It
 * is fast and repeats, because some processes start another and are gone in less time than a walk takes. */
static void life_kill(struct hold *hold) {
    hold->killing = true;
    for (int i = 0; i < HOLD_KILLS && !hold->empty; i++) {
        children_signal(SIGKILL);
        children_reap(hold); /* the fewer are listed, the faster is the next round */
    }
    hold->kill_at = hold->empty ? 0 : loop_now() + HOLD_AGAIN_MS;
}

void life_reap(struct hold *hold) {
    children_reap(hold);
    if (hold->killing && !hold->empty)
        life_kill(hold);
}

void life_stop(struct hold *hold, uint32_t grace_ms) {
    if (hold->empty)
        return;
    if (grace_ms == 0) {
        hold->stopping = true;
        hold->frozen_for = 0;
        life_kill(hold);
        return;
    }
    int64_t kill_at = loop_now() + grace_ms;
    if (!hold->stopping || kill_at < hold->kill_at)
        hold->kill_at = kill_at;
    if (!hold->stopping)
        tree_signal(SIGTERM);
    hold->stopping = true;
    life_thaw(hold, FREEZE_ALL);
    tree_signal(SIGCONT);
}

_Noreturn void life_leave(struct hold *hold) {
    unlink("hold.sock");
    if (hold->options.cgroup)
        cgroup_remove(hold->options.cgroup);
    _exit(0);
}

/* ---- freezing ---- */

/* A signal takes a moment to arrive, and meanwhile another process may start: repeats until a whole walk finds no
 * moving process. */
static uint32_t all_stop(void) {
    children_signal(SIGSTOP);
    uint32_t moving = tree_signal(SIGSTOP);
    for (int i = 0; i < HOLD_FREEZE_TRIES && moving > 0; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        children_signal(SIGSTOP);
        moving = tree_signal(SIGSTOP);
    }
    return moving;
}

static int reason_place(uint32_t reason) {
    return __builtin_ctz(reason);
}

/* Reads the output from before the freeze now: a frozen agent writes nothing. */
uint32_t life_freeze(struct hold *hold, enum freeze_reason reason, uint64_t expires_ms) {
    if (reason == FREEZE_MEASURE && (expires_ms == 0 || expires_ms > FREEZE_MEASURE_MOST_MS))
        expires_ms = FREEZE_MEASURE_MOST_MS;
    hold->frozen_for |= reason;
    hold->frozen_until[reason_place(reason)] = expires_ms ? loop_now() + (int64_t)expires_ms : 0;
    bool by_group = hold->options.cgroup && cgroup_freeze(hold->options.cgroup, true);
    uint32_t moving = by_group ? 0 : all_stop();
    output_take(hold);
    return moving;
}

/* The agent resumes when no reason is left. */
void life_thaw(struct hold *hold, uint32_t reasons) {
    if (!(hold->frozen_for & reasons))
        return;
    hold->frozen_for &= ~reasons;
    if (hold->frozen_for)
        return;
    if (hold->options.cgroup && cgroup_freeze(hold->options.cgroup, false))
        return;
    tree_signal(SIGCONT);
}

/* ---- time ---- */

void life_spoken(struct hold *hold, bool hello) {
    if (hold->options.orphan_at)
        return; /* only a renewal says that the host may continue with the agent */
    if (hold->options.orphan_after)
        hold->spoke_at = loop_now();
    if (hello)
        life_thaw(hold, FREEZE_ORPHAN);
}

/* P10: the host has its lease, and the run is still the current one. The time is absolute: a renewal that arrives late
 * renews nothing. */
void life_renew(struct hold *hold, int64_t until) {
    if (!hold->options.orphan_at)
        return;
    if ((uint64_t)until > hold->options.orphan_at)
        hold->options.orphan_at = (uint64_t)until;
    if ((uint64_t)loop_now() < hold->options.orphan_at)
        life_thaw(hold, FREEZE_ORPHAN);
}

static int64_t orphan_at(const struct hold *hold) {
    const struct hold_options *options = &hold->options;
    if ((hold->frozen_for & FREEZE_ORPHAN) || hold->empty || hold->stopping)
        return 0;
    if (options->orphan_at || !options->orphan_after)
        return (int64_t)options->orphan_at;
    return hold->spoke_at + (int64_t)hold->options.orphan_after * 1000;
}

static int64_t frozen_until(const struct hold *hold, int place) {
    return hold->frozen_for & (1u << place) ? hold->frozen_until[place] : 0;
}

/* A freeze that expires is over whether or not its caller is still alive. */
static void frozen_expire(struct hold *hold, int64_t now) {
    for (int i = 0; i < FREEZE_REASONS; i++) {
        int64_t until = frozen_until(hold, i);
        if (until != 0 && now >= until)
            life_thaw(hold, 1u << i);
    }
}

static bool is_called(const struct hold *hold) {
    for (int i = 0; i < HOLD_CLIENTS; i++)
        if (hold->clients[i].socket.fd >= 0)
            return true;
    return false;
}

/* Everything that it could still report is on disk (docs/hold.md): without a daemon it does not stay forever. */
static int64_t leave_at(const struct hold *hold) {
    return hold->ended_at == 0 ? 0 : hold->ended_at + (int64_t)hold->options.ended_after * 1000;
}

void life_settle(struct hold *hold) {
    if (!hold->ended || is_called(hold))
        hold->ended_at = 0;
    else if (hold->ended_at == 0)
        hold->ended_at = loop_now();
}

static int64_t earlier(int64_t one, int64_t other) { /* 0: never */
    return one == 0 || (other != 0 && other < one) ? other : one;
}

int64_t life_due(const struct hold *hold) {
    int64_t due = earlier(earlier(hold->kill_at, hold->again_at),
                          earlier(orphan_at(hold), hold->output.rest_to));
    due = earlier(due, leave_at(hold));
    for (int i = 0; i < FREEZE_REASONS; i++)
        due = earlier(due, frozen_until(hold, i));
    return due;
}

/* P10: the hold was not renewed in time. The next host may already have begun elsewhere. */
void life_tick(struct hold *hold, int64_t now) {
    if (hold->kill_at != 0 && now >= hold->kill_at)
        life_kill(hold);
    if (hold->again_at != 0 && now >= hold->again_at)
        hold->again_at = 0;
    if (now >= hold->output.rest_to)
        hold->output.rest_to = 0;
    int64_t orphan = orphan_at(hold);
    if (orphan != 0 && now >= orphan)
        life_freeze(hold, FREEZE_ORPHAN, 0);
    frozen_expire(hold, now);
    if (hold->ended_at != 0 && now >= leave_at(hold))
        life_leave(hold);
}
