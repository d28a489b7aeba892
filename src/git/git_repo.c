/* SPDX-License-Identifier: Apache-2.0 */
/* Manages our clones of a repository and the locks on them.
 *
 * STATE/repos/HASH is *published*: a bare repository with objects of its own, so that the operator may delete theirs.
 * Runs borrow its objects, so it contains the operator's branches and nothing else. STATE/private/HASH borrows from it
 * too and contains all that we make. Each verb rewrites their configuration if it finds a different one. Locks are held
 * on files and inherited by the commands. */
#include "git/git_state.h"

#include "base/seam.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_FD = 64, SLOTS = 1024, PAUSE_US = 10000, REF_DEPTH = 16 };

static const char CLONE_CONFIG[] = "# Written by Overseer, and again when it differs.\n"
                                   "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n"
                                   "\tbare = true\n\tlogallrefupdates = false\n"
                                   "[gc]\n\tauto = 0\n\tpruneExpire = never\n";

/* ---- begin and end ---- */

void git_begin(struct git_call *call, const struct git_context *context, struct arena *arena) {
    must(context->state.len && context->state.at[0] == '/' && context->within_us > 0);
    *call = (struct git_call){
        .context = context,
        .arena = arena,
        .until_ms = context->total_us ? git_now_ms() + context->total_us / 1000 : INT64_MAX};
}

struct git_answer git_end(struct git_call *call) {
    for (unsigned i = 0; i < call->lock_count; i++)
        close(call->locks[i]);
    call->lock_count = 0;
    return call->answer;
}

struct str git_path(struct git_call *call, const char *folder, struct str name,
                    const char *suffix) {
    return arena_format(call->arena, "%.*s/%s/%.*s%s", STR_ARG(call->context->state), folder,
                        STR_ARG(name), suffix);
}

static bool name_is_fine(struct str name) {
    if (name.len == 0 || name.len > GIT_NAME || name.at[0] == '.' || name.at[0] == '-')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool fine = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                    c == '-' || c == '_';
        if (!fine)
            return false;
    }
    return true;
}

bool git_name_check(struct git_call *call, struct str name) {
    if (!name_is_fine(name))
        return git_fail(call, GIT_REFUSED, "\"%.*s\" cannot name a folder and a branch",
                        STR_ARG(name));
    return git_well(call);
}

bool git_run_check(struct git_call *call, const struct git_run *run) {
    call->at_us = run->at_us;
    if (!git_is_commit_name(run->base))
        return git_fail(call, GIT_REFUSED, "the base of a run must be a full commit id");
    return git_name_check(call, run->goal) && git_name_check(call, run->run);
}

/* G-20: nothing new starts on a disk that is nearly full; existing work can still be saved. */
bool git_low_water(struct git_call *call) {
    struct statvfs seen;
    if (!git_folder_make(call, call->context->state))
        return false;
    if (statvfs(arena_cstr(call->arena, call->context->state), &seen) < 0)
        return git_fail_errno(call, "cannot read the free disk space at", call->context->state);
    uint64_t left = (uint64_t)seen.f_bavail * seen.f_frsize;
    if (left < call->context->low_water)
        return git_fail(
            call, GIT_NO_SPACE, "only %llu MiB are free; work starts only with at least %llu MiB",
            (unsigned long long)(left >> 20), (unsigned long long)(call->context->low_water >> 20));
    return true;
}

/* ---- locks ---- */

static int lock_open(struct git_call *call, struct str name) {
    struct str folder = arena_format(call->arena, "%.*s/locks", STR_ARG(call->context->state));
    if (!git_folder_make(call, folder))
        return -1;
    struct str path = git_path(call, "locks", name, "");
    int low = open(arena_cstr(call->arena, path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    /* Above the descriptor numbers at which a command inherits it. */
    int fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, LOCK_FD);
    if (low >= 0)
        close(low);
    if (fd < 0)
        git_fail_errno(call, "cannot open the lock", path);
    return fd;
}

static bool lock_wait(struct git_call *call, int fd, int how) {
    for (int64_t waited = 0; flock(fd, how | LOCK_NB) < 0; waited += PAUSE_US) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return git_fail_errno(call, "lock", STR(""));
        if (waited >= call->context->wait_us || git_is_over(call))
            return false;
        usleep(PAUSE_US);
    }
    return true;
}

