/* SPDX-License-Identifier: Apache-2.0 */
/* What do the rules share? The case in hand, and the ways to write its decision down. */
#pragma once

#include "core/step.h"

struct record_names { /* what one record of the decision is about: step_check.c */
    struct str node, assignment, question;
    uint32_t effect; /* ordinal + 1; 0: none */
};

struct deciding {
    const struct world *world;
    const struct signal *signal;
    const struct policy *policy;
    struct arena *out;
    struct decision *decision;
    bool *touched[PARTS]; /* rows that changed, by place; NULL: they are still the world's */
    uint32_t room[PARTS]; /* rows that fit without moving the others */
    bool
        poisoned; /* the signal is kept aside, not with the record: the store may refuse it again */
    bool gone_on; /* a desk has answered what it could */
    struct record_names *named;
    uint32_t named_count, named_cap;
    uint32_t covered; /* kinds of rows that the types of the records cover, a bit each */
};

/* The rules: one file for each question. */
void rule_create(struct deciding *);   /* create.c: what does a new goal become? */
void rule_update(struct deciding *);   /* update.c: what is wanted is said anew */
void rule_move(struct deciding *);     /* goal_state.c: who may pause, complete, cancel, archive? */
void rule_release(struct deciding *);  /* goal_state.c: a person has looked at it */
void rule_report(struct deciding *);   /* report.c: somebody says how it goes */
void rule_due(struct deciding *);      /* deadline.c: how long do we wait for an outcome? */
void rule_claim(struct deciding *);    /* claim.c: who may carry an effect out? */
void rule_ended(struct deciding *);    /* outcome.c: what follows from an outcome? */
void rule_lost(struct deciding *);     /* outcome.c: and from one that will not come? */
void rule_apply(struct deciding *);    /* plan_apply.c: what does a new plan change? */
void rule_add(struct deciding *);      /* plan_apply.c: and one more node? */
void rule_review(struct deciding *);   /* review.c: who looks at a plan, and what then? */
void rule_approve(struct deciding *);  /* review.c */
void rule_reject(struct deciding *);   /* review.c */
void rule_work(struct deciding *);     /* work.c: who may move a node, and where? */
void rule_follow(struct deciding *);   /* work.c: and let it follow its children again? */
void rule_part(struct deciding *);     /* part.c: an assignment, dispatch, handoff or run */
void rule_era(struct deciding *);      /* era.c: what if the store was put back? */
void rule_clock(struct deciding *);    /* clock.c: the clock has stepped */
void rule_seen(struct deciding *);     /* watch.c: something happened to an agent */
void rule_said(struct deciding *);     /* said.c: an agent says how it goes */
void rule_handoff(struct deciding *);  /* handoff.c: somebody says where things stand */
void rule_progress(struct deciding *); /* progress.c: and how far it is */
void rule_braked(struct deciding *);   /* brake.c: the host has frozen a run */
void rule_retry(struct deciding *);    /* staff.c: a person wants it done once more */
void rule_granted(struct deciding *);  /* staff.c: the desk has said yes */
void rule_denied(struct deciding *);   /* staff.c: and no */
void rule_agent_ask(struct deciding *); /* question.c: an agent asks */
void rule_ask(struct deciding *);       /* question.c: a person does, for the record */
void rule_answer(struct deciding *);    /* question.c: somebody answers */
void rule_question(struct deciding *);  /* question.c: seen, put off, taken back */
void rule_mail(struct deciding *);      /* mail.c: a message */
void rule_mail_ack(struct deciding *);  /* mail.c: and that it was read */
bool told_go_on(struct deciding *d, struct charge *charge); /* mail.c: true: it was told */
bool told_waits(const struct deciding *d, const struct charge *charge);
void done_forget(struct deciding *d, struct charge *charge); /* check.c */
void words_put_by(struct deciding *d, const struct charge *charge, enum wording words,
                  struct hash said); /* mail.c: they are said as soon as they can be */
