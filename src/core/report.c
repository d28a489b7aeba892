/* SPDX-License-Identifier: Apache-2.0 */
/* Stores reports on a goal. */
#include "core/rules.h"

/* A report is stored as given, beside what is measured; it changes nothing by itself, so even a finished goal accepts a
 * late one. */
void rule_report(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    goal->progress.reports++;
#ifdef OVERSEER_TOMORROW /* STORE-18: a field that older builds would lose is not written before the last of them is gone */
    if (d->world->level > LEVEL_TASK_BATCHES)
        goal->progress.tomorrow++;
#endif
    decide_record(d, RECORD_GOAL_REPORTED,
                  (struct evidence){.rule = STR("report.said"),
                                    .text = str_cut_utf8(d->signal->text, LIMIT_REPORT)});
}
