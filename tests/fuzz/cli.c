/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the command line with any typed words. Words are the pieces between line ends; no command is executed. */
#include "cli/command.h"
#include "cli/term.h"

#include <stdlib.h>

enum { MOST = 64 };

#define NOT_RUN(name) \
    int name(struct typed *typed) { \
        (void)typed; \
        return 0; \
    }
NOT_RUN(account_add_run)
NOT_RUN(live_run)
NOT_RUN(op_run)
NOT_RUN(maintain_run)
NOT_RUN(help_run)
NOT_RUN(completion_run)
NOT_RUN(init_run)
NOT_RUN(up_run)
NOT_RUN(down_run)
NOT_RUN(doctor_run)
NOT_RUN(events_run)
NOT_RUN(version_run)
NOT_RUN(config_check_run)
NOT_RUN(get_run)
NOT_RUN(demo_run)
NOT_RUN(run_run)
NOT_RUN(adopt_run)
NOT_RUN(logs_run)
NOT_RUN(attach_run)
NOT_RUN(tell_run)
NOT_RUN(diff_run)
NOT_RUN(decide_run)
NOT_RUN(answer_run)
NOT_RUN(release_run)
NOT_RUN(retry_run)
NOT_RUN(gateway_run)
NOT_RUN(mcp_run)

static int words_split(char *text, char **words) {
    int count = 0;
    for (char *at = text; at && count < MOST;) {
        char *end = strchr(at, '\n');
        if (end)
            *end++ = 0;
        words[count++] = at;
        at = end;
    }
    return count;
}

/* A refusal has a reason; accepted words have a command, a noun, or nothing at all. */
static void words_try(char **words, int count) {
    struct typed typed;
    if (!typed_read(&typed, count, words)) {
        must(typed.trouble.text[0] && typed.trouble.exit > 0);
        must(typed.trouble.error == ERROR_INVALID);
    } else if (typed.command) {
        const char *name;
        json_t *value;
        must(!typed.noun);
        json_object_foreach(typed.params, name, value) must(value && !json_is_null(value));
    }
    typed_free(&typed);
}

/* Text on a terminal is never wider than allowed, and contains nothing that controls the terminal. */
static void text_try(struct str text, size_t width) {
    static char shown[1 << 20];
    shown[0] = 0;
    FILE *file = fmemopen(shown, sizeof shown, "w");
    if (!file)
        return;
    text_print(file, text, width, 0);
    fclose(file);
    must(text_width(str_of(shown)) <= (text_width(text) < width ? text_width(text) : width));
    must(!strpbrk(shown, "\033\r\n\b"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *words[MOST], *text = malloc(size + 1);
    if (!text)
        return 0;
    term_start();
    memcpy(text, data, size);
    text[size] = 0;
    text_try((struct str){text, strlen(text)}, 1 + size % 100);
    words_try(words, words_split(text, words));
    free(text);
    return 0;
}
