/* SPDX-License-Identifier: Apache-2.0 */
/* Reports what agent programs say about their accounts, and freezes the runs of an account at the first sign of paid
 * extra usage. docs/decisions/0019.
 *
 *   program ──▶ windows ──▶ account.seen ──▶ admission ──▶ question
 *      │ paid usage                              │
 *      └──▶ all runs of the account are frozen ◀─┴── its row: waits, allowed, stopped, over
 *
 * Freezing does not wait for the ledger. Only the row in the store lets runs go on: it is read while runs are frozen.
 * Everything here is on the loop's thread, except what a lookup does with its answer. */
#include "base/memory.h"
#include "engine/lookup.h"
#include "runs/run.h"
#include "runs/run_log.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum { LOOK_MS = 1000, UNTIL_UNKNOWN_HOURS = 5 };

struct quota_account { /* an account whose paid usage something is done about */
    char name[LIMIT_AGENT + 1];
    enum overage_state state; /* as last read; at first OVERAGE_ASKED */
    int64_t until;            /* wall clock */
    bool stored;              /* the row was seen in the store, or was there before this daemon */
    bool unreported;          /* this host had not joined its store yet */
    struct quota report;      /* its first sign */
};

struct quota_accounts {
    uv_timer_t timer;
    bool asking;
    uint32_t count;
    struct quota_account at[LIMIT_ACCOUNTS];
};

static uint32_t this_host(const struct run_table *runs) {
    char trouble[LIMIT_WHY];
    return ledger_thread_view(runs->executor->ledger_thread, trouble).host;
}

/* ---- accounts ---- */

static bool account_name(const struct run *run, char name[LIMIT_AGENT + 1]) {
    const struct settings *settings = context_settings(run->runs->context);
    const struct agent_setting *agent = run_agent(settings, str_of(run->agent));
    if (agent)
        name_put(name, LIMIT_AGENT + 1, agent->account.len ? agent->account : agent->id);
    context_settings_drop(settings);
    return agent != NULL;
}

static bool extra_is_allowed(struct run_table *runs, const char *name) {
    const struct settings *settings = context_settings(runs->context);
    bool allowed = false;
    for (uint32_t i = 0; i < settings->lists.account_count; i++)
        allowed |= settings->lists.accounts[i].extra_usage &&
                   str_equal(settings->lists.accounts[i].name, str_of(name));
    context_settings_drop(settings);
    return allowed;
}

static struct quota_account *held_find(const struct run_table *runs, const char *name) {
    for (uint32_t i = 0; runs->quota && i < runs->quota->count; i++)
        if (strcmp(runs->quota->at[i].name, name) == 0)
            return &runs->quota->at[i];
    return NULL;
}

static bool is_held(const struct quota_account *account) {
    return account && account->state != OVERAGE_NONE && account->state != OVERAGE_ALLOWED &&
           account->until > clock_wall();
}

static bool uses(const struct run *run, const char *account) {
    char name[LIMIT_AGENT + 1];
    return !run->ended && !run->stop && account_name(run, name) && strcmp(name, account) == 0;
}

/* ---- freezing ---- */

static void braking_tell(struct run *run, enum braking braking,
                         const struct quota_account *account) {
    static const char *const NAMES[BRAKINGS] = {"", "overage", "overage over", "overage ends"};
    struct signal signal = {.kind = SIGNAL_RUN_BRAKED,
                            .effect = run->number,
                            .to = braking,
                            .until = account->until,
                            .reason = STR("its account has begun to use paid extra usage")};
    run_offer(run, &signal, (uint64_t)(account->until / 1000000), str_of(NAMES[braking]));
}

static void run_freeze(struct run *run, const struct quota_account *account) {
    bool asked = run->held && held_freeze(run->held, FREEZE_OVERAGE, 0);
    if (run->driver && run->driver->watches)
        return;
    if (!asked)
        log_run(LEVEL_WARNING, run, "agent %s cannot be frozen until its hold is connected again",
                run->agent);
    if (run->overage)
        return;
    run->overage = true;
    log_run(LEVEL_WARNING, run, "agent %s is frozen: account %s has begun to use paid extra usage",
            run->agent, account->name);
    braking_tell(run, BRAKING_OVERAGE, account);
}

