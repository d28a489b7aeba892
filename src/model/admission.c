/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of admission: permits, accounts and budgets. */
#include "base/bytes.h"
#include "base/sha256.h"
#include "model/live.h"

static const char *const STATE[PERMIT_STATES] = {"waiting", "granted"};
static const char *const UNIT[BUDGET_UNITS] = {"money", "tokens", "starts"};
static const char *const KIND[PERMIT_KINDS] = {"none", "begin", "act", "strike"};
static const char *const DECISION[HOST_DECISIONS] = {"asked", "denied", "allowed", "checks"};
static const char *const OVERAGE[OVERAGE_STATES] = {"none", "asked", "allowed", "waits", "stopped"};
const struct names OVERAGE_NAMES = NAMES_OF(OVERAGE);
const struct names HOST_DECISION_NAMES = NAMES_OF(DECISION);
const struct names PERMIT_KIND_NAMES = NAMES_OF(KIND);
const struct names PERMIT_STATE_NAMES = NAMES_OF(STATE);
const struct names BUDGET_UNIT_NAMES = NAMES_OF(UNIT);

#define F(name, type, number, of, member, cap, names, text) \
    { name, type, number, FIELD_OF(of, member), cap, 0, names, text, 0, NULL }

static const struct field PERMIT_FIELDS[] = {
    F("n", FIELD_U32, 1, permit, n, 0, NULL, "its ordinal"),
    F("goal", FIELD_ID, 2, permit, goal, 0, NULL, "id of the goal"),
    F("charge", FIELD_U32, 3, permit, assignment, 0, NULL, "ordinal of its assignment"),
    F("turn", FIELD_U32, 4, permit, turn, 0, NULL, "number of its request"),
    F("state", FIELD_ENUM, 5, permit, state, 0, &PERMIT_STATE_NAMES, "waiting or granted"),
    F("agent", FIELD_NAME, 6, permit, agent, LIMIT_AGENT, NULL, "name of the agent"),
    F("repository", FIELD_UINT, 7, permit, repository, 0, NULL,
      "prefix of the hash of the repository's name; 0: none"),
    F("wants", FIELD_ENUM, 8, permit, wants, 0, &PERMIT_KIND_NAMES,
      "kind that is requested and not answered yet"),
    F("granted", FIELD_ENUM, 9, permit, granted, 0, &PERMIT_KIND_NAMES,
      "newest kind that was granted"),
    F("again", FIELD_FLAG, 10, permit, again, 0, NULL,
      "whether it was requested again and has to be answered again"),
    F("score", FIELD_UINT, 11, permit, score, 0, NULL,
      "score at the time of the request, without its waiting time"),
    F("askedAt", FIELD_TIME, 12, permit, asked_at, 0, NULL, "start of its waiting time"),
    F("grantedAt", FIELD_TIME, 13, permit, granted_at, 0, NULL, "time of the grant"),
    F("reserved", FIELD_UINT, 14, permit, reserved, 0, NULL,
      "money reserved, in millionths of the currency"),
    F("tokens", FIELD_UINT, 15, permit, tokens, 0, NULL, "tokens reserved"),
    F("settledCost", FIELD_UINT, 16, permit, settled_cost, 0, NULL,
      "part of the reserved money that is spent, in millionths of the currency"),
    F("settledTokens", FIELD_UINT, 17, permit, settled_tokens, 0, NULL,
      "part of the reserved tokens that is used"),
    F("goalCost", FIELD_UINT, 18, permit, goal_cost, 0, NULL,
      "cost of its goal at the time of the request, in millionths of the currency"),
    F("goalTokens", FIELD_UINT, 19, permit, goal_tokens, 0, NULL,
      "tokens of its goal at the time of the request"),
    F("goalStarts", FIELD_UINT, 20, permit, goal_starts, 0, NULL,
      "starts of its goal at the time of the request"),
    F("wantedAt", FIELD_TIME, 22, permit, wanted_at, 0, NULL, "time of the newest request"),
    F("stopped", FIELD_FLAG, 21, permit, stopped, 0, NULL,
      "whether it was notified that its budget is used up"),
    F("batch", FIELD_UINT, 23, permit, batch, 0, NULL,
      "key of the task batch that its goal belongs to; 0: none"),
    F("batchUntil", FIELD_TIME, 24, permit, batch_until, 0, NULL,
      "end of that batch when the goal was created"),
    F("mark", FIELD_U32, 25, permit, mark, 0, NULL,
      "percent of a quota window at which its goal begins nothing; 0: none"),
};
const struct shape PERMIT = SHAPE_OF(permit, "permit", 1, PERMIT_FIELDS);

