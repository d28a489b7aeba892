/* SPDX-License-Identifier: Apache-2.0 */
/* Assignments: names them, changes their status, and writes the row that people read. */
#include "core/assignment.h"
#include "core/check.h"
#include "core/effect.h"

struct str assignment_id(const struct assignment *assignment, struct arena *arena) {
    return arena_format(arena, "A_%u", assignment->n);
}

struct assignment *assignment_at_hand(struct deciding *d) {
    live_edit(d, PART_ASSIGNMENT, 0);
    const struct assignments *assignments = &d->decision->live.assignments;
    return d->signal->about.assignment
               ? assignments_find(assignments, d->signal->about.assignment - 1)
               : NULL;
}

/* STORE-03, ASSIGN-01: the row that people read, also when the assignment is over. */
void assignment_row_write(struct deciding *d, const struct assignment *assignment) {
    struct assignment_row row =
        assignment_row_make(assignment, &d->decision->plan, d->decision->goal.id, d->out);
    decide_part(d, (struct part_change){.kind = PART_ASSIGNMENT_ROW,
                                        .n = assignment->n,
                                        .name = row.id,
                                        .body = shape_encode(&ASSIGNMENT_ROW, &row, d->out)});
}

void assignment_touch(struct deciding *d, struct assignment *assignment) {
    assignment->updated_at = d->signal->at;
    live_touch(d, PART_ASSIGNMENT, assignment);
}

struct evidence assignment_evidence(struct deciding *d, const struct assignment *assignment,
                                    struct evidence evidence) {
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    evidence.assignment = assignment_id(assignment, d->out);
    evidence.node = node ? arena_copy(d->out, node_id(node)) : STR("");
    return evidence;
}

/* ASSIGN-04, ASSIGN-05, ASSIGN-07: the only function that changes an assignment's status. An assignment that is over
 * leaves the memory; its row and its records stay. */
void assignment_move(struct deciding *d, struct assignment *assignment, enum assignment_status to,
                     struct evidence evidence) {
    must(assignment_status_may_become(assignment->status, to));
    evidence = assignment_evidence(d, assignment, evidence);
    evidence.from = str_of(ASSIGNMENT_STATUS[assignment->status].name);
    evidence.to = str_of(ASSIGNMENT_STATUS[to].name);
    assignment->status = to;
    if (to == ASSIGNMENT_BLOCKED)
        name_put(assignment->wait.reason, sizeof assignment->wait.reason,
                 evidence.reason.len ? evidence.reason : STR("it waits"));
    else
        assignment->wait.reason[0] = 0;
    assignment_touch(d, assignment);
    decide_record(d, RECORD_ASSIGNMENT_QUEUED + to, evidence);
    if (!assignment_is_over(assignment))
        return;
    slot_leave(d, assignment, STR("its work is over"));
    assignment_row_write(d, assignment);
    live_remove(d, PART_ASSIGNMENT, assignment);
}

void assignment_sample(struct deciding *d, struct assignment *assignment) {
    assignment->progress.sampled = 1;
    assignment_touch(d, assignment);
    d->decision->verdict = VERDICT_SAMPLE;
}

/* A new run has reported nothing yet. */
void report_forget(struct assignment *assignment) {
    assignment->progress.phase[0] = 0;
    assignment->progress.percent = assignment->progress.kept = 0;
    assignment->progress.at = assignment->progress.kept_at = 0;
    assignment->progress.completion = assignment->progress.confidence =
        assignment->progress.reported_last = 0;
    assignment->progress.report = (struct hash){0};
}

/* POLICY-01. */
bool agent_is_allowed(const struct deciding *d, const struct policy_agent *agent) {
    struct str allowed = d->policy->dispatch.allow_agents;
    return allowed.len == 0 || str_equal(allowed, STR("*")) ||
           str_has_word(allowed, str_of(agent->id));
}

bool saw_nothing(const struct observation *seen) {
    return seen->at == 0 || (seen->process == TRISTATE_UNKNOWN && seen->turn == TRISTATE_UNKNOWN);
}

/* The reply is not needed any more, or its run is over: a new run is told everything. */
void reply_forget(struct assignment *assignment) {
    if (assignment->outgoing.next && assignment->wait.on == WAITS_FOR_PERMIT &&
        assignment->status != ASSIGNMENT_QUEUED)
        assignment->wait.on = WAITS_FOR_NOTHING;
    assignment->outgoing.next = WORDS_NONE;
}

struct effect agent_effect(struct deciding *d, const struct assignment *assignment,
                           enum effect_kind kind) {
    const struct policy_agent *agent = policy_agent(d->policy, str_of(assignment->agent));
    const struct node *node = plan_node(&d->decision->plan, assignment->node);
    const char *subject = d->decision->goal.kind.subject;
    bool works = kind == EFFECT_SPAWN || kind == EFFECT_CHECK || kind == EFFECT_LAND;
    return (struct effect){.kind = kind,
                           .within = d->policy->act_within,
                           .assignment = assignment->n,
                           .agent = str_of(assignment->agent),
                           .session = str_of(assignment->session),
                           .model = agent ? str_of(agent->model) : STR(""),
                           .account = str_of(assignment->account),
                           .run = assignment->run,
                           .candidate.branch = works ? str_of(assignment->setup.branch) : STR(""),
                           .candidate.subject = kind == EFFECT_CHECK ? str_of(subject) : STR(""),
                           .node = node_id(node)};
}

struct assignment *assignment_of_effect(struct deciding *d, uint32_t n) {
    live_edit(d, PART_ASSIGNMENT, 0);
    struct assignments *assignments = &d->decision->live.assignments;
    for (uint32_t i = 0; i < assignments->count; i++)
        if (assignments->at[i].delivery.effect == n + 1)
            return &assignments->at[i];
    return NULL;
}

/* Stops the run: no new run starts beside one that may still be there. */
void assignment_run_end(struct deciding *d, struct assignment *assignment) {
    if (assignment->run == 0 || assignment->ended ||
        d->decision->goal.effects.open_count >= LIMIT_OPEN_EFFECTS)
        return;
    effect_make(d, (struct effect){.kind = EFFECT_STOP,
                                   .within = d->policy->act_within,
                                   .assignment = assignment->n,
                                   .agent = str_of(assignment->agent),
                                   .session = str_of(assignment->session),
                                   .run = assignment->run});
    assignment->ended = 1;
    reply_forget(assignment);
}
