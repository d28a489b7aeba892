/* SPDX-License-Identifier: Apache-2.0 */
/* The process-wide redaction rules: built-in patterns and the operator's own. */
#pragma once

#include "model/secret/secret.h"

/* Prepares the rules, with the operator's own patterns beside the built-in ones. Call it once, before threads start. False: no
 * memory. */
bool redaction_init(const struct str *custom, uint32_t count);
const struct secret_rules *redaction_rules(void);

/* The text without its secrets, for logs and answers. */
struct str redacted(struct str text, struct arena *arena);
bool text_has_secret(struct str text);
