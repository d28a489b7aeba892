/* SPDX-License-Identifier: Apache-2.0 */
/* How does a notice reach a person? What was decided is which channel, and when; the words are read from the store, the
 * channel is looked up among the settings in force, and a port says it. */
#pragma once

#include "daemon/hands.h"

struct sayer;
struct channels;

struct sayer *sayer_start(struct hands *hands, uv_loop_t *loop, struct house *house);
void sayer_stop(struct sayer *sayer); /* from the loop; after the lookups have stopped */
void sayer_end(struct sayer *sayer);  /* once the loop's handles are closed */

/* For others who speak to the same services, from the loop. NULL: there are none, or they have stopped. */
struct channels *sayer_channels(const struct sayer *sayer);

/* Carry EFFECT_SAY out; takes the act over. From the loop. */
void say_begin(struct hands *hands, struct act *act);
