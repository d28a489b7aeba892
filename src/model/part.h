/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a goal. One row here for each kind; each kind is a table of its own with the same columns: goal_id, n,
 * name, body. STORE-03. */
#pragma once

#include "model/live.h"

enum part_kind {
    PART_NODE,
    PART_ASSIGNMENT_ROW,
    PART_DISPATCH,
    PART_HANDOFF,
    PART_RUN,
    PART_ASSIGNMENT,
    PART_QUESTION,
    PART_AGENT_MESSAGE,
    PART_PERMIT,
    PART_ACCOUNT,
    PART_BUDGET,
    PART_HOST_ACCESS,
    PART_TASK_BATCH,
    PARTS
};

/* One instruction that was sent, for idempotency and history. */
struct dispatch {
    struct str id; /* D_… */
    int64_t at;
    struct str assignment, mode, target, instruction_hash, result, run, notes;
};

/* A binding between a node and an agent's session. */
struct assignment_row {
    struct str id; /* A_… */
    struct str node, agent, session, status, instruction, instruction_hash, run, recovery;
    struct str blocked_reason;
    int64_t created_at, updated_at, last_dispatch_at, last_activity_at, expected_next_at,
        idle_after;
    int64_t last_retry_at, backoff_until;
    uint32_t retries;
};

/* The row of an open assignment; its texts are in the arena or in the assignment and the plan. */
struct assignment_row assignment_row_make(const struct assignment *assignment,
                                          const struct plan *plan, struct id goal,
                                          struct arena *arena);

/* The hash in hexadecimal digits; empty: it is zero. */
struct str hash_hex(const struct hash *hash, struct arena *arena);

/* A handoff: what happened, what exists, what is next. */
struct handoff {
    struct str id; /* C_… */
    struct str node, summary, state;
    struct texts decisions, next_actions, open_questions, blockers;
    struct texts files, commands, tests, commits, prs, issues, refs;
    struct str session, session_id; /* STORE-13: location of the transcript, never the transcript */
    int64_t at;
};

/* One bounded execution of an agent. STORE-22: it can be patched in part. */
struct run_row {
    struct str id; /* R_… */
    struct str assignment, node, agent, session, status, verification;
    int64_t started_at, ended_at;
    int64_t exit;
};

struct part_row {
    const char *table;      /* of the store; the kind's name everywhere */
    const char *prefix;     /* of its ids */
    const char *collection; /* in an export; NULL: inside the goal */
    bool live;              /* loaded with its goal, */
    size_t at;              /* into this member of struct live */
    uint32_t most;          /* live rows in one aggregate, at most */
    const struct shape *shape;
};

extern const struct part_row PART[PARTS];
extern const struct shape ASSIGNMENT_ROW, DISPATCH, HANDOFF, RUN_ROW;

/* The common view of the rows of one kind. */
struct live_rows *live_rows(struct live *live, enum part_kind kind);
const struct live_rows *live_rows_of(const struct live *live, enum part_kind kind);

/* Copies all of them, including their rows: into the arena, or into `room`, which has live_size() bytes. */
struct live live_copy(const struct live *live, struct arena *arena);
size_t live_size(const struct live *live);
void live_pack(struct live *to, const struct live *from, void *room);

/* The first broken invariant in words, or NULL. Runs after every step. */
const char *live_broken(const struct live *live, const struct goal *goal);
/* The same for one open assignment, part by part: assignment_broken.c. */
const char *assignment_broken(const struct assignment *assignment, const struct live *live);

/* A change that a step makes to one part. */
struct part_change {
    enum part_kind kind;
    bool gone;
    uint32_t n;
    struct str name; /* its id as shown to people */
    struct str body; /* encoded by its shape */
};
