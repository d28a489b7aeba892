/* SPDX-License-Identifier: Apache-2.0 */
/* What can happen to a fleet, one atom at a time? Several real ledgers in one thread, a backend, pretend
 * hands and clients, and a truth that remembers what was promised to whom. Whoever picks the atoms (the
 * explorer all of them, the simulator by seed, a story by hand) decides what happens. */
#pragma once

#include "ledger/ledger.h"
#include "lib/backend.h"
#include "lib/cast.h"

#include <stdio.h>

enum { FLEET_HOSTS = 3, FLEET_ATOMS = 256, FLEET_ASKED = 256, FLEET_ACTED = 128 };

enum atom_kind {
    ATOM_TURN,      /* a host takes its answer and says what it wants next */
    ATOM_STATEMENT, /* the server runs one statement of a session */
    ATOM_CHECK,     /* hands ask whether they may act */
    ATOM_ACT,       /* hands act */
    ATOM_OUTCOME,   /* what came of it reaches the ledger */
    ATOM_SENSE,     /* something that an agent shows or a person says reaches a ledger */
    ATOM_ASK,       /* a client asks for a goal, or reports */
    ATOM_MEDDLE,    /* somebody else changes a goal in the store */
    ATOM_TIME,      /* a little time passes */
    ATOM_LOSE,      /* a host loses its connection; the server goes on with what it has */
    ATOM_FAIL,      /* a request fails before it begins */
    ATOM_ROLLBACK,  /* the server ends a session: rolled back */
    ATOM_STUCK,     /* only a part of a session's statements arrived */
    ATOM_CRASH,     /* a host dies */
    ATOM_RESTART,
    ATOM_PUSH, /* a person pushes to the target branch */
    ATOM_BACK, /* P13: the store is that of some commits ago, and everybody loses their connection */
    ATOM_KINDS
};

struct atom {
    enum atom_kind kind;
    uint32_t host;           /* index */
    struct session *session; /* statement, rollback */
    uint32_t arg;            /* ask: what; meddle: with which goal */
};

struct asked { /* what a client asked for, and what it was told */
    enum signal_kind kind;
    struct id goal, source;
    bool with_command, keyed;
    bool answered, acknowledged;
    enum error error; /* of the last answer */
    bool forwarded;
    bool applied;        /* whoever answered says that it changed something */
    bool kept;           /* it stood in the store when that was backed up */
    bool gone;           /* the store was put back behind it */
    const char *text;    /* title or report; NULL: any */
    uint32_t sent;       /* how often */
    uint32_t refused;    /* so many answers */
    const struct op *op; /* all of it; NULL: what stands above says it */
};

struct acted { /* what was really done outside */
    struct id goal;
    uint32_t n, times;
    uint32_t host;
    int64_t exit;      /* what came of it */
    uint32_t restores; /* of the store, before it was done */
    bool reported;
    bool
        claim_lost; /* P13: the store had lost its claim before it was done, and its host had not noticed yet */
};

/* What an agent showed, or what came of something done to one: a signal on its way to a ledger. */
struct report {
    struct report *next;
    uint32_t host;        /* offered there; 0: not yet */
    bool looked;          /* its body is a SIGHTING */
    uint32_t from;        /* P10: only this host has it; 0: any */
    struct signal signal; /* its texts follow in the same block */
};

struct fleet_host {
    uint32_t id;
    bool up;
    uint32_t lives; /* how often it was started */
    struct ledger *ledger;
    struct session *session;            /* the answer it waits for */
    const struct store_request *wanted; /* the ledger's own copy of that request */
    bool answered;                      /* `answer` is to be taken */
    struct store_answer answer;
    struct arena answer_arena;
    struct act *acts;    /* in its hands, not yet looked at */
    struct act *checked; /* may be done now */
    struct acted *outcomes[FLEET_ACTED];
    uint32_t outcome_count;
    struct report *report; /* outcomes of what was done to agents; gone with its process */
    int64_t since;         /* it watches its agents without a gap */
    struct ledger_lease
        checked_under; /* P10: its lease when the oldest of `checked` was looked at */
    struct fleet *fleet;
    uint64_t pulse;
    bool frozen;           /* the simulator does not let it run */
    struct act_log *state; /* P13, P14: its state folder */
    uint64_t boot;         /* of its machine */
};

