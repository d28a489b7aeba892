/* SPDX-License-Identifier: Apache-2.0 */
/* Table of the differences between programs driven through their terminal: one row per program. */
#pragma once

#include "drivers/drive.h"

/* What the program's screen shows when it waits for a person, and the keys that answer. */
struct tmux_dialog {
    const char *shows[2]; /* all of them must be on the screen */
    const char *name;
    const char *allow, *reject; /* arguments of send-keys */
    bool ours;                  /* about something that we set up: allowed without asking */
};

struct tmux_quirk {
    const char *name;
    const char *ready; /* on its screen: it accepts a prompt */
    const char *busy;  /* on its screen: it is working */
    const char *clear; /* keys that empty its input */
    struct tmux_dialog dialogs[6];
    bool session_is_run; /* we choose the session's id */
    const char *history; /* where it stores the prompts it received, below its home */
    bool (*launch)(const struct drive_spec *spec, struct arena *arena, struct drive_launch *ret,
                   struct str *ret_why);
};

const struct tmux_quirk *tmux_quirk_named(struct str name); /* NULL: there is none */
const struct tmux_quirk *tmux_quirk_at(uint32_t row);
uint32_t tmux_quirk_row(const struct tmux_quirk *quirk);

#define TMUX_HOOK "overseer-hook" /* below its home: the script that its hooks run */
