/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and removes the worktrees in which agents work and the checkouts in which their work is verified.
 *
 * STATE/worktrees/RUN/tree is a separate repository that borrows the published objects: whatever an agent does to it
 * changes neither our clones nor another run. STATE/checkouts/NAME is the same for one commit and also contains the
 * objects that are not published. Both appear and disappear atomically, by a rename. */
#include "git/git_state.h"

#include "base/bytes.h"

#include <sys/stat.h>

static bool folder_ready(struct git_call *call, const char *name) {
    return git_folder_make(
        call, arena_format(call->arena, "%.*s/%s", STR_ARG(call->context->state), name));
}

/* A value of git's configuration: in quotes, as it is. */
static struct str config_quote(struct git_call *call, struct str value) {
    struct writer writer = {.arena = call->arena};
    write_byte(&writer, '"');
    for (size_t i = 0; i < value.len; i++) {
        if (value.at[i] == '"' || value.at[i] == '\\')
            write_byte(&writer, '\\');
        write_byte(&writer, (uint8_t)value.at[i]);
    }
    write_byte(&writer, '"');
    return (struct str){writer.at, writer.len};
}

static bool fresh_config(struct git_call *call) {
    const struct git_context *context = call->context;
    struct str text = arena_format(
        call->arena,
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
        "\tlogallrefupdates = true\n[user]\n\tname = %.*s\n\temail = %.*s\n[gc]\n\tauto = 0\n",
        STR_ARG(config_quote(call, context->name)), STR_ARG(config_quote(call, context->email)));
    struct str borrowed = arena_format(call->arena, "%.*s/objects\n", STR_ARG(call->clone));
    return git_file_write(call, arena_format(call->arena, "%.*s/.git/config", STR_ARG(call->tree)),
                          text) &&
           git_file_write(
               call,
               arena_format(call->arena, "%.*s/.git/objects/info/alternates", STR_ARG(call->tree)),
               borrowed);
}

enum { HAVES = 64 };

/* Writes what the published objects have as refs, so that only the rest is fetched. These refs are removed afterwards. */
static bool haves_write(struct git_call *call, struct str path) {
    struct writer writer = {.arena = call->arena};
    unsigned number = 0;
    if (!git_do(call, GIT_LIST_PUBLISHED,
                GIT_ARGS(arena_format(call->arena, "%d", HAVES), STR("refs/overseer/source"),
                         STR("refs/overseer/targets"))))
        return false;
    write_raw(&writer, STR("# pack-refs with: peeled fully-peeled sorted \n"));
    for (struct str left = call->out; left.len; number++) {
        struct str commit = str_line_take(&left);
        write_raw(&writer, arena_format(call->arena, "%.*s refs/overseer/have/%03u\n",
                                        STR_ARG(commit), number));
    }
    return git_file_write(call, path, (struct str){writer.at, writer.len});
}

static int published_has(struct git_call *call, struct str commit) {
    return git_try(call, GIT_RESOLVE_PUBLISHED,
                   GIT_ARGS(arena_format(call->arena, "%.*s^{commit}", STR_ARG(commit))));
}

/* Fetches the objects that the published repository lacks into the checkout: no check sees our private objects. */
static bool objects_bring(struct git_call *call, struct str commit) {
    int status = published_has(call, commit);
    if (status <= 0)
        return status == 0;
    struct str haves = arena_format(call->arena, "%.*s/.git/packed-refs", STR_ARG(call->tree));
    struct str spec = arena_format(call->arena, "%.*s:refs/overseer/base", STR_ARG(commit));
    call->local = true;
    return haves_write(call, haves) &&
           git_do(call, GIT_FETCH_CHECKOUT, GIT_ARGS(call->private_clone, spec)) &&
           git_folder_remove(call, haves);
}

bool git_publish(struct git_call *call, struct str commit, struct str name) {
    int status = published_has(call, commit);
    if (status <= 0)
        return status == 0;
    struct str spec = arena_format(call->arena, "+%.*s:%.*s", STR_ARG(commit),
                                   STR_ARG(git_ref(call, GIT_REF_HANDED, name, STR(""))));
    call->local = true;
    return git_do(call, GIT_PUBLISH, GIT_ARGS(call->private_clone, spec));
}

