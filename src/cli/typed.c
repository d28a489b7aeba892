/* SPDX-License-Identifier: Apache-2.0 */
/* Parses what the user typed against the rows of the command; nothing is listed twice. */
#include "cli/typed.h"

#include "cli/command.h"
#include "cli/suggest.h"
#include "model/goal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct typed *typed;
    int count, next; /* number of words, and index of the next one */
    char *const *words;
    size_t positional; /* used so far */
    bool no_more_flags;
};

/* ---- unknown commands and flags ---- */

static bool command_unknown(struct typed *typed, const char *first, const char *second) {
    struct nearest near = {.typed = second ? second : first};
    for (size_t i = 0; i < command_count(); i++) {
        const char *words = command_at(i)->words, *space = strchr(words, ' ');
        if (second && command_has_noun(command_at(i), first))
            nearest_offer(&near, space + 1);
        else if (!second && !space)
            nearest_offer(&near, words);
    }
    for (size_t i = 0; !second && noun_at(i); i++)
        nearest_offer(&near, noun_at(i)->name);
    trouble_make(&typed->trouble, ERROR_INVALID, "Unknown command `%.40s%s%.40s`.", first,
                 second ? " " : "", second ? second : "");
    if (near.name)
        trouble_next(&typed->trouble, "Did you mean `overseer %s%s%s`?", second ? first : "",
                     second ? " " : "", near.name);
    else
        trouble_next(&typed->trouble, "`overseer help%s%.40s` lists the commands.",
                     second ? " " : "", second ? first : "");
    return false;
}

static bool flag_unknown(struct typed *typed, const char *name) {
    const struct command *command = typed->command;
    char shown[FLAG_NAME], best[FLAG_NAME] = "";
    struct nearest near = {.typed = name};
    for (size_t i = 0; i < GLOBAL_COUNT; i++)
        nearest_offer(&near, GLOBALS[i].name);
    if (near.name)
        snprintf(best, sizeof best, "%s", near.name);
    for (size_t i = 0; command && command_flag(command, i); i++) {
        const char *before = near.name;
        nearest_offer(&near, flag_shown(command_flag(command, i), shown));
        if (near.name != before)
            snprintf(best, sizeof best, "%s", shown);
        if (near.name)
            near.name = best;
    }
    trouble_make(&typed->trouble, ERROR_INVALID, "`overseer%s%s` has no option --%.60s.",
                 command ? " " : "", command ? command->words : "", name);
    if (near.name)
        trouble_next(&typed->trouble, "Did you mean --%s?", near.name);
    else
        trouble_next(&typed->trouble, "`overseer help%s%s` shows its arguments.",
                     command ? " " : "", command ? command->words : "");
    return false;
}

static bool choice_unknown(struct typed *typed, const struct field *field, const char *value) {
    char shown[FLAG_NAME], all[256] = "";
    struct nearest near = {.typed = value};
    for (uint32_t i = 0; i < field->names->count; i++) {
        size_t used = strlen(all);
        nearest_offer(&near, name_of(field->names, i));
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", name_of(field->names, i));
    }
    trouble_make(&typed->trouble, ERROR_INVALID, "--%s must be one of: %s; not \"%.40s\".",
                 flag_shown(field, shown), all, value);
    if (near.name)
        trouble_next(&typed->trouble, "Did you mean %s?", near.name);
    return false;
}

/* ---- values ---- */

static bool is_number(enum field_type type) {
    return type == FIELD_INT || type == FIELD_UINT || type == FIELD_U32;
}

static json_t *number_read(struct typed *typed, const struct field *field, const char *value) {
    char *end, shown[FLAG_NAME];
    long long number = strtoll(value, &end, 10);
    if (*value && !*end)
        return json_integer(number);
    trouble_make(&typed->trouble, ERROR_INVALID, "--%s must be a number; \"%.40s\" is not.",
                 flag_shown(field, shown), value);
    return NULL;
}

static json_t *choice_read(struct typed *typed, const struct field *field, const char *value) {
    for (uint32_t i = 0; i < field->names->count; i++)
        if (name_is(value, name_of(field->names, i)))
            return json_string(name_of(field->names, i));
    choice_unknown(typed, field, value);
    return NULL;
}

