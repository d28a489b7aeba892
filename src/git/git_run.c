/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one git command, so that it runs nothing else.
 *
 * The command gets a fully specified environment, a process group of its own, and limits on time and output. It
 * inherits the verb's locks: if this process is killed, the next verb waits until the last of our commands has ended. */
#include "base/memory.h"
#include "git/git_state.h"

#include "base/buffer.h"
#include "base/seam.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    WORDS = 192,     /* arguments of one command */
    VARIABLES = 256, /* environment variables */
    CHUNK = 65536,
    GRACE_MS = 2000, /* between SIGTERM and SIGKILL: git removes its lock files */
    LOOK_MS = 100    /* how long to wait for the pipes of an ended command */
};

struct words {
    char *at[WORDS + 1];
    unsigned count;
};

struct child {
    pid_t pid;
    int out, err;
    struct buffer output;
    size_t output_most;
    char errors[GIT_ERRORS];
    size_t errors_length;
    bool too_long, too_much;
};

/* ---- failures ---- */

bool git_fail(struct git_call *call, enum git_result result, const char *format, ...) {
    if (!git_well(call))
        return false;
    char text[GIT_ERRORS + 256];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    size_t used = length < 0 ? 0 : (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
    for (size_t i = 0; i < used; i++) /* file names may contain anything */
        if ((unsigned char)text[i] < ' ' || (unsigned char)text[i] > '~')
            text[i] = text[i] == '\n' ? ' ' : '?';
    call->answer.result = result;
    call->answer.why = arena_copy(call->arena, (struct str){text, used});
    return false;
}

bool git_fail_errno(struct git_call *call, const char *what, struct str path) {
    bool full = errno == ENOSPC || errno == EDQUOT;
    bool later = errno == EAGAIN || errno == ENOMEM || errno == EMFILE || errno == ENFILE;
    return git_fail(call,
                    full    ? GIT_NO_SPACE
                    : later ? GIT_BUSY
                            : GIT_FAILED,
                    "%s %.*s: %s", what, STR_ARG(path), strerror(errno));
}

static bool says(struct str text, const char *what) {
    return text.len && memmem(text.at, text.len, what, strlen(what));
}

/* The word after "-C folder" or "-c setting". */
static struct str verb_of(const char *line) {
    while (*line == '-') {
        line += strcspn(line, " ") + 1;
        line += strcspn(line, " ") + 1;
    }
    return (struct str){line, strcspn(line, " ")};
}

bool git_fail_command(struct git_call *call, enum git_command command) {
    static const struct {
        const char *words;
        enum git_result result;
    } KNOWN[] = {{".lock': File exists", GIT_LOCKED},
                 {"Resource temporarily unavailable", GIT_BUSY},
                 {"No space left on device", GIT_NO_SPACE},
                 {"Disk quota exceeded", GIT_NO_SPACE}};
    enum git_result result = GIT_FAILED;
    for (size_t i = 0; i < count_of(KNOWN); i++)
        if (says(call->err, KNOWN[i].words))
            result = KNOWN[i].result;
    struct str verb = verb_of(GIT_ROWS[command].line);
    return git_fail(call, result, "git %.*s: %.*s", STR_ARG(verb), STR_ARG(call->err));
}

/* ---- arguments ---- */

struct str git_fill(struct arena *arena, const char *line, const struct str *args, unsigned count) {
    char text[8192];
    size_t used = 0;
    for (const char *at = line; *at && used < sizeof text;) {
        struct str piece = {at, 1};
        bool stands = at[0] == '$' && at[1] >= '1' && at[1] <= '9';
        if (stands) {
            must((unsigned)(at[1] - '1') < count);
            piece = args[at[1] - '1'];
        }
        must(used + piece.len < sizeof text);
        if (piece.len)
            memcpy(text + used, piece.at, piece.len);
        used += piece.len;
        at += stands ? 2 : 1;
    }
    return arena_copy(arena, (struct str){text, used});
}

struct str git_ref(struct git_call *call, enum git_ref ref, struct str one, struct str two) {
    return git_fill(call->arena, GIT_REF_ROWS[ref].name, (const struct str[]){one, two}, 2);
}

struct str git_branch(struct git_call *call, const struct git_run *run) {
    struct str name = run->branch.len ? run->branch
                                      : arena_format(call->arena, "%.*s/%.*s", STR_ARG(run->goal),
                                                     STR_ARG(run->run));
    return git_ref(call, GIT_REF_BRANCH, name, STR(""));
}

static void word_add(struct words *words, char *word) {
    must(words->count < WORDS);
    words->at[words->count++] = word;
}

/* The highest $n of a line: $* begins after it. */
static unsigned numbered(const char *line) {
    unsigned most = 0;
    for (; *line; line++)
        if (line[0] == '$' && line[1] >= '1' && line[1] <= '9' && (unsigned)(line[1] - '0') > most)
            most = (unsigned)(line[1] - '0');
    return most;
}

/* A message may be longer than git_fill() can hold. */
static char *word_make(struct git_call *call, struct str token, const struct str *args,
                       unsigned count) {
    if (token.len == 2 && token.at[0] == '$' && token.at[1] >= '1' && token.at[1] <= '9') {
        must((unsigned)(token.at[1] - '1') < count);
        return arena_cstr(call->arena, args[token.at[1] - '1']);
    }
    char *line = arena_cstr(call->arena, token);
    return arena_cstr(call->arena, git_fill(call->arena, line, args, count));
}

/* Expands a table word that says how the other side of a local path is run; NULL: it is no such word. */
static const char *other_side_of(const struct git_call *call, struct str token) {
    if (str_equal(token, STR("$upload")))
        return GIT_UPLOAD;
    if (str_equal(token, STR("$lands")) && call->context->hooks)
        return GIT_RECEIVE_HOOKED;
    return str_equal(token, STR("$lands")) || str_equal(token, STR("$receive")) ? GIT_RECEIVE
                                                                                : NULL;
}

static void words_make(struct git_call *call, const char *line, const struct str *args,
                       unsigned count, struct words *words) {
    struct str program = call->context->program;
    word_add(words, arena_cstr(call->arena, program.len ? program : STR("git")));
    for (const char *at = line; *at; at += strspn(at, " ")) {
        struct str token = {at, strcspn(at, " ")};
        at += token.len;
        const char *other_side = other_side_of(call, token);
        if (other_side) {
            if (call->local)
                word_add(words, (char *)(uintptr_t)other_side);
        } else if (str_equal(token, STR("$boxed"))) {
            word_add(words, (char *)(uintptr_t)GIT_BOXED);
        } else if (str_equal(token, STR("$*"))) {
            for (unsigned i = numbered(line); i < count; i++)
                word_add(words, arena_cstr(call->arena, args[i]));
        } else {
            word_add(words, word_make(call, token, args, count));
        }
    }
    words->at[words->count] = NULL;
}

/* ---- environment ---- */

static void variable_add(struct git_call *call, struct words *words, const char *name,
                         struct str value) {
    struct str text = arena_format(call->arena, "%s=%.*s", name, STR_ARG(value));
    must(words->count < VARIABLES);
    words->at[words->count++] = arena_cstr(call->arena, text);
}

static unsigned setting_add(struct git_call *call, struct words *words, unsigned number,
                            const char *name, struct str value) {
    char key[32];
    snprintf(key, sizeof key, "GIT_CONFIG_KEY_%u", number);
    variable_add(call, words, key, str_of(name));
    snprintf(key, sizeof key, "GIT_CONFIG_VALUE_%u", number);
    variable_add(call, words, key, value);
    return number + 1;
}

static void settings_make(struct git_call *call, struct words *words) {
    unsigned number = 0;
    for (unsigned i = 0; i < GIT_SETTING_COUNT; i++)
        number =
            setting_add(call, words, number, GIT_SETTINGS[i].name, str_of(GIT_SETTINGS[i].value));
    if (call->context->helper.len)
        number = setting_add(call, words, number, "credential.helper", call->context->helper);
    variable_add(call, words, "GIT_CONFIG_COUNT", arena_format(call->arena, "%u", number));
}

static void place_make(struct git_call *call, struct words *words, enum git_place place) {
    if (place == GIT_OURS || place == GIT_MEASURE || place == GIT_INDEX)
        variable_add(call, words, "GIT_DIR", call->private_clone);
    if (place == GIT_PUBLISHED)
        variable_add(call, words, "GIT_DIR", call->clone);
    if (place == GIT_FRESH)
        variable_add(call, words, "GIT_DIR",
                     arena_format(call->arena, "%.*s/.git", STR_ARG(call->tree)));
    if (place == GIT_FRESH || place == GIT_MEASURE)
        variable_add(call, words, "GIT_WORK_TREE", call->tree);
    if (place == GIT_MEASURE || place == GIT_INDEX)
        variable_add(call, words, "GIT_INDEX_FILE", call->index);
}

static void people_make(struct git_call *call, struct words *words) {
    const struct git_context *context = call->context;
    struct str now = arena_format(call->arena, "@%lld +0000",
                                  (long long)(call->at_us > 0 ? call->at_us / 1000000 : 0));
    variable_add(call, words, "GIT_AUTHOR_NAME", call->author.len ? call->author : context->name);
    variable_add(call, words, "GIT_AUTHOR_EMAIL", call->author.len ? call->mail : context->email);
    variable_add(call, words, "GIT_AUTHOR_DATE", call->date.len ? call->date : now);
    variable_add(call, words, "GIT_COMMITTER_NAME", context->name);
    variable_add(call, words, "GIT_COMMITTER_EMAIL", context->email);
    variable_add(call, words, "GIT_COMMITTER_DATE", now);
}

static unsigned boxed_add(struct git_call *call, struct words *words, unsigned number,
                          struct str word) {
    char name[32];
    must(number < GIT_BOXED_WORDS);
    snprintf(name, sizeof name, "%s%02o", GIT_BOXED_NAME, number);
    variable_add(call, words, name, word);
    return number + 1;
}

/* The words of the sandbox, then git with the repository to read. */
static void boxed_make(struct git_call *call, struct words *words) {
    const struct git_context *context = call->context;
    unsigned number = 0;
    if (!call->boxed_tree.len)
        return;
    bool boxed =
        !seam("git-unboxed"); /* without the sandbox: for a test, as in git_open_beneath() */
    for (uint32_t i = 0; i < context->sandbox_count && boxed; i++) {
        struct str word = context->sandbox_prefix[i];
        if (str_equal(word, STR("$tree")))
            word = call->boxed_tree;
        else if (str_equal(word, STR("$objects")))
            word = arena_format(call->arena, "%.*s/objects", STR_ARG(call->clone));
        number = boxed_add(call, words, number, word);
    }
    number = boxed_add(call, words, number, context->program.len ? context->program : STR("git"));
    for (unsigned i = 0; i < GIT_BOXED_PROGRAM_COUNT; i++)
        number = boxed_add(call, words, number, str_of(GIT_BOXED_PROGRAM[i]));
    boxed_add(call, words, number,
              arena_format(call->arena, "%.*s/.git", STR_ARG(call->boxed_tree)));
}

static void environment_make(struct git_call *call, struct words *words, enum git_place place) {
    for (unsigned i = 0; i < GIT_ENVIRONMENT_COUNT; i++)
        variable_add(call, words, GIT_ENVIRONMENT[i].name, str_of(GIT_ENVIRONMENT[i].value));
    if (call->context->ssh_socket.len)
        variable_add(call, words, "SSH_AUTH_SOCK", call->context->ssh_socket);
    settings_make(call, words);
    place_make(call, words, place);
    boxed_make(call, words);
    people_make(call, words);
    words->at[words->count] = NULL;
}

/* ---- a process ---- */

/* The command gets descriptors 0 to 2, then the locks, and no other descriptor of ours. */
static int actions_make(struct git_call *call, posix_spawn_file_actions_t *actions, int out,
                        int err) {
    const char *input = call->input.len ? arena_cstr(call->arena, call->input) : "/dev/null";
    int code = posix_spawn_file_actions_addopen(actions, 0, input, O_RDONLY, 0);
    code = code ? code : posix_spawn_file_actions_adddup2(actions, out, 1);
    code = code ? code : posix_spawn_file_actions_adddup2(actions, err, 2);
    for (unsigned i = 0; i < call->lock_count; i++)
        code = code ? code : posix_spawn_file_actions_adddup2(actions, call->locks[i], 3 + (int)i);
    code = code ? code : posix_spawn_file_actions_addchdir_np(actions, "/");
    return code ? code
                : posix_spawn_file_actions_addclosefrom_np(actions, 3 + (int)call->lock_count);
}

static int attributes_make(posix_spawnattr_t *attributes) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setpgroup(attributes, 0);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETSIGMASK);
}

