/* SPDX-License-Identifier: Apache-2.0 */
/* The rules, one for each kind of signal, and what becomes due by itself. step.c, deadline.c and outcome.c call them. */
#pragma once

#include "core/deciding.h"

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
void rule_permit_ask(struct deciding *);   /* admission.c: may this begin? */
void rule_settle(struct deciding *);       /* admission.c: settles what was spent */
void rule_limited(struct deciding *);      /* admission.c: an account is at its limit */
void rule_admission_release(struct deciding *); /* admission.c: a person lets it act again */
void rule_lane_ask(struct deciding *);          /* lane.c: work asks for the slot */
void rule_lane_return(struct deciding *);       /* lane.c: work returns the slot */
void rule_lane_hold(struct deciding *);         /* lane.c: a person holds the lane */
void rule_lane_granted(struct deciding *);      /* land.c: the slot is granted */
void rule_host_lost(struct deciding *);         /* admission.c: another host is lost, or is back */

void rule_host_denied(struct deciding *);    /* host_denied.c: a run was denied a host */
void rule_batch_set(struct deciding *);      /* task_batch.c: a person makes or changes a batch */
void rule_account_seen(struct deciding *);   /* account_seen.c: a report about an account */
void rule_target_checked(struct deciding *); /* target.c: does a target pass its own check? */

/* What becomes due by itself: each returns when it has to be called next, or TIME_NEVER. */
int64_t liveness_due(struct deciding *);  /* liveness.c: silence, rungs */
int64_t questions_due(struct deciding *); /* question.c: to be sent again, expired, applied */
int64_t admission_due(struct deciding *); /* admission.c: accounts that open, a minute that ends */
int64_t lane_due(struct deciding *);      /* lane.c: revokes a slot that is kept for too long */
int64_t lane_next(const struct goal *goal, const struct live *live,
                  const struct policy *policy); /* the same, from what is stored */
int64_t admission_next(const struct live *live, const struct goal *goal,
                       const struct policy *policy,
                       int64_t at); /* admission.c: the same, from what is stored */

/* Outcomes of effects, by kind; lost: the outcome will not be known. */
void sent_ended(struct deciding *, const struct effect_slot *slot, bool lost); /* dispatch.c */
void look_ended(struct deciding *, const struct effect_slot *slot);            /* dispatch.c */
void stop_ended(struct deciding *, const struct effect_slot *slot);            /* dispatch.c */
void say_ended(struct deciding *, const struct effect_slot *slot);             /* question.c */
void check_ended(struct deciding *, const struct effect_slot *slot);           /* check.c */
void land_ended(struct deciding *, const struct effect_slot *slot);            /* land.c */
