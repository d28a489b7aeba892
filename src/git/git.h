/* SPDX-License-Identifier: Apache-2.0 */
/* Interface to git: the verbs that Overseer carries out with git, and their results.
 *
 *   operator's repository ─fetch─▶ published ──init + alternates──▶ a run's worktree   (the agent works here)
 *           ▲                         │ alternates                       │
 *           └───push, if unmoved── private ◀──copies, sandboxed fetch────┘
 *
 * Two repositories are ours. *Published*: the operator's branches; runs borrow its objects. *Private*: snapshots,
 * salvage, candidates, an agent's commits; no run sees it.
 *
 * Each verb blocks until it is done, so call it on a worker thread. Each verb is named by a run and can be repeated after a
 * crash at any point, with the same result. Nothing that a repository contains is executed: no hook, filter, helper or
 * submodule (docs/safety.md lists every command, setting and ref). No verb touches anyone's checkout, index or HEAD; a verb
 * moves an operator's branch only if it is where we last saw it, and never while it is checked out. A verb reports what
 * happened; the caller decides what follows. Texts live in the arena that the caller passed in; paths are bytes, not always UTF-8. */
#pragma once

#include "base/arena.h"
#include "base/sha256.h"
#include "base/time.h"

#include <stdatomic.h>

enum {
    GIT_NAME = 64,         /* bytes of a goal's or run's name */
    GIT_FILES = 20000,     /* changed files listed by one measurement */
    GIT_OUTPUT = 16 << 20, /* bytes of output of one command */
    GIT_ERRORS = 2048,     /* bytes of its error output, the last ones */
    GIT_FILE_BYTES =
        64 << 20,        /* bytes of one changed file; larger ones are left out and reported */
    GIT_INCLUDES = 1000, /* files that .worktreeinclude may name */
    GIT_INCLUDE_BYTES = 8 << 20, /* bytes of one of them */
    GIT_INCLUDE_TOTAL = 64 << 20,
    GIT_INCLUDE_RULES = 65536,      /* bytes of .worktreeinclude */
    GIT_TIPS = 1024,                /* branches and stashes of an agent that are salvaged */
    GIT_REFS_TAKEN = 10 * GIT_TIPS, /* refs of an agent's repository; each becomes a file of ours */
    GIT_PARENTS = 32,               /* parents of one commit that holds them together */
    GIT_REPLAYED = 256,             /* commits in one rebase */
    GIT_BLOCKS = 512,               /* runs that hold ports at once */
    GIT_LOCKS = 3,                  /* held by one verb */
};

enum git_result {
    GIT_DONE,
    GIT_CONFLICT, /* the files are listed */
    GIT_MOVED,    /* the branch is not at the expected commit */
    GIT_REFUSED,  /* by us or by the other side; nothing changed */
    GIT_BUSY,     /* another process holds it, or the machine is short of a resource; try again */
    GIT_LOCKED,   /* FAIL-15: a lock file was left behind; the text names it */
    GIT_NO_SPACE, /* G-20: below the low-water mark, or the disk is full */
    GIT_TOO_LONG, /* a command took too long and was killed */
    GIT_TOO_MUCH, /* more than the caps allow */
    GIT_BROKEN,   /* FAIL-11: a repository is damaged */
    GIT_FAILED,
    GIT_RESULTS
};

struct git_answer {
    enum git_result result;
    struct str why;
};

/* Configuration that stays the same for all verbs. */
struct git_context {
    struct str state;       /* our state folder, absolute: clones, worktrees, checkouts, locks */
    struct str program;     /* path of git; empty: the one in /usr/local/bin:/usr/bin:/bin */
    struct str helper;      /* the operator's credential helper for https; empty: none */
    struct str ssh_socket;  /* the operator's SSH_AUTH_SOCK; empty: none */
    struct str name, email; /* of the committer */
    uint64_t low_water;     /* bytes that must be free before anything starts */
    int64_t within_us;      /* limit for one command */
    int64_t wait_us;        /* limit for waiting for a lock */
    int64_t
        total_us; /* limit for the whole verb, locks and commands; 0: only each of them is limited */
    const atomic_bool
        *ends; /* true: the caller has cancelled; running commands are ended. NULL: never */
    /* Put in front of a program that reads an agent's repository: a sandbox that sees $tree and $objects read-only, and
     * otherwise only the system's programs. Those two words stand for paths. None: no agent's repository is read. */
    const struct str *sandbox_prefix;
    uint32_t sandbox_count;
    bool hooks; /* a landing runs the hooks of a repository on this machine */
};

struct git_repo {
    struct str source; /* the operator's repository: an absolute path, or an https or ssh URL */
    struct str remote; /* likewise, where salvage and pull requests go; empty: nowhere */
};

