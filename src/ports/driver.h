/* SPDX-License-Identifier: Apache-2.0 */
/* How is one kind of agent program driven? A driver is a state machine without I/O.
 *
 *   text to say ──▶ driver ──▶ bytes for the agent          (struct drive_out)
 *   bytes from the agent ──▶ driver ──▶ what happened       (struct drive_event)
 *
 * Whoever holds the process (ports/held.h) carries bytes both ways; the daemon turns events into signals. So the same
 * driver runs against the real program, against a recording of one, and under the fuzzer. Its state is plain data of a
 * fixed size, saved by its rows with the offset that was read so far: it goes on after a restart as if nothing had been, also in a
 * build whose struct has more members or has them in another order. */
#pragma once

#include "base/arena.h"
#include "model/charge.h"
#include "model/effect.h"
#include "model/field.h"
#include "model/limits.h"

enum {
    DRIVE_SESSION = 128,   /* bytes of a session's id */
    DRIVE_ASK_ID = 64,     /* of the id of something that is asked */
    DRIVE_ASKS = 8,        /* open at once, for permission or with a dialog; more are refused */
    DRIVE_TOOLS = 32,      /* calls of tools that are open at once and told apart */
    DRIVE_WORDS = 16384,   /* of the agent's own words in one turn, the newest */
    DRIVE_TEXT = 4096,     /* of an event's text, other than the words of a turn */
    DRIVE_FRAME = 8 << 20, /* of one line; a longer one breaks the protocol */
    /* Words and variables of a launch: as many as an operator may give, and what a driver adds. Claude in tmux adds 39 words,
     * no row of ACP more than 12 variables. */
    DRIVE_ARGS = LIMIT_LINES + 64,
    DRIVE_VARS = LIMIT_LINES + 32,
    DRIVE_STRING =
        (128 << 10) - 1 /* of one of them, with its name: Linux starts nothing with a longer one */
};

/* ASSIGN-14: each prompt ends with a line that has the id of its dispatch in these words. Wherever the agent keeps what
 * it was told (a replayed history, a transcript, its terminal) the id says whether the dispatch arrived. */
#define DRIVE_TAG "(overseer dispatch "

/* ---- what an agent is started with ---- */

struct drive_var { /* of its environment */
    struct str name, value;
};

struct drive_file { /* written before the start, 0600, below `home` */
    struct str path, text;
};

/* How it reaches Overseer's tools. */
struct drive_door {
    struct str url, token;  /* over HTTP; empty: over stdio */
    const struct str *argv; /* over stdio */
    uint32_t argc;
};

struct drive_spec {
    struct str program;     /* absolute path of the agent's program, or of the one that runs it */
    const struct str *args; /* in front of those that the driver adds */
    uint32_t arg_count;
    struct str quirk;           /* row in the driver's table: which program it is */
    struct str model, thinking; /* empty: the agent's own choice */
    struct str base_url;        /* of the model; empty: the agent's own */
    struct str home, cwd;       /* its HOME, of its own; its worktree */
    struct str session;         /* to be gone on with; empty: a new one */
    struct id run;              /* names the run; a driver may make the session's id from it */
    struct drive_door door;
    const struct drive_var *env; /* what the operator gives it: keys */
    uint32_t env_count;
    const struct str *allow, *deny; /* SCOPE-02: tools, in the agent's own names */
    uint32_t allow_count, deny_count;
    bool allow_given; /* an empty list of allowed tools is one too */
    bool ask;         /* the agent asks before it uses a tool that is not allowed by name */
};

/* What has to be run. Made by the driver in the caller's arena. */
struct drive_launch {
    struct str argv[DRIVE_ARGS];
    uint32_t argc;
    struct drive_var
        env[DRIVE_VARS]; /* beside PATH, HOME, LANG and TERM: nothing else reaches it */
    uint32_t env_count;
    bool too_many; /* words or variables: not all of them are there */
    struct drive_file files[8];
    uint32_t file_count;
    bool pty; /* it wants a terminal */
    uint32_t columns, rows;
    bool scope_enforced; /* SCOPE-08: by the agent itself; false: advisory */
    struct str history;  /* folder below `home` where it keeps what it was told; empty: none */
};

/* ---- what happened ---- */

enum drive_kind {
    DRIVE_STARTED,    /* it can be spoken to; session; once more when its name is learnt later */
    DRIVE_ACCEPTED,   /* dispatch was received: a receipt */
    DRIVE_PROGRESS,   /* words of its own, a thought, a plan */
    DRIVE_CHATTER,    /* output that is no progress */
    DRIVE_TOOL_BEGUN, /* text: its name */
    DRIVE_TOOL_ENDED,
    DRIVE_USAGE,    /* tokens, cost, context: of the run so far */
    DRIVE_ASKS_FOR, /* ask; text: the tool; detail: what with. Somebody has to say yes or no */
    DRIVE_ENDED,    /* the turn is over; text: its words; reason */
    DRIVE_FAILED,   /* the turn ended with an error; text: which */
    DRIVE_LIMITED, /* its account is at a limit until `until`; 0: it did not say. The turn is over */
    DRIVE_DELIVERED, /* of a look: sure says whether dispatch arrived */
    DRIVE_BROKEN,    /* it does not speak its protocol; text: why. Nothing more will come */
    DRIVE_KINDS
};

enum drive_reason {
    DRIVE_TURN_DONE,
    DRIVE_TURN_CANCELLED,
    DRIVE_TURN_CUT /* tokens, turns, refusal */
};

