/* SPDX-License-Identifier: Apache-2.0 */
/* Generates a million goals: titles of three to nine words, few tags, most of the goals finished. */
#include "query/query.h"

#include <stdio.h>

static const int64_t BEGAN =
    1700000000000000; /* creation of the oldest; then about one every 90 seconds */
static const int64_t APART = 90000000;

/* ---- words ---- */

void crowd_word(uint32_t rank, char word[24]) {
    static const char *const PARTS_OF[] = {"ba",  "ke",  "lo",  "mi",  "nu",  "ra",
                                           "se",  "to",  "vi",  "du",  "fer", "gan",
                                           "hol", "jin", "kur", "lam", "mes", "nor"};
    uint32_t base = count_of(PARTS_OF);
    snprintf(word, 24, "%s%s%s%u", PARTS_OF[rank % base], PARTS_OF[rank / base % base],
             PARTS_OF[rank / base / base % base], rank % 7);
}

void crowd_tag(uint32_t rank, char tag[24]) {
    snprintf(tag, 24, "tag-%u", rank);
}

static void zipf(double *sums, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sums[i] = sum += 1.0 / (i + 1);
}

void crowd_make(struct crowd *crowd, uint32_t count) {
    crowd->count = count;
    zipf(crowd->words, QUERY_WORDS);
    zipf(crowd->tags, QUERY_TAGS);
}

