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
                                                "person",  "retry",  "check", "host",    "overage"};
static const char *const EVENT[AGENT_EVENTS] = {"seen",     "started",  "accepted", "ended",
                                                "failed",   "exited",   "limited",  "asks",
                                                "attached", "detached", "stranded"};
static const char *const SAMPLED[SAMPLEDS] = {"nothing", "slow", "waits for a person", "failed"};

static const char *const CHECKED[CHECK_COUNT] = {"not checked", "passed",   "failed",
                                                 "unchanged",   "conflict", "target fails"};
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
    F("n", FIELD_U32, 1, assignment, n, 0, NULL, "its ordinal among the goal's parts: n of A_n"),
    F("node", FIELD_U32, 2, assignment, node, 0, NULL, "ordinal of its node"),
    F("status", FIELD_ENUM, 3, assignment, status, 0, &ASSIGNMENT_STATUS_NAMES, "its status"),
    F("agentId", FIELD_NAME, 4, assignment, agent, LIMIT_AGENT, NULL, "the agent that works on it"),
    F("sessionKey", FIELD_NAME, 5, assignment, session, LIMIT_SESSION, NULL,
      "key of the agent's session"),
    F("account", FIELD_NAME, 6, assignment, account, LIMIT_AGENT, NULL,
      "the account whose quota it uses"),
    F("run", FIELD_U32, 7, assignment, run, 0, NULL,
      "ordinal + 1 of the effect that started its run"),
    F("ended", FIELD_FLAG, 8, assignment, ended, 0, NULL, "whether its run is over"),
    F("handoff", FIELD_HASH, 9, assignment, delivery.handoff, 0, NULL,
      "hash of the handoff that goes with the instruction; zero: none"),
    F("said", FIELD_HASH, 10, assignment, outgoing.text, 0, NULL,
      "hash of the text that goes with the next instruction; zero: none"),
    F("instruction", FIELD_HASH, 11, assignment, delivery.instruction, 0, NULL,
      "hash of the last instruction"),
    F("dispatch", FIELD_U32, 12, assignment, delivery.dispatch, 0, NULL,
      "ordinal + 1 of the effect that carried the last instruction"),
    F("delivery", FIELD_ENUM, 13, assignment, delivery.result, 0, &DELIVERY_NAMES,
      "outcome of that dispatch"),
    F("effect", FIELD_U32, 14, assignment, delivery.effect, 0, NULL,
      "ordinal + 1 of its open effect; 0: none"),
    F("first", FIELD_ENUM, 15, assignment, recovery.first, 0, &RUNG_NAMES,
      "first rung of recovery"),
    F("rung", FIELD_ENUM, 16, assignment, recovery.rung, 0, &RUNG_NAMES,
      "current rung of recovery"),
    F("retries", FIELD_U32, 17, assignment, recovery.retries, 0, NULL,
      "number of retries on the current rung"),
    F("attempts", FIELD_U32, 18, assignment, delivery.attempts, 0, NULL,
      "number of dispatches in total"),
    F("restarts", FIELD_U32, 19, assignment, recovery.restarts, 0, NULL,
      "number of runs that died since restartSince"),
    F("asked", FIELD_FLAG, 20, assignment, recovery.asked, 0, NULL,
      "whether the agent was asked for the block that its message lacked"),
    F("restartSince", FIELD_TIME, 21, assignment, recovery.restart_since, 0, NULL,
      "start of the window in which restarts are counted"),
    F("createdAt", FIELD_TIME, 22, assignment, created_at, 0, NULL, "time of its creation"),
    F("updatedAt", FIELD_TIME, 23, assignment, updated_at, 0, NULL, "time of its last change"),
    F("lastDispatchAt", FIELD_TIME, 24, assignment, delivery.last_at, 0, NULL,
      "time of the last dispatch"),
    F("lastObservedActivityAt", FIELD_TIME, 25, assignment, liveness.last_activity_at, 0, NULL,
      "time of the last observed activity"),
    F("expectedNextUpdateAt", FIELD_TIME, 26, assignment, liveness.expected_next_at, 0, NULL,
      "time of the next update, as its agent announced; 0: none"),
    F("idleAfter", FIELD_INT, 27, assignment, liveness.idle_after, 0, NULL,
      "microseconds without progress after which it counts as stalled; 0: the setting"),
    F("lastRetryAt", FIELD_TIME, 28, assignment, recovery.last_retry_at, 0, NULL,
      "time of the last retry"),
    F("backoffUntil", FIELD_TIME, 29, assignment, recovery.backoff_until, 0, NULL,
      "time before which there is no retry"),
    F("waitsUntil", FIELD_TIME, 30, assignment, wait.until, 0, NULL, "end of the wait"),
    F("waiting", FIELD_ENUM, 31, assignment, wait.on, 0, &WAITING_NAMES, "what it waits for"),
    F("question", FIELD_U32, 32, assignment, wait.question, 0, NULL,
      "ordinal + 1 of the open question that holds it; 0: none"),
    F("attached", FIELD_FLAG, 33, assignment, liveness.attached, 0, NULL,
      "whether a person is attached to its terminal"),
    F("fingerprint", FIELD_UINT, 34, assignment, liveness.fingerprint, 0, NULL,
      "fingerprint of the agent's own last message"),
    F("context", FIELD_U32, 35, assignment, liveness.context, 0, NULL,
      "used part of its context window, in percent"),
    F("tokens", FIELD_UINT, 36, assignment, usage.tokens, 0, NULL, "tokens used so far"),
    F("cost", FIELD_UINT, 37, assignment, usage.cost, 0, NULL,
      "cost so far, in millionths of the currency"),
    F("desk", FIELD_U32, 38, assignment, permit.host, 0, NULL,
      "the host whose admission was asked for a permit, or granted it; 0: neither"),
    F("crystal", FIELD_U32, 39, assignment, delivery.newest_handoff, 0, NULL,
      "ordinal + 1 of its newest handoff"),
    F("blockedReason", FIELD_NAME, 40, assignment, wait.reason, LIMIT_BLOCKED, NULL,
      "why it is blocked"),
    F("lookedAt", FIELD_TIME, 60, assignment, liveness.looked_at, 0, NULL,
      "time of the last look at the agent"),
    F("listenedSince", FIELD_TIME, 76, assignment, liveness.observed_since, 0, NULL,
      "start of gap-free observation, as of that look"),
    F("answered", FIELD_U32, 80, assignment, wait.answered, 0, NULL,
      "a person's option, carried out after a look; 0: none"),
    F("owes", FIELD_ENUM, 81, assignment, outgoing.next, 0, &WORDS_NAMES,
      "kind of the text to send once admission has room"),
    F("allowed", FIELD_FLAG, 62, assignment, recovery.allowed, 0, NULL,
      "whether admission allows the rung"),
    F("unseen", FIELD_U32, 61, assignment, liveness.unseen, 0, NULL,
      "number of looks in a row that saw nothing"),
    F("moves", FIELD_U32, 41, assignment, recovery.moves, 0, NULL,
      "number of times that the work moved to another agent"),
    F("handover", FIELD_FLAG, 42, assignment, recovery.handover, 0, NULL,
      "whether the agent was asked to write a handoff"),
    F("settledCost", FIELD_UINT, 43, assignment, usage.settled_cost, 0, NULL,
      "part of its cost that was reported to admission, in millionths of the currency"),
    F("words", FIELD_U32, 45, assignment, delivery.words, 0, NULL,
      "kind of the last text: enum wording"),
    F("settledTokens", FIELD_UINT, 44, assignment, usage.settled_tokens, 0, NULL,
      "part of its tokens that was reported to admission"),
    F("turn", FIELD_U32, 46, assignment, permit.turn, 0, NULL,
      "number of its newest request for a permit"),
    F("parent", FIELD_U32, 71, assignment, parent, 0, NULL,
      "ordinal + 1 of the assignment whose agent asked for it; 0: the overseer did"),
    F("runCost", FIELD_UINT, 72, assignment, usage.run_cost, 0, NULL,
      "cost of the current run, in millionths of the currency"),
    F("runTokens", FIELD_UINT, 73, assignment, usage.run_tokens, 0, NULL,
      "tokens of the current run"),
    F("commit", FIELD_NAME, 74, assignment, check.commit, LIMIT_COMMIT, NULL,
      "the candidate commit that passed its checks"),
    F("rounds", FIELD_U32, 75, assignment, check.rounds, 0, NULL,
      "how often work reported as done failed its checks or conflicted"),
    F("told", FIELD_HASH, 77, assignment, outgoing.message, 0, NULL,
      "hash of a person's message that is being sent"),
    F("sandbox", FIELD_NAME, 78, assignment, setup.sandbox, LIMIT_SANDBOX, NULL,
      "what confines its current run"),
    F("scope", FIELD_NAME, 79, assignment, setup.scope, LIMIT_SANDBOX, NULL,
      "how its tool scope is applied: enforced, advisory, none"),
    F("start", FIELD_HASH, 91, assignment, setup.start, 0, NULL,
      "hash of the BEGINNING of its first run"),
    F("limits", FIELD_NAME, 90, assignment, setup.limits, LIMIT_LIMITS, NULL,
      "resource limits of its current run, and what enforces them"),
    F("phase", FIELD_NAME, 92, assignment, progress.phase, LIMIT_PHASE, NULL,
      "phase that the agent reports"),
    F("percentComplete", FIELD_U32, 93, assignment, progress.percent, 0, NULL,
      "percent done, as the agent reports, + 1; 0: not reported"),
    F("progressAt", FIELD_TIME, 94, assignment, progress.at, 0, NULL, "time of that report"),
    F("progressKept", FIELD_U32, 95, assignment, progress.kept, 0, NULL,
      "number of entries in the progress history of its run"),
    F("progressKeptAt", FIELD_TIME, 96, assignment, progress.kept_at, 0, NULL,
      "time of the newest entry"),
    F("completion", FIELD_U32, 97, assignment, progress.completion, 0, NULL,
      "how it ended, as the agent reports: enum completion + 1; 0: not reported"),
    F("confidence", FIELD_U32, 98, assignment, progress.confidence, 0, NULL,
      "confidence of that report: enum confidence + 1; 0: not reported"),
    F("report", FIELD_HASH, 99, assignment, progress.report, 0, NULL,
      "hash of the UPDATE that reported its end"),
    F("permits", FIELD_U32, 100, assignment, outgoing.permits, 0, NULL,
      "answer to a permission request: enum permission"),
    F("reportedLast", FIELD_FLAG, 101, assignment, progress.reported_last, 0, NULL,
      "whether no tool call has reported anything since the agent reported its end"),
    F("contract", FIELD_HASH, 102, assignment, check.contract, 0, NULL,
      "hash of the text that says what its run has to produce; zero: none"),
    F("verdict", FIELD_HASH, 103, assignment, check.verdict, 0, NULL,
      "hash of its newest VERIFICATION; zero: none yet"),
    F("retriedAt", FIELD_TIME, 104, assignment, check.retried_at, 0, NULL,
      "time of the restart because its checks failed; 0: never"),
    F("whenItFails", FIELD_ENUM, 107, assignment, check.on_failure, 0, &ON_FAILURE_NAMES,
      "what follows if its checks fail"),
    F("wantsReport", FIELD_FLAG, 108, assignment, check.wants_report, 0, NULL,
      "whether the agent has to report its end"),
    F("unheard", FIELD_ENUM, 106, assignment, outgoing.undelivered, 0, &WORDS_NAMES,
      "kind of the text that the agent has not received yet"),
    F("retryOf", FIELD_U32, 105, assignment, check.retry_of, 0, NULL,
      "ordinal + 1 of the effect that started the run before that restart; 0: none"),
    F("onto", FIELD_NAME, 120, assignment, check.onto, LIMIT_COMMIT, NULL,
      "tip of the target that the candidate was built on"),
    F("snapshot", FIELD_NAME, 121, assignment, check.snapshot, LIMIT_COMMIT, NULL,
      "snapshot of the worktree that the candidate was built from"),
    F("conflict", FIELD_NAME, 122, assignment, check.conflict, LIMIT_COMMIT, NULL,
      "name of the conflict that was reported to its agent"),
    F("checkDigest", FIELD_HASH, 123, assignment, check.digest, 0, NULL,
      "hash of the command, setup, protected paths and sandbox of its verdict"),
    F("change", FIELD_HASH, 131, assignment, check.change, 0, NULL,
      "hash of the candidate's change as shown to a person"),
    F("judged", FIELD_U32, 124, assignment, check.judged, 0, NULL,
      "what the change did to judged files: enum judged"),
    F("recheck", FIELD_FLAG, 125, assignment, check.recheck, 0, NULL,
      "whether the candidate is to be built and checked again"),
    F("rechecks", FIELD_U32, 126, assignment, check.rechecks, 0, NULL,
      "how often that happened since the agent reported it done"),
    F("approved", FIELD_FLAG, 127, assignment, check.approved, 0, NULL,
      "whether a person approved the change as shown"),
    F("slot", FIELD_ENUM, 128, assignment, slot.state, 0, &SLOT_NAMES,
      "whether it has asked for or holds the landing lane's slot"),
    F("slotTurn", FIELD_U32, 129, assignment, slot.turn, 0, NULL,
      "number of its newest request for the slot"),
    F("slotHost", FIELD_U32, 130, assignment, slot.host, 0, NULL,
      "the host as which it asked for the slot"),
    F("slotWorkspace", FIELD_ID, 134, assignment, slot.workspace, 0, NULL,
      "id of the workspace that it asked for the slot; zero: as the policy names it"),
    F("workHost", FIELD_U32, 133, assignment, setup.work_host, 0, NULL,
      "the host whose clone has the work of its newest run; 0: none"),
    F("branch", FIELD_NAME, 135, assignment, setup.branch, LIMIT_BRANCH, NULL,
      "branch of its work, below overseer/; empty: it is named by goal and assignment"),
    F("sampled", FIELD_FLAG, 132, assignment, progress.sampled, 0, NULL,
      "whether reported progress was stored that no record mentions yet"),
    {"requests", FIELD_U32S, 70, FIELD_OF(assignment, requests.at),
     FIELD_OF(assignment, requests.count), FIELD_HIDDEN, NULL,
     "times of its last requests to others, in seconds after createdAt", LIMIT_REQUESTS, NULL},
};
const struct shape ASSIGNMENT = SHAPE_OF(assignment, "charge", 1, ASSIGNMENT_FIELDS);

