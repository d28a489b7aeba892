/* SPDX-License-Identifier: Apache-2.0 */
/* What does the terminal look like, and how is a text made to fit it? */
#pragma once

#include "base/time.h"

#include <stdio.h>

enum tint { TINT_NONE, TINT_DIM, TINT_BOLD, TINT_GOOD, TINT_BAD, TINT_WARN, TINT_BUSY, TINTS };

bool term_is(FILE *file); /* a person looks at it */
size_t term_width(void);  /* columns of standard output; 0: no terminal, so nothing is cut */
size_t term_height(void); /* lines; 0: no terminal */
bool term_can_ask(void);  /* somebody can answer a question */
void term_start(void);    /* once, at the beginning */

/* Switches a colour on or off: nothing where there is no terminal, or NO_COLOR. */
void tint_on(FILE *file, enum tint tint);
void tint_off(FILE *file, enum tint tint);

/* Columns that a text takes. */
size_t text_width(struct str text);
/* Prints at most `width` columns of it, cut with …, and blanks up to `pad`. What could steer the terminal is
 * shown as a blank: texts come from agents too. 0: all of it. */
void text_print(FILE *file, struct str text, size_t width, size_t pad);
static inline void text_say(FILE *file, const char *text) {
    text_print(file, str_of(text), 0, 0);
}

/* Prints words up to the edge; the next line begins below `indent`. `column`: where the first one stands. */
void text_wrap(FILE *file, const char *text, size_t column, size_t indent);

/* "4h12", "18m", "3d": how long. */
enum { AGE_TEXT = 32, AGE_WIDE = 5, CLOCK_TEXT = 24 };
const char *age_format(int64_t seconds, char text[AGE_TEXT]);
/* "02:14" today, "Fri 23:10" this week, else the day; local. */
const char *clock_format(int64_t at_us, int64_t now_us, char text[CLOCK_TEXT]);
int64_t clock_now(void); /* microseconds of UTC */

/* What to do next, for people: on standard error, where that is a terminal. */
void hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A yes or no from the person; no where nobody can be asked. */
bool person_agrees(const char *question);

/* What is printed from here on goes through $PAGER where somebody looks at it. */
void pager_start(void);
void pager_end(void);
