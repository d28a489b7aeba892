/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/call.h"

#include "engine/answer_locally.h"
#include "engine/facts.h"
#include "engine/request_key.h"
#include "engine/spool.h"
#include "engine/token.h"
#include "sys/clock.h"
#include "sys/crash_guard.h"
#include "sys/log.h"
#include "sys/pool.h"
#include "sys/redaction.h"

#include <stdio.h>
#include <stdlib.h>

static const int64_t CALL_TIMEOUT = SECONDS(20);
static const int64_t SPOOLED_TIMEOUT = SECONDS(2); /* then the local disk has to do */
static const int64_t AT_ONCE_TIMEOUT = MILLISECONDS(50);
static const int64_t AWAY_AFTER = SECONDS(1);
static const struct policy NO_POLICY; /* used in safe mode, where nothing is decided */

enum { CALL_TRIES = 32 }; /* for an operation that merges */

enum call_state { CALL_NEW, CALL_WAITING, CALL_ANSWERED, CALL_EXPIRED, CALL_FORGOTTEN };

/* Shared with the ledger thread or the lookup thread while it waits; the last holder frees it. */
struct call {
    struct daemon_context *context;
    struct caller caller;
    struct call *next, **link; /* in the list of waiting calls */
    atomic_int state;
    atomic_int holders;
    int64_t since, until; /* boot clock: when the wait began, and when it times out */
    json_t *params;
    struct op_call op;
    char key[ID_TEXT + 1]; /* made here if the caller gave none and one is needed */
    uint32_t tries;
    struct signal sent; /* the signal that the ledger got, once `built` */
    atomic_bool built;
    bool spooling, spooled; /* handed to the spool; safely stored there */
    struct input *input;    /* of a write, once it is answered */
    struct input **inputs;  /* of a write with several signals: all of them, in their order */
    uint32_t input_count;
    atomic_uint inputs_open; /* of those that were sent, not answered yet */
    bool first_alone;        /* only the first of them was sent: the others need it */
    struct lookup lookup;
    struct pool_job job; /* of a slow operation */
    void (*done)(void *with);
    void *with;
};

/* All waiting calls, of all interfaces. */
static pthread_mutex_t waiting_lock = PTHREAD_MUTEX_INITIALIZER;
static struct call *waiting;
static atomic_bool ending;
static atomic_int_least64_t away_since; /* boot clock; 0: the store answers */

/* ---- counts by operation and outcome ---- */

static struct call_count counts[LIMIT_OPS];

const struct call_count *call_counts(void) {
    return counts;
}

static void count_add(const struct op *op, enum error error) {
    enum error_class class = error < ERROR_COUNT ? ERRORS[error].class : CLASS_HARD;
    for (size_t i = 0; i < OP_COUNT && i < LIMIT_OPS; i++)
        if (OPS[i] == op)
            atomic_fetch_add_explicit(&counts[i].by_class[class], 1, memory_order_relaxed);
}

void call_was_cached(const struct op *op) {
    count_add(op, ERROR_NONE);
}

static void call_count(struct call *call) {
    enum error error = call_error(call);
    count_add(call->op.op, error);
    if (error != ERROR_UNAUTHORIZED || call->caller.role != ROLE_RUN)
        return;
    struct log_about about = caller_about(&call->caller);
    log_about(LEVEL_WARNING, &about, "%s was refused %s: %s", call->caller.actor,
              call->op.op ? call->op.op->name : "an unknown operation", call->op.why);
}

/* ---- life cycle ---- */

struct call *call_new(struct daemon_context *context, const struct caller *caller) {
    struct call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    call->context = context;
    call->caller = *caller;
    call->op.caller = &call->caller;
    atomic_init(&call->holders, 1);
    return call;
}

static void inputs_drop(struct call *call) {
    for (uint32_t i = 0; i < call->input_count; i++)
        input_free(call->inputs[i]);
    call->input_count = 0;
}

