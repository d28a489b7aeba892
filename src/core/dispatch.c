/* SPDX-License-Identifier: Apache-2.0 */
/* Sends instructions to agents, and keeps what is known about whether they arrived. ASSIGN-12 to ASSIGN-14, RECOVER-10. */
#include "core/assignment.h"
#include "core/check.h"
#include "core/effect.h"
#include "core/liveness.h"
#include "core/people/message.h"
#include "core/people/question.h"
#include "core/plan/node.h"
#include "core/rules.h"
#include "core/run_host.h"

/* ---- sending ---- */

static const struct hash *outgoing_of(const struct assignment *assignment, enum wording words) {
    return words == WORDS_MESSAGE ? &assignment->outgoing.message : &assignment->outgoing.text;
}

/* ASSIGN-08: the hash covers everything that the text is made from. */
static struct hash instruction_hash(const struct node *node, const struct assignment *assignment,
                                    enum wording words) {
    struct sha256 sha;
    uint8_t kind = (uint8_t)words;
    sha256_begin(&sha);
    sha256_add(&sha, &kind, 1);
    sha256_add(&sha, node->text.bytes, sizeof node->text.bytes);
    sha256_add(&sha, assignment->delivery.handoff.bytes, sizeof assignment->delivery.handoff.bytes);
    sha256_add(&sha, outgoing_of(assignment, words)->bytes, sizeof assignment->outgoing.text.bytes);
    return sha256_end(&sha);
}

static void sent_note(struct deciding *d, struct assignment *assignment,
                      const struct effect_slot *slot, enum effect_kind kind, uint32_t again) {
    assignment->delivery.effect = slot->n + 1;
    assignment->delivery.dispatch = again ? again : slot->n + 1;
    if (kind == EFFECT_SPAWN) {
        assignment->run = assignment->delivery.dispatch;
        assignment->ended = 0;
        assignment->liveness.context = 0;
        assignment->recovery.handover = assignment->recovery.asked = 0;
        assignment->usage.run_cost = assignment->usage.run_tokens = 0;
        report_forget(assignment);
    }
    assignment->outgoing.next = WORDS_NONE; /* this instruction carries it */
    assignment->delivery.result = DELIVERY_NONE;
    assignment->delivery.last_at = d->signal->at;
    assignment->liveness.expected_next_at = 0;
    assignment->wait.on = WAITS_FOR_NOTHING;
    assignment->wait.until = 0;
}

/* C-68: every send counts on the node, whichever agent it goes to. */
static void attempt_count(struct deciding *d, struct assignment *assignment) {
    assignment->delivery.attempts++;
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, assignment->node);
    node->attempts++;
    node_touch(d, node);
}

/* VERIFY-11: a run is held to what its node says when the run begins, and nothing of it has been checked yet. */
static void contract_take(struct assignment *assignment, const struct node *node) {
    bool asks = node->contract.given || node->contract.on_failure;
    assignment->check.contract = asks ? node->text : (struct hash){0};
    assignment->check.on_failure = node->contract.on_failure;
    assignment->check.wants_report = node->contract.wants_report;
    assignment->check.verdict = (struct hash){0};
}

/* ASSIGN-14: the id exists before the effect. `again`: the dispatch that certainly did not arrive, sent under its old
 * id. */
