/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a real agent program with its driver over pipes, without a hold, as a small script says, and prints what happened as
 * lines of JSON.
 *
 *   drive DRIVER OPTION… -- STEP…
 *
 * Options: --program P, --arg A, --quirk Q, --model M, --thinking T, --base-url U, --home H, --cwd C, --session S,
 * --run TEXT, --env NAME=VALUE, --door WORD (each word of the MCP server's command), --door-url U, --token T, --ask,
 * --allow TOOL, --deny TOOL, --allow-none, --log FILE (the agent's output), --forget (between reads the state is encoded and
 * decoded, and an incomplete frame is read again).
 * Steps: send TEXT, again TEXT (repeats the previous dispatch), wait KIND[:SECONDS], not KIND:SECONDS (the event must not
 * arrive), answer allow|reject|cancel, policy allow|reject|ask, interrupt, kill, resume, look, sleep SECONDS. @FILE: steps
 * from a file, each terminated by NUL. */
#include "drivers/driver.h"

#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 32, EVENTS = 1 << 16, WAIT_S = 60 };

_Noreturn void must_failed(const char *file, int line, const char *promise) {
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, promise);
    abort();
}
_Noreturn void memory_exhausted(void) {
    abort();
}

static const char *const KINDS[DRIVE_KINDS] = {
    "started", "accepted", "progress", "chatter",   "tool_begun", "tool_ended", "usage", "asks",
    "ended",   "failed",   "limited",  "delivered", "broken",     "exited",     "quota"};
static const char *const ENDS[] = {"done", "cancelled", "cut"};
static const char *const TRISTATE[] = {"unknown", "yes", "no"};

static struct {
    const struct driver *driver;
    struct drive_spec spec;
    struct drive_launch launch;
    void *state;
    struct drive_input input;
    struct arena arena, keep;
    pid_t pid;
    int in, out; /* pipes of the agent: we write to `in` and read from `out` */
    uint64_t read;
    char *log;
    size_t log_cap;
    int log_fd;
    enum drive_kind kinds[EVENTS]; /* received, in order */
    uint32_t count, cursor;
    char ask[DRIVE_ASK_ID], session[DRIVE_SESSION];
    int policy; /* -1: requests are not answered automatically */
    uint32_t dispatch;
    bool forget, eof;
} run = {.in = -1, .out = -1, .policy = -1, .log_fd = -1};

static struct str args[MOST], allow[MOST], deny[MOST], mcp[MOST];
static struct drive_var env[MOST];

static int64_t clock_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct id dispatch_id(uint32_t n) {
    char key[64];
    snprintf(key, sizeof key, "%u", n);
    return id_derive(run.spec.run.bytes[0] ? STR("drive") : STR("drive0"), str_of(key));
}

/* ---- events ---- */

static void text_set(json_t *line, const char *name, struct str text) {
    if (text.len > 0)
        json_object_set_new(line, name, json_stringn_nocheck(text.at, text.len));
}

static void event_print(const struct drive_event *event) {
    static int64_t begin;
    if (begin == 0)
        begin = clock_now();
    json_t *line =
        json_pack("{s:s,s:I,s:I}", "event", KINDS[event->kind], "ms",
                  (json_int_t)((clock_now() - begin) / 1000), "offset", (json_int_t)event->offset);
    text_set(line, "text", event->text);
    text_set(line, "detail", event->detail);
    text_set(line, "session", event->session);
    text_set(line, "ask", event->ask);
    if (event->kind == DRIVE_ENDED)
        json_object_set_new(line, "reason", json_string(ENDS[event->reason]));
    if (event->kind == DRIVE_DELIVERED)
        json_object_set_new(line, "sure", json_string(TRISTATE[event->arrived]));
    if (event->kind == DRIVE_LIMITED)
        json_object_set_new(
            line, "for_s",
            json_real(event->until ? (double)(event->until - clock_now()) / 1e6 : 0));
    if (event->kind == DRIVE_USAGE) {
        json_object_set_new(line, "tokens", json_integer((json_int_t)event->tokens));
        json_object_set_new(line, "cost", json_integer((json_int_t)event->cost));
        json_object_set_new(line, "context", json_integer(event->context));
    }
    json_dumpf(line, stdout, JSON_COMPACT);
    puts("");
    fflush(stdout);
    json_decref(line);
}

static void write_all(int fd, struct str bytes) {
    while (bytes.len > 0) {
        ssize_t done = write(fd, bytes.at, bytes.len);
        if (done <= 0)
            return;
        bytes = (struct str){bytes.at + done, bytes.len - (size_t)done};
    }
}

