/* SPDX-License-Identifier: Apache-2.0 */
/* The known shapes of secrets, one row each. */
#pragma once

#include "model/secret/secret_pattern.h"

/* What must hold in addition to the pattern, where the pattern alone would also match ordinary text. */
enum secret_check {
    CHECK_NONE,
    CHECK_LITERAL, /* the value itself: not a $REFERENCE, <placeholder> or **** */
    CHECK_VALUE,   /* a literal, and not a word such as "missing", a name, a path or a call */
    CHECK_MIXED,   /* such a value with a digit or a sign in addition to its letters */
    CHECK_STRONG,  /* such a value with a digit and a letter */
    CHECK_PHONE,   /* as many digits as a telephone number, and not part of a longer number */
    CHECK_CALLED,  /* the same where the text names it as one: fewer digits suffice */
};

struct secret_shape {
    const char *name; /* several rows may share one */
    const char *pattern;
    enum secret_check check;
    const char *text; /* for docs/redaction.md; NULL on all rows of a name except the first */
};

extern const struct secret_shape SECRET_SHAPES[];
extern const uint32_t SECRET_SHAPE_COUNT;

/* Does the check hold? It may trim signs from the end of the secret. */
bool secret_check_passes(enum secret_check check, struct str text, struct span *secret);
