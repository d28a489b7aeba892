/* SPDX-License-Identifier: Apache-2.0 */
/* Which sessions of agents are on this machine that Overseer did not start? They are only looked at. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    SESSIONS_MOST = 64,         /* that are listed */
    SESSION_NAME = 64,          /* of tmux:%3 or claude:ID */
    SESSION_ID = 64,            /* of Claude Code's own */
    SESSION_RECENT = 24 * 3600, /* seconds: what was silent for longer is no recent session */
};

/* A process, and that it is still the same one. */
struct process {
    pid_t pid; /* 0: none */
    uint64_t started;
    uint64_t tty;
};

struct session {
    char name[SESSION_NAME]; /* as Overseer calls it */
    char program[32];
    char folder[PATH_MAX];
    char pane[16];             /* of tmux; empty: none */
    char id[SESSION_ID];       /* of Claude Code; empty: not known */
    char transcript[PATH_MAX]; /* empty: none */
    char state[32]; /* as Claude Code says itself: busy, idle, waiting; empty: not known */
    struct process process;
    int64_t changed_at; /* seconds: its newest output or line; 0: not known */
};

struct sessions {
    struct session at[SESSIONS_MOST];
    size_t count;
};

/* home: whose sessions. */
void sessions_find(const char *home, struct sessions *ret);
/* What was typed: %3, tmux:%3, claude:ID, or the beginning of an ID. NULL: none is that, or several are. */
const struct session *session_called(const struct sessions *sessions, const char *what);

/* ---- for whoever watches one ---- */
bool process_is_there(const struct process *process);
/* What Claude Code says of its own process: id and state. False: nothing. */
bool claude_hint(const char *home, pid_t pid, struct session *ret);
bool claude_transcript(const char *home, const char *id, char path[PATH_MAX]);
/* Its screen, as it is shown now. The length; -1: it cannot be seen. */
ssize_t pane_read(const char *pane, char *text, size_t size);

/* adopt_lines.c: says what is seen of it until it ends; the status to end with. */
int session_follow(const char *home, const struct session *session);
int session_unseen(const char *why);
