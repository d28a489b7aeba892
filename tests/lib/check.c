/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the store does not contradict itself. It looks from outside: nothing here calls the code that wrote the
 * store. */
#include "lib/check.h"

static bool hash_is_set(const struct hash *hash) {
    static const struct hash ZERO;
    return !hash_equal(hash, &ZERO);
}

#define SAY(arena, ...) (arena_format((arena), __VA_ARGS__).at)

/* ---- the chain ---- */

/* Records are numbered 1, 2, 3 …, and each seal continues the one before. */
static const char *chain_next(struct replay *replay, const struct record *record) {
    struct record sealed = *record;
    if (record->seq != replay->seq + 1)
        return SAY(replay->arena, "record %llu of a goal follows record %llu",
                   (unsigned long long)record->seq, (unsigned long long)replay->seq);
    record_seal(&sealed, replay->goal, replay->seq, &replay->head);
    if (!hash_equal(&sealed.hash, &record->hash))
        return SAY(replay->arena, "record %llu does not continue its chain",
                   (unsigned long long)record->seq);
    replay->seq = record->seq;
    replay->head = record->hash;
    return NULL;
}

const char *replay_milestone(struct replay *replay, const struct dump_milestone *milestone) {
    if (milestone->from_seq != replay->seq + 1 || milestone->to_seq < milestone->from_seq)
        return SAY(replay->arena, "a milestone begins at %llu, behind record %llu",
                   (unsigned long long)milestone->from_seq, (unsigned long long)replay->seq);
    if (milestone->n != milestone->to_seq - milestone->from_seq + 1)
        return "a milestone does not count what it stands for";
    replay->seq = milestone->to_seq;
    replay->head = milestone->last_hash;
    return NULL;
}

/* ---- effects ---- */

static struct dump_life *life_of(struct replay *replay, uint32_t n) {
    for (uint32_t i = 0; i < replay->life_count; i++)
        if (replay->lives[i].n == n)
            return &replay->lives[i];
    if (replay->life_count == replay->life_cap) {
        uint32_t cap = replay->life_cap ? replay->life_cap * 2 : 8;
        struct dump_life *lives = arena_new(replay->arena, struct dump_life, cap);
        if (replay->life_count > 0)
            memcpy(lives, replay->lives, replay->life_count * sizeof *lives);
        replay->lives = lives;
        replay->life_cap = cap;
    }
    struct dump_life *life = &replay->lives[replay->life_count++];
    *life = (struct dump_life){.n = n};
    return life;
}

/* A command with an unknown outcome stays open, for a person. A message to an agent ends as an effect in that case, and
 * its assignment continues. */
static uint32_t life_lost(const struct dump_life *life) {
    return life->kind == EFFECT_SPAWN || life->kind == EFFECT_SEND ? life->unconfirmed : 0;
}

static bool life_in_order(const struct dump_life *life) {
    bool begun = life->claimed + life->restored > life->returned;
    uint32_t lost = life_lost(life);
    if (EFFECTS[life->kind].promise == PROMISE_REPEAT) /* needs no claim */
        return life->decided == 1 && life->claimed == 0 && life->ended + life->withdrawn <= 1;
    return life->decided == 1 && life->claimed <= 1 + life->returned &&
           life->returned <= life->claimed && life->ended + life->withdrawn + lost <= 1 &&
           (begun || (life->ended == 0 && life->unconfirmed == lost)) &&
           (!begun || life->withdrawn == 0);
}

/* An effect is decided, claimed at most once and ended at most once; or it is withdrawn without having been claimed.
 * GOAL-11: no effect is claimed while its goal is paused. */
