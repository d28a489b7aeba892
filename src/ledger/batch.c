/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a batch of signals into one transaction, and resolves the batch if its outcome is not known.
 *
 *     begin ▸ load ▸ (adopt) ▸ (numbers) ▸ decide ▸ commit ▸ (forward) ▸ end
 *                                                    │  ▲
 *                                           unknown  ▼  │ not committed: the same batch again
 *                                                  resolve ▸ recheck (committed: which goals were in it?)
 *
 * No act and no answer is released before its commit is known to stand. A batch that was sent is never stepped
 * again: it is resolved first. */
#include "ledger/decide.h"

#include "base/planted.h"
#include "core/step.h"
#include "store/rows.h"

#include <stdlib.h>

/* ---- gathering ---- */

static void batch_add(struct batch *batch, struct input *input) {
    input->place = batch->input_count;
    input->applied = input->claimed = false;
    input->error = ERROR_NONE;
    batch->seen[batch->input_count] = batch->key_used[batch->input_count] =
        false; /* until the load says otherwise; there may be no load */
    batch->inputs[batch->input_count++] = input;
}

static bool batch_is_full(const struct batch *batch) {
    return batch->input_count == LIMIT_BATCH_SIGNALS;
}

const int64_t LATE_BOUND[LATE_BOUNDS] = {MILLISECONDS(1),   MILLISECONDS(10), MILLISECONDS(100),
                                         MILLISECONDS(500), SECONDS(1),       SECONDS(10),
                                         SECONDS(60)};

static void late_count(struct lateness *late, int64_t by) {
    uint32_t i = 0;
    while (i < LATE_BOUNDS && by > LATE_BOUND[i])
        i++;
    late->count[i]++;
    late->sum += by;
}

static void gather_due(struct ledger *ledger) {
    struct id id;
    for (uint32_t i = 0; i < LIMIT_BATCH_SIGNALS; i++) {
        int64_t at = due_next(&ledger->due);
        if (!due_pop(&ledger->due, ledger->now.wall, &id))
            break;
        late_count(&ledger->late, ledger->now.wall - at);
        ledger_offer_internal(ledger, (struct signal){.kind = SIGNAL_GOAL_DUE, .goal = id});
    }
}

/* Takes no more claims than may be carried out now. */
static void gather_claims(struct ledger *ledger) {
    ledger_repeat(ledger);
    if (ledger_is_held(ledger))
        return;
    for (uint32_t class = 0; class < EFFECT_CLASSES; class ++) {
        uint32_t acting = ledger->acting[class];
        for (uint32_t room = EFFECT_CLASS_MOST[class] > acting ? EFFECT_CLASS_MOST[class] - acting
                                                               : 0;
             room > 0 && ledger->claims[class].first && !batch_is_full(&ledger->batch); room--) {
            struct input *claim = input_pop(&ledger->claims[class]);
            claim->signal.at = ledger->now.wall;
            claim->stamped = false;
            batch_add(&ledger->batch, claim);
        }
    }
}

static int by_goal_then_place(const void *a, const void *b) {
    const struct input *const *x = a, *const *y = b;
    int order = id_compare((*x)->signal.goal, (*y)->signal.goal);
    return order ? order : ((*x)->place > (*y)->place) - ((*x)->place < (*y)->place);
}

static void make_groups(struct batch *batch) {
    qsort(batch->inputs, batch->input_count, sizeof batch->inputs[0], by_goal_then_place);
    batch->groups = arena_new(&batch->arena, struct group, batch->input_count);
    for (uint32_t i = 0; i < batch->input_count; i++) {
        struct group *last = batch->group_count ? &batch->groups[batch->group_count - 1] : NULL;
        if (last && id_equal(batch->inputs[last->from]->signal.goal, batch->inputs[i]->signal.goal))
            last->to = i + 1;
        else
            batch->groups[batch->group_count++] =
                (struct group){.from = i, .to = i + 1, .commit = NO_COMMIT};
    }
}

