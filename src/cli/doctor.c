/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether everything is in order. CLI-09: each line is good, bad or worth a look, and says what to do. */
#include "base/memory.h"
#include "cli/agent_list.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/logout.h"
#include "cli/place.h"
#include "cli/run.h"
#include "cli/term.h"
#include "config/config.h"
#include "model/limits.h"
#include "model/store_address.h"

#include <linux/landlock.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

enum health { GOOD, LOOK, BAD, VERDICTS };
static const char *const VERDICT_NAMES[VERDICTS] = {"good", "look", "bad"};

enum { TEXT_AT = 20, AGENTS_TEXT = 280 };

struct finding {
    enum health verdict;
    char text[320];
    char next[160]; /* what to do; empty: nothing */
};

struct patient {
    struct typed *typed;
    json_t *health; /* the daemon's report about itself; NULL: no daemon answers */
    pid_t pid;      /* the registered daemon; 0: none runs */
    char daemon[PATH_MAX];
    const char *folder;
    bool has_daemon_program;
    uint32_t agents; /* number of agents declared in the settings */
    json_t *tried;   /* what the daemon's program reports about each agent; NULL: it was not run */
};

#define FOUND(f, v, to_do, ...) \
    do { \
        (f)->verdict = (v); \
        snprintf((f)->text, sizeof(f)->text, __VA_ARGS__); \
        snprintf((f)->next, sizeof(f)->next, "%s", (to_do)); \
    } while (0)

/* ---- programs ---- */

static bool program_says(const char *program, char *line, size_t size) {
    char path[PATH_MAX];
    char *words[] = {path, (char *)"--version", NULL};
    struct trouble trouble;
    if (!program_find(program, path))
        return false;
    struct child *child = memory_new(sizeof *child);
    child->words = words;
    child->quiet = true;
    bool well = child_run(child, &trouble) && child->status == 0;
    snprintf(line, size, "%.*s", (int)strcspn(child->output, "\n"), child->output);
    free(child);
    return well;
}

static void check_programs(const struct patient *patient, struct finding *f) {
    char line[128] = "";
    (void)patient;
    bool there = program_says("overseerd", line, sizeof line);
    bool same = there && strcmp(line, "overseerd " OVERSEER_VERSION) == 0;
    if (!there)
        FOUND(f, BAD, "install it beside overseer", "overseerd was not found");
    else if (!same)
        FOUND(f, LOOK, "install both from one build", "%s, but this is overseer %s", line,
              OVERSEER_VERSION);
    else
        FOUND(f, GOOD, "", "%s, the same as overseer", line);
}

static void check_git(const struct patient *patient, struct finding *f) {
    char line[128] = "";
    (void)patient;
    if (program_says("git", line, sizeof line))
        FOUND(f, GOOD, "", "%s", line);
    else
        FOUND(f, BAD, "install git: agents work in git worktrees", "git was not found");
}

static void check_hold(const struct patient *patient, struct finding *f) {
    char path[PATH_MAX];
    (void)patient;
    if (program_find("overseer-hold", path))
        FOUND(f, GOOD, "", "overseer-hold is installed");
    else
        FOUND(f, BAD, "install it beside overseer",
              "overseer-hold was not found: no agent can be started");
}

/* Which agent programs there are, and whether the settings declare any agent. */
static void check_agents(const struct patient *patient, struct finding *f) {
    char path[PATH_MAX], names[200] = "";
    for (size_t i = 0; i < AGENTS_KNOWN_COUNT; i++) {
        size_t used = strlen(names);
        if (agent_program(&AGENTS_KNOWN[i], path))
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                     AGENTS_KNOWN[i].name);
    }
    if (!*names)
        FOUND(f, LOOK, "install one, such as claude, codex, opencode, gemini, goose or qwen",
              "no agent program is in PATH");
    else if (patient->agents == 0)
        FOUND(f, LOOK, "in your repository: overseer init", "%s; none is in the settings", names);
    else
        FOUND(f, GOOD, "", "%s; %u in the settings", names, patient->agents);
}

static void names_add(char *names, size_t size, const char *agent, const char *login_text) {
    size_t used = strlen(names);
    snprintf(names + used, size - used, "%s%s%s%s", used ? "; " : "", agent,
             *login_text ? ": " : "", login_text);
    bytes_mend(names, strlen(names)); /* the text may end within a UTF-8 character */
}

