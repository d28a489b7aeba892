/* SPDX-License-Identifier: Apache-2.0 */
/* What does a desk see? Everything that bounds it, counted from its permits once for each step. */
#pragma once

#include "core/rules.h"

enum { NOBODY = LIMIT_POLICY_AGENTS }; /* an agent that the policy does not know */

/* What keeps a permit from being granted. */
enum bound {
    BOUND_NONE,
    BOUND_HOST,
    BOUND_AGENT,
    BOUND_ACCOUNT,
    BOUND_MODEL,
    BOUND_TEAM,
    BOUND_REPOSITORY,
    BOUND_LIMIT,  /* the account is at its limit */
    BOUND_PROBE,  /* somebody else tries it first */
    BOUND_BUDGET, /* others have reserved what is left */
    BOUND_PACE,
    BOUND_OFF, /* no agents are given work at all */
    BOUND_SUSPENDED,
    BOUND_SLOT,    /* too many answers are under way */
    BOUND_USED_UP, /* those from here on are final */
    BOUND_TOO_LARGE,
    BOUND_NOT_ALLOWED,
    BOUND_UNKNOWN,
    BOUND_ALONE, /* a person wants the agent left alone */
    BOUNDS
};

/* Sums by a key. */
struct sum {
    uint64_t key, value; /* key 0: free */
};
struct sums {
    struct sum *at;
    uint32_t mask;
};

/* What is spent and reserved of one budget, for one of those that it counts. */
struct use {
    uint64_t spent, reserved;
    bool told;
};

struct desk_view {
    struct deciding *d;
    uint32_t granted, asking;
    uint8_t place_of[256]; /* of an agent, by the hash of its name; 0: free */
    uint8_t account_of[NOBODY], model_of[NOBODY],
        team_of[NOBODY]; /* the first agent with the same */
    uint32_t agents[NOBODY], accounts[NOBODY], models[NOBODY], teams[NOBODY]; /* granted */
    struct account *limits[NOBODY];                                           /* by account */
    bool counts_goals; /* some budget is for each goal */
    struct sums repositories, goal_spent[BUDGET_UNITS], goal_reserved[BUDGET_UNITS];
    struct use uses[LIMIT_POLICY_BUDGETS][NOBODY];
    uint16_t rows[LIMIT_POLICY_BUDGETS][NOBODY];      /* of uses: place + 1; 0: none yet */
    uint8_t use_at[LIMIT_POLICY_BUDGETS][NOBODY + 1]; /* which use counts an agent; NOBODY: none */
    bool of_goals[LIMIT_POLICY_BUDGETS];
};

static inline bool name_same(const char *a, const char *b) {
    return str_equal(str_of(a), str_of(b));
}

/* ---- desk_view.c ---- */

struct desk_view *view_make(struct deciding *d);
uint32_t view_place(const struct desk_view *view, const char *agent);
void view_accounts(struct desk_view *view); /* their rows have changed */
void view_grant(struct desk_view *view,
                const struct permit *permit); /* it is granted from now on */
enum bound view_bound(const struct desk_view *view, const struct permit *permit);
struct str bound_words(const struct desk_view *view, const struct permit *permit, enum bound bound,
                       int64_t *ret_until);

uint64_t sums_get(const struct sums *sums, uint64_t key);
void sums_add(struct sums *sums, uint64_t key, uint64_t value);
uint64_t goal_key(struct id goal);
bool budgets_are_of_goals(const struct policy *policy); /* has it a budget for each goal? */

/* The supervisor's own pace. */
bool pace_is_open(const struct pace *pace, const struct policy *policy, int64_t now);
void pace_take(struct pace *pace, const struct policy *policy, int64_t now);
int64_t pace_opens(const struct pace *pace, const struct policy *policy, int64_t now);
bool pace_is_blast(const struct pace *pace, const struct policy *policy, uint32_t granted,
                   int64_t now);
void pace_strike(struct pace *pace, int64_t now);

/* ---- budget.c ---- */

int64_t budget_since(int64_t window, int64_t now); /* when the window that is open now began */
void budgets_load(struct desk_view *view);
void budgets_reserve(struct desk_view *view, const struct permit *permit, uint32_t place);
void budgets_start(struct desk_view *view, uint32_t place);
void budgets_charge(struct desk_view *view, const char *agent, uint64_t cost, uint64_t tokens);
enum bound budgets_bound(const struct desk_view *view, const struct permit *permit,
                         uint32_t *ret_budget);
bool budgets_overdrawn(const struct desk_view *view, const struct permit *permit,
                       uint32_t *ret_budget);
struct use *budgets_use(struct desk_view *view, uint32_t budget,
                        const char *agent); /* NULL: not counted */
void budgets_store(struct desk_view *view);
struct str budget_words(const struct desk_view *view, uint32_t budget, struct arena *arena);
uint64_t amount_add(uint64_t a, uint64_t b); /* never past the end */