static void call_let_go(struct call *call) {
    if (atomic_fetch_sub(&call->holders, 1) > 1)
        return;
    input_free(call->input);
    inputs_drop(call);
    free(call->inputs);
    op_call_free(&call->op);
    json_decref(call->params);
    free(call);
}

static int64_t timeout_of(const struct op *op) {
    switch (op->answer) {
    case ANSWER_SPOOLED: return SPOOLED_TIMEOUT;
    case ANSWER_AT_ONCE: return AT_ONCE_TIMEOUT;
    default: return CALL_TIMEOUT;
    }
}

static void call_wait(struct call *call) {
    if (atomic_load(&call->state) != CALL_NEW)
        return; /* it waits already, or its caller was already told that the outcome is unknown */
    atomic_store(&call->state, CALL_WAITING);
    atomic_fetch_add(&call->holders, 1);
    call->since = clock_boot();
    call->until = call->since + timeout_of(call->op.op);
    pthread_mutex_lock(&waiting_lock);
    call->next = waiting;
    call->link = &waiting;
    if (waiting)
        waiting->link = &call->next;
    waiting = call;
    pthread_mutex_unlock(&waiting_lock);
    if (call->op.op->answer == ANSWER_AT_ONCE && call->context->sweep_soon)
        call->context->sweep_soon(call->context);
}

/* The thread that moves the state on answers the caller; the other one only drops its reference. */
static bool call_settle(struct call *call, enum call_state to, struct input *input) {
    pthread_mutex_lock(&waiting_lock);
    bool mine = atomic_load(&call->state) == CALL_WAITING;
    if (mine) {
        *call->link = call->next;
        if (call->next)
            call->next->link = call->link;
        call->input = input;
        atomic_store(&call->state, (int)to);
    }
    pthread_mutex_unlock(&waiting_lock);
    return mine;
}

static void call_tell(struct call *call) {
    call_count(call);
    call->done(call->with);
}

void call_release(struct call *call) {
    if (!call)
        return;
    call_settle(call, CALL_FORGOTTEN, NULL);
    call_let_go(call);
}

/* Runs have their own lookup thread: many agents must not keep people waiting. */
static struct lookups *lookups_of(const struct call *call) {
    const struct daemon_context *context = call->context;
    return call->caller.role == ROLE_RUN && context->run_lookups ? context->run_lookups
                                                                 : context->lookups;
}

/* ---- outcome ---- */

static bool is_slow(const struct call *call) {
    return call->op.op && call->op.op->slow;
}

/* The input that says how the write went; of several, the first that was refused. NULL: not a write, or never sent. */
static const struct input *input_telling(const struct call *call) {
    for (uint32_t i = 0; i < call->input_count; i++)
        if (call->inputs[i]->error)
            return call->inputs[i];
    return call->input_count > 0 ? call->inputs[0] : call->input;
}

enum error call_error(const struct call *call) {
    if (atomic_load(&call->state) ==
        CALL_EXPIRED) /* fields that another thread may still be writing are not read */
        return is_slow(call) ? ERROR_BUSY : ERROR_STORE_AWAY;
    const struct input *input = input_telling(call);
    return input ? input->error : call->op.error;
}

const char *call_why(const struct call *call) {
    if (atomic_load(&call->state) == CALL_EXPIRED)
        return is_slow(call) ? "The result is still being computed; repeat the request." : "";
    return call->input && call->input_count == 0 ? call->input->why : call->op.why;
}

static json_t *written_json(const struct input *input) {
    char goal[GOAL_ID_TEXT + 1];
    if (input->signal.kind == SIGNAL_NONE) /* a tick */
        return json_pack("{s:b, s:b}", "ok", 1, "didWork", input->applied);
    goal_id_format(input->signal.goal, goal);
    if (input->forwarded)
        return json_pack("{s:s, s:b}", "goalId", goal, "forwarded", 1);
    json_t *written = json_pack("{s:s, s:I, s:I}", "goalId", goal, "version",
                                (json_int_t)input->version, "seq", (json_int_t)input->seq);
    goal_name_put(written, input->number);
    return written;
}

