/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets of money, tokens and starts: reserved before a run begins, charged when the actual amount is known. */
#include "core/admission/admission.h"
#include "core/deciding.h"

enum scope { SCOPE_FLEET, SCOPE_AGENT, SCOPE_TEAM, SCOPE_ACCOUNT, SCOPE_MODEL, SCOPE_GOAL, SCOPES };

static const struct scope_row {
    const char *name;
    size_t member; /* offset in struct policy_agent of the name that the scope counts by */
} SCOPE[SCOPES] = {
    [SCOPE_FLEET] = {"fleet", 0},
    [SCOPE_AGENT] = {"agent", offsetof(struct policy_agent, id)},
    [SCOPE_TEAM] = {"team", offsetof(struct policy_agent, team)},
    [SCOPE_ACCOUNT] = {"account", offsetof(struct policy_agent, account)},
    [SCOPE_MODEL] = {"model", offsetof(struct policy_agent, model)},
    [SCOPE_GOAL] = {"goal", 0},
};

/* Days begin at midnight UTC, hours at the full hour: the start of a window need not be looked up. */
int64_t budget_since(int64_t window, int64_t now) {
    return window > 0 ? now - now % window : 0;
}

/* ---- what a budget counts ---- */

static const char *slash_in(const char *text) {
    for (; *text; text++)
        if (*text == '/')
            return text;
    return NULL;
}

/* `fleet` and `day` count everything; `team` counts each team separately, `team/web` only that one. */
static enum scope scope_of(const struct policy_budget *budget, const char **ret_name) {
    const char *slash = slash_in(budget->scope);
    size_t len = slash ? (size_t)(slash - budget->scope) : strlen(budget->scope);
    *ret_name = slash ? slash + 1 : "";
    for (uint32_t i = SCOPE_AGENT; i < SCOPES; i++)
        if (strlen(SCOPE[i].name) == len && memcmp(SCOPE[i].name, budget->scope, len) == 0)
            return (enum scope)i;
    return SCOPE_FLEET;
}

static const char *agent_name(const struct policy_agent *agent, enum scope scope) {
    return (const char *)agent + SCOPE[scope].member;
}

/* The index of the use in which the budget counts this agent; NOBODY: none. */
static uint32_t use_find(const struct admission_view *view, uint32_t budget, uint32_t place) {
    const struct policy *policy = view->d->policy;
    const char *name;
    enum scope scope = scope_of(&policy->spending.budgets[budget], &name);
    if (scope == SCOPE_FLEET)
        return 0;
    if (scope == SCOPE_GOAL || place == NOBODY)
        return NOBODY;
    const char *its = agent_name(&policy->dispatch.agents[place], scope);
    if (its[0] == 0 || (name[0] && !name_same(name, its)))
        return NOBODY;
    switch (scope) {
    case SCOPE_TEAM: return view->team_of[place];
    case SCOPE_ACCOUNT: return view->account_of[place];
    case SCOPE_MODEL: return view->model_of[place];
    default: return place;
    }
}

static bool is_of_goals(const struct policy_budget *budget) {
    const char *name;
    return scope_of(budget, &name) == SCOPE_GOAL;
}

/* Looked up once per view: every permit needs it. */
static void uses_know(struct admission_view *view) {
    const struct policy *policy = view->d->policy;
    for (uint32_t b = 0; b < policy->spending.budget_count; b++) {
        memset(view->use_at[b], NOBODY, sizeof view->use_at[b]);
        for (uint32_t i = 0; i < policy->dispatch.agent_count; i++)
            view->use_at[b][i] = (uint8_t)use_find(view, b, i);
        view->use_at[b][NOBODY] = (uint8_t)use_find(view, b, NOBODY);
        view->of_goals[b] = is_of_goals(&policy->spending.budgets[b]);
    }
}

bool budgets_are_of_goals(const struct policy *policy) {
    for (uint32_t i = 0; i < policy->spending.budget_count; i++)
        if (is_of_goals(&policy->spending.budgets[i]))
            return true;
    return false;
}

