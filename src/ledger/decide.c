/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/decide.h"

#include "base/planted.h"
#include "core/step.h"
#include "store/rows.h"

#include <stdio.h>
#include <stdlib.h>

/* State of a group while its signals are stepped one after the other. */
struct deliberation {
    struct ledger *ledger;
    struct arena *arena;
    struct group *group;
    struct goal goal; /* as changed so far */
    struct live live; /* the same */
    bool exists;
    int64_t wants; /* when the goal wants the next step, if nothing was decided; 0: as stored */
    struct goal_commit *commit; /* NULL: nothing to write so far */
    uint32_t record_cap;
};

/* ---- the step under the crash guard ---- */

struct stepping {
    const struct world *world;
    const struct signal *signal;
    const struct policy *policy;
    struct arena *arena;
    struct decision *decision;
};

static void step_call(void *with) {
    struct stepping *stepping = with;
    *stepping->decision =
        step(stepping->world, stepping->signal, stepping->policy, stepping->arena);
}

/* The observations of a goal's agents come with its due time, and are recorded with what is decided from them. */
static struct str seen_now(struct deliberation *d) {
    const struct ledger_config *config = &d->ledger->config;
    struct observations nothing = {.since = d->ledger->joined_at};
    if (config->see)
        return config->see(config->see_with, d->goal.id, &d->live.assignments, d->ledger->now,
                           d->arena);
    return shape_encode(&OBSERVATIONS, &nothing, d->arena);
}

static int64_t distance(int64_t a, int64_t b) {
    return a > b ? a - b : b - a;
}

/* A time that was stamped before a clock step is converted to the present clock, and nothing is decided in the future.
 * The input has the sum of steps that the ledger knew when it was offered; it may have been stamped after a step that
 * the ledger did not know yet. Of both readings, the one that is closer to now counts. */
static int64_t signal_time(const struct ledger *ledger, const struct input *input) {
    int64_t at = input->signal.at, now = ledger->now.wall;
    int64_t moved = at + (input->stamped ? ledger->now.stepped - input->stepped : 0);
    at = distance(moved, now) < distance(at, now) ? moved : at;
    return at > now ? now : at > 0 ? at : 1;
}

/* P15: the next number of this host's block, for a goal that has none. A block of an earlier era is not used. */
static uint64_t number_offer(const struct deliberation *d) {
    const struct number_block *numbers = &d->ledger->numbers;
    bool wanted = !d->exists || (d->goal.kind.number == 0 && !d->goal.kind.admission);
    return wanted && numbers_left(d->ledger) > 0 ? numbers->next : 0;
}

static void number_given(struct ledger *ledger, uint64_t number) {
    if (number && number == ledger->numbers.next && !planted(NUMBER_TWICE))
        ledger->numbers.next++;
}

/* NULL: the step broke an invariant, which ret_report describes. */
static struct decision *step_guarded(struct deliberation *d, const struct input *input, bool seen,
                                     bool key_used, struct crash_guard_report *ret_report) {
    struct decision *decision = arena_new(d->arena, struct decision, 1);
    struct world world = {.goal = d->exists ? &d->goal : NULL,
                          .live = &d->live,
                          .seen = seen,
                          .key_used = key_used,
                          .era = d->ledger->mark.era,
                          .level = d->ledger->mark.level,
                          .clock = d->ledger->now.stepped,
                          .clock_id = d->ledger->config.clock_id};
    struct signal signal = input->signal;
    signal.at = signal_time(d->ledger, input);
    signal.number = number_offer(d);
    if (signal.kind == SIGNAL_GOAL_DUE && d->live.assignments.count > 0)
        signal.body = seen_now(d);
    struct stepping stepping = {&world, &signal, ledger_policy(d->ledger), d->arena, decision};
    enum crash_guard_result result = crash_guard_run(step_call, &stepping, ret_report);
    if (result == CRASH_GUARD_MEMORY)
        memory_exhausted(); /* for the guard around the whole turn */
    return result == CRASH_GUARD_WHOLE ? decision : NULL;
}

