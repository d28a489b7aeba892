/* SPDX-License-Identifier: Apache-2.0 */
/* Drives a pretend agent (pretend.h), which has no process: the driver itself plays the agent, in the time that it is
 * called with. For the demo, for trying out settings, and for tests of a whole daemon. */
#include "base/bytes.h"
#include "drivers/drive.h"
#include "drivers/pretend.h"

struct player {
    struct pretend agent;
    uint64_t read; /* it writes nothing; output of anything else is skipped */
    uint64_t seed;
    int64_t born, pace; /* its clock has run `pace` times as fast since `born` */
    int64_t now;        /* of the newest call */
    uint32_t kind, stretches;
    bool begun, started;
    char node[LIMIT_NODE_ID + 1]; /* the node that it works on */
};

static const struct pretend_world CALM = {0};

/* ---- saved state ---- */

#define AGENT_U32(member, n) STATE_ROW(FIELD_U32, pretend, member, n)
#define AGENT_INT(member, n) STATE_ROW(FIELD_INT, pretend, member, n)
#define AGENT_UINT(member, n) STATE_ROW(FIELD_UINT, pretend, member, n)

static const struct field AGENT_ROWS[] = {
    STATE_ENUM(pretend, kind, 1, PRETENDS),
    STATE_ENUM(pretend, state, 2, PRETEND_STATES),
    AGENT_UINT(dice, 3),
    AGENT_INT(stretch_since, 4),
    AGENT_INT(stretch_until, 5),
    AGENT_INT(pace, 6),
    AGENT_U32(stretches, 7),
    AGENT_U32(worked, 8),
    AGENT_U32(trouble_at, 9),
    AGENT_U32(troubled, 10),
    AGENT_U32(tool, 11),
    AGENT_U32(silent_exit, 12),
    AGENT_U32(blind, 13),
    AGENT_U32(twice, 14),
    AGENT_U32(pending, 15),
    AGENT_U32(handing_over, 16),
    AGENT_U32(hosted, 17),
    AGENT_U32(dispatch, 18),
    STATE_LIST(pretend, heard, 19, DRIVE_NUMBER_SHAPE),
    STATE_ENUM(pretend, heard_count, 20, count_of(((struct pretend *)0)->heard) + 1),
    AGENT_U32(doubled, 21),
    STATE_ENUM(pretend, reply, 22, REPLIES),
    STATE_ENUM(pretend, echo, 23, REPLIES),
    AGENT_INT(active_at, 24),
    AGENT_INT(chatter_since, 25),
    AGENT_INT(limited_until, 26),
    AGENT_INT(asked_at, 27),
    AGENT_UINT(fingerprint, 28),
    AGENT_UINT(tokens, 29),
    AGENT_UINT(cost, 30),
    AGENT_U32(context, 31),
    AGENT_U32(context_step, 32),
    AGENT_U32(says_done, 33),
    AGENT_U32(typed, 34),
};
static const struct shape AGENT_SHAPE = SHAPE_OF(pretend, "agent", 1, AGENT_ROWS);

static const struct field PLAYER_ROWS[] = {
    STATE_PART(player, agent, 1, AGENT_SHAPE),
    STATE_ROW(FIELD_UINT, player, read, 2),
    STATE_ROW(FIELD_UINT, player, seed, 3),
    STATE_ROW(FIELD_INT, player, born, 4),
    STATE_ROW(FIELD_INT, player, pace, 5),
    STATE_ROW(FIELD_INT, player, now, 6),
    STATE_ENUM(player, kind, 7, PRETENDS),
    STATE_ROW(FIELD_U32, player, stretches, 8),
    STATE_ROW(FIELD_BOOL, player, begun, 9),
    STATE_ROW(FIELD_BOOL, player, started, 10),
    STATE_CHARS(player, node, 11),
};
static const struct shape PLAYER_STATE = SHAPE_OF(player, "pretend", 1, PLAYER_ROWS);

/* ---- its own time ---- */

static int64_t time_own(const struct player *player) {
    return player->born + (player->now - player->born) * player->pace;
}

static int64_t time_outside(const struct player *player, int64_t own) {
    return own == 0 || own == TIME_NEVER ? own : player->born + (own - player->born) / player->pace;
}

/* ---- start and end ---- */

