/* SPDX-License-Identifier: Apache-2.0 */
/* Sends notices through a program on this machine: desktop notifications (ESCALATE-06) and the operator's commands. */
#include "base/memory.h"
#include "channels/channel_state.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct program {
    struct channel_send *send; /* NULL: no send waits for it any more */
    uv_process_t process;
    uv_pipe_t output;
    uv_timer_t deadline;
    char chunk[512],
        result[512]; /* result: the start of its output, which best explains a failure */
    size_t output_length;
    int handles; /* still open; the last one to close frees this */
    bool too_long;
};

static void handle_closed(uv_handle_t *handle) {
    struct program *program = handle->data;
    if (--program->handles == 0)
        free(program);
}

static void program_close(struct program *program) {
    uv_close((uv_handle_t *)&program->process, handle_closed);
    uv_close((uv_handle_t *)&program->output, handle_closed);
    uv_close((uv_handle_t *)&program->deadline, handle_closed);
}

/* ---- its output ---- */

static void output_add(struct program *program, const char *at, size_t length) {
    size_t room = sizeof program->result - program->output_length;
    length = length < room ? length : room;
    memcpy(program->result + program->output_length, at, length);
    program->output_length += length;
}

static void chunk_room(uv_handle_t *handle, size_t size, uv_buf_t *ret_buffer) {
    (void)size;
    struct program *program = handle->data;
    *ret_buffer = uv_buf_init(program->chunk, sizeof program->chunk);
}

static void output_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buffer) {
    if (length > 0)
        output_add(stream->data, buffer->base, (size_t)length);
    else if (length < 0)
        uv_read_stop(stream);
}

/* Output that is in the pipe when the program exits still belongs to it. */
static void output_drain(struct program *program) {
    uv_os_fd_t fd;
    if (uv_fileno((uv_handle_t *)&program->output, &fd) != 0)
        return;
    ssize_t length = read(fd, program->chunk, sizeof program->chunk);
    if (length > 0)
        output_add(program, program->chunk, (size_t)length);
}

/* ---- its end ---- */

/* As in sysexits.h: wrong usage and wrong settings will not succeed next time either. */
static enum send_result result_of_status(int64_t status) {
    static const int64_t REFUSED[] = {64, 78, 126, 127};
    for (size_t i = 0; i < count_of(REFUSED); i++)
        if (status == REFUSED[i])
            return SEND_REFUSED;
    return status == 0 ? SEND_DONE : SEND_LATER;
}

static void program_exited(uv_process_t *process, int64_t status, int signal) {
    struct program *program = process->data;
    struct channel_send *send = program->send;
    output_drain(program);
    program_close(program);
    if (!send)
        return;
    bytes_mend(program->result, program->output_length);
    struct str words = str_cut_utf8((struct str){program->result, program->output_length}, 300);
    send->program = NULL;
    if (program->too_long)
        channel_send_end(send, SEND_UNKNOWN, "%s took too long and was killed", send->service);
    else if (signal)
        channel_send_end(send, SEND_UNKNOWN, "%s was ended by signal %d", send->service, signal);
    else if (status == 0)
        channel_send_end(send, SEND_DONE, "%s", "");
    else
        channel_send_end(send, result_of_status(status), "%s ended with status %d%s%.*s",
                         send->service, (int)status, words.len > 0 ? ": " : "", STR_ARG(words));
}

static void group_kill(struct program *program) {
    kill(-program->process.pid,
         SIGKILL); /* the process group that uv_spawn created for it, so it is ours */
}

static void deadline_passed(uv_timer_t *timer) {
    struct program *program = timer->data;
    program->too_long = true;
    group_kill(program);
}

void program_cancel(struct channel_send *send) {
    struct program *program = send->program;
    if (!program)
        return;
    program->send = NULL;
    send->program = NULL;
    group_kill(program);
}

/* ---- its start ---- */

