/* SPDX-License-Identifier: Apache-2.0 */
/* Where a run works: its clone, its worktree, its base. */
#include "base/planted.h"
#include "runs/run.h"
#include "sys/clock.h"
#include "sys/file_replace.h"

/* ---- the worktree ---- */

static enum git_how how_of(uint32_t landing, bool forge) {
    static const enum git_how HOW[LANDINGS] = {[LAND_PR] = GIT_AS_PULL_REQUEST,
                                               [LAND_MERGE] = GIT_FAST_FORWARD,
                                               [LAND_BRANCH] = GIT_AS_BRANCH,
                                               [LAND_REBASE] = GIT_REBASED,
                                               [LAND_SQUASH] = GIT_SQUASHED};
    return landing == LAND_PR && !forge ? GIT_AS_BRANCH : HOW[landing];
}

/* The commit that the work started from is stored beside it, so that it is known after any restart. */
static struct str base_read(const char *path, struct arena *arena) {
    char text[LIMIT_COMMIT + 1] = "";
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, LIMIT_COMMIT, file) : 0;
    if (file)
        fclose(file);
    return arena_copy(arena, (struct str){text, length});
}

static struct str base_path(const struct work_place *place, struct arena *arena) {
    return arena_format(arena, "%.*s/bases/%.*s.%.*s", STR_ARG(place->context.state),
                        STR_ARG(place->run.goal), STR_ARG(place->run.run));
}

/* Where salvaged work and branches for pull requests go. */
static struct str remote_of(const struct repo_setting *repo) {
    if (repo->landing.remote.len > 0)
        return repo->landing.remote;
    return repo->landing.how == LAND_PR ? repo->path : STR("");
}

static bool is_remote(const struct repo_setting *repo) {
    struct str remote = remote_of(repo);
    return !git_source_is_path(repo->path) || (remote.len > 0 && !git_source_is_path(remote));
}

/* ---- its repository, stored beside its base ---- */

/* Work stays with the repository that it began in, also when the settings name another one by now. */
static char *origin_path(const struct work_place *place, struct arena *arena) {
    return arena_cstr(arena, arena_format(arena, "%.*s.repo", STR_ARG(base_path(place, arena))));
}

