/* SPDX-License-Identifier: Apache-2.0 */
/* Which words did an effect send, or an assignment last get? The texts that they are made of are kept by hash. */
#pragma once

#include "model/effect.h"
#include "store/store.h"

/* What has to be among the texts that are read: zero ones mean nothing. */
struct instruction {
    struct id goal;
    struct str node;
    struct hash text, handoff, said;
    uint32_t words; /* enum wording */
};

/* ASSIGN-08: at most LIMIT_INSTRUCTION bytes. Empty: nothing was said, or a text is not kept any more. */
struct str instruction_text(const struct instruction *about, const struct goal_shown *shown,
                            struct arena *arena);
