/* SPDX-License-Identifier: Apache-2.0 */
/* Delivers a message to a person outside of Overseer and reports the outcome. This file starts and ends sends; each
 * kind of service has its own file. */
#include "base/memory.h"
#include "channels/channel_state.h"

static const char *const SEND_RESULT_TEXT[SEND_RESULTS] = {"done", "later", "refused", "unknown"};
const struct names SEND_RESULT_NAMES = NAMES_OF(SEND_RESULT_TEXT);

#define SERVICE(number, constant, name, sort, needs, shown, begin) [number] = {shown, begin},
static const struct service {
    const char *name; /* for people */
    channel_begin *begin;
} SERVICES[CHANNEL_KINDS] = {CHANNEL_LIST(SERVICE)};

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

/* ---- starting a send ---- */

static struct channel_send *channel_send_make(struct channels *channels,
                                              const struct channel *channel, channel_sent *done,
                                              void *with) {
    struct channel_send *send = memory_new(sizeof *send);
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
    if (broken)
        channel_send_end(send, SEND_REFUSED, "the channel %s", broken);
    else if (send->channels->count > LIMIT_SAYING)
        channel_send_end(send, SEND_LATER, "too many messages are being sent");
    return !send->ended;
}

void channel_say(struct channels *channels, const struct channel *channel,
                 const struct notice *notice, channel_sent *done, void *with) {
    must(!channels->stopping && channel->kind < CHANNEL_KINDS);
    struct channel_send *send = channel_send_make(channels, channel, done, with);
    if (channel_send_may_begin(send, channel))
        SERVICES[channel->kind].begin(send, channel, notice);
}

void channel_pull(struct channels *channels, const struct channel *channel, const struct pull *pull,
                  channel_sent *done, void *with) {
    must(!channels->stopping && channel_sort(channel->kind) == SORT_TRACKER);
    struct channel_send *send = channel_send_make(channels, channel, done, with);
    if (channel_send_may_begin(send, channel))
        pull_begin(send, channel, pull);
}

/* ---- starting and stopping all channels ---- */

struct channels *channels_start(uv_loop_t *loop, int64_t (*now)(void)) {
    struct channels *channels = memory_new(sizeof *channels);
    *channels = (struct channels){
        .loop = loop, .now = now, .http = channels_http_start(loop), .handles = 2};
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
    channel_sends_report(channels);
    channels_http_stop(channels->http, channels_closed, channels);
    uv_close((uv_handle_t *)&channels->teller, teller_closed);
}
