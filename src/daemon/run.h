/* SPDX-License-Identifier: Apache-2.0 */
/* What is one run of an agent, from its start to its end? Shared by the files run*.c and nobody else. */
#pragma once

#include "base/due.h"
#include "base/map.h"
#include "base/recent.h"
#include "daemon/brake_file.h"
#include "daemon/hands.h"
#include "daemon/pool.h"
#include "daemon/reload.h"
#include "daemon/runs.h"
#include "daemon/slots.h"
#include "daemon/space.h"
#include "daemon/token.h"
#include "ports/channel.h"
#include "ports/command.h"
#include "ports/driver.h"
#include "ports/git.h"
#include "ports/group.h"
#include "ports/held.h"
#include "ports/sandbox.h"

#include <limits.h>

enum {
    RUN_PATH = 1024,
    RUN_SHARED = 8,             /* folders of the operator's that a run may read */
    RUN_COPIED = 1 << 20,       /* bytes of a file of the operator's that it has a copy of */
    RUN_EVENTS = 32,            /* of one piece of output, to begin with */
    RUN_GRACE_MS = 5000,        /* between asking it to end, and ending it */
    RUN_ACCEPT_SECONDS = 120,   /* without a receipt: nobody can tell */
    RUN_LOOK_SECONDS = 10,      /* until a look has seen nothing */
    RUN_WORDS = 1024,           /* of one line of what people read */
    RUN_OUTPUT_CAP = 256 << 20, /* of what it says and we have not read */
    RUN_SAVE_SECONDS =
        60, /* between two saves of what has decided nothing: it is read again after a crash, to the same end; */
    RUN_SAVE_BYTES = 64 << 10, /* and at most so many bytes of output */
    RUNS_CLEAN_MS = 5000,      /* until what is over is looked at for the first time */
    RUN_ASK_TEXT = 1024,       /* of what a person is told about a tool */
    RUN_OUTBOX_WRITES = 256, /* that wait for an agent; one that reads none of them is broken off */
    RUN_OUTBOX_BYTES = 2 << 20, /* of all of them: more than one write may have (HOLD_WRITE) */
    RUN_BROKEN_WHY = 320,
};

struct left { /* an assignment of which something is left */
    struct id goal;
    uint32_t charge;
};

struct salvage_sender {    /* run_net.c */
    uv_timer_t timer;      /* until the next try */
    bool under_way, again; /* again: something was salvaged meanwhile */
    uint32_t failures;     /* in a row */
    char what[POOL_WHAT + 64];
    int64_t since; /* boot clock: of the first of them */
};

struct brake { /* run_brake.c */
    uv_timer_t timer;
    struct brake_file file; /* slots: written under runs->lock, for those who look */
    struct ballast ballast;
    uint64_t free, least, run_most; /* bytes: free where there is least; settings */
    char where[RUN_PATH + 16];      /* that is */
    atomic_bool low;
    bool measuring;
    uint32_t telling;              /* signals on their way */
    int64_t measure_at, low_since; /* boot clock, as those below */
    int64_t frozen_at, tell_at;    /* frozen_at: the last one; 0: none since there was room */
    uint64_t frozen_free;          /* and what was free then */
};

struct runs {
    uv_loop_t *loop;
    struct hands *hands;
    struct house *house;
    char state[RUN_PATH], hold[RUN_PATH], socket[RUN_PATH]; /* socket: the door for runs */
    char hidden[RUNS_HIDDEN][RUN_PATH];                     /* files of ours elsewhere */
    enum sandbox_kind can;                                  /* what the machine has, */
    char bwrap[4096], cannot[160];                          /* and what it has not */
    struct group_place groups; /* where runs get control groups, once somebody wants limits */
    bool groups_probed;
    struct map all;      /* struct running, by the id of the effect that began it */
    struct recent never; /* that were stopped before they began */
    struct due due;
    uv_timer_t timer, clean, renew;
    uv_check_t pace;     /* after each look at what has come */
    uint32_t lines;      /* pieces of output in it */
    uint64_t lines_at;   /* of the newest before, in nanoseconds */
    bool shared;         /* other hosts have the same store: P10 */
    struct left cleaned; /* the last that was looked at; zero: it begins with the first */
    uv_async_t heard;    /* from other threads: errands */
    pthread_mutex_t
        lock; /* of `all` as runs_see() reads it, of each run's `seen`, and of errands */
    struct errand *errands;
    struct pool *net; /* for git that waits for a server */
    struct salvage_sender sender;
    struct brake brake;
    struct pulling *pulls; /* run_pull.c: under way */
    uint32_t under_way;    /* workers and lookups that will come back */
    bool stopping;
};

