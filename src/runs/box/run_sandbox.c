/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the sandboxes of runs and checks: a run sees its worktree, its HOME and its HTTP server, and nothing else of
 * Overseer or of the operator. */
#include "runs/run.h"
#include "runs/run_log.h"
#include "sandbox/sandbox.h"
#include "sys/clock.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const enum sandbox_network NETWORK[NETWORK_KINDS] = {[NETWORK_ALL] = SANDBOX_ALL,
                                                            [NETWORK_MODEL] = SANDBOX_LISTED,
                                                            [NETWORK_LOOPBACK] = SANDBOX_LOOPBACK,
                                                            [NETWORK_NONE] = SANDBOX_OFFLINE};

/* Programs know the proxy by one of these; node since version 24 by the last. */
const struct str *proxy_environment(uint32_t port, struct arena *arena) {
    static const char *const NAMES[] = {"HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy",
                                        "ALL_PROXY"};
    struct str *list = arena_new(arena, struct str, PROXY_VARIABLES);
    uint32_t count = 0;
    for (size_t i = 0; i < count_of(NAMES); i++)
        list[count++] = arena_format(arena, "%s=http://127.0.0.1:%u", NAMES[i], port);
    list[count++] = STR("NO_PROXY=localhost,127.0.0.1,::1");
    list[count++] = STR("no_proxy=localhost,127.0.0.1,::1");
    list[count++] = STR("NODE_USE_ENV_PROXY=1");
    must(count == PROXY_VARIABLES);
    return list;
}

/* ---- hidden paths ---- */

/* Folders that contain more than our files: only our own file in them is hidden. */
static bool folder_is_shared(const char *path) {
    static const char *const SHARED[] = {"/",    "/etc", "/usr",  "/var", "/var/lib", "/opt",
                                         "/srv", "/mnt", "/home", "/dev", "/proc",    "/sys"};
    for (size_t i = 0; i < count_of(SHARED); i++)
        if (strcmp(SHARED[i], path) == 0)
            return true;
    return false;
}

/* Hides the real path, so that no other name leads around it. */
static void path_hide(struct sandbox_spec *spec, const char *path, struct arena *arena) {
    char real[PATH_MAX];
    if (path && *path == '/' && realpath(path, real) && !folder_is_shared(real))
        sandbox_path_add(&spec->hidden, arena_copy(arena, str_of(real)));
}

/* Files beside a file of ours are usually ours, too: a write-ahead log, a backup, a key. */
static void folder_hide(struct sandbox_spec *spec, const char *path, struct arena *arena) {
    char real[PATH_MAX];
    if (!path || *path != '/' || !realpath(path, real))
        return;
    char *slash = strrchr(real, '/');
    *slash = 0;
    if (folder_is_shared(slash == real ? "/" : real))
        *slash = '/';
    sandbox_path_add(&spec->hidden, arena_copy(arena, str_of(real)));
}

static void secrets_hide(struct sandbox_spec *spec, const struct settings *settings,
                         struct arena *arena) {
    path_hide(spec, arena_cstr(arena, settings->server.tls_key), arena);
    path_hide(spec, arena_cstr(arena, settings->escalation.tracker_token_path), arena);
    for (uint32_t i = 0; i < settings->lists.agent_count; i++)
        path_hide(spec, arena_cstr(arena, settings->lists.agents[i].token.file), arena);
    for (uint32_t i = 0; i < settings->lists.channel_count; i++) {
        path_hide(spec, arena_cstr(arena, settings->lists.channels[i].token_path), arena);
        path_hide(spec, arena_cstr(arena, settings->lists.channels[i].secret_path), arena);
    }
}

static void all_hide(struct sandbox_spec *spec, const struct run_table *runs,
                     const struct settings *settings, struct arena *arena) {
    static const char *const ALWAYS[] = {"/tmp", "/var/tmp", "/run", "/root"};
    for (size_t i = 0; i < count_of(ALWAYS); i++)
        path_hide(spec, ALWAYS[i], arena);
    path_hide(spec, getenv("HOME"), arena);
    path_hide(spec, runs->state, arena);
    for (size_t i = 0; i < count_of(runs->hidden); i++)
        folder_hide(spec, runs->hidden[i], arena);
    secrets_hide(spec, settings, arena);
    sandbox_paths_sort(&spec->hidden);
}