/* Each program is started in the sandbox that its runs get. */
static void check_starts(const struct patient *patient, struct finding *f) {
    char good[AGENTS_TEXT] = "", bad[AGENTS_TEXT] = "";
    size_t i;
    json_t *row;
    json_array_foreach(patient->tried, i, row) {
        bool starts = json_is_true(json_object_get(row, "starts"));
        names_add(starts ? good : bad, sizeof good,
                  json_string_value(json_object_get(row, "agent")),
                  json_string_value(json_object_get(row, "said")));
    }
    if (json_array_size(patient->tried) == 0)
        FOUND(f, patient->agents ? LOOK : GOOD, "",
              patient->agents ? "the agents could not be tested" : "no agents in the settings");
    else if (*bad)
        FOUND(f, BAD, "see docs/sandbox.md, \"Programs\"", "does not start in its sandbox: %s",
              bad);
    else
        FOUND(f, GOOD, "", "each starts in its sandbox: %s", good);
}

static enum health verdict_named(const char *name) {
    for (enum health verdict = GOOD; name && verdict < VERDICTS; verdict++)
        if (strcmp(VERDICT_NAMES[verdict], name) == 0)
            return verdict;
    return LOOK;
}

/* What runs receive of the operator's logins, and how long that works. */
static void check_logins(const struct patient *patient, struct finding *f) {
    char text[AGENTS_TEXT] = "";
    enum health worst = GOOD;
    size_t i;
    json_t *row;
    json_array_foreach(patient->tried, i, row) {
        const json_t *login = json_object_get(row, "login");
        const char *login_text = json_string_value(json_object_get(login, "text"));
        enum health verdict = verdict_named(json_string_value(json_object_get(login, "verdict")));
        if (!login_text)
            continue;
        names_add(text, sizeof text, json_string_value(json_object_get(row, "agent")), login_text);
        worst = verdict > worst ? verdict : worst;
    }
    FOUND(f, worst, worst == GOOD ? "" : "a long-lived token: token_file in overseer.toml(5)", "%s",
          *text ? text : "runs get no login of yours; keys and token_file are in overseer.toml(5)");
}

static void check_tmux(const struct patient *patient, struct finding *f) {
    char path[PATH_MAX];
    (void)patient;
    if (program_find("tmux", path))
        FOUND(f, GOOD, "", "tmux is installed");
    else
        FOUND(f, LOOK, "install tmux, to attach to the terminals of agents", "tmux was not found");
}

static void check_postgres(const struct patient *patient, struct finding *f) {
    char line[128] = "";
    if (program_says("psql", line, sizeof line))
        FOUND(f, GOOD, "", "%s", line);
    else if (store_address_is_postgres(patient->typed->at.store))
        FOUND(f, LOOK, "install postgresql-client, to inspect the store by hand",
              "psql was not found");
    else
        FOUND(f, GOOD, "", "not used: the store is SQLite");
}

/* The daemon knows; it is not asked while it cannot work. */
static void check_replication(const struct patient *patient, struct finding *f) {
    struct trouble trouble;
    json_t *status = json_is_true(json_object_get(patient->health, "ok"))
                         ? daemon_call(&patient->typed->at, "status.show", json_object(), &trouble)
                         : NULL;
    const char *warning = json_string_value(json_object_get(status, "storeWarning"));
    const char *engine =
        json_string_value(json_object_get(json_object_get(status, "daemon"), "store"));
    if (warning)
        FOUND(f, LOOK, "use synchronous replication: docs/postgres.md", "%s", warning);
    else if (!status)
        FOUND(f, GOOD, "", "not checked: no working daemon answers");
    else if (engine && strcmp(engine, "sqlite") == 0)
        FOUND(f, GOOD, "", "not used: the store is SQLite");
    else
        FOUND(f, GOOD, "", "a failover loses no acknowledged write, or there is no standby");
    json_decref(status);
}

/* ---- settings ---- */

static uint32_t agents_declared(const struct typed *typed) {
    struct config_source source = {.file = typed_text(typed, "config")};
    struct config_report *report = memory_new(sizeof *report);
    struct settings *settings = config_load(&source, report);
    uint32_t count = settings ? settings->lists.agent_count : 0;
    config_free(settings);
    free(report);
    return count;
}

