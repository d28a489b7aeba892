/* SPDX-License-Identifier: Apache-2.0 */
/* Declares a repository to Overseer. init finds its test command, the files that judge work, its remote and the agents
 * on this machine, shows them, asks once, and writes them to the operator's own file: never to the repository, which
 * others can write to. */
#include "cli/init/init.h"
#include "base/memory.h"
#include "cli/agent_list.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/init/init_keep.h"
#include "cli/place.h"
#include "cli/run.h"
#include "cli/term.h"
#include "config/config.h"
#include "model/setting/model_hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* The first matching row wins: a file, and a text that it contains. */
static const struct {
    const char *file, *has, *command;
} KNOWN[] = {
    {"pnpm-lock.yaml", NULL, "pnpm test"},
    {"yarn.lock", NULL, "yarn test"},
    {"bun.lockb", NULL, "bun test"},
    {"package.json", "\"test\"", "npm test"},
    {"deno.json", NULL, "deno test"},
    {"Makefile", "\ncheck:", "make check"},
    {"Makefile", "\ntest:", "make test"},
    {"GNUmakefile", "\ncheck:", "make check"},
    {"meson.build", "test(", "meson setup --wipe build && meson test -C build"},
    {"Cargo.toml", NULL, "cargo test"},
    {"tox.ini", NULL, "tox"},
    {"pytest.ini", NULL, "pytest"},
    {"pyproject.toml", NULL, "pytest"},
    {"setup.py", NULL, "pytest"},
    {"go.mod", NULL, "go test ./..."},
    {"CMakeLists.txt", "enable_testing",
     "cmake -B build && cmake --build build && ctest --test-dir build"},
    {"pom.xml", NULL, "mvn -q test"},
    {"gradlew", NULL, "./gradlew test"},
    {"mix.exs", NULL, "mix test"},
    {"Package.swift", NULL, "swift test"},
    {"composer.json", "\"test\"", "composer test"},
    {"Rakefile", NULL, "bundle exec rake test"},
    {"Makefile", NULL, "make"},
};

/* ---- finding ---- */

static void command_find_in(struct init *init) {
    for (size_t i = 0; i < count_of(KNOWN); i++)
        if (init_file_has(init->folder, KNOWN[i].file, KNOWN[i].has)) {
            snprintf(init->command, sizeof init->command, "%s", KNOWN[i].command);
            init->from = KNOWN[i].file;
            return;
        }
    if (!init_has_python_tests(init, NULL))
        return;
    bool unittests = init_has_python_tests(init, "import unittest");
    snprintf(init->command, sizeof init->command, "%s",
             unittests ? "python3 -m unittest discover" : "pytest");
    init->from = "test_*.py";
}

static void setup_keep(struct init *init, const struct settings *old) {
    if (old->verify.setup.len > 0 && old->verify.setup.len < sizeof init->setup)
        snprintf(init->setup, sizeof init->setup, "%.*s", STR_ARG(old->verify.setup));
}

/* The answer of git, one line; empty: none. */
static void git_ask(const struct init *init, const char *first, const char *second,
                    const char *third, char answer[ANSWER]) {
    char git[PATH_MAX];
    char *words[] = {git,
                     (char *)"-C",
                     (char *)(uintptr_t)init->folder,
                     (char *)(uintptr_t)first,
                     (char *)(uintptr_t)second,
                     (char *)(uintptr_t)third,
                     NULL};
    struct trouble trouble;
    answer[0] = 0;
    if (!program_find("git", git))
        return;
    struct child *child = memory_new(sizeof *child);
    child->words = words;
    child->quiet = true;
    if (child_run(child, &trouble) && child->status == 0)
        snprintf(answer, ANSWER, "%.*s", (int)strcspn(child->output, "\n"), child->output);
    free(child);
}

/* Empty: git has no name or address, or one that a commit cannot have. */
static void author_find(struct init *init) {
    char name[ANSWER], address[ANSWER];
    struct str first, second;
    git_ask(init, "config", "--get", "user.name", name);
    git_ask(init, "config", "--get", "user.email", address);
    snprintf(init->author, sizeof init->author, "%s <%s>", name, address);
    if (strlen(init->author) > LIMIT_SETTING || !str_is_text(str_of(init->author)) ||
        !author_parse(str_of(init->author), &first, &second))
        init->author[0] = 0;
}