static json_t *several_json(struct call *call) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < call->input_count; i++)
        json_array_append_new(list, written_json(call->inputs[i]));
    return call->op.op->joined(&call->op, list);
}

json_t *call_result(struct call *call) {
    if (call_error(call))
        return NULL;
    if (call->input_count > 0)
        return several_json(call);
    return call->input ? written_json(call->input) : json_incref(call->op.result);
}

bool call_is_pending(const struct call *call) {
    return call->spooled || (call->input && call->input->forwarded);
}

const struct op *call_op(const struct call *call) {
    return call->op.op;
}

/* ---- building arguments, signal and result of an operation, under the crash guard ---- */

struct building {
    struct call *call;
    const struct store_answer *answer;
    struct signal signal;
    bool made;
};

static void args_make(void *with) {
    struct building *building = with;
    struct call *call = building->call;
    building->made = op_args_read(&call->op, call->params);
}

static void request_make(void *with) {
    struct building *building = with;
    struct call *call = building->call;
    const struct op *op = call->op.op;
    if (op->wants_facts) {
        struct op_facts *facts =
            arena_take(&call->op.arena, sizeof *facts, alignof(struct op_facts));
        facts_read(call->context, facts);
        call->op.facts = facts;
    }
    if (op->wants_repositories)
        call->op.repositories = repositories_read(call->context, &call->op.arena);
    if (call->op.op->wants_logins && call->context->logins) {
        struct op_logins *logins = arena_new(&call->op.arena, struct op_logins, 1);
        call->context->logins(call->context, logins);
        call->op.logins = logins;
    }
    building->made = op->request && op->request(&call->op, &call->lookup.request);
}

static void next_make(void *with) {
    struct building *building = with;
    struct call *call = building->call;
    struct store_request request = {.at = call->op.at};
    building->made = call->op.op->next(&call->op, building->answer, &request);
    call->op.asked++;
    if (building->made)
        call->lookup.request = request;
}

static void signal_make(void *with) {
    struct building *building = with;
    struct op_call *op = &building->call->op;
    building->made = op->error == ERROR_NONE && /* the lookup found what it looked for */
                     op->op->signal(op, building->answer, &building->signal);
}

static void result_make(void *with) {
    struct building *building = with;
    struct op_call *op = &building->call->op;
    op->result = op->op->result(op, building->answer);
    if (op->result && !op->op->slow && building->call->context->finish)
        building->call->context->finish(building->call->context, op);
}

static void slow_make(void *with) {
    struct building *building = with;
    struct call *call = building->call;
    call->context->finish(call->context, &call->op);
}

static void tell_make(void *with) {
    struct building *building = with;
    answer_locally(building->call->context, &building->call->op);
}

/* One request that cannot be answered must not end a daemon that serves ten thousand others. */
static bool built(struct call *call, void (*make)(void *), struct building *building) {
    struct crash_guard_report report;
    enum crash_guard_result result = crash_guard_run(make, building, &report);
    if (result == CRASH_GUARD_WHOLE)
        return true;
    building->made = false;
    if (result == CRASH_GUARD_MEMORY)
        return op_refuse(&call->op, ERROR_NO_MEMORY, "%s", "");
    log_error("the operation %s failed: %s", call->op.op->name, report.why);
    return op_refuse(&call->op, ERROR_QUARANTINED, "The stored data about it is inconsistent.");
}

/* ---- writing ---- */

static bool signal_name(struct call *call, struct signal *signal) {
    bool given = call->op.args.key.len > 0 && call->op.args.key.at != call->key;
    if (call->op.args.key.len == 0)
        key_random(signal);
    else if (!key_name(signal, &call->op, given))
        return op_refuse(&call->op, ERROR_NO_MEMORY, "%s", "");
    return true;
}

