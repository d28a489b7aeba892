/* SPDX-License-Identifier: Apache-2.0 */
/* Names a request, so that a repetition is recognised.
 *
 * A key belongs to its caller, its operation and its goal. With the same parameters it names the same signal, which is
 * applied once; with other parameters it is refused (E_CONFLICT). The key of a create names the goal, too. */
#pragma once

#include "ops/op.h"

/* `given`: the caller chose the key. False: no memory. */
bool key_name(struct signal *signal, const struct op_call *call, bool given);

/* Without a key, every request is new. */
void key_random(struct signal *signal);
