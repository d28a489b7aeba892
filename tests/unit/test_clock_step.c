/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that steps of the wall clock are detected, while a daemon runs and while none does. Clocks, boots and files are
 * the test's own. */
#include "../../src/sys/clock_step.c"
#include "sys/file_replace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#define HOUR MINUTES(60)
#define DAY (24 * HOUR)
#define YEAR (365 * DAY)

static int64_t wall, boot;
static char boot_name[BOOT_ID + 1];
static char folder[] = "/tmp/overseer-clock-XXXXXX";

int64_t clock_wall(void) {
    return wall;
}
int64_t clock_boot(void) {
    return boot;
}
void boot_id(char text[BOOT_ID + 1]) {
    memcpy(text, boot_name, sizeof boot_name);
}
void random_bytes(void *to, unsigned long count) {
    memset(to, 7, count);
}
void log_line(enum log_level level, const char *file, const struct log_about *about,
              const char *form, ...) {
    (void)level, (void)file, (void)about, (void)form;
}
bool file_replace(const char *where, const char *name, const char *text, size_t length, bool sync) {
    char path[256];
    (void)sync;
    snprintf(path, sizeof path, "%s/%s", where, name);
    FILE *file = fopen(path, "we");
    bool done = file && fwrite(text, 1, length, file) == length;
    return file && fclose(file) == 0 && done;
}

static void pass(int64_t span) {
    wall += span;
    boot += span;
}

/* Lets the daemon live for the span, one minute at a time, so that the file is kept up to date. */
static void live(int64_t span) {
    for (int64_t lived = 0; lived < span; lived += MINUTES(1)) {
        pass(MINUTES(1));
        clock_keep();
    }
}

static void daemon_starts(void) {
    memset(&clocks, 0, sizeof clocks);
    pthread_mutex_init(&clocks.lock, NULL);
    clocks.leapt_at = INT64_MIN;
    clock_open(folder);
}

static void machine_starts(const char *name, int64_t off) {
    snprintf(boot_name, sizeof boot_name, "%-36.36s", name);
    for (char *c = boot_name; *c; c++)
        *c = *c == ' ' ? '-' : *c;
    wall += off;
    boot = SECONDS(20);
}

static int world_make(void **state) {
    char path[256];
    (void)state;
    snprintf(path, sizeof path, "%s/clock", folder);
    unlink(path);
    wall = SECONDS(1790000000);
    machine_starts("first", 0);
    daemon_starts();
    return 0;
}

static void test_first_start(void **state) {
    (void)state;
    assert_int_equal(clock_read().stepped, 0);
    assert_true(clock_is_in_doubt() && !clock_leapt_within(DAY) && clock_calm_for() == 0);
    assert_int_equal(clock_last_step().at, 0);
    assert_int_not_equal(clock_id(), 0);
}

static void test_steps_while_it_runs(void **state) {
    (void)state;
    static const int64_t BY[] = {SECONDS(1), -SECONDS(1), HOUR, -HOUR, YEAR, -YEAR, -3 * YEAR};
    int64_t sum = 0, steady = clock_steady();
    for (size_t i = 0; i < count_of(BY); i++) {
        pass(SECONDS(1));
        wall += BY[i];
        sum += BY[i];
        assert_int_equal(clock_read().stepped, sum);
        assert_int_equal(clock_last_step().by, BY[i]);
        assert_int_equal(clock_last_step().at, wall);
        assert_int_equal(clock_steady() - steady, SECONDS(i + 1));
        assert_int_equal(clock_steady_to_wall(clock_steady()), wall);
    }
    assert_true(clock_leapt_within(MINUTES(1)));
    for (int i = 0; i < 7200; i++) { /* slewing is not a step */
        pass(SECONDS(1));
        wall += 500;
        assert_int_equal(clock_read().stepped, sum);
    }
}

static void test_steps_while_none_runs(void **state) {
    (void)state;
    live(10 * MINUTES(1));
    int64_t steady = clock_steady();
    uint32_t id = clock_id();
    pass(HOUR);
    wall -= YEAR;
    daemon_starts();
    assert_int_equal(clock_read().stepped, -YEAR);
    assert_int_equal(clock_last_step().by, -YEAR);
    assert_int_equal(clock_steady() - steady, HOUR);
    assert_true(clock_id() == id && clock_is_in_doubt() && clock_leapt_within(MINUTES(1)));
    live(MINUTES(1));
    pass(MINUTES(5));
    daemon_starts(); /* no step: the sum is unchanged */
    assert_int_equal(clock_read().stepped, -YEAR);
}

static void test_calm_is_kept(void **state) {
    (void)state;
    live(20 * HOUR);
    daemon_starts();
    live(HOUR);
    assert_true(clock_calm_for() >= 21 * HOUR && !clock_is_in_doubt());
    machine_starts("second", 8 * HOUR); /* switched off for a night */
    daemon_starts();
    assert_int_equal(clock_read().stepped, 0);
    assert_true(clock_calm_for() >= 21 * HOUR && clock_calm_for() < 22 * HOUR &&
                clock_is_in_doubt());
    live(4 * HOUR);
    assert_true(clock_calm_for() >= DAY);
    wall += SECONDS(2);
    clock_read();
    assert_true(clock_calm_for() >= DAY); /* a step, but not a leap */
    wall += SECONDS(200);
    clock_read();
    assert_int_equal(clock_calm_for(), 0);
}

static void test_reboots(void **state) {
    (void)state;
    live(2 * DAY);
    machine_starts("back", -YEAR);
    daemon_starts();
    assert_true(clock_read().stepped <= -YEAR + MINUTES(2) && clock_calm_for() == 0);
    live(2 * DAY);
    machine_starts("off for long", 30 * DAY);
    daemon_starts();
    assert_int_equal(clock_calm_for(), 0);
}

static void test_a_bad_file_is_none(void **state) {
    (void)state;
    live(DAY);
    file_replace(folder, "clock", "1 nonsense\n", 11, false);
    daemon_starts();
    assert_true(clock_read().stepped == 0 && clock_calm_for() == 0 && clock_is_in_doubt());
}

int main(void) {
    assert_non_null(mkdtemp(folder));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_first_start, world_make),
        cmocka_unit_test_setup(test_steps_while_it_runs, world_make),
        cmocka_unit_test_setup(test_steps_while_none_runs, world_make),
        cmocka_unit_test_setup(test_calm_is_kept, world_make),
        cmocka_unit_test_setup(test_reboots, world_make),
        cmocka_unit_test_setup(test_a_bad_file_is_none, world_make),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char path[256];
    snprintf(path, sizeof path, "%s/clock", folder);
    unlink(path);
    rmdir(folder);
    return failed;
}
