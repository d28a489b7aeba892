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

/* What did the change do to judged files (tests, CI, check scripts)? */
enum judged {
    JUDGED_NONE,  /* nothing, or it passes with the target's version of them, too */
    JUDGED_TESTS, /* tests were changed or deleted, and it passes only with its own version */
    JUDGED_RULES, /* CI or a check script was changed */
    JUDGEDS
};

/* Keyed by the commit that was checked and by how it was checked. */
struct verification {
    enum verified status;
    int64_t at;
    struct rows checks;  /* struct check_made */
    struct str commit;   /* the candidate */
    struct str onto;     /* the target's tip that it was built on; empty: nothing lands */
    struct str snapshot; /* what it was built from */
    struct hash digest;  /* of command, setup, protected paths and sandbox */
    enum judged judged;
    struct hash change; /* of what a person is shown of the candidate */
};

extern const struct shape VERIFICATION, CHECK_MADE;
extern const struct names VERIFIED_NAMES, CHECK_TYPE_NAMES, JUDGED_NAMES;
