/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files of an agent's worktree that belong in its snapshot: those that HEAD has, and others that no
 * .gitignore names.
 *
 * It proceeds level by level: it copies the .gitignore files of one level into the private folder before it asks git
 * there which of the new names are ignored. It never enters an ignored folder that contains nothing of HEAD. */
#include "git/git_walk.h"

#include "base/bytes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct candidate { /* not in HEAD: has to be tested for being ignored */
    struct str path;
    struct git_stat stat;
    bool folder, ignored;
};

struct level {
    struct str *folders;
    uint32_t folder_count, folder_room;
    struct candidate *asked;
    uint32_t asked_count, asked_room;
};

/* ---- lists ---- */

static void *list_room(struct arena *arena, void *at, uint32_t count, uint32_t *room, size_t size) {
    if (count < *room)
        return at;
    *room = *room ? *room * 2 : 64;
    void *new = arena_take(arena, *room * size, alignof(max_align_t));
    if (count)
        memcpy(new, at, count * size);
    return new;
}

void git_found_add(struct arena *arena, struct git_founds *founds, struct git_found found) {
    founds->at = list_room(arena, founds->at, founds->count, &founds->room, sizeof *founds->at);
    founds->at[founds->count++] = found;
}

static void folder_add(struct git_walk *walk, struct level *level, struct str path) {
    level->folders = list_room(walk->call->arena, level->folders, level->folder_count,
                               &level->folder_room, sizeof *level->folders);
    level->folders[level->folder_count++] = path;
}

static void candidate_add(struct git_walk *walk, struct level *level, struct candidate candidate) {
    level->asked = list_room(walk->call->arena, level->asked, level->asked_count,
                             &level->asked_room, sizeof *level->asked);
    level->asked[level->asked_count++] = candidate;
}

/* ---- what HEAD has ---- */

