/* SPDX-License-Identifier: Apache-2.0 */
/* Removes what is left of finished work. G-20.
 *
 *   folders of assignments ──▶ is it over, and since when? (the store) ──▶ salvage, then remove ──▶ the next one
 *
 * Removes it after repo.keep, or at once when disk space is low. Keeps what is not known to be over, what could not be salvaged,
 * and a folder with work in it that belongs to no repository. Works on one assignment after the other: nothing waits for this. */
#include "base/memory.h"
#include "ops/assignment.h"
#include "runs/run.h"
#include "runs/run_log.h"
#include "sys/clock.h"

#include <sys/statvfs.h>

enum { CLEAN_MOST = 256 };           /* assignments in one pass */
static const char GONE[] = ".gone-"; /* a folder that is being removed */

/* A folder found in this pass: the content of each folder is read only once per pass. */
struct found {
    struct left left;
    bool home;
    char name[ID_TEXT + 16];
};

struct cleaning {
    struct run_table *runs;
    struct found *found;
    size_t found_count, found_room;
    uv_work_t work;
    struct loop_task task;
    struct lookup lookup;
    struct left left
        [CLEAN_MOST]; /* the first ones after the last one of the previous pass, in sorted order */
    uint32_t count, at;
    uint32_t removed; /* folders of the current assignment */
    int64_t keep;
    bool low;           /* disk space is low: finished work is removed now */
    int64_t over_at;    /* of the current assignment; 0: not over, or unknown */
    struct id goal, id; /* of the current assignment and of its last run, for the log */
    char node[LIMIT_NODE_ID + 1];
    struct arena arena;
};

static void next(struct cleaning *it);

/* ---- listing what there is, on a worker ---- */

static int left_compare(const struct left *a, const struct left *b) {
    int goals = memcmp(a->goal.bytes, b->goal.bytes, sizeof a->goal.bytes);
    return goals ? goals : (a->assignment > b->assignment) - (a->assignment < b->assignment);
}

static uint32_t left_last(const struct cleaning *it) {
    uint32_t last = 0;
    for (uint32_t i = 1; i < it->count; i++)
        if (left_compare(&it->left[i], &it->left[last]) > 0)
            last = i;
    return last;
}

static void left_add(struct cleaning *it, struct left new) {
    if (left_compare(&new, &it->runs->cleaned) <= 0)
        return;
    for (uint32_t i = 0; i < it->count; i++)
        if (left_compare(&it->left[i], &new) == 0)
            return;
    uint32_t last = left_last(it);
    if (it->count < CLEAN_MOST)
        it->left[it->count++] = new;
    else if (left_compare(&new, &it->left[last]) < 0)
        it->left[last] = new;
}

static void found_add(struct cleaning *it, struct left left, bool home, const char *name) {
    if (it->found_count == it->found_room) {
        size_t room = 2 * it->found_room + 64;
        it->found = memory_grow(it->found, room * sizeof *it->found);
        it->found_room = room;
    }
    struct found *new = &it->found[it->found_count];
    *new = (struct found){.left = left, .home = home};
    int length = snprintf(new->name, sizeof new->name, "%s", name);
    it->found_count += length > 0 && (size_t)length < sizeof new->name;
}

/* GOAL.A_3 */
static bool home_parse(const char *name, struct left *ret) {
    size_t length = strcspn(name, ".");
    const char *rest = name + length;
    char *end;
    if (!id_parse((struct str){name, length}, &ret->goal) || strncmp(rest, ".A_", 3) != 0)
        return false;
    ret->assignment = (uint32_t)strtoul(rest + 3, &end, 10);
    return end > rest + 3 && *end == 0;
}

static bool over_read(const char *folder, struct left *ret) {
    char path[RUN_PATH + 16];
    snprintf(path, sizeof path, "%s/run.over", folder);
    json_t *json = json_load_file(path, 0, NULL);
    const char *goal = json_string_value(json_object_get(json, "goal"));
    bool right = goal && id_parse(str_of(goal), &ret->goal);
    ret->assignment = (uint32_t)json_integer_value(json_object_get(json, "charge"));
    json_decref(json);
    return right;
}

typedef void entry_seen(struct cleaning *it, const char *name, const char *path);

static void entries(struct cleaning *it, const char *folder, entry_seen *seen) {
    char path[RUN_PATH * 2];
    snprintf(path, sizeof path, "%s/%s", it->runs->state, folder);
    DIR *stream = opendir(path);
    size_t length = strlen(path);
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        snprintf(path + length, sizeof path - length, "/%s", entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            seen(it, entry->d_name, path);
    }
    if (stream)
        closedir(stream);
}

