/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences that make requests about goals and plans, as a person called ada unless a clause says otherwise. */
#include "story.h"

#include <stdlib.h>

/* ---- making requests ---- */

/* PLAN-23, G-17: requests that are refused as unauthorized. An agent that the policy names may plan and work. */
static bool is_forbidden(const struct story *story, const struct signal *signal) {
    switch (signal->kind) {
    case SIGNAL_PLAN_REVIEW: return false;
    case SIGNAL_PLAN_APPROVE:
    case SIGNAL_PLAN_REJECT:
    case SIGNAL_GOAL_RELEASE: return signal->sender.by != WHO_HUMAN;
    case SIGNAL_GOAL_MOVE:
    case SIGNAL_GOAL_UPDATE: return signal->sender.by == WHO_AGENT;
    default:
        return signal->sender.by == WHO_AGENT &&
               !str_equal(signal->sender.actor, story->fleet->policy.plans.agents);
    }
}

/* Signals that may be accepted although there is nothing to decide. */
static bool may_idle(enum signal_kind kind) {
    return kind != SIGNAL_PLAN_APPLY && kind != SIGNAL_PLAN_APPROVE && kind != SIGNAL_WORK_ADD &&
           kind != SIGNAL_GOAL_UPDATE;
}

/* Sends the signal of a sentence, completed by the clauses. Its source identifies it: a repetition has the same source. */
static void ask(struct story *story, const char *name, struct signal signal) {
    struct named *named = goal_of(story, name);
    struct op *op = arena_new(&story->arena, struct op, 1);
    struct str number = arena_format(&story->arena, "%u", story->asked++);
    signal.goal = named->goal;
    signal.source = id_derive(STR("story request"), number);
    signal.sender.by = story->args.by;
    signal.sender.actor = story->args.actor;
    signal.reason = story->args.reason;
    signal.text = story->args.evidence;
    if (story->args.versioned)
        signal.plan.expected = story->args.version;
    *op = (struct op){.signal = signal, .may_idle = may_idle(signal.kind)};
    op->wrong = is_forbidden(story, &signal);
    op->expect = op->wrong ? ERROR_UNAUTHORIZED : ERROR_NONE;
    ask_for(story, named,
            (struct asked){.kind = signal.kind,
                           .goal = signal.goal,
                           .source = signal.source,
                           .keyed = true,
                           .op = op},
            host_of(story, story->args.host));
}

static struct str kept(struct story *story, const char *text) {
    return arena_copy(&story->arena, str_of(text));
}

/* ---- goals ---- */

static void goal_at(struct story *story, const char *name, bool command) {
    struct named *named = goal_of(story, name);
    ask_for(story, named,
            (struct asked){.kind = SIGNAL_GOAL_CREATE,
                           .goal = named->goal,
                           .source = named->goal,
                           .with_command = command,
                           .keyed = true},
            host_of(story, story->args.host));
}
static void s_goal(struct story *story, char **args) {
    goal_at(story, args[0], false);
}
static void s_goal_command(struct story *story, char **args) {
    goal_at(story, args[0], true);
}
static void s_asked_again(struct story *story, char **args) {
    ask_again(story, goal_of(story, args[0]), host_of(story, story->args.host));
}
static void s_before_again(struct story *story, char **args) {
    struct named *named = goal_of(story, args[0]);
    named->asked = named->before;
    ask_again(story, named, host_of(story, story->args.host));
}
static void s_report(struct story *story, char **args) {
    struct named *named = goal_of(story, args[1]);
    struct str text = kept(story, args[2]);
    ask_for(story, named,
            (struct asked){.kind = SIGNAL_GOAL_REPORT,
                           .goal = named->goal,
                           .source = id_derive(STR("story report"), text),
                           .keyed = true,
                           .text = arena_cstr(&story->arena, text)},
            host_of(story, args[0]));
}
static void s_create_and_report(struct story *story, char **args) {
    struct named *named = goal_of(story, args[0]);
    goal_at(story, args[0], false);
    ask_for(story, named,
            (struct asked){.kind = SIGNAL_GOAL_REPORT,
                           .goal = named->goal,
                           .source = id_derive(STR("story"), STR("at once"))},
            0);
}

