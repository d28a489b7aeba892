/* SPDX-License-Identifier: Apache-2.0 */
/* Computes a digest of a fleet: equal for two states that no later event can tell apart. */
#include "ledger/ledger_state.h"
#include "lib/fleet.h"

static uint64_t mix(uint64_t digest, uint64_t value) {
    digest ^= value + 0x9E3779B97F4A7C15u + (digest << 6) + (digest >> 2);
    digest *= 0xD6E8FEB86659FD93u;
    return digest ^ (digest >> 32);
}

static uint64_t mix_id(uint64_t digest, struct id id) {
    return mix(digest, id_hash(id));
}

static uint64_t mix_hash(uint64_t digest, const struct hash *hash) {
    uint64_t word;
    memcpy(&word, hash->bytes, sizeof word);
    return mix(digest, word);
}

static uint64_t mix_slot(uint64_t d, const struct effect_slot *slot) {
    return mix(mix(mix(d, slot->n), slot->state), slot->run_host);
}

static uint64_t mix_goal(uint64_t d, const struct goal *goal) {
    d = mix(mix(mix(mix_id(d, goal->id), goal->owner), goal->fence), goal->version);
    d = mix(mix_hash(d, &goal->records.head), goal->quarantined);
    for (uint32_t i = 0; i < goal->effects.open_count; i++)
        d = mix_slot(d, &goal->effects.open[i]);
    return mix(mix(d, (uint64_t)goal->status * 8 + goal->need), goal->era);
}

static uint64_t mix_host_row(uint64_t d, const struct host_row *row) {
    return mix(mix(mix(mix(mix(d, row->host), row->epoch), row->beat), row->batch), row->state);
}

static uint64_t mix_numbers(uint64_t d, const struct number_block *numbers) {
    return mix(mix(mix(d, numbers->next), numbers->end), numbers->era);
}

static uint64_t mix_inputs(uint64_t d, const struct input_list *list) {
    for (const struct input *input = list->first; input; input = input->next)
        d = mix(mix_id(mix(d, input->signal.kind), input->signal.source),
                input->signal.effect * 2 + input->from_inbox);
    return mix(d, list->count);
}

static uint64_t mix_commits(uint64_t d, const struct goal_commit *commits, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        d = mix(mix_hash(mix(mix_id(d, commits[i].goal.id), commits[i].expected),
                         &commits[i].goal.records.head),
                commits[i].ok * 4u + commits[i].inbox_count);
    return d;
}

static uint64_t mix_batch(uint64_t d, const struct batch *batch) {
    d = mix(mix(d, batch->stage), batch->after_join);
    for (uint32_t i = 0; i < batch->input_count; i++)
        if (batch->inputs[i])
            d = mix(mix_id(mix(d, batch->inputs[i]->signal.kind), batch->inputs[i]->signal.source),
                    batch->inputs[i]->applied * 2u + (batch->inputs[i]->act != NULL));
    for (uint32_t i = 0; i < batch->group_count; i++)
        d = mix(d, batch->groups[i].forward * 2u + batch->groups[i].adopt);
    d = mix_commits(d, batch->commits, batch->commit_count);
    return mix(mix(mix(d, batch->from), batch->to), batch->number);
}

static uint64_t mix_leases(uint64_t d, const struct ledger *l, int64_t now) {
    for (uint32_t i = 0; i < l->neighbour_count; i++)
        d = mix(mix_host_row(d, &l->neighbour[i].row), (uint64_t)(now - l->neighbour[i].since));
    d = mix(mix(d, l->taking * 4u + l->adopting * 2u + l->fencing), l->neighbour_count);
    if (l->taking || l->adopting)
        d = mix_host_row(d, &l->victim);
    d = mix(mix(d, (uint64_t)(l->beat_at - now)), (uint64_t)(l->poll_at - now));
    d = mix(d, l->last_poll == INT64_MIN ? 1 : (uint64_t)(now - l->last_poll));
    int64_t until = atomic_load(&l->act_until);
    return mix(mix(d, until == INT64_MIN ? 1 : (uint64_t)(until - now)), l->inbox_pending);
}

