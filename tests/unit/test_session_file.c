/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a Codex session is read as what it is: something that an agent may have written, or replaced. */
#include "unit/unit.h"

#include "runs/run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAY "/.codex/sessions/2026/11/18"
#define FILE_NAME DAY "/rollout-2026-11-18T09-00-00-x.jsonl"

static const char LINE[] =
    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"rate_limits\":{\"primary\":{"
    "\"used_percent\":34,\"window_minutes\":300,\"resets_at\":1794747600}}}}\n";

static char home[64];

static const char *path_of(const char *below) {
    static char path[256];
    snprintf(path, sizeof path, "%s%s", home, below);
    return path;
}

static void home_begin(void) {
    static const char *const FOLDERS[] = {
        "/.codex", "/.codex/sessions", "/.codex/sessions/2026", "/.codex/sessions/2026/11",
        DAY,       "/elsewhere"};
    snprintf(home, sizeof home, "/tmp/overseer-session-XXXXXX");
    assert_non_null(mkdtemp(home));
    for (size_t i = 0; i < count_of(FOLDERS); i++)
        assert_int_equal(mkdir(path_of(FOLDERS[i]), 0700), 0);
}

static void home_end(void) {
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", home);
    assert_int_equal(system(command), 0);
}

static void file_make(const char *below, size_t before, const char *text) {
    FILE *file = fopen(path_of(below), "w");
    assert_non_null(file);
    for (size_t i = 0; i < before; i++)
        fputc(i % 80 == 79 ? '\n' : 'x', file);
    fputs(text, file);
    fclose(file);
}

static bool reads(void) {
    struct quota quota;
    return session_quota_read(home, &quota) && quota.windows[0].used == 3401;
}

static void test_the_newest_file_is_read(void **state) {
    (void)state;
    home_begin();
    assert_false(reads());
    file_make(FILE_NAME, 0, LINE);
    assert_true(reads());
    file_make(FILE_NAME, 80 * 50000, LINE); /* only its end is read */
    assert_true(reads());
    mkdir(path_of("/.codex/sessions/2026/11/19"), 0700);
    file_make("/.codex/sessions/2026/11/19/rollout-2026-11-19T01-00-00-x.jsonl", 0, "{}\n");
    assert_false(reads());
    home_end();
}

static void test_links_are_not_followed(void **state) {
    static const char *const LINKED[] = {FILE_NAME, DAY, "/.codex/sessions/2026",
                                         "/.codex/sessions", "/.codex"};
    (void)state;
    for (size_t i = 0; i < count_of(LINKED); i++) {
        char to[256], command[640];
        home_begin();
        file_make(FILE_NAME, 0, LINE);
        assert_true(reads());
        snprintf(to, sizeof to, "%s", path_of("/elsewhere/moved"));
        snprintf(command, sizeof command, "mv %s %s", path_of(LINKED[i]), to);
        assert_int_equal(system(command), 0);
        assert_int_equal(symlink(to, path_of(LINKED[i])), 0);
        check(!reads(), "%s is followed", LINKED[i]);
        home_end();
    }
}

static void test_what_is_no_file_is_not_read(void **state) {
    (void)state;
    home_begin();
    assert_int_equal(mkfifo(path_of(FILE_NAME), 0600), 0);
    assert_false(reads()); /* and does not wait for a writer */
    assert_int_equal(unlink(path_of(FILE_NAME)), 0);
    assert_int_equal(mkdir(path_of(FILE_NAME), 0700), 0);
    assert_false(reads());
    home_end();
}

static void test_too_many_entries_are_not_read(void **state) {
    (void)state;
    home_begin();
    file_make(FILE_NAME, 0, LINE);
    for (int i = 0; i < 1100; i++) {
        char name[64];
        snprintf(name, sizeof name, DAY "/%d", i);
        file_make(name, 0, "");
    }
    assert_false(reads());
    home_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_newest_file_is_read),
        cmocka_unit_test(test_links_are_not_followed),
        cmocka_unit_test(test_what_is_no_file_is_not_read),
        cmocka_unit_test(test_too_many_entries_are_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
