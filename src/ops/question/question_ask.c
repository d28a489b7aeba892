/* SPDX-License-Identifier: Apache-2.0 */
/* Operation with which a person, or their program, asks people a question. G-24 */
#include "ops/all.h"
#include "ops/json.h"

static const struct field PARAMS[] = {
    PARAM_GOAL(FIELD_REQUIRED),
    PARAM("title", FIELD_TEXT, title, LIMIT_TITLE, FIELD_REQUIRED, "the question, in a line"),
    PARAM("text", FIELD_TEXT, text, LIMIT_PROSE, 0, "the same in full"),
    {"options", FIELD_TEXTS, 0, FIELD_OF(op_args, options), LIMIT_CHOICE, 0, NULL, "the options",
     LIMIT_CHOICES, NULL},
    PARAM_ENUM("kind", asks, &QUESTION_KIND_NAMES, 0, "decide, approve (yes or no) or alert"),
    PARAM_ENUM("level", level, &ALARM_NAMES, 0, "info, warning, critical or emergency"),
    PARAM("cause", FIELD_TEXT, cause, LIMIT_CAUSE, 0,
          "questions with the same cause are asked once"),
    PARAM("default", FIELD_TEXT, fallback, 2, 0,
          "the letter of the option that applies without an answer in time"),
    PARAM("expires", FIELD_TEXT, expires, 40, 0, "until when: a time, or 90s, 15m, 2h, 3d"),
    PARAM("who", FIELD_TEXT, who, LIMIT_NAME, 0, "who may answer: names, separated by spaces"),
    PARAM("node", FIELD_TEXT, node, LIMIT_NODE_ID, 0,
          "the node that it is about; its work waits for the answer"),
    PARAM_REASON(0),
    PARAM("evidence", FIELD_TEXT, note, LIMIT_SNAPSHOT, 0, "JSON"),
    PARAM("detection", FIELD_TEXT, detection, LIMIT_TAG, 0, "type of the detection"),
    PARAM("severity", FIELD_TEXT, severity, LIMIT_TAG, 0,
          "severity of the detection: low, medium, high or critical"),
    PARAM_ENUM("intervention", intervention, &INTERVENTION_NAMES, 0,
               "the intervention: log, warn, redirect, pause or abort; it decides the level"),
    PARAM_KEY,
    PARAM_TRACE,
};

static bool expiry_read(struct op_call *call, int64_t *ret) {
    int64_t span;
    struct str text = call->args.expires;
    if (text.len == 0 || time_parse(text, ret))
        return true;
    if (!span_parse(text, &span))
        return op_refuse(call, ERROR_INVALID,
                         "\"expires\" must be a time or a duration such as 2h.");
    *ret = time_after(call->at, span);
    return true;
}

static bool fallback_read(struct op_call *call, uint32_t *ret) {
    struct str text = call->args.fallback;
    uint32_t options = call->args.asks == QUESTION_APPROVE ? 2 : call->args.options.count;
    if (text.len == 0)
        return true;
    *ret = text.len == 1 && text.at[0] >= 'a' ? (uint32_t)(text.at[0] - 'a') + 1 : 0;
    return (*ret > 0 && *ret <= options) ||
           op_refuse(call, ERROR_INVALID, "\"default\" must be the letter of an option.");
}

static bool signal(struct op_call *call, const struct store_answer *answer, struct signal *ret) {
    const struct op_args *args = &call->args;
    (void)answer;
    if (args->asks == QUESTION_REQUEST)
        return op_refuse(call, ERROR_INVALID, "Only agents make requests; use decide or approve.");
    if (!expiry_read(call, &ret->until) || !fallback_read(call, &ret->about.question))
        return false;
    bool critical = str_equal(args->severity, STR("critical"));
    enum alarm level = op_given(call->params, "level")
                           ? args->level
                           : intervention_alarm(args->intervention, critical);
    struct question_text text = {
        .title = args->title,
        .text = args->text,
        .options = args->options,
        .reason = args->reason,
        .rule = STR("asked.by-person"),
        .evidence = args->note,
        .who = args->who,
        .detection = args->detection,
        .severity = args->severity,
        .intervention =
            args->intervention ? str_of(name_of(&INTERVENTION_NAMES, args->intervention)) : STR(""),
        .level = str_of(name_of(&ALARM_NAMES, level))};
    ret->kind = SIGNAL_QUESTION_ASK;
    ret->goal = args->goal_id;
    ret->to = args->asks;
    ret->text = args->cause;
    ret->work.node = args->node;
    ret->reason = args->reason;
    ret->body = shape_encode(&QUESTION_TEXT, &text, &call->arena);
    return true;
}

const struct op OP_QUESTION_ASK = {
    .name = "question.ask",
    .summary =
        "Put a question, an approval or an alert into the inbox, and send it on the channels.",
    .help =
        "Example: overseer question ask 01JC7Q4T9Z \"Drop column users.legacy_id?\" --options drop "
        "--options keep --default b --expires 8h",
    .kind = OP_WRITES,
    .may = MAY_MANAGE,
    OP_PARAMS(PARAMS),
    .positional = 2,
    .signal = signal,
};
