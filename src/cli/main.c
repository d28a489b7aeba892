/* SPDX-License-Identifier: Apache-2.0 */
/* What did the person type? The words are looked up in the table of operations; nothing is listed twice. */
#include "cli/call.h"
#include "cli/help.h"
#include "cli/print.h"
#include "ops/op.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_USAGE = 2 };

struct typed {
    const struct op *op;
    json_t *params;
    bool as_json;
    char socket[PATH_MAX];
};

static void socket_default(char *to, size_t size) {
    const char *socket = getenv("OVERSEER_SOCKET"), *state = getenv("XDG_STATE_HOME"),
               *home = getenv("HOME");
    if (socket && *socket)
        snprintf(to, size, "%s", socket);
    else if (state && *state)
        snprintf(to, size, "%s/overseer/overseer.sock", state);
    else
        snprintf(to, size, "%s/.local/state/overseer/overseer.sock",
                 home && *home ? home : "/var/lib");
}

static int usage(const char *what, const char *word) {
    fprintf(stderr, "overseer: %s%s%s. `overseer help` shows what there is.\n", what,
            word ? " " : "", word ? word : "");
    return EXIT_USAGE;
}

static const struct field *flag_find(const struct op *op, const char *name) {
    for (size_t i = 0; i < op->param_count; i++)
        if (strcmp(op->params[i].name, name) == 0)
            return &op->params[i];
    for (size_t i = 0; op->words && i < op->words->count; i++)
        if (strcmp(op->words->fields[i].name, name) == 0)
            return &op->words->fields[i];
    return NULL;
}

/* A list grows with each time its flag is given; a list of objects is JSON, or @FILE with JSON in it. */
static bool value_set(json_t *params, const struct field *field, const char *value) {
    if (field->type == FIELD_TEXTS) {
        json_t *list = json_object_get(params, field->name);
        if (!list && json_object_set_new(params, field->name, list = json_array()))
            return false;
        return json_array_append_new(list, json_string(value)) == 0;
    }
    if (field->type == FIELD_ROWS) {
        json_error_t error;
        json_t *rows =
            value[0] == '@' ? json_load_file(value + 1, 0, &error) : json_loads(value, 0, &error);
        if (!rows)
            fprintf(stderr, "overseer: %s, line %d, column %d: %s\n",
                    value[0] == '@' ? value + 1 : field->name, error.line, error.column,
                    error.text);
        return rows && json_object_set_new(params, field->name, rows) == 0;
    }
    return json_object_set_new(params, field->name, json_string(value)) == 0;
}

/* 0, or an exit status. */
static int words_read(struct typed *typed, int argc, char **argv) {
    size_t positional = 0;
    for (int i = 3; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--json") == 0) {
            typed->as_json = true;
            continue;
        }
        bool flag = strncmp(word, "--", 2) == 0 && word[2];
        const char *name = flag ? word + 2 : NULL;
        if (flag && i + 1 >= argc)
            return usage("a value is missing after", word);
        if (flag && strcmp(name, "socket") == 0) {
            snprintf(typed->socket, sizeof typed->socket, "%s", argv[++i]);
            continue;
        }
        if (!flag && positional >= typed->op->positional)
            return usage("too many words, from", word);
        const struct field *field =
            flag ? flag_find(typed->op, name) : &typed->op->params[positional++];
        if (!field)
            return usage("there is no", word);
        if (!value_set(typed->params, field, flag ? argv[++i] : word))
            return usage("this is not valid here:", argv[i]);
    }
    return 0;
}

static int typed_call(struct typed *typed) {
    char error[1024];
    int exit = 0;
    json_t *result =
        daemon_call(typed->socket, typed->op->name, typed->params, error, sizeof error, &exit);
    if (!result) {
        fprintf(stderr, "overseer: %s\n", error);
        return exit;
    }
    if (typed->as_json) {
        json_dumpf(result, stdout, JSON_INDENT(2));
        printf("\n");
    } else
        print_result(typed->op, result);
    json_decref(result);
    return 0;
}

static int help(int argc, char **argv) {
    char name[64];
    const struct op *op = NULL;
    if (argc > 3) {
        snprintf(name, sizeof name, "%s.%s", argv[2], argv[3]);
        op = op_find(str_of(name));
        if (!op)
            return usage("there is no operation", name);
        help_print_op(op);
    } else if (argc > 2 && strcmp(argv[2], "--man") == 0)
        help_print_man();
    else
        help_print();
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && (strcmp(argv[1], "version") == 0 || strcmp(argv[1], "--version") == 0)) {
        printf("overseer " OVERSEER_VERSION "\n");
        return 0;
    }
    if (argc > 1 && (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0))
        return help(argc, argv);
    if (argc < 3)
        return usage("a noun and a verb are missing", NULL);
    char name[64];
    snprintf(name, sizeof name, "%s.%s", argv[1], argv[2]);
    struct typed typed = {.op = op_find(str_of(name)), .params = json_object()};
    if (!typed.op)
        return usage("there is no operation", name);
    socket_default(typed.socket, sizeof typed.socket);
    int exit = words_read(&typed, argc, argv);
    if (exit)
        json_decref(typed.params);
    return exit ? exit : typed_call(&typed);
}
