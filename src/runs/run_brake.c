/* SPDX-License-Identifier: Apache-2.0 */
/* Freezes runs when the disk fills up, and handles what follows. H7, G-20.
 *
 *   every second: how much is free? ──▶ below repo.disk_least: which run has grown most? ──▶ freeze its hold, record it, tell the ledger
 *                                                                                                 │
 *   thaw or stop ◀── a person's answer ◀── a question in the inbox ◀── committed (the ballast is released for that) ◀┘
 *
 * Freezing needs neither disk space nor a database, and kills nothing. Only a committed decision lets a run continue or ends it. A
 * worker measures how much each run uses, seldom while there is room: passes may take at most a fiftieth of the time. */
#include "base/memory.h"
#include "model/record.h"
#include "runs/run.h"
#include "runs/run_log.h"
#include "sys/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LOOK_MS = 1000,
    RUNS_MOST = 4096,        /* runs measured in one pass */
    ENTRIES = 400000,        /* entries in all folders of one run */
    PASS_SECONDS = 2,        /* limit of one pass while space is low */
    PASS_LONG_SECONDS = 60,  /* limit of one pass otherwise */
    PASS_LEAST_SECONDS = 10, /* between two passes while there is room */
    PASS_SHARE = 50,         /* of which one pass is at most this fraction */
    STALE_SECONDS = 3,       /* after that, runs are judged by the last measurement */
    AGAIN_SECONDS = 2,       /* between two freezes */
    TELL_AGAIN_SECONDS = 5,
    FELL =
        1
        << 20 /* bytes less free than at the last freeze: it was the wrong run, or not the only one */
};

struct sized { /* one run in a pass */
    struct id run;
    char paths[3][RUN_PATH];
    uint64_t bytes;
};

struct measuring {
    uv_work_t work;
    struct run_table *runs;
    uint32_t count;
    int64_t begun, took, within;
    struct sized at[];
};

/* ---- free space ---- */

/* Finds our file system that has the least free space. */
static void free_look(struct brake *brake, const struct run_table *runs) {
    static const char *const BELOW[] = {"", "/work", "/homes", "/runs"};
    char path[RUN_PATH + 16];
    uint64_t left, device;
    brake->free = UINT64_MAX;
    for (size_t i = 0; i < count_of(BELOW) + 1; i++) {
        if (i < count_of(BELOW))
            snprintf(path, sizeof path, "%s%s", runs->state, BELOW[i]);
        else
            snprintf(path, sizeof path, "%s", runs->hidden[1]); /* the store */
        if (path[0] && space_free(path, &left, &device) && left < brake->free) {
            brake->free = left;
            snprintf(brake->where, sizeof brake->where, "%s", path);
        }
    }
}

static bool store_is_in_trouble(struct run_table *runs) {
    char trouble[LIMIT_WHY];
    ledger_thread_view(runs->executor->ledger_thread, trouble);
    return trouble[0] != 0;
}

/* ---- freezing ---- */

static struct signal signal_of(struct run_table *runs, const struct brake_slot *slot,
                               struct arena *arena) {
    struct brake *brake = &runs->brake;
    char run[ID_TEXT + 1], name[48];
    id_format(slot->run, run);
    snprintf(name, sizeof name, "brake %lld", (long long)slot->at);
    long long mib = (long long)(slot->bytes >> 20), left = (long long)(slot->free >> 20);
    struct str why =
        slot->cause == BRAKE_SIZE
            ? arena_format(arena, "it has %lld MiB, and may have %lld (repo.run_disk_most)", mib,
                           (long long)(brake->run_most >> 20))
        : slot->cause == BRAKE_STOP
            ? STR("a person stopped it while the store could not be written")
            : arena_format(
                  arena,
                  "the disk is nearly full: %lld MiB free, %lld must stay free (repo.disk_least)",
                  left, (long long)(brake->least >> 20));
    return (struct signal){
        .kind = SIGNAL_RUN_BRAKED,
        .source = id_derive((struct str){(const char *)slot->run.bytes, sizeof slot->run.bytes},
                            str_of(name)),
        .once.keyed = 1,
        .goal = slot->goal,
        .at = clock_wall(),
        .sender.actor = STR("overseer"),
        .sender.by = WHO_OVERSEER,
        .about.assignment = slot->assignment + 1,
        .effect = slot->number,
        .reason = why,
        .text = arena_format(
            arena,
            "Run %s has %lld MiB in %s (its worktree in work/worktrees, its home in homes, "
            "its output in runs). %lld MiB were free. It is frozen, not ended: nothing is lost, and nothing "
            "more is written. Free space in that file system, then let it go on; or end it.",
            run, mib, runs->state, left)};
}

