/* SPDX-License-Identifier: Apache-2.0 */
/* An agent says how it goes: what is believed, and what follows? UPDATE-03 to UPDATE-10, CRYSTAL-07. */
#include "core/rules.h"
#include "model/update.h"
#include "model/verification.h"

/* Two of them without saying which is nobody's: UPDATE-06. */
static struct charge *charge_meant(struct deciding *d, const struct update *update) {
    struct charges *charges = &d->decision->live.charges;
    struct charge *charge = charge_in_hand(d);
    if (update->node.len == 0)
        return charge                                              ? charge
               : charges->count == 1 && d->signal->by != WHO_AGENT ? charges->at
                                                                   : NULL;
    const struct node *node = plan_find(&d->decision->plan, update->node);
    struct charge *named = node ? charges_of_node(charges, node->n) : NULL;
    if (d->signal->charge && !charge)
        return NULL; /* pain 16: it was replaced, and its word ends nobody else's work */
    return !charge || charge == named ? named : NULL; /* nobody speaks for another's work */
}

static void update_held(struct deciding *d, const struct update *update) {
    decide_record(d, RECORD_UPDATE_HELD,
                  (struct evidence){.rule = STR("update.unmatched"),
                                    .node = update->node,
                                    .text = update->summary,
                                    .reason = STR("nobody knows which work it is about")});
}

/* ---- what it left ---- */

/* UPDATE-10, CRYSTAL-07: one handoff for each assignment, renewed by each update; what is absent stays as it was said in
 * the records. */
static void crystal_renew(struct deciding *d, struct charge *charge, const struct update *update) {
    struct goal *goal = &d->decision->goal;
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    if (update->summary.len == 0 && update->next.len == 0 && update->files.count == 0 &&
        update->tests.count == 0 && update->commits.count == 0)
        return;
    if (charge->crystal == 0)
        charge->crystal = ++goal->parts_made;
    struct crystal crystal = {.id = arena_format(d->out, "C_%u", charge->crystal - 1),
                              .node = node_id(node),
                              .summary = update->summary,
                              .next_actions = {&update->next, update->next.len > 0},
                              .blockers = update->blockers,
                              .files = update->files,
                              .tests = update->tests,
                              .commits = update->commits,
                              .session = str_of(charge->session),
                              .at = d->signal->at};
    struct str body = shape_encode(&CRYSTAL, &crystal, d->out);
    decide_part(
        d, (struct part_change){
               .kind = PART_CRYSTAL, .n = charge->crystal - 1, .name = crystal.id, .body = body});
    charge->handoff = decide_text(d, body);
}

/* ---- what it says of its status ---- */

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

static void status_refuse(struct deciding *d, struct charge *charge, const struct update *update,
                          const char *why) {
    decide_record(d, RECORD_UPDATE_REFUSED,
                  charge_evidence(d, charge,
                                  (struct evidence){.rule = STR("update.status"),
                                                    .to = str_cut_utf8(update->status, LIMIT_TAG),
                                                    .reason = str_of(why)}));
}

/* Pain 2: done without anything to show for it is asked about, once; then a person is. */
static void done_doubted(struct deciding *d, struct charge *charge, const struct update *update) {
    status_refuse(d, charge, update, "done needs evidence: files, tests or commits");
    if (charge->asked) {
        ladder_ask(d, charge, STR("update.done-twice"),
                   STR("it says done and has nothing to show for it"));
        return;
    }
    charge->asked = 1;
    charge_touch(d, charge);
    if (charge->effect == 0 && dispatch_has_room(d) && !ladder_is_suspended(d, charge))
        charge_reply(d, charge, WORDS_BLOCK);
}

static struct str done_reason(const struct charge *charge) {
    if (!charge->commit[0])
        return STR("it says so; no check has looked at it");
    return charge->judged == JUDGED_TESTS
               ? STR("its checks pass only with its own version of the tests: tests edited")
           : charge->judged == JUDGED_RULES
               ? STR("its checks passed, and it changes CI or a check script: check rules edited")
               : STR("its checks passed; it is yours to accept");
}

