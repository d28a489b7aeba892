/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that notices reach people in time and not too often, and that their answer has the stated effect. */
#include "model/cause.h"
#include "model/channel_list.h"
#include "model/verification.h"
#include "play.h"

#include "core/liveness.h"
#include "core/people/route.h"

enum { OUTPUT_MOST = 4096 };

/* One decided message, as the channel would get it. */
struct message {
    uint32_t n;
    int64_t at;
    char channel[LIMIT_AGENT + 1], cause[LIMIT_CAUSE + 1], earlier[LIMIT_REFERENCE + 1];
    enum notice_kind kind;
    enum alarm alarm;
    struct id id;
    uint32_t unsure, times;
    bool over; /* its outcome was reported */
};

static struct room {
    struct goal goal;
    struct live live;
    struct arena kept[2], arena;
    int turn;
    struct policy policy;
    struct policy_channel channels[LIMIT_CHANNELS];
    struct decision did;
    int64_t now, due; /* due: when the goal wants its next step */
    uint64_t sources;
    uint32_t written[RECORD_TYPES];
    struct message sent[OUTPUT_MOST];
    uint32_t sent_count;
} room;

/* ---- the fixture ---- */

static void messages_read(struct room *r) {
    for (uint32_t i = 0; i < r->did.effect_count; i++) {
        const struct effect_change *change = &r->did.effects[i];
        struct effect effect = {0};
        struct notice notice = {0};
        if (change->op != EFFECT_OP_MAKE || change->slot.kind != EFFECT_SAY)
            continue;
        check(effect_decode(EFFECT_SAY, change->body, &effect), "an effect");
        check(shape_decode_in(&NOTICE, effect.body, &r->arena, &notice), "a notice");
        assert_true(r->sent_count < OUTPUT_MOST);
        struct message *m = &r->sent[r->sent_count++];
        *m = (struct message){change->slot.n,
                              r->now,
                              {0},
                              {0},
                              {0},
                              notice.kind,
                              notice.alarm,
                              notice.id,
                              notice.attempt.unsure,
                              notice.attempt.times,
                              false};
        snprintf(m->channel, sizeof m->channel, "%.*s", STR_ARG(notice.channel));
        snprintf(m->cause, sizeof m->cause, "%.*s", STR_ARG(notice.cause));
        snprintf(m->earlier, sizeof m->earlier, "%.*s", STR_ARG(notice.attempt.earlier));
    }
}

/* Stores and reloads the decision, as after a restart. */
static void live_store(struct room *r) {
    struct arena *arena = &r->kept[r->turn ^= 1];
    arena_reset(arena);
    r->live = live_copy(&r->did.live, arena);
    for (uint32_t kind = 0; kind < PARTS; kind++) {
        const struct shape *shape = PART[kind].shape;
        if (!PART[kind].live)
            continue;
        struct live_rows *rows = live_rows(&r->live, (enum part_kind)kind);
        for (uint32_t i = 0; i < rows->count; i++) {
            char *row = (char *)rows->at + shape->size * i;
            struct str bytes = shape_encode(shape, row, arena);
            uint32_t n = *(uint32_t *)(void *)row; /* n is a separate column */
            memset(row, 0, shape->size);
            *(uint32_t *)(void *)row = n;
            check(shape_decode(shape, bytes, row), "%s", shape->name);
        }
    }
}

static enum error tell(struct room *r, struct signal signal) {
    arena_reset(&r->arena);
    bool exists = r->goal.version > 0;
    signal.goal = exists ? r->goal.id : (struct id){{1, 2, 3}};
    signal.at = r->now;
    memcpy(signal.source.bytes, &(uint64_t){++r->sources}, 8);
    if (signal.sender.actor.len == 0)
        signal.sender.actor = signal.sender.by == WHO_HUMAN   ? STR("human:anna")
                              : signal.sender.by == WHO_AGENT ? STR("actor:agent:auto-1")
                                                              : STR("overseer");
    r->policy = policy_seal(r->policy);
    struct goal before = r->goal;
    struct stepping s = {.world = {.goal = exists ? &r->goal : NULL, .live = &r->live, .level = 4},
                         .signal = &signal,
                         .policy = r->policy,
                         .arena = &r->arena};
    check(step_guarded(&s) == CRASH_GUARD_WHOLE, "%s: %s", SIGNALS[signal.kind].name, s.report.why);
    r->did = s.decision;
    if (r->did.verdict == VERDICT_NOTHING && signal.kind == SIGNAL_GOAL_DUE)
        r->due = r->did.due_at;
    if (r->did.verdict != VERDICT_CHANGE)
        return r->did.error;
    change_is_whole(SIGNALS[signal.kind].name, exists ? &before : NULL, &signal, &r->policy,
                    &r->did);
    for (uint32_t i = 0; i < r->did.record_count; i++)
        r->written[r->did.records[i].type]++;
    messages_read(r);
    r->goal = r->did.goal;
    r->due = r->goal.due_at;
    live_store(r);
    check(!live_broken(&r->live, &r->goal), "%s", live_broken(&r->live, &r->goal));
    return ERROR_NONE;
}

static int room_begin(void **state) {
    (void)state;
    memset(&room, 0, sizeof room);
    room.now = T0 - T0 % MINUTES(1440) + MINUTES(12 * 60); /* noon */
    room.policy = policy_of(MINUTES(1));
    assert_int_equal(tell(&room, (struct signal){.kind = SIGNAL_GOAL_CREATE,
                                                 .sender.by = WHO_HUMAN,
                                                 .describe.title = STR("title"),
                                                 .host = 7}),
                     ERROR_NONE);
    return 0;
}

static int room_end(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++)
        arena_free(&room.kept[i]);
    arena_free(&room.arena);
    return 0;
}

static void channel_add(struct room *r, const char *id, enum channel_kind kind) {
    struct policy_channel *channel = &r->channels[r->policy.people.channel_count++];
    *channel = (struct policy_channel){.kind = kind, .quiet = 1};
    snprintf(channel->id, sizeof channel->id, "%s", id);
    r->policy.people.channels = r->channels;
}

static void channels_three(struct room *r) {
    channel_add(r, "desk", CHANNEL_DESKTOP);
    channel_add(r, "tracker", CHANNEL_GITEA);
    channel_add(r, "hook", CHANNEL_WEBHOOK);
}

/* ---- asking and answering ---- */

static struct signal ask_of(struct room *r, enum question_kind kind, const char *level,
                            const char *cause, uint32_t options) {
    static const struct str AGENT_MESSAGES[] = {{"drop", 4}, {"keep", 4}, {"ask again", 9}};
    struct question_text text = {.title = STR("Drop the column?"),
                                 .text = STR("users.legacy_id"),
                                 .options = {AGENT_MESSAGES, options},
                                 .level = str_of(level)};
    return (struct signal){.kind = SIGNAL_QUESTION_ASK,
                           .sender.by = WHO_HUMAN,
                           .to = kind,
                           .text = str_of(cause),
                           .body = shape_encode(&QUESTION_TEXT, &text, &r->kept[r->turn])};
}

static enum error ask(struct room *r, enum question_kind kind, const char *level,
                      const char *cause) {
    return tell(r, ask_of(r, kind, level, cause, 3));
}

static struct question *about(struct room *r, const char *cause) {
    return questions_about(&r->live.questions, str_of(cause));
}

static enum error answer(struct room *r, const struct question *question, uint32_t option,
                         const char *words) {
    return tell(r, (struct signal){.kind = SIGNAL_QUESTION_ANSWER,
                                   .sender.by = WHO_HUMAN,
                                   .about.question = question->n + 1,
                                   .to = option,
                                   .text = str_of(words)});
}

static enum error move(struct room *r, const struct question *question, enum question_move to,
                       int64_t until) {
    return tell(r, (struct signal){.kind = SIGNAL_QUESTION_MOVE,
                                   .sender.by = WHO_HUMAN,
                                   .about.question = question->n + 1,
                                   .to = to,
                                   .until = until});
}

static enum error heard(struct room *r, struct message *m, enum hearing how, const char *text,
                        int64_t until) {
    m->over = true;
    return tell(r, (struct signal){.kind = SIGNAL_EFFECT_ENDED,
                                   .sender.by = WHO_OVERSEER,
                                   .effect = m->n,
                                   .to = how,
                                   .text = str_of(text),
                                   .until = until});
}