static bool pretend_launch(const struct drive_spec *spec, struct arena *arena,
                           struct drive_launch *ret, struct str *ret_why) {
    uint32_t kind;
    *ret = (struct drive_launch){.argc = 0};
    if (names_find(&PRETEND_NAMES, spec->quirk, &kind))
        return true;
    *ret_why = arena_format(arena, "no pretend agent behaves as \"%.*s\": see [[agents]] behaviour",
                            STR_ARG(spec->quirk));
    return false;
}

static void pretend_begin(void *state, const struct drive_spec *spec, int64_t now,
                          struct drive_out *out) {
    struct player *player = state;
    must(names_find(&PRETEND_NAMES, spec->quirk, &player->kind));
    player->seed = le_get((const char *)spec->run.bytes + 8, 8);
    player->pace = spec->pace > 0 ? spec->pace : 1;
    player->stretches = (uint32_t)spec->stretches;
    player->born = player->now = now;
    player->begun = true;
    drive_event_add(out, DRIVE_STARTED, 0);
}

static void pretend_feed(void *state, struct str bytes, uint64_t offset, int64_t now,
                         struct drive_out *out) {
    struct player *player = state;
    (void)out;
    player->now = now;
    player->read = offset + bytes.len;
}

static bool turn_is_open(const struct player *player) {
    return player->agent.state == PRETEND_BUSY || player->agent.state == PRETEND_STUCK;
}

static void pretend_gone(void *state, int64_t status, int64_t now, struct drive_out *out) {
    struct player *player = state;
    player->now = now;
    if (turn_is_open(player))
        drive_event_add(out, DRIVE_FAILED, player->read)->text =
            arena_format(out->arena, "its process ended with %lld", (long long)status);
    pretend_stop(&player->agent, time_own(player));
}

/* ---- prompts ---- */

/* It tells dispatches apart by number. */
static uint32_t number_of(struct id dispatch) {
    return (uint32_t)le_get((const char *)dispatch.bytes + 12, 4) | 1;
}

static bool pretend_ready(const void *state) {
    const struct player *player = state;
    return player->begun && (!player->started || player->agent.state != PRETEND_GONE);
}

/* It starts with its first prompt, and goes on with work that resume() has put into its state. */
static void start(struct player *player, uint32_t dispatch) {
    struct pretend *agent = &player->agent, before = *agent;
    pretend_start(agent, (enum pretend_kind)player->kind, player->seed, dispatch, player->now);
    player->started = true;
    player->born = player->now;
    if (player->stretches > 0) {
        agent->stretches = player->stretches;
        agent->trouble_at = agent->stretches / 2;
    }
    if (before.stretches == 0)
        return;
    agent->stretches = before.stretches;
    agent->worked = before.worked;
    agent->troubled = before.troubled;
}

/* It does not read prose: the prompt of a simulated agent is the kind of the text and the id of the node. */
static enum wording prompt_read(struct player *player, struct str text) {
    uint32_t words = WORDS_TASK;
    const char *space = text.len > 0 ? memchr(text.at, ' ', text.len) : NULL;
    struct str kind = {text.at, space ? (size_t)(space - text.at) : text.len};
    struct str node = {text.at + kind.len + 1, space ? text.len - kind.len - 1 : 0};
    names_find(&WORDS_NAMES, kind, &words);
    if (space)
        drive_keep(player->node, sizeof player->node, node);
    return (enum wording)words;
}

static void pretend_take(void *state, struct id dispatch, struct str text, int64_t now,
                         struct drive_out *out) {
    struct player *player = state;
    must(pretend_ready(player));
    player->now = now;
    enum wording words = prompt_read(player, text);
    if (!player->started)
        start(player, number_of(dispatch));
    else if (pretend_send(&player->agent, &CALM, number_of(dispatch), words, time_own(player)) !=
             DELIVERY_ACCEPTED)
        return;
    drive_event_add(out, DRIVE_ACCEPTED, player->read)->dispatch = dispatch;
}

static void pretend_answer(void *state, struct str ask, enum drive_answer answer, int64_t now,
                           struct drive_out *out) {
    struct player *player = state;
    (void)ask, (void)answer, (void)out;
    player->now = now;
    if (player->agent.state == PRETEND_WAITING)
        pretend_send(&player->agent, &CALM, player->agent.dispatch, WORDS_ANSWER, time_own(player));
}

