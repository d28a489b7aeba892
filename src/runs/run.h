/* SPDX-License-Identifier: Apache-2.0 */
/* One run of an agent, from its start to its end. Shared by the files run*.c only. */
#pragma once

#include "base/due.h"
#include "base/map.h"
#include "base/recent.h"
#include "channels/channel.h"
#include "drivers/driver.h"
#include "drivers/hold_client.h"
#include "engine/reload.h"
#include "engine/token.h"
#include "git/git.h"
#include "runs/brake_file.h"
#include "runs/executor.h"
#include "runs/run_table.h"
#include "sandbox/command.h"
#include "sandbox/group.h"
#include "sandbox/sandbox.h"
#include "sys/pool.h"
#include "sys/slots.h"
#include "sys/space.h"

#include <limits.h>

enum {
    RUN_PATH = 1024,
    RUN_SHARED = 8,             /* folders of the operator that a run may read */
    RUN_COPIED = 1 << 20,       /* bytes of an operator's file of which a run gets a copy */
    RUN_EVENTS = 32,            /* initial room for events of one piece of output */
    RUN_GRACE_MS = 5000,        /* between asking it to end and killing it */
    RUN_ACCEPT_SECONDS = 120,   /* without a receipt: delivery is unknown */
    RUN_LOOK_SECONDS = 10,      /* until a look ends without a result */
    RUN_WORDS = 1024,           /* bytes of one line of the log for people */
    RUN_OUTPUT_CAP = 256 << 20, /* bytes of output that we have not read */
    RUN_SAVE_SECONDS =
        60, /* between two saves of state that decided nothing: after a crash it is read again, with the same result; */
    RUN_SAVE_BYTES = 64 << 10, /* and at most so many bytes of output */
    RUNS_CLEAN_MS = 5000,      /* until the first cleaning of finished work */
    RUN_ASK_TEXT = 1024,       /* bytes of what a person is told about a tool */
    RUN_OUTBOX_WRITES =
        256, /* waiting for an agent; an agent that reads none of them is broken off */
    RUN_OUTBOX_BYTES =
        2 << 20, /* bytes of all of them: more than one write may have (HOLD_WRITE) */
    RUN_BROKEN_WHY = 320,
};

struct left { /* an assignment of which something is left on disk */
    struct id goal;
    uint32_t assignment;
};

struct salvage_sender {                    /* run_network.c */
    uv_timer_t timer;                      /* until the next try */
    bool under_way, again;                 /* again: something was salvaged meanwhile */
    bool failed;                           /* one of the remotes, in this round */
    uint64_t keys[LIMIT_REPOSITORIES + 1]; /* repositories of this round, */
    uint32_t key_count, at;                /* and how many of them had their turn */
    uint32_t failures;                     /* rounds in a row */
    char what[POOL_WHAT + 64];
    int64_t since; /* boot clock: of the first failure */
};

struct brake { /* run_brake.c */
    uv_timer_t timer;
    struct brake_file file; /* slots: written under runs->lock, for readers on other threads */
    struct ballast ballast;
    uint64_t free, least,
        run_most; /* bytes: free on the file system with least space; the two settings */
    char where[RUN_PATH + 16]; /* path of that file system */
    atomic_bool low;
    bool measuring;
    uint32_t telling;              /* signals being sent to the ledger */
    int64_t measure_at, low_since; /* boot clock, like those below */
    int64_t frozen_at, tell_at;    /* frozen_at: the last freeze; 0: none since there was room */
    uint64_t frozen_free;          /* bytes free at that time */
};

struct crash_guard_report; /* sys/crash_guard.h */

