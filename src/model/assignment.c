/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of assignments and observations. */
#include "model/assignment.h"

#define TO(state) (1u << (state))

/* ASSIGN-05: exactly these transitions. */
const struct status_row ASSIGNMENT_STATUS[ASSIGNMENT_STATUSES] = {
    [ASSIGNMENT_QUEUED] = {"queued", TO(ASSIGNMENT_DISPATCHED) | TO(ASSIGNMENT_CANCELLED), 0},
    [ASSIGNMENT_DISPATCHED] = {"dispatched",
                               TO(ASSIGNMENT_ACTIVE) | TO(ASSIGNMENT_STALLED) |
                                   TO(ASSIGNMENT_BLOCKED) | TO(ASSIGNMENT_DONE) |
                                   TO(ASSIGNMENT_CANCELLED),
                               0},
    [ASSIGNMENT_ACTIVE] = {"active",
                           TO(ASSIGNMENT_STALLED) | TO(ASSIGNMENT_BLOCKED) | TO(ASSIGNMENT_DONE) |
                               TO(ASSIGNMENT_CANCELLED),
                           0},
    [ASSIGNMENT_STALLED] = {"stalled",
                            TO(ASSIGNMENT_ACTIVE) | TO(ASSIGNMENT_BLOCKED) | TO(ASSIGNMENT_DONE) |
                                TO(ASSIGNMENT_CANCELLED),
                            0},
    [ASSIGNMENT_BLOCKED] = {"blocked",
                            TO(ASSIGNMENT_QUEUED) | TO(ASSIGNMENT_ACTIVE) | TO(ASSIGNMENT_DONE) |
                                TO(ASSIGNMENT_CANCELLED),
                            0},
    [ASSIGNMENT_DONE] = {"done", 0, 0},
    [ASSIGNMENT_CANCELLED] = {"cancelled", 0, 0},
};

static const char *const RUNG[RUNGS] = {"nudge", "resend_last", "replan", "reassign", "escalate"};
static const char *const DELIVERY[DELIVERIES] = {"none", "accepted", "ok", "timeout", "error"};
static const char *const TRISTATE[TRISTATE_COUNT] = {"unknown", "yes", "no"};
static const char *const WAITING[WAIT_COUNT] = {"nothing", "permit", "quota", "backoff", "answer",
                                                "person",  "retry",  "check", "host"};
static const char *const EVENT[AGENT_EVENTS] = {"seen",     "started",  "accepted", "ended",
                                                "failed",   "exited",   "limited",  "asks",
                                                "attached", "detached", "stranded"};
static const char *const SAMPLED[SAMPLEDS] = {"nothing", "slow", "waits for a person", "failed"};

static const char *const CHECKED[CHECK_COUNT] = {"not checked", "passed", "failed", "unchanged",
                                                 "conflict"};
static const char *const LANDED[LANDING_COUNT] = {"not tried", "landed", "conflict", "moved",
                                                  "refused",   "pushed", "recheck"};
static const char *const SLOT[SLOT_STATES] = {"none", "asked", "held"};

const struct names ASSIGNMENT_STATUS_NAMES = NAMES_OF(ASSIGNMENT_STATUS);
const struct names RUNG_NAMES = NAMES_OF(RUNG);
const struct names DELIVERY_NAMES = NAMES_OF(DELIVERY);
const struct names TRISTATE_NAMES = NAMES_OF(TRISTATE);
const struct names WAITING_NAMES = NAMES_OF(WAITING);
const struct names CHECKED_NAMES = NAMES_OF(CHECKED);
const struct names LANDED_NAMES = NAMES_OF(LANDED);
const struct names SLOT_NAMES = NAMES_OF(SLOT);
const struct names AGENT_EVENT_NAMES = NAMES_OF(EVENT);
const struct names SAMPLED_NAMES = NAMES_OF(SAMPLED);

#define F(name, type, number, of, member, cap, names, text) \
    { name, type, number, FIELD_OF(of, member), cap, 0, names, text, 0, NULL }

