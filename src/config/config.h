/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the operator's settings: a file, the environment and flags, layered and checked as a whole. */
#pragma once

#include "model/setting/setting.h"

enum {
    CONFIG_PROBLEMS = 32, /* problems kept; the rest is only counted */
    CONFIG_FLAGS = 128,
};

/* A flag as it was given. Several flags for one list are its entries. */
struct config_flag {
    const char *name;  /* of the setting */
    const char *value; /* written as in the environment */
    const char *shown; /* the flag itself, for errors: --lease */
    enum span_unit unit;
    bool whole; /* list: the value is one entry, whatever it contains */
};

struct config_source {
    const char *file; /* NULL: the file that config_find() finds */
    bool ignore_file; /* use only flags and environment */
    bool ignore_environment;
    bool
        recorded; /* an earlier version recorded the text: its settings of parts that are not built are ignored */
    const struct config_flag *flags;
    uint32_t flag_count;
};

struct config_report {
    char
        problems[CONFIG_PROBLEMS]
                [320]; /* whole sentences: `overseer.toml:7:3: there is no setting "tick_evry" …` */
    uint32_t count;    /* may exceed the number kept */
};

/* The file that is read when none is named: OVERSEER_CONFIG, $XDG_CONFIG_HOME/overseer/overseer.toml,
 * /etc/overseer/overseer.toml. False: there is none. The path in OVERSEER_CONFIG is returned even if that file does not
 * exist. */
bool config_find(char *path, size_t size);

/* NULL: the report lists everything that is wrong. Otherwise the complete settings, with paths resolved. Free them with
 * config_free(). */
struct settings *config_load(const struct config_source *source, struct config_report *report);
void config_free(struct settings *settings);

/* The same from a text, reported as `name`; for tests. */
struct settings *config_load_text(struct str text, const char *name,
                                  const struct config_source *source, struct config_report *report);

/* overseer config check [FILE]: prints to stdout what is wrong, or that nothing is. Returns an exit status. */
int config_check_main(const char *file);

/* Prints overseer.toml(5), generated from the rows. */
void config_manual(void);
