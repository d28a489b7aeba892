/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: their fields, lookup, roll-up and invariants. */
#include "model/plan.h"

/* ---- the fields ---- */

#define NAMED(name, type, number, of, member, cap, flags, names, text) \
    { name, type, number, FIELD_OF(of, member), cap, flags, names, text, 0, NULL }
#define LIST(name, number, of, member, cap, flags, most, text) \
    { name, FIELD_TEXTS, number, FIELD_OF(of, member), cap, flags, NULL, text, most, NULL }

/* The text of a node exists alone in the store and inside a row that is passed in: both use the same rows. */
#define WORDS(of, in) \
    NAMED("name", FIELD_TEXT, 16, of, in name, LIMIT_NAME, FIELD_REQUIRED, NULL, \
          "what it is called"), \
        NAMED("objective", FIELD_TEXT, 17, of, in objective, LIMIT_PROSE, 0, NULL, "its purpose"), \
        NAMED("expectedOutcome", FIELD_TEXT, 18, of, in outcome, LIMIT_PROSE, 0, NULL, \
              "the expected outcome"), \
        LIST("acceptanceCriteria", 19, of, in criteria, LIMIT_LINE, FIELD_REQUIRED, LIMIT_LINES, \
             "how to check that it is done"), \
        NAMED("definitionOfDone", FIELD_TEXT, 20, of, in definition_of_done, LIMIT_PROSE, 0, NULL, \
              "definition of done, in prose"), \
        NAMED("suggestedAgentId", FIELD_TEXT, 21, of, in agent, LIMIT_NAME, 0, NULL, \
              "the agent that should do it"), \
        NAMED("suggestedAgentType", FIELD_TEXT, 22, of, in agent_type, LIMIT_NAME, 0, NULL, \
              "the kind of agent that should do it"), \
        LIST("requiredTools", 23, of, in tools, LIMIT_NAME, 0, LIMIT_LINES, \
             "tools or capabilities it needs"), \
        NAMED("estimatedEffort", FIELD_TEXT, 24, of, in effort, LIMIT_TAG, 0, NULL, \
              "estimated effort: 30m, 2h, 3d"), \
        NAMED("riskLevel", FIELD_ENUM, 25, of, in risk, 0, 0, &RISK_NAMES, "low, med or high"), \
        LIST("scopePaths", 26, of, in scope_paths, LIMIT_NAME, 0, LIMIT_LINES, \
             "the only files that it may touch"), \
        LIST("toolsAllow", 27, of, in allow, LIMIT_NAME, 0, LIMIT_LINES, \
             "the only tools of its agent that it may use"), \
        LIST("toolsDeny", 28, of, in deny, LIMIT_NAME, 0, LIMIT_LINES, \
             "tools that it may not use"), \
        {"artifacts", \
         FIELD_ROWS, \
         29, \
         FIELD_OF(of, in artifacts), \
         0, \
         0, \
         NULL, \
         "files that must exist: path, json, minItems, requiredKeys, minBytes", \
         LIMIT_ARTIFACTS, \
         &ARTIFACT}, \
        NAMED("completionReport", FIELD_FLAG, 30, of, in completion_report, 0, 0, NULL, \
              "whether its agent is asked to report completion"), \
        NAMED("progressReporting", FIELD_FLAG, 31, of, in progress_reporting, 0, 0, NULL, \
              "whether its agent is asked to report progress"), \
        NAMED("requireCompletionReport", FIELD_FLAG, 32, of, in require_report, 0, 0, NULL, \
              "whether it is done only if report_completion is its agent's last tool call"), \
        NAMED( \
            "onFailure", FIELD_ENUM, 33, of, in on_failure, 0, 0, &ON_FAILURE_NAMES, \
            "when its checks fail: mend (its agent is told and continues), retry_once, escalate or " \
            "fail"), \
        NAMED("verificationTimeoutMs", FIELD_U32, 34, of, in check_within, 0, 0, NULL, \
              "time limit for checking its artifacts, in milliseconds; 0: 30000"), \
        NAMED("wants", FIELD_ENUM, 35, of, in wants, 0, 0, &WANTS_NAMES, \
              "change, or answer: its agent answers a question, and nothing lands")

