/* SPDX-License-Identifier: Apache-2.0 */
/* Decides what follows from the outcome of an effect, and from an outcome that will not come. */
#include "core/admission/permit.h"
#include "core/effect.h"
#include "core/goal.h"
#include "core/rules.h"

/* ---- commands ---- */

/* Exit status 0 of the operator's own command completes an active goal that has no plan and waits for nothing else, now
 * or when it is resumed; any other status asks a person. An outcome for an effect that is no longer open was reported
 * before, and decides nothing. A late outcome for an unconfirmed effect settles the doubt. */
static void command_ended(struct deciding *d, struct effect_slot *slot) {
    struct goal *goal = &d->decision->goal;
    struct evidence evidence = {.rule = STR("effect.outcome"),
                                .effect = slot->n + 1,
                                .host = slot->run_host,
                                .fence = goal->fence,
                                .exit = d->signal->exit,
                                .text = str_cut_utf8(d->signal->text, LIMIT_OUTPUT)};
    effect_move(d, slot, EFFECT_ENDED);
    decide_record(d, RECORD_EFFECT_ENDED, evidence);
    goal->progress.last_exit = d->signal->exit;
    goal->progress.succeeded = d->signal->exit == 0;
    goal->plan.reopened = 0;
    evidence.text = (struct str){0};
    if (d->signal->exit != 0) {
        goal->need = NEED_FAILED;
        evidence.rule = STR("command.failed");
        decide_record(d, RECORD_GOAL_NEEDS_PERSON, evidence);
        return;
    }
    goal->need = goal_has_effect(goal, EFFECT_UNCONFIRMED) ? NEED_UNCONFIRMED : NEED_NOTHING;
    goal_settle(d);
}

/* ---- all other effects ---- */

/* The effect is over; the work that it was for continues from here. */
static void slot_ended(struct deciding *d, struct effect_slot *slot, bool lost) {
    struct effect_slot ended = *slot;
    struct evidence evidence = {.rule = STR("effect.outcome"),
                                .effect = slot->n + 1,
                                .host = slot->run_host,
                                .to = effect_text(slot),
                                .exit = d->signal->exit,
                                .text = str_cut_utf8(d->signal->text, LIMIT_LINE)};
    effect_move(d, slot, EFFECT_ENDED);
    decide_record(d, lost ? RECORD_EFFECT_UNCONFIRMED : RECORD_EFFECT_ENDED, evidence);
    switch (ended.kind) {
    case EFFECT_SPAWN:
    case EFFECT_SEND: sent_ended(d, &ended, lost); break;
    case EFFECT_LOOK: look_ended(d, &ended); break;
    case EFFECT_STOP: stop_ended(d, &ended); break;
    case EFFECT_SAY: say_ended(d, &ended); break;
    case EFFECT_CHECK: check_ended(d, &ended); break;
    case EFFECT_LAND: land_ended(d, &ended); break;
    default: break;
    }
    if (d->decision->goal.kind.admission && !d->decision->goal.kind.workspace)
        admission_go_on(d);
    goal_settle(d);
}

void rule_ended(struct deciding *d) {
    struct effect_slot *slot = goal_effect(&d->decision->goal, d->signal->effect);
    if (!slot)
        return;
    bool repeats = EFFECTS[slot->kind].promise == PROMISE_REPEAT;
    must(slot->state != EFFECT_READY || repeats); /* else it was acted on without a claim */
    if (slot->kind == EFFECT_COMMAND)
        command_ended(d, slot);
    else
        slot_ended(d, slot, false);
}

/* PROTOCOL, the table of effects. A repeatable effect is simply repeated. A command is carried out at most once: the
 * host that claimed it is gone, so it is never repeated by itself; it becomes unconfirmed, which is reported once. For
 * an instruction to an agent, a look finds out whether it arrived. */
void effect_lose(struct deciding *d, struct effect_slot *slot, struct str rule, struct str why) {
    if (EFFECTS[slot->kind].promise == PROMISE_REPEAT)
        return;
    if (slot->kind == EFFECT_COMMAND)
        effect_doubt(d, slot, rule, why);
    else
        slot_ended(d, slot, true);
}

/* P14: the host that claimed the effect has its own note of what it began, and this effect is not in it. */
static bool effect_never_began(const struct deciding *d, const struct effect_slot *slot) {
    return d->signal->host != 0 && d->signal->host == slot->run_host &&
           slot->kind == EFFECT_COMMAND && slot->state == EFFECT_RUNNING &&
           d->world->level >= LEVEL_RETURN;
}

static void effect_return(struct deciding *d, struct effect_slot *slot) {
    decide_record(d, RECORD_EFFECT_RETURNED,
                  (struct evidence){.rule = STR("effect.never-began"),
                                    .effect = slot->n + 1,
                                    .host = slot->run_host,
                                    .to = effect_text(slot),
                                    .fence = d->decision->goal.fence});
    slot->run_host = 0;
    slot->until = 0;
    effect_move(d, slot, EFFECT_READY);
    enum goal_status status = d->decision->goal.status;
    if (status != GOAL_ACTIVE && status != GOAL_PAUSED)
        effects_withdraw(d);
}

void rule_lost(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    struct effect_slot *slot = goal_effect(goal, d->signal->effect);
    if (!slot || slot->state == EFFECT_READY)
        return;
    if (effect_never_began(d, slot)) {
        effect_return(d, slot);
        return;
    }
    if (slot->kind == EFFECT_COMMAND && slot->state == EFFECT_UNCONFIRMED &&
        goal->need == NEED_UNCONFIRMED)
        return;
    effect_lose(d, slot, STR("effect.host-lost"),
                STR("its host was lost before it could say what came of it"));
}

/* A timer fires at once while a host runs. A timer that fires this late means that no host ran: the machine was off or
 * asleep. */
#define LATE MINUTES(1)

/* The host that finds an older check or landing carries it out again, and nothing is known about it yet. */
static bool effect_renew(struct deciding *d, struct effect_slot *slot) {
    bool work = slot->kind == EFFECT_CHECK || slot->kind == EFFECT_LAND;
    if (!work || d->signal->at < time_after(effect_deadline(slot), LATE))
        return false;
    effect_until(d, slot, time_after(d->signal->at, d->policy->act_within));
    decide_record(d, RECORD_EFFECT_RENEWED,
                  (struct evidence){.rule = STR("effect.renewed"),
                                    .effect = slot->n + 1,
                                    .to = effect_text(slot),
                                    .until = slot->until});
    return true;
}

/* No effect stays open forever: without an outcome at its deadline it is unconfirmed, and a look saw nothing. */
void effect_expire(struct deciding *d, struct effect_slot *slot) {
    if (effect_renew(d, slot))
        return;
    if (EFFECTS[slot->kind].promise == PROMISE_REPEAT)
        slot_ended(d, slot, false);
    else
        effect_lose(d, slot, STR("effect.deadline"), STR("no outcome within its time"));
}
