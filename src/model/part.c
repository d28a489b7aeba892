/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a goal: their fields, rows and invariants. */
#include "model/part.h"

#include "model/repository.h"

#define TEXT(name, number, of, member, cap, text) \
    { name, FIELD_TEXT, number, FIELD_OF(of, member), cap, 0, NULL, text, 0, NULL }
#define TIME(name, number, of, member, text) \
    { name, FIELD_TIME, number, FIELD_OF(of, member), 0, 0, NULL, text, 0, NULL }
#define LIST(name, number, of, member, cap, text) \
    { name, FIELD_TEXTS, number, FIELD_OF(of, member), cap, 0, NULL, text, LIMIT_LINES, NULL }

static const struct field ASSIGNMENT_ROW_FIELDS[] = {
    TEXT("assignmentId", 1, assignment_row, id, LIMIT_NAME, "id of the assignment"),
    TEXT("workNodeId", 2, assignment_row, node, LIMIT_NODE_ID, "id of its node"),
    TEXT("agentId", 3, assignment_row, agent, LIMIT_NAME, "the agent that works on it"),
    TEXT("sessionKey", 4, assignment_row, session, LIMIT_NAME, "key of the agent's session"),
    TEXT("status", 5, assignment_row, status, LIMIT_TAG, "its status"),
    {"lastInstructionText", FIELD_TEXT, 6, FIELD_OF(assignment_row, instruction), LIMIT_INSTRUCTION,
     FIELD_CUT, NULL, "the last instruction", 0, NULL},
    TEXT("instructionHash", 7, assignment_row, instruction_hash, LIMIT_KEY,
         "hash of the last instruction"),
    TEXT("runId", 8, assignment_row, run, LIMIT_NAME, "id of the run that carries it out"),
    TEXT("recoveryPolicy", 9, assignment_row, recovery, LIMIT_TAG,
         "the first rung of recovery when it stalls"),
    TEXT("blockedReason", 10, assignment_row, blocked_reason, LIMIT_REASON, "why it is blocked"),
    TIME("createdAt", 11, assignment_row, created_at, "time of its creation"),
    TIME("updatedAt", 12, assignment_row, updated_at, "time of its last change"),
    TIME("lastDispatchAt", 13, assignment_row, last_dispatch_at, "time of the last dispatch"),
    TIME("lastObservedActivityAt", 14, assignment_row, last_activity_at,
         "time of the last observed activity"),
    TIME("expectedNextUpdateAt", 15, assignment_row, expected_next_at,
         "time of the next update, as its agent announced; 0: none"),
    {"idleAfter", FIELD_INT, 16, FIELD_OF(assignment_row, idle_after), 0, 0, NULL,
     "microseconds without progress after which it counts as stalled; 0: the setting", 0, NULL},
    TIME("lastRetryAt", 17, assignment_row, last_retry_at, "time of the last retry"),
    TIME("backoffUntil", 18, assignment_row, backoff_until, "time before which there is no retry"),
    {"retryCount", FIELD_U32, 19, FIELD_OF(assignment_row, retries), 0, 0, NULL,
     "number of retries on the current rung", 0, NULL},
};
const struct shape ASSIGNMENT_ROW =
    SHAPE_OF(assignment_row, "assignment", 1, ASSIGNMENT_ROW_FIELDS);

static const struct field DISPATCH_FIELDS[] = {
    TEXT("dispatchId", 1, dispatch, id, LIMIT_NAME, "id of the dispatch"),
    TIME("ts", 2, dispatch, at, "time of this entry"),
    TEXT("assignmentId", 3, dispatch, assignment, LIMIT_NAME, "id of its assignment"),
    TEXT("mode", 4, dispatch, mode, LIMIT_TAG,
         "how it was sent, such as sessions_spawn or sessions_send"),
    TEXT("target", 5, dispatch, target, LIMIT_NAME, "the session that it was sent to"),
    TEXT("result", 7, dispatch, result, LIMIT_TAG, "accepted, ok, timeout or error"),
    TEXT("runId", 8, dispatch, run, LIMIT_NAME, "id of the run"),
    TEXT("notes", 9, dispatch, notes, LIMIT_LINE, "additional notes"),
    /* ASSIGN-15: the last field, because the store has an index over the end of a body. */
    TEXT("instructionHash", 6, dispatch, instruction_hash, LIMIT_KEY,
         "hash of the instruction that was sent"),
};
const struct shape DISPATCH = SHAPE_OF(dispatch, "dispatch", 1, DISPATCH_FIELDS);

