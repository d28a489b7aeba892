/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the rules of plans: which transitions exist, what follows from them, who may make them, and what is refused. */
#include "play.h"

#include "core/deciding.h"
#include "core/step.h"

static struct play game;

static int game_begin(void **state) {
    (void)state;
    play_begin(&game);
    assert_int_equal(play_create(&game), ERROR_NONE);
    return 0;
}

static int game_end(void **state) {
    (void)state;
    play_end(&game);
    return 0;
}

/* ---- PLAN-08, PLAN-09, PLAN-14: all 36 pairs ---- */

/* The result of a request: o done, n nothing to do, c conflict, i invalid, u not allowed. A column for each requested
 * status: todo queued in_progress blocked done cancelled. */
struct transition {
    const char *name;
    enum who by;
    uint32_t override;
    const char *reason, *text;
    const char *pairs[NODE_STATUSES];
};

static const struct transition TRANSITIONS[] = {
    {"overseer",
     WHO_OVERSEER,
     0,
     "because",
     "commit 1a2b",
     {"ncccco", "cnooco", "ccnooo", NULL, "ccccnc", "cccccn"}},
    {"overseer without a reason",
     WHO_OVERSEER,
     0,
     NULL,
     "commit 1a2b",
     {"ncccci", "cnoico", "ccnioo", NULL, "ccccnc", "cccccn"}},
    {"overseer without evidence",
     WHO_OVERSEER,
     0,
     "because",
     NULL,
     {"ncccco", "cnooco", "ccnoio", NULL, "ccccnc", "cccccn"}},
    {"person",
     WHO_HUMAN,
     0,
     "because",
     NULL,
     {"ncccoo", "cnoooo", "ccnooo", NULL, "ccccnc", "cccccn"}},
    {"person without a reason",
     WHO_HUMAN,
     0,
     NULL,
     NULL,
     {"ncccii", "cnoiio", "ccniio", NULL, "ccccnc", "ccccin"}},
    {"person, override",
     WHO_HUMAN,
     1,
     "because",
     NULL,
     {"nooooo", "onoooo", "oonooo", "ooonoo", "oooono", "cccccc"}},
    {"overseer, override",
     WHO_OVERSEER,
     1,
     "because",
     NULL,
     {"nooooo", "onoooo", "oonooo", "ooonoo", "oooono", "cccccc"}},
    {"override without a reason",
     WHO_HUMAN,
     1,
     NULL,
     "commit 1a2b",
     {"iiiiii", "iiiiii", "iiiiii", "iiiiii", "iiiiii", "iiiiii"}},
    {"agent",
     WHO_AGENT,
     0,
     "because",
     "commit 1a2b",
     {"uuuuuu", "uuuuuu", "uuuuuu", "uuuuuu", "uuuuuu", "uuuuuu"}},
    {"agent, override",
     WHO_AGENT,
     1,
     "because",
     "commit 1a2b",
     {"uuuuuu", "uuuuuu", "uuuuuu", "uuuuuu", "uuuuuu", "uuuuuu"}},
};

/* A blocked node, by the same table: it may become cancelled or queued, and done by a person's override. */
static const char *blocked_row(const struct transition *wanted) {
    if (wanted->by == WHO_HUMAN)
        return wanted->reason ? "cocnoo" : "cocnio";
    return "cocnco";
}

/* Makes a leaf N in this status; for todo, N depends on M. */
static void leaf_in(struct play *p, enum node_status status) {
    play_begin(p);
    assert_int_equal(play_create(p), ERROR_NONE);
    assert_int_equal(play_plan(p, status == NODE_TODO ? "P T/P M/T N/T:M" : "P T/P M/T N/T"),
                     ERROR_NONE);
    if (status != NODE_TODO && status != NODE_QUEUED)
        assert_int_equal(play_override(p, "N", status), ERROR_NONE);
    assert_int_equal(node_of(p, "N")->status, status);
}

static const enum error ERROR_OF['u' + 1] = {
    ['o'] = ERROR_NONE,    ['n'] = ERROR_NONE,         ['c'] = ERROR_CONFLICT,
    ['i'] = ERROR_INVALID, ['u'] = ERROR_UNAUTHORIZED,
};

/* A ready leaf is queued and an unready one is todo: a request for the other status moves it, and it settles back. */
static enum node_status settled(enum node_status from, enum node_status to) {
    if (to == NODE_TODO || to == NODE_QUEUED)
        return from == NODE_TODO ? NODE_TODO : NODE_QUEUED;
    return to;
}

static void pair_holds(const struct transition *wanted, enum node_status from, enum node_status to,
                       char expected) {
    struct play *p = &game;
    leaf_in(p, from);
    enum error error = play(p, (struct signal){.kind = SIGNAL_WORK_MOVE,
                                               .sender.by = wanted->by,
                                               .work.node = STR("N"),
                                               .to = to,
                                               .work.override = wanted->override,
                                               .reason = str_of(wanted->reason),
                                               .text = str_of(wanted->text)});
    const char *a = NODE_STATUS[from].name, *b = NODE_STATUS[to].name;
    check(error == ERROR_OF[(int)expected], "%s, %s to %s: %s", wanted->name, a, b,
          ERRORS[error].code);
    check((p->did.verdict == VERDICT_CHANGE) == (expected == 'o'), "%s, %s to %s", wanted->name, a,
          b);
    enum node_status after = expected == 'o' ? settled(from, to) : from;
    check(node_of(p, "N")->status == after, "%s, %s to %s: %s", wanted->name, a, b,
          NODE_STATUS[node_of(p, "N")->status].name);
    if (expected != 'o')
        return;
    struct evidence evidence = evidence_of(&p->did.records[0]);
    bool past = !node_status_may_become(from, to) || wanted->override ||
                (to == NODE_DONE && wanted->by == WHO_HUMAN);
    check(evidence.override == past, "%s, %s to %s", wanted->name, a, b);
    check(str_equal(evidence.from, str_of(a)) && str_equal(evidence.to, str_of(b)), "%s, %s to %s",
          wanted->name, a, b);
    check(!past || (str_equal(evidence.reason, str_of(wanted->reason)) &&
                    evidence.by == wanted->by && evidence.actor.len),
          "%s, %s to %s: who and why", wanted->name, a, b);
}

static void test_all_pairs_of_statuses(void **state) {
    (void)state;
    for (size_t w = 0; w < count_of(TRANSITIONS); w++)
        for (uint32_t from = 0; from < NODE_STATUSES; from++) {
            const struct transition *wanted = &TRANSITIONS[w];
            bool by_table = from == NODE_BLOCKED && !wanted->override && wanted->by != WHO_AGENT;
            const char *row = by_table ? blocked_row(wanted) : wanted->pairs[from];
            assert_int_equal(strlen(row), NODE_STATUSES);
            for (uint32_t to = 0; to < NODE_STATUSES; to++)
                pair_holds(wanted, from, to, row[to]);
        }
    leaf_in(&game, NODE_QUEUED);
    assert_int_equal(play_work(&game, "N", NODE_STATUSES), ERROR_INVALID);
    proof_passed("unit", "all 36 pairs of node statuses, for each who",
                 "PLAN-07 PLAN-08 PLAN-09 PLAN-15");
}

/* ---- PLAN-10, PLAN-11, PLAN-12, PLAN-16: rollups ---- */

static void test_the_last_subtask_finishes_everything_in_one_step(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 T1/P1 S1/T1 S2/T1 S3/T1 S4/T1"), ERROR_NONE);
    expect_records(
        p,
        "plan.created:plan.apply work.queued:plan.ready:S1 work.queued:plan.ready:S2 "
        "work.queued:plan.ready:S3 work.queued:plan.ready:S4 work.queued:plan.rollup:T1 work.queued:plan.rollup:P1");
    play_finish(p, "S1");
    assert_int_equal(plan_percent(&p->plan, node_of(p, "T1")), 25);
    assert_int_equal(p->goal.progress.percent, 25);
    states_are(p, "S1=done T1=in_progress P1=in_progress");
    play_finish(p, "S2");
    play_finish(p, "S3");
    assert_int_equal(p->goal.progress.percent, 75);
    assert_int_equal(p->goal.status, GOAL_ACTIVE);
    play_finish(p, "S4");
    expect_records(
        p, "work.done:work.done:S4 work.done:plan.rollup:T1 plan.updated:plan.task-completed:T1 "
           "work.done:plan.rollup:P1 goal.completed:plan.completed");
    states_are(p, "S4=done T1=done P1=done");
    assert_int_equal(p->goal.status, GOAL_COMPLETED);
    assert_true(p->goal.times.ended_at == p->now);
    assert_int_equal(p->goal.progress.percent, 100);
    assert_int_equal(recorded_of(p, RECORD_PLAN_UPDATED).plan.why, REASON_TASK_COMPLETED);
    proof_passed("unit", "the last subtask finishes task, phase and goal in one step",
                 "PLAN-10 PLAN-11 PLAN-16");
}

/* G-16: the status of a node as its children determine it; c is cancelled. */
static void test_children_make_their_parent(void **state) {
    (void)state;
    static const struct {
        const char *children; /* t todo, q queued, p in_progress, b blocked, d done, c cancelled */
        enum node_status parent;
    } ROWS[] = {
        {"t", NODE_TODO},         {"q", NODE_QUEUED},        {"p", NODE_IN_PROGRESS},
        {"b", NODE_BLOCKED},      {"d", NODE_DONE},          {"c", NODE_CANCELLED},
        {"tt", NODE_TODO},        {"tq", NODE_QUEUED},       {"tb", NODE_BLOCKED},
        {"qb", NODE_QUEUED},      {"pb", NODE_IN_PROGRESS},  {"db", NODE_BLOCKED},
        {"dt", NODE_IN_PROGRESS}, {"dq", NODE_IN_PROGRESS},  {"dc", NODE_DONE},
        {"cc", NODE_CANCELLED},   {"ct", NODE_TODO},         {"cq", NODE_QUEUED},
        {"cb", NODE_BLOCKED},     {"dcb", NODE_BLOCKED},     {"dpb", NODE_IN_PROGRESS},
        {"ddd", NODE_DONE},       {"dct", NODE_IN_PROGRESS},
    };
    for (size_t i = 0; i < count_of(ROWS); i++) {
        struct node nodes[8] = {{.n = 0, .id = "T", .tier = TIER_TASK}};
        struct plan plan = {nodes, 1};
        for (const char *c = ROWS[i].children; *c; c++, plan.count++)
            nodes[plan.count] =
                (struct node){.n = plan.count,
                              .parent = 1,
                              .tier = TIER_SUBTASK,
                              .status = (enum node_status)(strchr("tqpbdc", *c) - "tqpbdc")};
        nodes[plan.count] =
            (struct node){.n = plan.count, .parent = 1, .retired = 1, .status = NODE_DONE};
        plan.count++;
        check(plan_rolled_up(&plan, &nodes[0]) == ROWS[i].parent, "%s makes %s", ROWS[i].children,
              NODE_STATUS[plan_rolled_up(&plan, &nodes[0])].name);
    }
}

