/* SPDX-License-Identifier: Apache-2.0 */
/* Admission: what a host may begin now. An aggregate of its own, one for each host, stepped and stored like a goal.
 *
 * A goal asks admission for a permit before it begins anything that costs. Admission answers when there is room, in the
 * order of the scores in the requests, and keeps the reservation until it is settled. So caps, budgets, quota and the
 * supervisor's own pace are decided in one place, in committed steps. docs/decisions/0009. */
#pragma once

#include "model/plan.h"
#include "model/quota/quota.h"

enum permit_state { PERMIT_WAITING, PERMIT_GRANTED, PERMIT_STATES };

/* What a permit is requested for. */
enum permit_kind {
    PERMIT_NONE,
    PERMIT_BEGIN,      /* to start or continue: takes a place and a reservation */
    PERMIT_ACT,        /* to send something to a running agent: it costs */
    PERMIT_DISRUPTIVE, /* to resend to, stop or move a running agent: would harm a healthy one */
    PERMIT_KINDS
};

/* One assignment that wants to begin, or has begun. A waiting permit has an open request; a granted one may have
 * another. */
struct permit {
    uint32_t n;
    struct id goal;
    uint32_t assignment; /* of that goal */
    uint32_t turn;       /* number of its request: an answer to an older request is ignored */
    enum permit_state state;
    enum permit_kind wants;      /* requested and not answered yet */
    enum permit_kind granted;    /* newest kind that was granted */
    uint32_t again;              /* 1: it was requested again, and has to be answered again */
    uint32_t stopped;            /* 1: it was notified that its budget is used up */
    char agent[LIMIT_AGENT + 1]; /* the policy gives its account, model and team */
    uint64_t repository;         /* prefix of the hash of its name; 0: none */
    uint64_t batch;              /* key of the task batch that its goal belongs to; 0: none */
    int64_t
        batch_until; /* end of that batch when the goal was created: counts if its row is missing */
    uint64_t score;  /* of graph_recommend() at the time of the request, without its waiting */
    int64_t asked_at;  /* adds a point for each minute since then */
    int64_t wanted_at; /* time of the newest request */
    int64_t granted_at;
    uint64_t reserved; /* money, in millionths */
    uint64_t tokens;   /* reserved */
    uint64_t settled_cost,
        settled_tokens; /* part of it that is spent already: samples of a long run */
    uint64_t goal_cost, goal_tokens,
        goal_starts; /* of its goal at the time of the request: for budgets of goals */
    uint32_t mark;   /* of its goal: percent of a quota window; 0: none */
};

struct permits {
    struct permit *at;
    uint32_t count;
};

/* What is done about paid extra usage of an account. */
enum overage_state {
    OVERAGE_NONE,
    OVERAGE_ASKED,   /* its runs are frozen, and a person was asked */
    OVERAGE_ALLOWED, /* by a person or by the settings, until overage_until */
    OVERAGE_WAITS,   /* its runs stay frozen until overage_until */
    OVERAGE_STOPPED, /* its runs are ended, and none begins until overage_until */
    OVERAGE_STATES
};

/* A quota with a provider: all agents that use it wait together. Two kinds of rows. Without a window: the account itself,
 * while it is limited, while a guessed limit is being probed, or while something is done about its paid usage. With one:
 * the newest report about that window. docs/decisions/0019. */
struct account {
    uint32_t n;
    char name[LIMIT_AGENT + 1];
    char window[LIMIT_QUOTA_KIND + 1]; /* empty: the account itself */
    uint32_t used;                     /* of a window: per 10,000, plus 1; 0: unknown */
    int64_t resets_at, seen_at;        /* of a window; resets_at 0: unknown */
    enum quota_status status;          /* of a window */
    enum overage_state overage;
    int64_t overage_at, overage_until;
    uint32_t in_flight;    /* runs with an open turn at the first sign of paid usage */
    int64_t limited_until; /* 0: no longer limited */
    uint32_t guessed; /* 1: the end of the limit was guessed; one agent tries the account first */
    uint32_t tried;   /* guesses in a row */
    uint32_t probe;   /* n + 1 of the permit that probes it; 0: none yet */
    int64_t probe_until; /* without a complaint until then, the account is open */
};

struct accounts {
    struct account *at;
    uint32_t count;
};

enum budget_unit { UNIT_MONEY, UNIT_TOKENS, UNIT_STARTS, BUDGET_UNITS };

