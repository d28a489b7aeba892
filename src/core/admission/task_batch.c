/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and changes batches of tasks. docs/decisions/0021. What a batch bounds: batch_bound.c. */
#include "core/admission/admission.h"
#include "core/admission/permit.h"
#include "core/rules.h"

#include "model/live.h"

static bool batch_has_work(const struct deciding *d, const struct task_batch *batch) {
    const struct permits *permits = &d->decision->live.permits;
    for (uint32_t i = 0; i < permits->count; i++)
        if (permits->at[i].batch == batch->key)
            return true;
    return false;
}

/* The oldest batch without a task that waits or works, or NULL. */
static struct task_batch *batch_oldest_idle(struct deciding *d) {
    struct task_batches *batches = &d->decision->live.task_batches;
    struct task_batch *oldest = NULL;
    for (uint32_t i = 0; i < batches->count; i++)
        if (!batch_has_work(d, &batches->at[i]) &&
            (!oldest || batches->at[i].made_at < oldest->made_at))
            oldest = &batches->at[i];
    return oldest;
}

static bool batch_has_room(struct deciding *d) {
    return d->decision->live.task_batches.count < LIMIT_TASK_BATCHES || batch_oldest_idle(d);
}

static struct task_batch *batch_add(struct deciding *d, const struct task_batch *asked) {
    if (d->decision->live.task_batches.count >= LIMIT_TASK_BATCHES) {
        struct task_batch *oldest = batch_oldest_idle(d);
        batch_record(d, RECORD_BATCH_ENDED, oldest, "batch.makes-room");
        live_remove(d, PART_TASK_BATCH, oldest);
    }
    struct task_batch *batch = live_add(d, PART_TASK_BATCH, d->decision->goal.parts_made++);
    memcpy(batch->name, asked->name, sizeof batch->name);
    batch->key = task_batch_key(str_of(batch->name));
    batch->made_at = d->signal->at;
    return batch;
}

/* A batch that is made again after its end begins anew, with the tasks that it still has. */
static void batch_begin_again(struct deciding *d, struct task_batch *batch) {
    batch->made_at = d->signal->at;
    batch->most = batch->held = batch->ended = 0;
    batch->until = 0;
}

static void batch_change(struct deciding *d, struct task_batch *batch,
                         const struct task_batch *asked) {
    uint32_t changes = d->signal->to;
    bool over = batch->ended || (batch->until > 0 && batch->until <= d->signal->at);
    if ((changes & BATCH_MAKE) && over)
        batch_begin_again(d, batch);
    if (changes & BATCH_MOST)
        batch->most = asked->most;
    if (changes & BATCH_HELD)
        batch->held = asked->held;
    if (changes & BATCH_UNTIL) {
        batch->until = asked->until;
        batch->ended = 0;
    }
    live_touch(d, PART_TASK_BATCH, batch);
}

static bool batch_is_asked_right(struct deciding *d, struct task_batch *ret_asked) {
    *ret_asked = (struct task_batch){0};
    if (!shape_decode(&TASK_BATCH, d->signal->body, ret_asked) || !ret_asked->name[0] ||
        d->signal->to >= BATCH_CHANGES || ret_asked->until < 0)
        decide_refuse(d, ERROR_INVALID);
    else if (d->signal->sender.by == WHO_AGENT)
        decide_refuse(d, ERROR_UNAUTHORIZED);
    else if (d->world->level < LEVEL_TASK_BATCHES)
        decide_refuse_because(d, ERROR_CONFLICT,
                              STR("a host of this fleet runs an older version that knows no "
                                  "batches; update it first"));
    else
        return true;
    return false;
}

/* A person makes a batch, or changes how many of it work at once, until when, and whether anything more is started. */
void rule_batch_set(struct deciding *d) {
    struct task_batch asked;
    if (!batch_is_asked_right(d, &asked))
        return;
    uint64_t key = task_batch_key(str_of(asked.name));
    struct task_batches *batches = &d->decision->live.task_batches;
    if (!task_batches_find(batches, key) && !(d->signal->to & BATCH_MAKE)) {
        decide_refuse_because(d, ERROR_NOT_FOUND,
                              arena_format(d->out, "no batch is called %s", asked.name));
        return;
    }
    if (!task_batches_find(batches, key) && !batch_has_room(d)) {
        decide_refuse_because(
            d, ERROR_BUSY,
            arena_format(d->out, "%d batches have tasks that wait or work", LIMIT_TASK_BATCHES));
        return;
    }
    if (!admission_open(d)) {
        decide_refuse(d, ERROR_INVALID);
        return;
    }
    live_edit(d, PART_TASK_BATCH, 1);
    struct task_batch *batch = task_batches_find(batches, key);
    if (!batch)
        batch = batch_add(d, &asked);
    batch_change(d, batch, &asked);
    batch_record(d, RECORD_BATCH_SET, batch, "batch.set");
    admission_go_on(d);
}
