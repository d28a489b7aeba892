/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks? Every door finds that out before anything else; nobody can say it of themselves. G-03. */
#pragma once

#include "base/id.h"
#include "model/limits.h"
#include "model/status.h"

enum role {
    ROLE_NOBODY,
    ROLE_HUMAN,    /* a person: the Unix socket, or a token */
    ROLE_OVERSEER, /* the supervisor's own helpers, such as a planner */
    ROLE_RUN,      /* one run of an agent: its own goal, and no more */
    ROLE_READER,   /* a dashboard: sees, and changes nothing */
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
    char actor[LIMIT_ACTOR + 1]; /* human:1000, actor:agent:coder-1 */
    struct id goal;              /* of a run; of anybody else zero: any goal */
    char run[LIMIT_NAME + 1];    /* of a run: its id */
    uint32_t run_n; /* of a run that we started: ordinal + 1 of the effect that did; 0: not known */
    uint32_t
        charge; /* of a run: n + 1 of the assignment that it works on; 0: it is bound to none */
    uint64_t
        denied[2]; /* SCOPE-05: of a run: what it may not call, by its place in OPS; see tool.h */
    struct {       /* SCOPE-07: of a run: what it may give to others, one a line; see scope.h */
        char allow[LIMIT_SCOPED + 1], deny[LIMIT_SCOPED + 1];
        bool listed;   /* nothing but `allow` */
        bool too_long; /* for here: it may give nothing */
    } tools;
};

extern const struct names ROLE_NAMES;

static inline enum who caller_who(const struct caller *caller) {
    return caller->role == ROLE_RUN        ? WHO_AGENT
           : caller->role == ROLE_OVERSEER ? WHO_OVERSEER
                                           : WHO_HUMAN;
}
