/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the git module. A call is one verb in progress. Its first failure stays; a failed call ignores
 * further requests, so that a verb needs no error handling at each step. */
#pragma once

#include "git/git.h"
#include "git/git_table.h"

struct writer;

struct git_call {
    const struct git_context *context;
    struct arena *arena;
    struct git_answer answer;
    struct str clone;         /* path of the published repository */
    struct str private_clone; /* path of our private repository, which borrows from it */
    struct str name;          /* of the repository: a hash */
    int64_t
        until_ms; /* on git_now_ms(): when the verb has to end; INT64_MAX: no limit of its own */
    int locks[GIT_LOCKS];
    unsigned lock_count;

    /* for the next commands */
    bool local;              /* the other side is a path */
    struct str tree, index;  /* for GIT_FRESH, GIT_MEASURE and GIT_INDEX */
    struct str boxed_tree;   /* worktree whose repository is read in the sandbox; empty: none */
    size_t output_most;      /* bytes; 0: GIT_OUTPUT */
    struct str input;        /* path of a file; empty: nothing */
    struct str author, mail; /* empty: those of the context */
    struct str date;         /* of the author; empty: at_us */
    int64_t at_us;

    /* of the last command */
    struct str out, err;
};

/* ---- running commands (git_run.c) ---- */

/* Returns the exit status; -1 if the call has failed. */
int git_try(struct git_call *call, enum git_command command, const struct str *args,
            unsigned count);
/* False: the call has failed; a failed command fails the call. */
bool git_do(struct git_call *call, enum git_command command, const struct str *args,
            unsigned count);

#define GIT_ARGS(...) \
    (const struct str[]){__VA_ARGS__}, \
        (unsigned)(sizeof((const struct str[]){__VA_ARGS__}) / sizeof(struct str))