static uint64_t mix_ledger(uint64_t d, const struct ledger *l, int64_t now) {
    d = mix(mix(mix(d, l->joined), l->self.epoch), l->batch_number);
    d = mix_numbers(d, &l->numbers);
    d = mix(mix(mix(d, l->row_known.beat), l->row_known.era), l->row_known.back);
    d = mix(mix(mix(d, l->timeline), l->timeline_changed), l->first_count);
    for (uint32_t i = 0; i < l->first_count; i++)
        d = mix_host_row(d, &l->first[i]);
    d = mix_inputs(mix_batch(mix(d, l->request.verb), &l->batch), &l->waiting);
    for (uint32_t class = 0; class < EFFECT_CLASSES; class ++)
        d = mix_inputs(d, &l->claims[class]);
    for (const struct warm *warm = l->oldest; warm; warm = warm->newer)
        d = mix_goal(d, &warm->goal);
    d = mix(mix(d, l->due.count), l->due.count ? (uint64_t)(l->due.entries[0].at - now) : 0);
    d = mix(mix(mix(d, l->reading * 2u + l->read_again),
                l->acting[EFFECT_CLASS_COMMANDS] + l->acting[EFFECT_CLASS_AGENTS]),
            l->known.count);
    for (uint32_t i = 0; i < l->meet_count; i++)
        d = mix_id(d, l->meet[i]);
    return mix_leases(d, l, now);
}

static uint64_t mix_acts(uint64_t d, const struct act *act, const struct ledger *l) {
    for (; act; act = act->next)
        d = mix(mix_id(d, act->effect.goal),
                act->effect.n * 2 + (act->reign == atomic_load(&l->reign)));
    return mix(d, 7);
}

static uint64_t mix_answer(uint64_t d, const struct store_answer *answer,
                           const struct store_request *request) {
    d = mix(mix(mix(mix(d, answer->outcome), answer->held), answer->epoch), answer->batch);
    d = mix_numbers(d, &answer->numbers);
    for (uint32_t i = 0; i < answer->host_count; i++)
        d = mix_host_row(d, &answer->hosts[i]);
    for (uint32_t i = 0; i < answer->inbox_count; i++)
        d = mix_id(d, answer->inbox[i].source);
    for (uint32_t i = 0; i < answer->owned_count; i++)
        d = mix_id(d, answer->owned[i].goal);
    for (uint32_t i = 0; i < answer->effect_count; i++)
        d = mix_slot(d, &answer->effects[i].slot);
    for (uint32_t i = 0; request && answer->loaded && i < request->id_count; i++)
        d = mix(mix_goal(d, &answer->loaded[i].goal),
                answer->loaded[i].owner_lives * 2u + answer->loaded[i].exists);
    for (uint32_t i = 0; request && answer->stands && i < request->mark_count; i++)
        d = mix(d, answer->stands[i]);
    for (uint32_t i = 0; request && answer->seen && i < request->key_count; i++)
        d = mix(d, answer->seen[i]);
    return d;
}

/* Sessions have no particular order, so their digests are added. */
static uint64_t mix_sessions(uint64_t d, const struct fleet *fleet) {
    uint64_t sum = 0;
    for (const struct session *s = fleet->sessions; s; s = s->next) {
        const struct store_request *r = s->request;
        uint64_t one =
            mix(mix(mix(s->host, r->verb), s->place), s->done * 4u + s->ghost * 2u + s->stuck);
        one = mix(mix(mix(one, r->self.epoch), r->batch), r->self.instance);
        one = mix_host_row(mix_commits(one, r->commits, r->commit_count), &r->victim);
        for (uint32_t i = 0; i < r->row_count; i++)
            one = mix_id(one, r->rows[i].source);
        sum += mix_answer(one, &s->answer, r);
    }
    return mix(d, sum);
}

