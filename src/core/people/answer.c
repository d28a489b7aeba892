/* SPDX-License-Identifier: Apache-2.0 */
/* Applies an answer: what follows for the work that the question was about, and when the agent is sent it. ESCALATE-14, REQUEST-01.
 *
 * The causes and their options are rows of model/cause.c. An answer to any other cause is sent to the agent that
 * asked. */
#include "core/admission/permit.h"
#include "core/assignment.h"
#include "core/check.h"
#include "core/detect/detect.h"
#include "core/effect.h"
#include "core/liveness.h"
#include "core/people/message.h"
#include "core/people/question.h"
#include "core/plan/node.h"

/* ---- whether the work continues ---- */

static void work_give_up(struct deciding *d, uint32_t at_node, struct str rule) {
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, at_node);
    if (node_status_may_become(node->status, NODE_CANCELLED))
        node_move(d, node, NODE_CANCELLED, BY_WORK,
                  (struct evidence){.rule = rule, .reason = d->signal->reason});
    plan_settle(d);
}

/* A person has granted new attempts. */
static void chances_renew(struct deciding *d, uint32_t at_node) {
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, at_node);
    node->attempts = 0;
    node_touch(d, node);
}

/* "try again", "give it to another agent": the current run ends. */
static void answer_carry_out(struct deciding *d, struct assignment *assignment, uint32_t option) {
    assignment->wait.answered = 0;
    assignment->wait.on = WAITS_FOR_NOTHING;
    candidate_forget(d,
                     assignment); /* the candidate that passed is not what the new run will make */
    if (option == STALLED_OTHER_AGENT && ladder_reassign(d, assignment))
        return;
    uint32_t n = assignment->n;
    questions_drop(d, n, STR("answer.again")); /* any other question about it */
    assignment = assignments_find(&d->decision->live.assignments, n);
    assignment->wait.question = 0;
    assignment_run_end(d, assignment); /* the new run is instructed from the beginning */
    if (assignment->status == ASSIGNMENT_BLOCKED || assignment->status == ASSIGNMENT_QUEUED) {
        permit_return(d, assignment, true);
        assignment_again(d, assignment, STR("answer.again"));
    }
    assignment_noted(d, n, STR("answer.again"));
}

/* The answer is about what was seen when the question was asked, and the agent may have become active since. If a few
 * looks see nothing, the person's answer is carried out. */
bool answer_looked(struct deciding *d, struct assignment *assignment,
                   const struct observation *seen) {
    bool blind = saw_nothing(seen);
    if (assignment->wait.answered == 0)
        return false;
    assignment->liveness.unseen = blind ? assignment->liveness.unseen + 1 : 0;
    if (!blind && assignment_lives(d, assignment, seen))
        return true;
    if (!blind || assignment->liveness.unseen >= UNSEEN_MOST)
        answer_carry_out(d, assignment, assignment->wait.answered);
    return true;
}

void answer_go_on(struct deciding *d, struct assignment *assignment) {
    if (assignment->ended || assignment->run == 0)
        answer_carry_out(d, assignment, assignment->wait.answered);
    else if (assignment->delivery.effect == 0 && dispatch_has_room(d))
        assignment_look(d, assignment, 0, STR("answer.look"));
}

/* Nothing is done to an adopted session: it is watched from now on as if it had just been seen, or anew if it had
 * ended. */
static void watched_answered(struct deciding *d, struct assignment *assignment, uint32_t option) {
    assignment->wait.on = WAITS_FOR_NOTHING;
    if (option == ADOPTED_DONE) {
        assignment_done(d, assignment,
                        (struct ending){.rule = STR("answer.accepted"),
                                        .evidence = STR("a person says so"),
                                        .proof = PROOF_PERSON});
        return;
    }
    assignment->recovery.rung = assignment->recovery.first;
    if (assignment->ended) {
        chances_renew(d, assignment->node);
        assignment_again(d, assignment, STR("answer.again"));
        return;
    }
    assignment->liveness.last_activity_at = d->signal->at;
    assignment_wakes(d, assignment, STR("answer.again"));
}