/* Whole plans are checked node by node. A turn takes few of them, so that a beat is never late. */
static bool signal_is_heavy(enum signal_kind kind) {
    return kind == SIGNAL_PLAN_APPLY || kind == SIGNAL_PLAN_APPROVE || kind == SIGNAL_WORK_ADD;
}

bool batch_begin(struct ledger *ledger) {
    struct batch *batch = &ledger->batch;
    must(batch->stage == BATCH_NONE && batch->input_count == 0);
    gather_due(ledger);
    gather_claims(ledger);
    for (uint32_t heavy = 0;
         ledger->waiting.first && !batch_is_full(batch) && heavy < LIMIT_BATCH_PLANS;) {
        heavy += signal_is_heavy(ledger->waiting.first->signal.kind);
        batch_add(batch, input_pop(&ledger->waiting));
    }
    if (batch->input_count == 0)
        return false;
    batch->stage = BATCH_LOAD;
    make_groups(batch);
    return true;
}

static void group_again(struct ledger *ledger, struct group *group) {
    struct batch *batch = &ledger->batch;
    warm_drop(ledger, batch->inputs[group->from]->signal.goal);
    for (uint32_t i = group->from; i < group->to; i++) {
        batch_input_again(ledger, batch->inputs[i]);
        batch->inputs[i] = NULL;
    }
}

bool batch_was_sent(const struct ledger *ledger) {
    return ledger->batch.stage >= BATCH_COMMIT;
}

/* ---- loading ---- */

static bool input_makes_fresh_goal(const struct input *input) {
    return input->signal.kind == SIGNAL_GOAL_CREATE && !input->signal.once.keyed &&
           input->tries == 0;
}

static bool group_needs_loading(struct ledger *ledger, struct group *group) {
    if (group->exists)
        return false; /* taken from the warm goals when this load was first tried */
    const struct input *first = ledger->batch.inputs[group->from];
    const struct warm *warm = warm_get(ledger, first->signal.goal);
    if (warm) {
        group->goal = warm->goal;
        group->live = live_copy(&warm->live, &ledger->batch.arena);
        group->exists = group->whole = true;
    }
    return !warm && !input_makes_fresh_goal(first);
}

/* What is looked up for an input that is remembered: its source, another request with its key, and the source that an
 * older build gave it. */
enum { ASKED_SOURCE, ASKED_KEY, ASKED_BEFORE, ASKED };

static uint32_t input_asks(const struct input *input) {
    return !input_is_remembered(input) ? 0 : id_is_set(input->signal.once.key) ? ASKED : ASKED_KEY;
}

static void keys_add(struct store_request *request, struct source_key *keys,
                     const struct signal *signal, uint32_t count) {
    const struct id asked[ASKED] = {signal->source, signal->once.key, signal->once.before};
    for (uint32_t i = 0; i < count; i++)
        keys[request->key_count++] = (struct source_key){signal->goal, asked[i]};
}

/* A goal that an older build made with this key has another id. */
static bool input_may_be_older(const struct input *input) {
    return input->signal.kind == SIGNAL_GOAL_CREATE && id_is_set(input->signal.once.before);
}

static bool load_request(struct ledger *ledger) {
    struct batch *batch = &ledger->batch;
    struct id *ids =
        arena_new(&ledger->scratch, struct id, batch->group_count + batch->input_count);
    struct source_key *keys =
        arena_new(&ledger->scratch, struct source_key, ASKED * batch->input_count);
    struct store_request *request = &ledger->request;
    request->verb = STORE_LOAD;
    request->ids = ids;
    request->keys = keys;
    for (uint32_t i = 0; i < batch->group_count; i++) {
        const struct input *first = batch->inputs[batch->groups[i].from];
        if (group_needs_loading(ledger, &batch->groups[i]))
            ids[request->id_count++] = first->signal.goal;
        if (input_may_be_older(first))
            ids[request->id_count++] = first->signal.once.before;
    }
    ids_sort(ids, request->id_count);
    for (uint32_t i = 0; i < batch->input_count; i++)
        keys_add(request, keys, &batch->inputs[i]->signal, input_asks(batch->inputs[i]));
    return request->id_count + request->key_count > 0;
}

