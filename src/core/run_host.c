/* SPDX-License-Identifier: Apache-2.0 */
/* Where is the run of a node, which reports count, and when may another run start? PROTOCOL P10.
 *
 * A run stays on the host that claimed its start. When another host owns the goal, the run is stranded: it counts as lost at once,
 * nothing that it reports counts any more, and no other run of the node starts before the hold of the old one has certainly
 * frozen it, or before its own host says that it has ended. */
#include "base/planted.h"
#include "core/rules.h"

/* Clocks of two machines do not run equally fast, and a freeze takes a moment. */
static const int64_t MARGIN = SECONDS(2);

static bool is_stranded(const struct deciding *d, const struct node *node) {
    return node->run_host && node->run_host != d->decision->goal.owner;
}

bool charge_is_stranded(const struct deciding *d, const struct charge *charge) {
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    return node && node->alone_at > 0;
}

/* ---- claims ---- */

bool run_may_start(const struct deciding *d, const struct charge *charge) {
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    return !node || node->alone_at <= d->signal->at;
}

void run_host_note(struct deciding *d, struct charge *charge) {
    plan_edit(d, 0);
    charge->work_host = d->signal->host;
    charge_touch(d, charge);
    struct node *node = plan_node(&d->decision->plan, charge->node);
    node->run = charge->run;
    node->run_host = d->signal->host;
    node->orphan_after = d->policy->orphan_after;
    node->alone_at = 0;
    node_touch(d, node);
}

/* ---- a lost host ---- */

static struct evidence lost_evidence(struct deciding *d, const struct charge *charge,
                                     const struct node *node, struct str rule) {
    struct evidence evidence = {.rule = rule,
                                .node = arena_copy(d->out, node_id(node)),
                                .host =
                                    node->run_host || !charge ? node->run_host : charge->work_host,
                                .effect = node->run,
                                .until = node->alone_at};
    return charge ? charge_evidence(d, charge, evidence) : evidence;
}

/* What has not been claimed, and what only looks, is taken back: nobody on this host can do it. */
static void effect_take_back(struct deciding *d, struct charge *charge) {
    struct goal *goal = &d->decision->goal;
    struct effect_slot *slot = charge->effect ? goal_effect(goal, charge->effect - 1) : NULL;
    if (!slot)
        return;
    bool looks = slot->kind == EFFECT_LOOK || slot->kind == EFFECT_CHECK;
    bool unclaimed =
        (slot->kind == EFFECT_SPAWN || slot->kind == EFFECT_SEND) && slot->state == EFFECT_READY;
    if (!looks && !unclaimed)
        return;
    charge->effect = 0;
    effect_move(d, slot, EFFECT_ENDED);
    decide_record(
        d, RECORD_EFFECT_WITHDRAWN,
        charge_evidence(d, charge,
                        (struct evidence){.rule = STR("host.lost"), .effect = slot->n + 1}));
}

static bool is_landing(const struct deciding *d, const struct charge *charge) {
    const struct effect_slot *slot =
        charge->effect ? goal_effect((struct goal *)&d->decision->goal, charge->effect - 1) : NULL;
    return slot && slot->kind == EFFECT_LAND;
}

static void charge_strand(struct deciding *d, struct charge *charge, const struct node *node) {
    bool checked = charge->waiting == WAITS_FOR_CHECK;
    effect_take_back(d, charge);
    charge->ended = 1;
    reply_forget(charge);
    if (checked)
        done_forget(d, charge);
    if (checked || charge->waiting == WAITS_FOR_NOTHING || charge->waiting == WAITS_FOR_RETRY)
        charge->waiting = WAITS_FOR_HOST;
    charge->backoff_until = node->alone_at;
    if (charge->waiting == WAITS_FOR_HOST)
        charge->waits_until = node->alone_at;
    struct evidence evidence = lost_evidence(d, charge, node, STR("host.lost"));
    if (charge->status == CHARGE_DISPATCHED || charge->status == CHARGE_ACTIVE)
        charge_move(d, charge, CHARGE_STALLED, evidence);
    else {
        charge_touch(d, charge);
        decide_record(d, RECORD_CHARGE_WAITS, evidence);
    }
}