static void move(struct story *story, const char *name, uint32_t to) {
    ask(story, name, (struct signal){.kind = SIGNAL_GOAL_MOVE, .to = to});
}
static void s_paused(struct story *story, char **args) {
    move(story, args[0], GOAL_PAUSED);
}
static void s_resumed(struct story *story, char **args) {
    move(story, args[0], GOAL_ACTIVE);
}
static void s_completed(struct story *story, char **args) {
    move(story, args[0], GOAL_COMPLETED);
}
static void s_cancelled(struct story *story, char **args) {
    move(story, args[0], GOAL_CANCELLED);
}
static void s_archived(struct story *story, char **args) {
    move(story, args[0], GOAL_ARCHIVED);
}
static void s_no_status(struct story *story, char **args) {
    move(story, args[0], GOAL_STATUSES);
}
static void s_released(struct story *story, char **args) {
    ask(story, args[0], (struct signal){.kind = SIGNAL_GOAL_RELEASE});
}
static void s_renamed(struct story *story, char **args) {
    ask(story, args[0],
        (struct signal){.kind = SIGNAL_GOAL_UPDATE, .describe.title = kept(story, args[1])});
}

/* ---- plans ---- */

/* The planner has seen the newest version, unless a clause says which one it saw. */
static uint64_t version_seen(struct story *story, const char *name) {
    fleet_look(story->fleet);
    return fleet_known(story->fleet, goal_of(story, name)->goal, &story->arena).goal.plan.version;
}
static void s_planned(struct story *story, char **args) {
    ask(story, args[0],
        (struct signal){.kind = SIGNAL_PLAN_APPLY,
                        .body = plan_of(story, args[1]),
                        .plan.expected = version_seen(story, args[0])});
}
static void s_planned_why(struct story *story, char **args) {
    uint32_t why = REASON_NONE;
    if (!names_find(&REASON_NAMES, str_of(args[2]), &why))
        fails(story, "\"%s\" is no reason to plan", args[2]);
    ask(story, args[0],
        (struct signal){.kind = SIGNAL_PLAN_APPLY,
                        .body = plan_of(story, args[1]),
                        .plan.why = (enum plan_reason)why,
                        .plan.expected = version_seen(story, args[0])});
}
static void s_garbage(struct story *story, char **args) {
    ask(story, args[0],
        (struct signal){.kind = SIGNAL_PLAN_APPLY,
                        .body = STR("\x01not a plan"),
                        .plan.expected = version_seen(story, args[0])});
}
static void s_approved(struct story *story, char **args) {
    fleet_look(story->fleet);
    struct id goal = goal_of(story, args[0])->goal;
    struct str proposal = fleet_known(story->fleet, goal, &story->arena).proposal;
    ask(story, args[0], (struct signal){.kind = SIGNAL_PLAN_APPROVE, .body = proposal});
}
static void s_approved_as(struct story *story, char **args) {
    ask(story, args[0],
        (struct signal){.kind = SIGNAL_PLAN_APPROVE, .body = plan_of(story, args[1])});
}
static void s_rejected(struct story *story, char **args) {
    ask(story, args[0], (struct signal){.kind = SIGNAL_PLAN_REJECT});
}
static void s_review(struct story *story, char **args) {
    ask(story, args[0], (struct signal){.kind = SIGNAL_PLAN_REVIEW});
}

static void join(struct story *story, const char *node, const char *parent, const char *name,
                 enum tier tier) {
    ask(story, name,
        (struct signal){.kind = SIGNAL_WORK_ADD, .body = node_of(story, node, parent, tier)});
}
static void s_phase_joins(struct story *story, char **args) {
    join(story, args[0], NULL, args[1], TIER_PHASE);
}
static void s_task_joins(struct story *story, char **args) {
    join(story, args[0], args[1], args[2], TIER_TASK);
}
static void s_subtask_joins(struct story *story, char **args) {
    join(story, args[0], args[1], args[2], TIER_SUBTASK);
}

/* ---- work ---- */

