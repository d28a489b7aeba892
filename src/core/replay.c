/* SPDX-License-Identifier: Apache-2.0 */
#include "core/replay.h"

static const char *const REPLAYED[REPLAYEDS] = {"same",     "differs",   "cut",
                                                "no input", "no policy", "other rules"};
const struct names REPLAYED_NAMES = NAMES_OF(REPLAYED);

void replay_begin(struct replay *replay, struct id goal) {
    replay->goal = (struct goal){.id = goal};
    replay->verdict = REPLAYED_SAME;
}

void replay_end(struct replay *replay) {
    arena_free(&replay->kept[0]);
    arena_free(&replay->kept[1]);
    arena_free(&replay->made);
    arena_free(&replay->other_made);
}

static bool ends(struct replay *replay, enum replayed verdict) {
    replay->verdict = verdict;
    return false;
}

/* ---- inputs of a decision ---- */

/* False: the input is not kept. */
static bool input_read(struct replay *replay, const struct record *record) {
    struct evidence *evidence = &replay->evidence;
    *evidence = (struct evidence){0};
    struct str body = arena_copy(&replay->made, record->body); /* the evidence points into it */
    if (body.len == 0 || !shape_decode(&EVIDENCE, body, evidence))
        return false;
    if (record->type == RECORD_GOAL_QUARANTINED && evidence->replay.input.len == 0 &&
        hash_is_zero(
            &evidence->replay.input_apart)) { /* the signal was set aside, not stored here */
        replay->signal = (struct signal){.kind = evidence->signal,
                                         .source = evidence->source,
                                         .at = record->at,
                                         .sender.actor = evidence->actor,
                                         .sender.by = evidence->by,
                                         .sender.trace = evidence->trace};
        return true;
    }
    struct str input = evidence->replay.input;
    if (input.len == 0 &&
        (hash_is_zero(&evidence->replay.input_apart) ||
         !replay->from.text(replay->from.with, &evidence->replay.input_apart, &input)))
        return false;
    input = arena_copy(&replay->made, input);
    return signal_decode(input, &replay->signal);
}

/* Applies what was stored without a record since the previous decision. False: it is not kept, or does not fit. */
static bool samples_read(struct replay *replay) {
    const struct evidence *evidence = &replay->evidence;
    struct samples samples = {0};
    struct str body = evidence->replay.samples;
    if (body.len == 0 && hash_is_zero(&evidence->replay.samples_apart))
        return true;
    if (body.len == 0 &&
        !replay->from.text(replay->from.with, &evidence->replay.samples_apart, &body))
        return false;
    return shape_decode_in(&SAMPLES, body, &replay->made, &samples) &&
           samples_apply(&samples, &replay->live.assignments);
}

/* ---- deciding again ---- */

/* Parses what step_refused() wrote: the error's code, a space, and the reason. */
static enum error refused_error(struct str text, struct str *ret_why) {
    for (uint32_t i = 0; i < ERROR_COUNT; i++) {
        struct str code = str_of(ERRORS[i].code);
        if (text.len > code.len && memcmp(text.at, code.at, code.len) == 0 &&
            text.at[code.len] == ' ') {
            *ret_why = (struct str){text.at + code.len + 1, text.len - code.len - 1};
            return (enum error)i;
        }
    }
    *ret_why = text;
    return ERROR_NONE;
}

/* Makes the decision again. A recorded refusal and a quarantined goal are not steps. */
static struct decision decide_again(struct replay *replay, enum record_type type,
                                    const struct policy *policy, struct arena *out) {
    const struct evidence *evidence = &replay->evidence;
    struct world world = {.goal = replay->exists ? &replay->goal : NULL,
                          .live = &replay->live,
                          .era = evidence->replay.era,
                          .level = evidence->replay.level};
    struct str why;
    if (type == RECORD_SIGNAL_REFUSED) {
        enum error error = refused_error(evidence->text, &why);
        return step_refused(&world, &replay->signal, policy, error, why, out);
    }
    if (type == RECORD_GOAL_QUARANTINED && replay->exists)
        return step_quarantine(&replay->goal, &replay->signal, policy, evidence->text, out);
    return step(&world, &replay->signal, policy, out);
}

/* PROTOCOL P4: a host that takes a goal over does not know the outcome of the running effects. */
static void taken_over(struct goal *goal) {
    for (uint32_t i = 0; i < goal->effects.open_count; i++)
        if (goal->effects.open[i].state == EFFECT_RUNNING)
            goal->effects.open[i].state = EFFECT_UNCONFIRMED;
}

/* Applies what changes between two steps, outside of them: the owner of the goal, and the number of its commit. */
static void anchor(struct replay *replay) {
    const struct evidence *evidence = &replay->evidence;
    if (!replay->exists)
        return;
    if (evidence->fence > replay->goal.fence)
        taken_over(&replay->goal);
    replay->goal.owner = evidence->replay.owner;
    replay->goal.fence = evidence->fence;
    if (replay->signal.kind == SIGNAL_PART_PUT && replay->signal.plan.expected)
        replay->goal.version = replay->signal.plan.expected;
}

/* The decision that was compared last becomes the state. */
static void state_advance(struct replay *replay) {
    if (replay->decision.record_count == 0)
        return;
    bool aside = replay->decision.goal.quarantined; /* its rows stay as they were */
    arena_reset(&replay->kept[1]);
    replay->live = live_copy(aside ? &replay->live : &replay->decision.live, &replay->kept[1]);
    struct arena newer = replay->kept[1];
    replay->kept[1] = replay->kept[0];
    replay->kept[0] = newer;
    replay->goal = replay->decision.goal;
    replay->exists = true;
    replay->decision.record_count = 0;
}

