/* SPDX-License-Identifier: Apache-2.0 */
#include "runs/agents.h"

#include "drivers/pretend.h"
#include "engine/reload.h"
#include "runs/executor.h"
#include "runs/run_log.h"
#include "runs/run_table.h"
#include "runs/words/agent_words.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    GAP_SECONDS = 10, /* the loop was blocked that long: the machine slept, or this process did */
    LEASE_AGAIN_MS = 100,
};

struct pretend_run { /* a run of a pretend agent */
    struct id id, goal;
    uint32_t assignment, shown, number; /* number: of the effect that started it, from 1 */
    uint64_t joins;                     /* P10: the join of this host under which it began */
    char node[LIMIT_NODE_ID + 1];
    struct pretend agent;
    int64_t born, pace; /* its clock has run `pace` times as fast since `born` */
};

/* What earlier runs have done of the same work, and whether it had trouble. */
struct pretend_past {
    uint32_t worked, stretches, troubled;
};

struct behaviour {
    uint32_t kind;
    int64_t pace, stretches; /* from its settings */
};

static const struct pretend_world CALM = {0};

static uint32_t dispatch_of(const struct effect *effect) {
    return effect->dispatch ? effect->dispatch : effect->n + 1;
}

/* ---- P10 ---- */

static struct ledger_lease lease_now(const struct agents *agents) {
    const struct ledger *ledger = agents->executor->ledger_thread->ledger;
    return ledger ? ledger_lease(ledger) : (struct ledger_lease){0};
}

static bool is_shared(const struct agents *agents) {
    const struct ledger *ledger = agents->executor->ledger_thread->ledger;
    return ledger && ledger_lease_span(ledger) > 0;
}

/* ---- the pretend agent's own time ---- */

/* Uses the steady clock: a step of the wall clock does not change how fast a pretend agent works. */
static int64_t time_own(const struct pretend_run *run, int64_t steady) {
    return run->born + (steady - run->born) * run->pace;
}

static int64_t time_steady(const struct pretend_run *run, int64_t own) {
    return own == 0 || own == TIME_NEVER ? own : run->born + (own - run->born) / run->pace;
}

static void run_see(const struct pretend_run *run, uint32_t dispatch, uint32_t sample, int64_t own,
                    struct observation *ret) {
    pretend_look(&run->agent, dispatch, sample, own, ret);
    int64_t *const times[] = {&ret->at, &ret->active_at, &ret->tool_since, &ret->chatter_at};
    for (size_t i = 0; i < count_of(times); i++)
        *times[i] = time_steady(run, *times[i]);
    ret->limited_until = clock_steady_to_wall(time_steady(run, ret->limited_until));
    observation_to_wall(ret);
}

static int64_t run_next(const struct pretend_run *run) {
    return time_steady(run, pretend_next(&run->agent));
}

/* ---- signals to the ledger ---- */

static void offer(struct agents *agents, const struct pretend_run *run,
                  const struct signal *signal) {
    struct input *input = input_make(signal, NULL);
    if (input && queue_put(&agents->executor->ledger_thread->queue, input))
        return;
    input_free(input);
    log_run(LEVEL_ERROR, run,
            "out of memory for an observation of a pretend agent; the next look reports it again");
}

static struct signal shown_signal(struct pretend_run *run, enum signal_kind kind) {
    char name[32];
    int length = snprintf(name, sizeof name, "%u", ++run->shown);
    return (struct signal){.kind = kind,
                           .source = id_derive((struct str){(const char *)run->id.bytes, 16},
                                               (struct str){name, (size_t)length}),
                           .once.keyed = 1,
                           .goal = run->goal,
                           .at = clock_wall(),
                           .sender.actor = STR("overseer"),
                           .sender.by = WHO_OVERSEER,
                           .about.assignment = run->assignment + 1,
                           .about.run = run->number};
}

static void words_offer(struct agents *agents, struct pretend_run *run,
                        const struct pretend_event *event, struct arena *arena) {
    struct signal update, signal;
    struct str words = pretend_words(event, (struct str){0}, str_of(run->node), arena);
    if (!update_signal(words, WHO_AGENT, run->goal, run->assignment + 1, arena, &update))
        return;
    signal = shown_signal(run, update.kind);
    update.source = signal.source;
    update.once.keyed = 1;
    update.at = signal.at;
    update.sender.actor = STR("overseer");
    update.sender.by = WHO_OVERSEER;
    update.about.run = run->number;
    offer(agents, run, &update);
}

