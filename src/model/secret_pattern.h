/* SPDX-License-Identifier: Apache-2.0 */
/* How is the shape of a secret written down?
 *
 *   abc          these characters; \n \r \t, and \ before a sign takes its meaning away
 *   ~            at the very beginning: letters outside of [] match in either case
 *   [a-z_] [^x]  one character of a set, or of its opposite; \s in it is any blank
 *   {4} {4,} {4,64} ?    how often the character or set before it; as often as possible
 *   (ab|cd|)     the longest of these texts that is there; ( )? may be missing
 *   *(END)       everything up to and with END, or up to the end of the text
 *   [a-z]{<8}    at the very beginning: what stands before the rest belongs to it, 8 at least
 *   |            at the beginning or the end: no letter, digit or _ stands beyond
 *   <...>        the secret; without it, all that matched
 *
 * Nothing is ever taken back: each piece takes what it can and the next one begins there. So a match
 * takes one pass over the pieces. Where long runs begin and end is remembered, which keeps the whole
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
    PIECE_CHOICE, /* one of text, divided by |; min 0: or nothing */
    PIECE_UNTIL,  /* everything up to and with text */
    PIECE_BEHIND, /* at least min bytes of set before the match */
    PIECE_EDGE,   /* no letter, digit or _ on the other side */
    PIECE_OPEN,   /* the secret begins */
    PIECE_CLOSE,  /* the secret ends */
};

struct piece {
    enum piece_kind kind;
    bool either_case;
    uint32_t min, max;
    uint32_t run; /* 1 + where the last run of this piece is remembered, or 0 */
    struct str text;
    union {
        struct byte_set set;
        uint8_t choice[LIMIT_SECRET_CHOICES]; /* the lengths of the texts, and their number: */
    };
    uint32_t choices;
};

struct secret_pattern {
    const struct piece *piece;
    uint32_t pieces;
};

/* A text that is being searched. */
struct search {
    struct str text;
    size_t floor; /* nothing before this belongs to a match: an earlier secret or mark ends here */
    bool warm;    /* run[] has been cleared */
    struct run {
        size_t from, to;
    } run[LIMIT_SECRET_RUNS];
};

struct span {
    size_t from, to;
};

/* NULL, or what is wrong with the text; then *ret_column is where. The pieces live in the arena and
 * point into the text; without an arena, the text is only looked at. Long runs are numbered on from
 * *runs. */
const char *pattern_parse(struct str text, struct arena *arena, uint32_t *runs,
                          struct secret_pattern *ret, uint32_t *ret_column);

/* Does the pattern match here? Then *ret is its secret, which is never empty. */
bool pattern_match(const struct secret_pattern *pattern, struct search *search, size_t at,
                   struct span *ret);

enum { SECRET_START = 4 };

/* Which four bytes may a match begin with? Hands each to mark; false when there are more than
 * LIMIT_SECRET_STARTS, or when a match could be shorter. */
bool pattern_starts(const struct secret_pattern *pattern,
                    void (*mark)(void *to, const unsigned char start[SECRET_START]), void *to);

/* Length of the mark [redacted:...] that begins here, or 0. */
size_t secret_mark_at(struct str text, size_t at);
