/* SPDX-License-Identifier: Apache-2.0 */
/* Shows as JSON what work has to produce before it is done, and what its checks found. VERIFY-11, VERIFY-14, VERIFY-20. */
#include "model/verification.h"
#include "ops/assignment.h"
#include "ops/json.h"
#include "ops/view.h"

/* The fields of the contract that are shown: rows of NODE_TEXT, by name. */
static const char *const CONTRACT[] = {"artifacts", "requireCompletionReport", "onFailure",
                                       "verificationTimeoutMs"};

json_t *contract_json(const struct goal_shown *shown, const struct assignment *assignment,
                      struct arena *scratch) {
    struct node_text text = {0};
    struct str body = hash_is_zero(&assignment->check.contract)
                          ? (struct str){0}
                          : shown_text(shown, &assignment->check.contract);
    if (body.len == 0 || !shape_decode_in(&NODE_TEXT, body, scratch, &text))
        return json_null();
    json_t *json = json_object();
    for (size_t i = 0; i < count_of(CONTRACT); i++) {
        const struct field *field =
            json_field_named(NODE_TEXT.fields, NODE_TEXT.count, CONTRACT[i]);
        json_put_fields(json, field, 1, &text);
    }
    return json;
}

/* VERIFY-12: pending until the work is reported done, running until the verdict is known. VERIFY-22: work that was not
 * checked is skipped. */
static const char *state_of(const struct node *node, const struct assignment *assignment,
                            const struct verification *made) {
    if (assignment && assignment->wait.on == WAITS_FOR_CHECK && !assignment->check.commit[0])
        return "running";
    if (made->at)
        return name_of(&VERIFIED_NAMES, made->status);
    if (!node_is_over(node))
        return node->contract.given ? "pending" : NULL;
    return node->status == NODE_DONE && node->result.proof <= PROOF_CLAIMED ? "skipped" : NULL;
}

json_t *verification_json(const struct goal_shown *shown, const struct node *node,
                          const struct assignment *assignment, struct arena *scratch) {
    struct verification made = {0};
    const struct hash *verdict = assignment ? &assignment->check.verdict : &node->result.verdict;
    if (!hash_is_zero(verdict) &&
        !shape_decode_in(&VERIFICATION, shown_text(shown, verdict), scratch, &made))
        made = (struct verification){0};
    const char *state = state_of(node, assignment, &made);
    if (!state)
        return json_null();
    json_t *json = json_object();
    if (made.at)
        json_put_fields(json, VERIFICATION.fields, VERIFICATION.count, &made);
    json_object_set_new(json, "state", json_string(state));
    return json;
}
