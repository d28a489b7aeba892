/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/ledger_thread.h"

#include "base/seam.h"
#include "engine/answer_cache.h"
#include "sys/clock.h"
#include "sys/crash_guard.h"
#include "sys/log.h"

#include <stdio.h>

enum { STOP_WITHIN_SECONDS = 5 };

struct performing {
    struct ledger_thread *ledger_thread;
    const struct store_request *request;
    struct store_answer *answer;
    struct arena *arena;
};

static void perform_call(void *with) {
    struct performing *p = with;
    if (p->request->verb == STORE_COMMIT)
        (void)seam("commit");
    store_perform(p->ledger_thread->store, p->request, p->answer, p->arena);
}

static void records_count(struct ledger_thread *ledger_thread,
                          const struct store_request *request) {
    for (uint32_t i = 0; i < request->commit_count; i++)
        for (uint32_t j = 0; request->commits[i].ok && j < request->commits[i].record_count; j++)
            atomic_fetch_add_explicit(
                &ledger_thread->records[request->commits[i].records[j].type % RECORD_TYPES], 1,
                memory_order_relaxed);
}

/* Done whatever the outcome was, and before any caller is answered: a commit may stand although its answer was lost. */
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

/* If there is no memory, it is not known how far the request came: its outcome is unknown. */
static void perform(struct ledger_thread *ledger_thread, const struct store_request *request,
                    struct store_answer *answer, struct arena *arena) {
    struct performing performing = {ledger_thread, request, answer, arena};
    struct crash_guard_report report;
    arena_reset(arena);
    enum crash_guard_result result = crash_guard_run(perform_call, &performing, &report);
    if (result == CRASH_GUARD_BROKEN)
        must_failed(__FILE__, __LINE__, report.why);
    if (result == CRASH_GUARD_MEMORY)
        *answer = (struct store_answer){.outcome = STORE_UNKNOWN, .error = STR("out of memory")};
    cache_forget(request);
    if (answer->outcome == STORE_FAILED || answer->outcome == STORE_UNKNOWN)
        ledger_thread->store_failed = true;
    if (answer->damaged)
        ledger_thread_enter_safe(ledger_thread, answer->error);
    if (request->verb == STORE_COMMIT && answer->outcome == STORE_DONE && answer->held)
        records_count(ledger_thread, request);
    bool commits = request->verb == STORE_COMMIT || request->verb == STORE_ORDER;
    if (commits && answer->outcome == STORE_DONE && ledger_thread->ports.wrote)
        ledger_thread->ports.wrote(ledger_thread->ports.with);
}

void ledger_thread_enter_safe(struct ledger_thread *ledger_thread, struct str why) {
    ledger_hold_acts(ledger_thread->ledger, true);
    safe_enter(&ledger_thread->safe, "The store is damaged (%.*s). Stop the daemon and look at it.",
               STR_ARG(why));
}

static void log_changes(const struct ledger_view *before, const struct ledger_view *now,
                        const char *trouble) {
    if (!before->joined && now->joined)
        log_info("joined the store under epoch %llu", (unsigned long long)now->epoch);
    if (before->depositions_reported != now->depositions_reported)
        log_warning("this host lost its row in the store: %.*s; joining again",
                    STR_ARG(now->deposition));
    if (before->takeovers != now->takeovers)
        log_warning("another host lost its lease; this host takes over its goals");
    if (before->quarantined != now->quarantined)
        log_error(
            "a goal was quarantined: a decision about it failed an internal check, or the database refused it");
    if (before->dropped != now->dropped)
        log_error("the database refused a goal and its quarantine: %s", trouble);
    if (before->trouble.len == 0 && now->trouble.len > 0)
        log_warning("the store reports an error: %s", trouble);
    if (before->trouble.len > 0 && now->trouble.len == 0)
        log_info("the store answers again");
}

/* P13: logs what is missing, and which effects were acted on although the store no longer has a record of them. */
static void back_log(struct ledger_thread *ledger_thread, const struct ledger_view *now) {
    enum { SHOWN = 64 };
    static struct act_row rows[SHOWN];
    uint32_t count = act_log_behind(ledger_thread->acts, now->back_from, rows, SHOWN);
    log_about(LEVEL_ERROR, &(struct log_about){.incident = true},
              "the store was set back to an earlier state: batches %llu to %llu of this host "
              "are missing, with the records of %u effects that it has acted on. A new era "
              "begins: effects that were ready or running are unconfirmed, and none is "
              "repeated. Check what was reported since then",
              (unsigned long long)now->back_from + 1, (unsigned long long)now->back_to, count);
    for (uint32_t i = 0; i < count && i < SHOWN; i++)
        log_about(LEVEL_WARNING, &(struct log_about){.goal = rows[i].goal, .effect = rows[i].n + 1},
                  "this effect was acted on (%s), but the store has lost its record",
                  EFFECTS[rows[i].kind].name);
}

