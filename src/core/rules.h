/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the rules: the case being decided, and the functions that write its decision. */
#pragma once

#include "core/step.h"
#include "model/cause.h"

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
    bool *touched[PARTS]; /* rows that changed, by index; NULL: they are still the world's */
    uint32_t room[PARTS]; /* rows that fit without moving the others */
    bool
        poisoned; /* the signal is set aside, not stored with the record: the store may refuse it again */
    bool gone_on; /* the admission or lane has answered what it could */
    struct record_names *named;
    uint32_t named_count, named_cap;
    uint32_t covered; /* kinds of rows that the record types cover, one bit each */
};

/* The rules: one file per topic. */
void rule_create(struct deciding *);  /* create.c: creates a goal */
void rule_update(struct deciding *);  /* update.c: changes the definition of a goal */
void rule_move(struct deciding *);    /* goal_state.c: pause, resume, complete, cancel, archive */
void rule_release(struct deciding *); /* goal_state.c: a person has dealt with it */
void rule_report(struct deciding *);  /* report.c: a report on the goal */
void rule_due(struct deciding *);     /* deadline.c: deadlines and timers */
void rule_claim(struct deciding *);   /* claim.c: a host claims an effect */
void rule_ended(struct deciding *);   /* outcome.c: an effect has an outcome */
void rule_lost(struct deciding *);    /* outcome.c: an outcome will not come */
void rule_apply(struct deciding *);   /* plan_apply.c: a new plan */
void rule_add(struct deciding *);     /* plan_apply.c: one more node */
void rule_review(struct deciding *);  /* review.c: a plan has to be reviewed */
void rule_approve(struct deciding *); /* plan_apply.c: a person approves a plan */
void rule_reject(struct deciding *);  /* review.c: a person rejects a proposal */
void rule_work(struct deciding *);    /* work.c: moves a node */
void rule_follow(struct deciding *);  /* work.c: lets it follow its children again */
void rule_part(struct deciding *);    /* part.c: an assignment, dispatch, handoff or run */
void rule_era(struct deciding *);     /* era.c: the store was restored */
void rule_clock(struct deciding *);   /* clock.c: the clock has stepped */
void rule_seen(struct deciding *);    /* liveness.c: an event of an agent */
void rule_agent_update(struct deciding *); /* agent_update.c: an agent's update */
void rule_handoff(struct deciding *);      /* handoff.c: a handoff */
void rule_progress(struct deciding *);     /* progress.c: a progress report */
void rule_braked(struct deciding *);       /* brake.c: the host has frozen a run */
void rule_retry(struct deciding *);        /* staff.c: a person wants work done once more */
void rule_granted(struct deciding *);      /* staff.c: admission grants a permit */
void rule_denied(struct deciding *);       /* staff.c: admission denies it */
void rule_agent_ask(struct deciding *);    /* question.c: an agent asks */
void rule_ask(struct deciding *);          /* question.c: a person asks, for the record */
void rule_answer(struct deciding *);       /* question.c: an answer */
void rule_question(struct deciding *);     /* question.c: acknowledge, snooze, undo, withdraw */
void rule_mail(struct deciding *);         /* mail.c: a message */
void rule_mail_ack(struct deciding *);     /* mail.c: a message was read */
bool outgoing_message_go_on(struct deciding *d,
                            struct assignment *assignment); /* mail.c: true: one is being sent */
bool outgoing_message_waits(const struct deciding *d, const struct assignment *assignment);
void done_forget(struct deciding *d, struct assignment *assignment); /* check.c */
void words_put_by(struct deciding *d, const struct assignment *assignment, enum wording words,
                  struct hash outgoing); /* mail.c: queued, and sent as soon as possible */
bool outgoing_message_next(
    const struct deciding *d,
    struct assignment *assignment); /* mail.c: true: assignment->outgoing_message is set */
void outgoing_message_heard(
    struct deciding *, const struct assignment *assignment); /* mail.c: the message has arrived */
