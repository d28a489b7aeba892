/* SPDX-License-Identifier: Apache-2.0 */
/* Plays a driver against the output of an agent. */
#include "unit/unit.h"

#include "drive/scene.h"
#include "drivers/drive.h"

#define NOON ((int64_t)1794744000 * 1000000)

struct play {
    const struct driver *driver;
    void *state;
    struct drive_input input;
    struct arena *arena;
    struct drive_out events, shown, wrote; /* used as growing texts */
    char log[1 << 16];
    size_t read;
    int64_t now;
    struct drive_spec spec;
    struct str ask;
    uint32_t dispatch;
};

static struct id dispatch_of(uint32_t n) {
    char key[16];
    snprintf(key, sizeof key, "%u", n);
    return id_derive(STR("scene"), str_of(key));
}

/* quota(5h 6200 allowed 3600, 7d ? unknown 0, paid 3600) */
static struct str quota_words(const struct quota *quota, struct arena *arena) {
    static const char *const PAID[] = {"", ", free", ", paid"};
    struct drive_out words = {.arena = arena};
    for (uint32_t i = 0; i < LIMIT_QUOTA_WINDOWS && quota->windows[i].kind[0]; i++) {
        const struct quota_window *window = &quota->windows[i];
        struct str used = window->used ? arena_format(arena, "%u", window->used - 1) : STR("?");
        drive_say(&words,
                  arena_format(arena, "%s%s %.*s %s %lld", i > 0 ? ", " : "", window->kind,
                               STR_ARG(used), name_of(&QUOTA_STATUS_NAMES, window->status),
                               window->resets_at ? (long long)((window->resets_at - NOON) / 1000000)
                                                 : 0));
    }
    drive_say(&words, str_of(PAID[quota->overage]));
    if (quota->overage_until)
        drive_say(&words, arena_format(arena, " %lld",
                                       (long long)((quota->overage_until - NOON) / 1000000)));
    return arena_format(arena, "quota(%.*s)", STR_ARG(words.bytes));
}

static struct str event_words(const struct drive_event *event, struct arena *arena) {
    static const char *const ENDS[] = {"done", "cancelled", "cut"};
    static const char *const TRISTATE[] = {"unknown", "yes", "no"};
    struct str text = event->text;
    switch (event->kind) {
    case DRIVE_STARTED: return arena_format(arena, "started(%.*s)", STR_ARG(event->session));
    case DRIVE_ACCEPTED: return STR("accepted");
    case DRIVE_PROGRESS: return arena_format(arena, "progress(%.*s)", STR_ARG(text));
    case DRIVE_CHATTER: return (struct str){"", 0};
    case DRIVE_TOOL_BEGUN: return arena_format(arena, "tool(%.*s)", STR_ARG(text));
    case DRIVE_TOOL_ENDED: return STR("tool_ended");
    case DRIVE_USAGE:
        return arena_format(arena, "usage(%llu,%llu,%u)", (unsigned long long)event->tokens,
                            (unsigned long long)event->cost, event->context);
    case DRIVE_ASKS_FOR:
        return arena_format(arena, event->named ? "asks(%.*s,%.*s)" : "asks_to(%.*s,%.*s)",
                            STR_ARG(event->ask), STR_ARG(text));
    case DRIVE_ENDED:
        return arena_format(arena, "ended(%s,%.*s)", ENDS[event->reason], STR_ARG(text));
    case DRIVE_FAILED: return arena_format(arena, "failed(%.*s)", STR_ARG(text));
    case DRIVE_LIMITED:
        return arena_format(arena, "limited(%lld)",
                            event->until ? (long long)((event->until - NOON) / 1000000) : 0);
    case DRIVE_DELIVERED: return arena_format(arena, "delivered(%s)", TRISTATE[event->arrived]);
    case DRIVE_BROKEN: return arena_format(arena, "broken(%.*s)", STR_ARG(text));
    case DRIVE_EXITED: return arena_format(arena, "exited(%lld)", (long long)event->status);
    case DRIVE_QUOTA: return quota_words(event->quota, arena);
    case DRIVE_KINDS: break;
    }
    return (struct str){"", 0};
}

static void out_take(struct play *play, const struct drive_out *out) {
    char id[ID_TEXT + 1];
    drive_say(&play->wrote, out->bytes);
    for (uint32_t i = 0; i < out->event_count; i++) {
        const struct drive_event *event = &out->events[i];
        struct str words = event_words(event, play->arena);
        id_format(event->dispatch, id);
        drive_say(&play->events, arena_format(play->arena, "%d@%llu %.*s %s %.*s\n",
                                              (int)event->kind, (unsigned long long)event->offset,
                                              STR_ARG(words), id, STR_ARG(event->detail)));
        if (words.len > 0 && play->shown.bytes.len > 0)
            drive_say(&play->shown, STR(" "));
        drive_say(&play->shown, words);
        if (event->kind == DRIVE_ASKS_FOR)
            play->ask = event->ask;
    }
}