static void event_offer(struct agents *agents, struct pretend_run *run,
                        const struct pretend_event *event) {
    struct arena arena = {0};
    struct observation seen;
    run_see(run, 0, 0, event->at, &seen);
    seen.assignment = run->assignment;
    seen.event = event->event;
    seen.dispatch = seen.heard = event->dispatch;
    seen.limited_until = clock_steady_to_wall(time_steady(run, event->limited_until));
    seen.exit = event->exit;
    struct signal signal = shown_signal(run, SIGNAL_AGENT_SEEN);
    signal.body = shape_encode(&OBSERVATION, &seen, &arena);
    offer(agents, run, &signal);
    if (event->reply != REPLY_NONE)
        words_offer(agents, run, event, &arena);
    arena_free(&arena);
}

/* ---- timed events ---- */

static void timer_set(struct agents *agents);

static void run_goes_on(struct agents *agents, struct pretend_run *run, int64_t now) {
    struct pretend_event event;
    for (int i = 0; i < 16 && run_next(run) <= now; i++)
        if (pretend_happens(&run->agent, &CALM, time_own(run, now), &event))
            event_offer(agents, run, &event);
    due_set(&agents->due, run->id, run_next(run));
}

/* A pretend run pauses without a lease and ends once the lease is lost: the next owner of its goal gets its exit as a
 * signal. */
static bool lease_ended(struct agents *agents) {
    struct ledger_lease lease = lease_now(agents);
    if (!is_shared(agents))
        return false;
    if (lease.joins == 0 || clock_boot() >= lease.until)
        return true;
    for (size_t i = agents->runs.cap; i-- > 0;) {
        struct pretend_run *run = agents->runs.slots[i].value;
        if (!run || run->joins == lease.joins)
            continue;
        event_offer(agents, run,
                    &(struct pretend_event){.event = AGENT_EXITED, .dispatch = run->number});
        due_remove(&agents->due, run->id);
        map_remove(&agents->runs, run->id);
        free(run);
        i = agents->runs.cap; /* other entries may have moved */
    }
    return false;
}

static void time_has_come(uv_timer_t *timer) {
    struct agents *agents = timer->data;
    int64_t now = clock_steady();
    struct id id;
    pthread_mutex_lock(&agents->lock);
    if (lease_ended(agents)) {
        uv_timer_start(&agents->timer, time_has_come, LEASE_AGAIN_MS, 0);
        pthread_mutex_unlock(&agents->lock);
        return;
    }
    for (int i = 0; i < 4096 && due_pop(&agents->due, now, &id); i++) {
        struct pretend_run *run = map_get(&agents->runs, id);
        if (run)
            run_goes_on(agents, run, now);
    }
    timer_set(agents);
    pthread_mutex_unlock(&agents->lock);
}

static void timer_set(struct agents *agents) {
    int64_t next = due_next(&agents->due), now = clock_steady();
    if (next == TIME_NEVER)
        return;
    uint64_t ms = next > now ? (uint64_t)((next - now) / 1000) + 1 : 1;
    uv_timer_start(&agents->timer, time_has_come, ms, 0);
}

/* ---- carrying out effects ---- */

/* Looks up the pretend behaviour of an agent; false: no driver of ours starts it. */
static bool behaviour_of(struct agents *agents, struct str agent, struct behaviour *ret) {
    const struct settings *settings = context_settings(agents->context);
    bool found = false;
    for (uint32_t i = 0; i < settings->lists.agent_count && !found; i++) {
        const struct agent_setting *row = &settings->lists.agents[i];
        *ret = (struct behaviour){.pace = row->pretend.pace, .stretches = row->pretend.stretches};
        found = str_equal(row->id, agent) && str_equal(row->driver, STR("pretend")) &&
                names_find(&PRETEND_NAMES, row->pretend.behaviour, &ret->kind);
    }
    context_settings_drop(settings);
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
    run->assignment = effect->assignment;
    run->number = dispatch_of(effect);
    run->joins = lease_now(agents).joins;
    run->born = clock_steady();
    snprintf(run->node, sizeof run->node, "%.*s", STR_ARG(effect->node));
    return run;
}

/* The key under which the next run for this work finds what was done. */
static struct id work_id(struct id goal, struct str node) {
    return id_derive((struct str){(const char *)goal.bytes, sizeof goal.bytes}, node);
}