/* ---- visible paths ---- */

static void list_add(struct sandbox_paths *paths, const struct texts *list, struct arena *arena) {
    const char *home = getenv("HOME");
    for (uint32_t i = 0; i < list->count; i++) {
        struct str path = list->at[i];
        if (home && str_begins(path, STR("~/")))
            path = arena_format(arena, "%s%.*s", home, (int)path.len - 1, path.at + 1);
        sandbox_path_add(paths, arena_copy(arena, path));
    }
}

static void system_show(struct sandbox_spec *spec, struct arena *arena) {
    char real[PATH_MAX];
    if (realpath("/etc/resolv.conf", real)) /* often a link into /run */
        sandbox_sees_program(spec, arena_copy(arena, str_of(real)), arena);
    sandbox_sees_path(spec, getenv("PATH"), arena);
}

static struct str own_program(const char *name, struct arena *arena) {
    char path[RUN_PATH];
    sibling_program(name, path, sizeof path);
    return arena_copy(arena, str_of(path));
}

static void common(struct sandbox_spec *spec, struct run_table *runs,
                   const struct settings *settings, struct arena *arena) {
    spec->kind = settings->sandbox.mode == SANDBOX_OFF ? SANDBOX_NONE : runs->can;
    spec->bwrap = str_of(runs->bwrap);
    spec->confiner = str_of(runs->hold);
    spec->memory = (uint64_t)settings->sandbox.memory << 20;
    spec->cpu = (uint64_t)((settings->sandbox.cpu_time + SECONDS(1) - 1) / SECONDS(1));
    spec->file_size = (uint64_t)settings->sandbox.file_size << 20;
    if (spec->kind >= SANDBOX_BWRAP) /* elsewhere the operator's processes would count, too */
        spec->processes = (uint64_t)settings->sandbox.processes;
    all_hide(spec, runs, settings, arena);
    sandbox_path_add(&spec->scratch, STR("/tmp"));
    sandbox_path_add(&spec->scratch, STR("/var/tmp"));
    system_show(spec, arena);
    sandbox_sees_program(spec, spec->confiner, arena);
    list_add(&spec->sees, &settings->sandbox.sees, arena);
    tools_show(spec, settings, arena);
    list_add(&spec->writes, &settings->sandbox.writes, arena);
}

/* ---- a run ---- */

static void run_shown(struct sandbox_spec *spec, struct run *run, struct arena *arena) {
    char *server = arena_cstr(arena, str_of(run->runs->socket));
    char *slash = strrchr(server, '/');
    if (slash)
        *slash = 0;
    sandbox_sees_program(spec, own_program("overseer", arena), arena);
    sandbox_sees_program(spec, run->spec.program, arena);
    for (uint32_t i = 0; i < run->spec.arg_count; i++)
        sandbox_sees_program(spec, run->spec.args[i], arena);
    sandbox_path_add(&spec->sees, str_of(server));
    sandbox_path_add(&spec->sees, arena_format(arena, "%s/token", run->dir));
    sandbox_path_add(&spec->sees, spec->rules);
    if (run->objects[0])
        sandbox_path_add(&spec->sees, str_of(run->objects));
    sandbox_path_add(&spec->writes, str_of(run->home));
    sandbox_path_add(&spec->writes, str_of(run->cwd));
    for (uint32_t i = 0; i < run->shared_count; i++)
        sandbox_path_add(&spec->sees, run->shared[i]);
}

