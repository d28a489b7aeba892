/* SPDX-License-Identifier: Apache-2.0 */
/* Fills a run's HOME before it starts: the files that its driver writes, and copies of the operator's files. An earlier
 * run may have put links into that HOME that lead elsewhere, so each folder on the way is opened separately, and never
 * through a link. */
#include "drivers/login.h"
#include "runs/run.h"
#include "runs/run_log.h"
#include "sys/redaction.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Replaces a link, or anything else that is no folder, by a folder. */
static int folder_enter(const struct run *run, int at, const char *name) {
    if (mkdirat(at, name, 0700) != 0 && errno != EEXIST)
        return -1;
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 || (errno != ENOTDIR && errno != ELOOP))
        return fd;
    log_run(LEVEL_WARNING, run,
            "agent %s left %s in its HOME as something other than a folder; it is replaced",
            run->agent, name);
    if (unlinkat(at, name, 0) != 0 || mkdirat(at, name, 0700) != 0)
        return -1;
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Opens the parent folder of `path` below HOME; ret_name: the last name. -1: it cannot be opened. */
static int folder_of(const struct run *run, char *path, const char **ret_name) {
    int at = open(run->home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    for (char *slash; at >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
        *slash = 0;
        int below = strcmp(path, "..") == 0 ? -1 : *path ? folder_enter(run, at, path) : dup(at);
        close(at);
        at = below;
    }
    *ret_name = path;
    return at;
}

static bool fd_write(int fd, struct str text) {
    size_t done = 0;
    for (ssize_t wrote; done < text.len; done += (size_t)wrote) {
        wrote = write(fd, text.at + done, text.len - done);
        if (wrote < 0)
            return false;
    }
    return true;
}

bool file_put(const char *path, struct str text, struct arena *arena) {
    (void)arena;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool whole = fd >= 0 && fd_write(fd, text);
    if (fd >= 0)
        close(fd);
    return whole;
}

/* Replaces whatever is there, also a link or a hard link to a file elsewhere. */
static bool home_put(const struct run *run, struct str path, struct str text, struct arena *arena) {
    const char *name;
    int at = folder_of(run, arena_cstr(arena, path), &name);
    if (at < 0)
        return false;
    if (unlinkat(at, name, 0) != 0 && errno != ENOENT) {
        close(at);
        return false;
    }
    int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool whole = fd >= 0 && fd_write(fd, text);
    if (fd >= 0)
        close(fd);
    close(at);
    return whole;
}

bool home_fill(struct run *run, const struct drive_launch *launch, struct arena *arena) {
    bool whole = true;
    for (uint32_t i = 0; i < launch->file_count && whole; i++)
        whole = home_put(run, launch->files[i].path, launch->files[i].text, arena);
    char *token = arena_cstr(arena, arena_format(arena, "%s/token", run->dir));
    return whole && file_put(token, str_of(run->token), arena);
}

/* ---- the operator's files ---- */

/* Refuses anything that is no regular file or is too large. */
static bool fd_read(int fd, struct arena *arena, struct str *ret) {
    struct stat about;
    errno = EFBIG;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > RUN_COPIED)
        return false;
    size_t room = (size_t)about.st_size, len = 0;
    char *text = arena_new(arena, char, room + 1);
    for (ssize_t got = 1; got > 0 && len < room; len += (size_t)got) {
        got = read(fd, text + len, room - len);
        if (got < 0)
            return false;
    }
    *ret = (struct str){text, len};
    return true;
}

bool file_get(const char *path, struct arena *arena, struct str *ret) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool whole = fd >= 0 && fd_read(fd, arena, ret);
    int code = errno;
    if (fd >= 0)
        close(fd);
    errno = code;
    return whole;
}

/* Copies the operator's current file, not the version that the last run left. The copy cannot renew the operator's
 * login. Instructions and MCP servers that the operator has not named may contain secrets: those are taken out. */
static bool file_copy(struct run *run, const char *from, struct str path, bool named,
                      struct arena *arena) {
    const struct login *login = login_of(path);
    bool tools = login && login->form > LOGIN_SETTINGS;
    struct str text, copy;
    if (!file_get(from, arena, &text))
        return false;
    if (!login || (tools && named))
        copy = login_strip(text, arena);
    else if (!login_copy(login, text, arena, &copy)) {
        errno = EBADMSG;
        return login->form == LOGIN_SERVERS; /* it has no server */
    }
    return home_put(run, path, tools && !named ? redacted(copy, arena) : copy, arena);
}

/* Links a folder, which its sandbox shows read-only. */
static bool folder_link(struct run *run, const char *from, struct str path, struct arena *arena) {
    const char *name;
    int at = folder_of(run, arena_cstr(arena, path), &name);
    bool linked = at >= 0 && (symlinkat(from, at, name) == 0 || errno == EEXIST);
    if (at >= 0)
        close(at);
    if (linked && run->shared_count < RUN_SHARED)
        run->shared[run->shared_count++] = str_of(from);
    return linked;
}

