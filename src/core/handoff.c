/* SPDX-License-Identifier: Apache-2.0 */
/* Stores handoffs, and attaches each one to the assignment that it is for. CRYSTAL-01 to CRYSTAL-06. */
#include "core/assignment.h"
#include "core/rules.h"

/* A handoff may be about a subtask, a task, a phase or the goal. The newest one goes with the next instruction. */
void rule_handoff(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    struct handoff handoff = {0};
    uint32_t entry;
    struct assignment *assignment = assignment_at_hand(d);
    if (!shape_decode_in(&HANDOFF, d->signal->body, d->out, &handoff) ||
        fields_broken(HANDOFF.fields, HANDOFF.count, &handoff, &entry)) {
        decide_refuse_because(d, ERROR_INVALID, STR("a field is missing, too long or not text"));
        return;
    }
    const struct node *node = plan_find(&d->decision->plan, handoff.node);
    if (handoff.node.len > 0 && (!node || node->retired)) {
        decide_refuse_because(d, ERROR_NOT_FOUND, STR("the goal's plan has no such node"));
        return;
    }
    if (d->signal->sender.by == WHO_AGENT &&
        (!assignment || !node || assignment->node != node->n)) {
        decide_refuse(d, ERROR_UNAUTHORIZED); /* an agent speaks only for its own work */
        return;
    }
    uint32_t n = goal->parts_made++;
    handoff.id = arena_format(d->out, "C_%u", n);
    handoff.at = d->signal->at;
    struct str body = shape_encode(&HANDOFF, &handoff, d->out);
    decide_part(
        d, (struct part_change){.kind = PART_HANDOFF, .n = n, .name = handoff.id, .body = body});
    struct hash hash = decide_text(d, body);
    decide_record(d, RECORD_HANDOFF,
                  (struct evidence){.rule = STR("handoff"),
                                    .node = handoff.node,
                                    .more = hash,
                                    .text = str_cut_utf8(handoff.summary, LIMIT_LINE)});
    assignment = node ? assignments_of_node(&d->decision->live.assignments, node->n) : NULL;
    if (!assignment)
        return;
    assignment->delivery.handoff = hash;
    assignment->delivery.newest_handoff = n + 1;
    assignment_touch(d, assignment);
}