void rule_permit_ask(struct deciding *);                     /* admission.c: may this begin? */
void rule_settle(struct deciding *);            /* admission.c: settles what was spent */
void rule_limited(struct deciding *);           /* admission.c: an account is at its limit */
void rule_admission_release(struct deciding *); /* admission.c: a person lets it act again */
/* rules.c: begins the aggregate that a first signal creates: a host's admission, or a workspace. */
void aggregate_begin(struct deciding *);
void rule_lane_ask(struct deciding *);     /* lane.c: work asks for the slot */
void rule_lane_return(struct deciding *);  /* lane.c: work returns the slot */
void rule_lane_hold(struct deciding *);    /* lane.c: a person holds the lane */
void rule_lane_granted(struct deciding *); /* land.c: the slot is granted */
void lane_go_on(struct deciding *);        /* lane.c: grants the slot to the next one */
int64_t lane_due(struct deciding *);       /* lane.c: revokes a slot that is kept for too long */
int64_t lane_next(const struct live *live, const struct policy *policy); /* lane.c */
void rule_host_lost(struct deciding *); /* admission.c: another host is lost, or is back */

/* What becomes due by itself: each returns when it has to be called next, or TIME_NEVER. */
int64_t liveness_due(struct deciding *);    /* liveness.c: silence, rungs */
void assignments_resume(struct deciding *); /* liveness.c: the goal is resumed */
int64_t questions_due(struct deciding *);   /* question.c: to be sent again, expired, applied */
int64_t admission_due(struct deciding *); /* admission.c: accounts that open, a minute that ends */
int64_t admission_next(const struct live *live, const struct goal *goal,
                       const struct policy *policy,
                       int64_t at); /* admission.c: the same, from what is stored */

/* Outcomes of effects, by kind. `delivery` is SIGNAL_EFFECT_ENDED's `to`; lost: the outcome will not be known. */
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
    const struct assignment *assignment; /* NULL: about the goal */
    uint32_t parent;                     /* n + 1 of the assignment that is asked */
    struct question_text text;
    uint32_t fallback; /* option, from 1 */
    int64_t expires_at;
    bool holds; /* the assignment waits for the answer */
};

/* ---- assignments ---- */

/* check.c: checks work that an agent calls done. */
void work_effect(struct deciding *, struct assignment *assignment, enum effect_kind kind,
                 struct str rule);
struct assignment *assignment_waited(struct deciding *, const struct effect_slot *slot);
void verdict_record(struct deciding *, enum record_type type, const struct assignment *assignment,
                    struct str rule, struct str verdict);
void candidate_forget(struct deciding *, struct assignment *assignment);
void check_begin(struct deciding *, struct assignment *assignment);
bool check_go_on(struct deciding *, struct assignment *assignment); /* true: it waits for a check */

/* land.c: lands work that passed its checks. */
void work_passed(struct deciding *, struct assignment *assignment, struct str rule);
void land_go_on(struct deciding *, struct assignment *assignment);
void slot_leave(struct deciding *, struct assignment *assignment, struct str why);

void done_ask(struct deciding *, struct assignment *assignment,
              struct str summary); /* agent_update.c */
void life_note(struct deciding *,
               struct assignment *assignment); /* agent_update.c: a sign of life */
void report_forget(struct assignment *assignment);

/* liveness.c: the earliest time at which something is due by itself, from what is stored; 0: never. */
int64_t live_wants(const struct live *live, const struct goal *goal, const struct policy *policy);

/* reply.c: replies wait for admission, too. */
void assignment_reply(struct deciding *, struct assignment *assignment, enum wording words);
void outgoing_set(struct deciding *, struct assignment *assignment, enum wording words,
                  struct hash outgoing);
void reply_forget(struct assignment *assignment);
void reply_due(struct deciding *, struct assignment *assignment);
void reply_granted(struct deciding *, struct assignment *assignment);

