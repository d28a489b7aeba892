/* SPDX-License-Identifier: Apache-2.0 */
/* What would PostgreSQL do with our statements under READ COMMITTED? A small model: rows in arrays, row
 * locks held to the end of the transaction, changes applied at its commit. Each statement sees what is
 * committed when it runs, plus what its own transaction did. test_model_postgres checks it against a real
 * server. */
#include "lib/backend.h"

#include "base/planted.h"

#include <stdlib.h>

enum { MAX_HOSTS = 8, MAX_LOCKS = 64 };

struct model_goal {
    struct dump_goal row;
    struct session *locked; /* FOR UPDATE, or updated */
    bool updated;           /* by whoever has locked it: an insert waits for that, not for a lock */
};

struct model_inbox {
    struct inbox_row row;
    uint32_t to_host;
    struct session *locked;
};

struct model_host {
    struct host_row row;
    uint64_t instance;
    struct session *locked;
};

/* Growing arrays out of the model's arena. */
#define GROW(model, array, count, cap) \
    do { \
        if ((count) == (cap)) { \
            size_t more = (cap) ? (cap)*2 : 16; \
            void *grown = \
                arena_take(&(model)->arena, more * sizeof *(array), alignof(max_align_t)); \
            if (count) \
                memcpy(grown, (array), (count) * sizeof *(array)); \
            (array) = grown; \
            (cap) = (uint32_t)more; \
        } \
    } while (0)

struct model {
    struct backend backend;
    struct arena arena;
    struct model_host hosts[MAX_HOSTS];
    uint32_t host_count;
    struct model_goal *goals;
    uint32_t goal_count, goal_cap;
    struct dump_record *records;
    uint32_t record_count, record_cap;
    struct effect_entry *effects;
    uint32_t effect_count, effect_cap;
    struct model_inbox *inbox;
    uint32_t inbox_count, inbox_cap;
    struct source_key *seen;
    uint32_t seen_count, seen_cap, aside_count;
    struct reserved { /* keys of goals that are inserted and not committed */
        struct id goal;
        struct session *by;
    } reserved[MAX_LOCKS];
    uint32_t reserved_count;
};

/* What a transaction has done and not committed. */
struct pending {
    bool batched; /* commit: the host row is ours */
    bool applied;
    struct id adopted[MAX_LOCKS];
    uint32_t adopted_count;
};

/* ---- rows ---- */

static struct model_host *host_find(struct model *model, uint32_t host) {
    for (uint32_t i = 0; i < model->host_count; i++)
        if (model->hosts[i].row.host == host)
            return &model->hosts[i];
    return NULL;
}

static struct model_goal *goal_find(struct model *model, struct id id) {
    for (uint32_t i = 0; i < model->goal_count; i++)
        if (id_equal(model->goals[i].row.id, id))
            return &model->goals[i];
    return NULL;
}

static struct model_inbox *inbox_find(struct model *model, struct id source) {
    for (uint32_t i = 0; i < model->inbox_count; i++)
        if (id_equal(model->inbox[i].row.source, source))
            return &model->inbox[i];
    return NULL;
}

static bool locked_by_other(struct session *lock, struct session *session) {
    return lock && lock != session;
}

static void unlock_all(struct model *model, struct session *session) {
    for (uint32_t i = 0; i < model->host_count; i++)
        if (model->hosts[i].locked == session)
            model->hosts[i].locked = NULL;
    for (uint32_t i = 0; i < model->goal_count; i++)
        if (model->goals[i].locked == session)
            model->goals[i].locked = NULL;
    for (uint32_t i = 0; i < model->inbox_count; i++)
        if (model->inbox[i].locked == session)
            model->inbox[i].locked = NULL;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < model->reserved_count; i++)
        if (model->reserved[i].by != session)
            model->reserved[kept++] = model->reserved[i];
    model->reserved_count = kept;
}

