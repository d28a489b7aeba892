/* SPDX-License-Identifier: Apache-2.0 */
/* Starts work: one task, or the open lines of a file; starts the daemon if none answers. */
#include "cli/run.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/init/init.h"
#include "cli/task.h"

#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_SECONDS = 2, TITLE_MOST = 120 };

struct starting {
    struct typed *typed;
    struct tasks_read tasks;
    char (*goals)[64]; /* ids of the goals that were begun */
    char (*states)[32];
    uint32_t begun;
    int64_t until; /* 0: no time limit */
    json_t *started;
    char repo[LIMIT_AGENT + 1]; /* empty: that of [repo], or the only one */
};

/* ---- may it begin? ---- */

const char *setting_of(const json_t *shown, const char *name) {
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(shown, "settings"), i,
                       row) if (strcmp(text_of(row, "name"), name) == 0) return text_of(row,
                                                                                        "value");
    return "";
}

/* Compares with a value as the file has it: with or without quotes. */
static bool value_is(const char *value, const char *wanted) {
    size_t length = strlen(wanted);
    return strcmp(value, wanted) == 0 ||
           (value[0] == '"' && strncmp(value + 1, wanted, length) == 0 && value[length + 1] == '"');
}

static bool agent_is_declared(const json_t *shown, const char *agent) {
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(shown, "agents"), i,
                       row) if (value_is(text_of(row, "id"), agent)) return true;
    return false;
}

/* A value without its quotes. */
static struct str value_plain(const char *value) {
    size_t length = strlen(value);
    bool quoted = length >= 2 && value[0] == '"' && value[length - 1] == '"';
    return quoted ? (struct str){value + 1, length - 2} : str_of(value);
}

/* The repository that was named, or the one of the current folder. */
static bool repo_settle(struct starting *it, const json_t *shown) {
    struct typed *typed = it->typed;
    const char *named = typed_text(typed, "repo"), *first = setting_of(shown, "repo.path");
    const json_t *repos = json_object_get(shown, "repos");
    char here[PATH_MAX];
    size_t i;
    json_t *row;
    if (named)
        snprintf(it->repo, sizeof it->repo, "%s", named);
    if (named || typed->at.url || !repository_here(here) || folder_is(value_plain(first), here))
        return true;
    json_array_foreach(repos, i, row) if (folder_is(value_plain(text_of(row, "path")), here)) {
        snprintf(it->repo, sizeof it->repo, "%.*s", STR_ARG(value_plain(text_of(row, "name"))));
        return true;
    }
    if (value_is(first, "") && json_array_size(repos) == 0)
        return true;
    trouble_make(&typed->trouble, ERROR_CONFLICT, "%.300s is not in the settings.", here);
    trouble_next(&typed->trouble, "Add it: overseer init. Or name another one: --repo NAME");
    return false;
}

static bool settings_fit(struct starting *it, const json_t *shown) {
    struct typed *typed = it->typed;
    const char *agent = typed_text(typed, "agent");
    if (!value_is(setting_of(shown, "supervision.enabled"), "true") ||
        json_array_size(json_object_get(shown, "agents")) == 0) {
        trouble_make(&typed->trouble, ERROR_CONFLICT, "No agent is configured.");
        trouble_next(
            &typed->trouble,
            "Run `overseer init` in your repository. If you edited the settings: overseer config reload");
        return false;
    }
    if (agent && !agent_is_declared(shown, agent)) {
        trouble_make(&typed->trouble, ERROR_NOT_FOUND, "No agent is called %.60s.", agent);
        trouble_next(&typed->trouble,
                     "`overseer doctor` lists the agents; see [[agents]] in overseer.toml(5).");
        return false;
    }
    return repo_settle(it, shown);
}

static bool may_begin(struct starting *it) {
    json_t *shown = typed_ask(it->typed, "config.show", json_object());
    bool may = shown && settings_fit(it, shown);
    json_decref(shown);
    return may;
}

/* ---- one task ---- */

static void tools_put(const struct typed *typed, const char *flag, json_t *node, const char *name) {
    json_t *list = json_object_get(typed->params, flag);
    if (list)
        json_object_set(node, name, list);
}

