/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a slow job in the pool does not keep jobs with other keys waiting, and that a stop ends everything. */
#include "unit.h"

#include "sys/pool.h"

#include <pthread.h>
#include <unistd.h>

struct job {
    struct pool_job job;
    struct pool *pool;
    atomic_int state; /* 1: running, 2: over */
    atomic_bool *go;  /* the job ends when this is true, or when the pool stops */
};

static void job_run(struct pool_job *pooled) {
    struct job *job = (struct job *)(void *)pooled;
    atomic_store(&job->state, 1);
    while (!atomic_load(job->go) && !atomic_load(pool_is_stopping(job->pool)))
        usleep(1000);
    atomic_store(&job->state, 2);
}

static void job_put(struct pool *pool, struct job *job, const char *key, atomic_bool *go) {
    *job = (struct job){.job.run = job_run, .pool = pool, .go = go};
    pool_name(&job->job, (struct id){0}, str_of(key), str_of(key));
    assert_true(pool_put(pool, &job->job));
}

static bool becomes(const struct job *job, int state) {
    for (int i = 0; i < 5000 && atomic_load(&job->state) != state; i++)
        usleep(1000);
    return atomic_load(&job->state) == state;
}

/* H6: one key takes at most two of four threads, however many of its jobs wait. */
static void one_key_does_not_take_every_thread(void **state) {
    (void)state;
    atomic_bool never = false, now = true;
    struct pool *pool = pool_start(4, 2, 100);
    struct job hangs[6], others[20];
    struct pool_view views[16];
    for (size_t i = 0; i < count_of(hangs); i++)
        job_put(pool, &hangs[i], "https://hangs", &never);
    for (size_t i = 0; i < count_of(others); i++)
        job_put(pool, &others[i], "https://well", &now);
    for (size_t i = 0; i < count_of(others); i++)
        assert_true(becomes(&others[i], 2));
    assert_true(becomes(&hangs[1], 1));
    usleep(20000);
    for (size_t i = 2; i < count_of(hangs); i++)
        assert_int_equal(atomic_load(&hangs[i].state), 0);
    assert_int_equal(pool_look(pool, views, count_of(views)), 6);
    for (unsigned i = 0; i < 6; i++) {
        assert_string_equal(views[i].what, "https://hangs");
        assert_int_equal(views[i].running, i < 2);
        assert_true(views[i].since > 0);
    }
    atomic_store(&never, true); /* the jobs that waited for their key run next */
    for (size_t i = 0; i < count_of(hangs); i++)
        assert_true(becomes(&hangs[i], 2));
    pool_free(pool);
}

/* Each job is run once, even one that only waits: its owner learns that it is over. */
static void a_stop_runs_what_waits(void **state) {
    (void)state;
    atomic_bool never = false;
    struct pool *pool = pool_start(2, 1, 4);
    struct job jobs[5], more;
    job_put(pool, &jobs[0], "a", &never);
    assert_true(becomes(&jobs[0], 1));
    for (size_t i = 1; i < count_of(jobs); i++)
        job_put(pool, &jobs[i], "a", &never);
    more = (struct job){.job.run = job_run, .pool = pool, .go = &never};
    assert_false(pool_put(pool, &more.job)); /* four are already waiting */
    pool_stop(pool);
    for (size_t i = 0; i < count_of(jobs); i++)
        assert_int_equal(atomic_load(&jobs[i].state), 2);
    assert_false(pool_put(pool, &more.job));
    pool_free(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_key_does_not_take_every_thread),
                                       cmocka_unit_test(a_stop_runs_what_waits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
