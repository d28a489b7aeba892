/* SPDX-License-Identifier: Apache-2.0 */
/* State that the files of the ledger share: open effects and acts, replies, the end of a batch, being deposed. */
#include "ledger/ledger_state.h"

#include "base/planted.h"
#include <stdio.h>
#include <stdlib.h>

const struct policy *ledger_policy(const struct ledger *ledger) {
    return atomic_load(&ledger->policy);
}

void ledger_repeats_free(struct act_list *list) {
    for (struct act *act = list->first, *next; act; act = next) {
        next = act->next;
        free(act);
    }
    *list = (struct act_list){0};
}

bool ledger_offer_internal(struct ledger *ledger, struct signal signal) {
    signal.at = ledger->now.wall;
    signal.sender.actor = STR("overseer");
    signal.sender.by = WHO_OVERSEER;
    struct input *input =
        ledger->waiting.count < LIMIT_QUEUE_SIGNALS ? input_make(&signal, NULL) : NULL;
    if (input) {
        input->stamped = true;
        input->stepped = ledger->now.stepped;
        input_push(&ledger->waiting, input);
        ledger->lost_pending += signal.kind == SIGNAL_EFFECT_LOST;
    } else
        ledger->read_again = true; /* a signal that is dropped here is found again by reading */
    return input != NULL;
}

static void note_apply(struct ledger *ledger, const struct input *input);

void ledger_answer(struct ledger *ledger, struct input *input, enum error error, const char *why) {
    if (input->from_inbox && --ledger->inbox_pending == 0 && ledger->inbox_more) {
        int64_t next = time_after(ledger->now.boot, ledger->inbox_rest);
        ledger->inbox_more = false;
        ledger->poll_at = next < ledger->poll_at ? next : ledger->poll_at;
    }
    if (input->signal.kind == SIGNAL_EFFECT_LOST) {
        ledger->lost_pending--;
        ledger->unsettled = ledger->unsettled || error;
    }
    if (input->tells) {
        input->error = error;
        note_apply(ledger, input);
    }
    if (!input->waiter) {
        input_free(input);
        return;
    }
    input->error = error;
    if (why != input->why)
        snprintf(input->why, sizeof input->why, "%s", why ? why : "");
    input_push(&ledger->answered, input);
}

/* ---- effects: from decided to claimed ---- */

uint32_t ledger_claims(const struct ledger *ledger) {
    uint32_t count = 0;
    for (uint32_t class = 0; class < EFFECT_CLASSES; class ++)
        count += ledger->claims[class].count + ledger->repeats[class].count;
    return count;
}

static bool claim_queue(struct ledger *ledger, struct act *act) {
    struct signal claim = {.kind = SIGNAL_EFFECT_CLAIM,
                           .goal = act->effect.goal,
                           .effect = act->effect.n,
                           .host = ledger->config.host,
                           .sender.actor = STR("overseer"),
                           .sender.by = WHO_OVERSEER};
    struct input *input = input_make(&claim, NULL);
    if (!input)
        return false;
    input->act = act;
    input_push(&ledger->claims[act->class], input);
    return true;
}

static bool repeat_queue(struct ledger *ledger, struct act *act) {
    struct act_list *list = &ledger->repeats[act->class];
    act->next = NULL;
    *(list->last ? &list->last->next : &list->first) = act;
    list->last = act;
    list->count++;
    return true;
}

/* A ready effect queues for its claim, once; an effect that may be repeated needs none. An effect that finds no room is
 * found again by reading. */
static void effect_queue(struct ledger *ledger, const struct effect_entry *entry) {
    struct id id = effect_id(entry->goal, entry->slot.n);
    struct act *act = NULL;
    if (ledger_claims(ledger) < LIMIT_CLAIMS)
        act = act_make(entry->goal, entry->slot.n, entry->slot.kind, entry->body);
    bool known = act && map_put(&ledger->known, id, (void *)KNOWN_QUEUED);
    bool repeats = EFFECTS[entry->slot.kind].promise == PROMISE_REPEAT;
    if (known && (repeats ? repeat_queue(ledger, act) : claim_queue(ledger, act)))
        return;
    if (known)
        map_remove(&ledger->known, id);
    free(act);
    ledger->read_again = true;
}

/* Decides what to do about an open effect of a goal that this host owns. */
void ledger_meet_effect(struct ledger *ledger, const struct effect_entry *entry) {
    bool repeats = EFFECTS[entry->slot.kind].promise == PROMISE_REPEAT;
    if (map_get(&ledger->known, effect_id(entry->goal, entry->slot.n)))
        return;
    if ((entry->slot.state == EFFECT_READY || repeats) && !entry->damaged)
        effect_queue(ledger, entry);
    else
        ledger_offer_internal(
            ledger,
            (struct signal){.kind = SIGNAL_EFFECT_LOST,
                            .goal = entry->goal,
                            .effect = entry->slot.n,
                            .host = batch_never_began(ledger, entry) ? ledger->config.host : 0});
}

