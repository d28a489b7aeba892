/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/follow.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "ops/place.h"
#include "store/sqlite/sqlite.h"
#include "sys/clock.h"
#include "sys/crash_guard.h"
#include "sys/log.h"

#include <stdio.h>
#include <stdlib.h>

static const int64_t GATHER = MILLISECONDS(80); /* records of this interval are sent together */
static const int64_t LOOK_EVERY =
    SECONDS(1); /* interval of reading what other hosts have recorded */
static const int64_t SPEAK_EVERY =
    SECONDS(15); /* keep-alive interval, so that both ends know that the other one is there */
static const int64_t CLOSE_AFTER = SECONDS(30); /* time without followers */

enum {
    PAGE_OF_ONE = 64, /* records read for one follower that is behind: their text waits in memory */
    FILL_PAGES = 8,   /* pages that fill the ring at once */
    LOOKS_AFTER =
        4 /* extra reads: a commit may be settled later, while transactions that began before it still run */
};

/* A follower's own text: a page of the store, or what did not fit at once. */
struct own_text {
    struct buffer bytes;
    size_t sent;
};

struct follower {
    struct follow *follow;
    struct follower *next, **link;
    struct follow_request wanted;
    struct follow_ports ports;
    struct cursor at; /* everything up to here was delivered or is in `text` */
    uint64_t number;  /* of its next event in the ring */
    bool in_ring;     /* false: it gets pages of the store */
    bool sleeps, left;
    bool must_speak; /* a keep-alive is due */
    bool greeted;    /* it was sent the place where it begins */
    uint32_t holders;
    int64_t spoke_at;
    struct own_text text;
};

struct follow {
    char *where;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool wrote, hungry, ending; /* hungry: a follower waits for a page */
    struct follower *followers;
    uint32_t count;
    struct ring ring;
    struct store *store; /* follow thread only */
    struct arena arena;
    int64_t looked_at, alone_since;
    uint32_t looks;  /* extra reads that are left after a commit */
    int64_t read_at; /* wall clock: time up to which the ring was filled */
    bool troubled;
};

/* ---- texts ---- */

static void text_free(struct own_text *text) {
    buffer_free(&text->bytes);
    text->sent = 0;
}

static size_t text_take(struct own_text *text, char *to, size_t most) {
    size_t left = text->bytes.len - text->sent, len = left < most ? left : most;
    if (len > 0)
        memcpy(to, text->bytes.at + text->sent, len);
    text->sent += len;
    if (text->sent == text->bytes.len)
        text_free(text);
    return len;
}

/* The records in between were undone by a restore or are no longer kept: a client that gets this event has to read the
 * state again. */
static bool text_add_gone(struct own_text *text, const struct cursor *now) {
    char place[PLACE_TEXT], event[4 * PLACE_TEXT];
    place_format(now, place);
    int len = snprintf(event, sizeof event, "id: %s\nevent: gone\ndata: {\"next\":\"%s\"}\n\n",
                       place, place);
    return buffer_add(&text->bytes, event, (size_t)len);
}

/* ---- followers ---- */

static bool wants(const struct follower *follower, const struct ringed *event) {
    const struct follow_request *wanted = &follower->wanted;
    return place_is_before(&follower->at, &event->place) && event->at >= wanted->since &&
           (!wanted->by_goal || id_equal(wanted->goal, event->goal)) &&
           (!wanted->by_type || (event->type < RECORD_TYPES && wanted->types[event->type]));
}

static void follower_let_go(struct follower *follower) {
    if (--follower->holders > 0)
        return;
    text_free(&follower->text);
    free(follower);
}

static void follower_wake(struct follower *follower) {
    if (follower->sleeps)
        follower->ports.wake(follower->ports.with);
    follower->sleeps = false;
}

/* Moves the follower into the ring if the ring has its next event. "From now" is the end of the ring. */
static bool follower_enters(struct follower *follower) {
    const struct ring *ring = &follower->follow->ring;
    if (follower->at.from_now && ring->known)
        follower->at = ring->tail;
    if (!follower->in_ring && !follower->at.from_start && !follower->at.from_now)
        follower->in_ring = ring_find(ring, &follower->at, &follower->number);
    return follower->in_ring;
}