static void test_cancelled_children_do_not_count(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 T1/P1 S1/T1 S2/T1 T2/P1"), ERROR_NONE);
    assert_int_equal(play_work(p, "S1", NODE_CANCELLED), ERROR_NONE);
    play_finish(p, "S2");
    states_are(p, "T1=done P1=in_progress");
    assert_int_equal(p->goal.progress.percent, 50);
    assert_int_equal(play_work(p, "T2", NODE_CANCELLED), ERROR_NONE);
    states_are(p, "P1=done");
    assert_int_equal(p->goal.status, GOAL_COMPLETED);
    assert_int_equal(p->goal.progress.percent, 100);
}

/* Open nodes below are cancelled too; done nodes stay done. */
static void test_cancelling_goes_down_and_up(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 T1/P1 S1/T1 S2/T1 S3/T1:S2 P2"), ERROR_NONE);
    play_finish(p, "S1");
    assert_int_equal(play_work(p, "P1", NODE_CANCELLED), ERROR_NONE);
    expect_records(
        p,
        "work.cancelled:work.cancel:S2 work.cancelled:work.cancel:S3 work.cancelled:work.cancel:T1 "
        "work.cancelled:work.cancel:P1");
    states_are(p, "S1=done S2=cancelled S3=cancelled T1=cancelled P1=cancelled P2=queued");
    assert_int_equal(p->goal.status, GOAL_ACTIVE);
    assert_int_equal(play_add(p, "S9/T1", NULL), ERROR_INVALID_PLAN);
    refused(p, ERROR_INVALID_PLAN, "node S9: a node above it is cancelled");
    play_finish(p, "P2");
    assert_int_equal(p->goal.status, GOAL_COMPLETED);
}

/* An override that cancels does the same, so nothing below is left to work on. */
static void test_an_override_cancels_downwards_too(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 T1/P1 S1/T1 S2/T1 P2"), ERROR_NONE);
    assert_int_equal(play_work(p, "S1", NODE_IN_PROGRESS), ERROR_NONE);
    assert_int_equal(play_override(p, "P1", NODE_CANCELLED), ERROR_NONE);
    states_are(p, "S1=cancelled S2=cancelled T1=cancelled P1=cancelled");
    assert_int_equal(p->goal.progress.working, 0);
    assert_int_equal(node_of(p, "P1")->pinned, 0);
    assert_int_equal(recorded_of(p, RECORD_WORK_CANCELLED).override,
                     0); /* S1: cancelled as a consequence */
    assert_int_equal(evidence_of(&p->did.records[3]).override, 1);
}

/* If a done child is cancelled by an override or removed, only cancelled children may remain. */
static void test_a_done_parent_can_become_cancelled(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 T1/P1 S1/T1 S2/T1 P2"), ERROR_NONE);
    assert_int_equal(play_work(p, "S2", NODE_CANCELLED), ERROR_NONE);
    play_finish(p, "S1");
    states_are(p, "T1=done P1=done");
    assert_int_equal(play_override(p, "S1", NODE_CANCELLED), ERROR_NONE);
    states_are(p, "T1=cancelled P1=cancelled");
}

static void test_adding_work_opens_what_was_done(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 T1/P1 S1/T1 P2"), ERROR_NONE);
    play_finish(p, "S1");
    states_are(p, "T1=done P1=done");
    assert_true(node_of(p, "P1")->times.ended_at == p->now);
    assert_int_equal(play_add(p, "S2/T1", NULL), ERROR_NONE);
    expect_records(
        p,
        "plan.updated:plan.add:S2 work.queued:plan.ready:S2 work.started:plan.rollup:T1 work.started:plan.rollup:P1");
    states_are(p, "S1=done S2=queued T1=in_progress P1=in_progress");
    assert_true(node_of(p, "P1")->times.ended_at == 0);
    assert_int_equal(p->goal.progress.percent, 33);
    assert_int_equal(play_add(p, "T9/P1", NULL),
                     ERROR_NONE); /* the task has no subtasks yet: it is a leaf */
    states_are(p, "T9=queued");
    assert_int_equal(play_work(p, "T9", NODE_IN_PROGRESS), ERROR_NONE);
    assert_int_equal(play_add(p, "S9/T9", NULL), ERROR_NONE); /* now its status follows its child */
    states_are(p, "T9=queued S9=queued");
}

/* PLAN-14: it keeps the status that was set, until a caller lets it follow its children again. */
static void test_a_pinned_node_stays_until_it_is_let_go(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 T1/P1 S1/T1 S2/T1 P2:P1"), ERROR_NONE);
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_WORK_MOVE,
                                             .sender.by = WHO_HUMAN,
                                             .work.node = STR("T1"),
                                             .to = NODE_DONE}),
                     ERROR_INVALID);
    refused(p, ERROR_INVALID, "an override needs a reason");
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_WORK_MOVE,
                                             .sender.by = WHO_HUMAN,
                                             .work.node = STR("T1"),
                                             .to = NODE_DONE,
                                             .reason = STR("good enough")}),
                     ERROR_NONE);
    struct evidence evidence = recorded_of(p, RECORD_WORK_DONE);
    assert_true(str_equal(evidence.reason, STR("good enough")) &&
                str_equal(evidence.actor, STR("agnes")));
    assert_int_equal(evidence.override, 1);
    assert_int_equal(evidence.by, WHO_HUMAN);
    states_are(p, "T1=done S1=todo S2=todo P1=done P2=queued"); /* nothing below is left to do */
    assert_int_equal(node_of(p, "T1")->pinned, 1);
    assert_int_equal(p->goal.progress.percent, 66);
    assert_int_equal(play_work(p, "S1", NODE_CANCELLED), ERROR_INVALID);
    assert_int_equal(play_override(p, "S1", NODE_IN_PROGRESS), ERROR_NONE);
    states_are(p, "S1=in_progress T1=done P1=done");
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_WORK_FOLLOW,
                                             .sender.by = WHO_HUMAN,
                                             .work.node = STR("T1")}),
                     ERROR_NONE);
    expect_records(
        p, "work.follows:work.follow:T1 work.queued:plan.ready:S2 work.started:plan.rollup:T1 "
           "work.started:plan.rollup:P1 work.todo:plan.unready:P2");
    states_are(
        p,
        "T1=in_progress S1=in_progress S2=queued P1=in_progress P2=todo"); /* unready again: PLAN-35 */
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_WORK_FOLLOW,
                                             .sender.by = WHO_HUMAN,
                                             .work.node = STR("T1")}),
                     ERROR_NONE);
    assert_int_equal(p->did.verdict, VERDICT_NOTHING);
    assert_int_equal(play_work(p, "T1", NODE_BLOCKED), ERROR_CONFLICT);
    assert_int_equal(play_override(p, "T1", NODE_BLOCKED), ERROR_NONE);
    play_finish(p, "S2");
    states_are(p, "T1=blocked P1=blocked S2=done");
    proof_passed("unit", "an override has a reason and an actor, and stays until it is taken back",
                 "");
}

/* ---- PLAN-35: gates ---- */

static void test_a_diamond_opens_after_both_arms(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 A/P1 B/P1:A C/P1:A D/P1:B,C,B"), ERROR_NONE);
    assert_int_equal(node_of(p, "D")->depend_count, 2);
    states_are(p, "A=queued B=todo C=todo D=todo");
    assert_int_equal(play_work(p, "B", NODE_QUEUED), ERROR_CONFLICT);
    refused(p, ERROR_CONFLICT, "node B waits for what it depends on");
    assert_int_equal(play_work(p, "B", NODE_IN_PROGRESS), ERROR_CONFLICT);
    play_finish(p, "A");
    states_are(p, "B=queued C=queued D=todo");
    play_finish(p, "C");
    states_are(p, "D=todo");
    play_finish(p, "B");
    states_are(p, "D=queued");
    assert_true(node_of(p, "D")->times.queued_at == p->now);
    assert_int_equal(play_override(p, "A", NODE_IN_PROGRESS),
                     ERROR_NONE); /* later nodes are not undone */
    states_are(p, "A=in_progress B=done C=done D=queued");
    assert_int_equal(play_override(p, "C", NODE_IN_PROGRESS), ERROR_NONE);
    states_are(p, "D=todo");
    proof_passed("unit", "a diamond: the join is queued after both arms", "PLAN-35");
}

static void test_phases_wait_for_phases(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 T1/P1 P2:P1 T2/P2 S2/T2 T3/P2:T2 P3:T1"), ERROR_NONE);
    states_are(p, "T1=queued P2=todo T2=todo S2=todo T3=todo P3=todo");
    play_finish(p, "T1");
    states_are(p, "P1=done P2=queued T2=queued S2=queued T3=todo P3=queued");
    play_finish(p, "S2");
    states_are(p, "T2=done T3=queued P2=in_progress");
}

