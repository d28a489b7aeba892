/* SPDX-License-Identifier: Apache-2.0 */
/* Runs git jobs, including those that wait for a server, and sends salvaged work to the remote.
 *
 *   a git job ──▶ over the network: a separate pool, at most NET_PER_REMOTE jobs for one server
 *             └─▶ a path: a worker of the loop
 *
 * Salvage is first kept in our clone; one job at a time sends it from there, and repeats until the remote has it. What was sent
 * is recorded in the clone (git_send.c), so that a restarted daemon continues. */
#include "base/memory.h"
#include "model/repository.h"
#include "runs/run.h"
#include "runs/run_log.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    NET_THREADS = 8,
    NET_PER_REMOTE = 4,
    NET_WAITING = 1024,
    SEND_FIRST_MS = 5000, /* after the start: for what the previous daemon left */
    SEND_AGAIN_MS = 30000,
    SEND_AGAIN_MOST_MS = 600000
};

/* ---- jobs ---- */

static void job_home(struct loop_task *task) {
    struct git_job *job = (struct git_job *)((char *)task - offsetof(struct git_job, task));
    job->done(job->work, job->runs->stopping ? UV_ECANCELED : job->status);
}

static void job_run(struct pool_job *pooled) {
    struct git_job *job = (struct git_job *)((char *)pooled - offsetof(struct git_job, job));
    job->carry(job->work);
    loop_post(job->runs, &job->task);
}

/* Shows people the server and the path, but no part that may be a password. */
static struct str where_shown(struct str where, struct arena *arena) {
    const char *scheme = memmem(where.at, where.len, "://", 3);
    size_t from = scheme ? (size_t)(scheme + 3 - where.at) : 0;
    struct str rest = {where.at + from, where.len - from};
    const char *at = rest.len ? memchr(rest.at, '@', strcspn(arena_cstr(arena, rest), "/")) : NULL;
    if (at)
        rest = (struct str){at + 1, (size_t)(rest.at + rest.len - at - 1)};
    return rest;
}

void git_queue(struct git_job *job, uv_work_t *work, const struct git_wanted *wanted,
               uv_work_cb carry, uv_after_work_cb done) {
    struct run_table *runs = wanted->runs;
    struct arena arena = {0};
    if (!runs->net || git_source_is_path(wanted->where)) {
        uv_queue_work(runs->loop, work, carry, done);
        return;
    }
    *job = (struct git_job){.job.run = job_run,
                            .task.go = job_home,
                            .runs = runs,
                            .work = work,
                            .carry = carry,
                            .done = done};
    pool_name(
        &job->job, wanted->goal, wanted->where,
        arena_format(&arena, "%s %.*s", wanted->what, STR_ARG(where_shown(wanted->where, &arena))));
    arena_free(&arena);
    if (pool_put(runs->net, &job->job))
        return;
    job->status = UV_EAGAIN;
    loop_post(runs, &job->task);
}

/* ---- salvage to the remote ---- */

struct sending {
    uv_work_t work;
    struct git_job job;
    struct run_table *runs;
    struct arena arena;
    struct work_place place;
    struct git_answer answer;
    struct git_sent sent;
};

static void send_carry(uv_work_t *work) {
    struct sending *it = work->data;
    const struct work_place *place = &it->place;
    if (git_clone_find(&place->context, &place->repo, &it->arena).len > 0)
        it->answer = git_salvage_send(&place->context, &place->repo, &it->arena, &it->sent);
}

static void send_due(uv_timer_t *timer) {
    salvage_send(timer->data);
}

static void send_again(struct run_table *runs) {
    struct salvage_sender *sender = &runs->sender;
    uint64_t pause = SEND_AGAIN_MS;
    for (uint32_t i = 1; i < sender->failures && pause < SEND_AGAIN_MOST_MS; i++)
        pause *= 2;
    uv_timer_start(&sender->timer, send_due,
                   pause < SEND_AGAIN_MOST_MS ? pause : SEND_AGAIN_MOST_MS, 0);
}

/* What `status` shows while the sender waits for the next try. */
static void send_note(struct run_table *runs, struct str where, struct str why) {
    struct arena arena = {0};
    struct salvage_sender *sender = &runs->sender;
    pthread_mutex_lock(&runs->lock);
    if (sender->failures == 0)
        sender->since = clock_boot();
    snprintf(sender->what, sizeof sender->what, "push of salvaged work to %.*s, which failed: %.*s",
             STR_ARG(where_shown(where, &arena)), STR_ARG(str_cut_utf8(why, 48)));
    pthread_mutex_unlock(&runs->lock);
    arena_free(&arena);
}

static void send_next(struct run_table *runs);

