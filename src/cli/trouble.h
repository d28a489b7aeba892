/* SPDX-License-Identifier: Apache-2.0 */
/* What went wrong, and what does one do next? */
#pragma once

#include "model/error.h"

#include <jansson.h>
#include <stdbool.h>

struct trouble {
    enum error error; /* of a row in model/error.c */
    char code[40];    /* as the daemon gave it, should it be newer than this program */
    int exit;         /* status to end with */
    char text[1024];  /* what happened */
    char next[256];   /* what to do; may be empty */
};

/* False, always: so that it can be returned. */
bool trouble_make(struct trouble *trouble, enum error error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void trouble_next(struct trouble *trouble, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* On standard error: a sentence, or with --json an object. The status to end with. */
int trouble_tell(const struct trouble *trouble, bool as_json);

/* What the exit statuses mean: NULL where nothing has this one. */
const char *exit_meaning(int status);
enum { EXIT_STATUSES = 10, EXIT_TROUBLE = 1, EXIT_USAGE = 2 };
