/* SPDX-License-Identifier: Apache-2.0 */
/* Handles an agent's update: how much of it is believed, and what follows. UPDATE-03 to UPDATE-10, CRYSTAL-07. */
#include "core/assignment.h"
#include "core/check.h"
#include "core/effect.h"
#include "core/liveness.h"
#include "core/people/message.h"
#include "core/people/question.h"
#include "core/plan/node.h"
#include "core/rules.h"
#include "model/update.h"
#include "model/verification.h"

/* UPDATE-06: if there are two assignments and the update does not say which one it is about, it belongs to neither. */
static struct assignment *assignment_meant(struct deciding *d, const struct update *update) {
    struct assignments *assignments = &d->decision->live.assignments;
    struct assignment *assignment = assignment_at_hand(d);
    if (update->node.len == 0)
        return assignment                                                     ? assignment
               : assignments->count == 1 && d->signal->sender.by != WHO_AGENT ? assignments->at
                                                                              : NULL;
    const struct node *node = plan_find(&d->decision->plan, update->node);
    struct assignment *named = node ? assignments_of_node(assignments, node->n) : NULL;
    if (d->signal->about.assignment && !assignment)
        return NULL; /* the sender's assignment was replaced: its update must not end another agent's work */
    return !assignment || assignment == named ? named
                                              : NULL; /* an agent reports only on its own work */
}

static void update_held(struct deciding *d, const struct update *update) {
    decide_record(d, RECORD_UPDATE_HELD,
                  (struct evidence){.rule = STR("update.unmatched"),
                                    .node = update->node,
                                    .text = update->summary,
                                    .reason = STR("nobody knows which work it is about")});
}

/* ---- the handoff it left ---- */

/* UPDATE-10, CRYSTAL-07: each assignment has one handoff, renewed by each update; what an update omits remains in the
 * records. */
static void handoff_renew(struct deciding *d, struct assignment *assignment,
                          const struct update *update) {
    struct goal *goal = &d->decision->goal;
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    if (update->summary.len == 0 && update->next.len == 0 && update->files.count == 0 &&
        update->tests.count == 0 && update->commits.count == 0)
        return;
    if (assignment->delivery.newest_handoff == 0)
        assignment->delivery.newest_handoff = ++goal->parts_made;
    struct handoff handoff = {
        .id = arena_format(d->out, "C_%u", assignment->delivery.newest_handoff - 1),
        .node = node_id(node),
        .summary = update->summary,
        .next_actions = {&update->next, update->next.len > 0},
        .blockers = update->blockers,
        .files = update->files,
        .tests = update->tests,
        .commits = update->commits,
        .session = str_of(assignment->session),
        .at = d->signal->at};
    struct str body = shape_encode(&HANDOFF, &handoff, d->out);
    decide_part(d, (struct part_change){.kind = PART_HANDOFF,
                                        .n = assignment->delivery.newest_handoff - 1,
                                        .name = handoff.id,
                                        .body = body});
    assignment->delivery.handoff = decide_text(d, body);
}

/* ---- the status it reports ---- */

static bool has_evidence(const struct update *update) {
    return update->files.count + update->tests.count + update->commits.count > 0;
}

static struct str evidence_text(struct deciding *d, const struct update *update) {
    struct str first = update->commits.count ? update->commits.at[0]
                       : update->tests.count ? update->tests.at[0]
                                             : update->files.at[0];
    return arena_format(d->out, "said, unverified: %u commits, %u tests, %u files: %.*s",
                        update->commits.count, update->tests.count, update->files.count,
                        STR_ARG(str_cut_utf8(first, LIMIT_NAME)));
}

static void status_refuse(struct deciding *d, struct assignment *assignment,
                          const struct update *update, const char *why) {
    decide_record(
        d, RECORD_UPDATE_REFUSED,
        assignment_evidence(d, assignment,
                            (struct evidence){.rule = STR("update.status"),
                                              .to = str_cut_utf8(update->status, LIMIT_TAG),
                                              .reason = str_of(why)}));
}

/* An agent that reports done without any evidence is asked for it once; the next time, a person is asked. */
static void done_doubted(struct deciding *d, struct assignment *assignment,
                         const struct update *update, const char *why) {
    status_refuse(d, assignment, update, why);
    if (assignment->recovery.asked) {
        ladder_ask(d, assignment, STR("update.done-twice"),
                   STR("it says done and has nothing to show for it"));
        return;
    }
    assignment->recovery.asked = 1;
    assignment_touch(d, assignment);
    if (assignment->delivery.effect == 0 && dispatch_has_room(d) &&
        !ladder_is_suspended(d, assignment))
        assignment_reply(d, assignment, WORDS_BLOCK);
}

static struct str done_reason(const struct assignment *assignment) {
    if (!assignment->check.commit[0])
        return STR("it says so; no check has looked at it");
    return assignment->check.judged == JUDGED_TESTS
               ? STR("its checks pass only with its own version of the tests: tests edited")
           : assignment->check.judged == JUDGED_RULES
               ? STR("its checks passed, and it changes CI or a check script: check rules edited")
               : STR("its checks passed; it is yours to accept");
}

