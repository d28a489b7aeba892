/* SPDX-License-Identifier: Apache-2.0 */
/* What is an agent told, word for word? Put together when it is sent, from texts that are kept by hash: so equal things
 * give equal words, and no decision holds a text.
 *
 * What others wrote stands in lines that begin with "> ", and our own lines never do: nobody's text can pose as ours. */
#pragma once

#include "model/effect.h"
#include "model/part.h"

/* What the words are about. Texts that are no longer kept are NULL or empty, and left out. */
struct words_about {
    struct id goal;
    struct str node;
    const struct node_text *task;
    const struct crystal *handoff; /* CRYSTAL-06 */
    struct str said;               /* an answer; what went wrong before */
};

/* At most LIMIT_INSTRUCTION bytes. ASSIGN-19: WORDS_AGAIN is a preface, and then exactly what WORDS_TASK says. */
struct str words_write(enum wording words, const struct words_about *about, struct arena *arena);

/* REPORT-05: the lines between which an agent reports its end in words. */
#define WORDS_REPORT_BEGINS "--- completion report ---"
#define WORDS_REPORT_ENDS "--- end of report ---"

/* Is it a text that stands in our own example, to be replaced? Then whoever sends it back has said nothing. */
bool words_is_placeholder(struct str text);
