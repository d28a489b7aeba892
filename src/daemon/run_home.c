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

/* Where each kind keeps who it is logged in as, below HOME. */
static const struct {
    const char *kind, *files[3];
} LOGINS[] = {
    {"claude", {".claude/.credentials.json"}},
    {"codex", {".codex/auth.json"}},
    {"gemini", {".gemini/oauth_creds.json", ".gemini/google_accounts.json"}},
    {"opencode", {".local/share/opencode/auth.json", ".config/opencode/opencode.json"}},
    {"goose", {".config/goose/config.yaml", ".config/goose/secrets.yaml"}},
    {"qwen", {".qwen/oauth_creds.json"}},
};

/* It has a HOME of its own, and finds the operator's login there: the same file, so that what is renewed is renewed for
 * both. */
static void file_share(struct running *run, struct str path, struct arena *arena) {
    const char *home = getenv("HOME"), *name;
    if (!home || path.len == 0 || path.at[0] == '/' || memmem(path.at, path.len, "..", 2))
        return;
    char *from = arena_cstr(&run->arena, arena_format(arena, "%s/%.*s", home, STR_ARG(path)));
    if (access(from, R_OK) != 0)
        return;
    int at = folder_of(run->home, arena_cstr(arena, path), &name);
    if (at < 0 || (symlinkat(from, at, name) != 0 && errno != EEXIST))
        log_warning("%s cannot be shared with a run: %s", from, strerror(errno));
    else if (run->shared_count < RUN_SHARED)
        run->shared[run->shared_count++] = str_of(from);
    if (at >= 0)
        close(at);
}

void home_share(struct running *run, struct arena *arena) {
    const struct settings *settings = house_settings(run->runs->house);
    const struct agent_setting *agent = run_agent(settings, str_of(run->agent));
    for (uint32_t i = 0; agent && i < agent->share.count; i++)
        file_share(run, agent->share.at[i], arena);
    for (size_t i = 0; agent && agent->share.count == 0 && i < count_of(LOGINS); i++)
        for (size_t k = 0; str_equal(run->spec.quirk, str_of(LOGINS[i].kind)) && k < 3; k++)
            file_share(run, str_of(LOGINS[i].files[k]), arena);
    house_settings_drop(settings);
}
