/* SPDX-License-Identifier: Apache-2.0 */
/* Offers what a run has to report to the ledger, and keeps what is observed of the run. */
#include "runs/run.h"
#include "runs/run_log.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

struct kept { /* a signal on its way; posted back to the loop when it is durable */
    struct loop_answer answer;
    struct id run;
};

static void kept_home(struct loop_task *task) {
    struct kept *kept = (struct kept *)(void *)task;
    struct run_table *runs = kept->answer.runs;
    struct input *input = kept->answer.input;
    struct run *run = map_get(&runs->all, kept->run);
    bool lost = ERRORS[input->error].class == CLASS_TRANSIENT || input->error == ERROR_SAFE_MODE;
    bool again = lost && input->error != ERROR_SAFE_MODE && !runs->stopping;
    input->error = again ? ERROR_NONE : input->error;
    if (again && queue_put(&runs->executor->ledger_thread->queue, input))
        return;
    if (run &&
        lost) { /* the hold still has that output: a state that includes it must not be saved */
        run->report_lost = true;
        run->save_pending = false;
    } else if (run) {
        run->kept++;
        run_save(run);
        run_seen_keep(run);
    }
    input_free(input);
    free(kept);
}

struct id run_write_name(const struct run *run, struct str name) {
    return id_derive((struct str){(const char *)run->id.bytes, sizeof run->id.bytes}, name);
}

static void signal_fill(const struct run *run, struct signal *signal, uint64_t offset,
                        struct str what) {
    char name[96];
    snprintf(name, sizeof name, "%.*s %llu", STR_ARG(str_cut(what, 64)),
             (unsigned long long)offset);
    signal->source = run_write_name(run, str_of(name));
    signal->once.keyed = 1;
    signal->goal = signal->admission ? admission_id(signal->admission) : run->goal;
    signal->at = clock_wall();
    signal->sender.actor = STR("overseer");
    signal->sender.by = WHO_OVERSEER;
    signal->about.assignment = run->assignment + 1;
    signal->about.run = run->number;
}

/* A signal that cannot be kept is read again after a restart: until then the state is not saved any more. */
void run_offer(struct run *run, struct signal *signal, uint64_t offset, struct str what) {
    struct kept *kept = calloc(1, sizeof *kept);
    signal_fill(run, signal, offset, what);
    struct input *input = kept ? input_make(signal, kept) : NULL;
    if (input) {
        *kept = (struct kept){{{NULL, kept_home}, run->runs, input}, run->id};
        input->done = loop_answer_post;
        input->must_fit = true;
        run->offered++;
        if (queue_put(&run->runs->executor->ledger_thread->queue, input))
            return;
        run->offered--;
    }
    input_free(input);
    free(kept);
    run->report_lost = true;
    log_run(LEVEL_ERROR, run,
            "out of memory for output of agent %s; it is read again after a restart", run->agent);
}

/* The signal of the run's end carries the reason. An earlier observation would record the end without a reason. */
static enum tristate process_seen(const struct run *run) {
    bool complete = run->ended && (run->kept == run->offered || run->report_lost);
    if (run->exited)
        return complete ? TRISTATE_NO : TRISTATE_UNKNOWN;
    return run->held ? TRISTATE_YES : TRISTATE_UNKNOWN;
}

/* Uses the steady clock: what is kept is not affected by steps of the wall clock. */
static void seen_measured(const struct run *run, struct observation *ret) {
    *ret = (struct observation){0};
    if (run->begun && !run->broken)
        run->driver->see(run->state, ret);
    ret->context /= 100; /* to percent */
    ret->assignment = run->assignment;
    ret->at = clock_steady();
    ret->process = process_seen(run);
    if (run->exited || run->broken)
        ret->turn = run->exited ? ret->process : TRISTATE_NO;
}

void run_seen_now(const struct run *run, struct observation *ret) {
    seen_measured(run, ret);
    observation_to_wall(ret);
}

void run_seen_keep(struct run *run) {
    struct observation seen;
    seen_measured(run, &seen);
    pthread_mutex_lock(&run->runs->lock);
    run->seen = seen;
    pthread_mutex_unlock(&run->runs->lock);
}
