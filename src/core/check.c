/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether work that an agent calls done really is. VERIFY-01: the supervisor checks it itself, and checks the
 * commit that would land. */
#include "core/check.h"
#include "core/assignment.h"
#include "core/effect.h"
#include "core/liveness.h"
#include "core/people/message.h"
#include "core/plan/node.h"
#include "core/rules.h"
#include "model/verification.h"

/* ---- requesting a check ---- */

/* The command has its own limit, from when it begins. This one is for a check that is never started: other checks may
 * be queued before it for so long, and a forge may be unreachable for so long. */
static const int64_t QUEUED_MOST = MINUTES(360);

/* VERIFY-11: the contract that the run began with; a later change of the plan applies to the next run. Only a run that
 * began without a contract is held to what the plan says now. */
struct terms {
    struct hash text; /* zero: no file is required */
    enum on_failure then;
    bool report;
};

static struct terms terms_of(const struct deciding *d, const struct assignment *assignment) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    bool its_own = !hash_is_zero(&assignment->check.contract);
    struct terms terms = {
        .then = its_own ? assignment->check.on_failure : node->contract.on_failure,
        .report = its_own ? assignment->check.wants_report : node->contract.wants_report};
    if (its_own)
        terms.text = assignment->check.contract;
    else if (node->contract.given)
        terms.text = node->text;
    return terms;
}

void work_effect(struct deciding *d, struct assignment *assignment, enum effect_kind kind,
                 struct str rule) {
    struct effect effect = agent_effect(d, assignment, kind);
    effect.within = time_after(its_repository(d).checks.within, QUEUED_MOST);
    effect.candidate.conflict = str_of(assignment->check.conflict);
    if (kind == EFFECT_CHECK) {
        effect.text = terms_of(d, assignment).text;
        effect.candidate.snapshot =
            assignment->check.recheck ? str_of(assignment->check.snapshot) : STR("");
    } else {
        effect.candidate.commit = str_of(assignment->check.commit);
        effect.candidate.onto = str_of(assignment->check.onto);
        effect.candidate.digest = assignment->check.digest;
    }
    assignment->delivery.effect = effect_make(d, effect)->n + 1;
    assignment->wait.on = WAITS_FOR_CHECK;
    assignment->wait.until = 0;
    assignment_touch(d, assignment);
    decide_record(d, RECORD_ASSIGNMENT_WAITS,
                  assignment_evidence(d, assignment,
                                      (struct evidence){.rule = rule,
                                                        .effect = assignment->delivery.effect,
                                                        .text = str_of(assignment->check.commit),
                                                        .to = str_of(EFFECTS[kind].name)}));
}

bool check_waits(const struct assignment *assignment, int64_t at) {
    return assignment->wait.on == WAITS_FOR_CHECK && !assignment->delivery.effect &&
           assignment->wait.until > at;
}

bool check_go_on(struct deciding *d, struct assignment *assignment) {
    if (assignment->wait.on != WAITS_FOR_CHECK || assignment->delivery.effect ||
        assignment->wait.question)
        return false;
    if (check_waits(assignment, d->signal->at) || !dispatch_has_room(d))
        return true;
    if (!assignment->check.commit[0] || assignment->check.recheck)
        work_effect(d, assignment, EFFECT_CHECK,
                    assignment->check.recheck ? STR("work.recheck") : STR("work.check"));
    else
        land_go_on(d, assignment);
    return true;
}

/* Only the agent's report of done begins a check. */
void check_begin(struct deciding *d, struct assignment *assignment) {
    if (assignment->wait.on == WAITS_FOR_CHECK)
        return; /* it has already reported done */
    if (assignment->status == ASSIGNMENT_BLOCKED && !assignment->wait.question)
        assignment_move(d, assignment, ASSIGNMENT_ACTIVE,
                        (struct evidence){.rule = STR("work.check")});
    assignment->wait.on = WAITS_FOR_CHECK;
    assignment->wait.until = 0;
    candidate_forget(d, assignment);
    check_go_on(d, assignment);
}

