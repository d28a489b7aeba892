/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that settings are read as they were written, and refused with helpful messages. CONFIG-01 to CONFIG-17. */
#include "unit.h"

#include "config/config.h"
#include "model/channel_list.h"
#include "model/setting/model_hosts.h"

#include <dirent.h>

static struct config_report report;
static const struct config_source ALONE = {.ignore_environment = true};

static struct settings *load(const char *text, const struct config_source *source) {
    struct settings *settings = config_load_text(str_of(text), "overseer.toml", source, &report);
    check(settings, "%s\n%s", report.problems[0], text);
    return settings;
}

static const char *shown(const struct settings *settings, const char *name) {
    static char kept[4][1024];
    static unsigned turn;
    struct arena arena = {0};
    struct setting_found found = setting_find(str_of(name));
    check(found.row, "%s", name);
    struct str text = setting_show(settings, found.row, &arena);
    char *to = kept[turn++ % 4];
    snprintf(to, sizeof kept[0], "%.*s", STR_ARG(text));
    arena_free(&arena);
    return to;
}

static enum origin origin_of(const struct settings *settings, const char *name) {
    return settings->source.origins[setting_place(setting_find(str_of(name)).row)].origin;
}

struct expected {
    const char *name, *value;
};

static void values_are(const struct settings *settings, const struct expected *rows, size_t count) {
    for (size_t i = 0; i < count; i++)
        check(strcmp(shown(settings, rows[i].name), rows[i].value) == 0, "%s is %s, not %s",
              rows[i].name, shown(settings, rows[i].name), rows[i].value);
}
#define VALUES_ARE(settings, rows) values_are(settings, rows, count_of(rows))

/* ---- durations ---- */

static void test_spans(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t us; /* -1: refused */
        const char *back;
    } ROWS[] = {
        {"2m", MINUTES(2), "2m"},
        {"90s", SECONDS(90), "1m30s"},
        {"500ms", 500000, "500ms"},
        {"7us", 7, "7us"},
        {"1h30m", MINUTES(90), "1h30m"},
        {"1d", MINUTES(1440), "1d"},
        {"2w", MINUTES(2 * 7 * 1440), "14d"},
        {"0.5s", 500000, "500ms"},
        {"1.000001s", 1000001, "1s1us"},
        {"0s", 0, "0s"},
        {"36500d", SECONDS(36500LL * 86400), "36500d"},
        {"1d2h3m4s5ms6us", 93784005006, "1d2h3m4s5ms6us"},
        {"", -1, ""},
        {"2", -1, ""},
        {"m", -1, ""},
        {"-2m", -1, ""},
        {"+2m", -1, ""},
        {"2 m", -1, ""},
        {" 2m", -1, ""},
        {"2m ", -1, ""},
        {"2M", -1, ""},
        {"2min", -1, ""},
        {"2y", -1, ""},
        {"1m1h", -1, ""},
        {"1m1m", -1, ""},
        {".5s", -1, ""},
        {"1.s", -1, ""},
        {"1.0000001s", -1, ""},
        {"1e3s", -1, ""},
        {"0x10s", -1, ""},
        {"9999999999999s", -1, ""},
        {"999999999999w", -1, ""},
        {"five minutes", -1, ""},
    };
    for (size_t i = 0; i < count_of(ROWS); i++) {
        int64_t us = -1;
        char back[SPAN_TEXT];
        bool read = span_parse(str_of(ROWS[i].text), &us);
        check(read == (ROWS[i].us >= 0) && us == ROWS[i].us, "\"%s\" is %lld", ROWS[i].text,
              (long long)us);
        if (!read)
            continue;
        span_format(us, back);
        check(strcmp(back, ROWS[i].back) == 0, "\"%s\" becomes \"%s\"", ROWS[i].text, back);
        check(span_parse(str_of(back), &us) && us == ROWS[i].us, "%s", back);
    }
    proof_passed("unit", "setting spans", "CONFIG-05");
}

/* ---- defaults ---- */