/* Which of these hooks a repository on this machine has; a bare repository has no .git. */
static bool hooks_find(struct str repo, char *names, size_t size) {
    static const char *const HOOKS[] = {"pre-receive",  "update",      "reference-transaction",
                                        "post-receive", "post-update", "proc-receive"};
    static const char *const PLACES[] = {"/.git/hooks/", "/hooks/"};
    char path[PATH_MAX];
    names[0] = 0;
    for (size_t i = 0; i < count_of(HOOKS); i++)
        for (size_t k = 0; k < count_of(PLACES); k++) {
            int length =
                snprintf(path, sizeof path, "%.*s%s%s", STR_ARG(repo), PLACES[k], HOOKS[i]);
            size_t used = strlen(names);
            if (length < (int)sizeof path && access(path, X_OK) == 0)
                snprintf(names + used, size - used, "%s%s", used ? ", " : "", HOOKS[i]);
        }
    return names[0];
}

/* True: it has hooks that a landing does not run. `run`: the names of those that it runs. */
static bool hooks_tell(const struct repo_setting *repo, struct finding *f, char *run, size_t size) {
    char names[128] = "";
    if (repo->path.len == 0 || repo->path.at[0] != '/' ||
        !hooks_find(repo->path, names, sizeof names))
        return false;
    size_t used = strlen(run);
    if (repo->landing.hooks)
        snprintf(run + used, size - used, "%s%s of %.*s", used ? ", " : "", names,
                 STR_ARG(str_cut(repo->name, 60)));
    else
        FOUND(f, LOOK, "set landing.hooks = true to run them for each landing",
              "landing does not run the hooks of the repository %.*s: %s",
              STR_ARG(str_cut(repo->name, 60)), names);
    return !repo->landing.hooks;
}

static void check_hooks(const struct patient *patient, struct finding *f) {
    struct config_source source = {.file = typed_text(patient->typed, "config")};
    struct config_report *report = memory_new(sizeof *report);
    struct settings *settings = config_load(&source, report);
    char run[240] = "";
    if (settings) {
        struct repo_setting first = settings_first_repository(settings);
        bool reported = hooks_tell(&first, f, run, sizeof run);
        for (uint32_t i = 0; i < settings->lists.repo_count && !reported; i++)
            reported = hooks_tell(&settings->lists.repos[i], f, run, sizeof run);
        if (!reported && *run)
            FOUND(f, GOOD, "", "a landing runs %s", run);
        else if (!reported)
            FOUND(f, GOOD, "", "no repository has hooks that a landing would run");
    }
    config_free(settings);
    free(report);
}

static void check_settings(const struct patient *patient, struct finding *f) {
    char path[PATH_MAX] = "";
    const char *file = typed_text(patient->typed, "config");
    struct config_source source = {.file = file};
    struct config_report *report = memory_new(sizeof *report);
    if (!file && config_find(path, sizeof path))
        file = path;
    struct settings *settings = config_load(&source, report);
    if (settings && file)
        FOUND(f, GOOD, "", "%.250s is valid", file);
    else if (settings)
        FOUND(f, GOOD, "", "there is no settings file, so all settings have their defaults");
    else
        FOUND(f, BAD, "overseer config check shows every mistake", "%s",
              report->count ? report->problems[0] : "the settings cannot be read");
    config_free(settings);
    free(report);
}

/* ---- the daemon and its store ---- */

static void check_daemon(const struct patient *patient, struct finding *f) {
    const char *version = json_string_value(json_object_get(patient->health, "version"));
    const char *trouble = json_string_value(json_object_get(patient->health, "trouble"));
    if (!patient->health)
        FOUND(f, LOOK, "overseer up", "no daemon answers on %.200s", patient->typed->at.socket);
    else if (json_is_true(json_object_get(patient->health, "safeMode")))
        FOUND(f, BAD, "overseer down, then: overseer doctor --rebuild", "%s",
              trouble ? trouble : "safe mode");
    else if (!json_is_true(json_object_get(patient->health, "ok")))
        FOUND(f, BAD, "is the database there?", "it is running but cannot work: %s",
              trouble && *trouble ? trouble : "it has not joined the store");
    else if (version && strcmp(version, OVERSEER_VERSION) != 0)
        FOUND(f, LOOK, service_restart_command(service_of_process(patient->pid)),
              "the daemon is %s, this program is %s", version, OVERSEER_VERSION);
    else if (patient->pid && program_was_replaced(patient->pid))
        FOUND(f, LOOK, service_restart_command(service_of_process(patient->pid)),
              "it still runs the program from before an upgrade; a restart does not stop agents");
    else
        FOUND(f, GOOD, "", "answers on %.200s", patient->typed->at.socket);
}

