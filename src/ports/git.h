/* SPDX-License-Identifier: Apache-2.0 */
/* What can be done with git, and what came of it?
 *
 *   person's repository ──fetch──▶ published ──init + alternates──▶ a run's worktree   (the agent works here)
 *           ▲                         │ alternates                       │
 *           └───push, if unmoved── private ◀──copies, sandboxed fetch────┘
 *
 * Two repositories are ours. *Published*: the operator's branches, which runs borrow objects from. *Private*: snapshots,
 * salvage, candidates, an agent's commits; no run sees it.
 *
 * Each verb waits until it is over: it belongs on a worker thread. Each is named by a run and can be asked again after a
 * crash at any point, with the same result. Nothing that a repository brings along is run: no hook, filter, helper or
 * submodule (docs/safety.md has every command, setting and ref). Nobody's checkout, index or HEAD is touched; a branch of
 * a person's moves only if it is where we saw it, and never while it is checked out. A verb says what happened; what
 * follows from that is not decided here. Texts live in the arena that was handed in; paths are bytes, not always UTF-8. */
#pragma once

#include "base/arena.h"
#include "base/sha256.h"
#include "base/time.h"

#include <stdatomic.h>

enum {
    GIT_NAME = 64,               /* bytes of the name of a goal or a run */
    GIT_FILES = 20000,           /* changed files that one measurement lists */
    GIT_OUTPUT = 16 << 20,       /* bytes that one command may say */
    GIT_ERRORS = 2048,           /* of what it complains about, the last ones */
    GIT_FILE_BYTES = 64 << 20,   /* of one changed file; a larger one is left out, and said so */
    GIT_INCLUDES = 1000,         /* files that .worktreeinclude may name */
    GIT_INCLUDE_BYTES = 8 << 20, /* of one of them */
    GIT_INCLUDE_TOTAL = 64 << 20,
    GIT_INCLUDE_RULES = 65536,      /* bytes of .worktreeinclude */
    GIT_TIPS = 1024,                /* branches and stashes of an agent that are salvaged */
    GIT_REFS_TAKEN = 10 * GIT_TIPS, /* of an agent's repository; each becomes a file of ours */
    GIT_PARENTS = 32,               /* of one commit that holds them together */
    GIT_REPLAYED = 256,             /* commits in one rebase */
    GIT_BLOCKS = 512,               /* runs that hold ports at once */
    GIT_LOCKS = 3,                  /* that one verb holds */
};

enum git_result {
    GIT_DONE,
    GIT_CONFLICT, /* the files are listed */
    GIT_MOVED,    /* the branch is not where it has to be */
    GIT_REFUSED,  /* by us or by the other side; nothing was changed */
    GIT_BUSY,     /* somebody else holds it, or the machine is short of something; ask again */
    GIT_LOCKED,   /* FAIL-15: a lock file was left behind; which one is in the text */
    GIT_NO_SPACE, /* G-20: below the low-water mark, or the disk is full */
    GIT_TOO_LONG, /* a command took too long and was ended */
    GIT_TOO_MUCH, /* more than the caps allow */
    GIT_BROKEN,   /* FAIL-11: a repository is damaged */
    GIT_FAILED,
    GIT_RESULTS
};

struct git_answer {
    enum git_result result;
    struct str why;
};

/* What does not change from verb to verb. */
struct git_house {
    struct str state;       /* our folder: absolute; clones, worktrees, checkouts, locks */
    struct str program;     /* git; empty: the one in /usr/local/bin:/usr/bin:/bin */
    struct str helper;      /* of the operator: who knows passwords for https. Empty: nobody */
    struct str ssh_socket;  /* SSH_AUTH_SOCK of the operator; empty: none */
    struct str name, email; /* of who commits */
    uint64_t low_water;     /* bytes that have to be free before anything begins */
    int64_t within_us;      /* for one command */
    int64_t wait_us;        /* for a lock */
    int64_t total_us; /* for the whole verb, locks and commands; 0: only each of them is bounded */
    const atomic_bool
        *ends; /* true: the caller does not want it any more; what runs is ended. NULL: never */
    /* In front of a program that reads an agent's repository: a sandbox that sees $tree and $objects, read-only, and
     * otherwise the system's programs alone. Those two words stand for paths. None: no agent's repository is read. */
    const struct str *sandbox_prefix;
    uint32_t sandbox_count;
    bool hooks; /* a landing runs the hooks of a repository on this machine */
};

