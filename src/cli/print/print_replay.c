/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the result of a replay. */
#include "cli/print/print.h"

static void lines_print(const char *title, const json_t *lines) {
    size_t i;
    json_t *line;
    printf("    %s: ", title);
    if (json_array_size(lines) == 0)
        printf("nothing");
    json_array_foreach(lines, i, line) {
        printf("%s", i ? "; " : "");
        text_say(stdout, text_of(line, "what"));
    }
    printf("\n");
}

static void difference_print(const json_t *difference) {
    char at[CLOCK_TEXT], looked[CLOCK_TEXT];
    printf("  %s  record %lld", clock_format(time_of(difference, "at"), clock_now(), at),
           number_of(difference, "record"));
    int64_t earlier = time_of(difference, "lookedAt");
    if (earlier) {
        printf(": it would have been checked earlier, at %s\n",
               clock_format(earlier, clock_now(), looked));
        return;
    }
    printf(", after %s\n", text_of(difference, "signal"));
    lines_print("decided", json_object_get(difference, "decided"));
    lines_print("instead", json_object_get(difference, "instead"));
}

void print_replay(const struct typed *typed, const json_t *result) {
    const json_t *differences = json_object_get(result, "differences");
    size_t i;
    json_t *difference;
    (void)typed;
    text_say(stdout, text_of(result, "sentence"));
    printf(" %lld decisions, %lld records", number_of(result, "decisions"),
           number_of(result, "records"));
    if (strcmp(text_of(result, "verdict"), "same") == 0 && number_of(result, "differenceCount"))
        printf("; %lld would differ", number_of(result, "differenceCount"));
    printf(".\n");
    json_array_foreach(differences, i, difference) difference_print(difference);
}
