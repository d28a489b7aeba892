/* SPDX-License-Identifier: Apache-2.0 */
/* How does a program on this machine say it? Notes on the desktop (ESCALATE-06), and commands of the operator's. */
#include "ports/channel_state.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct program {
    struct saying *saying; /* NULL: nobody waits for it any more */
    uv_process_t process;
    uv_pipe_t output;
    uv_timer_t deadline;
    char chunk[512], said[512]; /* its first words say best what is wrong */
    size_t said_length;
    int handles; /* still open; the last one frees */
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

/* ---- what it says ---- */

static void said_add(struct program *program, const char *at, size_t length) {
    size_t room = sizeof program->said - program->said_length;
    length = length < room ? length : room;
    memcpy(program->said + program->said_length, at, length);
    program->said_length += length;
}

static void chunk_room(uv_handle_t *handle, size_t size, uv_buf_t *ret_buffer) {
    (void)size;
    struct program *program = handle->data;
    *ret_buffer = uv_buf_init(program->chunk, sizeof program->chunk);
}

static void output_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buffer) {
    if (length > 0)
        said_add(stream->data, buffer->base, (size_t)length);
    else if (length < 0)
        uv_read_stop(stream);
}

/* What is in the pipe when it exits still belongs to it. */
static void output_drain(struct program *program) {
    uv_os_fd_t fd;
    if (uv_fileno((uv_handle_t *)&program->output, &fd) != 0)
        return;
    ssize_t length = read(fd, program->chunk, sizeof program->chunk);
    if (length > 0)
        said_add(program, program->chunk, (size_t)length);
}

/* ---- its end ---- */

/* As sysexits.h has it: wrong use and wrong settings will not be right the next time. */
static enum said said_by_status(int64_t status) {
    static const int64_t REFUSED[] = {64, 78, 126, 127};
    for (size_t i = 0; i < count_of(REFUSED); i++)
        if (status == REFUSED[i])
            return SAID_REFUSED;
    return status == 0 ? SAID_DONE : SAID_LATER;
}

static void program_exited(uv_process_t *process, int64_t status, int signal) {
    struct program *program = process->data;
    struct saying *saying = program->saying;
    output_drain(program);
    program_close(program);
    if (!saying)
        return;
    bytes_mend(program->said, program->said_length);
    struct str words = str_cut_utf8((struct str){program->said, program->said_length}, 300);
    saying->program = NULL;
    if (program->too_long)
        saying_end(saying, SAID_UNKNOWN, "%s took too long and was ended", saying->service);
    else if (signal)
        saying_end(saying, SAID_UNKNOWN, "%s was ended by signal %d", saying->service, signal);
    else if (status == 0)
        saying_end(saying, SAID_DONE, "%s", "");
    else
        saying_end(saying, said_by_status(status), "%s ended with status %d%s%.*s", saying->service,
                   (int)status, words.len > 0 ? ": " : "", STR_ARG(words));
}

static void group_kill(struct program *program) {
    kill(-program->process.pid, SIGKILL); /* the group that uv_spawn made for it: ours by birth */
}

static void deadline_passed(uv_timer_t *timer) {
    struct program *program = timer->data;
    program->too_long = true;
    group_kill(program);
}

void program_cancel(struct saying *saying) {
    struct program *program = saying->program;
    if (!program)
        return;
    program->saying = NULL;
    saying->program = NULL;
    group_kill(program);
}

/* ---- its beginning ---- */

/* A file without a name: whole before the program begins, and gone with it. */
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

static struct program *program_make(struct saying *saying) {
    struct program *program = calloc(1, sizeof *program);
    if (!program)
        return NULL;
    program->saying = saying;
    program->handles = 3;
    program->process.data = program->output.data = program->deadline.data = program;
    uv_pipe_init(saying_loop(saying), &program->output, 0);
    uv_timer_init(saying_loop(saying), &program->deadline);
    return program;
}

/* Output and errors go into one pipe. `input`: -1: nothing. */
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

static void program_run(struct saying *saying, char **arguments, int input) {
    struct program *program = program_make(saying);
    int code = program ? program_spawn(program, saying_loop(saying), arguments, input) : UV_ENOMEM;
    if (input >= 0)
        close(input);
    if (code == 0) {
        saying->program = program;
        uv_read_start((uv_stream_t *)&program->output, chunk_room, output_read);
        uv_timer_start(&program->deadline, deadline_passed, saying_left_ms(saying), 0);
        return;
    }
    saying_end(saying, code == UV_ENOENT ? SAID_REFUSED : SAID_LATER, "%s cannot be started: %s",
               arguments[0], code == UV_ENOENT ? "there is no such program" : uv_strerror(code));
    if (program)
        program_close(program);
}

/* ---- the two of them ---- */

/* notify-send reads a backslash in the text as the beginning of something. */
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
    to->failed = to->failed || text.failed;
    words_free(&text);
}

/* ESCALATE-06: urgency info low, warning normal, critical and emergency critical. Never by a shell. */
void desktop_begin(struct saying *saying, const struct channel *channel,
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
    if (title.failed || text.failed || urgency.failed)
        saying_end(saying, SAID_LATER, "there is no memory for a note");
    else
        program_run(saying, arguments, -1);
    words_free(&title);
    words_free(&text);
    words_free(&urgency);
}

void command_begin(struct saying *saying, const struct channel *channel,
                   const struct notice *notice) {
    struct words line = {0}, text = {0};
    words_add(&line, channel->command);
    text_json(&text, notice);
    words_add(&text, STR("\n"));
    char *arguments[] = {"/bin/sh", "-c", line.at, NULL};
    int input = line.failed || text.failed ? -1 : input_make(words_str(&text));
    if (input < 0)
        saying_end(saying, SAID_LATER, "there is no room for what the command is to read");
    else
        program_run(saying, arguments, input);
    words_free(&line);
    words_free(&text);
}