static void all_heard(struct room *r, const char *reference) {
    for (uint32_t i = 0; i < r->sent_count; i++)
        if (!r->sent[i].over)
            assert_int_equal(heard(r, &r->sent[i], HEARD_YES, reference, 0), ERROR_NONE);
}

/* Lets time pass, with a step at every due time; `deal` handles each message. */
typedef void dealing(struct room *r, struct message *m);

static void pass(struct room *r, int64_t span, dealing *deal) {
    int64_t until = r->now + span;
    for (int rounds = 0;; rounds++) {
        assert_true(rounds < 20000);
        for (uint32_t i = 0; deal && i < r->sent_count; i++)
            if (!r->sent[i].over)
                deal(r, &r->sent[i]);
        if (r->due > until)
            break;
        r->now = r->due > r->now ? r->due : r->now;
        tell(r, (struct signal){.kind = SIGNAL_GOAL_DUE, .sender.by = WHO_OVERSEER});
        check(r->did.verdict == VERDICT_CHANGE || r->due > r->now, "asked for the same moment");
    }
    r->now = until;
}

static void deal_well(struct room *r, struct message *m) {
    heard(r, m, HEARD_YES, m->kind == NOTICE_RESOLVED ? "" : "17", 0);
}

static uint32_t count_sent(const struct room *r, const char *channel) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->sent_count; i++)
        count += strcmp(r->sent[i].channel, channel) == 0;
    return count;
}

/* ---- ESCALATE-01, ESCALATE-03 ---- */

static void test_each_level_has_its_channels(void **state) {
    static const struct {
        const char *level;
        uint32_t admission, tracker, hook;
    } ROWS[] = {
        {"info", 1, 0, 0}, {"warning", 1, 0, 0}, {"critical", 1, 1, 0}, {"emergency", 1, 1, 1}};
    for (size_t i = 0; i < count_of(ROWS); i++) {
        room_end(state);
        room_begin(state);
        channels_three(&room);
        assert_int_equal(ask(&room, QUESTION_DECIDE, ROWS[i].level, "c"), ERROR_NONE);
        assert_int_equal(count_sent(&room, "desk"), ROWS[i].admission);
        assert_int_equal(count_sent(&room, "tracker"), ROWS[i].tracker);
        assert_int_equal(count_sent(&room, "hook"), ROWS[i].hook);
        assert_int_equal(room.goal.people.questions, 1);
    }
    proof_passed("unit", __func__, "ESCALATE-01 ESCALATE-03");
}

static void test_interventions_have_levels(void **state) {
    (void)state;
    static const struct {
        enum intervention intervention;
        bool critical;
        enum alarm alarm;
    } ROWS[] = {
        {INTERVENTION_LOG, false, ALARM_INFO},
        {INTERVENTION_LOG, true, ALARM_INFO},
        {INTERVENTION_WARN, false, ALARM_WARNING},
        {INTERVENTION_WARN, true, ALARM_WARNING},
        {INTERVENTION_REDIRECT, false, ALARM_WARNING},
        {INTERVENTION_REDIRECT, true, ALARM_CRITICAL},
        {INTERVENTION_PAUSE, false, ALARM_CRITICAL},
        {INTERVENTION_PAUSE, true, ALARM_CRITICAL},
        {INTERVENTION_ABORT, false, ALARM_EMERGENCY},
        {INTERVENTION_ABORT, true, ALARM_EMERGENCY},
    };
    for (size_t i = 0; i < count_of(ROWS); i++)
        assert_int_equal(intervention_alarm(ROWS[i].intervention, ROWS[i].critical), ROWS[i].alarm);
    proof_passed("unit", __func__, "ESCALATE-02");
}

/* ---- ESCALATE-04, ESCALATE-05 ---- */

static void test_what_is_escalated_by_itself(void **state) {
    static const struct {
        uint32_t automatic, below;
        enum question_kind kind;
        const char *level;
        uint32_t sent;
    } ROWS[] = {
        {1, 0, QUESTION_ALERT, "info", 0},       {1, 0, QUESTION_ALERT, "warning", 0},
        {1, 1, QUESTION_ALERT, "info", 1},       {1, 1, QUESTION_ALERT, "warning", 1},
        {1, 0, QUESTION_ALERT, "critical", 2},   {1, 0, QUESTION_APPROVE, "critical", 2},
        {0, 0, QUESTION_APPROVE, "critical", 0}, {0, 1, QUESTION_ALERT, "warning", 0},
        {0, 0, QUESTION_ALERT, "emergency", 3},  {0, 0, QUESTION_DECIDE, "warning", 0},
    };
    for (size_t i = 0; i < count_of(ROWS); i++) {
        room_end(state);
        room_begin(state);
        channels_three(&room);
        room.policy.people.auto_escalate = ROWS[i].automatic;
        room.policy.people.notify_below = ROWS[i].below;
        assert_int_equal(ask(&room, ROWS[i].kind, ROWS[i].level, "c"), ERROR_NONE);
        check(room.sent_count == ROWS[i].sent, "row %zu: %u", i, room.sent_count);
        assert_int_equal(room.goal.people.questions, 1); /* in any case it waits in the inbox */
    }
    proof_passed("unit", __func__, "ESCALATE-04 ESCALATE-05");
}

/* ---- ESCALATE-07 ---- */

static void deal_badly(struct room *r, struct message *m) {
    if (strcmp(m->channel, "tracker") == 0)
        heard(r, m, HEARD_LATER, "503", 0);
    else
        heard(r, m, HEARD_YES, "ok", 0);
}

static void test_a_failing_channel_stops_nothing(void **state) {
    (void)state;
    channels_three(&room);
    room.policy.people.say_most = 1;
    ask(&room, QUESTION_DECIDE, "emergency", "c");
    pass(&room, MINUTES(1440), deal_badly);
    assert_int_equal(count_sent(&room, "desk"), 1);
    assert_int_equal(count_sent(&room, "hook"), 1);
    assert_int_equal(count_sent(&room, "tracker"), LIMIT_SAY_TRIES);
    assert_int_equal(room.written[RECORD_QUESTION_UNSENT], LIMIT_SAY_TRIES);
    const struct message *last = NULL;
    int64_t gap = 0;
    for (uint32_t i = 0; i < room.sent_count; i++) {
        if (strcmp(room.sent[i].channel, "tracker") != 0)
            continue;
        check(!last || room.sent[i].at - last->at > gap, "the pauses grow");
        check(!last || id_equal(last->id, room.sent[i].id), "one message, one name");
        gap = last ? room.sent[i].at - last->at : 0;
        last = &room.sent[i];
    }
    assert_int_equal(about(&room, "c")->state, QUESTION_OPEN);
    proof_passed("unit", __func__, "ESCALATE-07");
}

static void test_a_service_says_when(void **state) {
    (void)state;
    channel_add(&room, "tracker", CHANNEL_GITEA);
    ask(&room, QUESTION_DECIDE, "critical", "c");
    int64_t until = room.now + MINUTES(7);
    heard(&room, &room.sent[0], HEARD_LATER, "429", until);
    pass(&room, MINUTES(7) - SECONDS(1), NULL);
    assert_int_equal(room.sent_count, 1);
    pass(&room, SECONDS(2), NULL);
    assert_int_equal(room.sent_count, 2);
    /* after an unknown outcome the retry keeps the id, and checks first */
    heard(&room, &room.sent[1], HEARD_PERHAPS, "time-out", 0);
    pass(&room, MINUTES(3), NULL);
    assert_int_equal(room.sent_count, 3);
    assert_true(room.sent[2].unsure && id_equal(room.sent[2].id, room.sent[0].id));
    heard(&room, &room.sent[2], HEARD_YES, "17", 0);
    pass(&room, MINUTES(40), deal_well);
    assert_int_equal(room.sent_count, 4); /* the next round: a new message about the same issue */
    assert_false(id_equal(room.sent[3].id, room.sent[0].id));
    assert_string_equal(room.sent[3].earlier, "17");
    assert_int_equal(room.sent[3].unsure, 0);
}

/* ---- ESCALATE-13 ---- */

static void goal_from(struct room *r, const char *channel) {
    struct goal_text text = {.channel = str_of(channel)};
    assert_int_equal(
        tell(r, (struct signal){.kind = SIGNAL_GOAL_UPDATE,
                                .sender.by = WHO_HUMAN,
                                .to = 1,
                                .describe.base = r->goal.text,
                                .body = shape_encode(&GOAL_TEXT, &text, &r->kept[r->turn])}),
        ERROR_NONE);
}