uint32_t crowd_rank(const double *sums, uint32_t count, uint64_t *random) {
    double at = (double)(bench_random(random) >> 11) / 9007199254740992.0 * sums[count - 1];
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (sums[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- one goal ---- */

static struct str title_of(const struct crowd *crowd, uint64_t *random, struct arena *arena) {
    char title[256], word[24];
    size_t len = 0;
    uint32_t words = 3 + (uint32_t)(bench_random(random) % (QUERY_TITLE_WORDS - 2));
    for (uint32_t i = 0; i < words; i++) {
        crowd_word(crowd_rank(crowd->words, QUERY_WORDS, random), word);
        len += (size_t)snprintf(title + len, sizeof title - len, "%s%s", i ? " " : "", word);
    }
    return arena_copy(arena, (struct str){title, len});
}

static void tags_add(const struct crowd *crowd, struct member *member, uint64_t *random,
                     struct arena *arena) {
    uint32_t wanted = (uint32_t)(bench_random(random) % (QUERY_GOAL_TAGS + 1));
    for (uint32_t i = 0; i < wanted; i++) {
        char tag[24];
        crowd_tag(crowd_rank(crowd->tags, QUERY_TAGS, random), tag);
        bool there = false;
        for (uint32_t k = 0; k < member->tag_count; k++)
            there = there || str_equal(member->tags[k], str_of(tag));
        if (!there)
            member->tags[member->tag_count++] = arena_copy(arena, str_of(tag));
    }
}

static void status_set(struct goal *goal, uint64_t *random) {
    static const struct {
        uint32_t percent;
        enum goal_status status;
        enum need need;
    } MIX[] = {{7, GOAL_ACTIVE, NEED_NOTHING},     {1, GOAL_ACTIVE, NEED_FAILED},
               {2, GOAL_PAUSED, NEED_NOTHING},     {60, GOAL_COMPLETED, NEED_NOTHING},
               {10, GOAL_CANCELLED, NEED_NOTHING}, {20, GOAL_ARCHIVED, NEED_NOTHING}};
    uint32_t at = (uint32_t)(bench_random(random) % 100), i = 0;
    while (at >= MIX[i].percent)
        at -= MIX[i++].percent;
    goal->status = MIX[i].status;
    goal->need = MIX[i].need;
    goal->times.ended_at =
        goal->status == GOAL_ACTIVE || goal->status == GOAL_PAUSED ? 0 : goal->times.updated_at;
    goal->priority = (enum priority)(bench_random(random) % PRIORITIES);
}

/* ---- the goals that ended last ---- */

int64_t crowd_ended_since(const struct crowd *crowd) {
    return BEGAN + (crowd->count + 1) * APART;
}

uint32_t crowd_ended_count(const struct crowd *crowd) {
    return crowd->count < QUERY_ENDED ? crowd->count : QUERY_ENDED;
}

/* Picks every step-th goal, so that all ages occur; 7919 is prime, so each gets a different second. */
static void ended_late(const struct crowd *crowd, uint32_t i, struct goal *goal) {
    uint32_t count = crowd_ended_count(crowd), step = crowd->count / count;
    if (i % step != 0 || i / step >= count)
        return;
    goal->status = GOAL_COMPLETED;
    goal->need = NEED_NOTHING;
    goal->times.ended_at = goal->times.updated_at =
        crowd_ended_since(crowd) + SECONDS(i / step * 7919 % QUERY_ENDED);
}

static struct hash text_add(struct member *member, struct str body) {
    struct text_row *row = &member->texts[member->text_count++];
    *row = (struct text_row){sha256(body), body};
    return row->hash;
}

/* Two phases of five tasks each. */
static void plan_add(struct member *member, uint64_t *random, struct arena *arena) {
    struct goal *goal = &member->goal;
    struct goal_text wanted = {.problem = member->view.title, .owner = STR("agnes")};
    goal->text = text_add(member, shape_encode(&GOAL_TEXT, &wanted, arena));
    goal->plan.version = 1;
    goal->plan.nodes_made = QUERY_NODES;
    goal->progress.percent = (uint32_t)(bench_random(random) % 101);
    for (uint32_t n = 0; n < QUERY_NODES; n++) {
        struct node node = {.n = n, .place = n, .times.created_at = goal->times.created_at};
        uint32_t phase = n / 6, task = n % 6;
        node.tier = task ? TIER_TASK : TIER_PHASE;
        node.parent = task ? phase * 6 + 1 : 0;
        if (task)
            snprintf(node.id, sizeof node.id, "S%u.%u", phase + 1, task);
        else
            snprintf(node.id, sizeof node.id, "S%u", phase + 1);
        struct node_text text = {.name = arena_format(arena, "step %u", n),
                                 .objective = member->view.title};
        node.text = text_add(member, shape_encode(&NODE_TEXT, &text, arena));
        struct part_change *part = &member->nodes[member->node_count++];
        *part = (struct part_change){.kind = PART_NODE, .n = n};
        part->name = arena_copy(arena, str_of(node.id));
        part->body =
            row_seal(ROW_PART + PART_NODE, goal->id, n, shape_encode(&NODE, &node, arena), arena);
    }
}

static void record_add(struct member *member, struct arena *arena) {
    struct evidence evidence = {.rule = STR("goal.create"), .text = member->view.title};
    struct record *record = &member->record;
    *record = (struct record){
        .type = RECORD_GOAL_CREATED, .at = member->goal.times.created_at, .core = 1};
    record->body = shape_encode(&EVIDENCE, &evidence, arena);
    record_seal(record, member->goal.id, 0, &member->goal.records.head);
    member->goal.records.seq = record->seq;
    member->goal.records.head = record->hash;
}

void crowd_member(const struct crowd *crowd, uint32_t i, struct member *ret, struct arena *arena) {
    uint64_t random = (uint64_t)i * 7919 + 1;
    uint8_t chance[10];
    *ret = (struct member){.goal = {.owner = BENCH_OWNER, .fence = 1, .version = 1}};
    struct goal *goal = &ret->goal;
    goal->times.created_at = BEGAN + i * APART + (int64_t)(bench_random(&random) % (uint64_t)APART);
    goal->times.updated_at = goal->times.created_at + SECONDS(60);
    goal->due_at = TIME_NEVER;
    for (size_t k = 0; k < sizeof chance; k++)
        chance[k] = (uint8_t)bench_random(&random);
    goal->id = id_make(goal->times.created_at / 1000, chance);
    status_set(goal, &random);
    ended_late(crowd, i, goal);
    ret->view.title = title_of(crowd, &random, arena);
    tags_add(crowd, ret, &random, arena);
    if (bench_random(&random) % 10 == 0)
        plan_add(ret, &random, arena);
    record_add(ret, arena);
    goal->shown = goal_display_state(goal) + 1;
    struct goal_commit commit = {.goal = *goal, .title = ret->view.title};
    ret->view = view_of(&commit);
    ret->hot = row_seal(ROW_GOAL, goal->id, 0, shape_encode(&GOAL_HOT, goal, arena), arena);
}