void done_ask(struct deciding *d, struct charge *charge, struct str summary) {
    static const struct str OPTIONS[] = {{"accept it", 9}, {"it is not done", 14}};
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    uint32_t n = charge->n;
    struct asking asking = {
        .kind = QUESTION_APPROVE,
        .alarm = ALARM_WARNING,
        .cause = arena_format(d->out, "done.%s", node->id),
        .charge = charge,
        .text = {.title = arena_format(d->out, "%s is done, says %s", node->id, charge->agent),
                 .text = summary,
                 .options = {OPTIONS, count_of(OPTIONS)},
                 .reason = done_reason(charge),
                 .rule = STR("update.done")},
        .holds = true};
    if (!(charge = charge_asks(d, n, asking)))
        return;
    if (charge_status_may_become(charge->status, CHARGE_BLOCKED))
        charge_move(d, charge, CHARGE_BLOCKED,
                    (struct evidence){.rule = STR("update.done"),
                                      .reason = STR("it says done; a person checks")});
}

/* Reference fault 7: whoever names what is in the way is not working. */
static void blocked_ask(struct deciding *d, struct charge *charge, const struct update *update) {
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    uint32_t n = charge->n;
    struct str first =
        update->blockers.count ? update->blockers.at[0] : STR("it says that it is blocked");
    struct asking asking = {.kind = QUESTION_DECIDE,
                            .alarm = ALARM_CRITICAL,
                            .cause = arena_format(d->out, "blocked.%s", node->id),
                            .charge = charge,
                            .text = {.title = arena_format(d->out, "%s is blocked", node->id),
                                     .text = first,
                                     .recommendations = update->blockers,
                                     .rule = STR("update.blocked")},
                            .holds = true};
    if (!(charge = charge_asks(d, n, asking)))
        return;
    charge->waiting = WAITS_FOR_ANSWER;
    if (charge_status_may_become(charge->status, CHARGE_BLOCKED))
        charge_move(d, charge, CHARGE_BLOCKED,
                    (struct evidence){.rule = STR("update.blocked"),
                                      .reason = str_cut_utf8(first, LIMIT_BLOCKED)});
}

/* UPDATE-09: what is no legal step is refused, and the rest of the update stands. */
static void status_take(struct deciding *d, struct charge *charge, const struct update *update) {
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    uint32_t to = NODE_IN_PROGRESS;
    bool blocked = update->blockers.count > 0;
    if (update->status.len > 0 && !names_find(&NODE_STATUS_NAMES, update->status, &to))
        status_refuse(d, charge, update, "there is no such status");
    else if (to != NODE_IN_PROGRESS && charge->status == CHARGE_QUEUED)
        status_refuse(d, charge, update, "it has not begun again yet: it is asked once more");
    else if (to == NODE_DONE && node->status != NODE_IN_PROGRESS)
        status_refuse(d, charge, update, "only work in progress can be done");
    else if (to == NODE_DONE && told_waits(d, charge))
        status_refuse(d, charge, update, "a person has said something that it hears first");
    else if (to == NODE_DONE &&
             (d->policy->checks || node->contract || !hash_is_zero(&charge->contract)))
        check_begin(d, charge);
    else if (to == NODE_DONE && !has_evidence(update))
        done_doubted(d, charge, update);
    else if (to == NODE_DONE && d->policy->verify_by_person)
        done_ask(d, charge, update->summary);
    else if (to == NODE_DONE)
        charge_done(d, charge,
                    (struct ending){.rule = STR("update.done"),
                                    .evidence = evidence_text(d, update),
                                    .proof = PROOF_SAID});
    else if (to == NODE_BLOCKED || blocked)
        blocked_ask(d, charge, update);
    else if (to != NODE_IN_PROGRESS)
        status_refuse(d, charge, update, "an agent says in_progress, blocked or done");
}

