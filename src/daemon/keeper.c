/* SPDX-License-Identifier: Apache-2.0 */
/* Who turns the ledger? */
#include "daemon/keeper.h"

#include "base/seam.h"
#include "daemon/answer_cache.h"
#include "daemon/clock.h"
#include "daemon/guard.h"
#include "daemon/log.h"

#include <stdio.h>

enum { STOP_WITHIN_SECONDS = 5 };

struct performing {
    struct keeper *keeper;
    const struct store_request *request;
    struct store_answer *answer;
    struct arena *arena;
};

static void perform_call(void *with) {
    struct performing *p = with;
    if (p->request->verb == STORE_COMMIT)
        (void)seam("commit");
    store_perform(p->keeper->store, p->request, p->answer, p->arena);
}

static void records_count(struct keeper *keeper, const struct store_request *request) {
    for (uint32_t i = 0; i < request->commit_count; i++)
        for (uint32_t j = 0; request->commits[i].ok && j < request->commits[i].record_count; j++)
            atomic_fetch_add_explicit(
                &keeper->records[request->commits[i].records[j].type % RECORD_TYPES], 1,
                memory_order_relaxed);
}

/* Whatever came of it, and before anybody is told: a commit may stand although its answer was lost. */
static void cache_forget(const struct store_request *request) {
    switch (request->verb) {
    case STORE_COMMIT:
        for (uint32_t i = 0; i < request->commit_count; i++)
            answer_cache_changed(request->commits[i].goal.id);
        break;
    case STORE_BEAT:
    case STORE_LOAD:
    case STORE_OWNED:
    case STORE_POLL: break;
    default: answer_cache_all_changed();
    }
}

/* Without memory nobody knows how far the request came: its outcome is unknown. */
static void perform(struct keeper *keeper, const struct store_request *request,
                    struct store_answer *answer, struct arena *arena) {
    struct performing performing = {keeper, request, answer, arena};
    struct guard_report report;
    arena_reset(arena);
    enum guard_result result = guard_run(perform_call, &performing, &report);
    if (result == GUARD_BROKEN)
        must_failed(__FILE__, __LINE__, report.why);
    if (result == GUARD_MEMORY)
        *answer = (struct store_answer){.outcome = STORE_UNKNOWN, .error = STR("out of memory")};
    cache_forget(request);
    if (answer->outcome == STORE_FAILED || answer->outcome == STORE_UNKNOWN)
        keeper->store_failed = true;
    if (answer->damaged)
        keeper_enter_safe(keeper, answer->error);
    if (request->verb == STORE_COMMIT && answer->outcome == STORE_DONE && answer->held)
        records_count(keeper, request);
    bool commits = request->verb == STORE_COMMIT || request->verb == STORE_ORDER;
    if (commits && answer->outcome == STORE_DONE && keeper->ports.wrote)
        keeper->ports.wrote(keeper->ports.with);
}

void keeper_enter_safe(struct keeper *keeper, struct str why) {
    ledger_hold_acts(keeper->ledger, true);
    safe_enter(&keeper->safe, "The store is damaged (%.*s). Stop the daemon and look at it.",
               STR_ARG(why));
}

static void log_changes(const struct ledger_view *before, const struct ledger_view *now,
                        const char *trouble) {
    if (!before->joined && now->joined)
        log_info("joined the store under epoch %llu", (unsigned long long)now->epoch);
    if (before->depositions_told != now->depositions_told)
        log_warning("this host lost its row in the store: %.*s; joining again",
                    STR_ARG(now->deposition));
    if (before->takeovers != now->takeovers)
        log_warning("a neighbour stopped beating; its goals are being taken over");
    if (before->quarantined != now->quarantined)
        log_error(
            "a goal was set aside: a decision about it broke a promise, or the database refused it");
    if (before->dropped != now->dropped)
        log_error("the database refused a goal and its quarantine: %s", trouble);
    if (before->trouble.len == 0 && now->trouble.len > 0)
        log_warning("the store is in trouble: %s", trouble);
    if (before->trouble.len > 0 && now->trouble.len == 0)
        log_info("the store answers again");
}

