/* SPDX-License-Identifier: Apache-2.0 */
/* Records an operator's orders in the log, and puts them into force. */
#include "ledger/order.h"

#include "core/step.h"
#include "ledger/ledger_state.h"

#include <stdlib.h>

enum {
    ORDER_LEVEL = 3
}; /* of the store: below it, some host of the fleet cannot read such records */

/* ---- policies ---- */

/* Holds what a policy points to, one after the other; rows first, so that they are aligned. */
struct keeping {
    char *room;
    size_t used;
};

static const void *bytes_keep(struct keeping *keeping, const void *from, size_t size) {
    const void *kept = keeping->room ? keeping->room + keeping->used : NULL;
    if (keeping->room && size > 0)
        memcpy(keeping->room + keeping->used, from, size);
    keeping->used += size;
    return kept;
}

static struct str text_keep(struct keeping *keeping, struct str from) {
    return (struct str){bytes_keep(keeping, from.at, from.len), from.len};
}

/* Called once to measure the size, once to fill it. */
static void policy_fill(struct keeping *keeping, const struct policy *policy, struct str text,
                        struct policy_kept *kept) {
    kept->policy = *policy;
    kept->policy.dispatch.agents =
        bytes_keep(keeping, policy->dispatch.agents,
                   policy->dispatch.agent_count * sizeof *policy->dispatch.agents);
    kept->policy.spending.accounts =
        bytes_keep(keeping, policy->spending.accounts,
                   policy->spending.account_count * sizeof *policy->spending.accounts);
    kept->policy.spending.budgets =
        bytes_keep(keeping, policy->spending.budgets,
                   policy->spending.budget_count * sizeof *policy->spending.budgets);
    kept->policy.people.channels =
        bytes_keep(keeping, policy->people.channels,
                   policy->people.channel_count * sizeof *policy->people.channels);
    kept->policy.repositories.at =
        bytes_keep(keeping, policy->repositories.at,
                   policy->repositories.count * sizeof *policy->repositories.at);
    kept->policy.plans.agents = text_keep(keeping, policy->plans.agents);
    kept->policy.dispatch.allow_agents = text_keep(keeping, policy->dispatch.allow_agents);
    kept->text = text_keep(keeping, text);
}

struct policy_kept *policy_keep(const struct policy *policy, struct str text) {
    struct policy_kept sized = {0};
    struct keeping measure = {0};
    policy_fill(&measure, policy, text, &sized);
    struct policy_kept *kept = malloc(sizeof *kept + measure.used);
    if (!kept)
        return NULL;
    struct keeping keeping = {.room = (char *)(kept + 1)};
    *kept = (struct policy_kept){0};
    policy_fill(&keeping, policy, text, kept);
    return kept;
}

_Static_assert(sizeof(struct policy_agent) % 8 == 0 && sizeof(struct policy_budget) % 8 == 0 &&
                   sizeof(struct policy_channel) % 8 == 0 &&
                   sizeof(struct policy_repository) % 8 == 0 && sizeof(struct policy_kept) % 8 == 0,
               "rows that stand behind each other");

struct input *order_policy_input(struct policy_kept *kept, struct str actor, struct str what) {
    struct signal signal = {.kind = SIGNAL_POLICY_CHANGE,
                            .goal = SYSTEM_GOAL,
                            .sender.actor = actor,
                            .sender.by = WHO_HUMAN,
                            .text = str_cut_utf8(what, LIMIT_REPORT)};
    struct input *input = kept ? input_make(&signal, NULL) : NULL;
    if (input)
        input->policy = kept;
    else
        free(kept);
    return input;
}

/* Old policies stay: another thread may be reading them. */
static void policy_enforce(struct ledger *ledger, struct input *input) {
    struct policy_kept *kept = input->policy;
    input->policy = NULL;
    kept->older = ledger->policies;
    ledger->policies = kept;
    atomic_store(&ledger->policy, &kept->policy);
}

/* ---- request to the store ---- */

bool order_is(enum signal_kind kind) {
    return kind == SIGNAL_POLICY_CHANGE || kind == SIGNAL_FLEET_STOP || kind == SIGNAL_FLEET_RESUME;
}

static bool may_record(const struct ledger *ledger) {
    return ledger->mark.level >= ORDER_LEVEL;
}

bool order_is_wanted(const struct ledger *ledger) {
    return ledger->orders.first || (ledger->unrecorded && may_record(ledger));
}

