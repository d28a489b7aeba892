/* SPDX-License-Identifier: Apache-2.0 */
/* Who works on what, how is it going, and how far has it been helped? A charge is an assignment while it is open.
 *
 * Fixed size, loaded with its goal. What people read of it is the row PART_ASSIGNMENT under the same ordinal, written in
 * the same commit; when it is over, that row is all that is left. docs/decisions/0009. */
#pragma once

#include "model/effect.h"
#include "model/plan.h"

enum charge_status { /* ASSIGN-04 */
                     CHARGE_QUEUED,
                     CHARGE_DISPATCHED, /* something was sent, and no progress seen since */
                     CHARGE_ACTIVE,     /* progress was seen after the last dispatch */
                     CHARGE_STALLED,
                     CHARGE_BLOCKED, /* waits for somebody; neither nudged nor moved */
                     CHARGE_DONE,
                     CHARGE_CANCELLED,
                     CHARGE_STATUSES
};

/* RECOVER-01: in this order. What does not apply is skipped, with a reason on the record. */
enum rung { RUNG_NUDGE, RUNG_RESEND, RUNG_REPLAN, RUNG_REASSIGN, RUNG_ASK, RUNGS };

/* ASSIGN-13, and what is not known. */
enum delivery {
    DELIVERY_NONE,     /* nothing was sent yet, or no answer yet */
    DELIVERY_ACCEPTED, /* a receipt was seen */
    DELIVERY_OK,       /* and the turn ended well */
    DELIVERY_TIMEOUT,  /* no receipt: it may or may not have arrived */
    DELIVERY_ERROR,    /* certainly not delivered */
    DELIVERIES
};

/* Three values, always: what is not known justifies nothing that hurts. */
enum sure { SURE_UNKNOWN, SURE_YES, SURE_NO, SURES };

/* What the operator's checks say of one commit. */
enum checked {
    CHECKED_NOTHING, /* it could not be checked */
    CHECKED_PASSED,
    CHECKED_FAILED,
    CHECKED_UNCHANGED, /* nothing is there that was not there before */
    CHECKED_CONFLICT,  /* the landing commit cannot be built: it conflicts with the target */
    CHECKEDS
};

/* What came of bringing it home. */
enum landed {
    LANDED_NOT, /* it could not be tried */
    LANDED_YES,
    LANDED_CONFLICT,
    LANDED_MOVED,   /* others were faster, too often */
    LANDED_REFUSED, /* it may not be done, and why */
    LANDED_PUSHED,  /* its branch is there, and the pull request is not */
    LANDED_RECHECK, /* nothing was pushed: its verdict does not hold for what would land now */
    LANDEDS
};

/* Has it the landing lane's slot? model/lane.h */
enum slot_state { SLOT_NONE, SLOT_ASKED, SLOT_HELD, SLOT_STATES };

/* Why nothing is done about a charge now. */
enum charge_wait {
    WAITS_FOR_NOTHING,
    WAITS_FOR_PERMIT,  /* the desk has not said yes yet */
    WAITS_FOR_QUOTA,   /* its account is at a limit until waits_until */
    WAITS_FOR_BACKOFF, /* until waits_until */
    WAITS_FOR_ANSWER,  /* a question is open */
    WAITS_FOR_PERSON,  /* somebody is attached */
    WAITS_FOR_RETRY,   /* an inner retry is under way */
    WAITS_FOR_CHECK,   /* what it calls done is checked, or brought home */
    WAITS_FOR_HOST,    /* the host of its run is lost, and that run may still be alive */
    WAITINGS
};

struct charge {
    uint32_t n;    /* ordinal among the goal's parts: A_n */
    uint32_t node; /* n of its node */
    enum charge_status status;
    char agent[LIMIT_AGENT + 1];     /* who; empty: nobody yet */
    char session[LIMIT_SESSION + 1]; /* ASSIGN-16: canonical key; empty: none yet */
    char account[LIMIT_AGENT + 1];   /* whose quota it uses */
    uint32_t run;                    /* ordinal + 1 of the effect that started it: names the run */
    uint32_t ended;                  /* 1: that run is over, the next dispatch starts a new one */

    /* what was last asked for: ASSIGN-08, ASSIGN-19 */
    struct hash handoff; /* CRYSTAL-06: of the encoded crystal that goes with it; zero: none */
    struct hash said;    /* of words that go with it: an answer, why it failed before; zero: none */
    enum wording unheard; /* what `said` is, while its agent has not heard it; WORDS_NONE: it has */
    struct hash instruction; /* of all of it */
    uint32_t words;          /* enum wording: what kind of words they were */
    uint32_t dispatch;       /* ordinal + 1 of the effect that carried it */
    enum delivery delivery;  /* what came of that */
    uint32_t effect;         /* ordinal + 1 of the effect that is open for it; 0: none */

