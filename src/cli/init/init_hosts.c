/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/init/init_hosts.h"

#include "base/host_rule.h"
#include "base/memory.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCK_MOST = 32 << 20 }; /* bytes of a lock file that are read */

enum word_of { OF_NOTHING, OF_PERSON, OF_LOCK };

/* A file, the registries that its tool uses, and the word in front of the address of another one. The settings of a tool
 * are written by people; in a lock file, the author of a dependency may have chosen the address. */
static const struct {
    const char *file, *hosts[3], *word;
    enum word_of of;
} KNOWN[] = {
    {"package.json", {"registry.npmjs.org"}, NULL, OF_NOTHING},
    {".npmrc", {NULL}, "registry", OF_PERSON},
    {"package-lock.json", {"registry.npmjs.org"}, "\"resolved\"", OF_LOCK},
    {"npm-shrinkwrap.json", {"registry.npmjs.org"}, "\"resolved\"", OF_LOCK},
    {"yarn.lock", {"registry.yarnpkg.com", "registry.npmjs.org"}, "resolved", OF_LOCK},
    {"pnpm-lock.yaml", {"registry.npmjs.org"}, "tarball", OF_LOCK},
    {"requirements.txt", {"pypi.org", "files.pythonhosted.org"}, "index-url", OF_PERSON},
    {"pyproject.toml", {"pypi.org", "files.pythonhosted.org"}, NULL, OF_NOTHING},
    {"setup.py", {"pypi.org", "files.pythonhosted.org"}, NULL, OF_NOTHING},
    {"uv.lock", {"pypi.org", "files.pythonhosted.org"}, "registry", OF_LOCK},
    {"poetry.lock", {"pypi.org", "files.pythonhosted.org"}, "\nurl", OF_LOCK},
    {"Pipfile.lock", {"pypi.org", "files.pythonhosted.org"}, "\"url\"", OF_LOCK},
    {"Cargo.toml", {"index.crates.io", "static.crates.io"}, NULL, OF_NOTHING},
    {"Cargo.lock", {"index.crates.io", "static.crates.io"}, "\"sparse", OF_LOCK},
    {"go.mod", {"proxy.golang.org", "sum.golang.org"}, NULL, OF_NOTHING},
    {"Gemfile.lock", {"rubygems.org", "index.rubygems.org"}, "remote", OF_LOCK},
    {"composer.lock", {"repo.packagist.org"}, NULL, OF_NOTHING},
    {"mix.lock", {"repo.hex.pm", "builds.hex.pm"}, NULL, OF_NOTHING},
    {"pubspec.lock", {"pub.dev"}, NULL, OF_NOTHING},
    {"packages.lock.json", {"api.nuget.org"}, NULL, OF_NOTHING},
    {"pom.xml", {"repo.maven.apache.org"}, NULL, OF_NOTHING},
    {"build.gradle",
     {"repo.maven.apache.org", "plugins.gradle.org", "services.gradle.org"},
     NULL,
     OF_NOTHING},
    {"build.gradle.kts",
     {"repo.maven.apache.org", "plugins.gradle.org", "services.gradle.org"},
     NULL,
     OF_NOTHING},
};

static bool list_has(const struct host_list *list, struct str host) {
    for (uint32_t i = 0; i < list->count; i++)
        if (str_equal(list->at[i], host))
            return true;
    return false;
}

static void list_add(struct host_list *list, struct str host, struct arena *arena) {
    if (!list_has(list, host) && list->count < count_of(list->at))
        list->at[list->count++] = arena_copy(arena, host);
}

void hosts_keep(struct hosts_found *hosts, const struct texts *old, struct arena *arena) {
    for (uint32_t i = 0; i < old->count; i++)
        list_add(&hosts->taken, old->at[i], arena);
}

/* An address may be that of a service on this machine: it is only offered. */
static void url_add(struct hosts_found *hosts, const char *url, enum word_of of,
                    struct arena *arena) {
    char entry[HOST_ENTRY];
    struct host_rule rule;
    struct str text = {url, strcspn(url, "\"' \t\r\n,}")};
    if (!host_of_url(text, entry) || !host_rule_parse(str_of(entry), &rule) ||
        list_has(&hosts->taken, str_of(entry)))
        return;
    bool taken = of == OF_PERSON && !host_is_address(rule.host);
    list_add(taken ? &hosts->taken : &hosts->offered, str_of(entry), arena);
}

static void content_search(struct hosts_found *hosts, const char *content, size_t row,
                           struct arena *arena) {
    for (const char *at = content; (at = strstr(at, KNOWN[row].word));) {
        at += strlen(KNOWN[row].word);
        url_add(hosts, at + strspn(at, "\" :=+{"), KNOWN[row].of, arena);
    }
}

FILE *regular_open(const char *folder, const char *name) {
    char path[PATH_MAX];
    struct stat stat;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int opened = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    FILE *file = opened >= 0 && fstat(opened, &stat) == 0 && S_ISREG(stat.st_mode)
                     ? fdopen(opened, "r")
                     : NULL;
    if (opened >= 0 && !file)
        close(opened);
    return file;
}

/* The whole file; empty if it has more than the limit. NULL: there is none. */
static char *content_read(const char *folder, const char *name) {
    FILE *file = regular_open(folder, name);
    if (!file)
        return NULL;
    char *content = memory_new(LOCK_MOST + 1);
    size_t length = fread(content, 1, LOCK_MOST, file);
    content[length < LOCK_MOST ? length : 0] = 0;
    fclose(file);
    return content;
}

/* The usual registries of all files come first, so that they are never among those that are only offered. */
void hosts_find(struct hosts_found *hosts, const char *folder, struct arena *arena) {
    char *content[count_of(KNOWN)];
    if (hosts->taken.count > 0)
        return;
    for (size_t i = 0; i < count_of(KNOWN); i++) {
        content[i] = content_read(folder, KNOWN[i].file);
        for (size_t n = 0; content[i] && n < count_of(KNOWN[i].hosts) && KNOWN[i].hosts[n]; n++)
            list_add(&hosts->taken, str_of(KNOWN[i].hosts[n]), arena);
    }
    for (enum word_of of = OF_PERSON; of <= OF_LOCK; of++)
        for (size_t i = 0; i < count_of(KNOWN); i++)
            if (content[i] && KNOWN[i].of == of)
                content_search(hosts, content[i], i, arena);
    for (size_t i = 0; i < count_of(KNOWN); i++)
        free(content[i]);
}
