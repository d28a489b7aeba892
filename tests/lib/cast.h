/* SPDX-License-Identifier: Apache-2.0 */
/* Who plays the agents? Pretend runs that effects start, speak to, look at and stop; what they show comes back as signals.
 * The cast knows the truth, so it judges what is done to them: nobody who is well may be harmed, nothing is done twice, and
 * nobody who is not stays without help for longer than the policy says. */
#pragma once

#include "drivers/pretend.h"
#include "lib/gen.h"
#include "model/policy.h"
#include "model/update.h"

enum { CAST_SIGNALS = 4, CAST_ACCOUNTS = 8 };

/* One run of one agent. */
struct player {
    struct id goal;
    uint32_t n;          /* ordinal + 1 of the dispatch that started it: its name */
    uint32_t assignment; /* n of the assignment */
    uint32_t host;
    /* P10: its hold freezes it so long after renewed_until; it is renewed only where it is known to be at hand */
    int64_t renewed_until;
    uint64_t settled; /* the life and join of its host under which it was last known to be */
    char node[LIMIT_NODE_ID + 1], account[LIMIT_AGENT + 1], name[LIMIT_AGENT + 1];
    struct pretend agent;
    int64_t reported_at;         /* when it last said how far it is */
    uint32_t shown;              /* things that it has shown: the next one's name */
    bool stopped;                /* by the supervisor */
    int64_t ill_since;           /* the truth; 0: it is well */
    bool helped;                 /* something was done about that, or somebody was told */
    bool blind;                  /* nobody can see it */
    bool unsampled;              /* nobody sees it in passing; whoever goes to see, does */
    int64_t unasked, checked_at; /* ill while nobody was asked, so long; as of then */
    uint32_t heard[WORDSES];     /* sent to it, by what was asked for */
    struct effect first, last;   /* what it was told: hashes only */
};

struct work { /* of a node that is done already: whoever comes next finds it */
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
    uint32_t weights[PRETENDS]; /* how often each kind plays */
    uint32_t faults;            /* of a thousand deliveries */
    uint32_t blind;             /* of a thousand looks, those that see nothing */
    enum pretend_kind next;     /* the kind of the next run that starts, when told */
    bool shows_next;
    enum pretend_fault fault; /* how the next delivery goes wrong */
    uint32_t checked, landed; /* what checks and landings say from now on, from 1; 0: the truth */
    uint32_t landed_next;     /* the same for the next landing only */
    bool differs;             /* each candidate looks different to a person; otherwise some do */
    bool at_once;     /* the turn of the next run that begins has ended well before the receipt */
    uint32_t commits; /* made so far, by agents and people: names the next one */
    uint32_t tip;     /* of the target branch; a candidate has to be built on it */
    struct cast_verdict { /* a candidate that passed */
        uint32_t commit, onto;
        bool landed;
        uint32_t host; /* P10: in whose clone it is */
        struct id goal;
    } * verdicts;
    bool lands_once; /* each goal has one task, which is never given again once it has landed */
    bool pushes_when_asked; /* people push only where cast_push() is called */
    uint32_t verdict_count, verdict_cap;
    uint32_t heard; /* enum hearing: what becomes of messages to people */
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
    /* Is this node still to be worked on? Asked before somebody is stopped; NULL: always. */
    bool (*wanted)(void *with, struct id goal, const char *node);
    void *with;
    struct cast_counts counts;
    bool reports; /* those who work say now and then how far they are */
    bool
        hosts_matter; /* P10: a run can be reached from its own host only, and is frozen without it */
    uint32_t alive;   /* runs that were there when the next event was last looked for */
    char violation[256]; /* empty: none */
};

/* The newest run of an agent by this name; NULL: there is none. `back`: so many before it. */
struct player *cast_named(const struct cast *cast, const char *name, uint32_t back);

void cast_counts_add(struct cast_counts *to, const struct cast_counts *from);

struct cast *cast_create(uint64_t seed, const struct policy *policy);
void cast_free(struct cast *cast);

/* By seed: in one of four, agents that work report their progress. */
bool cast_reports(uint64_t seed);

struct player *cast_run(const struct cast *cast, struct id goal,
                        uint32_t n); /* NULL: there is none */
struct player *cast_newest(const struct cast *cast, struct id goal,
                           uint32_t assignment); /* of an assignment */

/* Carry one out; what came of it, as the signal that says so. Not for commands and tells. */
struct signal cast_carry(struct cast *cast, const struct effect *effect, uint32_t host, int64_t now,
                         struct arena *arena);

/* A person pushes to the target. */
void cast_push(struct cast *cast);

/* What happens by itself, as signals. */
int64_t cast_next(struct cast *cast);
uint32_t cast_happens(struct cast *cast, int64_t now, struct signal signals[CAST_SIGNALS],
                      struct arena *arena);

/* A run shows or says something now, because somebody wants it so. */
struct signal cast_shows(struct cast *cast, struct player *run, struct pretend_event event,
                         int64_t now, struct arena *arena);
struct signal cast_says(struct cast *cast, struct player *run, enum pretend_reply reply,
                        int64_t now, struct arena *arena);

/* What a host sees of a goal's agents, for its due time: an encoded SIGHTINGS. */
struct str cast_see(struct cast *cast, struct id goal, const struct assignments *assignments,
                    uint32_t host, int64_t since, int64_t now, struct arena *arena);

/* P10: does its hold keep it from running? */
bool cast_is_frozen(const struct cast *cast, const struct player *run, int64_t now);
/* Its host gives it up: what its ledger is told. */
struct signal cast_strand(struct cast *cast, struct player *run, int64_t now, struct arena *arena);
/* Two runs of one node on two hosts, neither ended nor frozen: told as a violation. */
void cast_judge(struct cast *cast, int64_t now);

void cast_host_dies(struct cast *cast, uint32_t host, int64_t now);
void cast_sleep(struct cast *cast, int64_t from, int64_t until); /* everybody's machine does */
void cast_forget(struct cast *cast, struct id goal); /* it is over, and nobody comes back to it */

/* Was the work of a node really done? */
bool cast_is_done(const struct cast *cast, struct id goal, const char *node);

/* Something was done about this charge, or it may wait: its trouble is known. */
void cast_help(struct cast *cast, struct id goal, uint32_t assignment, int64_t now);

/* Until when has something to be done about an ill run, watched since then? TIME_NEVER: nothing. */
int64_t cast_limit(const struct cast *cast, const struct player *run, int64_t since);
