/* SPDX-License-Identifier: Apache-2.0 */
/* What did a step decide? Data only: the ledger commits it, or throws it away. */
#pragma once

#include "model/effect.h"
#include "model/error.h"
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
};

struct decision {
    enum verdict verdict;
    enum error error; /* of a refusal */
    struct goal goal; /* afterwards */
    struct str title; /* of a new goal */
    struct record records[LIMIT_STEP_RECORDS];
    uint32_t record_count;
    struct effect_change effects[LIMIT_OPEN_EFFECTS];
    uint32_t effect_count;
};

/* What the operator set. Stored by hash; a change will be a signal. */
struct policy {
    int64_t act_within; /* how long an outcome may take before the effect counts as unconfirmed */
    struct hash hash;
};

struct policy policy_of(int64_t act_within);