/* The operator's own file: the one that is named, or the one that Overseer reads. */
static bool file_settle(struct typed *typed, struct init *init) {
    const char *given = typed_text(typed, "file"), *named = getenv("OVERSEER_CONFIG"),
               *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int length = 0;
    if (given || (named && *named))
        length = snprintf(init->file, sizeof init->file, "%s", given ? given : named);
    else if (config && *config)
        length = snprintf(init->file, sizeof init->file, "%s/overseer/overseer.toml", config);
    else if (home && *home)
        length = snprintf(init->file, sizeof init->file, "%s/.config/overseer/overseer.toml", home);
    if (length > 0 && length < (int)sizeof init->file - 16)
        return true;
    return trouble_make(&typed->trouble, ERROR_INVALID,
                        "There is no place for the settings file. Give one with --file.");
}

static bool folder_find(struct typed *typed, struct init *init) {
    char path[PATH_MAX];
    const char *given = typed_text(typed, "folder");
    if (!realpath(given ? given : ".", path))
        return trouble_make(&typed->trouble, ERROR_NOT_FOUND, "The folder %s does not exist.",
                            strerror(errno));
    if (!repository_of(given ? given : ".", path)) {
        trouble_make(&typed->trouble, ERROR_NOT_FOUND, "This is not a git repository.");
        trouble_next(&typed->trouble, "Change to one, or create one with: git init");
        return false;
    }
    if (strlen(path) >= sizeof init->folder)
        return trouble_make(&typed->trouble, ERROR_INVALID,
                            "The path of the repository is too long.");
    memcpy(init->folder, path, strlen(path) + 1);
    git_ask(init, "symbolic-ref", "--short", "HEAD", init->branch);
    git_ask(init, "remote", "get-url", "origin", init->remote);
    author_find(init);
    return file_settle(typed, init);
}

/* ---- asking ---- */

/* Asks once; an empty answer accepts the command that was found, a dash means none. */
static void command_ask(struct init *init) {
    char answer[COMMAND];
    if (init->from)
        fprintf(stderr, "%s exists.\n", init->from);
    fprintf(stderr, "Which command must succeed before work counts as verified?\n[%s] ",
            *init->command ? init->command : "nothing: work stays unverified");
    if (!fgets(answer, sizeof answer, stdin))
        return;
    answer[strcspn(answer, "\n")] = 0;
    if (strcmp(answer, "-") == 0)
        init->command[0] = 0;
    else if (*answer)
        snprintf(init->command, sizeof init->command, "%s", answer);
}

static void command_keep(struct init *init, const struct settings *old) {
    if (old->verify.command.len == 0 || old->verify.command.len >= sizeof init->command)
        return;
    snprintf(init->command, sizeof init->command, "%.*s", STR_ARG(old->verify.command));
    init->from = "a command in the settings";
}

/* Keeps what the operator has already set for this repository; another one is added to the settings. */
static bool old_settle(struct typed *typed, struct init *init) {
    struct config_source source = {.file = init->file};
    if (access(init->file, F_OK) != 0)
        return true;
    struct config_report *report = memory_new(sizeof *report);
    struct settings *old = config_load(&source, report);
    if (!old)
        trouble_make(&typed->trouble, ERROR_INVALID, "%.400s", report->problems[0]);
    free(report);
    if (!old)
        return typed->yes; /* it is set aside, as a whole */
    if (folder_is(old->repo.path, init->folder)) {
        command_keep(init, old);
        setup_keep(init, old);
        judged_keep(&init->judged, old, &init->arena);
        hosts_keep(&init->hosts, &old->repo.hosts, &init->arena);
    }
    bool fits = repository_settle(typed, init, old);
    config_free(old);
    return fits;
}

static bool command_settle(struct typed *typed, struct init *init) {
    const char *given = typed_text(typed, "test-command");
    command_find_in(init);
    if (!old_settle(typed, init))
        return false;
    setup_find(init);
    judged_find(&init->judged, init->folder, &init->arena);
    hosts_find(&init->hosts, init->folder, &init->arena);
    if (given) {
        init->from = NULL;
        if (strlen(given) >= sizeof init->command)
            return trouble_make(&typed->trouble, ERROR_INVALID,
                                "The test command is too long; put it into a script.");
        snprintf(init->command, sizeof init->command, "%s", given);
    } else if (!typed->yes && term_can_ask())
        command_ask(init);
    else if (!typed->yes && !typed->dry_run) {
        trouble_make(&typed->trouble, ERROR_INVALID,
                     "The test command is not known, and there is no terminal to ask on%s%s%s.",
                     *init->command ? ", but `" : "", init->command,
                     *init->command ? "` looks right" : "");
        trouble_next(&typed->trouble, "Accept it with --yes, or give another with --test-command.");
        return false;
    }
    return true;
}

/* ---- writing ---- */

