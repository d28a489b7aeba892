/* SPDX-License-Identifier: Apache-2.0 */
/* Merges two changes of one tree.
 *
 * A three-way merge, path by path. The caller names the base; it is never derived from history. A path that only one
 * side changed is taken from that side; git merges the content of paths that both sides changed. Renames are not
 * detected, so that no change moves to a path that its side did not touch: git (2.39) cannot be told to ignore renames,
 * so it gets trees that have the same paths. */
#include "git/git_state.h"

#include "base/bytes.h"
#include "base/seam.h"

#include <stdlib.h>

static const struct str NO_MODE = STR("000000");

/* ---- differences between two trees ---- */

static int change_order(const void *a, const void *b) {
    const struct git_change *one = a, *two = b;
    return str_compare(one->path, two->path);
}

/* ":100644 100644 OLD NEW M" */
static bool change_read(struct str raw, struct str path, struct git_change *ret) {
    if (raw.len < 97 || raw.at[0] != ':' || !path.len)
        return false;
    *ret = (struct git_change){.path = path,
                               .before = {{raw.at + 1, 6}, {raw.at + 15, 40}},
                               .after = {{raw.at + 8, 6}, {raw.at + 56, 40}}};
    return true;
}

bool git_changes(struct git_call *call, struct str from, struct str to, struct git_changes *ret) {
    if (!git_do(call, GIT_COMPARE_RAW, GIT_ARGS(from, to)))
        return false;
    uint32_t fields = 0, count = 0;
    for (size_t i = 0; i < call->out.len; i++)
        fields += call->out.at[i] == 0;
    struct git_change *list = arena_new(call->arena, struct git_change, fields / 2 + 1);
    for (struct str left = call->out; left.len;) {
        struct str raw = git_field_next(&left), path = git_field_next(&left);
        if (!change_read(raw, path, &list[count++]))
            return git_fail(call, GIT_FAILED, "git diff-tree: a line that cannot be read");
    }
    qsort(list, count, sizeof *list, change_order);
    *ret = (struct git_changes){list, count};
    return true;
}

