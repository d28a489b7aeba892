/* SPDX-License-Identifier: Apache-2.0 */
/* Sends notices to people. The decision names the channel and the time; the text is read from the store, the channel is
 * looked up in the current settings, and its driver sends the text. */
#pragma once

#include "runs/executor.h"

struct notice_sender;
struct channels;

struct notice_sender *notice_sender_start(struct executor *executor, uv_loop_t *loop,
                                          struct daemon_context *context);
void notice_sender_stop(
    struct notice_sender *notice_sender); /* on the loop; after the lookups have stopped */
void notice_sender_end(
    struct notice_sender *notice_sender); /* once the loop's handles are closed */

/* For other code that uses the same services, on the loop, until they are stopped. */
struct channels *notice_sender_channels(const struct notice_sender *notice_sender);

/* Carries out EFFECT_SAY; takes ownership of the act. On the loop. */
void say_begin(struct executor *executor, struct act *act);