/* TICK-13: words of its own are life. Whoever was asked what to do about its silence need not answer any more. */
void life_note(struct deciding *d, struct charge *charge) {
    bool held = charge->status == CHARGE_BLOCKED && charge_question(d, charge, STR("stalled."));
    if (held && !charge->ended)
        charge_asked_no_more(d, charge->n, stalled_cause(d, charge), STR("update.life"));
    if (((held && !charge->question) || charge->answered) && !charge->ended)
        charge_wakes(d, charge, STR("update.life"));
    charge->last_activity_at = d->signal->at;
    charge->expected_next_at =
        d->signal->until > d->signal->at ? d->signal->until : 0; /* TICK-12 */
    ladder_reset(charge);
    start_alert_end(d, charge, STR("update.life"));
    if (charge->status == CHARGE_DISPATCHED || charge->status == CHARGE_STALLED)
        charge_move(d, charge, CHARGE_ACTIVE, (struct evidence){.rule = STR("update.life")});
    else
        charge_touch(d, charge);
}

/* REPORT-06: what it says of its end is kept whole. A malformed or missing one is no error: REPORT-08. */
static void report_keep(struct deciding *d, struct charge *charge, const struct update *update) {
    if (update->completion == 0)
        return;
    if (update->by_tool) /* C-50: in words it is kept, and is not what was required */
        charge->reported_last = 1;
    charge->completion = update->completion;
    charge->confidence = update->confidence;
    charge->report = decide_text(d, d->signal->body);
}

/* A new run has said nothing yet. */
void said_forget(struct charge *charge) {
    charge->phase[0] = 0;
    charge->percent = charge->progress_kept = 0;
    charge->progress_at = charge->progress_kept_at = 0;
    charge->completion = charge->confidence = charge->reported_last = 0;
    charge->report = (struct hash){0};
}

/* The window was nearly full and it has written down where things stand: a fresh run goes on from there. */
static void handed_over(struct deciding *d, struct charge *charge) {
    bool heard = charge->words == WORDS_HANDOVER && charge->delivery == DELIVERY_ACCEPTED;
    if (charge->handover && heard && !charge->effect && !charge->owes &&
        !hash_is_zero(&charge->handoff))
        charge_reply(d, charge, WORDS_AGAIN);
}

/* UPDATE-05, UPDATE-07: words without a block say nothing, and a block that is not as agreed is refused as a whole. It is
 * asked for once. */
static void said_nothing(struct deciding *d) {
    struct charge *charge = charge_in_hand(d);
    if (!charge)
        return;
    if (d->signal->reason.len > 0)
        decide_record(d, RECORD_UPDATE_REFUSED,
                      charge_evidence(d, charge,
                                      (struct evidence){.rule = STR("update.form"),
                                                        .reason = d->signal->reason}));
    if (charge->asked || charge->effect || charge->ended || charge->run == 0 ||
        !dispatch_has_room(d) || ladder_is_suspended(d, charge))
        return;
    charge_reply(d, charge, WORDS_BLOCK);
    charge->asked = charge->owes == WORDS_BLOCK;
    charge_touch(d, charge);
}

void rule_said(struct deciding *d) {
    struct update update = {0};
    uint32_t entry;
    live_edit(d, PART_CHARGE, 0);
    if (d->signal->body.len == 0) {
        said_nothing(d);
        return;
    }
    if (!shape_decode_in(&UPDATE, d->signal->body, d->out, &update) ||
        fields_broken(UPDATE.fields, UPDATE.count, &update, &entry) ||
        update.completion > COMPLETIONS || update.confidence > CONFIDENCES) {
        decide_refuse_because(d, ERROR_INVALID, STR("a field is too long or not text"));
        return;
    }
    struct charge *charge = charge_meant(d, &update);
    if (!charge) {
        update_held(d, &update);
        return;
    }
    decide_record(
        d, RECORD_UPDATE_TAKEN,
        charge_evidence(d, charge,
                        (struct evidence){.rule = STR("update.taken"),
                                          .to = str_cut_utf8(update.status, LIMIT_TAG),
                                          .text = str_cut_utf8(update.summary, LIMIT_LINE)}));
    if (charge->owes == WORDS_BLOCK)
        reply_forget(charge); /* here it is */
    life_note(d, charge);
    report_keep(d, charge, &update);
    if (has_evidence(&update) || !str_equal(update.status, STR("done")))
        charge->asked = 0;
    crystal_renew(d, charge, &update);
    uint32_t n = charge->n;
    status_take(d, charge, &update);
    charge = charges_find(&d->decision->live.charges, n);
    if (charge && charge->status == CHARGE_ACTIVE)
        handed_over(d, charge);
}