static void test_defaults(void **state) {
    (void)state;
    static const struct expected ROWS[] = {
        {"supervision.enabled", "false"},
        {"tickEvery", "\"2m\""},
        {"idleAfter", "\"15m\""},
        {"maxRetries", "2"},
        {"minResendInterval", "\"5m\""},
        {"backoff.base", "\"2m\""},
        {"backoff.max", "\"30m\""},
        {"planner.model", "\"\""},
        {"policy.allowAgents", "[\"main\"]"},
        {"policy.allowCrossAgent", "false"},
        {"fleet.lease", "\"10s\""},
        {"supervision.act_within", "\"1h\""},
        {"retention.bodies", "\"30d\""},
        {"retention.records", "\"180d\""},
        {"landing.how", "\"pr\""},
        {"verify.command", "\"\""},
        {"server.listen", "\"\""},
    };
    struct settings *settings = load("", &ALONE);
    VALUES_ARE(settings, ROWS);
    for (size_t i = 0; i < SETTING_COUNT; i++)
        check(settings->source.origins[i].origin == ORIGIN_DEFAULT, "%s", SETTINGS[i].name);
    check(settings->storage.dir.len > 0 && settings->storage.store.len > 0 &&
              settings->server.socket.len > 0,
          "paths are resolved");
    config_free(settings);
    proof_passed("unit", "setting defaults", "CONFIG-02 CONFIG-04");
}

/* Every row has a unique name and a text, and is found by its name. */
static void test_rows(void **state) {
    (void)state;
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        char env[SETTING_ENV];
        check(setting_find(str_of(SETTINGS[i].name)).row == &SETTINGS[i], "%s", SETTINGS[i].name);
        check(SETTINGS[i].text && SETTINGS[i].text[0], "%s says nothing", SETTINGS[i].name);
        setting_env(SETTINGS[i].name, env);
        for (size_t k = 0; k < i; k++)
            check(strcmp(SETTINGS[i].name, SETTINGS[k].name) != 0, "%s", SETTINGS[i].name);
    }
}

/* A shown setting can be written into a file, and reads back the same. */
/* A row of [[repos]] that is not of the repository alone inherits a setting, and has its default and range. */
static void test_repositories_inherit(void **state) {
    (void)state;
    const struct setting_list *list = &SETTING_LIST[LIST_REPOS];
    uint32_t inherited = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct setting *row = &list->rows[i], *from = repository_inherits(row);
        check((from == NULL) == ((row->flags & SETTING_OWN) != 0), "%s", row->name);
        if (!from)
            continue;
        inherited++;
        check(row->type == from->type && row->names == from->names, "%s", row->name);
        check(row->least >= from->least && row->most <= from->most, "%s: range", row->name);
        check(row->type == SETTING_TEXTS || strcmp(row->fallback, from->fallback) == 0,
              "%s: default %s", row->name, row->fallback);
    }
    check(inherited == 12, "%u rows are inherited", inherited);
}

/* A flag of older files that is a choice now. */
static void test_a_flag_became_a_choice(void **state) {
    (void)state;
    static const struct {
        const char *line;
        uint32_t profile;
    } CASES[] = {{"", PROFILE_SANDBOXED},
                 {"profile = \"ask\"\n", PROFILE_ASK},
                 {"asks = true\n", PROFILE_ASK},
                 {"asks = false\n", PROFILE_SANDBOXED}};
    for (size_t i = 0; i < count_of(CASES); i++) {
        char text[128];
        snprintf(text, sizeof text, "[[agents]]\nid = \"a\"\n%s", CASES[i].line);
        struct settings *settings = load(text, &ALONE);
        check(settings->lists.agents[0].profile == CASES[i].profile, "%s", CASES[i].line);
        config_free(settings);
    }
    const char *text = "[[agents]]\nid = \"a\"\nprofile = true\n";
    check(!config_load_text(str_of(text), "overseer.toml", &ALONE, &report),
          "the new name is no flag");
}

