/* SPDX-License-Identifier: Apache-2.0 */
/* Handles questions: asking them, sending them to people, and applying the answers. */
#include "core/people/question.h"
#include "base/planted.h"
#include "core/admission/host_access.h"
#include "core/assignment.h"
#include "core/people/route.h"
#include "core/rules.h"

static const int64_t MINUTE = MINUTES(1);
static const int64_t SNOOZE_MOST = MINUTES(30 * 1440);

static struct str question_id(const struct deciding *d, const struct question *question) {
    return arena_format(d->out, "Q_%u", question->n);
}

/* The goal counts the questions that wait for a person. */
static void question_becomes(struct deciding *d, struct question *question,
                             enum question_state state, enum asked_of of) {
    struct goal *goal = &d->decision->goal;
    goal->people.questions -= question_counts(question);
    question->state = state;
    question->of = of;
    goal->people.questions += question_counts(question);
    live_touch(d, PART_QUESTION, question);
}

static void question_record(struct deciding *d, enum record_type type,
                            const struct question *question, struct evidence evidence) {
    const struct node *node =
        question->node ? plan_node(&d->decision->plan, question->node - 1) : NULL;
    evidence.question = question_id(d, question);
    if (node)
        evidence.node = arena_copy(d->out, node_id(node));
    if (question->assignment)
        evidence.assignment = arena_format(d->out, "A_%u", question->assignment - 1);
    decide_record(d, type, evidence);
}

/* ---- asking ---- */

static struct question_text text_whole(struct question_text text, enum question_kind kind) {
    static const struct str YES_NO[] = {{"yes", 3}, {"no", 2}};
    if (kind == QUESTION_APPROVE)
        text.options = (struct texts){YES_NO, 2};
    if (text.options.count > LIMIT_CHOICES)
        text.options.count = LIMIT_CHOICES;
    text.title = str_cut_utf8(text.title, LIMIT_TITLE);
    text.text = str_cut_utf8(text.text, LIMIT_PROSE);
    text.reason = str_cut_utf8(text.reason, LIMIT_REASON);
    return text;
}

/* The texts of the options are stored now: which option counts may be decided when they are no longer at hand. */
static void words_keep(struct deciding *d, struct question *question,
                       const struct question_text *text) {
    question->text = decide_text(d, shape_encode(&QUESTION_TEXT, text, d->out));
    question->options = text->options.count;
    if (question->fallback.option > question->options)
        question->fallback.option = 0;
    if (question->fallback.option)
        question->fallback.text = decide_text(d, text->options.at[question->fallback.option - 1]);
}

/* A held assignment is neither nudged nor moved until this question is answered. */
static void assignment_hold(struct deciding *d, const struct question *question) {
    live_edit(d, PART_ASSIGNMENT, 0);
    struct assignment *assignment =
        assignments_find(&d->decision->live.assignments, question->assignment - 1);
    must(assignment != NULL);
    assignment->wait.question = question->n + 1;
    assignment_touch(d, assignment);
}

static struct question *question_make(struct deciding *d, const struct asking *asking,
                                      uint32_t node) {
    struct question_text text = text_whole(asking->text, asking->kind);
    uint32_t assignment = asking->assignment ? asking->assignment->n + 1 : 0;
    bool answerable = asking->kind == QUESTION_DECIDE || asking->kind == QUESTION_APPROVE;
    struct question *question = live_add(d, PART_QUESTION, d->decision->goal.parts_made++);
    question->kind = asking->kind;
    question->of = asking->of;
    question->alarm = asking->alarm;
    name_put(question->cause, sizeof question->cause, asking->cause);
    name_put(question->who, sizeof question->who, text.who);
    question->node = asking->assignment ? asking->assignment->node + 1 : node;
    question->assignment = assignment;
    question->parent = asking->parent;
    question->fallback.option = asking->fallback;
    question->asked_at = question->sending.next_at = d->signal->at;
    question->expires_at = asking->expires_at;
    if (!question->expires_at && d->policy->people.expires_after && answerable)
        question->expires_at = d->signal->at + d->policy->people.expires_after;
    question->holds = asking->holds && assignment;
    words_keep(d, question, &text);
    d->decision->goal.people.questions += question_counts(question);
    question_record(d, RECORD_QUESTION_ASKED, question,
                    (struct evidence){.rule = text.rule.len ? text.rule : STR("question.ask"),
                                      .text = text.title,
                                      .reason = text.reason,
                                      .from = str_of(name_of(&ALARM_NAMES, question->alarm)),
                                      .to = str_of(name_of(&ASKED_OF_NAMES, question->of)),
                                      .until = question->expires_at,
                                      .more = question->text});
    if (question->holds)
        assignment_hold(d, question);
    return question;
}

