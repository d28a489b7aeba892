/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the drivers with an agent's output: any bytes, and any acts of ours between them; the result is the same
 * however the bytes are split. */
#include "drivers/drive.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *driver, *quirk;
} WHO[] = {{"acp", "opencode"}, {"acp", "codex-acp"}, {"acp", "gemini"},
           {"acp", "goose"},    {"acp", "qwen"},      {"acp", "claude-agent-acp"},
           {"claude", ""},      {"tmux", "claude"},   {"tmux", "codex"},
           {"openclaw", ""},    {"command", ""}};

struct taken { /* everything that the driver produced */
    uint64_t sum, wrote;
    struct str ask;
};

static uint64_t sum_over(uint64_t sum, struct str text) {
    for (size_t i = 0; i < text.len; i++)
        sum = (sum ^ (unsigned char)text.at[i]) * 0x100000001B3u;
    return sum;
}

static void sum_add(struct taken *taken, struct str text) {
    taken->sum = (sum_over(taken->sum, text) ^ 0x100) * 0x100000001B3u;
}

static void out_take(struct taken *taken, const struct drive_out *out, struct arena *arena) {
    taken->wrote = sum_over(taken->wrote, out->bytes);
    for (uint32_t i = 0; i < out->event_count; i++) {
        const struct drive_event *event = &out->events[i];
        must((uint32_t)event->kind < DRIVE_KINDS);
        sum_add(taken, event->text);
        sum_add(taken, event->detail);
        sum_add(taken, event->session);
        sum_add(taken, event->ask);
        sum_add(taken, (struct str){(const char *)&event->offset, sizeof event->offset});
        sum_add(taken, (struct str){(const char *)&event->dispatch, sizeof event->dispatch});
        if (event->kind == DRIVE_ASKS_FOR)
            taken->ask = arena_copy(arena, event->ask);
    }
}

/* A line that begins with ! is an act of ours, everything else comes from the agent. */
static void act_do(const struct driver *driver, void *state, char act, struct taken *taken,
                   int64_t now, struct drive_out *out) {
    struct id dispatch = id_derive(STR("fuzz"), STR("1"));
    if (act == 's' && driver->ready(state))
        driver->send(state, dispatch, STR("do it"), now, out);
    else if (act == 'a')
        driver->answer(state, taken->ask, DRIVE_ALLOW, now, out);
    else if (act == 'r')
        driver->answer(state, taken->ask, DRIVE_REJECT, now, out);
    else if (act == 'i')
        driver->interrupt(state, now, out);
    else if (act == 'l')
        driver->look(state, dispatch, now, out);
    else if (act == 't' && driver->due(state) <= now + MINUTES(2))
        driver->tick(state, now + MINUTES(2), out);
    else if (act == 'g')
        driver->gone(state, 1, now, out);
}

static uint64_t play(const struct driver *driver, const char *quirk, struct str input,
                     size_t piece) {
    struct arena arena = {0};
    struct drive_input fed = {0};
    struct taken taken = {.sum = 1, .wrote = 1};
    void *state = calloc(1, driver->size);
    uint64_t offset = 0;
    const int64_t now = SECONDS(1794744000);
    struct drive_spec spec = {.quirk = str_of(quirk),
                              .home = STR("/home"),
                              .cwd = STR("/tree"),
                              .program = STR("/bin/agent")};
    struct drive_out hello = {.arena = &arena};
    driver->begin(state, &spec, now, &hello);
    out_take(&taken, &hello, &arena);
    while (input.len > 0) {
        const char *feed = memchr(input.at, '\n', input.len);
        struct str line = {input.at, feed ? (size_t)(feed - input.at) + 1 : input.len};
        input = (struct str){input.at + line.len, input.len - line.len};
        if (line.len > 1 && line.at[0] == '!') {
            struct drive_out out = {.arena = &arena};
            act_do(driver, state, line.at[1], &taken, now, &out);
            out_take(&taken, &out, &arena);
            continue;
        }
        for (size_t at = 0; at < line.len;) {
            size_t len = line.len - at < piece ? line.len - at : piece;
            struct drive_out out = {.arena = &arena};
            drive_input(&fed, driver, state, (struct str){line.at + at, len}, offset, now, &out);
            out_take(&taken, &out, &arena);
            at += len;
            offset += len;
        }
    }
    struct observation seen = {0};
    driver->see(state, &seen);
    must(driver->resume_at(state) <= offset);
    drive_input_free(&fed);
    free(state);
    arena_free(&arena);
    return taken.sum ^ (taken.wrote << 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    size_t who = data[0] % count_of(WHO);
    const struct driver *driver = driver_named(str_of(WHO[who].driver));
    struct str input = {(const char *)data + 1, size - 1};
    uint64_t whole = play(driver, WHO[who].quirk, input, SIZE_MAX);
    if (who + 1 < count_of(WHO)) /* a command has no frames: each piece is a separate event */
        must(play(driver, WHO[who].quirk, input, 1 + data[0] / count_of(WHO)) == whole);
    return 0;
}
