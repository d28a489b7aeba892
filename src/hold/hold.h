/* SPDX-License-Identifier: Apache-2.0 */
/* What is a hold? One agent process and everything below it, one log, one socket, one memory.
 *
 * All of it is one struct, moved by one loop in one thread. A hold never waits for anybody but its own loop; when nothing
 * happens it does not wake up. */
#pragma once

#include "hold/wire.h"

#include <sys/types.h>

enum {
    HOLD_CLIENTS = 8,     /* connections at once; one more is turned away */
    HOLD_QUEUE = 4 << 20, /* bytes that wait for the agent to read them */
    HOLD_RECORDS =
        16
        << 10, /* in hold.state: 640 KiB, read whole for each write; then old ones are forgotten */
    HOLD_ERRORS = 512 << 10, /* of each of the two files of stderr */
    HOLD_REPLIES = 64 << 10, /* answers that one client does not read, before it is let go */
    HOLD_AGENT_FILES = 4096, /* that an agent may have open, until it asks for more */
    HOLD_DEPTH = 256,        /* generations below the agent that a walk goes down */
    HOLD_AGAIN_MS =
        100, /* between two tries to end what does not end, or to write on a full disk */
    HOLD_LEAVE_MS = 5000,   /* grace when the hold itself is told to end */
    HOLD_FREEZE_TRIES = 50, /* of a millisecond, until everything stands still */
    HOLD_REAPS = 4096,      /* of the dead in one turn of the loop */
    HOLD_LISTED =
        4096, /* children of one process that one walk looks at: some begin more as fast as they are read */
    HOLD_STRIKES = 32, /* in one go, at what has to end */
    HOLD_ENDED_SECONDS =
        86400, /* after its agent has ended and nobody called: what there is to say is on disk */
    HOLD_REST_MS = 5, /* between two looks at an agent that speaks: its words come together, */
    HOLD_STREAM_MS =
        50 /* when the last ones came so shortly before: a line now and then costs one wake-up */
};

/* What callers may say. A test program is built that speaks as holds of version 1 do. */
#ifdef OVERSEER_HOLD_VERSION_1
enum { HOLD_SPEAKS = 1, HOLD_KINDS_TAKEN = HOLD_FREEZE_FOR };
#else
enum { HOLD_SPEAKS = HOLD_VERSION, HOLD_KINDS_TAKEN = HOLD_ASKED };
#endif

/* Who has something to say to the loop. Behind the last one: the clients. */
enum hold_source {
    FROM_SIGNAL,
    FROM_TIMER,
    FROM_DOOR,
    FROM_OUTPUT,
    FROM_ERRORS,
    FROM_INPUT,
    FROM_CLIENT
};

struct hold_options {
    const char *dir, *cwd, *cgroup;
    int cwd_fd;
    mode_t umask;           /* of the starter: the agent has it again */
    uint16_t columns, rows; /* 0: pipes, no terminal */
    uint64_t cap;
    uint32_t orphan_after; /* seconds without a word of a caller; 0: never */
    uint32_t ended_after;  /* seconds that it stays without a caller once all has ended */
    uint64_t orphan_at;    /* boot time in milliseconds, moved by HOLD_RENEW only; 0: never */
    bool wrapped; /* a wrapper is started: it does not end by itself when all below are told to */
    char **argv;
};

struct watched { /* one fd in the loop */
    int fd;      /* -1: none */
    uint32_t events;
};

struct output {
    struct watched pipe;
    int log;
    uint64_t begin, acked, end, cap; /* bytes below begin are given back to the disk */
    char spill[HOLD_CHUNK];          /* read, and the disk did not take it yet */
    size_t spill_at, spill_length;
    size_t fresh; /* bytes at the front of spill that are the newest of the log */
    bool eof;
    int trouble;     /* errno of the disk */
    bool rests;      /* its pipe has room for what is said meanwhile */
    int64_t took_at; /* when something was read last */
    int64_t rest_to; /* until then it is not listened to; 0: it is */
};

struct errors {
    struct watched pipe;
    int log;
    uint64_t size;
    bool lost;
};

struct wish { /* one write that waits */
    struct wish *next;
    struct id id;
    size_t length, done;
    bool begun;
    int client; /* who waits for the receipt; -1: nobody any more */
    char bytes[];
};

struct input {
    struct watched pipe;
    struct wish *first, **last;
    size_t queued; /* bytes */
    bool closing;
};

struct client {
    struct watched socket;
    bool greeted, attached, told_end;
    uint64_t fence, sent;
    char *in, *out;
    size_t in_length, in_room, out_at, out_length, out_room;
};

struct hold {
    struct hold_options options;
    int loop, signals, timer;
    struct watched door;
    int64_t timer_at; /* when the timer is set to; 0: it is not */

    int memory; /* hold.state, locked as long as we live */
    uint64_t records, fence;
    bool forgot; /* old records are gone */
    struct id boot;
    uint64_t started, agent_started;

