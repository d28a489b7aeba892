/* SPDX-License-Identifier: Apache-2.0 */
/* Who speaks to agents, and what was seen of them? */
#include "daemon/agents.h"

#include "daemon/clock.h"
#include "daemon/hands.h"
#include "daemon/log.h"
#include "daemon/reload.h"
#include "ops/update.h"
#include "ports/pretend.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    GAP_SECONDS = 10, /* the loop stood still that long: the machine slept, or we did */
    LEAP_SECONDS = 5, /* the wall clock moved that much by itself */
};

struct pretend_run { /* of a pretend agent */
    struct id id, goal;
    uint32_t charge, shown;
    char node[LIMIT_NODE_ID + 1];
    struct pretend agent;
};

static const struct pretend_world CALM = {0};

/* ---- telling the ledger ---- */

static void offer(struct agents *agents, const struct signal *signal) {
    struct input *input = input_make(signal, NULL);
    if (input && queue_put(&agents->hands->keeper->queue, input))
        return;
    input_free(input);
    log_error("no room for what an agent showed; it is looked at again");
}

static struct signal shown_signal(struct pretend_run *run, enum signal_kind kind) {
    char name[32];
    int length = snprintf(name, sizeof name, "%u", ++run->shown);
    return (struct signal){.kind = kind,
                           .source = id_derive((struct str){(const char *)run->id.bytes, 16},
                                               (struct str){name, (size_t)length}),
                           .keyed = 1,
                           .goal = run->goal,
                           .at = clock_wall(),
                           .actor = STR("overseer"),
                           .by = WHO_OVERSEER,
                           .charge = run->charge + 1};
}

static void words_offer(struct agents *agents, struct pretend_run *run,
                        const struct pretend_event *event, struct arena *arena) {
    struct signal said, signal;
    struct str words = pretend_words(event, (struct str){0}, str_of(run->node), arena);
    if (!update_signal(words, WHO_AGENT, run->goal, run->charge + 1, arena, &said))
        return;
    signal = shown_signal(run, said.kind);
    said.source = signal.source;
    said.keyed = 1;
    said.at = signal.at;
    said.actor = STR("overseer");
    said.by = WHO_OVERSEER;
    offer(agents, &said);
}

static void event_offer(struct agents *agents, struct pretend_run *run,
                        const struct pretend_event *event) {
    struct arena arena = {0};
    struct sighting seen;
    pretend_look(&run->agent, 0, 0, event->at, &seen);
    seen.charge = run->charge;
    seen.event = event->event;
    seen.dispatch = seen.heard = event->dispatch;
    seen.limited_until = event->limited_until;
    seen.exit = event->exit;
    struct signal signal = shown_signal(run, SIGNAL_AGENT_SEEN);
    signal.body = shape_encode(&SIGHTING, &seen, &arena);
    offer(agents, &signal);
    if (event->reply != REPLY_NONE)
        words_offer(agents, run, event, &arena);
    arena_free(&arena);
}

/* ---- what happens by itself ---- */

static void timer_set(struct agents *agents);

static void run_goes_on(struct agents *agents, struct pretend_run *run, int64_t now) {
    struct pretend_event event;
    for (int i = 0; i < 16 && pretend_next(&run->agent) <= now; i++)
        if (pretend_happens(&run->agent, &CALM, now, &event))
            event_offer(agents, run, &event);
    due_set(&agents->due, run->id, pretend_next(&run->agent));
}

static void time_has_come(uv_timer_t *timer) {
    struct agents *agents = timer->data;
    int64_t now = clock_wall();
    struct id id;
    pthread_mutex_lock(&agents->lock);
    for (int i = 0; i < 4096 && due_pop(&agents->due, now, &id); i++) {
        struct pretend_run *run = map_get(&agents->runs, id);
        if (run)
            run_goes_on(agents, run, now);
    }
    timer_set(agents);
    pthread_mutex_unlock(&agents->lock);
}

