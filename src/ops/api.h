/* SPDX-License-Identifier: Apache-2.0 */
/* Describes every operation and every error of the daemon. G-46. */
#pragma once

#include "ops/op.h"

#define API_VERSION \
    "1" /* in the header Overseer-Api of every reply; raised when something is removed */

void api_describe(struct op_call *call);
