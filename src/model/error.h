/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: what can go wrong, its code, and what to do next. One row for each. */
#pragma once

enum error_class {
    CLASS_NONE,
    CLASS_EXPECTED,  /* the caller asked for something that is not possible */
    CLASS_TRANSIENT, /* the same request may succeed later */
    CLASS_HARD,      /* a person has to look */
};

enum error {
    ERROR_NONE,
    ERROR_INVALID,
    ERROR_NOT_FOUND,
    ERROR_CONFLICT,
    ERROR_QUARANTINED,
    ERROR_REFUSED_BY_STORE,
    ERROR_BUSY,
    ERROR_STORE_AWAY,
    ERROR_NO_MEMORY,
    ERROR_STOPPING,
    ERROR_UNKNOWN_METHOD,
    ERROR_UNAUTHORIZED,
    ERROR_INVALID_PLAN,
    ERROR_SAFE_MODE,
    ERROR_UNAUTHENTICATED, /* the caller is unknown */
    ERROR_TOO_LARGE,
    ERROR_AMBIGUOUS, /* the prefix of an id matches several goals */
    ERROR_SPOOL_FULL,
    ERROR_NOT_JSON, /* JSON-RPC: the input is not JSON */
    ERROR_INTERNAL,
    ERROR_NO_DAEMON, /* the command line found no daemon */
    ERROR_LIMITED,   /* REQUEST-02: asked too often */
    ERROR_COUNT
};

struct error_row {
    const char *code;     /* on the wire, stable */
    const char *sentence; /* what happened, and what to do next */
    int exit_status;      /* of the command line */
    int http_status;
    enum error_class class;
};

extern const struct error_row ERRORS[ERROR_COUNT];
extern const char *const ERROR_CLASS[CLASS_HARD + 1]; /* on the wire */
