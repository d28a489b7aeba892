/* SPDX-License-Identifier: Apache-2.0 */
/* Matches a pattern at a position, and finds the bytes that it can begin with. secret_parse.c parses the pattern. */
#include "model/secret/secret_pattern.h"

#include "model/secret/secret.h"

#define NOWHERE SIZE_MAX

static bool byte_is_word(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static unsigned char byte_lower(unsigned char c) {
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
}

static unsigned char byte_at(struct str text, size_t at) {
    return (unsigned char)text.at[at];
}

size_t secret_mark_at(struct str text, size_t at) {
    const size_t head = sizeof SECRET_MARK - 1;
    if (text.len - at < head + 2 || memcmp(text.at + at, SECRET_MARK, head) != 0)
        return 0;
    for (size_t n = head; n <= head + LIMIT_SECRET_NAME && at + n < text.len; n++) {
        unsigned char c = byte_at(text, at + n);
        if (c == ']')
            return n > head ? n + 1 : 0;
        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-')
            return 0;
    }
    return 0;
}

/* A mark ends every piece, so that redacted parts stay unchanged. */
static bool is_barrier(struct str text, size_t at) {
    return text.at[at] == '[' && secret_mark_at(text, at) > 0;
}

/* ---- one piece ---- */

static size_t text_after(struct str wanted, bool either_case, struct str text, size_t at) {
    if (text.len - at < wanted.len)
        return NOWHERE;
    for (size_t i = 0; i < wanted.len; i++) {
        unsigned char have = byte_at(text, at + i), want = byte_at(wanted, i);
        if (have != want && !(either_case && byte_lower(have) == byte_lower(want)))
            return NOWHERE;
        if (is_barrier(text, at + i))
            return NOWHERE;
    }
    return at + wanted.len;
}

static size_t choice_after(const struct piece *piece, struct str text, size_t at) {
    size_t longest = piece->min == 0 ? at : NOWHERE;
    const char *one = piece->text.at;
    for (uint32_t i = 0; i < piece->choices; one += piece->choice[i++] + 1) {
        struct str wanted = {one, piece->choice[i]};
        size_t end = text_after(wanted, piece->either_case, text, at);
        if (end != NOWHERE && (longest == NOWHERE || end > longest))
            longest = end;
    }
    return longest;
}

static size_t run_end(const struct piece *piece, struct str text, size_t at, size_t stop) {
    while (at < stop && byte_set_has(&piece->set, byte_at(text, at)) && !is_barrier(text, at))
        at++;
    return at;
}

/* Where the text of an "until" begins, from here on; otherwise the end of the text or the next mark. */
static size_t until_end(const struct piece *piece, struct str text, size_t at) {
    for (; at < text.len; at++)
        if (is_barrier(text, at) ||
            text_after(piece->text, piece->either_case, text, at) != NOWHERE)
            return at;
    return at;
}

/* The end of a long run: the same for every position within it, so it is searched once. */
static size_t long_end(const struct piece *piece, struct search *search, size_t at) {
    if (!search->warm) {
        memset(search->run, 0, sizeof search->run);
        search->warm = true;
    }
    struct run *run = &search->run[piece->run - 1];
    if (at < run->from || at >= run->to) {
        run->from = at;
        run->to = piece->kind == PIECE_UNTIL ? until_end(piece, search->text, at)
                                             : run_end(piece, search->text, at, search->text.len);
    }
    return run->to;
}

static size_t set_after(const struct piece *piece, struct search *search, size_t at) {
    size_t left = search->text.len - at, most = piece->max < left ? piece->max : left;
    size_t end =
        piece->run ? long_end(piece, search, at) : run_end(piece, search->text, at, at + most);
    if (end - at > most)
        end = at + most;
    return end - at < piece->min ? NOWHERE : end;
}

static size_t until_after(const struct piece *piece, struct search *search, size_t at) {
    size_t end = long_end(piece, search, at);
    size_t after = text_after(piece->text, piece->either_case, search->text, end);
    return after == NOWHERE ? end : after;
}

/* A mark is no edge for the text before it: otherwise each redacted secret could expose another one, and that one the
 * next. */
static size_t edge_after(const struct search *search, bool is_first, size_t at) {
    struct str text = search->text;
    bool inside = is_first
                      ? at > search->floor && byte_is_word(byte_at(text, at - 1))
                      : at < text.len && (byte_is_word(byte_at(text, at)) || is_barrier(text, at));
    return inside ? NOWHERE : at;
}

/* ---- all pieces ---- */

/* Where the piece ends if it begins here, or NOWHERE. */
static size_t piece_after(const struct piece *piece, struct search *search, bool is_first,
                          size_t at) {
    switch (piece->kind) {
    case PIECE_TEXT: return text_after(piece->text, piece->either_case, search->text, at);
    case PIECE_SET: return set_after(piece, search, at);
    case PIECE_CHOICE: return choice_after(piece, search->text, at);
    case PIECE_UNTIL: return until_after(piece, search, at);
    case PIECE_EDGE: return edge_after(search, is_first, at);
    case PIECE_BEHIND:
    case PIECE_OPEN:
    case PIECE_CLOSE: break;
    }
    return at;
}

/* Checked last: a match at this point ends the search here, so that nothing is counted twice. */
static bool behind_extends(const struct piece *piece, const struct search *search, size_t *from) {
    size_t begin = *from;
    while (begin > search->floor && byte_set_has(&piece->set, byte_at(search->text, begin - 1)))
        begin--;
    if (*from - begin < piece->min)
        return false;
    *from = begin;
    return true;
}

bool pattern_match(const struct secret_pattern *pattern, struct search *search, size_t at,
                   struct span *ret) {
    struct span secret = {at, NOWHERE};
    for (uint32_t i = 0; i < pattern->pieces; i++) {
        const struct piece *piece = &pattern->piece[i];
        at = piece_after(piece, search, i == 0, at);
        if (at == NOWHERE)
            return false;
        if (piece->kind == PIECE_OPEN)
            secret.from = at;
        if (piece->kind == PIECE_CLOSE)
            secret.to = at;
    }
    if (secret.to == NOWHERE)
        secret.to = at;
    const struct piece *first = &pattern->piece[0];
    if (first->kind == PIECE_BEHIND && !behind_extends(first, search, &secret.from))
        return false;
    *ret = secret;
    return secret.to > secret.from;
}

/* ---- starts ---- */

struct starts {
    const struct secret_pattern *pattern;
    void (*mark)(void *to, const unsigned char start[SECRET_START]);
    void *to;
    uint32_t count;
    bool too_short;
    unsigned char start[SECRET_START];
};

static void starts_piece(struct starts *starts, uint32_t index, uint32_t taken, uint32_t depth);

static bool starts_end(struct starts *starts, uint32_t depth) {
    if (depth == SECRET_START && starts->count++ < LIMIT_SECRET_STARTS && starts->mark)
        starts->mark(starts->to, starts->start);
    return depth == SECRET_START || starts->count > LIMIT_SECRET_STARTS;
}

static void starts_text(struct starts *starts, struct str text, uint32_t index, uint32_t depth) {
    if (starts_end(starts, depth))
        return;
    if (text.len == 0) {
        starts_piece(starts, index + 1, 0, depth);
        return;
    }
    unsigned char c = byte_at(text, 0), lower = byte_lower(c);
    struct str rest = {text.at + 1, text.len - 1};
    bool is_letter = lower >= 'a' && lower <= 'z';
    bool both = is_letter && starts->pattern->piece[index].either_case;
    starts->start[depth] = both ? lower : c;
    starts_text(starts, rest, index, depth + 1);
    if (both) {
        starts->start[depth] = (unsigned char)(lower - 32);
        starts_text(starts, rest, index, depth + 1);
    }
}

static void starts_set(struct starts *starts, uint32_t index, uint32_t taken, uint32_t depth) {
    const struct piece *piece = &starts->pattern->piece[index];
    if (taken >= piece->min)
        starts_piece(starts, index + 1, 0, depth);
    if (taken == piece->max)
        return;
    for (unsigned word = 0; word < 4; word++)
        for (uint64_t left = piece->set.bits[word]; left; left &= left - 1) {
            starts->start[depth] = (unsigned char)(word * 64 + (unsigned)__builtin_ctzll(left));
            starts_piece(starts, index, taken + 1, depth + 1);
        }
}

static void starts_choice(struct starts *starts, uint32_t index, uint32_t depth) {
    const struct piece *piece = &starts->pattern->piece[index];
    const char *one = piece->text.at;
    for (uint32_t i = 0; i < piece->choices; one += piece->choice[i++] + 1)
        starts_text(starts, (struct str){one, piece->choice[i]}, index, depth);
    if (piece->min == 0)
        starts_piece(starts, index + 1, 0, depth);
}

static void starts_piece(struct starts *starts, uint32_t index, uint32_t taken, uint32_t depth) {
    if (starts_end(starts, depth))
        return;
    if (index == starts->pattern->pieces) {
        starts->too_short = true;
        return;
    }
    const struct piece *piece = &starts->pattern->piece[index];
    switch (piece->kind) {
    case PIECE_TEXT: starts_text(starts, piece->text, index, depth); break;
    case PIECE_SET: starts_set(starts, index, taken, depth); break;
    case PIECE_CHOICE: starts_choice(starts, index, depth); break;
    case PIECE_UNTIL: starts->count = LIMIT_SECRET_STARTS + 1; break;
    case PIECE_BEHIND:
    case PIECE_EDGE:
    case PIECE_OPEN:
    case PIECE_CLOSE: starts_piece(starts, index + 1, 0, depth); break;
    }
}

bool pattern_starts(const struct secret_pattern *pattern,
                    void (*mark)(void *to, const unsigned char start[SECRET_START]), void *to) {
    struct starts starts = {.pattern = pattern, .mark = mark, .to = to};
    starts_piece(&starts, 0, 0, 0);
    return !starts.too_short && starts.count <= LIMIT_SECRET_STARTS;
}
