/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the state of a turn, determines when it is over, and recognizes account limits. */
#include "drivers/drive.h"

#include <ctype.h>
#include <stdio.h>

enum { LAST_WORDS = 256 };

/* ---- saved state ---- */

static const struct field NUMBER_ROWS[] = {{.name = "number", .type = FIELD_U32, .number = 1}};
const struct shape DRIVE_NUMBER_SHAPE = {"number", 1, NUMBER_ROWS, 1, sizeof(uint32_t)};

static const struct field ID_ROWS[] = {{.name = "id", .type = FIELD_ID, .number = 1}};
const struct shape DRIVE_ID_SHAPE = {"id", 1, ID_ROWS, 1, sizeof(struct id)};

static const struct field LINES_ROWS[] = {
    STATE_ROW(FIELD_UINT, drive_lines, begin, 1),
    STATE_ROW(FIELD_UINT, drive_lines, seen, 2),
};
const struct shape DRIVE_LINES_SHAPE = SHAPE_OF(drive_lines, "lines", 1, LINES_ROWS);

static const struct field TOOL_ROWS[] = {
    STATE_ROW(FIELD_UINT, drive_tool, key, 1),
    STATE_ROW(FIELD_INT, drive_tool, since, 2),
    STATE_CHARS(drive_tool, name, 3),
    STATE_ROW(FIELD_BOOL, drive_tool, named, 4),
};
static const struct shape TOOL = SHAPE_OF(drive_tool, "tool", 1, TOOL_ROWS);

static const struct field TURN_ROWS[] = {
    STATE_ROW(FIELD_ID, drive_turn, dispatch, 1),
    STATE_ROW(FIELD_BOOL, drive_turn, open, 2),
    STATE_ROW(FIELD_BOOL, drive_turn, accepted, 3),
    STATE_ROW(FIELD_BOOL, drive_turn, interrupted, 4),
    STATE_ENUM(drive_turn, tool_count, 5, DRIVE_TOOLS + 1),
    STATE_LIST(drive_turn, tools, 6, TOOL),
    STATE_ROW(FIELD_INT, drive_turn, active_at, 7),
    STATE_ROW(FIELD_INT, drive_turn, chatter_at, 8),
    STATE_ROW(FIELD_INT, drive_turn, limited_until, 9),
    STATE_ROW(FIELD_INT, drive_turn, asked_at, 10),
    STATE_ROW(FIELD_INT, drive_turn, stop_by, 11),
    STATE_ROW(FIELD_UINT, drive_turn, tokens, 12),
    STATE_ROW(FIELD_UINT, drive_turn, cost, 13),
    STATE_ROW(FIELD_U32, drive_turn, context, 14),
    STATE_ROW(FIELD_U32, drive_turn, ends, 15),
    STATE_FILLED(drive_turn, words, 16),
};
const struct shape DRIVE_TURN_SHAPE = SHAPE_OF(drive_turn, "turn", 1, TURN_ROWS);

/* ---- a turn ---- */

/* FNV-1a: only to tell things apart. */
static uint64_t text_key(struct str text) {
    uint64_t key = 0xCBF29CE484222325u;
    for (size_t i = 0; i < text.len; i++)
        key = (key ^ (unsigned char)text.at[i]) * 0x100000001B3u;
    return key ? key : 1;
}

void turn_begin(struct drive_turn *turn, struct id dispatch, int64_t now) {
    turn->dispatch = dispatch;
    turn->open = true;
    turn->accepted = turn->interrupted = false;
    turn->tool_count = 0;
    memset(turn->tools, 0, sizeof turn->tools);
    turn->asked_at = now;
    turn->stop_by = 0;
    turn->limited_until = 0;
    turn->words.len = 0;
}

void turn_accept(struct drive_turn *turn, uint64_t offset, struct drive_out *out) {
    if (!turn->open || turn->accepted)
        return;
    turn->accepted = true;
    drive_event_add(out, DRIVE_ACCEPTED, offset)->dispatch = turn->dispatch;
}

void drive_words_add(struct drive_words *words, struct str text) {
    words->len = (uint32_t)tail_add(words->at, sizeof words->at, words->len, text);
}

void turn_words(struct drive_turn *turn, struct str text, int64_t now, uint64_t offset,
                struct drive_out *out) {
    if (text.len == 0)
        return;
    turn->active_at = now;
    if (turn->open)
        drive_words_add(&turn->words, text);
    drive_event_add(out, DRIVE_PROGRESS, offset)->text =
        arena_copy(out->arena, str_cut_utf8(text, DRIVE_TEXT));
}

