/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what an agent said, and what it changed. */
#include "cli/print/print.h"
#include "cli/shown.h"

/* ---- what an agent said ---- */

static const struct {
    const char *kind, *before;
    enum tint tint;
} KINDS[] = {{"said", "", TINT_NONE},   {"told", "→ ", TINT_BUSY}, {"tool", "· ", TINT_DIM},
             {"asks", "? ", TINT_WARN}, {"ended", "— ", TINT_DIM}, {"failed", "✗ ", TINT_BAD}};

void print_work_line(const json_t *line) {
    const char *kind = text_of(line, "kind");
    size_t row = 0;
    for (size_t i = 0; i < count_of(KINDS); i++)
        if (strcmp(KINDS[i].kind, kind) == 0)
            row = i;
    tint_on(stdout, KINDS[row].tint);
    printf("%s", KINDS[row].before);
    text_say(stdout, text_of(line, "text"));
    tint_off(stdout, KINDS[row].tint);
    printf("\n");
}

void print_log(const struct typed *typed, const json_t *result) {
    const json_t *lines = json_object_get(result, "lines");
    size_t i;
    json_t *line;
    (void)typed;
    json_array_foreach(lines, i, line) print_work_line(line);
    if (json_array_size(lines) == 0)
        printf(*text_of(result, "agentId") ? "%s has no output yet.\n"
                                           : "No agent works on it yet.%s\n",
               text_of(result, "agentId"));
    if (flag_of(result, "more"))
        hint("There is more: --from %lld", number_of(result, "next"));
}

/* ---- changes ---- */

static enum tint line_tint(const char *line) {
    if (strncmp(line, "+++", 3) == 0 || strncmp(line, "---", 3) == 0 ||
        strncmp(line, "diff ", 5) == 0)
        return TINT_BOLD;
    return *line == '+'   ? TINT_GOOD
           : *line == '-' ? TINT_BAD
           : *line == '@' ? TINT_BUSY
                          : TINT_NONE;
}

/* As git prints it, but without characters that control the terminal; output to a file is unchanged. */
static void patch_print(const char *text) {
    if (!term_is(stdout)) {
        fputs(text, stdout);
        return;
    }
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        enum tint tint = line_tint(at);
        tint_on(stdout, tint);
        text_print(stdout, (struct str){at, length}, 0, 0);
        tint_off(stdout, tint);
        printf("\n");
        at += length + (at[length] == '\n');
    }
}

/* False: a change is wanted. */
static bool answer_print(const json_t *result) {
    const char *answer = text_of(result, "answer");
    if (!*answer)
        return false;
    printf("ANSWER, unverified, by %s\n", text_of(result, "agentId"));
    lines_say(answer);
    if (number_of(result, "files") > 0)
        hint("It also changed %lld files in its worktree. They are kept, and never land.",
             number_of(result, "files"));
    return true;
}

void print_diff(const struct typed *typed, const json_t *result) {
    (void)typed;
    if (answer_print(result))
        return;
    if (!*text_of(result, "base")) {
        printf(*text_of(result, "agentId") ? "There is no worktree, so nothing can be compared.\n"
                                           : "No agent works on it yet.\n");
        return;
    }
    bool waits = flag_of(result, "waits");
    if (waits)
        shown_remember(text_of(result, "goalId"), text_of(result, "commit"));
    if (number_of(result, "files") == 0)
        printf("Nothing has changed.\n");
    patch_print(text_of(result, "diff"));
    if (flag_of(result, "cut"))
        fprintf(stderr, "The output is truncated here.\n");
    hint("%lld files, +%lld -%lld, by %s", number_of(result, "files"),
         number_of(result, "insertions"), number_of(result, "deletions"),
         text_of(result, "agentId"));
    if (waits)
        hint("This is commit %.12s on %.12s: it passed its checks, and it is what lands.",
             text_of(result, "commit"), text_of(result, "base"));
    if (flag_of(result, "moved"))
        hint("Its worktree has changed since; --worktree shows that.");
}
