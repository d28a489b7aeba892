/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one goal signal by signal. Each step is checked from outside: the goal and the plan stay consistent, the chain
 * of records continues, and an observer that keeps nothing but records and changed rows arrives at the same plan. */
#pragma once

#include "steps.h"

struct play {
    struct goal goal;
    bool exists;
    union {
        struct live live;
        struct plan plan;
    };
    struct node nodes[LIMIT_NODES];
    struct policy policy;
    uint64_t era, sources;
    int64_t now;
    struct arena arena; /* of the newest decision */
    struct decision did;
    struct signal given;

    /* what an observer knows from records and rows alone */
    struct node rows[LIMIT_NODES];
    enum node_status recorded_status[LIMIT_NODES];
    enum goal_status recorded_goal;
    uint64_t recorded_version;
    uint32_t written[RECORD_TYPES];
    uint32_t moves;
    uint32_t sample; /* every sample-th signal is also forwarded; 0: all */
};

/* ---- the observer ---- */

static inline void bystander_reads_rows(struct play *p) {
    for (uint32_t i = 0; i < p->did.part_count; i++) {
        const struct part_change *part = &p->did.parts[i];
        if (part->kind != PART_NODE)
            continue;
        check(part->n < LIMIT_NODES && !part->gone, "node %u", part->n);
        struct node *row = &p->rows[part->n];
        if (row->id[0] == 0)
            p->recorded_status[part->n] = NODE_TODO;
        *row = (struct node){.n = part->n};
        check(shape_decode(&NODE, part->body, row), "%s", hex_of(part->body));
        check(str_equal(part->name, node_id(row)), "%.*s", STR_ARG(part->name));
    }
}

static inline enum node_status status_named(struct str name) {
    uint32_t value = NODE_STATUSES;
    check(names_find(&NODE_STATUS_NAMES, name, &value), "%.*s is no status", STR_ARG(name));
    return (enum node_status)value;
}

/* EVENT-04: the record of a transition names the old and the new status. */
static inline void bystander_reads_move(struct play *p, const struct record *record,
                                        const struct evidence *evidence) {
    struct plan rows = {p->rows, p->goal.plan.nodes_made};
    const struct node *node = plan_find(&rows, evidence->node);
    check(node != NULL, "%.*s moved, and nobody knows it", STR_ARG(evidence->node));
    enum node_status from = status_named(evidence->from), to = status_named(evidence->to);
    check(p->recorded_status[node->n] == from, "%s was %s", node->id,
          NODE_STATUS[p->recorded_status[node->n]].name);
    check(from != to && record->type == RECORD_WORK_TODO + to, "%s", node->id);
    check(from != NODE_CANCELLED, "%s came out of cancelled", node->id); /* PLAN-09 */
    check(!evidence->override || evidence->reason.len > 0, "%s: an override without a reason",
          node->id);
    p->recorded_status[node->n] = to;
    p->moves++;
}

static inline void bystander_reads_goal(struct play *p, enum record_type type) {
    switch (type) {
    case RECORD_GOAL_PAUSED: p->recorded_goal = GOAL_PAUSED; break;
    case RECORD_GOAL_COMPLETED: p->recorded_goal = GOAL_COMPLETED; break;
    case RECORD_GOAL_CANCELLED: p->recorded_goal = GOAL_CANCELLED; break;
    case RECORD_GOAL_ARCHIVED: p->recorded_goal = GOAL_ARCHIVED; break;
    case RECORD_GOAL_CREATED:
    case RECORD_GOAL_RESUMED:
    case RECORD_GOAL_REOPENED: p->recorded_goal = GOAL_ACTIVE; break;
    default: break;
    }
}

