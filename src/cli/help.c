/* SPDX-License-Identifier: Apache-2.0 */
/* Prints help: all of it comes from the rows of the commands. */
#include "cli/help.h"

#include "cli/print/table.h"

#include <ctype.h>
#include <string.h>

enum { SUMMARY_AT = 18, FLAG_AT = 30 };

static void line(FILE *file, const char *name, const char *text) {
    size_t wide = text_width(str_of(name)), at = wide + 4 > SUMMARY_AT ? wide + 4 : SUMMARY_AT;
    fprintf(file, "  ");
    tint_on(file, TINT_BOLD);
    text_print(file, str_of(name), 0, at - 2);
    tint_off(file, TINT_BOLD);
    text_wrap(file, text, at, at);
}

/* ---- many commands ---- */

static void verbs_list(const struct noun *noun, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "%s%s", noun->summary, *noun->summary ? ": " : "");
    bool any = false;
    for (size_t i = 0; i < command_count(); i++)
        if (command_has_noun(command_at(i), noun->name) && used < size) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", any ? ", " : "",
                                     strchr(command_at(i)->words, ' ') + 1);
            any = true;
        }
}

/* Up to the first colon, semicolon or full stop. */
static int clause_length(const char *text) {
    size_t length = strcspn(text, ":;");
    const char *stop = strstr(text, ". ");
    if (stop && (size_t)(stop - text) < length)
        length = (size_t)(stop - text);
    return (int)(length > 0 && text[length - 1] == '.' ? length - 1 : length);
}

/* The purpose is printed before the first row of each group; all of it fits on a small screen. */
static void group_rows(struct table *table, enum group group) {
    char text[1024];
    const char *title = GROUP_NAMES[group];
    for (size_t i = 0; noun_at(i); i++)
        if (noun_at(i)->group == group) {
            verbs_list(noun_at(i), text, sizeof text);
            table_row(table);
            table_cell(table, TINT_DIM, "%s", title);
            table_cell(table, TINT_BOLD, "%s …", noun_at(i)->name);
            table_cell(table, TINT_NONE, "%s", text);
            title = "";
        }
    for (size_t i = 0; i < command_count(); i++)
        if (command_at(i)->group == group && !strchr(command_at(i)->words, ' ')) {
            table_row(table);
            table_cell(table, TINT_DIM, "%s", title);
            table_cell(table, TINT_BOLD, "%s", command_at(i)->words);
            const char *summary = command_summary(command_at(i));
            table_cell(table, TINT_NONE, "%.*s", clause_length(summary), summary);
            title = "";
        }
}

static void groups_print(enum group last) {
    static const struct column COLUMNS[] = {{0}, {0}, {.bends = true}};
    struct table table = {.columns = COLUMNS, .column_count = count_of(COLUMNS)};
    for (enum group group = 0; group <= last; group++)
        group_rows(&table, group);
    table_print(&table);
}

int help_front(void) {
    printf("Overseer supervises AI coding agents: give it goals, and see the results.\n");
    groups_print(GROUP_KEEP);
    printf("Help for one command: overseer help COMMAND. All commands: overseer help --all\n");
    return 0;
}

static void flags_print(const struct field *flags, size_t count);

/* One line for each command, and what applies to all of them. */
static void all_print(void) {
    for (enum group group = 0; group < GROUPS; group++)
        for (size_t i = 0; i < command_count(); i++)
            if (command_at(i)->group == group)
                line(stdout, command_at(i)->words, command_summary(command_at(i)));
    printf("\nOptions of every command\n");
    flags_print(GLOBALS, GLOBAL_COUNT);
    printf("\nExit status\n");
    for (int i = 0; i < EXIT_STATUSES; i++)
        if (exit_meaning(i))
            printf("  %d  %s\n", i, exit_meaning(i));
}

void help_noun(FILE *file, const char *noun) {
    const struct noun *row = noun_find(noun);
    if (row && *row->summary)
        fprintf(file, "overseer %s …: %s\n\n", noun, row->summary);
    for (size_t i = 0; i < command_count(); i++)
        if (command_has_noun(command_at(i), noun))
            line(file, command_at(i)->words, command_summary(command_at(i)));
    fprintf(file, "\n`overseer help %s VERB` shows help for one of them.\n", noun);
}

/* ---- one command ---- */

/* Flags whose name alone describes the value: a file, an address … */
static const char *const TELLING[] = {"goal", "file", "socket", "url", "node", "folder", "reason"};

const char *flag_value_shown(const struct field *flag, bool positional, char text[VALUE_TEXT]) {
    char name[FLAG_NAME];
    bool tells = positional;
    text[0] = 0;
    switch (flag->type) {
    case FIELD_FLAG: return text;
    case FIELD_INT:
    case FIELD_UINT:
    case FIELD_U32: return strcpy(text, "N");
    case FIELD_TIME: return strcpy(text, "TIME");
    case FIELD_ROWS: return strcpy(text, "JSON|@FILE");
    case FIELD_ENUM:
        for (uint32_t i = 0; i < flag->names->count; i++) {
            size_t used = strlen(text);
            if (used + strlen(name_of(flag->names, i)) + 2 > VALUE_TEXT || used > 48)
                return strcpy(text, "CHOICE");
            snprintf(text + used, VALUE_TEXT - used, "%s%s", i ? "|" : "", name_of(flag->names, i));
        }
        return text;
    default: break;
    }
    for (size_t i = 0; i < count_of(TELLING); i++)
        tells = tells || strcmp(flag->name, TELLING[i]) == 0;
    flag_shown(flag, name);
    for (size_t i = 0; name[i]; i++)
        name[i] = (char)toupper((unsigned char)name[i]);
    snprintf(text, VALUE_TEXT, "%s", tells ? name : "TEXT");
    return text;
}

