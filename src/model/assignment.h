/* SPDX-License-Identifier: Apache-2.0 */
/* Assignments: which agent works on which node, its state, and how far recovery has gone. struct assignment is an
 * assignment while it is open.
 *
 * Fixed size, loaded with its goal. People read the row PART_ASSIGNMENT_ROW with the same ordinal, written in the same
 * commit; when the assignment is over, only that row remains. docs/decisions/0009. */
#pragma once

#include "model/effect.h"
#include "model/plan.h"

enum assignment_status { /* ASSIGN-04 */
                         ASSIGNMENT_QUEUED,
                         ASSIGNMENT_DISPATCHED, /* sent, and no progress seen since */
                         ASSIGNMENT_ACTIVE,     /* progress was seen after the last dispatch */
                         ASSIGNMENT_STALLED,
                         ASSIGNMENT_BLOCKED, /* waits on others; neither nudged nor moved */
                         ASSIGNMENT_DONE,
                         ASSIGNMENT_CANCELLED,
                         ASSIGNMENT_STATUSES
};

/* RECOVER-01: in this order. A rung that does not apply is skipped, and the record says why. */
enum rung { RUNG_NUDGE, RUNG_RESEND, RUNG_REPLAN, RUNG_REASSIGN, RUNG_ASK, RUNGS };

/* ASSIGN-13: the outcome of a dispatch, including an unknown one. */
enum delivery {
    DELIVERY_NONE,     /* nothing was sent yet, or no answer yet */
    DELIVERY_ACCEPTED, /* a receipt was received */
    DELIVERY_OK,       /* accepted, and the turn ended well */
    DELIVERY_TIMEOUT,  /* no receipt: it may or may not have arrived */
    DELIVERY_ERROR,    /* certainly not delivered */
    DELIVERIES
};

/* Always three values: an unknown never justifies a disruptive action. */
enum tristate { TRISTATE_UNKNOWN, TRISTATE_YES, TRISTATE_NO, TRISTATE_COUNT };

/* Result of the operator's checks on one commit. */
enum checked {
    CHECKED_NOTHING, /* it could not be checked */
    CHECKED_PASSED,
    CHECKED_FAILED,
    CHECKED_UNCHANGED, /* there is nothing new compared with before */
    CHECKED_CONFLICT,  /* the landing commit cannot be built: it conflicts with the target */
    CHECKED_TARGET,    /* it fails, and so does the target, or the machine cannot check it now */
    CHECK_COUNT
};

/* Result of a landing. */
enum landed {
    LANDED_NOT, /* it could not be attempted */
    LANDED_YES,
    LANDED_CONFLICT,
    LANDED_MOVED,   /* others landed first, too often */
    LANDED_REFUSED, /* not permitted, with the reason */
    LANDED_PUSHED,  /* the branch is pushed, but there is no pull request */
    LANDED_RECHECK, /* nothing was pushed: the verdict does not hold for what would land now */
    LANDING_COUNT
};

/* Does it hold the landing lane's slot? See model/repository.h. */
enum slot_state { SLOT_NONE, SLOT_ASKED, SLOT_HELD, SLOT_STATES };

/* Why nothing is done about an assignment now. */
enum assignment_wait {
    WAITS_FOR_NOTHING,
    WAITS_FOR_PERMIT,  /* admission has not granted it yet */
    WAITS_FOR_QUOTA,   /* its account is at a limit until waits_until */
    WAITS_FOR_BACKOFF, /* until waits_until */
    WAITS_FOR_ANSWER,  /* a question is open */
    WAITS_FOR_PERSON,  /* a person is attached */
    WAITS_FOR_RETRY,   /* an inner retry is in progress */
    WAITS_FOR_CHECK,   /* work reported as done is being checked or landed */
    WAITS_FOR_HOST,    /* the host of its run is lost, and that run may still be alive */
    WAITS_FOR_OVERAGE, /* its run is frozen: its account has begun to use paid extra usage */
    WAIT_COUNT
};

