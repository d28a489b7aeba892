/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the overall status, and what waits for the user. */
#include "cli/print/print.h"

/* ---- what waits for the user ---- */

static bool is_failed(const json_t *item) {
    return strcmp(text_of(item, "kind"), "failed") == 0;
}

static size_t failed_count(const json_t *items) {
    size_t i, count = 0;
    json_t *item;
    json_array_foreach(items, i, item) count += is_failed(item);
    return count;
}

/* Failed items are printed in a section of their own. */
static void items_print(const json_t *items, bool failed) {
    static const struct column COLUMNS[] = {
        {0}, {.right = true, .least = AGE_WIDE}, {0}, {.bends = true}, {.bends = true}, {0}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS), .indent = 2};
    size_t i, length = ids_length(items);
    json_t *item;
    char id[ID_TEXT + 1], age[AGE_TEXT], repo[REPO_TEXT];
    bool differ = repos_differ(items);
    json_array_foreach(items, i, item) {
        if (is_failed(item) != failed)
            continue;
        table_row(&table);
        if (*text_of(item, "questionId")) {
            question_cells(&table, item, length);
            continue;
        }
        table_cell(&table, TINT_NONE, "%s", name_or_id(item, length, id));
        table_cell(&table, TINT_DIM, "%s", age_of(item, "since", age));
        table_cell(&table, TINT_WARN, "%s", failed ? "" : text_of(item, "kind"));
        table_cell(&table, TINT_NONE, "%s%s", repo_before(item, differ, repo),
                   text_of(item, "title"));
        table_cell(&table, TINT_DIM, "%s", failed ? text_of(item, "evidence") : "");
        table_cell(&table, TINT_DIM, "overseer why %s", id);
    }
    table_print(&table);
}

/* ---- the whole status ---- */

static void goals_print(const json_t *goals) {
    static const struct column COLUMNS[] = {
        {0}, {.right = true, .least = AGE_WIDE}, {.right = true}, {.bends = true}, {.bends = true}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS), .indent = 2};
    size_t i, length = ids_length(goals);
    json_t *goal;
    char id[ID_TEXT + 1], age[AGE_TEXT], repo[REPO_TEXT];
    bool differ = repos_differ(goals);
    json_array_foreach(goals, i, goal) {
        const char *agents = text_of(goal, "agents");
        table_row(&table);
        table_cell(&table, TINT_NONE, "%s", name_or_id(goal, length, id));
        table_cell(&table, TINT_DIM, "%s", age_of(goal, "updatedAt", age));
        percent_cell(&table, goal);
        table_cell(&table, TINT_NONE, "%s%s", repo_before(goal, differ, repo),
                   text_of(goal, "title"));
        table_cell(&table, strstr(agents, " stalled") ? TINT_WARN : TINT_DIM, "%s", agents);
    }
    table_print(&table);
}

static void title_print(const char *title, enum tint tint, const char *more) {
    tint_on(stdout, tint);
    printf("%s", title);
    tint_off(stdout, tint);
    printf("%s%s\n", *more ? "  " : "", more);
}

/* Money is counted in millionths; if the agent reports no cost, the cell shows tokens, or nothing. */
static void spent_cell(struct table *table, const json_t *goal) {
    long long cost = number_of(goal, "cost"), tokens = number_of(goal, "tokens");
    if (cost > 0)
        table_cell(table, TINT_DIM, "$%lld.%02lld", cost / 1000000, cost % 1000000 / 10000);
    else if (tokens > 0)
        table_cell(table, TINT_DIM, "%lldk", (tokens + 999) / 1000);
    else
        table_cell(table, TINT_DIM, "%s", "");
}