static uint64_t mix_store(uint64_t d, struct backend *backend) {
    struct arena arena = {0};
    struct dump dump;
    backend->dump(backend, &dump, &arena);
    for (uint32_t i = 0; i < dump.goal_count; i++) {
        const struct dump_goal *goal = &dump.goals[i];
        d = mix_hash(mix(mix(mix(mix_id(d, goal->id), goal->owner), goal->fence), goal->version),
                     &goal->head);
    }
    for (uint32_t i = 0; i < dump.effect_count; i++)
        d = mix_slot(d, &dump.effects[i].slot);
    for (uint32_t i = 0; i < dump.host_count; i++)
        d = mix_numbers(mix_host_row(d, &dump.hosts[i].row), &dump.hosts[i].numbers);
    for (uint32_t i = 0; i < dump.view_count; i++)
        d = mix(d, dump.views[i].display_state);
    d = mix(mix(mix(d, dump.record_count), dump.inbox_count), dump.seen_count);
    arena_free(&arena);
    return d;
}

static uint64_t mix_text(uint64_t d, struct str text) {
    for (size_t i = 0; i < text.len; i++)
        d = mix(d, (unsigned char)text.at[i]);
    return d;
}

/* The target branch, and the candidates that may still be pushed to it. */
static uint64_t mix_target(uint64_t d, const struct cast *cast) {
    for (uint32_t i = 0; i < cast->verdict_count; i++)
        d = mix(d, cast->verdicts[i].landed);
    for (uint32_t i = 0; i < cast->target_count; i++)
        d = mix(d, cast->targets[i].tip);
    return mix(d, cast->commits);
}

static uint64_t mix_player(uint64_t d, const struct player *run, int64_t now) {
    d = mix(mix(mix(d, run->n), run->host), run->stopped * 16u + run->agent.state);
    return mix(mix(d, (uint64_t)(run->renewed_until - now)), run->settled);
}

static uint64_t mix_notes(uint64_t d, struct act_log *log) {
    struct act_row rows[8];
    uint32_t count = act_log_behind(log, 0, rows, count_of(rows));
    const struct act_head *head = act_log_head(log);
    d = mix(mix(mix(mix(d, head->batch), head->epoch), head->whole), count);
    for (uint32_t i = 0; i < count && i < count_of(rows); i++)
        d = mix(mix_id(d, rows[i].goal), rows[i].n * 2 + rows[i].ended);
    return d;
}

uint64_t fleet_digest(struct fleet *fleet) {
    uint64_t d = mix_sessions(mix_store(1, fleet->backend), fleet);
    for (uint32_t i = 0; i < fleet->host_count; i++) {
        const struct fleet_host *host = &fleet->hosts[i];
        d = mix(mix(d, host->up), host->lives);
        d = mix_notes(d, host->state);
        if (!host->up)
            continue;
        d = mix_ledger(d, host->ledger, fleet->clock);
        d = mix_acts(mix_acts(d, host->acts, host->ledger), host->checked, host->ledger);
        d = mix(mix(d, host->outcome_count), host->answered);
        for (const struct report *report = host->report; report; report = report->next)
            d = mix_text(mix(mix_id(d, report->signal.source), report->signal.to),
                         report->signal.outcome.reference);
        d = host->checked ? mix(d, (uint64_t)(host->checked_under.until - fleet->clock)) : d;
        if (host->answered)
            d = mix_answer(d, &host->answer, host->wanted);
    }
    for (uint32_t i = 0; i < fleet->asked_count; i++)
        d = mix(d, fleet->asked[i].sent * 4 + fleet->asked[i].answered * 2 +
                       fleet->asked[i].acknowledged);
    for (uint32_t i = 0; i < fleet->acted_count; i++)
        d = mix(d, fleet->acted[i].times * 2 + fleet->acted[i].reported);
    for (uint32_t i = 0; fleet->cast && i < fleet->cast->run_count; i++)
        d = mix_player(d, &fleet->cast->runs[i], fleet->clock);
    if (fleet->cast)
        d = mix_target(d, fleet->cast);
    for (const struct report *report = fleet->senses; report; report = report->next)
        d = mix(mix_id(d, report->signal.source), report->host);
    return d;
}
