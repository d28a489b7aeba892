/* SPDX-License-Identifier: Apache-2.0 */
/* Parses what the user typed. */
#pragma once

#include "cli/call.h"
#include "cli/trouble.h"
#include "model/field.h"

struct command;

struct typed {
    const struct command *command; /* NULL: no word was typed, or only a noun */
    const char *noun;              /* in that case, the noun */
    json_t *params;                /* keyed by the name of the flag's row */
    json_t *also;                  /* further names after the first: the command runs for each */
    struct daemon_address at;
    bool as_json, yes, dry_run, watch, help;
    bool socket_given; /* with its flag */
    struct trouble trouble;
};

/* Parses the words after the program's name. False: typed->trouble says what is wrong. Opens no file except that of a
 * token. */
bool typed_read(struct typed *typed, int count, char *const *words);
/* Replaces values such as @FILE by the text of the file. */
bool typed_load(struct typed *typed);
void typed_free(struct typed *typed);

/* "-f" of --file; NULL: the flag has none. `command` is NULL for a flag of every command. */
const char *flag_short(const struct command *command, const char *name);

/* The value of a parameter; NULL or false: it was not given. */
const char *typed_text(const struct typed *typed, const char *name);
bool typed_flag(const struct typed *typed, const char *name);

/* With --dry-run: shows what would be done, as JSON with --json, and returns the exit status. */
int typed_would(const struct typed *typed, const char *what);
int typed_would_run(const struct typed *typed, char *const *words);

/* The daemon's answer; NULL: typed->trouble says why. Takes ownership of the parameters. */
static inline json_t *typed_ask(struct typed *typed, const char *method, json_t *params) {
    json_t *result = daemon_call(&typed->at, method, params, &typed->trouble);
    json_decref(params);
    return result;
}