static bool folder_is_there(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Accepts only the plain form of a path below HOME: "." would be all of HOME, and "./.codex" a login that is not
 * recognised. */
static bool path_is_plain(struct str path) {
    for (size_t from = 0, to; from <= path.len; from = to + 1) {
        for (to = from; to < path.len && path.at[to] != '/';)
            to++;
        struct str name = {path.at + from, to - from};
        if ((name.len == 0 && to < path.len) || str_equal(name, STR(".")) ||
            str_equal(name, STR("..")))
            return false;
    }
    return path.len > 0;
}

/* The run has a HOME of its own; this puts the operator's file or folder there. It can read the content of folders, and
 * cannot write to them. */
static void file_share(struct run *run, const char *home, struct str path, bool named,
                       struct arena *arena) {
    if (!home || !path_is_plain(path))
        return;
    char *from = arena_cstr(&run->arena, arena_format(arena, "%s/%.*s", home, STR_ARG(path)));
    if (access(from, R_OK) != 0)
        return;
    bool folder = folder_is_there(from);
    if (folder && login_is_below(path))
        log_run(LEVEL_WARNING, run,
                "%s is not shared with agent %s: it contains a login; list its files instead", from,
                run->agent);
    else if (folder ? !folder_link(run, from, path, arena)
                    : !file_copy(run, from, path, named, arena))
        log_run(LEVEL_WARNING, run, "%s is not shared with agent %s: %s", from, run->agent,
                errno == EBADMSG ? "its format is unknown" : strerror(errno));
}

static bool driver_wrote(const struct drive_launch *launch, struct str path) {
    for (uint32_t i = 0; i < launch->file_count; i++)
        if (str_equal(launch->files[i].path, path))
            return true;
    return false;
}

/* The HOME of an earlier run may contain another login, or a link to the operator's. */
static void login_remove(struct run *run, struct str path, struct arena *arena) {
    const char *name;
    int at = folder_of(run, arena_cstr(arena, path), &name);
    if (at >= 0 && unlinkat(at, name, 0) != 0 && errno != ENOENT)
        log_run(LEVEL_WARNING, run, "%.*s in the HOME of agent %s cannot be removed: %s",
                STR_ARG(path), run->agent, strerror(errno));
    if (at >= 0)
        close(at);
}

struct str run_login_kind(const struct run *run) {
    return run->driver->login ? str_of(run->driver->login) : run->spec.quirk;
}

/* Shares the files of its kind: settings always, its login only if it has no token of its own. */
static void kind_share(struct run *run, const struct drive_launch *launch,
                       const struct agent_setting *agent, struct arena *arena) {
    const char *own = agent->login_home.len ? arena_cstr(arena, agent->login_home) : getenv("HOME");
    bool token = agent->token.file.len > 0;
    for (size_t i = 0; i < LOGIN_COUNT; i++) {
        struct str file = str_of(LOGINS[i].file);
        if (!login_is_for(&LOGINS[i], run_login_kind(run)) || driver_wrote(launch, file))
            continue;
        login_remove(run, file, arena);
        if (!token || login_is_none(&LOGINS[i]))
            file_share(run, login_is_none(&LOGINS[i]) ? getenv("HOME") : own, file, false, arena);
    }
}

void home_share(struct run *run, const struct drive_launch *launch, struct arena *arena) {
    const struct settings *settings = context_settings(run->runs->context);
    const struct agent_setting *agent = run_agent(settings, str_of(run->agent));
    for (uint32_t i = 0; agent && i < agent->share.count; i++)
        if (!driver_wrote(launch, agent->share.at[i]))
            file_share(run, getenv("HOME"), agent->share.at[i], true, arena);
    if (agent && agent->share.count == 0)
        kind_share(run, launch, agent, arena);
    context_settings_drop(settings);
}

/* ---- a token of its own ---- */

/* Only the operator may read the file: another reader would be logged in as well. */
static const char *token_wrong(const char *path) {
    struct stat about;
    if (stat(path, &about) != 0)
        return strerror(errno);
    if (!S_ISREG(about.st_mode) || about.st_uid != geteuid())
        return "it is not a regular file that you own";
    return about.st_mode & 077 ? "other users may read it: chmod 600" : NULL;
}

bool token_get(const struct agent_setting *agent, struct str kind, struct arena *arena,
               struct drive_var *ret, struct str *ret_why) {
    char *path = arena_cstr(arena, agent->token.file);
    struct str name = agent->token.env.len ? agent->token.env : login_variable(kind), text = {0};
    const char *wrong = name.len == 0
                            ? "token_env is not set, and this kind of agent has no default variable"
                            : token_wrong(path);
    if (!wrong && !file_get(path, arena, &text))
        wrong = strerror(errno);
    text = str_line_take(&text);
    while (text.len > 0 && (text.at[text.len - 1] == ' ' || text.at[text.len - 1] == '\r'))
        text.len--;
    if (!wrong && text.len == 0)
        wrong = "it is empty";
    if (wrong) {
        *ret_why = arena_format(arena, "token_file %s: %s", path, wrong);
        return false;
    }
    *ret = (struct drive_var){arena_copy(arena, name), arena_copy(arena, text)};
    return true;
}
