/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a person's login for a run, without the refresh token: a program that renews a login replaces its refresh
 * token, which would log out the person's own program. */
#pragma once

#include "base/arena.h"

enum login_form {
    LOGIN_JSON,     /* an object; only the members in `keeps` are copied */
    LOGIN_LINES,    /* "NAME: value"; a line whose name contains "refresh" is left out */
    LOGIN_SETTINGS, /* not a login; a copy. The program needs it, however it is logged in */
    LOGIN_TOOLS,    /* not a login: instructions, skills, commands; a copy, or the folder */
    LOGIN_SERVERS,  /* not a login: MCP servers, of which only the members in `keeps` are copied */
};

struct login {
    const char *kinds, *file; /* kinds of agents, separated by spaces; below HOME */
    enum login_form form;
    const char *keeps;   /* members as paths, separated by spaces; * is any member */
    const char *empties; /* members that must exist, as an empty text */
    const char *expires; /* member with the time, in milliseconds; NULL: none */
};

static inline bool login_is_none(const struct login *login) {
    return login->form >= LOGIN_SETTINGS;
}

extern const struct login LOGINS[];
extern const size_t LOGIN_COUNT;

const struct login *login_of(struct str file); /* NULL: not a login */
bool login_is_for(const struct login *login, struct str kind);
/* True: a login is somewhere in this folder, which is below HOME. */
bool login_is_below(struct str folder);

/* The variable in which a program of this kind takes a token; empty: not known. */
struct str login_variable(struct str kind);

/* What the run gets. False: the file has an unknown format, and nothing of it may be given to a run. */
bool login_copy(const struct login *login, struct str text, struct arena *arena, struct str *ret);

/* Any other file that the operator shares: in JSON, members with "refresh" in their name are emptied. */
struct str login_strip(struct str text, struct arena *arena);

/* When the copy stops working, in milliseconds since 1970; 0: not given. */
int64_t login_expires(const struct login *login, struct str text);