/* Something that came back from another thread, to be gone on with on the loop. */
struct errand {
    struct errand *next;
    void (*go)(struct errand *errand);
};
void errand_home(struct runs *runs, struct errand *errand);

/* What it wants to do and nobody has said yes or no to. */
struct run_asks {
    struct run_ask {
        uint64_t offset;
        char id[DRIVE_ASK_ID + 1], text[RUN_ASK_TEXT];
    } at[DRIVE_ASKS];
    uint32_t count;
};

/* run_outbox.c: what an agent is still to be told. */
struct run_write;
struct run_outbox {
    struct run_write *first;
    uint32_t count;
    size_t size;            /* bytes of all writes */
    uint64_t made, durable; /* serial of the newest write; of the newest that is in drive.state */
    bool sent;              /* the first one is on its way */
    uint32_t refusals;      /* of the first one */
    int64_t again_at;       /* when the first one is sent again; 0: nothing waits */
};

/* A line about a run names its goal, its task and itself. */
#define log_run(level, run, ...) \
    log_line( \
        level, __FILE__, \
        &(struct log_about){.goal = (run)->goal, .task = str_of((run)->node), .run = (run)->id}, \
        __VA_ARGS__)

struct running {
    struct runs *runs;
    struct id id, goal;
    uint32_t charge, number; /* number: of the effect that began it, from 1 */
    char node[LIMIT_NODE_ID + 1], agent[LIMIT_AGENT + 1], session[DRIVE_SESSION + 1];
    char dir[RUN_PATH], home[RUN_PATH], cwd[RUN_PATH], token[TOKEN_TEXT + 1];
    uint16_t port, port_count; /* the first of its block; 0: it has none */
    char objects[RUN_PATH];    /* of our clone, that its worktree borrows; empty: none */
    uint64_t fence;
    uint64_t settled;     /* run_lease.c: the join under which it is known to be ours; 0: none */
    int64_t orphan_after; /* its hold freezes it so long after the lease has ended; 0: never */
    int64_t settle_at;    /* boot clock: not asked again before */
    bool settling;        /* it is being asked whose it is */
    struct str shared[RUN_SHARED]; /* folders of the operator's, to read; in the arena */
    uint32_t shared_count;
    enum sandbox_kind box;
    struct still *still;    /* run_still.c: it was asked to stand still, and has not answered */
    char group[GROUP_PATH]; /* its control group; empty: none */
    char limits[LIMIT_LIMITS + 1]; /* what it may use, and what sees to it; empty: no limits */
    bool scope_enforced;           /* SCOPE-08 */
    int64_t within;                /* ASSIGN-19: how long its first instruction may take */
    bool http;                     /* our tools are reached over the network */

    const struct driver *driver;
    struct drive_spec spec; /* its texts: in the arena, for as long as the run is */
    struct arena arena;
    void *state;
    struct drive_pour pour;
    struct held *held;
    int64_t open_at; /* its hold was lost and lives: when it is spoken to again; 0: nothing waits */
    bool strange;    /* another build began it, or other settings: nobody here can go on with it */
    bool known;      /* its agent is in the settings, and driven as it was */
    bool
        broken; /* its driver broke a promise of ours: `strange` too; its state is not used any more */
    char broken_why[RUN_BROKEN_WHY];
    struct readying *readying; /* its worktree is made ready; NULL: it is, or not yet made */
    bool starting;             /* its hold is on its way, and cannot be spoken to yet */
    bool left_stopped;         /* on this connection: what the agent left running was told to end */
    bool begun, exited,
        ended; /* the driver said hello; its process is gone; and everything was read */
    int64_t exit;

