/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the agent programs on this machine. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { AGENT_NAME = 32, AGENT_KEYS = 4 };

/* A known agent program, and how it is declared to Overseer. */
struct agent_known {
    const char *name;    /* its common name */
    const char *program; /* in PATH */
    const char *kind;    /* row in the drivers' tables */
    const char *driver;  /* empty: the usual one for its kind */
    const char *title;
    const char *keys[AGENT_KEYS]; /* environment variables that it may need, if they are set */
    const char *url;              /* variable with the URL of its model provider; NULL: none */
};
extern const struct agent_known AGENTS_KNOWN[];
extern const size_t AGENTS_KNOWN_COUNT;

/* The full path of its program; false: it is not in PATH. */
bool agent_program(const struct agent_known *agent, char path[PATH_MAX]);
/* The first agent whose program is in PATH; false: there is none. */
bool agent_first(char name[AGENT_NAME]);