static void group_loaded(struct ledger *ledger, struct group *group,
                         const struct goal_loaded *loaded) {
    bool mine = loaded->goal.owner == ledger->config.host;
    group->goal = loaded->goal;
    group->live = live_copy(&loaded->live, &ledger->batch.arena);
    group->exists = loaded->exists;
    group->whole = loaded->whole;
    group->owner = loaded->goal.owner;
    group->owner_epoch = loaded->owner_epoch;
    group->forward = loaded->exists && !mine && loaded->owner_lives;
    group->adopt = loaded->exists && !mine && !loaded->owner_lives;
    if (loaded->exists && loaded->whole && mine)
        warm_put(ledger, &loaded->goal, &loaded->live);
}

static const struct goal_loaded *loaded_find(const struct ledger *ledger,
                                             const struct store_answer *answer, struct id goal) {
    int64_t place = id_place(ledger->request.ids, ledger->request.id_count, goal);
    return place < 0 ? NULL : &answer->loaded[place];
}

/* The inputs are tried again under the id that the goal has. */
static void group_is_older(struct ledger *ledger, struct group *group) {
    struct batch *batch = &ledger->batch;
    for (uint32_t i = group->from; i < group->to; i++) {
        struct signal *signal = &batch->inputs[i]->signal;
        if (signal->kind == SIGNAL_GOAL_CREATE)
            signal->goal = signal->once.before;
        signal->once.key = signal->once.before = (struct id){{0}};
    }
    group->forward = true; /* nothing is left to decide or to forward */
    group_again(ledger, group);
}

static void sources_absorb(struct ledger *ledger, const struct store_answer *answer) {
    struct batch *batch = &ledger->batch;
    uint32_t next = 0;
    for (uint32_t i = 0; i < batch->input_count; i++) {
        uint32_t count = input_asks(batch->inputs[i]);
        const bool *asked = answer->seen + next;
        batch->seen[i] = (count > ASKED_SOURCE && asked[ASKED_SOURCE]) ||
                         (count > ASKED_BEFORE && asked[ASKED_BEFORE]);
        batch->key_used[i] = count > ASKED_KEY && asked[ASKED_KEY] && !batch->seen[i] &&
                             input_key_refuses(batch->inputs[i]);
        next += count;
    }
}

static void load_absorb(struct ledger *ledger, const struct store_answer *answer) {
    struct batch *batch = &ledger->batch;
    sources_absorb(ledger, answer);
    for (uint32_t i = 0; i < batch->group_count; i++) {
        struct group *group = &batch->groups[i];
        const struct signal *first = &batch->inputs[group->from]->signal;
        const struct goal_loaded *loaded = loaded_find(ledger, answer, first->goal);
        const struct goal_loaded *older = input_may_be_older(batch->inputs[group->from])
                                              ? loaded_find(ledger, answer, first->once.before)
                                              : NULL;
        if (loaded)
            group_loaded(ledger, group, loaded);
        if (older && older->exists && !group->exists)
            group_is_older(ledger, group);
    }
}

/* ---- goals whose owner is gone ---- */

static struct group *adopt_first(struct batch *batch) {
    for (uint32_t i = 0; i < batch->group_count; i++)
        if (batch->groups[i].adopt)
            return &batch->groups[i];
    return NULL;
}

