/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/facts.h"

#include "engine/reload.h"
#include "model/repository.h"

#include "sys/clock.h"

#include <stdio.h>

void facts_read(struct daemon_context *context, struct op_facts *ret) {
    struct ledger_thread *ledger_thread = context->ledger_thread;
    *ret = (struct op_facts){.started_at = context->started_at,
                             .safe = safe_is_on(&ledger_thread->safe)};
    struct ledger_view view = ledger_thread_view(ledger_thread, ret->trouble);
    ret->joined = view.joined && !ret->safe;
    ret->epoch = view.epoch;
    ret->era = view.mark.era;
    ret->stopped = view.mark.stopped;
    ret->host = view.host;
    ret->engine = ledger_thread->store ? ledger_thread->store->driver->name : "";
    struct clock_step step = clock_last_step();
    if (step.at > 0 && clock_wall() - step.at < MINUTES(24 * 60)) {
        ret->clock_step_by = step.by;
        ret->clock_step_at = step.at;
    }
    if (context->waits)
        ret->wait_count = context->waits(context, ret->waits, OP_WAITS);
    if (ret->safe)
        snprintf(ret->trouble, sizeof ret->trouble, "%s", ledger_thread->safe.why);
}

static void repository_add(struct op_repositories *to, const struct repo_setting *repo,
                           uint64_t key) {
    struct op_repository *row = &to->at[to->count++];
    snprintf(row->name, sizeof row->name, "%.*s", STR_ARG(repo->name));
    row->key = key;
}

/* Takes no memory while it holds the settings: see arena.h. */
const struct op_repositories *repositories_read(struct daemon_context *context,
                                                struct arena *arena) {
    struct op_repositories *all = arena_new(arena, struct op_repositories, 1);
    const struct settings *settings = context_settings(context);
    struct repo_setting first = settings_first_repository(settings);
    if (first.path.len > 0)
        repository_add(all, &first, 0);
    for (uint32_t i = 0; i < settings->lists.repo_count; i++)
        repository_add(all, &settings->lists.repos[i],
                       repository_key(settings->lists.repos[i].name));
    context_settings_drop(settings);
    return all;
}