/* PLAN-17, PLAN-19: versions have no gap, and plan records are complete. */
static inline void bystander_reads_plan(struct play *p, const struct record *record,
                                        const struct evidence *evidence) {
    bool created = record->type == RECORD_PLAN_CREATED,
         updated = record->type == RECORD_PLAN_UPDATED;
    if (record->type < RECORD_PLAN_CREATED || record->type > RECORD_PLAN_REJECTED)
        return;
    check(evidence->plan.why != REASON_NONE, "a plan record without a reason");
    if (created || updated)
        p->recorded_version++;
    check(evidence->plan.version == p->recorded_version, "version %llu after %llu",
          (unsigned long long)evidence->plan.version, (unsigned long long)p->recorded_version);
    check(!created || p->recorded_version == 1, "created twice");
}

static inline void bystander_reads(struct play *p) {
    bystander_reads_rows(p);
    for (uint32_t i = 0; i < p->did.record_count; i++) {
        const struct record *record = &p->did.records[i];
        struct evidence evidence = evidence_of(record);
        p->written[record->type]++;
        if (record->type >= RECORD_WORK_TODO && record->type <= RECORD_WORK_CANCELLED)
            bystander_reads_move(p, record, &evidence);
        bystander_reads_goal(p, record->type);
        bystander_reads_plan(p, record, &evidence);
    }
    check(p->recorded_goal == p->goal.status, "told %s, is %s", GOAL_STATUS[p->recorded_goal].name,
          GOAL_STATUS[p->goal.status].name);
    check(p->recorded_version == p->goal.plan.version, "told another version");
    for (uint32_t i = 0; i < p->plan.count; i++) {
        struct node *is = &p->plan.nodes[i], *row = &p->rows[is->n];
        check(p->recorded_status[is->n] == is->status, "%s: told %s, is %s", is->id,
              NODE_STATUS[p->recorded_status[is->n]].name, NODE_STATUS[is->status].name);
        bool same =
            memcmp(is, row, sizeof *is) == 0 ||
            str_equal(shape_encode(&NODE, is, &p->arena), shape_encode(&NODE, row, &p->arena));
        check(same, "%s is not as its row says", is->id);
    }
}

/* ---- one step ---- */

static inline void play_begin(struct play *p) {
    arena_free(&p->arena);
    memset(p, 0, sizeof *p);
    p->plan.nodes = p->nodes;
    p->policy = policy_of(1000);
    p->now = T0;
}

static inline void play_end(struct play *p) {
    arena_free(&p->arena);
}

static inline void play_keep(struct play *p) {
    p->goal = p->did.goal;
    p->exists = true;
    check(p->did.plan.count <= LIMIT_NODES, "%u nodes", p->did.plan.count);
    p->plan.count = p->did.plan.count;
    if (p->plan.count > 0)
        memcpy(p->nodes, p->did.plan.nodes, p->plan.count * sizeof *p->nodes);
    check(!goal_broken(&p->goal), "%s", goal_broken(&p->goal));
    check(!plan_broken(&p->plan, &p->goal), "%s", plan_broken(&p->plan, &p->goal));
    check(!plan_circle(&p->plan, &p->arena), "a circle");
    bystander_reads(p);
}

/* A signal that another host forwards leads to the same decision. */
static inline void forwarded_decides_the_same(struct play *p, const struct stepping *first) {
    struct signal again;
    struct stepping second = *first;
    check(signal_decode(signal_encode(first->signal, &p->arena), &again), "%s cannot be passed on",
          SIGNALS[first->signal->kind].name);
    second.signal = &again;
    check(step_guarded(&second) == CRASH_GUARD_WHOLE, "%s", second.report.why);
    check(str_equal(decision_bytes(&first->decision, &p->arena),
                    decision_bytes(&second.decision, &p->arena)),
          "%s decides otherwise when it is passed on", SIGNALS[first->signal->kind].name);
}