/* The same cause again says nothing new, unless it has become worse: then the question is sent at once. */
static void question_worsens(struct deciding *d, struct question *question, enum alarm alarm) {
    if (question->state != QUESTION_OPEN || alarm <= question->alarm)
        return;
    question_record(d, RECORD_QUESTION_RAISED, question,
                    (struct evidence){.rule = STR("question.worse"),
                                      .from = str_of(name_of(&ALARM_NAMES, question->alarm)),
                                      .to = str_of(name_of(&ALARM_NAMES, alarm))});
    question->alarm = alarm;
    question->acknowledged = 0;
    question->snoozed_until = 0;
    question->sending.next_at = d->signal->at;
    live_touch(d, PART_QUESTION, question);
    route_say(d, question);
}

/* Questions that are over, oldest first, make room for a new one. */
static bool room_make(struct deciding *d) {
    struct questions *questions = &d->decision->live.questions;
    for (uint32_t i = 0; i < questions->count && questions->count >= LIMIT_QUESTIONS; i++)
        if (questions->at[i].state == QUESTION_OVER) {
            question_record(d, RECORD_QUESTION_UNSENT, &questions->at[i],
                            (struct evidence){.rule = STR("question.room"),
                                              .text = STR("a new question takes its place")});
            live_remove(d, PART_QUESTION, &questions->at[i--]);
        }
    return questions->count < LIMIT_QUESTIONS;
}

static struct question *question_ask_at(struct deciding *d, const struct asking *asking,
                                        uint32_t node) {
    live_edit(d, PART_QUESTION, 1);
    struct question *question = questions_about(&d->decision->live.questions, asking->cause);
    if (question) {
        question_worsens(d, question, asking->alarm);
        return question;
    }
    if (!room_make(d))
        return NULL;
    question = question_make(d, asking, node);
    route_say(d, question);
    return question;
}

/* ESCALATE-15: one open question per cause, however often it is asked. */
struct question *question_ask(struct deciding *d, struct asking asking) {
    asking.cause = str_cut_utf8(asking.cause, LIMIT_CAUSE);
    return question_ask_at(d, &asking, 0);
}

/* ---- ending a question ---- */

static const struct question *held_by(const struct deciding *d, uint32_t assignment) {
    const struct questions *questions = &d->decision->live.questions;
    for (uint32_t i = 0; i < questions->count; i++)
        if (questions->at[i].assignment == assignment && questions->at[i].holds &&
            questions->at[i].state != QUESTION_OVER)
            return &questions->at[i];
    return NULL;
}

const struct question *assignment_question(const struct deciding *d,
                                           const struct assignment *assignment, enum cause cause) {
    const struct question *question =
        assignment->wait.question
            ? questions_find(&d->decision->live.questions, assignment->wait.question - 1)
            : NULL;
    return question && cause_is(question, cause) ? question : NULL;
}

static void assignment_free(struct deciding *d, uint32_t n, uint32_t question) {
    live_edit(d, PART_ASSIGNMENT, 0);
    struct assignment *assignment =
        n ? assignments_find(&d->decision->live.assignments, n - 1) : NULL;
    if (!assignment || assignment->wait.question != question)
        return;
    const struct question *other = held_by(d, n);
    assignment->wait.question = other ? other->n + 1 : 0;
    assignment_touch(d, assignment);
}

/* The question is over. Its row is removed when the channels that were sent it know that, too. */
static void question_end(struct deciding *d, struct question *question) {
    uint32_t assignment = question->assignment, n = question->n + 1;
    question_becomes(d, question, QUESTION_OVER, question->of);
    assignment_free(d, assignment, n);
    if (route_close(d, question))
        route_say(d, question);
    else if (!route_pends(d->policy, &d->decision->goal, question))
        live_remove(d, PART_QUESTION, question);
}

static void answer_follow(struct deciding *d, const struct question *was) {
    if (d->decision->goal.kind.workspace)
        host_access_answered(d, was);
    else if (d->decision->goal.kind.admission)
        admission_answered(d, was);
    else
        assignment_answered(d, was);
}