static void publish(struct ledger_thread *ledger_thread) {
    struct ledger_view now = ledger_view(ledger_thread->ledger), before = ledger_thread->view;
    pthread_mutex_lock(&ledger_thread->view_lock);
    snprintf(ledger_thread->trouble, sizeof ledger_thread->trouble, "%.*s", STR_ARG(now.trouble));
    ledger_thread->view = now;
    ledger_thread->view.trouble.at = ledger_thread->trouble;
    ledger_thread->view.deposition = (struct str){0};
    pthread_mutex_unlock(&ledger_thread->view_lock);
    log_changes(&before, &now, ledger_thread->trouble);
    if (before.backs != now.backs && ledger_thread->acts)
        back_log(ledger_thread, &now);
}

/* P13, P14: each batch is noted before any act of it is carried out. Beats are noted from time to time. */
static void acts_note(struct ledger_thread *ledger_thread) {
    struct act_log *log = ledger_thread->acts;
    if (!log)
        return;
    int64_t now = clock_boot();
    if (!act_log_is_due(log) && now - ledger_thread->noted_at < SECONDS(1))
        return;
    ledger_thread->noted_at = now;
    bool good = act_log_write(log);
    if (!good && !ledger_thread->note_failed)
        log_error("the act log in the state folder cannot be written: after a restart, this host "
                  "would not notice that the store was set back");
    ledger_thread->note_failed = !good;
}

static void input_answer(struct ledger_thread *ledger_thread, struct input *input) {
    if (input->done)
        input->done(input);
    else
        ledger_thread->ports.answer(input);
}

static void let_go(struct ledger_thread *ledger_thread) {
    acts_note(ledger_thread);
    for (struct act *act; (act = ledger_take_act(ledger_thread->ledger));)
        ledger_thread->ports.act(ledger_thread->ports.with, act);
    for (struct input *input; (input = ledger_take_answered(ledger_thread->ledger));)
        input_answer(ledger_thread, input);
}

static void refuse(struct ledger_thread *ledger_thread, struct input *input, enum error error) {
    input->error = error;
    if (input->waiter)
        input_answer(ledger_thread, input);
    else
        input_free(input);
}

/* ---- ticks ---- */

/* API-04, OBSERVE-01. A tick is an input without a kind of signal: it is for the ledger's loop, not for a goal. */
static bool tick_take(struct ledger_thread *ledger_thread, struct input *input) {
    if (input->signal.kind != SIGNAL_NONE)
        return false;
    if (!ledger_thread->ticks.first) {
        ledger_thread->tick_commits = ledger_view(ledger_thread->ledger).commits;
        log_info("tick begins%s%.*s", input->signal.reason.len ? ": " : "",
                 STR_ARG(input->signal.reason));
    }
    ledger_look(ledger_thread->ledger);
    if (input->waiter)
        input_push(&ledger_thread->ticks, input);
    else
        input_free(input);
    return true;
}

/* A tick ends when everything that it found is committed; under load, after two batches. */
static void ticks_end(struct ledger_thread *ledger_thread, bool at_rest) {
    struct ledger_view view = ledger_view(ledger_thread->ledger);
    uint64_t commits = view.commits - ledger_thread->tick_commits;
    bool away = at_rest && view.trouble.len > 0;
    if (!ledger_thread->ticks.first ||
        !(away || (ledger_has_looked(ledger_thread->ledger) && (at_rest || commits > 1))))
        return;
    log_info("tick ends: %s, %llu commits", away ? "the store does not answer" : "done",
             (unsigned long long)commits);
    for (struct input *input; (input = input_pop(&ledger_thread->ticks));) {
        input->error = away ? ERROR_STORE_AWAY : ERROR_NONE;
        input->applied = commits > 0;
        input_answer(ledger_thread, input);
    }
}

void ledger_thread_wake(struct ledger_thread *ledger_thread) {
    struct input *input = input_make(&(struct signal){.kind = SIGNAL_NONE}, NULL);
    if (input && !queue_put(&ledger_thread->queue, input))
        input_free(input);
}

/* Offers the arrived inputs to the ledger. Beyond its limit the ledger takes none: callers that can ask again are told
 * that it is busy. Outcomes and agents' reports stay here until there is room. */
static void offer_all(struct ledger_thread *ledger_thread, struct input_list *arrived) {
    struct input_list kept = {0};
    for (struct input *input; (input = input_pop(arrived));)
        if (tick_take(ledger_thread, input) || ledger_offer(ledger_thread->ledger, input))
            continue;
        else if (input->waiter && !input->must_fit)
            refuse(ledger_thread, input, ERROR_BUSY);
        else
            input_push(&kept, input);
    *arrived = kept;
}

