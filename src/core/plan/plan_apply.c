/* SPDX-License-Identifier: Apache-2.0 */
/* Applies a new plan. PLAN-01, PLAN-17, PLAN-25, PLAN-27, PLAN-32: nodes that it names again keep their state, others
 * join as todo, nodes that it leaves out are retired. */
#include "core/plan/node.h"
#include "core/rules.h"

/* ---- effort ---- */

/* "30m", "2h", "3d" (a day of work is eight hours), plain numbers are minutes; anything else is unknown. */
static uint32_t effort_minutes(struct str text) {
    uint64_t value = 0;
    size_t i = 0;
    for (; i < text.len && text.at[i] >= '0' && text.at[i] <= '9' && value < 1000000; i++)
        value = value * 10 + (uint64_t)(text.at[i] - '0');
    char unit = i < text.len ? text.at[i] : 'm';
    uint64_t minutes = unit == 'd'   ? value * 480
                       : unit == 'h' ? value * 60
                       : unit == 'm' ? value
                                     : 0;
    bool whole = i > 0 && i + 1 >= text.len;
    return whole && minutes <= UINT32_MAX ? (uint32_t)minutes : 0;
}

/* ---- the difference, as text ---- */

struct difference {
    struct writer added, removed, changed;
};

static void note(struct deciding *d, struct writer *list, struct str id) {
    list->arena = d->out;
    if (list->len > 0)
        write_raw(list, STR(" "));
    write_raw(list, id);
}

/* PLAN-32: a record names the nodes that were added, removed and changed; a text that does not fit is stored
 * separately. */
static struct evidence difference_evidence(struct deciding *d, const struct difference *difference,
                                           struct evidence evidence) {
    struct str text = arena_format(
        d->out, "added: %.*s; removed: %.*s; changed: %.*s", (int)difference->added.len,
        difference->added.len ? difference->added.at : "", (int)difference->removed.len,
        difference->removed.len ? difference->removed.at : "", (int)difference->changed.len,
        difference->changed.len ? difference->changed.at : "");
    if (text.len > LIMIT_RECORD_BODY - 1024)
        evidence.more = decide_text(d, text);
    evidence.text = text;
    return evidence;
}

/* ---- building the new plan ---- */

static struct node *node_make(struct deciding *d, const struct plan_row *row) {
    struct plan *plan = &d->decision->plan;
    struct node *node = &plan->nodes[plan->count++];
    *node = (struct node){.n = d->decision->goal.plan.nodes_made++,
                          .tier = row->tier,
                          .times.created_at = d->signal->at,
                          .times.updated_at = d->signal->at};
    memcpy(node->id, row->id.at, row->id.len);
    node_touch(d, node);
    return node;
}

static void node_link(struct deciding *d, struct node *node, const struct plan_row *row) {
    const struct plan *plan = &d->decision->plan;
    const struct node *parent = plan_find(plan, row->parent);
    node->parent = row->tier == TIER_PHASE ? 0 : parent->n + 1;
    node->depend_count = 0;
    for (uint32_t i = 0; i < row->depends_on.count; i++) {
        uint32_t n = plan_find(plan, row->depends_on.at[i])->n, at = node->depend_count;
        if (node_waits_for(node, n))
            continue;
        for (; at > 0 && node->depends[at - 1] > n; at--)
            node->depends[at] = node->depends[at - 1];
        node->depends[at] = n;
        node->depend_count++;
    }
}

/* C-14: a subtask without an objective uses its name as the objective. */
static struct str words_of(struct deciding *d, const struct plan_row *row) {
    struct node_text text = row->text;
    if (text.objective.len == 0 && row->tier == TIER_SUBTASK)
        text.objective = text.name;
    return shape_encode(&NODE_TEXT, &text, d->out);
}

/* True: the node has changed. */
static bool node_takes(struct deciding *d, struct node *node, const struct plan_row *row,
                       uint32_t place) {
    struct node before = *node;
    node_link(d, node, row);
    node->place = place;
    node->effort = effort_minutes(row->text.effort);
    node->text = decide_text(d, words_of(d, row));
    node_contract_take(node, &row->text);
    name_put(node->agent, sizeof node->agent, row->text.agent);
    name_put(node->role, sizeof node->role, row->text.agent_type);
    if (memcmp(&before, node, sizeof before) == 0)
        return false;
    node->times.updated_at = d->signal->at;
    node_touch(d, node);
    return true;
}

/* Its position among the children of the same parent. */
static uint32_t row_place(const struct plan_text *text, uint32_t at) {
    const struct plan_row *rows = text->rows.at;
    uint32_t place = 0;
    for (uint32_t i = 0; i < at; i++)
        place += str_equal(rows[i].parent, rows[at].parent);
    return place;
}