void ledger_forget_effect(struct ledger *ledger, struct id goal, uint32_t n) {
    uintptr_t known = (uintptr_t)map_remove(&ledger->known, effect_id(goal, n));
    if (known >= KNOWN_FLYING)
        ledger->acting[known - KNOWN_FLYING]--;
}

/* ---- effects: release ---- */

/* The ledger itself delivers a message for another aggregate; the effect ends when the message is answered. */
static bool tell(struct ledger *ledger, struct act *act) {
    struct signal signal;
    struct input *input = NULL;
    if (ledger->waiting.count < LIMIT_QUEUE_SIGNALS && signal_decode(act->effect.body, &signal))
        input = input_make(&signal, NULL);
    if (!input)
        return false;
    input->tells = true;
    input->note_goal = act->effect.goal;
    input->note_effect = act->effect.n;
    input_push(&ledger->waiting, input);
    free(act);
    return true;
}

static void note_apply(struct ledger *ledger, const struct input *input) {
    struct signal ended = {.kind = SIGNAL_EFFECT_ENDED,
                           .source = effect_id(input->note_goal, input->note_effect),
                           .goal = input->note_goal,
                           .effect = input->note_effect,
                           .exit = input->error,
                           .text = str_of(ERRORS[input->error].code)};
    if (!ledger_offer_internal(ledger, ended))
        ledger_forget_effect(ledger, input->note_goal, input->note_effect);
}

void ledger_act(struct ledger *ledger, struct act *act, uint64_t fence) {
    uintptr_t flying = KNOWN_FLYING + act->class;
    act->fence = fence;
    act->reign = atomic_load(&ledger->reign);
    act->next = NULL;
    if (map_put(&ledger->known, effect_id(act->effect.goal, act->effect.n), (void *)flying))
        ledger->acting[act->class]++;
    if (act->effect.kind == EFFECT_TELL) {
        struct id goal = act->effect.goal;
        uint32_t n = act->effect.n;
        if (!tell(ledger, act)) {
            ledger_forget_effect(ledger, goal, n);
            free(act);
            ledger->read_again = true;
        }
        return;
    }
    *ledger->acts_end = act;
    ledger->acts_end = &act->next;
}

/* Messages between aggregates continue while the fleet is stopped; effects that reach the outside do not. */
void ledger_repeat(struct ledger *ledger) {
    for (uint32_t class = 0; class < EFFECT_CLASSES; class ++) {
        struct act_list *list = &ledger->repeats[class];
        while (list->first && ledger->acting[class] < EFFECT_CLASS_MOST[class] &&
               (class == EFFECT_CLASS_INSIDE || !ledger_is_held(ledger))) {
            struct act *act = list->first;
            list->first = act->next;
            if (!list->first)
                list->last = NULL;
            list->count--;
            ledger_act(ledger, act, 0);
        }
    }
}

bool ledger_acts_are_off(const struct ledger *ledger) {
    return atomic_load(&ledger->held) || atomic_load(&ledger->stopped);
}

bool ledger_is_held(const struct ledger *ledger) {
    return ledger_acts_are_off(ledger) || ledger->now.boot < atomic_load(&ledger->observe_until);
}

/* GOAL-11: a goal was resumed: the effects that it had decided may be claimed again. Their bodies are in the store. */
void ledger_meet_again(struct ledger *ledger, const struct goal *goal) {
    if (!goal_has_effect(goal, EFFECT_READY))
        return;
    if (ledger->meet_count < LIMIT_BATCH_SIGNALS)
        ledger->meet[ledger->meet_count++] = goal->id;
    else
        ledger->read_again = true;
}

/* ---- joining and losing the host row ---- */

void ledger_confirm(struct ledger *ledger) {
    struct store_known *known = &ledger->row_known;
    known->era = ledger->mark.era;
    if (ledger->mark.timeline != ledger->timeline) {
        ledger->timeline_changed = ledger->timeline_changed || ledger->timeline != 0;
        ledger->timeline = ledger->mark.timeline;
        ledger->first_count = 0;
    }
    if (ledger->self.epoch > known->epoch)
        known->epoch = ledger->self.epoch;
    if (ledger->batch_number > known->batch)
        known->batch = ledger->batch_number;
    if (ledger->config.acts)
        act_log_confirm(ledger->config.acts, &(struct act_head){.instance = known->instance,
                                                                .era = known->era,
                                                                .epoch = known->epoch,
                                                                .beat = known->beat,
                                                                .batch = known->batch,
                                                                .timeline = ledger->timeline});
}