static const char *effect_next(struct replay *replay, const struct record *record,
                               const struct evidence *evidence) {
    struct dump_life *life = life_of(replay, evidence->effect - 1);
    if (record->type == RECORD_EFFECT_DECIDED)
        life->kind = effect_kind_of(evidence->rule);
    life->decided += record->type == RECORD_EFFECT_DECIDED;
    life->claimed += record->type == RECORD_EFFECT_CLAIMED;
    life->ended += record->type == RECORD_EFFECT_ENDED;
    life->unconfirmed += record->type == RECORD_EFFECT_UNCONFIRMED;
    life->withdrawn += record->type == RECORD_EFFECT_WITHDRAWN;
    life->returned += record->type == RECORD_EFFECT_RETURNED;
    life->restored += str_equal(evidence->rule, STR("store.restored"));
    if (record->type == RECORD_EFFECT_CLAIMED && (replay->status == GOAL_PAUSED || life->restored))
        return SAY(replay->arena, "effect %u was claimed while its goal is paused or in doubt",
                   life->n);
    if (life_in_order(life))
        return NULL;
    return SAY(replay->arena, "effect %u was decided %u, claimed %u, ended %u, withdrawn %u times",
               life->n, life->decided, life->claimed, life->ended, life->withdrawn);
}

/* ---- work ---- */

static struct replay_node *node_of(struct replay *replay, struct str id) {
    for (uint32_t i = 0; i < replay->node_count; i++)
        if (str_equal(str_of(replay->nodes[i].id), id))
            return &replay->nodes[i];
    if (replay->node_count == replay->node_cap) {
        uint32_t cap = replay->node_cap ? replay->node_cap * 2 : 16;
        struct replay_node *nodes = arena_new(replay->arena, struct replay_node, cap);
        if (replay->node_count > 0)
            memcpy(nodes, replay->nodes, replay->node_count * sizeof *nodes);
        replay->nodes = nodes;
        replay->node_cap = cap;
    }
    struct replay_node *node = &replay->nodes[replay->node_count++];
    *node = (struct replay_node){.status = NODE_TODO};
    memcpy(node->id, id.at, id.len < LIMIT_NODE_ID ? id.len : LIMIT_NODE_ID);
    return node;
}

/* EVENT-04: every transition of a node is a record, and it starts in the status in which the previous one ended. */
static const char *work_next(struct replay *replay, const struct record *record,
                             const struct evidence *evidence) {
    enum node_status to = (enum node_status)(record->type - RECORD_WORK_TODO);
    struct replay_node *node = node_of(replay, evidence->node);
    uint32_t from = NODE_STATUSES, status = NODE_STATUSES;
    if (!names_find(&NODE_STATUS_NAMES, evidence->from, &from) || from != node->status)
        return SAY(replay->arena, "record %llu moves %s from %.*s, but it is %s",
                   (unsigned long long)record->seq, node->id, STR_ARG(evidence->from),
                   name_of(&NODE_STATUS_NAMES, node->status));
    if (!names_find(&NODE_STATUS_NAMES, evidence->to, &status) || status != to)
        return SAY(replay->arena, "record %llu says %.*s and is of another type",
                   (unsigned long long)record->seq, STR_ARG(evidence->to));
    node->status = to;
    return NULL;
}

/* ---- the goal itself ---- */

/* The status of a goal after a record; GOAL_STATUSES: unchanged. */
static enum goal_status status_after(enum record_type type) {
    switch (type) {
    case RECORD_GOAL_CREATED:
    case RECORD_GOAL_RESUMED:
    case RECORD_GOAL_REOPENED: return GOAL_ACTIVE;
    case RECORD_GOAL_PAUSED: return GOAL_PAUSED;
    case RECORD_GOAL_COMPLETED: return GOAL_COMPLETED;
    case RECORD_GOAL_CANCELLED: return GOAL_CANCELLED;
    case RECORD_GOAL_ARCHIVED: return GOAL_ARCHIVED;
    default: return GOAL_STATUSES;
    }
}

static const char *status_next(struct replay *replay, const struct record *record) {
    enum goal_status to = status_after(record->type);
    if (to == GOAL_STATUSES)
        return NULL;
    if ((record->type == RECORD_GOAL_CREATED) != (record->seq == 1))
        return "a goal was created twice, or something came before it";
    if (record->seq > 1 && !goal_status_may_become(replay->status, to))
        return SAY(replay->arena, "record %llu makes a goal %s that was %s",
                   (unsigned long long)record->seq, GOAL_STATUS[to].name,
                   GOAL_STATUS[replay->status].name);
    replay->status = to;
    return NULL;
}

