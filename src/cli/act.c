/* SPDX-License-Identifier: Apache-2.0 */
/* Calls an operation of the daemon and shows its answer. */
#include "cli/command.h"
#include "cli/help.h"
#include "cli/print/print.h"
#include "cli/task.h"

#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

enum { LOOK_AGAIN_SECONDS = 2 };

static bool takes(const struct command *command, const char *name) {
    for (size_t i = 0; command_flag(command, i); i++)
        if (strcmp(command_flag(command, i)->name, name) == 0)
            return true;
    return false;
}

/* G-45: every write has a key, so that it can be sent again when its answer is lost. */
static void key_give(struct typed *typed) {
    uint8_t random[10];
    char key[8 + 2 * sizeof random] = "cli-";
    if (typed->command->op->kind != OP_WRITES || !takes(typed->command, "key") ||
        json_object_get(typed->params, "key") ||
        getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return;
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(key + 4 + 2 * i, 3, "%02x", random[i]);
    json_object_set_new(typed->params, "key", json_string(key));
}

/* Flags that only the command line understands are not sent. */
static void own_drop(struct typed *typed) {
    const struct command *command = typed->command;
    for (size_t i = 0; i < command->flag_count; i++)
        json_object_del(typed->params, command->flags[i].name);
}

static int json_say(json_t *json) {
    json_dumpf(json, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
    printf("\n");
    return 0;
}

static int dry_say(struct typed *typed) {
    json_t *request =
        json_pack("{s:s, s:O}", "method", typed->command->op->name, "params", typed->params);
    json_say(request);
    json_decref(request);
    fprintf(stderr, "Nothing was sent.\n");
    return 0;
}

/* Destructive operations need confirmation; without a terminal the user cannot give it. */
static bool is_agreed(struct typed *typed) {
    const struct command *command = typed->command;
    char question[320];
    if (!command->op->asks_first || typed->yes)
        return true;
    snprintf(question, sizeof question, "%s", command_summary(command));
    size_t length = strlen(question);
    if (length > 0 && question[length - 1] == '.')
        question[length - 1] = 0;
    if (term_can_ask() && person_agrees(question))
        return true;
    trouble_make(&typed->trouble, ERROR_INVALID, "Nothing was done: this needs a confirmation.");
    trouble_next(&typed->trouble, "Confirm with --yes.");
    return false;
}

/* Reports missing parameters here, in the terms of the command line. A run that names no goal means its own goal. */
static bool is_whole(struct typed *typed) {
    const struct command *command = typed->command;
    char value[VALUE_TEXT], name[FLAG_NAME];
    for (size_t i = 0; command_flag(command, i); i++) {
        const struct field *flag = command_flag(command, i);
        bool own = typed->at.token && strcmp(flag->name, "goal") == 0;
        if (!(flag->flags & FIELD_REQUIRED) || own || json_object_get(typed->params, flag->name))
            continue;
        if (i < command_positional(command))
            trouble_make(&typed->trouble, ERROR_INVALID, "%s is missing: %s.",
                         flag_value_shown(flag, true, value), flag->text);
        else
            trouble_make(&typed->trouble, ERROR_INVALID, "--%s is missing: %s.",
                         flag_shown(flag, name), flag->text);
        trouble_next(&typed->trouble, "`overseer help %s` shows its arguments.", command->words);
        return false;
    }
    return true;
}

/* The answer; NULL: typed->trouble says why. */
static json_t *asked(struct typed *typed) {
    json_t *result =
        daemon_call(&typed->at, typed->command->op->name, typed->params, &typed->trouble);
    const char *key = typed_text(typed, "key");
    if (!result && typed->trouble.error == ERROR_STORE_AWAY && key)
        trouble_next(&typed->trouble, "The key was: --key %s", key);
    return result;
}

static void result_show(struct typed *typed, json_t *result) {
    if (typed->as_json)
        json_say(result);
    else
        print_result(typed, result);
}

/* Redraws in place: moves the cursor home and clears everything below it. */
static int watch(struct typed *typed) {
    for (;;) {
        json_t *result = asked(typed);
        if (term_is(stdout) && !typed->as_json)
            printf("\033[H\033[J");
        if (result)
            result_show(typed, result);
        else
            printf("%s\n", typed->trouble.text);
        json_decref(result);
        if (fflush(stdout) != 0)
            return 0; /* the reader of our output is gone */
        sleep(LOOK_AGAIN_SECONDS);
    }
}

int op_run(struct typed *typed) {
    const struct op *op = typed->command->op;
    if (typed->watch && op->kind != OP_READS) {
        trouble_make(&typed->trouble, ERROR_INVALID,
                     "--watch works only with commands that change nothing.");
        return trouble_tell(&typed->trouble, typed->as_json);
    }
    own_drop(typed);
    key_give(typed);
    if (typed->dry_run && op->kind != OP_READS)
        return dry_say(typed);
    if (!is_whole(typed) || !is_agreed(typed))
        return trouble_tell(&typed->trouble, typed->as_json);
    if (!task_goal_settle(typed, "goal"))
        return trouble_tell(&typed->trouble, typed->as_json);
    if (typed->watch)
        return watch(typed);
    json_t *result = asked(typed);
    if (!result)
        return trouble_tell(&typed->trouble, typed->as_json);
    if (op->kind == OP_READS)
        pager_start();
    result_show(typed, result);
    pager_end();
    json_decref(result);
    return 0;
}

/* Prints a JSON answer indented, or any other text unchanged. */
int get_run(struct typed *typed) {
    long status = 0;
    char *text = daemon_get(&typed->at, typed->command->does, &status, &typed->trouble);
    json_t *json = text ? json_loads(text, 0, NULL) : NULL;
    if (!text)
        return trouble_tell(&typed->trouble, typed->as_json);
    if (json)
        json_say(json);
    else
        fputs(text, stdout);
    json_decref(json);
    free(text);
    return status == 200 ? 0 : EXIT_TROUBLE;
}
