/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps parts of an older file when the settings are written anew: every section that init does not write itself,
 * unchanged, and every agent: a person may have restricted it. */
#include "cli/init/init_keep.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const WRITTEN[] = {"[supervision]", "[policy]", "[repo]", "[verify]",
                                      "[landing]"};

/* A section: its header, and everything up to the next one. */
struct block {
    char *text;
    size_t length;
    FILE *file;
    char header[128], id[128];
};

static bool is_header(const char *line) {
    return line[strspn(line, " \t")] == '[';
}

/* id = "mine" */
static void id_take(struct block *block, const char *line) {
    char id[sizeof block->id];
    if (sscanf(line, " id = \"%127[^\"]\"", id) == 1)
        memcpy(block->id, id, sizeof id);
}

static void header_take(struct block *block, const char *line) {
    const char *at = line + strspn(line, " \t"), *end = strrchr(at, ']');
    size_t length = end ? (size_t)(end - at) + 1 : 0;
    const char *note = strchr(at, '#');
    if (note && end > note)
        length = 0;
    snprintf(block->header, sizeof block->header, "%.*s", (int)length, at);
}

static bool is_kept(const struct block *block) {
    for (size_t i = 0; i < count_of(WRITTEN); i++)
        if (strcmp(block->header, WRITTEN[i]) == 0)
            return false;
    if (strcmp(block->header, "[[agents]]") == 0)
        return block->id[0] != 0;
    return block->header[0] != 0;
}

static void block_begin(struct block *block) {
    *block = (struct block){0};
    block->file = open_memstream(&block->text, &block->length);
    if (!block->file)
        memory_exhausted();
}

static void block_end(struct block *block, kept_block *each, void *with) {
    fclose(block->file);
    if (is_kept(block))
        each(with, block->id, block->text);
    free(block->text);
}

void init_keep(const char *path, kept_block *each, void *with) {
    FILE *old = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    struct block block;
    if (!old)
        return;
    block_begin(&block);
    while (getline(&line, &room, old) >= 0) {
        if (is_header(line)) {
            block_end(&block, each, with);
            block_begin(&block);
            header_take(&block, line);
        }
        id_take(&block, line);
        fputs(line, block.file);
    }
    block_end(&block, each, with);
    free(line);
    fclose(old);
}

struct looking {
    const char *id;
    bool found;
};

static void agent_look(void *with, const char *id, const char *text) {
    struct looking *it = with;
    bool is_agent = strncmp(text + strspn(text, " \t"), "[[agents]]", 10) == 0;
    it->found = it->found || (is_agent && (!it->id || strcmp(it->id, id) == 0));
}

bool init_has_agent(const char *path, const char *id) {
    struct looking it = {.id = id};
    init_keep(path, agent_look, &it);
    return it.found;
}
