/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a written pattern into pieces, and reports what is wrong with it. */
#include "model/secret/secret_pattern.h"

enum { ENDLESS = UINT32_MAX, SHORT_RUN = 64 /* shorter runs are counted again, not remembered */ };

struct reader {
    struct str text;
    size_t at;
    bool either_case;
    const char *wrong; /* first error */
    uint32_t pieces, long_runs;
    struct piece piece[LIMIT_SECRET_PIECES];
};

static int reader_peek(const struct reader *reader) {
    return reader->at < reader->text.len ? (unsigned char)reader->text.at[reader->at] : -1;
}

static bool reader_takes(struct reader *reader, char c) {
    bool is_there = reader_peek(reader) == (unsigned char)c;
    reader->at += is_there;
    return is_there;
}

static void reader_wrong(struct reader *reader, const char *wrong) {
    if (!reader->wrong)
        reader->wrong = wrong;
}

static struct piece *piece_add(struct reader *reader, enum piece_kind kind) {
    if (reader->pieces == LIMIT_SECRET_PIECES) {
        reader_wrong(reader, "the pattern has too many pieces");
        reader->pieces--;
    }
    struct piece *piece = &reader->piece[reader->pieces++];
    *piece = (struct piece){.kind = kind, .either_case = reader->either_case, .min = 1, .max = 1};
    return piece;
}

/* The character after a backslash. */
static unsigned char escape_read(struct reader *reader) {
    int c = reader_peek(reader);
    reader->at += c >= 0;
    if (c < 0)
        reader_wrong(reader, "the \\ at the end escapes nothing");
    else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
        if (c != 'n' && c != 'r' && c != 't')
            reader_wrong(
                reader,
                "\\ must be followed by n, r, t or a punctuation character; \\s is valid only inside []");
    return (unsigned char)(c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c);
}

/* ---- sets ---- */

static void set_add_blanks(struct byte_set *set) {
    for (const char *c = " \t\r\n"; *c; c++)
        byte_set_add(set, (unsigned char)*c);
}

/* One character, or a range of them. */
static void set_read_range(struct reader *reader, struct byte_set *set) {
    unsigned char low = (unsigned char)reader->text.at[reader->at++];
    if (low == '\\' && reader_takes(reader, 's')) {
        set_add_blanks(set);
        return;
    }
    low = low == '\\' ? escape_read(reader) : low;
    unsigned high = low;
    bool is_range = reader_peek(reader) == '-' && reader->at + 1 < reader->text.len &&
                    reader->text.at[reader->at + 1] != ']';
    if (is_range) {
        reader->at++;
        high = (unsigned char)reader->text.at[reader->at++];
        high = high == '\\' ? escape_read(reader) : high;
        if (high < low)
            reader_wrong(reader, "the range is backwards");
    }
    for (unsigned c = low; c <= high; c++)
        byte_set_add(set, (unsigned char)c);
}

static struct byte_set set_read(struct reader *reader) {
    struct byte_set set = {{0}};
    bool opposite = reader_takes(reader, '^');
    if (reader_peek(reader) == ']')
        reader_wrong(reader, "the set is empty; write \\] for the character");
    while (reader_peek(reader) >= 0 && reader_peek(reader) != ']')
        set_read_range(reader, &set);
    if (!reader_takes(reader, ']'))
        reader_wrong(reader, "the [ is never closed");
    for (int i = 0; opposite && i < 4; i++)
        set.bits[i] = ~set.bits[i];
    return set;
}

/* ---- counts ---- */

static uint32_t number_read(struct reader *reader) {
    uint32_t number = 0;
    size_t from = reader->at;
    for (int c; (c = reader_peek(reader)) >= '0' && c <= '9'; reader->at++)
        number = number > LIMIT_SECRET_COUNT ? number : number * 10 + (uint32_t)(c - '0');
    if (reader->at == from)
        reader_wrong(reader, "a number is expected here");
    if (number > LIMIT_SECRET_COUNT)
        reader_wrong(reader, "the number is above 4096");
    return number;
}

