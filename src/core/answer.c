/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody answered: what follows for the work that it was about, and who hears it when? ESCALATE-14, REQUEST-01.
 *
 *   stalled. landing.   whether its work goes on, and how          done.              is it done?
 *   disk.               the same, of a run that the host froze (brake.c)
 *   denied.  failed.    the same, of work that nobody is on        asks.              may it use a tool?
 *
 * Anything else is said to the agent that asked. */
#include "core/rules.h"

/* ---- whether it goes on ---- */

static void work_give_up(struct deciding *d, uint32_t at_node, struct str rule) {
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, at_node);
    if (node_status_may_become(node->status, NODE_CANCELLED))
        node_move(d, node, NODE_CANCELLED, BY_WORK,
                  (struct evidence){.rule = rule, .reason = d->signal->reason});
    plan_settle(d);
}

/* A person has given it new chances. */
static void chances_renew(struct deciding *d, uint32_t at_node) {
    plan_edit(d, 0);
    struct node *node = plan_node(&d->decision->plan, at_node);
    node->attempts = 0;
    node_touch(d, node);
}

/* "try again", "give it to another agent": the run at hand ends. */
static void answer_carry_out(struct deciding *d, struct charge *charge, uint32_t option) {
    charge->answered = 0;
    charge->waiting = WAITS_FOR_NOTHING;
    candidate_forget(d, charge); /* what passed before is not what comes now */
    if (option == 2 && ladder_reassign(d, charge))
        return;
    uint32_t n = charge->n;
    questions_drop(d, n, STR("answer.again")); /* whatever else was asked about it */
    charge = charges_find(&d->decision->live.charges, n);
    charge->question = 0;
    charge_run_end(d, charge); /* what is wanted now is said from the beginning */
    if (charge->status == CHARGE_BLOCKED || charge->status == CHARGE_QUEUED) {
        permit_return(d, charge, true);
        charge_again(d, charge, STR("answer.again"));
    }
    charge_noted(d, n, STR("answer.again"));
}

/* Somebody answered about what was seen then, and it may have come to life since. A person's word is carried out after a few
 * looks that saw nothing. */
bool answer_looked(struct deciding *d, struct charge *charge, const struct sighting *seen) {
    bool blind = saw_nothing(seen);
    if (charge->answered == 0)
        return false;
    charge->unseen = blind ? charge->unseen + 1 : 0;
    if (!blind && charge_lives(d, charge, seen))
        return true;
    if (!blind || charge->unseen >= UNSEEN_MOST)
        answer_carry_out(d, charge, charge->answered);
    return true;
}

void answer_go_on(struct deciding *d, struct charge *charge) {
    if (charge->ended || charge->run == 0)
        answer_carry_out(d, charge, charge->answered);
    else if (charge->effect == 0 && dispatch_has_room(d))
        charge_look(d, charge, 0, STR("answer.look"));
}

/* Nothing is done to what is only watched: it is watched from now on as if it had just been seen, or anew if it had ended. */
static void watched_answered(struct deciding *d, struct charge *charge, uint32_t option) {
    charge->waiting = WAITS_FOR_NOTHING;
    if (option == 2) {
        charge_done(d, charge,
                    (struct ending){.rule = STR("answer.accepted"),
                                    .evidence = STR("a person says so"),
                                    .proof = PROOF_PERSON});
        return;
    }
    charge->rung = charge->first;
    if (charge->ended) {
        chances_renew(d, charge->node);
        charge_again(d, charge, STR("answer.again"));
        return;
    }
    charge->last_activity_at = d->signal->at;
    charge_wakes(d, charge, STR("answer.again"));
}

/* What passed its checks and did not land is landed once more: no agent has to make it again. */
static bool land_again(struct deciding *d, struct charge *charge, uint32_t option) {
    if (option > 1 || !charge->commit[0] || !d->policy->lands)
        return false;
    charge->question = 0;
    charge->rechecks = 0;
    charge->waiting = WAITS_FOR_NOTHING;
    if (charge->status == CHARGE_BLOCKED)
        charge_move(d, charge, CHARGE_ACTIVE, (struct evidence){.rule = STR("answer.again")});
    work_passed(d, charge, STR("answer.again"));
    return true;
}

