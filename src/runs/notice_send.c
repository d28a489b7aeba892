/* SPDX-License-Identifier: Apache-2.0 */
#include "runs/notice_send.h"

#include "base/memory.h"
#include "channels/channel.h"
#include "core/people/route.h"
#include "engine/reload.h"
#include "model/setting/setting.h"
#include "ops/question/question_view.h"
#include "runs/run_log.h"
#include "sys/clock.h"
#include "sys/crash_guard.h"

#include <stdlib.h>

static const int64_t FRESH =
    SECONDS(2); /* a notice decided longer ago may already have been tried */

struct notice_sender {
    struct executor *executor;
    struct daemon_context *context;
    struct channels *channels;
    uv_async_t worded;
    pthread_mutex_t lock;
    struct notice_send *worded_first; /* their text is ready, newest first */
    struct notice_send *first, *last; /* loop thread only: in progress or waiting, oldest first */
    bool stopped;
};

struct notice_send {
    struct notice_send *next;
    bool begun;
    struct notice_sender *notice_sender;
    struct act *act;
    struct lookup lookup;
    struct id goal;
    struct arena arena;
    struct notice notice;
    const struct store_answer *answer; /* only while its text is made */
    const char *trouble;               /* why it cannot be sent; NULL: it can */
    enum hearing heard;                /* the result in that case */
};

_Static_assert((int)SEND_DONE == (int)HEARD_YES && (int)SEND_LATER == (int)HEARD_LATER &&
                   (int)SEND_REFUSED == (int)HEARD_NO && (int)SEND_UNKNOWN == (int)HEARD_PERHAPS,
               "what a channel says is what decisions hear");

static void notice_send_go_on(struct notice_sender *notice_sender);

static void notice_send_free(struct notice_send *send) {
    arena_free(&send->arena);
    free(send->act);
    free(send);
}

static void notice_send_unlink(struct notice_sender *notice_sender, struct notice_send *send) {
    struct notice_send **at = &notice_sender->first, *before = NULL;
    while (*at && *at != send) {
        before = *at;
        at = &(*at)->next;
    }
    if (!*at)
        return;
    *at = send->next;
    if (notice_sender->last == send)
        notice_sender->last = before;
}

/* When the daemon stops, nothing is reported: the message still has to be sent, and the next daemon looks first whether
 * it was. */
static void notice_send_end(struct notice_send *send, enum hearing heard, int64_t until,
                            struct str text, struct str url) {
    struct log_about about = effect_about(&send->act->effect);
    if (about.task.len == 0)
        about.task = send->notice.node;
    if (heard == HEARD_YES)
        log_about(LEVEL_INFO, &about, "sent on channel %.*s", STR_ARG(send->notice.channel));
    else if (!send->notice_sender->stopped)
        log_about(LEVEL_WARNING, &about, "not sent on channel %.*s: %.*s",
                  STR_ARG(send->notice.channel), STR_ARG(str_cut_utf8(text, LIMIT_WHY)));
    if (!send->notice_sender->stopped)
        executor_report(
            send->notice_sender->executor, send->act,
            (struct signal){.to = heard,
                            .until = until,
                            .text = str_cut_utf8(text, LIMIT_WHY),
                            .outcome.reference = url.len <= LIMIT_SESSION ? url : STR("")});
    struct notice_sender *notice_sender = send->notice_sender;
    notice_send_unlink(notice_sender, send);
    notice_send_free(send);
    notice_send_go_on(notice_sender);
}

static void notice_send_fail(struct notice_send *send, enum hearing heard, const char *why) {
    notice_send_end(send, heard, 0, str_of(why), STR(""));
}

/* ---- composing its text, on the lookups' thread ---- */

static void words_make(void *with) {
    struct notice_send *send = with;
    const struct goal_loaded *loaded = &send->answer->loaded[0];
    const struct goal_shown *shown = &send->answer->shown;
    struct question_text text;
    struct goal_text goal = {0};
    struct question_name name;
    question_name_parse(send->notice.question, &name);
    const struct question *question =
        loaded->exists ? questions_find(&loaded->live.questions, name.n) : NULL;
    if (!question || !question_words(shown, question, &send->arena, &text)) {
        send->heard = HEARD_NO;
        send->trouble = "the question is no longer open";
        return;
    }
    struct str body = shown_text(shown, &loaded->goal.text);
    if (body.len > 0 && !shape_decode_in(&GOAL_TEXT, body, &send->arena, &goal))
        goal = (struct goal_text){0};
    struct notice worded =
        notice_worded(send->notice, question, &text, &goal, shown->title, &send->arena);
    /* a separate copy: the text read from the store is freed with the answer */
    struct str bytes = shape_encode(&NOTICE, &worded, &send->arena);
    if (!shape_decode_in(&NOTICE, bytes, &send->arena, &send->notice)) {
        send->heard = HEARD_NO;
        send->trouble = "its text is too long";
    }
}

static void looked_up(struct lookup *lookup, const struct store_answer *answer) {
    struct notice_send *send =
        (struct notice_send *)((char *)lookup - offsetof(struct notice_send, lookup));
    struct notice_sender *notice_sender = send->notice_sender;
    struct crash_guard_report report;
    send->answer = answer;
    send->heard = HEARD_LATER;
    if (answer->outcome != STORE_DONE)
        send->trouble = "its text could not be read from the store";
    else if (crash_guard_run(words_make, send, &report) != CRASH_GUARD_WHOLE)
        send->trouble = "out of memory for its text";
    pthread_mutex_lock(&notice_sender->lock);
    send->next = notice_sender->worded_first;
    notice_sender->worded_first = send;
    pthread_mutex_unlock(&notice_sender->lock);
    uv_async_send(&notice_sender->worded);
}

