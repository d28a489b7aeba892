/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to an agent that wait until it can hear them. */
#pragma once

#include "core/deciding.h"

bool outgoing_message_go_on(struct deciding *d,
                            struct assignment *assignment); /* mail.c: true: one is being sent */
bool outgoing_message_waits(const struct deciding *d, const struct assignment *assignment);
void words_put_by(struct deciding *d, const struct assignment *assignment, enum wording words,
                  struct hash outgoing); /* mail.c: queued, and sent as soon as possible */
bool outgoing_message_next(
    const struct deciding *d,
    struct assignment *assignment); /* mail.c: true: assignment->outgoing.message is set */
void outgoing_message_heard(
    struct deciding *, const struct assignment *assignment); /* mail.c: the message has arrived */

/* reply.c: replies wait for admission, too. */
void assignment_reply(struct deciding *, struct assignment *assignment, enum wording words);
void outgoing_set(struct deciding *, struct assignment *assignment, enum wording words,
                  struct hash outgoing);
void reply_due(struct deciding *, struct assignment *assignment);
void reply_granted(struct deciding *, struct assignment *assignment);