void answer_begin_again(struct deciding *d, struct charge *charge) {
    chances_renew(d, charge->node);
    answer_carry_out(d, charge, 1);
}

void answer_give_up(struct deciding *d, struct charge *charge) {
    uint32_t at_node = charge->node;
    charge->question = 0;
    charge_stop(d, charge, STR("answer.stop"), STR("a person said so"));
    work_give_up(d, at_node, STR("answer.stop"));
}

static void ladder_answered(struct deciding *d, struct charge *charge, uint32_t option) {
    uint32_t at_node = charge->node;
    if (option == 3) {
        answer_give_up(d, charge);
        return;
    }
    charge->question = 0;
    charge->waiting = WAITS_FOR_RETRY;
    if (charge_is_watched(charge)) {
        watched_answered(d, charge, option);
        return;
    }
    charge->answered = option ? option : 1;
    charge->unseen = 0;
    charge->rung = charge->first;
    charge->moves = charge->retries = charge->restarts = 0;
    chances_renew(d, at_node);
    charge_touch(d, charge);
    answer_go_on(d, charge);
}

/* "denied.", "failed.": the work waits as a node, with nobody on it. */
static void stopped_answered(struct deciding *d, const struct question *question) {
    plan_edit(d, 0);
    struct node *node = plan_find(&d->decision->plan, str_of(question->cause + 7));
    if (!node || node->status != NODE_BLOCKED)
        return;
    if (question->answer == 2) {
        work_give_up(d, node->n, STR("answer.stop"));
        return;
    }
    node->attempts = 0;
    node_move(d, node, NODE_QUEUED, BY_WORK, (struct evidence){.rule = STR("answer.again")});
    plan_settle(d);
}

/* "done.": a person has looked. */
static bool done_answered(struct deciding *d, struct charge *charge,
                          const struct question *question) {
    if (!str_begins(str_of(question->cause), STR("done.")))
        return false;
    if (question->answer != 1) { /* nothing that passed lands by itself any more */
        done_forget(d, charge);
        return false;
    }
    charge->question = 0;
    charge->approved = 1;
    charge->waiting = WAITS_FOR_NOTHING;
    if (charge->commit[0] && d->policy->lands) {
        if (charge->status == CHARGE_BLOCKED)
            charge_move(d, charge, CHARGE_ACTIVE,
                        (struct evidence){.rule = STR("answer.accepted")});
        work_passed(d, charge, STR("answer.accepted"));
    } else
        charge_done(d, charge,
                    (struct ending){.rule = STR("answer.accepted"),
                                    .evidence = STR("a person accepted it"),
                                    .proof = charge->commit[0] ? PROOF_CHECKED : PROOF_PERSON});
    return true;
}

/* ---- what the agent hears ---- */

static bool is_permission(const struct question *question) {
    return str_begins(str_of(question->cause), STR("asks."));
}

/* Whether it may use a tool is all that an agent in a dialog hears: any other answer comes after it, and after whatever else it
 * has not heard. It goes on if nothing else holds it. */
static bool answer_comes_later(struct deciding *d, struct charge *charge, struct hash said) {
    struct str dialog = arena_format(d->out, "asks.A_%u", charge->n);
    bool in_dialog = questions_about(&d->decision->live.questions, dialog) != NULL;
    if (!in_dialog && !charge->unheard)
        return false;
    bool blocked = charge->status == CHARGE_BLOCKED && charge->waiting != WAITS_FOR_QUOTA;
    words_put_by(d, charge, WORDS_ANSWER, said);
    if (!in_dialog && blocked && (charge->ended || !charge->run)) {
        permit_return(d, charge, true);
        charge_again(d, charge, STR("answer.given"));
    } else if (!in_dialog && blocked) {
        charge->waiting = WAITS_FOR_NOTHING;
        charge_move(d, charge, CHARGE_ACTIVE, (struct evidence){.rule = STR("answer.given")});
        reply_due(d, charge);
    }
    return true;
}

