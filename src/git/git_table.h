/* SPDX-License-Identifier: Apache-2.0 */
/* Table of all git commands, settings and refs that Overseer uses; docs/safety.md shows them.
 *
 * A line is split at its spaces. $1 to $9 stand for the caller's arguments, $* for the remaining ones. $upload,
 * $receive and $lands (with the operator's hooks, if context->hooks) say how the other side of a local path is run, and
 * expand to nothing for a URL; $boxed says how an agent's repository is read, in a sandbox. */
#pragma once

#include "base/time.h"

enum git_place {
    GIT_NOWHERE,   /* in no repository */
    GIT_OURS,      /* in our private repository, which borrows from the published one */
    GIT_PUBLISHED, /* in the published repository */
    GIT_MEASURE, /* in our private repository, with an index of our own and copies of a run's files */
    GIT_FRESH,   /* in a folder that we have just created and that no other process has seen */
    GIT_PERSONS, /* in the operator's repository: read-only */
    GIT_INDEX    /* in our private repository, with an index of our own and no files */
};

enum git_command {
    GIT_LIST_REMOTE,
    GIT_INIT_CLONE,
    GIT_FETCH_SOURCE,
    GIT_FETCH_TARGET,
    GIT_PUBLISH,
    GIT_LIST_RUN,
    GIT_FETCH_RUN,
    GIT_FETCH_CHECKOUT,
    GIT_INIT_TREE,
    GIT_SET_FRESH,
    GIT_SET_FRESH_HEAD,
    GIT_FILL,
    GIT_LIST_INCLUDED,
    GIT_LIST_IGNORED,
    GIT_READ_TREE,
    GIT_LIST_INDEX,
    GIT_LIST_NOT_WORK,
    GIT_ADD,
    GIT_ADD_KNOWN,
    GIT_DROP,
    GIT_WRITE_TREE,
    GIT_COMMIT,
    GIT_RESOLVE,
    GIT_RESOLVE_PUBLISHED,
    GIT_SET_REF,
    GIT_CHANGE_REFS,
    GIT_CHANGE_PUBLISHED,
    GIT_LIST_NAMES,
    GIT_LIST_PUBLISHED,
    GIT_LIST_OLD,
    GIT_LIST_TIPS,
    GIT_COMPARE,
    GIT_COMPARE_RAW,
    GIT_DIFF,
    GIT_WORKTREES,
    GIT_CHECK_NAME,
    GIT_CONTAINS,
    GIT_BASE,
    GIT_LIST_COMMITS,
    GIT_SHOW_COMMIT,
    GIT_SHOW_DATE,
    GIT_LIST_ADDED,
    GIT_SHOW_ADDED,
    GIT_LOG,
    GIT_INDEX_READ,
    GIT_INDEX_SET,
    GIT_INDEX_WRITE,
    GIT_MERGE,
    GIT_PUSH_IF,
    GIT_PUSH_SALVAGE,
    GIT_REACH_REMOTE,
    GIT_LIST_REFS,
    GIT_LIST_TREE,
    GIT_COMMANDS
};

struct git_row {
    const char *line;
    enum git_place place;
    const char *why;
};

extern const struct git_row GIT_ROWS[GIT_COMMANDS];

int64_t git_command_within_us(enum git_command command); /* 0: git_context.within_us applies */

struct git_setting {
    const char *name, *value, *why;
};

/* Apply to every command and override whatever a repository sets. */
extern const struct git_setting GIT_SETTINGS[];
extern const unsigned GIT_SETTING_COUNT;

/* The same settings for the other side of a local path, which does not inherit them. */
extern const char GIT_UPLOAD[], GIT_RECEIVE[], GIT_RECEIVE_HOOKED[];

/* The words of the sandbox and of the program in it are environment variables, GIT_BOXED_NAME and a number: no path
 * ever becomes part of shell text. */
extern const char GIT_BOXED[], GIT_BOXED_NAME[];
enum { GIT_BOXED_WORDS = 64 };

/* The arguments of the program in the sandbox, before the repository's path. */
extern const char *const GIT_BOXED_PROGRAM[];
extern const unsigned GIT_BOXED_PROGRAM_COUNT;

/* The whole environment of a command, apart from what the context and the verb add. */
extern const struct git_setting GIT_ENVIRONMENT[];
extern const unsigned GIT_ENVIRONMENT_COUNT;

enum git_ref {
    GIT_REF_SOURCE,
    GIT_REF_RUN,
    GIT_REF_SNAPSHOT,
    GIT_REF_SALVAGE,
    GIT_REF_TARGET,
    GIT_REF_LANDING,
    GIT_REF_CANDIDATE,
    GIT_REF_KEPT,
    GIT_REF_CONFLICT,
    GIT_REF_BRANCH,
    GIT_REF_FRESH_BASE,
    GIT_REF_SENT,
    GIT_REF_HANDED,
    GIT_REFS
};

/* $1 and $2 stand for arguments, as above. */
struct git_ref_row {
    const char *name, *where, *why;
};

extern const struct git_ref_row GIT_REF_ROWS[GIT_REFS];
