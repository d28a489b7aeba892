/* SPDX-License-Identifier: Apache-2.0 */
/* Operations with which an agent asks its parent, which assigned the work, or a person, and with which such a request
 * is answered. REQUEST-01 */
#include "ops/all.h"
#include "ops/assignment.h"
#include "ops/question/question_view.h"

static const char *const ASKED[] = {"person", "parent"};
static const struct names ASKED_NAMES = NAMES_OF(ASKED);

static const struct field SEND[] = {
    PARAM("title", FIELD_TEXT, title, LIMIT_TITLE, FIELD_REQUIRED, "the question, in a line"),
    PARAM("text", FIELD_TEXT, text, LIMIT_PROSE, 0, "the same in full"),
    {"options", FIELD_TEXTS, 0, FIELD_OF(op_args, options), LIMIT_CHOICE, 0, NULL, "the options",
     LIMIT_CHOICES, NULL},
    PARAM_ENUM("of", ack, &ASKED_NAMES, 0, "parent (the agent that assigned the work) or person"),
    PARAM_REASON(0),
    PARAM("assignment", FIELD_TEXT, assignment, LIMIT_TAG, 0,
          "the assignment, such as A_3; for a run: its own"),
    PARAM_GOAL(FIELD_REQUIRED),
    PARAM_KEY,
    PARAM_TRACE,
};
static const struct field RESPOND[] = {
    PARAM_QUESTION, PARAM("text", FIELD_TEXT, text, LIMIT_REPORT, FIELD_REQUIRED, "the answer"),
    PARAM_GOAL(0),  PARAM_KEY,
    PARAM_TRACE,
};

static bool send_signal(struct op_call *call, const struct store_answer *answer,
                        struct signal *ret) {
    const struct op_args *args = &call->args;
    (void)answer;
    struct question_text text = {.title = args->title,
                                 .text = args->text,
                                 .options = args->options,
                                 .reason = args->reason,
                                 .rule = STR("agent.asks")};
    if (!assignment_named(call, &ret->about.assignment))
        return false;
    if (ret->about.assignment == 0)
        return op_refuse(
            call, ERROR_NOT_FOUND,
            "The assignment is missing: name it, or use a run's token that is bound to one.");
    bool of_person = op_given(call->params, "of") && args->ack == 0;
    ret->kind = SIGNAL_AGENT_ASK;
    ret->goal = args->goal_id;
    ret->to = of_person ? OF_PERSON : OF_PARENT;
    ret->body = shape_encode(&QUESTION_TEXT, &text, &call->arena);
    return true;
}

static bool respond_signal(struct op_call *call, const struct store_answer *answer,
                           struct signal *ret) {
    struct question_text text;
    const struct question *question = question_given(call, answer, &text);
    if (!question)
        return false;
    if (question->kind != QUESTION_REQUEST)
        return op_refuse(call, ERROR_UNAUTHORIZED, "%.*s is a question to people, not a request.",
                         STR_ARG(call->args.question));
    ret->kind = SIGNAL_QUESTION_ANSWER;
    ret->goal = call->args.goal_id;
    ret->about.question = question->n + 1;
    ret->text = call->args.text;
    ret->about.assignment = call->caller->assignment;
    return true;
}

const struct op OP_REQUEST_SEND = {
    .name = "request.send",
    .summary = "Ask the agent that assigned this work, or a person, and wait for the answer.",
    .help =
        "At most five requests a minute, and three that wait for an answer. The answer arrives as the next instruction.\n"
        "Example: overseer request send \"Which of the two APIs?\" --options v1 --options v2 --assignment A_3 --dry-run --goal "
        "01JC7Q4T9Z",
    .kind = OP_WRITES,
    .may = MAY_MANAGE | MAY_RUN,
    .for_agents = true,
    OP_PARAMS(SEND),
    .positional = 1,
    .signal = send_signal,
};
const struct op OP_REQUEST_RESPOND = {
    .name = "request.respond",
    .summary = "Answer a request of an agent that works for you.",
    .help = "Example: overseer request respond Q7.1 \"the second one\" --goal 01JC7Q4T9Z --dry-run",
    .kind = OP_WRITES,
    .may = MAY_MANAGE | MAY_RUN,
    .for_agents = true,
    OP_PARAMS(RESPOND),
    .positional = 2,
    .wants_facts = true,
    .wants_repositories = true,
    .request = question_request,
    .next = question_next,
    .signal = respond_signal,
};
