/* SPDX-License-Identifier: Apache-2.0 */
/* Models what PostgreSQL does with our statements under READ COMMITTED: rows in arrays, row locks held to the end of
 * the transaction, changes applied at its commit. Each statement sees what is committed when it runs, plus the changes
 * of its own transaction. test_model_postgres checks it against a real server. */
#include "lib/backend.h"

#include "base/planted.h"

#include <stdlib.h>

enum { MODEL_PAST = 3, MAX_HOSTS = 8, MAX_LOCKS = 256, MAX_ADOPTED = 64 };

/* What a session can wait for. An inserted and not yet committed key is locked too. */
enum lock_kind { LOCK_HOST, LOCK_GOAL, LOCK_NEW_GOAL, LOCK_INBOX };

struct lock {
    enum lock_kind kind;
    struct id key;
    struct session *by;
    bool
        updated; /* the row was updated, not only locked: an insert waits for an update, not for a lock */
};

struct model {
    struct backend backend;
    struct arena arena; /* of the rows; what they point to is never modified, so copies share it */
    struct dump now, then; /* then: state at the backup */
    uint32_t caps[DUMP_TABLE_COUNT];
    struct lock locks[MAX_LOCKS];
    uint32_t lock_count;
    bool backed_up;
    bool keeps; /* keeps the state before each commit */
    struct dump past[MODEL_PAST];
    uint32_t past_count;
};

/* Uncommitted changes of a transaction. */
struct pending {
    bool batched; /* commit: the host row is locked by us */
    struct id adopted[MAX_ADOPTED];
    uint32_t adopted_count;
};

/* ---- rows ---- */

static void *row_add(struct model *model, enum dump_list list) {
    const struct dump_table *table = &DUMP_TABLES[list];
    uint32_t *count = dump_count(table, &model->now), cap = model->caps[list];
    void **rows = dump_rows(table, &model->now);
    if (*count == cap) {
        model->caps[list] = cap = cap ? cap * 2 : 16;
        void *grown = arena_take(&model->arena, cap * table->size, alignof(max_align_t));
        if (*count > 0)
            memcpy(grown, *rows, *count * table->size);
        *rows = grown;
    }
    return memset((char *)*rows + (*count)++ * table->size, 0, table->size);
}

static void row_remove(struct model *model, enum dump_list list, void *row) {
    const struct dump_table *table = &DUMP_TABLES[list];
    uint32_t *count = dump_count(table, &model->now);
    char *last = (char *)*dump_rows(table, &model->now) + --*count * table->size;
    if (row != last)
        memcpy(row, last, table->size);
}

static struct dump_host *host_find(struct model *model, uint32_t host) {
    for (uint32_t i = 0; i < model->now.host_count; i++)
        if (model->now.hosts[i].row.host == host)
            return &model->now.hosts[i];
    return NULL;
}

static struct dump_goal *goal_find(struct model *model, struct id id) {
    for (uint32_t i = 0; i < model->now.goal_count; i++)
        if (id_equal(model->now.goals[i].id, id))
            return &model->now.goals[i];
    return NULL;
}

static struct goal_view *view_find(struct model *model, struct id id) {
    for (uint32_t i = 0; i < model->now.view_count; i++)
        if (id_equal(model->now.views[i].id, id))
            return &model->now.views[i];
    return NULL;
}

static struct dump_inbox *inbox_find(struct model *model, struct id source) {
    for (uint32_t i = 0; i < model->now.inbox_count; i++)
        if (id_equal(model->now.inbox[i].source, source))
            return &model->now.inbox[i];
    return NULL;
}

/* ---- locks ---- */

static struct id host_key(uint32_t host) {
    struct id key = {0};
    memcpy(key.bytes, &host, sizeof host);
    return key;
}

static const struct lock *lock_of_other(const struct model *model, enum lock_kind kind,
                                        struct id key, const struct session *session) {
    for (uint32_t i = 0; i < model->lock_count; i++)
        if (model->locks[i].kind == kind && id_equal(model->locks[i].key, key) &&
            model->locks[i].by != session)
            return &model->locks[i];
    return NULL;
}

static bool locked(const struct model *model, enum lock_kind kind, struct id key,
                   const struct session *session) {
    return lock_of_other(model, kind, key, session) != NULL;
}

static void lock_take(struct model *model, enum lock_kind kind, struct id key,
                      struct session *session, bool updated) {
    for (uint32_t i = 0; i < model->lock_count; i++)
        if (model->locks[i].kind == kind && id_equal(model->locks[i].key, key)) {
            model->locks[i].updated = updated;
            return;
        }
    must(model->lock_count < MAX_LOCKS);
    model->locks[model->lock_count++] = (struct lock){kind, key, session, updated};
}

static bool lock_is_mine(const struct model *model, enum lock_kind kind, struct id key,
                         const struct session *session) {
    for (uint32_t i = 0; i < model->lock_count; i++)
        if (model->locks[i].kind == kind && id_equal(model->locks[i].key, key))
            return model->locks[i].by == session;
    return false;
}

static void unlock_all(struct model *model, const struct session *session) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < model->lock_count; i++)
        if (model->locks[i].by != session)
            model->locks[kept++] = model->locks[i];
    model->lock_count = kept;
}

static struct pending *pending_of(struct session *session) {
    if (!session->own)
        session->own = arena_new(&session->arena, struct pending, 1);
    return session->own;
}

/* ---- statements on the host row; each is a transaction of its own ---- */

static bool host_locked(const struct model *model, uint32_t host, const struct session *session) {
    return locked(model, LOCK_HOST, host_key(host), session);
}

static uint32_t speaks_of(const struct store_request *request) {
    return request->speaks ? request->speaks : SCHEMA_LEVEL;
}

/* P13 */
static bool row_is_behind(const struct dump_host *host, const struct store_known *known) {
    return known->back || !host || host->row.epoch < known->epoch || host->row.beat < known->beat ||
           host->row.batch < known->batch;
}

