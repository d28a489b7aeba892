/* SPDX-License-Identifier: Apache-2.0 */
/* How is a goal created? */
#include "ops/op.h"

static const struct field PARAMS[] = {
    {"title", FIELD_TEXT, 0, FIELD_OF(op_args, title), LIMIT_TITLE, FIELD_REQUIRED, NULL,
     "what is wanted, in one line"},
    {"command", FIELD_TEXT, 0, FIELD_OF(op_args, command), LIMIT_COMMAND, 0, NULL,
     "a shell command to run for it, at most once; exit status 0 completes the goal"},
    {"key", FIELD_TEXT, 0, FIELD_OF(op_args, key), LIMIT_KEY, 0, NULL,
     "repeating the request with the same key gives the same goal, never a second one"},
};

static void signal(const struct op_args *args, struct signal *ret_signal) {
    ret_signal->kind = SIGNAL_GOAL_CREATE;
    ret_signal->title = args->title;
    ret_signal->command = args->command;
}

const struct op OP_GOAL_CREATE = {
    .name = "goal.create",
    .summary = "Create a goal, and run a command for it if one is given.",
    .help =
        "The answer comes when the goal is stored, and not before: it survives a crash from then on.\n"
        "Example: overseer goal create \"tidy the changelog\" --command \"make changelog\"",
    .kind = OP_WRITES,
    .params = PARAMS,
    .param_count = count_of(PARAMS),
    .positional = 1,
    .signal = signal,
};
