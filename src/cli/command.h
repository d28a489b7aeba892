/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the commands. Every operation is a command by its name; this module adds the commands that are not operations,
 * and short names for those that people type all day. Help, manual, completion and suggestions all use the same list. */
#pragma once

#include "cli/typed.h"
#include "ops/op.h"

enum group { /* purpose of a command, in the order in which people meet it */
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
    const char
        *asks;      /* for a destructive command: the question asked first, unless --yes is given */
    const char *of; /* the operation that it calls, */
    const char *does; /* or the verb of `overseerd --maintain`, or a path on the daemon */
    const struct op *op;
    const struct field *flags; /* in addition to those of the operation */
    size_t flag_count;
    size_t positional; /* how many of them need no flag; an operation has its own number */
    const char *preset, *preset_value; /* a parameter that is always sent */
    int (*run)(struct typed *typed);
};

/* A noun that several commands share, and what it is about. */
struct noun {
    const char *name;
    enum group group;
    const char *summary;
};

extern const struct field GLOBALS[]; /* flags of every command */
extern const size_t GLOBAL_COUNT;

size_t command_count(void);
const struct command *command_at(size_t i);
/* The longest command that these words begin with; NULL: none. */
const struct command *command_find(int count, char *const *words, int *ret_used);
/* The flags of a command by index; NULL: there are no more. The first `command_positional` need no name. */
const struct field *command_flag(const struct command *command, size_t i);
size_t command_positional(const struct command *command);
const char *command_summary(const struct command *command);
const char *command_help(const struct command *command);

/* The nouns in use: words that several commands begin with. NULL: there are no more. */
const struct noun *noun_at(size_t i);
const struct noun *noun_find(const char *name);
bool command_has_noun(const struct command *command, const char *noun);

/* The name of a flag as shown: parentId becomes parent-id. */
enum { FLAG_NAME = 64 };
const char *flag_shown(const struct field *flag, char text[FLAG_NAME]);

/* ---- functions that run the commands ---- */
int op_run(struct typed *typed);          /* act.c */
int maintain_run(struct typed *typed);    /* maintain.c */
int help_run(struct typed *typed);        /* help.c */
int completion_run(struct typed *typed);  /* completion.c */
int demo_run(struct typed *typed);        /* demo.c */
int account_add_run(struct typed *typed); /* account.c */
int live_run(struct typed *typed);        /* live.c */
int run_run(struct typed *typed);         /* run.c */
int diff_run(struct typed *typed);        /* task.c, as are those that follow */
int logs_run(struct typed *typed);
int attach_run(struct typed *typed);
int tell_run(struct typed *typed);
int decide_run(struct typed *typed);
int answer_run(struct typed *typed);
int release_run(struct typed *typed);
int alike_run(struct typed *typed); /* same_questions.c: with --same */
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
int get_run(struct typed *typed);          /* act.c: prints a path of the daemon unchanged */
int mcp_run(struct typed *typed);          /* mcp.c */