static uint64_t at_least(uint64_t value, uint64_t least) {
    return value > least ? value : least;
}

static void join_known(struct model *model, const struct session *session,
                       struct store_answer *answer) {
    const struct store_known *known = &session->request->known;
    const struct dump_host *host = host_find(model, session->request->self.host);
    answer->back = known->epoch > 0 && row_is_behind(host, known);
    answer->batch_was = host ? host->row.batch : 0;
    if (answer->back && model->now.marks->era == known->era)
        model->now.marks->era++;
}

static enum session_state join(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    struct store_answer *answer = &session->answer;
    struct dump_host *host = host_find(model, request->self.host);
    if (model->now.marks->level > speaks_of(request)) {
        answer->outcome = STORE_REFUSED;
        return SESSION_DONE;
    }
    if (host && host_locked(model, request->self.host, session))
        return SESSION_BLOCKED;
    join_known(model, session, answer);
    if (!host) {
        host = row_add(model, DUMP_HOSTS);
        host->row.host = request->self.host;
        host->numbers.era = (uint64_t)-1;
    }
    host->row.epoch = at_least(host->row.epoch, request->known.epoch) + 1;
    host->row.beat = at_least(host->row.beat, request->known.beat) + 1;
    host->row.batch = at_least(host->row.batch, request->known.batch);
    host->row.state = HOST_LIVE;
    host->instance = request->self.instance;
    host->speaks = speaks_of(request);
    answer->held = true;
    answer->epoch = host->row.epoch;
    answer->beat = host->row.beat;
    answer->batch = host->row.batch;
    answer->policy = host->policy;
    answer->mark = *model->now.marks;
    if (host->numbers.era == model->now.marks->era)
        answer->numbers = host->numbers;
    return SESSION_DONE;
}

static enum session_state beat(struct model *model, struct session *session) {
    struct dump_host *host = host_find(model, session->request->self.host);
    const struct store_known *known = &session->request->known;
    if (host && host->row.epoch == session->request->self.epoch && host->row.beat >= known->beat &&
        host->row.batch >= known->batch) {
        if (host_locked(model, host->row.host, session))
            return SESSION_BLOCKED;
        host->row.beat++;
        session->answer.held = true;
    }
    return SESSION_DONE;
}

/* P15. In PostgreSQL it may also wait for a join that has locked the row of the store. */
static enum session_state numbers(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    struct dump_host *host = host_find(model, request->self.host);
    struct dump_numbered *numbered = model->now.numbered;
    uint64_t era = model->now.marks->era, top = numbered->to;
    if (!host || host->row.epoch != request->self.epoch)
        return SESSION_DONE;
    if (host_locked(model, host->row.host, session))
        return SESSION_BLOCKED;
    if (numbered->era != era) {
        for (uint32_t i = 0; i < model->now.view_count; i++)
            top = at_least(top, (uint64_t)model->now.views[i].number);
        top += number_gap() * (era - numbered->era);
    }
    top = at_least(top + 1, request->number_from) - 1;
    if (host->numbers.era != era || host->numbers.end != top + 1)
        host->numbers.next = top + 1;
    host->numbers.end = top + 1 + request->number_count;
    host->numbers.era = numbered->era = era;
    numbered->to = host->numbers.end - 1;
    session->answer.held = true;
    session->answer.numbers = host->numbers;
    return SESSION_DONE;
}

static enum session_state take(struct model *model, struct session *session) {
    const struct host_row *victim = &session->request->victim;
    struct dump_host *host = host_find(model, victim->host);
    const struct store_known *known = &session->request->known;
    const struct dump_host *self = host_find(model, session->request->self.host);
    bool certain =
        known->epoch == 0 || (self && self->row.epoch == session->request->self.epoch &&
                              self->row.beat >= known->beat && self->row.batch >= known->batch);
    if (certain && host && host->row.epoch == victim->epoch && host->row.beat == victim->beat &&
        host->row.state == HOST_LIVE) {
        if (host_locked(model, host->row.host, session))
            return SESSION_BLOCKED;
        model->now.marks->era += known->back;
        host->row.epoch++;
        host->row.state = HOST_LOST;
        session->answer.held = true;
    }
    return SESSION_DONE;
}

static enum session_state resolve(struct model *model, struct session *session) {
    struct dump_host *host = host_find(model, session->request->self.host);
    if (host && host->instance == session->request->self.instance && host->row.state == HOST_LIVE) {
        if (host_locked(model, host->row.host, session))
            return SESSION_BLOCKED;
        host->row.epoch++;
        session->answer.held = true;
        session->answer.epoch = host->row.epoch;
        session->answer.batch = host->row.batch;
    }
    return SESSION_DONE;
}

/* ---- reading ---- */

static int by_goal(const void *a, const void *b) {
    return id_compare(((const struct due_row *)a)->goal, ((const struct due_row *)b)->goal);
}

static void effects_into(struct model *model, struct session *session, struct id goal) {
    struct store_answer *answer = &session->answer;
    if (!answer->effects)
        answer->effects = arena_new(&session->arena, struct effect_entry, 1024);
    for (uint32_t i = 0; i < model->now.effect_count; i++) {
        const struct dump_effect *effect = &model->now.effects[i];
        if (!id_equal(effect->goal, goal) || answer->effect_count == 1024)
            continue;
        struct str body = effect->body;
        bool damaged = !row_unseal(ROW_EFFECT, goal, effect->slot.n, &body);
        answer->effects[answer->effect_count++] =
            (struct effect_entry){goal, effect->slot, damaged ? (struct str){0} : body, damaged};
    }
}

static bool id_is_in(const struct id *ids, uint32_t count, struct id id) {
    for (uint32_t i = 0; i < count; i++)
        if (id_equal(ids[i], id))
            return true;
    return false;
}

