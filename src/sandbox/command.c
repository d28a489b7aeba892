/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/command.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "sandbox/lockfile.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct command {
    uv_process_t process;
    uv_pipe_t output;
    uv_timer_t deadline;
    int handles;  /* still open; the last one to close frees this */
    bool spawned; /* a spawn was tried: the process handle has to be closed */
    bool exited, too_long, stopped;
    int lock; /* lock that it inherits; -1: none */
    struct command **here;
    int64_t exit;
    char chunk[4096], tail[LIMIT_OUTPUT_SEEN];
    size_t tail_length;
    command_ended *ended;
    void *with;
};

static void handle_closed(uv_handle_t *handle) {
    struct command *command = handle->data;
    if (--command->handles == 0)
        free(command);
}

static void handles_close(struct command *command) {
    if (command->spawned)
        uv_close((uv_handle_t *)&command->process, handle_closed);
    uv_close((uv_handle_t *)&command->output, handle_closed);
    uv_close((uv_handle_t *)&command->deadline, handle_closed);
}

/* The command has ended when its process is gone and its output is read. Background processes that it left may hold the
 * pipe open: they are not waited for. */
static void command_settle(struct command *command) {
    if (!command->exited)
        return;
    size_t start = 0; /* do not start in the middle of a character */
    while (start < command->tail_length && ((unsigned char)command->tail[start] & 0xC0) == 0x80)
        start++;
    struct str tail = {command->tail + start, command->tail_length - start};
    bytes_mend(command->tail + start,
               tail.len); /* one byte that is not UTF-8 must not hide the others */
    if (command->here)
        *command->here = NULL;
    command->ended(command->with,
                   command->stopped    ? -3
                   : command->too_long ? -2
                                       : command->exit,
                   tail);
    handles_close(command);
}

static void chunk_room(uv_handle_t *handle, size_t size, uv_buf_t *ret_buffer) {
    (void)size;
    struct command *command = handle->data;
    *ret_buffer = uv_buf_init(command->chunk, sizeof command->chunk);
}

static void output_add(struct command *command, const char *at, size_t length) {
    command->tail_length = tail_add(command->tail, sizeof command->tail, command->tail_length,
                                    (struct str){at, length});
}

static void output_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buffer) {
    struct command *command = stream->data;
    if (length > 0)
        output_add(command, buffer->base, (size_t)length);
    else if (length < 0)
        uv_read_stop(stream);
}

/* Output that is in the pipe when the command exits still belongs to it. */
static void output_drain(struct command *command) {
    uv_os_fd_t fd;
    if (uv_fileno((uv_handle_t *)&command->output, &fd) != 0)
        return;
    for (int i = 0; i < 64; i++) {
        ssize_t length = read(fd, command->chunk, sizeof command->chunk);
        if (length <= 0)
            return;
        output_add(command, command->chunk, (size_t)length);
    }
}

static void process_exited(uv_process_t *process, int64_t status, int signal) {
    struct command *command = process->data;
    command->exited = true;
    command->exit = signal ? 128 + signal : status;
    output_drain(command);
    command_settle(command);
}

static void group_kill(const struct command *command) {
    kill(-command->process.pid,
         SIGKILL); /* the process group that uv_spawn created for it, so it is ours */
}

static void deadline_passed(uv_timer_t *timer) {
    struct command *command = timer->data;
    command->too_long = true;
    group_kill(command);
}

void command_stop(struct command *command) {
    command->stopped = true;
    group_kill(command);
}

/* Parameters of one spawn, which copies all of them. */
struct spawning {
    char **arguments, **environment;
    const char *cwd; /* NULL: ours */
};

/* stdout and stderr go into one pipe, so that the tail has them in order. */
static int command_spawn(struct command *command, uv_loop_t *loop, const struct spawning *it) {
    uv_file ends[2];
    int code = uv_pipe(ends, UV_NONBLOCK_PIPE, 0);
    if (code)
        return code;
    if ((code = uv_pipe_open(&command->output, ends[0]))) {
        close(ends[0]);
        close(ends[1]);
        return code;
    }
    uv_stdio_container_t stdio[] = {
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = ends[1]},
        {.flags = UV_INHERIT_FD, .data.fd = ends[1]},
        [LOCKFILE_FD] = {.flags = UV_INHERIT_FD, .data.fd = command->lock}};
    uv_process_options_t options = {.file = it->arguments[0],
                                    .args = it->arguments,
                                    .env = it->environment,
                                    .cwd = it->cwd,
                                    .stdio = stdio,
                                    .stdio_count =
                                        command->lock < 0 ? LOCKFILE_FD : LOCKFILE_FD + 1,
                                    .flags = UV_PROCESS_DETACHED,
                                    .exit_cb = process_exited};
    command->spawned = true;
    command->handles++;
    code = uv_spawn(loop, &command->process, &options);
    close(ends[1]);
    return code;
}