#define LIST(name, number, member, text) \
    { \
        name, FIELD_TEXTS, number, FIELD_OF(beginning, member), LIMIT_NAME, 0, NULL, text, \
            2 * LIMIT_LINES, NULL \
    }

static const struct field BEGINNING_FIELDS[] = {
    F("agentId", FIELD_TEXT, 1, beginning, agent, LIMIT_AGENT, NULL, "name of the agent"),
    F("model", FIELD_TEXT, 2, beginning, model, LIMIT_NAME, NULL, "its model"),
    F("thinking", FIELD_TEXT, 3, beginning, thinking, LIMIT_NAME, NULL, "its reasoning effort"),
    F("label", FIELD_TEXT, 4, beginning, label, LIMIT_NODE_ID, NULL, "id of the node"),
    F("textHash", FIELD_HASH, 5, beginning, text, 0, NULL, "hash of the node's text"),
    F("timeout", FIELD_INT, 6, beginning, within, 0, NULL,
      "time limit of its first instruction, in microseconds"),
    F("listed", FIELD_FLAG, 7, beginning, listed, 0, NULL,
      "whether it has only the tools in toolsAllow"),
    LIST("toolsAllow", 8, allow, "tools that it may use"),
    LIST("toolsDeny", 9, deny, "tools that it may not use"),
};
const struct shape BEGINNING = SHAPE_OF(beginning, "beginning", 1, BEGINNING_FIELDS);

