/* SPDX-License-Identifier: Apache-2.0 */
/* Names the folders of a run's worktree. */
#include "git/git_state.h"

struct str git_tree_folder(struct git_call *call, struct str run) {
    return git_path(call, "worktrees", run, "");
}

struct str git_tree_path(struct git_call *call, struct str run) {
    return git_path(call, "worktrees", run, "/tree");
}
