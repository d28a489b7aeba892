/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/pretend.h"

enum { FULL = 10000, TOKENS_A_SIGN = 900, PRICE = 3, CHATTER_EVERY = 30 };

/* Step of a turn that is not work. */
enum pending { PENDING_NOTHING, PENDING_ANSWER, PENDING_REFUSAL };

const struct pretend_row PRETEND[PRETENDS] = {
    [PRETEND_WORKS] = {"works", "does its work", 6, 24, 10, 50, 30, 600, 250, 1000},
    [PRETEND_SLOW] = {"slow", "shows little output, but finishes", 6, 24, 20, 55, 600, 780, 400,
                      1000},
    [PRETEND_SILENT] = {"silent", "stops in the middle", 6, 24, 10, 50, 30, 600, 250, 500},
    [PRETEND_DIES] = {"dies", "its process ends", 6, 24, 10, 50, 30, 600, 250, 0},
    [PRETEND_HANGS] = {"hangs", "a tool never returns", 6, 24, 10, 50, 30, 600, 250, 0},
    [PRETEND_CHATTERS] = {"chatters", "shows a spinner without progress", 6, 24, 10, 50, 30, 600,
                          250, 300},
    [PRETEND_LATE] = {"late", "answers after a long while", 6, 24, 10, 50, 30, 600, 250, 1000},
    [PRETEND_TWICE] = {"twice", "sends everything twice", 6, 24, 10, 50, 30, 600, 250, 1000},
    [PRETEND_LIES] = {"lies", "says done without having done the work", 6, 24, 10, 50, 30, 600, 250,
                      1000},
    [PRETEND_LOOPS] = {"loops", "repeats the same message", 6, 24, 10, 50, 30, 600, 250, 200},
    [PRETEND_ASKS] = {"asks", "asks a question", 6, 24, 10, 50, 30, 600, 250, 1000},
    [PRETEND_LIMITED] = {"limited", "its account is at its limit until a known time", 6, 24, 10, 50,
                         30, 600, 250, 1000},
    [PRETEND_LIMITED_OPEN] = {"limited-open", "its account is at its limit until an unknown time",
                              6, 24, 10, 50, 30, 600, 250, 1000},
    [PRETEND_EXHAUSTS] = {"exhausts", "its context window fills up", 8, 24, 20, 50, 30, 600, 250,
                          0},
    [PRETEND_DIES_WITH_HOST] = {"dies-with-host", "ends together with its host", 6, 24, 10, 50, 30,
                                600, 250, 1000},
    [PRETEND_COMES_BACK] = {"comes-back", "reports although it was replaced", 6, 24, 10, 50, 30,
                            600, 250, 0},
    [PRETEND_STOPS_SHORT] = {"stops-short", "ends its turn with work left", 6, 24, 10, 50, 30, 600,
                             250, 1000},
    [PRETEND_WORDY] = {"wordy", "reports in prose instead of the block", 6, 24, 10, 50, 30, 600,
                       250, 1000},
    [PRETEND_FAILS] = {"fails", "its turn ends with an error", 6, 24, 10, 50, 30, 600, 250, 1000},
    [PRETEND_DIALOG] = {"dialog", "shows a dialog", 6, 24, 10, 50, 30, 600, 250, 1000},
    [PRETEND_PUPPET] = {"puppet", "does what a test tells it", 4, 4, 10, 10, 60, 60, 0, 0},
};
static const char *const STATE[PRETEND_STATES] = {"gone",   "idle",    "busy",   "stuck",
                                                  "sleeps", "waiting", "resting"};
static const char *const REPLY[REPLIES] = {"nothing", "prose",   "progress",
                                           "done",    "blocked", "handover"};
const struct names PRETEND_NAMES = NAMES_OF(PRETEND);
const struct names PRETEND_STATE_NAMES = NAMES_OF(STATE);
const struct names PRETEND_REPLY_NAMES = NAMES_OF(REPLY);

/* ---- randomness ---- */

