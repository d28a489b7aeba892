/* SPDX-License-Identifier: Apache-2.0 */
/* Tells how the runs of each agent log in: with a token of their own, or with a copy of a person's login. */
#include "drivers/login.h"
#include "runs/run.h"
#include "runs/run_table.h"

#include <stdio.h>
#include <stdlib.h>

static struct str login_kind(const struct agent_setting *agent) {
    const struct driver *driver = run_driver(agent);
    return driver && driver->login ? str_of(driver->login) : run_agent_kind(agent);
}

/* The first login of its kind that the operator has. */
static bool copy_tell(const struct login *login, const struct agent_setting *agent,
                      struct op_login *ret, struct arena *arena) {
    bool own = agent->login_home.len > 0;
    const char *home = own ? arena_cstr(arena, agent->login_home) : getenv("HOME");
    char *path = arena_cstr(arena, arena_format(arena, "%s/%s", home ? home : "", login->file));
    struct str text;
    if (!file_get(path, arena, &text))
        return false;
    ret->kind = own ? "own" : "copied";
    ret->expires_at = login_expires(login, text) * 1000;
    snprintf(ret->text, sizeof ret->text, "a copy of %s/%s, without what renews it",
             own ? home : "~", login->file);
    return true;
}

static void login_tell(const struct agent_setting *agent, struct op_login *ret) {
    struct arena arena = {0};
    struct str kind = login_kind(agent), why = STR("");
    struct drive_var token;
    name_put(ret->agent, sizeof ret->agent, agent->id);
    ret->kind = "none";
    if (agent->token.file.len > 0) {
        bool usable = token_get(agent, kind, &arena, &token, &why);
        ret->kind = usable ? "token" : "none";
        snprintf(ret->text, sizeof ret->text, "%s%.*s", usable ? "a token in " : "",
                 STR_ARG(usable ? agent->token.file : why));
    } else if (agent->keys.count > 0) {
        ret->kind = "key";
        snprintf(ret->text, sizeof ret->text, "%.*s of the daemon's environment",
                 STR_ARG(agent->keys.at[0]));
    }
    bool found = agent->token.file.len > 0;
    for (size_t i = 0; i < LOGIN_COUNT && !found; i++)
        found = !login_is_none(&LOGINS[i]) && login_is_for(&LOGINS[i], kind) &&
                copy_tell(&LOGINS[i], agent, ret, &arena);
    arena_free(&arena);
}

void runs_logins(struct daemon_context *context, struct op_logins *ret) {
    const struct settings *settings = context_settings(context);
    ret->count = 0;
    for (uint32_t i = 0; i < settings->lists.agent_count && i < LIMIT_POLICY_AGENTS; i++)
        login_tell(&settings->lists.agents[i], &ret->at[ret->count++]);
    context_settings_drop(settings);
}
