/* SPDX-License-Identifier: Apache-2.0 */
/* Routes effects to agents, carries out simulated runs, and reports observations of agents. */
#include "runs/agents.h"

#include "base/memory.h"
#include "drivers/driver.h"
#include "engine/reload.h"
#include "runs/executor.h"
#include "runs/run.h"
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

struct simulated_run {
    struct id id, goal;
    uint32_t assignment, shown, number; /* number: of the effect that started it, from 1 */
    uint32_t heard;                     /* the newest dispatch that arrived */
    uint64_t joins;                     /* P10: the join of this host under which it began */
    char node[LIMIT_NODE_ID + 1];
    const struct driver *driver;
    max_align_t state[]; /* of the driver */
};

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

/* ---- observing a simulated run ---- */

/* Uses the steady clock: a step of the wall clock does not change how fast a simulated agent works. */
static void run_see(struct simulated_run *run, int64_t steady, struct observation *ret) {
    *ret = (struct observation){0};
    run->driver->simulation->advance(run->state, steady);
    run->driver->see(run->state, ret);
    ret->assignment = run->assignment;
    ret->context /= 100; /* to percent */
    ret->limited_until = clock_steady_to_wall(ret->limited_until);
    observation_to_wall(ret);
}

static void run_see_cheaply(struct simulated_run *run, int64_t steady, struct observation *ret) {
    run_see(run, steady, ret);
    ret->sampled = SAMPLED_NOTHING;
}

/* ---- signals to the ledger ---- */

static void offer(struct agents *agents, const struct simulated_run *run,
                  const struct signal *signal) {
    struct input *input = input_make(signal, NULL);
    if (!input)
        memory_exhausted();
    if (queue_put(&agents->executor->ledger_thread->queue, input))
        return;
    input_free(input);
    log_run(
        LEVEL_ERROR, run,
        "the queue is full: an observation of a simulated agent was dropped; the next look reports it again");
}