static void home_seen(struct cleaning *it, const char *name, const char *path) {
    struct left left;
    (void)path;
    if (!home_parse(name, &left))
        return;
    left_add(it, left);
    found_add(it, left, true, name);
}

/* Raw output of a run that is over, which cannot be removed. */
static void over_log(struct left left, const char *name, const char *path, int error) {
    char file[RUN_PATH + 16];
    snprintf(file, sizeof file, "%s/run.over", path);
    json_t *json = json_load_file(file, 0, NULL);
    const char *node = json_string_value(json_object_get(json, "node"));
    struct {
        struct id goal, id;
        const char *node;
    } run = {.goal = left.goal, .node = node ? node : ""};
    if (!id_parse(str_of(name), &run.id))
        run.id = (struct id){0};
    log_run(LEVEL_WARNING, &run, "raw output in %s cannot be removed: %s", path, strerror(error));
    json_decref(json);
}

static void run_seen(struct cleaning *it, const char *name, const char *path) {
    struct left left;
    if (name[0] == '.' || !over_read(path, &left))
        return;
    /* left by a daemon that was killed in between, or by an older build */
    if (!run_output_drop(path))
        over_log(left, name, path, errno);
    left_add(it, left);
    found_add(it, left, false, name);
}

/* Left by an interrupted pass. */
static void gone_remove(struct cleaning *it, const char *name, const char *path) {
    (void)it;
    if (strncmp(name, GONE, strlen(GONE)) == 0 && !folder_remove(path))
        log_host(LEVEL_WARNING, "%s cannot be removed completely: %s", path, strerror(errno));
}

static void collect(uv_work_t *work) {
    struct cleaning *it = work->data;
    entries(it, "homes", gone_remove);
    entries(it, "runs", gone_remove);
    entries(it, "homes", home_seen);
    entries(it, "runs", run_seen);
    it->runs->cleaned = it->count < CLEAN_MOST ? (struct left){0} : it->left[left_last(it)];
}

/* ---- removing one, on a worker ---- */

/* Moves the folder away by one rename first, so that a partly removed folder is never taken for a complete one. */
static void put_away(struct cleaning *it, const char *path) {
    char gone[RUN_PATH * 2 + 16];
    const char *slash = strrchr(path, '/');
    it->removed++;
    snprintf(gone, sizeof gone, "%.*s/%s%s", (int)(slash - path), path, GONE, slash + 1);
    if (rename(path, gone) != 0 || !folder_remove(gone))
        log_run(LEVEL_WARNING, it, "%s cannot be removed completely: %s", path, strerror(errno));
}

/* For a run without a repository, this folder is the only place of its work. */
static bool has_work(const char *folder) {
    char path[RUN_PATH * 2 + 8];
    snprintf(path, sizeof path, "%s/work", folder);
    return rmdir(path) != 0 && errno != ENOENT;
}

static bool is_at_hand(const struct cleaning *it, const struct left *left) {
    const struct left *here = &it->left[it->at];
    return id_equal(left->goal, here->goal) && left->assignment == here->assignment;
}

/* Folders created after the pass began are left to the next pass. */
static void folders_remove(struct cleaning *it) {
    char path[RUN_PATH * 2];
    for (size_t i = 0; i < it->found_count; i++) {
        const struct found *found = &it->found[i];
        if (!is_at_hand(it, &found->left))
            continue;
        snprintf(path, sizeof path, "%s/%s/%s", it->runs->state, found->home ? "homes" : "runs",
                 found->name);
        if (found->home ? access(path, F_OK) == 0 : !has_work(path))
            put_away(it, path);
    }
}

/* False: something exists only there. */
static bool tree_remove(struct cleaning *it, struct work_place *place) {
    struct str kept = {0};
    struct git_answer answer =
        git_tree_remove(&place->context, &place->repo, &place->run, &it->arena, &kept);
    if (answer.result != GIT_DONE) {
        log_run(LEVEL_WARNING, it, "the worktree of %.*s cannot be removed: %.*s",
                STR_ARG(place->run.run), STR_ARG(answer.why));
        return false;
    }
    if (kept.len > 0)
        log_run(LEVEL_WARNING, it, "files of %.*s that fit into no commit are kept in %.*s",
                STR_ARG(place->run.run), STR_ARG(kept));
    work_place_forget(place, &it->arena);
    return true;
}

static void one_remove(uv_work_t *work) {
    struct cleaning *it = work->data;
    const struct left *left = &it->left[it->at];
    struct work_place place;
    bool there = work_place(
        it->runs, (struct work_wanted){.goal = left->goal, .assignment = left->assignment},
        &it->arena, &place);
    if (place.run.base.len > 0 && (!there || !tree_remove(it, &place)))
        return;
    it->removed = 0;
    folders_remove(it);
    if (it->removed > 0)
        log_run(LEVEL_INFO, it, "worktree, home and output of %.*s were removed%s",
                STR_ARG(place.run.run), it->low ? ": disk space is low" : "");
}