/* ---- work that was left on a lost host ---- */

bool work_is_elsewhere(const struct deciding *d, const struct charge *charge) {
    return charge->work_host && charge->work_host != d->decision->goal.owner;
}

/* Its run has ended, so nothing is in the way of another one. */
void work_strand(struct deciding *d, struct charge *charge) {
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, charge->node);
    if (node->alone_at == 0)
        node->alone_at = d->signal->at;
    node->lost_run = node->run;
    node_touch(d, node);
    charge->waiting = WAITS_FOR_CHECK;
    charge_strand(d, charge, node);
}

/* Nobody here can check or land it. What may be on its way to the target is followed to its end first. */
static void works_check_host(struct deciding *d) {
    for (uint32_t i = 0; i < d->decision->live.charges.count; i++) {
        const struct charge *charge = &d->decision->live.charges.at[i];
        const struct node *node = plan_node(&d->decision->plan, charge->node);
        if (charge->waiting != WAITS_FOR_CHECK || !work_is_elsewhere(d, charge) || !node ||
            node->run_host || is_landing(d, charge))
            continue;
        live_edit(d, PART_CHARGE, 0);
        work_strand(d, &d->decision->live.charges.at[i]);
    }
}

/* What is being landed has left the run already, and is followed to its end. A watched session belongs to nobody's host. */
static void run_lost(struct deciding *d, struct node *node) {
    int64_t orphan = node->orphan_after ? node->orphan_after : d->policy->orphan_after;
    int64_t wait = planted(START_BESIDE_LOST_RUN) ? 0 : time_after(orphan, MARGIN);
    node->alone_at = time_after(d->signal->at, wait);
    node->lost_run = node->run;
    node_touch(d, node);
    live_edit(d, PART_CHARGE, 0);
    struct charge *charge = charges_of_node(&d->decision->live.charges, node->n);
    bool works = charge && charge->run && !charge_is_watched(charge) && !is_landing(d, charge);
    if (works)
        charge_strand(d, charge, node);
    else
        decide_record(d, RECORD_CHARGE_WAITS, lost_evidence(d, charge, node, STR("host.lost")));
}

/* The goal is owned by the run's own host again. Another host gave the run up, so it does not go on. */
static void run_is_home(struct deciding *d, struct node *node) {
    live_edit(d, PART_CHARGE, 0);
    struct charge *charge = charges_of_node(&d->decision->live.charges, node->n);
    if (d->decision->goal.open_count >= LIMIT_OPEN_EFFECTS)
        return; /* with the next decision */
    effect_make(d, (struct effect){.kind = EFFECT_STOP,
                                   .within = d->policy->act_within,
                                   .charge = charge ? charge->n : 0,
                                   .agent = charge ? str_of(charge->agent) : STR(""),
                                   .session = charge ? str_of(charge->session) : STR(""),
                                   .run = node->run});
    decide_record(d, RECORD_CHARGE_WAITS, lost_evidence(d, charge, node, STR("host.returned")));
    node->alone_at = 0;
    node_touch(d, node);
}

/* Before every decision: has the goal another owner than its runs? Only a take-over raises the fence above 1. */
void runs_check_host(struct deciding *d) {
    const struct goal *goal = &d->decision->goal;
    const struct plan *plan = &d->decision->plan;
    if (goal->desk || goal->quarantined || goal->fence <= 1)
        return;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct node *node = &plan->nodes[i];
        if (!node->run_host || node->retired || node_is_over(node) ||
            is_stranded(d, node) == (node->alone_at > 0))
            continue;
        plan_edit(d, 0);
        if (is_stranded(d, node))
            run_lost(d, &plan->nodes[i]);
        else
            run_is_home(d, &plan->nodes[i]);
    }
    works_check_host(d);
}

