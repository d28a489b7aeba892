/* SPDX-License-Identifier: Apache-2.0 */
/* The authenticated caller of an operation. Every interface determines it before anything else; callers cannot claim an
 * identity. G-03. */
#pragma once

#include "base/id.h"
#include "model/limits.h"
#include "model/status.h"

enum role {
    ROLE_NOBODY,
    ROLE_HUMAN,    /* a person: the Unix socket, or a token */
    ROLE_OVERSEER, /* the supervisor's own helpers, such as a planner */
    ROLE_RUN,      /* one run of an agent: its own goal only */
    ROLE_READER,   /* a dashboard: read-only */
    ROLES
};

enum {
    MAY_HUMAN = 1 << ROLE_HUMAN,
    MAY_OVERSEER = 1 << ROLE_OVERSEER,
    MAY_RUN = 1 << ROLE_RUN,
    MAY_READER = 1 << ROLE_READER,
    MAY_MANAGE = MAY_HUMAN | MAY_OVERSEER,
    MAY_LOOK = MAY_MANAGE | MAY_READER,
    MAY_ALL = MAY_LOOK | MAY_RUN,
};

struct caller {
    enum role role;
    char actor[LIMIT_ACTOR + 1];  /* human:1000, actor:agent:coder-1 */
    struct id goal;               /* of a run: its goal; other roles: zero, any goal */
    char run[LIMIT_NAME + 1];     /* of a run: its id */
    char task[LIMIT_NODE_ID + 1]; /* of a run that we started: its node, for the log */
    uint32_t
        run_n; /* of a run that we started: ordinal + 1 of the effect that started it; 0: unknown */
    uint32_t assignment; /* of a run: n + 1 of its assignment; 0: bound to none */
    uint64_t denied
        [2]; /* SCOPE-05: of a run: operations that it may not call, by index in OPS; see tool.h */
    struct
    { /* SCOPE-07: of a run: tools that it may pass on to others, one per line; see scope.h */
        char allow[LIMIT_SCOPED + 1], deny[LIMIT_SCOPED + 1];
        bool listed;   /* only those in `allow` */
        bool too_long; /* the lists do not fit: it may pass on nothing */
    } tools;
};

extern const struct names ROLE_NAMES;

static inline enum who caller_who(const struct caller *caller) {
    return caller->role == ROLE_RUN        ? WHO_AGENT
           : caller->role == ROLE_OVERSEER ? WHO_OVERSEER
                                           : WHO_HUMAN;
}