struct run_table {
    uv_loop_t *loop;
    struct executor *executor;
    struct daemon_context *context;
    char state[RUN_PATH], hold[RUN_PATH],
        socket[RUN_PATH];               /* socket: of the HTTP server for runs */
    char hidden[RUNS_HIDDEN][RUN_PATH]; /* our files in other places */
    enum sandbox_kind can;              /* what the machine supports, */
    char bwrap[4096], cannot[160];      /* and why not more */
    struct group_place groups; /* where runs get control groups, once limits are configured */
    bool groups_probed;
    struct map all;      /* struct run, by the id of the effect that started it */
    struct recent never; /* runs that were stopped before they started */
    struct due due;
    uv_timer_t timer, clean, renew;
    uv_timer_cb due_passed; /* of `timer`: runs are due */
    uv_check_t pace;        /* runs after each poll for input */
    uint32_t lines;         /* pieces of output since the last one */
    uint64_t lines_at;      /* time of the previous ones, in nanoseconds */
    bool shared;            /* other hosts use the same store: P10 */
    struct left cleaned;    /* last assignment examined; zero: start with the first */
    uv_async_t heard;       /* woken by other threads: tasks posted to the loop */
    pthread_mutex_t
        lock; /* of `all` as runs_see() reads it, of each run's `seen`, and of `posted` */
    struct loop_task *posted;
    struct pool *net; /* for git commands that wait for a server */
    struct salvage_sender sender;
    struct brake brake;
    struct host_lists *host_lists; /* box/run_denied.c */
    struct quota_accounts *quota;  /* quota/run_quota.c */
    struct pulling *pulls;         /* run_pull_request.c: in progress */
    struct check_cache *caches;    /* check/check_cache.c: in use */
    struct failed_checks *failed;  /* check/check_target.c: candidates */
    uint32_t under_way;            /* workers and lookups that have not returned yet */
    bool stopping;
};

/* A task posted to the loop by another thread that has finished its part. */
struct loop_task {
    struct loop_task *next;
    void (*go)(struct loop_task *task);
};
void loop_post(struct run_table *runs, struct loop_task *task);
void loop_tasks_came(uv_async_t *async);
void loop_tasks_run(struct run_table *runs);

/* Waits for the ledger's answer to a signal. With loop_answer_post() as the `done` of its input, the task runs on the loop
 * when the input is answered. */
struct loop_answer {
    struct loop_task task;
    struct run_table *runs;
    struct input *input;
};
void loop_answer_post(struct input *input);

/* Requests for permission that are not answered yet. */
struct run_asks {
    struct run_ask {
        uint64_t offset;
        char id[DRIVE_ASK_ID + 1], text[RUN_ASK_TEXT];
    } at[DRIVE_ASKS];
    uint32_t count;
};

/* run_outbox.c: writes that still have to reach the agent. */
struct run_write;
struct run_outbox {
    struct run_write *first;
    uint32_t count;
    size_t size;            /* bytes of all writes */
    uint64_t made, durable; /* serial of the newest write; of the newest that is in drive.state */
    bool sent;              /* the first one was sent to the hold */
    uint32_t refusals;      /* of the first one */
    int64_t again_at;       /* when the first one is sent again; 0: no resend is due */
};

struct run {
    struct run_table *runs;
    struct id id, goal;
    uint32_t assignment, number; /* number: of the effect that started it, from 1 */
    uint64_t repository;         /* its key; of a resumed run not known at first: `placed` */
    bool placed;                 /* `repository` is known */
    struct run_denials *denials; /* box/run_denied.c; NULL: it has no proxy, or has not begun */
    bool unproxied;              /* it has no proxy */
    uint32_t proxy_port;         /* of its loopback: box/run_hosts.c; 0: it has no proxy */
    char node[LIMIT_NODE_ID + 1], agent[LIMIT_AGENT + 1], session[DRIVE_SESSION + 1];
    char dir[RUN_PATH], home[RUN_PATH], cwd[RUN_PATH], token[TOKEN_TEXT + 1];
    uint16_t port, port_count; /* port: the first of its block; 0: it has none */
    char objects[RUN_PATH];    /* of our clone, which its worktree borrows; empty: none */
    uint64_t fence;
    uint64_t settled; /* run_lease.c: the join under which this host is known to own it; 0: none */
    int64_t orphan_after; /* its hold freezes it this long after the lease has ended; 0: never */
    int64_t settle_at;    /* boot clock: ownership is not looked up again before */
    bool settling;        /* its ownership is being looked up */
    struct str shared[RUN_SHARED]; /* folders of the operator that it may read; in the arena */
    uint32_t shared_count;
    enum sandbox_kind box;
    struct still *still; /* run_freeze.c: its hold was asked to freeze it, and has not answered */
    char group[GROUP_PATH];        /* its control group; empty: none */
    char limits[LIMIT_LIMITS + 1]; /* what it may use, and how that is enforced; empty: no limits */
    bool scope_enforced;           /* SCOPE-08 */
    int64_t within;                /* ASSIGN-19: time limit for its first instruction */
    bool http;                     /* it reaches our tools over HTTP */