/* PLAN-17: versions are 1, 2, 3 … without a gap. */
static const char *plan_next(struct replay *replay, const struct record *record,
                             const struct evidence *evidence) {
    bool first = record->type == RECORD_PLAN_CREATED;
    if (evidence->plan.version != replay->plan_version + 1 || first != (replay->plan_version == 0))
        return SAY(replay->arena, "record %llu: plan version %llu follows %llu",
                   (unsigned long long)record->seq, (unsigned long long)evidence->plan.version,
                   (unsigned long long)replay->plan_version);
    replay->plan_version = evidence->plan.version;
    return NULL;
}

const char *replay_record(struct replay *replay, const struct record *record) {
    const char *broken = chain_next(replay, record);
    struct evidence evidence = {0};
    if (broken)
        return broken;
    if (!shape_decode(&EVIDENCE, record->body, &evidence))
        return SAY(replay->arena, "record %llu cannot be decoded", (unsigned long long)record->seq);
    if (record->type >= RECORD_TYPES || record->type == RECORD_NONE || evidence.rule.len == 0)
        return "a record without a type or a rule";
    replay->aside = record->type == RECORD_GOAL_QUARANTINED ||
                    (replay->aside && record->type != RECORD_GOAL_RELEASED);
    broken = status_next(replay, record);
    if (!broken && evidence.effect > 0)
        broken = effect_next(replay, record, &evidence);
    if (!broken && record->type >= RECORD_WORK_TODO && record->type <= RECORD_WORK_CANCELLED)
        broken = work_next(replay, record, &evidence);
    if (!broken && (record->type == RECORD_PLAN_CREATED || record->type == RECORD_PLAN_UPDATED))
        broken = plan_next(replay, record, &evidence);
    return broken;
}

/* ---- stored state against records ---- */

static const char *effects_against(const struct replay *replay, const struct goal *goal) {
    uint32_t open = 0;
    for (uint32_t i = 0; i < replay->life_count; i++) {
        const struct dump_life *life = &replay->lives[i];
        const struct effect_slot *slot = goal_effect((struct goal *)(uintptr_t)goal, life->n);
        bool over = life->ended + life->withdrawn + life_lost(life) > 0;
        bool begun = life->claimed + life->restored > life->returned;
        if (over == (slot != NULL) || life->n >= goal->effects.made)
            return SAY(replay->arena, "effect %u is open and has ended, or neither", life->n);
        if (slot && begun != (slot->state != EFFECT_READY))
            return SAY(replay->arena, "effect %u is %s and was claimed %u times", life->n,
                       EFFECT_STATE[slot->state].name, life->claimed);
        open += !over;
    }
    return open == goal->effects.open_count ? NULL : "an open effect was never decided";
}

static const char *nodes_against(const struct replay *replay, const struct plan *plan) {
    for (uint32_t i = 0; i < replay->node_count; i++)
        if (!plan_find(plan, str_of(replay->nodes[i].id)))
            return SAY(replay->arena, "node %s has records and is not stored", replay->nodes[i].id);
    for (uint32_t i = 0; i < plan->count; i++) {
        enum node_status says = NODE_TODO;
        for (uint32_t k = 0; k < replay->node_count; k++)
            if (strcmp(replay->nodes[k].id, plan->nodes[i].id) == 0)
                says = replay->nodes[k].status;
        if (says != plan->nodes[i].status)
            return SAY(replay->arena, "node %s is %s, its records say %s", plan->nodes[i].id,
                       name_of(&NODE_STATUS_NAMES, plan->nodes[i].status),
                       name_of(&NODE_STATUS_NAMES, says));
    }
    return NULL;
}

const char *replay_against(const struct replay *replay, const struct goal *goal,
                           const struct plan *plan) {
    if (replay->seq != goal->records.seq || !hash_equal(&replay->head, &goal->records.head))
        return SAY(replay->arena, "a goal says seq %llu, its newest record is %llu",
                   (unsigned long long)goal->records.seq, (unsigned long long)replay->seq);
    if (replay->aside != goal->quarantined)
        return "a goal is set aside without a record, or the other way round";
    if (goal->quarantined)
        return NULL;
    if (replay->status != goal->status)
        return SAY(replay->arena, "a goal is %s, its records say %s",
                   GOAL_STATUS[goal->status].name, GOAL_STATUS[replay->status].name);
    if (replay->plan_version != goal->plan.version)
        return SAY(replay->arena, "a goal has plan version %llu, its records say %llu",
                   (unsigned long long)goal->plan.version,
                   (unsigned long long)replay->plan_version);
    const char *broken = effects_against(replay, goal);
    return broken ? broken : nodes_against(replay, plan);
}