/* ---- sending it, on the loop ---- */

static void channel_has_sent(void *with, const struct channel_outcome *outcome) {
    struct notice_send *send = with;
    bool done = outcome->result == SEND_DONE;
    notice_send_end(send, (enum hearing)outcome->result, outcome->again_at,
                    done ? outcome->reference : outcome->why, outcome->url);
}

static void notice_send_say(struct notice_send *send) {
    struct notice_sender *notice_sender = send->notice_sender;
    const struct settings *settings = context_settings(notice_sender->context);
    const struct channel *channel = settings_channel(settings, send->notice.channel);
    if (send->trouble)
        notice_send_fail(send, send->heard, send->trouble);
    else if (!channel)
        notice_send_fail(send, HEARD_NO, "no channel of that name is configured here");
    else
        channel_say(notice_sender->channels, channel, &send->notice, channel_has_sent, send);
    context_settings_drop(settings);
}

/* Messages of one goal on one channel are sent one after the other, in the order in which they were decided. */
static bool has_turn(const struct notice_sender *notice_sender, const struct notice_send *send) {
    for (const struct notice_send *other = notice_sender->first; other && other != send;
         other = other->next)
        if (id_equal(other->goal, send->goal) &&
            str_equal(other->notice.channel, send->notice.channel))
            return false;
    return true;
}

/* A send that starts may end at once and change the list: start again from the beginning, until no send has its turn. */
static void notice_send_go_on(struct notice_sender *notice_sender) {
    struct notice_send *send = notice_sender->stopped ? NULL : notice_sender->first;
    while (send && (send->begun || !has_turn(notice_sender, send)))
        send = send->next;
    if (!send)
        return;
    send->begun = true;
    notice_send_say(send);
    notice_send_go_on(notice_sender);
}

static void worded_arrived(uv_async_t *async) {
    struct notice_sender *notice_sender = async->data;
    pthread_mutex_lock(&notice_sender->lock);
    struct notice_send *newest = notice_sender->worded_first, *oldest = NULL;
    notice_sender->worded_first = NULL;
    pthread_mutex_unlock(&notice_sender->lock);
    while (newest) {
        struct notice_send *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        struct notice_send *next = oldest->next;
        oldest->next = NULL;
        *(notice_sender->last ? &notice_sender->last->next : &notice_sender->first) = oldest;
        notice_sender->last = oldest;
        oldest = next;
    }
    notice_send_go_on(notice_sender);
}

/* A message that was decided before this daemon started, or by another host, may already have been sent. */
static bool may_have_been_tried(const struct notice_sender *notice_sender,
                                const struct notice *notice) {
    return notice->at < notice_sender->context->started_at || clock_wall() - notice->at > FRESH;
}

static void read_notice(void *with) {
    struct notice_send *send = with;
    if (!shape_decode_in(&NOTICE, send->act->effect.body, &send->arena, &send->notice))
        send->trouble = "its stored form cannot be decoded";
}

void say_begin(struct executor *executor, struct act *act) {
    struct notice_sender *notice_sender = executor->notice_sender;
    struct notice_send *send = memory_new(sizeof *send);
    struct crash_guard_report report;
    *send =
        (struct notice_send){.notice_sender = notice_sender, .act = act, .goal = act->effect.goal};
    if (crash_guard_run(read_notice, send, &report) != CRASH_GUARD_WHOLE)
        send->trouble = "out of memory";
    if (send->trouble) {
        notice_send_fail(send, HEARD_NO, send->trouble);
        return;
    }
    send->notice.attempt.unsure |= may_have_been_tried(notice_sender, &send->notice);
    send->lookup.done = looked_up;
    send->lookup.request =
        (struct store_request){.verb = STORE_SHOW, .ids = &send->goal, .id_count = 1, .limit = 1};
    if (!lookups_ask(notice_sender->context->lookups, &send->lookup))
        notice_send_free(send); /* the daemon stops: the next one sends it */
}

/* ---- start and stop ---- */

struct notice_sender *notice_sender_start(struct executor *executor, uv_loop_t *loop,
                                          struct daemon_context *context) {
    struct notice_sender *notice_sender = memory_new(sizeof *notice_sender);
    *notice_sender = (struct notice_sender){
        .executor = executor, .context = context, .channels = channels_start(loop, clock_wall)};
    pthread_mutex_init(&notice_sender->lock, NULL);
    uv_async_init(loop, &notice_sender->worded, worded_arrived);
    notice_sender->worded.data = notice_sender;
    return notice_sender;
}

struct channels *notice_sender_channels(const struct notice_sender *notice_sender) {
    return notice_sender->channels;
}

void notice_sender_stop(struct notice_sender *notice_sender) {
    notice_sender->stopped = true;
    channels_stop(notice_sender->channels);
    uv_close((uv_handle_t *)&notice_sender->worded, NULL);
}

static void notice_sends_free(struct notice_send *send) {
    while (send) {
        struct notice_send *next = send->next;
        notice_send_free(send);
        send = next;
    }
}

void notice_sender_end(struct notice_sender *notice_sender) {
    notice_sends_free(notice_sender->worded_first);
    notice_sends_free(notice_sender->first);
    pthread_mutex_destroy(&notice_sender->lock);
    free(notice_sender);
}
