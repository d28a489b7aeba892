/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and stops the daemon by hand. CLI-05. */
#include "cli/child.h"
#include "cli/command.h"
#include "cli/place.h"
#include "cli/run.h"
#include "cli/term.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 32, READY_MS = 20000, END_MS = 60000, LOOK_MS = 50, TAIL = 2048 };

/* ---- is the daemon there? ---- */

struct answer {
    long
        status; /* 200: it works; another number: it runs, but cannot work yet; 0: no daemon answers */
    bool safe;
    char trouble[512]; /* as the daemon reports it */
};

static struct answer daemon_says(struct typed *typed) {
    struct answer answer = {0};
    char *text = daemon_get(&typed->at, "/readyz", &answer.status, &typed->trouble);
    json_t *json = text ? json_loads(text, 0, NULL) : NULL;
    const char *trouble = json_string_value(json_object_get(json, "trouble"));
    answer.safe = json_is_true(json_object_get(json, "safeMode"));
    snprintf(answer.trouble, sizeof answer.trouble, "%s", trouble ? trouble : "");
    json_decref(json);
    free(text);
    return answer;
}

static bool quiet; /* another command starts the daemon */

static int up_tell(struct typed *typed, const char *log, bool already) {
    if (quiet)
        return 0;
    struct registered registered;
    bool known = registered_read(&typed->at, &registered);
    log = known && *registered.log ? registered.log : log;
    json_t *json = json_pack("{s:i, s:s, s:s, s:b}", "pid", known ? (int)registered.pid : 0,
                             "socket", typed->at.socket, "log", log, "already", already);
    if (typed->as_json && json) {
        json_dumpf(json, stdout, JSON_INDENT(2));
        printf("\n");
    } else {
        printf("The daemon %s.\n  pid     %d\n  socket  %s\n  log     %s\n",
               already ? "is already running" : "runs", known ? (int)registered.pid : 0,
               typed->at.socket, log);
        hint("Next: overseer status");
    }
    json_decref(json);
    if (known)
        close(registered.pidfd);
    return 0;
}

/* ---- up ---- */

/* Flags are passed on as they were typed (CONFIG-12). */
static void words_make(struct typed *typed, const char *program, const char *log, char **words) {
    static char names[WORDS][FLAG_NAME + 2], numbers[WORDS][24];
    const struct command *command = typed->command;
    size_t count = 0;
    words[count++] = (char *)(uintptr_t)program;
    words[count++] = (char *)"--log-file";
    words[count++] = (char *)(uintptr_t)log;
    if (typed->socket_given) {
        words[count++] = (char *)"--socket";
        words[count++] = typed->at.socket;
    }
    for (size_t i = 0; command_flag(command, i) && count + 2 < WORDS; i++) {
        const struct field *flag = command_flag(command, i);
        const json_t *value = json_object_get(typed->params, flag->name);
        if (!value || json_is_false(value))
            continue;
        snprintf(names[i], sizeof names[i], "--%s", flag->name);
        words[count++] = names[i];
        snprintf(numbers[i], sizeof numbers[i], "%lld", (long long)json_integer_value(value));
        if (json_is_integer(value))
            words[count++] = numbers[i];
        else if (json_is_string(value))
            words[count++] = (char *)(uintptr_t)json_string_value(value);
    }
}

/* Starts it in a session of its own, so that it keeps running when the user logs out. */
static pid_t daemon_start(char *const *words, const char *log) {
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    int nothing = open("/dev/null", O_RDONLY);
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    setsid();
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    if (out >= 0) {
        dup2(out, STDOUT_FILENO);
        dup2(out, STDERR_FILENO);
    }
    execv(words[0], words);
    _exit(127);
}

/* Prints only what was written since `from`: older failures are over. */
static void tail_tell(const char *log, long from) {
    char text[TAIL + 1];
    FILE *file = fopen(log, "re");
    if (!file)
        return;
    if (fseek(file, 0, SEEK_END) == 0 && ftell(file) - from > TAIL)
        from = ftell(file) - TAIL;
    fseek(file, from, SEEK_SET);
    size_t length = fread(text, 1, TAIL, file);
    fclose(file);
    text[length] = 0;
    const char *at = text + length;
    for (int lines = 0; at > text && lines < 4; at--)
        lines += at[-1] == '\n';
    fprintf(stderr, "%s", at > text ? at + 1 : text);
}

static int ended_tell(struct typed *typed, const char *log, long from) {
    trouble_make(&typed->trouble, ERROR_INTERNAL, "The daemon exited immediately.");
    trouble_next(&typed->trouble, "Its log is %s; `overseer doctor` checks the installation.", log);
    if (!typed->as_json)
        tail_tell(log, from);
    return trouble_tell(&typed->trouble, typed->as_json);
}