static void behind_read(struct reader *reader, struct piece *piece) {
    piece->kind = PIECE_BEHIND;
    piece->max = ENDLESS;
    piece->min = reader_peek(reader) == '}' ? 1 : number_read(reader);
    if (reader->pieces != 1)
        reader_wrong(reader, "{<} is valid only in the first piece");
}

static void count_read(struct reader *reader, struct piece *piece) {
    if (reader_takes(reader, '?')) {
        piece->min = 0;
        return;
    }
    if (!reader_takes(reader, '{'))
        return;
    if (reader_takes(reader, '<')) {
        behind_read(reader, piece);
    } else {
        piece->min = piece->max = number_read(reader);
        if (reader_takes(reader, ','))
            piece->max = reader_peek(reader) == '}' ? ENDLESS : number_read(reader);
        if (piece->max < piece->min || piece->max == 0)
            reader_wrong(reader, "the count is backwards or 0");
    }
    if (!reader_takes(reader, '}'))
        reader_wrong(reader, "the { is never closed");
}

/* ---- pieces ---- */

static void set_piece_read(struct reader *reader) {
    reader->at++;
    struct piece *piece = piece_add(reader, PIECE_SET);
    piece->set = set_read(reader);
    count_read(reader, piece);
}

/* Reads the contents of ( ) without interpreting them. */
static struct str group_read(struct reader *reader) {
    reader->at++;
    size_t from = reader->at;
    for (int c; (c = reader_peek(reader)) >= 0 && c != ')'; reader->at++)
        if (c == '\\' || c == '[' || c == '(' || c == '{')
            reader_wrong(reader, "( ) may contain only plain text");
    struct str group = {reader->text.at + from, reader->at - from};
    if (!reader_takes(reader, ')'))
        reader_wrong(reader, "the ( is never closed");
    return group;
}

/* Finds the ends of the texts that are separated by |. */
static void choice_divide(struct reader *reader, struct piece *piece) {
    size_t from = 0;
    for (size_t at = 0; at <= piece->text.len; at++) {
        if (at < piece->text.len && piece->text.at[at] != '|')
            continue;
        if (piece->choices == LIMIT_SECRET_CHOICES || at - from > UINT8_MAX) {
            reader_wrong(reader, "( ) may contain at most 32 alternatives of 255 bytes");
            return;
        }
        piece->choice[piece->choices++] = (uint8_t)(at - from);
        from = at + 1;
    }
}

static void choice_read(struct reader *reader) {
    struct piece *piece = piece_add(reader, PIECE_CHOICE);
    piece->text = group_read(reader);
    choice_divide(reader, piece);
    if (reader_takes(reader, '?'))
        piece->min = 0;
    if (reader_peek(reader) == '{')
        reader_wrong(reader, "( ) cannot have a count; only ? may follow it");
}

static void until_read(struct reader *reader) {
    reader->at++;
    struct piece *piece = piece_add(reader, PIECE_UNTIL);
    if (reader_peek(reader) != '(')
        reader_wrong(reader, "* is valid only before ( ); write \\* for the character");
    else
        piece->text = group_read(reader);
    if (piece->text.len == 0)
        reader_wrong(reader, "*( ) needs a text that ends it");
}

static bool is_counted_next(const struct reader *reader) {
    int c = reader_peek(reader);
    return c == '?' || c == '{';
}

/* Consecutive characters become one text; a counted character becomes a set. */
static void literal_read(struct reader *reader) {
    size_t from = reader->at;
    unsigned char c = (unsigned char)reader->text.at[reader->at++];
    bool is_escaped = c == '\\';
    if (is_escaped)
        c = escape_read(reader);
    struct piece *last = reader->pieces ? &reader->piece[reader->pieces - 1] : NULL;
    if (is_escaped || is_counted_next(reader)) {
        struct piece *piece = piece_add(reader, PIECE_SET);
        byte_set_add(&piece->set, c);
        bool is_letter = (c | 32) >= 'a' && (c | 32) <= 'z';
        if (reader->either_case && is_letter)
            byte_set_add(&piece->set, c ^ 32);
        count_read(reader, piece);
    } else if (last && last->kind == PIECE_TEXT) {
        last->text.len++;
    } else {
        piece_add(reader, PIECE_TEXT)->text = (struct str){reader->text.at + from, 1};
    }
}

