/* SPDX-License-Identifier: Apache-2.0 */
/* What narrows what the agent may do, between fork and exec? Nothing that was not asked for. */
#include "hold/hold.h"

int child_confine(const struct hold_options *options) {
    (void)options;
    return 0;
}
