/* SPDX-License-Identifier: Apache-2.0 */
/* Detects a run whose process does not exist any more. */
#include "core/detect/detect.h"

static bool finds(const struct watched *watched, struct finding *ret) {
    (void)ret;
    return watched->seen && watched->seen->process == TRISTATE_NO && !watched->assignment->ended;
}

const struct detector DETECT_GONE = {.rule = "agent.gone",
                                     .summary = "its process is not there any more",
                                     .when = DETECT_DUE,
                                     .answer = ANSWER_RESTART,
                                     .finds = finds};
