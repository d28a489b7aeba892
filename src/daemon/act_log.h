/* SPDX-License-Identifier: Apache-2.0 */
/* What has this host acted on, and what does it know of its row in the store? P13, P14.
 *
 * Kept in the state folder, so that it outlives the daemon and a store that has gone back to an earlier time. A file of fixed size: two
 * heads that are written in turn, and a ring of rows, each with a check. What was written without a sync outlives the process, but not
 * the machine: the head says under which boot it was written. */
#pragma once

#include "base/id.h"
#include "base/str.h"

#include <stddef.h>

struct act_row {
    struct id goal;
    uint32_t n, kind;
    uint64_t batch; /* the one that claimed it */
    bool begun;     /* else it was only noted, and is about to be */
    bool ended;     /* in memory only: its outcome is committed */
};

/* Numbers of the host row. In one store they never fall. */
struct act_head {
    struct id instance; /* of the store */
    uint64_t era, epoch, beat, batch;
    uint64_t timeline; /* of the server */
    uint64_t boot;     /* of the machine; 0: not known */
    uint64_t whole;    /* 1: each command that was begun and has not ended has a row */
};

/* Used by the ledger's thread and by the one that acts. */
struct act_log;

struct act_log *act_log_make(uint32_t rows); /* in memory only; NULL: there is none */
/* `syncs`: notes are on the disk before what they are about begins. `boot`: under which the machine runs now; 0: not known. */
struct act_log *act_log_open(const char *folder, bool syncs, uint64_t boot, char *error,
                             size_t error_size);
bool act_log_begin(struct act_log *log, uint64_t boot); /* a process of this host begins */
void act_log_free(struct act_log *log);

const struct act_head *act_log_head(const struct act_log *log); /* of the ledger's thread */
/* Another store than before: what was acted on for that one is forgotten. */
void act_log_confirm(struct act_log *log, const struct act_head *head);

/* It is about to be acted on. False: it must not be. It was acted on before (of a command: any of its goal, whatever its number), which
 * is only looked for if `looks`; or it cannot be noted. */
bool act_log_note(struct act_log *log, const struct act_row *row, bool looks);
bool act_log_syncs(const struct act_log *log);
bool act_log_sync(struct act_log *log); /* what was noted is on the disk. False: it is not */
/* It begins now. Without syncs, noting it said that already. False: it must not, because that cannot be written. */
bool act_log_start(struct act_log *log, struct id goal, uint32_t n);
void act_log_end(struct act_log *log, struct id goal, uint32_t n);

/* Those that a batch behind this one claimed, oldest first; how many there are. */
uint32_t act_log_behind(struct act_log *log, uint64_t batch, struct act_row *rows, uint32_t cap);

/* P14: was it begun by this host? It is asked about effects that an earlier process had claimed. */
bool act_log_had(struct act_log *log, const struct act_row *wanted);
/* Is what an earlier process of this host has noted complete, up to this batch? */
bool act_log_is_whole(const struct act_log *log, struct id instance, uint64_t epoch,
                      uint64_t batch);
void act_log_doubt(struct act_log *log); /* it is not, until it is settled */
/* What earlier processes of this host had claimed has been looked at: their rows are not needed any more. */
void act_log_settle(struct act_log *log);

/* Write what is known of the host row, if it has changed. False: it could not be written. */
bool act_log_write(struct act_log *log);
bool act_log_is_due(struct act_log *log); /* a batch was confirmed since */
