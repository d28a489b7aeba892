/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a pull request for a branch that was pushed.
 *
 *   its text, from the store ──▶ the forge is asked ──▶ reported
 *                                   ▲          │ unreachable, busy, or the answer was lost
 *                                   └──pause───┘ PULL_TRIES times at most
 *
 * Each try looks first whether the pull request exists. When the daemon stops, nothing is reported: the effect still has to be
 * carried out, and the next daemon finds the branch where it is, and the pull request if there is one. */
#include "base/memory.h"
#include "channels/channel.h"
#include "model/setting/setting.h"
#include "ops/view.h"
#include "runs/notice_send.h"
#include "runs/run.h"
#include "runs/run_log.h"
#include "sys/clock.h"
#include "sys/crash_guard.h"

#include <stdlib.h>

enum { PULL_TRIES = 8 };
static const int64_t PAUSE_MOST =
                         SECONDS(60), /* limit between two tries, unless the forge asks for more */
    PULL_TIMEOUT = MINUTES(15);       /* for all tries together */

struct pulling {
    struct pulling *next; /* in runs->pulls */
    struct run_table *runs;
    struct loop_task task;
    struct lookup lookup;
    const struct store_answer *answer; /* only while its text is made */
    const char *trouble;               /* why it has no text; NULL: it has */
    struct id goal, id;                /* of the run whose work lands */
    char node[LIMIT_NODE_ID + 1];
    struct arena arena;
    struct pull pull;
    struct str forge; /* name of its channel */
    uv_timer_t pause;
    bool paused; /* no request is in progress: only the timer `pause` is active */
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
    pulling_end(
        it, PULL_FAILED,
        arena_format(
            &it->arena,
            "The work was pushed as %.*s, but no pull request was opened (attempts: %u): %.*s",
            STR_ARG(it->pull.head), it->tries, STR_ARG(str_cut_utf8(why, LIMIT_WHY))));
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
    log_run(LEVEL_WARNING, it, "the pull request for %.*s is tried again in %lld s: %.*s",
            STR_ARG(it->pull.head), (long long)(left / SECONDS(1)), STR_ARG(why));
    it->paused = true;
    uv_timer_init(it->runs->loop, &it->pause);
    it->pause.data = it;
    uv_timer_start(&it->pause, pause_passed, left > 0 ? (uint64_t)(left / 1000) : 0, 0);
}

/* 1, 2, 4 … seconds, or what the forge requested. */
static int64_t pause_until(const struct pulling *it, int64_t again_at) {
    int64_t pause = SECONDS(1LL << (it->tries - 1)), now = clock_steady();
    int64_t at = now + (pause < PAUSE_MOST ? pause : PAUSE_MOST);
    return again_at > at ? again_at : at;
}

static void asked(void *with, const struct channel_outcome *outcome) {
    struct pulling *it = with;
    bool again = outcome->result == SEND_LATER || outcome->result == SEND_UNKNOWN;
    int64_t rest = outcome->again_at > 0 ? outcome->again_at - clock_wall() : 0;
    int64_t at = pause_until(it, rest > 0 ? time_after(clock_steady(), rest) : 0);
    if (outcome->result == SEND_DONE)
        pulling_end(it, PULL_OPENED,
                    arena_format(&it->arena, "pull request %.*s: %.*s", STR_ARG(outcome->reference),
                                 STR_ARG(outcome->url)));
    else if (it->runs->stopping)
        pulling_leave(it);
    else if (!again || it->tries >= PULL_TRIES || at > it->begun_at + PULL_TIMEOUT)
        pulling_fail(it, outcome->why);
    else
        pause_begin(it, at, outcome->why);
}

/* Uses the current settings: the operator can repair a token or an address while it waits. */
static void try(struct pulling *it) {
    const struct settings *settings = context_settings(it->runs->context);
    const struct channel *forge = settings_channel(settings, it->forge);
    struct channels *channels = notice_sender_channels(it->runs->executor->notice_sender);
    it->tries++;
    if (it->runs->stopping)
        pulling_leave(it);
    else if (!forge || channel_sort(forge->kind) != SORT_TRACKER)
        pulling_fail(it, STR("landing.forge names no channel of kind gitea, github or gitlab"));
    else
        channel_pull(channels, forge, &it->pull, asked, it);
    context_settings_drop(settings);
}

/* ---- composing its text, on the lookups' thread ---- */

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
    struct crash_guard_report report;
    it->answer = answer;
    if (answer->outcome != STORE_DONE)
        it->trouble = "its text could not be read from the store";
    else if (crash_guard_run(words_make, it, &report) != CRASH_GUARD_WHOLE)
        it->trouble = "out of memory for its text";
    it->answer = NULL;
    loop_post(it->runs, &it->task);
}

static void worded(struct loop_task *task) {
    struct pulling *it = (struct pulling *)((char *)task - offsetof(struct pulling, task));
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

void pull_open(struct run_table *runs, const struct effect *effect, const struct pull *pull,
               struct str forge, pull_opened *done, void *with) {
    struct pulling *it = memory_new(sizeof *it);
    *it = (struct pulling){.next = runs->pulls,
                           .runs = runs,
                           .task.go = worded,
                           .goal = effect->goal,
                           .id = effect_about(effect).run,
                           .begun_at = clock_steady(),
                           .done = done,
                           .with = with};
    snprintf(it->node, sizeof it->node, "%.*s", STR_ARG(effect->node));
    runs->pulls = it;
    runs->under_way++;
    pull_copy(it, pull, forge);
    it->lookup.done = looked_up;
    it->lookup.request =
        (struct store_request){.verb = STORE_SHOW, .ids = &it->goal, .id_count = 1, .limit = 1};
    if (!lookups_ask(runs->context->lookups, &it->lookup))
        pulling_leave(it);
}

/* A request in progress ends with its channel, and a text being composed with its task posted to the loop. */
void pulls_stop(struct run_table *runs) {
    for (struct pulling *it = runs->pulls; it; it = it->next)
        if (it->paused && !uv_is_closing((uv_handle_t *)&it->pause))
            uv_close((uv_handle_t *)&it->pause, pause_closed);
}
