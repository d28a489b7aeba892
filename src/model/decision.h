/* SPDX-License-Identifier: Apache-2.0 */
/* What did a step decide? Data only: the ledger commits it, or throws it away. */
#pragma once

#include "model/effect.h"
#include "model/error.h"
#include "model/part.h"
#include "model/record.h"

enum verdict {
    VERDICT_NOTHING, /* decided nothing, writes nothing */
    VERDICT_CHANGE,
    VERDICT_REFUSE, /* somebody asked for what they may not have */
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
    struct plan plan; /* afterwards; shares its nodes with the world where nothing changed */
    struct str title; /* new, or changed; empty: as it was */
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

/* What the operator set. Stored by hash; a change will be a signal. */
struct policy {
    int64_t act_within; /* how long an outcome may take before the effect counts as unconfirmed */
    uint32_t approve_plans; /* PLAN-33: 1: what the overseer plans waits for a person */
    struct str plan_agents; /* PLAN-23: agents that may apply plans, separated by spaces */
    struct hash hash;
};

struct policy policy_of(int64_t act_within);
struct policy policy_seal(struct policy policy); /* with its hash */
