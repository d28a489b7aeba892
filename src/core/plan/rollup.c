/* SPDX-License-Identifier: Apache-2.0 */
/* Derives what follows from a node that moved or a plan that changed. PLAN-10 to PLAN-13, PLAN-16, PLAN-35: one
 * implementation for every view. G-16, docs/decisions/0005. */
#include "core/goal.h"
#include "core/plan/node.h"

/* ---- the target state ---- */

static void nodes_follow(struct plan *plan, enum tier tier) {
    for (uint32_t i = 0; i < plan->count; i++) {
        struct node *node = &plan->nodes[i];
        if (node->tier == tier && !node->retired && !node->pinned &&
            node->status != NODE_CANCELLED && plan_has_children(plan, node))
            node->status = plan_rolled_up(plan, node);
    }
}

static void leaves_wait_or_queue(struct plan *plan) {
    for (uint32_t i = 0; i < plan->count; i++) {
        struct node *node = &plan->nodes[i];
        if (node->retired || node->pinned || plan_has_children(plan, node))
            continue;
        if (node->status == NODE_TODO || node->status == NODE_QUEUED)
            node->status = plan_is_ready(plan, node) ? NODE_QUEUED : NODE_TODO;
    }
}

/* First the statuses roll up from below; then leaves are queued or wait; then that rolls up again. */
static struct plan plan_settled(const struct deciding *d) {
    const struct plan *plan = &d->decision->plan;
    struct plan settled = {arena_new(d->out, struct node, plan->count), plan->count};
    memcpy(settled.nodes, plan->nodes, plan->count * sizeof *plan->nodes);
    nodes_follow(&settled, TIER_TASK);
    nodes_follow(&settled, TIER_PHASE);
    leaves_wait_or_queue(&settled);
    nodes_follow(&settled, TIER_TASK);
    nodes_follow(&settled, TIER_PHASE);
    return settled;
}

/* ---- moving there, with records ---- */

static struct evidence evidence_for(const struct deciding *d, const struct node *node,
                                    enum node_status to) {
    bool leaf = !plan_has_children(&d->decision->plan, node);
    if (!leaf)
        return (struct evidence){.rule = STR("plan.rollup"),
                                 .text = STR("it follows its children")};
    if (to == NODE_QUEUED)
        return (struct evidence){.rule = STR("plan.ready"),
                                 .threshold = node->depend_count,
                                 .text = STR("everything it depends on is done")};
    return (struct evidence){.rule = STR("plan.unready"),
                             .text = STR("something it depends on is not done")};
}

/* PLAN-22: a finished task is a new version of the plan, whatever moved it. */
void task_finished(struct deciding *d, const struct node *node) {
    if (node->tier == TIER_TASK && node->status == NODE_DONE)
        plan_version_raise(d, REASON_TASK_COMPLETED,
                           (struct evidence){.rule = STR("plan.task-completed"),
                                             .node = arena_copy(d->out, node_id(node))});
}

static void nodes_move(struct deciding *d, const struct plan *settled, enum tier tier) {
    for (uint32_t i = 0; i < settled->count; i++) {
        struct node *node = &d->decision->plan.nodes[i];
        enum node_status to = settled->nodes[i].status;
        if (node->tier != tier || node->status == to)
            continue;
        bool by_work = node->status == NODE_TODO && to == NODE_QUEUED;
        node_move(d, node, to, by_work ? BY_WORK : BY_ROLLUP, evidence_for(d, node, to));
        task_finished(d, node);
    }
}

/* G-16: everything was cancelled, so nothing will ever complete the goal by itself. */
static void nothing_left(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    const struct plan *plan = &d->decision->plan;
    bool changed = false;
    for (uint32_t i = 0; i < plan->count; i++) {
        if (plan->nodes[i].tier != TIER_PHASE || plan->nodes[i].retired)
            continue;
        if (plan->nodes[i].status != NODE_CANCELLED)
            return;
        changed = changed || d->touched[PART_NODE][i];
    }
    if (!changed || goal->plan.review)
        return;
    goal->plan.review = 1;
    decide_record(d, RECORD_PLAN_REVIEW_NEEDED,
                  (struct evidence){.rule = STR("plan.nothing-left"),
                                    .plan.why = REASON_REVIEW,
                                    .plan.version = goal->plan.version,
                                    .text = STR("every phase is cancelled")});
}

/* A node waits for one that will never be done: a person or the planner has to look, and is asked once, when this
 * happens. */
static void waiting_in_vain(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    const struct plan *plan = &d->decision->plan;
    for (uint32_t i = 0; i < plan->count && !goal->plan.review; i++) {
        const struct node *node = &plan->nodes[i];
        for (uint32_t k = 0; k < node->depend_count && !node_is_over(node) && !goal->plan.review;
             k++) {
            const struct node *on = plan_node(plan, node->depends[k]);
            if (on->status != NODE_CANCELLED ||
                !(d->touched[PART_NODE][i] || d->touched[PART_NODE][on - plan->nodes]))
                continue;
            goal->plan.review = 1;
            decide_record(d, RECORD_PLAN_REVIEW_NEEDED,
                          (struct evidence){.rule = STR("plan.waits-in-vain"),
                                            .plan.why = REASON_DEPENDENCY_CANCELLED,
                                            .plan.version = goal->plan.version,
                                            .node = arena_copy(d->out, node_id(node)),
                                            .text = arena_copy(d->out, node_id(on))});
        }
    }
}

void plan_settle(struct deciding *d) {
    if (d->decision->plan.count == 0)
        return;
    plan_edit(d, 0);
    struct plan settled = plan_settled(d);
    for (int tier = TIER_SUBTASK; tier >= TIER_PHASE; tier--)
        nodes_move(d, &settled, (enum tier)tier);
    waiting_in_vain(d);
    nothing_left(d);
    goal_settle(d);
}

/* PLAN-12: an active goal is completed once every phase is done, nothing is open and no agent works on it any more;
 * without a plan, once its command has ended with 0. */
void goal_settle(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    bool planned = d->decision->plan.count > 0;
    if (goal->status != GOAL_ACTIVE || goal_works(goal) > 0 || goal_needs_person(goal) ||
        d->decision->live.assignments.count > 0 || /* staff() releases them first */
        goal->plan.reopened ||
        !(planned ? plan_is_done(&d->decision->plan) : goal->progress.succeeded))
        return;
    goal_move(d, GOAL_COMPLETED);
    decide_record(
        d, RECORD_GOAL_COMPLETED,
        (struct evidence){.rule = planned ? STR("plan.completed") : STR("command.succeeded"),
                          .plan.version = goal->plan.version,
                          .exit = goal->progress.last_exit,
                          .text = planned ? STR("every phase is done")
                                          : STR("its command ended with 0")});
}
