/* SPDX-License-Identifier: Apache-2.0 */
/* What has to be there when a node is done? VERIFY-03: a file of what was made, and what is checked of it. */
#pragma once

#include "model/field.h"
#include "model/limits.h"

struct artifact {
    struct str path; /* from the top of the checkout */
    uint32_t json;   /* 1: it is valid JSON */
    uint32_t min_items;
    struct texts keys; /* that each item has */
    uint64_t min_bytes;
};

extern const struct shape ARTIFACT;

/* Why no file can be as this says, and what to write instead; NULL: one can. */
const char *artifact_broken(const struct artifact *artifact);

/* In a line, for whoever has to make it. */
struct str artifact_text(const struct artifact *artifact, struct arena *arena);