/* The first entry at or after `path`. */
static uint32_t entry_from(const struct git_index_rows *entries, struct str path) {
    uint32_t low = 0, high = entries->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (str_compare(entries->at[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct git_index_row *git_row_find(const struct git_index_rows *entries, struct str path) {
    uint32_t at = entry_from(entries, path);
    return at < entries->count && str_equal(entries->at[at].path, path) ? &entries->at[at] : NULL;
}

static uint32_t below_from(struct git_walk *walk, struct str folder, struct str *ret_prefix) {
    *ret_prefix = arena_format(walk->call->arena, "%.*s/", STR_ARG(folder));
    return entry_from(&walk->head, *ret_prefix);
}

static bool head_has_below(struct git_walk *walk, struct str folder) {
    struct str prefix;
    uint32_t at = below_from(walk, folder, &prefix);
    return at < walk->head.count && str_begins(walk->head.at[at].path, prefix);
}

/* The folder cannot be read, so what HEAD has there is kept. */
static void below_keep(struct git_walk *walk, struct str folder) {
    struct str prefix;
    for (uint32_t at = below_from(walk, folder, &prefix);
         at < walk->head.count && str_begins(walk->head.at[at].path, prefix); at++)
        walk->head.at[at].there = true;
}

/* "100644 HASH 0<tab>path", each followed by a NUL. */
bool git_rows_read(struct git_call *call, struct str text, struct git_index_rows *ret) {
    uint32_t count = 0;
    for (const char *at = text.at, *end = text.at + text.len; at < end; count++) {
        const char *nul = memchr(at, 0, (size_t)(end - at));
        at = nul ? nul + 1 : end;
    }
    ret->at = arena_new(call->arena, struct git_index_row, count + 1);
    ret->count = 0;
    while (text.len) {
        struct str row = {text.at, strnlen(text.at, text.len)};
        const char *tab = memchr(row.at, '\t', row.len);
        if (!tab || tab - row.at != 49 || row.len == text.len)
            return git_fail(call, GIT_FAILED, "git lists files in an unknown format");
        struct str path = {tab + 1, (size_t)(row.at + row.len - tab - 1)};
        ret->at[ret->count++] = (struct git_index_row){
            .path = path, .hash = {row.at + 7, 40}, .mode = (uint32_t)strtoul(row.at, NULL, 8)};
        text = (struct str){text.at + row.len + 1, text.len - row.len - 1};
    }
    return true;
}

/* ---- names ---- */

static bool same_letters(struct str s, const char *lower) {
    if (s.len != strlen(lower))
        return false;
    for (size_t i = 0; i < s.len; i++)
        if ((s.at[i] >= 'A' && s.at[i] <= 'Z' ? s.at[i] + 32 : s.at[i]) != lower[i])
            return false;
    return true;
}

/* Names that some file system would treat as .git: git refuses them in an index. Stricter than git for names with
 * invisible characters, which are never needed. */
static bool name_is_odd(struct str s) {
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
           same_letters(bare, "git~1") || git_like || marked;
}

static struct str name_of(struct str path) {
    const char *slash = memrchr(path.at, '/', path.len);
    return slash ? (struct str){slash + 1, (size_t)(path.at + path.len - slash - 1)} : path;
}

static bool is_included(const struct git_walk *walk, struct str path) {
    for (uint32_t i = 0; i < walk->included_count; i++)
        if (str_equal(walk->included[i], path))
            return true;
    return false;
}

/* Tells whether git would see a separate repository here; does not follow the path in a .git file. */
static bool is_repository(int folder) {
    struct stat about;
    char text[8];
    if (fstatat(folder, ".git", &about, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    if (S_ISLNK(about.st_mode))
        return true;
    if (S_ISDIR(about.st_mode))
        return fstatat(folder, ".git/HEAD", &about, AT_SYMLINK_NOFOLLOW) == 0 &&
               fstatat(folder, ".git/objects", &about, AT_SYMLINK_NOFOLLOW) == 0 &&
               fstatat(folder, ".git/refs", &about, AT_SYMLINK_NOFOLLOW) == 0;
    int fd = git_open_beneath(folder, STR(".git"), O_RDONLY | O_NOFOLLOW);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    return length >= 7 && memcmp(text, "gitdir:", 7) == 0;
}

/* The result does not depend on the order in which a folder lists its files. */
static void attributes_add(struct git_walk *walk, struct str path, struct str text) {
    struct sha256 sha;
    sha256_begin(&sha);
    struct hash name = sha256(path), content = sha256(text);
    sha256_add(&sha, name.bytes, sizeof name.bytes);
    sha256_add(&sha, content.bytes, sizeof content.bytes);
    struct hash both = sha256_end(&sha);
    for (size_t i = 0; i < sizeof both.bytes; i++)
        walk->attributes.bytes[i] ^= both.bytes[i];
}

/* .gitignore and .gitattributes affect other files, so they are copied before git is asked anything. */
static bool rules_copy(struct git_walk *walk, struct str path, struct git_stat stat) {
    struct str name = name_of(path), text = {0};
    bool attributes = str_equal(name, STR(".gitattributes"));
    if (!attributes && !str_equal(name, STR(".gitignore")))
        return true;
    if ((stat.mode != GIT_MODE_FILE && stat.mode != GIT_MODE_PROGRAM) || !stat.fits)
        return true;
    enum git_copied copied = git_copy(walk, path, &stat);
    if (copied != GIT_COPIED || !attributes)
        return copied != GIT_COPY_FAILED;
    struct str copy =
        arena_format(walk->call->arena, "%.*s/%.*s", STR_ARG(walk->copy_path), STR_ARG(path));
    if (!git_file_read(walk->call, copy, GIT_FILE_BYTES, &text))
        return git_fail(walk->call, GIT_FAILED, "a copied file cannot be read");
    attributes_add(walk, path, text);
    return true;
}

static void folder_sort(struct git_walk *walk, struct level *level, struct level *next, int folder,
                        struct str path) {
    struct git_index_row *entry = git_row_find(&walk->head, path);
    if (entry &&
        entry->mode == GIT_MODE_COMMIT) { /* a submodule stays at the commit that HEAD has */
        int inner = git_open_beneath(folder, name_of(path), O_RDONLY | O_DIRECTORY);
        entry->there = true;
        walk->left_out += inner >= 0 && is_repository(inner);
        if (inner >= 0)
            close(inner);
    } else if (head_has_below(walk, path)) {
        folder_add(walk, next, path);
    } else {
        candidate_add(walk, level, (struct candidate){.path = path, .folder = true});
    }
}

static bool file_sort(struct git_walk *walk, struct level *level, struct str path,
                      struct git_stat stat) {
    if (!rules_copy(walk, path, stat))
        return false;
    struct git_index_row *entry = git_row_find(&walk->head, path);
    if (!entry || entry->mode == GIT_MODE_COMMIT) {
        candidate_add(walk, level, (struct candidate){.path = path, .stat = stat});
        return true;
    }
    entry->there = true;
    if (stat.mode && stat.fits)
        git_found_add(walk->call->arena, &walk->found,
                      (struct git_found){.path = path, .stat = stat, .was = entry->hash});
    else
        walk->left_out++;
    return true;
}

static bool entry_sort(struct git_walk *walk, struct level *level, struct level *next, int folder,
                       struct str above, const char *name) {
    struct stat about;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        (above.len == 0 && strcmp(name, ".git") == 0))
        return true;
    struct str path = above.len ? arena_format(walk->call->arena, "%.*s/%s", STR_ARG(above), name)
                                : arena_copy(walk->call->arena, str_of(name));
    if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) < 0) {
        walk->left_out += errno != ENOENT;
        return true;
    }
    if (path.len > GIT_PATH_MOST || strcmp(name, ".git") == 0) {
        walk->left_out++;
        return true;
    }
    if (!S_ISDIR(about.st_mode))
        return file_sort(walk, level, path, git_stat_of(&about));
    folder_sort(walk, level, next, folder, path);
    return true;
}

/* ---- one folder ---- */

static bool folder_list(struct git_walk *walk, struct level *level, struct level *next,
                        struct str path) {
    int fd = path.len ? git_open_beneath(walk->root, path, O_RDONLY | O_DIRECTORY)
                      : openat(walk->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (!stream) {
        bool gone = errno == ENOENT, other = errno == ENOTDIR || errno == ELOOP;
        if (fd >= 0)
            close(fd);
        walk->left_out += !gone; /* includes entries that have just changed their type */
        if (!gone && !other)
            below_keep(walk, path);
        return true;
    }
    if (++walk->folder_count > GIT_FOLDERS) {
        closedir(stream);
        return git_fail(walk->call, GIT_TOO_MUCH, "more than %d folders", GIT_FOLDERS);
    }
    bool well = true;
    for (struct dirent *entry; well && (entry = readdir(stream));)
        well = entry_sort(walk, level, next, dirfd(stream), path, entry->d_name) &&
               (level->asked_count + walk->new_count <= GIT_FOLDERS ||
                git_fail(walk->call, GIT_TOO_MUCH, "more than %d new files", GIT_FOLDERS));
    closedir(stream);
    return well;
}

/* ---- what is ignored ---- */

static int candidate_order(const void *a, const void *b) {
    return str_compare(((const struct candidate *)a)->path, ((const struct candidate *)b)->path);
}

static void ignored_mark(struct level *level, struct str paths) {
    while (paths.len) {
        struct str path = {paths.at, strnlen(paths.at, paths.len)};
        size_t used = path.len < paths.len ? path.len + 1 : path.len;
        paths = (struct str){paths.at + used, paths.len - used};
        struct candidate wanted = {.path = {path.at + 2, path.len > 2 ? path.len - 2 : 0}};
        struct candidate *found =
            bsearch(&wanted, level->asked, level->asked_count, sizeof wanted, candidate_order);
        if (found)
            found->ignored = true;
    }
}

/* Puts ./ in front of each name, so that git takes none for a pattern. Git looks in the private folder to tell which
 * names are folders. */
static bool ignored_ask(struct git_walk *walk, struct level *level) {
    struct git_call *call = walk->call;
    struct writer writer = {.arena = call->arena};
    if (level->asked_count == 0)
        return true;
    qsort(level->asked, level->asked_count, sizeof *level->asked, candidate_order);
    for (uint32_t i = 0; i < level->asked_count; i++) {
        if (level->asked[i].folder && !git_copy_folder(walk, level->asked[i].path))
            return false;
        write_raw(&writer, STR("./"));
        write_raw(&writer, level->asked[i].path);
        write_byte(&writer, 0);
    }
    struct str list = arena_format(call->arena, "%.*s.list", STR_ARG(walk->copy_path));
    if (!git_scratch_write(call, list, (struct str){writer.at, writer.len}))
        return false;
    call->input = list;
    int status = git_try(call, GIT_LIST_NOT_WORK, NULL, 0);
    if (status == 0)
        ignored_mark(level, call->out);
    return status == 0 || status == 1 || (status > 0 && git_fail_command(call, GIT_LIST_NOT_WORK));
}

/* ---- one level ---- */

static void new_folder_sort(struct git_walk *walk, struct level *next, struct str path) {
    int fd = git_open_beneath(walk->root, path, O_RDONLY | O_DIRECTORY);
    if (name_is_odd(name_of(path)) || (fd >= 0 && is_repository(fd)))
        walk->left_out++;
    else
        folder_add(walk, next, path);
    if (fd >= 0)
        close(fd);
}

static bool candidates_sort(struct git_walk *walk, struct level *level, struct level *next) {
    for (uint32_t i = 0; i < level->asked_count; i++) {
        const struct candidate *it = &level->asked[i];
        if (it->ignored || (!it->folder && is_included(walk, it->path)))
            continue;
        if (it->folder) {
            new_folder_sort(walk, next, it->path);
        } else if (!it->stat.mode || !it->stat.fits || name_is_odd(name_of(it->path))) {
            walk->left_out++;
        } else {
            git_found_add(walk->call->arena, &walk->found,
                          (struct git_found){.path = it->path, .stat = it->stat});
            if (++walk->new_count > GIT_FILES)
                return git_fail(walk->call, GIT_TOO_MUCH, "more than %d changed files", GIT_FILES);
        }
    }
    return true;
}

bool git_walk_go(struct git_walk *walk) {
    struct level level = {0};
    folder_add(walk, &level, STR(""));
    for (unsigned depth = 0; level.folder_count > 0; depth++) {
        struct level next = {0};
        if (depth == GIT_DEPTH)
            return git_fail(walk->call, GIT_TOO_MUCH, "folders are more than %d deep", GIT_DEPTH);
        for (uint32_t i = 0; i < level.folder_count; i++)
            if (!folder_list(walk, &level, &next, level.folders[i]))
                return false;
        if (!ignored_ask(walk, &level) || !candidates_sort(walk, &level, &next))
            return false;
        level = next;
    }
    return git_well(walk->call);
}

/* ---- begin and end ---- */

static int folder_open(struct git_call *call, struct str path) {
    return open(arena_cstr(call->arena, path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool git_walk_begin(struct git_walk *walk, struct str tree) {
    struct stat about;
    walk->root = walk->copy = -1;
    if (!git_folder_remove(walk->call, walk->copy_path) ||
        !git_folder_make(walk->call, walk->copy_path))
        return false;
    walk->root = folder_open(walk->call, tree);
    if (walk->root < 0 || fstat(walk->root, &about) < 0)
        return git_fail(walk->call, GIT_BROKEN, "%.*s is not a folder", STR_ARG(tree));
    walk->device = (uint64_t)about.st_dev;
    walk->copy = folder_open(walk->call, walk->copy_path);
    return walk->copy >= 0 || git_fail_errno(walk->call, "cannot open", walk->copy_path);
}

void git_walk_end(struct git_walk *walk) {
    if (walk->root >= 0)
        close(walk->root);
    if (walk->copy >= 0)
        close(walk->copy);
    (void)folder_remove(arena_cstr(walk->call->arena, walk->copy_path));
    (void)unlink(arena_cstr(
        walk->call->arena, arena_format(walk->call->arena, "%.*s.list", STR_ARG(walk->copy_path))));
}
