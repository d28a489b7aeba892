/* SPDX-License-Identifier: Apache-2.0 */
/* Generates random operations. */
#include "lib/gen.h"

/* ---- randomness ---- */

uint64_t dice_next(struct dice *dice) {
    uint64_t z = (dice->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint32_t dice_pick(struct dice *dice, uint32_t count) {
    return (uint32_t)(dice_next(dice) % count);
}

bool dice_chance(struct dice *dice, uint32_t per_mille) {
    return dice_pick(dice, 1000) < per_mille;
}

struct id dice_id(struct dice *dice) {
    struct id id;
    uint64_t high = dice_next(dice), low = dice_next(dice);
    memcpy(id.bytes, &high, 8);
    memcpy(id.bytes + 8, &low, 8);
    return id;
}

/* ---- words ---- */

static struct texts texts_of(struct gen *gen, const char *what, uint32_t most,
                             struct arena *arena) {
    uint32_t count = dice_pick(&gen->dice, most + 1);
    struct str *at = arena_new(arena, struct str, count + 1);
    for (uint32_t i = 0; i < count; i++)
        at[i] = arena_format(arena, "%s %u", what, dice_pick(&gen->dice, 20));
    return (struct texts){at, count};
}

static struct str definition_of(struct gen *gen, struct arena *arena) {
    struct risk_row *risk = arena_new(arena, struct risk_row, 1);
    *risk = (struct risk_row){STR("it is late"), STR("a day"), STR("begin earlier")};
    struct goal_text text = {
        .problem = arena_format(arena, "the problem is %u", dice_pick(&gen->dice, 50)),
        .success_criteria = texts_of(gen, "one can see", 3, arena),
        .constraints = texts_of(gen, "keep to", 2, arena),
        .owner = STR("ada"),
        .risks = {risk, dice_pick(&gen->dice, 2)}};
    return shape_encode(&GOAL_TEXT, &text, arena);
}

/* The same tag may occur twice, as in input from people. */
static struct str tags_of(struct gen *gen, struct arena *arena) {
    static const char *const TAGS_KNOWN[] = {"web", "api", "docs", "urgent", "später", "ci"};
    uint32_t count = 1 + dice_pick(&gen->dice, 4);
    struct str *at = arena_new(arena, struct str, count);
    for (uint32_t i = 0; i < count; i++)
        at[i] = str_of(TAGS_KNOWN[dice_pick(&gen->dice, count_of(TAGS_KNOWN))]);
    struct tags tags = {{at, count}};
    return shape_encode(&TAGS, &tags, arena);
}

/* ---- plans ---- */

struct draft {
    struct gen *gen;
    struct arena *arena;
    const struct knowledge *known;
    struct plan_row *rows; /* each parent before its children */
    uint32_t count, cap, made;
};

/* Some nodes have artifacts: the last character of the id decides which. */
static struct rows artifacts_of(struct str id) {
    static const struct str KEYS[] = {STR("id"), STR("name")};
    static const struct artifact ARTIFACTS[] = {{.path = STR("made")},
                                                {.path = STR("out/report.json"),
                                                 .json = 1,
                                                 .min_items = 3,
                                                 .keys = {KEYS, 2},
                                                 .min_bytes = 300}};
    char last = id.len ? id.at[id.len - 1] : 0;
    return (struct rows){ARTIFACTS, last == '3' ? 2 : last == '6' ? 1 : 0};
}

static struct node_text words_of(struct draft *draft, struct str id) {
    struct str *criteria = arena_new(draft->arena, struct str, 1);
    criteria[0] = arena_format(draft->arena, "%.*s can be checked", STR_ARG(id));
    return (struct node_text){
        .name = arena_format(draft->arena, "work on %.*s", STR_ARG(id)),
        .objective = arena_format(draft->arena, "variant %u", dice_pick(&draft->gen->dice, 3)),
        .criteria = {criteria, 1},
        .effort = dice_chance(&draft->gen->dice, 300) ? STR("2h") : (struct str){0},
        .risk = (enum risk)dice_pick(&draft->gen->dice, RISKS),
        .artifacts = artifacts_of(id)};
}

static struct plan_row *row_add(struct draft *draft, struct str id, struct str parent,
                                enum tier tier) {
    must(draft->count < draft->cap);
    struct plan_row *row = &draft->rows[draft->count++];
    *row = (struct plan_row){.id = id, .parent = parent, .tier = tier, .text = words_of(draft, id)};
    return row;
}

/* An id that no node of the goal ever had. */
static struct str id_new(struct draft *draft, enum tier tier) {
    return arena_format(draft->arena, "%c_%u_%u", "PTS"[tier],
                        draft -> known -> goal.plan.nodes_made, draft->made++);
}

static bool has_room(const struct draft *draft) {
    return draft->count < draft->gen->max_nodes && draft->count < draft->cap &&
           draft->known->goal.plan.nodes_made + draft->made < LIMIT_NODES - 8;
}

static uint32_t children_of(const struct draft *draft, struct str id) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < draft->count; i++)
        count += str_equal(draft->rows[i].parent, id);
    return count;
}

