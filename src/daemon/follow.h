/* SPDX-License-Identifier: Apache-2.0 */
/* Who wants to hear of what is recorded, and who tells them?
 *
 * One thread reads the log, once for all: after each commit of this host, and once a second for those of others. What it
 * reads goes into a ring; each follower has a place there. Who has fallen behind the ring, or comes back with an older
 * place, is given pages of the store until the ring has what comes next. A follower that does not read keeps nothing here
 * but its place. While nobody follows, nothing is read and no connection is open. */
#pragma once

#include "daemon/ring.h"

#include <sys/types.h>

struct follow;
struct follower;

struct follow_wish {
    struct cursor from;
    int64_t since;
    bool by_goal, by_type;
    struct id goal;
    bool types[RECORD_TYPES];
};

/* Both are called under a lock: `wake` never before its `sleep`, and not once the follower has left. */
struct follow_ports {
    void (*sleep)(void *with);
    void (*wake)(void *with);
    void *with;
};

struct follow *follow_new(const char *store); /* NULL: no memory, or no thread */
void follow_wrote(struct follow *follow);     /* something was committed; from any thread */
uint32_t follow_count(struct follow *follow);
void follow_end(struct follow *follow); /* everybody is woken, to be told that it is over */
void follow_free(struct follow *follow);

/* NULL: too many follow, or no memory, or it is over. */
struct follower *follower_join(struct follow *follow, const struct follow_wish *wish,
                               struct follow_ports ports);
void follower_leave(struct follower *follower);
/* Text to be sent. 0: nothing now, it sleeps and will be woken. Below 0: it is over. */
ssize_t follower_read(struct follower *follower, char *to, size_t most);
