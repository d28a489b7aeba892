/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the daemon's reading of an agent's output: driver_call() and driver_parses() (run_driver.c) under the crash
 * guard, with invariants that break in the middle of a call. The first byte selects the driver, the second how many
 * calls and lines of JSON later an invariant breaks (0: none does). Whatever the input: the guard catches the failure,
 * the run is broken off, nothing leaks. */
#include "base/seam.h"
#include "runs/run.h"
#include "runs/words/agent_words.h"
#include "sys/clock.h"
#include "sys/crash_guard.h"

#include <stdlib.h>

static const struct {
    const char *driver, *quirk;
} WHO[] = {{"acp", "opencode"}, {"acp", "codex-acp"}, {"acp", "gemini"},
           {"acp", "goose"},    {"acp", "qwen"},      {"acp", "claude-agent-acp"},
           {"claude", ""},      {"tmux", "claude"},   {"tmux", "codex"},
           {"openclaw", ""},    {"watched", ""},      {"command", ""}};

static unsigned planted_in, broken;

bool seam(const char *name) {
    (void)name;
    return planted_in > 0 && --planted_in == 0;
}

int64_t clock_wall(void) {
    return SECONDS(1794744000);
}

int64_t clock_steady(void) {
    return SECONDS(1794744000);
}

static void break_off(struct run *run, const char *why) {
    must(!run->broken && why[0]);
    run->broken = run->unresumable = true;
    broken++;
}

struct reading {
    struct run *run;
    const struct drive_out *out;
    struct arena *arena;
};

/* As run_drive.c does with the text of a turn. */
static void words_read(void *with) {
    struct reading *it = with;
    for (uint32_t i = 0; i < it->out->event_count; i++) {
        const struct drive_event *event = &it->out->events[i];
        struct signal signal;
        must(str_is_text(event->text) && str_is_text(event->detail) &&
             str_is_text(event->session) && str_is_text(event->ask));
        if (event->kind == DRIVE_ENDED && event->text.len > 0)
            update_signal(event->text, WHO_AGENT, it->run->goal, 1, it->arena, &signal);
    }
}

static void call(struct run *run, const struct driver_call *call, struct arena *kept,
                 struct str *ask) {
    struct arena arena = {0};
    struct drive_out out = {.arena = &arena, .most = HOLD_WRITE};
    struct reading reading = {run, &out, &arena};
    bool was_broken = run->broken;
    struct crash_guard_report report = {.why = ""};
    if (driver_call(run, call, &out, &report)) {
        must(!was_broken);
        if (!driver_parses(words_read, &reading, &report))
            break_off(run, report.why);
        for (uint32_t i = 0; i < out.event_count; i++)
            if (out.events[i].kind == DRIVE_ASKS_FOR)
                *ask = arena_copy(kept, out.events[i].ask);
    } else if (!was_broken)
        break_off(run, report.why);
    arena_free(&arena);
}

static void act(struct run *run, char letter, struct arena *kept, struct str *ask) {
    struct driver_call it = {.dispatch = id_derive(STR("fuzz"), STR("1")), .text = *ask};
    if (letter == 's' && !run->broken && run->driver->ready(run->state)) {
        it.verb = DRIVER_SEND;
        it.text = STR("do it");
    } else if (letter == 'a' || letter == 'r') {
        it.verb = DRIVER_ANSWER;
        it.answer = letter == 'a' ? DRIVE_ALLOW : DRIVE_REJECT;
    } else if (letter == 'i')
        it.verb = DRIVER_INTERRUPT;
    else if (letter == 'l')
        it.verb = DRIVER_LOOK;
    else if (letter == 't' && !run->broken && run->driver->due(run->state) <= clock_steady())
        it.verb = DRIVER_TICK;
    else if (letter == 'g')
        it.verb = DRIVER_GONE;
    else
        return;
    call(run, &it, kept, ask);
}

/* OVERSEER_FUZZ_DRIVER: uses only the rows of that driver. */
static size_t who_of(uint8_t byte) {
    const char *only = getenv("OVERSEER_FUZZ_DRIVER");
    size_t rows[count_of(WHO)], count = 0;
    for (size_t i = 0; i < count_of(WHO); i++)
        if (!only || str_equal(str_of(only), str_of(WHO[i].driver)))
            rows[count++] = i;
    must(count > 0);
    return rows[byte % count];
}

static void play(struct run *run, struct str input) {
    struct arena kept = {0};
    struct str ask = {"", 0};
    uint64_t offset = 0;
    call(run, &(struct driver_call){.verb = DRIVER_BEGIN}, &kept, &ask);
    while (input.len > 0) {
        const char *feed = memchr(input.at, '\n', input.len);
        struct str line = {input.at, feed ? (size_t)(feed - input.at) + 1 : input.len};
        input = (struct str){input.at + line.len, input.len - line.len};
        if (line.len > 1 && line.at[0] == '!') {
            act(run, line.at[1], &kept, &ask);
            continue;
        }
        call(run, &(struct driver_call){.verb = DRIVER_FEED, .text = line, .offset = offset}, &kept,
             &ask);
        offset += line.len;
    }
    arena_free(&kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    drive_memory_begin();
    size_t who = who_of(data[0]);
    struct run run = {.driver = driver_named(str_of(WHO[who].driver))};
    run.spec = (struct drive_spec){.quirk = str_of(WHO[who].quirk),
                                   .home = STR("/home"),
                                   .cwd = STR("/tree"),
                                   .program = STR("/bin/agent")};
    run.state = calloc(1, run.driver->size);
    planted_in = data[1] % 64;
    broken = 0;
    play(&run, (struct str){(const char *)data + 2, size - 2});
    must(broken <= 1);
    planted_in = 0;
    drive_input_free(&run.input);
    free(run.state);
    return 0;
}
