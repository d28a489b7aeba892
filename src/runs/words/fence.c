/* SPDX-License-Identifier: Apache-2.0 */
#include "runs/words/fence.h"

#include <ctype.h>

struct str str_trimmed(struct str text) {
    while (text.len > 0 && isspace((unsigned char)text.at[0]))
        text = (struct str){text.at + 1, text.len - 1};
    while (text.len > 0 && isspace((unsigned char)text.at[text.len - 1]))
        text.len--;
    return text;
}

bool fence_read(struct str line, struct fence *ret) {
    size_t at = 0, count = 0;
    while (at < 4 && at < line.len && line.at[at] == ' ')
        at++;
    if (at == 4 || at == line.len || (line.at[at] != '`' && line.at[at] != '~'))
        return false;
    while (at + count < line.len && line.at[at + count] == line.at[at])
        count++;
    struct str label = str_trimmed((struct str){line.at + at + count, line.len - at - count});
    *ret = (struct fence){line.at[at], count, label};
    return count >= 3;
}

bool fence_closes(const struct fence *open, struct str line) {
    struct fence fence;
    return fence_read(line, &fence) && fence.mark == open->mark && fence.count >= open->count &&
           fence.label.len == 0;
}