/* ---- texts ---- */

static const char *text_missing(const struct dump *dump, struct id goal, const struct hash *hash,
                                const struct shape *shape, struct arena *arena) {
    if (!hash_is_set(hash))
        return NULL;
    const struct dump_text *text = dump_text(dump, goal, hash);
    if (!text)
        return "a text is named and not there";
    void *room = shape ? arena_take(arena, shape->size, alignof(max_align_t)) : NULL;
    if (shape && !shape_decode_in(shape, text->body, arena, room))
        return SAY(arena, "a %s cannot be decoded", shape->name);
    return NULL;
}

static void texts_know(struct replay *replay, const struct dump_text *texts, uint32_t count) {
    if (count > replay->text_cap) {
        replay->text_cap = count * 2;
        replay->texts = arena_new(replay->arena, struct hash, replay->text_cap);
    }
    for (uint32_t i = 0; i < count; i++)
        replay->texts[i] = texts[i].hash;
    replay->text_count = count;
}

/* Both lists are ordered by hash. No text that existed before may be missing. */
static const char *texts_differ(struct replay *replay, const struct dump_text *texts,
                                uint32_t count) {
    uint32_t known = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (known < replay->text_count && hash_equal(&replay->texts[known], &texts[i].hash)) {
            known++;
            continue;
        }
        struct hash hash = sha256(texts[i].body);
        if (!hash_equal(&hash, &texts[i].hash))
            return "a text is not what its hash says";
    }
    if (known < replay->text_count)
        return "a text is gone";
    texts_know(replay, texts, count);
    return NULL;
}

static const char *live_texts_broken(const struct dump *dump, struct id goal,
                                     const struct live *live, struct arena *arena) {
    const char *broken = NULL;
    for (uint32_t i = 0; i < live->assignments.count && !broken; i++) {
        const struct assignment *assignment = &live->assignments.at[i];
        broken = text_missing(dump, goal, &assignment->delivery.handoff, &HANDOFF, arena);
        if (!broken)
            broken = text_missing(dump, goal, &assignment->outgoing.text, NULL, arena);
    }
    for (uint32_t i = 0; i < live->questions.count && !broken; i++) {
        broken = text_missing(dump, goal, &live->questions.at[i].text, &QUESTION_TEXT, arena);
        if (!broken)
            broken = text_missing(dump, goal, &live->questions.at[i].answer.text, NULL, arena);
    }
    for (uint32_t i = 0; i < live->agent_messages.count && !broken; i++)
        broken =
            text_missing(dump, goal, &live->agent_messages.at[i].text, &AGENT_MESSAGE_TEXT, arena);
    return broken;
}

static const char *texts_broken(const struct dump *dump, const struct goal *goal,
                                const struct live *live, struct replay *replay,
                                struct arena *arena) {
    uint32_t from, to = DUMP_RANGE(dump->texts, dump->text_count, goal->id, &from);
    const char *broken = texts_differ(replay, dump->texts + from, to - from);
    if (!broken)
        broken = text_missing(dump, goal->id, &goal->text, &GOAL_TEXT, arena);
    if (!broken)
        broken = text_missing(dump, goal->id, &goal->plan.proposal, &PLAN_TEXT, arena);
    if (!broken)
        broken = live_texts_broken(dump, goal->id, live, arena);
    for (uint32_t i = 0; i < live->plan.count && !broken; i++) {
        const struct node *node = &live->plan.nodes[i];
        broken = text_missing(dump, goal->id, &node->text, &NODE_TEXT, arena);
        if (!broken)
            broken = text_missing(dump, goal->id, &node->why, NULL, arena);
        if (!broken && !hash_is_set(&node->text))
            broken = "a node has no words";
    }
    return broken;
}

/* ---- list views ---- */

/* From a take-over until the new owner has decided about it, a goal with an effect in doubt shows its earlier display
 * state: the host that takes over changes rows, it makes no decisions. */
