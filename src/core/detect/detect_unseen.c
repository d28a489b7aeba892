/* SPDX-License-Identifier: Apache-2.0 */
/* Detects a run that several looks in a row could not see. */
#include "core/detect/detect.h"
#include "core/liveness.h"

static bool finds(const struct watched *watched, struct finding *ret) {
    ret->threshold = UNSEEN_MOST;
    return watched->assignment->liveness.unseen >= UNSEEN_MOST;
}

const struct detector DETECT_UNSEEN = {.rule = "agent.unseen",
                                       .summary = "nobody can see whether it is alive",
                                       .when = DETECT_LOOK,
                                       .answer = ANSWER_ASK,
                                       .finds = finds};