static const struct field TEXT_FIELDS[] = {WORDS(node_text, )};
const struct shape NODE_TEXT = SHAPE_OF(node_text, "node_text", 1, TEXT_FIELDS);

static const struct field ROW_FIELDS[] = {
    NAMED("id", FIELD_TEXT, 1, plan_row, id, LIMIT_NODE_ID, 0, NULL, "its id, unique in the goal"),
    NAMED("parentId", FIELD_TEXT, 2, plan_row, parent, LIMIT_NODE_ID, 0, NULL,
          "id of its parent node"),
    NAMED("tier", FIELD_ENUM, 3, plan_row, tier, 0, 0, &TIER_NAMES, "phase, task or subtask"),
    LIST("dependsOn", 4, plan_row, depends_on, LIMIT_NODE_ID, 0, LIMIT_DEPENDS,
         "nodes that must be done before it"),
    WORDS(plan_row, text.)};
const struct shape PLAN_ROW = SHAPE_OF(plan_row, "plan_row", 1, ROW_FIELDS);

static const struct field PLAN_FIELDS[] = {{"nodes", FIELD_ROWS, 1, FIELD_OF(plan_text, rows), 0,
                                            FIELD_REQUIRED, NULL, "the nodes, parents first",
                                            LIMIT_NODES, &PLAN_ROW}};
const struct shape PLAN_TEXT = SHAPE_OF(plan_text, "plan", 1, PLAN_FIELDS);