static void dispatch_make(struct deciding *d, struct assignment *assignment, enum wording words,
                          struct str rule, uint32_t again) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    enum effect_kind kind = assignment->run == 0 || assignment->ended ? EFFECT_SPAWN : EFFECT_SEND;
    struct effect effect = agent_effect(d, assignment, kind);
    effect.text = node->text;
    if (kind == EFFECT_SPAWN) {
        effect.start = assignment->setup.start;
        effect.orphan_after = d->policy->recovery.orphan_after;
        contract_take(assignment, node);
    }
    effect.handoff = assignment->delivery.handoff;
    effect.outgoing = *outgoing_of(assignment, words);
    effect.words = words;
    effect.permits = words == WORDS_ANSWER ? assignment->outgoing.permits : PERMISSION_NONE;
    effect.dispatch = again;
    assignment->delivery.words = words;
    assignment->delivery.instruction = instruction_hash(node, assignment, words);
    attempt_count(d, assignment);
    struct effect_slot *slot = effect_make(d, effect);
    sent_note(d, assignment, slot, kind, again);
    struct evidence evidence = {.rule = rule,
                                .effect = slot->n + 1,
                                .text = str_of(name_of(&WORDS_NAMES, words)),
                                .more = assignment->delivery.instruction,
                                .count = assignment->delivery.attempts};
    if (assignment->status == ASSIGNMENT_QUEUED) {
        assignment_move(d, assignment, ASSIGNMENT_DISPATCHED, evidence);
        return;
    }
    assignment_touch(d, assignment);
    decide_record(d, RECORD_ASSIGNMENT_DISPATCHED, assignment_evidence(d, assignment, evidence));
}

static bool is_of_person(enum wording words) {
    return words == WORDS_ANSWER || words == WORDS_MESSAGE;
}

/* TICK-23: the same instruction is not sent again too soon. A person's message or answer is sent as often as they give
 * it: each yes answers another question. */
static bool suppressed(struct deciding *d, struct assignment *assignment, enum wording words) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    struct hash hash = instruction_hash(node, assignment, words);
    int64_t allowed = assignment->delivery.last_at + d->policy->recovery.min_resend;
    if (is_of_person(words) || assignment->delivery.last_at == 0 ||
        !hash_equal(&hash, &assignment->delivery.instruction) || allowed <= d->signal->at)
        return false;
    assignment->recovery.backoff_until = allowed;
    assignment_touch(d, assignment);
    decide_record(d, RECORD_LADDER_SUPPRESSED,
                  assignment_evidence(d, assignment,
                                      (struct evidence){.rule = STR("dispatch.too-soon"),
                                                        .threshold = d->policy->recovery.min_resend,
                                                        .until = allowed}));
    return true;
}

void assignment_dispatch(struct deciding *d, struct assignment *assignment, enum wording words,
                         struct str rule) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    must(assignment->delivery.effect == 0 && dispatch_has_room(d));
    if (assignment_is_adopted(assignment) && assignment->run && !assignment->ended)
        return; /* nothing is ever sent to an adopted session: a dispatch only begins the watch */
    if ((assignment->run == 0 || assignment->ended) && !run_may_start(d, assignment)) {
        assignment_waits_for_host(d, assignment);
        return;
    }
    if (node->attempts >=
        d->policy->recovery.max_attempts) /* C-68: for any instruction, from any requester */
        ladder_ask(d, assignment, STR("dispatch.too-often"),
                   STR("it was sent something too often"));
    else if (!suppressed(d, assignment, words))
        dispatch_make(d, assignment, words, rule, 0);
}

void assignment_look(struct deciding *d, struct assignment *assignment, uint32_t dispatch,
                     struct str rule) {
    must(assignment->delivery.effect == 0 && dispatch_has_room(d));
    struct effect effect = agent_effect(d, assignment, EFFECT_LOOK);
    effect.dispatch = dispatch;
    effect.sample = LIMIT_SAMPLED; /* TICK-07 */
    struct effect_slot *slot = effect_make(d, effect);
    assignment->delivery.effect = slot->n + 1;
    assignment_touch(d, assignment);
    decide_record(
        d, RECORD_AGENT_SEEN,
        assignment_evidence(
            d, assignment,
            (struct evidence){.rule = rule, .effect = slot->n + 1, .text = STR("goes to see")}));
}

/* ---- outcomes ---- */