/* answer.c: an answer that ends a run is carried out after a look. True: the look was for that. */
bool answer_looked(struct deciding *, struct assignment *assignment,
                   const struct observation *seen);
void answer_go_on(struct deciding *, struct assignment *assignment);

/* liveness.c: the run continues by itself. assignment_lives() says whether it does, and lets it. */
bool saw_nothing(const struct observation *seen);
bool assignment_lives(struct deciding *, struct assignment *assignment,
                      const struct observation *seen);
void assignment_wakes(struct deciding *, struct assignment *assignment, struct str rule);

/* question.c: the question that holds the assignment, if it has this cause. */
const struct question *assignment_question(const struct deciding *,
                                           const struct assignment *assignment, enum cause cause);

/* run_host.c: PROTOCOL P10. A run stays on its host; another one starts only when the first is frozen or known to be dead. */
void runs_check_host(struct deciding *); /* called before every decision */
void run_host_note(struct deciding *, struct assignment *assignment); /* its start is claimed */
bool work_is_elsewhere(const struct deciding *, const struct assignment *assignment);
void work_strand(struct deciding *,
                 struct assignment *assignment); /* its work is begun again on this host */
bool run_may_start(const struct deciding *, const struct assignment *assignment);
void assignment_waits_for_host(struct deciding *, struct assignment *assignment);
bool assignment_is_stranded(const struct deciding *, const struct assignment *assignment);
bool run_is_stale(
    struct deciding *); /* true: the signal comes from another run, and is dealt with */
void run_end_known(struct deciding *, const struct assignment *assignment);

/* staff.c: decides who works next. Runs after every change of an active goal. */
void staff(struct deciding *);
struct assignment *assignment_add(struct deciding *, const struct node *node,
                                  const struct policy_agent *agent);
bool agent_is_allowed(const struct deciding *, const struct policy_agent *agent);
void assignments_stop(struct deciding *, struct str rule); /* all of them: the goal is over */
void assignment_stop(struct deciding *, struct assignment *assignment, struct str rule,
                     struct str reason);
void assignment_run_end(struct deciding *,
                        struct assignment *assignment); /* stop its run, if it has one */
struct ending {
    struct str rule, evidence;
    enum proof proof;
    struct str landed; /* where it landed; empty: nowhere */
};
void assignment_failed(struct deciding *, struct assignment *assignment, struct str rule,
                       struct str why, struct str text, bool ask);
void assignment_done(struct deciding *, struct assignment *assignment,
                     struct ending ending); /* ending.proof: how it was verified, or who says so */
void assignment_again(struct deciding *, struct assignment *assignment,
                      struct str rule); /* back into the queue */
void assignment_answered(struct deciding *, const struct question *question);
/* answer.c: ends the run, and begins its work again or gives it up. */
void answer_begin_again(struct deciding *, struct assignment *assignment);
void answer_give_up(struct deciding *, struct assignment *assignment);
/* brake.c; false: the question was about something else. */
bool brake_answered(struct deciding *, struct assignment *assignment,
                    const struct question *question);

/* dispatch.c: sends it to the agent, or starts an agent with it. */
void assignment_dispatch(struct deciding *, struct assignment *assignment, enum wording words,
                         struct str rule);
struct effect agent_effect(struct deciding *, const struct assignment *assignment,
                           enum effect_kind kind);
struct assignment *assignment_of_effect(struct deciding *,
                                        uint32_t n); /* the one that effect n is open for */
void assignment_look(struct deciding *, struct assignment *assignment, uint32_t dispatch,
                     struct str rule);

/* The only function that changes an assignment's status; the row for people follows it. */
void assignment_move(struct deciding *, struct assignment *assignment, enum assignment_status to,
                     struct evidence evidence);
void assignment_touch(struct deciding *, struct assignment *assignment);
struct str assignment_id(const struct assignment *assignment, struct arena *arena); /* A_n */
struct assignment *assignment_at_hand(struct deciding *); /* the signal's; NULL: none */