/* The daemon reports on the store that it uses; overseerd --maintain examines any other store. */
static void check_store(const struct patient *patient, struct finding *f) {
    const char *store = typed_text(patient->typed, "store");
    char *words[] = {
        (char *)(uintptr_t)patient->daemon, (char *)"--maintain",     (char *)"examine",
        store ? (char *)"--store" : NULL,   (char *)(uintptr_t)store, NULL};
    struct trouble trouble;
    if (patient->health && !store) {
        bool well = json_is_true(json_object_get(patient->health, "ok"));
        FOUND(f, well ? GOOD : BAD, well ? "" : "see the daemon's line",
              well ? "in use by the daemon" : "the daemon cannot use it");
        return;
    }
    if (!patient->has_daemon_program) {
        FOUND(f, LOOK, "", "cannot be checked without overseerd");
        return;
    }
    struct child *child = memory_new(sizeof *child);
    child->words = words;
    child->quiet = true;
    bool ran = child_run(child, &trouble);
    int length = (int)strcspn(child->output, "\n");
    bool damaged = ran && child->status == 3;
    FOUND(f, ran && child->status == 0 ? GOOD : BAD,
          damaged                     ? "overseer doctor --rebuild, or: overseer restore FILE"
          : ran && child->status == 0 ? ""
                                      : "see docs/damage.md",
          "%.*s", length > 300 ? 300 : length, child->output);
    free(child);
}

static void check_folder(const struct patient *patient, struct finding *f) {
    struct stat about;
    if (stat(patient->folder, &about) != 0)
        FOUND(f, LOOK, "overseer up creates it", "%.250s does not exist yet", patient->folder);
    else if (about.st_uid != geteuid())
        FOUND(f, BAD, "make yourself its owner: chown", "%.250s belongs to another user",
              patient->folder);
    else if (about.st_mode & 077)
        FOUND(f, BAD, "chmod 700 that folder", "%.250s is accessible to other users",
              patient->folder);
    else
        FOUND(f, GOOD, "", "%.250s is accessible only to you", patient->folder);
}

static void check_socket(const struct patient *patient, struct finding *f) {
    struct stat about;
    const char *socket = patient->typed->at.socket;
    if (stat(socket, &about) != 0)
        FOUND(f, patient->health ? BAD : GOOD, "", "%.250s does not exist%s", socket,
              patient->health ? "" : ", because no daemon is running");
    else if ((about.st_mode & 077) || about.st_uid != geteuid())
        FOUND(f, BAD, "chmod 600 it, or restart the daemon", "%.250s is accessible to other users",
              socket);
    else
        FOUND(f, GOOD, "", "accessible only to you");
}

static void check_registration(const struct patient *patient, struct finding *f) {
    struct registered registered;
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/daemon.json", patient->folder);
    if (registered_read(&patient->typed->at, &registered)) {
        close(registered.pidfd);
        FOUND(f, GOOD, "", "process %d", (int)registered.pid);
    } else if (access(path, F_OK) == 0)
        FOUND(f, LOOK, "the next start replaces it",
              "daemon.json names a process that ended without removing it");
    else
        FOUND(f, patient->health ? LOOK : GOOD, "", "no daemon is registered here");
}

/* Does the daemon outlive a logout? It is asked for the daemon that runs; without one, for that of the user's service manager. */
static void check_logout(const struct patient *patient, struct finding *f) {
    enum service service = patient->pid ? service_of_process(patient->pid) : SERVICE_USER;
    if (!logout_is_known())
        FOUND(f, GOOD, "", "there is no systemd here: a logout does not end the daemon");
    else if (service == SERVICE_SYSTEM || service == SERVICE_NONE)
        FOUND(f, GOOD, "", "the daemon does not belong to a login, and goes on after logout");
    else if (service == SERVICE_SESSION && !logout_ends_sessions())
        FOUND(f, GOOD, "", "the daemon goes on after logout (KillUserProcesses=no)");
    else if (service == SERVICE_SESSION)
        FOUND(f, LOOK,
              "loginctl enable-linger; overseer down; systemctl --user enable --now overseerd",
              "the daemon and its agents end at logout: it was started in a login session");
    else if (logout_lingers())
        FOUND(f, GOOD, "", "your service manager and the daemon go on after logout (linger)");
    else
        FOUND(f, LOOK, "loginctl enable-linger",
              "a daemon that `systemctl --user` runs ends at logout, and its agents with it");
}

/* ---- the machine ---- */