static const struct field ACCOUNT_FIELDS[] = {
    F("n", FIELD_U32, 1, account, n, 0, NULL, "its ordinal"),
    F("name", FIELD_NAME, 2, account, name, LIMIT_AGENT, NULL, "name of the account"),
    F("limitedUntil", FIELD_TIME, 3, account, limited_until, 0, NULL,
      "end of the limit; 0: no longer limited"),
    F("guessed", FIELD_FLAG, 4, account, guessed, 0, NULL,
      "whether the end of the limit was guessed"),
    F("tried", FIELD_U32, 5, account, tried, 0, NULL, "number of guesses in a row"),
    F("probe", FIELD_U32, 6, account, probe, 0, NULL,
      "ordinal + 1 of the permit that probes it; 0: none yet"),
    F("probeUntil", FIELD_TIME, 7, account, probe_until, 0, NULL,
      "time at which it counts as open if no limit is reported until then"),
    F("window", FIELD_NAME, 8, account, window, LIMIT_QUOTA_KIND, NULL,
      "name of its quota window; empty: the account itself"),
    F("used", FIELD_U32, 9, account, used, 0, NULL,
      "used part of the window per 10,000, plus 1; 0: unknown"),
    F("resetsAt", FIELD_TIME, 10, account, resets_at, 0, NULL, "end of the window; 0: unknown"),
    F("seenAt", FIELD_TIME, 11, account, seen_at, 0, NULL, "time of the newest report about it"),
    F("status", FIELD_ENUM, 12, account, status, 0, &QUOTA_STATUS_NAMES,
      "what the provider says about the window"),
    F("overage", FIELD_ENUM, 13, account, overage, 0, &OVERAGE_NAMES,
      "what is done about paid extra usage"),
    F("overageAt", FIELD_TIME, 14, account, overage_at, 0, NULL, "time of its first sign"),
    F("overageUntil", FIELD_TIME, 15, account, overage_until, 0, NULL,
      "time at which the included usage begins again"),
    F("inFlight", FIELD_U32, 16, account, in_flight, 0, NULL,
      "runs with an open turn at its first sign"),
};
const struct shape ACCOUNT = SHAPE_OF(account, "account", 1, ACCOUNT_FIELDS);

static const struct field BUDGET_FIELDS[] = {
    F("n", FIELD_U32, 1, budget, n, 0, NULL, "its ordinal"),
    F("scope", FIELD_NAME, 2, budget, scope, LIMIT_SCOPE, NULL,
      "scope: fleet, day, agent/NAME, team/NAME, account/NAME, model/NAME"),
    F("unit", FIELD_ENUM, 3, budget, unit, 0, &BUDGET_UNIT_NAMES,
      "unit of its amounts; money is in millionths of the currency"),
    F("since", FIELD_TIME, 4, budget, since, 0, NULL, "start of its window"),
    F("spent", FIELD_UINT, 5, budget, spent, 0, NULL, "amount spent in that window"),
    F("reserved", FIELD_UINT, 6, budget, reserved, 0, NULL,
      "amount reserved by the permits granted now"),
    F("window", FIELD_INT, 8, budget, window, 0, NULL,
      "length of its window, in microseconds; 0: no window"),
    F("told", FIELD_FLAG, 7, budget, warned, 0, NULL,
      "whether a person was notified that it is used up"),
};
const struct shape BUDGET = SHAPE_OF(budget, "budget", 1, BUDGET_FIELDS);

static const struct field HOST_ACCESS_FIELDS[] = {
    F("n", FIELD_U32, 1, host_access, n, 0, NULL, "its ordinal"),
    F("host", FIELD_NAME, 2, host_access, host, LIMIT_HOST_ENTRY, NULL, "the host and its port"),
    F("goal", FIELD_ID, 3, host_access, goal, 0, NULL,
      "id of the goal; zero: every goal of the repository"),
    F("number", FIELD_UINT, 4, host_access, number, 0, NULL, "number of that goal's name"),
    F("decision", FIELD_ENUM, 5, host_access, decision, 0, &HOST_DECISION_NAMES,
      "what a person decided"),
    F("question", FIELD_U32, 6, host_access, question, 0, NULL,
      "ordinal + 1 of the question about it; 0: none"),
    F("tries", FIELD_UINT, 7, host_access, tries, 0, NULL, "how often a run was denied it"),
    F("at", FIELD_TIME, 8, host_access, at, 0, NULL, "time of the newest try or of the decision"),
};
const struct shape HOST_ACCESS = SHAPE_OF(host_access, "hostAccess", 1, HOST_ACCESS_FIELDS);

