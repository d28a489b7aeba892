/* SPDX-License-Identifier: Apache-2.0 */
/* Measures what an agent has done since it began.
 *
 * Its commits come from an upload-pack that runs in a sandbox and sees only that worktree and the published objects;
 * git checks them outside of the sandbox, object by object. Its files are copied, through descriptors, into a private
 * folder, and git works on the copies (git_walk.h). Git never gets a path inside the worktree. Everything that cannot
 * be taken in is counted. */
#include "git/git_walk.h"

#include "base/bytes.h"
#include "base/seam.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { INCLUDED_BYTES = 1 << 22 };

static struct str part(struct git_call *call, struct str folder, const char *name) {
    return arena_format(call->arena, "%.*s/%s", STR_ARG(folder), name);
}

/* ---- its commits ---- */

/* False for an objects folder in which nothing was ever stored: it has two levels of folders and no files. */
static bool folder_has_file(int folder, const char *name, int depth) {
    int fd = git_open_beneath(folder, str_of(name), O_RDONLY | O_DIRECTORY);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    bool has = !stream;
    for (struct dirent *entry; stream && !has && (entry = readdir(stream));) {
        const char *inner = entry->d_name;
        if (strcmp(inner, ".") == 0 || strcmp(inner, "..") == 0 || strcmp(inner, "alternates") == 0)
            continue;
        has = depth == 0 || folder_has_file(dirfd(stream), inner, depth - 1);
    }
    if (stream)
        closedir(stream);
    else if (fd >= 0)
        close(fd);
    return has;
}