static void timer_set(struct agents *agents) {
    int64_t next = due_next(&agents->due), now = clock_wall();
    if (next == TIME_NEVER)
        return;
    uint64_t ms = next > now ? (uint64_t)((next - now) / 1000) + 1 : 1;
    uv_timer_start(&agents->timer, time_has_come, ms, 0);
}

/* ---- carrying out ---- */

/* Which pretend behaviour an agent has; false: no driver of ours starts it. */
static bool behaviour_of(struct agents *agents, struct str agent, uint32_t *ret_kind) {
    const struct settings *settings = house_settings(agents->house);
    bool found = false;
    for (uint32_t i = 0; i < settings->agent_count && !found; i++) {
        const struct agent_setting *row = &settings->agents[i];
        found = str_equal(row->id, agent) && str_equal(row->driver, STR("pretend")) &&
                names_find(&PRETEND_NAMES, row->behaviour, ret_kind);
    }
    house_settings_drop(settings);
    return found;
}

static struct pretend_run *run_add(struct agents *agents, const struct effect *effect,
                                   struct id id) {
    struct pretend_run *run = calloc(1, sizeof *run);
    if (!run || !map_put(&agents->runs, id, run)) {
        free(run);
        return NULL;
    }
    run->id = id;
    run->goal = effect->goal;
    run->charge = effect->charge;
    snprintf(run->node, sizeof run->node, "%.*s", STR_ARG(effect->node));
    return run;
}

static uint32_t dispatch_of(const struct effect *effect) {
    return effect->dispatch ? effect->dispatch : effect->n + 1;
}

/* Nothing is started twice under one id, and nothing that was stopped before it began. */
static void spawn_one(struct agents *agents, const struct effect *effect, struct signal *ended,
                      struct arena *arena) {
    struct id id = effect_id(effect->goal, dispatch_of(effect) - 1);
    uint32_t kind = 0;
    uint64_t seed;
    memcpy(&seed, id.bytes + 8, sizeof seed);
    ended->to = DELIVERY_ERROR;
    if (map_get(&agents->stopped, id))
        ended->text = STR("it was stopped before it began");
    else if (!behaviour_of(agents, effect->agent, &kind))
        ended->text =
            arena_format(arena, "no driver starts the agent %.*s: give it one under [[agents]]",
                         STR_ARG(effect->agent));
    else {
        struct pretend_run *run = map_get(&agents->runs, id);
        if (!run && (run = run_add(agents, effect, id)))
            pretend_start(&run->agent, (enum pretend_kind)kind, seed, dispatch_of(effect),
                          clock_wall());
        if (!run)
            return;
        ended->to = DELIVERY_ACCEPTED;
        ended->title = arena_format(arena, "agent:%.*s:%u", STR_ARG(effect->agent), effect->n + 1);
        due_set(&agents->due, id, pretend_next(&run->agent));
    }
}

static struct pretend_run *run_meant(struct agents *agents, const struct effect *effect) {
    return effect->run ? map_get(&agents->runs, effect_id(effect->goal, effect->run - 1)) : NULL;
}

static void send_to(struct agents *agents, const struct effect *effect, struct signal *ended) {
    struct pretend_run *run = run_meant(agents, effect);
    ended->to = DELIVERY_ERROR;
    ended->text = run ? STR("") : STR("its run is not there any more");
    if (!run)
        return;
    ended->to = pretend_send(&run->agent, &CALM, dispatch_of(effect), (enum wording)effect->words,
                             clock_wall());
    due_set(&agents->due, run->id, pretend_next(&run->agent));
}

/* A pretend run lives with this process: what is not here is gone. */
static void look_at(struct agents *agents, const struct effect *effect, struct signal *ended,
                    struct arena *arena) {
    struct pretend_run *run = run_meant(agents, effect);
    struct sighting seen = {.at = clock_wall(), .process = SURE_NO, .turn = SURE_NO};
    if (run)
        pretend_look(&run->agent, effect->dispatch, effect->sample, clock_wall(), &seen);
    seen.charge = effect->charge;
    seen.dispatch = effect->dispatch;
    ended->body = shape_encode(&SIGHTING, &seen, arena);
}

