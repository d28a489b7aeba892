/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/graph.h"

/* ---- time: each node has a beginning and an end ----
 *
 * Vertex 2i is the beginning of nodes[i], 2i + 1 its end. A beginning comes after the beginning of the parent and after
 * the ends of the dependencies; a leaf ends its effort after it began, another node after its children. A node that is
 * over ended at 0 and delays nothing. Each vertex is computed once; sets of leaves are bit sets, so the total is O(N^2)
 * for N nodes. */

enum { NOWHERE = UINT32_MAX };

struct graph {
    const struct plan *plan;
    struct arena *arena;
    bool *leaf, *open, *seen;
    uint64_t *finish;  /* per vertex, in minutes from now */
    uint32_t *after;   /* the vertex that determines it */
    uint64_t **before; /* per vertex: the open leaves that come before it; NULL: none */
    uint32_t words;
};

static uint32_t place_of(const struct graph *g, const struct node *node) {
    return (uint32_t)(node - g->plan->nodes);
}

static uint64_t effort_of(const struct node *node) {
    return node->effort ? node->effort : EFFORT_UNKNOWN;
}

static void before_add(struct graph *g, uint32_t vertex, uint32_t from) {
    if (!g->before[from])
        return;
    if (!g->before[vertex])
        g->before[vertex] = arena_new(g->arena, uint64_t, g->words);
    for (uint32_t i = 0; i < g->words; i++)
        g->before[vertex][i] |= g->before[from][i];
}

static void request(struct graph *g, uint32_t vertex);

/* Ties go to the first one, so that the result is always the same. */
static void comes_after(struct graph *g, uint32_t vertex, uint32_t from) {
    request(g, from);
    before_add(g, vertex, from);
    if (g->after[vertex] == NOWHERE || g->finish[from] > g->finish[vertex]) {
        g->finish[vertex] = g->finish[from];
        g->after[vertex] = from;
    }
}

static void edges_of_begin(struct graph *g, uint32_t i) {
    const struct node *node = &g->plan->nodes[i], *parent = plan_parent(g->plan, node);
    if (parent)
        comes_after(g, 2 * i, 2 * place_of(g, parent));
    for (uint32_t k = 0; k < node->depend_count; k++) {
        uint32_t on = place_of(g, plan_node(g->plan, node->depends[k]));
        if (g->open[on])
            comes_after(g, 2 * i, 2 * on + 1);
    }
}

static void edges_of_end(struct graph *g, uint32_t i) {
    const struct node *node = &g->plan->nodes[i];
    comes_after(g, 2 * i + 1, 2 * i);
    if (g->leaf[i]) {
        g->finish[2 * i + 1] += effort_of(node);
        if (!g->before[2 * i + 1])
            g->before[2 * i + 1] = arena_new(g->arena, uint64_t, g->words);
        g->before[2 * i + 1][i / 64] |= 1ull << (i % 64);
        return;
    }
    for (uint32_t k = 0; k < g->plan->count; k++)
        if (g->open[k] && g->plan->nodes[k].parent == node->n + 1)
            comes_after(g, 2 * i + 1, 2 * k + 1);
}

/* A plan has no cycles, so this terminates; the recursion is at most two levels deep per node. */
static void request(struct graph *g, uint32_t vertex) {
    if (g->seen[vertex])
        return;
    g->seen[vertex] = true;
    g->after[vertex] = NOWHERE;
    if (vertex & 1)
        edges_of_end(g, vertex / 2);
    else
        edges_of_begin(g, vertex / 2);
}

static bool node_is_open(const struct plan *plan, const struct node *node) {
    bool open = !node->retired;
    for (; node && open; node = plan_parent(plan, node))
        open = !node_is_over(node);
    return open;
}

