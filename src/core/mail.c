/* SPDX-License-Identifier: Apache-2.0 */
/* What do those who work on one goal write to each other? */
#include "core/rules.h"

static struct str letter_id(const struct deciding *d, const struct letter *letter) {
    return arena_format(d->out, "M_%u", letter->n);
}

/* An assignment by its id, its session, or the only one of that agent. */
static const struct charge *charge_called(const struct deciding *d, struct str name) {
    const struct charges *charges = &d->decision->live.charges;
    const struct charge *found = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < charges->count; i++) {
        const struct charge *charge = &charges->at[i];
        if (str_equal(charge_id(charge, d->out), name) ||
            (charge->session[0] && str_equal(str_of(charge->session), name)))
            return charge;
        if (str_equal(str_of(charge->agent), name)) {
            found = charge;
            count++;
        }
    }
    return count == 1 ? found : NULL;
}

static bool is_overseer(struct str name) {
    return name.len == 0 || str_equal(name, STR("overseer"));
}

/* MAIL-07: what has to be acknowledged stays; of the rest the oldest makes room. */
static bool room_make(struct deciding *d) {
    struct letters *letters = &d->decision->live.letters;
    for (uint32_t i = 0; i < letters->count && letters->count >= LIMIT_LETTERS; i++)
        if (!letters->at[i].ack_required)
            live_remove(d, PART_LETTER, &letters->at[i--]);
    return letters->count < LIMIT_LETTERS;
}

static bool text_read(struct deciding *d, struct letter_text *ret) {
    uint32_t entry;
    if (shape_decode(&LETTER_TEXT, d->signal->body, ret) &&
        !fields_broken(LETTER_TEXT.fields, LETTER_TEXT.count, ret, &entry) && ret->subject.len > 0)
        return true;
    decide_refuse_because(d, ERROR_INVALID,
                          STR("a message needs a subject, and nothing of it may be too long"));
    return false;
}

static void letter_make(struct deciding *d, const struct charge *to,
                        const struct letter_text *text) {
    const struct signal *signal = d->signal;
    struct letter *letter = live_add(d, PART_LETTER, d->decision->goal.parts_made++);
    letter->kind = (enum letter_kind)signal->to;
    letter->to = to ? to->n + 1 : 0;
    letter->ack_required = signal->question;
    letter->at = signal->at;
    letter->text = decide_text(d, shape_encode(&LETTER_TEXT, text, d->out));
    name_put(letter->sender, sizeof letter->sender, signal->actor);
    name_put(letter->recipient, sizeof letter->recipient,
             to ? charge_id(to, d->out) : STR("overseer"));
    decide_record(d, RECORD_MAIL_SENT,
                  (struct evidence){.rule = STR("mail.send"),
                                    .question = letter_id(d, letter),
                                    .to = str_of(letter->recipient),
                                    .text = text->subject,
                                    .assignment = to ? charge_id(to, d->out) : STR(""),
                                    .more = letter->text});
}

/* MAIL-01, MAIL-02, MAIL-06: the sender is whoever sent the signal, which the door made sure of. `text` is for whom,
 * `to` the kind, `question` 1: it has to be acknowledged. */
void rule_mail(struct deciding *d) {
    struct letter_text text = {0};
    const struct charge *to = charge_called(d, d->signal->text);
    if (!to && !is_overseer(d->signal->text)) {
        decide_refuse_because(d, ERROR_NOT_FOUND,
                              STR("nobody of that name works on this goal, or several do"));
        return;
    }
    if (d->signal->to >= LETTER_KINDS || d->signal->question > 1) {
        decide_refuse(d, ERROR_INVALID);
        return;
    }
    if (!text_read(d, &text))
        return;
    live_edit(d, PART_LETTER, 1);
    if (room_make(d))
        letter_make(d, to, &text);
    else
        decide_refuse_because(d, ERROR_LIMITED, STR("too many messages wait to be acknowledged"));
}

/* MAIL-07: acknowledged by the one it was for, it is not delivered again. */
void rule_mail_ack(struct deciding *d) {
    live_edit(d, PART_LETTER, 0);
    struct letters *letters = &d->decision->live.letters;
    struct letter *letter = NULL;
    for (uint32_t i = 0; i < letters->count; i++)
        if (letters->at[i].n + 1 == d->signal->question)
            letter = &letters->at[i];
    if (!letter)
        return; /* acknowledged before */
    bool its_own =
        d->signal->by == WHO_AGENT ? letter->to && d->signal->charge == letter->to : true;
    if (!its_own) {
        decide_refuse(d, ERROR_UNAUTHORIZED);
        return;
    }
    decide_record(d, RECORD_MAIL_READ,
                  (struct evidence){.rule = STR("mail.ack"),
                                    .question = letter_id(d, letter),
                                    .to = str_of(letter->recipient)});
    live_remove(d, PART_LETTER, letter);
}