struct git_run {
    struct str goal, run;
    struct str branch; /* of its work, below overseer/; empty: GOAL/RUN */
    struct str base;   /* commit that it started from */
    int64_t at_us;     /* current time: the date of commits */
};

/* ---- our clone ---- */

struct git_clone {
    struct str path;         /* of the published repository, which runs may see */
    struct str private_path; /* of our private repository: snapshots, salvage, candidates */
    struct str branch;       /* the requested one, or the default */
    struct str head;         /* its commit */
};

bool git_source_is_path(struct str source); /* not a URL: no waiting for the network */

/* Returns the path of our clone without taking a lock or contacting the source. Empty: there is none yet. */
struct str git_clone_find(const struct git_context *context, const struct git_repo *repo,
                          struct arena *arena);

/* Creates our clone if there is none, and updates it. Other verbs may work in the clone meanwhile. branch: empty: the
 * default one. */
struct git_answer git_clone_ensure(const struct git_context *context, const struct git_repo *repo,
                                   struct str branch, struct arena *arena, struct git_clone *ret);

/* ---- the worktree of a run ---- */

struct git_tree {
    struct str path, branch;
    uint32_t included,
        skipped; /* files copied by .worktreeinclude; files too large or not regular */
    bool was_there;
};

struct git_answer git_tree_ensure(const struct git_context *context, const struct git_repo *repo,
                                  const struct git_run *run, struct arena *arena,
                                  struct git_tree *ret);

struct git_file {
    struct str path;
    struct str hash; /* of the current content, as git computes it; empty: the file is deleted */
    uint32_t insertions, deletions;
    bool binary;
    bool is_new; /* in a candidate: the target does not have this path */
};

struct git_measure {
    struct str head;     /* the agent's last commit; the base if that cannot be read */
    struct str snapshot; /* commit of the complete current state */
    const struct git_file *files;
    uint32_t file_count;
    uint64_t insertions, deletions;
    uint32_t
        left_out; /* nested repositories, odd or huge files: in the worktree, not in the snapshot */
    bool
        broken; /* FAIL-11: the agent's own git data cannot be read; the files were still measured */
    bool absent; /* there is no sandbox to read its commits in: they exist only in the worktree */
};

/* Leaves the agent's index and HEAD unchanged. */
struct git_answer git_tree_measure(const struct git_context *context, const struct git_repo *repo,
                                   const struct git_run *run, struct arena *arena,
                                   struct git_measure *ret);

/* The same as a diff for people, at most `most` bytes; ret_cut: there is more. */
struct git_answer git_tree_diff(const struct git_context *context, const struct git_repo *repo,
                                const struct git_run *run, size_t most, struct arena *arena,
                                struct git_measure *ret, struct str *ret_text, bool *ret_cut);

/* Tells whether the worktree has exactly the files of this commit. */
struct git_answer git_tree_is_at(const struct git_context *context, const struct git_repo *repo,
                                 const struct git_run *run, struct str commit, struct arena *arena,
                                 bool *ret);

struct git_salvage {
    struct str commit; /* empty: there was nothing to salvage */
    struct str ref;
    bool whole; /* false: something exists only in the worktree, which must not be removed */
};

struct git_answer git_tree_salvage(const struct git_context *context, const struct git_repo *repo,
                                   const struct git_run *run, struct arena *arena,
                                   struct git_salvage *ret);

struct git_sent {
    uint32_t sent, left; /* left: refs that the remote did not accept */
    struct str why;      /* why they were not accepted */
};

/* Pushes the salvage of all runs that the remote does not have yet. Holds no lock of a run. */
struct git_answer git_salvage_send(const struct git_context *context, const struct git_repo *repo,
                                   struct arena *arena, struct git_sent *ret);

/* Salvages first. If the salvage is incomplete, moves the worktree aside instead: ret_kept says where. */
struct git_answer git_tree_remove(const struct git_context *context, const struct git_repo *repo,
                                  const struct git_run *run, struct arena *arena,
                                  struct str *ret_kept);

/* ---- a clean checkout ---- */

/* Checks out exactly that commit in a fresh folder; replaces a checkout of the same name. */
struct git_answer git_checkout_make(const struct git_context *context, const struct git_repo *repo,
                                    struct str name, struct str commit, struct arena *arena,
                                    struct str *ret_path);
/* Hashes the files of these names, in all folders of the commit: path and content. */
struct git_answer git_commit_files(const struct git_context *context, const struct git_repo *repo,
                                   struct str commit, const struct str *names, uint32_t count,
                                   struct arena *arena, struct hash *ret);
