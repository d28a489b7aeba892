/* SPDX-License-Identifier: Apache-2.0 */
/* Which shapes of secrets are known? One row each. */
#pragma once

#include "model/secret_pattern.h"

/* What must hold besides the pattern, because the pattern alone would take ordinary text as well. */
enum secret_check {
    CHECK_NONE,
    CHECK_LITERAL, /* the value itself: no $REFERENCE, <placeholder> or **** */
    CHECK_VALUE,   /* a literal, and no word such as "missing", no name, path or call */
    CHECK_MIXED,   /* such a value with a digit or a sign besides its letters */
    CHECK_STRONG,  /* such a value with a digit and a letter */
    CHECK_PHONE,   /* as many digits as a telephone number, and no part of a longer number */
    CHECK_CALLED,  /* the same, when the text calls it one: fewer digits will do */
};

struct secret_shape {
    const char *name; /* several rows may share one */
    const char *pattern;
    enum secret_check check;
    const char *text; /* for docs/redaction.md; NULL on all rows of a name but the first */
};

extern const struct secret_shape SECRET_SHAPES[];
extern const uint32_t SECRET_SHAPE_COUNT;

/* Does the check hold? It may take signs off the end of the secret. */
bool secret_check_passes(enum secret_check check, struct str text, struct span *secret);