    /* the ladder */
    enum rung first, rung;
    uint32_t retries;  /* ASSIGN-10: of this rung */
    uint32_t attempts; /* sent altogether, for the cap per node */
    uint32_t restarts; /* runs that died, within the window that began at restart_since */
    uint32_t asked;    /* 1: it was asked once for the block that its words lacked */
    int64_t restart_since;

    /* life */
    int64_t created_at, updated_at, last_dispatch_at, last_activity_at, expected_next_at,
        idle_after, last_retry_at, backoff_until, waits_until;
    enum charge_wait waiting;
    uint32_t question;     /* n + 1 of the open question that holds it; 0: none */
    uint32_t attached;     /* 1: a person is at its terminal */
    uint64_t fingerprint;  /* of the agent's own last words, as last sampled */
    uint32_t context;      /* of its window that is used, in hundredths */
    uint64_t tokens, cost; /* measured so far; cost in millionths of the currency */
    uint64_t run_tokens,
        run_cost;     /* of them, by the run at hand: what is seen of a run begins at 0 */
    uint32_t desk;    /* host whose desk was asked for a permit, or granted it; 0: neither */
    uint32_t turn;    /* of the newest ask: an answer to another one means nothing */
    uint32_t crystal; /* n + 1 of its newest handoff */
    char reason[LIMIT_BLOCKED + 1]; /* ASSIGN-07: why it is blocked; empty: it is not */
    enum wording owes;              /* what it hears once the desk has room */
    uint32_t allowed;       /* 1: the desk allows the rung; it is looked at once more before */
    int64_t looked_at;      /* when somebody last went to see */
    int64_t listened_since; /* and since when somebody had listened without a gap then */
    uint32_t answered; /* option of a person that is carried out once it was looked at; 0: none */
    uint32_t unseen;   /* looks in a row that saw nothing */
    uint32_t moves;    /* how often the work was moved to another agent */
    uint32_t handover; /* 1: it was asked to write down where things stand */
    uint64_t settled_cost, settled_tokens; /* of them, told to the desk */
    char commit[LIMIT_COMMIT + 1];   /* the candidate that passed its checks; empty: none yet */
    char onto[LIMIT_COMMIT + 1];     /* the target's tip that the candidate was built on */
    char snapshot[LIMIT_COMMIT + 1]; /* of the worktree, that the candidate was built from */
    char conflict[LIMIT_COMMIT + 1]; /* names the conflict that its agent was told of */
    struct hash
        check_digest;     /* of the command, setup, protected paths and sandbox of its verdict */
    struct hash change;   /* of what a person is shown of the candidate */
    uint32_t judged;      /* enum judged, of its verdict */
    uint32_t recheck;     /* 1: the candidate is built and checked again, from `snapshot` */
    uint32_t rechecks;    /* how often that was done since the agent called it done */
    uint32_t approved;    /* 1: a person has agreed to `change`, as it was shown */
    enum slot_state slot; /* of the landing lane */
    uint32_t slot_turn;   /* of its newest ask: an answer to another one means nothing */
    uint32_t slot_host;   /* as which host it asked: names the workspace */
    uint32_t work_host;   /* P10: in whose clone the work of its newest run is; 0: it has none */
    uint32_t rounds;      /* how often what it called done did not pass, or did not fit */
    struct hash start;    /* ASSIGN-19: of the BEGINNING that its first run had; zero: none yet */
    struct hash told;     /* of a person's words (struct letter) that are said to it now */
    char sandbox[LIMIT_SANDBOX + 1]; /* what holds the run at hand; empty: none began yet */
    char scope[LIMIT_SANDBOX + 1];   /* SCOPE-08: who sees to its tools: enforced, advisory, none */
    char limits[LIMIT_LIMITS + 1];   /* G-22: what the run at hand may use, and what sees to it */
    uint32_t permits;            /* what the answer in `said` says to what it asks permission for */
    char phase[LIMIT_PHASE + 1]; /* PROGRESS-05: what it says it is at; empty: nothing yet */
    uint32_t percent;            /* and how far, + 1; 0: it did not say */
    int64_t progress_at;         /* when it said so */
    uint32_t progress_kept;      /* entries in the history of its run, */
    int64_t progress_kept_at;    /* the newest of then */
    uint32_t completion, confidence; /* REPORT-07: how it says it ended, + 1; 0: it did not */
    struct hash report;              /* REPORT-06: of the UPDATE in which it said so */
    uint32_t
        reported_last; /* VERIFY-09: 1: nothing was said with a tool since it reported its end */
    struct hash
        contract; /* VERIFY-11: of the words that say what its run has to leave; zero: none */
    enum on_failure on_failure; /* and of it: what follows if it does not pass, */
    uint32_t wants_report;      /* 1: it has to report its end */
    struct hash verdict;        /* VERIFY-14: of the newest VERIFICATION; zero: none yet */
    int64_t retried_at; /* VERIFY-19: when it was begun anew because its checks failed; 0: not */
    uint32_t retry_of;  /* VERIFY-18: ordinal + 1 of the run before that; 0: none */
    uint32_t
        sampled; /* 1: what it said of its progress was stored, and no record tells of it yet */
    uint32_t
        parent; /* n + 1 of the assignment whose agent asked for this one; 0: the overseer did */
    uint32_t request_count,
        requests[LIMIT_REQUESTS]; /* REQUEST-02: when it last asked, seconds after created_at */
};