static void test_waiting_for_what_is_cancelled_is_asked_once(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 A/P1 B/P1:A C/P1 D/P1"), ERROR_NONE);
    assert_int_equal(play_work(p, "A", NODE_CANCELLED), ERROR_NONE);
    expect_records(p, "work.cancelled:work.cancel:A plan.review_needed:plan.waits-in-vain:B");
    assert_int_equal(recorded_of(p, RECORD_PLAN_REVIEW_NEEDED).plan.why,
                     REASON_DEPENDENCY_CANCELLED);
    assert_int_equal(p->goal.plan.review, 1);
    assert_int_equal(goal_display_state(&p->goal), DISPLAY_NEEDS_YOU);
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_PLAN_REJECT,
                                             .sender.by = WHO_HUMAN,
                                             .reason = STR("it stands")}),
                     ERROR_NONE);
    assert_int_equal(p->goal.plan.review, 0);
    play_finish(p, "C");
    assert_int_equal(p->goal.plan.review, 0); /* a person has already answered */
    assert_int_equal(play_work(p, "B", NODE_CANCELLED), ERROR_INVALID);
    play_finish(p, "D");
    assert_int_equal(p->goal.status, GOAL_ACTIVE);
    assert_int_equal(play_override(p, "B", NODE_CANCELLED), ERROR_NONE);
    assert_int_equal(p->goal.status, GOAL_COMPLETED);
}

static void test_a_plan_of_which_nothing_is_left_asks(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 P2"), ERROR_NONE);
    assert_int_equal(play_work(p, "P1", NODE_CANCELLED), ERROR_NONE);
    assert_int_equal(p->goal.plan.review, 0);
    assert_int_equal(play_work(p, "P2", NODE_CANCELLED), ERROR_NONE);
    expect_records(p, "work.cancelled:work.cancel:P2 plan.review_needed:plan.nothing-left");
    assert_int_equal(p->goal.status, GOAL_ACTIVE);
    assert_int_equal(p->goal.progress.percent, 0);
    assert_int_equal(goal_display_state(&p->goal), DISPLAY_NEEDS_YOU);
}

/* ---- PLAN-06, STORE-15: timestamps and reasons ---- */

static void test_stamps_are_set_once(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 S/P1 X/P1"), ERROR_NONE);
    int64_t planned = p->now;
    assert_int_equal(play_work(p, "S", NODE_IN_PROGRESS), ERROR_NONE);
    int64_t began = p->now;
    assert_int_equal(play_work(p, "S", NODE_BLOCKED), ERROR_NONE);
    assert_int_equal(play_work(p, "S", NODE_QUEUED), ERROR_NONE);
    assert_true(node_of(p, "S")->times.queued_at == p->now);
    assert_int_equal(play_work(p, "S", NODE_IN_PROGRESS), ERROR_NONE);
    assert_true(node_of(p, "S")->times.ended_at == 0);
    assert_int_equal(play_work(p, "S", NODE_DONE), ERROR_NONE);
    int64_t ended = p->now;
    assert_int_equal(play_work(p, "S", NODE_DONE), ERROR_NONE); /* nothing to do */
    assert_int_equal(play_work(p, "X", NODE_IN_PROGRESS), ERROR_NONE);
    const struct node *node = node_of(p, "S");
    assert_true(node->times.created_at == planned && node->times.started_at == began &&
                node->times.ended_at == ended && node->times.updated_at == ended);
    proof_passed("unit", "start and end are stamped once", "PLAN-06");
}

static const struct text_row *text_named(const struct decision *decision, const struct hash *hash) {
    for (uint32_t i = 0; i < decision->text_count; i++)
        if (hash_equal(&decision->texts[i].hash, hash))
            return &decision->texts[i];
    return NULL;
}

static void test_a_block_says_by_what(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 S/P1 X/P1"), ERROR_NONE);
    struct signal block = {.kind = SIGNAL_WORK_MOVE,
                           .sender.by = WHO_OVERSEER,
                           .work.node = STR("S"),
                           .to = NODE_BLOCKED,
                           .work.blocked = BLOCKED_BY_CREDENTIAL};
    assert_int_equal(play(p, block), ERROR_INVALID);
    refused(p, ERROR_INVALID, "name the blocker");
    block.reason = STR("needs OPENAI_API_KEY, see Settings");
    for (uint32_t override = 0; override <= 1; override++) {
        block.work.override = override;
        assert_int_equal(play(p, block), ERROR_NONE);
        const struct node *node = node_of(p, "S");
        assert_int_equal(node->blocked, BLOCKED_BY_CREDENTIAL);
        const struct text_row *text = text_named(&p->did, &node->why);
        check(text && str_equal(text->body, block.reason), "the words are not kept, %u", override);
        assert_int_equal(recorded_of(p, RECORD_WORK_BLOCKED).blocked, BLOCKED_BY_CREDENTIAL);
        assert_int_equal(play_work(p, "S", NODE_QUEUED), ERROR_NONE);
        struct hash none = {{0}};
        assert_int_equal(node_of(p, "S")->blocked, BLOCKED_BY_NOTHING);
        assert_true(hash_equal(&node_of(p, "S")->why, &none));
    }
    block.work.blocked = BLOCKED_BY_NOTHING;
    block.work.override = 0;
    assert_int_equal(play(p, block), ERROR_NONE);
    assert_int_equal(node_of(p, "S")->blocked, BLOCKED_BY_OTHER);
    assert_int_equal(recorded_of(p, RECORD_WORK_BLOCKED).blocked, BLOCKED_BY_OTHER);
    proof_passed("unit", "a block says by what, as a kind and in words", "STORE-15");
}

/* ---- PLAN-24: one fixture for each broken invariant ---- */

static struct str long_word(struct arena *arena, size_t len) {
    return (struct str){memset(arena_new(arena, char, len), 'x', len), len};
}

/* `line` with one change in the given row. */
static const struct fixture {
    const char *line, *why;
    uint32_t row;
    enum {
        AS_IT_IS,
        NO_NAME,
        NO_CRITERIA,
        EMPTY_CRITERION,
        LONG_NAME,
        LONG_CRITERION,
        TIER,
        NO_PARENT,
        TRASH
    } change;
} FIXTURES[] = {
    {"", "the plan has no nodes", 0, AS_IT_IS},
    {"P1", "it cannot be read", 0, TRASH},
    {"P1", "it cannot be read", 0, LONG_NAME},
    {"P1", "it cannot be read", 0, LONG_CRITERION},
    {"P1 P\xC3\xA4",
     "\"P\xC3\xA4\" is not an id: letters, digits, dots, dashes and underscores, at most 31", 0,
     AS_IT_IS},
    {"P1 T!/P1", "\"T!\" is not an id: letters, digits, dots, dashes and underscores, at most 31",
     0, AS_IT_IS},
    {"P1 T1/P1 T1/P1", "node T1: another node has the same id", 0, AS_IT_IS},
    {"P1", "node P1: name is missing, too long or not text (what it is called)", 0, NO_NAME},
    {"P1 T1/P1",
     "node T1: acceptanceCriteria is missing, too long or not text (how to check that it is done)",
     1, NO_CRITERIA},
    {"P1 T1/P1", "node T1: entry 1 of acceptanceCriteria is empty or too long", 1, EMPTY_CRITERION},
    {"P1 T1/P9", "node T1: its parentId is not a node of this plan", 1, TIER},
    {"P1 T1/P1", "node T1: its parentId is not a node of this plan", 1, NO_PARENT},
    {"P1 T1/P1 S1/T1", "node S1: the parent of a task must be a phase, that of a subtask a task", 2,
     TIER},
    {"P1 P2/P1", "node P2: a phase must not have a parentId", 1, TIER},
    {"P1:P9", "node P1: it depends on P9, which is not in this plan", 0, AS_IT_IS},
    {"P1:P1", "node P1: it depends on itself", 0, AS_IT_IS},
    {"P1:P2 P2:P1", "node P1: it waits for itself, through others", 0, AS_IT_IS},
    {"P1 A/P1:C B/P1:A C/P1:B", "node A: it waits for itself, through others", 0, AS_IT_IS},
    {"P1 T1/P1:P1", "node P1: it waits for itself, through others", 0, AS_IT_IS},
    {"P1:T1 T1/P1", "node P1: it waits for itself, through others", 0, AS_IT_IS},
    {"P1 T1/P1 P2:P1 T2/P2 X1/P1:T2", "node P1: it waits for itself, through others", 0, AS_IT_IS},
    {"P1 P2 P3 P4 P5 P6", "there are more than 5 phases", 0, AS_IT_IS},
    {"P1 A/P1 B/P1 C/P1 D/P1 E/P1 F/P1 G/P1 H/P1", "node P1: it has more than 7 children", 0,
     AS_IT_IS},
    {"P1 T/P1 A/T B/T C/T D/T E/T F/T G/T H/T", "node T: it has more than 7 children", 0, AS_IT_IS},
};

static struct str fixture_body(const struct fixture *fixture, struct arena *arena) {
    static const struct str EMPTY[1];
    struct plan_text text = plan_read_line(fixture->line, arena);
    struct plan_row *row = (struct plan_row *)(uintptr_t)text.rows.at + fixture->row;
    struct str *line = arena_new(arena, struct str, 1);
    *line = long_word(arena, LIMIT_LINE + 1);
    switch (fixture->change) {
    case AS_IT_IS: break;
    case NO_NAME: row->text.name = (struct str){0}; break;
    case NO_CRITERIA: row->text.criteria.count = 0; break;
    case EMPTY_CRITERION: row->text.criteria.at = EMPTY; break;
    case LONG_NAME: row->text.name = long_word(arena, LIMIT_NAME + 1); break;
    case LONG_CRITERION: row->text.criteria.at = line; break;
    case TIER: row->tier = row->tier == TIER_TASK ? TIER_PHASE : TIER_TASK; break;
    case NO_PARENT: row->parent = (struct str){0}; break;
    case TRASH: return STR("\x01\x03\x05zz");
    }
    if (fixture->change == TIER && str_equal(row->parent, STR("P9")))
        row->tier = TIER_TASK;
    return shape_encode(&PLAN_TEXT, &text, arena);
}