/* ESCALATE-14: the answer takes effect. */
static void question_apply(struct deciding *d, struct question *question, struct str words) {
    struct question was = *question;
    question_record(d, RECORD_QUESTION_APPLIED, question,
                    (struct evidence){.rule = STR("question.applied"),
                                      .count = question->answer.option,
                                      .text = words,
                                      .more = question->answer.text});
    question_end(d, question);
    answer_follow(d, &was);
}

static void questions_let_go(struct deciding *d, uint32_t assignment, struct str rule) {
    live_edit(d, PART_QUESTION, 0);
    struct questions *questions = &d->decision->live.questions;
    for (uint32_t i = questions->count; i-- > 0;) {
        struct question *question = &questions->at[i];
        if (question->state == QUESTION_OVER)
            continue;
        if (assignment && question->parent == assignment && question->of == OF_PARENT) {
            question_record(d, RECORD_QUESTION_RAISED, question,
                            (struct evidence){.rule = STR("request.parent-gone"),
                                              .from = STR("parent"),
                                              .to = STR("overseer")});
            question_becomes(d, question, question->state, OF_OVERSEER); /* REQUEST-09 */
        } else if (!assignment || question->assignment == assignment) {
            question_record(d, RECORD_QUESTION_WITHDRAWN, question,
                            (struct evidence){.rule = rule});
            question_end(d, question);
        }
    }
}

struct str stalled_cause(struct deciding *d, const struct assignment *assignment) {
    return cause_text(CAUSE_STALLED, plan_node(&d->decision->plan, assignment->node)->id, d->out);
}

struct str permission_cause(struct deciding *d, const struct assignment *assignment) {
    return cause_text(CAUSE_PERMISSION, assignment_id(assignment, d->out).at, d->out);
}

struct assignment *assignment_asked_no_more(struct deciding *d, uint32_t n, struct str cause,
                                            struct str rule) {
    question_settle(d, cause, rule);
    live_edit(d, PART_ASSIGNMENT, 0);
    return assignments_find(&d->decision->live.assignments, n);
}

void question_settle(struct deciding *d, struct str cause, struct str rule) {
    live_edit(d, PART_QUESTION, 0);
    struct question *question =
        questions_about(&d->decision->live.questions, str_cut_utf8(cause, LIMIT_CAUSE));
    if (!question)
        return;
    question_record(d, RECORD_QUESTION_WITHDRAWN, question, (struct evidence){.rule = rule});
    question_end(d, question);
}

void questions_drop(struct deciding *d, uint32_t assignment, struct str rule) {
    questions_let_go(d, assignment + 1, rule);
}

void questions_end(struct deciding *d, struct str rule) {
    questions_let_go(d, 0, rule);
}

/* ---- requests of agents: REQUEST ---- */

/* REQUEST-02: the times are stored in the row, so that a restart forgets none of them. Whole seconds: never more than
 * five in a minute. */
static bool asks_too_often(const struct deciding *d, const struct assignment *assignment) {
    int64_t now = (d->signal->at - assignment->created_at) / SECONDS(1);
    return assignment->requests.count == LIMIT_REQUESTS &&
           now - assignment->requests.at[0] <= MINUTE / SECONDS(1);
}

static void request_note(struct deciding *d, struct assignment *assignment) {
    int64_t now = (d->signal->at - assignment->created_at) / SECONDS(1);
    if (assignment->requests.count == LIMIT_REQUESTS)
        memmove(assignment->requests.at, assignment->requests.at + 1,
                (LIMIT_REQUESTS - 1) * sizeof *assignment->requests.at);
    else
        assignment->requests.count++;
    assignment->requests.at[assignment->requests.count - 1] = now < 0 ? 0 : (uint32_t)now;
    assignment->progress.reported_last = 0;
    assignment_touch(d, assignment);
}

/* True: the agent itself asked it, of anyone; a question about the agent does not count. */
static bool is_asked_by(const struct question *question, uint32_t assignment) {
    return question->assignment == assignment && cause_is(question, CAUSE_AGENT);
}