    const struct driver *driver;
    struct drive_spec spec; /* its texts are in the arena, for the lifetime of the run */
    struct arena arena;
    void *state;
    struct drive_input input;
    struct held *held;
    int64_t
        open_at; /* the connection to its hold was lost, and the hold is alive: when to reconnect; 0: not waiting */
    bool
        unresumable; /* started by another build or with other settings: this daemon cannot resume it */
    bool known;      /* its agent is in the settings, with the same driver as before */
    bool
        broken; /* its driver broke an invariant; `unresumable` is set, too; its state is not used any more */
    char broken_why[RUN_BROKEN_WHY];
    struct readying
        *readying; /* its worktree is being prepared; NULL: it is ready, or not created yet */
    bool starting; /* its hold is being started and cannot be contacted yet */
    bool
        left_stopped; /* on this connection: the hold was told to stop what the agent left running */
    bool begun, exited,
        ended; /* the driver has begun; its process is gone; and all output was read */
    int64_t exit;

    /* effects whose outcome still has to be reported to the ledger */
    struct act *sending; /* spawn or send: until a receipt, or until its time is over */
    struct act *look;    /* until there is an observation */
    struct act *stop;    /* until the run has ended */
    struct id dispatch;  /* of `text` */
    uint32_t dispatch_n; /* its effect, from 1 */
    char *text;          /* to be sent as soon as the agent is ready */
    size_t text_length;
    bool spoken;          /* `text` was passed to the driver */
    bool answers;         /* `text` is a yes or no to the first of `asks` */
    struct id answered;   /* dispatch of the newest yes or no: the hold's receipt is its receipt */
    bool interrupted;     /* its turn was interrupted, so that `text` can be sent */
    struct run_asks asks; /* a person is asked the first one */
    int64_t sending_until, look_until;

    /* signals offered to the ledger, and how many of them are durable */
    uint32_t offered, kept;
    struct run_outbox outbox;
    struct slots slots; /* drive.state */
    struct arena saved_arena;
    struct str
        saved; /* encoded, as it was when `saved_needs` signals had been offered: run_file.c */
    uint64_t saved_offset, saved_upto; /* of the encoded state; of the newest state in the file */
    uint32_t saved_needs;
    uint64_t saved_serial; /* of the newest write in it */
    bool save_pending;
    bool
        report_lost; /* a signal could not be kept: nothing is saved any more, so that the output is read again */
    uint32_t writes;           /* writes that are named by a counter */
    int64_t saved_at, save_at; /* save_at: deadline of the next save; 0: none is due */
    uint64_t end; /* of all its output, once known: an incomplete last line is read, too */

    bool overage;                     /* frozen because of paid extra usage: quota/run_quota.c */
    bool overage_paused;              /* as a pause: its hold is of an older build */
    bool brake_asks;                  /* it is not known yet whether its hold is frozen */
    uint64_t disk_bytes, disk_before; /* bytes on disk as last measured; and while there was room */

    struct observation seen; /* under runs->lock */

    /* run_output.c: the log for people */
    char words[RUN_WORDS]; /* of an incomplete line */
    size_t word_count;
    struct run_lines {
        uint32_t len;
        char at[256];
    } lines_before; /* the newest lines, each with its end: some secrets are recognised only by them */
    bool in_key;    /* the following lines are part of a private key */
    bool skips_word;                  /* the rest of a long word with a secret is left out */
    uint64_t word_offset, log_offset; /* of its newest byte; up to which the file has logged */
    bool log_known;
    uint64_t log_size;      /* of the file */
    struct str quirk_saved; /* in the arena: which program it was when its state was saved */
};