static json_t *rows_read(struct typed *typed, const char *name, const char *text, size_t length) {
    json_error_t error;
    json_t *rows = json_loadb(text, length, 0, &error);
    if (!rows)
        trouble_make(&typed->trouble, ERROR_INVALID, "%s, line %d, column %d: %s.", name,
                     error.line, error.column, error.text);
    return rows;
}

/* NULL: the trouble is set. typed_load() reads @FILE. */
static json_t *value_read(struct typed *typed, const struct field *field, const char *value) {
    if (!str_is_text(str_of(value))) {
        char shown[FLAG_NAME];
        trouble_make(&typed->trouble, ERROR_INVALID, "The value of --%s is not UTF-8.",
                     flag_shown(field, shown));
        return NULL;
    }
    if (is_number(field->type))
        return number_read(typed, field, value);
    if (field->type == FIELD_ENUM)
        return choice_read(typed, field, value);
    if (field->type == FIELD_FLAG)
        return json_boolean(strcmp(value, "false") != 0);
    if (field->type == FIELD_ROWS && value[0] != '@')
        return rows_read(typed, field->name, value, strlen(value));
    return json_string(value);
}

/* A list grows each time its flag is given. */
static bool value_set(struct typed *typed, const struct field *field, const char *value) {
    json_t *json = value_read(typed, field, value);
    if (!json && !typed->trouble.error)
        trouble_make(&typed->trouble, ERROR_NO_MEMORY, "Out of memory.");
    if (!json)
        return false;
    if (field->type != FIELD_TEXTS)
        return json_object_set_new(typed->params, field->name, json) == 0;
    json_t *list = json_object_get(typed->params, field->name);
    if (!list) {
        list = json_array();
        json_object_set_new(typed->params, field->name, list);
    }
    return json_array_append_new(list, json) == 0;
}

/* ---- flags ---- */

static const struct field *global_find(const char *name) {
    for (size_t i = 0; i < GLOBAL_COUNT; i++)
        if (name_is(name, GLOBALS[i].name))
            return &GLOBALS[i];
    return NULL;
}

/* Other names of some flags. */
static const struct {
    const char *also, *name;
} ALSO[] = {
    {"from-session", "sourceSessionKey"}, {"tag", "tags"}, {"criterion", "acceptanceCriteria"}};

static const struct field *flag_named(const struct command *command, const char *name) {
    for (size_t i = 0; command && command_flag(command, i); i++)
        if (name_is(name, command_flag(command, i)->name))
            return command_flag(command, i);
    return NULL;
}

static const struct field *flag_find(const struct command *command, const char *name) {
    const struct field *found = flag_named(command, name);
    for (size_t i = 0; !found && i < count_of(ALSO); i++)
        if (name_is(name, ALSO[i].also))
            found = flag_named(command, ALSO[i].name);
    return found;
}

static bool global_set(struct typed *typed, const struct field *field, const char *value) {
    if (field->type == FIELD_FLAG) {
        *(bool *)((char *)typed + field->offset) = strcmp(value, "false") != 0;
        return true;
    }
    if (strcmp(field->name, "socket") != 0) {
        *(const char **)((char *)typed + field->offset) = value;
        return true;
    }
    typed->socket_given = true;
    if (strlen(value) < sizeof typed->at.socket)
        return snprintf(typed->at.socket, sizeof typed->at.socket, "%s", value) >= 0;
    return trouble_make(&typed->trouble, ERROR_INVALID, "The path after --socket is too long.");
}

static bool is_boolean(const char *word) {
    return strcmp(word, "true") == 0 || strcmp(word, "false") == 0;
}

/* The value: after the =, or the next word; a switch needs none. NULL: it is missing. */
static const char *flag_value(struct reading *reading, const struct field *field,
                              const char *equals) {
    bool more = reading->next < reading->count;
    if (equals)
        return equals + 1;
    if (field->type == FIELD_FLAG)
        return more && is_boolean(reading->words[reading->next]) ? reading->words[reading->next++]
                                                                 : "true";
    return more ? reading->words[reading->next++] : NULL;
}

