/* SPDX-License-Identifier: Apache-2.0 */
/* What can happen? One row for each kind of signal, with its stable encoding.
 *
 * A signal is one block of memory with one owner at a time. Its source names the happening: whoever
 * reports the same thing twice uses the same source, and it is applied once. */
#pragma once

#include "model/goal.h"

enum signal_kind {
    SIGNAL_NONE,
    SIGNAL_GOAL_CREATE,  /* somebody wants a goal */
    SIGNAL_GOAL_REPORT,  /* somebody says how it goes */
    SIGNAL_GOAL_DUE,     /* the time that the goal asked for has come */
    SIGNAL_EFFECT_CLAIM, /* a host wants to carry an effect out */
    SIGNAL_EFFECT_ENDED, /* it was carried out, with this outcome */
    SIGNAL_EFFECT_LOST,  /* whoever had claimed it cannot say what came of it */
    SIGNAL_KINDS
};

struct signal {
    enum signal_kind kind;
    struct id source;
    struct id goal;
    int64_t at;       /* the only now that a decision knows */
    uint32_t keyed;   /* the sender may repeat it: remember the source */
    struct str actor; /* who */

    struct str title, command; /* create */
    struct str text;           /* report: what is said; ended: the tail of the output */
    uint32_t effect;           /* claim, ended, lost: its ordinal */
    uint32_t host;             /* claim: who wants it */
    int64_t exit;              /* ended: the exit status, -1 when it could not be started */
};

struct signal_row {
    const char *name;
    const struct field *fields; /* beyond the common ones */
    size_t count;
};

extern const struct signal_row SIGNALS[SIGNAL_KINDS];
extern const struct names SIGNAL_NAMES;

struct str signal_encode(const struct signal *signal, struct arena *arena);
bool signal_decode(struct str bytes, struct signal *ret_signal); /* texts point into the bytes */

/* Copy a signal whose texts are to stand in `room`, which has signal_text_size() bytes. */
size_t signal_text_size(const struct signal *signal);
void signal_copy(struct signal *to, const struct signal *from, char *room);
