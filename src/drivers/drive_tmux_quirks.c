/* SPDX-License-Identifier: Apache-2.0 */
/* Table of the differences between programs driven through their terminal, as observed at the version beside each name. */
#include "drivers/drive_tmux.h"

/* Which hook reports what. Both programs use the same format for them. */
static const struct {
    const char *event, *kind;
} HOOKS[] = {{"SessionStart", "start"}, {"UserPromptSubmit", "submit"}, {"PreToolUse", "tool"},
             {"PostToolUse", "tooled"}, {"PermissionRequest", "ask"},   {"Stop", "stop"},
             {"StopFailure", "fail"}};

static struct str hooks_json(const struct drive_spec *spec, struct arena *arena, bool claude) {
    json_t *hooks = json_object();
    for (size_t i = 0; i < count_of(HOOKS); i++)
        if (claude || strcmp(HOOKS[i].kind, "fail") != 0)
            json_object_set_new(hooks, HOOKS[i].event,
                                json_pack("[{s:[{s:s,s:o}]}]", "hooks", "type", "command",
                                          "command",
                                          json_sprintf("sh '%.*s/" TMUX_HOOK "' %s",
                                                       STR_ARG(spec->home), HOOKS[i].kind)));
    json_t *all = json_pack("{s:o}", "hooks", hooks);
    if (claude)
        json_object_set_new(all, "skipDangerousModePermissionPrompt", json_true());
    struct str text = drive_json_dump(all, arena, SIZE_MAX);
    json_decref(all);
    return text;
}

/* A JSON string is also a TOML string. */
static struct str toml_text(struct str text, struct arena *arena) {
    json_t *json = drive_json_str(text);
    struct str dump = drive_json_dump(json, arena, SIZE_MAX);
    json_decref(json);
    return dump;
}

/* ---- Claude Code ---- */

/* Without these settings it asks at the first start, and needs a network for that. */
static struct str claude_seed(const struct drive_spec *spec, struct arena *arena) {
    json_t *approved = json_array(), *trusted = json_object();
    for (uint32_t i = 0; i < spec->env_count; i++) {
        struct str key = spec->env[i].value;
        if (str_equal(spec->env[i].name, STR("ANTHROPIC_API_KEY")) && key.len >= 20)
            json_array_append_new(approved,
                                  drive_json_str((struct str){key.at + key.len - 20, 20}));
    }
    json_object_setn_new(trusted, spec->cwd.at, spec->cwd.len,
                         json_pack("{s:b}", "hasTrustDialogAccepted", 1));
    json_t *seed =
        json_pack("{s:b,s:s,s:{s:o,s:[]},s:o}", "hasCompletedOnboarding", 1, "theme", "dark",
                  "customApiKeyResponses", "approved", approved, "rejected", "projects", trusted);
    struct str text = drive_json_dump(seed, arena, SIZE_MAX);
    json_decref(seed);
    return text;
}

/* Removes the flags of the duplex mode; everything else stays the same. */
static bool claude_launch(const struct drive_spec *spec, struct arena *arena,
                          struct drive_launch *ret, struct str *ret_why) {
    static const char *const DROPPED[] = {
        "-p",        "--input-format",         "--output-format",          "stream-json",
        "--verbose", "--replay-user-messages", "--permission-prompt-tool", "stdio"};
    struct drive_launch plain;
    if (!DRIVER_CLAUDE.launch(spec, arena, &plain, ret_why))
        return false;
    *ret = plain;
    ret->argc = 0;
    for (uint32_t i = 0; i < plain.argc; i++) {
        bool dropped = false;
        for (size_t j = 0; j < count_of(DROPPED); j++)
            dropped = dropped || str_equal(plain.argv[i], str_of(DROPPED[j]));
        if (!dropped)
            launch_arg(ret, plain.argv[i]);
    }
    launch_arg(ret, STR("--settings"));
    launch_arg(ret, arena_format(arena, "%.*s/overseer-settings.json", STR_ARG(spec->home)));
    launch_file(ret, STR("overseer-settings.json"), hooks_json(spec, arena, true));
    if (spec->session.len == 0)
        launch_file(ret, STR(".claude.json"), claude_seed(spec, arena));
    launch_env(ret, STR("CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL"), STR("1"));
    return true;
}

/* ---- Codex ---- */

static void codex_mcp(const struct drive_mcp *mcp, struct arena *arena, struct drive_out *text) {
    if (mcp->url.len == 0 && mcp->argc == 0)
        return;
    drive_say(text, STR("[mcp_servers.overseer]\ndefault_tools_approval_mode = \"approve\"\n"));
    if (mcp->url.len > 0) {
        struct str bearer = arena_format(arena, "Bearer %.*s", STR_ARG(mcp->token));
        drive_say(text, arena_format(arena, "url = %.*s\nhttp_headers = { Authorization = %.*s }\n",
                                     STR_ARG(toml_text(mcp->url, arena)),
                                     STR_ARG(toml_text(bearer, arena))));
        return;
    }
    drive_say(text, arena_format(arena, "command = %.*s\nargs = [",
                                 STR_ARG(toml_text(mcp->argv[0], arena))));
    for (uint32_t i = 1; i < mcp->argc; i++)
        drive_say(text, arena_format(arena, "%s%.*s", i > 1 ? ", " : "",
                                     STR_ARG(toml_text(mcp->argv[i], arena))));
    drive_say(text, STR("]\n"));
    if (mcp->token.len > 0)
        drive_say(text, arena_format(arena, "env = { OVERSEER_TOKEN = %.*s }\n",
                                     STR_ARG(toml_text(mcp->token, arena))));
}

