/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reading of agents' replies: no reply may harm us or report more than its block. Accepted fields have to be
 * as declared, and a message of ours that quotes the text is no update. */
#include "core/people/words.h"
#include "ops/json.h"
#include "runs/words/agent_completion.h"
#include "runs/words/agent_words.h"

/* Whatever the reply says: the update stays within its fields, and can be stored and read again. */
static void update_try(struct str reply, struct arena *arena) {
    struct update update = {0}, again = {0};
    char why[256] = "";
    uint32_t entry;
    enum update_found found = update_read(reply, arena, &update, why, sizeof why);
    must(found != UPDATE_REFUSED || why[0] != 0);
    if (found != UPDATE_THERE)
        return;
    must(fields_broken(UPDATE.fields, UPDATE.count, &update, &entry) == NULL);
    must(shape_decode_in(&UPDATE, shape_encode(&UPDATE, &update, arena), arena, &again));
    must(str_equal(update.summary, again.summary));
    must(memmem(reply.at, reply.len, "overseerUpdate", 14) != NULL);
}

/* REPORT-05: a report in words stays within its fields, too. */
static void completion_try(struct str reply, struct arena *arena) {
    struct update update = {0}, again = {0};
    uint32_t entry;
    if (!completion_read(reply, false, arena, &update))
        return;
    must(fields_broken(UPDATE.fields, UPDATE.count, &update, &entry) == NULL);
    must(shape_decode_in(&UPDATE, shape_encode(&UPDATE, &update, arena), arena, &again));
    must(again.completion > 0 && again.completion <= COMPLETIONS);
}

/* The same text, quoted in a message of ours: none of it is taken for an update or a report. */
static void words_try(struct str text, struct arena *arena) {
    struct texts list = {&text, 1};
    struct node_text task = {
        .name = text, .objective = text, .criteria = list, .completion_report = 1};
    struct handoff left = {.summary = text, .next_actions = list};
    struct words_about about = {
        .node = str_cut(text, LIMIT_NODE_ID), .task = &task, .handoff = &left, .outgoing = text};
    enum wording words =
        WORDS_TASK + (text.len > 0 ? (unsigned char)text.at[0] : 0) % (WORDINGS - WORDS_TASK);
    struct update update = {0};
    char why[256] = "";
    struct str written = words_write(words, &about, arena);
    must(written.len <= LIMIT_INSTRUCTION);
    must(update_read(written, arena, &update, why, sizeof why) == UPDATE_ABSENT);
    must(!completion_read(written, false, arena, &update));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = {0};
    struct str text = {(const char *)data, size};
    json_count_memory();
    update_try(text, &arena);
    words_try(text, &arena);
    completion_try(text, &arena);
    struct signal signal;
    if (update_signal(text, WHO_AGENT, (struct id){{1}}, 1, &arena, &signal))
        must(signal.body.len == 0 || signal.reason.len == 0);
    arena_free(&arena);
    return 0;
}
