/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a log file is bounded, and that every line in it is complete, whichever thread writes. */
#include "unit.h"

#include "ledger/input.h"
#include "sys/log.h"
#include "sys/redaction.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 64 << 10, THREADS = 4, LINES = 2000 };

static char folder[] = "/tmp/overseer-log-XXXXXX";
static char path[64], before[64];

static off_t size_of(const char *name) {
    struct stat about;
    return stat(name, &about) == 0 ? about.st_size : -1;
}

static void *write_lines(void *with) {
    for (int i = 0; i < LINES; i++)
        log_info("line %d of thread %d, and some words that make it longer", i, *(int *)with);
    return NULL;
}

/* The numbers of each thread increase across the two files, and the newest is there. */
static void lines_check(const char *name, int next[THREADS]) {
    char line[512];
    FILE *file = fopen(name, "re");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        int number, thread;
        const char *text = strstr(line, "\"text\":\"line ");
        check(line[0] == '{' && strcmp(line + strlen(line) - 2, "}\n") == 0 && text,
              "not a whole line: %s", line);
        assert_int_equal(sscanf(text, "\"text\":\"line %d of thread %d", &number, &thread), 2);
        check(next[thread] < 0 || number > next[thread], "line %d again", number);
        next[thread] = number;
    }
    fclose(file);
}

static void a_file_is_bounded(void **state) {
    (void)state;
    struct log_options options = {LOG_JSON, LEVEL_INFO, path, MOST};
    pthread_t threads[THREADS];
    int numbers[THREADS], next[THREADS];
    assert_true(log_open(&options));
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        next[i] = -1;
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int last = LINES - 1;
    if (size_of(path) == 0) /* the last line rotated the file: another one goes into the new file */
        log_info("line %d of thread 0", ++last);
    /* Other threads keep writing while one thread rotates the file: a file may exceed the limit, but holds only a part
     * of the more than one megabyte written. */
    assert_in_range(size_of(path), 1, 8 * MOST);
    assert_in_range(size_of(before), MOST / 2, 8 * MOST);
    lines_check(before, next);
    lines_check(path, next);
    int newest = -1;
    for (int i = 0; i < THREADS; i++)
        newest = next[i] > newest ? next[i] : newest;
    assert_int_equal(newest, last);
}

/* The output of the previous daemon counts towards the limit. */
static void a_file_that_is_there_counts(void **state) {
    (void)state;
    struct log_options options = {LOG_JSON, LEVEL_INFO, path, 0};
    assert_true(log_open(&options));
    for (int i = 0; i < LINES; i++)
        log_info("line %d of thread 0, and some words that make it longer", i);
    assert_true(size_of(path) > MOST);
    options.most = MOST;
    assert_true(log_open(&options));
    log_info("line 1 of thread 0");
    assert_true(size_of(path) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_file_is_bounded),
                                       cmocka_unit_test(a_file_that_is_there_counts)};
    if (!mkdtemp(folder) ||
        !redaction_init(NULL, 0)) /* before a second thread exists, as in the daemon */
        return 1;
    snprintf(path, sizeof path, "%s/log", folder);
    snprintf(before, sizeof before, "%s/log.1", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return failed + (system(command) != 0);
}