static struct graph graph_of(const struct plan *plan, struct arena *arena) {
    uint32_t count = plan->count;
    struct graph g = {.plan = plan, .arena = arena, .words = count / 64 + 1};
    g.leaf = arena_new(arena, bool, count);
    g.open = arena_new(arena, bool, count);
    g.seen = arena_new(arena, bool, 2 * count);
    g.finish = arena_new(arena, uint64_t, 2 * count);
    g.after = arena_new(arena, uint32_t, 2 * count);
    g.before = arena_new(arena, uint64_t *, 2 * count);
    for (uint32_t i = 0; i < count; i++) {
        g.leaf[i] = true;
        g.open[i] = node_is_open(plan, &plan->nodes[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct node *parent = plan_parent(plan, &plan->nodes[i]);
        if (parent && !plan->nodes[i].retired)
            g.leaf[place_of(&g, parent)] = false;
    }
    for (uint32_t i = 0; i < count; i++)
        if (g.open[i])
            request(&g, 2 * i + 1);
    return g;
}

/* ---- plan order ---- */

static const struct node *above_at(const struct plan *plan, const struct node *node,
                                   enum tier tier) {
    while (node->tier > tier)
        node = plan_parent(plan, node);
    return node;
}

/* Reading order: by phase, by task, by subtask. Two leaves differ at the tier of the higher one at the latest. */
static bool comes_first(const struct plan *plan, const struct node *a, const struct node *b) {
    for (int tier = TIER_PHASE; tier < TIERS; tier++) {
        const struct node *x = above_at(plan, a, (enum tier)tier),
                          *y = above_at(plan, b, (enum tier)tier);
        if (x != y)
            return x->place != y->place ? x->place < y->place : x->n < y->n;
    }
    return false;
}

/* ---- insights ---- */

static uint32_t latest_leaf(const struct graph *g) {
    uint32_t best = NOWHERE;
    for (uint32_t i = 0; i < g->plan->count; i++)
        if (g->open[i] && g->leaf[i] &&
            (best == NOWHERE || g->finish[2 * i + 1] > g->finish[2 * best + 1] ||
             (g->finish[2 * i + 1] == g->finish[2 * best + 1] &&
              comes_first(g->plan, &g->plan->nodes[i], &g->plan->nodes[best]))))
            best = i;
    return best;
}

/* Goes from the leaf that ends last back along what determines its beginning. */
static void path_find(const struct graph *g, struct graph_insights *ret) {
    uint32_t last = latest_leaf(g);
    ret->path = arena_new(g->arena, const struct node *, g->plan->count);
    if (last == NOWHERE)
        return;
    ret->path_minutes = g->finish[2 * last + 1];
    for (uint32_t vertex = 2 * last + 1; vertex != NOWHERE; vertex = g->after[vertex])
        if ((vertex & 1) && g->leaf[vertex / 2])
            ret->path[ret->path_count++] = &g->plan->nodes[vertex / 2];
    for (uint32_t i = 0; i < ret->path_count / 2; i++) {
        const struct node *first = ret->path[i];
        ret->path[i] = ret->path[ret->path_count - 1 - i];
        ret->path[ret->path_count - 1 - i] = first;
    }
}

/* The number of open nodes that cannot begin before each leaf is done. */
static uint32_t *waiting_count(const struct graph *g) {
    uint32_t *waiting = arena_new(g->arena, uint32_t, g->plan->count);
    for (uint32_t i = 0; i < g->plan->count; i++) {
        const uint64_t *before = g->open[i] ? g->before[2 * i] : NULL;
        for (uint32_t word = 0; before && word < g->words; word++)
            for (uint64_t bits = before[word]; bits; bits &= bits - 1)
                waiting[word * 64 + (uint32_t)__builtin_ctzll(bits)]++;
    }
    return waiting;
}

static void bottlenecks_find(const struct graph *g, const uint32_t *waiting,
                             struct graph_insights *ret) {
    ret->bottlenecks = arena_new(g->arena, struct graph_wait, g->plan->count);
    for (uint32_t i = 0; i < g->plan->count; i++) {
        struct graph_wait wait = {&g->plan->nodes[i], waiting[i]};
        uint32_t at = ret->bottleneck_count;
        if (wait.waiting == 0)
            continue;
        for (; at > 0; at--) {
            const struct graph_wait *one = &ret->bottlenecks[at - 1];
            if (one->waiting > wait.waiting ||
                (one->waiting == wait.waiting && comes_first(g->plan, one->node, wait.node)))
                break;
            ret->bottlenecks[at] = *one;
        }
        ret->bottlenecks[at] = wait;
        ret->bottleneck_count++;
    }
}

static void leaves_count(const struct graph *g, struct graph_insights *ret) {
    ret->parallel = arena_new(g->arena, const struct node *, g->plan->count);
    for (uint32_t i = 0; i < g->plan->count; i++) {
        const struct node *node = &g->plan->nodes[i];
        if (node->retired || !g->leaf[i])
            continue;
        ret->leaves[node->status]++;
        if (!g->open[i])
            continue;
        ret->work_minutes += effort_of(node);
        if (node->status == NODE_QUEUED || node->status == NODE_IN_PROGRESS)
            ret->parallel[ret->parallel_count++] = node;
    }
}

struct graph_insights graph_insights(const struct plan *plan, struct arena *arena) {
    struct graph g = graph_of(plan, arena);
    struct graph_insights insights = {0};
    path_find(&g, &insights);
    bottlenecks_find(&g, waiting_count(&g), &insights);
    leaves_count(&g, &insights);
    return insights;
}

/* ---- what to do next ---- */

static uint32_t priority_score(enum priority priority) {
    static const uint32_t SCORE[PRIORITIES] = {
        [PRIORITY_NORMAL] = SCORE_NORMAL,
        [PRIORITY_LOW] = SCORE_LOW,
        [PRIORITY_HIGH] = SCORE_HIGH,
        [PRIORITY_URGENT] = SCORE_URGENT,
    };
    return SCORE[priority];
}

static uint64_t minutes_since(int64_t then, int64_t now) {
    return then > 0 && then < now ? (uint64_t)(now - then) / 60000000u : 0;
}

static bool is_on(const struct graph_insights *insights, const struct node *node) {
    for (uint32_t i = 0; i < insights->path_count; i++)
        if (insights->path[i] == node)
            return true;
    return false;
}

static struct graph_pick pick_of(const struct graph_insights *insights, const struct node *node,
                                 uint32_t waiting, const struct goal *goal, int64_t now) {
    struct graph_pick pick = {.node = node, .waiting = waiting};
    uint32_t unblocks = waiting * SCORE_WAITING;
    pick.critical = is_on(insights, node) ? SCORE_CRITICAL : 0;
    pick.unblocks = unblocks < SCORE_WAITING_MOST ? unblocks : SCORE_WAITING_MOST;
    pick.priority = priority_score(goal->priority);
    pick.waited = minutes_since(node->times.queued_at, now);
    pick.score = pick.critical + pick.unblocks + pick.priority + pick.waited;
    return pick;
}

static void pick_insert(const struct plan *plan, struct graph_picks *picks,
                        struct graph_pick pick) {
    uint32_t at = picks->count++;
    for (; at > 0; at--) {
        const struct graph_pick *one = &picks->at[at - 1];
        if (one->score > pick.score ||
            (one->score == pick.score && comes_first(plan, one->node, pick.node)))
            break;
        picks->at[at] = *one;
    }
    picks->at[at] = pick;
}

struct graph_picks graph_recommend(const struct plan *plan, const struct goal *goal, int64_t now,
                                   struct arena *arena) {
    struct graph_picks picks = {arena_new(arena, struct graph_pick, plan->count), 0};
    if (goal->status != GOAL_ACTIVE || goal->quarantined)
        return picks;
    struct graph g = graph_of(plan, arena);
    struct graph_insights insights = {0};
    path_find(&g, &insights);
    const uint32_t *waiting = waiting_count(&g);
    for (uint32_t i = 0; i < plan->count; i++)
        if (g.open[i] && g.leaf[i] && plan->nodes[i].status == NODE_QUEUED)
            pick_insert(plan, &picks, pick_of(&insights, &plan->nodes[i], waiting[i], goal, now));
    return picks;
}