static bool owned_wants(const struct store_request *request, const struct dump_goal *goal) {
    if (goal->owner != request->self.host)
        return false;
    if (request->only_count > 0)
        return id_is_in(request->only, request->only_count, goal->id);
    return goal->open && id_compare(goal->id, request->after) > 0;
}

static enum session_state owned(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    struct store_answer *answer = &session->answer;
    answer->owned = arena_new(&session->arena, struct due_row, model->now.goal_count);
    for (uint32_t i = 0; i < model->now.goal_count; i++) {
        const struct dump_goal *goal = &model->now.goals[i];
        if (owned_wants(request, goal))
            answer->owned[answer->owned_count++] = (struct due_row){goal->id, goal->due_at};
    }
    if (answer->owned_count > 0)
        qsort(answer->owned, answer->owned_count, sizeof *answer->owned, by_goal);
    answer->more = request->only_count == 0 && answer->owned_count >= request->limit;
    answer->owned_count = answer->more ? request->limit : answer->owned_count;
    for (uint32_t i = 0; i < answer->owned_count; i++)
        effects_into(model, session, answer->owned[i].goal);
    return SESSION_DONE;
}

static void poll_hosts(struct model *model, struct session *session) {
    struct store_answer *answer = &session->answer;
    uint32_t self = session->request->self.host;
    answer->hosts = arena_new(&session->arena, struct host_row, LIMIT_NEIGHBOURS);
    for (uint32_t after = self, seen = 0; seen < MAX_HOSTS && answer->host_count < LIMIT_NEIGHBOURS;
         seen++) {
        const struct host_row *next = NULL;
        for (uint32_t i = 0; i < model->now.host_count; i++) {
            const struct host_row *row = &model->now.hosts[i].row;
            uint32_t away = row->host - after - 1,
                     best = next ? next->host - after - 1 : UINT32_MAX;
            if (row->host != self && row->state != HOST_GONE && away < best)
                next = row;
        }
        if (!next)
            break;
        if (answer->host_count > 0 && answer->hosts[0].host == next->host)
            break;
        answer->hosts[answer->host_count++] = *next;
        after = next->host;
    }
}

static int by_source(const void *a, const void *b) {
    return id_compare(((const struct inbox_row *)a)->source, ((const struct inbox_row *)b)->source);
}

/* Any host may take what was forwarded to a host that is gone. */
static bool inbox_is_for(struct model *model, const struct dump_inbox *row, uint32_t host) {
    const struct dump_host *to = host_find(model, row->to_host);
    return row->to_host == host || (to && to->row.state == HOST_GONE);
}

/* Every host that is not gone supports a higher level than the current one. */
static bool level_may_rise(struct model *model, uint32_t host) {
    const struct dump_host *self = host_find(model, host);
    uint32_t level = model->now.marks->level;
    for (uint32_t i = 0; i < model->now.host_count; i++)
        if (model->now.hosts[i].row.state != HOST_GONE && model->now.hosts[i].speaks <= level)
            return false;
    return self && self->speaks > level;
}

static enum session_state poll_all(struct model *model, struct session *session) {
    struct store_answer *answer = &session->answer;
    uint32_t self = session->request->self.host;
    poll_hosts(model, session);
    answer->inbox = arena_new(&session->arena, struct inbox_row, model->now.inbox_count);
    for (uint32_t i = 0; i < model->now.inbox_count; i++) {
        const struct dump_inbox *row = &model->now.inbox[i];
        if (inbox_is_for(model, row, self))
            answer->inbox[answer->inbox_count++] =
                (struct inbox_row){.source = row->source, .goal = row->goal, .body = row->body};
    }
    if (answer->inbox_count > 0)
        qsort(answer->inbox, answer->inbox_count, sizeof *answer->inbox, by_source);
    if (answer->inbox_count > session->request->limit)
        answer->inbox_count = session->request->limit;
    if (level_may_rise(model, self))
        model->now.marks->level++;
    answer->mark = *model->now.marks;
    return SESSION_DONE;
}

static void load_goal(struct model *model, struct goal_loaded *loaded) {
    const struct dump_goal *row = goal_find(model, loaded->goal.id);
    if (!row)
        return;
    loaded->goal = (struct goal){.id = row->id,
                                 .owner = row->owner,
                                 .fence = row->fence,
                                 .version = row->version,
                                 .records.seq = row->seq,
                                 .records.head = row->head,
                                 .due_at = row->due_at,
                                 .quarantined = row->aside};
    loaded_hot(loaded, row->hot);
    const struct dump_host *owner = host_find(model, row->owner);
    loaded->owner_epoch = owner ? owner->row.epoch : 0;
    loaded->owner_lives = owner && owner->row.state == HOST_LIVE;
}

static int by_n(const void *a, const void *b) {
    const struct dump_part *x = *(const struct dump_part *const *)a,
                           *y = *(const struct dump_part *const *)b;
    return (x->n > y->n) - (x->n < y->n);
}

static void load_parts(struct model *model, struct goal_loaded *loaded, struct arena *arena) {
    const struct dump_part **rows =
        arena_new(arena, const struct dump_part *, model->now.part_count);
    for (uint32_t kind = 0; kind < PARTS; kind++) {
        uint32_t count = 0;
        for (uint32_t i = 0; PART[kind].live && i < model->now.part_count; i++)
            if (id_equal(model->now.parts[i].goal, loaded->goal.id) &&
                model->now.parts[i].kind == kind)
                rows[count++] = &model->now.parts[i];
        if (count > 0)
            qsort(rows, count, sizeof *rows, by_n);
        for (uint32_t i = 0; i < count; i++)
            loaded_part(loaded, kind, rows[i]->n, rows[i]->body, arena);
    }
}