/* A start that may not be made yet. */
void charge_waits_for_host(struct deciding *d, struct charge *charge) {
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    charge->waiting = WAITS_FOR_HOST;
    charge->waits_until = charge->backoff_until = node->alone_at;
    charge_touch(d, charge);
    decide_record(d, RECORD_CHARGE_WAITS, lost_evidence(d, charge, node, STR("host.lost")));
}

/* ---- reports ---- */

/* The end of a run is known: nothing of it is in the way of another one. */
static void run_ended_note(struct deciding *d, const struct charge *charge, struct node *node) {
    bool waited = node->alone_at > 0;
    struct evidence evidence = lost_evidence(d, charge, node, STR("run.ended"));
    evidence.text = str_cut_utf8(d->signal->reason, LIMIT_LINE);
    evidence.until = 0;
    node->run_host = 0;
    node->alone_at = 0;
    node_touch(d, node);
    decide_record(d, RECORD_AGENT_SEEN, evidence);
    if (!charge || !waited)
        return;
    live_edit(d, PART_CHARGE, 0);
    struct charge *waits = charges_find(&d->decision->live.charges, charge->n);
    waits->backoff_until = d->signal->at;
    if (waits->waiting == WAITS_FOR_HOST)
        waits->waits_until = d->signal->at;
    charge_touch(d, waits);
}

static struct node *node_of_run(struct deciding *d) {
    plan_edit(d, 0);
    struct plan *plan = &d->decision->plan;
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->nodes[i].run == d->signal->run && plan->nodes[i].run_host)
            return &plan->nodes[i];
    return NULL;
}

static void stale_seen(struct deciding *d, const struct charge *charge) {
    struct sighting seen = {0};
    if (!shape_decode(&SIGHTING, d->signal->body, &seen))
        return;
    if (seen.event == AGENT_STRANDED) {
        struct evidence evidence = {.rule = STR("run.stranded"),
                                    .effect = d->signal->run,
                                    .text = str_cut_utf8(d->signal->reason, LIMIT_LINE)};
        decide_record(d, RECORD_AGENT_SEEN,
                      charge ? charge_evidence(d, charge, evidence) : evidence);
    }
    struct node *node = seen.event == AGENT_EXITED ? node_of_run(d) : NULL;
    if (node && !node_is_over(node) && !node->retired)
        run_ended_note(d, charge, node);
}

/* Reports of an earlier run never count for another one: they are kept as records. True: that is all that this signal does. */
bool run_is_stale(struct deciding *d) {
    if (d->signal->run == 0 || d->signal->charge == 0 || planted(BELIEVE_ANY_RUN))
        return false;
    const struct charge *charge = charges_find(&d->decision->live.charges, d->signal->charge - 1);
    const struct node *node = charge ? plan_node(&d->decision->plan, charge->node) : NULL;
    bool stale =
        !charge || charge->run != d->signal->run || (node && node->lost_run == d->signal->run);
    if (!stale)
        return false;
    if (d->signal->kind == SIGNAL_AGENT_SEEN)
        stale_seen(d, charge);
    else if (charge)
        decide_record(
            d, RECORD_UPDATE_HELD,
            charge_evidence(d, charge,
                            (struct evidence){.rule = STR("run.stale"),
                                              .effect = d->signal->run,
                                              .text = str_of(SIGNALS[d->signal->kind].name),
                                              .reason = STR("it comes from a run that is over, "
                                                            "lost or replaced")}));
    return charge || d->signal->kind == SIGNAL_AGENT_SEEN;
}

/* The run at hand has ended, and its host says so. */
void run_end_known(struct deciding *d, const struct charge *charge) {
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    if (!node || node->run != charge->run || !node->run_host)
        return;
    plan_edit(d, 0);
    struct node *own = plan_node(&d->decision->plan, charge->node);
    own->run_host = 0;
    node_touch(d, own);
}
