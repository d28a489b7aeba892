/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches a person's terminal to an agent's terminal. */
#pragma once

/* Runs a tmux client at that socket, confined by bubblewrap, until it ends. Returns its exit status; -1: it could not
 * be started. */
int attach_boxed(const char *bwrap, const char *tmux, const char *socket);
