/* SPDX-License-Identifier: Apache-2.0 */
/* Prints why something is in its state, as UX draws it: what, since when, from what, and what to do. */
#include "cli/print/print.h"

enum { SHOWN_ID = 10 };

static enum tint kind_tint(const char *kind) {
    return strcmp(kind, "said") == 0      ? TINT_DIM
           : strcmp(kind, "decided") == 0 ? TINT_BOLD
           : strcmp(kind, "acted") == 0   ? TINT_BUSY
                                          : TINT_NONE;
}

static void lines_print(const json_t *lines) {
    static const struct column COLUMNS[] = {{0}, {.bends = true}, {0}, {.right = true}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS), .indent = 2};
    size_t i;
    json_t *line;
    char at[CLOCK_TEXT];
    json_array_foreach(lines, i, line) {
        table_row(&table);
        table_cell(&table, TINT_DIM, "%s", clock_format(time_of(line, "at"), clock_now(), at));
        table_cell(&table, TINT_NONE, "%s", text_of(line, "what"));
        table_cell(&table, kind_tint(text_of(line, "kind")), "%s", text_of(line, "kind"));
        table_cell(&table, TINT_DIM, "record %lld", number_of(line, "record"));
    }
    table_print(&table);
}

static void timer_print(const json_t *why) {
    char at[CLOCK_TEXT];
    const char *waits = text_of(why, "waitsFor");
    int64_t timer = time_of(why, "nextTimer");
    printf("Next timer: %s%s%s\n", timer ? clock_format(timer, clock_now(), at) : "none",
           *waits ? ", waits for " : "", waits);
}

/* Which setting decided, and what another value would have caused. */
static void differ_print(const json_t *differences) {
    size_t i;
    json_t *one;
    json_array_foreach(differences, i, one) {
        printf("Would differ if: %s = %s → ", text_of(one, "setting"), text_of(one, "value"));
        text_say(stdout, text_of(one, "instead"));
        printf("\n");
    }
}

static void do_print(const json_t *commands) {
    size_t i;
    json_t *command;
    json_array_foreach(commands, i, command) {
        printf(i ? "    " : "Do: ");
        command_say(json_string_value(command), SHOWN_ID);
        printf("\n");
    }
}

/* A node, an assignment or a question; empty: the goal itself. */
static const char *part_of(const json_t *why) {
    static const char *const NAMES[] = {"node", "assignment", "question"};
    for (size_t i = 0; i < count_of(NAMES); i++)
        if (*text_of(why, NAMES[i]))
            return text_of(why, NAMES[i]);
    return "";
}

void print_why(const struct typed *typed, const json_t *why) {
    const char *part = part_of(why);
    bool of_node = *part;
    const char *state = text_of(why, of_node ? "status" : "state");
    char since[CLOCK_TEXT], id[ID_TEXT + 1];
    (void)typed;
    tint_on(stdout, TINT_BOLD);
    printf("%s \"", name_or_id(why, SHOWN_ID, id));
    text_say(stdout, text_of(why, "title"));
    printf("\"");
    tint_off(stdout, TINT_BOLD);
    if (of_node) {
        printf(", ");
        text_say(stdout, part);
    }
    state_say(state);
    if (!of_node && strcmp(state, "done") == 0) /* done always says what it is based on */
        printf("%s,", proof_say(why));
    printf(" since %s", clock_format(time_of(why, "since"), clock_now(), since));
    if (*text_of(why, "rule"))
        printf(", by rule %s", text_of(why, "rule"));
    printf("\n");
    lines_print(json_object_get(why, "lines"));
    fact_print("Kept", text_of(why, "kept"));
    timer_print(why);
    differ_print(json_object_get(why, "wouldDiffer"));
    do_print(json_object_get(why, "do"));
}
