/* SPDX-License-Identifier: Apache-2.0 */
/* What can people and programs ask for? One row for each operation; every door is an interpreter of it. */
#pragma once

#include "model/decision.h"
#include "store/store.h"

#include <jansson.h>

struct op_args { /* what any operation may be given */
    struct str key, title, command, goal, text;
    struct id goal_id; /* `goal`, parsed */
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
    size_t positional; /* how many of them the command line takes without a flag */

    /* writes: the signal, but for source, time and actor */
    void (*signal)(const struct op_args *args, struct signal *ret_signal);
    /* reads: what to ask of the store, and what to make of the answer */
    void (*request)(const struct op_args *args, struct store_request *ret_request);
    json_t *(*result)(const struct store_answer *answer, enum error *ret_error);
};

extern const struct op OP_GOAL_CREATE, OP_GOAL_REPORT, OP_GOAL_SHOW;
extern const struct op *const OPS[];
extern const size_t OP_COUNT;

const struct op *op_find(struct str name);

/* Fill the arguments from a JSON object; texts point into it. False: `why` says what is wrong with what. */
bool op_args_read(const struct op *op, json_t *params, struct op_args *ret_args, char *why,
                  size_t why_size);

/* An id as people see it: goal_ and 26 characters. */
enum { GOAL_ID_TEXT = 5 + ID_TEXT };
void goal_id_format(struct id id, char text[GOAL_ID_TEXT + 1]);
bool goal_id_parse(struct str text, struct id *ret_id);
