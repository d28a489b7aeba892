/* SPDX-License-Identifier: Apache-2.0 */
/* Declares the operations that people and programs can call. One row for each operation; every interface interprets
 * these rows. */
#pragma once

#include "model/decision.h"
#include "model/update.h"
#include "ops/caller.h"
#include "store/store.h"

#include <jansson.h>

enum plan_mode { MODE_APPLY, MODE_DRAFT, MODES };
extern const struct names MODE_NAMES;

/* A task as it is handed over: it becomes a goal of its own, with a plan of one task. */
struct task_row {
    struct str title, text, agent;
    struct texts criteria, allow, deny;
    enum priority priority;
    enum wants wants;
};

struct op_args { /* the arguments of all operations */
    struct str key, title, command, goal, text, node, reason, trace, tag, search, after, run, actor,
        expires, note, token, since, type;
    enum role role;
    struct id goal_id; /* `goal`, parsed */
    bool goal_begins;  /* `goal` is only a prefix of an id: the call looks up the id, */
    struct id goal_first, goal_last; /* which lies between these, */
    uint64_t goal_number;            /* or is that of T and this number; 0: no such name */
    struct texts tags;
    enum priority priority;
    struct goal_text words;
    struct plan_text plan;
    struct plan_row row;
    enum plan_mode mode;
    enum plan_reason why;
    enum node_status status;
    enum goal_status goal_status;
    enum display_state display_state;
    enum blocked_by blocked;
    struct run_row run_patch;
    uint64_t version;
    uint32_t limit;
    uint32_t origin; /* config.show */
    struct str assignment;
    struct update update;
    struct handoff handoff;
    struct texts set; /* hypothetical settings: name=value */
    uint32_t host;
    uint32_t completion, confidence;                              /* agent.complete */
    struct progress progress;                                     /* agent.progress */
    struct str question, answer, fallback, who, until, cause, to; /* questions and mail */
    struct texts options;
    enum alarm level;
    enum intervention intervention;
    struct str detection, severity;
    enum question_kind asks;
    enum agent_message_kind agent_message;
    uint32_t ack;
    uint64_t from; /* work.log */
    uint32_t last;
    struct str commit; /* approve: the commit that the person was shown */
    uint32_t worktree; /* work.diff */
    struct str repo;   /* the name of a repository */
    struct task_row task;
    struct rows tasks; /* struct task_row */
    struct str name;   /* of a batch */
    uint32_t jobs;
    uint32_t quota; /* goal.create: percent */
};

/* Something that the host waits for; shown by `status`. */
enum { OP_WAITS = 20, OP_WAIT_TEXT = 192 };
struct op_wait {
    struct id goal; /* zero: no particular goal */
    char what[OP_WAIT_TEXT];
    int64_t since; /* wall clock */
    bool running;  /* false: waits for its turn, or for the next attempt */
};

/* The daemon's state, for the operations that show it. */
struct op_facts {
    uint32_t host;
    uint64_t epoch, era;
    bool joined, safe, stopped;
    char trouble[LIMIT_WHY]; /* the store's complaint, or the reason for safe mode; empty: none */
    int64_t started_at;
    int64_t clock_step_by, clock_step_at; /* the newest step of the wall clock; at 0: none today */
    const char *engine;                   /* sqlite or postgresql */
    struct op_wait waits[OP_WAITS];
    unsigned wait_count;
};

/* One operation being executed. */
/* The repositories of the settings: that of [repo] first, with key 0. */
struct op_repositories {
    uint32_t count;
    struct op_repository {
        char name[LIMIT_AGENT + 1];
        uint64_t key;
    } at[LIMIT_REPOSITORIES + 1];
};

/* How the runs of each agent log in. */
struct op_login {
    char agent[LIMIT_AGENT + 1];
    const char *kind; /* token, key, own, copied, none */
    char text[OP_WAIT_TEXT];
    int64_t expires_at; /* 0: not known */
};
struct op_logins {
    uint32_t count;
    struct op_login at[LIMIT_POLICY_AGENTS];
};