/* The last instruction, and what came of it. ASSIGN-08, ASSIGN-19. */
struct assignment_delivery {
    struct hash instruction; /* of the whole instruction */
    uint32_t words;          /* enum wording: kind of the text */
    uint32_t dispatch;       /* ordinal + 1 of the effect that carried it */
    enum delivery result;    /* outcome of that dispatch */
    uint32_t effect;         /* ordinal + 1 of its open effect; 0: none */
    uint32_t attempts;       /* dispatches in total, for the cap per node */
    int64_t last_at;
    struct hash handoff;     /* CRYSTAL-06: of the encoded handoff that goes with it; zero: none */
    uint32_t newest_handoff; /* n + 1 of its newest handoff */
};

/* What is to be sent to the agent, besides its task. */
struct assignment_outgoing {
    struct hash
        text; /* goes with the next instruction: an answer, or why it failed before; zero: none */
    enum wording
        undelivered; /* kind of `text` while the agent has not received it; WORDS_NONE: it has */
    uint32_t
        permits; /* what the answer in `text` replies to a permission request: enum permission */
    struct hash message; /* a person's message (struct agent_message) that is being sent */
    enum wording next;   /* text to send once admission has room */
};

/* What is known of its agent's life. */
struct assignment_liveness {
    int64_t last_activity_at, expected_next_at, idle_after;
    int64_t looked_at;      /* time of the last look */
    int64_t observed_since; /* start of gap-free observation, as of that look */
    uint32_t unseen;        /* looks in a row that saw nothing */
    uint32_t attached;      /* 1: a person is attached to its terminal */
    uint64_t fingerprint;   /* of the agent's own last message, as last sampled */
    uint32_t context;       /* used part of its context window, in hundredths */
};

/* What it has used. Cost in millionths of the currency. */
struct assignment_usage {
    uint64_t tokens, cost; /* measured so far */
    uint64_t run_tokens,
        run_cost; /* part of them from the current run: observations of a run count from 0 */
    uint64_t settled_tokens, settled_cost; /* part of them that was reported to admission */
};

/* How far it has been helped: the ladder. */
struct assignment_recovery {
    enum rung first, rung;
    uint32_t retries;  /* ASSIGN-10: of this rung */
    uint32_t restarts; /* runs that died in the window that began at restart_since */
    int64_t restart_since, last_retry_at, backoff_until;
    uint32_t asked;    /* 1: the agent was asked once for the block that its message lacked */
    uint32_t moves;    /* how often the work moved to another agent */
    uint32_t handover; /* 1: the agent was asked to write a handoff */
    uint32_t allowed;  /* 1: admission allows the rung; the agent is looked at once more before */
};

/* What it waits for. */
struct assignment_waits {
    enum assignment_wait on;
    int64_t until;
    uint32_t question;              /* n + 1 of the open question that holds it; 0: none */
    uint32_t answered;              /* a person's option, carried out after a look; 0: none */
    char reason[LIMIT_BLOCKED + 1]; /* ASSIGN-07: why it is blocked; empty: it is not */
};

/* Its permit, or its request for one. */
struct assignment_permit {
    uint32_t host; /* whose admission was asked for a permit, or granted it; 0: neither */
    uint32_t turn; /* number of the newest request: an answer to another one is ignored */
};

/* Its slot of the landing lane. */
struct assignment_slot {
    enum slot_state state;
    uint32_t turn;       /* number of its newest request: an answer to another one is ignored */
    uint32_t host;       /* as which it asked: names the workspace */
    struct id workspace; /* that it asked; zero: as the policy names it */
};

/* What its runs are begun with. */
struct assignment_setup {
    struct hash start; /* ASSIGN-19: of the BEGINNING of its first run; zero: none yet */
    char sandbox[LIMIT_SANDBOX + 1]; /* of the current run; empty: none began yet */
    char scope[LIMIT_SANDBOX +
               1]; /* SCOPE-08: how its tool scope is applied: enforced, advisory, none */
    char limits[LIMIT_LIMITS +
                1];     /* G-22: resource limits of the current run, and what enforces them */
    uint32_t work_host; /* P10: host whose clone has the work of its newest run; 0: none */
    char branch[LIMIT_BRANCH +
                1]; /* of its work, below overseer/; empty: named by goal and assignment */
};

