/* SPDX-License-Identifier: Apache-2.0 */
/* How much of anything may there be? Every bound of Overseer stands here, with its reason. */
#pragma once

enum {
    /* texts, in bytes */
    LIMIT_TITLE = 512,        /* one line that a person reads in a list */
    LIMIT_COMMAND = 2048,     /* longer ones belong in a script */
    LIMIT_REPORT = 1024,      /* longer texts live apart, by hash */
    LIMIT_OUTPUT = 1024,      /* the tail of a command's output that is kept as evidence */
    LIMIT_ACTOR = 128,        /* who did it */
    LIMIT_KEY = 128,          /* what a caller may choose to make a write idempotent */
    LIMIT_RECORD_BODY = 2048, /* evidence of one decision */
    LIMIT_SIGNAL_BODY = 8192, /* one encoded signal, in the inbox or set aside */
    LIMIT_HOST_TEXT = 128,    /* build and address of a host */
    LIMIT_WHY = 512,          /* a reason in an error or a quarantine row */

    /* one goal */
    LIMIT_OPEN_EFFECTS = 8, /* effects decided and not yet ended */
    LIMIT_STEP_RECORDS = 4, /* records one step may write */

    /* one batch: the group commit. 256 keeps a transaction near a millisecond on both engines */
    LIMIT_BATCH_SIGNALS = 256,

    /* one daemon: 10,000 agents, a million goals */
    LIMIT_QUEUE_SIGNALS = 8192, /* waiting for the ledger; past that the doors answer 503 */
    LIMIT_WARM_GOALS = 16384,   /* in memory, about 10 MiB; more than one host's busy agents */
    LIMIT_CLAIMS = 4096,        /* ready effects waiting for a claim; the rest stay in the store */
    LIMIT_ACTS = 64,            /* effects being carried out at once */
    LIMIT_PATIENCE = 16,        /* times a signal is tried again after conflicts */

    /* pages read from the store in one request */
    LIMIT_OWNED_PAGE = 4096,
    LIMIT_ADOPT_PAGE = 512,
    LIMIT_INBOX_PAGE = 128,
    LIMIT_WATCHED_HOSTS =
        2, /* each host watches its next neighbours: 1,000 hosts cost 2,000 rows */

    /* doors */
    LIMIT_HTTP_BODY = 65536,
    LIMIT_HTTP_CONNECTIONS = 1024,
    LIMIT_JSON_DEPTH = 16,
    LIMIT_SHOWN_RECORDS = 50,
};
