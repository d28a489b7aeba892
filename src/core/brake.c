/* SPDX-License-Identifier: Apache-2.0 */
/* Handles a run that the host has frozen because the disk is nearly full or the run has used too much of it. G-20, H7.
 *
 * The host freezes without asking, and never kills: there may have been no room to ask. Everything after that is
 * decided here: the assignment is blocked, a person is asked, and only their answer lets the run continue (EFFECT_THAW)
 * or ends it. */
#include "core/assignment.h"
#include "core/effect.h"
#include "core/people/question.h"
#include "core/rules.h"

static struct question_text text_of(struct deciding *d, const struct assignment *assignment) {
    static const struct str ADVICE[] = {
        STR("Free space, or raise the limit that the text names, and answer 1: the run goes on where it was frozen."),
        STR("Nothing that it made is lost: its worktree stays, and what it has is salvaged when it ends.")};
    const char *node = plan_node(&d->decision->plan, assignment->node)->id;
    return (struct question_text){
        .title = arena_format(d->out, "%s is frozen: %.*s", node,
                              STR_ARG(str_cut_utf8(d->signal->reason, LIMIT_REASON))),
        .text = d->signal->text,
        .options = cause_options(CAUSE_DISK),
        .recommendations = {ADVICE, count_of(ADVICE)},
        .rule = STR("brake.disk"),
        .reason = d->signal->reason};
}

/* ---- paid extra usage ---- */

/* Its admission asks about the account, once for all its runs: core/admission/overage.c. What waits for something else
 * goes on waiting for that. */
static void overage_frozen(struct deciding *d, struct assignment *assignment) {
    bool works = assignment->wait.on == WAITS_FOR_NOTHING &&
                 d->world->level >= LEVEL_TASK_BATCHES && /* an older host could not read it */
                 assignment_status_may_become(assignment->status, ASSIGNMENT_BLOCKED);
    if (!works)
        return;
    assignment->wait.on = WAITS_FOR_OVERAGE;
    assignment->wait.until = d->signal->until;
    assignment_move(d, assignment, ASSIGNMENT_BLOCKED,
                    (struct evidence){.rule = STR("brake.overage"),
                                      .reason = str_cut_utf8(d->signal->reason, LIMIT_BLOCKED),
                                      .text = arena_copy(d->out, str_of(assignment->account)),
                                      .until = d->signal->until});
}

/* The host has let its run go on. */
static void overage_over(struct deciding *d, struct assignment *assignment) {
    if (assignment->wait.on != WAITS_FOR_OVERAGE)
        return;
    assignment->wait.on = WAITS_FOR_NOTHING;
    assignment->wait.until = 0;
    assignment->liveness.last_activity_at = d->signal->at;
    assignment_touch(d, assignment);
    assignment_move(d, assignment, ASSIGNMENT_ACTIVE,
                    (struct evidence){.rule = STR("brake.overage-over")});
}

static void overage_braked(struct deciding *d, struct assignment *assignment) {
    switch (d->signal->to) {
    case BRAKING_OVERAGE: overage_frozen(d, assignment); break;
    case BRAKING_OVERAGE_OVER: overage_over(d, assignment); break;
    case BRAKING_OVERAGE_ENDS:
        if (assignment->wait.on == WAITS_FOR_OVERAGE)
            answer_give_up(d, assignment);
        break;
    default: decide_refuse(d, ERROR_INVALID);
    }
}

/* Once per freeze. Nothing follows for a run that is over or not the current one: whatever ended it ends the hold, too. */
void rule_braked(struct deciding *d) {
    struct assignment *assignment = assignment_at_hand(d);
    if (!assignment || assignment->ended || assignment->run == 0 ||
        assignment->run != d->signal->effect)
        return;
    if (d->signal->to != BRAKING_DISK) {
        overage_braked(d, assignment);
        return;
    }
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    struct asking asking = {.kind = QUESTION_DECIDE,
                            .alarm = ALARM_CRITICAL,
                            .cause = cause_text(CAUSE_DISK, node->id, d->out),
                            .assignment = assignment,
                            .text = text_of(d, assignment),
                            .holds = true};
    decide_record(
        d, RECORD_RUN_BRAKED,
        assignment_evidence(d, assignment,
                            (struct evidence){.rule = STR("brake.disk"),
                                              .reason = d->signal->reason,
                                              .text = str_cut_utf8(d->signal->text, LIMIT_LINE)}));
    if (!(assignment = assignment_asks(d, assignment->n, asking)))
        return; /* too many questions are open: the record and `status` say it */
    if (assignment_status_may_become(assignment->status, ASSIGNMENT_BLOCKED))
        assignment_move(
            d, assignment, ASSIGNMENT_BLOCKED,
            (struct evidence){.rule = STR("brake.disk"),
                              .reason = str_cut_utf8(d->signal->reason, LIMIT_BLOCKED)});
}

/* The run continues where it was; silence counts from now. */
static void run_thaw(struct deciding *d, struct assignment *assignment) {
    assignment->wait.question = 0;
    assignment->wait.on = WAITS_FOR_NOTHING;
    assignment->liveness.last_activity_at = d->signal->at;
    assignment_touch(d, assignment);
    if (assignment->status == ASSIGNMENT_BLOCKED)
        assignment_move(d, assignment, ASSIGNMENT_ACTIVE,
                        (struct evidence){.rule = STR("brake.go-on")});
    effect_make(d, agent_effect(d, assignment, EFFECT_THAW));
}

bool brake_answered(struct deciding *d, struct assignment *assignment,
                    const struct question *question) {
    if (!cause_is(question, CAUSE_DISK))
        return false;
    bool runs = assignment->run != 0 && !assignment->ended;
    if (question->answer.option == DISK_GIVE_UP)
        answer_give_up(d, assignment);
    else if (question->answer.option == DISK_RESTART || !runs || !dispatch_has_room(d))
        answer_begin_again(d, assignment);
    else
        run_thaw(d, assignment);
    return true;
}
