/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the critical path, the bottlenecks and the recommendations of a plan. */
#include "play.h"

#include "core/plan/graph.h"

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

/* ---- a plan with known results ----
 *
 *   P1: A 60, B 120 after A, C 30 after A, D 60 after B and C      A B D: 240
 *   P2 after P1: E (unknown: 60), F 90                             E or F, after D
 *   P3: G 300, and H after G and E                                 G waits for nothing: 300
 *   the longest: A B D E H = 60 + 120 + 60 + 60 + 45 = 345; G H is 345 too, and comes later in the plan */
static const char PLAN[] =
    "P1 A/P1=1h B/P1:A=2h C/P1:A=30m D/P1:B,C=60 P2:P1 E/P2 F/P2=90m P3 G/P3=5h H/P3:G,E=45m";

static const char *path_text(const struct graph_insights *insights, struct arena *arena) {
    const char *text = "";
    for (uint32_t i = 0; i < insights->path_count; i++)
        text = arena_format(arena, "%s%s%s", text, i ? " " : "", insights->path[i]->id).at;
    return text;
}

static const char *waits_text(const struct graph_insights *insights, struct arena *arena) {
    const char *text = "";
    for (uint32_t i = 0; i < insights->bottleneck_count; i++)
        text = arena_format(arena, "%s%s%s=%u", text, i ? " " : "",
                            insights->bottlenecks[i].node->id, insights->bottlenecks[i].waiting)
                   .at;
    return text;
}

static const char *parallel_text(const struct graph_insights *insights, struct arena *arena) {
    const char *text = "";
    for (uint32_t i = 0; i < insights->parallel_count; i++)
        text = arena_format(arena, "%s%s%s", text, i ? " " : "", insights->parallel[i]->id).at;
    return text;
}

static void insights_are(struct play *p, uint64_t minutes, uint64_t work, const char *path,
                         const char *waits, const char *parallel) {
    struct arena arena = {0};
    struct graph_insights insights = graph_insights(&p->plan, &arena);
    text_is("critical path", path_text(&insights, &arena), path);
    text_is("bottlenecks", waits_text(&insights, &arena), waits);
    text_is("in parallel", parallel_text(&insights, &arena), parallel);
    assert_int_equal(insights.path_minutes, minutes);
    assert_int_equal(insights.work_minutes, work);
    arena_free(&arena);
}

static void test_the_critical_path_is_found(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, PLAN), ERROR_NONE);
    insights_are(p, 345, 765, "A B D E H", "A=7 B=5 C=5 D=4 E=1 G=1", "A G");
    struct arena arena = {0};
    struct graph_insights insights = graph_insights(&p->plan, &arena);
    assert_int_equal(insights.leaves[NODE_QUEUED], 2);
    assert_int_equal(insights.leaves[NODE_TODO], 6);
    arena_free(&arena);
    play_finish(p, "A");
    insights_are(p, 345, 705, "G H", "B=5 C=5 D=4 E=1 G=1",
                 "B C G"); /* now the other path is the longest */
    assert_int_equal(play_work(p, "C", NODE_IN_PROGRESS), ERROR_NONE);
    assert_int_equal(play_work(p, "C", NODE_BLOCKED), ERROR_NONE);
    insights_are(p, 345, 705, "G H", "B=5 C=5 D=4 E=1 G=1", "B G");
    assert_int_equal(play_override(p, "P1", NODE_DONE),
                     ERROR_NONE); /* the nodes below it are no longer work */
    insights_are(p, 345, 495, "G H", "E=1 G=1", "E F G");
    assert_int_equal(play_work(p, "G", NODE_CANCELLED), ERROR_NONE);
    insights_are(p, 105, 195, "E H", "E=1", "E F");
    play_finish(p, "E");
    play_finish(p, "F");
    assert_int_equal(play_override(p, "H", NODE_CANCELLED), ERROR_NONE);
    insights_are(p, 0, 0, "", "", "");
}

static void test_an_empty_plan_has_no_path(void **state) {
    (void)state;
    struct arena arena = {0};
    struct plan none = {0};
    struct goal goal = {0};
    struct graph_insights insights = graph_insights(&none, &arena);
    assert_int_equal(insights.path_count + insights.bottleneck_count + insights.parallel_count, 0);
    assert_int_equal(graph_recommend(&none, &goal, T0, &arena).count, 0);
    arena_free(&arena);
}

/* Tiers act like dependencies: a task that waits for a phase waits for everything in it. */
static void test_tiers_are_part_of_the_path(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, "P1 T1/P1 S1/T1=30m S2/T1=20m T2/P1:T1 S3/T2=10m P2:T2 T3/P2"),
                     ERROR_NONE);
    insights_are(p, 100, 120, "S1 S3 T3", "S1=4 S2=4 S3=2", "S1 S2");
    assert_int_equal(play_plan(p, "P1 T1/P1 S2/T1=20m T2/P1:T1 S3/T2=10m P2:T2 T3/P2"),
                     ERROR_NONE); /* S1 is left out */
    insights_are(p, 90, 90, "S2 S3 T3", "S2=4 S3=2", "S2");
}