static void check_disk(const struct patient *patient, struct finding *f) {
    struct statvfs about;
    char at[PATH_MAX];
    snprintf(at, sizeof at, "%s", patient->folder);
    while (statvfs(at, &about) != 0 && strrchr(at, '/') > at)
        *strrchr(at, '/') = 0;
    double free_gib = (double)about.f_bavail * (double)about.f_frsize / 1073741824.0;
    enum health verdict = free_gib < 0.25 ? BAD : free_gib < 2 ? LOOK : GOOD;
    FOUND(f, verdict, verdict == GOOD ? "" : "free disk space: the store and worktrees grow",
          "%.1f GiB are free", free_gib);
}

static void check_clock(const struct patient *patient, struct finding *f) {
    struct timex clock = {0};
    bool synced = adjtimex(&clock) >= 0 && !(clock.status & STA_UNSYNC);
    (void)patient;
    if (clock_now() < (int64_t)1700000000 * 1000000)
        FOUND(f, BAD, "set the clock", "the system clock is wrong: it shows a time in the past");
    else if (!synced)
        FOUND(f, LOOK, "enable time synchronization (NTP)",
              "the clock is not known to be synchronized");
    else
        FOUND(f, GOOD, "", "the clock is synchronized");
}

/* As the daemon has it; without a daemon it is not known, and counts as on. */
static bool sandbox_is_off(const struct patient *patient) {
    json_t *shown =
        patient->health ? typed_ask(patient->typed, "config.show", json_object()) : NULL;
    bool off = shown && strstr(setting_of(shown, "sandbox.mode"), "off") != NULL;
    json_decref(shown);
    return off;
}

static void check_sandbox(const struct patient *patient, struct finding *f) {
    char path[PATH_MAX];
    bool there = program_find("bwrap", path), works = there && bwrap_works(path);
    long landlock = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (sandbox_is_off(patient))
        FOUND(f, LOOK, "remove sandbox.mode from the settings",
              "runs have no sandbox (sandbox.mode = off), so agents ask before they use a tool");
    else if (works && landlock > 0)
        FOUND(f, GOOD, "", "runs are sandboxed by bwrap+landlock (Landlock %ld)", landlock);
    else if (works)
        FOUND(f, LOOK, "a kernel with Landlock adds a second layer", "runs are sandboxed by bwrap");
    else
        FOUND(f, LOOK, there ? "allow user namespaces, or see sandbox.mode" : "install bubblewrap",
              "%s, so agents ask before they use a tool: %s",
              landlock > 0 ? "runs are sandboxed by landlock alone" : "runs have no sandbox",
              there ? "bubblewrap may not create namespaces" : "bubblewrap was not found");
}

/* Reports what the daemon found when it tried: what this program may do says nothing about the daemon. */
static void check_limits(const struct patient *patient, struct finding *f) {
    char path[PATH_MAX + 16], line[sizeof f->text] = "";
    snprintf(path, sizeof path, "%s/limits", patient->folder);
    FILE *file = fopen(path, "re");
    if (file && fgets(line, sizeof line, file))
        line[strcspn(line, "\n")] = 0;
    if (file)
        fclose(file);
    if (!*line)
        FOUND(f, GOOD, "", "no limits are set for runs (sandbox.memory, cpu, processes)");
    else if (strstr(line, "not held") || strstr(line, "each process"))
        FOUND(f, LOOK, "delegate a control group: Delegate=yes in the unit, or sandbox.cgroup",
              "%s", line);
    else
        FOUND(f, GOOD, "", "%s", line);
}

/* Each run that is followed needs one open file. */
static void check_files(const struct patient *patient, struct finding *f) {
    struct rlimit files = {0};
    (void)patient;
    unsigned long long most = getrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_max : 0;
    unsigned long long beside = LIMIT_FILES_BESIDE, runs = most > beside ? most - beside : 0;
    if (most >= LIMIT_FILES)
        FOUND(f, GOOD, "", "enough files can be open for %d runs at once",
              LIMIT_FILES - LIMIT_FILES_BESIDE);
    else
        FOUND(f, LOOK, "raise the hard limit: LimitNOFILE= in the unit, or limits.conf(5)",
              "at most %llu files can be open: enough for %llu runs at once", most, runs);
}

/* ---- all checks ---- */

static const struct check {
    const char *name;
    void (*look)(const struct patient *patient, struct finding *ret);
} CHECKS[] = {
    {"program", check_programs},    {"hold", check_hold},
    {"agents", check_agents},       {"starts", check_starts},
    {"logins", check_logins},       {"settings", check_settings},
    {"daemon", check_daemon},       {"registration", check_registration},
    {"store", check_store},         {"folder", check_folder},
    {"socket", check_socket},       {"disk", check_disk},
    {"clock", check_clock},         {"git", check_git},
    {"hooks", check_hooks},         {"tmux", check_tmux},
    {"postgresql", check_postgres}, {"replication", check_replication},
    {"sandbox", check_sandbox},     {"limits", check_limits},
    {"files", check_files},         {"logout", check_logout},
};

