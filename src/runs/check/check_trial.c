/* SPDX-License-Identifier: Apache-2.0 */
/* Runs setup and command in a checkout, and fills a cache from the target's commit. */
#include "runs/check/check.h"
#include "sandbox/command.h"
#include "sys/clock.h"

#include <stdlib.h>

/* ---- one checkout ---- */

static void trial_end(struct trial *trial, int64_t exit, struct str text) {
    trial->exit = exit;
    trial->text = arena_copy(trial->arena, text);
    trial->ended(trial);
}

/* The cache is only a help: what of it cannot be copied, setup brings itself. */
static struct str setup_text(const struct trial *trial) {
    if (trial->cache.len == 0)
        return trial->place->check_setup;
    return arena_format(
        trial->arena,
        "cp -a --reflink=auto \"$OVERSEER_CHECK_CACHE/.\" \"$HOME/\" 2>/dev/null\n%.*s",
        STR_ARG(trial->place->check_setup));
}

/* What the operator has named, and where the cache is. */
static const struct str *variables_make(struct trial *trial, uint32_t *ret_count) {
    const struct texts *keys = &trial->place->keys;
    struct str *list = arena_new(trial->arena, struct str, keys->count + 1);
    *ret_count = 0;
    if (trial->cache.len > 0)
        list[(*ret_count)++] =
            arena_format(trial->arena, "OVERSEER_CHECK_CACHE=%.*s", STR_ARG(trial->cache));
    for (uint32_t i = 0; i < keys->count; i++) {
        const char *name = arena_cstr(trial->arena, keys->at[i]), *value = getenv(name);
        if (value)
            list[(*ret_count)++] = arena_format(trial->arena, "%s=%s", name, value);
    }
    return list;
}

static void command_go(struct trial *trial, struct str text, command_ended *ended) {
    int64_t left = trial->until - clock_boot();
    struct effect command = {.kind = EFFECT_COMMAND,
                             .goal = trial->effect->goal,
                             .n = trial->effect->n,
                             .within = left > 0 ? left : 1,
                             .command = text};
    uint32_t variable_count;
    const struct str *variables = variables_make(trial, &variable_count);
    struct check_wanted wanted = {
        .place = trial->checkout,
        .objects = arena_format(trial->arena, "%.*s/objects", STR_ARG(trial->place->clone)),
        .agent = trial->effect->agent,
        .network = trial->place->network,
        .repository = trial->place->repository,
        .goal = trial->effect->goal,
        .variables = variables,
        .variable_count = variable_count,
        .keeps_home = trial->place->check_setup.len > 0,
        .cache = trial->cache};
    struct command_box box;
    struct str why = {0};
    if (check_box(trial->runs, &wanted, trial->arena, &box, &why)) {
        command_run_boxed(trial->runs->loop, &command, &box, -1, NULL, ended, trial);
        return;
    }
    trial->stage = TRIAL_UNSTARTED; /* not the fault of the work */
    trial_end(trial, -1, why);
}

/* Appended: of a long text only the end is kept. */
static struct str ended_text(const struct trial *trial, int64_t exit, struct str tail) {
    const char *setting = trial->stage == TRIAL_SETUP ? "verify.setup" : "verify.command";
    if (exit == 126 || exit == 127)
        return arena_format(
            trial->arena,
            "%.*s\n"
            "(Status %d: a program that %s needs is missing, or the sandbox hides it; the operator can make it visible with sandbox.sees.)",
            STR_ARG(tail), (int)exit, setting);
    if (exit != 0 && trial->stage == TRIAL_SETUP)
        return arena_format(trial->arena, "%.*s\n(verify.setup %s.)", STR_ARG(tail),
                            exit == -2 ? "took too long" : "failed");
    return tail;
}

static void ended(struct trial *trial, int64_t exit, struct str tail) {
    check_denials(trial->runs, trial->effect->goal, trial->effect->n, trial->checkout);
    trial_end(trial, exit, ended_text(trial, exit, tail));
}

static void command_done(void *with, int64_t exit, struct str tail) {
    ended(with, exit, tail);
}

static void command_start(struct trial *trial) {
    trial->stage = TRIAL_COMMAND;
    command_go(trial, trial->place->command, command_done);
}

static void setup_done(void *with, int64_t exit, struct str tail) {
    struct trial *trial = with;
    if (exit != 0 || trial->setup_only)
        ended(trial, exit, tail);
    else
        command_start(trial);
}

void trial_begin(struct trial *trial) {
    if (trial->place->check_setup.len == 0) {
        command_start(trial);
        return;
    }
    trial->stage = TRIAL_SETUP;
    command_go(trial, setup_text(trial), setup_done);
}

/* ---- the target's commit ---- */

static void target_clear(uv_work_t *work) {
    struct target_trial *target = work->data;
    struct trial *trial = &target->trial;
    bool ready = trial->stage == TRIAL_COMMAND || (trial->stage == TRIAL_SETUP && trial->exit == 0);
    bool kept = trial->setup_only && ready && target->cache.name[0];
    if (kept && trial->checkout.len > 0)
        check_cache_keep(trial->place, target->cache.name,
                         check_home(trial->checkout, trial->arena), trial->arena);
    if (trial->checkout.len > 0)
        check_box_clear(trial->checkout, trial->arena);
    git_checkout_remove(&trial->place->context, target->name, trial->arena);
}

static void target_ended(uv_work_t *work, int status) {
    struct target_trial *target = work->data;
    (void)status;
    target->ended(target);
}

static void caches_clear(uv_work_t *work) {
    struct target_trial *target = work->data;
    check_caches_clear(target->trial.place, target->trial.arena);
}

static void target_cleared(uv_work_t *work, int status) {
    struct target_trial *target = work->data;
    (void)status;
    check_caches_trim(target->trial.runs, target->trial.place, target->trial.arena);
    uv_queue_work(target->trial.runs->loop, work, caches_clear, target_ended);
}

static void target_tried(struct trial *trial) {
    struct target_trial *target = trial->with;
    uv_queue_work(trial->runs->loop, &target->work, target_clear, target_cleared);
}

static void target_make(uv_work_t *work) {
    struct target_trial *target = work->data;
    struct trial *trial = &target->trial;
    target->answer = git_checkout_make(&trial->place->context, &trial->place->repo, target->name,
                                       target->commit, trial->arena, &trial->checkout);
}

static void target_made(uv_work_t *work, int status) {
    struct target_trial *target = work->data;
    struct trial *trial = &target->trial;
    trial->until = clock_boot() + trial->place->within;
    if (status == 0 && target->answer.result == GIT_DONE) {
        trial_begin(trial);
        return;
    }
    trial->stage = TRIAL_UNSTARTED;
    trial->exit = -1;
    trial->text = target->answer.why;
    target_tried(trial);
}

void target_begin(struct target_trial *target) {
    target->work.data = target;
    target->trial.ended = target_tried;
    target->trial.with = target;
    uv_queue_work(target->trial.runs->loop, &target->work, target_make, target_made);
}
