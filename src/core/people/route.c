/* SPDX-License-Identifier: Apache-2.0 */
#include "core/people/route.h"
#include "core/effect.h"

static const int64_t HOUR = MINUTES(60);
static const int64_t DAY = MINUTES(1440);
static const int64_t NO_ROOM = SECONDS(5);     /* too many effects are open: look again then */
static const int64_t TRY_AGAIN = SECONDS(5);   /* tripled each time: an hour and a half in all */
static const int64_t SAY_WITHIN = MINUTES(10); /* then the outcome of a message is unknown */
enum { ROOM_FOR_WORK = 8 }; /* open effects that messages leave to the work itself */

/* ---- which channels ---- */

static bool origin_is(const struct hash *origin, struct str name) {
    struct hash hash = sha256(name);
    return hash_equal(origin, &hash);
}

static bool origin_is_among(const struct hash *origin, struct str names) {
    for (size_t from = 0; from < names.len;) {
        size_t to = from;
        while (to < names.len && names.at[to] != ' ')
            to++;
        struct str name = {names.at + from, to - from};
        if (str_equal(name, STR("*")) || (name.len > 0 && origin_is(origin, name)))
            return true;
        from = to + 1;
    }
    return false;
}

/* ESCALATE-13: a goal that came from a channel is reported there, and where the operator allowed it. */
static bool origin_allows(const struct goal *goal, const struct policy_channel *channel) {
    return hash_is_zero(&goal->origin) || origin_is(&goal->origin, str_of(channel->id)) ||
           origin_is_among(&goal->origin, str_of(channel->origins));
}

/* ESCALATE-04, C-41: a small alert is not sent unless the policy asks for it. ESCALATE-05, C-42: without automatic
 * escalation only an emergency is sent; everything else waits in the inbox. */
static bool is_to_be_sent(const struct policy *policy, const struct question *question) {
    if (question->of != OF_PERSON || question->alarm == ALARM_EMERGENCY)
        return question->of == OF_PERSON;
    bool small = question->kind == QUESTION_ALERT && question->alarm < ALARM_CRITICAL;
    return policy->people.auto_escalate && (!small || policy->people.notify_below);
}

bool route_wants(const struct policy *policy, const struct goal *goal,
                 const struct question *question, const struct policy_channel *channel) {
    if (!is_to_be_sent(policy, question) || !origin_allows(goal, channel))
        return false;
    if (!hash_is_zero(&goal->origin) && origin_is(&goal->origin, str_of(channel->id)))
        return true;
    return channel->least ? question->alarm + 1u >= channel->least
                          : alarm_reaches(question->alarm, channel->kind);
}

static const struct policy_channel *channel_of(const struct policy *policy, uint32_t key) {
    for (uint32_t i = 0; i < policy->people.channel_count; i++)
        if (channel_key(str_of(policy->people.channels[i].id)) == key)
            return &policy->people.channels[i];
    return NULL;
}

/* ---- when ---- */

/* G-23: the end of the quiet hours that `at` falls into; `at` itself: none. */
static int64_t quiet_over(const struct policy *policy, int64_t at) {
    int64_t from = policy->people.quiet_from, to = policy->people.quiet_to,
            midnight = at - at % DAY, of_day = at - midnight;
    if (from == to)
        return at;
    bool quiet = from < to ? of_day >= from && of_day < to : of_day >= from || of_day < to;
    if (!quiet)
        return at;
    return of_day < to ? midnight + to : midnight + DAY + to;
}

static int64_t hour_over(const struct policy *policy, const struct goal *goal, int64_t at) {
    bool full = policy->people.messages_per_hour &&
                goal->people.notices >= policy->people.messages_per_hour &&
                at < goal->people.notices_since + HOUR && at >= goal->people.notices_since;
    return full ? goal->people.notices_since + HOUR : at;
}

