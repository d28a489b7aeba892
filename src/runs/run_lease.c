/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which runs may continue after this host was silent. PROTOCOL P10.
 *
 * In a shared store a hold freezes its agent unless the daemon renews it, and the daemon renews it only while this host
 * has its lease and is known to own the goal. After each join this is looked up again, run by run: a run whose goal
 * another host owns by now is stranded. It is ended, its work is kept here, and the owner is told both. */
#include "base/memory.h"
#include "base/planted.h"
#include "runs/run.h"
#include "runs/run_log.h"
#include "sys/clock.h"
#include "sys/crash_guard.h"

#include <stdio.h>
#include <stdlib.h>

enum { RENEW_LEAST_MS = 50, RENEW_MOST_MS = 2500, SETTLE_AGAIN_SECONDS = 2 };

static struct ledger *ledger_of(const struct run_table *runs) {
    return runs->executor->ledger_thread->ledger;
}

static struct ledger_lease lease_of(const struct run_table *runs) {
    return ledger_of(runs) ? ledger_lease(ledger_of(runs)) : (struct ledger_lease){0};
}

/* ---- the start of a run ---- */

void run_lease_take(struct run *run, const struct effect *effect) {
    const struct settings *settings = context_settings(run->runs->context);
    run->settled = lease_of(run->runs).joins;
    run->orphan_after =
        effect->orphan_after > 0 ? effect->orphan_after : settings->fleet.orphan_after;
    context_settings_drop(settings);
}

/* How long its hold may let it run without a renewal. False: the lease under which it was claimed has ended. */
bool run_lease_until(const struct run *run, uint64_t *ret_boot_ms) {
    struct ledger_lease lease = lease_of(run->runs);
    *ret_boot_ms = 0;
    if (!run->runs->shared)
        return true;
    if (lease.joins == 0 || lease.joins != run->settled)
        return false;
    *ret_boot_ms = (uint64_t)(time_after(lease.until, run->orphan_after) / 1000);
    return true;
}

/* ---- ownership ---- */

enum whose { WHOSE_UNKNOWN, WHOSE_OURS, WHOSE_OTHERS, WHOSE_ENDED };

struct settling {
    struct loop_task task;
    struct lookup lookup;
    struct run_table *runs;
    struct id run, goal;
    uint32_t assignment, number;
    uint64_t joins;
    enum whose whose;
};

static bool is_at_hand(const struct settling *it, const struct goal_loaded *loaded) {
    const struct assignment *assignment =
        assignments_find(&loaded->live.assignments, it->assignment);
    return assignment && assignment->run == it->number && !assignment->ended;
}

/* On the lookups' thread. */
static void looked_up(struct lookup *lookup, const struct store_answer *answer) {
    struct settling *it = (struct settling *)((char *)lookup - offsetof(struct settling, lookup));
    const struct goal_loaded *loaded = answer->loaded;
    uint32_t self = ledger_host(ledger_of(it->runs));
    if (answer->outcome != STORE_DONE || !loaded)
        it->whose = WHOSE_UNKNOWN;
    else if (!loaded->exists || loaded->goal.owner != self)
        it->whose = WHOSE_OTHERS;
    else if (loaded->whole)
        it->whose = is_at_hand(it, loaded) ? WHOSE_OURS : WHOSE_ENDED;
    loop_post(it->runs, &it->task);
}

/* No effect of a goal that we own requests this stop, so its outcome is not reported. */
static void run_strand(struct run *run) {
    struct act *act = act_make(run->goal, run->number - 1, EFFECT_STOP, (struct str){0});
    if (!act)
        return; /* it stays frozen, and the next lookup tries again */
    act->effect.kind = EFFECT_STOP;
    act->effect.assignment = run->assignment;
    act->effect.run = run->number;
    act->stranded = true;
    log_run(LEVEL_WARNING, run,
            "the run of agent %s for %s is abandoned: another host has taken over its goal. "
            "Its work is kept in %s",
            run->agent, run->node, run->cwd[0] ? run->cwd : run->dir);
    run_stop(run, act);
}

static void settled(struct loop_task *task) {
    struct settling *it = (struct settling *)(void *)task;
    struct run *run = map_get(&it->runs->all, it->run);
    it->runs->under_way--;
    if (run && !it->runs->stopping) {
        run->settling = false;
        run->settle_at = clock_boot() + SECONDS(SETTLE_AGAIN_SECONDS);
        if (it->whose == WHOSE_OURS || (it->whose == WHOSE_OTHERS && planted(THAW_ON_RETURN)))
            run->settled = it->joins;
        else if (it->whose == WHOSE_OTHERS && it->joins == lease_of(it->runs).joins && !run->stop)
            run_strand(run);
    }
    free(it);
}

static void settle_ask(struct run *run, uint64_t joins) {
    struct settling *it = memory_new(sizeof *it);
    *it = (struct settling){.task.go = settled,
                            .lookup.done = looked_up,
                            .runs = run->runs,
                            .run = run->id,
                            .goal = run->goal,
                            .assignment = run->assignment,
                            .number = run->number,
                            .joins = joins};
    it->lookup.request =
        (struct store_request){.verb = STORE_SHOW, .ids = &it->goal, .id_count = 1, .limit = 1};
    if (!lookups_ask(run->runs->context->run_lookups, &it->lookup)) {
        free(it);
        return;
    }
    run->settling = true;
    run->runs->under_way++;
}

/* ---- renewal ---- */

static void run_renew(struct run *run, const struct ledger_lease *lease) {
    if (run->settled == lease->joins) {
        if (run->held && run->orphan_after > 0)
            held_renew(run->held, (uint64_t)(time_after(lease->until, run->orphan_after) / 1000));
        return;
    }
    if (!run->settling && !run->stop && !run->starting && !run->readying &&
        clock_boot() >= run->settle_at)
        settle_ask(run, lease->joins);
}

static void renew_due(uv_timer_t *timer) {
    struct run_table *runs = timer->data;
    struct ledger_lease lease = lease_of(runs);
    if (lease.joins == 0 || clock_boot() >= lease.until)
        return; /* nothing is renewed without a lease */
    struct id *ids = memory_new(runs->all.count * sizeof *ids); /* runs may end during the loop */
    uint32_t count = 0;
    for (size_t i = 0; i < runs->all.cap; i++)
        if (runs->all.slots[i].value)
            ids[count++] = ((struct run *)runs->all.slots[i].value)->id;
    for (uint32_t i = 0; i < count; i++) {
        struct run *run = map_get(&runs->all, ids[i]);
        if (run)
            run_renew(run, &lease);
    }
    free(ids);
}

void runs_lease_start(struct run_table *runs) {
    uv_timer_init(runs->loop, &runs->renew);
    runs->renew.data = runs;
    runs->shared = ledger_of(runs) && ledger_lease_span(ledger_of(runs)) > 0;
    if (!runs->shared)
        return; /* the only host of its store cannot lose a goal */
    int64_t every = ledger_lease_span(ledger_of(runs)) / 8000;
    every = every < RENEW_LEAST_MS ? RENEW_LEAST_MS : every > RENEW_MOST_MS ? RENEW_MOST_MS : every;
    uv_timer_start(&runs->renew, renew_due, (uint64_t)every, (uint64_t)every);
}