/* ---- results ---- */

struct assignment *assignment_waited(struct deciding *d, const struct effect_slot *slot) {
    struct assignment *assignment = assignment_of_effect(d, slot->n);
    if (!assignment)
        return NULL;
    assignment->delivery.effect = 0;
    if (assignment->wait.on == WAITS_FOR_CHECK)
        assignment->wait.on = WAITS_FOR_NOTHING;
    assignment_touch(d, assignment);
    return assignment;
}

void verdict_record(struct deciding *d, enum record_type type, const struct assignment *assignment,
                    struct str rule, struct str verdict) {
    decide_record(
        d, type,
        assignment_evidence(
            d, assignment,
            (struct evidence){.rule = rule,
                              .to = verdict,
                              .exit = d->signal->exit,
                              .count = assignment->check.rounds,
                              .reason = str_cut_utf8(d->signal->outcome.reference, LIMIT_COMMIT),
                              .text = str_cut_utf8(d->signal->text, LIMIT_OUTPUT)}));
}

/* The candidate is void; nothing of it lands by itself. */
void candidate_forget(struct deciding *d, struct assignment *assignment) {
    slot_leave(d, assignment, STR("its candidate does not stand any more"));
    assignment->check.commit[0] = assignment->check.onto[0] = assignment->check.snapshot[0] = 0;
    assignment->check.digest = assignment->check.change = (struct hash){0};
    assignment->check.judged = assignment->check.recheck = assignment->check.rechecks =
        assignment->check.approved = 0;
    assignment_touch(d, assignment);
}

/* The work that the agent called done is not done: its candidate and its report are void. */
void done_forget(struct deciding *d, struct assignment *assignment) {
    candidate_forget(d, assignment);
    assignment->progress.completion = assignment->progress.confidence =
        assignment->progress.reported_last = 0;
    assignment_touch(d, assignment);
}

/* The agent is told what is wrong and continues, a bounded number of times. */
static void work_goes_back(struct deciding *d, struct assignment *assignment, enum wording words,
                           struct str rule, struct str why, struct str text) {
    done_forget(d, assignment);
    assignment->check.rounds++;
    outgoing_set(
        d, assignment, words,
        decide_text(d, arena_format(d->out, "Round %u of %u.\n%.*s", assignment->check.rounds,
                                    its_repository(d).checks.rounds,
                                    STR_ARG(str_cut_utf8(text, LIMIT_OUTPUT)))));
    if (assignment->check.rounds > its_repository(d).checks.rounds || assignment->liveness.attached)
        ladder_ask_with(d, assignment, rule, why, text);
    else
        assignment_reply(d, assignment, words);
}

/* VERIFY-18: the work starts once more from the beginning, with what the first run was started with and the reason for
 * the retry. The mark of the retry is stored with the decision: VERIFY-19. */
static void work_begins_anew(struct deciding *d, struct assignment *assignment, struct str rule,
                             struct str text) {
    done_forget(d, assignment);
    assignment->check.rounds++;
    assignment->check.retried_at = d->signal->at;
    assignment->check.retry_of = assignment->run;
    outgoing_set(d, assignment, WORDS_AGAIN, decide_text(d, str_cut_utf8(text, LIMIT_OUTPUT)));
    decide_record(d, RECORD_WORK_RETRIED,
                  assignment_evidence(d, assignment,
                                      (struct evidence){.rule = rule,
                                                        .effect = assignment->check.retry_of,
                                                        .reason = STR("its checks failed")}));
    assignment_reply(d, assignment, WORDS_AGAIN);
}

/* VERIFY-15 to VERIFY-19: does what the contract says about failure. A run with a person at its terminal is neither
 * started again nor ended. */