/* branch: empty: detached HEAD. */
static bool fresh_make(struct git_call *call, struct str branch, struct str commit) {
    struct str first = branch.len ? branch : STR("overseer");
    if (!git_folder_make(call, call->tree) ||
        !git_do(call, GIT_INIT_TREE, GIT_ARGS(first, call->tree)) || !fresh_config(call) ||
        !objects_bring(call, commit))
        return false;
    struct str ref = arena_format(call->arena, "refs/heads/%.*s", STR_ARG(branch));
    bool set = branch.len ? git_do(call, GIT_SET_FRESH, GIT_ARGS(ref, commit))
                          : git_do(call, GIT_SET_FRESH_HEAD, GIT_ARGS(commit));
    return set && git_do(call, GIT_SET_FRESH, GIT_ARGS(STR("refs/overseer/base"), commit)) &&
           git_do(call, GIT_FILL, GIT_ARGS(commit));
}

static struct str branch_of(struct git_call *call, const struct git_run *run) {
    struct str ref = git_branch(call, run);
    size_t skip = strlen("refs/heads/");
    return (struct str){ref.at + skip, ref.len - skip};
}

static bool tree_make(struct git_call *call, const struct git_repo *repo, const struct git_run *run,
                      struct git_tree *ret) {
    struct str new = git_path(call, "worktrees", run->run, ".new");
    if (!folder_ready(call, "worktrees") || !git_commit_known(call, run->base) ||
        !git_folder_remove(call, new) || !git_folder_make(call, new))
        return false;
    call->tree = arena_format(call->arena, "%.*s/tree", STR_ARG(new));
    return git_publish(call, run->base, run->run) && fresh_make(call, ret->branch, run->base) &&
           git_include(call, repo, ret) && git_seen_begin(call, new, call->tree, run->base) &&
           git_move(call, new, git_tree_folder(call, run->run));
}

/* FAIL-11: an agent may have damaged it. */
static bool tree_there(struct git_call *call, const struct git_run *run) {
    struct stat seen;
    struct str path =
        arena_format(call->arena, "%.*s/.git", STR_ARG(git_tree_path(call, run->run)));
    if (lstat(arena_cstr(call->arena, path), &seen) == 0 && S_ISDIR(seen.st_mode))
        return true;
    return git_fail(call, GIT_BROKEN, "%.*s is not a folder", STR_ARG(path));
}

struct git_answer git_tree_ensure(const struct git_context *context, const struct git_repo *repo,
                                  const struct git_run *run, struct arena *arena,
                                  struct git_tree *ret) {
    struct git_call call;
    struct git_tree tree = {0};
    git_begin(&call, context, arena);
    if (git_run_check(&call, run) && git_low_water(&call) && git_lock_run(&call, run->run) &&
        git_repo_open(&call, repo)) {
        tree.branch = branch_of(&call, run);
        tree.path = git_tree_path(&call, run->run);
        tree.was_there = git_exists(&call, git_tree_folder(&call, run->run));
        if (tree.was_there)
            tree_there(&call, run);
        else
            tree_make(&call, repo, run, &tree);
    }
    if (git_well(&call))
        *ret = tree;
    return git_end(&call);
}

/* ---- removing ---- */

enum { REFS_ROUND = 1024, REFS_ROUNDS = 1024 };

/* Deletes a batch of refs, so that git's output never exceeds the limit. */
static bool refs_delete(struct git_call *call, const struct git_run *run, bool *ret_over) {
    if (!git_do(call, GIT_LIST_NAMES,
                GIT_ARGS(arena_format(call->arena, "%d", REFS_ROUND),
                         git_ref(call, GIT_REF_RUN, run->run, STR("")),
                         git_ref(call, GIT_REF_SNAPSHOT, run->run, STR("")),
                         git_ref(call, GIT_REF_CANDIDATE, run->run, STR("")),
                         git_ref(call, GIT_REF_KEPT, run->run, STR("")),
                         git_ref(call, GIT_REF_CONFLICT, run->run, STR("")))))
        return false;
    struct writer writer = {.arena = call->arena};
    for (struct str left = call->out; left.len;) {
        write_raw(&writer, STR("delete "));
        write_raw(&writer, str_line_take(&left));
        write_raw(&writer, STR("\n"));
    }
    *ret_over = !writer.len;
    if (!writer.len)
        return true;
    struct str list = git_path(call, "tmp", run->run, ".refs");
    if (!folder_ready(call, "tmp") ||
        !git_file_write(call, list, (struct str){writer.at, writer.len}))
        return false;
    call->input = list;
    return git_do(call, GIT_CHANGE_REFS, NULL, 0);
}