/* The name of the use's row. */
static void use_name(const struct admission_view *view, uint32_t budget, uint32_t place,
                     char name[LIMIT_SCOPE + 1]) {
    const struct policy *policy = view->d->policy;
    const char *only;
    enum scope scope = scope_of(&policy->spending.budgets[budget], &only);
    struct str text = scope == SCOPE_FLEET
                          ? str_of(policy->spending.budgets[budget].scope)
                          : arena_format(view->d->out, "%s/%s", SCOPE[scope].name,
                                         agent_name(&policy->dispatch.agents[place], scope));
    name_put(name, LIMIT_SCOPE + 1, text);
}

/* ---- stored rows ---- */

static bool use_counts(const struct admission_view *view, uint32_t budget, uint32_t place) {
    const char *name;
    if (scope_of(&view->d->policy->spending.budgets[budget], &name) == SCOPE_FLEET)
        return place == 0;
    return place < view->d->policy->dispatch.agent_count && view->use_at[budget][place] == place;
}

/* The index of the use that the row stores for this budget; NOBODY: the row is not this budget's. */
static uint32_t row_place(const struct admission_view *view, uint32_t budget,
                          const struct budget *row) {
    const struct policy *policy = view->d->policy;
    const struct policy_budget *of = &policy->spending.budgets[budget];
    const char *only, *name = slash_in(row->scope);
    enum scope scope = scope_of(of, &only);
    if (of->unit != row->unit || of->window != row->window || scope == SCOPE_GOAL)
        return NOBODY;
    if (scope == SCOPE_FLEET)
        return name_same(of->scope, row->scope) ? 0 : NOBODY;
    size_t len = strlen(SCOPE[scope].name);
    if (!name || (size_t)(name - row->scope) != len || memcmp(SCOPE[scope].name, row->scope, len))
        return NOBODY;
    for (uint32_t i = 0; i < policy->dispatch.agent_count; i++)
        if (name_same(agent_name(&policy->dispatch.agents[i], scope), name + 1))
            return view->use_at[budget][i];
    return NOBODY;
}

/* Finds the row of each use: rows move when others are removed. */
static void rows_know(struct admission_view *view) {
    const struct budgets *budgets = &view->d->decision->live.budgets;
    memset(view->rows, 0, sizeof view->rows);
    for (uint32_t i = 0; i < budgets->count; i++)
        for (uint32_t b = 0; b < view->d->policy->spending.budget_count; b++) {
            uint32_t place = row_place(view, b, &budgets->at[i]);
            if (place != NOBODY)
                view->rows[b][place] = (uint16_t)(i + 1);
        }
}

/* A window that is over counts as empty. */
void budgets_load(struct admission_view *view) {
    const struct budgets *budgets = &view->d->decision->live.budgets;
    uses_know(view);
    rows_know(view);
    for (uint32_t b = 0; b < view->d->policy->spending.budget_count; b++)
        for (uint32_t i = 0; i < NOBODY; i++) {
            const struct budget *row = view->rows[b][i] ? &budgets->at[view->rows[b][i] - 1] : NULL;
            if (row && budget_since(row->window, view->d->signal->at) <= row->since)
                view->uses[b][i] = (struct use){.spent = row->spent, .warned = row->warned};
        }
}

static bool row_is_wanted(const struct admission_view *view, const struct budget *row) {
    for (uint32_t b = 0; b < view->d->policy->spending.budget_count; b++) {
        uint32_t place = row_place(view, b, row);
        const struct use *use = place == NOBODY ? NULL : &view->uses[b][place];
        if (use && (use->spent > 0 || use->reserved > 0))
            return true;
    }
    return false;
}

/* Removes rows of budgets that no longer exist, and rows with nothing in them. */
static void rows_drop(struct admission_view *view) {
    struct deciding *d = view->d;
    const struct budgets *budgets = &d->decision->live.budgets;
    for (uint32_t i = budgets->count; i-- > 0;)
        if (!row_is_wanted(view, &budgets->at[i])) {
            live_edit(d, PART_BUDGET, 0);
            live_remove(d, PART_BUDGET, &budgets->at[i]);
        }
}