struct charges {
    struct charge *at; /* in order of n */
    uint32_t count;
};

/* ASSIGN-19: what a run was started with. Whoever begins again begins with exactly this. */
struct beginning {
    struct str agent, model, thinking, label; /* label: the node */
    struct hash text;                         /* of the node's words */
    int64_t within;                           /* how long its first instruction may take */
    uint32_t listed; /* 1: only the tools in `allow`; 0: all that the agent has */
    struct texts allow, deny;
};

extern const struct shape CHARGE, BEGINNING;
extern const struct status_row CHARGE_STATUS[CHARGE_STATUSES];
extern const struct names CHARGE_STATUS_NAMES, RUNG_NAMES, DELIVERY_NAMES, SURE_NAMES,
    WAITING_NAMES, CHECKED_NAMES, LANDED_NAMES, SLOT_NAMES;

bool charge_status_may_become(enum charge_status from, enum charge_status to);
bool charge_is_over(const struct charge *charge);

/* A session of somebody else's is called by what it is: tmux:%3 for a pane, claude:ID for a session of Claude Code. It is
 * only watched: nothing is ever said or done to it. */
#define WATCHED_PANE "tmux:"
#define WATCHED_SESSION "claude:"
bool agent_is_watched(struct str agent);
bool charge_is_watched(const struct charge *charge);
struct charge *charges_find(const struct charges *charges, uint32_t n);
struct charge *charges_of_node(const struct charges *charges, uint32_t node); /* the open one */

/* What an assignment's agent said of its progress since the last record: stored with the assignment at once, and with the
 * next record of its goal, so that decisions can be made again from their records. */
struct sample {
    uint32_t charge;
    int64_t updated_at, last_activity_at, progress_at;
    struct str phase;
    uint32_t percent;
};

struct samples {
    struct rows rows; /* struct sample */
};

extern const struct shape SAMPLE, SAMPLES;

/* ---- what was seen of an agent ---- */

/* What happened to it, where that alone is a reason to decide. */
enum agent_event {
    AGENT_SEEN,     /* nothing special: a sample */
    AGENT_STARTED,  /* TICK-08 */
    AGENT_ACCEPTED, /* the receipt of a dispatch */
    AGENT_ENDED,    /* its turn is over */
    AGENT_FAILED,   /* it ended with an error */
    AGENT_EXITED,   /* its process is gone */
    AGENT_LIMITED,  /* its account is at a limit until limited_until; 0: it did not say */
    AGENT_ASKS,     /* it shows a dialog or asks for permission */
    AGENT_ATTACHED, /* a person is at its terminal */
    AGENT_DETACHED,
    AGENT_STRANDED, /* its host gave it up and kept its work: where, in words */
    AGENT_EVENTS
};

/* TICK-07: what a sample of its messages says. */
enum sampled { SAMPLED_NOTHING, SAMPLED_SLOW, SAMPLED_WAITS_FOR_PERSON, SAMPLED_FAILED, SAMPLEDS };

/* One look at one agent. Kept in memory; stored only with the decision that used it. */
struct sighting {
    uint32_t charge;
    enum agent_event event;
    int64_t at;              /* when it was looked at; 0: never */
    enum sure process, turn; /* is it there? is it working on something? */
    enum sure delivered;     /* of a look for a dispatch: did it arrive? */
    int64_t active_at;       /* newest progress: a message of its own, tokens, a changed file */
    int64_t tool_since;      /* a tool call is open since then; 0: none */
    int64_t chatter_at;      /* output that is no progress: a spinner, a heartbeat, a log line */
    int64_t limited_until;
    uint64_t fingerprint, tokens, cost;
    uint32_t context;
    enum sampled sampled;
    uint32_t dispatch; /* ordinal + 1 of the dispatch that it is about; 0: none */
    int64_t exit;
    uint32_t heard; /* and of the newest that it had heard when this happened; 0: nobody knows */
};

/* What comes with a goal's due time. Silence counts only while somebody listened: `since` is when this host
 * began to watch without a gap. A start, a suspend or a leap of the clock begins it anew. */
struct sightings {
    struct rows rows; /* struct sighting */
    int64_t since;
};

extern const struct shape SIGHTING, SIGHTINGS;
extern const struct names AGENT_EVENT_NAMES, SAMPLED_NAMES;
