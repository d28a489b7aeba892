/* SPDX-License-Identifier: Apache-2.0 */
/* Did the model and PostgreSQL answer the same, and are their tables the same? */
#include "rc/rc.h"

#include <stdlib.h>

/* The name of the first member that differs, or NULL. */
#define DIFFER(member) \
    if ((a->member) != (b->member)) \
    return #member
#define DIFFER_BYTES(member) \
    if (memcmp(&a->member, &b->member, sizeof a->member) != 0) \
    return #member

static const char *hosts_differ(const void *x, const void *y) {
    const struct host_row *a = x, *b = y;
    DIFFER(host);
    DIFFER(epoch);
    DIFFER(beat);
    DIFFER(batch);
    DIFFER(state);
    return NULL;
}

static const char *slots_differ(const void *x, const void *y) {
    const struct effect_slot *a = x, *b = y;
    DIFFER(n);
    DIFFER(kind);
    DIFFER(state);
    DIFFER(run_host);
    DIFFER(until);
    return NULL;
}

static const char *effects_differ(const void *x, const void *y) {
    const struct effect_entry *a = x, *b = y;
    DIFFER_BYTES(goal);
    if (!str_equal(a->body, b->body))
        return "body";
    return slots_differ(&a->slot, &b->slot);
}

static const char *mails_differ(const void *x, const void *y) {
    const struct inbox_row *a = x, *b = y;
    DIFFER_BYTES(source);
    DIFFER_BYTES(goal);
    return str_equal(a->body, b->body) ? NULL : "body";
}

static const char *dues_differ(const void *x, const void *y) {
    const struct due_row *a = x, *b = y;
    DIFFER_BYTES(goal);
    DIFFER(due_at);
    return NULL;
}

static const char *goals_differ(const void *x, const void *y) {
    const struct goal *a = x, *b = y;
    DIFFER_BYTES(id);
    DIFFER(owner);
    DIFFER(fence);
    DIFFER(version);
    DIFFER(seq);
    DIFFER_BYTES(head);
    DIFFER(due_at);
    DIFFER(quarantined);
    DIFFER(status);
    DIFFER(need);
    DIFFER(created_at);
    DIFFER(updated_at);
    DIFFER(reports);
    DIFFER(effects_made);
    DIFFER(last_exit);
    DIFFER(open_count);
    const char *slot = NULL;
    for (uint32_t i = 0; i < a->open_count && !slot; i++)
        slot = slots_differ(&a->open[i], &b->open[i]);
    return slot;
}

static const char *loads_differ(const void *x, const void *y) {
    const struct goal_loaded *a = x, *b = y;
    DIFFER(exists);
    DIFFER(whole);
    DIFFER(owner_lives);
    DIFFER(owner_epoch);
    return a->whole ? goals_differ(&a->goal, &b->goal) : NULL;
}

static const char *flags_differ(const void *x, const void *y) {
    return *(const bool *)x == *(const bool *)y ? NULL : "flag";
}

static const char *oks_differ(const void *x, const void *y) {
    const struct goal_commit *a = x, *b = y;
    DIFFER(ok);
    return NULL;
}

/* ---- lists ---- */

typedef const char *differ(const void *a, const void *b);

static const char *lists_differ(const char *name, const void *a, uint32_t a_count, const void *b,
                                uint32_t b_count, size_t size, differ *rows_differ,
                                struct arena *arena) {
    if (a_count != b_count)
        return arena_format(arena, "%s: model %u, PostgreSQL %u", name, a_count, b_count).at;
    for (uint32_t i = 0; i < a_count; i++) {
        const char *what = rows_differ((const char *)a + i * size, (const char *)b + i * size);
        if (what)
            return arena_format(arena, "%s[%u].%s", name, i, what).at;
    }
    return NULL;
}

#define LIST(name, of, count_a, count_b, rows_differ) \
    (what ? what \
          : lists_differ(name, a->of, count_a, b->of, count_b, sizeof *a->of, rows_differ, arena))

static int entry_order(const void *a, const void *b) {
    const struct effect_entry *x = a, *y = b;
    int order = id_compare(x->goal, y->goal);
    return order ? order : (x->slot.n > y->slot.n) - (x->slot.n < y->slot.n);
}

static void sort(void *rows, uint32_t count, size_t size,
                 int (*order)(const void *, const void *)) {
    if (count > 1)
        qsort(rows, count, size, order);
}

/* ---- answers ---- */

static const char *heads_differ(const struct store_answer *a, const struct store_answer *b) {
    DIFFER(outcome);
    DIFFER(held);
    DIFFER(epoch);
    DIFFER(batch);
    DIFFER(more);
    return NULL;
}