struct follower *follower_join(struct follow *follow, const struct follow_request *wanted,
                               struct follow_ports ports) {
    struct follower *follower = calloc(1, sizeof *follower);
    if (!follower)
        return NULL;
    *follower = (struct follower){.follow = follow,
                                  .wanted = *wanted,
                                  .ports = ports,
                                  .at = wanted->from,
                                  .holders = 1,
                                  .spoke_at = clock_boot()};
    pthread_mutex_lock(&follow->lock);
    bool may = !follow->ending && follow->count < LIMIT_FOLLOWERS;
    if (may) {
        follower->next = follow->followers;
        follower->link = &follow->followers;
        if (follower->next)
            follower->next->link = &follower->next;
        follow->followers = follower;
        follow->count++;
    }
    pthread_mutex_unlock(&follow->lock);
    if (may)
        return follower;
    free(follower);
    return NULL;
}

void follower_leave(struct follower *follower) {
    struct follow *follow = follower->follow;
    pthread_mutex_lock(&follow->lock);
    *follower->link = follower->next;
    if (follower->next)
        follower->next->link = follower->link;
    follow->count--;
    follower->left = true;
    follower->sleeps = false;
    if (follow->count == 0)
        pthread_cond_signal(&follow->changed);
    follower_let_go(follower);
    pthread_mutex_unlock(&follow->lock);
}

/* ---- reading, on the HTTP server's thread ---- */

static size_t ring_take(struct follower *follower, char *to, size_t most) {
    const struct ring *ring = &follower->follow->ring;
    const struct ringed *event;
    size_t len = 0;
    if (follower->number < ring->first) { /* the follower was too slow */
        follower->in_ring = false;
        return 0;
    }
    for (; (event = ring_event(ring, follower->number)); follower->number++) {
        if (!wants(follower, event))
            continue;
        if (event->len > most - len) {
            if (len > 0 || !buffer_add(&follower->text.bytes, event->text, event->len))
                break;
            len = text_take(&follower->text, to, most);
        } else {
            memcpy(to + len, event->text, event->len);
            len += event->len;
        }
        follower->at = event->place;
    }
    if (!event)
        follower->at = place_is_before(&follower->at, &ring->tail) ? ring->tail : follower->at;
    return len;
}

/* A comment and the current place: a client that reconnects with this place has missed nothing and needs nothing from
 * before it. */
static size_t speak(struct follower *follower, char *to, size_t most) {
    char place[PLACE_TEXT], text[2 * PLACE_TEXT];
    if (!follower->must_speak && (follower->greeted || !follower->in_ring))
        return 0;
    follower->must_speak = false;
    follower->greeted = follower->in_ring;
    place_format(&follower->at, place);
    int len = follower->in_ring ? snprintf(text, sizeof text, ": still here\nid: %s\n\n", place)
                                : snprintf(text, sizeof text, ": still here\n\n");
    if ((size_t)len > most)
        return 0;
    memcpy(to, text, (size_t)len);
    return (size_t)len;
}

static size_t something_take(struct follower *follower, char *to, size_t most) {
    size_t len = text_take(&follower->text, to, most);
    if (len == 0 && follower_enters(follower))
        len = ring_take(follower, to, most);
    return len > 0 ? len : speak(follower, to, most);
}

ssize_t follower_read(struct follower *follower, char *to, size_t most) {
    struct follow *follow = follower->follow;
    pthread_mutex_lock(&follow->lock);
    size_t len = follow->ending ? 0 : something_take(follower, to, most);
    if (len > 0)
        follower->spoke_at = clock_boot();
    if (len == 0 && !follow->ending) {
        follower->sleeps = true;
        follower->ports.sleep(follower->ports.with);
        if (!follower->in_ring) {
            follow->hungry = true;
            follow->wrote = follow->wrote || !follow->ring.known;
            pthread_cond_signal(&follow->changed);
        }
    }
    bool ending = follow->ending;
    pthread_mutex_unlock(&follow->lock);
    return ending ? -1 : (ssize_t)len;
}

/* ---- the store ---- */

struct asking_store {
    struct follow *follow;
    const struct store_request *request;
    struct store_answer *answer;
};

static void ask_call(void *with) {
    struct asking_store *asking = with;
    store_perform(asking->follow->store, asking->request, asking->answer, &asking->follow->arena);
}

static struct store *store_for_reading(const char *where, char *error, size_t error_size) {
    struct sqlite_options options = {
        .path = store_address_file(where), .busy_ms = 2000, .read_only = true};
    if (!options.path)
        return store_open(str_of(where), error, error_size);
    return sqlite_open(&options, error, error_size);
}

static bool trouble(struct follow *follow, const char *why) {
    if (!follow->troubled)
        log_warning("records cannot be read for clients that follow events: %s; trying again", why);
    follow->troubled = true;
    return false;
}

