/* SPDX-License-Identifier: Apache-2.0 */
/* What can happen, and how is it written down? */
#include "model/signal.h"

enum { SIGNAL_ENCODING = 1 };

static const struct field COMMON[] = {
    {"source", FIELD_ID, 1, FIELD_OF(signal, source), 0, 0, NULL, "names the happening"},
    {"goal", FIELD_ID, 2, FIELD_OF(signal, goal), 0, 0, NULL, "whom it concerns"},
    {"at", FIELD_TIME, 3, FIELD_OF(signal, at), 0, 0, NULL, "when"},
    {"keyed", FIELD_U32, 4, FIELD_OF(signal, keyed), 0, 0, NULL, "1: the sender may repeat it"},
    {"actor", FIELD_TEXT, 5, FIELD_OF(signal, actor), LIMIT_ACTOR, 0, NULL, "who"},
};

static const struct field CREATE[] = {
    {"title", FIELD_TEXT, 16, FIELD_OF(signal, title), LIMIT_TITLE, 0, NULL,
     "what is wanted, in a line"},
    {"command", FIELD_TEXT, 17, FIELD_OF(signal, command), LIMIT_COMMAND, 0, NULL, "what to run"},
};
static const struct field REPORT[] = {
    {"text", FIELD_TEXT, 16, FIELD_OF(signal, text), LIMIT_REPORT, 0, NULL, "what is said"},
};
static const struct field CLAIM[] = {
    {"effect", FIELD_U32, 16, FIELD_OF(signal, effect), 0, 0, NULL, "its ordinal in the goal"},
    {"host", FIELD_U32, 17, FIELD_OF(signal, host), 0, 0, NULL, "who wants to carry it out"},
};
static const struct field ENDED[] = {
    {"effect", FIELD_U32, 16, FIELD_OF(signal, effect), 0, 0, NULL, "its ordinal in the goal"},
    {"exit", FIELD_INT, 17, FIELD_OF(signal, exit), 0, 0, NULL, "exit status, -1: not started"},
    {"text", FIELD_TEXT, 18, FIELD_OF(signal, text), LIMIT_OUTPUT, 0, NULL,
     "the tail of its output"},
};
static const struct field LOST[] = {
    {"effect", FIELD_U32, 16, FIELD_OF(signal, effect), 0, 0, NULL, "its ordinal in the goal"},
};

#define ROW(text, rows) \
    { (text), (rows), count_of(rows) }
const struct signal_row SIGNALS[SIGNAL_KINDS] = {
    [SIGNAL_NONE] = {"none", NULL, 0},
    [SIGNAL_GOAL_CREATE] = ROW("goal.create", CREATE),
    [SIGNAL_GOAL_REPORT] = ROW("goal.report", REPORT),
    [SIGNAL_GOAL_DUE] = {"goal.due", NULL, 0},
    [SIGNAL_EFFECT_CLAIM] = ROW("effect.claim", CLAIM),
    [SIGNAL_EFFECT_ENDED] = ROW("effect.ended", ENDED),
    [SIGNAL_EFFECT_LOST] = ROW("effect.lost", LOST),
};

static const char *const NAME[] = {"none",         "goal.create",  "goal.report", "goal.due",
                                   "effect.claim", "effect.ended", "effect.lost"};
const struct names SIGNAL_NAMES = {NAME, count_of(NAME)};

struct str signal_encode(const struct signal *signal, struct arena *arena) {
    const struct signal_row *row = &SIGNALS[signal->kind];
    struct writer writer = {.arena = arena};
    write_byte(&writer, SIGNAL_ENCODING);
    write_varint(&writer, signal->kind);
    fields_write(&writer, COMMON, count_of(COMMON), signal);
    fields_write(&writer, row->fields, row->count, signal);
    return (struct str){writer.at, writer.len};
}

/* Common and own fields share one sequence; the numbers tell them apart. */
bool signal_decode(struct str bytes, struct signal *ret_signal) {
    struct reader reader = {.rest = bytes};
    if (bytes.len > LIMIT_SIGNAL_BODY || read_byte(&reader) < 1)
        return false;
    uint64_t kind = read_varint(&reader);
    if (reader.failed || kind == SIGNAL_NONE || kind >= SIGNAL_KINDS)
        return false;
    *ret_signal = (struct signal){.kind = (enum signal_kind)kind};
    const struct signal_row *row = &SIGNALS[kind];
    struct field all[count_of(COMMON) + 4];
    must(row->count <= 4);
    memcpy(all, COMMON, sizeof COMMON);
    if (row->count > 0)
        memcpy(all + count_of(COMMON), row->fields, row->count * sizeof *row->fields);
    return fields_read(&reader, all, count_of(COMMON) + row->count, ret_signal);
}

static void text_keep(char **to, struct str *text) {
    if (text->len > 0)
        memcpy(*to, text->at, text->len);
    text->at = *to;
    *to += text->len;
}

size_t signal_text_size(const struct signal *signal) {
    return signal->actor.len + signal->title.len + signal->command.len + signal->text.len;
}

void signal_copy(struct signal *to, const struct signal *from, char *room) {
    *to = *from;
    text_keep(&room, &to->actor);
    text_keep(&room, &to->title);
    text_keep(&room, &to->command);
    text_keep(&room, &to->text);
}
