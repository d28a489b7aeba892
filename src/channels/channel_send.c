/* SPDX-License-Identifier: Apache-2.0 */
/* One send on a channel: its deadline, its token, and how it ends. */
#include "channels/channel_state.h"

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

void channel_sends_report(struct channels *channels) {
    while (channels->endings) {
        struct channel_send *send = channels->endings;
        channels->endings = send->next;
        channel_send_tell(send);
    }
}

static void teller_passed(uv_timer_t *timer) {
    channel_sends_report(timer->data);
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
        return "it is not a regular file";
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
           : !plain                  ? "it must be one line without spaces"
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
    words_free(&name);
    return !problem;
}