static void test_a_goal_speaks_where_it_came_from(void **state) {
    (void)state;
    channels_three(&room);
    channel_add(&room, "room-a", CHANNEL_SLACK);
    channel_add(&room, "room-b", CHANNEL_SLACK);
    snprintf(room.channels[1].origins, sizeof room.channels[1].origins, "room-b room-c");
    goal_from(&room, "room-a");
    ask(&room, QUESTION_DECIDE, "emergency", "c1");
    assert_int_equal(room.sent_count, 1);
    assert_string_equal(room.sent[0].channel, "room-a");
    ask(&room, QUESTION_DECIDE, "warning", "c2"); /* whatever the level */
    assert_int_equal(room.sent_count, 2);
    assert_string_equal(room.sent[1].channel, "room-a");
    goal_from(&room, "room-c");
    ask(&room, QUESTION_DECIDE, "emergency", "c3");
    assert_int_equal(room.sent_count, 3);
    assert_string_equal(room.sent[2].channel, "tracker");
    snprintf(room.channels[0].origins, sizeof room.channels[0].origins, "*");
    ask(&room, QUESTION_DECIDE, "info", "c4");
    assert_int_equal(room.sent_count, 4);
    assert_string_equal(room.sent[3].channel, "desk");
    proof_passed("unit", __func__, "ESCALATE-13");
}

/* ---- ESCALATE-15 ---- */

static void test_the_same_cause_is_asked_once(void **state) {
    (void)state;
    channels_three(&room);
    for (int i = 0; i < 10; i++) {
        ask(&room, QUESTION_DECIDE, "critical", "stalled.T1");
        pass(&room, MINUTES(2), deal_well);
    }
    assert_int_equal(room.live.questions.count, 1);
    assert_int_equal(room.written[RECORD_QUESTION_ASKED], 1);
    assert_int_equal(count_sent(&room, "tracker"), 1);
    pass(&room, MINUTES(7 * 1440), deal_well);
    assert_int_equal(count_sent(&room, "tracker"), (int)room.policy.people.say_most);
    int64_t gap = MINUTES(30);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < room.sent_count; i++) {
        const struct message *m = &room.sent[i];
        static int64_t last;
        if (strcmp(m->channel, "tracker") != 0)
            continue;
        assert_string_equal(m->earlier, seen ? "17" : "");
        assert_int_equal(m->times, seen);
        if (seen) {
            check(m->at - last == gap, "%lld", (long long)(m->at - last));
            gap = gap * 2 < room.policy.people.say_again_most ? gap * 2
                                                              : room.policy.people.say_again_most;
        }
        last = m->at;
        seen++;
    }
    proof_passed("unit", __func__, "ESCALATE-15");
}

static void test_what_becomes_worse_is_said_at_once(void **state) {
    (void)state;
    channels_three(&room);
    ask(&room, QUESTION_DECIDE, "warning", "c");
    all_heard(&room, "");
    move(&room, about(&room, "c"), QUESTION_SEEN, 0);
    ask(&room, QUESTION_DECIDE, "warning", "c");
    assert_int_equal(room.sent_count, 1);
    ask(&room, QUESTION_DECIDE, "emergency", "c");
    assert_int_equal(room.sent_count, 4);
    assert_int_equal(room.live.questions.count, 1);
    assert_int_equal(room.written[RECORD_QUESTION_RAISED], 1);
}

/* ---- G-23: quiet hours, caps, acknowledged, snoozed ---- */

static void test_the_night_is_quiet_but_for_emergencies(void **state) {
    (void)state;
    channels_three(&room);
    room.policy.people.quiet_from = MINUTES(22 * 60);
    room.policy.people.quiet_to = MINUTES(7 * 60);
    room.now += MINUTES(11 * 60); /* 23:00 */
    int64_t night = room.now;
    room.policy.people.say_most = 1;
    ask(&room, QUESTION_DECIDE, "critical", "c");
    assert_int_equal(room.sent_count, 0);
    ask(&room, QUESTION_DECIDE, "emergency", "e");
    assert_int_equal(room.sent_count, 3);
    pass(&room, MINUTES(8 * 60) - SECONDS(1), deal_well);
    assert_int_equal(room.sent_count, 3);
    pass(&room, SECONDS(2), deal_well);
    assert_int_equal(room.sent_count, 5);
    assert_true(room.sent[3].at == night + MINUTES(8 * 60));
    room.channels[0].quiet = 0; /* this channel has no quiet hours */
    room.now = night + MINUTES(1440);
    ask(&room, QUESTION_DECIDE, "warning", "d");
    assert_int_equal(room.sent_count, 6);
}

static void test_an_hour_has_its_cap(void **state) {
    (void)state;
    channels_three(&room);
    room.policy.people.messages_per_hour = 5;
    room.policy.people.say_most = 1;
    char cause[16];
    for (int i = 0; i < 9; i++) {
        snprintf(cause, sizeof cause, "c%d", i);
        ask(&room, QUESTION_DECIDE, "warning", cause);
    }
    assert_int_equal(room.sent_count, 5);
    ask(&room, QUESTION_DECIDE, "emergency", "e");
    assert_int_equal(room.sent_count, 8);
    pass(&room, MINUTES(60) - SECONDS(1), deal_well);
    assert_int_equal(room.sent_count, 8);
    pass(&room, MINUTES(60), deal_well);
    assert_int_equal(room.sent_count, 12); /* the remaining four */
}

static void test_seen_and_snoozed_are_not_said_again(void **state) {
    (void)state;
    channels_three(&room);
    ask(&room, QUESTION_DECIDE, "warning", "seen");
    ask(&room, QUESTION_DECIDE, "warning", "later");
    ask(&room, QUESTION_ALERT, "critical", "alert");
    all_heard(&room, "17");
    uint32_t before = room.sent_count;
    assert_int_equal(move(&room, about(&room, "seen"), QUESTION_SEEN, 0), ERROR_NONE);
    assert_int_equal(move(&room, about(&room, "later"), QUESTION_SNOOZE, room.now + MINUTES(300)),
                     ERROR_NONE);
    assert_int_equal(move(&room, about(&room, "later"), QUESTION_SNOOZE, room.now - 1),
                     ERROR_INVALID);
    assert_int_equal(move(&room, about(&room, "alert"), QUESTION_SEEN, 0), ERROR_NONE);
    assert_null(
        about(&room, "alert")); /* a seen alert is over, and its issue is marked as resolved */
    assert_int_equal(room.sent_count, before + 1);
    assert_int_equal(room.sent[before].kind, NOTICE_RESOLVED);
    assert_string_equal(room.sent[before].earlier, "17");
    pass(&room, MINUTES(299), deal_well);
    assert_int_equal(room.sent_count, before + 1);
    pass(&room, MINUTES(2), deal_well);
    assert_int_equal(room.sent_count, before + 2);
    assert_string_equal(room.sent[before + 1].cause, "later");
    assert_int_equal(room.goal.people.questions, 2);
}

/* ---- assignments ---- */

/* A plan P1 > T1, T2 … with an agent working on each; S1 below T1. */
static void staff_make(struct room *r, const char *line) {
    struct arena arena = {0};
    struct plan_text text = plan_read_line(line, &arena);
    assert_int_equal(tell(r, (struct signal){.kind = SIGNAL_PLAN_APPLY,
                                             .sender.by = WHO_HUMAN,
                                             .reason = STR("so that it gets done"),
                                             .body = shape_encode(&PLAN_TEXT, &text, &arena)}),
                     ERROR_NONE);
    arena_free(&arena);
}

static uint32_t child_put(struct room *r, const char *node, uint32_t parent) {
    struct arena *arena = &r->kept[r->turn];
    struct assignment *at = arena_new(arena, struct assignment, r->live.assignments.count + 1);
    if (r->live.assignments.count > 0)
        memcpy(at, r->live.assignments.at, r->live.assignments.count * sizeof *at);
    struct assignment *assignment = &at[r->live.assignments.count];
    assignment->n = r->goal.parts_made++;
    assignment->node = plan_find(&r->live.plan, str_of(node))->n;
    assignment->status = ASSIGNMENT_ACTIVE;
    assignment->created_at = assignment->updated_at = assignment->liveness.last_activity_at =
        r->now;
    assignment->liveness.idle_after = MINUTES(600);
    assignment->parent = parent;
    snprintf(assignment->agent, sizeof assignment->agent, "agent-%u", assignment->n);
    r->live.assignments = (struct assignments){at, r->live.assignments.count + 1};
    return assignment->n;
}