/* Promise 3: each goal with what "done" is based on, and where the result is. */
static void done_print(const json_t *goals, long long count) {
    static const struct column COLUMNS[] = {{0},
                                            {.right = true, .least = AGE_WIDE},
                                            {.bends = true},
                                            {0},
                                            {.bends = true},
                                            {.right = true}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS), .indent = 2};
    size_t i, length = ids_length(goals);
    json_t *goal;
    char id[ID_TEXT + 1], age[AGE_TEXT], repo[REPO_TEXT], more[64] = "";
    bool differ = repos_differ(goals);
    if (json_array_size(goals) == 0)
        return;
    if (count > (long long)json_array_size(goals))
        snprintf(more, sizeof more, "the newest %zu of %lld", json_array_size(goals), count);
    title_print("DONE", TINT_GOOD, more);
    json_array_foreach(goals, i, goal) {
        const char *proof = text_of(goal, "proof");
        bool good = strcmp(proof, "landed") == 0 || strcmp(proof, "verified") == 0;
        table_row(&table);
        table_cell(&table, TINT_NONE, "%s", name_or_id(goal, length, id));
        table_cell(&table, TINT_DIM, "%s", age_of(goal, "endedAt", age));
        table_cell(&table, TINT_NONE, "%s%s", repo_before(goal, differ, repo),
                   text_of(goal, "title"));
        table_cell(&table, good ? TINT_GOOD : TINT_WARN, "%s",
                   strcmp(proof, "accepted") == 0 ? "by you" : proof);
        table_cell(&table, TINT_NONE, "%s", text_of(goal, "landed"));
        spent_cell(&table, goal);
    }
    table_print(&table);
}

static void count_print(long long count, const char *state, bool *any) {
    if (count == 0)
        return;
    printf("%s", *any ? " · " : " ");
    tint_on(stdout, state_tint(state));
    printf("%lld %s", count, state);
    tint_off(stdout, state_tint(state));
    *any = true;
}

/* Failed goals need the user too; they are counted separately as far as the answer names them. */
static void tally_print(const json_t *status) {
    static const char *const ORDER[] = {"working", "waiting",   "queued",
                                        "paused",  "cancelled", "archived"};
    const json_t *tally = json_object_get(status, "tally");
    long long failed = (long long)failed_count(json_object_get(status, "failed"));
    bool any = false;
    count_print(number_of(tally, "done"), "done", &any);
    count_print(number_of(tally, "needs you") - failed, "needs you", &any);
    count_print(failed, "failed", &any);
    for (size_t i = 0; i < count_of(ORDER); i++)
        count_print(number_of(tally, ORDER[i]), ORDER[i], &any);
    printf("%s\n", any ? "" : " no goals yet");
}

static void head_print(const json_t *status) {
    char from[CLOCK_TEXT], to[CLOCK_TEXT];
    int64_t now = clock_now(), since = time_of(status, "since");
    tint_on(stdout, TINT_BOLD);
    printf("overseer status");
    tint_off(stdout, TINT_BOLD);
    if (since)
        printf("  since %s → %s", clock_format(since, now, from), clock_format(now, now, to));
    printf("\n");
    tally_print(status);
}

static void needs_print(const json_t *status) {
    const json_t *items = json_object_get(status, "needsYou");
    const json_t *failed = json_object_get(status, "failed");
    char age[AGE_TEXT], oldest[AGE_TEXT + 8];
    if (json_array_size(items) > failed_count(items)) {
        snprintf(oldest, sizeof oldest, "oldest %s",
                 age_of(json_array_get(items, 0), "since", age));
        title_print("NEEDS YOU", TINT_WARN, oldest);
        items_print(items, false);
    }
    if (json_array_size(failed) > 0) {
        title_print("FAILED", TINT_BAD, "");
        items_print(failed, true);
    }
}

static void section_print(const json_t *status, const char *name, const char *title,
                          enum tint tint) {
    const json_t *rows = json_object_get(status, name);
    if (json_array_size(rows) == 0)
        return;
    title_print(title, tint, "");
    goals_print(rows);
}

static void daemon_print(const json_t *daemon) {
    char age[AGE_TEXT];
    const char *trouble = text_of(daemon, "trouble");
    bool safe = flag_of(daemon, "safeMode"), stopped = flag_of(daemon, "stopped");
    enum tint tint = safe || *trouble ? TINT_BAD : stopped ? TINT_WARN : TINT_GOOD;
    printf("DAEMON ");
    tint_on(stdout, tint);
    printf("%s", safe ? "safe mode" : *trouble ? "in trouble" : stopped ? "stopped" : "ok");
    tint_off(stdout, tint);
    printf(" %s  host %lld  store %s", age_of(daemon, "startedAt", age), number_of(daemon, "host"),
           text_of(daemon, "store"));
    if (*trouble) {
        printf(": ");
        text_say(stdout, trouble);
    }
    printf("\n");
    const json_t *step = json_object_get(daemon, "clockStep");
    char at[CLOCK_TEXT];
    if (step)
        printf("  the clock stepped by %+.1f s at %s; stored times were corrected\n",
               json_number_value(json_object_get(step, "seconds")),
               clock_format(time_of(step, "at"), clock_now(), at));
    if (stopped)
        printf("  everything is stopped; to continue: overseer resume\n");
    if (safe)
        printf("  nothing is written or started; see: overseer doctor\n");
}