static const struct field TASK_BATCH_FIELDS[] = {
    F("n", FIELD_U32, 1, task_batch, n, 0, NULL, "its ordinal"),
    F("name", FIELD_NAME, 2, task_batch, name, LIMIT_BATCH_NAME, NULL, "its name"),
    F("most", FIELD_U32, 3, task_batch, most, 0, NULL, "tasks that work at once; 0: no cap"),
    F("until", FIELD_TIME, 4, task_batch, until, 0, NULL,
      "nothing is started from then on; 0: no end"),
    F("held", FIELD_FLAG, 5, task_batch, held, 0, NULL,
      "whether a person wants nothing more of it started"),
    F("ended", FIELD_FLAG, 6, task_batch, ended, 0, NULL, "whether its end is on the record"),
    F("madeAt", FIELD_TIME, 7, task_batch, made_at, 0, NULL, "when it was made"),
    F("key", FIELD_UINT, 8, task_batch, key, 0, NULL, "prefix of the hash of its name"),
};
const struct shape TASK_BATCH = SHAPE_OF(task_batch, "taskBatch", 1, TASK_BATCH_FIELDS);

uint64_t task_batch_key(struct str name) {
    struct hash hash = sha256(name);
    uint64_t key = le_get((const char *)hash.bytes, 8) & INT64_MAX; /* a number of JSON */
    return key == 0 ? 1 : key;
}

struct task_batch *task_batches_find(const struct task_batches *batches, uint64_t key) {
    for (uint32_t i = 0; key && i < batches->count; i++)
        if (batches->at[i].key == key)
            return &batches->at[i];
    return NULL;
}

struct host_access *host_accesses_find(const struct host_accesses *accesses, struct str host,
                                       struct id goal) {
    for (uint32_t i = 0; i < accesses->count; i++)
        if (id_equal(accesses->at[i].goal, goal) && str_equal(str_of(accesses->at[i].host), host))
            return &accesses->at[i];
    return NULL;
}

bool host_access_allows(const struct host_access *access, struct id goal, bool is_check) {
    static const struct id EVERY;
    bool concerns = id_equal(access->goal, EVERY) || id_equal(access->goal, goal);
    return concerns &&
           (access->decision == HOST_ALLOWED || (access->decision == HOST_CHECKS && is_check));
}

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

struct account *accounts_window(const struct accounts *accounts, struct str name,
                                struct str window) {
    for (uint32_t i = 0; i < accounts->count; i++)
        if (str_equal(str_of(accounts->at[i].name), name) &&
            str_equal(str_of(accounts->at[i].window), window))
            return &accounts->at[i];
    return NULL;
}

struct account *accounts_find(const struct accounts *accounts, struct str name) {
    return accounts_window(accounts, name, STR(""));
}

int64_t account_holds_until(const struct account *window) {
    int64_t length = quota_length(window->window);
    if (window->resets_at > 0)
        return window->resets_at;
    return time_after(window->seen_at, length > 0 ? length : SECONDS(3600));
}

bool account_is_held(const struct account *account, int64_t now) {
    return account->overage != OVERAGE_NONE && account->overage != OVERAGE_ALLOWED &&
           account->overage_until > now;
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

static const char *account_broken(const struct account *account) {
    if (account->window[0] && (account->limited_until || account->probe || account->overage))
        return "a quota window is limited like an account";
    if (account->overage != OVERAGE_NONE && account->overage_until == 0)
        return "something is done about paid usage without an end";
    return account->name[0] == 0 ? "an account without a name" : NULL;
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
    for (uint32_t i = 0; i < live->task_batches.count; i++)
        if (live->task_batches.at[i].key == 0 || !live->task_batches.at[i].name[0])
            return "a batch without a name";
    for (uint32_t i = 0; i < live->accounts.count; i++)
        if (account_broken(&live->accounts.at[i]))
            return account_broken(&live->accounts.at[i]);
    for (uint32_t i = 0; i < live->budgets.count; i++)
        if (live->budgets.at[i].window < 0)
            return "a budget whose window ends before it begins";
    return NULL;
}
