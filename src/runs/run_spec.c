/* SPDX-License-Identifier: Apache-2.0 */
/* The specification of a run: program, environment, tools, from the settings as they are. */
#include "ops/tool.h"
#include "runs/run.h"

/* The absolute path of a program; empty: there is none with that name. */
static struct str program_find(struct str name, struct arena *arena) {
    const char *path = getenv("PATH");
    if (name.len > 0 && name.at[0] == '/')
        return arena_copy(arena, name);
    for (path = path ? path : "/usr/local/bin:/usr/bin:/bin"; *path;) {
        size_t length = strcspn(path, ":");
        char *at =
            arena_cstr(arena, arena_format(arena, "%.*s/%.*s", (int)length, path, STR_ARG(name)));
        if (length > 0 && access(at, X_OK) == 0)
            return str_of(at);
        path += length + (path[length] == ':');
    }
    return (struct str){0};
}

const char *key_url(const struct agent_setting *agent, struct str key, struct arena *arena) {
    const struct str end = STR("_API_KEY");
    if (agent->base_url.len > 0 || key.len <= end.len ||
        memcmp(key.at + key.len - end.len, end.at, end.len) != 0)
        return NULL;
    struct str name = arena_format(arena, "%.*s_BASE_URL", (int)(key.len - end.len), key.at);
    const char *text = arena_cstr(arena, name), *value = getenv(text);
    return value && *value && !str_is_among(name, agent->keys.at, agent->keys.count) ? text : NULL;
}

static void key_take(struct run *run, struct drive_var *vars, const char *name) {
    const char *value = name ? getenv(name) : NULL;
    if (value)
        vars[run->spec.env_count++] =
            (struct drive_var){str_of(name), arena_copy(&run->arena, str_of(value))};
}

/* The agent gets only the variables that the operator names, and with a key the address that it is for: it would be sent to
 * another provider. */
static void keys_take(struct run *run, const struct agent_setting *agent) {
    struct drive_var *vars = arena_new(&run->arena, struct drive_var, 2 * agent->keys.count + 2);
    for (uint32_t i = 0; i < agent->keys.count; i++) {
        key_take(run, vars, arena_cstr(&run->arena, agent->keys.at[i]));
        key_take(run, vars, key_url(agent, agent->keys.at[i], &run->arena));
    }
    run->spec.env = vars;
}

/* Gives the run access to our tools: a program of ours, with a token in the run's folder. */
static void mcp_take(struct run *run) {
    struct str *argv = arena_new(&run->arena, struct str, 6);
    char own[RUN_PATH];
    sibling_program("overseer", own, sizeof own);
    argv[0] = arena_copy(&run->arena, str_of(own));
    argv[1] = STR("mcp");
    argv[2] = STR("--socket");
    argv[3] = arena_copy(&run->arena, str_of(run->runs->socket));
    argv[4] = STR("--token");
    argv[5] = arena_format(&run->arena, "@%s/token", run->dir);
    run->spec.mcp = (struct drive_mcp){.argv = argv, .argc = 6};
}

/* The same over HTTP, if the TCP server is open and needs no certificate. */
static void mcp_take_http(struct run *run) {
    const struct daemon_context *context = run->runs->context;
    if (run->http && context->mcp_url[0])
        run->spec.mcp = (struct drive_mcp){.url = arena_copy(&run->arena, str_of(context->mcp_url)),
                                           .token = str_of(run->token)};
}

/* ---- adopted sessions ---- */