static bool signal_is_fit(struct call *call, const struct signal *signal) {
    if (text_has_secret(
            signal->describe.command)) /* if it were redacted, it would be another command */
        return op_refuse(
            &call->op, ERROR_INVALID,
            "The command contains a likely secret and would be stored. Put the secret into "
            "the environment or a file.");
    if (signal->body.len > LIMIT_PLAN)
        return op_refuse(&call->op, ERROR_INVALID,
                         "The request has %zu bytes; at most %d can be stored.", signal->body.len,
                         LIMIT_PLAN);
    return true;
}

static bool signal_fill(struct call *call, const struct store_answer *answer, struct signal *ret) {
    struct building building = {.call = call, .answer = answer};
    building.signal.sender.by = caller_who(&call->caller);
    building.signal.sender.trace = call->op.args.trace;
    built(call, signal_make, &building);
    if (!building.made || !signal_is_fit(call, &building.signal))
        return false;
    *ret = building.signal;
    ret->at = call->op.at;
    ret->sender.actor = str_of(call->caller.actor);
    if (ret->about.assignment && ret->about.assignment == call->caller.assignment)
        ret->about.run = call->caller.run_n; /* P10: its report counts for this run only */
    return true;
}

static bool signal_build(struct call *call, const struct store_answer *answer, struct signal *ret) {
    return signal_fill(call, answer, ret) && signal_name(call, ret);
}

static void call_settled(struct call *call) {
    if (call_settle(call, CALL_ANSWERED, NULL))
        call_tell(call);
    call_let_go(call);
}

/* ---- while the store is away ---- */

static void spool_done(void *with, bool safe) {
    struct call *call = with;
    char goal[GOAL_ID_TEXT + 1];
    goal_id_format(call->op.args.goal_id, goal);
    call->spooled = safe;
    if (safe)
        call->op.result = json_pack("{s:s, s:b}", "goalId", goal, "spooled", 1);
    else
        op_refuse(&call->op, ERROR_STORE_AWAY, "%s", "");
    call_settled(call);
}

/* True: the spool has it and will answer. */
static bool spool_send(struct call *call, const struct signal *signal) {
    call->spooling = true;
    return spool_put(call->context->spool, signal, spool_done, call) ||
           op_refuse(&call->op, ERROR_SPOOL_FULL, "%s", "");
}

static bool may_be_spooled(const struct call *call) {
    return call->op.op->answer != ANSWER_COMMITTED && call->context->spool && !atomic_load(&ending);
}

/* A store that reports trouble is not waited for. A store that has not been joined yet is waited for briefly, because
 * every start begins like that. */
static bool is_for_spool(const struct call *call) {
    char trouble[LIMIT_WHY];
    int64_t since = atomic_load(&away_since);
    if (!may_be_spooled(call) || !spool_is_wanted(call->context->spool))
        return false;
    ledger_thread_view(call->context->ledger_thread, trouble);
    return trouble[0] || (since != 0 && clock_boot() - since >= AWAY_AFTER);
}

/* The ledger already has the signal and may still write it; its key makes it take effect only once. The spool gets the
 * same signal, byte for byte: another thread may still be building one, and nothing is built here. */
static bool expired_spool(struct call *call) {
    if (!atomic_load(&call->built) || call->spooling || !call->sent.once.keyed ||
        !may_be_spooled(call) ||
        (call->op.op->answer == ANSWER_SPOOLED && !spool_is_wanted(call->context->spool)))
        return false;
    atomic_fetch_add(&call->holders, 1);
    if (spool_send(call, &call->sent))
        return true;
    call_let_go(call);
    return false;
}

/* ---- to the ledger ---- */

static void input_send(struct call *call, struct input *input) {
    if (queue_put(&call->context->ledger_thread->queue, input))
        return;
    input->error = atomic_load(&ending) ? ERROR_STOPPING : ERROR_BUSY;
    call_written(input);
}

