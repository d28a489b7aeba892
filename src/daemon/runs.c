/* SPDX-License-Identifier: Apache-2.0 */
/* Which runs does this host hold, and who sees to them? */
#include "daemon/runs.h"

#include "daemon/clock.h"
#include "daemon/log.h"
#include "daemon/run.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- errands ---- */

/* From any thread. */
void errand_home(struct runs *runs, struct errand *errand) {
    pthread_mutex_lock(&runs->lock);
    struct errand **end = &runs->errands;
    while (*end)
        end = &(*end)->next;
    errand->next = NULL;
    *end = errand;
    if (!runs->stopping)
        uv_async_send(&runs->heard);
    pthread_mutex_unlock(&runs->lock);
}

static void errands_go(struct runs *runs) {
    pthread_mutex_lock(&runs->lock);
    struct errand *errand = runs->errands;
    runs->errands = NULL;
    pthread_mutex_unlock(&runs->lock);
    while (errand) {
        struct errand *next = errand->next;
        errand->go(errand);
        errand = next;
    }
}

static void errands_came(uv_async_t *async) {
    errands_go(async->data);
}

/* ---- time ---- */

static void timer_set(struct runs *runs);

static void time_has_come(uv_timer_t *timer) {
    struct runs *runs = timer->data;
    int64_t now = clock_steady();
    struct id id;
    for (int i = 0; i < 1024 && due_pop(&runs->due, now, &id); i++) {
        struct running *run = map_get(&runs->all, id);
        if (run)
            run_tick(run, now);
    }
    timer_set(runs);
}

static void timer_set(struct runs *runs) {
    int64_t next = due_next(&runs->due), now = clock_steady();
    if (next == TIME_NEVER || runs->stopping)
        return;
    uint64_t ms = next > now ? (uint64_t)((next - now) / 1000) + 1 : 1;
    uv_timer_start(&runs->timer, time_has_come, ms, 0);
}

static int64_t sooner(int64_t a, int64_t b) {
    return a < b ? a : b;
}

void run_due(struct running *run) {
    int64_t next =
        run->begun && run->held && !run->broken ? run->driver->due(run->state) : TIME_NEVER;
    next = run->said ? sooner(next, run->said_until) : next;
    next = run->look ? sooner(next, run->look_until) : next;
    next = run->save_at ? sooner(next, run->save_at) : next;
    next = run->open_at ? sooner(next, run->open_at) : next;
    next = run->outbox.again_at ? sooner(next, run->outbox.again_at) : next;
    due_set(&run->runs->due, run->id, next);
    timer_set(run->runs);
}

/* ---- a run ---- */

struct running *run_make(struct runs *runs, const struct effect *effect, struct id id) {
    char name[ID_TEXT + 1];
    struct running *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    id_format(id, name);
    *run = (struct running){.runs = runs, .id = id, .goal = effect->goal, .charge = effect->charge};
    snprintf(run->node, sizeof run->node, "%.*s", STR_ARG(effect->node));
    snprintf(run->agent, sizeof run->agent, "%.*s", STR_ARG(effect->agent));
    int length = snprintf(run->dir, sizeof run->dir, "%s/runs/%s", runs->state, name);
    id_format(run->goal, name); /* what an agent remembers is there for its next run */
    int home =
        snprintf(run->home, sizeof run->home, "%s/homes/%s.A_%u", runs->state, name, run->charge);
    pthread_mutex_lock(&runs->lock);
    bool kept = length < (int)sizeof run->dir - 64 && home < (int)sizeof run->home - 64 &&
                map_put(&runs->all, id, run);
    pthread_mutex_unlock(&runs->lock);
    if (kept)
        return run;
    free(run);
    return NULL;
}

void run_free(struct running *run) {
    struct runs *runs = run->runs;
    pthread_mutex_lock(&runs->lock);
    map_remove(&runs->all, run->id);
    pthread_mutex_unlock(&runs->lock);
    due_remove(&runs->due, run->id);
    if (run->token[0])
        tokens_take_back(runs->house->tokens, str_of(run->token));
    if (run->held)
        held_close(run->held);
    drive_pour_free(&run->pour);
    outbox_clear(run);
    arena_free(&run->arena);
    free(run->said);
    free(run->look);
    free(run->stop);
    free(run->text);
    arena_free(&run->saved_arena);
    free(run->state);
    free(run);
}