/* ---- one after the other, on the loop ---- */

static void timer_set(struct run_table *runs, int64_t keep) {
    int64_t every = keep / 10;
    every = every < SECONDS(1) ? SECONDS(1) : every > MINUTES(10) ? MINUTES(10) : every;
    if (!runs->stopping)
        uv_timer_start(&runs->clean, clean_begin, (uint64_t)(every / 1000), 0);
}

static void cleaning_end(struct cleaning *it) {
    it->runs->under_way--;
    timer_set(it->runs, it->keep);
    arena_free(&it->arena);
    free(it->found);
    free(it);
}

static void one_removed(uv_work_t *work, int status) {
    struct cleaning *it = work->data;
    (void)status;
    it->at++;
    next(it);
}

static void judged(struct loop_task *task) {
    struct cleaning *it = (struct cleaning *)((char *)task - offsetof(struct cleaning, task));
    bool kept = clock_leapt_within(MINUTES(24 * 60)) || clock_wall() - it->over_at <= it->keep;
    bool due = it->over_at > 0 && (it->low || !kept); /* after a clock leap its age is unknown */
    if (due && !it->runs->stopping) {
        uv_queue_work(it->runs->loop, &it->work, one_remove, one_removed);
        return;
    }
    it->at++;
    next(it);
}

static void row_take(struct cleaning *it, const struct assignment_row *row) {
    it->over_at = row->updated_at;
    snprintf(it->node, sizeof it->node, "%.*s", STR_ARG(row->node));
    if (!id_parse(row->run, &it->id))
        it->id = (struct id){0};
}

/* On the lookups' thread. An assignment is over only if the store says so. */
static void looked_up(struct lookup *lookup, const struct store_answer *answer) {
    struct cleaning *it = (struct cleaning *)((char *)lookup - offsetof(struct cleaning, lookup));
    uint32_t n, wanted = it->left[it->at].assignment;
    const struct goal_loaded *loaded = answer->outcome == STORE_DONE ? &answer->loaded[0] : NULL;
    it->over_at = 0;
    it->goal = it->left[it->at].goal;
    it->node[0] = 0;
    it->id = (struct id){0};
    bool over = loaded && loaded->exists && !assignments_find(&loaded->live.assignments, wanted);
    for (uint32_t i = 0; over && i < answer->shown.part_count; i++) {
        const struct part_shown *part = &answer->shown.parts[i];
        struct assignment_row row = {0};
        if (part->kind == PART_ASSIGNMENT_ROW && assignment_parse(part->name, &n) && n == wanted &&
            shape_decode(&ASSIGNMENT_ROW, part->body, &row))
            row_take(it, &row);
    }
    loop_post(it->runs, &it->task);
}

static bool is_held(const struct cleaning *it) {
    for (size_t i = 0; i < it->runs->all.cap; i++) {
        const struct run *run = it->runs->all.slots[i].value;
        if (run && is_at_hand(it, &(struct left){run->goal, run->assignment}))
            return true;
    }
    return false;
}

static void next(struct cleaning *it) {
    while (it->at < it->count && is_held(it))
        it->at++;
    if (it->at >= it->count || it->runs->stopping) {
        cleaning_end(it);
        return;
    }
    it->lookup.request = (struct store_request){
        .verb = STORE_SHOW, .ids = &it->left[it->at].goal, .id_count = 1, .limit = 1};
    if (!lookups_ask(it->runs->context->lookups, &it->lookup))
        cleaning_end(it);
}

static void collected(uv_work_t *work, int status) {
    (void)status;
    next(work->data);
}

static bool disk_is_low(const struct run_table *runs, int64_t least_mib) {
    struct statvfs disk;
    return statvfs(runs->state, &disk) == 0 &&
           (uint64_t)disk.f_bavail * disk.f_frsize < (uint64_t)least_mib << 20;
}

/* repo.keep = "0s" keeps everything. */
void clean_begin(uv_timer_t *timer) {
    struct run_table *runs = timer->data;
    const struct settings *settings = context_settings(runs->context);
    int64_t keep = settings->repo.keep, least = settings->repo.disk_least;
    context_settings_drop(settings);
    if (keep == 0) {
        timer_set(runs, MINUTES(10));
        return;
    }
    struct cleaning *it = memory_new(sizeof *it);
    *it = (struct cleaning){.runs = runs,
                            .work.data = it,
                            .task.go = judged,
                            .lookup.done = looked_up,
                            .keep = keep,
                            .low = disk_is_low(runs, least)};
    runs->under_way++;
    uv_queue_work(runs->loop, &it->work, collect, collected);
}