/* P13: what is missing, and what was acted on although the store knows nothing of it any more. */
static void back_log(struct keeper *keeper, const struct ledger_view *now) {
    enum { SHOWN = 64 };
    static struct act_row rows[SHOWN];
    uint32_t count = act_log_behind(keeper->acts, now->back_from, rows, SHOWN);
    log_about(
        LEVEL_ERROR, &(struct log_about){.incident = true},
        "the store has gone back to an earlier time: batches %llu to %llu of this host are "
        "missing, with the records of %u effects that it has acted on. A new era begins: what "
        "was ready or running is unconfirmed, and nothing is done twice. Look at what was "
        "reported since then",
        (unsigned long long)now->back_from + 1, (unsigned long long)now->back_to, count);
    for (uint32_t i = 0; i < count && i < SHOWN; i++)
        log_about(LEVEL_WARNING, &(struct log_about){.goal = rows[i].goal, .effect = rows[i].n + 1},
                  "was acted on (%s), and the store has lost the record of it",
                  EFFECTS[rows[i].kind].name);
}

static void publish(struct keeper *keeper) {
    struct ledger_view now = ledger_view(keeper->ledger), before = keeper->view;
    pthread_mutex_lock(&keeper->view_lock);
    snprintf(keeper->trouble, sizeof keeper->trouble, "%.*s", STR_ARG(now.trouble));
    keeper->view = now;
    keeper->view.trouble.at = keeper->trouble;
    keeper->view.deposition = (struct str){0};
    pthread_mutex_unlock(&keeper->view_lock);
    log_changes(&before, &now, keeper->trouble);
    if (before.backs != now.backs && keeper->acts)
        back_log(keeper, &now);
}

/* P13, P14: each batch is noted before anything of it is acted on. Beats are noted now and then. */
static void acts_note(struct keeper *keeper) {
    struct act_log *log = keeper->acts;
    if (!log)
        return;
    int64_t now = clock_boot();
    if (!act_log_is_due(log) && now - keeper->noted_at < SECONDS(1))
        return;
    keeper->noted_at = now;
    bool good = act_log_write(log);
    if (!good && !keeper->note_failed)
        log_error("what this host acts on cannot be noted in its state folder: a store that goes "
                  "back would not be noticed after a restart");
    keeper->note_failed = !good;
}

static void let_go(struct keeper *keeper) {
    acts_note(keeper);
    for (struct act *act; (act = ledger_take_act(keeper->ledger));)
        keeper->ports.act(keeper->ports.with, act);
    for (struct input *input; (input = ledger_take_answered(keeper->ledger));)
        keeper->ports.answer(keeper->ports.with, input);
}

static void refuse(struct keeper *keeper, struct input *input, enum error error) {
    input->error = error;
    if (input->waiter)
        keeper->ports.answer(keeper->ports.with, input);
    else
        input_free(input);
}

/* ---- ticks ---- */

/* API-04, OBSERVE-01. A tick is an input of no kind: it is for the ledger's loop, not for a goal. */
static bool tick_take(struct keeper *keeper, struct input *input) {
    if (input->signal.kind != SIGNAL_NONE)
        return false;
    if (!keeper->ticks.first) {
        keeper->tick_commits = ledger_view(keeper->ledger).commits;
        log_info("tick begins%s%.*s", input->signal.reason.len ? ": " : "",
                 STR_ARG(input->signal.reason));
    }
    ledger_look(keeper->ledger);
    if (input->waiter)
        input_push(&keeper->ticks, input);
    else
        input_free(input);
    return true;
}

/* It ends when everything that it found is committed; under load, when two batches have gone by. */
static void ticks_end(struct keeper *keeper, bool at_rest) {
    struct ledger_view view = ledger_view(keeper->ledger);
    uint64_t commits = view.commits - keeper->tick_commits;
    bool away = at_rest && view.trouble.len > 0;
    if (!keeper->ticks.first ||
        !(away || (ledger_has_looked(keeper->ledger) && (at_rest || commits > 1))))
        return;
    log_info("tick ends: %s, %llu commits", away ? "the store is away" : "done",
             (unsigned long long)commits);
    for (struct input *input; (input = input_pop(&keeper->ticks));) {
        input->error = away ? ERROR_STORE_AWAY : ERROR_NONE;
        input->applied = commits > 0;
        keeper->ports.answer(keeper->ports.with, input);
    }
}

void keeper_wake(struct keeper *keeper) {
    struct input *input = input_make(&(struct signal){.kind = SIGNAL_NONE}, NULL);
    if (input && !queue_put(&keeper->queue, input))
        input_free(input);
}

/* Offer what arrived. Past its bound the ledger takes nothing: whoever can ask again is told that it is busy. Outcomes, and
 * what agents say, stay here until there is room. */
static void offer_all(struct keeper *keeper, struct input_list *arrived) {
    struct input_list kept = {0};
    for (struct input *input; (input = input_pop(arrived));)
        if (tick_take(keeper, input) || ledger_offer(keeper->ledger, input))
            continue;
        else if (input->waiter && !input->owed)
            refuse(keeper, input, ERROR_BUSY);
        else
            input_push(&kept, input);
    *arrived = kept;
}

