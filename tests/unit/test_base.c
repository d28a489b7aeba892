/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that base does what its headers say: memory, text, ids, hashes, bytes, maps, due times, time. */
#include "unit.h"

#include <time.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/due.h"
#include "base/map.h"
#include "base/recent.h"
#include "base/time.h"

/* A malloc without enough memory returns NULL, under the address sanitizer too. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

/* ---- arena ---- */

struct take {
    struct arena *arena;
    size_t size, align;
    void *ret;
};

static void take_call(void *with) {
    struct take *take = with;
    take->ret = arena_take(take->arena, take->size, take->align);
}

static enum crash_guard_result take_guarded(struct take *take) {
    struct crash_guard_report report;
    return crash_guard_run(take_call, take, &report);
}

static bool is_filled(const unsigned char *at, size_t len, unsigned char with) {
    for (size_t i = 0; i < len; i++)
        if (at[i] != with)
            return false;
    return true;
}

static void test_recent_keeps_the_last_ones(void **state) {
    (void)state;
    static struct recent recent;
    for (uint32_t i = 1; i <= 3 * RECENT; i++)
        recent_add(&recent, (struct id){{(uint8_t)i, (uint8_t)(i >> 8), 1}});
    assert_true(recent_has(&recent, (struct id){{0, (uint8_t)(3 * RECENT >> 8), 1}}));
    assert_true(recent_has(&recent, (struct id){{1, (uint8_t)((2 * RECENT + 1) >> 8), 1}}));
    assert_false(recent_has(&recent, (struct id){{0, (uint8_t)(2 * RECENT >> 8), 1}}));
}

static void test_arena_memory_is_aligned_for_every_type(void **state) {
    (void)state;
    struct arena arena = {0};
    for (int round = 0; round < 3000; round++)
        for (size_t align = 1; align <= alignof(max_align_t); align *= 2) {
            arena_take(&arena, 1 + (size_t)round % 3, 1);
            uintptr_t at = (uintptr_t)arena_take(&arena, 5, align);
            check(at % align == 0, "alignment %zu", align);
        }
    arena_free(&arena);
}

/* An accepted alignment is honoured; refusing it as a broken invariant is equally correct. */
static void test_arena_honours_large_alignments_or_refuses(void **state) {
    (void)state;
    for (size_t align = 32; align <= 4096; align *= 2) {
        struct arena arena = {0};
        for (int i = 0; i < 8; i++) {
            struct take take = {&arena, 24, align, NULL};
            if (take_guarded(&take) == CRASH_GUARD_WHOLE)
                check((uintptr_t)take.ret % align == 0, "alignment %zu, at %p", align, take.ret);
        }
        arena_free(&arena);
    }
}

enum { BLOCKS = 2000 };

struct block {
    unsigned char *at;
    size_t len;
};

static void blocks_take(struct arena *arena, struct block *blocks, struct chance *chance) {
    for (int i = 0; i < BLOCKS; i++) {
        size_t len =
            chance_in(chance, 50) ? chance_below(chance, 90000) : chance_below(chance, 300);
        blocks[i] = (struct block){arena_take(arena, len, 1u << chance_below(chance, 5)), len};
        check(is_filled(blocks[i].at, len, 0), "block %d of %zu bytes is not zeroed", i, len);
        memset(blocks[i].at, i % 255 + 1, len);
    }
}

static void test_arena_grows_and_no_two_blocks_overlap(void **state) {
    (void)state;
    static struct block blocks[BLOCKS];
    struct chance chance = {11};
    struct arena arena = {0};
    for (int round = 0; round < 3; round++) {
        blocks_take(&arena, blocks, &chance);
        for (int i = 0; i < BLOCKS; i++)
            check(is_filled(blocks[i].at, blocks[i].len, (unsigned char)(i % 255 + 1)),
                  "round %d, block %d was overwritten", round, i);
        arena_reset(&arena);
    }
    arena_free(&arena);
    assert_null(arena.chunk);
}

static void test_arena_reset_keeps_the_largest_chunk(void **state) {
    (void)state;
    struct arena arena = {0};
    arena_reset(&arena);
    assert_null(arena.chunk);
    for (int i = 0; i < 100; i++)
        memset(arena_take(&arena, 10000, 8), 0xFF, 10000);
    struct arena_chunk *kept = arena.chunk;
    arena_reset(&arena);
    assert_ptr_equal(arena.chunk, kept);
    unsigned char *first = arena_take(&arena, 400000, 8);
    assert_ptr_equal(arena.chunk, kept); /* a warm arena does not call malloc */
    assert_true(is_filled(first, 400000, 0));
    arena_reset(&arena);
    assert_ptr_equal(arena_take(&arena, 8, 8), first);
    arena_free(&arena);
}

