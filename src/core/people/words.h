/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the instructions that agents are sent. A text is composed when it is sent, from texts that are stored by hash:
 * so equal inputs give equal texts, and no decision holds a text.
 *
 * Text of others is quoted in lines that begin with "> ", and the supervisor's own lines never do: no quoted text can
 * pose as the supervisor's. */
#pragma once

#include "model/effect.h"
#include "model/part.h"

/* What the instruction is about. Texts that are no longer stored are NULL or empty, and left out. */
struct words_about {
    struct id goal;
    struct str node;
    const struct node_text *task;
    const struct handoff *handoff; /* CRYSTAL-06 */
    struct str outgoing;           /* an answer; what went wrong before */
};

/* At most LIMIT_INSTRUCTION bytes. ASSIGN-19: WORDS_AGAIN is a preface, followed by exactly the text of WORDS_TASK. */
struct str words_write(enum wording words, const struct words_about *about, struct arena *arena);

/* REPORT-05: the lines between which an agent writes its completion report as text. */
#define WORDS_REPORT_BEGINS "--- completion report ---"
#define WORDS_REPORT_ENDS "--- end of report ---"

/* True: the text is a placeholder of the example, to be replaced. An agent that sends it back has reported nothing. */
bool words_is_placeholder(struct str text);
