/* SPDX-License-Identifier: Apache-2.0 */
/* How do people and programs get in? Through a Unix socket that speaks HTTP: POST /rpc with JSON-RPC 2.0,
 * and GET /healthz. A write is answered when it is committed, a read when it is read; meanwhile its
 * connection is suspended and costs nothing. */
#pragma once

#include "daemon/keeper.h"
#include "daemon/lookup.h"

struct door;

/* NULL with an error that says what to do. */
struct door *door_open(const char *path, struct keeper *keeper, struct lookups *lookups,
                       char *error, size_t error_size);

void door_answer(struct door *door,
                 struct input *input); /* from the ledger's thread; takes it over */
void door_sweep(struct door *door);    /* now and then: whoever waited too long is told */
void door_shut(struct door *door);     /* no new connections */
void door_close(struct door *door);    /* everybody has been answered */
