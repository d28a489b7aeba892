/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a local log of what this host has acted on, and of what it knows of its row in the store. P13, P14.
 *
 * The log is in the state folder, so that it survives the daemon and a store that has gone back to an earlier time. It
 * is a file of fixed size: two heads that are written in turn, and a ring of rows, each with a checksum. What was
 * written without a sync survives the process, but not the machine: the head says under which boot it was written. */
#pragma once

#include "base/id.h"
#include "base/str.h"

#include <stddef.h>

struct act_row {
    struct id goal;
    uint32_t n, kind;
    uint64_t batch; /* the batch that claimed it */
    bool begun;     /* false: only noted, and about to begin */
    bool ended;     /* in memory only: its outcome is committed */
};

/* Numbers of the host row. In one store they never decrease. */
struct act_head {
    struct id instance; /* of the store */
    uint64_t era, epoch, beat, batch;
    uint64_t timeline; /* of the server */
    uint64_t boot;     /* of the machine; 0: not known */
    uint64_t whole;    /* 1: each command that was begun and has not ended has a row */
};

/* Used by the ledger thread and by the thread that acts. */
struct act_log;

struct act_log *act_log_make(uint32_t rows); /* in memory only; NULL: no memory */
/* `syncs`: notes are on the disk before their acts begin. `boot`: the current boot of the machine; 0: not known. */
struct act_log *act_log_open(const char *folder, bool syncs, uint64_t boot, char *error,
                             size_t error_size);
bool act_log_begin(struct act_log *log, uint64_t boot); /* a process of this host begins */
void act_log_free(struct act_log *log);

const struct act_head *act_log_head(const struct act_log *log); /* ledger thread only */
/* If the store is not the same as before, what was acted on for the old one is forgotten. */
void act_log_confirm(struct act_log *log, const struct act_head *head);

/* The effect is about to be acted on. False: it must not be. Either it was acted on before (a command: any command of
 * its goal, whatever its number), which is only checked if `looks`; or it cannot be noted. */
bool act_log_note(struct act_log *log, const struct act_row *row, bool looks);
bool act_log_syncs(const struct act_log *log);
bool act_log_sync(struct act_log *log); /* syncs what was noted to the disk. False: it failed */
/* The act begins now. Without syncs, noting it has already recorded that. False: it must not begin, because this cannot
 * be written. */
bool act_log_start(struct act_log *log, struct id goal, uint32_t n);
void act_log_end(struct act_log *log, struct id goal, uint32_t n);

/* The acts that a batch after this one claimed, oldest first; returns how many there are. */
uint32_t act_log_behind(struct act_log *log, uint64_t batch, struct act_row *rows, uint32_t cap);

/* P14: true: this host began the act. Asked about effects that an earlier process had claimed. */
bool act_log_had(struct act_log *log, const struct act_row *wanted);
/* True: the notes of an earlier process of this host are complete up to this batch. */
bool act_log_is_whole(const struct act_log *log, struct id instance, uint64_t epoch,
                      uint64_t batch);
void act_log_doubt(struct act_log *log); /* the notes are not complete until they are settled */
/* The claims of earlier processes of this host have been checked: their rows are not needed any more. */
void act_log_settle(struct act_log *log);

/* Writes what is known of the host row, if it has changed. False: it could not be written. */
bool act_log_write(struct act_log *log);
/* P14: it must be written now. A process that ends with an unwritten epoch leaves notes that the next one cannot rely
 * on. */
bool act_log_is_due(struct act_log *log);