static void test_arena_says_when_there_is_no_memory(void **state) {
    (void)state;
    struct arena arena = {0};
    char *before = memset(arena_take(&arena, 100, 1), 7, 100);
    struct take huge = {&arena, SIZE_MAX / 8, 1, NULL};
    assert_int_equal(take_guarded(&huge), CRASH_GUARD_MEMORY);
    struct take absurd = {&arena, SIZE_MAX / 2, 1, NULL};
    assert_int_equal(take_guarded(&absurd), CRASH_GUARD_BROKEN);
    struct take odd = {&arena, 1, 3, NULL};
    assert_int_equal(take_guarded(&odd), CRASH_GUARD_BROKEN);
    struct take none = {&arena, 1, 0, NULL};
    assert_int_equal(take_guarded(&none), CRASH_GUARD_BROKEN);
    char *after = arena_take(&arena, 1, 1);
    assert_ptr_equal(after, before + 100);
    assert_true(is_filled((unsigned char *)before, 100, 7));
    arena_free(&arena);
}

static void test_arena_copies_texts(void **state) {
    (void)state;
    struct arena arena = {0};
    char source[] = "abcdef";
    struct str copy = arena_copy(&arena, (struct str){source, 3});
    char *text = arena_cstr(&arena, (struct str){source + 3, 2});
    memset(source, 'x', sizeof source);
    assert_true(str_equal(copy, STR("abc")));
    assert_string_equal(text, "de");
    assert_string_equal(arena_cstr(&arena, (struct str){0}), "");
    struct str shown = arena_format(&arena, "%d-%s-%0*d", 7, "seven", 50000, 7);
    assert_int_equal(shown.len, 8 + 50000);
    assert_memory_equal(shown.at, "7-seven-000", 11);
    assert_string_equal(shown.at + shown.len - 3, "007");
    arena_free(&arena);
}

/* ---- counted strings ---- */

static void test_strings_are_counted(void **state) {
    (void)state;
    assert_int_equal(STR("a\0b").len, 3);
    assert_int_equal(str_of(NULL).len, 0);
    assert_int_equal(str_of("four").len, 4);
    assert_true(str_equal((struct str){0}, STR("")));
    assert_true(str_equal(STR("a\0b"), STR("a\0b")));
    assert_false(str_equal(STR("a\0b"), STR("a\0c")));
    assert_false(str_equal(STR("ab"), STR("abc")));
    assert_true(str_equal(str_cut(STR("abc"), 2), STR("ab")));
    assert_true(str_equal(str_cut(STR("abc"), 3), STR("abc")));
    assert_true(str_equal(str_cut(STR("abc"), 9), STR("abc")));
}

static const struct text_case {
    const char *hex;
    bool is_text;
    const char *why;
} TEXTS[] = {
    {"", true, "empty"},
    {"61", true, "one letter"},
    {"09", true, "a control character"},
    {"7f", true, "DEL"},
    {"00", false, "NUL"},
    {"610062", false, "NUL inside"},
    {"c280", true, "the first of two bytes"},
    {"dfbf", true, "the last of two bytes"},
    {"c080", false, "overlong NUL"},
    {"c1bf", false, "overlong of two bytes"},
    {"e0a080", true, "the first of three bytes"},
    {"e09fbf", false, "overlong of three bytes"},
    {"e08080", false, "overlong NUL of three bytes"},
    {"ed9fbf", true, "right before the surrogates"},
    {"eda080", false, "the first surrogate"},
    {"edbfbf", false, "the last surrogate"},
    {"eda0bdedb880", false, "a pair of surrogates"},
    {"ee8080", true, "right after the surrogates"},
    {"efbfbf", true, "U+FFFF"},
    {"f0908080", true, "the first of four bytes"},
    {"f08fbfbf", false, "overlong of four bytes"},
    {"f48fbfbf", true, "U+10FFFF"},
    {"f4908080", false, "U+110000"},
    {"f5808080", false, "past the last lead byte"},
    {"f888808080", false, "five bytes"},
    {"fe", false, "FE"},
    {"ff", false, "FF"},
    {"80", false, "a continuation alone"},
    {"61bf", false, "a continuation after a letter"},
    {"c2", false, "one of two"},
    {"e282", false, "two of three"},
    {"e2", false, "one of three"},
    {"f09f92", false, "three of four"},
    {"f09f", false, "two of four"},
    {"f0", false, "one of four"},
    {"c261", false, "a letter instead of a continuation"},
    {"e28261", false, "a letter instead of the third"},
    {"f09f9261", false, "a letter instead of the fourth"},
    {"e282ac61e2", false, "good, then cut"},
    {"e282acf09f92a961", true, "three, four and one"},
};

static void test_text_is_well_formed_utf8_without_nul(void **state) {
    (void)state;
    for (size_t i = 0; i < count_of(TEXTS); i++) {
        struct str bytes = hex_bytes(TEXTS[i].hex);
        check(str_is_text(bytes) == TEXTS[i].is_text, "%s", TEXTS[i].why);
        bytes_free(bytes);
    }
    assert_true(str_is_text((struct str){0}));
}

