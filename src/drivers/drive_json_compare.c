/* SPDX-License-Identifier: Apache-2.0 */
/* Reuses the JSON of the previous line for a line that differs from it in one text only. A speaking agent writes
 * hundreds of such lines, and parsing JSON costs more than everything else that is done with them. A line with the same
 * bytes before and after the text is the same tree with another text in it. */
#include "drivers/drive.h"

/* True: no character in it has a special meaning in JSON. */
static bool is_plain(struct str text) {
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.at[i] < 0x20 || text.at[i] == '"' || text.at[i] == '\\')
            return false;
    return true;
}

static struct str middle_of(const struct drive_alike *alike, struct str line) {
    return (struct str){line.at + alike->front, line.len - alike->front - alike->back};
}

static bool is_alike(const struct drive_alike *alike, struct str line) {
    return alike->words && line.len >= alike->front + alike->back &&
           memcmp(line.at, alike->line.at, alike->front) == 0 &&
           memcmp(line.at + line.len - alike->back, alike->line.at + alike->line.len - alike->back,
                  alike->back) == 0 &&
           is_plain(middle_of(alike, line));
}

/* Finds the text: after the only "text":" in the line. */
static void words_find(struct drive_alike *alike, const char *path) {
    static const char BEFORE[] = "\"text\":\"";
    json_t *words = drive_json_at(alike->frame, path);
    struct str text = drive_json_text(words), line = alike->line;
    const char *at = memmem(line.at, line.len, BEFORE, sizeof BEFORE - 1);
    if (!json_is_string(words) || !at || !is_plain(text))
        return;
    const char *from = at + sizeof BEFORE - 1;
    size_t left = line.len - (size_t)(from - line.at);
    if (left <= text.len || from[text.len] != '"' ||
        !str_equal((struct str){from, text.len}, text) ||
        memmem(from, left, BEFORE, sizeof BEFORE - 1))
        return;
    alike->words = words;
    alike->front = (size_t)(from - line.at);
    alike->back = left - text.len;
}

const json_t *drive_json_alike(struct drive_alike *alike, struct str line, const char *path) {
    if (is_alike(alike, line)) {
        struct str words = middle_of(alike, line);
        if (json_string_setn(alike->words, words.at, words.len) == 0)
            return alike->frame;
    }
    drive_alike_free(alike);
    alike->line = line;
    alike->frame = drive_json(line);
    if (alike->frame)
        words_find(alike, path);
    return alike->frame;
}

void drive_alike_free(struct drive_alike *alike) {
    json_decref(alike->frame);
    *alike = (struct drive_alike){0};
}
