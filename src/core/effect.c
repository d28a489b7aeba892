/* SPDX-License-Identifier: Apache-2.0 */
/* Effects: decides one, moves its state, and sends signals to other aggregates. */
#include "core/effect.h"

#include "base/planted.h"

static struct effect_change *change_add(struct deciding *d) {
    must(d->decision->effect_count < count_of(d->decision->effects));
    return &d->decision->effects[d->decision->effect_count++];
}

struct str effect_text(const struct effect_slot *slot) {
    return slot->kind == EFFECT_COMMAND ? (struct str){0} : str_of(EFFECTS[slot->kind].name);
}

static struct str row_id(struct deciding *d, enum part_kind kind, uint32_t n) {
    return n ? arena_format(d->out, "%s%u", PART[kind].prefix, n - 1) : (struct str){0};
}

struct effect_slot *effect_make(struct deciding *d, struct effect effect) {
    struct effect_about about = {.assignment = effect.agent.len > 0 ? effect.assignment + 1 : 0};
    return effect_make_about(d, effect, about);
}

struct effect_slot *effect_make_about(struct deciding *d, struct effect effect,
                                      struct effect_about about) {
    struct goal *goal = &d->decision->goal;
    must(goal->effects.open_count < LIMIT_OPEN_EFFECTS);
    struct effect_slot *slot = &goal->effects.open[goal->effects.open_count++];
    *slot = (struct effect_slot){.n = goal->effects.made++, .kind = effect.kind};
    effect.repository = planted(EFFECT_ANYWHERE) ? 0 : goal->repository;
    if (effect.kind == EFFECT_LOOK || effect.kind == EFFECT_SAY || effect.kind == EFFECT_CHECK ||
        effect.kind == EFFECT_LAND)
        slot->until = time_after(d->signal->at, effect.within);
    *change_add(d) = (struct effect_change){
        .op = EFFECT_OP_MAKE, .slot = *slot, .body = effect_encode(&effect, d->out)};
    decide_record(d, RECORD_EFFECT_DECIDED,
                  (struct evidence){.rule = effect.kind == EFFECT_COMMAND
                                                ? STR("command.run")
                                                : str_of(EFFECTS[effect.kind].name),
                                    .effect = slot->n + 1,
                                    .to = effect_text(slot),
                                    .text = effect.command,
                                    .assignment = row_id(d, PART_ASSIGNMENT, about.assignment),
                                    .question = row_id(d, PART_QUESTION, about.question)});
    return slot;
}

/* PROTOCOL P8: ready -> running -> ended, or unconfirmed when the outcome is unknown. */
void effect_move(struct deciding *d, struct effect_slot *slot, enum effect_state to) {
    must(effect_state_may_become(slot->state, to));
    slot->state = to;
    *change_add(d) = (struct effect_change){
        .op = to == EFFECT_ENDED ? EFFECT_OP_END : EFFECT_OP_MOVE, .slot = *slot};
    if (to != EFFECT_ENDED)
        return;
    struct goal *goal = &d->decision->goal;
    size_t after = (size_t)(&goal->effects.open[goal->effects.open_count] - (slot + 1));
    memmove(slot, slot + 1, after * sizeof *slot);
    goal->effects.open_count--;
}

void effect_until(struct deciding *d, struct effect_slot *slot, int64_t until) {
    slot->until = until;
    *change_add(d) = (struct effect_change){.op = EFFECT_OP_MOVE, .slot = *slot};
}

void effect_doubt(struct deciding *d, struct effect_slot *slot, struct str rule, struct str why) {
    struct evidence evidence = {.rule = rule,
                                .effect = slot->n + 1,
                                .host = slot->run_host,
                                .fence = d->decision->goal.fence,
                                .threshold = d->policy->act_within,
                                .text = why};
    if (slot->state != EFFECT_UNCONFIRMED)
        effect_move(d, slot, EFFECT_UNCONFIRMED);
    d->decision->goal.need = NEED_UNCONFIRMED;
    decide_record(d, RECORD_EFFECT_UNCONFIRMED, evidence);
}

/* ---- signals for other aggregates ---- */

/* The signal is named by its effect: however often it is delivered, it is applied once. */
void decide_tell(struct deciding *d, struct signal signal) {
    struct goal *goal = &d->decision->goal;
    signal.source = effect_id(goal->id, goal->effects.made);
    signal.once.keyed = 1;
    signal.at = d->signal->at;
    signal.sender.actor = STR("overseer");
    signal.sender.by = WHO_OVERSEER;
    signal.sender.trace = d->signal->sender.trace;
    effect_make_about(
        d,
        (struct effect){
            .kind = EFFECT_TELL, .to = signal.goal, .body = signal_encode(&signal, d->out)},
        (struct effect_about){.assignment = goal->kind.admission ? 0 : signal.about.assignment});
}

bool dispatch_has_room(const struct deciding *d) {
    return d->decision->goal.effects.open_count < LIMIT_OPEN_EFFECTS - LIMIT_SPARE_EFFECTS;
}