struct telling {
    struct loop_answer answer;
    struct id run;
    int64_t at;
};

/* The slot is reported if the ledger has the signal or rejected it for good. Otherwise it is reported again. */
static void report_done(struct loop_task *task) {
    struct telling *it = (struct telling *)(void *)task;
    struct run_table *runs = it->answer.runs;
    struct brake_slot *slot = brake_file_find(&runs->brake.file, it->run);
    enum error error = it->answer.input->error;
    bool again = ERRORS[error].class == CLASS_TRANSIENT || error == ERROR_SAFE_MODE;
    if (slot && slot->at == it->at && !again) {
        pthread_mutex_lock(&runs->lock);
        slot->reported = true;
        pthread_mutex_unlock(&runs->lock);
        brake_file_keep(&runs->brake.file, slot);
    }
    runs->brake.telling--;
    input_free(it->answer.input);
    free(it);
}

static void slot_tell(struct run_table *runs, const struct brake_slot *slot) {
    struct arena arena = {0};
    struct signal signal = signal_of(runs, slot, &arena);
    struct telling *it = memory_new(sizeof *it);
    struct input *input = input_make(&signal, it);
    if (!input)
        memory_exhausted();
    *it = (struct telling){{{NULL, report_done}, runs, input}, slot->run, slot->at};
    input->done = loop_answer_post;
    input->must_fit = true;
    runs->brake.telling++;
    if (!queue_put(&runs->executor->ledger_thread->queue, input)) {
        runs->brake.telling--;
        input_free(input);
        free(it);
    }
    arena_free(&arena);
}

/* If the hold cannot be told now, the connection is lost: the next connection freezes it, from the record in the file
 * (run_brake_renew, run_brake_status). */
static void hold_freeze(struct run *run) {
    if (!run->held || !held_freeze(run->held, FREEZE_DISK, 0))
        log_run(LEVEL_WARNING, run, "agent %s cannot be frozen until its hold is connected again",
                run->agent);
}

static void hold_thaw(struct run *run) {
    if (!run->held || !held_thaw(run->held, FREEZE_DISK))
        log_run(LEVEL_WARNING, run, "agent %s cannot be thawed until its hold is connected again",
                run->agent);
}

/* Freezes it again, also for a hold of an older build, which stores no reasons. */
void run_brake_renew(struct run *run) {
    const struct brake_slot *slot = brake_file_find(&run->runs->brake.file, run->id);
    if (slot && slot->state == BRAKE_FROZEN && run->held && !run->exited)
        hold_freeze(run);
}

static void run_freeze(struct run *run, enum brake_cause cause) {
    struct brake *brake = &run->runs->brake;
    struct brake_slot *slot = brake_file_find(&brake->file, run->id);
    if (!slot)
        slot = brake_file_free(&brake->file);
    hold_freeze(run);
    brake->frozen_at = clock_boot();
    brake->frozen_free = brake->free;
    if (!slot) {
        log_run(LEVEL_ERROR, run, "the brake file is full: the freeze of agent %s is not stored",
                run->agent);
        return;
    }
    pthread_mutex_lock(&run->runs->lock);
    *slot = (struct brake_slot){.state = BRAKE_FROZEN,
                                .cause = cause,
                                .run = run->id,
                                .goal = run->goal,
                                .assignment = run->assignment,
                                .number = run->number,
                                .at = clock_wall(),
                                .bytes = run->disk_bytes,
                                .free = brake->free == UINT64_MAX ? 0 : brake->free};
    pthread_mutex_unlock(&run->runs->lock);
    if (!brake_file_keep(&brake->file, slot))
        log_run(LEVEL_ERROR, run, "the freeze of agent %s cannot be stored in the brake file: %s",
                run->agent, strerror(errno));
    log_run(LEVEL_WARNING, run, "agent %s is frozen: it uses %llu MiB, and %llu MiB are free at %s",
            run->agent, (unsigned long long)(slot->bytes >> 20),
            (unsigned long long)(slot->free >> 20), brake->where);
    slot_tell(run->runs, slot);
}