static void out_take(struct drive_out *out) {
    if (run.in >= 0)
        write_all(run.in, out->bytes);
    if (out->close && run.in >= 0) {
        close(run.in);
        run.in = -1;
    }
    for (uint32_t i = 0; i < out->event_count; i++) {
        const struct drive_event *event = &out->events[i];
        event_print(event);
        if (run.count < EVENTS)
            run.kinds[run.count++] = event->kind;
        if (event->session.len > 0)
            snprintf(run.session, sizeof run.session, "%.*s", STR_ARG(event->session));
        if (event->kind != DRIVE_ASKS_FOR)
            continue;
        snprintf(run.ask, sizeof run.ask, "%.*s", STR_ARG(event->ask));
        if (run.policy >= 0) {
            struct drive_out more = {.arena = &run.arena};
            run.driver->answer(run.state, event->ask, (enum drive_answer)run.policy, clock_now(),
                               &more);
            out_take(&more);
        }
    }
}

/* ---- the process ---- */

static void folder_make(char *path) {
    for (char *at = path + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = 0;
        mkdir(path, 0700);
    }
}

static void files_write(void) {
    for (uint32_t i = 0; i < run.launch.file_count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%.*s/%.*s", STR_ARG(run.spec.home),
                 STR_ARG(run.launch.files[i].path));
        folder_make(path);
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0) {
            perror(path);
            exit(2);
        }
        write_all(fd, run.launch.files[i].text);
        close(fd);
    }
}

static _Noreturn void child_run(int in, int out) {
    char *argv[66], *environment[64];
    uint32_t n = 0;
    for (uint32_t i = 0; i < run.launch.argc; i++)
        argv[i] = arena_cstr(&run.arena, run.launch.argv[i]);
    argv[run.launch.argc] = NULL;
    static const char *const PASSED[] = {"PATH", "LANG", "TERM"};
    for (size_t i = 0; i < count_of(PASSED); i++)
        if (getenv(PASSED[i]))
            environment[n++] =
                (char *)(uintptr_t)arena_format(&run.arena, "%s=%s", PASSED[i], getenv(PASSED[i]))
                    .at;
    environment[n++] =
        (char *)(uintptr_t)arena_format(&run.arena, "HOME=%.*s", STR_ARG(run.spec.home)).at;
    for (uint32_t i = 0; i < run.launch.env_count; i++)
        environment[n++] = (char *)(uintptr_t)arena_format(&run.arena, "%.*s=%.*s",
                                                           STR_ARG(run.launch.env[i].name),
                                                           STR_ARG(run.launch.env[i].value))
                               .at;
    environment[n] = NULL;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(in, 0);
    dup2(out, 1);
    if (chdir(arena_cstr(&run.arena, run.spec.cwd)) != 0)
        perror("chdir");
    execve(argv[0], argv, environment);
    perror(argv[0]);
    _exit(127);
}

static void agent_start(void) {
    struct str why;
    int in[2], out[2];
    if (!run.driver->launch(&run.spec, &run.keep, &run.launch, &why)) {
        printf("{\"refused\":\"%.*s\"}\n", STR_ARG(why));
        exit(3);
    }
    files_write();
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        exit(2);
    run.pid = fork();
    if (run.pid == 0)
        child_run(in[0], out[1]);
    close(in[0]);
    close(out[1]);
    run.in = in[1];
    run.out = out[0];
    run.read = 0;
    run.eof = false;
    drive_input_free(&run.input);
    memset(run.state, 0, run.driver->size);
    struct drive_out hello = {.arena = &run.arena};
    run.driver->begin(run.state, &run.spec, clock_now(), &hello);
    out_take(&hello);
}

static void agent_gone(void) {
    int status = 0;
    waitpid(run.pid, &status, 0);
    int64_t code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    close(run.out);
    if (run.in >= 0)
        close(run.in);
    run.in = run.out = -1;
    run.eof = true;
    printf("{\"exit\":%lld}\n", (long long)code);
    struct drive_out out = {.arena = &run.arena};
    run.driver->gone(run.state, code, clock_now(), &out);
    out_take(&out);
}

/* Every process that the agent started has been reparented to us: kills each child until none is left. */
static void agent_kill(void) {
    char path[64];
    long pid;
    if (run.pid > 0 && !run.eof)
        kill(-run.pid, SIGKILL);
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    for (int times = 0; times < 50; times++) {
        FILE *children = fopen(path, "re");
        bool any = false;
        while (children && fscanf(children, "%ld", &pid) == 1)
            if (pid != run.pid) {
                any = true;
                kill((pid_t)pid, SIGKILL);
                waitpid((pid_t)pid, NULL, 0);
            }
        if (children)
            fclose(children);
        if (!any)
            return;
    }
}