static void lock_keep(struct git_call *call, int fd) {
    must(call->lock_count < GIT_LOCKS);
    call->locks[call->lock_count++] = fd;
}

bool git_lock(struct git_call *call, struct str name) {
    if (!git_well(call))
        return false;
    (void)seam("git-step");
    int fd = lock_open(call, name);
    if (fd < 0)
        return false;
    if (lock_wait(call, fd, LOCK_EX)) {
        lock_keep(call, fd);
        return true;
    }
    close(fd);
    return git_fail(call, GIT_BUSY, "another process is using %.*s", STR_ARG(name));
}

/* Runs share a fixed number of lock files, so that none has to be deleted. */
static bool lock_slot(struct git_call *call, const char *kind, struct str run) {
    struct hash hash = sha256(run);
    unsigned slot = ((unsigned)hash.bytes[0] << 8 | hash.bytes[1]) % SLOTS;
    return git_lock(call, arena_format(call->arena, "%s-%04u", kind, slot));
}

bool git_lock_run(struct git_call *call, struct str run) {
    return lock_slot(call, "run", run);
}

bool git_lock_target(struct git_call *call, struct str run) {
    return lock_slot(call, "target", run);
}

/* ---- what a killed command left behind ---- */

static bool ends(const char *name, const char *with) {
    size_t length = strlen(name), tail = strlen(with);
    return length > tail && strcmp(name + length - tail, with) == 0;
}