/* An emergency waits for nothing. Everything else respects the quiet hours and the hourly cap. */
static int64_t allowed_at(const struct policy *policy, const struct goal *goal,
                          const struct question *question, const struct policy_channel *channel,
                          int64_t at) {
    if (question->alarm == ALARM_EMERGENCY)
        return at;
    int64_t when = hour_over(policy, goal, channel->quiet ? quiet_over(policy, at) : at);
    return channel->quiet ? quiet_over(policy, when) : when;
}

static int64_t again_at(const struct question *question, uint32_t i) {
    return question->asked_at + SECONDS(question->sending.again[i] - 1);
}

/* Seconds after the question was asked, counted from 1; never before `at`. */
static uint32_t again_of(const struct question *question, int64_t at) {
    int64_t after = at > question->asked_at ? at - question->asked_at : 0;
    int64_t seconds = (after + SECONDS(1) - 1) / SECONDS(1);
    return seconds >= UINT32_MAX ? UINT32_MAX : (uint32_t)seconds + 1;
}

/* A message that was withdrawn with its goal is not in progress. */
static bool is_under_way(const struct goal *goal, const struct question *question, uint32_t i) {
    struct goal *open = (struct goal *)(uintptr_t)goal;
    return question->sending.effects[i] && goal_effect(open, question->sending.effects[i] - 1);
}

static int64_t entry_next(const struct policy *policy, const struct goal *goal,
                          const struct question *question, uint32_t i, int64_t now) {
    const struct policy_channel *channel = channel_of(policy, question->sending.keys[i]);
    if (!channel || !question->sending.again[i] || is_under_way(goal, question, i))
        return TIME_NEVER;
    return allowed_at(policy, goal, question, channel, time_later(again_at(question, i), now));
}

static bool is_being_sent(const struct goal *goal, const struct question *question,
                          const struct policy_channel *channel) {
    uint32_t key = channel_key(str_of(channel->id));
    for (uint32_t i = 0; i < question->sending.channels; i++)
        if (question->sending.keys[i] == key)
            return is_under_way(goal, question, i);
    return false;
}

/* A round begins when one of the channels for this question may be used. A channel whose message is still in progress,
 * or a question that is acknowledged, is left out. */
static int64_t round_next(const struct policy *policy, const struct goal *goal,
                          const struct question *question, int64_t now) {
    int64_t next = TIME_NEVER;
    if (question->state != QUESTION_OPEN || question->acknowledged ||
        question->sending.next_at == TIME_NEVER)
        return next;
    int64_t from = time_later(now, time_later(question->sending.next_at, question->snoozed_until));
    for (uint32_t i = 0; i < policy->people.channel_count; i++) {
        const struct policy_channel *channel = &policy->people.channels[i];
        if (!route_wants(policy, goal, question, channel) || is_being_sent(goal, question, channel))
            continue;
        int64_t at = allowed_at(policy, goal, question, channel, from);
        next = at < next ? at : next;
    }
    return next;
}

static bool has_room(const struct goal *goal) {
    return goal->effects.open_count + ROOM_FOR_WORK < LIMIT_OPEN_EFFECTS;
}

int64_t route_next(const struct policy *policy, const struct goal *goal,
                   const struct question *question, int64_t now) {
    int64_t next = round_next(policy, goal, question, now);
    for (uint32_t i = 0; i < question->sending.channels; i++) {
        int64_t at = entry_next(policy, goal, question, i, now);
        next = at < next ? at : next;
    }
    return next < now + NO_ROOM && !has_room(goal) ? now + NO_ROOM : next;
}

/* ---- sending ---- */