static uint32_t pending_of(const struct deciding *d, uint32_t assignment, uint32_t parent) {
    const struct questions *questions = &d->decision->live.questions;
    uint32_t count = 0;
    for (uint32_t i = 0; i < questions->count; i++) {
        const struct question *question = &questions->at[i];
        if (question->state == QUESTION_OPEN)
            count += assignment ? is_asked_by(question, assignment) : question->parent == parent;
    }
    return count;
}

static const char *request_is_wrong(const struct deciding *d, const struct assignment *assignment,
                                    uint32_t parent) {
    if (asks_too_often(d, assignment))
        return "an agent may send at most five requests a minute";
    if (pending_of(d, assignment->n + 1, 0) >= LIMIT_PENDING)
        return "an agent may wait for at most three answers";
    return parent && pending_of(d, 0, parent) >= LIMIT_PENDING_PARENT
               ? "a parent may have at most twenty open requests"
               : NULL;
}

/* REQUEST-01: the assignment that requested this work; else the one of the nearest node above that has one. */
static uint32_t parent_of(const struct deciding *d, const struct assignment *assignment) {
    const struct plan *plan = &d->decision->plan;
    if (assignment->parent &&
        assignments_find(&d->decision->live.assignments, assignment->parent - 1))
        return assignment->parent;
    const struct node *node = plan_node(plan, assignment->node);
    while (node && (node = plan_parent(plan, node))) {
        const struct assignment *above =
            assignments_of_node(&d->decision->live.assignments, node->n);
        if (above)
            return above->n + 1;
    }
    return 0;
}

static bool text_read(struct deciding *d, struct question_text *ret) {
    uint32_t entry;
    if (shape_decode_in(&QUESTION_TEXT, d->signal->body, d->out, ret) &&
        !fields_broken(QUESTION_TEXT.fields, QUESTION_TEXT.count, ret, &entry) &&
        ret->title.len > 0)
        return true;
    decide_refuse_because(d, ERROR_INVALID,
                          STR("a question needs a title, and no field may be too long"));
    return false;
}

static void assignment_block(struct deciding *d, const struct assignment *held, struct str why) {
    struct assignment *assignment = assignments_find(&d->decision->live.assignments, held->n);
    if (!assignment_status_may_become(assignment->status, ASSIGNMENT_BLOCKED))
        return;
    assignment->wait.on = WAITS_FOR_ANSWER;
    name_put(assignment->wait.reason, sizeof assignment->wait.reason, why);
    assignment_move(d, assignment, ASSIGNMENT_BLOCKED,
                    (struct evidence){.rule = STR("question.holds"), .reason = why});
}

static struct str words_cause(struct deciding *d, const char *kind,
                              const struct question_text *text) {
    struct str words =
        arena_format(d->out, "%.*s\n%.*s", STR_ARG(text->title), STR_ARG(text->text));
    struct hash hash = sha256(words);
    return arena_format(d->out, "%s.%02x%02x%02x%02x%02x%02x", kind, hash.bytes[0], hash.bytes[1],
                        hash.bytes[2], hash.bytes[3], hash.bytes[4], hash.bytes[5]);
}

static void too_many(struct deciding *d) {
    decide_refuse_because(d, ERROR_LIMITED, STR("this goal has too many open questions"));
}

/* REQUEST-01 to REQUEST-04. The parent is asked first, C-45; if there is none, the overseer; a person if the agent says
 * so, and later in any case: REQUEST-09. */
void rule_agent_ask(struct deciding *d) {
    struct question_text text = {0};
    struct assignment *assignment = assignment_at_hand(d);
    bool of_person = d->signal->to == OF_PERSON;
    if (!assignment) {
        decide_refuse_because(d, ERROR_NOT_FOUND,
                              STR("the caller has no open assignment of this goal"));
        return;
    }
    if (!text_read(d, &text))
        return;
    uint32_t parent = of_person ? 0 : parent_of(d, assignment);
    struct asking asking = {.kind = of_person ? QUESTION_DECIDE : QUESTION_REQUEST,
                            .of = of_person ? OF_PERSON
                                  : parent  ? OF_PARENT
                                            : OF_OVERSEER,
                            .alarm = ALARM_WARNING,
                            .assignment = assignment,
                            .parent = parent,
                            .text = text,
                            .holds = true};
    asking.cause = words_cause(
        d, cause_text(CAUSE_AGENT, assignment_id(assignment, d->out).at, d->out).at, &text);
    if (questions_about(&d->decision->live.questions, asking.cause))
        return; /* asked before, word for word */
    const char *wrong = request_is_wrong(d, assignment, parent);
    if (wrong) {
        decide_refuse_because(d, ERROR_LIMITED, str_of(wrong));
        return;
    }
    request_note(d, assignment);
    if (!question_ask(d, asking))
        too_many(d);
    else
        assignment_block(d, assignment, text.title);
}