struct op_call {
    const struct op *op;
    const json_t *params;          /* as received, checked */
    union {                        /* texts point into params */
        const struct op_args args; /* a signal may be built from them twice: see expired_spool() */
        struct op_args
            args_read; /* the same, writable for op_args_read() and for code that completes an id */
    };
    struct arena arena; /* lists of the arguments, and scratch memory */
    const struct policy *policy;
    const struct caller *caller;
    const struct op_facts *facts;               /* if op->wants_facts */
    const struct op_repositories *repositories; /* if op->wants_repositories */
    const struct op_logins *logins;             /* if op->wants_logins */
    /* reads a policy from its text; NULL: not available. See engine/policy_text.h */
    bool (*policy_read)(struct str text, const struct texts *set, struct arena *arena,
                        struct policy *ret, char *why, size_t why_size);
    uint32_t asked; /* number of answers from the store so far */
    uint32_t nth;   /* which of its signals is built now, from 0 */
    void *own;      /* state that `next` keeps between two answers; in the arena */
    int64_t at;
    enum error error; /* the outcome */
    char why[256];    /* what is wrong, and with which argument */
    json_t *result;
};

enum op_kind {
    OP_WRITES, /* becomes a signal; answered once it is committed */
    OP_READS,  /* becomes a store request on a reader connection */
    OP_LOCAL,  /* the daemon itself answers or executes it: see engine/answer_locally.h */
};

enum op_answer {
    ANSWER_COMMITTED,
    ANSWER_SPOOLED, /* while the store is away: once it is safe on this host's disk */
    ANSWER_AT_ONCE, /* PROGRESS-02: the same also while the store is only slow, within a tenth of a second */
};

/* One member of the result. */
enum member_type {
    MEMBER_TEXT,
    MEMBER_NUMBER,
    MEMBER_FLAG,
    MEMBER_TIME, /* a text such as 2026-01-31T12:00:00Z, or null: never */
    MEMBER_OBJECT,
    MEMBER_LIST, /* of objects or texts */
    MEMBER_ANY,
};

struct op_member {
    const char *name;
    enum member_type type;
    bool always; /* never left out */
    const char *text;
};

/* The fields of a shape as members of the result. */
struct op_shown {
    const struct shape *shape;
    bool always;
};

struct op {
    const char *name; /* noun.verb */
    const char *also; /* alternative name; NULL: none */
    const char
        *alias; /* a newer name that requests may use as well: docs/frozen-names.md; NULL: none */
    const char *summary; /* one line */
    const char *help;    /* more text, with an example */
    enum op_kind kind;
    uint32_t may;          /* roles that may call it: MAY_… */
    enum op_answer answer; /* of a write */
    bool for_agents;       /* agents see it as a tool */
    const struct field *params;
    size_t param_count;
    size_t positional;               /* number of them that the command line takes without a flag */
    const struct shape *words;       /* the fields of this shape are parameters too, */
    size_t words_offset;             /* stored at this offset in the arguments */
    uint32_t to;                     /* moves: the target status */
    const struct op_member *members; /* of its result; writes without any have OP_WRITTEN */
    size_t member_count;
    const struct op_shown *shown; /* the fields of these shapes are members too */
    size_t shown_count;
    bool
        asks_first; /* it removes something: the command line asks for confirmation, unless --yes is given */
    bool
        slow; /* reads: completing the result takes longer than a disk read: done on a thread of a pool */
    bool
        stops; /* writes: it ends or stops work: it takes effect first if it cannot be committed at once */
    bool
        merges; /* writes: built from data that was read; retried if the data has changed meanwhile */

