/* SPDX-License-Identifier: Apache-2.0 */
/* A hold: one agent process and everything below it, one log, one socket, one memory.
 *
 * All of it is one struct, driven by one loop in one thread. A hold waits only in its own loop; when nothing happens it
 * does not wake up. */
#pragma once

#include "hold/wire.h"

#include <sys/types.h>

enum {
    HOLD_CLIENTS = 8,     /* connections at once; further ones are rejected */
    HOLD_QUEUE = 4 << 20, /* bytes that wait for the agent to read them */
    HOLD_RECORDS =
        16
        << 10, /* in hold.state: 640 KiB, read completely for each write; beyond that, old ones are forgotten */
    HOLD_ERRORS = 512 << 10, /* bytes of each of the two stderr files */
    HOLD_REPLIES = 64 << 10, /* bytes of answers that a client leaves unread before it is dropped */
    HOLD_AGENT_FILES = 4096, /* files that an agent may have open, until it raises the limit */
    HOLD_DEPTH = 256,        /* generations below the agent that a walk descends */
    HOLD_AGAIN_MS =
        100, /* between two tries to end what does not end, or to write to a full disk */
    HOLD_LEAVE_MS = 5000,   /* grace period when the hold itself is told to end */
    HOLD_FREEZE_TRIES = 50, /* of a millisecond each, until everything is stopped */
    HOLD_REAPS = 4096,      /* dead processes collected per loop iteration */
    HOLD_LISTED =
        4096, /* children of one process that one walk reads: some processes start more as fast as they are read */
    HOLD_KILLS = 32, /* consecutive kill rounds against what has to end */
    HOLD_ENDED_SECONDS =
        86400, /* lifetime after its agent has ended, without a caller: everything it could report is on disk */
    HOLD_REST_MS =
        5, /* between two reads of an agent that writes a stream: its output arrives in larger pieces, */
    HOLD_STREAM_MS =
        50 /* if the last output came this shortly before: an occasional line costs one wake-up */
};

/* Which frames callers may send. A test program is built that behaves like a hold of version 1. */
#ifdef OVERSEER_HOLD_VERSION_1
enum { HOLD_SPEAKS = 1, HOLD_KINDS_TAKEN = HOLD_FREEZE_FOR };
#else
enum { HOLD_SPEAKS = HOLD_VERSION, HOLD_KINDS_TAKEN = HOLD_ASKED };
#endif

/* Event sources of the loop. After the last one: the clients. */
enum hold_source {
    FROM_SIGNAL,
    FROM_TIMER,
    FROM_SERVER,
    FROM_OUTPUT,
    FROM_ERRORS,
    FROM_INPUT,
    FROM_CLIENT
};

struct hold_options {
    const char *dir, *cwd, *cgroup;
    int cwd_fd;
    mode_t umask;           /* of the starter: restored for the agent */
    uint16_t columns, rows; /* 0: pipes, no terminal */
    uint64_t cap;
    uint32_t orphan_after; /* seconds without a message from a caller; 0: never */
    uint32_t ended_after;  /* seconds that it stays without a caller after everything has ended */
    uint64_t orphan_at;    /* boot time in milliseconds, moved only by HOLD_RENEW; 0: never */
    bool
        wrapped; /* the program is a wrapper: it does not end by itself when all below are told to */
    char **argv;
};

struct loop_source { /* one fd in the loop */
    int fd;          /* -1: none */
    uint32_t events;
};

struct output {
    struct loop_source pipe;
    int log;
    uint64_t begin, acked, end, cap; /* disk space below begin is freed */
    char spill[HOLD_CHUNK];          /* read, but not yet written to disk */
    size_t spill_at, spill_length;
    size_t fresh; /* bytes at the front of spill that are the newest in the log */
    bool eof;
    int trouble;     /* errno of the disk */
    bool rests;      /* reading may pause: the pipe has room for the output meanwhile */
    int64_t took_at; /* time of the last read */
    int64_t rest_to; /* not read until then; 0: it is read */
};

struct errors {
    struct loop_source pipe;
    int log;
    uint64_t size;
    bool lost;
};

struct pending_write { /* one queued write */
    struct pending_write *next;
    struct id id;
    size_t length, done;
    bool begun;
    int client; /* the client that waits for the receipt; -1: none any more */
    char bytes[];
};

struct input {
    struct loop_source pipe;
    struct pending_write *first, **last;
    size_t queued; /* bytes */
    bool closing;
};

struct client {
    struct loop_source socket;
    bool greeted, attached, end_sent;
    uint64_t fence, sent;
    char *in, *out;
    size_t in_length, in_room, out_at, out_length, out_room;
};

struct hold {
    struct hold_options options;
    int loop, signals, timer;
    struct loop_source server;
    int64_t timer_at; /* time that the timer is set to; 0: not set */

    int memory; /* hold.state, locked as long as the hold lives */
    uint64_t records, fence;
    bool forgot; /* old records are gone */
    struct id boot;
    uint64_t started, agent_started;