static const struct field NODE_FIELDS[] = {
    NAMED("id", FIELD_NAME, 1, node, id, LIMIT_NODE_ID, 0, NULL, "its id, unique in the goal"),
    NAMED("parent", FIELD_U32, 2, node, parent, 0, FIELD_HIDDEN, NULL,
          "ordinal + 1 of its parent node; 0: a phase"),
    NAMED("tier", FIELD_ENUM, 3, node, tier, 0, 0, &TIER_NAMES, "phase, task or subtask"),
    NAMED("status", FIELD_ENUM, 4, node, status, 0, 0, &NODE_STATUS_NAMES, "its status"),
    NAMED("place", FIELD_U32, 5, node, place, 0, FIELD_HIDDEN, NULL, "order among its siblings"),
    NAMED("pinned", FIELD_FLAG, 6, node, pinned, 0, 0, NULL,
          "whether its status was set against its children"),
    NAMED("retired", FIELD_FLAG, 7, node, retired, 0, 0, NULL,
          "whether it is no longer in the plan"),
    NAMED("blockedBy", FIELD_ENUM, 8, node, blocked, 0, 0, &BLOCKED_NAMES, "what blocks it"),
    NAMED("effortMinutes", FIELD_U32, 9, node, effort, 0, 0, NULL,
          "estimated effort, in minutes; 0: unknown"),
    NAMED("createdAt", FIELD_TIME, 10, node, times.created_at, 0, 0, NULL, "time of its creation"),
    NAMED("updatedAt", FIELD_TIME, 11, node, times.updated_at, 0, 0, NULL,
          "time of its last change"),
    NAMED("startedAt", FIELD_TIME, 12, node, times.started_at, 0, 0, NULL,
          "time at which work on it began"),
    NAMED("endedAt", FIELD_TIME, 13, node, times.ended_at, 0, 0, NULL,
          "time at which it was done or cancelled"),
    NAMED("textHash", FIELD_HASH, 14, node, text, 0, FIELD_HIDDEN, NULL, "hash of its text"),
    NAMED("whyHash", FIELD_HASH, 15, node, why, 0, FIELD_HIDDEN, NULL,
          "hash of the text that explains blockedBy"),
    {"depends", FIELD_U32S, 16, FIELD_OF(node, depends), FIELD_OF(node, depend_count), FIELD_HIDDEN,
     NULL, "ordinals of its dependencies", LIMIT_DEPENDS, NULL},
    NAMED("queuedAt", FIELD_TIME, 17, node, times.queued_at, 0, 0, NULL,
          "time at which it last became ready"),
    NAMED("agentId", FIELD_NAME, 18, node, agent, LIMIT_AGENT, FIELD_HIDDEN, NULL,
          "the agent that should do it"),
    NAMED("role", FIELD_NAME, 19, node, role, LIMIT_AGENT, FIELD_HIDDEN, NULL,
          "the kind of agent that should do it"),
    NAMED("attempts", FIELD_U32, 20, node, attempts, 0, 0, NULL,
          "number of dispatches for it, by all agents"),
    NAMED("startHash", FIELD_HASH, 30, node, start, 0, FIELD_HIDDEN, NULL,
          "hash of the BEGINNING that it was started with"),
    NAMED("contract", FIELD_FLAG, 31, node, contract.given, 0, FIELD_HIDDEN, NULL,
          "whether its text says what is checked"),
    NAMED("completion", FIELD_U32, 32, node, result.completion, 0, FIELD_HIDDEN, NULL,
          "how it ended, as its agent reported: enum completion + 1; 0: not reported"),
    NAMED("confidence", FIELD_U32, 33, node, result.confidence, 0, FIELD_HIDDEN, NULL,
          "confidence of that report: enum confidence + 1; 0: not reported"),
    NAMED("reportHash", FIELD_HASH, 34, node, result.report, 0, FIELD_HIDDEN, NULL,
          "hash of the UPDATE that reported its end"),
    NAMED("proof", FIELD_ENUM, 35, node, result.proof, 0, FIELD_HIDDEN, &PROOF_NAMES,
          "what its status done is based on"),
    NAMED("landedHash", FIELD_HASH, 36, node, result.landed, 0, FIELD_HIDDEN, NULL,
          "hash of the place where it landed: a ref, a pull request"),
    NAMED("whenItFails", FIELD_ENUM, 37, node, contract.on_failure, 0, FIELD_HIDDEN,
          &ON_FAILURE_NAMES, "what follows if its checks fail"),
    NAMED("wantsReport", FIELD_FLAG, 38, node, contract.wants_report, 0, FIELD_HIDDEN, NULL,
          "whether its agent has to report its end"),
    NAMED("verdictHash", FIELD_HASH, 39, node, result.verdict, 0, FIELD_HIDDEN, NULL,
          "hash of its newest VERIFICATION"),
    NAMED("run", FIELD_U32, 40, node, run.effect, 0, FIELD_HIDDEN, NULL,
          "ordinal + 1 of the effect that started its newest run"),
    NAMED("runHost", FIELD_U32, 41, node, run.host, 0, 0, NULL,
          "the host of its newest run; 0: no run, or its end is known"),
    NAMED("orphanAfter", FIELD_INT, 42, node, run.orphan_after, 0, FIELD_HIDDEN, NULL,
          "microseconds from the end of its host's lease until that run is frozen"),
    NAMED("aloneAt", FIELD_TIME, 43, node, run.alone_at, 0, 0, NULL,
          "if that host is lost: time before which no other run starts; 0: not lost"),
    NAMED("lostRun", FIELD_U32, 44, node, run.lost, 0, FIELD_HIDDEN, NULL,
          "ordinal + 1 of the effect that started the newest run whose host was lost"),
    NAMED("wantsAnswer", FIELD_FLAG, 45, node, contract.answer, 0, FIELD_HIDDEN, NULL,
          "whether it wants an answer instead of a change"),
    NAMED("answerHash", FIELD_HASH, 46, node, result.answer, 0, FIELD_HIDDEN, NULL,
          "hash of its agent's answer"),
};
const struct shape NODE = SHAPE_OF(node, "node", 1, NODE_FIELDS);