static struct id id_nth(const struct id *of, uint32_t nth) {
    char text[16];
    int length = snprintf(text, sizeof text, "%u", nth);
    return id_derive((struct str){(const char *)of->bytes, sizeof of->bytes},
                     (struct str){text, (size_t)length});
}

/* The names of the nth signal follow from those of the request. Goals that are made together have ids that differ in their
 * last bytes only, in the order of the request: numbers are given and places are granted in the order of ids. */
static void signal_name_nth(struct signal *signal, const struct signal *request, uint32_t nth) {
    signal->source = id_nth(&request->source, nth);
    signal->once = request->once;
    if (id_is_set(request->once.key)) {
        signal->once.key = id_nth(&request->once.key, nth);
        signal->once.before = id_nth(&request->once.before, nth);
    }
    if (signal->kind != SIGNAL_GOAL_CREATE)
        return;
    signal->goal = request->goal;
    signal->goal.bytes[sizeof signal->goal.bytes - 2] = (uint8_t)(nth >> 8);
    signal->goal.bytes[sizeof signal->goal.bytes - 1] = (uint8_t)nth;
}

static struct input *several_make(struct call *call, const struct store_answer *answer,
                                  const struct signal *request, uint32_t nth) {
    struct signal signal;
    call->op.nth = nth;
    if (!signal_fill(call, answer, &signal))
        return NULL;
    signal_name_nth(&signal, request, nth);
    struct input *input = input_make(&signal, call);
    if (!input)
        op_refuse(&call->op, ERROR_NO_MEMORY, "%s", "");
    return input;
}

/* Says how many were refused: what was stored stays, and a repeated request stores only the rest. */
static void several_explain(struct call *call) {
    const struct input *refused = input_telling(call);
    uint32_t count = 0;
    for (uint32_t i = 0; i < call->input_count; i++)
        count += call->inputs[i]->error != ERROR_NONE;
    if (count > 0)
        snprintf(call->op.why, sizeof call->op.why,
                 "%u of %u parts of the request were not stored%s%.120s%s", count,
                 call->input_count, refused->why[0] ? ": " : ".", refused->why,
                 call->op.args.key.at != call->key
                     ? " Sent again with the same key, only the rest is stored."
                     : "");
}

/* The first one is stored: the others are sent. False: it was refused, or there are no others, which are dropped. */
static bool several_go_on(struct call *call) {
    uint32_t count = call->input_count;
    bool refused = call->inputs[0]->error != ERROR_NONE;
    call->first_alone = false;
    for (uint32_t i = 1; refused && i < count; i++)
        input_free(call->inputs[i]);
    if (refused)
        call->input_count = 1;
    if (refused || count == 1)
        return false;
    atomic_store(&call->inputs_open, count - 1);
    for (uint32_t i = 1; i < count; i++)
        input_send(call, call->inputs[i]);
    return true;
}

/* The last one that is answered answers the call. */
static void several_written(struct call *call) {
    if (atomic_fetch_sub(&call->inputs_open, 1) > 1)
        return;
    if (call->first_alone && several_go_on(call))
        return;
    several_explain(call);
    if (call_settle(call, CALL_ANSWERED, NULL))
        call_tell(call);
    call_let_go(call);
}

/* True: the ledger has them and will answer. None is sent unless all could be built. */
static bool several_send(struct call *call, const struct store_answer *answer) {
    uint32_t count = call->op.op->signals(&call->op);
    struct signal request = {.kind = SIGNAL_GOAL_CREATE};
    call->inputs = calloc(count, sizeof(struct input *));
    if (!call->inputs || !signal_name(call, &request))
        return op_refuse(&call->op, ERROR_NO_MEMORY, "%s", "");
    for (uint32_t i = 0; i < count; i++) {
        call->inputs[i] = several_make(call, answer, &request, i);
        if (!call->inputs[i]) {
            inputs_drop(call);
            return false;
        }
        call->input_count++;
    }
    atomic_store(&call->inputs_open, 1);
    call->first_alone = true;
    input_send(call, call->inputs[0]);
    return true;
}

