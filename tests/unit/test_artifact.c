/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a file is checked against exactly what a contract says of it, and that the reason for a failure tells how
 * to repair it. On real files. */
#include "unit/unit.h"

#include "lib/proof.h"
#include "runs/artifact/artifact.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64];
static int folder = -1;

static int folder_make(void **state) {
    (void)state;
    snprintf(top, sizeof top, "/tmp/overseer-artifact-XXXXXX");
    if (!mkdtemp(top) || (folder = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        return -1;
    return mkdirat(folder, "in", 0700);
}

static int folder_remove(void **state) {
    (void)state;
    static const char *const FILES[] = {"a", "in/a", "out", "pipe", "loop", "behind"};
    for (size_t i = 0; i < count_of(FILES); i++)
        unlinkat(folder, FILES[i], 0);
    unlinkat(folder, "in", AT_REMOVEDIR);
    close(folder);
    return rmdir(top);
}

static void file_set(const char *name, struct str text) {
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && (text.len == 0 || write(fd, text.at, text.len) == (ssize_t)text.len));
    close(fd);
}

static const int64_t LONG = 60000000;

/* Checked twice: VERIFY-23, the result is the same each time. */
static void says(struct artifact artifact, const char *reason) {
    struct arena arena = {0};
    for (int i = 0; i < 2; i++) {
        struct artifact_check it =
            artifact_check(folder, &artifact, artifact_clock() + LONG, &arena);
        check(str_equal(it.reason, str_of(reason)), "%.*s: \"%.*s\" is not \"%s\"",
              STR_ARG(artifact.path), STR_ARG(it.reason), reason);
        assert_true(it.passed == (reason[0] == 0) && str_equal(it.target, artifact.path));
    }
    arena_free(&arena);
}

#define PATH(text) .path = {text, sizeof(text) - 1}

static void test_it_is_there(void **state) {
    (void)state;
    static const char NO_FILE[] = "it is a symbolic link, or its path contains something that is "
                                  "not a folder; it must be a regular file";
    says((struct artifact){PATH("a")}, "the file does not exist");
    says((struct artifact){PATH("none/a")}, "the file does not exist");
    file_set("a", STR("x"));
    file_set("in/a", STR("x"));
    says((struct artifact){PATH("a")}, "");
    says((struct artifact){PATH("in/a")}, "");
    says((struct artifact){PATH("in")}, "it is not a regular file");
    says((struct artifact){PATH("a/b")}, NO_FILE);
    assert_int_equal(mkfifoat(folder, "pipe", 0600), 0);
    says((struct artifact){PATH("pipe")}, "it is not a regular file");
    assert_int_equal(symlinkat("/etc/passwd", folder, "out"), 0);
    assert_int_equal(symlinkat("a", folder, "loop"), 0);
    assert_int_equal(symlinkat("/etc", folder, "behind"), 0);
    says((struct artifact){PATH("out")}, NO_FILE);
    says((struct artifact){PATH("loop")}, NO_FILE);
    says((struct artifact){PATH("behind/passwd")}, NO_FILE);
    proof_passed("unit", "artifact exists", "VERIFY-04 VERIFY-23 TEST-06");
}

static void test_it_is_long_enough(void **state) {
    (void)state;
    file_set("a", STR(""));
    says((struct artifact){PATH("a")}, "");
    says((struct artifact){PATH("a"), .min_bytes = 100}, "it has 0 bytes, but needs at least 100");
    file_set("a", STR("1234"));
    says((struct artifact){PATH("a"), .min_bytes = 5}, "it has 4 bytes, but needs at least 5");
    says((struct artifact){PATH("a"), .min_bytes = 4}, "");
    proof_passed("unit", "artifact size", "VERIFY-05");
}

static void json_says(struct str text, struct artifact artifact, const char *reason) {
    file_set("a", text);
    artifact.path = STR("a");
    artifact.json = 1;
    says(artifact, reason);
}

static void test_it_is_json(void **state) {
    (void)state;
    static const struct str YES[] = {STR("1"),
                                     STR(" -0.5e+3 "),
                                     STR("\"\\u00e4\\n\\/\""),
                                     STR("[]"),
                                     STR("{}"),
                                     STR("null"),
                                     STR("[[[1]], {\"a\": {}}]"),
                                     STR("\t{\"a\":[true,false]}\r\n"),
                                     STR("\"\\ud800\"")};
    for (size_t i = 0; i < count_of(YES); i++)
        json_says(YES[i], (struct artifact){0}, "");
    static const struct {
        struct str text;
        const char *reason;
    } NO[] = {
        {STR(""), "line 1, column 1: it ends where a value is expected"},
        {STR("[1,\n 2"), "line 2, column 3: a comma or the end of the list is expected here"},
        {STR("[{\"a\": 1"), "line 1, column 9: a comma or the end of an object is expected here"},
        {STR("[\"a"), "line 1, column 4: it ends inside a string"},
        {STR("[\"a\\"), "line 1, column 5: it ends inside a string"},
        {STR("[1,]"), "line 1, column 4: this is not a value"},
        {STR("{\"a\"}"), "line 1, column 5: a colon is expected here"},
        {STR("{a: 1}"), "line 1, column 2: a name in quotes is expected here"},
        {STR("{} {}"), "line 1, column 4: something follows the value"},
        {STR("01"), "line 1, column 2: something follows the value"},
        {STR("1."), "line 1, column 3: a digit is missing"},
        {STR("-"), "line 1, column 2: a digit is missing"},
        {STR("1e"), "line 1, column 3: a digit is missing"},
        {STR("\"\\x\""), "line 1, column 3: unknown escape sequence"},
        {STR("\"\\u12\""), "line 1, column 3: \\u is not followed by four hexadecimal digits"},
        {STR("\"\x01\""), "line 1, column 2: a string contains a control character"},
        {STR("\"\0\""), "line 1, column 2: a string contains a control character"},
        {STR("\"\xff\""), "line 1, column 2: a string is not UTF-8"},
        {STR("\xef\xbb\xbf{}"), "line 1, column 1: this is not a value"},
        {STR("nul"), "line 1, column 1: this is not a value"},
        {STR("[[1}"), "line 1, column 4: a comma or the end of a list is expected here"},
    };
    for (size_t i = 0; i < count_of(NO); i++) {
        char reason[160];
        snprintf(reason, sizeof reason, "it is not valid JSON: %s", NO[i].reason);
        json_says(NO[i].text, (struct artifact){0}, reason);
    }
    file_set("a", STR("{"));
    says((struct artifact){PATH("a")}, ""); /* JSON was not required */
    proof_passed("unit", "artifact JSON", "VERIFY-06");
}

static void test_it_is_bounded(void **state) {
    (void)state;
    static char deep[2 * LIMIT_ARTIFACT_DEPTH + 16];
    size_t most = LIMIT_ARTIFACT_DEPTH;
    memset(deep, '[', most);
    memset(deep + most, ']', most);
    json_says((struct str){deep, 2 * most}, (struct artifact){0}, "");
    memset(deep, '[', sizeof deep);
    json_says((struct str){deep, sizeof deep}, (struct artifact){0},
              "it is not valid JSON: line 1, column 257: it is nested too deeply");
    file_set("a", STR("1"));
    int fd = openat(folder, "a", O_WRONLY | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, LIMIT_ARTIFACT_JSON + 1), 0);
    close(fd);
    says((struct artifact){PATH("a"), .json = 1},
         "it has 16777217 bytes; JSON may have at most 16777216");
    says((struct artifact){PATH("a")}, "");
}