/* ---- lookup ---- */

struct node *plan_node(const struct plan *plan, uint32_t n) {
    uint32_t low = 0, high = plan->count;
    if (n < plan->count && plan->nodes[n].n == n)
        return &plan->nodes[n]; /* the usual case, unless some nodes were left out */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (plan->nodes[middle].n == n)
            return &plan->nodes[middle];
        if (plan->nodes[middle].n < n)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

struct str node_id(const struct node *node) {
    return str_of(node->id);
}

struct node *plan_find(const struct plan *plan, struct str id) {
    if (id.len == 0 || id.len > LIMIT_NODE_ID)
        return NULL;
    for (uint32_t i = 0; i < plan->count; i++) {
        const char *name = plan->nodes[i].id; /* the last character differs most */
        if (name[id.len] == 0 && name[id.len - 1] == id.at[id.len - 1] &&
            memcmp(name, id.at, id.len) == 0)
            return &plan->nodes[i];
    }
    return NULL;
}

struct node *plan_parent(const struct plan *plan, const struct node *node) {
    return node->parent ? plan_node(plan, node->parent - 1) : NULL;
}

static bool is_child(const struct node *node, const struct node *of) {
    return node->parent == of->n + 1 && !node->retired;
}

bool plan_has_children(const struct plan *plan, const struct node *node) {
    for (uint32_t i = 0; node->tier != TIER_SUBTASK && i < plan->count; i++)
        if (is_child(&plan->nodes[i], node))
            return true;
    return false;
}

void node_contract_take(struct node *node, const struct node_text *text) {
    node->contract.answer = text->wants == WANTS_ANSWER;
    node->contract.given = text->artifacts.count > 0 || text->require_report;
    node->contract.wants_report = text->require_report;
    node->contract.on_failure = text->on_failure;
}

enum proof plan_proof(const struct plan *plan) {
    enum proof least = PROOF_NONE;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct node *node = &plan->nodes[i];
        if (node->retired || node->status != NODE_DONE || plan_has_children(plan, node))
            continue;
        enum proof proof = node->result.proof == PROOF_NONE ? PROOF_CLAIMED : node->result.proof;
        if (least == PROOF_NONE || proof < least)
            least = proof;
    }
    return least;
}

bool node_is_over(const struct node *node) {
    return node->status == NODE_DONE || node->status == NODE_CANCELLED;
}

bool node_waits_for(const struct node *node, uint32_t n) {
    for (uint32_t i = 0; i < node->depend_count; i++)
        if (node->depends[i] == n)
            return true;
    return false;
}

/* ---- rolling up ---- */

/* G-16, docs/decisions/0005: cancelled children do not count, unless there are no others. Open children decide: one in
 * progress, else one ready, else one blocked. A node with some children done and others not has begun. */
enum node_status plan_rolled_up(const struct plan *plan, const struct node *node) {
    uint32_t by[NODE_STATUSES] = {0}, count = 0;
    for (uint32_t i = 0; i < plan->count; i++)
        if (is_child(&plan->nodes[i], node)) {
            by[plan->nodes[i].status]++;
            count++;
        }
    must(count > 0);
    bool begun = by[NODE_DONE] > 0;
    if (by[NODE_CANCELLED] == count)
        return NODE_CANCELLED;
    if (by[NODE_DONE] + by[NODE_CANCELLED] == count)
        return NODE_DONE;
    if (by[NODE_IN_PROGRESS] > 0)
        return NODE_IN_PROGRESS;
    if (by[NODE_QUEUED] > 0)
        return begun ? NODE_IN_PROGRESS : NODE_QUEUED;
    if (by[NODE_BLOCKED] > 0)
        return NODE_BLOCKED;
    return begun ? NODE_IN_PROGRESS : NODE_TODO;
}

