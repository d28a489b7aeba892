/* SPDX-License-Identifier: Apache-2.0 */
/* How was the daemon told to run? Flags are settings (model/setting.h) under shorter names. */
#pragma once

#include "config/config.h"
#include "daemon/log.h"
#include "store/retain.h"

#include <limits.h>

struct options {
    struct config_source source; /* what a reload reads again */
    struct config_flag flags[CONFIG_FLAGS];
    struct settings *settings; /* as they were at the start */

    /* from them, as the start needs them */
    char store[PATH_MAX + 16], socket[PATH_MAX];
    char folder[PATH_MAX]; /* for what belongs to this host alone: registration, spool, tokens */
    char log_file[PATH_MAX];
    struct log_options log;
    long host;
    int64_t lease;
    struct retain_rules retain;
};

/* What is true without flags; for the verbs that look after a store. */
void options_default(struct options *options);
/* -1: go on; otherwise exit with it. */
int options_parse(struct options *options, int argc, char **argv);

/* After all of them are known: the folder, which is made. */
void options_settle(struct options *options);
bool options_is_sqlite(const struct options *options);