void run_report(struct running *run, struct act **act, struct signal outcome) {
    struct act *ended = *act;
    *act = NULL;
    hands_report(run->runs->hands, ended, outcome);
    free(ended);
}

/* SCOPE-08: who sees to it that it keeps to its tools. */
const char *run_scope(const struct running *run) {
    bool scoped = run->spec.allow_given || run->spec.deny_count > 0;
    return !scoped ? "none" : run->scope_enforced ? "enforced" : "advisory";
}

/* ASSIGN-13: what is known about whether it arrived. */
void run_said_ended(struct running *run, enum delivery delivery, struct str why) {
    struct arena arena = {0};
    struct signal ended = {.to = delivery, .text = why};
    if (!run->said)
        return;
    if (delivery == DELIVERY_ACCEPTED) /* ASSIGN-16 */
        ended.title = arena_format(&arena, "agent:%s:%s", run->agent, run->session);
    ended.node = str_of(sandbox_name(run->box));
    ended.reason = str_of(run_scope(run));
    ended.command = str_of(run->limits);
    if (run->said->effect.kind == EFFECT_SPAWN)
        ended.body = run_beginning(run, &arena);
    free(run->text);
    run->text = NULL;
    run_report(run, &run->said, ended);
    arena_free(&arena);
}

/* ---- what an effect asks for ---- */

static void nothing_to_see(struct runs *runs, struct act *act) {
    struct arena arena = {0};
    struct sighting seen = {.charge = act->effect.charge,
                            .at = clock_wall(),
                            .process = SURE_NO,
                            .turn = SURE_NO,
                            .dispatch = act->effect.dispatch,
                            .delivered = act->effect.dispatch ? SURE_NO : SURE_UNKNOWN};
    hands_report(runs->hands, act, (struct signal){.body = shape_encode(&SIGHTING, &seen, &arena)});
    arena_free(&arena);
    free(act);
}

static void nobody_is_there(struct runs *runs, struct act *act) {
    const struct effect *effect = &act->effect;
    switch (effect->kind) {
    case EFFECT_LOOK: nothing_to_see(runs, act); return;
    case EFFECT_STOP:
        if (effect->run)
            recent_add(&runs->never, effect_id(effect->goal, effect->run - 1));
        hands_report(runs->hands, act, (struct signal){0});
        break;
    default:
        hands_report(
            runs->hands, act,
            (struct signal){.to = DELIVERY_ERROR, .text = STR("its run is not there any more")});
    }
    free(act);
}