static void test_it_is_a_list(void **state) {
    (void)state;
    struct artifact two = {.min_items = 2};
    json_says(STR("{\"a\": [1, 2]}"), two, "its JSON is not a list, but must be one");
    json_says(STR("[]"), two, "it has 0 items, but needs at least 2");
    json_says(STR("[[1, 2]]"), two, "it has 1 items, but needs at least 2");
    json_says(STR("[1, [2]]"), two, "");
    json_says(STR("[1, 2"), two,
              "it is not valid JSON: line 1, column 6: a comma or the end of the list is expected "
              "here");
    proof_passed("unit", "artifact list", "VERIFY-07");
}

static void test_each_item_has_its_keys(void **state) {
    (void)state;
    static const struct str KEYS[] = {STR("id"), STR("n\xc3\xa4me"), STR("a\"b"),
                                      STR("\xf0\x9f\x98\x80")};
    struct artifact one = {.keys = {KEYS, 1}}, all = {.keys = {KEYS, 4}};
    json_says(STR("[{\"id\": 1}, {\"id\": null, \"x\": {}}]"), one, "");
    json_says(STR("[]"), one, "");
    json_says(STR("{\"id\": 1}"), one, "its JSON is not a list, but must be one");
    json_says(STR("[{\"id\": 1}, {\"idd\": 1}, {}]"), one, "item 1 (from 0) has no \"id\"");
    json_says(STR("[{\"x\": {\"id\": 1}}]"), one, "item 0 (from 0) has no \"id\"");
    json_says(STR("[{\"id\": 1}, 7]"), one,
              "item 1 (from 0) is not an object; each item must be one");
    json_says(STR("[{\"\\u0069d\": 1, \"n\\u00E4me\": 2, \"a\\\"b\": 3, \"\\ud83d\\ude00\": 4}]"),
              all, "");
    json_says(STR("[{\"id\": 1, \"n\\u00E4me\": 2, \"a\\\\b\": 3}]"), all,
              "item 0 (from 0) has no \"a\"b\"");
    json_says(STR("[{\"i\\u0000d\": 1, \"\\ud800\": 2}]"), one, "item 0 (from 0) has no \"id\"");
    proof_passed("unit", "artifact keys", "VERIFY-08");
}

