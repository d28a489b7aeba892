/* SPDX-License-Identifier: Apache-2.0 */
/* Removes secrets from every text of a signal before it is stored. Walks over the declared fields, so that a new field
 * is covered without a change here. */
#pragma once

#include "model/part.h"
#include "model/secret/secret.h"
#include "model/signal.h"

/* STORE-14: redacts every text of a signal, and what is encoded in its body. A body that cannot be decoded stays
 * unchanged: the rule that handles the signal refuses it, and nothing is stored. The plan in an approval is not
 * redacted: it has to be exactly the bytes that were stored as the proposal. */
struct signal signal_redact(const struct secret_rules *rules, const struct signal *signal,
                            struct arena *arena);
