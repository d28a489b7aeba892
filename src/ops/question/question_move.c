/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that acknowledge, snooze, undo and withdraw a question. G-23 */
#include "ops/all.h"
#include "ops/question/question_view.h"

static const struct field PARAMS[] = {PARAM_QUESTION, PARAM_REASON(0), PARAM_GOAL(0), PARAM_KEY,
                                      PARAM_TRACE};
static const struct field SNOOZE[] = {
    PARAM_QUESTION,
    PARAM("until", FIELD_TEXT, until, 40, FIELD_REQUIRED, "a time, or how long: 90s, 15m, 2h, 3d"),
    PARAM_REASON(0),
    PARAM_GOAL(0),
    PARAM_KEY,
    PARAM_TRACE,
};

static bool until_read(struct op_call *call, int64_t *ret) {
    int64_t span;
    if (call->args.until.len == 0 || time_parse(call->args.until, ret))
        return true;
    if (!span_parse(call->args.until, &span))
        return op_refuse(call, ERROR_INVALID, "\"until\" must be a time or a duration such as 2h.");
    *ret = time_after(call->at, span);
    return true;
}

static bool signal(struct op_call *call, const struct store_answer *answer, struct signal *ret) {
    struct question_text text;
    const struct question *question = question_given(call, answer, &text);
    if (!question || !until_read(call, &ret->until))
        return false;
    ret->kind = SIGNAL_QUESTION_MOVE;
    ret->goal = call->args.goal_id;
    ret->about.question = question->n + 1;
    ret->to = call->op->to;
    ret->reason = call->args.reason;
    ret->about.assignment = call->caller->assignment;
    return true;
}

#define MOVE(verb, move, fields, count, roles, words, example) \
    { \
        .name = "question." verb, .also = verb, .summary = words, .help = "Example: " example, \
        .kind = OP_WRITES, .may = (roles), .for_agents = ((roles)&MAY_RUN) != 0, \
        OP_PARAMS(fields), .positional = count, .to = move, .wants_facts = true, \
        .wants_repositories = true, .request = question_request, .next = question_next, \
        .signal = signal \
    }

const struct op OP_QUESTION_ACK = MOVE(
    "ack", QUESTION_SEEN, PARAMS, 1, MAY_HUMAN,
    "Acknowledge a question or an alert: no more reminders are sent. An alert is closed by this.",
    "overseer ack Q7.1");
const struct op OP_QUESTION_SNOOZE =
    MOVE("snooze", QUESTION_SNOOZE, SNOOZE, 2, MAY_HUMAN,
         "Be reminded later; the question stays open.", "overseer snooze Q7.1 2h");
const struct op OP_QUESTION_UNDO =
    MOVE("undo", QUESTION_UNDO, PARAMS, 1, MAY_HUMAN,
         "Undo an answer that has not taken effect yet: of a question, or of a task.",
         "overseer undo Q7.1\nExample: overseer undo T7");
const struct op OP_QUESTION_WITHDRAW =
    MOVE("withdraw", QUESTION_WITHDRAW, PARAMS, 1, MAY_MANAGE | MAY_RUN,
         "Withdraw a question; the work that waits for it continues.",
         "overseer question withdraw Q7.1");
