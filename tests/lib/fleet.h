/* SPDX-License-Identifier: Apache-2.0 */
/* Executes everything that can happen to a fleet, one atom at a time: several real ledgers in one thread, a backend, a
 * simulated executor and clients, and a memory of what was acknowledged to whom. The code that picks the atoms (the
 * explorer all of them, the simulator by seed, a story by hand) decides what happens. */
#pragma once

#include "ledger/ledger.h"
#include "lib/backend.h"
#include "lib/cast.h"

#include <stdio.h>

enum { FLEET_HOSTS = 3, FLEET_ATOMS = 256, FLEET_ASKED = 256, FLEET_ACTED = 128 };

enum atom_kind {
    ATOM_TURN,      /* a host takes its answer and makes its next request */
    ATOM_STATEMENT, /* the server runs one statement of a session */
    ATOM_CHECK,     /* the executor asks whether it may act */
    ATOM_ACT,       /* the executor acts */
    ATOM_OUTCOME,   /* the outcome reaches the ledger */
    ATOM_SENSE,     /* a signal from an agent or a person reaches a ledger */
    ATOM_ASK,       /* a client creates a goal, or reports */
    ATOM_MEDDLE,    /* a manual change of a goal in the store */
    ATOM_TIME,      /* a little time passes */
    ATOM_LOSE,     /* a host loses its connection; the server continues with what it has received */
    ATOM_FAIL,     /* a request fails before it begins */
    ATOM_ROLLBACK, /* the server ends a session and rolls it back */
    ATOM_STUCK,    /* only part of a session's statements arrived */
    ATOM_CRASH,    /* a host dies */
    ATOM_RESTART,
    ATOM_PUSH, /* a person pushes to the target branch */
    ATOM_BACK, /* P13: the store goes back some commits, and all hosts lose their connection */
    ATOM_KINDS
};

struct atom {
    enum atom_kind kind;
    uint32_t host;           /* index */
    struct session *session; /* for statement and rollback */
    uint32_t arg;            /* ask: index of the request; meddle: index of the goal */
};

struct asked { /* a client's request, and the answer to it */
    enum signal_kind kind;
    struct id goal, source;
    bool with_command, keyed;
    bool answered, acknowledged;
    enum error error; /* of the last answer */
    bool forwarded;
    bool applied;        /* the answer says that it changed something */
    bool kept;           /* it was in the store when that was backed up */
    bool gone;           /* the store was restored to a state before it */
    const char *text;    /* title or report; NULL: any */
    uint32_t sent;       /* number of times sent */
    uint32_t refused;    /* number of refusals among the answers */
    const struct op *op; /* the whole operation; NULL: the fields above describe it */
};

struct numbered { /* a name that was acknowledged */
    struct id goal;
    uint64_t number;
};

struct acted { /* what was really carried out */
    struct id goal;
    uint32_t n, times;
    uint32_t host;
    int64_t exit;      /* its outcome */
    uint32_t restores; /* restores of the store before it was done */
    bool reported;
    bool
        claim_lost; /* P13: the store had lost the claim before the act, and its host had not noticed yet */
};

/* A signal on its way to a ledger: what an agent showed, or the outcome of an effect on an agent. */
struct report {
    struct report *next;
    uint32_t host;        /* host it was offered to; 0: none yet */
    bool looked;          /* its body is an OBSERVATION */
    uint32_t from;        /* P10: only this host has it; 0: any */
    struct signal signal; /* its texts follow in the same allocation */
};

struct fleet_host {
    uint32_t id;
    bool up;
    uint32_t lives; /* number of starts */
    struct ledger *ledger;
    struct session *session;            /* the request whose answer it waits for */
    const struct store_request *wanted; /* the ledger's own copy of that request */
    bool answered;                      /* `answer` has not been taken yet */
    struct store_answer answer;
    struct arena answer_arena;
    struct act *acts;    /* with the executor, not yet checked */
    struct act *checked; /* may be carried out now */
    struct acted *outcomes[FLEET_ACTED];
    uint32_t outcome_count;
    struct report *report;             /* outcomes of effects on agents; lost with its process */
    int64_t since;                     /* it observes its agents without a gap since then */
    struct ledger_lease checked_under; /* P10: its lease when the oldest of `checked` was checked */
    struct fleet *fleet;
    uint64_t pulse;
    bool frozen;           /* the simulator does not run it */
    struct act_log *state; /* P13, P14: its state folder */
    uint64_t boot;         /* of its machine */
};

