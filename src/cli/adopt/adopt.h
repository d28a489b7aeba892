/* SPDX-License-Identifier: Apache-2.0 */
/* Finds agent sessions on this machine that Overseer did not start. They are only observed. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    SESSIONS_MOST = 64,         /* listed at most */
    SESSION_NAME = 64,          /* for tmux:%3 or claude:ID */
    SESSION_ID = 64,            /* for the session id of Claude Code */
    SESSION_RECENT = 24 * 3600, /* seconds: a session that was silent for longer is not recent */
};

/* A process, and the values that show that it is still the same one. */
struct process {
    pid_t pid; /* 0: none */
    uint64_t started;
    uint64_t tty;
};

struct session {
    char name[SESSION_NAME]; /* its name in Overseer */
    char program[32];
    char folder[PATH_MAX];
    char pane[16];             /* tmux pane; empty: none */
    char id[SESSION_ID];       /* session id of Claude Code; empty: not known */
    char transcript[PATH_MAX]; /* empty: none */
    char state[32]; /* as reported by Claude Code: busy, idle, waiting; empty: not known */
    struct process process;
    int64_t changed_at; /* seconds: time of its newest output or line; 0: not known */
};

struct sessions {
    struct session at[SESSIONS_MOST];
    size_t count;
};

/* home: the home folder whose sessions are found. */
void sessions_find(const char *home, struct sessions *ret);
/* Finds the session that was typed: %3, tmux:%3, claude:ID, or the beginning of an ID. NULL: no session matches, or
 * several do. */
const struct session *session_called(const struct sessions *sessions, const char *what);

/* ---- for following one session ---- */
bool process_is_there(const struct process *process);
/* Reads what Claude Code reports about its own process: id and state. False: nothing. */
bool claude_hint(const char *home, pid_t pid, struct session *ret);
bool claude_transcript(const char *home, const char *id, char path[PATH_MAX]);
/* Reads the current screen of the pane. Returns the length; -1: it cannot be read. */
ssize_t pane_read(const char *pane, char *text, size_t size);

/* adopt_lines.c: reports what is visible of the session until it ends. Returns the exit status. */
int session_follow(const char *home, const struct session *session);
int session_unseen(const char *why);