/* Each kind of agent that init adds with network = model. */
static void test_models_have_hosts(void **state) {
    (void)state;
    static const char *const KINDS[] = {"claude",   "claude-agent-acp", "codex", "codex-acp",
                                        "opencode", "gemini",           "goose", "qwen"};
    for (size_t i = 0; i < count_of(KINDS); i++)
        check(model_hosts(str_of(KINDS[i])) && model_hosts(str_of(KINDS[i]))->hosts[0], "%s",
              KINDS[i]);
    check(!model_hosts(STR("mine")) && !model_hosts(STR("")), "others are not known");
}

static void test_authors(void **state) {
    (void)state;
    static const char *const RIGHT[] = {"", "Ana Diaz <ana@example.org>", "CORP\\ana \"A\" <a>",
                                        "\xC3\x89va <eva@x>", "... x <a@b>"};
    static const char *const WRONG[] = {"Ana",       "Ana <",      "Ana <>",      "<ana@x>",
                                        " <ana@x>",  "Ana<ana@x>", "Ana <a@x> ",  "Ana <a>b>",
                                        "... <a@x>", "'\"' <a@x>", "A\nna <a@x>", "Ana <a\tb>",
                                        "A <B> <c>"};
    for (size_t i = 0; i < count_of(RIGHT); i++)
        check(!author_wrong(str_of(RIGHT[i])), "%s", RIGHT[i]);
    for (size_t i = 0; i < count_of(WRONG); i++)
        check(author_wrong(str_of(WRONG[i])), "%s", WRONG[i]);
    struct str name, address;
    assert_true(author_parse(STR("Ana Diaz <ana@example.org>"), &name, &address));
    assert_true(str_equal(name, STR("Ana Diaz")) && str_equal(address, STR("ana@example.org")));
}

static void test_shown_is_written(void **state) {
    (void)state;
    struct settings *settings = load("[verify]\ncommand = \"say \\\"a\\\\b\\\"\\n\"\n"
                                     "[policy]\nallow_agents = [\"a\", \"b \\\"c\\\"\"]\n",
                                     &ALONE);
    struct arena arena = {0};
    struct writer writer = {.arena = &arena};
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        struct str text = setting_show(settings, &SETTINGS[i], &arena);
        write_raw(&writer, arena_format(&arena, "%s = %.*s\n", SETTINGS[i].name, STR_ARG(text)));
    }
    write_byte(&writer, 0);
    struct settings *again = load(writer.at, &ALONE);
    for (size_t i = 0; i < SETTING_COUNT; i++)
        check(setting_equal(settings, again, &SETTINGS[i]), "%s", SETTINGS[i].name);
    config_free(settings);
    config_free(again);
    arena_free(&arena);
}

/* ---- settings of parts that are not built ---- */

/* A setting that nothing would read is refused wherever it is set, with its name, its place and what to do. A text that
 * an earlier version recorded is still read. */
static void test_absent(void **state) {
    (void)state;
    static const struct config_flag FLAGS[] = {{"stuck.same_error_count", "2", "--set", 0, false}};
    static const struct config_source FLAGGED = {.flags = FLAGS, .flag_count = 1};
    static const struct config_source ENVIRONED = {0};
    static const struct config_source RECORDED = {.ignore_environment = true, .recorded = true};
    for (size_t i = 0; i < SETTING_ABSENT_COUNT; i++) {
        const char *name = SETTING_ABSENT[i].name;
        char text[200], env[SETTING_ENV];
        snprintf(text, sizeof text, "\n%s = 1\n", name);
        check(!config_load_text(str_of(text), "f.toml", &ALONE, &report) && report.count == 1 &&
                  strstr(report.problems[0], "f.toml:2:") &&
                  strstr(report.problems[0], " is not available in this version: ") &&
                  strstr(report.problems[0], name) &&
                  strstr(report.problems[0], "is not implemented yet; remove the line"),
              "%s: %s", name, report.problems[0]);
        check(!setting_find(str_of(name)).row, "%s is a setting, too", name);
        setting_env(name, env);
        setenv(env, "1", 1);
        check(!config_load_text(STR(""), "x", &ENVIRONED, &report) &&
                  strstr(report.problems[0], env) && strstr(report.problems[0], "unset it"),
              "%s: %s", env, report.problems[0]);
        unsetenv(env);
        config_free(load(text, &RECORDED));
    }
    check(!config_load_text(STR(""), "x", &FLAGGED, &report) &&
              strstr(report.problems[0], "--set: stuck.same_error_count is not available"),
          "%s", report.problems[0]);
    config_free(load("[[agents]]\nid = \"a\"\nmax_children = 3\n", &RECORDED));
}