/* A file without a name: complete before the program starts, and deleted with it. */
static int input_make(struct str text) {
    FILE *file = tmpfile();
    int fd = -1;
    if (file && fwrite(text.at, 1, text.len, file) == text.len && fflush(file) == 0)
        fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
    if (file)
        fclose(file);
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

static struct program *program_make(struct channel_send *send) {
    struct program *program = memory_new(sizeof *program);
    program->send = send;
    program->handles = 3;
    program->process.data = program->output.data = program->deadline.data = program;
    uv_pipe_init(channel_send_loop(send), &program->output, 0);
    uv_timer_init(channel_send_loop(send), &program->deadline);
    return program;
}

/* stdout and stderr go into one pipe. `input`: -1: none. */
static int program_spawn(struct program *program, uv_loop_t *loop, char **arguments, int input) {
    uv_file ends[2];
    int code = uv_pipe(ends, UV_NONBLOCK_PIPE, 0);
    if (code == 0)
        code = uv_pipe_open(&program->output, ends[0]);
    if (code)
        return code;
    uv_stdio_container_t stdio[] = {
        {.flags = input < 0 ? UV_IGNORE : UV_INHERIT_FD, .data.fd = input},
        {.flags = UV_INHERIT_FD, .data.fd = ends[1]},
        {.flags = UV_INHERIT_FD, .data.fd = ends[1]}};
    uv_process_options_t options = {.file = arguments[0],
                                    .args = arguments,
                                    .stdio = stdio,
                                    .stdio_count = 3,
                                    .flags = UV_PROCESS_DETACHED,
                                    .exit_cb = program_exited};
    code = uv_spawn(loop, &program->process, &options);
    close(ends[1]);
    return code;
}

static void program_run(struct channel_send *send, char **arguments, int input) {
    struct program *program = program_make(send);
    int code = program_spawn(program, channel_send_loop(send), arguments, input);
    if (input >= 0)
        close(input);
    if (code == 0) {
        send->program = program;
        uv_read_start((uv_stream_t *)&program->output, chunk_room, output_read);
        uv_timer_start(&program->deadline, deadline_passed, channel_send_left_ms(send), 0);
        return;
    }
    channel_send_end(send, code == UV_ENOENT ? SEND_REFUSED : SEND_LATER,
                     "%s cannot be started: %s", arguments[0],
                     code == UV_ENOENT ? "the program was not found" : uv_strerror(code));
    program_close(program);
}

/* ---- desktop and command ---- */

/* notify-send interprets backslashes in the text. */
static void backslashes_double(struct words *to, struct str text) {
    for (size_t i = 0; i < text.len; i++) {
        words_add(to, (struct str){text.at + i, 1});
        if (text.at[i] == '\\')
            words_add(to, STR("\\"));
    }
}

static void note_text(struct words *to, const struct notice *notice) {
    struct words text = {0};
    words_escape(&text, MARKUP_ENTITIES, notice->text.len > 0 ? notice->text : notice->reason,
                 1024);
    if (text.len > 0)
        words_add(&text, STR("\n"));
    text_facts(&text, MARKUP_ENTITIES, notice, "\n");
    text_question(&text, MARKUP_ENTITIES, notice, "");
    backslashes_double(to, words_str(&text));
    words_free(&text);
}

/* ESCALATE-06: info has urgency low, warning normal, critical and emergency critical. No shell is involved. */
void desktop_begin(struct channel_send *send, const struct channel *channel,
                   const struct notice *notice) {
    static const char *const URGENCY[ALARMS] = {"low", "normal", "critical", "critical"};
    struct words title = {0}, text = {0}, urgency = {0};
    (void)channel;
    words_add(&title, STR("Overseer "));
    text_title(&title, MARKUP_NONE, notice, 200);
    note_text(&text, notice);
    words_format(&urgency, "--urgency=%s", URGENCY[notice->alarm]);
    char *arguments[] = {"notify-send", "--app-name=Overseer", urgency.at, "--", title.at, text.at,
                         NULL};
    program_run(send, arguments, -1);
    words_free(&title);
    words_free(&text);
    words_free(&urgency);
}

void command_begin(struct channel_send *send, const struct channel *channel,
                   const struct notice *notice) {
    struct words line = {0}, text = {0};
    words_add(&line, channel->command);
    text_json(&text, notice);
    words_add(&text, STR("\n"));
    char *arguments[] = {"/bin/sh", "-c", line.at, NULL};
    int input = input_make(words_str(&text));
    if (input < 0)
        channel_send_end(send, SEND_LATER, "the input of the command cannot be stored");
    else
        program_run(send, arguments, input);
    words_free(&line);
    words_free(&text);
}
