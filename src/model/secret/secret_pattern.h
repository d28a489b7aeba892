/* SPDX-License-Identifier: Apache-2.0 */
/* The language in which the shapes of secrets are written.
 *
 *   abc          these characters; \n \r \t, and \ before a sign makes it literal
 *   ~            at the very beginning: letters outside of [] match in either case
 *   [a-z_] [^x]  one character of a set, or of its complement; \s in it is any blank
 *   {4} {4,} {4,64} ?    repeats the character or set before it; as often as possible
 *   (ab|cd|)     the longest of these texts that is present; ( )? is optional
 *   *(END)       everything up to and including END, or up to the end of the text
 *   [a-z]{<8}    at the very beginning: the characters before the rest belong to it, 8 at least
 *   |            at the beginning or the end: no letter, digit or _ beyond it
 *   <...>        the secret; without it, everything that matched
 *
 * There is no backtracking: each piece takes what it can and the next one begins there. So a match
 * takes one pass over the pieces. The start and end of long runs are remembered, which keeps the whole
 * search linear in the text. */
#pragma once

#include "base/arena.h"
#include "model/limits.h"

struct byte_set {
    uint64_t bits[4];
};

static inline bool byte_set_has(const struct byte_set *set, unsigned char byte) {
    return set->bits[byte >> 6] >> (byte & 63) & 1;
}

static inline void byte_set_add(struct byte_set *set, unsigned char byte) {
    set->bits[byte >> 6] |= (uint64_t)1 << (byte & 63);
}

enum piece_kind {
    PIECE_TEXT,   /* text */
    PIECE_SET,    /* min to max bytes of set */
    PIECE_CHOICE, /* one of the texts, separated by |; min 0: or nothing */
    PIECE_UNTIL,  /* everything up to and including text */
    PIECE_BEHIND, /* at least min bytes of set before the match */
    PIECE_EDGE,   /* no letter, digit or _ on the other side */
    PIECE_OPEN,   /* the secret begins */
    PIECE_CLOSE,  /* the secret ends */
};

struct piece {
    enum piece_kind kind;
    bool either_case;
    uint32_t min, max;
    uint32_t run; /* 1 + where the last run of this piece is remembered; 0: it is not */
    struct str text;
    union {
        struct byte_set set;
        uint8_t choice[LIMIT_SECRET_CHOICES]; /* lengths of the texts, and their number: */
    };
    uint32_t choices;
};

struct secret_pattern {
    const struct piece *piece;
    uint32_t pieces;
};

/* A search over one text. */
struct search {
    struct str text;
    size_t floor; /* nothing before this can match: the end of an earlier secret or mark */
    bool warm;    /* run[] has been cleared */
    struct run {
        size_t from, to;
    } run[LIMIT_SECRET_RUNS];
};

struct span {
    size_t from, to;
};

/* NULL, or what is wrong with the text; then *ret_column is the position. The pieces live in the arena and point into
 * the text; without an arena, the text is only checked. Long runs are numbered from *runs on. */
const char *pattern_parse(struct str text, struct arena *arena, uint32_t *runs,
                          struct secret_pattern *ret, uint32_t *ret_column);

/* Does the pattern match here? If so, *ret is its secret, which is never empty. */
bool pattern_match(const struct secret_pattern *pattern, struct search *search, size_t at,
                   struct span *ret);

enum { SECRET_START = 4 };

/* Finds the four-byte starts of all possible matches and passes each to mark; false if there are more than
 * LIMIT_SECRET_STARTS, or if a match could be shorter. */
bool pattern_starts(const struct secret_pattern *pattern,
                    void (*mark)(void *to, const unsigned char start[SECRET_START]), void *to);

/* Length of the mark [redacted:...] that begins here, or 0. */
size_t secret_mark_at(struct str text, size_t at);