static void work(struct story *story, char **args, struct signal signal) {
    signal.kind = SIGNAL_WORK_MOVE;
    signal.work.node = kept(story, args[0]);
    ask(story, args[1], signal);
}
static void s_started(struct story *story, char **args) {
    work(story, args, (struct signal){.to = NODE_IN_PROGRESS});
}
static void s_done(struct story *story, char **args) {
    work(story, args, (struct signal){.to = NODE_DONE});
}
static void s_blocked(struct story *story, char **args) {
    uint32_t by = BLOCKED_BY_OTHER;
    if (!names_find(&BLOCKED_NAMES, str_of(args[2]), &by))
        fails(story, "nothing is blocked by \"%s\"", args[2]);
    work(story, args, (struct signal){.to = NODE_BLOCKED, .work.blocked = (enum blocked_by)by});
}
static void s_unblocked(struct story *story, char **args) {
    work(story, args, (struct signal){.to = NODE_QUEUED});
}
static void s_node_cancelled(struct story *story, char **args) {
    work(story, args, (struct signal){.to = NODE_CANCELLED});
}
static void s_set(struct story *story, char **args) {
    uint32_t to = NODE_TODO;
    if (!names_find(&NODE_STATUS_NAMES, str_of(args[2]), &to))
        fails(story, "\"%s\" is no status of a node", args[2]);
    work(story, args, (struct signal){.to = to, .work.override = 1});
}
static void s_no_node_status(struct story *story, char **args) {
    work(story, args, (struct signal){.to = NODE_STATUSES});
}
static void s_follows(struct story *story, char **args) {
    ask(story, args[1],
        (struct signal){.kind = SIGNAL_WORK_FOLLOW, .work.node = kept(story, args[0])});
}

static const struct sentence_row ROWS[] = {
    {"goal $", s_goal, SENTENCE_ASKS},
    {"goal $ with command", s_goal_command, SENTENCE_ASKS},
    {"$ is asked for again", s_asked_again, SENTENCE_ASKS},
    {"$ is asked again for what it was asked before that", s_before_again, SENTENCE_ASKS},
    {"host $ hears of $ that $", s_report, SENTENCE_HAPPENS},
    {"goal $ and a report on it in one batch", s_create_and_report, SENTENCE_HAPPENS},
    {"$ is paused", s_paused, SENTENCE_ASKS},
    {"$ is resumed", s_resumed, SENTENCE_ASKS},
    {"$ is opened again", s_resumed, SENTENCE_ASKS},
    {"$ is completed", s_completed, SENTENCE_ASKS},
    {"$ is cancelled", s_cancelled, SENTENCE_ASKS},
    {"$ is archived", s_archived, SENTENCE_ASKS},
    {"$ is given a status that there is not", s_no_status, SENTENCE_ASKS},
    {"$ is released", s_released, SENTENCE_ASKS},
    {"$ is called $", s_renamed, SENTENCE_ASKS},
    {"$ is planned as $", s_planned, SENTENCE_ASKS},
    {"$ is planned as $ for $", s_planned_why, SENTENCE_ASKS},
    {"$ is planned with bytes that are no plan", s_garbage, SENTENCE_ASKS},
    {"the proposed plan of $ is approved", s_approved, SENTENCE_ASKS},
    {"the proposed plan of $ is approved as $", s_approved_as, SENTENCE_ASKS},
    {"the proposed plan of $ is rejected", s_rejected, SENTENCE_ASKS},
    {"the plan of $ stands as it is", s_rejected, SENTENCE_ASKS},
    {"a review is requested of the plan of $", s_review, SENTENCE_ASKS},
    {"a phase $ joins $", s_phase_joins, SENTENCE_ASKS},
    {"a task $ joins $ of $", s_task_joins, SENTENCE_ASKS},
    {"a subtask $ joins $ of $", s_subtask_joins, SENTENCE_ASKS},
    {"$ of $ is started", s_started, SENTENCE_ASKS},
    {"$ of $ is done", s_done, SENTENCE_ASKS},
    {"$ of $ is blocked by $", s_blocked, SENTENCE_ASKS},
    {"$ of $ is unblocked", s_unblocked, SENTENCE_ASKS},
    {"$ of $ is cancelled", s_node_cancelled, SENTENCE_ASKS},
    {"$ of $ is set to $", s_set, SENTENCE_ASKS},
    {"$ of $ is given a status that there is not", s_no_node_status, SENTENCE_ASKS},
    {"$ of $ follows its children", s_follows, SENTENCE_ASKS},
};
const struct sentences STORY_GOAL = {ROWS, count_of(ROWS)};
