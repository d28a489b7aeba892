/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a login for a run, by a table of the members to copy. The table is the documentation: docs/sandbox.md shows
 * the same rows. */
#include "drivers/login.h"

#include "base/bytes.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

const struct login LOGINS[] = {
    {"claude claude-agent-acp", ".claude/.credentials.json", LOGIN_JSON,
     "claudeAiOauth.accessToken claudeAiOauth.expiresAt claudeAiOauth.scopes "
     "claudeAiOauth.subscriptionType claudeAiOauth.rateLimitTier",
     "", "claudeAiOauth.expiresAt"},
    {"codex codex-acp", ".codex/auth.json", LOGIN_JSON,
     "auth_mode OPENAI_API_KEY tokens.id_token tokens.access_token tokens.account_id last_refresh",
     "tokens.refresh_token", NULL},
    {"gemini", ".gemini/oauth_creds.json", LOGIN_JSON,
     "access_token scope token_type id_token expiry_date", "", "expiry_date"},
    {"gemini", ".gemini/google_accounts.json", LOGIN_JSON, "active old", "", NULL},
    {"opencode", ".local/share/opencode/auth.json", LOGIN_JSON,
     "*.type *.key *.access *.expires *.accountId *.enterpriseUrl *.token", "*.refresh", NULL},
    {"opencode", ".config/opencode/opencode.json", LOGIN_SETTINGS, "", "", NULL},
    {"goose", ".config/goose/config.yaml", LOGIN_SETTINGS, "", "", NULL},
    {"goose", ".config/goose/secrets.yaml", LOGIN_LINES, "", "", NULL},
    {"qwen", ".qwen/oauth_creds.json", LOGIN_JSON,
     "access_token token_type resource_url expiry_date", "", "expiry_date"},
    {"claude claude-agent-acp", ".claude/CLAUDE.md", LOGIN_TOOLS, "", "", NULL},
    {"claude claude-agent-acp", ".claude/skills", LOGIN_TOOLS, "", "", NULL},
    {"claude claude-agent-acp", ".claude/commands", LOGIN_TOOLS, "", "", NULL},
    {"claude claude-agent-acp", ".claude/agents", LOGIN_TOOLS, "", "", NULL},
    {"claude claude-agent-acp", ".claude.json", LOGIN_SERVERS,
     "mcpServers.*.type mcpServers.*.command mcpServers.*.args mcpServers.*.url", "", NULL},
    {"codex codex-acp", ".codex/AGENTS.md", LOGIN_TOOLS, "", "", NULL},
    {"codex codex-acp", ".codex/prompts", LOGIN_TOOLS, "", "", NULL},
    {"codex codex-acp", ".codex/skills", LOGIN_TOOLS, "", "", NULL},
    {"gemini", ".gemini/GEMINI.md", LOGIN_TOOLS, "", "", NULL},
    {"gemini", ".gemini/commands", LOGIN_TOOLS, "", "", NULL},
    {"opencode", ".config/opencode/AGENTS.md", LOGIN_TOOLS, "", "", NULL},
    {"opencode", ".config/opencode/command", LOGIN_TOOLS, "", "", NULL},
    {"opencode", ".config/opencode/agent", LOGIN_TOOLS, "", "", NULL},
    {"goose", ".config/goose/.goosehints", LOGIN_TOOLS, "", "", NULL},
    {"qwen", ".qwen/QWEN.md", LOGIN_TOOLS, "", "", NULL},
};
const size_t LOGIN_COUNT = sizeof LOGINS / sizeof *LOGINS;

static struct str word_take(struct str *list, char end) {
    const char *at = list->len ? memchr(list->at, end, list->len) : NULL;
    struct str word = {list->at, at ? (size_t)(at - list->at) : list->len};
    *list = (struct str){word.at + word.len + !!at, list->len - word.len - !!at};
    return word;
}

const struct login *login_of(struct str file) {
    for (size_t i = 0; i < LOGIN_COUNT; i++)
        if (str_equal(file, str_of(LOGINS[i].file)))
            return &LOGINS[i];
    return NULL;
}

bool login_is_for(const struct login *login, struct str kind) {
    for (struct str rest = str_of(login->kinds), word; (word = word_take(&rest, ' ')).len > 0;)
        if (str_equal(word, kind))
            return true;
    return false;
}

bool login_is_below(struct str folder) {
    while (folder.len > 0 && folder.at[folder.len - 1] == '/')
        folder.len--;
    for (size_t i = 0; i < LOGIN_COUNT; i++) {
        struct str file = str_of(LOGINS[i].file);
        if (!login_is_none(&LOGINS[i]) && str_begins(file, folder) &&
            (folder.len == 0 || file.at[folder.len] == '/'))
            return true;
    }
    return false;
}

