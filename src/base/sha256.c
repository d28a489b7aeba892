/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

static const uint32_t ROUND[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned n) {
    return (x >> n) | (x << (32 - n));
}

static uint32_t word_at(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void schedule(uint32_t w[64], const uint8_t *block) {
    for (int i = 0; i < 16; i++)
        w[i] = word_at(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >> 3);
        uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

/* One round. The eight variables rotate their roles instead of being moved: the caller passes them in turn. */
static inline void round_of(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
                            uint32_t g, uint32_t *h, uint32_t add) {
    uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    uint32_t t1 = *h + s1 + ((e & f) ^ (~e & g)) + add;
    *d += t1;
    *h = t1 + s0 + ((a & b) ^ (a & c) ^ (b & c));
}

static void compress(uint32_t state[8], const uint8_t *block) {
    uint32_t w[64], v[8];
    schedule(w, block);
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i += 8)
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++)
            round_of(v[(8 - k) & 7], v[(9 - k) & 7], v[(10 - k) & 7], &v[(11 - k) & 7],
                     v[(12 - k) & 7], v[(13 - k) & 7], v[(14 - k) & 7], &v[(15 - k) & 7],
                     ROUND[i + k] + w[i + k]);
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

void sha256_begin(struct sha256 *sha) {
    *sha = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                     0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *sha, const void *bytes, size_t len) {
    const uint8_t *from = bytes;
    while (len > 0) {
        size_t filled = sha->length % 64, n = 64 - filled < len ? 64 - filled : len;
        memcpy(sha->block + filled, from, n);
        sha->length += n;
        from += n;
        len -= n;
        if (sha->length % 64 == 0)
            compress(sha->state, sha->block);
    }
}

struct hash sha256_end(struct sha256 *sha) {
    uint64_t bits = sha->length * 8;
    uint8_t length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    static const uint8_t PAD[64] = {0x80};
    size_t filled = sha->length % 64;
    sha256_add(sha, PAD, filled < 56 ? 56 - filled : 120 - filled);
    sha256_add(sha, length, sizeof length);
    struct hash hash;
    for (int i = 0; i < 32; i++)
        hash.bytes[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
    return hash;
}

struct hash sha256(struct str bytes) {
    struct sha256 sha;
    sha256_begin(&sha);
    if (bytes.len > 0)
        sha256_add(&sha, bytes.at, bytes.len);
    return sha256_end(&sha);
}

bool hash_is_zero(const struct hash *hash) {
    static const struct hash ZERO;
    return memcmp(hash, &ZERO, sizeof ZERO) == 0;
}