static void finding_print(const char *name, const struct finding *f) {
    static const enum tint TINTED[VERDICTS] = {TINT_GOOD, TINT_WARN, TINT_BAD};
    tint_on(stdout, TINTED[f->verdict]);
    printf("%s", VERDICT_NAMES[f->verdict]);
    tint_off(stdout, TINTED[f->verdict]);
    printf("%*s%-12s  ", (int)(6 - strlen(VERDICT_NAMES[f->verdict])), "", name);
    text_wrap(stdout, f->text, TEXT_AT, TEXT_AT);
    if (!*f->next)
        return;
    printf("%*s→ ", TEXT_AT, "");
    text_wrap(stdout, f->next, TEXT_AT + 2, TEXT_AT + 2);
}

static enum health all_print(const struct patient *patient) {
    enum health worst = GOOD;
    json_t *list = json_array();
    for (size_t i = 0; i < count_of(CHECKS); i++) {
        struct finding f = {0};
        CHECKS[i].look(patient, &f);
        worst = f.verdict > worst ? f.verdict : worst;
        if (!patient->typed->as_json)
            finding_print(CHECKS[i].name, &f);
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:s}", "check", CHECKS[i].name, "verdict",
                                        VERDICT_NAMES[f.verdict], "text", f.text, "do", f.next));
    }
    json_t *json = json_pack("{s:b, s:o}", "ok", worst != BAD, "checks", list);
    if (patient->typed->as_json) {
        json_dumpf(json, stdout, JSON_INDENT(2));
        printf("\n");
    }
    json_decref(json);
    return worst;
}

/* The daemon's own program tries the agents, with the environment of the running daemon. */
static json_t *agents_tried(const struct patient *patient) {
    char pid[24];
    const char *config = typed_text(patient->typed, "config");
    struct trouble trouble;
    snprintf(pid, sizeof pid, "%d", (int)patient->pid);
    char *words[] = {(char *)(uintptr_t)patient->daemon, (char *)"--try-agents",    pid,
                     config ? (char *)"--config" : NULL, (char *)(uintptr_t)config, NULL};
    json_t *list = json_array();
    if (!patient->has_daemon_program || patient->agents == 0)
        return list;
    struct child *child = memory_new(sizeof *child);
    child->words = words;
    child->quiet = true;
    bool ran = child_run(child, &trouble);
    for (char *line = child->output, *end; ran && (end = strchr(line, '\n')); line = end + 1) {
        json_t *row = json_loadb(line, (size_t)(end - line), 0, NULL);
        if (json_is_string(json_object_get(row, "agent")) && /* log lines may be JSON, too */
            json_is_string(json_object_get(row, "said")))
            json_array_append(list, row);
        json_decref(row);
    }
    free(child);
    return list;
}

static pid_t daemon_registered(const struct typed *typed) {
    struct registered registered;
    if (!registered_read(&typed->at, &registered))
        return 0;
    close(registered.pidfd);
    return registered.pid;
}

/* STORE-05: with the operator's consent, what can be read of a damaged store becomes a new store. */
static int rebuild(struct typed *typed) {
    static char *words[] = {(char *)"admin", (char *)"rebuild"};
    struct typed again = *typed;
    int used;
    again.command = command_find(2, words, &used);
    return maintain_run(&again);
}

int doctor_run(struct typed *typed) {
    long status = 0;
    struct patient patient = {.typed = typed};
    if (typed_flag(typed, "rebuild"))
        return rebuild(typed);
    if (typed_flag(typed, "live"))
        return live_run(typed);
    patient.has_daemon_program = program_find("overseerd", patient.daemon);
    patient.folder = typed->at.folder;
    patient.agents = agents_declared(typed);
    patient.pid = daemon_registered(typed);
    char *text = daemon_get(&typed->at, "/healthz", &status, &typed->trouble);
    patient.health = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    patient.tried = agents_tried(&patient);
    enum health worst = all_print(&patient);
    json_decref(patient.tried);
    json_decref(patient.health);
    if (worst == GOOD && !typed->as_json)
        hint("Everything is in order.");
    return worst == BAD ? EXIT_TROUBLE : 0;
}
