/* SPDX-License-Identifier: Apache-2.0 */
/* What do the files of the git port share? A call: one verb under way. Its first failure stays; what is asked of a
 * failed call is not done, so that a verb reads straight down. */
#pragma once

#include "ports/git.h"
#include "ports/git_table.h"

struct git_call {
    const struct git_house *house;
    struct arena *arena;
    struct git_answer answer;
    struct str clone; /* path of our clone */
    struct str name;  /* of the repository: a hash */
    int locks[GIT_LOCKS];
    unsigned lock_count;

    /* for the next commands */
    bool local;              /* the other side is a path */
    struct str tree, index;  /* of GIT_FRESH and GIT_MEASURE */
    struct str input;        /* path of a file; empty: nothing */
    struct str author, mail; /* empty: the house's */
    struct str date;         /* of the author; empty: at_us */
    int64_t at_us;

    /* of the last one */
    struct str out, err;
};

/* ---- running (git_run.c) ---- */

/* Exit status; -1 when the call has failed. */
int git_try(struct git_call *call, enum git_command command, const struct str *args,
            unsigned count);
/* False: the call has failed; also when the command did. */
bool git_do(struct git_call *call, enum git_command command, const struct str *args,
            unsigned count);

#define GIT_ARGS(...) \
    (const struct str[]){__VA_ARGS__}, \
        (unsigned)(sizeof((const struct str[]){__VA_ARGS__}) / sizeof(struct str))

/* The first failure counts. Always false. */
bool git_fail(struct git_call *call, enum git_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool git_fail_errno(struct git_call *call, const char *what, struct str path);
static inline bool git_well(const struct git_call *call) {
    return call->answer.result == GIT_DONE;
}
/* What the last command complained about becomes the failure. */
bool git_fail_command(struct git_call *call, enum git_command command);

/* $1 and $2 of a line. */
struct str git_fill(struct arena *arena, const char *line, const struct str *args, unsigned count);
struct str git_ref(struct git_call *call, enum git_ref ref, struct str one, struct str two);

/* The out of a command that says one line. */
struct str git_line(struct git_call *call);
bool git_is_commit_name(struct str s);

/* ---- a verb begins and ends (git_repo.c) ---- */

void git_begin(struct git_call *call, const struct git_house *house, struct arena *arena);
struct git_answer git_end(struct git_call *call);
bool git_name_check(struct git_call *call, struct str name);
bool git_run_check(struct git_call *call, const struct git_run *run);
bool git_lock_run(struct git_call *call, struct str run);
bool git_lock(struct git_call *call, struct str name);
bool git_low_water(struct git_call *call);
bool git_repo_open(struct git_call *call, const struct git_repo *repo);
bool git_source_is_path(struct str source);
struct str git_path(struct git_call *call, const char *folder, struct str name, const char *suffix);

/* ---- files (git_file.c) ---- */

bool git_folder_make(struct git_call *call, struct str path); /* with what is above it */
bool git_folder_remove(struct git_call *call,
                       struct str path); /* all of it; links are not followed */
bool git_file_write(struct git_call *call, struct str path,
                    struct str text); /* whole or not at all */
bool git_file_read(struct git_call *call, struct str path, size_t cap, struct str *ret);
bool git_exists(struct git_call *call, struct str path);
bool git_move(struct git_call *call, struct str from, struct str to);
/* How many files, and is there a link among them? */
bool git_folder_is_plain(struct git_call *call, struct str path, uint32_t most);
/* Opens `path` below a folder. No link on the way is followed. -1: errno. */
int git_open_below(int folder, struct str path, int flags, bool make);

/* ---- folders of git (git_tree.c) ---- */

struct str git_tree_folder(struct git_call *call, struct str run);
struct str git_tree_path(struct git_call *call, struct str run);

/* .worktreeinclude (git_include.c) */
bool git_include(struct git_call *call, const struct git_repo *repo, struct git_tree *ret);

/* ---- measuring (git_measure.c), for salvage too ---- */

bool git_measure_take(struct git_call *call, const struct git_run *run, struct git_measure *ret);
bool git_changes_read(struct git_call *call, const struct git_run *run, struct git_measure *ret);

/* ---- merging (git_merge.c) ---- */

/* What has to be on top of `target` for the landing. False: a failure, or conflicts. Empty: nothing new. */
bool git_replay(struct git_call *call, const struct git_landing *landing, struct str target,
                struct git_landed *ret, struct str *ret_commit);
