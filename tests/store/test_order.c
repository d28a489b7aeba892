/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that an operator's order is stored once, in one chain, whichever host gives it and however often. On SQLite,
 * and on PostgreSQL where OVERSEER_TEST_PG names one. */
#include "store/store.h"
#include "unit/unit.h"

#include <pthread.h>
#include <unistd.h>

enum { AT_ONCE = 4, ROUNDS = 25 };

static char file[64], where[512];

struct host {
    uint32_t number;
    struct store *store;
    struct arena arena;
    uint64_t epoch;
    struct store_answer answer;
    uint32_t given; /* number of orders that were answered */
    pthread_t thread;
};

static void ask(struct host *host, struct store_request request) {
    arena_reset(&host->arena);
    request.self = (struct store_self){host->number, host->number + 100, host->epoch};
    request.at = 1794713191000000;
    store_perform(host->store, &request, &host->answer, &host->arena);
}

static void host_open(struct host *host, uint32_t number) {
    char error[512] = "";
    *host =
        (struct host){.number = number, .store = store_open(str_of(where), error, sizeof error)};
    check(host->store, "%s", error);
    ask(host,
        (struct store_request){.verb = STORE_JOIN, .build = STR("test"), .addr = STR("here")});
    check(host->answer.outcome == STORE_DONE, "%.*s", STR_ARG(host->answer.error));
    host->epoch = host->answer.epoch;
}

static void host_close(struct host *host) {
    store_close(host->store);
    arena_free(&host->arena);
}

static struct store_order order_make(enum order kind, const char *text, struct arena *arena) {
    static const enum record_type TYPE[ORDERS] = {RECORD_POLICY_CHANGED, RECORD_FLEET_STOPPED,
                                                  RECORD_FLEET_RESUMED};
    struct evidence evidence = {.rule = STR("test"), .text = str_of(text)};
    return (struct store_order){.order = kind,
                                .record = {.type = TYPE[kind],
                                           .at = 1794713191000000,
                                           .core = 1,
                                           .policy = sha256(str_of(text)),
                                           .body = shape_encode(&EVIDENCE, &evidence, arena)},
                                .text = str_of(text),
                                .why = str_of(text)};
}

/* Returns the seq of the newest record of the store's own chain. */
static uint64_t give(struct host *host, enum order kind, const char *text) {
    struct arena arena = {0};
    struct store_order order = order_make(kind, text, &arena);
    ask(host, (struct store_request){.verb = STORE_ORDER, .order = &order});
    arena_free(&arena);
    check(host->answer.outcome == STORE_DONE, "%.*s", STR_ARG(host->answer.error));
    return host->answer.seq;
}

static bool is_stopped(struct host *host) {
    ask(host, (struct store_request){.verb = STORE_POLL, .limit = 1});
    check(host->answer.outcome == STORE_DONE, "%.*s", STR_ARG(host->answer.error));
    return host->answer.mark.stopped;
}

/* Verifies the chain of SYSTEM_GOAL from its beginning. */
static uint64_t chain_check(struct host *host) {
    struct hash head = {0};
    uint64_t count = 0;
    struct cursor place = {0};
    ask(host, (struct store_request){.verb = STORE_POLL, .limit = 1});
    place.era = host->answer.mark.era;
    for (bool more = true; more;) {
        ask(host, (struct store_request){.verb = STORE_FOLLOW,
                                         .cursor = place,
                                         .ids = &SYSTEM_GOAL,
                                         .id_count = 1,
                                         .limit = 50});
        check(host->answer.outcome == STORE_DONE, "%.*s", STR_ARG(host->answer.error));
        for (uint32_t i = 0; i < host->answer.log_count; i++) {
            struct record record = host->answer.log[i].record;
            struct hash hash = record.hash;
            check(record.seq == count + 1, "record %llu behind %llu",
                  (unsigned long long)record.seq, (unsigned long long)count);
            record_seal(&record, SYSTEM_GOAL, count++, &head);
            check(hash_equal(&hash, &record.hash), "record %llu breaks the chain",
                  (unsigned long long)count);
            head = hash;
        }
        more = host->answer.more && host->answer.log_count > 0;
        place = host->answer.reached;
    }
    return count;
}

