/* SPDX-License-Identifier: Apache-2.0 */
/* How is something said to an agent, and what is known about whether it arrived? ASSIGN-12 to ASSIGN-14, RECOVER-10. */
#include "core/rules.h"

/* ---- charges ---- */

struct str charge_id(const struct charge *charge, struct arena *arena) {
    return arena_format(arena, "A_%u", charge->n);
}

struct charge *charge_in_hand(struct deciding *d) {
    live_edit(d, PART_CHARGE, 0);
    const struct charges *charges = &d->decision->live.charges;
    return d->signal->charge ? charges_find(charges, d->signal->charge - 1) : NULL;
}

static struct str hex_of(const struct hash *hash, struct arena *arena) {
    char text[2 * sizeof hash->bytes + 1];
    if (hash_is_zero(hash))
        return (struct str){0};
    hex_write(text, hash->bytes, sizeof hash->bytes);
    return arena_copy(arena, str_of(text));
}

/* STORE-03, ASSIGN-01: what people read of it, also when it is over. */
void charge_tell_row(struct deciding *d, const struct charge *charge) {
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    char run[ID_TEXT + 1] = "";
    if (charge->run)
        id_format(effect_id(d->decision->goal.id, charge->run - 1), run);
    struct assignment row = {.id = charge_id(charge, d->out),
                             .node = node ? node_id(node) : STR(""),
                             .agent = str_of(charge->agent),
                             .session = str_of(charge->session),
                             .status = str_of(CHARGE_STATUS[charge->status].name),
                             .instruction_hash = hex_of(&charge->instruction, d->out),
                             .run = str_of(run),
                             .recovery = str_of(name_of(&RUNG_NAMES, charge->first)),
                             .blocked_reason = str_of(charge->reason),
                             .created_at = charge->created_at,
                             .updated_at = charge->updated_at,
                             .last_dispatch_at = charge->last_dispatch_at,
                             .last_activity_at = charge->last_activity_at,
                             .expected_next_at = charge->expected_next_at,
                             .idle_after = charge->idle_after,
                             .last_retry_at = charge->last_retry_at,
                             .backoff_until = charge->backoff_until,
                             .retries = charge->retries};
    decide_part(d, (struct part_change){.kind = PART_ASSIGNMENT,
                                        .n = charge->n,
                                        .name = row.id,
                                        .body = shape_encode(&ASSIGNMENT, &row, d->out)});
}

void charge_touch(struct deciding *d, struct charge *charge) {
    charge->updated_at = d->signal->at;
    live_touch(d, PART_CHARGE, charge);
}

struct evidence charge_evidence(struct deciding *d, const struct charge *charge,
                                struct evidence evidence) {
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    evidence.assignment = charge_id(charge, d->out);
    evidence.node = node ? arena_copy(d->out, node_id(node)) : STR("");
    return evidence;
}

/* ASSIGN-04, ASSIGN-05, ASSIGN-07: one mover. What is over leaves the memory; its row and its records stay. */
void charge_move(struct deciding *d, struct charge *charge, enum charge_status to,
                 struct evidence evidence) {
    must(charge_status_may_become(charge->status, to));
    evidence = charge_evidence(d, charge, evidence);
    evidence.from = str_of(CHARGE_STATUS[charge->status].name);
    evidence.to = str_of(CHARGE_STATUS[to].name);
    charge->status = to;
    if (to == CHARGE_BLOCKED)
        name_put(charge->reason, sizeof charge->reason,
                 evidence.reason.len ? evidence.reason : STR("it waits"));
    else
        charge->reason[0] = 0;
    charge_touch(d, charge);
    decide_record(d, RECORD_CHARGE_QUEUED + to, evidence);
    if (!charge_is_over(charge))
        return;
    slot_leave(d, charge, STR("its work is over"));
    charge_tell_row(d, charge);
    live_remove(d, PART_CHARGE, charge);
}

/* ---- signals for other aggregates ---- */

/* Named by its effect: however often it is carried there, it is applied once. */
void decide_tell(struct deciding *d, struct signal signal) {
    struct goal *goal = &d->decision->goal;
    signal.source = effect_id(goal->id, goal->effects_made);
    signal.keyed = 1;
    signal.at = d->signal->at;
    signal.actor = STR("overseer");
    signal.by = WHO_OVERSEER;
    signal.trace = d->signal->trace;
    effect_make_about(d,
                      (struct effect){.kind = EFFECT_TELL,
                                      .to = signal.goal,
                                      .body = signal_encode(&signal, d->out)},
                      (struct effect_about){.charge = goal->desk ? 0 : signal.charge});
}