const char *answers_differ(const struct store_request *mine, const struct store_answer *model,
                           const struct store_request *theirs, const struct store_answer *real,
                           struct arena *arena) {
    const struct store_answer *a = model, *b = real;
    const char *what = heads_differ(a, b);
    /* the order of effects in an answer means nothing */
    sort(a->effects, a->effect_count, sizeof *a->effects, entry_order);
    sort(b->effects, b->effect_count, sizeof *b->effects, entry_order);
    uint32_t ids = mine->verb == STORE_LOAD ? mine->id_count : 0;
    what = LIST("hosts", hosts, a->host_count, b->host_count, hosts_differ);
    what = LIST("inbox", inbox, a->inbox_count, b->inbox_count, mails_differ);
    what = LIST("owned", owned, a->owned_count, b->owned_count, dues_differ);
    what = LIST("effects", effects, a->effect_count, b->effect_count, effects_differ);
    what = LIST("loaded", loaded, ids, ids, loads_differ);
    what = LIST("seen", seen, mine->key_count, mine->key_count, flags_differ);
    what = LIST("stands", stands, mine->mark_count, mine->mark_count, flags_differ);
    if (what)
        return what;
    return lists_differ("commits", mine->commits, mine->commit_count, theirs->commits,
                        theirs->commit_count, sizeof *mine->commits, oks_differ, arena);
}

/* ---- tables ---- */

static const char *dump_goals_differ(const void *x, const void *y) {
    const struct dump_goal *a = x, *b = y;
    DIFFER_BYTES(id);
    DIFFER(owner);
    DIFFER(fence);
    DIFFER(version);
    DIFFER(seq);
    DIFFER_BYTES(head);
    DIFFER(due_at);
    DIFFER(open);
    DIFFER(aside);
    return str_equal(a->hot, b->hot) ? NULL : "hot";
}

static const char *dump_records_differ(const void *x, const void *y) {
    const struct dump_record *a = x, *b = y;
    DIFFER_BYTES(goal);
    DIFFER(record.seq);
    DIFFER(record.at);
    DIFFER(record.type);
    DIFFER(record.core);
    DIFFER_BYTES(record.policy);
    DIFFER_BYTES(record.hash);
    return str_equal(a->record.body, b->record.body) ? NULL : "body";
}

static const char *dump_effects_differ(const void *x, const void *y) {
    const struct dump_effect *a = x, *b = y;
    DIFFER_BYTES(goal);
    return slots_differ(&a->slot, &b->slot);
}

static int goal_order(const void *a, const void *b) {
    return id_compare(((const struct dump_goal *)a)->id, ((const struct dump_goal *)b)->id);
}

static int record_order(const void *a, const void *b) {
    const struct dump_record *x = a, *y = b;
    int order = id_compare(x->goal, y->goal);
    if (order == 0)
        order = (x->record.seq > y->record.seq) - (x->record.seq < y->record.seq);
    return order ? order : memcmp(&x->record.hash, &y->record.hash, sizeof x->record.hash);
}

static int effect_order(const void *a, const void *b) {
    const struct dump_effect *x = a, *y = b;
    int order = id_compare(x->goal, y->goal);
    return order ? order : (x->slot.n > y->slot.n) - (x->slot.n < y->slot.n);
}

static int host_order(const void *a, const void *b) {
    const struct host_row *x = a, *y = b;
    return (x->host > y->host) - (x->host < y->host);
}

static void dump_sort(const struct dump *dump) {
    sort(dump->goals, dump->goal_count, sizeof *dump->goals, goal_order);
    sort(dump->records, dump->record_count, sizeof *dump->records, record_order);
    sort(dump->effects, dump->effect_count, sizeof *dump->effects, effect_order);
    sort(dump->hosts, dump->host_count, sizeof *dump->hosts, host_order);
}

static const char *counts_differ(const struct dump *a, const struct dump *b) {
    DIFFER(inbox_count);
    DIFFER(seen_count);
    DIFFER(aside_count);
    return NULL;
}

const char *dumps_differ(const struct dump *model, const struct dump *real, struct arena *arena) {
    const struct dump *a = model, *b = real;
    dump_sort(a);
    dump_sort(b);
    const char *what = NULL;
    what = LIST("host", hosts, a->host_count, b->host_count, hosts_differ);
    what = LIST("goal", goals, a->goal_count, b->goal_count, dump_goals_differ);
    what = LIST("record", records, a->record_count, b->record_count, dump_records_differ);
    what = LIST("effect", effects, a->effect_count, b->effect_count, dump_effects_differ);
    return what ? what : counts_differ(a, b);
}
