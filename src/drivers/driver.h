/* SPDX-License-Identifier: Apache-2.0 */
/* Interface of a driver, which controls one kind of agent program. A driver is a state machine without I/O.
 *
 *   text to send ──▶ driver ──▶ bytes for the agent         (struct drive_out)
 *   bytes from the agent ──▶ driver ──▶ what happened       (struct drive_event)
 *
 * The holder of the process (drivers/hold_client.h) carries bytes both ways; the daemon turns events into signals. So the same
 * driver runs against the real program, against a recording of one, and under the fuzzer. Its state is plain data of a
 * fixed size, saved by its rows with the offset read so far: after a restart it continues as if nothing had happened, even in a
 * build whose struct has more members or has them in another order. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "model/assignment.h"
#include "model/driver_list.h"
#include "model/effect.h"
#include "model/field.h"
#include "model/limits.h"
#include "model/quota/quota.h"

enum {
    DRIVE_SESSION = 128, /* bytes of a session's id */
    DRIVE_ASK_ID = 64,   /* bytes of a request's id */
    DRIVE_ASKS = 8,   /* requests open at once, for permission or with a dialog; more are refused */
    DRIVE_TOOLS = 32, /* tool calls that are open at once and told apart */
    DRIVE_WORDS = 16384,   /* bytes of the agent's own text in one turn, the newest */
    DRIVE_TEXT = 4096,     /* bytes of an event's text, other than the text of a turn */
    DRIVE_FRAME = 8 << 20, /* bytes of one line; a longer one is a protocol error */
    /* Arguments and variables of a launch: as many as an operator may give, plus what a driver adds. Claude in tmux
     * adds 39 arguments, no ACP row more than 12 variables. */
    DRIVE_ARGS = LIMIT_LINES + 64,
    DRIVE_VARS = LIMIT_LINES + 32,
    DRIVE_STRING =
        (128 << 10) -
        1 /* bytes of one of them, with its name: Linux starts no program with a longer one */
};

/* ASSIGN-14: each prompt ends with a line that contains the id of its dispatch in these words. Wherever the agent
 * stores its prompts (a replayed history, a transcript, its terminal), the id shows whether the dispatch arrived. */
#define DRIVE_TAG "(overseer dispatch "

/* ---- what an agent is started with ---- */

struct drive_var { /* environment variable */
    struct str name, value;
};

struct drive_file { /* written before the start, 0600, below `home` */
    struct str path, text;
};

/* How the agent reaches Overseer's tools. */
struct drive_mcp {
    struct str url, token;  /* over HTTP; empty: over stdio */
    const struct str *argv; /* over stdio */
    uint32_t argc;
};

struct drive_spec {
    struct str program;     /* absolute path of the agent's program, or of the one that runs it */
    const struct str *args; /* before those that the driver adds */
    uint32_t arg_count;
    struct str quirk;           /* row in the driver's table: which program it is */
    struct str model, thinking; /* empty: the agent's own choice */
    struct str base_url;        /* of the model; empty: the agent's own */
    struct str home, cwd;       /* its own HOME; its worktree */
    struct str session;         /* session to resume; empty: a new one */
    struct id run;              /* names the run; a driver may make the session's id from it */
    struct drive_mcp mcp;
    const struct drive_var *env; /* from the operator: keys */
    uint32_t env_count;
    const struct str *allow, *deny; /* SCOPE-02: tools, in the agent's own names */
    uint32_t allow_count, deny_count;
    int64_t pace;      /* simulated agent: how many times as fast its time goes, and */
    int64_t stretches; /* how much there is to do; 0: as it comes */
    bool allow_given;  /* an empty list of allowed tools counts as a list too */
    bool ask;          /* the program asks before it uses a tool that is not allowed by name */
    bool person;       /* a person answers that; false: the lists do, at once */
};

/* What to run. The driver builds it in the caller's arena. */
struct drive_launch {
    struct str argv[DRIVE_ARGS];
    uint32_t argc;
    struct drive_var
        env[DRIVE_VARS]; /* besides PATH, HOME, LANG and TERM; the agent gets no others */
    uint32_t env_count;
    bool too_many; /* not all arguments or variables fit */
    struct drive_file files[8];
    uint32_t file_count;
    bool pty; /* it needs a terminal */
    uint32_t columns, rows;
    bool scope_enforced; /* SCOPE-08: the agent itself enforces it; false: advisory */
    struct str
        history; /* folder below `home` where it stores the prompts it received; empty: none */
};