/* Tells whether the machine can provide what the settings require. Only for processes that are to be sandboxed. */
static bool box_is_enough(struct run_table *runs, const struct sandbox_spec *spec,
                          const struct settings *settings, struct arena *arena,
                          struct str *ret_why) {
    if (settings->sandbox.mode == SANDBOX_REQUIRE && spec->kind < SANDBOX_BWRAP) {
        *ret_why = arena_format(arena, "sandbox.mode is require, and %s", runs->cannot);
        return false;
    }
    if (spec->network != SANDBOX_ALL && spec->kind < SANDBOX_BWRAP) {
        *ret_why = arena_format(
            arena, "its network access is restricted, which needs bubblewrap: %s",
            settings->sandbox.mode == SANDBOX_OFF ? "sandbox.mode is off" : runs->cannot);
        return false;
    }
    return true;
}

/* The settings may have changed since it was decided that no person is asked: run_prepare(). */
static bool box_suits(const struct run *run, const struct sandbox_spec *spec,
                      const struct settings *settings, struct str *ret_why) {
    *ret_why = STR("it was to start without asking a person, and has no sandbox now");
    return run->spec.person || settings->defaults.skip_permissions || spec->kind >= SANDBOX_BWRAP;
}

static bool box_make(struct sandbox_spec *spec, struct arena *arena, struct sandbox_made *ret,
                     struct str *ret_why) {
    if (spec->kind == SANDBOX_NONE && !spec->memory && !spec->cpu && !spec->file_size) {
        *ret = (struct sandbox_made){.argc = 0};
        return true;
    }
    if (sandbox_make(spec, arena, ret) &&
        file_put(arena_cstr(arena, spec->rules), ret->rules, arena) &&
        (ret->proxy.len == 0 || file_put(arena_cstr(arena, spec->proxy.file), ret->proxy, arena)))
        return true;
    *ret_why = STR("its sandbox cannot be created");
    return false;
}

/* Whose hosts: of the list, and allowed since. */
struct hosts_wanted {
    struct run_table *runs;
    uint64_t repository;
    struct id goal;
    bool is_check;
};

/* Beside the files of the run, or of the check. */
static bool proxy_set(struct sandbox_spec *spec, const struct settings *settings,
                      const struct agent_setting *agent, const struct hosts_wanted *wanted,
                      struct str beside, struct arena *arena, struct str *ret_why) {
    if (spec->network != SANDBOX_LISTED)
        return true;
    struct sandbox_proxy *proxy = &spec->proxy;
    proxy->file = arena_format(arena, "%.*sproxy", STR_ARG(beside));
    proxy->folder = arena_format(arena, "%.*snet", STR_ARG(beside));
    proxy->denied = arena_format(arena, "%.*sdenied", STR_ARG(beside));
    proxy->allowed = arena_format(arena, "%.*sallowed", STR_ARG(beside));
    sandbox_path_add(&spec->sees, proxy->folder);
    *ret_why = STR("the folder of its proxy cannot be created");
    struct str allowed =
        allowed_hosts(wanted->runs, wanted->repository, wanted->goal, wanted->is_check, arena);
    const char *folder = arena_cstr(arena, proxy->folder);
    return (mkdir(folder, 0700) == 0 || errno == EEXIST) &&
           file_put(arena_cstr(arena, proxy->allowed), allowed, arena) &&
           run_hosts(settings, agent, wanted->repository, arena, proxy, ret_why);
}

