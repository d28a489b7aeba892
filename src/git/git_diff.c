/* SPDX-License-Identifier: Apache-2.0 */
/* Produces the diff of an agent's changes for people: the same comparison as a measurement, as a patch. */
#include "git/git_state.h"

struct git_answer git_tree_diff(const struct git_context *context, const struct git_repo *repo,
                                const struct git_run *run, size_t most, struct arena *arena,
                                struct git_measure *ret, struct str *ret_text, bool *ret_cut) {
    struct git_call call;
    struct git_measure measure = {0};
    git_begin(&call, context, arena);
    if (git_run_check(&call, run) && git_lock_run(&call, run->run) && git_repo_open(&call, repo) &&
        git_measure_take(&call, run, &measure) && git_changes_read(&call, run, &measure) &&
        git_do(&call, GIT_DIFF, GIT_ARGS(run->base, measure.snapshot))) {
        *ret = measure;
        *ret_text = git_cut_at_line(call.out, most, ret_cut);
    }
    return git_end(&call);
}

static bool tree_named(struct git_call *call, struct str commit, struct str *ret) {
    struct str name = arena_format(call->arena, "%.*s^{tree}", STR_ARG(commit));
    if (!git_do(call, GIT_RESOLVE, GIT_ARGS(name)))
        return false;
    *ret = git_line(call);
    return true;
}

struct git_answer git_tree_is_at(const struct git_context *context, const struct git_repo *repo,
                                 const struct git_run *run, struct str commit, struct arena *arena,
                                 bool *ret) {
    struct git_call call;
    struct git_measure measure = {0};
    struct str now, then;
    git_begin(&call, context, arena);
    if (git_run_check(&call, run) && git_lock_run(&call, run->run) && git_repo_open(&call, repo) &&
        git_measure_take(&call, run, &measure) && tree_named(&call, measure.snapshot, &now) &&
        tree_named(&call, commit, &then))
        *ret = str_equal(now, then);
    return git_end(&call);
}
