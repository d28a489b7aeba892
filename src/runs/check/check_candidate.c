/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a candidate with the cache of the target's commit that it was built on. */
#include "base/seam.h"
#include "runs/check/check.h"
#include "sys/clock.h"

static void tried(struct trial *trial) {
    struct candidate_check *check = trial->with;
    check->ended(check);
}

void candidate_again(struct candidate_check *check) {
    check->trial.ended = tried;
    check->trial.with = check;
    trial_begin(&check->trial);
}

/* The time that filling took is not the candidate's. */
static void cache_known(struct candidate_check *check) {
    check->trial.until += clock_boot() - check->began;
    candidate_again(check);
}

static void filled(struct target_trial *target) {
    struct candidate_check *check = target->with;
    check->trial.cache =
        check_cache_find(check->trial.place, check->cache.name, check->trial.arena);
    cache_known(check);
}

static void fill(struct candidate_check *check) {
    struct target_trial *target = &check->target;
    *target = (struct target_trial){.trial = {.runs = check->trial.runs,
                                              .effect = check->trial.effect,
                                              .place = check->trial.place,
                                              .arena = check->trial.arena,
                                              .setup_only = true},
                                    .name = check->name,
                                    .commit = check->onto,
                                    .ended = filled,
                                    .with = check,
                                    .cache = check->cache};
    target_begin(target);
}

static void cache_name(uv_work_t *work) {
    struct candidate_check *check = work->data;
    struct trial *trial = &check->trial;
    if (check_cache_name(trial->place, check->onto, trial->arena, check->cache.name).result !=
        GIT_DONE)
        check->cache.name[0] = 0;
}

static void cache_named(uv_work_t *work, int status) {
    struct candidate_check *check = work->data;
    if (status != 0 || check->cache.name[0] == 0) {
        cache_known(check);
        return;
    }
    check_cache_hold(check->trial.runs, &check->cache);
    check->trial.cache =
        check_cache_find(check->trial.place, check->cache.name, check->trial.arena);
    if (check->trial.cache.len > 0)
        cache_known(check);
    else
        fill(check);
}

/* Without a sandbox, a check could change a cache that it may read: then there is none. */
void candidate_begin(struct candidate_check *check) {
    const struct work_place *place = check->trial.place;
    check->began = clock_boot();
    check->work.data = check;
    if (place->check_setup.len == 0 || place->cache_most == 0 || check->onto.len == 0 ||
        !check_is_boxed(check->trial.runs))
        candidate_again(check);
    else
        uv_queue_work(check->trial.runs->loop, &check->work, cache_name, cache_named);
}

void candidate_free(struct candidate_check *check) {
    check_cache_drop(check->trial.runs, &check->cache);
}
