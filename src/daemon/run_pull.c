/* SPDX-License-Identifier: Apache-2.0 */
/* How does a branch that was pushed become a pull request?
 *
 *   its words, from the store ──▶ the forge is asked ──▶ told
 *                                   ▲          │ away, busy, or the answer was lost
 *                                   └──pause───┘ PULL_TRIES times at most
 *
 * Each try looks first whether there is one. When the daemon stops nothing is told: the effect is still to be carried out,
 * and the next daemon finds the branch where it is, and the pull request if there is one. */
#include "daemon/clock.h"
#include "daemon/guard.h"
#include "daemon/log.h"
#include "daemon/run.h"
#include "daemon/say.h"
#include "model/setting.h"
#include "ops/view.h"
#include "ports/channel.h"

#include <stdlib.h>

enum { PULL_TRIES = 8 };
static const int64_t PAUSE_MOST =
                         SECONDS(60), /* between two tries, unless the forge asks for more */
    PATIENCE = MINUTES(15);           /* altogether */

struct pulling {
    struct pulling *next; /* of runs->pulls */
    struct runs *runs;
    struct errand errand;
    struct lookup lookup;
    const struct store_answer *answer; /* only while it is being worded */
    const char *trouble;               /* why it has no words; NULL: it has */
    struct id goal;
    struct arena arena;
    struct pull pull;
    struct str forge; /* name of its channel */
    uv_timer_t pause;
    bool paused; /* nobody is asked now: `pause` is all that goes on */
    unsigned tries;
    int64_t begun_at;
    pull_opened *done;
    void *with;
};

static void try(struct pulling *it);

/* ---- ending ---- */

static void pulling_end(struct pulling *it, enum pulled pulled, struct str text) {
    struct pulling **at = &it->runs->pulls;
    while (*at != it)
        at = &(*at)->next;
    *at = it->next;
    it->runs->under_way--;
    it->done(it->with, pulled, text);
    arena_free(&it->arena);
    free(it);
}

static void pulling_leave(struct pulling *it) {
    pulling_end(it, PULL_LEFT, STR(""));
}

static void pulling_fail(struct pulling *it, struct str why) {
    pulling_end(it, PULL_FAILED,
                arena_format(&it->arena,
                             "The work was pushed as %.*s, and no pull request was opened (tries: "
                             "%u): %.*s",
                             STR_ARG(it->pull.head), it->tries,
                             STR_ARG(str_cut_utf8(why, LIMIT_WHY))));
}

/* ---- trying ---- */

static void pause_closed(uv_handle_t *handle) {
    struct pulling *it = handle->data;
    it->paused = false;
    try(it);
}

static void pause_passed(uv_timer_t *timer) {
    uv_close((uv_handle_t *)timer, pause_closed);
}

static void pause_begin(struct pulling *it, int64_t at, struct str why) {
    int64_t left = at - clock_steady();
    log_about(LEVEL_WARNING, &(struct log_about){.goal = it->goal},
              "the pull request of %.*s is tried again in %lld s: %.*s", STR_ARG(it->pull.head),
              (long long)(left / SECONDS(1)), STR_ARG(why));
    it->paused = true;
    uv_timer_init(it->runs->loop, &it->pause);
    it->pause.data = it;
    uv_timer_start(&it->pause, pause_passed, left > 0 ? (uint64_t)(left / 1000) : 0, 0);
}

/* 1, 2, 4 … seconds, or what the forge asked for. */
static int64_t pause_until(const struct pulling *it, int64_t again_at) {
    int64_t pause = SECONDS(1LL << (it->tries - 1)), now = clock_steady();
    int64_t at = now + (pause < PAUSE_MOST ? pause : PAUSE_MOST);
    return again_at > at ? again_at : at;
}

static void asked(void *with, const struct channel_outcome *outcome) {
    struct pulling *it = with;
    bool again = outcome->said == SAID_LATER || outcome->said == SAID_UNKNOWN;
    int64_t rest = outcome->again_at > 0 ? outcome->again_at - clock_wall() : 0;
    int64_t at = pause_until(it, rest > 0 ? time_after(clock_steady(), rest) : 0);
    if (outcome->said == SAID_DONE)
        pulling_end(it, PULL_OPENED,
                    arena_format(&it->arena, "pull request %.*s: %.*s", STR_ARG(outcome->reference),
                                 STR_ARG(outcome->url)));
    else if (it->runs->stopping)
        pulling_leave(it);
    else if (!again || it->tries >= PULL_TRIES || at > it->begun_at + PATIENCE)
        pulling_fail(it, outcome->why);
    else
        pause_begin(it, at, outcome->why);
}

