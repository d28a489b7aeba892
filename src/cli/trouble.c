/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trouble.h"

#include "cli/term.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* One line for each status that a row of ERRORS has; G-47. */
static const char *const EXITS[EXIT_STATUSES] = {
    [0] = "done",
    [1] = "the command failed, or doctor found a problem",
    [2] = "invalid arguments or an invalid request",
    [3] = "not found",
    [4] = "conflict with the current state",
    [5] = "the goal is quarantined",
    [6] = "try again later",
    [7] = "no daemon answers",
    [8] = "safe mode",
    [9] = "not allowed",
};

const char *exit_meaning(int status) {
    return status >= 0 && status < EXIT_STATUSES ? EXITS[status] : NULL;
}

bool trouble_make(struct trouble *trouble, enum error error, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(trouble->text, sizeof trouble->text, format, args);
    va_end(args);
    trouble->error = error;
    trouble->exit = ERRORS[error].exit_status;
    trouble->next[0] = 0;
    snprintf(trouble->code, sizeof trouble->code, "%s", ERRORS[error].code);
    return false;
}

void trouble_next(struct trouble *trouble, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(trouble->next, sizeof trouble->next, format, args);
    va_end(args);
}

static void tell_json(const struct trouble *trouble) {
    json_t *error = json_pack("{s:s, s:s, s:i}", "code", trouble->code, "message", trouble->text,
                              "exit", trouble->exit);
    if (error && trouble->next[0])
        json_object_set_new(error, "next", json_string(trouble->next));
    json_t *json = json_pack("{s:o}", "error", error);
    if (json)
        json_dumpf(json, stderr, JSON_COMPACT);
    fprintf(stderr, "\n");
    json_decref(json);
}

int trouble_tell(const struct trouble *trouble, bool as_json) {
    fflush(stdout);
    if (as_json)
        tell_json(trouble);
    else {
        char line[sizeof trouble->text + sizeof trouble->next + 16];
        snprintf(line, sizeof line, "overseer: %s%s%s", trouble->text, trouble->next[0] ? " " : "",
                 trouble->next);
        term_is(stderr) ? text_wrap(stderr, line, 0, 2) : (void)fprintf(stderr, "%s\n", line);
    }
    return trouble->exit;
}
