/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the byte at each offset: a wrong offset almost never has the same byte. */
#pragma once

#include <stdint.h>

static inline char pattern_at(uint64_t offset) {
    uint64_t x = offset + 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return (char)(x >> 56);
}