static bool display_state_may_lag(const struct goal *goal) {
    return goal->need == NEED_NOTHING && goal_has_effect(goal, EFFECT_UNCONFIRMED);
}

static const char *view_broken(const struct dump *dump, const struct goal *goal,
                               struct arena *arena) {
    const struct goal_view *view = dump_view(dump, goal->id);
    if (goal->kind.admission)
        return view ? "a desk is in a list" : NULL;
    if (!view)
        return "a goal is in no list";
    if (view->display_state != goal_display_state(goal) && !display_state_may_lag(goal))
        return SAY(arena, "a goal shows \"%s\" and is \"%s\"",
                   name_of(&DISPLAY_STATE_NAMES, view->display_state),
                   name_of(&DISPLAY_STATE_NAMES, goal_display_state(goal)));
    if (goal->quarantined)
        return NULL;
    if (goal->shown && goal->shown != view->display_state + 1)
        return "a goal does not know what its list shows";
    if ((uint64_t)view->number != goal->kind.number)
        return SAY(arena, "a list calls a goal T%lld that is T%llu", (long long)view->number,
                   (unsigned long long)goal->kind.number);
    if (view->status != goal->status || view->priority != goal->priority ||
        view->percent != goal->progress.percent || view->created_at != goal->times.created_at)
        return SAY(arena, "a list shows %s, %s, %u percent of a goal that is %s, %s, %u percent",
                   GOAL_STATUS[view->status].name, name_of(&PRIORITY_NAMES, view->priority),
                   view->percent, GOAL_STATUS[goal->status].name,
                   name_of(&PRIORITY_NAMES, goal->priority), goal->progress.percent);
    return view->title.len == 0 ? "a goal without a title" : NULL;
}

static const char *tags_broken(const struct dump *dump, struct id goal) {
    const struct goal_view *view = dump_view(dump, goal);
    uint32_t from, to = DUMP_RANGE(dump->tags, dump->tag_count, goal, &from);
    if (to - from > LIMIT_TAGS)
        return "a goal has too many tags";
    for (uint32_t i = from; i < to; i++)
        if (dump->tags[i].display_state != view->display_state ||
            dump->tags[i].created_at != view->created_at)
            return "a tag says something else than its goal";
    return NULL;
}

/* ---- other parts ---- */

static const char *parts_broken(const struct dump *dump, struct id goal, struct arena *arena) {
    uint32_t from, to = DUMP_RANGE(dump->parts, dump->part_count, goal, &from);
    for (uint32_t i = from; i < to; i++) {
        const struct dump_part *part = &dump->parts[i];
        struct str body = part->body;
        const struct shape *shape = PART[part->kind].shape;
        if (!row_unseal(ROW_PART + part->kind, goal, part->n, &body))
            return SAY(arena, "the check of %s %u does not hold", PART[part->kind].table, part->n);
        if (!shape_decode_in(shape, body, arena,
                             arena_take(arena, shape->size, alignof(max_align_t))))
            return SAY(arena, "%s %u cannot be decoded", PART[part->kind].table, part->n);
    }
    return NULL;
}

/* ---- one goal ---- */

/* A quarantined goal may hold anything; only its chain and its list entries must still be correct. */
const char *goal_check(const struct dump *dump, const struct dump_goal *row, struct replay *replay,
                       struct arena *arena) {
    struct goal goal;
    struct live live = {0};
    if (row->aside) {
        bool whole = dump_live(dump, row, arena, &goal, &live);
        goal = (struct goal){.id = row->id,
                             .records.seq = row->seq,
                             .records.head = row->head,
                             .kind.admission = whole ? goal.kind.admission : 0,
                             .quarantined = true};
        const char *broken = replay_against(replay, &goal, &live.plan);
        return broken ? broken : view_broken(dump, &goal, arena);
    }
    if (!dump_live(dump, row, arena, &goal, &live))
        return "a goal, an effect or a row of it cannot be decoded, or its check does not hold";
    const char *broken = goal_broken(&goal);
    if (!broken)
        broken = plan_broken(&live.plan, &goal);
    if (!broken)
        broken = live_broken(&live, &goal);
    if (!broken && row->open != goal_is_open(&goal))
        broken = "a goal's open column is wrong";
    if (!broken)
        broken = replay_against(replay, &goal, &live.plan);
    if (!broken)
        broken = texts_broken(dump, &goal, &live, replay, arena);
    if (!broken)
        broken = parts_broken(dump, goal.id, arena);
    if (!broken)
        broken = view_broken(dump, &goal, arena);
    return broken || goal.kind.admission ? broken : tags_broken(dump, goal.id);
}