static void load_effects(struct model *model, struct goal_loaded *loaded) {
    const struct dump_effect *last = NULL;
    for (;;) { /* in order of n */
        const struct dump_effect *next = NULL;
        for (uint32_t i = 0; i < model->now.effect_count; i++) {
            const struct dump_effect *row = &model->now.effects[i];
            if (id_equal(row->goal, loaded->goal.id) && (!last || row->slot.n > last->slot.n) &&
                (!next || row->slot.n < next->slot.n))
                next = row;
        }
        if (!next)
            return;
        struct str body = next->body;
        if (!row_unseal(ROW_EFFECT, next->goal, next->slot.n, &body))
            loaded->whole = false;
        loaded_effect(loaded, next->slot);
        last = next;
    }
}

static bool source_seen(struct model *model, const struct source_key *key) {
    for (uint32_t i = 0; i < model->now.seen_count; i++)
        if (id_equal(model->now.seen[i].goal, key->goal) &&
            id_equal(model->now.seen[i].source, key->source))
            return true;
    return false;
}

static bool record_stands(struct model *model, const struct record_mark *mark) {
    for (uint32_t i = 0; i < model->now.record_count; i++)
        if (id_equal(model->now.records[i].goal, mark->goal) &&
            model->now.records[i].record.seq == mark->seq &&
            hash_equal(&model->now.records[i].record.hash, &mark->hash))
            return true;
    return false;
}

/* P5: goals first, then their parts, each in its own statement. */
static enum session_state load(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    struct store_answer *answer = &session->answer;
    if (session->place == 0) {
        answer->loaded = arena_new(&session->arena, struct goal_loaded, request->id_count + 1);
        answer->seen = arena_new(&session->arena, bool, request->key_count + 1);
        answer->stands = arena_new(&session->arena, bool, request->mark_count + 1);
        for (uint32_t i = 0; i < request->id_count; i++) {
            answer->loaded[i].goal.id = request->ids[i];
            load_goal(model, &answer->loaded[i]);
        }
        return SESSION_RUNS;
    }
    for (uint32_t i = 0; i < request->id_count; i++)
        if (answer->loaded[i].exists) {
            load_effects(model, &answer->loaded[i]);
            load_parts(model, &answer->loaded[i], &session->arena);
        }
    for (uint32_t i = 0; i < request->key_count; i++)
        answer->seen[i] = source_seen(model, &request->keys[i]);
    for (uint32_t i = 0; i < request->mark_count; i++)
        answer->stands[i] = record_stands(model, &request->marks[i]);
    return SESSION_DONE;
}

/* ---- committing ---- */

static enum session_state batch_lock(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    const struct dump_host *host = host_find(model, request->self.host);
    bool match = host && (planted(NO_EPOCH_CHECK) || (host->row.epoch == request->self.epoch &&
                                                      host->row.batch == request->batch - 1));
    if (match && host_locked(model, request->self.host, session))
        return SESSION_BLOCKED;
    if (match) {
        lock_take(model, LOCK_HOST, host_key(request->self.host), session, true);
        pending_of(session)->batched = true;
    }
    return SESSION_RUNS;
}

static bool goal_matches(const struct dump_goal *goal, const struct store_request *request,
                         const struct goal_commit *commit) {
    return planted(NO_VERSION_CHECK) ||
           (goal->version == commit->expected && goal->owner == request->self.host);
}

static bool commit_fits(const struct dump_goal *goal, const struct store_request *request,
                        const struct goal_commit *commit) {
    return commit->expected == 0 ? !goal : goal && goal_matches(goal, request, commit);
}

/* Determines first whether any lock has to be waited for, and locks afterwards, so that a blocked statement has done
 * nothing. */
static bool commit_would_wait(struct model *model, const struct session *session) {
    const struct store_request *request = session->request;
    for (uint32_t i = 0; i < request->commit_count; i++) {
        const struct goal_commit *commit = &request->commits[i];
        const struct dump_goal *goal = goal_find(model, commit->goal.id);
        const struct lock *lock = lock_of_other(model, LOCK_GOAL, commit->goal.id, session);
        if (goal && lock &&
            (commit->expected == 0 ? lock->updated : goal_matches(goal, request, commit)))
            return true;
        if (commit->expected == 0 && locked(model, LOCK_NEW_GOAL, commit->goal.id, session))
            return true;
        for (uint32_t k = 0; commit_fits(goal, request, commit) && k < commit->inbox_count; k++)
            if (inbox_find(model, commit->inbox_done[k]) &&
                locked(model, LOCK_INBOX, commit->inbox_done[k], session))
                return true;
    }
    return false;
}

static void commit_lock(struct model *model, struct session *session,
                        const struct goal_commit *commit, bool exists) {
    for (uint32_t k = 0; k < commit->inbox_count; k++)
        if (inbox_find(model, commit->inbox_done[k]))
            lock_take(model, LOCK_INBOX, commit->inbox_done[k], session, true);
    lock_take(model, exists ? LOCK_GOAL : LOCK_NEW_GOAL, commit->goal.id, session, true);
}

static enum session_state commit_apply(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    for (uint32_t i = 0; i < request->commit_count; i++)
        request->commits[i].ok = false;
    if (!pending_of(session)->batched)
        return SESSION_RUNS;
    if (commit_would_wait(model, session))
        return SESSION_BLOCKED;
    for (uint32_t i = 0; i < request->commit_count; i++) {
        struct goal_commit *commit = &request->commits[i];
        const struct dump_goal *goal = goal_find(model, commit->goal.id);
        commit->ok = commit_fits(goal, request, commit);
        if (commit->ok)
            commit_lock(model, session, commit, goal != NULL);
    }
    return SESSION_RUNS;
}

static void effect_change_apply(struct model *model, struct id goal,
                                const struct effect_change *change) {
    struct dump_effect *row = NULL;
    for (uint32_t i = 0; i < model->now.effect_count && !row; i++)
        if (id_equal(model->now.effects[i].goal, goal) &&
            model->now.effects[i].slot.n == change->slot.n)
            row = &model->now.effects[i];
    if (change->op == EFFECT_OP_MAKE) {
        row = row_add(model, DUMP_EFFECTS);
        *row = (struct dump_effect){goal, change->slot, arena_copy(&model->arena, change->sealed)};
    } else if (row && change->op == EFFECT_OP_MOVE) {
        uint32_t kind = row->slot.kind;
        row->slot = change->slot;
        row->slot.kind = kind;
    } else if (row)
        row_remove(model, DUMP_EFFECTS, row);
}

