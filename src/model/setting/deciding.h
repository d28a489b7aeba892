/* SPDX-License-Identifier: Apache-2.0 */
/* Settings that decisions compare with, one row for each: a list for each part of the policy. A new one is a row at the
 * end of its list; struct settings, struct policy, their defaults, the encoding of the policy, the settings file, flags,
 * checks, `config show` and the manual follow from it.
 *
 * X(part of the policy, section of the file, kind, key, member of the policy, number in the encoding, default, least,
 * most, text). NUMBER is a count, SPAN a time in microseconds, FLAG is 0 or 1. A number is never used twice: the next one
 * is 56. NEXT() separates rows. Other settings, which the policy does not take over as they are, are rows of setting_rows.c. */
#pragma once

/* clang-format off */
#define DECIDING_LIVENESS(X, NEXT) \
    X(liveness, supervision, SPAN, idle_in_tool, idle_in_tool, 16, "1h", SECONDS(1), DAYS(7), \
      "the same as idle_after while a tool call is open, such as a long build") NEXT() \
    X(liveness, supervision, SPAN, chatter_most, chatter_most, 17, "15m", 0, DAYS(1), \
      "longest time for which output without progress postpones a stall") NEXT() \
    X(liveness, supervision, SPAN, turn_most, turn_most, 18, "30m", SECONDS(1), DAYS(7), \
      "time after which a turn without progress counts as stalled") NEXT() \
    X(liveness, supervision, NUMBER, context_most, context_most, 19, "85", 0, 100, \
      "percent of its context window after which an agent hands over to a new session; 0: never")

#define DECIDING_RECOVERY(X, NEXT) \
    X(recovery, supervision, NUMBER, max_restarts, max_restarts, 27, "3", 0, 1000, \
      "runs of one task that may die within restart_window before a person is asked") NEXT() \
    X(recovery, supervision, SPAN, restart_window, restart_window, 28, "1h", SECONDS(1), DAYS(7), \
      "see max_restarts")

#define DECIDING_DISPATCH(X, NEXT) \
    X(dispatch, caps, NUMBER, at_once, most_at_once, 5, "50", 0, LIMIT_PERMITS, \
      "agents that may work at the same time on one host; 0: no cap") NEXT() \
    X(dispatch, caps, NUMBER, per_goal, most_per_goal, 6, "0", 0, LIMIT_ASSIGNMENTS, \
      "the same for one goal; 0: at most 64") NEXT() \
    X(dispatch, caps, NUMBER, per_model, most_per_model, 7, "0", 0, LIMIT_PERMITS, \
      "the same for one model; 0: no cap") NEXT() \
    X(dispatch, caps, NUMBER, per_repository, most_per_repository, 8, "0", 0, LIMIT_PERMITS, \
      "the same for one repository; 0: no cap") NEXT() \
    X(dispatch, caps, NUMBER, per_account, most_per_account, 9, "0", 0, LIMIT_PERMITS, \
      "the same for one provider account; 0: no cap") NEXT() \
    X(dispatch, caps, NUMBER, per_team, most_per_team, 10, "0", 0, LIMIT_PERMITS, \
      "the same for one team; 0: no cap")

#define DECIDING_PACE(X, NEXT) \
    X(pace, caps, NUMBER, actions_per_minute, actions_per_minute, 29, "60", 0, 1000000, \
      "agent starts, nudges and stops by Overseer in any 60 seconds, on one host; 0: no cap") NEXT() \
    X(pace, caps, NUMBER, blast_share, blast_share, 30, "30", 0, 100, \
      "percent of the running agents that Overseer may stop, reassign or send a repeated message within a minute; above that it suspends itself and asks a person; 0: no cap") NEXT() \
    X(pace, caps, NUMBER, blast_least, blast_least, 31, "5", 0, LIMIT_PERMITS, \
      "number of such actions within a minute that is always allowed")

#define DECIDING_PEOPLE(X, NEXT) \
    X(people, people, SPAN, expires_after, expires_after, 42, "0s", 0, DAYS(365), \
      "time after which an unanswered question expires; 0s: never") NEXT() \
    X(people, people, SPAN, undo_for, undo_for, 43, "30s", 0, DAYS(1), \
      "how long an answer can be undone") NEXT() \
    X(people, people, SPAN, request_raise, request_raise, 44, "15m", SECONDS(1), DAYS(7), \
      "time after which a request that the parent agent has not answered goes to a person") NEXT() \
    X(people, people, NUMBER, messages_per_hour, messages_per_hour, 45, "12", 0, 10000, \
      "messages to people about one goal in an hour; emergencies are not counted; 0: no cap")

/* All of them, for what does not depend on their order. */
#define DECIDING(X, NEXT) \
    DECIDING_LIVENESS(X, NEXT) NEXT() \
    DECIDING_RECOVERY(X, NEXT) NEXT() \
    DECIDING_DISPATCH(X, NEXT) NEXT() \
    DECIDING_PACE(X, NEXT) NEXT() \
    DECIDING_PEOPLE(X, NEXT)
/* clang-format on */

/* Separators between two rows. */
#define NEXT_ROW() ,
#define NEXT_STATEMENT() ;

/* The types of a kind, in struct settings and in struct policy. */
#define DECIDING_SETTING_NUMBER int64_t
#define DECIDING_SETTING_SPAN int64_t
#define DECIDING_SETTING_FLAG bool
#define DECIDING_POLICY_NUMBER uint32_t
#define DECIDING_POLICY_SPAN int64_t
#define DECIDING_POLICY_FLAG uint32_t

#define DECIDING_SETTING(part, section, kind, key, member, number, fallback, least, most, text) \
    DECIDING_SETTING_##kind key
#define DECIDING_POLICY(part, section, kind, key, member, number, fallback, least, most, text) \
    DECIDING_POLICY_##kind member