static uint32_t assignment_put(struct room *r, const char *node) {
    return child_put(r, node, 0);
}

static struct assignment *assignment_of(struct room *r, uint32_t n) {
    return assignments_find(&r->live.assignments, n);
}

static enum error agent_asks(struct room *r, uint32_t assignment, enum asked_of of,
                             const char *title) {
    static const struct str OPTIONS[] = {{"yes", 3}, {"no", 2}};
    struct question_text text = {.title = str_of(title), .options = {OPTIONS, 2}};
    return tell(r, (struct signal){.kind = SIGNAL_AGENT_ASK,
                                   .sender.by = WHO_AGENT,
                                   .about.assignment = assignment + 1,
                                   .to = of,
                                   .body = shape_encode(&QUESTION_TEXT, &text, &r->kept[r->turn])});
}

/* ---- ESCALATE-14 ---- */

static struct str text_kept(const struct room *r, const struct hash *hash) {
    for (uint32_t i = 0; i < r->did.text_count; i++)
        if (hash_equal(&r->did.texts[i].hash, hash))
            return r->did.texts[i].body;
    return STR("");
}

static void test_an_answer_lets_work_go_on(void **state) {
    (void)state;
    channels_three(&room);
    staff_make(&room, "P1 T1/P1");
    uint32_t assignment = assignment_put(&room, "T1");
    assert_int_equal(agent_asks(&room, assignment, OF_PERSON, "Drop it?"), ERROR_NONE);
    struct question *question = &room.live.questions.at[0];
    assert_int_equal(assignment_of(&room, assignment)->status, ASSIGNMENT_BLOCKED);
    assert_int_equal(assignment_of(&room, assignment)->wait.question, question->n + 1);
    assert_int_equal(answer(&room, question, 3, ""), ERROR_INVALID);
    assert_int_equal(answer(&room, question, 0, ""), ERROR_INVALID);
    assert_int_equal(answer(&room, question, 1, "a) yes, but keep a copy"), ERROR_NONE);
    struct hash sent = room.live.questions.at[0].answer.text;
    assert_true(str_equal(text_kept(&room, &sent), STR("a) yes, but keep a copy")));
    assert_int_equal(room.goal.people.questions, 0);
    assert_int_equal(assignment_of(&room, assignment)->status,
                     ASSIGNMENT_BLOCKED); /* the answer can still be undone */
    assert_int_equal(answer(&room, &room.live.questions.at[0], 2, "no"), ERROR_CONFLICT);
    assert_int_equal(move(&room, &room.live.questions.at[0], QUESTION_UNDO, 0), ERROR_NONE);
    assert_int_equal(room.goal.people.questions, 1);
    assert_int_equal(answer(&room, &room.live.questions.at[0], 2, "b) no"), ERROR_NONE);
    sent = room.live.questions.at[0].answer.text;
    pass(&room, room.policy.people.undo_for - 1, deal_well);
    assert_int_equal(assignment_of(&room, assignment)->status, ASSIGNMENT_BLOCKED);
    pass(&room, 1, deal_well);
    assert_int_equal(assignment_of(&room, assignment)->status, ASSIGNMENT_QUEUED);
    assert_int_equal(assignment_of(&room, assignment)->wait.question, 0);
    assert_true(hash_equal(&assignment_of(&room, assignment)->outgoing.text,
                           &sent)); /* sent with the next instruction */
    assert_int_equal(room.live.questions.count, 0);
    assert_int_equal(room.written[RECORD_QUESTION_APPLIED], 1);
    proof_passed("unit", __func__, "ESCALATE-14");
}

static void test_what_was_said_is_called_settled(void **state) {
    (void)state;
    channel_add(&room, "desk", CHANNEL_DESKTOP);
    channel_add(&room, "pager", CHANNEL_PAGERDUTY);
    ask(&room, QUESTION_DECIDE, "emergency", "c");
    all_heard(&room, "");
    answer(&room, about(&room, "c"), 1, "drop");
    pass(&room, room.policy.people.undo_for, NULL);
    assert_int_equal(room.sent_count, 3);
    assert_string_equal(room.sent[2].channel, "pager");
    assert_int_equal(room.sent[2].kind, NOTICE_RESOLVED);
    heard(&room, &room.sent[2], HEARD_LATER, "503", 0);
    assert_int_equal(room.live.questions.count, 1); /* until the pager has received it */
    pass(&room, MINUTES(10), deal_well);
    assert_int_equal(room.sent_count, 4);
    assert_int_equal(room.live.questions.count, 0);
}

/* ---- G-24: who may answer, until when, and what happens without an answer ---- */

static void test_who_may_answer(void **state) {
    (void)state;
    struct question_text text = {.title = STR("Ship it?"), .who = STR("bert carla")};
    struct signal signal = {.kind = SIGNAL_QUESTION_ASK,
                            .sender.by = WHO_HUMAN,
                            .to = QUESTION_APPROVE,
                            .text = STR("c"),
                            .body = shape_encode(&QUESTION_TEXT, &text, &room.kept[room.turn])};
    assert_int_equal(tell(&room, signal), ERROR_NONE);
    uint32_t n = about(&room, "c")->n + 1;
    struct signal yes = {
        .kind = SIGNAL_QUESTION_ANSWER, .sender.by = WHO_HUMAN, .about.question = n, .to = 1};
    assert_int_equal(tell(&room, yes), ERROR_UNAUTHORIZED); /* by anna */
    yes.sender.by = WHO_AGENT;
    assert_int_equal(tell(&room, yes), ERROR_UNAUTHORIZED);
    yes.sender.by = WHO_OVERSEER;
    assert_int_equal(tell(&room, yes), ERROR_UNAUTHORIZED);
    yes.sender.by = WHO_HUMAN;
    yes.sender.actor = STR("human:carl");
    assert_int_equal(tell(&room, yes), ERROR_UNAUTHORIZED);
    yes.sender.actor = STR("human:carla");
    yes.to = 3;
    assert_int_equal(tell(&room, yes), ERROR_INVALID);
    yes.to = 1;
    assert_int_equal(tell(&room, yes), ERROR_NONE);
    yes.about.question = 99;
    assert_int_equal(tell(&room, yes), ERROR_NOT_FOUND);
}

static void ask_until(struct room *r, enum question_kind kind, const char *cause, uint32_t fallback,
                      int64_t until, const char *node) {
    struct signal signal = ask_of(r, kind, "warning", cause, 3);
    signal.about.question = fallback;
    signal.until = until;
    signal.work.node = str_of(node);
    assert_int_equal(tell(r, signal), ERROR_NONE);
}

static void test_nobody_answers(void **state) {
    (void)state;
    channels_three(&room);
    staff_make(&room, "P1 T1/P1 T2/P1 T3/P1");
    uint32_t first = assignment_put(&room, "T1"), second = assignment_put(&room, "T2"),
             third = assignment_put(&room, "T3");
    int64_t until = room.now + MINUTES(20);
    ask_until(&room, QUESTION_DECIDE, "fallback", 2, until, "T1");
    ask_until(&room, QUESTION_APPROVE, "approve", 0, until, "T2");
    ask_until(&room, QUESTION_DECIDE, "open", 0, until, "T3");
    ask_until(&room, QUESTION_DECIDE, "loose", 0, until, "");
    pass(&room, MINUTES(20) - 1, deal_well);
    assert_int_equal(room.live.questions.count, 4);
    struct hash keep = sha256(STR("keep")), no = sha256(STR("no"));
    pass(&room, 1, deal_well);
    assert_true(hash_equal(&assignment_of(&room, first)->outgoing.text, &keep));
    assert_int_equal(assignment_of(&room, first)->status, ASSIGNMENT_QUEUED);
    assert_true(hash_equal(&assignment_of(&room, second)->outgoing.text, &no));
    assert_int_equal(assignment_of(&room, third)->status, ASSIGNMENT_BLOCKED);
    assert_int_equal(room.live.questions.count, 1); /* a person is asked, with a higher level */
    assert_int_equal(about(&room, "open")->alarm, ALARM_CRITICAL);
    assert_int_equal(about(&room, "open")->state, QUESTION_OPEN);
    assert_int_equal(count_sent(&room, "tracker"), 1);
    assert_int_equal(room.written[RECORD_QUESTION_EXPIRED], 4);
    /* after the deadline, but before the timer fired */
    ask_until(&room, QUESTION_DECIDE, "late", 1, room.now + MINUTES(1), "");
    room.now += MINUTES(2);
    assert_int_equal(answer(&room, about(&room, "late"), 2, "keep"), ERROR_CONFLICT);
}