static bool reserved_by_other(const struct model *model, struct id goal,
                              const struct session *session) {
    for (uint32_t i = 0; i < model->reserved_count; i++)
        if (id_equal(model->reserved[i].goal, goal) && model->reserved[i].by != session)
            return true;
    return false;
}

static struct pending *pending_of(struct session *session) {
    if (!session->own)
        session->own = arena_new(&session->arena, struct pending, 1);
    return session->own;
}

/* ---- statements on the host row; each is a transaction of its own ---- */

static enum session_state join(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    struct model_host *host = host_find(model, request->self.host);
    if (host && locked_by_other(host->locked, session))
        return SESSION_BLOCKED;
    if (!host) {
        must(model->host_count < MAX_HOSTS);
        host = &model->hosts[model->host_count++];
        *host = (struct model_host){.row = {.host = request->self.host}};
    }
    host->row.epoch++;
    host->row.beat++;
    host->row.state = HOST_LIVE;
    host->instance = request->self.instance;
    session->answer.held = true;
    session->answer.epoch = host->row.epoch;
    session->answer.batch = host->row.batch;
    return SESSION_DONE;
}

static enum session_state beat(struct model *model, struct session *session) {
    struct model_host *host = host_find(model, session->request->self.host);
    if (host && host->row.epoch == session->request->self.epoch) {
        if (locked_by_other(host->locked, session))
            return SESSION_BLOCKED;
        host->row.beat++;
        session->answer.held = true;
    }
    return SESSION_DONE;
}

static enum session_state take(struct model *model, struct session *session) {
    const struct host_row *victim = &session->request->victim;
    struct model_host *host = host_find(model, victim->host);
    if (host && host->row.epoch == victim->epoch && host->row.beat == victim->beat &&
        host->row.state == HOST_LIVE) {
        if (locked_by_other(host->locked, session))
            return SESSION_BLOCKED;
        host->row.epoch++;
        host->row.state = HOST_LOST;
        session->answer.held = true;
    }
    return SESSION_DONE;
}

