/* SPDX-License-Identifier: Apache-2.0 */
/* What of an aggregate is in memory, row by row? Rows of fixed size without pointers, in order of n: they are copied,
 * loaded and stored the same way, whatever they are. History stays in the store. */
#pragma once

#include "model/charge.h"
#include "model/desk.h"
#include "model/question.h"

/* The plan comes first: whoever carries a struct live may offer it as `plan` too. */
struct live {
    struct plan plan;
    struct charges charges;
    struct questions questions;
    struct letters letters;
    struct permits permits; /* these three: of a desk */
    struct accounts accounts;
    struct budgets budgets;
};

/* Any of them, seen alike: each begins with a pointer to its rows and their count. */
struct live_rows {
    void *at;
    uint32_t count;
};