/* ---- events ---- */

enum drive_kind {
    DRIVE_STARTED,  /* it accepts prompts; session; again if the session's id becomes known later */
    DRIVE_ACCEPTED, /* dispatch was received: a receipt */
    DRIVE_PROGRESS, /* its own text, a thought, a plan */
    DRIVE_CHATTER,  /* output that is no progress */
    DRIVE_TOOL_BEGUN, /* text: its name */
    DRIVE_TOOL_ENDED,
    DRIVE_USAGE,     /* tokens, cost, context: of the run so far */
    DRIVE_ASKS_FOR,  /* ask; text: the tool; detail: its input. Needs a yes or no */
    DRIVE_ENDED,     /* the turn is over; text: the agent's text; reason */
    DRIVE_FAILED,    /* the turn ended with an error; text: which */
    DRIVE_LIMITED,   /* its account is at a limit until `until`; 0: not given. The turn is over */
    DRIVE_DELIVERED, /* result of look(): sure says whether dispatch arrived */
    DRIVE_BROKEN,    /* it violates its protocol; text: why. No more events follow */
    DRIVE_EXITED,    /* a simulated process ended with `status` */
    DRIVE_QUOTA,     /* quota: its program has reported the windows of its account */
    DRIVE_KINDS
};

enum drive_reason {
    DRIVE_TURN_DONE,
    DRIVE_TURN_CANCELLED,
    DRIVE_TURN_CUT /* cut off: tokens, turns, refusal */
};

/* Never "always": a permission is valid once. */
enum drive_answer { DRIVE_ALLOW, DRIVE_REJECT, DRIVE_CANCEL };

struct drive_event {
    enum drive_kind kind;
    uint64_t offset; /* end of the frame that reports this, in the agent's output */
    struct str text; /* in the caller's arena */
    struct str session, ask, detail;
    struct id dispatch;
    enum drive_reason reason;
    bool
        raw; /* PROGRESS: text is the agent's raw output, its bytes up to `offset`: it may not be UTF-8, and may end anywhere */
    bool
        tool; /* ASKS_FOR: it wants to use a tool; false: a dialog about something else, or an unknown one */
    bool named; /* ASKS_FOR: text is the tool's own name, not a title that describes the call */
    enum tristate arrived;
    int64_t until;         /* wall time; of a simulation: the clock of its caller */
    int64_t status;        /* EXITED */
    uint64_t tokens, cost; /* cost in millionths */
    uint32_t context;      /* hundredths of a percent of its window */
    const struct quota *quota;
};

struct drive_out { /* appended to, in the arena */
    struct arena *arena;
    int64_t wall;     /* wall clock, for times that an agent mentions; 0: same as `now` */
    struct str bytes; /* for the agent */
    size_t room;      /* capacity of their buffer */
    size_t most;      /* limit of bytes; 0: none */
    bool too_much;    /* the limit was exceeded: nothing has been added since */
    struct drive_event *events;
    uint32_t event_count, event_room;
    bool close;   /* end the agent's input: nothing more will be written to it */
    bool receipt; /* set by the caller: the hold's receipt is wanted, even without bytes */
};

/* ---- a driver ---- */

/* A driver that plays the agent itself: there is no process, no worktree and no hold. Its run lives in the daemon
 * (runs/agents.c) and ends with it. Its prompts are the kind of the text (WORDS_NAMES), a space and the id of the node;
 * see() tells about the process and the sample, too. */
struct simulation {
    void (*advance)(void *state, int64_t now); /* before see(): what it shows depends on the time */
    void (*resume)(void *state,
                   const void *before); /* after begin(): goes on with the work of an ended run */
    bool (*is_done)(const void *state); /* the truth about its work, whatever it reports */
};