static struct instant instant_now(struct ledger_thread *ledger_thread) {
    struct clock_reading now = clock_read();
    return (struct instant){now.wall, now.boot, atomic_load(ledger_thread->pulse), now.stepped};
}

static bool may_end(struct ledger_thread *ledger_thread, int64_t stop_at) {
    struct ledger_view view = ledger_view(ledger_thread->ledger);
    return clock_boot() >= stop_at || (view.waiting == 0 && !view.in_doubt);
}

/* STORE-10: waiting and new callers are told about safe mode. Outcomes are not kept: their effects will stand as
 * unconfirmed. */
static void safe_refuse(struct ledger_thread *ledger_thread, struct input *input) {
    snprintf(input->why, sizeof input->why, "%.*s", (int)sizeof input->why - 1,
             ledger_thread->safe.why);
    refuse(ledger_thread, input, ERROR_SAFE_MODE);
}

static void safe_run(struct ledger_thread *ledger_thread, struct input_list *arrived) {
    bool stopping = false;
    if (ledger_thread->ledger) {
        ledger_give_up(ledger_thread->ledger);
        for (struct input *input; (input = ledger_take_answered(ledger_thread->ledger));)
            if (input->error == ERROR_STOPPING)
                safe_refuse(ledger_thread, input);
            else
                input_answer(ledger_thread, input);
    }
    while (!stopping) {
        for (struct input *input;
             (input = input_pop(arrived)) || (input = input_pop(&ledger_thread->ticks));)
            safe_refuse(ledger_thread, input);
        *arrived = queue_take_all(&ledger_thread->queue, INT64_MAX, &stopping);
    }
    for (struct input *input; (input = input_pop(arrived));)
        safe_refuse(ledger_thread, input);
}

static void stop_run(struct ledger_thread *ledger_thread, struct input_list *arrived) {
    for (struct input *input;
         (input = input_pop(arrived)) || (input = input_pop(&ledger_thread->ticks));)
        refuse(ledger_thread, input, ERROR_STOPPING);
    ledger_give_up(ledger_thread->ledger);
    let_go(ledger_thread);
}

static void *ledger_thread_run(void *with) {
    struct ledger_thread *ledger_thread = with;
    struct arena arena = {0};
    struct store_answer answer;
    struct input_list arrived = {0};
    bool answered = false, stopping = false;
    int64_t stop_at = INT64_MAX;
    while (!safe_is_on(&ledger_thread->safe) &&
           (!stopping || answered || !may_end(ledger_thread, stop_at))) {
        struct instant now = instant_now(ledger_thread);
        atomic_fetch_add(&ledger_thread->cycles, 1);
        atomic_store(&ledger_thread->turned_at, now.boot);
        const struct store_request *request =
            ledger_turn(ledger_thread->ledger, answered ? &answer : NULL, now);
        let_go(ledger_thread);
        publish(ledger_thread);
        ticks_end(ledger_thread, !request);
        answered = request != NULL;
        if (request)
            perform(ledger_thread, request, &answer, &arena);
        bool away =
            ledger_view(ledger_thread->ledger).trouble.len > 0; /* then no room will become free */
        bool again = answered || (arrived.first && !away);
        int64_t until = again ? 0 : ledger_wakes_at(ledger_thread->ledger, now);
        struct input_list more = queue_take_all(&ledger_thread->queue, until, &stopping);
        for (struct input *input; (input = input_pop(&more));)
            input_push(&arrived, input);
        offer_all(ledger_thread, &arrived);
        if (stopping && stop_at == INT64_MAX) {
            ledger_hold_acts(ledger_thread->ledger, true);
            stop_at = clock_boot() + SECONDS(STOP_WITHIN_SECONDS);
        }
    }
    if (safe_is_on(&ledger_thread->safe))
        safe_run(ledger_thread, &arrived);
    else
        stop_run(ledger_thread, &arrived);
    arena_free(&arena);
    return NULL;
}

void ledger_thread_prepare(struct ledger_thread *ledger_thread) {
    queue_start(&ledger_thread->queue);
    pthread_mutex_init(&ledger_thread->view_lock, NULL);
}

bool ledger_thread_start(struct ledger_thread *ledger_thread) {
    return pthread_create(&ledger_thread->thread, NULL, ledger_thread_run, ledger_thread) == 0;
}

void ledger_thread_stop(struct ledger_thread *ledger_thread) {
    queue_stop(&ledger_thread->queue);
    pthread_join(ledger_thread->thread, NULL);
}

struct ledger_view ledger_thread_view(struct ledger_thread *ledger_thread,
                                      char trouble[LIMIT_WHY]) {
    pthread_mutex_lock(&ledger_thread->view_lock);
    struct ledger_view view = ledger_thread->view;
    memcpy(trouble, ledger_thread->trouble, LIMIT_WHY);
    pthread_mutex_unlock(&ledger_thread->view_lock);
    view.trouble = str_of(trouble);
    return view;
}
