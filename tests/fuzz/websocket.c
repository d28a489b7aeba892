/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the client of a gateway with any bytes from the gateway; however they are split, they yield the same messages. */
#include "cli/websocket.h"
#include "base/must.h"

#include <stdio.h>

enum { MOST = 64 };

static uint64_t sum_add(uint64_t sum, struct str text) {
    for (size_t i = 0; i < text.len; i++)
        sum = (sum ^ (unsigned char)text.at[i]) * 0x100000001B3u;
    return (sum ^ 0x100) * 0x100000001B3u;
}

static uint64_t play(struct str bytes, size_t piece) {
    struct ws_reader reader = {.most = MOST};
    uint64_t sum = 1;
    enum ws_got got = WS_NOTHING;
    while (bytes.len > 0 && got != WS_WRONG) {
        struct str part = {bytes.at, bytes.len < piece ? bytes.len : piece}, text = {"", 0};
        bytes = (struct str){bytes.at + part.len, bytes.len - part.len};
        while ((got = ws_next(&reader, &part, &text)) != WS_NOTHING && got != WS_WRONG) {
            must(got != WS_MESSAGE || text.len <= MOST);
            must(reader.message.len <= MOST);
            sum = sum_add(sum * 31 + (uint64_t)got, got == WS_SKIPPED ? STR("") : text);
        }
        sum = got == WS_WRONG ? sum_add(sum, text) : sum;
    }
    ws_reader_free(&reader);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char url[128];
    struct ws_place place;
    const char *why;
    if (size == 0)
        return 0;
    struct str input = {(const char *)data + 1, size - 1};
    snprintf(url, sizeof url, "ws://%.*s", (int)(input.len < 100 ? input.len : 100), input.at);
    if (ws_place_read(url, &place, &why))
        must(strcmp(place.host, "127.0.0.1") == 0 || strcmp(place.host, "::1") == 0);
    must(ws_answer_wrong(input, "dGhlIHNhbXBsZSBub25jZQ==") ||
         memmem(input.at, input.len, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", 28));
    must(play(input, 1 + data[0] % 16) == play(input, SIZE_MAX));
    return 0;
}
