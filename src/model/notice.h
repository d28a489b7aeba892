/* SPDX-License-Identifier: Apache-2.0 */
/* What is said to a person outside of Overseer, and on which channels? A notice says the same thing on every channel; each
 * channel puts it into the words of its service. */
#pragma once

#include "base/time.h"
#include "model/field.h"
#include "model/limits.h"

/* ESCALATE-01: how urgent it is. */
enum alarm { ALARM_INFO, ALARM_WARNING, ALARM_CRITICAL, ALARM_EMERGENCY, ALARMS };

enum notice_kind {
    NOTICE_ALERT,    /* something happened */
    NOTICE_QUESTION, /* somebody has to answer */
    NOTICE_APPROVAL, /* somebody has to allow or refuse */
    NOTICE_RESOLVED, /* what was said under this cause is over */
    NOTICE_TEST,     /* does this channel work? */
    NOTICE_KINDS
};

extern const struct names ALARM_NAMES, NOTICE_KIND_NAMES;

/* Where the goal came from; empty: from the operator of this machine. */
struct notice_origin {
    struct str channel, to, thread, account;
};

struct notice {
    struct id id; /* of the effect: names this message for ever, however often it is tried */
    struct id goal;
    struct str channel; /* which of the configured ones says it */
    enum alarm alarm;
    enum notice_kind kind;
    struct str question; /* short id: Q1 */
    struct str cause;    /* the same cause is the same trouble: de-duplication key */
    struct str title, text;
    struct str task;      /* what is being worked at */
    struct texts options; /* answers to choose from */
    struct str fallback;  /* the answer that counts when nobody gives one */
    int64_t expires_at;   /* when it does; 0: never */
    struct str node, assignment;
    uint32_t iteration;
    struct str rule, reason;
    struct str detection_type, detection_severity, detection_message;
    struct str evidence; /* JSON */
    struct texts recommendations;
    struct str intervention_level, intervention_reason;
    int64_t at;
    uint32_t times; /* how often this cause was said before */
    struct str
        earlier; /* reference of what was said before on this channel, still open: it is continued */
    uint32_t unsure; /* an earlier try of this very message has an unknown outcome: look first */
    struct notice_origin origin;
    struct str url; /* where a person can read on */
};

extern const struct shape NOTICE; /* LIMIT_NOTICE bytes at most */

/* ---- channels ---- */

enum channel_kind {
    CHANNEL_DESKTOP,
    CHANNEL_GITEA, /* also Forgejo */
    CHANNEL_GITHUB,
    CHANNEL_GITLAB,
    CHANNEL_WEBHOOK,
    CHANNEL_SLACK,
    CHANNEL_DISCORD,
    CHANNEL_PAGERDUTY,
    CHANNEL_NTFY,
    CHANNEL_COMMAND, /* a command of the operator's, for everything else */
    CHANNEL_KINDS
};

/* The three sorts that ESCALATE-03 speaks of. */
enum channel_sort { SORT_DESKTOP, SORT_TRACKER, SORT_HOOK };

extern const struct names CHANNEL_KIND_NAMES, LEAST_NAMES;

/* One channel as it was configured: [[channels]]. */
struct channel {
    struct str id;      /* its name */
    uint32_t kind;      /* enum channel_kind */
    struct str url;     /* of the service, or of the hook itself */
    struct str repo;    /* tracker: OWNER/REPOSITORY */
    struct str to;      /* topic, assignee, room: what the service calls it */
    struct str command; /* of CHANNEL_COMMAND */
    struct str token_path, secret_path, ca_path, proxy;
    struct texts labels;  /* tracker: beside those of ESCALATE-09 */
    uint32_t least;       /* LEAST_USUAL, or an enum alarm + 1 */
    bool quiet;           /* quiet hours count here */
    bool insecure;        /* plain HTTP, also beyond this machine */
    struct texts origins; /* ESCALATE-13: whose goals it may hear of beside its own; "*": all */
    int64_t within;       /* how long one try may take, microseconds */
};

enum { LEAST_USUAL };

enum channel_sort channel_sort(enum channel_kind kind);

/* ESCALATE-03: info and warning on the desktop, critical also in the tracker, emergency everywhere. */
bool alarm_reaches(enum alarm alarm, enum channel_kind kind);

/* The first thing that a channel of its kind needs and has not, as the second half of a sentence; NULL: it is whole. */
const char *channel_broken(const struct channel *channel);