static void below_new(struct draft *draft, struct str parent, enum tier tier) {
    static const uint32_t PER_MILLE[TIERS] = {0, 650, 450};
    for (uint32_t most = 3;
         most > 0 && has_room(draft) && dice_chance(&draft->gen->dice, PER_MILLE[tier]); most--) {
        struct str id = id_new(draft, tier);
        row_add(draft, id, parent, tier);
        if (tier == TIER_TASK)
            below_new(draft, id, TIER_SUBTASK);
    }
}

/* The node or one above it is cancelled: nothing may be added there. */
static bool is_stopped(const struct plan *plan, const struct node *node) {
    for (; node; node = plan_parent(plan, node))
        if (node->status == NODE_CANCELLED)
            return true;
    return false;
}

/* Open below a cancelled node: an override brought it there. No plan may name it. */
static bool is_stranded(const struct plan *plan, const struct node *node) {
    return !node->retired && !node_is_over(node) && is_stopped(plan, plan_parent(plan, node));
}

/* Adds the nodes of the old plan below a node, recursively; leaves some out, and may add a new one. */
static void below_old(struct draft *draft, const struct node *above, enum tier tier) {
    const struct plan *plan = &draft->known->plan;
    struct str parent = above ? node_id(above) : (struct str){0};
    uint32_t most = tier == TIER_PHASE ? LIMIT_PLANNED_PHASES : LIMIT_PLANNED_TASKS;
    for (uint32_t i = 0; i < plan->count && children_of(draft, parent) < most; i++) {
        const struct node *node = &plan->nodes[i];
        if (node->retired || node->tier != tier || node->parent != (above ? above->n + 1 : 0) ||
            is_stranded(plan, node) || dice_chance(&draft->gen->dice, 150))
            continue;
        row_add(draft, node_id(node), parent, tier);
        if (tier != TIER_SUBTASK)
            below_old(draft, node, tier + 1);
    }
    if (above && !is_stopped(plan, above) && has_room(draft) && children_of(draft, parent) < most &&
        dice_chance(&draft->gen->dice, 250))
        row_add(draft, id_new(draft, tier), parent, tier);
}

static void phases_new(struct draft *draft, uint32_t count) {
    for (uint32_t i = 0; i < count && (has_room(draft) || draft->count == 0) &&
                         children_of(draft, (struct str){0}) < LIMIT_PLANNED_PHASES;
         i++) {
        struct str id = id_new(draft, TIER_PHASE);
        row_add(draft, id, (struct str){0}, TIER_PHASE);
        below_new(draft, id, TIER_TASK);
    }
}

static bool is_above(const struct draft *draft, const struct plan_row *row, struct str id) {
    for (struct str at = row->parent; at.len > 0;) {
        if (str_equal(at, id))
            return true;
        struct str next = {0};
        for (uint32_t i = 0; i < draft->count; i++)
            if (str_equal(draft->rows[i].id, at))
                next = draft->rows[i].parent;
        at = next;
    }
    return false;
}

/* A node depends only on earlier nodes that are not above it, so there can be no cycle. */
static void links_make(struct draft *draft) {
    for (uint32_t i = 1; i < draft->count; i++) {
        struct plan_row *row = &draft->rows[i];
        struct str *on = arena_new(draft->arena, struct str, 2);
        uint32_t count = 0;
        while (count < 2 && dice_chance(&draft->gen->dice, 250)) {
            struct str other = draft->rows[dice_pick(&draft->gen->dice, i)].id;
            if (!is_above(draft, row, other))
                on[count++] = other;
        }
        row->depends_on = (struct texts){on, count};
    }
}

