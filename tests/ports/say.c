/* SPDX-License-Identifier: Apache-2.0 */
/* Sends requests through the channels and prints their outcomes. A helper program of tests/e2e/people.py.
 *
 *     say SETTINGS.toml [--stop-after MS | --fail-at N] < requests
 *
 * One request per line: {"channel": NAME, "notice": {…}}; the name "*" means every channel that ESCALATE-03 means. A pull request
 * is {"channel": NAME, "pull": {…}}. All of them start at once. Prints one outcome per line, as they arrive. The last
 * line is {"lateness": MS}: the longest time between two iterations of the loop. --fail-at: the channels' Nth allocation fails. */
#include "channels/channel.h"
#include "config/config.h"
#include "ops/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 256, BEAT_MS = 5 };

static struct {
    struct channels *channels;
    struct settings *settings;
    uv_loop_t loop;
    uv_timer_t beat, stopper;
    uint64_t beaten, lateness;
    unsigned left;
    bool running, stopped;
} say;

/* ---- allocations that fail ---- */

static long allocations, fail_at; /* counted while the channels run; 0: none fails */
static bool counting;

static bool allocation_fails(void) {
    return counting && ++allocations == fail_at;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_malloc(size_t size) {
    return allocation_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return allocation_fails() ? NULL : __real_calloc(count, size);
}

/* ---- sending ---- */

static int64_t now(void) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    return SECONDS(at.tv_sec) + at.tv_nsec / 1000;
}

static json_t *text(struct str s) {
    return json_stringn(s.at ? s.at : "", s.len);
}

static void stop(void) {
    if (say.stopped)
        return;
    say.stopped = true;
    channels_stop(say.channels);
    uv_close((uv_handle_t *)&say.beat, NULL);
    uv_close((uv_handle_t *)&say.stopper, NULL);
}

static void sent(void *with, const struct channel_outcome *outcome) {
    json_t *line =
        json_pack("{s:I, s:s, s:o, s:o, s:o, s:I, s:I}", "n", (json_int_t)(intptr_t)with, "said",
                  name_of(&SEND_RESULT_NAMES, outcome->result), "reference",
                  text(outcome->reference), "url", text(outcome->url), "why", text(outcome->why),
                  "againAt", (json_int_t)outcome->again_at, "now", (json_int_t)now());
    must(line);
    json_dumpf(line, stdout, JSON_COMPACT);
    putchar('\n');
    fflush(stdout);
    json_decref(line);
    if (--say.left == 0 && say.running && !say.stopped)
        stop();
}

static void beaten(uv_timer_t *timer) {
    uint64_t at = uv_hrtime() / 1000000, since = at - say.beaten;
    (void)timer;
    if (say.beaten && since > say.lateness)
        say.lateness = since;
    say.beaten = at;
}

static void stop_now(uv_timer_t *timer) {
    (void)timer;
    stop();
}

static struct id id_of(const json_t *notice, const char *name) {
    struct id id = {{0}};
    const char *value = json_string_value(json_object_get(notice, name));
    must(!value || id_parse(str_of(value), &id));
    return id;
}

static void channel_use(const struct channel *configured, const struct notice *notice,
                        const struct pull *pull, intptr_t n) {
    struct channel channel = *configured;
    unsigned before = ++say.left;
    counting = true;
    if (notice)
        channel_say(say.channels, &channel, notice, sent, (void *)n);
    else
        channel_pull(say.channels, &channel, pull, sent, (void *)n);
    counting = false;
    must(say.left == before &&
         channels_busy(say.channels) == before); /* never completes before the call returns */
}

static struct str member(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return (struct str){json_string_value(value), json_string_length(value)};
}

static void pull_take(const json_t *given, struct str name, intptr_t n) {
    struct pull pull = {.head = member(given, "head"),
                        .base = member(given, "base"),
                        .commit = member(given, "commit"),
                        .title = member(given, "title"),
                        .text = member(given, "text"),
                        .goal = member(given, "goal"),
                        .node = member(given, "node"),
                        .checked_by = member(given, "checkedBy")};
    const struct channel *channel = settings_channel(say.settings, name);
    must(channel);
    channel_use(channel, NULL, &pull, n);
}

/* The channel and the notice are gone as soon as the call returns: they must not be used later. */
static void request_take(const char *line, intptr_t n) {
    struct arena arena = {0};
    struct notice notice = {.at = 0};
    char why[200];
    json_t *request = json_loads(line, 0, NULL), *given = json_object_get(request, "notice");
    if (json_object_get(request, "pull")) {
        pull_take(json_object_get(request, "pull"), member(request, "channel"), n);
        json_decref(request);
        return;
    }
    must(given);
    notice.id = id_of(given, "id");
    notice.goal = id_of(given, "goal");
    json_object_del(given, "id");
    json_object_del(given, "goal");
    if (!json_get_fields(given, NOTICE.fields, NOTICE.count, &arena, &notice, why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        exit(2);
    }
    struct str encoded = shape_encode(&NOTICE, &notice, &arena);
    struct notice *copy = arena_new(&arena, struct notice, 1);
    must(encoded.len <= LIMIT_NOTICE && shape_decode_in(&NOTICE, encoded, &arena, copy));
    const char *name = json_string_value(json_object_get(request, "channel"));
    must(name);
    for (uint32_t i = 0; i < say.settings->lists.channel_count; i++)
        if (strcmp(name, "*") == 0
                ? alarm_reaches(copy->alarm, say.settings->lists.channels[i].kind)
                : str_equal(say.settings->lists.channels[i].id, str_of(name)))
            channel_use(&say.settings->lists.channels[i], copy, NULL, n);
    json_decref(request);
    arena_free(&arena);
}

static struct settings *settings_read(const char *file) {
    struct config_source source = {.file = file, .ignore_environment = true};
    struct config_report *report = calloc(1, sizeof *report);
    must(report);
    struct settings *settings = config_load(&source, report);
    for (uint32_t i = 0; i < report->count && i < CONFIG_PROBLEMS; i++)
        fprintf(stderr, "%s\n", report->problems[i]);
    free(report);
    if (!settings)
        exit(2);
    return settings;
}

int main(int count, char **arguments) {
    static char lines[MOST][65536];
    must(count >= 2);
    if (count >= 4 && strcmp(arguments[2], "--fail-at") == 0)
        fail_at = atol(arguments[3]);
    say.settings = settings_read(arguments[1]);
    uv_loop_init(&say.loop);
    uv_timer_init(&say.loop, &say.beat);
    uv_timer_init(&say.loop, &say.stopper);
    say.channels = channels_start(&say.loop, now);
    must(say.channels);
    unsigned all = 0;
    while (all < MOST && fgets(lines[all], sizeof lines[0], stdin))
        all++;
    for (unsigned i = 0; i < all; i++)
        request_take(lines[i], (intptr_t)i);
    uv_timer_start(&say.beat, beaten, 0, BEAT_MS);
    say.running = true;
    if (say.left == 0)
        stop();
    if (!say.stopped && count >= 4 && strcmp(arguments[2], "--stop-after") == 0)
        uv_timer_start(&say.stopper, stop_now, (uint64_t)atoi(arguments[3]), 0);
    counting = true;
    uv_run(&say.loop, UV_RUN_DEFAULT);
    counting = false;
    must(say.left == 0);
    must(uv_loop_close(&say.loop) == 0); /* every handle is closed */
    printf("{\"lateness\": %llu, \"allocations\": %ld}\n", (unsigned long long)say.lateness,
           allocations);
    config_free(say.settings);
    return 0;
}
