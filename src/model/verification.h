/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts of the checks on work that was reported as done. VERIFY-14: one verdict, check by check. */
#pragma once

#include "model/field.h"
#include "model/limits.h"

enum verified { VERIFIED_SKIPPED, VERIFIED_PASSED, VERIFIED_FAILED, VERIFIEDS };

enum check_type {
    CHECK_ARTIFACT, /* a file that has to exist */
    CHECK_REPORT,   /* the agent's report of its end */
    CHECK_COMMAND,  /* the operator's own command */
    CHECK_TYPES
};

struct check_made {
    enum check_type type;
    struct str target; /* a path, or the command that was run */
    uint32_t passed;
    struct str reason; /* why it failed; empty: it passed */
};

/* What the change did to judged files (tests, CI, check scripts). */
enum judged {
    JUDGED_NONE,  /* nothing, or it also passes with the target's version of them */
    JUDGED_TESTS, /* tests were changed or deleted, and it passes only with its own version */
    JUDGED_RULES, /* CI or a check script was changed */
    JUDGEDS
};

/* Keyed by the commit that was checked and by the way it was checked. */
struct verification {
    enum verified status;
    int64_t at;
    struct rows checks;  /* struct check_made */
    struct str commit;   /* the candidate */
    struct str onto;     /* the target's tip that it was built on; empty: nothing lands */
    struct str snapshot; /* what the candidate was built from */
    struct hash digest;  /* of command, setup, protected paths and sandbox */
    enum judged judged;
    struct hash change; /* of the candidate's change as shown to a person */
};

extern const struct shape VERIFICATION, CHECK_MADE;
extern const struct names VERIFIED_NAMES, CHECK_TYPE_NAMES, JUDGED_NAMES;
