/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that show and answer a question. ESCALATE-12, ESCALATE-14, G-24 */
#include "ops/all.h"
#include "ops/json.h"
#include "ops/question/question_view.h"
#include "ops/why/explain.h"

static const struct field SHOW[] = {PARAM_QUESTION, PARAM_GOAL(0)};
static const struct field ANSWER[] = {
    PARAM_QUESTION,
    PARAM("answer", FIELD_TEXT, answer, LIMIT_LINE, FIELD_REQUIRED,
          "the letter, number or text of an option, or free text"),
    PARAM("text", FIELD_TEXT, text, LIMIT_LINE - 300, 0, "text in addition to the option"),
    PARAM_GOAL(0),
    PARAM_KEY,
    PARAM_TRACE,
};
static const struct field DECIDE[] = {
    PARAM_QUESTION,
    PARAM_REASON(0),
    PARAM_GOAL(0),
    PARAM(
        "commit", FIELD_TEXT, commit, LIMIT_COMMIT, 0,
        "the commit that you were shown: the approval is refused if another commit waits to land"),
    PARAM_KEY,
    PARAM_TRACE,
};
static const struct field REJECT[] = {PARAM_QUESTION, PARAM_REASON(FIELD_REQUIRED), PARAM_GOAL(0),
                                      PARAM_KEY, PARAM_TRACE};

/* ---- showing ---- */

