/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether each agent of the settings starts in its sandbox. `overseerd --try-agents`, for `overseer doctor`:
 * starts each program with --version in the sandbox of its runs, with an empty HOME, and prints a line of JSON with the
 * result. */
#include "runs/try_agents.h"

#include "base/memory.h"
#include "drivers/login.h"
#include "runs/run.h"
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRY_SECONDS = 20, TRY_OUTPUT = 8192, OUTPUT_MOST = 200 };

/* ---- one program ---- */

struct tried {
    char output[TRY_OUTPUT];
    size_t length;
    int status; /* -1: it was killed after TRY_SECONDS, or ended by a signal */
};

static void child_become(const char *cwd, int out, const char *const *argv,
                         const char *const *env) {
    int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
    setsid();
    if (chdir(cwd) == 0 && dup2(none, 0) == 0 && dup2(out, 1) == 1 && dup2(out, 2) == 2)
        execve(argv[0], (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)env);
    dprintf(2, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* Reads until the end of its output or of its time; kills its process group in any case. */
static void child_hear(pid_t pid, int from, struct tried *ret) {
    int64_t until = clock_boot() + SECONDS(TRY_SECONDS);
    int status = -1;
    for (int64_t now; (now = clock_boot()) < until;) {
        char drop[512];
        struct pollfd ready = {.fd = from, .events = POLLIN};
        size_t room = sizeof ret->output - ret->length;
        if (poll(&ready, 1, (int)((until - now) / 1000) + 1) != 1)
            continue;
        ssize_t got =
            read(from, room ? ret->output + ret->length : drop, room ? room : sizeof drop);
        if (got <= 0)
            break;
        ret->length += room ? (size_t)got : 0;
    }
    bool late = clock_boot() >= until;
    if (late)
        kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    kill(-pid, SIGKILL); /* processes that it left running */
    ret->status = !late && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool child_try(const char *cwd, const char *const *argv, const char *const *env,
                      struct tried *ret) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0)
        child_become(cwd, ends[1], argv, env);
    close(ends[1]);
    *ret = (struct tried){.status = -1};
    if (pid > 0)
        child_hear(pid, ends[0], ret);
    close(ends[0]);
    return pid > 0;
}

/* ---- one agent ---- */

struct trying {
    struct run_table runs;
    struct daemon_context context;
    struct run run;
    struct arena arena;
    char folder[RUN_PATH];
};

/* What a command does when started is unknown, so this only tests whether it is executable. */
static const char *const *words_of(struct trying *it, const struct sandbox_made *box) {
    const struct drive_spec *spec = &it->run.spec;
    bool command = it->run.driver->untried;
    const char **argv = arena_new(&it->arena, const char *, box->argc + spec->arg_count + 6);
    uint32_t count = 0;
    for (uint32_t i = 0; i < box->argc; i++)
        argv[count++] = arena_cstr(&it->arena, box->argv[i]);
    if (command) {
        argv[count++] = "/bin/sh";
        argv[count++] = "-c";
        argv[count++] =
            "test -x \"$0\" || { echo \"$0: not found in the sandbox\" >&2; exit 126; }";
    }
    argv[count++] = arena_cstr(&it->arena, spec->program);
    for (uint32_t i = 0; i < spec->arg_count && !command && !it->run.driver->bridged; i++)
        argv[count++] = arena_cstr(&it->arena, spec->args[i]);
    argv[count++] = "--version";
    argv[count] = NULL;
    return argv;
}

static bool folders_make(struct trying *it) {
    struct run *run = &it->run;
    snprintf(run->dir, sizeof run->dir, "%.*s/run", (int)sizeof run->dir - 16, it->folder);
    snprintf(run->home, sizeof run->home, "%.*s/home", (int)sizeof run->home - 16, it->folder);
    snprintf(run->cwd, sizeof run->cwd, "%.*s/work", (int)sizeof run->cwd - 16, it->folder);
    return mkdir(run->dir, 0700) == 0 && mkdir(run->home, 0700) == 0 && mkdir(run->cwd, 0700) == 0;
}

/* False: it does not start; ret_output says why. */
static bool agent_start(struct trying *it, struct str *ret_output) {
    static const struct drive_launch NONE;
    struct sandbox_made *box = arena_new(&it->arena, struct sandbox_made, 1);
    struct tried *tried = arena_new(&it->arena, struct tried, 1);
    *ret_output = STR("a folder for it cannot be created");
    if (!run_prepare(&it->run, ret_output) || !folders_make(it) ||
        !run_token_take(&it->run, ret_output))
        return false;
    home_share(&it->run, &NONE, &it->arena);
    if (!run_box(&it->run, &it->arena, box, ret_output))
        return false;
    struct drive_launch launch = {.env_count = 0};
    for (uint32_t i = 0; i < it->run.spec.env_count && i < DRIVE_VARS; i++)
        launch.env[launch.env_count++] = it->run.spec.env[i];
    bool ran = child_try(it->run.cwd, words_of(it, box),
                         run_environment(&it->run, &launch, &it->arena), tried);
    run_limits_end(&it->run);
    struct str output = {tried->output, tried->length};
    if (!ran || tried->status != 0) {
        struct str line = words_explain(output, &it->arena);
        *ret_output = line.len ? line
                      : tried->status < 0
                          ? STR("it did not end within 20 seconds, or a signal ended it")
                          : arena_format(&it->arena, "it exited with status %d and printed nothing",
                                         tried->status);
        return false;
    }
    *ret_output = words_first(output, &it->arena);
    return true;
}

/* ---- its login ---- */

static json_t *login_json(const char *verdict, struct str text) {
    return json_pack("{s:s, s:s%}", "verdict", verdict, "text", text.at ? text.at : "", text.len);
}

static json_t *login_tell(const struct login *login, struct str own, struct arena *arena) {
    const char *home = own.len ? arena_cstr(arena, own) : getenv("HOME");
    char *path = arena_cstr(arena, arena_format(arena, "%s/%s", home ? home : "", login->file));
    struct str text, copy;
    if (!file_get(path, arena, &text))
        return NULL;
    if (!login_copy(login, text, arena, &copy))
        return login_json(
            "look", arena_format(arena, "the format of ~/%s is unknown: runs get no copy of it",
                                 login->file));
    int64_t expires = login_expires(login, text), now = clock_wall() / 1000;
    if (expires == 0)
        return login_json(
            "good",
            arena_format(arena, "runs get a copy of ~/%s without its refresh token", login->file));
    if (expires <= now)
        return login_json(
            "bad",
            arena_format(arena,
                         "~/%s has expired: start the program once yourself, or set token_file",
                         login->file));
    return login_json(
        expires - now < 12 * 3600 * 1000LL ? "look" : "good",
        arena_format(arena,
                     "the copy of ~/%s that runs get expires in %lld min; token_file does not",
                     login->file, (long long)((expires - now) / 60000)));
}

/* The first login of its kind that the operator has. */
static json_t *login_look(struct trying *it, const struct agent_setting *agent) {
    if (agent->token.file.len > 0) {
        struct drive_var token;
        struct str why;
        return token_get(agent, run_login_kind(&it->run), &it->arena, &token, &why)
                   ? login_json("good", arena_format(&it->arena, "runs get the token in %.*s",
                                                     STR_ARG(agent->token.file)))
                   : login_json("bad", why);
    }
    for (size_t i = 0; i < LOGIN_COUNT && it->run.driver; i++) {
        bool own = !login_is_none(&LOGINS[i]) && login_is_for(&LOGINS[i], run_login_kind(&it->run));
        json_t *login = own ? login_tell(&LOGINS[i], agent->login_home, &it->arena) : NULL;
        if (login)
            return login;
    }
    return NULL;
}

/* ---- all agents ---- */

static void agent_try(struct trying *it, const struct agent_setting *agent) {
    struct str output = {0};
    snprintf(it->run.agent, sizeof it->run.agent, "%.*s", STR_ARG(agent->id));
    bool starts = agent_start(it, &output);
    output = str_cut_utf8(output, OUTPUT_MOST);
    json_t *json =
        json_pack("{s:s, s:b, s:s, s:s%}", "agent", it->run.agent, "starts", starts, "sandbox",
                  sandbox_name(it->run.box), "said", output.at ? output.at : "", output.len);
    json_t *login = login_look(it, agent);
    if (login)
        json_object_set_new(json, "login", login);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    if (text)
        puts(text);
    fflush(stdout);
    free(text);
    json_decref(json);
}

static void runs_prepare(struct trying *it, const struct settings *settings, const char *socket,
                         const char *folder) {
    struct run_table *runs = &it->runs;
    const char *file = settings->source.file.at;
    *runs = (struct run_table){.context = &it->context};
    snprintf(runs->state, sizeof runs->state, "%s", it->folder);
    snprintf(runs->hidden[0], sizeof runs->hidden[0], "%.*s", RUN_PATH - 1, socket);
    snprintf(runs->hidden[1], sizeof runs->hidden[1], "%.*s", RUN_PATH - 1, folder);
    snprintf(runs->hidden[2], sizeof runs->hidden[2], "%.*s", RUN_PATH - 1, file ? file : "");
    runs->can = sandbox_probe(runs->bwrap, runs->cannot, sizeof runs->cannot);
    sibling_program("overseer-hold", runs->hold, sizeof runs->hold);
    pthread_mutex_init(&runs->lock, NULL);
    it->run = (struct run){.runs = runs};
}

int try_agents(struct settings *settings, const char *socket, const char *folder) {
    for (uint32_t i = 0; i < settings->lists.agent_count; i++) {
        struct trying *it = memory_new(sizeof *it);
        const struct agent_setting *agent = &settings->lists.agents[i];
        char place[] = "/tmp/overseer-try-XXXXXX";
        if (!mkdtemp(place)) {
            free(it);
            return 1;
        }
        snprintf(it->folder, sizeof it->folder, "%s", place);
        context_settings_set(&it->context, settings);
        runs_prepare(it, settings, socket, folder);
        const struct driver *driver = run_driver(agent);
        if (!driver || !driver->simulation)
            agent_try(it, agent);
        arena_free(&it->run.arena);
        arena_free(&it->arena);
        folder_remove(place);
        free(it);
    }
    return 0;
}

/* Takes the environment of the running daemon, whose PATH and HOME may differ from ours. */
bool environment_take(const char *pid) {
    char path[64], *text = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%ld/environ", strtol(pid, NULL, 10));
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    clearenv();
    while (getdelim(&text, &room, 0, file) > 0)
        putenv(memory_text(text, strlen(text)));
    free(text);
    fclose(file);
    return true;
}