static struct draft draft_make(struct gen *gen, const struct knowledge *known,
                               struct arena *arena) {
    struct draft draft = {.gen = gen, .arena = arena, .known = known};
    draft.cap = gen->max_nodes + known->plan.count + 16;
    draft.rows = arena_new(arena, struct plan_row, draft.cap);
    if (known->plan.count > 0 && dice_chance(&gen->dice, 850))
        below_old(&draft, NULL, TIER_PHASE);
    if (draft.count == 0 || dice_chance(&gen->dice, 200))
        phases_new(&draft, 1 + dice_pick(&gen->dice, 2));
    links_make(&draft);
    return draft;
}

static struct str draft_encode(const struct draft *draft) {
    struct plan_text text = {{draft->rows, draft->count}};
    return shape_encode(&PLAN_TEXT, &text, draft->arena);
}

struct str gen_plan(struct gen *gen, const struct knowledge *known, struct arena *arena) {
    struct draft draft = draft_make(gen, known, arena);
    return draft_encode(&draft);
}

/* ---- invalid plans: PLAN-24, one function per violation ---- */

static void wrong_twice(struct draft *draft) {
    row_add(draft, draft->rows[0].id, (struct str){0}, TIER_PHASE);
}
static void wrong_criteria(struct draft *draft) {
    draft->rows[draft->count - 1].text.criteria = (struct texts){0};
}
static void wrong_name(struct draft *draft) {
    draft->rows[0].text.name = (struct str){0};
}
static void wrong_dangling(struct draft *draft) {
    struct str *on = arena_new(draft->arena, struct str, 1);
    on[0] = STR("nowhere");
    draft->rows[0].depends_on = (struct texts){on, 1};
}
static void wrong_itself(struct draft *draft) {
    draft->rows[0].depends_on = (struct texts){&draft->rows[0].id, 1};
}
/* Two phases wait for each other: neither can ever start. */
static void wrong_circle(struct draft *draft) {
    draft->count = 0;
    struct plan_row *one = row_add(draft, id_new(draft, TIER_PHASE), (struct str){0}, TIER_PHASE);
    struct plan_row *two = row_add(draft, id_new(draft, TIER_PHASE), (struct str){0}, TIER_PHASE);
    one->depends_on = (struct texts){&two->id, 1};
    two->depends_on = (struct texts){&one->id, 1};
}
/* A phase depends on a node inside it. */
static void wrong_inside(struct draft *draft) {
    draft->count = 0;
    struct plan_row *one = row_add(draft, id_new(draft, TIER_PHASE), (struct str){0}, TIER_PHASE);
    struct plan_row *two = row_add(draft, id_new(draft, TIER_TASK), one->id, TIER_TASK);
    one->depends_on = (struct texts){&two->id, 1};
}
static void wrong_tier(struct draft *draft) {
    row_add(draft, id_new(draft, TIER_SUBTASK), draft->rows[0].id, TIER_SUBTASK);
}
static void wrong_orphan(struct draft *draft) {
    row_add(draft, id_new(draft, TIER_TASK), STR("nowhere"), TIER_TASK);
}
static void wrong_phase(struct draft *draft) {
    row_add(draft, id_new(draft, TIER_PHASE), draft->rows[0].id, TIER_PHASE);
}
static void wrong_letters(struct draft *draft) {
    row_add(draft, STR("a space"), (struct str){0}, TIER_PHASE);
}
static void wrong_nothing(struct draft *draft) {
    draft->count = 0;
}
static void wrong_many(struct draft *draft) {
    while (children_of(draft, (struct str){0}) <= LIMIT_PLANNED_PHASES)
        row_add(draft, id_new(draft, TIER_PHASE), (struct str){0}, TIER_PHASE);
}
/* Uses the id of a node that left the plan; if there is none, an id with illegal characters. */
static void wrong_retired(struct draft *draft) {
    const struct plan *plan = &draft->known->plan;
    struct str id = STR("-?-");
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->nodes[i].retired && plan->nodes[i].tier == TIER_PHASE)
            id = node_id(&plan->nodes[i]);
    row_add(draft, id, (struct str){0}, TIER_PHASE);
}

