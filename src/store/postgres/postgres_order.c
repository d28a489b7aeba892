/* SPDX-License-Identifier: Apache-2.0 */
/* Stores an operator's order in PostgreSQL. It takes the order lock first, then the store's own row, then the host row.
 * The head of SYSTEM_GOAL's chain is read under these locks, and only then can the record be sealed: two pipelines, one
 * transaction. An order that is already in force changes nothing, so it can be repeated. */
#include "store/postgres/postgres_state.h"

struct ordering {
    struct hash policy, head;
    bool stopped;
};

static struct hash hash_of(const PGresult *result, int column) {
    struct hash hash = {0};
    if (PQntuples(result) == 1 && PQgetlength(result, 0, column) == sizeof hash)
        memcpy(&hash, PQgetvalue(result, 0, column), sizeof hash);
    return hash;
}

static void param_hash(struct pg_params *params, const struct hash *hash) {
    param_text(params, (struct str){(const char *)hash->bytes, sizeof hash->bytes});
}

static bool state_read(struct pg_run *run, const struct store_request *request,
                       struct ordering *ret) {
    struct pg_params host = {.arena = run->arena}, goal = {.arena = run->arena};
    param_int(&host, request->self.host);
    param_int(&host, (int64_t)request->self.epoch);
    param_id(&goal, SYSTEM_GOAL);
    pg_send(run, PG_BEGIN, NULL);
    pg_send(run, PG_ORDER_TURN, NULL);
    pg_send(run, PG_ORDER_LOCK, NULL);
    pg_send(run, PG_ORDER_HELD, &host);
    pg_send(run, PG_ORDER_HEAD, &goal);
    if (!pg_receive(run))
        return false;
    PGresult **rows = run->store->results;
    ret->stopped = PQntuples(rows[2]) == 1 && pg_int(rows[2], 0, 0);
    run->answer->held = PQntuples(rows[3]) == 1;
    ret->policy = hash_of(rows[3], 0);
    ret->head = hash_of(rows[4], 1);
    run->answer->seq = PQntuples(rows[4]) == 1 ? (uint64_t)pg_int(rows[4], 0, 0) : 0;
    return true;
}

static void send_record(struct pg_run *run, const struct record *record) {
    struct pg_params params = {.arena = run->arena};
    param_int(&params, time_day(record->at));
    param_id(&params, SYSTEM_GOAL);
    param_int(&params, (int64_t)record->seq);
    param_int(&params, record->at);
    param_int(&params, record->type);
    param_int(&params, record->core);
    param_hash(&params, &record->policy);
    param_hash(&params, &record->hash);
    param_text(&params, record->body);
    pg_send(run, PG_ORDER_RECORD, &params);
}

static void send_policy(struct pg_run *run, const struct store_request *request) {
    const struct store_order *order = request->order;
    struct pg_params text = {.arena = run->arena}, host = {.arena = run->arena};
    param_id(&text, SYSTEM_GOAL);
    param_hash(&text, &order->record.policy);
    param_text(&text, order->text);
    param_int(&host, request->self.host);
    param_hash(&host, &order->record.policy);
    pg_send(run, PG_ORDER_TEXT, &text);
    pg_send(run, PG_ORDER_POLICY, &host);
}

static void send_stop(struct pg_run *run, const struct store_order *order) {
    struct pg_params params = {.arena = run->arena};
    if (order->order == ORDER_STOP)
        param_text(&params, order->why);
    pg_send(run, order->order == ORDER_STOP ? PG_ORDER_STOP : PG_ORDER_RESUME, &params);
}

void postgres_order(struct pg_run *run, const struct store_request *request) {
    const struct store_order *order = request->order;
    struct ordering now = {0};
    if (!state_read(run, request, &now))
        return;
    if (!run->answer->held || order_is_in_force(order, &now.policy, now.stopped)) {
        pg_send(run, PG_ROLLBACK, NULL);
        pg_receive(run);
        return;
    }
    struct record record = order->record;
    record_seal(&record, SYSTEM_GOAL, run->answer->seq, &now.head);
    send_record(run, &record);
    if (order->order == ORDER_POLICY)
        send_policy(run, request);
    else
        send_stop(run, order);
    pg_send(run, PG_COMMIT, NULL);
    if (pg_receive(run))
        run->answer->seq = record.seq;
}