static const struct field SAMPLE_FIELDS[] = {
    F("charge", FIELD_U32, 1, sample, assignment, 0, NULL, "ordinal of the assignment"),
    F("updatedAt", FIELD_TIME, 2, sample, updated_at, 0, NULL, "time of its last change"),
    F("lastObservedActivityAt", FIELD_TIME, 3, sample, last_activity_at, 0, NULL,
      "time of the last observed activity"),
    F("progressAt", FIELD_TIME, 4, sample, progress_at, 0, NULL,
      "time of the last progress report"),
    F("phase", FIELD_TEXT, 5, sample, phase, LIMIT_PHASE, NULL, "phase that the agent reports"),
    F("percentComplete", FIELD_U32, 6, sample, percent, 0, NULL,
      "percent done, as the agent reports, + 1; 0: not reported"),
};
const struct shape SAMPLE = SHAPE_OF(sample, "sample", 1, SAMPLE_FIELDS);

static const struct field SAMPLES_FIELDS[] = {
    {"samples", FIELD_ROWS, 1, FIELD_OF(samples, rows), 0, 0, NULL, "one for each assignment",
     LIMIT_ASSIGNMENTS, &SAMPLE},
};
const struct shape SAMPLES = SHAPE_OF(samples, "samples", 1, SAMPLES_FIELDS);