static struct str plan_wrong(struct gen *gen, const struct knowledge *known, struct arena *arena) {
    static void (*const WAYS[])(struct draft *) = {
        wrong_twice,   wrong_criteria, wrong_name, wrong_dangling, wrong_itself,
        wrong_circle,  wrong_inside,   wrong_tier, wrong_orphan,   wrong_phase,
        wrong_letters, wrong_nothing,  wrong_many, wrong_retired};
    struct draft draft = draft_make(gen, known, arena);
    uint32_t way = dice_pick(&gen->dice, count_of(WAYS) + 1);
    if (way == count_of(WAYS))
        return STR("\x01not a plan");

    WAYS[way](&draft);
    return draft_encode(&draft);
}

/* ---- the caller ---- */

static void asks_as(struct op *op, struct gen *gen, enum who who) {
    op->signal.sender.by = who;
    op->signal.sender.actor = who == WHO_HUMAN      ? STR("ada")
                              : who == WHO_OVERSEER ? STR("overseer")
                                                    : STR("auto-1");
    if (who == WHO_AGENT && gen->plan_agent.len > 0 && dice_chance(&gen->dice, 300))
        op->signal.sender.actor = gen->plan_agent;
}

/* Picks a caller, mostly an authorized one. */
static void asks_as_any(struct op *op, struct gen *gen) {
    uint32_t dice = dice_pick(&gen->dice, 100);
    asks_as(op, gen, dice < 8 ? WHO_AGENT : dice < 54 ? WHO_HUMAN : WHO_OVERSEER);
}

static bool may_plan(const struct gen *gen, const struct signal *signal) {
    return signal->sender.by != WHO_AGENT ||
           (gen->plan_agent.len > 0 && str_equal(signal->sender.actor, gen->plan_agent));
}

static bool is_open(const struct knowledge *known) {
    return known->goal.status == GOAL_ACTIVE || known->goal.status == GOAL_PAUSED;
}

/* ---- one operation each: the request, and the expected answer ---- */

typedef void operation(struct op *op, struct gen *gen, const struct knowledge *known,
                       struct arena *arena);

static void op_report(struct op *op, struct gen *gen, const struct knowledge *known,
                      struct arena *arena) {
    (void)known;
    asks_as(op, gen, WHO_AGENT);
    op->signal.text = arena_format(arena, "said %u", dice_pick(&gen->dice, 1000));
}

static void op_update(struct op *op, struct gen *gen, const struct knowledge *known,
                      struct arena *arena) {
    struct signal *signal = &op->signal;
    bool stale = dice_chance(&gen->dice, 100);
    asks_as_any(op, gen);
    signal->describe.priority = (enum priority)dice_pick(&gen->dice, PRIORITIES);
    if (dice_chance(&gen->dice, 400))
        signal->describe.title =
            arena_format(arena, "another title %u", dice_pick(&gen->dice, 100));
    if (dice_chance(&gen->dice, 400))
        signal->describe.tags = tags_of(gen, arena);
    if (dice_chance(&gen->dice, 500))
        signal->body = definition_of(gen, arena);
    signal->describe.base = known->goal.text;
    signal->describe.base.bytes[0] ^= stale;
    if (signal->sender.by == WHO_AGENT)
        op->expect = ERROR_UNAUTHORIZED;
    else if (stale && signal->body.len > 0)
        op->expect = ERROR_CONFLICT;
    op->wrong = signal->sender.by == WHO_AGENT;
}

/* G-17: who may do what to a goal. */
static enum error move_expect(const struct knowledge *known, const struct signal *signal) {
    const struct goal *goal = &known->goal;
    if (signal->sender.by == WHO_AGENT)
        return ERROR_UNAUTHORIZED;
    if (signal->to >= GOAL_STATUSES)
        return ERROR_INVALID;
    if (goal->status == signal->to)
        return ERROR_NONE;
    if (!goal_status_may_become(goal->status, (enum goal_status)signal->to))
        return ERROR_CONFLICT;
    bool by_person = signal->sender.by == WHO_HUMAN && signal->reason.len > 0;
    if (goal->status == GOAL_COMPLETED && signal->to == GOAL_ACTIVE)
        return by_person ? ERROR_NONE : ERROR_CONFLICT;
    if (signal->to == GOAL_COMPLETED)
        return by_person && goal->effects.open_count == 0 ? ERROR_NONE : ERROR_CONFLICT;
    if (signal->to == GOAL_ARCHIVED)
        return goal->effects.open_count == 0 ? ERROR_NONE : ERROR_CONFLICT;
    return ERROR_NONE;
}

