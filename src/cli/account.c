/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a login of Overseer's own for an agent, so that no run has a person's: overseer account add. */
#include "base/memory.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/init/init.h"
#include "cli/place.h"
#include "cli/term.h"
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { TOKEN_LEAST = 16, TOKEN_MOST = 4096, LINE_MOST = 4096 };

struct adding {
    struct typed *typed;
    const char *name, *agent;
    const struct agent_setting *setting; /* of that agent */
    char file[PATH_MAX];                 /* the settings */
    char folder[PATH_MAX - 64];          /* of this login */
    char made[PATH_MAX];                 /* the token, or the HOME with the login */
    const char *key;                     /* setting that names it */
};

/* How each kind of program makes a login of its own. */
static const struct login_way {
    const char *kinds, *program, *word, *key;
} WAYS[] = {{"claude claude-agent-acp", "claude", "setup-token", "token_file"},
            {"codex codex-acp", "codex", "login", "login_home"}};

static const struct login_way *way_of(const struct agent_setting *agent) {
    struct str kind = agent->kind.len ? agent->kind : agent->id;
    for (size_t i = 0; i < count_of(WAYS); i++)
        if (str_has_word(str_of(WAYS[i].kinds), kind))
            return &WAYS[i];
    return NULL;
}

/* ---- what is asked for ---- */

static bool name_is_plain(const char *name) {
    size_t length =
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
    return length > 0 && length <= LIMIT_AGENT && !name[length];
}

static bool agent_take(struct adding *it, const struct settings *settings) {
    for (uint32_t i = 0; i < settings->lists.agent_count; i++)
        if (str_equal(settings->lists.agents[i].id, str_of(it->agent)))
            it->setting = &settings->lists.agents[i];
    if (!it->setting) {
        trouble_make(&it->typed->trouble, ERROR_NOT_FOUND, "No agent is called %.60s.", it->agent);
        trouble_next(&it->typed->trouble,
                     "overseer doctor lists the agents; overseer init adds them.");
        return false;
    }
    if (!way_of(it->setting) && !typed_flag(it->typed, "token-stdin")) {
        trouble_make(&it->typed->trouble, ERROR_INVALID,
                     "Overseer does not know how the program of agent %.60s makes a login.",
                     it->agent);
        trouble_next(&it->typed->trouble,
                     "Give it a token: overseer account add %s "
                     "--agent %s --token-stdin",
                     it->name, it->agent);
        return false;
    }
    return true;
}

/* ---- a token ---- */

/* One line; a password prompt does not show it. */
static bool token_read(struct adding *it, char token[TOKEN_MOST]) {
    struct termios before, quiet;
    bool hides = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &before) == 0;
    if (hides) {
        quiet = before;
        quiet.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
        fprintf(stderr, "Token (it is not shown): ");
    }
    bool read = fgets(token, TOKEN_MOST, stdin) != NULL;
    if (hides) {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
        fprintf(stderr, "\n");
    }
    size_t length = read ? strcspn(token, "\r\n") : 0;
    bool whole = read && token[length];
    token[read ? length : 0] = 0;
    for (size_t i = 0; i < length; i++)
        whole = whole && token[i] > ' ' && token[i] < 0x7f;
    if (whole && length >= TOKEN_LEAST)
        return true;
    trouble_make(&it->typed->trouble, ERROR_INVALID,
                 "That is no token: one line of %d to %d visible characters is expected.",
                 TOKEN_LEAST, TOKEN_MOST - 2);
    trouble_next(&it->typed->trouble, "Nothing was changed.");
    return false;
}

/* A new file takes the place of the old one: a run never reads half a token. */
static bool token_write(struct adding *it, const char *token) {
    char copy[PATH_MAX + 8];
    snprintf(it->made, sizeof it->made, "%s/token", it->folder);
    snprintf(copy, sizeof copy, "%s.new", it->made);
    unlink(copy);
    int fd = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool written = fd >= 0 && dprintf(fd, "%s\n", token) > 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    if (written && rename(copy, it->made) == 0)
        return true;
    return trouble_make(&it->typed->trouble, ERROR_REFUSED_BY_STORE,
                        "%.900s cannot be written: %s.", it->made, strerror(errno));
}

