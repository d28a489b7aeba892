/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates the agents: pretend runs that effects start, address, look at and stop; what they show comes back as
 * signals. The cast knows the truth, so it judges the effects: no healthy run may be harmed, nothing may be done twice,
 * and no ill run may stay without help for longer than the policy allows. */
#pragma once

#include "drivers/pretend.h"
#include "lib/gen.h"
#include "model/policy.h"
#include "model/update.h"

enum { CAST_SIGNALS = 4, CAST_ACCOUNTS = 8, CAST_REPOSITORIES = 4, CAST_PLACES = 64 };

/* One run of one agent. */
struct player {
    struct id goal;
    uint32_t n;          /* ordinal + 1 of the dispatch that started it; identifies the run */
    uint32_t assignment; /* n of the assignment */
    uint32_t host;
    /* P10: its hold freezes it orphan_after later than renewed_until; renewed only by a host that is known to have it */
    int64_t renewed_until;
    uint64_t settled; /* life and join of its host under which the host last confirmed it */
    char node[LIMIT_NODE_ID + 1], account[LIMIT_AGENT + 1], name[LIMIT_AGENT + 1];
    struct pretend agent;
    int64_t reported_at; /* when it last reported its progress */
    uint32_t shown;      /* number of things it has shown: names the next one */
    bool stopped;        /* stopped by the supervisor */
    int64_t ill_since;   /* the truth; 0: it is well */
    bool helped;         /* an action was taken, or a person was notified */
    bool blind;          /* cannot be observed at all */
    bool unsampled;      /* not visible in samples, but visible to an explicit look */
    int64_t unasked,
        checked_at; /* how long it was ill without a question to a person; time of that count */
    uint32_t heard[WORDINGS];  /* messages sent to it, by wording */
    struct effect first, last; /* first and last message to it: hashes only */
};

struct work { /* finished work of a node: the next run finds it */
    struct id goal;
    char node[LIMIT_NODE_ID + 1];
    uint32_t stretches, worked;
};

struct note { /* a message to a person */
    struct id goal;
    char channel[LIMIT_AGENT + 1];
    enum notice_kind kind;
    enum alarm alarm;
    uint32_t times;
    int64_t at;
};

struct cast_counts {
    uint64_t events, listings, samples, looks, spawns, sends, nudges, vain, stops, says, doubts,
        ghosts, deaths, stalls;
};

struct cast {
    struct dice dice;
    const struct policy *policy;
    uint32_t weights[PRETENDS]; /* how often each kind is used */
    uint32_t faults;            /* per thousand deliveries */
    uint32_t blind;             /* looks per thousand that see nothing */
    enum pretend_kind next;     /* kind of the next run, if set */
    bool shows_next;
    enum pretend_fault fault; /* fault of the next delivery */
    uint32_t checked,
        landed;           /* fixed result of checks and landings from now on, + 1; 0: the truth */
    uint32_t landed_next; /* the same for the next landing only */
    bool differs;         /* each candidate looks different to a person; otherwise only some do */
    bool at_once;     /* the turn of the next run ends successfully before the receipt arrives */
    uint32_t commits; /* made so far, by agents and people: names the next one */
    struct
        cast_target { /* the target branch of a repository; a candidate has to be built on its tip */
        uint64_t repository;
        uint32_t tip;
    } targets[CAST_REPOSITORIES];
    uint32_t target_count;
    struct cast_place { /* the repository that a goal was asked for; goals without one: 0 */
        struct id goal;
        uint64_t repository;
    } places[CAST_PLACES];
    uint32_t place_count;
    struct cast_verdict { /* a candidate that passed */
        uint32_t commit, onto;
        bool landed;
        uint32_t host; /* P10: the host whose clone has it */
        struct id goal;
        uint64_t repository;
    } * verdicts;
    bool lands_once; /* each goal has one task, which is never assigned again once it has landed */
    bool pushes_when_asked; /* people push only where cast_push() is called */
    uint32_t verdict_count, verdict_cap;
    uint32_t heard; /* enum hearing: outcome of messages to people */
    struct note *notes;
    uint32_t note_count, note_cap;
    struct player *runs;
    uint32_t run_count, run_cap;
    struct work *works;
    uint32_t work_count, work_cap;
    struct {
        char name[LIMIT_AGENT + 1];
        int64_t until;
    } accounts[CAST_ACCOUNTS];
    /* Is this node still to be worked on? Called before a run is stopped; NULL: always. */
    bool (*wanted)(void *with, struct id goal, const char *node);
    void *with;
    struct cast_counts counts;
    bool reports; /* working agents report their progress from time to time */
    bool
        hosts_matter; /* P10: a run can be reached only from its own host, and is frozen without it */
    uint32_t alive;   /* runs that existed when the next event was last determined */
    char violation[256]; /* empty: none */
};

