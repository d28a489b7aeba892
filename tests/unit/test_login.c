/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the copy of a login for a run contains nothing that could renew it, and everything that the run needs to
 * work. */
#include "drivers/login.h"
#include "unit.h"

/* A file as the program writes it, and its copy; NULL: nothing is handed over. R marks what must not be in a copy. */
static const struct {
    const char *file, *text, *copy;
} ROWS[] = {
    {".claude/.credentials.json",
     "{\"claudeAiOauth\":{\"accessToken\":\"A\",\"refreshToken\":\"RRR\",\"expiresAt\":1,\"scopes\":[\"s\"],"
     "\"subscriptionType\":\"max\"},\"mcpOAuth\":{\"x\":{\"accessToken\":\"RRR\"}},\"organizationUuid\":\"o\"}",
     "{\"claudeAiOauth\":{\"accessToken\":\"A\",\"expiresAt\":1,\"scopes\":[\"s\"],\"subscriptionType\":\"max\"}}"},
    {".claude/.credentials.json", "{\"claudeAiOauth\":{\"refreshToken\":\"RRR\"}}", NULL},
    {".claude/.credentials.json", "{\"other\":{\"token\":\"RRR\"}}", NULL},
    {".claude/.credentials.json", "[\"RRR\"]", NULL},
    {".claude/.credentials.json", "RRR", NULL},
    {".claude/.credentials.json", "", NULL},
    {".codex/auth.json",
     "{\"OPENAI_API_KEY\":null,\"tokens\":{\"id_token\":\"I\",\"access_token\":\"A\",\"refresh_token\":\"RRR\","
     "\"account_id\":\"a\"},\"last_refresh\":\"t\"}",
     "{\"OPENAI_API_KEY\":null,\"tokens\":{\"id_token\":\"I\",\"access_token\":\"A\",\"account_id\":\"a\","
     "\"refresh_token\":\"\"},\"last_refresh\":\"t\"}"},
    {".codex/auth.json", "{\"OPENAI_API_KEY\":\"k\"}", "{\"OPENAI_API_KEY\":\"k\"}"},
    {".gemini/oauth_creds.json",
     "{\"access_token\":\"A\",\"refresh_token\":\"RRR\",\"expiry_date\":5}",
     "{\"access_token\":\"A\",\"expiry_date\":5}"},
    {".gemini/google_accounts.json", "{\"active\":\"p\",\"old\":[]}",
     "{\"active\":\"p\",\"old\":[]}"},
    {".qwen/oauth_creds.json",
     "{\"access_token\":\"A\",\"refresh_token\":\"RRR\",\"resource_url\":\"u\"}",
     "{\"access_token\":\"A\",\"resource_url\":\"u\"}"},
    {".local/share/opencode/auth.json",
     "{\"anthropic\":{\"type\":\"oauth\",\"refresh\":\"RRR\",\"access\":\"A\",\"expires\":5},"
     "\"openai\":{\"type\":\"api\",\"key\":\"k\"}}",
     "{\"anthropic\":{\"type\":\"oauth\",\"access\":\"A\",\"expires\":5,\"refresh\":\"\"},"
     "\"openai\":{\"type\":\"api\",\"key\":\"k\"}}"},
    {".config/goose/secrets.yaml", "OPENAI_API_KEY: k\nX_REFRESH_TOKEN: RRR\nY: z\n",
     "OPENAI_API_KEY: k\nY: z\n"},
    {".config/opencode/opencode.json", "{\"mcp\":[{\"refreshToken\":\"RRR\"}],\"model\":\"m\"}",
     "{\"mcp\":[{\"refreshToken\":\"\"}],\"model\":\"m\"}"},
    {".config/opencode/opencode.json", "// with a comment\n{}", "// with a comment\n{}"},
    {".claude/CLAUDE.md", "Write plain English.\n", "Write plain English.\n"},
    {".claude.json",
     "{\"oauthAccount\":{\"x\":\"RRR\"},\"mcpServers\":{\"a\":{\"command\":\"c\",\"args\":[\"-v\"],"
     "\"env\":{\"T\":\"RRR\"}}}}",
     "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"args\":[\"-v\"]}}}"},
    {".claude.json",
     "{\"mcpServers\":{\"b\":{\"type\":\"http\",\"url\":\"u\",\"headers\":{\"A\":\"RRR\"}}}}",
     "{\"mcpServers\":{\"b\":{\"type\":\"http\",\"url\":\"u\"}}}"},
    {".claude.json", "{\"oauthAccount\":{\"x\":\"RRR\"},\"mcpServers\":{}}", NULL},
    {".claude.json", "RRR", NULL},
};

static void test_copies(void **state) {
    struct arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const struct login *login = login_of(str_of(ROWS[i].file));
        struct str copy = STR("untouched");
        check(login != NULL, "row %zu: %s is no login", i, ROWS[i].file);
        bool made = login_copy(login, str_of(ROWS[i].text), &arena, &copy);
        check(made == (ROWS[i].copy != NULL), "row %zu: %.*s", i, STR_ARG(copy));
        if (made)
            check(str_equal(copy, str_of(ROWS[i].copy)), "row %zu: %.*s", i, STR_ARG(copy));
        else
            check(str_equal(copy, STR("untouched")), "row %zu: %.*s", i, STR_ARG(copy));
        check(!made || !memmem(copy.at, copy.len, "RRR", 3), "row %zu: %.*s", i, STR_ARG(copy));
        arena_reset(&arena);
    }
    arena_free(&arena);
}

static void test_others(void **state) {
    struct arena arena = {0};
    (void)state;
    check(str_equal(login_strip(STR("no JSON"), &arena), STR("no JSON")), "text was changed");
    check(str_equal(login_strip(STR("{\"a\":[{\"Refresh_Token\":\"RRR\",\"b\":1}]}"), &arena),
                    STR("{\"a\":[{\"Refresh_Token\":\"\",\"b\":1}]}")),
          "a refresh token is left");
    check(login_of(STR(".codex/config.toml")) == NULL, "settings are no login");
    check(login_is_below(STR(".codex")) && login_is_below(STR(".local/share/")) &&
              !login_is_below(STR(".code")) && !login_is_below(STR(".config/opencode")) &&
              !login_is_below(STR(".tools")),
          "which folders have logins in them");
    check(login_is_for(login_of(STR(".codex/auth.json")), STR("codex-acp")) &&
              !login_is_for(login_of(STR(".codex/auth.json")), STR("code")),
          "for which kinds");
    check(login_expires(login_of(STR(".claude/.credentials.json")),
                        STR("{\"claudeAiOauth\":{\"expiresAt\":1793894400000}}")) == 1793894400000,
          "when it expires");
    check(login_expires(login_of(STR(".codex/auth.json")), STR("{}")) == 0, "it does not say");
    arena_free(&arena);
}

int main(void) {
    static const struct CMUnitTest TESTS[] = {cmocka_unit_test(test_copies),
                                              cmocka_unit_test(test_others)};
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}
