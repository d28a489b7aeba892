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
static struct str remote_of(const struct settings *settings) {
    if (settings->landing.remote.len > 0)
        return settings->landing.remote;
    return settings->landing.how == LAND_PR ? settings->repo.path : STR("");
}

static bool is_remote(const struct settings *settings) {
    struct str remote = remote_of(settings);
    return !git_source_is_path(settings->repo.path) ||
           (remote.len > 0 && !git_source_is_path(remote));
}

bool work_place(struct run_table *runs, struct id goal, uint32_t assignment, struct arena *arena,
                struct work_place *ret) {
    const struct settings *settings = context_settings(runs->context);
    struct str path = arena_copy(arena, settings->repo.path);
    char name[ID_TEXT + 1];
    id_format(goal, name);
    *ret = (struct work_place){
        .context = {.state = arena_format(arena, "%s/work", runs->state),
                    .name = STR("Overseer"),
                    .email = STR("overseer@localhost"),
                    .low_water = (uint64_t)settings->repo.disk_least << 20,
                    .hooks = settings->landing.hooks,
                    .within_us = MINUTES(10),
                    .wait_us = MINUTES(2),
                    .ends = is_remote(settings) && runs->net ? pool_is_stopping(runs->net) : NULL},
        .repo = {.source = path, .remote = arena_copy(arena, remote_of(settings))},
        .run = {.goal = arena_copy(arena, str_of(name)),
                .run = arena_format(arena, "%s-A_%u", name, assignment),
                .at_us = clock_wall()},
        .branch = arena_copy(arena, settings->repo.default_branch),
        .command = arena_copy(arena, settings->verify.command),
        .setup = arena_copy(arena, settings->repo.setup),
        .hook = arena_copy(arena, settings->repo.on_worktree_ready),
        .port_first = (uint16_t)settings->repo.port_first,
        .port_count = (uint16_t)settings->repo.ports,
        .forge =
            settings->landing.how == LAND_PR ? arena_copy(arena, settings->landing.forge) : STR(""),
        .lands = settings->landing.how != LAND_NOT,
        .within = settings->verify.within,
        .protect = texts_copy(&settings->verify.protect, arena),
        .rules = texts_copy(&settings->verify.rules, arena)};
    if (ret->lands)
        ret->how = how_of(settings->landing.how, ret->forge.len > 0);
    ret->digest = check_digest(ret, settings);
    reader_box(runs, arena, &ret->context);
    context_settings_drop(settings);
    ret->run.base = base_read(arena_cstr(arena, base_path(ret, arena)), arena);
    return path.len > 0;
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
    unlink(arena_cstr(arena, base_path(place, arena)));
}

/* Writes the mark first: a commit without a mark then means that an agent may have been there. */
static bool base_write(struct work_place *place, struct str head, struct arena *arena) {
    char *path = arena_cstr(arena, base_path(place, arena)), *slash = strrchr(path, '/');
    struct str mark = arena_format(arena, "%s.new", slash + 1);
    place->run.base = head;
    *slash = 0;
    mkdir(path, 0700);
    return file_replace(path, arena_cstr(arena, mark), "", 0, true) &&
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