static void adopt_request(struct ledger *ledger) {
    struct batch *batch = &ledger->batch;
    const struct group *first = adopt_first(batch);
    struct id *ids = arena_new(&ledger->scratch, struct id, batch->group_count);
    struct store_request *request = &ledger->request;
    request->verb = STORE_ADOPT;
    request->victim = (struct host_row){.host = first->owner, .epoch = first->owner_epoch};
    request->limit = LIMIT_BATCH_SIGNALS;
    request->only = ids;
    for (uint32_t i = 0; i < batch->group_count; i++)
        if (batch->groups[i].adopt && batch->groups[i].owner == first->owner)
            ids[request->only_count++] = batch->groups[i].goal.id;
}

/* Whatever the outcome, these goals are loaded again: they belong to this host now, or to another one. */
static void adopt_absorb(struct ledger *ledger, const struct store_answer *answer) {
    struct batch *batch = &ledger->batch;
    uint32_t owner = adopt_first(batch)->owner;
    if (answer->outcome == STORE_DONE)
        lease_meet_owned(ledger, answer);
    else
        lease_adopt_failed(ledger, answer);
    for (uint32_t i = 0; i < batch->group_count; i++)
        if (batch->groups[i].adopt && batch->groups[i].owner == owner) {
            batch->groups[i].adopt = false;
            batch->groups[i].forward = true; /* nothing is left to decide or to forward */
            group_again(ledger, &batch->groups[i]);
        }
}

/* ---- numbers for names ---- */

static bool group_lacks_number(const struct ledger *ledger, const struct group *group) {
    if (group->forward || group->adopt)
        return false;
    if (group->exists)
        return group->whole && !group->goal.kind.admission && group->goal.kind.number == 0;
    for (uint32_t i = group->from; i < group->to; i++)
        if (ledger->batch.inputs[i]->signal.kind == SIGNAL_GOAL_CREATE)
            return true;
    return false;
}

/* P15: false: enough are left for this batch, or they were taken already and are of an earlier era than this host knows:
 * then a goal gets its number with its next change. */
static bool numbers_request(struct ledger *ledger) {
    uint64_t wanted = 0;
    for (uint32_t i = 0; i < ledger->batch.group_count && ledger->mark.level >= LEVEL_NAMES; i++)
        wanted += group_lacks_number(ledger, &ledger->batch.groups[i]);
    if (wanted <= numbers_left(ledger) || ledger->batch.numbers_taken)
        return false;
    ledger->request.verb = STORE_NUMBERS;
    ledger->request.number_from = ledger->numbers.next;
    ledger->request.number_count = wanted > LIMIT_NUMBERS ? (uint32_t)wanted : LIMIT_NUMBERS;
    return true;
}

static void numbers_come(struct ledger *ledger, const struct store_answer *answer) {
    if (answer->outcome != STORE_DONE)
        ledger_retry_later(ledger, answer);
    else if (!answer->held)
        ledger_deposed(ledger);
    else {
        numbers_absorb(ledger, answer);
        ledger->batch.numbers_taken = true;
    }
}

/* ---- release of acts and answers ---- */

/* P13: this host does not repeat an act, whatever the store says: the store may have gone back to before it. A goal has
 * one command at most. A goal that was lost and is requested again under the same key is the same goal, and gives its
 * command another number. */
bool batch_may_note(const struct ledger *ledger, const struct act *act) {
    struct act_row row = {.goal = act->effect.goal,
                          .n = act->effect.n,
                          .kind = act->effect.kind,
                          .batch = act->batch};
    if (!ledger->config.acts || EFFECTS[row.kind].promise == PROMISE_REPEAT)
        return true;
    return act_log_note(ledger->config.acts, &row, !planted(ACTED_FORGOTTEN));
}

static void act_release(struct ledger *ledger, struct input *input, const struct goal *goal) {
    struct act *act = input->act;
    input->act = NULL;
    act->batch = ledger->batch_number;
    ledger_act(ledger, act, goal->fence);
}