/* ---- recommendations ---- */

static const char *picks_text(struct play *p, int64_t now, struct arena *arena) {
    struct graph_picks picks = graph_recommend(&p->plan, &p->goal, now, arena);
    const char *text = "";
    for (uint32_t i = 0; i < picks.count; i++) {
        const struct graph_pick *pick = &picks.at[i];
        assert_true(pick->score == pick->critical + pick->unblocks + pick->priority + pick->waited);
        text = arena_format(arena, "%s%s%s=%llu", text, i ? " " : "", pick->node->id,
                            (unsigned long long)pick->score)
                   .at;
    }
    return text;
}

static void picks_are(struct play *p, int64_t minutes_later, const char *expected) {
    struct arena arena = {0};
    text_is("next", picks_text(p, p->now + minutes_later * 60000000, &arena), expected);
    arena_free(&arena);
}

static void test_what_comes_next_is_ranked(void **state) {
    (void)state;
    struct play *p = &game;
    assert_int_equal(play_plan(p, PLAN), ERROR_NONE);
    picks_are(
        p, 0,
        "A=370 G=110"); /* 200 for the path, 70 for seven waiting nodes, 100 for normal priority */
    picks_are(p, 30, "A=400 G=140");
    play_finish(p, "A");
    picks_are(p, 0, "G=310 B=150 C=150"); /* in plan order where nothing else decides */
    assert_int_equal(play_work(p, "G", NODE_IN_PROGRESS), ERROR_NONE);
    picks_are(p, 0, "B=150 C=150"); /* G is in progress */
    assert_int_equal(play(p, (struct signal){.kind = SIGNAL_GOAL_UPDATE,
                                             .sender.by = WHO_HUMAN,
                                             .describe.priority = PRIORITY_URGENT}),
                     ERROR_NONE);
    picks_are(p, 0, "B=650 C=650");
    assert_int_equal(play_goal(p, GOAL_PAUSED, WHO_HUMAN, NULL), ERROR_NONE);
    picks_are(p, 0, ""); /* GOAL-11 */
    proof_passed("unit", "a plan with a known critical path, known bottlenecks and a known ranking",
                 "PLAN-29");
}

/* G-15: every ready node becomes first eventually, even against a stream of the most urgent nodes possible. */
static void test_nothing_starves(void **state) {
    (void)state;
    struct arena arena = {0};
    struct node old[2] = {{.n = 0, .id = "P", .status = NODE_QUEUED, .times.queued_at = T0},
                          {.n = 1, .id = "Q", .status = NODE_DONE}};
    struct node young[64];
    for (uint32_t i = 0; i < count_of(young); i++) {
        young[i] =
            (struct node){.n = i, .status = i ? NODE_TODO : NODE_QUEUED, .depend_count = i > 0};
        young[i].times.queued_at = i ? 0 : T0 + (int64_t)SCORE_MOST * 60000000;
        snprintf(young[i].id, sizeof young[i].id, "Y%u", i);
    }
    struct plan patient = {old, 2}, loud = {young, count_of(young)};
    struct goal low = {.priority = PRIORITY_LOW}, urgent = {.priority = PRIORITY_URGENT};
    for (int64_t later = 0; later <= 1; later++) {
        int64_t now = T0 + ((int64_t)SCORE_MOST + later - 1) * 60000000;
        struct graph_pick waited = graph_recommend(&patient, &low, now, &arena).at[0];
        young[0].times.queued_at = now; /* queued just now */
        struct graph_pick fresh = graph_recommend(&loud, &urgent, now, &arena).at[0];
        assert_int_equal(fresh.score, SCORE_MOST);
        /* the old one is alone in its plan, so it also gets the score of the critical path */
        assert_true(waited.score - SCORE_CRITICAL + (later ? 0 : 1) >= SCORE_MOST);
        assert_true(waited.score > fresh.score);
    }
    arena_free(&arena);
}

/* ---- against an independent computation ---- */

