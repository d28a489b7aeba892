/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"

static char *room_for(struct writer *writer, size_t more) {
    if (writer->len + more > writer->cap) {
        size_t cap = writer->cap ? writer->cap * 2 : 128;
        while (cap < writer->len + more)
            cap *= 2;
        char *at = arena_new(writer->arena, char, cap);
        if (writer->len > 0)
            memcpy(at, writer->at, writer->len);
        writer->at = at;
        writer->cap = cap;
    }
    char *to = writer->at + writer->len;
    writer->len += more;
    return to;
}

void write_byte(struct writer *writer, uint8_t byte) {
    *room_for(writer, 1) = (char)byte;
}

void write_varint(struct writer *writer, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        write_byte(writer, (uint8_t)(value | 0x80));
    write_byte(writer, (uint8_t)value);
}

void write_raw(struct writer *writer, struct str bytes) {
    if (bytes.len > 0)
        memcpy(room_for(writer, bytes.len), bytes.at, bytes.len);
}

void write_run(struct writer *writer, struct str bytes) {
    write_varint(writer, bytes.len);
    write_raw(writer, bytes);
}

static uint64_t read_fails(struct reader *reader) {
    reader->failed = true;
    reader->rest.len = 0;
    return 0;
}

uint8_t read_byte(struct reader *reader) {
    if (reader->rest.len == 0)
        return (uint8_t)read_fails(reader);
    uint8_t byte = (uint8_t)reader->rest.at[0];
    reader->rest.at++;
    reader->rest.len--;
    return byte;
}

/* At most ten bytes; only the shortest form is valid, so that one value has one encoding. */
uint64_t read_varint(struct reader *reader) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = read_byte(reader);
        if (shift == 63 && byte > 1)
            return read_fails(reader);
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return shift > 0 && byte == 0 ? read_fails(reader) : value;
    }
    return read_fails(reader);
}

struct str read_run(struct reader *reader) {
    uint64_t len = read_varint(reader);
    if (len > reader->rest.len) {
        read_fails(reader);
        return (struct str){0};
    }
    struct str run = {reader->rest.at, (size_t)len};
    if (len > 0)
        reader->rest.at += len;
    reader->rest.len -= (size_t)len;
    return run;
}

static const char DIGITS[] = "0123456789abcdef";

void hex_write(char *to, const void *bytes, size_t count) {
    const uint8_t *from = bytes;
    for (size_t i = 0; i < count; i++) {
        to[2 * i] = DIGITS[from[i] >> 4];
        to[2 * i + 1] = DIGITS[from[i] & 15];
    }
    to[2 * count] = 0;
}

static uint8_t digit_value(char c) {
    uint8_t value = 0;
    while (value < 16 && DIGITS[value] != c)
        value++;
    return value; /* 16: it is no digit */
}

bool hex_read(const char *from, void *ret_bytes, size_t count) {
    uint8_t *to = ret_bytes;
    for (size_t i = 0; i < count; i++) {
        uint8_t high = digit_value(from[2 * i]);
        uint8_t low = high < 16 ? digit_value(from[2 * i + 1]) : 16;
        if (low == 16)
            return false;
        to[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}
