/* SPDX-License-Identifier: Apache-2.0 */
/* What can people and programs ask for? One row for each operation; every door is an interpreter of it. */
#pragma once

#include "model/decision.h"
#include "store/store.h"

#include <jansson.h>

enum plan_mode { MODE_APPLY, MODE_DRAFT, MODES };
extern const struct names MODE_NAMES;

struct op_args { /* what any operation may be given */
    struct str key, title, command, goal, text, node, reason, trace, tag, search, after, run;
    struct id goal_id; /* `goal`, parsed */
    struct texts tags;
    enum priority priority;
    struct goal_text words;
    struct plan_text plan;
    struct plan_row row;
    enum plan_mode mode;
    enum plan_reason why;
    enum node_status status;
    enum goal_status goal_status;
    enum face face;
    enum blocked_by blocked;
    struct run run_patch;
    uint64_t version;
    uint32_t limit;
};

/* One operation being carried out. */
struct op_call {
    const struct op *op;
    const json_t *params; /* as they came, checked */
    struct op_args args;  /* texts point into params */
    struct arena arena;   /* lists of the arguments, and scratch */
    const struct policy *policy;
    int64_t at;
    enum error error; /* what came of it */
    char why[256];    /* and what is wrong with what */
    json_t *result;
};

enum op_kind {
    OP_WRITES, /* becomes a signal; answered once it is committed */
    OP_READS,  /* becomes a store request on a reader's connection */
};

struct op {
    const char *name;    /* noun.verb */
    const char *summary; /* one line */
    const char *help;    /* the rest, with an example */
    enum op_kind kind;
    const struct field *params;
    size_t param_count;
    size_t positional;         /* how many of them the command line takes without a flag */
    const struct shape *words; /* and the fields of this shape are parameters too, */
    size_t words_offset;       /* there in the arguments */
    uint32_t to;               /* moves: the status */
    bool merges; /* writes: made from what was read; tried again when that has changed meanwhile */

    /* What has to be read from the store first. False: nothing. Reads always have one. */
    bool (*request)(struct op_call *call, struct store_request *ret_request);
    /* reads: what to make of the answer */
    json_t *(*result)(struct op_call *call, const struct store_answer *answer);
    /* writes: the signal, but for source, time and actor. `answer` is what was read first, or NULL. False:
     * there is nothing to send; call->error or call->result says why. */
    bool (*signal)(struct op_call *call, const struct store_answer *answer,
                   struct signal *ret_signal);
};

extern const struct op *const OPS[];
extern const size_t OP_COUNT;

const struct op *op_find(struct str name);

/* Fill the arguments from a JSON object. False: call->why says what is wrong with what. */
bool op_args_read(struct op_call *call, const json_t *params);
void op_call_free(struct op_call *call);

/* Was this parameter given? null is not. */
bool op_given(const json_t *params, const char *name);

/* False, with an error and what to say about it. */
bool op_refuse(struct op_call *call, enum error error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An id as people see it: goal_ and 26 characters. */
enum { GOAL_ID_TEXT = 5 + ID_TEXT };
void goal_id_format(struct id id, char text[GOAL_ID_TEXT + 1]);
bool goal_id_parse(struct str text, struct id *ret_id);

/* Parameters that many operations have. */
#define PARAM(name, type, member, cap, flags, text) \
    { name, type, 0, FIELD_OF(op_args, member), cap, flags, NULL, text, 0, NULL }
#define PARAM_ENUM(name, member, names, flags, text) \
    { name, FIELD_ENUM, 0, FIELD_OF(op_args, member), 0, flags, names, text, 0, NULL }
#define PARAM_GOAL(flags) PARAM("goal", FIELD_TEXT, goal, 64, flags, "the goal's id")
#define PARAM_KEY \
    PARAM("key", FIELD_TEXT, key, LIMIT_KEY, 0, \
          "repeating the request with the same key does it once")
#define PARAM_REASON(flags) PARAM("reason", FIELD_TEXT, reason, LIMIT_REASON, flags, "why")
#define PARAM_VERSION \
    PARAM("version", FIELD_UINT, version, 0, 0, \
          "the plan's version that you saw; refused if it moved on")
#define PARAM_TRACE \
    PARAM("traceId", FIELD_TEXT, trace, LIMIT_KEY, 0, "of a causal chain, passed through")
