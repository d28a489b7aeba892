/* SPDX-License-Identifier: Apache-2.0 */
/* How does a notice reach a person? */
#include "daemon/say.h"

#include "core/route.h"
#include "daemon/clock.h"
#include "daemon/guard.h"
#include "daemon/log.h"
#include "daemon/reload.h"
#include "model/setting.h"
#include "ops/question_view.h"
#include "ports/channel.h"

#include <stdlib.h>

static const int64_t FRESH =
    SECONDS(2); /* what was decided longer ago may have been tried before */

struct sayer {
    struct hands *hands;
    struct house *house;
    struct channels *channels; /* NULL: there was no memory for them */
    uv_async_t worded;
    pthread_mutex_t lock;
    struct saying *worded_first; /* have their words, newest first */
    struct saying *first, *last; /* of the loop: under way or waiting, oldest first */
    bool stopped;
};

struct saying {
    struct saying *next;
    bool begun;
    struct sayer *sayer;
    struct act *act;
    struct lookup lookup;
    struct id goal;
    struct arena arena;
    struct notice notice;
    const struct store_answer *answer; /* only while it is being worded */
    const char *trouble;               /* why it cannot be said; NULL: it can */
    enum hearing heard;                /* then */
};

_Static_assert((int)SAID_DONE == (int)HEARD_YES && (int)SAID_LATER == (int)HEARD_LATER &&
                   (int)SAID_REFUSED == (int)HEARD_NO && (int)SAID_UNKNOWN == (int)HEARD_PERHAPS,
               "what a channel says is what decisions hear");

static void sayings_go_on(struct sayer *sayer);

static void saying_free(struct saying *saying) {
    arena_free(&saying->arena);
    free(saying->act);
    free(saying);
}

static void saying_unlink(struct sayer *sayer, struct saying *saying) {
    struct saying **at = &sayer->first, *before = NULL;
    while (*at && *at != saying) {
        before = *at;
        at = &(*at)->next;
    }
    if (!*at)
        return;
    *at = saying->next;
    if (sayer->last == saying)
        sayer->last = before;
}

/* When the daemon ends nothing is reported: the message is still to be said, and the next one looks first. */
static void saying_end(struct saying *saying, enum hearing heard, int64_t until, struct str text,
                       struct str url) {
    struct log_about about = {.goal = saying->act->effect.goal,
                              .effect = saying->act->effect.n + 1};
    if (heard == HEARD_YES)
        log_about(LEVEL_INFO, &about, "said on channel %.*s", STR_ARG(saying->notice.channel));
    else if (!saying->sayer->stopped)
        log_about(LEVEL_WARNING, &about, "not said on channel %.*s: %.*s",
                  STR_ARG(saying->notice.channel), STR_ARG(str_cut_utf8(text, LIMIT_WHY)));
    if (!saying->sayer->stopped)
        hands_report(saying->sayer->hands, saying->act,
                     (struct signal){.to = heard,
                                     .until = until,
                                     .text = str_cut_utf8(text, LIMIT_WHY),
                                     .title = url.len <= LIMIT_SESSION ? url : STR("")});
    struct sayer *sayer = saying->sayer;
    saying_unlink(sayer, saying);
    saying_free(saying);
    sayings_go_on(sayer);
}

static void saying_fail(struct saying *saying, enum hearing heard, const char *why) {
    saying_end(saying, heard, 0, str_of(why), STR(""));
}

/* ---- its words, on the lookups' thread ---- */

static void words_make(void *with) {
    struct saying *saying = with;
    const struct goal_loaded *loaded = &saying->answer->loaded[0];
    const struct goal_shown *shown = &saying->answer->shown;
    struct question_text text;
    struct goal_text goal = {0};
    uint32_t n = 0;
    question_named(saying->notice.question, &n);
    const struct question *question =
        loaded->exists ? questions_find(&loaded->live.questions, n) : NULL;
    if (!question || !question_words(shown, question, &saying->arena, &text)) {
        saying->heard = HEARD_NO;
        saying->trouble = "nobody waits for it any more";
        return;
    }
    struct str body = shown_text(shown, &loaded->goal.text);
    if (body.len > 0 && !shape_decode_in(&GOAL_TEXT, body, &saying->arena, &goal))
        goal = (struct goal_text){0};
    struct notice worded =
        notice_worded(saying->notice, question, &text, &goal, shown->title, &saying->arena);
    /* a copy of its own: what was read goes with the answer */
    struct str bytes = shape_encode(&NOTICE, &worded, &saying->arena);
    if (!shape_decode_in(&NOTICE, bytes, &saying->arena, &saying->notice)) {
        saying->heard = HEARD_NO;
        saying->trouble = "its words are too long";
    }
}

static void looked_up(struct lookup *lookup, const struct store_answer *answer) {
    struct saying *saying = (struct saying *)((char *)lookup - offsetof(struct saying, lookup));
    struct sayer *sayer = saying->sayer;
    struct guard_report report;
    saying->answer = answer;
    saying->heard = HEARD_LATER;
    if (answer->outcome != STORE_DONE)
        saying->trouble = "its words could not be read from the store";
    else if (guard_run(words_make, saying, &report) != GUARD_WHOLE)
        saying->trouble = "there was no memory for its words";
    pthread_mutex_lock(&sayer->lock);
    saying->next = sayer->worded_first;
    sayer->worded_first = saying;
    pthread_mutex_unlock(&sayer->lock);
    uv_async_send(&sayer->worded);
}