bool run_box(struct run *run, struct arena *arena, struct sandbox_made *ret, struct str *ret_why) {
    if (run->driver->watches) { /* our own program, which has to see what it watches */
        *ret = (struct sandbox_made){.argc = 0};
        return true;
    }
    const struct settings *settings = context_settings(run->runs->context);
    const struct agent_setting *agent = run_agent(settings, str_of(run->agent));
    struct sandbox_spec *spec = arena_new(arena, struct sandbox_spec, 1);
    *spec = (struct sandbox_spec){.network = agent ? NETWORK[agent->network] : SANDBOX_ALL,
                                  .rules = arena_format(arena, "%s/rules", run->dir),
                                  .cwd = str_of(run->cwd)};
    common(spec, run->runs, settings, arena);
    run_shown(spec, run, arena);
    bool made = run_limits(run, settings, agent, spec, arena, ret_why) &&
                proxy_set(spec, settings, agent,
                          &(struct hosts_wanted){run->runs, run->repository, run->goal, false},
                          arena_format(arena, "%s/", run->dir), arena, ret_why) &&
                box_is_enough(run->runs, spec, settings, arena, ret_why) &&
                box_suits(run, spec, settings, ret_why) && box_make(spec, arena, ret, ret_why);
    run->box = spec->kind;
    run->proxy_port = spec->proxy.port;
    if (run->box == SANDBOX_LANDLOCK) /* its TMPDIR */
        mkdir(arena_cstr(arena, arena_format(arena, "%s/tmp", run->home)), 0700);
    context_settings_drop(settings);
    return made;
}

void run_box_tell(const struct run *run) {
    log_run(run->box == SANDBOX_BOTH ? LEVEL_INFO : LEVEL_WARNING, run,
            "agent %s starts; sandbox: %s; scope: %s; limits: %s", run->agent,
            sandbox_name(run->box), run_scope(run), run->limits[0] ? run->limits : "none");
}

/* ---- git, where it reads an agent's repository ---- */

/* Applies whatever sandbox.mode says, because it protects Overseer itself. Without bubblewrap nothing of such a
 * repository is read. */
void reader_box(struct run_table *runs, struct arena *arena, struct git_context *context) {
    struct sandbox_made *made = arena_new(arena, struct sandbox_made, 1);
    if (runs->can < SANDBOX_BWRAP ||
        !sandbox_reader_make(arena_copy(arena, str_of(runs->bwrap)), made))
        return;
    context->sandbox_prefix = made->argv;
    context->sandbox_count = made->argc;
}

/* ---- the operator's checks, which run what an agent wrote ---- */

/* H5: what an agent wrote gets the network access of that agent. If the agent is not in the settings any more: only
 * what all agents can reach. */
static enum sandbox_network check_network(const struct settings *settings,
                                          const struct check_wanted *wanted) {
    const struct agent_setting *agent = run_agent(settings, wanted->agent);
    uint32_t least = NETWORK_ALL;
    if (wanted->network != CHECK_NETWORK_AGENT)
        return NETWORK[wanted->network - 1];
    for (uint32_t i = 0; i < settings->lists.agent_count && !agent; i++)
        if (settings->lists.agents[i].network > least)
            least = settings->lists.agents[i].network;
    return NETWORK[agent ? agent->network : least];
}

struct str check_home(struct str place, struct arena *arena) {
    return arena_format(arena, "%.*s.tmp", STR_ARG(place));
}

bool check_is_boxed(struct run_table *runs) {
    const struct settings *settings = context_settings(runs->context);
    bool boxed = settings->sandbox.checks && settings->sandbox.mode != SANDBOX_OFF &&
                 runs->can != SANDBOX_NONE;
    context_settings_drop(settings);
    return boxed;
}

/* The check finds the usual HOME, but empty or with what its setup left there; with Landlock only, a folder of its
 * own. */
static void check_shown(struct sandbox_spec *spec, const struct check_wanted *wanted,
                        struct arena *arena) {
    char real[PATH_MAX];
    const char *home = getenv("HOME");
    sandbox_path_add(&spec->writes, wanted->place);
    sandbox_path_add(&spec->sees, spec->rules);
    sandbox_path_add(&spec->sees, wanted->objects);
    struct str folder = check_home(wanted->place, arena);
    if (wanted->cache.len > 0)
        sandbox_path_add(&spec->sees, wanted->cache);
    if (spec->kind == SANDBOX_LANDLOCK || wanted->keeps_home)
        mkdir(arena_cstr(arena, folder), 0700);
    if (spec->kind == SANDBOX_LANDLOCK) {
        sandbox_path_add(&spec->writes, folder);
    } else if (home && realpath(home, real)) {
        sandbox_path_add(&spec->scratch, arena_copy(arena, str_of(real)));
        if (wanted->keeps_home)
            spec->home = (struct sandbox_home){folder, arena_copy(arena, str_of(real))};
    }
}