/* Never "always": what is allowed is allowed once. */
enum drive_answer { DRIVE_ALLOW, DRIVE_REJECT, DRIVE_CANCEL };

struct drive_event {
    enum drive_kind kind;
    uint64_t offset; /* of the end of the frame that says so, in the agent's output */
    struct str text; /* in the arena that was handed in */
    struct str session, ask, detail;
    struct id dispatch;
    enum drive_reason reason;
    bool
        raw; /* PROGRESS: text is the agent's output itself, its bytes up to `offset`: it may be no UTF-8, and may end anywhere */
    bool named; /* ASKS_FOR: text is the tool's own name, and no title made of what it is to do */
    enum sure sure;
    int64_t until;         /* microseconds of wall time */
    uint64_t tokens, cost; /* cost in millionths */
    uint32_t context;      /* hundredths of a percent of its window */
};

struct drive_out { /* appended to, in the arena */
    struct arena *arena;
    int64_t wall;     /* the calendar's now, for what an agent says of it; 0: `now` is that */
    struct str bytes; /* for the agent */
    size_t room;      /* where they stand */
    size_t most;      /* of them; 0: there is no end */
    bool too_much;    /* more than that was to be said: nothing has been added since */
    struct drive_event *events;
    uint32_t event_count, event_room;
    bool close; /* nothing more will be written to the agent: its input ends */
    bool
        receipt; /* set by the caller: the hold's receipt is wanted, also where there are no bytes */
};

/* ---- a driver ---- */

struct driver {
    const char *name;
    size_t size;               /* of its state: plain data, zero before begin() */
    const struct shape *shape; /* how that is saved: a row for each member */
    size_t
        raw_size; /* of the state in a file of version 2, which had the bytes of the struct as they are */
    bool receipts; /* ACCEPTED is a proof; false: activity is the best there is */
    bool adopts;   /* can go on with a session that it did not start */
    bool dedupes;  /* the other side drops a dispatch id that it has seen */
    bool bridged;  /* what is held is a program of ours, which speaks with the agent's */
    bool watches;  /* a session of somebody else's: nothing is ever said or done to it */

    /* What to run. false: it cannot be, ret_why says why (SCOPE-03: a tool that the agent does not have). */
    bool (*launch)(const struct drive_spec *spec, struct arena *arena, struct drive_launch *ret,
                   struct str *ret_why);

    /* The process is there (a new one: the state is zero). Says hello. */
    void (*begin)(void *state, const struct drive_spec *spec, int64_t now, struct drive_out *out);

    /* Whole or half frames, as they come; `offset` is that of the first byte. What is not used up (from resume_at() on) is
     * handed in again with what came since: the state keeps no half frame. drive_pour() does that. */
    void (*feed)(void *state, struct str bytes, uint64_t offset, int64_t now,
                 struct drive_out *out);

    /* Its process is gone, and everything that it wrote was fed. status: 128 + n when signal n ended it. */
    void (*gone)(void *state, int64_t status, int64_t now, struct drive_out *out);

    /* One prompt at a time: only when ready(). */
    bool (*ready)(const void *state);
    void (*send)(void *state, struct id dispatch, struct str text, int64_t now,
                 struct drive_out *out);

    void (*answer)(void *state, struct str ask, enum drive_answer answer, int64_t now,
                   struct drive_out *out);
    void (*interrupt)(void *state, int64_t now, struct drive_out *out);

    /* Did that dispatch arrive? DRIVE_DELIVERED comes, now or later. */
    void (*look)(void *state, struct id dispatch, int64_t now, struct drive_out *out);

    int64_t (*due)(const void *state); /* TIME_NEVER: nothing by itself */
    void (*tick)(void *state, int64_t now, struct drive_out *out); /* at that time */

    /* What is cheap to know now: process is left to the caller. */
    void (*see)(const void *state, struct sighting *ret);

    /* From where the output has to be read again after a restart with this state: the begin of the frame that was
     * not whole yet. */
    uint64_t (*resume_at)(const void *state);

    /* After its state was read: which row of its table the agent is. NULL: it has no table. False: there is no such row. */
    bool (*quirk_set)(void *state, struct str quirk);

    /* What a person would have seen of this piece of output, from the beginning of a line. NULL: lines that are no JSON. */
    struct str (*shown)(struct str output, struct arena *arena);
};

extern const struct driver DRIVER_ACP, DRIVER_CLAUDE, DRIVER_TMUX, DRIVER_OPENCLAW, DRIVER_COMMAND,
    DRIVER_WATCHED;
const struct driver *driver_named(struct str name); /* NULL: there is none */

/* ---- for whoever feeds one ---- */

/* What an agent said and its driver has not used up: beside the state, and read again after a restart. */
struct drive_pour {
    char *at;
    size_t len, cap;
    uint64_t offset; /* of the first byte */
};

/* Bytes as they come. What was seen already is left out; a gap is a broken promise. */
void drive_pour(struct drive_pour *pour, const struct driver *driver, void *state, struct str bytes,
                uint64_t offset, int64_t now, struct drive_out *out);
void drive_pour_free(struct drive_pour *pour);

/* ---- memory: drive_memory.c ---- */

/* Once, before there is a second thread. */
void drive_memory_begin(void);
/* Where jansson takes its memory from in this thread; NULL: malloc. Returns what it was before. What it gave out stands as long as
 * the arena, and json_decref() gives nothing back: only for a call that keeps no tree. */
struct arena *drive_memory_use(struct arena *arena);