static void repeats_forget(struct ledger *ledger, uint32_t class) {
    struct act_list *list = &ledger->repeats[class];
    for (struct act *act = list->first; act; act = act->next)
        ledger_forget_effect(ledger, act->effect.goal, act->effect.n);
    ledger_repeats_free(list);
}

/* P2: zero rows: deposed, stop acting. Gathered signals wait; a batch in doubt stays in doubt until the next join reads
 * the batch number. */
void ledger_deposed(struct ledger *ledger) {
    atomic_store(&ledger->act_until, INT64_MIN);
    atomic_fetch_add(&ledger->reign, 1);
    ledger->joined = ledger->claimed = false;
    ledger->deposed++;
    lease_deposed(ledger);
    ledger->taking = ledger->adopting = ledger->fencing = false;
    ledger->neighbour_count = 0;
    if (ledger->batch.stage == BATCH_RESOLVE || ledger->batch.stage == BATCH_RECHECK)
        ledger->batch.after_join = true;
    else if (ledger->batch.stage != BATCH_NONE)
        batch_abandon(ledger, ERROR_NONE);
    warm_clear(ledger);
    due_free(&ledger->due);
    for (uint32_t class = 0; class < EFFECT_CLASSES; class ++) {
        for (struct input *claim; (claim = input_pop(&ledger->claims[class]));) {
            ledger_forget_effect(ledger, claim->signal.goal, claim->signal.effect);
            input_free(claim);
        }
        repeats_forget(ledger, class);
    }
}

/* ---- numbers for names ---- */

uint64_t numbers_left(const struct ledger *ledger) {
    const struct number_block *numbers = &ledger->numbers;
    return numbers->era >= ledger->mark.era && numbers->next < numbers->end
               ? numbers->end - numbers->next
               : 0;
}

/* A block of the row may begin below what this process has given: commits that failed left the row as it was. */
void numbers_absorb(struct ledger *ledger, const struct store_answer *answer) {
    uint64_t given = ledger->numbers.next;
    ledger->numbers = answer->numbers;
    if (ledger->numbers.next < given)
        ledger->numbers.next = given;
}

/* ---- the turn ---- */

void ledger_retry_later(struct ledger *ledger, const struct store_answer *answer) {
    if (ledger->trouble[0] == 0)
        ledger->trouble_since = ledger->now.boot;
    ledger->retry_at = time_after(ledger->now.boot, ledger->config.retry_every);
    snprintf(ledger->trouble, sizeof ledger->trouble, "%.*s", STR_ARG(answer->error));
    if (ledger->trouble[0] == 0)
        snprintf(ledger->trouble, sizeof ledger->trouble, "the store did not answer");
}

/* ---- ending ---- */

void batch_end(struct ledger *ledger) {
    struct batch *batch = &ledger->batch;
    batch->stage = BATCH_NONE;
    batch->input_count = batch->group_count = batch->commit_count = 0;
    batch->from = batch->to = 0;
    batch->after_join = batch->numbers_taken = false;
    arena_reset(&batch->arena);
}

/* Back into the queue, to be loaded and decided again: certainly nothing of it was committed. */
void batch_input_again(struct ledger *ledger, struct input *input) {
    const struct signal *signal = &input->signal;
    if (signal->kind ==
        SIGNAL_EFFECT_CLAIM) { /* reading finds it again, if this host still owns it */
        ledger_forget_effect(ledger, signal->goal, signal->effect);
        ledger->read_again = true;
        input_free(input);
    } else if (++input->tries > LIMIT_CONFLICT_RETRIES && input->waiter)
        ledger_answer(ledger, input, ERROR_CONFLICT, NULL);
    else
        input_push(&ledger->waiting, input);
}

void batch_abandon(struct ledger *ledger, enum error error) {
    struct batch *batch = &ledger->batch;
    for (uint32_t i = 0; i < batch->input_count; i++) {
        struct input *input = batch->inputs[i];
        batch->inputs[i] = NULL;
        if (!input)
            continue;
        if (error && input->waiter)
            ledger_answer(ledger, input, error, NULL);
        else
            batch_input_again(ledger, input);
    }
    arena_free(&batch->arena);
    batch_end(ledger);
}

/* P14: an earlier process of this host had claimed the effect; it noted everything that it began, and this effect is
 * not noted. */
bool batch_never_began(const struct ledger *ledger, const struct effect_entry *entry) {
    struct act_row row = {.goal = entry->goal, .n = entry->slot.n, .kind = entry->slot.kind};
    bool mine = ledger->trusts_notes && entry->slot.run_host == ledger->config.host &&
                entry->slot.state == EFFECT_RUNNING;
    return mine && (planted(NOTES_UNREAD) || !act_log_had(ledger->config.acts, &row));
}
