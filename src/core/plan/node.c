/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of a plan: changes their status, and the plan's version. */
#include "core/plan/node.h"
#include "core/people/question.h"

void plan_edit(struct deciding *d, uint32_t more) {
    live_edit(d, PART_NODE, more);
}

void node_touch(struct deciding *d, const struct node *node) {
    live_touch(d, PART_NODE, node);
}

static bool node_may_move(const struct node *node, enum node_status to, enum node_cause cause) {
    if (node->status == NODE_CANCELLED) /* PLAN-09 */
        return false;
    return cause == BY_OVERRIDE || (cause == BY_WORK ? node_status_may_become(node->status, to)
                                                     : node_status_may_roll_to(node->status, to));
}

/* PLAN-06, PLAN-08, PLAN-14: the only function that changes a node's status; started_at is the first start, ended_at
 * the last end. */
void node_move(struct deciding *d, struct node *node, enum node_status to, enum node_cause cause,
               struct evidence evidence) {
    must(node_may_move(node, to, cause));
    evidence.node = arena_copy(d->out, node_id(node));
    evidence.from = str_of(NODE_STATUS[node->status].name);
    evidence.to = str_of(NODE_STATUS[to].name);
    evidence.override = cause == BY_OVERRIDE;
    evidence.plan.version = d->decision->goal.plan.version;
    node->status = to;
    d->decision->goal.plan.reopened = 0;
    node->times.updated_at = d->signal->at;
    if (to == NODE_QUEUED)
        node->times.queued_at = d->signal->at;
    if (to == NODE_IN_PROGRESS && node->times.started_at == 0)
        node->times.started_at = d->signal->at;
    node->times.ended_at = node_is_over(node) ? d->signal->at : 0;
    if (to != NODE_DONE) {
        node->result.proof = PROOF_NONE;
        node->result.landed = (struct hash){0};
    } else if (node->result.proof == PROOF_NONE)
        node->result.proof = d->signal->sender.by == WHO_HUMAN ? PROOF_PERSON : PROOF_CLAIMED;
    if (to != NODE_BLOCKED) {
        question_settle(d, cause_text(CAUSE_FAILED, node->id, d->out), STR("work.goes-on"));
        node->blocked = BLOCKED_BY_NOTHING;
        node->why = (struct hash){0};
    }
    node_touch(d, node);
    decide_record(d, RECORD_WORK_TODO + to, evidence);
}

/* PLAN-17, PLAN-19, PLAN-22: each version of a plan has one record, which says who made it and why. */
void plan_version_raise(struct deciding *d, enum plan_reason why, struct evidence evidence) {
    struct goal *goal = &d->decision->goal;
    goal->plan.version++;
    goal->plan.reopened = 0;
    evidence.plan.version = goal->plan.version;
    evidence.plan.why = why;
    decide_record(d, goal->plan.version == 1 ? RECORD_PLAN_CREATED : RECORD_PLAN_UPDATED, evidence);
}
