/* SPDX-License-Identifier: Apache-2.0 */
/* Has one agent of each account work for one turn, by consent: overseer doctor --live. The turn goes the usual way: a task,
 * a worktree, the sandbox, the agent's own login. */
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/run.h"
#include "cli/term.h"

#include <time.h>
#include <unistd.h>

enum { TURN_SECONDS = 180, LOOK_MS = 500, TEXT = 300 };

static const char PROMPT[] =
    "This is a test of your login. Answer with the word ready. Use no tool, change no file.";

/* A line of its log that ends the turn, or NULL. */
static const char *line_of(const json_t *log, const char *kind) {
    size_t i;
    json_t *line;
    json_array_foreach(json_object_get(log, "lines"), i,
                       line) if (strcmp(text_of(line, "kind"), kind) == 0) return text_of(line,
                                                                                          "text");
    return NULL;
}

/* What keeps it from beginning, as `why` says it. */
static void wait_note(struct typed *typed, const char *goal, char why[TEXT]) {
    json_t *shown = typed_ask(typed, "why.show", json_pack("{s:s}", "of", goal));
    snprintf(why, TEXT, "no answer within %d s; it waits for: %s", TURN_SECONDS,
             shown ? text_of(shown, "waitsFor") : "the daemon");
    json_decref(shown);
}

static bool turn_wait(struct typed *typed, const char *goal, char why[TEXT]) {
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
    bool ended = false, failed = false;
    for (int looks = TURN_SECONDS * 1000 / LOOK_MS; looks > 0 && !ended && !failed; looks--) {
        nanosleep(&pause, NULL);
        json_t *log = typed_ask(typed, "work.log", json_pack("{s:s}", "goal", goal));
        const char *text = log ? line_of(log, "failed") : NULL;
        failed = text != NULL;
        ended = !failed && log && line_of(log, "ended");
        if (failed)
            snprintf(why, TEXT, "%s", text);
        json_decref(log);
    }
    if (!ended && !failed)
        wait_note(typed, goal, why);
    return ended;
}

static bool account_try(struct typed *typed, const char *agent, char why[TEXT]) {
    char goal[64] = "", name[TASK_NAME];
    struct task_new task = {.title = "Test of a login",
                            .text = PROMPT,
                            .agent = agent,
                            .criterion = "the agent has answered"};
    bool made = task_make(typed, &task, goal, name);
    bool well = made && turn_wait(typed, goal, why);
    if (!made)
        snprintf(why, TEXT, "%.280s", typed->trouble.text);
    if (*goal)
        json_decref(typed_ask(typed, "goal.cancel",
                              json_pack("{s:s, s:s}", "goal", goal, "reason", "the test is over")));
    return well;
}

static void tried_print(const char *account, bool well, const char *why) {
    tint_on(stdout, well ? TINT_GOOD : TINT_BAD);
    printf("%s", well ? "good" : "bad ");
    tint_off(stdout, well ? TINT_GOOD : TINT_BAD);
    printf("  %s: ", account);
    text_say(stdout, well ? "one turn, with an answer" : why);
    printf("\n");
    if (!well)
        printf(
            "      → log in again (overseer account add), or see: overseer logs, overseer doctor\n");
    fflush(stdout);
}

static bool person_wants(const struct typed *typed, size_t count) {
    char question[160];
    snprintf(question, sizeof question,
             "This has %zu %s work for one turn each, which uses a little of %s quota. Go on?",
             count, count == 1 ? "agent" : "agents", count == 1 ? "its" : "their");
    return typed->yes || person_agrees(question);
}

static int accounts_try(struct typed *typed, const json_t *accounts) {
    bool all = true;
    size_t i;
    json_t *account, *list = json_array();
    json_array_foreach((json_t *)(uintptr_t)accounts, i, account) {
        char why[TEXT] = "";
        const char *agent =
            json_string_value(json_array_get(json_object_get(account, "agents"), 0));
        bool well = account_try(typed, agent, why);
        json_array_append_new(list,
                              json_pack("{s:s, s:b, s:s}", "account", text_of(account, "account"),
                                        "ok", well, "text", why));
        if (!typed->as_json)
            tried_print(text_of(account, "account"), well, why);
        all = all && well;
    }
    if (typed->as_json) {
        json_t *json = json_pack("{s:b, s:O}", "ok", all, "accounts", list);
        json_dumpf(json, stdout, JSON_INDENT(2));
        printf("\n");
        json_decref(json);
    }
    json_decref(list);
    return all ? 0 : EXIT_TROUBLE;
}

int live_run(struct typed *typed) {
    json_t *result = typed_ask(typed, "account.list", json_object());
    const json_t *accounts = json_object_get(result, "accounts");
    int status = 0;
    if (!result)
        status = trouble_tell(&typed->trouble, typed->as_json);
    else if (typed->dry_run)
        printf("One turn with each of %zu accounts would be tried.\n", json_array_size(accounts));
    else if (json_array_size(accounts) == 0) {
        trouble_make(&typed->trouble, ERROR_CONFLICT, "No agent is configured.");
        trouble_next(&typed->trouble, "overseer init");
        status = trouble_tell(&typed->trouble, typed->as_json);
    } else if (!person_wants(typed, json_array_size(accounts))) {
        trouble_make(&typed->trouble, ERROR_CONFLICT, "Nothing was tried: it needs your consent.");
        trouble_next(&typed->trouble, "Answer y, or: overseer doctor --live --yes");
        status = trouble_tell(&typed->trouble, typed->as_json);
    } else
        status = accounts_try(typed, accounts);
    json_decref(result);
    return status;
}
