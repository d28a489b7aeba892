/* SPDX-License-Identifier: Apache-2.0 */
/* Decides who may move a node, and to which status. PLAN-08, PLAN-14, PLAN-15, PLAN-23; G-16, docs/decisions/0005. */
#include "core/plan/node.h"
#include "core/rules.h"

static void refuse(struct deciding *d, const char *format, const char *one, const char *two) {
    decide_refuse_because(d, ERROR_CONFLICT, arena_format(d->out, format, one, two));
}

/* The node that the signal names, in this decision's own copy of the plan; NULL: refused. */
static struct node *node_in_hand(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    if (!decide_may_plan(d))
        return NULL;
    struct node *node = plan_find(&d->decision->plan, d->signal->work.node);
    if (!node || node->retired)
        decide_refuse_because(
            d, ERROR_NOT_FOUND,
            arena_format(d->out, "the goal's plan has no node %.*s",
                         STR_ARG(str_cut_utf8(d->signal->work.node, LIMIT_NODE_ID))));
    else if (goal->status != GOAL_ACTIVE && goal->status != GOAL_PAUSED)
        refuse(d, "the goal is %s%s; its nodes can no longer change",
               GOAL_STATUS[goal->status].name, "");
    else if (d->signal->plan.expected && d->signal->plan.expected != goal->plan.version)
        refuse(d, "the plan has changed since%s%s", "", "");
    else {
        plan_edit(d, 0);
        return plan_find(&d->decision->plan, d->signal->work.node);
    }
    return NULL;
}

/* ---- overrides ---- */

/* STORE-15: what blocks a node is stored as a kind and as text: a credential by its name, never by its value. */
static enum blocked_by blocked_kind(const struct deciding *d, enum node_status to) {
    if (to != NODE_BLOCKED)
        return BLOCKED_BY_NOTHING;
    return d->signal->work.blocked ? d->signal->work.blocked : BLOCKED_BY_OTHER;
}

static void blocked_say(struct deciding *d, struct node *node) {
    node->blocked = blocked_kind(d, NODE_BLOCKED);
    node->why = decide_text(d, d->signal->reason);
}

/* G-16: cancelling a node cancels everything open below it; what is done stays done. */
static void work_cancel(struct deciding *d, struct node *node, enum node_cause cause);

static void below_cancel(struct deciding *d, const struct node *node) {
    struct plan *plan = &d->decision->plan;
    for (uint32_t i = 0; i < plan->count; i++) {
        struct node *child = &plan->nodes[i];
        if (child->parent != node->n + 1)
            continue;
        if (node_is_over(child))
            below_cancel(d, child); /* done by override, with something open below it */
        else
            work_cancel(d, child, BY_ROLLUP);
    }
}

static void work_cancel(struct deciding *d, struct node *node, enum node_cause cause) {
    below_cancel(d, node);
    node->pinned = 0;
    node_move(d, node, NODE_CANCELLED, cause,
              (struct evidence){.rule = STR("work.cancel"), .reason = d->signal->reason});
}

/* The node already has this status; from now on it keeps it, whatever its children do. */
static void work_hold(struct deciding *d, struct node *node) {
    node->pinned = 1;
    node_touch(d, node);
    decide_record(d, RECORD_WORK_HELD,
                  (struct evidence){.rule = STR("work.override"),
                                    .override = 1,
                                    .node = arena_copy(d->out, node_id(node)),
                                    .plan.version = d->decision->goal.plan.version,
                                    .reason = d->signal->reason});
}

static bool cancelled_above(const struct plan *plan, const struct node *node) {
    for (const struct node *above = plan_parent(plan, node); above;
         above = plan_parent(plan, above))
        if (above->status == NODE_CANCELLED)
            return true;
    return false;
}

/* PLAN-14: bypasses the table and the rollup, with a reason and an actor, who is never an agent; never out of
 * cancelled. */