static const char *goal_whole_check(const struct dump *dump, const struct dump_goal *row,
                                    struct arena *arena) {
    struct replay replay = {.goal = row->id, .arena = arena};
    uint32_t from, to = DUMP_RANGE(dump->records, dump->record_count, row->id, &from);
    uint32_t stone, stones = DUMP_RANGE(dump->milestones, dump->milestone_count, row->id, &stone);
    const char *broken = NULL;
    for (uint32_t i = from; i < to && !broken; i++) {
        while (stone < stones && dump->milestones[stone].from_seq == replay.seq + 1 && !broken)
            broken = replay_milestone(&replay, &dump->milestones[stone++]);
        if (!broken)
            broken = replay_record(&replay, &dump->records[i].record);
    }
    if (!broken && stone < stones)
        broken = "a milestone stands where its records are";
    return broken ? broken : goal_check(dump, row, &replay, arena);
}

/* ---- tables that do not belong to one goal ---- */

/* The count of a display state is the sum over hosts; it must equal the number of goals with that state. */
static const char *tally_broken(const struct dump *dump, struct arena *arena) {
    int64_t counted[DISPLAY_STATES] = {0}, kept[DISPLAY_STATES] = {0};
    for (uint32_t i = 0; i < dump->view_count; i++)
        counted[dump->views[i].display_state]++;
    for (uint32_t i = 0; i < dump->tally_count; i++)
        kept[dump->tallies[i].display_state] += dump->tallies[i].n;
    for (uint32_t display_state = 0; display_state < DISPLAY_STATES; display_state++)
        if (counted[display_state] != kept[display_state])
            return SAY(arena, "%lld goals are \"%s\", the tally says %lld",
                       (long long)counted[display_state],
                       name_of(&DISPLAY_STATE_NAMES, display_state),
                       (long long)kept[display_state]);
    return NULL;
}

/* Finds rows whose goal id belongs to no existing goal. */
static const char *orphans_broken(const struct dump *dump, struct arena *arena) {
    for (uint32_t t = 0; t < DUMP_TABLE_COUNT; t++) {
        const struct dump_table *table = &DUMP_TABLES[t];
        const char *rows = *dump_rows(table, dump);
        if (strcmp(table->columns[0].name, "goal_id") != 0)
            continue;
        for (uint32_t i = 0; i < *dump_count(table, dump); i++) {
            struct id goal;
            memcpy(goal.bytes, rows + i * table->size, sizeof goal.bytes);
            if (!dump_goal(dump, goal) && !id_equal(goal, SYSTEM_GOAL))
                return SAY(arena, "a row of %s belongs to no goal",
                           table->name ? table->name : "a part");
        }
    }
    return NULL;
}

/* Every host that writes must understand the level of what is written. */
static const char *mark_broken(const struct dump *dump) {
    if (dump->mark_count != 1)
        return "the store has not one row about itself";
    const struct store_mark *mark = &dump->marks[0];
    if (mark->oldest > mark->version || mark->level > SCHEMA_LEVEL)
        return "the store's own row contradicts itself";
    for (uint32_t i = 0; i < dump->host_count; i++)
        if (dump->hosts[i].row.state == HOST_LIVE && dump->hosts[i].speaks < mark->level)
            return "the level was raised past what a host speaks";
    return NULL;
}

const char *rest_check(const struct dump *dump, struct arena *arena) {
    const char *broken = mark_broken(dump);
    return broken ? broken : tally_broken(dump, arena);
}

const char *world_check(const struct dump *dump, struct arena *arena) {
    const char *broken = NULL;
    for (uint32_t i = 0; i < dump->goal_count && !broken; i++)
        broken = goal_whole_check(dump, &dump->goals[i], arena);
    if (!broken)
        broken = rest_check(dump, arena);
    return broken ? broken : orphans_broken(dump, arena);
}
