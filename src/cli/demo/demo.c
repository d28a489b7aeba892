/* SPDX-License-Identifier: Apache-2.0 */
/* Shows in two minutes what Overseer does all night: runs a separate daemon in a separate folder, with pretend agents.
 * Everything but the agents is real, and nothing of it stays. */
#include "cli/demo/demo.h"

#include "cli/agent_list.h"
#include "cli/child.h"
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 250, READY_MS = 20000, FOLDER = 200, WORDS = 8, VARIABLES = 1024 };

const struct demo_row DEMO[DEMO_TASKS] = {
    {"steady", "works", "fix the login redirect"}, {"sleepy", "silent", "upgrade the linter"},
    {"dizzy", "loops", "port to ES modules"},      {"fibber", "lies", "add CSV export"},
    {"frail", "dies", "speed up the search"},      {"quick", "works", "document the API"},
};

/* Spans that are minutes in real use are seconds here. */
static const char SETTINGS[] = "[supervision]\n"
                               "enabled = true\n"
                               "tick_every = \"1s\"\n"
                               "idle_after = \"4s\"\n"
                               "turn_most = \"5s\"\n"
                               "idle_in_tool = \"12s\"\n"
                               "chatter_most = \"3s\"\n"
                               "min_resend_interval = \"0s\"\n"
                               "backoff.base = \"1s\"\n"
                               "backoff.max = \"2s\"\n"
                               "[policy]\n"
                               "allow_agents = [\"*\"]\n"
                               "allow_cross_agent = true\n"
                               "[verify]\n"
                               "command = \"make check\"\n"
                               "[escalation]\n"
                               "desktop = false\n";

struct stage {
    struct typed *typed;
    struct daemon_address at;
    char folder[FOLDER];
    pid_t daemon;
    char goal[64], after[128];
    struct demo demo;
};

static volatile sig_atomic_t signalled;

static void stop_note(int number) {
    (void)number;
    signalled = 1;
}

/* ---- the demo's folder and daemon ---- */

static bool settings_write(const struct stage *stage) {
    char path[FOLDER + 32];
    snprintf(path, sizeof path, "%s/overseer.toml", stage->folder);
    FILE *file = fopen(path, "wex");
    if (!file)
        return false;
    fprintf(file, "%s[storage]\ndir = \"%s/state\"\n[repo]\npath = \"%s\"\n", SETTINGS,
            stage->folder, stage->folder);
    for (size_t i = 0; i < DEMO_TASKS; i++)
        fprintf(
            file,
            "[[agents]]\nid = \"%s\"\nrole = \"coder\"\ndriver = \"pretend\"\nbehaviour = \"%s\"\n"
            "pace = %d\nstretches = 6\n",
            DEMO[i].agent, DEMO[i].behaviour, DEMO_PACE);
    return fclose(file) == 0;
}

static bool folder_make(struct stage *stage) {
    const char *parent = getenv("TMPDIR");
    parent = parent && *parent && strlen(parent) < FOLDER / 2 ? parent : "/tmp";
    snprintf(stage->folder, sizeof stage->folder, "%s/overseer-demo-XXXXXX", parent);
    if (mkdtemp(stage->folder) && settings_write(stage)) {
        snprintf(stage->at.folder, sizeof stage->at.folder, "%s/state", stage->folder);
        snprintf(stage->at.socket, sizeof stage->at.socket, "%s/state/overseer.sock",
                 stage->folder);
        return true;
    }
    return trouble_make(&stage->typed->trouble, ERROR_REFUSED_BY_STORE,
                        "The demo cannot create a folder below %s: %s.", parent, strerror(errno));
}

/* The demo ignores the settings of the user's own daemon. */
static void environment_make(char **variables) {
    size_t count = 0;
    for (char **at = environ; *at && count + 1 < VARIABLES; at++)
        if (strncmp(*at, "OVERSEER_", 9) != 0)
            variables[count++] = *at;
    variables[count] = NULL;
}

/* The daemon ends with this process, however this process ends. */
static void daemon_become(const struct stage *stage, char *program) {
    static char *variables[VARIABLES];
    char config[FOLDER + 32], log[FOLDER + 32];
    char *words[WORDS] = {program, (char *)"--config", config, (char *)"--log-file", log};
    snprintf(config, sizeof config, "%s/overseer.toml", stage->folder);
    snprintf(log, sizeof log, "%s/log", stage->folder);
    int nothing = open("/dev/null", O_RDWR);
    for (int i = 0; nothing >= 0 && i < 3; i++)
        dup2(nothing, i);
    setpgid(0, 0); /* Ctrl-C goes to us only: we stop the daemon in order */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    environment_make(variables);
    execve(program, words, variables);
    _exit(127);
}

static bool is_ready(struct stage *stage) {
    long status = 0;
    char *text = daemon_get(&stage->at, "/readyz", &status, &stage->typed->trouble);
    free(text);
    return status == 200;
}

static bool daemon_begin(struct stage *stage) {
    char program[PATH_MAX];
    int status;
    if (!program_find("overseerd", program))
        return trouble_make(&stage->typed->trouble, ERROR_INTERNAL,
                            "overseerd was not found beside overseer or in PATH.");
    stage->daemon = fork();
    if (stage->daemon == 0)
        daemon_become(stage, program);
    for (int passed = 0; passed < READY_MS && !signalled; passed += LOOK_MS) {
        if (is_ready(stage))
            return true;
        if (waitpid(stage->daemon, &status, WNOHANG) == stage->daemon) {
            stage->daemon = 0;
            break;
        }
        usleep(LOOK_MS * 1000);
    }
    return trouble_make(&stage->typed->trouble, ERROR_INTERNAL,
                        "The daemon of the demo did not start.");
}

