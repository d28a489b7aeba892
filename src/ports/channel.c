/* SPDX-License-Identifier: Apache-2.0 */
/* How does a message reach a person outside of Overseer, and what came of it? Here it begins and ends; each sort of service
 * has a file of its own. */
#include "ports/channel_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const SAID[SAIDS] = {"done", "later", "refused", "unknown"};
const struct names SAID_NAMES = NAMES_OF(SAID);

static const struct service {
    const char *name; /* for people */
    channel_begin *begin;
} SERVICES[CHANNEL_KINDS] = {
    [CHANNEL_DESKTOP] = {"the desktop", desktop_begin},
    [CHANNEL_GITEA] = {"Gitea", tracker_begin},
    [CHANNEL_GITHUB] = {"GitHub", tracker_begin},
    [CHANNEL_GITLAB] = {"GitLab", tracker_begin},
    [CHANNEL_WEBHOOK] = {"the webhook", webhook_begin},
    [CHANNEL_SLACK] = {"Slack", slack_begin},
    [CHANNEL_DISCORD] = {"Discord", discord_begin},
    [CHANNEL_PAGERDUTY] = {"PagerDuty", pagerduty_begin},
    [CHANNEL_NTFY] = {"ntfy", ntfy_begin},
    [CHANNEL_COMMAND] = {"the command", command_begin},
};

struct channels {
    uv_loop_t *loop;
    int64_t (*now)(void);
    struct channels_http *http;
    uv_timer_t teller;             /* calls back when the loop comes around */
    struct saying *busy, *endings; /* endings: oldest first */
    unsigned count;                /* of both */
    unsigned handles;              /* still open; the last one frees */
    bool stopping;
};

uint64_t saying_left_ms(const struct saying *saying) {
    uint64_t now = uv_now(saying->channels->loop);
    return saying->deadline > now ? saying->deadline - now : 0;
}

int64_t saying_now(const struct saying *saying) {
    return saying->channels->now();
}

struct channels_http *saying_http(const struct saying *saying) {
    return saying->channels->http;
}

uv_loop_t *saying_loop(const struct saying *saying) {
    return saying->channels->loop;
}

unsigned channels_busy(const struct channels *channels) {
    return channels->count;
}

/* ---- ending ---- */

static void channels_closed(void *with) {
    struct channels *channels = with;
    if (--channels->handles == 0)
        free(channels);
}

static void teller_closed(uv_handle_t *handle) {
    channels_closed(handle->data);
}

static void tracker_free(struct tracker *tracker) {
    if (!tracker)
        return;
    struct words *all[] = {&tracker->base,    &tracker->repo, &tracker->to,
                           &tracker->title,   &tracker->body, &tracker->marker,
                           &tracker->earlier, &tracker->head, &tracker->onto};
    for (size_t i = 0; i < count_of(all); i++)
        words_free(all[i]);
    for (size_t i = 0; i < count_of(tracker->label_names); i++)
        words_free(&tracker->label_names[i]);
    free(tracker);
}

static void saying_free(struct saying *saying) {
    struct words *all[] = {&saying->token,    &saying->ca_path,   &saying->proxy,
                           &saying->http.url, &saying->http.body, &saying->http.answer,
                           &saying->url,      &saying->reference, &saying->why};
    for (size_t i = 0; i < count_of(all); i++)
        words_free(all[i]);
    tracker_free(saying->tracker);
    free(saying);
}

static void saying_unlink(struct saying *saying) {
    struct channels *channels = saying->channels;
    if (saying->before)
        saying->before->next = saying->next;
    else
        channels->busy = saying->next;
    if (saying->next)
        saying->next->before = saying->before;
    saying->next = saying->before = NULL;
}

static void saying_tell(struct saying *saying) {
    struct channel_outcome outcome = {.said = saying->said,
                                      .again_at = saying->again_at,
                                      .reference = words_str(&saying->reference),
                                      .url = words_str(&saying->url),
                                      .why = words_str(&saying->why)};
    saying->channels->count--;
    saying->done(saying->with, &outcome);
    saying_free(saying);
}

static void endings_tell(struct channels *channels) {
    while (channels->endings) {
        struct saying *saying = channels->endings;
        channels->endings = saying->next;
        saying_tell(saying);
    }
}

static void teller_passed(uv_timer_t *timer) {
    endings_tell(timer->data);
}

void saying_end(struct saying *saying, enum said said, const char *format, ...) {
    struct channels *channels = saying->channels;
    char text[LIMIT_WHY];
    va_list rest;
    must(!saying->ended && !saying->http.easy && !saying->program);
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    words_escape_line(&saying->why, MARKUP_NONE, str_cut_utf8(str_of(text), sizeof text - 4),
                      LIMIT_WHY);
    saying->ended = true;
    saying->said = said;
    saying_unlink(saying);
    struct saying **last = &channels->endings;
    while (*last)
        last = &(*last)->next;
    *last = saying;
    if (!channels->stopping)
        uv_timer_start(&channels->teller, teller_passed, 0, 0);
}

