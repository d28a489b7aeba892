/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of tasks: how many of one work at once, and until when they are started. docs/decisions/0021.
 *
 * The tasks of a batch are goals; they wait for a permit like all others. The batch is a row of the admission that adds
 * bounds for them: it counts what is granted, and is changed while it works. Work that has been started is not touched
 * by the end of its batch: it may finish, and is started again if its agent dies. */
#include "core/admission/admission.h"

#include "model/live.h"

/* ---- bounds ---- */

enum bound batch_bound(const struct admission_view *view, const struct permit *permit) {
    const struct task_batch *batch =
        task_batches_find(&view->d->decision->live.task_batches, permit->batch);
    int64_t until = batch ? batch->until : permit->batch_until;
    bool begun = permit->goal_starts > 0;
    if (permit->batch == 0)
        return BOUND_NONE;
    if (!begun && batch && batch->held)
        return BOUND_BATCH_HELD;
    if (!begun && until > 0 && until <= view->d->signal->at)
        return BOUND_BATCH_OVER;
    uint64_t working = batch ? sums_get(&view->batches, permit->batch) : 0;
    return batch && batch->most > 0 && working >= batch->most ? BOUND_BATCH : BOUND_NONE;
}

struct str batch_words(const struct admission_view *view, const struct permit *permit,
                       enum bound bound) {
    const struct task_batch *batch =
        task_batches_find(&view->d->decision->live.task_batches, permit->batch);
    const char *name = batch ? batch->name : "";
    if (bound == BOUND_BATCH_OVER)
        return arena_format(view->d->out, "the time of its batch%s%s is over", *name ? " " : "",
                            name);
    if (bound == BOUND_BATCH_HELD)
        return arena_format(view->d->out, "its batch %s is held", name);
    return arena_format(view->d->out, "its batch %s has %u at work, as many as it may", name,
                        batch ? batch->most : 0);
}

/* ---- the record ---- */

void batch_record(struct deciding *d, enum record_type type, const struct task_batch *batch,
                  const char *rule) {
    decide_record(d, type,
                  (struct evidence){.rule = str_of(rule),
                                    .text = arena_format(d->out, "%s", batch->name),
                                    .to = batch->held ? STR("held") : STR(""),
                                    .reason = d->signal->reason,
                                    .threshold = batch->most,
                                    .until = batch->until});
}

/* ---- time ---- */

static bool batch_is_due(const struct task_batch *batch, int64_t now) {
    return batch->until > 0 && !batch->ended && batch->until <= now;
}

/* The end of a batch is on the record once, when it comes. */
void batches_due(struct deciding *d) {
    struct task_batches *batches = &d->decision->live.task_batches;
    for (uint32_t i = 0; i < batches->count; i++) {
        if (!batch_is_due(&batches->at[i], d->signal->at))
            continue;
        live_edit(d, PART_TASK_BATCH, 0);
        batches->at[i].ended = 1;
        live_touch(d, PART_TASK_BATCH, &batches->at[i]);
        batch_record(d, RECORD_BATCH_ENDED, &batches->at[i], "batch.until");
    }
}

int64_t batches_next(const struct live *live) {
    int64_t next = TIME_NEVER;
    for (uint32_t i = 0; i < live->task_batches.count; i++)
        if (live->task_batches.at[i].until > 0 && !live->task_batches.at[i].ended)
            next = time_sooner(next, live->task_batches.at[i].until);
    return next;
}
