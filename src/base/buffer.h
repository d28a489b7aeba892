/* SPDX-License-Identifier: Apache-2.0 */
/* Byte buffers: one that grows at its end and shrinks at its front, and one that keeps the last bytes of a stream. */
#pragma once

#include "base/str.h"

struct buffer { /* all zero: empty */
    char *at;
    size_t len, cap;
};

/* Makes room for `more` bytes and a NUL after the bytes. False: no memory; the buffer is unchanged. */
bool buffer_reserve(struct buffer *buffer, size_t more);

/* Appends the bytes and a NUL, which does not count. False: no memory; the buffer is unchanged. */
bool buffer_add(struct buffer *buffer, const void *bytes, size_t len);

static inline struct str buffer_str(const struct buffer *buffer) {
    return (struct str){buffer->at, buffer->len};
}

void buffer_drop(struct buffer *buffer, size_t len); /* removes bytes from the front */
void buffer_free(struct buffer *buffer);

/* Appends to the `length` bytes in `tail`, which has room for `size`; the oldest bytes make room. Returns the new length. */
size_t tail_add(char *tail, size_t size, size_t length, struct str more);
