/* SPDX-License-Identifier: Apache-2.0 */
/* Copies files into a worktree that are in no commit but that the agent needs.
 *
 * Those are the files that .worktreeinclude in the operator's checkout names, in the syntax of .gitignore, and that are
 * ignored there: keys for tests, local settings. They are copied, never linked; no link on either side is followed. */
#include "git/git_state.h"

#include "base/bytes.h"
#include "base/seam.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct copying {
    int from, to; /* folders */
    uint64_t bytes;
    struct writer list; /* copied files, each followed by a NUL */
    struct git_tree *tree;
};

static bool bytes_copy(int from, int to, uint64_t most) {
    static _Thread_local char chunk[65536];
    for (ssize_t length; (length = read(from, chunk, sizeof chunk)) != 0;) {
        if (length < 0 || (uint64_t)length > most)
            return false;
        most -= (uint64_t)length;
        for (ssize_t done = 0, put; done < length; done += put)
            if ((put = write(to, chunk + done, (size_t)(length - done))) < 0)
                return false;
    }
    return true;
}

static bool file_copy(struct copying *copying, struct str path) {
    struct stat seen;
    int from = git_open_below(copying->from, path, O_RDONLY | O_NONBLOCK, false);
    if (from < 0)
        return false;
    bool fits = fstat(from, &seen) == 0 && S_ISREG(seen.st_mode) && seen.st_size >= 0 &&
                seen.st_size <= GIT_INCLUDE_BYTES &&
                copying->bytes + (uint64_t)seen.st_size <= GIT_INCLUDE_TOTAL;
    int to = fits ? git_open_below(copying->to, path, O_WRONLY | O_CREAT | O_EXCL, true) : -1;
    bool copied =
        to >= 0 && bytes_copy(from, to, GIT_INCLUDE_BYTES) && fchmod(to, seen.st_mode & 0700) == 0;
    if (to >= 0 && close(to) < 0)
        copied = false;
    close(from);
    copying->bytes += copied ? (uint64_t)seen.st_size : 0;
    return copied;
}

static struct str path_next(struct str *paths) {
    struct str path = {paths->at, strnlen(paths->at, paths->len)};
    size_t used = path.len < paths->len ? path.len + 1 : path.len;
    *paths = (struct str){paths->at + used, paths->len - used};
    return path;
}

/* Puts ./ in front of each name, so that git takes none for a pattern. */
static struct str names_plain(struct git_call *call, struct str paths) {
    struct writer writer = {.arena = call->arena};
    while (paths.len) {
        write_raw(&writer, STR("./"));
        write_raw(&writer, path_next(&paths));
        write_byte(&writer, 0);
    }
    return (struct str){writer.at, writer.len};
}

static void paths_copy(struct copying *copying, struct str paths) {
    while (paths.len) {
        struct str path = path_next(&paths);
        if (str_begins(path, STR("./")))
            path = (struct str){path.at + 2, path.len - 2};
        if (copying->tree->included >= GIT_INCLUDES || !file_copy(copying, path)) {
            copying->tree->skipped++;
            continue;
        }
        copying->tree->included++;
        write_run(&copying->list, path);
    }
}

/* Finds the names that match the rules and are ignored, each followed by a NUL. */
static bool paths_find(struct git_call *call, struct str source, struct str rules,
                       struct str *ret_paths) {
    struct str folder = {call->tree.at, call->tree.len - strlen("/tree")};
    struct str rule_file = arena_format(call->arena, "%.*s/rules", STR_ARG(folder));
    struct str found = arena_format(call->arena, "%.*s/found", STR_ARG(folder));
    if (!git_file_write(call, rule_file, rules) ||
        !git_do(call, GIT_LIST_INCLUDED, GIT_ARGS(source, rule_file)))
        return false;
    *ret_paths = STR("");
    if (!call->out.len)
        return true;
    if (!git_file_write(call, found, names_plain(call, call->out)))
        return false;
    call->input = found;
    int status = git_try(call, GIT_LIST_IGNORED, GIT_ARGS(source));
    if (status == 0)
        *ret_paths = call->out;
    return status == 0 || status == 1 || (status > 0 && git_fail_command(call, GIT_LIST_IGNORED));
}

static int folder_open(struct git_call *call, struct str path) {
    return open(arena_cstr(call->arena, path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool git_include(struct git_call *call, const struct git_repo *repo, struct git_tree *ret) {
    struct str rules, paths;
    struct copying copying = {.from = -1, .to = -1, .list = {.arena = call->arena}, .tree = ret};
    if (!git_source_is_path(repo->source) ||
        !git_file_read(call,
                       arena_format(call->arena, "%.*s/.worktreeinclude", STR_ARG(repo->source)),
                       GIT_INCLUDE_RULES, &rules))
        return git_well(call);
    if (!paths_find(call, repo->source, rules, &paths))
        return false;
    (void)seam("git-step");
    copying.from = folder_open(call, repo->source);
    copying.to = folder_open(call, call->tree);
    if (copying.from >= 0 && copying.to >= 0)
        paths_copy(&copying, paths);
    if (copying.from >= 0)
        close(copying.from);
    if (copying.to >= 0)
        close(copying.to);
    struct str folder = {call->tree.at, call->tree.len - strlen("/tree")};
    return git_file_write(call, arena_format(call->arena, "%.*s/included", STR_ARG(folder)),
                          (struct str){copying.list.at, copying.list.len});
}