/* ---- adding to a commit ---- */

static struct goal_commit *commit_of(struct deliberation *d) {
    if (d->commit)
        return d->commit;
    struct batch *batch = &d->ledger->batch;
    uint32_t inputs = d->group->to - d->group->from + 1; /* one more for a clock step */
    d->group->commit = batch->commit_count;
    batch->commit_group[batch->commit_count] = (uint32_t)(d->group - batch->groups);
    d->commit = &batch->commits[batch->commit_count++];
    *d->commit = (struct goal_commit){
        .expected = d->group->exists ? d->group->goal.version : 0,
        .inbox_done = arena_new(d->arena, struct id, inputs),
        .seen = arena_new(d->arena, struct id, 2 * inputs),
        .aside = arena_new(d->arena, struct aside_row, inputs),
    };
    return d->commit;
}

static void add_records(struct deliberation *d, const struct decision *decision) {
    struct goal_commit *commit = d->commit;
    if (decision->record_count == 0) /* a sample */
        return;
    if (commit->record_count + decision->record_count > d->record_cap) {
        d->record_cap = d->record_cap * 2 + decision->record_count + 4;
        struct record *records = arena_new(d->arena, struct record, d->record_cap);
        if (commit->record_count > 0)
            memcpy(records, commit->records, commit->record_count * sizeof *records);
        commit->records = records;
    }
    memcpy(commit->records + commit->record_count, decision->records,
           decision->record_count * sizeof decision->records[0]);
    commit->record_count += decision->record_count;
}

/* Two changes of one effect in one batch are merged: the statements of a commit do not see each other. */
static void fold_effect(struct goal_commit *commit, const struct effect_change *change) {
    for (uint32_t i = 0; i < commit->effect_count; i++) {
        struct effect_change *before = &commit->effects[i];
        if (before->slot.n != change->slot.n)
            continue;
        if (before->op != EFFECT_OP_MAKE)
            *before = *change;
        else if (change->op == EFFECT_OP_MOVE)
            before->slot = change->slot;
        else
            *before = commit->effects[--commit->effect_count];
        return;
    }
    commit->effects[commit->effect_count++] = *change;
}

static void add_effects(struct deliberation *d, const struct decision *decision) {
    struct goal_commit *commit = d->commit;
    if (decision->effect_count == 0)
        return;
    struct effect_change *effects =
        arena_new(d->arena, struct effect_change, commit->effect_count + decision->effect_count);
    if (commit->effect_count > 0)
        memcpy(effects, commit->effects, commit->effect_count * sizeof *effects);
    commit->effects = effects;
    for (uint32_t i = 0; i < decision->effect_count; i++)
        fold_effect(commit, &decision->effects[i]);
}

/* A part that changes twice in one batch is written once, in its final state. */
static void add_parts(struct deliberation *d, const struct decision *decision) {
    struct goal_commit *commit = d->commit;
    if (decision->part_count == 0)
        return;
    struct part_change *parts =
        arena_new(d->arena, struct part_change, commit->part_count + decision->part_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < commit->part_count; i++) {
        bool again = false;
        for (uint32_t k = 0; k < decision->part_count; k++)
            again = again || (decision->parts[k].kind == commit->parts[i].kind &&
                              decision->parts[k].n == commit->parts[i].n);
        if (!again)
            parts[count++] = commit->parts[i];
    }
    memcpy(parts + count, decision->parts, decision->part_count * sizeof *parts);
    commit->parts = parts;
    commit->part_count = count + decision->part_count;
}

static void add_texts(struct deliberation *d, const struct decision *decision) {
    struct goal_commit *commit = d->commit;
    if (decision->text_count == 0)
        return;
    struct text_row *texts =
        arena_new(d->arena, struct text_row, commit->text_count + decision->text_count);
    if (commit->text_count > 0)
        memcpy(texts, commit->texts, commit->text_count * sizeof *texts);
    memcpy(texts + commit->text_count, decision->texts, decision->text_count * sizeof *texts);
    commit->texts = texts;
    commit->text_count += decision->text_count;
}