/* ---- sending ---- */

static const struct hash *said_with(const struct charge *charge, enum wording words) {
    return words == WORDS_TOLD ? &charge->told : &charge->said;
}

/* ASSIGN-08: over everything that the text is made from. */
static struct hash instruction_hash(const struct node *node, const struct charge *charge,
                                    enum wording words) {
    struct sha256 sha;
    uint8_t kind = (uint8_t)words;
    sha256_begin(&sha);
    sha256_add(&sha, &kind, 1);
    sha256_add(&sha, node->text.bytes, sizeof node->text.bytes);
    sha256_add(&sha, charge->handoff.bytes, sizeof charge->handoff.bytes);
    sha256_add(&sha, said_with(charge, words)->bytes, sizeof charge->said.bytes);
    return sha256_end(&sha);
}

struct effect agent_effect(struct deciding *d, const struct charge *charge, enum effect_kind kind) {
    const struct policy_agent *agent = policy_agent(d->policy, str_of(charge->agent));
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    return (struct effect){.kind = kind,
                           .within = d->policy->act_within,
                           .charge = charge->n,
                           .agent = str_of(charge->agent),
                           .session = str_of(charge->session),
                           .model = agent ? str_of(agent->model) : STR(""),
                           .account = str_of(charge->account),
                           .run = charge->run,
                           .node = node_id(node)};
}

static void sent_note(struct deciding *d, struct charge *charge, const struct effect_slot *slot,
                      enum effect_kind kind, uint32_t again) {
    charge->effect = slot->n + 1;
    charge->dispatch = again ? again : slot->n + 1;
    if (kind == EFFECT_SPAWN) {
        charge->run = charge->dispatch;
        charge->ended = 0;
        charge->context = 0;
        charge->handover = charge->asked = 0;
        charge->run_cost = charge->run_tokens = 0;
        said_forget(charge);
    }
    charge->owes = WORDS_NONE; /* what is said now carries it */
    charge->delivery = DELIVERY_NONE;
    charge->last_dispatch_at = d->signal->at;
    charge->expected_next_at = 0;
    charge->waiting = WAITS_FOR_NOTHING;
    charge->waits_until = 0;
}

/* C-68: every send is booked on the node, whoever it goes to. */
static void attempt_count(struct deciding *d, struct charge *charge) {
    charge->attempts++;
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, charge->node);
    node->attempts++;
    node_touch(d, node);
}

bool dispatch_has_room(const struct deciding *d) {
    return d->decision->goal.open_count < LIMIT_OPEN_EFFECTS - LIMIT_SPARE_EFFECTS;
}

/* VERIFY-11: what is asked of a run is what its node says when it begins, and nothing of it has been looked at yet. */
static void contract_take(struct charge *charge, const struct node *node) {
    bool asks = node->contract || node->on_failure;
    charge->contract = asks ? node->text : (struct hash){0};
    charge->on_failure = node->on_failure;
    charge->wants_report = node->wants_report;
    charge->verdict = (struct hash){0};
}

/* ASSIGN-14: the id comes before the effect. `again`: the dispatch that certainly did not arrive, under its old id. */
static void dispatch_make(struct deciding *d, struct charge *charge, enum wording words,
                          struct str rule, uint32_t again) {
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    enum effect_kind kind = charge->run == 0 || charge->ended ? EFFECT_SPAWN : EFFECT_SEND;
    struct effect effect = agent_effect(d, charge, kind);
    effect.text = node->text;
    if (kind == EFFECT_SPAWN) {
        effect.start = charge->start;
        effect.orphan_after = d->policy->orphan_after;
        contract_take(charge, node);
    }
    effect.handoff = charge->handoff;
    effect.said = *said_with(charge, words);
    effect.words = words;
    effect.permits = words == WORDS_ANSWER ? charge->permits : PERMISSION_NONE;
    effect.dispatch = again;
    charge->words = words;
    charge->instruction = instruction_hash(node, charge, words);
    attempt_count(d, charge);
    struct effect_slot *slot = effect_make(d, effect);
    sent_note(d, charge, slot, kind, again);
    struct evidence evidence = {.rule = rule,
                                .effect = slot->n + 1,
                                .text = str_of(name_of(&WORDS_NAMES, words)),
                                .more = charge->instruction,
                                .count = charge->attempts};
    if (charge->status == CHARGE_QUEUED) {
        charge_move(d, charge, CHARGE_DISPATCHED, evidence);
        return;
    }
    charge_touch(d, charge);
    decide_record(d, RECORD_CHARGE_DISPATCHED, charge_evidence(d, charge, evidence));
}

