/* SPDX-License-Identifier: Apache-2.0 */
/* How does work that passed its checks land? The candidate that was checked, by its id, from the slot of the lane.
 *
 *   passed ──▶ [ a person agrees to this commit ] ──▶ ask for the slot ──▶ push, if the target is where it was
 *     ▲                                                                          │ moved, or checked otherwise
 *     └────────── build on the new tip and check again, at most land_rechecks ◀──┘
 *
 * docs/decisions/0011, C-81. */
#include "base/planted.h"
#include "core/rules.h"
#include "model/lane.h"
#include "model/verification.h"

/* ---- the slot ---- */

static void lane_tell(struct deciding *d, const struct charge *charge, enum signal_kind kind,
                      struct str reason) {
    struct goal *goal = &d->decision->goal;
    struct permit permit = {.goal = goal->id, .charge = charge->n, .turn = charge->slot_turn};
    name_put(permit.agent, sizeof permit.agent, str_of(charge->agent));
    decide_tell(d, (struct signal){.kind = kind,
                                   .goal = workspace_id(d->policy, charge->slot_host),
                                   .desk = charge->slot_host,
                                   .charge = charge->n + 1,
                                   .reason = reason,
                                   .body = shape_encode(&PERMIT, &permit, d->out)});
}

/* A fleet that has an older host in it has no lane yet: its pushes still compare and swap. */
static bool has_lane(const struct deciding *d) {
    return d->world->level >= LEVEL_LANE;
}

/* The number of an ask is that of the effect that carries it: never used twice, and growing. */
static void slot_ask(struct deciding *d, struct charge *charge) {
    charge->slot = has_lane(d) ? SLOT_ASKED : SLOT_HELD;
    charge->slot_turn = d->decision->goal.effects_made + 1;
    charge->slot_host = d->decision->goal.owner;
    charge_touch(d, charge);
    if (has_lane(d))
        lane_tell(d, charge, SIGNAL_LANE_ASK, STR(""));
    decide_record(d, RECORD_CHARGE_WAITS,
                  charge_evidence(d, charge,
                                  (struct evidence){.rule = STR("work.lane"),
                                                    .text = str_of(charge->commit),
                                                    .to = STR("lane")}));
}

void slot_leave(struct deciding *d, struct charge *charge, struct str why) {
    if (charge->slot == SLOT_NONE)
        return;
    bool told = !planted(SLOT_KEPT) || !work_is_elsewhere(d, charge);
    if (told && has_lane(d) && d->decision->goal.open_count < LIMIT_OPEN_EFFECTS)
        lane_tell(d, charge, SIGNAL_LANE_RETURN, why);
    charge->slot = SLOT_NONE;
    charge->slot_turn = charge->slot_host = 0;
    charge_touch(d, charge);
}

static void lane_decline(struct deciding *d) {
    if (d->decision->goal.open_count < LIMIT_OPEN_EFFECTS)
        decide_tell(d, (struct signal){.kind = SIGNAL_LANE_RETURN,
                                       .goal = workspace_id(d->policy, d->signal->desk),
                                       .desk = d->signal->desk,
                                       .charge = d->signal->charge,
                                       .reason = STR("nothing waits for it any more"),
                                       .body = d->signal->body});
}

/* An answer to an older ask, or to work that is over, gives the slot back. */
void rule_lane_granted(struct deciding *d) {
    struct charge *charge = charge_in_hand(d);
    if (charge && charge->slot == SLOT_HELD && charge->slot_turn == d->signal->to)
        return;
    if (!charge || charge->slot != SLOT_ASKED || charge->slot_turn != d->signal->to) {
        lane_decline(d);
        return;
    }
    charge->slot = SLOT_HELD;
    charge_touch(d, charge);
    decide_record(d, RECORD_CHARGE_WAITS,
                  charge_evidence(d, charge,
                                  (struct evidence){.rule = STR("lane.granted"),
                                                    .text = str_of(charge->commit),
                                                    .to = STR("slot")}));
    check_go_on(d, charge);
}

/* ---- landing ---- */

