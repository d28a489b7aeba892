/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the newest complete state is read wherever a write was cut off, and that no more is written than is used. */
#include "unit.h"

#include "sys/slots.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/overseer-slots-XXXXXX";
static char path[64];

static struct str text_of(uint64_t number, size_t length, struct arena *arena) {
    char *at = arena_new(arena, char, length + 1);
    for (size_t i = 0; i < length; i++)
        at[i] = (char)('a' + (number * 7 + i) % 26);
    return (struct str){at, length};
}

static void expect(struct str wanted, uint64_t number) {
    struct arena arena = {0};
    struct slots slots;
    struct str got;
    assert_int_equal(slots_read(&slots, folder, "state", &arena, &got), SLOTS_WHOLE);
    assert_int_equal(slots.number, number);
    assert_true(str_equal(got, wanted));
    arena_free(&arena);
}

static void the_newest_is_read(void **state) {
    (void)state;
    static const size_t LENGTHS[] = {0, 1, 100, 4063, 4064, 4065, 20000, 300, 2 << 20, 10, 65536};
    struct arena arena = {0};
    struct slots slots = {0};
    struct str none;
    unlink(path);
    assert_int_equal(slots_read(&slots, folder, "state", &arena, &none), SLOTS_NONE);
    for (uint64_t i = 0; i < 200; i++) {
        struct str text = text_of(i, LENGTHS[i % count_of(LENGTHS)], &arena);
        assert_true(slots_write(&slots, folder, "state", text));
        expect(text, i + 1);
        if (i % 3 == 0) { /* as after a restart */
            slots = (struct slots){0};
            assert_int_equal(slots_read(&slots, folder, "state", &arena, &none), SLOTS_WHOLE);
        }
    }
    arena_free(&arena);
}

/* The first `bytes` of the new slot are in the file, the rest is unchanged. */
static void cut_off(off_t at, const char *before, const char *after, size_t bytes, size_t length) {
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, before + at, length - (size_t)at, at),
                     (ssize_t)(length - (size_t)at));
    assert_int_equal(pwrite(fd, after + at, bytes, at), (ssize_t)bytes);
    close(fd);
}

static size_t file_get(char *to, size_t room) {
    int fd = open(path, O_RDONLY);
    ssize_t got = read(fd, to, room);
    close(fd);
    return got > 0 ? (size_t)got : 0;
}

static void a_write_that_is_cut_off_leaves_the_one_before(void **state) {
    (void)state;
    enum { LENGTH = 500, SLOT = 32 + LENGTH };
    static char before[8192], after[8192];
    struct arena arena = {0};
    struct slots slots = {0};
    struct str one = text_of(1, LENGTH, &arena), two = text_of(2, LENGTH, &arena);
    unlink(path);
    assert_true(slots_write(&slots, folder, "state", text_of(0, LENGTH, &arena)));
    assert_true(slots_write(&slots, folder, "state", one));
    size_t length = file_get(before, sizeof before);
    assert_true(slots_write(&slots, folder, "state", two));
    assert_int_equal(file_get(after, sizeof after), length);
    off_t at = slots.number % 2 ? (off_t)length / 2 : 0;
    for (size_t bytes = 0; bytes < SLOT; bytes++) {
        cut_off(at, before, after, bytes, length);
        expect(one, 2);
    }
    cut_off(at, before, after, SLOT, length);
    expect(two, 3);
    arena_free(&arena);
}

/* Two damaged slots, or another format, are distinguished from a missing file. */
static void what_is_not_ours_is_told(void **state) {
    (void)state;
    static char all[8192];
    struct arena arena = {0};
    struct slots slots = {0};
    struct str got;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, "another format", 14), 14);
    close(fd);
    assert_int_equal(slots_read(&slots, folder, "state", &arena, &got), SLOTS_OTHER);
    assert_true(str_equal(got, STR("another format")));
    unlink(path);
    assert_true(slots_write(&slots, folder, "state", STR("one")));
    assert_true(slots_write(&slots, folder, "state", STR("two")));
    size_t length = file_get(all, sizeof all);
    all[40] ^= 1;
    fd = open(path, O_WRONLY);
    for (size_t i = 0; i < length; i += length / 2) {
        all[i + 33] ^= 1;
        assert_int_equal(pwrite(fd, all + i, 64, (off_t)i), 64);
    }
    close(fd);
    assert_int_equal(slots_read(&slots, folder, "state", &arena, &got), SLOTS_OTHER);
    arena_free(&arena);
}

/* Many small writes stay within one page of each slot, and a large one does not keep the file large. */
static void only_what_is_used_is_written(void **state) {
    (void)state;
    struct arena arena = {0};
    struct slots slots = {0};
    struct stat about;
    unlink(path);
    assert_true(slots_write(&slots, folder, "state", text_of(0, 2 << 20, &arena)));
    for (int i = 0; i < 10; i++)
        assert_true(slots_write(&slots, folder, "state", text_of(0, 900, &arena)));
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, 8192);
    unlink(path); /* a lost file is created again */
    assert_false(slots_write(&slots, folder, "state", STR("one")));
    assert_true(slots_write(&slots, folder, "state", STR("one")));
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_is_read),
        cmocka_unit_test(a_write_that_is_cut_off_leaves_the_one_before),
        cmocka_unit_test(what_is_not_ours_is_told), cmocka_unit_test(only_what_is_used_is_written)};
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/state", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return failed + (system(command) != 0);
}