static void op_move(struct op *op, struct gen *gen, const struct knowledge *known,
                    struct arena *arena) {
    static const uint32_t TO[] = {GOAL_PAUSED,    GOAL_PAUSED,   GOAL_PAUSED,  GOAL_ACTIVE,
                                  GOAL_ACTIVE,    GOAL_ACTIVE,   GOAL_ACTIVE,  GOAL_COMPLETED,
                                  GOAL_CANCELLED, GOAL_ARCHIVED, GOAL_STATUSES};
    (void)arena;
    asks_as_any(op, gen);
    op->signal.to = TO[dice_pick(&gen->dice, count_of(TO))];
    if (dice_chance(&gen->dice, 750))
        op->signal.reason = STR("it is wanted so");
    op->expect = move_expect(known, &op->signal);
    op->wrong = op->signal.sender.by == WHO_AGENT || op->signal.to >= GOAL_STATUSES;
    op->may_idle = true;
}

static void op_apply(struct op *op, struct gen *gen, const struct knowledge *known,
                     struct arena *arena) {
    struct signal *signal = &op->signal;
    bool wrong = dice_chance(&gen->dice, 200), stale = dice_chance(&gen->dice, 100);
    asks_as_any(op, gen);
    if (wrong)
        asks_as(op, gen, WHO_OVERSEER); /* which has the narrower limits */
    signal->body = wrong ? plan_wrong(gen, known, arena) : gen_plan(gen, known, arena);
    signal->plan.expected = known->goal.plan.version + (stale ? 1 + dice_pick(&gen->dice, 3) : 0);
    signal->plan.why = dice_chance(&gen->dice, 300) ? REASON_GUARD_VIOLATION : REASON_NONE;
    signal->reason = STR("it has to be planned");
    op->wrong = wrong || !may_plan(gen, signal);
    op->expect = !may_plan(gen, signal)     ? ERROR_UNAUTHORIZED
                 : !is_open(known) || stale ? ERROR_CONFLICT
                 : wrong                    ? ERROR_INVALID_PLAN
                                            : ERROR_NONE;
}

static void op_review(struct op *op, struct gen *gen, const struct knowledge *known,
                      struct arena *arena) {
    (void)known, (void)arena;
    asks_as_any(op, gen);
    op->signal.reason = STR("it looks wrong");
    op->may_idle = true;
}

static void op_approve(struct op *op, struct gen *gen, const struct knowledge *known,
                       struct arena *arena) {
    struct signal *signal = &op->signal;
    bool another = known->proposal.len == 0 || dice_chance(&gen->dice, 150);
    asks_as(op, gen, dice_chance(&gen->dice, 850) ? WHO_HUMAN : WHO_OVERSEER);
    signal->body = another ? gen_plan(gen, known, arena) : known->proposal;
    op->wrong = signal->sender.by != WHO_HUMAN;
    op->expect =
        signal->sender.by != WHO_HUMAN ? ERROR_UNAUTHORIZED
        : another || !is_open(known) || known->goal.plan.proposal_base != known->goal.plan.version
            ? ERROR_CONFLICT
            : ERROR_NONE;
}

static void op_reject(struct op *op, struct gen *gen, const struct knowledge *known,
                      struct arena *arena) {
    (void)known, (void)arena;
    asks_as(op, gen, dice_chance(&gen->dice, 850) ? WHO_HUMAN : WHO_OVERSEER);
    op->wrong = op->signal.sender.by != WHO_HUMAN;
    op->expect = op->wrong ? ERROR_UNAUTHORIZED : ERROR_NONE;
    op->signal.reason = STR("it stands as it is");
    op->may_idle = true;
}

static const struct node *node_any(struct gen *gen, const struct plan *plan) {
    return plan->count ? &plan->nodes[dice_pick(&gen->dice, plan->count)] : NULL;
}