static struct str codex_config(const struct drive_spec *spec, struct arena *arena) {
    static const char *const PARTS[] = {
        "check_for_update_on_startup = false\n",
        "model = \"{model}\"\n",
        "model_reasoning_effort = \"{thinking}\"\n",
        "model_provider = \"overseer\"\n"
        "[model_providers.overseer]\nname = \"overseer\"\nbase_url = \"{base_url}/v1\"\n"
        "wire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\n"
        "request_max_retries = 2\nstream_max_retries = 2\n",
        "[analytics]\nenabled = false\n",
        "[notice]\nhide_rate_limit_model_nudge = true\n", /* it would offer another model, and Enter would accept it */
        "[projects.\"{cwd}\"]\ntrust_level = \"trusted\"\n"};
    struct drive_out text = {.arena = arena};
    struct str filled;
    for (size_t i = 0; i < count_of(PARTS); i++)
        if (launch_fill(spec, PARTS[i], arena, &filled))
            drive_say(&text, filled);
    codex_mcp(&spec->mcp, arena, &text);
    return text.bytes;
}

/* Codex has no list of tools: its sandbox decides what it may do. */
static bool codex_launch(const struct drive_spec *spec, struct arena *arena,
                         struct drive_launch *ret, struct str *ret_why) {
    static const char *const ARGS[] = {"--disable", "daemon_auto_start",
                                       "--dangerously-bypass-hook-trust"}; /* the hooks are ours */
    if (!launch_is_text(spec)) {
        *ret_why = STR("a path, a name or a tool is not text");
        return false;
    }
    *ret = (struct drive_launch){.argc = 0};
    launch_begin(spec, ret);
    if (spec->session.len > 0) {
        launch_arg(ret, STR("resume"));
        launch_arg(ret, spec->session);
    }
    for (size_t i = 0; i < count_of(ARGS); i++)
        launch_arg(ret, str_of(ARGS[i]));
    if (spec->ask) {
        launch_arg(ret, STR("--sandbox=read-only"));
        launch_arg(ret, STR("--ask-for-approval=on-request"));
    } else
        launch_arg(ret, STR("--dangerously-bypass-approvals-and-sandbox"));
    launch_env(ret, STR("CODEX_HOME"), arena_format(arena, "%.*s/.codex", STR_ARG(spec->home)));
    launch_env(ret, STR("TZ"), STR("UTC"));
    launch_file(ret, STR(".codex/config.toml"), codex_config(spec, arena));
    launch_file(ret, STR(".codex/hooks.json"), hooks_json(spec, arena, false));
    return true;
}

static const struct tmux_quirk QUIRKS[] = {
    {.name = "claude",  /* 2.1.325 */
     .ready = "\u276F", /* its prompt */
     .busy = "esc to interrupt",
     .clear = "C-u",
     .dialogs = {{{"Do you want to", "1. Yes"}, "permission", "1", "Escape", false},
                 {{"Would you like to proceed?", "1. Yes"}, "plan", "1", "Escape", false},
                 {{"Do you trust the files in this folder", NULL}, "trust", "1", "Escape", true},
                 {{"Bypass Permissions mode", "2. Yes, I accept"}, "bypass", "2", "Escape", true}},
     .session_is_run = true,
     .history = ".claude/projects",
     .launch = claude_launch},
    {.name = "codex",   /* 0.166.0 */
     .ready = "\u203A", /* its prompt */
     .busy = "esc to interrupt",
     .clear = "C-u",
     .dialogs = {{{"Would you like to run", NULL}, "command", "y", "Escape", false},
                 {{"Would you like to make", NULL}, "edit", "y", "Escape", false},
                 {{"Allow Codex to", NULL}, "command", "y", "Escape", false},
                 {{"Hooks need review", NULL}, "hooks", "2", "Escape", true},
                 {{"Do you trust the contents of this", NULL}, "trust", "1", "Escape", true}},
     .history = ".codex/sessions",
     .launch = codex_launch},
};

const struct tmux_quirk *tmux_quirk_named(struct str name) {
    for (size_t i = 0; i < count_of(QUIRKS); i++)
        if (str_equal(str_of(QUIRKS[i].name), name))
            return &QUIRKS[i];
    return NULL;
}

const struct tmux_quirk *tmux_quirk_at(uint32_t row) {
    must(row < count_of(QUIRKS));
    return &QUIRKS[row];
}

uint32_t tmux_quirk_row(const struct tmux_quirk *quirk) {
    return (uint32_t)(quirk - QUIRKS);
}
