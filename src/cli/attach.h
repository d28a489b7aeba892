/* SPDX-License-Identifier: Apache-2.0 */
/* How does a person sit down at an agent's terminal? */
#pragma once

/* A client of tmux at that socket, held by bubblewrap, until it ends. Its exit status; -1: it could not be started. */
int attach_boxed(const char *bwrap, const char *tmux, const char *socket);