void done_ask(struct deciding *d, struct assignment *assignment, struct str summary) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    uint32_t n = assignment->n;
    struct asking asking = {
        .kind = QUESTION_APPROVE,
        .alarm = ALARM_WARNING,
        .cause = cause_text(CAUSE_DONE, node->id, d->out),
        .assignment = assignment,
        .text = {.title = arena_format(d->out, "%s is done, says %s", node->id, assignment->agent),
                 .text = summary,
                 .options = cause_options(CAUSE_DONE),
                 .reason = done_reason(assignment),
                 .rule = STR("update.done")},
        .holds = true};
    if (!(assignment = assignment_asks(d, n, asking)))
        return;
    if (assignment_status_may_become(assignment->status, ASSIGNMENT_BLOCKED))
        assignment_move(d, assignment, ASSIGNMENT_BLOCKED,
                        (struct evidence){.rule = STR("update.done"),
                                          .reason = STR("it says done; a person checks")});
}

/* An agent that names a blocker does not count as working. */
static void blocked_ask(struct deciding *d, struct assignment *assignment,
                        const struct update *update) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    uint32_t n = assignment->n;
    struct str first =
        update->blockers.count ? update->blockers.at[0] : STR("it says that it is blocked");
    struct asking asking = {.kind = QUESTION_DECIDE,
                            .alarm = ALARM_CRITICAL,
                            .cause = cause_text(CAUSE_BLOCKED, node->id, d->out),
                            .assignment = assignment,
                            .text = {.title = arena_format(d->out, "%s is blocked", node->id),
                                     .text = first,
                                     .recommendations = update->blockers,
                                     .rule = STR("update.blocked")},
                            .holds = true};
    if (!(assignment = assignment_asks(d, n, asking)))
        return;
    assignment->wait.on = WAITS_FOR_ANSWER;
    if (assignment_status_may_become(assignment->status, ASSIGNMENT_BLOCKED))
        assignment_move(d, assignment, ASSIGNMENT_BLOCKED,
                        (struct evidence){.rule = STR("update.blocked"),
                                          .reason = str_cut_utf8(first, LIMIT_BLOCKED)});
}

/* An answer cannot be checked: it is kept, and the work is done, unverified. Files that the agent has changed do not land; they
 * are salvaged with its worktree. */
static void answer_take(struct deciding *d, struct assignment *assignment,
                        const struct update *update) {
    if (update->summary.len == 0) {
        done_doubted(d, assignment, update, "done needs the answer, in summary");
        return;
    }
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, assignment->node);
    node->result.answer = decide_text(d, update->summary);
    node_touch(d, node);
    assignment_done(d, assignment,
                    (struct ending){.rule = STR("update.answer"),
                                    .evidence = arena_format(
                                        d->out, "an answer, unverified: %.*s",
                                        STR_ARG(str_cut_utf8(update->summary, LIMIT_NAME))),
                                    .proof = PROOF_CLAIMED});
}

/* UPDATE-09: an illegal status change is refused, and the rest of the update stands. */
static void status_take(struct deciding *d, struct assignment *assignment,
                        const struct update *update) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    uint32_t to = NODE_IN_PROGRESS;
    bool blocked = update->blockers.count > 0;
    if (update->status.len > 0 && !names_find(&NODE_STATUS_NAMES, update->status, &to))
        status_refuse(d, assignment, update, "there is no such status");
    else if (to != NODE_IN_PROGRESS && assignment->status == ASSIGNMENT_QUEUED)
        status_refuse(d, assignment, update, "it has not begun again yet: it is asked once more");
    else if (to == NODE_DONE && node->status != NODE_IN_PROGRESS)
        status_refuse(d, assignment, update, "only work in progress can be done");
    else if (to == NODE_DONE && outgoing_message_waits(d, assignment))
        status_refuse(d, assignment, update, "a person has said something that it hears first");
    else if (to == NODE_DONE && node->contract.answer)
        answer_take(d, assignment, update);
    else if (to == NODE_DONE && (its_repository(d).checks.configured || node->contract.given ||
                                 !hash_is_zero(&assignment->check.contract)))
        check_begin(d, assignment);
    else if (to == NODE_DONE && !has_evidence(update))
        done_doubted(d, assignment, update, "done needs evidence: files, tests or commits");
    else if (to == NODE_DONE && its_repository(d).checks.by_person)
        done_ask(d, assignment, update->summary);
    else if (to == NODE_DONE)
        assignment_done(d, assignment,
                        (struct ending){.rule = STR("update.done"),
                                        .evidence = evidence_text(d, update),
                                        .proof = PROOF_CLAIMED});
    else if (to == NODE_BLOCKED || blocked)
        blocked_ask(d, assignment, update);
    else if (to != NODE_IN_PROGRESS)
        status_refuse(d, assignment, update, "an agent says in_progress, blocked or done");
}