/* The entry of a channel. An entry whose channel is no longer configured makes room. */
static uint32_t entry_of(const struct policy *policy, struct question *question, uint32_t key) {
    uint32_t at = 0;
    while (at < question->sending.channels && question->sending.keys[at] != key)
        at++;
    if (at < question->sending.channels)
        return at;
    for (at = 0; at < question->sending.channels && channel_of(policy, question->sending.keys[at]);
         at++)
        ;
    must(at < LIMIT_CHANNELS);
    if (at == question->sending.channels)
        question->sending.channels++;
    question->sending.keys[at] = key;
    question->sending.failures[at] = question->sending.again[at] = question->sending.arrived[at] =
        0;
    question->sending.effects[at] = question->sending.began[at] = question->sending.unsure[at] = 0;
    memset(question->sending.references[at], 0, sizeof question->sending.references[at]);
    return at;
}

/* ESCALATE-15: the longer there is no answer, the longer the wait until it is sent again. */
static int64_t round_after(const struct policy *policy, const struct question *question,
                           int64_t now) {
    int64_t wait = policy->people.say_again;
    if (wait <= 0 ||
        (policy->people.say_most && question->sending.rounds >= policy->people.say_most))
        return TIME_NEVER;
    for (uint32_t i = 1; i < question->sending.rounds && wait < policy->people.say_again_most; i++)
        wait *= 2;
    return now + (wait < policy->people.say_again_most ? wait : policy->people.say_again_most);
}

/* The message is to be sent now. A message whose outcome is unknown keeps its id, so that the service can be asked for
 * it. */
static void message_begin(struct question *question, uint32_t i, int64_t now) {
    question->sending.again[i] = (uint32_t)((now - question->asked_at) / SECONDS(1)) + 1;
    question->sending.failures[i] = 0;
    if (!question->sending.unsure[i])
        question->sending.began[i] = 0;
}

static void round_begin(struct deciding *d, struct question *question) {
    const struct goal *goal = &d->decision->goal;
    live_touch(d, PART_QUESTION, question);
    question->sending.rounds++;
    question->sending.next_at = round_after(d->policy, question, d->signal->at);
    for (uint32_t i = 0; i < d->policy->people.channel_count && i < LIMIT_CHANNELS; i++) {
        const struct policy_channel *channel = &d->policy->people.channels[i];
        if (!route_wants(d->policy, goal, question, channel))
            continue;
        uint32_t at = entry_of(d->policy, question, channel_key(str_of(channel->id)));
        if (!is_under_way(goal, question, at))
            message_begin(question, at, d->signal->at);
    }
}

static enum notice_kind notice_kind_of(const struct question *question) {
    if (question->state == QUESTION_OVER)
        return NOTICE_RESOLVED;
    return question->kind == QUESTION_ALERT     ? NOTICE_ALERT
           : question->kind == QUESTION_APPROVE ? NOTICE_APPROVAL
                                                : NOTICE_QUESTION;
}

/* As people type it. */
static struct str question_called(struct deciding *d, const struct question *question) {
    char name[QUESTION_NAME];
    question_name_format(&d->decision->goal, question->n, name);
    return arena_copy(d->out, str_of(name));
}

static struct notice notice_of(struct deciding *d, const struct question *question, uint32_t i,
                               const struct policy_channel *channel) {
    const struct goal *goal = &d->decision->goal;
    const struct node *node =
        question->node ? plan_node(&d->decision->plan, question->node - 1) : NULL;
    return (struct notice){
        .id = effect_id(goal->id, question->sending.began[i] - 1),
        .goal = goal->id,
        .channel = str_of(channel->id),
        .alarm = question->alarm,
        .kind = notice_kind_of(question),
        .question = question_called(d, question),
        .cause = str_of(question->cause),
        .answers.expires_at = question->expires_at,
        .node = node ? node_id(node) : STR(""),
        .assignment =
            question->assignment ? arena_format(d->out, "A_%u", question->assignment - 1) : STR(""),
        .at = d->signal->at,
        .attempt.times = question->sending.rounds ? question->sending.rounds - 1 : 0,
        .attempt.earlier = str_of(question->sending.references[i]),
        .attempt.unsure = question->sending.unsure[i]};
}

