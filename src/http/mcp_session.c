/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp_session.h"

#include "base/memory.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct session {
    struct id name; /* its slot in two bytes, then fourteen random bytes; zero: free */
    struct id who;
    int64_t used;
};

struct sessions {
    pthread_mutex_t lock;
    uint32_t next; /* where the search for a free slot begins */
    struct session at[LIMIT_MCP_SESSIONS];
};
static_assert(LIMIT_MCP_SESSIONS <= 65536, "a place has two bytes");

static const struct id NONE;

struct sessions *sessions_new(void) {
    struct sessions *sessions = memory_new(sizeof *sessions); /* pages are allocated at first use */
    pthread_mutex_init(&sessions->lock, NULL);
    return sessions;
}

void sessions_free(struct sessions *sessions) {
    if (sessions)
        pthread_mutex_destroy(&sessions->lock);
    free(sessions);
}

static struct id caller_id(const struct caller *caller) {
    struct id of = id_derive(str_of(name_of(&ROLE_NAMES, caller->role)), str_of(caller->actor));
    return id_derive((struct str){(const char *)of.bytes, sizeof of.bytes}, str_of(caller->run));
}

static uint32_t place_find(struct sessions *sessions) {
    uint32_t oldest = 0;
    for (uint32_t i = 0; i < LIMIT_MCP_SESSIONS; i++) {
        uint32_t place = (sessions->next + i) % LIMIT_MCP_SESSIONS;
        if (id_equal(sessions->at[place].name, NONE))
            return place;
        if (sessions->at[place].used < sessions->at[oldest].used)
            oldest = place;
    }
    return oldest;
}

struct id session_open(struct sessions *sessions, const struct caller *caller,
                       const uint8_t random[16], int64_t now) {
    struct session session = {.who = caller_id(caller), .used = now};
    memcpy(session.name.bytes, random, 16);
    pthread_mutex_lock(&sessions->lock);
    uint32_t place = place_find(sessions);
    session.name.bytes[0] = (uint8_t)(place >> 8);
    session.name.bytes[1] = (uint8_t)place;
    sessions->at[place] = session;
    sessions->next = place + 1;
    pthread_mutex_unlock(&sessions->lock);
    return session.name;
}

/* The caller holds the lock. The comparison takes constant time. */
static struct session *session_find(struct sessions *sessions, const struct caller *caller,
                                    struct str text) {
    struct id name, who = caller_id(caller);
    if (!id_parse(text, &name) || id_equal(name, NONE))
        return NULL;
    uint32_t place = (uint32_t)name.bytes[0] << 8 | name.bytes[1];
    if (place >= LIMIT_MCP_SESSIONS)
        return NULL;
    struct session *session = &sessions->at[place];
    unsigned differ = 0;
    for (size_t i = 0; i < sizeof name.bytes; i++)
        differ |= (unsigned)(session->name.bytes[i] ^ name.bytes[i]) |
                  (unsigned)(session->who.bytes[i] ^ who.bytes[i]);
    return differ ? NULL : session;
}

bool session_is_known(struct sessions *sessions, const struct caller *caller, struct str name,
                      int64_t now) {
    pthread_mutex_lock(&sessions->lock);
    struct session *session = session_find(sessions, caller, name);
    if (session)
        session->used = now;
    pthread_mutex_unlock(&sessions->lock);
    return session;
}

bool session_end(struct sessions *sessions, const struct caller *caller, struct str name) {
    pthread_mutex_lock(&sessions->lock);
    struct session *session = session_find(sessions, caller, name);
    if (session)
        *session = (struct session){0};
    pthread_mutex_unlock(&sessions->lock);
    return session;
}