static bool flag_take(struct reading *reading, const char *word) {
    struct typed *typed = reading->typed;
    char name[FLAG_NAME];
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name), word);
    const struct field *own = flag_find(typed->command, name),
                       *global = own ? NULL : global_find(name);
    if (!own && !global)
        return flag_unknown(typed, name);
    const char *value = flag_value(reading, own ? own : global, equals);
    if (!value)
        return trouble_make(&typed->trouble, ERROR_INVALID, "--%s needs a value: %s.", name,
                            own ? own->text : global->text);
    return own ? value_set(typed, own, value) : global_set(typed, global, value);
}

/* Short flags; if two are the same, the one that the command has counts. */
static const struct {
    const char *word, *flag;
} SHORT[] = {{"-h", "help"}, {"-y", "yes"}, {"-f", "follow"}, {"-f", "file"}, {"-j", "jobs"}};

static const char *flag_spelled(const struct command *command, const char *word) {
    for (size_t i = 0; i < count_of(SHORT); i++)
        if (strcmp(word, SHORT[i].word) == 0 &&
            (global_find(SHORT[i].flag) || flag_named(command, SHORT[i].flag)))
            return SHORT[i].flag;
    return strncmp(word, "--", 2) == 0 && word[2] ? word + 2 : NULL;
}

const char *flag_short(const struct command *command, const char *name) {
    for (size_t i = 0; i < count_of(SHORT); i++)
        if (strcmp(SHORT[i].flag, name) == 0 &&
            (command ? flag_named(command, name) != NULL : global_find(name) != NULL))
            return SHORT[i].word;
    return NULL;
}

/* ---- words ---- */

/* A goal, task or question that exists; the task of `run` is a text. */
static bool names_something(const struct field *flag) {
    static const char *const NAMES[] = {"goal", "node", "of", "question", "task"};
    for (size_t i = 0; i < count_of(NAMES); i++)
        if (strcmp(flag->name, NAMES[i]) == 0)
            return flag->flags & FIELD_REQUIRED;
    return false;
}

/* T7 T8, Q7.1 Q8.1: names of the same kind as the first. */
static bool is_further_name(const struct reading *reading, const char *word) {
    const struct typed *typed = reading->typed;
    const struct field *first = reading->positional == 1 ? command_flag(typed->command, 0) : NULL;
    const char *value = first && names_something(first) ? typed_text(typed, first->name) : NULL;
    struct question_name question;
    uint64_t number;
    if (!value)
        return false;
    return (task_name_parse(str_of(value), &number) && task_name_parse(str_of(word), &number)) ||
           (question_name_parse(str_of(value), &question) && strchr(value, '.') &&
            question_name_parse(str_of(word), &question) && strchr(word, '.'));
}

static bool word_take(struct reading *reading, const char *word) {
    struct typed *typed = reading->typed;
    if (is_further_name(reading, word))
        return json_array_append_new(typed->also, json_string(word)) == 0;
    size_t most = command_positional(typed->command);
    const struct field *last = most > 0 ? command_flag(typed->command, most - 1) : NULL;
    if (reading->positional >= most && !(last && last->type == FIELD_TEXTS)) {
        trouble_make(&typed->trouble, ERROR_INVALID, "Too many arguments, from \"%.60s\" on.",
                     word);
        trouble_next(&typed->trouble, "`overseer help %s` shows its arguments.",
                     typed->command->words);
        return false;
    }
    size_t place = reading->positional < most ? reading->positional++ : most - 1;
    return value_set(typed, command_flag(typed->command, place), word);
}

static bool words_are_command(struct reading *reading, const char *word) {
    struct typed *typed = reading->typed;
    int used = 0, left = reading->count - reading->next + 1;
    typed->command = command_find(left, reading->words + reading->next - 1, &used);
    if (typed->command) {
        reading->next += used - 1;
        return true;
    }
    const char *second = left > 1 ? reading->words[reading->next] : NULL;
    if (!noun_find(word))
        return command_unknown(typed, word, NULL);
    if (second && !flag_spelled(NULL, second))
        return command_unknown(typed, word, second);
    typed->noun = noun_find(word)->name;
    return true;
}

