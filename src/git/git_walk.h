/* SPDX-License-Identifier: Apache-2.0 */
/* Walks an agent's worktree and copies its files out (git_walk.c, git_copy.c, git_seen.c).
 *
 * Every file is opened beneath the worktree: no link is followed, no other file system is entered, no open blocks. Git
 * sees only the copies. */
#pragma once

#include "git/git_state.h"

#include <sys/stat.h>

enum {
    GIT_FOLDERS = 200000, /* entered by one walk */
    GIT_DEPTH = 512,      /* of nested folders */
    GIT_PATH_MOST = 3500, /* bytes of a path below the worktree */
    GIT_BATCH = 2000,     /* files copied before git adds them */
    GIT_BATCH_BYTES = 256 << 20,
    GIT_SEEN_BYTES = 256 << 20, /* of the file that stores the last measurement */
    GIT_LIST_OUTPUT = 256 << 20 /* bytes of a list of all files of a commit */
};

enum {
    GIT_MODE_FILE = 0100644,
    GIT_MODE_PROGRAM = 0100755,
    GIT_MODE_LINK = 0120000,
    GIT_MODE_COMMIT = 0160000
};

/* Detects whether a file has changed. */
struct git_stat {
    uint64_t device, inode, size;
    int64_t changed_ns, modified_ns; /* ctime, mtime */
    uint32_t mode;                   /* git's mode; 0: neither a file nor a link */
    bool fits;                       /* readable and not too large */
};

/* One row of an index. */
struct git_index_row {
    struct str path, hash; /* hash: 40 digits */
    uint32_t mode;
    bool there; /* also in the worktree */
};

struct git_index_rows {
    struct git_index_row *at; /* sorted by path */
    uint32_t count;
};

/* One file that belongs in the snapshot. */
struct git_found {
    struct str path;
    struct git_stat stat;
    struct str hash,
        was; /* hashes of its content and of the same path in HEAD when it was added; empty: none */
};

struct git_founds {
    struct git_found *at;
    uint32_t count, room;
};

/* The last measurement: git_seen.c. */
struct git_seen {
    struct git_founds files; /* sorted by path */
    int64_t begun_ns;
    struct hash attributes, history;
};

struct git_walk {
    struct git_call *call;
    int root, copy; /* folders: the worktree, and our private one for copies */
    struct str copy_path;
    uint64_t device;
    struct git_index_rows head;
    const struct str *included;
    uint32_t included_count;

    struct git_founds found;
    uint32_t left_out, new_count, folder_count;
    struct hash attributes; /* of all .gitattributes */
};

/* ---- git_walk.c ---- */

bool git_walk_begin(struct git_walk *walk, struct str tree);
bool git_walk_go(struct git_walk *walk);
void git_walk_end(struct git_walk *walk);
struct git_index_row *git_row_find(const struct git_index_rows *entries, struct str path);
bool git_rows_read(struct git_call *call, struct str text, struct git_index_rows *ret);
/* Opens beneath a folder; -1: errno. */
int git_open_beneath(int folder, struct str path, int flags);
struct git_stat git_stat_of(const struct stat *about);
void git_found_add(struct arena *arena, struct git_founds *founds, struct git_found found);

/* ---- git_copy.c ---- */

enum git_copied { GIT_COPIED, GIT_COPY_GONE, GIT_COPY_ODD, GIT_COPY_FAILED };
/* Copies from the worktree into the private folder; ret: what was seen on the descriptor. */
enum git_copied git_copy(struct git_walk *walk, struct str path, struct git_stat *ret);
bool git_copy_folder(struct git_walk *walk,
                     struct str path); /* creates it empty, with its parents */

/* ---- git_seen.c ---- */

void git_seen_read(struct git_call *call, struct str path, struct git_seen *ret);
bool git_seen_write(struct git_call *call, struct str path, struct git_seen *seen);
const struct git_found *git_seen_find(const struct git_seen *seen, struct str path);
bool git_seen_same(const struct git_seen *seen, const struct git_found *before,
                   const struct git_stat *now);
