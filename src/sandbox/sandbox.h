/* SPDX-License-Identifier: Apache-2.0 */
/* Limits what a run can reach: its worktree and HOME to write, the system to read, nothing of Overseer but its own interface.
 *
 *   bubblewrap: its own view of the files, its own processes, its own /tmp, its own network if it is to have none
 *     └─ overseer-hold --confine: Landlock and limits
 *          └─ the agent
 *
 * Where bubblewrap cannot be used, Landlock alone lets it see everything but what is hidden. It does not stop a program from
 * connecting to sockets whose path it knows: `landlock` is weaker than `bwrap+landlock`, and is named accordingly. */
#pragma once

#include "base/arena.h"

enum sandbox_kind { SANDBOX_NONE, SANDBOX_LANDLOCK, SANDBOX_BWRAP, SANDBOX_BOTH, SANDBOX_KINDS };
enum sandbox_network {
    SANDBOX_ALL,      /* the machine's network */
    SANDBOX_LISTED,   /* its own loopback, and a proxy there that reaches the hosts of a list */
    SANDBOX_LOOPBACK, /* its own loopback, with nothing else on it */
    SANDBOX_OFFLINE,  /* and no TCP even there */
    SANDBOX_NETWORKS
};

enum { SANDBOX_PATHS = 192, SANDBOX_WORDS = 700, SANDBOX_DEPTH = 24, SANDBOX_LINKS = 64 };

struct sandbox_paths {
    struct str at[SANDBOX_PATHS];
    uint32_t count;
    bool too_many;
};
void sandbox_path_add(struct sandbox_paths *paths, struct str path); /* absolute; added once */

/* Symbolic links that a path leads through, by the folder that really contains them. */
struct sandbox_links {
    struct sandbox_link {
        struct str place, target;
        bool last; /* no part of the path follows it */
    } at[SANDBOX_LINKS];
    uint32_t count;
    bool too_many;
};
/* Follows `path` as the kernel does. The last component need not exist. False: it leads nowhere. */
bool sandbox_follow(struct str path, struct arena *arena, struct sandbox_links *links,
                    struct str *ret_real);

void sandbox_paths_sort(struct sandbox_paths *paths); /* parents come before what is below them */

struct sandbox_spec {
    enum sandbox_kind kind;
    enum sandbox_network network;
    struct str bwrap, confiner;  /* programs: bubblewrap, overseer-hold */
    struct str rules;            /* file for the confiner; the caller writes it */
    struct sandbox_proxy {       /* for SANDBOX_LISTED */
        struct str file;         /* for the proxy; the caller writes it */
        struct str folder;       /* where it listens; the caller makes it */
        struct str denied;       /* file in which it notes what it denies */
        struct str allowed;      /* file with more hosts, which may change; empty: none */
        const struct str *hosts; /* that it reaches */
        uint32_t host_count;
        uint32_t port; /* of the run's loopback, where programs find it */
    } proxy;
    struct str cwd;
    struct str path; /* the run's PATH; see sandbox_sees_path() */
    struct sandbox_paths writes, sees,
        hidden; /* hidden: sorted; sees and writes apply also inside hidden paths */
    struct sandbox_paths scratch; /* hidden paths that are empty and writable for the run */
    struct sandbox_home {         /* with bubblewrap: a folder that stands at another path */
        struct str folder, at;    /* the path is hidden, and in `scratch`; empty: none */
    } home;
    uint64_t memory, cpu, files, processes, file_size; /* bytes, seconds; 0: unchanged */
};

struct sandbox_made {
    struct str argv[SANDBOX_WORDS]; /* before the program's own */
    uint32_t argc;
    struct str rules; /* text of the file */
    struct str proxy; /* text of the proxy's file; empty: there is none */
};

enum { SANDBOX_HOSTS = 256 /* on the list of a proxy */, SANDBOX_TUNNELS = 32 };

/* False: it does not fit; nothing may be started. */
bool sandbox_make(const struct sandbox_spec *spec, struct arena *arena, struct sandbox_made *ret);

/* For a system program that reads what an agent wrote: it sees the system's programs and what the words $tree and
 * $objects will stand for, read-only, and nothing else; it has no network and sees no other process. */
bool sandbox_reader_make(struct str bwrap, struct sandbox_made *ret);

const char *sandbox_name(enum sandbox_kind kind); /* name for people */

/* ---- sandbox_program.c ---- */

/* Makes a program visible with what it needs to start: the links that lead to it, its packages, its virtual
 * environment, its interpreter. Adds only what is hidden, and never a folder that contains something hidden. */
void sandbox_sees_program(struct sandbox_spec *spec, struct str program, struct arena *arena);
/* Makes the folders of a PATH visible, and keeps the PATH for sandbox_sees_program(). */
void sandbox_sees_path(struct sandbox_spec *spec, const char *path, struct arena *arena);
bool sandbox_is_hidden(const struct sandbox_spec *spec, struct str path);
/* VOLTA_HOME for a program that Volta's shim starts; empty: not such a program. */
struct str sandbox_volta_home(struct str program, struct arena *arena);

/* ---- sandbox_linux.c ---- */

/* Finds out by trying what this machine can do: runs bubblewrap once with `true`. It waits for that, so call it once.
 * `why` says what is missing. */
enum sandbox_kind sandbox_probe(char bwrap[4096], char *why, size_t why_size);

/* Landlock has no exclusions: adds everything around the hidden paths, entry by entry. Entries that do not fit are
 * hidden as well. */
void sandbox_around(const struct sandbox_paths *hidden, struct arena *arena,
                    struct sandbox_paths *ret);
