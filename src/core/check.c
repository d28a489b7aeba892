/* SPDX-License-Identifier: Apache-2.0 */
/* Is what an agent calls done really done? VERIFY-01: the supervisor checks for itself, and checks the commit that would land. */
#include "core/rules.h"
#include "model/verification.h"

/* ---- asking for it ---- */

/* The command has its own limit, from when it begins. This is for what nobody carries out: so many may be checked before it,
 * and a forge may be away so long. */
static const int64_t QUEUED_MOST = MINUTES(360);

/* VERIFY-11: the contract that its run began with; a plan that changes later changes it for the next one. Only who began without
 * any is held to what the plan says now. */
struct terms {
    struct hash text; /* zero: no file has to be there */
    enum on_failure then;
    bool report;
};

static struct terms terms_of(const struct deciding *d, const struct charge *charge) {
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    bool its_own = !hash_is_zero(&charge->contract);
    struct terms terms = {.then = its_own ? charge->on_failure : node->on_failure,
                          .report = its_own ? charge->wants_report : node->wants_report};
    if (its_own)
        terms.text = charge->contract;
    else if (node->contract)
        terms.text = node->text;
    return terms;
}

void work_effect(struct deciding *d, struct charge *charge, enum effect_kind kind,
                 struct str rule) {
    struct effect effect = agent_effect(d, charge, kind);
    effect.within = time_after(d->policy->check_within, QUEUED_MOST);
    effect.conflict = str_of(charge->conflict);
    if (kind == EFFECT_CHECK) {
        effect.text = terms_of(d, charge).text;
        effect.snapshot = charge->recheck ? str_of(charge->snapshot) : STR("");
    } else {
        effect.commit = str_of(charge->commit);
        effect.onto = str_of(charge->onto);
        effect.digest = charge->check_digest;
    }
    charge->effect = effect_make(d, effect)->n + 1;
    charge->waiting = WAITS_FOR_CHECK;
    charge_touch(d, charge);
    decide_record(d, RECORD_CHARGE_WAITS,
                  charge_evidence(d, charge,
                                  (struct evidence){.rule = rule,
                                                    .effect = charge->effect,
                                                    .text = str_of(charge->commit),
                                                    .to = str_of(EFFECTS[kind].name)}));
}

bool check_go_on(struct deciding *d, struct charge *charge) {
    if (charge->waiting != WAITS_FOR_CHECK || charge->effect || charge->question)
        return false;
    if (!dispatch_has_room(d))
        return true;
    if (!charge->commit[0] || charge->recheck)
        work_effect(d, charge, EFFECT_CHECK,
                    charge->recheck ? STR("work.recheck") : STR("work.check"));
    else
        land_go_on(d, charge);
    return true;
}

/* Its word begins the check, and nothing else does. */
void check_begin(struct deciding *d, struct charge *charge) {
    if (charge->waiting == WAITS_FOR_CHECK)
        return; /* it has said so before */
    if (charge->status == CHARGE_BLOCKED && !charge->question)
        charge_move(d, charge, CHARGE_ACTIVE, (struct evidence){.rule = STR("work.check")});
    charge->waiting = WAITS_FOR_CHECK;
    candidate_forget(d, charge);
    check_go_on(d, charge);
}

/* ---- what came of it ---- */

struct charge *charge_waited(struct deciding *d, const struct effect_slot *slot) {
    struct charge *charge = charge_of_effect(d, slot->n);
    if (!charge)
        return NULL;
    charge->effect = 0;
    if (charge->waiting == WAITS_FOR_CHECK)
        charge->waiting = WAITS_FOR_NOTHING;
    charge_touch(d, charge);
    return charge;
}

void verdict_record(struct deciding *d, enum record_type type, const struct charge *charge,
                    struct str rule, struct str verdict) {
    decide_record(
        d, type,
        charge_evidence(d, charge,
                        (struct evidence){.rule = rule,
                                          .to = verdict,
                                          .exit = d->signal->exit,
                                          .count = charge->rounds,
                                          .reason = str_cut_utf8(d->signal->title, LIMIT_COMMIT),
                                          .text = str_cut_utf8(d->signal->text, LIMIT_OUTPUT)}));
}

