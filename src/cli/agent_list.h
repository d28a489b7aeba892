/* SPDX-License-Identifier: Apache-2.0 */
/* Which agent programs are on this machine? */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { AGENT_NAME = 32, AGENT_KEYS = 4 };

/* A program that people have, and how Overseer is told of it. */
struct agent_known {
    const char *name;    /* as people call it */
    const char *program; /* in PATH */
    const char *kind;    /* row of the drivers' tables */
    const char *driver;  /* empty: as its kind usually is */
    const char *title;
    const char *keys[AGENT_KEYS]; /* variables that it may need, where somebody has set them */
};
extern const struct agent_known AGENTS_KNOWN[];
extern const size_t AGENTS_KNOWN_COUNT;

/* Its program, whole; false: it is not in PATH. */
bool agent_program(const struct agent_known *agent, char path[PATH_MAX]);
/* The first one that is here; false: there is none. */
bool agent_first(char name[AGENT_NAME]);
