/* SPDX-License-Identifier: Apache-2.0 */
/* How does an agent say where it stands, in the agreed form? UPDATE-02. What is absent changes nothing. */
#pragma once

#include "model/part.h"

struct update {
    struct str goal, node; /* absent: those of the assignment that it was asked for */
    struct str status;     /* of a node; checked against its table, not here */
    struct str summary, next;
    struct texts blockers;
    struct texts files, tests, commits; /* evidence */

    /* REPORT-01: it says that it is at an end; not part of the block */
    uint32_t completion, confidence; /* + 1; 0: it does not say */
    struct rows artifacts;           /* struct artifact_said */
    struct texts warnings;
    uint32_t by_tool; /* 1: it said so with report_completion, not in its words */
};

enum completion { COMPLETION_COMPLETE, COMPLETION_PARTIAL, COMPLETION_FAILED, COMPLETIONS };
enum confidence { CONFIDENCE_HIGH, CONFIDENCE_MEDIUM, CONFIDENCE_LOW, CONFIDENCES };

struct artifact_said {
    struct str path, description;
};

/* PROGRESS-01: how far it is. */
enum progress_level { PROGRESS_OPERATIONAL, PROGRESS_PLAN, PROGRESS_DETAIL, PROGRESS_LEVELS };

struct progress {
    struct str phase;
    uint32_t percent; /* + 1; 0: it does not say */
    enum progress_level level;
    struct texts metrics; /* name=value */
};

extern const struct shape UPDATE, ARTIFACT_SAID, PROGRESS;
extern const struct names COMPLETION_NAMES, CONFIDENCE_NAMES, PROGRESS_LEVEL_NAMES;