/* What was checked of its work, and what has to be. */
struct assignment_check {
    char commit[LIMIT_COMMIT + 1];   /* the candidate that passed its checks; empty: none yet */
    char onto[LIMIT_COMMIT + 1];     /* the target's tip that the candidate was built on */
    char snapshot[LIMIT_COMMIT + 1]; /* of the worktree; the candidate was built from it */
    char conflict[LIMIT_COMMIT + 1]; /* names the conflict that was reported to its agent */
    struct hash digest; /* of the command, setup, protected paths and sandbox of its verdict */
    struct hash change; /* of the candidate's change as shown to a person */
    uint32_t judged;    /* enum judged, of its verdict */
    uint32_t recheck;   /* 1: build and check the candidate again, from `snapshot` */
    uint32_t rechecks;  /* how often that happened since the agent reported it done */
    uint32_t approved;  /* 1: a person approved `change` as shown */
    uint32_t rounds;    /* how often work reported as done failed its checks or conflicted */
    struct hash
        contract; /* VERIFY-11: of the text that says what its run has to produce; zero: none */
    enum on_failure on_failure; /* of the contract: what follows if it does not pass, */
    uint32_t wants_report;      /* 1: the agent has to report its end */
    struct hash verdict;        /* VERIFY-14: of the newest VERIFICATION; zero: none yet */
    int64_t retried_at; /* VERIFY-19: when it was restarted because its checks failed; 0: never */
    uint32_t retry_of;  /* VERIFY-18: ordinal + 1 of the run before that restart; 0: none */
};

/* What its agent reports of its progress and its end. */
struct assignment_progress {
    char phase[LIMIT_PHASE + 1]; /* PROGRESS-05: empty: none yet */
    uint32_t percent;            /* + 1; 0: not reported */
    int64_t at;                  /* when it was reported */
    uint32_t kept;               /* entries in the progress history of its run, */
    int64_t kept_at;             /* and the time of the newest */
    uint32_t completion,
        confidence;     /* REPORT-07: how the agent says it ended, + 1; 0: not reported */
    struct hash report; /* REPORT-06: of the UPDATE that reported it */
    uint32_t
        reported_last; /* VERIFY-09: 1: no tool call reported anything since the agent reported its end */
    uint32_t sampled; /* 1: reported progress was stored that no record mentions yet */
};

/* REQUEST-02: its last requests to others. */
struct assignment_requests {
    uint32_t count, at[LIMIT_REQUESTS]; /* seconds after created_at */
};

struct assignment {
    uint32_t n;    /* ordinal among the goal's parts: A_n */
    uint32_t node; /* n of its node */
    enum assignment_status status;
    char agent[LIMIT_AGENT + 1];     /* name; empty: none yet */
    char session[LIMIT_SESSION + 1]; /* ASSIGN-16: canonical key; empty: none yet */
    char account[LIMIT_AGENT + 1];   /* whose quota it uses */
    uint32_t run;                    /* ordinal + 1 of the effect that started the run: names it */
    uint32_t ended;                  /* 1: that run is over, the next dispatch starts a new one */
    uint32_t
        parent; /* n + 1 of the assignment whose agent asked for this one; 0: the overseer did */
    int64_t created_at, updated_at;
    struct assignment_setup setup;
    struct assignment_delivery delivery;
    struct assignment_outgoing outgoing;
    struct assignment_liveness liveness;
    struct assignment_usage usage;
    struct assignment_recovery recovery;
    struct assignment_waits wait;
    struct assignment_permit permit;
    struct assignment_check check;
    struct assignment_slot slot;
    struct assignment_progress progress;
    struct assignment_requests requests;
};

struct assignments {
    struct assignment *at; /* in order of n */
    uint32_t count;
};

/* ASSIGN-19: what a run was started with. A restart uses exactly this. */
struct beginning {
    struct str agent, model, thinking, label; /* label: the node */
    struct hash text;                         /* of the node's text */
    int64_t within;                           /* time limit of its first instruction */
    uint32_t listed; /* 1: only the tools in `allow`; 0: all that the agent has */
    struct texts allow, deny;
};

