/* SPDX-License-Identifier: Apache-2.0 */
/* Reports what the terminal can do, and makes text fit it. */
#pragma once

#include "base/time.h"

#include <stdio.h>

enum tint { TINT_NONE, TINT_DIM, TINT_BOLD, TINT_GOOD, TINT_BAD, TINT_WARN, TINT_BUSY, TINTS };

bool term_is(FILE *file); /* a person reads it */
size_t term_width(void);  /* columns of standard output; 0: no terminal, so nothing is cut */
size_t term_height(void); /* lines; 0: no terminal */
bool term_can_ask(void);  /* a person can answer a question */
void term_start(void);    /* call once, at the start */

/* Switches a colour on or off; does nothing without a terminal, or with NO_COLOR. */
void tint_on(FILE *file, enum tint tint);
void tint_off(FILE *file, enum tint tint);

/* The number of columns that a text takes. */
size_t text_width(struct str text);
/* Prints at most `width` columns of it, cut with …, and blanks up to `pad`. Characters that could control the terminal
 * are shown as blanks, because texts come from agents too. 0: all of it. */
void text_print(FILE *file, struct str text, size_t width, size_t pad);
void lines_say(const char *text); /* several lines of what others wrote */
static inline void text_say(FILE *file, const char *text) {
    text_print(file, str_of(text), 0, 0);
}

/* Prints words up to the edge; the next line begins at `indent`. `column`: where the first word begins. */
void text_wrap(FILE *file, const char *text, size_t column, size_t indent);

/* A duration: "4h12", "18m", "3d". */
enum { AGE_TEXT = 32, AGE_WIDE = 5, CLOCK_TEXT = 24 };
const char *age_format(int64_t seconds, char text[AGE_TEXT]);
/* "02:14" today, "Fri 23:10" this week, else the day; local time. */
const char *clock_format(int64_t at_us, int64_t now_us, char text[CLOCK_TEXT]);
int64_t clock_now(void); /* microseconds, UTC */

/* Tells people what to do next: on standard error, if that is a terminal. */
void hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Asks the user for yes or no; no if the user cannot be asked. */
bool person_accepts(const char *question); /* Enter means yes: for what can be taken back */
bool person_agrees(const char *question);

/* Sends all further output through $PAGER if a person reads it. */
void pager_start(void);
void pager_end(void);
