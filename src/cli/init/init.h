/* SPDX-License-Identifier: Apache-2.0 */
/* What init has found out about a repository, and what writes it into the settings. */
#pragma once

#include "cli/command.h"
#include "cli/init/init_hosts.h"
#include "cli/init/init_protected.h"
#include "model/setting/setting.h"

#include <limits.h>
#include <stdio.h>

enum { COMMAND = 512, ANSWER = 512 };

struct init {
    char folder[PATH_MAX - 64], file[PATH_MAX];
    char command[COMMAND]; /* empty: none */
    char setup[COMMAND];   /* before it, in a clean checkout; empty: none */
    const char *from;      /* the file that led to the command */
    char branch[ANSWER], remote[ANSWER];
    char author[2 * ANSWER + 4]; /* as git has it; empty: git has none */
    char before[PATH_MAX + 16];  /* where the old file is; empty: there was none */
    char name[LIMIT_AGENT + 1];  /* for an entry of [[repos]]; empty: the file is written anew */
    struct judged judged;
    struct hosts_found hosts;
    struct arena arena; /* memory of judged and hosts */
};

/* ---- init_setup.c ---- */
bool init_has_python_tests(const struct init *init, const char *text);
bool init_file_has(const char *folder, const char *name, const char *text); /* NULL: it exists */
void setup_find(struct init *init); /* once the test command is found */
json_t *checks_try(const struct init *init);
void tools_tell(const json_t *tried);  /* what of HOME runs find */
void checks_tell(const json_t *tried); /* nothing without an answer */

/* ---- init_write.c ---- */
bool folder_is(struct str path,
               const char *folder); /* a path of the settings: is it this folder? */
bool remote_is_forge(const struct init *init);
void toml_text(FILE *file, const char *text);
void author_write(FILE *file, const struct init *init, const char *key); /* nothing without one */
void setup_write(FILE *file, const struct init *init, const char *key);  /* nothing without one */
void hosts_write(FILE *file, const struct init *init);                   /* nothing without one */
void judged_write(FILE *file, const char *note, const char *key, const struct judged_list *list);
/* Names the repository if the settings have others and not this one. False: they have it already, under [[repos]]. */
bool repository_settle(struct typed *typed, struct init *init, const struct settings *old);
void repository_show(FILE *file, const struct init *init); /* the lines that are added */
bool repository_append(struct typed *typed, const struct init *init);