static void add_decision(struct deliberation *d, const struct decision *decision) {
    struct goal_commit *commit = commit_of(d);
    uint64_t version =
        commit->expected + 1; /* one commit raises it once, however many steps it contains */
    add_records(d, decision);
    add_effects(d, decision);
    add_parts(d, decision);
    add_texts(d, decision);
    if (decision->title.len > 0)
        commit->title = decision->title;
    if (decision->tags)
        commit->tags = decision->tags;
    if (decision->goal.kind.number != d->goal.kind.number)
        number_given(d->ledger, decision->goal.kind.number);
    d->goal = decision->goal;
    if (!decision->goal.quarantined)
        d->live = decision->live;
    d->goal.version = version;
    d->exists = true;
}

static void add_source(struct deliberation *d, const struct input *input) {
    struct goal_commit *commit = commit_of(d);
    if (input->from_inbox)
        commit->inbox_done[commit->inbox_count++] = input->signal.source;
    if (input_is_remembered(input) && input->applied)
        commit->seen[commit->seen_count++] = input->signal.source;
    if (id_is_set(input->signal.once.key) && input->applied)
        commit->seen[commit->seen_count++] = input->signal.once.key;
}

/* ---- quarantined goals ---- */

static bool input_is_kept_aside(const struct input *input) {
    return input->from_inbox || input->tells || input->signal.kind == SIGNAL_EFFECT_ENDED;
}

static void keep_aside(struct deliberation *d, struct input *input, struct str why) {
    struct goal_commit *commit = commit_of(d);
    commit->aside[commit->aside_count++] = (struct aside_row){
        input->signal.source, input->signal.at, why, signal_encode(&input->signal, d->arena)};
    if (input->from_inbox)
        commit->inbox_done[commit->inbox_count++] = input->signal.source;
}

/* Quarantines the goal, and keeps with it the signals that could not be sent again. A goal that could not be decoded
 * keeps its bytes as evidence. */
static void quarantine(struct deliberation *d, struct input *input, struct str why) {
    struct str kept_why = arena_copy(d->arena, str_cut_utf8(why, LIMIT_WHY));
    struct decision decision =
        step_quarantine(&d->goal, &input->signal, ledger_policy(d->ledger), kept_why, d->arena);
    add_decision(d, &decision);
    d->commit->keep_hot = !d->group->whole;
    keep_aside(d, input, kept_why);
    input->error = ERROR_QUARANTINED;
    snprintf(input->why, sizeof input->why, "%.*s",
             STR_ARG(str_cut_utf8(kept_why, sizeof input->why - 1)));
    d->ledger->quarantined++;
}

static void meet_quarantined(struct deliberation *d, struct input *input) {
    input->error = ERROR_QUARANTINED;
    if (!input_is_kept_aside(input))
        return;
    struct str why = STR("arrived while the goal was set aside");
    struct decision decision =
        step_quarantine(&d->goal, &input->signal, ledger_policy(d->ledger), why, d->arena);
    add_decision(d, &decision);
    d->commit->keep_hot = !d->group->whole;
    keep_aside(d, input, why);
}

/* ---- one signal after the other ---- */

static bool source_is_in(const struct goal_commit *commit, struct id source) {
    for (uint32_t i = 0; commit && i < commit->seen_count; i++)
        if (id_equal(commit->seen[i], source))
            return true;
    return false;
}

/* The sender was only told that the signal was forwarded: so its outcome is recorded. */
static void note_refusal(struct deliberation *d, const struct input *input,
                         const struct decision *refused) {
    struct world world = {.goal = &d->goal, .live = &d->live};
    struct decision decision = step_refused(&world, &input->signal, ledger_policy(d->ledger),
                                            refused->error, refused->why, d->arena);
    add_decision(d, &decision);
}

