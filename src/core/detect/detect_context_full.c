/* SPDX-License-Identifier: Apache-2.0 */
/* Detects an agent whose context window is nearly full, between two of its turns. */
#include "core/detect/detect.h"

static bool finds(const struct watched *watched, struct finding *ret) {
    const struct observation *seen = watched->seen;
    uint32_t most = watched->policy->liveness.context_most;
    ret->threshold = most;
    return seen && most > 0 && seen->context >= most && !watched->assignment->recovery.handover &&
           seen->turn != TRISTATE_YES;
}

const struct detector DETECT_CONTEXT_FULL = {.rule = "agent.context-full",
                                             .summary = "its context window is nearly full",
                                             .when = DETECT_DUE,
                                             .answer = ANSWER_HANDOVER,
                                             .finds = finds};
