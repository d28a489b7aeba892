/* SPDX-License-Identifier: Apache-2.0 */
/* Builds candidates: the commits that are checked, shown to people and landed.
 *
 *   base B ──own change──▶ snapshot S        candidate = own change on top of T
 *   target's tip T                           same B, S, T and reported conflict: same commit
 *
 * The own change is the difference from the base that Overseer recorded. The agent's own history decides nothing about
 * content. After a conflict was reported to the agent, a file that the agent has changed since counts as merged with the tip
 * of that time if the file was part of the conflict or is exactly what a clean merge produces; every other path keeps its base,
 * so that the target's own changes are preserved. */
#include "git/git_state.h"

#include "base/bytes.h"
#include "base/seam.h"

#include <stdlib.h>

static const long long YEAR_2100_S = 4102444800;

struct building {
    struct git_call *call;
    const struct git_run *run;
    const struct git_work *work;
    struct str base, target;
    struct git_candidate *ret;
};

/* ---- the target ---- */

static bool says(struct str text, const char *words) {
    return text.len && memmem(text.at, text.len, words, strlen(words));
}

/* 1: that repository has no such branch. */
static int branch_fetch(struct git_call *call, struct str where, struct str ref, struct str seen) {
    call->local = git_source_is_path(where);
    int status = git_try(
        call, GIT_FETCH_TARGET,
        GIT_ARGS(where, arena_format(call->arena, "+%.*s:%.*s", STR_ARG(ref), STR_ARG(seen))));
    if (status > 0 && !says(call->err, "couldn't find remote ref"))
        git_fail_command(call, GIT_FETCH_TARGET);
    return git_well(call) ? status != 0 : -1;
}

/* The only part that contacts another machine. For a pull request, it asks the remote that the pull request goes to. */
static bool target_fetch(struct git_call *call, const struct git_repo *repo,
                         const struct git_run *run, const struct git_work *work, struct str *ret) {
    struct str seen = git_ref(call, GIT_REF_TARGET, run->run, STR(""));
    struct str ref = arena_format(call->arena, "refs/heads/%.*s", STR_ARG(work->target));
    bool elsewhere = work->how == GIT_AS_PULL_REQUEST && repo->remote.len > 0;
    if (git_try(call, GIT_CHECK_NAME, GIT_ARGS(ref)) > 0)
        return git_fail(call, GIT_REFUSED, "\"%.*s\" cannot be a branch", STR_ARG(work->target));
    int missing = elsewhere ? branch_fetch(call, repo->remote, ref, seen) : 1;
    if (missing > 0)
        missing = branch_fetch(call, repo->source, ref, seen);
    if (missing > 0)
        git_fail(call, GIT_REFUSED, "there is no branch %.*s in %.*s", STR_ARG(work->target),
                 STR_ARG(repo->source));
    if (missing || !git_do(call, GIT_RESOLVE_PUBLISHED,
                           GIT_ARGS(arena_format(call->arena, "%.*s^{commit}", STR_ARG(seen)))))
        return false;
    *ret = git_line(call);
    return true;
}

/* ---- the base ---- */

/* Reads the base, target and snapshot of a conflict of this run. */
static bool conflict_read(struct git_call *call, const struct git_run *run, struct str conflict,
                          struct str ret[3]) {
    if (!git_is_commit_name(conflict))
        return git_fail(call, GIT_REFUSED, "a conflict must be named by its full id");
    int status =
        git_try(call, GIT_RESOLVE, GIT_ARGS(git_ref(call, GIT_REF_CONFLICT, run->run, conflict)));
    if (status > 0 || (status == 0 && !str_equal(git_line(call), conflict)))
        return git_fail(call, GIT_REFUSED, "%.*s is not a conflict of run %.*s", STR_ARG(conflict),
                        STR_ARG(run->run));
    for (int i = 0; i < 3; i++) {
        struct str name = arena_format(call->arena, "%.*s^%d", STR_ARG(conflict), i + 1);
        if (!git_do(call, GIT_RESOLVE, GIT_ARGS(name)))
            return false;
        ret[i] = git_line(call);
    }
    return true;
}

/* `moved`: how the path differed between base and target at that time; `since`: how the agent has changed it since. */
static bool counts_as_merged(const struct git_merged *then, const struct git_change *moved,
                             const struct git_change *since) {
    if (!since)
        return false;
    if (seam("planted every file is merged"))
        return true;
    if (str_is_among(moved->path, then->conflicts, then->conflict_count) ||
        git_entry_equal(since->after, moved->after))
        return true;
    const struct git_change *clean = git_change_find(&then->taken, moved->path);
    return clean && git_entry_equal(since->after, clean->after);
}

