/* SPDX-License-Identifier: Apache-2.0 */
/* Shows toolchains of the operator's HOME to runs and checks, read-only. A toolchain with a file in it that may contain a login is
 * not shown. */
#include "drivers/login.h"
#include "runs/run.h"
#include "sandbox/sandbox.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* Where programs look for them, if HOME is another; logins: a pattern below the folder. docs/sandbox.md shows the same rows. */
static const struct {
    const char *folder, *variable, *logins;
} TOOLS[] = {
    {".rustup", "RUSTUP_HOME", NULL},
    {".nvm", "NVM_DIR", "versions/node/*/etc/npmrc"},
    {".pyenv", "PYENV_ROOT", "versions/*/pip.conf"},
    {".asdf", "ASDF_DATA_DIR", "installs/nodejs/*/etc/npmrc"},
    {".local/share/mise", "MISE_DATA_DIR", "installs/node/*/etc/npmrc"},
    {".sdkman/candidates", "SDKMAN_CANDIDATES_DIR", "maven/*/conf/settings.xml"},
};
_Static_assert(count_of(TOOLS) == RUN_TOOLS, "as many as there may be");

static bool has_login(const char *folder, const char *logins, struct arena *arena) {
    glob_t found = {0};
    if (!logins)
        return false;
    bool has =
        glob(arena_cstr(arena, arena_format(arena, "%s/%s", folder, logins)), 0, NULL, &found) == 0;
    globfree(&found);
    return has;
}

/* NULL: it is not there, or is not shown. */
static const char *tool_path(size_t i, struct arena *arena) {
    const char *home = getenv("HOME");
    if (!home || *home != '/')
        return NULL;
    const char *path = arena_cstr(arena, arena_format(arena, "%s/%s", home, TOOLS[i].folder));
    return access(path, X_OK) == 0 && !has_login(path, TOOLS[i].logins, arena) ? path : NULL;
}

void tools_show(struct sandbox_spec *spec, const struct settings *settings, struct arena *arena) {
    for (size_t i = 0; i < count_of(TOOLS) && settings->sandbox.tools; i++) {
        const char *path = tool_path(i, arena);
        if (path)
            sandbox_path_add(&spec->sees, str_of(path));
    }
}

uint32_t tools_environment(const struct settings *settings, struct arena *arena,
                           const char *ret[RUN_TOOLS]) {
    uint32_t count = 0;
    for (size_t i = 0; i < count_of(TOOLS) && settings->sandbox.tools; i++) {
        const char *path = tool_path(i, arena);
        if (path)
            ret[count++] = arena_cstr(arena, arena_format(arena, "%s=%s", TOOLS[i].variable, path));
    }
    return count;
}

uint32_t tools_list(const struct settings *settings, struct arena *arena,
                    struct str ret[TOOLS_LISTED]) {
    const char *home = getenv("HOME");
    uint32_t count = 0;
    for (size_t i = 0; home && i < LOGIN_COUNT && count < TOOLS_LISTED; i++) {
        bool tools = LOGINS[i].form > LOGIN_SETTINGS;
        struct str path = arena_format(arena, "%s/%s", home, LOGINS[i].file);
        if (tools && access(arena_cstr(arena, path), R_OK) == 0)
            ret[count++] = arena_format(arena, "~/%s", LOGINS[i].file);
    }
    for (size_t i = 0; i < RUN_TOOLS && settings->sandbox.tools && count < TOOLS_LISTED; i++)
        if (tool_path(i, arena))
            ret[count++] = arena_format(arena, "~/%s", TOOLS[i].folder);
    return count;
}
