/* SPDX-License-Identifier: Apache-2.0 */
/* Notifies the service manager, and takes over what it passes to the daemon. Implemented without a library: each
 * message is one datagram, and without a manager nothing happens. G-26. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads and clears the environment that the manager left for us: once, before anything is started. */
void notify_start(void);

void notify_ready(const char *status);
void notify_reloading(void); /* then notify_ready() */
void notify_stopping(void);
void notify_alive(void);             /* notifies the watchdog */
int64_t notify_watchdog_every(void); /* microseconds; 0: no watchdog */

/* A listening socket that the manager opened for us, Unix or TCP; -1: none, or taken already. */
int notify_socket(bool of_unix);

/* True: the journal reads our standard error. */
bool notify_in_journal(void);
/* Sends one entry in the journal's own form. False: it was not taken. */
bool notify_journal(const char *entry, size_t length);
