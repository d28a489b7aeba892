/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which work lands next in a workspace: one at a time, in the order of the asks. docs/decisions/0011. */
#include "base/planted.h"
#include "core/admission/permit.h"
#include "core/effect.h"
#include "core/goal.h"
#include "core/rules.h"
#include "model/repository.h"

/* ---- the workspace aggregate ---- */

/* The first ask creates the workspace. A repository that got another name in the settings keeps its lane. */
bool workspace_open(struct deciding *d, uint64_t repository) {
    struct goal *goal = &d->decision->goal;
    if (d->world->goal)
        return goal->kind.workspace != 0;
    if (d->signal->admission == 0)
        return false;
    aggregate_begin(d);
    goal->kind.workspace = 1;
    goal->repository = repository;
    decide_record(d, RECORD_LANE_OPENED,
                  (struct evidence){.rule = STR("lane.open"), .host = goal->kind.admission});
    return true;
}

static bool lane_may_tell(const struct deciding *d) {
    return d->decision->goal.effects.open_count < LIMIT_OPEN_EFFECTS - LIMIT_CHANNELS;
}

static void lane_record(struct deciding *d, enum record_type type, const struct permit *permit,
                        const char *rule, struct str reason) {
    char goal[ID_TEXT + 1];
    id_format(permit->goal, goal);
    decide_record(d, type,
                  (struct evidence){.rule = str_of(rule),
                                    .assignment = arena_format(d->out, "A_%u", permit->assignment),
                                    .text = arena_format(d->out, "%s %s", goal, permit->agent),
                                    .reason = reason,
                                    .count = permit->turn});
}

/* ---- the slot ---- */

static void slot_tell(struct deciding *d, const struct permit *permit) {
    struct permit body = {
        .goal = permit->goal, .assignment = permit->assignment, .turn = permit->turn};
    memcpy(body.agent, permit->agent, sizeof body.agent);
    decide_tell(d, (struct signal){.kind = SIGNAL_LANE_GRANTED,
                                   .goal = permit->goal,
                                   .about.assignment = permit->assignment + 1,
                                   .admission = d->decision->goal.kind.admission,
                                   .to = permit->turn,
                                   .body = shape_encode(&PERMIT, &body, d->out)});
}

static struct permit *lane_first(struct deciding *d) {
    struct permits *permits = &d->decision->live.permits;
    for (uint32_t i = 0; i < permits->count; i++)
        if (permits->at[i].state == PERMIT_WAITING)
            return &permits->at[i];
    return NULL;
}

/* A holder that never answers again (its goal was quarantined, for example) must not keep all others from landing. If
 * it pushes after all, the push compares with the tip that was checked. */
static void slot_revoke(struct deciding *d) {
    const struct permit *holder = lane_holder(&d->decision->live.permits);
    int64_t within = lane_slot_within(d->policy, d->decision->goal.repository);
    if (!holder || time_after(holder->granted_at, within) > d->signal->at)
        return;
    uint32_t place = (uint32_t)(holder - d->decision->live.permits.at);
    live_edit(d, PART_PERMIT, 0);
    struct permit *kept = &d->decision->live.permits.at[place];
    lane_record(d, RECORD_LANE_REVOKED, kept, "lane.revoke",
                STR("it kept the slot longer than its checks may take"));
    live_remove(d, PART_PERMIT, kept);
}

void lane_go_on(struct deciding *d) {
    if (d->gone_on)
        return;
    d->gone_on = true;
    slot_revoke(d);
    bool held = d->decision->goal.pace.suspended && !planted(LANE_NOT_HELD);
    bool taken = lane_holder(&d->decision->live.permits) && !planted(SLOT_FOR_TWO);
    if (held || taken || !lane_first(d) || !lane_may_tell(d))
        return;
    live_edit(d, PART_PERMIT, 0);
    struct permit *permit = lane_first(d);
    permit->state = PERMIT_GRANTED;
    permit->granted_at = d->signal->at;
    live_touch(d, PART_PERMIT, permit);
    slot_tell(d, permit);
    lane_record(d, RECORD_LANE_GRANTED, permit, "lane.grant", STR(""));
}