void turn_chatter(struct drive_turn *turn, int64_t now, uint64_t offset, struct drive_out *out) {
    turn->chatter_at = now;
    drive_event_add(out, DRIVE_CHATTER, offset);
}

static struct drive_tool *tool_find(struct drive_turn *turn, uint64_t key) {
    for (uint32_t i = 0; i < turn->tool_count; i++)
        if (turn->tools[i].key == key)
            return &turn->tools[i];
    return NULL;
}

/* More than DRIVE_TOOLS concurrent calls are not told apart: they count as activity. */
void turn_tool_begin(struct drive_turn *turn, struct str id, struct str name, int64_t now,
                     uint64_t offset, struct drive_out *out) {
    turn->active_at = now;
    if (tool_find(turn, text_key(id)) || turn->tool_count == DRIVE_TOOLS)
        return;
    struct drive_tool *tool = &turn->tools[turn->tool_count++];
    *tool = (struct drive_tool){.key = text_key(id), .since = now};
    drive_keep(tool->name, sizeof tool->name, str_cut_utf8(name, sizeof tool->name - 1));
    drive_event_add(out, DRIVE_TOOL_BEGUN, offset)->text =
        arena_copy(out->arena, str_cut_utf8(name, DRIVE_TEXT));
}

void turn_tool_end(struct drive_turn *turn, struct str id, int64_t now, uint64_t offset,
                   struct drive_out *out) {
    turn->active_at = now;
    struct drive_tool *tool = tool_find(turn, text_key(id));
    if (!tool)
        return;
    *tool = turn->tools[--turn->tool_count];
    turn->tools[turn->tool_count] = (struct drive_tool){0}; /* zero entries are not saved */
    drive_event_add(out, DRIVE_TOOL_ENDED, offset);
}

struct str turn_tool_name(const struct drive_turn *turn, struct str id) {
    for (uint32_t i = 0; i < turn->tool_count; i++)
        if (turn->tools[i].key == text_key(id))
            return str_of(turn->tools[i].name);
    return (struct str){"", 0};
}

void turn_tool_is_named(struct drive_turn *turn, struct str id) {
    struct drive_tool *tool = tool_find(turn, text_key(id));
    if (tool)
        tool->named = true;
}

bool turn_tool_named(const struct drive_turn *turn, struct str id) {
    for (uint32_t i = 0; i < turn->tool_count; i++)
        if (turn->tools[i].key == text_key(id))
            return turn->tools[i].named;
    return false;
}

void turn_usage(struct drive_turn *turn, uint64_t offset, struct drive_out *out) {
    struct drive_event *event = drive_event_add(out, DRIVE_USAGE, offset);
    event->tokens = turn->tokens;
    event->cost = turn->cost;
    event->context = turn->context;
}

struct str turn_text(const struct drive_turn *turn) {
    size_t from = 0;
    while (from < turn->words.len && ((unsigned char)turn->words.at[from] & 0xC0) == 0x80)
        from++;
    return (struct str){turn->words.at + from, turn->words.len - from};
}

static struct drive_event *turn_over(struct drive_turn *turn, enum drive_kind kind, struct str text,
                                     uint64_t offset, struct drive_out *out) {
    for (; turn->tool_count > 0; turn->tool_count--)
        drive_event_add(out, DRIVE_TOOL_ENDED, offset);
    memset(turn->tools, 0, sizeof turn->tools);
    turn->open = false;
    turn->stop_by = 0;
    turn->ends++;
    struct drive_event *event = drive_event_add(out, kind, offset);
    event->dispatch = turn->dispatch;
    event->text = arena_copy(out->arena, text);
    return event;
}

void turn_end(struct drive_turn *turn, enum drive_reason reason, uint64_t offset,
              struct drive_out *out) {
    if (!turn->open)
        return;
    if (reason != DRIVE_TURN_CANCELLED) /* the end of a turn is the best receipt */
        turn_accept(turn, offset, out);
    turn_over(turn, DRIVE_ENDED, turn_text(turn), offset, out)->reason = reason;
}

void turn_limit(struct drive_turn *turn, struct str why, int64_t until, uint64_t offset,
                struct drive_out *out) {
    turn->limited_until = until;
    turn_over(turn, DRIVE_LIMITED, str_cut_utf8(why, DRIVE_TEXT), offset, out)->until = until;
}