/* True: the ledger or the spool has it and will answer. False: call->op says why not. */
static bool write_send(struct call *call, const struct store_answer *answer) {
    struct signal signal;
    if (call->op.op->signals)
        return several_send(call, answer);
    if (!signal_build(call, answer, &signal))
        return false;
    if (call->op.op->stops && call->context->stop_first)
        call->context->stop_first(call->context, signal.goal);
    if (is_for_spool(call))
        return spool_send(call, &signal);
    struct input *input = input_make(&signal, call);
    if (input && call->op.op->answer != ANSWER_COMMITTED) {
        call->sent = signal; /* such an operation merges nothing, so it is built once */
        atomic_store(&call->built, true);
    }
    if (!input)
        return op_refuse(&call->op, ERROR_NO_MEMORY, "%s", "");
    input_send(call, input);
    return true;
}

/* What was read has changed before the write: read again. */
static bool tried_again(struct call *call, const struct input *input) {
    bool again = input->error == ERROR_CONFLICT && !input->key_used && call->op.op->merges &&
                 call->tries++ < CALL_TRIES && atomic_load(&call->state) == CALL_WAITING;
    return again && lookups_ask(lookups_of(call), &call->lookup);
}

void call_written(struct input *input) {
    struct call *call = input->waiter;
    input->waiter = NULL;
    if (tried_again(call, input)) {
        input_free(input);
        return;
    }
    size_t length = strlen(input->why);
    if (length > 0 && length < sizeof input->why - 1)
        memcpy(input->why + length, ".", 2);
    if (call->inputs) {
        several_written(call);
        return;
    }
    if (call_settle(call, CALL_ANSWERED, input))
        call_tell(call);
    else
        input_free(input);
    call_let_go(call);
}

/* ---- timeouts ---- */

static struct call *overdue_take(const struct daemon_context *context, int64_t now) {
    pthread_mutex_lock(&waiting_lock);
    struct call *call = waiting;
    while (call && (call->context != context || now < call->until))
        call = call->next;
    if (call)
        atomic_fetch_add(&call->holders, 1);
    pthread_mutex_unlock(&waiting_lock);
    return call;
}

static void away_look(struct daemon_context *context, int64_t now) {
    if (!context->spool || !spool_is_wanted(context->spool))
        atomic_store(&away_since, 0);
    else if (atomic_load(&away_since) == 0)
        atomic_store(&away_since, now);
}

static bool any_sweep_soon(const struct daemon_context *context) {
    bool any = false;
    pthread_mutex_lock(&waiting_lock);
    for (const struct call *call = waiting; call && !any; call = call->next)
        any = call->context == context && call->until - call->since == AT_ONCE_TIMEOUT;
    pthread_mutex_unlock(&waiting_lock);
    return any;
}

bool calls_sweep(struct daemon_context *context) {
    int64_t now = clock_boot();
    away_look(context, now);
    for (struct call *call; (call = overdue_take(context, now));) {
        bool spooled = call->until < call->since + CALL_TIMEOUT;
        call->until = call->since + CALL_TIMEOUT;
        if (!(spooled && (expired_spool(call) || now < call->until)) &&
            call_settle(call, CALL_EXPIRED, NULL))
            call_tell(call);
        call_let_go(call);
    }
    return any_sweep_soon(context);
}

/* Only the spool can still be waited for now. A call that is just about to wait either entered the list before it
 * checked `ending`, and is found here, or it sees that `ending` is set. */
void calls_end(struct daemon_context *context) {
    atomic_store(&ending, true);
    for (struct call *call; (call = overdue_take(context, INT64_MAX));) {
        if (call_settle(call, CALL_EXPIRED, NULL))
            call_tell(call);
        call_let_go(call);
    }
}

/* ---- reading ---- */

