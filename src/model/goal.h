/* SPDX-License-Identifier: Apache-2.0 */
/* A goal. Memory holds only its live state, of fixed size; texts and history stay in tables. */
#pragma once

#include "base/time.h"
#include "model/limits.h"
#include "model/status.h"

/* An effect that was decided and has not ended. Its body stays in the store. */
struct effect_slot {
    uint32_t n; /* ordinal in the goal, never reused: (goal, n) names the effect permanently */
    uint32_t kind;
    enum effect_state state;
    uint32_t run_host; /* host that claimed it */
    int64_t until;     /* running: deadline for the outcome */
};

/* Of admission (model/admission.h): the supervisor's own pace. */
struct pace {
    int64_t next;    /* when the actions so far are paid for: see core/admission/admission_view.c */
    int64_t since;   /* start of the minute in which disruptive actions are counted */
    uint32_t struck; /* assignments acted against in that minute: compared with the allowed share */
    uint32_t suspended;  /* 1: too much at once; a person was asked */
    int64_t released_at; /* a person allowed the disruptive actions requested until then */
    int64_t alone_at;    /* a person rejected the disruptive actions requested until then */
};

/* The task batch that it belongs to. */
struct goal_batch {
    uint64_t key;  /* task_batch_key(); 0: none */
    int64_t until; /* end of the batch when the goal was created; 0: none */
};

/* Admissions and workspaces are stored and stepped like goals. */
struct goal_kind {
    uint32_t admission; /* host whose admission this is; 0: an ordinary goal */
    uint32_t
        workspace; /* 1: a workspace (model/repository.h), and `admission` is the host that made it */
    uint64_t number; /* an ordinary goal: of its name T7, given once and for ever; 0: none yet */
    char subject[LIMIT_SUBJECT +
                 1]; /* its first title: of its branches and commits; empty: of an earlier build */
    struct goal_batch batch;
    uint32_t quota_mark; /* percent of a quota window from which its work does not begin; 0: none */
};

/* The chain of its records. */
struct goal_records {
    uint64_t seq;     /* of the newest */
    struct hash head; /* of the newest: the end of the chain */
};

struct goal_times {
    int64_t created_at, updated_at, ended_at;
    int64_t
        wants_at; /* earliest time at which its assignments and questions need a step by themselves */
};

/* How far it is. */
struct goal_progress {
    uint32_t reports;    /* progress reports accepted */
    uint32_t percent;    /* of its plan that is done */
    uint32_t working;    /* leaves of its plan that are in progress */
    int64_t last_exit;   /* of the newest command that ended */
    uint32_t succeeded;  /* 1: that command ended with 0 */
#ifdef OVERSEER_TOMORROW /* a test build for rolling upgrades: tests/upgrade */
    uint32_t tomorrow;   /* reports counted since the whole fleet knows this field */
#endif
};

/* The revisions of its plan; the nodes are in struct plan. */
struct goal_plan {
    uint64_t version;       /* PLAN-17: 0: no plan yet */
    uint32_t nodes_made;    /* the next node's ordinal */
    uint32_t review;        /* 1: a review of the plan was requested */
    struct hash proposal;   /* PLAN-33: of an encoded PLAN that waits for a person; zero: none */
    uint64_t proposal_base; /* the plan version that it was made for */
    uint32_t reopened;      /* 1: it was reopened, and nothing in its plan has moved since */
};

/* What it asked and told people. */
struct goal_people {
    uint32_t questions; /* open questions to a person */
    uint32_t notices;   /* messages to people in the hour that began at notices_since */
    int64_t notices_since;
};

/* Of all its assignments, as far as settled. */
struct goal_spent {
    uint64_t cost, tokens, starts;
};

/* The clock steps by which its stored times are corrected. */
struct goal_clock {
    int64_t steps; /* their sum, */
    uint32_t id;   /* and which count that is: see struct world; 0: none */
};

/* Its effects that have not ended, in order of n. */
struct goal_effects {
    uint32_t made; /* the next effect's ordinal */
    uint32_t open_count;
    struct effect_slot open[LIMIT_OPEN_EFFECTS];
};

/* The key of no repository: the goal's work needs none. */
#define REPOSITORY_NONE ((uint64_t)INT64_MAX)

struct goal {
    struct id id;
    uint32_t owner;   /* the host that decides about it */
    uint64_t fence;   /* raised at each take-over; sent with every action */
    uint64_t version; /* raised by each commit, and checked there */
    struct goal_records records;
    int64_t due_at;   /* needs a signal then, even if nothing happens */
    bool quarantined; /* set aside: not stepped until a person releases it */