/* ---- layers ---- */

static void test_each_layer_wins(void **state) {
    (void)state;
    static const struct config_flag FLAGS[] = {
        {"supervision.max_retries", "7", "--set", UNIT_WRITTEN, false},
        {"verify.command", "./flag", "--set", UNIT_WRITTEN, false},
        {"plans.approve", "true", "--approve-plans", UNIT_WRITTEN, false},
        {"fleet.lease", "1.5", "--lease", UNIT_SECONDS, false},
        {"secrets.redact", "acme-[0-9]{4,8}", "--redact", UNIT_WRITTEN, true},
        {"secrets.redact", "acme_[0-9]{4}", "--redact", UNIT_WRITTEN, true},
    };
    static const struct config_source FLAGGED = {.flags = FLAGS, .flag_count = count_of(FLAGS)};
    static const struct config_source ENVIRONED = {0};
    const char *text = "[supervision]\nmax_attempts = 6\nmax_retries = 5\n"
                       "[verify]\ncommand = \"./file\"\n";
    struct settings *settings = load(text, &ALONE);
    check(settings->supervision.max_attempts == 6 && settings->supervision.max_retries == 5,
          "file");
    check(settings->source.origins[setting_place(setting_find(STR("supervision.max_retries")).row)]
                  .line == 3,
          "its line");
    config_free(settings);
    setenv("OVERSEER_SUPERVISION_MAX_RETRIES", "4", 1);
    setenv("OVERSEER_SUPERVISION_MAX_ATTEMPTS", "8", 1);
    setenv("OVERSEER_POLICY_ALLOW_AGENTS", "a, b,c", 1);
    setenv("OVERSEER_STORE", "sqlite:/nowhere.db", 1);
    settings = load(text, &ENVIRONED);
    check(settings->supervision.max_attempts == 8 && settings->supervision.max_retries == 4, "env");
    check(origin_of(settings, "supervision.max_retries") == ORIGIN_ENVIRONMENT, "it says so");
    check(strcmp(shown(settings, "policy.allow_agents"), "[\"a\", \"b\", \"c\"]") == 0, "lists");
    check(str_equal(settings->storage.store, STR("sqlite:/nowhere.db")), "the older name");
    config_free(settings);
    settings = load(text, &FLAGGED);
    check(settings->supervision.max_retries == 7 && settings->plans.approve &&
              str_equal(settings->verify.command, STR("./flag")),
          "flags");
    check(settings->fleet.lease == MILLISECONDS(1500), "its unit is the flag's");
    check(settings->secrets.redact.count == 2, "two patterns, commas and all");
    check(origin_of(settings, "supervision.max_retries") == ORIGIN_FLAG &&
              origin_of(settings, "supervision.max_attempts") == ORIGIN_ENVIRONMENT,
          "they say so");
    config_free(settings);
    setenv("OVERSEER_SUPERVISION_MAX_RETRIES", "many", 1);
    check(!config_load_text(STR(""), "x", &ENVIRONED, &report) &&
              strstr(report.problems[0], "OVERSEER_SUPERVISION_MAX_RETRIES must be a whole number"),
          "%s", report.problems[0]);
    unsetenv("OVERSEER_SUPERVISION_MAX_RETRIES");
    unsetenv("OVERSEER_SUPERVISION_MAX_ATTEMPTS");
    unsetenv("OVERSEER_POLICY_ALLOW_AGENTS");
    unsetenv("OVERSEER_STORE");
}

/* ---- names ---- */

