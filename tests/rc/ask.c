/* SPDX-License-Identifier: Apache-2.0 */
/* Generates random store requests like those of a ledger, from what the tables hold or held some time ago: epochs,
 * batches, versions and beats are correct, or were correct once. */
#include "rc/rc.h"

#include <stdlib.h>

/* ---- randomness ---- */

uint32_t ask_pick(struct asker *asker, uint32_t count) {
    return dice_pick(&asker->dice, count);
}

bool ask_chance(struct asker *asker, uint32_t percent) {
    return ask_pick(asker, 100) < percent;
}

static struct id random_id(struct asker *asker) {
    return dice_id(&asker->dice);
}

static int id_order(const void *a, const void *b) {
    return id_compare(*(const struct id *)a, *(const struct id *)b);
}

/* The number of goals that exist from the beginning is random too; the others can be created meanwhile. */
void ask_begin(struct asker *asker, uint64_t seed, struct arena *arena) {
    *asker = (struct asker){.arena = arena,
                            .dice = {seed * 0xD1342543DE82EF95u},
                            .loose_batches = asker->loose_batches};
    asker->hosts = 2 + ask_pick(asker, 2);
    for (uint32_t i = 0; i < MAX_GOALS; i++)
        asker->goals[i] = random_id(asker);
    qsort(asker->goals, MAX_GOALS, sizeof *asker->goals, id_order);
    for (uint32_t i = 0; i < MAX_SOURCES; i++)
        asker->sources[i] =
            (struct inbox_row){random_id(asker), asker->goals[ask_pick(asker, MAX_GOALS)],
                               arena_format(arena, "signal %u", i), false};
}

/* ---- views of the store ---- */

static const struct dump *view_any(struct asker *asker) {
    static const struct dump EMPTY;
    if (asker->view_count == 0)
        return &EMPTY;
    uint32_t newest = asker->view_count - 1;
    return &asker->views[ask_chance(asker, 75) ? newest : ask_pick(asker, asker->view_count)];
}

static struct host_row host_in(const struct dump *view, uint32_t host) {
    for (uint32_t i = 0; i < view->host_count; i++)
        if (view->hosts[i].row.host == host)
            return view->hosts[i].row;
    return (struct host_row){.host = host};
}

static struct store_request *request_make(struct asker *asker, enum store_verb verb,
                                          const struct dump *view, uint32_t host) {
    struct store_request *request = arena_new(asker->arena, struct store_request, 1);
    asker->number++;
    *request = (struct store_request){
        .verb = verb,
        .self = {host, asker->instances[host][ask_chance(asker, 10)], host_in(view, host).epoch},
        .at = RC_AT,
        .limit = 1 + ask_pick(asker, 4)};
    return request;
}

static struct store_request *request_any(struct asker *asker, enum store_verb verb, uint32_t host) {
    return request_make(asker, verb, view_any(asker), host);
}

/* ---- one goal of a commit ---- */

static void effect_add(struct goal_commit *commit, enum effect_op op, struct effect_slot slot,
                       struct str body) {
    commit->effects[commit->effect_count++] =
        (struct effect_change){.op = op, .slot = slot, .body = body};
}

static void effects_change(struct asker *asker, struct goal_commit *commit, uint32_t host) {
    struct goal *goal = &commit->goal;
    commit->effects = arena_new(asker->arena, struct effect_change, LIMIT_OPEN_EFFECTS + 1);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < goal->effects.open_count; i++) {
        struct effect_slot slot = goal->effects.open[i];
        if (slot.state == EFFECT_READY && ask_chance(asker, 50)) {
            slot.state = EFFECT_RUNNING;
            slot.run_host = host;
            slot.until = RC_AT + SECONDS(asker->number);
            effect_add(commit, EFFECT_OP_MOVE, slot, (struct str){0});
        } else if (ask_chance(asker, 30)) {
            effect_add(commit, EFFECT_OP_END, slot, (struct str){0});
            continue;
        }
        goal->effects.open[kept++] = slot;
    }
    goal->effects.open_count = kept;
    if (goal->effects.open_count < LIMIT_OPEN_EFFECTS && ask_chance(asker, 50)) {
        struct effect_slot made = {.n = goal->effects.made++, .kind = 1};
        goal->effects.open[goal->effects.open_count++] = made;
        effect_add(commit, EFFECT_OP_MAKE, made,
                   arena_format(asker->arena, "effect of %llu", (unsigned long long)asker->number));
    }
    for (uint32_t i = 0; i < commit->effect_count; i++)
        if (commit->effects[i].op == EFFECT_OP_MAKE)
            commit->effects[i].sealed = row_seal(ROW_EFFECT, goal->id, commit->effects[i].slot.n,
                                                 commit->effects[i].body, asker->arena);
}

