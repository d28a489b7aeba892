/* SPDX-License-Identifier: Apache-2.0 */
/* Finds agent sessions on this machine that Overseer did not start: panes of the default tmux server, and sessions of
 * Claude Code by the files that it keeps. Nothing here writes: it only queries tmux and reads files. */
#include "base/memory.h"
#include "cli/adopt/adopt.h"

#include "cli/agent_list.h"
#include "cli/child.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT_MOST = 1 << 16, LINE_MOST = 4096, PROCESSES_MOST = 256 };

/* ---- files and programs ---- */

static ssize_t file_read(const char *path, char *text, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = 0;
    return length;
}

/* In the child: standard output goes into the pipe, and no other file of ours is open. */
static void program_become(char *const *words, int to) {
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(to, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execv(words[0], words);
    _exit(127);
}

/* Reads the output of a program. Returns the length; -1: it could not be run, or it failed. */
static ssize_t program_read(char *const *words, char *text, size_t size) {
    int ends[2], status;
    size_t length = 0;
    ssize_t got;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0)
        program_become(words, ends[1]);
    close(ends[1]);
    while (pid > 0 && length + 1 < size &&
           (got = read(ends[0], text + length, size - 1 - length)) > 0)
        length += (size_t)got;
    close(ends[0]);
    text[length] = 0;
    bool ended = pid > 0 && waitpid(pid, &status, 0) == pid;
    return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? (ssize_t)length : -1;
}

/* ---- processes ---- */

struct processes {
    struct found {
        struct process process;
        char program[32], folder[PATH_MAX], words[LINE_MOST];
    } at[PROCESSES_MOST];
    size_t count;
};