/* The candidate does not stand any more; nothing of it lands by itself. */
void candidate_forget(struct deciding *d, struct charge *charge) {
    slot_leave(d, charge, STR("its candidate does not stand any more"));
    charge->commit[0] = charge->onto[0] = charge->snapshot[0] = 0;
    charge->check_digest = charge->change = (struct hash){0};
    charge->judged = charge->recheck = charge->rechecks = charge->approved = 0;
    charge_touch(d, charge);
}

/* What it called done is not: nothing of that stands any more. */
void done_forget(struct deciding *d, struct charge *charge) {
    candidate_forget(d, charge);
    charge->completion = charge->confidence = charge->reported_last = 0;
    charge_touch(d, charge);
}

/* It is told what is wrong and goes on, a bounded number of times. */
static void work_goes_back(struct deciding *d, struct charge *charge, enum wording words,
                           struct str rule, struct str why, struct str text) {
    done_forget(d, charge);
    charge->rounds++;
    said_becomes(d, charge, words,
                 decide_text(d, arena_format(d->out, "Round %u of %u.\n%.*s", charge->rounds,
                                             d->policy->check_rounds,
                                             STR_ARG(str_cut_utf8(text, LIMIT_OUTPUT)))));
    if (charge->rounds > d->policy->check_rounds || charge->attached)
        ladder_ask_with(d, charge, rule, why, text);
    else
        charge_reply(d, charge, words);
}

/* VERIFY-18: once more from the beginning, with what the first run was started with and why it is asked again. The mark is
 * stored with the decision: VERIFY-19. */
static void work_begins_anew(struct deciding *d, struct charge *charge, struct str rule,
                             struct str text) {
    done_forget(d, charge);
    charge->rounds++;
    charge->retried_at = d->signal->at;
    charge->retry_of = charge->run;
    said_becomes(d, charge, WORDS_AGAIN, decide_text(d, str_cut_utf8(text, LIMIT_OUTPUT)));
    decide_record(d, RECORD_WORK_RETRIED,
                  charge_evidence(d, charge,
                                  (struct evidence){.rule = rule,
                                                    .effect = charge->retry_of,
                                                    .reason = STR("its checks failed")}));
    charge_reply(d, charge, WORDS_AGAIN);
}

/* VERIFY-15 to VERIFY-19: as was asked of it. Whoever has somebody at its terminal is neither begun anew nor ended. */
static void work_failed(struct deciding *d, struct charge *charge, struct str rule, struct str why,
                        struct str text) {
    enum on_failure then = terms_of(d, charge).then;
    if (then == ON_FAILURE_MEND || charge->attached)
        work_goes_back(d, charge, WORDS_FAILED, rule, why, text);
    else if (then == ON_FAILURE_RETRY && charge->retried_at == 0)
        work_begins_anew(d, charge, STR("work.retry-once"), text);
    else
        charge_failed(d, charge, rule, why, text, then == ON_FAILURE_ESCALATE);
}

/* ---- check by check ---- */

static const struct str NO_REPORT = STR("the run did not end with report_completion");

/* VERIFY-09 */
static bool lacks_report(const struct deciding *d, const struct charge *charge) {
    return terms_of(d, charge).report && !charge->reported_last;
}

static enum verified verified_as(enum checked checked, bool lacks) {
    if (checked == CHECKED_NOTHING)
        return VERIFIED_SKIPPED;
    return checked == CHECKED_PASSED && !lacks ? VERIFIED_PASSED : VERIFIED_FAILED;
}

/* VERIFY-14: what was looked at, and what was seen. */
static struct verification verdict_keep(struct deciding *d, struct charge *charge,
                                        enum checked checked, bool lacks) {
    struct verification verdict = {0};
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, charge->node);
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
    verdict.checks = (struct rows){checks, verdict.checks.count + terms_of(d, charge).report};
    charge->verdict = node->verdict = decide_text(d, shape_encode(&VERIFICATION, &verdict, d->out));
    charge_touch(d, charge);
    node_touch(d, node);
    return verdict;
}

