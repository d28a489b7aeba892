/* SPDX-License-Identifier: Apache-2.0 */
/* Plans. PLAN-01: phases, their tasks, their subtasks.
 *
 * In memory, a node has only what decisions need; its text is stored separately, by hash. A node that a later plan
 * omits is retired: no longer part of the tree, and its id is never reused. */
#pragma once

#include "model/artifact.h"
#include "model/goal.h"

struct node_times {
    int64_t created_at, updated_at, started_at, ended_at;
    int64_t queued_at; /* since when it is ready: the longest wait eventually comes first */
};

/* What is checked when it is reported as done. */
struct node_contract {
    uint32_t given;             /* 1: VERIFY-01, its text says what is checked, */
    enum on_failure on_failure; /* what follows if it does not pass, */
    uint32_t wants_report;      /* 1: VERIFY-09, and that its agent has to report its end */
    uint32_t answer;            /* 1: it wants an answer, which nothing checks and nothing lands */
};

/* How it ended, or what is known of that. */
struct node_result {
    struct hash verdict; /* VERIFY-14: of the newest VERIFICATION about it; zero: none yet */
    uint32_t completion,
        confidence;     /* REPORT-07: how its agent said it ended, + 1; 0: not reported */
    enum proof proof;   /* of a leaf that is done */
    struct hash landed; /* of where it landed: a ref, a pull request; zero: nowhere */
    struct hash report; /* REPORT-06: of the UPDATE that reported it */
    struct hash answer; /* of a node that wants one; zero: none yet */
};

/* P10: its newest run, until the end of that run is known. */
struct node_run {
    uint32_t effect;      /* ordinal + 1 of the effect that started it */
    uint32_t host;        /* the host that claimed the start; 0: no run, or its end is known */
    int64_t orphan_after; /* its hold freezes it this long after its host's lease has ended */
    int64_t alone_at;     /* its host is lost: no other run starts before this time; 0: not lost */
    uint32_t lost;        /* the newest run whose host was lost: it never counts again */
};

struct node {
    uint32_t n;                 /* ordinal in the goal, never reused */
    char id[LIMIT_NODE_ID + 1]; /* id that people and planners use; unique in the goal */
    uint32_t parent;            /* n + 1 of its parent; 0: none, a phase */
    enum tier tier;
    enum node_status status;
    uint32_t place; /* order among its siblings */
    uint32_t
        pinned; /* 1: PLAN-14, its status was set against its children; it stays so until released */
    uint32_t retired; /* 1: no longer in the plan */
    enum blocked_by blocked;
    uint32_t effort; /* estimated minutes; 0: unknown */
    struct node_times times;
    struct hash text;                /* of its encoded NODE_TEXT */
    struct hash why;                 /* of the text behind `blocked`; zero: none */
    uint32_t depends[LIMIT_DEPENDS]; /* n of its dependencies, ascending */
    uint32_t depend_count;
    char agent[LIMIT_AGENT + 1],
        role[LIMIT_AGENT + 1]; /* ASSIGN-20: agent that should do it, or the kind of agent */
    uint32_t attempts;         /* C-68: dispatches for it in total, by all agents */
    struct hash
        start; /* ASSIGN-19: of the BEGINNING that it started with, for a restart; zero: none */
    struct node_contract contract;
    struct node_result result;
    struct node_run run;
};

struct plan {
    struct node *nodes; /* in order of n; retired ones too */
    uint32_t count;
};

/* The text of a node: PLAN-02, PLAN-03, PLAN-05, PLAN-30. */
struct node_text {
    struct str name, objective, outcome;
    struct texts criteria;
    struct str definition_of_done;
    struct str agent, agent_type;
    struct texts tools;
    struct str effort; /* as given: 30m, 2h, 3d */
    enum risk risk;
    struct texts scope_paths;
    struct texts allow, deny; /* SCOPE-01: tools; they narrow what its agent has, never widen it */
    struct rows artifacts;    /* struct artifact: VERIFY-03, files that have to exist */
    uint32_t completion_report,
        progress_reporting;  /* REPORT-02, PROGRESS-07: its agent is asked for them */
    uint32_t require_report; /* VERIFY-09: the node is not done without the completion report */
    enum on_failure on_failure;
    uint32_t check_within; /* VERIFY-02: milliseconds to check its artifacts; 0: the usual time */
    enum wants wants;
};

/* A node as passed in and out, by name instead of by ordinal. */
struct plan_row {
    struct str id, parent;
    enum tier tier;
    struct texts depends_on;
    struct node_text text;
};

struct plan_text {    /* a whole plan, as passed in */
    struct rows rows; /* struct plan_row */
};

extern const struct shape NODE, NODE_TEXT, PLAN_ROW, PLAN_TEXT;

void node_contract_take(struct node *node, const struct node_text *text); /* from its text */
struct node *plan_node(const struct plan *plan, uint32_t n);              /* NULL: there is none */
struct node *plan_find(const struct plan *plan, struct str id);           /* the same, by name */
struct node *plan_parent(const struct plan *plan, const struct node *node); /* NULL: a phase */
/* The weakest proof among its leaves that are done; PROOF_NONE: none is done. */
enum proof plan_proof(const struct plan *plan);
bool plan_has_children(const struct plan *plan, const struct node *node); /* that are not retired */
bool node_is_over(const struct node *node);                               /* done or cancelled */
bool node_waits_for(const struct node *node, uint32_t n);
struct str node_id(const struct node *node);

/* PLAN-10 to PLAN-12, G-16: the status that follows from a node's children. Only for nodes with children. */
enum node_status plan_rolled_up(const struct plan *plan, const struct node *node);

/* PLAN-35: all dependencies of the node and its ancestors are done, and no ancestor is over. */
bool plan_is_ready(const struct plan *plan, const struct node *node);

/* PLAN-16: how much of it is done, 0 to 100; each leaf counts the same. */
uint32_t plan_percent(const struct plan *plan, const struct node *node); /* NULL: the whole plan */

/* Leaves that are being worked on. */
uint32_t plan_working(const struct plan *plan);

/* Is every phase done that is not cancelled, and is there at least one? */
bool plan_is_done(const struct plan *plan);

/* The first broken invariant in words, or NULL. Runs after every step, and on load. */
const char *plan_broken(const struct plan *plan, const struct goal *goal);

/* Can all of the plan be completed? The first node that waits for itself, through dependencies and tiers together, or
 * NULL. Needs 2 * count bytes of scratch. */
const struct node *plan_circle(const struct plan *plan, struct arena *scratch);
