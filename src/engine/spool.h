/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps reports on this host's disk while the store is away, in the order of their arrival.
 *
 *     put ──▶ [waiting] ──▶ appended, synced ──▶ done ──▶ store back? ──▶ the ledger ──▶ answered: dropped
 *
 * A report is answered once it is synced. It leaves the file when the ledger has answered it; after a crash before that
 * it is sent again, and because every spooled signal is keyed, it is applied once. A report that the ledger refuses for
 * good is moved into a file beside the spool and logged: nothing that was accepted disappears. */
#pragma once

#include "engine/ledger_thread.h"

struct spool;

/* NULL with an error that says what to do. `folder` must live as long as the spool. */
struct spool *spool_open(const char *folder, struct ledger_thread *ledger_thread, char *error,
                         size_t error_size);
/* Answers every caller that waits for the spool: accepted reports are on the disk, and are handed over after the next
 * start. From then on the spool accepts nothing; it is freed when no caller can use it any more. */
void spool_end(struct spool *spool);
void spool_free(struct spool *spool);

/* True: the store does not answer just now. */
bool spool_is_wanted(struct spool *spool);

/* `done` is called once, from the spool's own thread. False: there is no room, and nothing was accepted. */
bool spool_put(struct spool *spool, const struct signal *signal,
               void (*done)(void *with, bool safe), void *with);

uint64_t spool_bytes(struct spool *spool); /* bytes that wait for the store */