struct git_repo {
    struct str source; /* the operator's: an absolute path, or an https or ssh URL */
    struct str remote; /* the same, where salvage and pull requests go; empty: nowhere */
};

struct git_run {
    struct str goal, run;
    struct str base; /* commit that it began with */
    int64_t at_us;   /* now: the date of commits */
};

/* ---- our clone ---- */

struct git_clone {
    struct str path;         /* of the published repository: what runs may see */
    struct str private_path; /* of ours: snapshots, salvage, candidates */
    struct str branch;       /* that was asked for, or the default one */
    struct str head;         /* its commit */
};

bool git_source_is_path(struct str source); /* not a URL: nothing of the network is waited for */

/* The path of our clone, without a lock and without the source. Empty: there is none yet. */
struct str git_clone_find(const struct git_house *house, const struct git_repo *repo,
                          struct arena *arena);

/* Makes our clone if there is none, and brings it up to date. Others work in the clone meanwhile. branch: empty: the default one. */
struct git_answer git_clone_ensure(const struct git_house *house, const struct git_repo *repo,
                                   struct str branch, struct arena *arena, struct git_clone *ret);

/* ---- the worktree of a run ---- */

struct git_tree {
    struct str path, branch;
    uint32_t included,
        skipped; /* files by .worktreeinclude; those that were too large, or not plain */
    bool was_there;
};

struct git_answer git_tree_ensure(const struct git_house *house, const struct git_repo *repo,
                                  const struct git_run *run, struct arena *arena,
                                  struct git_tree *ret);

struct git_file {
    struct str path;
    struct str hash; /* of the content now, as git counts it; empty: it is gone */
    uint32_t insertions, deletions;
    bool binary;
    bool is_new; /* of a candidate: the target does not have this path */
};

struct git_measure {
    struct str head;     /* what the agent committed last; the base if that cannot be read */
    struct str snapshot; /* commit of everything as it is now */
    const struct git_file *files;
    uint32_t file_count;
    uint64_t insertions, deletions;
    uint32_t
        left_out; /* nested repositories, odd or huge files: in the worktree, not in the snapshot */
    bool
        broken; /* FAIL-11: the agent's own git data cannot be read; files were measured all the same */
    bool absent; /* there is no sandbox to read its commits in: they are in the worktree only */
};

/* The agent's index and HEAD stay as they are. */
struct git_answer git_tree_measure(const struct git_house *house, const struct git_repo *repo,
                                   const struct git_run *run, struct arena *arena,
                                   struct git_measure *ret);

/* The same as a person reads it, at most `most` bytes of it; ret_cut: there is more. */
struct git_answer git_tree_diff(const struct git_house *house, const struct git_repo *repo,
                                const struct git_run *run, size_t most, struct arena *arena,
                                struct git_measure *ret, struct str *ret_text, bool *ret_cut);

/* Has the worktree the files of this commit? */
struct git_answer git_tree_is_at(const struct git_house *house, const struct git_repo *repo,
                                 const struct git_run *run, struct str commit, struct arena *arena,
                                 bool *ret);

struct git_salvage {
    struct str commit; /* empty: there was nothing */
    struct str ref;
    bool whole; /* false: something is in the worktree only; it must not be removed */
};

struct git_answer git_tree_salvage(const struct git_house *house, const struct git_repo *repo,
                                   const struct git_run *run, struct arena *arena,
                                   struct git_salvage *ret);

struct git_sent {
    uint32_t sent, left; /* left: that the remote did not take */
    struct str why;      /* not */
};

/* Salvage that the remote does not have yet is pushed there, of every run at once. Holds no lock of a run. */
struct git_answer git_salvage_send(const struct git_house *house, const struct git_repo *repo,
                                   struct arena *arena, struct git_sent *ret);

/* Salvages first. What could not be salvaged whole is moved aside instead: ret_kept says where. */
struct git_answer git_tree_remove(const struct git_house *house, const struct git_repo *repo,
                                  const struct git_run *run, struct arena *arena,
                                  struct str *ret_kept);

/* ---- a clean checkout ---- */

/* Exactly that commit, in a fresh folder; one of the same name is replaced. */
struct git_answer git_checkout_make(const struct git_house *house, const struct git_repo *repo,
                                    struct str name, struct str commit, struct arena *arena,
                                    struct str *ret_path);