static const struct field ASSIGNMENT_FIELDS[] = {
    F("n", FIELD_U32, 1, assignment, n, 0, NULL, "its ordinal"),
    F("node", FIELD_U32, 2, assignment, node, 0, NULL, "of its node"),
    F("status", FIELD_ENUM, 3, assignment, status, 0, &ASSIGNMENT_STATUS_NAMES, "where it stands"),
    F("agentId", FIELD_NAME, 4, assignment, agent, LIMIT_AGENT, NULL, "who works on it"),
    F("sessionKey", FIELD_NAME, 5, assignment, session, LIMIT_SESSION, NULL, "and where"),
    F("account", FIELD_NAME, 6, assignment, account, LIMIT_AGENT, NULL, "whose quota it uses"),
    F("run", FIELD_U32, 7, assignment, run, 0, NULL, "the effect that started it, from 1"),
    F("ended", FIELD_FLAG, 8, assignment, ended, 0, NULL, "its run is over"),
    F("handoff", FIELD_HASH, 9, assignment, delivery.handoff, 0, NULL,
      "the handoff that goes with it"),
    F("said", FIELD_HASH, 10, assignment, outgoing.text, 0, NULL, "words that go with it"),
    F("instruction", FIELD_HASH, 11, assignment, delivery.instruction, 0, NULL,
      "of what was last asked for"),
    F("dispatch", FIELD_U32, 12, assignment, delivery.dispatch, 0, NULL,
      "the effect that carried it, from 1"),
    F("delivery", FIELD_ENUM, 13, assignment, delivery.result, 0, &DELIVERY_NAMES,
      "what came of that"),
    F("effect", FIELD_U32, 14, assignment, delivery.effect, 0, NULL,
      "the effect that is open for it, from 1"),
    F("first", FIELD_ENUM, 15, assignment, recovery.first, 0, &RUNG_NAMES, "where recovery starts"),
    F("rung", FIELD_ENUM, 16, assignment, recovery.rung, 0, &RUNG_NAMES, "and where it is"),
    F("retries", FIELD_U32, 17, assignment, recovery.retries, 0, NULL, "how often on this rung"),
    F("attempts", FIELD_U32, 18, assignment, delivery.attempts, 0, NULL, "how often altogether"),
    F("restarts", FIELD_U32, 19, assignment, recovery.restarts, 0, NULL, "runs that died lately"),
    F("asked", FIELD_FLAG, 20, assignment, recovery.asked, 0, NULL,
      "it was asked for a structured update"),
    F("restartSince", FIELD_TIME, 21, assignment, recovery.restart_since, 0, NULL,
      "since when those count"),
    F("createdAt", FIELD_TIME, 22, assignment, created_at, 0, NULL, "when it was made"),
    F("updatedAt", FIELD_TIME, 23, assignment, updated_at, 0, NULL, "when it last changed"),
    F("lastDispatchAt", FIELD_TIME, 24, assignment, delivery.last_at, 0, NULL,
      "when something was last sent"),
    F("lastObservedActivityAt", FIELD_TIME, 25, assignment, liveness.last_activity_at, 0, NULL,
      "when it last showed life"),
    F("expectedNextUpdateAt", FIELD_TIME, 26, assignment, liveness.expected_next_at, 0, NULL,
      "when it should show life"),
    F("idleAfter", FIELD_INT, 27, assignment, liveness.idle_after, 0, NULL,
      "silence that it may keep"),
    F("lastRetryAt", FIELD_TIME, 28, assignment, recovery.last_retry_at, 0, NULL,
      "when it was last tried again"),
    F("backoffUntil", FIELD_TIME, 29, assignment, recovery.backoff_until, 0, NULL,
      "before when it will not be"),
    F("waitsUntil", FIELD_TIME, 30, assignment, wait.until, 0, NULL, "until when it waits"),
    F("waiting", FIELD_ENUM, 31, assignment, wait.on, 0, &WAITING_NAMES, "for what it waits"),
    F("question", FIELD_U32, 32, assignment, wait.question, 0, NULL,
      "the question that holds it, from 1"),
    F("attached", FIELD_FLAG, 33, assignment, liveness.attached, 0, NULL,
      "a person is at its terminal"),
    F("fingerprint", FIELD_UINT, 34, assignment, liveness.fingerprint, 0, NULL,
      "of its own last words"),
    F("context", FIELD_U32, 35, assignment, liveness.context, 0, NULL,
      "of its window that is used, in percent"),
    F("tokens", FIELD_UINT, 36, assignment, usage.tokens, 0, NULL, "used so far"),
    F("cost", FIELD_UINT, 37, assignment, usage.cost, 0, NULL, "so far, in millionths"),
    F("desk", FIELD_U32, 38, assignment, permit.host, 0, NULL, "whose permit it holds"),
    F("crystal", FIELD_U32, 39, assignment, delivery.newest_handoff, 0, NULL,
      "its newest handoff, from 1"),
    F("blockedReason", FIELD_NAME, 40, assignment, wait.reason, LIMIT_BLOCKED, NULL,
      "why it is blocked"),
    F("lookedAt", FIELD_TIME, 60, assignment, liveness.looked_at, 0, NULL,
      "when the agent was last looked at"),
    F("listenedSince", FIELD_TIME, 76, assignment, liveness.observed_since, 0, NULL,
      "listened without a gap since"),
    F("answered", FIELD_U32, 80, assignment, wait.answered, 0, NULL,
      "an answer that waits for a look"),
    F("owes", FIELD_ENUM, 81, assignment, outgoing.next, 0, &WORDS_NAMES,
      "what it hears when the desk has room"),
    F("allowed", FIELD_FLAG, 62, assignment, recovery.allowed, 0, NULL,
      "the desk allows the next rung"),
    F("unseen", FIELD_U32, 61, assignment, liveness.unseen, 0, NULL,
      "looks in a row that saw nothing"),
    F("moves", FIELD_U32, 41, assignment, recovery.moves, 0, NULL, "how often the work was moved"),
    F("handover", FIELD_FLAG, 42, assignment, recovery.handover, 0, NULL,
      "it was asked to hand over"),
    F("settledCost", FIELD_UINT, 43, assignment, usage.settled_cost, 0, NULL,
      "of its cost, settled"),
    F("words", FIELD_U32, 45, assignment, delivery.words, 0, NULL,
      "what kind of words was last said"),
    F("settledTokens", FIELD_UINT, 44, assignment, usage.settled_tokens, 0, NULL,
      "of its tokens, settled"),
    F("turn", FIELD_U32, 46, assignment, permit.turn, 0, NULL, "its newest ask for a permit"),
    F("parent", FIELD_U32, 71, assignment, parent, 0, NULL,
      "the assignment that asked for it, from 1"),
    F("runCost", FIELD_UINT, 72, assignment, usage.run_cost, 0, NULL, "of the run at hand"),
    F("runTokens", FIELD_UINT, 73, assignment, usage.run_tokens, 0, NULL, "of the run at hand"),
    F("commit", FIELD_NAME, 74, assignment, check.commit, LIMIT_COMMIT, NULL,
      "the commit that passed"),
    F("rounds", FIELD_U32, 75, assignment, check.rounds, 0, NULL, "how often it did not pass"),
    F("told", FIELD_HASH, 77, assignment, outgoing.message, 0, NULL,
      "a person's words that it hears now"),
    F("sandbox", FIELD_NAME, 78, assignment, setup.sandbox, LIMIT_SANDBOX, NULL,
      "what holds its run"),
    F("scope", FIELD_NAME, 79, assignment, setup.scope, LIMIT_SANDBOX, NULL,
      "who sees to its tools"),
    F("start", FIELD_HASH, 91, assignment, setup.start, 0, NULL,
      "what its first run was started with"),
    F("limits", FIELD_NAME, 90, assignment, setup.limits, LIMIT_LIMITS, NULL,
      "what its run may use"),
    F("phase", FIELD_NAME, 92, assignment, progress.phase, LIMIT_PHASE, NULL,
      "what it says it is at"),
    F("percentComplete", FIELD_U32, 93, assignment, progress.percent, 0, NULL,
      "and how far, from 1"),
    F("progressAt", FIELD_TIME, 94, assignment, progress.at, 0, NULL, "when it said so"),
    F("progressKept", FIELD_U32, 95, assignment, progress.kept, 0, NULL, "entries in its history"),
    F("progressKeptAt", FIELD_TIME, 96, assignment, progress.kept_at, 0, NULL,
      "the newest of then"),
    F("completion", FIELD_U32, 97, assignment, progress.completion, 0, NULL,
      "how it says it ended, from 1"),
    F("confidence", FIELD_U32, 98, assignment, progress.confidence, 0, NULL,
      "and how sure it is, from 1"),
    F("report", FIELD_HASH, 99, assignment, progress.report, 0, NULL, "of its report of that"),
    F("permits", FIELD_U32, 100, assignment, outgoing.permits, 0, NULL,
      "an answer to what it asks for"),
    F("reportedLast", FIELD_FLAG, 101, assignment, progress.reported_last, 0, NULL,
      "its report came last"),
    F("contract", FIELD_HASH, 102, assignment, check.contract, 0, NULL,
      "what its run has to leave"),
    F("verdict", FIELD_HASH, 103, assignment, check.verdict, 0, NULL, "what its checks said last"),
    F("retriedAt", FIELD_TIME, 104, assignment, check.retried_at, 0, NULL,
      "begun anew after its checks"),
    F("whenItFails", FIELD_ENUM, 107, assignment, check.on_failure, 0, &ON_FAILURE_NAMES,
      "what follows if it does not pass"),
    F("wantsReport", FIELD_FLAG, 108, assignment, check.wants_report, 0, NULL,
      "it has to report its end"),
    F("unheard", FIELD_ENUM, 106, assignment, outgoing.undelivered, 0, &WORDS_NAMES,
      "words that wait to be heard"),
    F("retryOf", FIELD_U32, 105, assignment, check.retry_of, 0, NULL,
      "the run before that, from 1"),
    F("onto", FIELD_NAME, 120, assignment, check.onto, LIMIT_COMMIT, NULL,
      "the tip it was built on"),
    F("snapshot", FIELD_NAME, 121, assignment, check.snapshot, LIMIT_COMMIT, NULL,
      "what it was built from"),
    F("conflict", FIELD_NAME, 122, assignment, check.conflict, LIMIT_COMMIT, NULL,
      "the conflict that its agent was told of"),
    F("checkDigest", FIELD_HASH, 123, assignment, check.digest, 0, NULL, "how it was checked"),
    F("change", FIELD_HASH, 131, assignment, check.change, 0, NULL, "what a person is shown of it"),
    F("judged", FIELD_U32, 124, assignment, check.judged, 0, NULL,
      "what it changed of the judged files"),
    F("recheck", FIELD_FLAG, 125, assignment, check.recheck, 0, NULL, "it is to be checked again"),
    F("rechecks", FIELD_U32, 126, assignment, check.rechecks, 0, NULL, "how often it was"),
    F("approved", FIELD_FLAG, 127, assignment, check.approved, 0, NULL,
      "a person agreed to this commit"),
    F("slot", FIELD_ENUM, 128, assignment, slot.state, 0, &SLOT_NAMES, "the landing lane's slot"),
    F("slotTurn", FIELD_U32, 129, assignment, slot.turn, 0, NULL, "its newest ask for the slot"),
    F("slotHost", FIELD_U32, 130, assignment, slot.host, 0, NULL, "as which host it asked"),
    F("workHost", FIELD_U32, 133, assignment, setup.work_host, 0, NULL,
      "the host that has its work"),
    F("sampled", FIELD_FLAG, 132, assignment, progress.sampled, 0, NULL,
      "progress that no record tells of yet"),
    {"requests", FIELD_U32S, 70, FIELD_OF(assignment, requests.at),
     FIELD_OF(assignment, requests.count), FIELD_HIDDEN, NULL,
     "when it last asked, seconds after it was made", LIMIT_REQUESTS, NULL},
};
const struct shape ASSIGNMENT = SHAPE_OF(assignment, "charge", 1, ASSIGNMENT_FIELDS);

