/* SPDX-License-Identifier: Apache-2.0 */
/* In what do programs differ that are driven through their terminal? One row for each. */
#pragma once

#include "ports/drive.h"

/* What its screen shows when it waits for somebody, and the keys that answer. */
struct tmux_dialog {
    const char *shows[2]; /* all of them are on the screen */
    const char *name;
    const char *allow, *reject; /* words of send-keys */
    bool ours;                  /* it is about what we set up: allowed without asking */
};

struct tmux_quirk {
    const char *name;
    const char *ready; /* on its screen: it can be spoken to */
    const char *busy;  /* and: it is at work */
    const char *clear; /* keys that empty its input */
    struct tmux_dialog dialogs[6];
    bool session_is_run; /* its session is named by us */
    const char *history; /* where it keeps what it was told, below its home */
    bool (*launch)(const struct drive_spec *spec, struct arena *arena, struct drive_launch *ret,
                   struct str *ret_why);
};

const struct tmux_quirk *tmux_quirk_named(struct str name); /* NULL: there is none */
const struct tmux_quirk *tmux_quirk_at(uint32_t row);
uint32_t tmux_quirk_row(const struct tmux_quirk *quirk);

#define TMUX_HOOK "overseer-hook" /* below its home: what its hooks run */
