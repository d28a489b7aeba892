/* SPDX-License-Identifier: Apache-2.0 */
/* The table of detectors, and asking them. */
#include "core/detect/detect.h"

#define DETECTOR_ROW(name) &DETECT_##name,
static const struct detector *const TABLE[] = {DETECTORS(DETECTOR_ROW)};

bool detect(const struct watched *watched, enum detect_when when, enum detect_answer answer,
            struct finding *ret) {
    *ret = (struct finding){.until = TIME_NEVER};
    for (size_t i = 0; i < count_of(TABLE); i++) {
        struct finding finding = {.by = TABLE[i], .until = TIME_NEVER};
        if (TABLE[i]->when != when || TABLE[i]->answer != answer)
            continue;
        bool found = TABLE[i]->finds(watched, &finding);
        if (found || finding.until < ret->until)
            *ret = finding;
        if (found)
            return true;
    }
    return false;
}