#define LIST(name, number, member, text) \
    { \
        name, FIELD_TEXTS, number, FIELD_OF(beginning, member), LIMIT_NAME, 0, NULL, text, \
            2 * LIMIT_LINES, NULL \
    }

static const struct field BEGINNING_FIELDS[] = {
    F("agentId", FIELD_TEXT, 1, beginning, agent, LIMIT_AGENT, NULL, "who"),
    F("model", FIELD_TEXT, 2, beginning, model, LIMIT_NAME, NULL, "with which model"),
    F("thinking", FIELD_TEXT, 3, beginning, thinking, LIMIT_NAME, NULL, "how hard it thinks"),
    F("label", FIELD_TEXT, 4, beginning, label, LIMIT_NODE_ID, NULL, "what for"),
    F("textHash", FIELD_HASH, 5, beginning, text, 0, NULL, "of the node's words"),
    F("timeout", FIELD_INT, 6, beginning, within, 0, NULL, "microseconds it may take"),
    F("listed", FIELD_FLAG, 7, beginning, listed, 0, NULL, "only the tools in toolsAllow"),
    LIST("toolsAllow", 8, allow, "the tools it has"),
    LIST("toolsDeny", 9, deny, "tools that it may not use"),
};
const struct shape BEGINNING = SHAPE_OF(beginning, "beginning", 1, BEGINNING_FIELDS);