/* ---- run.c ---- */
struct run *run_make(struct run_table *runs, const struct effect *effect, struct id id);
void run_free(struct run *run);
void sibling_program(const char *name, char *path, size_t size);
void run_report(struct run *run, struct act **act, struct signal outcome); /* once; frees the act */
const char *run_scope(const struct run *run);
void run_sending_ended(struct run *run, enum delivery delivery, struct str why);

/* ---- run_due.c ---- */
void run_due(struct run *run);
void runs_timer_set(struct run_table *runs);

/* ---- run_agent.c ---- */
const struct agent_setting *run_agent(const struct settings *settings, struct str id);
const struct driver *run_driver(const struct agent_setting *agent);
struct str run_agent_kind(const struct agent_setting *agent);

/* ---- run_spec.c ---- */
bool run_prepare(struct run *run, struct str *ret_why); /* its spec, from the current settings */
void run_token_lend(struct run *run);

/* ---- run_start.c ---- */
void run_spawn(struct run_table *runs, struct act *act);
void run_send(struct run *run, struct act *act);
bool run_token_take(struct run *run,
                    struct str *ret_why); /* puts token_file into its environment */
const char *const *run_environment(const struct run *run, const struct drive_launch *launch,
                                   struct arena *arena);

/* ---- run_lease.c ---- */
void runs_lease_start(struct run_table *runs);
void run_lease_take(struct run *run, const struct effect *effect); /* its start was claimed */
bool run_lease_until(const struct run *run, uint64_t *ret_boot_ms);

/* ---- run_home.c ---- */
bool file_put(const char *path, struct str text, struct arena *arena); /* in a folder of ours */
bool home_fill(struct run *run, const struct drive_launch *launch, struct arena *arena);
void home_share(struct run *run, const struct drive_launch *launch, struct arena *arena);
/* The variable with the URL of the provider that a key is for, such as ANTHROPIC_BASE_URL; NULL: it is not set, or base_url says it. */
const char *key_url(const struct agent_setting *agent, struct str key, struct arena *arena);
struct str run_login_kind(const struct run *run); /* the kind of agent whose login it uses */
bool file_get(const char *path, struct arena *arena, struct str *ret); /* false: errno says why */
/* Reads the token in token_file and names the variable for it. False: it cannot be used; ret_why says why. */
bool token_get(const struct agent_setting *agent, struct str kind, struct arena *arena,
               struct drive_var *ret, struct str *ret_why);

/* ---- box/run_sandbox.c ---- */

/* Makes the sandbox command that precedes its own arguments. False: the run may not be started; ret_why says why. */
bool run_box(struct run *run, struct arena *arena, struct sandbox_made *ret, struct str *ret_why);
void run_box_tell(const struct run *run); /* logs it for the operator */
/* Sets up the sandbox in which git reads an agent's repository. */
void reader_box(struct run_table *runs, struct arena *arena, struct git_context *context);

/* The operator's set-up, hook or check; these run what an agent wrote. */
struct check_wanted {
    struct str place;            /* checkout or worktree: where it runs and what it may write */
    struct str objects;          /* borrowed by the place */
    struct str agent;            /* whose network access it has, */
    uint32_t network;            /* unless this says another: verify.network */
    uint64_t repository;         /* whose hosts it may reach, */
    struct id goal;              /* and what was allowed for this goal */
    const struct str *variables; /* NAME=value */
    uint32_t variable_count;
    bool keeps_home;  /* its HOME is a folder beside the place: check_home() */
    struct str cache; /* a folder that it sees; empty: none */
};
/* The sandbox of a check. False: it may not be run; ret_why says why. */
bool check_box(struct run_table *runs, const struct check_wanted *wanted, struct arena *arena,
               struct command_box *ret, struct str *ret_why);
