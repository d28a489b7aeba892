/* SPDX-License-Identifier: Apache-2.0 */
/* Writes goals for the tests of the store, without a ledger. */
#include "store/shop.h"

void shop_ask(struct shop *shop, enum store_verb verb) {
    shop->request.verb = verb;
    shop->request.at = 1800000000000000;
    store_perform(shop->store, &shop->request, &shop->answer, &shop->arena);
    check(shop->answer.outcome == STORE_DONE, "%s: %.*s", STORE_VERB_NAMES[verb],
          STR_ARG(shop->answer.error));
}

void shop_open(struct shop *shop, const char *where) {
    char error[512] = "";
    *shop = (struct shop){.store = store_open(str_of(where), error, sizeof error)};
    check(shop->store, "%s", error);
    shop->request.self = (struct store_self){.host = SHOP_HOST, .instance = 7};
    shop->request.build = shop->request.addr = STR("test");
    shop->request.speaks = SCHEMA_LEVEL;
    shop->request.limit = 10;
    shop_ask(shop, STORE_JOIN);
    shop->request.self.epoch = shop->answer.epoch;
    shop->batch = shop->answer.batch;
}

void shop_close(struct shop *shop) {
    store_close(shop->store);
    arena_free(&shop->arena);
}

struct record *ware_record(struct ware *ware, enum record_type type, struct arena *arena) {
    struct record *record = arena_new(arena, struct record, 1);
    struct evidence evidence = {.rule = STR("test"), .text = str_of(ware->title)};
    *record = (struct record){.type = type, .at = ware->goal.times.updated_at, .core = 1};
    record->body = shape_encode(&EVIDENCE, &evidence, arena);
    record_seal(record, ware->goal.id, ware->goal.records.seq, &ware->goal.records.head);
    ware->goal.records.seq = record->seq;
    ware->goal.records.head = record->hash;
    return record;
}

struct goal_commit ware_commit(const struct ware *ware, struct arena *arena) {
    struct goal_commit commit = {
        .goal = ware->goal,
    };
    struct str hot = shape_encode(&GOAL_HOT, &ware->goal, arena);
    commit.hot = row_seal(ROW_GOAL, ware->goal.id, 0, hot, arena);
    commit.expected = ware->goal.version - 1;
    commit.view_changed = commit.expected == 0 && !ware->goal.kind.admission;
    return commit;
}

void shop_commit(struct shop *shop, struct goal_commit *commits, uint32_t count) {
    shop->request.commits = commits;
    shop->request.commit_count = count;
    shop->request.batch = ++shop->batch;
    shop_ask(shop, STORE_COMMIT);
    check(shop->answer.held, "the host row is not held");
    for (uint32_t i = 0; i < count; i++)
        check(commits[i].ok, "commit %u of %u was not accepted", i, count);
}
