/* SPDX-License-Identifier: Apache-2.0 */
/* In what do agents differ that speak the Agent Client Protocol? One row for each. */
#pragma once

#include "ports/drive.h"

/* Where the tokens of a turn are. */
enum acp_usage {
    ACP_USAGE_RESULT, /* result.usage, of the turn; opencode: of its last request, so at least */
    ACP_USAGE_QUOTA,  /* result._meta.quota.token_count, of the turn */
    ACP_USAGE_CHUNK,  /* _meta.usage of an update, of one request */
    ACP_USAGE_STEPS, /* used of each usage_update that differs from the one before: of one request */
};

/* SCOPE-08: how it is told which tools it may use. */
enum acp_scope {
    ACP_SCOPE_NONE,     /* not at all: who asks can be refused, no more */
    ACP_SCOPE_CLAUDE,   /* _meta of session/new */
    ACP_SCOPE_OPENCODE, /* OPENCODE_PERMISSION */
    ACP_SCOPE_SETTINGS, /* tools.core and tools.exclude of its settings file */
};

struct acp_pair {
    const char *name, *value; /* with places: launch_fill() */
};

struct acp_quirk {
    const char *name;
    const char *args[4];
    struct acp_pair env[10];
    struct acp_pair files[2];         /* below its home */
    const char *mode_ask, *mode_free; /* rule 4: set after new and load; NULL: has none */
    struct acp_pair env_ask, env_free;
    enum acp_usage usage;
    enum acp_scope scope;
    const char *const *own_tools; /* ours, beside a list of allowed ones */
    bool scope_leaks;             /* some tools stay although they are not in the list */
    const char *const *tools;     /* SCOPE-03: that it has; NULL: not known */
    const char *veto; /* rule 3: an option with this in its id changes more than it says */
    const char *failed_words[3]; /* rule 6: an end that begins with these words is a failure */
    const char *failed_path, *failed_value; /* and one whose newest update has this */
    bool failed_without_usage;              /* and one without usage */
    const char *name_before; /* of the id of a tool's call: its name stands before this */
    const char *noise;       /* words that begin so are the program's, not the agent's */
    const char *begun;       /* of an update: the turn has begun */
    bool load_next_minute;   /* rule 9: not in the minute in which it was made */
    bool replays_late;       /* the history comes behind the answer to load, until it is quiet */
    bool forgets;            /* a prompt whose turn was broken off before its first word */
    const char *history;     /* where it keeps what it was told, below its home */
};

const struct acp_quirk *acp_quirk_named(struct str name); /* NULL: there is none */
const struct acp_quirk *acp_quirk_at(uint32_t row);
uint32_t acp_quirk_row(const struct acp_quirk *quirk);