static bool base_write(struct building *it, const struct str shown[3],
                       const struct git_merged *then) {
    struct git_call *call = it->call;
    struct git_changes moved, since;
    struct writer writer = {.arena = call->arena};
    struct str tree;
    if (!git_changes(call, shown[0], shown[1], &moved) ||
        !git_changes(call, shown[2], it->work->snapshot, &since))
        return false;
    for (int gone = 1; gone >= 0; gone--)
        for (uint32_t i = 0; i < moved.count; i++)
            if (git_entry_is_gone(moved.list[i].after) == gone &&
                counts_as_merged(then, &moved.list[i], git_change_find(&since, moved.list[i].path)))
                git_entry_write(&writer, moved.list[i].path, moved.list[i].after);
    it->base = shown[0];
    if (!writer.len)
        return true;
    if (!git_tree_write(call, it->run, shown[0], &writer, &tree) ||
        !git_do(call, GIT_COMMIT,
                GIT_ARGS(tree, STR("Base after a conflict\n"), STR("-p"), shown[0])))
        return false;
    it->base = git_line(call);
    return true;
}

static bool base_find(struct building *it) {
    struct str shown[3];
    struct git_merged then;
    it->base = it->run->base;
    if (seam("planted base of history") &&
        git_try(it->call, GIT_BASE, GIT_ARGS(it->work->snapshot, it->target)) == 0) {
        it->base = git_line(it->call);
        return true;
    }
    if (!it->work->conflict_shown.len)
        return true;
    return conflict_read(it->call, it->run, it->work->conflict_shown, shown) &&
           git_merge_trees(it->call, it->run, shown[0], shown[1], shown[2], &then) &&
           base_write(it, shown, &then);
}

/* ---- building ---- */

/* Takes the date from the snapshot, so that a rebuilt candidate is identical. An agent may have written any date, so it
 * is clamped. */
static bool date_set(struct git_call *call, struct str snapshot) {
    if (seam("planted date of now"))
        return true;
    if (!git_do(call, GIT_SHOW_DATE, GIT_ARGS(snapshot)))
        return false;
    long long date_s = strtoll(arena_cstr(call->arena, git_line(call)), NULL, 10);
    call->at_us = SECONDS(date_s < 0 ? 0 : date_s > YEAR_2100_S ? YEAR_2100_S : date_s);
    return true;
}

static bool ref_keep(struct git_call *call, const struct git_run *run, enum git_ref ref,
                     struct str commit) {
    return git_do(call, GIT_SET_REF, GIT_ARGS(git_ref(call, ref, run->run, commit), commit));
}

static bool conflict_keep(struct building *it, const struct git_merged *merged) {
    struct git_call *call = it->call;
    struct str tree;
    if (!git_tree_of(call, it->target, &tree) ||
        !git_do(call, GIT_COMMIT,
                GIT_ARGS(tree, STR("Conflict\n"), STR("-p"), it->base, STR("-p"), it->target,
                         STR("-p"), it->work->snapshot)))
        return false;
    struct str conflict = git_line(call);
    if (!ref_keep(call, it->run, GIT_REF_CONFLICT, conflict))
        return false;
    it->ret->conflict = conflict;
    it->ret->conflicts = merged->conflicts;
    it->ret->conflict_count = merged->conflict_count;
    return git_fail(call, GIT_CONFLICT, "%u files conflict", merged->conflict_count);
}

static bool added_read(struct git_call *call, struct git_candidate *ret) {
    struct str most = arena_format(call->arena, "%d", GIT_REPLAYED);
    if (!git_do(call, GIT_LIST_ADDED, GIT_ARGS(most, ret->commit, ret->onto)))
        return false;
    struct git_added *list = arena_new(call->arena, struct git_added, GIT_REPLAYED);
    for (struct str left = call->out; left.len && ret->added_count < GIT_REPLAYED;) {
        struct str line = str_line_take(&left);
        if (line.len >= 41)
            list[ret->added_count++] =
                (struct git_added){{line.at, 40}, {line.at + 41, line.len - 41}};
    }
    ret->added = list;
    return true;
}

/* Marks the files that the target does not have. */
static bool news_mark(struct git_call *call, const struct git_candidate *candidate,
                      struct git_measure *measure) {
    struct git_changes changes;
    struct git_file *files = arena_new(call->arena, struct git_file, measure->file_count + 1);
    if (!git_changes(call, candidate->onto, candidate->commit, &changes))
        return false;
    for (uint32_t i = 0; i < measure->file_count; i++) {
        const struct git_change *change = git_change_find(&changes, measure->files[i].path);
        files[i] = measure->files[i];
        files[i].is_new = change && git_entry_is_gone(change->before);
    }
    measure->files = files;
    return true;
}