static bool is_of_person(enum wording words) {
    return words == WORDS_ANSWER || words == WORDS_TOLD;
}

/* TICK-23: the same words are not said again too soon. What a person says or answers is said as often as they do: yes is yes
 * to another question each time. */
static bool suppressed(struct deciding *d, struct charge *charge, enum wording words) {
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    struct hash hash = instruction_hash(node, charge, words);
    int64_t allowed = charge->last_dispatch_at + d->policy->min_resend;
    if (is_of_person(words) || charge->last_dispatch_at == 0 ||
        !hash_equal(&hash, &charge->instruction) || allowed <= d->signal->at)
        return false;
    charge->backoff_until = allowed;
    charge_touch(d, charge);
    decide_record(d, RECORD_LADDER_SUPPRESSED,
                  charge_evidence(d, charge,
                                  (struct evidence){.rule = STR("dispatch.too-soon"),
                                                    .threshold = d->policy->min_resend,
                                                    .until = allowed}));
    return true;
}

void charge_dispatch(struct deciding *d, struct charge *charge, enum wording words,
                     struct str rule) {
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    must(charge->effect == 0 && dispatch_has_room(d));
    if (charge_is_watched(charge) && charge->run && !charge->ended)
        return; /* nothing is ever said to it: a dispatch begins to watch */
    if ((charge->run == 0 || charge->ended) && !run_may_start(d, charge)) {
        charge_waits_for_host(d, charge);
        return;
    }
    if (node->attempts >= d->policy->max_attempts) /* C-68: whatever it is, and whoever wants it */
        ladder_ask(d, charge, STR("dispatch.too-often"), STR("it was sent something too often"));
    else if (!suppressed(d, charge, words))
        dispatch_make(d, charge, words, rule, 0);
}

void charge_look(struct deciding *d, struct charge *charge, uint32_t dispatch, struct str rule) {
    must(charge->effect == 0 && dispatch_has_room(d));
    struct effect effect = agent_effect(d, charge, EFFECT_LOOK);
    effect.dispatch = dispatch;
    effect.sample = LIMIT_SAMPLED; /* TICK-07 */
    struct effect_slot *slot = effect_make(d, effect);
    charge->effect = slot->n + 1;
    charge_touch(d, charge);
    decide_record(
        d, RECORD_AGENT_SEEN,
        charge_evidence(
            d, charge,
            (struct evidence){.rule = rule, .effect = slot->n + 1, .text = STR("goes to see")}));
}

/* ---- what came of it ---- */

struct charge *charge_of_effect(struct deciding *d, uint32_t n) {
    live_edit(d, PART_CHARGE, 0);
    struct charges *charges = &d->decision->live.charges;
    for (uint32_t i = 0; i < charges->count; i++)
        if (charges->at[i].effect == n + 1)
            return &charges->at[i];
    return NULL;
}

/* ASSIGN-12, TICK-18: history is only ever added to; a late acceptance is another row of the same dispatch. */
void dispatch_history(struct deciding *d, const struct charge *charge, enum delivery result,
                      struct str notes) {
    struct goal *goal = &d->decision->goal;
    bool starts = charge->run == charge->dispatch;
    char id[ID_TEXT + 1], run[ID_TEXT + 1] = "";
    id_format(effect_id(goal->id, charge->dispatch - 1), id);
    if (charge->run)
        id_format(effect_id(goal->id, charge->run - 1), run);
    struct dispatch row = {.id = arena_copy(d->out, str_of(id)),
                           .at = d->signal->at,
                           .assignment = charge_id(charge, d->out),
                           .mode = starts ? STR("sessions_spawn") : STR("sessions_send"),
                           .target = str_of(charge->session),
                           .instruction_hash = hex_of(&charge->instruction, d->out),
                           .result = str_of(name_of(&DELIVERY_NAMES, result)),
                           .run = arena_copy(d->out, str_of(run)),
                           .notes = str_cut_utf8(notes, LIMIT_LINE)};
    decide_part(d, (struct part_change){.kind = PART_DISPATCH,
                                        .n = goal->parts_made++,
                                        .name = row.id,
                                        .body = shape_encode(&DISPATCH, &row, d->out)});
}