/* ---- REQUEST ---- */

static void test_a_child_asks_its_parent(void **state) {
    (void)state;
    staff_make(&room, "P1 T1/P1 T2/P1");
    uint32_t parent = assignment_put(&room, "T1"), child = child_put(&room, "T2", parent + 1);
    assert_int_equal(agent_asks(&room, child, OF_PARENT, "Which API?"), ERROR_NONE);
    const struct question *question = &room.live.questions.at[0];
    assert_int_equal(question->of, OF_PARENT);
    assert_int_equal(question->parent, parent + 1);
    assert_int_equal(room.goal.people.questions, 0); /* no person is asked */
    struct signal reply = {.kind = SIGNAL_QUESTION_ANSWER,
                           .sender.by = WHO_AGENT,
                           .about.assignment = child + 1,
                           .about.question = question->n + 1,
                           .text = STR("the second one")};
    assert_int_equal(tell(&room, reply),
                     ERROR_UNAUTHORIZED); /* an agent cannot answer its own question */
    reply.about.assignment = parent + 1;
    assert_int_equal(tell(&room, reply), ERROR_NONE);
    assert_int_equal(room.live.questions.count, 0);
    struct hash sent = sha256(STR("the second one"));
    assert_true(hash_equal(&assignment_of(&room, child)->outgoing.text, &sent));
    proof_passed("unit", __func__, "REQUEST-01");
}

static enum error ask_nth(struct room *r, uint32_t assignment, int n) {
    char title[32];
    snprintf(title, sizeof title, "question %d of %u", n, assignment);
    return agent_asks(r, assignment, OF_PARENT, title);
}

static void answer_all(struct room *r) {
    while (r->live.questions.count > 0)
        assert_int_equal(tell(r, (struct signal){.kind = SIGNAL_QUESTION_ANSWER,
                                                 .sender.by = WHO_OVERSEER,
                                                 .about.question = r->live.questions.at[0].n + 1,
                                                 .text = STR("go on")}),
                         ERROR_NONE);
}

/* Every step stores and reloads all rows, so this also shows that the limits survive a restart. */
static void test_requests_have_limits(void **state) {
    (void)state;
    staff_make(&room, "P1 T0/P1 T1/P1 T2/P1 T3/P1 T4/P1 T5/P1 T6/P1 T7/P1");
    uint32_t parent = assignment_put(&room, "T0"), child[7];
    for (int i = 0; i < 7; i++) {
        char node[3] = {'T', (char)('1' + i), 0};
        child[i] = child_put(&room, node, parent + 1);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(ask_nth(&room, child[0], i), ERROR_NONE);
    assert_int_equal(ask_nth(&room, child[0], 0),
                     ERROR_NONE); /* the same text is the same request */
    assert_int_equal(room.live.questions.count, 3);
    assert_int_equal(ask_nth(&room, child[0], 3), ERROR_LIMITED); /* REQUEST-03 */
    answer_all(&room);
    assert_int_equal(ask_nth(&room, child[0], 4), ERROR_NONE);
    assert_int_equal(ask_nth(&room, child[0], 5), ERROR_NONE);
    answer_all(&room);
    assert_int_equal(ask_nth(&room, child[0], 6), ERROR_LIMITED); /* REQUEST-02: the sixth */
    room.now += SECONDS(59);
    assert_int_equal(ask_nth(&room, child[0], 6), ERROR_LIMITED);
    room.now += SECONDS(2);
    assert_int_equal(ask_nth(&room, child[0], 6), ERROR_NONE);
    answer_all(&room);
    room.now += MINUTES(2);
    for (int i = 0; i < 20; i++)
        assert_int_equal(ask_nth(&room, child[i % 7], 100 + i), ERROR_NONE);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(room.live.questions.at[i].parent, parent + 1);
    room.now += MINUTES(2);
    assert_int_equal(ask_nth(&room, child[6], 300), ERROR_LIMITED); /* REQUEST-04: the 21st */
    assert_int_equal(room.live.questions.count, 20);
    proof_passed("unit", __func__, "REQUEST-02 REQUEST-03 REQUEST-04 REQUEST-05");
}

static void test_nobody_waits_for_the_dead(void **state) {
    (void)state;
    channels_three(&room);
    staff_make(&room, "P1 T1/P1 T2/P1");
    uint32_t child = child_put(&room, "T2", assignment_put(&room, "T1") + 1);
    agent_asks(&room, child, OF_PARENT, "Which API?");
    pass(&room, room.policy.people.request_raise - 1, deal_well);
    assert_int_equal(room.live.questions.at[0].of, OF_PARENT);
    assert_int_equal(room.sent_count, 0);
    pass(&room, 1, deal_well);
    assert_int_equal(room.live.questions.at[0].of, OF_PERSON);
    assert_int_equal(room.goal.people.questions, 1);
    assert_int_equal(room.sent_count, 1);
    proof_passed("unit", __func__, "REQUEST-09");
}

/* ---- MAIL ---- */

static enum error mail(struct room *r, enum who by, const char *to, uint32_t kind, uint32_t ack,
                       const char *subject) {
    struct agent_message_text text = {.subject = str_of(subject), .body = STR("the body")};
    return tell(
        r, (struct signal){.kind = SIGNAL_MAIL_SEND,
                           .sender.by = by,
                           .to = kind,
                           .text = str_of(to),
                           .about.question = ack,
                           .body = shape_encode(&AGENT_MESSAGE_TEXT, &text, &r->kept[r->turn])});
}

static void test_mail_is_kept_in_order_until_it_is_read(void **state) {
    (void)state;
    staff_make(&room, "P1 T1/P1 T2/P1");
    uint32_t first = assignment_put(&room, "T1"), second = assignment_put(&room, "T2");
    char name[16];
    snprintf(name, sizeof name, "A_%u", second);
    assert_int_equal(mail(&room, WHO_AGENT, name, AGENT_MESSAGE_INFO, 1, "one"), ERROR_NONE);
    assert_int_equal(mail(&room, WHO_AGENT, name, AGENT_MESSAGE_ALERT, 0, "two"), ERROR_NONE);
    assert_int_equal(mail(&room, WHO_AGENT, "overseer", AGENT_MESSAGE_INSTRUCTION, 0, "three"),
                     ERROR_NONE);
    assert_int_equal(mail(&room, WHO_AGENT, "nobody", AGENT_MESSAGE_INFO, 0, "x"), ERROR_NOT_FOUND);
    assert_int_equal(mail(&room, WHO_AGENT, name, AGENT_MESSAGE_KINDS, 0, "x"), ERROR_INVALID);
    assert_int_equal(mail(&room, WHO_AGENT, name, AGENT_MESSAGE_INFO, 0, ""), ERROR_INVALID);
    assert_int_equal(room.live.agent_messages.count, 3);
    const struct agent_message *agent_message = &room.live.agent_messages.at[0];
    assert_true(agent_message->n < room.live.agent_messages.at[1].n);
    assert_string_equal(
        agent_message->sender,
        "actor:agent:auto-1"); /* MAIL-06: the sender as the interface authenticated it */
    assert_string_equal(agent_message->recipient, name);
    assert_int_equal(agent_message->ack_required, 1);
    struct signal ack = {.kind = SIGNAL_MAIL_ACK,
                         .sender.by = WHO_AGENT,
                         .about.assignment = first + 1,
                         .about.question = agent_message->n + 1};
    assert_int_equal(tell(&room, ack), ERROR_UNAUTHORIZED); /* the message is for another agent */
    ack.about.assignment = second + 1;
    assert_int_equal(tell(&room, ack), ERROR_NONE);
    assert_int_equal(room.live.agent_messages.count, 2);
    assert_int_equal(tell(&room, ack), ERROR_NONE); /* a repetition changes nothing */
    assert_int_equal(room.did.verdict, VERDICT_NOTHING);
    for (int i = 0; i < LIMIT_MAIL_KEPT; i++)
        assert_int_equal(mail(&room, WHO_AGENT, name, AGENT_MESSAGE_INFO, 1, "more"), ERROR_NONE);
    assert_int_equal(room.live.agent_messages.count, LIMIT_MAIL_KEPT);
    assert_int_equal(mail(&room, WHO_AGENT, name, AGENT_MESSAGE_INFO, 1, "more"), ERROR_LIMITED);
    proof_passed("unit", __func__, "MAIL-01 MAIL-02 MAIL-06");
}

static uint32_t words_sent(const struct room *r, enum wording words) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->did.effect_count; i++) {
        const struct effect_change *change = &r->did.effects[i];
        struct effect effect = {0};
        if (change->op == EFFECT_OP_MAKE && change->slot.kind == EFFECT_SEND &&
            effect_decode(EFFECT_SEND, change->body, &effect))
            count += effect.words == words;
    }
    return count;
}