static void test_each_broken_invariant_has_its_sentence(void **state) {
    (void)state;
    struct play *p = &game;
    struct arena arena = {0};
    for (size_t i = 0; i < count_of(FIXTURES); i++) {
        enum error error = play(p, (struct signal){.kind = SIGNAL_PLAN_APPLY,
                                                   .sender.by = WHO_OVERSEER,
                                                   .body = fixture_body(&FIXTURES[i], &arena)});
        check(error == ERROR_INVALID_PLAN, "%s: %s", FIXTURES[i].line, ERRORS[error].code);
        refused(p, ERROR_INVALID_PLAN, FIXTURES[i].why);
        assert_int_equal(p->goal.plan.version, 0);
        assert_int_equal(p->plan.count, 0);
    }
    assert_int_equal(play_plan(p, "P1 P2 P3 P4 P5 P6"),
                     ERROR_NONE); /* a person has the wider limits */
    arena_free(&arena);
    proof_passed("unit", "each broken invariant of a plan has its sentence", "PLAN-03 PLAN-24");
}

/* The wider limits, reached and exceeded; and the limits over the life of a goal. */
static void test_growth_has_limits(void **state) {
    (void)state;
    struct play *p = &game;
    struct arena arena = {0};
    struct str line = STR("P0");
    for (int i = 1; i < LIMIT_PHASES; i++)
        line = arena_format(&arena, "%.*s P%d", STR_ARG(line), i);
    struct str more = arena_format(&arena, "%.*s Q", STR_ARG(line));
    assert_int_equal(play_plan(p, more.at), ERROR_INVALID_PLAN);
    refused(p, ERROR_INVALID_PLAN, "there are more than 32 phases");
    for (uint32_t round = 0; round < LIMIT_NODES / LIMIT_PHASES; round++) {
        line = STR("");
        for (uint32_t i = 0; i < LIMIT_PHASES; i++)
            line = arena_format(&arena, "%.*s%sN%u.%u", STR_ARG(line), i ? " " : "", round, i);
        check(play_plan(p, line.at) == ERROR_NONE, "round %u: %.*s", round, STR_ARG(p->did.why));
    }
    assert_int_equal(p->goal.plan.nodes_made, LIMIT_NODES);
    assert_int_equal(play_plan(p, "LAST"), ERROR_INVALID_PLAN);
    refused(p, ERROR_INVALID_PLAN, "a goal may have at most 1024 nodes over its lifetime");
    assert_int_equal(play_add(p, "LAST", NULL), ERROR_INVALID_PLAN);
    arena_free(&arena);
}

static void test_ids_are_not_used_twice_and_keep_their_tier(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 T1/P1 T2/P1 P2"), ERROR_NONE);
    assert_int_equal(play_plan(p, "P1 T2/P1 P2"), ERROR_NONE);
    assert_int_equal(node_of(p, "T1")->retired, 1);
    assert_int_equal(play_plan(p, "P1 T1/P1 T2/P1 P2"), ERROR_INVALID_PLAN);
    refused(p, ERROR_INVALID_PLAN,
            "node T1: this id belonged to a node that left the plan and cannot be reused");
    assert_int_equal(play_plan(p, "P1 T2 P2"), ERROR_INVALID_PLAN);
    refused(p, ERROR_INVALID_PLAN, "node T2: the tier of a node cannot change");
    assert_int_equal(play_add(p, "T1/P1", NULL), ERROR_CONFLICT);
    refused(p, ERROR_CONFLICT, "a node with this id already exists");
    assert_int_equal(play_work(p, "T1", NODE_IN_PROGRESS), ERROR_NOT_FOUND);
    assert_int_equal(p->goal.plan.version, 2);
}

/* ---- PLAN-17, PLAN-18, PLAN-25, PLAN-26, PLAN-32: replanning ---- */

static void test_a_replan_keeps_what_it_names(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 A/P1 B/P1 C/P1 D/P1"), ERROR_NONE);
    struct id plan_id = goal_plan_id(&p->goal);
    play_finish(p, "A");
    assert_int_equal(play_work(p, "B", NODE_IN_PROGRESS), ERROR_NONE);
    assert_int_equal(play_work(p, "C", NODE_IN_PROGRESS), ERROR_NONE);
    struct node a = *node_of(p, "A"), b = *node_of(p, "B");
    uint64_t version = p->goal.plan.version;
    assert_int_equal(play_plan_by(p, "P1 A/P1 B/P1:A D/P1 E/P1:D", WHO_OVERSEER, version),
                     ERROR_NONE);
    assert_int_equal(p->goal.plan.version, version + 1);
    struct id plan_id_again = goal_plan_id(&p->goal);
    assert_true(id_equal(plan_id, plan_id_again));
    struct evidence evidence = recorded_of(p, RECORD_PLAN_UPDATED);
    text_is("difference", arena_cstr(&p->arena, evidence.text),
            "added: E; removed: C; changed: B D");
    assert_int_equal(evidence.plan.why, REASON_REPLAN);
    assert_int_equal(evidence.plan.version, version + 1);
    assert_int_equal(evidence.by, WHO_OVERSEER);
    assert_true(str_equal(evidence.reason, STR("so that it gets done")));
    states_are(p, "A=done B=in_progress C=cancelled D=queued E=todo");
    assert_int_equal(node_of(p, "C")->retired, 1);
    assert_memory_equal(node_of(p, "A"), &a, sizeof a);
    assert_int_equal(node_of(p, "B")->n, b.n);
    assert_true(node_of(p, "B")->times.started_at == b.times.started_at &&
                node_of(p, "B")->times.updated_at == p->now);
    assert_int_equal(play_plan(p, "P1 A/P1 B/P1:A D/P1 E/P1:D"),
                     ERROR_NONE); /* the same plan again changes nothing in it */
    text_is("difference", arena_cstr(&p->arena, recorded_of(p, RECORD_PLAN_UPDATED).text),
            "added: ; removed: ; changed: ");
    assert_int_equal(p->did.part_count, 0);
    char text[ID_TEXT + 1];
    struct id back;
    id_format(plan_id, text);
    assert_true(id_parse(str_of(text), &back) && id_equal(back, plan_id));
    proof_passed("unit", "a replan keeps ids and states, and says what changed", "PLAN-17 PLAN-32");
}

/* A difference that does not fit into its record is stored separately, in full. */
static void test_a_long_difference_is_kept_apart(void **state) {
    (void)state;
    struct play *p = &game;
    struct arena arena = {0};
    struct str line = STR("P1");
    for (int i = 0; i < 60; i++)
        line = arena_format(&arena, "%.*s A-long-name-of-a-node-%03d/P1", STR_ARG(line), i);
    assert_int_equal(play_plan(p, line.at), ERROR_NONE);
    struct evidence evidence = recorded_of(p, RECORD_PLAN_CREATED);
    assert_int_equal(evidence.text.len, LIMIT_RECORD_BODY - 1024);
    const struct text_row *text = text_named(&p->did, &evidence.more);
    assert_non_null(text);
    assert_true(text->body.len > 60 * 26);
    assert_memory_equal(text->body.at, evidence.text.at, evidence.text.len);
    arena_free(&arena);
}

/* Nodes that are left out are removed from the tree before it is checked for cycles. */
static void test_what_is_left_out_makes_no_circle(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 T1/P1 T2/P1:P2 P2"), ERROR_NONE);
    check(play_plan(p, "P1 T1/P1 P2:P1") == ERROR_NONE, "%.*s", STR_ARG(p->did.why));
    states_are(p, "T2=cancelled P2=todo");
}

/* G-16: a parent whose children were removed is a leaf from then on. */
static void test_a_node_without_its_children_waits_like_any_other(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 T1/P1 S1/T1 T2/P1 S2/T2 T3/P1 S3/T3 T4/P1 S4/T4 P2"),
                     ERROR_NONE);
    assert_int_equal(play_work(p, "S1", NODE_BLOCKED), ERROR_NONE);
    assert_int_equal(play_work(p, "S2", NODE_IN_PROGRESS), ERROR_NONE);
    play_finish(p, "S3");
    assert_int_equal(play_override(p, "T4", NODE_BLOCKED), ERROR_NONE);
    states_are(p, "T1=blocked T2=in_progress T3=done T4=blocked");
    assert_int_equal(play_plan(p, "P1 T1/P1 T2/P1 T3/P1 T4/P1 P2"), ERROR_NONE);
    states_are(p, "T1=queued T2=queued T3=done T4=queued S1=cancelled S3=done");
    assert_int_equal(node_of(p, "T4")->pinned, 0);
    assert_int_equal(play_work(p, "T1", NODE_IN_PROGRESS), ERROR_NONE);
}

static void test_places_are_counted_among_siblings(void **state) {
    (void)state;
    struct play *p = &game;
    struct plan_row row;
    assert_int_equal(play_plan(p, "P1 T1/P1 T2/P1 P2 T3/P2"), ERROR_NONE);
    assert_int_equal(node_of(p, "P2")->place, 1);
    assert_int_equal(node_of(p, "T2")->place, 1);
    assert_int_equal(node_of(p, "T3")->place, 0);
    assert_int_equal(play_add(p, "T9/P1", &row), ERROR_NONE);
    assert_int_equal(node_of(p, "T9")->place, 2);
    assert_int_equal(play_add(p, "/P2", &row), ERROR_NONE);
    assert_int_equal(node_of(p, "T2.1")->place, 1);
    assert_int_equal(play_plan(p, "P1 T1/P1 T2/P1 T9/P1 P2 T3/P2 T2.1/P2"), ERROR_NONE);
    text_is("difference", arena_cstr(&p->arena, recorded_of(p, RECORD_PLAN_UPDATED).text),
            "added: ; removed: ; changed: T2.1"); /* its name changed */
}

static void test_ids_are_made_where_none_is_given(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_add(p, "", NULL), ERROR_NONE);
    expect_records(p, "plan.created:plan.add:P1 work.queued:plan.ready:P1");
    assert_int_equal(play_add(p, "", NULL), ERROR_NONE);
    assert_int_equal(play_add(p, "/P2", NULL), ERROR_NONE);
    assert_int_equal(play_add(p, "/T2.1", NULL), ERROR_NONE);
    assert_int_equal(play_add(p, "/T2.1", NULL), ERROR_NONE);
    states_are(p, "P1=queued P2=queued T2.1=queued S2.1.1=queued S2.1.2=queued");
    assert_int_equal(play_add(p, "T-a-very-long-name-of-a-task/P1", NULL), ERROR_NONE);
    assert_int_equal(play_add(p, "/T-a-very-long-name-of-a-task", NULL), ERROR_NONE);
    states_are(p, "S-6=queued");
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_WORK_ADD, .sender.by = WHO_HUMAN}),
                     ERROR_INVALID_PLAN);
    refused(p, ERROR_INVALID_PLAN, "exactly one node can be added at a time");
}