static void piece_read(struct reader *reader) {
    switch (reader_peek(reader)) {
    case '[': set_piece_read(reader); break;
    case '(': choice_read(reader); break;
    case '*': until_read(reader); break;
    case '<': reader->at++, piece_add(reader, PIECE_OPEN); break;
    case '>': reader->at++, piece_add(reader, PIECE_CLOSE); break;
    case '|': reader->at++, piece_add(reader, PIECE_EDGE); break;
    case '?':
    case '{': reader_wrong(reader, "this count has nothing before it"); break;
    case ')':
    case ']':
    case '}': reader_wrong(reader, "no bracket is open here; write \\ before the character"); break;
    default: literal_read(reader);
    }
}

/* ---- the whole pattern ---- */

static const char *marks_broken(const struct reader *reader) {
    uint32_t opened = 0, closed = 0;
    bool behind = reader->piece[0].kind == PIECE_BEHIND;
    for (uint32_t i = 0; i < reader->pieces; i++) {
        enum piece_kind kind = reader->piece[i].kind;
        opened += kind == PIECE_OPEN;
        closed += kind == PIECE_CLOSE;
        if (closed > opened || opened > 1)
            return "the pattern must mark the secret with one < and one > after it";
        if (kind == PIECE_EDGE && i != 0 && i + 1 != reader->pieces)
            return "| is valid only at the beginning, at the end, or inside ( )";
    }
    if (opened != closed)
        return "the < is never closed";
    return behind && opened ? "{<} already marks where the secret begins; remove the <" : NULL;
}

static const char *runs_number(struct reader *reader, uint32_t *runs) {
    uint32_t next = *runs;
    for (uint32_t i = 0; i < reader->pieces; i++) {
        struct piece *piece = &reader->piece[i];
        bool is_long =
            piece->kind == PIECE_UNTIL || (piece->kind == PIECE_SET && piece->max > SHORT_RUN);
        if (is_long)
            piece->run = ++next;
    }
    if (next - *runs > LIMIT_SECRET_LONG_RUNS)
        return "the pattern has more than 4 long repetitions; give them a count of at most 64";
    must(next <= LIMIT_SECRET_RUNS);
    *runs = next;
    return NULL;
}

static const char *whole_broken(struct reader *reader, uint32_t *runs) {
    if (reader->pieces == 0)
        return "the pattern is empty";
    const char *wrong = marks_broken(reader);
    if (wrong)
        return wrong;
    struct secret_pattern pattern = {reader->piece, reader->pieces};
    if (!pattern_starts(&pattern, NULL, NULL))
        return "the pattern must begin with four literal characters or small sets";
    return runs_number(reader, runs);
}

const char *pattern_parse(struct str text, struct arena *arena, uint32_t *runs,
                          struct secret_pattern *ret, uint32_t *ret_column) {
    struct reader reader = {.text = text};
    reader.either_case = reader_takes(&reader, '~');
    if (text.len > LIMIT_SECRET_PATTERN)
        reader_wrong(&reader, "the pattern is longer than 512 bytes");
    while (!reader.wrong && reader.at < text.len)
        piece_read(&reader);
    if (!reader.wrong)
        reader.wrong = whole_broken(&reader, runs);
    if (reader.wrong) {
        *ret_column = (uint32_t)(reader.at < text.len ? reader.at + 1 : text.len);
        return reader.wrong;
    }
    if (arena) {
        struct piece *piece = arena_new(arena, struct piece, reader.pieces);
        memcpy(piece, reader.piece, sizeof *piece * reader.pieces);
        *ret = (struct secret_pattern){piece, reader.pieces};
    }
    return NULL;
}