static bool ask(struct follow *follow, const struct store_request *request,
                struct store_answer *answer) {
    char error[512] = "";
    struct asking_store asking = {follow, request, answer};
    struct crash_guard_report report;
    if (!follow->store)
        follow->store = store_for_reading(follow->where, error, sizeof error);
    if (!follow->store)
        return trouble(follow, error);
    arena_reset(&follow->arena);
    if (crash_guard_run(ask_call, &asking, &report) != CRASH_GUARD_WHOLE)
        return trouble(follow, report.why);
    if (answer->outcome != STORE_DONE) {
        snprintf(error, sizeof error, "%.*s", STR_ARG(answer->error));
        return trouble(follow, error);
    }
    follow->troubled = false;
    return true;
}

/* ---- the ring, filled by the follow thread ---- */

/* All followers start again: what they were sent belongs to another era. */
static void tell_gone(struct follow *follow, struct cursor now) {
    for (struct follower *it = follow->followers; it; it = it->next) {
        if (it->at.from_start || it->at.from_now)
            continue;
        text_add_gone(&it->text, &now);
        it->at = now;
        it->in_ring = false;
        follower_wake(it);
    }
}

/* False: out of memory; it stops here and continues later. */
static bool page_take(struct follow *follow, const struct store_answer *answer) {
    for (uint32_t i = 0; i < answer->log_count; i++) {
        struct ringed *event = ringed_new(&answer->log[i]);
        if (!event)
            return false;
        pthread_mutex_lock(&follow->lock);
        ring_add(&follow->ring, event);
        follow->ring.tail = event->place;
        pthread_mutex_unlock(&follow->lock);
    }
    pthread_mutex_lock(&follow->lock);
    follow->ring.tail = answer->reached;
    pthread_mutex_unlock(&follow->lock);
    return true;
}

/* The ring begins at the oldest place that a follower asks for now, if that is not far back. */
static struct cursor first_place(struct follow *follow) {
    struct cursor first = {.from_now = true};
    for (const struct follower *it = follow->followers; it; it = it->next)
        if (!it->at.from_now && !it->at.from_start &&
            (first.from_now || place_is_before(&it->at, &first)))
            first = it->at;
    return first;
}

static bool ring_start(struct follow *follow) {
    struct store_answer answer;
    struct store_request request = {.verb = STORE_FOLLOW, .limit = LIMIT_EVENTS_PAGE};
    request.at = clock_wall();
    pthread_mutex_lock(&follow->lock);
    request.cursor = first_place(follow);
    pthread_mutex_unlock(&follow->lock);
    bool now = request.cursor.from_now;
    if (!ask(follow, &request, &answer))
        return false;
    pthread_mutex_lock(&follow->lock);
    ring_begin(&follow->ring, now || answer.gone ? answer.reached : request.cursor);
    pthread_mutex_unlock(&follow->lock);
    return now || answer.gone || page_take(follow, &answer);
}

/* Followers that are behind get pages from here on. */
static void ring_restart(struct follow *follow, const struct store_answer *answer) {
    pthread_mutex_lock(&follow->lock);
    ring_begin(&follow->ring, answer->reached);
    for (struct follower *it = follow->followers; it; it = it->next)
        it->in_ring = false;
    if (answer->gone)
        tell_gone(follow, answer->reached);
    pthread_mutex_unlock(&follow->lock);
}

static void ring_is_known(struct follow *follow, bool more) {
    pthread_mutex_lock(&follow->lock);
    follow->ring.known = true;
    follow->wrote = follow->wrote || more;
    pthread_mutex_unlock(&follow->lock);
}

/* True: the thread has read continuously since then. False, for example, after a night in which the machine slept or
 * the store was away. */
static bool reads_on(const struct follow *follow, int64_t now) {
    return now >= follow->read_at && now - follow->read_at < MINUTES(60);
}

/* Reads what was recorded since. The first time, it reads no more than the ring can hold: if there is more, the ring
 * begins at the present end. */
static void ring_fill(struct follow *follow) {
    struct store_answer answer = {.more = true};
    struct store_request request = {.verb = STORE_FOLLOW, .limit = LIMIT_EVENTS_PAGE};
    bool at_first = !follow->ring.known;
    request.at = clock_wall();
    follow->looked_at = clock_boot();
    if (at_first && !ring_start(follow))
        return;
    for (int pages = 0; answer.more && pages <= FILL_PAGES; pages++) {
        if (pages == FILL_PAGES && !at_first)
            break;
        request.cursor = follow->ring.tail;
        request.cursor.held = reads_on(follow, request.at);
        if (pages == FILL_PAGES)
            request.cursor = (struct cursor){.from_now = true};
        if (!ask(follow, &request, &answer))
            return;
        if (answer.gone || request.cursor.from_now)
            ring_restart(follow, &answer);
        else if (!page_take(follow, &answer))
            return;
    }
    follow->read_at = request.at;
    ring_is_known(follow, answer.more);
}