static bool dependencies_are_done(const struct plan *plan, const struct node *node) {
    for (uint32_t i = 0; i < node->depend_count; i++) {
        const struct node *on = plan_node(plan, node->depends[i]);
        if (!on || on->status != NODE_DONE)
            return false;
    }
    return true;
}

bool plan_is_ready(const struct plan *plan, const struct node *node) {
    if (!dependencies_are_done(plan, node))
        return false;
    for (const struct node *above = plan_parent(plan, node); above;
         above = plan_parent(plan, above))
        if (node_is_over(above) || !dependencies_are_done(plan, above))
            return false;
    return true;
}

/* ---- progress ---- */

static bool is_below(const struct plan *plan, const struct node *node, const struct node *above) {
    for (; node; node = plan_parent(plan, node))
        if (node == above)
            return true;
    return false;
}

/* A leaf that is cancelled, or below a cancelled node, does not count; a leaf below a node that is done by override
 * counts as done. */
static enum node_status leaf_counts_as(const struct plan *plan, const struct node *leaf) {
    enum node_status status = leaf->status;
    for (const struct node *at = leaf; at; at = plan_parent(plan, at)) {
        if (at->status == NODE_CANCELLED)
            return NODE_CANCELLED;
        if (at->status == NODE_DONE)
            status = NODE_DONE;
    }
    return status;
}

uint32_t plan_percent(const struct plan *plan, const struct node *node) {
    uint32_t done = 0, count = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct node *leaf = &plan->nodes[i];
        if (leaf->retired || (node && !is_below(plan, leaf, node)) || plan_has_children(plan, leaf))
            continue;
        enum node_status status = leaf_counts_as(plan, leaf);
        done += status == NODE_DONE;
        count += status != NODE_CANCELLED;
    }
    return count ? done * 100 / count : 0;
}

bool plan_is_done(const struct plan *plan) {
    bool some = false;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct node *node = &plan->nodes[i];
        if (node->retired || node->tier != TIER_PHASE || node->status == NODE_CANCELLED)
            continue;
        if (node->status != NODE_DONE)
            return false;
        some = true;
    }
    return some;
}

/* ---- invariants ---- */

static const char *node_fields_broken(const struct plan *plan, const struct node *node) {
    const struct node *parent = plan_parent(plan, node);
    if (node->tier >= TIERS || node->status >= NODE_STATUSES || node->blocked >= BLOCKED_BYS)
        return "a node's status is out of its table";
    if (node->id[0] == 0 || plan_find(plan, node_id(node)) != node)
        return "two nodes have one id, or one has none";
    if ((node->tier == TIER_PHASE) != (node->parent == 0) ||
        (node->parent && (!parent || parent->tier + 1 != node->tier)))
        return "a node hangs on the wrong tier";
    if ((node->status == NODE_BLOCKED) != (node->blocked != BLOCKED_BY_NOTHING) &&
        !plan_has_children(plan, node))
        return "a node is blocked by nothing, or not blocked and by something";
    if ((node->times.ended_at != 0) != node_is_over(node))
        return "a node has an end without being over, or is over without an end";
    if (node->retired && !node_is_over(node))
        return "a node that left the plan is still open";
    return NULL;
}

static const char *node_links_broken(const struct plan *plan, const struct node *node) {
    for (uint32_t i = 0; i < node->depend_count; i++) {
        const struct node *on = plan_node(plan, node->depends[i]);
        if (!on || on == node)
            return "a node depends on one that there is not, or on itself";
        if (i > 0 && node->depends[i] <= node->depends[i - 1])
            return "dependencies are out of order";
    }
    return NULL;
}