static void inbox_remove(struct model *model, struct id source) {
    struct dump_inbox *row = inbox_find(model, source);
    if (row)
        row_remove(model, DUMP_INBOX, row);
}

static void sources_apply(struct model *model, const struct goal_commit *commit) {
    for (uint32_t i = 0; i < commit->inbox_count; i++)
        inbox_remove(model, commit->inbox_done[i]);
    for (uint32_t i = 0; i < commit->seen_count; i++) {
        struct source_key key = {commit->goal.id, commit->seen[i]};
        if (!source_seen(model, &key))
            *(struct source_key *)row_add(model, DUMP_SEEN) = key;
    }
    for (uint32_t i = 0; i < commit->aside_count; i++) {
        const struct aside_row *aside = &commit->aside[i];
        bool there = false;
        for (uint32_t k = 0; k < model->now.aside_count; k++)
            there = there || (id_equal(model->now.asides[k].goal, commit->goal.id) &&
                              id_equal(model->now.asides[k].source, aside->source));
        if (!there)
            *(struct dump_aside *)row_add(model, DUMP_ASIDES) = (struct dump_aside){
                commit->goal.id, aside->source, aside->at, arena_copy(&model->arena, aside->why),
                arena_copy(&model->arena, aside->body)};
    }
}

static void part_apply(struct model *model, struct id goal, const struct part_change *change) {
    struct dump_part *row = NULL;
    for (uint32_t i = 0; i < model->now.part_count && !row; i++)
        if (id_equal(model->now.parts[i].goal, goal) && model->now.parts[i].kind == change->kind &&
            model->now.parts[i].n == change->n)
            row = &model->now.parts[i];
    must(!row || change->kind != PART_DISPATCH); /* ASSIGN-12: the database would refuse it */
    if (change->gone) {
        if (row)
            row_remove(model, DUMP_PARTS, row);
        return;
    }
    if (!row)
        row = row_add(model, DUMP_PARTS);
    *row =
        (struct dump_part){goal, change->kind, change->n, arena_copy(&model->arena, change->name),
                           arena_copy(&model->arena, change->body)};
}

static void texts_apply(struct model *model, const struct goal_commit *commit) {
    for (uint32_t i = 0; i < commit->text_count; i++) {
        bool there = false;
        for (uint32_t k = 0; k < model->now.text_count; k++)
            there = there || (id_equal(model->now.texts[k].goal, commit->goal.id) &&
                              hash_equal(&model->now.texts[k].hash, &commit->texts[i].hash));
        if (!there)
            *(struct dump_text *)row_add(model, DUMP_TEXTS) =
                (struct dump_text){commit->goal.id, commit->texts[i].hash,
                                   arena_copy(&model->arena, commit->texts[i].body)};
    }
}

/* ---- list views ---- */

static void tally_add(struct model *model, uint32_t host, enum display_state display_state,
                      int64_t n) {
    struct dump_tally *row = NULL;
    for (uint32_t i = 0; i < model->now.tally_count && !row; i++)
        if (model->now.tallies[i].host == host &&
            model->now.tallies[i].display_state == display_state)
            row = &model->now.tallies[i];
    if (!row) {
        row = row_add(model, DUMP_TALLIES);
        *row = (struct dump_tally){.host = host, .display_state = display_state};
    }
    row->n += n;
}

static bool tag_is_there(const struct model *model, struct id goal, struct str tag) {
    for (uint32_t i = 0; i < model->now.tag_count; i++)
        if (id_equal(model->now.tags[i].goal, goal) && str_equal(model->now.tags[i].tag, tag))
            return true;
    return false;
}

static void tags_apply(struct model *model, const struct goal_commit *commit,
                       const struct goal_view *view) {
    for (uint32_t i = 0; i < model->now.tag_count;) {
        struct dump_tag *tag = &model->now.tags[i];
        bool mine = id_equal(tag->goal, view->id);
        if (mine && commit->tags)
            row_remove(model, DUMP_TAGS, tag);
        else {
            tag->display_state = mine ? view->display_state : tag->display_state;
            i++;
        }
    }
    for (uint32_t i = 0; commit->tags && i < commit->tags->tags.count; i++) {
        struct str tag = commit->tags->tags.at[i];
        if (!tag_is_there(model, view->id, tag))
            *(struct dump_tag *)row_add(model, DUMP_TAGS) = (struct dump_tag){
                view->id, arena_copy(&model->arena, tag), view->display_state, view->created_at};
    }
}

/* The tally is based on the display state that the row had, whatever the sender believes it was. */
static void view_apply(struct model *model, const struct goal_commit *commit, uint32_t host) {
    struct goal_view view = view_of(commit);
    struct goal_view *row = view_find(model, view.id);
    view.title = view.title.len > 0 ? arena_copy(&model->arena, view.title)
                 : row              ? row->title
                                    : view.title;
    if (view.display_state == DISPLAY_DONE && view.ended_at == 0)
        view.ended_at = view.updated_at; /* done by a trigger, for builds that do not write it */
    if (!row || row->display_state != view.display_state) {
        if (row)
            tally_add(model, host, row->display_state, -1);
        tally_add(model, host, view.display_state, 1);
    }
    if (row && view.number == 0)
        view.number = row->number;
    if (!row)
        row = row_add(model, DUMP_VIEWS);
    *row = view;
    tags_apply(model, commit, row);
}

/* ---- one goal of a commit ---- */