static void input_release(struct ledger *ledger, struct input *input, const struct goal *goal,
                          bool acting) {
    const struct signal *signal = &input->signal;
    if (signal->kind == SIGNAL_EFFECT_CLAIM && input->claimed && acting && input->act)
        act_release(ledger, input, goal);
    else if (signal->kind == SIGNAL_EFFECT_CLAIM || signal->kind == SIGNAL_EFFECT_ENDED ||
             signal->kind == SIGNAL_EFFECT_LOST)
        if (!planted(ACT_BEFORE_COMMIT) || signal->kind != SIGNAL_EFFECT_CLAIM)
            ledger_forget_effect(ledger, signal->goal, signal->effect);
    if (signal->kind == SIGNAL_EFFECT_ENDED && ledger->config.acts)
        act_log_end(ledger->config.acts, signal->goal, signal->effect);
    if (signal->kind ==
        SIGNAL_EFFECT_LOST) /* an effect that may be repeated still has to be done */
        ledger_meet_again(ledger, goal);
    input->version = goal->version;
    input->number = goal->kind.number;
    input->seq = goal->records.seq;
    ledger_answer(ledger, input, input->error, input->why[0] ? input->why : NULL);
}

static void group_release(struct ledger *ledger, struct group *group, const struct goal *goal,
                          bool acting) {
    struct batch *batch = &ledger->batch;
    for (uint32_t i = group->from; i < group->to; i++) {
        if (batch->inputs[i])
            input_release(ledger, batch->inputs[i], goal, acting);
        batch->inputs[i] = NULL;
    }
}

/* Planted bug: acts on an effect that is only ready. After a crash now, the effect is done again. */
static void plant_act_without_claim(struct ledger *ledger, const struct goal *goal) {
    struct input *claim = ledger->claims[EFFECT_CLASS_COMMANDS].last;
    if (claim && claim->act) {
        act_release(ledger, claim, goal);
        claim->signal.effect = UINT32_MAX;
    }
}

/* The commit stands: keep the goal warm, set its timer, queue its effects, answer. After a deposition the goal may
 * belong to another host already: then only the answers are given. */
static void commit_release(struct ledger *ledger, struct goal_commit *commit, struct group *group) {
    bool mine = !ledger->batch.after_join;
    const struct goal *goal = &commit->goal;
    if (mine && (goal->quarantined || commit->keep_hot))
        warm_drop(ledger, goal->id);
    else if (mine)
        warm_put(ledger, goal, &ledger->batch.commit_lives[commit - ledger->batch.commits]);
    bool goes_on = (group->goal.status == GOAL_PAUSED && goal->status == GOAL_ACTIVE) ||
                   (group->goal.quarantined && !goal->quarantined);
    if (mine && goes_on)
        ledger_meet_again(ledger, goal);
    if (mine && !due_set(&ledger->due, goal->id, goal->due_at))
        ledger->read_again = true;
    for (uint32_t i = 0; mine && i < commit->effect_count; i++) {
        const struct effect_change *change = &commit->effects[i];
        if (change->op == EFFECT_OP_MAKE)
            ledger_meet_effect(ledger,
                               &(struct effect_entry){goal->id, change->slot, change->body, false});
        if (change->op == EFFECT_OP_MAKE && planted(ACT_WITHOUT_CLAIM))
            plant_act_without_claim(ledger, goal);
    }
    group_release(ledger, group, goal, mine);
}

/* ---- committing ---- */

/* Planted bug: lets the outside see what may never be stored. */
static void plant_act_before_commit(struct ledger *ledger) {
    struct batch *batch = &ledger->batch;
    for (uint32_t c = batch->from; planted(ACT_BEFORE_COMMIT) && c < batch->to; c++) {
        struct group *group = &batch->groups[batch->commit_group[c]];
        for (uint32_t i = group->from; i < group->to; i++)
            if (batch->inputs[i] && batch->inputs[i]->act && batch->inputs[i]->claimed)
                act_release(ledger, batch->inputs[i], &batch->commits[c].goal);
    }
}

