/* SPDX-License-Identifier: Apache-2.0 */
/* How is a command of the operator's run, and what came of it? */
#include "ports/command.h"

#include "ports/lockfile.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct command {
    uv_process_t process;
    uv_pipe_t output;
    uv_timer_t deadline;
    int handles;  /* still open; the last one frees */
    bool spawned; /* there is a process, or there was to be one: its handle is to be closed */
    bool exited, too_long, stopped;
    int lock; /* that it inherits; -1: none */
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

/* The command has ended when it is gone and its output is read. Whatever it left running in the background
 * may hold the pipe open: that is not waited for. */
static void command_settle(struct command *command) {
    if (!command->exited)
        return;
    size_t start = 0; /* not in the middle of a character */
    while (start < command->tail_length && ((unsigned char)command->tail[start] & 0xC0) == 0x80)
        start++;
    struct str tail = {command->tail + start, command->tail_length - start};
    if (command->here)
        *command->here = NULL;
    command->ended(command->with,
                   command->stopped    ? -3
                   : command->too_long ? -2
                                       : command->exit,
                   str_is_text(tail) ? tail : STR("(not text)"));
    handles_close(command);
}

static void chunk_room(uv_handle_t *handle, size_t size, uv_buf_t *ret_buffer) {
    (void)size;
    struct command *command = handle->data;
    *ret_buffer = uv_buf_init(command->chunk, sizeof command->chunk);
}

static void tail_add(struct command *command, const char *at, size_t length) {
    if (length >= sizeof command->tail) {
        at += length - sizeof command->tail;
        length = sizeof command->tail;
    }
    size_t keep = command->tail_length + length > sizeof command->tail
                      ? sizeof command->tail - length
                      : command->tail_length;
    memmove(command->tail, command->tail + command->tail_length - keep, keep);
    memcpy(command->tail + keep, at, length);
    command->tail_length = keep + length;
}

static void output_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buffer) {
    struct command *command = stream->data;
    if (length > 0)
        tail_add(command, buffer->base, (size_t)length);
    else if (length < 0)
        uv_read_stop(stream);
}

/* What is in the pipe when the command exits still belongs to it. */
static void output_drain(struct command *command) {
    uv_os_fd_t fd;
    if (uv_fileno((uv_handle_t *)&command->output, &fd) != 0)
        return;
    for (int i = 0; i < 64; i++) {
        ssize_t length = read(fd, command->chunk, sizeof command->chunk);
        if (length <= 0)
            return;
        tail_add(command, command->chunk, (size_t)length);
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
    kill(-command->process.pid, SIGKILL); /* the group that uv_spawn made for it: ours by birth */
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

/* Output and errors go into one pipe, so that the tail has them in order. */
static int command_spawn(struct command *command, uv_loop_t *loop, char *line, char **environment) {
    char *arguments[] = {"/bin/sh", "-c", line, NULL};
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
    uv_process_options_t options = {.file = arguments[0],
                                    .args = arguments,
                                    .env = environment,
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

/* Our own environment with two names more; both outlive the spawn, which copies. */
static char **environment_with(char *effect, char *fence) {
    size_t count = 0;
    while (environ[count])
        count++;
    char **all = calloc(count + 3, sizeof *all);
    if (!all)
        return NULL;
    memcpy(all, environ, count * sizeof *all);
    all[count] = effect;
    all[count + 1] = fence;
    return all;
}

static struct command *command_make(uv_loop_t *loop, int lock, struct command **here,
                                    command_ended *ended, void *with) {
    struct command *command = calloc(1, sizeof *command);
    if (!command)
        return NULL;
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

void command_run(uv_loop_t *loop, const struct effect *effect, uint64_t fence, command_ended *ended,
                 void *with) {
    command_run_locked(loop, effect, fence, -1, NULL, ended, with);
}

void command_run_locked(uv_loop_t *loop, const struct effect *effect, uint64_t fence, int lock,
                        struct command **here, command_ended *ended, void *with) {
    char id_text[64] = "OVERSEER_EFFECT=", fence_text[64];
    id_format(effect_id(effect->goal, effect->n), id_text + strlen(id_text));
    snprintf(fence_text, sizeof fence_text, "OVERSEER_FENCE=%llu", (unsigned long long)fence);
    struct command *command = command_make(loop, lock, here, ended, with);
    char *line = malloc(effect->command.len + 1);
    char **environment = environment_with(id_text, fence_text);
    int code = UV_ENOMEM;
    if (command && line && environment) {
        snprintf(line, effect->command.len + 1, "%.*s", STR_ARG(effect->command));
        code = command_spawn(command, loop, line, environment);
    }
    free(line);
    free(environment);
    if (code == 0) {
        if (here)
            *here = command;
        uv_read_start((uv_stream_t *)&command->output, chunk_room, output_read);
        uv_timer_start(&command->deadline, deadline_passed, (uint64_t)(effect->within / 1000), 0);
        return;
    }
    ended(with, -1, str_of(uv_strerror(code)));
    if (command)
        handles_close(command);
}
