/* SPDX-License-Identifier: Apache-2.0 */
/* The list of drivers that an operator can choose. The line of a driver here gives its declaration and row in
 * drivers/drivers.c and its name in the settings; everything else is in its own file. */
#pragma once

/* DRIVER(constant, name, what to know when choosing it). */
#define DRIVER_LIST(DRIVER) \
    DRIVER(ACP, "acp", "") \
    DRIVER(CLAUDE, "claude", "") \
    DRIVER(TMUX, "tmux", "") \
    DRIVER(OPENCLAW, "openclaw", "") \
    DRIVER(COMMAND, "command", " (a program of yours: docs/agents.md)") \
    DRIVER(PRETEND, "pretend", " (a simulated agent)")
