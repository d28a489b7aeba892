/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks the host of each node's run: which reports count, and when another run may start. PROTOCOL P10.
 *
 * A run stays on the host that claimed its start. When another host owns the goal, the run is stranded: it counts as
 * lost at once, its reports do not count any more, and no other run of the node starts before the hold of the old one
 * has certainly frozen it, or before its own host says that it has ended. */
#include "core/run_host.h"
#include "base/planted.h"
#include "core/assignment.h"
#include "core/check.h"
#include "core/effect.h"
#include "core/plan/node.h"

/* The clocks of two machines do not run equally fast, and a freeze takes a moment. */
static const int64_t MARGIN = SECONDS(2);

static bool is_stranded(const struct deciding *d, const struct node *node) {
    return node->run.host && node->run.host != d->decision->goal.owner;
}

bool assignment_is_stranded(const struct deciding *d, const struct assignment *assignment) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    return node && node->run.alone_at > 0;
}

/* ---- claims ---- */

bool run_may_start(const struct deciding *d, const struct assignment *assignment) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    return !node || node->run.alone_at <= d->signal->at;
}

void run_host_note(struct deciding *d, struct assignment *assignment) {
    plan_edit(d, 0);
    assignment->setup.work_host = d->signal->host;
    assignment_touch(d, assignment);
    struct node *node = plan_node(&d->decision->plan, assignment->node);
    node->run.effect = assignment->run;
    node->run.host = d->signal->host;
    node->run.orphan_after = d->policy->recovery.orphan_after;
    node->run.alone_at = 0;
    node_touch(d, node);
}

/* ---- a lost host ---- */

static struct evidence lost_evidence(struct deciding *d, const struct assignment *assignment,
                                     const struct node *node, struct str rule) {
    struct evidence evidence = {.rule = rule,
                                .node = arena_copy(d->out, node_id(node)),
                                .host = node->run.host || !assignment ? node->run.host
                                                                      : assignment->setup.work_host,
                                .effect = node->run.effect,
                                .until = node->run.alone_at};
    return assignment ? assignment_evidence(d, assignment, evidence) : evidence;
}

/* Withdraws an effect that is unclaimed or only looks: this host cannot carry it out. */
static void effect_take_back(struct deciding *d, struct assignment *assignment) {
    struct goal *goal = &d->decision->goal;
    struct effect_slot *slot =
        assignment->delivery.effect ? goal_effect(goal, assignment->delivery.effect - 1) : NULL;
    if (!slot)
        return;
    bool looks = slot->kind == EFFECT_LOOK || slot->kind == EFFECT_CHECK;
    bool unclaimed =
        (slot->kind == EFFECT_SPAWN || slot->kind == EFFECT_SEND) && slot->state == EFFECT_READY;
    if (!looks && !unclaimed)
        return;
    assignment->delivery.effect = 0;
    effect_move(d, slot, EFFECT_ENDED);
    decide_record(
        d, RECORD_EFFECT_WITHDRAWN,
        assignment_evidence(d, assignment,
                            (struct evidence){.rule = STR("host.lost"), .effect = slot->n + 1}));
}

static bool is_landing(const struct deciding *d, const struct assignment *assignment) {
    const struct effect_slot *slot =
        assignment->delivery.effect
            ? goal_effect((struct goal *)&d->decision->goal, assignment->delivery.effect - 1)
            : NULL;
    return slot && slot->kind == EFFECT_LAND;
}

static void assignment_strand(struct deciding *d, struct assignment *assignment,
                              const struct node *node) {
    bool checked = assignment->wait.on == WAITS_FOR_CHECK;
    effect_take_back(d, assignment);
    assignment->ended = 1;
    reply_forget(assignment);
    if (checked)
        done_forget(d, assignment);
    if (checked || assignment->wait.on == WAITS_FOR_NOTHING ||
        assignment->wait.on == WAITS_FOR_RETRY)
        assignment->wait.on = WAITS_FOR_HOST;
    assignment->recovery.backoff_until = node->run.alone_at;
    if (assignment->wait.on == WAITS_FOR_HOST)
        assignment->wait.until = node->run.alone_at;
    struct evidence evidence = lost_evidence(d, assignment, node, STR("host.lost"));
    if (assignment->status == ASSIGNMENT_DISPATCHED || assignment->status == ASSIGNMENT_ACTIVE)
        assignment_move(d, assignment, ASSIGNMENT_STALLED, evidence);
    else {
        assignment_touch(d, assignment);
        decide_record(d, RECORD_ASSIGNMENT_WAITS, evidence);
    }
}