static void test_aliases(void **state) {
    (void)state;
    static const struct {
        const char *written, *name;
        enum span_unit unit;
    } ROWS[] = {
        {"tickEvery", "supervision.tick_every", UNIT_WRITTEN},
        {"tick_every", "supervision.tick_every", UNIT_WRITTEN},
        {"tick-every", "supervision.tick_every", UNIT_WRITTEN},
        {"tickEveryMs", "supervision.tick_every", UNIT_MS},
        {"tick_every_secs", "supervision.tick_every", UNIT_SECONDS},
        {"overseer.tickEvery", "supervision.tick_every", UNIT_WRITTEN},
        {"overseer.backoff.base", "supervision.backoff.base", UNIT_WRITTEN},
        {"overseer.backoff.baseMs", "supervision.backoff.base", UNIT_MS},
        {"overseer.storage.dir", "storage.dir", UNIT_WRITTEN},
        {"repo.default_branch", "repo.default_branch", UNIT_WRITTEN},
        {"autoEscalate", "escalation.auto_escalate", UNIT_WRITTEN},
        {"escalation.webhookUrl", "escalation.webhook_url", UNIT_WRITTEN},
        {"escalation.tracker.tokenPath", "escalation.tracker.token_path", UNIT_WRITTEN},
        {"land", "landing.how", UNIT_WRITTEN},
        {"supervision.max_retries_secs", NULL, UNIT_WRITTEN},
        {"nothing.like.this", NULL, UNIT_WRITTEN},
        {"", NULL, UNIT_WRITTEN},
    };
    for (size_t i = 0; i < count_of(ROWS); i++) {
        struct setting_found found = setting_find(str_of(ROWS[i].written));
        const char *name = found.row ? found.row->name : NULL;
        check((name == NULL) == (ROWS[i].name == NULL) &&
                  (!name || (strcmp(name, ROWS[i].name) == 0 && found.unit == ROWS[i].unit)),
              "%s is %s", ROWS[i].written, name ? name : "nothing");
    }
    struct settings *settings = load("tickEveryMs = 90000\nidle_after_secs = 1.5\n", &ALONE);
    check(settings->supervision.tick_every == SECONDS(90), "Ms");
    check(settings->supervision.idle_after == MILLISECONDS(1500), "_secs");
    config_free(settings);
    proof_passed("unit", "setting names", "CONFIG-05");
}

/* ---- files ---- */

static const char *tests_folder(void) {
    const char *folder = getenv("OVERSEER_TESTS");
    return folder ? folder : "tests";
}

static struct settings *load_file(const char *folder, const char *name) {
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s/%s", tests_folder(), folder, name);
    struct config_source source = {.file = path, .ignore_environment = true};
    return config_load(&source, &report);
}

static void test_older_files(void **state) {
    (void)state;
    struct settings *settings = load_file("fixtures/config/old", "session-overseer.toml");
    check(settings, "%s", report.problems[0]);
    check(str_equal(settings->planner.model, STR("openai/gpt-5-mini")), "planner");
    const char *home = getenv("HOME");
    check(!home || strncmp(settings->storage.dir.at, home, strlen(home)) == 0, "~ is the home");
    config_free(settings);
    settings = load_file("fixtures/config/old", "loop-overseer.toml");
    check(settings, "%s", report.problems[0]);
    check(str_equal(settings->escalation.tracker_repo, STR("owner/repo")) &&
              settings->escalation.auto_escalate && settings->escalation.desktop &&
              str_equal(settings->escalation.webhook_url, STR("https://example.com/webhook")) &&
              str_equal(settings->escalation.tracker_url, STR("https://git.example/api/v1")) &&
              settings->escalation.tracker_token_path.len > 0,
          "escalation");
    check(strcmp(shown(settings, "escalation.webhook_url"), "\"(hidden)\"") == 0, "hidden");
    config_free(settings);
    proof_passed("unit", "settings of escalation", "CONFIG-15");
    settings = load_file("fixtures/config/old", "worker-overseer.toml");
    check(settings, "%s", report.problems[0]);
    check(settings->defaults.skip_permissions && settings->defaults.allowed_tools.count == 2 &&
              str_equal(settings->repo.default_branch, STR("master")),
          "workers");
    config_free(settings);
    proof_passed("unit", "older files", "CONFIG-13");
}

