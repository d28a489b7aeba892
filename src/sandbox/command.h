/* SPDX-License-Identifier: Apache-2.0 */
/* Runs an operator's command and reports its result. */
#pragma once

#include "model/effect.h"

#include <uv.h>

/* Called once, from the loop. exit: its status; 128 + n when signal n ended it; -1 when it could not be
 * started; -2 when it took too long and was ended; -3 when it was stopped. tail: the end of its output. */
typedef void command_ended(void *with, int64_t exit, struct str tail);

/* Runs effect->command with /bin/sh -c in its own process group. The command gets its effect id and fence in
 * OVERSEER_EFFECT and OVERSEER_FENCE. `ended` is called in any case, perhaps before this returns. */
void command_run(uv_loop_t *loop, const struct effect *effect, uint64_t fence, command_ended *ended,
                 void *with);

/* What the command runs in: no shell interprets any word of it. */
struct command_box {
    const struct str *prefix; /* before /bin/sh -c COMMAND */
    uint32_t prefix_count;
    struct str cwd;
    const struct str *variables; /* NAME=value: its whole environment, besides OVERSEER_EFFECT */
    uint32_t variable_count;
};

/* The same in a box, with a lock (sandbox/lockfile.h; -1: none) that the command and everything it starts inherit.
 * `here`, if given, points to the command for as long as it runs, and is NULL before `ended` is called. The contents of
 * the box may be freed once this has returned. */
struct command;
void command_run_boxed(uv_loop_t *loop, const struct effect *effect, const struct command_box *box,
                       int lock, struct command **here, command_ended *ended, void *with);
void command_stop(struct command *command); /* kills its process group; `ended` follows */
