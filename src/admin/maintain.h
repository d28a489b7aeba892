/* SPDX-License-Identifier: Apache-2.0 */
/* Runs maintenance verbs on a store while no daemon uses it: `overseerd --maintain VERB` */
#pragma once

#include "sys/lock.h"

enum maintain_exit {
    MAINTAIN_DONE = 0,    /* done; nothing is wrong */
    MAINTAIN_FAILED = 1,  /* it failed: the store is in use or away, or the disk is full */
    MAINTAIN_USAGE = 2,   /* the command line is wrong */
    MAINTAIN_DAMAGE = 3,  /* damage was found; or it was repaired and something is lost */
    MAINTAIN_FOREIGN = 4, /* not a store, or written by a newer build: left unchanged */
};

enum { MAINTAIN_WORDS = 8 };

struct maintain {
    const char *store;                 /* sqlite:PATH or a PostgreSQL URI */
    const char *path;                  /* of a SQLite store; NULL: PostgreSQL */
    struct instance_lock *lock;        /* held; NULL: PostgreSQL, or not needed */
    const char *words[MAINTAIN_WORDS]; /* words after the verb that are not options */
    int word_count;
    const char *names[MAINTAIN_WORDS], *values[MAINTAIN_WORDS]; /* options of the verb */
    int option_count;
};

struct maintain_verb {
    const char *name;
    const char *words;   /* words that the verb takes, for the usage line; NULL: none */
    const char *options; /* the names of its options, each with a value, separated by spaces */
    const char *flags;   /* the same for options without a value */
    bool beside;         /* it may be used while a daemon runs: no lock is taken */
    bool makes;          /* the store need not exist */
    const char *summary;
    int (*run)(struct maintain *maintain);
};

/* The value of an option, or NULL. */
const char *maintain_option(const struct maintain *maintain, const char *name);

bool maintain_is_asked(int argc, char **argv);

/* Runs the verb under the instance lock and reports to people on standard output. Returns an exit status. */
int maintain_main(int argc, char **argv, const char *default_store);

/* maintain_log.c, maintain_mend.c */
int maintain_verify_log(struct maintain *maintain);
int maintain_examine(struct maintain *maintain);
int maintain_rebuild(struct maintain *maintain);
int maintain_accept_empty(struct maintain *maintain);

/* maintain_backup.c */
int maintain_backup(struct maintain *maintain);
int maintain_restore(struct maintain *maintain);
int maintain_retain(struct maintain *maintain);

/* maintain_export.c */
int maintain_export(struct maintain *maintain);
int maintain_import(struct maintain *maintain);
int maintain_forget(struct maintain *maintain);
