/* SPDX-License-Identifier: Apache-2.0 */
/* Preserves an agent's work before its worktree is removed.
 *
 * One commit has the current files as its tree, and as parents every branch, tag and stash that nothing else holds. One
 * ref keeps it. If something fits into no commit, the salvage is incomplete and the worktree stays. */
#include "git/git_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Lists the tips that the commit does not hold yet, at most `most`, one per line. */
static bool tips_list(struct git_call *call, const struct git_run *run, struct str commit,
                      uint32_t most, struct str *ret) {
    struct str count = arena_format(call->arena, "%u", most);
    if (!git_do(call, GIT_LIST_TIPS,
                GIT_ARGS(commit, count, git_ref(call, GIT_REF_RUN, run->run, STR("")))))
        return false;
    *ret = call->out;
    return true;
}

static bool tips_join(struct git_call *call, struct str tree, struct str message, struct str lines,
                      struct str *commit) {
    struct str args[2 + 2 * (GIT_PARENTS + 1)] = {tree, message, STR("-p"), *commit};
    unsigned count = 4;
    for (unsigned i = 0; i < GIT_PARENTS && lines.len > 40; i++) {
        args[count++] = STR("-p");
        args[count++] = arena_format(call->arena, "%.40s^{commit}", lines.at);
        lines = (struct str){lines.at + 41, lines.len - 41};
    }
    if (!git_do(call, GIT_COMMIT, args, count))
        return false;
    *commit = git_line(call);
    return true;
}

/* Works in rounds, so that no commit has too many parents. */
static bool tips_hold(struct git_call *call, const struct git_run *run, struct str *commit,
                      bool *ret_whole) {
    struct str message = arena_format(call->arena, "Salvage of run %.*s", STR_ARG(run->run));
    struct str tree, tips;
    if (!git_do(call, GIT_RESOLVE,
                GIT_ARGS(arena_format(call->arena, "%.*s^{tree}", STR_ARG(*commit)))))
        return false;
    tree = git_line(call);
    for (unsigned held = 0; held < GIT_TIPS; held += GIT_PARENTS) {
        if (!tips_list(call, run, *commit, GIT_PARENTS, &tips))
            return false;
        if (!tips.len)
            return true;
        if (!tips_join(call, tree, message, tips, commit))
            return false;
    }
    *ret_whole = false;
    return true;
}

/* The ref holds only the newest stash; older ones are in its reflog. A log that cannot be read may have some. */
static bool has_older_stashes(struct git_call *call, const struct git_run *run) {
    struct str path = git_tree_path(call, run->run);
    char text[4096];
    int root = open(arena_cstr(call->arena, path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (root < 0)
        return true;
    int fd = git_open_beneath(root, STR(".git/logs/refs/stash"), O_RDONLY | O_NOFOLLOW);
    bool none = fd < 0 && (errno == ENOENT || errno == ENOTDIR);
    close(root);
    if (fd < 0)
        return !none;
    unsigned lines = 0;
    for (ssize_t length; lines < 2 && (length = read(fd, text, sizeof text)) != 0;) {
        lines += length < 0 ? 2 : 0;
        for (ssize_t i = 0; i < length; i++)
            lines += text[i] == '\n';
    }
    close(fd);
    return lines > 1;
}

static bool salvage_make(struct git_call *call, const struct git_run *run,
                         struct git_salvage *ret) {
    struct git_measure measure = {0};
    if (!git_measure_take(call, run, &measure))
        return false;
    ret->whole = !measure.broken && !measure.absent && measure.left_out == 0 &&
                 !has_older_stashes(call, run);
    struct str commit = measure.snapshot;
    if (!tips_hold(call, run, &commit, &ret->whole))
        return false;
    if (str_equal(commit, run->base))
        return true;
    ret->commit = commit;
    return git_do(call, GIT_SET_REF, GIT_ARGS(ret->ref, commit));
}

/* The worktree is gone: returns what was salvaged earlier. */
static bool salvage_recall(struct git_call *call, struct git_salvage *ret) {
    ret->whole = true;
    int status = git_try(call, GIT_RESOLVE, GIT_ARGS(ret->ref));
    if (status == 0)
        ret->commit = git_line(call);
    return status >= 0;
}

struct git_answer git_tree_salvage(const struct git_context *context, const struct git_repo *repo,
                                   const struct git_run *run, struct arena *arena,
                                   struct git_salvage *ret) {
    struct git_call call;
    struct git_salvage saved = {0};
    git_begin(&call, context, arena);
    if (git_run_check(&call, run) && git_lock_run(&call, run->run) && git_repo_open(&call, repo)) {
        saved.ref = git_ref(&call, GIT_REF_SALVAGE, run->run, STR(""));
        bool there = git_exists(&call, git_tree_path(&call, run->run));
        if (there ? salvage_make(&call, run, &saved) : salvage_recall(&call, &saved))
            *ret = saved;
    }
    return git_end(&call);
}