/* ---- the other rows of a goal ---- */

static void part_add(struct asker *asker, struct goal_commit *commit, enum part_kind kind,
                     uint32_t n, bool gone) {
    struct node node = {.status = (enum node_status)ask_pick(asker, NODE_STATUSES)};
    struct run_row run = {.exit = (int64_t)asker->number};
    struct dispatch dispatch = {.at = (int64_t)asker->number};
    struct assignment assignment = {
        .n = n, .status = (enum assignment_status)ask_pick(asker, ASSIGNMENT_DONE)};
    struct question question = {.n = n, .sending.rounds = (uint32_t)asker->number};
    struct agent_message agent_message = {.n = n, .at = (int64_t)asker->number};
    const void *rows[PARTS] = {[PART_NODE] = &node,         [PART_RUN] = &run,
                               [PART_DISPATCH] = &dispatch, [PART_ASSIGNMENT] = &assignment,
                               [PART_QUESTION] = &question, [PART_AGENT_MESSAGE] = &agent_message};
    struct str name =
        arena_format(asker->arena, "%s%u", kind == PART_NODE ? "N" : PART[kind].prefix, n);
    memcpy(node.id, name.at, name.len);
    struct str body = shape_encode(PART[kind].shape, rows[kind], asker->arena);
    commit->parts[commit->part_count++] = (struct part_change){
        .kind = kind,
        .gone = gone,
        .n = n,
        .name = name,
        .body = row_seal(ROW_PART + kind, commit->goal.id, n, body, asker->arena)};
}

/* Nodes are changed, added and sometimes deleted; runs are written repeatedly; a dispatch is written once; live rows
 * come and go. */
static void parts_change(struct asker *asker, struct goal_commit *commit) {
    struct goal *goal = &commit->goal;
    uint32_t fresh = goal->plan.nodes_made < 6 ? ask_pick(asker, 3) : 0;
    commit->parts = arena_new(asker->arena, struct part_change, goal->plan.nodes_made + fresh + 12);
    for (uint32_t n = 0; n < goal->plan.nodes_made; n++)
        if (ask_chance(asker, 30))
            part_add(asker, commit, PART_NODE, n, ask_chance(asker, 15));
    for (uint32_t i = 0; i < fresh; i++)
        part_add(asker, commit, PART_NODE, goal->plan.nodes_made++, false);
    if (ask_chance(asker, 20))
        part_add(asker, commit, PART_DISPATCH, (uint32_t)asker->number, false);
    for (uint32_t n = 0; n < 2; n++)
        if (ask_chance(asker, 20))
            part_add(asker, commit, PART_RUN, n, ask_chance(asker, 10));
    for (enum part_kind kind = PART_ASSIGNMENT; kind <= PART_AGENT_MESSAGE; kind++)
        for (uint32_t n = 0; n < 2; n++)
            if (ask_chance(asker, 15))
                part_add(asker, commit, kind, n, ask_chance(asker, 30));
}

static void texts_add(struct asker *asker, struct goal_commit *commit) {
    commit->texts = arena_new(asker->arena, struct text_row, 3);
    for (uint32_t i = ask_pick(asker, 3); i > 0; i--) {
        struct str body = arena_format(asker->arena, "text %u", ask_pick(asker, 4));
        commit->texts[commit->text_count++] = (struct text_row){sha256(body), body};
    }
}

/* Changes that affect lists are marked as such; the same tag may occur twice. */
static void view_change(struct asker *asker, struct goal_commit *commit) {
    static const char *const KNOWN[] = {"web", "api", "docs"};
    struct goal *goal = &commit->goal;
    goal->priority = (enum priority)ask_pick(asker, PRIORITIES);
    goal->progress.percent = ask_pick(asker, 100);
    commit->view_changed = true;
    if (ask_chance(asker, 40))
        commit->title = arena_format(asker->arena, "title %llu", (unsigned long long)asker->number);
    if (ask_chance(asker, 50))
        return;
    struct tags *tags = arena_new(asker->arena, struct tags, 1);
    struct str *at = arena_new(asker->arena, struct str, 3);
    uint32_t count = ask_pick(asker, 4);
    for (uint32_t i = 0; i < count; i++)
        at[i] = str_of(KNOWN[ask_pick(asker, count_of(KNOWN))]);
    tags->tags = (struct texts){at, count};
    commit->tags = tags;
}