/* The only task of a goal is called what the goal is called: T7. */
static json_t *plan_make(const struct typed *typed, const char *name, const struct task_new *new) {
    const char *task = *name == 'T' ? name : "T1";
    char phase[TASK_NAME];
    snprintf(phase, sizeof phase, "P%s", task + 1);
    json_t *node =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:[s]}", "id", task, "parentId", phase, "tier", "task",
                  "name", new->title, "objective", new->text, "acceptanceCriteria", new->criterion);
    if (new->agent)
        json_object_set_new(node, "suggestedAgentId", json_string(new->agent));
    tools_put(typed, "allow", node, "toolsAllow"); /* SCOPE-01 */
    tools_put(typed, "deny", node, "toolsDeny");
    return json_pack("[{s:s, s:s, s:s, s:[s]}, o]", "id", phase, "tier", "phase", "name",
                     new->title, "acceptanceCriteria", "its task is done", node);
}

static void key_make(char key[32]) {
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        random = (uint64_t)clock_now();
    snprintf(key, 32, "run-%016llx", (unsigned long long)random);
}

static bool task_named(struct typed *typed, const struct task_new *new, char goal[64],
                       char name[TASK_NAME]) {
    char key[32];
    key_make(key);
    json_t *params = json_pack("{s:s, s:s}", "title", new->title, "key", key);
    if (new->repo &&*new->repo)
        json_object_set_new(params, "repo", json_string(new->repo));
    json_t *made = typed_ask(typed, "goal.create", params);
    snprintf(goal, 64, "%s", made ? text_of(made, "goalId") : "");
    snprintf(name, TASK_NAME, "%s", made ? text_of(made, "name") : "");
    if (made && !*name) /* a host of the fleet is older: a short id stands for the name */
        snprintf(name, TASK_NAME, "%.10s", goal + strlen("goal_"));
    json_t *plan = made ? typed_ask(typed, "plan.apply",
                                    json_pack("{s:s, s:o, s:s}", "goal", goal, "nodes",
                                              plan_make(typed, name, new), "key", key))
                        : NULL;
    json_decref(made);
    json_decref(plan);
    return plan != NULL;
}

bool task_make(struct typed *typed, const struct task_new *task, char goal[64],
               char name[TASK_NAME]) {
    char title[TITLE_MOST + 1];
    struct task_new new = *task;
    snprintf(title, sizeof title, "%.*s", STR_ARG(str_cut_utf8(str_of(task->title), TITLE_MOST)));
    new.title = title;
    return task_named(typed, &new, goal, name);
}

static bool task_begin(struct starting *it, const char *text) {
    char title[TITLE_MOST + 1], id[TASK_NAME];
    struct str line = {text, strcspn(text, "\n")};
    snprintf(title, sizeof title, "%.*s", STR_ARG(str_cut_utf8(line, TITLE_MOST)));
    struct task_new new = {.title = title,
                           .text = text,
                           .agent = typed_text(it->typed, "agent"),
                           .repo = it->repo,
                           .criterion =
                               "it is done as asked, and the checks of the repository pass"};
    if (!task_named(it->typed, &new, it->goals[it->begun], id))
        return false;
    snprintf(it->states[it->begun], sizeof *it->states, "working");
    json_array_append_new(it->started, json_pack("{s:s, s:s, s:s}", "task", id, "goalId",
                                                 it->goals[it->begun], "title", title));
    if (!it->typed->as_json)
        printf("%-5s %s\n", id, title);
    it->begun++;
    fflush(stdout);
    return true;
}

/* ---- several tasks, a limited number at once ---- */

static bool is_under_way(const char *state) {
    return strcmp(state, "working") == 0 || strcmp(state, "queued") == 0 ||
           strcmp(state, "checking") == 0;
}

/* One bad task never ends the night: a task that waits for the user makes room for the next. */
static uint32_t under_way(struct starting *it) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < it->begun; i++) {
        json_t *goal = typed_ask(it->typed, "goal.show", json_pack("{s:s}", "goal", it->goals[i]));
        const char *state = goal ? text_of(goal, "state") : it->states[i];
        if (strcmp(state, it->states[i]) != 0 && !is_under_way(state) && !it->typed->as_json)
            printf("%-5s %s: %s\n", text_of(json_array_get(it->started, i), "task"), state,
                   text_of(json_array_get(it->started, i), "title"));
        snprintf(it->states[i], sizeof *it->states, "%s", state);
        count += is_under_way(it->states[i]);
        json_decref(goal);
    }
    fflush(stdout);
    return count;
}

static bool time_is_up(const struct starting *it) {
    return it->until && clock_now() >= it->until;
}

