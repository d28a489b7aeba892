/* SPDX-License-Identifier: Apache-2.0 */
/* Handles samples: what is stored without a record, and which record holds it later.
 *
 * A sample changes often and decides nothing: what an agent reports of its progress between two entries of its history.
 * It is stored with its assignment at once, so that people see it and a restart keeps it. The first record of the
 * goal's next decision holds all samples since the previous decision (struct samples): that decision may depend on
 * them, and replay has only the records. */
#include "core/deciding.h"

static struct sample sample_of(const struct assignment *assignment) {
    return (struct sample){.assignment = assignment->n,
                           .updated_at = assignment->updated_at,
                           .last_activity_at = assignment->liveness.last_activity_at,
                           .progress_at = assignment->progress.at,
                           .phase = str_of(assignment->progress.phase),
                           .percent = assignment->progress.percent};
}

/* The samples as they were before this decision. */
void samples_keep(struct deciding *d, struct evidence *evidence) {
    const struct assignments *assignments = d->world->live ? &d->world->live->assignments : NULL;
    struct sample *rows = assignments && assignments->count
                              ? arena_new(d->out, struct sample, assignments->count)
                              : NULL;
    struct samples samples = {.rows = {.at = rows}};
    for (uint32_t i = 0; rows && i < assignments->count; i++)
        if (assignments->at[i].progress.sampled)
            rows[samples.rows.count++] = sample_of(&assignments->at[i]);
    if (samples.rows.count == 0)
        return;
    struct str body = shape_encode(&SAMPLES, &samples, d->out);
    if (body.len <= LIMIT_RECORD_INPUT / 2)
        evidence->replay.samples = body;
    else
        evidence->replay.samples_apart = decide_text(d, body);
}

/* The samples are on a record now. */
void samples_end(struct deciding *d) {
    const struct assignments *assignments = &d->decision->live.assignments;
    for (uint32_t i = 0; i < assignments->count; i++)
        if (assignments->at[i].progress.sampled) {
            live_edit(d, PART_ASSIGNMENT, 0);
            assignments->at[i].progress.sampled = 0;
            live_touch(d, PART_ASSIGNMENT, &assignments->at[i]);
        }
}

bool samples_apply(const struct samples *samples, struct assignments *assignments) {
    const struct sample *rows = samples->rows.at;
    for (uint32_t i = 0; i < samples->rows.count; i++) {
        struct assignment *assignment = assignments_find(assignments, rows[i].assignment);
        if (!assignment)
            return false;
        assignment->updated_at = rows[i].updated_at;
        assignment->liveness.last_activity_at = rows[i].last_activity_at;
        assignment->progress.at = rows[i].progress_at;
        name_put(assignment->progress.phase, sizeof assignment->progress.phase, rows[i].phase);
        assignment->progress.percent = rows[i].percent;
        assignment->progress.sampled = 1;
    }
    return true;
}
