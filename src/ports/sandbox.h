/* SPDX-License-Identifier: Apache-2.0 */
/* What can a run reach? Its worktree and its HOME to write, the system to read, and nothing of Overseer but its own door.
 *
 *   bubblewrap: a view of the files of its own, its own processes, its own /tmp, its own network if it is to have none
 *     └─ overseer-hold --confine: Landlock and limits
 *          └─ the agent
 *
 * Where bubblewrap cannot be used, Landlock alone lets it see everything but what is hidden. It does not stop a program from
 * speaking to sockets that it knows by their path: `landlock` is less than `bwrap+landlock`, and is called so. */
#pragma once

#include "base/arena.h"

enum sandbox_kind { SANDBOX_NONE, SANDBOX_LANDLOCK, SANDBOX_BWRAP, SANDBOX_BOTH, SANDBOX_KINDS };
enum sandbox_network {
    SANDBOX_ALL,      /* as the machine has it */
    SANDBOX_LOOPBACK, /* a loopback of its own, where nobody is but it */
    SANDBOX_OFFLINE,  /* and no TCP even there */
    SANDBOX_NETWORKS
};

enum { SANDBOX_PATHS = 192, SANDBOX_WORDS = 700, SANDBOX_DEPTH = 24, SANDBOX_LINKS = 64 };

struct sandbox_paths {
    struct str at[SANDBOX_PATHS];
    uint32_t count;
    bool too_many;
};
void sandbox_path_add(struct sandbox_paths *paths, struct str path); /* absolute; once */

/* Symbolic links that a path leads through, by the folder in which they really are. */
struct sandbox_links {
    struct sandbox_link {
        struct str place, target;
        bool last; /* nothing of the path is left behind it */
    } at[SANDBOX_LINKS];
    uint32_t count;
    bool too_many;
};
/* Follows `path` as the kernel does. The last component need not exist. False: it leads nowhere. */
bool sandbox_follow(struct str path, struct arena *arena, struct sandbox_links *links,
                    struct str *ret_real);

void sandbox_paths_sort(struct sandbox_paths *paths); /* what is above others comes before them */

struct sandbox_spec {
    enum sandbox_kind kind;
    enum sandbox_network network;
    struct str bwrap, confiner; /* programs: bubblewrap, overseer-hold */
    struct str rules;           /* file for the confiner; it is the caller who writes it */
    struct str cwd;
    struct str path; /* the run's PATH; see sandbox_sees_path() */
    struct sandbox_paths writes, sees,
        hidden; /* hidden: sorted; sees and writes also inside of what is hidden */
    struct sandbox_paths scratch; /* of what is hidden: empty, and its own to write */
    uint64_t memory, cpu, files, processes, file_size; /* bytes, seconds; 0: as it is */
};

struct sandbox_made {
    struct str argv[SANDBOX_WORDS]; /* in front of the program's own */
    uint32_t argc;
    struct str rules; /* text of the file */
};

/* false: it is more than fits; nothing may be started. */
bool sandbox_make(const struct sandbox_spec *spec, struct arena *arena, struct sandbox_made *ret);

/* For a program of the system that reads what an agent wrote: it sees the system's programs and what the words $tree and $objects
 * will stand for, read-only, and nothing else; it has no network and no other process. */
bool sandbox_reader_make(struct str bwrap, struct sandbox_made *ret);

const char *sandbox_name(enum sandbox_kind kind); /* as people read it */

/* ---- sandbox_program.c ---- */

/* Shows a program with what it needs to start: the links that lead to it, its packages, its virtual environment, its interpreter.
 * Only what is hidden is added, and never a folder that contains something hidden. */
void sandbox_sees_program(struct sandbox_spec *spec, struct str program, struct arena *arena);
/* Shows the folders of a PATH, and keeps it for sandbox_sees_program(). */
void sandbox_sees_path(struct sandbox_spec *spec, const char *path, struct arena *arena);
bool sandbox_is_hidden(const struct sandbox_spec *spec, struct str path);
/* VOLTA_HOME for a program that Volta's shim starts; empty: it is none. */
struct str sandbox_volta_home(struct str program, struct arena *arena);

/* ---- sandbox_linux.c ---- */

/* What this machine can do, tried: bubblewrap is run once with `true`. It waits for that, so ask once. `why` says what is missing. */
enum sandbox_kind sandbox_probe(char bwrap[4096], char *why, size_t why_size);

/* Landlock knows no "but not": everything around what is hidden, entry by entry. What finds no room is hidden as well. */
void sandbox_around(const struct sandbox_paths *hidden, struct arena *arena,
                    struct sandbox_paths *ret);
