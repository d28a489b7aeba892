/* SPDX-License-Identifier: Apache-2.0 */
/* How is a decision written down, and what moves a state? */
#include "core/rules.h"

/* EVENT-04, EVENT-05, EVENT-08: every transition leaves a record that says which rule, from what, by whom. */
void decide_record(struct deciding *d, enum record_type type, struct evidence evidence) {
    struct decision *decision = d->decision;
    must(decision->record_count < LIMIT_STEP_RECORDS);
    evidence.signal = d->signal->kind;
    evidence.source = d->signal->source;
    evidence.actor = str_cut_utf8(d->signal->actor, LIMIT_ACTOR);
    evidence.text = str_cut_utf8(evidence.text, LIMIT_RECORD_BODY - 512);
    struct record *record = &decision->records[decision->record_count++];
    *record = (struct record){.type = type,
                              .at = d->signal->at,
                              .core = CORE_VERSION,
                              .policy = d->policy->hash,
                              .body = shape_encode(&EVIDENCE, &evidence, d->out)};
    must(record->body.len <= LIMIT_RECORD_BODY);
    struct goal *goal = &decision->goal;
    record_seal(record, goal->id, goal->seq, &goal->head);
    goal->seq = record->seq;
    goal->head = record->hash;
    decision->verdict = VERDICT_CHANGE;
}

void decide_refuse(struct deciding *d, enum error error) {
    d->decision->verdict = VERDICT_REFUSE;
    d->decision->error = error;
}

void goal_move(struct deciding *d, enum goal_status to) {
    must(goal_status_may_become(d->decision->goal.status, to));
    d->decision->goal.status = to;
}

static struct effect_change *change_add(struct deciding *d) {
    must(d->decision->effect_count < LIMIT_OPEN_EFFECTS);
    return &d->decision->effects[d->decision->effect_count++];
}

struct effect_slot *effect_make(struct deciding *d, struct effect effect) {
    struct goal *goal = &d->decision->goal;
    must(goal->open_count < LIMIT_OPEN_EFFECTS);
    struct effect_slot *slot = &goal->open[goal->open_count++];
    *slot = (struct effect_slot){.n = goal->effects_made++, .kind = effect.kind};
    *change_add(d) = (struct effect_change){EFFECT_OP_MAKE, *slot, effect_encode(&effect, d->out)};
    decide_record(d, RECORD_EFFECT_DECIDED,
                  (struct evidence){
                      .rule = STR("command.run"), .effect = slot->n + 1, .text = effect.command});
    return slot;
}

/* PROTOCOL P8: ready -> running -> ended, or unconfirmed when nobody can tell. */
void effect_move(struct deciding *d, struct effect_slot *slot, enum effect_state to) {
    must(effect_state_may_become(slot->state, to));
    slot->state = to;
    struct effect_change *change = change_add(d);
    *change =
        (struct effect_change){to == EFFECT_ENDED ? EFFECT_OP_END : EFFECT_OP_MOVE, *slot, {0}};
    if (to != EFFECT_ENDED)
        return;
    struct goal *goal = &d->decision->goal;
    size_t after = (size_t)(&goal->open[goal->open_count] - (slot + 1));
    memmove(slot, slot + 1, after * sizeof *slot);
    goal->open_count--;
}

void effect_doubt(struct deciding *d, struct effect_slot *slot, struct str rule, struct str why) {
    struct evidence evidence = {.rule = rule,
                                .effect = slot->n + 1,
                                .host = slot->run_host,
                                .fence = d->decision->goal.fence,
                                .threshold = d->policy->act_within,
                                .text = why};
    if (slot->state == EFFECT_RUNNING)
        effect_move(d, slot, EFFECT_UNCONFIRMED);
    d->decision->goal.need = NEED_UNCONFIRMED;
    decide_record(d, RECORD_EFFECT_UNCONFIRMED, evidence);
}
