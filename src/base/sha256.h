/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4), implemented here so that core stays pure. */
#pragma once

#include "base/str.h"

#include <stdint.h>

struct hash {
    uint8_t bytes[32];
};

struct sha256 {
    uint32_t state[8];
    uint64_t length;
    uint8_t block[64];
};

void sha256_begin(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *bytes, size_t len);
struct hash sha256_end(struct sha256 *sha);

struct hash sha256(struct str bytes);
bool hash_is_zero(const struct hash *hash);

static inline bool hash_equal(const struct hash *a, const struct hash *b) {
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}