struct evidence assignment_evidence(struct deciding *, const struct assignment *assignment,
                                    struct evidence);
void assignment_row_write(struct deciding *,
                          const struct assignment *assignment); /* the row that people read */
bool dispatch_has_room(const struct deciding *);
void dispatch_history(struct deciding *, const struct assignment *assignment, enum delivery result,
                      struct str notes);
void delivery_note(struct deciding *, struct assignment *assignment, enum delivery result,
                   struct str rule);

/* liveness.c: handles the result of a look. */
void assignment_looked_at(struct deciding *, struct assignment *assignment,
                          const struct observation *seen);

/* ladder.c: helps an assignment that makes no progress. Returns when it has to be called again. */
int64_t ladder_climb(struct deciding *, struct assignment *assignment);
void ladder_reset(struct assignment *assignment);                    /* progress was seen */
void ladder_fresh(struct deciding *, struct assignment *assignment); /* a new run has begun */
void ladder_granted(struct deciding *,
                    struct assignment *assignment); /* admission allows the rung */
int64_t ladder_backoff(const struct policy *policy, const struct assignment *assignment);
bool ladder_is_suspended(const struct deciding *, const struct assignment *assignment);
struct assignment *assignment_asks(struct deciding *, uint32_t n, struct asking asking);
bool ladder_reassign(struct deciding *, struct assignment *assignment);
void ladder_ask(struct deciding *, struct assignment *assignment, struct str rule, struct str why);
void ladder_ask_with(struct deciding *, struct assignment *assignment, struct str rule,
                     struct str why, struct str more); /* with what was heard last */
void landing_ask(struct deciding *, struct assignment *assignment, struct str rule, struct str more,
                 struct str why); /* "try again" lands it again */

/* permit.c: the goal's side of an admission. */
void permit_ask(struct deciding *, struct assignment *assignment); /* to begin, or to continue */
void permit_act(struct deciding *, struct assignment *assignment,
                enum permit_kind kind); /* to act on a running agent */
enum permit_kind
permit_answer(struct deciding *,
              struct assignment *assignment); /* PERMIT_NONE: it answers an older ask */
void permit_limited(struct deciding *, struct assignment *assignment,
                    int64_t until); /* its account is at its limit; 0: end not known */
void permit_return(struct deciding *, struct assignment *assignment,
                   bool over); /* settles; over: returns the permit */
void permit_measure(
    struct deciding *, struct assignment *assignment,
    const struct observation *seen);      /* what it has spent; settled once it is much */
void permits_catch_up(struct deciding *); /* makes asks that found no room among the effects */
void permit_decline(struct deciding *);   /* returns a permit that no assignment waits for */
void admission_go_on(
    struct deciding
        *); /* admission.c: something of an admission ended: sends the answers that waited */

/* Sends a signal to another aggregate; it is applied once, however often it is delivered. */
void decide_tell(struct deciding *, struct signal signal);

/* ---- questions ---- */

/* question.c: ESCALATE-15: the open question of this cause, or a new one; NULL: too many are open. */
struct question *question_ask(struct deciding *, struct asking asking);
struct str stalled_cause(struct deciding *, const struct assignment *assignment);
struct str permission_cause(struct deciding *, const struct assignment *assignment);
/* ladder.c: tells a person at once that an agent does not start, and why; the start is tried again all the same. */
void start_alert(struct deciding *, const struct assignment *assignment, struct str why);
void start_alert_end(struct deciding *, const struct assignment *assignment, struct str rule);
/* This question need not be answered any more; other questions still hold the assignment. */
struct assignment *assignment_asked_no_more(struct deciding *, uint32_t n, struct str cause,
                                            struct str rule);
bool question_is_fate(const struct question *question);
void question_settle(struct deciding *, struct str cause,
                     struct str rule); /* its cause is gone by itself */
void questions_drop(struct deciding *, uint32_t assignment,
                    struct str rule);                   /* those of an assignment that is over */
void questions_end(struct deciding *, struct str rule); /* all of them: the goal is over */

