/* SPDX-License-Identifier: Apache-2.0 */
/* Plays a driver against the output of an agent. A scene is a list of acts, each followed by what the agent then
 * writes. */
#pragma once

#include "drivers/driver.h"

enum { SCENE_ACTS = 16 };

struct scene {
    const char *name, *driver, *quirk, *rows; /* rows: the requirements that it proves */
    bool ask, load;
    struct {
        const char *
            act; /* begin, send [TEXT], allow, reject, interrupt, look, tick SECONDS, gone STATUS */
        const char *lines; /* lines of JSON, with ' for " */
    } acts[SCENE_ACTS];
    const char *events;   /* the expected events, without chatter */
    const char *wrote[8]; /* the bytes sent to the agent contain these, in this order */
    const char *once;     /* and contain this exactly once */
    const char *never;    /* and do not contain this */
};

/* How the agent's output is split. */
enum cutting { CUT_NONE, CUT_ANYHOW, CUT_BYTES_AND_FORGET };

struct played {
    struct str events; /* all events with their offsets, for comparison */
    struct str shown;  /* in words, without chatter, for reading */
    struct str wrote;
};

struct chance;
struct played scene_play(const struct scene *scene, enum cutting cutting, struct chance *chance,
                         struct arena *arena);
