/* SPDX-License-Identifier: Apache-2.0 */
/* Detectors: each judges whether something is wrong with a run, as a pure function over what is known of it. A detector
 * is a file detect_<name>.c with its row, and a line in DETECTORS. What follows from a finding is decided in liveness.c,
 * by the row's answer. */
#pragma once

#include "model/policy.h"

/* When a detector is asked. */
enum detect_when {
    DETECT_DUE,   /* each time that a working assignment is due */
    DETECT_DEATH, /* when its run has died */
    DETECT_LOOK,  /* when a look at it saw nothing */
};

/* Looks that saw nothing; then a person is asked, or their answer carried out. */
enum { UNSEEN_MOST = 3 };

/* What a finding leads to. */
enum detect_answer {
    ANSWER_RESTART,  /* the run is over: it is started again */
    ANSWER_HANDOVER, /* the agent writes its handoff, and a fresh run goes on */
    ANSWER_STALL,    /* the assignment is stalled: the ladder helps it */
    ANSWER_ASK,      /* a person is asked */
};

/* What a detector sees. */
struct watched {
    const struct assignment *assignment;
    const struct observation *seen; /* the newest observation of the run; NULL: none */
    int64_t since;                  /* it is observed without a gap since then */
    int64_t at;
    const struct policy *policy;
    struct arena *arena; /* for the text of a finding */
};

struct detector;
struct finding {
    const struct detector *by;
    int64_t
        until; /* when it is found, or will be found if nothing changes; TIME_NEVER: not by time alone */
    int64_t threshold; /* the limit of the policy that it was compared with */
    struct str text;   /* evidence; empty: the summary says all */
};

struct detector {
    const char *rule;    /* on the records */
    const char *summary; /* why, as people read it: the second half of a sentence */
    enum detect_when when;
    enum detect_answer answer;
    bool (*finds)(const struct watched *watched, struct finding *ret);
};

/* One line for each, in the order in which they are asked. */
#define DETECTORS(X) \
    X(GONE) \
    X(CONTEXT_FULL) \
    X(SILENT) \
    X(DIES_AGAIN) \
    X(UNSEEN)

#define DETECTOR_DECLARE(name) extern const struct detector DETECT_##name;
DETECTORS(DETECTOR_DECLARE)

/* True: a detector with this time and answer has found something; the first one that did is in `ret`. False: `ret` says when
 * the first of them would. */
bool detect(const struct watched *watched, enum detect_when when, enum detect_answer answer,
            struct finding *ret);

/* detect_silent.c: how long a run may be silent, and since when it is. */
int64_t idle_limit(const struct assignment *assignment, const struct policy *policy);
int64_t last_life(const struct assignment *assignment, const struct observation *seen, int64_t at);
struct finding silent_now(const struct watched *watched); /* found, whatever its limits are */