bool run_is_braked(struct run *run) {
    const struct brake_slot *slot = brake_file_find(&run->runs->brake.file, run->id);
    return slot && slot->state == BRAKE_FROZEN;
}

static bool can_freeze(struct run *run) {
    return !run->exited && !run->stop && run->driver && !run->driver->watches &&
           !run_is_braked(run);
}

/* The first status of a hold on a (new) connection: the hold may know more than the file, or less. */
void run_brake_status(struct run *run, const struct hold_status *status) {
    const struct brake_slot *slot = brake_file_find(&run->runs->brake.file, run->id);
    bool frozen = status_freeze_reasons(status) & FREEZE_DISK;
    if (!run->brake_asks)
        return;
    run->brake_asks = false;
    if (!frozen || run->exited || !run->held)
        return;
    if (slot && slot->state == BRAKE_ALLOWED)
        hold_thaw(run); /* the decision was made, but the thaw was lost */
    else if (!slot)
        run_freeze(run,
                   BRAKE_DISK); /* the previous daemon ended between the freeze and its record */
}

/* ---- choosing a run ---- */

static uint64_t growth_of(const struct run *run) {
    return run->disk_bytes > run->disk_before ? run->disk_bytes - run->disk_before : 0;
}

static bool is_worse(const struct run *a, const struct run *b) {
    uint64_t grown = growth_of(a), other = growth_of(b);
    return grown != other ? grown > other : a->disk_bytes > b->disk_bytes;
}

/* Freezes the run that has grown most since there was room; then the next one, while free space still shrinks. */
static void disk_judge(struct run_table *runs) {
    struct brake *brake = &runs->brake;
    struct run *worst = NULL;
    int64_t now = clock_boot();
    bool fell = brake->free + FELL < brake->frozen_free;
    if (brake->free >= brake->least ||
        (brake->frozen_at && (!fell || now - brake->frozen_at < SECONDS(AGAIN_SECONDS))))
        return;
    for (size_t i = 0; i < runs->all.cap; i++) {
        struct run *run = runs->all.slots[i].value;
        if (run && can_freeze(run) && (!worst || is_worse(run, worst)))
            worst = run;
    }
    if (worst)
        run_freeze(worst, BRAKE_DISK);
}

static void size_judge(struct run_table *runs) {
    struct brake *brake = &runs->brake;
    for (size_t i = 0; i < runs->all.cap && brake->run_most > 0; i++) {
        struct run *run = runs->all.slots[i].value;
        const struct brake_slot *slot = run ? brake_file_find(&brake->file, run->id) : NULL;
        uint64_t most = slot && slot->state == BRAKE_ALLOWED && slot->bytes > brake->run_most
                            ? slot->bytes
                            : brake->run_most;
        if (run && can_freeze(run) && run->disk_bytes > most)
            run_freeze(run, BRAKE_SIZE);
    }
}

/* ---- measuring ---- */

static void measure(uv_work_t *work) { /* on a worker */
    struct measuring *it = work->data;
    for (uint32_t i = 0; i < it->count; i++) {
        struct space_walk walk = {.entries = ENTRIES, .until = it->begun + it->within};
        for (size_t j = 0; j < count_of(it->at[i].paths); j++)
            if (it->at[i].paths[j][0])
                it->at[i].bytes += space_of(it->at[i].paths[j], &walk);
    }
    it->took = clock_boot() - it->begun;
}

static void measured(uv_work_t *work, int status) {
    struct measuring *it = work->data;
    struct run_table *runs = it->runs;
    struct brake *brake = &runs->brake;
    (void)status;
    runs->under_way--;
    brake->measuring = false;
    int64_t pause = it->took * PASS_SHARE;
    brake->measure_at =
        clock_boot() + (pause > SECONDS(PASS_LEAST_SECONDS) ? pause : SECONDS(PASS_LEAST_SECONDS));
    for (uint32_t i = 0; i < it->count && !runs->stopping; i++) {
        struct run *run = map_get(&runs->all, it->at[i].run);
        if (!run)
            continue;
        run->disk_bytes = it->at[i].bytes;
        if (brake->free >= brake->least)
            run->disk_before = run->disk_bytes;
    }
    if (!runs->stopping) {
        disk_judge(runs);
        size_judge(runs);
    }
    free(it);
}

