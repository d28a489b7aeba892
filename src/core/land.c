/* SPDX-License-Identifier: Apache-2.0 */
/* Lands work that passed its checks: the candidate that was checked, by its id, while it holds the slot of the lane.
 *
 *   passed ──▶ [ a person agrees to this commit ] ──▶ ask for the slot ──▶ push, if the target has not moved
 *     ▲                                                                          │ moved, or the check changed
 *     └────────── build on the new tip and check again, at most land_rechecks ◀──┘
 *
 * docs/decisions/0011, C-81. */
#include "base/planted.h"
#include "core/assignment.h"
#include "core/check.h"
#include "core/effect.h"
#include "core/rules.h"
#include "core/run_host.h"
#include "model/repository.h"
#include "model/verification.h"

/* ---- the slot ---- */

/* A repository may get another name or leave the settings while the slot is held: it is returned where it was asked for. */
static struct id slot_workspace(const struct deciding *d, const struct assignment *assignment) {
    static const struct id NONE;
    if (!id_equal(assignment->slot.workspace, NONE))
        return assignment->slot.workspace;
    return workspace_id(d->policy, d->decision->goal.repository, assignment->slot.host);
}

static void lane_tell(struct deciding *d, const struct assignment *assignment,
                      enum signal_kind kind, struct str reason) {
    struct goal *goal = &d->decision->goal;
    struct permit permit = {.goal = goal->id,
                            .assignment = assignment->n,
                            .turn = assignment->slot.turn,
                            .repository = goal->repository};
    name_put(permit.agent, sizeof permit.agent, str_of(assignment->agent));
    decide_tell(d, (struct signal){.kind = kind,
                                   .goal = slot_workspace(d, assignment),
                                   .admission = assignment->slot.host,
                                   .about.assignment = assignment->n + 1,
                                   .reason = reason,
                                   .body = shape_encode(&PERMIT, &permit, d->out)});
}

/* A fleet that includes an older host has no lane yet: its pushes still compare and swap. */
static bool has_lane(const struct deciding *d) {
    return d->world->level >= LEVEL_LANE;
}

/* An ask has the number of the effect that carries it: never reused, and increasing. */
static void slot_ask(struct deciding *d, struct assignment *assignment) {
    assignment->slot.state = has_lane(d) ? SLOT_ASKED : SLOT_HELD;
    assignment->slot.turn = d->decision->goal.effects.made + 1;
    assignment->slot.host = d->decision->goal.owner;
    if (d->decision->goal.repository != 0)
        assignment->slot.workspace =
            workspace_id(d->policy, d->decision->goal.repository, assignment->slot.host);
    assignment_touch(d, assignment);
    if (has_lane(d))
        lane_tell(d, assignment, SIGNAL_LANE_ASK, STR(""));
    decide_record(d, RECORD_ASSIGNMENT_WAITS,
                  assignment_evidence(d, assignment,
                                      (struct evidence){.rule = STR("work.lane"),
                                                        .text = str_of(assignment->check.commit),
                                                        .to = STR("lane")}));
}

void slot_leave(struct deciding *d, struct assignment *assignment, struct str why) {
    if (assignment->slot.state == SLOT_NONE)
        return;
    bool known = !planted(SLOT_KEPT) || !work_is_elsewhere(d, assignment);
    if (known && has_lane(d) && d->decision->goal.effects.open_count < LIMIT_OPEN_EFFECTS)
        lane_tell(d, assignment, SIGNAL_LANE_RETURN, why);
    assignment->slot.state = SLOT_NONE;
    assignment->slot.turn = assignment->slot.host = 0;
    assignment->slot.workspace = (struct id){0};
    assignment_touch(d, assignment);
}

static void lane_decline(struct deciding *d) {
    if (d->decision->goal.effects.open_count < LIMIT_OPEN_EFFECTS)
        decide_tell(d, (struct signal){.kind = SIGNAL_LANE_RETURN,
                                       .goal = workspace_id(d->policy, d->decision->goal.repository,
                                                            d->signal->admission),
                                       .admission = d->signal->admission,
                                       .about.assignment = d->signal->about.assignment,
                                       .reason = STR("nothing waits for it any more"),
                                       .body = d->signal->body});
}

/* A grant for an older ask, or for work that is over, is returned. */
void rule_lane_granted(struct deciding *d) {
    struct assignment *assignment = assignment_at_hand(d);
    if (assignment && assignment->slot.state == SLOT_HELD && assignment->slot.turn == d->signal->to)
        return;
    if (!assignment || assignment->slot.state != SLOT_ASKED ||
        assignment->slot.turn != d->signal->to) {
        lane_decline(d);
        return;
    }
    assignment->slot.state = SLOT_HELD;
    assignment_touch(d, assignment);
    decide_record(d, RECORD_ASSIGNMENT_WAITS,
                  assignment_evidence(d, assignment,
                                      (struct evidence){.rule = STR("lane.granted"),
                                                        .text = str_of(assignment->check.commit),
                                                        .to = STR("slot")}));
    check_go_on(d, assignment);
}

