/* SPDX-License-Identifier: Apache-2.0 */
/* Prints help about the commands. */
#pragma once

#include "cli/command.h"

#include <stdio.h>

int help_front(void);                             /* `overseer` alone: a few commands, by purpose */
int help_for(struct typed *typed);                /* --help, anywhere in the command */
void help_noun(FILE *file, const char *noun);     /* its verbs, one line each */
void help_command(const struct command *command); /* one command, in full */

/* The value shown after a flag: a choice, N, JSON … */
enum { VALUE_TEXT = 96 };
const char *flag_value_shown(const struct field *flag, bool positional, char text[VALUE_TEXT]);

int man_print(const char *noun); /* man.c: NULL: overseer(1) */
int man_events_print(void);      /* man_events.c: overseer-events(7) */
int man_api_print(void);         /* man_api.c: overseer-api(7) */
void man_text(const char *text); /* escaped for roff */
