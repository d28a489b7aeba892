/* SPDX-License-Identifier: Apache-2.0 */
/* What is done about a damaged SQLite store? It is set aside, an empty one takes its place in safe mode, and an
 * operator decides: rebuild what can be read, or go on empty. STORE-09, STORE-10, STORE-11. */
#pragma once

#include "store/examine.h"

struct mend { /* of which store, and when */
    const char *path;
    int64_t at;            /* wall clock: names what is set aside, and stands in the log */
    char error[LIMIT_WHY]; /* after a false: what happened, and what to do */
};

enum { MEND_PATH = 4096 };

/* The newest one that was set aside. False: there is none. */
bool mend_newest_aside(const char *path, char ret_place[MEND_PATH]);

/* Rename the store and its log to PATH.corrupt-<UTC>; an older one is never overwritten. */
bool mend_set_aside(struct mend *mend, char ret_place[MEND_PATH]);

/* A new store, marked as being in safe mode, with an event that says what was found and where it is now. It
 * stands at PATH whole or not at all. */
bool mend_make_safe(struct mend *mend, const char *place, const struct examination *found);

/* The mark, and where the damaged store is; empty: nothing was left of it. False: it cannot be read. */
bool mend_read_mark(struct mend *mend, bool *ret_safe, char ret_place[MEND_PATH]);

/* The operator wants to go on without what was lost. */
bool mend_accept_empty(struct mend *mend);

struct rebuild_report {
    uint64_t goals, records, effects; /* in the new store; all effects are unconfirmed */
    uint64_t lost;             /* goals that did not verify, or of which only traces were found */
    uint64_t unreadable;       /* times that a table could not be read on */
    char lost_path[MEND_PATH]; /* the list of them; empty: nothing was lost */
};

/* Make a new store from what can be read of `place`, and let it stand at PATH. */
bool mend_rebuild(struct mend *mend, const char *place, struct rebuild_report *ret);