/* It has said done meanwhile: that is looked at first, and what was answered is said if it is not so. */
static bool checked_first(struct deciding *d, struct charge *charge, struct hash said) {
    bool lands = charge->commit[0] && d->policy->lands;
    if (charge->question || (charge->waiting != WAITS_FOR_CHECK && !lands))
        return false;
    if (!lands)
        words_put_by(d, charge, WORDS_ANSWER, said);
    if (charge->status == CHARGE_BLOCKED)
        charge_move(d, charge, CHARGE_ACTIVE, (struct evidence){.rule = STR("answer.given")});
    charge->waiting = WAITS_FOR_CHECK;
    charge_touch(d, charge);
    check_go_on(d, charge);
    return true;
}

/* ESCALATE-14: the answer goes with the next instruction, and the charge goes on. */
static void answer_say(struct deciding *d, struct charge *charge, const struct question *question) {
    bool withdrawn = hash_is_zero(&question->said), permission = is_permission(question);
    struct hash said = withdrawn ? decide_text(d, STR("It was withdrawn: go on without an answer."))
                                 : question->said;
    if (!permission && (checked_first(d, charge, said) || answer_comes_later(d, charge, said)))
        return;
    said_becomes(d, charge, permission ? WORDS_NONE : WORDS_ANSWER, said);
    charge->permits = !permission             ? PERMISSION_NONE
                      : question->answer == 1 ? PERMISSION_YES
                                              : PERMISSION_NO;
    if (question->of == OF_PERSON)
        chances_renew(d, charge->node);
    if (charge->waiting == WAITS_FOR_QUOTA || charge->status == CHARGE_QUEUED) {
        charge_touch(d, charge); /* it goes with what is said when it goes on */
        return;
    }
    bool hears = charge->run && !charge->ended && charge->effect == 0 && dispatch_has_room(d);
    charge->waiting = WAITS_FOR_NOTHING;
    charge->expected_next_at = 0;
    if (charge->status != CHARGE_BLOCKED && (!hears || withdrawn)) {
        charge_touch(d, charge);
        return;
    }
    if (hears) { /* REQUEST-01: also the second answer of several, when it works again */
        charge->last_activity_at = d->signal->at;
        if (charge->status == CHARGE_BLOCKED)
            charge_move(d, charge, CHARGE_ACTIVE, (struct evidence){.rule = STR("answer.given")});
        charge_reply(d, charge, WORDS_ANSWER);
    } else {
        permit_return(d, charge, true);
        charge_again(d, charge, STR("answer.given"));
    }
}

/* Whether it goes on at all: what a person says of their own goes with it, and what it has not heard stays. */
static void fate_decided(struct deciding *d, struct charge *charge,
                         const struct question *question) {
    charge->permits = PERMISSION_NONE;
    if (!charge->unheard && !hash_is_zero(&question->said))
        charge->said = question->said;
    if (!str_begins(str_of(question->cause), STR("landing.")) ||
        !land_again(d, charge, question->answer))
        ladder_answered(d, charge, question->answer);
}

void charge_answered(struct deciding *d, const struct question *question) {
    struct charge *charge = NULL;
    live_edit(d, PART_CHARGE, 0);
    if (str_begins(str_of(question->cause), STR("denied.")) ||
        str_begins(str_of(question->cause), STR("failed.")))
        stopped_answered(d, question);
    if (question->charge)
        charge = charges_find(&d->decision->live.charges, question->charge - 1);
    if (!charge || done_answered(d, charge, question) || brake_answered(d, charge, question))
        return;
    if (question_is_fate(question))
        fate_decided(d, charge, question);
    else
        answer_say(d, charge, question);
}