/* Simulates a restart: decodes the state as it was saved, and reads the incomplete frame from the log again. */
static void state_forget(void) {
    struct str saved = shape_encode(run.driver->shape, run.state, &run.arena);
    free(run.state);
    run.state = calloc(1, run.driver->size);
    must(run.state && shape_decode_in(run.driver->shape, saved, &run.arena, run.state));
    must(!run.driver->quirk_set || run.driver->quirk_set(run.state, run.spec.quirk));
    drive_input_free(&run.input);
    uint64_t from = run.driver->resume_at(run.state);
    struct drive_out out = {.arena = &run.arena};
    drive_input(&run.input, run.driver, run.state,
                (struct str){run.log + from, (size_t)(run.read - from)}, from, clock_now(), &out);
    out_take(&out);
}

static void log_add(struct str bytes) {
    if (run.read + bytes.len > run.log_cap) {
        run.log_cap = (size_t)(run.read + bytes.len) * 2;
        run.log = realloc(run.log, run.log_cap);
    }
    memcpy(run.log + run.read, bytes.at, bytes.len);
    run.read += bytes.len;
    if (run.log_fd >= 0)
        write_all(run.log_fd, bytes);
}

/* Handles one more input or due tick, at `until` at the latest. */
static void pump(int64_t until) {
    char bytes[65536];
    int64_t now = clock_now(), due = run.eof ? TIME_NEVER : run.driver->due(run.state);
    int64_t wake = due < until ? due : until;
    int wait_ms = wake <= now ? 0 : (int)((wake - now + 999) / 1000);
    struct pollfd seen = {.fd = run.out, .events = POLLIN};
    arena_reset(&run.arena);
    int ready = poll(&seen, 1, wait_ms);
    struct drive_out out = {.arena = &run.arena};
    if (ready > 0) {
        ssize_t len = read(run.out, bytes, sizeof bytes);
        if (len <= 0) {
            agent_gone();
            return;
        }
        uint64_t offset = run.read;
        log_add((struct str){bytes, (size_t)len});
        drive_input(&run.input, run.driver, run.state, (struct str){bytes, (size_t)len}, offset,
                    clock_now(), &out);
        out_take(&out);
        if (run.forget)
            state_forget();
    } else if (clock_now() >= due) {
        run.driver->tick(run.state, clock_now(), &out);
        out_take(&out);
    }
}

/* ---- steps ---- */

static bool kind_wait(const char *what) {
    char name[32];
    double seconds = WAIT_S;
    sscanf(what, "%31[a-z_]:%lf", name, &seconds);
    int64_t until = clock_now() + (int64_t)(seconds * 1e6);
    for (;;) {
        while (run.cursor < run.count)
            if (strcmp(KINDS[run.kinds[run.cursor++]], name) == 0)
                return true;
        if (clock_now() >= until || (run.eof && strcmp(name, "exit") != 0))
            return false;
        if (run.eof)
            return true;
        pump(until);
    }
}

static void prompt_send(uint32_t n, const char *text) {
    struct drive_out out = {.arena = &run.arena};
    int64_t until = clock_now() + WAIT_S * 1000000LL;
    while (!run.driver->ready(run.state) && clock_now() < until && !run.eof)
        pump(until);
    if (!run.driver->ready(run.state)) {
        puts("{\"not\":\"ready\"}");
        exit(1);
    }
    char id[ID_TEXT + 1];
    id_format(dispatch_id(n), id);
    printf("{\"sent\":\"%s\"}\n", id);
    run.driver->send(run.state, dispatch_id(n), str_of(text), clock_now(), &out);
    out_take(&out);
}

static enum drive_answer answer_read(const char *text) {
    return strcmp(text, "allow") == 0    ? DRIVE_ALLOW
           : strcmp(text, "reject") == 0 ? DRIVE_REJECT
                                         : DRIVE_CANCEL;
}

/* Reads everything until then. False: an event arrived that must not arrive. */
static bool step_time(const char *verb, const char *text) {
    int64_t until = clock_now() + (int64_t)(atof(text) * 1e6);
    if (strcmp(verb, "not") == 0)
        return !kind_wait(text);
    while (clock_now() < until && !run.eof)
        pump(until);
    return true;
}

static bool step_run(const char *verb, const char *text) {
    struct drive_out out = {.arena = &run.arena};
    if (strcmp(verb, "send") == 0)
        prompt_send(++run.dispatch, text);
    else if (strcmp(verb, "again") == 0)
        prompt_send(run.dispatch, text);
    else if (strcmp(verb, "wait") == 0)
        return kind_wait(text);
    else if (strcmp(verb, "answer") == 0)
        run.driver->answer(run.state, str_of(run.ask), answer_read(text), clock_now(), &out);
    else if (strcmp(verb, "policy") == 0)
        run.policy = strcmp(text, "ask") == 0 ? -1 : (int)answer_read(text);
    else if (strcmp(verb, "interrupt") == 0)
        run.driver->interrupt(run.state, clock_now(), &out);
    else if (strcmp(verb, "kill") == 0) {
        agent_kill();
        return kind_wait("exit");
    } else if (strcmp(verb, "resume") == 0) {
        run.spec.session = arena_copy(&run.keep, str_of(run.session));
        agent_start();
    } else if (strcmp(verb, "look") == 0)
        run.driver->look(run.state, dispatch_id(run.dispatch), clock_now(), &out);
    else
        return step_time(verb, text);
    out_take(&out);
    return true;
}

