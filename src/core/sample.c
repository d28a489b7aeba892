/* SPDX-License-Identifier: Apache-2.0 */
/* What is stored without a record, and which record tells of it?
 *
 * A sample is what changes often and decides nothing: what an agent says of its progress between two entries of its
 * history. It is stored with its assignment at once, so that people see it and a restart keeps it. The first record of the
 * goal's next decision has all samples since the decision before (struct samples): that decision may depend on them, and
 * replay has nothing but records. */
#include "core/rules.h"

static struct sample sample_of(const struct charge *charge) {
    return (struct sample){.charge = charge->n,
                           .updated_at = charge->updated_at,
                           .last_activity_at = charge->last_activity_at,
                           .progress_at = charge->progress_at,
                           .phase = str_of(charge->phase),
                           .percent = charge->percent};
}

/* As they were before this decision. */
void samples_keep(struct deciding *d, struct evidence *evidence) {
    const struct charges *charges = d->world->live ? &d->world->live->charges : NULL;
    struct sample *rows =
        charges && charges->count ? arena_new(d->out, struct sample, charges->count) : NULL;
    struct samples samples = {.rows = {.at = rows}};
    for (uint32_t i = 0; rows && i < charges->count; i++)
        if (charges->at[i].sampled)
            rows[samples.rows.count++] = sample_of(&charges->at[i]);
    if (samples.rows.count == 0)
        return;
    struct str body = shape_encode(&SAMPLES, &samples, d->out);
    if (body.len <= LIMIT_RECORD_INPUT / 2)
        evidence->samples = body;
    else
        evidence->samples_apart = decide_text(d, body);
}

/* A record tells of them now. */
void samples_end(struct deciding *d) {
    const struct charges *charges = &d->decision->live.charges;
    for (uint32_t i = 0; i < charges->count; i++)
        if (charges->at[i].sampled) {
            live_edit(d, PART_CHARGE, 0);
            charges->at[i].sampled = 0;
            live_touch(d, PART_CHARGE, &charges->at[i]);
        }
}

void charge_sample(struct deciding *d, struct charge *charge) {
    charge->sampled = 1;
    charge_touch(d, charge);
    d->decision->verdict = VERDICT_SAMPLE;
}

bool samples_apply(const struct samples *samples, struct charges *charges) {
    const struct sample *rows = samples->rows.at;
    for (uint32_t i = 0; i < samples->rows.count; i++) {
        struct charge *charge = charges_find(charges, rows[i].charge);
        if (!charge)
            return false;
        charge->updated_at = rows[i].updated_at;
        charge->last_activity_at = rows[i].last_activity_at;
        charge->progress_at = rows[i].progress_at;
        name_put(charge->phase, sizeof charge->phase, rows[i].phase);
        charge->percent = rows[i].percent;
        charge->sampled = 1;
    }
    return true;
}