/* The first one at or after `path`. */
static uint32_t change_at(const struct git_changes *changes, struct str path) {
    uint32_t low = 0, high = changes->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (str_compare(changes->list[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct git_change *git_change_find(const struct git_changes *changes, struct str path) {
    uint32_t at = change_at(changes, path);
    bool there = at < changes->count && str_equal(changes->list[at].path, path);
    return there ? &changes->list[at] : NULL;
}

bool git_entry_is_gone(struct git_tree_entry entry) {
    return str_equal(entry.mode, NO_MODE);
}

bool git_entry_equal(struct git_tree_entry a, struct git_tree_entry b) {
    return str_equal(a.mode, b.mode) && str_equal(a.hash, b.hash);
}

/* ---- trees from entries ---- */

bool git_index_begin(struct git_call *call, const struct git_run *run) {
    struct str folder = arena_format(call->arena, "%.*s/tmp", STR_ARG(call->context->state));
    call->index = git_path(call, "tmp", run->run, ".index");
    return git_folder_make(call, folder) && git_index_end(call, run);
}

bool git_index_end(struct git_call *call, const struct git_run *run) {
    return git_folder_remove(call, git_path(call, "tmp", run->run, ".index")) &&
           git_folder_remove(call, git_path(call, "tmp", run->run, ".index.lock")) &&
           git_folder_remove(call, git_path(call, "tmp", run->run, ".entries"));
}

void git_entry_write(struct writer *writer, struct str path, struct git_tree_entry entry) {
    write_raw(writer, entry.mode);
    write_byte(writer, ' ');
    write_raw(writer, entry.hash);
    write_byte(writer, '\t');
    write_raw(writer, path);
    write_byte(writer, 0);
}

bool git_tree_write(struct git_call *call, const struct git_run *run, struct str from,
                    const struct writer *entries, struct str *ret_tree) {
    struct str list = git_path(call, "tmp", run->run, ".entries");
    struct str start = from.len ? from : STR("--empty");
    if (!git_do(call, GIT_INDEX_READ, GIT_ARGS(start)))
        return false;
    if (entries->len) {
        if (!git_file_write(call, list, (struct str){entries->at, entries->len}))
            return false;
        call->input = list;
        if (!git_do(call, GIT_INDEX_SET, NULL, 0))
            return false;
    }
    if (!git_do(call, GIT_INDEX_WRITE, NULL, 0))
        return false;
    *ret_tree = git_line(call);
    return true;
}

bool git_tree_of(struct git_call *call, struct str commit, struct str *ret) {
    if (!git_do(call, GIT_RESOLVE,
                GIT_ARGS(arena_format(call->arena, "%.*s^{tree}", STR_ARG(commit)))))
        return false;
    *ret = git_line(call);
    return true;
}

/* ---- merging ---- */

struct merging {
    struct git_call *call;
    const struct git_run *run;
    struct git_changes ours, theirs; /* each relative to the base */
    struct git_change *both; /* changed by both sides, removed by neither; after: as in theirs */
    uint32_t both_count;
    struct git_merged *ret;
};

static void conflict_add(struct merging *it, struct str path) {
    struct git_merged *ret = it->ret;
    if (ret->conflict_count < it->ours.count + it->theirs.count)
        ret->conflicts[ret->conflict_count++] = path;
}

static void taken_add(struct merging *it, struct str path, struct git_tree_entry before,
                      struct git_tree_entry after) {
    it->ret->taken.list[it->ret->taken.count++] = (struct git_change){path, before, after};
}

/* A file of theirs where ours has created a folder, or below a file that ours has created. */
static bool stands_in_the_way(const struct merging *it, struct str path) {
    struct str below = arena_format(it->call->arena, "%.*s/", STR_ARG(path));
    for (uint32_t i = change_at(&it->ours, below);
         i < it->ours.count && str_begins(it->ours.list[i].path, below); i++)
        if (!git_entry_is_gone(it->ours.list[i].after))
            return true;
    for (size_t i = 1; i < path.len; i++) {
        if (path.at[i] != '/')
            continue;
        const struct git_change *above = git_change_find(&it->ours, (struct str){path.at, i});
        if (above && !git_entry_is_gone(above->after))
            return true;
    }
    return false;
}

/* A regular file: neither a link nor a submodule. */
static bool is_file(struct git_tree_entry entry) {
    return str_begins(entry.mode, STR("100"));
}

static void path_merge(struct merging *it, const struct git_change *theirs) {
    const struct git_change *ours = git_change_find(&it->ours, theirs->path);
    if (ours && git_entry_equal(ours->after, theirs->after))
        return;
    if (!git_entry_is_gone(theirs->after) && stands_in_the_way(it, theirs->path)) {
        conflict_add(it, theirs->path);
    } else if (!ours) {
        taken_add(it, theirs->path, theirs->before, theirs->after);
    } else if (is_file(ours->before) && is_file(ours->after) && is_file(theirs->after)) {
        it->both[it->both_count++] = *theirs;
    } else {
        conflict_add(it, theirs->path);
    }
}

/* Makes a commit that has only the paths that both sides changed. */
static bool part_make(struct merging *it, struct str parent, int side, struct str *ret) {
    struct writer writer = {.arena = it->call->arena};
    struct str tree;
    for (uint32_t i = 0; i < it->both_count; i++) {
        const struct git_change *theirs = &it->both[i];
        const struct git_change *ours = git_change_find(&it->ours, theirs->path);
        git_entry_write(&writer, theirs->path,
                        side == 0   ? theirs->before
                        : side == 1 ? ours->after
                                    : theirs->after);
    }
    struct str args[4] = {{0}, STR("Part of a merge\n"), STR("-p"), parent};
    if (!git_tree_write(it->call, it->run, STR(""), &writer, &tree))
        return false;
    args[0] = tree;
    if (!git_do(it->call, GIT_COMMIT, args, parent.len ? 4 : 2))
        return false;
    *ret = git_line(it->call);
    return true;
}

/* Git lists each file once for each side that touches it. */
static void conflicts_read(struct merging *it, struct str names) {
    for (struct str last = {0}; names.len;) {
        struct str name = git_field_next(&names);
        if (name.len && !str_equal(name, last))
            conflict_add(it, last = name);
    }
}

/* Lets git merge the content of files that both sides changed. */
static bool contents_merge(struct merging *it) {
    struct git_call *call = it->call;
    struct str base, ours, theirs, tree;
    struct git_changes made;
    if (!it->both_count)
        return true;
    if (!part_make(it, STR(""), 0, &base) || !part_make(it, base, 1, &ours) ||
        !part_make(it, base, 2, &theirs))
        return false;
    int status = git_try(call, GIT_MERGE, GIT_ARGS(ours, theirs));
    if (status < 0 || status > 1)
        return status > 0 && git_fail_command(call, GIT_MERGE);
    struct str left = call->out;
    tree = git_field_next(&left);
    conflicts_read(it, left);
    if (!git_changes(call, ours, tree, &made))
        return false;
    for (uint32_t i = 0; i < made.count; i++)
        if (!str_is_among(made.list[i].path, it->ret->conflicts, it->ret->conflict_count))
            taken_add(it, made.list[i].path, made.list[i].before, made.list[i].after);
    return true;
}

/* Writes removals first: a folder may have become a file. */
static bool result_write(struct merging *it, struct str ours) {
    struct writer writer = {.arena = it->call->arena};
    const struct git_changes *taken = &it->ret->taken;
    for (int gone = 1; gone >= 0; gone--)
        for (uint32_t i = 0; i < taken->count; i++)
            if (git_entry_is_gone(taken->list[i].after) == gone)
                git_entry_write(&writer, taken->list[i].path, taken->list[i].after);
    if (seam("planted stray path"))
        git_entry_write(&writer, STR("stray"), taken->list[0].after);
    return git_tree_write(it->call, it->run, ours, &writer, &it->ret->tree);
}

bool git_merge_trees(struct git_call *call, const struct git_run *run, struct str base,
                     struct str ours, struct str theirs, struct git_merged *ret) {
    struct merging it = {.call = call, .run = run, .ret = ret};
    *ret = (struct git_merged){0};
    if (!git_changes(call, base, ours, &it.ours) || !git_changes(call, base, theirs, &it.theirs))
        return false;
    if (it.theirs.count > GIT_FILES)
        return git_fail(call, GIT_TOO_MUCH, "more than %d changed files", GIT_FILES);
    it.both = arena_new(call->arena, struct git_change, it.theirs.count + 1);
    ret->taken.list = arena_new(call->arena, struct git_change, 2 * it.theirs.count + 1);
    ret->conflicts = arena_new(call->arena, struct str, it.ours.count + it.theirs.count + 1);
    for (uint32_t i = 0; i < it.theirs.count; i++)
        path_merge(&it, &it.theirs.list[i]);
    if (!contents_merge(&it))
        return false;
    qsort(ret->taken.list, ret->taken.count, sizeof *ret->taken.list, change_order);
    return ret->conflict_count > 0 || result_write(&it, ours);
}

/* The result may differ from the target only where the work differs from its base, whatever made it. */
bool git_merge_is_own(struct git_call *call, struct str base, struct str theirs, struct str target,
                      struct str tree) {
    struct git_changes own, lands;
    if (!git_changes(call, base, theirs, &own) || !git_changes(call, target, tree, &lands))
        return false;
    for (uint32_t i = 0; i < lands.count; i++)
        if (!git_change_find(&own, lands.list[i].path))
            return git_fail(call, GIT_REFUSED,
                            "%.*s would change on the branch, although the run did not change it",
                            STR_ARG(lands.list[i].path));
    return true;
}