static void test_agents(void **state) {
    (void)state;
    struct settings *settings = load_file("fixtures/config/old", "fleet.toml");
    check(settings, "%s", report.problems[0]);
    assert_int_equal(settings->lists.agent_count, 2);
    const struct agent_setting *a = &settings->lists.agents[0], *b = &settings->lists.agents[1];
    check(str_equal(a->id, STR("athena")) &&
              str_equal(a->model, STR("google/gemini-3-pro-preview")),
          "the first");
    check(str_equal(b->id, STR("hephaestus")) && b->tools.count == 1, "the second");
    config_free(settings);
}

/* Channels of escalation.* come first; a path may begin with the home folder; secrets are not shown, and are not part
 * of the policy. */
static void test_channels(void **state) {
    (void)state;
    static const char TEXT[] =
        "[escalation]\nrepo = \"a/b\"\ngiteaUrl = \"https://git.example\"\n"
        "gitea_token_path = \"/tracker\"\n"
        "[[channels]]\nid = \"chat\"\ntype = \"slack\"\nlevel = \"warning\"\n"
        "url = \"https://hooks.example/secret\"\norigins = [\"*\"]\n"
        "[[channels]]\nid = \"hook\"\nurl = \"https://hook.example/secret\"\n"
        "secret_path = \"~/hook\"\nquiet = false\ntimeoutMs = 1500\n";
    setenv("HOME", "/somebody", 1);
    struct settings *settings = load(TEXT, &ALONE);
    const struct setting_list *list = &SETTING_LIST[LIST_CHANNELS];
    assert_int_equal(list_count(settings, list), 4);
    const struct channel *tracker = &settings->lists.channels[1],
                         *chat = list_entry(settings, list, 2),
                         *hook = list_entry(settings, list, 3);
    check(settings->lists.channels[0].kind == CHANNEL_DESKTOP && tracker->kind == CHANNEL_GITEA &&
              str_equal(tracker->token_path, STR("/tracker")),
          "of escalation.*");
    check(chat->kind == CHANNEL_SLACK && chat->least == ALARM_WARNING + 1 && chat->quiet &&
              chat->origins.count == 1,
          "the chat");
    check(hook->kind == CHANNEL_WEBHOOK && hook->least == LEAST_USUAL && !hook->quiet &&
              hook->within == MILLISECONDS(1500) &&
              str_equal(hook->secret_path, STR("/somebody/hook")),
          "the hook");
    struct str policy = settings_policy(settings, &settings->source.arena);
    check(memmem(policy.at, policy.len, "channels.3.least = \"warning\"", 28) &&
              !memmem(policy.at, policy.len, "secret", 6),
          "%.*s", STR_ARG(policy));
    for (size_t i = 0; i < list->count; i++) {
        struct str shown = setting_show(chat, &list->rows[i], &settings->source.arena);
        check(!memmem(shown.at, shown.len, "secret", 6), "%s is shown", list->rows[i].name);
    }
    config_free(settings);
    settings = load("[escalation]\ndesktop = false\n", &ALONE);
    assert_int_equal(settings->lists.channel_count, 0);
    config_free(settings);
}

/* The first lines of each broken file list the expected messages, completely and in this order. */
static void broken_holds(const char *name) {
    static char path[1024], line[512];
    struct settings *settings = load_file("fixtures/config/broken", name);
    check(!settings, "%s was accepted", name);
    snprintf(path, sizeof path, "%s/fixtures/config/broken/%s", tests_folder(), name);
    FILE *file = fopen(path, "r");
    uint32_t count = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) && strncmp(line, "#? ", 3) == 0) {
        line[strcspn(line, "\n")] = 0;
        char *problem = report.problems[count < CONFIG_PROBLEMS ? count : 0];
        check(count < report.count && strstr(problem, path) == problem && strstr(problem, line + 3),
              "%s: expected \"%s\", it says \"%s\"", name, line + 3, problem);
        count++;
    }
    fclose(file);
    check(count > 0 && count == report.count, "%s: %u problems are told of, %u expected: %s", name,
          report.count, count, report.problems[count < CONFIG_PROBLEMS ? count : 0]);
}

