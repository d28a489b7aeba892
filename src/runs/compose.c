/* SPDX-License-Identifier: Apache-2.0 */
#include "runs/compose.h"

#include "base/memory.h"
#include "ops/instruction.h"
#include "sys/crash_guard.h"

#include <stdlib.h>

struct composing {
    struct lookup lookup;
    struct instruction about;
    bool whole;
    char node[LIMIT_NODE_ID + 1];
    struct hash named[4]; /* of the node, the handoff, the outgoing text, the BEGINNING */
    const struct store_answer *answer;
    struct arena arena;
    struct str text;
    composed *done;
    void *with;
};

static void text_make(void *with) {
    struct composing *it = with;
    struct instruction task = it->about;
    it->text = instruction_text(&it->about, &it->answer->shown, &it->arena);
    if (!it->whole || it->text.len == 0 || task.words == WORDS_TASK || task.words == WORDS_AGAIN)
        return;
    task.words = WORDS_TASK;
    task.outgoing = (struct hash){0};
    struct str first = instruction_text(&task, &it->answer->shown, &it->arena);
    it->text = arena_format(&it->arena, "%.*s\nThat was before. Now:\n\n%.*s", STR_ARG(first),
                            STR_ARG(it->text));
}

static struct str text_find(const struct composing *it, const struct hash *hash) {
    const struct goal_shown *shown = it->answer ? &it->answer->shown : NULL;
    for (uint32_t i = 0; shown && i < shown->text_count; i++)
        if (!hash_is_zero(hash) && hash_equal(&shown->texts[i].hash, hash))
            return shown->texts[i].body;
    return (struct str){0};
}

static void composing_end(struct composing *it, struct str text, struct str why) {
    it->done(it->with, &(struct composition){.text = text,
                                             .node = text_find(it, &it->named[0]),
                                             .start = text_find(it, &it->named[3]),
                                             .why = why});
    arena_free(&it->arena);
    free(it);
}

static void looked_up(struct lookup *lookup, const struct store_answer *answer) {
    struct composing *it =
        (struct composing *)((char *)lookup - offsetof(struct composing, lookup));
    struct crash_guard_report report;
    it->answer = answer;
    if (answer->outcome != STORE_DONE)
        composing_end(it, (struct str){0}, answer->error);
    else if (crash_guard_run(text_make, it, &report) != CRASH_GUARD_WHOLE)
        composing_end(it, (struct str){0}, str_of(report.why));
    else if (it->text.len == 0)
        composing_end(it, (struct str){0}, STR("a text that it needs is no longer stored"));
    else
        composing_end(it, it->text, (struct str){0});
}

static void composing_fill(struct composing *it, const struct effect *effect) {
    struct str node = str_cut(effect->node, LIMIT_NODE_ID);
    if (node.len > 0)
        memcpy(it->node, node.at, node.len);
    it->about = (struct instruction){.goal = effect->goal,
                                     .node = {it->node, node.len},
                                     .text = effect->text,
                                     .handoff = effect->handoff,
                                     .outgoing = effect->outgoing,
                                     .words = effect->words};
    it->named[0] = effect->text;
    it->named[1] = effect->handoff;
    it->named[2] = effect->outgoing;
    it->named[3] = effect->start;
    it->lookup.done = looked_up;
    it->lookup.request = (struct store_request){.verb = STORE_SHOW,
                                                .ids = &it->about.goal,
                                                .id_count = 1,
                                                .limit = 1,
                                                .texts = it->named,
                                                .text_count = count_of(it->named)};
}

void compose(struct lookups *lookups, const struct effect *effect, bool whole, composed *done,
             void *with) {
    struct composing *it = memory_new(sizeof *it);
    it->done = done;
    it->with = with;
    it->whole = whole;
    composing_fill(it, effect);
    if (!lookups_ask(lookups, &it->lookup))
        composing_end(it, (struct str){0}, STR("the daemon is stopping"));
}