    /* What to read from the store first. False: nothing. Reads always have one. */
    bool (*request)(struct op_call *call, struct store_request *ret_request);
    /* releases what `own` holds beyond the arena; called once, when the call is freed */
    void (*close)(struct op_call *call);
    bool wants_facts;
    bool wants_repositories;
    bool wants_logins;
    /* reads that need more than one answer: the next request after this answer. It has to copy what it needs: the next
     * answer replaces this one. False: this was the last answer, and `result` is built from it. */
    bool (*next)(struct op_call *call, const struct store_answer *answer,
                 struct store_request *ret_request);
    /* reads: builds the result from the last answer */
    json_t *(*result)(struct op_call *call, const struct store_answer *answer);
    /* writes: builds the signal, except source, time and actor. `answer` is what was read first, or NULL. False: there
     * is nothing to send; call->error or call->result says why. It may be called more than once, so it must not change
     * its input: call->args is const. */
    bool (*signal)(struct op_call *call, const struct store_answer *answer,
                   struct signal *ret_signal);
    /* writes that need several signals: how many; each is built with another `nth`. All are built before the first one is
     * sent, and the others are sent once the first one is stored. A request that is repeated with its key sends them again, and each is applied once. NULL: one. */
    uint32_t (*signals)(const struct op_call *call);
    /* the result of several signals: takes `written`, the list of their results, in their order */
    json_t *(*joined)(struct op_call *call, json_t *written);
};

/* For the rows: a table with its size. */
#define OP_PARAMS(table) .params = (table), .param_count = count_of(table)
#define OP_MEMBERS(table) .members = (table), .member_count = count_of(table)
#define OP_SHOWN(table) .shown = (table), .shown_count = count_of(table)

extern const struct op *const OPS[];
extern const size_t OP_COUNT;

/* The result of every write: goalId, version, seq, or that it was forwarded or spooled. */
extern const struct op_member OP_WRITTEN[];
extern const size_t OP_WRITTEN_COUNT;

/* Finds an operation by name, with or without the prefix "overseer." (API-01 …). */
const struct op *op_find(struct str name);

/* May the caller call it? False: call->error says why not. A run may name only its own goal; naming none means its own. */
bool op_allows(struct op_call *call);
/* The same, once the name of the goal was looked up. */
bool op_goal_is_own(struct op_call *call, const struct id *found, uint32_t count);

/* Fills the arguments from a JSON object. False: call->why says what is wrong, and with which argument. */
bool op_args_read(struct op_call *call, const json_t *params);
void op_call_free(struct op_call *call);

/* Was this parameter given? null counts as not given. */
bool op_given(const json_t *params, const char *name);

/* Returns false, after setting the error and its explanation. */
bool op_refuse(struct op_call *call, enum error error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An id as shown to people: goal_ and 26 characters. */
enum { GOAL_ID_TEXT = 5 + ID_TEXT };
void goal_id_format(struct id id, char text[GOAL_ID_TEXT + 1]);
bool goal_id_parse(struct str text, struct id *ret_id);
/* For commands: its name, or its id if it has none. */
void goal_name_or_id(const struct goal *goal, char text[GOAL_ID_TEXT + 1]);
/* Puts "name": T7; nothing, if the goal has no number. */
void goal_name_put(json_t *to, uint64_t number);
/* The range of ids with this prefix. False: it is not a prefix of an id, or too short to search for. */
bool goal_id_range(struct str text, struct id *ret_first, struct id *ret_last);

/* Parameters that many operations have. */
#define PARAM(name, type, member, cap, flags, text) \
    { name, type, 0, FIELD_OF(op_args, member), cap, flags, NULL, text, 0, NULL }
#define PARAM_ENUM(name, member, names, flags, text) \
    { name, FIELD_ENUM, 0, FIELD_OF(op_args, member), 0, flags, names, text, 0, NULL }
#define PARAM_GOAL(flags) \
    PARAM("goal", FIELD_TEXT, goal, 64, flags, \
          "its name such as T7, its id, or a unique prefix of that")
#define PARAM_KEY \
    PARAM( \
        "key", FIELD_TEXT, key, LIMIT_KEY, 0, \
        "idempotency key: repeating the request with the same key applies it once; another request with it is refused")
#define PARAM_REASON(flags) PARAM("reason", FIELD_TEXT, reason, LIMIT_REASON, flags, "why")
#define PARAM_VERSION \
    PARAM("version", FIELD_UINT, version, 0, 0, \
          "the plan's version that you read; refused if the plan has changed since")
#define PARAM_TRACE \
    PARAM("traceId", FIELD_TEXT, trace, LIMIT_KEY, 0, "trace id of a causal chain, passed through")
