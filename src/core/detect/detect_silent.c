/* SPDX-License-Identifier: Apache-2.0 */
/* Detects a run that has been silent for too long: in a tool call, in a turn, or between turns. TICK-11, TICK-12. */
#include "core/detect/detect.h"

/* The newest known progress; a time in the future comes from a clock that was wrong. */
int64_t last_life(const struct assignment *assignment, const struct observation *seen, int64_t at) {
    int64_t last = time_later(assignment->liveness.last_activity_at, assignment->delivery.last_at);
    if (seen && seen->active_at <= at)
        last = time_later(last, seen->active_at);
    return time_sooner(last, at);
}

int64_t idle_limit(const struct assignment *assignment, const struct policy *policy) {
    return assignment->liveness.idle_after ? assignment->liveness.idle_after
                                           : policy->liveness.idle_after;
}

/* Output that is no progress delays a stall, but not forever. */
static int64_t put_off_by_chatter(const struct assignment *assignment,
                                  const struct observation *seen, const struct policy *policy,
                                  int64_t base) {
    int64_t limit = idle_limit(assignment, policy), quiet = time_after(base, limit);
    if (!seen || seen->chatter_at <= base)
        return quiet;
    return time_sooner(time_after(seen->chatter_at, limit),
                       time_after(quiet, policy->liveness.chatter_most));
}

/* When the run counts as stalled. An open tool call and a turn in progress have longer limits of their own. TICK-12: an
 * earlier time that the agent announced for its next report counts, unless a tool call or a turn is in progress. */
static int64_t stalled_at(const struct watched *watched) {
    const struct assignment *assignment = watched->assignment;
    const struct observation *seen = watched->seen;
    const struct policy *policy = watched->policy;
    int64_t since = watched->since, at = watched->at;
    int64_t base = time_later(last_life(assignment, seen, at), since);
    if (seen && seen->tool_since > 0 && seen->tool_since <= at)
        return time_after(time_later(base, seen->tool_since), policy->liveness.idle_in_tool);
    if (seen && seen->turn == TRISTATE_YES)
        return time_after(base,
                          time_later(policy->liveness.turn_most, idle_limit(assignment, policy)));
    int64_t limit = put_off_by_chatter(assignment, seen, policy, base);
    if (assignment->liveness.expected_next_at > 0)
        limit = time_sooner(limit, time_later(assignment->liveness.expected_next_at,
                                              time_after(since, policy->liveness.tick_every)));
    return limit;
}

static struct str silent_text(const struct watched *watched) {
    return arena_format(watched->arena, "no progress since %lld",
                        (long long)watched->assignment->liveness.last_activity_at);
}

static bool finds(const struct watched *watched, struct finding *ret) {
    ret->until = stalled_at(watched);
    ret->threshold = idle_limit(watched->assignment, watched->policy);
    if (ret->until > watched->at)
        return false;
    ret->text = silent_text(watched);
    return true;
}

/* Looks found it silent, whatever its limits are. */
struct finding silent_now(const struct watched *watched) {
    return (struct finding){.by = &DETECT_SILENT,
                            .until = watched->at,
                            .threshold = idle_limit(watched->assignment, watched->policy),
                            .text = silent_text(watched)};
}

const struct detector DETECT_SILENT = {.rule = "agent.silent",
                                       .summary = "no progress",
                                       .when = DETECT_DUE,
                                       .answer = ANSWER_STALL,
                                       .finds = finds};