struct str login_variable(struct str kind) {
    static const struct {
        const char *kind, *variable;
    } ROWS[] = {
        {"claude", "CLAUDE_CODE_OAUTH_TOKEN"}, {"claude-agent-acp", "CLAUDE_CODE_OAUTH_TOKEN"},
        {"codex", "OPENAI_API_KEY"},           {"codex-acp", "OPENAI_API_KEY"},
        {"gemini", "GEMINI_API_KEY"},          {"qwen", "OPENAI_API_KEY"}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (str_equal(kind, str_of(ROWS[i].kind)))
            return str_of(ROWS[i].variable);
    return (struct str){0};
}

/* ---- JSON ---- */

static bool member_is(const char *name, struct str word) {
    return str_equal(word, STR("*")) || str_equal(str_of(name), word);
}

/* Copies the members that `path` names from one object to the other. Returns how many. */
static uint32_t members_copy(const json_t *from, json_t *to, struct str path, bool empty) {
    struct str word = word_take(&path, '.');
    uint32_t count = 0;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)from, name, value) {
        if (!member_is(name, word))
            continue;
        if (path.len > 0 && json_is_object(value)) {
            json_t *below = json_object_get(to, name), *made = below ? NULL : json_object();
            uint32_t copied = members_copy(value, below ? below : made, path, empty);
            if (copied > 0 && made)
                json_object_set(to, name, made);
            json_decref(made);
            count += copied;
        } else if (path.len == 0) {
            json_object_set_new(to, name, empty ? json_string("") : json_deep_copy(value));
            count++;
        }
    }
    return count;
}

static uint32_t paths_copy(const json_t *from, json_t *to, const char *paths, bool empty) {
    uint32_t count = 0;
    for (struct str rest = str_of(paths), path; (path = word_take(&rest, ' ')).len > 0;)
        count += members_copy(from, to, path, empty);
    return count;
}

static bool json_print(json_t *json, struct arena *arena, struct str *ret) {
    char *text = json_dumps(json, JSON_COMPACT);
    if (text)
        *ret = arena_copy(arena, str_of(text));
    free(text);
    return text != NULL;
}

static bool object_copy(const struct login *login, struct str text, struct arena *arena,
                        struct str *ret) {
    json_t *from = json_loadb(text.at, text.len, 0, NULL), *to = json_object();
    bool known = json_is_object(from) && paths_copy(from, to, login->keeps, false) > 0;
    if (known)
        paths_copy(from, to, login->empties, true);
    known = known && json_print(to, arena, ret);
    json_decref(from);
    json_decref(to);
    return known;
}

/* ---- other forms ---- */

static bool speaks_of_refresh(struct str name, struct arena *arena) {
    return strcasestr(arena_cstr(arena, name), "refresh") != NULL;
}

static struct str lines_copy(struct str text, struct arena *arena) {
    struct writer writer = {.arena = arena};
    while (text.len > 0) {
        struct str line = str_line_take(&text), rest = line;
        if (speaks_of_refresh(word_take(&rest, ':'), arena))
            continue;
        write_raw(&writer, line);
        write_byte(&writer, '\n');
    }
    return (struct str){writer.at, writer.len};
}

static bool refresh_empty(json_t *json, int depth, struct arena *arena) {
    enum { DEPTH = 16 };
    bool found = false;
    const char *name;
    size_t i;
    json_t *value;
    if (depth == DEPTH)
        return false;
    json_array_foreach(json, i, value) found = refresh_empty(value, depth + 1, arena) || found;
    json_object_foreach(json, name, value) {
        if (json_is_string(value) && speaks_of_refresh(str_of(name), arena)) {
            json_string_set(value, "");
            found = true;
        } else
            found = refresh_empty(value, depth + 1, arena) || found;
    }
    return found;
}

struct str login_strip(struct str text, struct arena *arena) {
    json_t *json = json_loadb(text.at, text.len, 0, NULL);
    struct str made = text;
    if (json && refresh_empty(json, 0, arena))
        json_print(json, arena, &made);
    json_decref(json);
    return made;
}

bool login_copy(const struct login *login, struct str text, struct arena *arena, struct str *ret) {
    switch (login->form) {
    case LOGIN_SERVERS:
    case LOGIN_JSON: return object_copy(login, text, arena, ret);
    case LOGIN_LINES: *ret = lines_copy(text, arena); return true;
    default: *ret = login_strip(text, arena); return true;
    }
}

int64_t login_expires(const struct login *login, struct str text) {
    json_t *json = login->expires ? json_loadb(text.at, text.len, 0, NULL) : NULL;
    const json_t *at = json;
    for (struct str rest = str_of(login->expires ? login->expires : ""), name;
         (name = word_take(&rest, '.')).len > 0;) {
        char member[64];
        if (name.len >= sizeof member)
            break;
        memcpy(member, name.at, name.len);
        member[name.len] = 0;
        at = json_object_get(at, member);
    }
    int64_t expires = json_is_number(at) ? (int64_t)json_number_value(at) : 0;
    json_decref(json);
    return expires;
}