/* ---- options ---- */

static void list_add(struct str *list, uint32_t *count, const char *text) {
    must(*count < MOST);
    list[(*count)++] = str_of(text);
}

static void env_add(const char *text) {
    const char *is = strchr(text, '=');
    must(is && run.spec.env_count < MOST);
    env[run.spec.env_count++] = (struct drive_var){{text, (size_t)(is - text)}, str_of(is + 1)};
}

static bool option_list(const char *name, const char *text) {
    const struct {
        const char *name;
        struct str *list;
        uint32_t *count;
    } LISTS[] = {{"--arg", args, &run.spec.arg_count},
                 {"--allow", allow, &run.spec.allow_count},
                 {"--deny", deny, &run.spec.deny_count},
                 {"--door", mcp, &run.spec.mcp.argc}};
    for (size_t i = 0; i < count_of(LISTS); i++)
        if (strcmp(name, LISTS[i].name) == 0) {
            list_add(LISTS[i].list, LISTS[i].count, text);
            run.spec.allow_given = run.spec.allow_given || LISTS[i].list == allow;
            return true;
        }
    return false;
}

static bool option_text(const char *name, const char *text) {
    const struct {
        const char *name;
        struct str *to;
    } TEXTS[] = {{"--program", &run.spec.program},   {"--quirk", &run.spec.quirk},
                 {"--model", &run.spec.model},       {"--thinking", &run.spec.thinking},
                 {"--base-url", &run.spec.base_url}, {"--home", &run.spec.home},
                 {"--cwd", &run.spec.cwd},           {"--session", &run.spec.session},
                 {"--door-url", &run.spec.mcp.url},  {"--token", &run.spec.mcp.token}};
    for (size_t i = 0; i < count_of(TEXTS); i++)
        if (strcmp(name, TEXTS[i].name) == 0) {
            *TEXTS[i].to = str_of(text);
            return true;
        }
    if (strcmp(name, "--run") == 0)
        run.spec.run = id_derive(STR("run"), str_of(text));
    else if (strcmp(name, "--env") == 0)
        env_add(text);
    else if (strcmp(name, "--log") == 0)
        run.log_fd = open(text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    else
        return option_list(name, text);
    return true;
}

static int options_read(int argc, char **argv) {
    int i = 2;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--ask") == 0)
            run.spec.ask = true;
        else if (strcmp(argv[i], "--allow-none") == 0)
            run.spec.allow_given = true;
        else if (strcmp(argv[i], "--forget") == 0)
            run.forget = true;
        else if (i + 1 < argc && option_text(argv[i], argv[i + 1]))
            i++;
        else {
            fprintf(stderr, "drive: what is %s?\n", argv[i]);
            exit(2);
        }
    }
    return i + 1;
}

static bool step_text(const char *step) {
    char verb[16] = "";
    int used = 0;
    sscanf(step, "%15s %n", verb, &used);
    bool fine = step_run(verb, step + (used ? used : (int)strlen(verb)));
    if (!fine)
        printf("{\"failed\":\"%.40s\"}\n", step);
    return fine;
}

static bool steps_read(const char *path) {
    char *step = NULL;
    size_t cap = 0;
    bool fine = true;
    FILE *file = fopen(path, "re");
    while (fine && file && getdelim(&step, &cap, 0, file) > 0)
        fine = step_text(step);
    free(step);
    return file && fclose(file) == 0 && fine;
}

int main(int argc, char **argv) {
    if (argc < 3 || !(run.driver = driver_named(str_of(argv[1])))) {
        fputs("drive DRIVER OPTION… -- STEP…\n", stderr);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    run.spec.args = args, run.spec.allow = allow, run.spec.deny = deny;
    run.spec.mcp.argv = mcp, run.spec.env = env;
    run.spec.run = id_derive(STR("run"), STR("drive"));
    int step = options_read(argc, argv);
    run.state = malloc(run.driver->size);
    agent_start();
    bool fine = true;
    for (; fine && step < argc; step++)
        fine = argv[step][0] == '@' ? steps_read(argv[step] + 1) : step_text(argv[step]);
    agent_kill();
    if (!run.eof)
        waitpid(run.pid, NULL, 0);
    return fine ? 0 : 1;
}