static void flag_print(const struct command *command, const struct field *flag, bool positional) {
    char name[FLAG_NAME], value[VALUE_TEXT], shown[FLAG_NAME + VALUE_TEXT + 8], text[512];
    const char *brief = flag_short(command, flag->name);
    flag_value_shown(flag, positional, value);
    flag_shown(flag, name);
    if (positional)
        snprintf(shown, sizeof shown, "%s", value);
    else
        snprintf(shown, sizeof shown, "%s%s--%s%s%s", brief ? brief : "", brief ? ", " : "", name,
                 *value ? " " : "", value);
    snprintf(text, sizeof text, "%s%s%s", flag->text ? flag->text : "",
             flag->flags & FIELD_REQUIRED ? " (required)" : "",
             flag->type == FIELD_TEXTS ? " (may be repeated)" : "");
    size_t wide = text_width(str_of(shown));
    printf("  ");
    text_print(stdout, str_of(shown), 0, FLAG_AT - 2);
    if (wide + 4 > FLAG_AT)
        printf("\n%*s", FLAG_AT, "");
    text_wrap(stdout, text, FLAG_AT, FLAG_AT);
}

static void flags_print(const struct field *flags, size_t count) {
    for (size_t i = 0; i < count; i++)
        flag_print(NULL, &flags[i], false);
}

/* Examples stay on one line, so that they can be copied. */
static void help_text(const char *help) {
    char line[1024];
    for (const char *at = help; *at;) {
        size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        if (strncmp(line, "Example: ", 9) == 0)
            printf("%s\n", line);
        else
            text_wrap(stdout, line, 0, 0);
        at += length + (at[length] == '\n');
    }
}

void help_command(const struct command *command) {
    char value[VALUE_TEXT];
    size_t positional = command_positional(command);
    tint_on(stdout, TINT_BOLD);
    printf("overseer %s", command->words);
    tint_off(stdout, TINT_BOLD);
    for (size_t i = 0; i < positional; i++) {
        const struct field *flag = command_flag(command, i);
        bool required = flag->flags & FIELD_REQUIRED;
        printf(required ? " %s" : " [%s]", flag_value_shown(flag, true, value));
    }
    printf("%s\n", command_flag(command, positional) ? " [--…]" : "");
    text_wrap(stdout, command_summary(command), 0, 0);
    if (command_flag(command, 0))
        printf("\n");
    for (size_t i = 0; command_flag(command, i); i++)
        flag_print(command, command_flag(command, i), i < positional);
    printf("\n");
    help_text(command_help(command));
}

int help_for(struct typed *typed) {
    pager_start();
    if (typed->command)
        help_command(typed->command);
    else if (typed->noun)
        help_noun(stdout, typed->noun);
    else
        help_front();
    pager_end();
    return 0;
}

/* ---- help as JSON ---- */

static json_t *flag_json(const struct field *flag, bool positional) {
    static const char *const TYPES[] = {
        [FIELD_INT] = "number", [FIELD_UINT] = "number", [FIELD_U32] = "number",
        [FIELD_FLAG] = "flag",  [FIELD_TEXTS] = "texts", [FIELD_ROWS] = "rows",
        [FIELD_TIME] = "time",  [FIELD_ENUM] = "choice"};
    char name[FLAG_NAME];
    const char *type = (size_t)flag->type < count_of(TYPES) ? TYPES[flag->type] : NULL;
    json_t *json = json_pack("{s:s, s:s, s:s, s:b, s:b, s:s}", "name", flag_shown(flag, name),
                             "parameter", flag->name, "type", type ? type : "text", "required",
                             (flag->flags & FIELD_REQUIRED) != 0, "positional", positional, "text",
                             flag->text ? flag->text : "");
    if (flag->type == FIELD_ENUM) {
        json_t *values = json_array();
        for (uint32_t i = 0; i < flag->names->count; i++)
            json_array_append_new(values, json_string(name_of(flag->names, i)));
        json_object_set_new(json, "values", values);
    }
    return json;
}

static int all_json(void) {
    json_t *list = json_array();
    for (size_t i = 0; i < command_count(); i++) {
        const struct command *command = command_at(i);
        json_t *flags = json_array();
        for (size_t at = 0; command_flag(command, at); at++)
            json_array_append_new(
                flags, flag_json(command_flag(command, at), at < command_positional(command)));
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:s?, s:o}", "words", command->words, "summary",
                            command_summary(command), "help", command_help(command), "operation",
                            command->op ? command->op->name : NULL, "flags", flags));
    }
    json_t *json = json_pack("{s:o}", "commands", list);
    json_dumpf(json, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(json);
    return 0;
}

/* ---- `overseer help` ---- */

int help_run(struct typed *typed) {
    const json_t *words = json_object_get(typed->params, "words");
    char *spelled[8] = {0};
    size_t count = json_array_size(words);
    struct typed about;
    for (size_t i = 0; i < count && i < count_of(spelled); i++)
        spelled[i] = (char *)(uintptr_t)json_string_value(json_array_get(words, i));
    if (typed_flag(typed, "man"))
        return man_print(spelled[0]);
    if (typed->as_json)
        return all_json();
    if (typed_flag(typed, "all")) {
        pager_start();
        all_print();
        pager_end();
        return 0;
    }
    bool known = typed_read(&about, (int)(count < 2 ? count : 2), spelled);
    int status = known ? help_for(&about) : trouble_tell(&about.trouble, false);
    typed_free(&about);
    return status;
}