static void measure_begin(struct run_table *runs, bool low) {
    struct brake *brake = &runs->brake;
    size_t room = runs->all.count < RUNS_MOST ? runs->all.count : RUNS_MOST;
    if (room == 0)
        return;
    struct measuring *it = memory_new(sizeof *it + room * sizeof *it->at);
    *it = (struct measuring){.work.data = it,
                             .runs = runs,
                             .begun = clock_boot(),
                             .within = SECONDS(low ? PASS_SECONDS : PASS_LONG_SECONDS)};
    for (size_t i = 0; i < runs->all.cap && it->count < room; i++) {
        const struct run *run = runs->all.slots[i].value;
        if (!run || run->exited)
            continue;
        struct sized *one = &it->at[it->count++];
        one->run = run->id;
        snprintf(one->paths[0], RUN_PATH, "%s", run->dir);
        snprintf(one->paths[1], RUN_PATH, "%s", run->home);
        if (strncmp(run->cwd, run->dir, strlen(run->dir)) != 0)
            snprintf(one->paths[2], RUN_PATH, "%s", run->cwd);
    }
    brake->measuring = true;
    runs->under_way++;
    uv_queue_work(runs->loop, &it->work, measure, measured);
}

/* ---- the reserve ---- */

/* Released when nothing can be written any more; created again once there is room for it on top of the space that must
 * stay free. */
static void ballast_look(struct run_table *runs) {
    struct brake *brake = &runs->brake;
    struct ballast *ballast = &brake->ballast;
    bool held = brake->frozen_at ||
                runs->all.count == 0 || /* a run that fills the disk would use that space up, too */
                clock_boot() - brake->low_since >= SECONDS(STALE_SECONDS + 1);
    bool full = brake->free < ballast->size / 4 ||
                (brake->free < brake->least && store_is_in_trouble(runs));
    if (ballast->there && full && held && ballast_release(ballast))
        log_host(
            LEVEL_WARNING,
            "the disk is full: the reserve of %llu MiB is released, so that decisions can be written",
            (unsigned long long)(ballast->size >> 20));
    else if (!ballast->there && runs->all.count > 0 &&
             brake->free > brake->least + 2 * ballast->size)
        ballast_make(ballast);
}

/* ---- every second ---- */

static void settings_look(struct run_table *runs) {
    struct brake *brake = &runs->brake;
    const struct settings *settings = context_settings(runs->context);
    uint64_t least = (uint64_t)settings->repo.disk_least << 20;
    brake->run_most = (uint64_t)settings->repo.run_disk_most << 20;
    context_settings_drop(settings);
    if (least != brake->least || !brake->ballast.path[0]) {
        ballast_release(&brake->ballast);
        ballast_open(&brake->ballast, runs->state, least);
    }
    brake->least = least;
}

/* Clears the slots of runs that are over; reports again what the ledger does not know yet. */
static void slots_look(struct run_table *runs) {
    struct brake *brake = &runs->brake;
    int64_t now = clock_boot();
    bool tell = brake->telling == 0 && now >= brake->tell_at;
    for (int i = 0; i < BRAKE_SLOTS; i++) {
        struct brake_slot *slot = &brake->file.slots[i];
        if (slot->state == BRAKE_NONE)
            continue;
        if (!map_get(&runs->all, slot->run)) {
            pthread_mutex_lock(&runs->lock);
            *slot = (struct brake_slot){0};
            pthread_mutex_unlock(&runs->lock);
            brake_file_keep(&brake->file, slot);
        } else if (slot->state == BRAKE_FROZEN && !slot->reported && tell) {
            brake->tell_at = now + SECONDS(TELL_AGAIN_SECONDS);
            slot_tell(runs, slot);
        }
    }
}

static bool any_frozen(const struct brake *brake) {
    for (int i = 0; i < BRAKE_SLOTS; i++)
        if (brake->file.slots[i].state == BRAKE_FROZEN)
            return true;
    return false;
}