/* Tells where the operator's own sessions are; they need no setting. */
static void adopted_prepare(struct run *run) {
    static const char *const VARS[] = {"TMUX_TMPDIR", "CLAUDE_CONFIG_DIR"};
    struct drive_var *vars = arena_new(&run->arena, struct drive_var, count_of(VARS));
    struct str *args = arena_new(&run->arena, struct str, 2);
    const char *home = getenv("HOME");
    char own[RUN_PATH];
    sibling_program("overseer", own, sizeof own);
    args[0] = STR("--home");
    args[1] = arena_copy(&run->arena, str_of(home ? home : "/"));
    run->driver = &DRIVER_ADOPTED;
    run->spec = (struct drive_spec){.program = arena_copy(&run->arena, str_of(own)),
                                    .quirk = str_of(run->agent),
                                    .args = args,
                                    .arg_count = 2,
                                    .home = str_of(run->home),
                                    .cwd = str_of(run->cwd),
                                    .run = run->id,
                                    .env = vars};
    for (size_t i = 0; i < count_of(VARS); i++) {
        const char *value = getenv(VARS[i]);
        if (value)
            vars[run->spec.env_count++] =
                (struct drive_var){str_of(VARS[i]), arena_copy(&run->arena, str_of(value))};
    }
}

/* In a sandbox no person is asked. A gateway's agent is outside of ours. */
static bool run_asks_person(const struct run *run, const struct settings *settings,
                            const struct agent_setting *agent) {
    bool sandboxed = run->runs->can >= SANDBOX_BWRAP && settings->sandbox.mode != SANDBOX_OFF &&
                     !run->driver->bridged;
    return !settings->defaults.skip_permissions && (agent->profile == PROFILE_ASK || !sandboxed);
}

bool run_prepare(struct run *run, struct str *ret_why) {
    if (agent_is_adopted(str_of(run->agent))) {
        adopted_prepare(run);
        return true;
    }
    const struct settings *settings = context_settings(run->runs->context);
    const struct agent_setting *agent = run_agent(settings, str_of(run->agent));
    struct arena *arena = &run->arena;
    if (agent && !run->driver)
        run->driver = run_driver(agent);
    if (!agent || !run->driver) {
        context_settings_drop(settings);
        *ret_why = STR("no driver starts it: see [[agents]] in the configuration");
        return false;
    }
    char own[RUN_PATH];
    sibling_program("overseer", own, sizeof own);
    struct str program = agent->program.len     ? agent->program
                         : run->driver->bridged ? str_of(own)
                                                : run_agent_kind(agent);
    struct texts allow = agent->tools.count ? agent->tools : settings->defaults.allowed_tools;
    run->spec = (struct drive_spec){
        .program = program_find(program, arena),
        .args = texts_copy(&agent->args, arena).at,
        .arg_count = agent->args.count,
        .quirk = arena_copy(arena, run_agent_kind(agent)),
        .model = arena_copy(arena, agent->model.len ? agent->model : settings->defaults.model),
        .thinking = arena_copy(arena, agent->thinking),
        .base_url = arena_copy(arena, agent->base_url),
        .home = str_of(run->home),
        .cwd = str_of(run->cwd),
        .session = str_of(run->session),
        .run = run->id,
        .allow = texts_copy(&allow, arena).at,
        .allow_count = allow.count,
        .allow_given = allow.count > 0,
        .deny = texts_copy(&agent->deny, arena).at,
        .deny_count = agent->deny.count,
        .person = run_asks_person(run, settings, agent)};
    keys_take(run, agent);
    mcp_take(run);
    run->http = agent->mcp_http;
    bool found = run->spec.program.len > 0;
    if (!found)
        *ret_why = arena_format(arena, "the program %.*s was not found; see [[agents]] program",
                                STR_ARG(program));
    context_settings_drop(settings);
    return found;
}

void run_token_lend(struct run *run) {
    struct caller caller = {.role = ROLE_RUN,
                            .goal = run->goal,
                            .assignment = run->assignment + 1,
                            .run_n = run->number};
    snprintf(caller.actor, sizeof caller.actor, "agent:%s", run->agent);
    snprintf(caller.task, sizeof caller.task, "%s", run->node);
    id_format(run->id, caller.run);
    tools_scope(&(struct tool_scope){run->spec.allow, run->spec.deny, run->spec.allow_count,
                                     run->spec.deny_count, run->spec.allow_given},
                &caller);
    tokens_lend(run->runs->context->tokens, &caller, run->token);
    mcp_take_http(run);
}
