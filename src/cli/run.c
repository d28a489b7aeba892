/* SPDX-License-Identifier: Apache-2.0 */
/* Starts work: one task, or the open lines of a file; starts the daemon if none answers. */
#include "cli/run.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/init/init.h"
#include "cli/print/print.h"
#include "cli/task.h"
#include "cli/term.h"

#include <ctype.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { TITLE_MOST = 120 };

struct starting {
    struct typed *typed;
    struct tasks_read tasks;
    int64_t until;  /* 0: no time limit */
    uint32_t jobs;  /* tasks at once; 0: no limit */
    uint32_t known; /* tasks of the file that the batch had already */
    uint32_t quota; /* percent; 0: no mark */
    json_t *started;
    char batch[2 * LIMIT_AGENT + 2]; /* of a file of tasks; empty: one task */
    char repo[LIMIT_AGENT + 1];      /* empty: that of [repo], or the only one */
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

static void login_warn(const struct starting *it, const json_t *login) {
    const char *agent = typed_text(it->typed, "agent");
    int64_t expires = time_of(login, "expiresAt");
    char at[CLOCK_TEXT], until[CLOCK_TEXT];
    if (expires == 0 || expires >= it->until || (agent && strcmp(agent, text_of(login, "agent"))))
        return;
    fprintf(stderr,
            "overseer: the login of agent %s ends at %s, before %s. A login of Overseer's own does "
            "not: overseer account add NAME --agent %s\n",
            text_of(login, "agent"), clock_format(expires, clock_now(), at),
            clock_format(it->until, clock_now(), until), text_of(login, "agent"));
}

/* UX, login: a night does not end because a copied login did. */
static void logins_check(struct starting *it) {
    size_t i, k;
    json_t *account, *login;
    json_t *shown = it->until ? typed_ask(it->typed, "account.list", json_object()) : NULL;
    json_array_foreach(json_object_get(shown, "accounts"), i, account) {
        json_array_foreach(json_object_get(account, "logins"), k, login) login_warn(it, login);
    }
    json_decref(shown);
}

static bool may_begin(struct starting *it) {
    json_t *shown = typed_ask(it->typed, "config.show", json_object());
    bool may = shown && settings_fit(it, shown);
    json_decref(shown);
    if (may)
        logins_check(it);
    return may;
}

/* ---- handing over ---- */

static void key_make(char key[32]) {
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        random = (uint64_t)clock_now();
    snprintf(key, 32, "run-%016llx", (unsigned long long)random);
}

/* The name by which people call a goal. While a host of the fleet is older, a short id stands for it. */
static void name_take(const json_t *made, char goal[64], char name[TASK_NAME]) {
    snprintf(goal, 64, "%s", text_of(made, "goalId"));
    snprintf(name, TASK_NAME, "%s", text_of(made, "name"));
    if (!*name)
        snprintf(name, TASK_NAME, "%.10s", goal + strlen("goal_"));
}

static json_t *task_json(const struct task_new *new) {
    json_t *task = json_pack("{s:s}", "text", new->text);
    if (new->title)
        json_object_set_new(task, "title", json_string(new->title));
    if (new->criterion)
        json_object_set_new(task, "acceptanceCriteria", json_pack("[s]", new->criterion));
    if (new->agent)
        json_object_set_new(task, "agent", json_string(new->agent));
    if (new->wants_answer)
        json_object_set_new(task, "wants", json_string("answer"));
    return task;
}

static void tools_put(const struct typed *typed, const char *flag, json_t *task, const char *name) {
    json_t *list = json_object_get(typed->params, flag);
    if (list)
        json_object_set(task, name, list);
}

static void request_end(json_t *params, const char *repo, uint32_t quota) {
    char key[32];
    key_make(key);
    if (quota)
        json_object_set_new(params, "quota", json_integer(quota));
    json_object_set_new(params, "key", json_string(key));
    if (repo && *repo)
        json_object_set_new(params, "repo", json_string(repo));
}

bool task_make(struct typed *typed, const struct task_new *new, char goal[64],
               char name[TASK_NAME]) {
    json_t *params = task_json(new);
    tools_put(typed, "allow", params, "toolsAllow"); /* SCOPE-01 */
    tools_put(typed, "deny", params, "toolsDeny");
    request_end(params, new->repo, new->quota);
    json_t *made = typed_ask(typed, "task.run", params);
    if (made)
        name_take(made, goal, name);
    json_decref(made);
    return made != NULL;
}

static struct task_new task_of(const struct starting *it, uint32_t i) {
    return (struct task_new){.text = it->tasks.at[i],
                             .agent = typed_text(it->typed, "agent"),
                             .repo = it->repo,
                             .wants_answer = typed_flag(it->typed, "answer"),
                             .quota = it->quota};
}

static void begun_add(struct starting *it, const char *text, const char *goal, const char *name) {
    struct str title = str_cut_utf8((struct str){text, strcspn(text, "\n")}, TITLE_MOST);
    json_array_append_new(it->started, json_pack("{s:s, s:s, s:s%}", "task", name, "goalId", goal,
                                                 "title", title.at, title.len));
    if (!it->typed->as_json)
        printf("%-5s %.*s\n", name, STR_ARG(title));
}

static bool task_begin(struct starting *it) {
    char goal[64], name[TASK_NAME];
    struct task_new new = task_of(it, 0);
    if (!task_make(it->typed, &new, goal, name))
        return false;
    begun_add(it, new.text, goal, name);
    return true;
}

/* ---- several tasks: a batch ---- */

/* tonight.md of the repository web: web/tonight. */
static void batch_name(struct starting *it) {
    const char *file = typed_text(it->typed, "file"), *slash = strrchr(file, '/');
    const char *given = typed_text(it->typed, "batch"), *base = slash ? slash + 1 : file;
    const char *dot = strrchr(base, '.');
    int length = (int)(dot && dot > base ? (size_t)(dot - base) : strlen(base));
    if (given)
        snprintf(it->batch, sizeof it->batch, "%s", given);
    else
        snprintf(it->batch, sizeof it->batch, "%s%s%.*s", it->repo, *it->repo ? "/" : "", length,
                 strcmp(file, "-") == 0 ? "tasks" : base);
    for (char *at = it->batch; !given && *at; at++)
        if (!strchr("./-_", *at) && !isalnum((unsigned char)*at))
            *at = '-';
}

static bool is_over(const char *state) {
    return strcmp(state, "done") == 0 || strcmp(state, "cancelled") == 0 ||
           strcmp(state, "archived") == 0;
}

/* The open task of the batch that has this first line, or NULL. */
static const json_t *task_in(const json_t *tasks, const char *text) {
    struct str title = str_cut_utf8((struct str){text, strcspn(text, "\n")}, TITLE_MOST);
    size_t i;
    json_t *task;
    json_array_foreach(tasks, i, task) if (str_equal(str_of(text_of(task, "title")), title) &&
                                           !is_over(text_of(task, "state"))) return task;
    return NULL;
}

/* All tasks of the batch, page by page. NULL: typed->trouble says why. */
static json_t *tasks_of_batch(struct starting *it) {
    char tag[sizeof it->batch + 8];
    json_t *tasks = json_array(), *page;
    snprintf(tag, sizeof tag, "batch:%s", it->batch);
    json_t *params = json_pack("{s:s, s:i}", "tag", tag, "limit", LIMIT_LIST_PAGE);
    while ((page = typed_ask(it->typed, "goal.list", json_deep_copy(params)))) {
        const char *next = text_of(page, "next");
        json_array_extend(tasks, json_object_get(page, "goals"));
        json_object_set_new(params, "after", json_string(next));
        bool more = *next != 0;
        json_decref(page);
        if (more)
            continue;
        json_decref(params);
        return tasks;
    }
    json_decref(params);
    json_decref(tasks);
    return NULL;
}

/* A line whose task is still open is not handed over again: the same file can be given again after lines were added. False:
 * what the batch has cannot be read, so nothing is handed over. */
static bool known_skip(struct starting *it) {
    struct typed *typed = it->typed;
    uint32_t kept = 0;
    json_t *tasks = tasks_of_batch(it);
    for (uint32_t i = 0; tasks && i < it->tasks.count; i++) {
        const json_t *known = task_in(tasks, it->tasks.at[i]);
        if (!known) {
            it->tasks.at[kept++] = it->tasks.at[i];
            continue;
        }
        if (!typed->as_json)
            printf("%-5s %s (already in batch %s)\n", text_of(known, "name"),
                   text_of(known, "title"), it->batch);
        free(it->tasks.at[i]);
        it->known++;
    }
    if (tasks)
        it->tasks.count = kept;
    json_decref(tasks);
    return tasks != NULL;
}

static void bounds_put(const struct starting *it, json_t *params) {
    char text[TIME_TEXT + 1];
    time_format(it->until, text);
    if (it->until)
        json_object_set_new(params, "until", json_string(text));
    if (it->jobs)
        json_object_set_new(params, "jobs", json_integer(it->jobs));
}

/* All lines of the file are in the batch already: only its bounds are set anew. */
static bool batch_bound(struct starting *it) {
    json_t *params = json_pack("{s:s}", "name", it->batch), *changed = params;
    bounds_put(it, params);
    if (it->jobs || it->until)
        changed = typed_ask(it->typed, "batch.change", params);
    json_decref(changed);
    return changed != NULL;
}

static bool batch_part(struct starting *it, uint32_t from, uint32_t behind) {
    struct typed *typed = it->typed;
    json_t *tasks = json_array();
    for (uint32_t i = from; i < behind; i++) {
        struct task_new new = task_of(it, i);
        json_t *task = task_json(&new);
        tools_put(typed, "allow", task, "toolsAllow");
        tools_put(typed, "deny", task, "toolsDeny");
        json_array_append_new(tasks, task);
    }
    json_t *params = json_pack("{s:s, s:o}", "name", it->batch, "tasks", tasks);
    bounds_put(it, params);
    request_end(params, it->repo, it->quota);
    json_t *made = typed_ask(typed, "batch.create", params), *list;
    list = json_object_get(made, "tasks");
    for (uint32_t i = 0; i < json_array_size(list); i++) {
        char goal[64], name[TASK_NAME];
        name_take(json_array_get(list, i), goal, name);
        begun_add(it, it->tasks.at[from + i], goal, name);
    }
    json_decref(made);
    return made != NULL;
}

/* As many tasks as one request may have, and as its body has room for. */
static uint32_t part_end(const struct starting *it, uint32_t from) {
    size_t bytes = 0;
    uint32_t at = from;
    while (at < it->tasks.count && at < from + LIMIT_BATCH_TASKS &&
           (at == from || bytes + strlen(it->tasks.at[at]) < LIMIT_HTTP_BODY / 4))
        bytes += strlen(it->tasks.at[at++]);
    return at;
}

static bool batch_begin(struct starting *it) {
    batch_name(it);
    if (!known_skip(it))
        return false;
    if (it->tasks.count == 0)
        return batch_bound(it);
    for (uint32_t from = 0, behind; from < it->tasks.count; from = behind) {
        behind = part_end(it, from);
        if (!batch_part(it, from, behind))
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

/* "80%", or 80. */
static bool quota_read(struct typed *typed, uint32_t *ret) {
    const char *text = typed_text(typed, "quota");
    unsigned percent = 0;
    int used = 0;
    *ret = 0;
    if (!text)
        return true;
    bool read = sscanf(text, "%3u%n", &percent, &used) == 1 &&
                (!text[used] || strcmp(text + used, "%") == 0) && percent > 0 && percent <= 100;
    if (!read)
        return trouble_make(&typed->trouble, ERROR_INVALID,
                            "--quota is a percentage from 1 to 100, such as 80%%.");
    *ret = percent;
    return true;
}

/* ---- the command ---- */

static bool all_is_stopped(struct typed *typed) {
    json_t *status = typed_ask(typed, "status.show", json_object());
    bool stopped = json_is_true(json_object_get(json_object_get(status, "daemon"), "stopped"));
    json_decref(status);
    return stopped;
}

/* The value of a batch as people see it: 07:00. */
static void clock_put(int64_t at, char text[16]) {
    time_t seconds = (time_t)(at / 1000000);
    struct tm local;
    localtime_r(&seconds, &local);
    strftime(text, 16, "%H:%M", &local);
}

static void batch_tell(const struct starting *it) {
    char until[16] = "", jobs[32] = "";
    if (it->until)
        clock_put(it->until, until);
    if (it->jobs)
        snprintf(jobs, sizeof jobs, ", %u at once", it->jobs);
    printf("Batch %s has %zu new task%s%s%s%s. The daemon starts them: you can close this "
           "terminal.\n",
           it->batch, json_array_size(it->started), json_array_size(it->started) == 1 ? "" : "s",
           jobs, *until ? ", started until " : "", until);
}

static int begun_tell(struct starting *it) {
    const char *first = text_of(json_array_get(it->started, 0), "task");
    if (it->typed->as_json) {
        json_t *json = json_pack("{s:O, s:i}", "tasks", it->started, "known", (int)it->known);
        if (*it->batch)
            json_object_set_new(json, "batch", json_string(it->batch));
        json_dumpf(json, stdout, JSON_INDENT(2));
        printf("\n");
        json_decref(json);
        return 0;
    }
    if (*it->batch)
        batch_tell(it);
    if (all_is_stopped(it->typed))
        printf("Everything is stopped: tasks start after `overseer resume`.\n");
    if (*it->batch)
        hint("Look:    overseer status, overseer batch show %s\n"
             "Change:  overseer batch change %s --jobs 4, overseer cancel %s",
             it->batch, it->batch, *first ? first : "T1");
    else
        hint(
            "Look:   overseer logs -f %s, overseer status\nThen:   overseer diff %s, overseer land %s",
            first, first, first);
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
    if (task && (typed_text(typed, "until") || typed_text(typed, "batch") || it->jobs)) {
        trouble_make(&typed->trouble, ERROR_INVALID,
                     "--jobs, --until and --batch are for a file of tasks.");
        trouble_next(&typed->trouble, "overseer run -f tasks.md --until 07:00");
        return false;
    }
    if (!until_read(typed, &it->until) || !quota_read(typed, &it->quota) ||
        !(task ? tasks_one(task, &it->tasks) : tasks_load(typed, file, &it->tasks)))
        return false;
    it->started = json_array();
    return true;
}

static int dry_tell(const struct starting *it) {
    json_t *tasks = json_array();
    for (uint32_t i = 0; i < it->tasks.count; i++)
        json_array_append_new(tasks, json_pack("{s:s}", "text", it->tasks.at[i]));
    json_t *json = json_pack("{s:b, s:o}", "dryRun", 1, "would", tasks);
    if (it->typed->as_json) {
        json_dumpf(json, stdout, JSON_INDENT(2));
        printf("\n");
    }
    json_decref(json);
    for (uint32_t i = 0; i < it->tasks.count && !it->typed->as_json; i++)
        printf("%s\n", it->tasks.at[i]);
    fprintf(stderr, "Nothing was started.\n");
    return 0;
}

static bool all_begin(struct starting *it) {
    return typed_text(it->typed, "file") ? batch_begin(it) : task_begin(it);
}

int run_run(struct typed *typed) {
    struct starting it = {.typed = typed};
    it.jobs = (uint32_t)json_integer_value(json_object_get(typed->params, "jobs"));
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
        status = all_begin(&it) ? begun_tell(&it) : trouble_tell(&typed->trouble, typed->as_json);
    json_decref(it.started);
    tasks_free(&it.tasks);
    return status;
}
