/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody says how it goes: is that kept? */
#include "core/rules.h"

/* A report is kept as said, beside what is measured; it changes nothing by itself, so
 * even a finished goal takes a late one. */
void rule_report(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    goal->reports++;
#ifdef OVERSEER_TOMORROW /* STORE-18: what older builds would lose is not written before the last is gone */
    if (d->world->level >= 7)
        goal->tomorrow++;
#endif
    decide_record(d, RECORD_GOAL_REPORTED,
                  (struct evidence){.rule = STR("report.said"),
                                    .text = str_cut_utf8(d->signal->text, LIMIT_REPORT)});
}
