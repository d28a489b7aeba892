/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of records, declared once. The stable encoding, JSON in and out, validation and the tables in the
 * documentation follow from these rows.
 *
 * The encoding: a version byte, then for each nonzero field its tag (number * 2, plus 1 when a run of bytes follows)
 * and its value. A reader skips numbers that it does not know, so that builds of different age can read each other's
 * data; a number, once used, is never reused. */
#pragma once

#include "base/bytes.h"
#include "base/id.h"
#include "base/sha256.h"

enum field_type {
    FIELD_INT,   /* int64_t */
    FIELD_TIME,  /* int64_t, microseconds of UTC */
    FIELD_UINT,  /* uint64_t */
    FIELD_U32,   /* uint32_t */
    FIELD_ENUM,  /* an enum, with names */
    FIELD_ID,    /* struct id */
    FIELD_HASH,  /* struct hash */
    FIELD_TEXT,  /* struct str, UTF-8 */
    FIELD_BYTES, /* struct str, any bytes */
    FIELD_NAME,  /* char[cap + 1], a short text inside the struct */
    FIELD_FLAG,  /* uint32_t, 0 or 1: false or true in JSON */
    FIELD_U32S,  /* uint32_t[most] inside the struct; `cap` is the offset of their count */
    FIELD_TEXTS, /* struct texts: `most` of them, `cap` bytes each */
    FIELD_ROWS,  /* struct rows of the shape `of`: at most `most` */
    /* For plain data that is never shown: see drivers/drive.h. */
    FIELD_BOOL,   /* bool */
    FIELD_CHARS,  /* char[cap], bytes up to the first NUL */
    FIELD_FILLED, /* uint32_t length, then char[cap]: any bytes */
    FIELD_PLACES /* structs of the shape `of` inside the struct, `most` of them; trailing zero ones are omitted */
};

enum {
    FIELD_REQUIRED = 1, /* missing or empty is refused */
    FIELD_HIDDEN = 2,   /* not in JSON */
    FIELD_CUT =
        4, /* a text that is too long is cut at its cap with a mark, not refused: see redact.h */
    FIELD_TAIL = 8,   /* a text that is too long keeps its end */
    FIELD_PAIRS = 16, /* texts name=value: in JSON an object of texts and numbers */
};

struct texts {
    const struct str *at;
    uint32_t count;
};
struct texts texts_copy(const struct texts *texts, struct arena *arena);

struct rows {
    const void *at; /* contiguous structs of the row's shape */
    uint32_t count;
};

/* Names by value: from rows whose first member is their name, or from a plain list. */
struct names {
    const char *const *first;
    size_t stride;
    uint32_t count;
};
#define NAMES_OF(rows) \
    { (const char *const *)(const void *)(rows), sizeof(rows)[0], count_of(rows) }

static inline const char *name_of(const struct names *names, uint32_t value) {
    must(value < names->count);
    return *(const char *const *)((const char *)names->first + names->stride * value);
}

struct field {
    const char *name; /* on the wire */
    enum field_type type;
    uint32_t number; /* in the encoding; 0: not encoded */
    size_t offset;
    uint32_t cap; /* bytes of a text */
    int flags;
    const struct names *names;
    const char *text; /* for help and documentation */
    uint32_t most;    /* list: number of entries; FIELD_U32: the value is below this, 0: any */
    const struct shape *of; /* shape of a list's rows */
};

struct shape {
    const char *name;
    uint8_t version;
    const struct field *fields;
    size_t count;
    size_t size; /* of the struct, for rows in a list */
};

#define FIELD_OF(type, member) offsetof(struct type, member)
#define SHAPE(text, v, rows) \
    { .name = (text), .version = (v), .fields = (rows), .count = count_of(rows) }
#define SHAPE_OF(type, text, v, rows) \
    { \
        .name = (text), .version = (v), .fields = (rows), .count = count_of(rows), \
        .size = sizeof(struct type) \
    }

struct str shape_encode(const struct shape *shape, const void *from, struct arena *arena);

/* False: the bytes are not an encoding of this shape; ret is then partly filled and must be discarded. Texts point into
 * the bytes. */
bool shape_decode(const struct shape *shape, struct str bytes, void *ret);
/* The same bytes without one field; those of a newer build stay. False: they cannot be read. */
bool shape_without(const struct shape *shape, struct str bytes, const char *field,
                   struct arena *arena, struct str *ret);

/* The same for shapes with lists, whose entries come from the arena. */
bool shape_decode_in(const struct shape *shape, struct str bytes, struct arena *arena, void *ret);

/* The same, as part of a larger encoding: without the version byte. */
void fields_write(struct writer *writer, const struct field *fields, size_t count,
                  const void *from);
bool fields_read(struct reader *reader, const struct field *fields, size_t count,
                 struct arena *arena, void *ret);

/* The first field that is longer than its cap, has too many entries, is not text, or is required and missing; NULL: all
 * are as declared. `ret_row` is the position of the entry in a list, from 1; 0: none. */
const struct field *fields_broken(const struct field *fields, size_t count, const void *from,
                                  uint32_t *ret_row);

bool names_find(const struct names *names, struct str name, uint32_t *ret_value);