static void run_thaw_overage(struct run *run, const struct quota_account *account) {
    bool thawed = run->held && held_thaw(run->held, FREEZE_OVERAGE) &&
                  (!run->overage_paused || held_thaw(run->held, FREEZE_PAUSE));
    run->overage = run->overage_paused = false;
    if (!thawed)
        log_run(LEVEL_WARNING, run, "agent %s cannot be thawed until its hold is connected again",
                run->agent);
    braking_tell(run, BRAKING_OVERAGE_OVER, account);
}

static void runs_follow(struct run_table *runs, const struct quota_account *account) {
    for (size_t i = 0; i < runs->all.cap; i++) {
        struct run *run = runs->all.slots[i].value;
        if (!run || !uses(run, account->name))
            continue;
        if (is_held(account) && !run->overage)
            run_freeze(run, account);
        if (!is_held(account) && run->overage)
            run_thaw_overage(run, account);
        if (account->state == OVERAGE_STOPPED && run->overage)
            braking_tell(run, BRAKING_OVERAGE_ENDS, account);
    }
}

static bool turn_is_open(const struct run *run) {
    struct observation seen = {0};
    if (run->begun && !run->broken && !run->exited)
        run->driver->see(run->state, &seen);
    return seen.turn == TRISTATE_YES;
}

static uint32_t in_flight(struct run_table *runs, const char *account) {
    uint32_t count = 0;
    for (size_t i = 0; i < runs->all.cap; i++) {
        const struct run *run = runs->all.slots[i].value;
        count += run && uses(run, account) && turn_is_open(run);
    }
    return count;
}

static void looks_due(uv_timer_t *timer);

static struct quota_account *held_add(struct run_table *runs, const char *name, int64_t until,
                                      bool stored) {
    struct quota_accounts *held = runs->quota;
    struct quota_account *account = held_find(runs, name);
    if (!held || (!account && held->count == LIMIT_ACCOUNTS))
        return NULL;
    if (!account)
        account = &held->at[held->count++];
    *account = (struct quota_account){
        .state = OVERAGE_ASKED,
        .until = until ? until : time_after(clock_wall(), SECONDS(3600) * UNTIL_UNKNOWN_HOURS),
        .stored = stored};
    name_put(account->name, sizeof account->name, str_of(name));
    if (!uv_is_active((uv_handle_t *)&held->timer))
        uv_timer_start(&held->timer, looks_due, LOOK_MS, LOOK_MS);
    return account;
}

/* A report that is read again after a restart may be about usage that is over. */
static void overage_heard(struct run_table *runs, const char *name, struct quota *quota) {
    const struct quota_account *known = held_find(runs, name);
    quota->in_flight = in_flight(runs, name);
    if ((quota->overage_until && quota->overage_until <= clock_wall()) ||
        extra_is_allowed(runs, name) || (known && known->stored && known->until > clock_wall()))
        return;
    struct quota_account *account = held_add(runs, name, quota->overage_until, false);
    if (!account)
        return;
    account->report = *quota;
    account->unreported = this_host(runs) == 0;
    runs_follow(runs, account);
}

static void quota_offer(struct run *run, const struct quota *quota, uint32_t host, uint64_t offset,
                        struct str what) {
    struct arena arena = {0};
    struct signal signal = {.kind = SIGNAL_ACCOUNT_SEEN,
                            .admission = host,
                            .body = shape_encode(&QUOTA, quota, &arena)};
    run_offer(run, &signal, offset, what);
    arena_free(&arena);
}

void run_quota_heard(struct run *run, const struct drive_event *event) {
    struct quota quota = *event->quota;
    if (!account_name(run, quota.account))
        return;
    if (quota.overage == OVERAGE_YES)
        overage_heard(run->runs, quota.account, &quota);
    uint32_t host = this_host(run->runs);
    if (host != 0)
        quota_offer(run, &quota, host, event->offset, STR("quota"));
}

/* By a run of the account, once this host has joined its store. */
static void overage_report(struct run_table *runs, struct quota_account *account, uint32_t host) {
    for (size_t i = 0; i < runs->all.cap && account->unreported; i++) {
        struct run *run = runs->all.slots[i].value;
        if (!run || !run->overage || !uses(run, account->name))
            continue;
        quota_offer(run, &account->report, host, (uint64_t)(account->until / 1000000),
                    STR("quota again"));
        account->unreported = false;
    }
}

/* ---- connections to holds ---- */

void run_quota_renew(struct run *run) {
    char name[LIMIT_AGENT + 1];
    const struct quota_account *account =
        account_name(run, name) ? held_find(run->runs, name) : NULL;
    if (is_held(account) && !run->exited)
        run_freeze(run, account);
}