static void sources_use(struct asker *asker, struct goal_commit *commit) {
    commit->inbox_done = arena_new(asker->arena, struct id, MAX_SOURCES);
    commit->seen = arena_new(asker->arena, struct id, MAX_SOURCES);
    for (uint32_t i = 0; i < MAX_SOURCES; i++)
        if (id_equal(asker->sources[i].goal, commit->goal.id) && ask_chance(asker, 60)) {
            commit->seen[commit->seen_count++] = asker->sources[i].source;
            if (ask_chance(asker, 80))
                commit->inbox_done[commit->inbox_count++] = asker->sources[i].source;
        }
}

static void set_aside(struct asker *asker, struct goal_commit *commit) {
    commit->goal.quarantined = commit->keep_hot = true;
    commit->aside = arena_new(asker->arena, struct aside_row, 1);
    commit->aside[commit->aside_count++] =
        (struct aside_row){random_id(asker), RC_AT, STR("for a test"), STR("a signal")};
}

static void records_add(struct asker *asker, struct goal_commit *commit) {
    struct goal *goal = &commit->goal;
    commit->record_count = 1 + ask_pick(asker, 2);
    commit->records = arena_new(asker->arena, struct record, commit->record_count);
    for (uint32_t i = 0; i < commit->record_count; i++) {
        struct record *record = &commit->records[i];
        *record = (struct record){
            .type = RECORD_GOAL_REPORTED,
            .at = RC_AT + (int64_t)asker->number,
            .core = 1,
            .body = arena_format(asker->arena, "request %llu", (unsigned long long)asker->number)};
        record_seal(record, goal->id, goal->records.seq, &goal->records.head);
        goal->records.seq = record->seq;
        goal->records.head = record->hash;
    }
}

/* All rows of a goal are derived from its goal row: if the version is right, the rest is. */
static void commit_fill(struct asker *asker, struct goal_commit *commit, uint32_t host, bool lean) {
    struct goal *goal = &commit->goal;
    commit->expected = goal->version++;
    goal->times.updated_at = RC_AT + (int64_t)asker->number;
    goal->progress.reports++;
    records_add(asker, commit);
    if (!lean) {
        sources_use(asker, commit);
        parts_change(asker, commit);
        texts_add(asker, commit);
        if (commit->expected == 0 || ask_chance(asker, 50))
            view_change(asker, commit);
        if (commit->expected > 0 && ask_chance(asker, 5))
            set_aside(asker, commit);
        else
            effects_change(asker, commit, host);
    }
    if (commit->expected > 0 && goal->effects.open_count == 0 && ask_chance(asker, 20))
        goal->status = GOAL_COMPLETED;
    goal->due_at = goal_due(goal);
    commit->hot =
        row_seal(ROW_GOAL, goal->id, 0, shape_encode(&GOAL_HOT, goal, asker->arena), asker->arena);
}

static void goal_new(struct asker *asker, struct goal_commit *commit, struct id id, uint32_t host) {
    commit->goal = (struct goal){.id = id, .owner = host, .fence = 1, .times.created_at = RC_AT};
    commit->title = arena_format(asker->arena, "goal %llu", (unsigned long long)asker->number);
    commit_fill(asker, commit, host, false);
    if (commit->title.len == 0)
        commit->title = STR("a goal");
}

static void goal_known(struct asker *asker, struct goal_commit *commit, const struct dump *view,
                       const struct dump_goal *row, uint32_t host, bool lean) {
    struct plan plan;
    must(dump_whole(view, row, asker->arena, &commit->goal, &plan));
    commit_fill(asker, commit, host, lean);
}

/* ---- commits ---- */

static struct store_request *commit_begin(struct asker *asker, const struct dump *view,
                                          uint32_t host) {
    struct store_request *request = request_make(asker, STORE_COMMIT, view, host);
    request->batch = host_in(view, host).batch + 1;
    request->number_next = ask_pick(asker, 3) ? 0 : ask_pick(asker, 100);
    request->commits = arena_new(asker->arena, struct goal_commit, MAX_GOALS);
    return request;
}