/* Another decision may have come first: after a restore, a claim leads to doubt, not to an act. */
static bool effect_is_claimed(struct deliberation *d, const struct signal *signal) {
    const struct effect_slot *slot =
        signal->kind == SIGNAL_EFFECT_CLAIM ? goal_effect(&d->goal, signal->effect) : NULL;
    return slot && slot->state == EFFECT_RUNNING;
}

static void deliberate(struct deliberation *d, struct input *input, bool seen, bool key_used);

/* Corrects stored times before anything else is decided: in a step of its own, so that it has its own record. */
static void clock_correct(struct deliberation *d) {
    struct world world = {.clock = d->ledger->now.stepped, .clock_id = d->ledger->config.clock_id};
    int64_t now = d->ledger->now.wall;
    if (!d->exists || !d->group->whole)
        return;
    struct input stepped = {.signal = {.kind = SIGNAL_CLOCK_STEPPED,
                                       .goal = d->goal.id,
                                       .at = now,
                                       .stepped = clock_moved(&d->goal, &world, now),
                                       .sender.actor = STR("overseer"),
                                       .sender.by = WHO_OVERSEER}};
    if (stepped.signal.stepped != 0)
        deliberate(d, &stepped, false, false);
}

static void deliberate(struct deliberation *d, struct input *input, bool seen, bool key_used) {
    struct crash_guard_report report = {.why = "its stored state cannot be decoded"};
    bool released =
        input->signal.kind == SIGNAL_GOAL_RELEASE && (d->group->whole || !d->group->exists);
    if (d->exists && d->goal.quarantined && !released) {
        meet_quarantined(d, input);
        return;
    }
    if (input->signal.kind == SIGNAL_GOAL_CREATE)
        input->signal.host = d->ledger->config.host;
    seen = seen || (input->signal.once.keyed && source_is_in(d->commit, input->signal.source));
    key_used =
        key_used || (id_is_set(input->signal.once.key) && !seen &&
                     source_is_in(d->commit, input->signal.once.key) && input_key_refuses(input));
    bool undecodable = d->group->exists && !d->group->whole;
    struct decision *decision =
        undecodable ? NULL : step_guarded(d, input, seen, key_used, &report);
    if (!decision && d->exists)
        quarantine(d, input, str_of(report.why));
    else if (!decision) {
        input->error = ERROR_QUARANTINED;
        snprintf(input->why, sizeof input->why, "nothing was stored: %.100s", report.why);
    } else {
        input->error = decision->error;
        input->key_used = key_used && !seen;
        snprintf(input->why, sizeof input->why, "%.*s",
                 STR_ARG(str_cut_utf8(decision->why, sizeof input->why - 1)));
        input->applied = decision->verdict == VERDICT_CHANGE || decision->verdict == VERDICT_SAMPLE;
        if (input->applied)
            add_decision(d, decision);
        else if (decision->error && input->from_inbox && d->exists)
            note_refusal(d, input, decision);
        else if (decision->due_at)
            d->wants = decision->due_at;
        input->claimed = input->applied && effect_is_claimed(d, &input->signal);
        if (input->applied || (input->from_inbox && d->exists))
            add_source(d, input);
    }
}

/* True: lists show the goal differently now. An admission is in no list. */
static bool view_changed(const struct deliberation *d) {
    const struct goal *before = &d->group->goal, *after = &d->goal;
    if (after->kind.admission)
        return false;
    return !d->group->exists || d->commit->title.len > 0 || d->commit->tags ||
           d->commit->numbered || before->quarantined != after->quarantined ||
           before->status != after->status || before->priority != after->priority ||
           before->progress.percent != after->progress.percent ||
           before->shown != goal_display_state(after) + 1;
}

static int by_kind_then_n(const void *a, const void *b) {
    const struct part_change *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->n > y->n) - (x->n < y->n);
}