static const struct field SAMPLE_FIELDS[] = {
    F("charge", FIELD_U32, 1, sample, assignment, 0, NULL, "which"),
    F("updatedAt", FIELD_TIME, 2, sample, updated_at, 0, NULL, "when it last changed"),
    F("lastObservedActivityAt", FIELD_TIME, 3, sample, last_activity_at, 0, NULL,
      "when it last showed life"),
    F("progressAt", FIELD_TIME, 4, sample, progress_at, 0, NULL, "when it last said how far it is"),
    F("phase", FIELD_TEXT, 5, sample, phase, LIMIT_PHASE, NULL, "what it says it is at"),
    F("percentComplete", FIELD_U32, 6, sample, percent, 0, NULL, "and how far, from 1"),
};
const struct shape SAMPLE = SHAPE_OF(sample, "sample", 1, SAMPLE_FIELDS);

static const struct field SAMPLES_FIELDS[] = {
    {"samples", FIELD_ROWS, 1, FIELD_OF(samples, rows), 0, 0, NULL, "one for each assignment",
     LIMIT_ASSIGNMENTS, &SAMPLE},
};
const struct shape SAMPLES = SHAPE_OF(samples, "samples", 1, SAMPLES_FIELDS);

static const struct field OBSERVATION_FIELDS[] = {
    F("charge", FIELD_U32, 1, observation, assignment, 0, NULL, "which"),
    F("event", FIELD_ENUM, 2, observation, event, 0, &AGENT_EVENT_NAMES, "what happened"),
    F("at", FIELD_TIME, 3, observation, at, 0, NULL, "when it was looked at"),
    F("process", FIELD_ENUM, 4, observation, process, 0, &TRISTATE_NAMES, "is it there?"),
    F("turn", FIELD_ENUM, 5, observation, turn, 0, &TRISTATE_NAMES, "is it working on something?"),
    F("delivered", FIELD_ENUM, 6, observation, delivered, 0, &TRISTATE_NAMES, "did it arrive?"),
    F("activeAt", FIELD_TIME, 7, observation, active_at, 0, NULL, "newest progress"),
    F("toolSince", FIELD_TIME, 8, observation, tool_since, 0, NULL, "a tool call is open since"),
    F("chatterAt", FIELD_TIME, 9, observation, chatter_at, 0, NULL, "output that is no progress"),
    F("limitedUntil", FIELD_TIME, 10, observation, limited_until, 0, NULL, "at its limit until"),
    F("fingerprint", FIELD_UINT, 11, observation, fingerprint, 0, NULL, "of its own last words"),
    F("tokens", FIELD_UINT, 12, observation, tokens, 0, NULL, "used so far"),
    F("cost", FIELD_UINT, 13, observation, cost, 0, NULL, "so far, in millionths"),
    F("context", FIELD_U32, 14, observation, context, 0, NULL, "of its window, in percent"),
    F("sampled", FIELD_ENUM, 15, observation, sampled, 0, &SAMPLED_NAMES, "what its messages say"),
    F("dispatch", FIELD_U32, 16, observation, dispatch, 0, NULL, "which dispatch, from 1"),
    F("exit", FIELD_INT, 17, observation, exit, 0, NULL, "its exit status"),
    F("heard", FIELD_U32, 18, observation, heard, 0, NULL, "the newest dispatch it knew, from 1"),
};
const struct shape OBSERVATION = SHAPE_OF(observation, "sighting", 1, OBSERVATION_FIELDS);