/* step_check.c: checks that each row that a step changes is stored, and that a record names it. */
void names_keep(struct deciding *, enum record_type type, const struct evidence *evidence);
void step_check(struct deciding *);
void assignment_noted(
    struct deciding *, uint32_t n,
    struct str rule); /* records it, unless a record of the decision already names it */

/* sample.c: what is stored without a record. */
void samples_keep(struct deciding *, struct evidence *evidence); /* puts them on the next record */
void samples_end(struct deciding *);                             /* they are on a record now */
bool assignment_is_sampled(
    struct deciding *,
    const struct assignment *assignment); /* true: only samples of it have changed */
void assignment_sample(struct deciding *, struct assignment *assignment);

/* Write one record about this decision. The evidence is completed from the signal. */
void decide_record(struct deciding *, enum record_type type, struct evidence evidence);
void decide_refuse(struct deciding *, enum error error);
void decide_refuse_because(struct deciding *, enum error error, struct str why);

/* PLAN-23: may the sender of this signal change plans? Otherwise the signal is refused here. */
bool decide_may_plan(struct deciding *);

/* Stores a text separately, under its hash. */
struct hash decide_text(struct deciding *, struct str body);
void decide_part(struct deciding *, struct part_change change);

/* The only functions that change a state. */
void goal_move(struct deciding *, enum goal_status to);
struct
    effect_about { /* what the record of an effect names: n + 1 of an assignment or question; 0: none */
    uint32_t assignment, question;
};
struct effect_slot *effect_make(struct deciding *,
                                struct effect effect); /* about the assignment of its agent */
struct effect_slot *effect_make_about(struct deciding *, struct effect effect,
                                      struct effect_about about);
void effect_move(struct deciding *, struct effect_slot *slot, enum effect_state to);
void effect_until(struct deciding *, struct effect_slot *slot, int64_t until);

enum node_cause {
    BY_WORK /* by the transition table */,
    BY_ROLLUP /* by its children */,
    BY_OVERRIDE /* by an explicit override */
};
void node_move(struct deciding *, struct node *node, enum node_status to, enum node_cause cause,
               struct evidence evidence);

/* Makes the rows this decision's own, with room for more. Pointers to them change. */
void live_edit(struct deciding *, enum part_kind kind, uint32_t more);
void live_touch(struct deciding *, enum part_kind kind, const void *row);
void *live_add(struct deciding *, enum part_kind kind,
               uint32_t n); /* zeroed; n is greater than all others */
void live_remove(struct deciding *, enum part_kind kind, const void *row);

void plan_edit(struct deciding *, uint32_t more);
void node_touch(struct deciding *, const struct node *node);
void plan_version_raise(struct deciding *, enum plan_reason why, struct evidence evidence);

/* rollup.c: derives everything that follows from a node that moved or a plan that changed. */
void plan_settle(struct deciding *);
void goal_settle(struct deciding *); /* completes the goal if it is done */
void task_finished(struct deciding *, const struct node *node);

/* outcome.c: the outcome will not be known; the deadline is over. */
void effect_lose(struct deciding *, struct effect_slot *slot, struct str rule, struct str why);
void effect_expire(struct deciding *, struct effect_slot *slot);

/* The effect's name on its records, so that it is not taken for a command; empty: it is one. */
struct str effect_text(const struct effect_slot *slot);

/* Withdraws the effects that no host has claimed, and records it. */
void effects_withdraw(struct deciding *d);
/* An effect with an unknown outcome becomes unconfirmed, and a person is asked. */
void effect_doubt(struct deciding *, struct effect_slot *slot, struct str rule, struct str why);

/* update.c: the text and tags that come with a goal. False: refused. */
bool goal_words(struct deciding *);
bool goal_tags(struct deciding *);

/* plan_check.c: what is wrong with a plan that is handed in; empty: nothing. */
struct str plan_check(const struct deciding *, const struct plan_text *text, bool planned);
