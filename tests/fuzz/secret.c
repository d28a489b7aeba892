/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the search for secrets with any text and any pattern. A first line that begins with one of ~ | [ ( is tried as
 * a pattern on the rest. Redacting a redacted text changes nothing. */
#include "model/secret/secret.h"

static const struct secret_rules *built_in(void) {
    static struct arena arena;
    static const struct secret_rules *rules;
    if (!rules)
        rules = secret_rules_new(NULL, 0, &arena);
    return rules;
}

static void redact(const struct secret_rules *rules, struct str text) {
    struct arena arena = {0};
    struct str once = secret_redact(rules, text, &arena);
    must((once.at != text.at) == secret_find(rules, text));
    struct str twice = secret_redact(rules, once, &arena);
    must(twice.at == once.at);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct str text = {(const char *)data, size};
    redact(built_in(), text);
    size_t end = 0;
    while (end < size && data[end] != '\n')
        end++;
    struct str pattern = str_cut(text, end);
    uint32_t column;
    bool is_tried = size > 0 && strchr("~|[(", data[0]) && data[0] && end < size;
    if (is_tried && !secret_pattern_broken(pattern, &column)) {
        struct arena arena = {0};
        redact(secret_rules_new(&pattern, 1, &arena), (struct str){text.at + end, size - end});
        arena_free(&arena);
    }
    return 0;
}
