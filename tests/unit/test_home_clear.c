/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a HOME which an earlier program had leads no mount point of the next sandbox elsewhere: bubblewrap makes
 * missing mount points while links still lead to this machine's files. */
#include "unit/unit.h"

#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char base[] = "/tmp/overseer-home-XXXXXX";
static struct arena arena;

static const char *path_of(const char *name) {
    return arena_cstr(&arena, arena_format(&arena, "%s/%s", base, name));
}

static mode_t kind_of(const char *name) {
    struct stat about;
    return lstat(path_of(name), &about) == 0 ? about.st_mode & S_IFMT : 0;
}

static void file_make(const char *name) {
    int fd = open(path_of(name), O_WRONLY | O_CREAT, 0600);
    check(fd >= 0, "%s", name);
    close(fd);
}

/* The operator's home is `op`, what the sandbox shows in its place is `home`. */
static void test_links_on_the_way_are_removed(void **state) {
    (void)state;
    static const char *const FOLDERS[] = {"op",        "op/.local",     "op/.local/state",
                                          "op/tools",  "op/tools/deep", "home",
                                          "home/kept", "elsewhere"};
    for (size_t i = 0; i < count_of(FOLDERS); i++)
        check(mkdir(path_of(FOLDERS[i]), 0700) == 0, "%s", FOLDERS[i]);
    check(symlink(path_of("elsewhere"), path_of("home/.local")) == 0, "a link on the way");
    file_make("home/tools"); /* a file where a folder has to be */
    check(symlink(path_of("elsewhere"), path_of("home/kept/link")) == 0, "a link beside it");
    file_make("home/kept/file");

    struct str at = str_of(path_of("op"));
    struct sandbox_spec *spec = arena_new(&arena, struct sandbox_spec, 1);
    spec->kind = SANDBOX_BWRAP;
    spec->bwrap = STR("/usr/bin/bwrap");
    spec->confiner = STR("/bin/true");
    spec->rules = STR("/dev/null");
    spec->cwd = STR("/");
    spec->home = (struct sandbox_home){str_of(path_of("home")), at};
    sandbox_path_add(&spec->hidden, at);
    sandbox_path_add(&spec->scratch, at);
    sandbox_path_add(&spec->sees, str_of(path_of("op/.local/state")));
    sandbox_path_add(&spec->sees, str_of(path_of("op/tools/deep")));
    struct sandbox_made *made = arena_new(&arena, struct sandbox_made, 1);
    check(sandbox_make(spec, &arena, made), "it fits");
    check(kind_of("home/.local") == 0, "the link is gone");
    check(kind_of("home/tools") == 0, "so is the file");
    check(kind_of("home/kept/link") == S_IFLNK && kind_of("home/kept/file") == S_IFREG,
          "what is on no way stays");
    check(kind_of("elsewhere") == S_IFDIR, "what the link led to stays");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_links_on_the_way_are_removed)};
    if (!mkdtemp(base))
        return 1;
    int failed = cmocka_run_group_tests_name("home_clear", tests, NULL, NULL);
    char remove[64];
    snprintf(remove, sizeof remove, "rm -r %s", base);
    failed += system(remove) != 0;
    arena_free(&arena);
    return failed;
}
