/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the table of the runs on this host, and dispatches effects and timers to them. */
#include "runs/run_table.h"
#include "runs/check/check.h"

#include "base/memory.h"
#include "model/store_address.h"
#include "runs/run.h"
#include "runs/run_log.h"
#include "sys/clock.h"

/* ---- carrying out effects ---- */

static void nothing_to_see(struct run_table *runs, struct act *act) {
    struct arena arena = {0};
    struct observation seen = {.assignment = act->effect.assignment,
                               .at = clock_wall(),
                               .process = TRISTATE_NO,
                               .turn = TRISTATE_NO,
                               .dispatch = act->effect.dispatch,
                               .delivered = act->effect.dispatch ? TRISTATE_NO : TRISTATE_UNKNOWN};
    executor_report(runs->executor, act,
                    (struct signal){.body = shape_encode(&OBSERVATION, &seen, &arena)});
    arena_free(&arena);
    free(act);
}

static void nobody_is_there(struct run_table *runs, struct act *act) {
    const struct effect *effect = &act->effect;
    switch (effect->kind) {
    case EFFECT_LOOK: nothing_to_see(runs, act); return;
    case EFFECT_STOP:
        if (effect->run)
            recent_add(&runs->never, effect_id(effect->goal, effect->run - 1));
        executor_report(runs->executor, act, (struct signal){0});
        break;
    default:
        executor_report(runs->executor, act,
                        (struct signal){.to = DELIVERY_ERROR, .text = STR("its run has ended")});
    }
    free(act);
}

void runs_carry(struct run_table *runs, struct act *act) {
    const struct effect *effect = &act->effect;
    struct run *run =
        effect->run ? map_get(&runs->all, effect_id(effect->goal, effect->run - 1)) : NULL;
    if (effect->kind == EFFECT_SPAWN)
        run_spawn(runs, act);
    else if (effect->kind == EFFECT_CHECK)
        work_check(runs, act);
    else if (effect->kind == EFFECT_LAND)
        work_land(runs, act);
    else if (!run)
        nobody_is_there(runs, act);
    else if (effect->kind == EFFECT_SEND)
        run_send(run, act);
    else if (effect->kind == EFFECT_LOOK)
        run_look(run, act);
    else if (effect->kind == EFFECT_THAW)
        run_thaw(run, act);
    else
        run_stop(run, act);
}

bool runs_see(struct run_table *runs, struct id id, struct observation *ret) {
    pthread_mutex_lock(&runs->lock);
    const struct run *run = map_get(&runs->all, id);
    if (run)
        *ret = run->seen;
    pthread_mutex_unlock(&runs->lock);
    if (run)
        observation_to_wall(ret);
    return run != NULL;
}

/* For a store: its file. A store that is not a local file has none. */
static void place_hide(char to[RUN_PATH], const char *place) {
    const char *file = place ? store_address_file(place) : NULL;
    place = file ? file : place;
    snprintf(to, RUN_PATH, "%s", place && *place == '/' ? place : "");
}

/* Many agents that each write a line now and then produce a steady stream of lines. A process that wakes up for each
 * line spends more on waking up than on the lines: while lines come close together, it sleeps a few milliseconds and
 * reads several at once. */
static void pace_keep(uv_check_t *check) {
    enum { STREAM_NS = 8 * 1000 * 1000, REST_US = 4000 };
    struct run_table *runs = check->data;
    uint64_t now = uv_hrtime();
    if (runs->lines == 0)
        return;
    bool stream = now - runs->lines_at < STREAM_NS;
    runs->lines = 0;
    runs->lines_at = now;
    if (stream)
        usleep(REST_US);
}

static void due_passed(uv_timer_t *timer) {
    struct run_table *runs = timer->data;
    int64_t now = clock_steady();
    struct id id;
    for (int i = 0; i < 1024 && due_pop(&runs->due, now, &id); i++) {
        struct run *run = map_get(&runs->all, id);
        if (run)
            run_tick(run, now);
    }
    runs_timer_set(runs);
}