/* From the beginning a host has the goals whose index belongs to it; some goals are left for later. */
struct store_request *ask_make(struct asker *asker, uint32_t host) {
    struct store_request *request = commit_begin(asker, &asker->views[asker->view_count - 1], host);
    for (uint32_t i = 0; i < MAX_GOALS; i++)
        if (id_hash(asker->goals[i]) % 3 > 0 && i % asker->hosts + 1 == host)
            goal_new(asker, &request->commits[request->commit_count++], asker->goals[i], host);
    asker->batches[asker->batch_count++] = request;
    return request;
}

static bool commit_wants(struct asker *asker, const struct dump_goal *row, uint32_t host) {
    return ask_chance(asker, !row ? 20 : row->owner == host ? 60 : 8);
}

/* A batch number is used for one batch only, so a second batch with that number is the first one resent (P7). */
static struct store_request *batch_again(struct asker *asker, const struct store_request *request) {
    for (uint32_t i = 0; i < asker->batch_count && !asker->loose_batches; i++) {
        struct store_request *before = asker->batches[i];
        if (before->self.host == request->self.host && before->batch == request->batch &&
            before->self.epoch == request->self.epoch)
            return before;
    }
    return NULL;
}

/* The host row and the goals come from different times: a batch number can be right where a version is not. */
static struct store_request *ask_commit(struct asker *asker, uint32_t host) {
    struct store_request *request = commit_begin(asker, view_any(asker), host);
    struct store_request *before = batch_again(asker, request);
    if (before)
        return before;
    const struct dump *view = view_any(asker);
    bool lean = ask_chance(asker, 30);
    for (uint32_t i = 0; i < MAX_GOALS; i++) {
        const struct dump_goal *row = dump_goal(view, asker->goals[i]);
        struct goal_commit *commit = &request->commits[request->commit_count];
        if (!commit_wants(asker, row, host) || (lean && !row))
            continue;
        request->commit_count++;
        if (row)
            goal_known(asker, commit, view, row, host, lean);
        else
            goal_new(asker, commit, asker->goals[i], host);
    }
    asker->batches[asker->batch_count++] = request;
    return request;
}

/* ---- the other requests ---- */

struct store_request *ask_join(struct asker *asker, uint32_t host) {
    asker->instances[host][1] = asker->instances[host][0];
    asker->instances[host][0] = 1000 * host + asker->number + 1;
    struct store_request *request = request_any(asker, STORE_JOIN, host);
    request->self.instance = asker->instances[host][0];
    request->build = STR("test");
    request->addr = STR("here");
    return request;
}

/* Forwards only to goals that exist, as a ledger does, or to a single one that may not exist. PostgreSQL skips a goal
 * that is created while the statement waits for another one; the model, which looks again, does not. */
struct store_request *ask_forward(struct asker *asker) {
    const struct dump *view = view_any(asker);
    struct store_request *request =
        request_make(asker, STORE_FORWARD, view, 1 + ask_pick(asker, asker->hosts));
    struct inbox_row *rows = arena_new(asker->arena, struct inbox_row, MAX_SOURCES);
    for (uint32_t i = 0; i < MAX_SOURCES; i++)
        if (dump_goal(view, asker->sources[i].goal) && ask_chance(asker, 35))
            rows[request->row_count++] = asker->sources[i];
    if (request->row_count == 0)
        rows[request->row_count++] = asker->sources[ask_pick(asker, MAX_SOURCES)];
    request->rows = rows;
    return request;
}

struct store_request *ask_take(struct asker *asker, uint32_t host) {
    const struct dump *view = view_any(asker);
    struct store_request *request = request_make(asker, STORE_TAKE, view, host);
    request->victim = host_in(view, 1 + ask_pick(asker, asker->hosts));
    return request;
}

static struct store_request *ask_adopt(struct asker *asker, uint32_t host) {
    const struct dump *view = view_any(asker);
    struct store_request *request = request_make(asker, STORE_ADOPT, view, host);
    uint32_t victim = 1 + (host + ask_pick(asker, asker->hosts - 1)) % asker->hosts;
    request->victim = host_in(view, victim);
    if (ask_chance(asker, 50))
        return request;
    struct id *only = arena_new(asker->arena, struct id, MAX_GOALS);
    for (uint32_t i = 0; i < MAX_GOALS; i++) {
        const struct dump_goal *row = dump_goal(view, asker->goals[i]);
        if (row && ask_chance(asker, row->owner == victim ? 60 : 10))
            only[request->only_count++] = asker->goals[i];
    }
    request->only = only;
    return request;
}