/* A queued leaf is ready, and a ready leaf is not left in todo; other nodes follow their children. */
static const char *node_status_broken(const struct plan *plan, const struct node *node) {
    if (node->retired || node->pinned)
        return NULL;
    if (plan_has_children(plan, node))
        return node->status == NODE_CANCELLED || node->status == plan_rolled_up(plan, node)
                   ? NULL
                   : "a node does not follow its children";
    bool ready = plan_is_ready(plan, node);
    if ((node->status == NODE_QUEUED && !ready) || (node->status == NODE_TODO && ready))
        return "a node is queued and not ready, or ready and not queued";
    return NULL;
}

uint32_t plan_working(const struct plan *plan) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->count; i++)
        count += plan->nodes[i].status == NODE_IN_PROGRESS && !plan->nodes[i].retired &&
                 !plan_has_children(plan, &plan->nodes[i]);
    return count;
}

const char *plan_broken(const struct plan *plan, const struct goal *goal) {
    if ((plan->count > 0) != (goal->plan.version > 0))
        return "a plan without a version, or a version without a plan";
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct node *node = &plan->nodes[i];
        const char *broken = node_fields_broken(plan, node);
        if (node->n >= goal->plan.nodes_made || (i > 0 && node->n <= plan->nodes[i - 1].n))
            return "a node was never made, or nodes are out of order";
        if (!broken)
            broken = node_links_broken(plan, node);
        if (!broken)
            broken = node_status_broken(plan, node);
        if (broken)
            return broken;
    }
    if (goal->progress.percent != plan_percent(plan, NULL) ||
        goal->progress.working != plan_working(plan))
        return "the goal's progress is not that of its plan";
    return NULL;
}

/* ---- cycles ---- */

/* Each node has a start and an end. It ends after it starts; it starts after its ancestors have started and its
 * dependencies have ended; a node with children ends after them. A cycle in these constraints can never be completed.
 * Depth-first search, marks: 0 new, 1 on the path, 2 finished. Vertex 2i is the start of nodes[i], 2i + 1 its end. */
struct walk {
    const struct plan *plan;
    uint8_t *mark;
    const struct node *circle;
};

static uint32_t place_of(const struct plan *plan, const struct node *node) {
    return (uint32_t)(node - plan->nodes);
}

static bool walk_from(struct walk *walk, uint32_t vertex);

static bool walk_beginning(struct walk *walk, const struct node *node) {
    const struct node *parent = plan_parent(walk->plan, node);
    if (parent && !walk_from(walk, 2 * place_of(walk->plan, parent)))
        return false;
    for (uint32_t i = 0; i < node->depend_count; i++) {
        const struct node *on = plan_node(walk->plan, node->depends[i]);
        if (on && !walk_from(walk, 2 * place_of(walk->plan, on) + 1))
            return false;
    }
    return true;
}

static bool walk_end(struct walk *walk, const struct node *node) {
    if (!walk_from(walk, 2 * place_of(walk->plan, node)))
        return false;
    for (uint32_t i = 0; i < walk->plan->count; i++)
        if (is_child(&walk->plan->nodes[i], node) && !walk_from(walk, 2 * i + 1))
            return false;
    return true;
}

/* Recursion depth is at most two for each node: bounded by LIMIT_NODES. */
static bool walk_from(struct walk *walk, uint32_t vertex) {
    const struct node *node = &walk->plan->nodes[vertex / 2];
    if (walk->mark[vertex] == 2)
        return true;
    if (walk->mark[vertex] == 1) {
        walk->circle = node;
        return false;
    }
    walk->mark[vertex] = 1;
    if (!(vertex & 1 ? walk_end(walk, node) : walk_beginning(walk, node)))
        return false;
    walk->mark[vertex] = 2;
    return true;
}

const struct node *plan_circle(const struct plan *plan, struct arena *scratch) {
    struct walk walk = {plan, arena_new(scratch, uint8_t, 2 * plan->count), NULL};
    for (uint32_t i = 0; i < plan->count; i++)
        if (!plan->nodes[i].retired && !walk_from(&walk, 2 * i + 1))
            break;
    return walk.circle;
}
