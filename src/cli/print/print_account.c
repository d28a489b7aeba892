/* SPDX-License-Identifier: Apache-2.0 */
/* Prints accounts: one line of windows in `status`, and everything in `account list`. */
#include "cli/print/print.h"

#include <math.h>

/* "claude/max", or "max" if its agent is called the same, or if there are several. */
static void name_print(const json_t *account, char *text, size_t size) {
    const json_t *agents = json_object_get(account, "agents");
    const char *name = text_of(account, "account"),
               *agent = json_array_size(agents) == 1 ? json_string_value(json_array_get(agents, 0))
                                                     : name;
    snprintf(text, size, "%s%s%s", strcmp(agent, name) ? agent : "", strcmp(agent, name) ? "/" : "",
             name);
}

static void used_text(const json_t *window, char *text, size_t size) {
    const json_t *used = json_object_get(window, "used");
    if (json_is_number(used))
        snprintf(text, size, "%.0f%%", floor(json_number_value(used) * 100 + 1e-6));
    else
        snprintf(text, size, "unknown");
}

static bool any_window(const json_t *accounts) {
    size_t i;
    json_t *account;
    json_array_foreach((json_t *)(uintptr_t)accounts, i,
                       account) if (json_array_size(json_object_get(account, "windows")) >
                                    0) return true;
    return false;
}

static void windows_say(const json_t *account) {
    char used[16], at[CLOCK_TEXT], name[2 * LIMIT_AGENT + 4];
    size_t i;
    json_t *window;
    const json_t *windows = json_object_get(account, "windows");
    name_print(account, name, sizeof name);
    text_say(stdout, name);
    json_array_foreach(windows, i, window) {
        int64_t until = time_of(window, "resetsAt");
        used_text(window, used, sizeof used);
        printf("%s%s %s", i > 0 ? "   " : " ", text_of(window, "window"), used);
        if (until && i == 0)
            printf(" until %s", clock_format(until, clock_now(), at));
    }
    if (json_array_size(windows) == 0)
        printf(" unknown");
}

static void extra_print(const json_t *account) {
    const json_t *extra = json_object_get(account, "extraUsage");
    const char *state = text_of(extra, "state");
    char at[CLOCK_TEXT], name[2 * LIMIT_AGENT + 4];
    long long open = number_of(extra, "inFlight");
    bool allowed = strcmp(state, "allowed") == 0;
    if (!*state || strcmp(state, "none") == 0)
        return;
    name_print(account, name, sizeof name);
    tint_on(stdout, TINT_BAD);
    printf("EXTRA");
    tint_off(stdout, TINT_BAD);
    printf("  %s %s until %s; %lld open %s at its first sign%s\n", name,
           allowed ? "may use paid usage" : "would cost extra: frozen",
           clock_format(time_of(extra, "until"), clock_now(), at), open,
           open == 1 ? "turn" : "turns", strcmp(state, "asked") == 0 ? ": overseer inbox" : "");
}

void print_quota(const json_t *accounts) {
    size_t i;
    json_t *account;
    bool known = any_window(accounts);
    if (known)
        printf("QUOTA  ");
    json_array_foreach((json_t *)(uintptr_t)accounts, i, account) {
        if (known && i > 0)
            printf("   ");
        if (known)
            windows_say(account);
    }
    if (known)
        printf("\n");
    json_array_foreach((json_t *)(uintptr_t)accounts, i, account) extra_print(account);
}

/* ---- account list ---- */

static void window_row(struct table *table, const json_t *account, const json_t *window) {
    char used[16], age[AGE_TEXT], at[CLOCK_TEXT];
    int64_t until = time_of(window, "resetsAt");
    used_text(window, used, sizeof used);
    table_row(table);
    table_cell(table, TINT_NONE, "%s", text_of(account, "account"));
    table_cell(table, TINT_NONE, "%s", text_of(window, "window"));
    table_cell(table, TINT_NONE, "%s", used);
    table_cell(table, TINT_DIM, "%s", until ? clock_format(until, clock_now(), at) : "");
    table_cell(table, TINT_DIM, "%s ago", age_of(window, "seenAt", age));
}

static void windows_print(const json_t *accounts) {
    static const struct column COLUMNS[] = {{.title = "account"},
                                            {.title = "window"},
                                            {.title = "used", .right = true},
                                            {.title = "until"},
                                            {.title = "reported", .right = true}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS), .indent = 2};
    size_t i, k;
    json_t *account, *window;
    json_array_foreach((json_t *)(uintptr_t)accounts, i, account) {
        json_array_foreach(json_object_get(account, "windows"), k, window)
            window_row(&table, account, window);
    }
    table_print(&table);
}

static void logins_print(const json_t *account) {
    size_t i;
    json_t *login;
    char at[CLOCK_TEXT];
    json_array_foreach(json_object_get(account, "logins"), i, login) {
        int64_t expires = time_of(login, "expiresAt");
        printf("  %s: ", text_of(login, "agent"));
        text_say(stdout, *text_of(login, "text") ? text_of(login, "text") : "no login was found");
        if (expires)
            printf(", %s %s", expires > clock_now() ? "until" : "expired",
                   clock_format(expires, clock_now(), at));
        printf("\n");
    }
}

static void account_print(const json_t *account) {
    long long mark = number_of(account, "mark");
    int64_t limited = time_of(account, "limitedUntil");
    char at[CLOCK_TEXT];
    text_say(stdout, text_of(account, "account"));
    if (mark)
        printf(", begins nothing from %lld %%", mark);
    if (flag_of(json_object_get(account, "extraUsage"), "allowed"))
        printf(", extra usage is allowed");
    if (limited)
        printf(", at its limit until %s", clock_format(limited, clock_now(), at));
    if (json_array_size(json_object_get(account, "windows")) == 0)
        printf(", its quota is unknown");
    printf("\n");
    logins_print(account);
    extra_print(account);
}

void print_accounts(const struct typed *typed, const json_t *result) {
    const json_t *accounts = json_object_get(result, "accounts");
    size_t i;
    json_t *account;
    (void)typed;
    if (json_array_size(accounts) == 0)
        printf("No agent is configured: overseer init\n");
    json_array_foreach((json_t *)(uintptr_t)accounts, i, account) account_print(account);
    windows_print(accounts);
}