static void work_override(struct deciding *d, struct node *node, enum node_status to) {
    bool parent = plan_has_children(&d->decision->plan, node);
    if (d->signal->sender.by == WHO_AGENT)
        decide_refuse(d, ERROR_UNAUTHORIZED);
    else if (d->signal->reason.len == 0)
        decide_refuse_because(d, ERROR_INVALID, STR("an override needs a reason"));
    else if (node->status == NODE_CANCELLED)
        refuse(d, "node %s is cancelled, and that is final%s", node->id, "");
    else if (to == NODE_CANCELLED)
        work_cancel(d, node, BY_OVERRIDE);
    else if (to != NODE_DONE && cancelled_above(&d->decision->plan, node))
        refuse(d, "a node above %s is cancelled, and that is final%s", node->id, "");
    else if (node->status == to && parent && !node->pinned)
        work_hold(d, node);
    else if (node->status != to) {
        node_move(d, node, to, BY_OVERRIDE,
                  (struct evidence){.rule = STR("work.override"),
                                    .reason = d->signal->reason,
                                    .blocked = blocked_kind(d, to),
                                    .text = d->signal->text});
        node->pinned = parent;
        if (to == NODE_BLOCKED)
            blocked_say(d, node);
    }
}

/* ---- moves by the transition table ---- */

static void work_block(struct deciding *d, struct node *node) {
    if (d->signal->reason.len == 0) {
        decide_refuse_because(d, ERROR_INVALID, STR("name the blocker"));
        return;
    }
    node_move(d, node, NODE_BLOCKED, BY_WORK,
              (struct evidence){.rule = STR("work.block"),
                                .reason = d->signal->reason,
                                .blocked = blocked_kind(d, NODE_BLOCKED)});
    blocked_say(d, node);
}

/* PLAN-15, C-22: the overseer has to give evidence. A person's word is an override, and needs a reason. */
static void work_done(struct deciding *d, struct node *node) {
    if (d->signal->sender.by == WHO_HUMAN)
        work_override(d, node, NODE_DONE);
    else if (d->signal->text.len == 0)
        decide_refuse_because(d, ERROR_INVALID,
                              STR("done needs evidence: a handoff, a commit, a test"));
    else
        node_move(d, node, NODE_DONE, BY_WORK,
                  (struct evidence){.rule = STR("work.done"), .text = d->signal->text});
}

static void work_by_table(struct deciding *d, struct node *node, enum node_status to) {
    bool parent = plan_has_children(&d->decision->plan, node);
    bool human_done = to == NODE_DONE && d->signal->sender.by == WHO_HUMAN;
    if (node->status == to)
        return;
    if (to == NODE_CANCELLED && node->status == NODE_TODO)
        work_override(d, node, to); /* PLAN-08 has no other way from todo */
    else if (to == NODE_CANCELLED && !node_is_over(node))
        work_cancel(d, node, BY_WORK);
    else if (!node_status_may_become(node->status, to) && !human_done)
        refuse(d, "a node that is %s cannot become %s; use an override with a reason",
               NODE_STATUS[node->status].name, NODE_STATUS[to].name);
    else if (parent && !human_done)
        refuse(d, "node %s follows its children%s; use an override with a reason to set it",
               node->id, "");
    else if (to == NODE_QUEUED && node->status == NODE_TODO)
        refuse(d, "node %s waits for what it depends on%s", node->id, ""); /* PLAN-35 */
    else if (to == NODE_BLOCKED)
        work_block(d, node);
    else if (to == NODE_DONE)
        work_done(d, node);
    else
        node_move(
            d, node, to, BY_WORK,
            (struct evidence){.rule = to == NODE_QUEUED ? STR("work.unblock") : STR("work.start"),
                              .reason = d->signal->reason});
}

void rule_work(struct deciding *d) {
    struct node *node = node_in_hand(d);
    if (!node)
        return;
    if (d->signal->to >= NODE_STATUSES) {
        decide_refuse_because(d, ERROR_INVALID, STR("unknown status of a node"));
        return;
    }
    enum node_status to = (enum node_status)d->signal->to, from = node->status;
    if (d->signal->work.override)
        work_override(d, node, to);
    else
        work_by_table(d, node, to);
    if (d->decision->verdict != VERDICT_CHANGE || node->status == from)
        return;
    task_finished(d, node);
    plan_settle(d);
}

void rule_follow(struct deciding *d) {
    struct node *node = node_in_hand(d);
    if (!node || !node->pinned)
        return;
    node->pinned = 0;
    node_touch(d, node);
    decide_record(d, RECORD_WORK_FOLLOWS,
                  (struct evidence){.rule = STR("work.follow"),
                                    .node = arena_copy(d->out, node_id(node)),
                                    .plan.version = d->decision->goal.plan.version,
                                    .reason = d->signal->reason});
    plan_settle(d);
}