static bool row_is_right(const struct budget *row, const struct use *use, int64_t since) {
    return row->spent == use->spent && row->reserved == use->reserved &&
           row->warned == use->warned && row->since >= since;
}

static void row_write(struct admission_view *view, uint32_t budget, uint32_t place) {
    struct deciding *d = view->d;
    const struct use *use = &view->uses[budget][place];
    const struct policy_budget *of = &d->policy->spending.budgets[budget];
    const struct budgets *budgets = &d->decision->live.budgets;
    uint32_t at = view->rows[budget][place];
    int64_t since = budget_since(of->window, d->signal->at);
    if (at ? row_is_right(&budgets->at[at - 1], use, since) : !use->spent && !use->reserved)
        return;
    live_edit(d, PART_BUDGET, at ? 0 : 1);
    struct budget *row = at ? &d->decision->live.budgets.at[at - 1]
                            : live_add(d, PART_BUDGET, d->decision->goal.parts_made++);
    use_name(view, budget, place, row->scope);
    row->unit = of->unit;
    row->window = of->window;
    row->since = since > row->since ? since : row->since;
    row->spent = use->spent;
    row->reserved = use->reserved;
    row->warned = use->warned;
    live_touch(d, PART_BUDGET, row);
}

/* Stores only if something else was decided: sums alone are no reason to write. */
void budgets_store(struct admission_view *view) {
    const struct policy *policy = view->d->policy;
    if (view->d->decision->verdict != VERDICT_CHANGE)
        return;
    rows_drop(view);
    for (uint32_t b = 0; b < policy->spending.budget_count; b++) {
        rows_know(view);
        for (uint32_t i = 0; i == 0 || i < policy->dispatch.agent_count; i++)
            if (use_counts(view, b, i))
                row_write(view, b, i);
    }
}

/* ---- reserving and charging ---- */

static struct use *use_of(struct admission_view *view, uint32_t budget, uint32_t place) {
    uint32_t at = view->use_at[budget][place];
    return at == NOBODY ? NULL : &view->uses[budget][at];
}

struct use *budgets_use(struct admission_view *view, uint32_t budget, const char *agent) {
    return use_of(view, budget, view_place(view, agent));
}

void budgets_reserve(struct admission_view *view, const struct permit *permit, uint32_t place) {
    for (uint32_t b = 0; b < view->d->policy->spending.budget_count; b++) {
        struct use *use = use_of(view, b, place);
        if (use)
            use->reserved = amount_add(
                use->reserved, permit_reserved(permit, view->d->policy->spending.budgets[b].unit));
    }
}

/* A start is spent when it is granted. */
void budgets_start(struct admission_view *view, uint32_t place) {
    for (uint32_t b = 0; b < view->d->policy->spending.budget_count; b++) {
        struct use *use = use_of(view, b, place);
        if (use && view->d->policy->spending.budgets[b].unit == UNIT_STARTS)
            use->spent = amount_add(use->spent, 1);
    }
}

void budgets_charge(struct admission_view *view, const char *agent, uint64_t cost,
                    uint64_t tokens) {
    uint32_t place = view_place(view, agent);
    for (uint32_t b = 0; b < view->d->policy->spending.budget_count; b++) {
        enum budget_unit unit = view->d->policy->spending.budgets[b].unit;
        struct use *use = use_of(view, b, place);
        if (use && unit != UNIT_STARTS)
            use->spent = amount_add(use->spent, unit == UNIT_MONEY ? cost : tokens);
    }
}

/* ---- is there enough? ---- */

