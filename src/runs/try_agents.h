/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether each agent of the settings starts in its sandbox. */
#pragma once

#include "model/setting/setting.h"

/* Prints a line of JSON on standard output for each agent: {"agent", "starts", "sandbox", "said", "login": {"verdict",
 * "text"}}. */
int try_agents(struct settings *settings, const char *socket, const char *folder);

/* Takes over the environment of a process of ours. False: it cannot be read. */
bool environment_take(const char *pid);