/* A person agrees to what they were shown: the commit, or another one that is shown as exactly the same change. */
static void candidate_take(struct deciding *d, struct charge *charge,
                           const struct verification *verdict) {
    bool shown = !hash_is_zero(&verdict->change) && hash_equal(&charge->change, &verdict->change);
    if (!str_equal(str_of(charge->commit), d->signal->title) && !shown)
        charge->approved = 0;
    charge->change = verdict->change;
    name_put(charge->commit, sizeof charge->commit, d->signal->title);
    name_put(charge->onto, sizeof charge->onto, verdict->onto);
    name_put(charge->snapshot, sizeof charge->snapshot, verdict->snapshot);
    charge->check_digest = verdict->digest;
    charge->judged = verdict->judged;
    charge->recheck = 0;
    charge_touch(d, charge);
}

/* Where a person has to look at it, the slot does not wait for them. */
static void candidate_passed(struct deciding *d, struct charge *charge, struct str text) {
    bool asks = d->policy->verify_by_person || charge->judged != JUDGED_NONE;
    if (!asks || charge->approved) {
        work_passed(d, charge, STR("work.check"));
        return;
    }
    slot_leave(d, charge, STR("a person is asked first"));
    done_ask(d, charge, text);
}

/* The landing commit cannot be built. Its agent is told with which commit it conflicts, and merges that. */
static void candidate_conflicts(struct deciding *d, struct charge *charge) {
    struct str conflict = d->signal->title, text = d->signal->text;
    name_put(charge->conflict, sizeof charge->conflict, conflict);
    work_goes_back(d, charge, WORDS_CONFLICT, STR("work.conflict"),
                   STR("what it made conflicts with what others made meanwhile"), text);
}

/* Nobody can say whether it is right: its agent is not to blame. */
static void work_unchecked(struct deciding *d, struct charge *charge, struct str text) {
    slot_leave(d, charge, STR("it could not be checked"));
    if (charge->recheck)
        landing_ask(d, charge, STR("work.not-landed"), text,
                    STR("its target moved, and what would land now cannot be checked"));
    else
        ladder_ask_with(d, charge, STR("work.unchecked"),
                        STR("what it calls done cannot be checked"), text);
}

void check_ended(struct deciding *d, const struct effect_slot *slot) {
    struct charge *charge = charge_waited(d, slot);
    bool told = d->signal->kind == SIGNAL_EFFECT_ENDED && d->signal->to < CHECKEDS;
    enum checked checked = told ? (enum checked)d->signal->to : CHECKED_NOTHING;
    if (!charge)
        return;
    verdict_record(d, RECORD_WORK_CHECKED, charge, STR("work.check"),
                   str_of(name_of(&CHECKED_NAMES, checked)));
    bool lacks = lacks_report(d, charge);
    struct str text = d->signal->text;
    struct verification verdict = verdict_keep(d, charge, checked, lacks);
    if (checked == CHECKED_CONFLICT)
        candidate_conflicts(d, charge);
    else if (checked == CHECKED_PASSED && lacks)
        work_failed(d, charge, STR("work.unreported"), STR("it has not reported its end"),
                    arena_format(d->out, "completion_report: %.*s\n", STR_ARG(NO_REPORT)));
    else if (checked == CHECKED_PASSED && told_waits(d, charge)) {
        done_forget(d, charge); /* what a person has said meanwhile comes first */
        told_go_on(d, charge);
    } else if (checked == CHECKED_PASSED) {
        candidate_take(d, charge, &verdict);
        candidate_passed(d, charge, text);
    } else if (checked == CHECKED_FAILED)
        work_failed(d, charge, STR("work.failed"),
                    STR("what it calls done does not pass its checks"),
                    lacks ? arena_format(d->out, "%.*s\ncompletion_report: %.*s\n", STR_ARG(text),
                                         STR_ARG(NO_REPORT))
                          : text);
    else if (checked == CHECKED_UNCHANGED)
        work_failed(d, charge, STR("work.unchanged"), STR("it says done and has changed nothing"),
                    text);
    else
        work_unchecked(d, charge, text);
}
