/* SPDX-License-Identifier: Apache-2.0 */
/* Reconstructs the text that an effect sent, or that an assignment last received. The texts that it is composed of are
 * stored by hash. */
#pragma once

#include "model/effect.h"
#include "store/store.h"

/* The hashes name texts that have to be among those read; a zero hash means no text. */
struct instruction {
    struct id goal;
    struct str node;
    struct hash text, handoff, outgoing;
    uint32_t words; /* enum wording */
};

/* ASSIGN-08: at most LIMIT_INSTRUCTION bytes. Empty: nothing was sent, or a text is no longer kept. */
struct str instruction_text(const struct instruction *about, const struct goal_shown *shown,
                            struct arena *arena);