static void test_stale_versions_are_refused(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan_by(p, "P1", WHO_HUMAN, 1), ERROR_CONFLICT);
    refused(p, ERROR_CONFLICT, "the plan is at version 0, not 1");
    assert_int_equal(play_plan_by(p, "P1", WHO_HUMAN, 0), ERROR_NONE);
    for (uint64_t i = 1; i < 3; i++)
        assert_int_equal(play_plan_by(p, "P1 P2", WHO_HUMAN, i), ERROR_NONE);
    assert_int_equal(play_plan_by(p, "P1 P2 P3", WHO_HUMAN, 3), ERROR_NONE);
    assert_int_equal(play_plan_by(p, "P1 P2 P4", WHO_HUMAN, 3), ERROR_CONFLICT);
    assert_int_equal(p->goal.plan.version, 4);
    struct signal add = {.kind = SIGNAL_WORK_MOVE,
                         .sender.by = WHO_OVERSEER,
                         .work.node = STR("P1"),
                         .to = NODE_IN_PROGRESS,
                         .plan.expected = 3};
    assert_int_equal(play(p, add), ERROR_CONFLICT);
    add.plan.expected = 4;
    assert_int_equal(play(p, add), ERROR_NONE);
    add.kind = SIGNAL_WORK_FOLLOW;
    add.plan.expected = 3;
    assert_int_equal(play(p, add), ERROR_CONFLICT);
    proof_passed("unit", "two edits from version 3: one wins with 4", "PLAN-25");
}

static void test_what_does_not_exist_is_not_found(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1"), ERROR_NONE);
    assert_int_equal(play_work(p, "P9", NODE_IN_PROGRESS), ERROR_NOT_FOUND);
    refused(p, ERROR_NOT_FOUND, "the goal's plan has no node P9");
    p->exists = false;
    static const enum signal_kind KINDS[] = {
        SIGNAL_PLAN_APPLY,  SIGNAL_PLAN_REVIEW, SIGNAL_PLAN_APPROVE, SIGNAL_PLAN_REJECT,
        SIGNAL_WORK_ADD,    SIGNAL_WORK_MOVE,   SIGNAL_WORK_FOLLOW,  SIGNAL_GOAL_MOVE,
        SIGNAL_GOAL_UPDATE, SIGNAL_PART_PUT};
    for (size_t i = 0; i < count_of(KINDS); i++)
        assert_int_equal(play(p, (struct signal){.kind = KINDS[i], .sender.by = WHO_HUMAN}),
                         ERROR_NOT_FOUND);
    proof_passed("unit", "what does not exist is not found", "PLAN-26");
}

static void test_only_some_may_change_plans(void **state) {
    (void)state;
    struct play *p = &game;
    struct arena arena = {0};
    struct plan_text text = plan_read_line("P1", &arena);
    struct signal apply = {.kind = SIGNAL_PLAN_APPLY,
                           .sender.actor = STR("ci"),
                           .body = shape_encode(&PLAN_TEXT, &text, &arena)};
    static const struct {
        const char *named;
        bool may;
    } ROWS[] = {{"", false},  {"cix", false}, {"xci", false}, {"a cii b", false},
                {"ci", true}, {"a ci", true}, {"ci b", true}};
    for (size_t i = 0; i < count_of(ROWS); i++) {
        play_begin(p);
        assert_int_equal(play_create(p), ERROR_NONE);
        p->policy.plans.agents = str_of(ROWS[i].named);
        p->policy = policy_seal(p->policy);
        enum error error = play(p, apply);
        check(error == (ROWS[i].may ? ERROR_NONE : ERROR_UNAUTHORIZED), "\"%s\"", ROWS[i].named);
        assert_int_equal(p->goal.plan.version, ROWS[i].may);
    }
    struct signal agent = {.kind = SIGNAL_WORK_MOVE,
                           .sender.actor = STR("ci"),
                           .work.node = STR("P1"),
                           .to = NODE_IN_PROGRESS};
    assert_int_equal(play(p, agent), ERROR_NONE);
    agent.to = NODE_DONE;
    assert_int_equal(play(p, agent), ERROR_INVALID); /* PLAN-15: its word alone is not enough */
    agent.work.override = 1;
    agent.reason = STR("trust me");
    assert_int_equal(play(p, agent),
                     ERROR_UNAUTHORIZED); /* PLAN-14: only a person or the overseer may */
    agent.sender.actor = STR("agnes");
    agent.work.override = 0;
    assert_int_equal(play(p, agent), ERROR_UNAUTHORIZED);
    agent.kind = SIGNAL_WORK_FOLLOW;
    assert_int_equal(play(p, agent), ERROR_UNAUTHORIZED);
    agent.kind = SIGNAL_WORK_ADD;
    assert_int_equal(play(p, agent), ERROR_UNAUTHORIZED);
    agent.sender.actor = (struct str){0};
    p->policy = policy_seal((struct policy){.act_within = 1, .plans.agents = STR("")});
    assert_int_equal(play(p, agent), ERROR_UNAUTHORIZED);
    arena_free(&arena);
    proof_passed("unit", "only the overseer, a person or a named agent changes plans", "PLAN-23");
}

/* ---- PLAN-22, PLAN-33: proposals and reviews ---- */

static struct signal plan_signal(enum signal_kind kind, const char *line, uint64_t expected,
                                 struct arena *arena) {
    struct plan_text text = plan_read_line(line, arena);
    return (struct signal){.kind = kind,
                           .sender.by = kind == SIGNAL_PLAN_APPLY ? WHO_OVERSEER : WHO_HUMAN,
                           .plan.expected = expected,
                           .body = shape_encode(&PLAN_TEXT, &text, arena)};
}

static void test_a_proposal_waits_for_a_person(void **state) {
    (void)state;
    struct play *p = &game;
    struct arena arena = {0};
    p->policy.plans.approve = 1;
    p->policy = policy_seal(p->policy);
    struct signal first = plan_signal(SIGNAL_PLAN_APPLY, "P1 P2", 0, &arena);
    struct signal refined = plan_signal(SIGNAL_PLAN_APPLY, "P1 P2:P1", 0, &arena);
    struct signal yes = plan_signal(SIGNAL_PLAN_APPROVE, "P1 P2:P1", 0, &arena);
    assert_int_equal(play(p, plan_signal(SIGNAL_PLAN_APPLY, "P1:P1", 0, &arena)),
                     ERROR_INVALID_PLAN);
    assert_int_equal(play(p, plan_signal(SIGNAL_PLAN_APPLY, "P1:P2 P2:P1", 0, &arena)),
                     ERROR_INVALID_PLAN);
    refused(p, ERROR_INVALID_PLAN, "node P1: it waits for itself, through others");
    assert_int_equal(play(p, first), ERROR_NONE);
    expect_records(p, "plan.review_needed:plan.approval");
    struct evidence evidence = recorded_of(p, RECORD_PLAN_REVIEW_NEEDED);
    assert_int_equal(evidence.plan.why, REASON_APPROVAL);
    assert_non_null(text_named(&p->did, &evidence.more));
    assert_int_equal(p->goal.plan.version, 0);
    assert_int_equal(goal_display_state(&p->goal), DISPLAY_NEEDS_YOU);
    assert_int_equal(play(p, yes), ERROR_CONFLICT); /* not the proposal that waits */
    refused(p, ERROR_CONFLICT, "another plan waits for approval");
    assert_int_equal(play(p, refined), ERROR_NONE); /* a newer proposal replaces it */
    struct signal by_overseer = yes;
    by_overseer.sender.by = WHO_OVERSEER;
    assert_int_equal(play(p, by_overseer), ERROR_UNAUTHORIZED);
    assert_int_equal(play(p, yes), ERROR_NONE);
    expect_records(p,
                   "plan.approved:plan.approved plan.created:plan.apply work.queued:plan.ready:P1");
    assert_int_equal(recorded_of(p, RECORD_PLAN_CREATED).plan.why, REASON_INITIAL_CREATE);
    states_are(p, "P1=queued P2=todo");
    assert_false(goal_needs_person(&p->goal));
    assert_int_equal(play(p, yes), ERROR_CONFLICT);      /* no proposal waits any more */
    assert_int_equal(play_plan(p, "P1 P2"), ERROR_NONE); /* a person's plan needs no approval */
    arena_free(&arena);
}

static void test_a_proposal_is_rejected_or_grows_stale(void **state) {
    (void)state;
    struct play *p = &game;
    struct arena arena = {0};
    p->policy.plans.approve = 1;
    p->policy = policy_seal(p->policy);
    assert_int_equal(play_plan(p, "P1 P2"), ERROR_NONE);
    struct signal reject = {
        .kind = SIGNAL_PLAN_REJECT, .sender.by = WHO_OVERSEER, .reason = STR("no")};
    assert_int_equal(play(p, plan_signal(SIGNAL_PLAN_APPLY, "P1 P2 P3", 1, &arena)), ERROR_NONE);
    assert_int_equal(play(p, reject), ERROR_UNAUTHORIZED);
    reject.sender.by = WHO_HUMAN;
    assert_int_equal(play(p, reject), ERROR_NONE);
    expect_records(p, "plan.rejected:plan.rejected");
    assert_int_equal(p->goal.plan.version, 1);
    assert_false(goal_needs_person(&p->goal));
    assert_int_equal(play(p, reject), ERROR_NONE);
    assert_int_equal(p->did.verdict, VERDICT_NOTHING);
    assert_int_equal(play(p, plan_signal(SIGNAL_PLAN_APPLY, "P1 P2 P4", 1, &arena)), ERROR_NONE);
    assert_int_equal(play_add(p, "P5", NULL),
                     ERROR_NONE); /* the plan advances without the proposal */
    assert_int_equal(play(p, plan_signal(SIGNAL_PLAN_APPROVE, "P1 P2 P4", 0, &arena)),
                     ERROR_CONFLICT);
    refused(p, ERROR_CONFLICT, "the plan is at version 2, not 1");
    assert_int_equal(play(p, plan_signal(SIGNAL_PLAN_APPLY, "P1 P2 P5 P4", 2, &arena)), ERROR_NONE);
    assert_int_equal(play(p, plan_signal(SIGNAL_PLAN_APPROVE, "P1 P2 P5 P4", 0, &arena)),
                     ERROR_NONE);
    assert_int_equal(recorded_of(p, RECORD_PLAN_UPDATED).plan.why, REASON_REPLAN);
    assert_int_equal(p->goal.plan.version, 3);
    arena_free(&arena);
}

