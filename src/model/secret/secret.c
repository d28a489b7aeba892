/* SPDX-License-Identifier: Apache-2.0 */
/* Finds secrets in a text and redacts them.
 *
 * Every pattern begins with four bytes that are nearly fixed. A filter over the first three passes over ordinary text
 * at a few instructions per byte. The rest goes through a filter over all four; patterns are tried only where that
 * filter says "perhaps". */
#include "model/secret/secret.h"

#include "model/secret/secret_shapes.h"

enum { COARSE_BITS = 17, FINE_BITS = 18, BUCKET_BITS = 12, SHAPE_WORDS = LIMIT_SECRET_SHAPES / 64 };

struct rule {
    struct secret_pattern pattern;
    enum secret_check check;
    struct str name;
};

struct secret_rules {
    uint32_t count;
    uint32_t runs;
    struct rule rule[LIMIT_SECRET_SHAPES];          /* the first match counts */
    uint64_t coarse[(1 << COARSE_BITS) / 64];       /* can these three bytes begin a match? */
    uint64_t fine[(1 << FINE_BITS) / 64];           /* can these four? */
    uint64_t bucket[1 << BUCKET_BITS][SHAPE_WORDS]; /* and of which rules? */
};

/* ---- the filters ---- */

static uint32_t four_of(const unsigned char *at) {
    uint32_t four;
    memcpy(&four, at, sizeof four);
    return four;
}

/* Three of the four bytes: which ones depends on the machine, as long as it is always the same. */
static uint32_t three_of(const unsigned char *at) {
    return four_of(at) & 0xFFFFFF;
}

static uint32_t hash_of(uint32_t bytes, uint32_t bits) {
    return (bytes * 0x9E3779B1u) >> (32 - bits);
}

/* A different hash from the filters', so that a false positive there finds nothing here. */
static uint32_t bucket_of(uint32_t three) {
    return (three * 0x85EBCA6Bu) >> (32 - BUCKET_BITS);
}

static bool bit_has(const uint64_t *bits, uint32_t at) {
    return bits[at / 64] >> (at % 64) & 1;
}

static void bit_add(uint64_t *bits, uint32_t at) {
    bits[at / 64] |= (uint64_t)1 << (at % 64);
}

static void filter_add(struct secret_rules *rules, const unsigned char *start) {
    bit_add(rules->coarse, hash_of(three_of(start), COARSE_BITS));
    bit_add(rules->fine, hash_of(four_of(start), FINE_BITS));
}

struct marking {
    struct secret_rules *rules;
    uint32_t rule;
};

static void start_mark(void *to, const unsigned char start[SECRET_START]) {
    struct marking *marking = to;
    filter_add(marking->rules, start);
    bit_add(marking->rules->bucket[bucket_of(three_of(start))], marking->rule);
}

/* ---- the rules ---- */

static void rule_add(struct secret_rules *rules, struct str name, struct str pattern,
                     enum secret_check check, struct arena *arena) {
    must(rules->count < LIMIT_SECRET_SHAPES && name.len <= LIMIT_SECRET_NAME);
    struct rule *rule = &rules->rule[rules->count];
    *rule = (struct rule){.name = name, .check = check};
    uint32_t column;
    must(pattern_parse(pattern, arena, &rules->runs, &rule->pattern, &column) == NULL);
    struct marking marking = {rules, rules->count++};
    must(pattern_starts(&rule->pattern, start_mark, &marking));
}

const struct secret_rules *secret_rules_new(const struct str *custom, uint32_t custom_count,
                                            struct arena *arena) {
    must(custom_count <= LIMIT_SECRET_CUSTOM);
    struct secret_rules *rules = arena_new(arena, struct secret_rules, 1);
    filter_add(rules, (const unsigned char *)SECRET_MARK);
    for (uint32_t i = 0; i < custom_count; i++)
        rule_add(rules, arena_format(arena, "custom-%u", i + 1), arena_copy(arena, custom[i]),
                 CHECK_NONE, arena);
    for (uint32_t i = 0; i < SECRET_SHAPE_COUNT; i++) {
        const struct secret_shape *shape = &SECRET_SHAPES[i];
        rule_add(rules, str_of(shape->name), str_of(shape->pattern), shape->check, arena);
    }
    return rules;
}