/* Simulates a restart: only the saved state and the log remain. */
static void restart(struct play *play) {
    const struct driver *driver = play->driver;
    struct str saved = shape_encode(driver->shape, play->state, play->arena);
    memset(play->state, 0xA5, driver->size);
    free(play->state);
    play->state = calloc(1, driver->size);
    assert_non_null(play->state);
    assert_true(shape_decode_in(driver->shape, saved, play->arena, play->state));
    assert_true(!driver->quirk_set || play->spec.quirk.len == 0 ||
                driver->quirk_set(play->state, play->spec.quirk));
    drive_input_free(&play->input);
    uint64_t from = play->driver->resume_at(play->state);
    struct drive_out out = {.arena = play->arena};
    drive_input(&play->input, play->driver, play->state,
                (struct str){play->log + from, (size_t)(play->read - from)}, from, play->now, &out);
    out_take(play, &out);
}

static void part_feed(struct play *play, size_t len) {
    struct drive_out out = {.arena = play->arena};
    drive_input(&play->input, play->driver, play->state, (struct str){play->log + play->read, len},
                play->read, play->now, &out);
    play->read += len;
    out_take(play, &out);
}

static void lines_feed(struct play *play, const char *lines, enum cutting cutting,
                       struct chance *chance) {
    size_t len = strlen(lines), done = 0;
    assert_true(play->read + len < sizeof play->log);
    for (size_t i = 0; i < len; i++)
        play->log[play->read + i] = lines[i] == '\'' ? '"' : lines[i];
    while (done < len) {
        uint32_t most = (uint32_t)(len - done < 300 ? len - done : 300);
        size_t part = cutting == CUT_NONE     ? len
                      : cutting == CUT_ANYHOW ? 1 + chance_below(chance, most)
                                              : 1;
        part_feed(play, part);
        done += part;
        if (cutting == CUT_BYTES_AND_FORGET)
            restart(play);
    }
}

static void act_do(struct play *play, const char *act) {
    const struct driver *driver = play->driver;
    struct drive_out out = {.arena = play->arena};
    long number = strchr(act, ' ') ? atol(strchr(act, ' ')) : 0;
    if (strcmp(act, "begin") == 0)
        driver->begin(play->state, &play->spec, play->now, &out);
    else if (strncmp(act, "send", 4) == 0) {
        struct str text = act[4] ? str_of(act + 5) : STR("do it");
        check(driver->ready(play->state), "it is not ready");
        driver->send(play->state, dispatch_of(++play->dispatch), text, play->now, &out);
    } else if (strcmp(act, "allow") == 0)
        driver->answer(play->state, play->ask, DRIVE_ALLOW, play->now, &out);
    else if (strcmp(act, "reject") == 0)
        driver->answer(play->state, play->ask, DRIVE_REJECT, play->now, &out);
    else if (strcmp(act, "interrupt") == 0)
        driver->interrupt(play->state, play->now, &out);
    else if (strcmp(act, "look") == 0)
        driver->look(play->state, dispatch_of(play->dispatch ? play->dispatch : 1), play->now,
                     &out);
    else if (strncmp(act, "tick", 4) == 0) {
        play->now += SECONDS(number);
        check(driver->due(play->state) <= play->now, "it is not due");
        driver->tick(play->state, play->now, &out);
    } else if (strncmp(act, "gone", 4) == 0)
        driver->gone(play->state, number, play->now, &out);
    else
        check(*act == 0, "what is %s?", act);
    out_take(play, &out);
}

struct played scene_play(const struct scene *scene, enum cutting cutting, struct chance *chance,
                         struct arena *arena) {
    static const struct str MCP_ARGV[] = {{"/bin/door", 9}, {"mcp", 3}};
    struct play *play = calloc(1, sizeof *play);
    assert_non_null(play);
    play->driver = driver_named(str_of(scene->driver));
    play->arena = play->events.arena = play->shown.arena = play->wrote.arena = arena;
    play->now = NOON;
    play->spec = (struct drive_spec){.program = STR("/bin/agent"),
                                     .quirk = str_of(scene->quirk),
                                     .home = STR("/home"),
                                     .cwd = STR("/tree"),
                                     .run = id_derive(STR("scene"), STR("run")),
                                     .session = scene->load ? STR("s1") : STR(""),
                                     .mcp = {.token = STR("t0ken"), .argv = MCP_ARGV, .argc = 2},
                                     .pace = 1000,
                                     .stretches = 2,
                                     .ask = scene->ask};
    assert_non_null(play->driver);
    play->state = calloc(1, play->driver->size);
    for (size_t i = 0; i < SCENE_ACTS && scene->acts[i].act; i++) {
        act_do(play, scene->acts[i].act);
        if (cutting == CUT_BYTES_AND_FORGET)
            restart(play);
        if (scene->acts[i].lines)
            lines_feed(play, scene->acts[i].lines, cutting, chance);
    }
    struct played played = {play->events.bytes, play->shown.bytes, play->wrote.bytes};
    drive_input_free(&play->input);
    free(play->state);
    free(play);
    return played;
}
