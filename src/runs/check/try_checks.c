/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether a target passes its own check. `overseerd --try-checks FOLDER`, for `overseer init`: runs setup and command
 * on the commit that the target is at, as a check does, and prints a line of JSON with the result. */
#include "runs/check/try_checks.h"

#include "base/memory.h"
#include "model/repository.h"
#include "runs/check/check.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRY_MOST = MINUTES(10), SAID_MOST = 1500 };

struct trying_checks {
    struct run_table runs;
    const struct settings *settings;
    struct daemon_context context;
    struct work_place place;
    struct effect effect;
    struct arena arena;
    struct git_clone clone;
    struct target_trial target;
    uv_loop_t loop;
    char folder[RUN_PATH];
};

static json_t *tools_json(const struct settings *settings) {
    struct arena arena = {0};
    struct str list[TOOLS_LISTED];
    uint32_t count = tools_list(settings, &arena, list);
    json_t *json = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(json, json_stringn(list[i].at, list[i].len));
    arena_free(&arena);
    return json;
}

static void tried_print(const struct settings *settings, const char *stage, int64_t exit,
                        struct str commit, struct str branch, struct str text,
                        const char *sandbox) {
    struct str tail =
        text.len > SAID_MOST ? (struct str){text.at + text.len - SAID_MOST, SAID_MOST} : text;
    while (tail.len > 0 && ((unsigned char)tail.at[0] & 0xC0) == 0x80)
        tail = (struct str){tail.at + 1, tail.len - 1};
    json_t *json = json_pack("{s:s, s:I, s:s%, s:s%, s:s%, s:s}", "stage", stage, "exit",
                             (json_int_t)exit, "commit", commit.at ? commit.at : "", commit.len,
                             "branch", branch.at ? branch.at : "", branch.len, "said",
                             tail.at ? tail.at : "", tail.len, "sandbox", sandbox);
    json_object_set_new(json, "tools", tools_json(settings));
    char *line = json ? json_dumps(json, JSON_COMPACT) : NULL;
    if (line)
        puts(line);
    fflush(stdout);
    free(line);
    json_decref(json);
}

static void tried(struct target_trial *target) {
    static const char *const STAGES[] = {"start", "setup", "command"};
    const struct trying_checks *it = target->with;
    const struct trial *trial = &target->trial;
    tried_print(it->settings, STAGES[trial->stage], trial->exit, it->clone.head, it->place.branch,
                trial->text, sandbox_name(it->runs.can));
}

static void runs_prepare(struct trying_checks *it, const struct settings *settings,
                         const char *socket, const char *folder) {
    struct run_table *runs = &it->runs;
    const char *file = settings->source.file.at;
    runs->context = &it->context;
    runs->loop = &it->loop;
    snprintf(runs->state, sizeof runs->state, "%s", it->folder);
    snprintf(runs->hidden[0], sizeof runs->hidden[0], "%.*s", RUN_PATH - 1, socket);
    snprintf(runs->hidden[1], sizeof runs->hidden[1], "%.*s", RUN_PATH - 1, folder);
    snprintf(runs->hidden[2], sizeof runs->hidden[2], "%.*s", RUN_PATH - 1, file ? file : "");
    runs->can = sandbox_probe(runs->bwrap, runs->cannot, sizeof runs->cannot);
    sibling_program("overseer-hold", runs->hold, sizeof runs->hold);
}

/* The entry of the settings with this path. */
static bool key_find(const struct settings *settings, const char *repository, uint64_t *ret) {
    struct str path = str_of(repository);
    *ret = 0;
    if (str_equal(settings->repo.path, path))
        return true;
    for (uint32_t i = 0; i < settings->lists.repo_count; i++)
        if (str_equal(settings->lists.repos[i].path, path)) {
            *ret = repository_key(settings->lists.repos[i].name);
            return true;
        }
    return false;
}

static bool place_find(struct trying_checks *it, const struct settings *settings,
                       const char *repository, struct str *ret_why) {
    uint64_t key;
    *ret_why = STR("the repository is not in the settings");
    if (!key_find(settings, repository, &key) ||
        !work_place(&it->runs, (struct work_wanted){.repository = key}, &it->arena, &it->place))
        return false;
    if (it->place.within > TRY_MOST)
        it->place.within = TRY_MOST;
    struct git_answer answer = git_clone_ensure(&it->place.context, &it->place.repo,
                                                it->place.branch, &it->arena, &it->clone);
    it->place.clone = it->clone.path;
    *ret_why = answer.why;
    return answer.result == GIT_DONE;
}

static void trial_run(struct trying_checks *it) {
    it->target = (struct target_trial){.trial = {.runs = &it->runs,
                                                 .effect = &it->effect,
                                                 .place = &it->place,
                                                 .arena = &it->arena},
                                       .name = STR("target"),
                                       .commit = it->clone.head,
                                       .ended = tried,
                                       .with = it};
    uv_loop_init(&it->loop);
    target_begin(&it->target);
    uv_run(&it->loop, UV_RUN_DEFAULT);
    uv_loop_close(&it->loop);
}

int try_checks(struct settings *settings, const char *socket, const char *folder,
               const char *repository) {
    struct trying_checks *it = memory_new(sizeof *it);
    char place[] = "/tmp/overseer-try-XXXXXX";
    struct str why;
    *it = (struct trying_checks){.settings = settings};
    if (!mkdtemp(place)) {
        free(it);
        return 1;
    }
    snprintf(it->folder, sizeof it->folder, "%s", place);
    context_settings_set(&it->context, settings);
    runs_prepare(it, settings, socket, folder);
    if (place_find(it, settings, repository, &why))
        trial_run(it);
    else
        tried_print(settings, "start", -1, STR(""), it->place.branch, why,
                    sandbox_name(it->runs.can));
    arena_free(&it->arena);
    folder_remove(place);
    free(it);
    return 0;
}