void turn_fail(struct drive_turn *turn, struct str why, int64_t now, uint64_t offset,
               struct drive_out *out) {
    int64_t until;
    if (!turn->open)
        return;
    if (drive_limit_read(why, out->wall ? out->wall : now, &until))
        turn_limit(turn, why, until, offset, out);
    else
        turn_over(turn, DRIVE_FAILED, str_cut_utf8(why, DRIVE_TEXT), offset, out);
}

/* Runs for each piece of output, so it hashes the end of the text, not all of it. */
static uint64_t last_words_key(const struct drive_turn *turn) {
    size_t len = turn->words.len < LAST_WORDS ? turn->words.len : LAST_WORDS;
    return text_key((struct str){turn->words.at + turn->words.len - len, len});
}

void turn_see(const struct drive_turn *turn, struct observation *ret) {
    ret->turn = turn->open ? TRISTATE_YES : TRISTATE_NO;
    ret->active_at = turn->active_at;
    ret->chatter_at = turn->chatter_at;
    ret->limited_until = turn->limited_until;
    ret->tokens = turn->tokens;
    ret->cost = turn->cost;
    ret->context = turn->context;
    ret->fingerprint = turn->words.len > 0 ? last_words_key(turn) : 0;
    ret->tool_since = 0;
    for (uint32_t i = 0; i < turn->tool_count; i++)
        if (ret->tool_since == 0 || turn->tools[i].since < ret->tool_since)
            ret->tool_since = turn->tools[i].since;
}

enum tristate turn_delivered(const struct drive_turn *turn, struct id dispatch) {
    if (!id_equal(turn->dispatch, dispatch))
        return TRISTATE_UNKNOWN;
    return turn->accepted ? TRISTATE_YES : TRISTATE_UNKNOWN;
}

/* ---- limits ---- */

bool drive_has(struct str text, const char *part) {
    size_t len = strlen(part);
    for (size_t i = 0; i + len <= text.len; i++) {
        size_t same = 0;
        while (same < len && tolower((unsigned char)text.at[i + same]) == part[same])
            same++;
        if (same == len)
            return true;
    }
    return false;
}

/* Phrases for an account at its limit, in lower case. An overloaded server is not one. */
static const char *const LIMIT_WORDS[] = {
    "rate limit", "rate_limit",         "ratelimit",         "usage limit",
    "quota",      "resource_exhausted", "too many requests", "session limit reached"};

/* How the reset time is announced, in lower case, and the format of what follows. */
#define CLOCK_PAST MINUTES(10)

enum reset_form { RESET_EPOCH, RESET_SPAN, RESET_STAMP, RESET_CLOCK };
static const struct {
    const char *before;
    enum reset_form how;
} RESET_WORDS[] = {{"limit reached|", RESET_EPOCH}, {"resetsat\":", RESET_EPOCH},
                   {"resets_at\":", RESET_EPOCH},   {"reset at ", RESET_STAMP},
                   {"resets at ", RESET_STAMP},     {"retry after ", RESET_SPAN},
                   {"retry-after: ", RESET_SPAN},   {"retry_after\":", RESET_SPAN},
                   {"try again in ", RESET_SPAN},   {"retry in ", RESET_SPAN},
                   {"reset after ", RESET_SPAN},    {"retrydelay\":\"", RESET_SPAN},
                   {"resets in ", RESET_SPAN},      {"try again at ", RESET_CLOCK}};

static const char *text_behind(struct str text, const char *part) {
    size_t len = strlen(part);
    for (size_t i = 0; i + len <= text.len; i++)
        if (drive_has((struct str){text.at + i, len}, part))
            return text.at + i + len;
    return NULL;
}

/* Reads "20s", "1m30s", "1.5 s", "6 minutes", "2h". A number alone is seconds. */
static int64_t span_read(struct str text) {
    double sum = 0;
    size_t i = 0;
    while (i < text.len && isdigit((unsigned char)text.at[i])) {
        double number = 0, part = 1;
        bool fraction = false;
        for (; i < text.len && (isdigit((unsigned char)text.at[i]) || text.at[i] == '.'); i++)
            if (text.at[i] == '.')
                fraction = true;
            else if (fraction)
                number += (part /= 10) * (text.at[i] - '0');
            else
                number = number * 10 + (text.at[i] - '0');
        while (i < text.len && text.at[i] == ' ')
            i++;
        char unit = i < text.len ? (char)tolower((unsigned char)text.at[i]) : 's';
        bool thousandth = unit == 'm' && i + 1 < text.len && text.at[i + 1] == 's';
        sum += number * (thousandth    ? 0.001
                         : unit == 'm' ? 60
                         : unit == 'h' ? 3600
                         : unit == 'd' ? 86400
                                       : 1);
        while (i < text.len && (isalpha((unsigned char)text.at[i]) || text.at[i] == ' '))
            i++;
    }
    return sum < 1e9 ? (int64_t)(sum * 1e6) : 0;
}