static enum session_state resolve(struct model *model, struct session *session) {
    struct model_host *host = host_find(model, session->request->self.host);
    if (host && host->instance == session->request->self.instance && host->row.state == HOST_LIVE) {
        if (locked_by_other(host->locked, session))
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
    for (uint32_t i = 0; i < model->effect_count; i++)
        if (id_equal(model->effects[i].goal, goal) && answer->effect_count < 1024)
            answer->effects[answer->effect_count++] = model->effects[i];
}

static enum session_state owned(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    struct store_answer *answer = &session->answer;
    answer->owned = arena_new(&session->arena, struct due_row, model->goal_count);
    for (uint32_t i = 0; i < model->goal_count; i++) {
        const struct dump_goal *goal = &model->goals[i].row;
        if (goal->owner == request->self.host && goal->open &&
            id_compare(goal->id, request->after) > 0)
            answer->owned[answer->owned_count++] = (struct due_row){goal->id, goal->due_at};
    }
    if (answer->owned_count > 0)
        qsort(answer->owned, answer->owned_count, sizeof *answer->owned, by_goal);
    answer->more = answer->owned_count >= request->limit;
    answer->owned_count = answer->more ? request->limit : answer->owned_count;
    for (uint32_t i = 0; i < answer->owned_count; i++)
        effects_into(model, session, answer->owned[i].goal);
    return SESSION_DONE;
}

static void poll_hosts(struct model *model, struct session *session) {
    struct store_answer *answer = &session->answer;
    uint32_t self = session->request->self.host;
    answer->hosts = arena_new(&session->arena, struct host_row, LIMIT_WATCHED_HOSTS);
    for (uint32_t after = self, seen = 0;
         seen < MAX_HOSTS && answer->host_count < LIMIT_WATCHED_HOSTS; seen++) {
        const struct model_host *next = NULL;
        for (uint32_t i = 0; i < model->host_count; i++) {
            const struct host_row *row = &model->hosts[i].row;
            uint32_t away = row->host - after - 1,
                     best = next ? next->row.host - after - 1 : UINT32_MAX;
            if (row->host != self && row->state != HOST_GONE && away < best)
                next = &model->hosts[i];
        }
        if (!next)
            break;
        if (answer->host_count > 0 && answer->hosts[0].host == next->row.host)
            break;
        answer->hosts[answer->host_count++] = next->row;
        after = next->row.host;
    }
}

static int by_source(const void *a, const void *b) {
    return id_compare(((const struct inbox_row *)a)->source, ((const struct inbox_row *)b)->source);
}

/* What was forwarded to a host that is gone is anybody's. */
static bool inbox_is_for(struct model *model, const struct model_inbox *row, uint32_t host) {
    const struct model_host *to = host_find(model, row->to_host);
    return row->to_host == host || (to && to->row.state == HOST_GONE);
}

static enum session_state poll_all(struct model *model, struct session *session) {
    struct store_answer *answer = &session->answer;
    poll_hosts(model, session);
    answer->inbox = arena_new(&session->arena, struct inbox_row, model->inbox_count);
    for (uint32_t i = 0; i < model->inbox_count; i++)
        if (inbox_is_for(model, &model->inbox[i], session->request->self.host))
            answer->inbox[answer->inbox_count++] = model->inbox[i].row;
    if (answer->inbox_count > 0)
        qsort(answer->inbox, answer->inbox_count, sizeof *answer->inbox, by_source);
    if (answer->inbox_count > session->request->limit)
        answer->inbox_count = session->request->limit;
    return SESSION_DONE;
}

static void load_goal(struct model *model, struct goal_loaded *loaded) {
    const struct model_goal *found = goal_find(model, loaded->goal.id);
    if (!found)
        return;
    const struct dump_goal *row = &found->row;
    struct goal *goal = &loaded->goal;
    *goal = (struct goal){.id = row->id,
                          .owner = row->owner,
                          .fence = row->fence,
                          .version = row->version,
                          .seq = row->seq,
                          .head = row->head,
                          .due_at = row->due_at,
                          .quarantined = row->aside};
    loaded->exists = true;
    loaded->whole = shape_decode(&GOAL_HOT, row->hot, goal);
    const struct model_host *owner = host_find(model, row->owner);
    loaded->owner_epoch = owner ? owner->row.epoch : 0;
    loaded->owner_lives = owner && owner->row.state == HOST_LIVE;
}

static void load_effects(struct model *model, struct goal_loaded *loaded) {
    struct goal *goal = &loaded->goal;
    for (uint32_t n = 0; loaded->exists && n < goal->effects_made + 8; n++)
        for (uint32_t i = 0; i < model->effect_count; i++)
            if (id_equal(model->effects[i].goal, goal->id) && model->effects[i].slot.n == n &&
                goal->open_count < LIMIT_OPEN_EFFECTS)
                goal->open[goal->open_count++] = model->effects[i].slot;
}

static bool source_seen(struct model *model, const struct source_key *key) {
    for (uint32_t i = 0; i < model->seen_count; i++)
        if (id_equal(model->seen[i].goal, key->goal) &&
            id_equal(model->seen[i].source, key->source))
            return true;
    return false;
}

static bool record_stands(struct model *model, const struct record_mark *mark) {
    for (uint32_t i = 0; i < model->record_count; i++)
        if (id_equal(model->records[i].goal, mark->goal) &&
            model->records[i].record.seq == mark->seq &&
            hash_equal(&model->records[i].record.hash, &mark->hash))
            return true;
    return false;
}

/* P5: goals, then effects, each in a statement of its own. */
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
        load_effects(model, &answer->loaded[i]);
    for (uint32_t i = 0; i < request->key_count; i++)
        answer->seen[i] = source_seen(model, &request->keys[i]);
    for (uint32_t i = 0; i < request->mark_count; i++)
        answer->stands[i] = record_stands(model, &request->marks[i]);
    return SESSION_DONE;
}

