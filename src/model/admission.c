/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of admission: permits, accounts and budgets. */
#include "model/live.h"

static const char *const STATE[PERMIT_STATES] = {"waiting", "granted"};
static const char *const UNIT[BUDGET_UNITS] = {"money", "tokens", "starts"};
static const char *const KIND[PERMIT_KINDS] = {"none", "begin", "act", "strike"};
const struct names PERMIT_KIND_NAMES = NAMES_OF(KIND);
const struct names PERMIT_STATE_NAMES = NAMES_OF(STATE);
const struct names BUDGET_UNIT_NAMES = NAMES_OF(UNIT);

#define F(name, type, number, of, member, cap, names, text) \
    { name, type, number, FIELD_OF(of, member), cap, 0, names, text, 0, NULL }

static const struct field PERMIT_FIELDS[] = {
    F("n", FIELD_U32, 1, permit, n, 0, NULL, "its ordinal"),
    F("goal", FIELD_ID, 2, permit, goal, 0, NULL, "whose"),
    F("charge", FIELD_U32, 3, permit, assignment, 0, NULL, "which of its assignments"),
    F("turn", FIELD_U32, 4, permit, turn, 0, NULL, "which of its asks"),
    F("state", FIELD_ENUM, 5, permit, state, 0, &PERMIT_STATE_NAMES, "waiting or granted"),
    F("agent", FIELD_NAME, 6, permit, agent, LIMIT_AGENT, NULL, "who is to work"),
    F("repository", FIELD_UINT, 7, permit, repository, 0, NULL, "in which repository"),
    F("wants", FIELD_ENUM, 8, permit, wants, 0, &PERMIT_KIND_NAMES, "asked for, without an answer"),
    F("granted", FIELD_ENUM, 9, permit, granted, 0, &PERMIT_KIND_NAMES, "the newest that was"),
    F("again", FIELD_FLAG, 10, permit, again, 0, NULL, "to be answered once more"),
    F("score", FIELD_UINT, 11, permit, score, 0, NULL, "what speaks for it"),
    F("askedAt", FIELD_TIME, 12, permit, asked_at, 0, NULL, "since when it waits"),
    F("grantedAt", FIELD_TIME, 13, permit, granted_at, 0, NULL, "since when it runs"),
    F("reserved", FIELD_UINT, 14, permit, reserved, 0, NULL, "money, in millionths"),
    F("tokens", FIELD_UINT, 15, permit, tokens, 0, NULL, "tokens reserved"),
    F("settledCost", FIELD_UINT, 16, permit, settled_cost, 0, NULL, "of it, spent"),
    F("settledTokens", FIELD_UINT, 17, permit, settled_tokens, 0, NULL, "of them, spent"),
    F("goalCost", FIELD_UINT, 18, permit, goal_cost, 0, NULL, "spent by its goal before"),
    F("goalTokens", FIELD_UINT, 19, permit, goal_tokens, 0, NULL, "used by its goal before"),
    F("goalStarts", FIELD_UINT, 20, permit, goal_starts, 0, NULL, "begun by its goal before"),
    F("wantedAt", FIELD_TIME, 22, permit, wanted_at, 0, NULL, "when it last asked"),
    F("stopped", FIELD_FLAG, 21, permit, stopped, 0, NULL, "it was told to stop"),
};
const struct shape PERMIT = SHAPE_OF(permit, "permit", 1, PERMIT_FIELDS);

static const struct field ACCOUNT_FIELDS[] = {
    F("n", FIELD_U32, 1, account, n, 0, NULL, "its ordinal"),
    F("name", FIELD_NAME, 2, account, name, LIMIT_AGENT, NULL, "whose quota"),
    F("limitedUntil", FIELD_TIME, 3, account, limited_until, 0, NULL, "at its limit until"),
    F("guessed", FIELD_FLAG, 4, account, guessed, 0, NULL, "nobody said until when"),
    F("tried", FIELD_U32, 5, account, tried, 0, NULL, "how often it was guessed"),
    F("probe", FIELD_U32, 6, account, probe, 0, NULL, "the permit that tries it, from 1"),
    F("probeUntil", FIELD_TIME, 7, account, probe_until, 0, NULL, "without a complaint: open"),
};
const struct shape ACCOUNT = SHAPE_OF(account, "account", 1, ACCOUNT_FIELDS);