/* Contains neither the daemon's own environment nor that of a run: both contain keys. */
static void check_variables(const struct sandbox_spec *spec, const struct check_wanted *wanted,
                            struct arena *arena, struct command_box *ret) {
    const char *path = getenv("PATH"), *home = getenv("HOME");
    struct str folder = check_home(wanted->place, arena);
    struct str *list = arena_new(arena, struct str, wanted->variable_count + 5 + PROXY_VARIABLES);
    uint32_t count = 0;
    list[count++] = arena_format(arena, "PATH=%s", path ? path : "/usr/local/bin:/usr/bin:/bin");
    list[count++] = STR("LANG=C.UTF-8");
    list[count++] = STR("TERM=dumb");
    if (spec->kind == SANDBOX_LANDLOCK) {
        list[count++] = arena_format(arena, "HOME=%.*s", STR_ARG(folder));
        list[count++] = arena_format(arena, "TMPDIR=%.*s", STR_ARG(folder));
    } else if (home) {
        list[count++] = arena_format(arena, "HOME=%s", home);
    }
    const struct str *proxy = proxy_environment(spec->proxy.port, arena);
    for (uint32_t i = 0; i < PROXY_VARIABLES && spec->network == SANDBOX_LISTED; i++)
        list[count++] = proxy[i];
    for (uint32_t i = 0; i < wanted->variable_count; i++)
        list[count++] = wanted->variables[i];
    ret->variables = list;
    ret->variable_count = count;
}

bool check_box(struct run_table *runs, const struct check_wanted *wanted, struct arena *arena,
               struct command_box *ret, struct str *ret_why) {
    const struct settings *settings = context_settings(runs->context);
    struct sandbox_spec *spec = arena_new(arena, struct sandbox_spec, 1);
    struct sandbox_made *made = arena_new(arena, struct sandbox_made, 1);
    *spec =
        (struct sandbox_spec){.rules = arena_format(arena, "%.*s.rules", STR_ARG(wanted->place)),
                              .network = check_network(settings, wanted),
                              .cwd = wanted->place};
    common(spec, runs, settings, arena);
    if (!settings->sandbox.checks)
        spec->kind = SANDBOX_NONE;
    check_shown(spec, wanted, arena);
    if (!settings->sandbox.checks)
        spec->network = SANDBOX_ALL;
    bool fits =
        proxy_set(spec, settings, NULL,
                  &(struct hosts_wanted){runs, wanted->repository, wanted->goal, true},
                  arena_format(arena, "%.*s.", STR_ARG(wanted->place)), arena, ret_why) &&
        (!settings->sandbox.checks || box_is_enough(runs, spec, settings, arena, ret_why)) &&
        box_make(spec, arena, made, ret_why);
    context_settings_drop(settings);
    *ret = (struct command_box){
        .prefix = made->argv, .prefix_count = fits ? made->argc : 0, .cwd = wanted->place};
    check_variables(spec, wanted, arena, ret);
    return fits;
}

void check_box_clear(struct str place, struct arena *arena) {
    static const char *const FILES[] = {"rules", "proxy", "denied", "allowed", "net/sock"};
    for (size_t i = 0; i < count_of(FILES); i++)
        (void)unlink(arena_cstr(arena, arena_format(arena, "%.*s.%s", STR_ARG(place), FILES[i])));
    (void)rmdir(arena_cstr(arena, arena_format(arena, "%.*s.net", STR_ARG(place))));
    char *home = arena_cstr(arena, arena_format(arena, "%.*s.tmp", STR_ARG(place)));
    char *gone = arena_cstr(arena, arena_format(arena, "%.*s.gone-%016llx", STR_ARG(place),
                                                (unsigned long long)clock_boot()));
    if (rename(home, gone) == 0) /* what cannot be removed is not found again by the next check */
        (void)folder_remove(gone);
}
