/* SPDX-License-Identifier: Apache-2.0 */
/* What did the checks say of work that was called done? VERIFY-14: one verdict, check by check. */
#pragma once

#include "model/field.h"
#include "model/limits.h"

enum verified { VERIFIED_SKIPPED, VERIFIED_PASSED, VERIFIED_FAILED, VERIFIEDS };

enum check_type {
    CHECK_ARTIFACT, /* a file that has to be there */
    CHECK_REPORT,   /* that its agent reported its end */
    CHECK_COMMAND,  /* the operator's own */
    CHECK_TYPES
};

struct check_made {
    enum check_type type;
    struct str target; /* a path, or what was run */
    uint32_t passed;
    struct str reason; /* why not; empty: it passed */
};

struct verification {
    enum verified status;
    int64_t at;
    struct rows checks; /* struct check_made */
};

extern const struct shape VERIFICATION, CHECK_MADE;
extern const struct names VERIFIED_NAMES, CHECK_TYPE_NAMES;
