/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/child.h"

#include "base/memory.h"
#include "cli/term.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 100, SHOW_AFTER_MS = 700, BAR = 24 };

/* ---- finding ---- */

static bool is_program(const char *path) {
    return access(path, X_OK) == 0;
}

bool program_find(const char *name, char path[PATH_MAX]) {
    char own[PATH_MAX - 64];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    char *slash = NULL;
    if (length > 0) {
        own[length] = 0;
        slash = strrchr(own, '/');
    }
    if (slash) {
        snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash - own), own, name);
        if (is_program(path))
            return true;
    }
    const char *at = getenv("PATH");
    while (at && *at) {
        size_t part = strcspn(at, ":");
        snprintf(path, PATH_MAX, "%.*s/%s", (int)part, at, name);
        if (part > 0 && part < PATH_MAX - 64 && is_program(path))
            return true;
        at += part + (at[part] == ':');
    }
    return false;
}

/* ---- progress display ---- */

static long long size_of(const char *path) {
    struct stat about;
    return path && stat(path, &about) == 0 ? (long long)about.st_size : -1;
}

static void bar_print(int percent) {
    fprintf(stderr, " [");
    for (int i = 0; i < BAR; i++)
        fputc(i * 100 < percent * BAR ? '#' : '.', stderr);
    fprintf(stderr, "] %d%%", percent);
}

/* Shows the size if there is a file that grows, and the elapsed time in any case. */
static void progress_print(const struct child *child, int passed_ms) {
    char part[PATH_MAX + 8], span[AGE_TEXT];
    snprintf(part, sizeof part, "%s.part", child->grows ? child->grows : "");
    long long made = size_of(part) >= 0 ? size_of(part) : size_of(child->grows);
    long long whole = size_of(child->whole);
    fprintf(stderr, "\r\033[K%s … %s", child->what, age_format(passed_ms / 1000, span));
    if (made >= 0 && whole > 0)
        bar_print(made >= whole ? 99 : (int)(made * 100 / whole));
    else if (made >= 0)
        fprintf(stderr, "  %.1f MiB", (double)made / 1048576);
    fflush(stderr);
}

/* ---- running ---- */

struct watching {
    struct child *child;
    int out, err; /* pipes of its output; -1: read to the end */
    bool drawn;
    size_t kept;
};

static void progress_clear(struct watching *watching) {
    if (watching->drawn)
        fprintf(stderr, "\r\033[K");
    watching->drawn = false;
}

static void pass_on(struct watching *watching, int *from, FILE *to) {
    char bytes[4096];
    ssize_t count = read(*from, bytes, sizeof bytes);
    struct child *child = watching->child;
    if (count <= 0) {
        close(*from);
        *from = -1;
        return;
    }
    size_t room = sizeof child->output - 1 - watching->kept;
    size_t kept = (size_t)count < room ? (size_t)count : room;
    memcpy(child->output + watching->kept, bytes, kept);
    watching->kept += kept;
    if (child->quiet)
        return;
    progress_clear(watching);
    fwrite(bytes, 1, (size_t)count, to);
    fflush(to);
}

static void watch(struct watching *watching) {
    bool shows = watching->child->what && !watching->child->quiet && term_is(stderr);
    for (int passed = 0; watching->out >= 0 || watching->err >= 0;) {
        struct pollfd ready[2] = {{watching->out, POLLIN, 0}, {watching->err, POLLIN, 0}};
        if (poll(ready, 2, LOOK_MS) == 0) {
            passed += LOOK_MS;
            if (shows && passed >= SHOW_AFTER_MS) {
                progress_print(watching->child, passed);
                watching->drawn = true;
            }
            continue;
        }
        if (watching->out >= 0 && ready[0].revents)
            pass_on(watching, &watching->out, stdout);
        if (watching->err >= 0 && ready[1].revents)
            pass_on(watching, &watching->err, stderr);
    }
    progress_clear(watching);
}

static pid_t start(const struct child *child, const int out[2], const int err[2]) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    close(out[0]), close(out[1]), close(err[0]), close(err[1]);
    execv(child->words[0], child->words);
    fprintf(stderr, "%s: %s\n", child->words[0], strerror(errno));
    _exit(127);
}

bool child_run(struct child *child, struct trouble *trouble) {
    int out[2], err[2], status = 0;
    memset(child->output, 0, sizeof child->output);
    if (pipe(out) != 0)
        return trouble_make(trouble, ERROR_NO_MEMORY, "A pipe cannot be created: %s.",
                            strerror(errno));
    if (pipe(err) != 0) {
        close(out[0]), close(out[1]);
        return trouble_make(trouble, ERROR_NO_MEMORY, "A pipe cannot be created: %s.",
                            strerror(errno));
    }
    pid_t pid = start(child, out, err);
    close(out[1]), close(err[1]);
    struct watching watching = {.child = child, .out = out[0], .err = err[0]};
    watch(&watching);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return trouble_make(trouble, ERROR_INTERNAL, "%s failed.", child->words[0]);
    child->status = WEXITSTATUS(status);
    return true;
}

bool bwrap_works(char path[PATH_MAX]) {
    char *words[] = {path,
                     (char *)"--unshare-user-try",
                     (char *)"--unshare-pid",
                     (char *)"--unshare-net",
                     (char *)"--ro-bind",
                     (char *)"/",
                     (char *)"/",
                     (char *)"--dev",
                     (char *)"/dev",
                     (char *)"--proc",
                     (char *)"/proc",
                     (char *)"--",
                     (char *)"/bin/true",
                     NULL};
    struct trouble trouble;
    struct child *child = memory_new(sizeof *child);
    child->words = words;
    child->quiet = true;
    bool works = child_run(child, &trouble) && child->status == 0;
    free(child);
    return works;
}
