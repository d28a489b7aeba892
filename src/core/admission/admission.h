/* SPDX-License-Identifier: Apache-2.0 */
/* What an admission sees: everything that bounds its permits, counted from the permits once per step. */
#pragma once

#include "core/people/question.h"

enum { NOBODY = LIMIT_POLICY_AGENTS }; /* index of an agent that the policy does not know */

/* What keeps a permit from being granted. */
enum bound {
    BOUND_NONE,
    BOUND_HOST,
    BOUND_AGENT,
    BOUND_ACCOUNT,
    BOUND_MODEL,
    BOUND_TEAM,
    BOUND_REPOSITORY,
    BOUND_BATCH,      /* its batch has as many at work as it may */
    BOUND_BATCH_HELD, /* nothing more of its batch is started */
    BOUND_BATCH_OVER, /* the time of its batch is over */
    BOUND_LIMIT,      /* the account is at its limit */
    BOUND_PROBE,      /* another permit tries the account first */
    BOUND_QUOTA,      /* a quota window of the account is used up to the mark */
    BOUND_OVERAGE,    /* the account has begun to use paid extra usage */
    BOUND_BUDGET,     /* other permits have reserved the rest */
    BOUND_PACE,
    BOUND_OFF, /* no agents are given work at all */
    BOUND_SUSPENDED,
    BOUND_SLOT,    /* too many answers are under way */
    BOUND_USED_UP, /* this and all below are final */
    BOUND_TOO_LARGE,
    BOUND_NOT_ALLOWED,
    BOUND_UNKNOWN,
    BOUND_ALONE, /* a person wants the agent left alone */
    BOUNDS
};

/* Sums by key. */
struct sum {
    uint64_t key, value; /* key 0: free */
};
struct sums {
    struct sum *at;
    uint32_t mask;
};

/* What is spent and reserved of one budget, for one of the agents or groups that it counts separately. */
struct use {
    uint64_t spent, reserved;
    bool warned;
};

struct admission_view {
    struct deciding *d;
    uint32_t granted, asking;
    uint8_t place_of[256]; /* index of an agent + 1, by the hash of its name; 0: free */
    uint8_t account_of[NOBODY], model_of[NOBODY],
        team_of[NOBODY]; /* index of the first agent with the same */
    uint32_t agents[NOBODY], accounts[NOBODY], models[NOBODY], teams[NOBODY]; /* granted permits */
    struct account *limits[NOBODY]; /* row of the agent's account */
    bool windows;                   /* a quota window is known */
    bool counts_goals;              /* some budget counts each goal separately */
    struct sums batches;            /* granted permits of each */
    struct sums repositories, goal_spent[BUDGET_UNITS], goal_reserved[BUDGET_UNITS];
    struct use uses[LIMIT_POLICY_BUDGETS][NOBODY];
    uint16_t rows[LIMIT_POLICY_BUDGETS][NOBODY]; /* budget row of a use: index + 1; 0: none yet */
    uint8_t use_at[LIMIT_POLICY_BUDGETS]
                  [NOBODY + 1]; /* index of the use that counts an agent; NOBODY: none */
    bool of_goals[LIMIT_POLICY_BUDGETS];
};

static inline bool name_same(const char *a, const char *b) {
    return str_equal(str_of(a), str_of(b));
}

/* ---- admission.c ---- */

bool admission_open(struct deciding *); /* the first request creates it; false: it is none */

/* ---- batch_bound.c ---- */

enum bound batch_bound(const struct admission_view *view, const struct permit *permit);
void batch_record(struct deciding *, enum record_type type, const struct task_batch *batch,
                  const char *rule);
struct str batch_words(const struct admission_view *view, const struct permit *permit,
                       enum bound bound);
void batches_due(struct deciding *);           /* ends those whose time is over */
int64_t batches_next(const struct live *live); /* when the next one ends; TIME_NEVER */

/* ---- admission_view.c ---- */

struct admission_view *view_make(struct deciding *d);
uint32_t view_place(const struct admission_view *view, const char *agent);
void view_accounts(struct admission_view *view); /* call after account rows have changed */
void view_grant(struct admission_view *view,
                const struct permit *permit); /* counts it as granted from now on */
enum bound view_bound(const struct admission_view *view, const struct permit *permit);
struct str bound_words(const struct admission_view *view, const struct permit *permit,
                       enum bound bound, int64_t *ret_until);

struct sums sums_make(uint32_t count, struct arena *arena);
uint64_t sums_get(const struct sums *sums, uint64_t key);
void sums_add(struct sums *sums, uint64_t key, uint64_t value);
void sums_raise(struct sums *sums, uint64_t key, uint64_t value);
uint32_t name_hash(const char *name);
uint64_t goal_key(struct id goal);
bool budgets_are_of_goals(
    const struct policy *policy); /* does any budget count each goal separately? */

/* The supervisor's own pace: how many actions it takes per minute. */
bool pace_is_open(const struct pace *pace, const struct policy *policy, int64_t now);
void pace_take(struct pace *pace, const struct policy *policy, int64_t now);
int64_t pace_opens(const struct pace *pace, const struct policy *policy, int64_t now);
bool pace_is_blast(const struct pace *pace, const struct policy *policy, uint32_t granted,
                   int64_t now);
void pace_disruptive(struct pace *pace, int64_t now);

/* ---- budget.c ---- */

int64_t budget_since(int64_t window, int64_t now); /* start of the window that is open now */
void budgets_load(struct admission_view *view);
void budgets_reserve(struct admission_view *view, const struct permit *permit, uint32_t place);
void budgets_start(struct admission_view *view, uint32_t place);
void budgets_charge(struct admission_view *view, const char *agent, uint64_t cost, uint64_t tokens);
enum bound budgets_bound(const struct admission_view *view, const struct permit *permit,
                         uint32_t *ret_budget);
bool budgets_overdrawn(const struct admission_view *view, const struct permit *permit,
                       uint32_t *ret_budget);
struct use *budgets_use(struct admission_view *view, uint32_t budget,
                        const char *agent); /* NULL: not counted */
void budgets_store(struct admission_view *view);
struct str budget_words(const struct admission_view *view, uint32_t budget, struct arena *arena);
uint64_t amount_add(uint64_t a, uint64_t b); /* saturates */