/* The admission grants the permit for a message to the agent. */
static void admission_grants(struct room *r, uint32_t n) {
    const struct assignment *assignment = assignment_of(r, n);
    struct permit permit = {
        .goal = r->goal.id, .assignment = n, .turn = assignment->permit.turn, .wants = PERMIT_ACT};
    struct arena arena = {0};
    snprintf(permit.agent, sizeof permit.agent, "%s", assignment->agent);
    struct str body = shape_encode(&PERMIT, &permit, &arena);
    assert_int_equal(tell(r, (struct signal){.kind = SIGNAL_PERMIT_GRANTED,
                                             .sender.by = WHO_OVERSEER,
                                             .admission = assignment->permit.host,
                                             .about.assignment = n + 1,
                                             .body = body}),
                     ERROR_NONE);
    arena_free(&arena);
}

/* A person's instruction is sent to the agent automatically, once, as soon as no other message is being sent; an
 * agent's is not. */
static void test_what_a_person_tells_is_said(void **state) {
    (void)state;
    staff_make(&room, "P1 T1/P1 T2/P1");
    uint32_t n = assignment_put(&room, "T1");
    char name[16];
    assignment_of(&room, n)->run = 1; /* a run exists that can receive it */
    room.policy.recovery.max_attempts = 12;
    snprintf(name, sizeof name, "A_%u", n);
    assert_int_equal(mail(&room, WHO_AGENT, name, AGENT_MESSAGE_INSTRUCTION, 0, "obey"),
                     ERROR_NONE);
    assert_int_equal(words_sent(&room, WORDS_MESSAGE), 0);
    assert_int_equal(mail(&room, WHO_HUMAN, name, AGENT_MESSAGE_INFO, 0, "so you know"),
                     ERROR_NONE);
    assert_int_equal(words_sent(&room, WORDS_MESSAGE), 0);
    assert_int_equal(mail(&room, WHO_HUMAN, name, AGENT_MESSAGE_INSTRUCTION, 0, "leave the parser"),
                     ERROR_NONE);
    struct hash outgoing_message = assignment_of(&room, n)->outgoing.message;
    assert_true(str_equal(text_kept(&room, &outgoing_message), STR("leave the parser\nthe body")));
    assert_int_equal(words_sent(&room, WORDS_MESSAGE), 0); /* the admission is asked first */
    assert_int_equal(mail(&room, WHO_HUMAN, name, AGENT_MESSAGE_INSTRUCTION, 0, "and hurry"),
                     ERROR_NONE);
    assert_true(hash_equal(&assignment_of(&room, n)->outgoing.message,
                           &outgoing_message)); /* messages are sent one at a time */
    admission_grants(&room, n);
    assert_int_equal(words_sent(&room, WORDS_MESSAGE), 1);
    uint32_t effect = assignment_of(&room, n)->delivery.effect - 1;
    assert_int_equal(tell(&room, (struct signal){.kind = SIGNAL_EFFECT_CLAIM,
                                                 .sender.by = WHO_OVERSEER,
                                                 .effect = effect,
                                                 .host = room.goal.owner}),
                     ERROR_NONE);
    assert_int_equal(tell(&room, (struct signal){.kind = SIGNAL_EFFECT_ENDED,
                                                 .sender.by = WHO_OVERSEER,
                                                 .effect = effect,
                                                 .to = DELIVERY_ACCEPTED}),
                     ERROR_NONE);
    tell(&room, (struct signal){.kind = SIGNAL_GOAL_DUE, .sender.by = WHO_OVERSEER});
    assert_int_equal(assignment_of(&room, n)->outgoing.next,
                     WORDS_MESSAGE); /* now the second message */
    assert_false(hash_equal(&assignment_of(&room, n)->outgoing.message, &outgoing_message));
    admission_grants(&room, n);
    assert_int_equal(words_sent(&room, WORDS_MESSAGE), 1);
    proof_passed("unit", __func__, "MAIL-01");
}

/* VERIFY-22: an unintelligible outcome is no verdict, and an outcome that was lost or called off counts for no
 * assignment. */
static void test_what_checks_cannot_say(void **state) {
    static const char *const NODES[] = {"T1", "T2", "T3", "T4"};
    (void)state;
    staff_make(&room, "P1 T1/P1 T2/P1 T3/P1 T4/P1");
    room.policy.checks.configured = room.policy.landing.automatic = 1;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t n = assignment_put(&room, NODES[i]);
        assignment_of(&room, n)->run = 1;
        assignment_of(&room, n)->wait.on = WAITS_FOR_CHECK;
        if (i > 1)
            snprintf(assignment_of(&room, n)->check.commit,
                     sizeof assignment_of(&room, n)->check.commit, "9fceb02d");
        tell(&room, (struct signal){.kind = SIGNAL_GOAL_DUE, .sender.by = WHO_OVERSEER});
        uint32_t effect = assignment_of(&room, n)->delivery.effect;
        assert_int_not_equal(effect, 0);
        assert_int_equal(
            tell(&room, (struct signal){.kind = i % 2 ? SIGNAL_EFFECT_LOST : SIGNAL_EFFECT_ENDED,
                                        .sender.by = WHO_OVERSEER,
                                        .effect = effect - 1,
                                        .to = 99}),
            ERROR_NONE);
        assert_int_equal(room.written[RECORD_WORK_DONE] + room.written[RECORD_WORK_LANDED], 0);
    }
    assert_true(room.live.questions.count > 0);
}

/* VERIFY-01: a check names the node's text where the node has artifacts, and nothing where it has none. */
static void test_a_check_names_its_contract(void **state) {
    (void)state;
    staff_make(&room, "P1 T1/P1 T2/P1");
    room.policy.checks.configured = room.policy.landing.automatic = 0;
    plan_find(&room.live.plan, STR("T1"))->contract.given = 1;
    for (uint32_t i = 0; i < 2; i++) {
        struct str id = i ? STR("T2") : STR("T1");
        uint32_t n = assignment_put(&room, id.at);
        assignment_of(&room, n)->run = 1;
        assignment_of(&room, n)->wait.on = WAITS_FOR_CHECK;
        tell(&room, (struct signal){.kind = SIGNAL_GOAL_DUE, .sender.by = WHO_OVERSEER});
        struct effect check = {0};
        for (uint32_t k = 0; k < room.did.effect_count; k++)
            if (room.did.effects[k].slot.kind == EFFECT_CHECK)
                assert_true(effect_decode(EFFECT_CHECK, room.did.effects[k].body, &check));
        assert_true(str_equal(check.node, id));
        const struct node *node = plan_find(&room.live.plan, id);
        assert_true(i ? hash_is_zero(&check.text) : hash_equal(&check.text, &node->text));
    }
    proof_passed("unit", __func__, "VERIFY-01");
}

/* ---- silence: TICK-03, TICK-07, TICK-15, TICK-27 ---- */

/* Makes the goal due with this observation of an assignment: it is in a turn, or nothing is known. */
static void due_with(struct room *r, uint32_t n, enum tristate turn) {
    struct arena arena = {0};
    struct observation row = {
        .assignment = n, .at = turn ? r->now : 0, .process = turn, .turn = turn};
    struct observations all = {.rows = {&row, 1}, .since = T0 - MINUTES(1440)};
    tell(r, (struct signal){.kind = SIGNAL_GOAL_DUE,
                            .sender.by = WHO_OVERSEER,
                            .body = shape_encode(&OBSERVATIONS, &all, &arena)});
    arena_free(&arena);
}

static uint32_t silent_put(struct room *r, const char *node, enum assignment_status status) {
    uint32_t n = assignment_put(r, node);
    struct assignment *assignment = assignment_of(r, n);
    assignment->run = assignment->delivery.dispatch = 1;
    assignment->status = status;
    assignment->wait.on = WAITS_FOR_NOTHING;
    assignment->liveness.idle_after = 0;
    assignment->delivery.last_at = assignment->liveness.last_activity_at = r->now - MINUTES(16);
    r->policy.liveness.idle_after = MINUTES(15);
    r->policy.liveness.turn_most = MINUTES(600);
    r->policy.liveness.tick_every = MINUTES(2);
    return n;
}