static const struct field BUDGET_FIELDS[] = {
    F("n", FIELD_U32, 1, budget, n, 0, NULL, "its ordinal"),
    F("scope", FIELD_NAME, 2, budget, scope, LIMIT_SCOPE, NULL, "whose"),
    F("unit", FIELD_ENUM, 3, budget, unit, 0, &BUDGET_UNIT_NAMES, "of what"),
    F("since", FIELD_TIME, 4, budget, since, 0, NULL, "when its window began"),
    F("spent", FIELD_UINT, 5, budget, spent, 0, NULL, "in that window"),
    F("reserved", FIELD_UINT, 6, budget, reserved, 0, NULL, "and promised"),
    F("window", FIELD_INT, 8, budget, window, 0, NULL, "how long one lasts"),
    F("told", FIELD_FLAG, 7, budget, warned, 0, NULL, "a person was told that it is used up"),
};
const struct shape BUDGET = SHAPE_OF(budget, "budget", 1, BUDGET_FIELDS);

struct id admission_id(uint32_t host) {
    uint8_t key[4] = {(uint8_t)host, (uint8_t)(host >> 8), (uint8_t)(host >> 16),
                      (uint8_t)(host >> 24)};
    return id_derive(STR("desk"), (struct str){(const char *)key, sizeof key});
}

struct permit *permits_find(const struct permits *permits, struct id goal, uint32_t assignment) {
    for (uint32_t i = 0; i < permits->count; i++)
        if (permits->at[i].assignment == assignment && id_equal(permits->at[i].goal, goal))
            return &permits->at[i];
    return NULL;
}

struct account *accounts_find(const struct accounts *accounts, struct str name) {
    for (uint32_t i = 0; i < accounts->count; i++)
        if (str_equal(str_of(accounts->at[i].name), name))
            return &accounts->at[i];
    return NULL;
}

struct budget *budgets_find(const struct budgets *budgets, struct str scope, enum budget_unit unit,
                            int64_t window) {
    for (uint32_t i = 0; i < budgets->count; i++)
        if (budgets->at[i].unit == unit && budgets->at[i].window == window &&
            str_equal(str_of(budgets->at[i].scope), scope))
            return &budgets->at[i];
    return NULL;
}

/* Spending beyond a reservation reduces it no further. */
uint64_t permit_reserved(const struct permit *permit, enum budget_unit unit) {
    if (permit->state != PERMIT_GRANTED || unit == UNIT_STARTS)
        return 0;
    uint64_t all = unit == UNIT_MONEY ? permit->reserved : permit->tokens;
    uint64_t gone = unit == UNIT_MONEY ? permit->settled_cost : permit->settled_tokens;
    return all > gone ? all - gone : 0;
}

static const char *permit_broken(const struct permit *permit) {
    if (permit->state == PERMIT_WAITING && permit->wants != PERMIT_BEGIN)
        return "a permit waits for nothing";
    if (permit->state == PERMIT_GRANTED && permit->wants == PERMIT_BEGIN)
        return "a permit is granted and waits to begin";
    if (permit->state == PERMIT_WAITING && (permit->reserved || permit->tokens))
        return "a permit that waits has something reserved";
    return permit->agent[0] == 0 ? "a permit for nobody" : NULL;
}

const char *admission_broken(const struct live *live) {
    for (uint32_t i = 0; i < live->permits.count; i++) {
        const char *broken = permit_broken(&live->permits.at[i]);
        if (broken)
            return broken;
        if (i > 0 && live->permits.at[i].n <= live->permits.at[i - 1].n)
            return "permits are out of order";
    }
    for (uint32_t i = 0; i < live->budgets.count; i++)
        if (live->budgets.at[i].window < 0)
            return "a budget whose window ends before it begins";
    return NULL;
}
