/* SPDX-License-Identifier: Apache-2.0 */
/* Who is at the other end of a Unix socket: a person, or an agent in a person's name? G-03.
 *
 * An agent has the uid of whoever started the daemon. What tells them apart is the hold: everything that an agent
 * starts stays below it (docs/hold.md), whatever it does. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum peer {
    PEER_NOBODY, /* it cannot be known, or is gone already */
    PEER_HELD,   /* it runs below a hold that we do not run below ourselves */
    PEER_FREE
};

/* `ret_hold`: the hold above it, also where it cannot be known who it is (-1); 0: none. */
enum peer peer_look(int fd, uid_t *ret_uid, pid_t *ret_hold);

enum { PEER_RUN = 64 };

/* The name of the folder that its hold works in, which is that of the run; empty: no hold is above it. False: it cannot be known. */
bool peer_run(int fd, char ret_run[PEER_RUN]);