static void stale_clear(int folder, int depth) {
    DIR *stream = folder >= 0 ? fdopendir(folder) : NULL;
    if (!stream) {
        if (folder >= 0)
            close(folder);
        return;
    }
    for (struct dirent *entry; (entry = readdir(stream));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        if (entry->d_type == DT_REG && (ends(name, ".lock") || strncmp(name, "tmp_", 4) == 0))
            unlinkat(dirfd(stream), name, 0);
        else if (entry->d_type == DT_DIR && depth > 0)
            stale_clear(
                openat(dirfd(stream), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                depth - 1);
    }
    closedir(stream);
}

static void stale_folder(struct git_call *call, struct str clone, const char *below, int depth) {
    struct str path = arena_format(call->arena, "%.*s%s", STR_ARG(clone), below);
    stale_clear(
        open(arena_cstr(call->arena, path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
        depth);
}

/* No verb is working in our clone: every lock file in it was left by a dead command. */
static void clone_mend(struct git_call *call, struct str clone) {
    stale_folder(call, clone, "", 0);
    stale_folder(call, clone, "/refs", REF_DEPTH);
    stale_folder(call, clone, "/objects/pack", 0);
}

/* ---- our clone ---- */

static bool url_is_fine(struct str url) {
    static const struct str SCHEMES[] = {STR("https://"), STR("ssh://")};
    for (size_t i = 0; i < url.len; i++)
        if ((unsigned char)url.at[i] <= ' ' || url.at[i] == 0x7f)
            return false;
    for (size_t i = 0; i < count_of(SCHEMES); i++)
        if (str_begins(url, SCHEMES[i]) && url.len > SCHEMES[i].len &&
            url.at[SCHEMES[i].len] != '-')
            return true;
    const char *colon = memchr(url.at, ':', url.len), *at = memchr(url.at, '@', url.len);
    bool helper = str_begins(colon ? (struct str){colon, (size_t)(url.at + url.len - colon)} : url,
                             STR("::"));
    return colon && at && at < colon && !helper && url.at[0] != '-' && at[1] != '-' &&
           !memchr(url.at, '/', (size_t)(colon - url.at));
}

bool git_source_is_path(struct str source) {
    return source.len && source.at[0] == '/';
}

static bool source_check(struct git_call *call, struct str source) {
    if (git_source_is_path(source) ? !memchr(source.at, 0, source.len) : url_is_fine(source))
        return true;
    return git_fail(call, GIT_REFUSED,
                    "\"%.*s\" is neither an absolute path nor an https or ssh URL",
                    STR_ARG(source));
}

static bool repo_place(struct git_call *call, const struct git_repo *repo) {
    if (!git_well(call) || !source_check(call, repo->source))
        return false;
    if (repo->remote.len && !source_check(call, repo->remote))
        return false;
    struct hash hash = sha256(repo->source);
    char text[33];
    for (int i = 0; i < 16; i++)
        snprintf(text + 2 * i, 3, "%02x", hash.bytes[i]);
    call->name = arena_copy(call->arena, str_of(text));
    call->clone = git_path(call, "repos", call->name, "");
    call->private_clone = git_path(call, "private", call->name, "");
    return true;
}

static bool config_keep(struct git_call *call, struct str clone) {
    struct str now = {0}, wanted = STR(CLONE_CONFIG);
    struct str path = arena_format(call->arena, "%.*s/config", STR_ARG(clone));
    if (git_file_read(call, path, sizeof CLONE_CONFIG, &now) && str_equal(now, wanted))
        return true;
    return git_file_write(call, path, wanted);
}

/* ---- the private repository ---- */

/* An earlier version had one repository for everything: its refs move here; the objects are borrowed. */
static bool refs_move(struct git_call *call, struct str new) {
    struct str list = arena_format(call->arena, "%.*s.refs", STR_ARG(new)),
               place = call->private_clone;
    if (!git_do(call, GIT_LIST_OLD,
                GIT_ARGS(STR("refs/overseer/runs"), STR("refs/overseer/snapshots"),
                         STR("refs/overseer/salvage"), STR("refs/overseer/landing"))))
        return false;
    if (!call->out.len)
        return true;
    if (!git_file_write(call, list, call->out))
        return false;
    call->input = list;
    call->private_clone = new;
    bool moved = git_do(call, GIT_CHANGE_REFS, NULL, 0);
    call->private_clone = place;
    return moved && git_folder_remove(call, list);
}

/* Appears atomically, with our configuration. */
static bool private_make(struct git_call *call) {
    struct str new = arena_format(call->arena, "%.*s.new", STR_ARG(call->private_clone));
    struct str folder = arena_format(call->arena, "%.*s/private", STR_ARG(call->context->state));
    struct str borrowed = arena_format(call->arena, "%.*s/objects\n", STR_ARG(call->clone));
    return git_folder_make(call, folder) && git_folder_remove(call, new) &&
           git_do(call, GIT_INIT_CLONE, GIT_ARGS(new)) &&
           git_folder_make(call, arena_format(call->arena, "%.*s/objects/info", STR_ARG(new))) &&
           git_file_write(call,
                          arena_format(call->arena, "%.*s/objects/info/alternates", STR_ARG(new)),
                          borrowed) &&
           config_keep(call, new) && refs_move(call, new) &&
           git_move(call, new, call->private_clone);
}

/* After an upgrade of Overseer the clone exists, but the private repository does not. */
static bool private_ensure(struct git_call *call) {
    if (git_exists(call, call->private_clone))
        return true;
    int fd = lock_open(call, arena_format(call->arena, "make-%.*s", STR_ARG(call->name)));
    if (fd < 0)
        return false;
    bool made = lock_wait(call, fd, LOCK_EX)
                    ? git_exists(call, call->private_clone) || private_make(call)
                    : git_fail(call, GIT_BUSY, "the local clone is being created");
    close(fd);
    return made;
}

/* ---- both repositories ---- */

bool git_repo_open(struct git_call *call, const struct git_repo *repo) {
    if (!repo_place(call, repo))
        return false;
    int fd = lock_open(call, arena_format(call->arena, "repo-%.*s", STR_ARG(call->name)));
    if (fd < 0)
        return false;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        clone_mend(call, call->clone);
        clone_mend(call, call->private_clone);
    }
    bool held = lock_wait(call, fd, LOCK_SH);
    lock_keep(call, fd);
    if (!held)
        return git_fail(call, GIT_BUSY, "the local clone is being created");
    if (!git_exists(call, call->clone))
        return git_fail(call, GIT_REFUSED, "there is no clone of %.*s yet", STR_ARG(repo->source));
    return config_keep(call, call->clone) && private_ensure(call) &&
           config_keep(call, call->private_clone);
}

/* Appears atomically, with our configuration. */
static bool clone_make(struct git_call *call) {
    struct str new = arena_format(call->arena, "%.*s.new", STR_ARG(call->clone));
    struct str folder = arena_format(call->arena, "%.*s/repos", STR_ARG(call->context->state));
    return git_folder_make(call, folder) && git_folder_remove(call, new) &&
           git_do(call, GIT_INIT_CLONE, GIT_ARGS(new)) && config_keep(call, new) &&
           git_move(call, new, call->clone);
}

static bool clone_open(struct git_call *call, const struct git_repo *repo) {
    if (!repo_place(call, repo))
        return false;
    struct str making = arena_format(call->arena, "make-%.*s", STR_ARG(call->name));
    bool there = git_lock(call, making) && (git_exists(call, call->clone) || clone_make(call)) &&
                 (git_exists(call, call->private_clone) || private_make(call));
    while (call->lock_count > 0) /* other verbs must not wait here for the network */
        close(call->locks[--call->lock_count]);
    return there && git_repo_open(call, repo);
}

struct str git_clone_find(const struct git_context *context, const struct git_repo *repo,
                          struct arena *arena) {
    struct git_call call;
    git_begin(&call, context, arena);
    bool there = repo_place(&call, repo) && git_exists(&call, call.clone);
    git_end(&call);
    return there ? call.clone : STR("");
}

/* ---- what the operator's repository has ---- */

/* "ref: refs/heads/main<tab>HEAD" */
static bool default_branch(struct git_call *call, const struct git_repo *repo, struct str *ret) {
    static const struct str BEFORE = STR("ref: refs/heads/");
    if (!git_do(call, GIT_LIST_REMOTE, GIT_ARGS(repo->source, STR("HEAD"))))
        return false;
    struct str line = git_line(call);
    const char *tab = memchr(line.at, '\t', line.len);
    if (!str_begins(line, BEFORE) || !tab)
        return git_fail(call, GIT_REFUSED, "%.*s has no default branch; set repo.default_branch",
                        STR_ARG(repo->source));
    *ret = arena_copy(call->arena,
                      (struct str){line.at + BEFORE.len, (size_t)(tab - line.at) - BEFORE.len});
    return true;
}

bool git_remote_reach(struct git_call *call, struct str where) {
    return git_source_is_path(where) || git_do(call, GIT_REACH_REMOTE, GIT_ARGS(where));
}

/* One fetch at a time: two would collide on the same refs. */
static bool source_fetch(struct git_call *call, const struct git_repo *repo) {
    return git_lock(call, arena_format(call->arena, "fetch-%.*s", STR_ARG(call->name))) &&
           git_remote_reach(call, repo->source) &&
           git_do(call, GIT_FETCH_SOURCE,
                  GIT_ARGS(repo->source, STR("+refs/heads/*:refs/overseer/source/*")));
}

struct git_answer git_clone_ensure(const struct git_context *context, const struct git_repo *repo,
                                   struct str branch, struct arena *arena, struct git_clone *ret) {
    struct git_call call;
    git_begin(&call, context, arena);
    call.local = git_source_is_path(repo->source);
    struct git_clone clone = {.branch = branch};
    if (git_low_water(&call) && clone_open(&call, repo) &&
        (branch.len || default_branch(&call, repo, &clone.branch)) && source_fetch(&call, repo)) {
        struct str ref = git_ref(&call, GIT_REF_SOURCE, clone.branch, STR(""));
        if (git_try(&call, GIT_RESOLVE_PUBLISHED,
                    GIT_ARGS(arena_format(arena, "%.*s^{commit}", STR_ARG(ref)))) != 0)
            git_fail(&call, GIT_REFUSED, "there is no branch %.*s", STR_ARG(clone.branch));
        clone.head = git_line(&call);
        clone.path = call.clone;
        clone.private_path = call.private_clone;
    }
    if (git_well(&call))
        *ret = clone;
    return git_end(&call);
}