extern char **environ;

/* Our own environment plus two variables. */
static char **environment_with(struct arena *arena, char *effect, char *fence) {
    size_t count = 0;
    while (environ[count])
        count++;
    char **all = arena_new(arena, char *, count + 3);
    memcpy(all, environ, count * sizeof *all);
    all[count] = effect;
    all[count + 1] = fence;
    all[count + 2] = NULL;
    return all;
}

static char **list_of(struct arena *arena, const struct str *words, uint32_t count, uint32_t more) {
    char **list = arena_new(arena, char *, count + more + 1);
    for (uint32_t i = 0; i < count; i++)
        list[i] = arena_cstr(arena, words[i]);
    for (uint32_t i = count; i <= count + more; i++)
        list[i] = NULL;
    return list;
}

static char **arguments_of(struct arena *arena, const struct str *prefix, uint32_t count,
                           struct str command) {
    char **list = list_of(arena, prefix, count, 3);
    list[count] = arena_cstr(arena, STR("/bin/sh"));
    list[count + 1] = arena_cstr(arena, STR("-c"));
    list[count + 2] = arena_cstr(arena, command);
    return list;
}

static struct command *command_make(uv_loop_t *loop, int lock, struct command **here,
                                    command_ended *ended, void *with) {
    struct command *command = memory_new(sizeof *command);
    command->lock = lock;
    command->here = here;
    command->ended = ended;
    command->with = with;
    command->handles = 2;
    command->process.data = command->output.data = command->deadline.data = command;
    uv_pipe_init(loop, &command->output, 0);
    uv_timer_init(loop, &command->deadline);
    return command;
}

static void command_begin(uv_loop_t *loop, struct command *command, const struct spawning *spawning,
                          int64_t within) {
    int code = command_spawn(command, loop, spawning);
    if (code == 0) {
        if (command->here)
            *command->here = command;
        uv_read_start((uv_stream_t *)&command->output, chunk_room, output_read);
        uv_timer_start(&command->deadline, deadline_passed, (uint64_t)(within / 1000), 0);
        return;
    }
    command->ended(command->with, -1, str_of(uv_strerror(code)));
    handles_close(command);
}

static char *effect_text(struct arena *arena, const struct effect *effect) {
    char id[ID_TEXT + 1];
    id_format(effect_id(effect->goal, effect->n), id);
    return arena_cstr(arena, arena_format(arena, "OVERSEER_EFFECT=%s", id));
}

void command_run(uv_loop_t *loop, const struct effect *effect, uint64_t fence, command_ended *ended,
                 void *with) {
    struct arena arena = {0};
    struct command *command = command_make(loop, -1, NULL, ended, with);
    char *fenced =
        arena_cstr(&arena, arena_format(&arena, "OVERSEER_FENCE=%llu", (unsigned long long)fence));
    struct spawning spawning = {.arguments = arguments_of(&arena, NULL, 0, effect->command),
                                .environment =
                                    environment_with(&arena, effect_text(&arena, effect), fenced)};
    command_begin(loop, command, &spawning, effect->within);
    arena_free(&arena);
}

void command_run_boxed(uv_loop_t *loop, const struct effect *effect, const struct command_box *box,
                       int lock, struct command **here, command_ended *ended, void *with) {
    struct arena arena = {0};
    struct command *command = command_make(loop, lock, here, ended, with);
    struct spawning spawning = {
        .arguments = arguments_of(&arena, box->prefix, box->prefix_count, effect->command),
        .environment = list_of(&arena, box->variables, box->variable_count, 1),
        .cwd = box->cwd.len ? arena_cstr(&arena, box->cwd) : NULL};
    spawning.environment[box->variable_count] = effect_text(&arena, effect);
    command_begin(loop, command, &spawning, effect->within);
    arena_free(&arena);
}