bool told_next(const struct deciding *d,
               struct charge *charge); /* mail.c: true: there is something for charge->told */
void told_heard(struct deciding *, const struct charge *charge); /* mail.c: it has arrived */
void rule_permit_ask(struct deciding *);                         /* desk.c: may this begin? */
void rule_settle(struct deciding *);                             /* desk.c: what was spent */
void rule_limited(struct deciding *);      /* desk.c: an account is at its limit */
void rule_desk_release(struct deciding *); /* desk.c: a person lets it act again */
/* rules.c: what the first signal makes: a host's admission, or a workspace. */
void aggregate_begin(struct deciding *);
void rule_lane_ask(struct deciding *);     /* lane.c: work wants to land */
void rule_lane_return(struct deciding *);  /* lane.c: and does not need the slot any more */
void rule_lane_hold(struct deciding *);    /* lane.c: a person holds the lane */
void rule_lane_granted(struct deciding *); /* land.c: it may land */
void lane_go_on(struct deciding *);        /* lane.c: the next one gets the slot */
int64_t lane_due(struct deciding *);       /* lane.c: a slot that is kept for too long */
int64_t lane_next(const struct live *live, const struct policy *policy); /* lane.c */
void rule_host_lost(struct deciding *); /* desk.c: another host is lost, or is back */

/* What becomes due by itself: each returns the next time that it wants to be asked, or TIME_NEVER. */
int64_t watch_due(struct deciding *);     /* watch.c: silence, rungs */
void charges_resume(struct deciding *);   /* watch.c: the goal was paused */
int64_t questions_due(struct deciding *); /* question.c: to be said again, expired, applied */
int64_t desk_due(struct deciding *);      /* desk.c: accounts that open, a minute that ends */
int64_t desk_next(const struct live *live, const struct goal *goal, const struct policy *policy,
                  int64_t at); /* desk.c: the same, from what is stored */

/* What comes of effects, by kind. `delivery` is SIGNAL_EFFECT_ENDED's `to`; lost: nobody will say. */
void sent_ended(struct deciding *, const struct effect_slot *slot, bool lost); /* dispatch.c */
void look_ended(struct deciding *, const struct effect_slot *slot);            /* dispatch.c */
void stop_ended(struct deciding *, const struct effect_slot *slot);            /* dispatch.c */
void say_ended(struct deciding *, const struct effect_slot *slot);             /* question.c */
void check_ended(struct deciding *, const struct effect_slot *slot);           /* check.c */
void land_ended(struct deciding *, const struct effect_slot *slot);            /* land.c */

struct asking {
    enum question_kind kind;
    enum asked_of of;
    enum alarm alarm;
    struct str cause;
    const struct charge *charge; /* NULL: about the goal */
    uint32_t parent;             /* n + 1 of the charge that is asked */
    struct question_text text;
    uint32_t fallback; /* option, from 1 */
    int64_t expires_at;
    bool holds; /* the charge waits for the answer */
};

/* ---- charges ---- */

/* check.c: is it done? */
void work_effect(struct deciding *, struct charge *charge, enum effect_kind kind, struct str rule);
struct charge *charge_waited(struct deciding *, const struct effect_slot *slot);
void verdict_record(struct deciding *, enum record_type type, const struct charge *charge,
                    struct str rule, struct str verdict);
void candidate_forget(struct deciding *, struct charge *charge);
void check_begin(struct deciding *, struct charge *charge);
bool check_go_on(struct deciding *, struct charge *charge); /* true: that is what it waits for */

/* land.c: how does it land? */
void work_passed(struct deciding *, struct charge *charge, struct str rule);
void land_go_on(struct deciding *, struct charge *charge);
void slot_leave(struct deciding *, struct charge *charge, struct str why);

void done_ask(struct deciding *, struct charge *charge, struct str summary); /* said.c */
void life_note(struct deciding *, struct charge *charge);                    /* said.c: it lives */
void said_forget(struct charge *charge);

