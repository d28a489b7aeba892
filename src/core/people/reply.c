/* SPDX-License-Identifier: Apache-2.0 */
/* Sends replies to agents: an answer, a request for the agreed form, a request for a handoff, or a fresh run.
 *
 * A thousand agents may need one at the same moment, so each reply is queued first, and sent once admission has room
 * for it. */
#include "core/admission/permit.h"
#include "core/assignment.h"
#include "core/effect.h"
#include "core/people/message.h"

static struct str reply_rule(enum wording words) {
    switch (words) {
    case WORDS_BLOCK: return STR("update.once-more");
    case WORDS_ANSWER: return STR("answer.given");
    case WORDS_HANDOVER: return STR("agent.window-full");
    case WORDS_FAILED: return STR("work.failed");
    case WORDS_CONFLICT: return STR("work.conflict");
    case WORDS_MESSAGE: return STR("person.tells");
    default: return STR("handoff.fresh-run");
    }
}

static bool can_hear(const struct deciding *d, const struct assignment *assignment) {
    bool works = assignment->status == ASSIGNMENT_DISPATCHED ||
                 assignment->status == ASSIGNMENT_ACTIVE ||
                 assignment->status == ASSIGNMENT_STALLED;
    return works && assignment->delivery.effect == 0 && d->decision->goal.status == GOAL_ACTIVE &&
           dispatch_has_room(d);
}

static void reply_ask(struct deciding *d, struct assignment *assignment) {
    assignment->wait.on = WAITS_FOR_PERMIT;
    permit_act(d, assignment, PERMIT_ACT);
}

/* Text that the agent has not received yet makes room for the new text, and is sent after it. */
void outgoing_set(struct deciding *d, struct assignment *assignment, enum wording words,
                  struct hash outgoing) {
    if (assignment->outgoing.undelivered)
        words_put_by(d, assignment, assignment->outgoing.undelivered, assignment->outgoing.text);
    assignment->outgoing.text = outgoing;
    assignment->outgoing.undelivered = words;
}

void assignment_reply(struct deciding *d, struct assignment *assignment, enum wording words) {
    bool can_wait = words == WORDS_BLOCK || words == WORDS_HANDOVER;
    if (assignment_is_adopted(assignment) ||
        (assignment->outgoing.undelivered && assignment->outgoing.next && can_wait))
        return;
    assignment->outgoing.next = words;
    assignment_touch(d, assignment);
    if (can_hear(d, assignment))
        reply_ask(d, assignment);
    else
        assignment_noted(d, assignment->n, STR("reply.later"));
}

/* Nothing is in the way of the reply any more. */
void reply_due(struct deciding *d, struct assignment *assignment) {
    if (assignment->outgoing.next && assignment->wait.on == WAITS_FOR_NOTHING &&
        can_hear(d, assignment))
        reply_ask(d, assignment);
}

/* A permit is for this moment. A reply that cannot be sent now stays queued, and reply_due() asks admission once more. */
void reply_granted(struct deciding *d, struct assignment *assignment) {
    enum wording words = assignment->outgoing.next;
    if (assignment->wait.on != WAITS_FOR_PERMIT || assignment->status == ASSIGNMENT_QUEUED)
        return;
    assignment->wait.on = WAITS_FOR_NOTHING;
    assignment_touch(d, assignment);
    if (!can_hear(d, assignment)) {
        decide_record(
            d, RECORD_ASSIGNMENT_WAITS,
            assignment_evidence(d, assignment, (struct evidence){.rule = STR("reply.not-now")}));
        return;
    }
    uint32_t n = assignment->n;
    assignment->outgoing.next = WORDS_NONE;
    if (words == WORDS_HANDOVER)
        assignment->recovery.handover = 1;
    if (words == WORDS_AGAIN) {
        assignment_run_end(d, assignment);
        assignment->session[0] = 0;
    }
    assignment_dispatch(d, assignment, words, reply_rule(words));
    assignment_noted(d, n, reply_rule(words));
}
