/* SPDX-License-Identifier: Apache-2.0 */
/* Table of the differences between agents that speak the Agent Client Protocol: one row per agent. */
#pragma once

#include "drivers/drive.h"

/* Where the token count of a turn is. */
enum acp_usage {
    ACP_USAGE_RESULT, /* result.usage, of the turn; opencode: of its last request, so a lower bound */
    ACP_USAGE_QUOTA, /* result._meta.quota.token_count, of the turn */
    ACP_USAGE_CHUNK, /* _meta.usage of an update: of one request */
    ACP_USAGE_STEPS, /* `used` of each usage_update that differs from the previous one: of one request */
};

/* SCOPE-08: how the agent is configured with the tools it may use. */
enum acp_scope {
    ACP_SCOPE_NONE,     /* not at all: its permission requests can be refused, no more */
    ACP_SCOPE_CLAUDE,   /* _meta of session/new */
    ACP_SCOPE_OPENCODE, /* OPENCODE_PERMISSION */
    ACP_SCOPE_SETTINGS, /* tools.core and tools.exclude of its settings file */
};

struct acp_pair {
    const char *name, *value; /* with placeholders: launch_fill() */
};

struct acp_quirk {
    const char *name;
    const char *args[4];
    struct acp_pair env[10];
    struct acp_pair files[2];         /* below its home */
    const char *mode_ask, *mode_free; /* rule 4: modes, set after new and load; NULL: it has none */
    struct acp_pair env_ask, env_free;
    enum acp_usage usage;
    enum acp_scope scope;
    const char *const *own_tools; /* Overseer's tools, added to a list of allowed ones */
    bool scope_leaks;             /* some tools stay available although they are not in the list */
    const char *const *tools;     /* SCOPE-03: tools that it has; NULL: not known */
    const char *veto; /* rule 3: an option whose id contains this changes more than it says */
    const char
        *failed_words[3]; /* rule 6: a turn whose text starts with these words is a failure */
    const char *failed_path, *failed_value; /* and a turn whose newest update has this */
    bool failed_without_usage;              /* and a turn without usage */
    const char *name_before; /* in the id of a tool call: the tool's name is before this */
    const char *noise; /* text that starts with this comes from the program, not from the agent */
    const char *begun; /* member of an update: the turn has begun */
    bool load_next_minute; /* rule 9: do not load a session in the minute in which it was created */
    bool replays_late;     /* the history follows the answer to load, until a quiet period */
    bool forgets;          /* loses a prompt whose turn was interrupted before its first word */
    const char *history;   /* where it stores the prompts it received, below its home */
};

const struct acp_quirk *acp_quirk_named(struct str name); /* NULL: there is none */
const struct acp_quirk *acp_quirk_at(uint32_t row);
uint32_t acp_quirk_row(const struct acp_quirk *quirk);
