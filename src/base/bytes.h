/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes numbers and texts as bytes: varints and length-prefixed runs, the same on every machine. A reader that runs
 * past the end stays failed and yields zeros: check once, at the end. */
#pragma once

#include "base/arena.h"

struct writer {
    struct arena *arena;
    char *at;
    size_t len, cap;
};

void write_byte(struct writer *writer, uint8_t byte);
void write_varint(struct writer *writer, uint64_t value);
void write_raw(struct writer *writer, struct str bytes);
void write_run(struct writer *writer, struct str bytes); /* length, then the bytes */

struct reader {
    struct str rest;
    bool failed;
};

uint8_t read_byte(struct reader *reader);
uint64_t read_varint(struct reader *reader);
struct str read_run(struct reader *reader); /* points into the reader's input */

/* Writes two digits for each byte and a NUL: `to` must hold 2 * count + 1. */
void hex_write(char *to, const void *bytes, size_t count);
/* Reads 2 * count digits, as hex_write() writes them. False: there is another character among them. */
bool hex_read(const char *from, void *ret_bytes, size_t count);

/* Writes a number of fixed size, little-endian on every machine; returns the address after it. */
static inline char *le_put(char *to, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; i++)
        to[i] = (char)(value >> (8 * i));
    return to + size;
}

static inline uint64_t le_get(const char *from, size_t size) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)(unsigned char)from[i] << (8 * i);
    return value;
}

static inline uint64_t zigzag(int64_t value) {
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t unzigzag(uint64_t value) {
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}