static uint64_t draw(struct pretend *agent) {
    uint64_t z = (agent->dice += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static bool chance(struct pretend *agent, uint32_t per_mille) {
    return draw(agent) % 1000 < per_mille;
}

static int64_t between(struct pretend *agent, int64_t least, int64_t most) {
    return least + (int64_t)(draw(agent) % (uint64_t)(most - least + 1));
}

/* ---- stretches ---- */

static void stretch_begin(struct pretend *agent, int64_t now) {
    const struct pretend_row *row = &PRETEND[agent->kind];
    agent->state = PRETEND_BUSY;
    agent->pending = PENDING_NOTHING;
    agent->tool = chance(agent, row->tools);
    agent->stretch_since = now;
    agent->stretch_until = now + MINUTES(between(agent, row->stretch_least, row->stretch_most));
    agent->pace = SECONDS(between(agent, row->pace_least, row->pace_most));
    agent->chatter_since = 0;
    agent->active_at = now;
}

/* A short turn of its own that ends with this reply. */
static void answer_begin(struct pretend *agent, enum pending pending, enum pretend_reply reply,
                         int64_t now) {
    agent->state = PRETEND_BUSY;
    agent->pending = pending;
    agent->reply = reply;
    agent->tool = 0;
    agent->stretch_since = agent->active_at = now;
    agent->stretch_until = now + SECONDS(between(agent, 10, 90));
    agent->pace = SECONDS(30);
    agent->chatter_since = 0;
}

static void rest(struct pretend *agent, enum pretend_state state, int64_t until) {
    agent->state = state;
    agent->stretch_until = until;
    agent->tool = 0;
}

static int64_t signs_of(const struct pretend *agent, int64_t now) {
    if (agent->state != PRETEND_BUSY || agent->tool || agent->pace <= 0)
        return 0;
    return (now - agent->stretch_since) / agent->pace;
}

static uint64_t tokens_of(const struct pretend *agent, int64_t now) {
    uint64_t tokens = agent->tokens + (uint64_t)signs_of(agent, now) * TOKENS_A_SIGN;
    if (agent->state == PRETEND_STUCK && agent->kind == PRETEND_LOOPS)
        tokens += (uint64_t)((now - agent->chatter_since) / SECONDS(CHATTER_EVERY)) * 100;
    return tokens;
}

/* Adds what it did in a stretch to its totals. */
static void stretch_count(struct pretend *agent, int64_t at) {
    agent->tokens = tokens_of(agent, at);
    agent->cost = agent->tokens * PRICE;
    agent->active_at = at;
    agent->fingerprint = draw(agent) | 1;
    agent->tool = 0;
    if (agent->pending == PENDING_NOTHING) {
        agent->worked++;
        agent->context += agent->context_step;
    }
}

/* ---- trouble ---- */

static void turn_end(struct pretend *agent, enum agent_event event, enum pretend_reply reply,
                     struct pretend_event *ret) {
    rest(agent, PRETEND_IDLE, TIME_NEVER);
    ret->event = event;
    ret->reply = reply;
    if (agent->kind == PRETEND_TWICE && reply != REPLY_NONE) {
        agent->echo = reply;
        agent->stretch_until = ret->at + SECONDS(between(agent, 1, 120));
    }
}

static void limit(struct pretend *agent, int64_t until, bool says, struct pretend_event *ret) {
    rest(agent, PRETEND_RESTING, until);
    agent->limited_until = until;
    ret->event = AGENT_LIMITED;
    ret->limited_until = says ? until : 0;
}

static bool trouble_quiet(struct pretend *agent, int64_t at) {
    switch (agent->kind) {
    case PRETEND_SILENT:
        rest(agent, agent->silent_exit ? PRETEND_IDLE : PRETEND_STUCK, TIME_NEVER);
        return true;
    case PRETEND_COMES_BACK: rest(agent, PRETEND_STUCK, TIME_NEVER); return true;
    case PRETEND_LATE: rest(agent, PRETEND_SLEEPS, TIME_NEVER); return true;
    case PRETEND_HANGS:
        rest(agent, PRETEND_STUCK, TIME_NEVER);
        agent->tool = 1;
        agent->stretch_since = at;
        return true;
    case PRETEND_LOOPS:
    case PRETEND_CHATTERS:
        rest(agent, PRETEND_STUCK, TIME_NEVER);
        agent->chatter_since = at;
        return true;
    default: return false;
    }
}

/* Its trouble, if it has any. False: no event reports it, or it has none. */
static bool trouble(struct pretend *agent, struct pretend_event *ret) {
    int64_t at = ret->at;
    agent->troubled = 1;
    if (trouble_quiet(agent, at))
        return false;
    switch (agent->kind) {
    case PRETEND_DIES:
        rest(agent, PRETEND_GONE, TIME_NEVER);
        ret->event = AGENT_EXITED;
        ret->exit = 139;
        return !agent->silent_exit;
    case PRETEND_LIES:
        agent->says_done = 1;
        turn_end(agent, AGENT_ENDED, REPLY_DONE, ret);
        return true;
    case PRETEND_ASKS:
    case PRETEND_DIALOG:
        rest(agent, PRETEND_WAITING, TIME_NEVER);
        agent->asked_at = at;
        ret->event = AGENT_ASKS;
        ret->reply = agent->kind == PRETEND_ASKS ? REPLY_BLOCKED : REPLY_NONE;
        return true;
    case PRETEND_LIMITED:
        limit(agent, at + MINUTES(between(agent, 20, 300)), true, ret);
        return true;
    case PRETEND_LIMITED_OPEN:
        limit(agent, at + MINUTES(between(agent, 20, 90)), false, ret);
        return true;
    case PRETEND_STOPS_SHORT: turn_end(agent, AGENT_ENDED, REPLY_PROGRESS, ret); return true;
    case PRETEND_FAILS: turn_end(agent, AGENT_FAILED, REPLY_NONE, ret); return true;
    default: stretch_begin(agent, at); return false;
    }
}

/* ---- actions ---- */

void pretend_start(struct pretend *agent, enum pretend_kind kind, uint64_t seed, uint32_t dispatch,
                   int64_t now) {
    const struct pretend_row *row = &PRETEND[kind];
    *agent = (struct pretend){.kind = kind, .dice = seed, .dispatch = dispatch};
    agent->stretches = (uint32_t)between(agent, row->stretches_least, row->stretches_most);
    agent->trouble_at = (uint32_t)between(agent, 1, agent->stretches - 1);
    agent->silent_exit = chance(agent, 300);
    agent->context_step = kind == PRETEND_EXHAUSTS ? 900 : 150;
    agent->heard[agent->heard_count++] = dispatch;
    agent->fingerprint = draw(agent) | 1;
    if (kind != PRETEND_PUPPET) {
        stretch_begin(agent, now);
        return;
    }
    agent->active_at = agent->stretch_since = now;
    rest(agent, PRETEND_IDLE, TIME_NEVER);
}

static bool has_heard(const struct pretend *agent, uint32_t dispatch) {
    for (uint32_t i = 0; i < agent->heard_count; i++)
        if (agent->heard[i] == dispatch)
            return true;
    return false;
}

static void heard_put(struct pretend *agent, uint32_t dispatch) {
    agent->doubled += has_heard(agent, dispatch);
    if (agent->heard_count == count_of(agent->heard)) {
        memmove(agent->heard, agent->heard + 1, sizeof agent->heard - sizeof agent->heard[0]);
        agent->heard_count--;
    }
    agent->heard[agent->heard_count++] = dispatch;
    agent->dispatch = dispatch;
}

static void hear_idle(struct pretend *agent, enum wording words, int64_t now) {
    bool done = pretend_is_done(agent);
    if (agent->context >= FULL)
        answer_begin(agent, PENDING_REFUSAL, REPLY_NONE, now);
    else if (words == WORDS_HANDOVER)
        answer_begin(agent, PENDING_ANSWER, REPLY_HANDOVER, now);
    else if (done || words == WORDS_BLOCK) {
        agent->says_done = done;
        answer_begin(agent, PENDING_ANSWER, done ? REPLY_DONE : REPLY_PROGRESS, now);
    } else if (agent->kind != PRETEND_SILENT || chance(agent, PRETEND[agent->kind].heals)) {
        agent->says_done = 0;
        stretch_begin(agent, now);
    }
}

static void hear(struct pretend *agent, enum wording words, int64_t now) {
    if (agent->kind == PRETEND_PUPPET)
        return;
    switch (agent->state) {
    case PRETEND_BUSY: agent->handing_over |= words == WORDS_HANDOVER; break;
    case PRETEND_IDLE: hear_idle(agent, words, now); break;
    case PRETEND_SLEEPS:
        if (agent->stretch_until == TIME_NEVER)
            agent->stretch_until = now + MINUTES(between(agent, 6, 14));
        break;
    case PRETEND_STUCK:
        if (chance(agent, PRETEND[agent->kind].heals))
            stretch_begin(agent, now);
        break;
    case PRETEND_WAITING:
        if (words == WORDS_ANSWER)
            stretch_begin(agent, now);
        break;
    case PRETEND_RESTING:
        if (now >= agent->limited_until)
            stretch_begin(agent, now);
        else
            answer_begin(agent, PENDING_REFUSAL, REPLY_NONE, now);
        break;
    default: break;
    }
}

enum delivery pretend_send(struct pretend *agent, const struct pretend_world *world,
                           uint32_t dispatch, enum wording words, int64_t now) {
    enum pretend_fault fault = world->fault;
    bool dialog = agent->kind == PRETEND_DIALOG || agent->kind == PRETEND_PUPPET;
    bool swallows = agent->state == PRETEND_WAITING && dialog && words != WORDS_ANSWER;
    if (chance(agent, world->faults))
        fault = (enum pretend_fault)between(agent, FAULT_REFUSED, FAULT_RECEIPT);
    if (agent->state == PRETEND_GONE || fault == FAULT_REFUSED)
        return DELIVERY_ERROR;
    if (swallows || fault == FAULT_SWALLOWED) {
        agent->typed = dispatch;
        return DELIVERY_TIMEOUT;
    }
    heard_put(agent, dispatch);
    hear(agent, words, now);
    return fault == FAULT_RECEIPT ? DELIVERY_TIMEOUT : DELIVERY_ACCEPTED;
}

static enum sampled sample_of(const struct pretend *agent) {
    switch (agent->state) {
    case PRETEND_WAITING: return SAMPLED_WAITS_FOR_PERSON;
    case PRETEND_BUSY: return SAMPLED_SLOW;
    case PRETEND_IDLE:
        return agent->context >= FULL || agent->kind == PRETEND_FAILS ? SAMPLED_FAILED
                                                                      : SAMPLED_NOTHING;
    default: return SAMPLED_NOTHING;
    }
}

void pretend_look(const struct pretend *agent, uint32_t dispatch, uint32_t sample, int64_t now,
                  struct observation *ret) {
    bool in_turn = agent->state == PRETEND_BUSY || agent->state == PRETEND_STUCK;
    uint64_t tokens = tokens_of(agent, now);
    ret->at = now;
    ret->process = agent->state == PRETEND_GONE ? TRISTATE_NO : TRISTATE_YES;
    ret->turn = agent->blind && agent->state != PRETEND_GONE ? TRISTATE_UNKNOWN
                : in_turn                                    ? TRISTATE_YES
                                                             : TRISTATE_NO;
    if (dispatch > 0)
        ret->delivered = has_heard(agent, dispatch) ? TRISTATE_YES : TRISTATE_NO;
    ret->dispatch = dispatch;
    int64_t signs = signs_of(agent, now);
    ret->active_at = signs > 0 ? agent->stretch_since + signs * agent->pace : agent->active_at;
    ret->tool_since = agent->tool ? agent->stretch_since : 0;
    ret->chatter_at =
        agent->chatter_since ? now - (now - agent->chatter_since) % SECONDS(CHATTER_EVERY) : 0;
    ret->limited_until = agent->state == PRETEND_RESTING && agent->kind != PRETEND_LIMITED_OPEN
                             ? agent->limited_until
                             : 0;
    ret->fingerprint = agent->fingerprint + (uint64_t)signs;
    ret->tokens = tokens;
    ret->cost = tokens * PRICE;
    ret->context = agent->context / 100;
    ret->sampled = sample > 0 ? sample_of(agent) : SAMPLED_NOTHING;
}

/* An agent that was replaced may not know it. */
void pretend_stop(struct pretend *agent, int64_t now) {
    bool returns = agent->kind == PRETEND_COMES_BACK && agent->state != PRETEND_GONE;
    agent->tokens = tokens_of(agent, now);
    agent->cost = agent->tokens * PRICE;
    rest(agent, PRETEND_GONE, returns ? now + MINUTES(between(agent, 5, 60)) : TIME_NEVER);
    agent->echo = REPLY_NONE;
}

void pretend_host_dies(struct pretend *agent, int64_t now) {
    if (agent->kind == PRETEND_DIES_WITH_HOST)
        pretend_stop(agent, now);
}

/* Nothing happens while the machine sleeps; afterwards the agent continues as if nothing had happened. */
void pretend_sleep(struct pretend *agent, int64_t from, int64_t until) {
    int64_t signs = signs_of(agent, from);
    agent->tokens = tokens_of(agent, from);
    agent->cost = agent->tokens * PRICE;
    if (signs > 0)
        agent->active_at = agent->stretch_since + signs * agent->pace;
    agent->stretch_since += agent->tool ? 0 : until - agent->stretch_since;
    if (agent->chatter_since)
        agent->chatter_since = until;
    if (agent->stretch_until != TIME_NEVER && agent->state != PRETEND_RESTING)
        agent->stretch_until += until - from;
}

/* ---- spontaneous events ---- */

int64_t pretend_next(const struct pretend *agent) {
    return agent->stretch_until;
}

static bool busy_happens(struct pretend *agent, const struct pretend_world *world,
                         struct pretend_event *ret) {
    enum pending pending = (enum pending)agent->pending;
    int64_t at = ret->at;
    stretch_count(agent, at);
    if (pending == PENDING_REFUSAL && at < agent->limited_until) {
        limit(agent, agent->limited_until, agent->kind != PRETEND_LIMITED_OPEN, ret);
        return true;
    }
    if (pending != PENDING_NOTHING) {
        turn_end(agent, pending == PENDING_ANSWER ? AGENT_ENDED : AGENT_FAILED, agent->reply, ret);
        return true;
    }
    if (world->limited_until > at && agent->worked < agent->stretches) {
        limit(agent, world->limited_until, true, ret);
        return true;
    }
    if (agent->handing_over) {
        agent->handing_over = 0;
        turn_end(agent, AGENT_ENDED, REPLY_HANDOVER, ret);
        return true;
    }
    if (agent->worked >= agent->stretches) {
        bool prose = agent->kind == PRETEND_WORDY && !agent->troubled;
        agent->troubled = 1;
        agent->says_done = 1;
        turn_end(agent, AGENT_ENDED, prose ? REPLY_PROSE : REPLY_DONE, ret);
        return true;
    }
    if (agent->context >= FULL) {
        turn_end(agent, AGENT_FAILED, REPLY_NONE, ret);
        return true;
    }
    if (!agent->troubled && agent->worked >= agent->trouble_at)
        return trouble(agent, ret);
    stretch_begin(agent, at);
    return false;
}

bool pretend_happens(struct pretend *agent, const struct pretend_world *world, int64_t now,
                     struct pretend_event *ret) {
    int64_t at = agent->stretch_until;
    if (at > now)
        return false;
    *ret = (struct pretend_event){.at = at, .dispatch = agent->dispatch};
    agent->stretch_until = TIME_NEVER;
    switch (agent->state) {
    case PRETEND_BUSY: return busy_happens(agent, world, ret);
    case PRETEND_SLEEPS: stretch_begin(agent, at); return false;
    case PRETEND_RESTING: rest(agent, PRETEND_IDLE, TIME_NEVER); return false;
    case PRETEND_IDLE:
        ret->event = AGENT_ENDED;
        ret->reply = agent->echo;
        agent->echo = REPLY_NONE;
        return ret->reply != REPLY_NONE;
    case PRETEND_GONE: /* it comes back */
        ret->event = AGENT_ENDED;
        ret->reply = REPLY_DONE;
        return true;
    default: return false;
    }
}

static const char *const STATUS[REPLIES] = {
    [REPLY_PROGRESS] = "in_progress",
    [REPLY_DONE] = "done",
    [REPLY_BLOCKED] = "blocked",
    [REPLY_HANDOVER] = "in_progress",
};

struct str pretend_words(const struct pretend_event *event, struct str goal, struct str node,
                         struct arena *arena) {
    if (event->reply == REPLY_NONE)
        return (struct str){0};
    if (event->reply == REPLY_PROSE)
        return STR("All done! I changed the parser and everything works now.");
    return arena_format(
        arena,
        "Here is where I am.\n\n```json\n{\"overseerUpdate\": {\"goalId\": \"%.*s\", \"workNodeId\": \"%.*s\", "
        "\"status\": \"%s\", \"summary\": \"%s\", \"next\": \"%s\", \"blockers\": [%s], "
        "\"evidence\": {\"filesTouched\": [\"src/parse.c\"], \"testsRun\": [\"make check\"], \"commits\": [%s]}}}\n```\n",
        STR_ARG(goal), STR_ARG(node), STATUS[event->reply],
        event->reply == REPLY_DONE ? "the parser works" : "half of the parser is written",
        event->reply == REPLY_DONE ? "" : "write the other half",
        event->reply == REPLY_BLOCKED ? "\"which of the two formats is wanted?\"" : "",
        event->reply == REPLY_DONE ? "\"1a2b3c4\"" : "");
}

/* ---- the truth ---- */

bool pretend_is_done(const struct pretend *agent) {
    return agent->worked >= agent->stretches;
}

bool pretend_is_well(const struct pretend *agent, int64_t now) {
    if (agent->context >= FULL && !pretend_is_done(agent))
        return false; /* its context window is full */
    switch (agent->state) {
    case PRETEND_BUSY:
    case PRETEND_WAITING: return true;
    case PRETEND_RESTING: return now < agent->limited_until;
    case PRETEND_IDLE:
        return agent->says_done && agent->kind != PRETEND_WORDY && pretend_is_done(agent);
    default: return false;
    }
}