struct git_answer git_checkout_remove(const struct git_context *context, struct str name,
                                      struct arena *arena);

/* ---- landing ---- */

enum git_how {
    GIT_AS_BRANCH,       /* the run's branch in the operator's repository */
    GIT_AS_PULL_REQUEST, /* the same branch in the remote; a channel opens the pull request there */
    GIT_REBASED,
    GIT_SQUASHED,
    GIT_FAST_FORWARD
};

/* ---- the candidate: the landing commit, built on the target's tip before it is checked ---- */

struct git_work {
    struct str snapshot; /* commit of everything the run has made (git_measure.snapshot) */
    struct str
        conflict_shown; /* git_candidate.conflict that was reported to the agent; empty: none */
    struct str target;  /* branch, without refs/heads/ */
    enum git_how how;
    struct str message;  /* of a squash; empty: the messages of its commits */
    struct str subject;  /* of a commit that is made here; empty: that of the message */
    struct str trailers; /* its last lines; empty: none */
};

struct git_added {
    struct str commit, subject;
};

struct git_candidate {
    struct str commit; /* empty: the target already contains all of it */
    struct str onto;   /* the target's tip it was built on */
    struct str
        conflict; /* set with GIT_CONFLICT: identifies this conflict; pass it as git_work.conflict_shown later, once it was reported to the agent */
    const struct str *conflicts; /* conflicting files */
    uint32_t conflict_count;
    const struct git_file *files; /* differences between onto and the candidate */
    uint32_t file_count;
    uint64_t insertions, deletions;
    struct hash
        change; /* hash of what people are shown: each path with its content before and after, each commit's subject */
    const struct git_added *added; /* commits onto..commit, oldest first */
    uint32_t added_count;
};

/* The same target tip and the same work give the same commit. GIT_CONFLICT: onto, conflict and conflicts are set.
 * GIT_REFUSED is also returned when the result would differ from the target outside of the run's own change; the path
 * is in `why`. */
struct git_answer git_candidate_make(const struct git_context *context, const struct git_repo *repo,
                                     const struct git_run *run, const struct git_work *work,
                                     struct arena *arena, struct git_candidate *ret);

/* The diff onto..commit for people; if the candidate adds several commits, the diff of each of them as well. At most
 * `most` bytes; ret_cut: there is more. */
struct git_answer git_candidate_diff(const struct git_context *context, const struct git_repo *repo,
                                     const struct git_run *run, struct str commit, struct str onto,
                                     size_t most, struct arena *arena, struct git_candidate *ret,
                                     struct str *ret_text, bool *ret_cut);

/* Makes a commit of the candidate in which the named files and folders are as in `onto`: for checking only, never
 * pushed. Empty *ret_commit: they are already as in `onto`. */
struct git_answer git_candidate_restore(const struct git_context *context,
                                        const struct git_repo *repo, const struct git_run *run,
                                        struct str commit, struct str onto, const struct str *paths,
                                        uint32_t path_count, struct arena *arena,
                                        struct str *ret_commit);

struct git_landing {
    struct str commit; /* a candidate of this run; exactly this commit is pushed */
    struct str
        onto; /* the commit it was built on: the target must be at it; a branch of ours need not */
    struct str target; /* branch, without refs/heads/ */
    enum git_how how;
    bool look; /* only look whether it has landed; if not, return GIT_MOVED and push nothing */
};

struct git_landed {
    struct str commit; /* as it is on the branch */
    struct str ref;    /* ref that has it; after a refusal: the branch that could be used instead */
    struct str onto;   /* where the branch was before */
    bool was_there;    /* it had already landed */
};

/* Makes one attempt. GIT_MOVED: the target is not at `onto`; a new candidate is needed. If this clone does not have the
 * candidate (another host built it), git_land() only looks for it on the branch. */
struct git_answer git_land(const struct git_context *context, const struct git_repo *repo,
                           const struct git_run *run, const struct git_landing *landing,
                           struct arena *arena, struct git_landed *ret);

/* AUTO-20: returns the message without the lines in which a tool advertises itself. */
struct str git_message_strip(struct str message, struct arena *arena);

/* Removes a folder with everything in it, even where an agent took away permissions; follows no link. False: errno says
 * why. */
bool folder_remove(const char *path);

/* ---- ports of a run ---- */

/* Reserves `count` consecutive ports, in blocks that start at first_port; the same run gets the same block again. */
struct git_answer git_ports_hold(const struct git_context *context, struct str run,
                                 uint16_t first_port, uint16_t count, struct arena *arena,
                                 uint16_t *ret_port);
struct git_answer git_ports_free(const struct git_context *context, struct str run,
                                 struct arena *arena);
