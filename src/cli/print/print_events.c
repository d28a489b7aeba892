/* SPDX-License-Identifier: Apache-2.0 */
/* Prints events, one line each: when, of which goal, what, and by whom. */
#include "cli/print/print.h"

#include <time.h>

enum { TYPE_WIDTH = 18, LINE = 2048 };

static enum tint type_tint(const char *type) {
    static const struct {
        const char *end;
        enum tint tint;
    } ENDS[] = {
        {".completed", TINT_GOOD},     {".done", TINT_GOOD},         {".approved", TINT_GOOD},
        {".blocked", TINT_WARN},       {".needs_person", TINT_WARN}, {".unconfirmed", TINT_WARN},
        {".review_needed", TINT_WARN}, {".quarantined", TINT_BAD},   {".corrupt", TINT_BAD},
        {".stopped", TINT_WARN},       {".claimed", TINT_DIM}};
    size_t length = strlen(type);
    for (size_t i = 0; i < count_of(ENDS); i++) {
        size_t end = strlen(ENDS[i].end);
        if (length > end && strcmp(type + length - end, ENDS[i].end) == 0)
            return ENDS[i].tint;
    }
    return TINT_NONE;
}

static void add(char *line, const char *before, const char *text, const char *after) {
    size_t used = strlen(line), length = strlen(text);
    while (length > 0 && strchr(" \n\r\t", text[length - 1]))
        length--; /* the output of commands ends with a line feed */
    if (length > 0 && used < LINE)
        snprintf(line + used, LINE - used, "%s%s%.*s%s", used ? "  " : "", before, (int)length,
                 text, after);
}

/* What the event says, with the rule and the actor in brackets. */
static void event_words(const json_t *event, char line[LINE]) {
    char moved[256] = "", who[256] = "";
    line[0] = 0;
    if (*text_of(event, "to"))
        snprintf(moved, sizeof moved, "%s → %s", text_of(event, "from"), text_of(event, "to"));
    add(line, "", text_of(event, "node"), "");
    add(line, "", moved, "");
    add(line, "", text_of(event, "text"), "");
    if (json_object_get(event, "exit") && number_of(event, "exit") != 0) {
        char status[32];
        snprintf(status, sizeof status, "%lld", number_of(event, "exit"));
        add(line, "exit status ", status, "");
    }
    add(line, "“", text_of(event, "reason"), "”");
    snprintf(who, sizeof who, "%s%s%s", text_of(event, "rule"),
             *text_of(event, "actor") ? ", " : "", text_of(event, "actor"));
    add(line, "[", who, "]");
}

void print_event(const json_t *event, size_t id_length) {
    char line[LINE], id[ID_TEXT + 1], at[CLOCK_TEXT];
    const char *goal = text_of(event, "goalId"), *type = text_of(event, "type");
    struct str stamp = str_of(text_of(event, "at"));
    size_t width = term_width(), used = 2 + 8 + 2 + (*goal ? id_length + 2 : 0);
    time_t seconds = (time_t)(time_of(event, "at") / 1000000);
    struct tm local;
    localtime_r(&seconds, &local);
    strftime(at, sizeof at, stamp.len ? "%H:%M:%S" : "", &local);
    tint_on(stdout, TINT_DIM);
    printf("  %-8s  ", at);
    tint_off(stdout, TINT_DIM);
    if (*goal) {
        bool of_store = strncmp(goal, "goal_0000000000", 15) ==
                        0; /* the store's own goal, which belongs to no user */
        text_print(stdout, str_of(of_store ? "store" : id_short(goal, id_length, id)), 0,
                   id_length);
        printf("  ");
    }
    size_t named = strlen(type) > TYPE_WIDTH ? strlen(type) : TYPE_WIDTH;
    tint_on(stdout, type_tint(type));
    text_print(stdout, str_of(type), 0, TYPE_WIDTH);
    tint_off(stdout, type_tint(type));
    printf("  ");
    event_words(event, line);
    used += named + 2;
    text_print(stdout, str_of(line), width > used + 20 ? width - used : 0, 0);
    printf("\n");
}

void print_events(const struct typed *typed, const json_t *result) {
    const json_t *events = json_object_get(result, "events");
    size_t i, length = ids_length(events);
    json_t *event;
    (void)typed;
    if (flag_of(result, "gone"))
        fprintf(stderr, "Earlier events are no longer kept; this begins with the oldest one.\n");
    json_array_foreach(events, i, event) print_event(event, length);
    if (json_array_size(events) == 0)
        hint("There are no such events.");
    if (flag_of(result, "more"))
        hint("More: overseer events --after %s", text_of(result, "next"));
}
