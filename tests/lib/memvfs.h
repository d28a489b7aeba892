/* SPDX-License-Identifier: Apache-2.0 */
/* An in-memory disk that several SQLite connections share, with power cuts, kills and injected faults. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* One simulated disk with its files, for the connections of one thread. */
struct memdisk;

/* All randomness of the disk comes from the seed. Registers an sqlite3_vfs under a unique name. */
struct memdisk *memdisk_create(uint64_t seed);

/* The name to pass to sqlite3_open_v2. */
const char *memdisk_vfs(const struct memdisk *disk);

/* Every connection must be closed first. */
void memdisk_free(struct memdisk *disk);

/* Sets the result of xCurrentTimeInt64; it is 0 until then. */
void memdisk_clock(struct memdisk *disk, int64_t unix_milliseconds);

/* Each unsynced write, truncation, creation and deletion is kept or lost, by the seed; a write may also be torn, so
 * that only some of its 512-byte sectors are kept. Every open handle is dead afterwards: its calls return SQLITE_IOERR,
 * and sqlite3_close works. Armed faults stay armed, so that the recovery can fail too. */
void memdisk_power_cut(struct memdisk *disk);

/* Connections opened next belong to this owner, with every file that they open later (the owner is 0 until then). A
 * number may be reused after its owner has died. */
void memdisk_owner(struct memdisk *disk, int owner);

/* The owner's process ends: its handles are dead and its locks dropped; what it wrote stays, as in a page cache. */
void memdisk_kill(struct memdisk *disk, int owner);

/* Temporary files without a name are not counted and do not fail. */
enum memdisk_fault {
    MEMDISK_NONE,
    MEMDISK_WRITE, /* write, truncate or delete: the matching SQLITE_IOERR_*, perhaps partly done */
    MEMDISK_FULL,  /* write: SQLITE_FULL, perhaps partly done */
    MEMDISK_SYNC,  /* sync: SQLITE_IOERR_FSYNC, and nothing became durable */
    MEMDISK_READ,  /* read: SQLITE_IOERR_READ */
    MEMDISK_DIE,   /* create, write, truncate, delete, sync: perhaps done; the owner is killed */
};

/* The nth operation of the kind from now (1 is the next) fails, once. NONE or 0 disarms. */
void memdisk_fail(struct memdisk *disk, enum memdisk_fault kind, uint64_t nth);

/* Is a fault of this kind still armed? */
bool memdisk_armed(const struct memdisk *disk, enum memdisk_fault kind);

/* The number of operations of this kind so far. */
uint64_t memdisk_count(const struct memdisk *disk, enum memdisk_fault kind);

/* Copies every named file; puts all copies back, replacing the current files. */
void memdisk_back_up(struct memdisk *disk);
void memdisk_restore(struct memdisk *disk);

/* A lying disk acknowledges a sync without performing it. */
void memdisk_lies(struct memdisk *disk, bool lies);