static bool all_begin(struct starting *it, uint32_t at_once) {
    for (uint32_t i = 0; i < it->tasks.count; i++) {
        while (at_once && under_way(it) >= at_once && !time_is_up(it))
            sleep(LOOK_SECONDS);
        if (time_is_up(it))
            return true;
        if (!task_begin(it, it->tasks.at[i]))
            return false;
    }
    return true;
}

/* "07:00": the next time that the clock shows it, in local time. */
static bool until_read(struct typed *typed, int64_t *ret) {
    const char *text = typed_text(typed, "until");
    int hour, minute, used = 0;
    time_t now = time(NULL);
    struct tm local;
    *ret = 0;
    if (!text)
        return true;
    if (sscanf(text, "%2d:%2d%n", &hour, &minute, &used) != 2 || text[used] || hour < 0 ||
        hour > 23 || minute < 0 || minute > 59)
        return trouble_make(&typed->trouble, ERROR_INVALID, "--until is a time such as 07:00.");
    localtime_r(&now, &local);
    local.tm_hour = hour;
    local.tm_min = minute;
    local.tm_sec = 0;
    local.tm_isdst = -1;
    time_t end = mktime(&local);
    if (end <= now) {
        local.tm_mday++;
        local.tm_isdst = -1;
        end = mktime(&local);
    }
    *ret = (int64_t)end * 1000000;
    return true;
}

/* ---- the command ---- */

static bool all_is_stopped(struct typed *typed) {
    json_t *status = typed_ask(typed, "status.show", json_object());
    bool stopped = json_is_true(json_object_get(json_object_get(status, "daemon"), "stopped"));
    json_decref(status);
    return stopped;
}

static int begun_tell(struct starting *it) {
    const char *first = it->begun ? text_of(json_array_get(it->started, 0), "task") : "";
    uint32_t left = it->tasks.count - it->begun;
    if (it->typed->as_json) {
        json_t *json = json_pack("{s:O, s:i}", "tasks", it->started, "left", (int)left);
        json_dumpf(json, stdout, JSON_INDENT(2));
        printf("\n");
        json_decref(json);
        return 0;
    }
    if (left)
        printf("The time given by --until has passed: %u tasks were not started.\n", left);
    if (all_is_stopped(it->typed))
        printf("Everything is stopped: the task starts after `overseer resume`.\n");
    if (it->begun == 1)
        hint(
            "Look:   overseer logs -f %s, overseer status\nThen:   overseer diff %s, overseer land %s",
            first, first, first);
    else
        hint("Look:   overseer status, overseer inbox");
    return 0;
}

static bool starting_make(struct starting *it) {
    struct typed *typed = it->typed;
    const char *task = typed_text(typed, "task"), *file = typed_text(typed, "file");
    if (!task == !file) {
        trouble_make(&typed->trouble, ERROR_INVALID,
                     "The task is missing. Give one, or a file of tasks.");
        trouble_next(&typed->trouble,
                     "overseer run \"fix the failing test\", or: overseer run -f tasks.md");
        return false;
    }
    if (!until_read(typed, &it->until) ||
        !(task ? tasks_one(task, &it->tasks) : tasks_load(typed, file, &it->tasks)))
        return false;
    it->goals = memory_new(it->tasks.count * sizeof *it->goals);
    it->states = memory_new(it->tasks.count * sizeof *it->states);
    it->started = json_array();
    return true;
}

static int dry_tell(const struct starting *it) {
    for (uint32_t i = 0; i < it->tasks.count; i++)
        printf("%s\n", it->tasks.at[i]);
    fprintf(stderr, "Nothing was started.\n");
    return 0;
}

int run_run(struct typed *typed) {
    struct starting it = {.typed = typed};
    uint32_t at_once = (uint32_t)json_integer_value(json_object_get(typed->params, "jobs"));
    int status;
    if (!starting_make(&it))
        status = trouble_tell(&typed->trouble, typed->as_json);
    else if (typed->dry_run)
        status = dry_tell(&it);
    else if (!typed->at.url && !daemon_ensure(typed))
        status = EXIT_TROUBLE;
    else if (!may_begin(&it))
        status = trouble_tell(&typed->trouble, typed->as_json);
    else
        status = all_begin(&it, at_once) ? begun_tell(&it)
                                         : trouble_tell(&typed->trouble, typed->as_json);
    json_decref(it.started);
    free(it.goals);
    free(it.states);
    tasks_free(&it.tasks);
    return status;
}
