/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the definition of a goal. */
#include "core/goal.h"
#include "core/rules.h"

/* GOAL-05 to GOAL-09: checks the text against its table of fields. True: valid, and stored. */
bool goal_words(struct deciding *d) {
    const struct signal *signal = d->signal;
    struct goal_text text = {0};
    uint32_t entry;
    const struct field *wrong = NULL;
    if (signal->body.len == 0)
        return true;
    bool read = shape_decode_in(&GOAL_TEXT, signal->body, d->out, &text);
    if (read)
        wrong = fields_broken(GOAL_TEXT.fields, GOAL_TEXT.count, &text, &entry);
    if (!read || wrong) {
        decide_refuse_because(d, ERROR_INVALID,
                              arena_format(d->out, "the definition's %s is missing or too long",
                                           wrong ? wrong->name : "encoding"));
        return false;
    }
    d->decision->goal.text = decide_text(d, shape_encode(&GOAL_TEXT, &text, d->out));
    d->decision->goal.origin = text.channel.len ? sha256(text.channel) : (struct hash){0};
    return true;
}

bool goal_tags(struct deciding *d) {
    struct tags *tags = arena_new(d->out, struct tags, 1);
    uint32_t entry;
    if (d->signal->describe.tags.len == 0)
        return true;
    if (!shape_decode_in(&TAGS, d->signal->describe.tags, d->out, tags) ||
        fields_broken(TAGS.fields, TAGS.count, tags, &entry)) {
        decide_refuse_because(d, ERROR_INVALID,
                              STR("a tag is empty or too long, or there are too many"));
        return false;
    }
    d->decision->tags = tags;
    return true;
}

/* GOAL-12: the sender of a change must have seen the newest definition. */
void rule_update(struct deciding *d) {
    struct goal *goal = &d->decision->goal;
    const struct signal *signal = d->signal;
    if (signal->sender.by == WHO_AGENT) {
        decide_refuse(d, ERROR_UNAUTHORIZED);
        return;
    }
    if (signal->body.len > 0 &&
        memcmp(&signal->describe.base, &goal->text, sizeof goal->text) != 0) {
        decide_refuse_because(d, ERROR_CONFLICT,
                              STR("the definition has changed since it was read"));
        return;
    }
    if (!goal_words(d) || !goal_tags(d))
        return;
    if (!signal->to)
        goal->priority = signal->describe.priority;
    if (signal->describe.title.len > 0)
        d->decision->title = str_cut_utf8(signal->describe.title, LIMIT_TITLE);
    decide_record(d, RECORD_GOAL_UPDATED,
                  (struct evidence){.rule = STR("goal.update"),
                                    .more = goal->text,
                                    .reason = signal->reason,
                                    .text = d->decision->title});
}