/* ESCALATE-12: the channels that were used, and their own reference for the message. */
static json_t *notices_json(const struct goal_shown *shown, const struct question *question,
                            struct arena *arena) {
    json_t *list = json_array();
    struct str id = arena_format(arena, "Q_%u", question->n);
    for (uint32_t i = 0; i < shown->record_count; i++) {
        const struct record *record = &shown->records[i];
        struct evidence evidence;
        char at[TIME_TEXT + 1];
        bool is_report =
            record->type == RECORD_QUESTION_SENT || record->type == RECORD_QUESTION_UNSENT;
        if (!is_report || !record_evidence(record, &evidence) || !str_equal(evidence.question, id))
            continue;
        time_format(record->at, at);
        json_t *one = json_pack("{s:s, s:s%, s:s%, s:I}", "at", at, "channel", evidence.to.at,
                                evidence.to.len, "result", evidence.from.at, evidence.from.len,
                                "record", (json_int_t)record->seq);
        bool done = record->type == RECORD_QUESTION_SENT;
        if (evidence.text.len > 0)
            json_object_set_new(one, done ? "reference" : "why",
                                json_stringn(evidence.text.at, evidence.text.len));
        if (evidence.reason.len > 0)
            json_object_set_new(one, "url", json_stringn(evidence.reason.at, evidence.reason.len));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *show_result(struct op_call *call, const struct store_answer *answer) {
    struct question_text text;
    const struct question *question = question_given(call, answer, &text);
    if (!question)
        return NULL;
    json_ran_short();
    json_t *json = question_json(&answer->loaded[0], &answer->shown, question, &call->arena);
    json_object_set_new(json, "said", notices_json(&answer->shown, question, &call->arena));
    return view_checked(call, json);
}

static bool show_request_all(struct op_call *call, struct store_request *ret_request) {
    bool asked = question_request(call, ret_request);
    ret_request->limit = ret_request->verb == STORE_SHOW ? LIMIT_LIST_PAGE : ret_request->limit;
    return asked;
}

/* ---- answering ---- */

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_words(struct str a, struct str b) {
    bool same = a.len == b.len;
    for (size_t i = 0; same && i < a.len; i++)
        same = lower(a.at[i]) == lower(b.at[i]);
    return same;
}

/* A letter, a number from 1, or the text of the option. 0: none of them. */
static uint32_t option_meant(const struct question_text *text, struct str given) {
    if (given.len == 1) {
        char c = lower(given.at[0]);
        uint32_t at = c >= 'a' && c <= 'z'   ? (uint32_t)(c - 'a') + 1
                      : c >= '1' && c <= '9' ? (uint32_t)(c - '0')
                                             : 0;
        if (at > 0 && at <= text->options.count)
            return at;
    }
    for (uint32_t i = 0; i < text->options.count; i++)
        if (same_words(text->options.at[i], given))
            return i + 1;
    return 0;
}

static bool answer_send(struct op_call *call, const struct question *question,
                        const struct question_text *text, uint32_t option, struct str more,
                        struct signal *ret) {
    struct str words = option ? text->options.at[option - 1] : call->args.answer;
    if (option && more.len > 0)
        words = arena_format(&call->arena, "%.*s: %.*s", STR_ARG(str_cut_utf8(words, LIMIT_CHOICE)),
                             STR_ARG(more));
    ret->kind = SIGNAL_QUESTION_ANSWER;
    ret->goal = call->args.goal_id;
    ret->about.question = question->n + 1;
    ret->to = option;
    ret->text = str_cut_utf8(words, LIMIT_REPORT);
    ret->reason = call->args.reason;
    ret->about.assignment = call->caller->assignment;
    return true;
}

/* A single character is meant as an option: if there is no such option, it is refused as a mistake. */
static bool answer_signal(struct op_call *call, const struct store_answer *answer,
                          struct signal *ret) {
    struct question_text text;
    const struct question *question = question_given(call, answer, &text);
    if (!question)
        return false;
    uint32_t option = option_meant(&text, call->args.answer);
    bool slip = option == 0 && text.options.count > 0 && call->args.answer.len == 1;
    if (slip || (option == 0 && question->kind == QUESTION_APPROVE))
        return op_refuse(call, ERROR_INVALID,
                         "There is no option \"%.*s\"; the question has %u options, from a.",
                         STR_ARG(str_cut_utf8(call->args.answer, 40)), text.options.count);
    return answer_send(call, question, &text, option, call->args.text, ret);
}

static bool decide_signal(struct op_call *call, const struct store_answer *answer,
                          struct signal *ret) {
    struct question_text text;
    const struct question *question = question_given(call, answer, &text);
    if (!question)
        return false;
    if (question->kind != QUESTION_APPROVE)
        return op_refuse(call, ERROR_INVALID,
                         "%.*s is not a yes-or-no question; use `overseer answer`.",
                         STR_ARG(call->args.question));
    ret->commit = call->args.commit;
    return answer_send(call, question, &text, call->op->to, call->args.reason, ret);
}

const struct op OP_QUESTION_SHOW = {
    .name = "question.show",
    .summary = "Show one question in full: its reason, its options, and where it was sent.",
    .help = "Example: overseer question show Q7.1",
    .kind = OP_READS,
    .may = MAY_LOOK,
    OP_PARAMS(SHOW),
    .positional = 1,
    .members = QUESTION_MEMBERS,
    .member_count = QUESTION_MEMBER_COUNT,
    .wants_facts = true,
    .wants_repositories = true,
    .request = show_request_all,
    .next = question_next,
    .result = show_result,
};
const struct op OP_QUESTION_ANSWER = {
    .name = "question.answer",
    .also = "answer",
    .summary =
        "Answer a question. The answer takes effect after a short delay and can be undone until then.",
    .help = "Example: overseer answer Q7.1 b\n"
            "Example: overseer answer Q7.1 keep --text \"until the release\"",
    .kind = OP_WRITES,
    .may = MAY_HUMAN,
    OP_PARAMS(ANSWER),
    .positional = 2,
    .wants_facts = true,
    .wants_repositories = true,
    .request = question_request,
    .next = question_next,
    .signal = answer_signal,
};
const struct op OP_QUESTION_APPROVE = {
    .name = "question.approve",
    .also = "approve",
    .summary = "Approve what waits for an approval.",
    .help = "Example: overseer approve Q7.1",
    .kind = OP_WRITES,
    .may = MAY_HUMAN,
    OP_PARAMS(DECIDE),
    .positional = 1,
    .to = 1,
    .wants_facts = true,
    .wants_repositories = true,
    .request = question_request,
    .next = question_next,
    .signal = decide_signal,
};
const struct op OP_QUESTION_REJECT = {
    .name = "question.reject",
    .also = "reject",
    .summary = "Reject what waits for an approval, with a reason.",
    .help = "Example: overseer reject Q7.1 --reason \"not before the release\"",
    .kind = OP_WRITES,
    .may = MAY_HUMAN,
    OP_PARAMS(REJECT),
    .positional = 2,
    .to = 2,
    .wants_facts = true,
    .wants_repositories = true,
    .request = question_request,
    .next = question_next,
    .signal = decide_signal,
};
