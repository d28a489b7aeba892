/* SPDX-License-Identifier: Apache-2.0 */
/* What follows when the host has frozen a run, because the disk is nearly full or the run has used too much of it? G-20, H7.
 *
 * The host freezes without asking, and never kills: there was perhaps no room to ask. From here on everything is decided: the
 * assignment is blocked, a person is asked, and only their answer lets the run go on (EFFECT_THAW) or ends it. */
#include "core/rules.h"

static const struct str CAUSE = STR("disk.");

static struct question_text text_of(struct deciding *d, const struct charge *charge) {
    static const struct str OPTIONS[] = {{"go on: there is room again", 26},
                                         {"end this run and begin again", 28},
                                         {"give it up", 10}};
    static const struct str ADVICE[] = {
        STR("Free space, or raise the limit that the text names, and answer 1: the run goes on where it was frozen."),
        STR("Nothing that it made is lost: its worktree stays, and what it has is salvaged when it ends.")};
    const char *node = plan_node(&d->decision->plan, charge->node)->id;
    return (struct question_text){
        .title = arena_format(d->out, "%s is frozen: %.*s", node,
                              STR_ARG(str_cut_utf8(d->signal->reason, LIMIT_REASON))),
        .text = d->signal->text,
        .options = {OPTIONS, count_of(OPTIONS)},
        .recommendations = {ADVICE, count_of(ADVICE)},
        .rule = STR("brake.disk"),
        .reason = d->signal->reason};
}

/* Once for each freeze; of a run that is over, or not the one at hand, nothing follows: whatever ended it ends the hold, too. */
void rule_braked(struct deciding *d) {
    struct charge *charge = charge_in_hand(d);
    if (!charge || charge->ended || charge->run == 0 || charge->run != d->signal->effect)
        return;
    const struct node *node = plan_node(&d->decision->plan, charge->node);
    struct asking asking = {.kind = QUESTION_DECIDE,
                            .alarm = ALARM_CRITICAL,
                            .cause = arena_format(d->out, "%.*s%s", STR_ARG(CAUSE), node->id),
                            .charge = charge,
                            .text = text_of(d, charge),
                            .holds = true};
    decide_record(
        d, RECORD_RUN_BRAKED,
        charge_evidence(d, charge,
                        (struct evidence){.rule = STR("brake.disk"),
                                          .reason = d->signal->reason,
                                          .text = str_cut_utf8(d->signal->text, LIMIT_LINE)}));
    if (!(charge = charge_asks(d, charge->n, asking)))
        return; /* too many are open: the record and `status` say it */
    if (charge_status_may_become(charge->status, CHARGE_BLOCKED))
        charge_move(d, charge, CHARGE_BLOCKED,
                    (struct evidence){.rule = STR("brake.disk"),
                                      .reason = str_cut_utf8(d->signal->reason, LIMIT_BLOCKED)});
}

/* The run goes on where it was; silence counts from now. */
static void run_thaw(struct deciding *d, struct charge *charge) {
    charge->question = 0;
    charge->waiting = WAITS_FOR_NOTHING;
    charge->last_activity_at = d->signal->at;
    charge_touch(d, charge);
    if (charge->status == CHARGE_BLOCKED)
        charge_move(d, charge, CHARGE_ACTIVE, (struct evidence){.rule = STR("brake.go-on")});
    effect_make(d, agent_effect(d, charge, EFFECT_THAW));
}

bool brake_answered(struct deciding *d, struct charge *charge, const struct question *question) {
    if (!str_begins(str_of(question->cause), CAUSE))
        return false;
    bool runs = charge->run != 0 && !charge->ended;
    if (question->answer == 3)
        answer_give_up(d, charge);
    else if (question->answer == 2 || !runs || !dispatch_has_room(d))
        answer_begin_again(d, charge);
    else
        run_thaw(d, charge);
    return true;
}
