/* SPDX-License-Identifier: Apache-2.0 */
/* Delivers a message to a person outside of Overseer and reports the outcome.
 *
 * The caller passes a message and a channel; the message is sent once, and the outcome is reported. Nothing is retried
 * here. Tokens are read from their files when they are needed and appear in no text that leaves this module. */
#pragma once

#include "model/notice.h"

#include <uv.h>

enum send_result {
    SEND_DONE,    /* the service accepted it */
    SEND_LATER,   /* not accepted, but may be next time: unreachable, busy, over its limit */
    SEND_REFUSED, /* not accepted, and never will be: wrong address, wrong token, wrong content */
    SEND_UNKNOWN, /* possibly accepted: the answer was lost. Try again with notice->unsure */
    SEND_RESULTS
};
extern const struct names SEND_RESULT_NAMES;

struct channel_outcome {
    enum send_result result;
    int64_t again_at; /* earliest retry, as the service asked; microseconds of UTC; 0: not given */
    struct str reference; /* the service's name for it: an issue's number, a message's id */
    struct str url;       /* where it can be seen */
    struct str why;       /* a sentence for people; set for every outcome but SEND_DONE */
};

/* Called exactly once, from the loop, never before channel_say() has returned. The texts are valid only during the
 * call. */
typedef void channel_sent(void *with, const struct channel_outcome *outcome);

struct channels;

/* now: the wall clock, microseconds of UTC. */
struct channels *channels_start(uv_loop_t *loop, int64_t (*now)(void));

/* Copies what it needs of channel and notice. */
void channel_say(struct channels *channels, const struct channel *channel,
                 const struct notice *notice, channel_sent *done, void *with);

/* Work on a branch at the forge that waits to be merged. The texts may come from anyone. */
struct pull {
    struct str head, base; /* branches: of the work, and the one to merge into */
    struct str commit;     /* the commit that was pushed */
    struct str title, text;
    struct str goal, node;
    struct str checked_by; /* the operator's checks; empty: none */
};

/* The channel is a forge. SEND_DONE: a pull request for that branch exists; its number and address are the reference
 * and url. After any outcome the caller may make the same call again: each try looks first. */
void channel_pull(struct channels *channels, const struct channel *channel, const struct pull *pull,
                  channel_sent *done, void *with);

unsigned channels_busy(const struct channels *channels); /* messages in progress */

/* Call on the loop: every message in progress ends with SEND_UNKNOWN now. The loop has to keep running until the
 * handles are closed; then everything is freed. */
void channels_stop(struct channels *channels);