static void test_broken_files(void **state) {
    (void)state;
    char folder[1024];
    uint32_t count = 0;
    snprintf(folder, sizeof folder, "%s/fixtures/config/broken", tests_folder());
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.') {
            broken_holds(entry->d_name);
            count++;
        }
    closedir(dir);
    check(count >= 15, "%u broken files", count);
    check(!load_file("fixtures/config/broken", "none.toml") &&
              strstr(report.problems[0], "cannot be read"),
          "%s", report.problems[0]);
    proof_passed("unit", "broken files of settings", "CONFIG-14");
}

static void test_many_problems(void **state) {
    (void)state;
    char text[4096] = "[supervision]\n";
    for (int i = 0; i < 40; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "wrong_%d = 1\n", i);
    check(!config_load_text(str_of(text), "x", &ALONE, &report), "accepted");
    assert_int_equal(report.count, 40);
    char *large = malloc(LIMIT_SETTING + 64);
    assert_non_null(large);
    for (int more = 0; more < 2; more++) { /* at the limit, and beyond it */
        snprintf(large, LIMIT_SETTING + 64, "[verify]\ncommand = \"%0*d\"\n", LIMIT_SETTING + more,
                 0);
        struct settings *settings = config_load_text(str_of(large), "x", &ALONE, &report);
        check((settings != NULL) == (more == 0), "%d bytes", LIMIT_SETTING + more);
        config_free(settings);
    }
    free(large);
}

static void test_example(void **state) {
    (void)state;
    struct settings *settings = load_file("../examples", "overseer.toml");
    check(settings, "%s", report.problems[0]);
    struct settings *plain = load("", &ALONE);
    for (size_t i = 0; i < SETTING_COUNT; i++)
        check(setting_equal(settings, plain, &SETTINGS[i]), "%s is not the default",
              SETTINGS[i].name);
    config_free(plain);
    config_free(settings);
}

/* ---- the policy ---- */

static struct hash policy_of_text(const char *text) {
    struct settings *settings = load(text, &ALONE);
    struct hash hash = sha256(settings_policy(settings, &settings->source.arena));
    config_free(settings);
    return hash;
}

static void test_policy(void **state) {
    (void)state;
    static const char *const SAME[] = {"tickEvery = \"120s\"", "[log]\nlevel = \"debug\"",
                                       "[server]\nlisten = \"127.0.0.1:1\"",
                                       "# a remark\n[supervision]\n"};
    static const char *const OTHER[] = {"tickEvery = \"121s\"",
                                        "[policy]\nallow_agents = [\"*\"]",
                                        "[[channels]]\nid = \"a\"\nkind = \"desktop\"",
                                        "[[agents]]\nid = \"a\"",
                                        "[plans]\napprove = true",
                                        "[verify]\ncommand = \"true\""};
    struct hash plain = policy_of_text("");
    for (size_t i = 0; i < count_of(SAME); i++) {
        struct hash hash = policy_of_text(SAME[i]);
        check(hash_equal(&plain, &hash), "%s changes the policy", SAME[i]);
    }
    for (size_t i = 0; i < count_of(OTHER); i++) {
        struct hash hash = policy_of_text(OTHER[i]);
        check(!hash_equal(&plain, &hash), "%s does not change the policy", OTHER[i]);
        for (size_t k = 0; k < i; k++) {
            struct hash other = policy_of_text(OTHER[k]);
            check(!hash_equal(&other, &hash), "%s is as %s", OTHER[i], OTHER[k]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_repositories_inherit),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_a_flag_became_a_choice),
        cmocka_unit_test(test_models_have_hosts),
        cmocka_unit_test(test_authors),
        cmocka_unit_test(test_shown_is_written),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_each_layer_wins),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_older_files),
        cmocka_unit_test(test_agents),
        cmocka_unit_test(test_channels),
        cmocka_unit_test(test_broken_files),
        cmocka_unit_test(test_many_problems),
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