static bool published_forget(struct git_call *call, const struct git_run *run) {
    struct str list = git_path(call, "tmp", run->run, ".refs");
    struct str text = arena_format(call->arena, "delete %.*s\ndelete %.*s\n",
                                   STR_ARG(git_ref(call, GIT_REF_TARGET, run->run, STR(""))),
                                   STR_ARG(git_ref(call, GIT_REF_HANDED, run->run, STR(""))));
    if (!folder_ready(call, "tmp") || !git_file_write(call, list, text))
        return false;
    call->input = list;
    return git_do(call, GIT_CHANGE_PUBLISHED, NULL, 0) && git_folder_remove(call, list);
}

static bool refs_forget(struct git_call *call, const struct git_run *run) {
    bool over = false;
    for (unsigned i = 0; i < REFS_ROUNDS && !over; i++)
        if (!refs_delete(call, run, &over))
            return false;
    if (!over)
        return git_fail(call, GIT_TOO_MUCH, "run %.*s has more refs than can be removed at once",
                        STR_ARG(run->run));
    return published_forget(call, run);
}

/* Finds an unused name, so that nothing already kept is overwritten. */
static struct str kept_place(struct git_call *call, struct str run) {
    struct str place = git_path(call, "kept", run, "");
    for (int i = 2; git_exists(call, place); i++) {
        struct str name = arena_format(call->arena, "%.*s-%d", STR_ARG(run), i);
        place = git_path(call, "kept", name, "");
    }
    return place;
}

static bool tree_clear(struct git_call *call, const struct git_run *run, bool whole,
                       struct str *ret_kept) {
    struct str folder = git_tree_folder(call, run->run);
    struct str trash = git_path(call, "trash", run->run, "");
    bool there = git_exists(call, folder);
    if (there && !whole) {
        struct str kept = kept_place(call, run->run);
        if (!folder_ready(call, "kept") || !git_move(call, folder, kept))
            return false;
        *ret_kept = kept;
        there = false;
    }
    if (!folder_ready(call, "trash") || !git_folder_remove(call, trash))
        return false;
    if (there && !(git_move(call, folder, trash) && git_folder_remove(call, trash)))
        return false;
    return git_folder_remove(call, git_path(call, "worktrees", run->run, ".new")) &&
           git_index_end(call, run) &&
           git_folder_remove(call, git_path(call, "tmp", run->run, ".refs")) &&
           git_folder_remove(call, git_path(call, "tmp", run->run, ".paths"));
}

/* Salvages the work before removing anything. */
struct git_answer git_tree_remove(const struct git_context *context, const struct git_repo *repo,
                                  const struct git_run *run, struct arena *arena,
                                  struct str *ret_kept) {
    struct git_salvage saved = {0};
    struct git_answer answer = git_tree_salvage(context, repo, run, arena, &saved);
    struct git_call call;
    struct str kept = {0};
    if (answer.result != GIT_DONE)
        return answer;
    git_begin(&call, context, arena);
    if (git_run_check(&call, run) && git_lock_run(&call, run->run) && git_repo_open(&call, repo) &&
        tree_clear(&call, run, saved.whole, &kept) && refs_forget(&call, run))
        *ret_kept = kept;
    return git_end(&call);
}

/* ---- a clean checkout ---- */

struct git_answer git_checkout_make(const struct git_context *context, const struct git_repo *repo,
                                    struct str name, struct str commit, struct arena *arena,
                                    struct str *ret_path) {
    struct git_call call;
    git_begin(&call, context, arena);
    struct str place = git_path(&call, "checkouts", name, "");
    struct str new = git_path(&call, "checkouts", name, ".new");
    if (git_name_check(&call, name) && git_low_water(&call) && git_lock_run(&call, name) &&
        git_repo_open(&call, repo) && git_commit_known(&call, commit) &&
        folder_ready(&call, "checkouts") && git_folder_remove(&call, place) &&
        git_folder_remove(&call, new)) {
        call.tree = new;
        if (fresh_make(&call, STR(""), commit) && git_move(&call, new, place))
            *ret_path = place;
    }
    return git_end(&call);
}

struct git_answer git_checkout_remove(const struct git_context *context, struct str name,
                                      struct arena *arena) {
    struct git_call call;
    git_begin(&call, context, arena);
    if (git_name_check(&call, name) && git_lock_run(&call, name))
        (void)(git_folder_remove(&call, git_path(&call, "checkouts", name, ".new")) &&
               git_folder_remove(&call, git_path(&call, "checkouts", name, "")));
    return git_end(&call);
}
