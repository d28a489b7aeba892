/* SPDX-License-Identifier: Apache-2.0 */
/* Stores an operator's order in SQLite, in one transaction with its record, which is the next one in SYSTEM_GOAL's
 * chain. An order that is already in force changes nothing, so it can be repeated. */
#include "store/sqlite/sqlite_state.h"

struct ordering {
    struct hash policy; /* the policy that this host last recorded */
    bool stopped;
    struct hash head;
};

static void hash_bind(struct sqlite_run *run, const struct hash *hash) {
    run_blob(run, hash->bytes, sizeof hash->bytes);
}

static void state_read(struct sqlite_run *run, const struct store_request *request,
                       struct store_answer *answer, struct ordering *ret) {
    run_begin(run, SQL_ORDER_HELD);
    run_int(run, request->self.host);
    run_int(run, (int64_t)request->self.epoch);
    answer->held = run_row(run);
    if (answer->held)
        ret->policy = row_hash(run);
    run_end(run);
    sqlite_read_mark(run, answer);
    ret->stopped = answer->mark.stopped;
    run_begin(run, SQL_ORDER_HEAD);
    run_id_at(run, &SYSTEM_GOAL);
    if (run_row(run)) {
        answer->seq = (uint64_t)row_int(run);
        ret->head = row_hash(run);
    }
    run_end(run);
}

static void policy_write(struct sqlite_run *run, const struct store_request *request) {
    const struct store_order *order = request->order;
    sqlite_text_put(run, &SYSTEM_GOAL, &(struct text_row){order->record.policy, order->text});
    run_begin(run, SQL_ORDER_POLICY);
    run_int(run, request->self.host);
    hash_bind(run, &order->record.policy);
    run_change(run);
}

static void stop_write(struct sqlite_run *run, const struct store_order *order) {
    run_begin(run, SQL_ORDER_STOP);
    if (order->order == ORDER_STOP)
        run_text(run, order->why);
    else
        run_null(run);
    run_change(run);
}

void sqlite_order(struct sqlite_run *run, const struct store_request *request,
                  struct store_answer *answer, struct arena *arena) {
    (void)arena;
    const struct store_order *order = request->order;
    struct ordering now = {0};
    state_read(run, request, answer, &now);
    if (run->code || !answer->held || order_is_in_force(order, &now.policy, now.stopped))
        return;
    struct record record = order->record;
    record_seal(&record, SYSTEM_GOAL, answer->seq, &now.head);
    sqlite_record_put(run, &SYSTEM_GOAL, &record, sqlite_next_tx(run), 0);
    if (order->order == ORDER_POLICY)
        policy_write(run, request);
    else
        stop_write(run, order);
    answer->seq = record.seq;
    answer->mark.stopped = order->order == ORDER_POLICY ? now.stopped : order->order == ORDER_STOP;
}
