/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a freeze is recorded even when nothing more can be written, and that the size of a folder is counted
 * correctly. */
#include "unit.h"

#include "runs/brake_file.h"
#include "sys/space.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/overseer-brake-XXXXXX";

static struct brake_slot *note(struct brake_file *file, uint8_t name) {
    struct brake_slot *slot = brake_file_free(file);
    assert_non_null(slot);
    *slot = (struct brake_slot){.state = BRAKE_FROZEN,
                                .cause = BRAKE_SIZE,
                                .run.bytes = {name},
                                .goal.bytes = {9},
                                .assignment = 3,
                                .number = 4,
                                .at = 1700000000000000,
                                .bytes = 1ull << 40,
                                .free = 77};
    assert_true(brake_file_keep(file, slot));
    return slot;
}

static bool same(const struct brake_slot *a, const struct brake_slot *b) {
    return a->state == b->state && a->cause == b->cause && a->reported == b->reported &&
           id_equal(a->run, b->run) && id_equal(a->goal, b->goal) &&
           a->assignment == b->assignment && a->number == b->number && a->at == b->at &&
           a->bytes == b->bytes && a->free == b->free;
}

static off_t size_of_file(const char *path) {
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_blocks * 512;
}

/* A noted freeze is there after a restart, and noting it needs no new disk block. */
static void a_freeze_is_kept(void **state) {
    (void)state;
    struct brake_file file, again;
    char path[64];
    snprintf(path, sizeof path, "%s/brake", folder);
    assert_true(brake_file_open(&file, folder));
    off_t before = size_of_file(path);
    struct brake_slot *one = note(&file, 1), *two = note(&file, 2);
    two->reported = true;
    assert_true(brake_file_keep(&file, two));
    assert_int_equal(size_of_file(path), before);
    assert_true(brake_file_open(&again, folder));
    assert_true(same(brake_file_find(&again, one->run), one));
    assert_true(same(brake_file_find(&again, two->run), two));
    assert_null(brake_file_find(&again, (struct id){.bytes = {3}}));
    *one = (struct brake_slot){0};
    assert_true(brake_file_keep(&file, one));
    brake_file_close(&again);
    assert_true(brake_file_open(&again, folder));
    assert_null(brake_file_find(&again, (struct id){.bytes = {1}}));
    brake_file_close(&again);
    brake_file_close(&file);
}

/* Half a block, or one with any bit flipped, is read as empty, and never as another run's. */
static void a_torn_note_is_none(void **state) {
    (void)state;
    struct brake_file file;
    char path[64];
    snprintf(path, sizeof path, "%s/brake", folder);
    for (int bit = 0; bit < 128 * 8; bit += 7) {
        unlink(path);
        assert_true(brake_file_open(&file, folder));
        note(&file, 1);
        unsigned char byte;
        assert_int_equal(pread(file.fd, &byte, 1, bit / 8), 1);
        byte ^= (unsigned char)(1u << (bit % 8));
        assert_int_equal(pwrite(file.fd, &byte, 1, bit / 8), 1);
        brake_file_close(&file);
        assert_true(brake_file_open(&file, folder));
        assert_null(brake_file_find(&file, (struct id){.bytes = {1}}));
        brake_file_close(&file);
    }
}

static void file_make(const char *name, size_t size) {
    char path[128];
    static char bytes[1 << 20];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    memset(bytes, 'x', sizeof bytes);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

/* Links are not followed; a walk that reaches its limit of entries says that it was cut. */
static void a_folder_is_counted(void **state) {
    (void)state;
    char path[128], link[128];
    snprintf(path, sizeof path, "%s/sized", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(link, sizeof link, "%s/sized/up", folder);
    assert_int_equal(symlink("/usr", link), 0);
    file_make("sized/a", 1 << 20);
    snprintf(link, sizeof link, "%s/sized/below", folder);
    assert_int_equal(mkdir(link, 0700), 0);
    file_make("sized/below/b", 1 << 20);
    struct space_walk walk = {.entries = 1000};
    uint64_t bytes = space_of(path, &walk);
    check(bytes >= 2 << 20 && bytes < 3 << 20 && !walk.cut, "%llu", (unsigned long long)bytes);
    walk = (struct space_walk){.entries = 2};
    space_of(path, &walk);
    assert_true(walk.cut);
    assert_int_equal(space_of("/there is no such folder", &walk), 0);
}

/* A released reserve is really free, and can be made again. */
static void the_reserve(void **state) {
    (void)state;
    struct ballast ballast;
    ballast_open(&ballast, folder, 64ull << 20);
    assert_int_equal(ballast.size, 8 << 20);
    if (!ballast_make(&ballast)) {
        assert_true(ballast.cannot);
        skip();
    }
    assert_true(size_of_file(ballast.path) >= 8 << 20);
    assert_true(ballast_release(&ballast) && !ballast_release(&ballast));
    assert_int_equal(access(ballast.path, F_OK), -1);
    assert_true(ballast_make(&ballast));
    ballast_open(&ballast, folder, 64ull << 20); /* left by the previous daemon */
    assert_true(ballast.there && ballast_release(&ballast));
    ballast_open(&ballast, folder, 0);
    assert_false(ballast_make(&ballast));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_freeze_is_kept), cmocka_unit_test(a_torn_note_is_none),
        cmocka_unit_test(a_folder_is_counted), cmocka_unit_test(the_reserve)};
    if (!mkdtemp(folder))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return failed + (system(command) != 0);
}