extern const struct shape ASSIGNMENT, BEGINNING;
extern const struct status_row ASSIGNMENT_STATUS[ASSIGNMENT_STATUSES];
extern const struct names ASSIGNMENT_STATUS_NAMES, RUNG_NAMES, DELIVERY_NAMES, TRISTATE_NAMES,
    WAITING_NAMES, CHECKED_NAMES, LANDED_NAMES, SLOT_NAMES;

bool assignment_status_may_become(enum assignment_status from, enum assignment_status to);
bool assignment_is_over(const struct assignment *assignment);

/* An adopted session is named by its kind: tmux:%3 for a pane, claude:ID for a session of Claude Code. Overseer only
 * watches it: it never sends anything to it and never acts on it. */
#define ADOPTED_PANE "tmux:"
#define ADOPTED_SESSION "claude:"
bool agent_is_adopted(struct str agent);
bool assignment_is_adopted(const struct assignment *assignment);
struct assignment *assignments_find(const struct assignments *assignments, uint32_t n);
struct assignment *assignments_of_node(const struct assignments *assignments,
                                       uint32_t node); /* the open one */

/* What an assignment's agent reported about its progress since the last record: stored with the assignment at once, and
 * with the next record of its goal, so that decisions can be replayed from their records. */
struct sample {
    uint32_t assignment;
    int64_t updated_at, last_activity_at, progress_at;
    struct str phase;
    uint32_t percent;
};

struct samples {
    struct rows rows; /* struct sample */
};

extern const struct shape SAMPLE, SAMPLES;

/* ---- observations of an agent ---- */

/* What happened to the agent, where that alone is a reason to decide. */
enum agent_event {
    AGENT_SEEN,     /* nothing special: a sample */
    AGENT_STARTED,  /* TICK-08 */
    AGENT_ACCEPTED, /* the receipt of a dispatch */
    AGENT_ENDED,    /* its turn is over */
    AGENT_FAILED,   /* it ended with an error */
    AGENT_EXITED,   /* its process is gone */
    AGENT_LIMITED,  /* its account is at a limit until limited_until; 0: not stated */
    AGENT_ASKS,     /* it shows a dialog or asks for permission */
    AGENT_ATTACHED, /* a person is attached to its terminal */
    AGENT_DETACHED,
    AGENT_STRANDED, /* its host gave the run up and kept its work; the text says where */
    AGENT_EVENTS
};

/* TICK-07: what a sample of its messages shows. */
enum sampled { SAMPLED_NOTHING, SAMPLED_SLOW, SAMPLED_WAITS_FOR_PERSON, SAMPLED_FAILED, SAMPLEDS };

/* One observation of one agent. Kept in memory; stored only with the decision that used it. */
struct observation {
    uint32_t assignment;
    enum agent_event event;
    int64_t at;                  /* when the agent was observed; 0: never */
    enum tristate process, turn; /* does the process exist? is it working on something? */
    enum tristate delivered;     /* of a look for a dispatch: did it arrive? */
    int64_t active_at;           /* newest progress: a message of its own, tokens, a changed file */
    int64_t tool_since;          /* a tool call is open since then; 0: none */
    int64_t chatter_at; /* output that is no progress: a spinner, a heartbeat, a log line */
    int64_t limited_until;
    uint64_t fingerprint, tokens, cost;
    uint32_t context;
    enum sampled sampled;
    uint32_t dispatch; /* ordinal + 1 of the dispatch that it is about; 0: none */
    int64_t exit;
    uint32_t
        heard; /* ordinal + 1 of the newest dispatch that the agent had received then; 0: unknown */
};

/* The observations that come with a goal's due time. Silence counts only while the host was observing: `since` is when
 * this host began to observe without a gap. A start, a suspend or a clock jump resets it. */
struct observations {
    struct rows rows; /* struct observation */
    int64_t since;
};

extern const struct shape OBSERVATION, OBSERVATIONS;
extern const struct names AGENT_EVENT_NAMES, SAMPLED_NAMES;
