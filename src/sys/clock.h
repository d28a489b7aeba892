/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the clocks, and detects steps of the wall clock. docs/clocks.md says which clock measures what.
 *
 * Only the daemon reads clocks; all other modules are passed the time. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

int64_t
clock_wall(void); /* UTC, microseconds. Only for calendar instants: it can step at any moment. */
int64_t clock_boot(void); /* since boot, suspend included, microseconds: for timeouts */

/* A clock that reads like the wall clock and never steps: the boot clock plus an offset that is fixed for one boot of the
 * machine (kept in the state folder). For times that are measured here and are stored with a run. */
int64_t clock_steady(void);
int64_t
clock_steady_to_wall(int64_t steady); /* the same moment on the present wall clock; 0 stays 0 */

/* The wall and the boot clock of one moment, and the sum of all steps of the wall clock that this host has seen. Reading
 * detects a step. The sum is kept in the state folder, so that it survives a restart. */
struct clock_reading {
    int64_t wall, boot;
    int64_t stepped;
};
struct clock_reading clock_read(void);

/* The newest step; {0}: none is known. */
struct clock_step {
    int64_t by; /* microseconds; below 0: backwards */
    int64_t at; /* wall clock after the step */
};
struct clock_step clock_last_step(void);

/* Loads the clock file of the state folder and compares it with the clocks now: a step while no daemon ran is detected,
 * too. Without a folder nothing is kept. */
void clock_open(const char *folder);
void clock_keep(
    void); /* writes the clock file, at most once a minute unless there was a step; called every second */

/* True: times that this host stored before its start may be ahead of its clock. */
bool clock_is_in_doubt(void);
uint32_t clock_id(void); /* names the step count: random, kept in the clock file */
/* Whether there was a leap (a step of LEAP_SECONDS or more) within this span, and for how long it is known that there
 * was none. */
bool clock_leapt_within(int64_t span);
int64_t clock_calm_for(void);

enum { LEAP_SECONDS = 5 };

/* A condition that waits on the monotonic clock, and the end of a wait on it: in slices of at most a second, so short
 * that a suspend does not matter. */
void clock_condition(pthread_cond_t *condition);
struct timespec clock_slice(int64_t micros);

void random_bytes(void *to, unsigned long count);

/* Different after each start of the machine; empty if the system does not provide it. */
enum { BOOT_ID = 36 };
void boot_id(char text[BOOT_ID + 1]);