static void work_failed(struct deciding *d, struct assignment *assignment, struct str rule,
                        struct str why, struct str text) {
    enum on_failure then = terms_of(d, assignment).then;
    if (then == ON_FAILURE_MEND || assignment->liveness.attached)
        work_goes_back(d, assignment, WORDS_FAILED, rule, why, text);
    else if (then == ON_FAILURE_RETRY && assignment->check.retried_at == 0)
        work_begins_anew(d, assignment, STR("work.retry-once"), text);
    else
        assignment_failed(d, assignment, rule, why, text, then == ON_FAILURE_ESCALATE);
}

/* ---- individual checks ---- */

static const struct str NO_REPORT = STR("the run did not end with report_completion");

/* VERIFY-09 */
static bool lacks_report(const struct deciding *d, const struct assignment *assignment) {
    return terms_of(d, assignment).report && !assignment->progress.reported_last;
}

static enum verified verified_as(enum checked checked, bool lacks) {
    if (checked == CHECKED_NOTHING)
        return VERIFIED_SKIPPED;
    return checked == CHECKED_PASSED && !lacks ? VERIFIED_PASSED : VERIFIED_FAILED;
}

/* VERIFY-14: keeps what was checked, and what was found. */
static struct verification verdict_keep(struct deciding *d, struct assignment *assignment,
                                        enum checked checked, bool lacks) {
    struct verification verdict = {0};
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, assignment->node);
    if (!shape_decode_in(&VERIFICATION, d->signal->body, d->out, &verdict))
        verdict = (struct verification){0};
    struct check_made *checks = arena_new(d->out, struct check_made, verdict.checks.count + 1);
    if (verdict.checks.count > 0)
        memcpy(checks, verdict.checks.at, verdict.checks.count * sizeof *checks);
    checks[verdict.checks.count] = (struct check_made){.type = CHECK_REPORT,
                                                       .target = STR("report_completion"),
                                                       .passed = !lacks,
                                                       .reason = lacks ? NO_REPORT : STR("")};
    verdict.status = verified_as(checked, lacks);
    verdict.at = d->signal->at;
    verdict.checks = (struct rows){checks, verdict.checks.count + terms_of(d, assignment).report};
    assignment->check.verdict = node->result.verdict =
        decide_text(d, shape_encode(&VERIFICATION, &verdict, d->out));
    assignment_touch(d, assignment);
    node_touch(d, node);
    return verdict;
}

/* A person's approval holds for what they were shown: the commit, or another one that is shown as exactly the same
 * change. */
static void candidate_take(struct deciding *d, struct assignment *assignment,
                           const struct verification *verdict) {
    bool shown =
        !hash_is_zero(&verdict->change) && hash_equal(&assignment->check.change, &verdict->change);
    if (!str_equal(str_of(assignment->check.commit), d->signal->outcome.reference) && !shown)
        assignment->check.approved = 0;
    assignment->check.change = verdict->change;
    name_put(assignment->check.commit, sizeof assignment->check.commit,
             d->signal->outcome.reference);
    name_put(assignment->check.onto, sizeof assignment->check.onto, verdict->onto);
    name_put(assignment->check.snapshot, sizeof assignment->check.snapshot, verdict->snapshot);
    assignment->check.digest = verdict->digest;
    assignment->check.judged = verdict->judged;
    assignment->check.recheck = 0;
    assignment_touch(d, assignment);
}

/* If a person has to review the candidate, it does not hold the slot meanwhile. */
static void candidate_passed(struct deciding *d, struct assignment *assignment, struct str text) {
    bool asks = its_repository(d).checks.by_person || assignment->check.judged != JUDGED_NONE;
    if (!asks || assignment->check.approved) {
        work_passed(d, assignment, STR("work.check"));
        return;
    }
    slot_leave(d, assignment, STR("a person is asked first"));
    done_ask(d, assignment, text);
}

/* The landing commit cannot be built. The agent is told which commit it conflicts with, and merges that one. */
static void candidate_conflicts(struct deciding *d, struct assignment *assignment) {
    struct str conflict = d->signal->outcome.reference, text = d->signal->text;
    name_put(assignment->check.conflict, sizeof assignment->check.conflict, conflict);
    work_goes_back(d, assignment, WORDS_CONFLICT, STR("work.conflict"),
                   STR("what it made conflicts with what others made meanwhile"), text);
}

