/* SPDX-License-Identifier: Apache-2.0 */
/* The decision of a step, as data: the ledger commits it or discards it. */
#pragma once

#include "model/effect.h"
#include "model/error.h"
#include "model/part.h"
#include "model/policy.h"
#include "model/record.h"

enum verdict {
    VERDICT_NOTHING, /* decided nothing, writes nothing; may request another step at due_at */
    VERDICT_CHANGE,
    VERDICT_REFUSE, /* the sender asked for something that is not allowed */
    VERDICT_SAMPLE, /* decided nothing; assignments are stored, and the next record mentions it */
};

enum effect_op { EFFECT_OP_MAKE, EFFECT_OP_MOVE, EFFECT_OP_END };

struct effect_change {
    enum effect_op op;
    struct effect_slot slot; /* after the step */
    struct str body;         /* of a new effect */
    struct str sealed;       /* the same, as the store keeps it */
};

struct text_row { /* a text stored separately, by hash */
    struct hash hash;
    struct str body;
};

struct decision {
    enum verdict verdict;
    enum error error; /* of a refusal */
    struct str why;   /* what exactly is wrong; empty: the error's own sentence suffices */
    struct goal goal; /* after the step */
    int64_t due_at;   /* nothing was decided: when to step again; 0: as stored */
    union {           /* after the step; shares unchanged rows with the world */
        struct live live;
        struct plan plan;
    };
    struct str title;        /* new or changed; empty: unchanged */
    const struct tags *tags; /* the same; NULL: unchanged */
    struct record *records;
    uint32_t record_count, record_cap;
    struct effect_change effects[LIMIT_OPEN_EFFECTS * 2];
    uint32_t effect_count;
    struct part_change *parts;
    uint32_t part_count, part_cap;
    struct text_row *texts;
    uint32_t text_count, text_cap;
};