/* ASSIGN-12, TICK-18: history is append-only; a late acceptance is another row of the same dispatch. */
void dispatch_history(struct deciding *d, const struct assignment *assignment, enum delivery result,
                      struct str notes) {
    struct goal *goal = &d->decision->goal;
    bool starts = assignment->run == assignment->delivery.dispatch;
    char id[ID_TEXT + 1], run[ID_TEXT + 1] = "";
    id_format(effect_id(goal->id, assignment->delivery.dispatch - 1), id);
    if (assignment->run)
        id_format(effect_id(goal->id, assignment->run - 1), run);
    struct dispatch row = {.id = arena_copy(d->out, str_of(id)),
                           .at = d->signal->at,
                           .assignment = assignment_id(assignment, d->out),
                           .mode = starts ? STR("sessions_spawn") : STR("sessions_send"),
                           .target = str_of(assignment->session),
                           .instruction_hash = hash_hex(&assignment->delivery.instruction, d->out),
                           .result = str_of(name_of(&DELIVERY_NAMES, result)),
                           .run = arena_copy(d->out, str_of(run)),
                           .notes = str_cut_utf8(notes, LIMIT_LINE)};
    decide_part(d, (struct part_change){.kind = PART_DISPATCH,
                                        .n = goal->parts_made++,
                                        .name = row.id,
                                        .body = shape_encode(&DISPATCH, &row, d->out)});
}

/* An instruction that a live run did not receive is sent later; the answer to its permission request comes before
 * anything else. */
static void outgoing_undelivered_keep(struct deciding *d, struct assignment *assignment) {
    if (assignment->delivery.words == WORDS_ANSWER &&
        assignment->outgoing.permits != PERMISSION_NONE)
        assignment->outgoing.next = WORDS_ANSWER;
    else if (assignment->delivery.words == WORDS_BLOCK)
        assignment->recovery.asked = 0;
    else if (assignment->outgoing.undelivered &&
             assignment->delivery.words == assignment->outgoing.undelivered) {
        words_put_by(d, assignment, assignment->outgoing.undelivered, assignment->outgoing.text);
        assignment->outgoing.undelivered = WORDS_NONE;
    }
}

/* RECOVER-12: certainly not delivered. The next rung tries again after a while. */
static void sent_failed(struct deciding *d, struct assignment *assignment) {
    bool starts = assignment->run == assignment->delivery.dispatch;
    assignment->recovery.retries += assignment->status == ASSIGNMENT_STALLED ? 0 : 1;
    assignment->recovery.last_retry_at = d->signal->at;
    assignment->recovery.backoff_until =
        time_after(d->signal->at, ladder_backoff(d->policy, assignment));
    if (assignment_is_adopted(assignment))
        assignment_run_end(d, assignment); /* ends the run that was to watch it */
    if (assignment->run != assignment->delivery.dispatch && !assignment->ended)
        outgoing_undelivered_keep(d, assignment); /* a new run is told anyway */
    if (starts) { /* it never began; whatever was started for it is ended */
        assignment_run_end(d, assignment);
        assignment->ended = 1;
    }
    if (assignment->status == ASSIGNMENT_DISPATCHED || assignment->status == ASSIGNMENT_ACTIVE)
        assignment_move(d, assignment, ASSIGNMENT_STALLED,
                        (struct evidence){.rule = STR("dispatch.failed"),
                                          .text = str_cut_utf8(d->signal->text, LIMIT_LINE),
                                          .until = assignment->recovery.backoff_until});
    else
        assignment_touch(d, assignment);
    if (assignment_is_adopted(assignment)) /* the watch did not begin: a person is told why */
        ladder_ask(d, assignment, STR("watched.failed"),
                   d->signal->text.len > 0 ? str_cut_utf8(d->signal->text, LIMIT_BLOCKED)
                                           : STR("it cannot be watched"));
    else if (starts)
        start_alert(d, assignment, d->signal->text);
}