/* PLAN-28: a node may be added below a phase or a task that is not cancelled; otherwise the error. */
static enum error add_expect(const struct gen *gen, const struct knowledge *known,
                             const struct signal *signal, const struct node *above, bool taken,
                             bool orphan) {
    if (!may_plan(gen, signal))
        return ERROR_UNAUTHORIZED;
    if (!is_open(known) ||
        (signal->plan.expected && signal->plan.expected != known->goal.plan.version))
        return ERROR_CONFLICT;
    if (taken)
        return ERROR_CONFLICT;
    bool stranded = false;
    for (uint32_t i = 0; i < known->plan.count; i++)
        stranded = stranded || is_stranded(&known->plan, &known->plan.nodes[i]);
    return orphan || stranded || is_stopped(&known->plan, above) ? ERROR_INVALID_PLAN : ERROR_NONE;
}

static void op_add(struct op *op, struct gen *gen, const struct knowledge *known,
                   struct arena *arena) {
    struct signal *signal = &op->signal;
    struct draft draft = {.gen = gen, .arena = arena, .known = known, .cap = 1};
    draft.rows = arena_new(arena, struct plan_row, 1);
    const struct node *above = node_any(gen, &known->plan);
    if (above && (above->retired || above->tier == TIER_SUBTASK))
        above = NULL;
    bool taken = known->plan.count > 0 && dice_chance(&gen->dice, 80);
    bool orphan = !taken && dice_chance(&gen->dice, 80);
    struct str id = taken                          ? node_id(node_any(gen, &known->plan))
                    : dice_chance(&gen->dice, 500) ? (struct str){0}
                                                   : id_new(&draft, above ? above->tier + 1 : 0);
    row_add(&draft, id, above ? node_id(above) : (struct str){0}, above ? above->tier + 1 : 0);
    if (orphan) {
        draft.rows[0].parent = STR("nowhere");
        draft.rows[0].tier = TIER_TASK;
    }
    asks_as_any(op, gen);
    signal->body = draft_encode(&draft);
    signal->plan.expected = dice_chance(&gen->dice, 400) ? known->goal.plan.version : 0;
    op->expect = add_expect(gen, known, signal, above, taken, orphan);
    op->wrong = !may_plan(gen, signal) || orphan;
}

/* PLAN-08, PLAN-09, PLAN-14, PLAN-15, PLAN-35: the permitted transitions of a node. */
static enum error table_expect(const struct knowledge *known, const struct signal *signal,
                               const struct node *node) {
    enum node_status to = (enum node_status)signal->to;
    bool past_table = signal->work.override ||
                      (to == NODE_DONE && signal->sender.by == WHO_HUMAN) ||
                      (to == NODE_CANCELLED && node->status == NODE_TODO);
    if (!signal->work.override && node->status == to)
        return ERROR_NONE;
    if (past_table && signal->sender.by == WHO_AGENT)
        return ERROR_UNAUTHORIZED;
    if (past_table) {
        if (signal->reason.len == 0)
            return ERROR_INVALID;
        bool final =
            node->status ==
                NODE_CANCELLED || /* or, for an open status, a node above it is cancelled */
            (to < NODE_DONE && is_stopped(&known->plan, plan_parent(&known->plan, node)));
        return final ? ERROR_CONFLICT : ERROR_NONE;
    }
    if (to == NODE_CANCELLED)
        return node_is_over(node) ? ERROR_CONFLICT : ERROR_NONE;
    if (!node_status_may_become(node->status, to) || plan_has_children(&known->plan, node) ||
        node->status == NODE_TODO)
        return ERROR_CONFLICT;
    if (to == NODE_BLOCKED)
        return signal->reason.len ? ERROR_NONE : ERROR_INVALID;
    return to == NODE_DONE && signal->text.len == 0 ? ERROR_INVALID : ERROR_NONE;
}

static enum error node_expect(const struct gen *gen, const struct knowledge *known,
                              const struct signal *signal) {
    const struct node *node = plan_find(&known->plan, signal->work.node);
    if (!may_plan(gen, signal))
        return ERROR_UNAUTHORIZED;
    if (!node || node->retired)
        return ERROR_NOT_FOUND;
    if (!is_open(known) ||
        (signal->plan.expected && signal->plan.expected != known->goal.plan.version))
        return ERROR_CONFLICT;
    if (signal->kind == SIGNAL_WORK_FOLLOW)
        return ERROR_NONE;
    if (signal->to >= NODE_STATUSES)
        return ERROR_INVALID;
    return table_expect(known, signal, node);
}