static void commit_request(struct ledger *ledger) {
    struct batch *batch = &ledger->batch;
    ledger->request.verb = STORE_COMMIT;
    ledger->request.commits = batch->commits + batch->from;
    ledger->request.commit_count = batch->to - batch->from;
    ledger->request.batch = batch->number = ledger->batch_number + 1;
    ledger->request.number_next = ledger->numbers.next;
    plant_act_before_commit(ledger);
}

static void range_next(struct batch *batch) {
    batch->from = batch->to;
    batch->to = batch->commit_count;
}

/* P6: goals that are missing from the answer conflicted: another writer changed them first. */
static void range_settle(struct ledger *ledger) {
    struct batch *batch = &ledger->batch;
    ledger->batch_number++;
    ledger_confirm(ledger);
    for (uint32_t i = batch->from; i < batch->to; i++) {
        struct group *group = &batch->groups[batch->commit_group[i]];
        if (batch->commits[i].ok) {
            ledger->commits++;
            commit_release(ledger, &batch->commits[i], group);
        } else {
            ledger->conflicts++;
            group_again(ledger, group);
        }
    }
    range_next(batch);
    batch->stage = BATCH_COMMIT;
}

/* P6: after a data error, bisect; a goal that fails alone is set aside. */
static void range_refused(struct ledger *ledger, const struct store_answer *answer) {
    struct batch *batch = &ledger->batch;
    if (batch->to - batch->from > 1) {
        batch->to = batch->from + (batch->to - batch->from) / 2;
        return;
    }
    struct group *group = &batch->groups[batch->commit_group[batch->from]];
    if (decide_refused(ledger, group, &batch->commits[batch->from], answer->error))
        return; /* its quarantine is committed instead */
    group_release(ledger, group, &batch->commits[batch->from].goal, false);
    range_next(batch);
}

static void commit_absorb(struct ledger *ledger, const struct store_answer *answer) {
    switch (answer->outcome) {
    case STORE_DONE:
        if (answer->held)
            range_settle(ledger);
        else
            ledger_deposed(ledger);
        break;
    case STORE_REFUSED: range_refused(ledger, answer); break;
    case STORE_FAILED: ledger_retry_later(ledger, answer); break;
    case STORE_UNKNOWN:
        if (planted(STEP_AGAIN))
            batch_abandon(ledger, ERROR_NONE);
        else
            ledger->batch.stage = BATCH_RESOLVE;
        ledger_retry_later(ledger, answer);
        ledger->retry_at =
            ledger->now.boot; /* resolving need not wait: it opens a new connection */
        break;
    }
}

/* P7: raise the epoch on a new connection: that waits for the earlier transaction, or fences it. Then the batch number
 * says whether the batch was committed; if not, the same batch is sent again. Never step it again. */
static void resolve_absorb(struct ledger *ledger, const struct store_answer *answer) {
    if (answer->outcome != STORE_DONE) {
        ledger_retry_later(ledger, answer);
        return;
    }
    ledger->row_known.back = answer->held && batch_row_is_behind(ledger, answer);
    if (!answer->held || ledger->row_known.back) {
        ledger_deposed(ledger);
        return;
    }
    ledger->self.epoch = answer->epoch;
    ledger->batch.stage = answer->batch == ledger->batch.number ? BATCH_RECHECK : BATCH_COMMIT;
}

/* The host row was lost with a batch in doubt. The process that took the row has fenced the earlier transaction, so the
 * batch number that the join read is final. */
void batch_after_join(struct ledger *ledger, uint64_t stored_batch) {
    struct batch *batch = &ledger->batch;
    must(batch->after_join);
    if (stored_batch == batch->number)
        batch->stage = BATCH_RECHECK;
    else
        batch_abandon(ledger, ERROR_NONE);
}