/* A key in sixteen digits, a space, and the source. False: it was begun by a build that knew one repository only. */
static bool origin_read(const struct work_place *place, struct arena *arena, uint64_t *ret_key,
                        struct str *ret_source) {
    char text[PATH_MAX + 32];
    FILE *file = fopen(origin_path(place, arena), "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = 0;
    if (length < 18 || text[16] != ' ')
        return false;
    *ret_key = strtoull(text, NULL, 16);
    *ret_source = arena_copy(arena, str_of(text + 17));
    return true;
}

static bool origin_write(const struct work_place *place, const char *folder, const char *name,
                         struct arena *arena) {
    struct str text = arena_format(arena, "%016llx %.*s", (unsigned long long)place->repository,
                                   STR_ARG(place->repo.source));
    return file_replace(folder, arena_cstr(arena, arena_format(arena, "%s.repo", name)), text.at,
                        text.len, true);
}

static void place_take(struct run_table *runs, const struct settings *settings,
                       const struct repo_setting *repo, struct arena *arena,
                       struct work_place *ret) {
    struct git_run run = ret->run;
    struct str name, address;
    if (!author_parse(repo->landing.author, &name, &address)) {
        name = STR("Overseer");
        address = STR("overseer@localhost");
    }
    *ret = (struct work_place){
        .repository = ret->repository,
        .context = {.state = arena_format(arena, "%s/work", runs->state),
                    .name = arena_copy(arena, name),
                    .email = arena_copy(arena, address),
                    .low_water = (uint64_t)settings->repo.disk_least << 20,
                    .hooks = repo->landing.hooks,
                    .within_us = MINUTES(10),
                    .wait_us = MINUTES(2),
                    .ends = is_remote(repo) && runs->net ? pool_is_stopping(runs->net) : NULL},
        .repo = {.source = arena_copy(arena, repo->path),
                 .remote = arena_copy(arena, remote_of(repo))},
        .run = run,
        .branch = arena_copy(arena, repo->default_branch),
        .command = arena_copy(arena, repo->verify.command),
        .setup = arena_copy(arena, repo->setup),
        .check_setup = arena_copy(arena, repo->verify.setup),
        .cache_most = (uint64_t)settings->repo.check_caches << 20,
        .hook = arena_copy(arena, repo->on_worktree_ready),
        .port_first = (uint16_t)settings->repo.port_first,
        .port_count = (uint16_t)settings->repo.ports,
        .forge = repo->landing.how == LAND_PR ? arena_copy(arena, repo->landing.forge) : STR(""),
        .lands = repo->landing.how != LAND_NOT,
        .attributes = repo->landing.attribution,
        .within = repo->verify.within,
        .network = repo->verify.network,
        .keys = texts_copy(&repo->verify.keys, arena),
        .protect = texts_copy(&repo->verify.protect, arena),
        .rules = texts_copy(&repo->verify.rules, arena)};
    if (ret->lands)
        ret->how = how_of(repo->landing.how, ret->forge.len > 0);
    ret->digest = check_digest(ret, settings);
    reader_box(runs, arena, &ret->context);
}

/* Work that an earlier build began is in the repository that the settings name when it is seen first. */
static void origin_keep(const struct work_place *place, struct arena *arena) {
    char *path = arena_cstr(arena, base_path(place, arena)), *slash = strrchr(path, '/');
    *slash = 0;
    origin_write(place, path, slash + 1, arena);
}

struct work_wanted wanted_by(const struct effect *effect) {
    return (struct work_wanted){effect->goal, effect->assignment, effect->repository,
                                effect->candidate.branch};
}

bool work_place(struct run_table *runs, struct work_wanted wanted, struct arena *arena,
                struct work_place *ret) {
    const struct settings *settings = context_settings(runs->context);
    struct repo_setting repo = {0};
    struct str source = {0};
    char name[ID_TEXT + 1];
    id_format(wanted.goal, name);
    *ret =
        (struct work_place){.repository = wanted.repository,
                            .context.state = arena_format(arena, "%s/work", runs->state),
                            .run = {.goal = arena_copy(arena, str_of(name)),
                                    .run = arena_format(arena, "%s-A_%u", name, wanted.assignment),
                                    .branch = arena_copy(arena, wanted.branch),
                                    .at_us = clock_wall()}};
    bool begun = origin_read(ret, arena, &ret->repository, &source);
    bool known = settings_repository(settings, ret->repository, &repo);
    ret->run.base = base_read(arena_cstr(arena, base_path(ret, arena)), arena);
    place_take(runs, settings, &repo, arena, ret);
    ret->missing = !known && (ret->repository == 0 ? settings->lists.repo_count > 0
                                                   : ret->repository != REPOSITORY_NONE);
    ret->moved = begun && (!known || !str_equal(source, repo.path));
    if (ret->moved)
        ret->repo = (struct git_repo){.source = source};
    context_settings_drop(settings);
    if (known && !begun && ret->run.base.len > 0)
        origin_keep(ret, arena);
    return known || begun;
}

struct str place_missing_text(const struct work_place *place, struct arena *arena) {
    struct str source = place->repo.source;
    if (place->moved && place->repository == 0)
        return arena_format(
            arena,
            "it was done in %.*s, which is not repo.path any more: set repo.path to it "
            "again, or cancel the work",
            STR_ARG(source));
    if (place->moved)
        return arena_format(
            arena,
            "it was done in %.*s, and no entry of [[repos]] has that path and the name that "
            "the entry had: add it again, or cancel the work",
            STR_ARG(source));
    if (place->missing && place->repository == 0)
        return STR("its repository was that of repo.path, which is empty now: set it again, or "
                   "cancel the work");
    if (place->missing)
        return STR("its repository is not in the settings any more: add it under [[repos]] with "
                   "its name, or cancel the work");
    return STR("there is no repository to check the work in");
}

/* The mark exists from before a worktree is created until it is ready for an agent. */
static char *mark_path(const struct work_place *place, struct arena *arena) {
    return arena_cstr(arena, arena_format(arena, "%.*s.new", STR_ARG(base_path(place, arena))));
}

void work_place_ready(struct work_place *place, struct arena *arena) {
    place->ready = unlink(mark_path(place, arena)) == 0 || errno == ENOENT;
}

void work_place_forget(struct work_place *place, struct arena *arena) {
    git_ports_free(&place->context, place->run.run, arena);
    unlink(mark_path(place, arena));
    unlink(origin_path(place, arena));
    unlink(arena_cstr(arena, base_path(place, arena)));
}

/* Writes the mark first: a commit without a mark then means that an agent may have been there. */
static bool base_write(struct work_place *place, struct str head, struct arena *arena) {
    char *path = arena_cstr(arena, base_path(place, arena)), *slash = strrchr(path, '/');
    struct str mark = arena_format(arena, "%s.new", slash + 1);
    place->run.base = head;
    *slash = 0;
    mkdir(path, 0700);
    return origin_write(place, path, slash + 1, arena) &&
           file_replace(path, arena_cstr(arena, mark), "", 0, true) &&
           file_replace(path, slash + 1, head.at, head.len, true);
}

bool work_place_is_local(const struct work_place *place, struct arena *arena) {
    return place->run.base.len > 0 && git_clone_find(&place->context, &place->repo, arena).len > 0;
}

/* Work that has started keeps its base commit: the source is not contacted again. */
static struct git_answer clone_bring(struct work_place *place, struct arena *arena) {
    struct git_clone clone;
    if (work_place_is_local(place, arena)) {
        place->clone = git_clone_find(&place->context, &place->repo, arena);
        return (struct git_answer){0};
    }
    struct git_answer answer =
        git_clone_ensure(&place->context, &place->repo, place->branch, arena, &clone);
    if (answer.result != GIT_DONE)
        return answer;
    place->clone = clone.path;
    if (place->run.base.len == 0 && !base_write(place, clone.head, arena))
        return (struct git_answer){GIT_FAILED, STR("its start commit cannot be stored")};
    return answer;
}

/* On a worker. */
struct git_answer work_place_make(struct work_place *place, struct arena *arena,
                                  struct git_tree *ret) {
    struct git_answer answer = clone_bring(place, arena);
    if (answer.result != GIT_DONE)
        return answer;
    answer = git_tree_ensure(&place->context, &place->repo, &place->run, arena, ret);
    place->ready =
        answer.result == GIT_DONE && ret->was_there && access(mark_path(place, arena), F_OK) != 0;
    return answer;
}