struct str check_home(struct str place, struct arena *arena);
bool check_is_boxed(struct run_table *runs); /* it cannot change what it only sees */
void check_box_clear(struct str place,
                     struct arena *arena); /* removes what the sandbox left beside the place */

enum { PROXY_VARIABLES = 8 };
const struct str *proxy_environment(uint32_t port, struct arena *arena); /* NAME=value */

/* ---- box/run_tools.c ---- */
enum { RUN_TOOLS = 6, TOOLS_LISTED = 32 };
/* What of the operator's HOME runs find, for people. Returns how many. */
uint32_t tools_list(const struct settings *settings, struct arena *arena,
                    struct str ret[TOOLS_LISTED]);
void tools_show(struct sandbox_spec *spec, const struct settings *settings, struct arena *arena);
/* Where a run finds them: NAME=value. Returns how many. */
uint32_t tools_environment(const struct settings *settings, struct arena *arena,
                           const char *ret[RUN_TOOLS]);

/* ---- box/run_hosts.c ---- */

/* What a sandbox with network = model may reach. agent: NULL: none in particular. False: the settings are wrong. */
bool run_hosts(const struct settings *settings, const struct agent_setting *agent,
               uint64_t repository, struct arena *arena, struct sandbox_proxy *ret,
               struct str *ret_why);

/* ---- box/run_denied.c ---- */

/* The hosts that were allowed in addition to the list, one per line: as of the last time that they were read. */
struct str allowed_hosts(struct run_table *runs, uint64_t repository, struct id goal, bool is_check,
                         struct arena *arena);

/* Carries the act out once the decisions about hosts are known; at once, if no agent has a list, or the store does not
 * answer. */
typedef void runs_carrier(struct run_table *runs, struct act *act);
void with_hosts(struct run_table *runs, struct act *act, runs_carrier *go);

void check_denials(struct run_table *runs, struct id goal, uint32_t effect,
                   struct str place);  /* reports what a check, set-up or hook was denied */
void run_denials_end(struct run *run); /* reports the rest, and frees it */
void host_lists_start(struct run_table *runs);
void host_lists_wake(struct run_table *runs); /* there is a run */
void host_lists_stop(struct run_table *runs);
void host_lists_free(struct run_table *runs);

/* ---- run_freeze.c ---- */

/* Freezes the agent, if possible, then calls `go` once, on the loop, perhaps before this returns. */
void still_begin(struct run_table *runs, const struct effect *effect, void (*go)(void *with),
                 void *with);
void still_answered(struct run *run); /* its hold has answered */
void still_end(struct run_table *runs, const struct effect *effect);

/* ---- run_scope.c ---- */

/* Sets what the run starts with: exactly what it started with before (`start`, a BEGINNING), or what the settings say,
 * narrowed by its node (`node`, a NODE_TEXT). False: that is not allowed; ret_why says why. */
bool run_begin_as(struct run *run, struct str node, struct str start, struct str *ret_why);
struct str run_beginning(const struct run *run, struct arena *arena); /* encoded */

/* ---- run_limit.c ---- */
void run_limits_probe(struct run_table *runs, const struct settings *settings);
/* Creates its control group, and puts the limits of each process into the spec. False: the run may not be started;
 * ret_why says why. */
bool run_limits(struct run *run, const struct settings *settings, const struct agent_setting *agent,
                struct sandbox_spec *spec, struct arena *arena, struct str *ret_why);
struct str run_limit_hit(const struct run *run, struct arena *arena); /* empty: no limit ended it */
void run_limits_end(struct run *run); /* its hold is gone: ends whatever is left in its group */

/* ---- run_drive.c ---- */
void run_tick(struct run *run, int64_t now);
bool run_open(struct run *run, uint64_t offset);
/* Its driver cannot be trusted any more: its turn has failed, and `why` explains that to people. The ladder starts
 * another run. */
void run_break(struct run *run, const char *why);
void run_lost(struct run *run); /* its hold cannot be reached */
void run_pump(struct run *run); /* sends waiting text, if the agent is ready */
void run_look(struct run *run, struct act *act);
void run_look_ended(struct run *run, enum tristate delivered);
void run_stop(struct run *run, struct act *act);