/* Work that passed its checks and did not land is landed once more: no agent has to make it again. */
static bool land_again(struct deciding *d, struct assignment *assignment, uint32_t option) {
    if (option > STALLED_AGAIN || !assignment->check.commit[0] ||
        !its_repository(d).landing.automatic)
        return false;
    assignment->wait.question = 0;
    assignment->check.rechecks = 0;
    assignment->wait.on = WAITS_FOR_NOTHING;
    if (assignment->status == ASSIGNMENT_BLOCKED)
        assignment_move(d, assignment, ASSIGNMENT_ACTIVE,
                        (struct evidence){.rule = STR("answer.again")});
    work_passed(d, assignment, STR("answer.again"));
    return true;
}

void answer_begin_again(struct deciding *d, struct assignment *assignment) {
    chances_renew(d, assignment->node);
    answer_carry_out(d, assignment, STALLED_AGAIN);
}

void answer_give_up(struct deciding *d, struct assignment *assignment) {
    uint32_t at_node = assignment->node;
    assignment->wait.question = 0;
    assignment_stop(d, assignment, STR("answer.stop"), STR("a person said so"));
    work_give_up(d, at_node, STR("answer.stop"));
}

static void ladder_answered(struct deciding *d, struct assignment *assignment, uint32_t option) {
    uint32_t at_node = assignment->node;
    if (option == STALLED_STOP) {
        answer_give_up(d, assignment);
        return;
    }
    assignment->wait.question = 0;
    assignment->wait.on = WAITS_FOR_RETRY;
    if (assignment_is_adopted(assignment)) {
        watched_answered(d, assignment, option);
        return;
    }
    assignment->wait.answered = option ? option : STALLED_AGAIN;
    assignment->liveness.unseen = 0;
    assignment->recovery.rung = assignment->recovery.first;
    assignment->recovery.moves = assignment->recovery.retries = assignment->recovery.restarts = 0;
    chances_renew(d, at_node);
    assignment_touch(d, assignment);
    answer_go_on(d, assignment);
}

/* Denied or failed: the work waits as a node without an assignment. */
static void stopped_answered(struct deciding *d, const struct question *question) {
    plan_edit(d, 0);
    struct node *node = plan_find(&d->decision->plan, str_of(cause_name(question)));
    if (!node || node->status != NODE_BLOCKED)
        return;
    if (question->answer.option == STOPPED_GIVE_UP) {
        work_give_up(d, node->n, STR("answer.stop"));
        return;
    }
    node->attempts = 0;
    node_move(d, node, NODE_QUEUED, BY_WORK, (struct evidence){.rule = STR("answer.again")});
    plan_settle(d);
}

/* A person has looked at the work. */
static bool done_answered(struct deciding *d, struct assignment *assignment,
                          const struct question *question) {
    if (!cause_is(question, CAUSE_DONE))
        return false;
    if (question->answer.option !=
        DONE_ACCEPT) { /* a candidate that passed no longer lands by itself */
        done_forget(d, assignment);
        return false;
    }
    assignment->wait.question = 0;
    assignment->check.approved = 1;
    assignment->wait.on = WAITS_FOR_NOTHING;
    if (assignment->check.commit[0] && its_repository(d).landing.automatic) {
        if (assignment->status == ASSIGNMENT_BLOCKED)
            assignment_move(d, assignment, ASSIGNMENT_ACTIVE,
                            (struct evidence){.rule = STR("answer.accepted")});
        work_passed(d, assignment, STR("answer.accepted"));
    } else
        assignment_done(
            d, assignment,
            (struct ending){.rule = STR("answer.accepted"),
                            .evidence = STR("a person accepted it"),
                            .proof = assignment->check.commit[0] ? PROOF_CHECKED : PROOF_PERSON});
    return true;
}

/* ---- what the agent is sent ---- */

/* An agent in a permission dialog is sent only the permission: any other answer follows it, after whatever else the
 * agent has not heard. The agent continues if nothing else holds it. */
static bool answer_comes_later(struct deciding *d, struct assignment *assignment,
                               struct hash answer) {
    struct str dialog = permission_cause(d, assignment);
    bool in_dialog = questions_about(&d->decision->live.questions, dialog) != NULL;
    if (!in_dialog && !assignment->outgoing.undelivered)
        return false;
    bool blocked =
        assignment->status == ASSIGNMENT_BLOCKED && assignment->wait.on != WAITS_FOR_QUOTA;
    words_put_by(d, assignment, WORDS_ANSWER, answer);
    if (!in_dialog && blocked && (assignment->ended || !assignment->run)) {
        permit_return(d, assignment, true);
        assignment_again(d, assignment, STR("answer.given"));
    } else if (!in_dialog && blocked) {
        assignment->wait.on = WAITS_FOR_NOTHING;
        assignment_move(d, assignment, ASSIGNMENT_ACTIVE,
                        (struct evidence){.rule = STR("answer.given")});
        reply_due(d, assignment);
    }
    return true;
}

