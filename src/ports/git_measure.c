/* SPDX-License-Identifier: Apache-2.0 */
/* What has an agent done since it began?
 *
 * Its commits are fetched, checked, into our clone. Its files are put into an index of our own, so that its index
 * and HEAD stay as they are, and no setting of its repository is read. What cannot be taken in is counted, never dropped silently. */
#include "ports/git_state.h"

#include "base/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { INCLUDED_BYTES = 1 << 22 };

static struct str part(struct git_call *call, struct str folder, const char *name) {
    return arena_format(call->arena, "%.*s/%s", STR_ARG(folder), name);
}

/* ---- its commits ---- */

/* Its .git holds nothing that leads elsewhere: we would fetch, in our name, what the agent cannot read. */
static bool history_is_its_own(struct git_call *call, struct str dot_git) {
    struct str borrowed, wanted = arena_format(call->arena, "%.*s/objects\n", STR_ARG(call->clone));
    return git_folder_is_plain(call, dot_git, GIT_DOT_GIT) &&
           !git_exists(call, part(call, dot_git, "commondir")) &&
           git_file_read(call, part(call, dot_git, "objects/info/alternates"), 8192, &borrowed) &&
           str_equal(borrowed, wanted) &&
           !git_exists(call, part(call, dot_git, "objects/info/http-alternates"));
}

/* reftable: another way to keep them, that nobody here can count. */
static bool refs_are_few(struct git_call *call, struct str dot_git) {
    struct str text = {0}, packed = part(call, dot_git, "packed-refs");
    uint32_t left = GIT_REFS_TAKEN;
    if (git_exists(call, part(call, dot_git, "reftable")) ||
        (git_exists(call, packed) && !git_file_read(call, packed, GIT_PACKED_REFS, &text)))
        return false;
    for (; left > 0 && text.len; left--)
        str_line_take(&text);
    return left > 0 && git_folder_is_plain(call, part(call, dot_git, "refs"), left);
}

static void history_take(struct git_call *call, const struct git_run *run,
                         struct git_measure *ret) {
    struct str dot_git = part(call, git_tree_path(call, run->run), ".git");
    struct str ref = git_ref(call, GIT_REF_RUN, run->run, STR(""));
    struct str head = part(call, ref, "HEAD");
    ret->head = run->base;
    ret->broken = true;
    call->local = true;
    if (history_is_its_own(call, dot_git) && refs_are_few(call, dot_git)) {
        struct str one = arena_format(call->arena, "+HEAD:%.*s", STR_ARG(head));
        struct str all = arena_format(call->arena, "+refs/*:%.*s/refs/*", STR_ARG(ref));
        ret->broken = git_try(call, GIT_FETCH_RUN, GIT_ARGS(dot_git, one, all)) != 0;
    }
    if (call->answer.result == GIT_TOO_LONG || call->answer.result == GIT_TOO_MUCH)
        call->answer = (struct git_answer){0}; /* that is a broken history as well */
    int status = git_try(call, GIT_RESOLVE,
                         GIT_ARGS(arena_format(call->arena, "%.*s^{commit}", STR_ARG(head))));
    if (status == 0)
        ret->head = git_line(call);
}

/* ---- its files ---- */

struct sorting {
    struct str tree;
    struct writer add, drop;
    const struct str *included;
    uint32_t included_count, count, left_out;
};

static bool same_letters(struct str s, const char *lower) {
    if (s.len != strlen(lower))
        return false;
    for (size_t i = 0; i < s.len; i++)
        if ((s.at[i] >= 'A' && s.at[i] <= 'Z' ? s.at[i] + 32 : s.at[i]) != lower[i])
            return false;
    return true;
}

/* What some file system would take for .git: git refuses to have it in an index. Stricter than git for names with
 * invisible letters, of which none is needed. */
static bool part_is_odd(struct str s) {
    struct str bare = s;
    while (bare.len && (bare.at[bare.len - 1] == '.' || bare.at[bare.len - 1] == ' '))
        bare.len--;
    const char *colon = bare.len ? memchr(bare.at, ':', bare.len) : NULL;
    if (colon)
        bare.len = (size_t)(colon - bare.at);
    while (bare.len && (bare.at[bare.len - 1] == '.' || bare.at[bare.len - 1] == ' '))
        bare.len--;
    bool git_like = s.len > 4 && s.at[0] == '.' && memmem(s.at, s.len, "\xe2\x80", 2);
    bool marked =
        s.len > 4 && (memmem(s.at, s.len, "\xe2\x81", 2) || memmem(s.at, s.len, "\xef\xbb\xbf", 3));
    return s.len == 0 || memchr(s.at, '\\', s.len) || same_letters(bare, ".git") ||
           same_letters(bare, "git~1") || git_like || marked || same_letters(s, ".") ||
           same_letters(s, "..");
}

enum kind { PLAIN, GONE, ODD };