    /* what is owed to the ledger */
    struct act *said;    /* spawn or send: until a receipt, or until it is too late */
    struct act *look;    /* until it was seen */
    struct act *stop;    /* until it has ended */
    struct id dispatch;  /* of `said` */
    uint32_t dispatch_n; /* its effect, from 1 */
    char *text;          /* to be said as soon as it listens */
    size_t text_length;
    bool spoken;  /* `text` was handed to the driver */
    bool answers; /* `text` is a yes or no to the first of `asks` */
    struct id
        answered;     /* the dispatch of the newest yes or no: the hold's receipt is its receipt */
    bool interrupted; /* its turn was broken off, so that `text` can be said */
    struct run_asks asks; /* the first is before a person */
    int64_t said_until, look_until;

    /* what was offered to the ledger, and how far it is safe */
    uint32_t offered, kept;
    struct run_outbox outbox;
    struct slots slots; /* drive.state */
    struct arena saved_arena;
    struct str saved; /* encoded, as it was when `saved_needs` had been offered: run_file.c */
    uint64_t saved_offset, saved_upto; /* of the encoded one; of the newest that is in the file */
    uint32_t saved_needs;
    uint64_t saved_serial; /* of the newest write in it */
    bool save_pending;
    bool
        unsaid; /* something could not be kept: nothing is saved any more, so that it is read again */
    uint32_t writes;           /* that have no better name */
    int64_t saved_at, save_at; /* save_at: when it is saved at the latest; 0: nothing waits */
    uint64_t
        end; /* of all that it ever said, once it is known: half a line at the end is read, too */

    bool brake_asks;                  /* whether its hold is frozen is not known yet */
    uint64_t disk_bytes, disk_before; /* that it has, as last measured; and while there was room */

    struct sighting seen; /* under runs->lock */

    /* run_words.c: what people read of it */
    char words[RUN_WORDS]; /* of a line that is not whole yet */
    size_t word_count;
    struct run_lines {
        uint32_t len;
        char at[256];
    } lines_before;  /* the newest ones, each with its end: some secrets are known only by them */
    bool in_key;     /* the lines that follow are of a private key */
    bool skips_word; /* the rest of a long word with a secret is not told */
    uint64_t word_offset, told_offset; /* of its newest byte; up to which the file tells */
    bool told_known;
    uint64_t told_size;     /* of the file */
    struct str quirk_saved; /* in the arena: which program it was when its state was written */
};

/* ---- runs.c ---- */
struct running *run_make(struct runs *runs, const struct effect *effect, struct id id);
void run_free(struct running *run);
void run_due(struct running *run);
void beside_us(const char *name, char *path, size_t size);
void run_tick(struct running *run, int64_t now);
void run_report(struct running *run, struct act **act,
                struct signal outcome); /* once; frees the act */
const char *run_scope(const struct running *run);
void run_said_ended(struct running *run, enum delivery delivery, struct str why);

/* ---- run_start.c ---- */
void run_spawn(struct runs *runs, struct act *act);
void run_send(struct running *run, struct act *act);
#define RUN_WAITS_FOR_YES "it waits for a yes or no to something else"
bool run_waits_for_yes(const struct running *run); /* with `said`: it cannot be heard before that */
bool run_prepare(struct running *run,
                 struct str *ret_why); /* its spec, from the settings as they are */
void run_token_lend(struct running *run);
bool run_token_take(struct running *run,
                    struct str *ret_why); /* token_file, into its environment */
const char *const *run_environment(const struct running *run, const struct drive_launch *launch,
                                   struct arena *arena);
const struct agent_setting *run_agent(const struct settings *settings, struct str id);
const struct driver *run_driver(const struct agent_setting *agent);

/* ---- run_lease.c ---- */
void runs_lease_start(struct runs *runs);
void run_lease_take(struct running *run, const struct effect *effect); /* its start was claimed */
bool run_lease_until(const struct running *run, uint64_t *ret_boot_ms);

