/* SPDX-License-Identifier: Apache-2.0 */
/* What did the operator set? A file, the environment and flags, put on top of each other and checked whole. */
#pragma once

#include "model/setting.h"

enum {
    CONFIG_PROBLEMS = 32, /* told at once; the rest is counted */
    CONFIG_FLAGS = 128,
};

/* A flag as it was given. Several for one list are its entries. */
struct config_flag {
    const char *name;  /* of the setting */
    const char *value; /* as the environment would say it */
    const char *shown; /* the flag itself, for errors: --lease */
    enum span_unit unit;
    bool whole; /* of a list: it is one entry, whatever is in it */
};

struct config_source {
    const char *file; /* NULL: where config_find() finds one */
    bool ignore_file; /* flags and environment alone */
    bool ignore_environment;
    bool
        recorded; /* the text was recorded by an earlier version: what it has of parts that are not built is left out */
    const struct config_flag *flags;
    uint32_t flag_count;
};

struct config_report {
    char
        problems[CONFIG_PROBLEMS]
                [320]; /* whole sentences: `overseer.toml:7:3: there is no setting "tick_evry" …` */
    uint32_t count;    /* may be more than are kept */
};

/* The file that is read when none is named: OVERSEER_CONFIG, $XDG_CONFIG_HOME/overseer/overseer.toml,
 * /etc/overseer/overseer.toml. False: there is none. OVERSEER_CONFIG that is not there is still the answer. */
bool config_find(char *path, size_t size);

/* NULL: the report says what is wrong, all of it. Else the settings, complete: paths are resolved. Give them to
 * config_free(). */
struct settings *config_load(const struct config_source *source, struct config_report *report);
void config_free(struct settings *settings);

/* The same from a text, as `name`; for tests. */
struct settings *config_load_text(struct str text, const char *name,
                                  const struct config_source *source, struct config_report *report);

/* overseer config check [FILE]: prints to stdout what is wrong, or that nothing is. An exit status. */
int config_check_main(const char *file);

/* overseer.toml(5), from the rows. */
void config_manual(void);