/* Parses what follows the name, which may contain anything. */
static bool process_read(pid_t pid, struct process *ret) {
    char path[64], text[LINE_MOST];
    unsigned long long started;
    long long tty;
    char state;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    const char *after = file_read(path, text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
    if (!after ||
        sscanf(after,
               ") %c %*d %*d %*d %lld %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
               "%*d %*d %llu",
               &state, &tty, &started) != 3 ||
        state == 'Z' || state == 'X')
        return false;
    *ret = (struct process){.pid = pid, .started = started, .tty = (uint64_t)tty};
    return true;
}

bool process_is_there(const struct process *process) {
    struct process now;
    return process_read(process->pid, &now) && now.started == process->started;
}

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Is it an agent that people use interactively? Recognised by the name that it was started with, or by the name of its
 * script. */
static bool program_is_known(const char *word, char program[32]) {
    size_t length = strcspn(base_of(word), ".");
    for (size_t i = 0; i < AGENTS_KNOWN_COUNT; i++) {
        const char *name = AGENTS_KNOWN[i].program;
        if (strlen(name) == length && strncmp(name, base_of(word), length) == 0) {
            snprintf(program, 32, "%s", AGENTS_KNOWN[i].name);
            return true;
        }
    }
    return false;
}

static bool is_interpreter(const char *word) {
    static const char *const NAMES[] = {"node", "bun", "deno", "python3", "python"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(base_of(word), NAMES[i]) == 0)
            return true;
    return false;
}

static bool found_read(pid_t pid, struct found *ret) {
    char path[64];
    struct stat about;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (stat(path, &about) != 0 || about.st_uid != getuid())
        return false;
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    ssize_t length = file_read(path, ret->words, sizeof ret->words);
    if (length <= 0)
        return false;
    const char *second = ret->words + strlen(ret->words) + 1;
    bool script = second < ret->words + length && is_interpreter(ret->words);
    if (!program_is_known(script ? second : ret->words, ret->program) ||
        !process_read(pid, &ret->process))
        return false;
    for (ssize_t i = 0; i + 1 < length; i++)
        ret->words[i] = ret->words[i] ? ret->words[i] : ' ';
    snprintf(path, sizeof path, "/proc/%d/cwd", (int)pid);
    length = readlink(path, ret->folder, sizeof ret->folder - 1);
    ret->folder[length > 0 ? length : 0] = 0;
    return true;
}

static void processes_find(struct processes *ret) {
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    ret->count = 0;
    while (folder && ret->count < PROCESSES_MOST && (entry = readdir(folder)))
        if (isdigit((unsigned char)entry->d_name[0]))
            ret->count += found_read((pid_t)atoi(entry->d_name), &ret->at[ret->count]);
    if (folder)
        closedir(folder);
}

/* ---- panes ---- */

static ssize_t tmux_read(char *const *asked, char *text, size_t size) {
    char tmux[PATH_MAX];
    char *words[16] = {tmux, (char[]){"-L"}, (char[]){"default"}};
    size_t count = 3;
    if (!program_find("tmux", tmux))
        return -1;
    unsetenv("TMUX"); /* the default server, even if we run inside another one */
    for (; *asked && count < 15; asked++)
        words[count++] = *asked;
    return program_read(words, text, size);
}

ssize_t pane_read(const char *pane, char *text, size_t size) {
    char target[16];
    snprintf(target, sizeof target, "%s", pane);
    char *words[] = {(char[]){"capture-pane"}, (char[]){"-p"}, (char[]){"-t"}, target, NULL};
    return tmux_read(words, text, size);
}

/* The agent process that was started first in that terminal. */
static const struct found *found_on(const struct processes *processes, const char *tty) {
    struct stat about;
    const struct found *first = NULL;
    if (stat(tty, &about) != 0)
        return NULL;
    for (size_t i = 0; i < processes->count; i++) {
        const struct found *found = &processes->at[i];
        if (found->process.tty == about.st_rdev &&
            (!first || found->process.started < first->process.started))
            first = found;
    }
    return first;
}

static struct session *session_add(struct sessions *sessions) {
    if (sessions->count == SESSIONS_MOST)
        return NULL;
    struct session *session = &sessions->at[sessions->count++];
    memset(session, 0, sizeof *session);
    return session;
}

static void transcript_note(struct session *session) {
    struct stat about;
    if (session->transcript[0] && stat(session->transcript, &about) == 0 &&
        about.st_mtime > session->changed_at)
        session->changed_at = about.st_mtime;
}

static void pane_add(struct sessions *sessions, const struct processes *processes, const char *home,
                     const char *line) {
    char pane[16], tty[128];
    long long active;
    int used = 0;
    if (sscanf(line, "%15s %127s %lld %n", pane, tty, &active, &used) != 3)
        return;
    const struct found *found = found_on(processes, tty);
    struct session *session = found ? session_add(sessions) : NULL;
    if (!session)
        return;
    snprintf(session->name, sizeof session->name, "tmux:%s", pane);
    snprintf(session->pane, sizeof session->pane, "%s", pane);
    snprintf(session->program, sizeof session->program, "%s", found->program);
    snprintf(session->folder, sizeof session->folder, "%s", found->folder);
    session->process = found->process;
    session->changed_at = active;
    if (claude_hint(home, found->process.pid, session))
        claude_transcript(home, session->id, session->transcript);
}

static void panes_find(struct sessions *sessions, const struct processes *processes,
                       const char *home) {
    static char text[OUTPUT_MOST];
    char *words[] = {(char[]){"list-panes"}, (char[]){"-a"}, (char[]){"-F"},
                     (char[]){"#{pane_id} #{pane_tty} #{window_activity} ."}, NULL};
    char *rest;
    if (tmux_read(words, text, sizeof text) <= 0)
        return;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        pane_add(sessions, processes, home, line);
}

/* ---- sessions of Claude Code ---- */

static void claude_folder(const char *home, char path[PATH_MAX]) {
    const char *set = getenv("CLAUDE_CONFIG_DIR");
    if (set && *set == '/')
        snprintf(path, PATH_MAX, "%s", set);
    else
        snprintf(path, PATH_MAX, "%s/.claude", home);
}

static void member_take(const json_t *json, const char *name, char *to, size_t size) {
    const char *text = json_string_value(json_object_get(json, name));
    if (text)
        snprintf(to, size, "%s", text);
}

bool claude_hint(const char *home, pid_t pid, struct session *ret) {
    char folder[PATH_MAX], path[PATH_MAX + 64];
    claude_folder(home, folder);
    snprintf(path, sizeof path, "%s/sessions/%d.json", folder, (int)pid);
    json_t *json = json_load_file(path, 0, NULL);
    member_take(json, "sessionId", ret->id, sizeof ret->id);
    member_take(json, "status", ret->state, sizeof ret->state);
    json_decref(json);
    return json && ret->id[0];
}

/* Is it an id without pattern characters? It comes from a file. */
static bool id_is_plain(const char *id) {
    return *id && strspn(id, "0123456789abcdefABCDEF-") == strlen(id);
}

bool claude_transcript(const char *home, const char *id, char path[PATH_MAX]) {
    char folder[PATH_MAX], pattern[PATH_MAX + 128];
    glob_t found;
    claude_folder(home, folder);
    snprintf(pattern, sizeof pattern, "%s/projects/*/%s.jsonl", folder, id);
    bool is = id_is_plain(id) && glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
    path[0] = 0;
    if (is) {
        snprintf(path, PATH_MAX, "%s", found.gl_pathv[0]);
        globfree(&found);
    }
    return is;
}

/* Reads the working folder: the first line that names one. */
static void folder_read(const char *path, char folder[PATH_MAX]) {
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    for (int i = 0; file && i < 32 && !folder[0] && getline(&line, &room, file) > 0; i++) {
        json_t *json = json_loads(line, 0, NULL);
        member_take(json, "cwd", folder, PATH_MAX);
        json_decref(json);
    }
    free(line);
    if (file)
        fclose(file);
}

static bool is_listed(const struct sessions *sessions, const char *id) {
    for (size_t i = 0; i < sessions->count; i++)
        if (strcmp(sessions->at[i].id, id) == 0)
            return true;
    return false;
}

/* The process of the session: the one that reports this session itself, that was started with its id, or the only one
 * in its folder. */
static const struct found *found_of(const struct processes *processes, const char *home,
                                    const struct session *session, struct session *hint) {
    const struct found *here = NULL;
    size_t count = 0;
    for (size_t i = 0; i < processes->count; i++) {
        const struct found *found = &processes->at[i];
        *hint = (struct session){0};
        if (strcmp(found->program, "claude") != 0)
            continue;
        bool hinted = claude_hint(home, found->process.pid, hint);
        if ((hinted && strcmp(hint->id, session->id) == 0) || strstr(found->words, session->id))
            return found;
        if (!hinted && strcmp(found->folder, session->folder) == 0) {
            here = found;
            count++;
        }
    }
    *hint = (struct session){0};
    return count == 1 ? here : NULL;
}

static void transcript_add(struct sessions *sessions, const struct processes *processes,
                           const char *home, const char *path) {
    static struct session hint;
    char id[SESSION_ID];
    struct stat about;
    snprintf(id, sizeof id, "%.*s", (int)strcspn(base_of(path), "."), base_of(path));
    bool recent = stat(path, &about) == 0 && time(NULL) - about.st_mtime <= SESSION_RECENT;
    struct session *session =
        recent && id_is_plain(id) && !is_listed(sessions, id) ? session_add(sessions) : NULL;
    if (!session)
        return;
    snprintf(session->id, sizeof session->id, "%s", id);
    snprintf(session->name, sizeof session->name, "claude:%.*s", SESSION_NAME - 8, id);
    snprintf(session->program, sizeof session->program, "claude");
    snprintf(session->transcript, sizeof session->transcript, "%s", path);
    folder_read(path, session->folder);
    session->changed_at = about.st_mtime;
    const struct found *found = found_of(processes, home, session, &hint);
    if (found)
        session->process = found->process;
    if (found && !session->folder[0]) /* nothing was said in the session yet */
        snprintf(session->folder, sizeof session->folder, "%s", found->folder);
    snprintf(session->state, sizeof session->state, "%s", hint.state);
}

static void transcripts_find(struct sessions *sessions, const struct processes *processes,
                             const char *home) {
    char folder[PATH_MAX], pattern[PATH_MAX + 32];
    glob_t found;
    claude_folder(home, folder);
    snprintf(pattern, sizeof pattern, "%s/projects/*/*.jsonl", folder);
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        transcript_add(sessions, processes, home, found.gl_pathv[i]);
    globfree(&found);
}

/* ---- all sessions ---- */

void sessions_find(const char *home, struct sessions *ret) {
    struct processes *processes = memory_new(sizeof *processes);
    ret->count = 0;
    processes_find(processes);
    panes_find(ret, processes, home);
    for (size_t i = 0; i < ret->count; i++)
        transcript_note(&ret->at[i]);
    transcripts_find(ret, processes, home);
    free(processes);
}

/* A session that runs in a pane can also be named by its own id. */
const struct session *session_called(const struct sessions *sessions, const char *what) {
    const struct session *found = NULL;
    size_t count = 0;
    const char *id = strncmp(what, "claude:", 7) == 0 ? what + 7 : what;
    for (size_t i = 0; i < sessions->count; i++) {
        const struct session *session = &sessions->at[i];
        if (strcmp(session->name, what) == 0 || strcmp(session->pane, what) == 0 ||
            strcmp(session->id, id) == 0)
            return *what ? session : NULL;
        if (strlen(id) >= 4 && strncmp(session->id, id, strlen(id)) == 0) {
            found = session;
            count++;
        }
    }
    return count == 1 ? found : NULL;
}