/* Without a sandbox to read it in, the agent's history counts as absent. This tells whether there is any. */
static bool history_was_made(struct git_call *call, const struct git_run *run) {
    struct str tree = git_tree_path(call, run->run);
    int root = open(arena_cstr(call->arena, tree), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool made = root < 0 || folder_has_file(root, ".git/objects", 1);
    if (root >= 0)
        close(root);
    return made;
}

/* Limits the number of refs: each ref of an agent becomes a file of ours. */
static bool refs_are_few(struct str lines) {
    unsigned count = 0;
    while (lines.len && count <= GIT_REFS_TAKEN) {
        str_line_take(&lines);
        count++;
    }
    return count > 0 && count <= GIT_REFS_TAKEN;
}

/* False: the history cannot be read. Fetches only if a ref has moved. */
static bool history_fetch(struct git_call *call, const struct git_run *run, struct str ref,
                          struct hash *history) {
    static const struct str THERE = STR("file:///worktree"); /* the sandbox has the real path */
    call->boxed_tree = git_tree_path(call, run->run);
    bool read = git_try(call, GIT_LIST_RUN, GIT_ARGS(THERE)) == 0 && refs_are_few(call->out);
    struct hash now = sha256(call->out);
    if (read && !hash_equal(&now, history)) {
        struct str one = arena_format(call->arena, "+HEAD:%.*s/HEAD", STR_ARG(ref));
        struct str all = arena_format(call->arena, "+refs/*:%.*s/refs/*", STR_ARG(ref));
        read = git_try(call, GIT_FETCH_RUN, GIT_ARGS(THERE, one, all)) == 0;
    }
    *history = read ? now : (struct hash){0};
    call->boxed_tree = STR("");
    if (call->answer.result == GIT_TOO_LONG || call->answer.result == GIT_TOO_MUCH)
        call->answer = (struct git_answer){0}; /* counts as a broken history, too */
    return read;
}

static void history_take(struct git_call *call, const struct git_run *run, struct hash *history,
                         struct git_measure *ret) {
    struct str ref = git_ref(call, GIT_REF_RUN, run->run, STR(""));
    ret->head = run->base;
    if (call->context->sandbox_count == 0) {
        ret->absent = history_was_made(call, run);
        return;
    }
    ret->broken = !history_fetch(call, run, ref, history);
    int status = git_try(call, GIT_RESOLVE,
                         GIT_ARGS(arena_format(call->arena, "%.*s/HEAD^{commit}", STR_ARG(ref))));
    if (status == 0)
        ret->head = git_line(call);
}

/* ---- its files ---- */

struct taking {
    struct git_walk walk;
    struct git_seen before, now;
    struct writer drop, known, copied;
    const struct git_run *run;
    uint32_t batch_count, taken;
    uint64_t batch_bytes;
    int64_t until_ms;
};

/* Reads the list of files that we copied in: they are never part of the work, whatever .gitignore says now. */
static void included_read(struct git_call *call, struct str folder, struct git_walk *walk) {
    struct str text;
    if (!git_file_read(call, part(call, folder, "included"), INCLUDED_BYTES, &text))
        return;
    struct str *list = arena_new(call->arena, struct str, GIT_INCLUDES);
    struct reader reader = {.rest = text};
    while (reader.rest.len && !reader.failed && walk->included_count < GIT_INCLUDES)
        list[walk->included_count++] = read_run(&reader);
    walk->included = list;
}

static bool index_feed(struct git_call *call, const struct git_walk *walk, enum git_command command,
                       struct writer *rows) {
    struct str list = arena_format(call->arena, "%.*s.list", STR_ARG(walk->copy_path));
    if (!rows->len)
        return git_well(call);
    if (!git_scratch_write(call, list, (struct str){rows->at, rows->len}))
        return false;
    *rows = (struct writer){.arena = call->arena};
    call->input = list;
    return git_do(call, command, NULL, 0);
}

static void row_add(struct writer *writer, struct str path) {
    write_raw(writer, path);
    write_byte(writer, 0);
}

static int64_t clock_ns(clockid_t clock) {
    struct timespec at;
    clock_gettime(clock, &at);
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static void copies_remove(const struct taking *taking, struct str rows) {
    while (rows.len) {
        struct str path = {rows.at, strnlen(rows.at, rows.len)};
        const char *slash = memrchr(path.at, '/', path.len);
        if (strcmp(slash ? slash + 1 : path.at, ".gitattributes") != 0)
            (void)unlinkat(taking->walk.copy, path.at, 0);
        rows = (struct str){rows.at + path.len + 1, rows.len - path.len - 1};
    }
}

/* Git adds the copied files; then the copies are removed, so that a large tree never exists twice. */
static bool batch_end(struct git_call *call, struct taking *taking) {
    struct str rows = {taking->copied.at, taking->copied.len};
    if (!index_feed(call, &taking->walk, GIT_ADD, &taking->copied))
        return false;
    copies_remove(taking, rows);
    taking->taken += taking->batch_count;
    taking->batch_count = 0;
    taking->batch_bytes = 0;
    return true;
}

static bool changed_take(struct git_call *call, struct taking *taking, struct git_found found) {
    if (clock_ns(CLOCK_MONOTONIC) / 1000000 > taking->until_ms)
        return git_fail(call, GIT_TOO_LONG, "copying took longer than %lld s",
                        (long long)(call->context->within_us / 1000000));
    enum git_copied copied = git_copy(&taking->walk, found.path, &found.stat);
    if (copied == GIT_COPY_FAILED)
        return false;
    if (copied == GIT_COPY_GONE)
        row_add(&taking->drop, found.path);
    taking->walk.left_out += copied == GIT_COPY_ODD;
    if (copied != GIT_COPIED)
        return true;
    row_add(&taking->copied, found.path);
    git_found_add(call->arena, &taking->now.files, found);
    taking->batch_bytes += found.stat.size;
    return (++taking->batch_count < GIT_BATCH && taking->batch_bytes < GIT_BATCH_BYTES) ||
           batch_end(call, taking);
}

/* The earlier result of git is reused unless the attributes have changed or HEAD has something else there. */
static const struct git_found *known_find(const struct taking *taking,
                                          const struct git_found *found) {
    const struct git_found *before = git_seen_find(&taking->before, found->path);
    bool same = before && git_seen_same(&taking->before, before, &found->stat) &&
                hash_equal(&taking->before.attributes, &taking->walk.attributes) &&
                (str_equal(before->was, found->was) || str_equal(before->hash, found->was));
    return same ? before : NULL;
}

static bool found_take(struct git_call *call, struct taking *taking, struct git_found found) {
    const struct git_found *known = known_find(taking, &found);
    if (!known)
        return changed_take(call, taking, found);
    found.hash = known->hash;
    git_found_add(call->arena, &taking->now.files, found);
    const struct git_index_row *entry = git_row_find(&taking->walk.head, found.path);
    if (!entry || entry->mode != found.stat.mode || !str_equal(entry->hash, found.hash)) {
        write_raw(&taking->known,
                  arena_format(call->arena, "%06o %.*s\t", found.stat.mode, STR_ARG(found.hash)));
        row_add(&taking->known, found.path);
    }
    return true;
}

static bool all_take(struct git_call *call, struct taking *taking) {
    struct git_walk *walk = &taking->walk;
    for (uint32_t i = 0; i < walk->head.count; i++)
        if (!walk->head.at[i].there)
            row_add(&taking->drop, walk->head.at[i].path);
    if (!index_feed(call, walk, GIT_DROP, &taking->drop))
        return false;
    for (uint32_t i = 0; i < walk->found.count; i++)
        if (!found_take(call, taking, walk->found.at[i]))
            return false;
    return batch_end(call, taking) && index_feed(call, walk, GIT_ADD_KNOWN, &taking->known) &&
           index_feed(call, walk, GIT_DROP, &taking->drop); /* deleted while it was copied */
}

static bool index_list(struct git_call *call, struct git_index_rows *ret) {
    call->output_most = GIT_LIST_OUTPUT;
    bool listed = git_do(call, GIT_LIST_INDEX, NULL, 0);
    call->output_most = 0;
    return listed && git_rows_read(call, call->out, ret);
}

/* Reads the hashes that git computed for the copies. */
static bool hashes_read(struct git_call *call, struct taking *taking) {
    struct git_index_rows made;
    if (taking->taken == 0)
        return true;
    if (!index_list(call, &made))
        return false;
    for (uint32_t i = 0; i < taking->now.files.count; i++) {
        struct git_found *found = &taking->now.files.at[i];
        const struct git_index_row *entry =
            found->hash.len ? NULL : git_row_find(&made, found->path);
        if (entry)
            found->hash = entry->hash;
    }
    return true;
}

static void taking_begin(struct git_call *call, struct str folder, struct str tree,
                         struct taking *taking) {
    call->tree = part(call, folder, "copy");
    call->index = part(call, folder, "index");
    *taking = (struct taking){
        .walk = {.call = call, .copy_path = call->tree, .root = -1, .copy = -1},
        .drop = {.arena = call->arena},
        .known = {.arena = call->arena},
        .copied = {.arena = call->arena},
        .until_ms = clock_ns(CLOCK_MONOTONIC) / 1000000 + call->context->within_us / 1000};
    taking->now.begun_ns = clock_ns(CLOCK_REALTIME_COARSE);
    included_read(call, folder, &taking->walk);
    (void)tree;
}

/* Fills our index from HEAD, then walks the worktree. */
static bool taking_walk(struct git_call *call, struct taking *taking, struct str folder,
                        struct str tree, struct str head) {
    return git_walk_begin(&taking->walk, tree) &&
           git_folder_remove(call, part(call, folder, "index.lock")) &&
           git_do(call, GIT_READ_TREE, GIT_ARGS(head)) && index_list(call, &taking->walk.head) &&
           git_walk_go(&taking->walk);
}

static bool files_take(struct git_call *call, const struct git_run *run, struct git_seen *before,
                       struct git_measure *ret, struct str *ret_tree) {
    struct str folder = git_tree_folder(call, run->run), tree = git_tree_path(call, run->run);
    struct str remembered = part(call, folder, "seen");
    struct taking *taking = arena_new(call->arena, struct taking, 1);
    taking_begin(call, folder, tree, taking);
    taking->before = *before;
    bool took = taking_walk(call, taking, folder, tree, ret->head) && all_take(call, taking) &&
                hashes_read(call, taking) && git_do(call, GIT_WRITE_TREE, NULL, 0);
    if (took)
        *ret_tree = git_line(call);
    ret->left_out = taking->walk.left_out;
    git_walk_end(&taking->walk);
    if (!took) { /* the remembered state may be the cause */
        (void)unlink(arena_cstr(call->arena, remembered));
        return false;
    }
    taking->now.attributes = taking->walk.attributes;
    taking->now.history = before->history;
    return git_seen_write(call, remembered, &taking->now);
}

/* A new worktree has exactly the files of its base, so the first measurement need not read them all. */
bool git_seen_begin(struct git_call *call, struct str folder, struct str tree, struct str base) {
    struct taking *taking = arena_new(call->arena, struct taking, 1);
    struct str fresh = call->tree;
    taking_begin(call, folder, tree, taking);
    bool walked = taking_walk(call, taking, folder, tree, base);
    for (uint32_t i = 0; i < taking->walk.found.count && walked; i++) {
        struct git_found found = taking->walk.found.at[i];
        found.hash = found.was;
        if (found.hash.len)
            git_found_add(call->arena, &taking->now.files, found);
    }
    git_walk_end(&taking->walk);
    call->tree = fresh;
    taking->now.begun_ns = clock_ns(CLOCK_REALTIME_COARSE);
    taking->now.attributes = taking->walk.attributes;
    return walked && git_seen_write(call, part(call, folder, "seen"), &taking->now);
}

static bool snapshot_make(struct git_call *call, const struct git_run *run, struct str tree,
                          struct git_measure *ret) {
    if (!git_do(call, GIT_RESOLVE,
                GIT_ARGS(arena_format(call->arena, "%.*s^{tree}", STR_ARG(ret->head)))))
        return false;
    ret->snapshot = ret->head;
    if (!str_equal(git_line(call), tree)) {
        struct str message = arena_format(call->arena, "Snapshot of run %.*s", STR_ARG(run->run));
        if (!git_do(call, GIT_COMMIT, GIT_ARGS(tree, message, STR("-p"), ret->head)))
            return false;
        ret->snapshot = git_line(call);
    }
    return git_do(call, GIT_SET_REF,
                  GIT_ARGS(git_ref(call, GIT_REF_SNAPSHOT, run->run, STR("")), ret->snapshot));
}

/* ---- what changed ---- */

/* ":100644 100644 OLD NEW M", path; then "1<tab>2<tab>path" for each file in the same order. */
static void file_read(struct str raw, struct str path, struct git_file *ret) {
    size_t length = (raw.len - strlen(":100644 100644   M")) / 2;
    bool gone = raw.at[raw.len - 1] == 'D';
    ret->path = path;
    ret->hash =
        gone ? STR("") : (struct str){raw.at + strlen(":100644 100644 ") + length + 1, length};
}

static void counts_read(struct str line, struct git_file *ret) {
    char *end;
    ret->binary = line.len && line.at[0] == '-';
    if (ret->binary)
        return;
    ret->insertions = (uint32_t)strtoul(line.at, &end, 10);
    ret->deletions = (uint32_t)strtoul(end, NULL, 10);
}

bool git_changes_read(struct git_call *call, const struct git_run *run, struct git_measure *ret) {
    if (!git_do(call, GIT_COMPARE, GIT_ARGS(run->base, ret->snapshot)))
        return false;
    struct git_file *files = arena_new(call->arena, struct git_file, GIT_FILES);
    struct str left = call->out;
    while (left.len && left.at[0] == ':') {
        struct str raw = git_field_next(&left), path = git_field_next(&left);
        if (ret->file_count == GIT_FILES)
            return git_fail(call, GIT_TOO_MUCH, "more than %d changed files", GIT_FILES);
        file_read(raw, path, &files[ret->file_count++]);
    }
    for (uint32_t i = 0; i < ret->file_count && left.len; i++) {
        counts_read(git_field_next(&left), &files[i]);
        ret->insertions += files[i].insertions;
        ret->deletions += files[i].deletions;
    }
    ret->files = files;
    return true;
}

bool git_measure_take(struct git_call *call, const struct git_run *run, struct git_measure *ret) {
    struct str tree;
    if (!git_exists(call, git_tree_path(call, run->run)))
        return git_fail(call, GIT_REFUSED, "run %.*s has no worktree", STR_ARG(run->run));
    struct git_seen before;
    git_seen_read(call, part(call, git_tree_folder(call, run->run), "seen"), &before);
    history_take(call, run, &before.history, ret);
    return git_well(call) && files_take(call, run, &before, ret, &tree) &&
           snapshot_make(call, run, tree, ret);
}

struct git_answer git_tree_measure(const struct git_context *context, const struct git_repo *repo,
                                   const struct git_run *run, struct arena *arena,
                                   struct git_measure *ret) {
    struct git_call call;
    struct git_measure measure = {0};
    git_begin(&call, context, arena);
    if (git_run_check(&call, run) && git_lock_run(&call, run->run) && git_repo_open(&call, repo) &&
        git_measure_take(&call, run, &measure) && git_changes_read(&call, run, &measure))
        *ret = measure;
    return git_end(&call);
}