/* ---- work that was left on a lost host ---- */

bool work_is_elsewhere(const struct deciding *d, const struct assignment *assignment) {
    return assignment->setup.work_host && assignment->setup.work_host != d->decision->goal.owner;
}

/* The run has ended, so nothing prevents another one. */
void work_strand(struct deciding *d, struct assignment *assignment) {
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, assignment->node);
    if (node->run.alone_at == 0)
        node->run.alone_at = d->signal->at;
    node->run.lost = node->run.effect;
    node_touch(d, node);
    assignment->wait.on = WAITS_FOR_CHECK;
    assignment_strand(d, assignment, node);
}

/* This host cannot check or land the work. A landing that may be in progress is followed to its end first. */
static void works_check_host(struct deciding *d) {
    for (uint32_t i = 0; i < d->decision->live.assignments.count; i++) {
        const struct assignment *assignment = &d->decision->live.assignments.at[i];
        const struct node *node = plan_node(&d->decision->plan, assignment->node);
        if (assignment->wait.on != WAITS_FOR_CHECK || !work_is_elsewhere(d, assignment) || !node ||
            node->run.host || is_landing(d, assignment))
            continue;
        live_edit(d, PART_ASSIGNMENT, 0);
        work_strand(d, &d->decision->live.assignments.at[i]);
    }
}

/* Work that is being landed no longer depends on the run, and is followed to its end. An adopted session belongs to no
 * host. */
static void run_lost(struct deciding *d, struct node *node) {
    int64_t orphan =
        node->run.orphan_after ? node->run.orphan_after : d->policy->recovery.orphan_after;
    int64_t wait = planted(START_BESIDE_LOST_RUN) ? 0 : time_after(orphan, MARGIN);
    node->run.alone_at = time_after(d->signal->at, wait);
    node->run.lost = node->run.effect;
    node_touch(d, node);
    live_edit(d, PART_ASSIGNMENT, 0);
    struct assignment *assignment = assignments_of_node(&d->decision->live.assignments, node->n);
    bool works = assignment && assignment->run && !assignment_is_adopted(assignment) &&
                 !is_landing(d, assignment);
    if (works)
        assignment_strand(d, assignment, node);
    else
        decide_record(d, RECORD_ASSIGNMENT_WAITS,
                      lost_evidence(d, assignment, node, STR("host.lost")));
}

/* The run's own host owns the goal again. Another host gave the run up, so it does not continue. */
static void run_is_home(struct deciding *d, struct node *node) {
    live_edit(d, PART_ASSIGNMENT, 0);
    struct assignment *assignment = assignments_of_node(&d->decision->live.assignments, node->n);
    if (d->decision->goal.effects.open_count >= LIMIT_OPEN_EFFECTS)
        return; /* done with the next decision */
    effect_make(d, (struct effect){.kind = EFFECT_STOP,
                                   .within = d->policy->act_within,
                                   .assignment = assignment ? assignment->n : 0,
                                   .agent = assignment ? str_of(assignment->agent) : STR(""),
                                   .session = assignment ? str_of(assignment->session) : STR(""),
                                   .run = node->run.effect});
    decide_record(d, RECORD_ASSIGNMENT_WAITS,
                  lost_evidence(d, assignment, node, STR("host.returned")));
    node->run.alone_at = 0;
    node_touch(d, node);
}

/* Before every decision: does another host own the goal than the one that has its runs? Only a takeover raises the
 * fence above 1. */
void runs_check_host(struct deciding *d) {
    const struct goal *goal = &d->decision->goal;
    const struct plan *plan = &d->decision->plan;
    if (goal->kind.admission || goal->quarantined || goal->fence <= 1)
        return;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct node *node = &plan->nodes[i];
        if (!node->run.host || node->retired || node_is_over(node) ||
            is_stranded(d, node) == (node->run.alone_at > 0))
            continue;
        plan_edit(d, 0);
        if (is_stranded(d, node))
            run_lost(d, &plan->nodes[i]);
        else
            run_is_home(d, &plan->nodes[i]);
    }
    works_check_host(d);
}