/* What was spent and reserved in one window of one scope; a setting says how much there is. The total budget of a goal
 * is not here: the goal knows what it has spent, and sends it with its requests. */
struct budget {
    uint32_t n;
    char scope[LIMIT_SCOPE + 1]; /* fleet, day, agent/NAME, team/NAME, account/NAME, model/NAME */
    enum budget_unit unit;
    int64_t window; /* 0: for ever */
    int64_t since;  /* start of the window: windows begin at multiples of their length */
    uint64_t spent;
    uint64_t reserved; /* by the permits granted now: the sum over them */
    uint32_t warned;   /* 1: a person was notified that it is used up */
};

struct budgets {
    struct budget *at;
    uint32_t count;
};

/* What a person has decided about a host that is not on the list of a repository. */
enum host_decision {
    HOST_ASKED,   /* not decided yet: `question` is open, or its answer never came */
    HOST_DENIED,  /* it stays denied, and is not asked about again */
    HOST_ALLOWED, /* for the runs and checks of the task, or of every task */
    HOST_CHECKS,  /* for checks only */
    HOST_DECISIONS
};

/* A host that runs of a repository were denied. A row of a workspace: one for each host and task until it is decided;
 * a decision for the whole repository replaces them by one row without a task. docs/decisions/0018. */
struct host_access {
    uint32_t n;
    char host[LIMIT_HOST_ENTRY + 1]; /* as in `hosts`: HOST:PORT */
    struct id goal;                  /* zero: every task of the repository */
    uint64_t number;                 /* for the name of that goal */
    enum host_decision decision;
    uint32_t question; /* n + 1 of the question about it; 0: none */
    uint64_t tries;    /* of the run with the most of them */
    int64_t at;        /* of the newest try, or of the decision */
};

struct host_accesses {
    struct host_access *at;
    uint32_t count;
};

/* Tasks that were handed over together, such as the list for a night: a row of an admission. Each task is a goal of its
 * own, which names its batch by the key. docs/decisions/0021. */
struct task_batch {
    uint32_t n;
    uint64_t key; /* task_batch_key() of its name */
    char name[LIMIT_BATCH_NAME + 1];
    uint32_t most;   /* tasks that work at once; 0: no cap of its own */
    int64_t until;   /* nothing is started from then on; 0: no end */
    uint32_t held;   /* 1: a person wants nothing more of it started */
    uint32_t ended;  /* 1: `until` has passed, and that is on the record */
    int64_t made_at; /* when it was made, or made again after its end */
};

struct task_batches {
    struct task_batch *at;
    uint32_t count;
};

extern const struct shape PERMIT, ACCOUNT, BUDGET, HOST_ACCESS, TASK_BATCH;
extern const struct names HOST_DECISION_NAMES, OVERAGE_NAMES;
extern const struct names PERMIT_STATE_NAMES, PERMIT_KIND_NAMES, BUDGET_UNIT_NAMES;

struct id admission_id(uint32_t host);
struct permit *permits_find(const struct permits *permits, struct id goal, uint32_t assignment);
struct account *accounts_find(const struct accounts *accounts, struct str name);
struct account *accounts_window(const struct accounts *accounts, struct str name,
                                struct str window);
/* Until when the newest report about a window holds: its reset; without one, as long as the window is. */
int64_t account_holds_until(const struct account *window);
/* Are the account's runs kept from making requests? */
bool account_is_held(const struct account *account, int64_t now);
struct budget *budgets_find(const struct budgets *budgets, struct str scope, enum budget_unit unit,
                            int64_t window);

/* The row of exactly this host and goal; a zero goal: that of the repository. */
struct host_access *host_accesses_find(const struct host_accesses *accesses, struct str host,
                                       struct id goal);

/* May a run of this goal, or its check, reach the host? */
bool host_access_allows(const struct host_access *access, struct id goal, bool is_check);

/* The key of a batch: the prefix of the hash of its name, never 0. */
uint64_t task_batch_key(struct str name);
struct task_batch *task_batches_find(const struct task_batches *batches, uint64_t key);

/* What is still reserved for a permit; 0 unless it is granted. */
uint64_t permit_reserved(const struct permit *permit, enum budget_unit unit);

/* The first broken invariant in words, or NULL. Runs after every step of admission. */
struct live;
const char *admission_broken(const struct live *live);