    /* the hot part, encoded by GOAL_HOT */
    enum goal_status status;
    enum need need;
    enum priority priority;
    struct goal_times times;
    struct goal_progress progress;
    struct hash text; /* of its encoded GOAL_TEXT; zero: it has none */
    struct goal_plan plan;
    uint32_t parts_made; /* the next ordinal of its assignments, runs … */
    uint32_t shown;      /* display state + 1 in its row of goal_view; 0: no row yet */
    uint64_t era;        /* era of the store when it was last stepped: a restore raises it */
    struct goal_kind kind;
    uint64_t
        repository; /* key of the one that its work is in (repository_key()); 0: that of [repo], if there is one; REPOSITORY_NONE */
    struct goal_people people;
    struct goal_spent spent;
    struct hash origin; /* ESCALATE-13: of the channel that it came from; zero: the operator's */
    struct goal_clock clock;
    struct pace pace; /* of admission */
    struct goal_effects effects;
};

extern const struct shape GOAL_HOT;

/* What people say about a goal: GOAL-05 to GOAL-09. Stored separately, by hash, encoded by GOAL_TEXT. */
struct risk_row {
    struct str risk, impact, mitigation;
};

struct goal_text {
    struct str problem;
    struct texts success_criteria, non_goals;
    struct str source_session;               /* GOAL-06: where it came from, */
    struct str channel, to, thread, account; /* and where to send an answer */
    struct str owner;                        /* a person, never a credential */
    struct texts stakeholders;
    struct str repo_snapshot;
    struct texts constraints, assumptions;
    struct rows risks; /* struct risk_row */
};

extern const struct shape GOAL_TEXT, RISK_ROW;

/* What lists show of a goal: a row of the table goal_view. Every field is a column. */
struct goal_view {
    struct id id;
    enum goal_status status;
    enum display_state display_state;
    enum priority priority;
    uint32_t percent;
    int64_t created_at, updated_at;
    struct str title;
    int64_t ended_at;   /* when it was done or cancelled; 0: open */
    int64_t repository; /* the bits of its key: struct goal */
    int64_t number;     /* of its name; 0: none */
};

extern const struct shape GOAL_VIEW;

/* The first broken invariant in words, or NULL. Runs after every step, and on load. */
const char *goal_broken(const struct goal *goal);

bool goal_is_open(const struct goal *goal);
bool goal_needs_person(const struct goal *goal);
enum display_state goal_display_state(const struct goal *goal);
uint32_t goal_works(const struct goal *goal); /* open effects that are work, not messages */
struct effect_slot *goal_effect(struct goal *goal, uint32_t n); /* NULL: not open */
int64_t effect_deadline(const struct effect_slot *slot);        /* TIME_NEVER: none */
bool goal_has_effect(const struct goal *goal, enum effect_state state);
int64_t goal_due(const struct goal *goal);       /* the value that due_at must have */
struct id goal_plan_id(const struct goal *goal); /* PLAN-18: one for the life of the goal */

/* ---- names that people type: docs/decisions/0016-names.md ---- */

enum { TASK_NAME = 24, QUESTION_NAME = LIMIT_QUESTION_NAME + 1 }; /* with the final 0 */

/* Empty, if the goal has no number yet. */
void task_name_format(uint64_t number, char text[TASK_NAME]);
/* "T19-fix-login", for a goal with several leaves "T19-fix-login.S1.2"; empty: the goal has no number, or was created
 * by a build that did not keep its title. */
void branch_name_format(const struct goal *goal, struct str node, char text[LIMIT_BRANCH + 1]);
struct str branch_name_task(struct str branch); /* T19 of such a name */
bool task_name_parse(struct str text, uint64_t *ret_number);

struct question_name {
    uint64_t number;       /* of its goal; 0: of an admission, or not given */
    uint32_t host;         /* whose admission it is; 0: none */
    struct str repository; /* whose workspace it is; empty: none */
    uint32_t n;            /* ordinal of the question in its goal */
};

/* The name of a repository as it is part of the names of its questions: in letters, digits, dots, - and _. */
void workspace_name(struct str repository, char text[LIMIT_SUBJECT + 1]);

/* Q7.3: of T7; QH1.3: of the admission of host 1; Q-core.3: of the repository core. A question of a goal without a
 * number is called Q3, which others may be, too. */
void question_name_format(const struct goal *goal, uint32_t n, char text[QUESTION_NAME]);
/* Also Q3 and Q_3, without a number. */
bool question_name_parse(struct str text, struct question_name *ret);
