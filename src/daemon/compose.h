/* SPDX-License-Identifier: Apache-2.0 */
/* How does an effect that speaks to an agent get its words? The texts that it names are read by hash on a reader's
 * connection; core/words.h puts them together. */
#pragma once

#include "daemon/lookup.h"

/* `text` is empty when it could not be made: `why` says why, and nothing was sent. `node`: a
 * NODE_TEXT; `start`: a BEGINNING; both encoded, where the effect names them. From the lookups' thread; the texts are the caller's for the time of the call. */
struct composition {
    struct str text, node, start, why;
};
typedef void composed(void *with, const struct composition *made);

/* For EFFECT_SPAWN and EFFECT_SEND. `whole`: the task stands before whatever else is said, for somebody who has not heard it. `done` comes exactly once, also where nobody answers any more: then before this
 * returns. The effect is not needed any longer once it has returned. */
void compose(struct lookups *lookups, const struct effect *effect, bool whole, composed *done,
             void *with);
