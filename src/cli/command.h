/* SPDX-License-Identifier: Apache-2.0 */
/* What can be typed? Every operation is a command by its name; this adds what is no operation, and the short
 * names of those that people type all day. Help, manual, completion and guesses all walk the same list. */
#pragma once

#include "cli/typed.h"
#include "ops/op.h"

enum group { /* what it is for, in the order in which people meet it */
             GROUP_BEGIN,
             GROUP_LOOK,
             GROUP_WORK,
             GROUP_KEEP,
             GROUP_MORE,
             GROUPS
};
extern const char *const GROUP_NAMES[GROUPS];

struct command {
    const char *words; /* "backup", "goal create" */
    enum group group;
    const char *summary; /* NULL: the operation's */
    const char *help;
    const char *asks; /* it takes something away: this is asked first, unless told --yes */
    const char *of;   /* the operation that it asks for, */
    const char *does; /* or the verb of `overseerd --maintain`, or a path of the daemon */
    const struct op *op;
    const struct field *flags; /* beside those of the operation */
    size_t flag_count;
    size_t positional; /* how many of them need no flag; of an operation: as that says */
    const char *preset, *preset_value; /* a parameter that is always given */
    int (*run)(struct typed *typed);
};

/* A noun of several commands, and what it is about. */
struct noun {
    const char *name;
    enum group group;
    const char *summary;
};

extern const struct field GLOBALS[]; /* flags that every command has */
extern const size_t GLOBAL_COUNT;

size_t command_count(void);
const struct command *command_at(size_t i);
/* The command that these words begin with, the longest; NULL: none. */
const struct command *command_find(int count, char *const *words, int *ret_used);
/* Its flags, one after the other; NULL: there are no more. The first `command_positional` need no name. */
const struct field *command_flag(const struct command *command, size_t i);
size_t command_positional(const struct command *command);
const char *command_summary(const struct command *command);
const char *command_help(const struct command *command);

/* The nouns in use: words that several commands begin with. NULL: there are no more. */
const struct noun *noun_at(size_t i);
const struct noun *noun_find(const char *name);
bool command_has_noun(const struct command *command, const char *noun);

/* parentId as it is shown: parent-id. */
enum { FLAG_NAME = 64 };
const char *flag_shown(const struct field *flag, char text[FLAG_NAME]);

/* ---- who carries them out ---- */
int op_run(struct typed *typed);         /* act.c */
int maintain_run(struct typed *typed);   /* maintain.c */
int help_run(struct typed *typed);       /* help.c */
int completion_run(struct typed *typed); /* completion.c */
int demo_run(struct typed *typed);       /* demo.c */
int run_run(struct typed *typed);        /* run.c */
int diff_run(struct typed *typed);       /* task.c, and those that follow */
int logs_run(struct typed *typed);
int attach_run(struct typed *typed);
int tell_run(struct typed *typed);
int decide_run(struct typed *typed);
int answer_run(struct typed *typed);
int release_run(struct typed *typed);
int alike_run(struct typed *typed); /* with --same */
int retry_run(struct typed *typed);
int init_run(struct typed *typed);         /* init.c */
int up_run(struct typed *typed);           /* up.c */
int down_run(struct typed *typed);         /* up.c */
int doctor_run(struct typed *typed);       /* doctor.c */
int events_run(struct typed *typed);       /* events.c */
int gateway_run(struct typed *typed);      /* gateway.c */
int adopt_run(struct typed *typed);        /* adopt.c */
int config_check_run(struct typed *typed); /* config.c */
int version_run(struct typed *typed);      /* main.c */
int get_run(struct typed *typed);          /* act.c: a path of the daemon, as it came */
int mcp_run(struct typed *typed);          /* mcp.c */