static void stop_one(struct agents *agents, const struct effect *effect) {
    struct pretend_run *run = run_meant(agents, effect);
    struct id id = effect_id(effect->goal, effect->run ? effect->run - 1 : 0);
    if (!run) {
        map_put(&agents->stopped, id, agents);
        return;
    }
    due_remove(&agents->due, id);
    map_remove(&agents->runs, id);
    free(run);
}

void agents_carry(struct agents *agents, struct act *act) {
    struct arena arena = {0};
    const struct effect *effect = &act->effect;
    struct signal ended = {0};
    pthread_mutex_lock(&agents->lock);
    switch (effect->kind) {
    case EFFECT_SPAWN: spawn_one(agents, effect, &ended, &arena); break;
    case EFFECT_SEND: send_to(agents, effect, &ended); break;
    case EFFECT_LOOK: look_at(agents, effect, &ended, &arena); break;
    default: stop_one(agents, effect); break;
    }
    timer_set(agents);
    pthread_mutex_unlock(&agents->lock);
    hands_report(agents->hands, act, ended);
    arena_free(&arena);
    free(act);
}

/* ---- watching ---- */

/* docs/decisions/0009: silence counts only while somebody listened. */
void agents_beat(struct agents *agents) {
    int64_t wall = clock_wall(), boot = clock_boot();
    int64_t slept = boot - agents->beat_boot;
    int64_t leapt = (wall - agents->beat_wall) - slept;
    pthread_mutex_lock(&agents->lock);
    if (slept > SECONDS(GAP_SECONDS) || leapt > SECONDS(LEAP_SECONDS) ||
        leapt < -SECONDS(LEAP_SECONDS))
        agents->since = wall;
    agents->beat_wall = wall;
    agents->beat_boot = boot;
    pthread_mutex_unlock(&agents->lock);
}

struct str agents_see(void *with, struct id goal, const struct charges *charges, struct instant now,
                      struct arena *arena) {
    struct agents *agents = with;
    struct sighting *rows = arena_new(arena, struct sighting, charges->count);
    struct sightings seen = {.rows = {rows, 0}};
    pthread_mutex_lock(&agents->lock);
    seen.since = agents->since;
    for (uint32_t i = 0; i < charges->count; i++) {
        const struct charge *charge = &charges->at[i];
        struct pretend_run *run =
            charge->run ? map_get(&agents->runs, effect_id(goal, charge->run - 1)) : NULL;
        if (!run)
            continue;
        pretend_look(&run->agent, 0, 0, now.wall, &rows[seen.rows.count]);
        rows[seen.rows.count++].charge = charge->n;
    }
    pthread_mutex_unlock(&agents->lock);
    return shape_encode(&SIGHTINGS, &seen, arena);
}

/* ---- life ---- */

void agents_start(struct agents *agents, uv_loop_t *loop, struct hands *hands,
                  struct house *house) {
    agents->hands = hands;
    agents->house = house;
    agents->since = agents->beat_wall = clock_wall();
    agents->beat_boot = clock_boot();
    pthread_mutex_init(&agents->lock, NULL);
    uv_timer_init(loop, &agents->timer);
    agents->timer.data = agents;
}

void agents_stop(struct agents *agents) {
    uv_close((uv_handle_t *)&agents->timer, NULL);
}

void agents_end(struct agents *agents) {
    for (size_t i = 0; i < agents->runs.cap; i++)
        free(agents->runs.slots[i].value);
    map_free(&agents->runs);
    map_free(&agents->stopped);
    due_free(&agents->due);
    pthread_mutex_destroy(&agents->lock);
}