/* Computes the longest path by updating start times repeatedly until nothing changes. */
static uint64_t longest_slowly(const struct plan *plan) {
    static uint64_t begin[LIMIT_NODES], end[LIMIT_NODES];
    memset(begin, 0, sizeof begin);
    memset(end, 0, sizeof end);
    uint64_t longest = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < plan->count; i++) {
            const struct node *node = &plan->nodes[i];
            bool over = node->retired;
            for (const struct node *at = node; at; at = plan_parent(plan, at))
                over = over || node_is_over(at);
            if (over)
                continue;
            uint64_t from = node->parent ? begin[node->parent - 1] : 0;
            for (uint32_t k = 0; k < node->depend_count; k++)
                from = end[node->depends[k]] > from ? end[node->depends[k]] : from;
            uint64_t to = from;
            if (!plan_has_children(plan, node))
                to += node->effort ? node->effort : 60;
            for (uint32_t k = 0; k < plan->count; k++)
                if (plan->nodes[k].parent == node->n + 1 && end[k] > to)
                    to = end[k];
            moved = moved || begin[i] != from || end[i] != to;
            begin[i] = from;
            end[i] = to;
            longest = to > longest ? to : longest;
        }
    }
    return longest;
}

/* A random tree of n nodes, each depending on some earlier nodes: no cycles. */
static void plan_fill(struct plan *plan, uint32_t count, struct chance *chance) {
    plan->count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct node *node = &plan->nodes[i];
        const struct node *above = i ? &plan->nodes[chance_below(chance, i)] : NULL;
        bool phase = !above || above->tier == TIER_SUBTASK;
        *node = (struct node){.n = i,
                              .parent = phase ? 0 : above->n + 1,
                              .tier = phase ? TIER_PHASE : above->tier + 1,
                              .place = i,
                              .effort = chance_below(chance, 200),
                              .status = chance_in(chance, 5) ? NODE_DONE : NODE_QUEUED};
        snprintf(node->id, sizeof node->id, "N%u", i);
        for (uint32_t k = 0; k < 3 && i > 0; k++) {
            uint32_t on = chance_below(chance, i);
            if (!node_waits_for(node, on) &&
                (node->depend_count == 0 || on > node->depends[node->depend_count - 1]) &&
                !chance_in(chance, 3)) {
                node->depends[node->depend_count++] = on;
                struct arena arena = {0};
                struct plan so_far = {plan->nodes, i + 1};
                if (plan_circle(&so_far, &arena))
                    node->depend_count--;
                arena_free(&arena);
            }
        }
    }
}

static void test_the_path_is_the_longest_there_is(void **state) {
    (void)state;
    static struct node nodes[LIMIT_NODES];
    struct plan plan = {nodes, 0};
    struct chance chance = {29};
    struct arena arena = {0};
    for (int round = 0; round < 300; round++) {
        plan_fill(&plan, 1 + chance_below(&chance, 40), &chance);
        struct graph_insights insights = graph_insights(&plan, &arena);
        uint64_t sum = 0;
        for (uint32_t i = 0; i < insights.path_count; i++)
            sum += insights.path[i]->effort ? insights.path[i]->effort : EFFORT_UNKNOWN;
        check(insights.path_minutes == longest_slowly(&plan), "round %d", round);
        check(sum == insights.path_minutes, "round %d: the path is not as long as it says", round);
        arena_reset(&arena);
    }
    arena_free(&arena);
}

/* 1,024 nodes with as many dependencies as allowed: the work is bounded by the arena, and by finishing at all. */
static void test_the_largest_plan_is_looked_at(void **state) {
    (void)state;
    static struct node nodes[LIMIT_NODES];
    struct plan plan = {nodes, LIMIT_NODES};
    struct goal goal = {0};
    struct arena arena = {0};
    for (uint32_t i = 0; i < LIMIT_NODES; i++) {
        nodes[i] =
            (struct node){.n = i, .place = i, .effort = 1, .status = i ? NODE_TODO : NODE_QUEUED};
        snprintf(nodes[i].id, sizeof nodes[i].id, "N%u", i);
        for (uint32_t on = i > LIMIT_DEPENDS ? i - LIMIT_DEPENDS : 0; on < i; on++)
            nodes[i].depends[nodes[i].depend_count++] = on;
    }
    struct graph_insights insights = graph_insights(&plan, &arena);
    assert_int_equal(insights.path_count, LIMIT_NODES);
    assert_int_equal(insights.path_minutes, LIMIT_NODES);
    assert_int_equal(insights.bottlenecks[0].waiting, LIMIT_NODES - 1);
    assert_int_equal(insights.bottleneck_count, LIMIT_NODES - 1);
    assert_int_equal(graph_recommend(&plan, &goal, T0, &arena).count, 1);
    arena_free(&arena);
}

#define GAME(test) cmocka_unit_test_setup_teardown(test, game_begin, game_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        GAME(test_the_critical_path_is_found),
        GAME(test_an_empty_plan_has_no_path),
        GAME(test_tiers_are_part_of_the_path),
        GAME(test_what_comes_next_is_ranked),
        GAME(test_nothing_starves),
        GAME(test_the_path_is_the_longest_there_is),
        GAME(test_the_largest_plan_is_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