    pid_t agent; /* never signalled by this number */
    int agent_fd;
    uint32_t exit;
    bool exited, empty,
        ended; /* empty: no process is left below us; ended: and the output is whole */

    struct output output;
    struct errors errors;
    struct input input;
    struct client clients[HOLD_CLIENTS];

    bool busy;                            /* more of the dead wait */
    uint32_t frozen_for;                  /* set of enum freeze_reason; 0: the agent runs */
    int64_t frozen_until[FREEZE_REASONS]; /* by bit of the reason; 0: until thawed */
    bool stopping, killing, leaving;      /* leaving: we end when everything below has */
    int64_t ended_at; /* all has ended, or the last caller went since; 0: it has not */
    int64_t kill_at, spoke_at, again_at; /* monotonic milliseconds, suspends counted; 0: not */
    uint32_t told;                       /* the flags that clients know */
};

/* ---- memory.c ---- */

/* NULL, or why this folder cannot begin a run: another hold stands, or one has begun before. */
const char *memory_open(struct hold *hold);
bool memory_keep(struct hold *hold, const struct hold_record *record, bool durable);
bool memory_make_room(struct hold *hold); /* false: the disk or the memory is full */
enum hold_written memory_find(const struct hold *hold, struct id id);

/* ---- child.c ---- */

/* The agent runs, or errno says why not. */
int child_start(struct hold *hold);
void signals_reset(void); /* of a child: nothing is ignored or held back */

/* ---- confine_linux.c ---- */

/* Becomes the program with what the file leaves it; returns only when it cannot. */
int confine_main(const char *file, char **argv);

/* ---- output.c ---- */

int output_open(struct hold *hold);
void output_take(struct hold *hold);   /* what the agent said goes into the log */
void output_settle(struct hold *hold); /* reads or does not read, as the cap and the disk say */
void output_acked(struct hold *hold, uint64_t offset);
ssize_t output_copy(const struct output *output, uint64_t from, char *to, size_t size);
bool output_at_cap(const struct hold *hold);
void errors_take(struct hold *hold);

/* ---- input.c ---- */

void input_ask(struct hold *hold, int client, struct id id, struct str bytes);
void input_move(struct hold *hold);  /* as much as the agent takes */
void input_close(struct hold *hold); /* behind what is queued */
void input_give_up(struct hold *hold);
enum hold_written input_find(const struct hold *hold, struct id id);
void input_forget(struct hold *hold, int client); /* it hears of no receipt any more */

/* ---- client.c ---- */

void client_accept(struct hold *hold);
void client_event(struct hold *hold, int number, uint32_t events);
void client_say(struct hold *hold, int number, const struct hold_frame *frame);
void client_part(struct hold *hold, int number);
void clients_pump(
    struct hold *hold); /* output to whoever is attached, the status to whoever was greeted */

/* ---- verb.c ---- */

void verb_do(struct hold *hold, int number, const struct hold_frame *frame);
void hold_status_read(const struct hold *hold, struct hold_status *ret_status);

/* ---- life.c ---- */

void life_reap(struct hold *hold);
void life_stop(struct hold *hold, uint32_t grace_ms);
void life_tick(struct hold *hold, int64_t now);
void life_settle(struct hold *hold); /* at the end of each turn: has all ended, without a client? */
int64_t life_due(const struct hold *hold); /* 0: never */
void life_spoken(struct hold *hold, bool hello);
void life_renew(struct hold *hold, int64_t until);
/* Adds a reason. Returns how many processes still move. */
uint32_t life_freeze(struct hold *hold, enum freeze_reason reason, uint64_t expires_ms);
void life_thaw(struct hold *hold, uint32_t reasons);
_Noreturn void life_leave(struct hold *hold);

/* ---- loop_linux.c ---- */

int loop_open(struct hold *hold);
_Noreturn void loop_run(struct hold *hold);
void loop_watch(struct hold *hold, struct watched *watched, uint32_t source, uint32_t events);
void loop_drop(struct hold *hold, struct watched *watched); /* and close */
int64_t loop_now(void);
bool peer_is_us(int fd);
size_t pipe_room(int fd);                            /* bytes; 0: it is no pipe */
void file_punch(int fd, uint64_t from, uint64_t to); /* gives the room of these bytes back */

/* ---- tree_linux.c ---- */

/* A signal to everything below us. Returns how many there are that do not stand still. */
uint32_t tree_signal(int signal);

/* A signal to the group of each child of our own: at once, so that nobody gets away by beginning another. */
void children_signal(int signal);
bool tree_possible(void);
bool process_started(pid_t pid, uint64_t *ret_started);
bool process_is_held(pid_t pid); /* by us, or by another hold that is not above us: an agent */
bool boot_read(struct id *ret_boot);
int process_open(pid_t pid);
int process_signal(int fd, int signal);

/* ---- cgroup_linux.c: where the starter gave us one ---- */

int cgroup_enter(const char *cgroup); /* called in the child */
bool cgroup_freeze(const char *cgroup, bool freeze);
void cgroup_remove(const char *cgroup);