/* Only the first failure is kept. Always returns false. */
bool git_fail(struct git_call *call, enum git_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool git_fail_errno(struct git_call *call, const char *what, struct str path);
static inline bool git_well(const struct git_call *call) {
    return call->answer.result == GIT_DONE;
}
/* Turns the error output of the last command into the failure. */
bool git_fail_command(struct git_call *call, enum git_command command);

/* Replaces $1 to $9 of a line. */
struct str git_fill(struct arena *arena, const char *line, const struct str *args, unsigned count);
struct str git_ref(struct git_call *call, enum git_ref ref, struct str one, struct str two);
struct str git_branch(struct git_call *call, const struct git_run *run); /* the run's, as a ref */

int64_t git_now_ms(void);
/* True: the caller has cancelled, or the time is over. */
bool git_is_over(const struct git_call *call);

/* The output of a command that prints one line. */
struct str git_line(struct git_call *call);
bool git_is_commit_name(struct str s);
bool git_commit_known(struct git_call *call, struct str commit); /* our clone has it */
struct str git_field_next(struct str *left); /* takes the next text that ends in NUL */
struct str git_cut_at_line(struct str text, size_t most,
                           bool *ret_cut); /* whole lines, if there are any */

/* ---- a verb begins and ends (git_repo.c) ---- */

void git_begin(struct git_call *call, const struct git_context *context, struct arena *arena);
struct git_answer git_end(struct git_call *call);
bool git_name_check(struct git_call *call, struct str name);
bool git_run_check(struct git_call *call, const struct git_run *run);
bool git_lock_run(struct git_call *call, struct str run);
/* For looking at the run's target over the network: take it before git_lock_run(), never after it. */
bool git_lock_target(struct git_call *call, struct str run);
bool git_lock(struct git_call *call, struct str name);
bool git_low_water(struct git_call *call);
bool git_repo_open(struct git_call *call, const struct git_repo *repo);
/* Checks that the other side answers, accepts our login and lists its branches, within the time limit of that table
 * row. True at once for a path. Called before each fetch or push over the network: low-speed limits do not end a
 * handshake that hangs. */
bool git_remote_reach(struct git_call *call, struct str where);
struct str git_path(struct git_call *call, const char *folder, struct str name, const char *suffix);

/* ---- files (git_file.c) ---- */

bool git_folder_make(struct git_call *call, struct str path); /* with its parent folders */
bool git_folder_remove(struct git_call *call,
                       struct str path); /* recursively; does not follow links */
bool git_file_write(struct git_call *call, struct str path, struct str text);
/* Writes a file for one command to read, under the run's lock: the name is fixed, and the next command overwrites it. */
bool git_scratch_write(struct git_call *call, struct str path,
                       struct str text); /* only git_file_write() writes all or nothing */
bool git_file_read(struct git_call *call, struct str path, size_t cap, struct str *ret);
bool git_exists(struct git_call *call, struct str path);
bool git_move(struct git_call *call, struct str from, struct str to);
/* Opens `path` below a folder. No link on the way is followed. -1: errno. */
int git_open_below(int folder, struct str path, int flags, bool make);

/* ---- worktree folders (git_tree.c) ---- */

struct str git_tree_folder(struct git_call *call, struct str run);
struct str git_tree_path(struct git_call *call, struct str run);

/* Makes a commit of ours visible to the run of that name. */
bool git_publish(struct git_call *call, struct str commit, struct str name);

/* .worktreeinclude (git_include.c) */
bool git_include(struct git_call *call, const struct git_repo *repo, struct git_tree *ret);

/* ---- measuring (git_measure.c), for salvage too ---- */

bool git_measure_take(struct git_call *call, const struct git_run *run, struct git_measure *ret);
bool git_changes_read(struct git_call *call, const struct git_run *run, struct git_measure *ret);
/* For a worktree that was just made: its content is known. */
bool git_seen_begin(struct git_call *call, struct str folder, struct str tree, struct str base);

/* ---- merging (git_merge.c) ---- */

struct git_tree_entry {
    struct str mode, hash;
};

struct git_change {
    struct str path;
    struct git_tree_entry before, after;
};

struct git_changes {
    struct git_change *list; /* sorted by path */
    uint32_t count;
};

struct git_merged {
    struct str tree; /* empty: there are conflicts */
    struct git_changes
        taken; /* where the result differs from ours; conflicting files are not included */
    struct str *conflicts; /* conflicting files */
    uint32_t conflict_count;
};

/* Lists how one tree differs from another. */
bool git_changes(struct git_call *call, struct str from, struct str to, struct git_changes *ret);
const struct git_change *git_change_find(const struct git_changes *changes, struct str path);
bool git_entry_is_gone(struct git_tree_entry entry);
bool git_entry_equal(struct git_tree_entry a, struct git_tree_entry b);

/* Starts an index for trees, in a separate file; under the run's lock. */
bool git_index_begin(struct git_call *call, const struct git_run *run);
bool git_index_end(struct git_call *call, const struct git_run *run);
void git_entry_write(struct writer *writer, struct str path, struct git_tree_entry entry);
/* Writes the tree `from` with these entries replaced; empty `from`: a tree of these entries only. */
bool git_tree_write(struct git_call *call, const struct git_run *run, struct str from,
                    const struct writer *entries, struct str *ret_tree);
bool git_tree_of(struct git_call *call, struct str commit, struct str *ret);

/* Conflicts are not a failure. Call between git_index_begin and git_index_end. */
bool git_merge_trees(struct git_call *call, const struct git_run *run, struct str base,
                     struct str ours, struct str theirs, struct git_merged *ret);
/* Fails with the first path at which `tree` differs from `target` although `theirs` does not differ from `base`. */
bool git_merge_is_own(struct git_call *call, struct str base, struct str theirs, struct str target,
                      struct str tree);

/* ---- commits of a candidate (git_commits.c) ---- */

bool git_commits_make(struct git_call *call, const struct git_run *run, const struct git_work *work,
                      struct str target, struct str tree, struct str *ret);

/* ---- candidates (git_candidate.c), for landing too ---- */

/* 1: this clone has it as a candidate of this run; 0: another host may have built it; -1: the call failed. */
int git_candidate_is_here(struct git_call *call, const struct git_run *run, struct str commit);
/* Checks that it is a candidate of this run and on top of `onto`. */
bool git_candidate_check(struct git_call *call, const struct git_run *run, struct str commit,
                         struct str onto);