/* It is unknown whether the work is right: the agent is not to blame. */
static void work_unchecked(struct deciding *d, struct assignment *assignment, struct str text) {
    slot_leave(d, assignment, STR("it could not be checked"));
    if (assignment->check.recheck)
        landing_ask(d, assignment, STR("work.not-landed"), text,
                    STR("its target moved, and what would land now cannot be checked"));
    else
        ladder_ask_with(d, assignment, STR("work.unchecked"),
                        STR("what it calls done cannot be checked"), text);
}

/* It fails, and so does the target, or the machine cannot check anything now: that is not the fault of the work. Its report
 * stands, no round is counted, and it is checked again by itself. Another person or host may use the slot meanwhile. */
static void check_again_later(struct deciding *d, struct assignment *assignment) {
    enum { TICKS = 2 };
    struct str text = d->signal->text;
    slot_leave(d, assignment, STR("its target fails its own check"));
    assignment->wait.on = WAITS_FOR_CHECK;
    assignment->wait.until = time_after(d->signal->at, TICKS * d->policy->liveness.tick_every);
    assignment_touch(d, assignment);
    decide_record(d, RECORD_ASSIGNMENT_WAITS,
                  assignment_evidence(
                      d, assignment,
                      (struct evidence){.rule = STR("work.target-fails"),
                                        .until = assignment->wait.until,
                                        .reason = str_cut_utf8(str_line_take(&text), LIMIT_REASON),
                                        .to = STR("target")}));
}

void check_ended(struct deciding *d, const struct effect_slot *slot) {
    struct assignment *assignment = assignment_waited(d, slot);
    bool known = d->signal->kind == SIGNAL_EFFECT_ENDED && d->signal->to < CHECK_COUNT;
    enum checked checked = known ? (enum checked)d->signal->to : CHECKED_NOTHING;
    if (!assignment)
        return;
    verdict_record(d, RECORD_WORK_CHECKED, assignment, STR("work.check"),
                   str_of(name_of(&CHECKED_NAMES, checked)));
    if (checked == CHECKED_TARGET && outgoing_message_waits(d, assignment)) {
        done_forget(d, assignment); /* a person wants the agent to go on in spite of it */
        outgoing_message_go_on(d, assignment);
        return;
    }
    if (checked == CHECKED_TARGET) {
        check_again_later(d, assignment);
        return;
    }
    bool lacks = lacks_report(d, assignment);
    struct str text = d->signal->text;
    struct verification verdict = verdict_keep(d, assignment, checked, lacks);
    if (checked == CHECKED_CONFLICT)
        candidate_conflicts(d, assignment);
    else if (checked == CHECKED_PASSED && lacks)
        work_failed(d, assignment, STR("work.unreported"), STR("it has not reported its end"),
                    arena_format(d->out, "completion_report: %.*s\n", STR_ARG(NO_REPORT)));
    else if (checked == CHECKED_PASSED && outgoing_message_waits(d, assignment)) {
        done_forget(d, assignment); /* a message that a person sent meanwhile comes first */
        outgoing_message_go_on(d, assignment);
    } else if (checked == CHECKED_PASSED) {
        candidate_take(d, assignment, &verdict);
        candidate_passed(d, assignment, text);
    } else if (checked == CHECKED_FAILED)
        work_failed(d, assignment, STR("work.failed"),
                    STR("what it calls done does not pass its checks"),
                    lacks ? arena_format(d->out, "%.*s\ncompletion_report: %.*s\n", STR_ARG(text),
                                         STR_ARG(NO_REPORT))
                          : text);
    else if (checked == CHECKED_UNCHANGED)
        work_failed(d, assignment, STR("work.unchanged"),
                    STR("it says done and has changed nothing"), text);
    else
        work_unchecked(d, assignment, text);
}