static bool is_named(const struct plan_text *text, struct str id) {
    const struct plan_row *rows = text->rows.at;
    for (uint32_t i = 0; i < text->rows.count; i++)
        if (str_equal(rows[i].id, id))
            return true;
    return false;
}

/* From here on the node is out of the tree, so it cannot be part of a cycle either. */
static void node_leaves(struct deciding *d, struct node *node, struct difference *diff) {
    note(d, &diff->removed, arena_copy(d->out, node_id(node)));
    node->retired = 1;
    node->pinned = 0;
    node_touch(d, node);
}

/* False: the plan was refused, and nothing of this decision counts. */
static bool plan_build(struct deciding *d, const struct plan_text *text, struct difference *diff) {
    struct plan *plan = &d->decision->plan;
    const struct plan_row *rows = text->rows.at;
    uint32_t before = plan->count;
    plan_edit(d, text->rows.count);
    for (uint32_t i = 0; i < text->rows.count; i++)
        if (!plan_find(plan, rows[i].id)) {
            node_make(d, &rows[i]);
            note(d, &diff->added, rows[i].id);
        }
    for (uint32_t i = 0; i < text->rows.count; i++) {
        struct node *node = plan_find(plan, rows[i].id);
        if (node_takes(d, node, &rows[i], row_place(text, i)) && node->n < before)
            note(d, &diff->changed, rows[i].id);
    }
    for (uint32_t i = 0; i < before; i++)
        if (!plan->nodes[i].retired && !is_named(text, node_id(&plan->nodes[i])))
            node_leaves(d, &plan->nodes[i], diff);
    const struct node *circle = plan_circle(plan, d->out);
    if (circle)
        decide_refuse_because(
            d, ERROR_INVALID_PLAN,
            arena_format(d->out, "node %s: it waits for itself, through others", circle->id));
    return circle == NULL;
}

/* G-16: a node that the plan leaves out is stopped where it stands; its id and its history stay. */
static void nodes_retire(struct deciding *d) {
    struct plan *plan = &d->decision->plan;
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->nodes[i].retired && !node_is_over(&plan->nodes[i]))
            node_move(d, &plan->nodes[i], NODE_CANCELLED, BY_ROLLUP,
                      (struct evidence){.rule = STR("plan.left-out"), .reason = d->signal->reason});
}

/* G-16: a node that lost its children has to be worked on itself. The status that it had from them is dropped. */
static void nodes_lose_children(struct deciding *d) {
    const struct plan *before = d->world->live ? &d->world->live->plan : NULL;
    struct plan *plan = &d->decision->plan;
    for (uint32_t i = 0; before && i < before->count; i++) {
        struct node *node = &plan->nodes[i];
        if (node->retired || !plan_has_children(before, &before->nodes[i]) ||
            plan_has_children(plan, node))
            continue;
        node->pinned = 0;
        node_touch(d, node);
        if (!node_is_over(node) && node->status != NODE_TODO)
            node_move(d, node, NODE_TODO, BY_ROLLUP,
                      (struct evidence){.rule = STR("plan.childless"),
                                        .text = STR("what it followed has left the plan")});
    }
}

static void plan_replace(struct deciding *d, const struct plan_text *text, enum plan_reason why) {
    struct difference diff = {0};
    if (!plan_build(d, text, &diff))
        return;
    struct evidence evidence = {.rule = STR("plan.apply"), .reason = d->signal->reason};
    plan_version_raise(d, why, difference_evidence(d, &diff, evidence));
    nodes_retire(d);
    nodes_lose_children(d);
    d->decision->goal.plan.review = 0;
    d->decision->goal.plan.proposal = (struct hash){0};
    d->decision->goal.plan.proposal_base = 0;
    plan_settle(d);
}

/* ---- the rules ---- */

/* PLAN-25, G-17: a plan changes only while its goal is open, and only if the sender saw the newest version. */
static bool may_change_now(struct deciding *d, uint64_t expected) {
    const struct goal *goal = &d->decision->goal;
    if (goal->status != GOAL_ACTIVE && goal->status != GOAL_PAUSED)
        decide_refuse_because(d, ERROR_CONFLICT,
                              arena_format(d->out,
                                           "the goal is %s; only an open goal's plan changes",
                                           GOAL_STATUS[goal->status].name));
    else if (expected == 0 && goal->plan.version > 0)
        decide_refuse_because(d, ERROR_CONFLICT,
                              arena_format(d->out,
                                           "the goal already has a plan: give its version, %llu",
                                           (unsigned long long)goal->plan.version));
    else if (expected != goal->plan.version)
        decide_refuse_because(d, ERROR_CONFLICT,
                              arena_format(d->out, "the plan is at version %llu, not %llu",
                                           (unsigned long long)goal->plan.version,
                                           (unsigned long long)expected));
    else
        return true;
    return false;
}

