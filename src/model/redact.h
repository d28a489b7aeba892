/* SPDX-License-Identifier: Apache-2.0 */
/* How does everything that somebody says lose its secrets before it is kept? Walks over the declared
 * fields, so that a new field is covered without a word here. */
#pragma once

#include "model/part.h"
#include "model/secret.h"
#include "model/signal.h"

/* STORE-14: every text of a signal, and what is encoded in its body. One whose body cannot be read keeps it:
 * whoever decides about it refuses it, and nothing is stored. The plan in an approval is left as it is: it
 * has to be the very bytes that were stored as the proposal. */
struct signal signal_redact(const struct secret_rules *rules, const struct signal *signal,
                            struct arena *arena);
