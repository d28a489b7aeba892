/* SPDX-License-Identifier: Apache-2.0 */
/* Delivers a message to a person outside of Overseer and reports the outcome. This file starts and ends sends; each
 * kind of service has its own file. */
#include "channels/channel_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const SEND_RESULT_TEXT[SEND_RESULTS] = {"done", "later", "refused", "unknown"};
const struct names SEND_RESULT_NAMES = NAMES_OF(SEND_RESULT_TEXT);

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
    uv_timer_t teller;                   /* reports ended sends when the loop comes around */
    struct channel_send *busy, *endings; /* endings: oldest first */
    unsigned count;                      /* sends in both lists */
    unsigned handles;                    /* still open; the last one to close frees this */
    bool stopping;
};

uint64_t channel_send_left_ms(const struct channel_send *send) {
    uint64_t now = uv_now(send->channels->loop);
    return send->deadline > now ? send->deadline - now : 0;
}

int64_t channel_send_now(const struct channel_send *send) {
    return send->channels->now();
}

struct channels_http *channel_send_http(const struct channel_send *send) {
    return send->channels->http;
}

uv_loop_t *channel_send_loop(const struct channel_send *send) {
    return send->channels->loop;
}

unsigned channels_busy(const struct channels *channels) {
    return channels->count;
}

/* ---- ending a send ---- */

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

static void channel_send_free(struct channel_send *send) {
    struct words *all[] = {&send->token,    &send->ca_path,   &send->proxy,
                           &send->http.url, &send->http.body, &send->http.answer,
                           &send->url,      &send->reference, &send->why};
    for (size_t i = 0; i < count_of(all); i++)
        words_free(all[i]);
    tracker_free(send->tracker);
    free(send);
}

static void channel_send_unlink(struct channel_send *send) {
    struct channels *channels = send->channels;
    if (send->before)
        send->before->next = send->next;
    else
        channels->busy = send->next;
    if (send->next)
        send->next->before = send->before;
    send->next = send->before = NULL;
}

static void channel_send_tell(struct channel_send *send) {
    struct channel_outcome outcome = {.result = send->result,
                                      .again_at = send->again_at,
                                      .reference = words_str(&send->reference),
                                      .url = words_str(&send->url),
                                      .why = words_str(&send->why)};
    send->channels->count--;
    send->done(send->with, &outcome);
    channel_send_free(send);
}

static void endings_tell(struct channels *channels) {
    while (channels->endings) {
        struct channel_send *send = channels->endings;
        channels->endings = send->next;
        channel_send_tell(send);
    }
}

static void teller_passed(uv_timer_t *timer) {
    endings_tell(timer->data);
}

void channel_send_end(struct channel_send *send, enum send_result result, const char *format, ...) {
    struct channels *channels = send->channels;
    char text[LIMIT_WHY];
    va_list rest;
    must(!send->ended && !send->http.easy && !send->program);
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    words_escape_line(&send->why, MARKUP_NONE, str_cut_utf8(str_of(text), sizeof text - 4),
                      LIMIT_WHY);
    send->ended = true;
    send->result = result;
    channel_send_unlink(send);
    struct channel_send **last = &channels->endings;
    while (*last)
        last = &(*last)->next;
    *last = send;
    if (!channels->stopping)
        uv_timer_start(&channels->teller, teller_passed, 0, 0);
}

/* ---- tokens ---- */

/* The token must be in a regular file, because anything else could block, and on one line, because a line break could
 * end a header. */
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

bool token_read(struct channel_send *send, struct str path, struct words *to) {
    struct words name = {0};
    words_add(&name, path);
    int fd = open(words_cstr(&name), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const char *problem = token_problem(fd, to);
    if (fd >= 0)
        close(fd);
    if (problem)
        channel_send_end(send, SEND_REFUSED, "the file %s cannot be used: %s", words_cstr(&name),
                         problem);
    else if (to->failed)
        channel_send_end(send, SEND_LATER, "there is no memory for a token");
    bool right = !problem && !to->failed;
    words_free(&name);
    return right;
}

/* ---- starting a send ---- */

static struct channel_send *channel_send_make(struct channels *channels,
                                              const struct channel *channel, channel_sent *done,
                                              void *with) {
    struct channel_send *send = calloc(1, sizeof *send);
    if (!send)
        return NULL;
    send->channels = channels;
    send->done = done;
    send->with = with;
    send->kind = channel->kind;
    send->service = SERVICES[channel->kind].name;
    uv_update_time(channels->loop);
    send->deadline = uv_now(channels->loop) + (uint64_t)(channel->within / 1000);
    words_add(&send->ca_path, channel->ca_path);
    words_add(&send->proxy, channel->proxy);
    send->next = channels->busy;
    if (channels->busy)
        channels->busy->before = send;
    channels->busy = send;
    channels->count++;
    return send;
}

/* False: the send has ended before it began. */
static bool channel_send_may_begin(struct channel_send *send, const struct channel *channel) {
    const char *broken = channel_broken(channel);
    if (send->ca_path.failed || send->proxy.failed)
        channel_send_end(send, SEND_LATER, "there is no memory");
    else if (broken)
        channel_send_end(send, SEND_REFUSED, "the channel %s", broken);
    else if (send->channels->count > LIMIT_SAYING)
        channel_send_end(send, SEND_LATER, "too many messages are under way");
    return !send->ended;
}

bool channel_say(struct channels *channels, const struct channel *channel,
                 const struct notice *notice, channel_sent *done, void *with) {
    must(!channels->stopping && channel->kind < CHANNEL_KINDS);
    struct channel_send *send = channel_send_make(channels, channel, done, with);
    if (send && channel_send_may_begin(send, channel))
        SERVICES[channel->kind].begin(send, channel, notice);
    return send != NULL;
}

bool channel_pull(struct channels *channels, const struct channel *channel, const struct pull *pull,
                  channel_sent *done, void *with) {
    must(!channels->stopping && SERVICES[channel->kind].begin == tracker_begin);
    struct channel_send *send = channel_send_make(channels, channel, done, with);
    if (send && channel_send_may_begin(send, channel))
        pull_begin(send, channel, pull);
    return send != NULL;
}

/* ---- starting and stopping all channels ---- */

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
        struct channel_send *send = channels->busy;
        http_cancel(send);
        program_cancel(send);
        channel_send_end(send, SEND_UNKNOWN, "Overseer stopped before there was an answer");
    }
    endings_tell(channels);
    channels_http_stop(channels->http, channels_closed, channels);
    uv_close((uv_handle_t *)&channels->teller, teller_closed);
}
