/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers shared by the unit tests: randomness by seed, hexadecimal, and calls that may break an invariant. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/sha256.h"
#include "lib/proof.h"
#include "sys/crash_guard.h"

/* An assertion that prints the case in which it failed. */
#define check(promise, ...) \
    do { \
        if (!(promise)) { \
            print_error("broken: %s\n", #promise); \
            fail_msg(__VA_ARGS__); \
        } \
    } while (0)

/* ---- randomness: xorshift64*, the same on every machine ---- */

struct chance {
    uint64_t state; /* not 0 */
};

static inline uint64_t chance_next(struct chance *chance) {
    chance->state ^= chance->state >> 12;
    chance->state ^= chance->state << 25;
    chance->state ^= chance->state >> 27;
    return chance->state * 0x2545F4914F6CDD1Du;
}

static inline uint32_t chance_below(struct chance *chance, uint32_t bound) {
    return (uint32_t)((chance_next(chance) >> 33) % bound);
}

static inline bool chance_in(struct chance *chance, uint32_t n) {
    return chance_below(chance, n) == 0;
}

static inline void chance_fill(struct chance *chance, void *to, size_t len) {
    uint8_t *at = to;
    for (size_t i = 0; i < len; i++)
        at[i] = (uint8_t)(chance_next(chance) >> 40);
}

/* ---- hexadecimal ---- */

static inline int hex_digit(char c) {
    const char *at = c ? strchr("0123456789abcdef", c) : NULL;
    return at ? (int)(at - "0123456789abcdef") : -1;
}

/* The bytes in their own allocation, so that the sanitizer sees any access past their end. */
static inline struct str hex_bytes(const char *hex) {
    size_t len = strlen(hex) / 2;
    char *bytes = malloc(len + (len == 0));
    assert_non_null(bytes);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(hex_digit(hex[2 * i]) * 16 + hex_digit(hex[2 * i + 1]));
    return (struct str){bytes, len};
}

static inline void bytes_free(struct str bytes) {
    free((void *)(uintptr_t)bytes.at);
}

/* The bytes in hexadecimal, in one of a few buffers used in turn. */
static inline const char *hex_of(struct str bytes) {
    static char buffers[4][8192];
    static unsigned turn;
    char *text = buffers[turn++ % 4];
    size_t shown = bytes.len < 4000 ? bytes.len : 4000;
    for (size_t i = 0; i < shown; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned)(unsigned char)bytes.at[i]);
    text[2 * shown] = 0;
    return text;
}

static inline struct str hash_str(const struct hash *hash) {
    return (struct str){(const char *)hash->bytes, sizeof hash->bytes};
}