/* Every body gets its seal here, once, when it is final. */
static void seal(struct deliberation *d) {
    struct goal_commit *commit = d->commit;
    struct id id = d->goal.id;
    commit->hot = row_seal(ROW_GOAL, id, 0, shape_encode(&GOAL_HOT, &d->goal, d->arena), d->arena);
    for (uint32_t i = 0; i < commit->effect_count; i++)
        if (commit->effects[i].op == EFFECT_OP_MAKE)
            commit->effects[i].sealed = row_seal(ROW_EFFECT, id, commit->effects[i].slot.n,
                                                 commit->effects[i].body, d->arena);
    for (uint32_t i = 0; i < commit->part_count; i++)
        if (!commit->parts[i].gone)
            commit->parts[i].body = row_seal(ROW_PART + commit->parts[i].kind, id,
                                             commit->parts[i].n, commit->parts[i].body, d->arena);
    if (commit->part_count > 1)
        qsort(commit->parts, commit->part_count, sizeof *commit->parts, by_kind_then_n);
}

static void conclude(struct deliberation *d) {
    struct goal_commit *commit = d->commit;
    if (!commit) {
        if (d->exists) /* a timer that fired early is set again */
            if (!due_set(&d->ledger->due, d->goal.id,
                         d->goal.quarantined ? TIME_NEVER
                         : d->wants          ? d->wants
                                             : goal_due(&d->goal)))
                d->ledger->read_again = true;
        return;
    }
    d->goal.version = commit->expected + 1;
    commit->goal = d->goal;
    d->ledger->batch.commit_lives[d->group->commit] = d->live;
    commit->numbered = d->group->goal.kind.number != d->goal.kind.number;
    commit->view_changed = view_changed(d);
    if (commit->view_changed)
        d->goal.shown = commit->goal.shown = goal_display_state(&d->goal) + 1;
    seal(d);
}

void decide_all(struct ledger *ledger) {
    struct batch *batch = &ledger->batch;
    batch->commits = arena_new(&batch->arena, struct goal_commit, batch->group_count);
    batch->commit_group = arena_new(&batch->arena, uint32_t, batch->group_count);
    batch->commit_lives = arena_new(&batch->arena, struct live, batch->group_count);
    batch->commit_count = 0;
    for (uint32_t g = 0; g < batch->group_count; g++) {
        struct group *group = &batch->groups[g];
        if (group->forward)
            continue;
        struct deliberation d = {.ledger = ledger,
                                 .arena = &batch->arena,
                                 .group = group,
                                 .goal = group->goal,
                                 .live = group->live,
                                 .exists = group->exists};
        clock_correct(&d);
        for (uint32_t i = group->from; i < group->to; i++)
            deliberate(&d, batch->inputs[i], batch->seen[i], batch->key_used[i]);
        conclude(&d);
    }
}

bool decide_refused(struct ledger *ledger, struct group *group, struct goal_commit *commit,
                    struct str why) {
    struct batch *batch = &ledger->batch;
    bool again = group->exists && !commit->goal.quarantined;
    for (uint32_t i = group->from; i < group->to; i++) {
        struct input *input = batch->inputs[i];
        input->applied = input->claimed = false;
        input->error = again ? ERROR_QUARANTINED : ERROR_REFUSED_BY_STORE;
        snprintf(input->why, sizeof input->why, "%.*s",
                 STR_ARG(str_cut_utf8(why, sizeof input->why - 1)));
    }
    ledger->dropped += group->exists && !again;
    if (!again)
        return false;
    struct deliberation d = {.ledger = ledger,
                             .arena = &batch->arena,
                             .group = group,
                             .goal = group->goal,
                             .live = group->live,
                             .exists = true,
                             .commit = commit};
    uint32_t inputs = group->to - group->from;
    *commit = (struct goal_commit){.expected = group->goal.version,
                                   .inbox_done = arena_new(d.arena, struct id, inputs),
                                   .seen = arena_new(d.arena, struct id, 2 * inputs),
                                   .aside = arena_new(d.arena, struct aside_row, inputs)};
    for (uint32_t i = group->from; i < group->to; i++)
        quarantine(&d, batch->inputs[i], why);
    conclude(&d);
    return true;
}