/* What passed is done once it has landed, where it has to. */
void work_passed(struct deciding *d, struct charge *charge, struct str rule) {
    struct str evidence = arena_format(d->out, "checked: commit %s", charge->commit);
    if (!d->policy->lands) {
        charge_done(d, charge,
                    (struct ending){.rule = rule, .evidence = evidence, .proof = PROOF_CHECKED});
        return;
    }
    charge->waiting = WAITS_FOR_CHECK;
    charge_touch(d, charge);
    check_go_on(d, charge);
}

void land_go_on(struct deciding *d, struct charge *charge) {
    if (charge->slot == SLOT_NONE)
        slot_ask(d, charge);
    if (charge->slot == SLOT_HELD)
        work_effect(d, charge, EFFECT_LAND, STR("work.land"));
}

/* Its verdict does not hold for what would land now. Built and checked again, under the slot. A person who has agreed to it
 * is shown the new one only if it looks different: candidate_take(). */
static void candidate_renew(struct deciding *d, struct charge *charge, struct str why) {
    if (charge->rechecks >= d->policy->land_rechecks) {
        slot_leave(d, charge, why);
        landing_ask(d, charge, STR("work.not-landed"), d->signal->text,
                    STR("its target moved each time that it was to land"));
        return;
    }
    charge->rechecks++;
    charge->recheck = !planted(VERDICT_FOR_ANY_TIP);
    if (planted(VERDICT_FOR_ANY_TIP))
        charge->onto[0] = 0;
    charge->waiting = WAITS_FOR_CHECK;
    charge_touch(d, charge);
    check_go_on(d, charge);
}

/* Its target moved, so what the lost host may still push is refused: it cannot land any more. It is built where the work is. */
static void candidate_moved(struct deciding *d, struct charge *charge) {
    if (work_is_elsewhere(d, charge))
        work_strand(d, charge);
    else
        candidate_renew(d, charge, STR("its target moved"));
}

/* Where it is, and which pull request waits for review. */
static struct ending landed_ending(struct deciding *d, const struct charge *charge) {
    struct str where = str_cut_utf8(d->signal->title, LIMIT_NAME);
    struct str pull = str_cut_utf8(d->signal->text, LIMIT_URL);
    return (struct ending){.rule = STR("work.land"),
                           .evidence = arena_format(
                               d->out, "checked and landed: commit %s, %.*s%s%.*s", charge->commit,
                               STR_ARG(where), pull.len ? ", " : "", STR_ARG(pull)),
                           .proof = PROOF_LANDED,
                           .landed = pull.len ? pull : where};
}

static struct str not_landed_why(const struct deciding *d, const struct charge *charge,
                                 enum landed landed) {
    if (landed == LANDED_PUSHED)
        return STR("what passed its checks was pushed, and its pull request could not be opened");
    if (work_is_elsewhere(d, charge))
        return STR("its host was lost while it landed: the target does not have it, and may get it "
                   "when that host is back");
    return STR("what passed its checks could not be landed");
}

void land_ended(struct deciding *d, const struct effect_slot *slot) {
    struct charge *charge = charge_waited(d, slot);
    bool told = d->signal->kind == SIGNAL_EFFECT_ENDED && d->signal->to < LANDEDS;
    enum landed landed = told ? (enum landed)d->signal->to : LANDED_NOT;
    if (!charge)
        return;
    verdict_record(d, landed == LANDED_YES ? RECORD_WORK_LANDED : RECORD_WORK_NOT_LANDED, charge,
                   STR("work.land"), str_of(name_of(&LANDED_NAMES, landed)));
    switch (landed) {
    case LANDED_YES: charge_done(d, charge, landed_ending(d, charge)); return;
    case LANDED_MOVED: candidate_moved(d, charge); return;
    case LANDED_RECHECK:
        if (work_is_elsewhere(d, charge))
            break; /* the lost host may still push it */
        candidate_renew(d, charge, STR("its check has changed"));
        return;
    default: break;
    }
    slot_leave(d, charge, STR("it could not be landed"));
    landing_ask(d, charge, STR("work.not-landed"), d->signal->text,
                not_landed_why(d, charge, landed));
}