/* ---- followers that are behind ---- */

static struct store_request page_request(const struct follower *follower) {
    const struct follow_request *wanted = &follower->wanted;
    struct store_request request = {.verb = STORE_FOLLOW,
                                    .limit = PAGE_OF_ONE,
                                    .cursor = follower->at,
                                    .since = wanted->since,
                                    .types = wanted->by_type ? wanted->types : NULL,
                                    .ids = &wanted->goal,
                                    .id_count = wanted->by_goal};
    return request;
}

static bool page_render(struct own_text *text, const struct store_answer *answer) {
    if (answer->gone && !text_add_gone(text, &answer->reached))
        return false;
    for (uint32_t i = 0; i < answer->log_count; i++) {
        struct ringed *event = ringed_new(&answer->log[i]);
        bool added = event && buffer_add(&text->bytes, event->text, event->len);
        free(event);
        if (!added)
            return false;
    }
    return true;
}

/* The follower has received everything it wants of what the ring has dropped, so it continues in the ring, at the
 * oldest event. */
static void follower_has_all(struct follower *follower, const struct store_answer *answer) {
    const struct ring *ring = &follower->follow->ring;
    if (follower_enters(follower) || answer->more || answer->gone || !ring->known ||
        ring->base.era != answer->reached.era || ring->base.tx >= answer->settled)
        return;
    follower->at = ring->base;
    follower->in_ring = ring_find(ring, &follower->at, &follower->number);
}

static void follower_is_fed(struct follower *follower, struct own_text text,
                            const struct store_answer *answer) {
    text_free(&follower->text);
    follower->text = text;
    follower->at = answer->reached;
    follower_has_all(follower, answer);
    if (text.bytes.len > 0 || follower->in_ring)
        follower_wake(follower);
    else
        follower->follow->hungry = true; /* the follower wanted nothing of that page */
}

/* The caller holds the lock; it is released while the store is queried. False: nothing could be read. */
static bool feed(struct follow *follow, struct follower *follower) {
    struct store_answer answer;
    struct own_text text = {0};
    struct store_request request = page_request(follower);
    follower->holders++;
    pthread_mutex_unlock(&follow->lock);
    bool read = ask(follow, &request, &answer) && page_render(&text, &answer);
    pthread_mutex_lock(&follow->lock);
    if (read && !follower->left)
        follower_is_fed(follower, text, &answer);
    else
        text_free(&text);
    follower_let_go(follower);
    return read;
}

static struct follower *hungry_one(struct follow *follow) {
    for (struct follower *it = follow->followers; it; it = it->next)
        if (it->sleeps && it->text.bytes.len == 0 && !follower_enters(it) && !it->at.from_now)
            return it;
    return NULL;
}

/* Each follower in turn, one page at a time. */
static void feed_all(struct follow *follow) {
    pthread_mutex_lock(&follow->lock);
    follow->hungry = false;
    for (uint32_t turns = follow->count; turns > 0 && !follow->ending; turns--) {
        struct follower *one = hungry_one(follow);
        if (!one)
            break;
        if (!feed(follow, one)) {
            follow->hungry = true;
            break;
        }
    }
    pthread_mutex_unlock(&follow->lock);
}

/* ---- the follow thread ---- */

static bool has_news(struct follower *follower) {
    const struct ring *ring = &follower->follow->ring;
    const struct ringed *event;
    if (!follower_enters(follower))
        return false;
    if (follower->number < ring->first || !follower->greeted)
        return true;
    while ((event = ring_event(ring, follower->number)) && !wants(follower, event))
        follower->number++;
    if (!event && place_is_before(&follower->at, &ring->tail))
        follower->at = ring->tail; /* it keeps sleeping and does not fall behind */
    return event;
}

static void wake_all(struct follow *follow, int64_t now) {
    pthread_mutex_lock(&follow->lock);
    for (struct follower *it = follow->followers; it; it = it->next) {
        if (!it->sleeps)
            continue;
        it->must_speak = now - it->spoke_at >= SPEAK_EVERY;
        if (it->must_speak || has_news(it))
            follower_wake(it);
    }
    pthread_mutex_unlock(&follow->lock);
}