static const struct field HANDOFF_FIELDS[] = {
    TEXT("crystallizationId", 1, handoff, id, LIMIT_NAME, "id of the handoff"),
    TEXT("workNodeId", 2, handoff, node, LIMIT_NODE_ID,
         "id of the node it is about; none: the goal"),
    {"summary", FIELD_TEXT, 3, FIELD_OF(handoff, summary), LIMIT_PROSE, FIELD_CUT, NULL,
     "what happened", 0, NULL},
    {"currentState", FIELD_TEXT, 4, FIELD_OF(handoff, state), LIMIT_PROSE, FIELD_CUT, NULL,
     "the current state", 0, NULL},
    LIST("decisions", 5, handoff, decisions, LIMIT_LINE, "decisions, with their reasons"),
    LIST("nextActions", 6, handoff, next_actions, LIMIT_LINE, "next actions, in order"),
    LIST("openQuestions", 7, handoff, open_questions, LIMIT_LINE, "open questions"),
    LIST("knownBlockers", 8, handoff, blockers, LIMIT_LINE, "known blockers"),
    LIST("filesTouched", 9, handoff, files, LIMIT_LINE, "evidence: files"),
    LIST("commandsRun", 10, handoff, commands, LIMIT_LINE, "evidence: commands"),
    LIST("testsRun", 11, handoff, tests, LIMIT_LINE, "evidence: tests and their results"),
    LIST("commits", 12, handoff, commits, LIMIT_LINE, "evidence: commits"),
    LIST("externalRefs", 13, handoff, refs, LIMIT_LINE, "evidence: addresses and anything else"),
    TEXT("sessionKey", 14, handoff, session, LIMIT_NAME,
         "location of the transcript: the session key"),
    TEXT("sessionId", 15, handoff, session_id, LIMIT_NAME,
         "location of the transcript: the part of the session"),
    TIME("ts", 16, handoff, at, "time of this entry"),
    LIST("prs", 17, handoff, prs, LIMIT_LINE, "evidence: pull requests"),
    LIST("issues", 18, handoff, issues, LIMIT_LINE, "evidence: issues"),
};
const struct shape HANDOFF = SHAPE_OF(handoff, "crystallization", 1, HANDOFF_FIELDS);

static const struct field RUN_FIELDS[] = {
    TEXT("runId", 1, run_row, id, LIMIT_NAME, "id of the run"),
    TEXT("assignmentId", 2, run_row, assignment, LIMIT_NAME, "id of its assignment"),
    TEXT("workNodeId", 3, run_row, node, LIMIT_NODE_ID, "id of the node it works on"),
    TEXT("agentId", 4, run_row, agent, LIMIT_NAME, "the agent"),
    TEXT("sessionKey", 5, run_row, session, LIMIT_NAME, "key of the agent's session"),
    TEXT("status", 6, run_row, status, LIMIT_TAG, "its status"),
    TEXT("verification", 7, run_row, verification, LIMIT_TAG, "result of its verification"),
    TIME("startedAt", 8, run_row, started_at, "time of its start"),
    TIME("endedAt", 9, run_row, ended_at, "time of its end"),
    {"exit", FIELD_INT, 10, FIELD_OF(run_row, exit), 0, 0, NULL, "its exit status", 0, NULL},
};
const struct shape RUN_ROW = SHAPE_OF(run_row, "run", 1, RUN_FIELDS);

#define LIVE(member) true, offsetof(struct live, member)
const struct part_row PART[PARTS] = {
    [PART_NODE] = {"node", "", NULL, LIVE(plan), LIMIT_NODES, &NODE},
    [PART_ASSIGNMENT_ROW] = {"assignment", "A_", "assignments", false, 0, 0, &ASSIGNMENT_ROW},
    [PART_DISPATCH] = {"dispatch", "D_", "dispatchIndex", false, 0, 0, &DISPATCH},
    [PART_HANDOFF] = {"crystallization", "C_", "crystallizations", false, 0, 0, &HANDOFF},
    [PART_RUN] = {"run", "R_", "runs", false, 0, 0, &RUN_ROW},
    [PART_ASSIGNMENT] = {"charge", "A_", NULL, LIVE(assignments), LIMIT_ASSIGNMENTS, &ASSIGNMENT},
    [PART_QUESTION] = {"question", "Q_", NULL, LIVE(questions), LIMIT_QUESTIONS, &QUESTION},
    [PART_AGENT_MESSAGE] = {"letter", "M_", NULL, LIVE(agent_messages), LIMIT_AGENT_MESSAGES,
                            &AGENT_MESSAGE},
    [PART_PERMIT] = {"permit", "", NULL, LIVE(permits), LIMIT_PERMITS, &PERMIT},
    [PART_ACCOUNT] = {"account", "", NULL, LIVE(accounts), LIMIT_ACCOUNT_ROWS, &ACCOUNT},
    [PART_BUDGET] = {"budget", "", NULL, LIVE(budgets), LIMIT_BUDGETS, &BUDGET},
    [PART_HOST_ACCESS] = {"host_access", "", NULL, LIVE(host_accesses), LIMIT_HOST_ACCESSES,
                          &HOST_ACCESS},
    [PART_TASK_BATCH] = {"task_batch", "", NULL, LIVE(task_batches), LIMIT_TASK_BATCHES,
                         &TASK_BATCH},
};