static void children_apply(struct model *model, const struct goal_commit *commit, uint32_t host) {
    for (uint32_t i = 0; i < commit->record_count; i++) {
        struct dump_record *row = row_add(model, DUMP_RECORDS);
        *row = (struct dump_record){commit->goal.id, commit->records[i]};
        row->record.body = arena_copy(&model->arena, commit->records[i].body);
        row->record.body_hash = (struct hash){0};
    }
    for (uint32_t i = 0; i < commit->effect_count; i++)
        effect_change_apply(model, commit->goal.id, &commit->effects[i]);
    for (uint32_t i = 0; i < commit->part_count; i++)
        part_apply(model, commit->goal.id, &commit->parts[i]);
    texts_apply(model, commit);
    sources_apply(model, commit);
    if (commit->view_changed)
        view_apply(model, commit, host);
}

static void goal_apply(struct model *model, const struct goal_commit *commit, uint32_t host) {
    struct dump_goal *goal = goal_find(model, commit->goal.id);
    const struct goal *now = &commit->goal;
    if (!goal) {
        goal = row_add(model, DUMP_GOALS);
        *goal = (struct dump_goal){.id = now->id, .owner = now->owner, .fence = now->fence};
    }
    goal->version = now->version;
    goal->seq = now->records.seq;
    goal->head = now->records.head;
    goal->due_at = now->due_at;
    goal->open = goal_is_open(now);
    goal->aside = now->quarantined;
    if (!commit->keep_hot || goal->hot.len == 0)
        goal->hot = arena_copy(&model->arena, commit->hot);
    children_apply(model, commit, host);
}

/* P13: the store as it was before each of its latest commits. */
static void history_keep(struct model *model) {
    if (!model->keeps)
        return;
    if (model->past_count == MODEL_PAST)
        memmove(model->past, model->past + 1, (MODEL_PAST - 1) * sizeof model->past[0]);
    else
        model->past_count++;
    dump_copy(&model->past[model->past_count - 1], &model->now, &model->arena);
}

static enum session_state commit_end(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    session->answer.held = pending_of(session)->batched;
    if (session->answer.held)
        history_keep(model);
    if (session->answer.held) {
        struct dump_host *host = host_find(model, request->self.host);
        host->row.batch = request->batch;
        host->numbers.next = at_least(host->numbers.next, request->number_next);
        for (uint32_t i = 0; i < request->commit_count; i++)
            if (request->commits[i].ok)
                goal_apply(model, &request->commits[i], request->self.host);
    }
    return SESSION_DONE;
}

static enum session_state commit(struct model *model, struct session *session) {
    static enum session_state (*const STATEMENTS[])(struct model *, struct session *) = {
        batch_lock, commit_apply, commit_end};
    return STATEMENTS[session->place](model, session);
}

/* ---- adopting ---- */

static bool adopt_allowed(struct model *model, const struct store_request *request) {
    const struct dump_host *self = host_find(model, request->self.host);
    const struct dump_host *victim = host_find(model, request->victim.host);
    return self && self->row.epoch == request->self.epoch && self->row.state == HOST_LIVE &&
           victim && victim->row.epoch == request->victim.epoch && victim->row.state != HOST_LIVE;
}

static enum session_state adopt_lock(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    const struct dump_host *self = host_find(model, request->self.host);
    const struct dump_host *victim = host_find(model, request->victim.host);
    bool lock_self = self && self->row.epoch == request->self.epoch;
    bool lock_victim = victim && victim->row.epoch == request->victim.epoch;
    if ((lock_self && host_locked(model, self->row.host, session)) ||
        (lock_victim && host_locked(model, victim->row.host, session)))
        return SESSION_BLOCKED;
    if (lock_self)
        lock_take(model, LOCK_HOST, host_key(self->row.host), session, false);
    if (lock_victim)
        lock_take(model, LOCK_HOST, host_key(victim->row.host), session, false);
    return SESSION_RUNS;
}

static bool adopt_wants(const struct store_request *request, const struct dump_goal *goal) {
    if (goal->owner != request->victim.host)
        return false;
    return request->only_count == 0 ? goal->open
                                    : id_is_in(request->only, request->only_count, goal->id);
}

static enum session_state adopt_page(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    struct pending *pending = pending_of(session);
    struct due_row *rows = arena_new(&session->arena, struct due_row, model->now.goal_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->now.goal_count; i++)
        if (adopt_wants(request, &model->now.goals[i]))
            rows[count++] = (struct due_row){model->now.goals[i].id, model->now.goals[i].due_at};
    if (count > 0)
        qsort(rows, count, sizeof *rows, by_goal);
    if (request->only_count == 0 && count > request->limit)
        count = request->limit;
    for (uint32_t i = 0; i < count; i++)
        if (locked(model, LOCK_GOAL, rows[i].goal, session))
            return SESSION_BLOCKED;
    for (uint32_t i = 0; i < count; i++)
        lock_take(model, LOCK_GOAL, rows[i].goal, session, adopt_allowed(model, request));
    session->answer.owned = rows;
    if (!adopt_allowed(model, request))
        return SESSION_RUNS;
    session->answer.owned_count = count;
    session->answer.more = request->only_count == 0 && count == request->limit;
    for (uint32_t i = 0; i < count; i++) {
        must(pending->adopted_count < MAX_ADOPTED);
        pending->adopted[pending->adopted_count++] = rows[i].goal;
        effects_into(model, session, rows[i].goal);
    }
    for (uint32_t i = 0; i < session->answer.effect_count; i++)
        if (session->answer.effects[i].slot.state == EFFECT_RUNNING)
            session->answer.effects[i].slot.state = EFFECT_UNCONFIRMED;
    return SESSION_RUNS;
}

static bool is_adopted(const struct pending *pending, struct id goal) {
    return id_is_in(pending->adopted, pending->adopted_count, goal);
}

/* Inbox rows for the victim whose goal is now ours, through this transaction or an earlier one. */
static bool inbox_moves(struct model *model, struct session *session,
                        const struct dump_inbox *row) {
    const struct store_request *request = session->request;
    const struct dump_goal *goal = goal_find(model, row->goal);
    return row->to_host == request->victim.host && goal &&
           (goal->owner == request->self.host || is_adopted(pending_of(session), row->goal));
}