/* A repository whose remote cannot be reached does not keep the others from being sent. */
static void send_done(uv_work_t *work, int status) {
    struct sending *it = work->data;
    struct run_table *runs = it->runs;
    struct salvage_sender *sender = &runs->sender;
    struct str why = status == UV_EAGAIN ? STR("the queue for network operations is full")
                     : it->answer.result != GIT_DONE ? it->answer.why
                                                     : it->sent.why;
    bool sent = status == 0 && it->answer.result == GIT_DONE && it->sent.left == 0;
    runs->under_way--;
    if (!sent && status != UV_ECANCELED) {
        sender->failed = true;
        send_note(runs, it->place.repo.remote, why);
        if (sender->failures == 0)
            log_host(LEVEL_WARNING,
                     "salvaged work is in the local clone, but not in the remote yet: %.*s",
                     STR_ARG(why));
    }
    arena_free(&it->arena);
    free(it);
    if (status == UV_ECANCELED)
        sender->at = sender->key_count;
    send_next(runs);
}

/* Every repository had its turn. */
static void send_end(struct run_table *runs) {
    struct salvage_sender *sender = &runs->sender;
    pthread_mutex_lock(&runs->lock); /* for readers on other threads */
    sender->under_way = false;
    sender->failures = sender->failed ? sender->failures + 1 : 0;
    pthread_mutex_unlock(&runs->lock);
    if (runs->stopping)
        return;
    if (sender->failed)
        send_again(runs);
    else if (sender->again)
        salvage_send(runs);
}

/* [repo], then [[repos]]. */
static void keys_take(struct run_table *runs) {
    const struct settings *settings = context_settings(runs->context);
    struct salvage_sender *sender = &runs->sender;
    sender->at = 0;
    sender->keys[0] = 0;
    sender->key_count = settings->lists.repo_count + 1;
    for (uint32_t i = 1; i < sender->key_count; i++)
        sender->keys[i] = repository_key(settings->lists.repos[i - 1].name);
    context_settings_drop(settings);
}

static void send_begin(struct run_table *runs, struct sending *it) {
    it->place.context.total_us = NET_MOST;
    runs->under_way++;
    git_queue(&it->job, &it->work,
              &(struct git_wanted){
                  .runs = runs, .where = it->place.repo.remote, .what = "push of salvaged work to"},
              send_carry, send_done);
}

static void send_next(struct run_table *runs) {
    struct salvage_sender *sender = &runs->sender;
    while (!runs->stopping && sender->at < sender->key_count) {
        uint64_t key = sender->keys[sender->at++];
        struct sending *it = memory_new(sizeof *it);
        *it = (struct sending){.runs = runs, .work.data = it};
        if (work_place(runs, (struct work_wanted){.repository = key}, &it->arena, &it->place) &&
            it->place.repo.remote.len > 0) {
            send_begin(runs, it);
            return;
        }
        arena_free(&it->arena);
        free(it);
    }
    send_end(runs);
}

void salvage_send(struct run_table *runs) {
    struct salvage_sender *sender = &runs->sender;
    sender->again = sender->under_way;
    if (sender->under_way || runs->stopping)
        return;
    uv_timer_stop(&sender->timer);
    pthread_mutex_lock(&runs->lock);
    sender->under_way = true;
    pthread_mutex_unlock(&runs->lock);
    sender->failed = false;
    keys_take(runs);
    send_next(runs);
}

/* ---- what waits ---- */

_Static_assert(sizeof((struct salvage_sender *)0)->what <= OP_WAIT_TEXT &&
                   (int)POOL_WHAT <= (int)OP_WAIT_TEXT,
               "what waits fits into what is shown of it");

unsigned runs_wait(struct daemon_context *context, struct op_wait *ret, unsigned most) {
    struct run_table *runs = context->runs;
    struct pool_view views[OP_WAITS];
    unsigned count =
        runs && runs->net ? pool_look(runs->net, views, most < OP_WAITS ? most : OP_WAITS) : 0;
    int64_t since_boot = clock_wall() - clock_boot();
    for (unsigned i = 0; i < count; i++) {
        ret[i] = (struct op_wait){.goal = views[i].goal,
                                  .since = views[i].since + since_boot,
                                  .running = views[i].running};
        memcpy(ret[i].what, views[i].what, sizeof views[i].what);
    }
    if (runs)
        count += brake_wait(runs, ret + count, most - count);
    if (!runs || count >= most)
        return count;
    pthread_mutex_lock(&runs->lock);
    if (runs->sender.failures > 0 && !runs->sender.under_way) {
        ret[count] = (struct op_wait){.since = runs->sender.since + since_boot};
        memcpy(ret[count].what, runs->sender.what, sizeof runs->sender.what);
        count++;
    }
    pthread_mutex_unlock(&runs->lock);
    return count;
}

/* ---- start and stop ---- */

bool net_start(struct run_table *runs) {
    runs->net = pool_start(NET_THREADS, NET_PER_REMOTE, NET_WAITING);
    if (!runs->net)
        return false;
    uv_timer_init(runs->loop, &runs->sender.timer);
    runs->sender.timer.data = runs;
    uv_timer_start(&runs->sender.timer, send_due, SEND_FIRST_MS, 0);
    return true;
}

/* Ends commands that wait for a server; the next daemon repeats them. */
void net_stop(struct run_table *runs) {
    uv_close((uv_handle_t *)&runs->sender.timer, NULL);
    pool_stop(runs->net);
}
