/* SPDX-License-Identifier: Apache-2.0 */
/* Detects runs of one piece of work that die one after the other. Restart intensity as in OTP. */
#include "core/detect/detect.h"

static bool finds(const struct watched *watched, struct finding *ret) {
    ret->threshold = watched->policy->recovery.max_restarts;
    return watched->assignment->recovery.restarts > watched->policy->recovery.max_restarts &&
           watched->assignment->status == ASSIGNMENT_STALLED;
}

const struct detector DETECT_DIES_AGAIN = {.rule = "agent.dies-again",
                                           .summary = "it was started again and died each time",
                                           .when = DETECT_DEATH,
                                           .answer = ANSWER_ASK,
                                           .finds = finds};
