/* SPDX-License-Identifier: Apache-2.0 */
/* Delivers new records to followers.
 *
 * One thread reads the log once for all followers: after each commit of this host, and once a second for commits of
 * other hosts. It puts what it reads into a ring, in which each follower has a place. A follower that has fallen behind
 * the ring, or reconnects with an older place, gets pages of the store until the ring has its next event. A follower
 * that does not read keeps nothing here but its place. While there are no followers, nothing is read and no connection
 * is open. */
#pragma once

#include "engine/event_ring.h"

#include <sys/types.h>

struct follow;
struct follower;

struct follow_request {
    struct cursor from;
    int64_t since;
    bool by_goal, by_type;
    struct id goal;
    bool types[RECORD_TYPES];
};

/* Both are called under a lock: `wake` never before its `sleep`, and never after the follower has left. */
struct follow_ports {
    void (*sleep)(void *with);
    void (*wake)(void *with);
    void *with;
};

struct follow *follow_new(const char *store); /* NULL: no thread */
void follow_wrote(struct follow *follow);     /* something was committed; from any thread */
uint32_t follow_count(struct follow *follow);
void follow_end(
    struct follow *follow); /* wakes all followers, so that they learn that it is over */
void follow_free(struct follow *follow);

/* NULL: too many followers, no memory, or it is over. */
struct follower *follower_join(struct follow *follow, const struct follow_request *wanted,
                               struct follow_ports ports);
void follower_leave(struct follower *follower);
/* Returns text to send. 0: nothing now; the follower sleeps and will be woken. Below 0: it is over. */
ssize_t follower_read(struct follower *follower, char *to, size_t most);
