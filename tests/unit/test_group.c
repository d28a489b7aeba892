/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the files of a control group are written and read in the kernel's format. It uses a folder in place of a
 * group, so that the test runs on every machine; tests/e2e/box.py uses a real group where there is one. */
#include "unit/unit.h"

#include "sandbox/group.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void file_set(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void file_is(const char *name, const char *text) {
    char path[128], got[128] = "";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDONLY);
    ssize_t length = fd < 0 ? -1 : read(fd, got, sizeof got - 1);
    close(fd);
    check(length >= 0 && strcmp(got, text) == 0, "%s is %s", name, got);
}

static int folder_make(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/overseer-group-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int folder_remove(void **state) {
    (void)state;
    static const char *const FILES[] = {"memory.max", "memory.swap.max", "cpu.max",
                                        "pids.max",   "memory.events",   "cgroup.kill"};
    char path[128];
    for (size_t i = 0; i < count_of(FILES); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, FILES[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static void test_limits(void **state) {
    (void)state;
    file_set("memory.max", "");
    file_set("memory.swap.max", "");
    file_set("cpu.max", "");
    file_set("pids.max", "");
    assert_true(group_make(folder, (uint64_t[GROUP_LIMITS]){512u << 20, 150, 64}));
    file_is("memory.max", "536870912");
    file_is("memory.swap.max", "0");
    file_is("cpu.max", "150000 100000");
    file_is("pids.max", "64");
}

/* If a limit cannot be set, no group is made. */
static void test_no_controller(void **state) {
    (void)state;
    file_set("cpu.max", "");
    assert_false(group_make(folder, (uint64_t[GROUP_LIMITS]){512u << 20, 0, 0}));
    assert_true(group_make(folder, (uint64_t[GROUP_LIMITS]){0, 50, 0}));
    file_is("cpu.max", "50000 100000");
}

static void test_ran_out(void **state) {
    (void)state;
    assert_false(group_ran_out(folder));
    file_set("memory.events", "low 0\nhigh 0\nmax 12\noom 0\noom_kill 0\noom_group_kill 0\n");
    assert_false(group_ran_out(folder));
    file_set("memory.events", "low 0\nhigh 0\nmax 99\noom 1\noom_kill 1\noom_group_kill 0\n");
    assert_true(group_ran_out(folder));
}

/* A folder that is no control group is not accepted as one. */
static void test_probe(void **state) {
    (void)state;
    struct group_place place;
    group_probe(folder, &place);
    assert_string_equal(place.parent, "");
    assert_false(place.can[GROUP_MEMORY] || place.can[GROUP_CPU] || place.can[GROUP_PROCESSES]);
    assert_string_equal(place.why, "the control group has no controller memory, cpu, pids");
    group_probe("/nowhere/at/all", &place);
    assert_string_equal(place.parent, "");
    check(strstr(place.why, "no control group can be created") != NULL, "%s", place.why);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_limits, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(test_no_controller, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(test_ran_out, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(test_probe, folder_make, folder_remove)};
    return cmocka_run_group_tests_name("group", tests, NULL, NULL);
}