/* watch.c: the earliest time at which something is to be done by itself, from what is stored; 0: never. */
int64_t live_wants(const struct live *live, const struct goal *goal, const struct policy *policy);

/* reply.c: what is said in reaction waits for the desk, too. */
void charge_reply(struct deciding *, struct charge *charge, enum wording words);
void said_becomes(struct deciding *, struct charge *charge, enum wording words, struct hash said);
void reply_forget(struct charge *charge);
void reply_due(struct deciding *, struct charge *charge);
void reply_granted(struct deciding *, struct charge *charge);

/* staff.c: an answer that ends a run is carried out once it was looked at. true: that is what the look was for. */
bool answer_looked(struct deciding *, struct charge *charge, const struct sighting *seen);
void answer_go_on(struct deciding *, struct charge *charge);

/* watch.c: it goes on by itself. charge_lives() says whether it does, and lets it. */
enum { UNSEEN_MOST = 3 }; /* looks that saw nothing; then a person is asked, or obeyed */
bool saw_nothing(const struct sighting *seen);
bool charge_lives(struct deciding *, struct charge *charge, const struct sighting *seen);
void charge_wakes(struct deciding *, struct charge *charge, struct str rule);

/* question.c: the question that holds it, if it is about this. */
const struct question *charge_question(const struct deciding *, const struct charge *charge,
                                       struct str cause);

/* run_host.c: PROTOCOL P10. A run stays on its host; another one starts only when the first is frozen or known to be dead. */
void runs_check_host(struct deciding *);                      /* before every decision */
void run_host_note(struct deciding *, struct charge *charge); /* its start is claimed */
bool work_is_elsewhere(const struct deciding *, const struct charge *charge);
void work_strand(struct deciding *, struct charge *charge); /* it is begun again on this host */
bool run_may_start(const struct deciding *, const struct charge *charge);
void charge_waits_for_host(struct deciding *, struct charge *charge);
bool charge_is_stranded(const struct deciding *, const struct charge *charge);
bool run_is_stale(struct deciding *); /* true: the signal comes from another run, and is over */
void run_end_known(struct deciding *, const struct charge *charge);

/* staff.c: who works next? Runs after every change of an active goal. */
void staff(struct deciding *);
struct charge *charge_add(struct deciding *, const struct node *node,
                          const struct policy_agent *agent);
bool agent_is_allowed(const struct deciding *, const struct policy_agent *agent);
void charges_stop(struct deciding *, struct str rule); /* all of them: the goal is over */
void charge_stop(struct deciding *, struct charge *charge, struct str rule, struct str reason);
void charge_run_end(struct deciding *, struct charge *charge); /* stop its run, if it has one */
struct ending {
    struct str rule, evidence;
    enum proof proof;
    struct str landed; /* where; empty: nowhere */
};
void charge_failed(struct deciding *, struct charge *charge, struct str rule, struct str why,
                   struct str text, bool ask);
void charge_done(struct deciding *, struct charge *charge,
                 struct ending ending); /* by: "verified", or who says so */
void charge_again(struct deciding *, struct charge *charge,
                  struct str rule); /* back into the queue */
void charge_answered(struct deciding *, const struct question *question);
/* answer.c: the run ends, and its work begins again; or it is given up. */
void answer_begin_again(struct deciding *, struct charge *charge);
void answer_give_up(struct deciding *, struct charge *charge);
/* brake.c; false: it was about something else. */
bool brake_answered(struct deciding *, struct charge *charge, const struct question *question);

/* dispatch.c: say it to the agent, or start one that hears it. */
void charge_dispatch(struct deciding *, struct charge *charge, enum wording words, struct str rule);
struct effect agent_effect(struct deciding *, const struct charge *charge, enum effect_kind kind);
struct charge *charge_of_effect(struct deciding *, uint32_t n); /* that is open for it */
void charge_look(struct deciding *, struct charge *charge, uint32_t dispatch, struct str rule);

/* The one mover of charges; the row for people follows it. */
void charge_move(struct deciding *, struct charge *charge, enum charge_status to,
                 struct evidence evidence);
