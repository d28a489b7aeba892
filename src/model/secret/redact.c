/* SPDX-License-Identifier: Apache-2.0 */
#include "model/secret/redact.h"

#include "model/update.h"

/* Redacts the texts and lists of a struct in place; replacements come from the arena. Texts are cut to their caps only
 * afterwards: half a secret would not be recognised. */
static void fields_redact(const struct secret_rules *rules, const struct field *fields,
                          size_t count, void *at, struct arena *arena);

/* GOAL-08: keeps the beginning, with a mark that something is missing. */
static struct str cut(struct str text, uint32_t cap, struct arena *arena) {
    static const struct str MARK = {" [cut]", 6};
    return arena_format(arena, "%.*s%s", STR_ARG(str_cut_utf8(text, cap - MARK.len)), MARK.at);
}

/* Keeps the end, without starting in the middle of a character. */
static struct str tail(struct str text, uint32_t cap) {
    struct str end = {text.at + text.len - cap, cap};
    while (end.len > 0 && ((unsigned char)end.at[0] & 0xC0) == 0x80)
        end = (struct str){end.at + 1, end.len - 1};
    return end;
}

/* Agents' output and file names can be any bytes; what is stored has to be text, or the record could not be read again. */
static struct str readable(struct str text, struct arena *arena) {
    if (str_is_text(text))
        return text;
    char *copy = arena_new(arena, char, text.len);
    memcpy(copy, text.at, text.len);
    bytes_mend(copy, text.len);
    return (struct str){copy, text.len};
}

static struct str redacted(const struct secret_rules *rules, const struct field *field,
                           struct str raw, struct arena *arena) {
    struct str text = readable(raw, arena), clean = secret_redact(rules, text, arena);
    if (clean.len <= field->cap)
        return clean;
    if (field->flags & FIELD_CUT)
        return cut(clean, field->cap, arena);
    if (field->flags & FIELD_TAIL)
        return tail(clean, field->cap);
    return clean.at == text.at ? text : str_cut_utf8(clean, field->cap);
}

static void texts_redact(const struct secret_rules *rules, const struct field *field,
                         struct texts *texts, struct arena *arena) {
    struct str *clean = arena_new(arena, struct str, texts->count);
    for (uint32_t i = 0; i < texts->count; i++)
        clean[i] = redacted(rules, field, texts->at[i], arena);
    texts->at = clean;
}

static void rows_redact(const struct secret_rules *rules, const struct field *field,
                        struct rows *rows, struct arena *arena) {
    size_t size = field->of->size;
    if (rows->count == 0)
        return;
    char *clean = arena_take(arena, size * rows->count, alignof(max_align_t));
    memcpy(clean, rows->at, size * rows->count);
    for (uint32_t i = 0; i < rows->count; i++)
        fields_redact(rules, field->of->fields, field->of->count, clean + i * size, arena);
    rows->at = clean;
}

static void fields_redact(const struct secret_rules *rules, const struct field *fields,
                          size_t count, void *at, struct arena *arena) {
    for (size_t i = 0; i < count; i++) {
        const struct field *field = &fields[i];
        void *value = (char *)at + field->offset;
        if (field->type == FIELD_TEXT)
            *(struct str *)value = redacted(rules, field, *(struct str *)value, arena);
        else if (field->type == FIELD_TEXTS)
            texts_redact(rules, field, value, arena);
        else if (field->type == FIELD_ROWS)
            rows_redact(rules, field, value, arena);
    }
}

/* ---- encoded parts of a signal ---- */

static struct str encoded_redact(const struct secret_rules *rules, const struct shape *shape,
                                 struct str body, struct arena *arena) {
    if (body.len == 0 || !shape || shape->size == 0)
        return body;
    void *value = arena_take(arena, shape->size, alignof(max_align_t));
    if (!shape_decode_in(shape, body, arena, value))
        return body;
    fields_redact(rules, shape->fields, shape->count, value, arena);
    return shape_encode(shape, value, arena);
}

static const struct shape *body_shape(const struct signal *signal) {
    switch (signal->kind) {
    case SIGNAL_GOAL_CREATE:
    case SIGNAL_GOAL_UPDATE: return &GOAL_TEXT;
    case SIGNAL_PLAN_APPLY:
    case SIGNAL_WORK_ADD: return &PLAN_TEXT;
    case SIGNAL_AGENT_UPDATE: return &UPDATE;
    case SIGNAL_AGENT_PROGRESS: return &PROGRESS;
    case SIGNAL_HANDOFF: return &HANDOFF;
    case SIGNAL_AGENT_ASK:
    case SIGNAL_QUESTION_ASK: return &QUESTION_TEXT;
    case SIGNAL_MAIL_SEND: return &AGENT_MESSAGE_TEXT;
    case SIGNAL_PART_PUT: return signal->to < PARTS ? PART[signal->to].shape : NULL;
    default: return NULL;
    }
}

struct signal signal_redact(const struct secret_rules *rules, const struct signal *signal,
                            struct arena *arena) {
    struct signal clean = *signal;
    const struct signal_row *row = &SIGNALS[signal->kind];
    fields_redact(rules, SIGNAL_COMMON.fields, SIGNAL_COMMON.count, &clean, arena);
    fields_redact(rules, row->fields, row->count, &clean, arena);
    clean.body = encoded_redact(rules, body_shape(signal), signal->body, arena);
    clean.describe.task = encoded_redact(rules, &PLAN_TEXT, signal->describe.task, arena);
    clean.describe.tags = encoded_redact(rules, &TAGS, signal->describe.tags, arena);
    return clean;
}