static int one_remove(const char *path, const struct stat *about, int kind, struct FTW *at) {
    (void)about, (void)kind, (void)at;
    remove(path);
    return 0;
}

static void stage_clear(struct stage *stage) {
    if (stage->daemon > 0) {
        kill(stage->daemon, SIGTERM);
        waitpid(stage->daemon, NULL, 0);
    }
    if (*stage->folder)
        nftw(stage->folder, one_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- the tasks, and following them ---- */

static json_t *plan_make(void) {
    json_t *nodes = json_pack("[{s:s, s:s, s:s, s:[s]}]", "id", "P1", "tier", "phase", "name",
                              "tonight", "acceptanceCriteria", "everything is done");
    for (size_t i = 0; i < DEMO_TASKS; i++) {
        char id[8];
        snprintf(id, sizeof id, "T%zu", i + 1);
        json_array_append_new(
            nodes, json_pack("{s:s, s:s, s:s, s:s, s:[s], s:s}", "id", id, "parentId", "P1", "tier",
                             "task", "name", DEMO[i].task, "acceptanceCriteria", "the checks pass",
                             "suggestedAgentId", DEMO[i].agent));
    }
    return nodes;
}

/* The answer; NULL: the trouble says why. Takes ownership of the parameters. */
static json_t *stage_ask(struct stage *stage, const char *method, json_t *params) {
    json_t *result = daemon_call(&stage->at, method, params, &stage->typed->trouble);
    json_decref(params);
    return result;
}

static bool work_give(struct stage *stage) {
    json_t *goal =
        stage_ask(stage, "goal.create",
                  json_pack("{s:s, s:s}", "title", "six tasks overnight", "key", "demo"));
    snprintf(stage->goal, sizeof stage->goal, "%s", text_of(goal, "goalId"));
    json_decref(goal);
    json_t *plan = *stage->goal ? stage_ask(stage, "plan.apply",
                                            json_pack("{s:s, s:o, s:s}", "goal", stage->goal,
                                                      "nodes", plan_make(), "key", "demo"))
                                : NULL;
    json_decref(plan);
    stage->demo.began = clock_now();
    return plan != NULL;
}

static bool events_take(struct stage *stage) {
    json_t *params = json_pack("{s:s, s:i}", "goal", stage->goal, "limit", 500), *event;
    size_t i;
    if (*stage->after)
        json_object_set_new(params, "after", json_string(stage->after));
    json_t *page = stage_ask(stage, "events.list", params);
    if (!page)
        return false;
    json_array_foreach(json_object_get(page, "events"), i, event) demo_take(&stage->demo, event);
    snprintf(stage->after, sizeof stage->after, "%s", text_of(page, "next"));
    json_decref(page);
    return true;
}

static bool play(struct stage *stage) {
    bool drawn = term_is(stdout) && !stage->typed->as_json;
    struct demo *demo = &stage->demo;
    while (!signalled && !demo->over && clock_now() - demo->began < SECONDS(DEMO_MOST_SECONDS)) {
        if (!events_take(stage))
            return signalled;
        if (drawn)
            demo_draw(demo); /* the last drawing leaves room for the text printed below it */
        else if (!stage->typed->as_json)
            demo_say(demo);
        usleep(LOOK_MS * 1000);
    }
    return true;
}

/* ---- the end ---- */

static int demo_json(const struct demo *demo) {
    json_t *tasks = json_array();
    for (uint32_t i = 0; i < DEMO_TASKS; i++) {
        const struct demo_task *task = &demo->tasks[i];
        json_array_append_new(tasks,
                              json_pack("{s:s, s:s, s:s, s:b, s:i, s:i, s:i, s:i}", "task",
                                        DEMO[i].task, "given", DEMO[i].agent, "agent", task->agent,
                                        "done", task->state == DEMO_DONE, "nudges",
                                        (int)task->nudges, "restarts", (int)task->restarts,
                                        "caught", (int)task->caught, "moves", (int)task->moves));
    }
    json_t *json = json_pack("{s:b, s:f, s:o}", "done", demo->over, "seconds",
                             (double)(clock_now() - demo->began) / 1e6, "tasks", tasks);
    json_dumpf(json, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(json);
    return 0;
}

static int demo_end(const struct stage *stage) {
    const struct demo *demo = &stage->demo;
    char agent[AGENT_NAME];
    if (stage->typed->as_json)
        return demo_json(demo);
    if (!term_is(stdout))
        demo_tell(demo);
    uint32_t done = 0, asking = 0;
    for (uint32_t i = 0; i < DEMO_TASKS; i++) {
        done += demo->tasks[i].state == DEMO_DONE;
        asking += demo->tasks[i].state == DEMO_NEEDS;
    }
    printf("\n%u of %d tasks landed, each one verified; %s.\n", done, DEMO_TASKS,
           asking ? "a person was asked" : "no person was asked");
    printf("The demo's files are removed. To start a real task, in a repository of yours:\n\n"
           "    overseer init\n"
           "    overseer run \"fix the failing test\" --agent %s\n",
           agent_first(agent) ? agent : "claude");
    return 0;
}

static void signals_take(void) {
    struct sigaction action = {.sa_handler = stop_note};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

int demo_run(struct typed *typed) {
    static struct stage stage;
    stage.typed = typed;
    signals_take();
    bool well = folder_make(&stage) && daemon_begin(&stage) && work_give(&stage) && play(&stage);
    int status = well ? demo_end(&stage) : trouble_tell(&typed->trouble, typed->as_json);
    stage_clear(&stage);
    return signalled ? 128 + SIGINT : status;
}