/* ---- committing ---- */

static enum session_state batch_lock(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    struct model_host *host = host_find(model, request->self.host);
    bool match = host && (planted(NO_EPOCH_CHECK) || (host->row.epoch == request->self.epoch &&
                                                      host->row.batch == request->batch - 1));
    if (match && locked_by_other(host->locked, session))
        return SESSION_BLOCKED;
    if (match) {
        host->locked = session;
        pending_of(session)->batched = true;
    }
    return SESSION_RUNS;
}

static bool goal_matches(const struct model_goal *goal, const struct store_request *request,
                         const struct goal_commit *commit) {
    return planted(NO_VERSION_CHECK) ||
           (goal->row.version == commit->expected && goal->row.owner == request->self.host);
}

static bool commit_fits(const struct model_goal *goal, const struct store_request *request,
                        const struct goal_commit *commit) {
    return commit->expected == 0 ? !goal : goal && goal_matches(goal, request, commit);
}

/* First find out whether anything has to be waited for, then lock, so that a blocked statement did nothing. */
static bool commit_would_wait(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    for (uint32_t i = 0; i < request->commit_count; i++) {
        const struct goal_commit *commit = &request->commits[i];
        const struct model_goal *goal = goal_find(model, commit->goal.id);
        if (goal && locked_by_other(goal->locked, session) &&
            (commit->expected == 0 ? goal->updated : goal_matches(goal, request, commit)))
            return true;
        if (commit->expected == 0 && reserved_by_other(model, commit->goal.id, session))
            return true;
        for (uint32_t k = 0; commit_fits(goal, request, commit) && k < commit->inbox_count; k++) {
            const struct model_inbox *row = inbox_find(model, commit->inbox_done[k]);
            if (row && locked_by_other(row->locked, session))
                return true;
        }
    }
    return false;
}

static void commit_lock(struct model *model, struct session *session,
                        const struct goal_commit *commit, struct model_goal *goal) {
    for (uint32_t k = 0; k < commit->inbox_count; k++) {
        struct model_inbox *row = inbox_find(model, commit->inbox_done[k]);
        if (row)
            row->locked = session;
    }
    if (goal) {
        goal->locked = session;
        goal->updated = true;
        return;
    }
    must(model->reserved_count < MAX_LOCKS);
    model->reserved[model->reserved_count++] = (struct reserved){commit->goal.id, session};
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
        struct model_goal *goal = goal_find(model, commit->goal.id);
        commit->ok = commit_fits(goal, request, commit);
        if (commit->ok)
            commit_lock(model, session, commit, goal);
    }
    return SESSION_RUNS;
}

static void effect_change_apply(struct model *model, struct id goal,
                                const struct effect_change *change) {
    uint32_t at = 0;
    while (at < model->effect_count && (!id_equal(model->effects[at].goal, goal) ||
                                        model->effects[at].slot.n != change->slot.n))
        at++;
    if (change->op == EFFECT_OP_MAKE) {
        GROW(model, model->effects, model->effect_count, model->effect_cap);
        model->effects[model->effect_count++] =
            (struct effect_entry){goal, change->slot, arena_copy(&model->arena, change->body)};
    } else if (at < model->effect_count && change->op == EFFECT_OP_MOVE) {
        uint32_t kind = model->effects[at].slot.kind;
        model->effects[at].slot = change->slot;
        model->effects[at].slot.kind = kind;
    } else if (at < model->effect_count)
        model->effects[at] = model->effects[--model->effect_count];
}

static void inbox_remove(struct model *model, struct id source) {
    struct model_inbox *row = inbox_find(model, source);
    if (row)
        *row = model->inbox[--model->inbox_count];
}