/* Independent check for exactly one UTF-8 character: assembles its bits, then checks their range. */
static bool is_one_character(const unsigned char *s, size_t len) {
    static const uint32_t LEAST[] = {0, 1, 0x80, 0x800, 0x10000};
    static const unsigned LEAD[] = {0, 0x00, 0xC0, 0xE0, 0xF0},
                          MASK[] = {0, 0x80, 0xE0, 0xF0, 0xF8};
    if (len > 4 || (s[0] & MASK[len]) != LEAD[len])
        return false;
    uint32_t code = s[0] & ~MASK[len] & 0xFF;
    for (size_t i = 1; i < len; i++) {
        if (s[i] < 0x80 || s[i] > 0xBF)
            return false;
        code = code << 6 | (s[i] & 0x3Fu);
    }
    return code >= LEAST[len] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

static bool agrees(const unsigned char *s, size_t len) {
    return str_is_text((struct str){(const char *)s, len}) == is_one_character(s, len);
}

static void test_text_agrees_with_another_way_to_tell(void **state) {
    (void)state;
    static const unsigned char EDGE[] = {0x00, 0x61, 0x7F, 0x80, 0x8F, 0x90, 0xBF, 0xC0, 0xFF};
    for (unsigned a = 0xE0; a <= 0xEF; a++)
        for (unsigned b = 0; b < 0x10000; b++) {
            unsigned char s[] = {(unsigned char)a, (unsigned char)(b >> 8), (unsigned char)b};
            check(agrees(s, 3), "%02x%04x", a, b);
        }
    for (unsigned a = 0x80; a <= 0xFF; a++)
        for (unsigned b = 0; b <= 0xFF; b++) {
            unsigned char s[] = {(unsigned char)a, (unsigned char)b, 0, 0};
            check(agrees(s, 2), "%02x%02x", a, b);
            for (size_t i = 0; i < count_of(EDGE) * count_of(EDGE); i++) {
                s[2] = EDGE[i / count_of(EDGE)];
                s[3] = EDGE[i % count_of(EDGE)];
                check(a < 0xF0 || agrees(s, 4), "%02x%02x%02x%02x", a, b, s[2], s[3]);
            }
        }
}

static void test_text_is_cut_before_a_character(void **state) {
    (void)state;
    static const char WHOLE[] = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x92\xA9z";
    static const size_t CUT[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11, 11};
    struct str whole = STR(WHOLE);
    for (size_t cap = 0; cap < count_of(CUT); cap++) {
        struct str cut = str_cut_utf8(whole, cap);
        assert_ptr_equal(cut.at, whole.at);
        check(cut.len == CUT[cap], "cap %zu gave %zu", cap, cut.len);
    }
    assert_int_equal(str_cut_utf8(STR("\x80\x80\x80"), 2).len, 0);
    assert_int_equal(str_cut_utf8((struct str){0}, 0).len, 0);
}

/* ---- ids ---- */

static struct id id_chance(struct chance *chance) {
    struct id id;
    chance_fill(chance, &id, sizeof id);
    return id;
}

static void test_ids_are_written_as_ulids(void **state) {
    (void)state;
    char text[ID_TEXT + 1];
    struct id zero = {{0}}, all;
    memset(&all, 0xFF, sizeof all);
    id_format(zero, text);
    assert_string_equal(text, "00000000000000000000000000");
    id_format(all, text);
    assert_string_equal(text, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    id_format(id_make(1469918176385, (const uint8_t[10]){0}), text);
    assert_string_equal(text, "01ARYZ6S410000000000000000");
    struct chance chance = {3};
    for (int i = 0; i < 20000; i++) {
        struct id id = id_chance(&chance), back = all;
        id_format(id, text);
        assert_int_equal(strlen(text), ID_TEXT);
        assert_true(id_parse(str_of(text), &back));
        assert_true(id_equal(id, back));
        for (char *c = text; *c; c++)
            *c = (char)(*c >= 'A' ? *c + 32 : *c);
        assert_true(id_parse(str_of(text), &back));
        assert_true(id_equal(id, back));
    }
}

static void test_ids_refuse_what_is_no_ulid(void **state) {
    (void)state;
    static const struct str NO[] = {
        {"", 0},
        STR("0123456789ABCDEFGHJKMNPQR"),
        STR("0123456789ABCDEFGHJKMNPQRST"),
        STR("8ZZZZZZZZZZZZZZZZZZZZZZZZZ"),
        STR("Z0000000000000000000000000"),
        STR("z0000000000000000000000000"),
        STR("0000000000000000000000000I"),
        STR("0000000000000000000000000L"),
        STR("0000000000000000000000000O"),
        STR("0000000000000000000000000U"),
        STR("0000000000000000000000000u"),
        STR("0000000000000000000000000{"),
        STR("000000000000 0000000000000"),
        STR("-0000000000000000000000000"),
        STR("000000000000\0000000000000000"),
        STR("\xC3\xA4 00000000000000000000000"),
        STR("000000000000000000000000\xC3\xA4"),
    };
    for (size_t i = 0; i < count_of(NO); i++) {
        struct id id, before;
        memset(&before, 0x5A, sizeof before);
        id = before;
        check(!id_parse(NO[i], &id), "%.*s", STR_ARG(NO[i]));
        check(id_equal(id, before), "%.*s was refused and written", STR_ARG(NO[i]));
    }
    struct id id;
    assert_true(id_parse(STR("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"), &id));
}

static void test_ids_are_in_the_order_of_time(void **state) {
    (void)state;
    struct chance chance = {5};
    for (int i = 0; i < 20000; i++) {
        uint8_t high[10], low[10];
        chance_fill(&chance, low, sizeof low);
        chance_fill(&chance, high, sizeof high);
        int64_t at = (int64_t)(chance_next(&chance) >> 17);
        struct id early = id_make(at, high);
        struct id late = id_make(at + 1 + chance_below(&chance, 1000), low);
        char early_text[ID_TEXT + 1], late_text[ID_TEXT + 1];
        id_format(early, early_text);
        id_format(late, late_text);
        assert_true(id_compare(early, late) < 0);
        assert_true(id_compare(late, early) > 0);
        assert_true(strcmp(early_text, late_text) < 0);
        assert_memory_equal(early.bytes + 6, high, sizeof high);
    }
}

static void test_ids_derive_from_keys_for_ever(void **state) {
    (void)state;
    struct id id = id_derive(STR("goal"), STR("key"));
    assert_string_equal(hex_of((struct str){(char *)id.bytes, 16}),
                        "d9e335568820d7f041eb3fcae9fdaa26");
    id = id_derive(STR("goal"), (struct str){0});
    assert_string_equal(hex_of((struct str){(char *)id.bytes, 16}),
                        "ac2ad02ea9a87433e2d0fbcf0752ec3f");
    assert_false(id_equal(id_derive(STR("goal"), STR("key")), id_derive(STR("goalk"), STR("ey"))));
    assert_false(id_equal(id_derive(STR("goal"), STR("key")), id_derive(STR("host"), STR("key"))));
}

/* ---- SHA-256 ---- */

static const struct hash_case {
    const char *text, *hash;
} HASHES[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
     "mnopqrstnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
};

/* Inputs of that many letters a: lengths at which the padding needs a second block, and at which it does not. */
static const struct length_case {
    size_t length;
    const char *hash;
} LENGTHS[] = {
    {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
    {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
    {57, "f13b2d724659eb3bf47f2dd6af1accc87b81f09f59f2b75e5c0bed6589dfe8c6"},
    {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
    {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
    {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
    {119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
    {120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
    {128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"},
    {1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};

static void hash_is(struct hash hash, const char *expected) {
    assert_string_equal(hex_of(hash_str(&hash)), expected);
}

static void test_sha256_is_that_of_fips_180(void **state) {
    (void)state;
    for (size_t i = 0; i < count_of(HASHES); i++)
        hash_is(sha256(str_of(HASHES[i].text)), HASHES[i].hash);
    hash_is(sha256((struct str){0}), HASHES[0].hash);
    char *letters = malloc(1000000);
    assert_non_null(letters);
    memset(letters, 'a', 1000000);
    for (size_t i = 0; i < count_of(LENGTHS); i++)
        hash_is(sha256((struct str){letters, LENGTHS[i].length}), LENGTHS[i].hash);
    free(letters);
}

static void test_sha256_is_the_same_in_pieces(void **state) {
    (void)state;
    char bytes[300];
    struct chance chance = {9};
    chance_fill(&chance, bytes, sizeof bytes);
    for (size_t len = 0; len <= sizeof bytes; len++)
        for (size_t piece = 1; piece <= 130; piece += 1 + piece / 8) {
            struct sha256 sha;
            sha256_begin(&sha);
            for (size_t at = 0; at < len; at += piece)
                sha256_add(&sha, bytes + at, at + piece < len ? piece : len - at);
            struct hash whole = sha256((struct str){bytes, len}), pieces = sha256_end(&sha);
            check(hash_equal(&whole, &pieces), "%zu bytes by %zu", len, piece);
        }
    struct hash a = sha256(STR("a")), b = a;
    b.bytes[31] ^= 1;
    assert_false(hash_equal(&a, &b));
}

/* ---- bytes ---- */

static const struct varint_case {
    uint64_t value;
    const char *hex;
} VARINTS[] = {
    {0, "00"},
    {1, "01"},
    {127, "7f"},
    {128, "8001"},
    {16383, "ff7f"},
    {16384, "808001"},
    {2097151, "ffff7f"},
    {2097152, "80808001"},
    {268435455, "ffffff7f"},
    {268435456, "8080808001"},
    {UINT32_MAX, "ffffffff0f"},
    {34359738367, "ffffffff7f"},
    {34359738368, "808080808001"},
    {4398046511103, "ffffffffff7f"},
    {4398046511104, "80808080808001"},
    {562949953421311, "ffffffffffff7f"},
    {562949953421312, "8080808080808001"},
    {72057594037927935, "ffffffffffffff7f"},
    {72057594037927936, "808080808080808001"},
    {INT64_MAX, "ffffffffffffffff7f"},
    {(uint64_t)INT64_MAX + 1, "80808080808080808001"},
    {UINT64_MAX, "ffffffffffffffffff01"},
};

static void test_varints_have_one_form(void **state) {
    (void)state;
    struct arena arena = {0};
    for (size_t i = 0; i < count_of(VARINTS); i++) {
        struct writer writer = {.arena = &arena};
        write_varint(&writer, VARINTS[i].value);
        assert_string_equal(hex_of((struct str){writer.at, writer.len}), VARINTS[i].hex);
        struct str bytes = hex_bytes(VARINTS[i].hex);
        struct reader reader = {.rest = bytes};
        assert_true(read_varint(&reader) == VARINTS[i].value);
        assert_false(reader.failed);
        assert_int_equal(reader.rest.len, 0);
        for (size_t len = 0; len < bytes.len; len++) {
            struct reader cut = {.rest = {bytes.at, len}};
            assert_true(read_varint(&cut) == 0);
            check(cut.failed, "%s cut to %zu", VARINTS[i].hex, len);
        }
        bytes_free(bytes);
    }
    arena_free(&arena);
}

static void test_varints_refuse_every_other_form(void **state) {
    (void)state;
    static const char *const NO[] = {
        "8000",                     /* zero in two bytes */
        "8100",                     /* one in two bytes */
        "ff00",                     /* 127 in two bytes */
        "808000",                   /* zero in three */
        "ffffffffffffffffff00",     /* 63 bits in ten bytes */
        "ffffffffffffffffff02",     /* 65 bits */
        "80808080808080808002",     /* bit 64 alone */
        "ffffffffffffffffff7f",     /* 70 bits */
        "8080808080808080808001",   /* eleven bytes */
        "ffffffffffffffffff8100",   /* continues after the tenth */
        "8080808080808080808000",   /* zero in eleven */
        "808080808080808080808001", /* twelve bytes */
    };
    for (size_t i = 0; i < count_of(NO); i++) {
        struct str bytes = hex_bytes(NO[i]);
        struct reader reader = {.rest = bytes};
        check(read_varint(&reader) == 0 && reader.failed, "%s", NO[i]);
        bytes_free(bytes);
    }
}

static void test_a_failed_reader_stays_failed_and_yields_zeros(void **state) {
    (void)state;
    struct reader reader = {.rest = STR("\x85rest")};
    reader.rest.len = 1;
    assert_int_equal(read_varint(&reader), 0);
    assert_true(reader.failed);
    assert_int_equal(read_byte(&reader), 0);
    assert_int_equal(read_varint(&reader), 0);
    assert_int_equal(read_run(&reader).len, 0);
    assert_true(reader.failed);
    struct reader overlong = {.rest = STR("\x80\0abc")};
    read_varint(&overlong);
    assert_int_equal(read_byte(&overlong), 0);
    assert_int_equal(read_run(&overlong).len, 0);
    struct reader nothing = {0};
    assert_int_equal(read_run(&nothing).len, 0);
    assert_true(nothing.failed);
}

static void test_runs_end_where_they_say(void **state) {
    (void)state;
    struct arena arena = {0};
    struct writer writer = {.arena = &arena};
    write_run(&writer, STR("hello"));
    write_run(&writer, (struct str){0});
    write_raw(&writer, STR("!"));
    assert_string_equal(hex_of((struct str){writer.at, writer.len}), "0568656c6c6f0021");
    struct str bytes = hex_bytes("0568656c6c6f0021");
    struct reader reader = {.rest = bytes};
    struct str hello = read_run(&reader);
    assert_true(str_equal(hello, STR("hello")));
    assert_ptr_equal(hello.at, bytes.at + 1);
    assert_int_equal(read_run(&reader).len, 0);
    assert_int_equal(read_byte(&reader), '!');
    assert_false(reader.failed);
    for (size_t len = 0; len < 6; len++) {
        struct reader cut = {.rest = {bytes.at, len}};
        assert_int_equal(read_run(&cut).len, 0);
        check(cut.failed, "cut to %zu", len);
    }
    bytes_free(bytes);
    struct reader endless = {.rest = STR("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01zz")};
    assert_int_equal(read_run(&endless).len, 0);
    assert_true(endless.failed);
    arena_free(&arena);
}

static void test_a_writer_grows(void **state) {
    (void)state;
    struct arena arena = {0};
    struct writer writer = {.arena = &arena};
    for (unsigned i = 0; i < 50000; i++)
        write_byte(&writer, (uint8_t)(i * 7));
    write_raw(&writer, (struct str){arena_cstr(&arena, STR("")), 0});
    assert_int_equal(writer.len, 50000);
    for (unsigned i = 0; i < 50000; i++)
        assert_int_equal((uint8_t)writer.at[i], (uint8_t)(i * 7));
    struct str large = {writer.at, writer.len};
    struct writer other = {.arena = &arena};
    write_run(&other, large);
    struct reader reader = {.rest = {other.at, other.len}};
    assert_true(str_equal(read_run(&reader), large));
    arena_free(&arena);
}

static void test_zigzag_keeps_small_numbers_small(void **state) {
    (void)state;
    static const struct {
        int64_t value;
        uint64_t folded;
    } ROWS[] = {{0, 0},
                {-1, 1},
                {1, 2},
                {-2, 3},
                {2, 4},
                {INT64_MAX, UINT64_MAX - 1},
                {INT64_MIN, UINT64_MAX}};
    for (size_t i = 0; i < count_of(ROWS); i++) {
        assert_true(zigzag(ROWS[i].value) == ROWS[i].folded);
        assert_true(unzigzag(ROWS[i].folded) == ROWS[i].value);
    }
}

/* ---- map and due heap, each against a plain array ---- */

enum { OPERATIONS = 100000, KEYS = 3000, DUE_KEYS = 400 };

/* Every third key hashes to one of the last slots of the table, so that probe sequences grow long and wrap around. */
static void keys_fill(struct id *keys, size_t count, struct chance *chance) {
    for (size_t i = 0; i < count; i++)
        do
            keys[i] = id_chance(chance);
        while (i % 3 == 0 && (id_hash(keys[i]) & 0xFF) < 0xFC);
}

/* How many of 100 keys are present: the table fills, empties, and fills again. */
static uint32_t share_now(int operation) {
    static const uint32_t SHARE[] = {80, 20, 95, 5, 60, 0, 90, 50, 10, 70};
    return SHARE[operation / (OPERATIONS / (int)count_of(SHARE))];
}

struct map_case {
    struct map map;
    struct id keys[KEYS];
    void *values[KEYS];
    size_t count;
};

static void map_operate(struct map_case *c, struct chance *chance, int operation) {
    uint32_t k = chance_below(chance, KEYS);
    if (chance_below(chance, 100) < share_now(operation)) {
        void *value = &c->keys[chance_below(chance, KEYS)];
        assert_true(map_put(&c->map, c->keys[k], value));
        c->count += c->values[k] == NULL;
        c->values[k] = value;
    } else {
        assert_ptr_equal(map_remove(&c->map, c->keys[k]), c->values[k]);
        c->count -= c->values[k] != NULL;
        c->values[k] = NULL;
    }
    uint32_t asked = chance_below(chance, KEYS);
    assert_ptr_equal(map_get(&c->map, c->keys[k]), c->values[k]);
    assert_ptr_equal(map_get(&c->map, c->keys[asked]), c->values[asked]);
    assert_int_equal(c->map.count, c->count);
    assert_true(c->map.count * 4 <= c->map.cap * 3);
}

static void test_a_map_finds_what_a_plain_array_finds(void **state) {
    (void)state;
    static struct map_case c;
    struct chance chance = {21};
    keys_fill(c.keys, KEYS, &chance);
    assert_null(map_get(&c.map, c.keys[0]));
    assert_null(map_remove(&c.map, c.keys[0]));
    size_t most = 0;
    for (int i = 0; i < OPERATIONS; i++) {
        map_operate(&c, &chance, i);
        most = c.count > most ? c.count : most;
        for (int k = 0; i % 1000 == 0 && k < KEYS; k++)
            assert_ptr_equal(map_get(&c.map, c.keys[k]), c.values[k]);
    }
    assert_true(most > 2000);
    map_free(&c.map);
    assert_null(map_get(&c.map, c.keys[0]));
}

static void map_put_nothing(void *with) {
    map_put(with, (struct id){{1}}, NULL);
}

static void test_a_map_takes_no_null(void **state) {
    (void)state;
    struct map map = {0};
    struct crash_guard_report report = {""};
    assert_int_equal(crash_guard_run(map_put_nothing, &map, &report), CRASH_GUARD_BROKEN);
    assert_non_null(strstr(report.why, "value != NULL"));
}

struct due_case {
    struct due due;
    struct id keys[DUE_KEYS];
    int64_t at[DUE_KEYS];
    uint32_t pops;
};

static int64_t earliest(const struct due_case *c) {
    int64_t least = TIME_NEVER;
    for (int k = 0; k < DUE_KEYS; k++)
        least = c->at[k] < least ? c->at[k] : least;
    return least;
}

static void due_pop_one(struct due_case *c, int64_t now) {
    struct id untouched = {{0xEE}}, id = untouched;
    int64_t least = earliest(c);
    bool is_due = least <= now && least != TIME_NEVER;
    assert_int_equal(due_pop(&c->due, now, &id), is_due);
    if (!is_due) {
        assert_true(id_equal(id, untouched));
        return;
    }
    int k = 0;
    while (k < DUE_KEYS && !id_equal(c->keys[k], id))
        k++;
    assert_true(k < DUE_KEYS);
    assert_true(c->at[k] == least);
    c->at[k] = TIME_NEVER;
    c->pops++;
}

static void due_operate(struct due_case *c, struct chance *chance, int operation) {
    uint32_t k = chance_below(chance, DUE_KEYS), what = chance_below(chance, 100);
    if (what < share_now(operation)) {
        int64_t at = (int64_t)chance_below(chance, 500) - 250; /* many times are equal */
        assert_true(due_set(&c->due, c->keys[k], at));
        c->at[k] = at;
    } else if (what % 3 == 0) {
        due_remove(&c->due, c->keys[k]);
        c->at[k] = TIME_NEVER;
    } else if (what % 3 == 1) {
        assert_true(due_set(&c->due, c->keys[k], TIME_NEVER));
        c->at[k] = TIME_NEVER;
    } else {
        due_pop_one(c,
                    chance_in(chance, 4) ? TIME_NEVER : (int64_t)chance_below(chance, 500) - 250);
    }
}

static void test_a_due_heap_wakes_in_the_order_of_a_plain_array(void **state) {
    (void)state;
    static struct due_case c;
    struct chance chance = {33};
    keys_fill(c.keys, DUE_KEYS, &chance);
    for (int k = 0; k < DUE_KEYS; k++)
        c.at[k] = TIME_NEVER;
    due_remove(&c.due, c.keys[0]);
    assert_true(due_set(&c.due, c.keys[0], TIME_NEVER));
    due_pop_one(&c, TIME_NEVER);
    uint32_t most = 0;
    for (int i = 0; i < OPERATIONS; i++) {
        due_operate(&c, &chance, i);
        assert_true(due_next(&c.due) == earliest(&c));
        most = c.due.count > most ? c.due.count : most;
    }
    assert_true(most > 300 && c.pops > 1000);
    while (earliest(&c) != TIME_NEVER)
        due_pop_one(&c, INT64_MAX - 1);
    assert_int_equal(c.due.count, 0);
    due_free(&c.due);
    assert_true(due_next(&c.due) == TIME_NEVER);
}

/* ---- time ---- */

#define DAY SECONDS(86400)

static void test_days_are_counted_before_1970_too(void **state) {
    (void)state;
    static const struct {
        int64_t at;
        int32_t day;
    } ROWS[] = {
        {0, 0},         {DAY - 1, 0},           {DAY, 1},
        {-1, -1},       {-DAY + 1, -1},         {-DAY, -1},
        {-DAY - 1, -2}, {INT64_MAX, 106751991}, {INT64_MIN, -106751992},
    };
    for (size_t i = 0; i < count_of(ROWS); i++)
        check(time_day(ROWS[i].at) == ROWS[i].day, "%lld", (long long)ROWS[i].at);
}

static void test_times_are_written_as_rfc_3339(void **state) {
    (void)state;
    static const struct {
        int64_t at;
        const char *text;
    } ROWS[] = {
        {0, "1970-01-01T00:00:00.000000Z"},
        {-1, "1969-12-31T23:59:59.999999Z"},
        {1794701782123456, "2026-11-15T00:16:22.123456Z"},
        {951825600000000, "2000-02-29T12:00:00.000000Z"},
        {4107542400000000, "2100-03-01T00:00:00.000000Z"},
        {-2203891201000000, "1900-02-28T23:59:59.000000Z"},
        {-62135596800000000, "0001-01-01T00:00:00.000000Z"},
        {253402300799999999, "9999-12-31T23:59:59.999999Z"},
    };
    for (size_t i = 0; i < count_of(ROWS); i++) {
        char text[TIME_TEXT + 1];
        time_format(ROWS[i].at, text);
        assert_string_equal(text, ROWS[i].text);
    }
}

static void test_times_agree_with_the_c_library(void **state) {
    (void)state;
    struct chance chance = {44};
    for (int i = 0; i < 50000; i++) {
        int64_t second = (int64_t)(chance_next(&chance) % 315537897600) - 62135596800;
        time_t seconds = second;
        struct tm tm;
        assert_non_null(gmtime_r(&seconds, &tm));
        char expected[80], text[TIME_TEXT + 1];
        snprintf(expected, sizeof expected, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ",
                 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, i);
        time_format(second * 1000000 + i, text);
        assert_string_equal(text, expected);
    }
}

/* No calendar contains such times; the output stays within its buffer nevertheless. */
static void test_the_ends_of_time_are_written_without_harm(void **state) {
    (void)state;
    char text[TIME_TEXT + 2];
    text[TIME_TEXT + 1] = '#';
    time_format(TIME_NEVER, text);
    assert_string_equal(text, "294247-01-10T04:00:54.77580");
    time_format(INT64_MIN, text);
    assert_string_equal(text, "-290308-12-21T19:59:05.2241");
    assert_int_equal(text[TIME_TEXT + 1], '#');
}

static void test_time_after_never_passes_never(void **state) {
    (void)state;
    assert_true(time_after(5, 3) == 8);
    assert_true(time_after(-5, 3) == -2);
    assert_true(time_after(0, 0) == 0);
    assert_true(time_after(TIME_NEVER - 3, 3) == TIME_NEVER);
    assert_true(time_after(TIME_NEVER - 3, 2) == TIME_NEVER - 1);
    assert_true(time_after(TIME_NEVER - 3, 4) == TIME_NEVER);
    assert_true(time_after(TIME_NEVER, 0) == TIME_NEVER);
    assert_true(time_after(TIME_NEVER, TIME_NEVER) == TIME_NEVER);
    assert_true(time_after(1, TIME_NEVER) == TIME_NEVER);
    assert_true(time_after(-1, TIME_NEVER) == TIME_NEVER - 1);
    assert_true(time_after(INT64_MIN, TIME_NEVER) == -1);
}

static void after_back(void *with) {
    *(int64_t *)with = time_after(5, -3);
}

/* at + span is 2; refusing a negative span as a broken invariant is equally correct. */
static void test_time_after_goes_back_or_refuses(void **state) {
    (void)state;
    int64_t at = 0;
    struct crash_guard_report report;
    if (crash_guard_run(after_back, &at, &report) == CRASH_GUARD_WHOLE)
        assert_int_equal(at, 2);
}

static void test_uuids_are_of_version_4(void **state) {
    (void)state;
    struct id id;
    char text[UUID_TEXT + 1];
    for (uint8_t i = 0; i < sizeof id.bytes; i++)
        id.bytes[i] = (uint8_t)(0xF0 + i);
    id_format_uuid(id, text);
    assert_string_equal(text, "f0f1f2f3-f4f5-46f7-b8f9-fafbfcfdfeff");
}

static void test_a_buffer_grows_and_drops(void **state) {
    (void)state;
    struct buffer buffer = {0};
    char expected[5000];
    for (size_t i = 0; i < sizeof expected; i++)
        expected[i] = (char)('a' + i % 26);
    for (size_t at = 0, part = 1; at < sizeof expected; at += part, part = part * 2 + 1) {
        part = part < sizeof expected - at ? part : sizeof expected - at;
        assert_true(buffer_add(&buffer, expected + at, part));
        assert_int_equal(buffer.at[buffer.len], 0);
        assert_true(buffer.len < buffer.cap);
    }
    assert_int_equal(buffer.len, sizeof expected);
    buffer_drop(&buffer, 17);
    assert_int_equal(buffer.len, sizeof expected - 17);
    assert_memory_equal(buffer.at, expected + 17, buffer.len);
    assert_int_equal(buffer.at[buffer.len], 0);
    buffer_drop(&buffer, buffer.len);
    assert_int_equal(buffer.len, 0);
    buffer_free(&buffer);
    assert_null(buffer.at);
}

static void test_a_buffer_without_memory_stays_as_it_is(void **state) {
    (void)state;
    struct buffer buffer = {0};
    assert_true(buffer_add(&buffer, "abc", 3));
    assert_false(buffer_reserve(&buffer, SIZE_MAX / 2));
    assert_string_equal(buffer.at, "abc");
    buffer_free(&buffer);
}

/* Whatever the pieces, the tail is the end of all of them. */
static void test_a_tail_keeps_the_end(void **state) {
    (void)state;
    char all[200], tail[7];
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (char)('a' + i % 26);
    for (size_t piece = 1; piece < 20; piece++) {
        size_t length = 0;
        for (size_t at = 0; at + piece <= sizeof all; at += piece) {
            size_t end = at + piece, kept = end < sizeof tail ? end : sizeof tail;
            length = tail_add(tail, sizeof tail, length, (struct str){all + at, piece});
            assert_int_equal(length, kept);
            assert_memory_equal(tail, all + end - kept, kept);
        }
        assert_int_equal(tail_add(tail, sizeof tail, length, (struct str){NULL, 0}), length);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recent_keeps_the_last_ones),
        cmocka_unit_test(test_arena_memory_is_aligned_for_every_type),
        cmocka_unit_test(test_arena_honours_large_alignments_or_refuses),
        cmocka_unit_test(test_arena_grows_and_no_two_blocks_overlap),
        cmocka_unit_test(test_arena_reset_keeps_the_largest_chunk),
        cmocka_unit_test(test_arena_says_when_there_is_no_memory),
        cmocka_unit_test(test_arena_copies_texts),
        cmocka_unit_test(test_strings_are_counted),
        cmocka_unit_test(test_text_is_well_formed_utf8_without_nul),
        cmocka_unit_test(test_text_agrees_with_another_way_to_tell),
        cmocka_unit_test(test_text_is_cut_before_a_character),
        cmocka_unit_test(test_ids_are_written_as_ulids),
        cmocka_unit_test(test_ids_refuse_what_is_no_ulid),
        cmocka_unit_test(test_ids_are_in_the_order_of_time),
        cmocka_unit_test(test_ids_derive_from_keys_for_ever),
        cmocka_unit_test(test_uuids_are_of_version_4),
        cmocka_unit_test(test_a_buffer_grows_and_drops),
        cmocka_unit_test(test_a_buffer_without_memory_stays_as_it_is),
        cmocka_unit_test(test_a_tail_keeps_the_end),
        cmocka_unit_test(test_sha256_is_that_of_fips_180),
        cmocka_unit_test(test_sha256_is_the_same_in_pieces),
        cmocka_unit_test(test_varints_have_one_form),
        cmocka_unit_test(test_varints_refuse_every_other_form),
        cmocka_unit_test(test_a_failed_reader_stays_failed_and_yields_zeros),
        cmocka_unit_test(test_runs_end_where_they_say),
        cmocka_unit_test(test_a_writer_grows),
        cmocka_unit_test(test_zigzag_keeps_small_numbers_small),
        cmocka_unit_test(test_a_map_finds_what_a_plain_array_finds),
        cmocka_unit_test(test_a_map_takes_no_null),
        cmocka_unit_test(test_a_due_heap_wakes_in_the_order_of_a_plain_array),
        cmocka_unit_test(test_days_are_counted_before_1970_too),
        cmocka_unit_test(test_times_are_written_as_rfc_3339),
        cmocka_unit_test(test_times_agree_with_the_c_library),
        cmocka_unit_test(test_the_ends_of_time_are_written_without_harm),
        cmocka_unit_test(test_time_after_never_passes_never),
        cmocka_unit_test(test_time_after_goes_back_or_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
