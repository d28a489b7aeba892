/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the settings of a repository: that of [repo], or an entry of [[repos]]. */
#include "model/repository.h"
#include "model/setting/setting.h"

/* Its name is the last part of its path. */
static struct str path_name(struct str path) {
    while (path.len > 0 && path.at[path.len - 1] == '/')
        path.len--;
    size_t from = path.len;
    while (from > 0 && path.at[from - 1] != '/' && path.at[from - 1] != ':')
        from--;
    return (struct str){path.at + from, path.len - from};
}

struct repo_setting settings_first_repository(const struct settings *settings) {
    return (struct repo_setting){.name = path_name(settings->repo.path),
                                 .path = settings->repo.path,
                                 .default_branch = settings->repo.default_branch,
                                 .setup = settings->repo.setup,
                                 .on_worktree_ready = settings->repo.on_worktree_ready,
                                 .hosts = settings->repo.hosts,
                                 .verify = settings->verify,
                                 .landing = settings->landing};
}

bool settings_repository(const struct settings *settings, uint64_t key, struct repo_setting *ret) {
    if (key == 0) {
        *ret = settings_first_repository(settings);
        return ret->path.len > 0;
    }
    for (uint32_t i = 0; i < settings->lists.repo_count; i++)
        if (repository_key(settings->lists.repos[i].name) == key) {
            *ret = settings->lists.repos[i];
            return true;
        }
    return false;
}

/* verify.within for verify.within, repo.default_branch for default_branch. */
const struct setting *repository_inherits(const struct setting *row) {
    static const struct str REPO = STR("repo.");
    for (size_t i = 0; i < SETTING_COUNT && !(row->flags & SETTING_OWN); i++) {
        struct str name = str_of(SETTINGS[i].name);
        if (str_begins(name, REPO))
            name = (struct str){name.at + REPO.len, name.len - REPO.len};
        if (str_equal(name, str_of(row->name)))
            return &SETTINGS[i];
    }
    return NULL;
}

void repository_inherit(const struct settings *settings, struct repo_setting *entry,
                        const struct setting *row, struct arena *arena) {
    const struct setting *from = repository_inherits(row);
    if (from)
        setting_give(entry, row, settings, from, arena);
}

bool repository_name_has(char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || character == '.' || character == '_' ||
           character == '-';
}