void delivery_note(struct deciding *d, struct assignment *assignment, enum delivery result,
                   struct str rule) {
    assignment->delivery.result = result;
    if (assignment->delivery.words == WORDS_MESSAGE)
        outgoing_message_heard(d, assignment);
    if (assignment->delivery.words == assignment->outgoing.undelivered ||
        assignment->delivery.words == WORDS_AGAIN)
        assignment->outgoing.undelivered = WORDS_NONE;
    bool begins = assignment->run == assignment->delivery.dispatch ||
                  is_of_person((enum wording)assignment->delivery.words);
    if (begins && assignment->status == ASSIGNMENT_STALLED)
        ladder_fresh(d, assignment);
    if (assignment->status == ASSIGNMENT_QUEUED &&
        !assignment->ended) { /* it was to wait, and has received it after all */
        assignment->wait.on = WAITS_FOR_NOTHING;
        assignment->wait.until = 0;
        assignment_move(d, assignment, ASSIGNMENT_DISPATCHED, (struct evidence){.rule = rule});
    }
    assignment_touch(d, assignment);
    decide_record(
        d, RECORD_ASSIGNMENT_ACCEPTED,
        assignment_evidence(d, assignment,
                            (struct evidence){.rule = rule,
                                              .effect = assignment->delivery.dispatch,
                                              .reason = str_of(assignment->setup.sandbox),
                                              .text = str_of(assignment->setup.limits),
                                              .to = str_of(name_of(&DELIVERY_NAMES, result))}));
}

/* Ends a run that was started for work that was called off meanwhile. */
static void run_unwanted(struct deciding *d, const struct effect_slot *slot) {
    if (d->decision->goal.effects.open_count < LIMIT_OPEN_EFFECTS)
        effect_make(
            d, (struct effect){.kind = EFFECT_STOP,
                               .within = d->policy->act_within,
                               .session = str_cut_utf8(d->signal->outcome.reference, LIMIT_SESSION),
                               .run = slot->n + 1});
}

/* ASSIGN-19, SCOPE-06: what the run began with is kept with the node: the next run there begins with the same. */
static void start_keep(struct deciding *d, struct assignment *assignment) {
    struct beginning begun = {0};
    if (d->signal->body.len == 0 || !shape_decode_in(&BEGINNING, d->signal->body, d->out, &begun) ||
        !str_equal(begun.agent, str_of(assignment->agent)))
        return;
    assignment->setup.start = decide_text(d, d->signal->body);
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, assignment->node);
    if (hash_equal(&node->start, &assignment->setup.start))
        return;
    node->start = assignment->setup.start;
    node_touch(d, node);
}

void sent_ended(struct deciding *d, const struct effect_slot *slot, bool lost) {
    struct assignment *assignment = assignment_of_effect(d, slot->n);
    enum delivery result = lost ? DELIVERY_TIMEOUT : (enum delivery)d->signal->to;
    if (!assignment) { /* the assignment is over; the effect's own record has the outcome */
        if (slot->kind == EFFECT_SPAWN && result != DELIVERY_ERROR)
            run_unwanted(d, slot);
        return;
    }
    if (result <= DELIVERY_NONE || result >= DELIVERIES)
        result = DELIVERY_ERROR;
    assignment->delivery.effect = 0;
    if (!lost && d->signal->outcome.reference.len > 0)
        name_put(assignment->session, sizeof assignment->session, d->signal->outcome.reference);
    if (!lost && slot->kind == EFFECT_SPAWN) { /* SCOPE-08 */
        name_put(assignment->setup.sandbox, sizeof assignment->setup.sandbox,
                 d->signal->outcome.sandbox);
        name_put(assignment->setup.scope, sizeof assignment->setup.scope, d->signal->outcome.scope);
        name_put(assignment->setup.limits, sizeof assignment->setup.limits,
                 d->signal->outcome.limits);
        if (result != DELIVERY_ERROR)
            start_keep(d, assignment);
    }
    dispatch_history(d, assignment, result, d->signal->text);
    assignment->delivery.result = result;
    assignment_touch(d, assignment);
    if (assignment_is_stranded(d, assignment))
        return; /* P10: its run is on a lost host, and counts as lost */
    if (result == DELIVERY_ACCEPTED || result == DELIVERY_OK) {
        delivery_note(d, assignment, result,
                      assignment_is_adopted(assignment) ? STR("watched.there")
                                                        : STR("dispatch.receipt"));
        check_go_on(d, assignment); /* its report of done may have come before the receipt */
    } else if (result == DELIVERY_ERROR)
        sent_failed(d, assignment);
    else if (dispatch_has_room(d))
        assignment_look(d, assignment, assignment->delivery.dispatch,
                        STR("dispatch.look-up")); /* RECOVER-10 */
}