struct driver {
    const char *name;
    size_t size;               /* of its state: plain data, zero before begin() */
    const struct shape *shape; /* how the state is saved: a row for each member */
    size_t
        raw_size; /* of the state in a file of version 2, which stored the first bytes of the struct */
    bool receipts; /* ACCEPTED is proof; false: activity is the best evidence there is */
    bool adopts;   /* can resume a session that it did not start */
    bool dedupes;  /* the other side drops a dispatch id that it has seen */
    bool bridged;  /* the held program is ours, and talks to the agent's program */
    bool watches;  /* adopted session: the driver never sends or does anything to it */
    bool usual;    /* drives agents of the kind of its own name, if no driver is chosen for them */
    bool untried;  /* any program may be behind it: a test of the settings does not start it */
    const char *login; /* kind of agent whose login its runs get; NULL: that of the agent */
    const struct simulation *simulation; /* NULL: the agent is a program, in a process of its own */

    /* What to run. False: not possible, ret_why says why (SCOPE-03: a tool that the agent does not have). */
    bool (*launch)(const struct drive_spec *spec, struct arena *arena, struct drive_launch *ret,
                   struct str *ret_why);

    /* The process exists (a new one: the state is zero). Sends the greeting. */
    void (*begin)(void *state, const struct drive_spec *spec, int64_t now, struct drive_out *out);

    /* Complete or partial frames, as they arrive; `offset` is that of the first byte. Bytes that were not consumed
     * (from resume_at() on) are passed again together with later ones: the state keeps no partial frame. drive_input()
     * does that. */
    void (*feed)(void *state, struct str bytes, uint64_t offset, int64_t now,
                 struct drive_out *out);

    /* The process is gone, and all of its output was fed. status: 128 + n when signal n ended it. */
    void (*gone)(void *state, int64_t status, int64_t now, struct drive_out *out);

    /* One prompt at a time: send only when ready(). */
    bool (*ready)(const void *state);
    void (*send)(void *state, struct id dispatch, struct str text, int64_t now,
                 struct drive_out *out);

    void (*answer)(void *state, struct str ask, enum drive_answer answer, int64_t now,
                   struct drive_out *out);
    void (*interrupt)(void *state, int64_t now, struct drive_out *out);

    /* Did that dispatch arrive? A DRIVE_DELIVERED event answers, now or later. */
    void (*look)(void *state, struct id dispatch, int64_t now, struct drive_out *out);

    int64_t (*due)(const void *state);                             /* TIME_NEVER: no tick needed */
    void (*tick)(void *state, int64_t now, struct drive_out *out); /* called at that time */

    /* What is cheap to observe now; the caller fills in `process`. */
    void (*see)(const void *state, struct observation *ret);

    /* Offset from which the output has to be read again after a restart with this state: the start of the incomplete
     * frame. */
    uint64_t (*resume_at)(const void *state);

    /* Called after the state was read: sets the agent's row of the driver's table. NULL: no table. False: no such row. */
    bool (*quirk_set)(void *state, struct str quirk);

    /* What a person would have seen of this piece of output, which starts at the beginning of a line. NULL: lines that
     * are not JSON. */
    struct str (*shown)(struct str output, struct arena *arena);
};

#define DRIVER_DECLARED(constant, name, remark) extern const struct driver DRIVER_##constant;
DRIVER_LIST(DRIVER_DECLARED)
#undef DRIVER_DECLARED
extern const struct driver DRIVER_ADOPTED; /* not for operators to choose */

const struct driver *driver_named(struct str name); /* NULL: there is none */
const struct driver *driver_usual(struct str kind); /* for this kind of agent, if none is chosen */

/* ---- feeding a driver ---- */

/* Output of an agent that its driver has not consumed: kept beside the state, and read again after a restart. */
struct drive_input {
    struct buffer bytes;
    uint64_t offset; /* of the first byte */
};

static inline uint64_t drive_input_end(const struct drive_input *input) {
    return input->offset + input->bytes.len;
}

/* Feeds bytes as they arrive. Skips bytes that were seen already; a gap is a broken invariant. */
void drive_input(struct drive_input *input, const struct driver *driver, void *state,
                 struct str bytes, uint64_t offset, int64_t now, struct drive_out *out);
void drive_input_free(struct drive_input *input);

/* ---- memory: drive_memory.c ---- */

/* Call once, before there is a second thread. */
void drive_memory_begin(void);
/* Sets where jansson takes its memory from in this thread; NULL: malloc. Returns the previous value. The memory lives
 * as long as the arena, and json_decref() frees nothing: only for a call that keeps no tree. */
struct arena *drive_memory_use(struct arena *arena);
