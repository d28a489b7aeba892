/* SPDX-License-Identifier: Apache-2.0 */
/* How is a driver played against what an agent wrote? A scene is a list of acts, each with what the agent writes behind it. */
#pragma once

#include "drivers/driver.h"

enum { SCENE_ACTS = 16 };

struct scene {
    const char *name, *driver, *quirk, *rows; /* rows: what it proves */
    bool ask, load;
    struct {
        const char
            *act; /* begin, send, allow, reject, interrupt, look, tick SECONDS, gone STATUS */
        const char *lines; /* lines of JSON, with ' for " */
    } acts[SCENE_ACTS];
    const char *events;   /* what happened, without chatter */
    const char *wrote[6]; /* what went to the agent has this in it, in this order */
    const char *once;     /* and this, exactly once */
    const char *never;    /* and this not at all */
};

/* How its output is cut. */
enum cutting { CUT_NONE, CUT_ANYHOW, CUT_BYTES_AND_FORGET };

struct played {
    struct str events; /* every one, with its offset: to be compared */
    struct str shown;  /* in words, without chatter: to be read */
    struct str wrote;
};

struct chance;
struct played scene_play(const struct scene *scene, enum cutting cutting, struct chance *chance,
                         struct arena *arena);
