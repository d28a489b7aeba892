/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a hold: it prints one line and detaches from us; its line and its exit status are the result. */
#include "base/memory.h"
#include "drivers/hold_client.h"

#include <stdio.h>
#include <stdlib.h>

enum { WORD = 1024, ARGUMENTS = 1024 };

struct start {
    uv_process_t process;
    uv_pipe_t word;
    char text[WORD];
    size_t length;
    int handles;
    bool exited, heard; /* both: the start is over */
    int64_t exit;
    held_started *started;
    void *with;
};

static void handle_closed(uv_handle_t *handle) {
    struct start *start = handle->data;
    if (--start->handles == 0)
        free(start);
}

static void start_over(struct start *start) {
    if (!start->exited || !start->heard)
        return;
    struct str word = {start->text, start->length};
    while (word.len > 0 && word.at[word.len - 1] == '\n')
        word.len--;
    bool stands = start->exit == 0 && str_begins(word, STR("hold "));
    start->started(start->with, stands, word.len > 0 ? word : STR("it gave no reason"));
    uv_close((uv_handle_t *)&start->process, handle_closed);
    uv_close((uv_handle_t *)&start->word, handle_closed);
}

static void process_exited(uv_process_t *process, int64_t exit, int signal) {
    struct start *start = process->data;
    start->exited = true;
    start->exit = signal ? 128 + signal : exit;
    start_over(start);
}

static void word_room(uv_handle_t *handle, size_t size, uv_buf_t *ret_buffer) {
    (void)size;
    struct start *start = handle->data;
    *ret_buffer = uv_buf_init(start->text + start->length, (unsigned)(WORD - start->length));
}

static void word_comes(uv_stream_t *stream, ssize_t length, const uv_buf_t *buffer) {
    (void)buffer;
    struct start *start = stream->data;
    if (length > 0)
        start->length += (size_t)length;
    if (length >= 0)
        return;
    uv_read_stop(stream);
    start->heard = true;
    start_over(start);
}

struct line {
    const char *argv[ARGUMENTS];
    size_t count;
    char numbers[3][32];
};

static void line_add(struct line *line, const char *name, const char *value) {
    if (!value)
        return;
    line->argv[line->count++] = name;
    line->argv[line->count++] = value;
}

static bool line_write(struct line *line, const struct held_spec *spec) {
    snprintf(line->numbers[0], sizeof line->numbers[0], "%ux%u", spec->columns, spec->rows);
    snprintf(line->numbers[1], sizeof line->numbers[1], "%llu", (unsigned long long)spec->cap);
    snprintf(line->numbers[2], sizeof line->numbers[2], "%llu",
             (unsigned long long)spec->orphan_at_ms);
    line->argv[line->count++] = spec->program;
    line_add(line, "--dir", spec->dir);
    line_add(line, "--cwd", spec->cwd);
    line_add(line, "--cgroup", spec->cgroup);
    line_add(line, "--pty", spec->columns ? line->numbers[0] : NULL);
    line_add(line, "--cap", spec->cap ? line->numbers[1] : NULL);
    line_add(line, "--orphan-at", spec->orphan_at_ms ? line->numbers[2] : NULL);
    line_add(line, "--wrapped", spec->wrapped ? "yes" : NULL);
    line->argv[line->count++] = "--";
    for (size_t i = 0; spec->argv[i]; i++) {
        if (line->count == ARGUMENTS - 1)
            return false;
        line->argv[line->count++] = spec->argv[i];
    }
    line->argv[line->count] = NULL;
    return true;
}

static int start_spawn(uv_loop_t *loop, struct start *start, const struct held_spec *spec) {
    struct line line = {0};
    if (!line_write(&line, spec))
        return UV_E2BIG;
    uv_stdio_container_t stdio[] = {
        {.flags = UV_IGNORE},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&start->word},
        {.flags = UV_IGNORE}};
    uv_process_options_t options = {.file = spec->program,
                                    .args = (char **)(uintptr_t)line.argv,
                                    .env = (char **)(uintptr_t)spec->env,
                                    .stdio = stdio,
                                    .stdio_count = 3,
                                    .exit_cb = process_exited};
    int code = uv_spawn(loop, &start->process, &options);
    if (!code)
        code = uv_read_start((uv_stream_t *)&start->word, word_room, word_comes);
    return code;
}

void held_start(uv_loop_t *loop, const struct held_spec *spec, held_started *started, void *with) {
    struct start *start = memory_new(sizeof *start);
    *start = (struct start){.handles = 2, .started = started, .with = with};
    uv_pipe_init(loop, &start->word, 0);
    start->process.data = start->word.data = start;
    int code = start_spawn(loop, start, spec);
    if (code == 0)
        return;
    started(with, false, str_of(uv_strerror(code)));
    uv_close((uv_handle_t *)&start->process, handle_closed);
    uv_close((uv_handle_t *)&start->word, handle_closed);
}