static void test_anybody_may_ask_for_a_review(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1"), ERROR_NONE);
    struct signal review = {.kind = SIGNAL_PLAN_REVIEW,
                            .sender.by = WHO_AGENT,
                            .work.node = STR("P1"),
                            .reason = STR("too large")};
    assert_int_equal(play(p, review), ERROR_NONE);
    expect_records(p, "plan.review_needed:plan.review:P1");
    assert_int_equal(recorded_of(p, RECORD_PLAN_REVIEW_NEEDED).plan.why, REASON_REVIEW);
    assert_int_equal(recorded_of(p, RECORD_PLAN_REVIEW_NEEDED).by, WHO_AGENT);
    review.plan.why = REASON_GUARD_VIOLATION;
    assert_int_equal(play(p, review), ERROR_NONE); /* the person is asked only once */
    assert_int_equal(p->did.verdict, VERDICT_NOTHING);
    play_finish(p, "P1");
    assert_int_equal(p->goal.status, GOAL_ACTIVE); /* a review is still unanswered */
    struct signal stands = {.kind = SIGNAL_PLAN_REJECT, .sender.by = WHO_HUMAN};
    assert_int_equal(play(p, stands), ERROR_NONE);
    expect_records(p, "plan.rejected:plan.rejected goal.completed:plan.completed");
    assert_int_equal(play(p, review), ERROR_NONE);
    assert_int_equal(p->did.verdict, VERDICT_NOTHING); /* the goal is over */
    play_begin(p);
    assert_int_equal(play_create(p), ERROR_NONE);
    assert_int_equal(play(p, review), ERROR_NONE);
    assert_int_equal(recorded_of(p, RECORD_PLAN_REVIEW_NEEDED).plan.why, REASON_GUARD_VIOLATION);
    assert_int_equal(play_plan(p, "P1"), ERROR_NONE); /* a new plan answers it */
    assert_int_equal(p->goal.plan.review, 0);
    assert_int_equal(p->written[RECORD_PLAN_CREATED], 1);
    proof_passed("unit", "one scenario for each type of plan record", "PLAN-22");
}

/* ---- PLAN-19: records that cannot be written ---- */

struct local_answer {
    enum record_type type;
    struct evidence evidence;
};

static void tell(void *with) {
    struct local_answer *telling = with;
    struct arena arena = {0};
    struct world world = {0};
    struct signal signal = {.kind = SIGNAL_PLAN_APPLY, .at = T0};
    struct policy policy = policy_of(1);
    struct decision decision = {0};
    struct deciding d = {.world = &world,
                         .signal = &signal,
                         .policy = &policy,
                         .out = &arena,
                         .decision = &decision};
    decide_record(&d, telling->type, telling->evidence);
    arena_free(&arena);
}

static void test_no_plan_record_lacks_its_meta(void **state) {
    (void)state;
    struct crash_guard_report report;
    for (enum record_type type = RECORD_PLAN_CREATED; type <= RECORD_PLAN_REJECTED; type++) {
        bool of_version = type == RECORD_PLAN_CREATED || type == RECORD_PLAN_UPDATED;
        struct local_answer whole = {
            type, {.rule = STR("r"), .plan.why = REASON_REPLAN, .plan.version = 1}};
        struct local_answer no_reason = whole, no_version = whole;
        no_reason.evidence.plan.why = REASON_NONE;
        no_version.evidence.plan.version = 0;
        assert_int_equal(crash_guard_run(tell, &whole, &report), CRASH_GUARD_WHOLE);
        assert_int_equal(crash_guard_run(tell, &no_reason, &report), CRASH_GUARD_BROKEN);
        assert_non_null(strstr(report.why, "plan_record_is_whole"));
        assert_int_equal(crash_guard_run(tell, &no_version, &report),
                         of_version ? CRASH_GUARD_BROKEN : CRASH_GUARD_WHOLE);
    }
    static const char *const WHY[] = {"initial_create", "replan",     "guard_violation", "spawn",
                                      "task_completed", "human_edit", "review"};
    static const char *const WHOS_NAMED[] = {"overseer", "agent", "human"};
    uint32_t value;
    for (size_t i = 0; i < count_of(WHY); i++)
        check(names_find(&REASON_NAMES, str_of(WHY[i]), &value), "%s", WHY[i]);
    for (size_t i = 0; i < count_of(WHOS_NAMED); i++)
        check(names_find(&WHO_NAMES, str_of(WHOS_NAMED[i]), &value), "%s", WHOS_NAMED[i]);
    assert_int_equal(WHO_NAMES.count, count_of(WHOS_NAMED));
    proof_passed("unit", "a plan record that lacks its version or reason is not written",
                 "PLAN-19");
}

/* A caller's texts never make a record too large or unreadable, however they got here. */
static void test_long_words_do_not_break_a_record(void **state) {
    (void)state;
    struct play *p = &game;
    struct arena arena = {0};
    assert_int_equal(play_plan(p, "P1 S/P1"), ERROR_NONE);
    struct str words = long_word(&arena, 4000);
    const struct signal signals[] = {
        {.kind = SIGNAL_PLAN_REVIEW,
         .work.node = words,
         .reason = words,
         .sender.actor = words,
         .sender.trace = words},
        {.kind = SIGNAL_WORK_MOVE,
         .sender.by = WHO_OVERSEER,
         .work.node = STR("S"),
         .to = NODE_BLOCKED,
         .reason = words,
         .text = words,
         .sender.actor = words,
         .sender.trace = words},
        {.kind = SIGNAL_WORK_MOVE,
         .sender.by = WHO_HUMAN,
         .work.node = STR("S"),
         .to = NODE_DONE,
         .work.override = 1,
         .reason = words,
         .text = words,
         .sender.actor = words,
         .sender.trace = words},
        {.kind = SIGNAL_GOAL_MOVE,
         .sender.by = WHO_HUMAN,
         .to = GOAL_CANCELLED,
         .reason = words,
         .sender.actor = words,
         .sender.trace = words},
    };
    for (size_t i = 0; i < count_of(signals); i++) {
        struct signal signal = signals[i];
        signal.at = p->now;
        struct stepping s = {.world = {.goal = &p->goal, .live = &p->live},
                             .signal = &signal,
                             .policy = p->policy,
                             .arena = &arena};
        check(step_guarded(&s) == CRASH_GUARD_WHOLE, "signal %zu: %s", i, s.report.why);
        assert_int_equal(s.decision.verdict, VERDICT_CHANGE);
        change_is_whole("long words", &p->goal, &signal, &p->policy, &s.decision);
    }
    struct signal unknown = {
        .kind = SIGNAL_WORK_MOVE, .sender.by = WHO_OVERSEER, .work.node = words, .at = p->now};
    struct stepping s = {.world = {.goal = &p->goal, .live = &p->live},
                         .signal = &unknown,
                         .policy = p->policy,
                         .arena = &arena};
    assert_int_equal(step_guarded(&s), CRASH_GUARD_WHOLE);
    assert_int_equal(s.decision.error, ERROR_NOT_FOUND);
    assert_true(s.decision.why.len < LIMIT_WHY);
    arena_free(&arena);
}

/* ---- plans while a goal is not open ---- */

static void test_only_an_open_goal_is_planned(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 P2"), ERROR_NONE);
    assert_int_equal(play_goal(p, GOAL_PAUSED, WHO_HUMAN, NULL), ERROR_NONE);
    assert_int_equal(play_plan(p, "P1 P2 P3"), ERROR_NONE); /* a paused goal can still be planned */
    play_finish(p, "P1");
    assert_int_equal(play_goal(p, GOAL_CANCELLED, WHO_HUMAN, NULL), ERROR_NONE);
    states_are(p, "P1=done P2=queued P3=queued"); /* the plan is unchanged */
    assert_int_equal(play_plan(p, "P1"), ERROR_CONFLICT);
    refused(p, ERROR_CONFLICT, "the goal is cancelled; only an open goal's plan changes");
    assert_int_equal(play_add(p, "P9", NULL), ERROR_CONFLICT);
    assert_int_equal(play_work(p, "P2", NODE_IN_PROGRESS), ERROR_CONFLICT);
    refused(p, ERROR_CONFLICT, "the goal is cancelled; its nodes can no longer change");
}

