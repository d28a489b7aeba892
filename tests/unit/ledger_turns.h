/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger and its store in one thread: signals are offered, then it takes turns until it waits for time to pass. */
#pragma once

#include "ledger/ledger.h"
#include "unit.h"

static inline struct ledger *ledger_with_acts(struct act_log *acts) {
    struct ledger_config config = {.host = 1,
                                   .instance = 7,
                                   .poll_every = SECONDS(1000),
                                   .retry_every = MILLISECONDS(1),
                                   .policy = policy_of(SECONDS(3600)),
                                   .build = STR("test"),
                                   .addr = STR(""),
                                   .acts = acts};
    return ledger_create(&config);
}

static inline struct ledger *ledger_of_test(void) {
    return ledger_with_acts(NULL);
}

/* Fails if it does not come to rest in 400 turns. */
static inline void turn_until_quiet(struct ledger *ledger, struct store *store, int64_t *clock) {
    struct store_answer answer;
    struct arena arena = {0};
    const struct store_request *request = NULL;
    for (int i = 0; i < 400; i++) {
        *clock += MILLISECONDS(1);
        struct instant now = {*clock, *clock, (uint64_t)*clock, 0};
        request = ledger_turn(ledger, request ? &answer : NULL, now);
        if (request) {
            arena_reset(&arena);
            store_perform(store, request, &answer, &arena);
        } else if (ledger_wakes_at(ledger, now) > now.boot)
            break;
    }
    assert_null(request);
    arena_free(&arena);
}

static inline void offer(struct ledger *ledger, int64_t at, struct signal signal) {
    signal.at = at;
    signal.sender.actor = STR("human:1");
    signal.once.keyed = 1;
    assert_true(ledger_offer(ledger, input_make(&signal, NULL)));
}