/* Mostly the next status that the table permits. */
static enum node_status step_of(struct gen *gen, const struct node *node) {
    static const enum node_status NEXT[NODE_STATUSES] = {
        NODE_QUEUED, NODE_IN_PROGRESS, NODE_DONE, NODE_QUEUED, NODE_IN_PROGRESS, NODE_QUEUED};
    uint32_t dice = dice_pick(&gen->dice, 100);
    if (dice < 70)
        return NEXT[node->status];
    if (dice < 78)
        return NODE_BLOCKED;
    return dice < 83 ? NODE_CANCELLED : (enum node_status)dice_pick(&gen->dice, NODE_STATUSES + 1);
}

static void op_node(struct op *op, struct gen *gen, const struct knowledge *known) {
    struct signal *signal = &op->signal;
    const struct node *node = node_any(gen, &known->plan);
    for (int i = 0; i < 4 && node && (node->retired || plan_has_children(&known->plan, node)); i++)
        node = node_any(gen, &known->plan);
    bool unknown = !node || dice_chance(&gen->dice, 40);
    asks_as_any(op, gen);
    signal->work.node = unknown ? STR("nowhere") : node_id(node);
    signal->plan.expected = dice_chance(&gen->dice, 200)  ? known->goal.plan.version
                            : dice_chance(&gen->dice, 50) ? known->goal.plan.version + 7
                                                          : 0;
    op->may_idle = true;
    op->wrong =
        !may_plan(gen, signal) || unknown || signal->plan.expected > known->goal.plan.version;
}

static void op_work(struct op *op, struct gen *gen, const struct knowledge *known,
                    struct arena *arena) {
    struct signal *signal = &op->signal;
    op_node(op, gen, known);
    const struct node *node = plan_find(&known->plan, signal->work.node);
    signal->to = node ? step_of(gen, node) : NODE_DONE;
    signal->work.override = dice_chance(&gen->dice, 100);
    if (dice_chance(&gen->dice, 900))
        signal->reason = arena_format(arena, "needs key %u", dice_pick(&gen->dice, 9));
    if (dice_chance(&gen->dice, 900))
        signal->text = STR("the tests pass");
    signal->work.blocked = (enum blocked_by)dice_pick(&gen->dice, BLOCKED_BYS);
    op->expect = node_expect(gen, known, signal);
    op->wrong = op->wrong || signal->to >= NODE_STATUSES;
}

static void op_follow(struct op *op, struct gen *gen, const struct knowledge *known,
                      struct arena *arena) {
    (void)arena;
    op_node(op, gen, known);
    for (uint32_t i = 0; i < known->plan.count && !op->wrong; i++)
        if (known->plan.nodes[i].pinned)
            op->signal.work.node = node_id(&known->plan.nodes[i]);
    op->expect = node_expect(gen, known, &op->signal);
}

static void op_release(struct op *op, struct gen *gen, const struct knowledge *known,
                       struct arena *arena) {
    (void)arena;
    asks_as_any(op, gen);
    if (dice_chance(&gen->dice, 800))
        op->signal.reason = STR("looked at it: it was done");
    bool idle =
        known->goal.need == NEED_NOTHING && !goal_has_effect(&known->goal, EFFECT_UNCONFIRMED);
    op->wrong = op->signal.sender.by != WHO_HUMAN;
    op->expect = op->wrong                             ? ERROR_UNAUTHORIZED
                 : !idle && op->signal.reason.len == 0 ? ERROR_INVALID
                                                       : ERROR_NONE;
    op->may_idle = true;
}

/* Adds a run of an agent, or changes an existing one. */
static void op_part(struct op *op, struct gen *gen, const struct knowledge *known,
                    struct arena *arena) {
    uint32_t made = known->goal.parts_made, patched = made ? dice_pick(&gen->dice, made + 1) : 0;
    struct run_row run = {.id = arena_format(arena, "R_%u", patched ? patched - 1 : made),
                          .agent = STR("auto-1"),
                          .status = STR("running"),
                          .exit = dice_pick(&gen->dice, 3)};
    bool wrong = dice_chance(&gen->dice, 80);
    asks_as_any(op, gen);
    if (wrong)
        run.id = (struct str){0};
    op->signal.to = PART_RUN;
    op->signal.effect = patched;
    op->signal.body = shape_encode(&RUN_ROW, &run, arena);
    op->wrong = wrong || op->signal.sender.by == WHO_AGENT;
    op->expect = op->signal.sender.by == WHO_AGENT ? ERROR_UNAUTHORIZED
                 : wrong                           ? ERROR_INVALID
                                                   : ERROR_NONE;
}