/* TICK-13: an agent's own update is a sign of life. A person who was asked about its silence need not answer any more. */
void life_note(struct deciding *d, struct assignment *assignment) {
    bool held = assignment->status == ASSIGNMENT_BLOCKED &&
                assignment_question(d, assignment, CAUSE_STALLED);
    if (held && !assignment->ended)
        assignment_asked_no_more(d, assignment->n, stalled_cause(d, assignment),
                                 STR("update.life"));
    if (((held && !assignment->wait.question) || assignment->wait.answered) && !assignment->ended)
        assignment_wakes(d, assignment, STR("update.life"));
    assignment->liveness.last_activity_at = d->signal->at;
    assignment->liveness.expected_next_at =
        d->signal->until > d->signal->at ? d->signal->until : 0; /* TICK-12 */
    ladder_reset(assignment);
    start_alert_end(d, assignment, STR("update.life"));
    if (assignment->status == ASSIGNMENT_DISPATCHED || assignment->status == ASSIGNMENT_STALLED)
        assignment_move(d, assignment, ASSIGNMENT_ACTIVE,
                        (struct evidence){.rule = STR("update.life")});
    else
        assignment_touch(d, assignment);
}

/* REPORT-06: the completion report is kept whole. A malformed or missing one is no error: REPORT-08. */
static void report_keep(struct deciding *d, struct assignment *assignment,
                        const struct update *update) {
    if (update->completion == 0)
        return;
    if (update->by_tool) /* C-50: a report in prose is kept, but does not meet the requirement */
        assignment->progress.reported_last = 1;
    assignment->progress.completion = update->completion;
    assignment->progress.confidence = update->confidence;
    assignment->progress.report = decide_text(d, d->signal->body);
}

/* The context window was nearly full and the agent has written its handoff: a fresh run continues from there. */
static void handed_over(struct deciding *d, struct assignment *assignment) {
    bool heard = assignment->delivery.words == WORDS_HANDOVER &&
                 assignment->delivery.result == DELIVERY_ACCEPTED;
    if (assignment->recovery.handover && heard && !assignment->delivery.effect &&
        !assignment->outgoing.next && !hash_is_zero(&assignment->delivery.handoff))
        assignment_reply(d, assignment, WORDS_AGAIN);
}

/* UPDATE-05, UPDATE-07: a message without an update block reports nothing, and a malformed block is refused as a whole.
 * The agent is asked for a block once. */
static void update_missing(struct deciding *d) {
    struct assignment *assignment = assignment_at_hand(d);
    if (!assignment)
        return;
    if (d->signal->reason.len > 0)
        decide_record(d, RECORD_UPDATE_REFUSED,
                      assignment_evidence(d, assignment,
                                          (struct evidence){.rule = STR("update.form"),
                                                            .reason = d->signal->reason}));
    if (assignment->recovery.asked || assignment->delivery.effect || assignment->ended ||
        assignment->run == 0 || !dispatch_has_room(d) || ladder_is_suspended(d, assignment))
        return;
    assignment_reply(d, assignment, WORDS_BLOCK);
    assignment->recovery.asked = assignment->outgoing.next == WORDS_BLOCK;
    assignment_touch(d, assignment);
}

void rule_agent_update(struct deciding *d) {
    struct update update = {0};
    uint32_t entry;
    live_edit(d, PART_ASSIGNMENT, 0);
    if (d->signal->body.len == 0) {
        update_missing(d);
        return;
    }
    if (!shape_decode_in(&UPDATE, d->signal->body, d->out, &update) ||
        fields_broken(UPDATE.fields, UPDATE.count, &update, &entry) ||
        update.completion > COMPLETIONS || update.confidence > CONFIDENCES) {
        decide_refuse_because(d, ERROR_INVALID, STR("a field is too long or not text"));
        return;
    }
    struct assignment *assignment = assignment_meant(d, &update);
    if (!assignment) {
        update_held(d, &update);
        return;
    }
    decide_record(
        d, RECORD_UPDATE_TAKEN,
        assignment_evidence(d, assignment,
                            (struct evidence){.rule = STR("update.taken"),
                                              .to = str_cut_utf8(update.status, LIMIT_TAG),
                                              .text = str_cut_utf8(update.summary, LIMIT_LINE)}));
    if (assignment->outgoing.next == WORDS_BLOCK)
        reply_forget(assignment); /* the requested block has arrived */
    life_note(d, assignment);
    report_keep(d, assignment, &update);
    if (has_evidence(&update) || !str_equal(update.status, STR("done")))
        assignment->recovery.asked = 0;
    handoff_renew(d, assignment, &update);
    uint32_t n = assignment->n;
    status_take(d, assignment, &update);
    assignment = assignments_find(&d->decision->live.assignments, n);
    if (assignment && assignment->status == ASSIGNMENT_ACTIVE)
        handed_over(d, assignment);
}