/* ---- saying it, on the loop ---- */

static void channel_has_said(void *with, const struct channel_outcome *outcome) {
    struct saying *saying = with;
    bool done = outcome->said == SAID_DONE;
    saying_end(saying, (enum hearing)outcome->said, outcome->again_at,
               done ? outcome->reference : outcome->why, outcome->url);
}

static void saying_say(struct saying *saying) {
    struct sayer *sayer = saying->sayer;
    const struct settings *settings = house_settings(sayer->house);
    const struct channel *channel = settings_channel(settings, saying->notice.channel);
    if (saying->trouble)
        saying_fail(saying, saying->heard, saying->trouble);
    else if (!channel)
        saying_fail(saying, HEARD_NO, "no channel of that name is set up here");
    else if (!sayer->channels ||
             !channel_say(sayer->channels, channel, &saying->notice, channel_has_said, saying))
        saying_fail(saying, HEARD_LATER, "there is no memory");
    house_settings_drop(settings);
}

/* One goal's messages on one channel are said one after the other, in the order in which they were decided. */
static bool has_turn(const struct sayer *sayer, const struct saying *saying) {
    for (const struct saying *other = sayer->first; other && other != saying; other = other->next)
        if (id_equal(other->goal, saying->goal) &&
            str_equal(other->notice.channel, saying->notice.channel))
            return false;
    return true;
}

/* What is begun may end at once, and the list with it: from the beginning again, until nobody has their turn. */
static void sayings_go_on(struct sayer *sayer) {
    struct saying *saying = sayer->stopped ? NULL : sayer->first;
    while (saying && (saying->begun || !has_turn(sayer, saying)))
        saying = saying->next;
    if (!saying)
        return;
    saying->begun = true;
    saying_say(saying);
    sayings_go_on(sayer);
}

static void worded_arrived(uv_async_t *async) {
    struct sayer *sayer = async->data;
    pthread_mutex_lock(&sayer->lock);
    struct saying *newest = sayer->worded_first, *oldest = NULL;
    sayer->worded_first = NULL;
    pthread_mutex_unlock(&sayer->lock);
    while (newest) {
        struct saying *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        struct saying *next = oldest->next;
        oldest->next = NULL;
        *(sayer->last ? &sayer->last->next : &sayer->first) = oldest;
        sayer->last = oldest;
        oldest = next;
    }
    sayings_go_on(sayer);
}

/* A message that was decided before this daemon ran, or by another host, may have been on its way already. */
static bool may_have_been_tried(const struct sayer *sayer, const struct notice *notice) {
    return notice->at < sayer->house->started_at || clock_wall() - notice->at > FRESH;
}

static void read_notice(void *with) {
    struct saying *saying = with;
    if (!shape_decode_in(&NOTICE, saying->act->effect.body, &saying->arena, &saying->notice))
        saying->trouble = "what is stored of it cannot be read";
}

void say_begin(struct hands *hands, struct act *act) {
    struct sayer *sayer = hands->sayer;
    struct saying *saying = calloc(1, sizeof *saying);
    struct guard_report report;
    if (!saying || !sayer) {
        hands_report(hands, act,
                     (struct signal){.to = HEARD_LATER, .text = STR("there is no memory")});
        free(saying);
        free(act);
        return;
    }
    *saying = (struct saying){.sayer = sayer, .act = act, .goal = act->effect.goal};
    if (guard_run(read_notice, saying, &report) != GUARD_WHOLE)
        saying->trouble = "there is no memory";
    if (saying->trouble) {
        saying_fail(saying, HEARD_NO, saying->trouble);
        return;
    }
    saying->notice.unsure |= may_have_been_tried(sayer, &saying->notice);
    saying->lookup.done = looked_up;
    saying->lookup.request =
        (struct store_request){.verb = STORE_SHOW, .ids = &saying->goal, .id_count = 1, .limit = 1};
    if (!lookups_ask(sayer->house->lookups, &saying->lookup))
        saying_free(saying); /* the daemon stops: the next one says it */
}

/* ---- its life ---- */

struct sayer *sayer_start(struct hands *hands, uv_loop_t *loop, struct house *house) {
    struct sayer *sayer = calloc(1, sizeof *sayer);
    if (!sayer)
        return NULL;
    *sayer = (struct sayer){
        .hands = hands, .house = house, .channels = channels_start(loop, clock_wall)};
    pthread_mutex_init(&sayer->lock, NULL);
    uv_async_init(loop, &sayer->worded, worded_arrived);
    sayer->worded.data = sayer;
    return sayer;
}

struct channels *sayer_channels(const struct sayer *sayer) {
    return sayer && !sayer->stopped ? sayer->channels : NULL;
}

void sayer_stop(struct sayer *sayer) {
    if (!sayer)
        return;
    sayer->stopped = true;
    if (sayer->channels)
        channels_stop(sayer->channels);
    uv_close((uv_handle_t *)&sayer->worded, NULL);
}

static void sayings_free(struct saying *saying) {
    while (saying) {
        struct saying *next = saying->next;
        saying_free(saying);
        saying = next;
    }
}

void sayer_end(struct sayer *sayer) {
    if (!sayer)
        return;
    sayings_free(sayer->worded_first);
    sayings_free(sayer->first);
    pthread_mutex_destroy(&sayer->lock);
    free(sayer);
}