struct fleet {
    struct backend *backend;
    struct fleet_host hosts[FLEET_HOSTS];
    uint32_t host_count;
    struct session *sessions; /* all that are not done, and those whose answer is awaited */
    int64_t clock;            /* everybody's boot clock; the wall clock is ahead of it by */
    int64_t stepped;          /* the sum of its steps */
    int64_t tick;
    int64_t lease;
    struct asked asked[FLEET_ASKED];
    uint32_t asked_count;
    struct acted acted[FLEET_ACTED];
    uint32_t acted_count;
    char violation[512]; /* empty: none */
    int64_t next_exit;   /* with which status commands end */
    bool may_quarantine; /* a goal that is set aside is no violation */
    bool
        one_lane; /* both hosts land in one repository, and each run says at once that it is done */
    bool one_assignment; /* of each goal: its records say which run a report belongs to */
    struct policy policy;
    uint32_t restores; /* how often the store was put back */
    struct dump view;  /* what the store held when it was last looked at */
    struct arena view_arena;
    FILE *story; /* every atom in words, when wanted */
    uint64_t steps;
    uint32_t crashes, faults, meddled;
    uint32_t backs; /* P13: how often the store has gone back */

    struct cast *cast;     /* who plays the agents; NULL: there are none */
    struct report *senses; /* shown, and not yet acknowledged by a ledger */
    struct arena cast_arena;
    uint64_t carried; /* effects on agents and messages to people that were carried out */
    uint32_t
        careful; /* every so many of them the store is asked whether they were claimed; 0: never */
};

struct fleet *fleet_create(struct backend *backend, uint32_t hosts, int64_t lease, int64_t tick);
void fleet_free(struct fleet *fleet);

/* For hosts that start from now on, and those that stand. */
void fleet_policy(struct fleet *fleet, struct policy policy);

/* Agents work from now on: pretend ones, by seed. */
void fleet_agents(struct fleet *fleet, uint64_t seed);

/* Something is to reach a ledger, sooner or later, once. */
void fleet_tell(struct fleet *fleet, const struct signal *signal);

/* P10: each run lives on its own host, whose lease keeps it from being frozen. Before any agent is started. */
void fleet_hosts_matter(struct fleet *fleet);

/* P13: hosts keep what they have acted on, and the store may go back. */
void fleet_machine_off(struct fleet *fleet, uint32_t index); /* after its process ended */
void fleet_may_go_back(struct fleet *fleet);

/* The machines sleep: nothing happens to anybody until then. */
void fleet_sleep(struct fleet *fleet, int64_t span);

/* The wall clock of all hosts steps; agents and the boot clock do not notice. */
void fleet_step(struct fleet *fleet, int64_t by);

/* What can happen now, faults and all. */
uint32_t fleet_atoms(struct fleet *fleet, struct atom atoms[FLEET_ATOMS]);
void fleet_do(struct fleet *fleet, const struct atom *atom);

/* A new thing to ask for; atoms of kind ATOM_ASK with this index deliver it, again and again. */
uint32_t fleet_ask(struct fleet *fleet, struct asked asked);

/* What a client can know of a goal, from fleet->view. */
struct knowledge fleet_known(struct fleet *fleet, struct id goal, struct arena *arena);

/* Look at the store: fleet->view. */
void fleet_look(struct fleet *fleet);

/* The store is backed up; later everybody stops and it is put back. Nobody starts again by itself. */
void fleet_back_up(struct fleet *fleet);
void fleet_restore(struct fleet *fleet);

/* Does the store contradict itself, or what was promised? Fills in fleet->violation. */
bool fleet_check(struct fleet *fleet);

/* Where everything has come to rest: each goal has landed, or a person is asked; nothing waits in the lane. Fills in fleet->violation. */
bool fleet_check_lane(struct fleet *fleet);

/* No more faults: let everything run until nothing moves. Then everything promised must be so. */
bool fleet_heal(struct fleet *fleet);

/* Everything that can make a difference later, as one number; times only relative to now. */
uint64_t fleet_digest(struct fleet *fleet);

struct ledger_config fleet_config(const struct fleet *fleet, uint32_t index);