/* The settings as they are now: a token or an address can be mended while it waits. */
static void try(struct pulling *it) {
    const struct settings *settings = house_settings(it->runs->house);
    const struct channel *forge = settings_channel(settings, it->forge);
    struct channels *channels = sayer_channels(it->runs->hands->sayer);
    it->tries++;
    if (it->runs->stopping)
        pulling_leave(it);
    else if (!forge || channel_sort((enum channel_kind)forge->kind) != SORT_TRACKER)
        pulling_fail(it, STR("landing.forge names no channel that is gitea, github or gitlab"));
    else if (!channels || !channel_pull(channels, forge, &it->pull, asked, it))
        pulling_fail(it, STR("there is no memory for a request"));
    house_settings_drop(settings);
}

/* ---- its words, on the lookups' thread ---- */

static void words_make(void *with) {
    struct pulling *it = with;
    const struct goal_loaded *loaded = &it->answer->loaded[0];
    const struct goal_shown *shown = &it->answer->shown;
    const struct node *node = loaded->exists ? plan_find(&loaded->plan, it->pull.node) : NULL;
    struct str body = node ? shown_text(shown, &node->text) : STR("");
    struct node_text text = {0};
    if (body.len > 0 && !shape_decode_in(&NODE_TEXT, body, &it->arena, &text))
        text = (struct node_text){0};
    it->pull.title = arena_copy(&it->arena, text.name.len > 0 ? text.name : shown->title);
    it->pull.text = arena_copy(&it->arena, text.objective.len > 0 ? text.objective : shown->title);
}

static void looked_up(struct lookup *lookup, const struct store_answer *answer) {
    struct pulling *it = (struct pulling *)((char *)lookup - offsetof(struct pulling, lookup));
    struct guard_report report;
    it->answer = answer;
    if (answer->outcome != STORE_DONE)
        it->trouble = "its words could not be read from the store";
    else if (guard_run(words_make, it, &report) != GUARD_WHOLE)
        it->trouble = "there was no memory for its words";
    it->answer = NULL;
    errand_home(it->runs, &it->errand);
}

static void worded(struct errand *errand) {
    struct pulling *it = (struct pulling *)((char *)errand - offsetof(struct pulling, errand));
    if (it->trouble && !it->runs->stopping)
        pulling_fail(it, str_of(it->trouble));
    else
        try(it);
}

/* ---- beginning ---- */

static void pull_copy(struct pulling *it, const struct pull *pull, struct str forge) {
    struct arena *arena = &it->arena;
    it->pull = (struct pull){.head = arena_copy(arena, pull->head),
                             .base = arena_copy(arena, pull->base),
                             .commit = arena_copy(arena, pull->commit),
                             .goal = arena_copy(arena, pull->goal),
                             .node = arena_copy(arena, pull->node),
                             .checked_by = arena_copy(arena, pull->checked_by)};
    it->forge = arena_copy(arena, forge);
}

void pull_open(struct runs *runs, struct id goal, const struct pull *pull, struct str forge,
               pull_opened *done, void *with) {
    struct pulling *it = calloc(1, sizeof *it);
    if (!it) {
        done(with, PULL_FAILED, STR("there is no memory for a pull request"));
        return;
    }
    *it = (struct pulling){.next = runs->pulls,
                           .runs = runs,
                           .errand.go = worded,
                           .goal = goal,
                           .begun_at = clock_steady(),
                           .done = done,
                           .with = with};
    runs->pulls = it;
    runs->under_way++;
    pull_copy(it, pull, forge);
    it->lookup.done = looked_up;
    it->lookup.request =
        (struct store_request){.verb = STORE_SHOW, .ids = &it->goal, .id_count = 1, .limit = 1};
    if (!lookups_ask(runs->house->lookups, &it->lookup))
        pulling_leave(it);
}

/* What is asked now ends with its channel, and what is being worded with its errand. */
void pulls_stop(struct runs *runs) {
    for (struct pulling *it = runs->pulls; it; it = it->next)
        if (it->paused && !uv_is_closing((uv_handle_t *)&it->pause))
            uv_close((uv_handle_t *)&it->pause, pause_closed);
}
