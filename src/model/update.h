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
};

extern const struct shape UPDATE;
