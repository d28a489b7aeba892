/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what verify.setup left in its HOME on a target's commit: bounded in size, count and age. */
#include "base/bytes.h"
#include "runs/check/check.h"
#include "sys/clock.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CACHES_MOST = 32, CACHE_DAYS = 14, FOLDERS_OPEN = 32 };

/* Files that name dependencies. A cache serves any commit, so one of these that is missing here costs time only. */
static const struct str INPUTS[] = {STR("package.json"),
                                    STR("package-lock.json"),
                                    STR("npm-shrinkwrap.json"),
                                    STR("yarn.lock"),
                                    STR("pnpm-lock.yaml"),
                                    STR("bun.lock"),
                                    STR("requirements.txt"),
                                    STR("requirements.in"),
                                    STR("pyproject.toml"),
                                    STR("setup.py"),
                                    STR("setup.cfg"),
                                    STR("poetry.lock"),
                                    STR("uv.lock"),
                                    STR("Pipfile.lock"),
                                    STR("Cargo.lock"),
                                    STR("Cargo.toml"),
                                    STR("go.mod"),
                                    STR("go.sum"),
                                    STR("Gemfile.lock"),
                                    STR("composer.lock"),
                                    STR("pom.xml"),
                                    STR("build.gradle"),
                                    STR("build.gradle.kts"),
                                    STR("gradle.lockfile"),
                                    STR("mix.lock"),
                                    STR("Package.resolved"),
                                    STR("conanfile.txt")};

struct git_answer check_cache_name(const struct work_place *place, struct str commit,
                                   struct arena *arena, char ret[CACHE_NAME + 1]) {
    struct hash files;
    struct sha256 sha;
    struct git_answer answer = git_commit_files(&place->context, &place->repo, commit, INPUTS,
                                                count_of(INPUTS), arena, &files);
    if (answer.result != GIT_DONE)
        return answer;
    sha256_begin(&sha);
    sha256_add(&sha, &place->repository, sizeof place->repository);
    sha256_add(&sha, place->digest.bytes, sizeof place->digest.bytes);
    sha256_add(&sha, files.bytes, sizeof files.bytes);
    struct hash made = sha256_end(&sha);
    hex_write(ret, made.bytes, sizeof made.bytes);
    ret[CACHE_NAME] = 0;
    return answer;
}

static struct str folder_of(const struct work_place *place, struct arena *arena) {
    return arena_format(arena, "%.*s/caches", STR_ARG(place->context.state));
}

static char *path_of(const struct work_place *place, const char *name, const char *suffix,
                     struct arena *arena) {
    return arena_cstr(
        arena, arena_format(arena, "%.*s/%s%s", STR_ARG(folder_of(place, arena)), name, suffix));
}

/* The folder NAME has what was kept, in NAME/home; NAME/size says how large that is. The time of NAME/size is the last
 * use. */
struct str check_cache_find(const struct work_place *place, const char *name, struct arena *arena) {
    char *home = path_of(place, name, "/home", arena);
    if (place->cache_most == 0 || access(home, X_OK) != 0)
        return STR("");
    (void)utimensat(AT_FDCWD, path_of(place, name, "/size", arena), NULL, 0);
    return str_of(home);
}

/* ---- filling ---- */

static _Thread_local uint64_t counted, counted_most;

static int bytes_count(const char *path, const struct stat *about, int kind, struct FTW *at) {
    (void)path, (void)kind, (void)at;
    counted += (uint64_t)about->st_blocks * 512;
    return counted > counted_most;
}

/* False: more than `most`, or it cannot be read. */
static bool size_find(const char *path, uint64_t most, uint64_t *ret) {
    counted = 0;
    counted_most = most;
    if (nftw(path, bytes_count, FOLDERS_OPEN, FTW_PHYS | FTW_MOUNT) != 0)
        return false;
    *ret = counted;
    return true;
}

static bool size_write(const char *path, uint64_t size) {
    FILE *file = fopen(path, "we");
    if (!file)
        return false;
    bool well = fprintf(file, "%llu\n", (unsigned long long)size) > 0;
    return fclose(file) == 0 && well;
}

