/* SPDX-License-Identifier: Apache-2.0 */
/* What is said in reaction, and when? An answer, "please in the agreed form", "write down where things stand", a fresh run.
 *
 * A thousand agents may want one at the same moment, so each is owed first, and said once the desk has room for it. */
#include "core/rules.h"

static struct str reply_rule(enum wording words) {
    switch (words) {
    case WORDS_BLOCK: return STR("update.once-more");
    case WORDS_ANSWER: return STR("answer.given");
    case WORDS_HANDOVER: return STR("agent.window-full");
    case WORDS_FAILED: return STR("work.failed");
    case WORDS_CONFLICT: return STR("work.conflict");
    case WORDS_TOLD: return STR("person.tells");
    default: return STR("handoff.fresh-run");
    }
}

/* It is not needed any more, or its run is over: whoever begins anew hears all of it. */
void reply_forget(struct charge *charge) {
    if (charge->owes && charge->waiting == WAITS_FOR_PERMIT && charge->status != CHARGE_QUEUED)
        charge->waiting = WAITS_FOR_NOTHING;
    charge->owes = WORDS_NONE;
}

static bool can_hear(const struct deciding *d, const struct charge *charge) {
    bool works = charge->status == CHARGE_DISPATCHED || charge->status == CHARGE_ACTIVE ||
                 charge->status == CHARGE_STALLED;
    return works && charge->effect == 0 && d->decision->goal.status == GOAL_ACTIVE &&
           dispatch_has_room(d);
}

static void reply_ask(struct deciding *d, struct charge *charge) {
    charge->waiting = WAITS_FOR_PERMIT;
    permit_act(d, charge, PERMIT_ACT);
}

/* What its agent has not heard yet makes room for what is said instead, and is said after it. */
void said_becomes(struct deciding *d, struct charge *charge, enum wording words, struct hash said) {
    if (charge->unheard)
        words_put_by(d, charge, charge->unheard, charge->said);
    charge->said = said;
    charge->unheard = words;
}

void charge_reply(struct deciding *d, struct charge *charge, enum wording words) {
    bool can_wait = words == WORDS_BLOCK || words == WORDS_HANDOVER;
    if (charge_is_watched(charge) || (charge->unheard && charge->owes && can_wait))
        return;
    charge->owes = words;
    charge_touch(d, charge);
    if (can_hear(d, charge))
        reply_ask(d, charge);
    else
        charge_noted(d, charge->n, STR("reply.later"));
}

/* What was in its way is over. */
void reply_due(struct deciding *d, struct charge *charge) {
    if (charge->owes && charge->waiting == WAITS_FOR_NOTHING && can_hear(d, charge))
        reply_ask(d, charge);
}

/* A permit is for this moment. What cannot be said in it stays owed, and reply_due() asks the desk once more. */
void reply_granted(struct deciding *d, struct charge *charge) {
    enum wording words = charge->owes;
    if (charge->waiting != WAITS_FOR_PERMIT || charge->status == CHARGE_QUEUED)
        return;
    charge->waiting = WAITS_FOR_NOTHING;
    charge_touch(d, charge);
    if (!can_hear(d, charge)) {
        decide_record(d, RECORD_CHARGE_WAITS,
                      charge_evidence(d, charge, (struct evidence){.rule = STR("reply.not-now")}));
        return;
    }
    uint32_t n = charge->n;
    charge->owes = WORDS_NONE;
    if (words == WORDS_HANDOVER)
        charge->handover = 1;
    if (words == WORDS_AGAIN) {
        charge_run_end(d, charge);
        charge->session[0] = 0;
    }
    charge_dispatch(d, charge, words, reply_rule(words));
    charge_noted(d, n, reply_rule(words));
}