/* ---- run_seen.c, and signals in run_file.c ---- */
struct id run_write_name(const struct run *run, struct str name);
void run_seen_now(const struct run *run, struct observation *ret);
void run_seen_keep(struct run *run); /* for readers on other threads */
/* Offers a signal about its goal, or about the aggregate of its host that the signal names, to the ledger. The offset and
 * `what` name it. */
void run_offer(struct run *run, struct signal *signal, uint64_t offset, struct str what);

/* ---- quota/run_quota.c ---- */
/* Its program has reported about its account. */
void run_quota_heard(struct run *run, const struct drive_event *event);
void run_quota_renew(struct run *run); /* on a new connection to its hold */
void run_quota_status(struct run *run, const struct hold_status *status);
void run_quota_refused(struct run *run); /* its hold did not freeze it */
void quota_start(struct run_table *runs);
void quota_stop(struct run_table *runs);
void quota_free(struct run_table *runs);

/* ---- quota/session_file.c ---- */
/* What a program that reports nothing to its driver has written about its account. False: nothing new. */
bool session_quota_read(const char *home, struct quota *ret);

/* ---- run_driver.c ---- */

/* One call of a run's driver under the crash guard. The call reads the agent's bytes, so a broken invariant in it does
 * not end the daemon: the run is broken off instead (run_break). */
struct driver_call {
    enum driver_verb {
        DRIVER_BEGIN,
        DRIVER_FEED,
        DRIVER_GONE,
        DRIVER_SEND,
        DRIVER_ANSWER,
        DRIVER_INTERRUPT,
        DRIVER_LOOK,
        DRIVER_TICK
    } verb;
    struct str text;    /* text to send; bytes read; id of the ask */
    uint64_t offset;    /* of the bytes read */
    struct id dispatch; /* of what is sent or looked for */
    enum drive_answer answer;
};
/* False: the run has to be broken off (ret_report says why), and `out` is unusable. */
bool driver_call(struct run *run, const struct driver_call *call, struct drive_out *out,
                 struct crash_guard_report *ret_report);
/* For work that parses an agent's JSON and keeps no tree of it. False: the run has to be broken off. */
bool driver_parses(void (*work)(void *with), void *with, struct crash_guard_report *ret_report);

/* ---- run_outbox.c ---- */

/* Nothing is sent before run_save() has made it durable. False: the outbox is full, and nothing was added. */
bool outbox_add(struct run *run, struct id id, struct str bytes, bool closes)
    __attribute__((warn_unused_result));
bool outbox_has(const struct run *run, struct id id);
void outbox_clear(struct run *run);
void outbox_send(struct run *run);
void outbox_saved(struct run *run, uint64_t serial); /* all writes up to it are in drive.state */
void outbox_reconnected(struct run *run); /* the first write may not have reached the hold */
void outbox_tick(struct run *run, int64_t now);
/* True: that write is finished; ret_arrived says whether it reached the agent. */
bool outbox_receipt(struct run *run, struct id id, enum hold_written written,
                    enum tristate *ret_arrived);
void outbox_closed(struct run *run); /* the hold has closed the agent's input */
size_t outbox_size(const struct run *run);
char *outbox_put(const struct run *run, char *to);
bool outbox_load(struct run *run, struct str bytes);

/* ---- run_question.c ---- */
#define RUN_WAITS_FOR_YES "it waits for a yes or no to something else"
bool run_waits_for_yes(const struct run *run); /* with `text`: it cannot be delivered before that */
bool ask_by_policy(const struct drive_spec *spec, const struct drive_event *event,
                   enum drive_answer *ret); /* false: a person has to decide */
bool asks_add(struct run_asks *asks, const struct drive_event *event);
const struct run_ask *asks_first(const struct run_asks *asks); /* NULL: none */
void asks_drop_first(struct run_asks *asks);

