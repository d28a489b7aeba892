/* SPDX-License-Identifier: Apache-2.0 */
/* Runs verify.setup and verify.command in a clean checkout.
 *
 *   target's commit ── setup ──▶ its HOME becomes a cache ─ read-only, copied ─┐
 *   candidate ─────── checkout ──────────────────────────▶ setup ──▶ command ──┴──▶ verdict
 *
 * A cache is filled only from the target's commit. A check sees it read-only and works with a copy that is removed with its
 * checkout, so no candidate changes what a later check finds. */
#pragma once

#include "runs/run.h"

/* ---- check_cache.c ---- */

enum { CACHE_NAME = 64 };

/* A cache that a check may be copying: it is not removed meanwhile. */
struct check_cache {
    struct check_cache *next;
    char name[CACHE_NAME + 1]; /* empty: none */
};

/* On a worker. Names the cache of a commit by how it is checked and which dependencies it has. */
struct git_answer check_cache_name(const struct work_place *place, struct str commit,
                                   struct arena *arena, char ret[CACHE_NAME + 1]);
/* Its folder; empty: there is none. Marks it as used now. */
struct str check_cache_find(const struct work_place *place, const char *name, struct arena *arena);
/* On a worker. Makes a HOME that setup has left into the cache, if it is not too large. */
void check_cache_keep(const struct work_place *place, const char *name, struct str home,
                      struct arena *arena);
/* On the loop. */
void check_cache_hold(struct run_table *runs, struct check_cache *cache);
void check_cache_drop(struct run_table *runs, struct check_cache *cache);
/* On the loop. Takes what is over the limit out of use; the second removes it, on a worker. */
void check_caches_trim(struct run_table *runs, const struct work_place *place, struct arena *arena);
void check_caches_clear(const struct work_place *place, struct arena *arena);

/* ---- check_trial.c ---- */

enum trial_stage { TRIAL_UNSTARTED, TRIAL_SETUP, TRIAL_COMMAND };

/* Setup and command in one checkout. All that it points to lives until `ended` is called, on the loop. */
struct trial {
    struct run_table *runs;
    const struct effect *effect; /* that it belongs to */
    const struct work_place *place;
    struct arena *arena;
    struct str checkout, cache; /* cache: a folder; empty: none */
    int64_t until;              /* boot time */
    bool setup_only;
    void (*ended)(struct trial *trial);
    void *with;

    enum trial_stage stage; /* the last one; UNSTARTED: its sandbox could not be made */
    int64_t exit;           /* as command_ended */
    struct str text;        /* the end of its output, or why it was not started */
};
void trial_begin(struct trial *trial);

/* The same on the target's commit, in a checkout of its own, which is removed again. A setup that succeeds leaves a
 * cache. */
struct target_trial {
    struct trial trial;
    struct str name, commit; /* name: of the checkout */
    void (*ended)(struct target_trial *target);
    void *with;

    uv_work_t work;
    struct check_cache cache;
    struct git_answer answer;
};
void target_begin(struct target_trial *target);

/* ---- check_target.c ---- */

/* What the same commands said about the target's tip. Stored for each repository, in work/targets. */
struct target_verdict {
    struct str commit;
    struct hash digest; /* of how it was checked */
    enum trial_stage stage;
    int64_t exit;
    struct str since; /* the first commit that failed like this; empty: it passes */
    int64_t since_at;
    int64_t at; /* when it was written last */
    struct str text;
};
bool target_verdict_read(const struct work_place *place, struct arena *arena,
                         struct target_verdict *ret);
/* What landed was checked: the target passes. */
void target_landed(struct run_table *runs, const struct work_place *place, struct str commit,
                   struct arena *arena);

/* A candidate has failed: does the target fail, too? */
struct target_check {
    struct run_table *runs;
    const struct effect *effect;
    struct work_place *place;
    struct arena *arena;
    struct str onto, candidate, name, cache;
    enum trial_stage stage; /* in which the candidate has failed */
    void (*ended)(struct target_check *check);
    void *with;

    bool to_blame;   /* the target fails as well, or could not be checked */
    struct str text; /* what fails, and since when, in its first line */

    struct target_trial target;
};
void target_check_begin(struct target_check *check);
/* True: this candidate has failed on a target that fails, and neither has changed. Then `text` is set. */
bool target_still_fails(struct target_check *check);
void failed_checks_free(struct run_table *runs);

/* ---- check_candidate.c ---- */

/* A candidate's checkout, with the cache of the target's commit, which is filled first if there is none. */
struct candidate_check {
    struct trial trial;
    struct str onto; /* the target's commit */
    struct str name; /* of a checkout of it */
    void (*ended)(struct candidate_check *check);
    void *with;

    struct check_cache cache;
    struct target_trial target;
    uv_work_t work;
    int64_t began;
};
void candidate_begin(struct candidate_check *check);
void candidate_again(struct candidate_check *check); /* another checkout, with the same cache */
void candidate_free(struct candidate_check *check);
