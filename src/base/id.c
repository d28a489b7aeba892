/* SPDX-License-Identifier: Apache-2.0 */
#include "base/id.h"

#include "base/bytes.h"
#include "base/sha256.h"

static const char DIGITS[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

struct id id_make(int64_t time_ms, const uint8_t random[10]) {
    struct id id;
    for (int i = 0; i < 6; i++)
        id.bytes[i] = (uint8_t)((uint64_t)time_ms >> (40 - 8 * i));
    memcpy(id.bytes + 6, random, 10);
    return id;
}

struct id id_derive(struct str space, struct str key) {
    struct sha256 sha;
    sha256_begin(&sha);
    sha256_add(&sha, space.at, space.len);
    sha256_add(&sha, "", 1);
    if (key.len > 0)
        sha256_add(&sha, key.at, key.len);
    struct hash hash = sha256_end(&sha);
    struct id id;
    memcpy(id.bytes, hash.bytes, sizeof id.bytes);
    return id;
}

/* 26 digits of 5 bits make 130 bits: the first digit holds only the top 3 bits. */
void id_format(struct id id, char text[ID_TEXT + 1]) {
    unsigned __int128 value = 0;
    for (int i = 0; i < 16; i++)
        value = value << 8 | id.bytes[i];
    for (int i = ID_TEXT - 1; i >= 0; i--, value >>= 5)
        text[i] = DIGITS[(unsigned)value & 31];
    text[ID_TEXT] = 0;
}

bool id_parse(struct str text, struct id *ret_id) {
    if (text.len != ID_TEXT || text.at[0] > '7')
        return false;
    unsigned __int128 value = 0;
    for (size_t i = 0; i < ID_TEXT; i++) {
        char c = text.at[i];
        if (c >= 'a' && c <= 'z')
            c = (char)(c - 'a' + 'A');
        const char *digit = c ? strchr(DIGITS, c) : NULL;
        if (!digit)
            return false;
        value = value << 5 | (unsigned)(digit - DIGITS);
    }
    for (int i = 15; i >= 0; i--, value >>= 8)
        ret_id->bytes[i] = (uint8_t)value;
    return true;
}

void id_format_uuid(struct id id, char text[UUID_TEXT + 1]) {
    id.bytes[6] = (uint8_t)((id.bytes[6] & 0x0F) | 0x40);
    id.bytes[8] = (uint8_t)((id.bytes[8] & 0x3F) | 0x80);
    static const struct {
        uint8_t at, from, count;
    } PARTS[] = {{0, 0, 4}, {9, 4, 2}, {14, 6, 2}, {19, 8, 2}, {24, 10, 6}};
    for (size_t i = 0; i < count_of(PARTS); i++) {
        hex_write(text + PARTS[i].at, id.bytes + PARTS[i].from, PARTS[i].count);
        text[PARTS[i].at + 2 * PARTS[i].count] = '-';
    }
    text[UUID_TEXT] = 0;
}
