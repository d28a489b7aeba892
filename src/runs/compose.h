/* SPDX-License-Identifier: Apache-2.0 */
/* Composes the text that an effect sends to an agent. Reads the texts that the effect names, by hash, on a reader's
 * connection; core/people/words.h puts them together. */
#pragma once

#include "engine/lookup.h"

/* `text` is empty if it could not be composed: `why` says why, and nothing was sent. `node`: a NODE_TEXT; `start`: a
 * BEGINNING; both encoded, if the effect names them. Passed on the lookups' thread; the texts are valid only during the
 * call. */
struct composition {
    struct str text, node, start, why;
};
typedef void composed(void *with, const struct composition *made);

/* For EFFECT_SPAWN and EFFECT_SEND. `whole`: put the task before the rest of the text, for an agent session that has
 * not received it. `done` is called exactly once; if no lookup is possible any more, before compose() returns. The
 * effect is not needed after compose() returns. */
void compose(struct lookups *lookups, const struct effect *effect, bool whole, composed *done,
             void *with);