/* A person, or a program of theirs, puts an item into the inbox. `text` is its cause, `question` the option that counts
 * when it expires at `until`; its urgency is in the body. */
void rule_ask(struct deciding *d) {
    struct question_text text = {0};
    uint32_t alarm = ALARM_WARNING;
    if (d->signal->sender.by == WHO_AGENT) {
        decide_refuse(d, ERROR_UNAUTHORIZED);
        return;
    }
    if (!text_read(d, &text))
        return;
    const struct node *node = plan_find(&d->decision->plan, d->signal->work.node);
    if (d->signal->work.node.len > 0 && !node) {
        decide_refuse_because(d, ERROR_NOT_FOUND, STR("the plan has no such node"));
        return;
    }
    names_find(&ALARM_NAMES, text.level, &alarm);
    live_edit(d, PART_ASSIGNMENT, 0);
    const struct assignment *assignment =
        node ? assignments_of_node(&d->decision->live.assignments, node->n) : NULL;
    bool answerable = d->signal->to == QUESTION_DECIDE || d->signal->to == QUESTION_APPROVE;
    struct asking asking = {.kind = d->signal->to < QUESTION_REQUEST
                                        ? (enum question_kind)d->signal->to
                                        : QUESTION_DECIDE,
                            .alarm = (enum alarm)alarm,
                            .assignment = assignment,
                            .text = text,
                            .fallback = d->signal->about.question,
                            .expires_at = d->signal->until,
                            .holds = answerable};
    asking.cause = d->signal->text.len > 0 ? str_cut_utf8(d->signal->text, LIMIT_CAUSE)
                                           : words_cause(d, "asked", &text);
    if (!question_ask_at(d, &asking, node ? node->n + 1 : 0))
        too_many(d);
    else if (assignment && answerable && d->decision->verdict == VERDICT_CHANGE)
        assignment_block(d, assignment, text.title);
}

/* ---- answering ---- */

/* The question that the signal names; if it is not open, the signal is refused here. */
static struct question *question_in_hand(struct deciding *d) {
    live_edit(d, PART_QUESTION, 0);
    struct question *question =
        d->signal->about.question
            ? questions_find(&d->decision->live.questions, d->signal->about.question - 1)
            : NULL;
    if (question && question->state != QUESTION_OVER)
        return question;
    decide_refuse_because(
        d, ERROR_NOT_FOUND,
        STR("that question is not open: it was answered, has expired, or never was"));
    return NULL;
}

/* G-24: an agent answers only what it is asked as a parent, the overseer only requests, and of people only those who
 * are named. */
static bool may_answer(const struct deciding *d, const struct question *question) {
    bool request = question->kind == QUESTION_REQUEST;
    switch (d->signal->sender.by) {
    case WHO_HUMAN: return question_is_for(question, d->signal->sender.actor);
    case WHO_OVERSEER: return request;
    default:
        return request && question->of == OF_PARENT && question->parent &&
               d->signal->about.assignment == question->parent;
    }
}

static const char *answer_is_wrong(const struct deciding *d, const struct question *question) {
    if (question->kind == QUESTION_ALERT)
        return "an alert cannot be answered: acknowledge it";
    if (d->signal->to > question->options)
        return "there is no such option";
    if (question->kind == QUESTION_APPROVE && d->signal->to == 0)
        return "the answer must be yes or no";
    return d->signal->to == 0 && d->signal->text.len == 0 ? "an answer must be an option or text"
                                                          : NULL;
}

/* A yes that names the commit that was shown applies to that commit only. */
static bool shown_is_meant(const struct deciding *d, const struct question *question) {
    const struct assignment *assignment =
        question->assignment
            ? assignments_find(&d->decision->live.assignments, question->assignment - 1)
            : NULL;
    struct str shown = d->signal->commit;
    return shown.len == 0 || d->signal->to != DONE_ACCEPT ||
           (assignment && str_equal(shown, str_of(assignment->check.commit)));
}