static void entry_say(struct deciding *d, struct question *question, uint32_t i) {
    struct goal *goal = &d->decision->goal;
    const struct policy_channel *channel = channel_of(d->policy, question->sending.keys[i]);
    if (!question->sending.began[i])
        question->sending.began[i] = goal->effects.made + 1;
    struct notice notice = notice_of(d, question, i, channel);
    struct effect effect = {
        .kind = EFFECT_SAY, .within = SAY_WITHIN, .body = shape_encode(&NOTICE, &notice, d->out)};
    question->sending.effects[i] =
        effect_make_about(d, effect, (struct effect_about){.question = question->n + 1})->n + 1;
    question->sending.again[i] = 0;
    if (d->signal->at >= goal->people.notices_since + HOUR ||
        d->signal->at < goal->people.notices_since) {
        goal->people.notices_since = d->signal->at;
        goal->people.notices = 0;
    }
    goal->people.notices++;
    live_touch(d, PART_QUESTION, question);
}

void route_say(struct deciding *d, struct question *question) {
    const struct goal *goal = &d->decision->goal;
    int64_t now = d->signal->at;
    uint32_t first_effect = goal->effects.made;
    bool begins = has_room(goal) && round_next(d->policy, goal, question, now) <= now;
    if (begins)
        round_begin(d, question);
    for (uint32_t i = 0; i < question->sending.channels && has_room(goal); i++)
        if (entry_next(d->policy, goal, question, i, now) <= now)
            entry_say(d, question, i);
    if (begins && goal->effects.made == first_effect) /* a round that sends nothing yet */
        decide_record(d, RECORD_QUESTION_UNSENT,
                      (struct evidence){.rule = STR("route.later"),
                                        .question = arena_format(d->out, "Q_%u", question->n)});
}

bool route_pends(const struct policy *policy, const struct goal *goal,
                 const struct question *question) {
    for (uint32_t i = 0; i < question->sending.channels; i++)
        if (is_under_way(goal, question, i) ||
            (question->sending.again[i] && channel_of(policy, question->sending.keys[i]) != NULL))
            return true;
    return false;
}

void route_hush(struct question *question) {
    question->sending.next_at = TIME_NEVER;
    memset(question->sending.again, 0, sizeof question->sending.again);
}

static bool wants_end(const struct policy_channel *channel) {
    return channel && channel_wants_end(channel->kind);
}

bool route_close(struct deciding *d, struct question *question) {
    bool anywhere = false;
    route_hush(question);
    for (uint32_t i = 0; i < question->sending.channels; i++) {
        bool was_sent = question->sending.arrived[i] || question->sending.unsure[i] ||
                        question->sending.effects[i];
        if (!was_sent || !wants_end(channel_of(d->policy, question->sending.keys[i])))
            continue;
        question->sending.unsure[i] = 0;
        message_begin(question, i, d->signal->at);
        anywhere = true;
    }
    live_touch(d, PART_QUESTION, question);
    return anywhere;
}

/* ---- outcomes ---- */

static void try_again(struct deciding *d, struct question *question, uint32_t i) {
    uint32_t failures = ++question->sending.failures[i];
    int64_t wait = TRY_AGAIN;
    for (uint32_t i = 1; i < failures && i < LIMIT_SAY_TRIES; i++)
        wait *= 3;
    int64_t at = d->signal->at + wait;
    if (failures >= LIMIT_SAY_TRIES) /* the next round tries again */
        return;
    question->sending.again[i] = again_of(question, d->signal->until > at ? d->signal->until : at);
}

/* ESCALATE-07: a channel that fails stops nothing. A message that it could not send is tried again by itself, after
 * growing waits; a message that it refused is tried in the next round. */
