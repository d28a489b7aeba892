/* SPDX-License-Identifier: Apache-2.0 */
/* Operations for mail between the agents, people and the overseer that work on one goal. MAIL-01 to MAIL-03, MAIL-06,
 * MAIL-07 */
#include "ops/all.h"
#include "ops/json.h"
#include "ops/view.h"

#include <stdio.h>

static const struct field SEND[] = {
    PARAM(
        "to", FIELD_TEXT, to, LIMIT_ACTOR, FIELD_REQUIRED,
        "the recipient: overseer, an assignment such as A_3, or an agent that works on this goal"),
    PARAM("subject", FIELD_TEXT, title, LIMIT_NAME, FIELD_REQUIRED, "the subject"),
    PARAM("body", FIELD_TEXT, text, LIMIT_MAIL, 0, "the text"),
    PARAM_ENUM("kind", agent_message, &AGENT_MESSAGE_KIND_NAMES, 0, "instruction, info or alert"),
    PARAM("ack_required", FIELD_FLAG, ack, 0, 0, "deliver it again until it is acknowledged"),
    PARAM_GOAL(FIELD_REQUIRED),
    PARAM_KEY,
    PARAM_TRACE,
};
static const struct field INBOX[] = {PARAM_GOAL(FIELD_REQUIRED)};
static const struct field ACK[] = {
    PARAM("message", FIELD_TEXT, question, 32, FIELD_REQUIRED, "the message, such as M_4"),
    PARAM_GOAL(FIELD_REQUIRED),
    PARAM_KEY,
    PARAM_TRACE,
};
static const struct op_member MEMBERS[] = {
    {"messages", MEMBER_LIST, true,
     "in the order in which they were sent: messageId, to, sender, subject, body, kind, ack_required, at"},
};

static bool send_signal(struct op_call *call, const struct store_answer *answer,
                        struct signal *ret) {
    const struct op_args *args = &call->args;
    (void)answer;
    struct agent_message_text text = {.subject = args->title, .body = args->text};
    ret->kind = SIGNAL_MAIL_SEND;
    ret->goal = args->goal_id;
    ret->to = op_given(call->params, "kind") ? args->agent_message : AGENT_MESSAGE_INFO;
    ret->text = args->to;
    ret->about.question = args->ack;
    ret->about.assignment = call->caller->assignment;
    ret->body = shape_encode(&AGENT_MESSAGE_TEXT, &text, &call->arena);
    return true;
}

static json_t *agent_message_json(const struct agent_message *message,
                                  const struct goal_shown *shown) {
    struct agent_message_text text = {0};
    struct str body = shown_text(shown, &message->text);
    char id[16], at[TIME_TEXT + 1];
    if (body.len > 0)
        shape_decode(&AGENT_MESSAGE_TEXT, body, &text);
    snprintf(id, sizeof id, "M_%u", message->n);
    time_format(message->at, at);
    return json_pack("{s:s, s:s, s:s, s:s%, s:s%, s:s, s:b, s:s}", "messageId", id, "to",
                     message->recipient, "sender", message->sender, "subject",
                     text.subject.at ? text.subject.at : "", text.subject.len, "body",
                     text.body.at ? text.body.at : "", text.body.len, "kind",
                     name_of(&AGENT_MESSAGE_KIND_NAMES, message->kind), "ack_required",
                     message->ack_required != 0, "at", at);
}

/* A run reads only its own messages; people and the overseer see all messages of a goal. */
static json_t *inbox_result(struct op_call *call, const struct store_answer *answer) {
    if (!view_is_whole(call, answer))
        return NULL;
    const struct agent_messages *messages = &answer->loaded[0].live.agent_messages;
    bool all = call->caller->role != ROLE_RUN;
    json_ran_short();
    json_t *list = json_array();
    for (uint32_t i = 0; i < messages->count; i++)
        if (all || (messages->at[i].to && messages->at[i].to == call->caller->assignment))
            json_array_append_new(list, agent_message_json(&messages->at[i], &answer->shown));
    return view_checked(call, json_pack("{s:o}", "messages", list));
}

static bool ack_signal(struct op_call *call, const struct store_answer *answer,
                       struct signal *ret) {
    struct str name = call->args.question;
    uint32_t n = 0;
    (void)answer;
    char text[32];
    snprintf(text, sizeof text, "%.*s", STR_ARG(str_cut(name, 31)));
    if (sscanf(text, "M_%9u", &n) != 1)
        return op_refuse(call, ERROR_INVALID,
                         "\"%s\" is not a message; messages are called M_1, M_2 ….", text);
    ret->kind = SIGNAL_MAIL_ACK;
    ret->goal = call->args.goal_id;
    ret->about.question = n + 1;
    ret->about.assignment = call->caller->assignment;
    return true;
}

const struct op OP_MAIL_SEND = {
    .name = "mail.send",
    .summary = "Send a message to an agent or person that works on the same goal.",
    .help = "Example: overseer mail send overseer \"tokens are done\" --goal 01JC7Q4T9Z",
    .kind = OP_WRITES,
    .may = MAY_MANAGE | MAY_RUN,
    .for_agents = true,
    OP_PARAMS(SEND),
    .positional = 2,
    .signal = send_signal,
};
const struct op OP_MAIL_INBOX = {
    .name = "mail.inbox",
    .summary = "List the waiting messages of a goal; a run sees only its own.",
    .help = "Example: overseer mail inbox 01JC7Q4T9Z",
    .kind = OP_READS,
    .may = MAY_ALL,
    .for_agents = true,
    OP_PARAMS(INBOX),
    .positional = 1,
    OP_MEMBERS(MEMBERS),
    .request = show_request,
    .result = inbox_result,
};
const struct op OP_MAIL_ACK = {
    .name = "mail.ack",
    .summary = "Acknowledge a message: it is not delivered again.",
    .help = "Example: overseer mail ack M_1 --goal 01JC7Q4T9Z",
    .kind = OP_WRITES,
    .may = MAY_MANAGE | MAY_RUN,
    .for_agents = true,
    OP_PARAMS(ACK),
    .positional = 1,
    .signal = ack_signal,
};