static void hash_text(struct sha256 *sha, struct str text) {
    sha256_add(sha, text.len ? text.at : "", text.len);
    sha256_add(sha, "", 1);
}

static void hash_entry(struct sha256 *sha, struct git_tree_entry entry) {
    hash_text(sha, entry.mode);
    hash_text(sha, entry.hash);
}

static bool hash_changes(struct git_call *call, struct sha256 *sha, struct str from,
                         struct str to) {
    struct git_changes changes;
    if (!git_changes(call, from, to, &changes))
        return false;
    for (uint32_t i = 0; i < changes.count; i++) {
        hash_text(sha, changes.list[i].path);
        hash_entry(sha, changes.list[i].before);
        hash_entry(sha, changes.list[i].after);
    }
    return true;
}

/* Two candidates with the same hash are shown as the same text, commit by commit; only the rest of the tree may differ. */
static bool change_hash(struct git_call *call, struct git_candidate *candidate) {
    struct sha256 sha;
    struct str before = candidate->onto;
    sha256_begin(&sha);
    for (uint32_t i = 0; i < candidate->added_count; i++) {
        const struct git_added *added = &candidate->added[i];
        hash_text(&sha, added->subject);
        if (!hash_changes(call, &sha, before, added->commit))
            return false;
        before = added->commit;
    }
    candidate->change = sha256_end(&sha);
    return true;
}

static bool candidate_read(struct git_call *call, const struct git_run *run,
                           struct git_candidate *ret) {
    struct git_run from = *run;
    struct git_measure measure = {.snapshot = ret->commit};
    from.base = ret->onto;
    if (!git_changes_read(call, &from, &measure) || !news_mark(call, ret, &measure) ||
        !added_read(call, ret) || !change_hash(call, ret))
        return false;
    ret->files = measure.files;
    ret->file_count = measure.file_count;
    ret->insertions = measure.insertions;
    ret->deletions = measure.deletions;
    return true;
}

/* Contacts no other machine. */
static bool candidate_build(struct building *it) {
    struct git_call *call = it->call;
    const struct git_work *work = it->work;
    struct git_merged merged;
    struct str before, commit;
    it->ret->onto = it->target;
    if (!git_commit_known(call, work->snapshot) || !git_commit_known(call, it->run->base) ||
        !date_set(call, work->snapshot) || !git_index_begin(call, it->run) || !base_find(it) ||
        !git_merge_trees(call, it->run, it->base, it->target, work->snapshot, &merged))
        return false;
    if (merged.conflict_count)
        return conflict_keep(it, &merged);
    if (!git_merge_is_own(call, it->base, work->snapshot, it->target, merged.tree) ||
        !git_tree_of(call, it->target, &before))
        return false;
    if (str_equal(merged.tree, before))
        return true;
    if (!ref_keep(call, it->run, GIT_REF_KEPT, work->snapshot) ||
        !git_commits_make(call, it->run, work, it->target, merged.tree, &commit) ||
        !ref_keep(call, it->run, GIT_REF_CANDIDATE, commit))
        return false;
    it->ret->commit = commit;
    return candidate_read(call, it->run, it->ret);
}

/* Fetches over the network before taking the run's lock, so that measuring the run does not wait for the network. */
struct git_answer git_candidate_make(const struct git_context *context, const struct git_repo *repo,
                                     const struct git_run *run, const struct git_work *work,
                                     struct arena *arena, struct git_candidate *ret) {
    struct git_call call;
    struct git_candidate candidate = {0};
    struct building it = {.call = &call, .run = run, .work = work, .ret = &candidate};
    git_begin(&call, context, arena);
    if (git_run_check(&call, run) && git_lock_target(&call, run->run) &&
        git_repo_open(&call, repo) && target_fetch(&call, repo, run, work, &it.target) &&
        git_lock_run(&call, run->run))
        (void)(candidate_build(&it), git_index_end(&call, run));
    if (git_well(&call) || call.answer.result == GIT_CONFLICT)
        *ret = candidate;
    return git_end(&call);
}

/* ---- reading a candidate ---- */

int git_candidate_is_here(struct git_call *call, const struct git_run *run, struct str commit) {
    if (!git_is_commit_name(commit)) {
        git_fail(call, GIT_REFUSED, "a candidate must be named by its full commit id");
        return -1;
    }
    int status =
        git_try(call, GIT_RESOLVE, GIT_ARGS(git_ref(call, GIT_REF_CANDIDATE, run->run, commit)));
    if (status > 0 && seam("planted any commit"))
        return 1;
    return status < 0 ? -1 : status == 0;
}

