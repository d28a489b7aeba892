/* SPDX-License-Identifier: Apache-2.0 */
/* How does a message reach a person outside of Overseer, and what came of it?
 *
 * A port: it is told what to say and on which channel, says it once, and reports. It never tries again by itself. Tokens are
 * read from their files when they are needed, and are in no text that leaves here. */
#pragma once

#include "model/notice.h"

#include <uv.h>

enum said {
    SAID_DONE,    /* the service has taken it */
    SAID_LATER,   /* it has not, and may the next time: away, busy, over its limit */
    SAID_REFUSED, /* it has not, and will not: wrong address, wrong token, wrong words */
    SAID_UNKNOWN, /* it may have: the answer was lost. Try again with notice->unsure */
    SAIDS
};
extern const struct names SAID_NAMES;

struct channel_outcome {
    enum said said;
    int64_t again_at; /* not before, as the service asked; microseconds of UTC; 0: it did not say */
    struct str reference; /* what the service calls it: an issue's number, a message's id */
    struct str url;       /* where it can be seen */
    struct str why;       /* a sentence for people; of every outcome but SAID_DONE */
};

/* Called exactly once, from the loop, never before channel_say() has returned. The texts last as long as the call. */
typedef void channel_said(void *with, const struct channel_outcome *outcome);

struct channels;

/* now: the wall clock, microseconds of UTC. NULL: no memory. */
struct channels *channels_start(uv_loop_t *loop, int64_t (*now)(void));

/* Channel and notice are copied as far as they are needed. False: there is no memory, and `done` will not be called. */
bool channel_say(struct channels *channels, const struct channel *channel,
                 const struct notice *notice, channel_said *done, void *with);

/* Work that stands on a branch there, and waits to be taken. The texts may be anybody's. */
struct pull {
    struct str head, base; /* branches: of the work, and where it is to go */
    struct str commit;     /* that was pushed */
    struct str title, text;
    struct str goal, node;
    struct str checked_by; /* the operator's checks; empty: none */
};

/* The channel is a forge. SAID_DONE: there is one pull request of that branch, its number and address are the reference and
 * url. Whatever came of a try, the next may be made just so: it looks first. */
bool channel_pull(struct channels *channels, const struct channel *channel, const struct pull *pull,
                  channel_said *done, void *with);

unsigned channels_busy(const struct channels *channels); /* messages under way */

/* From the loop: what is under way ends with SAID_UNKNOWN now. The loop has to run on until its handles are closed, and
 * then everything is freed. */
void channels_stop(struct channels *channels);