static struct signal shown_signal(struct simulated_run *run, enum signal_kind kind) {
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

static void words_offer(struct agents *agents, struct simulated_run *run, struct str words,
                        struct arena *arena) {
    struct signal update, signal;
    if (words.len == 0 ||
        !update_signal(words, WHO_AGENT, run->goal, run->assignment + 1, arena, &update))
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

static void event_offer(struct agents *agents, struct simulated_run *run, int64_t at,
                        enum agent_event happened, const struct drive_event *event,
                        struct arena *arena) {
    struct observation seen;
    run_see_cheaply(run, at, &seen);
    seen.event = happened;
    seen.dispatch = seen.heard = run->heard;
    seen.limited_until = clock_steady_to_wall(event->until);
    seen.exit = event->status;
    struct signal signal = shown_signal(run, SIGNAL_AGENT_SEEN);
    signal.body = shape_encode(&OBSERVATION, &seen, arena);
    offer(agents, run, &signal);
    words_offer(agents, run, event->text, arena);
}

static void events_offer(struct agents *agents, struct simulated_run *run, int64_t at,
                         const struct drive_out *out) {
    static const enum agent_event SHOWN[DRIVE_KINDS] = {[DRIVE_ASKS_FOR] = AGENT_ASKS,
                                                        [DRIVE_ENDED] = AGENT_ENDED,
                                                        [DRIVE_EXITED] = AGENT_EXITED,
                                                        [DRIVE_FAILED] = AGENT_FAILED,
                                                        [DRIVE_LIMITED] = AGENT_LIMITED};
    for (uint32_t i = 0; i < out->event_count; i++) {
        const struct drive_event *event = &out->events[i];
        if (SHOWN[event->kind])
            event_offer(agents, run, at, SHOWN[event->kind], event, out->arena);
    }
}

/* ---- timed events ---- */

static void timer_set(struct agents *agents);

static void run_due_set(struct agents *agents, const struct simulated_run *run) {
    if (!due_set(&agents->due, run->id, run->driver->due(run->state)))
        memory_exhausted();
}

static void run_goes_on(struct agents *agents, struct simulated_run *run, int64_t now) {
    struct arena arena = {0};
    int64_t at;
    for (int i = 0; i < 16 && (at = run->driver->due(run->state)) <= now; i++) {
        struct drive_out out = {.arena = &arena};
        run->driver->tick(run->state, at, &out);
        events_offer(agents, run, at, &out);
    }
    run_due_set(agents, run);
    arena_free(&arena);
}

static void run_ends(struct agents *agents, struct simulated_run *run, int64_t now) {
    struct arena arena = {0};
    run->driver->gone(run->state, 0, now, &(struct drive_out){.arena = &arena});
    run->heard = run->number;
    event_offer(agents, run, now, AGENT_EXITED, &(struct drive_event){.status = 0}, &arena);
    arena_free(&arena);
}

/* A simulated run pauses without a lease and ends once the lease is lost: the next owner of its goal gets its exit as a
 * signal. */
static bool lease_ended(struct agents *agents) {
    struct ledger_lease lease = lease_now(agents);
    if (!is_shared(agents))
        return false;
    if (lease.joins == 0 || clock_boot() >= lease.until)
        return true;
    for (size_t i = agents->runs.cap; i-- > 0;) {
        struct simulated_run *run = agents->runs.slots[i].value;
        if (!run || run->joins == lease.joins)
            continue;
        run_ends(agents, run, clock_steady());
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
        struct simulated_run *run = map_get(&agents->runs, id);
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

/* Looks up the driver of an agent; NULL: it is not simulated. ret_spec may be NULL. */
static const struct driver *simulation_of(struct agents *agents, struct str agent,
                                          struct arena *arena, struct drive_spec *ret_spec) {
    const struct settings *settings = context_settings(agents->context);
    const struct agent_setting *row = run_agent(settings, agent);
    const struct driver *driver = row ? run_driver(row) : NULL;
    if (driver && !driver->simulation)
        driver = NULL;
    if (driver && ret_spec)
        *ret_spec = (struct drive_spec){.quirk = arena_copy(arena, row->pretend.behaviour),
                                        .pace = row->pretend.pace,
                                        .stretches = row->pretend.stretches};
    context_settings_drop(settings);
    return driver;
}

/* The key under which the next run for this work finds what was done. */
static struct id work_id(struct id goal, struct str node) {
    return id_derive((struct str){(const char *)goal.bytes, sizeof goal.bytes}, node);
}

static struct simulated_run *run_add(struct agents *agents, const struct effect *effect,
                                     const struct driver *driver, struct drive_spec *spec,
                                     struct arena *arena) {
    struct simulated_run *run = memory_new(sizeof *run + driver->size);
    if (!map_put(&agents->runs, spec->run, run))
        memory_exhausted();
    run->id = spec->run;
    run->driver = driver;
    run->goal = effect->goal;
    run->assignment = effect->assignment;
    run->number = dispatch_of(effect);
    run->joins = lease_now(agents).joins;
    snprintf(run->node, sizeof run->node, "%.*s", STR_ARG(effect->node));
    driver->begin(run->state, spec, clock_steady(), &(struct drive_out){.arena = arena});
    const struct simulated_run *before =
        map_get(&agents->past, work_id(run->goal, str_of(run->node)));
    if (before && before->driver == driver)
        driver->simulation->resume(run->state, before->state);
    return run;
}

/* Tells it the kind of the text and the node. */
static enum delivery run_tell(struct agents *agents, struct simulated_run *run,
                              const struct effect *effect, enum wording words,
                              struct arena *arena) {
    struct drive_out out = {.arena = arena};
    if (!run->driver->ready(run->state))
        return DELIVERY_ERROR;
    run->driver->send(run->state, effect_id(run->goal, dispatch_of(effect) - 1),
                      arena_format(arena, "%s %s", name_of(&WORDS_NAMES, words), run->node),
                      clock_steady(), &out);
    run_due_set(agents, run);
    for (uint32_t i = 0; i < out.event_count; i++)
        if (out.events[i].kind == DRIVE_ACCEPTED) {
            run->heard = dispatch_of(effect);
            return DELIVERY_ACCEPTED;
        }
    return DELIVERY_TIMEOUT;
}

/* Starts nothing twice under one id, and nothing that was stopped before it started. */
static void spawn_one(struct agents *agents, const struct effect *effect, struct signal *ended,
                      struct arena *arena) {
    struct id id = effect_id(effect->goal, dispatch_of(effect) - 1);
    struct drive_spec spec;
    struct drive_launch *launch = arena_new(arena, struct drive_launch, 1);
    const struct driver *driver = simulation_of(agents, effect->agent, arena, &spec);
    ended->to = DELIVERY_ERROR;
    if (recent_has(&agents->stopped, id))
        ended->text = STR("it was stopped before it started");
    else if (!driver)
        ended->text =
            arena_format(arena, "no driver starts the agent %.*s: give it one under [[agents]]",
                         STR_ARG(effect->agent));
    else if (driver->launch(&spec, arena, launch, &ended->text)) {
        spec.run = id;
        if (!map_get(&agents->runs, id))
            run_tell(agents, run_add(agents, effect, driver, &spec, arena), effect, WORDS_TASK,
                     arena);
        ended->to = DELIVERY_ACCEPTED;
        ended->outcome.reference =
            arena_format(arena, "agent:%.*s:%u", STR_ARG(effect->agent), effect->n + 1);
    }
}

static struct simulated_run *run_meant(struct agents *agents, const struct effect *effect) {
    return effect->run ? map_get(&agents->runs, effect_id(effect->goal, effect->run - 1)) : NULL;
}

static void send_to(struct agents *agents, const struct effect *effect, struct signal *ended,
                    struct arena *arena) {
    struct simulated_run *run = run_meant(agents, effect);
    ended->to = DELIVERY_ERROR;
    ended->text = run ? STR("") : STR("its run has ended");
    if (run)
        ended->to = run_tell(agents, run, effect, (enum wording)effect->words, arena);
}

static enum tristate delivered(struct simulated_run *run, const struct effect *effect,
                               struct arena *arena) {
    struct drive_out out = {.arena = arena};
    run->driver->look(run->state, effect_id(run->goal, effect->dispatch - 1), clock_steady(), &out);
    return out.event_count > 0 ? out.events[0].arrived : TRISTATE_UNKNOWN;
}

/* A simulated run lives in this process: if it is not here, it is gone. */
static void look_at(struct agents *agents, const struct effect *effect, struct signal *ended,
                    struct arena *arena) {
    struct simulated_run *run = run_meant(agents, effect);
    struct observation seen = {.at = clock_wall(), .process = TRISTATE_NO, .turn = TRISTATE_NO};
    if (run)
        (effect->sample ? run_see : run_see_cheaply)(run, clock_steady(), &seen);
    if (run && effect->dispatch)
        seen.delivered = delivered(run, effect, arena);
    seen.assignment = effect->assignment;
    seen.dispatch = effect->dispatch;
    ended->body = shape_encode(&OBSERVATION, &seen, arena);
}

/* The next run for the same work goes on where this one ends. */
static void past_keep(struct agents *agents, struct simulated_run *run) {
    struct id work = work_id(run->goal, str_of(run->node));
    free(map_remove(&agents->past, work));
    if (!map_put(&agents->past, work, run))
        memory_exhausted();
}

static void stop_one(struct agents *agents, const struct effect *effect) {
    struct simulated_run *run = run_meant(agents, effect);
    struct id id = effect_id(effect->goal, effect->run ? effect->run - 1 : 0);
    if (!run) {
        recent_add(&agents->stopped, id);
        return;
    }
    due_remove(&agents->due, id);
    map_remove(&agents->runs, id);
    past_keep(agents, run);
}

/* For simulated work the true state is known. */
static bool work_is_done(struct agents *agents, const struct effect *effect) {
    const struct simulated_run *run = run_meant(agents, effect);
    if (!run)
        run = map_get(&agents->past, work_id(effect->goal, effect->node));
    return run && run->driver->simulation->is_done(run->state);
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

/* A run that is known here is simulated; a new run is judged by its agent's settings. */
static bool is_simulated(struct agents *agents, const struct effect *effect) {
    return simulation_of(agents, effect->agent, NULL, NULL) || run_meant(agents, effect);
}

void agents_carry(struct agents *agents, struct act *act) {
    struct arena arena = {0};
    const struct effect *effect = &act->effect;
    struct signal ended = {0};
    if (!is_simulated(agents, effect)) {
        runs_carry(agents->real, act);
        return;
    }
    pthread_mutex_lock(&agents->lock);
    switch (effect->kind) {
    case EFFECT_SPAWN: spawn_one(agents, effect, &ended, &arena); break;
    case EFFECT_SEND: send_to(agents, effect, &ended, &arena); break;
    case EFFECT_LOOK: look_at(agents, effect, &ended, &arena); break;
    case EFFECT_CHECK: check_one(agents, effect, &ended, &arena); break;
    case EFFECT_LAND: land_one(effect, &ended, &arena); break;
    case EFFECT_THAW: break; /* simulated runs write nothing to disk */
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
        struct simulated_run *run =
            assignment->run ? map_get(&agents->runs, effect_id(goal, assignment->run - 1)) : NULL;
        struct observation *row = &rows[seen.rows.count];
        if (run)
            run_see_cheaply(run, clock_steady(), row);
        else if (!assignment->run ||
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