/* ---- run_home.c ---- */
bool file_put(const char *path, struct str text, struct arena *arena); /* in a folder of ours */
bool home_fill(struct running *run, const struct drive_launch *launch, struct arena *arena);
void home_share(struct running *run, const struct drive_launch *launch, struct arena *arena);
struct str run_login_kind(const struct running *run); /* whose login it uses: a kind of agent */
bool file_get(const char *path, struct arena *arena, struct str *ret); /* false: errno says why */
/* The token in token_file, and the variable for it. False: it cannot be used, and why. */
bool token_get(const struct agent_setting *agent, struct str kind, struct arena *arena,
               struct drive_var *ret, struct str *ret_why);

/* ---- run_box.c ---- */

/* What stands in front of its own words. False: it may not be started, and why. */
bool run_box(struct running *run, struct arena *arena, struct sandbox_made *ret,
             struct str *ret_why);
void run_box_tell(const struct running *run); /* the operator */
/* Where git reads an agent's repository. */
void reader_box(struct runs *runs, struct arena *arena, struct git_house *house);

/* The operator's set-up, hook or check, which run what an agent wrote. */
struct check_wanted {
    struct str place;            /* checkout or worktree: where it runs, and what it may write */
    struct str objects;          /* that the place borrows */
    struct str agent;            /* whose network it has */
    const struct str *variables; /* NAME=value */
    uint32_t variable_count;
};
/* The sandbox of a check. False: it may not be run; ret_why says why. */
bool check_box(struct runs *runs, const struct check_wanted *wanted, struct arena *arena,
               struct command_box *ret, struct str *ret_why);
void check_box_clear(struct str place, struct arena *arena); /* what that left beside the place */

/* ---- run_still.c ---- */

/* Its agent stands still, if it can: then `go` is called, once, from the loop, perhaps before this returns. */
void still_begin(struct runs *runs, const struct effect *effect, void (*go)(void *with),
                 void *with);
void still_answered(struct running *run); /* its hold has answered */
void still_end(struct runs *runs, const struct effect *effect);

/* ---- run_scope.c ---- */

/* What it begins with: exactly what it began with before (`start`, a BEGINNING), or what the settings say, narrowed as its node
 * says (`node`, a NODE_TEXT). False: that may not be, and why. */
bool run_begin_as(struct running *run, struct str node, struct str start, struct str *ret_why);
struct str run_beginning(const struct running *run, struct arena *arena); /* encoded */

/* ---- run_limit.c ---- */
void run_limits_probe(struct runs *runs, const struct settings *settings);
/* Its control group, and in the spec what each process is limited to. False: it may not be started, and why. */
bool run_limits(struct running *run, const struct settings *settings,
                const struct agent_setting *agent, struct sandbox_spec *spec, struct arena *arena,
                struct str *ret_why);
struct str run_limit_hit(const struct running *run,
                         struct arena *arena); /* empty: no limit ended it */
void run_limits_end(struct running *run); /* its hold is gone: what is left in its group goes too */

/* ---- run_drive.c ---- */
bool run_open(struct running *run, uint64_t offset);
/* Its driver cannot be trusted any more: its turn has failed, and `why` says so to people. The ladder begins another run. */
void run_break(struct running *run, const char *why);
void run_lost(struct running *run); /* its hold cannot be spoken to */
void run_pump(struct running *run); /* says what waits, if it listens */
void run_look(struct running *run, struct act *act);
void run_look_ended(struct running *run, enum sure delivered);
void run_stop(struct running *run, struct act *act);

/* ---- run_driver.c ---- */

/* One call of a run's driver under the crash guard. What the call reads is the agent's, so a broken promise in it is no
 * reason for the daemon to end: the run is broken off instead (run_break). */
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
    struct str text;    /* what to say; what was read; which ask */
    uint64_t offset;    /* of what was read */
    struct id dispatch; /* of what is said or looked for */
    enum drive_answer answer;
};
/* False: the run is broken, and `out` is worth nothing. */
bool driver_call(struct running *run, const struct driver_call *call, struct drive_out *out);
/* Work that reads JSON of an agent's, and keeps no tree of it. False: the run is broken. */
bool run_parses(struct running *run, void (*work)(void *with), void *with);
/* Any other work on what an agent said. False: the run is broken. */
bool run_guarded(struct running *run, void (*work)(void *with), void *with);

/* ---- run_outbox.c ---- */