static enum session_state adopt_inbox(struct model *model, struct session *session) {
    for (uint32_t i = 0; i < model->now.inbox_count; i++)
        if (inbox_moves(model, session, &model->now.inbox[i]) &&
            locked(model, LOCK_INBOX, model->now.inbox[i].source, session))
            return SESSION_BLOCKED;
    for (uint32_t i = 0; i < model->now.inbox_count; i++)
        if (inbox_moves(model, session, &model->now.inbox[i]))
            lock_take(model, LOCK_INBOX, model->now.inbox[i].source, session, true);
    return SESSION_RUNS;
}

static void adopt_effects(struct model *model, const struct pending *pending) {
    for (uint32_t i = 0; i < model->now.effect_count; i++)
        if (is_adopted(pending, model->now.effects[i].goal) &&
            model->now.effects[i].slot.state == EFFECT_RUNNING)
            model->now.effects[i].slot.state = EFFECT_UNCONFIRMED;
}

static enum session_state adopt_end(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    struct pending *pending = pending_of(session);
    for (uint32_t i = 0; i < model->now.inbox_count; i++)
        if (lock_is_mine(model, LOCK_INBOX, model->now.inbox[i].source, session))
            model->now.inbox[i].to_host = request->self.host;
    bool rest = false;
    for (uint32_t i = 0; i < model->now.goal_count; i++) {
        struct dump_goal *goal = &model->now.goals[i];
        if (is_adopted(pending, goal->id)) {
            goal->owner = request->self.host;
            goal->fence++;
            goal->version++;
        }
        rest = rest || (goal->owner == request->victim.host && goal->open);
    }
    adopt_effects(model, pending);
    struct dump_host *victim = host_find(model, request->victim.host);
    if (victim && victim->row.epoch == request->victim.epoch && victim->row.state == HOST_LOST &&
        !rest)
        victim->row.state = HOST_GONE;
    return SESSION_DONE;
}

static enum session_state adopt(struct model *model, struct session *session) {
    static enum session_state (*const STATEMENTS[])(struct model *, struct session *) = {
        adopt_lock, adopt_page, adopt_inbox, adopt_end};
    return STATEMENTS[session->place](model, session);
}

/* ---- forwarding: the goal rows are read FOR SHARE, so that their owner does not change meanwhile ---- */

static bool inbox_is_full(const struct model *model, uint32_t host) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->now.inbox_count; i++)
        count += model->now.inbox[i].to_host == host;
    return count >= LIMIT_INBOX;
}

static enum session_state forward(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    for (uint32_t i = 0; i < request->row_count; i++) {
        const struct inbox_row *row = &request->rows[i];
        if ((goal_find(model, row->goal) && locked(model, LOCK_GOAL, row->goal, session)) ||
            (inbox_find(model, row->source) && locked(model, LOCK_INBOX, row->source, session)))
            return SESSION_BLOCKED;
    }
    struct inbox_row *taken = arena_new(&session->arena, struct inbox_row, request->row_count);
    session->answer.inbox = taken;
    for (uint32_t i = 0; i < request->row_count; i++) {
        const struct inbox_row *from = &request->rows[i];
        const struct dump_goal *goal = goal_find(model, from->goal);
        struct dump_inbox *row = inbox_find(model, from->source);
        if (!goal || (!row && from->may_wait && inbox_is_full(model, goal->owner)))
            continue;
        taken[session->answer.inbox_count++].source = from->source;
        if (!row) {
            row = row_add(model, DUMP_INBOX);
            *row = (struct dump_inbox){.source = from->source,
                                       .goal = from->goal,
                                       .body = arena_copy(&model->arena, from->body)};
        }
        row->to_host = goal->owner;
    }
    qsort(taken, session->answer.inbox_count, sizeof *taken,
          by_source); /* the statement does the same */
    return SESSION_DONE;
}

/* ---- orders ---- */

static bool order_in_force(const struct model *model, const struct dump_host *host,
                           const struct store_order *order) {
    if (order->order == ORDER_POLICY)
        return hash_equal(&host->policy, &order->record.policy);
    return model->now.marks->stopped == (order->order == ORDER_STOP);
}

static void order_apply(struct model *model, struct dump_host *host,
                        const struct store_order *order, const struct hash *head,
                        struct store_answer *answer) {
    struct dump_record *row = row_add(model, DUMP_RECORDS);
    *row = (struct dump_record){SYSTEM_GOAL, order->record};
    record_seal(&row->record, SYSTEM_GOAL, answer->seq, head);
    row->record.body = arena_copy(&model->arena, order->record.body);
    row->record.body_hash = (struct hash){0};
    answer->seq = row->record.seq;
    if (order->order == ORDER_POLICY) {
        struct text_row text = {order->record.policy, order->text};
        texts_apply(model, &(struct goal_commit){
                               .goal = {.id = SYSTEM_GOAL}, .texts = &text, .text_count = 1});
        host->policy = order->record.policy;
    } else {
        model->now.marks->stopped = order->order == ORDER_STOP;
    }
}

/* The store's own row stays locked throughout, so this is equivalent to one statement. */
static enum session_state order(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    struct store_answer *answer = &session->answer;
    struct dump_host *host = host_find(model, request->self.host);
    struct hash head = {0};
    if (!host || host->row.epoch != request->self.epoch)
        return SESSION_DONE;
    if (host_locked(model, host->row.host, session))
        return SESSION_BLOCKED;
    answer->held = true;
    for (uint32_t i = 0; i < model->now.record_count; i++) {
        const struct dump_record *row = &model->now.records[i];
        if (id_equal(row->goal, SYSTEM_GOAL) && row->record.seq > answer->seq) {
            answer->seq = row->record.seq;
            head = row->record.hash;
        }
    }
    if (!order_in_force(model, host, request->order))
        order_apply(model, host, request->order, &head, answer);
    return SESSION_DONE;
}