/* C-14, PLAN-02, PLAN-05, PLAN-30: the texts of a node are stored by hash. */
static void test_the_words_of_a_node_are_kept(void **state) {
    (void)state;
    struct play *p = &game;
    struct arena arena = {0};
    struct plan_text text = plan_read_line(
        "P1 T1/P1 S1/T1=90m S2/T1=2h S3/T1=3d S4/T1=45 S5/T1=soon S6/T1=1.5h", &arena);
    struct plan_row *rows = (struct plan_row *)(uintptr_t)text.rows.at;
    static const struct str SOME[] = {{"cc", 2}, {"make", 4}};
    rows[2].text.objective = STR("to see");
    rows[2].text.outcome = STR("it is seen");
    rows[2].text.tools = (struct texts){SOME, 2};
    rows[2].text.scope_paths = (struct texts){SOME, 1};
    rows[2].text.agent = STR("agent-7");
    rows[2].text.risk = RISK_HIGH;
    rows[2].text.artifacts = (struct rows){&(struct artifact){.path = STR("/made")}, 1};
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_PLAN_APPLY, /* VERIFY-03 */
                                             .sender.by = WHO_OVERSEER,
                                             .body = shape_encode(&PLAN_TEXT, &text, &arena)}),
                     ERROR_INVALID_PLAN);
    rows[2].text.artifacts = (struct rows){&(struct artifact){.path = STR("made")}, 1};
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_PLAN_APPLY,
                                             .sender.by = WHO_OVERSEER,
                                             .body = shape_encode(&PLAN_TEXT, &text, &arena)}),
                     ERROR_NONE);
    static const uint32_t MINUTES[] = {90, 120, 1440, 45, 0, 0};
    for (int i = 0; i < 6; i++) {
        char id[] = "S1";
        id[1] = (char)('1' + i);
        const struct node *node = node_of(p, id);
        struct node_text words = {0};
        assert_int_equal(node->effort, MINUTES[i]);
        assert_int_equal(node->contract.given, i == 0); /* VERIFY-01 */
        const struct text_row *row = text_named(&p->did, &node->text);
        assert_true(row && shape_decode_in(&NODE_TEXT, row->body, &arena, &words));
        assert_true(str_equal(words.name, str_of(id)));
        assert_true(str_equal(words.objective, i == 0 ? STR("to see") : str_of(id)));
        if (i == 0) {
            assert_true(str_equal(words.outcome, STR("it is seen")) &&
                        str_equal(words.agent, STR("agent-7")));
            assert_true(words.tools.count == 2 && words.scope_paths.count == 1 &&
                        words.risk == RISK_HIGH);
            assert_int_equal(words.artifacts.count, 1);
        }
    }
    arena_free(&arena);
}

/* ---- random: 200,000 operations, legal and not ---- */

enum { OPERATIONS = 200000, MOST_LIVE = 60, LAST_NODE = 900 };

struct walker {
    struct chance chance;
    struct arena arena; /* of one operation */
    char proposal[8192];
    size_t proposed;
    uint32_t changed, nothing, refused[ERROR_COUNT], written[RECORD_TYPES], moves, games;
};

static uint32_t live_count(const struct plan *plan) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->count; i++)
        count += !plan->nodes[i].retired;
    return count;
}

static struct plan_row *row_at(struct plan_row *rows, uint32_t count, struct str id) {
    for (uint32_t i = 0; i < count; i++)
        if (str_equal(rows[i].id, id))
            return &rows[i];
    return NULL;
}

/* Mostly the existing nodes, some left out, some moved to another parent. */
static uint32_t rows_kept(struct walker *w, const struct play *p, struct plan_row *rows) {
    static const struct str CRITERION = {"it works", 8};
    uint32_t count = 0, left_out = chance_in(&w->chance, 3) ? 6 : 40;
    for (uint32_t tier = 0; tier < TIERS; tier++)
        for (uint32_t i = 0; i < p->plan.count; i++) {
            const struct node *node = &p->plan.nodes[i];
            const struct node *parent = plan_parent(&p->plan, node);
            if (node->retired || node->tier != tier || chance_in(&w->chance, left_out) ||
                (parent && !row_at(rows, count, node_id(parent))))
                continue;
            struct str *on = arena_new(&w->arena, struct str, LIMIT_DEPENDS);
            rows[count] =
                (struct plan_row){.id = node_id(node),
                                  .parent = parent ? node_id(parent) : (struct str){0},
                                  .tier = tier,
                                  .depends_on = {on, 0},
                                  .text = {.name = node_id(node), .criteria = {&CRITERION, 1}}};
            for (uint32_t k = 0; k < node->depend_count; k++)
                if (!chance_in(&w->chance, 8))
                    on[rows[count].depends_on.count++] =
                        node_id(plan_node(&p->plan, node->depends[k]));
            if (parent && chance_in(&w->chance, 40))
                rows[count].parent = rows[chance_below(&w->chance, count)].id;
            count++;
        }
    return count;
}

static uint32_t rows_grow(struct walker *w, const struct play *p, struct plan_row *rows,
                          uint32_t count) {
    static const struct str CRITERION = {"it works", 8};
    uint32_t more = chance_below(&w->chance, count < 4 ? 12 : 4);
    for (uint32_t i = 0; i < more && count < MOST_LIVE; i++) {
        const struct plan_row *above = count ? &rows[chance_below(&w->chance, count)] : NULL;
        bool phase = !above || above->tier == TIER_SUBTASK || chance_in(&w->chance, 8);
        struct str id = arena_format(&w->arena, "N%u", p->goal.plan.nodes_made + i);
        rows[count++] =
            (struct plan_row){.id = chance_in(&w->chance, 150) ? STR("N1") : id,
                              .parent = phase ? (struct str){0} : above->id,
                              .tier = phase ? TIER_PHASE : above->tier + 1,
                              .depends_on = {arena_new(&w->arena, struct str, LIMIT_DEPENDS), 0},
                              .text = {.name = id, .criteria = {&CRITERION, 1}}};
    }
    return count;
}

/* Dependencies on removed nodes are dropped; sometimes a new one is added, mostly on an earlier node. */
static void rows_link(struct walker *w, struct plan_row *rows, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        struct str *on = (struct str *)(uintptr_t)rows[i].depends_on.at;
        uint32_t kept = 0;
        for (uint32_t k = 0; k < rows[i].depends_on.count; k++)
            if (row_at(rows, count, on[k]) || chance_in(&w->chance, 200))
                on[kept++] = on[k];
        if (kept < LIMIT_DEPENDS && i > 0 && chance_in(&w->chance, 6))
            on[kept++] = rows[chance_in(&w->chance, 10) ? chance_below(&w->chance, count)
                                                        : chance_below(&w->chance, i)]
                             .id;
        rows[i].depends_on.count = kept;
    }
}

static struct signal plan_pick(struct walker *w, const struct play *p) {
    struct plan_row *rows = arena_new(&w->arena, struct plan_row, MOST_LIVE + 16);
    uint32_t count = rows_grow(w, p, rows, rows_kept(w, p, rows));
    rows_link(w, rows, count);
    struct plan_text text = {{rows, count}};
    return (struct signal){.kind = SIGNAL_PLAN_APPLY,
                           .plan.expected = p->goal.plan.version - chance_in(&w->chance, 20),
                           .body = shape_encode(&PLAN_TEXT, &text, &w->arena)};
}

static struct signal add_pick(struct walker *w, const struct play *p) {
    struct plan_row *rows = arena_new(&w->arena, struct plan_row, MOST_LIVE + 16);
    uint32_t kept = live_count(&p->plan) < MOST_LIVE ? rows_kept(w, p, rows) : 0, count = kept;
    while (count == kept)
        count = rows_grow(w, p, rows, kept);
    rows_link(w, rows, kept + 1);
    struct plan_text text = {{&rows[kept], 1}};
    if (chance_in(&w->chance, 3))
        rows[kept].id = (struct str){0};
    return (struct signal){.kind = SIGNAL_WORK_ADD,
                           .body = shape_encode(&PLAN_TEXT, &text, &w->arena)};
}

static struct signal work_pick(struct walker *w, const struct play *p) {
    struct chance *chance = &w->chance;
    const struct node *node =
        p->plan.count ? &p->plan.nodes[chance_below(chance, p->plan.count)] : NULL;
    for (int i = 0; i < 6 && node &&
                    (node->retired || plan_has_children(&p->plan, node) || node_is_over(node));
         i++)
        node = &p->plan.nodes[chance_below(chance, p->plan.count)];
    struct signal signal = {.kind = chance_in(chance, 12) ? SIGNAL_WORK_FOLLOW : SIGNAL_WORK_MOVE,
                            .work.node = node && !chance_in(chance, 50) ? node_id(node) : STR("N1"),
                            .to = chance_below(chance, NODE_STATUSES + chance_in(chance, 50)),
                            .work.override = chance_in(chance, 6),
                            .work.blocked = chance_below(chance, BLOCKED_BYS),
                            .text = chance_in(chance, 8) ? (struct str){0} : STR("commit 1a2b")};
    static const enum node_status NEXT[NODE_STATUSES] = {
        NODE_CANCELLED, NODE_IN_PROGRESS, NODE_DONE, NODE_QUEUED, NODE_DONE, NODE_TODO};
    if (node && !signal.work.override && !chance_in(chance, 3))
        signal.to = NEXT[node->status];
    return signal;
}

static struct signal effect_pick(struct walker *w, const struct play *p) {
    static const enum signal_kind KINDS[] = {SIGNAL_EFFECT_CLAIM, SIGNAL_EFFECT_ENDED,
                                             SIGNAL_EFFECT_LOST,  SIGNAL_GOAL_DUE,
                                             SIGNAL_GOAL_RELEASE, SIGNAL_GOAL_RELEASE};
    struct signal signal = {.kind = KINDS[chance_below(&w->chance, count_of(KINDS))], .host = 7};
    if (p->goal.effects.open_count == 0)
        return signal;
    signal.effect = p->goal.effects.open[0].n;
    signal.exit = chance_below(&w->chance, 2);
    if (p->goal.effects.open[0].state == EFFECT_READY && signal.kind == SIGNAL_EFFECT_ENDED)
        signal.kind = SIGNAL_EFFECT_CLAIM;
    return signal;
}

static struct signal other_pick(struct walker *w, const struct play *p) {
    static const enum signal_kind KINDS[] = {
        SIGNAL_PLAN_REVIEW, SIGNAL_PLAN_REJECT, SIGNAL_GOAL_UPDATE, SIGNAL_GOAL_REPORT,
        SIGNAL_PART_PUT,    SIGNAL_GOAL_MOVE,   SIGNAL_GOAL_MOVE};
    static const uint32_t TO[] = {GOAL_PAUSED,    GOAL_ACTIVE,    GOAL_PAUSED,   GOAL_ACTIVE,
                                  GOAL_PAUSED,    GOAL_ACTIVE,    GOAL_PAUSED,   GOAL_ACTIVE,
                                  GOAL_COMPLETED, GOAL_CANCELLED, GOAL_ARCHIVED, GOAL_STATUSES};
    struct signal signal = {.kind = KINDS[chance_below(&w->chance, count_of(KINDS))]};
    struct run_row run = {.id = STR("R_1"), .status = STR("running")};
    if (signal.kind == SIGNAL_GOAL_MOVE)
        signal.to = TO[chance_below(&w->chance, count_of(TO))];
    if (signal.kind == SIGNAL_GOAL_UPDATE)
        signal.describe.priority = chance_below(&w->chance, PRIORITIES);
    if (signal.kind == SIGNAL_PART_PUT) {
        signal.to = PART_RUN;
        signal.effect = chance_below(&w->chance, p->goal.parts_made + 2);
        signal.body = shape_encode(&RUN_ROW, &run, &w->arena);
    }
    return signal;
}