/* Nothing is sent before run_save() has made it durable. False: there is no room, and nothing was added. */
bool outbox_add(struct running *run, struct id id, struct str bytes, bool closes)
    __attribute__((warn_unused_result));
bool outbox_has(const struct running *run, struct id id);
void outbox_clear(struct running *run);
void outbox_send(struct running *run);
void outbox_saved(struct running *run, uint64_t serial); /* everything up to it is in drive.state */
void outbox_reconnected(struct running *run); /* the first one may not have reached the hold */
void outbox_tick(struct running *run, int64_t now);
/* True: that write is over, and ret_arrived says whether the agent was told. */
bool outbox_receipt(struct running *run, struct id id, enum hold_written written,
                    enum sure *ret_arrived);
void outbox_closed(struct running *run); /* the hold has closed the agent's input */
size_t outbox_size(const struct running *run);
char *outbox_put(const struct running *run, char *to);
bool outbox_load(struct running *run, struct str bytes);

/* ---- run_ask.c ---- */
bool ask_by_policy(const struct drive_spec *spec, const struct drive_event *event,
                   enum drive_answer *ret); /* false: a person is asked */
bool asks_add(struct run_asks *asks, const struct drive_event *event);
const struct run_ask *asks_first(const struct run_asks *asks); /* NULL: none */
void asks_drop_first(struct run_asks *asks);

/* ---- run_file.c ---- */
bool run_file_write(const struct running *run);
struct running *run_file_read(struct runs *runs,
                              const char *name); /* NULL: nothing to go on with */
void run_file_close(const struct running *run);  /* it is over: not gone on with after a restart */
void run_save(struct running *run);              /* once everything that was offered is safe */
void run_save_soon(struct running *run);         /* what was read has decided nothing */
bool run_load(struct running *run, uint64_t *ret_offset);

/* ---- run_words.c ---- */
void run_words_keep(struct running *run, const struct drive_out *out);
/* Its exit status and what it wrote to standard error: bounded, without secrets and control characters. */
struct str run_last_words(const struct running *run, struct arena *arena);
/* Why it cannot be driven, with what it printed before. */
struct str run_broken_words(const struct running *run, const struct drive_event *event,
                            struct arena *arena);
void run_end_keep(struct running *run, struct str why); /* why it ended, as the last line; once */
/* Of what a program printed: the line that explains most, and the first; without secrets and control characters. */
struct str words_explain(struct str output, struct arena *arena);
struct str words_first(struct str output, struct arena *arena);
void run_told_keep(struct running *run, struct str text); /* what is said to it */

/* ---- run_ready.c ---- */

struct ready_wanted { /* lasts until it is told */
    struct work_place *place;
    struct str tree, worker, session;
    struct id goal;
    uint32_t dispatch_n;
    uint64_t fence;
};
/* Once, from the loop, after ready_make() has returned. Empty: it is ready; otherwise why not. */
typedef void ready_made(void *with, struct str why);
struct readying *ready_make(struct runs *runs, const struct ready_wanted *wanted,
                            struct arena *arena, ready_made *done,
                            void *with); /* NULL: there is no memory, and nothing is told */
void ready_stop(struct readying *it); /* it is not wanted any more; told once nothing of it runs */

/* ---- run_clean.c ---- */
void run_output_drop(const char *folder); /* what is raw of a run that is over */
void clean_begin(uv_timer_t *timer);      /* a pass; the next one follows by itself */

/* ---- run_pull.c ---- */

enum pulled {
    PULL_OPENED,
    PULL_FAILED,
    PULL_LEFT, /* the daemon stops: the next one does it anew, and nothing is told */
};
/* Once, from the loop. `text`: which one, or why there is none. */
typedef void pull_opened(void *with, enum pulled pulled, struct str text);
/* Its title and text are read from the store; `forge` is the name of a channel. */
void pull_open(struct runs *runs, struct id goal, const struct pull *pull, struct str forge,
               pull_opened *done, void *with);
void pulls_stop(struct runs *runs);

/* ---- run_net.c ---- */

