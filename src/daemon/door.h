/* SPDX-License-Identifier: Apache-2.0 */
/* How do people and programs get in? Through doors that speak HTTP: a Unix socket for the people at the machine, another one for
 * runs of agents, and, when it is configured, TCP for those who have a token. Each door is a server of its own, so that nobody at one can
 * starve those at the other. A write is answered when it is committed, a read when it is read; meanwhile its connection
 * is suspended and costs nothing. */
#pragma once

#include "daemon/house.h"
#include "model/field.h"

struct door;
struct tempo; /* tempo.h */

enum door_kind {
    DOOR_UNIX, /* people at the machine */
    DOOR_TCP,  /* whoever has a token */
    DOOR_RUNS, /* a Unix socket for runs of agents: their token counts, and nothing else */
    DOORS
};

struct door_rules {
    const char *socket; /* Unix: its path */
    struct str listen;  /* TCP: ADDRESS:PORT */
    int fd;             /* a socket that listens already; 0 or less: none */
    struct texts hosts, origins;
    struct str tls_cert, tls_key; /* files; empty: no TLS */
    bool insecure;                /* beyond this machine without TLS */
};

/* NULL with an error that says what to do. Keeps no pointer into the rules. */
struct door *door_open(struct house *house, enum door_kind kind, const struct door_rules *rules,
                       char *error, size_t error_size);
void door_sweep(struct door *door); /* now and then: strangers who say nothing are sent away */
void door_shut(struct door *door);  /* no new connections */
void door_halt(struct door *door);  /* everybody has been answered: nobody is served any more */
void door_close(struct door *door); /* no door is open that could ask about this one */

struct house *door_house(const struct door *door);
bool door_is_unix(const struct door *door);
bool door_is_for_runs(const struct door *door);
struct tempo *door_tempo(struct door *door);    /* of the door for runs */
const char *door_host(const struct door *door); /* TCP: as a URL has it */
uint16_t door_port(const struct door *door);
const struct door_rules *door_rules(const struct door *door);

struct door_view {
    uint32_t connections, strangers;
    uint64_t came, sent_away;
};
struct door_view door_view(struct door *door);
