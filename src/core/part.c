/* SPDX-License-Identifier: Apache-2.0 */
/* Stores an assignment, dispatch, handoff or run that was handed in, if it is complete. STORE-12, STORE-22. */
#include "core/rules.h"

/* Every such shape begins with its id. */
struct part_head {
    struct str id;
};

void rule_part(struct deciding *d) {
    const struct signal *signal = d->signal;
    struct goal *goal = &d->decision->goal;
    uint32_t entry;
    if (signal->sender.by == WHO_AGENT) {
        decide_refuse(d, ERROR_UNAUTHORIZED);
        return;
    }
    if (signal->plan.expected && signal->plan.expected != goal->version) {
        decide_refuse_because(d, ERROR_CONFLICT, STR("the goal has changed since it was read"));
        return;
    }
    bool known = signal->to < PARTS && !PART[signal->to].live &&
                 !(signal->to == PART_DISPATCH && signal->effect); /* history is append-only */
    const struct shape *shape = known ? PART[signal->to].shape : NULL;
    struct part_head *part = known ? arena_take(d->out, shape->size, alignof(max_align_t)) : NULL;
    if (!known || signal->effect > goal->parts_made ||
        !shape_decode_in(shape, signal->body, d->out, part) || part->id.len == 0 ||
        fields_broken(shape->fields, shape->count, part, &entry)) {
        decide_refuse_because(d, ERROR_INVALID, STR("a field is missing, too long or not text"));
        return;
    }
    uint32_t n = signal->effect ? signal->effect - 1 : goal->parts_made++;
    decide_part(d, (struct part_change){.kind = (enum part_kind)signal->to,
                                        .n = n,
                                        .name = part->id,
                                        .body = shape_encode(shape, part, d->out)});
    decide_record(
        d, RECORD_PART_PUT,
        (struct evidence){.rule = STR("part.put"), .text = part->id, .to = str_of(shape->name)});
}