/* ---- run_file.c ---- */
bool run_file_write(const struct run *run);
struct run *run_file_read(struct run_table *runs, const char *name); /* NULL: nothing to resume */
void run_file_close(const struct run *run); /* it is over: not resumed after a restart */
void run_save(struct run *run);             /* once every offered signal is durable */
void run_save_soon(struct run *run);        /* for output that decided nothing */
bool run_load(struct run *run, uint64_t *ret_offset);

/* ---- run_output.c ---- */
bool run_output_drop(
    const char
        *folder); /* deletes the raw output of a run that is over; false: errno says why not */
void run_words_keep(struct run *run, const struct drive_out *out);
/* Its exit status and its standard error output: bounded, without secrets and control characters. */
struct str run_last_words(const struct run *run, struct arena *arena);
/* Why it cannot be driven, together with what it printed last. */
struct str run_broken_words(const struct run *run, const struct drive_event *event,
                            struct arena *arena);
void run_end_keep(struct run *run, struct str why); /* logs why it ended as the last line; once */
/* The most explanatory line of a program's output, and the first line; without secrets and control characters. */
struct str words_explain(struct str output, struct arena *arena);
struct str words_first(struct str output, struct arena *arena);
void run_log_sent(struct run *run, struct str text); /* logs what is sent to the agent */

/* ---- run_setup.c ---- */

struct ready_wanted { /* valid until `done` is called */
    struct work_place *place;
    struct str tree, worker, session;
    const char *node; /* of the run that waits for it, as are goal and id */
    struct id goal, id;
    uint32_t dispatch_n;
    uint64_t fence;
};
/* Called once, on the loop, after ready_make() has returned. Empty: it is ready; otherwise why not. */
typedef void ready_made(void *with, struct str why);
struct readying *ready_make(struct run_table *runs, const struct ready_wanted *wanted,
                            struct arena *arena, ready_made *done, void *with);
void ready_stop(struct readying *it); /* cancels it; `done` is called once nothing of it runs */

/* ---- run_clean.c ---- */
void clean_begin(uv_timer_t *timer); /* starts a pass; schedules the next one itself */

/* ---- run_pull_request.c ---- */

enum pulled {
    PULL_OPENED,
    PULL_FAILED,
    PULL_LEFT, /* the daemon stops: nothing is reported, and the next daemon does it again */
};
/* Called once, on the loop. `text`: which pull request, or why there is none. */
typedef void pull_opened(void *with, enum pulled pulled, struct str text);
/* Reads its title and text from the store; `forge` is the name of a channel. */
void pull_open(struct run_table *runs, const struct effect *effect, const struct pull *pull,
               struct str forge, pull_opened *done, void *with);
void pulls_stop(struct run_table *runs);

/* ---- run_network.c ---- */

#define NET_MOST MINUTES(10) /* time limit of one job that waits for a server */
struct git_wanted {
    struct run_table *runs;
    struct id goal;   /* goal it is done for */
    struct str where; /* the other side: a path or a URL */
    const char *what; /* shown to people before the server's name: "fetch from" */
};
struct git_job { /* valid until `done`, like `work` */
    struct pool_job job;
    struct loop_task task;
    struct run_table *runs;
    uv_work_t *work;
    uv_work_cb carry;
    uv_after_work_cb done;
    int status;
};
/* Like uv_queue_work(), but work that waits for a server runs in a separate pool, so that no other work waits behind
 * it. `done` is called with UV_EAGAIN if the work was not carried out because too much is waiting, and with
 * UV_ECANCELED if the daemon stops: then nothing is reported. */
void git_queue(struct git_job *job, uv_work_t *work, const struct git_wanted *wanted,
               uv_work_cb carry, uv_after_work_cb done);
void salvage_send(struct run_table *runs); /* sends what the remote does not have yet */
bool net_start(struct run_table *runs);
void net_stop(struct run_table *runs);

/* ---- run_brake.c ---- */
void brake_start(struct run_table *runs);
void brake_stop(struct run_table *runs);
void run_brake_renew(struct run *run); /* on a new connection to its hold, */
void run_brake_status(struct run *run,
                      const struct hold_status *status); /* and when the hold answers */