static void warning_print(const json_t *status) {
    const char *warning = text_of(status, "storeWarning");
    if (!*warning)
        return;
    tint_on(stdout, TINT_WARN);
    printf("STORE");
    tint_off(stdout, TINT_WARN);
    printf(" %s\n", warning);
}

static void lost_print(const json_t *status) {
    size_t i;
    json_t *host;
    char age[AGE_TEXT];
    json_array_foreach(json_object_get(status, "lostHosts"), i, host) {
        long long tasks = number_of(host, "tasks");
        tint_on(stdout, TINT_BAD);
        printf("HOST %lld is lost", number_of(host, "host"));
        tint_off(stdout, TINT_BAD);
        printf(" since %s: %lld %s until %s before %s elsewhere\n", age_of(host, "since", age),
               tasks, tasks == 1 ? "task waits" : "tasks wait", text_of(host, "until"),
               tasks == 1 ? "it starts" : "they start");
    }
}

/* "01JC7Q4T9Z waits: push to example.org/app.git, since 40s" */
static void waits_print(const json_t *waits) {
    static const struct column COLUMNS[] = {
        {0}, {.right = true, .least = AGE_WIDE}, {.bends = true}, {0}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS), .indent = 2};
    size_t i, length = ids_length(waits);
    json_t *wait;
    char id[ID_TEXT + 1], age[AGE_TEXT];
    if (json_array_size(waits) == 0)
        return;
    title_print("WAITS FOR", TINT_WARN, "");
    json_array_foreach(waits, i, wait) {
        const char *goal = text_of(wait, "goalId");
        table_row(&table);
        table_cell(&table, TINT_NONE, "%s", *goal ? id_short(goal, length, id) : "");
        table_cell(&table, TINT_DIM, "%s", age_of(wait, "since", age));
        table_cell(&table, TINT_NONE, "%s", text_of(wait, "what"));
        table_cell(&table, TINT_DIM, "%s", flag_of(wait, "running") ? "" : "not begun");
    }
    table_print(&table);
}

static bool any_goals(const json_t *status) {
    const char *name;
    json_t *count;
    json_object_foreach(json_object_get(status, "tally"), name, count) {
        if (json_integer_value(count) > 0)
            return true;
    }
    return false;
}

/* Does each target pass its own check? Nothing is said of a target that was not checked. */
static void targets_print(const json_t *targets) {
    size_t i;
    const json_t *target;
    json_array_foreach(targets, i, target) {
        bool passes = json_is_true(json_object_get(target, "passes"));
        const char *since = text_of(target, "since");
        printf("%-9s%-12s %s %.12s", i == 0 ? "MAIN" : "", text_of(target, "repository"),
               passes ? "✓" : "✗", text_of(target, "commit"));
        if (!passes)
            printf("  fails its own check since %.12s: work that fails waits", since);
        printf("\n");
    }
}

void print_status(const struct typed *typed, const json_t *status) {
    (void)typed;
    head_print(status);
    needs_print(status);
    section_print(status, "working", "WORKING", TINT_BUSY);
    section_print(status, "paused", "PAUSED", TINT_DIM);
    done_print(json_object_get(status, "done"), number_of(status, "doneCount"));
    lost_print(status);
    targets_print(json_object_get(status, "targets"));
    warning_print(status);
    waits_print(json_object_get(status, "waits"));
    print_quota(json_object_get(status, "accounts"));
    daemon_print(json_object_get(status, "daemon"));
    if (number_of(json_object_get(status, "tally"), "needs you") > 0)
        hint("Next: overseer inbox");
    else if (!any_goals(status))
        hint("Next: overseer goal create \"what is wanted\"");
}