struct live_rows *live_rows(struct live *live, enum part_kind kind) {
    must(PART[kind].live);
    return (struct live_rows *)(void *)((char *)live + PART[kind].at);
}

const struct live_rows *live_rows_of(const struct live *live, enum part_kind kind) {
    must(PART[kind].live);
    return (const struct live_rows *)(const void *)((const char *)live + PART[kind].at);
}

static size_t rows_size(const struct live *live, uint32_t kind) {
    size_t size = PART[kind].shape->size * live_rows_of(live, (enum part_kind)kind)->count;
    return (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
}

size_t live_size(const struct live *live) {
    size_t size = 0;
    for (uint32_t kind = 0; kind < PARTS; kind++)
        size += PART[kind].live ? rows_size(live, kind) : 0;
    return size;
}

void live_pack(struct live *to, const struct live *from, void *room) {
    for (uint32_t kind = 0; kind < PARTS; kind++) {
        if (!PART[kind].live)
            continue;
        const struct live_rows *rows = live_rows_of(from, (enum part_kind)kind);
        struct live_rows *packed = live_rows(to, (enum part_kind)kind);
        *packed = (struct live_rows){rows->count ? room : NULL, rows->count};
        if (rows->count > 0)
            memcpy(room, rows->at, PART[kind].shape->size * rows->count);
        room = (char *)room + rows_size(from, kind);
    }
}

struct live live_copy(const struct live *live, struct arena *arena) {
    struct live copy = {0};
    size_t size = live_size(live);
    live_pack(&copy, live, size ? arena_take(arena, size, alignof(max_align_t)) : NULL);
    return copy;
}

const char *live_broken(const struct live *live, const struct goal *goal) {
    uint32_t asked = 0;
    for (uint32_t i = 0; i < live->assignments.count; i++) {
        const struct assignment *assignment = &live->assignments.at[i];
        const char *broken = assignment_broken(assignment, live);
        if (broken)
            return broken;
        for (uint32_t k = 0; k < i; k++)
            if (live->assignments.at[k].node == assignment->node)
                return "two open assignments for one node"; /* G: nothing is done twice */
    }
    for (uint32_t i = 0; i < live->questions.count; i++)
        asked += question_counts(&live->questions.at[i]);
    if (asked != goal->people.questions)
        return "the open questions are counted wrongly";
    return goal->kind.workspace   ? lane_broken(live)
           : goal->kind.admission ? admission_broken(live)
                                  : NULL;
}

struct str hash_hex(const struct hash *hash, struct arena *arena) {
    char text[2 * sizeof hash->bytes + 1];
    if (hash_is_zero(hash))
        return (struct str){0};
    hex_write(text, hash->bytes, sizeof hash->bytes);
    return arena_copy(arena, str_of(text));
}

struct assignment_row assignment_row_make(const struct assignment *assignment,
                                          const struct plan *plan, struct id goal,
                                          struct arena *arena) {
    const struct node *node = plan_node(plan, assignment->node);
    char run[ID_TEXT + 1] = "";
    if (assignment->run)
        id_format(effect_id(goal, assignment->run - 1), run);
    return (struct assignment_row){
        .id = arena_format(arena, "A_%u", assignment->n),
        .node = node ? node_id(node) : STR(""),
        .agent = str_of(assignment->agent),
        .session = str_of(assignment->session),
        .status = str_of(ASSIGNMENT_STATUS[assignment->status].name),
        .instruction_hash = hash_hex(&assignment->delivery.instruction, arena),
        .run = arena_copy(arena, str_of(run)),
        .recovery = str_of(name_of(&RUNG_NAMES, assignment->recovery.first)),
        .blocked_reason = str_of(assignment->wait.reason),
        .created_at = assignment->created_at,
        .updated_at = assignment->updated_at,
        .last_dispatch_at = assignment->delivery.last_at,
        .last_activity_at = assignment->liveness.last_activity_at,
        .expected_next_at = assignment->liveness.expected_next_at,
        .idle_after = assignment->liveness.idle_after,
        .last_retry_at = assignment->recovery.last_retry_at,
        .backoff_until = assignment->recovery.backoff_until,
        .retries = assignment->recovery.retries};
}