/* TICK-27: an interval is the one in the policy when the interval begins. */
static void test_an_interval_follows_the_policy(void **state) {
    (void)state;
    staff_make(&room, "P1 T1/P1");
    uint32_t n = silent_put(&room, "T1", ASSIGNMENT_ACTIVE);
    due_with(&room, n, TRISTATE_YES);
    assert_int_equal(room.due, room.now + MINUTES(2));
    room.now = room.due;
    room.policy.liveness.tick_every = MINUTES(5);
    due_with(&room, n, TRISTATE_YES);
    assert_int_equal(room.due, room.now + MINUTES(5));
    proof_passed("unit", "the next interval is that of the new policy", "TICK-27");
}

/* TICK-07: an agent that is silent for too long and has no known state is read once, at most twenty messages. */
static void test_a_look_is_bounded(void **state) {
    (void)state;
    struct effect look = {0};
    uint32_t looks = 0;
    staff_make(&room, "P1 T1/P1");
    due_with(&room, silent_put(&room, "T1", ASSIGNMENT_ACTIVE), TRISTATE_UNKNOWN);
    for (uint32_t i = 0; i < room.did.effect_count; i++)
        if (room.did.effects[i].slot.kind == EFFECT_LOOK) {
            looks++;
            assert_true(effect_decode(EFFECT_LOOK, room.did.effects[i].body, &look));
        }
    assert_int_equal(looks, 1);
    assert_true(look.sample >= 10 && look.sample <= 20);
    proof_passed("unit", "one look, at no more than twenty messages", "TICK-07.b");
}

/* TICK-03: which assignments want to be looked at by themselves, and when. */
static void test_what_wants_to_be_looked_at(void **state) {
    (void)state;
    static const struct {
        enum assignment_status status;
        int64_t promised, backoff, wants; /* relative to now; 0: never */
    } ROWS[] = {
        {ASSIGNMENT_QUEUED, 0, 0, 0},
        {ASSIGNMENT_DISPATCHED, 0, 0, MINUTES(15)},
        {ASSIGNMENT_ACTIVE, 0, 0, MINUTES(15)},
        {ASSIGNMENT_ACTIVE, MINUTES(3), 0, MINUTES(3)},
        {ASSIGNMENT_STALLED, 0, MINUTES(4), MINUTES(4)},
        {ASSIGNMENT_BLOCKED, 0, 0, 0},
        {ASSIGNMENT_DONE, 0, 0, 0},
        {ASSIGNMENT_CANCELLED, 0, 0, 0},
    };
    room.policy.liveness.idle_after = MINUTES(15);
    for (size_t i = 0; i < count_of(ROWS); i++) {
        struct assignment assignment = {
            .n = 1,
            .status = ROWS[i].status,
            .liveness.last_activity_at = room.now,
            .delivery.last_at = room.now,
            .liveness.expected_next_at = ROWS[i].promised ? room.now + ROWS[i].promised : 0,
            .recovery.backoff_until = ROWS[i].backoff ? room.now + ROWS[i].backoff : 0};
        struct live live = {.assignments = {&assignment, 1}};
        struct goal goal = room.goal;
        int64_t wants = live_wants(&live, &goal, &room.policy);
        check(wants == (ROWS[i].wants ? room.now + ROWS[i].wants : 0), "row %zu wants %lld", i,
              (long long)(wants - room.now));
        goal.status = GOAL_PAUSED;
        check(live_wants(&live, &goal, &room.policy) == 0, "row %zu of a paused goal", i);
    }
    proof_passed("unit", "of all statuses these want to be looked at, and then", "TICK-03");
}

static struct hash decision_digest(const struct decision *did) {
    struct sha256 sha;
    sha256_begin(&sha);
    for (uint32_t i = 0; i < did->record_count; i++) {
        sha256_add(&sha, &did->records[i].type, sizeof did->records[i].type);
        sha256_add(&sha, did->records[i].body.at, did->records[i].body.len);
    }
    for (uint32_t i = 0; i < did->effect_count; i++)
        sha256_add(&sha, did->effects[i].body.at, did->effects[i].body.len);
    for (uint32_t i = 0; i < did->live.assignments.count; i++)
        sha256_add(&sha, &did->live.assignments.at[i], sizeof did->live.assignments.at[i]);
    sha256_add(&sha, &did->due_at, sizeof did->due_at);
    return sha256_end(&sha);
}

/* TICK-15: the same goal, observations and time give the same bytes, a thousand times. */
static void test_the_same_is_decided_the_same(void **state) {
    (void)state;
    struct arena arena = {0}, out = {0};
    struct hash first = {0};
    staff_make(&room, "P1 T1/P1");
    uint32_t n = silent_put(&room, "T1", ASSIGNMENT_ACTIVE);
    struct observation row = {
        .assignment = n, .at = room.now, .process = TRISTATE_YES, .turn = TRISTATE_NO};
    struct observations all = {.rows = {&row, 1}, .since = T0 - MINUTES(1440)};
    struct signal due = {.kind = SIGNAL_GOAL_DUE,
                         .sender.by = WHO_OVERSEER,
                         .goal = room.goal.id,
                         .at = room.now,
                         .sender.actor = STR("overseer"),
                         .body = shape_encode(&OBSERVATIONS, &all, &arena)};
    for (int i = 0; i < 1000; i++) {
        struct stepping s = {.world = {.goal = &room.goal, .live = &room.live, .level = 4},
                             .signal = &due,
                             .policy = policy_seal(room.policy),
                             .arena = &out};
        assert_true(step_guarded(&s) == CRASH_GUARD_WHOLE);
        assert_true(s.decision.verdict == VERDICT_CHANGE && s.decision.record_count > 0);
        struct hash digest = decision_digest(&s.decision);
        first = i == 0 ? digest : first;
        assert_true(hash_equal(&digest, &first));
        arena_reset(&out);
    }
    arena_free(&arena);
    arena_free(&out);
    proof_passed("unit", "a thousand times the same decision", "TICK-15.a");
}

/* VERIFY-14: the verdict is stored check by check, with the node and with the assignment; an unreadable one is stored
 * without checks. */
static void test_a_verdict_is_kept(void **state) {
    (void)state;
    const struct check_made made[] = {{.type = CHECK_ARTIFACT, .target = STR("made"), .passed = 1},
                                      {.type = CHECK_ARTIFACT,
                                       .target = STR("report"),
                                       .reason = STR("the file does not exist")}};
    struct verification checks = {.checks = {made, count_of(made)}}, kept;
    staff_make(&room, "P1 T1/P1 T2/P1");
    room.policy.checks.configured = room.policy.landing.automatic = 0;
    for (uint32_t i = 0; i < 2; i++) {
        struct arena arena = {0};
        kept = (struct verification){0};
        uint32_t n = assignment_put(&room, i ? "T2" : "T1");
        plan_find(&room.live.plan, i ? STR("T2") : STR("T1"))->contract.given = 1;
        assignment_of(&room, n)->run = 1;
        assignment_of(&room, n)->wait.on = WAITS_FOR_CHECK;
        tell(&room, (struct signal){.kind = SIGNAL_GOAL_DUE, .sender.by = WHO_OVERSEER});
        struct str body = i ? STR("nonsense") : shape_encode(&VERIFICATION, &checks, &arena);
        assert_int_equal(
            tell(&room, (struct signal){.kind = SIGNAL_EFFECT_ENDED,
                                        .sender.by = WHO_OVERSEER,
                                        .effect = assignment_of(&room, n)->delivery.effect - 1,
                                        .to = CHECKED_FAILED,
                                        .body = body}),
            ERROR_NONE);
        const struct hash *verdict = &assignment_of(&room, n)->check.verdict;
        assert_true(shape_decode_in(&VERIFICATION, text_kept(&room, verdict), &arena, &kept));
        assert_int_equal(kept.status, VERIFIED_FAILED);
        assert_int_equal(kept.checks.count, i ? 0 : count_of(made));
        assert_true(hash_equal(
            verdict, &plan_find(&room.live.plan, i ? STR("T2") : STR("T1"))->result.verdict));
        arena_free(&arena);
    }
    proof_passed("unit", __func__, "VERIFY-14");
}

/* ---- random operations in random order ---- */

static struct chance dice;

