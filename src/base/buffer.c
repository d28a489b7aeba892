/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buffer.h"

#include "base/must.h"

#include <stdlib.h>

enum { LEAST = 1024 };

bool buffer_reserve(struct buffer *buffer, size_t more) {
    size_t need = buffer->len + more + 1, cap = buffer->cap ? 2 * buffer->cap : LEAST;
    must(need > more);
    if (need <= buffer->cap)
        return true;
    cap = cap < need ? need : cap;
    char *at = realloc(buffer->at, cap);
    if (!at)
        return false;
    buffer->at = at;
    buffer->cap = cap;
    return true;
}

bool buffer_add(struct buffer *buffer, const void *bytes, size_t len) {
    if (!buffer_reserve(buffer, len))
        return false;
    if (len > 0)
        memcpy(buffer->at + buffer->len, bytes, len);
    buffer->len += len;
    buffer->at[buffer->len] = 0;
    return true;
}

void buffer_drop(struct buffer *buffer, size_t len) {
    must(len <= buffer->len);
    if (len == 0)
        return;
    buffer->len -= len;
    memmove(buffer->at, buffer->at + len, buffer->len);
    buffer->at[buffer->len] = 0;
}

void buffer_free(struct buffer *buffer) {
    free(buffer->at);
    *buffer = (struct buffer){0};
}

size_t tail_add(char *tail, size_t size, size_t length, struct str more) {
    if (more.len > size)
        more = (struct str){more.at + more.len - size, size};
    size_t keep = length + more.len > size ? size - more.len : length;
    memmove(tail, tail + length - keep, keep);
    if (more.len > 0)
        memcpy(tail + keep, more.at, more.len);
    return keep + more.len;
}