/* ---- the mix ---- */

struct mix_row {
    enum signal_kind kind;
    uint32_t weight;
    operation *make;
};

static const struct mix_row MIX[] = {
    {SIGNAL_GOAL_REPORT, 24, op_report},  {SIGNAL_GOAL_UPDATE, 8, op_update},
    {SIGNAL_GOAL_MOVE, 10, op_move},      {SIGNAL_PLAN_APPLY, 16, op_apply},
    {SIGNAL_PLAN_REVIEW, 3, op_review},   {SIGNAL_PLAN_APPROVE, 4, op_approve},
    {SIGNAL_PLAN_REJECT, 4, op_reject},   {SIGNAL_WORK_ADD, 5, op_add},
    {SIGNAL_WORK_MOVE, 34, op_work},      {SIGNAL_WORK_FOLLOW, 3, op_follow},
    {SIGNAL_GOAL_RELEASE, 4, op_release}, {SIGNAL_PART_PUT, 4, op_part},
};

static struct op op_make(struct gen *gen, const struct mix_row *row, const struct knowledge *known,
                         struct arena *arena) {
    struct op op = {.signal = {.kind = row->kind, .goal = known->goal.id, .once.keyed = 1}};
    op.signal.source = dice_id(&gen->dice);
    row->make(&op, gen, known, arena);
    if (!known->exists && op.expect != ERROR_UNAUTHORIZED)
        op.expect = ERROR_NOT_FOUND;
    return op;
}

struct op gen_op_of(struct gen *gen, enum signal_kind kind, const struct knowledge *known,
                    struct arena *arena) {
    size_t i = 0;
    while (i < count_of(MIX) && MIX[i].kind != kind)
        i++;
    must(i < count_of(MIX));
    return op_make(gen, &MIX[i], known, arena);
}

struct op gen_op(struct gen *gen, const struct knowledge *known, struct arena *arena) {
    uint32_t total = 0;
    for (size_t i = 0; i < count_of(MIX); i++)
        total += MIX[i].weight;
    uint32_t at = dice_pick(&gen->dice, total);
    size_t i = 0;
    for (; at >= MIX[i].weight; i++)
        at -= MIX[i].weight;
    bool early = known->plan.count == 0 && /* the plan has no nodes yet */
                 (MIX[i].kind == SIGNAL_WORK_MOVE || MIX[i].kind == SIGNAL_WORK_FOLLOW);
    if (early && dice_chance(&gen->dice, 900))
        return gen_op_of(gen, SIGNAL_PLAN_APPLY, known, arena);
    if (MIX[i].kind == SIGNAL_PLAN_APPROVE && known->proposal.len == 0 &&
        dice_chance(&gen->dice, 800))
        return gen_op_of(gen, SIGNAL_GOAL_REPORT, known, arena);
    return op_make(gen, &MIX[i], known, arena);
}

struct op gen_create(struct gen *gen, struct arena *arena) {
    struct op op = {.signal = {.kind = SIGNAL_GOAL_CREATE}};
    struct signal *signal = &op.signal;
    signal->goal = signal->source = dice_id(&gen->dice);
    signal->once.keyed = dice_chance(&gen->dice, 700);
    signal->describe.title = arena_format(arena, "goal %u", dice_pick(&gen->dice, 1000));
    signal->describe.priority = (enum priority)dice_pick(&gen->dice, PRIORITIES);
    asks_as(&op, gen, WHO_HUMAN);
    if (dice_chance(&gen->dice, 500))
        signal->describe.command = STR("true");
    if (dice_chance(&gen->dice, 300))
        signal->body = definition_of(gen, arena);
    if (dice_chance(&gen->dice, 300))
        signal->describe.tags = tags_of(gen, arena);
    return op;
}