static void an_order_is_kept_once(void **state) {
    (void)state;
    struct host a, b;
    host_open(&a, 1);
    host_open(&b, 2);
    check(!is_stopped(&a), "it begins stopped");
    uint64_t first = give(&a, ORDER_POLICY, "one = 1\n");
    check(give(&a, ORDER_POLICY, "one = 1\n") == first, "again");
    check(give(&b, ORDER_POLICY, "one = 1\n") == first + 1,
          "each host says under which it decides");
    check(give(&a, ORDER_POLICY, "one = 2\n") == first + 2, "another policy");
    check(give(&a, ORDER_STOP, "why") == first + 3 && is_stopped(&b), "stop");
    check(give(&b, ORDER_STOP, "why else") == first + 3, "stopped already");
    check(give(&b, ORDER_RESUME, "") == first + 4 && !is_stopped(&a), "resume");
    check(give(&a, ORDER_RESUME, "") == first + 4, "resumed already");
    struct hash hash = sha256(STR("one = 2\n"));
    host_close(&a);
    host_open(&a, 1);
    check(hash_equal(&a.answer.policy, &hash), "a join says which policy was recorded last");
    check(chain_check(&a) >= first + 4, "the chain");
    host_close(&a);
    host_close(&b);
}

static void who_was_deposed_orders_nothing(void **state) {
    (void)state;
    struct host a, b;
    host_open(&a, 1);
    uint64_t before = chain_check(&a);
    a.epoch--;
    give(&a, ORDER_STOP, "too late");
    check(!a.answer.held, "it was held");
    a.epoch++;
    host_open(&b, 2);
    check(!is_stopped(&b) && chain_check(&b) == before, "it was written");
    host_close(&a);
    host_close(&b);
}

static void *give_much(void *with) {
    struct host *host = with;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct arena arena = {0};
        char text[32];
        snprintf(text, sizeof text, "a%u = %u\n", host->number, i);
        struct store_order order = order_make(i % 3, text, &arena);
        ask(host, (struct store_request){.verb = STORE_ORDER, .order = &order});
        host->given += host->answer.outcome == STORE_DONE && host->answer.held;
        arena_free(&arena);
    }
    return NULL;
}

/* PostgreSQL: the store's own row is locked, so the chain does not fork. */
static void the_chain_does_not_fork(void **state) {
    (void)state;
    static struct host hosts[AT_ONCE];
    for (uint32_t i = 0; i < AT_ONCE; i++)
        host_open(&hosts[i], i + 1);
    uint64_t before = chain_check(&hosts[0]);
    for (uint32_t i = 0; i < AT_ONCE; i++)
        assert_int_equal(pthread_create(&hosts[i].thread, NULL, give_much, &hosts[i]), 0);
    for (uint32_t i = 0; i < AT_ONCE; i++)
        pthread_join(hosts[i].thread, NULL);
    uint64_t after = chain_check(&hosts[0]);
    for (uint32_t i = 0; i < AT_ONCE; i++) {
        check(hosts[i].given == ROUNDS, "host %u was answered %u times: %.*s", i + 1,
              hosts[i].given, STR_ARG(hosts[i].answer.error));
        host_close(&hosts[i]);
    }
    check(after >= before + AT_ONCE * (ROUNDS / 3), "%llu records", (unsigned long long)after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_is_kept_once),
        cmocka_unit_test(who_was_deposed_orders_nothing),
        cmocka_unit_test(the_chain_does_not_fork),
    };
    const char *server = getenv("OVERSEER_TEST_PG");
    snprintf(file, sizeof file, "/tmp/overseer-order.%d.db", (int)getpid());
    snprintf(where, sizeof where, "sqlite:%s", file);
    if (server)
        snprintf(where, sizeof where, "%s", server);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const ENDS[] = {"", "-wal", "-shm", ".lock"};
    for (size_t i = 0; i < count_of(ENDS); i++) {
        char path[96];
        snprintf(path, sizeof path, "%s%s", file, ENDS[i]);
        unlink(path);
    }
    return failed;
}