static int64_t epoch_read(struct str text) {
    int64_t seconds = 0;
    for (size_t i = 0; i < text.len && i < 13 && isdigit((unsigned char)text.at[i]); i++)
        seconds = seconds * 10 + (text.at[i] - '0');
    return seconds > 100000000000 ? seconds * 1000 : seconds * 1000000;
}

static int64_t stamp_read(struct str text) {
    size_t len = 0;
    int64_t at;
    while (len < text.len && strchr("0123456789-:.TZ+", text.at[len]) && text.at[len])
        len++;
    while (len > 0 && !time_parse((struct str){text.at, len}, &at))
        len--;
    return len > 0 ? at : 0;
}

/* Reads "3:35 PM" as UTC, the time zone in which such an agent is started: the end of that minute, the next time it
 * occurs. A minute that has just passed is not almost a day away: the retry is in one minute. */
static int64_t clock_read(struct str text, int64_t now) {
    char copy[16];
    unsigned hour, minute;
    char half;
    if (!drive_keep(copy, sizeof copy, str_cut(text, sizeof copy - 1)) ||
        sscanf(copy, "%2u:%2u %c", &hour, &minute, &half) != 3 || hour < 1 || hour > 12 ||
        minute > 59 || !strchr("APap", half))
        return 0;
    int64_t day = MINUTES(24 * 60);
    int64_t end = MINUTES((hour % 12 + (strchr("Pp", half) ? 12 : 0)) * 60 + minute + 1);
    int64_t wait = (end + day - now % day) % day;
    return now + (wait == 0 || wait >= day - CLOCK_PAST ? MINUTES(1) : wait);
}

static int64_t reset_read(struct str text, int64_t now) {
    for (size_t i = 0; i < count_of(RESET_WORDS); i++) {
        const char *at = text_behind(text, RESET_WORDS[i].before);
        if (!at)
            continue;
        struct str rest = {at, (size_t)(text.at + text.len - at)};
        while (rest.len > 0 && *rest.at == ' ')
            rest = (struct str){rest.at + 1, rest.len - 1};
        int64_t span = RESET_WORDS[i].how == RESET_SPAN ? span_read(rest) : 0;
        int64_t until = RESET_WORDS[i].how == RESET_EPOCH   ? epoch_read(rest)
                        : RESET_WORDS[i].how == RESET_STAMP ? stamp_read(rest)
                        : RESET_WORDS[i].how == RESET_CLOCK ? clock_read(rest, now)
                        : span > 0                          ? time_after(now, span)
                                                            : 0;
        if (until > 0)
            return until;
    }
    return 0;
}

/* "HTTP 429", "status: 429", "{"code":429": the number has a name. "parser.c:429" is a line number. */
static bool status_named(struct str before) {
    static const char *const NAMES[] = {"http", "http/1.1", "http/2", "status", "code", "error"};
    while (before.len > 0 && strchr(" :=\"'([", before.at[before.len - 1]))
        before.len--;
    for (size_t i = 0; i < count_of(NAMES); i++) {
        size_t len = strlen(NAMES[i]);
        if (before.len >= len && strncasecmp(before.at + before.len - len, NAMES[i], len) == 0)
            return true;
    }
    return before.len == 0;
}

static bool status_read(struct str text) {
    for (size_t i = 0; i + 3 <= text.len; i++)
        if (memcmp(text.at + i, "429", 3) == 0 &&
            (i == 0 || !isalnum((unsigned char)text.at[i - 1])) &&
            (i + 3 == text.len || !isalnum((unsigned char)text.at[i + 3])) &&
            status_named((struct str){text.at, i}))
            return true;
    return false;
}

bool drive_limit_read(struct str text, int64_t now, int64_t *ret_until) {
    bool is = status_read(text);
    for (size_t i = 0; i < count_of(LIMIT_WORDS) && !is; i++)
        is = drive_has(text, LIMIT_WORDS[i]);
    if (is)
        *ret_until = reset_read(text, now);
    return is;
}
