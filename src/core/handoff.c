/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody writes down where things stand: for whom is it kept? CRYSTAL-01 to CRYSTAL-06. */
#include "core/rules.h"

/* At every level: a subtask, a task, a phase, or the goal. The newest goes with the next instruction. */
void rule_handoff(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    struct crystal crystal = {0};
    uint32_t entry;
    struct charge *charge = charge_in_hand(d);
    if (!shape_decode_in(&CRYSTAL, d->signal->body, d->out, &crystal) ||
        fields_broken(CRYSTAL.fields, CRYSTAL.count, &crystal, &entry)) {
        decide_refuse_because(d, ERROR_INVALID, STR("a field is missing, too long or not text"));
        return;
    }
    const struct node *node = plan_find(&d->decision->plan, crystal.node);
    if (crystal.node.len > 0 && (!node || node->retired)) {
        decide_refuse_because(d, ERROR_NOT_FOUND, STR("the goal's plan has no such node"));
        return;
    }
    if (d->signal->by == WHO_AGENT && (!charge || !node || charge->node != node->n)) {
        decide_refuse(d, ERROR_UNAUTHORIZED); /* nobody speaks for another's work */
        return;
    }
    uint32_t n = goal->parts_made++;
    crystal.id = arena_format(d->out, "C_%u", n);
    crystal.at = d->signal->at;
    struct str body = shape_encode(&CRYSTAL, &crystal, d->out);
    decide_part(
        d, (struct part_change){.kind = PART_CRYSTAL, .n = n, .name = crystal.id, .body = body});
    struct hash hash = decide_text(d, body);
    decide_record(d, RECORD_HANDOFF,
                  (struct evidence){.rule = STR("handoff"),
                                    .node = crystal.node,
                                    .more = hash,
                                    .text = str_cut_utf8(crystal.summary, LIMIT_LINE)});
    charge = node ? charges_of_node(&d->decision->live.charges, node->n) : NULL;
    if (!charge)
        return;
    charge->handoff = hash;
    charge->crystal = n + 1;
    charge_touch(d, charge);
}
