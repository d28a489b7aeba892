/* SPDX-License-Identifier: Apache-2.0 */
/* Does each agent of the settings start in its sandbox? */
#pragma once

#include "daemon/options.h"

/* A line of JSON on standard output for each: {"agent", "starts", "sandbox", "said", "login": {"verdict", "text"}}. */
int try_agents(struct options *options);

/* Takes over the environment of a process of ours. False: it cannot be read. */
bool environment_take(const char *pid);