static bool token_make(struct adding *it) {
    char token[TOKEN_MOST];
    it->key = "token_file";
    bool made = token_read(it, token) && token_write(it, token);
    explicit_bzero(token, sizeof token);
    return made;
}

/* ---- the program's own command, in a HOME of its own ---- */

static bool program_of(struct adding *it, const struct login_way *way, char path[PATH_MAX]) {
    if (it->setting->program.len > 0 &&
        str_equal(it->setting->kind.len ? it->setting->kind : it->setting->id,
                  str_of(way->program))) {
        snprintf(path, PATH_MAX, "%.*s", STR_ARG(it->setting->program));
        return true;
    }
    if (program_find(way->program, path))
        return true;
    trouble_make(&it->typed->trouble, ERROR_NOT_FOUND, "The program %s was not found.",
                 way->program);
    trouble_next(&it->typed->trouble, "Install it, or use --token-stdin.");
    return false;
}

/* It talks to the person: terminal and signals are its own while it runs. */
static bool program_run(struct adding *it, const char *path, const char *word, const char *home) {
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        unsetenv("CLAUDE_CONFIG_DIR");
        unsetenv("CODEX_HOME");
        unsetenv("XDG_CONFIG_HOME");
        if (setenv("HOME", home, 1) == 0 && chdir(home) == 0)
            execl(path, path, word, (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    trouble_make(&it->typed->trouble, ERROR_CONFLICT, "%.500s %s did not succeed.", path, word);
    trouble_next(&it->typed->trouble, "Nothing was changed. Try again, or use --token-stdin.");
    return false;
}

static bool login_make(struct adding *it) {
    const struct login_way *way = way_of(it->setting);
    char path[PATH_MAX], home[PATH_MAX];
    snprintf(home, sizeof home, "%s/home", it->folder);
    if (!term_can_ask()) {
        trouble_make(&it->typed->trouble, ERROR_INVALID,
                     "%s %s talks to a person, and there is no terminal.", way->program, way->word);
        trouble_next(&it->typed->trouble, "Use a terminal, or --token-stdin.");
        return false;
    }
    if (!program_of(it, way, path))
        return false;
    place_make(home);
    fprintf(stderr, "Running %s %s with a HOME of its own: your own login stays as it is.\n",
            way->program, way->word);
    if (!program_run(it, path, way->word, home))
        return false;
    if (strcmp(way->key, "token_file") == 0) /* it prints the token, and keeps none */
        return token_make(it);
    it->key = way->key;
    snprintf(it->made, sizeof it->made, "%s", home);
    return true;
}

/* ---- the settings ---- */

struct place {  /* lines of the agent's table */
    long after; /* offset behind the line with its id; -1: not found */
    bool has_account, has_key;
};

static bool line_sets(const char *line, const char *key) {
    size_t length = strlen(key);
    line += strspn(line, " \t");
    return strncmp(line, key, length) == 0 && strchr(" \t=", line[length]);
}

static struct place place_of(const struct adding *it, FILE *file) {
    char line[LINE_MOST], id[128];
    struct place found = {.after = -1}, now = {.after = -1};
    bool agents = false;
    while (fgets(line, sizeof line, file)) {
        const char *at = line + strspn(line, " \t");
        if (*at == '[') {
            agents = strncmp(at, "[[agents]]", 10) == 0;
            found = now.after >= 0 ? now : found;
            now = (struct place){.after = -1};
        } else if (agents && sscanf(at, "id = \"%127[^\"]\"", id) == 1 &&
                   strcmp(id, it->agent) == 0)
            now.after = ftell(file);
        now.has_account |= agents && line_sets(line, "account");
        now.has_key |= agents && line_sets(line, it->key);
    }
    return now.after >= 0 ? now : found;
}

static void lines_write(const struct adding *it, FILE *to, const char *before) {
    fprintf(to, "%saccount = ", before);
    toml_text(to, it->name);
    fprintf(to, "\n%s%s = ", before, it->key);
    toml_text(to, it->made);
    fprintf(to, "\n");
}

static bool copy_make(const struct adding *it, FILE *from, const char *copy, long after) {
    struct stat about;
    int fd = fstat(fileno(from), &about) == 0
                 ? open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, about.st_mode & 0777)
                 : -1;
    FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;
    long at = 0;
    rewind(from);
    for (int c; to && (c = fgetc(from)) != EOF;) {
        fputc(c, to);
        if (++at == after)
            lines_write(it, to, "");
    }
    bool written = to && fflush(to) == 0 && fsync(fd) == 0;
    return to && fclose(to) == 0 && written;
}

static bool file_edit(struct adding *it, FILE *from, long after) {
    char real[PATH_MAX], copy[PATH_MAX + 8];
    struct config_report *report = memory_new(sizeof *report);
    bool found = realpath(it->file, real) != NULL;
    snprintf(copy, sizeof copy, "%s.new", found ? real : "");
    bool written = found && copy_make(it, from, copy, after);
    struct config_source source = {.file = copy};
    struct settings *settings = written ? config_load(&source, report) : NULL;
    bool valid = settings && rename(copy, real) == 0;
    config_free(settings);
    free(report);
    if (valid)
        return true;
    if (found)
        unlink(copy);
    trouble_make(&it->typed->trouble, ERROR_REFUSED_BY_STORE, "%.900s was not changed.", it->file);
    trouble_next(&it->typed->trouble, "Add the lines that were shown yourself.");
    return false;
}

/* init's rule: what a person wrote is never rewritten; lines are added, and shown first. */
static bool settings_offer(struct adding *it) {
    FILE *file = fopen(it->file, "re");
    struct place place = file ? place_of(it, file) : (struct place){.after = -1};
    bool may = place.after >= 0 && !place.has_account && !place.has_key, done = true;
    printf("%s\n  [[agents]] with id = \"%s\"\n", it->file, it->agent);
    lines_write(it, stdout, may ? "+ " : "  ");
    fflush(stdout);
    if (!may)
        printf("That agent has %s already. Change these lines yourself.\n",
               place.has_account ? "an account"
               : place.has_key   ? it->key
                                 : "no table of its own, or one");
    else if (it->typed->yes || person_accepts("Add the lines marked with +?"))
        done = file_edit(it, file, place.after);
    else
        printf("Nothing was added. The login is in %s.\n", it->made);
    if (file)
        fclose(file);
    if (done && may)
        hint("Next: overseer config reload, then: overseer doctor --live");
    return done;
}

/* ---- the command ---- */

static bool adding_make(struct adding *it, const struct settings *settings) {
    if (!name_is_plain(it->name))
        return trouble_make(&it->typed->trouble, ERROR_INVALID,
                            "The name of an account has letters, digits, - and _ only.");
    if (!agent_take(it, settings))
        return false;
    snprintf(it->folder, sizeof it->folder, "%.3900s/accounts/%s", it->typed->at.folder, it->name);
    if (it->typed->dry_run) {
        printf("The login would be kept in %s\n", it->folder);
        return true;
    }
    place_make(it->folder);
    bool made = typed_flag(it->typed, "token-stdin") ? token_make(it) : login_make(it);
    return made && settings_offer(it);
}

int account_add_run(struct typed *typed) {
    struct adding it = {
        .typed = typed, .name = typed_text(typed, "name"), .agent = typed_text(typed, "agent")};
    const char *file = typed_text(typed, "file");
    struct config_report *report = memory_new(sizeof *report);
    if (file)
        snprintf(it.file, sizeof it.file, "%s", file);
    else
        config_find(it.file, sizeof it.file);
    struct config_source source = {.file = it.file[0] ? it.file : NULL};
    struct settings *settings = config_load(&source, report);
    bool well = settings
                    ? adding_make(&it, settings)
                    : trouble_make(&typed->trouble, ERROR_INVALID, "%.400s", report->problems[0]);
    config_free(settings);
    free(report);
    return well ? 0 : trouble_tell(&typed->trouble, typed->as_json);
}
