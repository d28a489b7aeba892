/* SPDX-License-Identifier: Apache-2.0 */
/* What did the person type? */
#pragma once

#include "cli/call.h"
#include "cli/trouble.h"
#include "model/field.h"

struct command;

struct typed {
    const struct command *command; /* NULL: no word was typed, or only a noun */
    const char *noun;              /* then that noun */
    json_t *params;                /* by the name of the flag's row */
    struct door_at at;
    bool as_json, yes, dry_run, watch, help;
    bool socket_given; /* by its flag */
    struct trouble trouble;
};

/* The words behind the program's name. False: typed->trouble says what is wrong. No file is opened. */
bool typed_read(struct typed *typed, int count, char *const *words);
/* Values such as @FILE: their text takes the place. */
bool typed_load(struct typed *typed);
void typed_free(struct typed *typed);

/* A value of the parameters; NULL and false: it was not given. */
const char *typed_text(const struct typed *typed, const char *name);
bool typed_flag(const struct typed *typed, const char *name);

/* The daemon's answer, or NULL with the trouble; the parameters are taken. */
static inline json_t *typed_ask(struct typed *typed, const char *method, json_t *params) {
    json_t *result = daemon_call(&typed->at, method, params, &typed->trouble);
    json_decref(params);
    return result;
}
