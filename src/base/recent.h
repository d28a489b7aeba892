/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers a fixed number of recent ids; a new id replaces the oldest. */
#pragma once

#include "base/id.h"

enum { RECENT = 1024 };

struct recent { /* all zero: empty */
    struct id ids[RECENT];
    uint32_t next;
};

static inline void recent_add(struct recent *recent, struct id id) {
    recent->ids[recent->next++ % RECENT] = id;
}

static inline bool recent_has(const struct recent *recent, struct id id) {
    for (uint32_t i = 0; i < RECENT; i++)
        if (id_equal(recent->ids[i], id))
            return true;
    return false;
}