/* RECOVER-10: sent again under the same id only if the look says that it did not arrive, or if the agent drops
 * duplicates. */
static void doubt_settle(struct deciding *d, struct assignment *assignment,
                         const struct observation *seen) {
    const struct policy_agent *agent = policy_agent(d->policy, str_of(assignment->agent));
    enum tristate delivered = seen->delivered;
    bool again =
        delivered == TRISTATE_NO || (delivered == TRISTATE_UNKNOWN && agent && agent->dedupes);
    if (again && seen->turn == TRISTATE_YES && assignment->run != assignment->delivery.dispatch)
        again = false; /* it is working now, and is not interrupted */
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    if (delivered == TRISTATE_YES) {
        dispatch_history(d, assignment, DELIVERY_ACCEPTED, STR("found by looking"));
        delivery_note(d, assignment, DELIVERY_ACCEPTED, STR("dispatch.found"));
    } else if (again && node->attempts < d->policy->recovery.max_attempts && dispatch_has_room(d)) {
        if (assignment->run == assignment->delivery.dispatch)
            assignment->ended = 1;
        dispatch_make(d, assignment, (enum wording)assignment->delivery.words,
                      STR("dispatch.again"), assignment->delivery.dispatch);
    } else {
        if (delivered == TRISTATE_NO && !assignment->ended)
            outgoing_undelivered_keep(d, assignment);
        else if (assignment->delivery.words == assignment->outgoing.undelivered)
            assignment->outgoing.undelivered = WORDS_NONE; /* nothing is sent twice */
        assignment_touch(d, assignment);
        decide_record(
            d, RECORD_ASSIGNMENT_DOUBTED,
            assignment_evidence(d, assignment,
                                (struct evidence){.rule = STR("dispatch.doubt"),
                                                  .effect = assignment->delivery.dispatch,
                                                  .text = STR("nobody can tell whether it "
                                                              "arrived")}));
    }
}

/* A look that failed says nothing, and does not count against the agent. */
void look_ended(struct deciding *d, const struct effect_slot *slot) {
    struct assignment *assignment = assignment_of_effect(d, slot->n);
    struct observation seen = {0};
    if (!assignment)
        return;
    assignment->delivery.effect = 0;
    if (d->signal->body.len > 0 && !shape_decode(&OBSERVATION, d->signal->body, &seen))
        seen = (struct observation){0};
    assignment_touch(d, assignment);
    if (assignment_is_stranded(d, assignment))
        return; /* P10: its run cannot be seen from here */
    if (assignment->delivery.result == DELIVERY_TIMEOUT &&
        seen.dispatch == assignment->delivery.dispatch)
        doubt_settle(d, assignment, &seen);
    if (assignment->delivery.effect == 0 && !answer_looked(d, assignment, &seen) &&
        !check_go_on(d, assignment))
        assignment_looked_at(d, assignment, &seen);
}

void stop_ended(struct deciding *d, const struct effect_slot *slot) {
    (void)d, (void)slot; /* the assignment was already over when the stop was decided */
}