static bool answer_is_refused(struct deciding *d, const struct question *question) {
    if (!may_answer(d, question)) {
        decide_refuse_because(d, ERROR_UNAUTHORIZED,
                              d->signal->sender.by == WHO_HUMAN
                                  ? arena_format(d->out, "only %s may answer this", question->who)
                                  : STR("you may not answer this question"));
        return true;
    }
    if (question->state == QUESTION_ANSWERED) {
        decide_refuse_because(d, ERROR_CONFLICT,
                              STR("it is already answered; the answer can still be undone"));
        return true;
    }
    if (question->expires_at && question->expires_at <= d->signal->at) {
        decide_refuse_because(d, ERROR_CONFLICT, STR("it has expired"));
        return true;
    }
    if (!shown_is_meant(d, question) && !planted(YES_FOR_ANY_COMMIT)) {
        decide_refuse_because(
            d, ERROR_CONFLICT,
            STR("the commit that waits to land is not the one that you were shown: look at it "
                "again (overseer diff), then land it"));
        return true;
    }
    const char *wrong = answer_is_wrong(d, question);
    if (wrong)
        decide_refuse_because(d, ERROR_INVALID, str_of(wrong));
    return wrong != NULL;
}

/* Something is being sent to the agent: the answer is applied when that has ended, and its outcome is a step. */
static bool assignment_is_busy(const struct live *live, const struct question *question) {
    const struct assignment *assignment =
        question->assignment ? assignments_find(&live->assignments, question->assignment - 1)
                             : NULL;
    bool hears =
        assignment && assignment->status != ASSIGNMENT_BLOCKED && assignment->outgoing.next;
    return assignment && (assignment->delivery.effect != 0 || hears);
}

/* A decision whether the work continues at all is not an answer to the agent. */
bool question_is_fate(const struct question *question) {
    enum cause cause = cause_of(question);
    return cause == CAUSE_LANDING || cause == CAUSE_STALLED;
}

static struct str answer_words(struct deciding *d, const struct question *question) {
    if (d->signal->text.len > 0)
        return d->signal->text;
    if (question->kind == QUESTION_APPROVE)
        return d->signal->to == 1 ? STR("yes") : STR("no");
    return arena_format(d->out, "option %u", d->signal->to);
}

/* ESCALATE-14. A person's answer can be taken back for a while; nothing is done about it before that time is over. */
void rule_answer(struct deciding *d) {
    struct question *question = question_in_hand(d);
    if (!question || answer_is_refused(d, question))
        return;
    bool at_once = d->signal->sender.by != WHO_HUMAN || d->policy->people.undo_for <= 0;
    struct str words = answer_words(d, question);
    question->answer.option = d->signal->to;
    bool own = d->signal->text.len > 0 || !question_is_fate(question);
    question->answer.text = own ? decide_text(d, words) : (struct hash){0};
    question->applies_at = d->signal->at + (at_once ? 0 : d->policy->people.undo_for);
    route_hush(question);
    question_becomes(d, question, QUESTION_ANSWERED, question->of);
    question_record(d, RECORD_QUESTION_ANSWERED, question,
                    (struct evidence){.rule = STR("question.answer"),
                                      .text = words,
                                      .reason = d->signal->reason,
                                      .count = question->answer.option,
                                      .until = question->applies_at,
                                      .more = question->answer.text});
    if (at_once && !assignment_is_busy(&d->decision->live, question))
        question_apply(d, question, words);
}

/* ---- acknowledge, snooze, undo, withdraw ---- */

static void question_seen(struct deciding *d, struct question *question) {
    if (question->acknowledged)
        return;
    question->acknowledged = 1;
    route_hush(question);
    live_touch(d, PART_QUESTION, question);
    question_record(d, RECORD_QUESTION_SEEN, question,
                    (struct evidence){.rule = STR("question.seen"), .reason = d->signal->reason});
    if (question->kind == QUESTION_ALERT)
        question_end(d, question);
}

static void question_snooze(struct deciding *d, struct question *question) {
    int64_t until = d->signal->until;
    if (until <= d->signal->at || until > d->signal->at + SNOOZE_MOST) {
        decide_refuse_because(d, ERROR_INVALID, STR("it can be snoozed for up to 30 days"));
        return;
    }
    route_hush(question);
    question->snoozed_until = question->sending.next_at = until;
    question->acknowledged = 0;
    live_touch(d, PART_QUESTION, question);
    question_record(d, RECORD_QUESTION_SNOOZED, question,
                    (struct evidence){.rule = STR("question.snooze"),
                                      .until = until,
                                      .reason = d->signal->reason});
}

