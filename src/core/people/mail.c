/* SPDX-License-Identifier: Apache-2.0 */
/* Handles messages between those who work on one goal. */
#include "core/assignment.h"
#include "core/people/message.h"
#include "core/rules.h"

static struct str agent_message_id(const struct deciding *d, const struct agent_message *message) {
    return arena_format(d->out, "M_%u", message->n);
}

/* Finds an assignment by its id, its session, or its agent if that has only one. */
static const struct assignment *assignment_called(const struct deciding *d, struct str name) {
    const struct assignments *assignments = &d->decision->live.assignments;
    const struct assignment *found = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < assignments->count; i++) {
        const struct assignment *assignment = &assignments->at[i];
        if (str_equal(assignment_id(assignment, d->out), name) ||
            (assignment->session[0] && str_equal(str_of(assignment->session), name)))
            return assignment;
        if (str_equal(str_of(assignment->agent), name)) {
            found = assignment;
            count++;
        }
    }
    return count == 1 ? found : NULL;
}

static bool is_overseer(struct str name) {
    return name.len == 0 || str_equal(name, STR("overseer"));
}

static bool is_outgoing(const struct deciding *d, const struct agent_message *message) {
    return !hash_is_zero(&message->outgoing) &&
           assignments_find(&d->decision->live.assignments, message->to - 1) != NULL;
}

/* MAIL-07: a message that has to be acknowledged or delivered stays while its recipient exists; of the rest, the oldest
 * makes room. */
static bool room_make(struct deciding *d, uint32_t most) {
    struct agent_messages *messages = &d->decision->live.agent_messages;
    for (uint32_t i = 0; i < messages->count && messages->count >= most; i++) {
        const struct agent_message *message = &messages->at[i];
        bool gone =
            message->to && !assignments_find(&d->decision->live.assignments, message->to - 1);
        if (gone || (!message->ack_required && !is_outgoing(d, message)))
            live_remove(d, PART_AGENT_MESSAGE, &messages->at[i--]);
    }
    return messages->count < most;
}

static bool text_read(struct deciding *d, struct agent_message_text *ret) {
    uint32_t entry;
    if (shape_decode(&AGENT_MESSAGE_TEXT, d->signal->body, ret) &&
        !fields_broken(AGENT_MESSAGE_TEXT.fields, AGENT_MESSAGE_TEXT.count, ret, &entry) &&
        ret->subject.len > 0)
        return true;
    decide_refuse_because(d, ERROR_INVALID,
                          STR("a message needs a subject, and no field may be too long"));
    return false;
}

static struct agent_message *agent_message_make(struct deciding *d, const struct assignment *to,
                                                enum agent_message_kind kind,
                                                const struct agent_message_text *text) {
    const struct signal *signal = d->signal;
    struct agent_message *message = live_add(d, PART_AGENT_MESSAGE, d->decision->goal.parts_made++);
    message->kind = kind;
    message->to = to ? to->n + 1 : 0;
    message->at = signal->at;
    message->text = decide_text(d, shape_encode(&AGENT_MESSAGE_TEXT, text, d->out));
    name_put(message->sender, sizeof message->sender, signal->sender.actor);
    name_put(message->recipient, sizeof message->recipient,
             to ? assignment_id(to, d->out) : STR("overseer"));
    decide_record(d, RECORD_MAIL_SENT,
                  (struct evidence){.rule = STR("mail.send"),
                                    .question = agent_message_id(d, message),
                                    .to = str_of(message->recipient),
                                    .text = text->subject,
                                    .assignment = to ? assignment_id(to, d->out) : STR(""),
                                    .more = message->text});
    return message;
}

/* ---- what an agent is sent without asking ---- */

static struct agent_message *agent_message_outgoing(const struct deciding *d,
                                                    const struct assignment *assignment) {
    struct agent_messages *messages = &d->decision->live.agent_messages;
    for (uint32_t i = 0; i < messages->count; i++)
        if (messages->at[i].to == assignment->n + 1 && !hash_is_zero(&messages->at[i].outgoing))
            return &messages->at[i];
    return NULL;
}