static int key_order(const void *a, const void *b) {
    const struct source_key *x = a, *y = b;
    int order = id_compare(x->goal, y->goal);
    return order ? order : id_compare(x->source, y->source);
}

static void load_fill(struct asker *asker, struct store_request *request, const struct dump *view,
                      uint32_t percent) {
    struct id *ids = arena_new(asker->arena, struct id, MAX_GOALS);
    struct source_key *keys = arena_new(asker->arena, struct source_key, MAX_SOURCES);
    struct record_mark *marks = arena_new(asker->arena, struct record_mark, view->record_count);
    for (uint32_t i = 0; i < MAX_GOALS; i++)
        if (ask_chance(asker, percent))
            ids[request->id_count++] = asker->goals[i];
    for (uint32_t i = 0; i < MAX_SOURCES; i++)
        if (ask_chance(asker, percent))
            keys[request->key_count++] =
                (struct source_key){asker->sources[i].goal, asker->sources[i].source};
    qsort(keys, request->key_count, sizeof *keys, key_order);
    for (uint32_t i = 0; i < view->record_count; i++)
        if (ask_chance(asker, percent / 2)) {
            const struct dump_record *row = &view->records[i];
            marks[request->mark_count++] = (struct record_mark){
                row->goal, row->record.seq + ask_chance(asker, 20), row->record.hash};
        }
    request->ids = ids;
    request->keys = keys;
    request->marks = marks;
}

static struct store_request *ask_load(struct asker *asker, uint32_t host) {
    const struct dump *view = view_any(asker);
    struct store_request *request = request_make(asker, STORE_LOAD, view, host);
    while (request->id_count + request->key_count + request->mark_count == 0)
        load_fill(asker, request, view, 20 + ask_pick(asker, 60));
    return request;
}

struct store_request *ask_everything(struct asker *asker) {
    const struct dump *view = &asker->views[asker->view_count - 1];
    struct store_request *request = request_make(asker, STORE_LOAD, view, 1);
    load_fill(asker, request, view, 100);
    return request;
}

struct store_request *ask_mail(struct asker *asker, uint32_t host) {
    struct store_request *request = request_any(asker, STORE_POLL, host);
    request->limit = MAX_SOURCES + 1;
    return request;
}

struct store_request *ask_owned(struct asker *asker, uint32_t host) {
    struct store_request *request = request_any(asker, STORE_OWNED, host);
    request->limit = MAX_GOALS + 1;
    return request;
}

static struct store_request *ask_page(struct asker *asker, uint32_t host) {
    struct store_request *request = request_any(asker, STORE_OWNED, host);
    if (ask_chance(asker, 50))
        request->after = asker->goals[ask_pick(asker, MAX_GOALS)];
    if (ask_chance(asker, 40))
        return request;
    struct id *only = arena_new(asker->arena, struct id, MAX_GOALS);
    for (uint32_t i = 0; i < MAX_GOALS; i++)
        if (ask_chance(asker, 50))
            only[request->only_count++] = asker->goals[i];
    request->only = only;
    return request;
}

static struct store_request *ask_numbers(struct asker *asker, uint32_t host) {
    struct store_request *request = request_any(asker, STORE_NUMBERS, host);
    request->number_count = 1 + ask_pick(asker, 20);
    request->number_from = ask_pick(asker, 2) ? ask_pick(asker, 60) : 0;
    return request;
}

struct store_request *ask_anything(struct asker *asker) {
    uint32_t host = 1 + ask_pick(asker, asker->hosts), dice = ask_pick(asker, 100);
    if (dice < 38)
        return ask_commit(asker, host);
    if (dice < 54)
        return ask_adopt(asker, host);
    if (dice < 66)
        return ask_forward(asker);
    if (dice < 74)
        return ask_take(asker, host);
    if (dice < 77)
        return request_any(asker, STORE_BEAT, host);
    if (dice < 80)
        return ask_numbers(asker, host);
    if (dice < 84)
        return request_any(asker, STORE_RESOLVE, host);
    if (dice < 91)
        return ask_load(asker, host);
    if (dice < 94)
        return request_any(asker, STORE_POLL, host);
    return dice < 97 ? ask_page(asker, host) : ask_join(asker, host);
}