static int child_spawn(struct git_call *call, struct child *child, const struct words *words,
                       const struct words *environment, int out, int err) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int code = actions_make(call, &actions, out, err);
    code = code ? code : attributes_make(&attributes);
    if (code == 0)
        code = posix_spawnp(&child->pid, words->at[0], &actions, &attributes,
                            (char *const *)(uintptr_t)words->at,
                            (char *const *)(uintptr_t)environment->at);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return code;
}

static bool child_start(struct git_call *call, struct child *child, const struct words *words,
                        const struct words *environment) {
    int out[2], err[2];
    if (pipe2(out, O_CLOEXEC) < 0)
        return git_fail_errno(call, "pipe", STR(""));
    if (pipe2(err, O_CLOEXEC) < 0) {
        close(out[0]);
        close(out[1]);
        return git_fail_errno(call, "pipe", STR(""));
    }
    int code = child_spawn(call, child, words, environment, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    child->out = out[0];
    child->err = err[0];
    if (code == 0)
        return true;
    close(out[0]);
    close(err[0]);
    errno = code;
    return git_fail_errno(call, "cannot run", str_of(words->at[0]));
}

int64_t git_now_ms(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

bool git_is_over(const struct git_call *call) {
    const atomic_bool *ends = call->context->ends;
    return git_now_ms() >= call->until_ms || (ends && atomic_load(ends));
}

static bool output_add(struct child *child, const char *at, size_t length) {
    return child->output.len + length <= child->output_most &&
           buffer_add(&child->output, at, length);
}

/* False: that pipe is now closed. */
static bool child_read(struct child *child, int *fd) {
    char chunk[CHUNK];
    ssize_t length = read(*fd, chunk, sizeof chunk);
    if (length < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (length > 0) {
        if (fd == &child->err)
            child->errors_length =
                tail_add(child->errors, sizeof child->errors, child->errors_length,
                         (struct str){chunk, (size_t)length});
        else if (!output_add(child, chunk, (size_t)length))
            child->too_much = true;
        return true;
    }
    close(*fd);
    *fd = -1;
    return false;
}

/* It has ended but is not reaped, so no other process can have its pid. */
static bool child_has_ended(const struct child *child) {
    siginfo_t seen = {0};
    return waitid(P_PID, (id_t)child->pid, &seen, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           seen.si_pid == child->pid;
}

/* Reads until both pipes are closed, or it has ended and is silent, or a limit is reached. */
static void child_listen(const struct git_call *call, struct child *child, int64_t until_ms) {
    while ((child->out >= 0 || child->err >= 0) && !child->too_much) {
        int64_t left = until_ms - git_now_ms();
        if (left <= 0 || git_is_over(call)) {
            child->too_long = true;
            return;
        }
        struct pollfd fds[2] = {{.fd = child->out, .events = POLLIN},
                                {.fd = child->err, .events = POLLIN}};
        int ready = poll(fds, 2, left < LOOK_MS ? (int)left : LOOK_MS);
        if (ready == 0 && child_has_ended(child))
            return;
        if (ready > 0 && fds[0].revents)
            child_read(child, &child->out);
        if (ready > 0 && fds[1].revents)
            child_read(child, &child->err);
    }
}

static bool child_wait(const struct child *child, int64_t until_ms) {
    while (!child_has_ended(child)) {
        if (git_now_ms() >= until_ms)
            return false;
        usleep(1000);
    }
    return true;
}

/* Sends SIGTERM first, so that git removes its lock files; then kills the whole group, which we created. */
static int child_end(struct child *child, int64_t until_ms) {
    if (child->too_long || child->too_much || !child_wait(child, until_ms)) {
        child->too_long |= !child->too_much;
        kill(-child->pid, SIGTERM);
        child_wait(child, git_now_ms() + GRACE_MS);
    }
    kill(-child->pid, SIGKILL);
    int status = 0;
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (child->out >= 0)
        close(child->out);
    if (child->err >= 0)
        close(child->err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#ifdef OVERSEER_SEAMS
pid_t git_child; /* for a test that kills it */
#endif

static int child_carry(struct git_call *call, struct child *child, enum git_command command) {
    int64_t begun_ms = git_now_ms(), within_us = git_command_within_us(command);
    int64_t until_ms = begun_ms + (within_us ? within_us : call->context->within_us) / 1000;
#ifdef OVERSEER_SEAMS
    git_child = child->pid;
#endif
    (void)seam("git-running");
    child_listen(call, child, until_ms);
    int status = child_end(child, until_ms);
    call->out = arena_copy(call->arena, buffer_str(&child->output));
    call->err = arena_copy(call->arena, (struct str){child->errors, child->errors_length});
    buffer_free(&child->output);
    if (child->too_long)
        git_fail(call, GIT_TOO_LONG, "git was killed after %lld s: %s",
                 (long long)((git_now_ms() - begun_ms) / 1000), GIT_ROWS[command].line);
    if (child->too_much)
        git_fail(call, GIT_TOO_MUCH, "git printed more than %zu bytes: %s", child->output_most,
                 GIT_ROWS[command].line);
    return git_well(call) ? status : -1;
}

int git_try(struct git_call *call, enum git_command command, const struct str *args,
            unsigned count) {
    if (!git_well(call))
        return -1;
    (void)seam("git-step");
    const struct git_row *row = &GIT_ROWS[command];
    struct words words = {0}, environment = {0};
    struct child child = {
        .out = -1, .err = -1, .output_most = call->output_most ? call->output_most : GIT_OUTPUT};
    words_make(call, row->line, args, count, &words);
    environment_make(call, &environment, row->place);
    if (!child_start(call, &child, &words, &environment))
        return -1;
    int status = child_carry(call, &child, command);
    call->input = STR("");
    return status;
}

bool git_do(struct git_call *call, enum git_command command, const struct str *args,
            unsigned count) {
    int status = git_try(call, command, args, count);
    return status == 0 || (status > 0 && git_fail_command(call, command));
}

struct str git_line(struct git_call *call) {
    size_t length = 0;
    while (length < call->out.len && call->out.at[length] != '\n' && call->out.at[length])
        length++;
    return (struct str){call->out.at, length};
}

bool git_is_commit_name(struct str s) {
    for (size_t i = 0; i < s.len; i++)
        if (!(s.at[i] >= '0' && s.at[i] <= '9') && !(s.at[i] >= 'a' && s.at[i] <= 'f'))
            return false;
    return s.len == 40;
}

bool git_commit_known(struct git_call *call, struct str commit) {
    if (!git_well(call))
        return false;
    if (!git_is_commit_name(commit))
        return git_fail(call, GIT_REFUSED, "a commit must be named by its full id");
    int status = git_try(call, GIT_RESOLVE,
                         GIT_ARGS(arena_format(call->arena, "%.*s^{commit}", STR_ARG(commit))));
    if (status > 0)
        git_fail(call, GIT_REFUSED, "the local clone does not have commit %.*s", STR_ARG(commit));
    return status == 0 && str_equal(git_line(call), commit);
}

struct str git_field_next(struct str *left) {
    struct str field = {left->at, strnlen(left->at, left->len)};
    size_t used = field.len < left->len ? field.len + 1 : field.len;
    *left = (struct str){left->at + used, left->len - used};
    return field;
}

struct str git_cut_at_line(struct str text, size_t most, bool *ret_cut) {
    *ret_cut = text.len > most;
    struct str cut = str_cut_utf8(text, most);
    const char *end = *ret_cut && cut.len ? memrchr(cut.at, '\n', cut.len) : NULL;
    return end ? (struct str){cut.at, (size_t)(end + 1 - cut.at)} : cut;
}