/* STORE-10: in safe mode the store may return anything; a result that cannot be shown must not end the daemon. */
static void result_send(struct call *call, const struct store_answer *answer) {
    struct building building = {.call = call, .answer = answer};
    bool whole = built(call, result_make, &building);
    if (!safe_is_on(&call->context->ledger_thread->safe) ||
        (whole && call->op.error != ERROR_NO_MEMORY))
        return; /* bytes that are not text cannot become JSON, and fail as if there were no memory */
    op_refuse(&call->op, ERROR_STORE_AWAY, "The stored data is damaged and cannot be shown.");
}

static bool answer_is_there(struct call *call, const struct store_answer *answer) {
    if (answer->outcome == STORE_DONE)
        return true;
    if (answer->damaged && call->context->ledger_thread->ledger)
        ledger_thread_enter_safe(call->context->ledger_thread, answer->error);
    return op_refuse(&call->op, ERROR_STORE_AWAY, "%.*s.", STR_ARG(str_cut(answer->error, 200)));
}

/* On a thread of the pool. A call that has been answered already (it timed out, or the daemon stops) needs nothing
 * more. */
static void slow_run(struct pool_job *job) {
    struct call *call = (struct call *)((char *)job - offsetof(struct call, job));
    struct building building = {.call = call};
    if (atomic_load(&call->state) == CALL_WAITING)
        built(call, slow_make, &building);
    call_settled(call);
}

/* True: the pool has it and will answer. No lookup thread waits for it. */
static bool slow_send(struct call *call) {
    struct daemon_context *context = call->context;
    if (!call->op.op->slow || !call->op.result || call->op.error || !context->finish)
        return false;
    char goal[ID_TEXT + 1];
    id_format(call->op.args.goal_id, goal);
    call->job.run = slow_run;
    pool_name(&call->job, call->op.args.goal_id, str_of(goal), str_of(call->op.op->name));
    if (context->slow && pool_put(context->slow, &call->job))
        return true;
    json_decref(call->op.result);
    call->op.result = NULL;
    return op_refuse(&call->op, ERROR_BUSY,
                     "Too many requests of this kind are waiting. Try again later.");
}

static struct call *call_of(struct lookup *lookup) {
    return (struct call *)((char *)lookup - offsetof(struct call, lookup));
}

/* True: more has to be read first, and the lookup thread has the request. */
static bool asked_on(struct call *call, const struct store_answer *answer) {
    struct building building = {.call = call, .answer = answer};
    if (!call->op.op->next || !built(call, next_make, &building) || !building.made ||
        call->op.error)
        return false;
    return lookups_ask(lookups_of(call), &call->lookup) ||
           op_refuse(&call->op, ERROR_STOPPING, "%s", "");
}

static void lookup_done(struct lookup *lookup, const struct store_answer *answer) {
    struct call *call = call_of(lookup);
    if (answer_is_there(call, answer)) {
        if (asked_on(call, answer))
            return;
        if (call->op.op->kind == OP_WRITES && write_send(call, answer))
            return; /* the ledger holds it now */
        if (call->op.op->kind == OP_READS && !call->op.error)
            result_send(call, answer);
        if (slow_send(call))
            return;
    }
    call_settled(call);
}

static void lookup_begin(struct call *call,
                         void (*done)(struct lookup *, const struct store_answer *)) {
    call->lookup.done = done;
    call->lookup.request.at = call->op.at;
    call_wait(call);
    if (!lookups_ask(lookups_of(call), &call->lookup)) {
        call->op.error = ERROR_STOPPING;
        call_settled(call);
    }
}

/* ---- start of a call ---- */

/* What an operation must read first is read on the lookup thread's connection, which then builds the signal. True: it
 * is in progress. */
static bool operation_begin(struct call *call) {
    struct building building = {.call = call};
    if (call->op.op->kind == OP_LOCAL) {
        built(call, tell_make, &building);
        return false;
    }
    call->lookup.request = (struct store_request){0};
    built(call, request_make, &building);
    if (call->op.error)
        return false;
    if (building.made)
        lookup_begin(call, lookup_done);
    else {
        call_wait(call);
        if (!write_send(call, NULL))
            call_settled(call);
    }
    return true;
}