static void question_undo(struct deciding *d, struct question *question) {
    if (question->state != QUESTION_ANSWERED || question->applies_at <= d->signal->at) {
        decide_refuse_because(d, ERROR_CONFLICT, STR("there is no answer that can be undone"));
        return;
    }
    question->answer.option = 0;
    question->answer.text = (struct hash){0};
    question->applies_at = 0;
    question->sending.next_at = d->signal->at + d->policy->people.say_again;
    question_becomes(d, question, QUESTION_OPEN, question->of);
    question_record(d, RECORD_QUESTION_UNDONE, question,
                    (struct evidence){.rule = STR("question.undo"), .reason = d->signal->reason});
}

/* The agent that waits for the answer continues without one. */
static void question_withdraw(struct deciding *d, struct question *question) {
    question->answer.text = (struct hash){0};
    question->answer.option = 0;
    question_record(
        d, RECORD_QUESTION_WITHDRAWN, question,
        (struct evidence){.rule = STR("question.withdraw"), .reason = d->signal->reason});
    if (assignment_is_busy(&d->decision->live, question)) {
        question->applies_at = d->signal->at;
        route_hush(question);
        question_becomes(d, question, QUESTION_ANSWERED, question->of);
        return;
    }
    struct question was = *question;
    question_end(d, question);
    answer_follow(d, &was);
}

/* An agent may withdraw only what it asked itself. */
static bool is_of_agent(const struct deciding *d, const struct question *question) {
    return question->assignment != 0 && d->signal->about.assignment == question->assignment &&
           str_begins(str_of(question->cause), STR("agent."));
}

static bool may_move(const struct deciding *d, const struct question *question) {
    if (d->signal->sender.by == WHO_HUMAN)
        return d->signal->to == QUESTION_SEEN || d->signal->to == QUESTION_SNOOZE ||
               question_is_for(question, d->signal->sender.actor);
    return d->signal->to == QUESTION_WITHDRAW &&
           (d->signal->sender.by == WHO_OVERSEER ? question->kind == QUESTION_REQUEST
                                                 : is_of_agent(d, question));
}

void rule_question(struct deciding *d) {
    struct question *question = question_in_hand(d);
    if (!question)
        return;
    if (!may_move(d, question)) {
        decide_refuse(d, ERROR_UNAUTHORIZED);
        return;
    }
    if (question->state == QUESTION_ANSWERED && d->signal->to != QUESTION_UNDO) {
        decide_refuse_because(d, ERROR_CONFLICT, STR("it is already answered"));
        return;
    }
    switch (d->signal->to) {
    case QUESTION_SEEN: question_seen(d, question); break;
    case QUESTION_SNOOZE: question_snooze(d, question); break;
    case QUESTION_UNDO: question_undo(d, question); break;
    case QUESTION_WITHDRAW: question_withdraw(d, question); break;
    default: decide_refuse(d, ERROR_INVALID); break;
    }
}

/* ---- what becomes due ---- */

/* REQUEST-09: a request that the parent or the overseer does not answer is raised to a person. */
static int64_t raise_next(const struct policy *policy, const struct question *question) {
    bool waits = question->kind == QUESTION_REQUEST && question->of != OF_PERSON &&
                 question->state == QUESTION_OPEN && policy->people.request_raise > 0;
    return waits ? question->asked_at + policy->people.request_raise : TIME_NEVER;
}

static int64_t question_next(const struct live *live, const struct goal *goal,
                             const struct policy *policy, const struct question *question,
                             int64_t now) {
    int64_t next = route_next(policy, goal, question, now);
    if (question->state == QUESTION_ANSWERED)
        return assignment_is_busy(live, question) ? next : time_sooner(next, question->applies_at);
    if (question->state == QUESTION_OVER)
        return route_pends(policy, goal, question) ? next : now;
    if (question->expires_at)
        next = time_sooner(next, question->expires_at);
    return time_sooner(next, raise_next(policy, question));
}

int64_t questions_next(const struct live *live, const struct goal *goal,
                       const struct policy *policy, int64_t now) {
    int64_t next = TIME_NEVER;
    for (uint32_t i = 0; i < live->questions.count; i++)
        next = time_sooner(next, question_next(live, goal, policy, &live->questions.at[i], now));
    return next;
}