static void past_keep(struct agents *agents, const struct pretend_run *run) {
    struct id id = work_id(run->goal, str_of(run->node));
    struct pretend_past *past = map_get(&agents->past, id);
    if (!past && (past = calloc(1, sizeof *past)) && !map_put(&agents->past, id, past)) {
        free(past);
        return;
    }
    if (past)
        *past = (struct pretend_past){run->agent.worked, run->agent.stretches,
                                      past->troubled || run->agent.troubled};
}

static void run_begin(struct agents *agents, struct pretend_run *run,
                      const struct behaviour *behaviour, uint32_t dispatch) {
    const struct pretend_past *past = map_get(&agents->past, work_id(run->goal, str_of(run->node)));
    struct pretend *agent = &run->agent;
    uint64_t seed;
    memcpy(&seed, run->id.bytes + 8, sizeof seed);
    run->pace = behaviour->pace;
    pretend_start(agent, (enum pretend_kind)behaviour->kind, seed, dispatch, run->born);
    if (behaviour->stretches > 0) {
        agent->stretches = (uint32_t)behaviour->stretches;
        agent->trouble_at = agent->stretches / 2;
    }
    if (!past)
        return;
    agent->stretches = past->stretches;
    agent->worked = past->worked;
    agent->troubled = past->troubled;
}

/* Starts nothing twice under one id, and nothing that was stopped before it started. */
static void spawn_one(struct agents *agents, const struct effect *effect, struct signal *ended,
                      struct arena *arena) {
    struct id id = effect_id(effect->goal, dispatch_of(effect) - 1);
    struct behaviour behaviour;
    ended->to = DELIVERY_ERROR;
    if (recent_has(&agents->stopped, id))
        ended->text = STR("it was stopped before it started");
    else if (!behaviour_of(agents, effect->agent, &behaviour))
        ended->text =
            arena_format(arena, "no driver starts the agent %.*s: give it one under [[agents]]",
                         STR_ARG(effect->agent));
    else {
        struct pretend_run *run = map_get(&agents->runs, id);
        if (!run && (run = run_add(agents, effect, id)))
            run_begin(agents, run, &behaviour, dispatch_of(effect));
        if (!run)
            return;
        ended->to = DELIVERY_ACCEPTED;
        ended->outcome.reference =
            arena_format(arena, "agent:%.*s:%u", STR_ARG(effect->agent), effect->n + 1);
        due_set(&agents->due, id, run_next(run));
    }
}

static struct pretend_run *run_meant(struct agents *agents, const struct effect *effect) {
    return effect->run ? map_get(&agents->runs, effect_id(effect->goal, effect->run - 1)) : NULL;
}

static void send_to(struct agents *agents, const struct effect *effect, struct signal *ended) {
    struct pretend_run *run = run_meant(agents, effect);
    ended->to = DELIVERY_ERROR;
    ended->text = run ? STR("") : STR("its run has ended");
    if (!run)
        return;
    ended->to = pretend_send(&run->agent, &CALM, dispatch_of(effect), (enum wording)effect->words,
                             time_own(run, clock_steady()));
    due_set(&agents->due, run->id, run_next(run));
}

/* A pretend run lives in this process: if it is not here, it is gone. */
static void look_at(struct agents *agents, const struct effect *effect, struct signal *ended,
                    struct arena *arena) {
    struct pretend_run *run = run_meant(agents, effect);
    struct observation seen = {.at = clock_wall(), .process = TRISTATE_NO, .turn = TRISTATE_NO};
    if (run)
        run_see(run, effect->dispatch, effect->sample, time_own(run, clock_steady()), &seen);
    seen.assignment = effect->assignment;
    seen.dispatch = effect->dispatch;
    ended->body = shape_encode(&OBSERVATION, &seen, arena);
}

static void stop_one(struct agents *agents, const struct effect *effect) {
    struct pretend_run *run = run_meant(agents, effect);
    struct id id = effect_id(effect->goal, effect->run ? effect->run - 1 : 0);
    if (!run) {
        recent_add(&agents->stopped, id);
        return;
    }
    past_keep(agents, run);
    due_remove(&agents->due, id);
    map_remove(&agents->runs, id);
    free(run);
}

/* For pretend work the true state is known. */
static bool work_is_done(struct agents *agents, const struct effect *effect) {
    const struct pretend_run *run = run_meant(agents, effect);
    const struct pretend_past *past = map_get(&agents->past, work_id(effect->goal, effect->node));
    return run ? pretend_is_done(&run->agent) : past && past->worked >= past->stretches;
}