struct git_answer git_checkout_remove(const struct git_house *house, struct str name,
                                      struct arena *arena);

/* ---- landing ---- */

enum git_how {
    GIT_AS_BRANCH,       /* overseer/GOAL/RUN in the operator's repository */
    GIT_AS_PULL_REQUEST, /* the same in the remote; whoever opens it there is another port */
    GIT_REBASED,
    GIT_SQUASHED,
    GIT_FAST_FORWARD
};

/* ---- the candidate: the landing commit, built on the target's tip before it is checked ---- */

struct git_work {
    struct str snapshot; /* commit of everything that the run has made (git_measure.snapshot) */
    struct str told;     /* git_candidate.conflict that the agent was told of; empty: none */
    struct str target;   /* branch, without refs/heads/ */
    enum git_how how;
    struct str message; /* of a squash; empty: those of its commits */
};

struct git_added {
    struct str commit, subject;
};

struct git_candidate {
    struct str commit; /* empty: the target has all of it already */
    struct str onto;   /* the target's tip that it was built on */
    struct str
        conflict; /* with GIT_CONFLICT: names this conflict; git_work.told of later calls, once the agent was told */
    const struct str *conflicts; /* files */
    uint32_t conflict_count;
    const struct git_file *files; /* candidate against onto */
    uint32_t file_count;
    uint64_t insertions, deletions;
    struct hash
        change; /* of what a person is shown: each path with its content before and after, each commit's subject */
    const struct git_added *added; /* commits onto..commit, oldest first */
    uint32_t added_count;
};

/* Same target tip and same work: same commit. GIT_CONFLICT: onto, conflict and conflicts are set. GIT_REFUSED: also
 * when the result would differ from the target outside of the run's own change; the path is in `why`. */
struct git_answer git_candidate_make(const struct git_house *house, const struct git_repo *repo,
                                     const struct git_run *run, const struct git_work *work,
                                     struct arena *arena, struct git_candidate *ret);

/* As a person reads it: onto..commit; where it adds several commits, each of them as well. At most `most` bytes;
 * ret_cut: there is more. */
struct git_answer git_candidate_diff(const struct git_house *house, const struct git_repo *repo,
                                     const struct git_run *run, struct str commit, struct str onto,
                                     size_t most, struct arena *arena, struct git_candidate *ret,
                                     struct str *ret_text, bool *ret_cut);

/* The candidate with the named files and folders as they are in `onto`: only for checking, never pushed.
 * Empty *ret_commit: they are as in `onto` already. */
struct git_answer git_candidate_restore(const struct git_house *house, const struct git_repo *repo,
                                        const struct git_run *run, struct str commit,
                                        struct str onto, const struct str *paths,
                                        uint32_t path_count, struct arena *arena,
                                        struct str *ret_commit);

struct git_landing {
    struct str commit; /* a candidate of this run: exactly this one is pushed */
    struct str
        onto; /* what it was built on: the target has to be there; a branch of ours need not */
    struct str target; /* branch, without refs/heads/ */
    enum git_how how;
    bool look; /* only: has it landed? Otherwise GIT_MOVED, and nothing is pushed */
};

struct git_landed {
    struct str commit; /* as it is on the branch */
    struct str ref;    /* that has it; after a refusal: the branch that could be used instead */
    struct str onto;   /* what the branch was at */
    bool was_there;    /* it had landed before */
};

/* One try. GIT_MOVED: the target is not at `onto`; a new candidate is needed. A candidate that this clone does not have (another host built
 * it) is only looked for on the branch. */
struct git_answer git_land(const struct git_house *house, const struct git_repo *repo,
                           const struct git_run *run, const struct git_landing *landing,
                           struct arena *arena, struct git_landed *ret);

/* AUTO-20: a message without the lines in which a program praises itself. */
struct str git_message_strip(struct str message, struct arena *arena);

/* A folder with everything in it, whatever an agent has closed; no link is followed. False: errno says why. */
bool folder_remove(const char *path);

/* ---- ports of a run ---- */

/* `count` ports in a row from first_port on, in blocks; the same again for the same run. */
struct git_answer git_ports_hold(const struct git_house *house, struct str run, uint16_t first_port,
                                 uint16_t count, struct arena *arena, uint16_t *ret_port);
struct git_answer git_ports_free(const struct git_house *house, struct str run,
                                 struct arena *arena);