/* There was no answer. The fallback option counts, if there is one. Without one, an approval is refused, and an
 * assignment that waits for any other answer keeps waiting: the question is sent again, one step more urgent. */
static void question_expire(struct deciding *d, struct question *question) {
    bool refuses = question->kind == QUESTION_APPROVE && !question->fallback.option;
    uint32_t option = refuses ? APPROVAL_NO : question->fallback.option;
    question_record(d, RECORD_QUESTION_EXPIRED, question,
                    (struct evidence){.rule = STR("question.expired"),
                                      .count = option,
                                      .until = question->expires_at});
    question->expires_at = 0;
    if (option) {
        question->answer.option = option;
        question->answer.text = refuses ? decide_text(d, STR("no")) : question->fallback.text;
        question->applies_at = d->signal->at;
        route_hush(question);
        question_becomes(d, question, QUESTION_ANSWERED, question->of);
    } else if (question->holds) {
        enum alarm alarm = question->alarm < ALARM_CRITICAL ? question->alarm + 1 : question->alarm;
        if (alarm > question->alarm)
            question_worsens(d, question, alarm);
        live_touch(d, PART_QUESTION, question);
    } else {
        struct question was = *question;
        question_end(d, question);
        if (d->decision->goal.kind.workspace)
            host_access_answered(d, &was); /* nothing was decided */
    }
}

static void request_raise(struct deciding *d, struct question *question) {
    question_record(d, RECORD_QUESTION_RAISED, question,
                    (struct evidence){.rule = STR("request.unanswered"),
                                      .from = str_of(name_of(&ASKED_OF_NAMES, question->of)),
                                      .to = STR("person"),
                                      .threshold = d->policy->people.request_raise});
    question->sending.next_at = d->signal->at;
    question_becomes(d, question, QUESTION_OPEN, OF_PERSON);
    route_say(d, question);
}

static void question_forget(struct deciding *d, struct question *question) {
    question_record(d, RECORD_QUESTION_UNSENT, question,
                    (struct evidence){.rule = STR("route.gone"),
                                      .text = STR("the channel is no longer set up")});
    live_remove(d, PART_QUESTION, question);
}

/* Does one thing that is due for this question. */
static void question_due(struct deciding *d, struct question *question) {
    int64_t now = d->signal->at;
    bool open = question->state == QUESTION_OPEN;
    if (question->state == QUESTION_ANSWERED && question->applies_at <= now)
        question_apply(d, question, (struct str){0});
    else if (question->state == QUESTION_OVER &&
             !route_pends(d->policy, &d->decision->goal, question))
        question_forget(d, question);
    else if (open && question->expires_at && question->expires_at <= now)
        question_expire(d, question);
    else if (raise_next(d->policy, question) <= now)
        request_raise(d, question);
    else
        route_say(d, question);
}

/* Rows are added and removed while they are handled: each round searches again for the first one that is due. */
int64_t questions_due(struct deciding *d) {
    struct live *live = &d->decision->live;
    const struct goal *goal = &d->decision->goal;
    int64_t now = d->signal->at;
    for (uint32_t round = 0; round < 4 * LIMIT_QUESTIONS; round++) {
        uint32_t i = 0;
        while (i < live->questions.count &&
               question_next(live, goal, d->policy, &live->questions.at[i], now) > now)
            i++;
        if (i == live->questions.count)
            break;
        live_edit(d, PART_QUESTION, 0);
        question_due(d, &live->questions.at[i]);
    }
    return questions_next(live, goal, d->policy, now);
}

/* ---- outcomes of messages ---- */

void say_ended(struct deciding *d, const struct effect_slot *slot) {
    live_edit(d, PART_QUESTION, 0);
    struct questions *questions = &d->decision->live.questions;
    for (uint32_t k = 0; k < questions->count; k++) {
        struct question *question = &questions->at[k];
        for (uint32_t i = 0; i < question->sending.channels; i++) {
            if (question->sending.effects[i] != slot->n + 1)
                continue;
            route_heard(d, question, i);
            if (question->state == QUESTION_OVER &&
                !route_pends(d->policy, &d->decision->goal, question))
                live_remove(d, PART_QUESTION, question);
            else
                route_say(d, question);
            return;
        }
    }
}