static bool plan_read(struct deciding *d, bool planned, struct plan_text *ret_text) {
    *ret_text = (struct plan_text){0};
    struct str why = STR("it cannot be read");
    if (shape_decode_in(&PLAN_TEXT, d->signal->body, d->out, ret_text))
        why = plan_check(d, ret_text, planned);
    if (why.len > 0)
        decide_refuse_because(d, ERROR_INVALID_PLAN, why);
    return why.len == 0;
}

static enum plan_reason reason_of(const struct deciding *d) {
    if (d->signal->plan.why != REASON_NONE)
        return d->signal->plan.why;
    if (d->decision->goal.plan.version == 0)
        return REASON_INITIAL_CREATE;
    return d->signal->sender.by == WHO_HUMAN ? REASON_HUMAN_EDIT : REASON_REPLAN;
}

/* PLAN-33, C-47: with approval on, a plan of the overseer waits; a newer proposal replaces the older one. */
static void plan_propose(struct deciding *d, const struct plan_text *text) {
    struct goal *goal = &d->decision->goal;
    struct decision before = *d->decision;
    struct difference diff = {0};
    if (!plan_build(d, text, &diff))
        return; /* PLAN-24: refused now, not at approval */
    *d->decision = before;
    memset(d->touched, 0, sizeof d->touched);
    goal->plan.proposal = decide_text(d, d->signal->body);
    goal->plan.proposal_base = goal->plan.version;
    decide_record(d, RECORD_PLAN_REVIEW_NEEDED,
                  (struct evidence){.rule = STR("plan.approval"),
                                    .plan.why = REASON_APPROVAL,
                                    .plan.version = goal->plan.version,
                                    .more = goal->plan.proposal,
                                    .reason = d->signal->reason});
}

void rule_apply(struct deciding *d) {
    struct plan_text text;
    bool planned = d->signal->sender.by == WHO_OVERSEER;
    if (!decide_may_plan(d) || !may_change_now(d, d->signal->plan.expected) ||
        !plan_read(d, planned, &text))
        return;
    if (d->policy->plans.approve && d->signal->sender.by != WHO_HUMAN)
        plan_propose(d, &text);
    else
        plan_replace(d, &text, reason_of(d));
}

/* PLAN-33: an approval is for exactly the plan that was proposed, on top of the version that it was proposed for. */
void rule_approve(struct deciding *d) {
    const struct goal *goal = &d->decision->goal;
    struct plan_text text;
    struct hash hash = sha256(d->signal->body);
    if (d->signal->sender.by != WHO_HUMAN)
        decide_refuse(d, ERROR_UNAUTHORIZED);
    else if (memcmp(&hash, &goal->plan.proposal, sizeof hash) != 0)
        decide_refuse_because(d, ERROR_CONFLICT, STR("another plan waits for approval"));
    else if (may_change_now(d, goal->plan.proposal_base) && plan_read(d, false, &text)) {
        decide_record(d, RECORD_PLAN_APPROVED,
                      (struct evidence){.rule = STR("plan.approved"),
                                        .plan.why = REASON_APPROVAL,
                                        .plan.version = goal->plan.version,
                                        .reason = d->signal->reason});
        plan_replace(d, &text, goal->plan.version == 0 ? REASON_INITIAL_CREATE : REASON_REPLAN);
    }
}

/* ---- a goal that is one task ---- */

void plan_of_task(struct deciding *d) {
    struct plan_text asked = {0};
    uint64_t number = d->world->level >= LEVEL_NAMES ? d->signal->number : 0;
    if (!shape_decode_in(&PLAN_TEXT, d->signal->describe.task, d->out, &asked) ||
        asked.rows.count != 1) {
        decide_refuse_because(d, ERROR_INVALID_PLAN, STR("it is not exactly one task"));
        return;
    }
    static const struct str DONE = {"its task is done", sizeof "its task is done" - 1};
    struct plan_row *rows = arena_new(d->out, struct plan_row, 2);
    rows[1] = *(const struct plan_row *)asked.rows.at;
    unsigned long long n = number ? number : 1;
    rows[0] = (struct plan_row){.id = arena_format(d->out, "P%llu", n),
                                .tier = TIER_PHASE,
                                .text = {.name = rows[1].text.name, .criteria = {&DONE, 1}}};
    rows[1].id = arena_format(d->out, "T%llu", n);
    rows[1].parent = rows[0].id;
    rows[1].tier = TIER_TASK;
    struct plan_text text = {{rows, 2}};
    struct str why = plan_check(d, &text, false);
    if (why.len > 0)
        decide_refuse_because(d, ERROR_INVALID_PLAN, why);
    else
        plan_replace(d, &text, REASON_INITIAL_CREATE);
}

