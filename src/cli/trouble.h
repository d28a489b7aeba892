/* SPDX-License-Identifier: Apache-2.0 */
/* Reports errors: what went wrong, and what to do next. */
#pragma once

#include "model/error.h"

#include <jansson.h>
#include <stdbool.h>

struct trouble {
    enum error error; /* a row in model/error.c */
    char code[40];    /* as the daemon sent it, in case the daemon is newer than this program */
    int exit;         /* exit status */
    char text[1024];  /* what happened */
    char next[256];   /* what to do; may be empty */
};

/* Always returns false, so that callers can return its result. */
bool trouble_make(struct trouble *trouble, enum error error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void trouble_next(struct trouble *trouble, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints on standard error: a sentence, or with --json an object. Returns the exit status. */
int trouble_tell(const struct trouble *trouble, bool as_json);

/* The meaning of an exit status; NULL: no error has this one. */
const char *exit_meaning(int status);
enum { EXIT_STATUSES = 10, EXIT_TROUBLE = 1, EXIT_USAGE = 2 };
