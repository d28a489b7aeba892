/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares a new worktree before an agent starts there. AUTO-25.
 *
 *   a block of ports ──▶ repo.setup ──▶ repo.on_worktree_ready ──▶ it is ready
 *
 * A failure is reported, and the run does not start; the next try does it all again. A worktree that is not ready has a mark,
 * from before it was created until all of this succeeded: so no agent has been there yet.
 *
 * Both commands inherit the lock of the worktree. If a killed daemon left commands behind, this waits for the last of them,
 * up to its time limit, then ends it. A stop ends the running command, and is done when nothing of it is left. */
#include "base/memory.h"
#include "runs/run.h"
#include "runs/run_log.h"
#include "sandbox/command.h"
#include "sandbox/lockfile.h"
#include "sys/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    PAUSE_MS = 50,
    CLEAR_SECONDS = 5
}; /* between two tries of the lock; for killed processes to exit */

struct readying {
    uv_timer_t timer;
    struct run_table *runs;
    const struct ready_wanted *wanted;
    struct arena *arena;
    struct str objects;
    const char *path; /* of the lock */
    int lock;         /* -1: another process may hold it */
    int64_t until;    /* when to stop waiting for it */
    bool waited, clearing, stopped;
    struct command *command; /* running now */
    ready_made *done;
    void *with;
};

static void timer_closed(uv_handle_t *handle) {
    free(handle->data);
}

static void readying_end(struct readying *it, struct str why) {
    ready_made *done = it->done;
    void *with = it->with;
    it->runs->under_way--;
    if (it->lock >= 0)
        lockfile_drop(it->lock);
    uv_close((uv_handle_t *)&it->timer, timer_closed);
    done(with, why);
}

static struct str ended_text(struct readying *it, const char *setting, int64_t exit,
                             struct str tail) {
    return arena_format(
        it->arena,
        "%s ended with status %lld, so no agent starts in %.*s. Fix it, or remove it "
        "from the settings, and try again. Its output: %.*s",
        setting, (long long)exit, STR_ARG(it->wanted->tree),
        STR_ARG(str_cut_utf8(tail, LIMIT_LINE)));
}

/* The variables that the command gets. */
static uint32_t variables_make(struct readying *it, struct str list[5]) {
    const struct ready_wanted *wanted = it->wanted;
    const struct work_place *place = wanted->place;
    uint32_t count = 0;
    list[count++] = arena_format(it->arena, "OVERSEER_WORKTREE=%.*s", STR_ARG(wanted->tree));
    list[count++] = arena_format(it->arena, "OVERSEER_WORKER=%.*s", STR_ARG(wanted->worker));
    list[count++] = arena_format(it->arena, "OVERSEER_SESSION=%.*s", STR_ARG(wanted->session));
    if (place->port) {
        list[count++] = arena_format(it->arena, "OVERSEER_PORT=%u", place->port);
        list[count++] = arena_format(it->arena, "OVERSEER_PORTS=%u", place->port_count);
    }
    return count;
}

/* H4: sandboxed like checks, with write access to the worktree and nothing of the daemon's environment: both commands
 * run what agents have landed. False: the command may not be run. */
static bool command_begin(struct readying *it, struct str command, command_ended *ended,
                          struct str *ret_why) {
    struct effect effect = {.kind = EFFECT_COMMAND,
                            .goal = it->wanted->goal,
                            .n = it->wanted->dispatch_n,
                            .within = it->wanted->place->within,
                            .command = command};
    struct str variables[5];
    struct check_wanted wanted = {.place = it->wanted->tree,
                                  .objects = it->objects,
                                  .agent = it->wanted->worker,
                                  .network = it->wanted->place->network,
                                  .repository = it->wanted->place->repository,
                                  .goal = it->wanted->goal,
                                  .variables = variables,
                                  .variable_count = variables_make(it, variables)};
    struct command_box box;
    if (!check_box(it->runs, &wanted, it->arena, &box, ret_why))
        return false;
    command_run_boxed(it->runs->loop, &effect, &box, it->lock, &it->command, ended, it);
    return true;
}

static void lock_clear(struct readying *it);

/* Processes that the command left in the background belong to the worktree, unless the command itself was killed. */
static void all_ended(struct readying *it, int64_t exit, struct str why) {
    if (it->stopped) {
        lockfile_drop(it->lock);
        it->lock = -1;
        lock_clear(it);
        return;
    }
    if (exit >= 0) {
        lockfile_give(it->lock);
        it->lock = -1;
    }
    readying_end(it, why);
}