/* The daemon before this one has frozen it: the row says what follows. */
void run_quota_status(struct run *run, const struct hold_status *status) {
    char name[LIMIT_AGENT + 1];
    if (!(status_freeze_reasons(status) & FREEZE_OVERAGE) || run->overage || run->exited ||
        !account_name(run, name))
        return;
    run->overage = true;
    if (!held_find(run->runs, name))
        held_add(run->runs, name, 0, true);
}

void run_quota_refused(struct run *run) {
    if (!run->overage || run->overage_paused || !run->held)
        return;
    run->overage_paused = held_freeze(run->held, FREEZE_PAUSE, 0);
}

/* ---- the rows ---- */

struct accounts_ask {
    struct loop_task task;
    struct lookup lookup;
    struct run_table *runs;
    struct id admission;
    struct account *rows; /* NULL: they could not be read */
    uint32_t count;
};

static const struct account *row_of(const struct accounts_ask *it, const char *name) {
    for (uint32_t i = 0; i < it->count; i++)
        if (!it->rows[i].window[0] && strcmp(it->rows[i].name, name) == 0 &&
            it->rows[i].overage != OVERAGE_NONE)
            return &it->rows[i];
    return NULL;
}

/* If the store has no row any more, paid usage of a stored account is over. An account that is not stored yet keeps its state. */
static void account_follow(struct quota_account *account, const struct account *row) {
    if (row) {
        account->state = row->overage;
        account->until = row->overage_until;
        account->stored = true;
    } else if (account->stored)
        account->state = OVERAGE_NONE;
}

static void rows_home(struct loop_task *task) {
    struct accounts_ask *it = (struct accounts_ask *)(void *)task;
    struct run_table *runs = it->runs;
    struct quota_accounts *held = runs->quota;
    runs->under_way--;
    held->asking = false;
    for (uint32_t i = held->count; i-- > 0 && it->rows && !runs->stopping;) {
        account_follow(&held->at[i], row_of(it, held->at[i].name));
        runs_follow(runs, &held->at[i]);
        if (held->at[i].state == OVERAGE_NONE || held->at[i].until <= clock_wall())
            held->at[i] = held->at[--held->count];
    }
    free(it->rows);
    free(it);
}

/* On the lookups' thread. */
static void rows_read(struct lookup *lookup, const struct store_answer *answer) {
    struct accounts_ask *it =
        (struct accounts_ask *)((char *)lookup - offsetof(struct accounts_ask, lookup));
    if (answer->outcome == STORE_DONE) {
        const struct goal_loaded *loaded = &answer->loaded[0];
        it->count = loaded->exists ? loaded->live.accounts.count : 0;
        it->rows = memory_new((it->count + 1) * sizeof *it->rows);
        if (it->count > 0)
            memcpy(it->rows, loaded->live.accounts.at, it->count * sizeof *it->rows);
    }
    loop_post(it->runs, &it->task);
}

static void looks_due(uv_timer_t *timer) {
    struct run_table *runs = timer->data;
    struct quota_accounts *held = runs->quota;
    uint32_t host = this_host(runs);
    if (held->count == 0)
        uv_timer_stop(timer);
    if (held->count == 0 || held->asking || host == 0)
        return;
    for (uint32_t i = 0; i < held->count; i++)
        overage_report(runs, &held->at[i], host);
    struct accounts_ask *it = memory_new(sizeof *it);
    *it = (struct accounts_ask){.task.go = rows_home,
                                .lookup.done = rows_read,
                                .runs = runs,
                                .admission = admission_id(host)};
    it->lookup.request = (struct store_request){
        .verb = STORE_SHOW, .ids = &it->admission, .id_count = 1, .limit = 1};
    held->asking = lookups_ask(runs->context->lookups, &it->lookup);
    if (held->asking)
        runs->under_way++;
    else
        free(it);
}

/* ---- start and stop ---- */

void quota_start(struct run_table *runs) {
    struct quota_accounts *held = memory_new(sizeof *held);
    *held = (struct quota_accounts){.count = 0};
    runs->quota = held;
    uv_timer_init(runs->loop, &held->timer);
    held->timer.data = runs;
}

void quota_stop(struct run_table *runs) {
    uv_close((uv_handle_t *)&runs->quota->timer, NULL);
}

void quota_free(struct run_table *runs) {
    free(runs->quota);
}