/* Performs one step. Returns the error of a refusal, or none. */
static inline enum error play(struct play *p, struct signal signal) {
    arena_reset(&p->arena);
    p->now += 1000000;
    signal.goal = p->exists ? p->goal.id : (struct id){{1, 2, 3}};
    signal.at = p->now;
    memcpy(signal.source.bytes, &(uint64_t){++p->sources}, 8);
    if (signal.sender.actor.len == 0)
        signal.sender.actor = str_of(signal.sender.by == WHO_HUMAN      ? "agnes"
                                     : signal.sender.by == WHO_OVERSEER ? "overseer"
                                                                        : "bot");
    p->given = signal;
    struct stepping s = {
        .world = {.goal = p->exists ? &p->goal : NULL, .live = &p->live, .era = p->era},
        .signal = &p->given,
        .policy = p->policy,
        .arena = &p->arena};
    struct goal before = p->goal;
    check(step_guarded(&s) == CRASH_GUARD_WHOLE, "%s: %s", SIGNALS[signal.kind].name, s.report.why);
    check(memcmp(&before, &p->goal, sizeof before) == 0, "a step changed the world");
    if (p->sample == 0 || p->sources % p->sample == 0)
        forwarded_decides_the_same(p, &s);
    p->did = s.decision;
    if (p->did.verdict != VERDICT_CHANGE) {
        nothing_is_changed(SIGNALS[signal.kind].name, p->exists ? &before : NULL, &p->did);
        return p->did.error;
    }
    change_is_whole(SIGNALS[signal.kind].name, p->exists ? &before : NULL, &p->given, &p->policy,
                    &p->did);
    play_keep(p);
    return ERROR_NONE;
}

/* ---- signals ---- */

static inline enum error play_create(struct play *p) {
    return play(p, (struct signal){.kind = SIGNAL_GOAL_CREATE,
                                   .sender.by = WHO_HUMAN,
                                   .describe.title = STR("title"),
                                   .host = 7});
}

static inline enum error play_goal(struct play *p, enum goal_status to, enum who by,
                                   const char *reason) {
    return play(p,
                (struct signal){
                    .kind = SIGNAL_GOAL_MOVE, .sender.by = by, .to = to, .reason = str_of(reason)});
}

static inline enum error play_work(struct play *p, const char *node, enum node_status to) {
    return play(p, (struct signal){.kind = SIGNAL_WORK_MOVE,
                                   .sender.by = WHO_OVERSEER,
                                   .work.node = str_of(node),
                                   .to = to,
                                   .reason = to == NODE_BLOCKED
                                                 ? STR("needs OPENAI_API_KEY, see Settings")
                                                 : (struct str){0},
                                   .text = STR("commit 1a2b, tests pass")});
}

static inline enum error play_override(struct play *p, const char *node, enum node_status to) {
    return play(p, (struct signal){.kind = SIGNAL_WORK_MOVE,
                                   .sender.by = WHO_HUMAN,
                                   .work.node = str_of(node),
                                   .to = to,
                                   .work.override = 1,
                                   .reason = STR("I know better")});
}

/* Takes a node from queued to done. */
static inline void play_finish(struct play *p, const char *node) {
    assert_int_equal(play_work(p, node, NODE_IN_PROGRESS), ERROR_NONE);
    assert_int_equal(play_work(p, node, NODE_DONE), ERROR_NONE);
}

/* ---- plans in a line: "P1 T1/P1 S1/T1:S0,P0=90m": id/parent:dependencies=effort ---- */

static inline struct str word_cut(struct str *rest, char at) {
    const char *end = rest->len ? memchr(rest->at, at, rest->len) : NULL;
    struct str word = {rest->at, end ? (size_t)(end - rest->at) : rest->len};
    size_t past = word.len + (end != NULL);
    *rest = (struct str){rest->at + past, rest->len - past};
    return word;
}

static inline struct plan_row row_read(struct str word, const struct plan_row *rows, uint32_t count,
                                       struct arena *arena) {
    static const struct str CRITERION = {"it works", 8};
    struct str effort = word, links, id;
    links = word_cut(&effort, '=');
    id = word_cut(&links, ':');
    struct str parent = id, *on = arena_new(arena, struct str, LIMIT_DEPENDS + 2);
    id = word_cut(&parent, '/');
    struct plan_row row = {.id = id,
                           .parent = parent,
                           .text = {.name = id, .effort = effort, .criteria = {&CRITERION, 1}}};
    for (uint32_t i = 0; i < count; i++)
        if (str_equal(rows[i].id, parent))
            row.tier = rows[i].tier + 1;
    while (links.len > 0)
        on[row.depends_on.count++] = word_cut(&links, ',');
    row.depends_on.at = on;
    return row;
}