/* ---- comparison with another policy ---- */

static bool evidence_is_alike(const struct record *a, const struct record *b) {
    struct evidence x = {0}, y = {0};
    if (!shape_decode(&EVIDENCE, a->body, &x) || !shape_decode(&EVIDENCE, b->body, &y))
        return false;
    return str_equal(x.rule, y.rule) && str_equal(x.node, y.node) && str_equal(x.to, y.to) &&
           str_equal(x.assignment, y.assignment) && str_equal(x.question, y.question) &&
           x.effect == y.effect;
}

static bool effects_are_alike(const struct decision *a, const struct decision *b) {
    bool alike = a->effect_count == b->effect_count;
    for (uint32_t i = 0; alike && i < a->effect_count; i++)
        alike = a->effects[i].op == b->effects[i].op &&
                a->effects[i].slot.kind == b->effects[i].slot.kind;
    return alike;
}

/* Thresholds, times and policies on the records may differ; the decision itself may not. */
static bool decisions_differ(const struct decision *was, const struct decision *would,
                             const struct record **ret_instead) {
    *ret_instead = NULL;
    if (was->verdict == would->verdict && was->record_count == would->record_count &&
        effects_are_alike(was, would)) {
        uint32_t i = 0;
        while (i < was->record_count && was->records[i].type == would->records[i].type &&
               evidence_is_alike(&was->records[i], &would->records[i]))
            i++;
        if (i == was->record_count)
            return false;
        *ret_instead = &would->records[i];
        return true;
    }
    if (would->record_count > 0)
        *ret_instead = &would->records[0];
    return true;
}

static void differ(struct replay *replay, struct replay_difference difference) {
    replay->differences++;
    if (replay->differs)
        replay->differs(replay->with, &difference);
}

/* With the other policy, the goal would have been looked at before this record. */
static void due_compare(struct replay *replay, const struct record *record) {
    int64_t due = replay->other_due;
    if (!replay->other || !replay->exists || due == 0 || due >= replay->due || due >= record->at)
        return;
    differ(replay, (struct replay_difference){.record = record, .due = due});
}

static void other_compare(struct replay *replay, const struct record *record) {
    const struct record *instead;
    if (!replay->other)
        return;
    arena_reset(&replay->other_made);
    replay->instead = decide_again(replay, record->type, replay->other, &replay->other_made);
    replay->due = replay->decision.goal.due_at;
    replay->other_due = replay->instead.verdict == VERDICT_CHANGE ? replay->instead.goal.due_at : 0;
    if (decisions_differ(&replay->decision, &replay->instead, &instead))
        differ(replay, (struct replay_difference){.record = record,
                                                  .instead = instead,
                                                  .signal = &replay->signal,
                                                  .was = &replay->decision,
                                                  .would = &replay->instead});
}

bool replay_would_differ(struct replay *replay, const struct policy *policy,
                         const struct decision **ret_would) {
    const struct record *instead;
    if (replay->decision.record_count == 0)
        return false;
    arena_reset(&replay->other_made);
    replay->instead =
        decide_again(replay, replay->decision.records[0].type, policy, &replay->other_made);
    *ret_would = &replay->instead;
    return decisions_differ(&replay->decision, &replay->instead, &instead);
}

enum replayed replay_conclude(struct replay *replay) {
    bool whole = replay->compared == replay->decision.record_count;
    if (replay->verdict == REPLAYED_SAME && !whole)
        replay->verdict = REPLAYED_DIFFERS;
    return replay->verdict;
}

/* ---- feeding records ---- */

/* The first record of a decision: the decision is made again. */
static bool decision_begin(struct replay *replay, const struct record *record) {
    const struct policy *policy;
    if (record->seq != replay->records + 1)
        return ends(replay, REPLAYED_CUT);
    if (!replay->from.policy(replay->from.with, &record->policy, &policy))
        return ends(replay, REPLAYED_NO_POLICY);
    due_compare(replay, record);
    state_advance(replay);
    arena_reset(&replay->made);
    if (record->core != CORE_VERSION)
        return ends(replay, REPLAYED_OTHER_CORE);
    if (!input_read(replay, record) || !samples_read(replay))
        return ends(replay, REPLAYED_NO_INPUT);
    anchor(replay);
    replay->policy = policy;
    replay->decision = decide_again(replay, record->type, policy, &replay->made);
    replay->compared = 0;
    replay->decisions++;
    other_compare(replay, record);
    return true;
}

static bool record_is(struct replay *replay, const struct record *record) {
    const struct decision *decision = &replay->decision;
    const struct record *again =
        replay->compared < decision->record_count ? &decision->records[replay->compared] : NULL;
    if (again && again->seq == record->seq && again->type == record->type &&
        memcmp(&again->hash, &record->hash, sizeof record->hash) == 0) {
        replay->compared++;
        replay->records = record->seq;
        return true;
    }
    replay->verdict = REPLAYED_DIFFERS;
    differ(replay, (struct replay_difference){.record = record,
                                              .instead = again,
                                              .signal = &replay->signal,
                                              .was = decision,
                                              .would = decision});
    return false;
}

bool replay_take(struct replay *replay, const struct record *record) {
    if (replay->verdict == REPLAYED_NO_POLICY)
        replay->verdict = REPLAYED_SAME;
    if (replay->verdict != REPLAYED_SAME)
        return false;
    bool first = replay->compared == replay->decision.record_count;
    if (first && !decision_begin(replay, record))
        return false;
    return record_is(replay, record);
}
