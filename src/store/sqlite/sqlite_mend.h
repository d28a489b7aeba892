/* SPDX-License-Identifier: Apache-2.0 */
/* Handles a damaged SQLite store: sets it aside, puts an empty one in its place in safe mode, and carries out the
 * operator's decision: rebuild what is readable, or continue empty. STORE-09, STORE-10, STORE-11. */
#pragma once

#include "store/examine.h"

struct mend { /* which store, and when */
    const char *path;
    int64_t at; /* wall clock: part of the name of what is set aside, and the time of the record */
    char error[LIMIT_WHY]; /* after false is returned: what happened, and what to do */
};

enum { MEND_PATH = 4096 };

/* The newest store that was set aside. False: there is none. */
bool mend_newest_aside(const char *path, char ret_place[MEND_PATH]);

/* Rename the store and its log to PATH.corrupt-<UTC>; an older one is never overwritten. */
bool mend_set_aside(struct mend *mend, char ret_place[MEND_PATH]);

/* Make a new store, marked as in safe mode, with a record of what was found and where the damaged store is now. It
 * appears at PATH completely or not at all. */
bool mend_make_safe(struct mend *mend, const char *place, const struct examination *found);

/* Read the mark and the place of the damaged store; empty: nothing was left of it. False: the mark cannot be read. */
bool mend_read_mark(struct mend *mend, bool *ret_safe, char ret_place[MEND_PATH]);

/* Leave safe mode with the empty store: the operator accepts the loss. */
bool mend_accept_empty(struct mend *mend);

struct rebuild_report {
    uint64_t goals, records, effects; /* in the new store; all effects are unconfirmed */
    uint64_t lost;             /* goals that did not verify, or of which only traces were found */
    uint64_t unreadable;       /* number of times that a table could not be read to its end */
    char lost_path[MEND_PATH]; /* path of the list of lost goals; empty: nothing was lost */
};

/* Build a new store from what is readable in `place`, and put it at PATH. */
bool mend_rebuild(struct mend *mend, const char *place, struct rebuild_report *ret);