/* Where the operator chooses the provider, a key shows that it is one of the usual ones. */
static bool model_is_known(const struct agent_known *agent) {
    const struct model_hosts *usual = model_hosts(str_of(agent->kind));
    bool known = usual && usual->fixed;
    for (size_t i = 0; usual && i < AGENT_KEYS && agent->keys[i]; i++)
        known = known || getenv(agent->keys[i]);
    return known;
}

static bool network_is_listed(const struct agent_known *agent) {
    char path[PATH_MAX];
    return model_is_known(agent) && program_find("bwrap", path) && bwrap_works(path);
}

/* A key without the URL that it is for would be sent to another provider. Drivers add /v1 where a program wants it. */
static void url_write(FILE *file, const struct agent_known *agent) {
    const char *url = agent->url ? getenv(agent->url) : NULL;
    char base[ANSWER];
    if (!url || strlen(url) >= sizeof base || !str_is_text(str_of(url)))
        return;
    struct str text = str_of(url);
    while (text.len > 0 && text.at[text.len - 1] == '/')
        text.len--;
    if (text.len > 3 && memcmp(text.at + text.len - 3, "/v1", 3) == 0)
        text.len -= 3;
    snprintf(base, sizeof base, "%.*s", STR_ARG(text));
    fprintf(file, "base_url = ");
    toml_text(file, base);
    fprintf(file, " # %s\n", agent->url);
}

static void agent_write(FILE *file, const struct agent_known *agent, const char *path) {
    fprintf(file, "\n[[agents]] # %s\nid = \"%s\"\nkind = \"%s\"\n", agent->title, agent->name,
            agent->kind);
    if (*agent->driver)
        fprintf(file, "driver = \"%s\"\n", agent->driver);
    fprintf(file, "program = ");
    toml_text(file, path);
    fprintf(file, "\nkeys = [");
    for (size_t i = 0, shown = 0; i < AGENT_KEYS && agent->keys[i]; i++)
        if (getenv(agent->keys[i]))
            fprintf(file, "%s\"%s\"", shown++ ? ", " : "", agent->keys[i]);
    fprintf(file, "]\n");
    url_write(file, agent);
    if (network_is_listed(agent))
        fprintf(file, "# It reaches its model and the hosts of the repository. all: everything\n"
                      "network = \"model\"\n");
}

/* The existing file, or the one that was set aside for the new one. */
static const char *old_file(const struct init *init) {
    return *init->before ? init->before : init->file;
}

/* Writes each agent whose program is in PATH and that the old file does not have: as a row of the file, or as a name in a
 * list. */
static size_t agents_write(FILE *file, const struct init *init, bool names) {
    char path[PATH_MAX];
    size_t count = 0;
    for (size_t i = 0; i < AGENTS_KNOWN_COUNT; i++) {
        if (!agent_program(&AGENTS_KNOWN[i], path) ||
            init_has_agent(old_file(init), AGENTS_KNOWN[i].name))
            continue;
        if (names)
            fprintf(file, "%s\"%s\"", count ? ", " : "", AGENTS_KNOWN[i].name);
        else
            agent_write(file, &AGENTS_KNOWN[i], path);
        count++;
    }
    return count;
}

/* ---- keeping old settings ---- */

struct keeping {
    FILE *file;
    bool names, any;
};

static void block_keep(void *with, const char *id, const char *text) {
    struct keeping *it = with;
    if (it->names && *id)
        fprintf(it->file, "%s\"%s\"", it->any ? ", " : "", id);
    if (!it->names)
        fprintf(it->file, "%s%s", it->any ? "" : "\n# Kept from the previous settings:\n", text);
    it->any = it->any || !it->names || *id;
}

static void old_keep(FILE *file, const struct init *init, bool names, bool any) {
    struct keeping it = {.file = file, .names = names, .any = any};
    init_keep(old_file(init), block_keep, &it);
}

static void verify_write(FILE *file, const struct init *init) {
    fprintf(
        file,
        "\n[verify]\n"
        "# Work counts as verified once this succeeds on the exact commit, in a clean checkout.\n");
    setup_write(file, init, "setup");
    fprintf(file, "%scommand = ", *init->command ? "" : "# ");
    toml_text(file, *init->command ? init->command : "make check");
    fprintf(file, "\n");
    judged_write(
        file,
        "Tests, and files that tests and linters read: work that changes one is also checked with the old version.",
        "protect", &init->judged.protect);
    judged_write(file, "CI: work that changes one of these waits for your approval.", "rules",
                 &init->judged.rules);
}

