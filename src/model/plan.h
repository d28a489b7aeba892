/* SPDX-License-Identifier: Apache-2.0 */
/* What is a plan? PLAN-01: phases, their tasks, their subtasks.
 *
 * In memory a node is what decisions need; its words stay apart, by hash. A node that a later plan
 * leaves out is retired: no longer part of the tree, its id never given to anything else. */
#pragma once

#include "model/artifact.h"
#include "model/goal.h"

struct node {
    uint32_t n;                 /* ordinal in the goal, never used twice */
    char id[LIMIT_NODE_ID + 1]; /* what people and planners call it; unique in the goal */
    uint32_t parent;            /* n + 1 of its parent; 0: none, a phase */
    enum tier tier;
    enum node_status status;
    uint32_t place; /* order among its siblings */
    uint32_t
        pinned; /* 1: PLAN-14, somebody set it against its children; it stays so until released */
    uint32_t retired; /* 1: no longer in the plan */
    enum blocked_by blocked;
    uint32_t effort; /* minutes it is thought to take; 0: unknown */
    int64_t created_at, updated_at, started_at, ended_at;
    int64_t queued_at; /* since when it is ready: what waits longest comes first one day */
    struct hash text;  /* of its encoded NODE_TEXT */
    struct hash why;   /* of the words behind `blocked`; zero: none */
    uint32_t depends[LIMIT_DEPENDS]; /* n of what it waits for, ascending */
    uint32_t depend_count;
    char agent[LIMIT_AGENT + 1],
        role[LIMIT_AGENT + 1]; /* ASSIGN-20: who should do it, or what kind */
    uint32_t attempts;         /* C-68: sent for it altogether, all agents together */
    struct hash
        start; /* ASSIGN-19: of the BEGINNING it had with, for whoever begins again; zero: none */
    uint32_t contract; /* 1: VERIFY-01, its words say what is checked when it is called done, */
    enum on_failure on_failure; /* what follows if it does not pass, */
    uint32_t wants_report;      /* 1: VERIFY-09, and that its agent reports its end */
    struct hash verdict;        /* VERIFY-14: of the newest VERIFICATION about it; zero: none yet */
    uint32_t completion,
        confidence;     /* REPORT-07: how its agent said it ended, + 1; 0: it did not */
    enum proof proof;   /* of a leaf that is done */
    struct hash landed; /* of where it is: a ref, a pull request; zero: nowhere */
    struct hash report; /* REPORT-06: of the UPDATE in which it said so */

    /* P10: its newest run, until the end of that run is known */
    uint32_t run;         /* ordinal + 1 of the effect that started it */
    uint32_t run_host;    /* the host that claimed the start; 0: no run, or its end is known */
    int64_t orphan_after; /* its hold freezes it so long after its host's lease has ended */
    int64_t alone_at;     /* its host is lost: no other run starts before; 0: it is not lost */
    uint32_t lost_run;    /* the newest run whose host was lost: it never counts again */
};

struct plan {
    struct node *nodes; /* in order of n; retired ones too */
    uint32_t count;
};

/* The words of a node: PLAN-02, PLAN-03, PLAN-05, PLAN-30. */
struct node_text {
    struct str name, objective, outcome;
    struct texts criteria;
    struct str definition_of_done;
    struct str agent, agent_type;
    struct texts tools;
    struct str effort; /* as it was given: 30m, 2h, 3d */
    enum risk risk;
    struct texts scope_paths;
    struct texts allow, deny; /* SCOPE-01: tools; they narrow what its agent has, never widen it */
    struct rows artifacts;    /* struct artifact: VERIFY-03, what has to be there */
    uint32_t completion_report,
        progress_reporting;  /* REPORT-02, PROGRESS-07: it is asked for them */
    uint32_t require_report; /* VERIFY-09: it is not done without the first of them */
    enum on_failure on_failure;
    uint32_t check_within; /* VERIFY-02: milliseconds for its artifacts; 0: as long as is usual */
};

/* A node as it is handed in and out, by name instead of by ordinal. */
struct plan_row {
    struct str id, parent;
    enum tier tier;
    struct texts depends_on;
    struct node_text text;
};

struct plan_text {    /* a whole plan, as it is handed in */
    struct rows rows; /* struct plan_row */
};

extern const struct shape NODE, NODE_TEXT, PLAN_ROW, PLAN_TEXT;

void node_contract_take(struct node *node, const struct node_text *text); /* from its words */
struct node *plan_node(const struct plan *plan, uint32_t n);              /* NULL: there is none */
struct node *plan_find(const struct plan *plan, struct str id);           /* the same, by name */
struct node *plan_parent(const struct plan *plan, const struct node *node); /* NULL: a phase */
/* The least that any of its leaves rests on that are done; PROOF_NONE: none is. */
enum proof plan_proof(const struct plan *plan);
bool plan_has_children(const struct plan *plan, const struct node *node); /* that are not retired */
bool node_is_over(const struct node *node);                               /* done or cancelled */
bool node_waits_for(const struct node *node, uint32_t n);
struct str node_id(const struct node *node);

/* PLAN-10 to PLAN-12, G-16: what its children make of a node. Only for nodes with children. */
enum node_status plan_rolled_up(const struct plan *plan, const struct node *node);

/* PLAN-35: everything that it and those above it depend on is done, and nothing above it is over. */
bool plan_is_ready(const struct plan *plan, const struct node *node);

/* PLAN-16: how much of it is done, 0 to 100; each leaf counts the same. */
uint32_t plan_percent(const struct plan *plan, const struct node *node); /* NULL: the whole plan */

/* Leaves that are being worked on. */
uint32_t plan_working(const struct plan *plan);

/* Is every phase that is not cancelled done, and at least one? */
bool plan_is_done(const struct plan *plan);

/* The first broken promise in words, or NULL. Runs after every step, and on load. */
const char *plan_broken(const struct plan *plan, const struct goal *goal);

/* Can all of it be done one day? The first node that waits for itself, or NULL: over dependencies and
 * tiers together. Needs 2 * count bytes of scratch. */
const struct node *plan_circle(const struct plan *plan, struct arena *scratch);