/* What a live run did not hear is said later; a yes or no to what it asks for comes before anything else. */
static void unheard_keep(struct deciding *d, struct charge *charge) {
    if (charge->words == WORDS_ANSWER && charge->permits != PERMISSION_NONE)
        charge->owes = WORDS_ANSWER;
    else if (charge->words == WORDS_BLOCK)
        charge->asked = 0;
    else if (charge->unheard && charge->words == charge->unheard) {
        words_put_by(d, charge, charge->unheard, charge->said);
        charge->unheard = WORDS_NONE;
    }
}

/* RECOVER-12: certainly not delivered. It is tried again after a while, by whatever rung is next. */
static void sent_failed(struct deciding *d, struct charge *charge) {
    bool starts = charge->run == charge->dispatch;
    charge->retries += charge->status == CHARGE_STALLED ? 0 : 1;
    charge->last_retry_at = d->signal->at;
    charge->backoff_until = time_after(d->signal->at, ladder_backoff(d->policy, charge));
    if (charge_is_watched(charge))
        charge_run_end(d, charge); /* whoever was to watch goes */
    if (charge->run != charge->dispatch && !charge->ended)
        unheard_keep(d, charge); /* a run that begins anew is told anyway */
    if (starts) {                /* it never began; whatever was started for it goes */
        charge_run_end(d, charge);
        charge->ended = 1;
    }
    if (charge->status == CHARGE_DISPATCHED || charge->status == CHARGE_ACTIVE)
        charge_move(d, charge, CHARGE_STALLED,
                    (struct evidence){.rule = STR("dispatch.failed"),
                                      .text = str_cut_utf8(d->signal->text, LIMIT_LINE),
                                      .until = charge->backoff_until});
    else
        charge_touch(d, charge);
    if (charge_is_watched(charge)) /* the watch did not begin: whoever wanted it hears why */
        ladder_ask(d, charge, STR("watched.failed"),
                   d->signal->text.len > 0 ? str_cut_utf8(d->signal->text, LIMIT_BLOCKED)
                                           : STR("it cannot be watched"));
    else if (starts)
        start_alert(d, charge, d->signal->text);
}

void delivery_note(struct deciding *d, struct charge *charge, enum delivery result,
                   struct str rule) {
    charge->delivery = result;
    if (charge->words == WORDS_TOLD)
        told_heard(d, charge);
    if (charge->words == charge->unheard || charge->words == WORDS_AGAIN)
        charge->unheard = WORDS_NONE;
    bool begins = charge->run == charge->dispatch || is_of_person((enum wording)charge->words);
    if (begins && charge->status == CHARGE_STALLED)
        ladder_fresh(d, charge);
    if (charge->status == CHARGE_QUEUED &&
        !charge->ended) { /* it was to wait, and has heard it after all */
        charge->waiting = WAITS_FOR_NOTHING;
        charge->waits_until = 0;
        charge_move(d, charge, CHARGE_DISPATCHED, (struct evidence){.rule = rule});
    }
    charge_touch(d, charge);
    decide_record(
        d, RECORD_CHARGE_ACCEPTED,
        charge_evidence(d, charge,
                        (struct evidence){.rule = rule,
                                          .effect = charge->dispatch,
                                          .reason = str_of(charge->sandbox),
                                          .text = str_of(charge->limits),
                                          .to = str_of(name_of(&DELIVERY_NAMES, result))}));
}

/* Pain 20: whoever was started for work that was called off meanwhile is ended. */
static void run_unwanted(struct deciding *d, const struct effect_slot *slot) {
    if (d->decision->goal.open_count < LIMIT_OPEN_EFFECTS)
        effect_make(d, (struct effect){.kind = EFFECT_STOP,
                                       .within = d->policy->act_within,
                                       .session = str_cut_utf8(d->signal->title, LIMIT_SESSION),
                                       .run = slot->n + 1});
}

/* ASSIGN-19, SCOPE-06: what it began with is kept with the work: whoever begins there again begins with the same. */
static void start_keep(struct deciding *d, struct charge *charge) {
    struct beginning begun = {0};
    if (d->signal->body.len == 0 || !shape_decode_in(&BEGINNING, d->signal->body, d->out, &begun) ||
        !str_equal(begun.agent, str_of(charge->agent)))
        return;
    charge->start = decide_text(d, d->signal->body);
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, charge->node);
    if (hash_equal(&node->start, &charge->start))
        return;
    node->start = charge->start;
    node_touch(d, node);
}