/* ---- signals to the lane ---- */

static bool permit_read(struct deciding *d, struct permit *ret) {
    *ret = (struct permit){0};
    return shape_decode(&PERMIT, d->signal->body, ret) && ret->turn > 0;
}

static struct permit *lane_find(struct deciding *d, const struct permit *asked) {
    return permits_find(&d->decision->live.permits, asked->goal, asked->assignment);
}

/* Work that asks again goes to the end of the lane: something about it has changed. */
static void lane_append(struct deciding *d, const struct permit *asked) {
    struct permit *before = lane_find(d, asked);
    live_edit(d, PART_PERMIT, 1);
    if (before)
        live_remove(d, PART_PERMIT, lane_find(d, asked));
    struct permit *permit = live_add(d, PART_PERMIT, d->decision->goal.parts_made++);
    permit->goal = asked->goal;
    permit->assignment = asked->assignment;
    permit->turn = asked->turn;
    permit->asked_at = permit->wanted_at = d->signal->at;
    memcpy(permit->agent, asked->agent, sizeof permit->agent);
    d->decision->goal.repository = asked->repository;
    const struct permit *holder = lane_holder(&d->decision->live.permits);
    struct str why =
        d->decision->goal.pace.suspended ? STR("the lane is held")
        : holder                         ? arena_format(
                                               d->out, "%u land before it",
                                               lane_before(&d->decision->live.permits, asked->goal, asked->assignment) + 1)
                 : STR("");
    lane_record(d, RECORD_LANE_WAITS, permit, "lane.ask", why);
}

/* An ask that is repeated gets the same answer; an older one gets none. */
void rule_lane_ask(struct deciding *d) {
    struct permit asked;
    bool read = permit_read(d, &asked);
    if (!read || !workspace_open(d, asked.repository)) {
        decide_refuse(d, ERROR_INVALID);
        return;
    }
    const struct permit *known = lane_find(d, &asked);
    if (known && known->turn >= asked.turn)
        return;
    if (!known && d->decision->live.permits.count >= LIMIT_PERMITS) {
        decide_refuse_because(d, ERROR_INVALID, STR("the landing lane is full"));
        return;
    }
    lane_append(d, &asked);
    lane_go_on(d);
}

void rule_lane_return(struct deciding *d) {
    struct permit reported;
    if (!permit_read(d, &reported))
        return;
    struct permit *permit = lane_find(d, &reported);
    if (!permit || reported.turn < permit->turn)
        return;
    live_edit(d, PART_PERMIT, 0);
    permit = lane_find(d, &reported);
    lane_record(d, RECORD_LANE_RETURNED, permit, "lane.return", d->signal->reason);
    live_remove(d, PART_PERMIT, permit);
    lane_go_on(d);
}

/* A person holds the lane: the work that has the slot finishes, nothing else begins to land. */
void rule_lane_hold(struct deciding *d) {
    struct pace *pace = &d->decision->goal.pace;
    if (d->signal->sender.by != WHO_HUMAN) {
        decide_refuse(d, ERROR_UNAUTHORIZED);
        return;
    }
    if (!workspace_open(d, d->signal->describe.repository)) {
        decide_refuse(d, ERROR_INVALID);
        return;
    }
    uint32_t hold = d->signal->to != 0;
    if (pace->suspended == hold)
        return;
    pace->suspended = hold;
    decide_record(d, hold ? RECORD_LANE_HELD : RECORD_LANE_RELEASED,
                  (struct evidence){.rule = hold ? STR("lane.hold") : STR("lane.release"),
                                    .reason = d->signal->reason});
    lane_go_on(d);
}

/* ---- time ---- */

int64_t lane_next(const struct goal *goal, const struct live *live, const struct policy *policy) {
    const struct permit *holder = lane_holder(&live->permits);
    return holder ? time_after(holder->granted_at, lane_slot_within(policy, goal->repository))
                  : TIME_NEVER;
}

int64_t lane_due(struct deciding *d) {
    lane_go_on(d);
    return lane_next(&d->decision->goal, &d->decision->live, d->policy);
}
