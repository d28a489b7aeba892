/* SPDX-License-Identifier: Apache-2.0 */
/* Artifacts: the files that have to exist when a node is done, and what is checked of them. VERIFY-03. */
#pragma once

#include "model/field.h"
#include "model/limits.h"

struct artifact {
    struct str path; /* relative to the top of the checkout */
    uint32_t json;   /* 1: it must be valid JSON */
    uint32_t min_items;
    struct texts keys; /* that each item must have */
    uint64_t min_bytes;
};

extern const struct shape ARTIFACT;

/* Why no file can satisfy this, and what to write instead; NULL: a file can. */
const char *artifact_broken(const struct artifact *artifact);

/* One line for the agent that has to make the file. */
struct str artifact_text(const struct artifact *artifact, struct arena *arena);
