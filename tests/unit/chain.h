/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a record continues the one before it. The hash is computed from its columns alone, independently of
 * record.c. */
#pragma once

#include "unit.h"

#include "model/record.h"

static inline struct hash hash_of_columns(const struct record *record, struct id goal,
                                          struct hash head) {
    const uint64_t numbers[] = {record->seq, (uint64_t)record->at, record->type, record->core};
    uint8_t bytes[32 + 16 + 4 * 8 + 32 + 32];
    memcpy(bytes, head.bytes, 32);
    memcpy(bytes + 32, goal.bytes, 16);
    for (size_t i = 0; i < 4 * 8; i++)
        bytes[48 + i] = (uint8_t)(numbers[i / 8] >> (8 * (i % 8)));
    memcpy(bytes + 80, record->policy.bytes, 32);
    memcpy(bytes + 112, record->body_hash.bytes, 32);
    return sha256((struct str){(const char *)bytes, sizeof bytes});
}

static inline bool record_follows(const struct record *record, struct id goal, uint64_t seq,
                                  struct hash head) {
    struct hash hash = hash_of_columns(record, goal, head), body = sha256(record->body);
    return record->seq == seq + 1 && hash_equal(&hash, &record->hash) &&
           hash_equal(&body, &record->body_hash);
}
