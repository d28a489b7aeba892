/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of the operator that decisions depend on. Stored by hash; a change is an order on the record. Every
 * field comes from a setting of the same name (model/setting/deciding.h, setting_rows.c); 0 or empty means what the comment
 * says. */
#pragma once

#include "model/admission.h"
#include "model/assignment.h"
#include "model/notice.h"
#include "model/setting/deciding.h"

/* An agent that may be given work: CONFIG-17. */
struct policy_agent {
    char id[LIMIT_AGENT + 1], role[LIMIT_AGENT + 1], account[LIMIT_AGENT + 1],
        model[LIMIT_AGENT + 1], team[LIMIT_AGENT + 1];
    uint32_t most; /* at once on one host; 0: no cap of its own */
    uint64_t
        reserve; /* money that one attempt may cost, in millionths: reserved before it begins */
    uint64_t reserve_tokens;
    uint32_t dedupes; /* 1: its side drops a dispatch id that it has seen: RECOVER-10 */
    uint64_t
        price; /* money for a million tokens, in millionths, if the cost of a run is not reported; 0: unknown */
};

/* A budget: how much, for whom, in which window. */
struct policy_budget {
    char scope
        [LIMIT_SCOPE +
         1]; /* fleet, day, agent/NAME, team/NAME, account/NAME, model/NAME; without a name: each */
    enum budget_unit unit;
    uint64_t most;
    int64_t window; /* microseconds; 0: for ever */
};

/* What the operator allows with an account: [[accounts]]. */
struct policy_account {
    char name[LIMIT_AGENT + 1];
    uint32_t mark;  /* percent of a quota window from which nothing begins; 0: none */
    uint32_t extra; /* 1: paid extra usage is allowed */
};

/* A channel as decisions see it. */
struct policy_channel {
    char id[LIMIT_AGENT + 1];
    uint32_t kind;  /* enum channel_kind */
    uint32_t least; /* enum alarm + 1; 0: as ESCALATE-03 says */
    uint32_t quiet; /* 1: obeys the quiet hours */
    char origins
        [LIMIT_NAME +
         1]; /* ESCALATE-13: whose goals it may report in addition to its own, separated by spaces; *: all */
};

/* May plans be applied, and by which agents. */
struct policy_plans {
    uint32_t approve;  /* PLAN-33: 1: plans of the overseer wait for a person */
    struct str agents; /* PLAN-23: agents that may apply plans, separated by spaces */
};

/* Which agents work, and how many at once. */
struct policy_dispatch {
    const struct policy_agent *agents; /* none: nothing is ever assigned automatically */
    uint32_t agent_count;
    DECIDING_DISPATCH(DECIDING_POLICY, NEXT_STATEMENT);
    struct str allow_agents; /* POLICY-01: separated by spaces; empty: all */
};

/* What decides whether work is done. */
struct policy_checks {
    uint32_t
        by_person; /* 1: work that an agent reports as done waits for a person: nothing else can check it yet */
    uint32_t configured; /* 1: the operator's checks decide what is done */
    uint32_t rounds;     /* how often work may fail them before a person is asked */
    int64_t within;      /* time limit for them */
};

/* Where work lands that passed. */
struct policy_landing {
    uint32_t automatic;       /* 1: work that passed lands automatically */
    uint64_t workspace;       /* prefix of the hash of the repository's source; 0: none */
    uint32_t workspace_local; /* 1: the source is a path, so each host has its own */
    uint32_t rechecks;        /* how often a candidate is built again because its target moved */
};

/* A repository of [[repos]]: how its work is checked and where it lands. That of [repo] is in the policy itself. */
struct policy_repository {
    uint64_t key; /* repository_key() of its name */
    struct policy_checks checks;
    struct policy_landing landing;
};

/* When an agent counts as stalled: TICK. */
struct policy_liveness {
    int64_t tick_every;
    int64_t idle_after; /* TICK-11 */
    DECIDING_LIVENESS(DECIDING_POLICY, NEXT_STATEMENT);
};

/* The ladder: RECOVER. */
struct policy_recovery {
    uint32_t first_rung;   /* enum rung */
    uint32_t max_retries;  /* nudges: RECOVER-07 */
    uint32_t max_attempts; /* dispatches of any kind for one node, by all agents: C-68 */
    int64_t backoff_base, backoff_max, min_resend; /* TICK-22, TICK-23 */
    uint32_t allow_reassign;                       /* RECOVER-05 */
    uint32_t planner;     /* 1: there is a planner, and RUNG_REPLAN may ask it */
    int64_t orphan_after; /* P10: a run whose host is lost is frozen after this time */
    DECIDING_RECOVERY(DECIDING_POLICY, NEXT_STATEMENT);
};

/* Limits on the supervisor's own actions. */
struct policy_pace {
    DECIDING_PACE(DECIDING_POLICY, NEXT_STATEMENT);
};

/* What may be spent. */
struct policy_spending {
    const struct policy_budget *budgets;
    uint32_t budget_count;
    const struct policy_account *accounts;
    uint32_t account_count;
    int64_t quota_guess; /* how long an account rests that did not report until when */
};

/* When and how people are reached. */
struct policy_people {
    const struct policy_channel *channels;
    uint32_t channel_count;
    uint32_t auto_escalate; /* ESCALATE-05 */
    uint32_t notify_below;  /* 1: info and warning reach the desktop: C-41 */
    int64_t say_again,
        say_again_most;           /* an unanswered question is repeated: back-off between these */
    uint32_t say_most;            /* rounds for one question; 0: no cap */
    int64_t quiet_from, quiet_to; /* microseconds after midnight UTC; equal: none */
    DECIDING_PEOPLE(DECIDING_POLICY, NEXT_STATEMENT); /* request_raise: REQUEST-09 */
};

struct policy {
    int64_t act_within; /* time limit for an outcome; after it the effect counts as unconfirmed */
    struct policy_plans plans;
    struct policy_dispatch dispatch;
    struct policy_checks checks;
    struct policy_landing landing;
    struct policy_liveness liveness;
    struct policy_recovery recovery;
    struct policy_pace pace;
    struct policy_spending spending;
    struct policy_people people;
    struct {
        const struct policy_repository *at;
        uint32_t count;
    } repositories;

    struct hash hash;
};

extern const struct shape POLICY; /* everything except the hash: for tests, and for replay */

/* The policy when nothing is set: the defaults of the settings, without agents. */
struct policy policy_default(void);
struct policy policy_of(int64_t act_within);     /* the same, with this act_within */
struct policy policy_seal(struct policy policy); /* with its hash, from its fields */

const struct policy_agent *policy_agent(const struct policy *policy, struct str id);
