/* SPDX-License-Identifier: Apache-2.0 */
/* Determines who is at the other end of a Unix socket: a person, or an agent that runs under a person's uid. G-03.
 *
 * An agent has the uid of the user who started the daemon. The hold tells them apart: everything that an agent starts
 * stays below its hold (docs/hold.md), whatever the agent does. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum peer {
    PEER_NOBODY, /* unknown, or gone already */
    PEER_HELD,   /* it runs below a hold that the daemon itself does not run below */
    PEER_FREE
};

/* `ret_hold`: the hold above the peer; 0: none; -1: unknown, and so is the peer. */
enum peer peer_look(int fd, uid_t *ret_uid, pid_t *ret_hold);

enum { PEER_RUN = 64 };

/* `ret_run`: the name of the working directory of the peer's hold, which is the name of the run; empty: no hold is
 * above the peer. False: unknown. */
bool peer_run(int fd, char ret_run[PEER_RUN]);