static struct instant instant_now(struct keeper *keeper) {
    struct clock_reading now = clock_read();
    return (struct instant){now.wall, now.boot, atomic_load(keeper->pulse), now.stepped};
}

static bool may_end(struct keeper *keeper, int64_t stop_at) {
    struct ledger_view view = ledger_view(keeper->ledger);
    return clock_boot() >= stop_at || (view.waiting == 0 && !view.in_doubt);
}

/* STORE-10: whoever waits is told so, and so is everybody who comes. Outcomes are not kept: what they belong to
 * will stand as unconfirmed. */
static void safe_refuse(struct keeper *keeper, struct input *input) {
    snprintf(input->why, sizeof input->why, "%.*s", (int)sizeof input->why - 1, keeper->safe.why);
    refuse(keeper, input, ERROR_SAFE_MODE);
}

static void safe_run(struct keeper *keeper, struct input_list *arrived) {
    bool stopping = false;
    if (keeper->ledger) {
        ledger_give_up(keeper->ledger);
        for (struct input *input; (input = ledger_take_answered(keeper->ledger));)
            if (input->error == ERROR_STOPPING)
                safe_refuse(keeper, input);
            else
                keeper->ports.answer(keeper->ports.with, input);
    }
    while (!stopping) {
        for (struct input *input;
             (input = input_pop(arrived)) || (input = input_pop(&keeper->ticks));)
            safe_refuse(keeper, input);
        *arrived = queue_take_all(&keeper->queue, INT64_MAX, &stopping);
    }
    for (struct input *input; (input = input_pop(arrived));)
        safe_refuse(keeper, input);
}

static void stop_run(struct keeper *keeper, struct input_list *arrived) {
    for (struct input *input; (input = input_pop(arrived)) || (input = input_pop(&keeper->ticks));)
        refuse(keeper, input, ERROR_STOPPING);
    ledger_give_up(keeper->ledger);
    let_go(keeper);
}

static void *keeper_run(void *with) {
    struct keeper *keeper = with;
    struct arena arena = {0};
    struct store_answer answer;
    struct input_list arrived = {0};
    bool answered = false, stopping = false;
    int64_t stop_at = INT64_MAX;
    while (!safe_is_on(&keeper->safe) && (!stopping || answered || !may_end(keeper, stop_at))) {
        struct instant now = instant_now(keeper);
        atomic_fetch_add(&keeper->cycles, 1);
        atomic_store(&keeper->turned_at, now.boot);
        const struct store_request *request =
            ledger_turn(keeper->ledger, answered ? &answer : NULL, now);
        let_go(keeper);
        publish(keeper);
        ticks_end(keeper, !request);
        answered = request != NULL;
        if (request)
            perform(keeper, request, &answer, &arena);
        bool away = ledger_view(keeper->ledger).trouble.len > 0; /* then no room will be made */
        bool again = answered || (arrived.first && !away);
        int64_t until = again ? 0 : ledger_wakes_at(keeper->ledger, now);
        struct input_list more = queue_take_all(&keeper->queue, until, &stopping);
        for (struct input *input; (input = input_pop(&more));)
            input_push(&arrived, input);
        offer_all(keeper, &arrived);
        if (stopping && stop_at == INT64_MAX) {
            ledger_hold_acts(keeper->ledger, true);
            stop_at = clock_boot() + SECONDS(STOP_WITHIN_SECONDS);
        }
    }
    if (safe_is_on(&keeper->safe))
        safe_run(keeper, &arrived);
    else
        stop_run(keeper, &arrived);
    arena_free(&arena);
    return NULL;
}

void keeper_prepare(struct keeper *keeper) {
    queue_start(&keeper->queue);
    pthread_mutex_init(&keeper->view_lock, NULL);
}

bool keeper_start(struct keeper *keeper) {
    return pthread_create(&keeper->thread, NULL, keeper_run, keeper) == 0;
}

void keeper_stop(struct keeper *keeper) {
    queue_stop(&keeper->queue);
    pthread_join(keeper->thread, NULL);
}

struct ledger_view keeper_view(struct keeper *keeper, char trouble[LIMIT_WHY]) {
    pthread_mutex_lock(&keeper->view_lock);
    struct ledger_view view = keeper->view;
    memcpy(trouble, keeper->trouble, LIMIT_WHY);
    pthread_mutex_unlock(&keeper->view_lock);
    view.trouble = str_of(trouble);
    return view;
}