/* The run may not start yet. */
void assignment_waits_for_host(struct deciding *d, struct assignment *assignment) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    assignment->wait.on = WAITS_FOR_HOST;
    assignment->wait.until = assignment->recovery.backoff_until = node->run.alone_at;
    assignment_touch(d, assignment);
    decide_record(d, RECORD_ASSIGNMENT_WAITS, lost_evidence(d, assignment, node, STR("host.lost")));
}

/* ---- reports ---- */

/* The end of a run is known: it no longer prevents another one. */
static void run_ended_note(struct deciding *d, const struct assignment *assignment,
                           struct node *node) {
    bool waited = node->run.alone_at > 0;
    struct evidence evidence = lost_evidence(d, assignment, node, STR("run.ended"));
    evidence.text = str_cut_utf8(d->signal->reason, LIMIT_LINE);
    evidence.until = 0;
    node->run.host = 0;
    node->run.alone_at = 0;
    node_touch(d, node);
    decide_record(d, RECORD_AGENT_SEEN, evidence);
    if (!assignment || !waited)
        return;
    live_edit(d, PART_ASSIGNMENT, 0);
    struct assignment *waits = assignments_find(&d->decision->live.assignments, assignment->n);
    waits->recovery.backoff_until = d->signal->at;
    if (waits->wait.on == WAITS_FOR_HOST)
        waits->wait.until = d->signal->at;
    assignment_touch(d, waits);
}

static struct node *node_of_run(struct deciding *d) {
    plan_edit(d, 0);
    struct plan *plan = &d->decision->plan;
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->nodes[i].run.effect == d->signal->about.run && plan->nodes[i].run.host)
            return &plan->nodes[i];
    return NULL;
}

static void stale_seen(struct deciding *d, const struct assignment *assignment) {
    struct observation seen = {0};
    if (!shape_decode(&OBSERVATION, d->signal->body, &seen))
        return;
    if (seen.event == AGENT_STRANDED) {
        struct evidence evidence = {.rule = STR("run.stranded"),
                                    .effect = d->signal->about.run,
                                    .text = str_cut_utf8(d->signal->reason, LIMIT_LINE)};
        decide_record(d, RECORD_AGENT_SEEN,
                      assignment ? assignment_evidence(d, assignment, evidence) : evidence);
    }
    struct node *node = seen.event == AGENT_EXITED ? node_of_run(d) : NULL;
    if (node && !node_is_over(node) && !node->retired)
        run_ended_note(d, assignment, node);
}

/* Reports of an earlier run never count for another one: they are kept as records. True: this signal does nothing else. */
bool run_is_stale(struct deciding *d) {
    if (d->signal->about.run == 0 || d->signal->about.assignment == 0 || planted(BELIEVE_ANY_RUN))
        return false;
    const struct assignment *assignment =
        assignments_find(&d->decision->live.assignments, d->signal->about.assignment - 1);
    const struct node *node = assignment ? plan_node(&d->decision->plan, assignment->node) : NULL;
    bool stale = !assignment || assignment->run != d->signal->about.run ||
                 (node && node->run.lost == d->signal->about.run);
    if (!stale)
        return false;
    if (d->signal->kind == SIGNAL_AGENT_SEEN)
        stale_seen(d, assignment);
    else if (assignment)
        decide_record(
            d, RECORD_UPDATE_HELD,
            assignment_evidence(d, assignment,
                                (struct evidence){.rule = STR("run.stale"),
                                                  .effect = d->signal->about.run,
                                                  .text = str_of(SIGNALS[d->signal->kind].name),
                                                  .reason = STR("it comes from a run that is over, "
                                                                "lost or replaced")}));
    return assignment || d->signal->kind == SIGNAL_AGENT_SEEN;
}

/* The current run has ended, and its host says so. */
void run_end_known(struct deciding *d, const struct assignment *assignment) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    if (!node || node->run.effect != assignment->run || !node->run.host)
        return;
    plan_edit(d, 0);
    struct node *own = plan_node(&d->decision->plan, assignment->node);
    own->run.host = 0;
    node_touch(d, own);
}