/* ---- tokens ---- */

/* A file, not something that could hang; a line, not something that could end a header. */
static const char *token_problem(int fd, struct words *to) {
    struct stat file;
    char text[LIMIT_TOKEN_FILE + 1];
    if (fd < 0 || fstat(fd, &file) != 0)
        return strerror(errno);
    if (!S_ISREG(file.st_mode))
        return "it is no plain file";
    ssize_t len = read(fd, text, sizeof text);
    if (len < 0)
        return strerror(errno);
    size_t used = (size_t)len;
    while (used > 0 && strchr(" \t\r\n", text[used - 1]))
        used--;
    bool plain = true;
    for (size_t i = 0; i < used; i++)
        plain = plain && text[i] > ' ' && text[i] < 0x7F;
    words_add(to, str_cut((struct str){text, used}, LIMIT_TOKEN_FILE));
    explicit_bzero(text, sizeof text);
    return used == 0                 ? "it is empty"
           : used > LIMIT_TOKEN_FILE ? "it is too long"
           : !plain                  ? "it has to be one line without spaces"
                                     : NULL;
}

bool token_read(struct saying *saying, struct str path, struct words *to) {
    struct words name = {0};
    words_add(&name, path);
    int fd = open(words_cstr(&name), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const char *problem = token_problem(fd, to);
    if (fd >= 0)
        close(fd);
    if (problem)
        saying_end(saying, SAID_REFUSED, "the file %s cannot be used: %s", words_cstr(&name),
                   problem);
    else if (to->failed)
        saying_end(saying, SAID_LATER, "there is no memory for a token");
    bool right = !problem && !to->failed;
    words_free(&name);
    return right;
}

/* ---- beginning ---- */

static struct saying *saying_make(struct channels *channels, const struct channel *channel,
                                  channel_said *done, void *with) {
    struct saying *saying = calloc(1, sizeof *saying);
    if (!saying)
        return NULL;
    saying->channels = channels;
    saying->done = done;
    saying->with = with;
    saying->kind = channel->kind;
    saying->service = SERVICES[channel->kind].name;
    uv_update_time(channels->loop);
    saying->deadline = uv_now(channels->loop) + (uint64_t)(channel->within / 1000);
    words_add(&saying->ca_path, channel->ca_path);
    words_add(&saying->proxy, channel->proxy);
    saying->next = channels->busy;
    if (channels->busy)
        channels->busy->before = saying;
    channels->busy = saying;
    channels->count++;
    return saying;
}

/* False: it has ended before it began. */
static bool saying_may_begin(struct saying *saying, const struct channel *channel) {
    const char *broken = channel_broken(channel);
    if (saying->ca_path.failed || saying->proxy.failed)
        saying_end(saying, SAID_LATER, "there is no memory");
    else if (broken)
        saying_end(saying, SAID_REFUSED, "the channel %s", broken);
    else if (saying->channels->count > LIMIT_SAYING)
        saying_end(saying, SAID_LATER, "too many messages are under way");
    return !saying->ended;
}

bool channel_say(struct channels *channels, const struct channel *channel,
                 const struct notice *notice, channel_said *done, void *with) {
    must(!channels->stopping && channel->kind < CHANNEL_KINDS);
    struct saying *saying = saying_make(channels, channel, done, with);
    if (saying && saying_may_begin(saying, channel))
        SERVICES[channel->kind].begin(saying, channel, notice);
    return saying != NULL;
}

bool channel_pull(struct channels *channels, const struct channel *channel, const struct pull *pull,
                  channel_said *done, void *with) {
    must(!channels->stopping && SERVICES[channel->kind].begin == tracker_begin);
    struct saying *saying = saying_make(channels, channel, done, with);
    if (saying && saying_may_begin(saying, channel))
        pull_begin(saying, channel, pull);
    return saying != NULL;
}

/* ---- all of them ---- */

struct channels *channels_start(uv_loop_t *loop, int64_t (*now)(void)) {
    struct channels *channels = calloc(1, sizeof *channels);
    struct channels_http *http = channels ? channels_http_start(loop) : NULL;
    if (!http) {
        free(channels);
        return NULL;
    }
    *channels = (struct channels){.loop = loop, .now = now, .http = http, .handles = 2};
    uv_timer_init(loop, &channels->teller);
    channels->teller.data = channels;
    return channels;
}

void channels_stop(struct channels *channels) {
    channels->stopping = true;
    while (channels->busy) {
        struct saying *saying = channels->busy;
        http_cancel(saying);
        program_cancel(saying);
        saying_end(saying, SAID_UNKNOWN, "Overseer stopped before there was an answer");
    }
    endings_tell(channels);
    channels_http_stop(channels->http, channels_closed, channels);
    uv_close((uv_handle_t *)&channels->teller, teller_closed);
}
