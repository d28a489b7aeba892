/* SPDX-License-Identifier: Apache-2.0 */
/* What is a field of a record, declared once? From these rows follow the stable encoding, JSON in and
 * out, validation and the tables in the documentation.
 *
 * The encoding: a version byte, then for each field that is not zero its tag (number * 2, plus 1 when a
 * run of bytes follows) and its value. A reader skips numbers it does not know, so builds of different
 * age read each other; a number, once used, is never given to anything else. */
#pragma once

#include "base/bytes.h"
#include "base/id.h"
#include "base/sha256.h"

enum field_type {
    FIELD_INT,  /* int64_t */
    FIELD_TIME, /* int64_t, microseconds of UTC */
    FIELD_UINT, /* uint64_t */
    FIELD_U32,  /* uint32_t */
    FIELD_ENUM, /* an enum, with names */
    FIELD_ID,   /* struct id */
    FIELD_HASH, /* struct hash */
    FIELD_TEXT, /* struct str, UTF-8 */
    FIELD_BYTES /* struct str, anything */
};

enum { FIELD_REQUIRED = 1, FIELD_HIDDEN = 2 /* not in JSON */ };

struct names {
    const char *const *name; /* by value */
    uint32_t count;
};

struct field {
    const char *name; /* on the wire */
    enum field_type type;
    uint32_t number; /* in the encoding; 0: not encoded */
    size_t offset;
    uint32_t cap; /* bytes of a text */
    int flags;
    const struct names *names;
    const char *text; /* for help and documentation */
};

struct shape {
    const char *name;
    uint8_t version;
    const struct field *fields;
    size_t count;
};

#define FIELD_OF(type, member) offsetof(struct type, member)
#define SHAPE(text, v, rows) \
    { .name = (text), .version = (v), .fields = (rows), .count = count_of(rows) }

struct str shape_encode(const struct shape *shape, const void *from, struct arena *arena);

/* False when the bytes are not an encoding of this shape: ret is then half filled and to be thrown
 * away. Texts point into the bytes. */
bool shape_decode(const struct shape *shape, struct str bytes, void *ret);

/* The same, as part of something larger: without the version byte. */
void fields_write(struct writer *writer, const struct field *fields, size_t count,
                  const void *from);
bool fields_read(struct reader *reader, const struct field *fields, size_t count, void *ret);

bool names_find(const struct names *names, struct str name, uint32_t *ret_value);
