/* SPDX-License-Identifier: Apache-2.0 */
/* Where does a report stay while the store is away? On this host's disk, in the order in which it came.
 *
 *     put ──▶ [waiting] ──▶ appended, synced ──▶ done ──▶ store back? ──▶ the ledger ──▶ answered: let go of
 *
 * A report is answered once it is synced. It leaves the file when the ledger has answered it; a crash before that sends
 * it again, and as every spooled signal is keyed, it is applied once. What the ledger refuses for good is moved into a
 * file beside it and logged: nothing that was taken disappears. */
#pragma once

#include "daemon/keeper.h"

struct spool;

/* NULL with an error that says what to do. `folder` has to last as long as the spool. */
struct spool *spool_open(const char *folder, struct keeper *keeper, char *error, size_t error_size);
/* Everybody who waits for it is answered: what was taken is on the disk, and goes on at the next start. From then on it
 * takes nothing; it is freed when nobody can ask any more. */
void spool_end(struct spool *spool);
void spool_free(struct spool *spool);

/* Does the store not answer just now? */
bool spool_is_wanted(struct spool *spool);

/* `done` comes once, from the spool's own thread. False: there is no room, and nothing was taken. */
bool spool_put(struct spool *spool, const struct signal *signal,
               void (*done)(void *with, bool safe), void *with);

uint64_t spool_bytes(struct spool *spool); /* that wait for the store */