/* Ids begin with their time, so goals made at about the same time differ only in the rest: the message names all that
 * fit. */
static bool several_refuse(struct call *call, const struct store_answer *answer) {
    char text[sizeof call->op.why] = "", id[GOAL_ID_TEXT + 1];
    for (uint32_t i = 0; i < answer->found_count && i < 4; i++) {
        goal_id_format(answer->found[i], id);
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", id);
    }
    return op_refuse(&call->op, ERROR_AMBIGUOUS, "%s%s.", text,
                     answer->found_count > 4 ? " and others" : "");
}

static bool goal_is_named(struct call *call, const struct store_answer *answer) {
    if (!answer_is_there(call, answer) ||
        !op_goal_is_own(&call->op, answer->found, answer->found_count))
        return false;
    if (answer->found_count == 0)
        return op_refuse(&call->op, ERROR_NOT_FOUND, "%s", "");
    if (answer->found_count > 1)
        return several_refuse(call, answer);
    call->op.args_read.goal_id = answer->found[0];
    call->op.args_read.goal_begins = false;
    return true;
}

static void named_done(struct lookup *lookup, const struct store_answer *answer) {
    struct call *call = call_of(lookup);
    bool waits = atomic_load(&call->state) == CALL_WAITING; /* otherwise it came too late */
    if (!waits || !goal_is_named(call, answer) || !operation_begin(call))
        call_settled(call);
}

static void named_begin(struct call *call) {
    call->lookup.request = (struct store_request){.verb = STORE_NAMED,
                                                  .first_id = call->op.args.goal_first,
                                                  .last_id = call->op.args.goal_last,
                                                  .number = call->op.args.goal_number,
                                                  .limit = LIMIT_NAMED};
    lookup_begin(call, named_done);
}

/* The key makes a write take effect once, even if both the ledger and the spool have it. */
static void key_make(struct call *call) {
    uint8_t random[10];
    random_bytes(random, sizeof random);
    id_format(id_make(call->op.at / 1000, random), call->key);
    call->op.args_read.key = str_of(call->key);
}

static bool call_prepare(struct call *call, struct str method) {
    const struct ledger_thread *ledger_thread = call->context->ledger_thread;
    call->op.op = op_find(method);
    if (!call->op.op)
        return op_refuse(&call->op, ERROR_UNKNOWN_METHOD, "%s", "");
    call->op.at = clock_wall();
    call->op.policy_read = call->context->policy_read;
    call->op.policy = ledger_thread->ledger ? ledger_policy(ledger_thread->ledger) : &NO_POLICY;
    struct building building = {.call = call};
    built(call, args_make, &building);
    if (!building.made || !op_allows(&call->op))
        return false;
    if ((call->op.op->answer == ANSWER_AT_ONCE || call->op.op->signals) &&
        call->op.args.key.len == 0)
        key_make(call);
    if (call->op.op->kind == OP_WRITES && safe_is_on(&ledger_thread->safe))
        return op_refuse(&call->op, ERROR_SAFE_MODE, "%.250s", ledger_thread->safe.why);
    return true;
}

/* True: it is in progress. */
static bool call_go(struct call *call) {
    if (!call->op.args.goal_begins)
        return operation_begin(call);
    named_begin(call);
    return true;
}

bool call_start(struct call *call, struct str method, const json_t *params,
                void (*done)(void *with), void *with) {
    call->done = done;
    call->with = with;
    call->params = json_incref((json_t *)(uintptr_t)params);
    if (atomic_load(&ending))
        op_refuse(&call->op, ERROR_STOPPING, "%s", "");
    else if (call_prepare(call, method) && call_go(call))
        return true;
    atomic_store(&call->state, CALL_ANSWERED);
    call_count(call);
    return false;
}