/* The batch was committed, but the answer that named its goals was lost: a goal was in it if its last record stands. */
static void recheck_request(struct ledger *ledger) {
    struct batch *batch = &ledger->batch;
    struct record_mark *marks =
        arena_new(&ledger->scratch, struct record_mark, batch->to - batch->from);
    for (uint32_t i = batch->from; i < batch->to; i++)
        marks[i - batch->from] =
            (struct record_mark){batch->commits[i].goal.id, batch->commits[i].goal.records.seq,
                                 batch->commits[i].goal.records.head};
    ledger->request.verb = STORE_LOAD;
    ledger->request.marks = marks;
    ledger->request.mark_count = batch->to - batch->from;
}

static void recheck_absorb(struct ledger *ledger, const struct store_answer *answer) {
    struct batch *batch = &ledger->batch;
    if (answer->outcome != STORE_DONE) {
        ledger_retry_later(ledger, answer);
        return;
    }
    for (uint32_t i = batch->from; i < batch->to; i++)
        batch->commits[i].ok =
            batch->commits[i].record_count > 0 && answer->stands[i - batch->from];
    bool after_join = batch->after_join;
    ledger->batch_number = batch->number - 1;
    range_settle(ledger);
    if (after_join) /* the rest was never sent, and may not belong to this host any more */
        batch_abandon(ledger, ERROR_NONE);
}

/* ---- goals of other hosts ---- */

/* Claims, timers and doubts concern only the owner; a goal that exists answers a repeated create. */
static bool input_is_forwarded(const struct batch *batch, uint32_t i) {
    const struct input *input = batch->inputs[i];
    if (batch->key_used[i])
        return false;
    switch (input ? input->signal.kind : SIGNAL_NONE) {
    case SIGNAL_NONE:
    case SIGNAL_GOAL_CREATE:
    case SIGNAL_GOAL_DUE:
    case SIGNAL_EFFECT_CLAIM:
    case SIGNAL_EFFECT_LOST: return false;
    default: return true;
    }
}

/* A signal with a caller may be refused, because the caller repeats it; an outcome must not be. */
static bool input_may_wait(const struct input *input) {
    return input->waiter && !input->done;
}

static void forward_request(struct ledger *ledger) {
    struct batch *batch = &ledger->batch;
    struct inbox_row *rows = arena_new(&ledger->scratch, struct inbox_row, batch->input_count);
    ledger->request.verb = STORE_FORWARD;
    ledger->request.rows = rows;
    for (uint32_t g = 0; g < batch->group_count; g++)
        for (uint32_t i = batch->groups[g].from;
             batch->groups[g].forward && i < batch->groups[g].to; i++) {
            struct input *input = batch->inputs[i];
            if (!input_is_forwarded(batch, i))
                continue;
            struct signal signal = input->signal;
            signal.once.keyed = 1;
            rows[ledger->request.row_count++] =
                (struct inbox_row){.source = signal.source,
                                   .goal = signal.goal,
                                   .body = signal_encode(&signal, &ledger->scratch),
                                   .may_wait = input_may_wait(input)};
        }
}

/* P9: false: the owner has too many signals waiting, or the goal was archived meanwhile. The caller tries again and
 * learns which. */
static bool was_taken(const struct store_answer *answer, const struct input *input) {
    for (uint32_t i = 0; i < answer->inbox_count; i++)
        if (id_equal(answer->inbox[i].source, input->signal.source))
            return true;
    return !input_may_wait(input);
}

static void forwarded_answer(const struct batch *batch, uint32_t i,
                             const struct store_answer *answer) {
    struct input *input = batch->inputs[i];
    input->key_used = batch->key_used[i];
    input->forwarded = input_is_forwarded(batch, i);
    if (input->key_used)
        input->error = ERROR_CONFLICT;
    else if (answer->outcome == STORE_REFUSED)
        input->error = ERROR_REFUSED_BY_STORE;
    else if (input->forwarded && !was_taken(answer, input))
        input->error = ERROR_BUSY;
}

