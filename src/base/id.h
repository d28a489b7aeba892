/* SPDX-License-Identifier: Apache-2.0 */
/* Permanent 128-bit ids: 48 bits of milliseconds, 80 of randomness.
 *
 * The caller supplies time and randomness. An id can also be derived from a key that the caller chose, so that two
 * requests with the same key name the same thing. Written as 26 characters of Crockford's base 32 (ULID). */
#pragma once

#include "base/str.h"

#include <stdint.h>

enum { ID_TEXT = 26, UUID_TEXT = 36 };

struct id {
    uint8_t bytes[16];
};

struct id id_make(int64_t time_ms, const uint8_t random[10]);
struct id id_derive(struct str space, struct str key);

void id_format(struct id id, char text[ID_TEXT + 1]);
bool id_parse(struct str text, struct id *ret_id);

/* The id as a UUID of version 4: six of its bits are replaced by the version and the variant. */
void id_format_uuid(struct id id, char text[UUID_TEXT + 1]);

static inline int id_compare(struct id a, struct id b) {
    return memcmp(a.bytes, b.bytes, sizeof a.bytes);
}

static inline bool id_equal(struct id a, struct id b) {
    return id_compare(a, b) == 0;
}

static inline bool id_is_set(struct id id) {
    return !id_equal(id, (struct id){{0}});
}

static inline uint64_t id_hash(struct id id) {
    uint64_t low, high;
    memcpy(&high, id.bytes, 8);
    memcpy(&low, id.bytes + 8, 8);
    uint64_t x = (low ^ (high * 0x9E3779B97F4A7C15u)) * 0xD6E8FEB86659FD93u;
    return x ^ (x >> 32);
}