void sent_ended(struct deciding *d, const struct effect_slot *slot, bool lost) {
    struct charge *charge = charge_of_effect(d, slot->n);
    enum delivery result = lost ? DELIVERY_TIMEOUT : (enum delivery)d->signal->to;
    if (!charge) { /* it is over; the effect's own record says what came of it */
        if (slot->kind == EFFECT_SPAWN && result != DELIVERY_ERROR)
            run_unwanted(d, slot);
        return;
    }
    if (result <= DELIVERY_NONE || result >= DELIVERIES)
        result = DELIVERY_ERROR;
    charge->effect = 0;
    if (!lost && d->signal->title.len > 0)
        name_put(charge->session, sizeof charge->session, d->signal->title);
    if (!lost && slot->kind == EFFECT_SPAWN) { /* SCOPE-08 */
        name_put(charge->sandbox, sizeof charge->sandbox, d->signal->node);
        name_put(charge->scope, sizeof charge->scope, d->signal->reason);
        name_put(charge->limits, sizeof charge->limits, d->signal->command);
        if (result != DELIVERY_ERROR)
            start_keep(d, charge);
    }
    dispatch_history(d, charge, result, d->signal->text);
    charge->delivery = result;
    charge_touch(d, charge);
    if (charge_is_stranded(d, charge))
        return; /* P10: its run is on a lost host, and counts as lost */
    if (result == DELIVERY_ACCEPTED || result == DELIVERY_OK) {
        delivery_note(d, charge, result,
                      charge_is_watched(charge) ? STR("watched.there") : STR("dispatch.receipt"));
        check_go_on(d, charge); /* its word may have come before the receipt */
    } else if (result == DELIVERY_ERROR)
        sent_failed(d, charge);
    else if (dispatch_has_room(d))
        charge_look(d, charge, charge->dispatch, STR("dispatch.look-up")); /* RECOVER-10 */
}

/* RECOVER-10: sent again under the same id only if the look says no, or the other side drops what it knows. */
static void doubt_settle(struct deciding *d, struct charge *charge, const struct sighting *seen) {
    const struct policy_agent *agent = policy_agent(d->policy, str_of(charge->agent));
    enum sure delivered = seen->delivered;
    bool again = delivered == SURE_NO || (delivered == SURE_UNKNOWN && agent && agent->dedupes);
    if (again && seen->turn == SURE_YES && charge->run != charge->dispatch)
        again = false; /* it works meanwhile, and is not interrupted */
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    if (delivered == SURE_YES) {
        dispatch_history(d, charge, DELIVERY_ACCEPTED, STR("found by looking"));
        delivery_note(d, charge, DELIVERY_ACCEPTED, STR("dispatch.found"));
    } else if (again && node->attempts < d->policy->max_attempts && dispatch_has_room(d)) {
        if (charge->run == charge->dispatch)
            charge->ended = 1;
        dispatch_make(d, charge, (enum wording)charge->words, STR("dispatch.again"),
                      charge->dispatch);
    } else {
        if (delivered == SURE_NO && !charge->ended)
            unheard_keep(d, charge);
        else if (charge->words == charge->unheard)
            charge->unheard = WORDS_NONE; /* nothing is said twice */
        charge_touch(d, charge);
        decide_record(d, RECORD_CHARGE_DOUBTED,
                      charge_evidence(d, charge,
                                      (struct evidence){.rule = STR("dispatch.doubt"),
                                                        .effect = charge->dispatch,
                                                        .text = STR("nobody can tell whether it "
                                                                    "arrived")}));
    }
}

/* A look that failed says nothing, and is not held against anybody. */
void look_ended(struct deciding *d, const struct effect_slot *slot) {
    struct charge *charge = charge_of_effect(d, slot->n);
    struct sighting seen = {0};
    if (!charge)
        return;
    charge->effect = 0;
    if (d->signal->body.len > 0 && !shape_decode(&SIGHTING, d->signal->body, &seen))
        seen = (struct sighting){0};
    charge_touch(d, charge);
    if (charge_is_stranded(d, charge))
        return; /* P10: nobody here can see it */
    if (charge->delivery == DELIVERY_TIMEOUT && seen.dispatch == charge->dispatch)
        doubt_settle(d, charge, &seen);
    if (charge->effect == 0 && !answer_looked(d, charge, &seen) && !check_go_on(d, charge))
        charge_looked_at(d, charge, &seen);
}

void stop_ended(struct deciding *d, const struct effect_slot *slot) {
    (void)d, (void)slot; /* the charge was over when it was decided */
}