static struct signal operation_pick(struct walker *w, const struct play *p) {
    uint32_t dice = chance_below(&w->chance, 100);
    struct signal signal = dice < 10   ? plan_pick(w, p)
                           : dice < 15 ? add_pick(w, p)
                           : dice < 80 ? work_pick(w, p)
                           : dice < 86 ? effect_pick(w, p)
                                       : other_pick(w, p);
    if (w->proposed && chance_in(&w->chance, 20))
        signal = (struct signal){.kind = SIGNAL_PLAN_APPROVE, .body = {w->proposal, w->proposed}};
    signal.sender.by = chance_in(&w->chance, 12) ? WHO_AGENT : 1 + chance_below(&w->chance, 2);
    if (!chance_in(&w->chance, 6))
        signal.reason = STR("because");
    if (chance_in(&w->chance, 3))
        signal.sender.actor = STR("ci");
    return signal;
}

static void walk_begin(struct walker *w, struct play *p) {
    for (uint32_t type = 0; type < RECORD_TYPES; type++)
        w->written[type] += p->written[type];
    w->moves += p->moves;
    w->games++;
    w->proposed = 0;
    play_begin(p);
    p->policy = policy_seal((struct policy){.act_within = 5000000,
                                            .plans.approve = chance_in(&w->chance, 4),
                                            .plans.agents = STR("ci")});
    struct signal create = {
        .kind = SIGNAL_GOAL_CREATE, .sender.by = WHO_HUMAN, .describe.title = STR("t"), .host = 7};
    if (chance_in(&w->chance, 2))
        create.describe.command = STR("make check");
    assert_int_equal(play(p, create), ERROR_NONE);
    p->sample = 8;
}

static void walk_step(struct walker *w, struct play *p) {
    static const struct hash NONE;
    bool over = p->goal.status >= GOAL_CANCELLED ||
                (p->goal.status == GOAL_COMPLETED && chance_in(&w->chance, 3));
    if ((over && chance_in(&w->chance, 3)) || p->goal.plan.nodes_made > LAST_NODE)
        walk_begin(w, p);
    if (chance_in(&w->chance, 400))
        p->era++;
    struct signal signal = operation_pick(w, p);
    if (signal.kind == SIGNAL_PLAN_APPLY && signal.body.len < sizeof w->proposal) {
        memcpy(w->proposal, signal.body.at, signal.body.len);
        w->proposed = signal.body.len;
    }
    enum error error = play(p, signal);
    w->refused[error] += p->did.verdict == VERDICT_REFUSE;
    w->changed += p->did.verdict == VERDICT_CHANGE;
    w->nothing += p->did.verdict == VERDICT_NOTHING;
    if (hash_equal(&p->goal.plan.proposal, &NONE) || signal.body.at != w->proposal)
        w->proposed = hash_equal(&p->goal.plan.proposal, &NONE) ? 0 : w->proposed;
}

static void test_chance_never_breaks_a_plan(void **state) {
    (void)state;
    static struct walker w;
    w = (struct walker){.chance = {20261115}};
    walk_begin(&w, &game);
    for (int i = 0; i < OPERATIONS; i++) {
        walk_step(&w, &game);
        arena_reset(&w.arena);
    }
    walk_begin(&w, &game);
    arena_free(&w.arena);
    for (enum record_type type = RECORD_GOAL_CREATED; type <= RECORD_PART_PUT; type++)
        check(w.written[type] >= 10 || type == RECORD_GOAL_QUARANTINED, "%s came only %u times",
              name_of(&RECORD_NAMES, type), w.written[type]);
    static const enum error EACH[] = {ERROR_INVALID, ERROR_NOT_FOUND, ERROR_CONFLICT,
                                      ERROR_UNAUTHORIZED, ERROR_INVALID_PLAN};
    for (size_t i = 0; i < count_of(EACH); i++)
        check(w.refused[EACH[i]] > 100, "%s came only %u times", ERRORS[EACH[i]].code,
              w.refused[EACH[i]]);
    print_message("%u changes, %u moves of nodes, %u goals\n", w.changed, w.moves, w.games);
    assert_true(w.changed > OPERATIONS / 4 && w.moves > OPERATIONS / 4);
    proof_passed("unit", "200,000 random operations: records alone lead to the same plan",
                 "EVENT-04");
}

/* ---- a goal that is one task ---- */

static struct decision task_create(struct play *p, uint32_t level, uint64_t number,
                                   struct str task) {
    static struct signal create;
    create = (struct signal){.kind = SIGNAL_GOAL_CREATE,
                             .sender.by = WHO_HUMAN,
                             .goal = {{1, 2, 3}},
                             .at = T0,
                             .host = 7,
                             .number = number,
                             .describe = {.title = STR("fix login"), .task = task}};
    struct stepping s = {
        .world = {.level = level}, .signal = &create, .policy = p->policy, .arena = &p->arena};
    check(step_guarded(&s) == CRASH_GUARD_WHOLE, "%s", s.report.why);
    return s.decision;
}

static struct str task_rows(struct play *p, uint32_t count, struct plan_row row) {
    struct plan_row rows[2] = {row, row};
    struct plan_text text = {{rows, count}};
    return shape_encode(&PLAN_TEXT, &text, &p->arena);
}

/* batch.create and task.run: the plan has one task, called what the goal is called. */
static void test_a_goal_is_created_with_its_task(void **state) {
    (void)state;
    struct play *p = &game;
    static const struct str CRITERION = {"it works", 8};
    struct plan_row row = {.text = {.name = STR("fix login"),
                                    .objective = STR("Fix it."),
                                    .criteria = {&CRITERION, 1},
                                    .agent = STR("ada")}};
    struct decision did = task_create(p, LEVEL_TASK_BATCHES, 19, task_rows(p, 1, row));
    check(did.verdict == VERDICT_CHANGE && did.goal.plan.version == 1 && did.plan.count == 2,
          "%u nodes", did.plan.count);
    const struct node *phase = plan_find(&did.plan, STR("P19")),
                      *task = plan_find(&did.plan, STR("T19"));
    check(phase && task && plan_parent(&did.plan, task) == phase, "P19 and T19");
    check(task->status == NODE_QUEUED && strcmp(task->agent, "ada") == 0, "it waits for its agent");
    check(did.goal.kind.number == 19, "and so is the goal called");
    did = task_create(p, LEVEL_NAMES - 1, 19, task_rows(p, 1, row));
    check(did.verdict == VERDICT_CHANGE && plan_find(&did.plan, STR("T1")) != NULL,
          "a fleet that gives no numbers");
}

static void test_a_task_that_is_none_creates_nothing(void **state) {
    (void)state;
    struct play *p = &game;
    struct plan_row row = {.text.name = STR("fix login")}; /* without a criterion */
    static const struct str CRITERION = {"it works", 8};
    struct plan_row whole = {.text = {.name = STR("x"), .criteria = {&CRITERION, 1}}};
    struct str wrong[] = {STR("x"), task_rows(p, 0, row), task_rows(p, 1, row),
                          task_rows(p, 2, whole)};
    for (size_t i = 0; i < count_of(wrong); i++) {
        struct decision did = task_create(p, LEVEL_TASK_BATCHES, 1, wrong[i]);
        check(did.verdict == VERDICT_REFUSE && did.error == ERROR_INVALID_PLAN && did.why.len > 0,
              "%zu: %u", i, did.error);
        check(did.record_count == 0 && did.effect_count == 0, "%zu leaves something", i);
    }
}

#define GAME(test) cmocka_unit_test_setup_teardown(test, game_begin, game_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        GAME(test_all_pairs_of_statuses),
        GAME(test_the_last_subtask_finishes_everything_in_one_step),
        GAME(test_children_make_their_parent),
        GAME(test_cancelled_children_do_not_count),
        GAME(test_cancelling_goes_down_and_up),
        GAME(test_an_override_cancels_downwards_too),
        GAME(test_a_done_parent_can_become_cancelled),
        GAME(test_adding_work_opens_what_was_done),
        GAME(test_a_pinned_node_stays_until_it_is_let_go),
        GAME(test_a_diamond_opens_after_both_arms),
        GAME(test_phases_wait_for_phases),
        GAME(test_waiting_for_what_is_cancelled_is_asked_once),
        GAME(test_a_plan_of_which_nothing_is_left_asks),
        GAME(test_stamps_are_set_once),
        GAME(test_a_block_says_by_what),
        GAME(test_each_broken_invariant_has_its_sentence),
        GAME(test_growth_has_limits),
        GAME(test_ids_are_not_used_twice_and_keep_their_tier),
        GAME(test_a_replan_keeps_what_it_names),
        GAME(test_a_long_difference_is_kept_apart),
        GAME(test_what_is_left_out_makes_no_circle),
        GAME(test_a_node_without_its_children_waits_like_any_other),
        GAME(test_places_are_counted_among_siblings),
        GAME(test_ids_are_made_where_none_is_given),
        GAME(test_stale_versions_are_refused),
        GAME(test_what_does_not_exist_is_not_found),
        GAME(test_only_some_may_change_plans),
        GAME(test_a_proposal_waits_for_a_person),
        GAME(test_a_proposal_is_rejected_or_grows_stale),
        GAME(test_anybody_may_ask_for_a_review),
        GAME(test_no_plan_record_lacks_its_meta),
        GAME(test_long_words_do_not_break_a_record),
        GAME(test_only_an_open_goal_is_planned),
        GAME(test_the_words_of_a_node_are_kept),
        GAME(test_chance_never_breaks_a_plan),
        GAME(test_a_goal_is_created_with_its_task),
        GAME(test_a_task_that_is_none_creates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
