/* SPDX-License-Identifier: Apache-2.0 */
/* Puts new settings into force while the daemon runs. G-28: they are validated first, then replaced as a whole; invalid
 * settings change nothing. */
#pragma once

#include "engine/context.h"
#include "ledger/order.h"
#include "model/setting/setting.h"
#include "ops/op.h"

/* The policy that these settings define: its text without secrets, and the values that decisions read. NULL: no memory. */
struct policy_kept *policy_of_settings(const struct settings *settings);

/* The current settings, from any thread. They do not change until the caller drops them, even after a reload. */
const struct settings *context_settings(struct daemon_context *context);
void context_settings_drop(const struct settings *settings);

/* Sets the first settings; the daemon context holds them until the next ones. */
void context_settings_set(struct daemon_context *context, struct settings *settings);

/* Reads the file again. From any thread. Returns a new reference to {"file", "policy", "changed": [{"name", "from",
 * "to", "now"}]}; NULL: nothing was changed, and `why` says what is wrong with the file, or that there is no memory. */
json_t *context_settings_reload(struct daemon_context *context, struct str actor, char *why,
                                size_t why_size);

void config_show_answer(struct daemon_context *context, struct op_call *call);
void config_reload_answer(struct daemon_context *context, struct op_call *call);