void runs_carry(struct runs *runs, struct act *act) {
    const struct effect *effect = &act->effect;
    struct running *run =
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

void sighting_to_wall(struct sighting *sighting) {
    int64_t *const times[] = {&sighting->at, &sighting->active_at, &sighting->tool_since,
                              &sighting->chatter_at};
    for (size_t i = 0; i < count_of(times); i++)
        *times[i] = clock_steady_to_wall(*times[i]);
}

bool runs_see(struct runs *runs, struct id id, struct sighting *ret) {
    pthread_mutex_lock(&runs->lock);
    const struct running *run = map_get(&runs->all, id);
    if (run)
        *ret = run->seen;
    pthread_mutex_unlock(&runs->lock);
    if (run)
        sighting_to_wall(ret);
    return run != NULL;
}

/* ---- life ---- */

/* Our programs stand in one folder. */
void beside_us(const char *name, char *path, size_t size) {
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    const char *slash = length > 0 ? memrchr(path, '/', (size_t)length) : NULL;
    size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    snprintf(path + folder, size - folder, "%s", name);
}

/* Of a store: its file. One that is somewhere else has none. */
static void place_hide(char to[RUN_PATH], const char *place) {
    static const char SQLITE[] = "sqlite:";
    if (place && strncmp(place, SQLITE, sizeof SQLITE - 1) == 0)
        place += sizeof SQLITE - 1;
    snprintf(to, RUN_PATH, "%s", place && *place == '/' ? place : "");
}

/* Many agents that write a line now and then write them one after the other. A process that wakes up for each of them spends more on waking up
 * than on the lines: while they come close together, it rests a few milliseconds and reads several at once. */
static void pace_keep(uv_check_t *check) {
    enum { STREAM_NS = 8 * 1000 * 1000, REST_US = 4000 };
    struct runs *runs = check->data;
    uint64_t now = uv_hrtime();
    if (runs->lines == 0)
        return;
    bool stream = now - runs->lines_at < STREAM_NS;
    runs->lines = 0;
    runs->lines_at = now;
    if (stream)
        usleep(REST_US);
}

struct runs *runs_start(uv_loop_t *loop, struct hands *hands, struct house *house,
                        const struct runs_places *places) {
    struct runs *runs = calloc(1, sizeof *runs);
    if (!runs)
        return NULL;
    *runs = (struct runs){.loop = loop, .hands = hands, .house = house};
    snprintf(runs->state, sizeof runs->state, "%s", places->state);
    snprintf(runs->socket, sizeof runs->socket, "%s", places->socket);
    for (size_t i = 0; i < RUNS_HIDDEN; i++)
        place_hide(runs->hidden[i], places->hidden[i]);
    runs->can = sandbox_probe(runs->bwrap, runs->cannot, sizeof runs->cannot);
    if (runs->can != SANDBOX_BOTH)
        log_warning("runs of agents are held by less than they could be (%s): %s",
                    sandbox_name(runs->can), runs->cannot);
    beside_us("overseer-hold", runs->hold, sizeof runs->hold);
    const struct settings *settings = house_settings(house);
    run_limits_probe(runs, settings);
    house_settings_drop(settings);
    pthread_mutex_init(&runs->lock, NULL);
    uv_timer_init(loop, &runs->timer);
    uv_timer_init(loop, &runs->clean);
    uv_timer_start(&runs->clean, clean_begin, RUNS_CLEAN_MS, 0);
    uv_async_init(loop, &runs->heard, errands_came);
    uv_check_init(loop, &runs->pace);
    uv_check_start(&runs->pace, pace_keep);
    uv_unref((uv_handle_t *)&runs->pace);
    runs->timer.data = runs->clean.data = runs->heard.data = runs->pace.data = runs;
    runs_lease_start(runs);
    brake_start(runs);
    if (!net_start(runs))
        log_warning(
            "there are no threads for git over the network: it shares those of everything else");
    return runs;
}

/* What was begun before: its hold is asked what it has said since, from where it was read to. */
static void run_found(struct runs *runs, const char *name) {
    uint64_t offset = 0;
    struct running *run = run_file_read(runs, name);
    if (!run)
        return;
    run->strange = !run_load(run, &offset) || (!run->begun && !run->known);
    if (!run_open(run, offset)) {
        run_lost(run);
        return;
    }
    if (run->strange) {
        log_run(LEVEL_WARNING, run,
                "the run %s of %s cannot be gone on with (%s): it is stopped, and begun anew", name,
                run->agent,
                run->broken ? run->broken_why : "begun by another build or with other settings");
        if (!held_stop(run->held, RUN_GRACE_MS))
            run_lost(run);
        return;
    }
    log_run(LEVEL_INFO, run, "goes on with the run %s of %s from byte %llu", name, run->agent,
            (unsigned long long)offset);
}

void runs_find(struct runs *runs) {
    char path[RUN_PATH + 8];
    snprintf(path, sizeof path, "%s/runs", runs->state);
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        log_error("%s cannot be made: %s", path, strerror(errno));
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            run_found(runs, entry->d_name);
    if (folder)
        closedir(folder);
}

void runs_stop(struct runs *runs) {
    pthread_mutex_lock(&runs->lock);
    runs->stopping = true;
    pthread_mutex_unlock(&runs->lock);
    pulls_stop(runs);
    net_stop(runs);
    brake_stop(runs);
    uv_close((uv_handle_t *)&runs->timer, NULL);
    uv_close((uv_handle_t *)&runs->clean, NULL);
    uv_close((uv_handle_t *)&runs->renew, NULL);
    uv_close((uv_handle_t *)&runs->heard, NULL);
    uv_close((uv_handle_t *)&runs->pace, NULL);
    for (size_t i = 0; i < runs->all.cap; i++) {
        struct running *run = runs->all.slots[i].value;
        if (run && run->held) {
            held_close(run->held);
            run->held = NULL;
        }
    }
}

void runs_end(struct runs *runs) {
    if (!runs)
        return;
    errands_go(runs);
    for (size_t i = runs->all.cap; i-- > 0;)
        if (runs->all.slots[i].value) {
            run_free(runs->all.slots[i].value);
            i = runs->all.cap; /* others may have moved */
        }
    map_free(&runs->all);
    due_free(&runs->due);
    pool_free(runs->net);
    pthread_mutex_destroy(&runs->lock);
    free(runs);
}
