/* SPDX-License-Identifier: Apache-2.0 */
/* Reads quota windows out of what agent programs write. */
#pragma once

#include "model/quota/quota.h"

#include <jansson.h>

/* Claude Code: `rate_limit_info` of a rate_limit_event. */
void quota_read_claude(const json_t *info, struct quota *ret);

/* Codex: the newest token_count event with limits in a piece of its session's file, which may begin within a line and
 * may end within one. False: there is none. */
bool quota_read_codex(struct str lines, struct quota *ret);
