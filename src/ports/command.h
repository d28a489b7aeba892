/* SPDX-License-Identifier: Apache-2.0 */
/* How is a command of the operator's run, and what came of it? */
#pragma once

#include "model/effect.h"

#include <uv.h>

/* Called once, from the loop. exit: its status; 128 + n when signal n ended it; -1 when it could not be
 * started; -2 when it took too long and was ended; -3 when it was stopped. tail: the end of its output. */
typedef void command_ended(void *with, int64_t exit, struct str tail);

/* Run effect->command with /bin/sh -c in a process group of its own. It learns its effect id and fence from
 * OVERSEER_EFFECT and OVERSEER_FENCE. `ended` is called in any case, perhaps before this returns. */
void command_run(uv_loop_t *loop, const struct effect *effect, uint64_t fence, command_ended *ended,
                 void *with);

/* What it runs in: no word of it is read by a shell. */
struct command_box {
    const struct str *prefix; /* in front of /bin/sh -c COMMAND */
    uint32_t prefix_count;
    struct str cwd;
    const struct str *variables; /* NAME=value: its whole environment, beside OVERSEER_EFFECT */
    uint32_t variable_count;
};

/* The same in a box, with a lock (ports/lockfile.h; -1: none) that it and all that it starts inherit. The command stands in `here`, if
 * that is given, for as long as it runs, and NULL before `ended` is called. What the box has may go once this has returned. */
struct command;
void command_run_boxed(uv_loop_t *loop, const struct effect *effect, const struct command_box *box,
                       int lock, struct command **here, command_ended *ended, void *with);
void command_stop(struct command *command); /* its group is killed; `ended` follows */