static void check_one(struct agents *agents, const struct effect *effect, struct signal *ended,
                      struct arena *arena) {
    bool done = work_is_done(agents, effect);
    struct id id = work_id(effect->goal, effect->node);
    ended->to = done ? CHECKED_PASSED : CHECKED_FAILED;
    ended->exit = !done;
    ended->outcome.reference =
        arena_format(arena, "%02x%02x%02x%02x", id.bytes[0], id.bytes[1], id.bytes[2], id.bytes[3]);
    ended->text = done ? STR("All 12 tests pass.") : STR("3 of 12 tests fail.");
}

static void land_one(const struct effect *effect, struct signal *ended, struct arena *arena) {
    ended->to = LANDED_YES;
    ended->outcome.reference =
        arena_format(arena, "%.*s on a pretended branch", STR_ARG(effect->candidate.commit));
}

/* Tells whether the effect is for a pretend agent: a run that is known here is one; a new run is judged by its agent's
 * settings. */
static bool pretends(struct agents *agents, const struct effect *effect) {
    struct behaviour behaviour;
    return behaviour_of(agents, effect->agent, &behaviour) || run_meant(agents, effect);
}

void agents_carry(struct agents *agents, struct act *act) {
    struct arena arena = {0};
    const struct effect *effect = &act->effect;
    struct signal ended = {0};
    if (agents->real && !pretends(agents, effect)) {
        runs_carry(agents->real, act);
        return;
    }
    pthread_mutex_lock(&agents->lock);
    switch (effect->kind) {
    case EFFECT_SPAWN: spawn_one(agents, effect, &ended, &arena); break;
    case EFFECT_SEND: send_to(agents, effect, &ended); break;
    case EFFECT_LOOK: look_at(agents, effect, &ended, &arena); break;
    case EFFECT_CHECK: check_one(agents, effect, &ended, &arena); break;
    case EFFECT_LAND: land_one(effect, &ended, &arena); break;
    case EFFECT_THAW: break; /* pretend runs write nothing to disk */
    default: stop_one(agents, effect); break;
    }
    timer_set(agents);
    pthread_mutex_unlock(&agents->lock);
    executor_report(agents->executor, act, ended);
    arena_free(&arena);
    free(act);
}

/* ---- observing ---- */

static void observed_anew(struct agents *agents, int64_t wall, int64_t stepped, bool slept) {
    if (slept || stepped != agents->stepped)
        agents->since = wall;
    agents->stepped = stepped;
}

/* docs/decisions/0009: silence counts only while this process was listening. */
void agents_beat(struct agents *agents) {
    struct clock_reading now = clock_read();
    pthread_mutex_lock(&agents->lock);
    bool slept = now.boot - agents->beat_boot > SECONDS(GAP_SECONDS);
    observed_anew(agents, now.wall, now.stepped, slept);
    agents->beat_boot = now.boot;
    pthread_mutex_unlock(&agents->lock);
}

struct str agents_see(void *with, struct id goal, const struct assignments *assignments,
                      struct instant now, struct arena *arena) {
    struct agents *agents = with;
    struct observation *rows = arena_new(arena, struct observation, assignments->count);
    struct observations seen = {.rows = {rows, 0}};
    pthread_mutex_lock(&agents->lock);
    observed_anew(agents, now.wall, now.stepped, false);
    seen.since = agents->since;
    for (uint32_t i = 0; i < assignments->count; i++) {
        const struct assignment *assignment = &assignments->at[i];
        struct pretend_run *run =
            assignment->run ? map_get(&agents->runs, effect_id(goal, assignment->run - 1)) : NULL;
        struct observation *row = &rows[seen.rows.count];
        if (run)
            run_see(run, 0, 0, time_own(run, clock_steady()), row);
        else if (!agents->real || !assignment->run ||
                 !runs_see(agents->real, effect_id(goal, assignment->run - 1), row))
            continue;
        row->assignment = assignment->n;
        seen.rows.count++;
    }
    pthread_mutex_unlock(&agents->lock);
    return shape_encode(&OBSERVATIONS, &seen, arena);
}

/* ---- start and stop ---- */

void agents_start(struct agents *agents, uv_loop_t *loop, struct executor *executor,
                  struct daemon_context *context) {
    agents->executor = executor;
    agents->context = context;
    struct clock_reading now = clock_read();
    agents->since = now.wall;
    agents->beat_boot = now.boot;
    agents->stepped = now.stepped;
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
    for (size_t i = 0; i < agents->past.cap; i++)
        free(agents->past.slots[i].value);
    map_free(&agents->past);
    due_free(&agents->due);
    pthread_mutex_destroy(&agents->lock);
}
