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

static bool is_unsaid(const struct deciding *d, const struct letter *letter) {
    return !hash_is_zero(&letter->unsaid) &&
           charges_find(&d->decision->live.charges, letter->to - 1) != NULL;
}

/* MAIL-07: what has to be acknowledged or heard stays, while there is somebody to do it; of the rest the oldest makes room. */
static bool room_make(struct deciding *d, uint32_t most) {
    struct letters *letters = &d->decision->live.letters;
    for (uint32_t i = 0; i < letters->count && letters->count >= most; i++) {
        const struct letter *letter = &letters->at[i];
        bool gone = letter->to && !charges_find(&d->decision->live.charges, letter->to - 1);
        if (gone || (!letter->ack_required && !is_unsaid(d, letter)))
            live_remove(d, PART_LETTER, &letters->at[i--]);
    }
    return letters->count < most;
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

static struct letter *letter_make(struct deciding *d, const struct charge *to,
                                  enum letter_kind kind, const struct letter_text *text) {
    const struct signal *signal = d->signal;
    struct letter *letter = live_add(d, PART_LETTER, d->decision->goal.parts_made++);
    letter->kind = kind;
    letter->to = to ? to->n + 1 : 0;
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
    return letter;
}

/* ---- what an agent hears by itself ---- */

static struct letter *letter_unsaid(const struct deciding *d, const struct charge *charge) {
    struct letters *letters = &d->decision->live.letters;
    for (uint32_t i = 0; i < letters->count; i++)
        if (letters->at[i].to == charge->n + 1 && !hash_is_zero(&letters->at[i].unsaid))
            return &letters->at[i];
    return NULL;
}

/* The first that a person wrote. */
static struct letter *letter_of_person(const struct deciding *d, const struct charge *charge) {
    struct letters *letters = &d->decision->live.letters;
    for (uint32_t i = 0; i < letters->count; i++)
        if (letters->at[i].to == charge->n + 1 && !letters->at[i].words &&
            !hash_is_zero(&letters->at[i].unsaid))
            return &letters->at[i];
    return NULL;
}

bool told_next(const struct deciding *d, struct charge *charge) {
    const struct letter *letter = letter_of_person(d, charge);
    if (letter)
        charge->told = letter->unsaid;
    return letter != NULL;
}

/* What is owed to an agent has one place. What finds it taken, or was not heard, waits among the letters, as what it is. */
void words_put_by(struct deciding *d, const struct charge *charge, enum wording words,
                  struct hash said) {
    struct letter_text text = {.subject = STR("something that could not be said yet")};
    live_edit(d, PART_LETTER, 1);
    if (hash_is_zero(&said) || !room_make(d, LIMIT_LETTERS))
        return;
    struct letter *letter = letter_make(d, charge, LETTER_INFO, &text);
    letter->unsaid = said;
    letter->words = words;
    live_touch(d, PART_LETTER, letter);
}

static void words_take_up(struct deciding *d, struct charge *charge) {
    live_edit(d, PART_LETTER, 0);
    struct letter *letter = letter_unsaid(d, charge);
    enum wording words = letter->words;
    charge->said = letter->unsaid;
    charge->unheard = words;
    charge->permits = PERMISSION_NONE;
    live_remove(d, PART_LETTER, letter);
    charge_reply(d, charge, words);
}

/* A person's words are said as soon as nothing else is being said: one after the other, in the order in which they came. */
bool told_go_on(struct deciding *d, struct charge *charge) {
    bool works = charge->status == CHARGE_ACTIVE || charge->status == CHARGE_DISPATCHED ||
                 charge->status == CHARGE_STALLED;
    bool hears = works && charge->run && !charge->ended && charge->effect == 0 &&
                 charge->question == 0 && charge->waiting == WAITS_FOR_NOTHING && !charge->owes;
    const struct letter *letter = letter_unsaid(d, charge);
    if (!hears || !letter || d->decision->goal.status != GOAL_ACTIVE || charge->attached)
        return false;
    if (charge->status == CHARGE_STALLED && charge->backoff_until > d->signal->at)
        return false; /* it could not hear the last ones */
    if (charge->words == WORDS_TOLD && charge->delivery == DELIVERY_TIMEOUT)
        return false; /* it may have heard the last ones, or not: nothing is said twice */
    if (letter->words) {
        words_take_up(d, charge);
        return true;
    }
    told_next(d, charge);
    charge_reply(d, charge, WORDS_TOLD);
    return true;
}

/* A person has said something that it has not heard, as far as is known. */
bool told_waits(const struct deciding *d, const struct charge *charge) {
    bool doubtful = charge->words == WORDS_TOLD && charge->delivery == DELIVERY_TIMEOUT;
    return letter_of_person(d, charge) && !doubtful;
}

void told_heard(struct deciding *d, const struct charge *charge) {
    live_edit(d, PART_LETTER, 0);
    struct letter *letter = letter_of_person(d, charge);
    if (!letter || !hash_equal(&letter->unsaid, &charge->told))
        return; /* it read it by itself meanwhile */
    letter->unsaid = (struct hash){0};
    live_touch(d, PART_LETTER, letter);
}

/* A subject is often but the beginning of what follows: then it is not said twice. */
static struct str instruction_words(struct deciding *d, const struct letter_text *text) {
    if (text->body.len == 0)
        return text->subject;
    if (str_begins(text->body, text->subject))
        return text->body;
    return arena_format(d->out, "%.*s\n%.*s", STR_ARG(text->subject), STR_ARG(text->body));
}

/* What a person wants of an agent does not wait until that looks for it. */
static void instruction_say(struct deciding *d, uint32_t n, struct letter *letter,
                            const struct letter_text *text) {
    letter->unsaid = decide_text(d, instruction_words(d, text));
    live_touch(d, PART_LETTER, letter);
    live_edit(d, PART_CHARGE, 0);
    told_go_on(d, charges_find(&d->decision->live.charges, n));
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
    if (to && charge_is_watched(to)) {
        decide_refuse_because(d, ERROR_CONFLICT,
                              STR("it is only watched: nothing is ever said to it"));
        return;
    }
    if (d->signal->to >= LETTER_KINDS || d->signal->question > 1) {
        decide_refuse(d, ERROR_INVALID);
        return;
    }
    if (!text_read(d, &text))
        return;
    bool instructs = to && d->signal->by == WHO_HUMAN && d->signal->to == LETTER_INSTRUCTION;
    uint32_t n = to ? to->n : 0;
    live_edit(d, PART_LETTER, 1);
    if (room_make(d, LIMIT_MAIL_KEPT)) {
        struct letter *letter = letter_make(d, to, (enum letter_kind)d->signal->to, &text);
        letter->ack_required = d->signal->question;
        if (instructs)
            instruction_say(d, n, letter, &text);
    } else
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
    if (!letter || (letter->words && !hash_is_zero(&letter->unsaid)))
        return; /* acknowledged before, or not yet said: reading about it is not hearing it */
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