/* ---- the hook ---- */

/* Reports what the command was denied, and removes what its sandbox left. */
static void box_end(struct readying *it) {
    check_denials(it->runs, it->wanted->goal, it->wanted->dispatch_n, it->wanted->tree);
    check_box_clear(it->wanted->tree, it->arena);
}

static void hook_ended(void *with, int64_t exit, struct str tail) {
    struct readying *it = with;
    box_end(it);
    if (exit == 0 && !it->stopped)
        work_place_ready(it->wanted->place, it->arena);
    all_ended(it, exit, exit == 0 ? STR("") : ended_text(it, "repo.on_worktree_ready", exit, tail));
}

static void hook_begin(struct readying *it) {
    struct str why = {0};
    if (it->wanted->place->hook.len == 0)
        hook_ended(it, 0, STR(""));
    else if (!command_begin(it, it->wanted->place->hook, hook_ended, &why))
        all_ended(it, 0, why);
}

/* ---- the set-up ---- */

static void setup_ended(void *with, int64_t exit, struct str tail) {
    struct readying *it = with;
    box_end(it);
    if (exit == 0 && !it->stopped)
        hook_begin(it);
    else
        all_ended(it, exit, ended_text(it, "repo.setup", exit, tail));
}

static void setup_begin(struct readying *it) {
    struct str why = {0};
    if (it->wanted->place->setup.len == 0)
        setup_ended(it, 0, STR(""));
    else if (!command_begin(it, it->wanted->place->setup, setup_ended, &why))
        all_ended(it, 0, why);
}

/* ---- the lock ---- */

static void lock_try(uv_timer_t *timer);

static void lock_again(struct readying *it) {
    if (it->clearing)
        lockfile_clear(it->path);
    uv_timer_start(&it->timer, lock_try, PAUSE_MS, 0);
}

/* The process that holds the lock has used up its time, or was cancelled. */
static void lock_clear(struct readying *it) {
    it->clearing = true;
    it->until = clock_boot() + SECONDS(CLEAR_SECONDS);
    lock_again(it);
}

static void lock_wait(struct readying *it) {
    if (!it->waited && !it->clearing)
        log_run(LEVEL_WARNING, it->wanted,
                "an earlier setup in %.*s is still running; waiting for it",
                STR_ARG(it->wanted->tree));
    it->waited = true;
    if (clock_boot() < it->until)
        lock_again(it);
    else if (!it->clearing)
        lock_clear(it);
    else
        readying_end(it,
                     arena_format(it->arena,
                                  "an earlier setup in %.*s is still running and cannot be stopped",
                                  STR_ARG(it->wanted->tree)));
}

static void lock_try(uv_timer_t *timer) {
    struct readying *it = timer->data;
    it->lock = it->runs->stopping ? -1 : lockfile_take(it->path);
    if (it->runs->stopping)
        readying_end(it, STR("the daemon is stopping"));
    else if (it->lock < 0 && errno == EWOULDBLOCK)
        lock_wait(it);
    else if (it->lock < 0)
        readying_end(it,
                     arena_format(it->arena, "%s cannot be locked: %s", it->path, strerror(errno)));
    else if (it->stopped)
        readying_end(it, STR("it was stopped"));
    else
        setup_begin(it);
}

/* ---- start and stop ---- */

void ready_stop(struct readying *it) {
    it->stopped = true;
    if (it->command)
        command_stop(it->command);
    else
        lock_clear(it);
}

struct readying *ready_make(struct run_table *runs, const struct ready_wanted *wanted,
                            struct arena *arena, ready_made *done, void *with) {
    struct readying *it = memory_new(sizeof *it);
    *it = (struct readying){
        .runs = runs,
        .wanted = wanted,
        .arena = arena,
        .objects = arena_format(arena, "%.*s/objects", STR_ARG(wanted->place->clone)),
        .path = arena_cstr(arena, arena_format(arena, "%.*s.lock", STR_ARG(wanted->tree))),
        .lock = -1,
        .until = clock_boot() + wanted->place->within,
        .done = done,
        .with = with,
        .timer.data = it};
    runs->under_way++;
    uv_timer_init(runs->loop, &it->timer);
    uv_timer_start(&it->timer, lock_try, 0, 0);
    return it;
}