    pid_t agent; /* never signalled by its pid */
    int agent_fd;
    uint32_t exit;
    bool exited, empty,
        ended; /* empty: no process is left below us; ended: the output is complete too */

    struct output output;
    struct errors errors;
    struct input input;
    struct client clients[HOLD_CLIENTS];

    bool busy;                            /* more dead processes wait to be collected */
    uint32_t frozen_for;                  /* set of enum freeze_reason; 0: the agent runs */
    int64_t frozen_until[FREEZE_REASONS]; /* indexed by the bit of the reason; 0: until thawed */
    bool stopping, killing, leaving; /* leaving: the hold exits when everything below has ended */
    int64_t ended_at; /* when everything ended or, if later, the last caller left; 0: not yet */
    int64_t kill_at, spoke_at,
        again_at;        /* monotonic milliseconds, including suspends; 0: not set */
    uint32_t flags_sent; /* the flags last sent to clients */
};

/* ---- memory.c ---- */

/* NULL, or why no run can begin in this folder: another hold runs there, or a run began there before. */
const char *memory_open(struct hold *hold);
bool memory_keep(struct hold *hold, const struct hold_record *record, bool durable);
bool memory_make_room(struct hold *hold); /* false: the disk or memory is full */
enum hold_written memory_find(const struct hold *hold, struct id id);

/* ---- child.c ---- */

/* Starts the agent. Returns 0, or an errno. */
int child_start(struct hold *hold);
void signals_reset(void); /* for a child: no signal is ignored or blocked */

/* ---- confine_linux.c ---- */

/* Becomes the program with the rights that the file leaves it; returns only on failure. */
int confine_main(const char *file, char **argv);

/* ---- output.c ---- */

int output_open(struct hold *hold);
void output_take(struct hold *hold); /* moves the agent's output to the log */
void output_settle(
    struct hold *hold); /* reads or does not read, depending on the cap and the disk */
void output_acked(struct hold *hold, uint64_t offset);
ssize_t output_copy(const struct output *output, uint64_t from, char *to, size_t size);
bool output_at_cap(const struct hold *hold);
void errors_take(struct hold *hold);

/* ---- input.c ---- */

void input_ask(struct hold *hold, int client, struct id id, struct str bytes);
void input_move(struct hold *hold);  /* writes as much as the agent takes */
void input_close(struct hold *hold); /* after what is queued */
void input_give_up(struct hold *hold);
enum hold_written input_find(const struct hold *hold, struct id id);
void input_forget(struct hold *hold, int client); /* it gets no more receipts */

/* ---- client.c ---- */

void client_accept(struct hold *hold);
void client_event(struct hold *hold, int number, uint32_t events);
void client_say(struct hold *hold, int number, const struct hold_frame *frame);
void client_part(struct hold *hold, int number);
void clients_pump(
    struct hold *hold); /* output to the attached client, the status to greeted clients */

/* ---- verb.c ---- */

void verb_do(struct hold *hold, int number, const struct hold_frame *frame);
void hold_status_read(const struct hold *hold, struct hold_status *ret_status);

/* ---- life.c ---- */

void life_reap(struct hold *hold);
void life_stop(struct hold *hold, uint32_t grace_ms);
void life_tick(struct hold *hold, int64_t now);
void life_settle(
    struct hold *hold); /* at the end of each iteration: has everything ended, without a client? */
int64_t life_due(const struct hold *hold); /* 0: never */
void life_spoken(struct hold *hold, bool hello);
void life_renew(struct hold *hold, int64_t until);
/* Adds a reason. Returns how many processes are still moving. */
uint32_t life_freeze(struct hold *hold, enum freeze_reason reason, uint64_t expires_ms);
void life_thaw(struct hold *hold, uint32_t reasons);
_Noreturn void life_leave(struct hold *hold);

/* ---- loop_linux.c ---- */

int loop_open(struct hold *hold);
_Noreturn void loop_run(struct hold *hold);
void loop_poll(struct hold *hold, struct loop_source *polled, uint32_t source, uint32_t events);
void loop_drop(struct hold *hold, struct loop_source *polled); /* and closes it */
int64_t loop_now(void);
bool peer_is_us(int fd);
size_t pipe_room(int fd);                            /* bytes; 0: not a pipe */
void file_punch(int fd, uint64_t from, uint64_t to); /* frees the disk space of these bytes */

/* ---- tree_linux.c ---- */

/* Sends a signal to everything below the hold. Returns how many processes are still moving. */
uint32_t tree_signal(int signal);

/* Sends a signal to the group of each of our own children, at once, so that none escapes by starting another process. */
void children_signal(int signal);
bool tree_possible(void);
bool process_started(pid_t pid, uint64_t *ret_started);
bool process_is_held(
    pid_t pid); /* by us, or by another hold that is not above us: it belongs to an agent */
bool boot_read(struct id *ret_boot);
int process_open(pid_t pid);
int process_signal(int fd, int signal);

/* ---- cgroup_linux.c: if the starter gave us one ---- */

int cgroup_enter(const char *cgroup); /* called in the child */
bool cgroup_freeze(const char *cgroup, bool freeze);
void cgroup_remove(const char *cgroup);
