/* SPDX-License-Identifier: Apache-2.0 */
/* What does the demo know, and how does it look? Shared by demo.c and demo_draw.c. */
#pragma once

#include "cli/print.h"

enum {
    DEMO_TASKS = 6,
    DEMO_LINES = 200,
    DEMO_LINE = 120,
    DEMO_MOST_SECONDS = 110,
    DEMO_PACE = 400,
    DEMO_LAST_WORDS = 7
};

/* One agent and its task: what it is given, and what it is like. */
struct demo_row {
    const char *agent, *behaviour, *task;
};
extern const struct demo_row DEMO[DEMO_TASKS];

enum demo_state {
    DEMO_QUEUED,
    DEMO_WORKING,
    DEMO_STALLED,
    DEMO_CHECKING,
    DEMO_NEEDS,
    DEMO_DONE,
    DEMO_STATES
};

struct demo_task {
    char agent[32]; /* who has it now */
    enum demo_state state;
    uint32_t nudges, restarts, moves, caught;
    bool told; /* that it is stalled */
};

struct demo_line { /* something that happened */
    int64_t after; /* microseconds since it began */
    uint32_t task; /* from 1; 0: all of them */
    enum tint tint;
    char text[DEMO_LINE];
};

struct demo {
    struct demo_task tasks[DEMO_TASKS];
    struct demo_line lines[DEMO_LINES]; /* the oldest first; what finds no room is left out */
    uint32_t line_count, said;          /* of them, printed where nobody draws */
    int64_t began;
    bool over; /* everything is done */
};

/* Takes one event of the log in. */
void demo_take(struct demo *demo, const json_t *event);
/* The whole screen, over what is there. */
void demo_draw(const struct demo *demo);
/* Where there is no terminal: what happened since, a line each. */
void demo_say(struct demo *demo);
/* The tasks, and what came of them. */
void demo_tell(const struct demo *demo);
