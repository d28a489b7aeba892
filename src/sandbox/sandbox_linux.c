/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out which sandbox this machine supports. It tries instead of guessing: an installed bubblewrap may still not be
 * allowed to work. */
#include "sandbox/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROBE_MS = 5000 };

/* ---- probing ---- */

static bool program_in_path(const char *name, char at[4096]) {
    const char *path = getenv("PATH");
    path = path ? path : "/usr/bin:/bin";
    while (*path) {
        size_t length = strcspn(path, ":");
        snprintf(at, 4096, "%.*s/%s", (int)length, path, name);
        if (length > 0 && access(at, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    at[0] = 0;
    return false;
}

/* Returns its status; -1: it could not be started, or hangs. */
static int probe_wait(pid_t pid) {
    int status = -1, pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd look = {.fd = pidfd, .events = POLLIN};
    if (pidfd < 0 || poll(&look, 1, PROBE_MS) != 1)
        kill(pid, SIGKILL); /* our own child, not waited for yet */
    if (pidfd >= 0)
        close(pidfd);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool bwrap_works(const char *bwrap) {
    char *argv[] = {(char *)(uintptr_t)bwrap,
                    (char *)"--unshare-user-try",
                    (char *)"--unshare-pid",
                    (char *)"--unshare-ipc",
                    (char *)"--unshare-net",
                    (char *)"--cap-drop",
                    (char *)"ALL",
                    (char *)"--ro-bind",
                    (char *)"/",
                    (char *)"/",
                    (char *)"--dev",
                    (char *)"/dev",
                    (char *)"--proc",
                    (char *)"/proc",
                    (char *)"--tmpfs",
                    (char *)"/tmp",
                    (char *)"--",
                    (char *)"/bin/true",
                    NULL};
    char *none[] = {NULL};
    posix_spawn_file_actions_t quiet;
    pid_t pid = -1;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    int code = posix_spawn(&pid, bwrap, &quiet, NULL, argv, none);
    posix_spawn_file_actions_destroy(&quiet);
    return code == 0 && probe_wait(pid) == 0;
}

enum sandbox_kind sandbox_probe(char bwrap[4096], char *why, size_t why_size) {
    bool there = program_in_path("bwrap", bwrap), works = there && bwrap_works(bwrap);
    bool landlock =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
    snprintf(why, why_size, "%s%s%s",
             !there   ? "bubblewrap is not installed"
             : !works ? "bubblewrap is installed, but may not create namespaces"
                      : "",
             works || landlock ? "" : "; ", landlock ? "" : "the kernel has no Landlock");
    return works ? (landlock ? SANDBOX_BOTH : SANDBOX_BWRAP)
                 : (landlock ? SANDBOX_LANDLOCK : SANDBOX_NONE);
}

/* ---- paths around the hidden ones ---- */

enum place { CLEAR, HIDDEN, ABOVE_HIDDEN };

static enum place place_of(const struct sandbox_paths *hidden, const char *path) {
    size_t length = strlen(path);
    enum place place = CLEAR;
    for (uint32_t i = 0; i < hidden->count; i++) {
        struct str one = hidden->at[i];
        if (length >= one.len && memcmp(path, one.at, one.len) == 0 &&
            (length == one.len || path[one.len] == '/'))
            return HIDDEN;
        if (one.len > length && memcmp(one.at, path, length) == 0 && one.at[length] == '/')
            place = ABOVE_HIDDEN;
    }
    return place;
}

/* `path` is empty for the root. */
static void around(const struct sandbox_paths *hidden, const char *path, int depth,
                   struct arena *arena, struct sandbox_paths *ret) {
    DIR *folder = opendir(*path ? path : "/");
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char below[4096];
        struct stat about;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
            (size_t)snprintf(below, sizeof below, "%s/%s", path, entry->d_name) >= sizeof below ||
            lstat(below, &about) != 0 || S_ISLNK(about.st_mode))
            continue;
        enum place place = place_of(hidden, below);
        if (place == CLEAR)
            sandbox_path_add(ret, arena_copy(arena, str_of(below)));
        else if (place == ABOVE_HIDDEN && depth < SANDBOX_DEPTH)
            around(hidden, below, depth + 1, arena, ret);
    }
    if (folder)
        closedir(folder);
}

void sandbox_around(const struct sandbox_paths *hidden, struct arena *arena,
                    struct sandbox_paths *ret) {
    around(hidden, "", 0, arena, ret);
}