static void pretend_interrupt(void *state, int64_t now, struct drive_out *out) {
    struct player *player = state;
    player->now = now;
    if (!turn_is_open(player))
        return;
    player->agent.state = PRETEND_IDLE;
    player->agent.stretch_until = TIME_NEVER;
    drive_event_add(out, DRIVE_ENDED, player->read)->reason = DRIVE_TURN_CANCELLED;
}

static void pretend_deliver(void *state, struct id dispatch, int64_t now, struct drive_out *out) {
    struct player *player = state;
    struct observation seen = {0};
    player->now = now;
    pretend_look(&player->agent, number_of(dispatch), 0, time_own(player), &seen);
    struct drive_event *event = drive_event_add(out, DRIVE_DELIVERED, player->read);
    event->dispatch = dispatch;
    event->arrived = seen.delivered;
}

/* ---- what happens by itself ---- */

static int64_t pretend_due(const void *state) {
    const struct player *player = state;
    return player->started ? time_outside(player, pretend_next(&player->agent)) : TIME_NEVER;
}

static void event_show(const struct player *player, const struct pretend_event *from,
                       struct drive_out *out) {
    static const enum drive_kind KINDS[AGENT_EVENTS] = {[AGENT_ASKS] = DRIVE_ASKS_FOR,
                                                        [AGENT_ENDED] = DRIVE_ENDED,
                                                        [AGENT_EXITED] = DRIVE_EXITED,
                                                        [AGENT_FAILED] = DRIVE_FAILED,
                                                        [AGENT_LIMITED] = DRIVE_LIMITED};
    struct drive_event *event = drive_event_add(out, KINDS[from->event], player->read);
    event->text = pretend_words(from, (struct str){0}, str_of(player->node), out->arena);
    event->ask = from->event == AGENT_ASKS ? STR("dialog") : STR("");
    event->until = time_outside(player, from->limited_until);
    event->status = from->exit;
}

/* At most one event for each call: the caller observes the agent after each. */
static void pretend_tick(void *state, int64_t now, struct drive_out *out) {
    struct player *player = state;
    struct pretend_event event;
    player->now = now;
    if (pretend_due(player) <= now &&
        pretend_happens(&player->agent, &CALM, pretend_next(&player->agent), &event))
        event_show(player, &event, out);
}

static void pretend_see(const void *state, struct observation *ret) {
    const struct player *player = state;
    pretend_look(&player->agent, 0, 1, time_own(player), ret);
    int64_t *const times[] = {&ret->at, &ret->active_at, &ret->tool_since, &ret->chatter_at,
                              &ret->limited_until};
    for (size_t i = 0; i < count_of(times); i++)
        *times[i] = time_outside(player, *times[i]);
    ret->context = player->agent.context;
}

static uint64_t pretend_resume_at(const void *state) {
    return ((const struct player *)state)->read;
}

/* ---- simulation ---- */

static void pretend_advance(void *state, int64_t now) {
    ((struct player *)state)->now = now;
}

static void pretend_resume(void *state, const void *before) {
    struct pretend *agent = &((struct player *)state)->agent;
    const struct pretend *ended = &((const struct player *)before)->agent;
    agent->stretches = ended->stretches;
    agent->worked = ended->worked;
    agent->troubled = ended->troubled;
}

static bool pretend_work_is_done(const void *state) {
    const struct pretend *agent = &((const struct player *)state)->agent;
    return agent->stretches > 0 && pretend_is_done(agent);
}

static const struct simulation SIMULATION = {
    .advance = pretend_advance, .resume = pretend_resume, .is_done = pretend_work_is_done};

const struct driver DRIVER_PRETEND = {.name = "pretend",
                                      .size = sizeof(struct player),
                                      .shape = &PLAYER_STATE,
                                      .receipts = true,
                                      .simulation = &SIMULATION,
                                      .launch = pretend_launch,
                                      .begin = pretend_begin,
                                      .feed = pretend_feed,
                                      .gone = pretend_gone,
                                      .ready = pretend_ready,
                                      .send = pretend_take,
                                      .answer = pretend_answer,
                                      .interrupt = pretend_interrupt,
                                      .look = pretend_deliver,
                                      .due = pretend_due,
                                      .tick = pretend_tick,
                                      .see = pretend_see,
                                      .resume_at = pretend_resume_at};