/* The first message that a person wrote. */
static struct agent_message *agent_message_of_person(const struct deciding *d,
                                                     const struct assignment *assignment) {
    struct agent_messages *messages = &d->decision->live.agent_messages;
    for (uint32_t i = 0; i < messages->count; i++)
        if (messages->at[i].to == assignment->n + 1 && !messages->at[i].words &&
            !hash_is_zero(&messages->at[i].outgoing))
            return &messages->at[i];
    return NULL;
}

bool outgoing_message_next(const struct deciding *d, struct assignment *assignment) {
    const struct agent_message *message = agent_message_of_person(d, assignment);
    if (message)
        assignment->outgoing.message = message->outgoing;
    return message != NULL;
}

/* An assignment has one place for outgoing text. A text that finds it taken, or that was not delivered, is queued as a
 * message, and keeps its kind of words. */
void words_put_by(struct deciding *d, const struct assignment *assignment, enum wording words,
                  struct hash outgoing) {
    struct agent_message_text text = {.subject = STR("something that could not be said yet")};
    live_edit(d, PART_AGENT_MESSAGE, 1);
    if (hash_is_zero(&outgoing) || !room_make(d, LIMIT_AGENT_MESSAGES))
        return;
    struct agent_message *message = agent_message_make(d, assignment, AGENT_MESSAGE_INFO, &text);
    message->outgoing = outgoing;
    message->words = words;
    live_touch(d, PART_AGENT_MESSAGE, message);
}

static void words_take_up(struct deciding *d, struct assignment *assignment) {
    live_edit(d, PART_AGENT_MESSAGE, 0);
    struct agent_message *message = agent_message_outgoing(d, assignment);
    enum wording words = message->words;
    assignment->outgoing.text = message->outgoing;
    assignment->outgoing.undelivered = words;
    assignment->outgoing.permits = PERMISSION_NONE;
    live_remove(d, PART_AGENT_MESSAGE, message);
    assignment_reply(d, assignment, words);
}

/* A person's messages are sent as soon as nothing else is being sent: one at a time, in the order in which they came. */
bool outgoing_message_go_on(struct deciding *d, struct assignment *assignment) {
    bool works = assignment->status == ASSIGNMENT_ACTIVE ||
                 assignment->status == ASSIGNMENT_DISPATCHED ||
                 assignment->status == ASSIGNMENT_STALLED;
    bool hears = works && assignment->run && !assignment->ended &&
                 assignment->delivery.effect == 0 && assignment->wait.question == 0 &&
                 assignment->wait.on == WAITS_FOR_NOTHING && !assignment->outgoing.next;
    const struct agent_message *message = agent_message_outgoing(d, assignment);
    if (!hears || !message || d->decision->goal.status != GOAL_ACTIVE ||
        assignment->liveness.attached)
        return false;
    if (assignment->status == ASSIGNMENT_STALLED &&
        assignment->recovery.backoff_until > d->signal->at)
        return false; /* the last one could not be delivered */
    if (assignment->delivery.words == WORDS_MESSAGE &&
        assignment->delivery.result == DELIVERY_TIMEOUT)
        return false; /* the last one may have arrived or not: nothing is sent twice */
    if (message->words) {
        words_take_up(d, assignment);
        return true;
    }
    outgoing_message_next(d, assignment);
    assignment_reply(d, assignment, WORDS_MESSAGE);
    return true;
}

/* True: a person's message has not reached the agent, as far as is known. */
bool outgoing_message_waits(const struct deciding *d, const struct assignment *assignment) {
    bool doubtful = assignment->delivery.words == WORDS_MESSAGE &&
                    assignment->delivery.result == DELIVERY_TIMEOUT;
    return agent_message_of_person(d, assignment) && !doubtful;
}