void charge_touch(struct deciding *, struct charge *charge);
struct str charge_id(const struct charge *charge, struct arena *arena); /* A_n */
struct charge *charge_in_hand(struct deciding *); /* the signal's; NULL: there is none */

struct evidence charge_evidence(struct deciding *, const struct charge *charge, struct evidence);
void charge_tell_row(struct deciding *, const struct charge *charge); /* the row for people */
bool dispatch_has_room(const struct deciding *);
void dispatch_history(struct deciding *, const struct charge *charge, enum delivery result,
                      struct str notes);
void delivery_note(struct deciding *, struct charge *charge, enum delivery result, struct str rule);

/* watch.c: somebody went to see, and this is what there is. */
void charge_looked_at(struct deciding *, struct charge *charge, const struct sighting *seen);

/* ladder.c: what helps a charge that does not move? Returns when it wants to be asked again. */
int64_t ladder_climb(struct deciding *, struct charge *charge);
void ladder_reset(struct charge *charge);                      /* progress was seen */
void ladder_fresh(struct deciding *, struct charge *charge);   /* a new run has begun */
void ladder_granted(struct deciding *, struct charge *charge); /* the desk allows the rung */
int64_t ladder_backoff(const struct policy *policy, const struct charge *charge);
bool ladder_is_suspended(const struct deciding *, const struct charge *charge);
struct charge *charge_asks(struct deciding *, uint32_t n, struct asking asking);
bool ladder_reassign(struct deciding *, struct charge *charge);
void ladder_ask(struct deciding *, struct charge *charge, struct str rule, struct str why);
void ladder_ask_with(struct deciding *, struct charge *charge, struct str rule, struct str why,
                     struct str more); /* and what was heard last */
void landing_ask(struct deciding *, struct charge *charge, struct str rule, struct str more,
                 struct str why); /* "try again" lands it again */

/* permit.c, the goal's side of a desk. */
void permit_ask(struct deciding *, struct charge *charge); /* to begin, or to go on */
void permit_act(struct deciding *, struct charge *charge,
                enum permit_kind kind); /* to act on one that runs */
enum permit_kind permit_answer(struct deciding *,
                               struct charge *charge); /* PERMIT_NONE: to an older ask */
void permit_limited(struct deciding *, struct charge *charge,
                    int64_t until); /* its account; 0: not said */
void permit_return(struct deciding *, struct charge *charge,
                   bool over); /* settle; over: give it back */
void permit_measure(struct deciding *, struct charge *charge,
                    const struct sighting *seen); /* what it has spent; settled when it is much */
void permits_catch_up(struct deciding *);         /* asks that found no room among the effects */
void permit_decline(struct deciding *);           /* what was granted to nobody goes back */
void desk_go_on(
    struct deciding *); /* desk.c: something of a desk ended: answers that waited go out */

/* A signal for another aggregate, once, however often it is carried there. */
void decide_tell(struct deciding *, struct signal signal);

/* ---- questions ---- */

/* question.c: ESCALATE-15: the one that is open for this cause, or a new one; NULL: too many are open. */
struct question *question_ask(struct deciding *, struct asking asking);
struct str stalled_cause(struct deciding *, const struct charge *charge);
/* ladder.c: a person hears at once that an agent does not start, and why; it is tried again all the same. */
void start_alert(struct deciding *, const struct charge *charge, struct str why);
void start_alert_end(struct deciding *, const struct charge *charge, struct str rule);
/* Nobody need answer that any more; what else holds the charge still does. */
struct charge *charge_asked_no_more(struct deciding *, uint32_t n, struct str cause,
                                    struct str rule);
bool question_is_fate(const struct question *question);
void question_settle(struct deciding *, struct str cause,
                     struct str rule); /* it came right by itself */
void questions_drop(struct deciding *, uint32_t charge,
                    struct str rule);                   /* those of a charge that is over */
void questions_end(struct deciding *, struct str rule); /* all of them: the goal is over */