/* ---- adding one node ---- */

/* S1.2.4 below T1.2, as the planner does it; if that does not fit, the tier's letter and the ordinal. */
static struct str id_for(struct deciding *d, const struct plan_row *row) {
    static const char TIER_LETTER[TIERS] = {'P', 'T', 'S'};
    const struct plan *plan = &d->decision->plan;
    struct str stem = row->parent.len > 1 ? (struct str){row->parent.at + 1, row->parent.len - 1}
                                          : (struct str){0};
    for (uint32_t k = 1; k <= LIMIT_NODES && stem.len + 8 < LIMIT_NODE_ID; k++) {
        struct str id = stem.len > 0 ? arena_format(d->out, "%c%.*s.%u", TIER_LETTER[row->tier],
                                                    STR_ARG(stem), k)
                                     : arena_format(d->out, "%c%u", TIER_LETTER[row->tier], k);
        if (!plan_find(plan, id))
            return id;
    }
    return arena_format(d->out, "%c-%u", TIER_LETTER[row->tier], d->decision->goal.plan.nodes_made);
}

/* The texts of existing nodes are not checked again: placeholders stand for them. */
static struct plan_row row_of(const struct deciding *d, const struct node *node) {
    static const struct str SOME = {"-", 1};
    const struct plan *plan = &d->decision->plan;
    const struct node *parent = plan_parent(plan, node);
    struct str *on = arena_new(d->out, struct str, node->depend_count);
    for (uint32_t i = 0; i < node->depend_count; i++)
        on[i] = node_id(plan_node(plan, node->depends[i]));
    return (struct plan_row){.id = node_id(node),
                             .parent = parent ? node_id(parent) : (struct str){0},
                             .tier = node->tier,
                             .depends_on = {on, node->depend_count},
                             .text = {.name = SOME, .criteria = {&SOME, 1}}};
}

/* The current plan and one more row, so that the whole plan is checked. */
static struct plan_text plan_with(const struct deciding *d, const struct plan_row *row) {
    const struct plan *plan = &d->decision->plan;
    struct plan_row *rows = arena_new(d->out, struct plan_row, plan->count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->count; i++)
        if (!plan->nodes[i].retired)
            rows[count++] = row_of(d, &plan->nodes[i]);
    rows[count++] = *row;
    return (struct plan_text){{rows, count}};
}

/* The position after all children of the same parent. */
static uint32_t place_behind(const struct plan *plan, const struct plan_row *row) {
    const struct node *parent = plan_find(plan, row->parent);
    uint32_t place = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct node *node = &plan->nodes[i];
        if (!node->retired && node->parent == (parent ? parent->n + 1 : 0) &&
            node->place >= place && !str_equal(node_id(node), row->id))
            place = node->place + 1;
    }
    return place;
}

static void node_add(struct deciding *d, const struct plan_row *row) {
    struct plan *plan = &d->decision->plan;
    struct difference diff = {0};
    plan_edit(d, 1);
    struct node *node = node_make(d, row);
    node_takes(d, node, row, place_behind(plan, row));
    note(d, &diff.added, row->id);
    const struct node *circle = plan_circle(plan, d->out);
    if (circle) {
        decide_refuse_because(
            d, ERROR_INVALID_PLAN,
            arena_format(d->out, "node %s: it would wait for itself", circle->id));
        return;
    }
    struct evidence evidence = {
        .rule = STR("plan.add"), .reason = d->signal->reason, .node = arena_copy(d->out, row->id)};
    plan_version_raise(d, reason_of(d), difference_evidence(d, &diff, evidence));
    plan_settle(d);
}

/* PLAN-28: a node is added below one that is open or done (which is then open again), never below a cancelled one. */
void rule_add(struct deciding *d) {
    struct plan_text text = {0};
    uint64_t any =
        d->signal->plan.expected ? d->signal->plan.expected : d->decision->goal.plan.version;
    if (!decide_may_plan(d) || !may_change_now(d, any))
        return;
    if (!shape_decode_in(&PLAN_TEXT, d->signal->body, d->out, &text) || text.rows.count != 1) {
        decide_refuse_because(d, ERROR_INVALID_PLAN,
                              STR("exactly one node can be added at a time"));
        return;
    }
    struct plan_row row = *(const struct plan_row *)text.rows.at;
    if (row.id.len == 0)
        row.id = id_for(d, &row);
    else if (plan_find(&d->decision->plan, row.id)) {
        decide_refuse_because(d, ERROR_CONFLICT, STR("a node with this id already exists"));
        return;
    }
    struct plan_text whole = plan_with(d, &row);
    struct str why = plan_check(d, &whole, false);
    if (why.len > 0)
        decide_refuse_because(d, ERROR_INVALID_PLAN, why);
    else
        node_add(d, &row);
}
