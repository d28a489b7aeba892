/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes chosen files of a commit, without checking it out. */
#include "git/git_state.h"

#include "base/path.h"

/* A line is MODE TYPE OBJECT, a tab, and the path. It is hashed as it is, so that its content and its mode count. */
static struct hash lines_hash(struct str lines, const struct str *names, uint32_t count) {
    struct sha256 sha;
    sha256_begin(&sha);
    while (lines.len > 0) {
        struct str line = git_field_next(&lines);
        const char *tab = line.len ? memchr(line.at, '\t', line.len) : NULL;
        if (!tab)
            continue;
        struct str path = {tab + 1, (size_t)(line.at + line.len - tab) - 1};
        if (!str_is_among(path_name(path), names, count))
            continue;
        sha256_add(&sha, line.at, line.len);
        sha256_add(&sha, "", 1);
    }
    return sha256_end(&sha);
}

struct git_answer git_commit_files(const struct git_context *context, const struct git_repo *repo,
                                   struct str commit, const struct str *names, uint32_t count,
                                   struct arena *arena, struct hash *ret) {
    struct git_call call;
    git_begin(&call, context, arena);
    if (git_repo_open(&call, repo) && git_commit_known(&call, commit) &&
        git_do(&call, GIT_LIST_TREE, GIT_ARGS(commit)))
        *ret = lines_hash(call.out, names, count);
    return git_end(&call);
}