const char *secret_pattern_broken(struct str pattern, uint32_t *ret_column) {
    uint32_t runs = 0;
    return pattern_parse(pattern, NULL, &runs, NULL, ret_column);
}

/* ---- finding ---- */

struct find {
    struct span secret;
    struct str name;
};

static bool rule_finds(const struct rule *rule, struct search *search, size_t at,
                       struct find *ret) {
    struct span secret;
    if (!pattern_match(&rule->pattern, search, at, &secret) ||
        !secret_check_passes(rule->check, search->text, &secret))
        return false;
    *ret = (struct find){secret, rule->name};
    return true;
}

static bool any_finds(const struct secret_rules *rules, struct search *search, size_t at,
                      struct find *ret) {
    const unsigned char *start = (const unsigned char *)search->text.at + at;
    const uint64_t *words = rules->bucket[bucket_of(three_of(start))];
    for (uint32_t word = 0; word < SHAPE_WORDS; word++)
        for (uint64_t left = words[word]; left; left &= left - 1) {
            uint32_t index = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (rule_finds(&rules->rule[index], search, at, ret))
                return true;
        }
    return false;
}

/* The next position where a match may begin; the end of the text if there is none. */
static size_t filter_next(const struct secret_rules *rules, struct str text, size_t at) {
    const unsigned char *bytes = (const unsigned char *)text.at;
    for (; at + SECRET_START <= text.len; at++)
        if (bit_has(rules->coarse, hash_of(three_of(bytes + at), COARSE_BITS)) &&
            bit_has(rules->fine, hash_of(four_of(bytes + at), FINE_BITS)))
            return at;
    return text.len;
}

/* Finds the first secret that begins at the floor of the search or later. The floor moves to its end. */
static bool find_next(const struct secret_rules *rules, struct search *search, struct find *ret) {
    struct str text = search->text;
    size_t at = filter_next(rules, text, search->floor);
    while (at < text.len) {
        size_t mark = secret_mark_at(text, at);
        if (mark) {
            search->floor = at + mark;
            at += mark - 1;
        } else if (any_finds(rules, search, at, ret)) {
            search->floor = ret->secret.to;
            return true;
        }
        at = filter_next(rules, text, at + 1);
    }
    return false;
}

bool secret_find(const struct secret_rules *rules, struct str text) {
    struct search search;
    search.text = text, search.floor = 0, search.warm = false;
    struct find find;
    return find_next(rules, &search, &find);
}

/* ---- redacting ---- */

static size_t piece_put(char *out, size_t at, struct str s) {
    if (out && s.len > 0)
        memcpy(out + at, s.at, s.len);
    return at + s.len;
}

/* Writes the redacted text, or only measures it if out is NULL. */
static size_t redact_into(const struct secret_rules *rules, struct str text, char *out,
                          uint32_t *ret_finds) {
    struct search search;
    search.text = text, search.floor = 0, search.warm = false;
    struct find find;
    size_t from = 0, len = 0;
    for (*ret_finds = 0; find_next(rules, &search, &find); ++*ret_finds) {
        len = piece_put(out, len, (struct str){text.at + from, find.secret.from - from});
        len = piece_put(out, len, STR(SECRET_MARK));
        len = piece_put(out, len, find.name);
        len = piece_put(out, len, STR("]"));
        from = find.secret.to;
    }
    return piece_put(out, len, (struct str){text.at + from, text.len - from});
}

/* A check may judge a value differently once a secret after it is gone. So the result is searched again until nothing
 * is found. */
struct str secret_redact(const struct secret_rules *rules, struct str text, struct arena *arena) {
    if (text.len == 0)
        return text;
    for (uint32_t pass = 0; pass < LIMIT_SECRET_PASSES; pass++) {
        uint32_t finds;
        size_t len = redact_into(rules, text, NULL, &finds);
        if (finds == 0)
            break;
        char *out = arena_new(arena, char, len);
        redact_into(rules, text, out, &finds);
        text = (struct str){out, len};
    }
    return text;
}
