/* SPDX-License-Identifier: Apache-2.0 */
/* Notices to people outside of Overseer, and the channels that send them. A notice has the same content on every
 * channel; each channel formats it for its service. */
#pragma once

#include "base/time.h"
#include "model/field.h"
#include "model/limits.h"

/* ESCALATE-01: how urgent it is. */
enum alarm { ALARM_INFO, ALARM_WARNING, ALARM_CRITICAL, ALARM_EMERGENCY, ALARMS };

enum notice_kind {
    NOTICE_ALERT,    /* something happened */
    NOTICE_QUESTION, /* a person has to answer */
    NOTICE_APPROVAL, /* a person has to allow or refuse */
    NOTICE_RESOLVED, /* the problem with this cause is over */
    NOTICE_TEST,     /* tests the channel */
    NOTICE_KINDS
};

extern const struct names ALARM_NAMES, NOTICE_KIND_NAMES;

/* Where the goal came from; empty: the operator of this machine. */
struct notice_origin {
    struct str channel, to, thread, account;
};

struct notice_answers {
    struct texts options;
    struct str fallback; /* answer that counts if none is given */
    int64_t expires_at;  /* when it counts; 0: never */
};

struct notice_detection {
    struct str type, severity, message;
};

struct notice_intervention {
    struct str level, reason;
};

/* What is known of earlier messages. */
struct notice_attempt {
    uint32_t times; /* how often this cause was reported before */
    struct str
        earlier; /* reference of an earlier message on this channel that is still open: this one continues it */
    uint32_t
        unsure; /* an earlier attempt to send this message has an unknown outcome: look first */
};

struct notice {
    struct id id; /* of the effect: names this message permanently, across all attempts */
    struct id goal;
    struct str channel; /* configured channel that sends it */
    enum alarm alarm;
    enum notice_kind kind;
    struct str question; /* short id: Q1 */
    struct str cause;    /* de-duplication key: the same cause is the same problem */
    struct str title, text;
    struct str task; /* what is being worked on */
    struct notice_answers answers;
    struct str node, assignment;
    uint32_t iteration;
    struct str rule, reason;
    struct notice_detection detection;
    struct str evidence; /* JSON */
    struct texts recommendations;
    struct notice_intervention intervention;
    int64_t at;
    struct notice_attempt attempt;
    struct notice_origin origin;
    struct str url; /* where a person can read more */
};

extern const struct shape NOTICE; /* LIMIT_NOTICE bytes at most */

/* ---- channels ---- */

/* The three sorts of channels in ESCALATE-03. */
enum channel_sort { SORT_DESKTOP, SORT_TRACKER, SORT_HOOK };

extern const struct names CHANNEL_KIND_NAMES, LEAST_NAMES;

/* One configured channel: [[channels]]. */
struct channel {
    struct str id;      /* its name */
    uint32_t kind;      /* enum channel_kind: model/channel_list.h */
    struct str url;     /* of the service, or of the hook itself */
    struct str repo;    /* tracker: OWNER/REPOSITORY */
    struct str to;      /* topic, assignee or room, depending on the service */
    struct str command; /* of CHANNEL_COMMAND */
    struct str token_path, secret_path, ca_path, proxy;
    struct texts labels; /* tracker: in addition to those of ESCALATE-09 */
    uint32_t least;      /* LEAST_USUAL, or an enum alarm + 1 */
    bool quiet;          /* quiet hours apply */
    bool insecure;       /* allows plain HTTP beyond this machine */
    struct texts
        origins;    /* ESCALATE-13: whose goals it may report in addition to its own; "*": all */
    int64_t within; /* time limit of one attempt, microseconds */
};

enum { LEAST_USUAL };

enum channel_sort channel_sort(uint32_t kind);

/* A tracker has an open issue and PagerDuty an open incident: both have to be closed, or at least notified. */
bool channel_wants_end(uint32_t kind);

/* ESCALATE-03: info and warning on the desktop, critical also in the tracker, emergency everywhere. */
bool alarm_reaches(enum alarm alarm, uint32_t kind);

/* The first thing that a channel of its kind needs and lacks, as the second half of a sentence; NULL: complete. */
const char *channel_broken(const struct channel *channel);