/* The daemon runs, and reports why it does nothing. */
static int stuck_tell(struct typed *typed, const struct answer *answer, const char *log) {
    if (answer->safe)
        trouble_make(&typed->trouble, ERROR_SAFE_MODE, "The daemon is running in %s",
                     answer->trouble);
    else
        trouble_make(&typed->trouble, ERROR_BUSY, "%s%s",
                     answer->status ? "The daemon is running, but cannot work yet: "
                                    : "The daemon does not answer yet.",
                     answer->status ? answer->trouble : "");
    trouble_next(&typed->trouble, "See: overseer doctor; its log is %s", log);
    return trouble_tell(&typed->trouble, typed->as_json);
}

static int up_wait(struct typed *typed, pid_t pid, const char *log, long from) {
    int status;
    struct answer answer = {0};
    for (int passed = 0; passed < READY_MS; passed += LOOK_MS) {
        answer = daemon_says(typed);
        if (answer.status == 200)
            return up_tell(typed, log, false);
        if (answer.safe)
            break;
        if (waitpid(pid, &status, WNOHANG) == pid)
            return ended_tell(typed, log, from);
        usleep(LOOK_MS * 1000);
    }
    return stuck_tell(typed, &answer, log);
}

int up_run(struct typed *typed) {
    char program[PATH_MAX], log[PATH_MAX + 32];
    char *words[WORDS] = {0};
    snprintf(log, sizeof log, "%s/overseerd.log", typed->at.folder);
    if (daemon_says(typed).status != 0)
        return up_tell(typed, log, true);
    if (!program_find("overseerd", program)) {
        trouble_make(&typed->trouble, ERROR_INTERNAL,
                     "overseerd was not found beside overseer or in PATH.");
        return trouble_tell(&typed->trouble, typed->as_json);
    }
    words_make(typed, program, log, words);
    if (typed->dry_run)
        return typed_would_run(typed, words);
    place_make(typed->at.folder);
    struct stat before;
    long from = stat(log, &before) == 0 ? (long)before.st_size : 0;
    pid_t pid = daemon_start(words, log);
    return up_wait(typed, pid, log, from);
}

bool daemon_ensure(struct typed *typed) {
    static char *words[] = {(char *)"up"};
    int used;
    struct typed up = *typed;
    if (daemon_says(typed).status == 200)
        return true;
    up.params = json_object();
    up.command = command_find(1, words, &used);
    quiet = true;
    int status = up_run(&up);
    quiet = false;
    json_decref(up.params);
    if (status == 0 && !typed->as_json)
        hint("The daemon was started; `overseer down` stops it.");
    return status == 0;
}

/* ---- down ---- */

static int down_tell(struct typed *typed, bool was_there, int pid) {
    if (typed->as_json)
        printf("{\"stopped\": %s, \"pid\": %d}\n", was_there ? "true" : "false", pid);
    else
        printf(was_there ? "The daemon has stopped. Everything is kept; `overseer up` continues.\n"
                         : "No daemon is running.\n");
    return 0;
}

/* Stops exactly the process that registered: never selects it by name, never by pid alone. */
int down_run(struct typed *typed) {
    struct registered registered;
    if (!registered_read(&typed->at, &registered)) {
        if (daemon_says(typed).status == 0)
            return down_tell(typed, false, 0);
        trouble_make(&typed->trouble, ERROR_CONFLICT,
                     "A daemon answers on %s, but its registration file daemon.json is missing.",
                     typed->at.socket);
        trouble_next(&typed->trouble, "Stop it where it was started.");
        return trouble_tell(&typed->trouble, typed->as_json);
    }
    if (typed->dry_run) {
        char what[64];
        snprintf(what, sizeof what, "SIGTERM to process %d", (int)registered.pid);
        return typed_would(typed, what);
    }
    syscall(SYS_pidfd_send_signal, registered.pidfd, SIGTERM, NULL, 0);
    struct pollfd ended = {registered.pidfd, POLLIN, 0};
    int gone = poll(&ended, 1, END_MS);
    close(registered.pidfd);
    if (gone > 0)
        return down_tell(typed, true, (int)registered.pid);
    trouble_make(&typed->trouble, ERROR_BUSY, "Process %d has not ended yet.", (int)registered.pid);
    trouble_next(&typed->trouble, "It may still be writing; try again, or see %s", registered.log);
    return trouble_tell(&typed->trouble, typed->as_json);
}