/* A goal reports its own spending; its reservations are in its other permits. NULL: not counted. */
static const struct use *use_read(const struct admission_view *view, uint32_t budget,
                                  const struct permit *permit, uint32_t place, struct use *room) {
    enum budget_unit unit = view->d->policy->spending.budgets[budget].unit;
    uint32_t at = view->use_at[budget][place];
    if (!view->of_goals[budget])
        return at == NOBODY ? NULL : &view->uses[budget][at];
    uint64_t key = goal_key(permit->goal);
    *room = (struct use){sums_get(&view->goal_spent[unit], key),
                         sums_get(&view->goal_reserved[unit], key), false};
    return room;
}

/* The least that an attempt needs; 1 where no reservation is set. A permit that only continues a run needs that, too. */
static uint64_t need_of(const struct admission_view *view, enum budget_unit unit, uint32_t place,
                        bool begins) {
    const struct policy_agent *agent =
        place == NOBODY ? NULL : &view->d->policy->dispatch.agents[place];
    uint64_t need = !agent || !begins || unit == UNIT_STARTS ? begins || unit != UNIT_STARTS
                    : unit == UNIT_MONEY                     ? agent->reserve
                                                             : agent->reserve_tokens;
    return need > 0 || !begins ? need : 1;
}

static enum bound use_bound(const struct use *use, uint64_t need, uint64_t most, bool begins) {
    if (need > most)
        return BOUND_TOO_LARGE;
    if (amount_add(use->spent, need) > most)
        return BOUND_USED_UP;
    bool waits = begins && amount_add(amount_add(use->spent, use->reserved), need) > most;
    return waits ? BOUND_BUDGET : BOUND_NONE;
}

/* Hard stop: what cannot be had before the window ends is denied, not waited for. Amounts that other permits have only
 * reserved may come back. */
enum bound budgets_bound(const struct admission_view *view, const struct permit *permit,
                         uint32_t *ret_budget) {
    enum bound bound = BOUND_NONE;
    bool begins = permit->wants == PERMIT_BEGIN;
    uint32_t place = view_place(view, permit->agent);
    for (uint32_t b = 0; b < view->d->policy->spending.budget_count; b++) {
        const struct policy_budget *of = &view->d->policy->spending.budgets[b];
        struct use room;
        const struct use *use = use_read(view, b, permit, place, &room);
        enum bound its =
            use ? use_bound(use, need_of(view, of->unit, place, begins), of->most, begins)
                : BOUND_NONE;
        if (its <= bound)
            continue;
        bound = its;
        *ret_budget = b;
    }
    return bound;
}

/* The permit has spent more than was reserved for it, and nothing is left. */
bool budgets_overdrawn(const struct admission_view *view, const struct permit *permit,
                       uint32_t *ret_budget) {
    uint32_t place = view_place(view, permit->agent);
    for (uint32_t b = 0; b < view->d->policy->spending.budget_count; b++) {
        const struct policy_budget *of = &view->d->policy->spending.budgets[b];
        struct use room;
        const struct use *use = use_read(view, b, permit, place, &room);
        if (use && of->unit != UNIT_STARTS && permit_reserved(permit, of->unit) == 0 &&
            amount_add(use->spent, use->reserved) >= of->most) {
            *ret_budget = b;
            return true;
        }
    }
    return false;
}

static struct str amount_words(enum budget_unit unit, uint64_t amount, struct arena *arena) {
    unsigned long long whole = amount / 1000000, cents = amount % 1000000 / 10000;
    if (unit == UNIT_MONEY)
        return arena_format(arena, "%llu.%02llu", whole, cents);
    return arena_format(arena, "%llu %s", (unsigned long long)amount,
                        name_of(&BUDGET_UNIT_NAMES, unit));
}

struct str budget_words(const struct admission_view *view, uint32_t budget, struct arena *arena) {
    const struct policy_budget *of = &view->d->policy->spending.budgets[budget];
    char window[SPAN_TEXT] = "all";
    if (of->window > 0)
        span_format(of->window, window);
    return arena_format(arena, "the budget %s has %.*s in %s", of->scope,
                        STR_ARG(amount_words(of->unit, of->most, arena)), window);
}