static void repo_write(FILE *file, const struct init *init) {
    fprintf(
        file,
        "[repo]\n# Agents work in worktrees of a clone; your checkout is not touched.\npath = ");
    toml_text(file, init->folder);
    fprintf(file, "\ndefault_branch = ");
    toml_text(file, *init->branch ? init->branch : "main");
    fprintf(file, "\n");
    hosts_write(file, init);
    verify_write(file, init);
    fprintf(file, "\n[landing]\n# pr, branch, rebase, squash, merge or none\nhow = \"%s\"\n",
            remote_is_forge(init) ? "pr" : "branch");
    author_write(file, init, "author");
    if (!remote_is_forge(init))
        return;
    fprintf(
        file,
        "# Without a forge, work lands as a branch. A channel of kind gitea, github or gitlab opens pull requests:\n"
        "# forge = \"forge\"\n# remote = ");
    toml_text(file, init->remote);
    fprintf(file, "\n");
}

static void content_write(FILE *file, const struct init *init) {
    fprintf(
        file,
        "# Overseer's settings. All of them: man overseer.toml\n\n"
        "[supervision]\n"
        "# Overseer starts, nudges and recovers agents. false: it only observes.\n"
        "enabled = true\n"
        "# Work that passed its checks waits for `overseer land`. false: it lands automatically.\n"
        "verify_by_person = true\n\n"
        "[policy]\n"
        "allow_agents = [");
    old_keep(file, init, true, agents_write(file, init, true) > 0);
    fprintf(file, "]\nallow_cross_agent = true\n\n");
    repo_write(file, init);
    if (agents_write(file, init, false) == 0 && !init_has_agent(old_file(init), NULL))
        fprintf(file, "\n"
                      "# No known agent program is in PATH. Once one is: overseer init --yes\n"
                      "# A program of your own: driver = \"command\", see overseer.toml(5).\n"
                      "# [[agents]]\n"
                      "# id = \"claude\"\n");
    old_keep(file, init, false, false);
}