static const struct field OBSERVATIONS_FIELDS[] = {
    {"sightings", FIELD_ROWS, 1, FIELD_OF(observations, rows), 0, 0, NULL, "one for each agent",
     LIMIT_ASSIGNMENTS, &OBSERVATION},
    F("since", FIELD_TIME, 2, observations, since, 0, NULL, "watched without a gap since"),
};
const struct shape OBSERVATIONS = SHAPE_OF(observations, "sightings", 1, OBSERVATIONS_FIELDS);

bool assignment_status_may_become(enum assignment_status from, enum assignment_status to) {
    return ASSIGNMENT_STATUS[from].next & TO(to);
}

bool agent_is_adopted(struct str agent) {
    return str_begins(agent, STR(ADOPTED_PANE)) || str_begins(agent, STR(ADOPTED_SESSION));
}

bool assignment_is_adopted(const struct assignment *assignment) {
    return agent_is_adopted(str_of(assignment->agent));
}

bool assignment_is_over(const struct assignment *assignment) {
    return assignment->status == ASSIGNMENT_DONE || assignment->status == ASSIGNMENT_CANCELLED;
}

struct assignment *assignments_find(const struct assignments *assignments, uint32_t n) {
    for (uint32_t i = 0; i < assignments->count; i++)
        if (assignments->at[i].n == n)
            return &assignments->at[i];
    return NULL;
}

struct assignment *assignments_of_node(const struct assignments *assignments, uint32_t node) {
    for (uint32_t i = 0; i < assignments->count; i++)
        if (assignments->at[i].node == node && !assignment_is_over(&assignments->at[i]))
            return &assignments->at[i];
    return NULL;
}