bool list_has_word(struct str list, struct str word); /* separated by spaces */

/* Names inside a row: cut to fit. */
void name_put(char *to, size_t size, struct str from);

/* step_check.c: each row that a step changes is stored, and a record names it. */
void names_keep(struct deciding *, enum record_type type, const struct evidence *evidence);
void step_check(struct deciding *);
void charge_noted(
    struct deciding *, uint32_t n,
    struct str rule); /* on record, unless a record of the decision names it already */

/* sample.c: what is stored without a record. */
void samples_keep(struct deciding *, struct evidence *evidence);        /* on the next one */
void samples_end(struct deciding *);                                    /* they are on record now */
bool charge_is_sampled(struct deciding *, const struct charge *charge); /* and not more than that */
void charge_sample(struct deciding *, struct charge *charge);

/* Write one record about this decision. The evidence is completed from the signal. */
void decide_record(struct deciding *, enum record_type type, struct evidence evidence);
void decide_refuse(struct deciding *, enum error error);
void decide_refuse_because(struct deciding *, enum error error, struct str why);

/* PLAN-23: may whoever sent this signal change plans? Otherwise it is refused here. */
bool decide_may_plan(struct deciding *);

/* Keep a text apart; its hash names it. */
struct hash decide_text(struct deciding *, struct str body);
void decide_part(struct deciding *, struct part_change change);

/* The movers: the only code that changes a state. */
void goal_move(struct deciding *, enum goal_status to);
struct effect_about { /* what its record names: n + 1 of an assignment or question; 0: none */
    uint32_t charge, question;
};
struct effect_slot *effect_make(struct deciding *, struct effect effect); /* about its agent's */
struct effect_slot *effect_make_about(struct deciding *, struct effect effect,
                                      struct effect_about about);
void effect_move(struct deciding *, struct effect_slot *slot, enum effect_state to);
void effect_until(struct deciding *, struct effect_slot *slot, int64_t until);

enum node_cause {
    BY_WORK /* the table */,
    BY_ROLLUP /* its children */,
    BY_OVERRIDE /* somebody */
};
void node_move(struct deciding *, struct node *node, enum node_status to, enum node_cause cause,
               struct evidence evidence);

/* Rows become this decision's own, with room for more. Pointers to them change. */
void live_edit(struct deciding *, enum part_kind kind, uint32_t more);
void live_touch(struct deciding *, enum part_kind kind, const void *row);
void *live_add(struct deciding *, enum part_kind kind,
               uint32_t n); /* zeroed; n is above all others */
void live_remove(struct deciding *, enum part_kind kind, const void *row);

void plan_edit(struct deciding *, uint32_t more);
void node_touch(struct deciding *, const struct node *node);
void plan_version_raise(struct deciding *, enum plan_reason why, struct evidence evidence);

/* rollup.c: everything that follows from a node that moved or a plan that changed. */
void plan_settle(struct deciding *);
void goal_settle(struct deciding *); /* is the goal done? */
void task_finished(struct deciding *, const struct node *node);

/* outcome.c: nobody will say what came of it; its time is over. */
void effect_lose(struct deciding *, struct effect_slot *slot, struct str rule, struct str why);
void effect_expire(struct deciding *, struct effect_slot *slot);

/* What its records call it, so that nobody takes it for a command; empty: it is one. */
struct str effect_told(const struct effect_slot *slot);

/* What nobody has claimed is taken back, and on record. */
void effects_withdraw(struct deciding *d);
/* An effect of which nothing is known becomes unconfirmed, and a person is asked. */
void effect_doubt(struct deciding *, struct effect_slot *slot, struct str rule, struct str why);

/* update.c: the words and tags that come with a goal. False: refused. */
bool goal_words(struct deciding *);
bool goal_tags(struct deciding *);

/* plan_check.c: what is wrong with a plan that is handed in? Empty: nothing. */
struct str plan_check(const struct deciding *, const struct plan_text *text, bool planned);