/* Built beside its place and moved there, so it is whole or absent. */
void check_cache_keep(const struct work_place *place, const char *name, struct str home,
                      struct arena *arena) {
    uint64_t size;
    char *from = arena_cstr(arena, home), *new = path_of(place, name, ".new", arena);
    if (!size_find(from, place->cache_most, &size))
        return;
    mkdir(arena_cstr(arena, folder_of(place, arena)), 0700);
    folder_remove(new);
    bool made = mkdir(new, 0700) == 0 &&
                size_write(path_of(place, name, ".new/size", arena), size) &&
                rename(from, path_of(place, name, ".new/home", arena)) == 0 &&
                rename(new, path_of(place, name, "", arena)) == 0;
    if (!made)
        folder_remove(new);
}

/* ---- in use ---- */

void check_cache_hold(struct run_table *runs, struct check_cache *cache) {
    cache->next = runs->caches;
    runs->caches = cache;
}

void check_cache_drop(struct run_table *runs, struct check_cache *cache) {
    for (struct check_cache **at = &runs->caches; *at; at = &(*at)->next)
        if (*at == cache) {
            *at = cache->next;
            return;
        }
}

static bool is_held(const struct run_table *runs, const char *name) {
    for (const struct check_cache *it = runs->caches; it; it = it->next)
        if (strcmp(it->name, name) == 0)
            return true;
    return false;
}

/* ---- removing ---- */

struct kept_cache {
    char name[CACHE_NAME + 1];
    uint64_t size;
    time_t used;
};

static bool kept_read(const struct work_place *place, const char *name, struct arena *arena,
                      struct kept_cache *ret) {
    char *path = path_of(place, name, "/size", arena);
    unsigned long long size = 0;
    struct stat about;
    FILE *file = strlen(name) == CACHE_NAME ? fopen(path, "re") : NULL;
    if (!file)
        return false;
    bool well = fscanf(file, "%llu", &size) == 1 && fstat(fileno(file), &about) == 0;
    fclose(file);
    if (!well)
        return false;
    *ret = (struct kept_cache){.size = size, .used = about.st_mtime};
    memcpy(ret->name, name, CACHE_NAME);
    return true;
}

static int used_order(const void *a, const void *b) {
    const struct kept_cache *one = a, *other = b;
    return (one->used < other->used) - (one->used > other->used); /* newest first */
}

static uint32_t kept_list(const struct work_place *place, struct arena *arena,
                          struct kept_cache *list, uint32_t most) {
    DIR *folder = opendir(arena_cstr(arena, folder_of(place, arena)));
    uint32_t count = 0;
    for (struct dirent *entry; folder && count < most && (entry = readdir(folder));)
        count += kept_read(place, entry->d_name, arena, &list[count]);
    if (folder)
        closedir(folder);
    qsort(list, count, sizeof *list, used_order);
    return count;
}

void check_caches_trim(struct run_table *runs, const struct work_place *place,
                       struct arena *arena) {
    enum { LISTED = 4 * CACHES_MOST };
    struct kept_cache *list = arena_new(arena, struct kept_cache, LISTED);
    uint32_t count = kept_list(place, arena, list, LISTED), left = 0;
    uint64_t size = 0;
    int64_t oldest = clock_wall() / SECONDS(1) - CACHE_DAYS * 24 * 3600;
    for (uint32_t i = 0; i < count; i++) {
        bool fits = size + list[i].size <= place->cache_most && left < CACHES_MOST &&
                    list[i].used >= oldest;
        if (!fits && !is_held(runs, list[i].name)) {
            (void)rename(path_of(place, list[i].name, "", arena),
                         path_of(place, list[i].name, ".gone", arena));
            continue;
        }
        left++;
        size += list[i].size;
    }
}

/* Also what a killed daemon left half made. */
void check_caches_clear(const struct work_place *place, struct arena *arena) {
    DIR *folder = opendir(arena_cstr(arena, folder_of(place, arena)));
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strstr(entry->d_name, ".gone"))
            folder_remove(path_of(place, entry->d_name, "", arena));
    if (folder)
        closedir(folder);
}