struct run_table *runs_start(uv_loop_t *loop, struct executor *executor,
                             struct daemon_context *context, const struct runs_places *places) {
    struct run_table *runs = memory_new(sizeof *runs);
    *runs = (struct run_table){.loop = loop, .executor = executor, .context = context};
    snprintf(runs->state, sizeof runs->state, "%s", places->state);
    snprintf(runs->socket, sizeof runs->socket, "%s", places->socket);
    for (size_t i = 0; i < RUNS_HIDDEN; i++)
        place_hide(runs->hidden[i], places->hidden[i]);
    runs->can = sandbox_probe(runs->bwrap, runs->cannot, sizeof runs->cannot);
    if (runs->can != SANDBOX_BOTH)
        log_host(LEVEL_WARNING, "runs of agents have a weaker sandbox than possible (%s): %s",
                 sandbox_name(runs->can), runs->cannot);
    sibling_program("overseer-hold", runs->hold, sizeof runs->hold);
    const struct settings *settings = context_settings(context);
    run_limits_probe(runs, settings);
    context_settings_drop(settings);
    pthread_mutex_init(&runs->lock, NULL);
    uv_timer_init(loop, &runs->timer);
    runs->due_passed = due_passed;
    uv_timer_init(loop, &runs->clean);
    uv_timer_start(&runs->clean, clean_begin, RUNS_CLEAN_MS, 0);
    uv_async_init(loop, &runs->heard, loop_tasks_came);
    uv_check_init(loop, &runs->pace);
    uv_check_start(&runs->pace, pace_keep);
    uv_unref((uv_handle_t *)&runs->pace);
    runs->timer.data = runs->clean.data = runs->heard.data = runs->pace.data = runs;
    runs_lease_start(runs);
    brake_start(runs);
    host_lists_start(runs);
    quota_start(runs);
    if (!net_start(runs))
        log_host(
            LEVEL_WARNING,
            "the threads for git over the network cannot be started: git uses the shared threads");
    return runs;
}

/* Resumes a run that an earlier daemon started: asks its hold for the output since the saved offset. */
static void run_found(struct run_table *runs, const char *name) {
    uint64_t offset = 0;
    struct run *run = run_file_read(runs, name);
    if (!run)
        return;
    run->unresumable = !run_load(run, &offset) || (!run->begun && !run->known);
    if (!run_open(run, offset)) {
        run_lost(run);
        return;
    }
    if (run->unresumable) {
        log_run(LEVEL_WARNING, run,
                "agent %s cannot be resumed (%s): it is stopped and started again", run->agent,
                run->broken ? run->broken_why : "started by another build or with other settings");
        if (!held_stop(run->held, RUN_GRACE_MS))
            run_lost(run);
        return;
    }
    log_run(LEVEL_INFO, run, "resumes agent %s from byte %llu", run->agent,
            (unsigned long long)offset);
}

void runs_find(struct run_table *runs) {
    char path[RUN_PATH + 8];
    snprintf(path, sizeof path, "%s/runs", runs->state);
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        log_host(LEVEL_ERROR, "%s cannot be created: %s", path, strerror(errno));
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            run_found(runs, entry->d_name);
    if (folder)
        closedir(folder);
}

void runs_stop(struct run_table *runs) {
    pthread_mutex_lock(&runs->lock);
    runs->stopping = true;
    pthread_mutex_unlock(&runs->lock);
    pulls_stop(runs);
    net_stop(runs);
    brake_stop(runs);
    host_lists_stop(runs);
    quota_stop(runs);
    uv_close((uv_handle_t *)&runs->timer, NULL);
    uv_close((uv_handle_t *)&runs->clean, NULL);
    uv_close((uv_handle_t *)&runs->renew, NULL);
    uv_close((uv_handle_t *)&runs->heard, NULL);
    uv_close((uv_handle_t *)&runs->pace, NULL);
    for (size_t i = 0; i < runs->all.cap; i++) {
        struct run *run = runs->all.slots[i].value;
        if (run && run->held) {
            held_close(run->held);
            run->held = NULL;
        }
    }
}

void runs_end(struct run_table *runs) {
    if (!runs)
        return;
    loop_tasks_run(runs);
    for (size_t i = runs->all.cap; i-- > 0;)
        if (runs->all.slots[i].value) {
            run_free(runs->all.slots[i].value);
            i = runs->all.cap; /* other entries may have moved */
        }
    map_free(&runs->all);
    due_free(&runs->due);
    pool_free(runs->net);
    host_lists_free(runs);
    quota_free(runs);
    failed_checks_free(runs);
    pthread_mutex_destroy(&runs->lock);
    free(runs);
}
