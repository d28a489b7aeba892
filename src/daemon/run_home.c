/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in a run's HOME before it begins? What its driver writes, and the operator's login. An agent had that HOME before
 * and may have put links there that lead elsewhere: so each folder on the way is entered by itself, and never through a link. */
#include "daemon/log.h"
#include "daemon/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A link, or whatever else is no folder, makes room for one. */
static int folder_enter(int at, const char *name) {
    if (mkdirat(at, name, 0700) != 0 && errno != EEXIST)
        return -1;
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 || (errno != ENOTDIR && errno != ELOOP))
        return fd;
    log_warning("an agent left a %s in its HOME that is no folder; it is replaced", name);
    if (unlinkat(at, name, 0) != 0 || mkdirat(at, name, 0700) != 0)
        return -1;
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The folder that `path` ends in, below the HOME; ret_name: what is behind it. -1: it cannot be had. */
static int folder_of(const char *home, char *path, const char **ret_name) {
    int at = open(home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    for (char *slash; at >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
        *slash = 0;
        int below = strcmp(path, "..") == 0 ? -1 : *path ? folder_enter(at, path) : dup(at);
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

/* What is there already is replaced: also a link, or a name of a file elsewhere. */
static bool home_put(const char *home, struct str path, struct str text, struct arena *arena) {
    const char *name;
    int at = folder_of(home, arena_cstr(arena, path), &name);
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

bool home_fill(struct running *run, const struct drive_launch *launch, struct arena *arena) {
    bool whole = true;
    for (uint32_t i = 0; i < launch->file_count && whole; i++)
        whole = home_put(run->home, launch->files[i].path, launch->files[i].text, arena);
    char *token = arena_cstr(arena, arena_format(arena, "%s/token", run->dir));
    return whole && file_put(token, str_of(run->token), arena);
}

/* ---- the operator's login ---- */

/* Where each kind keeps who it is logged in as, below HOME. `renewed`: nothing but tokens, which the agent renews. That one file is
 * for both, to write. Everything else can name a program, an address or a folder that the operator's own agent would follow
 * outside: of opencode even its logins, which name where more settings come from. The run has a copy of it. */
static const struct login {
    const char *kind, *file;
    bool renewed;
} LOGINS[] = {
    {"claude", ".claude/.credentials.json", true},
    {"codex", ".codex/auth.json", true},
    {"gemini", ".gemini/oauth_creds.json", true},
    {"gemini", ".gemini/google_accounts.json", true},
    {"opencode", ".local/share/opencode/auth.json", false},
    {"opencode", ".config/opencode/opencode.json", false},
    {"goose", ".config/goose/config.yaml", false},
    {"goose", ".config/goose/secrets.yaml", false},
    {"qwen", ".qwen/oauth_creds.json", true},
};

static bool file_is_renewed(struct str path) {
    for (size_t i = 0; i < count_of(LOGINS); i++)
        if (LOGINS[i].renewed && str_equal(path, str_of(LOGINS[i].file)))
            return true;
    return false;
}

/* What is no file, or too large, is not read. */
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

/* What the operator has now, and not what the last run made of it. */
static bool file_copy(struct running *run, const char *from, struct str path, struct arena *arena) {
    struct str text;
    int fd = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool copied = fd >= 0 && fd_read(fd, arena, &text) && home_put(run->home, path, text, arena);
    if (fd >= 0)
        close(fd);
    return copied;
}

/* The same file for both. */
static bool file_link(struct running *run, const char *from, struct str path, struct arena *arena) {
    const char *name;
    int at = folder_of(run->home, arena_cstr(arena, path), &name);
    bool linked = at >= 0 && (symlinkat(from, at, name) == 0 || errno == EEXIST);
    if (at >= 0)
        close(at);
    return linked;
}

static bool folder_is_there(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* It has a HOME of its own, and finds there what is the operator's. Of folders it sees what is in them, and cannot write. */
static void file_share(struct running *run, struct str path, struct arena *arena) {
    const char *home = getenv("HOME");
    if (!home || path.len == 0 || path.at[0] == '/' || memmem(path.at, path.len, "..", 2))
        return;
    char *from = arena_cstr(&run->arena, arena_format(arena, "%s/%.*s", home, STR_ARG(path)));
    bool writes = file_is_renewed(path), links = writes || folder_is_there(from);
    if (access(from, R_OK) != 0)
        return;
    if (!(links ? file_link : file_copy)(run, from, path, arena))
        log_warning("%s cannot be shared with a run: %s", from, strerror(errno));
    else if (links && run->shared_count < RUN_SHARED)
        run->shared[run->shared_count++] = (struct run_shared){str_of(from), writes};
}

static bool driver_wrote(const struct drive_launch *launch, struct str path) {
    for (uint32_t i = 0; i < launch->file_count; i++)
        if (str_equal(launch->files[i].path, path))
            return true;
    return false;
}

void home_share(struct running *run, const struct drive_launch *launch, struct arena *arena) {
    const struct settings *settings = house_settings(run->runs->house);
    const struct agent_setting *agent = run_agent(settings, str_of(run->agent));
    for (uint32_t i = 0; agent && i < agent->share.count; i++)
        if (!driver_wrote(launch, agent->share.at[i]))
            file_share(run, agent->share.at[i], arena);
    for (size_t i = 0; agent && agent->share.count == 0 && i < count_of(LOGINS); i++)
        if (str_equal(run->spec.quirk, str_of(LOGINS[i].kind)) &&
            !driver_wrote(launch, str_of(LOGINS[i].file)))
            file_share(run, str_of(LOGINS[i].file), arena);
    house_settings_drop(settings);
}