/* Looks at each folder on the way: behind a link is not in the worktree. */
static enum kind path_kind(struct sorting *sorting, struct str path) {
    char text[8192];
    struct stat seen;
    size_t root = sorting->tree.len;
    if (path.len == 0 || path.at[path.len - 1] == '/' || root + path.len + 2 > sizeof text)
        return ODD;
    memcpy(text, sorting->tree.at, root);
    text[root] = '/';
    memcpy(text + root + 1, path.at, path.len);
    text[root + 1 + path.len] = 0;
    enum kind kind = PLAIN;
    for (char *from = text + root + 1; kind == PLAIN;) {
        char *end = strchrnul(from, '/');
        char kept = *end;
        *end = 0;
        if (part_is_odd(str_of(from)))
            kind = ODD;
        else if (lstat(text, &seen) < 0)
            kind = errno == ENOENT || errno == ENOTDIR ? GONE : ODD;
        else if (kept)
            kind = S_ISDIR(seen.st_mode) ? PLAIN : GONE;
        *end = kept;
        if (!kept)
            break;
        from = end + 1;
    }
    bool takes = kind == PLAIN &&
                 (S_ISLNK(seen.st_mode) || (S_ISREG(seen.st_mode) && (seen.st_mode & 0400) &&
                                            seen.st_size <= GIT_FILE_BYTES));
    return kind != PLAIN || takes ? kind : ODD;
}

static bool is_included(const struct sorting *sorting, struct str path) {
    for (uint32_t i = 0; i < sorting->included_count; i++)
        if (str_equal(sorting->included[i], path))
            return true;
    return false;
}

static bool paths_sort(struct git_call *call, struct sorting *sorting, struct str paths) {
    while (paths.len) {
        struct str path = {paths.at, strnlen(paths.at, paths.len)};
        size_t used = path.len < paths.len ? path.len + 1 : path.len;
        paths = (struct str){paths.at + used, paths.len - used};
        if (is_included(sorting, path))
            continue;
        if (++sorting->count > GIT_FILES)
            return git_fail(call, GIT_TOO_MUCH, "more than %d changed files", GIT_FILES);
        enum kind kind = path_kind(sorting, path);
        sorting->left_out += kind == ODD;
        if (kind == ODD)
            continue;
        write_raw(kind == GONE ? &sorting->drop : &sorting->add, path);
        write_byte(kind == GONE ? &sorting->drop : &sorting->add, 0);
    }
    return true;
}

/* Copied there by us: never part of the work, whatever .gitignore says by now. */
static void included_read(struct git_call *call, struct str folder, struct sorting *sorting) {
    struct str text;
    if (!git_file_read(call, part(call, folder, "included"), INCLUDED_BYTES, &text))
        return;
    struct str *list = arena_new(call->arena, struct str, GIT_INCLUDES);
    struct reader reader = {.rest = text};
    while (reader.rest.len && !reader.failed && sorting->included_count < GIT_INCLUDES)
        list[sorting->included_count++] = read_run(&reader);
    sorting->included = list;
}

static bool index_feed(struct git_call *call, const struct git_run *run, enum git_command command,
                       const struct writer *paths) {
    if (!paths->len)
        return git_well(call);
    struct str list = git_path(call, "tmp", run->run, ".paths");
    if (!git_folder_make(call, part(call, call->house->state, "tmp")) ||
        !git_file_write(call, list, (struct str){paths->at, paths->len}))
        return false;
    call->input = list;
    return git_do(call, command, NULL, 0);
}

/* The index is ours and stays: git need not read again what has not changed. */
static bool files_take(struct git_call *call, const struct git_run *run, struct git_measure *ret,
                       struct str *ret_tree) {
    struct str folder = git_tree_folder(call, run->run);
    call->tree = git_tree_path(call, run->run);
    call->index = part(call, folder, "index");
    struct sorting sorting = {
        .tree = call->tree, .add = {.arena = call->arena}, .drop = {.arena = call->arena}};
    included_read(call, folder, &sorting);
    if (!git_folder_remove(call, part(call, folder, "index.lock")) ||
        !git_do(call, GIT_READ_TREE, GIT_ARGS(ret->head)) ||
        !git_do(call, GIT_LIST_CHANGED, NULL, 0) || !paths_sort(call, &sorting, call->out) ||
        !index_feed(call, run, GIT_DROP, &sorting.drop) ||
        !index_feed(call, run, GIT_ADD, &sorting.add) || !git_do(call, GIT_WRITE_TREE, NULL, 0))
        return false;
    ret->left_out = sorting.left_out;
    *ret_tree = git_line(call);
    return true;
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

static struct str field_next(struct str *left) {
    struct str field = {left->at, strnlen(left->at, left->len)};
    size_t used = field.len < left->len ? field.len + 1 : field.len;
    *left = (struct str){left->at + used, left->len - used};
    return field;
}

/* ":100644 100644 OLD NEW M", path; then "1<tab>2<tab>path" for each of them in the same order. */
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
        struct str raw = field_next(&left), path = field_next(&left);
        if (ret->file_count == GIT_FILES)
            return git_fail(call, GIT_TOO_MUCH, "more than %d changed files", GIT_FILES);
        file_read(raw, path, &files[ret->file_count++]);
    }
    for (uint32_t i = 0; i < ret->file_count && left.len; i++) {
        counts_read(field_next(&left), &files[i]);
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
    history_take(call, run, ret);
    return git_well(call) && files_take(call, run, ret, &tree) &&
           snapshot_make(call, run, tree, ret);
}

struct git_answer git_tree_measure(const struct git_house *house, const struct git_repo *repo,
                                   const struct git_run *run, struct arena *arena,
                                   struct git_measure *ret) {
    struct git_call call;
    struct git_measure measure = {0};
    git_begin(&call, house, arena);
    if (git_run_check(&call, run) && git_lock_run(&call, run->run) && git_repo_open(&call, repo) &&
        git_measure_take(&call, run, &measure) && git_changes_read(&call, run, &measure))
        *ret = measure;
    return git_end(&call);
}
