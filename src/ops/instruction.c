/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/instruction.h"

#include "core/people/words.h"
#include "ops/view.h"

/* False: the hash names a text that is missing. */
static bool text_find(const struct goal_shown *shown, const struct hash *hash, struct str *ret) {
    *ret = hash_is_zero(hash) ? (struct str){0} : shown_text(shown, hash);
    return hash_is_zero(hash) || ret->len > 0;
}

struct str instruction_text(const struct instruction *about, const struct goal_shown *shown,
                            struct arena *arena) {
    struct node_text task = {0};
    struct handoff handoff = {0};
    struct str node, left, outgoing;
    if (about->words == WORDS_NONE || about->words >= WORDINGS ||
        !text_find(shown, &about->text, &node) || !text_find(shown, &about->handoff, &left) ||
        !text_find(shown, &about->outgoing, &outgoing))
        return (struct str){0};
    if ((node.len > 0 && !shape_decode_in(&NODE_TEXT, node, arena, &task)) ||
        (left.len > 0 && !shape_decode_in(&HANDOFF, left, arena, &handoff)))
        return (struct str){0};
    struct words_about words = {.goal = about->goal,
                                .node = about->node,
                                .task = node.len > 0 ? &task : NULL,
                                .handoff = left.len > 0 ? &handoff : NULL,
                                .outgoing = outgoing};
    return words_write((enum wording)about->words, &words, arena);
}