/* ---- landing ---- */

/* Work that passed is done once it has landed, if the policy lands work; else at once. */
void work_passed(struct deciding *d, struct assignment *assignment, struct str rule) {
    struct str evidence = arena_format(d->out, "checked: commit %s", assignment->check.commit);
    if (!its_repository(d).landing.automatic) {
        assignment_done(
            d, assignment,
            (struct ending){.rule = rule, .evidence = evidence, .proof = PROOF_CHECKED});
        return;
    }
    assignment->wait.on = WAITS_FOR_CHECK;
    assignment_touch(d, assignment);
    check_go_on(d, assignment);
}

void land_go_on(struct deciding *d, struct assignment *assignment) {
    if (assignment->slot.state == SLOT_NONE)
        slot_ask(d, assignment);
    if (assignment->slot.state == SLOT_HELD)
        work_effect(d, assignment, EFFECT_LAND, STR("work.land"));
}

/* The verdict does not hold for what would land now. The candidate is built and checked again while it holds the slot.
 * A person who has agreed to it is shown the new one only if it looks different: candidate_take(). */
static void candidate_renew(struct deciding *d, struct assignment *assignment, struct str why) {
    if (assignment->check.rechecks >= its_repository(d).landing.rechecks) {
        slot_leave(d, assignment, why);
        landing_ask(d, assignment, STR("work.not-landed"), d->signal->text,
                    STR("its target moved each time that it was to land"));
        return;
    }
    assignment->check.rechecks++;
    assignment->check.recheck = !planted(VERDICT_FOR_ANY_TIP);
    if (planted(VERDICT_FOR_ANY_TIP))
        assignment->check.onto[0] = 0;
    assignment->wait.on = WAITS_FOR_CHECK;
    assignment_touch(d, assignment);
    check_go_on(d, assignment);
}

/* The target moved, so a push that the lost host may still make is refused: this candidate cannot land any more. It is
 * built again on the host that has the work. */
static void candidate_moved(struct deciding *d, struct assignment *assignment) {
    if (work_is_elsewhere(d, assignment))
        work_strand(d, assignment);
    else
        candidate_renew(d, assignment, STR("its target moved"));
}

/* Says where the work landed, and which pull request waits for review. */
static struct ending landed_ending(struct deciding *d, const struct assignment *assignment) {
    struct str where = str_cut_utf8(d->signal->outcome.reference, LIMIT_NAME);
    struct str pull = str_cut_utf8(d->signal->text, LIMIT_URL);
    return (struct ending){.rule = STR("work.land"),
                           .evidence =
                               arena_format(d->out, "checked and landed: commit %s, %.*s%s%.*s",
                                            assignment->check.commit, STR_ARG(where),
                                            pull.len ? ", " : "", STR_ARG(pull)),
                           .proof = PROOF_LANDED,
                           .landed = pull.len ? pull : where};
}

static struct str not_landed_why(const struct deciding *d, const struct assignment *assignment,
                                 enum landed landed) {
    if (landed == LANDED_PUSHED)
        return STR("what passed its checks was pushed, and its pull request could not be opened");
    if (work_is_elsewhere(d, assignment))
        return STR("its host was lost while it landed: the target does not have it, and may get it "
                   "when that host is back");
    return STR("what passed its checks could not be landed");
}

void land_ended(struct deciding *d, const struct effect_slot *slot) {
    struct assignment *assignment = assignment_waited(d, slot);
    bool known = d->signal->kind == SIGNAL_EFFECT_ENDED && d->signal->to < LANDING_COUNT;
    enum landed landed = known ? (enum landed)d->signal->to : LANDED_NOT;
    if (!assignment)
        return;
    verdict_record(d, landed == LANDED_YES ? RECORD_WORK_LANDED : RECORD_WORK_NOT_LANDED,
                   assignment, STR("work.land"), str_of(name_of(&LANDED_NAMES, landed)));
    switch (landed) {
    case LANDED_YES: assignment_done(d, assignment, landed_ending(d, assignment)); return;
    case LANDED_MOVED: candidate_moved(d, assignment); return;
    case LANDED_RECHECK:
        if (work_is_elsewhere(d, assignment))
            break; /* the lost host may still push it */
        candidate_renew(d, assignment, STR("its check has changed"));
        return;
    default: break;
    }
    slot_leave(d, assignment, STR("it could not be landed"));
    landing_ask(d, assignment, STR("work.not-landed"), d->signal->text,
                not_landed_why(d, assignment, landed));
}