static bool word_read(struct reading *reading) {
    const char *word = reading->words[reading->next++];
    const char *flag = reading->no_more_flags ? NULL : flag_spelled(reading->typed->command, word);
    if (!reading->no_more_flags && strcmp(word, "--") == 0)
        reading->no_more_flags = true;
    else if (flag)
        return flag_take(reading, flag);
    else if (!reading->typed->command && !reading->typed->noun)
        return words_are_command(reading, word);
    else if (reading->typed->noun)
        return command_unknown(reading->typed, reading->typed->noun, word);
    else
        return word_take(reading, word);
    return true;
}

/* Errors are printed in the wanted format, even if they occur before the flag. */
static bool wants_json(int count, char *const *words) {
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], "--json") == 0)
            return true;
    return false;
}

/* "@FILE": the file contains the token, so that it is not visible among the arguments. */
static bool token_read(struct typed *typed) {
    static char kept[256];
    if (!typed->at.token || typed->at.token[0] != '@')
        return true;
    FILE *file = fopen(typed->at.token + 1, "re");
    size_t length = file ? fread(kept, 1, sizeof kept - 1, file) : 0;
    if (file)
        fclose(file);
    kept[length] = 0;
    kept[strcspn(kept, "\r\n")] = 0;
    if (kept[0] == 0)
        return trouble_make(&typed->trouble, ERROR_INVALID, "%.200s contains no token.",
                            typed->at.token + 1);
    typed->at.token = kept;
    return true;
}

bool typed_read(struct typed *typed, int count, char *const *words) {
    struct reading reading = {.typed = typed, .count = count, .words = words};
    *typed = (struct typed){.params = json_object(), .also = json_array()};
    const char *token = getenv("OVERSEER_TOKEN"), *url = getenv("OVERSEER_URL");
    typed->at.token = token && *token ? token : NULL;
    typed->at.url = url && *url ? url : NULL;
    while (reading.next < count)
        if (!word_read(&reading)) {
            typed->as_json = typed->as_json || wants_json(count, words);
            return false;
        }
    const struct command *command = typed->command;
    if (command && command->preset)
        json_object_set_new(typed->params, command->preset, json_string(command->preset_value));
    return token_read(typed);
}

/* ---- files ---- */

static bool file_load(struct typed *typed, const struct field *field, const char *path) {
    json_error_t error;
    json_t *rows =
        strcmp(path, "-") == 0 ? json_loadf(stdin, 0, &error) : json_load_file(path, 0, &error);
    if (rows)
        return json_object_set_new(typed->params, field->name, rows) == 0;
    return trouble_make(&typed->trouble, ERROR_INVALID, "%.200s, line %d, column %d: %s.", path,
                        error.line, error.column, error.text);
}

bool typed_load(struct typed *typed) {
    for (size_t i = 0; typed->command && command_flag(typed->command, i); i++) {
        const struct field *field = command_flag(typed->command, i);
        const char *value = typed_text(typed, field->name);
        if (field->type == FIELD_ROWS && value && value[0] == '@') {
            char path[PATH_MAX]; /* a copy: `value` is freed when it is replaced */
            snprintf(path, sizeof path, "%s", value + 1);
            if (!file_load(typed, field, path))
                return false;
        }
    }
    return true;
}

void typed_free(struct typed *typed) {
    json_decref(typed->params);
    json_decref(typed->also);
}

const char *typed_text(const struct typed *typed, const char *name) {
    return json_string_value(json_object_get(typed->params, name));
}

bool typed_flag(const struct typed *typed, const char *name) {
    return json_is_true(json_object_get(typed->params, name));
}

/* ---- --dry-run ---- */

int typed_would(const struct typed *typed, const char *what) {
    json_t *json = json_pack("{s:b, s:s}", "dryRun", 1, "would", what);
    if (typed->as_json)
        json_dumpf(json, stdout, JSON_INDENT(2));
    printf("%s\n", typed->as_json ? "" : what);
    json_decref(json);
    return 0;
}

int typed_would_run(const struct typed *typed, char *const *words) {
    char line[8192];
    size_t used = 0;
    line[0] = 0;
    for (size_t i = 0; words[i] && used < sizeof line; i++)
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", i ? " " : "", words[i]);
    return typed_would(typed, line);
}