static void children_apply(struct model *model, const struct goal_commit *commit) {
    for (uint32_t i = 0; i < commit->record_count; i++) {
        GROW(model, model->records, model->record_count, model->record_cap);
        struct dump_record *record = &model->records[model->record_count++];
        *record = (struct dump_record){commit->goal.id, commit->records[i]};
        record->record.body = arena_copy(&model->arena, commit->records[i].body);
    }
    for (uint32_t i = 0; i < commit->effect_count; i++)
        effect_change_apply(model, commit->goal.id, &commit->effects[i]);
    for (uint32_t i = 0; i < commit->inbox_count; i++)
        inbox_remove(model, commit->inbox_done[i]);
    for (uint32_t i = 0; i < commit->seen_count; i++) {
        if (source_seen(model, &(struct source_key){commit->goal.id, commit->seen[i]}))
            continue;
        GROW(model, model->seen, model->seen_count, model->seen_cap);
        model->seen[model->seen_count++] = (struct source_key){commit->goal.id, commit->seen[i]};
    }
    model->aside_count += commit->aside_count;
}

static void goal_apply(struct model *model, const struct goal_commit *commit) {
    struct model_goal *goal = goal_find(model, commit->goal.id);
    const struct goal *now = &commit->goal;
    if (!goal) {
        GROW(model, model->goals, model->goal_count, model->goal_cap);
        goal = &model->goals[model->goal_count++];
        *goal =
            (struct model_goal){.row = {.id = now->id, .owner = now->owner, .fence = now->fence}};
    }
    goal->row.version = now->version;
    goal->row.seq = now->seq;
    goal->row.head = now->head;
    goal->row.due_at = now->due_at;
    goal->row.open = goal_is_open(now);
    goal->row.aside = now->quarantined;
    if (!commit->keep_hot || goal->row.hot.len == 0)
        goal->row.hot = arena_copy(&model->arena, commit->hot);
    children_apply(model, commit);
}