static void test_time_is_bounded(void **state) {
    (void)state;
    struct arena arena = {0};
    struct artifact artifact = {PATH("a")};
    file_set("a", STR("1"));
    struct artifact_check it = artifact_check(folder, &artifact, artifact_clock(), &arena);
    assert_true(!it.passed && str_begins(it.reason, STR("the time for checks was over")));
    arena_free(&arena);
}

/* Whatever path was stored: nothing outside the folder is opened. */
static void test_paths_stay_inside(void **state) {
    (void)state;
    static const struct {
        struct str path;
        const char *says;
    } NO[] = {{STR(""), "no path"},
              {STR("/etc/passwd"), "absolute"},
              {STR("../a"), ".."},
              {STR("in/../../a"), ".."},
              {STR("in/.."), ".."},
              {STR("in/"), "slash"},
              {STR("in//a"), "empty component"},
              {STR("./a"), "empty component or a ."},
              {STR(".git/HEAD"), ".git"}};
    for (size_t i = 0; i < count_of(NO); i++) {
        struct artifact artifact = {.path = NO[i].path};
        const char *broken = artifact_broken(&artifact);
        check(broken && strstr(broken, NO[i].says) && strchr(broken, ';'), "%.*s: %s",
              STR_ARG(NO[i].path), broken ? broken : "taken");
        says(artifact, broken);
    }
    struct str key = STR("id");
    assert_null(artifact_broken(&(struct artifact){PATH("a..b/..c/.gitignore")}));
    assert_non_null(artifact_broken(&(struct artifact){PATH("a"), .min_items = 1}));
    assert_non_null(artifact_broken(&(struct artifact){PATH("a"), .keys = {&key, 1}}));
    assert_null(artifact_broken(
        &(struct artifact){PATH("a"), .json = 1, .min_items = 1, .keys = {&key, 1}}));
}

static void test_what_is_told_beforehand(void **state) {
    (void)state;
    struct arena arena = {0};
    struct str keys[] = {STR("id"), STR("name")};
    struct artifact plain = {PATH("a")}, all = {PATH("a"), 1, 3, {keys, 2}, 9};
    assert_true(str_equal(artifact_text(&plain, &arena), STR("a")));
    assert_true(str_equal(artifact_text(&all, &arena),
                          STR("a, at least 9 bytes, valid JSON, a list of at least 3 items, a list "
                              "of objects with the keys: id, name")));
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_there),
        cmocka_unit_test(test_it_is_long_enough),
        cmocka_unit_test(test_it_is_json),
        cmocka_unit_test(test_it_is_bounded),
        cmocka_unit_test(test_it_is_a_list),
        cmocka_unit_test(test_each_item_has_its_keys),
        cmocka_unit_test(test_time_is_bounded),
        cmocka_unit_test(test_paths_stay_inside),
        cmocka_unit_test(test_what_is_told_beforehand),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
