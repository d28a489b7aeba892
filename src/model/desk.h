/* SPDX-License-Identifier: Apache-2.0 */
/* What may a host begin now? A desk is an aggregate of its own, one for each host, stepped and stored as a goal is.
 *
 * Goals ask it for a permit before they begin anything that costs; it answers when there is room, in the order of the
 * scores that they bring, and keeps what was reserved until it is settled. So caps, budgets, quota and the supervisor's
 * own pace are decided in one place, in committed steps. docs/decisions/0009. */
#pragma once

#include "model/plan.h"

enum permit_state { PERMIT_WAITING, PERMIT_GRANTED, PERMIT_STATES };

/* What a permit is asked for. */
enum permit_kind {
    PERMIT_NONE,
    PERMIT_BEGIN,  /* to start, or to go on: it takes a place and a reservation */
    PERMIT_ACT,    /* to say something to one that runs: it costs */
    PERMIT_STRIKE, /* to resend, stop or move one that runs: a healthy one would suffer */
    PERMIT_KINDS
};

/* One charge that wants to begin, or has begun. What waits, wants; what is granted may want again. */
struct permit {
    uint32_t n;
    struct id goal;
    uint32_t charge; /* of that goal */
    uint32_t turn;   /* which of its asks: an answer to an older one means nothing */
    enum permit_state state;
    enum permit_kind wants;   /* and has no answer yet */
    enum permit_kind granted; /* the newest that was */
    uint32_t again;           /* 1: it was asked for once more, and is to be answered once more */
    uint32_t stopped;         /* 1: it was told that its money is used up */
    char agent[LIMIT_AGENT + 1]; /* its account, model and team are the policy's */
    uint64_t repository;         /* the beginning of the hash of its name; 0: none */
    uint64_t score;              /* graph_recommend(), when it asked; without its waiting */
    int64_t asked_at;            /* a point for each minute since then */
    int64_t wanted_at;           /* when the newest ask came */
    int64_t granted_at;
    uint64_t reserved;                            /* money, in millionths */
    uint64_t tokens;                              /* reserved */
    uint64_t settled_cost, settled_tokens;        /* of it, spent already: samples of a long run */
    uint64_t goal_cost, goal_tokens, goal_starts; /* of its goal, when it asked: budgets of goals */
};

struct permits {
    struct permit *at;
    uint32_t count;
};

/* Somebody's quota with a provider: waiting is shared by all who use it. A row is there while it is limited, or was by
 * a guess and is being tried. */
struct account {
    uint32_t n;
    char name[LIMIT_AGENT + 1];
    int64_t limited_until; /* 0: not any more */
    uint32_t guessed;      /* 1: nobody said until when; it is tried again with one agent first */
    uint32_t tried;        /* how often it was guessed in a row */
    uint32_t probe;        /* n + 1 of the permit that tries it; 0: none yet */
    int64_t probe_until;   /* no complaint until then: it is open */
};

struct accounts {
    struct account *at;
    uint32_t count;
};

enum budget_unit { UNIT_MONEY, UNIT_TOKENS, UNIT_STARTS, BUDGET_UNITS };

/* What was spent and reserved in one window of one scope: a setting says how much there is. What a goal may spend in all
 * is not here: the goal knows what it has spent, and brings it along. */
struct budget {
    uint32_t n;
    char scope[LIMIT_SCOPE + 1]; /* fleet, day, agent/NAME, team/NAME, account/NAME, model/NAME */
    enum budget_unit unit;
    int64_t window; /* 0: for ever */
    int64_t since;  /* when it began: windows begin at multiples of their length */
    uint64_t spent;
    uint64_t reserved; /* by what is granted now: the sum over the permits */
    uint32_t told;     /* 1: somebody was told that it is used up */
};

struct budgets {
    struct budget *at;
    uint32_t count;
};

extern const struct shape PERMIT, ACCOUNT, BUDGET;
extern const struct names PERMIT_STATE_NAMES, PERMIT_KIND_NAMES, BUDGET_UNIT_NAMES;

struct id desk_id(uint32_t host);
struct permit *permits_find(const struct permits *permits, struct id goal, uint32_t charge);
struct account *accounts_find(const struct accounts *accounts, struct str name);
struct budget *budgets_find(const struct budgets *budgets, struct str scope, enum budget_unit unit,
                            int64_t window);

/* What is still reserved of a permit; nothing, unless it is granted. */
uint64_t permit_reserved(const struct permit *permit, enum budget_unit unit);

/* The first broken promise in words, or NULL. Runs after every step of a desk. */
struct live;
const char *desk_broken(const struct live *live);
