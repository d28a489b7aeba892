/* SPDX-License-Identifier: Apache-2.0 */
/* Declares what the sentences of a story share: its fleet, the names it uses, and the ways to fail.
 *
 * A sentence is a row: its words, where $ matches one word or a text in quotes, and its function. A sentence that makes
 * a request may end in clauses (who asks, where, why, from which version), in any order. */
#pragma once

#include "lib/fleet.h"

enum { MAX_WORDS = 32, MAX_GOALS = 16, MAX_LINE = 512, MAX_SHOWN = 16 };

struct named {
    char name[16];
    struct id goal;
    uint32_t asked;    /* the last request about it */
    uint32_t before;   /* and the previous one */
    struct id plan_id; /* as first seen */
};

/* What happens to a commit whose answer is lost: the server has finished it, never began it, or finishes it later. */
enum lost { LOST_COMMITTED, LOST_NOT, LOST_LATER };

/* The clauses at the end of a request: by agent ci, at host 2, from version 3, because "…", with evidence "…". */
struct clauses {
    enum who by;
    struct str actor;
    const char *host;
    struct str reason, evidence;
    bool versioned;
    uint64_t version;
};

/* An expectation names the requirement clauses that it shows: expect … shows TICK-11.a. */
struct shown {
    int line;
    char rows[96];
};

#define STORY_KEPT 64

struct story {
    const char *file;
    int line;
    char title[256], proves[256];
    struct shown shown[MAX_SHOWN];
    int shown_count;
    struct fleet *fleet;
    struct arena arena; /* lives as long as the story */
    struct named goals[MAX_GOALS];
    uint32_t goal_count, asked;
    int64_t begin;
    struct clauses args; /* of the current sentence */
    bool executor_idle;
    uint32_t losing; /* host index + 1 whose next commit loses its answer */
    enum lost how;
    bool dying;         /* and the host crashes at that time */
    bool always_losing; /* the first commit of each request loses its answer */
    bool always_crashing;
    struct policy_agent agents[LIMIT_POLICY_AGENTS]; /* of the story's policy */
    struct policy_budget budgets[16];
    struct policy_account accounts[LIMIT_ACCOUNTS];
    struct policy_channel channels[LIMIT_CHANNELS];
    uint64_t acts_before;         /* acts on agents and messages to people before this line */
    int64_t until;                /* when an agent promised to report again */
    uint32_t words;               /* counter that names the signals about agents */
    struct hash kept[STORY_KEPT]; /* of a saved row, each field by itself, for comparison */
    char failure[512];
};

/* Only the first failure of a story is reported. */
void fails(struct story *story, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Runs everything until it comes to rest; then the store must not contradict itself. */
void settle(struct story *story);
void pass_time(struct story *story, int64_t until);

struct named *goal_of(struct story *story, const char *name);
uint32_t host_of(struct story *story, const char *word); /* its index */
bool host_runs(struct story *story, uint32_t host);      /* false: the story has failed */
uint32_t number_of(struct story *story, const char *word);
int64_t duration_of(struct story *story, const char *word); /* 4s, 2m, 1h */
int64_t time_of(struct story *story, const char *word); /* since the story began: 00:15, 8h25m */

/* Sends the last request about a goal again, as often as it is called. */
void ask_again(struct story *story, const struct named *named, uint32_t host);
void ask_for(struct story *story, struct named *named, struct asked asked, uint32_t host);

/* ---- reading the store ---- */

/* What the store shows of a goal, not what the ledger believes. False: the story has failed. */
struct seen {
    struct arena arena;
    struct dump dump;
    const struct dump_goal *goal;
    struct goal whole;
    union {
        struct live live;
        struct plan plan;
    };
};

bool look(struct story *story, const char *name, struct seen *seen);
void look_away(struct seen *seen);

/* ---- sentences ---- */

enum sentence_kind {
    SENTENCE_HAPPENS, /* then everything settles */
    SENTENCE_ASKS,    /* the same, and it may have clauses */
    SENTENCE_LOOKS,   /* an expectation: nothing has to settle */
};

struct sentence_row {
    const char *pattern;
    void (*run)(struct story *story, char **args);
    enum sentence_kind kind;
};

struct sentences {
    const struct sentence_row *rows;
    size_t count;
};

extern const struct sentences STORY_FLEET; /* story_fleet.c: hosts, executor, time and faults */
extern const struct sentences STORY_GOAL;  /* story_goal.c: requests about goals and plans */
extern const struct sentences STORY_SEEN;  /* story_seen.c: what the store shows afterwards */
extern const struct sentences STORY_ROWS;  /* story_rows.c: single rows, field by field */

extern const struct sentences
    STORY_AGENTS; /* story_agents.c: what agents do, and what is done to them */
extern const struct sentences STORY_PEOPLE; /* story_people.c: questions, answers, messages */

/* One field of a row, as text. */
struct str field_text(const struct field *field, const void *from, struct arena *arena);

/* ---- story_policy.c ---- */

/* "policy idle-after 15m, max-retries 2, …", "agents auto-1 as coder on acme, auto-2": false: it is neither. */
bool policy_clause(struct story *story, char **words, int count);
void puppets(struct story *story);
void policy_apply(struct story *story, struct policy policy);

/* Adds an agent that the policy does not have yet. */
void agent_hire(struct story *story, const char *name);

/* The number of nudges, starts, stops and messages so far. */
uint64_t acts_of(const struct story *story);

/* ---- story_no.c ---- */

/* "expect no stall, nudge of g1 until 40h": false: it is something else. */
bool no_clause(struct story *story, char **words, int count);

/* Was any act outside decided: on an agent, a person, a repository, or as a command? */
bool any_act(struct story *story);

/* ---- story_text.c ---- */

/* "P1(T1(S1 S2<S1) T2<T1+S1)": tiers by depth, the dependencies of a node after `<`. The texts of a node follow from
 * its id; `~` after the id changes them, `!` omits the criteria. Encoded; empty: the story has failed. */
struct str plan_of(struct story *story, const char *text);

/* One node below another, or a phase; "-" leaves out its id. */
struct str node_of(struct story *story, const char *text, const char *parent, enum tier tier);

/* The current plan, in the same order: "P1 in_progress, T1 done"; "nothing" if there is none. */
struct str plan_text(const struct plan *plan, struct arena *arena);

/* ---- story_backup.c ---- */

/* PostgreSQL has no simulated disk to copy: its tables are copied into another schema. */
void backup_teach(struct backend *backend, const char *server);
void backup_forget(void);