#define NET_MOST MINUTES(10) /* for one job that waits for a server */
struct git_wanted {
    struct runs *runs;
    struct id goal;   /* for whom */
    struct str where; /* the other side: a path or a URL */
    const char *what; /* for people, before the name of the server: "fetch from" */
};
struct git_job { /* lasts until `done`, as `work` does */
    struct pool_job job;
    struct errand errand;
    struct runs *runs;
    uv_work_t *work;
    uv_work_cb carry;
    uv_after_work_cb done;
    int status;
};
/* As uv_queue_work(), but what waits for a server does so in the pool for that, and nothing else waits behind it. `done` is called with
 * UV_EAGAIN when it was not carried out because too much waits, and with UV_ECANCELED when the daemon stops: then nothing is reported. */
void git_queue(struct git_job *job, uv_work_t *work, const struct git_wanted *wanted,
               uv_work_cb carry, uv_after_work_cb done);
void salvage_send(struct runs *runs); /* what the remote does not have yet */
bool net_start(struct runs *runs);
void net_stop(struct runs *runs);

/* ---- run_brake.c ---- */
void brake_start(struct runs *runs);
void brake_stop(struct runs *runs);
void run_brake_renew(struct running *run); /* its hold is spoken to anew, */
void run_brake_status(struct running *run, const struct hold_status *status); /* and answers */
void run_thaw(struct running *run, struct act *act);
bool run_is_braked(struct running *run);
unsigned brake_wait(struct runs *runs, struct op_wait *ret, unsigned most);

/* ---- run_contract.c ---- */

/* What a node has to leave. `artifacts`: struct artifact, in the arena that was handed in. */
struct contract {
    struct rows artifacts;
    int64_t within; /* VERIFY-02: for looking at all of them */
    struct str why; /* it could not be read; empty: it was */
};
/* Once, from the loop. */
typedef void contract_came(void *with, struct contract contract);
/* From the words that the hash names; the arena lasts until it came. False: nobody answers any more, and nothing comes. */
bool contract_read(struct runs *runs, struct id goal, struct hash text, struct arena *arena,
                   contract_came *done, void *with);
/* On a worker. Each artifact as it is (struct check_made), and what is wrong, a line for each that did not pass; empty: nothing
 * is. False: it cannot be looked at, and why. */
bool contract_hold(const struct contract *contract, struct str checkout, int64_t within,
                   struct arena *arena, struct rows *ret_checks, struct str *ret_wrong);

/* ---- run_work.c ---- */
void work_check(struct runs *runs, struct act *act);
void work_land(struct runs *runs, struct act *act);
void work_salvage(struct runs *runs, struct act *act, int64_t exit); /* of a stop: reports it */

/* What git needs to know, of the settings as they are now; texts in the arena. false: there is no repository. */
struct work_place {
    struct git_house house;
    struct git_repo repo;
    struct git_run run;
    struct str branch, command, setup, hook;
    uint16_t port_first, port_count, port; /* where blocks begin, how many each has, and its own */
    bool ready;       /* once it is there: nothing is left to be done before an agent begins */
    struct str forge; /* channel where a pull request is opened; empty: none is */
    struct str clone; /* our clone, once it is there */
    enum git_how how;
    bool lands;
    int64_t within;
    struct texts protect, rules; /* judged files: verify.protect, verify.rules */
    struct hash digest;          /* how work is checked: check_digest() */
};
/* Everything that it needs is on this host: the source is not asked. */
bool work_place_is_local(const struct work_place *place, struct arena *arena);
/* By git_queue(), from the source unless it is local. */
struct git_answer work_place_make(struct work_place *place, struct arena *arena,
                                  struct git_tree *ret);
void work_place_forget(struct work_place *place, struct arena *arena); /* its worktree is gone */
void work_place_ready(struct work_place *place, struct arena *arena);
/* ---- run_judged.c ---- */
struct judged_files {
    struct str *tests; /* that the target has, and that the candidate changes or deletes */
    uint32_t test_count;
    bool rules; /* it changes CI, or a script that verify.command runs */
};
struct judged_files judged_files(const struct work_place *place, const struct git_file *files,
                                 uint32_t count, struct arena *arena);
struct hash check_digest(const struct work_place *place, const struct settings *settings);

bool work_place(struct runs *runs, struct id goal, uint32_t charge, struct arena *arena,
                struct work_place *ret);