struct fleet {
    struct backend *backend;
    struct fleet_host hosts[FLEET_HOSTS];
    uint32_t host_count;
    struct session *sessions; /* all unfinished sessions, and those whose answer is awaited */
    int64_t clock;            /* boot clock of all hosts; the wall clock is ahead of it by */
    int64_t stepped;          /* the sum of the clock steps */
    int64_t tick;
    int64_t lease;
    struct asked asked[FLEET_ASKED];
    uint32_t asked_count;
    struct numbered numbered[FLEET_ASKED];
    uint32_t numbered_count;
    struct acted acted[FLEET_ACTED];
    uint32_t acted_count;
    char violation[512]; /* empty: none */
    int64_t next_exit;   /* exit status of the next commands */
    bool may_quarantine; /* a quarantined goal is no violation */
    bool
        one_lane; /* both hosts land in one repository, and each run reports at once that it is done */
    bool one_assignment; /* per goal: its records say which run a report belongs to */
    struct policy policy;
    uint32_t restores; /* number of restores of the store */
    struct dump view;  /* content of the store when it was last read */
    struct arena view_arena;
    FILE *story; /* every atom as text, if requested */
    uint64_t steps;
    uint32_t crashes, faults, meddled;
    uint32_t backs; /* P13: number of times the store has gone back */

    struct cast *cast;     /* simulates the agents; NULL: there are none */
    struct report *senses; /* signals that no ledger has acknowledged yet */
    struct arena cast_arena;
    uint64_t carried; /* number of effects on agents and messages to people that were carried out */
    uint32_t careful; /* the store is asked for the claim of every n-th of them; 0: never */
};

struct fleet *fleet_create(struct backend *backend, uint32_t hosts, int64_t lease, int64_t tick);
void fleet_free(struct fleet *fleet);

/* Applies to running hosts and to hosts that start later. */
void fleet_policy(struct fleet *fleet, struct policy policy);

/* From now on pretend agents work, by seed. */
void fleet_agents(struct fleet *fleet, uint64_t seed);

/* Queues a signal that will reach a ledger once, at some later time. */
void fleet_tell(struct fleet *fleet, const struct signal *signal);

/* P10: each run lives on its own host, whose lease keeps it from being frozen. Call it before any agent is started. */
void fleet_hosts_matter(struct fleet *fleet);

/* P13: hosts remember what they have acted on, and the store may go back. */
void fleet_machine_off(struct fleet *fleet, uint32_t index); /* call after its process has ended */
void fleet_may_go_back(struct fleet *fleet);

/* The machines sleep for that span: nothing happens meanwhile. */
void fleet_sleep(struct fleet *fleet, int64_t span);

/* The wall clock of all hosts steps; agents and the boot clock are not affected. */
void fleet_step(struct fleet *fleet, int64_t by);

/* All atoms that can happen now, including faults. */
uint32_t fleet_atoms(struct fleet *fleet, struct atom atoms[FLEET_ATOMS]);
void fleet_do(struct fleet *fleet, const struct atom *atom);

/* Adds a request; atoms of kind ATOM_ASK with this index deliver it, any number of times. */
uint32_t fleet_ask(struct fleet *fleet, struct asked asked);

/* What a client can know of a goal, from fleet->view. */
struct knowledge fleet_known(struct fleet *fleet, struct id goal, struct arena *arena);

/* Reads the store into fleet->view. */
void fleet_look(struct fleet *fleet);

/* Backs up the store; later stops all hosts and restores it. Hosts do not restart by themselves. */
void fleet_back_up(struct fleet *fleet);
void fleet_restore(struct fleet *fleet);

/* Does the store contradict itself, or an acknowledgement? Sets fleet->violation. */
bool fleet_check(struct fleet *fleet);

/* Call it when everything is at rest. Checks that each goal has landed or a person is asked, and that nothing waits in
 * the lane. Sets fleet->violation. */
bool fleet_check_lane(struct fleet *fleet);

/* Runs without further faults until nothing moves. Then every guarantee must hold. */
bool fleet_heal(struct fleet *fleet);

/* Everything that can affect later behaviour, as one number; times only relative to now. */
uint64_t fleet_digest(struct fleet *fleet);

struct ledger_config fleet_config(const struct fleet *fleet, uint32_t index);
