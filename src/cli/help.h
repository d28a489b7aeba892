/* SPDX-License-Identifier: Apache-2.0 */
/* How is it said what can be typed? */
#pragma once

#include "cli/command.h"

#include <stdio.h>

int help_front(void);                             /* `overseer` alone: few, by purpose */
int help_for(struct typed *typed);                /* --help, wherever it stands */
void help_noun(FILE *file, const char *noun);     /* its verbs, a line each */
void help_command(const struct command *command); /* one of them, in full */

/* What stands behind a flag: a choice, N, JSON … */
enum { VALUE_TEXT = 96 };
const char *flag_value_shown(const struct field *flag, bool positional, char text[VALUE_TEXT]);

int man_print(const char *noun); /* man.c: NULL: overseer(1) */
int man_events_print(void);      /* man_events.c: overseer-events(7) */
int man_api_print(void);         /* man_api.c: overseer-api(7) */
void man_text(const char *text); /* as roff */