void outgoing_message_heard(struct deciding *d, const struct assignment *assignment) {
    live_edit(d, PART_AGENT_MESSAGE, 0);
    struct agent_message *message = agent_message_of_person(d, assignment);
    if (!message || !hash_equal(&message->outgoing, &assignment->outgoing.message))
        return; /* the agent has read it by itself meanwhile */
    message->outgoing = (struct hash){0};
    live_touch(d, PART_AGENT_MESSAGE, message);
}

/* A subject is often only the beginning of the body: then it is not sent twice. */
static struct str instruction_words(struct deciding *d, const struct agent_message_text *text) {
    if (text->body.len == 0)
        return text->subject;
    if (str_begins(text->body, text->subject))
        return text->body;
    return arena_format(d->out, "%.*s\n%.*s", STR_ARG(text->subject), STR_ARG(text->body));
}

/* A person's instruction does not wait until the agent reads its messages. */
static void instruction_say(struct deciding *d, uint32_t n, struct agent_message *message,
                            const struct agent_message_text *text) {
    message->outgoing = decide_text(d, instruction_words(d, text));
    live_touch(d, PART_AGENT_MESSAGE, message);
    live_edit(d, PART_ASSIGNMENT, 0);
    outgoing_message_go_on(d, assignments_find(&d->decision->live.assignments, n));
}

/* MAIL-01, MAIL-02, MAIL-06: the sender is the actor of the signal, which the interface has verified. `text` names the
 * recipient, `to` is the kind, `question` 1: it has to be acknowledged. */
void rule_mail(struct deciding *d) {
    struct agent_message_text text = {0};
    const struct assignment *to = assignment_called(d, d->signal->text);
    if (!to && !is_overseer(d->signal->text)) {
        decide_refuse_because(d, ERROR_NOT_FOUND,
                              STR("no single agent or person of that name works on this goal"));
        return;
    }
    if (to && assignment_is_adopted(to)) {
        decide_refuse_because(d, ERROR_CONFLICT,
                              STR("it is an adopted session, which gets no messages"));
        return;
    }
    if (d->signal->to >= AGENT_MESSAGE_KINDS || d->signal->about.question > 1) {
        decide_refuse(d, ERROR_INVALID);
        return;
    }
    if (!text_read(d, &text))
        return;
    bool instructs =
        to && d->signal->sender.by == WHO_HUMAN && d->signal->to == AGENT_MESSAGE_INSTRUCTION;
    uint32_t n = to ? to->n : 0;
    live_edit(d, PART_AGENT_MESSAGE, 1);
    if (room_make(d, LIMIT_MAIL_KEPT)) {
        struct agent_message *message =
            agent_message_make(d, to, (enum agent_message_kind)d->signal->to, &text);
        message->ack_required = d->signal->about.question;
        if (instructs)
            instruction_say(d, n, message, &text);
    } else
        decide_refuse_because(d, ERROR_LIMITED, STR("too many messages wait to be acknowledged"));
}

/* MAIL-07: a message that its recipient has acknowledged is not delivered again. */
void rule_mail_ack(struct deciding *d) {
    live_edit(d, PART_AGENT_MESSAGE, 0);
    struct agent_messages *messages = &d->decision->live.agent_messages;
    struct agent_message *message = NULL;
    for (uint32_t i = 0; i < messages->count; i++)
        if (messages->at[i].n + 1 == d->signal->about.question)
            message = &messages->at[i];
    if (!message || (message->words && !hash_is_zero(&message->outgoing)))
        return; /* already acknowledged, or not yet sent: reading about it is not receiving it */
    bool its_own = d->signal->sender.by == WHO_AGENT
                       ? message->to && d->signal->about.assignment == message->to
                       : true;
    if (!its_own) {
        decide_refuse(d, ERROR_UNAUTHORIZED);
        return;
    }
    decide_record(d, RECORD_MAIL_READ,
                  (struct evidence){.rule = STR("mail.ack"),
                                    .question = agent_message_id(d, message),
                                    .to = str_of(message->recipient)});
    live_remove(d, PART_AGENT_MESSAGE, message);
}