static inline struct plan_text plan_read_line(const char *line, struct arena *arena) {
    struct str rest = str_of(line);
    struct plan_row *rows = arena_new(arena, struct plan_row, LIMIT_NODES);
    uint32_t count = 0;
    while (rest.len > 0) {
        rows[count] = row_read(word_cut(&rest, ' '), rows, count, arena);
        count++;
    }
    return (struct plan_text){{rows, count}};
}

static inline enum error play_plan_by(struct play *p, const char *line, enum who by,
                                      uint64_t expected) {
    struct arena arena = {0};
    struct plan_text text = plan_read_line(line, &arena);
    enum error error = play(p, (struct signal){.kind = SIGNAL_PLAN_APPLY,
                                               .sender.by = by,
                                               .plan.expected = expected,
                                               .reason = STR("so that it gets done"),
                                               .body = shape_encode(&PLAN_TEXT, &text, &arena)});
    p->given = (struct signal){0};
    arena_free(&arena);
    return error;
}

static inline enum error play_plan(struct play *p, const char *line) {
    return play_plan_by(p, line, WHO_HUMAN, p->goal.plan.version);
}

static inline enum error play_add(struct play *p, const char *line, struct plan_row *ret_row) {
    struct arena arena = {0};
    struct str word = str_of(line), parent = word;
    struct plan_row above = {0};
    word_cut(&parent, '/');
    parent = word_cut(&parent, ':');
    const struct node *node = plan_find(&p->plan, parent);
    above = (struct plan_row){.id = parent, .tier = node ? node->tier : TIER_PHASE};
    struct plan_row row = row_read(word, &above, parent.len > 0, &arena);
    if (ret_row)
        *ret_row = row;
    if (row.text.name.len == 0)
        row.text.name = STR("more");
    struct plan_text text = {{&row, 1}};
    enum error error = play(p, (struct signal){.kind = SIGNAL_WORK_ADD,
                                               .sender.by = WHO_HUMAN,
                                               .body = shape_encode(&PLAN_TEXT, &text, &arena)});
    p->given = (struct signal){0};
    arena_free(&arena);
    return error;
}

/* ---- expectations ---- */

static inline const struct node *node_of(const struct play *p, const char *id) {
    const struct node *node = plan_find(&p->plan, str_of(id));
    check(node != NULL, "no node %s", id);
    return node;
}

/* "P1=done T1=queued" */
static inline void states_are(const struct play *p, const char *line) {
    for (struct str rest = str_of(line); rest.len > 0;) {
        struct str word = word_cut(&rest, ' '), id = word_cut(&word, '=');
        const struct node *node = plan_find(&p->plan, id);
        check(node != NULL, "no node %.*s", STR_ARG(id));
        check(str_equal(word, str_of(NODE_STATUS[node->status].name)), "%s is %s, not %.*s (%s)",
              node->id, NODE_STATUS[node->status].name, STR_ARG(word), line);
    }
}

static inline void expect_records(struct play *p, const char *records) {
    text_is("records", records_text(&p->did, &p->arena), records);
}

static inline void refused(const struct play *p, enum error error, const char *why) {
    check(p->did.verdict == VERDICT_REFUSE && p->did.error == error, "%s, not %s",
          ERRORS[p->did.error].code, ERRORS[error].code);
    check(str_equal(p->did.why, str_of(why)), "\n  %.*s\n  %s was expected", STR_ARG(p->did.why),
          why);
}

static inline struct evidence recorded_of(const struct play *p, enum record_type type) {
    for (uint32_t i = 0; i < p->did.record_count; i++)
        if (p->did.records[i].type == type)
            return evidence_of(&p->did.records[i]);
    check(false, "no record %s", name_of(&RECORD_NAMES, type));
    return (struct evidence){0};
}