void route_heard(struct deciding *d, struct question *question, uint32_t i) {
    bool known = d->signal->kind == SIGNAL_EFFECT_ENDED && d->signal->to < HEARINGS;
    const struct policy_channel *channel = channel_of(d->policy, question->sending.keys[i]);
    enum hearing heard = known ? (enum hearing)d->signal->to : HEARD_PERHAPS;
    bool wanted = question->state == QUESTION_OVER
                      ? wants_end(channel)
                      : question->state == QUESTION_OPEN && !question->acknowledged &&
                            question->snoozed_until <= d->signal->at;
    bool newer =
        question->sending.again[i] != 0; /* the end of the question is to be sent meanwhile */
    uint32_t effect = question->sending.effects[i];
    question->sending.effects[i] = 0;
    if (heard == HEARD_YES) {
        question->sending.arrived[i]++;
        if (!newer)
            question->sending.failures[i] = question->sending.unsure[i] = 0;
        if (d->signal->text.len > 0 && d->signal->text.len <= LIMIT_ISSUE &&
            !question->sending.references[i][0])
            name_put(question->sending.references[i], sizeof question->sending.references[i],
                     d->signal->text);
    } else if (!newer) {
        question->sending.unsure[i] |= heard == HEARD_PERHAPS;
        if (heard != HEARD_NO && wanted)
            try_again(d, question, i);
    }
    live_touch(d, PART_QUESTION, question);
    decide_record(
        d, heard == HEARD_YES ? RECORD_QUESTION_SENT : RECORD_QUESTION_UNSENT,
        (struct evidence){.rule = heard == HEARD_YES ? STR("route.said") : STR("route.failed"),
                          .question = arena_format(d->out, "Q_%u", question->n),
                          .effect = effect,
                          .from = str_of(name_of(&HEARD_NAMES, heard)),
                          .to = channel ? str_of(channel->id) : STR("?"),
                          .text = known ? d->signal->text : STR("no outcome within its time"),
                          .reason = d->signal->outcome.reference,
                          .count = question->sending.failures[i],
                          .until = question->sending.again[i] ? again_at(question, i) : 0});
}

/* ---- the text of a notice ---- */

static struct str fallback_of(const struct question *question, const struct question_text *text) {
    uint32_t option = question->fallback.option;
    return option && option <= text->options.count ? text->options.at[option - 1] : STR("");
}

struct notice notice_worded(struct notice notice, const struct question *question,
                            const struct question_text *text, const struct goal_text *goal,
                            struct str title, struct arena *arena) {
    notice.title = text->title;
    notice.text = text->text;
    notice.task = title;
    notice.answers.options =
        (struct texts){text->options.at,
                       text->options.count < LIMIT_CHOICES ? text->options.count : LIMIT_CHOICES};
    notice.answers.fallback = str_cut_utf8(fallback_of(question, text), LIMIT_CHOICE);
    notice.rule = str_cut_utf8(text->rule, LIMIT_TAG);
    notice.reason = text->reason;
    if (text->detection.len > 0) {
        notice.detection.type = str_cut_utf8(text->detection, LIMIT_TAG);
        notice.detection.severity = text->severity;
        notice.detection.message = text->reason;
    }
    if (text->intervention.len > 0) {
        notice.intervention.level = text->intervention;
        notice.intervention.reason = text->reason;
    }
    notice.evidence = text->evidence.len <= LIMIT_RECORD_BODY ? text->evidence : STR("");
    notice.recommendations = text->recommendations;
    if (notice.recommendations.count > LIMIT_CHOICES)
        notice.recommendations.count = LIMIT_CHOICES;
    notice.iteration = (uint32_t)text->iteration;
    notice.origin = (struct notice_origin){str_cut_utf8(goal->channel, LIMIT_TAG), goal->to,
                                           str_cut_utf8(goal->thread, LIMIT_KEY),
                                           str_cut_utf8(goal->account, LIMIT_KEY)};
    if (notice.kind == NOTICE_RESOLVED)
        notice.title = arena_format(arena, "Settled: %.*s", STR_ARG(text->title));
    return notice;
}