static void look_due(uv_timer_t *timer) {
    struct run_table *runs = timer->data;
    struct brake *brake = &runs->brake;
    int64_t now = clock_boot();
    settings_look(runs);
    free_look(brake, runs);
    bool low = brake->free < brake->least;
    atomic_store(&brake->low, low);
    brake->low_since = !low ? 0 : brake->low_since ? brake->low_since : now;
    if (!low)
        brake->frozen_at = 0;
    else if (brake->frozen_at == 0 &&
             any_frozen(
                 brake)) { /* also after a restart: freeze another one only if free space shrinks */
        brake->frozen_at = now;
        brake->frozen_free = brake->free;
    }
    if (!brake->measuring && runs->all.count > 0 && (low || now >= brake->measure_at))
        measure_begin(runs, low);
    if (low && now - brake->low_since >= SECONDS(STALE_SECONDS))
        disk_judge(runs);
    ballast_look(runs);
    slots_look(runs);
}

/* ---- an operator's decision ---- */

/* EFFECT_THAW, from a committed decision. From now on the run may use what it has now plus a quarter of its limit. */
void run_thaw(struct run *run, struct act *act) {
    struct brake *brake = &run->runs->brake;
    struct brake_slot *slot = brake_file_find(&brake->file, run->id);
    hold_thaw(run);
    if (slot) {
        pthread_mutex_lock(&run->runs->lock);
        slot->state = BRAKE_ALLOWED;
        slot->bytes = run->disk_bytes + brake->run_most / 4;
        pthread_mutex_unlock(&run->runs->lock);
        brake_file_keep(&brake->file, slot);
    }
    brake->frozen_at = 0;
    run_report(run, &act, (struct signal){0});
}

struct stopping {
    struct loop_task task;
    struct run_table *runs;
    struct id goal;
};

static void stop_home(struct loop_task *task) {
    struct stopping *it = (struct stopping *)(void *)task;
    struct run_table *runs = it->runs;
    for (size_t i = 0; i < runs->all.cap && !runs->stopping; i++) {
        struct run *run = runs->all.slots[i].value;
        if (run && can_freeze(run) &&
            (id_equal(it->goal, SYSTEM_GOAL) || id_equal(it->goal, run->goal)))
            run_freeze(run, BRAKE_STOP);
    }
    free(it);
}

/* A stop acts first if it cannot be committed at once. */
void runs_stop_first(struct daemon_context *context, struct id goal) {
    struct run_table *runs = context->runs;
    if (!runs || (!atomic_load(&runs->brake.low) && !store_is_in_trouble(runs)))
        return;
    struct stopping *it = memory_new(sizeof *it);
    *it = (struct stopping){{NULL, stop_home}, runs, goal};
    loop_post(runs, &it->task);
}

/* ---- for people ---- */

unsigned brake_wait(struct run_table *runs, struct op_wait *ret, unsigned most) {
    unsigned count = 0;
    pthread_mutex_lock(&runs->lock);
    for (int i = 0; i < BRAKE_SLOTS && count < most; i++) {
        const struct brake_slot *slot = &runs->brake.file.slots[i];
        if (slot->state != BRAKE_FROZEN)
            continue;
        ret[count] = (struct op_wait){.goal = slot->goal, .since = slot->at};
        snprintf(ret[count++].what, OP_WAIT_TEXT,
                 "your answer: its run is frozen with %llu MiB, and %llu MiB were free",
                 (unsigned long long)(slot->bytes >> 20), (unsigned long long)(slot->free >> 20));
    }
    pthread_mutex_unlock(&runs->lock);
    return count;
}

/* ---- start and stop ---- */

void brake_start(struct run_table *runs) {
    struct brake *brake = &runs->brake;
    if (!brake_file_open(&brake->file, runs->state))
        log_host(LEVEL_WARNING,
                 "the brake file in %s cannot be opened (%s): freezes are kept in memory only",
                 runs->state, strerror(errno));
    brake->free = UINT64_MAX;
    uv_timer_init(runs->loop, &brake->timer);
    brake->timer.data = runs;
    uv_timer_start(&brake->timer, look_due, LOOK_MS, LOOK_MS);
}

void brake_stop(struct run_table *runs) {
    uv_close((uv_handle_t *)&runs->brake.timer, NULL);
    brake_file_close(&runs->brake.file);
}