static const struct order_row {
    enum order order;
    enum record_type record;
    struct str rule;
} ROWS[] = {
    {ORDER_POLICY, RECORD_POLICY_CHANGED, {"policy.changed", 14}},
    {ORDER_STOP, RECORD_FLEET_STOPPED, {"fleet.stopped", 13}},
    {ORDER_RESUME, RECORD_FLEET_RESUMED, {"fleet.resumed", 13}},
};

static const struct order_row *row_of(const struct input *input) {
    uint32_t kind = input ? input->signal.kind : SIGNAL_POLICY_CHANGE;
    return &ROWS[kind - SIGNAL_POLICY_CHANGE];
}

/* The evidence of an order: from the actor that gave it, or from the start itself. */
static struct evidence evidence_of(const struct ledger *ledger, const struct input *input) {
    struct evidence evidence = {.signal = SIGNAL_POLICY_CHANGE,
                                .actor = STR("overseer"),
                                .by = WHO_OVERSEER,
                                .reason = STR("as it was started")};
    if (input) {
        const struct signal *signal = &input->signal;
        evidence = (struct evidence){.signal = signal->kind,
                                     .source = signal->source,
                                     .actor = signal->sender.actor,
                                     .by = signal->sender.by,
                                     .text = str_cut_utf8(signal->text, LIMIT_REPORT),
                                     .reason = str_cut_utf8(signal->reason, LIMIT_REASON)};
    }
    evidence.rule = row_of(input)->rule;
    evidence.host = ledger->config.host;
    return evidence;
}

void order_request(struct ledger *ledger) {
    struct input *input = ledger->orders.first;
    ledger->ordering = input; /* others may arrive before the answer does */
    struct store_order *order = arena_new(&ledger->scratch, struct store_order, 1);
    struct evidence evidence = evidence_of(ledger, input);
    bool is_policy = row_of(input)->order == ORDER_POLICY;
    const struct policy_kept *kept = input && is_policy ? input->policy : ledger->policies;
    order->order = row_of(input)->order;
    order->why = evidence.reason;
    order->record = (struct record){.type = row_of(input)->record,
                                    .at = ledger->now.wall,
                                    .core = CORE_VERSION,
                                    .policy = kept->policy.hash};
    if (is_policy) {
        order->text = kept->text;
        evidence.more = kept->policy.hash;
    }
    order->record.body = shape_encode(&EVIDENCE, &evidence, &ledger->scratch);
    ledger->request.verb = STORE_ORDER;
    ledger->request.order = order;
}

/* ---- outcome ---- */

void order_heard(struct ledger *ledger, const struct store_answer *answer) {
    if (answer->mark.version > 0)
        ledger->mark = answer->mark;
    atomic_store(&ledger->stopped, ledger->mark.stopped);
}

/* The order that was sent; NULL: it was the policy that this daemon began with. */
static struct input *order_sent(struct ledger *ledger) {
    struct input *input = ledger->ordering ? input_pop(&ledger->orders) : NULL;
    must(input == ledger->ordering);
    ledger->ordering = NULL;
    return input;
}

static void order_done(struct ledger *ledger, const struct store_answer *answer) {
    struct input *input = order_sent(ledger);
    if (!input || input->policy)
        ledger->unrecorded = false;
    if (!input)
        return;
    if (input->policy)
        policy_enforce(ledger, input);
    else
        ledger->mark.stopped = input->signal.kind == SIGNAL_FLEET_STOP;
    atomic_store(&ledger->stopped, ledger->mark.stopped);
    input->applied = true;
    input->seq = answer->seq;
    ledger_answer(ledger, input, ERROR_NONE, NULL);
}

/* Repeating an order is harmless as such; but one that is still pending could be applied after a later order. So it is
 * fenced first. */
void order_absorb(struct ledger *ledger, const struct store_answer *answer) {
    switch (answer->outcome) {
    case STORE_DONE:
        if (answer->held)
            order_done(ledger, answer);
        else
            ledger_deposed(ledger);
        break;
    case STORE_REFUSED: {
        struct input *input = order_sent(ledger);
        if (!input || input->policy)
            ledger->unrecorded = false; /* it will never be recorded */
        ledger_retry_later(ledger, answer);
        if (input)
            ledger_answer(ledger, input, ERROR_REFUSED_BY_STORE, NULL);
        break;
    }
    case STORE_UNKNOWN:
        ledger->fencing = true;
        ledger_retry_later(ledger, answer);
        break;
    case STORE_FAILED: ledger_retry_later(ledger, answer); break;
    }
}
