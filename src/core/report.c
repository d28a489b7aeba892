/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody says how it goes: is that kept? */
#include "core/rules.h"

/* A report is kept as said, beside what is measured; it changes nothing by itself, so
 * even a finished goal takes a late one. */
void rule_report(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    goal->reports++;
    decide_record(d, RECORD_GOAL_REPORTED,
                  (struct evidence){.rule = STR("report.said"),
                                    .text = str_cut_utf8(d->signal->text, LIMIT_REPORT)});
}