static void close_all(struct follow *follow) {
    ring_clear(&follow->ring);
    store_close(follow->store);
    follow->store = NULL;
    arena_free(&follow->arena);
    follow->arena = (struct arena){0};
}

/* Under the lock. How long the thread has nothing to do; below 0: until it is signalled. */
static int64_t idle_for(struct follow *follow, int64_t now) {
    int64_t since = now - follow->looked_at;
    if (follow->count == 0) {
        if (!follow->store)
            return -1;
        if (!follow->alone_since)
            follow->alone_since = now;
        int64_t left = follow->alone_since + CLOSE_AFTER - now;
        return left > 0 ? left : 0;
    }
    follow->alone_since = 0;
    if (follow->hungry && !follow->troubled)
        return 0;
    bool soon = (follow->wrote || follow->looks > 0) && !follow->troubled;
    int64_t idle = (soon ? GATHER : LOOK_EVERY) - since;
    return idle > 0 ? idle : 0;
}

/* False: the thread has to end. */
static bool wait_for_work(struct follow *follow) {
    pthread_mutex_lock(&follow->lock);
    for (;;) {
        int64_t idle = idle_for(follow, clock_boot());
        if (follow->ending || idle == 0)
            break;
        if (idle < 0) {
            pthread_cond_wait(&follow->changed, &follow->lock);
        } else {
            struct timespec until = clock_slice(idle);
            pthread_cond_timedwait(&follow->changed, &follow->lock, &until);
        }
    }
    bool ending = follow->ending;
    pthread_mutex_unlock(&follow->lock);
    return !ending;
}

/* A read sees everything that was committed before it began and is settled. */
static bool look_is_due(struct follow *follow, int64_t now) {
    pthread_mutex_lock(&follow->lock);
    bool due = now - follow->looked_at >= GATHER;
    if (due && follow->wrote)
        follow->looks = store_address_file(follow->where) ? 0 : LOOKS_AFTER;
    else if (due && follow->looks > 0)
        follow->looks--;
    if (due)
        follow->wrote = false;
    pthread_mutex_unlock(&follow->lock);
    return due;
}

/* A follower that joins meanwhile waits for the lock and then finds an empty ring. */
static bool closed_for_nobody(struct follow *follow) {
    pthread_mutex_lock(&follow->lock);
    bool nobody = follow->count == 0;
    if (nobody)
        close_all(follow);
    pthread_mutex_unlock(&follow->lock);
    return nobody;
}

static void *follow_run(void *with) {
    struct follow *follow = with;
    while (wait_for_work(follow)) {
        if (closed_for_nobody(follow))
            continue;
        int64_t now = clock_boot();
        if (look_is_due(follow, now))
            ring_fill(follow);
        feed_all(follow);
        wake_all(follow, now);
    }
    close_all(follow);
    return NULL;
}

/* ---- called from other modules ---- */

struct follow *follow_new(const char *store) {
    struct follow *follow = memory_new(sizeof *follow);
    pthread_mutex_init(&follow->lock, NULL);
    clock_condition(&follow->changed);
    follow->where = memory_text(store, strlen(store));
    if (pthread_create(&follow->thread, NULL, follow_run, follow) == 0)
        return follow;
    free(follow->where);
    free(follow);
    return NULL;
}

void follow_wrote(struct follow *follow) {
    pthread_mutex_lock(&follow->lock);
    if (follow->count > 0 && !follow->wrote) {
        follow->wrote = true;
        pthread_cond_signal(&follow->changed);
    }
    pthread_mutex_unlock(&follow->lock);
}

uint32_t follow_count(struct follow *follow) {
    pthread_mutex_lock(&follow->lock);
    uint32_t count = follow->count;
    pthread_mutex_unlock(&follow->lock);
    return count;
}

void follow_end(struct follow *follow) {
    if (!follow)
        return;
    pthread_mutex_lock(&follow->lock);
    follow->ending = true;
    for (struct follower *it = follow->followers; it; it = it->next)
        follower_wake(it);
    pthread_cond_signal(&follow->changed);
    pthread_mutex_unlock(&follow->lock);
}

void follow_free(struct follow *follow) {
    if (!follow)
        return;
    follow_end(follow);
    pthread_join(follow->thread, NULL);
    pthread_cond_destroy(&follow->changed);
    pthread_mutex_destroy(&follow->lock);
    free(follow->where);
    free(follow);
}