/* The agent has reported done meanwhile: that is checked first, and the answer is sent if the work is not done. */
static bool checked_first(struct deciding *d, struct assignment *assignment, struct hash answer) {
    bool lands = assignment->check.commit[0] && its_repository(d).landing.automatic;
    if (assignment->wait.question || (assignment->wait.on != WAITS_FOR_CHECK && !lands))
        return false;
    if (!lands)
        words_put_by(d, assignment, WORDS_ANSWER, answer);
    if (assignment->status == ASSIGNMENT_BLOCKED)
        assignment_move(d, assignment, ASSIGNMENT_ACTIVE,
                        (struct evidence){.rule = STR("answer.given")});
    assignment->wait.on = WAITS_FOR_CHECK;
    assignment_touch(d, assignment);
    check_go_on(d, assignment);
    return true;
}

/* ESCALATE-14: the answer goes with the next instruction, and the assignment continues. */
static void answer_say(struct deciding *d, struct assignment *assignment,
                       const struct question *question) {
    bool withdrawn = hash_is_zero(&question->answer.text),
         permission = cause_is(question, CAUSE_PERMISSION);
    struct hash answer = withdrawn
                             ? decide_text(d, STR("It was withdrawn: go on without an answer."))
                             : question->answer.text;
    if (!permission &&
        (checked_first(d, assignment, answer) || answer_comes_later(d, assignment, answer)))
        return;
    outgoing_set(d, assignment, permission ? WORDS_NONE : WORDS_ANSWER, answer);
    assignment->outgoing.permits = !permission                                   ? PERMISSION_NONE
                                   : question->answer.option == PERMISSION_ALLOW ? PERMISSION_YES
                                                                                 : PERMISSION_NO;
    if (question->of == OF_PERSON)
        chances_renew(d, assignment->node);
    if (assignment->wait.on == WAITS_FOR_QUOTA || assignment->status == ASSIGNMENT_QUEUED) {
        assignment_touch(d, assignment); /* sent with the next instruction, when it continues */
        return;
    }
    bool hears = assignment->run && !assignment->ended && assignment->delivery.effect == 0 &&
                 dispatch_has_room(d);
    assignment->wait.on = WAITS_FOR_NOTHING;
    assignment->liveness.expected_next_at = 0;
    if (assignment->status != ASSIGNMENT_BLOCKED && (!hears || withdrawn)) {
        assignment_touch(d, assignment);
        return;
    }
    if (hears) { /* REQUEST-01: also the second of several answers, when the agent works again */
        assignment->liveness.last_activity_at = d->signal->at;
        if (assignment->status == ASSIGNMENT_BLOCKED)
            assignment_move(d, assignment, ASSIGNMENT_ACTIVE,
                            (struct evidence){.rule = STR("answer.given")});
        assignment_reply(d, assignment, WORDS_ANSWER);
    } else {
        permit_return(d, assignment, true);
        assignment_again(d, assignment, STR("answer.given"));
    }
}

/* Decides whether the work continues at all: the person's own words go with it, unless a message that the agent has not
 * heard is still queued; that one stays. */
static void fate_decided(struct deciding *d, struct assignment *assignment,
                         const struct question *question) {
    assignment->outgoing.permits = PERMISSION_NONE;
    if (!assignment->outgoing.undelivered && !hash_is_zero(&question->answer.text))
        assignment->outgoing.text = question->answer.text;
    if (!cause_is(question, CAUSE_LANDING) || !land_again(d, assignment, question->answer.option))
        ladder_answered(d, assignment, question->answer.option);
}

void assignment_answered(struct deciding *d, const struct question *question) {
    struct assignment *assignment = NULL;
    live_edit(d, PART_ASSIGNMENT, 0);
    if (cause_is(question, CAUSE_DENIED) || cause_is(question, CAUSE_FAILED))
        stopped_answered(d, question);
    if (question->assignment)
        assignment = assignments_find(&d->decision->live.assignments, question->assignment - 1);
    if (!assignment || done_answered(d, assignment, question) ||
        brake_answered(d, assignment, question))
        return;
    if (question_is_fate(question))
        fate_decided(d, assignment, question);
    else
        answer_say(d, assignment, question);
}
