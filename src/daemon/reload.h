/* SPDX-License-Identifier: Apache-2.0 */
/* How do new settings come into force while everything runs? G-28: validated first, then replaced whole; what is wrong
 * changes nothing. */
#pragma once

#include "daemon/house.h"
#include "daemon/order.h"
#include "model/setting.h"
#include "ops/op.h"

/* The policy that these settings are: its text without secrets, and what decisions read of it. NULL: no memory. */
struct policy_kept *policy_of_settings(const struct settings *settings);

/* As they are now, from any thread. They stay as they are until they are dropped, also after a reload. */
const struct settings *house_settings(struct house *house);
void house_settings_drop(const struct settings *settings);

/* The first ones; the house holds them until the next. */
void house_settings_set(struct house *house, struct settings *settings);

/* Read the file again. From any thread. A new reference to {"file", "policy", "changed": [{"name", "from", "to", "now"}]};
 * NULL: nothing was changed, and `why` says what is wrong with the file, or that there is no memory. */
json_t *house_settings_reload(struct house *house, struct str actor, char *why, size_t why_size);

void config_show_tell(struct house *house, struct op_call *call);
void config_reload_tell(struct house *house, struct op_call *call);