static void forward_absorb(struct ledger *ledger, const struct store_answer *answer) {
    struct batch *batch = &ledger->batch;
    if (answer->outcome == STORE_FAILED || answer->outcome == STORE_UNKNOWN) {
        ledger_retry_later(ledger, answer); /* safe to repeat: its source makes it count once */
        return;
    }
    for (uint32_t g = 0; g < batch->group_count; g++)
        for (uint32_t i = batch->groups[g].from;
             batch->groups[g].forward && i < batch->groups[g].to; i++) {
            struct input *input = batch->inputs[i];
            if (!input)
                continue;
            forwarded_answer(batch, i, answer);
            input_release(ledger, input, &batch->groups[g].goal, false);
            batch->inputs[i] = NULL;
        }
    batch_end(ledger);
}

/* ---- stage by stage ---- */

static bool batch_forwards(const struct batch *batch) {
    for (uint32_t g = 0; g < batch->group_count; g++)
        for (uint32_t i = batch->groups[g].from;
             batch->groups[g].forward && i < batch->groups[g].to; i++)
            if (batch->inputs[i])
                return true;
    return false;
}

static void batch_decide(struct ledger *ledger) {
    struct batch *batch = &ledger->batch;
    decide_all(ledger);
    batch->from = 0;
    batch->to = batch->commit_count;
    batch->stage = BATCH_COMMIT;
    for (uint32_t g = 0; g < batch->group_count; g++)
        if (batch->groups[g].commit == NO_COMMIT && !batch->groups[g].forward)
            group_release(ledger, &batch->groups[g], &batch->groups[g].goal, false);
}

/* Fills in the next request. A stage that has nothing to ask falls through to the next. */
void batch_request(struct ledger *ledger) {
    struct batch *batch = &ledger->batch;
    if (batch->stage == BATCH_LOAD && !load_request(ledger)) {
        ledger->request.verb = STORE_NOTHING;
        batch->stage = BATCH_NUMBERS;
    }
    if (batch->stage == BATCH_ADOPT && adopt_first(batch))
        adopt_request(ledger);
    else if (batch->stage == BATCH_ADOPT)
        batch->stage = BATCH_NUMBERS;
    if (batch->stage == BATCH_NUMBERS && !numbers_request(ledger))
        batch_decide(ledger);
    if (batch->stage == BATCH_COMMIT && batch->from == batch->commit_count)
        batch->stage = BATCH_FORWARD;
    if (batch->stage == BATCH_COMMIT)
        commit_request(ledger);
    if (batch->stage == BATCH_RESOLVE) {
        ledger->request.verb = STORE_RESOLVE;
        ledger->request.batch = batch->number;
    }
    if (batch->stage == BATCH_RECHECK)
        recheck_request(ledger);
    if (batch->stage == BATCH_FORWARD && batch_forwards(batch))
        forward_request(ledger);
    else if (batch->stage == BATCH_FORWARD)
        batch_end(ledger);
}

void batch_absorb(struct ledger *ledger, const struct store_answer *answer) {
    switch (ledger->batch.stage) {
    case BATCH_LOAD:
        if (answer->outcome == STORE_DONE) {
            load_absorb(ledger, answer);
            ledger->batch.stage = BATCH_ADOPT;
        } else
            ledger_retry_later(ledger, answer);
        break;
    case BATCH_ADOPT: adopt_absorb(ledger, answer); break;
    case BATCH_NUMBERS: numbers_come(ledger, answer); break;
    case BATCH_COMMIT: commit_absorb(ledger, answer); break;
    case BATCH_RESOLVE: resolve_absorb(ledger, answer); break;
    case BATCH_RECHECK: recheck_absorb(ledger, answer); break;
    case BATCH_FORWARD: forward_absorb(ledger, answer); break;
    case BATCH_NONE: must(ledger->batch.stage != BATCH_NONE); /* an answer for no batch */
    }
}