/* The newest run of the agent with this name, or the run `back` places before it; NULL: there is none. */
struct player *cast_named(const struct cast *cast, const char *name, uint32_t back);

void cast_counts_add(struct cast_counts *to, const struct cast_counts *from);

struct cast *cast_create(uint64_t seed, const struct policy *policy);
void cast_free(struct cast *cast);

/* Decides by seed: in one simulation of four, working agents report their progress. */
bool cast_reports(uint64_t seed);

struct player *cast_run(const struct cast *cast, struct id goal,
                        uint32_t n); /* NULL: there is none */
struct player *cast_newest(const struct cast *cast, struct id goal,
                           uint32_t assignment); /* newest run of an assignment */

/* Carries out one effect and returns the signal with its outcome. Not for commands and tells. */
struct signal cast_carry(struct cast *cast, const struct effect *effect, uint32_t host, int64_t now,
                         struct arena *arena);

/* A person pushes to the target branch. */
void cast_push(struct cast *cast);
/* The work of this goal has to be done in this repository. */
void cast_place(struct cast *cast, struct id goal, uint64_t repository);

/* Spontaneous events, as signals. */
int64_t cast_next(struct cast *cast);
uint32_t cast_happens(struct cast *cast, int64_t now, struct signal signals[CAST_SIGNALS],
                      struct arena *arena);

/* A run shows or says something now, because the caller wants it to. */
struct signal cast_shows(struct cast *cast, struct player *run, struct pretend_event event,
                         int64_t now, struct arena *arena);
struct signal cast_says(struct cast *cast, struct player *run, enum pretend_reply reply,
                        int64_t now, struct arena *arena);

/* What a host observes of a goal's agents at the goal's due time: encoded OBSERVATIONS. */
struct str cast_see(struct cast *cast, struct id goal, const struct assignments *assignments,
                    uint32_t host, int64_t since, int64_t now, struct arena *arena);

/* P10: does its hold prevent it from running? */
bool cast_is_frozen(const struct cast *cast, const struct player *run, int64_t now);
/* Its host abandons the run: the signal to its ledger. */
struct signal cast_strand(struct cast *cast, struct player *run, int64_t now, struct arena *arena);
/* Reports a violation if two runs of one node, on two hosts, are neither ended nor frozen. */
void cast_judge(struct cast *cast, int64_t now);

void cast_host_dies(struct cast *cast, uint32_t host, int64_t now);
void cast_sleep(struct cast *cast, int64_t from,
                int64_t until); /* the machines of all hosts sleep */
void cast_forget(struct cast *cast,
                 struct id goal); /* the goal is over; no signal refers to it any more */

/* Is the work of a node really done? */
bool cast_is_done(const struct cast *cast, struct id goal, const char *node);

/* An action was taken for this assignment, or it may wait: its problem is known. */
void cast_help(struct cast *cast, struct id goal, uint32_t assignment, int64_t now);

/* The time by which an ill run, observed since `since`, must get help. TIME_NEVER: it needs none. */
int64_t cast_limit(const struct cast *cast, const struct player *run, int64_t since);