/* ---- history: one snapshot ---- */

static int by_seq(const void *a, const void *b) {
    const struct record *x = a, *y = b;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static enum session_state history(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    struct goal_shown *shown = &session->answer.shown;
    shown->records = arena_new(&session->arena, struct record, model->now.record_count + 1);
    for (uint32_t i = 0; i < model->now.record_count; i++) {
        const struct dump_record *row = &model->now.records[i];
        if (id_equal(row->goal, request->ids[0]) && row->record.seq > request->after_seq)
            shown->records[shown->record_count++] = row->record;
    }
    if (shown->record_count > 0)
        qsort(shown->records, shown->record_count, sizeof *shown->records, by_seq);
    session->answer.more = shown->record_count > request->limit;
    if (session->answer.more)
        shown->record_count = request->limit;
    struct text_names named = records_name(shown->records, shown->record_count, &session->arena);
    shown->texts = arena_new(&session->arena, struct text_row, named.count + 1);
    for (uint32_t i = 0; i < named.count; i++)
        for (uint32_t k = 0; k < model->now.text_count; k++)
            if (id_equal(model->now.texts[k].goal, request->ids[0]) &&
                hash_equal(&model->now.texts[k].hash, &named.at[i]))
                shown->texts[shown->text_count++] =
                    (struct text_row){named.at[i], model->now.texts[k].body};
    return SESSION_DONE;
}

/* ---- the backend ---- */

static enum session_state (*const VERBS[STORE_VERBS])(struct model *, struct session *) = {
    [STORE_JOIN] = join,       [STORE_OWNED] = owned,   [STORE_BEAT] = beat,
    [STORE_POLL] = poll_all,   [STORE_TAKE] = take,     [STORE_ADOPT] = adopt,
    [STORE_LOAD] = load,       [STORE_COMMIT] = commit, [STORE_RESOLVE] = resolve,
    [STORE_FORWARD] = forward, [STORE_ORDER] = order,   [STORE_HISTORY] = history,
    [STORE_NUMBERS] = numbers,
};

static enum session_state advance(struct backend *backend, struct session *session) {
    struct model *model = (struct model *)backend;
    session->answer.outcome = STORE_DONE; /* unless the statement says otherwise */
    enum session_state state = VERBS[session->request->verb](model, session);
    if (state == SESSION_RUNS)
        session->place++;
    if (state == SESSION_DONE) {
        session->done = true;
        unlock_all(model, session);
    }
    return state;
}

static void abort_session(struct backend *backend, struct session *session) {
    unlock_all((struct model *)backend, session);
    session->done = true;
}

static void host_died(struct backend *backend, uint32_t host) {
    (void)backend, (void)host;
}

static void model_dump(struct backend *backend, struct dump *dump, struct arena *arena) {
    dump_copy(dump, &((struct model *)backend)->now, arena);
    dump_sort(dump);
}

static bool meddle(struct backend *backend, const struct dump_goal *row,
                   const struct record *record) {
    struct model *model = (struct model *)backend;
    struct dump_goal *goal = goal_find(model, row->id);
    if (!goal || locked(model, LOCK_GOAL, row->id, NULL))
        return false;
    goal->version++;
    goal->seq = record->seq;
    goal->head = record->hash;
    struct dump_record *kept = row_add(model, DUMP_RECORDS);
    *kept = (struct dump_record){row->id, *record};
    kept->record.body = arena_copy(&model->arena, record->body);
    kept->record.body_hash = (struct hash){0};
    return true;
}

/* ---- restoring earlier states ---- */

static void back_up(struct backend *backend) {
    struct model *model = (struct model *)backend;
    dump_copy(&model->then, &model->now, &model->arena);
    model->backed_up = true;
}

/* No host is connected. */
static void restore(struct backend *backend) {
    struct model *model = (struct model *)backend;
    must(model->backed_up && model->lock_count == 0);
    uint64_t era = model->then.marks->era + 1;
    dump_copy(&model->now, &model->then, &model->arena);
    for (uint32_t i = 0; i < DUMP_TABLE_COUNT; i++)
        model->caps[i] = *dump_count(&DUMP_TABLES[i], &model->now);
    model->now.marks->era = model->then.marks->era = era;
}

static void keep_past(struct backend *backend) {
    ((struct model *)backend)->keeps = true;
}

/* No session is open, and hosts are not notified. */
static bool go_back(struct backend *backend, uint32_t commits) {
    struct model *model = (struct model *)backend;
    must(model->lock_count == 0);
    if (commits > model->past_count)
        return false;
    model->past_count -= commits;
    uint64_t timeline = model->now.marks->timeline + 1;
    dump_copy(&model->now, &model->past[model->past_count], &model->arena);
    model->now.marks->timeline = timeline;
    for (uint32_t i = 0; i < DUMP_TABLE_COUNT; i++)
        model->caps[i] = *dump_count(&DUMP_TABLES[i], &model->now);
    return true;
}

static void model_free(struct backend *backend) {
    struct model *model = (struct model *)backend;
    arena_free(&model->arena);
    free(model);
}

struct backend *model_backend(void) {
    struct model *model = calloc(1, sizeof *model);
    must(model != NULL);
    model->backend = (struct backend){.name = "model",
                                      .advance = advance,
                                      .abort = abort_session,
                                      .host_died = host_died,
                                      .dump = model_dump,
                                      .meddle = meddle,
                                      .back_up = back_up,
                                      .restore = restore,
                                      .keep_past = keep_past,
                                      .go_back = go_back,
                                      .free = model_free,
                                      .single_statements = true};
    *(struct store_mark *)row_add(model, DUMP_MARKS) = (struct store_mark){
        .version = SCHEMA_VERSION, .oldest = SCHEMA_OLDEST, .level = SCHEMA_LEVEL, .timeline = 1};
    row_add(model, DUMP_NUMBERED);
    return &model->backend;
}