static enum session_state commit_end(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    session->answer.held = pending_of(session)->batched;
    if (session->answer.held) {
        host_find(model, request->self.host)->row.batch = request->batch;
        for (uint32_t i = 0; i < request->commit_count; i++)
            if (request->commits[i].ok)
                goal_apply(model, &request->commits[i]);
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
    const struct model_host *self = host_find(model, request->self.host);
    const struct model_host *victim = host_find(model, request->victim.host);
    return self && self->row.epoch == request->self.epoch && self->row.state == HOST_LIVE &&
           victim && victim->row.epoch == request->victim.epoch && victim->row.state != HOST_LIVE;
}

static enum session_state adopt_lock(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    struct model_host *self = host_find(model, request->self.host);
    struct model_host *victim = host_find(model, request->victim.host);
    bool lock_self = self && self->row.epoch == request->self.epoch;
    bool lock_victim = victim && victim->row.epoch == request->victim.epoch;
    if ((lock_self && locked_by_other(self->locked, session)) ||
        (lock_victim && locked_by_other(victim->locked, session)))
        return SESSION_BLOCKED;
    if (lock_self)
        self->locked = session;
    if (lock_victim)
        victim->locked = session;
    return SESSION_RUNS;
}

static bool adopt_wants(const struct store_request *request, const struct dump_goal *goal) {
    if (goal->owner != request->victim.host)
        return false;
    if (request->only_count == 0)
        return goal->open;
    for (uint32_t i = 0; i < request->only_count; i++)
        if (id_equal(request->only[i], goal->id))
            return true;
    return false;
}

static enum session_state adopt_page(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    struct pending *pending = pending_of(session);
    struct due_row *rows = arena_new(&session->arena, struct due_row, model->goal_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->goal_count; i++)
        if (adopt_wants(request, &model->goals[i].row))
            rows[count++] = (struct due_row){model->goals[i].row.id, model->goals[i].row.due_at};
    if (count > 0)
        qsort(rows, count, sizeof *rows, by_goal);
    if (request->only_count == 0 && count > request->limit)
        count = request->limit;
    for (uint32_t i = 0; i < count; i++)
        if (locked_by_other(goal_find(model, rows[i].goal)->locked, session))
            return SESSION_BLOCKED;
    for (uint32_t i = 0; i < count; i++) {
        struct model_goal *goal = goal_find(model, rows[i].goal);
        goal->locked = session;
        goal->updated = adopt_allowed(model, request);
    }
    session->answer.owned = rows;
    if (!adopt_allowed(model, request))
        return SESSION_RUNS;
    session->answer.owned_count = count;
    session->answer.more = request->only_count == 0 && count == request->limit;
    for (uint32_t i = 0; i < count; i++) {
        must(pending->adopted_count < MAX_LOCKS);
        pending->adopted[pending->adopted_count++] = rows[i].goal;
        effects_into(model, session, rows[i].goal);
    }
    for (uint32_t i = 0; i < session->answer.effect_count; i++)
        if (session->answer.effects[i].slot.state == EFFECT_RUNNING)
            session->answer.effects[i].slot.state = EFFECT_UNCONFIRMED;
    return SESSION_RUNS;
}

static bool is_adopted(const struct pending *pending, struct id goal) {
    for (uint32_t i = 0; i < pending->adopted_count; i++)
        if (id_equal(pending->adopted[i], goal))
            return true;
    return false;
}

/* Rows for the victim whose goal is now ours, by this transaction or before. */
static bool inbox_moves(struct model *model, struct session *session,
                        const struct model_inbox *row) {
    const struct store_request *request = session->request;
    const struct model_goal *goal = goal_find(model, row->row.goal);
    return row->to_host == request->victim.host && goal &&
           (goal->row.owner == request->self.host ||
            is_adopted(pending_of(session), row->row.goal));
}

static enum session_state adopt_inbox(struct model *model, struct session *session) {
    for (uint32_t i = 0; i < model->inbox_count; i++)
        if (inbox_moves(model, session, &model->inbox[i]) &&
            locked_by_other(model->inbox[i].locked, session))
            return SESSION_BLOCKED;
    for (uint32_t i = 0; i < model->inbox_count; i++)
        if (inbox_moves(model, session, &model->inbox[i]))
            model->inbox[i].locked = session;
    return SESSION_RUNS;
}

static void adopt_effects(struct model *model, const struct pending *pending) {
    for (uint32_t i = 0; i < model->effect_count; i++)
        if (is_adopted(pending, model->effects[i].goal) &&
            model->effects[i].slot.state == EFFECT_RUNNING)
            model->effects[i].slot.state = EFFECT_UNCONFIRMED;
}

static enum session_state adopt_end(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    struct pending *pending = pending_of(session);
    for (uint32_t i = 0; i < model->inbox_count; i++)
        if (model->inbox[i].locked == session)
            model->inbox[i].to_host = request->self.host;
    bool rest = false;
    for (uint32_t i = 0; i < model->goal_count; i++) {
        struct dump_goal *goal = &model->goals[i].row;
        if (is_adopted(pending, goal->id)) {
            goal->owner = request->self.host;
            goal->fence++;
            goal->version++;
        }
        rest = rest || (goal->owner == request->victim.host && goal->open);
    }
    adopt_effects(model, pending);
    struct model_host *victim = host_find(model, request->victim.host);
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

/* ---- forwarding: the goal rows are read FOR SHARE, so that they do not change hands meanwhile ---- */

static enum session_state forward(struct model *model, struct session *session) {
    const struct store_request *request = session->request;
    for (uint32_t i = 0; i < request->row_count; i++) {
        const struct model_goal *goal = goal_find(model, request->rows[i].goal);
        const struct model_inbox *row = inbox_find(model, request->rows[i].source);
        if ((goal && locked_by_other(goal->locked, session)) ||
            (row && locked_by_other(row->locked, session)))
            return SESSION_BLOCKED;
    }
    for (uint32_t i = 0; i < request->row_count; i++) {
        const struct model_goal *goal = goal_find(model, request->rows[i].goal);
        struct model_inbox *row = inbox_find(model, request->rows[i].source);
        if (!goal)
            continue;
        if (!row) {
            GROW(model, model->inbox, model->inbox_count, model->inbox_cap);
            row = &model->inbox[model->inbox_count++];
            *row = (struct model_inbox){.row = request->rows[i]};
            row->row.body = arena_copy(&model->arena, request->rows[i].body);
        }
        row->to_host = goal->row.owner;
    }
    return SESSION_DONE;
}

/* ---- the backend ---- */

static enum session_state (*const VERBS[STORE_VERBS])(struct model *, struct session *) = {
    [STORE_JOIN] = join,       [STORE_OWNED] = owned,   [STORE_BEAT] = beat,
    [STORE_POLL] = poll_all,   [STORE_TAKE] = take,     [STORE_ADOPT] = adopt,
    [STORE_LOAD] = load,       [STORE_COMMIT] = commit, [STORE_RESOLVE] = resolve,
    [STORE_FORWARD] = forward,
};

static enum session_state advance(struct backend *backend, struct session *session) {
    struct model *model = (struct model *)backend;
    enum session_state state = VERBS[session->request->verb](model, session);
    if (state == SESSION_RUNS)
        session->place++;
    if (state == SESSION_DONE) {
        session->answer.outcome = STORE_DONE;
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

static int by_goal_seq(const void *a, const void *b) {
    const struct dump_record *x = a, *y = b;
    int order = id_compare(x->goal, y->goal);
    return order ? order : (x->record.seq > y->record.seq) - (x->record.seq < y->record.seq);
}

static void model_dump(struct backend *backend, struct dump *dump, struct arena *arena) {
    struct model *model = (struct model *)backend;
    *dump = (struct dump){.goal_count = model->goal_count,
                          .record_count = model->record_count,
                          .effect_count = model->effect_count,
                          .host_count = model->host_count,
                          .inbox_count = model->inbox_count,
                          .seen_count = model->seen_count,
                          .aside_count = model->aside_count};
    dump->goals = arena_new(arena, struct dump_goal, model->goal_count);
    dump->effects = arena_new(arena, struct dump_effect, model->effect_count);
    dump->hosts = arena_new(arena, struct host_row, model->host_count);
    dump->records = arena_new(arena, struct dump_record, model->record_count);
    for (uint32_t i = 0; i < model->goal_count; i++)
        dump->goals[i] = model->goals[i].row;
    for (uint32_t i = 0; i < model->effect_count; i++)
        dump->effects[i] = (struct dump_effect){model->effects[i].goal, model->effects[i].slot};
    for (uint32_t i = 0; i < model->host_count; i++)
        dump->hosts[i] = model->hosts[i].row;
    if (model->record_count > 0) {
        memcpy(dump->records, model->records, model->record_count * sizeof *dump->records);
        qsort(dump->records, dump->record_count, sizeof *dump->records, by_goal_seq);
    }
}

static bool meddle(struct backend *backend, const struct dump_goal *row,
                   const struct record *record) {
    struct model *model = (struct model *)backend;
    struct model_goal *goal = goal_find(model, row->id);
    if (!goal || goal->locked)
        return false;
    goal->row.version++;
    goal->row.seq = record->seq;
    goal->row.head = record->hash;
    GROW(model, model->records, model->record_count, model->record_cap);
    struct dump_record *kept = &model->records[model->record_count++];
    *kept = (struct dump_record){row->id, *record};
    kept->record.body = arena_copy(&model->arena, record->body);
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
                                      .free = model_free,
                                      .single_statements = true};
    return &model->backend;
}
