/* SPDX-License-Identifier: Apache-2.0 */
/* What is always true of an open assignment, part by part. */
#include "model/part.h"

static const char *delivery_broken(const struct assignment_delivery *delivery) {
    if (delivery->result >= DELIVERIES || delivery->words >= WORDINGS)
        return "an assignment was sent something of no known kind";
    if (delivery->result != DELIVERY_NONE && delivery->dispatch == 0)
        return "a dispatch that was never made has an outcome";
    return NULL;
}

static const char *outgoing_broken(const struct assignment_outgoing *outgoing) {
    if (outgoing->undelivered >= WORDINGS || outgoing->next >= WORDINGS)
        return "an assignment is to be sent something of no known kind";
    if (outgoing->undelivered != WORDS_NONE && hash_is_zero(&outgoing->text))
        return "a message that its agent has not received is gone";
    return NULL;
}

static const char *usage_broken(const struct assignment_usage *usage) {
    if (usage->settled_tokens > usage->tokens || usage->settled_cost > usage->cost)
        return "more was settled than used";
    if (usage->run_tokens > usage->tokens || usage->run_cost > usage->cost)
        return "a run used more than its assignment";
    return NULL;
}

static const char *recovery_broken(const struct assignment_recovery *recovery) {
    if (recovery->first >= RUNGS || recovery->rung >= RUNGS)
        return "an assignment stands on no rung of the ladder";
    return recovery->rung < recovery->first ? "an assignment stands below its first rung" : NULL;
}

static const char *wait_broken(const struct assignment *assignment, const struct live *live) {
    const struct assignment_waits *wait = &assignment->wait;
    if (assignment->status == ASSIGNMENT_BLOCKED && wait->reason[0] == 0)
        return "a blocked assignment does not say why"; /* ASSIGN-07 */
    if (wait->question && !questions_find(&live->questions, wait->question - 1))
        return "an assignment waits for a question that there is not";
    return wait->on >= WAIT_COUNT ? "an assignment waits for nothing known" : NULL;
}

static const char *slot_broken(const struct assignment_slot *slot) {
    if (slot->state >= SLOT_STATES)
        return "the slot of an assignment is in no known state";
    return slot->state == SLOT_NONE && (slot->turn || slot->host)
               ? "an assignment without a slot has asked for one"
               : NULL;
}

static const char *check_broken(const struct assignment_check *check) {
    bool candidate = check->commit[0] != 0;
    if (!candidate && (check->onto[0] || check->approved || !hash_is_zero(&check->digest)))
        return "a candidate is approved or checked that there is not";
    return NULL;
}

static const char *progress_broken(const struct assignment_progress *progress) {
    return progress->percent > 101 ? "more than all of it is done" : NULL;
}

const char *assignment_broken(const struct assignment *assignment, const struct live *live) {
    if (assignment->status >= ASSIGNMENT_DONE)
        return "an assignment that is over is still live";
    if (!plan_node(&live->plan, assignment->node))
        return "an assignment without a node";
    if (assignment->status != ASSIGNMENT_QUEUED && assignment->agent[0] == 0)
        return "an assignment was sent to nobody";
    const char *broken[] = {
        delivery_broken(&assignment->delivery), outgoing_broken(&assignment->outgoing),
        usage_broken(&assignment->usage),       recovery_broken(&assignment->recovery),
        wait_broken(assignment, live),          slot_broken(&assignment->slot),
        check_broken(&assignment->check),       progress_broken(&assignment->progress)};
    for (size_t i = 0; i < count_of(broken); i++)
        if (broken[i])
            return broken[i];
    return NULL;
}