static void deal_by_chance(struct room *r, struct message *m) {
    if (chance_in(&dice, 3))
        return;
    heard(r, m, (enum hearing)chance_below(&dice, HEARINGS), chance_in(&dice, 2) ? "17" : "",
          chance_in(&dice, 4) ? r->now + MINUTES(chance_below(&dice, 90)) : 0);
}

static void something(struct room *r) {
    static const char *const LEVELS[] = {"info", "warning", "critical", "emergency"};
    char cause[8];
    snprintf(cause, sizeof cause, "c%u", chance_below(&dice, 12));
    struct question *question = about(r, cause);
    switch (chance_below(&dice, 8)) {
    case 0:
    case 1: {
        struct signal signal = ask_of(r, (enum question_kind)chance_below(&dice, 3),
                                      LEVELS[chance_below(&dice, 4)], cause, 2);
        signal.about.question = chance_below(&dice, 3);
        signal.until = chance_in(&dice, 2) ? r->now + MINUTES(chance_below(&dice, 600)) : 0;
        tell(r, signal);
        break;
    }
    case 2:
        if (question)
            answer(r, question, chance_below(&dice, 3), "words");
        break;
    case 3:
        if (question)
            move(r, question, (enum question_move)chance_below(&dice, QUESTION_MOVES),
                 r->now + MINUTES(chance_below(&dice, 400)));
        break;
    case 4: /* the operator changes the channels */
        if (chance_in(&dice, 10)) {
            r->policy.people.channel_count = 0;
            channel_add(r, chance_in(&dice, 2) ? "tracker" : "other", CHANNEL_GITEA);
            channel_add(r, "desk", CHANNEL_DESKTOP);
            channel_add(r, chance_in(&dice, 2) ? "hook" : "pager", CHANNEL_PAGERDUTY);
        }
        break;
    default: pass(r, MINUTES(chance_below(&dice, 60)), deal_by_chance); break;
    }
}

/* There are never more messages than the cap in any counted hour, so at most twice the cap in any 60 minutes. */
static void messages_are_few(const struct room *r) {
    for (uint32_t i = 0; i < r->sent_count; i++) {
        uint32_t within = 0;
        for (uint32_t k = i; k < r->sent_count && r->sent[k].at < r->sent[i].at + MINUTES(60); k++)
            within += r->sent[k].alarm != ALARM_EMERGENCY;
        check(within <= 2 * r->policy.people.messages_per_hour, "%u in an hour", within);
    }
}

static void test_anything_in_any_order(void **state) {
    for (uint64_t seed = 1; seed <= 60; seed++) {
        room_end(state);
        room_begin(state);
        dice.state = seed * 0x9E3779B97F4A7C15u;
        channels_three(&room);
        room.policy.people.quiet_from = MINUTES(1320);
        room.policy.people.quiet_to = MINUTES(420);
        for (int i = 0; i < 150 && room.sent_count < OUTPUT_MOST - 256; i++)
            something(&room);
        messages_are_few(&room);
        pass(&room, MINUTES(30 * 1440), deal_well); /* in the end nothing more is sent */
        uint32_t sent = room.sent_count;
        pass(&room, MINUTES(60 * 1440), deal_well);
        check(room.sent_count == sent, "seed %llu: said for ever", (unsigned long long)seed);
        for (uint32_t i = 0; i < room.live.questions.count; i++)
            check(room.live.questions.at[i].state == QUESTION_OPEN, "seed %llu: %s stays %u",
                  (unsigned long long)seed, room.live.questions.at[i].cause,
                  room.live.questions.at[i].state);
    }
}

/* ---- causes ---- */

/* Both are stored: a cause as text, an answer as the number of its option. */
static void test_causes_and_options_are_as_stored(void **state) {
    (void)state;
    static const struct {
        enum cause cause;
        const char *text, *name, *options;
    } ROWS[] = {
        {CAUSE_STALLED, "stalled.S1", "S1",
         "try again/give it to another agent/stop working on it/"},
        {CAUSE_LANDING, "landing.S1", "S1",
         "try again/give it to another agent/stop working on it/"},
        {CAUSE_DONE, "done.S1", "S1", "accept it/it is not done/"},
        {CAUSE_BLOCKED, "blocked.S1", "S1", ""},
        {CAUSE_START, "start.S1", "S1", ""},
        {CAUSE_NO_AGENT, "nobody.S1", "S1", "look again/"},
        {CAUSE_DENIED, "denied.S1", "S1", "try again/stop working on it/"},
        {CAUSE_FAILED, "failed.S1", "S1", "try again/stop working on it/"},
        {CAUSE_DISK, "disk.S1", "S1",
         "go on: there is room again/end this run and begin again/give it up/"},
        {CAUSE_PERMISSION, "asks.A_3", "A_3", "allow it once/do not allow it/"},
        {CAUSE_AGENT, "agent.A_3", "A_3", ""},
        {CAUSE_BLAST, "desk.blast", "", "go on/leave these agents alone/"},
        {CAUSE_BUDGET, "desk.budget.team", "team", ""},
        {CAUSE_HOST_LOST, "host.lost.7", "7", ""},
        {CAUSE_OVERAGE, "desk.overage.acme", "acme",
         "wait until the included usage begins again/allow paid usage of this account until then/end these tasks/"},
        {CAUSE_NETWORK, "network.api.example.org:443", "api.example.org:443",
         "stay with no/allow it for these tasks/allow it for set-up and checks of this repository/allow it for "
         "this repository/"},
        {CAUSE_TARGET, "target", "", "go on waiting until it passes/"},
    };
    struct arena arena = {0};
    assert_int_equal(count_of(ROWS), CAUSES - 1);
    for (size_t i = 0; i < count_of(ROWS); i++) {
        struct question question = {0};
        struct texts options = cause_options(ROWS[i].cause);
        struct str all = STR("");
        check(str_equal(cause_text(ROWS[i].cause, ROWS[i].name, &arena), str_of(ROWS[i].text)),
              "%s", ROWS[i].text);
        snprintf(question.cause, sizeof question.cause, "%s", ROWS[i].text);
        check(cause_of(&question) == ROWS[i].cause, "%s is read", ROWS[i].text);
        check(strcmp(cause_name(&question), ROWS[i].name) == 0, "%s: its name", ROWS[i].text);
        for (uint32_t k = 0; k < options.count; k++)
            all = arena_format(&arena, "%.*s%.*s/", STR_ARG(all), STR_ARG(options.at[k]));
        check(str_equal(all, str_of(ROWS[i].options)), "%s: %.*s", ROWS[i].text, STR_ARG(all));
    }
    static const char *const OTHERS[] = {"", "asked.0a1b", "desk.blast2", "done", "agents.A_3"};
    for (size_t i = 0; i < count_of(OTHERS); i++) {
        struct question question = {0};
        snprintf(question.cause, sizeof question.cause, "%s", OTHERS[i]);
        check(cause_of(&question) == CAUSE_OTHER, "%s", OTHERS[i]);
    }
    arena_free(&arena);
}

#define ROOM(test) cmocka_unit_test_setup_teardown(test, room_begin, room_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_causes_and_options_are_as_stored),
        ROOM(test_each_level_has_its_channels),
        ROOM(test_interventions_have_levels),
        ROOM(test_what_is_escalated_by_itself),
        ROOM(test_a_failing_channel_stops_nothing),
        ROOM(test_a_service_says_when),
        ROOM(test_a_goal_speaks_where_it_came_from),
        ROOM(test_the_same_cause_is_asked_once),
        ROOM(test_what_becomes_worse_is_said_at_once),
        ROOM(test_the_night_is_quiet_but_for_emergencies),
        ROOM(test_an_hour_has_its_cap),
        ROOM(test_seen_and_snoozed_are_not_said_again),
        ROOM(test_an_answer_lets_work_go_on),
        ROOM(test_what_was_said_is_called_settled),
        ROOM(test_who_may_answer),
        ROOM(test_nobody_answers),
        ROOM(test_a_child_asks_its_parent),
        ROOM(test_requests_have_limits),
        ROOM(test_nobody_waits_for_the_dead),
        ROOM(test_mail_is_kept_in_order_until_it_is_read),
        ROOM(test_what_a_person_tells_is_said),
        ROOM(test_what_checks_cannot_say),
        ROOM(test_a_check_names_its_contract),
        ROOM(test_a_verdict_is_kept),
        ROOM(test_an_interval_follows_the_policy),
        ROOM(test_a_look_is_bounded),
        ROOM(test_what_wants_to_be_looked_at),
        ROOM(test_the_same_is_decided_the_same),
        ROOM(test_anything_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