/* Never overwrites a file that was set aside before. */
static bool set_aside(struct init *init) {
    for (unsigned n = 1; n < 1000; n++) {
        snprintf(init->before, sizeof init->before, n > 1 ? "%s.before-%u" : "%s.before",
                 init->file, n);
        if (link(init->file, init->before) == 0)
            return unlink(init->file) == 0;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

static bool file_write(struct typed *typed, struct init *init) {
    char folder[PATH_MAX];
    bool there = access(init->file, F_OK) == 0;
    if (*init->name)
        return repository_append(typed, init);
    if (there && !typed->yes) {
        trouble_make(&typed->trouble, ERROR_CONFLICT, "%.900s already exists.", init->file);
        trouble_next(&typed->trouble,
                     "Edit it, or replace it with --yes; the old one is renamed and kept.");
        return false;
    }
    if (there && !set_aside(init))
        return trouble_make(&typed->trouble, ERROR_REFUSED_BY_STORE,
                            "%.900s cannot be renamed: %s.", init->file, strerror(errno));
    snprintf(folder, sizeof folder, "%s", init->file);
    char *slash = strrchr(folder, '/');
    if (slash && slash > folder) {
        *slash = 0;
        place_make(folder);
    }
    FILE *file = fopen(init->file, "we");
    if (file)
        content_write(file, init);
    if (!file || fclose(file) != 0)
        return trouble_make(&typed->trouble, ERROR_REFUSED_BY_STORE,
                            "%.900s cannot be written: %s.", init->file, strerror(errno));
    return true;
}

/* Makes a running daemon read the file now. */
static bool daemon_reloaded(struct typed *typed) {
    json_t *result = typed_ask(typed, "config.reload", json_object());
    json_decref(result);
    return result != NULL;
}

static json_t *agents_json(void) {
    json_t *list = json_array();
    char path[PATH_MAX];
    for (size_t i = 0; i < AGENTS_KNOWN_COUNT; i++)
        if (agent_program(&AGENTS_KNOWN[i], path))
            json_array_append_new(list, json_string(AGENTS_KNOWN[i].name));
    return list;
}

static void list_tell(const char *what, const struct str *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        printf("%s%.*s", i ? ", " : what, STR_ARG(list[i]));
    if (count > 0)
        printf("\n");
}

static json_t *list_json(const struct str *list, uint32_t count) {
    json_t *all = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(all, json_stringn(list[i].at, list[i].len));
    return all;
}

static void words_tell(const struct init *init, const json_t *tried, bool reloaded) {
    char agent[AGENT_NAME];
    bool any = agent_first(agent);
    printf("%s: %s\n", *init->name ? "Added to" : "Written", init->file);
    if (*init->before)
        printf("  the old one %s\n"
               "  kept of it  its agents, and all but [supervision] [policy] [repo] [landing]\n",
               init->before);
    printf("  repository  %s%s%s\n", init->folder, *init->name ? ", named " : "", init->name);
    printf("  verified by %s\n",
           *init->command ? init->command : "nothing yet: work stays unverified");
    if (*init->setup)
        printf("  prepared by %s\n", init->setup);
    checks_tell(tried);
    const struct judged *judged = &init->judged;
    list_tell("  judged by   the usual tests, and ", judged->protect.besides,
              judged->protect.beside_count);
    list_tell("  asked about the usual CI, and ", judged->rules.besides,
              judged->rules.beside_count);
    list_tell("  registries  ", init->hosts.taken.at, init->hosts.taken.count);
    list_tell("  not listed  ", init->hosts.offered.at, init->hosts.offered.count);
    printf("  lands as    %s\n",
           remote_is_forge(init)
               ? "a branch; a pull request once landing.forge is set (overseer.toml(5))"
               : "a branch");
    printf("  agents      ");
    json_t *agents = agents_json(), *name;
    size_t i;
    json_array_foreach(agents, i, name) printf("%s%s", i ? ", " : "", json_string_value(name));
    printf("%s\n", any ? "" : "none in PATH yet");
    tools_tell(tried);
    json_decref(agents);
    if (reloaded)
        printf("The daemon has reloaded them.\n");
    if (any)
        hint("Next: overseer run \"fix the failing test\" --agent %s\n"
             "For a whole night, a login of its own: overseer account add NAME --agent %s",
             agent, agent);
    else
        hint("Next: install an agent program, then overseer init --yes");
}

static int init_tell(struct typed *typed, const struct init *init) {
    bool reloaded = !typed_text(typed, "file") && daemon_reloaded(typed);
    json_t *tried = typed_flag(typed, "no-try") ? NULL : checks_try(init);
    if (!typed->as_json) {
        words_tell(init, tried, reloaded);
        json_decref(tried);
        return 0;
    }
    json_t *json = json_pack(
        "{s:s, s:s?, s:s?, s:s, s:s?, s:s, s:s, s:o, s:b, s:o, s:o, s:o, s:o}", "file", init->file,
        "command", *init->command ? init->command : NULL, "found", init->from, "repository",
        init->folder, "name", *init->name ? init->name : NULL, "remote", init->remote, "landing",
        remote_is_forge(init) ? "pr" : "branch", "agents", agents_json(), "reloaded", reloaded,
        "protect", list_json(init->judged.protect.besides, init->judged.protect.beside_count),
        "rules", list_json(init->judged.rules.besides, init->judged.rules.beside_count), "hosts",
        list_json(init->hosts.taken.at, init->hosts.taken.count), "hostsOffered",
        list_json(init->hosts.offered.at, init->hosts.offered.count));
    json_object_set_new(json, "setup", *init->setup ? json_string(init->setup) : json_null());
    json_object_set_new(json, "tried", tried ? tried : json_null());
    json_dumpf(json, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(json);
    return 0;
}

/* Shows the content before it is written, if the user can refuse it. */
static bool is_agreed(struct typed *typed, const struct init *init) {
    char question[PATH_MAX + 32];
    if (typed->yes || !term_can_ask() || (!*init->name && access(init->file, F_OK) == 0))
        return true;
    fprintf(stderr, "\n");
    if (*init->name)
        repository_show(stderr, init);
    else
        content_write(stderr, init);
    snprintf(question, sizeof question, *init->name ? "Add this to %s" : "Write this to %s",
             init->file);
    return person_accepts(question) ||
           trouble_make(&typed->trouble, ERROR_INVALID, "Nothing was written.");
}

static int init_dry(struct typed *typed, struct init *init) {
    char *content = NULL;
    size_t size;
    FILE *file = open_memstream(&content, &size);
    if (*init->name)
        repository_show(file, init);
    else
        content_write(file, init);
    fclose(file);
    content[size > 0 ? size - 1 : 0] = 0; /* typed_would() ends the line */
    int status = typed_would(typed, content);
    free(content);
    return status;
}

static int init_do(struct typed *typed, struct init *init) {
    if (!folder_find(typed, init) || !command_settle(typed, init))
        return trouble_tell(&typed->trouble, typed->as_json);
    if (typed->dry_run)
        return init_dry(typed, init);
    return is_agreed(typed, init) && file_write(typed, init)
               ? init_tell(typed, init)
               : trouble_tell(&typed->trouble, typed->as_json);
}

int init_run(struct typed *typed) {
    struct init init = {0};
    int code = init_do(typed, &init);
    arena_free(&init.arena);
    return code;
}
