/* SPDX-License-Identifier: Apache-2.0 */
/* Causes of the questions that the supervisor asks, and the answers that it offers with each.
 *
 * A cause is stored as text: the prefix of its row, and what it is about, such as "done.S1.2". An answer is stored as
 * the number of the option, from 1. */
#pragma once

#include "model/question.h"

enum cause {
    CAUSE_OTHER,      /* a person, a program or an agent asks */
    CAUSE_STALLED,    /* NODE: its agent makes no progress */
    CAUSE_LANDING,    /* NODE: the work passed its checks, but does not land */
    CAUSE_DONE,       /* NODE: its agent reports it as done */
    CAUSE_BLOCKED,    /* NODE: its agent reports a blocker */
    CAUSE_START,      /* NODE: its agent does not start */
    CAUSE_NO_AGENT,   /* NODE: no agent may work on it */
    CAUSE_DENIED,     /* NODE: admission has denied it */
    CAUSE_FAILED,     /* NODE: it failed, and has no assignment any more */
    CAUSE_DISK,       /* NODE: its run is frozen because of the disk */
    CAUSE_PERMISSION, /* A_n: the agent is in a permission dialog */
    CAUSE_AGENT,      /* A_n: the agent asks in its own words */
    CAUSE_BLAST,      /* the supervisor would act against too many agents at once */
    CAUSE_BUDGET,     /* SCOPE: a budget is used up */
    CAUSE_HOST_LOST,  /* NUMBER: a host does not renew its lease */
    CAUSE_NETWORK,    /* HOST:PORT: runs of a repository were denied a host */
    CAUSE_OVERAGE,    /* ACCOUNT: it has begun to use paid extra usage */
    CAUSE_TARGET,     /* the target of a repository fails its own check */
    CAUSES
};

/* The options of each cause, as they are stored. */
enum stalled_answer { STALLED_AGAIN = 1, STALLED_OTHER_AGENT, STALLED_STOP };
enum adopted_answer { ADOPTED_OBSERVE = 1, ADOPTED_DONE, ADOPTED_STOP = STALLED_STOP };
enum done_answer { DONE_ACCEPT = 1, DONE_REJECT };
enum stopped_answer { STOPPED_AGAIN = 1, STOPPED_GIVE_UP }; /* denied, failed */
enum disk_answer { DISK_CONTINUE = 1, DISK_RESTART, DISK_GIVE_UP };
enum permission_answer { PERMISSION_ALLOW = 1, PERMISSION_DENY };
enum blast_answer { BLAST_CONTINUE = 1, BLAST_LEAVE_ALONE };
enum network_answer { NETWORK_DENY = 1, NETWORK_TASKS, NETWORK_CHECKS, NETWORK_ALWAYS };
enum overage_answer { OVERAGE_ANSWER_WAIT = 1, OVERAGE_ANSWER_ALLOW, OVERAGE_ANSWER_STOP };
enum approval_answer {
    APPROVAL_YES = 1,
    APPROVAL_NO
}; /* QUESTION_APPROVE without a cause of its own */

enum cause cause_of(const struct question *question);
bool cause_is(const struct question *question, enum cause cause);
const char *
cause_name(const struct question *question); /* what it is about: the part after the prefix */
struct str cause_text(enum cause cause, const char *name, struct arena *arena);
struct texts cause_options(enum cause cause);
struct texts
adopted_options(void); /* instead of those of CAUSE_STALLED, for a session that is only observed */