static bool is_candidate(struct git_call *call, const struct git_run *run, struct str commit) {
    int here = git_candidate_is_here(call, run, commit);
    if (here == 0)
        git_fail(call, GIT_REFUSED, "%.*s is not a candidate of run %.*s", STR_ARG(commit),
                 STR_ARG(run->run));
    return here > 0;
}

bool git_candidate_check(struct git_call *call, const struct git_run *run, struct str commit,
                         struct str onto) {
    if (!is_candidate(call, run, commit) || !git_commit_known(call, onto))
        return false;
    int status = git_try(call, GIT_CONTAINS, GIT_ARGS(onto, commit));
    if (status > 0)
        git_fail(call, GIT_REFUSED, "%.*s is not on top of %.*s", STR_ARG(commit), STR_ARG(onto));
    return status == 0;
}

static bool text_read(struct git_call *call, const struct git_candidate *candidate,
                      struct str *ret) {
    struct writer writer = {.arena = call->arena};
    struct str most = arena_format(call->arena, "%d", GIT_REPLAYED);
    if (!git_do(call, GIT_DIFF, GIT_ARGS(candidate->onto, candidate->commit)))
        return false;
    write_raw(&writer, call->out);
    if (candidate->added_count > 1) {
        if (!git_do(call, GIT_SHOW_ADDED, GIT_ARGS(most, candidate->commit, candidate->onto)))
            return false;
        write_raw(&writer,
                  arena_format(call->arena, "\nIt adds %u commits:\n\n", candidate->added_count));
        write_raw(&writer, call->out);
    }
    *ret = (struct str){writer.at, writer.len};
    return true;
}

struct git_answer git_candidate_diff(const struct git_context *context, const struct git_repo *repo,
                                     const struct git_run *run, struct str commit, struct str onto,
                                     size_t most, struct arena *arena, struct git_candidate *ret,
                                     struct str *ret_text, bool *ret_cut) {
    struct git_call call;
    struct git_candidate candidate = {.commit = commit, .onto = onto};
    struct str text;
    git_begin(&call, context, arena);
    if (git_run_check(&call, run) && git_lock_run(&call, run->run) && git_repo_open(&call, repo) &&
        git_candidate_check(&call, run, commit, onto) && candidate_read(&call, run, &candidate) &&
        text_read(&call, &candidate, &text)) {
        *ret = candidate;
        *ret_text = git_cut_at_line(text, most, ret_cut);
    }
    return git_end(&call);
}

/* ---- for checking ---- */

/* True for one of the paths itself and for anything below one of them. */
static bool is_below(struct str path, const struct str *paths, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (paths[i].len && str_begins(path, paths[i]) &&
            (path.len == paths[i].len || path.at[paths[i].len] == '/'))
            return true;
    return false;
}

static bool restore(struct git_call *call, const struct git_run *run, struct str commit,
                    struct str onto, const struct str *paths, uint32_t path_count,
                    struct str *ret) {
    struct git_changes back;
    struct writer writer = {.arena = call->arena};
    struct str tree;
    *ret = STR("");
    if (!git_changes(call, commit, onto, &back))
        return false;
    for (int gone = 1; gone >= 0; gone--)
        for (uint32_t i = 0; i < back.count; i++)
            if (git_entry_is_gone(back.list[i].after) == gone &&
                is_below(back.list[i].path, paths, path_count))
                git_entry_write(&writer, back.list[i].path, back.list[i].after);
    if (!writer.len)
        return true;
    if (!date_set(call, commit) || !git_index_begin(call, run) ||
        !git_tree_write(call, run, commit, &writer, &tree) ||
        !git_do(call, GIT_COMMIT, GIT_ARGS(tree, STR("Only for checking\n"), STR("-p"), onto)))
        return false;
    struct str made = git_line(call);
    if (!ref_keep(call, run, GIT_REF_KEPT, made) || !git_index_end(call, run))
        return false;
    *ret = made;
    return true;
}

struct git_answer git_candidate_restore(const struct git_context *context,
                                        const struct git_repo *repo, const struct git_run *run,
                                        struct str commit, struct str onto, const struct str *paths,
                                        uint32_t path_count, struct arena *arena,
                                        struct str *ret_commit) {
    struct git_call call;
    struct str made;
    git_begin(&call, context, arena);
    if (git_run_check(&call, run) && git_lock_run(&call, run->run) && git_repo_open(&call, repo) &&
        git_candidate_check(&call, run, commit, onto) &&
        restore(&call, run, commit, onto, paths, path_count, &made))
        *ret_commit = made;
    return git_end(&call);
}
