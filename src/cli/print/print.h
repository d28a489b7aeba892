/* SPDX-License-Identifier: Apache-2.0 */
/* Prints results for people: some operations have a printer of their own; any other result is printed as names and
 * values. */
#pragma once

#include "cli/print/table.h"
#include "cli/typed.h"
#include "ops/op.h"

/* Prints one answer on standard output, and what to do next on standard error. */
void print_result(const struct typed *typed, const json_t *result);

/* ---- members of answers ---- */
const char *text_of(const json_t *object, const char *name); /* "": there is none */
long long number_of(const json_t *object, const char *name);
bool flag_of(const json_t *object, const char *name);
int64_t time_of(const json_t *object, const char *name); /* 0: none */

/* The colour of a state, or of the status of a task. */
enum tint state_tint(const char *state);
/* How many characters of their ids distinguish these goals: at least 10. */
size_t ids_length(const json_t *rows);
enum { REPO_TEXT = 72 };
/* Do these goals or questions belong to more than one repository? */
bool repos_differ(const json_t *items);
/* The name of the item's repository and a separator, if they differ; else empty. */
const char *repo_before(const json_t *item, bool differ, char room[REPO_TEXT]);
/* The name of a goal, or of that of a question: T7. Without one: its id, cut to `length`. */
const char *name_or_id(const json_t *item, size_t length, char text[ID_TEXT + 1]);
/* An id without "goal_", cut to `length`. */
const char *id_short(const char *id, size_t length, char text[ID_TEXT + 1]);
/* Prints a command, with the goal ids in it cut to `length`, which still distinguishes them. */
void command_say(const char *command, size_t length);
void fact_print(const char *name, const char *text); /* unless it is empty */
/* Prints " is done", " needs you". */
void state_say(const char *state);
/* The time passed since a member: "18m". */
const char *age_of(const json_t *object, const char *name, char text[AGE_TEXT]);

/* ---- printers in their own files ---- */
void print_status(const struct typed *typed, const json_t *result); /* print_status.c */
void print_inbox(const struct typed *typed, const json_t *result);  /* print_inbox.c */
void question_cells(struct table *table, const json_t *item, size_t id_length);
void print_why(const struct typed *typed, const json_t *result);    /* print_why.c */
void print_agents(const struct typed *typed, const json_t *result); /* print_agents.c */
void print_handoffs(const struct typed *typed, const json_t *result);
void print_handoff(const struct typed *typed, const json_t *result);
void print_quota(const json_t *accounts); /* print_account.c: the line of status */
void print_accounts(const struct typed *typed, const json_t *result);
void print_budgets(const struct typed *typed, const json_t *result); /* print_admission.c */
void print_admission(const struct typed *typed, const json_t *result);
void print_lane(const struct typed *typed, const json_t *result);
void print_network(const struct typed *typed, const json_t *result);
void print_replay(const struct typed *typed, const json_t *result); /* print_replay.c */
const char *proof_say(const json_t *goal); /* ", verified and landed": for a done goal */
void print_goal(const struct typed *typed, const json_t *result); /* print_goal.c */
void percent_cell(struct table *table, const json_t *goal);
void print_goals(const struct typed *typed, const json_t *result);
void print_plan(const struct typed *typed, const json_t *result); /* print_plan.c */
void print_history(const struct typed *typed, const json_t *result);
void print_insights(const struct typed *typed, const json_t *result);
void print_picks(const struct typed *typed, const json_t *result);
void print_events(const struct typed *typed, const json_t *result); /* print_events.c */
void print_event(const json_t *event, size_t id_length);
void print_settings(const struct typed *typed, const json_t *result); /* print_config.c */
void print_tokens(const struct typed *typed, const json_t *result);   /* print_config.c */
void print_log(const struct typed *typed, const json_t *result);      /* print_work.c */
void print_diff(const struct typed *typed, const json_t *result);
void print_work_line(const json_t *line);
