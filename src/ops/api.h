/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of this daemon, and what can it answer? G-46. */
#pragma once

#include "ops/op.h"

#define API_VERSION \
    "1" /* in the header Overseer-Api of every reply; raised when something is taken away */

void api_describe(struct op_call *call);
