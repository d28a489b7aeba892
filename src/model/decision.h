/* SPDX-License-Identifier: Apache-2.0 */
/* What did a step decide? Data only: the ledger commits it, or throws it away. */
#pragma once

#include "model/effect.h"
#include "model/error.h"
#include "model/part.h"
#include "model/policy.h"
#include "model/record.h"

enum verdict {
    VERDICT_NOTHING, /* decided nothing, writes nothing; it may want to be asked again at due_at */
    VERDICT_CHANGE,
    VERDICT_REFUSE, /* somebody asked for what they may not have */
    VERDICT_SAMPLE, /* decided nothing; assignments are stored, and the next record tells of it */
};

enum effect_op { EFFECT_OP_MAKE, EFFECT_OP_MOVE, EFFECT_OP_END };

struct effect_change {
    enum effect_op op;
    struct effect_slot slot; /* as it is afterwards */
    struct str body;         /* of a new one */
    struct str sealed;       /* the same, as the store keeps it */
};

struct text_row { /* a text that is kept apart, by hash */
    struct hash hash;
    struct str body;
};

struct decision {
    enum verdict verdict;
    enum error error; /* of a refusal */
    struct str why;   /* and what is wrong with what; empty: the error's own sentence says it */
    struct goal goal; /* afterwards */
    int64_t due_at;   /* nothing was decided: when it wants to be asked again; 0: as stored */
    union {           /* afterwards; shares its rows with the world where nothing changed */
        struct live live;
        struct plan plan;
    };
    struct str title;        /* new, or changed; empty: as it was */
    const struct tags *tags; /* the same; NULL: as they were */
    struct record *records;
    uint32_t record_count, record_cap;
    struct effect_change effects[LIMIT_OPEN_EFFECTS * 2];
    uint32_t effect_count;
    struct part_change *parts;
    uint32_t part_count, part_cap;
    struct text_row *texts;
    uint32_t text_count, text_cap;
};
