/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the daemon's options from flags and settings. Flags are settings (model/setting/setting.h) under shorter names. */
#pragma once

#include "config/config.h"
#include "store/retain.h"
#include "sys/log.h"

#include <limits.h>

struct options {
    struct config_source source; /* read again by a reload */
    struct config_flag flags[CONFIG_FLAGS];
    struct settings *settings; /* as of the start */

    /* derived from the settings, in the form that the start needs */
    char store[PATH_MAX + 16], socket[PATH_MAX];
    char folder[PATH_MAX]; /* for what belongs to this host alone: registration, spool, tokens */
    char log_file[PATH_MAX];
    struct log_options log;
    long host;
    int64_t lease;
    struct retain_rules retain;
};

/* The options without any flags; for the maintenance verbs. */
void options_default(struct options *options);
/* -1: continue; otherwise the exit status. */
int options_parse(struct options *options, int argc, char **argv);

/* Creates the folders, once all options are known. */
void options_settle(struct options *options);
bool options_is_sqlite(const struct options *options);
