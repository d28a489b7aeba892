/* SPDX-License-Identifier: Apache-2.0 */
/* State and display of the demo, shared by demo.c and demo_draw.c. */
#pragma once

#include "cli/print/print.h"

enum {
    DEMO_TASKS = 6,
    DEMO_LINES = 200,
    DEMO_LINE = 120,
    DEMO_MOST_SECONDS = 110,
    DEMO_PACE = 400,
    DEMO_LAST_WORDS = 7
};

/* One agent and its task: what the task is, and how the agent behaves. */
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
    char agent[32]; /* its current agent */
    enum demo_state state;
    uint32_t nudges, restarts, moves, caught;
    bool warned; /* already reported as stalled */
};

struct demo_line { /* one thing that happened */
    int64_t after; /* microseconds since the demo began */
    uint32_t task; /* from 1; 0: all of them */
    enum tint tint;
    char text[DEMO_LINE];
};

struct demo {
    struct demo_task tasks[DEMO_TASKS];
    struct demo_line lines[DEMO_LINES]; /* oldest first; lines that do not fit are dropped */
    uint32_t line_count,
        printed; /* number of lines, and how many were printed when nothing is drawn */
    int64_t began;
    bool over; /* all tasks are done */
};

/* Applies one event of the log. */
void demo_take(struct demo *demo, const json_t *event);
/* Draws the whole screen over the old one. */
void demo_draw(const struct demo *demo);
/* Without a terminal: prints what happened since the last call, one line each. */
void demo_say(struct demo *demo);
/* Prints the tasks and their results. */
void demo_tell(const struct demo *demo);