void run_thaw(struct run *run, struct act *act);
bool run_is_braked(struct run *run);
unsigned brake_wait(struct run_table *runs, struct op_wait *ret, unsigned most);

/* ---- run_contract.c ---- */

/* The artifacts that a node has to produce. `artifacts`: struct artifact, in the arena that was passed in. */
struct contract {
    struct rows artifacts;
    int64_t within; /* VERIFY-02: time limit for checking all of them */
    struct str why; /* why it could not be read; empty: it was */
};
/* Called once, on the loop. */
typedef void contract_came(void *with, struct contract contract);
/* Reads the contract from the text that the hash names; the arena must last until `done` is called. False: no lookup is
 * possible, and `done` is not called. */
bool contract_read(struct run_table *runs, struct id goal, struct hash text, struct arena *arena,
                   contract_came *done, void *with);
/* Call on a worker. Returns the result of each artifact (struct check_made), and a line for each that did not pass;
 * empty: all passed. False: the checkout cannot be examined; ret_wrong says why. */
bool contract_hold(const struct contract *contract, struct str checkout, int64_t within,
                   struct arena *arena, struct rows *ret_checks, struct str *ret_wrong);

/* ---- run_worktree.c ---- */
void work_check(struct run_table *runs, struct act *act);
void work_land(struct run_table *runs, struct act *act);
void work_salvage(struct run_table *runs, struct act *act,
                  int64_t exit); /* for the act of a stop: reports its outcome */

/* ---- run_place.c ---- */
/* What git needs to know, taken by work_place() from the current settings; texts are in the arena. work_place() returns
 * false if there is no repository. */
struct work_place {
    struct git_context context;
    struct git_repo repo;
    struct git_run run;
    struct str branch, command, setup, hook;
    struct str check_setup;                /* verify.setup; `setup` is that of the worktree */
    uint64_t cache_most;                   /* bytes of all its caches */
    uint16_t port_first, port_count, port; /* where blocks begin, ports per block, and its own */
    bool ready;       /* once it exists: nothing is left to do before an agent starts */
    struct str forge; /* channel on which a pull request is opened; empty: none is */
    struct str clone; /* our clone, once it exists */
    enum git_how how;
    bool lands;
    bool attributes; /* landing.attribution */
    int64_t within;
    uint32_t network;            /* of its checks: verify.network */
    struct texts keys;           /* variables that its checks get: verify.keys */
    struct texts protect, rules; /* judged files: verify.protect, verify.rules */
    struct hash digest;          /* of how work is checked: check_digest() */
    uint64_t repository;         /* its key: struct goal */
    bool missing;                /* it has a repository, which is not in the settings */
    bool
        moved; /* the settings have another path for its repository, or none: it is neither checked nor landed */
};
struct work_wanted {
    struct id goal;
    uint32_t assignment;
    uint64_t repository; /* of the goal; work that has begun knows its own */
    struct str branch;   /* of the effect, if there is one */
};
struct work_wanted wanted_by(const struct effect *effect);
bool work_place(struct run_table *runs, struct work_wanted wanted, struct arena *arena,
                struct work_place *ret);
/* Why it cannot be checked or landed there, and what to do. */
struct str place_missing_text(const struct work_place *place, struct arena *arena);
/* True: everything it needs is on this host, so the source is not contacted. */
bool work_place_is_local(const struct work_place *place, struct arena *arena);
/* Call through git_queue(), with the source as `where` unless it is local. */
struct git_answer work_place_make(struct work_place *place, struct arena *arena,
                                  struct git_tree *ret);
void work_place_forget(struct work_place *place,
                       struct arena *arena); /* its worktree was removed */
void work_place_ready(struct work_place *place, struct arena *arena);

/* ---- run_protected.c ---- */
struct judged_files {
    struct str *tests; /* tests that the target has and that the candidate changes or deletes */
    uint32_t test_count;
    bool rules; /* it changes CI, or a script that verify.command runs */
};
struct judged_files judged_files(const struct work_place *place, const struct git_file *files,
                                 uint32_t count, struct arena *arena);
struct hash check_digest(const struct work_place *place, const struct settings *settings);
