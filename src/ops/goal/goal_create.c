/* SPDX-License-Identifier: Apache-2.0 */
/* Operation that creates a goal. */
#include "ops/account/account.h"
#include "ops/all.h"
#include "ops/repository.h"

static const struct field PARAMS[] = {
    PARAM("title", FIELD_TEXT, title, LIMIT_TITLE, FIELD_REQUIRED,
          "the title: what should be achieved, in one line"),
    PARAM("command", FIELD_TEXT, command, LIMIT_COMMAND, 0,
          "a shell command to run for it, at most once; exit status 0 completes the goal"),
    PARAM_ENUM("priority", priority, &PRIORITY_NAMES, 0, "low, normal, high or urgent"),
    {"tags", FIELD_TEXTS, 0, FIELD_OF(op_args, tags), LIMIT_TAG, 0, NULL, "tags, for searching",
     LIMIT_TAGS, NULL},
    PARAM_REPO,
    PARAM_QUOTA,
    PARAM("agent", FIELD_TEXT, who, LIMIT_AGENT, 0,
          "with quota: the agent whose account is meant; default: the first one"),
    PARAM(
        "key", FIELD_TEXT, key, LIMIT_KEY, 0,
        "repeating the request with the same key returns the same goal and never creates a second one"),
    PARAM_TRACE,
};

static bool signal(struct op_call *call, const struct store_answer *answer, struct signal *ret) {
    const struct op_args *args = &call->args;
    if (!quota_is_kept(call, answer, args->who))
        return false;
    struct tags tags = {args->tags};
    struct str words = shape_encode(&GOAL_TEXT, &args->words, &call->arena);
    ret->kind = SIGNAL_GOAL_CREATE;
    ret->describe.title = args->title;
    ret->describe.command = args->command;
    ret->describe.priority = args->priority;
    ret->describe.quota_mark = args->quota;
    if (!repository_take(call, &ret->describe.repository))
        return false;
    ret->body = words.len > 1
                    ? words
                    : (struct str){0}; /* longer than its version byte: at least one field is set */
    if (args->tags.count > 0)
        ret->describe.tags = shape_encode(&TAGS, &tags, &call->arena);
    return true;
}

const struct op OP_GOAL_CREATE = {
    .name = "goal.create",
    .summary = "Create a goal, and run a command for it if one is given.",
    .help = "The command returns when the goal is stored: from then on it survives a crash.\n"
            "Example: overseer goal create \"tidy the changelog\" --command \"make changelog\"",
    .kind = OP_WRITES,
    .may = MAY_MANAGE,
    OP_PARAMS(PARAMS),
    .positional = 1,
    .words = &GOAL_TEXT,
    .words_offset = offsetof(struct op_args, words),
    .wants_facts = true,
    .wants_repositories = true,
    .request = quota_request,
    .signal = signal,
};