static const struct field OBSERVATION_FIELDS[] = {
    F("charge", FIELD_U32, 1, observation, assignment, 0, NULL, "ordinal of the assignment"),
    F("event", FIELD_ENUM, 2, observation, event, 0, &AGENT_EVENT_NAMES, "what happened"),
    F("at", FIELD_TIME, 3, observation, at, 0, NULL, "time of the observation; 0: never"),
    F("process", FIELD_ENUM, 4, observation, process, 0, &TRISTATE_NAMES,
      "whether the process exists"),
    F("turn", FIELD_ENUM, 5, observation, turn, 0, &TRISTATE_NAMES,
      "whether it is working on something"),
    F("delivered", FIELD_ENUM, 6, observation, delivered, 0, &TRISTATE_NAMES,
      "whether the dispatch arrived"),
    F("activeAt", FIELD_TIME, 7, observation, active_at, 0, NULL, "time of the newest progress"),
    F("toolSince", FIELD_TIME, 8, observation, tool_since, 0, NULL,
      "start of the open tool call; 0: none"),
    F("chatterAt", FIELD_TIME, 9, observation, chatter_at, 0, NULL,
      "time of the newest output that is no progress"),
    F("limitedUntil", FIELD_TIME, 10, observation, limited_until, 0, NULL,
      "end of the limit of its account; 0: not stated"),
    F("fingerprint", FIELD_UINT, 11, observation, fingerprint, 0, NULL,
      "fingerprint of the agent's own last message"),
    F("tokens", FIELD_UINT, 12, observation, tokens, 0, NULL, "tokens used so far"),
    F("cost", FIELD_UINT, 13, observation, cost, 0, NULL,
      "cost so far, in millionths of the currency"),
    F("context", FIELD_U32, 14, observation, context, 0, NULL,
      "used part of its context window, in percent"),
    F("sampled", FIELD_ENUM, 15, observation, sampled, 0, &SAMPLED_NAMES,
      "what a sample of its messages shows"),
    F("dispatch", FIELD_U32, 16, observation, dispatch, 0, NULL,
      "ordinal + 1 of the dispatch that it is about; 0: none"),
    F("exit", FIELD_INT, 17, observation, exit, 0, NULL, "its exit status"),
    F("heard", FIELD_U32, 18, observation, heard, 0, NULL,
      "ordinal + 1 of the newest dispatch that the agent had received; 0: unknown"),
};
const struct shape OBSERVATION = SHAPE_OF(observation, "sighting", 1, OBSERVATION_FIELDS);

static const struct field OBSERVATIONS_FIELDS[] = {
    {"sightings", FIELD_ROWS, 1, FIELD_OF(observations, rows), 0, 0, NULL, "one for each agent",
     LIMIT_ASSIGNMENTS, &OBSERVATION},
    F("since", FIELD_TIME, 2, observations, since, 0, NULL,
      "start of gap-free observation by this host"),
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
